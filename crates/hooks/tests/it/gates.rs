//! The promises about gates: nothing weakens a deny, and a rewrite is looked at again by everyone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use plugward_hooks::{
    Answer, Consent, Dispatcher, Event, GateCall, Hook, LendCheck, Plan, PluginDirectories, RawGrants,
    RawOutput, Scope, View,
};
use plugward_manifest::Dialect;
use serde_json::json;

use crate::common::{
    DenyWord, MARKER, Recorder, Room, bash, claude, command, dispatcher, entry, entry_with, gate, gnoma,
    handler, plan_of, prompt_entry, ran, secret, services, services_with, steps, text_output,
};

#[test]
fn a_hooks_allow_never_beats_a_deny_or_ask_of_the_host() {
    let allow =
        "{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", \"permissionDecision\": \"allow\"}}";
    let plans = || {
        [
            gnoma(&entry("yes", "pre_tool_use", "echo '{\"action\": \"allow\"}'")),
            gnoma(&entry("yes", "pre_tool_use", "exit 0")),
            claude(&command("PreToolUse", &format!("echo '{allow}'"))),
        ]
    };
    for (rule, expected) in [
        (Answer::Deny, Answer::Deny),
        (Answer::Ask, Answer::Ask),
        (Answer::Allow, Answer::Allow),
        (Answer::Skip, Answer::Allow),
    ] {
        for plan in plans() {
            let dispatcher = Dispatcher::new(plan, services(rule)).unwrap();
            let report = dispatcher.gate(&bash("ls"), &Room::new().at());
            assert_eq!(report.hooks.answer, expected, "{rule:?}");
            let permitted = report.proposed.permit(Consent::NotGiven).is_ok();
            assert_eq!(permitted, expected == Answer::Allow, "{rule:?}");
        }
    }
}

#[test]
fn a_deny_of_the_host_is_not_undone_by_an_exception_of_an_event() {
    // Hooks cannot block managed settings, and cannot keep an agent going forever; the host itself can do both.
    let plan = || gnoma(&entry("stop", "stop", "exit 2"));
    let mut at = Room::new().at();
    at.stop_denials = 8;
    let call = GateCall::data(Event::Stop, json!({}));
    let denied = Dispatcher::new(plan(), services(Answer::Deny)).unwrap().gate(&call, &at);
    assert_eq!(denied.hooks.answer, Answer::Deny);
    let asked = Dispatcher::new(plan(), services(Answer::Ask)).unwrap().gate(&call, &at);
    assert_eq!(asked.hooks.answer, Answer::Ask);
    let policy = GateCall::data(Event::ConfigChange, json!({"source": "policy_settings"}));
    let denied = Dispatcher::new(plan(), services(Answer::Deny)).unwrap().gate(&policy, &at);
    assert_eq!(denied.hooks.answer, Answer::Deny);
}

#[test]
fn disallow_is_not_a_verdict() {
    for reply in ["DISALLOW", "I ALLOW this", "ALLOWED", "allow", "Do not ALLOW", "", "{\"ok\": \"true\"}"] {
        let model = Recorder::new(&[reply]);
        let services = services(Answer::Allow).model(model.behind_firewall());
        let plan = gnoma(&prompt_entry("judge", "pre_tool_use", "prompt", "{{.Args}}"));
        let report = Dispatcher::new(plan, services).unwrap().gate(&bash("ls"), &Room::new().at());
        assert_eq!(report.hooks.answer, Answer::Deny, "{reply}");
        assert_eq!(steps(&report.hooks), ["user:judge judge redacted failure hook/model"], "{reply}");
    }
}

#[test]
fn exit_code_2_denies_whatever_is_printed() {
    let claude_allow =
        "{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", \"permissionDecision\": \"allow\"}}";
    let prints = [
        "",
        "garbage",
        "{\"action\": \"allow\"}",
        "{\"decision\": \"approve\"}",
        claude_allow,
        "{\"ok\": true}",
    ];
    for print in prints {
        let exec = format!("echo '{print}'; echo because >&2; exit 2");
        for dialect in [Dialect::Gnoma, Dialect::Claude, Dialect::Codex] {
            let text = match dialect {
                Dialect::Gnoma => entry("no", "pre_tool_use", &exec),
                _ => command("PreToolUse", &exec),
            };
            let report = gate(plan_of(&[(Scope::User, dialect, &text)]), &Room::new());
            assert_eq!(report.hooks.answer, Answer::Deny, "{dialect} {print}");
            assert_eq!(report.hooks.reasons[0].as_str(), "because", "{dialect} {print}");
            assert!(steps(&report.hooks)[0].ends_with("raw deny -"), "{dialect} {print}");
        }
    }
}

