//! Digests. One type for each thing that is digested, so that they cannot be mixed up.

use core::fmt;
use core::str::FromStr;

use crate::{ParseError, ParseErrorKind, hex};

fn parse_digest(what: &'static str, prefix: &'static str, text: &str) -> Result<[u8; 32], ParseError> {
    let Some(digits) = text.strip_prefix(prefix) else {
        return Err(ParseError::new(what, ParseErrorKind::Prefix { expected: prefix }));
    };
    if digits.len() != 64 {
        let kind =
            ParseErrorKind::Length { expected: "64 hex digits after the prefix", actual: digits.len() };
        return Err(ParseError::new(what, kind));
    }
    hex::decode_array(digits).ok_or_else(|| {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let wrong = digits.bytes().position(|byte| !is_digit(byte)).unwrap_or_default();
        let at = prefix.len().saturating_add(wrong);
        ParseError::new(what, ParseErrorKind::Character { at, expected: "lower-case hex digits" })
    })
}

macro_rules! digest {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 32]);

        impl $name {
            /// What the text form starts with.
            pub const PREFIX: &'static str = $prefix;

            /// Takes the 32 bytes that a hasher gave.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 32]) -> Self {
                Self(bytes)
            }

            /// Gives the 32 bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }

            /// Gives the 64 lower-case hex digits without the prefix.
            #[must_use]
            pub fn hex(&self) -> String {
                hex::encode(&self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($prefix)?;
                f.write_str(&hex::encode(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = ParseError;

            fn from_str(text: &str) -> Result<Self, ParseError> {
                parse_digest($what, $prefix, text).map(Self)
            }
        }
    };
}

digest! {
    /// SHA-256 of some bytes, written `sha256:` and 64 lower-case hex digits.
    ///
    /// # Guarantees
    /// Render and parse are inverse. Upper-case digits, another prefix or another length do not parse.
    ///
    /// # Source
    /// ADR-003: a pin is the SHA-256 of the raw manifest bytes.
    Digest, "sha256:", "sha256 digest"
}

digest! {
    /// Digest of a whole folder under the scheme `plugtree-v1`, written `pt1:` and 64 lower-case hex digits.
    ///
    /// # Source
    /// ADR-0011 (`PLUGINS.lock`); the scheme is in the crate `plugward-tree-lock`.
    TreeDigest, "pt1:", "tree digest"
}

digest! {
    /// Digest of what of a plugin can run or enter a prompt, written `sf1:` and 64 lower-case hex digits.
    ///
    /// It explains a change; it never gates alone.
    ///
    /// # Source
    /// ADR-003, "partial hash": rejected there as a gate, kept here as an explanation.
    SurfaceDigest, "sf1:", "surface digest"
}
