//! Claude Code: settings, servers and loose pieces.

use plugward_installs::{HostState, HostSwitch, InstallKind, InstallLayer, InstallProblemKind, KnownHost};

use crate::support::{Home, SITE, find, kinds, part, part_names, rows};

const SETTINGS: &str = "~/.claude/settings.json";
const RECORD: &str = "~/.claude/plugins/installed_plugins.json";

fn state_with(settings: &[(&str, &str)], directory: &str) -> (HostState, HostSwitch) {
    let text = r#"{"version":2,"plugins":{"a@acme":[{"scope":"user","installPath":"/p"}]}}"#;
    let mut home = Home::new().file(RECORD, text).directory("/p").project(SITE, directory);
    for (path, value) in settings {
        home = home.file(path, format!(r#"{{"enabledPlugins":{{"a@acme":{value}}}}}"#));
    }
    let found = home.read(KnownHost::Claude);
    let install = find(&found, "claude:a@acme");
    (install.state, install.switch.clone())
}

/// Settings files with their values, and the state and switch that follow.
type Case<'a> = (&'a [(&'a str, &'a str)], HostState, HostSwitch);

#[test]
fn the_highest_level_decides_whether_a_plugin_is_on() {
    let id = HostSwitch::Id("a@acme".to_owned());
    let (user, project, local) =
        (SETTINGS, "~/site/.claude/settings.json", "~/site/.claude/settings.local.json");
    let managed = "/etc/claude-code/managed-settings.json";
    let cases: &[Case<'_>] = &[
        (&[], HostState::Off, id.clone()),
        (&[(user, "true")], HostState::On, id.clone()),
        (&[(user, "false")], HostState::Off, id.clone()),
        (&[(user, "[\"1.0.0\"]")], HostState::On, id.clone()),
        (&[(user, "\"no\"")], HostState::On, id.clone()),
        (&[(user, "false"), (project, "true")], HostState::On, id.clone()),
        (&[(user, "true"), (project, "false")], HostState::Off, id.clone()),
        (&[(project, "true"), (local, "false")], HostState::Off, id.clone()),
        (&[(local, "false"), (managed, "true")], HostState::On, HostSwitch::None),
        (&[(user, "true"), (managed, "false")], HostState::Off, id.clone()),
        (
            &[(managed, "true"), ("/etc/claude-code/managed-settings.d/1.json", "false")],
            HostState::Off,
            id.clone(),
        ),
        (
            &[(managed, "false"), ("/etc/claude-code/managed-settings.d/1.json", "true")],
            HostState::On,
            HostSwitch::None,
        ),
        (
            &[(managed, "true"), ("/etc/claude-code/managed-settings.d/1.txt", "false")],
            HostState::On,
            HostSwitch::None,
        ),
    ];
    for (settings, state, switch) in cases {
        assert_eq!(state_with(settings, SITE), (*state, switch.clone()), "{settings:?}");
    }
}

#[test]
fn in_a_subdirectory_only_a_unanimous_no_counts() {
    let (root, sub) = ("~/site/.claude/settings.json", "~/site/sub/.claude/settings.json");
    assert_eq!(state_with(&[(root, "false"), (sub, "false")], "~/site/sub").0, HostState::Off);
    assert_eq!(state_with(&[(SETTINGS, "true"), (root, "false")], "~/site/sub").0, HostState::On);
    assert_eq!(state_with(&[(root, "true"), (sub, "false")], "~/site/sub").0, HostState::On);
    assert_eq!(state_with(&[(SETTINGS, "true"), (sub, "false")], SITE).0, HostState::On);
}

#[test]
fn a_settings_file_is_reduced_to_what_runs() {
    let text = r#"{"model":"x","hooks":{"Stop":[{"matcher":"*","hooks":[{"type":"command","command":"sh a.sh","timeout":5}]}]},
        "statusLine":{"type":"command","command":"line.sh","padding":0},"apiKeyHelper":"key.sh","env":{"B":"two","A":"one"}}"#;
    let found = Home::new().file(SETTINGS, text).read(KnownHost::Claude);
    let install = find(&found, "path:~/.claude/settings.json");
    assert_eq!(
        (install.kind, install.layer, &install.switch),
        (InstallKind::Settings, InstallLayer::User, &HostSwitch::None)
    );
    assert_eq!(part_names(install), ["commands.json", "env.json", "hooks.json"]);
    assert_eq!(
        part(install, "commands.json"),
        r#"{"hooks":{"apiKeyHelper":[{"hooks":[{"command":"key.sh","type":"command"}]}],"statusLine":[{"hooks":[{"command":"line.sh","type":"command"}]}]}}"#
    );
    assert_eq!(
        part(install, "hooks.json"),
        r#"{"hooks":{"Stop":[{"hooks":[{"command":"sh a.sh","timeout":5,"type":"command"}],"matcher":"*"}]}}"#
    );
    let env = part(install, "env.json");
    assert!(
        env.starts_with(
            r#"{"A":"sha256:7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","B":"sha256:"#
        ),
        "{env}"
    );
    // Order, white space and settings that run nothing are not part of it.
    let same = Home::new()
        .file(SETTINGS, text.replace("\"model\":\"x\",", "").replace(',', " , "))
        .read(KnownHost::Claude);
    assert_eq!(find(&same, "path:~/.claude/settings.json").contents, install.contents);
    let changed = Home::new().file(SETTINGS, text.replace("two", "three")).read(KnownHost::Claude);
    assert_ne!(find(&changed, "path:~/.claude/settings.json").contents, install.contents);
    let nothing = Home::new().file(SETTINGS, r#"{"model":"x","hooks":{},"env":{},"statusLine":null}"#);
    assert!(nothing.read(KnownHost::Claude).installs.is_empty());
}

#[test]
fn a_wrong_type_in_a_settings_file_makes_it_unreadable() {
    for text in [
        r#"{"hooks":[]}"#,
        r#"{"env":7}"#,
        r#"{"enabledPlugins":["a@acme"]}"#,
        r#"{"statusLine":true}"#,
        "{",
        "{//c\n}",
    ] {
        let found = Home::new().file(SETTINGS, text).read(KnownHost::Claude);
        assert_eq!(kinds(&found), [InstallProblemKind::Unreadable], "{text}");
    }
    let found = Home::new().file(SETTINGS, r#"{"hooks":[]}"#).read(KnownHost::Claude);
    assert_eq!(found.problems[0].message, "expected an object at `/hooks`, got a list");
    let other = Home::new().file(SETTINGS, r#"{"permissions":7,"unknown":[]}"#).read(KnownHost::Claude);
    assert!(other.problems.is_empty());
}

#[test]
fn secrets_of_servers_are_hashed() {
    let token = ["ghp_", "0123456789abcdefghijABCD"].concat();
    let text = format!(
        r#"{{"mcpServers":{{"s":{{"command":"npx","args":["x","--token","hunter2hunter2","--header=Authorization: Bearer qwertyuiop"],
        "env":{{"K":"v"}},"headers":{{"H":"w"}},"url":"https://me:pass@host/?token={token}&a=b","oauth":{{"clientSecret":"c3c3"}}}}}}}}"#
    );
    let found = Home::new().file("~/.claude.json", text).read(KnownHost::Claude);
    let install = find(&found, "path:~/.claude.json");
    assert_eq!((install.kind, part_names(install)), (InstallKind::Servers, vec!["servers.json"]));
    let servers = part(install, "servers.json");
    for secret in ["hunter2", "qwertyuiop", "pass", "ghp_", "c3c3", "\"v\"", "\"w\""] {
        assert!(!servers.contains(secret), "{secret} in {servers}");
    }
    for kept in [
        r#""command":"npx""#,
        r#""args":["x","--token","sha256:"#,
        "Authorization: Bearer sha256:",
        "@host/?token=sha256:",
        "&a=b",
    ] {
        assert!(servers.contains(kept), "no {kept} in {servers}");
    }
}

