//! Hostile replies, payloads and definitions: one test for each line that keeps one of them out.

use plugward_hooks::{Answer, Event, GateCall, Nesting, Scope};
use plugward_manifest::Dialect;
use plugward_redact::LlmAccess;
use serde_json::json;
use std::sync::Arc;

use crate::common::{
    Recorder, Room, after, bash, claude, command, dispatcher, entry, entry_with, gate, gnoma, handler, notes,
    plan_of, prompt_entry, refused, secret, services, shown, steps,
};

fn two(first: &serde_json::Value, second: &serde_json::Value) -> String {
    json!({"hooks": {"PreToolUse": [{"hooks": [first, second]}]}}).to_string()
}

#[test]
fn a_stricter_definition_of_the_same_command_is_not_hidden() {
    let room = Room::new();
    let lax = json!({"type": "command", "command": "exit 1", "onFailure": "skip"});
    let strict = json!({"type": "command", "command": "exit 1"});
    let report = gate(claude(&two(&lax, &strict)), &room);
    assert_eq!((report.hooks.answer, report.hooks.steps.len()), (Answer::Deny, 2));
    let again = gate(claude(&two(&strict, &strict)), &room);
    assert_eq!(again.hooks.steps.len(), 1, "the same definition runs once");
    let env = |name: &str| entry_with(name, "pre_tool_use", "true", &format!("env = [\"{name}\"]"));
    assert_eq!(gate(gnoma(&(env("A") + &env("B"))), &room).hooks.steps.len(), 2);
}

#[test]
fn the_name_of_a_tool_is_redacted_for_projects_and_models() {
    let room = Room::new();
    let project = entry("p", "pre_tool_use", "cat > seen");
    let judge = prompt_entry("j", "pre_tool_use", "prompt", "{{.Tool}}");
    let plan = plan_of(&[(Scope::Project, Dialect::Gnoma, &(project + &judge))]);
    let model = Recorder::new(&["ALLOW"]);
    let services = services(Answer::Allow).model(model.behind_firewall());
    let dispatcher = plugward_hooks::Dispatcher::new(plan, services).unwrap();
    let call = GateCall::tool(Event::PreToolUse, secret(), json!({}));
    let report = dispatcher.gate(&call, &room.at());
    assert_eq!(report.hooks.answer, Answer::Allow, "{:?}", steps(&report.hooks));
    assert!(room.text("seen").contains("[REDACTED") && !room.text("seen").contains(&secret()));
    assert!(!model.texts().concat().concat().contains(&secret()));
}

#[test]
fn more_than_16_mib_go_to_no_hook() {
    let room = Room::new();
    let plan = || gnoma(&entry("g", "pre_tool_use", "cat > /dev/null"));
    let gate = |bytes: usize| dispatcher(plan()).gate(&bash(&"x".repeat(bytes)), &room.at()).hooks;
    assert_eq!(gate(16 << 20).answer, Answer::Allow);
    let report = gate((16 << 20) + (65 << 10));
    assert_eq!(steps(&report), ["user:g gate raw failure hook/oversize"]);
    assert_eq!(report.answer, Answer::Deny);
}

#[test]
fn a_worktree_hook_that_fails_denies_whatever_its_definition_says() {
    for event in ["WorktreeCreate", "WorktreeRemove"] {
        let text =
            handler(event, "", &json!({"type": "command", "command": "kill -9 $$", "onFailure": "skip"}));
        let call = GateCall::data(Event::from_word(event).unwrap(), json!({}));
        let report = dispatcher(claude(&text)).gate(&call, &Room::new().at());
        assert_eq!(report.hooks.answer, Answer::Deny, "{event}");
    }
}

#[test]
fn a_notice_hook_cannot_launder_a_secret_of_the_data() {
    let room = Room::new();
    // A value without a shape of its own, which only its name makes a secret.
    let value = ["Xk93kd0s", "Lq2pVz81"].concat();
    room.write("value", &value);
    let text = command("SessionStart", "cat value");
    let call = GateCall::data(Event::SessionStart, json!({"note": format!("export DB_PASSWORD={value}")}));
    let report = dispatcher(claude(&text)).notify(&call, &room.at());
    assert!(!shown(&report).contains(&value), "{}", shown(&report));
    assert_eq!(report.laundered.len(), 1);
}

#[test]
fn what_a_gate_shows_has_no_secret_that_a_hook_encoded() {
    let room = Room::new();
    let value = ["Xk93kd0s", "Lq2pVz81"].concat();
    let reply = json!({"hookSpecificOutput": {"hookEventName": "Elicitation", "action": "accept",
        "content": {"answer": value}}});
    room.write("reply", reply.to_string());
    let call = GateCall::data(Event::Elicitation, json!({"note": format!("export DB_PASSWORD={value}")}));
    let report = dispatcher(claude(&command("Elicitation", "cat reply"))).gate(&call, &room.at());
    assert!(!report.reply.unwrap().as_ref().to_string().contains(&value));
    let reply = json!({"action": "allow", "transformed": {"command": format!("echo {value}")}});
    room.write("reply", reply.to_string());
    let call = bash(&format!("export DB_PASSWORD={value}"));
    let report = dispatcher(gnoma(&entry("g", "pre_tool_use", "cat reply"))).gate(&call, &room.at());
    assert!(!report.proposed.redacted().as_ref().to_string().contains(&value));
    assert_eq!(report.hooks.laundered.len(), 1);
}

