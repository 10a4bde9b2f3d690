//! Section 6: what a broken hook costs, on a gate event and on a content event, and that no process is left.

use std::time::Duration;

use plugward_hooks::{Answer, Plan, Scope};
use plugward_manifest::Dialect;
use serde_json::json;

use crate::common::{
    Room, bash, command, dispatcher, entry_with, has, out, plan_of, ran, secret, steps, text_output, within,
};

/// What a hook that is to hang gets; other hooks get more than they need.
const SHORT: &str = "timeout = \"300ms\"";
const LONG: &str = "timeout = \"30s\"";

/// The result of a hook as a report shows it: `failure hook/exit`.
struct Row {
    exec: &'static str,
    more: &'static str,
    result: &'static str,
    gate: Answer,
}

/// A failure that denies on a gate and lets an output go on.
const fn failure(exec: &'static str, more: &'static str, result: &'static str) -> Row {
    Row { exec, more, result, gate: Answer::Deny }
}

/// Returns the time that a row has.
fn limit(row: &Row) -> Duration {
    if row.more == SHORT { Duration::from_millis(300) } else { Duration::from_secs(30) }
}

/// Fires a hook that first writes its process id, on both events.
#[track_caller]
fn check(room: &Room, row: &Row, size: usize) {
    let text = format!("{}{}", "x".repeat(size), "y");
    let exec = format!("echo $$ > pid; {}", row.exec);
    let plan = |event: &str| -> Plan {
        let text = entry_with("hook", event, &exec, row.more);
        plan_of(&[(Scope::User, Dialect::Gnoma, &text)])
    };
    let gate = dispatcher(plan("pre_tool_use"));
    let report = within(limit(row), row.exec, || gate.gate(&bash(&text), &room.at()));
    assert_eq!(steps(&report.hooks), [format!("user:hook gate raw {}", row.result)], "{}", row.exec);
    assert_eq!(report.hooks.answer, row.gate, "{}", row.exec);
    room.no_process_left("pid");

    let after = dispatcher(plan("post_tool_use"));
    let report = within(limit(row), row.exec, || after.post_tool_use(&ran(), text_output(&text), &room.at()));
    let result = match row.result {
        "allow -" | "deny -" => "skip -",
        other => other,
    };
    assert_eq!(steps(&report.hooks), [format!("user:hook transform raw {result}")], "{}", row.exec);
    assert_eq!(report.hooks.answer, Answer::Skip, "{}", row.exec);
    assert!(out(&report) == text, "the output goes on: {}", row.exec);
    room.no_process_left("pid");
}

#[test]
fn programs_that_cannot_be_started_through_a_shell() {
    let room = Room::new();
    room.write("plain", "#!/bin/sh\nexit 0\n");
    room.program("lost", "#!/no/such/interpreter\n");
    for row in [
        failure("./missing", LONG, "failure hook/not-found"),
        failure("no-such-program-anywhere", LONG, "failure hook/not-found"),
        failure("./lost", LONG, "failure hook/not-found"),
        failure("./plain", LONG, "failure hook/spawn"),
        failure("./", LONG, "failure hook/spawn"),
    ] {
        check(&room, &row, 0);
    }
}

#[test]
fn programs_that_cannot_be_started_as_a_list() {
    let room = Room::new();
    room.write("plain", "#!/bin/sh\nexit 0\n");
    room.program("lost", "#!/no/such/interpreter\n");
    for (program, code) in [
        ("./missing", "hook/not-found"),
        ("no-such-program-anywhere", "hook/not-found"),
        ("./lost", "hook/not-found"),
        ("./plain", "hook/spawn"),
    ] {
        let text = |event: &str| {
            format!(
                "[[hooks]]\nname = \"hook\"\nevent = \"{event}\"\ntype = \"command\"\nargs = [\"{program}\"]\n"
            )
        };
        // The working directory of a starter is its own; a list with a path is relative to the hook's.
        let gate = dispatcher(plan_of(&[(Scope::User, Dialect::Gnoma, &text("pre_tool_use"))]));
        let report = gate.gate(&bash("ls"), &room.at());
        assert_eq!(steps(&report.hooks), [format!("user:hook gate raw failure {code}")], "{program}");
        assert_eq!(report.hooks.answer, Answer::Deny);
        let after = dispatcher(plan_of(&[(Scope::User, Dialect::Gnoma, &text("post_tool_use"))]));
        let report = after.post_tool_use(&ran(), text_output("out"), &room.at());
        assert_eq!(steps(&report.hooks), [format!("user:hook transform raw failure {code}")], "{program}");
        assert_eq!(out(&report), "out");
    }
}

