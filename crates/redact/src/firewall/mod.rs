//! The firewall: the only code that creates redacted values.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

pub(crate) mod engine;
pub(crate) mod error;
#[cfg(feature = "json")]
pub(crate) mod json;
pub(crate) mod merge;
pub(crate) mod scan;
pub(crate) mod settings;
pub(crate) mod settle;
pub(crate) mod stream;

use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use zeroize::Zeroize as _;

use crate::firewall::engine::{MoreText, Pass};
use crate::firewall::error::RedactError;
use crate::firewall::settings::{RuleSelection, Settings};
use crate::firewall::stream::RedactStream;
use crate::known::KnownSecrets;
use crate::raw::Raw;
use crate::redacted::Redacted;
use crate::redacted::finding::{ChecksumCheck, LayerStack, RedactAction, SecretFinding};
use crate::redacted::marker;
use crate::rules::{MarkerEncoding, RuleSet};

/// Numbers the firewalls of a process, so that a redacted value can name the one that made it.
static GENERATIONS: AtomicU64 = AtomicU64::new(1);

/// Removes secrets from text. The only type that creates a [`Redacted`].
///
/// # Examples
///
/// ```
/// use plugward_redact::{Firewall, Raw, RuleSelection, Settings};
///
/// let firewall = Firewall::new(RuleSelection::all(), Settings::reference())?;
/// let redacted = firewall.redact(Raw::new("curl -u bob:tR4-qu!ckBr0wn https://example.com".to_owned()));
/// assert_eq!(redacted.as_str(), "curl -u bob:[REDACTED:cli] https://example.com");
/// # Ok::<(), plugward_redact::RedactError>(())
/// ```
pub struct Firewall {
    pub(crate) rules: Arc<RuleSet>,
    pub(crate) settings: Settings,
    generation: u64,
    built_in: RuleSelection,
}

/// Returns the compiled set of all built-in rules. Compiling takes milliseconds, so firewalls share one copy.
fn built_in() -> Result<Arc<RuleSet>, RedactError> {
    static BUILT_IN: OnceLock<Arc<RuleSet>> = OnceLock::new();
    if let Some(known) = BUILT_IN.get() {
        return Ok(Arc::clone(known));
    }
    let made = Arc::new(RuleSet::new(&RuleSelection::all(), &[])?);
    Ok(Arc::clone(BUILT_IN.get_or_init(|| made)))
}

impl Firewall {
    /// Compiles the rules. The built-in set is compiled once per process.
    ///
    /// # Errors
    ///
    /// - `redact/dead-rule`: a custom rule could never match.
    /// - `redact/rule-name`: the name of a custom rule is taken or invalid.
    ///
    /// A dead rule is an error, because a host that added a rule expects it to apply.
    pub fn new(rules: RuleSelection, settings: Settings) -> Result<Self, RedactError> {
        let compiled = if rules.is_all() && settings.custom.is_empty() {
            built_in()?
        } else {
            Arc::new(RuleSet::new(&rules, &settings.custom)?)
        };
        let generation = GENERATIONS.fetch_add(1, Ordering::Relaxed);
        Ok(Self { rules: compiled, settings, generation, built_in: rules })
    }

    /// Returns the number of this firewall, which is unique within the process.
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// Redacts a text and wipes the raw copy.
    ///
    /// # Guarantees
    ///
    /// The result contains no listed shape, in any listed view, within its limits. Every byte outside a match
    /// is unchanged.
    #[must_use]
    pub fn redact(&self, text: Raw<String>) -> Redacted {
        let redacted = self.bytes(text.inside().as_bytes(), None);
        drop(text);
        redacted.into_text()
    }

    /// Redacts bytes of any encoding, with the guarantees of [`Firewall::redact`].
    #[must_use]
    pub fn redact_bytes(&self, bytes: Raw<Vec<u8>>) -> Redacted<Vec<u8>> {
        let redacted = self.bytes(bytes.inside(), None);
        drop(bytes);
        redacted
    }

    /// Finds the secrets in a text without redacting it.
    ///
    /// Returns what [`Firewall::redact_bytes`] would remove or mark: the kind and the byte range of each
    /// place. The text is not copied.
    ///
    /// # Guarantees
    ///
    /// The findings are those of `redact_bytes`, in the same order, but [`SecretFinding::at`],
    /// [`SecretFinding::line`] and [`SecretFinding::column`] refer to the input: `at` is the range of the bytes
    /// that would be removed.
    ///
    /// # Examples
    ///
    /// ```
    /// use plugward_redact::{Firewall, RuleSelection, Settings};
    ///
    /// let firewall = Firewall::new(RuleSelection::all(), Settings::reference())?;
    /// let found = firewall.find(b"user=app password=\"tR4-qu!ckBr0wn\" done");
    /// assert_eq!((found[0].kind.as_str(), found[0].at.clone()), ("generic", 19..33));
    /// # Ok::<(), plugward_redact::RedactError>(())
    /// ```
    #[must_use]
    pub fn find(&self, bytes: &[u8]) -> Vec<SecretFinding> {
        let mut core = Pass::finding(self);
        let mut nothing = Vec::new();
        while core.block(bytes, 0, MoreText::None, &mut nothing) {}
        match core.withheld() {
            Some(rank) => vec![withheld(self, rank, bytes.len(), bytes.len())],
            None => core.findings,
        }
    }

