//! A directory in memory, for hosts without a state directory and for tests.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{LedgerError, LedgerErrorKind};
use crate::storage::{LIVE, LiveFileState, Medium, SyncMode, Tape};

#[derive(Debug, Default)]
pub(crate) struct Files {
    next: u64,
    by_name: BTreeMap<String, (u64, Vec<u8>)>,
    /// Files without a name, which open handles can still read.
    nameless: Vec<(u64, Vec<u8>)>,
}

impl Files {
    pub(crate) fn put(&mut self, name: &str, bytes: Vec<u8>) {
        self.next = self.next.saturating_add(1);
        let replaced = self.by_name.insert(name.to_owned(), (self.next, bytes));
        self.nameless.extend(replaced);
    }

    #[cfg(any(test, feature = "test-util"))]
    pub(crate) fn get(&self, name: &str) -> Option<&Vec<u8>> {
        self.by_name.get(name).map(|(_, bytes)| bytes)
    }

    fn by_id(&mut self, id: u64) -> Option<&mut Vec<u8>> {
        let all = self.by_name.values_mut().chain(&mut self.nameless);
        all.into_iter().find(|(other, _)| *other == id).map(|(_, bytes)| bytes)
    }
}

/// Files that several ledgers can share.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedFiles(Arc<Mutex<Files>>);

impl SharedFiles {
    pub(crate) fn files(&self) -> MutexGuard<'_, Files> {
        // A panic of another test thread leaves the files consistent, because each call changes one of them
        // at a time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Handle {
    shared: SharedFiles,
    id: u64,
}

#[derive(Debug)]
pub(crate) struct MemoryMedium {
    shared: SharedFiles,
    live: Option<Handle>,
}

impl MemoryMedium {
    pub(crate) const fn new(shared: SharedFiles) -> Self {
        Self { shared, live: None }
    }

    fn with_live<T>(&self, f: impl FnOnce(&mut Vec<u8>) -> T) -> io::Result<T> {
        let id = self.live.as_ref().map(|live| live.id);
        let mut files = self.shared.files();
        id.and_then(|id| files.by_id(id)).map(f).ok_or_else(gone)
    }
}

fn gone() -> io::Error {
    io::ErrorKind::NotFound.into()
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

fn from(bytes: &[u8], at: u64) -> &[u8] {
    usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or(&[])
}

impl Tape for Handle {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let mut files = self.shared.files();
        let bytes = files.by_id(self.id).ok_or_else(gone)?;
        let rest = from(bytes, at);
        let count = rest.len().min(buf.len());
        for (slot, byte) in buf.iter_mut().zip(rest) {
            *slot = *byte;
        }
        Ok(count)
    }

    fn size(&self) -> io::Result<u64> {
        self.shared.files().by_id(self.id).map(|bytes| length(bytes)).ok_or_else(gone)
    }
}

impl Medium for MemoryMedium {
    fn lock(&mut self) -> Result<(), LedgerError> {
        Ok(())
    }

    fn unlock(&mut self) {}

    fn live_state(&mut self) -> Result<LiveFileState, LedgerError> {
        let files = self.shared.files();
        Ok(match (files.by_name.get(LIVE), &self.live) {
            (None, _) => LiveFileState::Missing,
            (Some((id, bytes)), Some(live)) if *id == live.id => LiveFileState::Same(length(bytes)),
            _ => LiveFileState::Other,
        })
    }

    fn open_live(&mut self) -> Result<u64, LedgerError> {
        let files = self.shared.files();
        let (id, bytes) =
            files.by_name.get(LIVE).ok_or_else(|| LedgerError::io("open a ledger file", gone()))?;
        let (id, size) = (*id, length(bytes));
        drop(files);
        self.live = Some(Handle { shared: self.shared.clone(), id });
        Ok(size)
    }

    fn create_live(&mut self) -> Result<(), LedgerError> {
        self.shared.files().put(LIVE, Vec::new());
        self.open_live().map(drop)
    }

    fn live(&self) -> Result<&dyn Tape, LedgerError> {
        self.live.as_ref().map(|live| live as &dyn Tape).ok_or(LedgerError::new(LedgerErrorKind::Stopped))
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with_live(|live| live.extend_from_slice(bytes)).map(|()| bytes.len())
    }

    fn cut(&mut self, to: u64) -> io::Result<()> {
        self.with_live(|live| live.truncate(usize::try_from(to).unwrap_or(usize::MAX)))
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn copy_tail(&mut self, at: u64, name: &str) -> io::Result<()> {
        let tail = self.with_live(|live| from(live, at).to_vec())?;
        self.shared.files().put(name, tail);
        Ok(())
    }

    fn write_file(&mut self, name: &str, bytes: &[u8], _keep: SyncMode) -> io::Result<()> {
        self.shared.files().put(name, bytes.to_vec());
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str, _keep: SyncMode) -> io::Result<()> {
        let mut files = self.shared.files();
        let file = files.by_name.remove(from).ok_or_else(gone)?;
        let replaced = files.by_name.insert(to.to_owned(), file);
        // A checkpoint file is replaced often and never kept open, so it need not stay readable.
        drop(replaced);
        Ok(())
    }

    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.shared.files().by_name.keys().cloned().collect())
    }

    fn open_file(&self, name: &str) -> Result<Box<dyn Tape>, LedgerError> {
        let id = self.shared.files().by_name.get(name).map(|(id, _)| *id);
        let id = id.ok_or_else(|| LedgerError::io("open a ledger file", gone()))?;
        Ok(Box::new(Handle { shared: self.shared.clone(), id }))
    }
}
