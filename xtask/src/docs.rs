//! What is written from the rule files: the scanner's table of rules, and docs/rules.md from what the program itself says of its
//! codes and rules.

use std::fmt::Write as _;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use plugward_fence::{BLIND_SPOTS, Rule};
use serde_json::Value;

use crate::Outcome;
use crate::metadata::{root, text};

const FILE: &str = "docs/rules.md";
const HEAD: &str = "# Codes and rules\n\nWritten by `cargo xtask docs` from `plugward codes --format json`, the list of known misses and the fence's own lists; edit the sources, not this file.\n";
/// What the rules are known to miss; the scanner's tests run each entry.
const MISSES: &str = "crates/scanner/tests/data/evades.toml";
const MISSES_HEAD: &str = "\n## Known misses\n\nEach row is a test that shows that the rule still does not see it, while it finds the same thing said openly. \
                           \"Found instead\" is what else is reported, in the profile `general`. Beyond these rows the scanner sees no value that is known only at run time, \
                           nothing that is encrypted, no flow through functions, classes and files but of constants, and no language without a lens.\n\n\
                           | rule | class | what is missed | found instead |\n|---|---|---|---|\n";

/// The table of rules that the scanner starts with; a test of the scanner compares it with the rule files.
const TABLE: &str = "crates/scanner/src/rules/builtin.table";

/// Writes the file, or compares it with what would be written.
pub(crate) fn run(mode: Mode) -> Result<Outcome> {
    if let Mode::Write = mode {
        let example = ["-p", "plugward-scanner", "--features", "_oracle", "--example", "rule_table"];
        write(TABLE, &cargo_run(&example, &[])?)?;
    }
    let mut fresh = render(&codes()?)?;
    fresh.push_str(&misses(&text(MISSES)?)?);
    fresh.push_str(&fence()?);
    let lines = fresh.lines().count();
    let looked_at = format!("docs: {lines} lines of {FILE}");
    match mode {
        Mode::Write => {
            write(FILE, fresh.as_bytes())?;
            Ok(Outcome { looked_at, wrong: Vec::new() })
        }
        Mode::Check => {
            let same = text(FILE)? == fresh;
            let wrong = if same {
                Vec::new()
            } else {
                vec![format!("{FILE} is not what the program says: cargo xtask docs")]
            };
            Ok(Outcome { looked_at, wrong })
        }
    }
}

/// What to do with the file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Mode {
    Write,
    Check,
}

fn write(file: &str, bytes: &[u8]) -> Result<()> {
    #[expect(clippy::disallowed_methods, reason = "this task writes files of the repository")]
    std::fs::write(root().join(file), bytes).with_context(|| format!("write {file}"))
}

fn codes() -> Result<Value> {
    let output = cargo_run(&["-p", "plugward"], &["codes", "--format", "json"])?;
    serde_json::from_slice(&output).context("read what plugward codes says")
}

/// Runs a program of this workspace and gives what it printed.
fn cargo_run(program: &[&str], args: &[&str]) -> Result<Vec<u8>> {
    #[expect(clippy::disallowed_methods, reason = "this program starts cargo and nothing else")]
    let output = Command::new("cargo")
        .args(["run", "--quiet", "--locked"])
        .args(program)
        .arg("--")
        .args(args)
        .current_dir(root())
        .output()
        .with_context(|| format!("start cargo run {}", program.join(" ")))?;
    if !output.status.success() {
        bail!("cargo run {}: {}", program.join(" "), String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.stdout)
}

fn render(json: &Value) -> Result<String> {
    let codes = json.get("codes").and_then(Value::as_array).context("plugward codes has no list")?;
    let mut out = HEAD.to_owned();
    let parts = [
        ("reason", "Codes of reasons and notices"),
        ("rule", "Scanner rules"),
        ("secret", "Secrets that redact cuts out"),
    ];
    for (kind, title) in parts {
        write!(out, "\n## {title}\n\n| code | help |\n|---|---|\n").context("render")?;
        for code in codes.iter().filter(|code| code.get("kind").and_then(Value::as_str) == Some(kind)) {
            let cell =
                |key: &str| code.get(key).and_then(Value::as_str).unwrap_or_default().replace('|', "\\|");
            writeln!(out, "| `{}` | {} |", cell("code"), cell("help").replace('\n', " "))
                .context("render")?;
        }
    }
    Ok(out)
}

/// The table of what is known to be missed.
fn misses(text: &str) -> Result<String> {
    let table: toml::Value = toml::from_str(text).with_context(|| format!("read {MISSES}"))?;
    let entries = table.get("miss").and_then(toml::Value::as_array).context("the list of misses is empty")?;
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

/// The rules of the fence, and what it is known not to see; its tests hold both.
fn fence() -> Result<String> {
    let mut out = "\n## Fence rules\n\n| rule | name | help |\n|---|---|---|\n".to_owned();
    for rule in Rule::ALL {
        writeln!(out, "| `{rule}` | {} | {} |", rule.name(), rule.help().replace('|', "\\|"))
            .context("render")?;
    }
    out.push_str("\n## What the fence does not see\n\n| code | not seen |\n|---|---|\n");
    for (code, what) in BLIND_SPOTS {
        writeln!(out, "| `{code}` | {} |", what.replace('|', "\\|")).context("render")?;
    }
    Ok(out)
}
