//! The subject of an audit: all files that a plugin has or runs, its claims and its findings.

use std::collections::BTreeMap;

use plugward_deep_audit::{AuditClaim, AuditFile, AuditSubject, AuditedBytes};
use plugward_pinstore::Facts;
use plugward_types::{Digest, FileRole, Finding};

use crate::contents::hash::sha256;
use crate::contents::material::entry_parts;
use crate::contents::subject::Subject;

/// The name under which the files outside a plugin that it runs are listed next to shared directories. No path has it.
pub(crate) const CLOSURE: &str = "";
/// The name of the marketplace entry of a plugin in a request.
const ENTRY_FILE: &str = "marketplace.json";
/// The fields of a manifest that say what the plugin is.
const CLAIMS: [&str; 4] = ["name", "version", "description", "author"];

/// The use of a file, as the scan found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileUse {
    pub(crate) role: FileRole,
    pub(crate) is_manifest: bool,
}

/// Returns the contents that an audit of a plugin with these facts is about.
#[must_use]
pub fn audited_bytes(facts: &Facts) -> AuditedBytes {
    let Facts { tree, shared, closure, entry, .. } = facts;
    let outside = closure.iter().map(|digest| (CLOSURE.to_owned(), *digest));
    let shared = shared.iter().map(|(name, digest)| (name.clone(), *digest));
    AuditedBytes { tree: *tree, shared: shared.chain(outside).collect(), entry: *entry }
}

impl Subject {
    /// Returns the plugin for an audit, or `None` if its bytes were not kept or not scanned.
    ///
    /// `findings` are those that are not suppressed, and `rules` is the digest of the rules.
    #[must_use]
    pub fn audit_subject<'a>(&'a self, findings: &'a [Finding], rules: Digest) -> Option<AuditSubject<'a>> {
        let material = self.material.as_ref()?;
        let mut files: BTreeMap<&str, AuditFile<'_>> = BTreeMap::new();
        let mut claims = Vec::new();
        for (path, used, bytes) in material.used_files()? {
            let is_manifest = used.is_manifest;
            files
                .insert(path, AuditFile { path, bytes, digest: sha256(bytes), role: used.role, is_manifest });
            if is_manifest {
                claims.extend(claims_of(path, bytes));
            }
        }
        if let Some(entry) = &material.entry {
            let (path, bytes) = (ENTRY_FILE, entry.as_bytes());
            claims.extend(claims_of(path, bytes));
            let digest = sha256(bytes);
            let role = FileRole::Executed;
            files.entry(path).or_insert(AuditFile { path, bytes, digest, role, is_manifest: true });
        }
        Some(AuditSubject {
            bytes: audited_bytes(self.facts()),
            rules,
            claims,
            files: files.into_values().collect(),
            findings,
        })
    }
}

fn claims_of(path: &str, manifest: &[u8]) -> impl Iterator<Item = AuditClaim> {
    // The claims of a manifest in another format than JSON are only in its text, which the model reads too.
    let parts = entry_parts(core::str::from_utf8(manifest).unwrap_or_default()).into_iter();
    parts
        .filter(|(key, _)| CLAIMS.contains(&key.as_str()))
        .map(move |(key, text)| AuditClaim { name: format!("{path} {key}"), text })
}
