//! Definitions: each code with a case and a near miss, matchers, `if`, timeouts, and what services a plan needs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use plugward_hooks::{
    Answer, AskUntilVerdict, Dispatcher, Event, GateCall, HookServices, OnFailure, Plan, PluginDirectories,
    RawOutput, Scope,
};
use plugward_manifest::{Dialect, FileMode, MapFiles, PluginContext, SurfaceItem};
use serde_json::{Value, json};

use crate::common::{
    FIREWALL, Permit, Recorder, Room, bash, claude, command, dispatcher, entry, entry_with, gate, gnoma,
    handler, ids, notes, plan_of, prompt_entry, refused, services, steps,
};

fn user(dialect: Dialect, text: &str) -> Plan {
    plan_of(&[(Scope::User, dialect, text)])
}

/// A command handler with one further field.
fn with(key: &str, value: &Value) -> Value {
    let mut handler = json!({"type": "command", "command": "true"});
    handler[key] = value.clone();
    handler
}

/// Asserts that a handler costs its source on a gate event, and only itself on another, of which nothing is left then.
#[track_caller]
fn defect(code: &str, bad: &Value) {
    let gate = user(Dialect::Claude, &handler("PreToolUse", "", bad));
    assert_eq!((refused(&gate), ids(&gate).len()), (vec![format!("user {code}")], 0), "{bad}");
    let entry = user(Dialect::Claude, &handler("PostToolUse", "", bad));
    assert_eq!((refused(&entry), ids(&entry).len()), (vec!["user hook/none-usable".to_owned()], 0), "{bad}");
    for plan in [gate, entry] {
        let [note] = plan.notes() else { panic!("{bad}: {:?}", plan.notes()) };
        assert_eq!(note.code, code, "{bad}");
        assert!(!note.message.is_empty() && !note.help.is_empty());
        let parts: Vec<&str> = note.at.split(':').collect();
        assert!(
            matches!(parts[..], ["hooks.json", line, column] if line.parse::<u32>().is_ok() && column.parse::<u32>().is_ok()),
            "{bad}: {}",
            note.at
        );
    }
}

/// Asserts that a handler has no defect and no note.
#[track_caller]
fn fine(event: &str, good: &Value) {
    let plan = user(Dialect::Claude, &handler(event, "", good));
    assert_eq!((plan.hooks().len(), notes(&plan)), (1, vec![]), "{good}");
}

/// As [`defect`], for lines of a gnoma entry.
#[track_caller]
fn gnoma_defect(code: &str, more: &str) {
    let gate = user(Dialect::Gnoma, &entry_with("x", "pre_tool_use", "true", more));
    assert_eq!((refused(&gate), ids(&gate).len()), (vec![format!("user {code}")], 0), "{more}");
    let entry = user(Dialect::Gnoma, &entry_with("x", "post_tool_use", "true", more));
    assert_eq!((refused(&entry), ids(&entry).len()), (vec!["user hook/none-usable".to_owned()], 0), "{more}");
    assert!(notes(&gate)[0].starts_with(&format!("{code} hooks.toml:")), "{:?}", notes(&gate));
}

#[track_caller]
fn gnoma_fine(event: &str, more: &str) {
    let plan = user(Dialect::Gnoma, &entry_with("x", event, "true", more));
    assert_eq!((plan.hooks().len(), notes(&plan)), (1, vec![]), "{more}");
}

