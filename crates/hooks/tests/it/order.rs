//! One total order.

use plugward_hooks::{Answer, Plan, RawOutput, Scope, Step};
use plugward_manifest::Dialect;
use plugward_redact::{OutputContent, ToolStatus};
use serde_json::json;

use crate::common::{
    Room, command, dispatcher, entry, entry_with, gate, gnoma, ids, output, plan_of, prompt_entry, ran, steps,
};

#[test]
fn steps_come_before_priorities_and_priorities_before_scopes() {
    let managed = [
        prompt_entry("judge", "pre_tool_use", "prompt", "x"),
        entry_with("late", "pre_tool_use", "true", "priority = 5"),
        entry_with("watch", "pre_tool_use", "true", "phase = \"observe\"\npriority = 9"),
        entry("b", "pre_tool_use", "true"),
        entry("a", "pre_tool_use", "true"),
    ]
    .concat();
    let project =
        [entry_with("first", "pre_tool_use", "true", "priority = -1"), entry("c", "pre_tool_use", "true")]
            .concat();
    let user = entry("u", "pre_tool_use", "true");
    let plan = plan_of(&[
        (Scope::Project, Dialect::Gnoma, &project),
        (Scope::User, Dialect::Gnoma, &user),
        (Scope::User, Dialect::Gnoma, &user),
        (Scope::Managed, Dialect::Gnoma, &managed),
    ]);
    assert_eq!(
        ids(&plan),
        [
            "managed:watch",
            "project:first",
            "managed:b",
            "managed:a",
            "user:u",
            "user2:u",
            "project:c",
            "managed:late",
            "managed:judge",
        ]
    );
}

#[test]
fn events_are_listed_in_the_order_of_the_page() {
    let text = json!({"hooks": {
        "SessionStart": [{"hooks": [{"type": "command", "command": "true"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "true"}]}],
        "PostToolUse": [{"hooks": [{"type": "command", "command": "true"}]}],
        "PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}],
    }});
    let plan = plan_of(&[(Scope::User, Dialect::Claude, &text.to_string())]);
    let events: Vec<&str> = plan.hooks().iter().map(|hook| hook.event().as_str()).collect();
    assert_eq!(events, ["pre_tool_use", "post_tool_use", "stop", "session_start"]);
    let steps: Vec<Step> = plan.hooks().iter().map(plugward_hooks::Hook::step).collect();
    assert_eq!(steps, [Step::Gate, Step::Transform, Step::Gate, Step::Notice]);
    assert_eq!(ids(&plan.only(plugward_hooks::Event::Stop)), ["user:Stop.1"]);
}

#[test]
fn hooks_run_one_after_another_and_a_deny_does_not_stop_later_ones() {
    let room = Room::new();
    // A hook that overlapped with the next one would leave its mark between the two words of it.
    let text: String = (0..8)
        .map(|number| {
            entry(
                &format!("h{number}"),
                "pre_tool_use",
                &format!("echo in{number} >> log; cat > /dev/null; echo out{number} >> log; exit 2"),
            )
        })
        .collect();
    let report = gate(gnoma(&text), &room);
    assert_eq!((report.hooks.answer, report.hooks.steps.len()), (Answer::Deny, 8));
    let expected: Vec<String> = (0..8).map(|number| format!("in{number}\nout{number}\n")).collect();
    assert_eq!(room.text("log"), expected.concat());
}

#[test]
fn a_command_that_one_source_lists_twice_runs_once() {
    let room = Room::new();
    let hook = |command: &str| json!({"type": "command", "command": command});
    let text = json!({"hooks": {"PreToolUse": [
        {"matcher": "Write", "hooks": [hook("echo x >> log")]},
        {"matcher": "Bash", "hooks": [hook("echo x >> log"), hook("echo y >> log")]},
        {"matcher": "*", "hooks": [hook("echo x >> log")]},
    ]}})
    .to_string();
    let report = gate(plan_of(&[(Scope::User, Dialect::Claude, &text)]), &room);
    // The first one that matches runs, not the first one of the file.
    assert_eq!(
        steps(&report.hooks),
        ["user:PreToolUse.2 gate raw skip -", "user:PreToolUse.3 gate raw skip -"]
    );
    assert_eq!(room.text("log"), "x\ny\n");
    // Of two sources, each one runs its own.
    let one = command("PreToolUse", "echo z >> other");
    let plan = plan_of(&[(Scope::User, Dialect::Claude, &one), (Scope::User, Dialect::Claude, &one)]);
    let _report = gate(plan, &room);
    assert_eq!(room.text("other"), "z\nz\n");
}

