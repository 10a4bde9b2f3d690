//! Who has to vouch for a tree, besides its digest.

use core::fmt;
use std::sync::Arc;

use plugward_tree_lock::{Claim, LockFile, Need, Snapshot, Subject, Verifier, VerifiersCheck, verify_all};
use plugward_types::{PluginId, TreeDigest};

use crate::report::{Gate, PluginReport, Reason, Weight};

/// A row of the setting `lock.signers`, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "an entry of the host's settings")]
pub struct SignerRow {
    /// A minisign public key.
    pub key: String,
    /// Patterns of the ids that it has to sign for, such as `claude:*@team`.
    pub ids: Vec<String>,
}

/// A setting that names no signer, or one that this build cannot ask.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SignersError {
    message: String,
    help: String,
}

impl SignersError {
    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "lock/signer"
    }

    /// Says what to write instead.
    #[must_use]
    pub fn help(&self) -> &str {
        &self.help
    }
}

/// The verifiers of a host: signers of PLUGINS.lock, and those that it brings itself.
///
/// # Source
/// ADR-0011's injected strategy. The digest of PLUGINS.lock is always asked, by the lock gate.
#[derive(Clone, Default)]
pub struct Verifiers {
    #[cfg(feature = "minisign")]
    signers: Vec<plugward_tree_lock::Signer>,
    own: Vec<(Need, Arc<dyn Verifier>)>,
}

impl fmt::Debug for Verifiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.own.iter().map(|(_, verifier)| verifier.name()).collect();
        f.debug_struct("Verifiers").field("own", &names).finish_non_exhaustive()
    }
}

impl Verifiers {
    /// Asks nobody but the lock.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Takes the signers of the settings.
    ///
    /// # Errors
    /// `lock/signer` for a key or a pattern that is none, and for any row where the feature `minisign` is off: a
    /// signature that is asked for and cannot be checked is no yes.
    pub fn signed_by(rows: &[SignerRow]) -> Result<Self, SignersError> {
        #[cfg(feature = "minisign")]
        {
            let bad = |error: &plugward_tree_lock::SignerError| SignersError {
                message: error.to_string(),
                help: error.help(),
            };
            let mut signers = Vec::new();
            for row in rows {
                let key = plugward_tree_lock::MinisignKey::parse(&row.key).map_err(|error| bad(&error))?;
                let ids = row.ids.iter().map(String::as_str);
                signers.push(plugward_tree_lock::Signer::new(key, ids).map_err(|error| bad(&error))?);
            }
            Ok(Self { signers, own: Vec::new() })
        }
        #[cfg(not(feature = "minisign"))]
        if rows.is_empty() {
            Ok(Self::none())
        } else {
            Err(SignersError {
                message: "read lock.signers: this build cannot check signatures".to_owned(),
                help: "build with the feature `minisign`".to_owned(),
            })
        }
    }

    /// Adds a verifier of the host's own.
    #[must_use]
    pub fn and(mut self, need: Need, verifier: Arc<dyn Verifier>) -> Self {
        self.own.push((need, verifier));
        self
    }

    #[cfg(feature = "minisign")]
    fn must_be_signed(&self, id: &PluginId) -> bool {
        self.signers.iter().any(|signer| signer.is_for(id))
    }

    #[cfg(not(feature = "minisign"))]
    #[expect(clippy::unused_self, reason = "without the feature nobody signs")]
    const fn must_be_signed(&self, _id: &PluginId) -> bool {
        false
    }

    /// Reads the signature of a lock, once for its root.
    #[cfg(feature = "minisign")]
    pub(crate) fn of_lock(
        &self,
        lock: &[u8],
        signature: Option<&[u8]>,
    ) -> Result<Option<Arc<dyn Verifier>>, plugward_tree_lock::LockError> {
        if self.signers.is_empty() {
            return Ok(None);
        }
        let verifier = plugward_tree_lock::MinisignVerifier::new(self.signers.clone(), lock, signature)?;
        Ok(Some(Arc::new(verifier)))
    }

    #[cfg(not(feature = "minisign"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "without the feature nobody signs")]
    pub(crate) fn of_lock(
        &self,
        _lock: &[u8],
        _signature: Option<&[u8]>,
    ) -> Result<Option<Arc<dyn Verifier>>, plugward_tree_lock::LockError> {
        Ok(None)
    }
}

/// One plugin for its verifiers.
pub(crate) struct Asked<'a> {
    pub(crate) id: &'a PluginId,
    pub(crate) digest: &'a TreeDigest,
    pub(crate) files: &'a Snapshot,
    pub(crate) lock: Option<&'a LockFile>,
    /// The verifier of the lock's signature, where there is a lock of ours.
    pub(crate) signature: Option<&'a Arc<dyn Verifier>>,
}

/// Asks every verifier of one plugin. Gives the signer, where a signature held.
pub(crate) fn ask(report: &mut PluginReport, verifiers: &Verifiers, asked: &Asked<'_>) -> Option<String> {
    if asked.signature.is_none() && verifiers.must_be_signed(asked.id) {
        push(
            report,
            "lock/signature-missing",
            "lock.signers asks for a signature, and there is no PLUGINS.lock that could be signed".to_owned(),
            "bring PLUGINS.lock and PLUGINS.lock.minisig back, or take the id out of lock.signers",
            Weight::Integrity,
        );
    }
    let mut list: Vec<(Need, &dyn Verifier)> =
        verifiers.own.iter().map(|(need, verifier)| (*need, &**verifier)).collect();
    list.extend(asked.signature.map(|verifier| (Need::Optional, &**verifier)));
    if list.is_empty() {
        return None;
    }
    let exclude = asked.lock.map(|lock| lock.exclude_of(asked.id)).unwrap_or_default();
    let preimage = crate::trees::preimage(asked.files, &exclude);
    let subject = Subject {
        id: asked.id,
        digest: asked.digest,
        preimage: &preimage,
        files: asked.files,
        lock: asked.lock,
    };
    match verify_all(&list, &subject) {
        Ok(VerifiersCheck::Hold(claims)) => claims.into_iter().find_map(|(_, claim)| match claim {
            Claim::Signed { signer, comment, .. } => {
                report.lock.signer = Some(signer.to_string());
                report.lock.comment = comment;
                Some(signer.to_string())
            }
            Claim::Integrity => None,
        }),
        Ok(VerifiersCheck::Refused(refusals)) => {
            for (name, refusal) in refusals {
                // The lock gate has said it already.
                if !report.reasons.iter().any(|reason| reason.code == refusal.code()) {
                    let text = format!("{name}: {refusal}");
                    push(report, refusal.code(), text, refusal.help(), Weight::Integrity);
                }
            }
            None
        }
        Err(error) => {
            push(report, error.code(), error.to_string(), &error.help(), Weight::CouldNotTell);
            None
        }
    }
}

fn push(report: &mut PluginReport, code: &str, message: String, help: &str, weight: Weight) {
    report.reasons.push(Reason {
        code: code.to_owned(),
        gate: Gate::Lock,
        message,
        help: help.to_owned(),
        weight,
    });
}