    /// Starts redacting a text that arrives in chunks.
    #[must_use]
    pub fn stream(&self) -> RedactStream<'_> {
        RedactStream::new(self)
    }

    /// Joins redacted texts. The result is redacted again, because a secret can be split across a seam.
    #[must_use]
    pub fn join(&self, parts: &[&Redacted], between: &'static str) -> Redacted {
        let text = parts.iter().map(|part| part.as_str()).collect::<Vec<&str>>().join(between);
        self.redact(Raw::new(text))
    }

    /// Redacts a text again if another firewall made it. Returns it unchanged if this one did.
    #[must_use]
    pub fn refresh(&self, text: Redacted) -> Redacted {
        if text.generation == self.generation {
            return text;
        }
        let mut fresh = self.redact(Raw::new(text.value));
        // The earlier offsets refer to the earlier text; the kinds still show what was removed.
        let earlier = text.findings.into_iter().filter(|found| found.at.end <= fresh.value.len());
        let own = core::mem::take(&mut fresh.findings);
        fresh.findings = if own.is_empty() { earlier.collect() } else { own };
        fresh
    }

    /// Adds the secrets of a text to `known`, so that they are found again after a transform.
    pub fn remember_text(&self, text: &Raw<String>, known: &mut KnownSecrets) {
        self.learn(text.inside().as_bytes(), known);
    }

    /// Redacts the output of a transform, and searches it for the secrets that were there before.
    ///
    /// The second part lists the laundered values: secrets that the transform encoded, or moved away from the
    /// name that identified them.
    #[must_use]
    pub fn redact_transformed(
        &self,
        text: Raw<String>,
        known: &KnownSecrets,
    ) -> (Redacted, Vec<SecretFinding>) {
        let redacted = self.bytes(text.inside().as_bytes(), Some(known)).into_text();
        drop(text);
        let laundered = redacted.findings.iter().filter(|found| is_laundered(found)).cloned().collect();
        (redacted, laundered)
    }

    pub(crate) fn bytes(&self, text: &[u8], known: Option<&KnownSecrets>) -> Redacted<Vec<u8>> {
        let mut core = Pass::new(self, known);
        let mut value = Vec::with_capacity(text.len() + text.len() / 16 + 64);
        while core.block(text, 0, MoreText::None, &mut value) {}
        if let Some(rank) = core.withheld() {
            // The text before the match is already in `value`.
            value.zeroize();
            let kind = self.rules.kind(rank);
            let length =
                marker::write(&mut value, self.settings.marker, kind.as_str(), MarkerEncoding::Bytes);
            core.findings = vec![withheld(self, rank, text.len(), length)];
        }
        Redacted { value, generation: self.generation, findings: core.findings }
    }

    /// Stores the values of all matches.
    pub(crate) fn learn(&self, text: &[u8], known: &mut KnownSecrets) {
        let mut core = Pass::learning(self);
        let mut sink = Vec::new();
        while core.block(text, 0, MoreText::None, &mut sink) {
            sink.clear();
        }
        core.learned.iter().for_each(|value| known.add(value));
        core.raws.iter().for_each(|raw| known.add_raw(raw));
    }

    /// Finds everything in a text that is in memory as a whole.
    #[cfg(feature = "json")]
    pub(crate) fn hits(&self, text: &[u8], known: Option<&KnownSecrets>) -> Vec<crate::rules::Match> {
        let mut hits =
            scan::Scan::new(&self.rules, &self.settings, known, text.len()).text(text, 0..text.len());
        for hit in &mut hits {
            merge::to_characters(text, hit);
        }
        hits
    }
}

/// Returns the finding for a text that is withheld as a whole.
pub(crate) fn withheld(firewall: &Firewall, rank: u16, raw_len: usize, marker: usize) -> SecretFinding {
    SecretFinding {
        kind: firewall.rules.kind(rank),
        at: 0..marker,
        raw_len,
        via: LayerStack::default(),
        checksum: ChecksumCheck::None,
        action: RedactAction::Withheld,
        line: 1,
        column: 1,
        pointer: String::new(),
    }
}

pub(crate) fn is_laundered(found: &SecretFinding) -> bool {
    found.via.layers().any(|layer| layer == crate::Layer::Laundered)
}

impl fmt::Debug for Firewall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Firewall")
            .field("generation", &self.generation)
            .field("rules", &self.rules)
            .field("built_in", &self.built_in)
            .finish_non_exhaustive()
    }
}
