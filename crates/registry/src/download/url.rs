//! The accepted URLs.

use core::fmt;

use plugward_types::escape::line;
use plugward_types::{Address, Part};

use crate::error::{RegistryError, RegistryErrorKind};

/// The kind of place that a URL leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "every downloader must handle a new kind")]
pub enum UrlPlace {
    /// `https` on another host.
    Https,
    /// `http` or `https` on this machine.
    Loopback,
    /// A file of this machine.
    File,
}

/// The URL of a registry or an executable: `https`, `http` on loopback, or `file`.
///
/// # Examples
/// ```
/// use plugward_registry::{SourceUrl, UrlPlace};
///
/// let url = SourceUrl::parse("http://127.0.0.1:8080/registry.json")?;
/// assert_eq!(url.place(), UrlPlace::Loopback);
/// assert!(SourceUrl::parse("http://example.org/registry.json").is_err());
/// # Ok::<(), plugward_registry::RegistryError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceUrl {
    text: String,
    place: UrlPlace,
}

impl SourceUrl {
    /// Parses a URL.
    ///
    /// # Errors
    /// `registry/none` for another scheme, `http` on another host than `localhost`, `127.0.0.0/8` and `[::1]`, a user
    /// name or password, a fragment, a relative path of a file, or a character that a URL must escape.
    pub fn parse(text: &str) -> Result<Self, RegistryError> {
        let place = place_of(text)
            .map_err(|why| RegistryErrorKind::Url { url: text.chars().take(200).collect(), why })?;
        Ok(Self { text: text.to_owned(), place })
    }

    /// Returns the kind of place.
    #[must_use]
    pub const fn place(&self) -> UrlPlace {
        self.place
    }

    /// Returns the URL as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns `true` if a registry at this URL may list a file at another one.
    ///
    /// A registry on the network must not select files of this machine, or of servers that only this machine reaches.
    #[must_use]
    pub fn may_list(&self, file: &Self) -> bool {
        file.place == UrlPlace::Https || self.place != UrlPlace::Https
    }

    /// Returns the URL that a server redirects to. Redirects lead from https to https.
    ///
    /// # Errors
    /// The reason, as the end of a sentence, if the redirect is not allowed.
    pub fn redirected(&self, location: &str) -> Result<Self, String> {
        let shown: String = location.chars().take(200).collect();
        let refused = || format!("to `{}`, and redirects lead from https to https only", line(&shown));
        if self.place != UrlPlace::Https {
            return Err(refused());
        }
        let path = self.path();
        let origin = self.text.strip_suffix(path).unwrap_or_default();
        let target = match location {
            absolute if absolute.contains("://") => absolute.to_owned(),
            authority if authority.starts_with("//") => format!("https:{authority}"),
            rooted if rooted.starts_with('/') => format!("{origin}{rooted}"),
            relative => {
                let directory = path.split('?').next().unwrap_or(path).rsplit_once('/');
                format!("{origin}{}/{relative}", directory.map_or("", |(directory, _)| directory))
            }
        };
        let target = Self::parse(target.split('#').next().unwrap_or(&target)).map_err(|_error| refused())?;
        if target.place == UrlPlace::Https { Ok(target) } else { Err(refused()) }
    }

    /// Returns everything after the host and port.
    fn path(&self) -> &str {
        let rest = self.text.split_once("://").map_or("", |(_, rest)| rest);
        rest.find(['/', '?']).map_or("", |at| rest.part(at..))
    }

    /// Returns the decoded path of a `file` URL.
    pub(crate) fn file_path(&self) -> Option<String> {
        let rest = self.text.strip_prefix("file://").filter(|_| self.place == UrlPlace::File)?;
        let path = rest.strip_prefix("localhost").unwrap_or(rest);
        let mut bytes = Vec::with_capacity(path.len());
        let mut parts = path.split('%');
        bytes.extend_from_slice(parts.next()?.as_bytes());
        for part in parts {
            let (digits, rest) = part.split_at_checked(2)?;
            bytes.push(plugward_types::hex::decode_pair(digits.as_bytes())?);
            bytes.extend_from_slice(rest.as_bytes());
        }
        String::from_utf8(bytes).ok().filter(|path| !path.contains('\0'))
    }
}

impl fmt::Display for SourceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn place_of(text: &str) -> Result<UrlPlace, &'static str> {
    // Parsers disagree about these characters, so one of them could see another host.
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) || text.contains(['\\', '#']) {
        return Err("it contains a character that a URL must escape");
    }
    let address = Address::parse(text);
    // A resolver can send names below `localhost` elsewhere.
    let is_here = address.host() == Some("localhost") || address.ip().is_some_and(|ip| ip.is_loopback());
    let is_lower = |scheme: &str| text.strip_prefix(scheme).is_some_and(|rest| rest.starts_with("://"));
    match address.scheme().filter(|scheme| is_lower(scheme)) {
        Some("file") if address.host().is_none() && !text.contains('?') && text.matches('/').count() > 2 => {
            Ok(UrlPlace::File)
        }
        Some("file") => Err("a file URL needs an absolute path"),
        Some("https" | "http") if address.has_user_info() => {
            Err("it contains a user name or password, and no credentials are sent")
        }
        Some("https" | "http") if !address.is_well_formed() => Err("it does not have a valid host and port"),
        // Only this machine reaches it, so a registry on the network must not list it.
        Some("https") if address.is_loopback() => Ok(UrlPlace::Loopback),
        Some("https") => Ok(UrlPlace::Https),
        Some("http") if is_here => Ok(UrlPlace::Loopback),
        Some("http") => Err("http is accepted on loopback only; use https"),
        _ => Err("it does not start with https://"),
    }
}
