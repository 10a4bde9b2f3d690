//! The record of starts of programs.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use plugward_capability::{Trail, WorkflowId};
use plugward_launch::LaunchReport;
use plugward_ledger::LedgerEvent;
use plugward_manifest::Coverage;
use plugward_types::Digest;

use super::failure::RecordFailure;
use super::run::{anchor, append};

/// The program of a start, as the ledger names it.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a host must decide each part")]
pub struct LaunchSubject<'a> {
    /// The plugin.
    pub plugin: &'a str,
    /// The file that starts.
    pub file: &'a str,
    /// The digest of the file. `None` if it can be executed and not read.
    pub digest: Option<&'a Digest>,
    /// The part of the program that the digest covers.
    pub coverage: Coverage,
}

/// The log of starts. Copies write to the same ledger.
#[derive(Debug, Clone)]
pub struct LaunchLog {
    trail: Trail,
    workflow: WorkflowId,
}

impl LaunchLog {
    pub(super) const fn new(trail: Trail, workflow: WorkflowId) -> Self {
        Self { trail, workflow }
    }

    /// Records that a program of a plugin is about to start. Returns the number for [`LaunchLog::ended`].
    ///
    /// # Errors
    /// [`RecordFailure`] if the ledger cannot be written. The program must then not start.
    pub fn started(&self, subject: &LaunchSubject<'_>, report: &LaunchReport) -> Result<u64, RecordFailure> {
        let event = LedgerEvent::LaunchStarted {
            workflow: self.workflow.as_str().to_owned(),
            plugin: subject.plugin.to_owned(),
            executable: subject.file.to_owned(),
            digest: subject.digest.map_or_else(|| "unreadable".to_owned(), Digest::to_string),
            rung: report.form.as_str().to_owned(),
            coverage: subject.coverage.code().to_owned(),
            enforcement: report.held.join(" "),
        };
        let written = self.trail.ledger().append(&[event]);
        let receipt = written.map_err(|error| RecordFailure::of_ledger(&error))?;
        anchor(&self.trail).map(|()| receipt.first_seq())
    }

    /// Records the end of a program; without an end, that it did not start.
    ///
    /// # Errors
    /// [`RecordFailure`] if the ledger cannot be written.
    pub fn ended(&self, launch: u64, end: Option<ExitStatus>) -> Result<(), RecordFailure> {
        let number = |value: Option<i32>| value.and_then(|value| u64::try_from(value).ok());
        let exit = number(end.and_then(|end| end.code()));
        let signal = number(end.and_then(|end| end.signal()));
        append(&self.trail, &[LedgerEvent::LaunchEnded { launch, exit, signal }])?;
        anchor(&self.trail)
    }
}
