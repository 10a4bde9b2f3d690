//! The pins of this machine.

use std::time::Duration;

use cap_std::fs::Dir;
use plugward_state_file::{Backup, FileLock, Owner, StateError, StateFile};
use plugward_types::{Digest, PluginKey};

use crate::error::{FormatError, FormatErrorKind, Store, StoreError, StoreErrorKind, StoreFault};
use crate::format::hash::sha256;
use crate::format::model::{Format, MAX_ENTRIES, Model};
use crate::format::writer::render;
use crate::pins::change::{Change, ChangeOutcome, apply};
use crate::pins::check::{PinCheck, agreed, check};
use crate::pins::facts::{DirectoryId, ObservedPlugin};
use crate::pins::load::{Loaded, StoreCheck, StoreNotice, is_whole, load};
use crate::pins::pin::{AgreedState, McpOwner, McpPin, Pin, PinState};
use crate::revocations::entry::Revocation;
use plugward_types::Timestamp;

const NAME: &str = "plugins.pins.toml";
// The size limit of the file. 20,000 pins of 400 bytes fit.
const CAP: u64 = 8 << 20;
// How long a commit waits for another process. Writing takes milliseconds, so a longer wait means a stuck
// process.
const WAIT: Duration = Duration::from_secs(5);
/// The number of damaged files that are kept.
const KEEP_DAMAGED: usize = 3;

/// The pins of this machine, as read from the file.
///
/// # Guarantees
/// A check does not change anything. A refusal never changes a pin.
#[derive(Debug, Clone)]
pub struct Pins {
    file: StateFile,
    model: Model,
    /// The keys that are denied. Each plugin is compared with them, and few pins are denials.
    denied: Vec<PluginKey>,
    notices: Vec<StoreNotice>,
    wait: Duration,
}

/// Returns the keys of the denials.
fn denied(model: &Model) -> Vec<PluginKey> {
    let is_denied = |(_, pin): &(&PluginKey, &Pin)| pin.state == PinState::Denied;
    model.pins.iter().filter(is_denied).map(|(key, _)| key.clone()).collect()
}

/// The result of a commit.
#[derive(Debug, Clone)]
#[must_use]
#[non_exhaustive]
pub struct CommitReport {
    /// The outcome of each change, in the order of the changes.
    pub outcomes: Vec<ChangeOutcome>,
    /// The number of commits so far.
    pub serial: u64,
    /// Whether the file was written.
    pub wrote: WriteOutcome,
}

/// Whether a commit wrote the file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteOutcome {
    /// There was nothing to change.
    Nothing,
    /// A change of [`Pins::commit_whole`] could not be made. `Done` marks those that could have been.
    Withheld,
    /// The changes are synced to the file and its backup.
    Synced {
        /// The new name of the old file, if it was damaged or had an older version.
        kept: Option<String>,
    },
}

impl Pins {
    /// Returns the pins file in the user's configuration directory.
    ///
    /// # Errors
    /// `state/io` if the directory handle cannot be cloned.
    pub fn file(dir: &Dir, owner: Owner) -> Result<StateFile, StateError> {
        StateFile::at(dir, NAME, CAP, owner, Backup::Keep)
    }

    /// Reads the pins, or their backup.
    ///
    /// # Errors
    /// `pin/store` if a copy exists and none can be used; `pin/store-version` if a newer version of
    /// plugward wrote one.
    /// [`StoreErrorRule`](crate::StoreErrorRule) then decides about the plugins.
    pub fn open(file: &StateFile) -> Result<(Self, StoreCheck), StoreError> {
        let Loaded { model, check, notices, .. } =
            load(file.name(), file.read(), || file.read_backup(&is_whole))?;
        let denied = denied(&model);
        Ok((Self { file: file.clone(), model, denied, notices, wait: WAIT }, check))
    }

    fn set_model(&mut self, model: Model) {
        self.denied = denied(&model);
        self.model = model;
    }