#[test]
fn exit_code_1_of_a_gate_is_a_failure_in_every_dialect() {
    for print in
        ["", "garbage", "{\"action\": \"allow\"}", "{\"decision\": \"approve\"}", "{\"continue\": true}"]
    {
        for code in [1, 3, 255] {
            let exec = format!("echo '{print}'; exit {code}");
            for dialect in [Dialect::Gnoma, Dialect::Claude, Dialect::Codex] {
                let text = match dialect {
                    Dialect::Gnoma => entry("broken", "pre_tool_use", &exec),
                    _ => command("PreToolUse", &exec),
                };
                let report = gate(plan_of(&[(Scope::User, dialect, &text)]), &Room::new());
                assert_eq!(report.hooks.answer, Answer::Deny, "{dialect} {code} {print}");
                assert!(
                    steps(&report.hooks)[0].ends_with("failure hook/exit"),
                    "{dialect} {code} {print}: {:?}",
                    steps(&report.hooks)
                );
            }
        }
    }
}

#[test]
fn an_unknown_field_never_weakens_a_deny_next_to_it() {
    let gnoma_replies = [
        r#"{"action": "deny", "override": "allow"}"#,
        r#"{"unknown": 1, "action": "deny"}"#,
        r#"{"action": "deny", "transformed": 5}"#,
        r#"{"action": "deny", "transformed": {"args": {"command": "true"}}}"#,
        r#"{"action": "deny", "action": "allow"}"#,
    ];
    let claude_replies = [
        r#"{"decision": "block", "action": "allow", "permissionDecision": "allow"}"#,
        r#"{"decision": "block", "hookSpecificOutput": 5}"#,
        r#"{"decision": "block", "hookSpecificOutput": {"permissionDecision": "allow"}}"#,
        r#"{"decision": "approve", "hookSpecificOutput": {"permissionDecision": "deny"}}"#,
        r#"{"hookSpecificOutput": {"hookEventName": "PostToolUse", "permissionDecision": "deny", "x": 1}}"#,
        r#"{"hookSpecificOutput": {"permissionDecision": "deny", "updatedInput": {"command": "true"}}}"#,
        r#"{"hookSpecificOutput": {"permissionDecision": "deny", "updatedInput": []}}"#,
        r#"{"continue": "x", "systemMessage": 5, "decision": "block"}"#,
        r#"{"decision": "block", "decision": "approve"}"#,
        r#"{"future": {"permissionDecision": "allow"}, "decision": "deny"}"#,
    ];
    let room = Room::new();
    for reply in gnoma_replies {
        room.write("reply", reply);
        let report = gate(gnoma(&entry("no", "pre_tool_use", "cat reply")), &room);
        assert_eq!(report.hooks.answer, Answer::Deny, "{reply}");
    }
    for reply in claude_replies {
        for code in [0, 1, 7] {
            room.write("reply", reply);
            let report = gate(claude(&command("PreToolUse", &format!("cat reply; exit {code}"))), &room);
            assert_eq!(report.hooks.answer, Answer::Deny, "{code} {reply}");
            assert_eq!(report.proposed.redacted().as_ref(), &json!({"command": "ls"}), "{code} {reply}");
        }
    }
}

#[test]
fn an_unknown_event_never_weakens_a_deny_next_to_it() {
    let text = json!({"hooks": {
        "BeforeToolUse": [{"hooks": [{"type": "command", "command": "echo '{\"decision\": \"approve\"}'"}]}],
        "PreToolUse": [
            {"hooks": [{"type": "command", "command": "exit 2"}]},
            {"hooks": [{"type": "command", "command": "echo '{\"decision\": \"approve\"}'"}]},
        ],
    }});
    let report = gate(claude(&text.to_string()), &Room::new());
    assert_eq!(report.hooks.answer, Answer::Deny);
    assert_eq!(report.hooks.steps.len(), 2, "a deny does not stop later hooks");
}

