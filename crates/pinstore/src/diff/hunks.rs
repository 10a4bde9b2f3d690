//! Comparison of two texts, line by line.

use std::collections::BTreeMap;

use plugward_types::Part;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

// The unchanged lines around a change, as in `diff -u`.
const CONTEXT: usize = 3;
/// The most compared lines per side, not counting common lines at both ends. The algorithm is quadratic in
/// the worst case.
const MAX_LINES: usize = 2000;

/// The changes in a file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum Hunks {
    /// The text is the same.
    Same,
    /// Changed lines.
    Text {
        /// The changed places, with three lines of context.
        hunks: Vec<Hunk>,
        /// The number of removed lines that are not shown.
        more_removed: usize,
        /// The number of added lines that are not shown.
        more_added: usize,
    },
    /// One of the sides is not text.
    NotText,
    /// The old text was not stored.
    NotKept,
    /// The time limit was reached before this file.
    OutOfTime,
}

/// One changed place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hunk {
    /// The first line in the old text, from 1.
    pub old_line: usize,
    /// The first line in the new text, from 1.
    pub new_line: usize,
    /// The lines, without line ends.
    pub lines: Vec<HunkLine>,
}

/// One line of a changed place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a line is unchanged, removed or added")]
pub enum HunkLine {
    /// The line is unchanged.
    Context(String),
    /// The line was removed.
    Removed(String),
    /// The line was added.
    Added(String),
}

pub(crate) fn hunks(old: Option<&[u8]>, new: Option<&[u8]>) -> Hunks {
    let text = |bytes| core::str::from_utf8(bytes).ok().filter(|text: &&str| !text.contains('\0'));
    // Binary contents are never stored, and "not text" is more helpful than "not stored".
    if new.is_some_and(|new| text(new).is_none()) {
        return Hunks::NotText;
    }
    let (Some(old), Some(new)) = (old, new) else { return Hunks::NotKept };
    let (Some(old), Some(new)) = (text(old), text(new)) else { return Hunks::NotText };
    // Line ends are part of the lines, so a last line without one differs from one with it.
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()).saturating_sub(head);
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let window = |lines: usize| -> (usize, usize) {
        let end = lines.saturating_sub(tail);
        let changed = end.saturating_sub(head);
        (head.saturating_add(changed.min(MAX_LINES)), changed.saturating_sub(MAX_LINES))
    };
    let ((old_end, more_removed), (new_end, more_added)) = (window(old.len()), window(new.len()));
    let from = head.saturating_sub(CONTEXT);
    // Lines after the last change are its context only if no changed lines are omitted before them.
    let after = if more_removed == 0 && more_added == 0 { CONTEXT.min(tail) } else { 0 };
    let part = |lines: &[&'_ str], end: usize| -> Vec<String> {
        lines.part(from..end.saturating_add(after)).iter().map(|line| (*line).to_owned()).collect()
    };
    let (old, new) = (part(&old, old_end), part(&new, new_end));
    Hunks::Text { hunks: compare(&old, &new, from), more_removed, more_added }
}

/// Compares numbers instead of lines, so that each distinct line is compared as text once.
fn compare(old: &[String], new: &[String], from: usize) -> Vec<Hunk> {
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    let mut number = |line| {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        *numbers.entry(line).or_insert(next)
    };
    let old_numbers: Vec<u32> = old.iter().map(|line| number(line)).collect();
    let new_numbers: Vec<u32> = new.iter().map(|line| number(line)).collect();
    let ops = capture_diff_slices(Algorithm::Myers, &old_numbers, &new_numbers);
    group_diff_ops(ops, CONTEXT).iter().map(|group| hunk(group, old, new, from)).collect()
}

fn hunk(ops: &[DiffOp], old: &[String], new: &[String], from: usize) -> Hunk {
    let start = |start: Option<usize>| from.saturating_add(start.unwrap_or(0)).saturating_add(1);
    let mut lines = Vec::new();
    for op in ops {
        let bare = |line: &String| line.strip_suffix('\n').unwrap_or(line).to_owned();
        let gone = old.part(op.old_range()).iter().map(bare);
        let came = new.part(op.new_range()).iter().map(bare);
        match op.tag() {
            DiffTag::Equal => lines.extend(gone.map(HunkLine::Context)),
            DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
                lines.extend(gone.map(HunkLine::Removed));
                lines.extend(came.map(HunkLine::Added));
            }
        }
    }
    Hunk {
        old_line: start(ops.first().map(|op| op.old_range().start)),
        new_line: start(ops.first().map(|op| op.new_range().start)),
        lines,
    }
}
