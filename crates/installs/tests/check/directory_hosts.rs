//! Hosts whose directories are the record.

use plugward_installs::{InstallKind, InstallLayer, InstallProblemKind, KnownHost};

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
        "path:~/site/.cursor/mcp.json",
        "path:~/.cursor/hooks.json",
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
    let grok = home.read("grok");
    assert_eq!(
        rows(&grok),
        ["grok:a -> ~/.grok/plugins/a", "grok:b -> /elsewhere", "path:~/site/.grok/plugins/p"]
    );
    assert_eq!(
        grok.installs.iter().map(|install| install.is_outside).collect::<Vec<_>>(),
        [false, true, false]
    );
    assert_eq!(grok.installs[2].layer, InstallLayer::Project);
    let gnoma = home.read("gnoma");
    assert_eq!(rows(&gnoma), ["gnoma:c -> ~/.config/gnoma/plugins/c", "path:~/site/.gnoma/plugins/q"]);
}

#[test]
fn names_of_hosts_are_read_back() {
    for host in KnownHost::ALL {
        assert_eq!(host.as_str().parse::<KnownHost>(), Ok(*host));
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
