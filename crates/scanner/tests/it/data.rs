//! Data files: keys with their path, whatever the grammar and however they are written.

use plugward_scanner::{Profile, ScanReport};
use plugward_types::{Disguise, Finding, Severity};

use crate::common::{check, report};

fn found<'a>(report: &'a ScanReport, rule: &str) -> Vec<&'a Finding> {
    report.findings().iter().filter(|finding| finding.rule.as_str() == rule).collect()
}

/// One value in ways that all mean the same: path, text, whether something had to be undone.
const SERVERS: &[(&str, &str, bool)] = &[
    (".mcp.json", r#"{"mcpServers":{"x":{"command":"bash","args":["-c","run"]}}}"#, false),
    (".mcp.json", r#"{"mcpServers":{"x":{"args":["-c","run"],"command":"bash"}}}"#, false),
    (".mcp.json", r#"{"mcpServers":{"x":{"command":"b\u0061sh","args":["-c","run"]}}}"#, true),
    (".mcp.json", r#"{"mcpServers":{"x":{"comm\u0061nd":"bash","args":["-c","run"]}}}"#, true),
    (".mcp.json", r#"{"mcpServers":{"x":{"command":"bash","\u0061rgs":["-c","run"]}}}"#, true),
    (".mcp.json", r#"{"mcpServers":{"x":{"command":"bash","args":["\u002dc","run"]}}}"#, true),
    (".mcp.json", r#"{"\u006dcpServers":{"x":{"command":"bash","args":["-c","run"]}}}"#, true),
    (
        ".mcp.json",
        "// note\n{\"mcpServers\":{/* a */\"x\":{\"command\":\"bash\", // b\n\"args\":[\"-c\",\"run\",],},},}",
        false,
    ),
    (".mcp.json", "{'mcpServers':{x:{command:'bash',args:['-c','run']}}}", false),
    (".mcp.json", r"{mcpServers:{x:{command:'b\x61sh',args:['-c','run']}}}", true),
    (".mcp.json", "{\"mcpServers\":{\"x\":{\"command\":\"/bin/bash\",\"args\":[\"-lc\",\"run\"]}}}", false),
    (
        ".mcp.json",
        "{\"mcpServers\":{\"x\":{\"command\":\"node\",\"command\":\"bash\",\"args\":[\"-c\",\"run\"]}}}",
        false,
    ),
    (
        ".mcp.json",
        "{\"mcpServers\":{\"x\":{\"command\":\"bash\",\"command\":\"node\",\"args\":[\"-c\",\"run\"]}}}",
        false,
    ),
    (
        ".mcp.json",
        "{\"mcpServers\":{\"x\":{\"command\":\"bash\",\"args\":[\"a.sh\"],\"args\":[\"-c\",\"run\"]}}}",
        false,
    ),
    (
        ".mcp.json",
        "{\"mcpServers\":{\"x\":{\"command\":\"bash\",\"args\":[\"-c\",\"run\"],\"args\":[\"a.sh\"]}}}",
        false,
    ),
    // Broken: a comma, a colon, a bracket, a quote is missing or too many.
    (".mcp.json", "{\"mcpServers\":{\"x\":{\"command\":\"bash\" \"args\":[\"-c\" \"run\"]}}}", false),
    (".mcp.json", "{\"mcpServers\":{\"x\" {\"command\" \"bash\",\"args\":[\"-c\",\"run\"]}}}", false),
    (".mcp.json", "{\"mcpServers\":{\"x\":{\"command\":\"bash\",\"args\":[\"-c\",\"run\"", false),
    (
        ".mcp.json",
        "{\"mcpServers\":{\"x\":{\"a\":\"unclosed\n\"command\":\"bash\",\"args\":[\"-c\",\"run\"]}}}",
        false,
    ),
    (".mcp.json", "]}{\"mcpServers\":{\"x\":{\"command\":\"bash\",\"args\":[\"-c\",\"run\"]}}}", false),
    (
        ".mcp.json",
        "{\"mcpServers\":{\"x\":{\"y\":[{}},\"command\":\"bash\",\"args\":[\"-c\",\"run\"]}}}",
        false,
    ),
    (".mcp.json", "\"mcpServers\":{\"x\":{\"command\":\"bash\",\"args\":[\"-c\",\"run\"]}}", false),
    (
        ".mcp.json",
        "{\"a\":1}\n{\"mcpServers\":{\"x\":{\"command\":\"bash\",\"args\":[\"-c\",\"run\"]}}}",
        false,
    ),
    (
        ".mcp.json",
        "{\"a\":tru,,;\"b\"::,\"mcpServers\":{\"x\":{\"command\":\"bash\",\"args\":[\"-c\",\"run\"]}}}",
        false,
    ),
    (".mcp.json", "\u{feff}{\"mcpServers\":{\"x\":{\"command\":\"bash\",\"args\":[\"-c\",\"run\"]}}}", false),
    ("config.toml", "[mcp_servers.x]\ncommand = \"bash\"\nargs = [\"-c\", \"run\"]\n", false),
    (
        "config.toml",
        "[mcp_servers.x]\r\ncommand = 'bash' # note\r\nargs = [ # note\r\n  '-c',\r\n  'run',\r\n]\r\n",
        false,
    ),
    ("config.toml", "[mcp_servers]\nx = { command = \"bash\", args = [\"-c\", \"run\"] }\n", false),
    ("config.toml", "mcp_servers.x.command = \"bash\"\nmcp_servers.x.args = [\"-c\", \"run\"]\n", false),
    (
        "config.toml",
        "[ mcp_servers . \"x\" ]\ncommand = \"\"\"bash\"\"\"\nargs = ['''-c''', \"run\"]\n",
        false,
    ),
    ("config.toml", "[mcp_servers.x]\ncommand = \"b\\u0061sh\"\nargs = [\"-c\", \"run\"]\n", true),
    ("config.toml", "[mcp_servers.x]\n\"comm\\u0061nd\" = \"bash\"\nargs = [\"-c\", \"run\"]\n", true),
    ("config.toml", "= broken\n[mcp_servers.x\ncommand = \"bash\"\nargs = [\"-c\", \"run\"]\n", false),
    ("config.toml", "a = \"unclosed\n[mcp_servers.x]\ncommand = \"bash\"\nargs = [\"-c\", \"run\"]\n", false),
    ("config.toml", "[[mcp_servers.x]]\ncommand = \"bash\"\nargs = [\"-c\", \"run\"]\n", false),
    ("x.yaml", "mcpServers:\n  x:\n    command: bash\n    args: [-c, run]\n", false),
    ("x.yaml", "mcpServers:\n  x:\n    command: bash\n    args:\n    - -c\n    - run\n", false),
    (
        "x.yaml",
        "mcpServers:\n  x:\n    args:\n      - \"-c\"\n      - >-\n        run\n        it\n    command: 'bash' # note\n",
        false,
    ),
    ("x.yaml", "mcpServers: {x: {command: bash, args: [-c, run]}}\n", false),
    ("x.yaml", "mcpServers: {\n  x: {command: \"bash\",\n  \"args\":[\"-c\",\"run\"]}}\n", false),
    ("x.yaml", "---\n# note\n? mcpServers\n: x:\n    command: bash\n    args: [-c, run]\n", false),
    ("x.yaml", "mcpServers:\n  x:\n    command: \"b\\x61sh\"\n    args: [-c, run]\n", true),
    ("x.yaml", "mcpServers:\n  x:\n    \"comm\\u0061nd\": bash\n    args: [-c, run]\n", true),
    ("x.yaml", "s: &shell bash\nmcpServers:\n  x:\n    command: *shell\n    args: [-c, run]\n", false),
    ("x.yaml", "mcpServers:\n  x:\n    command: !!str bash\n    args: !list [-c, !!str run]\n", false),
    ("x.yaml", "mcpServers:\r\n  x:\r\n    command:\r\n      bash\r\n    args: [-c, run]\r\n", false),
    ("x.yaml", "a: \"unclosed\nmcpServers:\n  x:\n    command: bash\n    args: [-c, run]\n", false),
    ("x.yaml", "a: [unclosed, b\nmcpServers:\n  x:\n    command: bash\n    args: [-c, run]\n", false),
    ("x.yaml", "a\rmcpServers:\r  x:\r    command: bash\r    args: [-c, run]\r", false),
    ("x.yaml", "{\"mcpServers\":{\"x\":{\"command\":\"bash\",\"args\":[\"-c\",\"run\"]}}}", false),
];

#[test]
fn a_server_is_seen_however_it_is_written() {
    let mut wrong = Vec::new();
    for &(path, text, hidden) in SERVERS {
        let report = report(Profile::General, &[(path, text.as_bytes())]);
        let found = found(&report, "config/mcp-shell");
        let first = found.first();
        let as_wanted = first.is_some_and(|finding| {
            finding.severity == Severity::Danger
                && finding.how.contains(&Disguise::Escape) == hidden
                && finding.is_hidden() == hidden
                && finding.span.end <= text.len()
                && text[finding.span.start..finding.span.end].contains("run")
        });
        if !as_wanted {
            wrong.push(format!("{path} {text:?}: {:?}", check(Profile::General, path, text)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