#[test]
fn two_plugins_with_one_command_both_run() {
    let items = plugward_manifest::read_hooks_file(
        Dialect::Claude,
        command("PreToolUse", "echo $CLAUDE_PLUGIN_DATA >> log").as_bytes(),
    )
    .unwrap();
    let room = Room::new();
    let mut builder = Plan::builder(RawOutput::ManagedAndUser);
    let mut directories = std::collections::BTreeMap::new();
    for id in ["b", "a"] {
        builder.plugin(id, items.items().iter().map(|item| (Dialect::Claude, item)));
        let own = plugward_hooks::PluginDirectories { root: room.path(), data: id.to_owned() };
        directories.insert(id.to_owned(), own);
    }
    let report = gate(builder.build().with_directories(&directories), &room);
    assert_eq!(
        steps(&report.hooks),
        ["a:PreToolUse.1 gate redacted skip -", "b:PreToolUse.1 gate redacted skip -"]
    );
    assert_eq!(room.text("log"), "a\nb\n");
}

#[test]
fn plugins_are_ordered_bytewise() {
    let items = plugward_manifest::read_hooks_file(Dialect::Claude, command("PreToolUse", "true").as_bytes())
        .unwrap();
    let mut builder = Plan::builder(RawOutput::ManagedAndUser);
    for id in ["b", "A", "ä", "a-b", "a", "B", "a:b"] {
        builder.plugin(id, items.items().iter().map(|item| (Dialect::Claude, item)));
    }
    let plan = builder.build();
    let plugins: Vec<&str> = plan.hooks().iter().filter_map(plugward_hooks::Hook::plugin).collect();
    assert_eq!(plugins, ["A", "B", "a", "a-b", "a:b", "b", "ä"]);
}

#[test]
fn both_words_for_a_failed_tool_are_one_event() {
    let room = Room::new();
    let claude = command("PostToolUseFailure", "echo claude >> log");
    let late = entry_with("late", "post_tool_use", "echo late >> log", "priority = 3");
    let early = entry_with("early", "post_tool_use", "echo early >> log", "priority = -3");
    let plan = plan_of(&[
        (Scope::User, Dialect::Gnoma, &late),
        (Scope::User, Dialect::Claude, &claude),
        (Scope::Project, Dialect::Gnoma, &early),
    ]);
    let failed = output(OutputContent::Text("e".to_owned()), ToolStatus::Failed);
    let _report = dispatcher(plan).post_tool_use(&ran(), failed, &room.at());
    assert_eq!(room.text("log"), "early\nclaude\nlate\n");
}

#[test]
fn ids_count_per_event_and_source() {
    let hook = json!({"type": "command", "command": "true"});
    let other = json!({"type": "command", "command": "false"});
    let text = json!({"hooks": {
        "PreToolUse": [{"hooks": [hook, other]}, {"matcher": "X", "hooks": [other]}],
        "Stop": [{"hooks": [hook]}],
    }})
    .to_string();
    let plan = plan_of(&[(Scope::Project, Dialect::Claude, &text), (Scope::Project, Dialect::Codex, &text)]);
    assert_eq!(
        ids(&plan),
        [
            "project:PreToolUse.1",
            "project:PreToolUse.2",
            "project:PreToolUse.3",
            "project2:PreToolUse.1",
            "project2:PreToolUse.2",
            "project2:PreToolUse.3",
            "project:Stop.1",
            "project2:Stop.1",
        ]
    );
}

#[test]
fn a_plugin_cannot_take_the_name_of_a_scope_or_of_another_plugin() {
    let items = plugward_manifest::read_hooks_file(Dialect::Claude, command("PreToolUse", "true").as_bytes())
        .unwrap();
    let mut builder = Plan::builder(RawOutput::ManagedAndUser);
    for id in ["user", "managed", "project2", "host", "x", "x"] {
        builder.plugin(id, items.items().iter().map(|item| (Dialect::Claude, item)));
    }
    let plan = builder.build();
    let names: std::collections::BTreeSet<&str> = ids(&plan).into_iter().collect();
    assert_eq!(names.len(), 6, "{names:?}");
    for scope in ["user", "managed", "project", "host"] {
        assert!(!names.iter().any(|id| id.starts_with(scope)), "{names:?}");
    }
    assert!(plan.hooks().iter().all(|hook| hook.scope() == Scope::Plugin));
}