#[test]
fn config_syntax() {
    let deep = format!("{{\"hooks\": {{\"PreToolUse\": {}{}}}}}", "[".repeat(20), "]".repeat(20));
    let long = format!("{{\"hooks\": {{}}, \"x\": \"{}\"}}", "x".repeat(1 << 20));
    let many = |count: usize| {
        let handler = json!({"type": "command", "command": "true"});
        json!({"hooks": {"PreToolUse": [{"hooks": vec![handler; count]}]}}).to_string()
    };
    for bad in [
        "{\"hooks\":",
        "{\"hooks\": {\"PreToolUse\": [], \"PreToolUse\": []}}",
        "{\"hooks\": []}",
        &deep,
        &long,
        &many(1001),
    ] {
        let plan = user(Dialect::Claude, bad);
        assert_eq!(refused(&plan), ["user hook/config-syntax"], "{}", &bad[..20.min(bad.len())]);
        assert!(!plan.notes()[0].message.is_empty());
    }
    for bad in ["[[hooks]\n", "hooks = 5\n", "[[hooks]]\nname = 'a'\nname = 'b'\n"] {
        assert_eq!(refused(&user(Dialect::Gnoma, bad)), ["user hook/config-syntax"], "{bad}");
    }
    assert_eq!(user(Dialect::Claude, &many(1000)).hooks().len(), 1000);
    assert_eq!(refused(&user(Dialect::Claude, "{}")).len(), 0);
    assert_eq!(refused(&user(Dialect::Gnoma, "")).len(), 0);
}

#[test]
fn config_syntax_says_which_limit_was_exceeded() {
    let deep = format!("{{\"hooks\": {{\"PreToolUse\": {}{}}}}}", "[".repeat(20), "]".repeat(20));
    let long = format!("{{\"hooks\": {{}}, \"x\": \"{}\"}}", "x".repeat(1 << 20));
    let handler = json!({"type": "command", "command": "true"});
    let many = json!({"hooks": {"PreToolUse": [{"hooks": vec![handler; 1001]}]}}).to_string();
    for (text, words) in
        [(deep, &["16"][..]), (long, &["MiB", "1048576", "1_048_576"]), (many, &["1000", "1,000"])]
    {
        let plan = user(Dialect::Claude, &text);
        let message = &plan.notes()[0].message;
        assert!(words.iter().any(|word| message.contains(word)), "{words:?}: {message}");
    }
}

#[test]
fn field() {
    for bad in [
        with("async", &json!("yes")),
        with("asyncRewake", &json!(1)),
        json!({"type": "command"}),
        json!({"type": "command", "command": 5}),
        json!({"type": "command", "command": ["", "x"]}),
        json!({"type": "prompt"}),
        json!({"type": 5}),
        json!("true"),
    ] {
        defect("hook/field", &bad);
    }
    fine("PreToolUse", &json!({"type": "command", "command": ["true"]}));
    fine("PreToolUse", &json!({"type": "prompt", "prompt": "x"}));
    for bad in
        ["priority = 2147483648", "priority = 'x'", "phase = 'watch'", "fail_open = 'yes'", "env = 'HOME'"]
    {
        gnoma_defect("hook/field", bad);
    }
    for good in [
        "priority = 2147483647",
        "priority = -2147483648",
        "phase = 'observe'",
        "fail_open = false",
        "env = ['HOME']",
    ] {
        gnoma_fine("pre_tool_use", good);
    }
    let group =
        json!({"hooks": {"PreToolUse": [{"matcher": 5, "hooks": [{"type": "command", "command": "true"}]}]}});
    assert_eq!(refused(&user(Dialect::Claude, &group.to_string())), ["user hook/field"]);
}

#[test]
fn a_gnoma_hook_has_a_name_of_its_own() {
    let nameless = "[[hooks]]\nevent = \"pre_tool_use\"\ntype = \"command\"\nexec = \"true\"\n";
    assert_eq!(refused(&user(Dialect::Gnoma, nameless)), ["user hook/field"]);
    let twice = [entry("a", "pre_tool_use", "true"), entry("a", "pre_tool_use", "false")].concat();
    assert_eq!(refused(&user(Dialect::Gnoma, &twice)), ["user hook/field"]);
    // On other events only the second one is lost, and names of two files do not meet.
    let twice = [entry("a", "post_tool_use", "true"), entry("a", "post_tool_use", "false")].concat();
    assert_eq!(ids(&user(Dialect::Gnoma, &twice)), ["user:a"]);
    let one = entry("a", "pre_tool_use", "true");
    let plan = plan_of(&[(Scope::User, Dialect::Gnoma, &one), (Scope::User, Dialect::Gnoma, &one)]);
    assert_eq!(ids(&plan), ["user:a", "user2:a"]);
    let no_event = "[[hooks]]\nname = \"a\"\ntype = \"command\"\nexec = \"true\"\n";
    assert_eq!(refused(&user(Dialect::Gnoma, no_event)), ["user hook/field"], "it could have been a gate");
}

