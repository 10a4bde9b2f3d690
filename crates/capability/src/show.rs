//! Listing the records of a ledger.

use std::collections::VecDeque;

use plugward_ledger::{Event, LedgerError, LedgerFiles, Record, Timestamp, Verified, VerifyPlan};

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
    pub since: Option<Timestamp>,
    /// Only this many records, the last ones.
    pub last: Option<usize>,
}

/// A record that matches a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShownRecord {
    /// The record.
    pub record: Record,
    /// Its line in the file, without the LF.
    pub line: String,
}

impl ShowQuery<'_> {
    /// Returns `true` if a record matches, except for `last`.
    #[must_use]
    pub fn wants(&self, record: &Record) -> bool {
        let event = record.event();
        self.workflow.is_none_or(|id| event.and_then(Event::workflow) == Some(id))
            && self.plugin.is_none_or(|name| event.is_some_and(|event| names(event, name)))
            && self.type_name.is_none_or(|name| record.type_name() == name)
            && self.since.is_none_or(|since| record.ts() >= since)
    }
}

fn names(event: &Event, name: &str) -> bool {
    match event {
        Event::Decision { plugin, .. }
        | Event::PinEnrolled { plugin, .. }
        | Event::PinAccepted { plugin, .. }
        | Event::PinForgotten { plugin, .. }
        | Event::PinRefused { plugin, .. }
        | Event::ApprovalGiven { plugin, .. }
        | Event::ApprovalRevoked { plugin, .. }
        | Event::CapabilityMinted { plugin, .. }
        | Event::BundleMinted { plugin, .. }
        | Event::MintRefused { plugin, .. }
        | Event::CapabilityUsed { plugin, .. }
        | Event::UseRefused { plugin, .. }
        | Event::LaunchStarted { plugin, .. } => plugin == name,
        Event::PluginsLoaded { plugins, .. } => plugins.iter().any(|seen| seen.plugin == name),
        Event::FilesystemRaceDetected { plugin, .. } => plugin.as_deref() == Some(name),
        Event::LedgerOpened { .. }
        | Event::LedgerRecovered { .. }
        | Event::LedgerContinued { .. }
        | Event::Checkpoint { .. }
        | Event::WorkflowOpened { .. }
        | Event::WorkflowClosed { .. }
        | Event::ExceptionUsed { .. }
        | Event::CapabilityUseEnded { .. }
        | Event::CapabilityRevoked { .. }
        | Event::RawOutputLaundered { .. }
        | Event::LaunchEnded { .. } => false,
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
    each: &mut dyn FnMut(ShownRecord),
) -> Result<Verified, LedgerError> {
    let mut kept = VecDeque::new();
    let plan = from.into_iter().fold(VerifyPlan::new(), VerifyPlan::from);
    let verified = files.verify(plan, &mut |record, line| {
        if !query.wants(record) {
            return;
        }
        let line = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(line)).into_owned();
        let shown = ShownRecord { record: record.clone(), line };
        match query.last {
            None => each(shown),
            Some(last) => {
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

impl ShownRecord {
    /// Returns one line for people: number, timestamp, type, and the fields as in the file.
    #[must_use]
    pub fn to_text(&self) -> String {
        let head = format!("\"type\":\"{}\"", self.record.type_name());
        let fields = self.line.split_once(&head).map_or("", |(_, rest)| rest);
        let fields = fields.trim_start_matches(',').trim_end_matches('}');
        format!("{:>7} {} {:<24} {fields}", self.record.seq(), self.record.ts(), self.record.type_name())
    }
}
