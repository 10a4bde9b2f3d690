//! The JSON lock of codewizard, in its own weaker digest scheme.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{LineEnds, LineIndex, ParseError, Part};
use serde::Deserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde_json::error::Category;

use super::check::{LockOutcome, LockRule};
use super::error::LockError;
use super::file::LockFile;
use crate::foreign_schemes::CodewizardDigest;

/// The largest JSON lock that is read, in bytes.
pub const JSON_LOCK_BYTES: usize = 64 << 10;

const NAME: &str = "a plugin name: a-z 0-9 - in three parts joined by `--`, as task--language--build";

/// A lockfile in either format.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a third format must stop every host from building")]
pub enum AnyLockFile {
    /// PLUGINS.lock, the format of plugward.
    Plugins(LockFile),
    /// The JSON object of codewizard.
    Json(JsonLock),
}

impl AnyLockFile {
    /// Parses either format. A file that starts with `{` is a JSON lock.
    ///
    /// # Errors
    /// `lock/malformed`, under the conditions of [`LockFile::parse`] and [`JsonLock::parse`].
    pub fn parse(bytes: &[u8]) -> Result<Self, LockError> {
        // No TOML document begins with a brace, so the first byte decides without a file name.
        if bytes.first() == Some(&b'{') {
            return JsonLock::parse(bytes).map(Self::Json);
        }
        LockFile::parse(bytes).map(Self::Plugins)
    }
}

/// The JSON lock of codewizard: manifest names, and digests in the scheme of that loader.
///
/// The scheme is weak: it does not cover compiled caches, execute bits and symlinks (notice `lock/weak-scheme`, see
/// [`JsonLock::NOTICE`]). Under trust mode `locked` it is not sufficient alone. Every plugin must have an entry, and
/// every entry must have a plugin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JsonLock {
    entries: BTreeMap<String, CodewizardDigest>,
}

/// The result of comparing one plugin with a JSON lock.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "only `Match` is a match, and a weak one"]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum JsonLockCheck {
    /// The plugin matches its entry, as far as the scheme covers it.
    Match,
    /// The plugin differs from its entry.
    Mismatch {
        /// The digest in the entry.
        expected: CodewizardDigest,
        /// The digest of the plugin.
        actual: CodewizardDigest,
    },
    /// The plugin has no entry.
    Unlisted,
}

impl JsonLockCheck {
    /// Returns the stable code; `None` for a match.
    #[must_use]
    pub const fn code(&self) -> Option<&'static str> {
        match self {
            Self::Match => None,
            Self::Mismatch { .. } => Some("lock/mismatch"),
            Self::Unlisted => Some("lock/unlisted"),
        }
    }

    /// Returns the consequence under a rule. Unlike with PLUGINS.lock, a match never counts as a pin.
    pub const fn outcome(&self, rule: LockRule) -> LockOutcome {
        match (self, rule) {
            (Self::Match, LockRule::Narrows) => LockOutcome::GoOn,
            // The digest covers only part of a plugin, so a match alone does not let a host load it.
            (Self::Match, LockRule::Anchors) => LockOutcome::NeedsPin(JsonLock::NOTICE),
            (Self::Mismatch { .. }, _) => LockOutcome::Refuse("lock/mismatch"),
            (Self::Unlisted, _) => LockOutcome::Refuse("lock/unlisted"),
        }
    }
}

impl JsonLock {
    /// The code of the notice that accompanies every use of this format.
    pub const NOTICE: &'static str = "lock/weak-scheme";

    /// Parses the object.
    ///
    /// # Errors
    /// `lock/malformed` with line and column, for more than [`JSON_LOCK_BYTES`], bytes that are not UTF-8, anything
    /// but one flat object, a duplicate or invalid name, or an invalid digest. The error names the whole file.
    pub fn parse(bytes: &[u8]) -> Result<Self, LockError> {
        if bytes.len() > JSON_LOCK_BYTES {
            return Err(LockError::new(format!("at most {JSON_LOCK_BYTES} bytes")));
        }
        let text = LockError::text(bytes)?;
        let mut reader = serde_json::Deserializer::from_str(text);
        let entries = reader.deserialize_map(Entries).and_then(|entries| reader.end().map(|()| entries));
        entries.map(|entries| Self { entries }).map_err(|error| malformed(text, &error))
    }

