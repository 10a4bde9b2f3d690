//! Installs, updates and removes command plugins.

use plugward_policy::{Checksum, ChecksumAlgorithm, CommandRules};
use plugward_sandbox_path::{Perm, RenameMode};
use plugward_state_file::FileLock;
use plugward_types::{Digest, Timestamp, nearest};

use crate::download::{BINARY_BYTES, Fetch, download};
use crate::error::{RegistryError, RegistryErrorKind};
use crate::host::{CommandHost, CommandNames};
use crate::names::is_command_id;
use crate::registry::{CommandBinary, CommandKind, Registry, RegistryEntry};
use crate::store::{CommandStore, InstallReceipt, STAGE, open_failed};
use crate::verify::{FileHasher, HashingFile, PinnedChecksum};

/// Whether the user agreed to the installation of a third-party plugin. The answer is not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the user agreed or was not asked")]
pub enum InstallConsent {
    /// The user was not asked.
    NotAsked,
    /// The user agreed.
    Given,
}

/// A plugin that was installed, updated or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the facts that a host shows")]
pub struct InstalledCommand {
    /// The command name.
    pub name: String,
    /// The id.
    pub id: String,
    /// The file name.
    pub file: String,
    /// The digest of the file; `None` if a removed file did not have a receipt.
    pub digest: Option<String>,
}

/// An installed plugin for which the registry lists another file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the facts that a host shows")]
pub struct AvailableUpdate {
    /// The command name.
    pub name: String,
    /// The id.
    pub id: String,
    /// The hex digits of the installed file's SHA-256.
    pub from: String,
    /// The digest that the registry lists.
    pub to: Digest,
}

/// The change of a pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "every host must handle each change")]
pub enum PinChange {
    /// Write this SHA-256 into the user's settings.
    Write(Digest),
    /// The settings contain it already.
    Unchanged,
}

/// Decides which digest `pin` writes for a file with the SHA-256 `file`.
///
/// `shown` is the digest that the user repeats to replace an existing pin. It must be that of the file, or that of
/// `offered`, which the registry lists.
///
/// # Errors
/// `registry/pinned` if another digest is pinned and `shown` is missing, or if `shown` is neither of the two.
pub fn pin_change(
    name: &str,
    pinned: Option<&Checksum>,
    check: PinnedChecksum,
    file: Digest,
    offered: Option<Digest>,
    shown: Option<Digest>,
) -> Result<PinChange, RegistryError> {
    let refused = |offered| {
        let pinned = pinned
            .cloned()
            .unwrap_or(Checksum { algorithm: ChecksumAlgorithm::Sha256, value: "nothing".to_owned() });
        Err(RegistryErrorKind::Pinned { name: name.to_owned(), pinned, offered }.into())
    };
    match (shown, check) {
        (Some(shown), _) if shown == file || Some(shown) == offered => Ok(PinChange::Write(shown)),
        (Some(_), _) => refused(offered.unwrap_or(file)),
        (None, PinnedChecksum::Differs) => refused(file),
        (None, PinnedChecksum::Same)
            if pinned.is_some_and(|pin| pin.algorithm == ChecksumAlgorithm::Sha256) =>
        {
            Ok(PinChange::Unchanged)
        }
        // A SHA-1 pin that matches is replaced by the stronger digest of the same file.
        (None, PinnedChecksum::None | PinnedChecksum::Same) => Ok(PinChange::Write(file)),
    }
}

/// What both operations have checked before the download.
struct Download<'a> {
    host: &'a CommandHost<'a>,
    fetch: &'a dyn Fetch,
    binary: &'a CommandBinary,
    rules: CommandRules,
    /// The receipt of the new file.
    receipt: InstallReceipt,
    /// The receipt of the file that is replaced.
    old: Option<InstallReceipt>,
}

