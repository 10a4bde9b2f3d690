//! One run of `plugward check` in an empty home directory, with a time limit.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "starts a program, measures it, and removes its files"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::bench::process::children;
use xtask::{root, target_directory};

/// The most time that one repository may take.
const LIMIT: Duration = Duration::from_secs(600);
/// The time between two measurements of memory.
const STEP: Duration = Duration::from_millis(5);

/// The resources that one run took.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Usage {
    /// Processor time.
    pub(super) cpu: Duration,
    /// The largest resident set; 0 if the system does not report it.
    pub(super) peak_kib: u64,
}

/// A finished run.
pub(super) struct CheckRun {
    /// The JSON report.
    pub(super) report: Value,
    pub(super) usage: Usage,
}

/// Builds plugward and returns the program.
pub(super) fn build() -> Result<PathBuf> {
    let status = Command::new("cargo")
        .args(["build", "--release", "--locked", "--quiet", "-p", "plugward"])
        .current_dir(root())
        .status()
        .context("start cargo build")?;
    if !status.success() {
        bail!("cargo build failed");
    }
    Ok(Path::new(&target_directory()?).join("release/plugward"))
}

/// Checks one directory.
pub(super) fn check(program: &Path, dir: &Path) -> Result<CheckRun> {
    let home = Home::create()?;
    let before = children()?;
    let mut child =
        home.command(program, dir)?.spawn().with_context(|| format!("start {}", program.display()))?;
    let (status, peak_kib) = wait(&mut child)?;
    let usage = Usage { cpu: children()?.saturating_sub(before), peak_kib };
    let bytes = fs::read(home.report()).context("read the report")?;
    // The exit code is that of the verdicts. A report is printed with each of them.
    let report = serde_json::from_slice(&bytes).with_context(|| {
        let stderr = fs::read(home.messages()).unwrap_or_default();
        format!("no report ({status}): {}", String::from_utf8_lossy(&stderr).trim())
    })?;
    Ok(CheckRun { report, usage })
}

/// Waits until the program ends, and measures its memory meanwhile.
fn wait(child: &mut Child) -> Result<(ExitStatus, u64)> {
    let start = Instant::now();
    let mut peak = 0;
    loop {
        // The kernel keeps the peak as long as the process exists, so only growth within the last step is missed.
        peak = peak.max(peak_kib(child.id()));
        if let Some(status) = child.try_wait().context("wait for the program")? {
            return Ok((status, peak));
        }
        if start.elapsed() > LIMIT {
            child.kill().context("stop the program")?;
            child.wait().context("wait for the program")?;
            bail!("stopped after {} minutes", LIMIT.as_secs() / 60);
        }
        std::thread::sleep(STEP);
    }
}

/// Returns the largest resident set of a running process so far.
fn peak_kib(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// A new directory for settings, pins and the report, which is removed at the end.
struct Home(PathBuf);

impl Home {
    fn create() -> Result<Self> {
        let dir = std::env::temp_dir().join(format!("plugward-field-{}", std::process::id()));
        fs::create_dir(&dir).with_context(|| format!("create {}", dir.display()))?;
        Ok(Self(dir))
    }

    fn report(&self) -> PathBuf {
        self.0.join("report.json")
    }

    fn messages(&self) -> PathBuf {
        self.0.join("messages.txt")
    }

    fn command(&self, program: &Path, dir: &Path) -> Result<Command> {
        let create = |path: PathBuf| fs::File::create(path).context("create a file");
        let mut command = Command::new(program);
        command.args(["check", "--format", "json", "--no-input", "--no-cache", "--trust", "tofu"]).arg(dir);
        command.env_clear().env("HOME", self.0.join("home")).env("USER", "field").env("LANG", "C.UTF-8");
        command.env("PLUGWARD_CONFIG_DIR", self.0.join("config"));
        command.env("PLUGWARD_STATE_DIR", self.0.join("state")).current_dir(&self.0);
        command.stdin(Stdio::null()).stdout(create(self.report())?).stderr(create(self.messages())?);
        Ok(command)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A directory that is left in the temporary directory does no harm.
        drop(fs::remove_dir_all(&self.0));
    }
}
