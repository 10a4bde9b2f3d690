//! The standard of Agent Plugins and the smaller dialects: every rule once kept and once broken.

use plugward_manifest::{
    Dialect, FileMode, Manifest, MapFiles, MissingManifest, PluginContext, SurfaceItem, SurfaceKind, read,
    read_all,
};

use crate::support::{dialects, error_codes, notice_codes};

const SCHEMA: &str = "https://agent-plugins.org/schemas/1.0.0";

fn package(body: &str) -> String {
    format!(r#"{{"$schema":"{SCHEMA}/plugin.schema.json","name":"a"{body}}}"#)
}

fn servers(body: &str) -> String {
    format!(r#"{{"$schema":"{SCHEMA}/mcp.schema.json","mcpServers":{{"s":{body}}}}}"#)
}

fn read_dialect(dialect: Dialect, files: &MapFiles) -> Manifest {
    read(dialect, files, &PluginContext::for_directory("a")).unwrap()
}

fn names(manifest: &Manifest, kind: SurfaceKind) -> Vec<&str> {
    manifest.surface().iter().filter(|item| item.kind() == kind).map(SurfaceItem::name).collect()
}

#[test]
fn a_manifest_of_the_standard_keeps_its_rules() {
    let whole = package(
        r#","version":"1","description":"d","homepage":"h","repository":"r","license":"MIT","keywords":["k"],
           "author":{"name":"n","email":"e","url":"u"},"extensions":{"com.example.client":{"a":1}}"#,
    );
    let files = MapFiles::new().with("plugin.json", whole);
    assert_eq!(dialects(&files), ["agent-plugins"]);
    assert_eq!(notice_codes(&read_dialect(Dialect::AgentPlugins, &files)), Vec::<&str>::new());
    for (body, code) in [
        (r#","version":1"#, "manifest/type"),
        (r#","description":[]"#, "manifest/type"),
        (r#","keywords":"k""#, "manifest/type"),
        (r#","keywords":[1]"#, "manifest/type"),
        (r#","author":"n""#, "manifest/type"),
        (r#","author":{"name":1}"#, "manifest/type"),
        (r#","author":{"phone":"1"}"#, "manifest/unknown-key"),
    ] {
        let files = MapFiles::new().with("plugin.json", package(body));
        let result = read(Dialect::AgentPlugins, &files, &PluginContext::for_directory("a"));
        assert_eq!(error_codes(&result), [code], "{body}");
    }
    for schema in ["null", "1", "[]", "{}"] {
        let files = MapFiles::new().with("plugin.json", format!(r#"{{"$schema":{schema},"name":"a"}}"#));
        assert_eq!(dialects(&files), ["agent-plugins"], "{schema}");
        let result = read(Dialect::AgentPlugins, &files, &PluginContext::for_directory("a"));
        assert_eq!(error_codes(&result), ["manifest/type"], "{schema}");
    }
    for body in [r#","other":1"#, r#","extensions":[]"#] {
        let files = MapFiles::new().with("plugin.json", package(body));
        assert_eq!(notice_codes(&read_dialect(Dialect::AgentPlugins, &files)).len(), 1, "{body}");
    }
}

#[test]
fn names_of_the_standard_are_lowercase_words() {
    let long = "a".repeat(64);
    for (name, is_valid) in [
        ("a", true),
        ("a-b.c1", true),
        (long.as_str(), true),
        ("A", false),
        ("-a", false),
        ("a.", false),
        ("a--b", false),
        ("a..b", false),
        ("a_b", false),
        (&format!("{long}a"), false),
    ] {
        let text = format!(r#"{{"$schema":"{SCHEMA}/plugin.schema.json","name":"{name}"}}"#);
        let files = MapFiles::new().with("plugin.json", text);
        let result = read(Dialect::AgentPlugins, &files, &PluginContext::for_directory("a"));
        assert_eq!(result.is_ok(), is_valid, "{name}");
    }
}

#[test]
fn a_server_that_breaks_a_rule_is_listed_with_a_warning() {
    for good in [
        r#"{"type":"stdio","command":"node","args":["${PLUGIN_ROOT}/s.js"],"cwd":"./","env":{"A":"1"}}"#,
        r#"{"type":"stdio","command":"./s.js"}"#,
        r#"{"type":"sse","url":"https://mcp.example.net/","headers":{"a":"1","b":"2"}}"#,
        r#"{"type":"streamable-http","url":"http://127.0.0.1:80/"}"#,
    ] {
        let manifest = with_server(good);
        assert_eq!(names(&manifest, SurfaceKind::McpServer), ["s"], "{good}");
        assert!(!notice_codes(&manifest).contains(&"mcp/skipped"), "{good}");
    }
    for bad in [
        r#"{"command":"node"}"#,
        r#"{"type":"http","url":"https://mcp.example.net/"}"#,
        r#"{"type":"stdio","command":"node x"}"#,
        r#"{"type":"stdio","command":"bin/x"}"#,
        r#"{"type":"stdio","command":"$HOME"}"#,
        r#"{"type":"stdio","command":"node","cwd":"sub"}"#,
        r#"{"type":"stdio","command":"node","url":"https://mcp.example.net/"}"#,
        r#"{"type":"stdio","command":"node","env":{"PLUGIN_ROOT":"."}}"#,
        r#"{"type":"stdio","command":"node","env":{"A":1}}"#,
        r#"{"type":"sse","url":"http://mcp.example.net/"}"#,
        r#"{"type":"sse","url":"https://u@mcp.example.net/"}"#,
        r#"{"type":"sse","url":"https://mcp.example.net/#a"}"#,
        r#"{"type":"sse","url":"https://mcp.example.net/","headers":{"a":"1","A":"2"}}"#,
    ] {
        let manifest = with_server(bad);
        assert!(names(&manifest, SurfaceKind::McpServer).contains(&"s"), "{bad}");
        assert!(notice_codes(&manifest).contains(&"mcp/skipped"), "{bad}");
    }
}

fn with_server(server: &str) -> Manifest {
    let files = MapFiles::new()
        .with("plugin.json", package(""))
        .with("mcp.json", servers(server))
        .with("s.js", "")
        .with("bin/x", "");
    read_dialect(Dialect::AgentPlugins, &files)
}

#[test]
fn what_other_hosts_load_of_a_package_is_listed() {
    let hooks = r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"echo a"}]}]}}"#;
    let files = MapFiles::new()
        .with("plugin.json", package(""))
        .with("hooks/hooks.json", hooks)
        .with("com.github.copilot/hooks/hooks.json", hooks.replace("SessionStart", "Stop"))
        .with("com.github.copilot/commands/go.md", "Go.")
        .with("skills/notes/SKILL.md", "---\nname: notes\ndescription: d\n---\n")
        .with(".mcp.json", r#"{"mcpServers":{"second":{"command":"true"}}}"#);
    let manifest = read_dialect(Dialect::AgentPlugins, &files);
    assert_eq!(names(&manifest, SurfaceKind::Hook), ["Stop", "SessionStart"]);
    assert_eq!(names(&manifest, SurfaceKind::McpServer), ["second"]);
    let prompts = names(&manifest, SurfaceKind::Prompt);
    assert_eq!(prompts, ["com.github.copilot/commands/go.md", "skills/notes/SKILL.md"]);
}

#[test]
fn files_that_only_extensions_name_are_counted() {
    let body = r#","extensions":{"com.example.client":{"skills":["./skills/one","./skills/two"],"here":["./a.md"]}}"#;
    let files = MapFiles::new().with("plugin.json", package(body)).with("a.md", "");
    let manifest = read_dialect(Dialect::AgentPlugins, &files);
    let [warning] = manifest.warnings() else { panic!("{:?}", manifest.warnings()) };
    assert_eq!(warning.message(), "2 named files are not here, first `skills/one`");
}

#[test]
fn a_root_manifest_belongs_to_every_dialect_that_reads_it() {
    let plain = r#"{"name":"a","version":"1.0.0"}"#;
    for (manifest, more, expected) in [
        (plain, &[][..], &["gnoma"][..]),
        (plain, &["hooks.json"], &["copilot"]),
        (plain, &["skills/x/SKILL.md"], &["copilot"]),
        (plain, &["index.ts"], &["hyperagent"]),
        (r#"{"name":"a","capabilities":{}}"#, &["hooks.json"], &["gnoma", "copilot"]),
        (r#"{"name":"a","capabilities":{}}"#, &["skills/x/SKILL.md"], &["gnoma"]),
        (r#"{"name":"a","capabilities":{}}"#, &["index.js"], &["gnoma"]),
        (r#"{"name":"a","hostModules":["m"]}"#, &["index.ts", ".mcp.json"], &["hyperagent", "copilot"]),
        (r#"{"name":"a","hostModules":["m"]}"#, &["index.ts"], &["hyperagent"]),
        (r#"{"name":"a","type":"panel"}"#, &[], &[]),
        (r#"{"type":"panel"}"#, &["hooks.json"], &[]),
        (&package(""), &[], &["agent-plugins"]),
        (&package(""), &["index.js", "hooks.json"], &["agent-plugins"]),
        (&package(r#","hostModules":["m"]"#), &["index.ts"], &["hyperagent", "agent-plugins"]),
    ] {
        let mut files = MapFiles::new().with("plugin.json", manifest);
        for file in more {
            files = files.with(file, "{}");
        }
        assert_eq!(dialects(&files), expected, "{manifest} {more:?}");
    }
}

#[test]
fn a_manifest_of_gnoma_and_hyperagent_belongs_to_both() {
    let valid =
        r#""name":"a","version":"1.0.0","description":"d","hostModules":["m"],"capabilities":{"hooks":[]}"#;
    let with = |from: &str, to: &str| format!("{{{}}}", valid.replacen(from, to, 1));
    let both = &["hyperagent", "gnoma"][..];
    for (from, to, more, expected) in [
        ("", "", &["index.js"][..], both),
        // gnoma ignores case, and reads a sign in a version.
        (r#""capabilities":{"hooks""#, r#""Capabilities":{"HOOKS""#, &["index.ts"], both),
        ("1.0.0", "+1.0.0", &["index.ts"], both),
        (r#"{"hooks":[]}"#, r#"{"mcp_servers":[]}"#, &["index.ts"], both),
        // Only one of the two hosts loads these.
        (r#"{"hooks":[]}"#, "{}", &["index.js"], &["hyperagent"]),
        (r#"{"hooks":[]}"#, r#"["network"]"#, &["index.js"], &["hyperagent"]),
        (r#""a""#, r#""A""#, &["index.js"], &["hyperagent"]),
        ("1.0.0", "1.0", &["index.js"], &["hyperagent"]),
        (r#""description":"d","#, "", &["index.js"], &["gnoma"]),
        (r#"["m"]"#, "[]", &["index.js"], &["gnoma"]),
        ("", "", &[], &["gnoma"]),
        // If none loads it, both say why.
        ("1.0.0", "v1", &["index.js"], both),
    ] {
        let mut files = MapFiles::new().with("plugin.json", with(from, to));
        for file in more {
            files = files.with(file, "");
        }
        assert_eq!(dialects(&files), expected, "{from} {to} {more:?}");
    }
}

#[test]
fn gnoma_reads_every_plugin_json_in_its_directory() {
    let at = PluginContext::for_directory("a");
    let codes = |text: &str, more: &str, at: &PluginContext<'_>| {
        let files = MapFiles::new().with("plugin.json", text).with(more, "{}");
        let found = read_all(&files, at);
        let rows = found.iter().map(|one| (one.dialect.as_str(), error_codes(&one.manifest)));
        rows.collect::<Vec<_>>()
    };
    for (text, code) in [
        (r#"{"name":"1x","version":"1.0.0"}"#, "manifest/name"),
        (r#"{"name":"Upper","version":"1.0.0"}"#, "manifest/name"),
        (r#"{"name":"","version":"1.0.0"}"#, "manifest/name"),
        (r#"{"name":"a","version":"v1.0.0"}"#, "manifest/version"),
        (r#"{"name":"a","version":"1"}"#, "manifest/version"),
        (r#"{"id":7}"#, "manifest/missing-key"),
    ] {
        for more in ["hooks.json", "index.js"] {
            let found = codes(text, more, &at.of_gnoma());
            assert!(
                found.len() == 1 && found[0].0 == "gnoma" && found[0].1.contains(&code),
                "{text} {found:?}"
            );
        }
    }
    let plain = r#"{"name":"a","version":"1.0.0"}"#;
    assert_eq!(codes(plain, "index.js", &at.of_gnoma()), [("gnoma", vec![])]);
    assert_eq!(codes(plain, "hooks.json", &at), [("copilot", vec![])]);
    // What a marketplace also lists is read as the other host reads it, too.
    let listed = at.of_gnoma().with_missing_manifest(MissingManifest::StandardDirectories);
    assert_eq!(codes(plain, "hooks.json", &listed), [("gnoma", vec![]), ("copilot", vec![])]);
    let upper = codes(r#"{"name":"Upper","version":"1.0.0"}"#, "hooks.json", &listed);
    assert!(
        upper.iter().any(|(dialect, codes)| *dialect == "gnoma" && codes.contains(&"manifest/name")),
        "{upper:?}"
    );
    let none = MapFiles::new().with("README.md", "");
    assert!(read_all(&none, &at.of_gnoma()).is_empty());
}

#[test]
fn copilot_reads_its_own_files_and_shells() {
    let hooks = r#"{"version":1,"hooks":{"sessionStart":[{"type":"command","bash":"sh ./s.sh","powershell":"s.ps1"}]}}"#;
    let files = MapFiles::new()
        .with(".plugin/plugin.json", r#"{"name":"a"}"#)
        .with("hooks.json", hooks)
        .with("lsp.json", r#"{"lspServers":{"l":{"command":"l"}}}"#)
        .with("s.sh", "");
    assert_eq!(dialects(&files), ["copilot"]);
    let manifest = read_dialect(Dialect::Copilot, &files);
    let hooks: Vec<&SurfaceItem> =
        manifest.surface().iter().filter(|item| item.kind() == SurfaceKind::Hook).collect();
    assert_eq!(
        hooks.iter().filter_map(|item| item.fact("shell")).collect::<Vec<_>>(),
        ["bash", "powershell"]
    );
    assert_eq!(names(&manifest, SurfaceKind::LspServer), ["l"]);
}

#[test]
fn a_dialect_reads_all_of_its_main_files() {
    let server = |name: &str| {
        format!(r#"{{"name":"a","version":"1.0.0","mcpServers":{{"{name}":{{"command":"true"}}}}}}"#)
    };
    for (dialect, first, second) in [
        (Dialect::Gemini, "gemini-extension.json", "qwen-extension.json"),
        (Dialect::Gemini, "gemini-extension.json", ".antigravity-plugin/plugin.json"),
        (Dialect::Kimi, "kimi.plugin.json", ".kimi-plugin/plugin.json"),
        (Dialect::Copilot, ".plugin/plugin.json", ".github/plugin/plugin.json"),
    ] {
        let files = MapFiles::new().with(first, server("one")).with(second, server("two"));
        let mut found = names(&read_dialect(dialect, &files), SurfaceKind::McpServer)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>();
        found.sort();
        assert_eq!(found, ["one", "two"], "{second}");
        let alone = MapFiles::new().with(second, server("two"));
        assert_eq!(names(&read_dialect(dialect, &alone), SurfaceKind::McpServer), ["two"], "{second}");
    }
}

#[test]
fn an_extension_of_openclaw_runs_its_files() {
    let package = r#"{"name":"@acme/notes","version":"1.0.0","openclaw":{"extensions":["./main.ts"]}}"#;
    let files = MapFiles::new().with("package.json", package).with("main.ts", "");
    assert_eq!(dialects(&files), ["openclaw"]);
    let manifest = read_dialect(Dialect::Openclaw, &files);
    assert_eq!((manifest.name(), names(&manifest, SurfaceKind::Entry)), ("notes", vec!["main.ts"]));
    let package = r#"{"name":"notes","openclaw":{"extensions":["skills","./lib"]}}"#;
    let files =
        MapFiles::new().with("package.json", package).with("skills/a/SKILL.md", "").with("lib/index.js", "");
    assert_eq!(names(&read_dialect(Dialect::Openclaw, &files), SurfaceKind::Entry), ["lib/index.js"]);
    let other = MapFiles::new().with("package.json", r#"{"name":"notes"}"#).with("index.js", "");
    assert_eq!(dialects(&other), Vec::<&str>::new());
    let own = MapFiles::new().with("openclaw.plugin.json", r#"{"id":"notes"}"#).with("index.js", "");
    assert_eq!(names(&read_dialect(Dialect::Openclaw, &own), SurfaceKind::Entry), ["index.js"]);
}

#[test]
fn a_skill_has_a_name_whatever_its_text_is() {
    for (text, name) in [
        ("---\nname: notes\ndescription: d\n---\n", "notes"),
        ("---\nname: My notes\n---\n", "a"),
        ("", "a"),
        ("---\n", "a"),
        ("---\nname: [\n---\n", "a"),
    ] {
        let files = MapFiles::new().with("skill.md", text);
        assert_eq!(read_dialect(Dialect::Skill, &files).name(), name, "{text:?}");
    }
}

#[test]
fn a_directory_without_a_main_file_is_a_layout_or_a_skill() {
    let at = PluginContext::for_directory("a");
    let layout = at.with_missing_manifest(MissingManifest::StandardDirectories);
    let found = |files: &MapFiles, at: &PluginContext<'_>| {
        read_all(files, at).into_iter().map(|one| one.dialect).collect::<Vec<_>>()
    };
    let mut files = MapFiles::new().with("commands/go.md", "Go.");
    assert_eq!(found(&files, &at), []);
    assert_eq!(found(&files, &layout), [Dialect::Claude]);
    files.insert("SKILL.md", b"---\nname: a\n---\n".to_vec(), FileMode::Plain);
    assert_eq!(found(&files, &at), [Dialect::Skill]);
    assert_eq!(found(&files, &layout), [Dialect::Claude]);
}

#[test]
fn what_a_person_should_know_is_a_note() {
    let skill = |head: &str| MapFiles::new().with("SKILL.md", format!("---\n{head}\n---\n"));
    let long = format!("name: a\ndescription: {}", "d".repeat(1025));
    for (head, code) in [
        ("name: a\ndescription: d\nallowed-tools: Read Bash(git log *)", None),
        ("name: a\ndescription: d\nallowed-tools: Read,Bash", Some("skill/shell")),
        ("name: a\ndescription: d\nallowed-tools:\n  - Bash", Some("skill/shell")),
        ("name: a", Some("skill/format")),
        ("name: b\ndescription: d", Some("skill/format")),
        ("name: A\ndescription: d", Some("skill/format")),
        (&long, Some("skill/format")),
    ] {
        assert_eq!(
            notice_codes(&read_dialect(Dialect::Skill, &skill(head))),
            code.into_iter().collect::<Vec<_>>(),
            "{head}"
        );
    }
    let mut files = MapFiles::new().with("plugin.json", package(""));
    files.insert("com.example.client/run.sh", Vec::new(), FileMode::Executable);
    assert_eq!(notice_codes(&read_dialect(Dialect::AgentPlugins, &files)), ["manifest/namespace"]);
    let files = MapFiles::new()
        .with("POWER.md", "---\nname: notes\n---\n")
        .with("steering/more.md", "Write notes.\n")
        .with("mcp.json", r#"{"mcpServers":{"s":{"command":"true","autoApprove":["read"]}}}"#);
    let power = read_dialect(Dialect::Power, &files);
    assert_eq!((power.name(), notice_codes(&power)), ("notes", vec!["surface/auto-approve"]));
    assert_eq!(names(&power, SurfaceKind::Prompt), ["POWER.md", "steering/more.md"]);
}
