//! Tests of hooks files outside plugins, and of the facts of hooks in both dialects.

use plugward_manifest::{
    Coverage, Dialect, ForeignText, HooksFile, ManifestErrors, MapFiles, PluginContext, SurfaceFact,
    SurfaceItem, read, read_hooks_file,
};

use crate::support::read_one;

fn file(dialect: Dialect, text: &str) -> HooksFile {
    read_hooks_file(dialect, text.as_bytes()).unwrap()
}

fn refused(dialect: Dialect, text: &str) -> ManifestErrors {
    read_hooks_file(dialect, text.as_bytes()).unwrap_err()
}

fn claude(text: &str) -> HooksFile {
    file(Dialect::Claude, text)
}

fn gnoma(text: &str) -> HooksFile {
    file(Dialect::Gnoma, text)
}

/// Formats each item as `event handler: text|argv`, with `-` for a missing part.
fn lines(items: &[SurfaceItem]) -> Vec<String> {
    let line = |item: &SurfaceItem| {
        let run = match item.text() {
            Some(text) => text.as_untrusted().to_owned(),
            None => format!("{:?}", item.argv()),
        };
        let word = |name| item.fact(name).unwrap_or("-");
        format!("{} {}: {run}", word("event"), word("handler"))
    };
    items.iter().map(line).collect()
}

/// Formats each error as `event code line:column pointer`.
fn errors<'e>(errors: impl IntoIterator<Item = &'e plugward_manifest::ManifestError>) -> Vec<String> {
    let line = |error: &plugward_manifest::ManifestError| {
        let event = error.event().unwrap_or("-");
        let (line, column) = (error.line(), error.column());
        assert_eq!(error.file(), "");
        format!("{event} {} {line}:{column} {}", error.code(), error.pointer())
    };
    errors.into_iter().map(line).collect()
}

fn warnings(file: &HooksFile) -> Vec<String> {
    file.warnings().iter().map(|notice| format!("{} {}", notice.code(), notice.place().pointer())).collect()
}

fn other<'i>(item: &'i SurfaceItem, key: &str) -> Option<&'i str> {
    match item.facts().get("other") {
        Some(SurfaceFact::Map(map)) => map.get(key).map(String::as_str),
        _ => None,
    }
}

const SETTINGS: &str = r#"{
  "permissions": {"allow": ["Bash"]}, "env": {"A": "1"}, "model": "m",
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "sh guard.sh", "timeout": 5}]},
      {"hooks": [{"type": "command", "command": "npx", "args": ["guard", "a b"]}]}
    ],
    "Stop": [{"hooks": [{"type": "prompt", "prompt": "Done?"}]}]
  }
}"#;

#[test]
fn a_claude_settings_file() {
    for dialect in [Dialect::Claude, Dialect::Codex] {
        let found = file(dialect, SETTINGS);
        let expected = [
            "PreToolUse command: sh guard.sh",
            "PreToolUse command: [\"npx\", \"guard\", \"a b\"]",
            "Stop prompt: Done?",
        ];
        assert_eq!(lines(found.items()), expected);
        assert_eq!((found.errors(), found.warnings()), (&[][..], &[][..]));
        let place = found.items()[0].place();
        assert_eq!(
            (place.file(), place.pointer(), place.position().map(|at| (at.line, at.column))),
            ("", "/hooks/PreToolUse/0/hooks/0/command", Some((5, 68)))
        );
        assert!(found.into_items().iter().all(|item| !item.is_off()));
    }
}

#[test]
fn events_without_the_key_hooks() {
    let found = claude(
        r#"{"$schema": "s", "PreToolUse": [{"hooks": [{"command": "a"}]}], "Other": [{"hooks": [{"command": "b"}]}],
            "model": "m", "availableModels": ["m"], "allowedMcpServers": [{"serverName": "s"}], "env": {"A": "1"}}"#,
    );
    assert_eq!(lines(found.items()), ["PreToolUse command: a", "Other command: b"]);
    assert_eq!(found.errors(), []);
    let unknown = ["/$schema", "/Other", "/allowedMcpServers", "/availableModels", "/env", "/model"];
    assert_eq!(warnings(&found), unknown.map(|key| format!("surface/unknown-event {key}")));
    // A known event must have the right value.
    let found =
        claude(r#"{"PreToolUse": 5, "Stop": ["a.sh"], "SessionEnd": [{"hooks": [{"command": "c"}]}]}"#);
    assert_eq!(lines(found.items()), ["SessionEnd command: c"]);
    assert_eq!(
        errors(found.errors()),
        ["PreToolUse manifest/type 1:16 /PreToolUse", "Stop manifest/type 1:28 /Stop/0"]
    );
}

