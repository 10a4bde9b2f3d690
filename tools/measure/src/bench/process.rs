//! Runs a command and measures its wall-clock and processor time.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// The time that a run took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RunTime {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
}

/// Runs a command `runs` times after one run that warms the page cache. Returns the median times and the last output.
pub(crate) fn median(runs: usize, make: impl Fn() -> Command) -> Result<(RunTime, String)> {
    once(&mut make())?;
    let mut all = Vec::new();
    let mut text = String::new();
    for _ in 0..runs.max(1) {
        let (took, output) = once(&mut make())?;
        all.push(took);
        text = output;
    }
    let middle = |mut values: Vec<Duration>| {
        values.sort();
        values.get(values.len() / 2).copied().unwrap_or_default()
    };
    let wall = middle(all.iter().map(|took| took.wall).collect());
    let cpu = middle(all.iter().map(|took| took.cpu).collect());
    Ok((RunTime { wall, cpu }, text))
}

fn once(command: &mut Command) -> Result<(RunTime, String)> {
    let before = children()?;
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
    let start = Instant::now();
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .with_context(|| format!("start {}", command.get_program().display()))?;
    let wall = start.elapsed();
    let cpu = children()?.saturating_sub(before);
    // Search tools exit with 1 if they find nothing, and `plugward check` with 6 on danger findings.
    if !output.status.success() && !matches!(output.status.code(), Some(1 | 6)) {
        bail!("{}: {}", command.get_program().display(), String::from_utf8_lossy(&output.stderr).trim());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().count();
    let text = if lines == 1 { text.trim().to_owned() } else { format!("{lines} lines") };
    Ok((RunTime { wall, cpu }, text))
}

/// Returns the processor time of the child processes that have ended. The kernel counts it in ticks of 10 ms.
pub(crate) fn children() -> Result<Duration> {
    #[expect(clippy::disallowed_methods, reason = "the kernel counts processor time")]
    let stat = std::fs::read_to_string("/proc/self/stat").context("read /proc/self/stat")?;
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u64 =
        fields.split_whitespace().skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Ok(Duration::from_millis(ticks.saturating_mul(10)))
}