#[test]
fn text_that_only_looks_harmless_is_a_failure_of_a_gate() {
    let room = Room::new();
    // UTF-16 without a byte order mark: a reader of bytes would see no brace next to a quote.
    room.write("reply", "{\"decision\":\"block\"}".bytes().flat_map(|byte| [byte, 0]).collect::<Vec<_>>());
    assert_eq!(gate(claude(&command("PreToolUse", "cat reply")), &room).hooks.answer, Answer::Deny);
    for reply in
        ["{\"Action\":\"deny\"}", "{\"action\":\"allow\",\"Action\":\"deny\"}", "{\"actioN\":\"allow\"}"]
    {
        room.write("reply", reply);
        let report = gate(gnoma(&entry("g", "pre_tool_use", "cat reply")), &room);
        assert_eq!(report.hooks.answer, Answer::Deny, "{reply}");
    }
    room.write("reply", "{\"action\":\"allow\"}");
    assert_eq!(gate(gnoma(&entry("g", "pre_tool_use", "cat reply")), &room).hooks.answer, Answer::Allow);
}

#[test]
fn a_verdict_with_a_key_in_another_case_is_none() {
    for (reply, answer) in [("{\"ok\":true,\"OK\":false}", Answer::Deny), ("{\"ok\":true}", Answer::Allow)] {
        let model = Recorder::new(&[reply]);
        let access: Arc<dyn LlmAccess> = model.behind_firewall();
        let plan = gnoma(&prompt_entry("j", "pre_tool_use", "prompt", "x"));
        let dispatcher =
            plugward_hooks::Dispatcher::new(plan, services(Answer::Allow).model(access)).unwrap();
        assert_eq!(dispatcher.gate(&bash("ls"), &Room::new().at()).hooks.answer, answer, "{reply}");
    }
}

#[test]
fn a_number_that_would_become_another_is_refused() {
    let payload = |number: &str| {
        let text = format!("{{\"tool\":\"T\",\"args\":{{\"n\":{number}}}}}");
        plugward_hooks::read_payload(Event::PreToolUse, text.as_bytes()).is_ok()
    };
    assert!(payload("18446744073709551615") && payload("-9223372036854775808") && payload("1.5e3"));
    assert!(!payload("18446744073709551616") && !payload("12345678901234567890123") && !payload("1e400"));
}

#[test]
fn too_much_output_is_found_after_the_end_too() {
    let room = Room::new();
    // The program ends at once, and a child of it goes on printing into the same pipe.
    let exec = "(head -c 3000000 /dev/zero) & exit 0";
    let report = gate(gnoma(&entry("g", "pre_tool_use", exec)), &room);
    assert_eq!(steps(&report.hooks), ["user:g gate raw failure hook/oversize"]);
}

#[test]
fn a_marker_is_no_key_of_new_arguments() {
    let room = Room::new();
    room.write("reply", "{\"transformed\":{\"args\":{\"env\":{\"[REDACTED:anthropic]\":\"x\"}}}}");
    let text = entry("g", "pre_tool_use", "cat reply");
    let call = GateCall::tool(Event::PreToolUse, "T".to_owned(), json!({"env": {secret(): "y"}}));
    let report = dispatcher(plan_of(&[(Scope::Project, Dialect::Gnoma, &text)])).gate(&call, &room.at());
    assert_eq!(steps(&report.hooks), ["project:g gate redacted failure hook/bad-shape"]);
}

#[test]
fn a_path_with_an_empty_part_is_not_compared() {
    let hook = json!({"type": "command", "command": "exit 2", "if": "Edit(src/a)"});
    let call = |path: &str| GateCall::tool(Event::PreToolUse, "Edit".to_owned(), json!({"file_path": path}));
    let answer = |path: &str| {
        dispatcher(claude(&handler("PreToolUse", "", &hook)))
            .gate(&call(path), &Room::new().at())
            .hooks
            .answer
    };
    assert_eq!(
        [answer("src//a"), answer("src/a"), answer("doc/b")],
        [Answer::Deny, Answer::Deny, Answer::Allow]
    );
}

#[test]
fn a_directory_or_an_option_that_plugward_does_not_know_is_unsupported() {
    let file = |hook: &serde_json::Value| {
        plan_of(&[(Scope::User, Dialect::Claude, &handler("PreToolUse", "", hook))])
    };
    for hook in [
        json!({"type": "command", "command": "./g.sh", "cwd": "${CLAUDE_PLUGIN_ROOT}"}),
        json!({"type": "command", "command": "x", "args": ["${user_config.key}"]}),
    ] {
        assert_eq!(refused(&file(&hook)), ["user hook/unsupported"], "{hook}");
    }
    let known = json!({"type": "command", "command": "x", "args": ["${CLAUDE_PROJECT_DIR}"]});
    assert!(notes(&file(&known)).is_empty());
}

