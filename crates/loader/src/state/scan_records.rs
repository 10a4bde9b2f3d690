//! A cache of earlier scans in the state directory, so that unchanged files need not be scanned again.

use core::fmt;
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use plugward_scanner::MatchCache;
use plugward_state_file::{Backup, Owner, StateError, StateFile, make_directory};
use plugward_types::Digest;

use crate::contents::hash::sha256;

/// The directory in the state directory.
const DIRECTORY: &str = "scan-cache";
/// The name of the file with the key.
const KEY: &str = "key";
const KEY_LEN: usize = 32;
/// The first bytes of a pack.
const MAGIC: &[u8] = b"plugward-scan-pack/1\n";
/// Larger packs are neither read nor written, which bounds memory.
const MAX_PACK: u64 = 64 << 20;
/// The number of packs that are kept. The oldest is removed first.
const MAX_PACKS: usize = 64;
const WAIT: Duration = Duration::from_secs(5);

/// The scan cache: one pack of records per set of directories.
///
/// # Guarantees
/// A pack is used only if its message authentication code matches its name and contents under the key in
/// the same directory. A pack that is damaged, truncated, renamed or from another machine is ignored, and
/// the files are scanned. The key belongs to this user, and no other user can write it or its directory. A
/// program with this user's privileges can write key and records, and so hide findings. The trust mode
/// `locked` reads no records.
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
    /// Opens the cache in the user's state directory, and creates it with its key if it does not exist.
    ///
    /// `fresh` is 32 bytes from the system's random source. They become the key if there is none.
    ///
    /// # Errors
    /// Those of [`StateFile::read`] and [`make_directory`]. A key that another user can write is refused.
    pub fn open(state_directory: &Dir, owner: Owner, fresh: [u8; KEY_LEN]) -> Result<Self, StateError> {
        let dir = make_directory(state_directory, DIRECTORY)?;
        let file = StateFile::at(&dir, KEY, KEY_LEN as u64, owner, Backup::None)?;
        let known = |bytes: &[u8]| <[u8; KEY_LEN]>::try_from(bytes).ok();
        let there = file.read()?.and_then(|content| known(content.bytes()));
        let key = if let Some(key) = there {
            key
        } else {
            let hold = file.lock(WAIT)?;
            // Another process may have written the key meanwhile.
            if let Some(key) = hold.read()?.and_then(|content| known(content.bytes())) {
                key
            } else {
                hold.replace(&fresh)?;
                fresh
            }
        };
        Ok(Self { dir: Arc::new(dir), key: Key(key), owner })
    }

    /// Reads the pack of a set of directories. The pack is empty if none is stored or it is invalid.
    ///
    /// `of` is any text that identifies the set, such as the command and the full paths.
    #[must_use]
    pub fn pack(&self, of: &str) -> ScanPack {
        let name = format!("{}.pack", sha256(of.as_bytes()).hex());
        // An unreadable pack, or one of another user, counts as absent, and the files are scanned.
        let file = StateFile::at(&self.dir, &name, MAX_PACK, self.owner, Backup::None);
        let content = file.and_then(|file| file.read()).unwrap_or(None);
        let known = content.and_then(|content| parse(&self.key, &name, content.bytes())).unwrap_or_default();
        ScanPack { records: self.clone(), name, known, used: Mutex::default() }
    }
}

/// The scan records of one set of directories during a run.
#[derive(Debug)]
pub struct ScanPack {
    records: ScanRecords,
    name: String,
    known: BTreeMap<Digest, Vec<u8>>,
    /// The records that this run read or made, which become the next pack.
    used: Mutex<UsedRecords>,
}

#[derive(Debug, Default)]
struct UsedRecords {
    records: BTreeMap<Digest, Vec<u8>>,
    has_fresh: bool,
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
        used.has_fresh = true;
    }
}

/// Returns the key of a record that is no record of the scanner. `what` names its kind.
pub(crate) fn record_key(what: &str, parts: &[&[u8]]) -> Digest {
    let mut text = format!("plugward-record/1 {what} {}", env!("CARGO_PKG_VERSION")).into_bytes();
    for part in parts {
        text.extend((part.len() as u64).to_le_bytes());
        text.extend(*part);
    }
    sha256(&text)
}

impl ScanPack {
    /// Replaces the stored pack with the records of this run, unless nothing changed.
    ///
    /// # Errors
    /// The system error if the directory cannot be written. The result of the run does not depend on it.
    ///
    /// # Guarantees
    /// A reader sees the old pack or the new one. An incomplete pack is ignored, since its code does not
    /// match.
    pub fn keep(&self) -> io::Result<()> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if !used.has_fresh && used.records.len() == self.known.len() {
            return Ok(());
        }
        let body = written(&used.records);
        drop(used);
        if body.len() as u64 > MAX_PACK {
            return Ok(());
        }
        let dir = &self.records.dir;
        // The process id makes the name unique, so two processes that write the same pack each rename a
        // complete file.
        let temp = format!("{}.{}.tmp", self.name, std::process::id());
        let done = write(dir, &temp, &[MAGIC, &code(&self.records.key, &self.name, &body), &body])
            .and_then(|()| dir.rename(&temp, dir, &self.name));
        if done.is_err() {
            // The incomplete file is useless, and the first error is the one to report.
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

/// Returns the HMAC-SHA256 of a pack's name and body.
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

/// Parses a pack. Returns `None` if its code does not match.
fn parse(key: &Key, name: &str, bytes: &[u8]) -> Option<BTreeMap<Digest, Vec<u8>>> {
    let (given, body) = bytes.strip_prefix(MAGIC)?.split_at_checked(32)?;
    // All bytes are compared, so that the time does not depend on the first difference.
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

/// Removes the oldest packs, and temporary files of interrupted runs.
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
