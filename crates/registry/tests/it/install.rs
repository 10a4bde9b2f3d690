//! Installing, updating, pinning and removing.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use plugward_policy::{Checksum, ChecksumAlgorithm, CommandRules, RunRule};
use plugward_registry::{CommandStore, InstallConsent, PinChange, PinnedChecksum, RunDecision, pin_change};

use crate::support::{Home, Memory, UNSET, digest, entry, open, pin, put, sha1, us};

/// A machine on which `hi` is listed as official with the bytes `x`.
fn official() -> Home {
    let mut home = Home::new();
    home.list(&[("hi", b"x", "official")]);
    home
}

#[test]
fn an_installed_file_is_executable_and_has_a_receipt() {
    let home = official();
    let fetch = Memory::of(b"x");
    let installed = home.install("hi", &fetch).unwrap();
    assert_eq!((installed.file.as_str(), installed.digest.unwrap()), ("plugward-hi", digest(b"x").hex()));
    assert_eq!(std::fs::read(home.file("hi")).unwrap(), b"x");
    assert_eq!(std::fs::metadata(home.file("hi")).unwrap().permissions().mode() & 0o7777, 0o755);
    let receipts = home.store().receipts().unwrap();
    let [receipt] = receipts.as_slice() else { panic!("{receipts:?}") };
    assert_eq!((receipt.name.as_str(), receipt.official, &receipt.next), ("hi", true, &None));
    assert_eq!(receipt.installed, "2026-11-25T12:00:00Z");
    assert_eq!((home.names(), fetch.calls.get()), (vec!["plugward-hi".to_owned()], 1));
}

#[test]
fn what_is_refused_before_the_download() {
    let home = official();
    let fetch = Memory::of(b"x");
    let refused = |name: &str, code: &str, exit: u8| {
        let error = home.install(name, &fetch).unwrap_err();
        assert_eq!((error.code(), error.exit()), (code, exit), "{error}");
        assert!(!home.file("hi").exists());
    };
    refused("ih", "registry/unknown", 2);
    home.run("hi", RunRule::Deny);
    refused("hi", "policy/denied", 5);
    home.run("hi", RunRule::Ask);
    home.revoked.borrow_mut().insert(digest(b"x"));
    refused("hi", "policy/revoked", 5);
    home.revoked.borrow_mut().clear();
    assert_eq!(fetch.calls.get(), 0);
    home.install("hi", &fetch).unwrap();
    let error = home.install("hi", &fetch).unwrap_err();
    assert_eq!((error.code(), error.exit(), fetch.calls.get()), ("registry/already-installed", 2, 1));
    // A file that someone else put there is not replaced.
    let home = official();
    put(&home.file("hi"), b"mine", 0o755);
    let error = home.install("hi", &fetch).unwrap_err();
    assert_eq!(error.code(), "registry/already-installed");
    // An update would not replace it, either, so both name the command that makes way.
    let registry = home.registry.clone().unwrap();
    let update = home.with(|host| home.store().outdated(host, &registry, Some("hi"))).unwrap_err();
    for error in [error, update] {
        assert!(error.help().ends_with("plugward remove hi"), "{}: {}", error, error.help());
    }
    assert_eq!(std::fs::read(home.file("hi")).unwrap(), b"mine");
}

#[test]
fn a_third_party_plugin_needs_consent() {
    let mut home = Home::new();
    home.list(&[("hi", b"x", "")]);
    let fetch = Memory::of(b"x");
    let error = home.install("hi", &fetch).unwrap_err();
    assert_eq!((error.code(), error.exit(), fetch.calls.get()), ("policy/ask", 3, 0));
    assert!(error.help().contains("plugins.command.hi.install = true"), "{}", error.help());
    home.install_with("hi", &fetch, InstallConsent::Given).unwrap();
    home.remove("hi").unwrap();
    home.set("hi", CommandRules { install: Some(true), ..UNSET });
    home.install("hi", &fetch).unwrap();
}

