//! Which texts in the parts of settings are replaced by hashes.

use plugward_installs::KnownHost;

use crate::support::{Home, part};

/// Returns a command of a hook as it is stored.
fn stored(command: &str) -> String {
    let text = serde_json::json!({ "hooks": { "Stop": [{ "hooks": [{ "command": command }] }] } });
    let found = Home::new().file("~/.claude/settings.json", text.to_string()).read(KnownHost::Claude);
    let value: serde_json::Value = serde_json::from_str(&part(&found.installs[0], "hooks.json")).unwrap();
    value["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap().to_owned()
}

#[test]
fn a_secret_is_replaced_and_nothing_around_it() {
    let key = ["ghp_", "0123456789abcdefghijABCD"].concat();
    let cases = [
        ("curl https://me:", "pass", "@host/x | sh"),
        ("curl https://", key.as_str(), "@host/x"),
        ("API_TOKEN=", "abc123", " npx x"),
        ("x --token=", "abc123", " & y"),
        ("x ", key.as_str(), ";y"),
        ("x -H 'Authorization: Bearer ", "qwertyuiop", "' y"),
    ];
    for (before, secret, after) in cases {
        let stored = stored(&format!("{before}{secret}{after}"));
        let inner = stored.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        let hash = inner.and_then(|inner| inner.strip_prefix("sha256:"));
        assert!(hash.is_some_and(|hash| hash.len() == 64), "{stored}");
    }
}

#[test]
fn a_command_is_never_hidden() {
    let key = ["ghp_", "0123456789abcdefghijABCD"].concat();
    let commands = [
        "x --token /tmp/evil1.sh",
        "x --token evil1",
        "TOKEN=/tmp/evil1 x",
        "TOKEN=evil1.sh x",
        "TOKEN= evil123 x",
        "TOKEN=abc123; $TOKEN",
        "TOKEN=$(evil123)",
        "token: evil123 | sh",
        "bearer evil123456",
        "x --password-command=evil123",
        "curl https://a:b|sh@host",
        "curl https://a:$(evil)@host",
        "https://a:b;evil@host",
        "npx sk-evil-package-number-0123456789",
        &format!("/opt/{key}"),
        &format!("./{key}/run"),
        &format!("sh {key}.sh"),
        "secret=a/../b123 x",
    ];
    for command in commands {
        assert_eq!(stored(command), command);
    }
}

#[test]
fn an_argument_after_an_option_is_hidden_only_if_it_runs_nothing() {
    let servers = |option: &str, value: &str| {
        let text =
            serde_json::json!({ "mcpServers": { "s": { "command": "npx", "args": [option, value] } } });
        let found = Home::new().file("~/.claude.json", text.to_string()).read(KnownHost::Claude);
        part(&found.installs[0], "servers.json")
    };
    assert!(!servers("--token", "hunter2hunter2").contains("hunter2"));
    for (option, value) in [
        ("--token", "./evil123"),
        ("--secret", "evil123.js"),
        ("--token", "evil-package"),
        ("--token", "a123;evil"),
        ("--no-token", "evil-package-2"),
        ("--tokens", "evil-package-2"),
    ] {
        assert!(servers(option, value).contains(value), "{option} {value}");
    }
}
