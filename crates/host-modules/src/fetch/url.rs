//! URLs of requests and redirects.

/// The most characters of a URL, and of its path with the query.
const MAX_URL: usize = 2048;
const MAX_PATH: usize = 1024;
const MAX_HOST: usize = 253;

/// An `https` URL without user, port and fragment, whose host is a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SafeUrl {
    host: String,
    /// The path and the query.
    path: String,
}

/// Why a URL is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UrlFault {
    Syntax,
    Characters,
    Length(usize),
    PathLength(usize),
    Scheme,
    User,
    Host,
    Address,
    Port,
}

impl UrlFault {
    /// Returns the answer for the guest, in the words of HyperAgent.
    pub(crate) fn text(self) -> String {
        let text = match self {
            Self::Syntax => "invalid URL",
            Self::Characters => "invalid URL characters",
            Self::Length(length) => {
                return format!(
                    "fetch blocked: URL too long ({length} > {MAX_URL} chars). Split into multiple requests."
                );
            }
            Self::PathLength(length) => {
                return format!(
                    "fetch blocked: path+query too long ({length} > {MAX_PATH} chars). Split into multiple requests or \
                     reduce query string size."
                );
            }
            Self::Scheme => "only HTTPS is permitted",
            Self::User => "credentials in URL not permitted",
            Self::Host => "invalid hostname",
            Self::Address => "IP addresses not permitted, use domain names",
            Self::Port => "non-standard port not permitted",
        };
        format!("fetch blocked: {text}")
    }

    /// Returns the answer for a redirect.
    pub(crate) fn redirect_text(self) -> &'static str {
        match self {
            Self::Scheme => "fetch blocked: redirect to non-HTTPS URL",
            Self::User => "fetch blocked: redirect URL contains credentials",
            Self::Port => "fetch blocked: redirect to non-standard port",
            Self::Address => "fetch blocked: redirect to IP address",
            _ => "fetch blocked: redirect to invalid URL",
        }
    }
}

impl SafeUrl {
    pub(crate) fn parse(text: &str) -> Result<Self, UrlFault> {
        let length = text.chars().count();
        if length == 0 {
            return Err(UrlFault::Syntax);
        }
        if length > MAX_URL {
            return Err(UrlFault::Length(length));
        }
        if text.chars().any(char::is_control) {
            return Err(UrlFault::Characters);
        }
        let (scheme, rest) = text.trim_matches(' ').split_once(':').ok_or(UrlFault::Syntax)?;
        if !is_scheme(scheme) {
            return Err(UrlFault::Syntax);
        }
        if !scheme.eq_ignore_ascii_case("https") {
            return Err(UrlFault::Scheme);
        }
        let rest = rest.strip_prefix("//").ok_or(UrlFault::Syntax)?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        Ok(Self { host: host(authority)?, path: target(path)? })
    }

    /// Returns the URL that a `Location` leads to.
    pub(crate) fn join(&self, location: &str) -> Result<Self, UrlFault> {
        if location.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme)) {
            return Self::parse(location);
        }
        if location.starts_with("//") {
            return Self::parse(&format!("https:{location}"));
        }
        let own = self.path.split('?').next().unwrap_or("/");
        let base = match location.chars().next() {
            Some('/') => "",
            Some('?') => own,
            Some('#') | None => &self.path,
            Some(_) => own.rsplit_once('/').map_or("", |(directory, _)| directory),
        };
        let between = if matches!(location.chars().next(), Some('/' | '?' | '#') | None) { "" } else { "/" };
        Self::parse(&format!("https://{}{base}{between}{location}", self.host))
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Returns the text, in which nothing of the given one remains unchecked.
    pub(crate) fn text(&self) -> String {
        format!("https://{}{}", self.host, self.path)
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Reads a host with an optional port 443.
fn host(authority: &str) -> Result<String, UrlFault> {
    if authority.contains('@') {
        return Err(UrlFault::User);
    }
    if authority.starts_with('[') {
        return Err(UrlFault::Address);
    }
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    if !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(UrlFault::Syntax);
    }
    if !port.is_empty() && port.parse() != Ok(443_u16) {
        return Err(UrlFault::Port);
    }
    let host = host.to_ascii_lowercase();
    // Other characters would need rules for names, on which parsers do not agree. Names in `xn--` are possible.
    if !host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
        return Err(UrlFault::Host);
    }
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    let is_hexadecimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    // Parsers read `0x7f000001`, `127.1` and `017700000001` as addresses.
    if last.starts_with(|first: char| first.is_ascii_digit())
        && (last.bytes().all(|byte| byte.is_ascii_digit())
            || last.strip_prefix("0x").is_some_and(is_hexadecimal))
    {
        return Err(UrlFault::Address);
    }
    if host.len() > MAX_HOST || !host.contains('.') || host.split('.').any(str::is_empty) {
        return Err(UrlFault::Host);
    }
    Ok(host)
}

/// Reads the part after the host: the path and the query, in one spelling.
fn target(text: &str) -> Result<String, UrlFault> {
    let text = text.split('#').next().unwrap_or_default();
    let (path, query) = text.split_once('?').map_or((text, None), |(path, query)| (path, Some(query)));
    // Some parsers read it as `/`.
    if path.contains('\\') {
        return Err(UrlFault::Syntax);
    }
    let path = encoded(&without_dots(path));
    let target = query.map_or_else(|| path.clone(), |query| format!("{path}?{}", encoded(query)));
    if target.len() > MAX_PATH { Err(UrlFault::PathLength(target.len())) } else { Ok(target) }
}

/// Resolves `.` and `..`, as every server does.
fn without_dots(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let mut is_directory = true;
    for part in path.split('/').skip(1) {
        let plain = part.to_ascii_lowercase().replace("%2e", ".");
        is_directory = matches!(&*plain, "." | "..");
        match &*plain {
            "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let end = if is_directory && !parts.is_empty() { "/" } else { "" };
    format!("/{}{end}", parts.join("/"))
}

/// Encodes the bytes that are not part of a request line.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
