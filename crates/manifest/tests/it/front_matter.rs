//! Commands in the front matter of prompts.

use plugward_manifest::{Dialect, ForeignText, MapFiles, PluginContext, SurfaceKind, read};

/// Returns `line:text` of each command, or `line?why` of one that cannot be read.
fn commands(front: &str) -> Vec<String> {
    let text = format!("---\n{front}\n---\nBody\n");
    let files =
        MapFiles::new().with(".claude-plugin/plugin.json", r#"{"name": "a"}"#).with("agents/c.md", text);
    let manifest = match read(Dialect::Claude, &files, &PluginContext::for_directory("a")) {
        Ok(manifest) => manifest,
        Err(errors) => return vec![errors.to_string()],
    };
    let items = manifest.surface().iter().filter(|item| item.kind() == SurfaceKind::CommandShell);
    items
        .map(|item| {
            let line = item.place().position().unwrap().line;
            match item.text().map(ForeignText::as_untrusted) {
                Some(text) => format!("{line}:{text}"),
                None => format!("{line}?{}", item.why()),
            }
        })
        .filter(|shown| !shown.ends_with("?hooks in the front matter"))
        .collect()
}

#[track_caller]
fn check(front: &str, expected: &[&str]) {
    assert_eq!(commands(front), expected, "{front}");
}

/// Checks the value of `command` in block style.
#[track_caller]
fn value(value: &str, expected: &str) {
    check(
        &format!("hooks:\n  Stop:\n    - type: command\n      command: {value}\n      timeout: 5"),
        &[&format!("5:{expected}")],
    );
}

#[test]
fn hooks_in_flow_style() {
    check("hooks:\n  Stop:\n    - {type: command, command: \"sh docs/b.sh\"}", &["4:sh docs/b.sh"]);
    check("hooks: {PreToolUse: [{hooks: [{type: command, command: \"x\"}]}]}", &["2:x"]);
    check(
        "hooks: {\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"a\\u0062 'c'\"}]}]}",
        &["2:ab 'c'"],
    );
    check(
        "hooks: {\n  Stop: [ # all, {of: them}\n    {command: 'it''s',\n     timeout: 5},\n    {command: b c}]}",
        &["4:it's", "6:b c"],
    );
    check("hooks: {Stop: [command: x, command: y]}", &["2:x", "2:y"]);
    check("hooks: &h {Stop: [{command: !!str a:b}]}", &["2:a:b"]);
    check(
        "{name: s, description: '{command: no}', hooks: {Stop: [{command: x}]}, other: {command: y}}",
        &["2:x"],
    );
    check("hooks: {Stop: [{command: echo ${X}}]}", &["2?text after a value"]);
    check("hooks: {Stop: [{command: x}\nname: y", &["2?brackets that are not closed", "2:x"]);
}

#[test]
fn texts_in_block_style() {
    value("npx a", "npx a");
    value("\"wget -qO- x | sh\"", "wget -qO- x | sh");
    value(r#""a \x64 \"q\" \u0065\n\\""#, "a d \"q\" e\n\\");
    value("'it''s \\n'", "it's \\n");
    value("\"a b\" # comment", "a b");
    value("\"$X\"/run.sh", "\"$X\"/run.sh");
    value("! test -f x", "! test -f x");
    value("&c sh x", "sh x");
    value(">-\n        sh -c\n        docs/b.sh", "sh -c docs/b.sh");
    value("|\n        a\n          b\n\n        c", "a\n  b\n\nc");
    value("sh\n        docs/b.sh", "sh docs/b.sh");
    value("\n        sh x", "sh x");
    value("\"a\n\n        b \\\n        c\"", "a\nb c");
    value("[sh, 'a b']", "sh 'a b'");
    value("> out.txt", "> out.txt");
    check(
        "hooks:\n  Stop:\n  - \"command\": x\n  - 'command' : y\n  - \"\\x63ommand\": z",
        &["4:x", "5:y", "6:z"],
    );
    check("\"hooks\":\n  Stop:\n  - command: x", &["4:x"]);
    check(" name: s\n hooks:\n  Stop:\n  - command: x\n other:\n  - command: y", &["5:x"]);
    check("  name: s\nhooks:\n  Stop:\n  - command: x", &["5:x"]);
    check("hooks:\r  Stop:\r  - command: x", &["2:x"]);
    check("hooks:\r\n  Stop:\r\n  - command: x\r\n    args: [a]\r", &["4:x a"]);
}

#[test]
fn texts_that_cannot_be_read_are_unresolved() {
    let why = |value: &str, why: &str| {
        check(&format!("hooks:\n  Stop:\n    - command: {value}\n      timeout: 5"), &[&format!("4?{why}")]);
    };
    why("*c", "an alias");
    why("\"a", "a text without a closing quote");
    why(r#""\ud800""#, "an escape that is not a character");
    why("|", "an empty block text");
    why("{a: b}", "a command that is not a text");
    why("\n        a: b", "a command that is not a text");
    check("hooks:\n  Stop:\n    - <<: *c\n      type: command", &["4?an alias"]);
    check("hooks:\n  Stop:\n    - *c", &["4?an alias"]);
    check("hooks:\n  Stop:\n    - ? command\n      : x", &["4?a key on a line of its own"]);
    check(
        "hooks: {Stop: [{<<: *c}, {command: *d}]}",
        &["2?an alias or a text that cannot be read", "2?an alias"],
    );
    check("<<: *all", &["2?an alias"]);
    check("hooks:\n  Stop:\n    - matcher: *\n      command: x", &["5:x"]);
}

#[test]
fn servers() {
    check(
        "mcpServers:\n  db:\n    command: npx\n    args: [\"-y\", 'a b', \"${CLAUDE_PLUGIN_ROOT}/x\"]",
        &["4:npx -y 'a b' \"${CLAUDE_PLUGIN_ROOT}/x\""],
    );
    check(
        "mcpServers:\n  - db:\n      args:\n        - -y\n        - a@1 # c\n      env: {A: b}\n      command: npx\n  - e:\n      command: uvx",
        &["8:npx -y a@1", "10:uvx"],
    );
    check("mcpServers:\n  db:\n    command: npx\n    args:\n    - \"a: b\"\n    - c", &["4:npx 'a: b' c"]);
    check(
        "mcpServers: {db: {command: sh, args: [a,\n  \"b\"]}, e: {args: [x], \"command\": \"y\"}}",
        &["2:sh a b", "3:y x"],
    );
    check("mcpServers:\n  db: {type: stdio, command: sh, args: [docs/b.sh]}", &["3:sh docs/b.sh"]);
    check(
        "mcpServers:\n  db:\n    command: sh\n    args: [\n      a,\n      b,\n    ]\n    type: stdio",
        &["4:sh a b"],
    );
    check("mcpServers:\n  command:\n    command: x", &["3?a command that is not a text", "4:x"]);
    check("mcpServers:\n  db:\n    command: sh\n    args: *a", &["4?arguments that cannot be read"]);
    check("mcpServers:\n  db: *s", &["3?an alias"]);
    check("mcpServers:\n  db:\n    type: http\n    url: https://x.example/mcp", &[]);
    check("mcpServers:\n  - slack\n  - command", &[]);
}

#[test]
fn other_keys_and_comments_are_not_commands() {
    check("metadata:\n  - command: x\n  - {command: y}", &[]);
    check(
        "hooks:\n  Stop:\n  # command: x\n  - type: prompt # {command: y}\n    prompt: \"use {command: z}\"",
        &[],
    );
    check("description: \"hooks: {Stop: [{command: x}]}\"\nname: s", &[]);
    check("description: |\n  hooks:\n    - command: x\nname: s", &[]);
    check("hooks: {Stop: [{type: prompt, prompt: 'a, command: x', subcommand: y}]}", &[]);
    check("name: s\n---\nhooks:\n  Stop:\n  - command: x\n  - {command: y}", &[]);
}

/// Nested, unclosed and repeated marks take linear time and no deep stack.
#[test]
fn hostile_front_matter() {
    for part in [
        "[",
        "[\n",
        "- \n",
        "- &a\n",
        "command: [\n",
        "  &a\n",
        "command: \"\n",
        "command: '\n",
        "\"a\n",
        "{command: {",
        "* ",
        "? ",
        "command:\n",
        " x: [\n",
    ] {
        for head in ["hooks: ", "hooks:\n  command:\n", "mcpServers:\n  args:\n", "hooks: {a", ""] {
            let found = commands(&format!("{head}{}", part.repeat(20_000)));
            assert!(found.len() <= 10_000);
        }
    }
}
