//! What hooks cost: `cargo bench -p plugward-hooks`. Peers run by turns with plugward in the same run.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark starts peers, reads the clock and prints"
)]
#![expect(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "a benchmark that fails may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use plugward_hooks::{
    Answer, Dispatcher, Event, FireContext, GateCall, HookServices, LocalHook, LocalReply, LocalStep,
    Nesting, PermissionRule, Plan, RawOutput, Scope, StartDirectly, ToolCall,
};
use plugward_manifest::Dialect;
use plugward_redact::{
    Firewall, LocalProof, Output, OutputContent, Raw, RuleSelection, Settings, ToolStatus,
};
use serde_json::json;

const ROUNDS: usize = 400;
const GIBIBYTE: &str = "head -c 1073741824 /dev/zero";

struct Allow;

impl PermissionRule for Allow {
    fn answer(&self, _call: &GateCall) -> Answer {
        Answer::Allow
    }
}

struct Look;

impl LocalHook for Look {
    fn look(&self, output: &Raw<Output>, _proof: &LocalProof<'_>) -> LocalReply {
        assert!(!output.is_empty());
        LocalReply::Keep
    }
}

fn context() -> FireContext {
    FireContext {
        directory: "/".to_owned(),
        project: "/".to_owned(),
        env: BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]),
        granted_env: BTreeSet::new(),
        session: "bench".to_owned(),
        transcript: None,
        permission_mode: "default".to_owned(),
        nesting: Nesting::Outside,
        stop_denials: 0,
    }
}

fn services() -> HookServices {
    let firewall = Arc::new(Firewall::new(RuleSelection::all(), Settings::reference()).unwrap());
    HookServices::new(firewall, Arc::new(Allow)).start(Arc::new(StartDirectly))
}

fn gate(exec: &str, timeout: &str) -> Dispatcher {
    let file = format!(
        "[[hooks]]\nname = 'h'\nevent = 'pre_tool_use'\ntype = 'command'\nexec = '''{exec}'''\ntimeout = '{timeout}'\n"
    );
    let mut plan = Plan::builder(RawOutput::ManagedAndUser);
    plan.file(Scope::User, Dialect::Gnoma, "hooks.toml", file.as_bytes());
    Dispatcher::new(plan.build(), services()).unwrap()
}

fn call() -> GateCall {
    GateCall::tool(Event::PreToolUse, "Bash".to_owned(), json!({"command": "ls"}))
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn middle(mut all: Vec<Duration>) -> Duration {
    all.sort();
    all.get(all.len() / 2).copied().unwrap()
}

/// The peer: the same shell text, the same input, the standard library alone.
fn peer(exec: &str, input: &[u8]) {
    let mut child = Command::new("sh")
        .args(["-c", exec])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
}

fn command_hook() {
    let exec = "cat >/dev/null";
    let (dispatcher, at, call) = (gate(exec, "30s"), context(), call());
    let input = br#"{"args":{"command":"ls"},"event":"pre_tool_use","tool":"Bash"}"#;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(timed(|| assert_eq!(dispatcher.gate(&call, &at).hooks.answer, Answer::Allow)));
        theirs.push(timed(|| peer(exec, input)));
    }
    let (ours, theirs) = (middle(ours), middle(theirs));
    println!("command hook           {ours:>12.1?}   std::process::Command {theirs:.1?}");
    println!("  more                 {:>12.1?}", ours.saturating_sub(theirs));
}

fn local_hooks() {
    let mut plan = Plan::builder(RawOutput::ManagedAndUser);
    for number in 0..10 {
        plan.local(&format!("h{number}"), LocalStep::Observe, Arc::new(Look));
    }
    let dispatcher = Dispatcher::new(plan.build(), services()).unwrap();
    let none = Dispatcher::new(Plan::builder(RawOutput::ManagedAndUser).build(), services()).unwrap();
    let at = context();
    let tool = ToolCall { tool: "Bash".to_owned(), args: json!({"command": "ls"}) };
    let run = |dispatcher: &Dispatcher| {
        let content = OutputContent::Text("total 0\ndrwxr-xr-x 2 app app 40 Nov 21 10:00 src\n".to_owned());
        let output = Raw::new(Output { content, metadata: json!({}), ended: ToolStatus::Ok });
        timed(|| drop(dispatcher.post_tool_use(&tool, output, &at)))
    };
    let (mut ten, mut zero) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS * 10 {
        ten.push(run(&dispatcher));
        zero.push(run(&none));
    }
    println!("ten in-process hooks   {:>12.1?}   the scans alone {:.1?}", middle(ten), middle(zero));
}

/// The resident memory of this process, and the most that it ever was, in bytes.
fn memory() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let row = |name: &str| {
        let row = status.lines().find_map(|row| row.strip_prefix(name))?;
        row.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    };
    (row("VmRSS:").unwrap_or(0) * 1024, row("VmHWM:").unwrap_or(0) * 1024)
}

fn large_output() {
    for (what, exec) in [("stdout", GIBIBYTE.to_owned()), ("stderr", format!("{GIBIBYTE} >&2"))] {
        let (dispatcher, at, call) = (gate(&exec, "60s"), context(), call());
        // The peak starts anew from here; without the right to do that, the figure is that of the whole run.
        let _allowed = std::fs::write("/proc/self/clear_refs", "5");
        let (before, _) = memory();
        let time = timed(|| drop(dispatcher.gate(&call, &at)));
        let (_, peak) = memory();
        let grown = peak.saturating_sub(before) / 1024;
        println!("1 GiB on {what}        {time:>12.1?}   {grown} KiB more memory");
    }
}

fn failures() {
    let cases = [
        ("exit code 1", "exit 1"),
        ("no such program", "./missing"),
        ("hangs", "sleep 99"),
        ("ignores TERM", "trap '' TERM; sleep 99"),
        ("killed", "kill -9 $$"),
        ("garbage", "echo x"),
        ("never ends its output", "cat /dev/zero"),
        ("denies", "exit 2"),
        ("leaves a child", "sleep 99 & exit 0"),
        ("100 MiB on stderr", "head -c 104857600 /dev/zero >&2"),
    ];
    println!("gates with a timeout of 1 s:");
    for (what, exec) in cases {
        let (dispatcher, at, call) = (gate(exec, "1s"), context(), call());
        let mut answer = Answer::Skip;
        let time = timed(|| answer = dispatcher.gate(&call, &at).hooks.answer);
        println!("  {what:<22} {time:>10.1?}   {}", answer.as_str());
    }
    let (dispatcher, at) = (gate("sleep 99", "1s"), context());
    let args = json!({"command": "x".repeat(1 << 20)});
    let call = GateCall::tool(Event::PreToolUse, "Bash".to_owned(), args);
    let time = timed(|| drop(dispatcher.gate(&call, &at)));
    println!("  {:<22} {time:>10.1?}", "never reads 1 MiB");
}

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    command_hook();
    local_hooks();
    large_output();
    failures();
}
