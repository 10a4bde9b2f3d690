//! How much memory `plugward redact` takes for a long stream of what is hardest for it.

#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::arithmetic_side_effects,
    clippy::format_push_string,
    reason = "tests start the program, read its status, and build texts"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up must stop")]

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

/// The program may take so many bytes more than it took when its first block was out.
const MORE: usize = 2 * 1024 * 1024;
/// So much is streamed of each text.
const STREAMED: usize = 12 * 1024 * 1024;

/// A line of a log in JSON in JSON, with a secret in it.
fn nested(number: usize) -> String {
    let mixed = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let inner = serde_json::json!({ "msg": format!("\"done\"\n in {number} ms"), "password": format!("v{mixed:016x}!Q") });
    let line = serde_json::json!({ "log": inner.to_string(), "stream": "stdout" });
    serde_json::json!({ "log": line.to_string(), "stream": "stdout" }).to_string() + "\n"
}

/// Nothing but names and values, each another one.
fn assigned(number: usize) -> String {
    let mixed = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("token=\"{mixed:016x}Zq!\" ")
}

#[test]
fn a_long_stream_takes_no_more_memory_than_a_short_one() {
    for (name, line) in [("json in json", nested as fn(usize) -> String), ("values on one line", assigned)] {
        let more = measured(line);
        println!("{name}: {} KiB more", more / 1024);
        assert!(more <= MORE, "{name}: {more}");
    }
}

fn measured(line: fn(usize) -> String) -> usize {
    let mut child = Command::new(env!("CARGO_BIN_EXE_plugward"))
        .args(["redact", "--quiet"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = child.stdout.take().unwrap();
    let (send, came) = mpsc::channel();
    let reader = thread::spawn(move || {
        let mut chunk = vec![0; 1 << 16];
        let mut marks = 0;
        while let Ok(count @ 1..) = output.read(&mut chunk) {
            marks += chunk.iter().take(count).filter(|byte| **byte == b'[').count();
            // Nobody listens any more once the first block is out.
            send.send(count).unwrap_or_default();
        }
        marks
    });
    input.write_all(&b"a quiet line of a log\n".repeat(20_000)).unwrap();
    came.recv().unwrap();
    let before = status(&child, "VmRSS:");
    let (mut sent, mut number) = (0, 0);
    while sent < STREAMED {
        let mut text = String::new();
        while text.len() < 1 << 16 {
            text.push_str(&line(number));
            number += 1;
        }
        input.write_all(text.as_bytes()).unwrap();
        sent += text.len();
    }
    let most = status(&child, "VmHWM:");
    drop(input);
    assert!(child.wait().unwrap().success());
    let marks = reader.join().unwrap();
    assert!(marks >= number, "{marks} of {number} were taken out");
    most.saturating_sub(before)
}

fn status(child: &Child, field: &str) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}
