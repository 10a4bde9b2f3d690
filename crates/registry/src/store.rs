//! The directory of installed command plugins, with the receipts of their installation.

use std::time::Duration;

use cap_std::fs::Dir;
use plugward_policy::Checksum;
use plugward_sandbox_path::{FileKind, Jail, Policy, SandboxedFile};
use plugward_state_file::{Backup, FileLock, Owner, StateFile};
use plugward_types::{Digest, Timestamp, hex};
use serde::{Deserialize, Serialize};

use crate::download::SourceUrl;
use crate::error::{RegistryError, RegistryErrorKind};
use crate::names::{is_command_id, is_command_name};
use crate::registry::{CommandBinary, RegistryEntry};
use crate::verify::{FileDigests, FileHasher};

/// The name of the receipts file.
const RECEIPTS: &str = "receipts.toml";
/// The most bytes of the receipts. One has about 300.
const CAP: u64 = 4 << 20;
const VERSION: u32 = 1;
/// The prefix of downloads that do not have their name yet.
pub(crate) const STAGE: &str = ".stage-";
/// The most entries of the directory that are listed.
const LISTED: usize = 100_000;

/// What was installed, from where and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct InstallReceipt {
    /// The id.
    pub id: String,
    /// The command name, so that it is known without the registry.
    pub name: String,
    /// The file name. A change of the setting `plugins.prefix` does not rename the file.
    pub file: String,
    /// The URL of the registry.
    pub registry: String,
    /// Whether that registry claimed at the time that the plugin is official.
    pub official: bool,
    /// The hex digits of the file's SHA-256.
    pub sha256: String,
    /// The digest of an update whose file may have replaced the old one already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The time of the installation or the last update.
    pub installed: String,
}

impl InstallReceipt {
    /// Returns `true` if a file with this digest was installed.
    pub(crate) fn covers(&self, digest: &Digest) -> bool {
        let digest = digest.hex();
        self.sha256 == digest || self.next.as_ref() == Some(&digest)
    }

    pub(crate) fn new(
        entry: &RegistryEntry,
        file: String,
        registry: &SourceUrl,
        binary: &CommandBinary,
        now: Timestamp,
    ) -> Self {
        Self {
            id: entry.id.clone(),
            name: entry.name.clone(),
            file,
            registry: registry.to_string(),
            official: entry.official,
            sha256: binary.digest.hex(),
            next: None,
            installed: format!("{now:.0}"),
        }
    }

