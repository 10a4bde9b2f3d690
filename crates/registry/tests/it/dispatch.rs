//! Which file a name leads to, and whether it may run.

use std::os::unix::fs::PermissionsExt as _;

use cap_std::ambient_authority;
use plugward_policy::{Checksum, ChecksumAlgorithm, CommandRules, RunRule};
use plugward_registry::{CommandSource, FoundCommand, PinnedChecksum, RunDecision, SearchPath};

use crate::support::{Home, Memory, UNSET, digest, pin, put, script, sha1};

/// Returns decision, exit code and code of a search.
fn brief(found: &FoundCommand) -> (RunDecision, u8, Option<&'static str>) {
    (found.decision, found.exit(), found.reason.as_ref().map(plugward_registry::RegistryError::code))
}

fn code(home: &Home, words: &[&str]) -> Option<&'static str> {
    brief(&home.find(words).unwrap()).2
}

#[test]
fn the_table() {
    let mut table = String::new();
    for (step, official, install) in [
        ("installed", "official", None),
        ("installed", "third-party", None),
        ("installed", "no receipt", None),
        ("registry", "official", None),
        ("registry", "official", Some(true)),
        ("registry", "official", Some(false)),
        ("registry", "no auto_install", None),
        ("registry", "third-party", None),
        ("registry", "third-party", Some(true)),
        ("registry", "third-party", Some(false)),
        ("path", "", None),
        ("none", "", None),
    ] {
        for run in [None, Some(RunRule::Ask), Some(RunRule::Unattended), Some(RunRule::Deny)] {
            let mut home = Home::new();
            let bytes = script(home.root(), step);
            if step != "path" && step != "none" {
                let more = if official == "third-party" { "" } else { "official" };
                home.list(&[("hi", &bytes, more)]);
            }
            home.auto_install.set(official != "no auto_install");
            if step == "installed" && official != "no receipt" {
                home.set("hi", CommandRules { install: Some(true), ..UNSET });
                home.install("hi", &Memory::of(&bytes)).unwrap();
            }
            match step {
                "installed" if official == "no receipt" => drop(put(&home.file("hi"), &bytes, 0o755)),
                "path" => drop(home.on_path("plugward-hi", &bytes)),
                _ => {}
            }
            home.set("hi", CommandRules { install, run, ..UNSET });
            let found = home.find(&["hi"]).unwrap();
            let rules = format!("{run:?}").replace("Some(", "").replace(')', "").replace("None", "unset");
            let install = install.map_or(String::new(), |install| format!(" install={install}"));
            let (decision, exit, code) = brief(&found);
            let row = format!(
                "{:<40} {:<10} -> {:?} {exit} {}",
                format!("{step} {official}{install}"),
                rules.to_lowercase(),
                decision,
                code.unwrap_or("-")
            );
            table.push_str(&row);
            table.push('\n');
            home.nothing_ran();
        }
    }
    insta::assert_snapshot!("table", table);
}

#[test]
fn a_denied_name_reads_nothing() {
    let mut home = Home::new();
    home.list(&[("hi", b"x", "official")]);
    home.run("hi", RunRule::Deny);
    // Receipts that cannot be read, and a file that nobody could verify.
    std::fs::write(home.plugins().join("receipts.toml"), "not toml").unwrap();
    let found = home.find(&["hi", "--flag"]).unwrap();
    assert_eq!(brief(&found), (RunDecision::Refuse, 5, Some("policy/denied")));
    assert_eq!((found.source, found.id.as_deref()), (CommandSource::None, Some("hi")));
    home.run("hi", RunRule::Ask);
    let error = home.find(&["hi"]).unwrap_err();
    assert_eq!((error.code(), error.exit()), ("registry/receipts", 7));
}

#[test]
fn the_longest_known_name_wins() {
    let mut home = Home::new();
    home.list(&[("serve", b"x", "official"), ("serve web", b"y", "official")]);
    let name = |home: &Home, words: &[&str]| home.find(words).unwrap().name;
    assert_eq!(name(&home, &["serve", "web", "now"]), "serve web");
    assert_eq!(name(&home, &["serve", "file"]), "serve");
    assert_eq!(name(&home, &["serve", "--", "web"]), "serve");
    assert_eq!(name(&home, &["serve", "Web"]), "serve");
    assert_eq!(home.find(&["serve-web"]).unwrap().name, "serve-web", "an id names an entry as well");
    // A longer name on the path wins over a shorter one in the registry.
    home.on_path("plugward-serve-file", b"#!/bin/sh\n");
    let found = home.find(&["serve", "file", "x"]).unwrap();
    assert_eq!((found.name.as_str(), found.source), ("serve file", CommandSource::Path));
    // Five words are never one name.
    home.on_path("plugward-a-b-c-d-e", b"#!/bin/sh\n");
    assert_eq!(home.find(&["a", "b", "c", "d", "e"]).unwrap().source, CommandSource::None);
    // A denial of the shorter name does not apply to the longer one, and the reverse.
    home.run("serve", RunRule::Deny);
    assert_eq!(brief(&home.find(&["serve", "web"]).unwrap()).0, RunDecision::Install);
    assert_eq!(code(&home, &["serve", "other"]), Some("policy/denied"));
    home.run("serve-web", RunRule::Deny);
    assert_eq!(code(&home, &["serve", "web"]), Some("policy/denied"));
    assert!(home.find(&[]).unwrap().reason.is_some());
}

