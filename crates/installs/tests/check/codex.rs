//! Codex: cache, configuration and loose pieces.

use plugward_installs::{
    HostState, HostSwitch, InstallContents, InstallKind, InstallLayer, InstallProblemKind, KnownHost,
};

use crate::support::{Home, SITE, find, kinds, part, part_names, problems, rows};

const CONFIG: &str = "~/.codex/config.toml";
const V1: &str = "~/.codex/plugins/cache/acme/a/1.0.0";

#[test]
fn every_version_directory_counts() {
    let home = Home::new()
        .file(CONFIG, "[plugins.\"a@acme\"]\nenabled = true\n")
        .file(&format!("{V1}/x"), "")
        .directory("~/.codex/plugins/cache/acme/a/1.10.0")
        .directory("~/.codex/plugins/cache/acme/a/local")
        .link("~/.codex/plugins/cache/acme/a/9.0.0", "/tmp/x")
        .directory("/tmp/x")
        .file("~/.codex/plugins/cache/acme/a/.codex-plugin-install.json", "{}");
    let found = home.read(KnownHost::Codex);
    let at = |version: &str| {
        format!("claude:a@acme -> ~/.codex/plugins/cache/acme/a/{version}")
            .replace("claude", "codex")
            .replace("/.codex-", "/.")
    };
    assert_eq!(rows(&found), [at("1.0.0"), at("1.10.0"), at("local")]);
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    let install = &found.installs[1];
    assert_eq!((install.version.as_deref(), install.state), (Some("1.10.0"), HostState::On));
    assert_eq!(install.contents, InstallContents::Directory);
    assert_eq!(install.switch, HostSwitch::Id("a@acme".to_owned()));
}

#[test]
fn the_configuration_disables_plugins() {
    let state = |home: Home| home.directory(V1).read(KnownHost::Codex).installs[0].state;
    assert_eq!(state(Home::new()), HostState::On);
    assert_eq!(state(Home::new().file(CONFIG, "[plugins.\"a@acme\"]\nenabled = false")), HostState::Off);
    assert_eq!(state(Home::new().file(CONFIG, "[plugins.\"a@acme\"]\n")), HostState::On);
    // A file of the project counts only if the user trusts the project.
    let off = "[plugins.\"a@acme\"]\nenabled = false";
    let project = Home::new().project(SITE, SITE).file("~/site/.codex/config.toml", off);
    assert_eq!(state(project.clone()), HostState::On);
    let trusted = project.file(CONFIG, "[projects.\"/home/u/site\"]\ntrust_level = \"trusted\"");
    assert_eq!(state(trusted), HostState::Off);
    // A project that enables a plugin is believed without trust.
    let on = Home::new()
        .project(SITE, SITE)
        .file(CONFIG, off)
        .file("~/site/.codex/config.toml", off.replace("false", "true"));
    assert_eq!(state(on), HostState::On);
}

#[test]
fn a_configuration_of_many_megabytes_is_unreadable() {
    let read = |bytes: usize| {
        let text = format!("model = \"x\"\n# {}\n", "x".repeat(bytes));
        kinds(&Home::new().file(CONFIG, text).directory(V1).read(KnownHost::Codex))
    };
    assert_eq!(read(3 << 20), []);
    assert_eq!(read(4 << 20), [InstallProblemKind::Unreadable]);
}

#[test]
fn problems_of_the_configuration_are_told_apart() {
    let found = Home::new()
        .file(CONFIG, "[plugins.\"a@acme\"]\nenabled = \"no\"\n[plugins.\"..@b\"]")
        .directory(V1)
        .read(KnownHost::Codex);
    assert_eq!(problems(&found), ["install/row /plugins/a@acme", "install/id /plugins/..@b"]);
    let found = Home::new().file(CONFIG, "[plugins.\"a@acme\"]").read(KnownHost::Codex);
    assert_eq!(problems(&found), ["install/missing /plugins/a@acme"]);
    assert_eq!((found.problems[0].state, found.problems[0].message.as_str()), (HostState::On, "not on disk"));
    let deep = format!("x = {}{}", "[".repeat(70), "]".repeat(70));
    for text in ["[plugins", "plugins = 1", "notify = \"x\"", "a = 1\na = 2", "mcp_servers = []", &deep] {
        let found = Home::new().file(CONFIG, text).read(KnownHost::Codex);
        assert_eq!(kinds(&found), [InstallProblemKind::Unreadable], "{text}");
    }
    let found = Home::new().directory("~/.codex/plugins/cache/acme/a b/1.0.0").read(KnownHost::Codex);
    assert_eq!(kinds(&found), [InstallProblemKind::Id]);
    assert!(
        Home::new().directory("~/.codex/plugins/cache/acme/empty").read(KnownHost::Codex).problems.is_empty()
    );
}

