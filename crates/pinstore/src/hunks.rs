//! Two texts, line by line.

use std::collections::BTreeMap;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

const CONTEXT: usize = 3;
/// The most lines of each side that are compared, what both begin and end with aside.
const MAX_LINES: usize = 2000;

/// How a file's text changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum Hunks {
    /// It did not.
    Same,
    /// Line by line.
    Text {
        /// The places that changed, with three lines around each.
        hunks: Vec<Hunk>,
        /// Changed lines of the old text that are not shown.
        more_gone: usize,
        /// Changed lines of the new text that are not shown.
        more_came: usize,
    },
    /// One of the sides is no text.
    NotText,
    /// The old text was not kept.
    NotKept,
    /// The time was over before this file's turn.
    OutOfTime,
}

/// One place that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hunk {
    /// The first line in the old text, from 1.
    pub old_line: usize,
    /// The first line in the new text, from 1.
    pub new_line: usize,
    /// The lines, without their ends.
    pub lines: Vec<HunkLine>,
}

/// One line of a place that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a line stays, goes or comes")]
pub enum HunkLine {
    /// It stayed.
    Context(String),
    /// It went.
    Gone(String),
    /// It came.
    Came(String),
}

pub(crate) fn hunks(old: Option<&[u8]>, new: Option<&[u8]>) -> Hunks {
    let text = |bytes| core::str::from_utf8(bytes).ok().filter(|text: &&str| !text.contains('\0'));
    // What is no text was not kept either, and that it is none says more.
    if new.is_some_and(|new| text(new).is_none()) {
        return Hunks::NotText;
    }
    let (Some(old), Some(new)) = (old, new) else { return Hunks::NotKept };
    let (Some(old), Some(new)) = (text(old), text(new)) else { return Hunks::NotText };
    // With their ends, so that a last line without one differs from one that has it.
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
    let ((old_end, more_gone), (new_end, more_came)) = (window(old.len()), window(new.len()));
    let from = head.saturating_sub(CONTEXT);
    // The lines after the last change belong to it only where nothing was left out between.
    let after = if more_gone == 0 && more_came == 0 { CONTEXT.min(tail) } else { 0 };
    let part = |lines: &[&'_ str], end: usize| -> Vec<String> {
        lines
            .get(from..end.saturating_add(after))
            .unwrap_or_default()
            .iter()
            .map(|line| (*line).to_owned())
            .collect()
    };
    let (old, new) = (part(&old, old_end), part(&new, new_end));
    Hunks::Text { hunks: compare(&old, &new, from), more_gone, more_came }
}

/// Compares by number: each line is compared as text once.
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
        let gone = old.get(op.old_range()).unwrap_or_default().iter().map(bare);
        let came = new.get(op.new_range()).unwrap_or_default().iter().map(bare);
        match op.tag() {
            DiffTag::Equal => lines.extend(gone.map(HunkLine::Context)),
            DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
                lines.extend(gone.map(HunkLine::Gone));
                lines.extend(came.map(HunkLine::Came));
            }
        }
    }
    Hunk {
        old_line: start(ops.first().map(|op| op.old_range().start)),
        new_line: start(ops.first().map(|op| op.new_range().start)),
        lines,
    }
}
