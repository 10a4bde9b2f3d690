//! docs/rules.md, written from what the program itself says of its codes and rules.

use std::fmt::Write as _;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::Outcome;
use crate::metadata::{root, text};

const FILE: &str = "docs/rules.md";
const HEAD: &str = "# Codes and rules\n\nWritten by `cargo xtask docs` from `plugward codes --format json`; edit the sources, not this file.\n";

/// Writes the file, or compares it with what would be written.
pub(crate) fn run(mode: Mode) -> Result<Outcome> {
    let fresh = render(&codes()?)?;
    let lines = fresh.lines().count();
    let looked_at = format!("docs: {lines} lines of {FILE}");
    match mode {
        Mode::Write => {
            #[expect(clippy::disallowed_methods, reason = "this task writes a file of the repository")]
            std::fs::write(root().join(FILE), fresh).with_context(|| format!("write {FILE}"))?;
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

fn codes() -> Result<Value> {
    #[expect(clippy::disallowed_methods, reason = "this program starts cargo and nothing else")]
    let output = Command::new("cargo")
        .args(["run", "--quiet", "--locked", "-p", "plugward", "--", "codes", "--format", "json"])
        .current_dir(root())
        .output()
        .context("start plugward codes")?;
    if !output.status.success() {
        bail!("plugward codes: {}", String::from_utf8_lossy(&output.stderr));
    }
    serde_json::from_slice(&output.stdout).context("read what plugward codes says")
}

fn render(json: &Value) -> Result<String> {
    let codes = json.get("codes").and_then(Value::as_array).context("plugward codes has no list")?;
    let mut out = HEAD.to_owned();
    for (kind, title) in [("reason", "Codes of reasons and notices"), ("rule", "Scanner rules")] {
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