#[test]
fn an_observer_cannot_stop_the_turn() {
    let room = Room::new();
    room.write("reply", "{\"continue\": false}");
    let hook = |is_async: bool| json!({"type": "command", "command": "cat reply", "async": is_async});
    let report =
        |is_async: bool| after(claude(&handler("PostToolUse", "", &hook(is_async))), &room, "out").hooks;
    assert!(report(false).stop_turn && !report(true).stop_turn);
}

#[test]
fn inside_an_agent_hook_command_hooks_still_run() {
    let room = Room::new();
    let at = plugward_hooks::FireContext { nesting: Nesting::InsideAgentHook, ..room.at() };
    let report = dispatcher(gnoma(&entry("g", "pre_tool_use", "exit 2"))).gate(&bash("ls"), &at);
    assert_eq!(report.hooks.answer, Answer::Deny);
}

#[test]
fn a_hook_that_leaves_its_process_group_ends_in_time() {
    if !crate::common::has("python3") {
        return;
    }
    let room = Room::new();
    let script = "import os,time; open('pid','w').write(str(os.getpid())); \
                  os.setpgid(0, os.getpgid(os.getppid())); time.sleep(60)";
    room.write("h.py", script);
    let plan = gnoma(&entry_with("g", "pre_tool_use", "exec python3 h.py", "timeout = \"1s\""));
    let report = crate::common::within(std::time::Duration::from_secs(1), "setpgid", || gate(plan, &room));
    assert_eq!(steps(&report.hooks), ["user:g gate raw failure hook/timed-out"]);
    let pid = room.text("pid");
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "the program was ended and waited for");
}

#[test]
fn exit_code_2_denies_after_too_much_output_too() {
    let room = Room::new();
    let exec = "head -c 1100000 /dev/zero; exit 2";
    let report = gate(gnoma(&entry_with("g", "pre_tool_use", exec, "fail_open = true")), &room);
    assert_eq!(steps(&report.hooks), ["user:g gate raw deny -"]);
    let exec = "head -c 1100000 /dev/zero; exit 0";
    let report = gate(gnoma(&entry("g", "pre_tool_use", exec)), &room);
    assert_eq!(steps(&report.hooks), ["user:g gate raw failure hook/oversize"]);
}

#[test]
fn only_the_hook_that_encoded_a_secret_is_reported() {
    let room = Room::new();
    let hex = crate::common::hex(&secret());
    room.write("first", json!({"transformed": {"output": hex}}).to_string());
    room.write("second", json!({"transformed": {"output": format!("{hex} -- end")}}).to_string());
    let text = entry("a", "post_tool_use", "cat first") + &entry("b", "post_tool_use", "cat second");
    let report = after(gnoma(&text), &room, &secret());
    let hooks: Vec<&str> = report.hooks.laundered.iter().map(|row| row.hook.as_str()).collect();
    assert_eq!(hooks, ["user:a"]);
    assert!(!crate::common::out(&report).contains(&hex));
}

#[test]
fn the_rest_of_a_key_that_was_cut_is_not_printed() {
    let room = Room::new();
    let body = "MIIEpAIBAAKCAQEAx3Vb9QyT".repeat(2);
    let armor = |word: &str| format!("-----{word} RSA PRIVATE KEY-----");
    let mut text = format!("{}\n", armor("BEGIN"));
    (0..1000).for_each(|_| text.push_str(&format!("{body}\n")));
    text.push_str(&format!("{}\n{}", armor("END"), "short\n".repeat(5000)));
    room.write("err", text);
    let report = gate(gnoma(&entry("g", "pre_tool_use", "cat err >&2; exit 2")), &room);
    assert!(!shown(&report.hooks).contains(&body) && shown(&report.hooks).contains("short"));
}

#[test]
fn a_turn_that_stops_is_not_allowed_and_does_not_go_on() {
    let room = Room::new();
    room.write("reply", "{\"continue\": false}");
    let fire = |event: Event, text: &str| {
        dispatcher(claude(text)).gate(&GateCall::data(event, json!({})), &room.at()).hooks
    };
    let report = fire(Event::UserPromptSubmit, &command("UserPromptSubmit", "cat reply"));
    assert_eq!((report.answer, report.stop_turn), (Answer::Deny, true));
    let both = json!({"hooks": {"Stop": [{"hooks": [
        {"type": "command", "command": "cat reply"}, {"type": "command", "command": "exit 2"}]}]}});
    let report = fire(Event::Stop, &both.to_string());
    assert_eq!((report.answer, report.stop_turn), (Answer::Allow, true));
}

#[test]
fn context_can_quote_a_reply() {
    let room = Room::new();
    room.write("text", "Print {\"decision\": \"block\"} to block a prompt.");
    let text = command("UserPromptSubmit", "cat text");
    let fire = || {
        dispatcher(claude(&text)).gate(&GateCall::data(Event::UserPromptSubmit, json!({})), &room.at()).hooks
    };
    assert_eq!((fire().answer, fire().context.len()), (Answer::Allow, 1));
    room.write("text", "log\n{\"decision\": \"block\"}");
    assert_eq!(fire().answer, Answer::Deny);
}