#[test]
fn required_plugins_come_first() {
    let mut home = Home::new();
    home.list(&[
        ("hi", b"x", r#", "official": true, "requires": ["serve web", "other"]"#),
        ("other", b"x", "official"),
    ]);
    let error = home.install("hi", &Memory::of(b"x")).unwrap_err();
    assert_eq!((error.code(), error.exit()), ("registry/requires", 2));
    assert!(error.to_string().contains("serve web, other"), "{error}");
    home.on_path("plugward-serve-web", b"x");
    let error = home.install("hi", &Memory::of(b"x")).unwrap_err();
    assert!(!error.to_string().contains("serve web"), "{error}");
    home.install("other", &Memory::of(b"x")).unwrap();
    home.install("hi", &Memory::of(b"x")).unwrap();
}

#[test]
fn a_wrong_download_leaves_nothing() {
    let home = official();
    let failed = |fetch: &Memory, code: &str, exit: u8| {
        let error = home.install("hi", fetch).unwrap_err();
        assert_eq!((error.code(), error.exit()), (code, exit), "{error}");
        assert!(home.names().is_empty(), "{:?}", home.names());
        assert!(home.store().receipts().unwrap().is_empty());
    };
    failed(&Memory::of(b"y"), "registry/digest", 4);
    failed(&Memory::of(b""), "registry/digest", 4);
    failed(&Memory { announced: Some(2), ..Memory::of(b"x") }, "registry/length", 1);
    failed(&Memory { announced: Some(0), ..Memory::of(b"x") }, "registry/length", 1);
    home.set("hi", CommandRules { checksum: pin(b"pinned"), ..UNSET });
    let error = home.install("hi", &Memory::of(b"x")).unwrap_err();
    assert!(
        error.to_string().contains("the download is intact, but it is not the file you pinned"),
        "{error}"
    );
    failed(&Memory::of(b"x"), "policy/checksum", 4);
    let value = sha1(b"pinned");
    let checksum = Some(Checksum { algorithm: ChecksumAlgorithm::Sha1, value });
    home.set("hi", CommandRules { checksum, ..UNSET });
    failed(&Memory::of(b"x"), "policy/checksum", 4);
    home.set("hi", CommandRules { checksum: pin(b"x"), ..UNSET });
    home.install("hi", &Memory { announced: None, ..Memory::of(b"x") }).unwrap();
}

#[test]
fn a_download_above_the_limit_ends() {
    struct Endless;
    impl plugward_registry::Fetch for Endless {
        fn fetch(
            &self,
            _: &plugward_registry::SourceUrl,
            sink: &mut dyn std::io::Write,
        ) -> Result<Option<u64>, plugward_registry::FetchFault> {
            let piece = vec![0; 8 << 20];
            // A source that goes on after an error is ended by the limit all the same.
            (0..64).for_each(|_| drop(sink.write_all(&piece)));
            Ok(None)
        }
    }
    let home = official();
    let error = home.install("hi", &Endless).unwrap_err();
    assert_eq!((error.code(), error.exit()), ("registry/too-large", 1));
    assert!(home.names().is_empty());
}

#[test]
fn an_update_replaces_the_file() {
    let mut home = official();
    home.install("hi", &Memory::of(b"x")).unwrap();
    let outdated = |home: &Home, name| {
        let registry = home.registry.clone().unwrap();
        home.with(|host| home.store().outdated(host, &registry, name))
    };
    assert!(outdated(&home, None).unwrap().is_empty());
    home.list(&[("hi", b"newer", "official"), ("b", b"b", "official")]);
    let update = outdated(&home, Some("hi")).unwrap().remove(0).unwrap();
    assert_eq!((update.from, update.to), (digest(b"x").hex(), digest(b"newer")));
    assert_eq!(outdated(&home, Some("b")).unwrap_err().code(), "registry/not-installed");
    assert_eq!(home.update("b", &Memory::of(b"b")).unwrap_err().code(), "registry/not-installed");
    // A changed file is named instead, whether there is an update or not.
    put(&home.file("hi"), b"evil", 0o755);
    let changed = outdated(&home, None).unwrap().remove(0).unwrap_err();
    assert_eq!(changed.code(), "registry/changed");
    put(&home.file("hi"), b"x", 0o775);
    assert!(outdated(&home, None).unwrap()[0].is_err());
    put(&home.file("hi"), b"x", 0o755);
    // So is one that the registry lists no more.
    let listed = home.registry.take();
    home.list(&[("b", b"b", "official")]);
    let delisted = outdated(&home, None).unwrap().remove(0).unwrap_err();
    assert_eq!((delisted.code(), delisted.exit()), ("registry/delisted", 3));
    assert!(delisted.to_string().starts_with("hi is installed"), "{delisted}");
    home.registry = listed;
    // A wrong download keeps the old version working.
    for wrong in [Memory::of(b"x"), Memory { announced: Some(9), ..Memory::of(b"newer") }] {
        home.update("hi", &wrong).unwrap_err();
        assert_eq!(home.find(&["hi"]).unwrap().decision, RunDecision::Run);
        assert_eq!(home.names(), ["plugward-hi"]);
    }
    home.update("hi", &Memory::of(b"newer")).unwrap();
    assert_eq!(std::fs::read(home.file("hi")).unwrap(), b"newer");
    assert_eq!(home.find(&["hi"]).unwrap().decision, RunDecision::Run);
    assert_eq!(home.store().receipts().unwrap()[0].next, None);
}

#[test]
fn a_pin_stops_an_update() {
    let mut home = official();
    home.install("hi", &Memory::of(b"x")).unwrap();
    home.list(&[("hi", b"newer", "official")]);
    let fetch = Memory::of(b"newer");
    home.set("hi", CommandRules { checksum: pin(b"x"), ..UNSET });
    let error = home.update("hi", &fetch).unwrap_err();
    assert_eq!((error.code(), error.exit(), fetch.calls.get()), ("registry/pinned", 4, 0));
    let command = format!("plugward pin hi --update {}", digest(b"newer"));
    assert!(error.help().contains(&command), "{}", error.help());
    let sha1 = Checksum { algorithm: ChecksumAlgorithm::Sha1, value: sha1(b"x") };
    home.set("hi", CommandRules { checksum: Some(sha1), ..UNSET });
    assert_eq!(home.update("hi", &fetch).unwrap_err().code(), "registry/pinned");
    assert_eq!(home.find(&["hi"]).unwrap().decision, RunDecision::Run);
    home.set("hi", CommandRules { checksum: pin(b"newer"), ..UNSET });
    home.update("hi", &fetch).unwrap();
}

#[test]
fn another_registry_does_not_update() {
    let mut home = official();
    home.install("hi", &Memory::of(b"x")).unwrap();
    let url = plugward_registry::SourceUrl::parse("https://other.example/r.json").unwrap();
    let text = format!(r#"{{"version": 1, "plugins": {{{}}}}}"#, entry("hi", &digest(b"y"), ""));
    home.registry = Some(plugward_registry::Registry::parse(text.as_bytes(), &url).unwrap());
    assert_eq!(home.update("hi", &Memory::of(b"y")).unwrap_err().code(), "registry/not-installed");
}

#[test]
fn removing() {
    let home = official();
    let error = home.remove("hi").unwrap_err();
    assert_eq!((error.code(), &*error.help()), ("registry/not-installed", "no command plugin is installed"));
    assert_eq!(home.remove("../bin/x").unwrap_err().code(), "registry/not-installed");
    home.install("hi", &Memory::of(b"x")).unwrap();
    assert_eq!(home.remove("ih").unwrap_err().help(), "name an installed plugin: hi");
    put(&home.file("hi"), b"changed", 0o755);
    home.remove("hi").unwrap();
    assert!(home.names().is_empty() && home.store().receipts().unwrap().is_empty());
    // A file without a receipt is removed as well.
    put(&home.file("hi"), b"mine", 0o755);
    assert_eq!(home.remove("hi").unwrap().digest, None);
    assert!(home.names().is_empty());
}

#[test]
fn a_pin_changes_only_to_the_shown_digest() {
    let (old, new, other) = (digest(b"old"), digest(b"new"), digest(b"other"));
    let change = |pinned: &Option<Checksum>, check, offered, shown| {
        pin_change("hi", pinned.as_ref(), check, new, offered, shown).map_err(|error| error.code())
    };
    assert_eq!(change(&None, PinnedChecksum::None, None, None), Ok(PinChange::Write(new)));
    assert_eq!(change(&pin(b"new"), PinnedChecksum::Same, None, None), Ok(PinChange::Unchanged));
    assert_eq!(change(&pin(b"old"), PinnedChecksum::Differs, None, None), Err("registry/pinned"));
    assert_eq!(change(&pin(b"old"), PinnedChecksum::Differs, None, Some(new)), Ok(PinChange::Write(new)));
    assert_eq!(
        change(&pin(b"old"), PinnedChecksum::Differs, Some(other), Some(other)),
        Ok(PinChange::Write(other))
    );
    assert_eq!(change(&pin(b"old"), PinnedChecksum::Differs, None, Some(other)), Err("registry/pinned"));
    assert_eq!(change(&pin(b"old"), PinnedChecksum::Differs, Some(other), Some(old)), Err("registry/pinned"));
    assert_eq!(change(&None, PinnedChecksum::None, None, Some(other)), Err("registry/pinned"));
    let weak = Some(Checksum { algorithm: ChecksumAlgorithm::Sha1, value: sha1(b"new") });
    assert_eq!(change(&weak, PinnedChecksum::Same, None, None), Ok(PinChange::Write(new)));
}

#[test]
fn another_process_with_the_lock_is_waited_for_and_reported() {
    let home = official();
    let file = plugward_state_file::StateFile::at(
        &open(&home.plugins()),
        "receipts.toml",
        1 << 20,
        us(),
        plugward_state_file::Backup::None,
    )
    .unwrap();
    let lock = file.lock(Duration::ZERO).unwrap();
    let store = CommandStore::open(&open(&home.plugins()), us(), Duration::ZERO).unwrap();
    let registry = home.registry.as_ref().unwrap();
    let install = || {
        home.with(|host| {
            let now = crate::support::now();
            store.install(host, registry, "hi", InstallConsent::NotAsked, &Memory::of(b"x"), now)
        })
    };
    let error = install().unwrap_err();
    assert_eq!((error.code(), error.exit()), ("state/held", 1));
    drop(lock);
    install().unwrap();
}

/// The order of JP: write the file, then compare it.
#[test]
fn comparing_after_the_file_has_its_name_leaves_a_bad_file() {
    let home = official();
    let bad = b"not what the registry lists";
    // As JP does it. A crash or a kill between the two lines leaves the file where the next run finds it.
    put(&home.file("jp"), bad, 0o755);
    let differs = digest(&std::fs::read(home.file("jp")).unwrap()) != digest(b"x");
    assert!(differs && home.file("jp").exists());
    std::fs::remove_file(home.file("jp")).unwrap();

    // Here the name does not exist at any moment of the download.
    struct Watching<'a>(&'a Home, Memory);
    impl plugward_registry::Fetch for Watching<'_> {
        fn fetch(
            &self,
            url: &plugward_registry::SourceUrl,
            sink: &mut dyn std::io::Write,
        ) -> Result<Option<u64>, plugward_registry::FetchFault> {
            let announced = self.1.fetch(url, sink);
            assert_eq!(self.0.names(), [".stage-hi"]);
            let mode = std::fs::metadata(self.0.plugins().join(".stage-hi")).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o600, "nobody can execute it yet");
            announced
        }
    }
    assert_eq!(home.install("hi", &Watching(&home, Memory::of(bad))).unwrap_err().code(), "registry/digest");
    assert!(home.names().is_empty());
}

