//! RFD-077, point by point, as far as settings decide it.

#![expect(clippy::unwrap_used, reason = "helpers of tests stop if they cannot set up")]

use std::sync::Arc;

use plugward_policy::{
    BundleNames, ChecksumAlgorithm, ContributionFate as Fate, LayerKind, RunRule, SettingKey, SettingsLayer,
    TrustPolicy,
};
use plugward_types::{PlacePath, TrustMode};

use LayerKind::{Cli, Local, Managed, User, Workspace};

fn policy(layers: &[(LayerKind, &str)]) -> TrustPolicy {
    policy_in(layers, "/home/u/site")
}

fn policy_in(layers: &[(LayerKind, &str)], place: &str) -> TrustPolicy {
    let layer = |(kind, text): &(LayerKind, &str)| {
        let read = if matches!(kind, Cli | LayerKind::Env) {
            SettingsLayer::assignments(*kind, "--cfg", &text.lines().collect::<Vec<_>>())
        } else {
            SettingsLayer::parse(*kind, "config.toml", text.as_bytes())
        };
        Arc::new(read.unwrap())
    };
    TrustPolicy::new(layers.iter().map(layer).collect::<Vec<_>>(), [PlacePath::new(place).unwrap()])
}

/// Returns `layer value fate` for each contribution.
fn fates(policy: &TrustPolicy, key: &str) -> Vec<String> {
    let resolved = policy.resolve(&key.parse().unwrap());
    let row = |one: &plugward_policy::Contribution| {
        let value = one.value.as_ref().map_or("-".to_owned(), plugward_policy::SettingValue::as_written);
        format!("{} {value} {}", one.layer.as_str(), one.fate.as_str())
    };
    resolved.contributions.iter().map(row).collect()
}

#[test]
fn run_values() {
    for (word, rule) in [("unattended", RunRule::Unattended), ("ask", RunRule::Ask), ("deny", RunRule::Deny)]
    {
        let text = format!("plugins.command.serve.run = \"{word}\"");
        assert_eq!(policy(&[(User, &text)]).command("serve").run, Some(rule));
        assert_eq!(policy(&[(User, &text)]).command("other").run, None);
    }
    for wrong in ["true", "\"\"", "\"Deny\"", "1"] {
        let text = format!("plugins.command.serve.run = {wrong}");
        assert!(SettingsLayer::parse(User, "f", text.as_bytes()).is_err(), "{wrong}");
    }
}

#[test]
fn run_default() {
    assert_eq!(policy(&[]).command("serve").run, None, "the origin decides");
    // The origin decides at most `ask`, so a repository can state it, and cannot state less.
    let stated = |word| {
        let text = format!("plugins.command.serve.run = \"{word}\"");
        policy(&[(Workspace, &text)]).command("serve").run
    };
    assert_eq!(stated("unattended"), None);
    assert_eq!(stated("ask"), Some(RunRule::Ask));
    assert_eq!(stated("deny"), Some(RunRule::Deny));
    let installs = |word| {
        let text = format!("plugins.command.serve.install = {word}");
        policy(&[(Workspace, &text)]).command("serve").install
    };
    assert_eq!((installs("true"), installs("false")), (None, Some(false)));
}

#[test]
fn auto_install() {
    assert!(policy(&[]).command("serve").auto_install);
    assert!(!policy(&[(User, "plugins.auto_install = false")]).command("serve").auto_install);
    let both = [(User, "plugins.auto_install = false"), (Workspace, "plugins.auto_install = true")];
    assert!(!policy(&both).command("serve").auto_install);
    assert_eq!(
        policy(&[(User, "plugins.command.serve.install = true")]).command("serve").install,
        Some(true)
    );
}

