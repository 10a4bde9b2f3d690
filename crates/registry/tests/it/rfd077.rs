//! The points of RFD-077 that concern this crate, one test for each.

use plugward_policy::{Checksum, ChecksumAlgorithm, CommandRules, RunRule};
use plugward_registry::{CommandKind, CommandSource, InstallConsent, PinnedChecksum, RunDecision};

use crate::support::{Home, Memory, UNSET, digest, parse, pin, put, script, sha1};

fn decision(home: &Home) -> RunDecision {
    home.find(&["hi"]).unwrap().decision
}

fn listed(more: &str) -> Home {
    let mut home = Home::new();
    home.list(&[("hi", b"x", more)]);
    home
}

#[test]
fn answers_are_not_stored() {
    let home = listed("");
    home.install_with("hi", &Memory::of(b"x"), InstallConsent::Given).unwrap();
    assert_eq!(decision(&home), RunDecision::Ask, "the consent was for the installation");
    home.remove("hi").unwrap();
    assert_eq!(home.install("hi", &Memory::of(b"x")).unwrap_err().code(), "policy/ask");
    let stored = std::fs::read_to_string(home.plugins().join("receipts.toml")).unwrap();
    assert_eq!(stored.trim(), "version = 1");
}

#[test]
fn auto_install() {
    let home = listed("official");
    assert_eq!((decision(&home), home.find(&["hi"]).unwrap().reason.is_none()), (RunDecision::Install, true));
    home.auto_install.set(false);
    let found = home.find(&["hi"]).unwrap();
    assert_eq!(
        (found.decision, found.reason.unwrap().code()),
        (RunDecision::Install, "registry/not-installed")
    );
    // The plugin's own `install` wins over `auto_install`.
    home.set("hi", CommandRules { install: Some(true), ..UNSET });
    assert!(home.find(&["hi"]).unwrap().reason.is_none());
}

#[test]
fn third_party_install() {
    let home = listed("");
    let found = home.find(&["hi"]).unwrap();
    assert_eq!((found.decision, found.reason.unwrap().code()), (RunDecision::Ask, "policy/ask"));
    home.set("hi", CommandRules { install: Some(true), run: Some(RunRule::Unattended), ..UNSET });
    assert!(home.find(&["hi"]).unwrap().reason.is_none());
    home.set("hi", CommandRules { install: Some(false), ..UNSET });
    assert_eq!(home.find(&["hi"]).unwrap().reason.unwrap().code(), "registry/not-installed");
}

#[test]
fn run_values() {
    let home = Home::new();
    home.on_path("plugward-hi", b"x");
    for (run, expected) in [
        (RunRule::Unattended, RunDecision::Run),
        (RunRule::Ask, RunDecision::Ask),
        (RunRule::Deny, RunDecision::Refuse),
    ] {
        home.run("hi", run);
        assert_eq!(decision(&home), expected);
    }
}

#[test]
fn run_default() {
    let home = listed("official");
    home.install("hi", &Memory::of(b"x")).unwrap();
    assert_eq!(decision(&home), RunDecision::Run);
    let home = listed("");
    home.install_with("hi", &Memory::of(b"x"), InstallConsent::Given).unwrap();
    assert_eq!(decision(&home), RunDecision::Ask);
    let home = Home::new();
    home.on_path("plugward-hi", b"x");
    assert_eq!(decision(&home), RunDecision::Ask);
}

#[test]
fn ask_every_time() {
    let home = Home::new();
    home.on_path("plugward-hi", b"x");
    assert_eq!(decision(&home), RunDecision::Ask);
    assert_eq!(decision(&home), RunDecision::Ask);
    assert!(home.names().is_empty(), "nothing is stored");
}

#[test]
fn deny_is_first() {
    let home = listed("official");
    let bytes = script(home.root(), "denied");
    home.on_path("plugward-hi", &bytes);
    put(&home.file("hi"), &bytes, 0o755);
    home.run("hi", RunRule::Deny);
    home.asked_rules.borrow_mut().clear();
    let found = home.find(&["hi"]).unwrap();
    assert_eq!((found.source, found.exit(), found.digest), (CommandSource::None, 5, None));
    assert_eq!(home.install("hi", &Memory::of(b"x")).unwrap_err().code(), "policy/denied");
    home.nothing_ran();
}