#[test]
fn bad_timeout() {
    for bad in [json!(0), json!(-1), json!("5"), json!("5s"), json!([1])] {
        defect("hook/bad-timeout", &with("timeout", &bad));
    }
    for good in [json!(1), json!(0.5), json!(600), json!(null)] {
        fine("PreToolUse", &with("timeout", &good));
    }
    for bad in [
        "timeout = \"30\"",
        "timeout = \"0s\"",
        "timeout = \"-1s\"",
        "timeout = \"soon\"",
        "timeout = \"1x\"",
    ] {
        gnoma_defect("hook/bad-timeout", bad);
    }
    for good in ["timeout = \"30s\"", "timeout = \"1m30s\"", "timeout = \"250ms\"", "timeout = \"1.5m\""] {
        gnoma_fine("pre_tool_use", good);
    }
}

#[test]
fn timeout_notes() {
    for (value, code, seconds) in [
        (json!(600), None, 600),
        (json!(601), Some("hook/timeout-capped"), 600),
        (json!(999), Some("hook/timeout-capped"), 600),
        (json!(1000), Some("hook/timeout-units"), 600),
        (json!(30000), Some("hook/timeout-units"), 600),
        (json!(1e300), Some("hook/timeout-units"), 600),
    ] {
        let plan = user(Dialect::Claude, &handler("PreToolUse", "", &with("timeout", &value)));
        assert_eq!(plan.notes().first().map(|note| note.code), code, "{value}");
        assert_eq!(plan.hooks()[0].timeout(), Duration::from_secs(seconds), "{value}");
    }
    let plan = user(Dialect::Gnoma, &entry_with("x", "pre_tool_use", "true", "timeout = \"1h\""));
    assert_eq!(
        (plan.notes()[0].code, plan.hooks()[0].timeout()),
        ("hook/timeout-capped", Duration::from_secs(600))
    );
}

#[test]
fn default_timeouts() {
    let millis = |text: &str, dialect| user(dialect, text).hooks()[0].timeout().as_millis();
    for (event, expected) in [
        ("PreToolUse", 600_000),
        ("Stop", 600_000),
        ("UserPromptSubmit", 30_000),
        ("PreModelSwitch", 30_000),
        ("PostModelSwitch", 30_000),
        ("MessageDisplay", 10_000),
        ("SessionEnd", 1_500),
    ] {
        assert_eq!(millis(&command(event, "true"), Dialect::Claude), expected, "{event}");
    }
    let prompt = handler("PreToolUse", "", &json!({"type": "prompt", "prompt": "x"}));
    let agent = handler("PreToolUse", "", &json!({"type": "agent", "prompt": "x"}));
    assert_eq!((millis(&prompt, Dialect::Claude), millis(&agent, Dialect::Claude)), (30_000, 60_000));
    assert_eq!(millis(&entry("x", "session_end", "true"), Dialect::Gnoma), 30_000);
    assert_eq!(millis(&prompt_entry("x", "stop", "agent", "x"), Dialect::Gnoma), 30_000);
}

#[test]
fn matcher_and_pattern() {
    for bad in ["(", "[", "a{", "(?=x)", "(a)\\1", "*x"] {
        let text = handler("PreToolUse", bad, &json!({"type": "command", "command": "true"}));
        let plan = user(Dialect::Claude, &text);
        assert_eq!(refused(&plan), ["user hook/matcher"], "{bad}");
    }
    for good in ["(a|b)", "[ab]", "a{2}", "x*", "*", "", "mcp__.*"] {
        let text = handler("PreToolUse", good, &json!({"type": "command", "command": "true"}));
        assert_eq!((notes(&user(Dialect::Claude, &text)).len(), good), (0, good));
    }
    gnoma_defect("hook/pattern", "tool_pattern = \"[a\"");
    gnoma_defect("hook/pattern", "tool_pattern = 'a\\'");
    gnoma_fine("pre_tool_use", "tool_pattern = \"[a]\"");
    gnoma_fine("pre_tool_use", "tool_pattern = \"fs.*\"");
}

