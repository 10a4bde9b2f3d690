//! Views in which only values are searched for that were found before: the text without its signs, backwards, and
//! with its repeated bytes written once.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use crate::bytes::{AN, is, part};
use crate::firewall::scan::{Depth, Scan};
use crate::known::{KnownSecrets, SHORTEST};
use crate::redacted::finding::Layer;
use crate::views::{View, ViewResults};

/// Shorter pieces meet by chance when the signs between words are removed.
const LEAST: usize = 12;

/// Scans the views of a text.
pub(crate) fn views(text: &[u8], wanted: &mut ViewResults, scan: &Scan<'_>, known: &KnownSecrets) {
    letters(text, wanted, known);
    for times in 2..=3 {
        repeated(text, times, wanted, scan);
    }
    if wanted.may(Layer::Reverse) {
        let mut view = View::reversed(text, 0..text.len());
        view.depth = Depth::Known;
        scan.view(&view, wanted);
    }
}

/// Searches the letters and digits alone, so that any signs can be between those of a value.
///
/// Other views of them are not scanned: words and encoded text run together in them.
fn letters(text: &[u8], wanted: &mut ViewResults, known: &KnownSecrets) {
    let Some(via) = wanted.via.with(Layer::Strip) else { return };
    let mut view = View::new(Layer::Strip, text.len());
    let mut from = 0;
    for (place, _) in text.iter().enumerate().filter(|(_, byte)| !is(**byte, AN)) {
        view.copy(text, from..place);
        from = place + 1;
    }
    view.copy(text, from..text.len());
    let mut hits = Vec::new();
    known.find(&view.bytes, 0..view.bytes.len(), &mut hits);
    for hit in hits.iter_mut().filter(|hit| hit.at.len() >= LEAST) {
        hit.via = via;
        view.project(hit, &mut wanted.hits);
    }
}

/// Scans each run in which every byte is written several times.
fn repeated(text: &[u8], times: usize, wanted: &mut ViewResults, scan: &Scan<'_>) {
    let mut place = 0;
    while place + times * SHORTEST <= text.len() {
        let groups = part(text, place..text.len()).chunks_exact(times);
        let is_one_byte = |group: &&[u8]| group.windows(2).all(|two| two.first() == two.last());
        let count = groups.take_while(is_one_byte).count();
        if count < SHORTEST {
            place += 1;
            continue;
        }
        let mut view = View::new(Layer::Strip, count);
        view.depth = Depth::Known;
        for from in (place..place + count * times).step_by(times) {
            view.atom(from..from + times, part(text, from..from + 1));
        }
        scan.view(&view, wanted);
        place += count * times;
    }
}
