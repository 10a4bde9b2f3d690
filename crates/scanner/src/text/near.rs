//! Instructions in several sentences: rules whose parts are near each other in one section of a text.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

use plugward_types::Part;

use super::quotation;
use crate::engine::RawMatch;
use crate::lex::negation;
use crate::rules::MatcherKind;
use crate::rules::near::NearMatcher;
use crate::scan::entry::Lens;
use crate::scan::sink::{Lowered, Sink};
use crate::text::view::{Obfuscations, View};

/// How far around a match its words are searched for.
const AROUND: usize = 80;

/// The most parts that are compared with one part, which keeps the search linear.
const MOST: usize = 256;

/// A part of an instruction, in offsets of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FoundPart {
    start: usize,
    end: usize,
    part: u16,
    how: Obfuscations,
}

/// Finds parts in a view. A negated part is not one.
pub(crate) fn parts(view: &View, sink: &mut Sink<'_>) {
    let rules = sink.rules;
    let mut found = Vec::new();
    rules.parts.patterns.find(&view.bytes, sink.lens, &mut found);
    for RawMatch { pattern, start, end } in found {
        let Some(pattern) = rules.parts.patterns.patterns.get(usize::from(pattern)) else { continue };
        let is_own = rules.parts.has_negation(pattern.matcher);
        if !negation::is_negated(&view.bytes, start, end) && (is_own || !is_forbidden(&view.bytes, start)) {
            let (start, end, how) = view.map.back(start, end);
            sink.parts.push(FoundPart { start, end, part: pattern.matcher, how });
        }
    }
}

/// Words that forbid what follows them in a sentence, and words after which it says something else.
const FORBIDS: &[&str] =
    &["do not ", "don't ", "never ", "avoid ", "must not ", "should not ", "without ", "refuse to "];
const TURNS: &[&str] =
    &[". ", "! ", "? ", "; ", " so ", " but ", " then ", " instead", " therefore", " since "];

/// Returns `true` if the sentence before a part forbids something, as in "do not read files such as ~/.netrc".
fn is_forbidden(text: &[u8], start: usize) -> bool {
    let before = text.part(start.saturating_sub(AROUND)..start);
    let last =
        |words: &[&str]| words.iter().filter_map(|word| memchr::memmem::rfind(before, word.as_bytes())).max();
    last(FORBIDS) > last(TURNS)
}

/// Matches the rules of kind `near` against the parts of a text.
pub(crate) fn find(source: &[u8], lens: Lens, sink: &mut Sink<'_>) {
    let mut parts = core::mem::take(&mut sink.parts);
    if parts.is_empty() {
        return;
    }
    parts.sort_unstable();
    let sections = if lens == Lens::Prose { sections(source) } else { Vec::new() };
    let rules = sink.rules;
    for &index in &rules.near {
        let Some(MatcherKind::Near(near)) = rules.matcher(index).map(|known| &known.kind) else { continue };
        let mut done = 0;
        for first in parts.iter().filter(|found| near.parts.first() == Some(&found.part)) {
            if first.start < done {
                continue;
            }
            let Some((start, end, how)) = around(&parts, *first, near) else { continue };
            let section = |at: usize| sections.partition_point(|start| *start <= at);
            if section(start) != section(end) || !has_words(source, start, end, near, sink) {
                continue;
            }
            done = end;
            let before = sink.hits.len();
            sink.hit(index, (start, end), how);
            let is_shown =
                || quotation::is_cited(source, start, end) || quotation::is_documented(source, start);
            if lens == Lens::Prose && is_shown() {
                sink.hits.iter_mut().skip(before).for_each(|hit| hit.lowered = Lowered::Shown);
            }
        }
    }
}

/// Returns the range of a part and the nearest match of each other part, if it is short enough.
fn around(parts: &[FoundPart], first: FoundPart, near: &NearMatcher) -> Option<(usize, usize, Obfuscations)> {
    let (mut start, mut end, mut how) = (first.start, first.end, first.how);
    let at = parts.partition_point(|found| *found < first);
    for part in near.parts.iter().skip(1) {
        let is_part = |found: &&FoundPart| found.part == *part;
        let before =
            parts.part(..at).iter().rev().take(MOST).take_while(|found| found.start + near.span >= first.end);
        let after =
            parts.part(at..).iter().take(MOST).take_while(|found| found.start <= first.start + near.span);
        let before = before.into_iter().find(is_part);
        let after = after.into_iter().find(is_part);
        let distance = |found: &&FoundPart| found.start.abs_diff(first.start);
        let found = before.into_iter().chain(after).min_by_key(distance)?;
        (start, end, how) = (start.min(found.start), end.max(found.end), how.and(found.how));
    }
    (end - start <= near.span).then_some((start, end, how))
}

/// Returns `true` if the text around a match has the words that its rule needs, and none of those that it must not have.
fn has_words(source: &[u8], start: usize, end: usize, near: &NearMatcher, sink: &Sink<'_>) -> bool {
    let [also, without] = sink.rules.parts.words(near);
    let text = source.part(start.saturating_sub(AROUND)..(end + AROUND).min(source.len()));
    let mut text = text.to_ascii_lowercase();
    text.iter_mut().filter(|byte| byte.is_ascii_whitespace()).for_each(|byte| *byte = b' ');
    let is_meant = |at: regex_automata::Match| !negation::is_negated(&text, at.start(), at.end());
    also.is_none_or(|words| words.get().find_iter(&text).any(is_meant))
        && without.is_none_or(|words| !words.get().is_match(&text))
}

/// Returns where the sections of a document begin: its headings outside of fences.
fn sections(source: &[u8]) -> Vec<usize> {
    let (mut out, mut at, mut fenced) = (Vec::new(), 0, false);
    for line in source.split_inclusive(|byte| *byte == b'\n') {
        fenced ^= line.trim_ascii_start().starts_with(b"```");
        if !fenced && line.starts_with(b"#") {
            out.push(at);
        }
        at += line.len();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::sections;

    #[test]
    fn headings_begin_sections_and_comments_in_fences_do_not() {
        assert_eq!(sections(b"a\n# B\n```sh\n# c\n```\n## D\n"), [2, 20]);
    }
}