    /// Returns the names and digests, sorted by name.
    #[must_use]
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&str, &CodewizardDigest)> {
        self.entries.iter().map(|(name, digest)| (name.as_str(), digest))
    }

    /// Compares a plugin with its entry. `name` is the name in its manifest, not that of its directory.
    pub fn check(&self, name: &str, actual: CodewizardDigest) -> JsonLockCheck {
        match self.entries.get(name) {
            None => JsonLockCheck::Unlisted,
            Some(expected) if *expected == actual => JsonLockCheck::Match,
            Some(expected) => JsonLockCheck::Mismatch { expected: *expected, actual },
        }
    }

    /// Returns the names of the entries without a plugin.
    #[must_use]
    pub fn unvisited(&self, seen: &BTreeSet<String>) -> Vec<String> {
        self.entries.keys().filter(|name| !seen.contains(*name)).cloned().collect()
    }
}

/// Returns `true` if a name matches `^[a-z][a-z0-9-]{0,63}--[a-z][a-z0-9-]{0,31}--[a-z][a-z0-9-]{0,31}$`.
// A part may contain `--` itself, so every way to split the name is tried.
fn is_name(name: &str) -> bool {
    let part = |text: &str, max: usize| {
        text.len() <= max
            && text.bytes().next().is_some_and(|b| b.is_ascii_lowercase())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    // The limit also bounds the search below, which is quadratic in the length.
    if name.len() > 130 {
        return false;
    }
    let cuts = || (0..name.len()).filter(|at| name.get(*at..).is_some_and(|rest| rest.starts_with("--")));
    let slice = |from: usize, to: usize| name.part(from..to);
    cuts().any(|one| {
        let from = one + 2;
        part(slice(0, one), 64)
            && cuts()
                .any(|two| two >= from && part(slice(from, two), 32) && part(slice(two + 2, name.len()), 32))
    })
}

/// Reads the object, and refuses a name that occurs twice: JSON parsers disagree about which of two equal keys applies.
struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = BTreeMap<String, CodewizardDigest>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of plugin names and their digests, 64 lower-case hex digits each")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some(name) = map.next_key::<String>()? {
            if !is_name(&name) {
                return Err(A::Error::custom(NAME));
            }
            if entries.contains_key(&name) {
                return Err(A::Error::custom("each plugin once"));
            }
            let digest = map.next_value::<String>()?.parse().map_err(|error: ParseError| {
                A::Error::custom(format_args!("64 lower-case hex digits ({})", error.kind()))
            })?;
            entries.insert(name, digest);
        }
        Ok(entries)
    }
}

/// Translates an error of the parser, whose place is the last byte that it read.
fn malformed(text: &str, error: &serde_json::Error) -> LockError {
    let line = u32::try_from(error.line()).unwrap_or(u32::MAX);
    let start = LineIndex::new(text.as_bytes(), LineEnds::Lf).range(line).start;
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or(&message);
    // The parser writes `invalid type: X, expected Y`, and `expected` is in the text of every `LockError`.
    let expected = match error.classify() {
        Category::Data => message.rsplit(", expected ").next().unwrap_or(message).to_owned(),
        Category::Io | Category::Syntax | Category::Eof => format!("JSON: {message}"),
    };
    LockError::at(text, start + error.column().saturating_sub(1), expected)
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn names_are_three_parts() {
        let long = |a: usize, b: usize| format!("{}--{}--x", "a".repeat(a), "b".repeat(b));
        for good in
            ["a--b--c", "a-b--c1--d", "a----b--c", "vulnerability-remediation--node--npm", &long(64, 32)]
        {
            assert!(is_name(good), "{good}");
        }
        for bad in [
            "",
            "a",
            "a--b",
            "A--b--c",
            "1--b--c",
            "a--b--",
            "--b--c",
            "a--b--c\n",
            "a--b--\u{e9}",
            "a--1--c",
            &long(65, 1),
            &long(1, 33),
            &"a--".repeat(60),
        ] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
