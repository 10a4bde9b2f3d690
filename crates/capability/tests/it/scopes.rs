//! The values that each scope accepts and the operations that it includes, each with a near miss.

use plugward_capability::{
    Access, Capability, CapabilityKind, EnvOp, EnvScope, FsOp, FsScope, FsVerb, GitOp, GitScope, LlmOp,
    LlmScope, ModuleOp, ModuleScope, NetOp, NetScope, NpmOp, NpmScope, Operation, PluginName, ProgramRef,
    RawOp, RawScope, Scope, ScopeDirectory, ScopeError, SpawnOp, SpawnScope, WorkflowId,
};

use plugward_ledger::RecordValue;

use super::World;

fn code<T>(result: Result<T, ScopeError>) -> &'static str {
    result.map_or_else(|error| error.code(), |_| "good")
}

/// Returns `true` if a capability of the scope covers the operation.
#[expect(clippy::needless_pass_by_value, reason = "an operation is written where it is asked for")]
fn covers<S: Scope>(scope: S, op: <S::Capability as Capability>::Op<'_>) -> bool {
    let world = World::new();
    let workflow = world.free();
    world.ask(&workflow, "acme", scope).unwrap().covers(&op)
}

#[test]
fn names_can_be_seen_for_what_they_are() {
    for (text, expected) in [
        ("claude:hookify@team", "good"),
        ("größe 日本", "good"),
        ("", "scope/name"),
        ("a\nb", "scope/name"),
        ("a\u{202e}b", "scope/name"),
        ("a\u{200b}b", "scope/name"),
        ("a\u{e0041}b", "scope/name"),
    ] {
        assert_eq!(code(PluginName::new(text)), expected, "{text:?}");
        assert_eq!(code(WorkflowId::new(text)), expected, "{text:?}");
    }
    assert_eq!(code(PluginName::new(&"x".repeat(256))), "good");
    assert_eq!(code(PluginName::new(&"x".repeat(257))), "scope/name");
    let error = PluginName::new("a\u{1b}[2Jb").unwrap_err();
    assert_eq!(error.to_string(), "invalid plugin name `a\\u{1b}[2Jb`: it has an invisible character");
    for hidden in ["\u{3164}", "\u{2800}", "\u{34f}", "\u{a0}", "\u{e0041}"] {
        assert_eq!(code(PluginName::new(&format!("a{hidden}b"))), "scope/name", "{hidden:?}");
    }
    assert_eq!(code(PluginName::new("heart \u{2764}\u{fe0f}")), "good");
}

#[test]
fn npm_registries() {
    for good in [
        "https://registry.example.org",
        "https://registry.example.org/",
        "https://registry.example.org:8443/a/b",
        "http://localhost:4873/",
        "http://127.0.0.1/",
        "http://[::1]:4873/",
        "https://192.0.2.1/",
    ] {
        assert_eq!(code(NpmScope::new(good)), "good", "{good}");
    }
    for bad in [
        "",
        "registry.example.org",
        "http://registry.example.org/",
        "http://localhost.example.org/",
        "http://127.0.0.1.example.org/",
        "HTTPS://registry.example.org/",
        "https://Registry.example.org/",
        "https://user@registry.example.org/",
        "https://registry.example.org@evil.example/",
        "https://registry.example.org/?a",
        "https://registry.example.org/#a",
        "https://registry.example.org/%2e%2e/",
        "https://registry.example.org/a/../b",
        "https://registry.example.org//a",
        "https://registry.example.org:0/",
        "https://registry.example.org:65536/",
        "https://registry.example.org:080/",
        "https://registry.example.org:/",
        "https:///a",
        "https://::1/",
        "https://[127.0.0.1]/",
        "https://[::1]x/",
        "https://registry.example.org\\@evil/",
        "https://registry.example.org/ --ignore",
        "https://registry.exämple.org/",
        "https://2130706433/",
        "file:///etc",
    ] {
        assert_eq!(code(NpmScope::new(bad)), "scope/registry", "{bad}");
    }
    let same = NpmScope::new("https://registry.example.org").unwrap();
    assert_eq!(same, NpmScope::new("https://registry.example.org/").unwrap());
    let other = NpmScope::new("https://registry.example.org/other").unwrap();
    assert!(covers(same.clone(), NpmOp::Install { registry: &same, spec: "left-pad" }));
    assert!(!covers(same.clone(), NpmOp::Install { registry: &other, spec: "left-pad" }));
    assert!(!covers(same.clone(), NpmOp::Install { registry: &same, spec: "git+ssh://x" }));
}

