//! The records of hosts whose other places are rows of the table.

use plugward_installs::{HostState, InstallKind, InstallLayer, InstallProblemKind};

use crate::support::{Home, SITE, find, kinds, part, part_names, problems, rows};

#[test]
fn copilot_has_copies_and_plugins_in_place() {
    let home = Home::new()
        .file(
            "~/.copilot/config.json",
            r#"// managed
            {"installedPlugins":[
              {"name":"a","marketplace":"","cache_path":"/home/u/.copilot/installed-plugins/_direct/a","enabled":true},
              {"name":"b","marketplace":"mk","cache_path":"/home/u/.copilot/installed-plugins/mk/b","enabled":false},
              {"name":"c","marketplace":"mk","cache_path":"/gone","enabled":true,},
              {"name":"d"}
            ]}"#,
        )
        .directory("~/.copilot/installed-plugins/_direct/a")
        .directory("~/.copilot/installed-plugins/mk/b")
        .file(
            "~/.copilot/settings.json",
            r#"{"extraKnownMarketplaces":{"dir":{"source":{"source":"directory","path":"/home/u/mk"}},
                "git":{"source":{"source":"github","repo":"x/y"}}},
              "enabledPlugins":{"p@dir":true,"q@dir":false,"gone@dir":true,"far@dir":true,"x@git":true}}"#,
        )
        .file(
            "~/mk/.github/plugin/marketplace.json",
            r#"{"name":"dir","owner":{"name":"x"},"plugins":[{"name":"p","source":"plugins/p"},
                {"name":"q","source":"./plugins/q"},{"name":"far","source":{"source":"github","repo":"x/y"}}]}"#,
        )
        .directory("~/mk/plugins/p")
        .directory("~/mk/plugins/q");
    let found = home.read("copilot");
    assert_eq!(
        rows(&found),
        [
            "copilot:a -> ~/.copilot/installed-plugins/_direct/a",
            "copilot:b@mk -> ~/.copilot/installed-plugins/mk/b",
            "copilot:p@dir -> ~/mk/plugins/p",
            "copilot:q@dir -> ~/mk/plugins/q",
        ]
    );
    let states: Vec<HostState> = found.installs.iter().map(|install| install.state).collect();
    // A copy that is off in the record can still be in the directory of copies, which counts.
    assert_eq!(states, [HostState::On, HostState::On, HostState::On, HostState::Off]);
    assert_eq!(found.installs[2].marketplace.as_deref(), Some("/home/u/mk"));
    assert!(!found.installs[2].is_outside);
    assert_eq!(
        problems(&found),
        [
            "install/missing /installedPlugins/2",
            "install/row /installedPlugins/3",
            "install/row /enabledPlugins/far@dir",
            "install/row /enabledPlugins/gone@dir"
        ]
    );
}

#[test]
fn vscode_has_the_directories_in_its_settings_and_the_record_of_copilot() {
    let home = Home::new()
        .file(
            "~/.config/Code/User/settings.json",
            r#"{"chat.pluginLocations":{"/p":true,"~/q":false,"tools/r":true,"/gone":true,}, // mine
              "chat.plugins.marketplaces":["x/y"],"chat.tools.autoApprove":false}"#,
        )
        .directory("/p")
        .directory("~/q")
        .project(SITE, SITE)
        .directory("~/site/tools/r")
        .file(
            "~/.copilot/config.json",
            r#"{"installedPlugins":[{"name":"a","cache_path":"/home/u/.copilot/installed-plugins/_direct/a"}]}"#,
        )
        .directory("~/.copilot/installed-plugins/_direct/a");
    let found = home.read("vscode");
    assert_eq!(
        rows(&found),
        [
            "path:~/.config/Code/User/settings.json",
            "path:/p",
            "path:~/q",
            "path:~/site/tools/r",
            "copilot:a -> ~/.copilot/installed-plugins/_direct/a"
        ]
    );
    assert_eq!((found.installs[1].state, found.installs[2].state), (HostState::On, HostState::Off));
    assert_eq!(part_names(&found.installs[0]), ["settings.json"]);
    let approve = Home::new()
        .project(SITE, SITE)
        .file("~/site/.vscode/settings.json", r#"{"chat.tools.global.autoApprove": true}"#);
    let found = approve.read("vscode");
    assert_eq!(found.installs[0].findings[0].code, "settings/permissions");
}

