//! `cargo xtask peers scan`: plugward and other scanners over attacks and ordinary plugins.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "installs and starts scanners, and lists a directory that the user names"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use xtask::{Outcome, target_directory};

use super::{print, servers::install_from_pypi};

/// The most seconds that one run of a scanner may take.
const LIMIT: &str = "600";
/// The two halves of a set.
const HALVES: [&str; 2] = ["attacks", "honest"];

/// A scanner and its verdicts.
struct Scanner {
    name: &'static str,
    /// The version on the Python package index.
    version: &'static str,
    program: &'static str,
    /// Arguments before the directory.
    args: &'static [&'static str],
    answer: Answer,
    /// The meaning of a flag.
    verdict: &'static str,
}

/// The form of a scanner's verdicts.
enum Answer {
    /// The exit codes that flag a plugin. A plugin passes with 0, and with other codes the scanner failed.
    ExitCode(&'static [i32]),
    /// A JSON report about all skills in the plugins, for a scanner that needs long to start.
    SkillReport,
}

const PLUGWARD: Scanner = Scanner {
    name: "plugward",
    version: env!("CARGO_PKG_VERSION"),
    program: "plugward",
    args: &["check", "--no-input", "--trust", "tofu"],
    answer: Answer::ExitCode(&[3, 4, 5, 6]),
    verdict: "refused or asked about",
};

/// Each is installed in a virtual environment of its own, because two of them contain a module of the same name.
const PEERS: [Scanner; 6] = [
    Scanner {
        name: "cisco-ai-skill-scanner",
        version: "2.3.2",
        program: "skill-scanner",
        args: &["scan-all", "--recursive", "--format", "json"],
        answer: Answer::SkillReport,
        verdict: "a skill that is not safe: severity high or critical",
    },
    Scanner {
        name: "agentscan-cli",
        version: "1.2.2",
        program: "agentscan",
        args: &["scan", "--quiet"],
        answer: Answer::ExitCode(&[1]),
        verdict: "exit code 1: severity medium or higher",
    },
    Scanner {
        name: "agent-skill-scanner",
        version: "0.1.0",
        program: "agent-skill-scan",
        args: &["scan", "--quiet", "--path"],
        answer: Answer::ExitCode(&[1]),
        verdict: "exit code 1: severity high or critical",
    },
    Scanner {
        name: "bastionskill",
        version: "0.11.0",
        program: "bastionskill",
        args: &["scan"],
        answer: Answer::ExitCode(&[1]),
        verdict: "exit code 1: verdict review or block",
    },
    Scanner {
        name: "bawbel-scanner",
        version: "1.3.0",
        program: "bawbel",
        args: &["scan", "--recursive", "--fail-on-severity", "high"],
        answer: Answer::ExitCode(&[2]),
        verdict: "severity high or critical (`--fail-on-severity high`)",
    },
    Scanner {
        name: "husk-scanner",
        version: "1.5.0",
        program: "husk",
        args: &["gate"],
        answer: Answer::ExitCode(&[1]),
        verdict: "exit code 1: severity high or critical",
    },
];

/// Installs the missing scanners, and prints a table with a row for each scanner.
pub(super) fn run(dir: &Path, plugward: &Path) -> Result<Outcome> {
    let installed = PathBuf::from(target_directory()?).join("peers/scan");
    print("| scanner | attacks flagged | ordinary plugins flagged | failed | flagged means |");
    print("|---|---:|---:|---:|---|");
    let mut wrong = Vec::new();
    row(&PLUGWARD, plugward, dir, &mut wrong)?;
    for peer in &PEERS {
        let program = installed.join(peer.name).join("bin").join(peer.program);
        if !program.exists() {
            install_from_pypi(&installed.join(peer.name), &[&format!("{}=={}", peer.name, peer.version)])?;
        }
        row(peer, &program, dir, &mut wrong)?;
    }
    Ok(Outcome {
        looked_at: format!("{} scanners over {}", PEERS.len().saturating_add(1), dir.display()),
        wrong,
    })
}

/// Prints the row of one scanner, and adds its failures to `wrong`.
fn row(scanner: &Scanner, program: &Path, dir: &Path, wrong: &mut Vec<String>) -> Result<()> {
    let failed_before = wrong.len();
    let mut counts = Vec::new();
    for half in HALVES.map(|half| dir.join(half)) {
        let plugins = plugins(&half)?;
        let unsafe_skills = match scanner.answer {
            Answer::ExitCode(_) => Vec::new(),
            Answer::SkillReport => unsafe_skills(scanner, program, &half)?,
        };
        let mut flagged: usize = 0;
        for plugin in &plugins {
            let answer = match scanner.answer {
                Answer::ExitCode(codes) => exit_code(scanner, program, plugin, codes),
                Answer::SkillReport => Ok(unsafe_skills.iter().any(|skill| skill.starts_with(plugin))),
            };
            match answer {
                Ok(is_flagged) => flagged = flagged.saturating_add(usize::from(is_flagged)),
                Err(error) => wrong.push(format!("{}: {}: {error:#}", scanner.name, plugin.display())),
            }
        }
        counts.push(format!("{flagged} of {}", plugins.len()));
    }
    let failed = wrong.len().saturating_sub(failed_before);
    let Scanner { name, version, verdict, .. } = scanner;
    print(&format!("| {name} {version} | {} | {failed} | {verdict} |", counts.join(" | ")));
    Ok(())
}

/// Returns the directories in a directory, in the order of their names.
fn plugins(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).with_context(|| format!("list {}", dir.display()))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let mut plugins: Vec<PathBuf> = paths.into_iter().filter(|path| path.is_dir()).collect();
    ensure!(!plugins.is_empty(), "{} has no plugins", dir.display());
    plugins.sort_unstable();
    Ok(plugins)
}