#[test]
fn the_strictest_answer_wins() {
    let claude_answer = |word: &str| {
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": word}}).to_string()
    };
    let order = ["allow", "ask", "defer", "deny"];
    let answers = [Answer::Allow, Answer::Ask, Answer::Defer, Answer::Deny];
    for (first, word) in order.iter().enumerate() {
        for (second, other) in order.iter().enumerate() {
            let room = Room::new();
            room.write("a", claude_answer(word));
            room.write("b", claude_answer(other));
            let hook = |file: &str| json!({"type": "command", "command": format!("cat {file}")});
            let text = json!({"hooks": {"PreToolUse": [{"hooks": [hook("a"), hook("b")]}]}});
            let report = gate(claude(&text.to_string()), &room);
            assert_eq!(report.hooks.answer, answers[first.max(second)], "{word} {other}");
        }
    }
}

/// A gate that rewrites the command, unless it is rewritten.
fn rewrite(name: &str, command: &str, more: &str) -> String {
    entry_with(
        name,
        "pre_tool_use",
        &format!("echo '{{\"transformed\": {{\"args\": {{\"command\": \"{command}\"}}}}}}'"),
        more,
    )
}

#[test]
fn rewritten_arguments_pass_the_rule_of_the_host_again() {
    let rule = DenyWord::new("danger");
    let plan = gnoma(&rewrite("rewrite", "danger now", ""));
    let services = services_with(Arc::new(rule.clone()));
    let report = Dispatcher::new(plan, services).unwrap().gate(&bash("ls"), &Room::new().at());
    assert_eq!(report.hooks.answer, Answer::Deny);
    let asked = rule.asked.lock().unwrap().clone();
    assert_eq!(asked, ["{\"command\":\"ls\"}", "{\"command\":\"danger now\"}"]);
    assert!(report.proposed.permit(Consent::Given).is_err());
}

#[test]
fn rewritten_arguments_are_what_the_tool_gets() {
    let report = gate(gnoma(&rewrite("rewrite", "ls -l", "")), &Room::new());
    assert_eq!(steps(&report.hooks), ["user:rewrite gate raw transform -"]);
    let args = report.proposed.permit(Consent::NotGiven).unwrap().into_value();
    assert_eq!(args, json!({"command": "ls -l"}));
}

#[test]
fn an_earlier_gate_that_denies_the_rewritten_arguments_is_asked_again() {
    let room = Room::new();
    let text = [
        entry("guard", "pre_tool_use", "echo asked >> log; if grep -q danger; then exit 2; fi"),
        rewrite("rewrite", "danger", ""),
    ];
    let report = gate(gnoma(&text.concat()), &room);
    assert_eq!(report.hooks.answer, Answer::Deny);
    assert_eq!(
        steps(&report.hooks),
        ["user:guard gate raw allow -", "user:rewrite gate raw transform -", "user:guard gate raw deny -"]
    );
    assert_eq!(room.text("log"), "asked\nasked\n");
}

#[test]
fn an_earlier_gate_whose_if_matches_only_the_rewritten_arguments_is_asked() {
    let guard = json!({"type": "command", "command": "exit 2", "if": "Bash(rm:*)"});
    let files: [(Scope, Dialect, &str); 2] = [
        (Scope::User, Dialect::Claude, &handler("PreToolUse", "Bash", &guard)),
        (Scope::Project, Dialect::Gnoma, &rewrite("rewrite", "rm x", "")),
    ];
    let report = gate(plan_of(&files), &Room::new());
    assert_eq!(report.hooks.answer, Answer::Deny);
    assert_eq!(
        steps(&report.hooks),
        ["project:rewrite gate redacted transform -", "user:PreToolUse.1 gate raw deny -"]
    );
    // Without a rewrite that it is about, it does not run.
    let files = [files[0], (Scope::Project, Dialect::Gnoma, &rewrite("rewrite", "cp x y", ""))];
    assert_eq!(gate(plan_of(&files), &Room::new()).hooks.answer, Answer::Allow);
}

