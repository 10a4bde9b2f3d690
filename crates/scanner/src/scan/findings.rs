//! Conversion of hits to findings: severity, position, message, snippet.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{BehaviorEvidence, Digest, FileRole, Finding, LineEnds, Part, Severity, Span};

use crate::Profile;
use crate::known::{credentials, downloads, ordinary};
use crate::rules::{Rule, RuleClass, Rules};
use crate::scan::connections::{self, is_conditional};
use crate::scan::entry::{Content, Entry, Lens};
use crate::scan::file::FileRecord;
use crate::scan::options::ScanOptions;
use crate::scan::report::ScanSummary;
use crate::scan::sink::{Hit, Lowered};
use crate::scan::snippet::Places;
use crate::text::view::Obfuscations;
use crate::text::{decode, quotation};

/// A hit with its rule and severity.
#[derive(Debug, Clone, Copy)]
struct Weighed {
    hit: Hit,
    rule: u16,
    /// `None` if the hit only shows a behavior.
    severity: Option<Severity>,
}

/// The findings of one file, and the behaviors that it shows.
#[derive(Debug, Default)]
pub(crate) struct FileFindings {
    pub(crate) placed: Vec<Placed>,
    pub(crate) behaviors: Vec<BehaviorEvidence>,
}

/// A finding and its end position.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Placed {
    pub(crate) finding: Finding,
    pub(crate) end: (u32, u32),
}

/// A file and its place in the plugin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) entry: &'a Entry<'a>,
    pub(crate) record: &'a FileRecord,
    pub(crate) role: FileRole,
    /// Rules that match in files that it runs, or that run it.
    pub(crate) near: &'a BTreeSet<&'a str>,
}

/// Rules about the content of an encoded run that do not decode it themselves.
const TELLING: &[&str] = &["prompt/encoded", "unicode/tags", "unicode/variation-run"];

/// Returns the findings of one file. Counts are exact; the list is limited per rule.
pub(crate) fn make(
    rules: &Rules,
    options: &ScanOptions<'_>,
    file: &Place<'_>,
    counts: &mut ScanSummary,
) -> FileFindings {
    let Place { entry, record, role, .. } = *file;
    let mut weighed = weigh(rules, options, file);
    let family = |item: &Weighed| rules.table.get(usize::from(item.rule)).map(|rule| rule.id.family());
    let secrets: Vec<(usize, usize)> = weighed
        .iter()
        .filter(|item| family(item) == Some("secret"))
        .map(|item| (item.hit.start as usize, item.hit.end as usize))
        .collect();
    for severity in weighed.iter().filter_map(|item| item.severity) {
        counts.count(severity);
    }
    let capped = cap(&mut weighed, options.limits.findings);
    if weighed.is_empty() {
        return FileFindings::default();
    }
    let bytes = match entry.content {
        Content::Bytes { bytes, .. } => bytes,
        _ => &[],
    };
    let decoded = decode::decode(bytes);
    let text: &[u8] = if record.state.detector().is_some() { bytes } else { &decoded.text };
    let map = decoded.view.as_ref().filter(|_| record.state.detector().is_none());
    let ends = if record.lens == Some(Lens::Js) { LineEnds::EcmaScript } else { LineEnds::Text };
    if let Some(at) = capped {
        push_cap(rules, options, at, &mut weighed, counts);
    }
    for item in &mut weighed {
        item.hit.start = character(text, item.hit.start);
    }
    weighed.sort_by_key(|item| (item.hit.start, item.rule, item.hit.end));
    let limit = weighed.iter().map(|item| item.hit.start.max(item.hit.end)).max().unwrap_or(0);
    let mut places = Places::new(text, limit as usize, ends, secrets);
    let behind = ends_of(&mut places, &weighed);
    places.restart();
    let digest = record.digest.unwrap_or(Digest::from_bytes([0; 32]));
    let mut out = FileFindings::default();
    for (item, behind) in weighed.iter().zip(behind) {
        let Some(rule) = rules.table.get(usize::from(item.rule)) else { continue };
        let (start, end) = (item.hit.start as usize, item.hit.end as usize);
        let (line, column) = places.place(start);
        let span = map.map_or((start, end), |view| {
            let (from, to, _) = view.map.back(start, end);
            (from, to)
        });
        let encoded = item.hit.how.has(Obfuscations::DECODE) || TELLING.contains(&rule.id.as_str());
        let (line_text, caret) = places.excerpt(start, end);
        let snippet = match rule.id.family() {
            "secret" => places.secret(start, end),
            _ if encoded => places.decoded(rules, start, end),
            _ => line_text,
        };
        let length = snippet.chars().count();
        let caret = if rule.id.family() == "secret" {
            0..length
        } else {
            caret.start.min(length)..caret.end.min(length)
        };
        let role = role_of(role, item.hit);
        if shows_behavior(role, item.hit) {
            out.behaviors.extend(rule.behaviors.iter().map(|behavior| BehaviorEvidence {
                behavior: *behavior,
                path: entry.path.to_owned(),
                line,
                role,
                snippet: snippet.clone(),
            }));
        }
        let Some(severity) = item.severity else { continue };
        let finding = Finding {
            rule: rule.id.clone(),
            severity,
            role,
            path: entry.path.to_owned(),
            line,
            column,
            span: Span::new(span.0, span.1),
            message: message(rule, text.part(start..end)),
            how: item.hit.how.list(),
            snippet,
            caret,
            digest,
        };
        out.placed.push(Placed { finding, end: behind });
    }
    out
}