#[test]
fn npm_specs() {
    let world = World::new();
    let workflow = world.free();
    let npm = world.ask(&workflow, "acme", NpmScope::new("https://registry.example.org").unwrap()).unwrap();
    assert_eq!(
        npm.argv("left-pad@1.3.0").unwrap(),
        [
            "npm",
            "install",
            "--ignore-scripts",
            "--registry",
            "https://registry.example.org/",
            "--",
            "left-pad@1.3.0"
        ]
    );
    for good in [
        "left-pad",
        "@types/node",
        "@types/node@latest",
        "a@^1.2.3",
        "a@>=1 <2 || 3.x",
        "a@~1.2",
        "a@*",
        "a@1.0.0-rc.1+b",
    ] {
        assert_eq!(code(npm.argv(good)), "good", "{good}");
    }
    for bad in [
        "",
        "-g",
        "--registry=http://evil/",
        ".",
        "./x",
        "../x",
        "/etc",
        "~/x",
        "C:\\x",
        "user/repo",
        "git+https://x/y",
        "git@github.com:a/b",
        "https://x/y.tgz",
        "github:a/b",
        "file:x",
        "npm:other",
        "x.tgz",
        "x.TGZ",
        "a@x.tgz",
        "a@b.tar.gz",
        "a@npm:other@1",
        "a@file:../x",
        "a@github:x/y",
        "a@./x",
        "a@../x",
        "a@/x",
        "a@~",
        "a@~/x",
        "a@",
        "a@-x",
        "@scope",
        "@/x",
        "@a/b/c",
        "A",
        "a b",
        "a\n--global",
        "_a",
        "%61",
    ] {
        assert_eq!(code(npm.argv(bad)), "scope/spec", "{bad}");
    }
}

#[test]
fn places_are_their_identity() {
    let place = |label: &str, identity: &str| ScopeDirectory::new(label, identity).unwrap();
    assert_eq!(code(ScopeDirectory::new("", "1")), "scope/place");
    assert_eq!(code(ScopeDirectory::new("a", "")), "scope/place");
    assert_eq!(code(ScopeDirectory::new("a\u{202e}", "1")), "scope/place");
    assert_eq!(code(ScopeDirectory::new("a", &"1".repeat(1_025))), "scope/place");
    let mine = place("work", "dev 7 inode 42");
    let renamed = place("elsewhere", "dev 7 inode 42");
    let other = place("work", "dev 7 inode 43");
    let verbs = [FsVerb::Read, FsVerb::List, FsVerb::Write, FsVerb::Create, FsVerb::Remove];
    let allowed = |access, place: &ScopeDirectory| {
        verbs.map(|verb| covers(FsScope::new(mine.clone(), access), FsOp { verb, place, path: "a" }))
    };
    assert_eq!(allowed(Access::Read, &renamed), [true, true, false, false, false]);
    assert_eq!(allowed(Access::ReadWrite, &renamed), [true; 5]);
    assert_eq!(allowed(Access::ReadWrite, &other), [false; 5]);
}

