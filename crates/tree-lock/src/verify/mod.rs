//! The seam where something that is no digest may join: who says that this tree is right.

mod claim;
mod lock;
#[cfg(feature = "minisign")]
mod minisign;

use plugward_types::{PluginId, TreeDigest};

use crate::lock::LockFile;
use crate::snapshot::Snapshot;

pub use claim::{Claim, SignerId, VerifierCheck, VerifierError, VerifierRefusal};
pub use lock::LockVerifier;
#[cfg(feature = "minisign")]
pub use minisign::{MinisignKey, MinisignVerifier, Signer, SignerError};

/// What a verifier is asked about: a plugin that was read, with everything that was digested.
///
/// # Source
/// ADR-0011 hands a folder to `verify_plugin`; here it is the bytes, so that no verifier reads anything again.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "hosts and tests make it")]
pub struct Subject<'a> {
    /// The plugin.
    pub id: &'a PluginId,
    /// Its digest, under the exclude list of the lock entry or pin that is asked about.
    pub digest: &'a TreeDigest,
    /// The text that gives the digest.
    pub preimage: &'a str,
    /// Its bytes.
    pub files: &'a Snapshot,
    /// The lock file, where there is one.
    pub lock: Option<&'a LockFile>,
}

/// Says whether somebody or something vouches for a tree.
///
/// # Guarantees
/// An implementation gets all it needs by construction or in the [`Subject`]: it does not look at the disk, the
/// clock or the network.
///
/// # Source
/// ADR-0011's injected strategy, so that a signer can replace or join the digest without touching the loader.
pub trait Verifier: Send + Sync {
    /// Names the verifier in reports: a short word of its own.
    fn name(&self) -> &str;

    /// Answers for one plugin.
    ///
    /// # Errors
    /// Where it could not tell. That is never taken for an answer.
    fn verify(&self, subject: &Subject<'_>) -> Result<VerifierCheck, VerifierError>;
}

/// How much the word of a verifier is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a third need must stop every host from building")]
pub enum Need {
    /// It may have nothing to say; it may not refuse.
    Optional,
    /// It has to hold.
    Required,
}

/// What a list of verifiers says together.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a refused plugin must not be loaded"]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum VerifiersCheck {
    /// None refused, and each required one holds. The claims, by the name of who made them; maybe none.
    Hold(Vec<(String, Claim)>),
    /// At least one refused, or a required one had nothing to say. By name, all of them.
    Refused(Vec<(String, VerifierRefusal)>),
}

/// Asks every verifier of a list, also after one has refused, so that a report shows all refusals.
///
/// # Errors
/// The first error of a verifier, in the order of the list, with its name: then nothing is known.
pub fn verify_all(
    verifiers: &[(Need, &dyn Verifier)],
    subject: &Subject<'_>,
) -> Result<VerifiersCheck, VerifierError> {
    let mut claims = Vec::new();
    let mut refusals = Vec::new();
    for (need, verifier) in verifiers {
        let name = verifier.name().to_owned();
        match (verifier.verify(subject).map_err(|error| error.by(&name))?, need) {
            (VerifierCheck::Holds(claim), _) => claims.push((name, claim)),
            (VerifierCheck::NotMentioned, Need::Optional) => {}
            (VerifierCheck::NotMentioned, Need::Required) => {
                let text = "the verifier is required and does not mention this plugin";
                refusals.push((name, VerifierRefusal::new("lock/signature-missing", text, SIGN)));
            }
            (VerifierCheck::Refused(refusal), _) => refusals.push((name, refusal)),
        }
    }
    if refusals.is_empty() { Ok(VerifiersCheck::Hold(claims)) } else { Ok(VerifiersCheck::Refused(refusals)) }
}

pub(crate) const SIGN: &str = "have the lock file signed by somebody who may (PLUGINS.lock.minisig)";