#[test]
fn a_working_directory_that_is_gone() {
    let room = Room::new();
    let mut at = room.at();
    at.directory = format!("{}/gone", room.path());
    for exec in ["true", "sh -c true"] {
        let plan = |event| plan_of(&[(Scope::User, Dialect::Gnoma, &entry_with("hook", event, exec, ""))]);
        let report = dispatcher(plan("pre_tool_use")).gate(&bash("ls"), &at);
        assert_eq!(steps(&report.hooks), ["user:hook gate raw failure hook/spawn"]);
        assert_eq!(report.hooks.answer, Answer::Deny);
        let report = dispatcher(plan("post_tool_use")).post_tool_use(&ran(), text_output("out"), &at);
        assert_eq!(steps(&report.hooks), ["user:hook transform raw failure hook/spawn"]);
        assert_eq!(out(&report), "out");
    }
}

#[test]
fn hooks_that_hang() {
    let room = Room::new();
    for exec in [
        "sleep 99",
        "trap '' TERM; sleep 99",
        "trap '' TERM; while :; do sleep 99; done",
        "trap '' TERM; sleep 99 & sleep 99 & wait",
        "exec sleep 99",
        "kill -STOP $$",
        "sleep 99 & kill -STOP $! $$",
        "exec > /dev/null 2>&1; sleep 99",
        "exec 0<&- 1>&- 2>&-; sleep 99",
    ] {
        check(&room, &failure(exec, SHORT, "failure hook/timed-out"), 0);
    }
}

#[test]
fn a_hook_that_never_reads_a_mebibyte_of_input() {
    let room = Room::new();
    check(&room, &failure("sleep 99", SHORT, "failure hook/timed-out"), 1 << 20);
    check(&room, &failure("trap '' TERM; sleep 99", SHORT, "failure hook/timed-out"), 1 << 20);
    // Closing the input early, or not reading it, is not a failure.
    let allow = |exec| Row { exec, more: LONG, result: "allow -", gate: Answer::Allow };
    check(&room, &allow("exit 0"), 1 << 20);
    check(&room, &allow("exec 0<&-; exit 0"), 1 << 20);
    check(&room, &allow("head -c 10 > /dev/null"), 1 << 20);
    check(&room, &allow("cat > /dev/null"), 1 << 20);
}

#[test]
fn hooks_that_are_killed_or_fail() {
    let room = Room::new();
    for (exec, result) in [
        ("kill -9 $$", "failure hook/signal"),
        ("kill -TERM $$", "failure hook/signal"),
        ("kill -SEGV $$", "failure hook/signal"),
        ("echo '{\"action\": \"allow\"}'; kill -9 $$", "failure hook/signal"),
        ("sh -c 'kill -9 $$'", "failure hook/exit"),
        ("exit 1", "failure hook/exit"),
        ("exit 3", "failure hook/exit"),
        ("exit 255", "failure hook/exit"),
        ("echo '{\"action\": \"allow\"}'; exit 1", "failure hook/exit"),
    ] {
        check(&room, &failure(exec, LONG, result), 0);
    }
}

#[test]
fn uncaught_exceptions_of_interpreters() {
    let room = Room::new();
    room.write("raise.py", "raise SystemError('no')\n");
    room.write("throw.js", "throw new Error('no');\n");
    let deny = |exec| Row { exec, more: LONG, result: "deny -", gate: Answer::Deny };
    check(&room, &deny("sh missing.sh"), 0);
    if has("python3") {
        check(&room, &failure("python3 raise.py", LONG, "failure hook/exit"), 0);
        // `python3` ends with 2 if the script is missing, which is a deny.
        check(&room, &deny("python3 missing.py"), 0);
    }
    if has("node") {
        check(&room, &failure("node throw.js", LONG, "failure hook/exit"), 0);
        check(&room, &failure("node missing.js", LONG, "failure hook/exit"), 0);
    }
}

#[test]
fn replies_that_cannot_be_read() {
    let room = Room::new();
    for exec in [
        "echo x",
        "echo '{\"action\": \"allow\"}{\"action\": \"allow\"}'",
        "echo '{\"action\": \"allow\"} trailing'",
        "printf '\\377\\376'",
        "printf '{\"action\": \"all\\377ow\"}'",
        "echo '{\"action\": \"explode\"}'",
        "echo '{\"action\": 1}'",
        "echo '{\"action\": \"deny\", \"action\": \"allow\"}'",
        "echo '{\"action\": \"allow\"'",
        "echo '[]'",
        "echo null",
        "echo '\"allow\"'",
    ] {
        check(&room, &failure(exec, LONG, "failure hook/bad-output"), 0);
    }
}

