//! Replies of Claude Code's JSON form.

use plugward_hooks::{Answer, Dispatcher, Event, GateCall, GateReport, HookReport, Plan, RawOutput, Scope};
use plugward_manifest::Dialect;
use plugward_redact::{OutputContent, ToolStatus};
use serde_json::{Value, json};

use crate::common::{
    Room, after, bash, claude, command, dispatcher, entry, gnoma, out, output, ran, services, steps,
};

/// Fires an event at a hook that prints a reply.
fn reply(call: &GateCall, reply: &Value, code: i32) -> GateReport {
    let room = Room::new();
    room.write("reply", reply.to_string());
    let text = command(call.event().pascal(), &format!("cat reply; exit {code}"));
    dispatcher(claude(&text)).gate(call, &room.at())
}

fn specific(event: Event, members: &Value) -> Value {
    let mut members = members.clone();
    members["hookEventName"] = json!(event.pascal());
    json!({"hookSpecificOutput": members})
}

fn texts(texts: &[plugward_redact::Redacted]) -> Vec<&str> {
    texts.iter().map(plugward_redact::Redacted::as_str).collect()
}

#[test]
fn permission_decision_and_its_reason() {
    for (word, answer) in
        [("allow", Answer::Allow), ("ask", Answer::Ask), ("defer", Answer::Defer), ("deny", Answer::Deny)]
    {
        let members = json!({"permissionDecision": word, "permissionDecisionReason": "why"});
        let report = reply(&bash("ls"), &specific(Event::PreToolUse, &members), 0);
        assert_eq!(report.hooks.answer, answer, "{word}");
        let reasons = if answer == Answer::Allow { vec![] } else { vec!["why"] };
        assert_eq!(texts(&report.hooks.reasons), reasons, "{word}");
    }
    let report = reply(&bash("ls"), &specific(Event::PreToolUse, &json!({"permissionDecision": "maybe"})), 0);
    assert!(steps(&report.hooks)[0].ends_with("failure hook/bad-output"));
    assert_eq!(report.hooks.answer, Answer::Deny);
}

#[test]
fn an_allow_counts_at_exit_code_0_only_and_a_deny_at_every_one() {
    for code in [0, 1, 3, 200] {
        let report =
            reply(&bash("ls"), &specific(Event::PreToolUse, &json!({"permissionDecision": "allow"})), code);
        assert_eq!(report.hooks.answer == Answer::Allow, code == 0, "{code}");
        let report =
            reply(&bash("ls"), &specific(Event::PreToolUse, &json!({"permissionDecision": "deny"})), code);
        assert_eq!(report.hooks.answer, Answer::Deny);
        assert!(steps(&report.hooks)[0].ends_with("deny -"), "a deny is an answer, not a failure: {code}");
    }
}

#[test]
fn updated_input_replaces_the_arguments() {
    let members = json!({"permissionDecision": "allow", "updatedInput": {"command": "ls -l"}});
    let report = reply(&bash("ls"), &specific(Event::PreToolUse, &members), 0);
    assert_eq!(report.proposed.redacted().as_ref(), &json!({"command": "ls -l"}));
    assert_eq!(report.hooks.answer, Answer::Allow);
    let members = json!({"permissionDecision": "ask", "updatedInput": {"command": "ls -l"}});
    let report = reply(&bash("ls"), &specific(Event::PreToolUse, &members), 0);
    assert_eq!(report.hooks.answer, Answer::Ask, "new arguments do not take an ask back");
    for bad in [json!({"command": 1}), json!({"command": "ls", "new": 1}), json!([]), json!("x")] {
        let members = json!({"permissionDecision": "allow", "updatedInput": bad});
        let report = reply(&bash("ls"), &specific(Event::PreToolUse, &members), 0);
        assert_eq!(report.hooks.answer, Answer::Deny, "{bad}");
        assert!(steps(&report.hooks)[0].ends_with("failure hook/bad-shape"), "{bad}");
    }
}

#[test]
fn decision_block_denies_every_gate() {
    let gates = [
        bash("ls"),
        GateCall::data(Event::UserPromptSubmit, json!({"prompt": "x"})),
        GateCall::data(Event::Stop, json!({})),
        GateCall::data(Event::PreCompact, json!({"trigger": "auto"})),
        GateCall::data(Event::ConfigChange, json!({"source": "user_settings"})),
        GateCall::data(Event::TaskCreated, json!({})),
        GateCall::data(Event::PreModelSwitch, json!({"to_model": "m"})),
    ];
    for call in gates {
        let report = reply(&call, &json!({"decision": "block", "reason": "no"}), 0);
        assert_eq!(
            (report.hooks.answer, texts(&report.hooks.reasons)),
            (Answer::Deny, vec!["no"]),
            "{call:?}"
        );
        let report = reply(&call, &json!({"decision": "approve"}), 0);
        assert_eq!(report.hooks.answer, Answer::Allow, "{call:?}");
        let report = reply(&call, &json!({}), 0);
        assert_eq!(report.hooks.answer, Answer::Allow, "{call:?}");
    }
}

