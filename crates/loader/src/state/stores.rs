//! The stores of a machine, and the host's side of a check.

use cap_std::fs::Dir;
use plugward_state_file::Owner;

use crate::gates::approval::ApprovalStore;
use crate::gates::mint::Grants;
use crate::gates::policy::RevocationStore;
use crate::record::{Record, RecordOptions};
use crate::run::options::{Person, Watch};
use crate::state::audits::AuditRecords;
use crate::state::pins::PinStore;

/// Everything that this machine stores about plugins. There is no `Default`: a host opens each part.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "every host must open a new store")]
pub struct Stores {
    /// The pins.
    pub pins: PinStore,
    /// The approvals.
    pub approvals: ApprovalStore,
    /// The revocation lists of the settings.
    pub revocations: RevocationStore,
    /// The ledger.
    pub record: Record,
}

impl Stores {
    /// Opens pins, approvals, audits and ledger in one directory of the host, without revocation lists. The error
    /// of an unusable store is kept in the value, and a check then refuses with it.
    #[must_use]
    pub fn open(dir: &Dir, owner: Owner, record: RecordOptions) -> Self {
        Self {
            pins: PinStore::open(dir, owner),
            approvals: ApprovalStore::open(dir, owner).with_audits(AuditRecords::at(dir, owner).ok()),
            revocations: RevocationStore::none(),
            record: Record::open(dir, record),
        }
    }

    /// Creates stores that contain nothing and write nothing, for a look at directories in which nothing is
    /// pinned.
    #[must_use]
    pub fn nothing() -> Self {
        Self {
            pins: PinStore::empty(),
            approvals: ApprovalStore::empty(),
            revocations: RevocationStore::none(),
            record: Record::nowhere(),
        }
    }
}

/// The host's side of a check.
#[expect(clippy::exhaustive_structs, reason = "every host must handle a new callback")]
pub struct Host<'a> {
    /// Observes the progress.
    pub watch: &'a dyn Watch,
    /// Answers questions.
    pub person: &'a mut dyn Person,
    /// Grants capabilities.
    pub grants: &'a dyn Grants,
}

impl core::fmt::Debug for Host<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Host").finish_non_exhaustive()
    }
}
