//! Tests of serialized results, and of the values that are left out.

use serde_json::json;

use crate::{
    CommandContext, CommandSources, Dialect, MapFiles, PluginContext, judge_command, read, read_marketplace,
};

#[test]
fn a_manifest_serializes_places_and_labels_but_no_environment_values() {
    let files = MapFiles::new()
        .with(
            ".claude-plugin/plugin.json",
            r#"{"name": "a", "version": "1.0.0", "description": "x\u001b[31m", "extra": 1,
                "mcpServers": {"s": {"command": "npx", "args": ["p@1.2.3"], "env": {"TOKEN": "hush"}}}}"#,
        )
        .with(
            "hooks/hooks.json",
            r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "ls"}]}]}}"#,
        );
    let manifest = read(Dialect::Claude, &files, &PluginContext::for_directory("a")).unwrap();
    let out = serde_json::to_value(&manifest).unwrap();
    assert_eq!(
        (&out["dialect"], &out["name"], &out["version"]),
        (&json!("claude"), &json!("a"), &json!("1.0.0"))
    );
    assert_eq!(out["description"], json!("x\\u{1b}[31m"));
    let items = out["surface"].as_array().unwrap();
    let server = items.iter().find(|item| item["kind"] == "mcp-server").unwrap();
    assert_eq!(server["facts"]["env"], json!(["TOKEN"]));
    assert_eq!((&server["coverage"], &server["layer"]), (&json!("launcher-version"), &json!("plugin")));
    let hook = items.iter().find(|item| item["kind"] == "hook").unwrap();
    assert_eq!(hook["place"]["file"], json!("hooks/hooks.json"));
    assert_eq!(hook["place"]["position"]["line"], json!(1));
    let warnings = out["notices"].as_array().unwrap();
    let unknown = warnings.iter().find(|notice| notice["code"] == "manifest/unknown-key").unwrap();
    assert_eq!(unknown["place"]["pointer"], json!("/extra"));
    assert!(!out.to_string().contains("hush"), "{out}");
    // The surface text does contain the value, so that a changed value changes the digest.
    assert!(manifest.surface_text().contains("hush"));
}

#[test]
fn errors_commands_and_marketplaces_serialize() {
    let twice = MapFiles::new().with(".claude-plugin/plugin.json", r#"{"name": "a", "name": "b"}"#);
    let errors = read(Dialect::Claude, &twice, &PluginContext::for_directory("a")).unwrap_err();
    let out = serde_json::to_value(&errors).unwrap();
    assert_eq!(out[0]["code"], json!("manifest/duplicate-key"));
    assert_eq!((&out[0]["place"]["position"]["column"], &out[0]["also"]["column"]), (&json!(15), &json!(2)));
    let view = judge_command("uvx x@1.0 && ls", &CommandContext::new(Dialect::Claude));
    let out = serde_json::to_value(&view).unwrap();
    assert_eq!(out["parts"].as_array().unwrap().len(), 2);
    assert_eq!(out["parts"][0]["coverage"], json!("launcher-version"));
    let market = br#"{"name": "m", "owner": "o", "plugins": [
        {"name": "a", "source": {"source": "git", "url": "https://example.org/a", "ref": "main"}}, 7]}"#;
    let (market, warnings) = read_marketplace("m.json", market, CommandSources::Refused).unwrap();
    let out = serde_json::to_value(&market).unwrap();
    let source = &out["entries"][0]["source"];
    assert_eq!((&source["kind"], &source["pinning"]), (&json!("git"), &json!("floating")));
    assert_eq!((&source["at"], &source["reference"]), (&json!("https://example.org/a"), &json!("main")));
    assert_eq!(out["refused"][0]["errors"][0]["code"], json!("manifest/type"));
    assert_eq!(serde_json::to_value(&warnings).unwrap()[0]["code"], json!("market/floating-source"));
}
