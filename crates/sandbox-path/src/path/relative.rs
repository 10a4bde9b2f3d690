//! Checked relative paths.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::Path;

use crate::error::{LookupError, PathEscape, PathEscapeKind};
use crate::path::check::{PathForm, check_path};
use crate::policy::Policy;

/// A checked relative path: no empty component, no `.` and no `..`.
///
/// It says nothing about the file system. It borrows the given bytes unless a `.` or a doubled separator had to be
/// dropped. It cannot be converted to a [`Path`], so that it is opened only through a jail.
/// # Examples
/// ```
/// use plugward_sandbox_path::{Policy, RelPath};
///
/// let path = RelPath::parse(b"skills//./a.md", &Policy::standard())?;
/// assert_eq!(path.as_str(), Some("skills/a.md"));
/// assert_eq!(path.depth(), 2);
/// let outside = RelPath::parse(b"../a.md", &Policy::standard());
/// assert_eq!(outside.unwrap_err().code(), "path/parent");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    pub(crate) depth: usize,
}

impl<'a> RelPath<'a> {
    /// Checks the bytes of a path, without any system call.
    ///
    /// `.` alone is the jail's directory. A trailing separator is refused; [`RelPath::parse_directory`] accepts it.
    ///
    /// # Errors
    /// The first of these that applies, in this order: `path/empty`, `path/nul`, `path/too-long` (4,095 bytes),
    /// `path/absolute`; then for each component from the left `path/too-long` (255 bytes),
    /// `path/parent`, `path/dotfile`, `path/reserved-name` or `path/alternate-stream`; then
    /// `path/trailing-separator`.
    pub fn parse(bytes: &'a [u8], policy: &Policy) -> Result<Self, PathEscape> {
        check_path(bytes, *policy, PathForm::Name).map_err(|error| PathEscape::new("parse", bytes, error))
    }

    /// Checks the path of a directory: as [`RelPath::parse`], with trailing separators dropped.
    ///
    /// # Errors
    /// As [`RelPath::parse`], without `path/trailing-separator`.
    pub fn parse_directory(bytes: &'a [u8], policy: &Policy) -> Result<Self, PathEscape> {
        check_path(bytes, *policy, PathForm::Directory)
            .map_err(|error| PathEscape::new("parse", bytes, error))
    }

    /// Returns the path of the jail's directory.
    #[must_use]
    pub const fn jail() -> RelPath<'static> {
        RelPath { bytes: Cow::Borrowed(b""), depth: 0 }
    }

    /// Returns `true` if this is the jail's directory.
    #[must_use]
    pub fn is_jail(&self) -> bool {
        self.depth == 0
    }

    /// Returns the components joined by `/`; empty for the jail's directory.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of components.
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the components; none for the jail's directory.
    #[must_use]
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.bytes.split(|byte| *byte == b'/').filter(|part| !part.is_empty())
    }

    /// Returns the path as text, if it is UTF-8.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }

    /// Returns the path as text, for hosts that require UTF-8.
    ///
    /// # Errors
    /// `path/not-utf8` with the first component that is not UTF-8.
    pub fn to_str(&self) -> Result<&str, PathEscape> {
        self.as_str().ok_or_else(|| {
            let odd = self.components().position(|part| std::str::from_utf8(part).is_err());
            let component = odd.map(|above| above + 1);
            let error = LookupError { component, ..PathEscapeKind::NotUtf8.into() };
            PathEscape::new("read as text", &self.bytes, error)
        })
    }

    /// Converts to a path that owns its bytes.
    #[must_use]
    pub fn into_owned(self) -> RelPath<'static> {
        RelPath { bytes: Cow::Owned(self.bytes.into_owned()), depth: self.depth }
    }

    /// Returns the same path, borrowed.
    #[must_use]
    pub fn as_borrowed(&self) -> RelPath<'_> {
        RelPath { bytes: Cow::Borrowed(&self.bytes), depth: self.depth }
    }

    /// Splits the path into parent and last component; `None` for the jail's directory.
    pub(crate) fn split_last(&self) -> Option<(RelPath<'_>, &[u8])> {
        if self.depth == 0 {
            return None;
        }
        let (parent, name) = match self.bytes.iter().rposition(|byte| *byte == b'/') {
            Some(at) => {
                let (parent, rest) = self.bytes.split_at_checked(at)?;
                (parent, rest.get(1..)?)
            }
            None => (&[][..], &self.bytes[..]),
        };
        let depth = self.depth.saturating_sub(1);
        Some((RelPath { bytes: Cow::Borrowed(parent), depth }, name))
    }

    /// Joins a name from a listing.
    pub(crate) fn child(&self, name: &[u8]) -> RelPath<'static> {
        let mut bytes = Vec::with_capacity(self.bytes.len() + name.len() + 1);
        if self.depth > 0 {
            bytes.extend_from_slice(&self.bytes);
            bytes.push(b'/');
        }
        bytes.extend_from_slice(name);
        RelPath { bytes: Cow::Owned(bytes), depth: self.depth + 1 }
    }
}

/// Displays the path with control and bidi characters, and bytes that are not UTF-8, escaped.
impl fmt::Display for RelPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.depth == 0 { f.write_str(".") } else { escape(&self.bytes, f) }
    }
}

/// Writes bytes so that they cannot change the layout of the text around them.
pub(crate) fn escape(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    use fmt::Write as _;
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if hidden(character) {
                write!(f, "{}", character.escape_unicode())?;
            } else {
                f.write_char(character)?;
            }
        }
        for byte in chunk.invalid() {
            write!(f, "\\x{byte:02x}")?;
        }
    }
    Ok(())
}

/// Returns `true` if a character moves, hides or reorders the text around it.
// The table of `escape` in plugward-types, on which this crate does not depend so that it can be used alone. A test
// compares the two.
fn hidden(character: char) -> bool {
    character.is_control()
        || (character.is_whitespace() && character != ' ')
        || matches!(character,
            '\\' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// A path relative to a jail: text, bytes, an [`OsStr`], a [`Path`] or a [`RelPath`].
///
/// Every path is checked under the policy of the jail, even a `RelPath`, which may come from another jail. The checked
/// bytes are the ones that are opened.
pub trait Relative {
    /// Returns the bytes of the path. An operation calls it once.
    fn name_bytes(&self) -> &[u8];
}

macro_rules! relative {
    ($($kind:ty => $bytes:expr),* $(,)?) => {$(
        impl Relative for $kind {
            fn name_bytes(&self) -> &[u8] {
                let bytes: fn(&$kind) -> &[u8] = $bytes;
                bytes(self)
            }
        }
    )*};
}
relative! {
    str => |text| text.as_bytes(),
    String => |text| text.as_bytes(),
    [u8] => |bytes| bytes,
    Vec<u8> => |bytes| bytes,
    OsStr => |name| name.as_encoded_bytes(),
    OsString => |name| name.as_encoded_bytes(),
    Path => |path| path.as_os_str().as_encoded_bytes(),
}

#[cfg(feature = "utf8")]
relative! {
    camino::Utf8Path => |path| path.as_str().as_bytes(),
    camino::Utf8PathBuf => |path| path.as_str().as_bytes(),
}

impl Relative for RelPath<'_> {
    fn name_bytes(&self) -> &[u8] {
        if self.depth == 0 { b"." } else { &self.bytes }
    }
}

impl<const N: usize> Relative for [u8; N] {
    fn name_bytes(&self) -> &[u8] {
        self
    }
}

impl<T: Relative + ?Sized> Relative for &T {
    fn name_bytes(&self) -> &[u8] {
        (**self).name_bytes()
    }
}