    fn is_valid(&self) -> bool {
        let is_digest = |text: &String| hex::decode_array::<32>(text).is_some();
        is_command_id(&self.id)
            && is_command_name(&self.name)
            && self.file.ends_with(&format!("-{}", self.id))
            && !self.file.contains('/')
            && is_digest(&self.sha256)
            && self.next.as_ref().is_none_or(is_digest)
            && self.installed.parse::<Timestamp>().is_ok()
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReceiptsFile {
    version: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    receipt: Vec<InstallReceipt>,
}

/// Reads receipts. A newer version, an unknown key and a value of another form are errors.
fn parse(bytes: &[u8]) -> Result<Vec<InstallReceipt>, String> {
    #[derive(Deserialize)]
    struct VersionOnly {
        version: u32,
    }
    let text = core::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    // Another version can have other keys, so the version is compared first.
    let VersionOnly { version } = toml::from_str(text).map_err(|error| error.to_string())?;
    if version != VERSION {
        return Err(format!("it has version {version}, and this program reads version {VERSION}"));
    }
    let mut file: ReceiptsFile = toml::from_str(text).map_err(|error| error.to_string())?;
    file.receipt.sort_by(|a, b| a.file.cmp(&b.file));
    let pairs = file.receipt.iter().zip(file.receipt.iter().skip(1));
    if pairs.clone().any(|(first, second)| first.file == second.file) {
        return Err("two receipts have the same file".to_owned());
    }
    match file.receipt.iter().find(|receipt| !receipt.is_valid()) {
        Some(wrong) => Err(format!("the receipt of {:?} has a value of another form", wrong.file)),
        None => Ok(file.receipt),
    }
}

/// The directory of installed command plugins.
///
/// # Guarantees
/// A file gets a plugin's name only after its length, both checksums and the revocations are verified and the file is
/// synced. A crash at any moment leaves no file, or the verified one, and the next operation removes the rest.
#[derive(Debug)]
pub struct CommandStore {
    dir: Dir,
    pub(crate) jail: Jail,
    receipts: StateFile,
    wait: Duration,
}

impl CommandStore {
    /// Opens a directory that the host created with mode 0700. `wait` is the longest wait for another process.
    ///
    /// # Errors
    /// `registry/disk` if the directory cannot be used.
    pub fn open(dir: &Dir, owner: Owner, wait: Duration) -> Result<Self, RegistryError> {
        let failed = |error| RegistryError::disk("open", "the plugin directory", error);
        let dir = dir.try_clone().map_err(failed)?;
        let handle = dir.try_clone().map_err(failed)?;
        let jail = Jail::from_fd(handle.into_std_file().into(), Policy::standard())
            .map_err(|error| failed(std::io::Error::other(error.to_string())))?;
        let receipts = StateFile::at(&dir, RECEIPTS, CAP, owner, Backup::None)?;
        Ok(Self { dir, jail, receipts, wait })
    }

    /// Reads the receipts, sorted by file name. An update or installation that was interrupted can have left some.
    ///
    /// # Errors
    /// `registry/receipts` if they cannot be read.
    pub fn receipts(&self) -> Result<Vec<InstallReceipt>, RegistryError> {
        let unreadable = |why| RegistryError::from(RegistryErrorKind::Receipts { why });
        let content = self.receipts.read().map_err(|error| unreadable(error.to_string()))?;
        content.map_or_else(|| Ok(Vec::new()), |content| parse(content.bytes()).map_err(unreadable))
    }

    /// Takes the file lock of the receipts, which covers all changes of the directory.
    pub(crate) fn lock(&self) -> Result<FileLock<'_>, RegistryError> {
        Ok(self.receipts.lock(self.wait)?)
    }

    pub(crate) fn write(lock: &FileLock<'_>, receipts: &[InstallReceipt]) -> Result<(), RegistryError> {
        let file = ReceiptsFile { version: VERSION, receipt: receipts.to_vec() };
        let text = toml::to_string(&file)
            .map_err(|error| RegistryError::disk("write", RECEIPTS, std::io::Error::other(error)))?;
        lock.replace(text.as_bytes())
            .map_err(|error| RegistryError::disk("write", RECEIPTS, std::io::Error::other(error)))
    }

    /// Removes what a crash left, and returns the receipts of the existing files.
    pub(crate) fn recover(&self, lock: &FileLock<'_>) -> Result<Vec<InstallReceipt>, RegistryError> {
        let before = self.receipts()?;
        let listing = self.jail.list(".", LISTED).map_err(|error| open_failed("list", ".", &error))?;
        for name in listing.entries().iter().filter_map(|entry| entry.name_str()) {
            if name.starts_with(STAGE) {
                self.remove_file(name)?;
            }
        }
        let mut receipts = before.clone();
        receipts.retain(|receipt| self.exists(&receipt.file));
        for receipt in &mut receipts {
            let Some(next) = receipt.next.take() else { continue };
            // The rename of an update either happened or not. The file itself shows which digest applies.
            if self.digests(&receipt.file, None)?.is_some_and(|found| found.sha256.hex() == next) {
                receipt.sha256 = next;
            }
        }
        if receipts != before {
            Self::write(lock, &receipts)?;
        }
        Ok(receipts)
    }

    /// Returns `true` if an entry of any kind has the name.
    pub(crate) fn exists(&self, name: &str) -> bool {
        !matches!(self.jail.metadata(name), Err(error) if error.code() == "path/not-found")
    }

    /// Opens an installed file, and returns the reason if it cannot be the installed one; `None` if it does not exist.
    pub(crate) fn open_installed(&self, name: &str) -> Option<Result<SandboxedFile, String>> {
        let file = match self.jail.open_read(name) {
            Err(error) if error.code() == "path/not-found" => return None,
            Err(error) => return Some(Err(error.to_string())),
            Ok(file) => file,
        };
        let opened = file.opened();
        let why = match opened.mode() {
            _ if opened.kind() != FileKind::File => "it is not a regular file",
            mode if mode & 0o022 != 0 => "other users can write it",
            mode if mode & 0o100 == 0 => "it is not executable",
            _ => return Some(Ok(file)),
        };
        Some(Err(why.to_owned()))
    }

    /// Returns the digests of a file, or `None` if it cannot be opened as a plugin.
    fn digests(&self, name: &str, pin: Option<&Checksum>) -> Result<Option<FileDigests>, RegistryError> {
        let Some(Ok(file)) = self.open_installed(name) else { return Ok(None) };
        let read = FileHasher::new(pin).read(file);
        read.map(Some).map_err(|error| RegistryError::disk("read", name, error))
    }

    /// Returns why the file of a receipt is not the installed one; `None` if it is.
    pub(crate) fn change(&self, receipt: &InstallReceipt) -> Result<Option<String>, RegistryError> {
        if let Some(Err(why)) = self.open_installed(&receipt.file) {
            return Ok(Some(why));
        }
        let digests = self.digests(&receipt.file, None)?;
        let changed = digests.filter(|digests| !receipt.covers(&digests.sha256));
        Ok(changed.map(|digests| format!("its digest is now {}", digests.sha256)))
    }

    pub(crate) fn remove_file(&self, name: &str) -> Result<(), RegistryError> {
        match self.jail.remove_file(name) {
            Err(error) if error.code() != "path/not-found" => Err(open_failed("remove", name, &error)),
            _ => Ok(()),
        }
    }

    /// Waits until the names in the directory are on the disk.
    pub(crate) fn sync(&self) -> Result<(), RegistryError> {
        let synced = self.dir.open(".").and_then(|dir| dir.sync_all());
        synced.map_err(|error| RegistryError::disk("sync", "the plugin directory", error))
    }
}

/// Turns the error of a lookup into one of this crate.
pub(crate) fn open_failed(
    doing: &'static str,
    name: &str,
    error: &plugward_sandbox_path::OpenError,
) -> RegistryError {
    RegistryError::disk(doing, name, std::io::Error::other(error.to_string()))
}
