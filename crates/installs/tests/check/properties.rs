//! Properties of all adapters.

use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use plugward_installs::{HostInventory, HostTable, InstallContents, KnownHost};
use plugward_types::PluginKey;
use proptest::prelude::*;

use crate::support::{Home, SITE};

/// The files that the adapters read.
const FILES: &[&str] = &[
    "~/.claude/plugins/installed_plugins.json",
    "~/.claude/plugins/known_marketplaces.json",
    "~/.claude/settings.json",
    "~/.claude.json",
    "~/site/.mcp.json",
    "/m/.claude-plugin/marketplace.json",
    "~/.codex/config.toml",
    "~/.codex/hooks.json",
    "~/.gemini/settings.json",
    "~/.gemini/extensions/extension-enablement.json",
    "~/.gemini/extensions/e/.gemini-extension-install.json",
    "~/.copilot/mcp-config.json",
    "~/.cursor/hooks.json",
    "~/.config/Code/User/settings.json",
    "~/.config/goose/config.yaml",
    "~/.openclaw/openclaw.json",
    "~/.kimi-code/plugins/installed.json",
];

fn check(found: &HostInventory) {
    for install in &found.installs {
        assert_eq!(install.key.to_string().parse::<PluginKey>().as_ref(), Ok(&install.key));
        if let InstallContents::Parts(parts) = &install.contents {
            for part in &parts.current {
                // `serde_json` sorts keys, so canonical text is its own form without numbers.
                let value: serde_json::Value = serde_json::from_slice(&part.bytes).expect("parts are JSON");
                assert!(value.is_object());
            }
        }
    }
    for problem in &found.problems {
        let text = format!("{}{}{}", problem.message, problem.help, problem.record.pointer);
        assert!(!text.chars().any(char::is_control), "{text:?}");
    }
}

fn check_all(home: &Home) {
    for row in HostTable::compiled().unwrap().rows() {
        if let Some(found) = home.try_read(row.id.as_str()) {
            check(&found);
        }
    }
}

/// Text that is nearly a record.
fn nearly() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "version",
        "plugins",
        "a@acme",
        "..@b",
        "scope",
        "installPath",
        "/p",
        "user",
        "hooks",
        "env",
        "mcpServers",
        "enabledPlugins",
        "acme",
        "source",
        "directory",
        "installLocation",
        "/m",
        "command",
        "overrides",
        "!/home/*",
        "type",
        "link",
        "args",
        "--token",
        "\u{1b}",
        "renames",
        "enabled",
        "notify",
        "\u{202e}x",
    ]);
    let leaf = prop_oneof![
        word.clone().prop_map(serde_json::Value::from),
        any::<bool>().prop_map(serde_json::Value::from),
        (0_i64..4).prop_map(serde_json::Value::from),
        Just(serde_json::Value::Null),
    ];
    let tree = leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::btree_map(word.clone().prop_map(ToOwned::to_owned), inner, 0..5)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    });
    tree.prop_map(|tree| tree.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn any_bytes_are_read(file in prop::sample::select(FILES), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check_all(&Home::new().project(SITE, SITE).directory("/p").file(file, bytes));
    }

    #[test]
    fn any_record_is_read(texts in prop::collection::vec(nearly(), FILES.len())) {
        let home = Home::new().project(SITE, SITE).directory("/p").directory("~/.claude/plugins/cache/acme/a/1");
        check_all(&FILES.iter().zip(texts).fold(home, |home, (file, text)| home.file(file, text)));
    }

    #[test]
    fn white_space_and_order_do_not_change_the_parts(text in nearly()) {
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let read = |text: String| Home::new().file("~/.cursor/mcp.json", text).read(KnownHost::Cursor).installs;
        let wrapped = serde_json::json!({ "mcpServers": { "s": value } });
        prop_assert_eq!(read(wrapped.to_string()), read(serde_json::to_string_pretty(&wrapped).unwrap()));
    }

    #[test]
    fn comments_are_those_of_another_parser(text in "[{}\\[\\]:,a\"\\\\/* \n1]{0,24}") {
        let text = format!("{{\"x\":{text}}}");
        let ours = Home::new().file("~/.cursor/mcp.json", text.clone()).read(KnownHost::Cursor);
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            ..ParseOptions::default()
        };
        let theirs = parse_to_ast(&text, &CollectOptions::default(), &options);
        // Theirs also accepts forms that no host does, so only one direction is compared.
        if ours.problems.is_empty() {
            prop_assert!(theirs.is_ok(), "{:?}", theirs.err());
        }
    }
}