#[test]
fn continue_false_stops_the_turn() {
    let report = reply(&bash("ls"), &json!({"continue": false, "stopReason": "enough"}), 0);
    assert!(report.hooks.stop_turn);
    assert_eq!(texts(&report.hooks.reasons), ["enough"]);
    assert!(!reply(&bash("ls"), &json!({"continue": true}), 0).hooks.stop_turn);

    let room = Room::new();
    let text = command("PostToolUseFailure", "echo '{\"continue\": false}'");
    let failed = output(OutputContent::Text("e".to_owned()), ToolStatus::Failed);
    let report = dispatcher(claude(&text)).post_tool_use(&ran(), failed, &room.at());
    assert!(report.hooks.stop_turn, "it counts after a failed tool");
    let report = reply(&GateCall::data(Event::PostToolBatch, json!({})), &json!({"decision": "block"}), 0);
    assert!(report.hooks.stop_turn, "a deny after a batch stops the turn");
}

#[test]
fn a_system_message_is_for_the_user() {
    let report = reply(&bash("ls"), &json!({"systemMessage": "hello"}), 0);
    assert_eq!((texts(&report.hooks.messages), report.hooks.context.len()), (vec!["hello"], 0));
    let key = format!("hello {}", crate::common::secret());
    let report = reply(&bash("ls"), &json!({"systemMessage": key}), 0);
    assert_eq!(texts(&report.hooks.messages), [format!("hello {}", crate::common::MARKER)]);
}

fn notify(event: Event, exec: &str, room: &Room) -> HookReport {
    let text = command(event.pascal(), exec);
    dispatcher(claude(&text)).notify(&GateCall::data(event, json!({})), &room.at())
}

#[test]
fn context_is_cut_at_10_000_characters() {
    let room = Room::new();
    for (length, kept) in [(9_999, 9_999), (10_000, 10_000), (10_001, 10_000), (50_000, 10_000)] {
        let long = "ä".repeat(length);
        room.write("reply", specific(Event::SessionStart, &json!({"additionalContext": long})).to_string());
        let report = notify(Event::SessionStart, "cat reply", &room);
        assert_eq!(report.context[0].as_str().chars().count(), kept);
        room.write("reply", &long);
        let report = notify(Event::SessionStart, "cat reply", &room);
        assert_eq!(report.context[0].as_str().chars().count(), kept, "text that is not JSON");
    }
}

#[test]
fn text_is_context_on_marked_events_only() {
    let room = Room::new();
    for event in [Event::SessionStart, Event::PostModelSwitch] {
        assert_eq!(texts(&notify(event, "echo hello", &room).context), ["hello"], "{event}");
    }
    for event in [Event::SubagentStart, Event::Setup, Event::Notification, Event::SessionEnd] {
        assert_eq!(notify(event, "echo hello", &room).context.len(), 0, "{event}");
    }
    for (event, count) in [
        (Event::UserPromptSubmit, 1),
        (Event::UserPromptExpansion, 1),
        (Event::PreCompact, 0),
        (Event::Stop, 0),
    ] {
        let plan = claude(&command(event.pascal(), "echo hello"));
        let report = dispatcher(plan).gate(&GateCall::data(event, json!({})), &room.at());
        assert_eq!(report.hooks.context.len(), count, "{event}");
        assert_eq!(report.hooks.answer, Answer::Allow, "{event}");
    }
    room.write("reply", specific(Event::SubagentStart, &json!({"additionalContext": "for it"})).to_string());
    assert_eq!(texts(&notify(Event::SubagentStart, "cat reply", &room).context), ["for it"]);
}

#[test]
fn text_around_a_reply_is_a_failure() {
    for print in [
        "loading\n{\"decision\": \"block\"}",
        "{\"decision\": \"block\"}\ndone",
        "{\"decision",
        "{\"systemMessage\": \"hi\"}\nbye",
        "{\"decision\": \"block\"} {\"decision\": \"approve\"}",
        "[{\"decision\": \"block\"}]",
        "\u{feff}{\"decision\": \"block\"}",
        "> {\"hookSpecificOutput\": {\"permissionDecision\": \"deny\"}}",
    ] {
        let room = Room::new();
        room.write("reply", print);
        let report = dispatcher(claude(&command("PreToolUse", "cat reply"))).gate(&bash("ls"), &room.at());
        assert_eq!(report.hooks.answer, Answer::Deny, "{print}");
        assert!(steps(&report.hooks)[0].ends_with("failure hook/bad-output"), "{print}");
    }
}

