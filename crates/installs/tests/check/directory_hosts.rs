//! Hosts whose directories are the record, and hosts that are not read.

use plugward_installs::{HOSTS, InstallKind, InstallLayer, InstallProblemKind, KnownHost};

use crate::support::{Home, SITE, find, kinds, part, part_names, rows};

#[test]
fn copilot() {
    let home = Home::new()
        .directory("~/.copilot/installed-plugins/acme/a")
        .directory("~/.copilot/installed-plugins/_direct/b")
        .directory("~/.copilot/installed-plugins/acme/c d")
        .file("~/.copilot/mcp-config.json", r#"{"mcpServers":{"s":{"command":"x"}}} // end"#)
        .project(SITE, SITE)
        .file(
            "~/site/.github/hooks/h.json",
            r#"{"version":1,"hooks":{"preToolUse":[{"type":"command","bash":"x.sh"}]}}"#,
        );
    let found = home.read(KnownHost::Copilot);
    let expected = [
        "copilot:b -> ~/.copilot/installed-plugins/_direct/b",
        "copilot:a@acme -> ~/.copilot/installed-plugins/acme/a",
        "path:~/.copilot/mcp-config.json",
        "path:~/site/.github/hooks/h.json",
    ];
    assert_eq!(
        (rows(&found), kinds(&found)),
        (expected.map(ToOwned::to_owned).to_vec(), vec![InstallProblemKind::Id])
    );
    let hooks = part(find(&found, "path:~/site/.github/hooks/h.json"), "hooks.json");
    assert_eq!(hooks, r#"{"hooks":{"preToolUse":[{"hooks":[{"command":"x.sh","type":"command"}]}]}}"#);
    let moved = Home::new().variable("COPILOT_HOME", "/c").directory("/c/installed-plugins/acme/a");
    assert_eq!(rows(&moved.read(KnownHost::Copilot)), ["copilot:a@acme -> /c/installed-plugins/acme/a"]);
}

#[test]
fn cursor() {
    let home = Home::new()
        .directory("~/.cursor/plugins/cache/acme/a/0123abc")
        .directory("~/.cursor/plugins/local/b")
        .project(SITE, SITE)
        .file("~/site/.cursor/mcp.json", r#"{"mcpServers":{"s":{"command":"x"}}}"#)
        .file("~/.cursor/hooks.json", r#"{"version":1,"hooks":{"stop":[{"command":"x.sh","matcher":"m"}]}}"#);
    let found = home.read(KnownHost::Cursor);
    let expected = [
        "cursor:a@acme -> ~/.cursor/plugins/cache/acme/a/0123abc",
        "cursor:b -> ~/.cursor/plugins/local/b",
        "path:~/.cursor/hooks.json",
        "path:~/site/.cursor/mcp.json",
    ];
    assert_eq!(rows(&found), expected);
    assert_eq!(found.installs[0].version.as_deref(), Some("0123abc"));
    let hooks = part(find(&found, "path:~/.cursor/hooks.json"), "hooks.json");
    assert_eq!(
        hooks,
        r#"{"hooks":{"stop":[{"hooks":[{"command":"x.sh","type":"command"}],"matcher":"m"}]}}"#
    );
}

#[test]
fn grok_and_gnoma() {
    let home = Home::new()
        .directory("~/.grok/plugins/a")
        .link("~/.grok/plugins/b", "/elsewhere")
        .directory("/elsewhere")
        .directory("~/.config/gnoma/plugins/c")
        .project(SITE, SITE)
        .directory("~/site/.grok/plugins/p")
        .directory("~/site/.gnoma/plugins/q");
    let grok = home.read(KnownHost::Grok);
    assert_eq!(
        rows(&grok),
        ["grok:a -> ~/.grok/plugins/a", "grok:b -> /elsewhere", "path:~/site/.grok/plugins/p"]
    );
    assert_eq!(
        grok.installs.iter().map(|install| install.is_outside).collect::<Vec<_>>(),
        [false, true, false]
    );
    assert_eq!(grok.installs[2].layer, InstallLayer::Project);
    let gnoma = home.read(KnownHost::Gnoma);
    assert_eq!(rows(&gnoma), ["gnoma:c -> ~/.config/gnoma/plugins/c", "path:~/site/.gnoma/plugins/q"]);
}

#[test]
fn unread_hosts_are_reported_if_they_have_plugins() {
    let code = "~/.config/Code/User/settings.json";
    let there = [
        (KnownHost::Vscode, Home::new().file(code, "{\"chat.pluginLocations\": {\"/x\": true}, }")),
        (KnownHost::Opencode, Home::new().file("~/.config/opencode/plugins/a.js", "")),
        (KnownHost::Opencode, Home::new().project(SITE, SITE).file("~/site/.opencode/plugin/a.ts", "")),
        (KnownHost::Kimi, Home::new().variable("KIMI_CODE_HOME", "/k").directory("/k/plugins/a")),
    ];
    for (host, home) in there {
        let found = home.read(host);
        assert_eq!((kinds(&found), found.installs.len()), (vec![InstallProblemKind::NotRead], 0), "{host:?}");
        assert_eq!(found.problems[0].kind.code(), "install/not-read");
    }
    let not = [
        (KnownHost::Vscode, Home::new().file(code, "{}")),
        (KnownHost::Opencode, Home::new().directory("~/.config/opencode/plugins")),
        (KnownHost::Kimi, Home::new().directory("~/.kimi-code")),
    ];
    for (host, home) in not {
        assert!(home.try_read(host).is_none(), "{host:?}");
    }
}

#[test]
fn names_of_hosts_are_read_back() {
    for host in HOSTS {
        assert_eq!(host.as_str().parse::<KnownHost>(), Ok(*host));
        assert!(!host.title().is_empty());
    }
    assert_eq!("Claude".parse::<KnownHost>().unwrap_err().to_string(), "unknown host");
}

#[test]
fn one_file_in_two_roles_has_the_parts_of_both() {
    let text = r#"{"mcpServers":{"s":{"command":"x"}},"hooks":{"stop":[{"command":"x.sh"}]}}"#;
    let home =
        Home::new().file("~/.cursor/mcp.json", text).link("~/.cursor/hooks.json", "~/.cursor/mcp.json");
    let found = home.read(KnownHost::Cursor);
    assert_eq!(rows(&found), ["path:~/.cursor/mcp.json"]);
    assert_eq!(part_names(&found.installs[0]), ["hooks.json", "servers.json"]);
    assert_eq!((found.installs[0].kind, found.problems.len()), (InstallKind::Settings, 0));
}