#[test]
fn on_failure() {
    defect("hook/on-failure", &with("onFailure", &json!("explode")));
    defect("hook/on-failure", &with("onFailure", &json!(5)));
    gnoma_defect("hook/on-failure", "on_failure = \"explode\"");
    let gate = user(Dialect::Claude, &handler("PreToolUse", "", &with("onFailure", &json!("withhold"))));
    assert_eq!(refused(&gate), ["user hook/on-failure"], "nothing to withhold before a tool runs");
    fine("PostToolUse", &with("onFailure", &json!("withhold")));
    for (word, expected) in [("block", OnFailure::Block), ("skip", OnFailure::Skip)] {
        let plan = claude(&handler("PreToolUse", "", &with("onFailure", &json!(word))));
        assert_eq!(plan.hooks()[0].on_failure(), expected);
    }
    for (event, expected) in [
        ("PreToolUse", OnFailure::Block),
        ("UserPromptSubmit", OnFailure::Block),
        ("WorktreeCreate", OnFailure::Block),
        ("Stop", OnFailure::Skip),
        ("TaskCompleted", OnFailure::Skip),
        ("PostToolUse", OnFailure::Skip),
        ("SessionStart", OnFailure::Skip),
    ] {
        assert_eq!(claude(&command(event, "true")).hooks()[0].on_failure(), expected, "{event}");
    }
}

#[test]
fn unknown_type_and_unsupported() {
    defect("hook/unknown-type", &json!({"type": "magic"}));
    defect("hook/unknown-type", &json!({"type": "magic", "command": "true"}));
    let magic = entry("x", "pre_tool_use", "true").replace("\"command\"", "\"magic\"");
    assert_eq!(refused(&user(Dialect::Gnoma, &magic)), ["user hook/unknown-type"]);
    defect("hook/unsupported", &json!({"type": "http", "url": "https://a.example/hook"}));
    defect("hook/unsupported", &json!({"type": "mcp_tool", "server": "s", "tool": "t"}));
    defect("hook/unsupported", &with("shell", &json!("powershell")));
    fine("PreToolUse", &with("shell", &json!("bash")));
    fine("PreToolUse", &with("shell", &json!("sh")));
    fine("PreToolUse", &json!({"type": "agent", "prompt": "x"}));
}

#[test]
fn user_config_in_shell() {
    let shell = |text: &str| json!({"type": "command", "command": text});
    defect("hook/user-config-in-shell", &shell("echo ${user_config.token}"));
    defect("hook/user-config-in-shell", &shell("echo '${user_config.a b}'"));
    fine("PreToolUse", &shell("echo $user_config.token ${user_config}"));
    fine("PreToolUse", &json!({"type": "prompt", "prompt": "${user_config.token}"}));
}

#[test]
fn notes_that_cost_nothing() {
    for (code, event, matcher, bad, good_matcher, good) in [
        (
            "hook/unknown-field",
            "PreToolUse",
            "",
            with("retries", &json!(3)),
            "",
            with("statusMessage", &json!("x")),
        ),
        ("hook/async", "PostToolUse", "", with("async", &json!(true)), "", with("async", &json!(false))),
        (
            "hook/async",
            "PostToolUse",
            "",
            with("asyncRewake", &json!(true)),
            "",
            with("asyncRewake", &json!(false)),
        ),
        ("hook/never-fires", "Stop", "", with("if", &json!("Bash")), "", with("statusMessage", &json!("x"))),
        (
            "hook/matcher-is-rule",
            "PreToolUse",
            "Write(docs/**)",
            with("once", &json!(true)),
            "Write|Edit",
            with("once", &json!(true)),
        ),
        ("hook/matcher-ignored", "Stop", "Bash", with("once", &json!(true)), "*", with("once", &json!(true))),
        (
            "hook/matcher-ignored",
            "UserPromptSubmit",
            "x",
            with("once", &json!(true)),
            "",
            with("once", &json!(true)),
        ),
    ] {
        let plan = user(Dialect::Claude, &handler(event, matcher, &bad));
        assert_eq!(plan.hooks().len(), 1, "{bad}");
        let [note] = plan.notes() else { panic!("{code}: {:?}", plan.notes()) };
        assert_eq!(note.code, code);
        assert!(note.at.starts_with("hooks.json:1:"), "{}", note.at);
        assert!(!note.help.is_empty());
        let plan = user(Dialect::Claude, &handler(event, good_matcher, &good));
        assert_eq!((plan.hooks().len(), notes(&plan).len()), (1, 0), "{good}: {:?}", plan.notes());
    }
    // A condition about a tool has no note on a tool event.
    fine("PreToolUse", &with("if", &json!("Bash(git:*)")));
}

