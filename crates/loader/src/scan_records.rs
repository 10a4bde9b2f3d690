//! Records of earlier scans in the user's state folder, so that unchanged files need not be read by the rules again.

use core::fmt;
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use plugward_scanner::MatchCache;
use plugward_state_file::{LastGood, Owner, StateError, StateFile, make_folder};
use plugward_types::Digest;

use crate::hash::sha256;

/// The folder below the state folder.
const FOLDER: &str = "scan-cache";
/// The file with the key, and its bytes.
const KEY: &str = "key";
const KEY_LEN: usize = 32;
/// What a pack begins with.
const MAGIC: &[u8] = b"plugward-scan-pack/1\n";
/// Larger packs are neither read nor written.
const MAX_PACK: u64 = 64 << 20;
/// The most packs that are kept; the one written longest ago goes first.
const MAX_PACKS: usize = 64;
const WAIT: Duration = Duration::from_secs(5);

/// The records of earlier scans, a pack for each set of folders that is looked at.
///
/// # Guarantees
/// A pack counts only if it bears the code that the key in the same folder makes of its name and bytes: one that is
/// damaged, cut, copied from another machine or of another name is as good as none, and the files are scanned.
/// The key belongs to this user, and nobody else may write it or its folder. Whoever has this user's rights, or may
/// choose the state folder, can write key and records and so hide findings: `--no-cache` and `locked` read none.
#[derive(Debug, Clone)]
pub struct ScanRecords {
    dir: Arc<Dir>,
    key: Key,
    owner: Owner,
}

#[derive(Clone, Copy)]
struct Key([u8; KEY_LEN]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

impl ScanRecords {
    /// Opens the folder of records below the user's state folder, and makes it with its key where it is not there.
    ///
    /// `fresh` is 32 bytes of the system's random source; they become the key where there is none.
    ///
    /// # Errors
    /// Those of [`StateFile::read`] and [`make_folder`]: a key that somebody else may write is none.
    pub fn open(state_folder: &Dir, owner: Owner, fresh: [u8; KEY_LEN]) -> Result<Self, StateError> {
        let dir = make_folder(state_folder, FOLDER)?;
        let file = StateFile::at(&dir, KEY, KEY_LEN as u64, owner, LastGood::No)?;
        let known = |bytes: &[u8]| <[u8; KEY_LEN]>::try_from(bytes).ok();
        let there = file.read()?.and_then(|content| known(content.bytes()));
        let key = if let Some(key) = there {
            key
        } else {
            let hold = file.hold(WAIT)?;
            // Another process may have been first.
            if let Some(key) = hold.read()?.and_then(|content| known(content.bytes())) {
                key
            } else {
                hold.replace(&fresh)?;
                fresh
            }
        };
        Ok(Self { dir: Arc::new(dir), key: Key(key), owner })
    }

    /// Reads the pack of a set of folders; an empty one where there is none that counts.
    ///
    /// `of` is any text that names the set: the verb and the folders' full paths.
    #[must_use]
    pub fn pack(&self, of: &str) -> ScanPack {
        let name = format!("{}.pack", sha256(of.as_bytes()).hex());
        // What cannot be read, or is somebody else's, is as good as not there: then the files are scanned.
        let file = StateFile::at(&self.dir, &name, MAX_PACK, self.owner, LastGood::No);
        let content = file.and_then(|file| file.read()).unwrap_or(None);
        let known = content.and_then(|content| parse(&self.key, &name, content.bytes())).unwrap_or_default();
        ScanPack { records: self.clone(), name, known, used: Mutex::default() }
    }
}

/// The records of one set of folders during a run.
#[derive(Debug)]
pub struct ScanPack {
    records: ScanRecords,
    name: String,
    known: BTreeMap<Digest, Vec<u8>>,
    /// What this run asked for or gave: the next pack.
    used: Mutex<Used>,
}

#[derive(Debug, Default)]
struct Used {
    records: BTreeMap<Digest, Vec<u8>>,
    fresh: u64,
}

impl MatchCache for ScanPack {
    fn get(&self, key: &Digest) -> Option<Vec<u8>> {
        let record = self.known.get(key)?;
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.records.insert(*key, record.clone());
        Some(record.clone())
    }

    fn put(&self, key: &Digest, record: &[u8]) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.records.insert(*key, record.to_vec());
        used.fresh = used.fresh.saturating_add(1);
    }
}