#[test]
fn replies_that_do_not_end() {
    let room = Room::new();
    for exec in [
        "cat /dev/zero",
        "yes",
        "head -c 1048577 /dev/zero",
        "echo '{\"action\": \"allow\"}'; head -c 2000000 /dev/zero",
        "trap '' TERM; yes",
    ] {
        check(&room, &failure(exec, LONG, "failure hook/oversize"), 0);
    }
    // One mebibyte itself is read, and is not a reply.
    check(&room, &failure("head -c 1048576 /dev/zero", LONG, "failure hook/bad-output"), 0);
}

#[test]
fn a_replacement_with_another_shape_denies_or_withholds() {
    let room = Room::new();
    for (gate, after) in [
        ("{\"transformed\": 5}", "{\"transformed\": 5}"),
        ("{\"transformed\": {\"args\": {\"command\": 1}}}", "{\"transformed\": {\"output\": 1}}"),
        ("{\"transformed\": {\"args\": {\"other\": \"x\"}}}", "{\"transformed\": {\"other\": \"x\"}}"),
        ("{\"transformed\": {\"command\": null}}", "{\"transformed\": {\"metadata\": {}}}"),
        ("{\"transformed\": []}", "{\"transformed\": {\"output\": {\"a\": 1}}}"),
    ] {
        let plan = |event, reply: &str| {
            let exec = format!("echo $$ > pid; echo '{reply}'");
            plan_of(&[(Scope::User, Dialect::Gnoma, &entry_with("hook", event, &exec, ""))])
        };
        let report = dispatcher(plan("pre_tool_use", gate)).gate(&bash("ls"), &room.at());
        assert_eq!(steps(&report.hooks), ["user:hook gate raw failure hook/bad-shape"], "{gate}");
        assert_eq!(report.hooks.answer, Answer::Deny, "{gate}");
        room.no_process_left("pid");
        let report =
            dispatcher(plan("post_tool_use", after)).post_tool_use(&ran(), text_output("out"), &room.at());
        assert_eq!(steps(&report.hooks), ["user:hook transform raw failure hook/bad-shape"], "{after}");
        assert_eq!(out(&report), "[REDACTED:withheld]", "{after}");
        room.no_process_left("pid");
    }
}

#[test]
fn exit_code_2_is_a_deny_and_not_a_failure() {
    let room = Room::new();
    for exec in
        ["exit 2", "echo '{\"action\": \"allow\"}'; exit 2", "echo garbage; exit 2", "printf '\\377'; exit 2"]
    {
        let row = Row { exec, more: LONG, result: "deny -", gate: Answer::Deny };
        check(&room, &row, 0);
    }
}

#[test]
fn a_child_that_holds_the_pipes_does_not_delay_the_answer() {
    let room = Room::new();
    for (exec, result, gate) in [
        ("sleep 99 & exit 0", "allow -", Answer::Allow),
        ("(trap '' TERM; sleep 99) & exit 0", "allow -", Answer::Allow),
        ("sleep 99 & echo '{\"action\": \"deny\"}'", "deny -", Answer::Deny),
        ("sleep 99 & exit 2", "deny -", Answer::Deny),
    ] {
        let row = Row { exec, more: LONG, result, gate };
        // The bound of `check` is that of the timeout; this one is one second.
        let report = within(Duration::ZERO, exec, || {
            let text = entry_with("hook", "pre_tool_use", &format!("echo $$ > pid; {exec}"), LONG);
            dispatcher(plan_of(&[(Scope::User, Dialect::Gnoma, &text)])).gate(&bash("ls"), &room.at())
        });
        assert_eq!(report.hooks.answer, gate, "{exec}");
        check(&room, &row, 0);
    }
}

/// A process that leaves the group is not ended (a listed limit), but nobody waits for it. It ends by itself here.
#[test]
fn a_process_that_left_the_group_does_not_delay_the_answer() {
    if !has("setsid") {
        return;
    }
    let room = Room::new();
    let fire = |exec: &str, more: &str| {
        let text = entry_with("hook", "pre_tool_use", exec, more);
        dispatcher(plan_of(&[(Scope::User, Dialect::Gnoma, &text)]))
            .gate(&bash("ls"), &room.at())
            .hooks
            .answer
    };
    let answer = within(Duration::ZERO, "exits", || fire("setsid sleep 4 & exit 0", LONG));
    assert_eq!(answer, Answer::Allow);
    let hangs = "setsid sleep 4 & trap '' TERM; sleep 99";
    assert_eq!(within(Duration::from_millis(300), "hangs", || fire(hangs, SHORT)), Answer::Deny);
}

