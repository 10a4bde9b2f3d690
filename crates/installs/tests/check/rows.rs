//! Rows of the table: each place is found, in each format and shape.

use plugward_installs::{
    FileFormat, HookShape, HostInventory, HostRow, HostTable, InstallKind, InstallLayer, InstallProblemKind,
    PartEffect, ServerShape,
};

use crate::support::{Home, SITE, find, kinds, part, part_names, rows};

/// The hosts whose code reads all of their places, and which have tests of their own.
const COMPLETE: [&str; 3] = ["claude", "codex", "gemini"];

/// Returns a path for a place, with `n` for each `*`.
fn path(row: &HostRow, place: &str) -> String {
    let place = place.replace("*.", "n.").replace('*', "n");
    match place.split_once('/').unwrap() {
        ("@", rest) => format!("{}/{rest}", row.home.default),
        (".", rest) => format!("{SITE}/{rest}"),
        _ => place,
    }
}

/// Returns a machine on which the host is, with a project.
fn home_of(row: &HostRow) -> Home {
    Home::new().directory(&row.home.default).project(SITE, SITE)
}

fn has(found: &HostInventory, path: &str) -> bool {
    let path = crate::support::full(path);
    found.installs.iter().any(|install| install.place.as_str() == path)
}

/// Returns a text with `value` at a JSON pointer.
fn text_at(format: FileFormat, at: &str, value: &str) -> String {
    let keys: Vec<&str> = at.split('/').skip(1).map(|key| if key == "*" { "k" } else { key }).collect();
    if format == FileFormat::Toml {
        let (last, before) = keys.split_last().unwrap();
        let table = if before.is_empty() { String::new() } else { format!("[{}]\n", before.join(".")) };
        return format!("{table}{last} = {}", value.replace("\":", "\"="));
    }
    // JSON is YAML and JSON5, too.
    keys.iter().rev().fold(value.to_owned(), |inner, key| format!("{{\"{key}\":{inner}}}"))
}

#[test]
fn each_place_of_each_row_is_found() {
    for row in HostTable::compiled().unwrap().rows() {
        let id = row.id.as_str();
        let is_generic = !COMPLETE.contains(&id);
        for place in &row.skills {
            let skill = format!("{}/s", path(row, place));
            let found = home_of(row).file(&format!("{skill}/SKILL.md"), "x").read(id);
            assert!(has(&found, &skill), "{id}: {place}");
        }
        for place in row.prompts.iter().chain(&row.code) {
            let directory = path(row, place);
            let found = home_of(row).file(&format!("{directory}/x.md"), "x").read(id);
            let is_code = found.installs.iter().any(|install| install.kind == InstallKind::Code);
            assert_eq!((has(&found, &directory), is_code), (true, row.code.contains(place)), "{id}: {place}");
        }
        for place in &row.plugins {
            let plugin = path(row, place);
            let found = home_of(row).file(&format!("{plugin}/plugin.json"), "{}").read(id);
            assert!(has(&found, &plugin), "{id}: {place}");
        }
        for place in &row.named {
            let named = path(row, place);
            let found = home_of(row).file(&format!("{named}/x"), "").read(id);
            assert_eq!(kinds(&found), [InstallProblemKind::NotJudged], "{id}: {place}");
        }
        if is_generic {
            files_of(row);
        }
    }
}