impl CommandStore {
    /// Installs the plugin with a command name or id.
    ///
    /// # Errors
    /// `policy/denied`, `policy/revoked`, `registry/unknown`, `/kind`, `/no-binary`, `/already-installed`, `/requires`, and
    /// `policy/ask` for a third-party plugin without consent; those of the download; `registry/digest`,
    /// `policy/checksum`; `registry/disk`, `registry/receipts` and those of the file lock.
    ///
    /// # Guarantees
    /// After an error or a crash there is no file of the plugin's name. After `Ok` it is synced with its directory.
    pub fn install(
        &self,
        host: &CommandHost<'_>,
        registry: &Registry,
        name: &str,
        consent: InstallConsent,
        fetch: &dyn Fetch,
        now: Timestamp,
    ) -> Result<InstalledCommand, RegistryError> {
        let entry = known(registry, name)?;
        let rules = allowed(host, registry, entry)?;
        let lock = self.lock()?;
        let receipts = self.recover(&lock)?;
        let file = host.file_name(&entry.id);
        if self.exists(&file) {
            let url = registry.url().as_str();
            let is_ours = |receipt: &InstallReceipt| receipt.file == file && receipt.registry == url;
            let error = if receipts.iter().any(is_ours) {
                RegistryErrorKind::AlreadyInstalled { name: entry.name.clone() }
            } else {
                RegistryErrorKind::Foreign { id: entry.id.clone(), file }
            };
            return Err(error.into());
        }
        let binary = entry.binary(host.targets).ok_or_else(|| host.no_binary(entry))?;
        not_revoked(host, &entry.name, &entry.id, &binary.digest)?;
        let is_missing = |need: &&String| !self.is_available(host, &receipts, need);
        let missing: Vec<String> = entry.requires.iter().filter(is_missing).cloned().collect();
        if !missing.is_empty() {
            return Err(RegistryErrorKind::Requires { name: entry.name.clone(), missing }.into());
        }
        if !entry.official && rules.install != Some(true) && consent == InstallConsent::NotAsked {
            let (name, id) = (entry.name.clone(), entry.id.clone());
            return Err(RegistryErrorKind::Ask { name, id, question: "install" }.into());
        }
        let receipt = InstallReceipt::new(entry, file, registry.url(), binary, now);
        self.fetch_and_place(&lock, &receipts, Download { host, fetch, binary, rules, receipt, old: None })
    }

    /// Returns the installed plugins for which their registry lists another file, or only the named one. A plugin whose file is
    /// not the installed one is the error `registry/changed` instead, and one without a usable entry is `registry/delisted`,
    /// `registry/entry`, `registry/kind` or `registry/no-binary`.
    ///
    /// # Errors
    /// `registry/not-installed` if the named plugin is not installed, and `registry/already-installed` if its file is not
    /// from this registry; `registry/receipts`, `registry/disk`.
    pub fn outdated(
        &self,
        host: &CommandHost<'_>,
        registry: &Registry,
        name: Option<&str>,
    ) -> Result<Vec<Result<AvailableUpdate, RegistryError>>, RegistryError> {
        let receipts = self.receipts()?;
        let is_named =
            |receipt: &InstallReceipt| name.is_none_or(|name| receipt.name == name || receipt.id == name);
        let own: Vec<&InstallReceipt> = receipts
            .iter()
            .filter(|receipt| is_named(receipt) && self.exists(&receipt.file))
            .filter(|receipt| receipt.registry == registry.url().as_str())
            .collect();
        if let (Some(name), true) = (name, own.is_empty()) {
            let id = registry.named(name).map_or_else(|| name.replace(' ', "-"), |entry| entry.id.clone());
            let file = host.file_name(&id);
            let is_foreign = is_command_id(&id) && self.exists(&file);
            let error = if is_foreign {
                RegistryErrorKind::Foreign { id, file }
            } else {
                RegistryErrorKind::NotInstalled { name: name.to_owned() }
            };
            return Err(error.into());
        }
        let mut updates = Vec::new();
        for receipt in own {
            if let Some(why) = self.change(receipt)? {
                let file = receipt.file.clone();
                updates.push(Err(RegistryErrorKind::Changed { file, why }.into()));
                continue;
            }
            let Some(entry) = registry.entries().find(|entry| entry.id == receipt.id) else {
                updates.push(Err(registry.unlisted(&receipt.name).into()));
                continue;
            };
            let Some(binary) = entry.binary(host.targets) else {
                let is_command = entry.kind == CommandKind::Command;
                let why = if is_command { host.no_binary(entry) } else { registry.not_a_command(entry) };
                updates.push(Err(why.into()));
                continue;
            };
            let (to, from) = (binary.digest, receipt.sha256.clone());
            let (name, id) = (entry.name.clone(), entry.id.clone());
            if from != to.hex() {
                updates.push(Ok(AvailableUpdate { name, id, from, to }));
            }
        }
        Ok(updates)
    }

