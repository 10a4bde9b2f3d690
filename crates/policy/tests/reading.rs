//! Reading settings: every fault with its place, and hostile input.

#![expect(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    reason = "helpers of tests stop if they cannot set up"
)]

use std::sync::Arc;

use plugward_policy::{
    LaunchAccess, LaunchEnforcement, LayerKind, SettingId, SettingsError, SettingsLayer, TrustPolicy,
};

fn read(kind: LayerKind, text: &str) -> Result<SettingsLayer, SettingsError> {
    SettingsLayer::parse(kind, "config.toml", text.as_bytes())
}

/// Returns `line:column message [help]` for each fault.
fn faults(kind: LayerKind, text: &str) -> Vec<String> {
    let Err(error) = read(kind, text) else { return Vec::new() };
    assert_eq!(error.code(), "policy/settings");
    core::iter::once(error.first())
        .chain(error.rest())
        .map(|fault| {
            let place = &fault.origin;
            assert_eq!(place.file, "config.toml");
            assert_eq!(
                fault.source,
                text.split('\n').nth(place.line as usize - 1).unwrap().trim_end_matches('\r')
            );
            format!("{}:{} {} [{}]", place.line, place.column, fault.message, fault.help)
        })
        .collect()
}

#[test]
fn each_fault_has_its_place_and_the_nearest_name() {
    for (text, expected) in [
        (
            "trust = \"Locked\"\n",
            "1:9 unknown variant `Locked`, expected one of `tofu`, `prompt`, `locked` [did you mean `locked`?]",
        ),
        ("trust = locked\n", "1:9 expected a string in quotes [write the value in quotes]"),
        (
            "trusted = 1",
            "1:1 unknown field `trusted`, expected one of `trust`, `plugins`, `pins`, `limits`, `lock`, `scan`, `hooks`, `launch`, `capability`, `audit`, `hosts`, `workspaces`, `final` [did you mean `trust`?]",
        ),
        (
            "plugins.command.hi.rum = \"ask\"",
            "1:20 unknown field `rum`, expected one of `install`, `run`, `checksum`, `options` [did you mean `run`?]",
        ),
        (
            "plugins.command.Hi.run = \"ask\"",
            "1:17 `Hi` is not the id of a command plugin [write 1 to 64 of a-z, 0-9, _ and -, first a letter or digit]",
        ),
        (
            "plugins.bundle.\"a*b\".run = \"ask\"",
            "1:16 `a*b` is not a selector: `*` is for the end of a text [write a key (`host:name@market`, `path:/directory`), a name, or text and `*`]",
        ),
        ("plugins.auto_install = 1", "1:24 expected `true` or `false` [write true or false, without quotes]"),
        ("plugins.shutdown_timeout_secs = 65536", "1:33 expected a number from 0 to 65535 [fix the number]"),
        ("plugins.prefix = \"9x\"", "1:18 `9x` is not a prefix [write a-z and 0-9, first a letter]"),
        ("plugins.registry = { link = \"x\" }", "1:20 missing field `url` [add `url`]"),
        ("plugins = 1", "1:11 expected a table for `plugins` [write a key after it]"),
        ("plugins.enabled = \"a\"", "1:19 expected a list of strings [write it in brackets: [\"…\"]]"),
        (
            "plugins.enabled = [\"\"]",
            "1:20 `` is not a selector: `*` is for the end of a text [write a key (`host:name@market`, `path:/directory`), a name, or text and `*`]",
        ),
        ("lock.signers = [{ key = \"x\" }]", "1:17 missing field `ids` [add `ids`]"),
        ("[[launch.grants]]\nread = [\"/a\"]", "1:1 missing field `plugin` [add `plugin`]"),
        (
            "[[launch.grants]]\nplugin = \"a\"\nread = \"/a\"",
            "3:8 expected a list of strings [write it in brackets: [\"…\"]]",
        ),
        (
            "[[capability.budgets]]\nkind = \"net-connect\"\nmax_uses = \"3\"",
            "3:12 expected a number from 0 to 9223372036854775807 [write it without quotes]",
        ),
        (
            "plugins.command.a.checksum.value = \"12\"",
            "1:36 expected 64 hex digits of sha256 [write the digest that `plugward pin` prints]",
        ),
        (
            "plugins.command.a.options = 1",
            "1:29 expected a table for `plugins.command.a.options` [write a key after it]",
        ),
        (
            "[workspaces.rel]\ntrust = \"tofu\"",
            "1:13 invalid path of a plugin: expected an absolute path without `.`, `..` or empty parts [write it as an absolute path without `.`, `..` or empty parts]",
        ),
        (
            "[workspaces.\"/a\"]\nplugins.prefix = \"x\"",
            "2:9 `plugins.prefix` cannot be set for one directory [set it outside of `workspaces`]",
        ),
        (
            "final = [\"trust\"]",
            "1:1 `final` can only be set in the managed file [ask your administrator, or remove it]",
        ),
        ("a = 1\na = 2", "2:1 duplicate key [fix the line]"),
    ] {
        let found = faults(LayerKind::User, text);
        assert!(found.iter().any(|one| one == expected), "{text}\n{found:#?}\n{expected}");
    }
    let managed = "trust = \"locked\"\nfinal = [\"plugins.approval\", \"lock.signers\", \"turst\"]";
    assert_eq!(
        faults(LayerKind::Managed, managed).len(),
        3,
        "a fixed key needs a value, and only keys of repositories can be fixed"
    );
    assert!(faults(LayerKind::Managed, "trust = \"locked\"\nfinal = [\"trust\"]").is_empty());
}

