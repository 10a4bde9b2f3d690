//! Hex dumps of xxd, hexdump and od: the bytes that their columns represent.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use core::ops::Range;

use plugward_types::hex;
use zeroize::Zeroizing;

use crate::bytes::{
    BLANK, HEX, LINE, at, is, line_end, line_start, part, past_line_end, run, run_back, skip,
};
use crate::firewall::scan::Scan;
use crate::redacted::finding::Layer;
use crate::views::map::Row;
use crate::views::{View, ViewResults};

/// The maximum number of bytes in a line of a dump.
const ROW: usize = 32;

/// A parsed line of a dump.
struct DumpLine {
    bytes: Zeroizing<Vec<u8>>,
    hex: Range<usize>,
    text: Range<usize>,
}

/// Scans a view of each group of dump lines.
pub(crate) fn views(text: &[u8], wanted: &mut ViewResults, scan: &Scan<'_>) {
    let mut line = 0;
    let mut view: Option<(View, Vec<Row>)> = None;
    while line < text.len() {
        let end = line_end(text, line, text.len());
        // The last line can have a single byte; a first line has more.
        if let Some(row) = read(text, line, end).filter(|row| view.is_some() || row.bytes.len() >= 2) {
            let (view, rows) = view.get_or_insert_with(|| (View::new(Layer::Dump, 256), Vec::new()));
            let from = view.bytes.len();
            view.atom(row.hex.clone(), &row.bytes);
            rows.push(Row { view: from..view.bytes.len(), columns: [row.hex, row.text] });
        } else if let Some((mut done, rows)) = view.take() {
            done.rows(rows);
            scan.view(&done, wanted);
        }
        line = past_line_end(text, end).max(end + 1);
    }
    if let Some((mut done, rows)) = view {
        done.rows(rows);
        scan.view(&done, wanted);
    }
}

/// Returns where the dump lines at the end of the text begin.
pub(crate) fn open(text: &[u8]) -> Option<usize> {
    let mut top = None;
    let mut end = text.len();
    while end > 0 {
        let stop = end - run_back(text, end, LINE, 2);
        let line = line_start(text, stop, 512);
        if stop == end || read(text, line, stop).is_none() {
            break;
        }
        (top, end) = (Some(line), line);
    }
    top
}

/// Parses a line: an offset, groups of hex digits, and perhaps a column of text.
fn read(text: &[u8], line: usize, end: usize) -> Option<DumpLine> {
    let start = skip(text, line, BLANK, 16);
    let offset = run(text, start, HEX, 17);
    if !(4..=16).contains(&offset) {
        return None;
    }
    let colon = usize::from(at(text, start + offset) == b':');
    let mut place = start + offset + colon;
    if !is(at(text, place), BLANK) || end - line > 400 {
        return None;
    }
    place = skip(text, place, BLANK, 8);
    let from = place;
    // Room for the longest line: a vector that grows would leave its bytes behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(ROW + 4));
    let mut stop = place;
    while place < end {
        let digits = run(text, place, HEX, 9);
        if !matches!(digits, 2 | 4 | 8) || !(is(at(text, place + digits), BLANK) || place + digits >= end) {
            break;
        }
        let pairs = part(text, place..place + digits).chunks_exact(2);
        bytes.extend(pairs.filter_map(hex::decode_pair));
        stop = place + digits;
        let gap = run(text, stop, BLANK, 64);
        place = stop + gap;
        // Two blanks precede the column of text, but od and hexdump also put two after the eighth byte.
        if gap >= 2 && bytes.len() % 8 != 0 || bytes.len() >= ROW {
            break;
        }
    }
    let column = place.min(end)..end;
    (!bytes.is_empty() && from < stop).then_some(DumpLine { bytes, hex: from..stop, text: column })
}
