//! Seconds per MB and peak bytes per byte of hostile inputs: `cargo run --release -p plugward-scanner --example hostile`.
//!
//! `hostile [WORD]` runs each input whose name contains the word in a process of its own, because the peak of a process never
//! falls. `linear` shows how the costs grow; this program shows how high they are.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a program beside the crate: it reads the clock, starts itself and prints"
)]

use std::error::Error;
use std::process::Command;
use std::time::Instant;

use plugward_scanner::{Content, Entry, Profile, RoleHint, Rules, ScanOptions, scan};
use plugward_types::Digest;

/// A name, a path, a text in front, a text that is repeated, and how many times.
const INPUTS: &[(&str, &str, &str, &str, usize)] = &[
    ("py-open", "a.py", "", "(", 8_000_000),
    ("py-eval", "a.py", "", "]eval(\\'", 500_000),
    ("js-arrow", "a.js", "x=", "a=>", 75_000),
    ("yaml-alias", "a.yaml", "", "&a *a\n", 166_667),
    ("yaml-alias-front", "a.md", "---\n", "&a *a\n", 166_667),
    ("yaml-alias-keys", "a.yaml", "a: &a ls -la\n", "command: *a\n", 80_000),
    ("yaml-flow", "a.yaml", "", "[", 1_000_000),
    ("yaml-nested", "a.yaml", "", "- ", 500_000),
    ("json-open", "a.json", "", "[", 1_000_000),
    ("json-keys", "package.json", "{", "\"scripts\":{\"a\":\"ls\"},", 50_000),
    ("toml-tables", "a.toml", "", "[a.b.c]\n", 125_000),
    ("sh-arithmetic", "a.sh", "", "a=$((<<A\n<<A\n", 71_000),
    ("sh-heredoc", "a.sh", "", "<<A\n", 250_000),
    ("sh-nested", "a.sh", "", "$(", 500_000),
    ("sh-function", "a.sh", "f(){ $1 $2; curl $1; }\n", "f a; ", 200_000),
    ("sh-quotes", "a.sh", "", "'\"`", 333_333),
    ("sh-assign", "a.sh", "", "a=$a$a;", 140_000),
    ("rs-open", "a.rs", "", "(", 1_000_000),
    ("rs-use", "a.rs", "", "use a::{b::{", 80_000),
    ("rs-command", "build.rs", "", "Command::new(a.", 66_000),
    ("md-brackets", "a.md", "", "[", 8_000_000),
    ("md-quotes", "a.md", "", ">", 8_000_000),
    (
        "md-lazy",
        "a.md",
        "> > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > a\n",
        "a\n",
        2_000_000,
    ),
    ("md-stars", "a.md", "", "*a_ ", 2_000_000),
    ("md-emphasis", "a.md", "", "*", 8_000_000),
    ("md-list", "a.md", "", "- ", 2_000_000),
    ("md-table", "a.md", "|a|\n|-|\n", "|x|\n", 2_000_000),
    ("md-images", "a.md", "", "![[", 2_000_000),
    ("md-tags", "a.md", "", "<a x='", 1_000_000),
    ("md-comments", "a.md", "", "a <!-- ", 1_000_000),
    ("md-definitions", "a.md", "", "[a]: <b", 1_000_000),
    ("md-fences", "a.md", "", "```sh\nls\n```\n", 200_000),
    ("md-html", "a.md", "", "<p>\n", 500_000),
    ("md-words", "a.md", "", "some words of an ordinary text, and a few more of them\n", 50_000),
    ("line-js", "a.js", "", "a ", 20_000_000),
    ("calls-js", "a.js", "", "f(", 5_000_000),
    ("open-js", "a.js", "", "[", 8_000_000),
    ("line-py", "a.py", "", "a ", 20_000_000),
    ("calls-py", "a.py", "", "f(", 5_000_000),
    ("open-py", "a.py", "", "[", 8_000_000),
    ("line-sh", "a.sh", "", "a ", 20_000_000),
    ("calls-sh", "a.sh", "", "$(f ", 2_500_000),
    ("open-sh", "a.sh", "", "[", 8_000_000),
    ("line-md", "a.md", "", "a ", 20_000_000),
    ("calls-md", "a.md", "", "[f](", 2_500_000),
    ("open-md", "a.md", "", "[", 8_000_000),
    ("line-json", "a.json", "", "a ", 20_000_000),
    ("calls-json", "a.json", "", "{\"f\":", 2_000_000),
    ("open-json", "a.json", "", "[", 8_000_000),
    ("random.sh", "a.sh", "", "", 1_000_000),
    ("random.py", "a.py", "", "", 1_000_000),
    ("random.js", "a.js", "", "", 1_000_000),
    ("random.rs", "a.rs", "", "", 1_000_000),
    ("random.md", "a.md", "", "", 1_000_000),
    ("random.yaml", "a.yaml", "", "", 1_000_000),
    ("random.json", "a.json", "", "", 1_000_000),
    ("random.toml", "a.toml", "", "", 1_000_000),
];

/// Returns bytes of a fixed sequence that looks random.
fn random(length: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[7]
    };
    (0..length).map(|_| next()).collect()
}

/// Returns the peak of this process in bytes, or 0 where the system does not tell.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.unwrap_or_default() * 1024.0
}

/// Returns the processor time of this thread in seconds, or the time of day where the system does not tell.
fn seconds(start: Instant) -> f64 {
    let status = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let used = status.split(' ').next().and_then(|used| used.parse::<f64>().ok());
    used.map_or_else(|| start.elapsed().as_secs_f64(), |used| used / 1e9)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, name] = arguments.as_slice()
        && flag == "--one"
    {
        let Some((_, path, head, piece, times)) = INPUTS.iter().find(|input| input.0 == name) else {
            return Err("no such input".into());
        };
        let text = if piece.is_empty() {
            random(*times)
        } else {
            [head.as_bytes(), piece.repeat(*times).as_bytes()].concat()
        };
        let content = Content::Bytes { bytes: &text, digest: Digest::from_bytes([0; 32]) };
        let entries = [Entry { path, content, role: RoleHint::NONE }];
        let rules = Rules::builtin();
        let start = Instant::now();
        let (before, begun) = (peak(), seconds(start));
        let report = scan(rules, &ScanOptions::new(Profile::General), &entries)?;
        let seconds = seconds(start) - begun;
        let size = text.len() as f64;
        let partial = report.findings().iter().any(|one| one.rule.as_str() == "scan/partial");
        println!(
            "{name:18} {:9} bytes {:8.3} s/MB {:6.1} B/B{}",
            text.len(),
            seconds * 1e6 / size,
            (peak() - before) / size,
            if partial { " partial" } else { "" },
        );
        return Ok(());
    }
    let wanted = arguments.first().map_or("", String::as_str);
    for (name, ..) in INPUTS.iter().filter(|input| input.0.contains(wanted)) {
        Command::new(std::env::current_exe()?).args(["--one", name]).status()?;
    }
    Ok(())
}
