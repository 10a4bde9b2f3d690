//! Loading of rule files: parse, check, number.

use std::collections::BTreeSet;

use plugward_types::{Behavior, LineColumn, LineEnds, LineIndex, Part, RuleId, Severity, hex};

use serde::de::DeserializeOwned;

use super::source::{CaseSource, FileSource, Level, ListsSource, MatchSource, RuleSource};
use super::{Case, Cases, Rule, RuleFile, Rules, compile};
use crate::RuleError;
use crate::engine::{Compiled, Speed};
use crate::scan::error::RuleErrorKind;

const MAX_RULES: usize = 1000;
const MAX_FILE: usize = 1 << 20;

/// Expands to names and texts of rule files.
macro_rules! files {
    ($($name:literal),+) => {
        &[$((concat!($name, ".toml"), include_str!(concat!("../../rules/", $name, ".toml")))),+]
    };
}

/// The built-in files, one for each family.
#[rustfmt::skip]
const BUILTIN: &[(&str, &str)] = files![
    "flow", "exec", "load", "native", "fs", "net", "env", "global", "host", "mitigation", "config",
    "rs", "opaque", "coverage", "evasion", "obf", "prompt", "secret", "unicode", "py", "sh"
];

/// The parts of patterns that built-in rule files share.
const LISTS: &str = include_str!("../../rules/lists.toml");

/// The source of a file's rules.
#[derive(Clone, Copy)]
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

/// A parsed and checked rule, except for its matches.
pub(super) struct CheckedRule<'a> {
    pub(super) rule: Rule,
    pub(super) cases: Cases,
    pub(super) speed: Speed,
    pub(super) matches: Vec<MatchSource>,
    pub(super) place: Place<'a>,
}

/// Loads the built-in and the user's rule files.
pub(super) fn load(files: &[RuleFile<'_>], compiled: Compiled) -> Result<Rules, RuleError> {
    let lists: ListsSource = parse(&Origin { file: "lists.toml", text: LISTS, local: Local::No })?;
    let builtin: Vec<(&str, String)> =
        BUILTIN.iter().map(|(file, text)| (*file, lists.expanded(text))).collect();
    compile::compile(read(&builtin, files)?, compiled)
}

/// Parses the built-in and the user's rule files. Returns the rules in the order of their ids.
fn read<'a>(
    builtin: &'a [(&str, String)],
    files: &'a [RuleFile<'_>],
) -> Result<Vec<CheckedRule<'a>>, RuleError> {
    let mut all = Vec::new();
    let builtin = builtin.iter().map(|(file, text)| Origin { file, text, local: Local::No });
    let own = files.iter().map(|file| Origin { file: file.name, text: file.text, local: Local::Yes });
    for origin in builtin.chain(own) {
        let parsed: FileSource = parse(&origin)?;
        if parsed.version != 1 {
            return Err(RuleError::new(origin.file, None, RuleErrorKind::Version(parsed.version)));
        }
        for rule in parsed.rule {
            let place = Place { origin, at: rule.span().start };
            let mut read = check(place, rule.into_inner())?;
            if read.rule.refs.is_empty() {
                read.rule.refs.clone_from(&parsed.refs);
            }
            read.rule.no_cwe.clone_from(&parsed.no_cwe);
            all.push(read);
        }
    }
    if all.len() > MAX_RULES {
        let kind = RuleErrorKind::TooLarge(format!("{} rules; at most {MAX_RULES}", all.len()));
        return Err(RuleError::new("rules", None, kind));
    }
    all.sort_by(|a, b| a.rule.id.cmp(&b.rule.id));
    for CheckedRule { rule, place, .. } in &all {
        let is_known = |id: &str| all.iter().any(|known| known.rule.id.as_str() == id);
        if let Some(other) = rule.needs.iter().flat_map(|any| any.split('|')).find(|id| !is_known(id)) {
            let kind = RuleErrorKind::Parse(format!("`needs` names {other:?}, which is not a rule"));
            return Err(place.error(rule.id.as_str(), kind));
        }
    }
    let mut seen = BTreeSet::new();
    for CheckedRule { rule, place, .. } in &all {
        if !seen.insert(&rule.id) {
            return Err(place.error(rule.id.as_str(), RuleErrorKind::DuplicateId));
        }
    }
    Ok(all)
}

/// The position of a rule, for errors.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    origin: Origin<'a>,
    at: usize,
}

