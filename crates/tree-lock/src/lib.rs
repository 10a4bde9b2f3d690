#![doc = include_str!("../README.md")]

mod foreign_schemes;
mod lock;
mod problem;
mod read;
mod tree;
mod verify;

pub use foreign_schemes::{CodewizardDigest, h1};
pub use lock::{
    AnyLockFile, JSON_LOCK_BYTES, JsonLock, JsonLockCheck, LOCK_BYTES, LOCK_ENTRIES, LockCheck,
    LockDifference, LockEntry, LockError, LockFacts, LockFile, LockOutcome, LockRule, LockSource,
    MigratedPlugin, Migration, SurfaceWarning,
};
pub use plugward_sandbox_path as sandbox_path;
pub use plugward_types as types;
pub use problem::codes::CODES;
pub use problem::error::{TreeError, TreeErrorKind};
pub use problem::{TreeProblem, TreeProblemKind, TreeRefusal, TreeWarning, TreeWarningKind};
pub use read::progress::{Progress, ReadProgress};
pub use read::take::{ExecBits, ReadOptions};
pub use tree::digested::{DigestCheck, DigestedTree};
pub use tree::entry::{ResolvedEntry, SnapshotEntry};
pub use tree::exclude::{EXCLUDABLE, ExcludeError, Excludes, HOST_FILES};
pub use tree::limits::{TreeLimit, TreeLimits};
pub use tree::list::{EntryKind, ListError, ListLine, TreeList};
pub use tree::snapshot::{ExecSource, ListCheck, Snapshot, TreeCheck};
pub use verify::{
    Claim, LockVerifier, SignerId, Verifier, VerifierCheck, VerifierError, VerifierRefusal,
    VerifierRequirement, VerifierSubject, VerifiersCheck, verify_all,
};
#[cfg(feature = "minisign")]
pub use verify::{MinisignKey, MinisignVerifier, Signer, SignerError};