    /// Replaces an installed plugin by the file that the registry lists.
    ///
    /// # Errors
    /// As [`CommandStore::install`]; `registry/not-installed`; and `registry/pinned` instead of `policy/checksum`.
    ///
    /// # Guarantees
    /// After an error or a crash, the old file or the new one has the plugin's name, and its receipt covers it.
    pub fn update(
        &self,
        host: &CommandHost<'_>,
        registry: &Registry,
        id: &str,
        fetch: &dyn Fetch,
        now: Timestamp,
    ) -> Result<InstalledCommand, RegistryError> {
        let entry = known(registry, id)?;
        let rules = allowed(host, registry, entry)?;
        let lock = self.lock()?;
        let receipts = self.recover(&lock)?;
        let file = host.file_name(&entry.id);
        let is_old = |old: &&InstallReceipt| old.file == file && old.registry == registry.url().as_str();
        let Some(old) = receipts.iter().find(is_old).cloned() else {
            return Err(RegistryErrorKind::NotInstalled { name: entry.name.clone() }.into());
        };
        let binary = entry.binary(host.targets).ok_or_else(|| host.no_binary(entry))?;
        // A registry can give a plugin another name, and the revocation of the old one still counts.
        for name in [&entry.name, &old.name] {
            not_revoked(host, name, &entry.id, &binary.digest)?;
        }
        // A pin of another SHA-256 can be compared before anything is downloaded.
        if let Some(pin) = rules.checksum.as_ref().filter(|pin| pin.algorithm == ChecksumAlgorithm::Sha256)
            && !pin.value.eq_ignore_ascii_case(&binary.digest.hex())
        {
            return Err(pinned(&entry.name, pin, binary));
        }
        let receipt = InstallReceipt::new(entry, file, registry.url(), binary, now);
        self.fetch_and_place(
            &lock,
            &receipts,
            Download { host, fetch, binary, rules, receipt, old: Some(old) },
        )
    }

    /// Removes an installed plugin with a command name or id. Settings stay.
    ///
    /// # Errors
    /// `registry/not-installed`; `registry/disk`, `registry/receipts` and those of the file lock.
    pub fn remove(&self, host: &CommandHost<'_>, name: &str) -> Result<InstalledCommand, RegistryError> {
        let lock = self.lock()?;
        let mut receipts = self.recover(&lock)?;
        let found = receipts.iter().find(|receipt| receipt.name == name || receipt.id == name).cloned();
        let id = found.as_ref().map_or_else(|| name.replace(' ', "-"), |receipt| receipt.id.clone());
        let file = found.as_ref().map_or_else(|| host.file_name(&id), |receipt| receipt.file.clone());
        if !is_command_id(&id) || !self.exists(&file) {
            let installed = receipts.iter().map(|receipt| receipt.name.clone()).collect();
            return Err(RegistryErrorKind::NothingToRemove { name: name.to_owned(), installed }.into());
        }
        // The file goes first: a receipt without a file is harmless, and the next operation removes it.
        self.remove_file(&file)?;
        self.sync()?;
        receipts.retain(|receipt| receipt.file != file);
        Self::write(&lock, &receipts)?;
        let name = found.as_ref().map_or_else(|| name.to_owned(), |receipt| receipt.name.clone());
        Ok(InstalledCommand { name, id, file, digest: found.map(|receipt| receipt.sha256) })
    }

    /// Returns `true` if a plugin is installed or on the search path.
    fn is_available(&self, host: &CommandHost<'_>, receipts: &[InstallReceipt], name: &str) -> bool {
        let file = host.file_name(&name.replace(' ', "-"));
        receipts.iter().any(|receipt| receipt.name == name || receipt.id == name)
            || (!file.contains('/') && (self.exists(&file) || host.path.open(&file).is_some()))
    }

    /// Downloads the file, verifies it, and gives it its name.
    fn fetch_and_place(
        &self,
        lock: &FileLock<'_>,
        before: &[InstallReceipt],
        what: Download<'_>,
    ) -> Result<InstalledCommand, RegistryError> {
        let stage = format!("{STAGE}{}", what.receipt.id);
        let placed = self.stage(&stage, &what).and_then(|()| self.place(&stage, lock, before, &what));
        if placed.is_err() {
            // The first failure is the one to report; the next operation removes the file as well.
            drop(self.remove_file(&stage));
        }
        let InstallReceipt { name, id, file, sha256, .. } = what.receipt;
        placed.map(|()| InstalledCommand { name, id, file, digest: Some(sha256) })
    }