#[test]
fn text_around_any_json_object_is_a_failure() {
    let answer = |print: &str| {
        let room = Room::new();
        room.write("reply", print);
        dispatcher(claude(&command("PreToolUse", "cat reply"))).gate(&bash("ls"), &room.at()).hooks.answer
    };
    for print in ["note {\"x\": 1}", "log\n{\"suppressOutput\": true}", "{\"x\": 1}\nbye"] {
        assert_eq!(answer(print), Answer::Deny, "{print}");
    }
    for print in ["all good", "used {braces} in a word", "a } before a {"] {
        assert_eq!(answer(print), Answer::Allow, "{print}");
    }
}

#[test]
fn a_permission_request_has_its_own_decision() {
    let call = || GateCall::tool(Event::PermissionRequest, "Bash".to_owned(), json!({"command": "ls"}));
    let decide = |decision: Value| {
        reply(&call(), &specific(Event::PermissionRequest, &json!({"decision": decision})), 0)
    };
    let report = decide(json!({"behavior": "allow", "updatedInput": {"command": "ls -l"}}));
    assert_eq!(report.hooks.answer, Answer::Allow);
    assert_eq!(report.proposed.redacted().as_ref(), &json!({"command": "ls -l"}));
    let report = decide(json!({"behavior": "deny", "message": "no", "interrupt": true}));
    assert_eq!((report.hooks.answer, report.hooks.stop_turn), (Answer::Deny, true));
    assert_eq!(texts(&report.hooks.reasons), ["no"]);
    let report = decide(json!({"behavior": "deny"}));
    assert_eq!((report.hooks.answer, report.hooks.stop_turn), (Answer::Deny, false));
    let report = decide(json!({"behavior": "perhaps"}));
    assert!(steps(&report.hooks)[0].ends_with("failure hook/bad-output"));
    // The other event's key decides nothing here, and a deny in it still counts.
    let other = specific(Event::PermissionRequest, &json!({"permissionDecision": "allow"}));
    assert!(steps(&reply(&call(), &other, 0).hooks)[0].ends_with("skip hook/ignored-field"));
    let other = specific(Event::PermissionRequest, &json!({"permissionDecision": "deny"}));
    assert_eq!(reply(&call(), &other, 0).hooks.answer, Answer::Deny);
}

#[test]
fn a_permission_request_is_denied_by_exit_code_2() {
    let call = GateCall::tool(Event::PermissionRequest, "Bash".to_owned(), json!({"command": "ls"}));
    assert_eq!(reply(&call, &json!({"decision": "approve"}), 2).hooks.answer, Answer::Deny);
}

#[test]
fn an_elicitation_has_an_action_and_content() {
    for event in [Event::Elicitation, Event::ElicitationResult] {
        let call = GateCall::data(event, json!({"mcp_server_name": "s"}));
        for (action, answer) in
            [("accept", Answer::Allow), ("decline", Answer::Deny), ("cancel", Answer::Deny)]
        {
            let members = json!({"action": action, "content": {"name": "x"}});
            let report = reply(&call, &specific(event, &members), 0);
            assert_eq!(report.hooks.answer, answer, "{event} {action}");
            let content = report.reply.map(plugward_redact::Redacted::into_value);
            assert_eq!(content, Some(json!({"name": "x"})), "{event} {action}");
        }
        let report = reply(&call, &specific(event, &json!({"action": "explode"})), 0);
        assert_eq!(report.hooks.answer, Answer::Deny);
    }
    let report = reply(&bash("ls"), &specific(Event::PreToolUse, &json!({"action": "accept"})), 0);
    assert!(steps(&report.hooks)[0].ends_with("hook/ignored-field"), "the action of another event");
}