#[test]
fn a_hook_that_is_asked_again_cannot_rewrite_again() {
    let room = Room::new();
    let text = [
        rewrite("first", "one", ""),
        entry("between", "pre_tool_use", "cat >> seen; echo >> seen"),
        rewrite("second", "two", ""),
    ];
    let report = gate(gnoma(&text.concat()), &room);
    assert_eq!(report.proposed.redacted().as_ref(), &json!({"command": "two"}));
    assert_eq!(
        steps(&report.hooks),
        [
            "user:first gate raw transform -",
            "user:between gate raw allow -",
            "user:second gate raw transform -",
            "user:first gate raw allow hook/ignored-field",
            "user:between gate raw allow -",
        ]
    );
    let seen = room.text("seen");
    let commands: Vec<&str> = seen.lines().filter(|line| line.contains("command")).collect();
    assert!(commands[0].contains("one") && commands[1].contains("two"), "{seen}");
}

#[test]
fn a_prompt_hook_is_asked_again_about_the_rewritten_arguments() {
    let text = [
        prompt_entry("judge", "pre_tool_use", "prompt", "{{.Args}}"),
        // Model hooks run after commands, so that one question is enough here.
        rewrite("rewrite", "danger", ""),
    ];
    let model = Recorder::new(&["DENY\nno"]);
    let services = services(Answer::Allow).model(model.behind_firewall());
    let report =
        Dispatcher::new(gnoma(&text.concat()), services).unwrap().gate(&bash("ls"), &Room::new().at());
    assert_eq!(report.hooks.answer, Answer::Deny);
    let users: Vec<String> = model.texts().into_iter().map(|parts| parts[1].clone()).collect();
    assert_eq!(users, ["{\"command\":\"danger\"}"]);
}

#[test]
fn a_gate_that_sees_redacted_arguments_leaves_unchanged_values_as_they_are() {
    let room = Room::new();
    let args = json!({"command": "ls", "env": ["A=1", format!("K={}", secret())]});
    let call = GateCall::tool(Event::PreToolUse, "Bash".to_owned(), args);
    // `cat` of the envelope shows that it was redacted; the reply repeats the marker where the value was.
    let reply = json!({"transformed": {"args": {"command": "ls -l", "env": ["A=1", format!("K={MARKER}")]}}});
    room.write("reply", reply.to_string());
    let text = entry("rewrite", "pre_tool_use", "cat > seen; cat reply");
    let plan = plan_of(&[(Scope::Project, Dialect::Gnoma, &text)]);
    let report = dispatcher(plan.clone()).gate(&call, &room.at());
    assert!(!room.text("seen").contains("api03") && room.text("seen").contains(MARKER));
    let permitted = report.proposed.permit(Consent::NotGiven).unwrap().into_value();
    assert_eq!(permitted, json!({"command": "ls -l", "env": ["A=1", format!("K={}", secret())]}));

    // A marker in a new value would reach the tool in place of the secret.
    room.write("reply", json!({"transformed": {"args": {"command": format!("echo {MARKER}")}}}).to_string());
    let report = dispatcher(plan).gate(&call, &room.at());
    assert_eq!(report.hooks.answer, Answer::Deny);
    assert_eq!(steps(&report.hooks), ["project:rewrite gate redacted failure hook/bad-shape"]);
}

#[test]
fn a_redacted_item_keeps_its_own_value_next_to_an_equal_one() {
    let room = Room::new();
    let other = secret().replace("abc", "xyz");
    let args = json!({"env": [format!("K={}", secret()), format!("K={other}")]});
    let call = GateCall::tool(Event::PreToolUse, "Bash".to_owned(), args);
    room.write(
        "reply",
        json!({"transformed": {"args": {"env": ["none", format!("K={MARKER}")]}}}).to_string(),
    );
    let text = entry("rewrite", "pre_tool_use", "cat reply");
    let plan = plan_of(&[(Scope::Project, Dialect::Gnoma, &text)]);
    let report = dispatcher(plan).gate(&call, &room.at());
    let permitted = report.proposed.permit(Consent::NotGiven).unwrap().into_value();
    assert_eq!(permitted, json!({"env": ["none", format!("K={other}")]}));
}

