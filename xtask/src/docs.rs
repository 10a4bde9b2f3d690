//! Writes docs/rules.md and other generated texts from the lists that the program and the fence print.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use plugward_fence::{BLIND_SPOTS, LintRule};
use serde_json::Value;

use crate::Outcome;
use crate::attacks;
use crate::hosts;
use crate::metadata::{root, text};

const FILE: &str = "docs/rules.md";
const HEAD: &str = "# Codes and rules\n\nWritten by `cargo xtask docs` from `plugward codes --format json`, the list of known false negatives and the lists of the fence; edit the sources, not this file.\n";
/// The known false negatives of the rules; the scanner's tests run each entry.
const MISSES: &str = "crates/scanner/tests/data/evades.toml";
/// The judged findings, from which the precision of each rule is counted.
const LABELS: &str = "crates/cli/data/field-labels.tsv";
const MISSES_HEAD: &str = "\n## Known false negatives\n\nEach row is a test: the rule does not report this form, and reports the same thing written plainly. \
                           \"Found instead\" lists the other rules that report it, in the profile `general`. The scanner also does not see values that are known only at run time, \
                           encrypted content, flows through functions, classes and files except of constants, and languages that it has no reader for.\n\n\
                           | rule | class | not reported | found instead |\n|---|---|---|---|\n";
/// What no pattern decides about a text that a model reads.
const UNDECIDED: &str = "
## Instructions that rules do not decide

The rules about instructions look for words of a sender, of private data and of a receiver that are near each other in one section of an
English text. `plugward audit` has a language model read the plugin. These kinds of attacks need it:

- Instructions in other languages, and paraphrases that use none of the words of `crates/scanner/rules/parts.toml`.
- Instructions whose parts are in several sections or files and are harmless one by one.
- Bad advice: weak cryptography, missing checks, a chosen package, address or account that the text presents as good practice.
- Tasks that give text of strangers, such as issues, mail or web pages, power over private data or tools.
- Data in a field that the purpose of the plugin explains, such as a support ticket that asks for a log.
- Receivers that look right: whether a host belongs to the vendor that the plugin names.
- Notes for a memory or a settings file that are harmless until a later session follows them.
- Conditions, such as a date, a user name or the tenth use, under which an honest instruction changes its effect.
- Answers of a server or a page at run time, and pictures, sounds and documents that a model reads.
";

/// Writes the generated documents, or compares them with the files.
pub(crate) fn run(mode: Mode) -> Result<Outcome> {
    let codes = codes()?;
    let mut fresh = render(&codes)?;
    fresh.push_str(&taxonomies(&text(TAXONOMIES)?, &codes)?);
    fresh.push_str(UNDECIDED);
    fresh.push_str(&misses(&text(MISSES)?)?);
    fresh.push_str(&fence()?);
    let files = [(FILE, fresh), (attacks::FILE, attacks::render()?), (hosts::FILE, hosts::render()?)];
    let mut wrong = Vec::new();
    for (file, fresh) in &files {
        match mode {
            Mode::Write => write(file, fresh.as_bytes())?,
            Mode::Check if text(file)? != *fresh => {
                wrong.push(format!("{file} is not current: run `cargo xtask docs`"));
            }
            Mode::Check => {}
        }
    }
    let looked_at = files.map(|(file, fresh)| format!("{} lines of {file}", fresh.lines().count()));
    Ok(Outcome { looked_at: format!("docs: {}", looked_at.join(", ")), wrong })
}

/// The use of the rendered documents.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Mode {
    Write,
    Check,
}

fn write(file: &str, bytes: &[u8]) -> Result<()> {
    #[expect(clippy::disallowed_methods, reason = "this task writes files of the repository")]
    std::fs::write(root().join(file), bytes).with_context(|| format!("write {file}"))
}

/// Runs the program and reads its list of codes.
fn codes() -> Result<Value> {
    #[expect(clippy::disallowed_methods, reason = "this program starts cargo and nothing else")]
    let output = Command::new("cargo")
        .args(["run", "--quiet", "--locked", "-p", "plugward", "--", "codes", "--format", "json"])
        .current_dir(root())
        .output()
        .context("start cargo run -p plugward")?;
    if !output.status.success() {
        bail!("cargo run -p plugward: {}", String::from_utf8_lossy(&output.stderr));
    }
    serde_json::from_slice(&output.stdout).context("read the output of plugward codes")
}

