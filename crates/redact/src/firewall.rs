//! The one maker of redacted values.

use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use zeroize::Zeroize as _;

use crate::error::RedactError;
use crate::found::{ChecksumCheck, Did, Found, Via};
use crate::known::Known;
use crate::marker;
use crate::pass::{Core, Rest};
use crate::raw::Raw;
use crate::redacted::Redacted;
use crate::rules::{RuleSet, Wide};
use crate::settings::{Rules, Settings};
use crate::stream::RedactStream;

/// Each firewall of a process has a number of its own.
static GENERATIONS: AtomicU64 = AtomicU64::new(1);

/// Takes secrets out of text: the only maker of [`Redacted`].
pub struct Firewall {
    pub(crate) rules: Arc<RuleSet>,
    pub(crate) settings: Settings,
    generation: u64,
    built_in: Rules,
}

/// All built-in rules and no others: compiled once a process, however many firewalls have them.
fn built_in() -> Result<Arc<RuleSet>, RedactError> {
    static BUILT_IN: OnceLock<Arc<RuleSet>> = OnceLock::new();
    if let Some(known) = BUILT_IN.get() {
        return Ok(Arc::clone(known));
    }
    let made = Arc::new(RuleSet::new(&Rules::all(), &[])?);
    Ok(Arc::clone(BUILT_IN.get_or_init(|| made)))
}

impl Firewall {
    /// Compiles the rules, the built-in ones once a process.
    ///
    /// # Errors
    /// `redact/dead-rule` for a custom rule that could never fire, `redact/rule-name` for a name that is taken or
    /// unusable. A dead rule is an error, not one rule less.
    pub fn new(rules: Rules, settings: Settings) -> Result<Self, RedactError> {
        let compiled = if rules.is_all() && settings.custom.is_empty() {
            built_in()?
        } else {
            Arc::new(RuleSet::new(&rules, &settings.custom)?)
        };
        let generation = GENERATIONS.fetch_add(1, Ordering::Relaxed);
        Ok(Self { rules: compiled, settings, generation, built_in: rules })
    }

    /// Says which firewall this is: no two of one process have the same number.
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// Redacts a text.
    ///
    /// # Guarantees
    /// No listed shape, in any listed view, within its limits, is in the result, and every byte outside hits is the
    /// input's. The raw text is wiped.
    #[must_use]
    pub fn redact(&self, text: Raw<String>) -> Redacted {
        let redacted = self.bytes(text.inside().as_bytes(), None);
        drop(text);
        redacted.into_text()
    }

    /// Redacts any bytes.
    #[must_use]
    pub fn redact_bytes(&self, bytes: Raw<Vec<u8>>) -> Redacted<Vec<u8>> {
        let redacted = self.bytes(bytes.inside(), None);
        drop(bytes);
        redacted
    }

    /// Finds what [`Firewall::redact_bytes`] would take out or mark, without a copy of the text.
    ///
    /// # Guarantees
    /// The findings are those of `redact_bytes`, in the same order, but [`Found::at`], [`Found::line`] and
    /// [`Found::column`] count in the input: `at` is the range of the bytes that would be taken out.
    #[must_use]
    pub fn find_in(&self, bytes: &[u8]) -> Vec<Found> {
        let mut core = Core::finding(self);
        let mut nothing = Vec::new();
        while core.block(bytes, 0, Rest::None, &mut nothing) {}
        match core.withheld() {
            Some(rank) => vec![withheld(self, rank, bytes.len(), bytes.len())],
            None => core.findings,
        }
    }

    /// Starts a text that comes in chunks.
    #[must_use]
    pub fn stream(&self) -> RedactStream<'_> {
        RedactStream::new(self)
    }

    /// Puts parts together. Seams can make a secret, so the whole is looked at again.
    #[must_use]
    pub fn join(&self, parts: &[&Redacted], between: &'static str) -> Redacted {
        let text = parts.iter().map(|part| part.as_str()).collect::<Vec<&str>>().join(between);
        self.redact(Raw::new(text))
    }

    /// Looks again at a text that another firewall let through. No work when this one made it.
    #[must_use]
    pub fn refresh(&self, text: Redacted) -> Redacted {
        if text.generation == self.generation {
            return text;
        }
        let mut fresh = self.redact(Raw::new(text.value));
        // Offsets of the earlier findings held in the earlier text; their kinds still say what was taken out.
        let earlier = text.findings.into_iter().filter(|found| found.at.end <= fresh.value.len());
        let own = core::mem::take(&mut fresh.findings);
        fresh.findings = if own.is_empty() { earlier.collect() } else { own };
        fresh
    }

    /// Puts the values that are found in a text into the list, for a search behind a transform.
    pub fn remember_text(&self, text: &Raw<String>, known: &mut Known) {
        self.learn(text.inside().as_bytes(), known);
    }

    /// Redacts a text that a transform gave, and searches it for the values that were there before.
    ///
    /// The second part is what was laundered: values that stood there in an encoding, or without the name that
    /// would have told of them.
    #[must_use]
    pub fn redact_transformed(&self, text: Raw<String>, known: &Known) -> (Redacted, Vec<Found>) {
        let redacted = self.bytes(text.inside().as_bytes(), Some(known)).into_text();
        drop(text);
        let laundered = redacted.findings.iter().filter(|found| is_laundered(found)).cloned().collect();
        (redacted, laundered)
    }

    pub(crate) fn bytes(&self, text: &[u8], known: Option<&Known>) -> Redacted<Vec<u8>> {
        let mut core = Core::new(self, known);
        let mut value = Vec::with_capacity(text.len().saturating_add(text.len() / 16).saturating_add(64));
        while core.block(text, 0, Rest::None, &mut value) {}
        if let Some(rank) = core.withheld() {
            // What was put out before the rule took it back.
            value.zeroize();
            let kind = self.rules.kind(rank);
            let length = marker::write(&mut value, self.settings.marker, kind.as_str(), Wide::Bytes);
            core.findings = vec![withheld(self, rank, text.len(), length)];
        }
        Redacted { value, generation: self.generation, findings: core.findings }
    }

    /// Keeps the values of all hits.
    pub(crate) fn learn(&self, text: &[u8], known: &mut Known) {
        let mut core = Core::learning(self);
        let mut sink = Vec::new();
        while core.block(text, 0, Rest::None, &mut sink) {
            sink.clear();
        }
        core.learned.iter().for_each(|value| known.add(value));
        core.raws.iter().for_each(|raw| known.add_raw(raw));
    }

    /// Finds everything in a text that is held as a whole.
    #[cfg(feature = "json")]
    pub(crate) fn hits(&self, text: &[u8], known: Option<&Known>) -> Vec<crate::rules::Hit> {
        let mut hits =
            crate::scan::Scan::new(&self.rules, &self.settings, known, text.len()).text(text, 0..text.len());
        for hit in &mut hits {
            crate::merge::to_characters(text, hit);
        }
        hits
    }
}

/// A finding for a text that was withheld as a whole.
pub(crate) fn withheld(firewall: &Firewall, rank: u16, raw_len: usize, marker: usize) -> Found {
    Found {
        kind: firewall.rules.kind(rank),
        at: 0..marker,
        raw_len,
        via: Via::default(),
        checksum: ChecksumCheck::None,
        did: Did::Withheld,
        line: 1,
        column: 1,
        pointer: String::new(),
    }
}

pub(crate) fn is_laundered(found: &Found) -> bool {
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
