//! Options of a scan.

use core::fmt;
use core::num::NonZeroUsize;

use plugward_types::Profile;

use crate::MatchCache;

/// Returns a profile as one bit of a set.
pub(crate) const fn profile_bit(profile: Profile) -> u8 {
    match profile {
        Profile::StrictPlugin => 1,
        Profile::General => 2,
    }
}

/// The limits of a scan.
///
/// # Guarantees
///
/// A scan that meets a limit reports it: as an error, or as a `coverage/*` or `scan/partial` finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScanLimits {
    /// The most entries of a plugin; more are `scan/too-many`.
    pub entries: usize,
    /// The most bytes of a plugin; more are `scan/too-large`.
    pub bytes: u64,
    /// The bytes of one file that are lexed and viewed; only raw rules read the rest.
    pub file: usize,
    /// The bytes of a plugin that are lexed and viewed; only raw rules read the rest.
    pub lexed: u64,
    /// The deepest nesting of brackets.
    pub brackets: usize,
    /// The deepest nesting of templates.
    pub templates: usize,
    /// The deepest nesting of code inside code.
    pub embedded: usize,
    /// The most findings of one rule in one file that are listed. Counts stay exact.
    pub findings: usize,
}

impl ScanLimits {
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

/// The options of a scan besides rules and files.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct ScanOptions<'a> {
    /// The profile that selects severities.
    pub profile: Profile,
    /// The limits.
    pub limits: ScanLimits,
    /// The number of threads. The report does not depend on it.
    pub jobs: NonZeroUsize,
    /// Bare package names that the user allows plugins to import.
    pub packages: &'a [String],
    /// The cache of matches, by digest.
    pub cache: Option<&'a dyn MatchCache>,
}

impl ScanOptions<'_> {
    /// Returns options with the default limits, one thread, no packages and no cache.
    #[must_use]
    pub const fn new(profile: Profile) -> Self {
        Self { profile, limits: ScanLimits::DEFAULT, jobs: NonZeroUsize::MIN, packages: &[], cache: None }
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