#[test]
fn branches_stay_in_their_namespace() {
    let place = || ScopeDirectory::new("site", "1:2").unwrap();
    for (namespace, expected) in [
        ("plugins/acme/", "good"),
        ("a/", "good"),
        ("", "scope/namespace"),
        ("/", "scope/namespace"),
        ("plugins", "scope/namespace"),
        ("plugins//", "scope/namespace"),
        ("-x/", "scope/namespace"),
        ("a..b/", "scope/namespace"),
        ("a.lock/", "scope/namespace"),
        (".a/", "scope/namespace"),
        ("a b/", "scope/namespace"),
        ("a~/", "scope/namespace"),
        ("a@{/", "scope/namespace"),
        ("@/", "scope/namespace"),
        ("a\u{7f}/", "scope/namespace"),
    ] {
        assert_eq!(code(GitScope::new(place(), namespace)), expected, "{namespace}");
    }
    let scope = || GitScope::new(place(), "plugins/acme/").unwrap();
    for (branch, expected) in [
        ("plugins/acme/fix", true),
        ("plugins/acme/a/b", true),
        ("plugins/acme/", false),
        ("plugins/acme", false),
        ("plugins/acme/../main", false),
        ("plugins/acmex/fix", false),
        ("main", false),
        ("refs/heads/plugins/acme/fix", false),
        ("Plugins/acme/fix", false),
        ("plugins/acme/fix.lock", false),
        ("plugins/acme/a b", false),
        ("plugins/acme/a^", false),
    ] {
        for op in [
            GitOp::Commit { branch, message: "m" },
            GitOp::CreateBranch { name: branch },
            GitOp::Switch { name: branch },
            GitOp::DeleteBranch { name: branch },
        ] {
            assert_eq!(covers(scope(), op), expected, "{op:?}");
        }
    }
    for op in
        [GitOp::Status, GitOp::Diff { paths: &[] }, GitOp::Log { count: 1 }, GitOp::Show { revision: "x" }]
    {
        assert!(covers(scope(), op));
    }
}

#[test]
fn hosts_are_one_pair() {
    for (host, port, expected) in [
        ("api.example.org", 443, "good"),
        ("API.example.org.", 443, "good"),
        ("192.0.2.7", 1, "good"),
        ("2001:db8::1", 65_535, "good"),
        ("[2001:db8::1]", 443, "good"),
        ("*.example.org", 443, "good"),
        ("api.example.org", 0, "scope/port"),
        ("", 1, "scope/host"),
        ("*", 1, "scope/host"),
        ("*.org", 1, "scope/host"),
        ("*.*.org", 1, "scope/host"),
        ("a.*.org", 1, "scope/host"),
        ("*.192.0.2.7", 1, "scope/host"),
        ("[192.0.2.7]", 1, "scope/host"),
        ("192.0.2.07", 1, "scope/host"),
        ("192.0.2", 1, "scope/host"),
        ("3232235521", 1, "scope/host"),
        ("0x7f000001", 1, "scope/host"),
        ("-a.org", 1, "scope/host"),
        ("a..org", 1, "scope/host"),
        ("a.org..", 1, "scope/host"),
        ("exämple.org", 1, "scope/host"),
        ("a.org/x", 1, "scope/host"),
        ("user@a.org", 1, "scope/host"),
        ("a.org:80", 1, "scope/host"),
        ("a b", 1, "scope/host"),
    ] {
        assert_eq!(code(NetScope::new(host, port)), expected, "{host}");
    }
    let covered = |scope: &str, host: &str, port| {
        covers(NetScope::new(scope, 443).unwrap(), NetOp::Connect { host, port })
    };
    assert!(covered("api.example.org", "API.EXAMPLE.ORG.", 443));
    assert!(!covered("api.example.org", "api.example.org", 80));
    assert!(!covered("api.example.org", "xapi.example.org", 443));
    assert!(covered("*.example.org", "a.example.org", 443));
    assert!(covered("*.example.org", "a.b.example.org", 443));
    assert!(!covered("*.example.org", "example.org", 443));
    assert!(!covered("*.example.org", ".example.org", 443));
    assert!(!covered("*.example.org", "aexample.org", 443));
    assert!(!covered("*.example.org", "*.example.org", 443));
    assert!(covered("2001:db8::1", "[2001:0db8:0:0:0:0:0:1]", 443));
    assert!(!covered("192.0.2.7", "::ffff:192.0.2.7", 443));
    // Connecting and listening do not include each other.
    assert_eq!(code(NetScope::listening(0)), "scope/port");
    let listening = || NetScope::listening(443).unwrap();
    assert!(covers(listening(), NetOp::Listen { port: 443 }));
    assert!(!covers(listening(), NetOp::Listen { port: 80 }));
    assert!(!covers(listening(), NetOp::Connect { host: "a.org", port: 443 }));
    assert!(!covers(listening(), NetOp::Connect { host: "not a host", port: 443 }));
    assert!(!covers(NetScope::new("0.0.0.0", 443).unwrap(), NetOp::Listen { port: 443 }));
    assert_eq!(listening().to_value(), RecordValue::object([("listen", RecordValue::Number(443))]));
}

