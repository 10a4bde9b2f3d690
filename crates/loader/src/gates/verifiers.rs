//! Verifiers of trees besides the digest: signers of PLUGINS.lock, and the host's own.

use core::fmt;
use std::sync::Arc;

use plugward_tree_lock::{
    Claim, LockFile, Snapshot, Verifier, VerifierRequirement, VerifierSubject, VerifiersCheck, verify_all,
};
use plugward_types::TreeDigest;

use crate::gates::lock::LockResult;
use crate::run::examined::Examined;
use crate::run::outcome::Weight;

/// An entry of the setting `lock.signers`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "an entry of the host's settings")]
pub struct SignerRow {
    /// The minisign public key.
    pub key: String,
    /// Patterns of the ids that it must sign, such as `claude:*@team`.
    pub ids: Vec<String>,
}

/// A signer setting that is invalid or that this build cannot verify.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SignersError {
    message: String,
    help: String,
}

impl SignersError {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "lock/signer"
    }

    /// Returns what to write instead.
    #[must_use]
    pub fn help(&self) -> &str {
        &self.help
    }
}

/// The verifiers of a host: signers of PLUGINS.lock, and its own.
///
/// The lock gate always compares the digest in PLUGINS.lock. Verifiers come on top of it (ADR-0011 in
/// `docs/source-documents.md`).
#[derive(Clone, Default)]
pub struct Verifiers {
    #[cfg(feature = "minisign")]
    signers: Vec<plugward_tree_lock::Signer>,
    own: Vec<(VerifierRequirement, Arc<dyn Verifier>)>,
}

impl fmt::Debug for Verifiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.own.iter().map(|(_, verifier)| verifier.name()).collect();
        f.debug_struct("Verifiers").field("own", &names).finish_non_exhaustive()
    }
}

impl Verifiers {
    /// Creates a set without verifiers: only PLUGINS.lock counts.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Creates verifiers from the signers in the settings.
    ///
    /// # Errors
    /// `lock/signer` for an invalid key or pattern, and for any entry if the feature `minisign` is off: a
    /// required signature that cannot be verified must not pass.
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
                message: "lock.signers is set, but this build cannot verify signatures".to_owned(),
                help: "build with the feature `minisign`, or remove `lock.signers`".to_owned(),
            })
        }
    }

    /// Adds a verifier of the host.
    #[must_use]
    pub fn and(mut self, need: VerifierRequirement, verifier: Arc<dyn Verifier>) -> Self {
        self.own.push((need, verifier));
        self
    }

    #[cfg(feature = "minisign")]
    fn must_be_signed(&self, names: &[String]) -> bool {
        self.signers.iter().any(|signer| signer.is_for(names))
    }

    #[cfg(not(feature = "minisign"))]
    #[expect(clippy::unused_self, reason = "without the feature there are no signers")]
    const fn must_be_signed(&self, _names: &[String]) -> bool {
        false
    }

    /// Creates the verifier of a lockfile's signature.
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
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "without the feature there are no signers"
    )]
    pub(crate) fn of_lock(
        &self,
        _lock: &[u8],
        _signature: Option<&[u8]>,
    ) -> Result<Option<Arc<dyn Verifier>>, plugward_tree_lock::LockError> {
        Ok(None)
    }
}

/// Returns the texts that a pattern in the settings or a revocation list can match: the key, the names in
/// the manifests, and these names with the marketplace whose entry lists the directory.
pub(crate) fn names(one: &Examined) -> Vec<String> {
    let mut names: Vec<String> = one.called.iter().map(|name| name.as_str().to_owned()).collect();
    if let Some(named) = &one.place.named {
        let market = &named.market;
        names.extend(one.called.iter().map(|name| format!("{name}@{market}")));
        names.extend(
            one.dialects
                .iter()
                .map(|dialect| format!("{}:{}@{market}", dialect.as_str(), named.entry.name())),
        );
    }
    names.push(one.key.to_string());
    names
}

/// The input of the verifiers for one plugin.
pub(crate) struct VerifierInput<'a> {
    pub(crate) names: &'a [String],
    /// The plugin's directory, relative to the lockfile.
    pub(crate) path: &'a str,
    pub(crate) digest: &'a TreeDigest,
    pub(crate) files: &'a Snapshot,
    pub(crate) lock: Option<&'a LockFile>,
    /// The verifier of the lockfile's signature, if there is a lockfile.
    pub(crate) signature: Option<&'a Arc<dyn Verifier>>,
}

/// Runs every verifier for one plugin, as part of the lock gate.
pub(crate) fn ask(result: &mut LockResult, verifiers: &Verifiers, asked: &VerifierInput<'_>) {
    if asked.signature.is_none() && verifiers.must_be_signed(asked.names) {
        result.outcome.add(
            "lock/signature-missing",
            Weight::Integrity,
            "lock.signers requires a signature, but no PLUGINS.lock covers this plugin",
            "restore PLUGINS.lock and PLUGINS.lock.minisig, or remove the plugin from lock.signers",
        );
    }
    let mut list: Vec<(VerifierRequirement, &dyn Verifier)> =
        verifiers.own.iter().map(|(need, verifier)| (*need, &**verifier)).collect();
    list.extend(asked.signature.map(|verifier| (VerifierRequirement::Optional, &**verifier)));
    if list.is_empty() {
        return;
    }
    let exclude = asked.lock.map(|lock| lock.exclude_of(asked.path)).unwrap_or_default();
    let preimage = crate::contents::trees::preimage(asked.files, &exclude);
    let subject = VerifierSubject {
        names: asked.names,
        path: asked.path,
        digest: asked.digest,
        preimage: &preimage,
        files: asked.files,
        lock: asked.lock,
    };
    match verify_all(&list, &subject) {
        Ok(VerifiersCheck::Confirmed(claims)) => {
            for (_, claim) in claims {
                if let Claim::Signed { signer, comment, .. } = claim {
                    result.report.signer = Some(signer.to_string());
                    result.report.comment = comment;
                    break;
                }
            }
        }
        Ok(VerifiersCheck::Refused(refusals)) => {
            for (name, refusal) in refusals {
                // The lock gate can already have the same reason.
                if !result.outcome.reasons.iter().any(|reason| reason.code == refusal.code()) {
                    let text = format!("{name}: {refusal}");
                    result.outcome.add(refusal.code(), Weight::Integrity, text, refusal.help());
                }
            }
        }
        Err(error) => {
            result.outcome.add(error.code(), Weight::CouldNotTell, error.to_string(), error.help());
        }
    }
}
