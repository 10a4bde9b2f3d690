//! `plugward codes`: lists every reason code and rule with its help, or explains one.

use plugward_loader::codes::{Code, all};
use plugward_loader::edit_distance;
use plugward_loader::scanner::{Profile, Rule, RuleExample, Rules, Taxonomy};
use serde::Serialize;

use crate::args::{CodesArgs, ListFormat};
use crate::failure::Failure;
use crate::field_labels::{Precision, precision};
use crate::json;
use crate::out::{FAINT, Out, STRONG, paint};
use crate::report::tier;
use crate::text::wrapped;
use plugward_loader::escape::line;

/// The most examples of each kind that are shown.
const EXAMPLES: usize = 2;
/// The most lines of an example that the table shows.
const EXAMPLE_LINES: usize = 8;
/// The most names that an error suggests.
const NEAREST: usize = 3;

#[derive(Serialize)]
struct Listing<T> {
    version: u32,
    codes: Vec<T>,
}

pub(crate) fn run(args: &CodesArgs, out: &mut Out) -> Result<u8, Failure> {
    let codes = all();
    if let Some(name) = &args.code {
        let found = find(name, codes)?;
        match args.format {
            ListFormat::Json => out.result(&json::render(&Listing { version: 1, codes: found })?)?,
            ListFormat::Table => {
                for one in &found {
                    out.result(&one.text(out.width))?;
                }
            }
        }
        return Ok(0);
    }
    match args.format {
        ListFormat::Json => out.result(&json::render(&Listing { version: 1, codes })?)?,
        ListFormat::Table => {
            for code in codes {
                out.result(&format!("{} {}\n", paint(STRONG, &code.code), code.kind))?;
                out.result(&wrapped("    ", "    ", &code.help, out.width))?;
            }
        }
    }
    Ok(0)
}

/// Returns the codes of a name; the loader and the scanner can both have one.
fn find(name: &str, codes: Vec<Code>) -> Result<Vec<Explanation>, Failure> {
    // Reports name a kind of secret as the rule that found it.
    let kind = name.strip_prefix("redact/").unwrap_or(name);
    let is_named = |code: &Code| if code.kind == "secret" { code.code == kind } else { code.code == name };
    let (found, others): (Vec<Code>, Vec<Code>) = codes.into_iter().partition(is_named);
    if found.is_empty() {
        let next = match nearest(name, &others).as_slice() {
            [] => "list them with `plugward codes`".to_owned(),
            [one] => format!("did you mean {one}?"),
            [first @ .., last] => format!("did you mean {} or {last}?", first.join(", ")),
        };
        return Err(Failure::usage(format!("no such rule or code: `{}`", line(name))).help(next));
    }
    Ok(found.into_iter().map(Explanation::new).collect())
}

/// Returns the names nearest to a word, in backticks. A name that contains the word is nearer than any other.
fn nearest(word: &str, codes: &[Code]) -> Vec<String> {
    // A third of the characters, because a short name is similar to almost every other one.
    let most = (word.chars().count() / 3).clamp(1, 4);
    let is_part = |known: &str| word.len() > 2 && known.contains(word);
    let far = |known: &str| if is_part(known) { 0 } else { edit_distance(known, word) };
    let mut near: Vec<(usize, &str)> = codes
        .iter()
        .map(|code| (far(&code.code), code.code.as_str()))
        .filter(|(distance, _)| *distance <= most)
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(NEAREST).map(|(_, known)| format!("`{known}`")).collect()
}

/// A code and, for a rule, its details.
#[derive(Serialize)]
struct Explanation {
    code: String,
    kind: &'static str,
    help: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<RuleView>,
    /// Absent if no finding is labeled.
    #[serde(skip_serializing_if = "Option::is_none")]
    precision: Option<Precision>,
}

#[derive(Serialize)]
struct RuleView {
    title: &'static str,
    why: &'static str,
    fix: &'static str,
    /// The severity in the profile `general`; absent if the rule reports no finding there.
    severity: Option<&'static str>,
    #[serde(skip)]
    tier: &'static str,
    behaviors: Vec<&'static str>,
    languages: &'static [String],
    references: &'static [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    no_cwe: Option<&'static str>,
    bad: Vec<ExampleView>,
    good: Vec<ExampleView>,
}

#[derive(Serialize)]
struct ExampleView {
    path: &'static str,
    text: &'static str,
}

