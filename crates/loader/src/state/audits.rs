//! The records of audits by a language model, in the user's state directory.

use core::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::fs::Dir;
use plugward_deep_audit::{Audit, AuditedBytes, KEPT_AUDITS, deciding_audit, superseded};
use plugward_ledger::{LedgerError, LedgerEvent, LedgerFiles};
use plugward_lifecycle::AuditFacts;
use plugward_state_file::{Backup, Owner, StateError, StateFile, make_directory};
use plugward_types::{AuditKind, AuditVerdict, Digest, PluginKey, Risk, TreeDigest};

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
/// effect. A record that is missing, damaged or writable by other users still counts with the risk that the ledger has.
#[derive(Debug)]
pub struct AuditRecords {
    state: Dir,
    owner: Owner,
    /// What the ledger knows, once it was read.
    logged: Mutex<Option<Arc<LoggedDecisions>>>,
}

/// The audits of one tree.
#[derive(Debug)]
pub struct TreeAudits {
    /// The records, the newest first.
    intact: Vec<Audit>,
    /// The audits whose records cannot be read.
    lost: Vec<LoggedAudit>,
}

impl TreeAudits {
    /// Returns the records, the newest first.
    #[must_use]
    pub fn intact(&self) -> &[Audit] {
        &self.intact
    }

    /// Returns the record about some contents that counts.
    #[must_use]
    pub fn deciding(&self, bytes: &AuditedBytes) -> Option<&Audit> {
        deciding_audit(&self.intact, bytes)
    }

    /// Returns the highest risk of all audits of some contents, also of those whose record cannot be read.
    #[must_use]
    pub fn risk(&self, bytes: &AuditedBytes) -> Option<Risk> {
        let lost = self.lost(bytes).map(|lost| lost.risk);
        lost.chain(self.deciding(bytes).map(|audit| audit.risk)).max()
    }

    /// Returns the audits without a record that count for some contents. The ledger does not know the shared files of an
    /// audit, so each audit of the tree counts.
    fn lost(&self, bytes: &AuditedBytes) -> impl Iterator<Item = &LoggedAudit> {
        // A record of these contents with the same risk replaces a lost one.
        let own = self.deciding(bytes).map(|audit| audit.risk);
        // Old records are deleted in favor of newer ones, of which one has at least the same risk.
        let is_pruned = |lost: &LoggedAudit| {
            self.intact.len() >= KEPT_AUDITS && self.intact.iter().any(|audit| audit.risk >= lost.risk)
        };
        self.lost.iter().filter(move |lost| own.is_none_or(|own| own < lost.risk) && !is_pruned(lost))
    }
}

/// What the ledger knows about audits.
#[derive(Debug, Default)]
struct LoggedDecisions {
    /// The replies of models, by tree.
    audits: BTreeMap<String, Vec<LoggedAudit>>,
    /// The last acceptance of a plugin's tree, by the names of both.
    accepted: BTreeMap<(String, String), u64>,
}

impl LoggedDecisions {
    /// Returns the replies about a tree.
    fn of_tree(&self, tree: &str) -> &[LoggedAudit] {
        self.audits.get(tree).map_or(&[], Vec::as_slice)
    }
}

/// A reply of a model, as the ledger knows it.
#[derive(Debug, Clone)]
struct LoggedAudit {
    seq: u64,
    audit: String,
    risk: Risk,
}