#[test]
fn a_matcher_that_can_never_match_has_a_note() {
    for matcher in ["|", ",", " ", "|,|"] {
        let text = handler("PreToolUse", matcher, &json!({"type": "command", "command": "true"}));
        let plan = user(Dialect::Claude, &text);
        let matches = plan.hooks().len() == 1
            && dispatcher(plan.clone()).gate(&bash("ls"), &Room::new().at()).hooks.steps.len() == 1;
        assert!(matches || !plan.notes().is_empty(), "{matcher:?} matches nothing, and no note says so");
    }
}

#[test]
fn unknown_events_and_other_dialects() {
    for (dialect, text, known) in [
        (Dialect::Claude, command("Interrupted", "true"), command("pre_tool_use", "true")),
        (Dialect::Claude, command("PreToolUze", "true"), command("PreToolUse", "true")),
        (Dialect::Codex, command("PostToolBatsh", "true"), command("Interrupt", "true")),
        (Dialect::Gnoma, entry("x", "elsewhere", "true"), entry("x", "PreToolUse", "true")),
        (Dialect::Gnoma, entry("x", "notification", "true"), entry("x", "session_end", "true")),
    ] {
        let plan = user(dialect, &text);
        assert_eq!(
            (ids(&plan).len(), refused(&plan)),
            (0, vec!["user hook/unknown-event".to_owned()]),
            "{text}"
        );
        assert_eq!(plan.notes()[0].code, "hook/unknown-event", "{text}");
        let plan = user(dialect, &known);
        assert_eq!((ids(&plan).len(), notes(&plan).len()), (1, 0), "{known}");
    }
    // An event of a newer host is noted, and its file is refused only if nothing else is in it.
    for (dialect, event) in [(Dialect::Claude, "SomethingNew"), (Dialect::Codex, "PostToolBatch")] {
        let plan = user(dialect, &command(event, "true"));
        assert_eq!(refused(&plan), ["user hook/none-usable"], "{event}");
        assert_eq!(plan.notes()[0].code, "hook/unknown-event", "{event}");
    }
    for text in ["[[hook]]\nname = 'x'\n", "[guards]\nx = 1\n"] {
        let text = format!("{text}{}", entry("x", "pre_tool_use", "true"));
        assert_eq!(refused(&user(Dialect::Gnoma, &text)), ["user hook/unknown-table"], "{text}");
    }
    let titled = format!("title = 'x'\n{}", entry("x", "pre_tool_use", "true"));
    assert_eq!(ids(&user(Dialect::Gnoma, &titled)), ["user:x"]);
    assert_eq!((Event::from_word("PreToolUze"), Event::from_word("")), (None, None));
    for event in Event::ALL {
        assert_eq!(Event::from_word(event.as_str()), Some(*event));
        assert_eq!(Event::from_word(event.pascal()), Some(*event));
    }
    let count = |dialect, word: fn(Event) -> &'static str| {
        Event::ALL.iter().filter(|event| Event::of_host(dialect, word(**event)).is_some()).count()
    };
    assert_eq!(count(Dialect::Claude, Event::pascal), 33);
    assert_eq!(count(Dialect::Codex, Event::pascal), 12);
    assert_eq!(count(Dialect::Gnoma, Event::as_str), 6);
}

fn items(dialect: Dialect, text: &str) -> Vec<SurfaceItem> {
    plugward_manifest::read_hooks_file(dialect, text.as_bytes()).unwrap().into_items()
}