impl Place<'_> {
    pub(super) fn error(self, rule: &str, kind: RuleErrorKind) -> RuleError {
        self.of(Some(rule), kind)
    }

    fn of(self, rule: Option<&str>, kind: RuleErrorKind) -> RuleError {
        let text = self.origin.text.as_bytes();
        let LineColumn { line, column } = LineIndex::new(text, LineEnds::Text).line_column(self.at);
        RuleError::new(self.origin.file, rule, kind).at(line, column)
    }
}

fn parse<T: DeserializeOwned>(origin: &Origin<'_>) -> Result<T, RuleError> {
    if origin.text.len() > MAX_FILE {
        let kind = RuleErrorKind::TooLarge(format!("{} bytes; at most {MAX_FILE}", origin.text.len()));
        return Err(RuleError::new(origin.file, None, kind));
    }
    toml::from_str(origin.text).map_err(|error| toml_error(origin, &error))
}

fn toml_error(origin: &Origin<'_>, error: &toml::de::Error) -> RuleError {
    let at = error.span().map_or(0, |span| span.start);
    let message = error.message().to_owned();
    let kind = if message.contains("unknown field") {
        RuleErrorKind::UnknownField(message)
    } else {
        RuleErrorKind::Parse(message)
    };
    let before = origin.text.part(..at);
    let rule = before
        .rfind("\nid = \"")
        .and_then(|start| origin.text.get(start.saturating_add(7)..).and_then(|rest| rest.split('"').next()));
    let rule = rule.filter(|_| before.rfind("[[rule]]") < before.rfind("\nid = \""));
    Place { origin: *origin, at }.of(rule, kind)
}

fn check(place: Place<'_>, source: RuleSource) -> Result<CheckedRule<'_>, RuleError> {
    let text = source.id.get_ref();
    let bad_id =
        || Place { at: source.id.span().start, ..place }.error(text, RuleErrorKind::BadId(text.clone()));
    let id: RuleId = text.parse().map_err(|_no_id| bad_id())?;
    if (id.family() == "local") != (place.origin.local == Local::Yes) {
        return Err(bad_id());
    }
    if source.bad.len() < 2 || source.good.len() < 2 {
        let kind = RuleErrorKind::TooFewCases { bad: source.bad.len(), good: source.good.len() };
        return Err(place.error(text, kind));
    }
    let cases = |cases: Vec<CaseSource>| -> Result<Vec<Case>, RuleError> {
        cases.into_iter().map(|case| read_case(case).map_err(|kind| place.error(text, kind))).collect()
    };
    let cases = Cases { bad: cases(source.bad)?, good: cases(source.good)? };
    let behavior = |name: &String| {
        Behavior::from_name(name)
            .ok_or_else(|| place.error(text, RuleErrorKind::Parse(format!("{name:?} is not a behavior"))))
    };
    let behaviors = source.behavior.iter().map(behavior).collect::<Result<_, _>>()?;
    let rule = Rule {
        id,
        title: source.title,
        why: source.why,
        fix: source.fix,
        refs: source.refs,
        no_cwe: None,
        langs: source.langs,
        severity: [severity(source.severity.strict_plugin), severity(source.severity.general)],
        behaviors,
        class: source.class,
        needs: source.needs,
    };
    let speed = if source.slow { Speed::Slow } else { Speed::Fast };
    let matches = source.matches.into_iter().map(toml::Spanned::into_inner).collect();
    Ok(CheckedRule { rule, cases, speed, matches, place })
}

const fn severity(level: Level) -> Option<Severity> {
    match level {
        Level::Danger => Some(Severity::Danger),
        Level::Warning => Some(Severity::Warning),
        Level::Info => Some(Severity::Info),
        Level::Off => None,
    }
}

fn read_case(case: CaseSource) -> Result<Case, RuleErrorKind> {
    let mut files: Vec<(String, Vec<u8>)> =
        case.files.into_iter().map(|[path, text]| (path, text.into_bytes())).collect();
    if files.is_empty() {
        let bytes = if case.hex.is_empty() {
            case.text.into_bytes()
        } else {
            {
                let bad = || RuleErrorKind::Parse("hex needs pairs of hex digits".to_owned());
                hex::decode(case.hex.as_bytes()).ok_or_else(bad)?
            }
        };
        files.push((case.path, bytes));
    }
    if files.iter().any(|(path, _)| path.is_empty()) {
        return Err(RuleErrorKind::Parse("a case needs a path".to_owned()));
    }
    let role = if case.role.is_empty() { None } else { Some(compile::role(&case.role)?) };
    Ok(Case { files, role, with: case.with })
}
