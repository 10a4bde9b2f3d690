//! The settings of a firewall. They have no `Default`, because a wrong default would go unnoticed.

use core::fmt;

use crate::redacted::kind::{KINDS, rank};

/// The format of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new marker must stop every host from building")]
pub enum MarkerStyle {
    /// `[REDACTED:github]`.
    Kind,
    /// `[REDACTED]`.
    Plain,
}

/// The treatment of documented example keys and placeholders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new choice must stop every host from building")]
pub enum ExampleMode {
    /// They are kept. A documented key is reported as kept.
    Keep,
    /// They are removed like any other match.
    Redact,
}

/// The treatment of tokens of high entropy that no rule matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new choice must stop every host from building")]
pub enum EntropyMode {
    /// They are not searched for.
    Off,
    /// They are reported and kept.
    Note,
    /// They are removed.
    Redact,
}

/// Whether encodings are undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new choice must stop every host from building")]
pub enum ViewMode {
    /// Up to four layers are undone and searched.
    Decode,
    /// Only the text itself is searched.
    Plain,
}

/// Rules that are off by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RulePack {
    /// Password hashes: crypt, bcrypt, argon2, scrypt.
    Hashes,
}

/// The effect of a custom rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new action must stop every host from building")]
pub enum CustomAction {
    /// Matches are removed.
    Redact,
    /// Matches are reported and kept.
    Note,
    /// A match replaces the whole text. A stream ends at the match; the text before it is already written.
    Withhold,
}

/// A rule that the host adds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a rule is these four things")]
pub struct CustomRule {
    /// The name in markers and reports: at most 40 lowercase letters, digits and hyphens.
    pub name: String,
    /// A linear-time regex over bytes. It sees at least 4 KiB before and after a keyword.
    pub pattern: String,
    /// Keywords, one of which is in or near every match. ASCII case is ignored.
    pub keywords: Vec<String>,
    /// The effect of a match.
    pub action: CustomAction,
}

/// The settings of one firewall.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a new setting must be chosen by every host")]
pub struct Settings {
    /// The format of markers.
    pub marker: MarkerStyle,
    /// The treatment of example keys.
    pub examples: ExampleMode,
    /// The treatment of tokens of high entropy.
    pub entropy: EntropyMode,
    /// Whether encodings are undone.
    pub views: ViewMode,
    /// Packs of rules to turn on.
    pub packs: Vec<RulePack>,
    /// Rules that the host adds.
    pub custom: Vec<CustomRule>,
}

impl Settings {
    /// Returns the settings of the reference loader: markers with kinds, examples kept, entropy off,
    /// encodings undone, no packs.
    ///
    /// Entropy is off, because it matches hundreds of places in every megabyte of ordinary developer output.
    #[must_use]
    pub const fn reference() -> Self {
        Self {
            marker: MarkerStyle::Kind,
            examples: ExampleMode::Keep,
            entropy: EntropyMode::Off,
            views: ViewMode::Decode,
            packs: Vec::new(),
            custom: Vec::new(),
        }
    }
}

/// The built-in rules of one firewall.
#[derive(Clone, PartialEq, Eq)]
pub struct RuleSelection {
    without: Vec<u16>,
}

impl RuleSelection {
    /// Selects every built-in rule.
    #[must_use]
    pub const fn all() -> Self {
        Self { without: Vec::new() }
    }

    /// Leaves out a kind. Returns `None` if there is no such kind.
    ///
    /// For tests of what a second firewall behind the first still finds.
    #[must_use]
    pub fn without(mut self, kind: &str) -> Option<Self> {
        KINDS.iter().find(|(name, _)| *name == kind)?;
        self.without.push(rank(kind));
        Some(self)
    }

    /// Returns `true` if no kind is left out.
    pub(crate) const fn is_all(&self) -> bool {
        self.without.is_empty()
    }

    pub(crate) fn wants_rank(&self, rank: u16) -> bool {
        !self.without.contains(&rank)
    }
}

impl fmt::Debug for RuleSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names =
            self.without.iter().filter_map(|rank| KINDS.get(usize::from(*rank)).map(|(name, _)| *name));
        f.debug_struct("RuleSelection").field("without", &names.collect::<Vec<_>>()).finish()
    }
}