#[test]
fn project_and_plugin_hooks_see_redacted_text() {
    let text = [
        entry("gate", "pre_tool_use", "cat > gate"),
        entry("after", "post_tool_use", "cat > after"),
        entry("note", "session_start", "cat > note"),
    ]
    .concat();
    for (raw, scope, expected) in [
        (RawOutput::ManagedAndUser, Scope::Managed, View::Raw),
        (RawOutput::ManagedAndUser, Scope::User, View::Raw),
        (RawOutput::ManagedAndUser, Scope::Project, View::Redacted),
        (RawOutput::All, Scope::Project, View::Raw),
    ] {
        let room = Room::new();
        let mut builder = Plan::builder(raw);
        builder.file(scope, Dialect::Gnoma, "hooks.toml", text.as_bytes());
        let plan = builder.build();
        assert!(plan.hooks().iter().all(|hook| hook.view() == expected));
        let dispatcher = dispatcher(plan);
        let gate = dispatcher.gate(&bash(&secret()), &room.at());
        let after = dispatcher.post_tool_use(&ran(), text_output(&secret()), &room.at());
        let data = GateCall::data(Event::SessionStart, json!({"source": secret()}));
        let note = dispatcher.notify(&data, &room.at());
        for (file, report) in [("gate", &gate.hooks), ("after", &after.hooks), ("note", &note)] {
            assert_eq!(report.steps[0].saw, expected, "{scope:?} {file}");
            let seen = room.text(file);
            assert_eq!(seen.contains(&secret()), expected == View::Raw, "{scope:?} {file}: {seen}");
            assert_eq!(seen.contains(MARKER), expected == View::Redacted, "{scope:?} {file}: {seen}");
        }
    }
}

/// Grants one hook the output of one tool, and keeps a record of what happened in which order.
struct Grants {
    hook: &'static str,
    check: LendCheck,
    log: Arc<Mutex<Vec<String>>>,
    marker: std::path::PathBuf,
}

impl RawGrants for Grants {
    fn lend(&self, hook: &Hook, tool: &str, lend: &mut dyn FnMut()) -> LendCheck {
        let hook = hook.id();
        let ran = self.marker.exists();
        self.log.lock().unwrap().push(format!("asked {hook} {tool} ran={ran}"));
        if hook != self.hook {
            return LendCheck::NotGranted;
        }
        if self.check == LendCheck::Lent {
            self.log.lock().unwrap().push("recorded".to_owned());
            lend();
            self.log.lock().unwrap().push(format!("over ran={}", self.marker.exists()));
        }
        self.check
    }

    fn record_exposure(&self, hook: &Hook, tool: &str) -> bool {
        self.log.lock().unwrap().push(format!("shown {} {tool} ran={}", hook.id(), self.marker.exists()));
        self.check == LendCheck::Lent
    }
}

#[test]
fn raw_output_for_all_is_recorded_before_others_see_it() {
    for check in [LendCheck::Lent, LendCheck::Unrecorded] {
        let room = Room::new();
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let marker = std::path::Path::new(&room.path()).join("p");
        let grants = Grants { hook: "none", check, log: Arc::clone(&log), marker };
        let mut builder = Plan::builder(RawOutput::All);
        for (scope, name) in [(Scope::User, "u"), (Scope::Project, "p")] {
            let text = entry(name, "post_tool_use", &format!("cat > {name}"));
            builder.file(scope, Dialect::Gnoma, "hooks.toml", text.as_bytes());
        }
        let services = services(Answer::Allow).grants(Arc::new(grants));
        let dispatcher = Dispatcher::new(builder.build(), services).unwrap();
        let report = dispatcher.post_tool_use(&ran(), text_output(&secret()), &room.at());
        let expected = match check {
            LendCheck::Lent => "project:p transform raw skip -",
            _ => "project:p transform redacted skip hook/raw-unrecorded",
        };
        assert_eq!(steps(&report.hooks), ["user:u transform raw skip -", expected]);
        assert_eq!(*log.lock().unwrap(), ["shown project:p Bash ran=false"]);
        assert_eq!(room.text("p").contains(&secret()), check == LendCheck::Lent);
        assert!(room.text("u").contains(&secret()));
    }
}

