//! The records of audits by a language model, in the user's state directory.

use std::collections::BTreeSet;

use cap_std::fs::Dir;
use plugward_deep_audit::{Audit, AuditedBytes, deciding_audit, superseded};
use plugward_ledger::{LedgerEvent, LedgerFiles, LedgerRecord};
use plugward_state_file::{Backup, Owner, StateError, StateFile, make_directory};
use plugward_types::{AuditKind, Digest, PluginKey, TreeDigest};

use crate::record::{Record, ledger_name};
use crate::state::decide::DecisionError;
use crate::state::pins::StoreFailure;

const DIRECTORY: &str = "audits";
/// The most bytes of a record.
const MOST_BYTES: u64 = 8 << 20;
/// How long a write waits for another process.
const WAIT: core::time::Duration = core::time::Duration::from_secs(5);

/// The records of audits, by the tree that was audited.
///
/// # Guarantees
/// A record counts only if the ledger knows that a model replied: a file that something else placed in the directory has no
/// effect. A record that is damaged, or that other users can write, counts as missing.
#[derive(Debug)]
pub struct AuditRecords {
    state: Dir,
    owner: Owner,
}

/// A record, and what a user decided about it.
#[derive(Debug, Clone)]
pub(crate) struct CountedAudit {
    pub(crate) audit: Audit,
    /// Whether the user accepted the contents after the audit.
    pub(crate) is_accepted: bool,
}

impl AuditRecords {
    /// Describes the records in the user's state directory, which also has the ledger. Nothing is read or created.
    ///
    /// # Errors
    /// `state/io` if the directory handle cannot be duplicated.
    pub fn at(state_directory: &Dir, owner: Owner) -> Result<Self, StateError> {
        let state = state_directory
            .try_clone()
            .map_err(|error| StateError::of_io("open the directory", DIRECTORY, error))?;
        Ok(Self { state, owner })
    }

    /// Returns the records about a tree, the newest first.
    ///
    /// # Errors
    /// `ledger/io` if there are records and the ledger cannot be read.
    pub fn of_tree(&self, tree: &TreeDigest) -> Result<Vec<Audit>, StoreFailure> {
        let Ok(dir) = self.state.open_dir(format!("{DIRECTORY}/{}", tree.hex())) else {
            return Ok(Vec::new());
        };
        let found = self.files(&dir).into_iter().filter(|audit| audit.tree == *tree).collect::<Vec<_>>();
        if found.is_empty() {
            return Ok(found);
        }
        let ledger = self.ledger()?;
        let mut audits = Vec::new();
        for audit in found {
            if audited(&ledger, &audit)?.is_some() {
                audits.push(audit);
            }
        }
        audits.sort_by_key(|audit| core::cmp::Reverse(audit.at));
        Ok(audits)
    }

    /// Returns the record that a digest names, of whatever tree.
    ///
    /// # Errors
    /// As [`Self::of_tree`].
    pub fn find(&self, digest: &Digest) -> Result<Option<Audit>, StoreFailure> {
        let Ok(trees) = self.state.read_dir(DIRECTORY) else { return Ok(None) };
        let names = trees.filter_map(|tree| tree.ok()?.file_name().into_string().ok());
        for name in names {
            let Ok(dir) = self.state.open_dir(format!("{DIRECTORY}/{name}")) else { continue };
            let Some(audit) = self.read(&dir, &file_name(digest)) else { continue };
            return Ok(audited(&self.ledger()?, &audit)?.map(|_record| audit));
        }
        Ok(None)
    }

    /// Returns the audit of some contents that counts, with the decision of a user about it.
    pub(crate) fn deciding(
        &self,
        key: &PluginKey,
        bytes: &AuditedBytes,
    ) -> Result<Option<CountedAudit>, StoreFailure> {
        let audits = self.of_tree(&bytes.tree)?;
        let Some(audit) = deciding_audit(&audits, bytes) else { return Ok(None) };
        let ledger = self.ledger()?;
        let (plugin, tree) = (ledger_name(key), bytes.tree.to_string());
        let is_accepted = |record: &LedgerRecord| {
            matches!(record.event(), Some(LedgerEvent::PinAccepted { plugin: of, digest, .. })
                if *of == plugin && *digest == tree)
        };
        let accepted = ledger.find_last("pin_accepted", is_accepted).map_err(|error| unread(&error))?;
        let known = audited(&ledger, audit)?;
        let is_accepted = accepted.zip(known).is_some_and(|(accepted, known)| accepted.seq() > known.seq());
        Ok(Some(CountedAudit { audit: audit.clone(), is_accepted }))
    }