#[test]
fn a_plugin_contributes_the_hooks_of_its_first_dialect() {
    let claude = items(Dialect::Claude, &command("PreToolUse", "true"));
    let codex = items(Dialect::Codex, &command("PreToolUse", "false"));
    let own = items(Dialect::Gnoma, &entry("x", "pre_tool_use", "exit 2"));
    let build = |all: &[(Dialect, &Vec<SurfaceItem>)]| {
        let mut builder = Plan::builder(RawOutput::ManagedAndUser);
        let pairs = all.iter().flat_map(|(dialect, items)| items.iter().map(|item| (*dialect, item)));
        builder.plugin("claude:x@y", pairs);
        builder.build()
    };
    let plan = build(&[(Dialect::Gnoma, &own), (Dialect::Codex, &codex), (Dialect::Claude, &claude)]);
    assert_eq!(ids(&plan), ["claude:x@y:PreToolUse.1"]);
    assert_eq!(plan.hooks()[0].run(), ["true"]);
    let noted: Vec<&str> = plan.notes().iter().map(|note| note.code).collect();
    assert_eq!(noted, ["hook/other-dialect", "hook/other-dialect"]);
    let plan = build(&[(Dialect::Gnoma, &own), (Dialect::Codex, &codex)]);
    assert_eq!(plan.hooks()[0].run(), ["false"]);
    assert_eq!(notes(&build(&[(Dialect::Gnoma, &own)])).len(), 0);
}

#[test]
fn services_that_a_plan_needs() {
    let bare = || HookServices::new(Arc::clone(&FIREWALL), Arc::new(Permit(Answer::Allow)));
    let model = || Recorder::new(&[]).behind_firewall();
    let code = |plan: Plan, services: HookServices| {
        let error = Dispatcher::new(plan, services).err()?;
        assert!(!error.help().is_empty() && error.to_string().contains(error.hook()));
        Some(error.code())
    };
    let shell = || gnoma(&entry("x", "pre_tool_use", "true"));
    let prompt = || gnoma(&prompt_entry("x", "pre_tool_use", "prompt", "x"));
    let agent = || gnoma(&prompt_entry("x", "pre_tool_use", "agent", "x"));
    assert_eq!(code(shell(), bare()), Some("hook/no-starter"));
    assert_eq!(code(shell(), services(Answer::Allow)), None);
    assert_eq!(code(prompt(), services(Answer::Allow)), Some("hook/no-model"));
    assert_eq!(code(prompt(), bare().model(model())), None);
    assert_eq!(code(agent(), bare().model(model())), Some("hook/no-agent"));
    assert_eq!(code(agent(), bare().agent(Arc::new(AskUntilVerdict))), Some("hook/no-model"));
    assert_eq!(code(agent(), bare().model(model()).agent(Arc::new(AskUntilVerdict))), None);
}

#[test]
fn a_plugin_needs_its_private_directories() {
    let room = Room::new();
    room.program("run.sh", "#!/bin/sh\nprintf '%s\\n' \"$0\" \"$#\" > \"$CLAUDE_PLUGIN_DATA/ran\"\n");
    let manifest = json!({
        "name": "own", "version": "1.0.0",
        "capabilities": {"hooks": [
            {"name": "guard", "event": "pre_tool_use", "type": "command", "exec": "run.sh"},
        ]},
    });
    let mut files = MapFiles::new().with("plugin.json", manifest.to_string());
    files.insert("run.sh", b"#!/bin/sh\n".to_vec(), FileMode::Executable);
    let read = plugward_manifest::read(Dialect::Gnoma, &files, &PluginContext::without_directory()).unwrap();
    let mut builder = Plan::builder(RawOutput::ManagedAndUser);
    builder.plugin("gnoma:own", read.surface().iter().map(|item| (Dialect::Gnoma, item)));
    let plan = builder.build();
    assert_eq!((ids(&plan), plan.plugins_with_commands().len()), (vec!["gnoma:own:guard"], 1));

    let sealed = |plan: Plan| {
        let report = gate(plan, &Room::new());
        (report.hooks.answer, steps(&report.hooks))
    };
    let failure = (Answer::Deny, vec!["gnoma:own:guard gate redacted failure hook/seal".to_owned()]);
    assert_eq!(sealed(plan.clone()), failure, "without directories");
    assert_eq!(sealed(plan.clone().with_directories(&BTreeMap::new())), failure);

    let data = Room::new();
    let directories = PluginDirectories { root: room.path(), data: data.path() };
    let plan = plan.with_directories(&BTreeMap::from([("gnoma:own".to_owned(), directories)]));
    let report = gate(plan, &Room::new());
    assert_eq!(steps(&report.hooks), ["gnoma:own:guard gate redacted allow -"]);
    assert_eq!(
        data.text("ran"),
        format!("{}/run.sh\n0\n", room.path()),
        "without a shell and without arguments"
    );
}

