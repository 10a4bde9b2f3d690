//! URLs, read as the URL standard reads them.
#![expect(clippy::arithmetic_side_effects, reason = "lengths of prefixes, and shifts below 64")]

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::borrow::Cow;

use crate::Part;
use crate::hex;

/// A text that a host takes for a URL, read as browsers and Node read it.
///
/// Tabs and line breaks are removed, `\` is `/`, slashes after the scheme may be missing, and the host is what follows
/// the last `@`, decoded and in lower case, with IPv4 addresses of all spellings as four decimal numbers.
///
/// # Guarantees
/// [`host`](Self::host) is the host that a parser of the [URL standard] finds, or `None`. It never names another host.
///
/// # Examples
/// ```
/// use plugward_types::Address;
///
/// let address = Address::parse("https:\\\\Evil.example\\@github.com/mcp");
/// assert_eq!(address.host(), Some("evil.example"));
/// assert!(!address.is_well_formed());
/// assert!(Address::parse("http://0x7f.1:8080/").is_loopback());
/// assert!(matches!(Address::parse("https://gíthub.com/"), Address::Foreign(_)));
/// assert!(matches!(Address::parse("./server.js"), Address::Other));
/// ```
///
/// [URL standard]: https://url.spec.whatwg.org/
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every caller must handle an unknown host")]
pub enum Address {
    /// A URL with a known host, or of a kind that has no host (`mailto:`, `file:///`).
    Url(AddressParts),
    /// A URL whose host is unknown: it has variables, characters other than ASCII or forbidden ones, or an invalid port.
    Foreign(AddressParts),
    /// A text without a scheme, such as a path or `owner/repo`.
    Other,
}

/// The parts of a URL.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddressParts {
    scheme: String,
    user: String,
    host: Option<String>,
    port: Option<u16>,
    path: String,
    is_well_formed: bool,
}