#[test]
fn a_revoked_plugin_is_not_updated_under_another_name() {
    for (revoked, code) in [("serve web", Some("policy/revoked")), ("serve", None)] {
        let mut home = Home::new();
        home.list_as("web", &[("serve web", b"x", "official")]);
        home.install("serve web", &Memory::of(b"x")).unwrap();
        home.list_as("web", &[("serve site", b"newer", "official")]);
        home.revoked_names.borrow_mut().push(revoked);
        let updated = home.update("web", &Memory::of(b"newer"));
        assert_eq!(updated.map_err(|error| error.code()).err(), code, "{revoked}");
    }
}

#[test]
fn an_entry_that_is_ignored_is_named() {
    let home = official();
    home.install("hi", &Memory::of(b"x")).unwrap();
    let second = entry("ho", &digest(b"x"), "").replace(r#""id": "ho""#, r#""id": "hi""#);
    let of_id = |id: &str| entry("hi", &digest(b"x"), "").replace(r#""id": "hi""#, &format!(r#""id": {id}"#));
    for (rows, code, text) in [
        (of_id("1"), "registry/entry", "hi cannot be updated: an entry of the registry is ignored"),
        (format!("{},{second}", of_id(r#""hi""#)), "registry/entry", "another entry has the id `hi`"),
        (entry("hi", &digest(b"x"), r#", "kind": "command_group""#), "registry/kind", "command_group"),
        // The ignored entry of another plugin is not about this one.
        (r#""hit": {"id": 1}"#.to_owned(), "registry/delisted", "does not list it"),
    ] {
        let registry = crate::support::parse(&format!("{{{rows}}}"));
        let found = home.with(|host| home.store().outdated(host, &registry, None)).unwrap().remove(0);
        let error = found.unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn a_file_of_the_user_is_removed_by_its_id() {
    let mut home = Home::new();
    home.list_as("web", &[("serve web", b"x", "official")]);
    put(&home.file("web"), b"mine", 0o755);
    let error = home.install("serve web", &Memory::of(b"x")).unwrap_err();
    assert_eq!(error.code(), "registry/already-installed");
    assert!(error.help().ends_with("plugward remove web"), "{}", error.help());
    home.remove("web").unwrap();
    home.install("serve web", &Memory::of(b"x")).unwrap();
}
