//! Hits to findings: severity, place, message, snippet.

use std::collections::BTreeMap;

use plugward_types::{Digest, Finding, Severity, Span};

use crate::decode;
use crate::entry::{Content, Entry, Lens};
use crate::file::FileRecord;
use crate::lines::LineEnds;
use crate::options::ScanOptions;
use crate::report::Summary;
use crate::rules::Rules;
use crate::sink::{Hit, Lowered};
use crate::snippet::Places;
use crate::view::How;

/// A hit with its rule and weight.
#[derive(Debug, Clone, Copy)]
struct Weighed {
    hit: Hit,
    rule: u16,
    severity: Severity,
}

/// A finding and the place behind its last byte.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Placed {
    pub(crate) finding: Finding,
    pub(crate) end: (u32, u32),
}

/// Rules about what an encoded run says, which they do not undo themselves.
const TELLING: &[&str] = &["prompt/encoded", "unicode/tags", "unicode/variation-run"];

/// Makes the findings of one file, counted exactly and listed up to the limit of each rule.
pub(crate) fn make(
    rules: &Rules,
    options: &ScanOptions<'_>,
    entry: &Entry<'_>,
    record: &FileRecord,
    counts: &mut Summary,
) -> Vec<Placed> {
    let mut weighed = weigh(rules, options, record);
    let family = |item: &Weighed| rules.table.get(usize::from(item.rule)).map(|rule| rule.id.family());
    let secrets: Vec<(usize, usize)> = weighed
        .iter()
        .filter(|item| family(item) == Some("secret"))
        .map(|item| (item.hit.start as usize, item.hit.end as usize))
        .collect();
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
    if let Some(at) = capped {
        push_cap(rules, options, at, &mut weighed, counts);
    }
    weighed.sort_by_key(|item| (item.hit.start, item.rule, item.hit.end));
    let limit = weighed.iter().map(|item| item.hit.start.max(item.hit.end)).max().unwrap_or(0);
    let mut places = Places::new(text, limit as usize, ends, secrets);
    let behind = ends_of(&mut places, &weighed);
    places.restart();
    let digest = record.digest.unwrap_or(Digest::from_bytes([0; 32]));
    weighed
        .iter()
        .zip(behind)
        .filter_map(|(item, behind)| {
            let rule = rules.table.get(usize::from(item.rule))?;
            let (start, end) = (item.hit.start as usize, item.hit.end as usize);
            let (line, column) = places.place(start);
            let span = map.map_or((start, end), |view| {
                let (from, to, _) = view.map.back(start, end);
                (from, to)
            });
            let encoded = item.hit.how.has(How::DECODE) || TELLING.contains(&rule.id.as_str());
            let snippet = match rule.id.family() {
                "secret" => places.secret(start, end),
                _ if encoded => places.decoded(rules, start, end),
                _ => places.snippet(start),
            };
            let finding = Finding {
                rule: rule.id.clone(),
                severity: item.severity,
                path: entry.path.to_owned(),
                line,
                column,
                span: Span::new(span.0, span.1),
                message: rule.title().to_owned(),
                how: item.hit.how.list(),
                snippet,
                digest,
            };
            Some(Placed { finding, end: behind })
        })
        .collect()
}

/// Gives the places behind the findings, counted in rising order.
fn ends_of(places: &mut Places<'_>, weighed: &[Weighed]) -> Vec<(u32, u32)> {
    let mut order: Vec<(u32, usize)> = weighed.iter().map(|item| item.hit.end).zip(0..).collect();
    order.sort_unstable();
    let mut out = vec![(1, 1); weighed.len()];
    for (end, index) in order {
        if let Some(slot) = out.get_mut(index) {
            *slot = places.place(end as usize);
        }
    }
    out
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
