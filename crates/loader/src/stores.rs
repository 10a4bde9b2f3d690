//! What a host remembers, and what it may be asked.

use cap_std::fs::Dir;
use plugward_state_file::Owner;

use crate::gates::approval::ApprovalStore;
use crate::gates::mint::Grants;
use crate::gates::policy::RevocationStore;
use crate::options::{Person, Watch};
use crate::pins::PinStore;
use crate::record::{Record, RecordOptions};

/// What this machine remembers. It has no default: a host opens each part, or says that it has none.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "a new store must stop every host from building")]
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
    /// Opens pins, approvals and ledger in one directory of the host's own, without revocation lists. What cannot be
    /// used is kept as that: a check then refuses, and says why.
    #[must_use]
    pub fn open(dir: &Dir, owner: Owner, record: RecordOptions) -> Self {
        Self {
            pins: PinStore::open(dir, owner),
            approvals: ApprovalStore::open(dir, owner),
            revocations: RevocationStore::none(),
            record: Record::open(dir, record),
        }
    }

    /// Remembers nothing and writes nothing: for looks at folders of which nothing was ever pinned.
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

/// The host's side of a check: who watches, who answers, who grants.
#[expect(clippy::exhaustive_structs, reason = "a new side must stop every host from building")]
pub struct Host<'a> {
    /// Hears how far a check is.
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