#[test]
fn a_worktree_is_created_at_the_printed_path() {
    let call = GateCall::data(Event::WorktreeCreate, json!({"name": "x"}));
    let fire =
        |exec: &str| dispatcher(claude(&command("WorktreeCreate", exec))).gate(&call, &Room::new().at());
    let report = fire("echo /tmp/x");
    assert_eq!(report.hooks.answer, Answer::Allow);
    assert_eq!(report.reply.map(plugward_redact::Redacted::into_value), Some(json!("/tmp/x")));
    for code in [1, 2, 3, 127] {
        let report = fire(&format!("echo /tmp/x; exit {code}"));
        assert_eq!(report.hooks.answer, Answer::Deny, "{code}");
        assert!(report.reply.is_none(), "{code}");
        assert!(steps(&report.hooks)[0].ends_with("deny -"), "{code}: {:?}", steps(&report.hooks));
    }
    let remove = GateCall::data(Event::WorktreeRemove, json!({}));
    let report = dispatcher(claude(&command("WorktreeRemove", "exit 1"))).gate(&remove, &Room::new().at());
    assert_eq!(report.hooks.answer, Answer::Deny);
}

#[test]
fn the_ninth_deny_of_a_stop_is_an_allow() {
    for event in [Event::Stop, Event::SubagentStop] {
        for (denials, answer, code) in [
            (0, Answer::Deny, "-"),
            (7, Answer::Deny, "-"),
            (8, Answer::Allow, "hook/stop-loop"),
            (9, Answer::Allow, "hook/stop-loop"),
        ] {
            let room = Room::new();
            let mut at = room.at();
            at.stop_denials = denials;
            let plan = claude(&command(event.pascal(), "exit 2"));
            let report = dispatcher(plan).gate(&GateCall::data(event, json!({})), &at);
            assert_eq!(report.hooks.answer, answer, "{event} {denials}");
            assert!(steps(&report.hooks)[0].ends_with(&format!("deny {code}")), "{:?}", steps(&report.hooks));
        }
    }
}

#[test]
fn failures_of_gates_that_prolong_the_work_skip() {
    for event in [Event::Stop, Event::SubagentStop, Event::TaskCompleted, Event::TeammateIdle] {
        let plan = claude(&command(event.pascal(), "exit 1"));
        let report = dispatcher(plan).gate(&GateCall::data(event, json!({})), &Room::new().at());
        assert_eq!(report.hooks.answer, Answer::Allow, "{event}");
        assert!(steps(&report.hooks)[0].ends_with("failure hook/exit"), "{event}");
    }
    let plan = claude(&command("TaskCreated", "exit 1"));
    let report = dispatcher(plan).gate(&GateCall::data(Event::TaskCreated, json!({})), &Room::new().at());
    assert_eq!(report.hooks.answer, Answer::Deny, "a task is not created by a failure");
}

#[test]
fn managed_settings_change_whatever_a_hook_says() {
    for (source, answer) in [
        ("policy_settings", Answer::Allow),
        ("user_settings", Answer::Deny),
        ("project_settings", Answer::Deny),
    ] {
        let plan = claude(&command("ConfigChange", "exit 2"));
        let call = GateCall::data(Event::ConfigChange, json!({"source": source}));
        assert_eq!(dispatcher(plan).gate(&call, &Room::new().at()).hooks.answer, answer, "{source}");
    }
}

#[test]
fn after_success_and_after_failure_are_two_events_for_claude() {
    let text = json!({"hooks": {
        "PostToolUse": [{"hooks": [{"type": "command", "command": "cat > ok.json"}]}],
        "PostToolUseFailure": [{"hooks": [{"type": "command", "command": "cat > failed.json"}]}],
    }});
    for (ended, written, other) in
        [(ToolStatus::Ok, "ok.json", "failed.json"), (ToolStatus::Failed, "failed.json", "ok.json")]
    {
        let room = Room::new();
        let value = output(OutputContent::Text("what happened".to_owned()), ended);
        let report = dispatcher(claude(&text.to_string())).post_tool_use(&ran(), value, &room.at());
        assert_eq!(report.hooks.steps.len(), 1, "{ended:?}");
        assert_eq!(room.text(other), "", "{ended:?}");
        let input = room.json(written);
        let (event, key, absent) = match ended {
            ToolStatus::Ok => ("PostToolUse", "tool_response", "error"),
            ToolStatus::Failed => ("PostToolUseFailure", "error", "tool_response"),
        };
        assert_eq!((&input["hook_event_name"], &input[key]), (&json!(event), &json!("what happened")));
        assert!(input.get(absent).is_none());
    }
}