#[test]
fn all_faults_are_reported_in_the_order_of_the_text() {
    let text = "turst = \"tofu\"\n[plugins]\naproval = \"off\"\nmax_risk = 3\n[pins]\nexclude_vcs = \"x\"\n";
    let places: Vec<_> = faults(LayerKind::Local, text).iter().map(|one| one[..3].to_owned()).collect();
    assert_eq!(places, ["1:1", "3:1", "4:1", "6:1"]);
    let broken = "a = [\nb = \n[[c\n";
    assert!(faults(LayerKind::User, broken).len() >= 2, "{:?}", faults(LayerKind::User, broken));
}

#[test]
fn columns_count_characters_and_lines_end_with_lf_or_crlf() {
    for (text, place) in [
        ("# é漢\r\ntrust = \"x\"\r\n", "2:9 "),
        ("plugins.bundle.\"漢字é\".rum = \"ask\"", "1:22 "),
        ("plugins.bundle.\"🎉\".run = \"x\"", "1:26 "),
        ("# one\r two is not a line end of TOML\ntrust = 1", "1:"),
    ] {
        let found = faults(LayerKind::User, text);
        assert!(found[0].starts_with(place), "{text:?}: {found:?}");
    }
}

#[test]
fn keys_of_other_layers_are_errors_for_users_and_notes_for_repositories() {
    for (kind, text, is_good) in [
        (LayerKind::User, "plugins.prefix = \"x\"", true),
        (LayerKind::Workspace, "plugins.prefix = \"x\"", true),
        (LayerKind::Workspace, "final = [\"trust\"]", true),
        (LayerKind::Workspace, "[workspaces.\"/a\"]\ntrust = \"tofu\"", true),
        (LayerKind::Workspace, "plugins.prefix = 1", false),
        (LayerKind::Managed, "lock.signers = []", true),
    ] {
        assert_eq!(read(kind, text).is_ok(), is_good, "{text}");
    }
    let assigned = |row: &str| SettingsLayer::assignments(LayerKind::Cli, "--cfg", &[row]);
    assert!(assigned("plugins.prefix=x").is_err());
    assert!(assigned("final=[\"trust\"]").is_err());
    assert!(assigned("lock.signers=[]").is_ok());
}

#[test]
fn assignments_split_at_the_first_equals_sign_outside_quotes() {
    for (row, is_good) in [
        ("trust=locked", true),
        (" trust = \"locked\" ", true),
        ("plugins.bundle.\"path:/a=b\".run=deny", true),
        ("plugins.bundle.'path:/a=b'.run=deny", true),
        ("plugins.bundle.\"path:/a\\\"=b\".run=deny", true),
        ("plugins.command.hi.options.query=a=b", true),
        ("trust", false),
        ("turst=tofu", false),
        ("plugins.bundle.\"a=b.run=deny", false),
        ("", true),
    ] {
        let read = SettingsLayer::assignments(LayerKind::Cli, "--cfg", &["plugins.approval=off", row]);
        assert_eq!(read.is_ok(), is_good, "{row}: {read:?}");
    }
    let error =
        SettingsLayer::assignments(LayerKind::Env, "PLUGWARD_CFG", &["trust=tofu", " trust = lokced"]);
    let error = error.unwrap_err();
    assert_eq!((error.first().origin.line, error.first().origin.column), (2, 10));
    assert_eq!(error.first().help, "did you mean `locked`?");
}