/// Returns the role at a hit: a `!` command is executed, whatever the role of its file.
const fn role_of(file: FileRole, hit: Hit) -> FileRole {
    if matches!(hit.lowered, Lowered::Executed) && matches!(file, FileRole::ModelRead) {
        FileRole::Executed
    } else {
        file
    }
}

/// Returns `true` if a hit is in code that the plugin can run. Code in documentation shows no behavior.
fn shows_behavior(role: FileRole, hit: Hit) -> bool {
    hit.lowered <= Lowered::No && role >= FileRole::Other
}

/// The rule whose findings are dropped if another file of the plugin mentions the host.
pub(crate) const UNDECLARED: &str = "flow/undeclared-host";

/// Returns the message of a finding: the rule's title, and the host if data is sent to one.
fn message(rule: &Rule, matched: &[u8]) -> String {
    let host = (rule.class == RuleClass::Flow).then(|| crate::known::hosts::first(matched)).flatten();
    match host {
        Some(host) if rule.id.as_str() == "flow/credentials-sent" => {
            format!("Credentials or environment sent to {host}")
        }
        Some(host) if rule.id.as_str() == UNDECLARED => {
            format!("A secret sent to {host}, which the plugin names nowhere else")
        }
        _ => rule.title().to_owned(),
    }
}

/// Returns the start of the UTF-8 character that contains a position.
///
/// A continuation byte that belongs to no character stays where it is: it counts as a column of its own, and the byte
/// before it may be a line break.
fn character(text: &[u8], at: u32) -> u32 {
    let start = |back: u32| {
        let start = at.checked_sub(back)?;
        // No character is longer than four bytes.
        let from = text.get(start as usize..)?;
        let from = from.get(..4).unwrap_or(from);
        let first = from.utf8_chunks().next()?.valid().chars().next()?;
        (first.len_utf8() > back as usize).then_some(start)
    };
    (0..4).find_map(start).unwrap_or(at)
}

/// Returns the end positions of the findings, computed in rising order.
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

/// Returns the rules of the hits in a file.
pub(super) fn rules_of<'r>(rules: &'r Rules, record: &FileRecord) -> impl Iterator<Item = &'r Rule> {
    let of = |hit: &Hit| rules.table.get(usize::from(rules.matcher(hit.matcher)?.rule));
    record.hits.iter().filter_map(of)
}

