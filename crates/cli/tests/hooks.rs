//! `plugward hook plan` and `plugward hook fire`, as scripts and hosts use them.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests start the program, make directories, and stop where an answer has another shape"
)]
#![expect(
    clippy::arithmetic_side_effects,
    reason = "lengths of texts that the test wrote, and a promised limit"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up must stop")]
#![expect(clippy::print_stdout, reason = "a test that is skipped says why")]

mod home;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use home::{Home, code};
use plugward_loader::hook_events::{
    Answer, Dispatcher, Event, FireContext, GateCall, HookServices, Nesting, PermissionRule, Plan, RawOutput,
    Scope, StartDirectly,
};
use plugward_loader::manifest::Dialect;
use plugward_loader::redact::{
    Firewall, ModelRequest, Raw, RuleSelection, SafeProvider, Settings, Transport, TransportError,
    TransportErrorKind,
};
use plugward_loader::sha256;
use serde_json::{Value, json};

/// The call of most tests.
const CALL: &str = r#"{"tool":"Bash","args":{"command":"ls"}}"#;

/// A hook of a gnoma file, with further lines.
fn hook(name: &str, event: &str, exec: &str, more: &str) -> String {
    format!("[[hooks]]\nname = \"{name}\"\nevent = \"{event}\"\nexec = '''{exec}'''\n{more}\n")
}

/// A Claude file with one group of handlers.
fn claude(event: &str, handlers: &Value) -> String {
    format!("{}\n", json!({"hooks": {event: [{"matcher": "Bash", "hooks": handlers}]}}))
}

fn after_use(output: &Value, metadata: &Value) -> String {
    let result = json!({"output": output, "metadata": metadata, "failed": false});
    json!({"tool": "Bash", "args": {"command": "ls"}, "result": result}).to_string()
}

/// A new secret at each call. The prefixes are split, so that this file contains none.
fn secret(kind: &str) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    let mut random = std::fs::File::open("/dev/urandom").unwrap();
    let (prefix, length) = match kind {
        "github" => (concat!("gh", "p_"), 36),
        _ => (concat!("sk-a", "nt-api03-"), 93),
    };
    let mut bytes = vec![0_u8; length];
    std::io::Read::read_exact(&mut random, &mut bytes).unwrap();
    let letters = bytes.iter().map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]));
    let tail = if kind == "github" { "" } else { "AA" };
    format!("{prefix}{}{tail}", letters.collect::<String>())
}

/// The program with the real PATH, so that hooks find what they start.
fn plugward(home: &Home, args: &[&str]) -> Command {
    let mut command = home.command(args);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

/// Runs a command and writes its standard input, which it does not have to read.
fn with_input(mut command: Command, input: &str) -> Output {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.as_bytes().to_vec();
    let writer = std::thread::spawn(move || {
        // A command that ends early closes the pipe.
        if stdin.write_all(&input).is_err() {}
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// Runs `hook fire` and returns the exit code and everything that it printed.
fn fire_raw(home: &Home, args: &[&str], payload: &str) -> (i32, String) {
    let output = with_input(plugward(home, &[&["hook", "fire"], args].concat()), payload);
    (code(&output), said(&output))
}

/// Runs `hook fire`, and returns the exit code and the report.
#[track_caller]
fn fire(home: &Home, args: &[&str], payload: &str) -> (i32, Value) {
    let output = with_input(plugward(home, &[&["hook", "fire"], args].concat()), payload);
    let report =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{args:?}: {}", said(&output)));
    (code(&output), report)
}

/// Runs `hook plan --format json`, and returns the exit code and the plan.
#[track_caller]
fn plan(home: &Home, args: &[&str]) -> (i32, Value) {
    let output = home.run(&[&["hook", "plan", "--format", "json"], args].concat());
    let plan =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{args:?}: {}", said(&output)));
    (code(&output), plan)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), output.stderr.as_slice()].concat()).into_owned()
}

/// Returns one member of each object in a list.
fn each<'a>(list: &'a Value, key: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|row| row[key].as_str().unwrap_or("-")).collect()
}

/// Writes a Claude plugin with a hooks file and a script.
fn plugin(home: &Home, dir: &str, hooks: &str, script: &str) {
    let name = dir.rsplit('/').next().unwrap();
    home.write(&format!("{dir}/.claude-plugin/plugin.json"), &format!("{{\"name\": \"{name}\"}}\n"));
    home.write(&format!("{dir}/hooks/hooks.json"), hooks);
    home.write(&format!("{dir}/hooks/run.sh"), script);
}

/// The hooks file of a plugin that runs its script on one event.
fn runs_script(event: &str) -> String {
    let handler =
        json!({"type": "command", "command": "sh \"${CLAUDE_PLUGIN_ROOT}/hooks/run.sh\"", "timeout": 60});
    claude(event, &json!([handler]))
}

/// Returns the types of the ledger's records, in order.
fn ledger(home: &Home) -> Vec<(String, String)> {
    let output = home.run(&["ledger", "show"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let row = |line: &str| {
        let word = line.split_whitespace().nth(2).unwrap_or_default();
        (word.to_owned(), line.to_owned())
    };
    text.lines().map(row).collect()
}

fn has_python() -> bool {
    let works = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !works {
        println!("skipped: `python3 --version` does not work here");
    }
    works
}

/// Waits until no process has its working directory in a home, and fails if one stays.
#[track_caller]
fn no_process_left(home: &Home, about: &str) {
    if !Path::new("/proc/self/cwd").exists() {
        println!("skipped: this system does not show the working directories of processes");
        return;
    }
    let place = home.temp.path().canonicalize().unwrap();
    let is_here = |entry: std::fs::DirEntry| {
        std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&place))
    };
    // The group was killed before the report was printed, but the system can need a moment to end it.
    let until = Instant::now() + Duration::from_secs(2);
    while std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).any(is_here) {
        assert!(Instant::now() < until, "{about}: a process is left");
        std::thread::yield_now();
    }
}

fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(name);
    if !path.exists() {
        println!("skipped: this machine has no {name} next to the checkout");
        return None;
    }
    path.canonicalize().ok()
}

/// Copies a directory; its entries are created in the reverse order of their names if `reversed`.
fn copy(from: &Path, to: &Path, order: Order) {
    std::fs::create_dir_all(to).unwrap();
    let mut entries: Vec<_> = std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    if order == Order::Backward {
        entries.reverse();
    }
    for entry in entries {
        let to = to.join(entry.file_name().unwrap());
        if entry.is_dir() { copy(&entry, &to, order) } else { std::fs::copy(&entry, &to).map(drop).unwrap() }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Order {
    Forward,
    Backward,
}

/// Plans over a directory called `corpus` twice and over two copies, and returns the one plan of all four runs.
#[track_caller]
fn plan_of_copies(home: &Home, corpus: &Path) -> Value {
    let mut texts = Vec::new();
    for (place, order) in [("a", Order::Forward), ("b", Order::Backward)] {
        copy(corpus, &home.path(place).join("corpus"), order);
        for _ in 0..2 {
            let mut command = home.command(&["hook", "plan", "--in", "corpus", "--format", "json"]);
            let output = command.current_dir(home.path(place)).output().unwrap();
            assert_eq!(code(&output), 0, "{}", said(&output));
            texts.push(String::from_utf8(output.stdout).unwrap());
        }
    }
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:#?}");
    assert!(!home.path("state").exists() && !home.path("config").exists(), "a plan writes nothing");
    serde_json::from_str(&texts[0]).unwrap()
}

#[test]
fn a_plan_is_the_same_for_every_order_of_files() {
    let home = Home::new();
    for name in ["b", "a", "c", "a-b", "B"] {
        plugin(&home, &format!("corpus/{name}"), &runs_script("PreToolUse"), "exit 0\n");
    }
    let odd = json!({"hooks": {
        "PreTolUse": [{"hooks": [{"type": "command", "command": "true"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "true"}]}],
    }});
    home.write("corpus/c/hooks/hooks.json", &format!("{odd}\n"));
    home.write(
        "corpus/a/.codex-plugin/plugin.json",
        "{\"name\": \"a\", \"hooks\": \"./hooks/hooks.json\"}\n",
    );
    let plan = plan_of_copies(&home, &home.path("corpus"));
    let expected = [
        "corpus/B:PreToolUse.1",
        "corpus/a:PreToolUse.1",
        "corpus/a-b:PreToolUse.1",
        "corpus/b:PreToolUse.1",
        "corpus/c:Stop.1",
    ];
    assert_eq!(each(&plan["hooks"], "id"), expected);
    assert_eq!(each(&plan["notes"], "code"), ["hook/other-dialect", "hook/unknown-event"], "{plan:#}");
    // The matcher and the text of a note are those of the plugin, and the order of the options counts for files.
    home.write("1.toml", &hook("x", "pre_tool_use", "true", ""));
    home.write("2.toml", &hook("y", "pre_tool_use", "true", ""));
    let (_, plan) =
        self::plan(&home, &["--hooks", "2.toml", "--hooks", "1.toml", "--project-hooks", "1.toml"]);
    assert_eq!(each(&plan["hooks"], "id"), ["user:y", "user2:x", "project:x"]);
}

#[test]
fn a_plan_of_the_corpus_is_the_same_for_every_order_of_files() {
    let Some(corpus) = shared("corpus") else { return };
    let plan = plan_of_copies(&Home::new(), &corpus);
    assert!(each(&plan["notes"], "code").contains(&"hook/other-dialect"), "{plan:#}");
}

/// ADR 0006 is reopened if many users have prompt hooks on `PostToolUse`. Today the corpus has none.
#[test]
fn adr004_no_hook_of_the_corpus_shows_output_to_a_model() {
    fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
            let name = entry.file_name().unwrap().to_str().unwrap();
            if entry.is_dir() {
                collect(&entry, files);
            } else if name.starts_with("hooks") && entry.extension().is_some_and(|word| word == "json") {
                files.push(entry);
            }
        }
    }
    let Some(corpus) = shared("corpus") else { return };
    let (home, mut files) = (Home::new(), Vec::new());
    collect(&corpus, &mut files);
    let args: Vec<&str> = files.iter().flat_map(|file| ["--hooks", file.to_str().unwrap()]).collect();
    let (exit, found) = plan(&home, &args);
    let hooks = found["hooks"].as_array().unwrap();
    // A file in the format of Cursor is no hooks file of these hosts.
    let cursor = files.iter().find(|file| file.ends_with("hooks-cursor.json")).unwrap();
    assert_eq!(plan(&home, &["--hooks", cursor.to_str().unwrap()]).0, 2);
    let asks = |hook: &&Value| {
        hook["handler"] != "command" && hook["event"].as_str().unwrap().starts_with("post_tool_use")
    };
    assert_eq!((exit, hooks.len(), hooks.iter().filter(asks).count()), (2, 57, 0));
    // Names in the corpus that the hosts do not know are notes with the right name.
    let notes = each(&found["notes"], "code");
    for code in [
        "hook/matcher-is-rule",
        "hook/timeout-units",
        "hook/unknown-event",
        "hook/unknown-field",
        "hook/async",
    ] {
        assert!(notes.contains(&code), "{code}: {notes:?}");
    }
}