#[test]
fn checksum_algorithms() {
    let home = Home::new();
    home.on_path("plugward-hi", b"x");
    for (algorithm, value) in [
        (ChecksumAlgorithm::Sha256, digest(b"x").hex()),
        (ChecksumAlgorithm::Sha256, digest(b"x").hex().to_uppercase()),
        (ChecksumAlgorithm::Sha1, sha1(b"x")),
    ] {
        home.set("hi", CommandRules { checksum: Some(Checksum { algorithm, value }), ..UNSET });
        let found = home.find(&["hi"]).unwrap();
        assert_eq!(found.checksum, PinnedChecksum::Same);
        assert_eq!(found.notes.len(), usize::from(algorithm == ChecksumAlgorithm::Sha1));
    }
}

#[test]
fn replaced_binary() {
    let home = listed("official");
    home.install("hi", &Memory::of(b"x")).unwrap();
    home.set("hi", CommandRules { checksum: pin(b"x"), ..UNSET });
    assert_eq!(decision(&home), RunDecision::Run);
    put(&home.file("hi"), b"replaced", 0o755);
    assert_eq!(home.find(&["hi"]).unwrap().exit(), 4);
    let home = Home::new();
    home.on_path("plugward-hi", b"replaced");
    home.set("hi", CommandRules { checksum: pin(b"x"), run: Some(RunRule::Unattended), ..UNSET });
    assert_eq!(home.find(&["hi"]).unwrap().reason.unwrap().code(), "policy/checksum");
}

#[test]
fn republished_binary() {
    // The registry lists a new file, and the user has pinned the old one.
    let home = listed("official");
    home.set("hi", CommandRules { checksum: pin(b"old"), ..UNSET });
    assert_eq!(home.install("hi", &Memory::of(b"x")).unwrap_err().code(), "policy/checksum");
    assert!(home.names().is_empty());
}

#[test]
fn dispatch_order() {
    let mut home = listed("official");
    let source = |home: &Home| home.find(&["hi"]).unwrap().source;
    home.on_path("plugward-hi", b"path");
    assert_eq!(source(&home), CommandSource::Registry);
    home.install("hi", &Memory::of(b"x")).unwrap();
    assert_eq!(source(&home), CommandSource::Installed);
    home.run("hi", RunRule::Deny);
    assert_eq!(source(&home), CommandSource::None);
    home.run("hi", RunRule::Ask);
    home.remove("hi").unwrap();
    home.registry = None;
    assert_eq!(source(&home), CommandSource::Path);
}

#[test]
fn kind_default() {
    let registry = parse(
        r#"{"a": {"id": "a", "description": "d"}, "b": {"id": "b", "description": "d", "type": "command_group"},
            "c": {"id": "c", "description": "d", "kind": "command", "type": "command"}}"#,
    );
    let kinds: Vec<&CommandKind> = registry.entries().map(|entry| &entry.kind).collect();
    assert_eq!(kinds, [&CommandKind::Command, &CommandKind::Group, &CommandKind::Command]);
}

#[test]
fn unknown_kind() {
    let mut home = listed(r#", "kind": "robot""#);
    let registry = home.registry.as_ref().unwrap();
    assert_eq!(registry.named("hi").unwrap().kind, CommandKind::Other("robot".to_owned()));
    assert!(registry.notes().is_empty(), "it is listed without a complaint");
    assert_eq!(home.find(&["hi"]).unwrap().source, CommandSource::None);
    home.list(&[("hi", b"x", r#", "type": "wasm""#)]);
    assert_eq!(home.find(&["hi"]).unwrap().source, CommandSource::None, "reserved");
}

#[test]
fn update_needs_the_shown_digest() {
    let change = |shown| {
        plugward_registry::pin_change(
            "hi",
            pin(b"old").as_ref(),
            PinnedChecksum::Differs,
            digest(b"x"),
            None,
            shown,
        )
    };
    assert_eq!(change(None).unwrap_err().code(), "registry/pinned");
    assert_eq!(change(Some(digest(b"guess"))).unwrap_err().code(), "registry/pinned");
    assert!(change(Some(digest(b"x"))).is_ok());
}
