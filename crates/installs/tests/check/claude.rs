//! Claude Code: records, caches and marketplaces.

use plugward_installs::{
    HostState, HostSwitch, InstallContents, InstallKind, InstallLayer, InstallProblemKind, KnownHost,
};

use crate::support::{Home, SITE, find, kinds, problems, rows};

const RECORD: &str = "~/.claude/plugins/installed_plugins.json";
pub(crate) const MARKETS: &str = "~/.claude/plugins/known_marketplaces.json";
const SETTINGS: &str = "~/.claude/settings.json";
const ON: &str = r#"{"enabledPlugins":{"a@acme":true}}"#;
const A1: &str = "~/.claude/plugins/cache/acme/a/1.0.0";

fn row(path: &str, version: &str) -> String {
    let path = crate::support::full(path);
    format!(
        r#"{{"scope":"user","installPath":"{path}","version":"{version}","installedAt":"x","lastUpdated":"x"}}"#
    )
}

fn record(id: &str, rows: &[String]) -> String {
    format!(r#"{{"version":2,"plugins":{{"{id}":[{}]}}}}"#, rows.join(","))
}

/// A home with one plugin.
pub(crate) fn one() -> Home {
    Home::new().file(RECORD, record("a@acme", &[row(A1, "1.0.0")])).directory(A1).file(SETTINGS, ON)
}

#[test]
fn one_row_is_one_install() {
    let found = one().read(KnownHost::Claude);
    assert_eq!(rows(&found), ["claude:a@acme -> ~/.claude/plugins/cache/acme/a/1.0.0"]);
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    let install = &found.installs[0];
    assert_eq!(
        (install.kind, install.state, install.layer),
        (InstallKind::Plugin, HostState::On, InstallLayer::User)
    );
    assert_eq!(install.contents, InstallContents::CacheDirectory);
    assert_eq!(install.version.as_deref(), Some("1.0.0"));
    assert_eq!(install.switch, HostSwitch::Id("a@acme".to_owned()));
    assert_eq!(install.record.pointer, "/plugins/a@acme/0");
    assert!(!install.is_outside && install.marketplace.is_none());
    assert_eq!(found.home, "/home/u/.claude");
}

#[test]
fn a_machine_without_the_host_has_no_inventory() {
    assert!(Home::new().try_read(KnownHost::Claude).is_none());
    assert!(Home::new().directory("~/.claude").try_read(KnownHost::Claude).unwrap().installs.is_empty());
    let project =
        Home::new().project(SITE, SITE).file("~/site/.mcp.json", r#"{"mcpServers":{"s":{"command":"x"}}}"#);
    assert_eq!(rows(&project.read(KnownHost::Claude)), ["path:~/site/.mcp.json"]);
}

#[test]
fn rows_of_one_id_are_separate_and_equal_places_are_merged() {
    let b = "~/.claude/plugins/cache/acme/a/2.0.0";
    let linked = "~/.claude/plugins/cache/acme/a/linked";
    let home = Home::new().directory(A1).directory(b).link(linked, A1);
    let rows_of = [row(A1, "1.0.0"), row(b, "2.0.0"), row(A1, "1.0.0"), row(linked, "1.0.0")];
    let found = home.file(RECORD, record("a@acme", &rows_of)).read(KnownHost::Claude);
    assert_eq!(rows(&found).len(), 2, "{:?}", rows(&found));
    assert!(found.problems.is_empty(), "{:?}", found.problems);
}

#[test]
fn version_one_is_read_and_its_paths_can_be_relative() {
    let text = r#"{"version":1,"plugins":{"a@acme":{"version":"1.0.0","installPath":"cache/acme/a/1.0.0","isLocal":false}}}"#;
    let found = Home::new().file(RECORD, text).directory(A1).read(KnownHost::Claude);
    assert_eq!(rows(&found), ["claude:a@acme -> ~/.claude/plugins/cache/acme/a/1.0.0"]);
    assert_eq!(found.installs[0].record.pointer, "/plugins/a@acme");
}

#[test]
fn the_home_and_the_plugins_root_can_be_elsewhere() {
    let home = Home::new()
        .variable("CLAUDE_CONFIG_DIR", "/c")
        .variable("CLAUDE_CODE_PLUGIN_CACHE_DIR", "/p")
        .file("/p/installed_plugins.json", record("a@acme", &[row("/p/cache/acme/a/1", "1")]))
        .directory("/p/cache/acme/a/1")
        .file("/c/settings.json", r#"{"enabledPlugins":{"a@acme":false}}"#)
        .file("/c/.claude.json", r#"{"mcpServers":{"s":{"command":"x"}}}"#)
        .file(RECORD, "not read")
        .file("~/.claude.json", "not read");
    let found = home.read(KnownHost::Claude);
    assert_eq!(rows(&found), ["path:/c/.claude.json", "claude:a@acme -> /p/cache/acme/a/1"]);
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    let install = find(&found, "claude:a@acme");
    assert_eq!((install.state, &install.contents), (HostState::Off, &InstallContents::CacheDirectory));
}

#[test]
fn an_unreadable_record_is_never_an_empty_one() {
    let deep = format!(r#"{{"version":2,"plugins":{}{}}}"#, "[".repeat(65), "]".repeat(65));
    let many = format!(r#"{{"version":2,"plugins":{{"a@acme":[{}0]}}}}"#, "0,".repeat(50_000));
    let bad = [
        r#"{"version":3,"plugins":{}}"#,
        r#"{"plugins":{}}"#,
        r#"{"version":"2","plugins":{}}"#,
        r#"{"version":2,"plugins":{"a@acme":["#,
        r#"{"version":2,"plugins":{"a@acme":[],"a@acme":[]}}"#,
        r#"{"version":2,"version":2,"plugins":{}}"#,
        r#"{"version":2,"plugins":[]}"#,
        "[]",
        "",
        &deep,
        &many,
    ];
    for text in bad {
        let found = Home::new().file(RECORD, text).directory(A1).read(KnownHost::Claude);
        assert!(
            kinds(&found).contains(&InstallProblemKind::Unreadable),
            "{:.60}: {:?}",
            text,
            found.problems
        );
    }
    let fault = one().fault(RECORD).read(KnownHost::Claude);
    assert_eq!(fault.problems[0].message, "others can write it");
    assert_eq!(fault.problems[0].kind.code(), "install/unreadable");
    // Near misses: an empty record, a record of a newer minor format with unknown keys, and the largest one.
    let most = format!(r#"{{"version":2,"plugins":{{"a@acme":[{}0]}}}}"#, "0,".repeat(49_999));
    for text in [
        r#"{"version":2,"plugins":{}}"#,
        r#"{"version":2.0,"extra":[1],"plugins":{}}"#,
        r#"{"version":1}"#,
        &most,
    ] {
        let found = Home::new().file(RECORD, text).read(KnownHost::Claude);
        assert!(!kinds(&found).contains(&InstallProblemKind::Unreadable), "{text:.60}");
    }
}

#[test]
fn the_unsupported_version_is_named() {
    let found = Home::new().file(RECORD, r#"{"version":3,"plugins":{}}"#).read(KnownHost::Claude);
    assert_eq!(found.problems[0].message, "unsupported version 3 (expected 1 or 2)");
    assert_eq!(found.problems[0].record.file, "/home/u/.claude/plugins/installed_plugins.json");
}

#[test]
fn one_bad_row_does_not_affect_the_others() {
    let good = row(A1, "1.0.0");
    let bad = [
        r#"{"scope":"galaxy","installPath":"/x"}"#,
        r#"{"scope":"user"}"#,
        r#"{"scope":"user","installPath":7}"#,
        r#"{"scope":"user","installPath":"/x","version":1}"#,
        "7",
    ];
    for text in bad {
        let found =
            Home::new().directory(A1).file(RECORD, record("a@acme", &[text.to_owned(), good.clone()]));
        let found = found.read(KnownHost::Claude);
        assert_eq!(problems(&found), ["install/row /plugins/a@acme/0"], "{text}");
        assert_eq!(found.problems[0].key.as_ref().unwrap().to_string(), "claude:a@acme");
        assert_eq!(rows(&found).len(), 1, "{text}");
    }
    let nulls = good.replace("\"1.0.0\"", "null");
    assert!(
        Home::new()
            .directory(A1)
            .file(RECORD, record("a@acme", &[nulls]))
            .read(KnownHost::Claude)
            .problems
            .is_empty()
    );
}

#[test]
fn an_id_that_breaks_the_rule_is_refused_alone() {
    for id in ["..@acme", "a/b@acme", "a@b@c", "", "a b@acme", "../../x@acme"] {
        let text =
            format!(r#"{{"version":2,"plugins":{{"{id}":[{row}],"a@acme":[{row}]}}}}"#, row = row(A1, "1"));
        let found = Home::new().directory(A1).file(RECORD, text).read(KnownHost::Claude);
        assert_eq!(kinds(&found), [InstallProblemKind::Id], "{id}");
        assert!(found.problems[0].key.is_none());
        assert_eq!(rows(&found).len(), 1, "{id}");
    }
    let found = Home::new()
        .directory(A1)
        .file(RECORD, record("A._-9@B._-0", &[row(A1, "1")]))
        .read(KnownHost::Claude);
    assert!(!kinds(&found).contains(&InstallProblemKind::Id));
}

#[test]
fn what_is_not_on_disk_is_a_problem_with_its_state() {
    let home = Home::new().file(RECORD, record("a@acme", &[row(A1, "1.0.0")])).file(SETTINGS, ON);
    let found = home.read(KnownHost::Claude);
    assert_eq!(problems(&found), ["install/missing /plugins/a@acme/0"]);
    assert_eq!(found.problems[0].state, HostState::On);
    assert_eq!(
        found.problems[0].message,
        "not on disk: Claude Code will fetch it unchecked at the next start"
    );
    let off = home.file(SETTINGS, r#"{"enabledPlugins":{"a@acme":false}}"#).read(KnownHost::Claude);
    assert_eq!((off.problems[0].state, off.problems[0].message.as_str()), (HostState::Off, "not on disk"));
    // An id that is enabled and has no row is fetched at the next start.
    let enabled = Home::new()
        .file(SETTINGS, r#"{"enabledPlugins":{"a@acme":true,"b@acme":false,"x@skills-dir":true}}"#);
    let found = enabled.read(KnownHost::Claude);
    assert_eq!(problems(&found), ["install/missing /enabledPlugins/a@acme"]);
    assert_eq!(found.problems[0].switch, HostSwitch::Id("a@acme".to_owned()));
}

#[test]
fn versions_without_a_row_are_leftover_unless_the_host_adopts_them() {
    let home = one()
        .directory("~/.claude/plugins/cache/acme/a/0.9.0")
        .directory("~/.claude/plugins/cache/acme/a/0.8.0");
    let found = home.read(KnownHost::Claude);
    assert_eq!((rows(&found).len(), kinds(&found)), (1, vec![InstallProblemKind::Leftover]));
    assert_eq!(
        found.problems[0].message,
        "2 older versions are still in the cache; running sessions may use them"
    );
    assert_eq!(found.problems[0].key.as_ref().unwrap().to_string(), "claude:a@acme");
    // Without a row, an enabled id gets one of the directories.
    let home = Home::new()
        .directory(A1)
        .directory("~/.claude/plugins/cache/acme/a/2.0.0")
        .directory("~/.claude/plugins/cache/acme/b/1.0.0")
        .file(SETTINGS, r#"{"enabledPlugins":{"a@acme":true,"b@acme":false}}"#);
    let found = home.read(KnownHost::Claude);
    assert_eq!(
        rows(&found),
        [
            "claude:a@acme -> ~/.claude/plugins/cache/acme/a/1.0.0",
            "claude:a@acme -> ~/.claude/plugins/cache/acme/a/2.0.0"
        ]
    );
    assert_eq!(kinds(&found), [InstallProblemKind::Leftover]);
    assert!(found.installs.iter().all(|install| install.contents == InstallContents::CacheDirectory));
    // The same applies if the directory of its row has disappeared.
    let home = Home::new().file(RECORD, record("a@acme", &[row("~/.claude/plugins/cache/acme/a/3", "3")]));
    let home = home.directory(A1).file(SETTINGS, ON);
    let found = home.read(KnownHost::Claude);
    assert_eq!((rows(&found).len(), kinds(&found)), (1, vec![InstallProblemKind::Missing]));
}

#[test]
fn a_row_can_lead_outside() {
    let found = Home::new()
        .file(RECORD, record("a@acme", &[row("/tmp/x", "1")]))
        .directory("/tmp/x")
        .read(KnownHost::Claude);
    assert!(found.installs[0].is_outside);
    assert_eq!(found.installs[0].contents, InstallContents::Directory);
    // A symlink in the cache that leads out of it.
    let home =
        Home::new().directory("/tmp/x").link(A1, "/tmp/x").file(RECORD, record("a@acme", &[row(A1, "1")]));
    let found = home.read(KnownHost::Claude);
    assert_eq!(rows(&found), ["claude:a@acme -> /tmp/x"]);
    assert!(found.installs[0].is_outside);
    // The home itself can be reached through a symlink.
    let moved = "/data/claude/plugins/cache/acme/a/1.0.0";
    let home = Home::new().directory(moved).link("~/.claude", "/data/claude");
    let home = home.file("/data/claude/plugins/installed_plugins.json", record("a@acme", &[row(A1, "1")]));
    let found = home.read(KnownHost::Claude);
    assert_eq!(rows(&found), [format!("claude:a@acme -> {moved}")]);
    assert!(!found.installs[0].is_outside);
    assert_eq!(found.installs[0].contents, InstallContents::CacheDirectory);
}

#[test]
fn a_row_that_leads_to_a_file_is_refused() {
    let found = Home::new()
        .file(RECORD, record("a@acme", &[row("/tmp/x", "1")]))
        .file("/tmp/x", "")
        .read(KnownHost::Claude);
    assert_eq!(problems(&found), ["install/row /plugins/a@acme/0"]);
}

pub(crate) fn market(source: &str, location: &str) -> String {
    format!(
        r#"{{"acme":{{"source":{{"source":"{source}","path":"/m"}},"installLocation":"{location}","lastUpdated":"x"}}}}"#
    )
}

pub(crate) const ENTRIES: &str = r#"{"name":"acme","owner":{"name":"o"},"plugins":[{"name":"a","source":"./plugins/a"},
    {"name":"remote","source":{"source":"github","repo":"o/r"}}],"renames":{"old":"a","older":"a"}}"#;

#[test]
fn a_directory_marketplace_is_used_in_place() {
    for (source, location) in [
        ("directory", "/m"),
        ("file", "/m/marketplace.json"),
        ("directory", "/m/.claude-plugin/marketplace.json"),
    ] {
        let home = one()
            .file(MARKETS, market(source, location))
            .file("/m/.claude-plugin/marketplace.json", ENTRIES)
            .file("/m/marketplace.json", ENTRIES)
            .directory("/m/plugins/a");
        let found = home.read(KnownHost::Claude);
        assert_eq!(rows(&found), ["claude:a@acme -> /m/plugins/a"], "{source} {location}");
        let install = &found.installs[0];
        assert_eq!((&install.contents, install.is_outside), (&InstallContents::Directory, false));
        assert_eq!(install.marketplace.as_deref(), Some("/m"));
        assert!(found.problems.is_empty(), "{:?}", found.problems);
    }
    // A marketplace that was fetched is copied, and an entry with another source too.
    let home = one()
        .file(MARKETS, market("github", "/m"))
        .file("/m/.claude-plugin/marketplace.json", ENTRIES)
        .directory("/m/plugins/a");
    let found = home.read(KnownHost::Claude);
    assert_eq!(rows(&found), ["claude:a@acme -> ~/.claude/plugins/cache/acme/a/1.0.0"]);
    assert_eq!(found.installs[0].marketplace.as_deref(), Some("/m"));
    // An entry whose directory is missing runs nothing, also not the copy.
    let home =
        one().file(MARKETS, market("directory", "/m")).file("/m/.claude-plugin/marketplace.json", ENTRIES);
    let found = home.read(KnownHost::Claude);
    assert_eq!((rows(&found).len(), kinds(&found)), (0, vec![InstallProblemKind::Missing]));
    assert_eq!(found.problems[0].state, HostState::On);
}

#[test]
fn a_marketplace_that_cannot_be_read_refuses_its_plugins() {
    let cases = [
        (market("directory", "/m"), "{"),
        (
            market("directory", "/m"),
            r#"{"name":"acme","owner":{"name":"o"},"plugins":[{"name":"a","source":"../../x"}]}"#,
        ),
        (market("teleport", "/m"), ENTRIES),
        (r#"{"acme":7}"#.to_owned(), ENTRIES),
    ];
    for (markets, file) in cases {
        let home = one().file(MARKETS, markets.clone()).file("/m/.claude-plugin/marketplace.json", file);
        let found = home.read(KnownHost::Claude);
        assert_eq!(kinds(&found), [InstallProblemKind::Row], "{markets} {file}");
        assert_eq!(found.problems[0].key.as_ref().unwrap().to_string(), "claude:a@acme");
        assert!(found.installs.is_empty());
    }
    // A broken marketplace without installed plugins is not a problem, and neither is the file of a fetched one.
    let other =
        Home::new().file(MARKETS, market("directory", "/m")).file("/m/.claude-plugin/marketplace.json", "{");
    assert!(other.read(KnownHost::Claude).problems.is_empty());
    let fetched = one().file(MARKETS, market("git", "/m")).file("/m/.claude-plugin/marketplace.json", "{");
    assert_eq!(rows(&fetched.read(KnownHost::Claude)).len(), 1);
    let broken = one().file(MARKETS, "{").read(KnownHost::Claude);
    assert_eq!(kinds(&broken), [InstallProblemKind::Unreadable]);
}

#[test]
fn renames_lead_to_former_ids_that_no_record_contains() {
    let markets = market("github", "/m");
    let home = one().file(MARKETS, markets).file("/m/.claude-plugin/marketplace.json", ENTRIES);
    let former = |home: &Home| -> Vec<String> {
        let found = home.read(KnownHost::Claude);
        find(&found, "claude:a@acme").former_ids.iter().map(ToString::to_string).collect()
    };
    assert_eq!(former(&home), ["old@acme", "older@acme"]);
    let both =
        format!(r#"{{"version":2,"plugins":{{"a@acme":[{row}],"old@acme":[{row}]}}}}"#, row = row(A1, "1"));
    assert_eq!(former(&home.file(RECORD, both)), ["older@acme"]);
}

#[test]
fn seeds_are_used_in_place_and_come_first() {
    let home = Home::new()
        .variable("CLAUDE_CODE_PLUGIN_SEED_DIR", "/seed:/other")
        .directory("/seed/cache/acme/a/1.0.0")
        .directory("/seed/cache/acme/unused/1.0.0")
        .file("/seed/known_marketplaces.json", market("github", "/built/elsewhere"))
        .file("/seed/marketplaces/acme/.claude-plugin/marketplace.json", ENTRIES)
        .file(SETTINGS, r#"{"enabledPlugins":{"a@acme":true}}"#);
    let found = home.read(KnownHost::Claude);
    assert_eq!(rows(&found), ["claude:a@acme -> /seed/cache/acme/a/1.0.0"]);
    let install = &found.installs[0];
    assert_eq!((&install.contents, install.is_outside), (&InstallContents::CacheDirectory, false));
    assert_eq!(install.marketplace.as_deref(), Some("/seed/marketplaces/acme"));
    assert!(found.problems.is_empty(), "{:?}", found.problems);
}

#[test]
fn directories_of_the_environment_and_the_account_are_placed() {
    let home = Home::new()
        .variable("CLAUDE_CODE_PLUGIN_DIRS", "/x/one:~/two:/none")
        .directory("/x/one")
        .directory("~/two")
        .directory("~/.claude/plugins/synced/three");
    let found = home.read(KnownHost::Claude);
    assert_eq!(rows(&found), ["path:/x/one", "path:~/two", "path:~/.claude/plugins/synced/three"]);
    assert!(found.installs.iter().all(|install| install.switch == HostSwitch::None));
    assert_eq!(
        (kinds(&found), found.problems[0].message.as_str()),
        (vec![InstallProblemKind::Missing], "no such directory: /none")
    );
}

#[test]
fn ten_thousand_rows_are_read() {
    let mut home = Home::new();
    let mut text = String::from(r#"{"version":2,"plugins":{"#);
    for index in 0..10_000 {
        let path = format!("~/.claude/plugins/cache/acme/p{index}/1");
        text.push_str(&format!(
            r#"{}"p{index}@acme":[{}]"#,
            if index > 0 { "," } else { "" },
            row(&path, "1")
        ));
        home = home.directory(&path);
    }
    // The cache of the test's machine is searched linearly, so it is not listed here.
    let found = home.fault("~/.claude/plugins/cache").file(RECORD, text + "}}").read(KnownHost::Claude);
    assert_eq!(found.installs.len(), 10_000);
}

#[test]
fn an_unreadable_record_does_not_hide_what_runs_in_place() {
    let home = one()
        .file(RECORD, r#"{"version":3,"plugins":{}}"#)
        .file(SETTINGS, r#"{"enabledPlugins":{"a@acme":true,"b@acme":true}}"#)
        .file(MARKETS, market("directory", "/m"))
        .file("/m/.claude-plugin/marketplace.json", ENTRIES)
        .directory("/m/plugins/a");
    let found = home.read(KnownHost::Claude);
    assert_eq!(rows(&found), ["claude:a@acme -> /m/plugins/a"]);
    // Nothing is known about `b@acme`, so it is not called missing.
    assert_eq!(kinds(&found), [InstallProblemKind::Unreadable, InstallProblemKind::Leftover]);
}

#[test]
fn a_directory_in_the_settings_runs_without_any_record() {
    let settings = |kind: &str, path: &str| {
        format!(
            r#"{{"enabledPlugins":{{"a@acme":true}},"extraKnownMarketplaces":{{"acme":{{"source":{{"source":"{kind}","path":"{path}"}}}}}}}}"#
        )
    };
    let home = Home::new().file("/m/.claude-plugin/marketplace.json", ENTRIES).directory("/m/plugins/a");
    let found = home.clone().file(SETTINGS, settings("directory", "/m")).read(KnownHost::Claude);
    assert_eq!((rows(&found), found.problems.len()), (vec!["claude:a@acme -> /m/plugins/a".to_owned()], 0));
    // A path of a project is relative to it.
    let home = home.project("/m", "/m");
    let project = home.clone().file("/m/.claude/settings.json", settings("directory", "./."));
    assert_eq!(rows(&project.read(KnownHost::Claude)), ["claude:a@acme -> /m/plugins/a"]);
    let fetched = home.file(SETTINGS, settings("github", "/m")).read(KnownHost::Claude);
    assert_eq!(kinds(&fetched), [InstallProblemKind::Missing]);
}