#[test]
fn matchers_select_tools() {
    let fires = |dialect, text: &str, tool: &str| {
        let call = GateCall::tool(Event::PreToolUse, tool.to_owned(), json!({}));
        let report = dispatcher(user(dialect, text)).gate(&call, &Room::new().at());
        !report.hooks.steps.is_empty()
    };
    let claude = |matcher: &str, tool: &str| {
        fires(
            Dialect::Claude,
            &handler("PreToolUse", matcher, &json!({"type": "command", "command": "true"})),
            tool,
        )
    };
    for (matcher, yes, no) in [
        ("Bash", "Bash", "BashOutput"),
        ("Edit|Write", "Write", "NotebookEdit"),
        ("Edit, Write", "Write", "Edit, Write"),
        ("my-tool", "my-tool", "my-tools"),
        ("a b", "a b", "a"),
        ("Edit.*", "NotebookEdit", "Write"),
        ("^mcp__", "mcp__x__y", "x_mcp__"),
    ] {
        assert!(claude(matcher, yes), "{matcher} {yes}");
        assert!(!claude(matcher, no), "{matcher} {no}");
    }
    for all in ["", "*"] {
        assert!(claude(all, "Bash") && claude(all, "any thing"));
    }
    let gnoma = |glob: &str, tool: &str| {
        fires(
            Dialect::Gnoma,
            &entry_with("x", "pre_tool_use", "true", &format!("tool_pattern = '{glob}'")),
            tool,
        )
    };
    for (glob, yes, no) in
        [("fs.*", "fs.read", "fsxread"), ("fs", "fs", "fs.read"), ("[a-c]?", "bz", "dz"), ("*", "x", "x/y")]
    {
        assert!(gnoma(glob, yes) && !gnoma(glob, no), "{glob}");
    }
}

#[test]
fn matchers_select_members_of_data() {
    let fires = |event: Event, matcher: &str, data: &Value| {
        let text = handler(event.pascal(), matcher, &json!({"type": "command", "command": "true"}));
        let plan = claude(&text);
        let call = GateCall::data(event, data.clone());
        let dispatcher = dispatcher(plan);
        let at = Room::new().at();
        if event.class() == plugward_hooks::EventClass::Gate {
            dispatcher.gate(&call, &at).hooks.steps.len() == 1
        } else {
            dispatcher.notify(&call, &at).steps.len() == 1
        }
    };
    for (event, key) in [
        (Event::SessionStart, "source"),
        (Event::PreCompact, "trigger"),
        (Event::SubagentStop, "agent_type"),
        (Event::ConfigChange, "source"),
        (Event::Elicitation, "mcp_server_name"),
        (Event::Notification, "notification_type"),
        (Event::InstructionsLoaded, "load_reason"),
        (Event::SessionEnd, "reason"),
        (Event::PreModelSwitch, "to_model"),
        (Event::StopFailure, "error"),
    ] {
        assert!(fires(event, "wanted", &json!({key: "wanted"})), "{event}");
        assert!(!fires(event, "wanted", &json!({key: "other"})), "{event}");
        assert!(fires(event, "wanted", &json!({"else": "other"})), "{event}: in doubt the hook runs");
    }
    assert!(fires(Event::FileChanged, ".env", &json!({"file_path": "/a/b/.env"})));
    assert!(!fires(Event::FileChanged, "^env$", &json!({"file_path": "/a/env/x"})));
    assert!(fires(Event::Stop, "anything", &json!({})), "a matcher is ignored without a key");
}