#[test]
fn one_hundred_mebibytes_on_standard_error_do_not_matter() {
    let room = Room::new();
    for (exec, result, gate) in [
        ("head -c 104857600 /dev/zero >&2; exit 0", "allow -", Answer::Allow),
        ("head -c 104857600 /dev/zero >&2; exit 1", "failure hook/exit", Answer::Deny),
    ] {
        check(&room, &Row { exec, more: LONG, result, gate }, 0);
    }
}

#[test]
fn the_end_of_standard_error_is_the_reason_in_whole_lines() {
    let exec = "yes 'one line of the reason' | head -n 100000 >&2; exit 2";
    let text = entry_with("hook", "pre_tool_use", exec, LONG);
    let report =
        dispatcher(plan_of(&[(Scope::User, Dialect::Gnoma, &text)])).gate(&bash("ls"), &Room::new().at());
    let reason = report.hooks.reasons[0].as_str();
    assert!(!reason.is_empty() && reason.len() <= 64 << 10, "{}", reason.len());
    let (whole, _cut) = reason.rsplit_once('\n').unwrap();
    assert!(whole.lines().all(|line| line == "one line of the reason"), "{:?}", &reason[..60]);
    // A secret whose start was cut off is no longer found by its shape.
    let exec = format!("head -c 65520 /dev/zero | tr '\\0' x > x; echo {} >&2; cat x >&2; exit 2", secret());
    let text = entry_with("hook", "pre_tool_use", &exec, LONG);
    let report =
        dispatcher(plan_of(&[(Scope::User, Dialect::Gnoma, &text)])).gate(&bash("ls"), &Room::new().at());
    assert!(!crate::common::shown(&report.hooks).contains("uvwxyz"));
}

#[test]
fn claude_hooks_have_the_same_matrix() {
    let room = Room::new();
    for (exec, code) in [
        ("./missing", "hook/not-found"),
        ("kill -9 $$", "hook/signal"),
        ("exit 1", "hook/exit"),
        ("printf '\\377'", "hook/bad-output"),
        ("echo '{\"continue\": true}{}'", "hook/bad-output"),
        ("echo '{\"decision\": \"explode\"}'", "hook/bad-output"),
        ("echo '{\"decision\": \"block\", \"decision\": \"approve\"}'", "hook/bad-output"),
        ("cat /dev/zero", "hook/oversize"),
    ] {
        let exec = format!("echo $$ > pid; {exec}");
        let plan = |event| plan_of(&[(Scope::User, Dialect::Claude, &command(event, &exec))]);
        let report = dispatcher(plan("PreToolUse")).gate(&bash("ls"), &room.at());
        assert_eq!(steps(&report.hooks), [format!("user:PreToolUse.1 gate raw failure {code}")], "{exec}");
        assert_eq!(report.hooks.answer, Answer::Deny, "{exec}");
        room.no_process_left("pid");
        let report = dispatcher(plan("PostToolUse")).post_tool_use(&ran(), text_output("out"), &room.at());
        assert_eq!(steps(&report.hooks), [format!("user:PostToolUse.1 transform raw failure {code}")]);
        assert_eq!(out(&report), "out", "{exec}");
        room.no_process_left("pid");
    }
    let hang = json!({"type": "command", "command": "echo $$ > pid; trap '' TERM; sleep 99", "timeout": 0.3});
    for event in ["PreToolUse", "PermissionRequest"] {
        let text = crate::common::handler(event, "", &hang);
        let dispatcher = dispatcher(plan_of(&[(Scope::User, Dialect::Claude, &text)]));
        let event = plugward_hooks::Event::from_word(event).unwrap();
        let call = plugward_hooks::GateCall::tool(event, "Bash".to_owned(), json!({"command": "ls"}));
        let report = within(Duration::from_millis(300), "claude", || dispatcher.gate(&call, &room.at()));
        assert_eq!(report.hooks.answer, Answer::Deny);
        assert_eq!(report.hooks.steps[0].code, Some("hook/timed-out"));
        room.no_process_left("pid");
    }
}

#[test]
fn no_message_of_a_failure_contains_text_of_the_payload() {
    let room = Room::new();
    let word = "payload-word-4711";
    for exec in
        ["cat; exit 1", "cat >&2; exit 1", "cat; echo x", "cat; kill -9 $$", "tr -d '\"'", "head -c 40"]
    {
        let text = entry_with("hook", "pre_tool_use", exec, LONG);
        let plan = plan_of(&[(Scope::User, Dialect::Gnoma, &text)]);
        let report = dispatcher(plan).gate(&bash(word), &room.at());
        assert_eq!(report.hooks.answer, Answer::Deny, "{exec}");
        assert!(report.hooks.steps[0].message.is_some());
        assert!(!crate::common::shown(&report.hooks).contains(word), "{exec}");
    }
}