    /// Sets how long a commit waits for the file lock; the default is 5 s.
    #[must_use]
    pub fn with_wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// Returns the name of the file, for messages.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.file.name()
    }

    /// Returns the notices about the file.
    #[must_use]
    pub fn notices(&self) -> &[StoreNotice] {
        &self.notices
    }

    /// Compares one plugin with its pin.
    pub fn check(&self, observed: &ObservedPlugin) -> PinCheck {
        check(&self.model, observed)
    }

    /// Returns the agreed state that equals a plugin, under its key or the one that it had before.
    #[must_use]
    pub fn agreed(&self, observed: &ObservedPlugin) -> Option<&AgreedState> {
        agreed(&self.model, observed)
    }

    /// Returns the pin of a key.
    #[must_use]
    pub fn get(&self, key: &PluginKey) -> Option<&Pin> {
        self.model.pins.get(key)
    }

    /// Returns all pins, by key. A host reports those whose directory does not exist any more as
    /// `pin/gone`.
    pub fn iter(&self) -> impl Iterator<Item = (&PluginKey, &Pin)> {
        self.model.pins.iter()
    }

    /// Returns the pins that are denials, by key, without visiting the others.
    pub fn denied(&self) -> impl Iterator<Item = (&PluginKey, &Pin)> {
        self.denied.iter().filter_map(|key| self.model.pins.get_key_value(key))
    }

    /// Returns the pinned offers of an MCP server.
    #[must_use]
    pub fn mcp(&self, owner: &McpOwner, server: &str) -> Vec<&McpPin> {
        let pins = match owner {
            McpOwner::Plugin(key) => self.get(key).map(|pin| &pin.mcp),
            McpOwner::User => Some(&self.model.mcp),
        };
        let of_server = |(name, pin): (&String, _)| McpPin::is_of(pin, name, server).then_some(pin);
        pins.into_iter().flatten().filter_map(of_server).collect()
    }

    /// Returns the keys whose pins have this directory.
    pub fn by_directory(&self, directory: &DirectoryId) -> impl Iterator<Item = &PluginKey> {
        self.model
            .pins
            .iter()
            .filter(|(_, pin)| pin.directory.as_ref() == Some(directory))
            .map(|(key, _)| key)
    }

    /// Returns the manifest digests of a version-1 file, by the plugin's name.
    pub fn manifest_only(&self) -> impl Iterator<Item = (&str, &Digest)> {
        self.model.v1.iter().map(|(name, manifest)| (name.as_str(), manifest))
    }

    /// Returns `true` if the user accepted a lockfile with this digest.
    #[must_use]
    pub fn is_lock_accepted(&self, lock: &Digest) -> bool {
        self.model.locks.contains_key(lock)
    }

    /// Returns the user's own revocations.
    #[must_use]
    pub fn revoked(&self) -> &[Revocation] {
        &self.model.revoked
    }

    /// Returns the number of commits so far. A later state has a higher number.
    #[must_use]
    pub const fn serial(&self) -> u64 {
        self.model.serial
    }

    /// Makes changes in one write, on the contents that the file has under the file lock.
    ///
    /// # Guarantees
    /// After `Ok` with [`WriteOutcome::Synced`], the changes are synced to the file and its backup, and no change
    /// of another process is lost. The written text was parsed in memory and compared with the intended
    /// contents. These pins then equal the file.
    ///
    /// # Errors
    /// `pin/not-saved` if the file is locked, full, read-only, not the user's any more, or would be too
    /// large. `pin/store` and `pin/store-version` as for [`Pins::open`], if the file was damaged meanwhile.
    /// The pins in memory are still valid.
    pub fn commit(&mut self, changes: Vec<Change>, now: Timestamp) -> Result<CommitReport, StoreError> {
        self.commit_if(changes, now, |_| true)
    }

    /// As [`Pins::commit`], but writes nothing unless every outcome is `Done` or `Already`.
    ///
    /// # Guarantees
    /// After `Ok` with [`WriteOutcome::Withheld`], the file is unchanged. The decision is made under the file lock, so that
    /// another process cannot intervene.
    ///
    /// # Errors
    /// Those of [`Pins::commit`].
    pub fn commit_whole(&mut self, changes: Vec<Change>, now: Timestamp) -> Result<CommitReport, StoreError> {
        self.commit_if(changes, now, |outcomes| {
            outcomes.iter().all(|outcome| matches!(outcome, ChangeOutcome::Done | ChangeOutcome::Already))
        })
    }

    fn commit_if(
        &mut self,
        changes: Vec<Change>,
        now: Timestamp,
        wanted: impl FnOnce(&[ChangeOutcome]) -> bool,
    ) -> Result<CommitReport, StoreError> {
        let file = self.file.clone();
        let hold = file.lock(self.wait).map_err(|error| self.not_saved(error))?;
        let loaded = load(file.name(), hold.read(), || hold.read_backup(&is_whole))?;
        let mut model = loaded.model.clone();
        let outcomes = apply(&mut model, changes, now);
        let wrote = if model == loaded.model {
            Some(WriteOutcome::Nothing)
        } else {
            (!wanted(&outcomes)).then_some(WriteOutcome::Withheld)
        };
        if let Some(wrote) = wrote {
            let serial = loaded.model.serial;
            self.set_model(loaded.model);
            self.notices = loaded.notices;
            return Ok(CommitReport { outcomes, serial, wrote });
        }
        let (kept, written) = self.write(&hold, &loaded, model)?;
        self.set_model(written);
        self.notices.clear();
        Ok(CommitReport { outcomes, serial: self.model.serial, wrote: WriteOutcome::Synced { kept } })
    }

    /// Starts over with these changes alone if no copy can be used. Both copies are renamed, not deleted.
    ///
    /// # Errors
    /// `pin/store-version` if a newer version of plugward wrote a copy, which is never replaced.
    /// `pin/not-saved` as for [`Pins::commit`].
    pub fn start_over(
        file: &StateFile,
        changes: Vec<Change>,
        now: Timestamp,
        wait: Duration,
    ) -> Result<Self, StoreError> {
        let pins = Self {
            file: file.clone(),
            model: Model::default(),
            denied: Vec::new(),
            notices: Vec::new(),
            wait,
        };
        let hold = file.lock(wait).map_err(|error| pins.not_saved(error))?;
        let loaded = match load(file.name(), hold.read(), || hold.read_backup(&is_whole)) {
            Ok(loaded) => loaded,
            Err(error) => match error.kind() {
                StoreErrorKind::Unusable { main, last_good } => {
                    if !matches!(last_good, StoreFault::Missing | StoreFault::NotRead) {
                        hold.set_backup_aside("damaged-last-good").map_err(|error| pins.not_saved(error))?;
                    }
                    let check = StoreCheck::Recovered { fault: main.clone() };
                    Loaded { model: Model::default(), bytes: Vec::new(), check, notices: Vec::new() }
                }
                _ => return Err(error),
            },
        };
        let mut fresh = Model { serial: loaded.model.serial, ..Model::default() };
        let _outcomes = apply(&mut fresh, changes, now);
        let (_, model) = pins.write(&hold, &loaded, fresh)?;
        Ok(Self { denied: denied(&model), model, ..pins })
    }

    fn not_saved(&self, error: StateError) -> StoreError {
        StoreError::new(Store::Pins, self.file.name(), StoreErrorKind::NotSaved(error))
    }

    /// Writes a model over the loaded file. Returns the new name of the old file, and the model as it reads
    /// back.
    fn write(
        &self,
        hold: &FileLock<'_>,
        loaded: &Loaded,
        model: Model,
    ) -> Result<(Option<String>, Model), StoreError> {
        let (text, written) = prepare(self.file.name(), model)?;
        let kept = self.keep(hold, loaded).map_err(|error| self.not_saved(error))?;
        hold.replace(text.as_bytes()).map_err(|error| self.not_saved(error))?;
        Ok((kept, written))
    }

    /// Renames a damaged file, and copies one of an older version.
    fn keep(&self, hold: &FileLock<'_>, loaded: &Loaded) -> Result<Option<String>, StateError> {
        let copy = match loaded.model.format {
            Format::One => Some(keep_copy(hold, self.file.name(), "v1", &loaded.bytes)?),
            Format::Three => Some(keep_copy(hold, self.file.name(), "v3", &loaded.bytes)?),
            Format::Four => None,
        };
        let label = match &loaded.check {
            StoreCheck::Ready | StoreCheck::Empty | StoreCheck::Recovered { fault: StoreFault::Missing } => {
                return Ok(copy);
            }
            StoreCheck::Recovered { .. } => match hold.read() {
                Ok(Some(content)) => format!("damaged-{}", short(content.bytes())),
                Ok(None) => return Ok(copy),
                Err(_) => "damaged-unread".to_owned(),
            },
        };
        let kept = hold.set_aside(&label)?;
        hold.prune("damaged-", KEEP_DAMAGED)?;
        Ok(Some(kept))
    }
}