impl Explanation {
    fn new(code: Code) -> Self {
        let labels = match code.kind {
            "rule" => precision(&code.code),
            "secret" => precision(&format!("redact/{}", code.code)),
            _ => None,
        };
        let rule = Rules::builtin().get(&code.code).filter(|_| code.kind == "rule").map(RuleView::new);
        Self { code: code.code, kind: code.kind, help: code.help, rule, precision: labels }
    }

    fn text(&self, width: usize) -> String {
        let mut text = format!("{} {}\n", paint(STRONG, &self.code), self.kind);
        match &self.rule {
            Some(rule) => rule.put(&mut text, width),
            None => text.push_str(&wrapped("    ", "    ", &self.help, width)),
        }
        if self.kind != "reason" {
            text.push_str(&row("precision", &measured(self.precision), width));
        }
        if let Some(rule) = &self.rule {
            examples(&mut text, "found in", &rule.bad, width);
            examples(&mut text, "not found in", &rule.good, width);
        }
        text
    }
}

impl RuleView {
    fn new(rule: &'static Rule) -> Self {
        let id = rule.id().as_str();
        let severity = rule.severity(Profile::General);
        let tier = match severity {
            Some(severity) => tier(severity),
            None if rule.behaviors().is_empty() => "none; only the profile `strict-plugin` reports it",
            None => "only a behavior",
        };
        Self {
            title: rule.title(),
            why: rule.why(),
            fix: rule.fix(),
            severity: severity.map(plugward_loader::Severity::as_str),
            tier,
            behaviors: rule.behaviors().iter().map(|behavior| behavior.as_str()).collect(),
            languages: rule.langs(),
            references: rule.refs(),
            no_cwe: rule.no_cwe(),
            bad: views(Rules::builtin().bad_examples(id)),
            good: views(Rules::builtin().good_examples(id)),
        }
    }

    fn put(&self, text: &mut String, width: usize) {
        text.push_str(&wrapped("    ", "    ", self.title, width));
        let facts = [
            ("why", self.why.to_owned()),
            ("fix", self.fix.to_owned()),
            ("tier", self.tier.to_owned()),
            ("behaviors", self.behaviors.join(", ")),
            ("languages", self.languages.join(", ")),
            ("references", titled(self.references)),
            ("no CWE", self.no_cwe.unwrap_or_default().to_owned()),
        ];
        for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
            text.push_str(&row(name, value, width));
        }
    }
}

/// Returns references with their titles.
fn titled(references: &[String]) -> String {
    let titled = |id: &String| match Taxonomy::title_of(id) {
        Some(title) => format!("{id} {title}"),
        None => id.clone(),
    };
    references.iter().map(titled).collect::<Vec<_>>().join("; ")
}

/// Returns the first examples, which are the most typical ones in the rule files.
fn views(all: impl Iterator<Item = RuleExample<'static>>) -> Vec<ExampleView> {
    all.take(EXAMPLES).map(|example| ExampleView { path: example.path, text: example.text }).collect()
}

/// Returns the precision in words. A few labels prove little, so the counts come first.
fn measured(precision: Option<Precision>) -> String {
    let Some(Precision { right, labeled }) = precision else {
        return "not measured: no finding of it is labeled".to_owned();
    };
    let percent = right.saturating_mul(100).checked_div(labeled).unwrap_or_default();
    let (noun, verb) = if labeled == 1 { ("finding", "is") } else { ("findings", "are") };
    format!(
        "{right} of {labeled} labeled {noun} in real plugins {verb} an attack or worth asking about ({percent} %)"
    )
}

fn row(name: &str, value: &str, width: usize) -> String {
    wrapped(&format!("    {name:<11} "), "                ", value, width)
}

/// Adds examples, each with its path and the first lines of its text.
fn examples(text: &mut String, title: &str, all: &[ExampleView], width: usize) {
    let room = width.saturating_sub(6);
    for example in all {
        text.push_str(&format!("    {title} {}\n", line(example.path)));
        let lines = example.text.lines().count();
        for shown in example.text.lines().take(EXAMPLE_LINES) {
            let shown = line(shown);
            let cut = shown.chars().count() > room;
            let mut shown: String =
                shown.chars().take(if cut { room.saturating_sub(1) } else { room }).collect();
            if cut {
                shown.push('\u{2026}');
            }
            text.push_str(&format!("    {}\n", paint(FAINT, &format!("| {shown}"))));
        }
        if lines > EXAMPLE_LINES {
            text.push_str(&format!("    {}\n", paint(FAINT, "| \u{2026}")));
        }
    }
}