#[test]
fn programs_are_compared_by_whole_arguments() {
    let name = |name: &str| ProgramRef::Name(name.into());
    for (program, argv, expected) in [
        (name("node"), [["a"].as_slice()].as_slice(), "good"),
        (ProgramRef::Digest("sha256:ab".into()), &[&[]], "good"),
        (name(""), &[&["a"]], "scope/program"),
        (name("/bin/sh"), &[&["a"]], "scope/program"),
        (name("..\\x"), &[&["a"]], "scope/program"),
        (name(".."), &[&["a"]], "scope/program"),
        (name("-x"), &[&["a"]], "scope/program"),
        (name("a\nb"), &[&["a"]], "scope/program"),
        (name("node"), &[], "scope/argv"),
        (name("node"), &[&["**", "a"]], "scope/argv"),
        (name("node"), &[&["a\0"]], "scope/argv"),
    ] {
        assert_eq!(code(SpawnScope::new(program.clone(), argv)), expected, "{program:?} {argv:?}");
    }
    let long = "x".repeat(1_025);
    assert_eq!(code(SpawnScope::new(name("node"), &[&[&long]])), "scope/too-long");
    let scope = |argv: &[&[&str]]| SpawnScope::new(name("node"), argv).unwrap();
    let covered = |list: &[&[&str]], argv: &[&str]| {
        covers(scope(list), SpawnOp::Spawn { program: &name("node"), argv })
    };
    assert!(covered(&[&["run", "a"]], &["run", "a"]));
    assert!(!covered(&[&["run", "a"]], &["run", "a", "b"]));
    assert!(!covered(&[&["run", "a"]], &["run a"]));
    assert!(!covered(&[&["run", "a"]], &["run"]));
    assert!(covered(&[&["run", "**"]], &["run"]));
    assert!(covered(&[&["run", "**"]], &["run", "x", "y"]));
    assert!(!covered(&[&["run", "**"]], &["runx"]));
    assert!(covered(&[&["**"]], &[]));
    assert!(covered(&[&["a"], &["b"]], &["b"]));
    assert!(covered(&[&[]], &[]));
    assert!(!covered(&[&[]], &["a"]));
    // A requested `**` is not a wildcard.
    assert!(!covered(&[&["a"]], &["**"]));
    assert!(!covers(scope(&[&["**"]]), SpawnOp::Spawn { program: &name("sh"), argv: &[] }));
    assert!(!covers(
        scope(&[&["**"]]),
        SpawnOp::Spawn { program: &ProgramRef::Digest("node".into()), argv: &[] }
    ));
}

#[test]
fn lists_of_names_are_exact() {
    assert_eq!(code(EnvScope::new(&["_A9", "a"])), "good");
    for bad in ["", "9A", "A-B", "A*", "A=B", "Ä"] {
        assert_eq!(code(EnvScope::new(&["OK", bad])), "scope/variable", "{bad}");
    }
    assert_eq!(code(EnvScope::new(&[])), "scope/empty");
    assert_eq!(code(EnvScope::new(&["A"; 257])), "scope/too-long");
    assert!(covers(EnvScope::new(&["A"]).unwrap(), EnvOp::ReadVar { name: "A" }));
    assert_eq!(covers(EnvScope::new(&["A"]).unwrap(), EnvOp::ReadVar { name: "a" }), cfg!(windows));

    assert_eq!(code(ModuleScope::new(&["fs-read"])), "good");
    for bad in ["", "Fs", "9a", "a_b", "a.b", &"a".repeat(65)] {
        assert_eq!(code(ModuleScope::new(&[bad])), "scope/module", "{bad}");
    }
    let modules = || ModuleScope::new(&["fs-read"]).unwrap();
    assert!(covers(modules(), ModuleOp::Register { name: "fs-read" }));
    assert!(!covers(modules(), ModuleOp::Register { name: "fs-write" }));
    assert!(covers(modules(), ModuleOp::Call { name: "fs-read", function: "read" }));
    assert!(!covers(modules(), ModuleOp::Call { name: "fs", function: "fs-read" }));

    assert_eq!(code(RawScope::new("h", &["*"])), "good");
    assert_eq!(code(RawScope::new("h", &["Bash", "Read"])), "good");
    assert_eq!(code(RawScope::new("", &["*"])), "scope/hook");
    assert_eq!(code(RawScope::new("h", &["*", "Bash"])), "scope/tool");
    assert_eq!(code(RawScope::new("h", &["Ba*"])), "scope/tool");
    assert_eq!(code(RawScope::new("h", &[])), "scope/empty");
    let exposed =
        |tools: &[&str], hook, tool| covers(RawScope::new("h", tools).unwrap(), RawOp::Expose { hook, tool });
    assert!(exposed(&["*"], "h", "anything"));
    assert!(!exposed(&["*"], "other", "anything"));
    assert!(exposed(&["Bash"], "h", "Bash"));
    assert!(!exposed(&["Bash"], "h", "bash"));
    assert!(!exposed(&["Bash"], "h", "*"));

    assert_eq!(code(LlmScope::new(&["openai/gpt-5", "a/b/c:d"])), "good");
    for bad in ["", "gpt-5", "/x", "x/", "a b/c", "a/b*"] {
        assert_eq!(code(LlmScope::new(&[bad])), "scope/model", "{bad}");
    }
    assert!(covers(LlmScope::new(&["a/b"]).unwrap(), LlmOp::Ask { model: "a/b", tokens: 1 }));
    assert!(!covers(LlmScope::new(&["a/b"]).unwrap(), LlmOp::Ask { model: "a/c", tokens: 1 }));
}