#[test]
fn checksum_algorithms() {
    let sha256 = "AB".repeat(32);
    for (text, algorithm) in [
        (
            format!("plugins.command.a.checksum = {{ algorithm = \"sha256\", value = \"{sha256}\" }}"),
            ChecksumAlgorithm::Sha256,
        ),
        (format!("plugins.command.a.checksum.value = \"{sha256}\""), ChecksumAlgorithm::Sha256),
        (
            format!(
                "plugins.command.a.checksum = {{ algorithm = \"sha1\", value = \"{}\" }}",
                "0f".repeat(20)
            ),
            ChecksumAlgorithm::Sha1,
        ),
    ] {
        let policy = policy(&[(User, &text)]);
        let checksum = policy.command("a").checksum.unwrap();
        assert_eq!(checksum.algorithm, algorithm);
        assert_eq!(checksum.value, checksum.value.to_lowercase());
        let is_weak = policy.notes().iter().any(|note| note.code == "policy/weak-algorithm");
        assert_eq!(is_weak, algorithm == ChecksumAlgorithm::Sha1);
    }
    // Assignments set the parts one by one, in any order, and the last one wins.
    let part = |name: &str, value: &str| format!("plugins.command.a.checksum.{name}={value}");
    let (sha1, digits) = (part("algorithm", "sha1"), "0f".repeat(20));
    for rows in [
        vec![sha1.clone(), part("value", &digits)],
        vec![part("value", &digits), part("algorithm", "sha256"), sha1.clone()],
        vec![sha1.clone(), part("value", "ab"), part("value", &digits)],
    ] {
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        let layer = SettingsLayer::assignments(Cli, "--cfg", &rows).unwrap();
        let checksum = TrustPolicy::new([Arc::new(layer)], []).command("a").checksum.unwrap();
        assert_eq!(
            (checksum.algorithm, checksum.value),
            (ChecksumAlgorithm::Sha1, digits.clone()),
            "{rows:?}"
        );
    }
    for (rows, message) in [
        (vec![sha1.clone()], "missing field `value`"),
        (vec![part("value", &digits)], "expected 64 hex digits of sha256"),
    ] {
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        let error = SettingsLayer::assignments(Cli, "--cfg", &rows).unwrap_err();
        assert_eq!(error.first().message, message);
    }
    // A repository can add a checksum, and cannot replace one.
    let of = |digit: &str| format!("plugins.command.a.checksum.value = \"{}\"", digit.repeat(64));
    let value = |layers: &[(LayerKind, &str)]| policy(layers).command("a").checksum.unwrap().value;
    let (one, two) = (of("1"), of("2"));
    assert_eq!(value(&[(Workspace, &one)]), "1".repeat(64));
    assert_eq!(value(&[(Workspace, &one), (Local, &two)]), "1".repeat(64));
    assert_eq!(value(&[(User, &one), (Workspace, &two)]), "1".repeat(64));
    assert_eq!(value(&[(User, &one), (Workspace, &one), (Cli, &two)]), "2".repeat(64));
}

#[test]
fn layer_order() {
    let layers = [
        (Managed, "plugins.max_risk = \"CRITICAL\""),
        (User, "plugins.max_risk = \"HIGH\"\n[workspaces.\"/home/u\"]\nplugins.max_risk = \"LOW\""),
        (Workspace, "plugins.max_risk = \"MEDIUM\""),
        (Local, "plugins.max_risk = \"HIGH\""),
        (LayerKind::Env, "plugins.max_risk=HIGH"),
        (Cli, "plugins.max_risk=MEDIUM"),
    ];
    assert_eq!(
        fates(&policy(&layers), "plugins.max_risk"),
        [
            "default \"MEDIUM\" overridden",
            "managed \"CRITICAL\" overridden",
            "user \"HIGH\" overridden",
            "workspace \"MEDIUM\" overridden",
            "local \"HIGH\" held-back",
            "user-workspace \"LOW\" overridden",
            "env \"HIGH\" overridden",
            "cli \"MEDIUM\" used",
        ]
    );
    // The order of the caller matters within a layer only.
    let mut reversed = layers;
    reversed.reverse();
    assert_eq!(fates(&policy(&reversed), "plugins.max_risk"), fates(&policy(&layers), "plugins.max_risk"));
    // A table for one directory applies inside it only; an inner one is stronger.
    let user =
        "[workspaces.\"/home/u/site\"]\ntrust = \"prompt\"\n[workspaces.\"/home/u\"]\ntrust = \"locked\"";
    for (place, trust) in [
        ("/home/u/site/plugins/a", TrustMode::Prompt),
        ("/home/u/sites", TrustMode::Locked),
        ("/home/user/site", TrustMode::Tofu),
    ] {
        assert_eq!(policy_in(&[(User, user)], place).trust(), trust, "{place}");
    }
}