#[test]
fn size_depth_and_encoding_are_bounded() {
    let limit = usize::try_from(SettingsLayer::LIMIT).unwrap();
    let of = |len: usize| format!("#{}", "x".repeat(len - 1));
    assert!(read(LayerKind::User, &of(limit)).is_ok());
    assert!(read(LayerKind::User, &of(limit + 1)).is_err());
    let nested =
        |levels: usize| format!("plugins.command.a.options.x = {}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(read(LayerKind::User, &nested(79)).is_ok());
    assert!(read(LayerKind::User, &nested(81)).is_err());
    assert!(read(LayerKind::User, &format!("plugins.command.a.options.{}x = 1", "x.".repeat(90))).is_err());
    let error = SettingsLayer::parse(LayerKind::Local, "f", b"trust = \"tofu\"\n# \xff").unwrap_err();
    assert_eq!((error.first().origin.line, error.first().origin.column), (2, 3));
    // One fault per line, which is more than anyone can fix at once.
    let many = read(LayerKind::User, &"x y\n".repeat(250_000)).unwrap_err();
    assert!(many.rest().len() < 100);
    let many =
        read(LayerKind::User, &(0..60_000).fold(String::new(), |text, n| text + &format!("k{n} = 1\n")))
            .unwrap_err();
    assert_eq!(many.rest().len(), 99);
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "[a-z.=\\[\\]{}\"'#\\n*é:/0-9 ]{0,200}") {
        for kind in [LayerKind::Managed, LayerKind::Local] {
            if let Ok(layer) = read(kind, &text) {
                let policy = TrustPolicy::new([Arc::new(layer)], []);
                let _settings = (policy.settings(), policy.notes());
            }
        }
        let rows: Vec<&str> = text.lines().collect();
        let _read = SettingsLayer::assignments(LayerKind::Env, "PLUGWARD_CFG", &rows).is_ok();
    }
}

#[test]
fn a_word_without_quotes_is_called_one() {
    for word in ["tofu", "nope", "forever", "inform", "locked"] {
        let error = read(LayerKind::User, &format!("trust = {word}\n")).unwrap_err();
        assert_eq!(error.first().message, "expected a string in quotes", "{word}");
    }
}

#[test]
fn rows_have_texts_lists_and_numbers() {
    let text = "[[launch.grants]]\nplugin = \"claude:db@acme\"\nread = [\"~/notes\"]\n\
                [[capability.budgets]]\nkind = \"net-connect\"\nmax_uses = 3\n";
    let policy = TrustPolicy::new([Arc::new(read(LayerKind::User, text).unwrap())], []);
    let (_, grants) = policy.rows(SettingId::LaunchGrants).unwrap();
    assert_eq!(grants[0].texts("read")[0].text, "~/notes");
    assert!(grants[0].texts("write").is_empty());
    let (_, budgets) = policy.rows(SettingId::Budgets).unwrap();
    assert_eq!(budgets[0].text("max_uses").unwrap().text, "3");
    let shown = policy.value(SettingId::Budgets).unwrap().as_written();
    assert_eq!(shown, "[{ kind = \"net-connect\", max_uses = 3 }]");
}

/// A repository can limit programs, but neither grant them anything nor lower what the user requires.
#[test]
fn a_repository_only_tightens_starts() {
    let layer = |kind, text| Arc::new(read(kind, text).unwrap());
    let repository = "launch.access = \"none\"\nlaunch.enforce = \"best-effort\"\n\
                      [[launch.grants]]\nplugin = \"a\"\nread = [\"/\"]\n";
    let policy = TrustPolicy::new([layer(LayerKind::Workspace, repository)], []);
    assert_eq!(policy.launch_access(), LaunchAccess::None);
    assert_eq!(policy.launch_enforcement(), LaunchEnforcement::Require);
    assert!(policy.rows(SettingId::LaunchGrants).is_none());
    let codes: Vec<_> = policy.notes().iter().map(|note| note.code).collect();
    assert_eq!(codes, ["policy/held-back", "policy/not-from-repository"]);
    // The user can lower it, and the repository can then raise it again.
    let lower = layer(LayerKind::User, "launch.enforce = \"best-effort\"");
    let raise = layer(LayerKind::Workspace, "launch.enforce = \"require\"");
    let enforced = |layers: &[_]| TrustPolicy::new(layers.iter().cloned(), []).launch_enforcement();
    assert_eq!(enforced(&[Arc::clone(&lower)]), LaunchEnforcement::BestEffort);
    assert_eq!(enforced(&[lower, raise]), LaunchEnforcement::Require);
}
