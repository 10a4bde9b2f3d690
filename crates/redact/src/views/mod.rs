//! Views: the text with one layer undone, and a map from each byte to the raw bytes it comes from.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

mod bunzip;
mod concat;
mod dump;
mod inflate;
pub(crate) mod join;
mod launder;
mod map;
mod pairs;
mod prefix;
mod runs;
mod smuggle;
mod strip;
mod trail;
mod unescape;
pub(crate) mod utf16;

use core::ops::Range;

pub(crate) use map::View;
pub(crate) use strip::hidden;

use crate::firewall::scan::Scan;
use crate::redacted::finding::{Layer, LayerStack};
use crate::rules::Match;

/// A longer run is removed around its matches instead of as a whole.
pub(crate) const WHOLE: usize = 16 * 1024;

/// The results of the views of one text.
pub(crate) struct ViewResults {
    /// The layers above.
    pub(crate) via: LayerStack,
    pub(crate) hits: Vec<Match>,
    /// Parts that exceeded a limit.
    pub(crate) failed: Vec<Range<usize>>,
    /// Matches in the text itself, by start.
    pub(crate) covered: Vec<Range<usize>>,
}

impl ViewResults {
    /// Returns `true` if a match in the text itself begins at an offset.
    pub(crate) fn begins(&self, place: usize) -> bool {
        self.covered.binary_search_by_key(&place, |range| range.start).is_ok()
    }

    /// Returns `true` if a match in the text itself ends at an offset.
    pub(crate) fn ends(&self, place: usize) -> bool {
        let after = self.covered.partition_point(|range| range.start < place);
        self.covered.iter().take(after).rev().take(4).any(|range| range.end == place)
    }

    /// Returns `true` if a layer may be undone once more here.
    fn may(&self, layer: Layer) -> bool {
        let most = match layer {
            Layer::Unescape => 3,
            _ => 1,
        };
        self.via.count(layer) < most
    }
}

/// Returns the offset of the first construct that later text can continue, or the length of the text.
///
/// The text ends in a line end. `wide` is the first offset that can be the beginning of UTF-16.
pub(crate) fn open(text: &[u8], wide: Option<usize>) -> usize {
    if inflate::is_compressed(text) {
        return 0;
    }
    let prefix = prefix::open(text, |row| {
        let row =
            row.start..row.end.saturating_sub(crate::bytes::run_back(text, row.end, crate::bytes::BLANK, 8));
        join::begins(text, row)
    });
    [
        wide,
        strip::open(text),
        unescape::open(text),
        prefix,
        join::open(text),
        concat::open(text),
        dump::open(text),
        pairs::open(text),
        prefix::document_open(text),
    ]
    .into_iter()
    .flatten()
    .fold(text.len(), usize::min)
}

/// Returns the views of a text that keep its lines.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = View> + '_ {
    [strip::build, unescape::escapes, unescape::mail].into_iter().filter_map(move |build| build(text))
}

/// Builds and scans each view that the text gives cause for.
pub(crate) fn each(text: &[u8], wanted: &mut ViewResults, scan: &Scan<'_>) {
    let via = wanted.via;
    if wanted.may(Layer::Inflate) {
        inflate::view(text, wanted, scan);
    }
    if wanted.may(Layer::Utf16) {
        utf16::views(text, wanted, scan);
    }
    if wanted.may(Layer::Strip) {
        strip::views(text, wanted, scan);
        smuggle::views(text, wanted, scan);
    }
    if wanted.may(Layer::Unescape) {
        unescape::views(text, wanted, scan);
    }
    if wanted.may(Layer::Prefix) && via.count(Layer::Join) == 0 {
        prefix::views(text, wanted, scan);
    }
    if wanted.may(Layer::Join) && via.count(Layer::Concat) == 0 {
        join::views(text, wanted, scan);
    }
    if wanted.may(Layer::Concat) {
        concat::views(text, wanted, scan);
    }
    // Wrapped runs are joined where runs are decoded; a join would append the next word.
    if via.count(Layer::Join) == 0 && via.count(Layer::Base64) + via.count(Layer::Hex) < 2 {
        runs::views(text, wanted, scan);
        pairs::views(text, wanted, scan);
    }
    if wanted.may(Layer::Dump) {
        dump::views(text, wanted, scan);
    }
    if let Some(known) = scan.known.filter(|known| !known.is_empty() && wanted.may(Layer::Strip)) {
        launder::views(text, wanted, scan, known);
    }
}