#[test]
fn deny_here() {
    let user = "plugins.command.serve.run = \"unattended\"";
    let here = "plugins.command.serve.run = \"deny\"";
    assert_eq!(policy(&[(User, user), (Workspace, here)]).command("serve").run, Some(RunRule::Deny));
    // A local file cannot undo the denial of its workspace, and the user can.
    let undone = [(User, user), (Workspace, here), (Local, user)];
    assert_eq!(policy(&undone).command("serve").run, Some(RunRule::Deny));
    let user_again = [(Workspace, here), (Cli, "plugins.command.serve.run=unattended")];
    assert_eq!(policy(&user_again).command("serve").run, Some(RunRule::Unattended));
}

#[test]
fn allow_here() {
    let user = "plugins.command.serve.run = \"deny\"\n\
                [workspaces.\"/home/u/site\"]\nplugins.command.serve.run = \"unattended\"";
    assert_eq!(policy(&[(User, user)]).command("serve").run, Some(RunRule::Unattended));
    assert_eq!(policy_in(&[(User, user)], "/home/u/else").command("serve").run, Some(RunRule::Deny));
    let here = "plugins.command.serve.run = \"unattended\"";
    let held = policy_in(&[(User, user), (Workspace, here)], "/home/u/else");
    assert_eq!(
        fates(&held, "plugins.command.serve.run"),
        ["default - overridden", "user \"deny\" used", "workspace \"unattended\" held-back"]
    );
    let resolved = held.resolve(&"plugins.command.serve.run".parse().unwrap());
    assert_eq!(resolved.contributions[2].why, Some("a repository can only tighten"));
    assert_eq!(held.notes()[0].code, "policy/held-back");
}

#[test]
fn options_are_opaque() {
    let text = "plugins.command.a.options = { x = [1, { y = 2 }], when = 1979-05-27, \"a b\" = 1.5, deep.er = true }";
    let options = policy(&[(User, text)]).options("a");
    let expected: toml::Table =
        "x = [1, { y = 2 }]\nwhen = 1979-05-27\n\"a b\" = 1.5\ndeep.er = true".parse().unwrap();
    assert_eq!(options, expected);
    assert!(policy(&[(User, text)]).options("b").is_empty());
}

#[test]
fn options_merge() {
    let layers = [
        (User, "plugins.command.a.options = { web = { port = 80, host = \"x\" }, level = 1 }"),
        (Workspace, "plugins.command.a.options.web.port = 8080"),
        (Local, "plugins.command.a.options.level = { deep = true }"),
        (Cli, "plugins.command.a.options.level=2\nplugins.command.a.options.level.deep=false"),
    ];
    let policy = policy(&layers);
    let expected: toml::Table =
        "web = { port = 8080, host = \"x\" }\nlevel = { deep = false }".parse().unwrap();
    assert_eq!(policy.options("a"), expected);
    // Each leaf has its own contributions.
    assert_eq!(
        fates(&policy, "plugins.command.a.options.web.port"),
        ["default - overridden", "user 80 overridden", "workspace 8080 used"]
    );
    assert_eq!(
        fates(&policy, "plugins.command.a.options.level"),
        ["default - overridden", "user 1 overridden", "local true overridden", "cli false used"]
    );
    let fixed = [
        (Managed, "final = [\"plugins.command.a.options\"]\nplugins.command.a.options.port = 1"),
        (Cli, "plugins.command.a.options.port=2\nplugins.command.a.options.other=3"),
    ];
    let policy = self::policy(&fixed);
    assert_eq!(policy.options("a"), "port = 1".parse().unwrap());
}

#[test]
fn wasm_reserved() {
    let policy = policy(&[(User, "[plugins.wasm.filter]\nmemory = 3")]);
    assert!(policy.notes().is_empty());
    assert_eq!(policy.command("filter").run, None);
}

#[test]
fn timeout_default() {
    assert_eq!(policy(&[]).shutdown_timeout(), 5);
    let user = "plugins.shutdown_timeout_secs = 9";
    assert_eq!(
        policy(&[(User, user), (Workspace, "plugins.shutdown_timeout_secs = 7")]).shutdown_timeout(),
        7
    );
    assert_eq!(
        policy(&[(User, user), (Workspace, "plugins.shutdown_timeout_secs = 60")]).shutdown_timeout(),
        9
    );
}

