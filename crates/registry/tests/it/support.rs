//! A machine with a plugin directory, a registry, a search path and settings, all in one temporary directory.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use plugward_policy::{Checksum, ChecksumAlgorithm, CommandRules, RunRule};
use plugward_registry::{
    CommandHost, CommandNames, CommandStore, Fetch, FetchFault, FoundCommand, InstallConsent,
    InstalledCommand, Registry, RegistryError, SearchPath, SourceUrl,
};
use plugward_state_file::Owner;
use plugward_types::{Digest, Timestamp, hex};
use sha2::{Digest as _, Sha256};

/// The platform of these tests.
pub(crate) const TARGET: &str = "x86_64-unknown-linux-gnu";
pub(crate) const REGISTRY: &str = "https://registry.example/plugins.json";
pub(crate) const UNSET: CommandRules =
    CommandRules { auto_install: true, install: None, run: None, checksum: None };

pub(crate) fn digest(bytes: &[u8]) -> Digest {
    Digest::from_bytes(Sha256::digest(bytes).into())
}

pub(crate) fn sha1(bytes: &[u8]) -> String {
    hex::encode(&sha1::Sha1::digest(bytes))
}

pub(crate) fn now() -> Timestamp {
    "2026-11-25T12:00:00Z".parse().unwrap()
}

pub(crate) fn us() -> Owner {
    Owner::uid(rustix::process::geteuid().as_raw())
}

pub(crate) fn open(path: &Path) -> Dir {
    Dir::open_ambient_dir(path, ambient_authority()).unwrap()
}

pub(crate) fn pin(bytes: &[u8]) -> Option<Checksum> {
    Some(Checksum { algorithm: ChecksumAlgorithm::Sha256, value: digest(bytes).hex() })
}

/// Supplies the same bytes for each URL and counts the calls.
pub(crate) struct Memory {
    pub(crate) bytes: Vec<u8>,
    pub(crate) announced: Option<u64>,
    pub(crate) calls: Cell<u32>,
}

impl Memory {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let announced = u64::try_from(bytes.len()).ok();
        Self { bytes: bytes.to_vec(), announced, calls: Cell::new(0) }
    }
}

impl Fetch for Memory {
    fn fetch(&self, _: &SourceUrl, sink: &mut dyn Write) -> Result<Option<u64>, FetchFault> {
        self.calls.set(self.calls.get() + 1);
        for piece in self.bytes.chunks(64 << 10) {
            sink.write_all(piece).map_err(|error| FetchFault::Network(error.to_string()))?;
        }
        Ok(self.announced)
    }
}

/// A script that would leave a marker if it were started.
pub(crate) fn script(home: &Path, text: &str) -> Vec<u8> {
    format!("#!/bin/sh\ntouch {}/ran\n# {text}\n", home.display()).into_bytes()
}

pub(crate) struct Home {
    directory: tempfile::TempDir,
    pub(crate) rules: RefCell<BTreeMap<String, CommandRules>>,
    pub(crate) auto_install: Cell<bool>,
    pub(crate) revoked: RefCell<BTreeSet<Digest>>,
    pub(crate) revoked_names: RefCell<Vec<&'static str>>,
    pub(crate) asked_rules: RefCell<Vec<String>>,
    pub(crate) path: SearchPath,
    pub(crate) url: Option<SourceUrl>,
    pub(crate) registry: Option<Registry>,
}