    /// Stores an audit to which a model replied, and records it. `approved` are the audits that approvals name, which are
    /// not deleted in favor of newer ones.
    ///
    /// # Errors
    /// The failure of the directory or of the ledger. The audit then does not count.
    pub fn store(
        &self,
        key: &PluginKey,
        audit: &Audit,
        approved: &BTreeSet<Digest>,
        record: &Record,
    ) -> Result<(), DecisionError> {
        let not_stored = |error: StateError| {
            DecisionError::Store(StoreFailure::new(error.code(), &error.to_string(), &error.help()))
        };
        let directory = format!("{DIRECTORY}/{}", audit.tree.hex());
        let dir = make_directory(&self.state, &directory).map_err(not_stored)?;
        let file = self.file(&dir, &file_name(&audit.digest())).map_err(not_stored)?;
        file.lock(WAIT).and_then(|lock| lock.replace(audit.to_json().as_bytes())).map_err(not_stored)?;
        let model = audit.auditor.as_ref().map(|auditor| format!("{} {}", auditor.client(), auditor.model()));
        let event = LedgerEvent::PluginAudited {
            plugin: ledger_name(key),
            digest: audit.tree.to_string(),
            audit: audit.digest().to_string(),
            model: model.unwrap_or_default(),
            risk: audit.risk.as_str().to_owned(),
        };
        record.note(&[event]).map_err(DecisionError::Record)?;
        let all = self.of_tree(&audit.tree).map_err(DecisionError::Store)?;
        for old in superseded(&all, approved) {
            let name = file_name(&old.digest());
            for name in [format!("{name}.lock"), name] {
                // Another process can have deleted it. What stays takes space, and counts as before.
                let _is_gone = dir.remove_file(name).is_ok();
            }
        }
        Ok(())
    }

    fn ledger(&self) -> Result<LedgerFiles, StoreFailure> {
        LedgerFiles::open(&self.state).map_err(|error| unread(&error))
    }

    fn files(&self, dir: &Dir) -> Vec<Audit> {
        let entries = dir.entries().into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names
            .filter(|name| name.strip_suffix(".json").is_some())
            .filter_map(|name| self.read(dir, &name))
            .collect()
    }

    /// Reads a record, if its name is that of its contents.
    fn read(&self, dir: &Dir, name: &str) -> Option<Audit> {
        let content = self.file(dir, name).ok()?.read().ok()??;
        let audit = Audit::parse(content.bytes()).ok()?;
        (audit.kind == AuditKind::Deep && file_name(&audit.digest()) == name).then_some(audit)
    }

    fn file(&self, dir: &Dir, name: &str) -> Result<StateFile, StateError> {
        StateFile::at(dir, name, MOST_BYTES, self.owner, Backup::None)
    }
}

fn file_name(audit: &Digest) -> String {
    format!("{}.json", audit.hex())
}

/// Returns the record of the reply.
fn audited(ledger: &LedgerFiles, audit: &Audit) -> Result<Option<LedgerRecord>, StoreFailure> {
    let (tree, name) = (audit.tree.to_string(), audit.digest().to_string());
    let is_it = |record: &LedgerRecord| {
        matches!(record.event(), Some(LedgerEvent::PluginAudited { digest, audit, .. })
            if *digest == tree && *audit == name)
    };
    ledger.find_last("plugin_audited", is_it).map_err(|error| unread(&error))
}

fn unread(error: &plugward_ledger::LedgerError) -> StoreFailure {
    StoreFailure::new(error.code(), &error.to_string(), error.help())
}