#[test]
fn final_keys_take_their_managed_value() {
    let managed = "final = [\"plugins.approval\", \"plugins.bundle.a.run\"]\nplugins.approval = \"off\"\n\
                   plugins.bundle.a.run = \"unattended\"";
    let layers = [
        (Managed, managed),
        (
            User,
            "plugins.approval = \"required\"\nplugins.bundle.a.run = \"deny\"\nplugins.bundle.b.run = \"deny\"",
        ),
        (Workspace, "plugins.approval = \"required\""),
        (Cli, "plugins.approval=required"),
    ];
    let policy = policy(&layers);
    assert_eq!(
        fates(&policy, "plugins.approval"),
        [
            "default \"off\" overridden",
            "managed \"off\" used",
            "user \"required\" final",
            "workspace \"required\" final",
            "cli \"required\" final",
        ]
    );
    let run = |name: &str| {
        policy.bundle_rule(&BundleNames::new(&format!("path:/p/{name}").parse().unwrap(), [])).run
    };
    assert_eq!((run("a"), run("b")), (RunRule::Unattended, RunRule::Deny));
    assert!(policy.notes().iter().all(|note| note.code == "policy/final"));
}

#[test]
fn selectors_match_from_general_to_exact() {
    let key = "path:/home/u/site/plugins/a";
    let run = |text: &str, stated: &[&str]| {
        policy(&[(User, text)])
            .bundle_rule(&BundleNames::new(&key.parse().unwrap(), stated.iter().copied()))
            .run
    };
    let entry = |selector: &str, word: &str| format!("plugins.bundle.\"{selector}\".run = \"{word}\"\n");
    for (selector, is_matched) in [
        (key, true),
        ("a", true),
        ("a*", true),
        ("*", true),
        ("path:/home/*", true),
        ("stated", true),
        ("stat*", true),
        ("b", false),
        ("path:/home/u/site/plugins/b", false),
        ("path:/root/*", false),
    ] {
        let expected = if is_matched { RunRule::Ask } else { RunRule::Unattended };
        assert_eq!(run(&entry(selector, "ask"), &["stated"]), expected, "{selector}");
    }
    // A key can loosen what a pattern or name states, and a name cannot.
    assert_eq!(run(&(entry("*", "deny") + &entry(key, "unattended")), &[]), RunRule::Unattended);
    assert_eq!(run(&(entry("*", "deny") + &entry("a", "unattended")), &[]), RunRule::Deny);
    assert_eq!(run(&(entry("*", "ask") + &entry("a", "deny")), &[]), RunRule::Deny);
    // A plugin with a second name does not get a looser rule from it.
    assert_eq!(run(&(entry("a", "deny") + &entry("stated", "unattended")), &["stated"]), RunRule::Deny);
}

#[test]
fn lists_of_a_repository_shorten_and_extend() {
    let names = |name: &str| BundleNames::new(&format!("path:/p/{name}").parse().unwrap(), []);
    let is_on =
        |layers: &[(LayerKind, &str)], name: &str| policy(layers).switched_off(&names(name)).is_none();
    let user = (User, "plugins.enabled = [\"a\", \"b*\"]\nplugins.disabled = [\"bad\"]");
    let on = |layers: &[(LayerKind, &str)]| ["a", "b1", "bad", "c"].map(|name| is_on(layers, name));
    assert_eq!(on(&[user]), [true, true, false, false]);
    assert_eq!(on(&[user, (Workspace, "plugins.enabled = [\"b1\"]")]), [false, true, false, false]);
    assert_eq!(on(&[user, (Workspace, "plugins.enabled = [\"a\", \"c\"]")]), [true, true, false, false]);
    assert_eq!(on(&[user, (Workspace, "plugins.disabled = []")]), [true, true, false, false]);
    assert_eq!(on(&[user, (Workspace, "plugins.disabled = [\"b*\"]")]), [true, false, false, false]);
    assert_eq!(on(&[(Workspace, "plugins.enabled = [\"c\"]")]), [false, false, false, true]);
}

