//! Hits to findings: severity, place, message, snippet.

use std::collections::BTreeMap;

use plugward_types::{Digest, Finding, Severity, Span};

use crate::decode;
use crate::entry::{Content, Entry, Lens};
use crate::file::FileRecord;
use crate::lines::{LineEnds, LineIndex, code_points};
use crate::options::ScanOptions;
use crate::report::Summary;
use crate::rules::Rules;
use crate::sink::{Hit, Lowered};

/// Most characters of a snippet.
const SNIPPET: usize = 120;

/// A hit with its rule and weight.
#[derive(Debug, Clone, Copy)]
struct Weighed {
    hit: Hit,
    rule: u16,
    severity: Severity,
}

/// Makes the findings of one file, counted exactly and listed up to the limit of each rule.
pub(crate) fn make(
    rules: &Rules,
    options: &ScanOptions<'_>,
    entry: &Entry<'_>,
    record: &FileRecord,
    counts: &mut Summary,
) -> Vec<Finding> {
    let mut weighed = weigh(rules, options, record);
    for item in &weighed {
        counts.count(item.severity);
    }
    let capped = cap(&mut weighed, options.limits.findings);
    if weighed.is_empty() {
        return Vec::new();
    }
    let bytes = match entry.content {
        Content::Bytes { bytes, .. } => bytes,
        _ => &[],
    };
    let decoded = decode::decode(bytes);
    let text: &[u8] = if record.state.detector().is_some() { bytes } else { &decoded.text };
    let map = decoded.view.as_ref().filter(|_| record.state.detector().is_none());
    let ends = if record.lens == Some(Lens::Js) { LineEnds::EcmaScript } else { LineEnds::Plain };
    let mut places = Places::new(text, ends);
    if let Some(at) = capped {
        push_cap(rules, options, at, &mut weighed, counts);
    }
    weighed.sort_by_key(|item| (item.hit.start, item.rule, item.hit.end));
    let digest = record.digest.unwrap_or(Digest::from_bytes([0; 32]));
    weighed
        .iter()
        .filter_map(|item| {
            let rule = rules.table.get(usize::from(item.rule))?;
            let (start, end) = (item.hit.start as usize, item.hit.end as usize);
            let (line, column) = places.place(start);
            let span = map.map_or((start, end), |view| {
                let (from, to, _) = view.map.back(start, end);
                (from, to)
            });
            let secret = rule.id.family() == "secret";
            let snippet = if secret { places.secret(start, end) } else { places.snippet(start) };
            Some(Finding {
                rule: rule.id.clone(),
                severity: item.severity,
                path: entry.path.to_owned(),
                line,
                column,
                span: Span::new(span.0, span.1),
                message: rule.title.clone(),
                how: item.hit.how.list(),
                snippet,
                digest,
            })
        })
        .collect()
}

/// Gives each (rule, span) once, not hidden before hidden, with its severity in the profile.
fn weigh(rules: &Rules, options: &ScanOptions<'_>, record: &FileRecord) -> Vec<Weighed> {
    let mut best: BTreeMap<(u32, u32, u16), Weighed> = BTreeMap::new();
    for &hit in &record.hits {
        let Some(matcher) = rules.matcher(hit.matcher) else { continue };
        let Some(rule) = rules.table.get(usize::from(matcher.rule)) else { continue };
        if matcher.profiles & options.profile.bit() == 0 {
            continue;
        }
        let Some(mut severity) = rule.severity(options.profile) else { continue };
        if !hit.how.is_plain() {
            severity = severity.raised();
        }
        if hit.lowered == Lowered::Yes {
            severity = severity.lowered();
        }
        let item = Weighed { hit, rule: matcher.rule, severity };
        best.entry((hit.start, hit.end, matcher.rule))
            .and_modify(|known| {
                if (hit.lowered, hit.how) < (known.hit.lowered, known.hit.how) {
                    *known = item;
                }
            })
            .or_insert(item);
    }
    best.into_values().collect()
}

/// Keeps the worst and first of each rule; gives the place of the first that was dropped.
fn cap(weighed: &mut Vec<Weighed>, limit: usize) -> Option<u32> {
    weighed.sort_by_key(|item| (item.rule, core::cmp::Reverse(item.severity), item.hit.start, item.hit.end));
    let mut dropped: Option<u32> = None;
    let mut last = None;
    let mut count = 0_usize;
    weighed.retain(|item| {
        if last != Some(item.rule) {
            (last, count) = (Some(item.rule), 0);
        }
        count = count.saturating_add(1);
        let keep = count <= limit;
        if !keep {
            dropped = Some(dropped.map_or(item.hit.start, |first| first.min(item.hit.start)));
        }
        keep
    });
    dropped
}

fn push_cap(
    rules: &Rules,
    options: &ScanOptions<'_>,
    at: u32,
    weighed: &mut Vec<Weighed>,
    counts: &mut Summary,
) {
    for &index in rules.shape("coverage-finding-cap") {
        let Some(matcher) = rules.matcher(index) else { continue };
        let Some(rule) = rules.table.get(usize::from(matcher.rule)) else { continue };
        if let Some(severity) = rule.severity(options.profile) {
            let hit = Hit { start: at, end: at, matcher: index, ..Hit::default() };
            counts.count(severity);
            weighed.push(Weighed { hit, rule: matcher.rule, severity });
        }
    }
}

/// Places in one text, asked for in rising order, so that a long line is counted once.
struct Places<'a> {
    text: &'a [u8],
    index: LineIndex,
    last: (usize, u32, u32),
}

impl<'a> Places<'a> {
    fn new(text: &'a [u8], ends: LineEnds) -> Self {
        Self { text, index: LineIndex::new(text, ends), last: (0, 1, 1) }
    }

    fn place(&mut self, at: usize) -> (u32, u32) {
        let (line, start) = self.index.line_of(at);
        let (from, column) =
            if line == self.last.1 && at >= self.last.0 { (self.last.0, self.last.2) } else { (start, 1) };
        let more = self.text.get(from..at).map_or(0, code_points);
        let column = column.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
        // A place inside a character is not handed on: the next count would begin in its middle.
        if self.text.get(at).is_none_or(|byte| byte & 0xC0 != 0x80) {
            self.last = (at, line, column);
        }
        (line, column)
    }

    /// One line around a place, escaped.
    fn snippet(&self, at: usize) -> String {
        let (line, _) = self.index.line_of(at);
        let (start, end) = self.index.line(self.text, line);
        let from = start.max(at.saturating_sub(40));
        let to = end.min(at.saturating_add(SNIPPET.saturating_mul(4)));
        let window = self.text.get(from..to).unwrap_or_default();
        let mut out = String::new();
        let mut count = 0_usize;
        for char in String::from_utf8_lossy(window).trim().chars() {
            let text = escape(char);
            count = count.saturating_add(text.chars().count());
            if count > SNIPPET {
                break;
            }
            out.push_str(&text);
        }
        out
    }

    /// The first characters of a secret and its length.
    fn secret(&self, start: usize, end: usize) -> String {
        let matched = self.text.get(start..end).unwrap_or_default();
        let head: String = String::from_utf8_lossy(matched).chars().take(4).map(escape).collect();
        format!("{head}… ({} bytes)", matched.len())
    }
}

/// Writes a character so that a terminal shows it and nothing else happens.
pub(crate) fn escape(char: char) -> String {
    if char == '\t' {
        return " ".to_owned();
    }
    let invisible = crate::unicode::is_invisible(char);
    if char.is_control() || invisible { format!("\\u{{{:x}}}", u32::from(char)) } else { char.to_string() }
}
