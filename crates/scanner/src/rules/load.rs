//! Rule files to rules: parse, check, number.

use std::collections::BTreeSet;

use plugward_types::{RuleId, Severity};

use super::source::{CaseSource, FileSource, Level, MatchSource, RuleSource};
use super::{Case, Cases, Rule, RuleFile, Rules, compile};
use crate::RuleError;
use crate::engine::{Compiled, Speed};
use crate::entry::Role;
use crate::error::RuleErrorKind;
use crate::lines::LineIndex;

const MAX_RULES: usize = 1000;
const MAX_FILE: usize = 1 << 20;

/// The built-in files, one a family.
const BUILTIN: &[(&str, &str)] = &[
    ("exec.toml", include_str!("../../rules/exec.toml")),
    ("load.toml", include_str!("../../rules/load.toml")),
    ("native.toml", include_str!("../../rules/native.toml")),
    ("fs.toml", include_str!("../../rules/fs.toml")),
    ("net.toml", include_str!("../../rules/net.toml")),
    ("env.toml", include_str!("../../rules/env.toml")),
    ("global.toml", include_str!("../../rules/global.toml")),
    ("host.toml", include_str!("../../rules/host.toml")),
    ("mitigation.toml", include_str!("../../rules/mitigation.toml")),
    ("config.toml", include_str!("../../rules/config.toml")),
    ("rs.toml", include_str!("../../rules/rs.toml")),
    ("opaque.toml", include_str!("../../rules/opaque.toml")),
    ("coverage.toml", include_str!("../../rules/coverage.toml")),
    ("evasion.toml", include_str!("../../rules/evasion.toml")),
    ("obf.toml", include_str!("../../rules/obf.toml")),
    ("prompt.toml", include_str!("../../rules/prompt.toml")),
    ("secret.toml", include_str!("../../rules/secret.toml")),
    ("unicode.toml", include_str!("../../rules/unicode.toml")),
    ("py.toml", include_str!("../../rules/py.toml")),
    ("sh.toml", include_str!("../../rules/sh.toml")),
];

/// Where a file's rules come from.
struct Origin<'a> {
    file: &'a str,
    text: &'a str,
    local: Local,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Local {
    No,
    Yes,
}

/// A rule as its file has it, checked but for its matches.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) rule: Rule,
    pub(super) cases: Cases,
    pub(super) speed: Speed,
    pub(super) matches: Vec<MatchSource>,
    pub(super) place: Place,
}

