//! What every test starts with.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use plugward_pinstore::{
    AgreedAge, Change, CommitReport, Facts, ObservedPlugin, PinCheck, PinOrigin, Pins, ReviewedDigests,
    StoreCheck, Timestamp,
};
use plugward_state_file::{Owner, StateFile};
use plugward_types::{CalledName, Digest, PluginKey, TreeDigest};

pub(crate) const PINS: &str = "plugins.pins.toml";
pub(crate) const LAST_GOOD: &str = "plugins.pins.toml.last-good";

/// A config folder of its own.
#[derive(Debug)]
pub(crate) struct Home {
    pub(crate) directory: tempfile::TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn dir(&self) -> Dir {
        Dir::open_ambient_dir(self.directory.path(), ambient_authority()).unwrap()
    }

    pub(crate) fn owner(&self) -> Owner {
        Owner::uid(self.directory.path().metadata().unwrap().uid())
    }

    pub(crate) fn file(&self) -> StateFile {
        Pins::file(&self.dir(), self.owner()).unwrap()
    }

    pub(crate) fn open(&self) -> (Pins, StoreCheck) {
        Pins::open(&self.file()).unwrap()
    }

    /// Sets the permissions of the pins file.
    pub(crate) fn set_mode(&self, mode: u32) {
        let path = self.directory.path().join("plugins.pins.toml");
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        self.dir().read_to_string(name).unwrap()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        self.dir().write(name, text).unwrap();
        // Whatever the umask of who runs the tests.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(self.directory.path().join(name), mode).unwrap();
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .dir()
            .entries()
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

pub(crate) fn key(text: &str) -> PluginKey {
    text.parse().unwrap()
}

pub(crate) fn called(names: &[&str]) -> BTreeSet<CalledName> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

/// A tree digest that represents a state of a directory.
pub(crate) fn tree(number: u64) -> TreeDigest {
    let mut bytes = [0xab; 32];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    TreeDigest::from_bytes(bytes)
}

pub(crate) fn digest(number: u64) -> Digest {
    Digest::from_bytes(*tree(number).as_bytes())
}

/// The digests of a plugin in a state.
pub(crate) fn facts(number: u64) -> Facts {
    Facts { manifest: [("claude".to_owned(), digest(number))].into(), ..Facts::of_tree(tree(number)) }
}

/// A plugin whose manifest has the name in its key.
pub(crate) fn observed(plugin: &str, facts: &Facts) -> ObservedPlugin {
    let key = key(plugin);
    ObservedPlugin {
        called: [CalledName::new("claude", key.name()).unwrap()].into(),
        key,
        directory: None,
        version: None,
        behaviors: None,
        facts: facts.clone(),
        before: None,
        predecessor: None,
    }
}

pub(crate) fn now() -> Timestamp {
    "2026-11-21T21:48:03Z".parse().unwrap()
}

pub(crate) fn enroll(plugin: &str, facts: &Facts) -> Change {
    enroll_seen(observed(plugin, facts))
}

pub(crate) fn enroll_seen(observed: ObservedPlugin) -> Change {
    Change::Enroll { observed, via: PinOrigin::Tofu, by: None }
}

pub(crate) fn accept(plugin: &str, facts: &Facts, shown: u64, expected: Option<u64>) -> Change {
    Change::Accept {
        observed: observed(plugin, facts),
        shown: ReviewedDigests::of_tree(tree(shown)),
        expected: expected.map(tree),
        recorded: BTreeSet::new(),
        by: Some("anna".to_owned()),
    }
}

pub(crate) fn deny(plugin: &str, seen: Option<u64>) -> Change {
    let names = observed(plugin, &facts(0)).called;
    Change::Deny { key: key(plugin), directory: None, called: names, seen: seen.map(tree), by: None }
}

pub(crate) fn commit(pins: &mut Pins, change: Change) -> CommitReport {
    pins.commit(vec![change], now()).unwrap()
}

pub(crate) fn check(pins: &Pins, plugin: &str, facts: &Facts) -> PinCheck {
    pins.check(&observed(plugin, facts))
}

pub(crate) const SAME: PinCheck = PinCheck::Same { age: AgreedAge::Latest, surface: None };
