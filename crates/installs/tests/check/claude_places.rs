//! Claude Code: files above the project, worktrees, marketplaces in settings, and files in two roles.

use plugward_installs::{InstallKind, InstallProblemKind, KnownHost};

use crate::claude::{ENTRIES, MARKETS, market, one};
use crate::support::{Home, SITE, find, kinds, part, part_names, rows};

const SETTINGS: &str = "~/.claude/settings.json";
const SERVERS: &str = r#"{"mcpServers":{"s":{"command":"x"}}}"#;
const COPY: &str = "claude:a@acme -> ~/.claude/plugins/cache/acme/a/1.0.0";

#[test]
fn servers_in_a_symlink_to_the_settings_are_not_lost() {
    let settings = "~/site/.claude/settings.json";
    let text = r#"{"hooks":{"Stop":[]},"mcpServers":{"s":{"command":"x"}}}"#;
    let home = Home::new().project(SITE, SITE).file(settings, text);
    let alone = home.read(KnownHost::Claude);
    assert_eq!(part_names(find(&alone, "path:~/site/.claude/settings.json")), ["hooks.json"]);
    let found = home.link("~/site/.mcp.json", settings).read(KnownHost::Claude);
    assert_eq!(rows(&found), ["path:~/site/.claude/settings.json"]);
    assert_eq!(part_names(&found.installs[0]), ["hooks.json", "servers.json"]);
    assert_eq!(found.installs[0].kind, InstallKind::Settings);
    assert!(found.problems.is_empty(), "{:?}", found.problems);
}

/// Returns the places of `a@acme` if its directory marketplace has this plugin root and source.
fn in_place(root: &str, source: &str, directories: &[&str]) -> (Vec<String>, Vec<InstallProblemKind>) {
    let text = format!(
        r#"{{"name":"acme","owner":{{"name":"o"}},"metadata":{{"pluginRoot":"{root}"}},"plugins":[{{"name":"a","source":"{source}"}}]}}"#
    );
    let home =
        one().file(MARKETS, market("directory", "/m")).file("/m/.claude-plugin/marketplace.json", text);
    let found = directories.iter().fold(home, |home, path| home.directory(path)).read(KnownHost::Claude);
    (rows(&found), kinds(&found))
}

#[test]
fn the_plugin_root_is_not_put_before_a_path_with_a_dot() {
    let at = |path: &str| (vec![format!("claude:a@acme -> {path}")], vec![]);
    let missing = (vec![], vec![InstallProblemKind::Missing]);
    let (short, long) = ("/m/plugins/a", "/m/plugins/plugins/a");
    assert_eq!(in_place("./plugins", "./plugins/a", &[short]), at(short));
    assert_eq!(in_place("./plugins", "./plugins/a", &[short, long]), at(short));
    assert_eq!(in_place("./plugins", "./plugins/a", &[long]), missing);
    assert_eq!(in_place("./plugins", "./a", &["/m/a", short]), at("/m/a"));
    assert_eq!(in_place("./plugins", "a", &["/m/a", short]), at(short));
    assert_eq!(in_place("./plugins", "a", &["/m/a"]), missing);
}

#[test]
fn a_marketplace_file_is_the_base_of_its_paths() {
    let file = "/m/.claude-plugin/marketplace.json";
    let home = one().file(file, ENTRIES).directory("/m/plugins/a").directory("/m/.claude-plugin/plugins/a");
    let found = |source| home.clone().file(MARKETS, market(source, file)).read(KnownHost::Claude);
    assert_eq!(rows(&found("file")), ["claude:a@acme -> /m/.claude-plugin/plugins/a"]);
    assert_eq!(rows(&found("directory")), ["claude:a@acme -> /m/plugins/a"]);
    assert_eq!(found("file").installs[0].marketplace.as_deref(), Some("/m"));
}

