//! The lock of one root, as it was read.

use std::collections::BTreeSet;
use std::sync::Arc;

use plugward_sandbox_path::Answer;
use plugward_tree_lock::{JsonLock, LOCK_BYTES, Lock, LockFile, Verifier};
use plugward_types::{Digest, PluginId};

use crate::options::Root;
use crate::report::{Gate, Notice};
use crate::verifiers::Verifiers;

/// The file's name.
pub(crate) const NAME: &str = "PLUGINS.lock";

/// Its signature, beside it.
const SIGNATURE: &str = "PLUGINS.lock.minisig";
/// Bytes of a signature that are read; a real one has about 300.
const SIGNATURE_BYTES: u64 = 4096;

/// The lock of one root.
pub(crate) enum RootLock {
    Absent,
    /// Ours.
    Own {
        file: LockFile,
        /// Of the file's bytes.
        digest: Digest,
        /// Who checks its signature, where the settings name signers.
        signature: Option<Arc<dyn Verifier>>,
    },
    /// The older JSON form.
    Json(JsonLock),
    /// It is there and cannot be used.
    Broken {
        code: &'static str,
        message: String,
        help: String,
    },
}

impl RootLock {
    /// Reads the lock of a root.
    pub(crate) fn read(root: &Root, verifiers: &Verifiers) -> Self {
        let bytes = match root.jail.read(NAME, u64::try_from(LOCK_BYTES).unwrap_or(u64::MAX)) {
            Ok(bytes) => bytes,
            Err(error) if error.answer() == Answer::NotThere => return Self::Absent,
            Err(error) => {
                let message = format!("{NAME}: {error} ({})", error.code());
                return Self::Broken { code: "lock/malformed", message, help: error.help().to_owned() };
            }
        };
        match Lock::parse(&bytes) {
            Ok(Lock::Plugins(file)) => {
                let signature = match root.jail.read(SIGNATURE, SIGNATURE_BYTES) {
                    Ok(bytes) => Some(bytes),
                    Err(error) if error.answer() == Answer::NotThere => None,
                    // One that is there and cannot be read holds nothing.
                    Err(_) => Some(Vec::new()),
                };
                match verifiers.of_lock(&bytes, signature.as_deref()) {
                    Ok(signature) => Self::Own { file, digest: crate::hash::sha256(&bytes), signature },
                    Err(error) => Self::broken(&error),
                }
            }
            Ok(Lock::Json(file)) => Self::Json(file),
            Err(error) => Self::broken(&error),
        }
    }

    /// What is to be said of a lock that cannot be used.
    pub(crate) fn notice(&self) -> Option<Notice> {
        let Self::Broken { code, message, help } = self else { return None };
        let message = format!("{message}\nnext: {help}");
        Some(Notice { code: (*code).to_owned(), gate: Gate::Lock, message })
    }

    fn broken(error: &plugward_tree_lock::LockError) -> Self {
        Self::Broken { code: error.code(), message: format!("{NAME}: {error}"), help: error.help() }
    }

    /// The names of the shared folders that the entry of a plugin has.
    pub(crate) fn shared_of(&self, id: &PluginId) -> Vec<String> {
        match self {
            Self::Own { file, .. } => {
                file.get(id).map(|entry| entry.shared.keys().cloned().collect()).unwrap_or_default()
            }
            Self::Absent | Self::Json(_) | Self::Broken { .. } => Vec::new(),
        }
    }
}

/// The entries of a lock that no plugin was found for, as (id or name, folder).
pub(crate) fn unvisited(lock: &RootLock, seen: &BTreeSet<String>) -> Vec<(String, String)> {
    match lock {
        RootLock::Absent | RootLock::Broken { .. } => Vec::new(),
        RootLock::Own { file, .. } => {
            let seen: BTreeSet<PluginId> = seen.iter().filter_map(|id| id.parse().ok()).collect();
            let path = |id: &PluginId| file.get(id).map(|entry| entry.path.clone()).unwrap_or_default();
            file.unvisited(&seen).into_iter().map(|id| (id.to_string(), path(&id))).collect()
        }
        RootLock::Json(file) => {
            let names: BTreeSet<String> = seen
                .iter()
                .filter_map(|id| id.parse::<PluginId>().ok())
                .map(|id| id.name().to_owned())
                .collect();
            file.unvisited(&names).into_iter().map(|name| (name.clone(), name)).collect()
        }
    }
}
