//! The scan of a text: the rules on the text itself, then on each of its views.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::cell::{Cell, RefCell};
use core::ops::Range;

use zeroize::Zeroizing;

use crate::bytes::{TOKEN, at, is, part, run, run_back};
use crate::firewall::settings::{EntropyMode, RulePack, Settings, ViewMode};
use crate::known::KnownSecrets;
use crate::redacted::finding::{ChecksumCheck, Layer, LayerStack, RedactAction};
use crate::redacted::kind::rank;
use crate::rules::prefixed::special::{VendorNear, airtable, discord};
use crate::rules::{MarkerEncoding, Match, MatchContext, Memo, RuleSet};
use crate::views;

/// Keywords are searched in parts of this size.
const PART: usize = 32 * 1024;

/// The parameters and state of one scan.
pub(crate) struct Scan<'a> {
    pub(crate) rules: &'a RuleSet,
    pub(crate) settings: &'a Settings,
    pub(crate) known: Option<&'a KnownSecrets>,
    /// The number of bytes of views that can still be decoded. It bounds the work that nested encodings
    /// cause.
    budget: Cell<usize>,
    /// Matches of an earlier scan in the text before the range, which views must treat as found.
    pub(crate) before: Vec<Range<usize>>,
    /// The values of the matches in every view, if the caller wants them.
    pub(crate) learned: Option<RefCell<Vec<Zeroizing<Vec<u8>>>>>,
}

/// The rules that apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    All,
    PrefixedOnly,
    /// None. Only values that were found before are searched for.
    Known,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(
        rules: &'a RuleSet,
        settings: &'a Settings,
        known: Option<&'a KnownSecrets>,
        size: usize,
    ) -> Self {
        // The search for known values adds views of the whole text.
        let times = if known.is_some() { 16 } else { 8 };
        let budget = Cell::new((size * times).max(64 * 1024));
        Self { rules, settings, known, budget, before: Vec::new(), learned: None }
    }

    /// Finds everything in a text whose keywords end in the range.
    pub(crate) fn text(&self, text: &[u8], range: Range<usize>) -> Vec<Match> {
        self.layer(text, range, LayerStack::default(), Depth::All)
    }

    fn layer(&self, text: &[u8], range: Range<usize>, via: LayerStack, depth: Depth) -> Vec<Match> {
        let mut hits = Vec::new();
        let backwards = self.plain(text, range, depth, &mut hits);
        for hit in &mut hits {
            hit.via = via;
        }
        if let Some(learned) = &self.learned {
            let values = hits
                .iter()
                .filter(|hit| hit.action == RedactAction::Removed)
                .map(|hit| part(text, hit.at.clone()).to_vec());
            learned.borrow_mut().extend(values.map(Zeroizing::new));
        }
        if self.settings.views == ViewMode::Plain || via.depth() >= LayerStack::MOST {
            return hits;
        }
        let mut covered: Vec<Range<usize>> = hits.iter().map(|hit| hit.at.clone()).collect();
        if via.depth() == 0 {
            covered.extend(self.before.iter().cloned());
        }
        covered.sort_by_key(|range| range.start);
        let mut wanted = views::ViewResults { via, hits: Vec::new(), failed: Vec::new(), covered };
        if via.count(Layer::Reverse) == 0 {
            // Reversed literals that are close together are in one run, which is searched once.
            let mut done = 0;
            for place in backwards.iter().filter(|place| is(at(text, place.start), TOKEN)) {
                if place.end > done {
                    done = self.reverse(text, place, &mut wanted);
                }
            }
        }
        views::each(text, &mut wanted, self);
        for range in wanted.failed {
            let sum = ChecksumCheck::None;
            hits.push(Match {
                at: range,
                rank: rank("unscanned"),
                sum,
                via,
                wide: MarkerEncoding::Bytes,
                action: RedactAction::Removed,
                known: false,
            });
        }
        hits.extend(wanted.hits);
        hits
    }

    /// Scans a view, and maps its matches to the outer text.
    pub(crate) fn view(&self, view: &views::View, wanted: &mut views::ViewResults) {
        self.view_of(view, view.bytes.len(), wanted);
    }

    /// Scans a view of which only `fresh` bytes were in no view before.
    pub(crate) fn view_of(&self, view: &views::View, fresh: usize, wanted: &mut views::ViewResults) {
        let Some(via) = wanted.via.with(view.layer) else { return };
        let left = self.budget.get();
        if fresh > left {
            wanted.failed.push(view.source());
            return;
        }
        self.budget.set(left - fresh);
        for hit in self.layer(&view.bytes, 0..view.bytes.len(), via, view.depth) {
            view.project(&hit, &mut wanted.hits);
        }
    }

    /// Runs the rules on a text itself. Returns the places of reversed literals.
    fn plain(
        &self,
        text: &[u8],
        range: Range<usize>,
        depth: Depth,
        hits: &mut Vec<Match>,
    ) -> Vec<Range<usize>> {
        if let (Depth::Known, Some(known)) = (depth, self.known) {
            known.find(text, range, hits);
            return Vec::new();
        }
        let ctx = MatchContext {
            text,
            examples: self.settings.examples,
            prefixed_only: depth == Depth::PrefixedOnly,
            hashes: self.settings.packs.contains(&RulePack::Hashes),
            memo: Memo::default(),
        };
        let mut marks = Vec::new();
        let mut backwards = Vec::new();
        // One part at a time, because the marks of a text full of keywords need many times its own memory.
        for from in range.clone().step_by(PART) {
            self.rules.marks(text, from..range.end.min(from + PART), &mut marks);
            for mark in marks.drain(..) {
                self.rules.look(&ctx, mark, hits, &mut backwards);
            }
        }
        for dot in memchr::memchr_iter(b'.', part(text, range.clone())) {
            let dot = range.start + dot;
            if at(text, dot + 7) == b'.' {
                discord(&ctx, dot, VendorNear::No, hits);
            }
            airtable(&ctx, dot, hits);
        }
        if let Some(known) = self.known {
            known.find(text, range.clone(), hits);
        }
        if self.settings.entropy != EntropyMode::Off && depth == Depth::All {
            crate::rules::entropy::find(&ctx, range, self.settings.entropy, hits);
        }
        backwards
    }

    /// Scans the reversed run around a reversed literal. Returns the end of the run.
    fn reverse(&self, text: &[u8], place: &Range<usize>, wanted: &mut views::ViewResults) -> usize {
        let end = place.end + run(text, place.end, TOKEN, 64);
        let start = place.start - run_back(text, place.start, TOKEN, 700);
        if end - start >= 20 {
            self.view(&views::View::reversed(text, start..end), wanted);
        }
        end
    }
}
