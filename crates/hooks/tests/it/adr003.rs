//! ADR-003: one bad definition never stops the host or another source.

use plugward_hooks::{Answer, Scope};
use plugward_manifest::Dialect;
use serde_json::json;

use crate::common::{Room, command, dispatcher, entry, gate, ids, notes, plan_of, refused, steps};

const GOOD: &str =
    "[[hooks]]\nname = \"good\"\nevent = \"pre_tool_use\"\ntype = \"command\"\nexec = \"true\"\n";

/// Bad handlers of a Claude file, which each cost one entry or one source.
fn bad_handlers() -> Vec<serde_json::Value> {
    vec![
        json!({"type": "command", "command": "true", "timeout": 0}),
        json!({"type": "http", "url": "https://a.example"}),
        json!({"type": "magic"}),
        json!({"type": "command"}),
        json!({"type": "command", "command": 5}),
        json!({"type": "command", "command": "echo ${user_config.token}"}),
        json!({"type": "command", "command": "true", "onFailure": "explode"}),
        json!({"type": "command", "command": "true", "async": "yes"}),
        json!(7),
    ]
}

#[test]
fn adr003_a_bad_entry_that_is_not_a_gate_costs_the_entry() {
    for bad in bad_handlers() {
        for event in ["PostToolUse", "SessionStart", "Notification"] {
            let good = json!({"type": "command", "command": "true"});
            let text = json!({"hooks": {
                event: [{"hooks": [bad, good]}],
                "PreToolUse": [{"hooks": [good]}],
            }});
            let plan = plan_of(&[(Scope::User, Dialect::Claude, &text.to_string())]);
            assert_eq!(plan.hooks().len(), 2, "{event} {bad}: {:?}", plan.notes());
            assert!(refused(&plan).is_empty(), "{event} {bad}");
            assert_eq!(plan.notes().len(), 1, "{event} {bad}: {:?}", plan.notes());
        }
    }
}

#[test]
fn adr003_a_bad_gate_costs_its_source_and_the_others_run() {
    for bad in bad_handlers() {
        for event in ["PreToolUse", "UserPromptSubmit", "Stop"] {
            let text = json!({"hooks": {
                event: [{"hooks": [bad]}],
                "PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}],
            }});
            let mut text = text;
            if event == "PreToolUse" {
                text["hooks"]["PreToolUse"].as_array_mut().unwrap().push(json!({"hooks": [bad]}));
            }
            let bad_text = text.to_string();
            let other = entry("mine", "pre_tool_use", "touch ran");
            let plan = plan_of(&[
                (Scope::Project, Dialect::Claude, &bad_text),
                (Scope::User, Dialect::Gnoma, GOOD),
                (Scope::Project, Dialect::Gnoma, &other),
            ]);
            assert_eq!(ids(&plan), ["user:good", "project2:mine"], "{event} {bad}");
            let [row] = plan.refused() else { panic!("{event} {bad}: {:?}", plan.refused()) };
            assert_eq!((row.scope, row.source.as_str()), (Scope::Project, "project"));
            let room = Room::new();
            let report = gate(plan, &room);
            assert_eq!(report.hooks.answer, Answer::Allow);
            assert_eq!(steps(&report.hooks).len(), 2);
            assert!(std::path::Path::new(&room.path()).join("ran").exists());
        }
    }
}

#[test]
fn adr003_an_unreadable_file_costs_itself() {
    for bad in ["", "{", "[]", "7", "{\"hooks\": 7}", "\u{0}", "{\"hooks\": {}, \"hooks\": {}}"] {
        let plan = plan_of(&[
            (Scope::Managed, Dialect::Claude, bad),
            (Scope::User, Dialect::Gnoma, GOOD),
            (Scope::Project, Dialect::Claude, &command("PreToolUse", "true")),
        ]);
        assert_eq!(refused(&plan), ["managed hook/config-syntax"], "{bad}");
        assert_eq!(ids(&plan), ["user:good", "project:PreToolUse.1"], "{bad}");
        assert!(notes(&plan)[0].starts_with("hook/config-syntax hooks.json"), "{bad}: {:?}", notes(&plan));
    }
}

#[test]
fn adr003_an_unknown_event_costs_nothing() {
    let text = json!({"hooks": {
        "SomethingNew": [{"hooks": [{"type": "command", "command": "exit 2", "timeout": "x"}]}],
        "PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}],
    }});
    let plan = plan_of(&[(Scope::User, Dialect::Claude, &text.to_string())]);
    assert_eq!(ids(&plan), ["user:PreToolUse.1"]);
    assert_eq!(plan.notes()[0].code, "hook/unknown-event");
    assert_eq!(gate(plan, &Room::new()).hooks.answer, Answer::Deny);
}

#[test]
fn adr003_a_broken_hook_does_not_stop_later_ones() {
    let room = Room::new();
    let text = ["kill -9 $$", "exit 1", "./missing", "printf garbage", "touch last"]
        .iter()
        .enumerate()
        .map(|(number, exec)| entry(&format!("h{number}"), "post_tool_use", exec))
        .collect::<String>();
    let report = dispatcher(crate::common::gnoma(&text)).post_tool_use(
        &crate::common::ran(),
        crate::common::text_output("out"),
        &room.at(),
    );
    assert_eq!(report.hooks.steps.len(), 5);
    assert_eq!(crate::common::out(&report), "out");
    assert!(std::path::Path::new(&room.path()).join("last").exists());
}
