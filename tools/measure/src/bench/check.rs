//! Measures `plugward check` of unchanged plugins, next to a program that only reads and hashes the same bytes.
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "a benchmark creates its own files")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use sha2::{Digest as _, Sha256};

use super::process::median;
use xtask::root;
use xtask::{Outcome, say};

/// Options of `bench check`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Measured runs of each program; the median is printed
    #[arg(long, default_value_t = 9)]
    runs: usize,
    /// Number of plugins
    #[arg(long, default_value_t = 1000)]
    plugins: usize,
    /// Only read and hash every file of this directory
    #[arg(long, hide = true, value_name = "DIR")]
    hash: Option<PathBuf>,
}

/// The longest time that a check may take, in hundredths of the time to read and hash. Hashing is the floor of
/// every check, and half as much again is what the gates may add.
const MOST: u128 = 150;

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    if let Some(dir) = &args.hash {
        let mut digest = Sha256::new();
        let files = hash(dir, &mut digest)?;
        let looked_at = format!("{files} files, {:02x?}", digest.finalize().first_chunk::<4>());
        return Ok(Outcome { looked_at, wrong: Vec::new() });
    }
    let built = Command::new("cargo")
        .args(["build", "--release", "--locked", "-q", "-p", "plugward", "-p", "plugward-measure"])
        .current_dir(root())
        .status()
        .context("start cargo build")?;
    if !built.success() {
        bail!("cargo build failed");
    }
    let here = root().join("target/bench-check");
    if here.exists() {
        fs::remove_dir_all(&here).context("remove the plugins of an earlier run")?;
    }
    let plugins = here.join("plugins");
    let bytes = make(&plugins, args.plugins)?;
    let program = |name: &str| root().join("target/release").join(name);
    let check = || {
        let mut command = Command::new(program("plugward"));
        command.args(["check", "-q", "--config-dir"]).arg(here.join("config")).arg("--state-dir");
        command.arg(here.join("state")).arg(&plugins);
        command
    };
    let peer = || {
        let mut command = Command::new(program("plugward-measure"));
        command.args(["bench", "check", "--hash"]).arg(&plugins);
        command
    };
    // The first check pins all plugins and is not measured.
    let (hashed, _) = median(args.runs, peer)?;
    let (checked, said) = median(args.runs, check)?;
    let hundredths = checked.wall.as_micros().saturating_mul(100).checked_div(hashed.wall.as_micros().max(1));
    let hundredths = hundredths.unwrap_or(u128::MAX);
    say(&format!("{} plugins, {} kB; {said}", args.plugins, bytes / 1000));
    say(&format!(
        "read and hash   {:>8.3} s wall, {:>6.2} s cpu",
        hashed.wall.as_secs_f64(),
        hashed.cpu.as_secs_f64()
    ));
    say(&format!(
        "plugward check  {:>8.3} s wall, {:>6.2} s cpu",
        checked.wall.as_secs_f64(),
        checked.cpu.as_secs_f64()
    ));
    let ratio = format!("{}.{:02} x", hundredths / 100, hundredths % 100);
    let wrong = if hundredths > MOST {
        vec![format!("{ratio} the time of reading and hashing, the goal is at most 1.50 x")]
    } else {
        Vec::new()
    };
    Ok(Outcome { looked_at: format!("check of unchanged plugins: {ratio}"), wrong })
}

/// Writes plugins of the usual size: a manifest, a hook and skills with some text. Returns the bytes written.
fn make(dir: &Path, plugins: usize) -> Result<usize> {
    let mut bytes = 0_usize;
    let mut put = |path: PathBuf, text: &str| -> Result<()> {
        fs::create_dir_all(path.parent().context("a file has a directory")?)?;
        fs::write(&path, text)?;
        bytes = bytes.saturating_add(text.len());
        Ok(())
    };
    for number in 0..plugins {
        let plugin = dir.join(format!("p{number:04}"));
        put(
            plugin.join(".claude-plugin/plugin.json"),
            &format!(
                "{{\"name\": \"p{number:04}\", \"version\": \"1.0.{number}\", \"description\": \"Plugin {number}.\"}}\n"
            ),
        )?;
        let hook = "python3 \\\"${CLAUDE_PLUGIN_ROOT}/hooks/check.py\\\"";
        put(
            plugin.join("hooks/hooks.json"),
            &format!(
                "{{\"hooks\": {{\"Stop\": [{{\"hooks\": [{{\"type\": \"command\", \"command\": \"{hook}\"}}]}}]}}}}\n"
            ),
        )?;
        let python = "def lines(text):\n    return [line.strip() for line in text.splitlines() if line]\n\n";
        put(plugin.join("hooks/check.py"), &format!("# {number}\n{}", python.repeat(40)))?;
        let text = "Read the change, and write down what a reader has to know of it before the meeting.\n";
        for skill in 0..4 {
            put(
                plugin.join(format!("skills/s{skill}/SKILL.md")),
                &format!("# Skill {number}.{skill}\n{}", text.repeat(60)),
            )?;
        }
        put(plugin.join("README.md"), &format!("# Plugin {number}\n{}", text.repeat(30)))?;
    }
    Ok(bytes)
}

fn hash(dir: &Path, digest: &mut Sha256) -> Result<usize> {
    let mut files = 0_usize;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            files = files.saturating_add(hash(&entry.path(), digest)?);
        } else {
            digest.update(fs::read(entry.path())?);
            files = files.saturating_add(1);
        }
    }
    Ok(files)
}