/// What a pack did in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remembered {
    /// Records that the run used or made.
    pub records: u64,
    /// Those that it made: files that were scanned.
    pub fresh: u64,
}

impl ScanPack {
    /// Says what the run has used so far.
    #[must_use]
    pub fn remembered(&self) -> Remembered {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        Remembered { records: used.records.len() as u64, fresh: used.fresh }
    }

    /// Writes what this run used and made in place of what was there; nothing where nothing changed.
    ///
    /// # Errors
    /// The system's own, where the folder cannot be written. The run's result does not depend on it.
    ///
    /// # Guarantees
    /// A reader sees the old pack or the new one, and takes neither for good if it is cut.
    pub fn keep(&self) -> io::Result<()> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.fresh == 0 && used.records.len() == self.known.len() {
            return Ok(());
        }
        let body = written(&used.records);
        drop(used);
        if body.len() as u64 > MAX_PACK {
            return Ok(());
        }
        let dir = &self.records.dir;
        // The name is this process's own: two that write the same pack at once each put theirs in place whole.
        let temp = format!("{}.{}.tmp", self.name, std::process::id());
        let done = write(dir, &temp, &[MAGIC, &code(&self.records.key, &self.name, &body), &body])
            .and_then(|()| dir.rename(&temp, dir, &self.name));
        if done.is_err() {
            // What is left of it is of no use, and the first error tells more.
            drop(dir.remove_file(&temp));
        }
        done?;
        prune(dir)
    }
}

fn write(dir: &Dir, name: &str, parts: &[&[u8]]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut file = dir.open_with(name, &options)?;
    for part in parts {
        file.write_all(part)?;
    }
    Ok(())
}

/// HMAC-SHA256 of a pack's name and body.
fn code(key: &Key, name: &str, body: &[u8]) -> [u8; 32] {
    let padded = |with: u8| -> Vec<u8> {
        let rest = core::iter::repeat_n(0, 64_usize.saturating_sub(KEY_LEN));
        key.0.iter().copied().chain(rest).map(|byte| byte ^ with).collect()
    };
    let mut inner = padded(0x36);
    inner.extend(MAGIC);
    inner.extend((name.len() as u64).to_le_bytes());
    inner.extend(name.as_bytes());
    inner.extend(body);
    let mut outer = padded(0x5c);
    outer.extend(sha256(&inner).as_bytes());
    *sha256(&outer).as_bytes()
}

fn written(records: &BTreeMap<Digest, Vec<u8>>) -> Vec<u8> {
    let mut body = Vec::new();
    for (key, record) in records {
        let Ok(len) = u32::try_from(record.len()) else { continue };
        body.extend(key.as_bytes());
        body.extend(len.to_le_bytes());
        body.extend(record);
    }
    body
}

/// Reads a pack. `None` where its code is not that of its bytes.
fn parse(key: &Key, name: &str, bytes: &[u8]) -> Option<BTreeMap<Digest, Vec<u8>>> {
    let (given, body) = bytes.strip_prefix(MAGIC)?.split_at_checked(32)?;
    // All bytes are compared, whatever the first ones say.
    let differs = given.iter().zip(code(key, name, body)).fold(0, |sum, (a, b)| sum | (a ^ b));
    if differs != 0 {
        return None;
    }
    let mut rest = body;
    let mut out = BTreeMap::new();
    while !rest.is_empty() {
        let (key, after) = rest.split_at_checked(32)?;
        let (len, after) = after.split_at_checked(4)?;
        let (record, after) = after.split_at_checked(u32::from_le_bytes(len.try_into().ok()?) as usize)?;
        out.insert(Digest::from_bytes(key.try_into().ok()?), record.to_vec());
        rest = after;
    }
    Some(out)
}

/// Takes away the packs that were written longest ago, and what a run that was cut off left behind.
fn prune(dir: &Dir) -> io::Result<()> {
    let mut packs = Vec::new();
    for entry in dir.entries()? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if matches!(name.rsplit('.').next(), Some("pack" | "tmp")) {
            packs.push((entry.metadata()?.modified()?.into_std(), name));
        }
    }
    packs.sort();
    let more = packs.len().saturating_sub(MAX_PACKS);
    for (_, name) in packs.into_iter().take(more) {
        dir.remove_file(&name)?;
    }
    Ok(())
}