#[test]
fn conditions_select_calls_and_run_in_doubt() {
    let runs = |rule: &str, tool: &str, args: Value| {
        let guard = json!({"type": "command", "command": "true", "if": rule});
        let plan = claude(&handler("PreToolUse", "", &guard));
        let call = GateCall::tool(Event::PreToolUse, tool.to_owned(), args);
        dispatcher(plan).gate(&call, &Room::new().at()).hooks.steps.len() == 1
    };
    let command = |text: &str| json!({"command": text});
    assert!(runs("Bash(git:*)", "Bash", command("git push")));
    assert!(!runs("Bash(git:*)", "Bash", command("ls")));
    assert!(!runs("Bash(git:*)", "Write", json!({"file_path": "git"})));
    assert!(runs("Bash(git *)", "Bash", command("git push")) && !runs("Bash(git *)", "Bash", command("ls")));
    assert!(runs("Bash", "Bash", command("ls")) && !runs("Bash", "Write", json!({})));
    for operator in ["ls; git", "ls && git", "ls | git", "echo $(git)", "echo `git`", "ls\ngit", "ls > x"] {
        assert!(
            runs("Bash(git:*)", "Bash", command(operator)),
            "{operator}: the command has shell operators"
        );
    }
    assert!(runs("Bash(git", "Bash", command("ls")), "unreadable");
    assert!(runs("Bash(git:*)", "Bash", json!({"other": "ls"})), "no main argument");
    assert!(runs("Read(*.env)", "Read", json!({"file_path": "a/.env"})));
    assert!(!runs("Read(*.env)", "Read", json!({"file_path": "a/env.md"})));
    assert!(runs("WebFetch(https://a.example/*)", "WebFetch", json!({"url": "https://a.example/x"})));
}

#[test]
fn a_condition_outside_of_tool_events_never_runs() {
    for rule in ["Bash", "Bash(git:*)", "*", "Bash(git", "["] {
        let guard = json!({"type": "command", "command": "exit 2", "if": rule});
        let plan = claude(&handler("Stop", "", &guard));
        assert_eq!(plan.notes()[0].code, "hook/never-fires", "{rule}");
        let report = dispatcher(plan).gate(&GateCall::data(Event::Stop, json!({})), &Room::new().at());
        assert_eq!(report.hooks.steps.len(), 0, "{rule}");
    }
}

#[test]
fn a_hook_that_is_switched_off_is_not_in_the_plan() {
    let off = json!({"disableAllHooks": true, "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}});
    let plan = user(Dialect::Claude, &off.to_string());
    assert_eq!((plan.hooks().len(), refused(&plan).len()), (0, 0));
    assert_eq!(plan.notes()[0].code, "hook/disabled");
    // A file without hooks is probably not the file that was meant.
    for (dialect, text) in
        [(Dialect::Claude, "{}"), (Dialect::Gnoma, ""), (Dialect::Claude, "{\"hooks\": {}}")]
    {
        let plan = user(dialect, text);
        assert_eq!((plan.notes()[0].code, refused(&plan).len()), ("hook/empty", 0), "{text}");
    }
    let on = user(Dialect::Claude, &command("PreToolUse", "true"));
    assert_eq!(notes(&on).len(), 0);
}

#[test]
fn the_inner_object_of_a_claude_file_is_a_file_too() {
    let inner = json!({"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}]});
    assert_eq!(gate(user(Dialect::Claude, &inner.to_string()), &Room::new()).hooks.answer, Answer::Deny);
}

#[test]
fn text_of_strangers_is_escaped_in_notes() {
    let text = json!({"hooks": {"Pre\u{1b}[31m": [{"hooks": [{"type": "command", "command": "true"}]}]}});
    let plan = user(Dialect::Claude, &text.to_string());
    assert!(plan.notes().iter().all(|note| !note.message.contains('\u{1b}')), "{:?}", plan.notes());
    let plan = user(
        Dialect::Claude,
        &handler("PreToolUse", "\u{202e}(", &json!({"type": "command", "command": "true"})),
    );
    assert!(plan.notes().iter().all(|note| !note.message.contains('\u{202e}')), "{:?}", plan.notes());
}