#[test]
fn an_updated_tool_output_replaces_the_output() {
    for key in ["updatedToolOutput", "updatedMCPToolOutput"] {
        let room = Room::new();
        room.write("reply", specific(Event::PostToolUse, &json!({key: "new"})).to_string());
        let report = after(claude(&command("PostToolUse", "cat reply")), &room, "old");
        assert_eq!((out(&report).as_str(), report.hooks.answer), ("new", Answer::Skip), "{key}");
        let old = output(OutputContent::Json(json!({"stdout": "a", "code": 1})), ToolStatus::Ok);
        room.write(
            "reply",
            specific(Event::PostToolUse, &json!({key: {"stdout": "b", "code": 1}})).to_string(),
        );
        let plan = claude(&command("PostToolUse", "cat reply"));
        let report = dispatcher(plan).post_tool_use(&ran(), old, &room.at());
        assert_eq!(out(&report), json!({"stdout": "b", "code": 1}).to_string());
    }
    let room = Room::new();
    room.write(
        "reply",
        specific(Event::PostToolUse, &json!({"additionalContext": "for the model"})).to_string(),
    );
    let report = after(claude(&command("PostToolUse", "cat reply")), &room, "old");
    assert_eq!(texts(&report.hooks.context), ["for the model"]);
}

#[test]
fn an_envelope_of_gnoma_has_the_session_in_its_data() {
    let room = Room::new();
    let dispatcher =
        Dispatcher::new(gnoma(&entry("s", "session_start", "cat > data.json")), services(Answer::Allow))
            .unwrap();
    let data = json!({"session_id": "s1", "mode": "plan", "event": "stop"});
    let _note = dispatcher.notify(&GateCall::data(Event::SessionStart, data), &room.at());
    assert_eq!(room.json("data.json"), json!({"event": "session_start", "session_id": "s1", "mode": "plan"}));
}

/// The file contains what the tools printed, so a hook of a project gets its path by no setting.
#[test]
fn only_managed_and_user_hooks_get_the_path_of_the_transcript() {
    let claude = json!({"hooks": {
        "SessionStart": [{"hooks": [{"type": "command", "command": "cat > claude.json"}]}],
    }});
    let claude = claude.to_string();
    let gnoma = entry("s", "session_start", "cat > gnoma.json");
    for (scope, raw, gets) in [
        (Scope::Managed, RawOutput::ManagedAndUser, true),
        (Scope::User, RawOutput::ManagedAndUser, true),
        (Scope::Project, RawOutput::ManagedAndUser, false),
        (Scope::Project, RawOutput::All, false),
    ] {
        let room = Room::new();
        let mut at = room.at();
        at.transcript = Some("/t".to_owned());
        let mut builder = Plan::builder(raw);
        builder.file(scope, Dialect::Claude, "hooks.json", claude.as_bytes());
        builder.file(scope, Dialect::Gnoma, "hooks.toml", gnoma.as_bytes());
        let data = json!({"transcript_path": "/t", "agent_transcript_path": "/a", "source": "startup"});
        let dispatcher = Dispatcher::new(builder.build(), services(Answer::Allow)).unwrap();
        let _note = dispatcher.notify(&GateCall::data(Event::SessionStart, data), &at);
        for file in ["claude.json", "gnoma.json"] {
            let seen = room.json(file);
            let has = |name: &str| seen.get(name).is_some();
            let found = (has("source"), has("transcript_path"), has("agent_transcript_path"));
            assert_eq!(found, (true, gets, gets), "{scope:?} {file} {seen}");
        }
    }
}

#[test]
fn an_envelope_has_the_members_that_claude_sends() {
    let room = Room::new();
    let mut at = room.at();
    at.transcript = Some("/tmp/t.jsonl".to_owned());
    let text = json!({"hooks": {
        "PreToolUse": [{"hooks": [{"type": "command", "command": "cat > tool.json"}]}],
        "SessionStart": [{"hooks": [{"type": "command", "command": "cat > data.json"}]}],
    }});
    let dispatcher = Dispatcher::new(claude(&text.to_string()), services(Answer::Allow)).unwrap();
    let _gate = dispatcher.gate(&bash("ls"), &at);
    let data = json!({"source": "startup", "cwd": "/elsewhere", "hook_event_name": "PreToolUse"});
    let _note = dispatcher.notify(&GateCall::data(Event::SessionStart, data), &at);
    let head = json!({
        "session_id": "session-1", "transcript_path": "/tmp/t.jsonl", "cwd": room.path(),
        "permission_mode": "default",
    });
    let (tool, data) = (room.json("tool.json"), room.json("data.json"));
    for (key, value) in head.as_object().unwrap() {
        assert_eq!((&tool[key], &data[key]), (value, value), "{key}");
    }
    assert_eq!(tool["hook_event_name"], "PreToolUse");
    assert_eq!((&tool["tool_name"], &tool["tool_input"]), (&json!("Bash"), &json!({"command": "ls"})));
    assert_eq!((&data["hook_event_name"], &data["source"]), (&json!("SessionStart"), &json!("startup")));
}