    /// Downloads into a new file that nobody can execute, verifies it, makes it executable and syncs it.
    fn stage(&self, stage: &str, what: &Download<'_>) -> Result<(), RegistryError> {
        let (pin, binary) = (what.rules.checksum.as_ref(), what.binary);
        let failed = |error| RegistryError::disk("write", stage, error);
        let created = self.jail.create_new(stage, Perm::PRIVATE_FILE);
        let mut file = created.map_err(|error| open_failed("create", stage, &error))?;
        let mut sink = HashingFile { file: &mut file, hasher: FileHasher::new(pin) };
        download(what.fetch, &binary.url, BINARY_BYTES, &mut sink)?;
        let digests = sink.hasher.finish();
        if digests.sha256 != binary.digest {
            let (name, expected, actual) = (what.receipt.name.clone(), binary.digest, digests.sha256);
            return Err(RegistryErrorKind::Digest { name, expected, actual }.into());
        }
        if let (PinnedChecksum::Differs, Some(pin)) = (digests.compare(pin), pin) {
            if what.old.is_some() {
                return Err(pinned(&what.receipt.name, pin, binary));
            }
            let (id, expected) = (what.receipt.id.clone(), pin.clone());
            let actual = digests.of(pin.algorithm).unwrap_or_else(|| "unknown".to_owned());
            let file = digests.sha256;
            return Err(RegistryErrorKind::Checksum { id, expected, actual, file, intact: true }.into());
        }
        not_revoked(what.host, &what.receipt.name, &what.receipt.id, &digests.sha256)?;
        let file = file.into_std();
        // The mode is set through the handle, so the verified file gets it, whatever has the name now.
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        file.set_permissions(executable).and_then(|()| file.sync_all()).map_err(failed)
    }

    /// Writes the receipt, renames the verified file and syncs the directory.
    fn place(
        &self,
        stage: &str,
        lock: &FileLock<'_>,
        before: &[InstallReceipt],
        what: &Download<'_>,
    ) -> Result<(), RegistryError> {
        let file = &what.receipt.file;
        let with = |receipt: InstallReceipt| {
            let others = before.iter().filter(|other| other.file != *file).cloned();
            Self::write(lock, &others.chain([receipt]).collect::<Vec<_>>())
        };
        // Until the rename, the receipt covers both files, so that the old one keeps working.
        let (first, mode) = match what.old.clone() {
            None => (what.receipt.clone(), RenameMode::Refuse),
            Some(old) => {
                let next = Some(what.receipt.sha256.clone());
                (
                    InstallReceipt { next, official: old.official && what.receipt.official, ..old },
                    RenameMode::Replace,
                )
            }
        };
        with(first)?;
        if let Err(error) = self.jail.rename(stage, file.as_str(), mode) {
            drop(Self::write(lock, before));
            return Err(open_failed("rename", file, &error));
        }
        self.sync()?;
        if what.old.is_some() { with(what.receipt.clone()) } else { Ok(()) }
    }
}

fn pinned(name: &str, pin: &Checksum, binary: &CommandBinary) -> RegistryError {
    let (name, pinned, offered) = (name.to_owned(), pin.clone(), binary.digest);
    RegistryErrorKind::Pinned { name, pinned, offered }.into()
}

fn known<'r>(registry: &'r Registry, name: &str) -> Result<&'r RegistryEntry, RegistryError> {
    registry.named(name).ok_or_else(|| {
        let nearest = nearest(name, registry.entries().map(|entry| entry.name.as_str())).map(str::to_owned);
        RegistryErrorKind::Unknown { name: name.to_owned(), nearest }.into()
    })
}

/// Returns the rules of a plugin, unless they deny it or it is not a command.
fn allowed(
    host: &CommandHost<'_>,
    registry: &Registry,
    entry: &RegistryEntry,
) -> Result<CommandRules, RegistryError> {
    if host.is_denied(&entry.id) {
        return Err(RegistryErrorKind::Denied { id: entry.id.clone() }.into());
    }
    if entry.kind != CommandKind::Command {
        return Err(registry.not_a_command(entry).into());
    }
    Ok((host.rules)(&entry.id))
}

fn not_revoked(host: &CommandHost<'_>, name: &str, id: &str, digest: &Digest) -> Result<(), RegistryError> {
    match (host.revoked)(&CommandNames { name, id, file: &host.file_name(id) }, digest) {
        Some(reason) => Err(RegistryErrorKind::Revoked { id: id.to_owned(), reason }.into()),
        None => Ok(()),
    }
}