#[test]
fn opencode_has_packages_files_and_commands() {
    let config = r#"{"plugin":["some-plugin@1.0.0",["./local.ts",{}],"file:///home/u/more"],
        "provider":{"x":{"npm":"@x/ai"}},"formatter":{"f":{"command":["fmt","$FILE"]}},"lsp":{"l":{"command":["ls"]}},
        "experimental":{"hook":{"session_completed":[{"command":["notify"]}]}},
        "permission":{"bash":{"*":"ask"},"edit":"allow"}}"#;
    let home = Home::new()
        .project(SITE, SITE)
        .file("~/site/opencode.json", config)
        .file("~/more/index.ts", "")
        .file("~/.cache/opencode/node_modules/some-plugin/index.js", "")
        .file("~/site/.opencode/plugin/a.ts", "");
    let found = home.read("opencode");
    assert_eq!(
        rows(&found),
        [
            "path:~/site/.opencode/plugin",
            "path:~/site/opencode.json",
            "path:~/.cache/opencode/node_modules/some-plugin",
            "path:~/more"
        ]
    );
    let commands = part(find(&found, "path:~/site/opencode.json"), "commands.json");
    for command in
        ["npx -y some-plugin@1.0.0", "node /home/u/site/local.ts", "npx -y @x/ai", "fmt '$FILE'", "notify"]
    {
        assert!(commands.contains(&format!("\"command\":\"{command}\"")), "{command}: {commands}");
    }
    assert!(found.installs[1].findings.is_empty(), "a question is not loose");
    for permission in [r#""allow""#, r#"{"bash":"allow"}"#, r#"{"bash":{"*":"allow","rm *":"deny"}}"#] {
        let home = Home::new()
            .project(SITE, SITE)
            .file("~/site/opencode.jsonc", format!("{{\"permission\":{permission}}}"));
        assert_eq!(home.read("opencode").installs[0].findings[0].name, "permission", "{permission}");
    }
}

#[test]
fn opencode_has_prompts_and_the_commands_in_them() {
    let config = r#"{"command":{"x":{"template":"Do !`curl x | sh` and !`ls`"},"y":{"template":"`no` command"}},
        "agent":{"a":{"prompt":"{file:./a.md}"}},"instructions":["rules/*.md"]}"#;
    let found = Home::new().project(SITE, SITE).file("~/site/opencode.json", config).read("opencode");
    let install = find(&found, "path:~/site/opencode.json");
    let commands = part(install, "commands.json");
    assert_eq!(commands.matches("\"command\":\"").count(), 2, "{commands}");
    assert!(commands.contains("\"curl x | sh\"") && commands.contains("\"ls\""), "{commands}");
    let settings = part(install, "settings.json");
    for name in ["command.x.template", "command.y.template", "agent.a.prompt", "instructions"] {
        assert!(settings.contains(&format!("\"{name}\":")), "{name}: {settings}");
    }
    assert_eq!(kinds(&found), [InstallProblemKind::NotJudged]);
    let plain = r#"{"command":{"y":{"template":"text"}},"instructions":[]}"#;
    let plain = Home::new().project(SITE, SITE).file("~/site/opencode.json", plain).read("opencode");
    assert_eq!((part_names(&plain.installs[0]), kinds(&plain)), (vec!["settings.json"], vec![]));
}

#[test]
fn vscode_has_the_hooks_skills_and_prompts_at_its_locations() {
    let settings = r#"{"chat.hookFilesLocations":{"~/h":true,"one.json":true,"~/off":false,"gone":true},
        "chat.agentSkillsLocations":{"~/sk":true,"~/off":false},"chat.promptFilesLocations":{"~/pr":true}}"#;
    let hooks = r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"x.sh"}]}]}}"#;
    let home = Home::new()
        .file("~/.config/Code/User/settings.json", settings)
        .project(SITE, SITE)
        .file("~/h/x.json", hooks)
        .file("~/h/x.txt", hooks)
        .file("~/off/x.json", hooks)
        .file("~/off/s/SKILL.md", "x")
        .file("~/site/one.json", hooks)
        .file("~/sk/s/SKILL.md", "x")
        .file("~/pr/a.prompt.md", "x");
    let found = home.read("vscode");
    assert_eq!(rows(&found), ["path:~/sk/s", "path:~/pr", "path:~/h/x.json", "path:~/site/one.json"]);
    assert!(part(&found.installs[2], "hooks.json").contains("x.sh"));
    assert!(kinds(&found).is_empty());
}

