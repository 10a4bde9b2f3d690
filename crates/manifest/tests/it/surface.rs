//! Tests of each dialect's surface: a directory in, one line per item out.

use plugward_manifest::{CommandSources, read, read_jp_entry, read_marketplace};
use plugward_manifest::{
    Dialect, Manifest, ManifestLayer, MapFiles, MissingManifest, Origin, PluginContext, SurfaceFact,
};

use crate::support::{error_codes, notice_codes};

/// Formats each item as `kind name [run] coverage`, then `found` if no key declares it, `entry` if the entry does.
fn lines(manifest: &Manifest) -> Vec<String> {
    let line = |item: &plugward_manifest::SurfaceItem| {
        let found = if item.origin() == Origin::Found { " found" } else { "" };
        let entry = if item.layer() == ManifestLayer::Entry { " entry" } else { "" };
        let off = if item.is_off() { " off" } else { "" };
        let run = item.run().join(" ");
        format!("{} {} [{run}] {}{found}{entry}{off}", item.kind(), item.name(), item.coverage())
    };
    manifest.surface().iter().map(line).collect()
}

fn check(dialect: Dialect, files: &MapFiles, expected: &[&str]) -> Manifest {
    let manifest = read(dialect, files, &PluginContext::for_directory("a")).unwrap();
    assert_eq!(lines(&manifest), expected);
    manifest
}

