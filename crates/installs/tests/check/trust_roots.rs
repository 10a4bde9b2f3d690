//! Variables that move what plugward trusts.

use plugward_installs::{InstallLayer, InstallProblemKind, KnownHost, trust_root_files, trust_roots};

use crate::support::{Home, SITE, rows};

/// Returns the variables of a file as `LINE NAME`.
fn found(file: &str, text: &str) -> Vec<String> {
    trust_roots(file, text.as_bytes()).iter().map(|root| format!("{} {}", root.line, root.name)).collect()
}

/// Writes one variable as each file sets it.
fn set(file: &str, name: &str) -> String {
    match file {
        ".codex/config.toml" => format!("[shell_environment_policy]\nset = {{ {name} = \"/x\" }}\n"),
        ".env" | ".gemini/.env" | ".qwen/.env" => format!("# one\n{name}=/x\n"),
        ".gemini/settings.json" => {
            format!("{{\"hooks\":{{\"BeforeTool\":[{{\"hooks\":[\n{{\"env\":{{\"{name}\":\"/x\"}}}}]}}]}}}}")
        }
        ".vscode/settings.json" => {
            format!("{{ // own\n\"terminal.integrated.env.linux\": {{ \"{name}\": \"/x\", }},}}")
        }
        _ => format!("{{\"env\":{{\n\"{name}\":\"/x\"}}}}"),
    }
}

#[test]
fn each_name_is_found_in_each_file_with_its_line() {
    let names = [
        "CLAUDE_CODE_PLUGIN_CACHE_DIR",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_PROJECT_DIR",
        "CODEX_HOME",
        "COPILOT_HOME",
        "DYLD_INSERT_LIBRARIES",
        "GEMINI_CLI_HOME",
        "GEMINI_PROJECT_DIR",
        "HOME",
        "KIMI_CODE_HOME",
        "LD_AUDIT",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "PLUGWARD_CFG",
        "PLUGWARD_CONFIG_DIR",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME",
    ];
    for file in trust_root_files() {
        for name in names {
            assert_eq!(found(file, &set(file, name)), [format!("2 {name}")], "{file}");
        }
        for name in
            ["HOMEPAGE", "PLUGWARD", "PLUGWARD_", "XPLUGWARD_A", "home", "LD_LIBRARY", "PATH", "CLAUDE_CODE"]
        {
            assert_eq!(found(file, &set(file, name)), [""; 0], "{file}");
        }
    }
}

#[test]
fn variables_of_servers_and_other_objects_are_left_out() {
    let server =
        r#"{"mcpServers":{"s":{"command":"s","env":{"HOME":"/x"}}},"HOME":"/x","env":{"LD_AUDIT":null}}"#;
    for file in [".claude/settings.json", ".gemini/settings.json"] {
        assert_eq!(found(file, server), [""; 0], "{file}");
    }
    let codex = "HOME = \"/x\"\n[mcp_servers.s.env]\nHOME = \"/x\"\n[shell_environment_policy]\ninclude_only = [\"HOME\"]\n";
    assert_eq!(found(".codex/config.toml", codex), [""; 0]);
    // A file that its host does not read either.
    assert_eq!(found(".claude/settings.json", r#"{"env":{"HOME":"/x"}"#), [""; 0]);
    assert_eq!(found(".claude/settings.json", "\u{feff}{\"env\":{\"HOME\":\"/x\"}}"), ["1 HOME"]);
    let list = r#"{"claudeCode.environmentVariables":[{"name":"HOME","value":"/x"},{"name":"LD_AUDIT"}],"a":"HOME, ]"}"#;
    assert_eq!(found(".vscode/settings.json", list), ["1 HOME"]);
}

#[test]
fn dotenv_files_are_read_as_their_package_does() {
    let rows: &[(&str, &[&str])] = &[
        ("export HOME=/x", &["1 HOME"]),
        ("  export\tHOME = '/x' # own", &["1 HOME"]),
        ("HOME: /x", &["1 HOME"]),
        ("HOME\n=/x", &["1 HOME"]),
        ("A=1\r\nHOME=/x\rLD_AUDIT=y", &["2 HOME", "3 LD_AUDIT"]),
        ("\u{feff}HOME=/x", &["1 HOME"]),
        // A value that is not closed, or is followed by text, ends with its line.
        ("A=\"x\nHOME=/x\n", &["2 HOME"]),
        ("A=\"x\nHOME=/x\" y\n", &["2 HOME"]),
        ("A=\"x\nHOME=/x\n\" # own\nLD_AUDIT=/y", &["4 LD_AUDIT"]),
        ("A='it\\'s\nHOME=/x'\n", &[]),
        ("# HOME=/x\n#HOME=/x\nHOME\nHOME:/x\n=HOME\nA=HOME=/x\nHOME/x=1\n", &[]),
        ("", &[]),
    ];
    for (text, expected) in rows {
        assert_eq!(found(".env", text), *expected, "{text:?}");
    }
    let values = trust_roots(".env", b"HOME='/x y' # own\nPLUGWARD_A=/z  \n");
    let values: Vec<Option<&str>> = values.iter().map(|root| root.value.as_deref()).collect();
    assert_eq!(values, [Some("/x y"), Some("/z")]);
    // Ten mebibytes of quotes are read once.
    let long = format!("{}\nHOME=/x", "A=\"\n".repeat(2 << 20));
    assert_eq!(found(".env", &long).len(), 1);
}

#[test]
fn skills_of_directories_inside_the_project_are_found() {
    let home = || {
        Home::new()
            .project(SITE, SITE)
            .directory("~/.claude")
            .file("~/site/packages/a/.claude/skills/s/SKILL.md", "x")
            .file("~/site/packages/a/.claude/agents/a.md", "x")
            .file("~/site/packages/a/.cursor/skills/c/SKILL.md", "x")
    };
    assert_eq!(rows(&home().read(KnownHost::Claude)), [""; 0], "the caller did not find the directory");
    let nested = home().nested("~/site/packages/a");
    let found = nested.read(KnownHost::Claude);
    let skill = format!("path:{SITE}/packages/a/.claude/skills/s -> ~/site/packages/a/.claude/skills/s");
    assert_eq!(rows(&found).len(), 1, "{:?}", rows(&found));
    assert!(rows(&found)[0].contains("packages/a/.claude/skills/s"), "{skill} {:?}", rows(&found));
    assert_eq!(found.installs[0].layer, InstallLayer::Project);
    assert_eq!(found.problems.len(), 1);
    assert_eq!(found.problems[0].kind, InstallProblemKind::NotRead);
    assert!(found.problems[0].record.file.ends_with("packages/a/.claude/agents"));
    // Cursor searches a project only if it is on the machine.
    assert!(nested.try_read(KnownHost::Cursor).is_none_or(|found| found.installs.is_empty()));
    let cursor = nested.directory("~/.cursor").read(KnownHost::Cursor);
    assert!(
        rows(&cursor).iter().any(|row| row.contains("packages/a/.cursor/skills/c")),
        "{:?}",
        rows(&cursor)
    );
}
