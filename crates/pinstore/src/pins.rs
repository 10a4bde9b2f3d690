//! The pins of this machine.

use std::time::Duration;

use cap_std::fs::Dir;
use plugward_state_file::{Hold, LastGood, Owner, StateError, StateFile};
use plugward_types::{Digest, PluginId};

use crate::change::{Change, Outcome, apply};
use crate::check::{PinCheck, check};
use crate::error::{FormatError, FormatErrorKind, Store, StoreError, StoreErrorKind, StoreFault};
use crate::facts::Facts;
use crate::hash::{hex, sha256};
use crate::load::{Loaded, StoreCheck, StoreNotice, is_whole, load};
use crate::model::{Format, MAX_PINS, Model};
use crate::pin::Pin;
use crate::revoked::Revoked;
use crate::scope::Scope;
use crate::splice::splice;
use crate::time::Timestamp;
use crate::write::render;

const NAME: &str = "plugins.pins.toml";
const CAP: u64 = 8 << 20;
const WAIT: Duration = Duration::from_secs(5);
/// How many damaged files are kept.
const KEEP_DAMAGED: usize = 3;

/// The pins of this machine, as they were read.
///
/// # Guarantees
/// A check changes nothing. A refusal never changes a pin.
///
/// # Source
/// ADR-003; pinstore page, 2.6.
#[derive(Debug, Clone)]
pub struct Pins {
    file: StateFile,
    model: Model,
    notices: Vec<StoreNotice>,
    wait: Duration,
}

/// What a commit did.
#[derive(Debug, Clone)]
#[must_use]
#[non_exhaustive]
pub struct Committed {
    /// What came of each change, in the order of the changes.
    pub outcomes: Vec<Outcome>,
    /// The number of commits that the file has seen.
    pub serial: u64,
    /// Whether the file was written.
    pub wrote: Wrote,
}

/// Whether a commit wrote the file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wrote {
    /// Nothing was to be changed.
    Nothing,
    /// Not every change could be made, and all were asked for or none. An outcome `Done` then says what would have been.
    Withheld,
    /// The file and its last good copy hold the change, synced.
    Synced {
        /// The name under which a file that was damaged, or of version 1, is kept.
        kept: Option<String>,
    },
}

impl Pins {
    /// Names the pins file below the user's config folder.
    ///
    /// # Errors
    /// `state/io` where the folder handle cannot be had a second time.
    pub fn file(dir: &Dir, owner: Owner) -> Result<StateFile, StateError> {
        StateFile::at(dir, NAME, CAP, owner, LastGood::Yes)
    }

    /// Reads the pins, or their last good copy.
    ///
    /// # Errors
    /// `pin/store` where a copy is there and none can be used; `pin/store-version` where a newer program wrote one.
    /// Then [`StoreErrorRule`](crate::StoreErrorRule) says what becomes of each plugin.
    pub fn open(file: &StateFile) -> Result<(Self, StoreCheck), StoreError> {
        let Loaded { model, check, notices, .. } =
            load(file.name(), file.read(), || file.read_last_good(&is_whole))?;
        Ok((Self { file: file.clone(), model, notices, wait: WAIT }, check))
    }

