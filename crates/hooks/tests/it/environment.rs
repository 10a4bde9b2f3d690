//! What a command gets besides its input.

use std::collections::BTreeMap;
use std::sync::Arc;

use plugward_hooks::{
    Answer, Dispatcher, FireContext, HookCommand, Plan, PluginDirectories, RawOutput, Scope,
};
use plugward_manifest::Dialect;

use crate::common::{Room, Spy, bash, command, entry_with, plan_of, services};

/// Fires `pre_tool_use`, and returns the command that was started.
fn started(plan: Plan, at: &FireContext) -> HookCommand {
    let spy = Spy::default();
    let services = services(Answer::Allow).start(Arc::new(spy.clone()));
    let _report = Dispatcher::new(plan, services).unwrap().gate(&bash("ls"), at);
    let command = spy.0.lock().unwrap().first().cloned();
    command.unwrap()
}

fn names(command: &HookCommand) -> Vec<&str> {
    let mut names: Vec<&str> = command.env.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names
}

fn context(room: &Room) -> FireContext {
    let mut at = room.at();
    for name in [
        "PATH",
        "HOME",
        "USER",
        "LANG",
        "LC_ALL",
        "LC_TIME",
        "TZ",
        "TMPDIR",
        "TERM",
        "AWS_SECRET",
        "WANTED",
        "GRANTED",
        "LD_PRELOAD",
        "NODE_OPTIONS",
    ] {
        at.env.entry(name.to_owned()).or_insert_with(|| "x".to_owned());
    }
    at
}

const BASE: [&str; 10] =
    ["CLAUDE_PROJECT_DIR", "HOME", "LANG", "LC_ALL", "LC_TIME", "PATH", "TERM", "TMPDIR", "TZ", "USER"];

#[test]
fn a_command_gets_the_listed_variables_and_no_others() {
    let room = Room::new();
    let at = context(&room);
    let text = entry_with("x", "pre_tool_use", "true", "");
    for scope in [Scope::Managed, Scope::User, Scope::Project] {
        let command = started(plan_of(&[(scope, Dialect::Gnoma, &text)]), &at);
        assert_eq!(names(&command), BASE, "{scope:?}");
        assert_eq!(command.directory, room.path());
        assert_eq!(command.plugin, None);
    }
}

#[test]
fn requested_variables_need_a_grant_unless_the_user_wrote_the_hook() {
    let room = Room::new();
    let mut at = context(&room);
    at.granted_env.insert("GRANTED".to_owned());
    let text = entry_with("x", "pre_tool_use", "true", "env = ['WANTED', 'GRANTED', 'ABSENT']");
    for (scope, more) in [
        (Scope::User, &["WANTED", "GRANTED"][..]),
        (Scope::Managed, &["WANTED", "GRANTED"]),
        (Scope::Project, &["GRANTED"]),
    ] {
        let command = started(plan_of(&[(scope, Dialect::Gnoma, &text)]), &at);
        let mut expected = [&BASE[..], more].concat();
        expected.sort_unstable();
        assert_eq!(names(&command), expected, "{scope:?}");
    }
}

#[test]
fn a_plugin_gets_its_directories() {
    let room = Room::new();
    for (dialect, expected) in [
        (Dialect::Claude, &["CLAUDE_PLUGIN_DATA", "CLAUDE_PLUGIN_ROOT"][..]),
        (Dialect::Codex, &["CLAUDE_PLUGIN_DATA", "CLAUDE_PLUGIN_ROOT", "PLUGIN_DATA", "PLUGIN_ROOT"]),
    ] {
        let items =
            plugward_manifest::read_hooks_file(dialect, command("PreToolUse", "true").as_bytes()).unwrap();
        let mut builder = Plan::builder(RawOutput::ManagedAndUser);
        builder.plugin("x", items.items().iter().map(|item| (dialect, item)));
        let directories = PluginDirectories { root: "/root-of-x".to_owned(), data: "/data-of-x".to_owned() };
        let plan = builder.build().with_directories(&BTreeMap::from([("x".to_owned(), directories)]));
        let command = started(plan, &context(&room));
        let mut all = [&BASE[..], expected].concat();
        all.sort_unstable();
        assert_eq!(names(&command), all, "{dialect}");
        for (name, value) in &command.env {
            if name.ends_with("PLUGIN_ROOT") {
                assert_eq!(value, "/root-of-x");
            }
        }
        assert_eq!(command.argv, ["sh", "-c", "true"]);
        assert_eq!(command.plugin.as_deref(), Some("x"));
    }
}

#[test]
fn shells_and_argument_lists() {
    let room = Room::new();
    let argv = |handler: serde_json::Value| {
        let text = crate::common::handler("PreToolUse", "", &handler);
        started(plan_of(&[(Scope::User, Dialect::Claude, &text)]), &room.at()).argv
    };
    let text = |shell: &str| serde_json::json!({"type": "command", "command": "a b", "shell": shell});
    assert_eq!(argv(text("sh")), ["sh", "-c", "a b"]);
    assert_eq!(argv(text("bash")), ["bash", "-c", "a b"]);
    let list = serde_json::json!({"type": "command", "command": "true", "args": ["$HOME", "a b; c"]});
    assert_eq!(argv(list), ["true", "$HOME", "a b; c"]);
    let list = serde_json::json!({"type": "command", "command": ["true", "${CLAUDE_PROJECT_DIR}/x"]});
    assert_eq!(argv(list), ["true".to_owned(), format!("{}/x", room.path())]);
}