fn claude(body: &str) -> MapFiles {
    MapFiles::new()
        .with(".claude-plugin/plugin.json", format!(r#"{{"name": "a", "version": "1.0.0"{body}}}"#))
}

#[test]
fn a_claude_plugin_with_everything() {
    let files = claude(
        r#", "author": "N <n@example.org> (https://example.org)", "repository": {"type": "git", "url": "https://example.org/r"},
        "keywords": "one", "displayName": "A", "description": "d",
        "hooks": ["./more.json", {"SessionEnd": [{"hooks": [{"type": "http", "url": "https://h.example.org/x"}]}]}],
        "mcpServers": {"local": {"command": "${CLAUDE_PLUGIN_ROOT}/server", "args": ["--x"], "env": {"K": "${K}"}},
                       "remote": {"url": "https://m.example.org:8443/mcp", "headers": {"A": "Bearer ${T}"},
                                  "headersHelper": "sh \"${CLAUDE_PLUGIN_ROOT}/h.sh\""}},
        "lspServers": {"l": {"command": "gopls", "args": ["serve"], "extensionToLanguage": {".go": "go"}}},
        "monitors": [{"name": "m", "command": "tail -f x", "description": "d"}],
        "experimental": {"monitors": "./mon.json", "themes": "./t"},
        "userConfig": {"token": {"description": "d", "sensitive": true}},
        "channels": [{"server": "remote"}],
        "dependencies": ["b", {"name": "c", "version": "1"}]"#,
    )
    .with("more.json", r#"{"hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "prompt", "prompt": "Look."}]}]}}"#)
    .with("mon.json", r#"[{"name": "n", "command": "python3 \"${CLAUDE_PLUGIN_ROOT}/m.py\""}]"#)
    .with("hooks/hooks.json", r#"{"hooks": {"PreToolUse": [{"hooks": [{"command": "\"${CLAUDE_PLUGIN_ROOT}/x\""}]}]}}"#)
    .with(".mcp.json", r#"{"bare": {"command": "npx", "args": ["-y", "a@1.2.3"]}}"#)
    .with(".lsp.json", r#"{"k": {"command": "${CLAUDE_PLUGIN_ROOT}/lsp"}}"#)
    .with("settings.json", r#"{"statusLine": {"type": "command", "command": "date"}, "agent": "x"}"#)
    .with("skills/s/SKILL.md", "---\nname: s\nhooks:\n  Stop:\n    - command: \"npx a\"\n---\nRun !`git status` and\n```!\nls | wc\n```\n")
    .with("commands/c.md", "Say Hello!`not this` but (!`date`)\n")
    .with("agents/b.md", "x\n")
    .with("output-styles/o.md", "x\n")
    .with("bin/tool", "#!/bin/sh\n")
    .with("workflows/w.js", "x")
    .with("server", "x")
    .with("lsp", "x")
    .with("h.sh", "x")
    .with("m.py", "x")
    .with("x", "x");
    let expected = [
        "mcp-server remote [https://m.example.org:8443/mcp] remote-url",
        "headers-helper remote [sh h.sh] script-interpreter-uncovered",
        "mcp-server local [server --x] covered",
    ];
    let manifest = read(Dialect::Claude, &files, &PluginContext::for_directory("a")).unwrap();
    let lines = lines(&manifest);
    for line in expected {
        assert!(lines.contains(&line.to_owned()), "{line}\n{lines:#?}");
    }
    let expected = [
        "agent",
        "hook SessionEnd [https://h.example.org/x] remote-url",
        "hook Stop [] covered",
        "hook PreToolUse [x] covered found",
        "lsp-server l [gopls serve] path-binary",
        "lsp-server k [lsp] covered found",
        "mcp-server bare [npx -y a@1.2.3] launcher-version found",
        "monitor m [tail -f x] path-binary",
        "monitor n [python3 m.py] script-interpreter-uncovered",
        "settings token [] covered",
        "settings agent [] covered found",
        "status-line statusLine [date] path-binary found",
        "channel remote [] remote-url",
        "dependency b [] covered",
        "dependency c [] covered",
        "prompt skills/s/SKILL.md [] covered found",
        "prompt commands/c.md [] covered found",
        "prompt agents/b.md [] covered found",
        "prompt output-styles/o.md [] covered found",
        "bin bin/tool [bin/tool] script-interpreter-uncovered found",
        "workflow workflows/w.js [workflows/w.js] covered found",
        "command-shell skills/s/SKILL.md [npx a] launcher-floating found",
        "command-shell skills/s/SKILL.md [git status] path-binary found",
        "command-shell skills/s/SKILL.md [ls | wc\n] inline-shell found",
        "command-shell commands/c.md [date] path-binary found",
    ];
    for line in &expected[1..] {
        assert!(lines.contains(&(*line).to_owned()), "{line}\n{lines:#?}");
    }
    assert!(!lines.iter().any(|line| line.contains("not this")));
    let remote =
        manifest.surface().iter().find(|item| item.name() == "remote" && item.fact("url").is_some()).unwrap();
    assert_eq!((remote.why(), remote.reads_env()), ("m.example.org", &["T".to_owned()][..]));
    let author = manifest.author().unwrap();
    assert_eq!(
        (author.name(), author.email(), author.url()),
        (Some("N"), Some("n@example.org"), Some("https://example.org"))
    );
    assert_eq!(manifest.repository(), Some("https://example.org/r"));
    assert_eq!(manifest.keywords(), ["one"]);
    assert_eq!(manifest.companions(), ["b", "c"]);
    assert_eq!(manifest.main_file(), Some(".claude-plugin/plugin.json"));
    assert!(manifest.files().contains(&"mon.json".to_owned()));
    assert!(manifest.config_schema().unwrap().text().starts_with("{\"token\""));
}

/// Every shape of hooks yields the same event and label.
#[test]
fn hook_shapes() {
    let command = r#"{"command": "sh ${CLAUDE_PLUGIN_ROOT}/x.sh"}"#;
    for hooks in [
        format!(r#"{{"Stop": [{{"hooks": [{command}]}}]}}"#),
        format!(r#"{{"hooks": {{"Stop": [{{"hooks": [{command}]}}]}}}}"#),
        format!(r#"{{"Stop": {{"hooks": [{command}]}}}}"#),
        format!(r#"{{"Stop": {{"hooks": {command}}}}}"#),
        format!(r#"{{"Stop": [{command}]}}"#),
        format!(r#"{{"Stop": {command}}}"#),
        r#"[{"event": "Stop", "command": "sh ${CLAUDE_PLUGIN_ROOT}/x.sh"}]"#.to_owned(),
        r#"[{"name": "n", "event": "Stop", "action": {"type": "command", "command": "sh ${CLAUDE_PLUGIN_ROOT}/x.sh"}}]"#.to_owned(),
        format!(r#"[{{"Stop": [{{"hooks": [{command}]}}]}}]"#),
    ] {
        let files = claude(&format!(r#", "hooks": {hooks}"#)).with("x.sh", "x");
        check(Dialect::Claude, &files, &["hook Stop [sh x.sh] script-interpreter-uncovered"]);
    }
    check(Dialect::Claude, &claude(r#", "hooks": {}"#), &[]);
    let files = claude(r#", "hooks": {"Stop": "./x.sh"}"#).with("x.sh", "#!/bin/sh\n");
    check(Dialect::Claude, &files, &["hook Stop [x.sh] script-interpreter-uncovered"]);
    let files = claude(r#", "hooks": [{"event": "Stop", "action": {"type": "message", "message": "hi"}}]"#);
    check(Dialect::Claude, &files, &["hook Stop [] covered"]);
    let files =
        claude(r#", "hooks": {"Stop": [{"enabled": false, "hooks": [{"type": "agent", "prompt": "x"}]}]}"#);
    check(Dialect::Claude, &files, &["hook Stop [] covered off"]);
    let files =
        claude(r#", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "args": ["a b"]}]}]}"#);
    check(Dialect::Claude, &files, &["hook Stop [x a b] path-binary"]);
    let files = claude(r#", "hooks": {"Stop": [{"hooks": [{"command": "x", "shell": "powershell"}]}]}"#);
    check(Dialect::Claude, &files, &["hook Stop [x] inline-shell"]);
    for (hooks, code) in [
        ("7", "manifest/type"),
        ("null", "manifest/type"),
        (r#"{"Stop": 7}"#, "manifest/type"),
        (r#"{"Stop": [7]}"#, "manifest/type"),
        (r#"{"Stop": [{"hooks": 7}]}"#, "manifest/type"),
        (r#"{"Stop": [{"hooks": [7]}]}"#, "manifest/type"),
        (r#"{"Stop": [{"hooks": [{"type": 7}]}]}"#, "manifest/type"),
        (r#"{"Stop": [{"hooks": [{"type": "command"}]}]}"#, "manifest/missing-key"),
        (r#"{"Stop": [{"hooks": [{"type": "command", "command": 7}]}]}"#, "manifest/type"),
        (r#"{"Stop": [{"hooks": [{"command": "x", "Command": "y"}]}]}"#, "manifest/case-variant"),
        (r#""./a""#, "manifest/type"),
        (r#""./b.bin""#, "manifest/not-utf8"),
        (r#""../x.json""#, "manifest/path-parent"),
    ] {
        let files =
            claude(&format!(r#", "hooks": {hooks}"#)).with("a/b", "x").with("b.bin", [0xFF, 0xFE, 0x80]);
        assert_eq!(
            error_codes(&read(Dialect::Claude, &files, &PluginContext::for_directory("a"))),
            [code],
            "{hooks}"
        );
    }
}

#[test]
fn a_wrapped_server_file_has_no_other_servers() {
    let files = claude("")
        .with(".mcp.json", r#"{"mcpServers": {"s": {"url": "https://example.org"}}, "t": {"command": "x"}}"#);
    let manifest = check(Dialect::Claude, &files, &["mcp-server s [https://example.org] remote-url found"]);
    assert_eq!(notice_codes(&manifest), ["manifest/unknown-key"]);
    let files = claude("").with(
        ".mcp.json",
        r#"{"both": {"url": "https://example.org", "command": "npx", "args": ["a"]}, "none": {}}"#,
    );
    check(
        Dialect::Claude,
        &files,
        &[
            "mcp-server both [https://example.org] remote-url found",
            "mcp-server both [npx a] launcher-floating found",
            "mcp-server none [] unresolved found",
        ],
    );
    let files = claude(r#", "mcpServers": "./b.mcpb""#).with("b.mcpb", [0x50, 0x4B]);
    check(Dialect::Claude, &files, &["mcp-server b.mcpb [] unresolved"]);
    let files = claude(
        r#", "mcp_servers": [{"name": "s", "command": "npx", "args": ["a"]}], "mcp": {"t": "./t.json"}"#,
    )
    .with("t.json", r#"{"u": {"command": "x"}}"#);
    let manifest = check(
        Dialect::Claude,
        &files,
        &["mcp-server s [npx a] launcher-floating", "mcp-server u [x] path-binary"],
    );
    assert_eq!(
        notice_codes(&manifest),
        ["manifest/unknown-key", "manifest/unknown-key", "surface/launcher-floating"]
    );
}

#[test]
fn the_other_dialects() {
    let files = MapFiles::new()
        .with(".codex-plugin/plugin.json", r#"{"name": "a", "version": "1.0.0", "apps": "./.app.json", "skills": "./s/", "interface": {"displayName": "A", "defaultPrompt": "Go."}}"#)
        .with(".app.json", r#"{"apps": {"mail": {"id": "app_1"}}}"#)
        .with("hooks.json", r#"{"hooks": {"Stop": [{"hooks": [{"command": "./x.sh"}]}]}}"#)
        .with("x.sh", "x")
        .with("s/t/SKILL.md", "x")
        .with("skills/u/SKILL.md", "x");
    check(
        Dialect::Codex,
        &files,
        &[
            "app mail [] remote-url",
            "prompt interface/defaultPrompt [] covered",
            "hook Stop [x.sh] covered found",
            "prompt s/t/SKILL.md [] covered",
        ]
        .map(|line| if line.starts_with("hook") { "hook Stop [./x.sh] covered found" } else { line }),
    );
    let files = MapFiles::new()
        .with(".cursor-plugin/plugin.json", r#"{"name": "a", "hooks": "./h.json"}"#)
        .with("h.json", r#"{"version": 1, "hooks": {"sessionStart": [{"command": "./run.cmd x"}]}}"#)
        .with("hooks/hooks.json", r#"{"hooks": {"stop": [{"command": "npx not-read"}]}}"#)
        .with("run.cmd", "x");
    check(Dialect::Cursor, &files, &["hook sessionStart [./run.cmd x] covered"]);
    let files = MapFiles::new()
        .with(
            ".kimi-plugin/plugin.json",
            r#"{"name": "a", "sessionStart": {"skill": "s"}, "skillInstructions": "Do.", "interface": {}}"#,
        )
        .with(".grok-plugin/plugin.json", r#"{"name": "a"}"#)
        .with("hooks/hooks.json", r#"{"hooks": {"Stop": [{"command": "sh ./x.sh"}]}}"#)
        .with("x.sh", "x");
    check(
        Dialect::Kimi,
        &files,
        &[
            "prompt sessionStart [] covered",
            "prompt skillInstructions [] covered",
            "hook Stop [sh ./x.sh] script-interpreter-uncovered found",
        ],
    );
    check(Dialect::Grok, &files, &["hook Stop [sh ./x.sh] script-interpreter-uncovered found"]);
    let files = MapFiles::new()
        .with("gemini-extension.json", r#"{"name": "a", "version": "1.0.0", "mcpServers": {"s": {"command": "node", "args": ["x.js"], "cwd": "${extensionPath}"}, "t": {"command": "node", "args": ["${extensionPath}${/}x.js"]}}, "settings": [{"name": "Key", "envVar": "KEY", "sensitive": true}]}"#)
        .with("x.js", "x")
        .with("GEMINI.md", "x")
        .with("commands/g/c.toml", "prompt = \"\"\"\nLook at !{git diff {a}} and !{npx a}\n\"\"\"\n");
    check(
        Dialect::Gemini,
        &files,
        &[
            "prompt GEMINI.md [] covered found",
            "prompt commands/g/c.toml [] covered found",
            "command-shell commands/g/c.toml [git diff {a}] path-binary found",
            "command-shell commands/g/c.toml [npx a] launcher-floating found",
            "mcp-server s [node x.js] script-interpreter-uncovered",
            "mcp-server t [node ${extensionPath}${/}x.js] script-interpreter-uncovered",
            "settings Key [] covered",
        ],
    );
}

#[test]
fn gnoma_and_hyperagent() {
    let files = MapFiles::new()
        .with("plugin.json", r#"{"name": "a", "version": "1.0.0", "capabilities": {"skills": ["skills/*.md", "none/*.md"], "hooks": [{"name": "h", "event": "stop", "type": "command", "exec": "h.sh", "timeout": "5s", "fail_open": true}], "mcp_servers": [{"name": "s", "command": "bin/s", "args": ["x"], "env": {"K": "v"}}]}}"#)
        .with("skills/x.md", "x")
        .with("h.sh", "#!/bin/sh\n")
        .with("bin/s", "x");
    let manifest = check(
        Dialect::Gnoma,
        &files,
        &[
            "prompt none/*.md [] covered",
            "hook h [h.sh] script-interpreter-uncovered",
            "mcp-server s [bin/s x] covered",
            "prompt skills/x.md [] covered",
        ],
    );
    assert_eq!(notice_codes(&manifest), ["surface/missing-file"]);
    let hook = &manifest.surface()[1];
    assert_eq!(
        (hook.event(), hook.fact("fail_open"), hook.fact("timeout")),
        (Some("stop"), Some("true"), Some("5s"))
    );
    assert!(
        matches!(manifest.surface()[2].facts().get("env"), Some(SurfaceFact::Map(env)) if env["K"] == "v")
    );

    let files = MapFiles::new()
        .with("plugin.json", r#"{"name": "a", "version": "1.0.0", "description": "d", "hostModules": ["m"], "companions": ["b"], "systemMessage": "s", "hints": {"overview": "o", "criticalRules": ["r"]}, "configSchema": {"k": {"type": "string", "minimum": "x"}}, "promptKeys": ["k"]}"#)
        .with("index.ts", "import { x } from './lib.js'; import y from '../shared/y.js';")
        .with("lib.ts", "export * from '../../z.js'; import 'node:fs';");
    let manifest = check(
        Dialect::Hyperagent,
        &files,
        &[
            "entry index.ts [index.ts] covered found",
            "shared ../shared/y.js [../shared/y.js] unresolved",
            "shared ../../z.js [../../z.js] unresolved",
            "prompt description [] covered",
            "host-module m [] covered",
            "dependency b [] covered",
            "prompt systemMessage [] covered",
            "prompt hints/overview [] covered",
            "prompt hints/criticalRules [] covered",
            "settings k [] covered",
        ],
    );
    assert_eq!(notice_codes(&manifest), ["manifest/type"]);
    assert_eq!(
        (manifest.companions(), manifest.prompt_keys()),
        (&["b".to_owned()][..], &["k".to_owned()][..])
    );
    assert_eq!(manifest.config_schema().unwrap().text(), r#"{"k": {"type": "string", "minimum": "x"}}"#);
    let digested =
        read(Dialect::Hyperagent, &files, &PluginContext::for_directory("a").with_shared(&["../shared"]))
            .unwrap();
    assert!(lines(&digested).contains(&"shared ../shared/y.js [../shared/y.js] covered".to_owned()));
    assert_eq!(digested.entry_file(), Some("index.ts"));
    let modules =
        read(Dialect::Hyperagent, &files, &PluginContext::for_directory("a").with_path("x/node_modules/a"))
            .unwrap();
    assert_eq!(modules.entry_file(), Some("index.js"));
    assert_eq!(notice_codes(&modules), ["surface/missing-program", "manifest/type"]);
}

/// An item without its program is `unresolved` or worse; a missing hooks, servers or prompt file changes no label.
#[test]
fn a_missing_program_is_not_a_missing_file() {
    let program = &["surface/missing-program"][..];
    let check_codes = |dialect, files: &MapFiles, expected: &[&str], codes: &[&str]| {
        assert_eq!(notice_codes(&check(dialect, files, expected)), codes);
    };
    for (body, line) in [
        (r#""hooks": {"Stop": [{"command": "sh \"${CLAUDE_PLUGIN_ROOT}/x.sh\""}]}"#, "hook Stop [sh x.sh]"),
        (
            r#""hooks": {"Stop": [{"command": "${CLAUDE_PLUGIN_ROOT}/x", "args": ["a b"]}]}"#,
            "hook Stop [x a b]",
        ),
        (r#""hooks": {"Stop": "./x.sh"}"#, "hook Stop [x.sh]"),
        (r#""mcpServers": {"s": {"command": "${CLAUDE_PLUGIN_ROOT}/x"}}"#, "mcp-server s [x]"),
        (r#""mcpServers": "./b.mcpb""#, "mcp-server b.mcpb []"),
        (r#""lspServers": {"l": {"command": "${CLAUDE_PLUGIN_ROOT}/x"}}"#, "lsp-server l [x]"),
        (
            r#""monitors": [{"name": "m", "command": "sh \"${CLAUDE_PLUGIN_ROOT}/x.sh\""}]"#,
            "monitor m [sh x.sh]",
        ),
    ] {
        let files = claude(&format!(", {body}"));
        check_codes(Dialect::Claude, &files, &[&format!("{line} unresolved")], program);
    }
    // A worse label is kept.
    let files = claude(r#", "hooks": {"Stop": [{"command": "npx a; \"${CLAUDE_PLUGIN_ROOT}/x\""}]}"#);
    let line = r#"hook Stop [npx a; "${CLAUDE_PLUGIN_ROOT}/x"] launcher-floating"#;
    check_codes(Dialect::Claude, &files, &[line], &["surface/launcher-floating", "surface/missing-program"]);
    let files = MapFiles::new().with(
        "plugin.json",
        r#"{"name": "a", "version": "1.0.0", "description": "d", "hostModules": ["m"]}"#,
    );
    let expected = [
        "entry index.js [index.js] unresolved found",
        "prompt description [] covered",
        "host-module m [] covered",
    ];
    check_codes(Dialect::Hyperagent, &files, &expected, program);

    let file = &["surface/missing-file"][..];
    check_codes(Dialect::Claude, &claude(r#", "hooks": "./h.json""#), &[], file);
    check_codes(Dialect::Claude, &claude(r#", "mcpServers": "./m.json""#), &[], file);
    check_codes(Dialect::Claude, &claude(r#", "skills": "./e""#), &["prompt e [] covered"], file);
    // An argument is not started, and the program can create the file.
    let files = claude(r#", "hooks": {"Stop": [{"command": "sh \"${CLAUDE_PLUGIN_ROOT}/x.sh\" \"${CLAUDE_PLUGIN_ROOT}/x.log\""}]}"#)
        .with("x.sh", "x");
    check_codes(Dialect::Claude, &files, &["hook Stop [sh x.sh x.log] script-interpreter-uncovered"], &[]);
}

#[test]
fn entries_of_a_registry() {
    let text = r#"{"id": "serve", "description": "d", "official": true, "requires": ["b"], "suggests": ["c"],
        "binaries": {"x86_64-unknown-linux-gnu": {"url": "https://example.org/jp-serve", "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}}"#;
    let manifest = read_jp_entry("serve web", text.as_bytes()).unwrap();
    assert_eq!(
        lines(&manifest),
        [
            "dependency b [] covered entry",
            "binary x86_64-unknown-linux-gnu [https://example.org/jp-serve] launcher-digest entry"
        ]
    );
    assert_eq!(manifest.id("registry").unwrap().to_string(), "jp:serve@registry");
    // Digests have any case, and one form in the surface.
    let upper = text.replace("e3b0c44298fc1c", "E3B0C44298FC1C");
    assert_ne!(upper, text);
    assert_eq!(read_jp_entry("serve web", upper.as_bytes()).unwrap().surface_text(), manifest.surface_text());
    for (text, expected) in [
        (r#"{"id": "a", "description": "d"}"#, &[][..]),
        (r#"{"id": "a", "description": "d", "type": "command_group", "suggests": ["b"]}"#, &[]),
        (r#"{"id": "", "description": "d"}"#, &["manifest/name"]),
        (r#"{"id": "a"}"#, &["manifest/missing-key"]),
        (r#"{"id": "../a", "description": "d"}"#, &["manifest/name"]),
        (
            r#"{"id": "a", "description": "d", "binaries": {"t": {"url": "https://x"}}}"#,
            &["manifest/missing-key"],
        ),
        (
            r#"{"id": "a", "description": "d", "binaries": {"t": {"url": "https://x", "sha256": "E3"}}}"#,
            &["market/sha"],
        ),
        (r#"{"id": "a", "description": "d", "kind": "command", "type": "wasm"}"#, &["manifest/two-kinds"]),
        (
            r#"{"id": "a", "description": "d", "binaries": {"t": {"url": "https://x", "sha256": "G3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855"}}}"#,
            &["market/sha"],
        ),
        ("[]", &["manifest/type"]),
    ] {
        assert_eq!(error_codes(&read_jp_entry("a", text.as_bytes())), expected, "{text}");
    }
}

#[test]
fn the_surface_text_depends_only_on_what_runs() {
    let one = claude(
        r#", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": 5}]}], "SessionEnd": [{"hooks": [{"command": "y"}]}]}"#,
    );
    let two = MapFiles::new().with(
        ".claude-plugin/plugin.json",
        r#"{ "hooks": {"SessionEnd": [{"hooks": [{"command": "y"}]}],
             "Stop": [{"hooks": [{"timeout": 5, "command": "x", "type": "command"}]}]}, "version": "2.0.0", "name": "a"}"#,
    );
    let text = |files: &MapFiles| {
        read(Dialect::Claude, files, &PluginContext::for_directory("a")).unwrap().surface_text()
    };
    assert_eq!(text(&one), text(&two));
    assert!(text(&one).starts_with("surface-v1\n{\"argv\":"));
    assert!(text(&one).ends_with("}\n"));
    let base = r#"{"s": {"command": "x", "args": ["a"], "env": {"K": "v"}, "headers": {"H": "v"}}}"#;
    let before = text(&claude("").with(".mcp.json", base));
    for (from, to) in [
        (r#""K": "v""#, r#""K": "w""#),
        (r#""H": "v""#, r#""H": "w""#),
        ("\"a\"", "\"b\""),
        ("\"x\"", "\"z\""),
    ] {
        assert_ne!(text(&claude("").with(".mcp.json", base.replace(from, to))), before, "{from}");
    }
    assert_eq!(text(&claude("")), "surface-v1\n");
}

#[test]
fn a_directory_without_a_manifest_is_a_plugin_only_on_request() {
    let files = MapFiles::new().with("skills/s/SKILL.md", "x");
    let plain = read(Dialect::Claude, &files, &PluginContext::for_directory("a"));
    assert_eq!(error_codes(&plain), ["manifest/missing-file"]);
    let at = PluginContext::for_directory("a").with_missing_manifest(MissingManifest::StandardDirectories);
    let said = read(Dialect::Claude, &files, &at).unwrap();
    assert_eq!((said.name(), said.version(), said.main_file()), ("a", None, None));
    assert_eq!(notice_codes(&said), ["manifest/none"]);
    let nothing = MapFiles::new().with("src/main.rs", "x");
    assert_eq!(error_codes(&read(Dialect::Claude, &nothing, &at)), ["manifest/missing-file"]);
    let codex = read(Dialect::Codex, &files, &at);
    assert_eq!(error_codes(&codex), ["manifest/missing-file"]);
}

#[test]
fn an_entry_is_the_second_layer() {
    let market = |entry: &str| {
        let text = format!(
            "{{\"name\": \"m\", \"owner\": \"o\",\n\"plugins\": [{{\"name\": \"z\", \"source\": \"./z\"}},\n {entry}]}}"
        );
        read_marketplace("marketplace.json", text.as_bytes(), CommandSources::Refused).unwrap().0
    };
    let adds = market(
        r#"{"name": "a", "source": "./a", "version": "9.9.9", "description": "theirs", "skills": ["./e"], "mcpServers": {"s": {"command": "x"}}}"#,
    );
    let files = claude(r#", "description": "ours""#).with("e/SKILL.md", "x").with("skills/s/SKILL.md", "x");
    let manifest =
        read(Dialect::Claude, &files, &PluginContext::without_directory().with_entry(&adds.entries()[1]))
            .unwrap();
    assert_eq!(manifest.version(), Some("1.0.0"));
    assert_eq!(manifest.description().unwrap().escaped(), "ours");
    assert_eq!(
        lines(&manifest),
        ["prompt e/SKILL.md [] covered entry", "mcp-server s [x] path-binary entry"]
    );
    let place = manifest.surface()[1].place();
    assert_eq!((place.file(), place.pointer()), ("marketplace.json", "/plugins/1/mcpServers/s"));
    assert_eq!(place.position().map(|at| at.line), Some(3));
    let bad = market(r#"{"name": "a", "source": "./a", "hooks": 7}"#);
    let errors =
        read(Dialect::Claude, &files, &PluginContext::without_directory().with_entry(&bad.entries()[1]))
            .unwrap_err();
    let error = errors.first();
    assert_eq!(
        (error.code(), error.file(), error.pointer()),
        ("manifest/type", "marketplace.json", "/plugins/1/hooks")
    );
    assert_eq!((error.line(), error.column()), (3, 42));
    let only =
        market(r#"{"name": "a", "source": "./a", "strict": false, "hooks": {"Stop": [{"command": "x"}]}}"#);
    let manifest = read(
        Dialect::Claude,
        &MapFiles::new(),
        &PluginContext::without_directory().with_entry(&only.entries()[1]),
    )
    .unwrap();
    assert_eq!(lines(&manifest), ["hook Stop [x] path-binary entry"]);
    // The entry alone is the definition, so a missing manifest is not reported.
    assert_eq!(notice_codes(&manifest), [""; 0]);
    assert_eq!(
        manifest.entry_text(),
        Some(r#"{"hooks":{"Stop":[{"command":"x"}]},"name":"a","source":"./a","strict":false}"#)
    );
}

#[test]
fn foreign_text_can_be_read_in_two_ways() {
    let manifest = read(
        Dialect::Claude,
        &claude(", \"description\": \"a\\u001b[2Jb\\u202ec\\n\""),
        &PluginContext::for_directory("a"),
    )
    .unwrap();
    let text = manifest.description().unwrap();
    assert_eq!(text.escaped(), "a\\u{1b}[2Jb\\u{202e}c\\n");
    assert_eq!(text.as_untrusted(), "a\u{1b}[2Jb\u{202e}c\n");
    assert_eq!(format!("{text:?}"), "ForeignText(11 bytes)");
    assert_eq!(notice_codes(&manifest), ["manifest/hidden-text"]);
}

/// A file that is used for two purposes is read for both.
#[test]
fn a_file_with_two_uses_is_read_for_both() {
    let both = r#"{"hooks": {"Stop": [{"command": "npx a"}]}, "mcpServers": {"s": {"command": "npx", "args": ["b"]}}}"#;
    let files =
        claude(r#", "commands": "./x.json", "mcpServers": "./x.json", "hooks": ["./x.json", "./x.json"]"#);
    let files = files.with("x.json", both).with("hooks/hooks.json", both);
    let mut found = lines(&read(Dialect::Claude, &files, &PluginContext::for_directory("a")).unwrap());
    found.sort();
    assert_eq!(
        found,
        [
            "hook Stop [npx a] launcher-floating",
            "hook Stop [npx a] launcher-floating found",
            "mcp-server s [npx b] launcher-floating",
            "prompt x.json [] covered",
        ]
    );
}

#[test]
fn marks_in_markdown() {
    let check = |text: &str, expected: &[&str]| {
        let files = claude("").with("commands/c.md", text);
        let manifest = read(Dialect::Claude, &files, &PluginContext::for_directory("a")).unwrap();
        let found: Vec<String> = manifest.surface()[1..]
            .iter()
            .map(|item| format!("{}:{}", item.place().position().unwrap().line, item.run().join(" ")))
            .collect();
        assert_eq!(found, expected, "{text}");
    };
    check("a !`b c` d !`e`", &["1:b c", "1:e"]);
    check("x\n\n!`a\n| b`\n!`c`", &["3:a\n| b", "5:c"]);
    check("Wow!`a` and `x!`b`", &[]);
    check("!``", &[]);
    check("!`no end", &[]);
    check("```!\na\nb\n```\n```\nc\n```", &["1:a\nb\n"]);
    check("```!\nno end", &["1:no end"]);
    check("\u{feff}---\nhooks: {Stop: [{command: x}]}\n---\n", &["2:", "2:x"]);
    check(
        "---\nhooks:\n  Stop:\n  - command: 'a b'\nother:\n  - command: c\n---\n!`d`",
        &["2:", "4:a b", "8:d"],
    );
}

#[test]
fn a_catalog_entry_may_have_a_helper() {
    let text = r#"{"name": "m", "owner": "o", "plugins": [{"name": "a", "source": "./", "headersHelper": "npx h"}]}"#;
    let (market, _) = read_marketplace("marketplace.json", text.as_bytes(), CommandSources::Refused).unwrap();
    let manifest = read(
        Dialect::Claude,
        &MapFiles::new(),
        &PluginContext::without_directory().with_entry(&market.entries()[0]),
    )
    .unwrap();
    assert_eq!(lines(&manifest), ["headers-helper a [npx h] launcher-floating entry"]);
}

#[test]
fn an_entry_is_stored_only_if_it_was_merged() {
    let text =
        r#"{"name": "m", "owner": "o", "plugins": [{"name": "b", "source": "./", "description": "d"}]}"#;
    let (market, _) = read_marketplace("marketplace.json", text.as_bytes(), CommandSources::Refused).unwrap();
    let at = PluginContext::without_directory().with_entry(&market.entries()[0]);
    let files = MapFiles::new()
        .with(".codex-plugin/plugin.json", r#"{"name": "a", "version": "1.0.0"}"#)
        .with("gemini-extension.json", r#"{"name": "a", "version": "1.0.0"}"#);
    let codex = read(Dialect::Codex, &files, &at).unwrap();
    assert_eq!((codex.name(), codex.entry_text().is_some()), ("b", true));
    assert_eq!(notice_codes(&codex), ["manifest/name-mismatch"]);
    let gemini = read(Dialect::Gemini, &files, &at).unwrap();
    assert_eq!((gemini.name(), gemini.entry_text()), ("a", None));
}

#[test]
fn a_program_with_an_implied_extension_or_a_guard_is_not_missing() {
    let hook = |command: &str| {
        let command = serde_json::Value::from(command);
        format!(
            "{{\"hooks\": {{\"Stop\": [{{\"hooks\": [{{\"type\": \"command\", \"command\": {command}}}]}}]}}}}"
        )
    };
    for (command, missing) in [
        ("node \"${CLAUDE_PLUGIN_ROOT}/server\"", false),
        ("node \"${CLAUDE_PLUGIN_ROOT}/lib\"", false),
        ("node \"${CLAUDE_PLUGIN_ROOT}/other\"", true),
        ("[ -x \"${CLAUDE_PLUGIN_ROOT}/x\" ] && \"${CLAUDE_PLUGIN_ROOT}/x\"", false),
        ("\"${CLAUDE_PLUGIN_ROOT}/x\" || true", false),
        ("\"${CLAUDE_PLUGIN_ROOT}/x\"", true),
    ] {
        let files = MapFiles::new()
            .with(".claude-plugin/plugin.json", "{\"name\": \"a\"}")
            .with("hooks/hooks.json", hook(command))
            .with("server.js", "")
            .with("lib/index.js", "");
        let manifest = read(Dialect::Claude, &files, &PluginContext::for_directory("a")).unwrap();
        let said = manifest.warnings().iter().any(|notice| notice.code() == "surface/missing-program");
        assert_eq!(said, missing, "{command}");
    }
}
