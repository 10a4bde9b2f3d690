//! An observer that records the races which a jail detects.

use std::sync::Mutex;

use plugward_capability::{Trail, WorkflowId};
use plugward_sandbox_path::{FilesystemRaceDetected, RaceObserver};

use super::failure::RecordFailure;

/// Records every race that a jail detects. The gate that ran into it refuses as well.
#[derive(Debug)]
pub(crate) struct Races {
    trail: Trail,
    workflow: WorkflowId,
    jail: String,
    failed: Mutex<Option<RecordFailure>>,
}

impl Races {
    pub(super) fn new(trail: Trail, workflow: WorkflowId, jail: &str) -> Self {
        Self { trail, workflow, jail: jail.to_owned(), failed: Mutex::new(None) }
    }

    /// Returns the error of the first race that could not be recorded.
    pub(crate) fn failure(&self) -> Option<RecordFailure> {
        self.failed.lock().ok().and_then(|failed| failed.clone())
    }
}

impl RaceObserver for Races {
    fn race(&self, race: &FilesystemRaceDetected) {
        let path = String::from_utf8_lossy(race.relative().as_bytes()).into_owned();
        let written = self.trail.race(plugward_capability::RaceReport {
            workflow: Some(&self.workflow),
            plugin: None,
            jail: &self.jail,
            path: &path,
            cause: &race.cause().to_string(),
            errno: race.raw_os_error().and_then(|errno| u32::try_from(errno).ok()),
        });
        if let Err(error) = written
            && let Ok(mut failed) = self.failed.lock()
        {
            failed.get_or_insert_with(|| RecordFailure::of_trail(&error));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plugward_capability::{NoScrub, TrailRules, folds};
    use plugward_ledger::{Ledger, LedgerEvent, LedgerId, LedgerTime};
    use plugward_sandbox_path::{Jail, Policy, SandboxedPath};

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test is the attacker")]
    fn a_race_that_the_caller_swallows_is_on_the_record() {
        let clock = || LedgerTime::from_unix_micros(1_790_000_000_000_000).unwrap();
        let ledger = Ledger::in_memory(LedgerId::from_bytes([7; 16]), Box::new(clock), folds()).unwrap();
        let trail = Trail::open(ledger, TrailRules { scrub: Box::new(NoScrub) }).unwrap();
        let seen = Races::new(trail.clone(), WorkflowId::new("run").unwrap(), "plugins");
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("f"), "in").unwrap();
        let races = Arc::new(seen);
        let jail = Jail::open(directory.path(), Policy::standard()).unwrap().with_observer(races.clone());
        let path = SandboxedPath::create(&jail, "f").unwrap();
        let before =
            trail.record(LedgerEvent::ExceptionUsed { setting: "a".into(), reason: "b".into() }).unwrap();
        drop(path.open().unwrap());
        std::fs::remove_file(directory.path().join("f")).unwrap();
        assert!(path.open().is_err());
        let after =
            trail.record(LedgerEvent::ExceptionUsed { setting: "a".into(), reason: "b".into() }).unwrap();
        assert_eq!(
            after.first_seq() - before.first_seq(),
            2,
            "one record between, and none for the open that worked"
        );
        assert!(races.failure().is_none());
    }
}