/// Copies a file of an older version. An existing copy with other contents is not replaced.
pub(crate) fn keep_copy(
    hold: &FileLock<'_>,
    file: &str,
    version: &str,
    bytes: &[u8],
) -> Result<String, StateError> {
    let first = format!("{file}.{version}");
    match hold.keep_copy(version, bytes) {
        Ok(name) => Ok(name),
        Err(error) if error.name() == first => hold.keep_copy(&format!("{version}-{}", short(bytes)), bytes),
        Err(error) => Err(error),
    }
}

fn short(bytes: &[u8]) -> String {
    let mut text = sha256(bytes).hex();
    text.truncate(8);
    text
}

/// Renders a model and parses the text. A text that does not parse to the same model is not written.
fn prepare(file: &str, mut model: Model) -> Result<(String, Model), StoreError> {
    let failed = |kind| StoreError::new(Store::Pins, file, kind);
    if model.is_too_large() {
        return Err(failed(StoreErrorKind::TooMany { most: MAX_ENTRIES }));
    }
    model.serial = model.serial.saturating_add(1);
    (model.stated, model.format) = (model.counts(), Format::Four);
    let text = render(&model);
    let unwritable = |why| failed(StoreErrorKind::Unwritable { why });
    let written = Model::parse(text.as_bytes()).map_err(|error| unwritable(error.to_string()))?;
    if written == model {
        Ok((text, written))
    } else {
        Err(unwritable("it reads back as something else".to_owned()))
    }
}