#[test]
fn a_scope_returns_its_parts() {
    let net = |host| NetScope::new(host, 443).unwrap();
    assert_eq!(
        (net("API.example.org.").host().as_deref(), net("a.b").port()),
        (Some("api.example.org"), 443)
    );
    assert_eq!(net("*.example.org").host().as_deref(), Some("*.example.org"));
    assert_eq!(net("[2001:db8:0::1]").host().as_deref(), Some("2001:db8::1"));
    let listening = NetScope::listening(443).unwrap();
    assert_eq!((listening.host(), listening.port()), (None, 443));
    assert!(EnvScope::new(&["B", "A"]).unwrap().names().eq(["A", "B"]));
    assert!(ModuleScope::new(&["fs-read"]).unwrap().names().eq(["fs-read"]));
    let node = SpawnScope::new(ProgramRef::Name("node".into()), &[&["**"]]).unwrap();
    assert_eq!(
        (node.program(), node.argv()),
        (&ProgramRef::Name("node".into()), &[vec!["**".to_owned()]][..])
    );
}

#[test]
fn every_kind_has_its_word() {
    for kind in CapabilityKind::ALL {
        assert_eq!(CapabilityKind::from_name(kind.as_str()), Some(kind));
        assert_eq!(kind.to_string(), kind.as_str());
    }
    assert_eq!(CapabilityKind::from_name("push"), None);
}

#[test]
fn what_is_recorded_of_an_operation_is_what_it_is_about() {
    let place = ScopeDirectory::new("work", "1").unwrap();
    let program = ProgramRef::Name("node".into());
    let op = FsOp { verb: FsVerb::Create, place: &place, path: "a/b" };
    assert_eq!((op.name(), op.detail(), op.units()), ("create", "a/b".into(), 1));
    let op = SpawnOp::Spawn { program: &program, argv: &["a b", "c\n"] };
    assert_eq!((op.name(), op.detail()), ("spawn", "node a b c\\n".into()));
    let op = LlmOp::Ask { model: "a/b", tokens: 7 };
    assert_eq!((op.name(), op.detail(), op.units()), ("ask", "a/b".into(), 7));
    let op = NetOp::Connect { host: "a.b", port: 1 };
    assert_eq!((op.name(), op.detail()), ("connect", "a.b:1".into()));
    let op = NetOp::Listen { port: 1 };
    assert_eq!((op.name(), op.detail()), ("listen", "1".into()));
    let op = GitOp::Commit { branch: "x/y", message: "a message" };
    assert_eq!((op.name(), op.detail()), ("commit", "x/y".into()));
    let op = GitOp::Add { paths: &["a", "b"] };
    assert_eq!((op.name(), op.detail()), ("add", "a b".into()));
    let op = RawOp::Expose { hook: "h", tool: "t" };
    assert_eq!((op.name(), op.detail()), ("expose", "h t".into()));
    let op = ModuleOp::Call { name: "m", function: "f" };
    assert_eq!((op.name(), op.detail()), ("call", "m.f".into()));
}
