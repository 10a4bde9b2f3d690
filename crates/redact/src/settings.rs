//! What a host chooses. Nothing here has a default: a wrong one could not be seen.

use core::fmt;

use crate::kind::{KINDS, rank};

/// How a marker is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new marker must stop every host from building")]
pub enum Marker {
    /// `[REDACTED:github]`.
    Kind,
    /// `[REDACTED]`.
    Plain,
}

/// What becomes of documented example keys and of placeholders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new choice must stop every host from building")]
pub enum Examples {
    /// They stay; a documented key is in the findings as kept.
    Keep,
    /// They are cut out like any other.
    Redact,
}

/// What becomes of tokens of high entropy that no rule knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new choice must stop every host from building")]
pub enum Entropy {
    /// They are not looked for.
    Off,
    /// They are in the findings and stay.
    Note,
    /// They are cut out.
    Redact,
}

/// Whether encodings are undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new choice must stop every host from building")]
pub enum Views {
    /// Up to four layers are undone and searched.
    Decode,
    /// Only the text as it stands is searched.
    Plain,
}

/// Rules that are off unless they are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pack {
    /// Password hashes: crypt, bcrypt, argon2, scrypt.
    Hashes,
}

/// What a custom rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new action must stop every host from building")]
pub enum CustomAction {
    /// Its matches are cut out.
    Redact,
    /// Its matches are in the findings and stay.
    Note,
    /// A match takes the whole text away. A stream ends at the match: what came before it is out already.
    Withhold,
}

/// A rule of the host's own.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a rule is these four things")]
pub struct Custom {
    /// Name in markers and reports: small letters, digits and hyphens, at most 40.
    pub name: String,
    /// A linear-time expression over bytes. It sees 4 KiB before and after a keyword at least.
    pub pattern: String,
    /// Words of which one stands in or near every match; capitals and small letters are the same.
    pub keywords: Vec<String>,
    /// What a match does.
    pub action: CustomAction,
}

/// The choices of one firewall.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a new setting must be chosen by every host")]
pub struct Settings {
    /// How a marker is written.
    pub marker: Marker,
    /// What becomes of example keys.
    pub examples: Examples,
    /// What becomes of tokens of high entropy.
    pub entropy: Entropy,
    /// Whether encodings are undone.
    pub views: Views,
    /// Packs of rules that are on.
    pub packs: Vec<Pack>,
    /// The host's own rules.
    pub custom: Vec<Custom>,
}

impl Settings {
    /// Gives the choices of the reference loader: markers with kinds, examples kept, entropy off, views on, no packs.
    ///
    /// Entropy is off because it marks hundreds of places in every megabyte of ordinary developer output.
    #[must_use]
    pub const fn reference() -> Self {
        Self {
            marker: Marker::Kind,
            examples: Examples::Keep,
            entropy: Entropy::Off,
            views: Views::Decode,
            packs: Vec::new(),
            custom: Vec::new(),
        }
    }
}

/// The built-in rules of one firewall.
#[derive(Clone, PartialEq, Eq)]
pub struct Rules {
    without: Vec<u16>,
}

impl Rules {
    /// Takes every built-in rule.
    #[must_use]
    pub const fn all() -> Self {
        Self { without: Vec::new() }
    }

    /// Leaves a kind out: for a test of what a second firewall behind the first one still finds.
    ///
    /// None if there is no such kind.
    #[must_use]
    pub fn without(mut self, kind: &str) -> Option<Self> {
        KINDS.iter().find(|(name, _)| *name == kind)?;
        self.without.push(rank(kind));
        Some(self)
    }

    /// Says whether no kind is left out.
    pub(crate) const fn is_all(&self) -> bool {
        self.without.is_empty()
    }

    pub(crate) fn wants_rank(&self, rank: u16) -> bool {
        !self.without.contains(&rank)
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names =
            self.without.iter().filter_map(|rank| KINDS.get(usize::from(*rank)).map(|(name, _)| *name));
        f.debug_struct("Rules").field("without", &names.collect::<Vec<_>>()).finish()
    }
}