/// Returns the text that a commit would write over a pins file, without writing it.
///
/// # Errors
/// `pin/store` or `pin/store-version` if the bytes are not a pins file; `pin/not-saved` if there would be too many
/// entries.
pub fn rewrite_pins(
    bytes: &[u8],
    changes: Vec<Change>,
    now: Timestamp,
) -> Result<(String, Vec<ChangeOutcome>), StoreError> {
    let failed = |kind| StoreError::new(Store::Pins, NAME, kind);
    let old = Model::parse(bytes).map_err(|error| match *error.kind() {
        FormatErrorKind::Version { found } => failed(StoreErrorKind::Version { found }),
        _ => failed(StoreErrorKind::Unusable {
            main: StoreFault::Damaged(error),
            last_good: StoreFault::Missing,
        }),
    })?;
    let mut model = old.clone();
    let outcomes = apply(&mut model, changes, now);
    if model == old {
        return Ok((String::from_utf8_lossy(bytes).into_owned(), outcomes));
    }
    prepare(NAME, model).map(|(text, _)| (text, outcomes))
}

/// Parses the bytes of a pins file and returns the number of its pins.
///
/// # Errors
/// `store/format` with the place, the expected value and help.
pub fn parse_pins(bytes: &[u8]) -> Result<u64, FormatError> {
    Model::parse(bytes).map(|model| model.counts().pins)
}