#[test]
fn the_configuration_is_reduced_to_what_runs() {
    let text = r#"
model = "x"
notify = ["python3", "n.py"]
[mcp_servers.s]
command = "npx"
args = ["x"]
startup_timeout_sec = 1_0
bearer_token_env_var = "TOKEN"
[mcp_servers.s.env]
K = "v"
[mcp_servers.h]
url = "https://h"
http_headers = { A = "b" }
[hooks.state."x"]
trusted_hash = "sha256:1"
[[hooks.Stop]]
matcher = "*"
[[hooks.Stop.hooks]]
type = "command"
command = "sh a.sh"
[shell_environment_policy.set]
PATH = "/x"
[model_providers.m.auth]
command = "token.sh"
args = ["-c", "a b"]
[mcp_servers.s.tools.read]
approval_mode = "approve"
[mcp_servers.h.tools.write]
approval_mode = "approve"
enabled = false
"#;
    let found = Home::new().file(CONFIG, text).read(KnownHost::Codex);
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    let install = find(&found, "path:~/.codex/config.toml");
    assert_eq!(install.kind, InstallKind::Settings);
    assert_eq!(part_names(install), ["commands.json", "env.json", "hooks.json", "servers.json"]);
    assert_eq!(
        part(install, "commands.json"),
        r#"{"hooks":{"model_providers.m.auth":[{"hooks":[{"command":"token.sh -c 'a b'","type":"command"}]}],"notify":[{"hooks":[{"command":"python3 n.py","type":"command"}]}]}}"#
    );
    assert_eq!(
        part(install, "hooks.json"),
        r#"{"hooks":{"Stop":[{"hooks":[{"command":"sh a.sh","type":"command"}],"matcher":"*"}]}}"#
    );
    let servers = part(install, "servers.json");
    assert!(servers.starts_with(r#"{"mcpServers":{"h":{"headers":{"A":"sha256:"#), "{servers}");
    assert!(
        servers.contains(r#""bearer_token_env_var":"TOKEN","command":"npx","env":{"K":"sha256:"#),
        "{servers}"
    );
    assert!(servers.contains(r#""startup_timeout_sec":"1_0""#), "{servers}");
    serde_json::from_str::<serde_json::Value>(&servers).unwrap();
    // What the user has allowed is not part of a server, but other settings of a tool are.
    assert_eq!(servers.matches("tools").count(), 1);
    assert!(servers.contains(r#""tools":{"write":{"enabled":false}}"#), "{servers}");
    let trusted =
        Home::new().file(CONFIG, "[hooks.state.\"x\"]\ntrusted_hash = \"1\"").read(KnownHost::Codex);
    assert!(trusted.installs.is_empty());
}

#[test]
fn loose_pieces_are_found() {
    let home = Home::new()
        .project(SITE, "~/site/sub")
        .file("~/.codex/skills/.system/builtin/SKILL.md", "")
        .file("~/.codex/skills/mine/SKILL.md", "")
        .file("~/.agents/skills/shared/SKILL.md", "")
        .file("~/.codex/agents/a.toml", "")
        .file("~/.codex/hooks.json", r#"{"hooks":{"Stop":[]}}"#)
        .file("~/site/.agents/skills/p/SKILL.md", "")
        .file("~/site/sub/.codex/config.toml", "[mcp_servers.s]\ncommand = \"x\"")
        .file("/etc/codex/skills/admin/SKILL.md", "");
    let found = home.read(KnownHost::Codex);
    let expected = [
        "path:/etc/codex/skills/admin",
        "path:~/.codex/hooks.json",
        "path:~/.codex/skills/mine",
        "path:~/.codex/agents",
        "path:~/site/sub/.codex/config.toml",
        "path:~/.agents/skills/shared",
        "path:~/site/.agents/skills/p",
    ];
    assert_eq!(rows(&found), expected);
    assert_eq!(find(&found, "path:~/site/sub/.codex/config.toml").layer, InstallLayer::Project);
    assert_eq!(find(&found, "path:~/site/sub/.codex/config.toml").kind, InstallKind::Servers);
    assert!(Home::new().file("~/.agents/skills/s/SKILL.md", "").try_read(KnownHost::Codex).is_none());
    assert!(Home::new().variable("CODEX_HOME", "/c").directory("/c").try_read(KnownHost::Codex).is_some());
}

#[test]
fn the_marketplace_is_the_clone_or_the_local_source() {
    let market = |home: Home| home.directory(V1).read(KnownHost::Codex).installs[0].marketplace.clone();
    assert_eq!(market(Home::new()), None);
    let clone = Home::new().directory("~/.codex/.tmp/marketplaces/acme");
    assert_eq!(market(clone).as_deref(), Some("/home/u/.codex/.tmp/marketplaces/acme"));
    let local = Home::new().file(CONFIG, "[marketplaces.acme]\nsource_type = \"local\"\nsource = \"/m\"");
    assert_eq!(market(local).as_deref(), Some("/m"));
}

#[test]
fn profiles_are_settings_that_disable_nothing() {
    let profile = "[plugins.\"a@acme\"]\nenabled = false\n[mcp_servers.s]\ncommand = \"x\"";
    let home = Home::new().directory(V1).file("~/.codex/work.config.toml", profile);
    let home = home.file("~/.codex/config.toml.bak", profile).project(SITE, SITE);
    let found = home.file("~/site/.codex/work.config.toml", profile).read(KnownHost::Codex);
    assert_eq!(rows(&found)[0], "path:~/.codex/work.config.toml");
    assert_eq!((found.installs.len(), found.installs[1].state), (2, HostState::On));
}

#[test]
fn an_unclear_home_is_a_problem() {
    let read = |host, variable: &str, value: &str| {
        let found = Home::new().directory("~/.claude").variable(variable, value).try_read(host);
        found.map_or(Vec::new(), |found| kinds(&found))
    };
    for (host, variable) in [
        (KnownHost::Claude, "CLAUDE_CONFIG_DIR"),
        (KnownHost::Codex, "CODEX_HOME"),
        (KnownHost::Gemini, "GEMINI_CLI_HOME"),
    ] {
        for value in ["~/x", "x", "./x"] {
            assert_eq!(read(host, variable, value), [InstallProblemKind::Unreadable], "{variable}={value}");
        }
        assert!(read(host, variable, "/home/u").is_empty(), "{variable}");
        // Only Claude Code takes an empty value for a path.
        assert_eq!(read(host, variable, "").len(), usize::from(host == KnownHost::Claude), "{variable}");
    }
    let found = Home::new().variable("CODEX_HOME", "~/x").read(KnownHost::Codex);
    assert_eq!(found.problems[0].message, "CODEX_HOME is `~/x`, expected an absolute path");
}