#[test]
fn keys_that_repositories_cannot_set_are_ignored_with_a_note() {
    let here = "scan.suppress = []\nplugins.registry.url = \"https://r.example\"\nfinal = [\"trust\"]\n\
                [workspaces.\"/home/u\"]\ntrust = \"locked\"";
    let policy = policy(&[(Workspace, here)]);
    assert_eq!(policy.registry_url(), None);
    assert_eq!(policy.trust(), TrustMode::Tofu);
    let notes = policy.notes();
    assert_eq!(notes.len(), 4, "{notes:?}");
    assert!(notes.iter().all(|note| note.code == "policy/not-from-repository"));
    let registry = self::policy(&[(User, "plugins.registry.url = \"https://r.example\"")]);
    assert_eq!(registry.registry_url().as_deref(), Some("https://r.example"));
}

#[test]
fn entries_without_a_plugin_are_noted() {
    let text = "plugins.bundle.b.run = \"deny\"\nplugins.bundle.\"x*\".run = \"deny\"\nplugins.disabled = [\"a\", \"c\"]";
    let policy = policy(&[(Workspace, text)]);
    let plugins = ["path:/p/a", "path:/p/b"].map(|key| BundleNames::new(&key.parse().unwrap(), []));
    let notes: Vec<_> =
        policy.unmatched(&plugins).into_iter().map(|note| (note.code, note.message)).collect();
    assert_eq!(
        notes,
        [
            ("policy/unmatched", "`plugins.bundle.\"x*\".run` matches no plugin".to_owned()),
            ("policy/unmatched", "`plugins.disabled \"c\"` matches no plugin".to_owned()),
        ]
    );
}

#[test]
fn keys_have_one_text() {
    for text in [
        "trust",
        "plugins.bundle.a.run",
        "plugins.bundle.\"claude:hookify@acme\".run",
        "plugins.command.serve.options.web.\"a b\"",
        "plugins.registry",
    ] {
        assert_eq!(text.parse::<SettingKey>().unwrap().to_string(), text);
    }
    let bare: SettingKey = "plugins.bundle.path:/a/b*.run".parse().unwrap();
    assert_eq!(bare.name(), Some("path:/a/b*"));
    for text in
        ["", "plugins", "plugins.command.serve", "trust.x", "a b", "trust\nx", "plugins.bundle.a/b.run"]
    {
        assert!(text.parse::<SettingKey>().is_err(), "{text}");
    }
}

/// The strict direction of each row of the table, stated a second time.
#[test]
fn the_table_knows_the_strict_direction() {
    for (key, loose, strict) in [
        ("trust", "\"tofu\"", "\"prompt\""),
        ("trust", "\"prompt\"", "\"locked\""),
        ("plugins.enabled", "[\"a\", \"b\"]", "[\"a\"]"),
        ("plugins.disabled", "[\"a\"]", "[\"a\", \"b\"]"),
        ("plugins.auto_install", "true", "false"),
        ("plugins.shutdown_timeout_secs", "5", "4"),
        ("plugins.command.x.install", "true", "false"),
        ("plugins.command.x.run", "\"unattended\"", "\"ask\""),
        ("plugins.command.x.run", "\"ask\"", "\"deny\""),
        ("plugins.bundle.x.run", "\"unattended\"", "\"deny\""),
        ("plugins.approval", "\"off\"", "\"required\""),
        ("plugins.max_risk", "\"CRITICAL\"", "\"HIGH\""),
        ("plugins.max_risk", "\"HIGH\"", "\"MEDIUM\""),
        ("plugins.max_risk", "\"MEDIUM\"", "\"LOW\""),
        ("pins.on_store_error", "\"warn\"", "\"refuse\""),
        ("pins.exclude_vcs", "true", "false"),
        ("limits.tree_files", "20", "10"),
        ("limits.tree_bytes", "20", "10"),
        ("limits.file_bytes", "20", "10"),
        ("limits.tree_depth", "20", "10"),
    ] {
        let (loose, strict) = (format!("{key} = {loose}"), format!("{key} = {strict}"));
        let fate = |user: &str, here: &str| {
            let policy = policy(&[(User, user), (Workspace, here)]);
            policy.resolve(&key.parse().unwrap()).contributions.last().unwrap().fate
        };
        assert_eq!(fate(&loose, &strict), Fate::Used, "{key}");
        assert_eq!(fate(&strict, &loose), Fate::HeldBack, "{key}");
        assert_eq!(fate(&strict, &strict), Fate::Used, "{key}");
    }
}