impl Home {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["plugins", "bin", "state"] {
            std::fs::create_dir(directory.path().join(name)).unwrap();
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(directory.path().join(name), mode).unwrap();
        }
        let bin = directory.path().join("bin").to_str().unwrap().to_owned();
        Self {
            path: SearchPath::new([bin], ambient_authority()),
            directory,
            rules: RefCell::default(),
            auto_install: Cell::new(true),
            revoked: RefCell::default(),
            revoked_names: RefCell::default(),
            asked_rules: RefCell::default(),
            url: Some(SourceUrl::parse(REGISTRY).unwrap()),
            registry: None,
        }
    }

    pub(crate) fn root(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn plugins(&self) -> PathBuf {
        self.root().join("plugins")
    }

    /// Returns the file of an installed plugin.
    pub(crate) fn file(&self, id: &str) -> PathBuf {
        self.plugins().join(format!("plugward-{id}"))
    }

    /// Puts an executable on the search path.
    pub(crate) fn on_path(&self, name: &str, bytes: &[u8]) -> PathBuf {
        put(&self.root().join("bin").join(name), bytes, 0o755)
    }

    pub(crate) fn set(&self, id: &str, rules: CommandRules) {
        self.rules.borrow_mut().insert(id.to_owned(), rules);
    }

    pub(crate) fn run(&self, id: &str, run: RunRule) {
        self.set(id, CommandRules { run: Some(run), ..UNSET });
    }

    /// Configures a registry with one entry for each name and its bytes.
    pub(crate) fn list(&mut self, entries: &[(&str, &[u8], &str)]) {
        let rows: Vec<String> =
            entries.iter().map(|(name, bytes, more)| entry(name, &digest(bytes), more)).collect();
        self.registry = Some(parse(&format!("{{{}}}", rows.join(","))));
    }

    /// As [`Self::list`], with an id for all entries.
    pub(crate) fn list_as(&mut self, id: &str, entries: &[(&str, &[u8], &str)]) {
        let own = |name: &str| format!(r#""id": "{}""#, name.replace(' ', "-"));
        let row = |&(name, bytes, more): &(&str, &[u8], &str)| {
            entry(name, &digest(bytes), more).replace(&own(name), &format!(r#""id": "{id}""#))
        };
        let rows: Vec<String> = entries.iter().map(row).collect();
        self.registry = Some(parse(&format!("{{{}}}", rows.join(","))));
    }

    pub(crate) fn store(&self) -> CommandStore {
        CommandStore::open(&open(&self.plugins()), us(), Duration::from_secs(60)).unwrap()
    }

    pub(crate) fn with<R>(&self, use_it: impl FnOnce(&CommandHost<'_>) -> R) -> R {
        let rules = |id: &str| {
            self.asked_rules.borrow_mut().push(id.to_owned());
            let found = self.rules.borrow().get(id).cloned().unwrap_or(UNSET);
            CommandRules { auto_install: self.auto_install.get(), ..found }
        };
        let revoked = |names: &CommandNames<'_>, digest: &Digest| {
            let revoked = self.revoked_names.borrow();
            let is_named = revoked.iter().any(|own| [names.name, names.id, names.file].contains(own));
            (is_named || self.revoked.borrow().contains(digest)).then(|| "steals tokens".to_owned())
        };
        let targets = [TARGET.to_owned()];
        use_it(&CommandHost {
            prefix: "plugward",
            registry: self.url.as_ref(),
            targets: &targets,
            path: &self.path,
            rules: &rules,
            revoked: &revoked,
        })
    }

    pub(crate) fn find(&self, words: &[&str]) -> Result<FoundCommand, RegistryError> {
        self.with(|host| host.find(Some(&self.store()), self.registry.as_ref(), words))
    }

    pub(crate) fn install(&self, name: &str, fetch: &dyn Fetch) -> Result<InstalledCommand, RegistryError> {
        self.install_with(name, fetch, InstallConsent::NotAsked)
    }

    pub(crate) fn install_with(
        &self,
        name: &str,
        fetch: &dyn Fetch,
        consent: InstallConsent,
    ) -> Result<InstalledCommand, RegistryError> {
        let registry = self.registry.as_ref().unwrap();
        self.with(|host| self.store().install(host, registry, name, consent, fetch, now()))
    }

    pub(crate) fn update(&self, id: &str, fetch: &dyn Fetch) -> Result<InstalledCommand, RegistryError> {
        let registry = self.registry.as_ref().unwrap();
        self.with(|host| self.store().update(host, registry, id, fetch, now()))
    }

    pub(crate) fn remove(&self, name: &str) -> Result<InstalledCommand, RegistryError> {
        self.with(|host| self.store().remove(host, name))
    }

    /// The names in the plugin directory, without those of the receipts.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.plugins()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| !name.starts_with("receipts.toml"));
        names.sort();
        names
    }

    /// Fails if one of the scripts was started.
    pub(crate) fn nothing_ran(&self) {
        assert!(!self.root().join("ran").exists(), "a plugin was started");
    }
}

pub(crate) fn put(path: &Path, bytes: &[u8], mode: u32) -> PathBuf {
    std::fs::write(path, bytes).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    path.to_owned()
}

/// One row of `plugins`; `more` has further keys, or is `official` or empty.
pub(crate) fn entry(name: &str, digest: &Digest, more: &str) -> String {
    let id = name.replace(' ', "-");
    let more = if more == "official" { ", \"official\": true" } else { more };
    format!(
        r#""{name}": {{"id": "{id}", "description": "d"{more}, "binaries": {{"{TARGET}": {{"url": "https://registry.example/{id}", "sha256": "{}"}}}}}}"#,
        digest.hex()
    )
}

pub(crate) fn parse(plugins: &str) -> Registry {
    let text = format!(r#"{{"version": 1, "plugins": {plugins}}}"#);
    Registry::parse(text.as_bytes(), &SourceUrl::parse(REGISTRY).unwrap()).unwrap()
}