/// Tries each file of a row.
fn files_of(row: &HostRow) {
    let id = row.id.as_str();
    for place in &row.mcp {
        let server = match place.shape {
            ServerShape::Plain => r#"{"command":"x","env":{"A":"b"}}"#,
            ServerShape::Opencode => r#"{"type":"local","command":["x"],"environment":{"A":"b"}}"#,
            ServerShape::Goose => r#"{"type":"stdio","cmd":"x","envs":{"A":"b"}}"#,
        };
        let servers = if place.list {
            format!("[{}", server.replacen('{', "{\"name\":\"s\",", 1)) + "]"
        } else {
            format!("{{\"s\":{server}}}")
        };
        let file = path(row, &place.file);
        let found = home_of(row).file(&file, text_at(place.format, &place.at, &servers)).read(id);
        let servers = part(find(&found, &format!("path:{}", crate::support::full(&file))), "servers.json");
        assert!(servers.contains("\"command\":") && servers.contains("\"env\":{\"A\":"), "{id}: {servers}");
    }
    for place in &row.hooks {
        let hook = r#"{"type":"command","command":"x.sh"}"#;
        let hooks = match place.shape {
            HookShape::Claude => format!(r#"{{"E":[{{"hooks":[{hook}]}}]}}"#),
            HookShape::Flat => format!(r#"{{"E":[{hook}]}}"#),
            HookShape::List => r#"[{"event":"E","type":"command","command":"x.sh"}]"#.to_owned(),
            HookShape::Named => format!(r#"{{"mine":{{"E":[{hook}]}}}}"#),
            HookShape::Single => {
                r#"{"when":{"type":"E"},"then":{"type":"runCommand","command":"x.sh"}}"#.to_owned()
            }
        };
        let file = path(row, &place.file);
        let found = home_of(row).file(&file, text_at(place.format, &place.at, &hooks)).read(id);
        let text = part(find(&found, &format!("path:{}", crate::support::full(&file))), "hooks.json");
        assert!(text.contains(r#""E":[{"hooks":[{"command":"x.sh""#), "{id}: {text}");
    }
    let parts = row.parts.iter().filter(|part| part.format != FileFormat::Env);
    for place in parts.filter(|part| part.effect != PartEffect::Record) {
        let file = path(row, &place.file);
        let at = if place.at.is_empty() { "/k" } else { &place.at };
        let found = home_of(row).file(&file, text_at(place.format, at, "true")).try_read(id).unwrap();
        let key = format!("path:{}", crate::support::full(&file));
        match place.effect {
            PartEffect::Runs => assert_eq!(part_names(find(&found, &key)), ["settings.json"], "{id}: {at}"),
            PartEffect::Loosens if place.file.starts_with("./") => {
                assert_eq!(part_names(find(&found, &key)), ["permissions.json"], "{id}: {at}");
            }
            // A file with servers has a row of its own, which names the setting.
            PartEffect::Loosens => {
                let named = found.installs.iter().any(|install| !install.loosens.is_empty());
                assert!(named || kinds(&found) == [InstallProblemKind::Loosens], "{id}: {at}");
            }
            _ => {}
        }
        // What is switched off neither runs nor loosens anything.
        let off = home_of(row).file(&file, text_at(place.format, at, "false")).try_read(id).unwrap();
        assert!(off.installs.iter().all(|install| install.loosens.is_empty()), "{id}: {at}");
        assert!(kinds(&off).is_empty(), "{id}: {at}");
    }
}

#[test]
fn each_place_of_the_user_is_found_without_the_home_of_its_host() {
    let rows = HostTable::compiled().unwrap().rows();
    for row in rows {
        let directories = [&row.skills, &row.prompts, &row.code, &row.plugins].into_iter().flatten();
        for place in directories.filter(|place| place.starts_with("~/")) {
            let at = crate::support::full(&path(row, place));
            let home =
                Home::new().file(&format!("{at}/s/SKILL.md"), "x").file(&format!("{at}/plugin.json"), "{}");
            let is_found = rows
                .iter()
                .filter_map(|row| home.try_read(row.id.as_str()))
                .any(|found| found.installs.iter().any(|one| one.place.as_str().starts_with(&at)));
            assert!(is_found, "{}: {place}", row.id);
        }
        for place in row.mcp.iter().filter(|place| place.file.starts_with("~/")) {
            let text = text_at(place.format, &place.at, r#"{"s":{"command":"x"}}"#);
            let home = Home::new().file(&place.file, text);
            let found = rows.iter().filter_map(|row| home.try_read(row.id.as_str()));
            assert!(found.into_iter().any(|found| has(&found, &place.file)), "{}: {}", row.id, place.file);
        }
    }
}

#[test]
fn a_place_of_another_host_says_nothing_about_this_one() {
    let home = Home::new()
        .file("~/.claude/skills/s/SKILL.md", "x")
        .file("~/.config/agents/skills/s/SKILL.md", "x")
        .file(
            "~/.claude/settings.json",
            r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}"#,
        );
    let rows = HostTable::compiled().unwrap().rows();
    let found: Vec<&str> =
        rows.iter().map(|row| row.id.as_str()).filter(|id| home.try_read(*id).is_some()).collect();
    assert_eq!(found, ["claude", "agents"]);
    // Its host does not look there any more.
    let moved = Home::new().file("~/.gemini/skills/s/SKILL.md", "x").variable("GEMINI_CLI_HOME", "/m");
    assert_eq!(moved.read("antigravity").installs.len(), 1);
}

#[test]
fn a_variable_is_named_without_the_home_of_its_host() {
    for row in HostTable::compiled().unwrap().rows().iter().filter(|row| row.id != "gemini") {
        for variable in &row.variables {
            let found = Home::new().variable(variable, "/x").read(row.id.as_str());
            assert_eq!(kinds(&found), [InstallProblemKind::NotRead], "{variable}");
            assert!(found.problems[0].message.contains(variable.as_str()));
            assert!(Home::new().variable(variable, "").try_read(row.id.as_str()).is_none(), "{variable}");
        }
    }
}

#[test]
fn an_empty_home_has_no_hosts_and_a_home_alone_has_nothing_that_runs() {
    let empty = Home::new().project(SITE, SITE);
    for row in HostTable::compiled().unwrap().rows() {
        assert!(empty.try_read(row.id.as_str()).is_none(), "{}", row.id);
        let found = home_of(row).read(row.id.as_str());
        assert!(found.installs.is_empty() && found.problems.is_empty(), "{}", row.id);
    }
}

#[test]
fn each_variable_moves_a_home_and_a_relative_one_is_a_problem() {
    for row in HostTable::compiled().unwrap().rows() {
        let Some(variable) = row.home.variable.as_deref() else { continue };
        let moved = row.home.join.as_ref().map_or("/m".to_owned(), |join| format!("/m/{join}"));
        let found = Home::new().directory(&moved).variable(variable, "/m").read(row.id.as_str());
        assert_eq!(found.home, moved, "{}", row.id);
        let home = Home::new().directory(&row.home.default).project(SITE, SITE);
        let found = home.variable(variable, "m").read(row.id.as_str());
        // Programs ignore a relative path in this one.
        let expected =
            if variable == "XDG_CONFIG_HOME" { vec![] } else { vec![InstallProblemKind::Unreadable] };
        assert_eq!(kinds(&found), expected, "{}", row.id);
    }
    let found =
        Home::new().directory("~/.config/opencode").variable("OPENCODE_CONFIG", "/x").read("opencode");
    assert_eq!(kinds(&found), [InstallProblemKind::NotRead]);
}

#[test]
fn rows_of_the_user_add_hosts_and_places() {
    let mut table = HostTable::compiled().unwrap().clone();
    let acme = "home = { default = '~/.acme' }\nskills = ['@/skills']\n\
        mcp = [{ file = '@/mcp.json', format = 'json', at = '/mcpServers', shape = 'plain' }]";
    table.add_row("acme", toml::from_str(acme).unwrap()).unwrap();
    table.add_row("claude", toml::from_str("code = ['./.claude/extra']").unwrap()).unwrap();
    let home = Home::new()
        .file("~/.acme/skills/s/SKILL.md", "x")
        .file("~/.acme/mcp.json", r#"{"mcpServers":{"s":{"command":"x"}}}"#)
        .project(SITE, SITE)
        .file("~/site/.claude/extra/x.js", "x")
        .file("~/site/.claude/agents/a.md", "x");
    let found = home.try_read_in(&table, "acme").unwrap();
    assert_eq!(rows(&found), ["path:~/.acme/mcp.json", "path:~/.acme/skills/s"]);
    let found = home.try_read_in(&table, "claude").unwrap();
    assert_eq!(rows(&found), ["path:~/site/.claude/agents", "path:~/site/.claude/extra"]);
    assert_eq!(found.installs[1].layer, InstallLayer::Project);
}

#[test]
fn yaml_is_read_unless_two_readers_could_differ() {
    let read = |text: &str| Home::new().file("~/.config/goose/config.yaml", text).read("goose");
    let found = read(
        "# mine\nextensions:\n  dev:\n    type: builtin\n    name: developer\n  s:\n    type: stdio\n    cmd: 'npx'\n    \
         args:\n      - -y\n      - \"a: b\"\n    envs: {A: b}\n    timeout: 300\n  p:\n    type: inline_python\n    \
         code: |\n      import os\n      os.system('x')\n",
    );
    let servers = part(find(&found, "path:~/.config/goose/config.yaml"), "servers.json");
    assert!(servers.contains(r#""s":{"args":["-y","a: b"],"command":"npx","env":{"A":"#), "{servers}");
    assert!(servers.contains(r#""timeout":300"#) && !servers.contains("developer"), "{servers}");
    assert!(
        servers.contains(r#""args":["-c","import os\nos.system('x')\n"],"command":"python3""#),
        "{servers}"
    );
    for (text, message) in [
        ("a: &x 1\nextensions:\n  s: *x\n", "line 3: aliases are not read"),
        ("extensions: !!map {}\n", "line 1: tags are not read"),
        ("a: 1\nextensions:\n  <<: {b: 1}\n", "line 3: merge keys are not read"),
        ("a: 1\n---\nb: 1\n", "line 2: expected one document, got a second one"),
        ("? {a: 1}\n: b\n", "line 1: expected a text as key"),
        ("extensions:\n\t- x\n", "line 2: "),
        ("extensions: {s: {}}\nextensions: {}\n", "line 2, column 1: "),
        ("extensions: []\n", "expected an object at `/extensions`, got a list"),
    ] {
        let found = read(text);
        assert_eq!(kinds(&found), [InstallProblemKind::Unreadable], "{text}");
        assert!(found.problems[0].message.contains(message), "{text}: {}", found.problems[0].message);
    }
    for text in ["", "# nothing\n", "{}", "extensions: ~\n", "extensions:\n"] {
        assert!(kinds(&read(text)).is_empty(), "{text}");
    }
    let deep = format!("a: {}{}", "[".repeat(80), "]".repeat(80));
    assert_eq!(kinds(&read(&deep)), [InstallProblemKind::Unreadable]);
}

#[test]
fn json5_is_read() {
    let read = |text: &str| Home::new().file("~/.openclaw/openclaw.json", text).read("openclaw");
    let found = read(
        "// mine\n{ mcp: { 'servers': { $s: { command: 'a\"b\\\nc', args: [\"it's\", '\\x41', 0x10, .5, +1, 5.], }, }, /* x */ }, \
         u: Infinity, true: 1 }",
    );
    let servers = part(find(&found, "path:~/.openclaw/openclaw.json"), "servers.json");
    assert_eq!(servers, r#"{"mcpServers":{"$s":{"args":["it's","A",16,0.5,1,5],"command":"a\"bc"}}}"#);
    for text in ["{ a: }", "{ 'a: 1 }", "{ a: 1 } x", "/* {", "{ a: 1, a: 2 }", "{ a: 0x }"] {
        assert_eq!(kinds(&read(text)), [InstallProblemKind::Unreadable], "{text}");
    }
}

#[test]
fn trailing_commas_are_read() {
    let text = r#"{ "mcpServers": { "u": { "type":"local", "command":"true", "args":[], }, }, }"#;
    let found = Home::new().file("~/.copilot/mcp-config.json", text).read("copilot");
    assert_eq!((rows(&found).len(), kinds(&found)), (1, vec![]));
}

#[test]
fn each_address_of_a_server_counts() {
    let text = r#"{"mcpServers":{"s":{"url":"https://a.example","serverUrl":"https://b.example"},"t":{"serverUrl":"https://c.example"}}}"#;
    let found = Home::new().file("~/.codeium/windsurf/mcp_config.json", text).read("windsurf");
    let servers = part(find(&found, "path:~/.codeium/windsurf/mcp_config.json"), "servers.json");
    for host in ["a", "b", "c"] {
        assert!(servers.contains(&format!(r#""url":"https://{host}.example""#)), "{servers}");
    }
}