#[test]
fn openclaw_has_the_files_that_its_configuration_includes() {
    let read = |main: &str, more: &str| {
        let home = Home::new().file("~/.openclaw/openclaw.json", main).file("~/.openclaw/more.json5", more);
        home.file("~/one/openclaw.plugin.json", "{}").read("openclaw")
    };
    let server = "{ x: { command: 'sh', args: ['-c', 'true'], }, }";
    for (main, more) in [
        ("{ $include: './more.json5', gateway: {} }", format!("{{ mcp: {{ servers: {server} }} }}")),
        ("{ mcp: { $include: ['./more.json5'] } }", format!("{{ servers: {server} }}")),
        ("{ mcp: { servers: { $include: './more.json5' } } }", server.to_owned()),
    ] {
        let found = read(main, &more);
        let servers = part(find(&found, "path:~/.openclaw/more.json5"), "servers.json");
        assert!(servers.contains(r#""x":{"args":["-c","true"],"command":"sh"}"#), "{main}: {servers}");
        assert_eq!((rows(&found).len(), kinds(&found)), (1, vec![]), "{main}");
    }
    let found = read("{ plugins: { load: { paths: { $include: './more.json5' } } } }", "['~/one']");
    assert_eq!(rows(&found), ["path:~/one"]);
    for (main, more) in [("{ $include: './gone' }", "{}"), ("{ $include: './more.json5' }", "{")] {
        assert_eq!(kinds(&read(main, more)), [InstallProblemKind::Unreadable], "{main}");
    }
    let own = read(
        "{ $include: './more.json5' }",
        "{ $include: './more.json5', mcp: { $include: './more.json5' } }",
    );
    assert_eq!(kinds(&own), [InstallProblemKind::Unreadable], "a file that includes itself at other keys");
    assert!(kinds(&read("{ note: '$include' }", "{")).is_empty());
}

#[test]
fn openclaw_has_the_directories_in_its_configuration() {
    let home = Home::new()
        .file(
            "~/.openclaw/openclaw.json",
            "{ plugins: { load: { paths: ['~/one', 'all'] } }, skills: { load: { extraDirs: ['~/skills'] } }, }",
        )
        .file("~/one/openclaw.plugin.json", "{}")
        .directory("~/.openclaw/all/two")
        .directory("~/.openclaw/extensions/three")
        .file("~/skills/s/SKILL.md", "x")
        .file("~/.openclaw/hooks/h/handler.ts", "");
    let found = home.read("openclaw");
    assert_eq!(
        rows(&found),
        [
            "openclaw:three -> ~/.openclaw/extensions/three",
            "path:~/.openclaw/hooks",
            "path:~/one",
            "path:~/.openclaw/all/two",
            "path:~/skills/s"
        ]
    );
    // An ordinary directory of a project counts only for those who have the host.
    let skills =
        |home: Home| home.project(SITE, SITE).file("~/site/skills/s/SKILL.md", "x").try_read("openclaw");
    assert!(skills(Home::new()).is_none());
    assert_eq!(rows(&skills(Home::new().directory("~/.openclaw")).unwrap()), ["path:~/site/skills/s"]);
}

#[test]
fn pi_has_extensions_and_packages() {
    let home = Home::new()
        .project(SITE, SITE)
        .file(
            "~/site/.pi/settings.json",
            r#"{"extensions":["ext/a.ts","./dir","!skip"],"npmCommand":["mise","npm"],
              "packages":["npm:@x/here@1.0.0","npm:gone","../../local",{"source":"git:github.com/u/r@v1"}]}"#,
        )
        .directory("~/site/.pi/dir")
        .directory("~/local")
        .directory("~/site/.pi/npm/node_modules/@x/here")
        .directory("~/site/.pi/git/github.com/u/r")
        .file("~/site/.pi/extensions/b.ts", "");
    let found = home.read("pi");
    assert_eq!(
        rows(&found),
        [
            "path:~/site/.pi/extensions",
            "path:~/site/.pi/settings.json",
            "path:~/site/.pi/dir",
            "path:~/site/.pi/npm/node_modules/@x/here",
            "path:~/local",
            "path:~/site/.pi/git/github.com/u/r"
        ]
    );
    assert!(found.installs.iter().filter(|install| install.kind == InstallKind::Code).count() == 5);
    assert!(found.installs.iter().all(|install| install.layer == InstallLayer::Project));
    let commands = part(find(&found, "path:~/site/.pi/settings.json"), "commands.json");
    for command in ["node /home/u/site/.pi/ext/a.ts", "npx -y gone", "mise npm"] {
        assert!(commands.contains(command), "{command}: {commands}");
    }
    assert!(!commands.contains("skip"), "{commands}");
}

#[test]
fn pi_expands_patterns() {
    let read = |items: &str| {
        let home = Home::new()
            .project(SITE, SITE)
            .file("~/site/.pi/settings.json", format!("{{\"extensions\":[{items}]}}"))
            .file("~/site/ev/x.ts", "")
            .file("~/site/ev/sub/y.ts", "")
            .file("~/site/other/x.ts", "");
        home.read("pi")
    };
    for (items, files) in [
        (r#""../e*/x.ts""#, vec!["ev/x.ts"]),
        (r#""+../ev/x.ts""#, vec!["ev/x.ts"]),
        (r#""../**/?.ts","!../ev/x.ts""#, vec!["ev/x.ts", "ev/sub/y.ts", "other/x.ts"]),
    ] {
        let found = read(items);
        let commands = part(find(&found, "path:~/site/.pi/settings.json"), "commands.json");
        for file in &files {
            assert!(commands.contains(&format!("node /home/u/site/{file}")), "{items}: {commands}");
        }
        assert_eq!(commands.matches("\"command\":\"").count(), files.len(), "{items}: {commands}");
        assert!(kinds(&found).is_empty(), "{items}");
    }
    assert_eq!(problems(&read(r#""../[e]v/x.ts""#)), ["install/row /extensions/0"]);
    let none =
        Home::new().project(SITE, SITE).file("~/site/.pi/settings.json", r#"{"extensions":["*.js","-x"]}"#);
    assert!(none.try_read("pi").is_none());
}

#[test]
fn kiro_has_the_commands_of_its_hook_files() {
    let read = |then: &str| {
        let text = format!("{{\"enabled\":true,\"when\":{{\"type\":\"fileEdited\"}},\"then\":{then}}}");
        Home::new().project(SITE, SITE).file("~/site/.kiro/hooks/a.kiro.hook", text).read("kiro")
    };
    let found = read(r#"{"type":"runCommand","command":"x.sh"}"#);
    let hooks = part(find(&found, "path:~/site/.kiro/hooks/a.kiro.hook"), "hooks.json");
    assert!(hooks.contains(r#""fileEdited":[{"hooks":[{"command":"x.sh","type":"command"}]}]"#), "{hooks}");
    let prompt = read(r#"{"type":"askAgent","prompt":"Check it."}"#);
    assert_eq!(rows(&prompt), ["path:~/site/.kiro/hooks"]);
}

#[test]
fn qwen_has_extensions_as_gemini() {
    let home = Home::new()
        .file("~/.qwen/extensions/e1/qwen-extension.json", r#"{"name":"e1"}"#)
        .file("~/.qwen/extensions/e1/.qwen-extension-install.json", r#"{"source":"x/y","type":"git"}"#)
        .file("~/.qwen/extensions/e2/.qwen-extension-install.json", r#"{"source":"/linked","type":"link"}"#)
        .file("/linked/qwen-extension.json", r#"{"name":"e2"}"#)
        .file("~/.qwen/extensions/e3/.qwen-extension-install.json", r#"{"source":"x","type":"other"}"#)
        .file("~/.qwen/extensions/extension-enablement.json", r#"{"e1":{"overrides":["!/home/u/*"]}}"#)
        .project(SITE, SITE)
        .file("~/site/.qwen/commands/c.toml", "prompt = \"!{x.sh}\"");
    let found = home.read("qwen");
    assert_eq!(
        rows(&found),
        [
            "path:~/site/.qwen/commands",
            "path:~/site/.qwen/commands/c.toml",
            "qwen:e1 -> ~/.qwen/extensions/e1",
            "qwen:e2 -> /linked"
        ]
    );
    assert_eq!((found.installs[2].state, found.installs[3].state), (HostState::Off, HostState::On));
    assert_eq!(problems(&found), ["install/row "]);
}

#[test]
fn kimi_has_a_record_of_version_1() {
    let record = |text: &str| Home::new().file("~/.kimi-code/plugins/installed.json", text);
    let home = record(
        r#"{"version":1,"plugins":[{"id":"a","root":"managed/a","enabled":true,"version":"1.0.0"},
          {"id":"b","root":"/else/b","enabled":false},{"id":"gone","root":"/gone"},{"root":"/x"},{"id":"../x","root":"/x"}]}"#,
    )
    .directory("~/.kimi-code/plugins/managed/a")
    .directory("/else/b");
    let found = home.read("kimi");
    assert_eq!(rows(&found), ["kimi:a -> ~/.kimi-code/plugins/managed/a", "kimi:b -> /else/b"]);
    assert_eq!((found.installs[1].state, found.installs[1].is_outside), (HostState::Off, true));
    assert_eq!(kinds(&found), [InstallProblemKind::Missing, InstallProblemKind::Row, InstallProblemKind::Id]);
    for text in [r#"{"version":2,"plugins":[]}"#, r#"{"plugins":[]}"#, "{", r#"{"version":1,"plugins":{}}"#] {
        assert_eq!(kinds(&record(text).read("kimi")), [InstallProblemKind::Unreadable], "{text}");
    }
}

#[test]
fn droid_has_a_record_like_claude_code() {
    let record = |text: &str| Home::new().file("~/.factory/plugins/installed_plugins.json", text);
    let home = record(
        r#"{"version":2,"plugins":{"a@mk":[{"installPath":"/home/u/.factory/plugins/cache/a","version":"1"}],
          "b@mk":{"installPath":"/gone"},"c@mk":[{}]}}"#,
    )
    .directory("~/.factory/plugins/cache/a")
    .file("~/.factory/settings.json", r#"{"enabledPlugins":{"a@mk":false}}"#);
    let found = home.read("droid");
    assert_eq!(rows(&found), ["droid:a@mk -> ~/.factory/plugins/cache/a"]);
    assert_eq!(found.installs[0].state, HostState::Off);
    assert_eq!(kinds(&found), [InstallProblemKind::Missing, InstallProblemKind::Row]);
    assert_eq!(kinds(&record(r#"{"version":9}"#).read("droid")), [InstallProblemKind::Unreadable]);
}

#[test]
fn a_place_of_several_hosts_counts_for_the_first_and_for_those_that_are_here() {
    let project = || {
        let settings = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}"#;
        Home::new().project(SITE, SITE).file("~/site/.claude/settings.json", settings)
    };
    assert!(project().try_read("continue").is_none());
    assert_eq!(project().read("claude").installs.len(), 1);
    assert_eq!(project().directory("~/.continue").read("continue").installs.len(), 1);
    let skill = |home: Home| home.file("~/site/.agents/skills/s/SKILL.md", "x");
    assert_eq!(skill(project()).read("codex").installs.len(), 1);
    assert!(skill(project()).try_read("kimi").is_none());
    assert_eq!(skill(project()).directory("~/.kimi-code").read("kimi").installs.len(), 1);
}

#[test]
fn the_data_of_shared_plugins_is_not_a_plugin() {
    let home = Home::new()
        .file("~/.agents/plugins/p/plugin.json", "{}")
        .file("~/.agents/plugins/data/p/state.json", "{}");
    assert_eq!(rows(&home.read("agents")), ["path:~/.agents/plugins/p"]);
    let own = home.file("~/.agents/plugins/data/plugin.json", "{}");
    assert_eq!(rows(&own.read("agents")), ["path:~/.agents/plugins/data", "path:~/.agents/plugins/p"]);
}
