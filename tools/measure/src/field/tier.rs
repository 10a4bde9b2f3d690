//! The tiers of findings.

use clap::ValueEnum;

/// The tier of a finding, as reports name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Tier {
    /// The plugin is refused
    Danger,
    /// A person is asked
    Warning,
    /// A note
    Info,
}

impl Tier {
    /// All tiers, the worst first.
    pub(crate) const ALL: [Self; 3] = [Self::Danger, Self::Warning, Self::Info];

    /// Returns the word in reports.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Danger => "danger",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }

    /// Returns the tier that a word names.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.as_str() == word)
    }
}