#[test]
fn the_servers_of_a_project_have_their_own_key() {
    let text = r#"{"numStartups":1,"mcpServers":{"u":{"command":"u"}},
        "projects":{"/home/u/site":{"history":[],"mcpServers":{"p":{"command":"p"}}},"/other":{"mcpServers":{"o":{"command":"o"}}}}}"#;
    let home = Home::new().file("~/.claude.json", text).project(SITE, SITE);
    let found = home.read(KnownHost::Claude);
    assert_eq!(rows(&found), ["path:~/.claude.json~/site -> ~/.claude.json", "path:~/.claude.json"]);
    assert_eq!(part(&found.installs[1], "servers.json"), r#"{"mcpServers":{"u":{"command":"u"}}}"#);
    assert_eq!(part(&found.installs[0], "servers.json"), r#"{"mcpServers":{"p":{"command":"p"}}}"#);
    assert_eq!(found.installs[0].layer, InstallLayer::Project);
    let elsewhere =
        Home::new().file("~/.claude.json", text).project("/none", "/none").read(KnownHost::Claude);
    assert_eq!(rows(&elsewhere), ["path:~/.claude.json"]);
}

#[test]
fn a_repository_without_plugins_still_has_pieces() {
    let home = Home::new()
        .project(SITE, SITE)
        .file("~/site/.claude/settings.json", r#"{"hooks":{"SessionStart":[]}}"#)
        .file("~/site/.claude/settings.local.json", r#"{"env":{"A":"b"}}"#)
        .file("~/site/.claude/skills/s/SKILL.md", "")
        .file("~/site/.claude/commands/deep/er/c.md", "")
        .directory("~/site/.claude/agents/empty")
        .file("~/site/.mcp.json", r#"{"mcpServers":{"s":{"command":"x"}}}"#);
    let found = home.read(KnownHost::Claude);
    let expected = [
        "path:~/site/.claude/settings.json",
        "path:~/site/.claude/settings.local.json",
        "path:~/site/.mcp.json",
        "path:~/site/.claude/skills/s",
        "path:~/site/.claude/commands",
    ];
    assert_eq!(rows(&found), expected);
    assert!(found.installs.iter().all(|install| install.layer == InstallLayer::Project));
    assert!(found.problems.is_empty(), "{:?}", found.problems);
}

#[test]
fn skills_can_be_plugins_and_symlinks() {
    let manifest = ".claude-plugin/plugin.json";
    let home = Home::new()
        .file("~/.claude/skills/plain/SKILL.md", "")
        .file(&format!("~/.claude/skills/on/{manifest}"), r#"{"name":"named"}"#)
        .file(&format!("~/.claude/skills/off/{manifest}"), r#"{"name":"other"}"#)
        .file("/elsewhere/SKILL.md", "")
        .link("~/.claude/skills/linked", "/elsewhere")
        .link("~/.claude/skills/again", "/elsewhere")
        .link("~/.claude/skills/dangling", "/none")
        .file("~/.claude/skills/README.md", "")
        .file(SETTINGS, r#"{"enabledPlugins":{"other@skills-dir":false,"off@skills-dir":true}}"#);
    let found = home.read(KnownHost::Claude);
    let expected = [
        "path:/elsewhere",
        "path:~/.claude/skills/off",
        "path:~/.claude/skills/on",
        "path:~/.claude/skills/plain",
    ];
    assert_eq!(rows(&found), expected);
    let kind =
        |key: &str| (find(&found, key).kind, find(&found, key).state, find(&found, key).switch.clone());
    assert_eq!(
        kind("path:~/.claude/skills/on"),
        (InstallKind::Plugin, HostState::On, HostSwitch::ManifestName)
    );
    assert_eq!(
        kind("path:~/.claude/skills/off"),
        (InstallKind::Plugin, HostState::Off, HostSwitch::ManifestName)
    );
    assert_eq!(kind("path:/elsewhere"), (InstallKind::Skill, HostState::On, HostSwitch::None));
    assert!(found.problems.is_empty(), "{:?}", found.problems);
}

#[test]
fn a_directory_that_cannot_be_listed_is_unreadable() {
    let found =
        Home::new().file("~/.claude/skills/s/SKILL.md", "").fault("~/.claude/skills").read(KnownHost::Claude);
    assert_eq!(kinds(&found), [InstallProblemKind::Unreadable]);
}
