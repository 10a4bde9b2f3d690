//! Keys of plugins: the id in an install record, or the path of the directory.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use core::fmt;
use core::str::FromStr;

use crate::Part;
use crate::{ParseError, ParseErrorKind, PluginId};

const PLACED: &str = "path:";
const PLACE_SHAPE: &str = "an absolute path without `.`, `..` or empty parts";
const KEY_SHAPE: &str = "host:name, host:name@market or path:/directory";
/// The longest path that Linux resolves in one call, without its NUL.
const PATH_MAX: usize = 4095;

/// The key under which a plugin is pinned, denied and approved.
///
/// A plugin never determines its key: nothing inside its directory is part of it.
///
/// # Guarantees
/// Keys compare and sort by their text, and what parses renders to the same text.
///
/// # Examples
/// ```
/// use plugward_types::PluginKey;
///
/// let recorded: PluginKey = "claude:hookify@acme".parse()?;
/// let placed: PluginKey = "path:/home/user/site/plugins/greeter".parse()?;
/// assert_eq!(recorded.name(), "hookify");
/// assert_eq!(placed.name(), "greeter");
/// assert!("path:site/plugins".parse::<PluginKey>().is_err());
/// # Ok::<(), plugward_types::ParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a third kind of key must be handled by every host")]
pub enum PluginKey {
    /// A plugin in a host's install record.
    Installed {
        /// The host.
        host: HostName,
        /// The id in the host's record.
        id: InstalledId,
    },
    /// A plugin without a record, by the path of its directory.
    Placed(PlacePath),
}

impl PluginKey {
    /// Returns the name part of a recorded id, or the last part of a path.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Installed { id, .. } => id.name(),
            Self::Placed(path) => path.name(),
        }
    }

    /// Returns the path of a plugin without a record.
    #[must_use]
    pub const fn placed(&self) -> Option<&PlacePath> {
        match self {
            Self::Installed { .. } => None,
            Self::Placed(path) => Some(path),
        }
    }
}

impl PluginKey {
    /// Returns the pieces of the text form, in order.
    fn text_parts(&self) -> impl Iterator<Item = &str> {
        let parts = match self {
            Self::Installed { host, id } => [host.as_str(), ":", id.as_str()],
            Self::Placed(path) => [PLACED, "", path.as_str()],
        };
        parts.into_iter()
    }
}

impl fmt::Display for PluginKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Installed { host, id } => write!(f, "{host}:{id}"),
            Self::Placed(path) => write!(f, "{PLACED}{path}"),
        }
    }
}

impl FromStr for PluginKey {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        // Placed keys are tried first, because their paths may contain `:` and `@`.
        if let Some(path) = text.strip_prefix(PLACED) {
            return PlacePath::new(path).map(Self::Placed);
        }
        let shape = || ParseError::new("plugin key", ParseErrorKind::Shape { expected: KEY_SHAPE });
        let (host, id) = text.split_once(':').ok_or_else(shape)?;
        Ok(Self::Installed { host: host.parse()?, id: id.parse()? })
    }
}

impl Ord for PluginKey {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        match (self, other) {
            (Self::Placed(one), Self::Placed(two)) => one.cmp(two),
            // Compares as the texts would, without allocating them. Stores sort thousands of keys.
            _ => self.text_parts().flat_map(str::bytes).cmp(other.text_parts().flat_map(str::bytes)),
        }
    }
}