#[test]
fn a_marketplace_in_the_settings_is_at_its_source() {
    let text = |source: &str| {
        format!(
            r#"{{"enabledPlugins":{{"a@acme":true}},"extraKnownMarketplaces":{{"acme":{{"source":{source},"installLocation":"/decoy"}}}}}}"#
        )
    };
    let home =
        Home::new().file("/decoy/.claude-plugin/marketplace.json", ENTRIES).directory("/decoy/plugins/a");
    let home =
        home.file("~/site/mk/.claude-plugin/marketplace.json", ENTRIES).directory("~/site/mk/plugins/a");
    let home = home.project(SITE, SITE);
    let settings = text(r#"{"source":"directory","path":"./sub/../mk/"}"#);
    let found = home.clone().file("~/site/.claude/settings.json", settings).read(KnownHost::Claude);
    assert_eq!(rows(&found), ["claude:a@acme -> ~/site/mk/plugins/a"]);
    assert_eq!(found.installs[0].marketplace.as_deref(), Some("/home/u/site/mk"));
    // In the host's own record, the other key counts.
    let known = text(r#"{"source":"directory","path":"/home/u/site/mk"}"#);
    let known =
        known.split_once(r#""extraKnownMarketplaces":"#).unwrap().1.strip_suffix('}').unwrap().to_owned();
    let found = one().file(MARKETS, known);
    let found = found.file("/decoy/.claude-plugin/marketplace.json", ENTRIES).directory("/decoy/plugins/a");
    assert_eq!(rows(&found.read(KnownHost::Claude)), ["claude:a@acme -> /decoy/plugins/a"]);
}

#[test]
fn servers_above_the_project_run() {
    let home = Home::new().project("/w/repo", "/w/repo/sub").directory("/w/repo/.git");
    let home = ["/.mcp.json", "/w/.mcp.json", "/w/repo/sub/.mcp.json", "/w/other/.mcp.json"]
        .iter()
        .fold(home, |home, path| home.file(path, SERVERS));
    let home = home.file("/w/.claude/settings.json", r#"{"hooks":{"Stop":[]}}"#);
    let home = home.file("/w/.claude/skills/s/SKILL.md", "");
    let found = home.read(KnownHost::Claude);
    assert_eq!(rows(&found), ["path:/w/repo/sub/.mcp.json", "path:/w/.mcp.json", "path:/.mcp.json"]);
}

#[test]
fn pieces_above_the_directory_count_without_a_repository() {
    let home = Home::new().directory("~/.claude").project("~/w/deep", "~/w/deep");
    let home = home.file("~/w/.claude/skills/s/SKILL.md", "");
    let home = home.file("~/w/.claude/commands/c.md", "").file("/home/.claude/skills/far/SKILL.md", "");
    let found = home.read(KnownHost::Claude);
    assert_eq!(rows(&found), ["path:~/w/.claude/skills/s", "path:~/w/.claude/commands"]);
    assert!(home.directory("~/w/.git").read(KnownHost::Claude).installs.is_empty());
}

#[test]
fn a_worktree_has_the_servers_of_its_main_checkout() {
    let text = r#"{"projects":{"/main":{"mcpServers":{"m":{"command":"m"}}},"/home/u":{"mcpServers":{"h":{"command":"h"}}}}}"#;
    let read = |git: &str| {
        let home =
            Home::new().directory("~/.claude").project(SITE, "~/site/sub").file("~/.claude.json", text);
        rows(&home.file("~/site/.git", git).read(KnownHost::Claude))
    };
    let main = ["path:~/.claude.json/main -> ~/.claude.json"];
    assert_eq!(read("gitdir: /main/.git/worktrees/site\n"), main);
    assert_eq!(read("gitdir: ../../../main/.git/worktrees/site"), main);
    for other in
        ["gitdir: /main/.git/modules/site", "gitdir: ../.git/modules/site", "", "/main/.git/worktrees/x"]
    {
        assert!(read(other).is_empty(), "{other}");
    }
}

#[test]
fn the_settings_of_the_user_set_variables_of_the_host() {
    let text = r#"{"env":{"CLAUDE_CODE_PLUGIN_DIRS":"/x/one"}}"#;
    let inline = |home: Home| {
        let home = home.directory("/x/one").directory("/x/two").variable("CLAUDE_CODE_PLUGIN_DIRS", "/x/two");
        let found = home.project(SITE, SITE).read(KnownHost::Claude);
        rows(&found).into_iter().filter(|row| row.starts_with("path:/x/")).collect::<Vec<_>>()
    };
    assert_eq!(inline(Home::new().file(SETTINGS, text)), ["path:/x/one"]);
    assert_eq!(inline(Home::new().file("/etc/claude-code/managed-settings.json", text)), ["path:/x/one"]);
    assert_eq!(inline(Home::new().file("~/site/.claude/settings.json", text)), ["path:/x/two"]);
    let moved = r#"{"env":{"CLAUDE_CODE_PLUGIN_CACHE_DIR":"/moved"},"enabledPlugins":{"a@acme":true}}"#;
    let home = one().file(SETTINGS, moved).directory("/moved/cache/acme/a/2");
    let found = home.read(KnownHost::Claude);
    assert!(
        rows(&found).contains(&"claude:a@acme -> /moved/cache/acme/a/2".to_owned()),
        "{:?}",
        rows(&found)
    );
    assert!(!rows(&found).contains(&COPY.to_owned()));
}

#[test]
fn a_switch_for_hooks_is_a_part() {
    let local = "~/site/.claude/settings.local.json";
    let home = Home::new().directory("~/.claude").project(SITE, SITE);
    let read = |text: &str| home.clone().file(local, text).read(KnownHost::Claude);
    let found = read(r#"{"disableAllHooks":true}"#);
    assert_eq!(found.installs[0].kind, InstallKind::Settings);
    assert_eq!(part(&found.installs[0], "switches.json"), r#"{"disableAllHooks":true}"#);
    for nothing in [r#"{"disableAllHooks":false}"#, r#"{"disableAllHooks":null}"#, r#"{"model":true}"#] {
        assert!(read(nothing).installs.is_empty(), "{nothing}");
    }
}

#[test]
fn what_javascript_accepts_is_read() {
    let home = Home::new().directory("~/.claude");
    let kinds_of = |text: &[u8]| kinds(&home.clone().file("~/.claude.json", text).read(KnownHost::Claude));
    let servers = |text: &str| {
        let found = Home::new().file("~/.claude.json", text).read(KnownHost::Claude);
        part(&found.installs[0], "servers.json")
    };
    assert!(kinds_of(b"\xef\xbb\xbf{}").is_empty());
    assert_eq!(kinds_of(b"\xef\xbb\xbf\xef\xbb\xbf{}"), [InstallProblemKind::Unreadable]);
    let named = |name: &str| format!(r#"{{"mcpServers":{{"{name}":{{"command":"x"}}}}}}"#);
    assert_eq!(servers(&named(r"\ud83d")), named("\u{fffd}"));
    assert_eq!(servers(&named(r"\uDE00\uD83D\n")), named(r"��\n"));
    assert_eq!(servers(&named(r"\ud83d\ude00")), named("\u{1f600}"));
    assert_eq!(servers(&named(r"\\ud83d")), named(r"\\ud83d"));
    assert_eq!(kinds_of(br#"{"a":"\ud8"}"#), [InstallProblemKind::Unreadable]);
}
