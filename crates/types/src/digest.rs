//! Digests, with one type per digested thing so that they cannot be confused.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use core::fmt;
use core::str::FromStr;

use crate::{ParseError, ParseErrorKind, hex};

fn parse_digest(what: &'static str, prefix: &'static str, text: &str) -> Result<[u8; 32], ParseError> {
    let Some(digits) = text.strip_prefix(prefix) else {
        return Err(ParseError::new(what, ParseErrorKind::Prefix { expected: prefix }));
    };
    // The length is checked before the digits, so that an abbreviated digest is reported as too short.
    if digits.len() != 64 {
        let kind =
            ParseErrorKind::Length { expected: "64 hex digits after the prefix", actual: digits.len() };
        return Err(ParseError::new(what, kind));
    }
    hex::decode_array(digits).ok_or_else(|| {
        // Only a text that failed is searched for its first wrong digit; the decoder itself does not branch per
        // digit.
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let wrong = digits.bytes().position(|byte| !is_digit(byte)).unwrap_or_default();
        let at = prefix.len() + wrong;
        ParseError::new(what, ParseErrorKind::Character { at, expected: "lower-case hex digits" })
    })
}

macro_rules! digest {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 32]);

        impl $name {
            /// The prefix of the text form.
            pub const PREFIX: &'static str = $prefix;

            /// Creates a digest from the 32 bytes of a hash.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 32]) -> Self {
                Self(bytes)
            }

            /// Returns the 32 bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }

            /// Returns the 64 lower-case hex digits, without the prefix.
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
    /// The SHA-256 digest of bytes, written `sha256:` and 64 lower-case hex digits.
    ///
    /// # Guarantees
    /// A digest has one text. Upper-case digits, another prefix or another length do not parse.
    ///
    /// # Examples
    /// ```
    /// use plugward_types::Digest;
    ///
    /// let digest = Digest::from_bytes([0xab; 32]);
    /// let text = digest.to_string();
    /// assert!(text.starts_with("sha256:abab"));
    /// assert_eq!(text.parse::<Digest>()?, digest);
    /// assert!(text.to_uppercase().parse::<Digest>().is_err());
    /// # Ok::<(), plugward_types::ParseError>(())
    /// ```
    Digest, "sha256:", "sha256 digest"
}

digest! {
    /// The digest of a directory tree in the scheme `plugtree-v1`, written `pt1:` and 64 lower-case hex digits.
    ///
    /// The crate `plugward-tree-lock` implements the scheme.
    TreeDigest, "pt1:", "tree digest"
}

digest! {
    /// The digest of a plugin's execution surface, written `sf1:` and 64 lower-case hex digits.
    ///
    /// It explains a change in reports and never decides whether a plugin loads.
    SurfaceDigest, "sf1:", "surface digest"
}