/// The audits of some contents, and what a user decided about them.
#[derive(Debug, Clone)]
pub(crate) struct CountedAudit {
    /// The record with the highest risk.
    pub(crate) audit: Option<Audit>,
    /// The highest risk of all audits.
    pub(crate) risk: Risk,
    /// Whether an audit has no record that can be read.
    pub(crate) is_damaged: bool,
    /// Whether the user accepted the contents after the audits that count.
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
        Ok(Self { state, owner, logged: Mutex::default() })
    }

    /// Returns the audits of a tree.
    ///
    /// # Errors
    /// `ledger/io` if the ledger cannot be read.
    pub fn of_tree(&self, tree: &TreeDigest) -> Result<TreeAudits, StoreFailure> {
        let found = self.state.open_dir(format!("{DIRECTORY}/{}", tree.hex()));
        let found = found.map(|dir| self.files(&dir)).unwrap_or_default();
        let mut lost = self.logged()?.of_tree(&tree.to_string()).to_vec();
        let mut intact = Vec::new();
        for audit in found.into_iter().filter(|audit| audit.tree == *tree) {
            let digest = audit.digest().to_string();
            if lost.extract_if(.., |logged| logged.audit == digest).count() > 0 {
                intact.push(audit);
            }
        }
        intact.sort_by_key(|audit| core::cmp::Reverse(audit.at));
        Ok(TreeAudits { intact, lost })
    }

    /// Adds the risk and the advice of all audits of some contents to the facts of the scan.
    ///
    /// # Errors
    /// As [`Self::of_tree`].
    pub fn facts(&self, bytes: &AuditedBytes, scan: AuditFacts) -> Result<AuditFacts, StoreFailure> {
        let all = self.of_tree(&bytes.tree)?;
        let risk = scan.risk.max(all.risk(bytes).unwrap_or(Risk::Low));
        let Some(audit) = all.deciding(bytes) else { return Ok(AuditFacts { risk, ..scan }) };
        let verdict = if scan.dangers > 0 { AuditVerdict::Reject } else { audit.verdict };
        Ok(AuditFacts { kind: AuditKind::Deep, risk, verdict, ..scan })
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
            let (tree, name) = (audit.tree.to_string(), digest.to_string());
            let is_known = self.logged()?.of_tree(&tree).iter().any(|logged| logged.audit == name);
            return Ok(Some(audit).filter(|_| is_known));
        }
        Ok(None)
    }

    /// Returns the audits of some contents that count, with the decision of a user about them.
    pub(crate) fn deciding(
        &self,
        key: &PluginKey,
        bytes: &AuditedBytes,
    ) -> Result<Option<CountedAudit>, StoreFailure> {
        let all = self.of_tree(&bytes.tree)?;
        let Some(risk) = all.risk(bytes) else { return Ok(None) };
        let audit = all.deciding(bytes).cloned();
        let name = audit.as_ref().map(|audit| audit.digest().to_string());
        let (logged, tree) = (self.logged()?, bytes.tree.to_string());
        let own = logged.of_tree(&tree).iter().filter(|logged| Some(&logged.audit) == name.as_ref());
        // Every audit that counts must be older than the decision.
        let last = own.chain(all.lost(bytes)).map(|logged| logged.seq).max();
        let accepted = logged.accepted.get(&(ledger_name(key), tree));
        let is_accepted = accepted.zip(last).is_some_and(|(accepted, last)| *accepted > last);
        let is_damaged = all.lost(bytes).next().is_some();
        Ok(Some(CountedAudit { audit, risk, is_damaged, is_accepted }))
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
        *self.logged.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let all = self.of_tree(&audit.tree).map_err(DecisionError::Store)?;
        for old in superseded(all.intact(), approved) {
            let name = file_name(&old.digest());
            for name in [format!("{name}.lock"), name] {
                // Another process can have deleted it. What stays takes space, and counts as before.
                let _is_gone = dir.remove_file(name).is_ok();
            }
        }
        Ok(())
    }

    /// Returns what the ledger knows. It is read once, since a check has many plugins.
    fn logged(&self) -> Result<Arc<LoggedDecisions>, StoreFailure> {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(logged) = &*logged {
            return Ok(Arc::clone(logged));
        }
        let read = match LedgerFiles::open(&self.state) {
            // Before the first record there are neither a ledger nor audits.
            Err(error) if is_missing(&error) && !self.state.exists(DIRECTORY) => LoggedDecisions::default(),
            opened => opened.and_then(|ledger| read(&ledger)).map_err(|error| unread(&error))?,
        };
        Ok(Arc::clone(logged.insert(Arc::new(read))))
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

/// Reads the replies of models, and the acceptances of trees that have one.
fn read(ledger: &LedgerFiles) -> Result<LoggedDecisions, LedgerError> {
    let found = RefCell::new(LoggedDecisions::default());
    ledger.find_last("plugin_audited", |record| {
        if let Some(LedgerEvent::PluginAudited { digest, audit, risk, .. }) = record.event() {
            // A risk that a newer plugward wrote is not known to be low.
            let risk = risk.parse().unwrap_or(Risk::Critical);
            let logged = LoggedAudit { seq: record.seq(), audit: audit.clone(), risk };
            found.borrow_mut().audits.entry(digest.clone()).or_default().push(logged);
        }
        false
    })?;
    if found.borrow().audits.is_empty() {
        return Ok(found.into_inner());
    }
    ledger.find_last("pin_accepted", |record| {
        if let Some(LedgerEvent::PinAccepted { plugin, digest, .. }) = record.event() {
            // The records come in reverse order.
            found.borrow_mut().accepted.entry((plugin.clone(), digest.clone())).or_insert(record.seq());
        }
        false
    })?;
    Ok(found.into_inner())
}

fn file_name(audit: &Digest) -> String {
    format!("{}.json", audit.hex())
}

fn is_missing(error: &LedgerError) -> bool {
    let source = core::error::Error::source(error).and_then(|source| source.downcast_ref::<std::io::Error>());
    source.is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

fn unread(error: &LedgerError) -> StoreFailure {
    StoreFailure::new(error.code(), &error.to_string(), error.help())
}