#[test]
fn all_hooks_can_be_off() {
    let body = r#""PreToolUse": [{"hooks": [{"command": "a"}, {"command": "b"}]}]"#;
    for (text, off) in [
        (format!(r#"{{"disableAllHooks": true, "hooks": {{{body}}}}}"#), true),
        (format!(r#"{{{body}, "disableAllHooks": true}}"#), true),
        (format!(r#"{{"disableAllHooks": false, "hooks": {{{body}}}}}"#), false),
        (format!(r#"{{"disableAllHooks": "true", "hooks": {{{body}}}}}"#), false),
    ] {
        let found = claude(&text);
        assert_eq!(found.items().iter().map(SurfaceItem::is_off).collect::<Vec<_>>(), [off, off], "{text}");
    }
}

#[test]
fn an_entry_with_an_error_does_not_lose_the_others() {
    let found = claude(
        r#"{"hooks": {
            "PreToolUse": [
                {"hooks": [{"type": "command"}, {"command": "a"}, {"command": "b\u200b"}]},
                {"hooks": [{"command": "c"}], "Hooks": []},
                {"hooks": [{"command": "d"}]}
            ],
            "Stop": [{"hooks": [{"command": "e", "k\u200b": 1}, {"command": "f"}]}],
            "S\u200btop": [{"hooks": [{"command": "g"}]}],
            "SessionEnd": 5
        }}"#,
    );
    assert_eq!(lines(found.items()), ["PreToolUse command: a", "PreToolUse command: d", "Stop command: f"]);
    assert_eq!(
        errors(found.errors()),
        [
            "PreToolUse manifest/missing-key 3:28 /hooks/PreToolUse/0/hooks/0/command",
            "PreToolUse manifest/hidden-text 3:79 /hooks/PreToolUse/0/hooks/2/command",
            "PreToolUse manifest/case-variant 4:47 /hooks/PreToolUse/1/Hooks",
            "Stop manifest/hidden-text 7:50 /hooks/Stop/0/hooks/0/k\u{200b}",
            "S\u{200b}top manifest/hidden-text 8:13 /hooks/S\u{200b}top",
            "SessionEnd manifest/type 9:27 /hooks/SessionEnd",
        ]
    );
    let text = "[[hooks]]\nname = \"a\"\nevent = \"stop\"\ntype = \"command\"\nexec = 5\n\
                [[hooks]]\nname = \"b\"\nevent = \"stop\"\ntype = \"command\"\nexec = \"true\"\n\
                [[hooks]]\nname = \"c\"\nevent = [\"stop\"]\ntype = \"command\"\nexec = \"true\"\n";
    let found = gnoma(text);
    assert_eq!(lines(found.items()), ["stop command: true"]);
    assert_eq!(
        errors(found.errors()),
        ["stop manifest/type 5:8 /hooks/0/exec", "- manifest/type 13:9 /hooks/2/event"]
    );
}

#[test]
fn a_gnoma_file() {
    let text = r#"
[provider]
model = "m"
since = 2026-01-01

[[hooks]]
name = "guard"
event = "pre_tool_use"
type = "command"
exec = "sh guard.sh | cat"
timeout = "5s"
tool_pattern = "bash*"
fail_open = false
phase = "observe"
priority = -1_0
on_failure = "skip"
env = ["TOKEN", "HOME"]

[[hooks]]
name = "list"
event = "stop"
type = "command"
args = ["python3", "missing.py", "a b"]

[[hooks]]
name = "judge"
event = "post_tool_use"
type = "prompt"
exec = "../Look at {{.Result}}"

[[hooks]]
name = "agent"
event = "stop"
type = "agent"
exec = """
Go on.
"""
"#;
    let found = gnoma(text);
    let expected = [
        "pre_tool_use command: sh guard.sh | cat",
        "stop command: [\"python3\", \"missing.py\", \"a b\"]",
        "post_tool_use prompt: ../Look at {{.Result}}",
        "stop agent: Go on.\n",
    ];
    assert_eq!(lines(found.items()), expected);
    assert_eq!(found.errors(), []);
    // `hook fire` refuses a file with another table, since it can be a misspelled one.
    let pointers: Vec<&str> = found.warnings().iter().map(|one| one.place().pointer()).collect();
    assert_eq!(pointers, ["/provider"]);
    let guard = &found.items()[0];
    assert_eq!(guard.name(), "guard");
    for (key, value) in [
        ("timeout", "5s"),
        ("matcher", "bash*"),
        ("fail_open", "false"),
        ("phase", "observe"),
        ("priority", "-10"),
        ("on_failure", "skip"),
    ] {
        assert_eq!(guard.fact(key), Some(value), "{key}");
    }
    assert_eq!(
        guard.facts().get("env"),
        Some(&SurfaceFact::List(vec!["TOKEN".to_owned(), "HOME".to_owned()]))
    );
    let place = found.items()[1].place();
    assert_eq!(
        (place.pointer(), place.position().map(|at| (at.line, at.column))),
        ("/hooks/1/args", Some((23, 8)))
    );
    assert!(gnoma("").items().is_empty());
}

#[test]
fn gnoma_values_of_the_wrong_type() {
    for (line, pointer) in [
        ("priority = 1.5", "priority"),
        ("priority = \"1\"", "priority"),
        ("priority = 2026-01-01", "priority"),
        ("fail_open = 1", "fail_open"),
        ("phase = true", "phase"),
        ("timeout = 5", "timeout"),
        ("env = { A = \"1\" }", "env"),
        ("env = [1]", "env/0"),
        ("args = [\"true\"]", "args"),
    ] {
        let head = "[[hooks]]\nname = \"a\"\nevent = \"stop\"\ntype = \"command\"\nexec = \"true\"\n";
        let found = gnoma(&format!("{head}{line}\n"));
        let column = line.find(" = ").unwrap() + 4 + usize::from(pointer.contains('/'));
        assert_eq!(
            errors(found.errors()),
            [format!("stop manifest/type 6:{column} /hooks/0/{pointer}")],
            "{line}"
        );
        assert!(found.items().is_empty());
    }
    for value in ["0x10", "0o20", "0b10000", "+1_6", "16"] {
        let found = gnoma(&format!("[[hooks]]\nexec = \"a\"\npriority = {value}"));
        assert_eq!(found.items()[0].fact("priority"), Some("16"), "{value}");
    }
    let found =
        gnoma("[[hooks]]\nname = \"a\"\nevent = \"stop\"\ntype = \"prompt\"\n\n[[hooks]]\nargs = []\n");
    assert_eq!(
        errors(found.errors()),
        ["stop manifest/missing-key 1:1 /hooks/0/exec", "- manifest/missing-key 6:1 /hooks/1/exec"]
    );
}

#[test]
fn gnoma_keys_are_compared_as_in_plugin_json() {
    let found = gnoma("[[Hooks]]\nEvent = \"stop\"\ntype = \"command\"\nEXEC = \"a\"\nx = 1\n");
    assert_eq!(lines(found.items()), ["stop command: a"]);
    assert_eq!(
        warnings(&found),
        [
            "manifest/key-case /Hooks/0",
            "manifest/key-case /Hooks/0/EXEC",
            "manifest/key-case /Hooks/0/Event",
            "manifest/unknown-key /Hooks/0/x"
        ]
    );
    let found = gnoma("[[hooks]]\nevent = \"stop\"\nEvent = \"pre_tool_use\"\nexec = \"a\"\n");
    assert_eq!(errors(found.errors()), ["- manifest/case-variant 3:1 /hooks/0/Event"]);
    let error = refused(Dialect::Gnoma, "[[hooks]]\nexec = \"a\"\n[[Hooks]]\nexec = \"b\"\n");
    assert_eq!(errors(error.iter()), ["- manifest/case-variant 3:1 /Hooks/0"]);
}

#[test]
fn broken_files_are_refused_with_their_place() {
    for (dialect, text, expected, span) in [
        (Dialect::Claude, "{\n  \"hooks\": {,\n}", "- manifest/syntax 2:13 /hooks", (14, 15)),
        (Dialect::Claude, "{\"hooks\": {}, \"hooks\": {}}", "- manifest/duplicate-key 1:15 /hooks", (14, 21)),
        (Dialect::Claude, "[]", "- manifest/type 1:1 ", (0, 2)),
        (Dialect::Codex, "{\"hooks\": []}", "- manifest/type 1:11 /hooks", (10, 12)),
        (Dialect::Claude, "", "- manifest/syntax 1:1 ", (0, 0)),
        (Dialect::Gnoma, "[[hooks]]\nname = \"a\nevent = 1\n", "- manifest/syntax 2:10 ", (19, 19)),
        (Dialect::Gnoma, "a = 1\n\n[[hooks]\n", "- manifest/syntax 3:9 ", (15, 15)),
        (
            Dialect::Gnoma,
            "[[hooks]]\nname = \"a\"\nname = \"b\"\n",
            "- manifest/duplicate-key 3:1 ",
            (21, 25),
        ),
        (Dialect::Gnoma, "[other]\na = 1\n[other]\n", "- manifest/duplicate-key 3:2 ", (15, 20)),
        (Dialect::Gnoma, "hooks = 5\n", "- manifest/type 1:9 /hooks", (8, 9)),
        (Dialect::Gnoma, "[hooks]\nname = 1\n", "- manifest/type 1:1 /hooks", (0, 16)),
    ] {
        let error = refused(dialect, text);
        assert_eq!(errors(error.iter()), [expected], "{text}");
        assert_eq!((error.first().span().start, error.first().span().end), span, "{text}");
        assert!(!error.first().help().is_empty());
    }
    let error = read_hooks_file(Dialect::Gnoma, b"[[hooks]]\nname = \"\xff\"\n").unwrap_err();
    assert_eq!(errors(error.iter()), ["- manifest/not-utf8 2:9 "]);
    for dialect in Dialect::ALL {
        let reads = matches!(dialect, Dialect::Claude | Dialect::Codex | Dialect::Gnoma);
        let text = if dialect == Dialect::Gnoma { "" } else { "{}" };
        assert_eq!(read_hooks_file(dialect, text.as_bytes()).is_ok(), reads, "{dialect}");
    }
}

#[test]
fn limits_are_reported_with_their_numbers() {
    let json = |count: usize| {
        let all = vec![r#"{"hooks":[{"command":"a"}]}"#; count].join(",");
        format!(r#"{{"hooks":{{"Stop":[{all}]}}}}"#)
    };
    let toml = |count: usize| "[[hooks]]\nexec = \"a\"\n".repeat(count);
    let large = |comment: &str| format!("{comment}{}", " ".repeat((1 << 20) - comment.len()));
    // The levels are the list, the object around it and the lists in it.
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for (dialect, good, bad, code, message) in [
        (
            Dialect::Claude,
            json(1000),
            json(1001),
            "manifest/too-many",
            "expected at most 1000 hooks, got 1001",
        ),
        (
            Dialect::Gnoma,
            toml(1000),
            toml(1001),
            "manifest/too-many",
            "expected at most 1000 hooks, got 1001",
        ),
        (
            Dialect::Claude,
            large("{}"),
            large("{}") + " ",
            "manifest/too-large",
            "expected at most 1048576 bytes, got 1048577",
        ),
        (
            Dialect::Gnoma,
            large("#"),
            large("#") + " ",
            "manifest/too-large",
            "expected at most 1048576 bytes, got 1048577",
        ),
        (
            Dialect::Claude,
            format!(r#"{{"x": {}, "hooks": {{}}}}"#, deep(15)),
            format!(r#"{{"x": {}, "hooks": {{}}}}"#, deep(16)),
            "manifest/too-deep",
            "expected at most 16 nested lists and objects",
        ),
        (
            Dialect::Gnoma,
            format!("x = {}", deep(15)),
            format!("x = {}", deep(16)),
            "manifest/too-deep",
            "expected at most 16 nested lists and objects",
        ),
    ] {
        assert!(read_hooks_file(dialect, good.as_bytes()).is_ok(), "{code}");
        let error = refused(dialect, &bad);
        assert_eq!((error.first().code(), error.first().message()), (code, message));
        assert!(error.first().help().contains("16 ") || !code.ends_with("deep"), "{}", error.first().help());
    }
    assert_eq!(refused(Dialect::Gnoma, "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q = 1").first().column(), 31);
    assert_eq!(refused(Dialect::Gnoma, &format!("x = {}", deep(200))).first().code(), "manifest/syntax");
    // Unlisted errors could hide a hook that was lost, so the whole file is refused.
    let many = vec!["{}"; 101].join(",");
    let error = refused(Dialect::Claude, &format!(r#"{{"hooks":{{"Stop":[{many}]}}}}"#));
    assert_eq!(error.iter().last().unwrap().message(), "1 more error");
}

#[test]
fn a_standalone_file_looks_up_nothing() {
    let found = claude(
        r#"{"hooks": {"Stop": [{"hooks": [
            {"command": "${CLAUDE_PLUGIN_ROOT}/missing.sh $X"}, {"command": "npx tool"}, {"command": "./a.sh"},
            {"command": "npx", "args": ["tool"]}]}]}}"#,
    );
    assert_eq!(found.warnings(), []);
    assert!(found.items().iter().all(|item| item.files().is_empty()));
    let command =
        |exec: &str| format!("[[hooks]]\nevent = \"stop\"\ntype = \"command\"\nexec = \"{exec}\"\n");
    let found = gnoma(&[command("hooks/run.sh"), command("/bin/true"), command("npx tool")].concat());
    assert_eq!((found.items().len(), found.warnings(), found.errors()), (3, &[][..], &[][..]));
}

fn gnoma_plugin(hook: &str) -> String {
    format!(r#"{{"name": "a", "version": "1.0.0", "capabilities": {{"hooks": [{hook}]}}}}"#)
}

#[test]
fn a_prompt_of_a_gnoma_plugin_is_no_path() {
    for kind in ["prompt", "agent"] {
        let hook = format!(r#"{{"name": "h", "event": "stop", "type": "{kind}", "exec": "/look ../at *"}}"#);
        let manifest = read_one(Dialect::Gnoma, &gnoma_plugin(&hook)).unwrap();
        let item = &manifest.surface()[0];
        assert_eq!(item.text().map(ForeignText::as_untrusted), Some("/look ../at *"));
        assert_eq!((item.run(), item.files(), item.why()), (&[][..], &[][..], ""));
        assert_eq!(manifest.warnings(), []);
    }
    let command = gnoma_plugin(r#"{"name": "h", "event": "stop", "type": "command", "exec": "/look"}"#);
    let error = read_one(Dialect::Gnoma, &command).unwrap_err();
    assert_eq!((error.first().code(), error.first().event()), ("manifest/path-absolute", Some("stop")));
}

#[test]
fn a_gnoma_plugin_has_the_same_keys() {
    let hook = r#"{"name": "h", "event": "stop", "type": "command", "exec": "run.sh", "args": ["x"], "phase": "observe",
                   "priority": 5, "on_failure": "block", "env": ["A"]}"#;
    let files = MapFiles::new().with("plugin.json", gnoma_plugin(hook)).with("run.sh", "x");
    let manifest = read(Dialect::Gnoma, &files, &PluginContext::for_directory("a")).unwrap();
    let item = &manifest.surface()[0];
    assert_eq!((item.argv(), item.fact("priority")), (&["run.sh".to_owned(), "x".to_owned()][..], Some("5")));
    assert_eq!(manifest.warnings(), []);
    let list = gnoma_plugin(r#"{"event": "stop", "type": "command", "args": ["./run.sh", "x"]}"#);
    let files = files.with("plugin.json", list);
    let manifest = read(Dialect::Gnoma, &files, &PluginContext::for_directory("a")).unwrap();
    assert_eq!(manifest.surface()[0].argv(), ["run.sh", "x"]);
    assert_eq!(manifest.surface()[0].files(), ["run.sh"]);
    for hook in
        [r#"{"type": "command", "args": ["../x"]}"#, r#"{"type": "prompt", "exec": "a", "args": ["b"]}"#]
    {
        assert!(read_one(Dialect::Gnoma, &gnoma_plugin(hook)).is_err(), "{hook}");
    }
}

#[test]
fn facts_of_another_type_are_kept_apart() {
    let handler = |group: &str, handler: &str| {
        let text =
            format!(r#"{{"hooks": {{"Stop": [{{{group} "hooks": [{{"command": "a"{handler}}}]}}]}}}}"#);
        claude(&text).into_items().remove(0)
    };
    let item = handler(r#""matcher": "A|B","#, r#", "timeout": 1.5, "shell": "bash", "if": "Bash(x)""#);
    for (key, value) in [("matcher", "A|B"), ("timeout", "1.5"), ("shell", "bash"), ("if", "Bash(x)")] {
        assert_eq!(item.fact(key), Some(value));
    }
    assert_eq!(item.facts().get("other"), None);
    let more = r#", "timeout": "5s", "async": true, "onFailure": {"b": 1, "a": 2}, "statusMessage": "x""#;
    let item = handler(r#""matcher": ["A", 1],"#, more);
    assert_eq!((item.fact("matcher"), item.fact("timeout")), (None, None));
    for (key, value) in [
        ("matcher", r#"["A",1]"#),
        ("timeout", "\"5s\""),
        ("async", "true"),
        ("onFailure", r#"{"a":2,"b":1}"#),
        ("statusMessage", "\"x\""),
    ] {
        assert_eq!(other(&item, key), Some(value), "{key}");
    }
}

#[test]
fn errors_of_plugins_name_the_event() {
    let text = r#"{"name": "a", "hooks": {"PreToolUse": [{"hooks": [{"type": "command"}]}]}, "agents": 5}"#;
    let errors = read_one(Dialect::Claude, text).unwrap_err();
    let events: Vec<_> = errors.iter().map(|error| (error.code(), error.event())).collect();
    assert_eq!(events, [("manifest/missing-key", Some("PreToolUse")), ("manifest/type", None)]);
}

#[test]
fn each_dialect_has_its_own_events() {
    assert_eq!(
        [Dialect::Claude, Dialect::Codex, Dialect::Gnoma].map(|dialect| dialect.events().len()),
        [33, 12, 6]
    );
    assert_eq!(Dialect::Kimi.events(), Dialect::Claude.events());
    for (event, hosts) in [
        ("PreModelSwitch", "claude"),
        ("PostModelSwitch", "claude"),
        ("DirectoryAdded", "claude"),
        ("MessageDisplay", "claude"),
        ("Interrupt", "codex"),
        ("Stop", "claude codex"),
    ] {
        let both = [Dialect::Claude, Dialect::Codex].into_iter();
        let knows: Vec<_> =
            both.filter(|dialect| dialect.events().contains(&event)).map(Dialect::as_str).collect();
        assert_eq!(knows.join(" "), hosts, "{event}");
    }
}

#[test]
fn cut_and_altered_files_give_an_answer() {
    let toml = "a.b = 1\n[x.hooks.y]\nz = [{ q = 1e3 }, 07:32:00]\n[[hooks]]\nname = '''a\u{e9}\u{200b}'''\n\
                [hooks.env]\nA = \"\\u200b\"\n[other]\n[[hooks]]\nexec = \"\"\"x\\\n y\"\"\"\nargs = [ 1, [ ], ]\n";
    for (dialect, text) in [(Dialect::Gnoma, toml), (Dialect::Claude, SETTINGS)] {
        for cut in 0..=text.len() {
            let (head, tail) = text.as_bytes().split_at(cut);
            for bytes in
                [head.to_vec(), tail.to_vec(), [head, b"]", tail].concat(), [head, b"\xff", tail].concat()]
            {
                let errors = match read_hooks_file(dialect, &bytes) {
                    Ok(found) => found.errors().to_vec(),
                    Err(errors) => errors.iter().cloned().collect(),
                };
                assert!(errors.iter().all(|error| error.span().end <= bytes.len()));
                assert!(errors.iter().all(|error| error.file().is_empty() && error.line() > 0));
            }
        }
    }
}

#[test]
fn a_gnoma_hook_without_exec_is_listed_as_unresolved() {
    let files = MapFiles::new().with(
        "plugin.json",
        r#"{"name": "a", "version": "1.0.0",
            "capabilities": {"hooks": [{"name": "h", "event": "stop", "type": "command"}]}}"#,
    );
    let manifest = read(Dialect::Gnoma, &files, &PluginContext::for_directory("a")).unwrap();
    let [hook] = manifest.surface() else { panic!("{:?}", manifest.surface()) };
    assert_eq!((hook.name(), hook.coverage()), ("h", Coverage::Unresolved));
    assert_eq!(hook.why(), "a hook without exec");
}