impl PartialOrd for PluginKey {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The name of a host that keeps install records, such as `claude`.
///
/// # Guarantees
/// 1 to 32 bytes of `a-z 0-9 -`, the first a letter; never `path`, which marks keys without a record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostName(String);

impl HostName {
    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for HostName {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = |kind| ParseError::new("host name", kind);
        if text.is_empty() || text.len() > 32 {
            return Err(wrong(ParseErrorKind::Length { expected: "1 to 32 bytes", actual: text.len() }));
        }
        let good = |(at, byte): (usize, u8)| {
            byte.is_ascii_lowercase() || (at > 0 && (byte.is_ascii_digit() || byte == b'-'))
        };
        if let Some(at) = text.bytes().enumerate().position(|pair| !good(pair)) {
            return Err(wrong(ParseErrorKind::Character { at, expected: "a-z 0-9 -, first a letter" }));
        }
        // `path:/dir` would otherwise have two readings: a placed plugin, and the plugin `/dir` of a host
        // `path`.
        if text == "path" {
            return Err(wrong(ParseErrorKind::Shape { expected: "a host, not `path`" }));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A plugin's id in the records of one host: `name` or `name@market`, spelled as in the record.
///
/// # Guarantees
/// One or two parts under the character rule of [`PluginId`]. Case is significant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstalledId(String);

impl InstalledId {
    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the part before the `@`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.split('@').next().unwrap_or(&self.0)
    }

    /// Returns the marketplace, if the id has one.
    #[must_use]
    pub fn market(&self) -> Option<&str> {
        self.0.split_once('@').map(|(_, market)| market)
    }
}

impl FromStr for InstalledId {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (name, market) = match text.split_once('@') {
            Some((name, market)) => (name, Some(market)),
            None => (text, None),
        };
        PluginId::check_part(name)?;
        market.map_or(Ok(()), PluginId::check_part)?;
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for InstalledId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The real path of a directory or file: absolute, UTF-8, with no symlinks in it when it was resolved.
///
/// # Guarantees
/// It starts with `/` and has no `.`, `..`, empty part, NUL or trailing `/`; at most 4,095 bytes. Whether it still
/// leads to the same directory is not part of the claim. It can contain any other character, so it must be escaped
/// before it is printed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlacePath(String);

impl PlacePath {
    /// Creates a path from one that the caller has resolved.
    ///
    /// # Errors
    /// `parse/shape` or `parse/length` if the text breaks the rules of the type.
    pub fn new(text: &str) -> Result<Self, ParseError> {
        let wrong = |kind| ParseError::new("path of a plugin", kind);
        if text.len() > PATH_MAX {
            let kind = ParseErrorKind::Length { expected: "at most 4,095 bytes", actual: text.len() };
            return Err(wrong(kind));
        }
        let bad_part = |part: &str| matches!(part, "" | "." | "..");
        // The check does not touch the file system. Parts that could give one directory two keys are refused,
        // not resolved.
        let parts = text.strip_prefix('/').filter(|_| !text.contains('\0'));
        match parts {
            Some("") => Ok(Self(text.to_owned())),
            Some(parts) if !parts.split('/').any(bad_part) => Ok(Self(text.to_owned())),
            Some(_) | None => Err(wrong(ParseErrorKind::Shape { expected: PLACE_SHAPE })),
        }
    }

    /// Returns the path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the last part; empty for the root of the file system.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Returns the directory above, or `None` for the root of the file system.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        match self.0.rsplit_once('/')? {
            (_, "") => None,
            ("", _) => Some(Self("/".to_owned())),
            (parent, _) => Some(Self(parent.to_owned())),
        }
    }

    /// Returns the path of an entry of this directory; `relative` is `.` for the directory itself.
    ///
    /// # Errors
    /// As [`PlacePath::new`].
    pub fn join(&self, relative: &str) -> Result<Self, ParseError> {
        match (self.0.as_str(), relative) {
            // `.` is the only relative form of the directory itself that `relative_to` returns.
            (_, ".") => Ok(self.clone()),
            ("/", relative) => Self::new(&format!("/{relative}")),
            (own, relative) => Self::new(&format!("{own}/{relative}")),
        }
    }

    /// Returns this path relative to a directory that contains it, `.` if it is that directory.
    #[must_use]
    pub fn relative_to<'p>(&'p self, directory: &Self) -> Option<&'p str> {
        let rest = match directory.0.as_str() {
            "/" => self.0.strip_prefix('/')?,
            other => match self.0.strip_prefix(other)? {
                "" => "",
                // Without the separator, `/a/bc` would be inside `/a/b`.
                rest => rest.strip_prefix('/')?,
            },
        };
        // `.` and not an empty text, so that `join` of the result gives the path back.
        Some(if rest.is_empty() { "." } else { rest })
    }
}

impl FromStr for PlacePath {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::new(text)
    }
}

impl fmt::Display for PlacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The dialect and name that a plugin's own manifest states, written `claude:hookify`.
///
/// It helps a user to find a pin, and raises questions about a name that was denied. It never matches a pin.
///
/// # Guarantees
/// Both parts follow the character rule of [`PluginId`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CalledName {
    text: String,
    colon: usize,
}

impl CalledName {
    /// Creates a name from its parts.
    ///
    /// # Errors
    /// `parse/length` or `parse/character` if a part breaks the rules of the type.
    pub fn new(dialect: &str, name: &str) -> Result<Self, ParseError> {
        PluginId::check_part(dialect)?;
        PluginId::check_part(name)?;
        Ok(Self { text: format!("{dialect}:{name}"), colon: dialect.len() })
    }

    /// Returns the dialect.
    #[must_use]
    pub fn dialect(&self) -> &str {
        self.text.part(..self.colon)
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text.part(self.colon + 1..)
    }

    /// Returns both parts as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for CalledName {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let shape = || ParseError::new("plugin name", ParseErrorKind::Shape { expected: "dialect:name" });
        let (dialect, name) = text.split_once(':').ok_or_else(shape)?;
        Self::new(dialect, name)
    }
}

impl fmt::Display for CalledName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_one_text_and_no_other_shape_parses() {
        for text in ["claude:hookify@acme", "gemini:gext", "path:/", "path:/a b/c:d\n", "codex:A@b.c"] {
            assert_eq!(text.parse::<PluginKey>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "claude",
            "claude:",
            ":x",
            "Claude:x",
            "path:",
            "path:a",
            "path:/a/",
            "path:/a//b",
            "path:/a/../b",
            "path:/.",
            "claude:a@b@c",
            "claude:../x",
            "claude:@b",
            "path:/a\0",
        ] {
            assert!(text.parse::<PluginKey>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn places_know_what_is_inside_them() {
        let place = |text| PlacePath::new(text).unwrap();
        assert_eq!(place("/a/b").relative_to(&place("/a")), Some("b"));
        assert_eq!(place("/a/b").relative_to(&place("/")), Some("a/b"));
        assert_eq!(place("/a").relative_to(&place("/a")), Some("."));
        assert_eq!(place("/").relative_to(&place("/")), Some("."));
        assert_eq!(place("/ab").relative_to(&place("/a")), None);
        assert_eq!(place("/a").parent(), Some(place("/")));
        assert_eq!(place("/").parent(), None);
        assert_eq!(place("/").join("a/b").unwrap(), place("/a/b"));
        assert!(place("/a").join("../b").is_err());
    }
}