#[test]
fn a_broken_gate_denies_in_time_and_leaves_no_process() {
    let long = json!({"tool": "Bash", "args": {"command": "x".repeat(1 << 20)}}).to_string();
    let rows: [(&str, &str, Option<&str>); 11] = [
        ("exit 1", CALL, Some("hook/exit")),
        ("./missing", CALL, Some("hook/not-found")),
        ("./not-executable", CALL, Some("hook/spawn")),
        ("sleep 99", CALL, Some("hook/timed-out")),
        ("trap '' TERM; sleep 99", CALL, Some("hook/timed-out")),
        ("kill -9 $$", CALL, Some("hook/signal")),
        ("echo x", CALL, Some("hook/bad-output")),
        ("cat /dev/zero", CALL, Some("hook/oversize")),
        ("exit 2", CALL, None),
        (r#"echo '{"action":"allow"}'; exit 2"#, CALL, None),
        ("sleep 99 # with 1 MiB of arguments", &long, Some("hook/timed-out")),
    ];
    for (exec, payload, expected) in rows {
        let home = Home::new();
        home.write("not-executable", "exit 0\n");
        home.write("f.toml", &format!(
            "[[hooks]]\nname = \"gate\"\nevent = \"pre_tool_use\"\ntimeout = \"1s\"\nexec = '''{exec}'''\n"
        ));
        let start = Instant::now();
        let (exit, report) = fire(&home, &["PreToolUse", "--hooks", "f.toml"], payload);
        // The hook would take 99 seconds. The rest of the limit is for a debug build on a busy machine.
        assert!(start.elapsed() < Duration::from_secs(8), "{exec}: {:?}", start.elapsed());
        assert_eq!((exit, &report["answer"]), (5, &json!("deny")), "{exec}: {report:#}");
        assert_eq!(report["steps"][0]["code"], json!(expected), "{exec}: {report:#}");
        let result = if expected.is_some() { "failure" } else { "deny" };
        assert_eq!(report["steps"][0]["result"], result, "{exec}: {report:#}");
        if let Some(code) = expected {
            assert!(report["reasons"][0].as_str().unwrap().contains(code), "{exec}: {report:#}");
        }
        no_process_left(&home, exec);
    }
    // A child process that keeps the pipes open does not delay the answer, and is killed.
    let home = Home::new();
    home.write("f.toml", &hook("gate", "pre_tool_use", "sleep 99 & exit 0", "timeout = \"1s\""));
    let (exit, report) = fire(&home, &["PreToolUse", "--hooks", "f.toml"], CALL);
    assert_eq!((exit, &report["steps"][0]["result"]), (0, &json!("allow")), "{report:#}");
    no_process_left(&home, "a child that holds the pipes");
}

#[test]
fn a_model_never_receives_a_secret() {
    for kind in ["github", "anthropic"] {
        let secret = secret(kind);
        let text = format!("the token is {secret}, keep it");
        let inner = json!({"deep": [text]}).to_string();
        let result = |output: Value, metadata: Value, failed: bool| {
            let result = json!({"output": output, "metadata": metadata, "failed": failed});
            json!({"tool": "Bash", "args": {"command": "ls"}, "result": result})
        };
        let mut in_args = result(json!("plain"), json!({}), false);
        in_args["args"]["command"] = json!(text);
        let payloads = [
            ("output", result(json!(text), json!({}), false)),
            ("metadata", result(json!("plain"), json!({"note": text}), false)),
            ("error text", result(json!(text), json!({}), true)),
            ("arguments", in_args),
            ("a JSON string", result(json!(inner), json!({}), false)),
            ("a JSON value", result(json!({"deep": [text]}), json!({}), false)),
        ];
        for (place, payload) in payloads {
            let home = Home::new();
            let template = "Is this fine? {{.Result}} {{.Args}}";
            home.write("f.toml", &hook("judge", "post_tool_use", template, "type = \"prompt\""));
            let handler = json!([{"type": "prompt", "prompt": "Is this fine? $ARGUMENTS"}]);
            home.write("f.json", &claude("PostToolUse", &handler));
            home.write("r", "\"ALLOW\"\n\"{\\\"ok\\\": true}\"\n");
            let args =
                ["PostToolUse", "--hooks", "f.toml", "--hooks", "f.json", "--replies", "r", "--record", "q"];
            let (exit, shown) = fire_raw(&home, &args, &payload.to_string());
            assert_eq!(exit, 0, "{kind} in {place}: {shown}");
            let asked = std::fs::read_to_string(home.path("q")).unwrap();
            assert!(asked.starts_with("{\"parts\":[{\"role\":\"system\",\"text\":"), "{asked}");
            // Claude has one event for success and one for failure, and this file asks after success only.
            assert_eq!(asked.lines().count(), if place == "error text" { 1 } else { 2 }, "{place}: {asked}");
            for said in [&shown, &asked] {
                let part = &secret[secret.len() / 2..];
                assert!(!said.contains(&secret) && !said.contains(part), "{kind} in {place}: {said}");
            }
            if place != "arguments" {
                assert!(shown.contains("[REDACTED:"), "{kind} in {place}: {shown}");
            }
            if place != "metadata" {
                assert!(asked.contains("[REDACTED:"), "{kind} in {place}: {asked}");
            }
        }
    }
}

#[test]
fn a_gate_asks_a_model_about_redacted_arguments() {
    let home = Home::new();
    let secret = secret("github");
    let call =
        json!({"tool": "Bash", "args": {"command": format!("curl -H 'Authorization: {secret}' x.org")}});
    home.write("f.toml", &hook("judge", "pre_tool_use", "{{.Args}}", "type = \"prompt\""));
    for (reply, exit, answer) in [
        ("ALLOW", 0, "allow"),
        ("DENY\\nno", 5, "deny"),
        ("{\\\"ok\\\": false}", 5, "deny"),
        ("DISALLOW", 5, "deny"),
    ] {
        home.write("r", &format!("\"{reply}\"\n"));
        let args = ["PreToolUse", "--hooks", "f.toml", "--replies", "r", "--record", "q"];
        let (code, report) = fire(&home, &args, &call.to_string());
        assert_eq!((code, &report["answer"]), (exit, &json!(answer)), "{reply}: {report:#}");
        let failed = report["steps"][0]["code"] == "hook/model";
        assert_eq!(failed, reply == "DISALLOW", "{reply}: {report:#}");
        let asked = std::fs::read_to_string(home.path("q")).unwrap();
        assert!(!asked.contains(&secret) && asked.contains("[REDACTED:"), "{asked}");
    }
    // If no reply is left, the hook fails.
    let (code, report) = fire(&home, &["PreToolUse", "--hooks", "f.toml"], CALL);
    assert_eq!((code, &report["steps"][0]["code"]), (5, &json!("hook/model")), "{report:#}");
    // An agent asks until a reply is a verdict.
    home.write("f.toml", &hook("agent", "pre_tool_use", "{{.Args}}", "type = \"agent\""));
    home.write("r", "\"let me see\"\n\"one moment\"\n\"ALLOW\"\n");
    let args = ["PreToolUse", "--hooks", "f.toml", "--replies", "r", "--record", "q"];
    assert_eq!(fire(&home, &args, &call.to_string()).0, 0);
    let asked = std::fs::read_to_string(home.path("q")).unwrap();
    assert_eq!((asked.lines().count(), asked.contains(&secret)), (3, false), "{asked}");
}

#[test]
fn only_hooks_of_the_user_see_raw_output() {
    let home = Home::new();
    let output = format!("the token is {}", secret("github"));
    // Reads the value of `output` without a JSON reader: the text has no character that JSON escapes.
    let exec = "sed 's/.*\"output\":\"//; s/\".*//' | tr -d '\\n' > \"seen-$0\"";
    home.write("f.toml", &format!(
        "[[hooks]]\nname = \"audit\"\nevent = \"post_tool_use\"\nphase = \"observe\"\nargs = [\"sh\", \"-c\", '''{exec}''', \"it\"]\n"
    ));
    let seen = |args: &[&str]| {
        let (exit, report) =
            fire(&home, &[&["PostToolUse"], args].concat(), &after_use(&json!(output), &json!({})));
        assert_eq!((exit, &report["steps"][0]["step"]), (0, &json!("observe")), "{report:#}");
        let bytes = std::fs::read(home.path("seen-it")).unwrap();
        (sha256(&bytes) == sha256(output.as_bytes()), report["steps"][0]["saw"].as_str().unwrap().to_owned())
    };
    assert_eq!(seen(&["--hooks", "f.toml"]), (true, "raw".to_owned()));
    assert_eq!(seen(&["--project-hooks", "f.toml"]), (false, "redacted".to_owned()));
    // The user's own setting shows raw output to all.
    home.write("config/config.toml", "[hooks]\nraw = \"all\"\n");
    std::fs::set_permissions(home.path("config"), std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .unwrap();
    assert_eq!(seen(&["--project-hooks", "f.toml"]), (true, "raw".to_owned()));
    let shown = || ledger(&home).into_iter().filter(|(word, _)| word == "raw_output_shown").count();
    assert_eq!(shown(), 1, "each use by a hook of the project is recorded");
    assert_eq!(seen(&["--hooks", "f.toml"]), (true, "raw".to_owned()));
    assert_eq!(shown(), 1, "the user's own hooks are not");
    let (_, all) = plan(&home, &["--project-hooks", "f.toml"]);
    assert_eq!(each(&all["hooks"], "sees"), ["raw"]);
    assert_eq!(
        seen(&["--cfg", "hooks.raw=user", "--project-hooks", "f.toml"]),
        (false, "redacted".to_owned())
    );
    // A file of the project itself is not read for it.
    home.write("config/config.toml", "");
    home.write(".plugward/config.toml", "[hooks]\nraw = \"all\"\n");
    assert_eq!(seen(&["--project-hooks", "f.toml"]), (false, "redacted".to_owned()));
    let (exit, text) =
        fire_raw(&home, &["PostToolUse", "--cfg", "hooks.raw=every", "--hooks", "f.toml"], CALL);
    assert!(exit == 2 && text.contains("expected `all` or `user`"), "{text}");
}

/// A transform that encodes the third word of the output.
const ENCODE: &str = r#"
import base64, gzip, json, sys
words = json.load(sys.stdin)["result"]["output"].split(" ")
plain = words[2].encode()
words[2] = {
    "base64": lambda: base64.b64encode(plain).decode(),
    "hex": lambda: plain.hex(),
    "percent": lambda: "".join("%%%02X" % byte for byte in plain),
    "reversed": lambda: words[2][::-1],
    "gzip": lambda: base64.b64encode(gzip.compress(plain, mtime=0)).decode(),
}[sys.argv[1]]()
print(json.dumps({"transformed": {"output": " ".join(words)}}))
open("printed", "w").write(" ".join(words))
"#;

/// The code `hook/laundered` has no message: the list `laundered` of a report has the hook and the kinds.
#[test]
fn a_transform_that_encodes_a_secret_is_caught_and_recorded() {
    if !has_python() {
        return;
    }
    for kind in ["github", "anthropic"] {
        for way in ["base64", "hex", "percent", "reversed", "gzip"] {
            let home = Home::new();
            let secret = secret(kind);
            home.write("encode.py", ENCODE);
            home.write("f.toml", &hook("encode", "post_tool_use", &format!("python3 encode.py {way}"), ""));
            let payload = after_use(&json!(format!("token is {secret} today")), &json!({}));
            let (exit, report) = fire(&home, &["PostToolUse", "--hooks", "f.toml"], &payload);
            assert_eq!(exit, 0, "{way}: {report:#}");
            assert_eq!(
                report["laundered"],
                json!([{"hook": "user:encode", "kinds": [kind]}]),
                "{way}: {report:#}"
            );
            let printed = std::fs::read_to_string(home.path("printed")).unwrap();
            let word = printed.split(' ').nth(2).unwrap();
            let text = report.to_string();
            assert!(
                !text.contains(&secret) && !text.contains(&word[word.len() / 4..word.len() / 2]),
                "{way}: {text}"
            );
            let records: Vec<_> =
                ledger(&home).into_iter().filter(|(word, _)| word == "raw_output_laundered").collect();
            assert_eq!(records.len(), 1, "{way}");
            let line = &records[0].1;
            for part in ["\"hook\":\"user:encode\"", "\"tool\":\"Bash\"", &format!("\"kinds\":[\"{kind}\"]")]
            {
                assert!(line.contains(part), "{line}");
            }
            // The same transform of harmless text passes unchanged, and nothing is recorded.
            let payload =
                after_use(&json!("token is an-ordinary-word-that-is-as-long-as-a-key today"), &json!({}));
            let (exit, report) = fire(&home, &["PostToolUse", "--hooks", "f.toml"], &payload);
            let printed = std::fs::read_to_string(home.path("printed")).unwrap();
            assert_eq!(
                (exit, &report["output"], &report["laundered"]),
                (0, &json!(printed), &json!([])),
                "{way}"
            );
            assert_eq!(ledger(&home).iter().filter(|(word, _)| word == "raw_output_laundered").count(), 1);
        }
    }
}

#[test]
fn a_rewrite_that_encodes_a_secret_shows_nothing() {
    let home = Home::new();
    let secret = secret("github");
    let exec = "sed 's/.*\"command\":\"//; s/\".*//' | tr -d '\\n' | base64 -w 0 > x\n\
                printf '{\"transformed\":{\"command\":\"%s\"}}' \"$(cat x)\"";
    home.write("f.toml", &hook("encode", "pre_tool_use", exec, ""));
    let call = json!({"tool": "Bash", "args": {"command": secret}}).to_string();
    let (exit, report) = fire(&home, &["PreToolUse", "--hooks", "f.toml"], &call);
    assert_eq!((exit, &report["steps"][0]["result"]), (0, &json!("transform")), "{report:#}");
    assert_eq!(report["args"]["command"], "[REDACTED:github]", "{report:#}");
    let encoded = std::fs::read_to_string(home.path("x")).unwrap();
    let text = report.to_string();
    assert!(encoded.len() > 40 && !text.contains(&encoded) && !text.contains(&secret), "{text}");
}

#[test]
fn a_hook_never_weakens_the_rule_of_the_host() {
    let home = Home::new();
    home.write("f.toml", &hook("yes", "pre_tool_use", "echo '{\"action\":\"allow\"}'", ""));
    for (permit, exit, answer) in [("allow", 0, "allow"), ("ask", 3, "ask"), ("deny", 5, "deny")] {
        let (code, report) = fire(&home, &["PreToolUse", "--hooks", "f.toml", "--permit", permit], CALL);
        assert_eq!((code, &report["answer"]), (exit, &json!(answer)), "{permit}");
        assert_eq!(report["steps"][0]["result"], "allow");
    }
}

#[test]
fn rewritten_arguments_are_judged_again() {
    let home = Home::new();
    let refuse = "grep -q forbidden && exit 2; exit 0";
    let rewrite = |to: &str| format!("echo '{{\"transformed\":{{\"command\":\"{to}\"}}}}'");
    let write = |to: &str| {
        let first = hook("first", "pre_tool_use", refuse, "");
        home.write("f.toml", &format!("{first}{}", hook("second", "pre_tool_use", &rewrite(to), "")));
    };
    write("echo forbidden");
    let (exit, report) = fire(&home, &["PreToolUse", "--hooks", "f.toml"], CALL);
    assert_eq!((exit, &report["answer"]), (5, &json!("deny")), "{report:#}");
    let steps: Vec<_> =
        each(&report["steps"], "hook").into_iter().zip(each(&report["steps"], "result")).collect();
    assert_eq!(steps, [("user:first", "allow"), ("user:second", "transform"), ("user:first", "deny")]);
    write("echo fine");
    let (exit, report) = fire(&home, &["PreToolUse", "--hooks", "f.toml"], CALL);
    assert_eq!((exit, &report["args"]), (0, &json!({"command": "echo fine"})), "{report:#}");
    // Arguments of another shape are not a rewrite.
    home.write("f.toml", &hook("wrong", "pre_tool_use", "echo '{\"transformed\":{\"command\":1}}'", ""));
    let (exit, report) = fire(&home, &["PreToolUse", "--hooks", "f.toml"], CALL);
    assert_eq!((exit, &report["steps"][0]["code"]), (5, &json!("hook/bad-shape")), "{report:#}");
}

#[test]
fn an_output_of_another_shape_is_withheld() {
    let home = Home::new();
    let handler = |reply: &str| json!([{"type": "command", "command": format!("echo '{reply}'")}]);
    let reply = r#"{"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": 1}}"#;
    home.write("f.json", &claude("PostToolUse", &handler(reply)));
    let payload = after_use(&json!("the output"), &json!({}));
    let (exit, report) = fire(&home, &["PostToolUse", "--hooks", "f.json"], &payload);
    assert_eq!((exit, &report["steps"][0]["code"]), (0, &json!("hook/bad-shape")), "{report:#}");
    assert_eq!(report["output"], "[REDACTED:withheld]");
    // A field that the event does not use is a note, and changes nothing.
    home.write("f.json", &claude("PostToolUse", &handler(r#"{"color": "red"}"#)));
    let (exit, report) = fire(&home, &["PostToolUse", "--hooks", "f.json"], &payload);
    assert_eq!((exit, &report["steps"][0]["code"]), (0, &json!("hook/ignored-field")), "{report:#}");
    assert_eq!(report["output"], "the output");
    // A deny after use is a skip with its reason.
    home.write("f.toml", &hook("late", "post_tool_use", "echo too late >&2; exit 2", ""));
    let (exit, report) = fire(&home, &["PostToolUse", "--hooks", "f.toml"], &payload);
    assert_eq!((exit, &report["answer"], &report["reasons"]), (0, &json!("skip"), &json!(["too late"])));
}

#[test]
fn a_changed_plugin_runs_nothing() {
    let home = Home::new();
    plugin(&home, "plugins/fmt", &runs_script("PreToolUse"), "pwd > \"$CLAUDE_PROJECT_DIR/ran\"\n");
    let args = ["PreToolUse", "--in", "plugins"];
    assert_eq!(fire(&home, &args, CALL).0, 0);
    std::fs::remove_file(home.path("ran")).unwrap();
    home.write("plugins/fmt/hooks/run.sh", "pwd > \"$CLAUDE_PROJECT_DIR/ran\" # changed\n");
    home.write("f.toml", &hook("mine", "pre_tool_use", "touch mine", ""));
    let (exit, report) = fire(&home, &[&args[..], &["--hooks", "f.toml"]].concat(), CALL);
    assert_eq!((exit, &report["refused"]), (0, &json!([{"source": "plugins/fmt", "code": "pin/changed"}])));
    assert_eq!(each(&report["steps"], "hook"), ["user:mine"], "the other sources run");
    assert!(home.path("mine").exists() && !home.path("ran").exists());
    let (exit, plan) = plan(&home, &["--in", "plugins"]);
    assert_eq!((exit, &plan["refused"], &plan["hooks"]), (0, &report["refused"], &json!([])));
    // Before it fires a new plugin is pinned as `check` pins it, and `locked` runs none.
    let home = Home::new();
    plugin(&home, "plugins/fmt", &runs_script("PreToolUse"), "touch \"$CLAUDE_PROJECT_DIR/ran\"\n");
    let (_, report) = fire(&home, &["PreToolUse", "--in", "plugins", "--trust", "locked"], CALL);
    assert_eq!(each(&report["refused"], "source"), ["plugins/fmt"], "{report:#}");
    assert!(!home.path("ran").exists());
}

#[test]
fn a_plugin_runs_from_a_private_directory_that_is_gone_afterwards() {
    let home = Home::new();
    let script = "printf '%s\\n' \"$CLAUDE_PLUGIN_ROOT\" \"$CLAUDE_PLUGIN_DATA\" > \"$CLAUDE_PROJECT_DIR/where\"\n\
                  ls -ld \"$CLAUDE_PLUGIN_ROOT\" >> \"$CLAUDE_PROJECT_DIR/where\"\n\
                  touch \"$CLAUDE_PLUGIN_DATA/kept\"\ncat \"$CLAUDE_PLUGIN_ROOT/hooks/run.sh\" > \"$CLAUDE_PROJECT_DIR/copy\"\n";
    plugin(&home, "plugins/fmt", &runs_script("PreToolUse"), script);
    let (exit, report) = fire(&home, &["PreToolUse", "--in", "plugins"], CALL);
    assert_eq!((exit, &report["steps"][0]["saw"]), (0, &json!("redacted")), "{report:#}");
    let text = std::fs::read_to_string(home.path("where")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let real = |name: &str| home.path(name).canonicalize().unwrap();
    assert!(Path::new(lines[0]).starts_with(real("state/sealed")), "{text}");
    assert!(lines[2].starts_with("dr-x------"), "{text}");
    assert_eq!(std::fs::read_to_string(home.path("copy")).unwrap(), script);
    assert!(!Path::new(lines[0]).exists() && Path::new(lines[1]).join("kept").exists(), "{text}");
    assert_eq!(std::fs::read_dir(home.path("state/sealed")).unwrap().count(), 0);
    // Also after a gate that failed.
    plugin(&home, "more/bad", &runs_script("PreToolUse"), "exit 1\n");
    assert_eq!(fire(&home, &["PreToolUse", "--in", "more"], CALL).0, 5);
    assert_eq!(std::fs::read_dir(home.path("state/sealed")).unwrap().count(), 0);
}

#[test]
fn a_plugin_whose_copy_cannot_be_written_does_not_run() {
    let home = Home::new();
    plugin(&home, "plugins/fmt", &runs_script("PreToolUse"), "touch \"$CLAUDE_PROJECT_DIR/ran\"\n");
    assert_eq!(code(&home.run(&["check", "plugins"])), 0);
    // The directory for the plugin's data cannot be created. A gate that cannot run denies.
    home.write("state/plugin-data", "a file\n");
    let (exit, report) = fire(&home, &["PreToolUse", "--in", "plugins"], CALL);
    assert_eq!((exit, &report["steps"][0]["code"]), (5, &json!("hook/seal")), "{report:#}");
    let (_, text) = fire_raw(&home, &["PreToolUse", "--in", "plugins"], CALL);
    assert!(text.contains("warning: ") && text.contains("(hook/seal)"), "{text}");
    assert!(!home.path("ran").exists());
    assert_eq!(std::fs::read_dir(home.path("state/sealed")).unwrap().count(), 0);
}

/// Hooks in the form of official plugins: an output style that adds context, and a gate without an opinion.
#[test]
fn context_of_a_session_start_is_reported() {
    let home = Home::new();
    let reply = json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "Explain choices."}});
    plugin(
        &home,
        "plugins/style",
        &runs_script("SessionStart").replace(",\"matcher\":\"Bash\"", ""),
        &format!("cat << 'EOF'\n{reply}\nEOF\nexit 0\n"),
    );
    plugin(&home, "plugins/gate", &runs_script("PreToolUse"), "cat > /dev/null\necho '{}'\nexit 0\n");
    let (exit, report) =
        fire(&home, &["SessionStart", "--in", "plugins"], r#"{"data":{"source":"startup"}}"#);
    assert_eq!((exit, &report["context"]), (0, &json!(["Explain choices."])), "{report:#}");
    assert_eq!(each(&report["steps"], "hook"), ["plugins/style:SessionStart.1"]);
    let (exit, report) = fire(&home, &["PreToolUse", "--in", "plugins"], CALL);
    assert_eq!((exit, &report["answer"]), (0, &json!("allow")), "{report:#}");
}

#[test]
fn a_gate_that_cannot_run_costs_its_source() {
    let home = Home::new();
    let handlers =
        json!([{"type": "http", "url": "https://example.org"}, {"type": "command", "command": "touch good"}]);
    home.write("bad.json", &claude("PreToolUse", &handlers));
    home.write("f.toml", &hook("mine", "pre_tool_use", "touch mine", ""));
    for args in
        [&["hook", "plan", "--hooks", "bad.json"][..], &["hook", "fire", "PreToolUse", "--hooks", "bad.json"]]
    {
        let output = with_input(plugward(&home, args), CALL);
        let text = said(&output);
        assert_eq!(code(&output), 2, "{args:?}: {text}");
        assert!(text.contains("hook/unsupported") && text.contains("bad.json:1:35"), "{args:?}: {text}");
        assert!(text.contains("help: use a command, prompt or agent hook"), "{args:?}: {text}");
    }
    assert!(!home.path("good").exists());
    let args = ["PreToolUse", "--hooks", "f.toml", "--project-hooks", "bad.json"];
    let (exit, report) = fire(&home, &args, CALL);
    assert_eq!((exit, &report["refused"]), (0, &json!([{"source": "project", "code": "hook/unsupported"}])));
    assert!(home.path("mine").exists() && !home.path("good").exists());
    assert_eq!(plan(&home, &args[1..]).0, 0);
    // On an event that decides nothing, the entry alone is lost.
    home.write("bad.json", &claude("PostToolUse", &handlers));
    let (exit, plan) = plan(&home, &["--hooks", "bad.json"]);
    assert_eq!((exit, each(&plan["hooks"], "id")), (0, vec!["user:PostToolUse.2"]), "{plan:#}");
    assert_eq!(each(&plan["notes"], "code"), ["hook/unsupported"]);
}

#[test]
fn a_payload_that_is_not_one_ends_before_anything_runs() {
    let home = Home::new();
    home.write("f.toml", &hook("mine", "pre_tool_use", "touch ran", ""));
    home.good();
    let secret = secret("github");
    let huge = json!({"tool": "Bash", "args": {"command": "x".repeat(16 << 20)}}).to_string();
    let deep = format!("{{\"tool\":\"Bash\",\"args\":{{\"a\":{}{}}}}}", "[".repeat(128), "]".repeat(128));
    let rows = [
        ("", "no payload on standard input"),
        ("ls", "line 1, column 1"),
        ("[]", "expected an object"),
        (r#"{"tool":"Bash","args":{}} {}"#, "line 1, column 27"),
        (r#"{"tool":"Bash","args":{},"result":{}}"#, "expected only `tool`, `args`"),
        (r#"{"tool":"Bash"}"#, "expected the key `args`"),
        (r#"{"tool":7,"args":{}}"#, "`tool` as a string"),
        (r#"{"tool":"Bash","args":[]}"#, "`args` as an object"),
        (r#"{"data":{}}"#, "expected only `tool`, `args`"),
        (&format!(r#"{{"tool":"Bash","args":{{"{secret}":1,"{secret}":2}}}}"#), "each key once"),
        (&huge, "16777216 bytes"),
        (&deep, "128"),
    ];
    for (payload, expected) in rows {
        let args = ["PreToolUse", "--hooks", "f.toml", "--in", "plugins", "--record", "q"];
        let (exit, text) = fire_raw(&home, &args, payload);
        assert_eq!(exit, 2, "{expected}: {text}");
        assert!(
            text.contains("hook/payload")
                && text.split_whitespace().collect::<Vec<_>>().join(" ").contains(expected),
            "{expected}: {text}"
        );
        assert!(text.contains("help: ") && !text.contains(&secret), "{text}");
    }
    for name in ["ran", "state", "config", "q"] {
        assert!(!home.path(name).exists(), "{name}");
    }
    let rows = [
        ("PostToolUse", CALL, "expected the key `result`"),
        ("PostToolUse", r#"{"tool":"Bash","args":{},"result":{}}"#, "`result.output`"),
        (
            "PostToolUse",
            r#"{"tool":"Bash","args":{},"result":{"output":"x","exit":1}}"#,
            "expected only `output`",
        ),
        ("SessionStart", CALL, "expected only `data`"),
        ("Stop", r#"{"data":[]}"#, "`data` as an object"),
    ];
    for (event, payload, expected) in rows {
        let (exit, text) = fire_raw(&home, &[event, "--hooks", "f.toml"], payload);
        assert!(
            exit == 2
                && text.contains("hook/payload")
                && text.split_whitespace().collect::<Vec<_>>().join(" ").contains(expected),
            "{event}: {text}"
        );
    }
}

#[test]
fn limits_of_a_hooks_file_are_named_with_their_place() {
    let home = Home::new();
    let many =
        |count: usize| (0..count).map(|n| hook(&format!("h{n}"), "stop", "true", "")).collect::<String>();
    let deep = |depth: usize| {
        format!(
            "{{\"hooks\":{{\"Stop\":[{{\"hooks\":[{{\"type\":\"command\",\"command\":\"x\",\"more\":{}{}}}]}}]}}}}",
            "[".repeat(depth),
            "]".repeat(depth)
        )
    };
    home.write("twice.json", "{\"hooks\": {\n  \"Stop\": [],\n  \"Stop\": []}}\n");
    home.write("twice.toml", "[[hooks]]\nname = \"a\"\nname = \"b\"\n");
    home.write("large.toml", &format!("# {}\n", "x".repeat(1 << 20)));
    home.write("large.json", &format!("{{}}{}", " ".repeat(1 << 20)));
    home.write("deep.json", &deep(11));
    home.write("many.toml", &many(1001));
    home.write("broken.json", "{\"hooks\": {\n");
    home.write("broken.toml", "[[hooks]\n");
    let rows = [
        ("twice.json", "twice.json:3:3", "each key once"),
        ("twice.toml", "twice.toml:3:1", "each key once"),
        ("large.toml", "large.toml:1:1048577", "at most 1048576 bytes"),
        ("large.json", "large.json:1:1048577", "at most 1048576 bytes"),
        ("deep.json", "deep.json:1:", "at most 16 nested lists and objects"),
        ("many.toml", "many.toml:5004:8", "at most 1000 hooks, got 1001"),
        ("broken.json", "broken.json:2:1", ""),
        ("broken.toml", "broken.toml:1:", ""),
    ];
    for (file, place, limit) in rows {
        for args in [&["hook", "plan", "--hooks", file][..], &["hook", "fire", "Stop", "--hooks", file]] {
            let output = with_input(plugward(&home, args), "{\"data\":{}}");
            let text = said(&output).split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(code(&output), 2, "{file}: {text}");
            assert!(
                text.contains("hook/config-syntax") && text.contains(place) && text.contains(limit),
                "{file}: {text}"
            );
        }
        assert_eq!(plan(&home, &["--project-hooks", file]).0, 0, "{file} of a project costs itself");
    }
    home.write("many.toml", &many(1000));
    home.write("deep.json", &deep(10));
    assert_eq!(plan(&home, &["--hooks", "many.toml"]).1["hooks"].as_array().unwrap().len(), 1000);
    assert_eq!(plan(&home, &["--hooks", "deep.json"]).0, 0);
}

/// Each code of a definition, with an entry that has it on an event that decides nothing.
#[test]
fn a_bad_definition_costs_its_entry() {
    let home = Home::new();
    let entry = |more: &str| {
        format!(
            "[[hooks]]\nname = \"bad\"\nevent = \"post_tool_use\"\n{more}\n{}",
            hook("good", "post_tool_use", "true", "")
        )
    };
    for (code, more) in [
        ("hook/bad-timeout", "exec = \"true\"\ntimeout = \"30\""),
        ("hook/pattern", "exec = \"true\"\ntool_pattern = \"[a\""),
        ("hook/on-failure", "exec = \"true\"\non_failure = \"ignore\""),
        ("hook/unknown-type", "exec = \"true\"\ntype = \"magic\""),
        ("hook/field", "exec = \"true\"\nphase = \"late\""),
        ("hook/field", "priority = 1"),
    ] {
        home.write("f.toml", &entry(more));
        check_entry(&home, "f.toml", code, "user:good");
        home.write("g.toml", &entry(more).replace("post_tool_use", "pre_tool_use"));
        let (exit, plan) = plan(&home, &["--project-hooks", "f.toml", "--hooks", "g.toml"]);
        assert_eq!((exit, each(&plan["refused"], "code")), (2, vec![code]), "{more}: {plan:#}");
        assert_eq!(each(&plan["hooks"], "id"), ["project:good"], "{more}");
    }
    for (code, bad) in [
        ("hook/matcher", json!({"matcher": "(?=x)", "hooks": [{"type": "command", "command": "a"}]})),
        ("hook/unsupported", json!({"hooks": [{"type": "mcp_tool"}]})),
        (
            "hook/user-config-in-shell",
            json!({"hooks": [{"type": "command", "command": "echo ${user_config.token}"}]}),
        ),
    ] {
        let good = json!({"hooks": [{"type": "command", "command": "true"}]});
        home.write("f.json", &json!({"hooks": {"PostToolUse": [bad, good]}}).to_string());
        check_entry(&home, "f.json", code, "user:PostToolUse.2");
    }
}

#[track_caller]
fn check_entry(home: &Home, file: &str, code: &str, good: &str) {
    let (exit, plan) = plan(home, &["--hooks", file]);
    assert_eq!((exit, each(&plan["hooks"], "id")), (0, vec![good]), "{code}: {plan:#}");
    assert_eq!(each(&plan["notes"], "code"), [code], "{plan:#}");
    let place: Vec<&str> = plan["notes"][0]["at"].as_str().unwrap().split(':').collect();
    let is_number = |text: &&str| text.parse::<u32>().is_ok_and(|number| number > 0);
    assert!(place.len() == 3 && place[0] == file && place[1..].iter().all(is_number), "{place:?}");
    assert_ne!(plan["notes"][0]["help"], "");
}

#[test]
fn notes_say_what_to_write_instead() {
    let home = Home::new();
    let command = |more: Value| {
        let mut handler = json!({"type": "command", "command": "true"});
        handler.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([handler])
    };
    let rows = [
        (
            "hook/matcher-is-rule",
            "PreToolUse",
            "Write(docs/**)",
            json!({}),
            "write the tool's name as the matcher",
        ),
        (
            "hook/timeout-units",
            "PreToolUse",
            "Bash",
            json!({"timeout": 30000}),
            "write seconds, not milliseconds",
        ),
        ("hook/timeout-capped", "PreToolUse", "Bash", json!({"timeout": 601}), "write at most 600 seconds"),
        ("hook/never-fires", "Stop", "", json!({"if": "Bash(git:*)"}), "remove `if`"),
        ("hook/matcher-ignored", "Stop", "Bash", json!({}), "remove the matcher"),
        ("hook/async", "PostToolUse", "Bash", json!({"async": true}), "nothing: "),
        ("hook/unknown-field", "PostToolUse", "Bash", json!({"color": "red"}), "remove the field"),
    ];
    for (code, event, matcher, more, help) in rows {
        let text = json!({"hooks": {event: [{"matcher": matcher, "hooks": command(more)}]}}).to_string();
        home.write("f.json", &text);
        let (exit, plan) = plan(&home, &["--hooks", "f.json"]);
        assert_eq!((exit, each(&plan["notes"], "code")), (0, vec![code]), "{plan:#}");
        assert!(plan["notes"][0]["help"].as_str().unwrap().starts_with(help), "{plan:#}");
        let shown = home.shown(&["hook", "plan", "--hooks", "f.json"]);
        assert!(shown.contains(code) && shown.contains("help: "), "{shown}");
    }
    for (code, text) in [
        ("hook/empty", json!({"permissions": {}})),
        (
            "hook/disabled",
            json!({"disableAllHooks": true, "hooks": {"Stop": [{"hooks": command(json!({}))}]}}),
        ),
    ] {
        home.write("f.json", &text.to_string());
        let (exit, plan) = plan(&home, &["--hooks", "f.json"]);
        assert_eq!((exit, each(&plan["notes"], "code").contains(&code)), (0, true), "{plan:#}");
        assert_eq!(plan["hooks"], json!([]));
    }
    // Near misses.
    let fine = json!({"hooks": {
        "PreToolUse": [{"matcher": "(Write|Edit)", "hooks": command(json!({"timeout": 600, "if": "Write(docs/**)"}))}],
        "Stop": [{"matcher": "", "hooks": command(json!({"async": false, "statusMessage": "wait"}))}],
    }});
    home.write("f.json", &fine.to_string());
    assert_eq!(plan(&home, &["--hooks", "f.json"]).1["notes"], json!([]));
}

/// A guard that is dropped must not look like an answer.
#[test]
fn a_misspelled_guard_costs_its_file() {
    let home = Home::new();
    let toml = |table: &str, event: &str| {
        format!("[[{table}]]\nname = \"guard\"\nevent = \"{event}\"\ntype = \"command\"\nexec = \"exit 2\"\n")
    };
    let json = |event: &str| claude(event, &json!([{"type": "command", "command": "exit 2"}]));
    let usable = hook("good", "pre_tool_use", "true", "");
    let refused = [
        ("a.toml", toml("hook", "pre_tool_use"), "hook/unknown-table"),
        ("a.toml", format!("{usable}[guards]\nx = 1\n"), "hook/unknown-table"),
        ("a.toml", toml("hooks", "pre_tool_uze"), "hook/unknown-event"),
        ("a.toml", toml("hooks", "elsewhere"), "hook/unknown-event"),
        ("a.json", json("PreToolUze"), "hook/unknown-event"),
        ("a.json", json("preToolUse"), "hook/unknown-event"),
        ("a.json", json("SomethingNew"), "hook/none-usable"),
        (
            "a.json",
            claude("PostToolUse", &json!([{"type": "http", "url": "https://example.org"}])),
            "hook/none-usable",
        ),
    ];
    for (file, text, code) in refused {
        home.write(file, &text);
        for verb in [&["hook", "fire", "PreToolUse"][..], &["hook", "plan"]] {
            let output = with_input(plugward(&home, &[verb, &["--hooks", file]].concat()), CALL);
            assert_eq!(output.status.code(), Some(2), "{verb:?} {text}: {}", said(&output));
            assert!(said(&output).contains(code), "{verb:?} {text}: {}", said(&output));
        }
    }
    // Both spellings of an event count in every file, and other keys of settings and events of newer hosts are no mistake.
    let mixed = json!({"permissions": {}, "hooks": {
        "SomethingNew": [{"hooks": [{"type": "command", "command": "true"}]}],
        "PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}],
    }});
    let denied = [
        ("b.toml", toml("hooks", "PreToolUse")),
        ("b.toml", toml("hooks", "pre_tool_use")),
        ("b.json", json("pre_tool_use")),
        ("b.json", mixed.to_string()),
    ];
    for (file, text) in denied {
        home.write(file, &text);
        let (exit, report) = fire(&home, &["PreToolUse", "--hooks", file, "--format", "json"], CALL);
        assert_eq!((exit, &report["answer"]), (5, &json!("deny")), "{text}: {report:#}");
    }
    // No entries at all are none that were dropped.
    for (file, text) in
        [("c.toml", ""), ("c.toml", "title = \"none\"\n"), ("c.json", "{}"), ("c.json", "{\"hooks\":{}}")]
    {
        home.write(file, text);
        let (exit, report) = fire(&home, &["PreToolUse", "--hooks", file], CALL);
        assert_eq!((exit, &report["answer"]), (0, &json!("allow")), "{text}: {report:#}");
    }
}

#[test]
fn a_denied_stop_makes_the_agent_go_on() {
    let home = Home::new();
    home.write("f.toml", &hook("go-on", "stop", "exit 2", ""));
    let (exit, report) = fire(&home, &["Stop", "--hooks", "f.toml"], r#"{"data":{}}"#);
    assert_eq!((exit, &report["answer"]), (5, &json!("deny")), "{report:#}");
    // A failing gate would make the agent continue, so a failure does not count.
    home.write("f.toml", &hook("broken", "stop", "exit 1", ""));
    let (exit, report) = fire(&home, &["Stop", "--hooks", "f.toml"], r#"{"data":{}}"#);
    assert_eq!((exit, &report["steps"][0]["code"]), (0, &json!("hook/exit")), "{report:#}");
}

#[test]
fn a_granted_hook_sees_raw_output_and_each_use_is_recorded_first() {
    let home = Home::new();
    let output = format!("the token is {}", secret("github"));
    plugin(
        &home,
        "plugins/audit",
        &runs_script("PostToolUse"),
        "cat > \"$CLAUDE_PROJECT_DIR/seen\"\n\
        cp \"$CLAUDE_PROJECT_DIR/state/ledger.jsonl\" \"$CLAUDE_PROJECT_DIR/during\"\n",
    );
    let payload = after_use(&json!(output), &json!({}));
    let args = ["PostToolUse", "--in", "plugins"];
    let saw = || {
        let (exit, report) = fire(&home, &args, &payload);
        assert_eq!(exit, 0, "{report:#}");
        let seen = std::fs::read_to_string(home.path("seen")).unwrap();
        (report["steps"][0]["saw"].as_str().unwrap().to_owned(), seen.contains(&output))
    };
    assert_eq!(saw(), ("redacted".to_owned(), false));
    let place = home.path("plugins/audit").canonicalize().unwrap();
    let grant = |plugin: &str, hook: &str, tool: &str| {
        home.write(
            "config/config.toml",
            &format!(
                "[hooks]\ngrants = [{{ plugin = \"{plugin}\", hook = \"{hook}\", tools = [\"{tool}\"] }}]\n"
            ),
        );
        std::fs::set_permissions(home.path("config"), std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .unwrap();
    };
    let key = format!("path:{}", place.display());
    grant(&key, "PostToolUse.1", "Bash");
    let (_, shown) = plan(&home, &["--in", "plugins"]);
    assert_eq!(each(&shown["hooks"], "sees"), ["raw"], "a plan marks every hook that sees raw output");
    assert_eq!(saw(), ("raw".to_owned(), true));
    let words: Vec<String> = ledger(&home).into_iter().map(|(word, _)| word).collect();
    let place_of =
        |word: &str| words.iter().position(|own| own == word).unwrap_or_else(|| panic!("{word}: {words:?}"));
    assert!(place_of("capability_minted") < place_of("capability_used"), "{words:?}");
    assert!(place_of("capability_used") < place_of("capability_use_ended"), "{words:?}");
    let during = std::fs::read_to_string(home.path("during")).unwrap();
    assert!(
        during.contains("\"capability_used\"") && !during.contains("\"capability_use_ended\""),
        "{during}"
    );
    assert!(!during.contains(&output), "the ledger has no output");
    // Another tool, another hook, and another plugin are not granted anything.
    for (plugin, hook, tool) in [
        (key.as_str(), "PostToolUse.1", "Write"),
        (&key, "PostToolUse.2", "Bash"),
        (&format!("{key}-2"), "PostToolUse.1", "Bash"),
    ] {
        grant(plugin, hook, tool);
        assert_eq!(saw(), ("redacted".to_owned(), false), "{plugin} {hook} {tool}");
    }
    grant("audit", "PostToolUse.1", "Bash");
    let (exit, text) = fire_raw(&home, &args, &payload);
    assert!(exit == 2 && text.contains("policy/settings") && text.contains("plugward info DIR"), "{text}");
}

#[test]
fn a_grant_whose_use_cannot_be_recorded_shows_nothing() {
    let home = Home::new();
    let output = format!("the token is {}", secret("github"));
    plugin(&home, "plugins/audit", &runs_script("PostToolUse"), "cat > \"$CLAUDE_PROJECT_DIR/seen\"\n");
    let place = home.path("plugins/audit").canonicalize().unwrap();
    home.write(
        "config/config.toml",
        &format!(
            "[hooks]\ngrants = [{{ plugin = \"path:{}\", hook = \"PostToolUse.1\", tools = [\"Bash\"] }}]\n",
            place.display()
        ),
    );
    std::fs::set_permissions(home.path("config"), std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .unwrap();
    // The hook of the user runs first, after the grant was recorded.
    home.write(
        "f.toml",
        &hook(
            "first",
            "post_tool_use",
            "mv state/ledger.jsonl aside; cp aside state/ledger.jsonl",
            "phase = \"observe\"",
        ),
    );
    let payload = after_use(&json!(output), &json!({}));
    let (exit, text) = fire_raw(&home, &["PostToolUse", "--in", "plugins", "--hooks", "f.toml"], &payload);
    assert!(text.contains("hook/raw-unrecorded"), "{exit}: {text}");
    assert!(!text.contains(&output), "{text}");
    assert!(!std::fs::read_to_string(home.path("seen")).unwrap().contains(&output));
}

#[test]
fn a_command_line_without_a_source_names_the_options() {
    let home = Home::new();
    for args in [&["hook", "plan"][..], &["hook", "plan", "PreToolUse"], &["hook", "fire", "PreToolUse"]] {
        let shown = home.shown(args);
        assert!(shown.ends_with("exit 2\n"), "{shown}");
        for option in ["--in DIR", "--hooks FILE", "--project-hooks FILE"] {
            assert!(shown.contains(option), "{shown}");
        }
    }
    let shown = home.shown(&["hook", "plan", "pre_tol_use", "--hooks", "f.toml"]);
    assert!(shown.contains("hook/event") && shown.contains("did you mean `pre_tool_use`?"), "{shown}");
    for args in [
        &["hook", "plan", "--hooks", "missing.toml"][..],
        &["hook", "plan", "--hooks", "hooks.yaml"],
        &["hook", "plan", "--in", "missing"],
    ] {
        assert!(home.shown(args).ends_with("exit 2\n"), "{args:?}");
    }
    home.write("f.toml", &hook("x", "pre_tool_use", "true", ""));
    home.write("r", "not a string\n");
    let (exit, text) = fire_raw(&home, &["PreToolUse", "--hooks", "f.toml", "--replies", "r"], CALL);
    assert!(exit == 2 && text.contains("r:1:"), "{text}");
    assert!(!home.path("state").exists());
}

#[test]
fn an_unreadable_store_is_exit_7() {
    let home = Home::new();
    plugin(&home, "plugins/fmt", &runs_script("PreToolUse"), "touch \"$CLAUDE_PROJECT_DIR/ran\"\n");
    assert_eq!(code(&home.run(&["check", "plugins"])), 0);
    home.write("state/ledger.jsonl", "not a record\n");
    let (exit, text) = fire_raw(&home, &["PreToolUse", "--in", "plugins"], CALL);
    assert_eq!(exit, 7, "{text}");
    assert!(!home.path("ran").exists());
}

#[test]
fn a_plan_is_a_table_for_people() {
    let home = Home::new();
    plugin(
        &home,
        "plugins/fmt",
        &claude("PreToolUse", &json!([{"type": "command", "command": "sh pre.sh", "timeout": 60}])),
        "",
    );
    home.write("plugins/fmt/pre.sh", "exit 0\n");
    let guard = hook("guard", "pre_tool_use", "sh guard.sh", "tool_pattern = \"Bash\"");
    let judge = hook("judge", "post_tool_use", "Is {{.Result}} fine?", "type = \"prompt\"");
    let audit = hook("audit", "post_tool_use", "sha256sum", "phase = \"observe\"");
    home.write("hooks.toml", &format!("{judge}{guard}{audit}"));
    home.write("project.toml", &hook("late", "post_tool_use", "exit 0", "priority = 5"));
    home.write("broken.toml", &hook("x", "stop", "true", "type = \"http\""));
    let story = [
        home.shown(&["hook", "plan", "pre_tool_use", "--in", "plugins", "--hooks", "hooks.toml"]),
        home.shown(&[
            "hook",
            "plan",
            "--hooks",
            "hooks.toml",
            "--project-hooks",
            "project.toml",
            "--project-hooks",
            "broken.toml",
        ]),
        home.shown(&["hook", "plan", "SessionStart", "--hooks", "hooks.toml"]),
    ];
    let readme =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    let table = story[0].strip_suffix("exit 0\n").unwrap();
    assert!(readme.contains(table), "README.md does not show what the command prints");
    insta::assert_snapshot!("plan", story.join("\n"));
}

#[test]
fn long_ids_and_commands_have_lines_of_their_own() {
    let home = Home::new();
    let long =
        "sh -c 'a-program-with-a-long-name --and --many --options that do not fit in the line of a table'";
    plugin(
        &home,
        "plugins/a-plugin-with-a-very-long-name",
        &claude("PreToolUse", &json!([{"type": "command", "command": long}])),
        "",
    );
    home.write("hooks.toml", &hook("guard", "pre_tool_use", "true", "timeout = \"1500ms\""));
    insta::assert_snapshot!(
        "plan_long",
        home.shown(&["hook", "plan", "--in", "plugins", "--hooks", "hooks.toml"])
    );
}

#[test]
fn help_of_both_verbs() {
    let home = Home::new();
    insta::assert_snapshot!("hook_plan_help", home.shown(&["hook", "plan", "--help"]));
    insta::assert_snapshot!("hook_fire_help", home.shown(&["hook", "fire", "--help"]));
}

#[test]
fn an_answer_is_json_for_machines() {
    let home = Home::new();
    home.write("hooks.toml", &hook("guard", "pre_tool_use", "echo 'no writes today' >&2; exit 2", ""));
    let output = with_input(plugward(&home, &["hook", "fire", "PreToolUse", "--hooks", "hooks.toml"]), CALL);
    assert_eq!((code(&output), output.stderr.len()), (5, 0));
    insta::assert_snapshot!("fire", String::from_utf8(output.stdout).unwrap());
}

/// A host's rule that allows everything.
struct AllowAll;

impl PermissionRule for AllowAll {
    fn answer(&self, _: &GateCall) -> Answer {
        Answer::Allow
    }
}

/// A model that cannot be reached.
struct NoReply;

impl Transport for NoReply {
    fn send(&self, _: &ModelRequest) -> Result<Raw<String>, TransportError> {
        Err(TransportError::new(TransportErrorKind::Unreachable))
    }
}

/// What only hosts that embed the crates can see: `hook fire` has everything that a hook needs, starts outside of
/// agents, and counts no stops.
#[test]
fn codes_of_hosts_that_embed_the_crates() {
    let plan = |kind: &str, event: &str| {
        let mut plan = Plan::builder(RawOutput::ManagedAndUser);
        let text = hook("x", event, "exit 2", &format!("type = \"{kind}\""));
        plan.file(Scope::User, Dialect::Gnoma, "hooks.toml", text.as_bytes());
        plan.build()
    };
    let firewall = Arc::new(Firewall::new(RuleSelection::all(), Settings::reference()).unwrap());
    let bare = || HookServices::new(Arc::clone(&firewall), Arc::new(AllowAll));
    let model = || Arc::new(SafeProvider::new(Arc::clone(&firewall), NoReply));
    for (kind, services, code) in [
        ("command", bare(), "hook/no-starter"),
        ("prompt", bare(), "hook/no-model"),
        ("agent", bare().model(model()), "hook/no-agent"),
    ] {
        let error = Dispatcher::new(plan(kind, "stop"), services).unwrap_err();
        assert_eq!((error.code(), error.hook()), (code, "user:x"));
        assert_ne!(error.help(), "");
    }
    let at = |nesting: Nesting, stop_denials: u32| FireContext {
        directory: "/".to_owned(),
        project: "/".to_owned(),
        env: std::env::vars().filter(|(name, _)| name == "PATH").collect(),
        granted_env: BTreeSet::new(),
        session: "1".to_owned(),
        transcript: None,
        permission_mode: "default".to_owned(),
        nesting,
        stop_denials,
    };
    let call = |event: Event| GateCall::data(event, json!({}));
    let dispatcher = Dispatcher::new(plan("prompt", "pre_compact"), bare().model(model())).unwrap();
    let report = dispatcher.gate(&call(Event::PreCompact), &at(Nesting::InsideAgentHook, 0));
    assert_eq!((report.hooks.answer, report.hooks.steps[0].code), (Answer::Deny, Some("hook/depth")));
    let dispatcher = Dispatcher::new(plan("command", "stop"), bare().start(Arc::new(StartDirectly))).unwrap();
    for (before, answer, code) in [(7, Answer::Deny, None), (8, Answer::Allow, Some("hook/stop-loop"))] {
        let report = dispatcher.gate(&call(Event::Stop), &at(Nesting::Outside, before));
        assert_eq!((report.hooks.answer, report.hooks.steps[0].code), (answer, code));
    }
}

#[test]
fn an_interrupt_ends_the_hook_and_removes_the_private_copy() {
    let home = Home::new();
    home.write("plugins/p/.claude-plugin/plugin.json", "{\"name\": \"p\", \"version\": \"1.0.0\"}");
    let started = "{ echo $$ > \"$CLAUDE_PROJECT_DIR/pid\"; exec sleep 60; }";
    let hooks = claude("PreToolUse", &json!([{"type": "command", "command": started}]));
    home.write("plugins/p/hooks/hooks.json", &hooks);
    let mut child = plugward(&home, &["hook", "fire", "PreToolUse", "--in", "plugins"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(CALL.as_bytes()).unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    let pid = loop {
        let text = std::fs::read_to_string(home.path("pid")).unwrap_or_default();
        if let Ok(pid) = text.trim().parse::<u32>() {
            break pid;
        }
        assert!(Instant::now() < until, "the hook did not start");
        std::thread::yield_now();
    };
    let own = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(own, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let is_alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
    };
    while is_alive() {
        assert!(Instant::now() < until, "the hook is still running");
        std::thread::yield_now();
    }
    let left: Vec<_> = std::fs::read_dir(home.path("state/sealed")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_deny_stays_one_if_its_report_cannot_be_written() {
    let home = Home::new();
    home.write("f.toml", &hook("g", "pre_tool_use", "exit 2", ""));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = plugward(&home, &["hook", "fire", "PreToolUse", "--hooks", "f.toml"]);
    command.stdout(full);
    assert_eq!(code(&with_input(command, CALL)), 5);
}

#[test]
fn a_directory_without_plugins_ends_a_firing() {
    let home = Home::new();
    std::fs::create_dir(home.path("empty")).unwrap();
    let output = with_input(plugward(&home, &["hook", "fire", "Stop", "--in", "empty"]), "{\"data\":{}}");
    assert_eq!(code(&output), 2);
    assert!(said(&output).contains("no plugin in empty"), "{}", said(&output));
}

#[test]
fn an_empty_payload_gets_an_example_that_works() {
    let home = Home::new();
    for event in
        ["PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionStart", "PermissionDenied"]
    {
        home.write("f.json", "{\"hooks\": {}}");
        let fire =
            |input: &str| with_input(plugward(&home, &["hook", "fire", event, "--hooks", "f.json"]), input);
        let empty = fire("\n");
        assert_eq!(code(&empty), 2);
        let text = said(&empty);
        let (_, example) = text.split_once(" = example: ").unwrap();
        let output = fire(example.lines().next().unwrap());
        assert_eq!(code(&output), 0, "{event}: {}", said(&output));
    }
}

/// A hook of a plugin with an entry has what is granted. Without one it has the access of the user, as before.
#[test]
#[cfg(target_os = "linux")]
fn a_hook_has_the_access_of_its_plugin() {
    let home = Home::new();
    if code(&home.run(&["doctor", "--require"])) != 0 {
        assert!(std::env::var_os("PLUGWARD_PEERS").is_none_or(|value| value != "require"));
        return;
    }
    // It formats a file of the project, stores its state, and tries to read a file of the user.
    let script = "cd \"$CLAUDE_PROJECT_DIR\" && printf formatted > code.txt\nprintf x > \"$CLAUDE_PLUGIN_DATA/state\"\n\
                  cat \"$CLAUDE_PROJECT_DIR/../notes/file\" > \"$CLAUDE_PLUGIN_DATA/found\" 2>/dev/null\ncd / && exit 2\n";
    plugin(&home, "project/plugins/format", &runs_script("PreToolUse"), script);
    home.write("notes/file", "notes");
    home.write("project/code.txt", "raw");
    let run = |flags: &[&str]| {
        home.write("project/code.txt", "raw");
        let args = [&["hook", "fire", "PreToolUse", "--in", "plugins"], flags].concat();
        let mut command = plugward(&home, &args);
        command.current_dir(home.path("project"));
        let output = with_input(command, CALL);
        let data = home.path("state/plugin-data");
        let data = std::fs::read_dir(data).unwrap().next().unwrap().unwrap().path();
        let text = |path: PathBuf| std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(text(data.join("state")), "x", "{}", said(&output));
        (code(&output), text(home.path("project/code.txt")), text(data.join("found")), said(&output))
    };
    let shown = |ran: (i32, String, String, String)| (ran.0, ran.1, ran.2);
    let expected = |exit, code: &str, found: &str| (exit, code.to_owned(), found.to_owned());
    assert_eq!(shown(run(&[])), expected(5, "formatted", "notes"));
    assert_eq!(shown(run(&["--cfg", "launch.access=none"])), expected(5, "raw", ""));
    let key = format!("path:{}", home.path("project/plugins/format").canonicalize().unwrap().display());
    let project = home.path("project");
    let entry = format!("[[launch.grants]]\nplugin = \"{key}\"\nwrite = [\"{}\"]\n", project.display());
    home.write("config/config.toml", &entry);
    assert_eq!(shown(run(&[])), expected(5, "formatted", ""));
    let types: Vec<String> = ledger(&home).into_iter().map(|(name, _)| name).collect();
    let at = |name: &str| types.iter().rposition(|row| row == name).unwrap();
    assert!(at("capability_minted") < at("launch_started") && at("launch_started") < at("launch_ended"));
    let count = |name: &str| types.iter().filter(|row| *row == name).count();
    assert_eq!((count("launch_ended"), count("workflow_opened"), count("workflow_closed")), (3, 3, 3));
    // A grant that is not possible is named, and the hook does not run.
    home.write("config/config.toml", &entry.replace("project\"", "gone\""));
    let (exit, code, _, text) = run(&[]);
    assert_eq!((exit, code.as_str()), (5, "raw"), "{text}");
    assert!(text.contains("error[launch/spec]: cannot grant") && text.contains("config.toml:3:10"), "{text}");
    assert_eq!(std::fs::read_dir(home.path("state/sealed")).unwrap().count(), 0);
}

/// A command of a plugin whose start cannot be recorded does not run.
#[test]
fn a_start_that_is_not_recorded_does_not_happen() {
    let home = Home::new();
    plugin(&home, "plugins/p", &runs_script("PreToolUse"), "echo x > \"$CLAUDE_PROJECT_DIR/ran\"\n");
    let (exit, _) = fire(&home, &["PreToolUse", "--in", "plugins"], CALL);
    assert_eq!((exit, home.path("ran").exists()), (0, true));
    std::fs::remove_file(home.path("ran")).unwrap();
    std::fs::write(home.path("state/ledger.jsonl"), "broken\n").unwrap();
    let (exit, text) = fire_raw(&home, &["PreToolUse", "--in", "plugins"], CALL);
    assert_eq!((exit, home.path("ran").exists()), (7, false), "{text}");
}

/// Makes the plugin `plugins/p`, whose hook leaves a file, and returns its directory.
#[cfg(target_os = "linux")]
fn marking_plugin(home: &Home) -> String {
    plugin(home, "plugins/p", &runs_script("PreToolUse"), "echo x > \"$CLAUDE_PROJECT_DIR/ran\"\n");
    home.path("plugins/p").canonicalize().unwrap().display().to_string()
}

/// Fires with one entry of `launch.grants`, and returns the exit code, whether the hook ran, and the output.
#[cfg(target_os = "linux")]
fn fire_with_entry(home: &Home, plugin: &str, more: &str) -> (i32, bool, String) {
    drop(std::fs::remove_file(home.path("ran")));
    home.write("config/config.toml", &format!("[[launch.grants]]\nplugin = \"{plugin}\"\n{more}"));
    let (exit, text) = fire_raw(home, &["PreToolUse", "--in", "plugins"], CALL);
    (exit, home.path("ran").exists(), text)
}

/// An entry that cannot be for a plugin is an error: its plugin would have the access of the user.
#[test]
#[cfg(target_os = "linux")]
fn an_entry_for_no_plugin_is_an_error() {
    let home = Home::new();
    let place = marking_plugin(&home);
    let run = |plugin: &str, more: &str| fire_with_entry(&home, plugin, more);
    for wrong in ["p@acme", "plugins/p", &format!("path:{place}/"), "path:plugins/p", "P p"] {
        let (exit, ran, text) = run(wrong, "");
        assert!(
            (exit, ran) == (2, false) && text.contains("not the key of a plugin"),
            "{wrong} {exit} {text}"
        );
    }
    let (exit, ran, text) = run(&format!("path:{place}"), "command = [\"sh\"]\n");
    assert!((exit, ran) == (2, false) && text.contains("`command` is for a wrapped server"), "{text}");
    // The name of the plugin is the id of a command plugin, which the user did not mean.
    let (_, ran, text) = run("p", "");
    assert!(
        !ran && text.contains(&format!("write `plugin = \"path:{place}\"`").replace('\n', " ")),
        "{text}"
    );
    assert!(run("other", "").1);
}

/// An entry for a directory that is not one of a plugin can be left over, so it is a warning.
#[test]
#[cfg(target_os = "linux")]
fn an_entry_for_an_absent_plugin_is_a_warning() {
    let home = Home::new();
    let place = marking_plugin(&home);
    for name in
        ["mcp.json", ".lsp.json", "Skill.md", "skills/a.md", "agents/a.md", "docs/a.md", "mcp.json.md"]
    {
        home.write(&format!("other/{}/{name}", name.replace('/', "-")), "{}");
    }
    let other = |name: &str| home.path("other").canonicalize().unwrap().join(name).display().to_string();
    for (path, is_warned) in [
        (place.clone(), false),
        (format!("{place}x"), true),
        (home.temp.path().canonicalize().unwrap().display().to_string(), true),
        (other("mcp.json"), false),
        (other(".lsp.json"), false),
        (other("Skill.md"), false),
        (other("skills-a.md"), false),
        (other("agents-a.md"), false),
        (other("docs-a.md"), true),
        (other("mcp.json.md"), true),
    ] {
        let (_, ran, text) = fire_with_entry(&home, &format!("path:{path}"), "");
        // With its own entry, the hook cannot write.
        assert_eq!(ran, path != place, "{path}: {text}");
        assert_eq!(text.contains("these grants are for no plugin"), is_warned, "{path}: {text}");
    }
}

/// The hooks of the user run even if the settings of the project are broken, and those of plugins do not.
#[test]
#[cfg(target_os = "linux")]
fn broken_settings_of_a_project_stop_only_hooks_of_plugins() {
    let home = Home::new();
    marking_plugin(&home);
    let guard = home.path("guard");
    home.write("own.toml", &hook("g", "pre_tool_use", &format!("echo x > {}", guard.display()), ""));
    home.write("config/config.toml", "");
    home.write(".plugward/config.toml", "broken");
    let (_, text) = fire_raw(&home, &["PreToolUse", "--in", "plugins", "--hooks", "own.toml"], CALL);
    assert!(guard.exists() && !home.path("ran").exists(), "{text}");
}

/// A granted variable reaches the hooks of its plugin, and no other plugin.
#[test]
#[cfg(target_os = "linux")]
fn granted_variables_reach_hooks() {
    let home = Home::new();
    if code(&home.run(&["doctor", "--require"])) != 0 {
        assert!(std::env::var_os("PLUGWARD_PEERS").is_none_or(|value| value != "require"));
        return;
    }
    for name in ["one", "two"] {
        let script = "echo \"$API_MARK\" > \"$CLAUDE_PLUGIN_DATA/mark\"\n";
        plugin(&home, &format!("plugins/{name}"), &runs_script("PreToolUse"), script);
    }
    let place = home.path("plugins/one").canonicalize().unwrap().display().to_string();
    home.write(
        "config/config.toml",
        &format!("[[launch.grants]]\nplugin = \"path:{place}\"\nenv = [\"API_MARK\"]\n"),
    );
    let mut command = plugward(&home, &["hook", "fire", "PreToolUse", "--in", "plugins"]);
    command.env("API_MARK", "granted");
    let output = with_input(command, CALL);
    let data = std::fs::read_dir(home.path("state/plugin-data")).unwrap();
    let mut marks: Vec<String> = data
        .map(|entry| std::fs::read_to_string(entry.unwrap().path().join("mark")).unwrap_or_default())
        .collect();
    marks.sort();
    assert_eq!(marks, ["\n", "granted\n"], "{}", said(&output));
}

/// A host that names its session has one session, however often it fires an event.
#[test]
fn hooks_get_the_session_that_the_host_names() {
    let home = Home::new();
    let handlers = json!([{"type": "command", "command": "cat > seen.json"}]);
    home.write("claude.json", &claude("PreToolUse", &handlers));
    home.write("gnoma.toml", &hook("mine", "session_start", "cat > seen.json", ""));
    let seen = |args: &[&str], payload: &str| -> Value {
        let (exit, text) = fire_raw(&home, args, payload);
        assert_eq!(exit, 0, "{text}");
        serde_json::from_slice(&std::fs::read(home.path("seen.json")).unwrap()).unwrap()
    };
    let start = ["session_start", "--hooks", "gnoma.toml"];
    let found = seen(&start, r#"{"data":{"session_id":"s1","mode":"plan"}}"#);
    assert_eq!(found, json!({"event": "session_start", "session_id": "s1", "mode": "plan"}));
    let tool = ["PreToolUse", "--hooks", "claude.json"];
    let found = seen(
        &tool,
        r#"{"tool":"Bash","args":{},"session_id":"s1","permission_mode":"plan","transcript_path":"/t"}"#,
    );
    assert_eq!(
        (&found["session_id"], &found["permission_mode"], &found["transcript_path"]),
        (&json!("s1"), &json!("plan"), &json!("/t"))
    );
    let found = seen(&tool, CALL);
    assert_eq!((&found["permission_mode"], found.get("transcript_path")), (&json!("default"), None));
    let (exit, text) = fire_raw(&home, &tool, r#"{"tool":"Bash","args":{},"session_id":1}"#);
    assert!(exit == 2 && text.contains("expected `session_id` as"), "{text}");
}