impl Address {
    /// Reads a text as a URL.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.trim_matches(|c: char| c <= ' ');
        let is_removed = |c: char| matches!(c, '\t' | '\n' | '\r');
        let has_removed = text.contains(is_removed);
        let text = if has_removed { Cow::Owned(text.replace(is_removed, "")) } else { Cow::Borrowed(text) };
        let Some((scheme, rest)) = split_scheme(&text) else { return Self::Other };
        let mut parts = AddressParts { scheme, is_well_formed: true, ..AddressParts::default() };
        let rest = rest.split(['?', '#']).next().unwrap_or(rest);
        let is_slash = parts.slash();
        let slashes = rest.len() - rest.trim_start_matches(is_slash).len();
        let needs_host = parts.default_port().is_some();
        let after = rest.part(if needs_host { slashes } else { slashes.min(2) }..);
        let end = after.find(is_slash).unwrap_or(after.len());
        let (authority, path) = after.parts_at(end);
        let is_file = parts.scheme == "file";
        let is_drive = matches!(authority.as_bytes(), [drive, b':' | b'|'] if drive.is_ascii_alphabetic());
        if !needs_host && (slashes < 2 || authority.is_empty() || (is_file && is_drive)) {
            let is_opaque = slashes == 0 && !is_file;
            parts.path = if is_opaque { rest.to_owned() } else { parts.resolve(after) };
            return Self::Url(parts);
        }
        parts.path = parts.resolve(path);
        let (user, host) = authority.rsplit_once('@').filter(|_| !is_file).unwrap_or(("", authority));
        let (host, port) = if is_file { (host, None) } else { split_port(host) };
        user.clone_into(&mut parts.user);
        parts.is_well_formed = !has_removed
            && rest.starts_with("//")
            && (slashes == 2 || !needs_host)
            && !user.contains('@')
            && !authority.starts_with('@')
            && !path.starts_with('\\');
        parts.with_host(host, port)
    }

    const fn parts(&self) -> Option<&AddressParts> {
        match self {
            Self::Url(parts) | Self::Foreign(parts) => Some(parts),
            Self::Other => None,
        }
    }

    /// Returns the scheme, in lower case.
    #[must_use]
    pub fn scheme(&self) -> Option<&str> {
        Some(&self.parts()?.scheme)
    }

    /// Returns the host, in lower case: a name, an IPv4 address, or an IPv6 address in brackets.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        if let Self::Url(parts) = self { parts.host.as_deref() } else { None }
    }

    /// Returns the host as text for a message or a comparison of look-alikes. For [`Foreign`](Self::Foreign), it is as
    /// written, and connections can lead to another one.
    #[must_use]
    pub fn host_text(&self) -> Option<&str> {
        self.parts()?.host.as_deref()
    }

    /// Returns the host if it is an IP address.
    #[must_use]
    pub fn ip(&self) -> Option<IpAddr> {
        let host = self.host()?;
        match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            // An IPv4 address in IPv6 notation leads to the same machine.
            Some(v6) => v6.parse::<Ipv6Addr>().ok().map(|ip| IpAddr::V6(ip).to_canonical()),
            None => host.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
        }
    }

    /// Returns the port, if the URL names one other than the default of its scheme.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.parts()?.port
    }

    /// Returns the path without query and fragment, with `.` and `..` resolved and percent-encoding as written.
    #[must_use]
    pub fn path(&self) -> &str {
        self.parts().map_or("", |parts| &parts.path)
    }

    /// Returns `true` if the URL contains a user name or a password.
    #[must_use]
    pub fn has_user_info(&self) -> bool {
        self.parts().is_some_and(|parts| !parts.user.is_empty())
    }

    /// Returns `true` if the URL contains a secret of a user. In `ssh://git@host`, the user is the shared account of
    /// all clients and not a secret.
    #[must_use]
    pub fn has_credentials(&self) -> bool {
        self.parts().is_some_and(|parts| {
            let is_ssh = parts.scheme.rsplit('+').next() == Some("ssh");
            !parts.user.is_empty() && (!is_ssh || parts.user.contains(':'))
        })
    }

    /// Returns `true` if all parsers read the URL alike. Otherwise, parsers other than those of the URL standard, such
    /// as the ones of curl and Python, can find another host.
    #[must_use]
    pub const fn is_well_formed(&self) -> bool {
        matches!(self, Self::Url(parts) if parts.is_well_formed)
    }

    fn top_label(&self) -> Option<&str> {
        let host = self.host()?;
        host.strip_suffix('.').unwrap_or(host).rsplit('.').next()
    }

    /// Returns `true` if the host is this machine.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        match self.ip() {
            // Connections to the unspecified address lead to this machine.
            Some(ip) => ip.is_loopback() || ip.is_unspecified(),
            None => self.top_label() == Some("localhost"),
        }
    }

    /// Returns `true` if the host is this machine, or an address or a name that the public Internet does not route:
    /// private, link-local, shared, documentation, multicast and reserved ranges, and `.local` and `.internal`.
    #[must_use]
    pub fn is_private(&self) -> bool {
        match self.ip() {
            Some(IpAddr::V4(ip)) => is_private_v4(ip),
            Some(IpAddr::V6(ip)) => {
                let [first, second, ..] = ip.segments();
                // Unique local, link-local, multicast and documentation addresses.
                let is_reserved =
                    first & 0xfe00 == 0xfc00 || first & 0xff80 == 0xfe80 || first & 0xff00 == 0xff00;
                ip.is_loopback() || ip.is_unspecified() || is_reserved || (first == 0x2001 && second == 0xdb8)
            }
            None => self.is_loopback() || matches!(self.top_label(), Some("local" | "internal")),
        }
    }
}

impl AddressParts {
    /// Returns the default port of a scheme whose URLs always have a host.
    fn default_port(&self) -> Option<u16> {
        match self.scheme.as_str() {
            "http" | "ws" => Some(80),
            "https" | "wss" => Some(443),
            "ftp" => Some(21),
            _ => None,
        }
    }

    fn is_special(&self) -> bool {
        self.default_port().is_some() || self.scheme == "file"
    }