/// Returns `true` if the exit code flags a plugin.
fn exit_code(scanner: &Scanner, program: &Path, plugin: &Path, flagged: &[i32]) -> Result<bool> {
    let output = start(scanner, program, plugin)?;
    match output.status.code() {
        Some(code) if flagged.contains(&code) => Ok(true),
        Some(0) => Ok(false),
        _ => bail!("{}", failure(&output)),
    }
}

/// Returns the directories of the skills that a report calls unsafe.
fn unsafe_skills(scanner: &Scanner, program: &Path, dir: &Path) -> Result<Vec<PathBuf>> {
    let output = start(scanner, program, dir)?;
    let report: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{}: no report: {}", scanner.name, failure(&output)))?;
    let skills = report.get("results").and_then(Value::as_array).context("a report without results")?;
    let verdict = |skill: &Value| {
        let path = skill.get("skill_path").and_then(Value::as_str).context("a skill without a path")?;
        let is_safe = skill.get("is_safe").and_then(Value::as_bool).context("a skill without a verdict")?;
        Ok((!is_safe).then(|| PathBuf::from(path)))
    };
    skills.iter().filter_map(|skill| verdict(skill).transpose()).collect()
}

/// Returns the exit code and the last message of a scanner.
fn failure(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    format!("{}: {}", output.status, text.trim().lines().next_back().unwrap_or("no message"))
}

/// Runs a scanner over one directory, in an empty home directory.
fn start(scanner: &Scanner, program: &Path, dir: &Path) -> Result<Output> {
    let home = std::env::temp_dir().join(format!("plugward-peers-scan-{}", std::process::id()));
    fs::create_dir(&home).with_context(|| format!("create {}", home.display()))?;
    let mut command = Command::new("timeout");
    command.arg(LIMIT).arg(program).args(scanner.args).arg(dir).current_dir(&home);
    command.env_clear().env("HOME", &home).env("PATH", std::env::var_os("PATH").unwrap_or_default());
    // Nothing listens on the discard port, so no scanner reaches the network.
    command.env("HTTPS_PROXY", "http://127.0.0.1:9").env("HTTP_PROXY", "http://127.0.0.1:9");
    let output = command.stdin(Stdio::null()).output().context("start timeout");
    fs::remove_dir_all(&home).with_context(|| format!("remove {}", home.display()))?;
    output
}
