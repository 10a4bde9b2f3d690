//! Verifiers: the interface for signatures and other statements about a tree.

mod claim;
mod lock;
#[cfg(feature = "minisign")]
mod minisign;

use plugward_types::TreeDigest;

use crate::lock::LockFile;
use crate::tree::snapshot::Snapshot;

pub use claim::{Claim, SignerId, VerifierCheck, VerifierError, VerifierRefusal};
pub use lock::LockVerifier;
#[cfg(feature = "minisign")]
pub use minisign::{MinisignKey, MinisignVerifier, Signer, SignerError};

/// The plugin that a verifier judges: its names, its place in the lockfile and the digested bytes.
// The bytes and not the directory, so that a verifier cannot read other bytes than the digested ones.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "hosts and tests make it")]
pub struct VerifierSubject<'a> {
    /// The names that a signer's patterns can match: the text of the key, and names such as `claude:hookify` and
    /// `claude:hookify@market`.
    pub names: &'a [String],
    /// The plugin directory, relative to the lockfile: the key of its entry.
    pub path: &'a str,
    /// The tree digest, with the exclude list of the lockfile entry or pin in question.
    pub digest: &'a TreeDigest,
    /// The preimage of the digest.
    pub preimage: &'a str,
    /// The digested bytes.
    pub files: &'a Snapshot,
    /// The lockfile, if there is one.
    pub lock: Option<&'a LockFile>,
}

/// Decides whether a signature or another statement covers a tree.
///
/// # Guarantees
/// An implementation receives everything at construction or in the [`VerifierSubject`]. It does not use the file
/// system, the clock or the network.
pub trait Verifier: Send + Sync {
    /// Returns the name of the verifier in reports: one short, unique word.
    fn name(&self) -> &str;

    /// Judges one plugin.
    ///
    /// # Errors
    /// If the verifier failed. A failure is never treated as an answer.
    fn verify(&self, subject: &VerifierSubject<'_>) -> Result<VerifierCheck, VerifierError>;
}

/// Whether a verifier must confirm every plugin, or can only refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a third need must stop every host from building")]
pub enum VerifierRequirement {
    /// The verifier need not mention a plugin. If it refuses one, the plugin does not load.
    Optional,
    /// The verifier must confirm the plugin.
    Required,
}

/// The combined result of several verifiers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a refused plugin must not be loaded"]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum VerifiersCheck {
    /// No verifier refused, and each required one confirmed the plugin. The claims by verifier, if any.
    Confirmed(Vec<(String, Claim)>),
    /// A verifier refused, or a required one does not mention the plugin. All refusals by verifier.
    Refused(Vec<(String, VerifierRefusal)>),
}

/// Calls every verifier, even after a refusal, so that a report shows all refusals.
///
/// # Errors
/// The first failure, in the order of the list, with the name of the verifier.
pub fn verify_all(
    verifiers: &[(VerifierRequirement, &dyn Verifier)],
    subject: &VerifierSubject<'_>,
) -> Result<VerifiersCheck, VerifierError> {
    let mut claims = Vec::new();
    let mut refusals = Vec::new();
    for (need, verifier) in verifiers {
        let name = verifier.name().to_owned();
        match (verifier.verify(subject).map_err(|error| error.by(&name))?, need) {
            (VerifierCheck::Confirmed(claim), _) => claims.push((name, claim)),
            (VerifierCheck::NotMentioned, VerifierRequirement::Optional) => {}
            (VerifierCheck::NotMentioned, VerifierRequirement::Required) => {
                let text = "the verifier is required and does not mention this plugin";
                refusals.push((name, VerifierRefusal::new("lock/signature-missing", text, SIGN)));
            }
            (VerifierCheck::Refused(refusal), _) => refusals.push((name, refusal)),
        }
    }
    if refusals.is_empty() {
        Ok(VerifiersCheck::Confirmed(claims))
    } else {
        Ok(VerifiersCheck::Refused(refusals))
    }
}

pub(crate) const SIGN: &str = "have the lockfile signed with an accepted key (PLUGINS.lock.minisig)";