/// Returns each (rule, span) once, plain matches before obfuscated ones, with its severity in the profile and the role.
fn weigh(rules: &Rules, options: &ScanOptions<'_>, file: &Place<'_>) -> Vec<Weighed> {
    let Place { entry, record, role, near } = *file;
    let bytes = match entry.content {
        Content::Bytes { bytes, .. } => bytes,
        _ => &[],
    };
    let present: BTreeSet<&str> = rules_of(rules, record).map(|rule| rule.id.as_str()).collect();
    let is_met = |rule: &Rule, needed: &String| {
        needed.split('|').any(|id| present.contains(id) || is_conditional(rule) && near.contains(id))
    };
    let mut best: BTreeMap<(u32, u32, u16), Weighed> = BTreeMap::new();
    for &hit in &record.hits {
        let Some(matcher) = rules.matcher(hit.matcher) else { continue };
        let Some(rule) = rules.table.get(usize::from(matcher.rule)) else { continue };
        if matcher.profiles & crate::scan::options::profile_bit(options.profile) == 0
            || !rule.needs.iter().all(|needed| is_met(rule, needed))
        {
            continue;
        }
        let severity = match options.profile {
            Profile::StrictPlugin => strict(rule, hit),
            Profile::General => general(rule, hit, role_of(role, hit), bytes),
        };
        // Names of accounts are not secret while nothing connects to a host.
        let connects = || connections::NETWORK.iter().any(|id| present.contains(id) || near.contains(id));
        let shows_names = options.profile == Profile::General
            && rule.id.as_str() == connections::SECRET_FILE
            && matches!(record.lens, Some(Lens::Js | Lens::Py))
            && !connects()
            && credentials::reads_names(bytes);
        let severity = if shows_names { severity.map(|known| known.min(Severity::Info)) } else { severity };
        if severity.is_none() && (rule.behaviors.is_empty() || options.profile == Profile::StrictPlugin) {
            continue;
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

/// Returns the severity for guest plugins of HyperAgent, which is that of the reference manager and independent of the
/// role.
fn strict(rule: &Rule, hit: Hit) -> Option<Severity> {
    let severity = rule.severity(Profile::StrictPlugin)?;
    let severity = if hit.how.is_plain() { severity } else { severity.raised() };
    Some(if hit.lowered == Lowered::Yes { severity.lowered() } else { severity })
}

/// Returns the severity for all other plugins: the rule's own, raised for an obfuscated match, and limited by the role.
fn general(rule: &Rule, hit: Hit, role: FileRole, bytes: &[u8]) -> Option<Severity> {
    let severity = rule.severity(Profile::General);
    let severity = match severity {
        _ if !is_disguised(hit.how) => severity,
        // Disguising an operation that every program may perform openly suggests a reason for hiding it.
        None if rule.behaviors.is_empty() || rule.id.family() == "py" => None,
        None => Some(Severity::Warning),
        // Honest code also builds paths and arguments from parts.
        Some(severity) if !hit.how.has(Obfuscations::DECODE) && !hit.how.has(Obfuscations::UNICODE) => {
            Some(severity)
        }
        Some(severity) => Some(severity.raised()),
    };
    let id = rule.id.as_str();
    let is_flow = matches!(id, "flow/download-run" | "flow/decode-run");
    let is_bundle = is_flow && ordinary::is_generated(bytes);
    let is_far = is_bundle && !ordinary::is_near(id, hit, bytes);
    let most = if downloads::is_expected(id, hit, role, bytes)
        || ordinary::is_ordinary(id, hit, role, bytes)
        || is_far && bytes.len() > BUNDLE && role < FileRole::Executed
    {
        Severity::Info
    } else if rule.class == RuleClass::Instruction
        && role == FileRole::ModelRead
        && hit.lowered == Lowered::Shown
        && quotation::is_only_fenced(bytes, hit.start as usize, hit.end as usize)
    {
        Severity::Warning
    } else {
        most(rule.class, hit, role)
    };
    // A sample in a document is not a certain attack, and neither is a flow between unrelated parts of a bundle.
    let uncertain = match id {
        "prompt/encoded" => role == FileRole::ModelRead && is_fenced(bytes, hit.start as usize),
        _ if is_bundle && (bytes.len() > BUNDLE || is_far) => true,
        // A checklist that names the characters which a form must survive.
        "unicode/bidi" => role == FileRole::ModelRead && ordinary::is_shown_alone(hit, bytes),
        // A release with a version in its address, of which the publisher has a record.
        "exec/drop-run" if downloads::are_releases(bytes) => true,
        // Code that runs only if a model is asked to install something.
        "flow/download-run" | "sh/pipe-to-shell" | "exec/drop-run" | "load/remote" => {
            role == FileRole::OnRequest
        }
        // A token that is returned to its issuer.
        "flow/credentials-sent" => crate::known::hosts::first(matched_of(hit, bytes))
            .is_some_and(|host| crate::known::servers::is_service(&host)),
        _ => rule.id.family() == "prompt" && quotation::is_documented(bytes, hit.start as usize),
    };
    let most = if uncertain { most.min(Severity::Warning) } else { most };
    severity.map(|severity| severity.min(most))
}

/// A file of code above this size was generated by a bundler.
const BUNDLE: usize = 256 << 10;

fn matched_of(hit: Hit, bytes: &[u8]) -> &[u8] {
    bytes.part(hit.start as usize..hit.end as usize)
}

/// Returns `true` inside a fenced block.
fn is_fenced(bytes: &[u8], at: usize) -> bool {
    let before = bytes.part(..at);
    memchr::memmem::find_iter(before, b"\n```").count() % 2 == 1
}

/// Returns `true` if the author hid the match on purpose. Quoting in a shell and markup in prose have honest uses.
const fn is_disguised(how: Obfuscations) -> bool {
    how.has(Obfuscations::DECODE)
        || how.has(Obfuscations::FOLD)
        || how.has(Obfuscations::UNICODE)
        || how.has(Obfuscations::ESCAPE)
}

/// Returns the highest severity of a finding in a file of this role.
#[expect(clippy::match_same_arms, reason = "one line for each row of the table of roles")]
const fn most(class: RuleClass, hit: Hit, role: FileRole) -> Severity {
    let shown = matches!(hit.lowered, Lowered::Shown | Lowered::Yes);
    match (role, class) {
        (FileRole::Executed, RuleClass::Limit) => Severity::Warning,
        (_, RuleClass::Limit) => Severity::Info,
        // Code contains such text as a tool's description, or as a pattern to search for.
        (FileRole::Executed | FileRole::OnRequest, RuleClass::Instruction) => Severity::Warning,
        (FileRole::Executed, _) if !shown => Severity::Danger,
        (FileRole::OnRequest, RuleClass::Flow | RuleClass::File) if !shown => Severity::Danger,
        (FileRole::OnRequest | FileRole::Executed, _) => Severity::Warning,
        (FileRole::ModelRead, RuleClass::Instruction | RuleClass::File) if !shown => Severity::Danger,
        (FileRole::ModelRead, RuleClass::Flow) => Severity::Warning,
        (FileRole::ModelRead, _) => Severity::Info,
        (FileRole::Other, _) if !shown => Severity::Warning,
        _ => Severity::Info,
    }
}

/// Keeps the most severe and earliest findings of each rule. Returns the position of the first one dropped.
fn cap(weighed: &mut Vec<Weighed>, limit: usize) -> Option<u32> {
    weighed.sort_by_key(|item| (item.rule, core::cmp::Reverse(item.severity), item.hit.start, item.hit.end));
    let mut dropped: Option<u32> = None;
    let mut last = None;
    let mut count = 0_usize;
    weighed.retain(|item| {
        if last != Some(item.rule) {
            (last, count) = (Some(item.rule), 0);
        }
        count += 1;
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
    counts: &mut ScanSummary,
) {
    for &index in rules.shape("coverage-finding-cap") {
        let Some(matcher) = rules.matcher(index) else { continue };
        let Some(rule) = rules.table.get(usize::from(matcher.rule)) else { continue };
        if let Some(severity) = rule.severity(options.profile) {
            let hit = Hit { start: at, end: at, matcher: index, ..Hit::default() };
            counts.count(severity);
            weighed.push(Weighed { hit, rule: matcher.rule, severity: Some(severity) });
        }
    }
}
