//! The JSON lock of codewizard, in its own weaker digest scheme.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::Part;

use super::check::{LockOutcome, LockRule};
use super::error::LockError;
use super::file::LockFile;
use crate::foreign_schemes::CodewizardDigest;

/// The largest JSON lock that is read, in bytes.
pub const JSON_LOCK_BYTES: usize = 64 << 10;

const SHAPE: &str = "an object of plugin names and their digests, 64 lower-case hex digits each";
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
        Reader { text, at: 0 }.object().map(|entries| Self { entries })
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

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn error(&self, at: usize, expected: impl Into<String>) -> LockError {
        LockError::at(self.text, at, expected)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn mark(&mut self, mark: u8, expected: &'static str) -> Result<(), LockError> {
        self.blanks();
        if self.peek() != Some(mark) {
            return Err(self.error(self.at, expected));
        }
        self.at += 1;
        Ok(())
    }

    fn object(&mut self) -> Result<BTreeMap<String, CodewizardDigest>, LockError> {
        let mut entries = BTreeMap::new();
        self.mark(b'{', SHAPE)?;
        self.blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
        } else {
            loop {
                self.blanks();
                let start = self.at;
                let name = self.string(NAME)?;
                if !is_name(&name) {
                    return Err(self.error(start, NAME));
                }
                // JSON parsers disagree about which of two equal keys applies, so neither does.
                if entries.contains_key(&name) {
                    return Err(self.error(start, "each plugin once"));
                }
                self.mark(b':', "`:`")?;
                self.blanks();
                let start = self.at;
                let digest = self.string("a digest: 64 lower-case hex digits in quotes")?;
                let digest = digest.parse().map_err(|error: plugward_types::ParseError| {
                    self.error(start, format!("64 lower-case hex digits ({})", error.kind()))
                })?;
                entries.insert(name, digest);
                self.blanks();
                if self.peek() != Some(b',') {
                    self.mark(b'}', "`,` or `}`")?;
                    break;
                }
                self.at += 1;
            }
        }
        self.blanks();
        if self.at < self.text.len() {
            return Err(self.error(self.at, "nothing after the object"));
        }
        Ok(entries)
    }

    fn string(&mut self, expected: &'static str) -> Result<String, LockError> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.error(start, expected));
        }
        let mut out = String::new();
        let body = self.text.part(start + 1..);
        let mut chars = body.char_indices();
        while let Some((index, c)) = chars.next() {
            let at = start + 1 + index;
            match c {
                '"' => {
                    self.at = at + 1;
                    return Ok(out);
                }
                '\\' => out.push(unescape(&mut chars).ok_or_else(|| self.error(at, "a valid escape"))?),
                // JSON requires control characters to be escaped.
                c if c < ' ' => return Err(self.error(at, "no control character in a string")),
                c => out.push(c),
            }
        }
        Err(self.error(start, "a string that ends"))
    }
}

/// Parses the rest of an escape after the backslash.
fn unescape(chars: &mut core::str::CharIndices<'_>) -> Option<char> {
    Some(match chars.next()?.1 {
        c @ ('"' | '\\' | '/') => c,
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => {
            let unit = hex4(chars)?;
            if (0xd800..0xdc00).contains(&unit) {
                // A code point past U+FFFF is two escapes, a high and a low surrogate. One alone is not a
                // character.
                let follows = chars.next()?.1 == '\\' && chars.next()?.1 == 'u';
                let low = hex4(chars).filter(|low| follows && (0xdc00..0xe000).contains(low))?;
                return char::decode_utf16([u16::try_from(unit).ok()?, u16::try_from(low).ok()?])
                    .next()?
                    .ok();
            }
            char::from_u32(unit)?
        }
        _ => return None,
    })
}

fn hex4(chars: &mut core::str::CharIndices<'_>) -> Option<u32> {
    (0..4).try_fold(0_u32, |value, _| Some((value << 4) | chars.next()?.1.to_digit(16)?))
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
