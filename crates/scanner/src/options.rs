//! How a scan is asked for.

use core::fmt;
use core::num::NonZeroUsize;

use crate::MatchCache;

/// Which of a rule's two severities counts.
///
/// # Source
/// `strict-plugin` keeps HyperAgent's contract; `general` serves every other host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new profile must stop every host from building")]
pub enum Profile {
    /// Guest plugins: only relative imports and what the host offers; any other way to load code is danger.
    StrictPlugin,
    /// Ordinary code that may import packages.
    General,
}

impl Profile {
    /// Both profiles.
    pub const ALL: [Self; 2] = [Self::StrictPlugin, Self::General];

    /// Gives the word that settings and reports use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StrictPlugin => "strict-plugin",
            Self::General => "general",
        }
    }

    /// Finds a profile by its word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.as_str() == name)
    }

    pub(crate) const fn bit(self) -> u8 {
        match self {
            Self::StrictPlugin => 1,
            Self::General => 2,
        }
    }
}

/// Where the scan stops and says so.
///
/// # Guarantees
/// Meeting a limit is an error or a `coverage/*` or `scan/partial` finding, never silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Most entries of a plugin; beyond it `scan/too-many`.
    pub entries: usize,
    /// Most bytes of a plugin; beyond it `scan/too-large`.
    pub bytes: u64,
    /// Bytes of one file that are lexed and viewed; the rest is read raw only.
    pub file: usize,
    /// Bytes of a plugin that are lexed and viewed; the rest is read raw only.
    pub lexed: u64,
    /// Deepest nesting of brackets.
    pub brackets: usize,
    /// Deepest nesting of templates.
    pub templates: usize,
    /// Deepest nesting of code in code.
    pub embedded: usize,
    /// Findings of one rule in one file that are listed; counts stay exact.
    pub findings: usize,
}

impl Limits {
    /// The limits of the reference loader.
    pub const DEFAULT: Self = Self {
        entries: 100_000,
        bytes: 1 << 30,
        file: 32 << 20,
        lexed: 512 << 20,
        brackets: 4096,
        templates: 64,
        embedded: 3,
        findings: 100,
    };
}

/// What a scan needs besides rules and files.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct ScanOptions<'a> {
    /// Which severities count.
    pub profile: Profile,
    /// Where the scan stops.
    pub limits: Limits,
    /// Threads to use. The report does not depend on it.
    pub jobs: NonZeroUsize,
    /// Bare package names that the user lets plugins import.
    pub packages: &'a [String],
    /// Remembers what a file gave, by digest.
    pub cache: Option<&'a dyn MatchCache>,
}

impl ScanOptions<'_> {
    /// Takes the default limits, one thread, no package and no cache.
    #[must_use]
    pub const fn new(profile: Profile) -> Self {
        Self { profile, limits: Limits::DEFAULT, jobs: NonZeroUsize::MIN, packages: &[], cache: None }
    }
}

impl fmt::Debug for ScanOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScanOptions")
            .field("profile", &self.profile)
            .field("limits", &self.limits)
            .field("jobs", &self.jobs)
            .field("packages", &self.packages)
            .field("cache", &self.cache.is_some())
            .finish()
    }
}
