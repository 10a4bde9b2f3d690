//! Listing the records of a ledger.

use std::collections::VecDeque;

use plugward_ledger::{
    ChainVerification, LedgerError, LedgerEvent, LedgerFiles, LedgerRecord, LedgerTime, VerifyPlan,
};

/// A filter for records. An empty filter matches all.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "the filters of the command")]
pub struct ShowQuery<'a> {
    /// Only records of this workflow.
    pub workflow: Option<&'a str>,
    /// Only records of this plugin.
    pub plugin: Option<&'a str>,
    /// Only records of this type.
    pub type_name: Option<&'a str>,
    /// Only records from this time on.
    pub since: Option<LedgerTime>,
    /// Only this many records, the last ones.
    pub last: Option<usize>,
}

/// A record that matches a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedRecord {
    /// The record.
    pub record: LedgerRecord,
    /// Its line in the file, without the LF.
    pub line: String,
}

impl ShowQuery<'_> {
    /// Returns `true` if a record matches, except for `last`.
    #[must_use]
    pub fn wants(&self, record: &LedgerRecord) -> bool {
        let event = record.event();
        self.workflow.is_none_or(|id| event.and_then(LedgerEvent::workflow) == Some(id))
            && self.plugin.is_none_or(|name| event.is_some_and(|event| names(event, name)))
            && self.type_name.is_none_or(|name| record.type_name() == name)
            && self.since.is_none_or(|since| record.ts() >= since)
    }
}

fn names(event: &LedgerEvent, name: &str) -> bool {
    match event {
        LedgerEvent::Decision { plugin, .. }
        | LedgerEvent::PinEnrolled { plugin, .. }
        | LedgerEvent::PinAccepted { plugin, .. }
        | LedgerEvent::PinForgotten { plugin, .. }
        | LedgerEvent::PinRefused { plugin, .. }
        | LedgerEvent::ApprovalGiven { plugin, .. }
        | LedgerEvent::ApprovalRevoked { plugin, .. }
        | LedgerEvent::PluginAudited { plugin, .. }
        | LedgerEvent::PluginDenied { plugin, .. }
        | LedgerEvent::PluginUndenied { plugin }
        | LedgerEvent::PluginGated { plugin, .. }
        | LedgerEvent::CapabilityMinted { plugin, .. }
        | LedgerEvent::BundleMinted { plugin, .. }
        | LedgerEvent::MintRefused { plugin, .. }
        | LedgerEvent::CapabilityUsed { plugin, .. }
        | LedgerEvent::UseRefused { plugin, .. }
        | LedgerEvent::LaunchStarted { plugin, .. } => plugin == name,
        LedgerEvent::PluginsLoaded { plugins, .. } => plugins.iter().any(|seen| seen.plugin == name),
        LedgerEvent::FilesystemRaceDetected { plugin, .. } => plugin.as_deref() == Some(name),
        LedgerEvent::LedgerOpened { .. }
        | LedgerEvent::LedgerRecovered { .. }
        | LedgerEvent::LedgerContinued { .. }
        | LedgerEvent::Checkpoint { .. }
        | LedgerEvent::WorkflowOpened { .. }
        | LedgerEvent::WorkflowClosed { .. }
        | LedgerEvent::ExceptionUsed { .. }
        | LedgerEvent::PinsStored { .. }
        | LedgerEvent::CapabilityUseEnded { .. }
        | LedgerEvent::CapabilityRevoked { .. }
        | LedgerEvent::RawOutputLaundered { .. }
        | LedgerEvent::RawOutputShown { .. }
        | LedgerEvent::LaunchEnded { .. } => false,
    }
}

/// Passes the records that match to `each`, in order, up to the first line that does not fit the chain.
///
/// With `last`, that many records are kept in memory, otherwise one at a time.
///
/// # Errors
///
/// `ledger/io` if a file cannot be read.
pub fn show(
    files: &LedgerFiles,
    query: &ShowQuery<'_>,
    from: Option<u64>,
    each: &mut dyn FnMut(ListedRecord),
) -> Result<ChainVerification, LedgerError> {
    let mut kept = VecDeque::new();
    let plan = from.into_iter().fold(VerifyPlan::new(), VerifyPlan::from);
    let verified = files.verify(plan, &mut |record, line| {
        if !query.wants(record) {
            return;
        }
        let line = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(line)).into_owned();
        let shown = ListedRecord { record: record.clone(), line };
        match query.last {
            None => each(shown),
            Some(last) => {
                // A ring of `last` records: a ledger may have more records than fit in memory.
                kept.push_back(shown);
                if kept.len() > last {
                    kept.pop_front();
                }
            }
        }
    })?;
    kept.into_iter().for_each(each);
    Ok(verified)
}

impl ListedRecord {
    /// Returns one line for people: number, timestamp, type, and the fields as in the file.
    #[must_use]
    pub fn to_text(&self) -> String {
        let head = format!("\"type\":\"{}\"", self.record.type_name());
        let fields = self.line.split_once(&head).map_or("", |(_, rest)| rest);
        let fields = fields.trim_start_matches(',').trim_end_matches('}');
        format!("{:>7} {} {:<24} {fields}", self.record.seq(), self.record.ts(), self.record.type_name())
    }
}