/// Loads the built-in rule files and those of the user.
pub(super) fn load(files: &[RuleFile<'_>], compiled: Compiled) -> Result<Rules, RuleError> {
    compile::compile(read(files)?, compiled)
}

/// Reads the built-in rule files and those of the user; gives the rules in the order of their ids.
pub(super) fn read(files: &[RuleFile<'_>]) -> Result<Vec<Read>, RuleError> {
    let mut all = Vec::new();
    let builtin = BUILTIN.iter().map(|(file, text)| Origin { file, text, local: Local::No });
    let own = files.iter().map(|file| Origin { file: file.name, text: file.text, local: Local::Yes });
    for origin in builtin.chain(own) {
        let parsed = parse(&origin)?;
        for rule in parsed.rule {
            let place = Place::new(&origin, rule.span().start);
            all.push(check(&origin, place, rule.into_inner())?);
        }
    }
    if all.len() > MAX_RULES {
        let kind = RuleErrorKind::TooLarge(format!("{} rules; at most {MAX_RULES}", all.len()));
        return Err(RuleError::new("rules", None, kind));
    }
    all.sort_by(|a, b| a.rule.id.cmp(&b.rule.id));
    let mut seen = BTreeSet::new();
    for Read { rule, place, .. } in &all {
        if !seen.insert(&rule.id) {
            return Err(place.error(rule.id.as_str(), RuleErrorKind::DuplicateId));
        }
    }
    Ok(all)
}

/// Where a rule stands, for errors.
#[derive(Debug)]
pub(super) struct Place {
    file: String,
    line: u32,
    column: u32,
}

impl Place {
    fn new(origin: &Origin<'_>, at: usize) -> Self {
        let (line, column) = LineIndex::plain(origin.text.as_bytes()).place(origin.text.as_bytes(), at);
        Self { file: origin.file.to_owned(), line, column }
    }

    pub(super) fn error(&self, rule: &str, kind: RuleErrorKind) -> RuleError {
        RuleError::new(&self.file, Some(rule), kind).at(self.line, self.column)
    }
}

fn parse(origin: &Origin<'_>) -> Result<FileSource, RuleError> {
    if origin.text.len() > MAX_FILE {
        let kind = RuleErrorKind::TooLarge(format!("{} bytes; at most {MAX_FILE}", origin.text.len()));
        return Err(RuleError::new(origin.file, None, kind));
    }
    let parsed: FileSource = toml::from_str(origin.text).map_err(|error| toml_error(origin, &error))?;
    if parsed.version != 1 {
        return Err(RuleError::new(origin.file, None, RuleErrorKind::Version(parsed.version)));
    }
    Ok(parsed)
}

fn toml_error(origin: &Origin<'_>, error: &toml::de::Error) -> RuleError {
    let at = error.span().map_or(0, |span| span.start);
    let message = error.message().to_owned();
    let kind = if message.contains("unknown field") {
        RuleErrorKind::UnknownField(message)
    } else {
        RuleErrorKind::Parse(message)
    };
    let before = origin.text.get(..at).unwrap_or_default();
    let rule = before
        .rfind("\nid = \"")
        .and_then(|start| origin.text.get(start.saturating_add(7)..).and_then(|rest| rest.split('"').next()));
    let rule = rule.filter(|_| before.rfind("[[rule]]") < before.rfind("\nid = \""));
    let place = Place::new(origin, at);
    RuleError::new(origin.file, rule, kind).at(place.line, place.column)
}

fn check(origin: &Origin<'_>, place: Place, source: RuleSource) -> Result<Read, RuleError> {
    let text = source.id.get_ref();
    let bad_id =
        || Place::new(origin, source.id.span().start).error(text, RuleErrorKind::BadId(text.clone()));
    let id: RuleId = text.parse().map_err(|_no_id| bad_id())?;
    if (id.family() == "local") != (origin.local == Local::Yes) {
        return Err(bad_id());
    }
    if source.bad.len() < 2 || source.good.len() < 2 {
        let kind = RuleErrorKind::TooFewCases { bad: source.bad.len(), good: source.good.len() };
        return Err(place.error(text, kind));
    }
    let cases = |cases: &[CaseSource]| -> Result<Vec<Case>, RuleError> {
        cases.iter().map(|case| read_case(case).map_err(|kind| place.error(text, kind))).collect()
    };
    let cases = Cases { bad: cases(&source.bad)?, good: cases(&source.good)? };
    let rule = Rule {
        id,
        title: source.title,
        why: source.why,
        fix: source.fix,
        refs: source.refs,
        langs: source.langs,
        severity: [severity(source.severity.strict_plugin), severity(source.severity.general)],
    };
    let speed = if source.slow { Speed::Slow } else { Speed::Fast };
    let matches = source.matches.into_iter().map(toml::Spanned::into_inner).collect();
    Ok(Read { rule, cases, speed, matches, place })
}

const fn severity(level: Level) -> Option<Severity> {
    match level {
        Level::Danger => Some(Severity::Danger),
        Level::Warning => Some(Severity::Warning),
        Level::Info => Some(Severity::Info),
        Level::Off => None,
    }
}

fn read_case(case: &CaseSource) -> Result<Case, RuleErrorKind> {
    let mut files: Vec<(String, Vec<u8>)> =
        case.files.iter().map(|[path, text]| (path.clone(), text.clone().into_bytes())).collect();
    if files.is_empty() {
        let bytes = if case.hex.is_empty() { case.text.clone().into_bytes() } else { unhex(&case.hex)? };
        files.push((case.path.clone(), bytes));
    }
    if files.iter().any(|(path, _)| path.is_empty()) {
        return Err(RuleErrorKind::Parse("a case needs a path".to_owned()));
    }
    let role = match case.role.as_str() {
        "" => None,
        "prompt" => Some(Role::Prompt),
        "manifest" => Some(Role::Manifest),
        "build" => Some(Role::Build),
        "doc" => Some(Role::Doc),
        other => return Err(RuleErrorKind::Parse(format!("{other:?} is no role"))),
    };
    Ok(Case { files, role, with: case.with.clone() })
}

fn unhex(text: &str) -> Result<Vec<u8>, RuleErrorKind> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let bad = || RuleErrorKind::Parse("hex needs pairs of hex digits".to_owned());
    if !digits.len().is_multiple_of(2) {
        return Err(bad());
    }
    digits
        .chunks_exact(2)
        .map(|pair| {
            let text = core::str::from_utf8(pair).map_err(|_not_ascii| bad())?;
            u8::from_str_radix(text, 16).map_err(|_no_digit| bad())
        })
        .collect()
}
