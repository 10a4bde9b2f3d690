#![doc = include_str!("../README.md")]

mod base64;
mod codes;
mod digested;
mod directory;
mod entry;
mod error;
mod exclude;
mod item;
mod limits;
mod links;
mod list;
mod lock;
mod look;
mod name;
mod problem;
mod progress;
mod race;
mod read;
mod scheme;
mod snapshot;
mod take;
mod verify;
mod walk;

pub use codes::CODES;
pub use digested::{DigestCheck, Digested};
pub use entry::{Entry, Place};
pub use error::{TreeError, TreeErrorKind};
pub use exclude::{EXCLUDABLE, ExcludeError, Excludes};
pub use limits::{Limit, Limits};
pub use list::{EntryKind, ListError, ListLine, TreeList};
pub use lock::{
    JSON_LOCK_BYTES, JsonLock, JsonLockCheck, LOCK_BYTES, LOCK_ENTRIES, Lock, LockCheck, LockDifference,
    LockEntry, LockError, LockFacts, LockFile, LockOutcome, LockRule, Migrant, Migration, Source,
    SurfaceNotice,
};
pub use problem::{Notice, NoticeKind, TreeProblem, TreeProblemKind, TreeRefusal};
pub use progress::{Progress, Step};
pub use scheme::{CodewizardDigest, h1};
pub use snapshot::{ExecSource, ListCheck, Snapshot, TreeCheck};
pub use take::{ExecBits, ReadOptions};
pub use verify::{
    Claim, LockVerifier, Need, SignerId, Subject, Verifier, VerifierCheck, VerifierError, VerifierRefusal,
    VerifiersCheck, verify_all,
};
#[cfg(feature = "minisign")]
pub use verify::{MinisignKey, MinisignVerifier, Signer, SignerError};