#[test]
fn an_installed_plugin_is_found_without_the_registry() {
    let mut home = Home::new();
    home.list(&[("serve web", b"x", r#", "official": true"#)]);
    let id = home.registry.as_ref().unwrap().named("serve web").unwrap().id.clone();
    home.install("serve web", &Memory::of(b"x")).unwrap();
    home.registry = None;
    let found = home.find(&["serve", "web", "--port"]).unwrap();
    assert_eq!((found.id, found.source), (Some(id), CommandSource::Installed));
    assert_eq!(found.decision, RunDecision::Run);
    // Another registry is configured now, and it did not call the plugin official.
    home.url = None;
    assert_eq!(home.find(&["serve", "web"]).unwrap().decision, RunDecision::Ask);
}

#[test]
fn a_changed_file_is_refused() {
    let mut home = Home::new();
    home.list(&[("hi", b"x", "official")]);
    home.install("hi", &Memory::of(b"x")).unwrap();
    let file = home.file("hi");
    let changed = |home: &Home| assert_eq!(code(home, &["hi"]), Some("registry/changed"));
    assert_eq!(code(&home, &["hi"]), None);
    put(&file, b"y", 0o755);
    changed(&home);
    put(&file, b"x", 0o775);
    changed(&home);
    put(&file, b"x", 0o757);
    changed(&home);
    put(&file, b"x", 0o644);
    changed(&home);
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/bin/sh", &file).unwrap();
    changed(&home);
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    changed(&home);
    std::fs::remove_dir(&file).unwrap();
    // A pipe must not block.
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RWXU).unwrap();
    changed(&home);
    std::fs::remove_file(&file).unwrap();
    put(&file, b"x", 0o755);
    assert_eq!(code(&home, &["hi"]), None);
    assert!(home.find(&["hi"]).unwrap().handle.is_some());
}

#[test]
fn checksums_and_revocations_apply_to_each_file() {
    let home = Home::new();
    home.on_path("plugward-hi", b"x");
    let with = |checksum| home.set("hi", CommandRules { run: Some(RunRule::Unattended), checksum, ..UNSET });
    let found = || home.find(&["hi"]).unwrap();
    with(None);
    assert_eq!((found().checksum, found().exit()), (PinnedChecksum::None, 0));
    with(pin(b"x"));
    assert_eq!((found().checksum, found().exit(), found().notes.len()), (PinnedChecksum::Same, 0, 0));
    with(pin(b"y"));
    assert_eq!((found().checksum, brief(&found()).2), (PinnedChecksum::Differs, Some("policy/checksum")));
    let help = found().reason.unwrap().help();
    assert!(help.ends_with(&format!("plugward pin hi --update {}", digest(b"x"))), "{help}");
    let text = found().reason.unwrap().to_string();
    for part in [digest(b"x").hex(), digest(b"y").hex(), "plugins.command.hi.checksum".to_owned()] {
        assert!(text.contains(&part), "{text}");
    }
    assert!(!text.contains("intact"), "{text}");
    // Any case of the digits, and the weaker algorithm with a note.
    let sha1_of =
        |bytes: &[u8]| Checksum { algorithm: ChecksumAlgorithm::Sha1, value: sha1(bytes).to_uppercase() };
    with(Some(sha1_of(b"x")));
    assert_eq!((found().checksum, found().exit()), (PinnedChecksum::Same, 0));
    assert_eq!(found().notes[0].code(), "policy/weak-algorithm");
    with(Some(sha1_of(b"y")));
    assert_eq!(brief(&found()).1, 4);
    // A revocation wins over a checksum.
    home.revoked.borrow_mut().insert(digest(b"x"));
    assert_eq!((brief(&found()).1, brief(&found()).2), (5, Some("policy/revoked")));
    with(pin(b"x"));
    assert_eq!(brief(&found()).1, 5);
    home.on_path("plugward-hi", b"z");
    with(None);
    assert_eq!(brief(&found()).1, 0);
    // A revocation can have any name of the plugin.
    for (name, exit) in [("hi", 5), ("plugward-hi", 5), ("hi-there", 0)] {
        home.revoked_names.replace(vec![name]);
        assert_eq!(brief(&found()).1, exit, "{name}");
    }
}

#[test]
fn a_file_without_a_receipt_asks_with_a_note() {
    let home = Home::new();
    put(&home.file("hi"), b"x", 0o755);
    let found = home.find(&["hi"]).unwrap();
    assert_eq!((found.decision, found.notes[0].code()), (RunDecision::Ask, "registry/no-receipt"));
    let mut home = Home::new();
    home.list(&[("hi", b"x", "official")]);
    home.install("hi", &Memory::of(b"x")).unwrap();
    assert!(home.find(&["hi"]).unwrap().notes.is_empty());
}

#[test]
fn unsafe_directories_of_the_path_are_skipped() {
    let mut home = Home::new();
    let file = home.on_path("plugward-hi", b"x");
    let found = |home: &Home| home.find(&["hi"]).unwrap().source == CommandSource::Path;
    assert!(found(&home));
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let bin = home.root().join("bin");
    for bad in [0o777, 0o1777, 0o775] {
        mode(&bin, bad);
        assert!(!found(&home), "{bad:o}");
        assert_eq!(code(&home, &["hi"]), Some("registry/writable"));
        assert_eq!(code(&home, &["hey"]), Some("registry/unknown"));
    }
    mode(&bin, 0o755);
    for bad in [0o775, 0o757] {
        mode(&file, bad);
        assert!(!found(&home), "{bad:o}");
        assert_eq!(code(&home, &["hi"]), Some("registry/writable"));
    }
    mode(&file, 0o644);
    assert!(!found(&home), "not executable");
    assert_eq!(code(&home, &["hi"]), Some("registry/unknown"));
    mode(&file, 0o755);
    // Links are followed, as a shell does; a link to nothing and a pipe are skipped.
    let target = put(&home.root().join("target"), b"x", 0o755);
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(&target, &file).unwrap();
    assert!(found(&home));
    std::fs::remove_file(&target).unwrap();
    assert!(!found(&home));
    std::fs::remove_file(&file).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RWXU).unwrap();
    assert!(!found(&home));
    std::fs::remove_file(&file).unwrap();
    // Relative and missing directories are skipped, and the first directory wins.
    let second = home.root().join("second");
    std::fs::create_dir(&second).unwrap();
    put(&second.join("plugward-hi"), b"second", 0o755);
    let second = second.to_str().unwrap().to_owned();
    let bin = bin.to_str().unwrap().to_owned();
    let path = [".", "", "bin", "/none", &bin, &second, &bin].map(str::to_owned);
    home.path = SearchPath::new(path, ambient_authority());
    assert_eq!(home.find(&["hi"]).unwrap().directory, Some(second));
    home.on_path("plugward-hi", b"first");
    assert_eq!(home.find(&["hi"]).unwrap().directory, Some(bin));
    home.on_path("plugward-a_b", b"x");
    home.on_path("other-c", b"x");
    let listed: Vec<String> = home.path.list("plugward").into_iter().map(|one| one.name).collect();
    assert_eq!(listed, ["hi"]);
}

#[test]
fn only_commands_with_an_executable_are_dispatched() {
    let mut home = Home::new();
    home.list(&[
        ("group", b"x", r#", "kind": "command_group""#),
        ("module", b"x", r#", "type": "wasm""#),
        ("later", b"x", r#", "kind": "robot""#),
    ]);
    for name in ["group", "module", "later"] {
        assert_eq!(code(&home, &[name]), Some("registry/kind"), "{name}");
        assert_eq!(home.install(name, &Memory::of(b"x")).unwrap_err().code(), "registry/kind");
    }
    // A group is no command, but the registry lists what is in it.
    home.list(&[
        ("group", b"x", r#", "kind": "command_group""#),
        ("group web", b"y", ""),
        ("groups", b"z", ""),
    ]);
    let error = home.find(&["group"]).unwrap().reason.unwrap();
    assert_eq!(error.help(), "name one of its commands: group web");
    assert_eq!(home.install("group", &Memory::of(b"x")).unwrap_err().help(), error.help());
    home.list(&[("later", b"x", r#", "kind": "robot""#)]);
    assert_eq!(code(&home, &["later", "x"]), Some("registry/kind"), "the words after it are arguments");
    assert_eq!(code(&home, &["late"]), Some("registry/unknown"));
    let text = r#"{"other": {"id": "other", "description": "d"}}"#;
    home.registry = Some(crate::support::parse(text));
    let found = home.find(&["other"]).unwrap();
    assert_eq!(brief(&found), (RunDecision::Refuse, 2, Some("registry/no-binary")));
    home.on_path("plugward-other", b"x");
    assert_eq!(home.find(&["other"]).unwrap().source, CommandSource::Path);
}

#[test]
fn an_unknown_name_suggests_the_nearest() {
    let mut home = Home::new();
    // Without a registry, there is none to list.
    let url = home.url.take();
    let help = home.find(&["xyz"]).unwrap().reason.unwrap().help();
    assert!(help.contains("plugins.registry") && !help.contains("plugward registry list"), "{help}");
    home.url = url;
    home.list(&[("serve", b"x", "")]);
    let found = home.find(&["sevre"]).unwrap();
    assert_eq!(brief(&found), (RunDecision::Refuse, 2, Some("registry/unknown")));
    assert_eq!(found.reason.unwrap().help(), "did you mean `serve`?");
    let found = home.find(&["xyz"]).unwrap();
    assert!(!found.reason.unwrap().help().contains("serve"));
}