    /// Sets how long a commit waits for the hold; 5 s where it is not set.
    #[must_use]
    pub fn with_wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// Names the file, for messages.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.file.name()
    }

    /// Gives what a person should be told of the file.
    #[must_use]
    pub fn notices(&self) -> &[StoreNotice] {
        &self.notices
    }

    /// Compares one plugin with its pin.
    pub fn check(&self, scope: &Scope, id: &PluginId, facts: &Facts) -> PinCheck {
        check(&self.model, scope, id, facts)
    }

    /// Gives one pin.
    #[must_use]
    pub fn get(&self, scope: &Scope, id: &PluginId) -> Option<&Pin> {
        self.model.pin(scope, id)
    }

    /// Gives all pins, by scope and id.
    pub fn iter(&self) -> impl Iterator<Item = (&Scope, &PluginId, &Pin)> {
        self.model.pins.iter().flat_map(|(scope, shelf)| shelf.iter().map(move |(id, pin)| (scope, id, pin)))
    }

    /// Gives the old pins that cover a manifest alone, by the plugin's name.
    pub fn manifest_only(&self) -> impl Iterator<Item = (&str, &Digest)> {
        self.model.v1.iter().map(|(name, pin)| (name.as_str(), &pin.manifest))
    }

    /// Gives the digest of the lock file that was accepted for a scope.
    #[must_use]
    pub fn accepted_lock(&self, scope: &Scope) -> Option<&Digest> {
        self.model.locks.get(scope)
    }

    /// Gives the revocations that this machine's user made.
    #[must_use]
    pub fn revoked(&self) -> &[Revoked] {
        &self.model.revoked
    }

    /// Gives the number of commits that the file has seen; what was written later has the higher one.
    #[must_use]
    pub const fn serial(&self) -> u64 {
        self.model.serial
    }

    /// Makes changes, all in one write, on what the file says under the hold.
    ///
    /// # Errors
    /// `pin/not-saved` where the file is held, full, read-only or not ours any more, or would be too large;
    /// `pin/store` and `pin/store-version` as [`Pins::open`], where it was damaged since. Every pin that was read
    /// holds as before.
    ///
    /// # Guarantees
    /// After `Ok` with [`Wrote::Synced`]: the file and its last good copy hold the changes, synced; what other
    /// processes wrote since the pins were read is kept; unknown keys, tables and comments are kept; what was
    /// written was read back in memory and says what was meant. These pins then are what the file says.
    pub fn commit(&mut self, changes: Vec<Change>, now: Timestamp) -> Result<Committed, StoreError> {
        self.commit_if(changes, now, |_| true)
    }

    /// As [`Pins::commit`], and writes nothing unless each change is made or is so already.
    ///
    /// # Errors
    /// Those of [`Pins::commit`].
    ///
    /// # Guarantees
    /// After `Ok` with [`Wrote::Withheld`]: the file is as it was. It is decided under the hold, so that no rival
    /// comes in between.
    pub fn commit_whole(&mut self, changes: Vec<Change>, now: Timestamp) -> Result<Committed, StoreError> {
        self.commit_if(changes, now, |outcomes| {
            outcomes.iter().all(|outcome| matches!(outcome, Outcome::Done | Outcome::Already))
        })
    }

    fn commit_if(
        &mut self,
        changes: Vec<Change>,
        now: Timestamp,
        wanted: impl FnOnce(&[Outcome]) -> bool,
    ) -> Result<Committed, StoreError> {
        let file = self.file.clone();
        let hold = file.hold(self.wait).map_err(|error| self.not_saved(error))?;
        let loaded = load(file.name(), hold.read(), || hold.read_last_good(&is_whole))?;
        let mut model = loaded.model.clone();
        let outcomes: Vec<Outcome> =
            changes.into_iter().map(|change| apply(&mut model, change, now)).collect();
        let wrote = if model == loaded.model {
            Some(Wrote::Nothing)
        } else {
            (!wanted(&outcomes)).then_some(Wrote::Withheld)
        };
        if let Some(wrote) = wrote {
            let serial = loaded.model.serial;
            (self.model, self.notices) = (loaded.model, loaded.notices);
            return Ok(Committed { outcomes, serial, wrote });
        }
        let (kept, written) = self.write(&hold, &loaded, model)?;
        self.model = written;
        self.notices.clear();
        Ok(Committed { outcomes, serial: self.model.serial, wrote: Wrote::Synced { kept } })
    }

    /// Starts over where no copy can be used: both are moved aside, and an empty store is written.
    ///
    /// # Errors
    /// `pin/store-version` where a newer program wrote a copy, which is never written over; `pin/not-saved` as
    /// [`Pins::commit`].
    pub fn start_over(file: &StateFile, wait: Duration) -> Result<Self, StoreError> {
        let pins = Self { file: file.clone(), model: Model::default(), notices: Vec::new(), wait };
        let hold = file.hold(wait).map_err(|error| pins.not_saved(error))?;
        let loaded = match load(file.name(), hold.read(), || hold.read_last_good(&is_whole)) {
            Ok(loaded) => loaded,
            Err(error) => match error.kind() {
                StoreErrorKind::Unusable { main, last_good } => {
                    if !matches!(last_good, StoreFault::Missing) {
                        hold.set_last_good_aside("damaged-last-good")
                            .map_err(|error| pins.not_saved(error))?;
                    }
                    let check = StoreCheck::Recovered { fault: main.clone() };
                    Loaded { model: Model::default(), text: String::new(), check, notices: Vec::new() }
                }
                _ => return Err(error),
            },
        };
        let empty = Model { serial: loaded.model.serial, ..Model::default() };
        let blank = Loaded { text: String::new(), model: Model::default(), ..loaded };
        let (_, model) = pins.write(&hold, &blank, empty)?;
        Ok(Self { model, ..pins })
    }

    fn not_saved(&self, error: StateError) -> StoreError {
        StoreError::new(Store::Pins, self.file.name(), StoreErrorKind::NotSaved(error))
    }

    /// Writes a model over what was loaded; gives the name of what was kept, and the model as it reads back.
    fn write(
        &self,
        hold: &Hold<'_>,
        loaded: &Loaded,
        model: Model,
    ) -> Result<(Option<String>, Model), StoreError> {
        let (text, written) = prepare(self.file.name(), &loaded.text, &loaded.model, model)?;
        let kept = self.keep(hold, loaded).map_err(|error| self.not_saved(error))?;
        hold.replace(text.as_bytes()).map_err(|error| self.not_saved(error))?;
        Ok((kept, written))
    }

    /// Keeps what a person may want to look at: a damaged file, and one of version 1.
    fn keep(&self, hold: &Hold<'_>, loaded: &Loaded) -> Result<Option<String>, StateError> {
        let label = match &loaded.check {
            StoreCheck::Ready if loaded.model.format == Format::Two => return Ok(None),
            StoreCheck::Ready => return self.keep_v1(hold, loaded.text.as_bytes()).map(Some),
            StoreCheck::Empty | StoreCheck::Recovered { fault: StoreFault::Missing } => return Ok(None),
            StoreCheck::Recovered { .. } => match hold.read() {
                Ok(Some(content)) => format!("damaged-{}", short(content.bytes())),
                Ok(None) => return Ok(None),
                Err(_) => "damaged-unread".to_owned(),
            },
        };
        let kept = hold.set_aside(&label)?;
        hold.prune("damaged-", KEEP_DAMAGED)?;
        Ok(Some(kept))
    }

    fn keep_v1(&self, hold: &Hold<'_>, bytes: &[u8]) -> Result<String, StateError> {
        let first = format!("{}.v1", self.file.name());
        match hold.keep_copy("v1", bytes) {
            Ok(name) => Ok(name),
            // An older one stands there, and is not ours to write over.
            Err(error) if error.name() == first => hold.keep_copy(&format!("v1-{}", short(bytes)), bytes),
            Err(error) => Err(error),
        }
    }
}

