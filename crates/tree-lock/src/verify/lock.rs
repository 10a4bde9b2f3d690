//! The verifier that is always there: the tree is the one that the lock names.

use super::{Claim, Subject, Verifier, VerifierCheck, VerifierError, VerifierRefusal};
use crate::lock::{LockCheck, LockDifference};

/// Holds a tree against PLUGINS.lock: integrity, and no signature.
///
/// It answers for the tree digest. Path, manifest and shared folders are the lock gate's
/// ([`LockFile::check`](crate::LockFile::check)), which knows them.
///
/// # Source
/// ADR-0011: the digest is the first strategy.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct LockVerifier;

impl LockVerifier {
    /// Makes the verifier.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl Verifier for LockVerifier {
    fn name(&self) -> &'static str {
        "lock"
    }

    fn verify(&self, subject: &Subject<'_>) -> Result<VerifierCheck, VerifierError> {
        let Some(lock) = subject.lock else {
            return Ok(VerifierCheck::NotMentioned);
        };
        let check = match lock.get(subject.id) {
            None => LockCheck::Unlisted,
            Some(entry) if entry.tree.contains(subject.digest) => {
                return Ok(VerifierCheck::Holds(Claim::Integrity));
            }
            Some(entry) => {
                let expected = entry.tree.iter().copied().collect();
                LockCheck::Mismatch(LockDifference::Tree { expected, actual: *subject.digest })
            }
        };
        let code = check.code().unwrap_or("lock/mismatch");
        Ok(VerifierCheck::Refused(VerifierRefusal::new(code, check.to_string(), check.help())))
    }
}