/// The public lists that the references of rules are entries of.
const TAXONOMIES: &str = "crates/scanner/rules/taxonomies.toml";
/// The explanation of the last columns in the table of rules.
const RULES_NOTE: &str = "
References are explained under [References](#references). Precision is the share of a rule's findings in published plugins that a reviewer labeled as an attack or as worth asking about
(`crates/cli/data/field-labels.tsv`, plugins of the tune split, notes included). `–` means not measured.
";

fn render(json: &Value) -> Result<String> {
    let codes = json.get("codes").and_then(Value::as_array).context("plugward codes has no list")?;
    let labels = text(LABELS)?;
    let precision = precision(&labels);
    let mut out = HEAD.to_owned();
    let parts = [
        ("reason", "Codes of reasons and notices"),
        ("rule", "Scanner rules"),
        ("secret", "Secrets that redact removes"),
    ];
    for (kind, title) in parts {
        let is_rule = kind == "rule";
        let more = if is_rule { (" references | precision |", "---|---:|") } else { ("", "") };
        let note = if is_rule { RULES_NOTE } else { "" };
        write!(out, "\n## {title}\n{note}\n| code | help |{}\n|---|---|{}\n", more.0, more.1)
            .context("render")?;
        for code in codes.iter().filter(|code| code.get("kind").and_then(Value::as_str) == Some(kind)) {
            let cell =
                |key: &str| code.get(key).and_then(Value::as_str).unwrap_or_default().replace('|', "\\|");
            let measured = precision.get(cell("code").as_str());
            let measured = measured.map(|(right, labeled)| format!("{right} of {labeled}"));
            let last = if is_rule {
                format!(" {} | {} |", references(code), measured.as_deref().unwrap_or("–"))
            } else {
                String::new()
            };
            writeln!(out, "| `{}` | {} |{last}", cell("code"), cell("help").replace('\n', " "))
                .context("render")?;
        }
    }
    Ok(out)
}

fn references(code: &Value) -> String {
    let all = code.get("references").and_then(Value::as_array).into_iter().flatten();
    let all: Vec<&str> = all.filter_map(Value::as_str).collect();
    if all.is_empty() { "–".to_owned() } else { all.join(", ") }
}

/// Renders the public lists with their entries, and the rules without a CWE number with the reason.
fn taxonomies(lists: &str, json: &Value) -> Result<String> {
    let lists: toml::Value = toml::from_str(lists).with_context(|| format!("read {TAXONOMIES}"))?;
    let lists = lists.get("taxonomy").and_then(toml::Value::as_array).context("no taxonomies")?;
    let mut out = "\n## References\n\n| list | version | entry | title |\n|---|---|---|---|\n".to_owned();
    for list in lists {
        let cell = |key: &str| list.get(key).and_then(toml::Value::as_str).unwrap_or_default();
        for (id, title) in list.get("entries").and_then(toml::Value::as_table).context("no entries")? {
            let (name, url, edition) = (cell("title"), cell("url"), cell("edition"));
            let title = title.as_str().unwrap_or_default();
            writeln!(out, "| [{name}]({url}) | {edition} | {id} | {title} |").context("render")?;
        }
    }
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for code in json.get("codes").and_then(Value::as_array).into_iter().flatten() {
        if let (Some(reason), Some(id)) = (code.get("no_cwe"), code.get("code").and_then(Value::as_str)) {
            reasons.entry(reason.as_str().unwrap_or_default()).or_default().push(format!("`{id}`"));
        }
    }
    out.push_str("\n| rules without a CWE number | reason |\n|---|---|\n");
    for (reason, rules) in reasons {
        writeln!(out, "| {} | {reason} |", rules.join(", ")).context("render")?;
    }
    Ok(out)
}

/// Counts the labels of each rule: those that are right, and all. `cargo xtask field judge --check` checks the table.
fn precision(labels: &str) -> BTreeMap<&str, (usize, usize)> {
    let mut rules: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for line in labels.lines().skip(1) {
        if let [_, _, _, rule, _, verdict, ..] = line.split('\t').collect::<Vec<_>>()[..] {
            let (right, labeled) = rules.entry(rule).or_default();
            *right = right.saturating_add(usize::from(verdict != "false"));
            *labeled = labeled.saturating_add(1);
        }
    }
    rules
}

/// Renders the table of known false negatives.
fn misses(text: &str) -> Result<String> {
    let table: toml::Value = toml::from_str(text).with_context(|| format!("read {MISSES}"))?;
    let entries =
        table.get("miss").and_then(toml::Value::as_array).with_context(|| format!("{MISSES}: no entries"))?;
    let mut out = MISSES_HEAD.to_owned();
    for entry in entries {
        let cell = |key: &str| entry.get(key).and_then(toml::Value::as_str).unwrap_or_default();
        let shows = entry.get("shows").and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
        let shows: Vec<String> =
            shows.iter().filter_map(toml::Value::as_str).map(|id| format!("`{id}`")).collect();
        let instead = if shows.is_empty() { "nothing".to_owned() } else { shows.join(", ") };
        writeln!(out, "| `{}` | {} | {} | {instead} |", cell("rule"), cell("class"), cell("what"))
            .context("render")?;
    }
    Ok(out)
}

/// Renders the rules and the blind spots of the fence. Its tests check both lists.
fn fence() -> Result<String> {
    let mut out = "\n## Fence rules\n\n| rule | name | help |\n|---|---|---|\n".to_owned();
    for rule in LintRule::ALL {
        writeln!(out, "| `{rule}` | {} | {} |", rule.name(), rule.help().replace('|', "\\|"))
            .context("render")?;
    }
    out.push_str("\n## What the fence does not see\n\n| code | not seen |\n|---|---|\n");
    for (code, what) in BLIND_SPOTS {
        writeln!(out, "| `{code}` | {} |", what.replace('|', "\\|")).context("render")?;
    }
    Ok(out)
}