fn short(bytes: &[u8]) -> String {
    let mut text = hex(sha256(bytes).as_bytes());
    text.truncate(8);
    text
}

/// Renders a model over an old text, and reads it back: what does not say what was meant is not written.
fn prepare(file: &str, old_text: &str, old: &Model, mut model: Model) -> Result<(String, Model), StoreError> {
    let failed = |kind| StoreError::new(Store::Pins, file, kind);
    let entries = model.count().saturating_add(u64::try_from(model.v1.len()).unwrap_or(u64::MAX));
    if entries > u64::try_from(MAX_PINS).unwrap_or(u64::MAX) {
        return Err(failed(StoreErrorKind::TooMany { most: MAX_PINS }));
    }
    model.serial = model.serial.saturating_add(1);
    model.said = model.count();
    model.format = Format::Two;
    model.pins.retain(|_, shelf| !shelf.is_empty());
    if let Some(text) = splice(old_text, old, &model)
        && let Ok(written) = read_back(&text, &model)
    {
        return Ok((text, written));
    }
    let unwritable = |why| failed(StoreErrorKind::Unwritable { why });
    let text = render(old_text, old, &model).map_err(unwritable)?;
    let written = read_back(&text, &model).map_err(unwritable)?;
    Ok((text, written))
}

/// Reads what is about to be written, and compares it with what was meant.
fn read_back(text: &str, meant: &Model) -> Result<Model, String> {
    let mut written = Model::parse(text.as_bytes()).map_err(|error| error.to_string())?;
    written.pins.retain(|_, shelf| !shelf.is_empty());
    if written == *meant {
        Ok(written)
    } else {
        Err("what was to be written does not read back as it was meant".to_owned())
    }
}

/// Works out what a commit would write over the bytes of a pins file, and writes nothing.
///
/// # Errors
/// `pin/store` or `pin/store-version` where the bytes are no pins file; `pin/not-saved` where the changes cannot be
/// put into it.
pub fn rewrite_pins(
    bytes: &[u8],
    changes: Vec<Change>,
    now: Timestamp,
) -> Result<(String, Vec<Outcome>), StoreError> {
    let failed = |kind| StoreError::new(Store::Pins, NAME, kind);
    let old = Model::parse(bytes).map_err(|error| match *error.kind() {
        FormatErrorKind::Version { found } => failed(StoreErrorKind::Version { found }),
        _ => failed(StoreErrorKind::Unusable {
            main: StoreFault::Damaged(error),
            last_good: StoreFault::Missing,
        }),
    })?;
    let text = String::from_utf8_lossy(bytes);
    let mut model = old.clone();
    let outcomes = changes.into_iter().map(|change| apply(&mut model, change, now)).collect();
    if model == old {
        return Ok((text.into_owned(), outcomes));
    }
    prepare(NAME, &text, &old, model).map(|(text, _)| (text, outcomes))
}

/// Reads a pins file's bytes, without a file, and counts its pins: for tools that look at one.
///
/// # Errors
/// `store/format` with place, what was expected and what to do.
pub fn parse_pins(bytes: &[u8]) -> Result<u64, FormatError> {
    Model::parse(bytes).map(|model| model.count())
}