    fn slash(&self) -> &'static [char] {
        if self.is_special() { &['/', '\\'] } else { &['/'] }
    }

    fn with_host(mut self, host: &str, port: Option<&str>) -> Address {
        let known = self.read_host(host);
        let known = known.filter(|_| self.is_special() || !self.user.contains('\\'));
        let port = match port {
            None | Some("") => Some(None),
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok().map(Some),
            Some(_) => None,
        };
        let (Some(known), Some(port)) = (known, port) else {
            self.host = Some(host.to_owned());
            return Address::Foreign(self);
        };
        self.is_well_formed &= known.starts_with('[') || known.eq_ignore_ascii_case(host);
        self.port = port.filter(|_| port != self.default_port());
        // `localhost` is the default of `file:`.
        self.host = Some(known).filter(|host| self.scheme != "file" || host != "localhost");
        Address::Url(self)
    }

    /// Returns the host in its one form, or `None` if it is unknown.
    fn read_host(&self, text: &str) -> Option<String> {
        if let Some(v6) = text.strip_prefix('[') {
            return Some(format!("[{}]", v6.strip_suffix(']')?.parse::<Ipv6Addr>().ok()?));
        }
        let decoded = if self.is_special() { decode(text)? } else { Cow::Borrowed(text) };
        // The standard allows `$` and braces, but hosts replace variables before they connect.
        let is_forbidden = |byte: u8| !byte.is_ascii_graphic() || b"#/:<>?@[\\]^|%${}".contains(&byte);
        if decoded.is_empty() || decoded.bytes().any(is_forbidden) {
            return None;
        }
        let host = decoded.to_ascii_lowercase();
        let last = host.strip_suffix('.').unwrap_or(&host).rsplit('.').next().unwrap_or(&host);
        let is_number =
            v4_number(last).is_some() || (!last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()));
        if self.is_special() && is_number { read_v4(&host).map(|ip| ip.to_string()) } else { Some(host) }
    }

    /// Resolves `.` and `..` in a path, which can also be percent-encoded.
    fn resolve(&self, text: &str) -> String {
        let is_slash = self.slash();
        let mut path: Vec<&str> = Vec::new();
        let mut segments = text.strip_prefix(is_slash).unwrap_or(text).split(is_slash).peekable();
        while let Some(segment) = segments.next() {
            let plain = segment.to_ascii_lowercase().replace("%2e", ".");
            if plain == ".." {
                path.pop();
            }
            if !matches!(plain.as_str(), "." | "..") {
                path.push(segment);
            } else if segments.peek().is_none() {
                path.push("");
            }
        }
        format!("/{}", path.join("/"))
    }
}

/// Splits a text after its scheme, which is returned in lower case.
fn split_scheme(text: &str) -> Option<(String, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.bytes().all(is_part);
    is_scheme.then(|| (scheme.to_ascii_lowercase(), rest))
}

/// Splits a host at the first colon outside of the brackets of an IPv6 address.
fn split_port(text: &str) -> (&str, Option<&str>) {
    let mut in_brackets = false;
    let colon = text.find(|c: char| {
        in_brackets = c == '[' || (in_brackets && c != ']');
        c == ':' && !in_brackets
    });
    match colon.and_then(|at| text.split_at_checked(at)) {
        Some((host, port)) => (host, port.strip_prefix(':')),
        None => (text, None),
    }
}

/// Decodes `%41`. A `%` before anything else stays, and no host contains it.
fn decode(text: &str) -> Option<Cow<'_, str>> {
    let mut parts = text.split('%');
    let first = parts.next()?;
    if first.len() == text.len() {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = first.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        bytes.push(hex::decode_pair(digits.as_bytes())?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// Reads one to four numbers. The last one fills the bytes that the others leave.
fn read_v4(host: &str) -> Option<Ipv4Addr> {
    let mut bits = 0_u64;
    let mut width = 32_u32;
    let mut parts = host.strip_suffix('.').unwrap_or(host).split('.').peekable();
    while let Some(part) = parts.next() {
        let number = v4_number(part)?;
        if parts.peek().is_some() {
            width = width.checked_sub(8).filter(|width| *width > 0 && number < 256)?;
            bits |= number << width;
        } else {
            bits |= Some(number).filter(|number| number >> width == 0)?;
        }
    }
    u32::try_from(bits).ok().map(Ipv4Addr::from)
}

/// Reads a decimal, octal (`0…`) or hexadecimal (`0x…`) number. A number that is too large is the largest one.
fn v4_number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None if text.len() > 1 && text.starts_with('0') => (text, 8),
        None if text.is_empty() => return None,
        None => (text, 10),
    };
    digits.chars().try_fold(0_u64, |number, digit| {
        Some(number.saturating_mul(u64::from(radix)).saturating_add(u64::from(digit.to_digit(radix)?)))
    })
}

const fn is_private_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    match a {
        0 | 10 | 127 | 224..=255 => true,
        100 => matches!(b, 64..=127),
        169 => b == 254,
        172 => matches!(b, 16..=31),
        192 => b == 168 || (b == 0 && matches!(c, 0 | 2)),
        198 => matches!(b, 18 | 19) || (b == 51 && c == 100),
        203 => b == 0 && c == 113,
        _ => false,
    }
}