#[test]
fn a_grant_is_recorded_before_raw_bytes_are_lent() {
    for (check, expected) in [
        (LendCheck::Lent, "claude:p:granted transform raw skip -"),
        (LendCheck::Unrecorded, "claude:p:granted transform redacted skip hook/raw-unrecorded"),
        (LendCheck::NotGranted, "claude:p:granted transform redacted skip -"),
    ] {
        let room = Room::new();
        let log = Arc::default();
        let marker = std::path::Path::new(&room.path()).join("granted");
        let grants = Grants { hook: "claude:p:granted", check, log: Arc::clone(&log), marker };
        let text = [
            entry("granted", "post_tool_use", "cat > granted"),
            entry("other", "post_tool_use", "cat > other"),
        ]
        .concat();
        let file = plugward_manifest::read_hooks_file(Dialect::Gnoma, text.as_bytes()).unwrap();
        let mut builder = Plan::builder(RawOutput::ManagedAndUser);
        let id = builder.plugin("claude:p", file.items().iter().map(|item| (Dialect::Gnoma, item)));
        builder.file(
            Scope::Project,
            Dialect::Gnoma,
            "hooks.toml",
            entry("p", "post_tool_use", "cat > p").as_bytes(),
        );
        let own = PluginDirectories { root: room.path(), data: room.path() };
        let plan = builder.build().with_directories(&BTreeMap::from([(id, own)]));
        let services = services(Answer::Allow).grants(Arc::new(grants));
        let dispatcher = Dispatcher::new(plan, services).unwrap();
        let report = dispatcher.post_tool_use(&ran(), text_output(&secret()), &room.at());
        assert_eq!(
            steps(&report.hooks),
            ["project:p transform redacted skip -", expected, "claude:p:other transform redacted skip -"]
        );
        assert!(!room.text("p").contains("api03"), "a project has no grants");
        assert_eq!(room.text("granted").contains(&secret()), check == LendCheck::Lent);
        assert!(!room.text("other").contains("api03"));
        let lines = log.lock().unwrap().clone();
        let lent = ["recorded", "over ran=true"].map(str::to_owned);
        let between = if check == LendCheck::Lent { &lent[..] } else { &[] };
        let mut expected = vec!["asked claude:p:granted Bash ran=false".to_owned()];
        expected.extend_from_slice(between);
        expected.push("asked claude:p:other Bash ran=true".to_owned());
        assert_eq!(lines, expected, "{check:?}");
    }
}

#[test]
fn an_observer_of_a_gate_has_no_say() {
    let room = Room::new();
    for exec in ["exit 2", "echo '{\"action\": \"deny\"}'", "exit 1"] {
        let text = entry_with("watch", "pre_tool_use", exec, "phase = \"observe\"");
        assert_eq!(gate(gnoma(&text), &room).hooks.answer, Answer::Allow, "{exec}");
    }
    let rewrite = rewrite("watch", "other", "phase = \"observe\"");
    let report = gate(gnoma(&rewrite), &room);
    assert_eq!(report.proposed.redacted().as_ref(), &json!({"command": "ls"}), "an observer changes nothing");
    // The content of an elicitation is part of an answer too.
    let reply = json!({"hookSpecificOutput": {"action": "accept", "content": {"name": "x"}}});
    room.write("reply", reply.to_string());
    let watch = json!({"type": "command", "command": "cat reply", "async": true});
    let plan = claude(&handler("Elicitation", "", &watch));
    let call = GateCall::data(Event::Elicitation, json!({"mcp_server_name": "s"}));
    let report = dispatcher(plan).gate(&call, &room.at());
    assert_eq!((report.hooks.answer, report.reply.is_none()), (Answer::Allow, true));
}

#[test]
fn on_failure_decides_what_a_failed_gate_does() {
    for (more, expected) in [
        ("", Answer::Deny),
        ("on_failure = \"block\"", Answer::Deny),
        ("on_failure = \"skip\"", Answer::Allow),
        ("fail_open = true", Answer::Allow),
        ("fail_open = false", Answer::Deny),
    ] {
        let report = gate(gnoma(&entry_with("g", "pre_tool_use", "exit 1", more)), &Room::new());
        assert_eq!(report.hooks.answer, expected, "{more}");
        assert!(steps(&report.hooks)[0].ends_with("failure hook/exit"), "a failure is not an answer: {more}");
    }
}

#[test]
fn a_gate_without_an_opinion_is_allowed() {
    for text in [entry("g", "pre_tool_use", "echo '{\"action\": \"skip\"}'"), entry("g", "stop", "true")] {
        assert_eq!(gate(gnoma(&text), &Room::new()).hooks.answer, Answer::Allow);
    }
}
