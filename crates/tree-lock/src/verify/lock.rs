//! The verifier that compares a tree with PLUGINS.lock.

use super::{Claim, Verifier, VerifierCheck, VerifierError, VerifierRefusal, VerifierSubject};
use crate::lock::{LockCheck, LockDifference};

/// Compares a tree with PLUGINS.lock, which is an integrity check and not a signature.
///
/// It compares the tree digest only. Manifests, the marketplace entry and shared directories are compared by
/// [`LockFile::check`](crate::LockFile::check).
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct LockVerifier;

impl LockVerifier {
    /// Creates the verifier.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl Verifier for LockVerifier {
    fn name(&self) -> &'static str {
        "lock"
    }

    fn verify(&self, subject: &VerifierSubject<'_>) -> Result<VerifierCheck, VerifierError> {
        let Some(lock) = subject.lock else {
            return Ok(VerifierCheck::NotMentioned);
        };
        let check = match lock.get(subject.path) {
            None => LockCheck::Unlisted,
            Some(entry) if entry.tree.contains(subject.digest) => {
                return Ok(VerifierCheck::Confirmed(Claim::Integrity));
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
