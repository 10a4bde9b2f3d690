//! The subject of an audit: all files that a plugin has or runs, its claims and its findings.

use std::collections::BTreeMap;

use plugward_deep_audit::{AuditClaim, AuditFile, AuditSubject, AuditedBytes};
use plugward_pinstore::{ApprovedBytes, Facts};
use plugward_types::{Digest, FileRole, Finding, TreeDigest};

use crate::contents::hash::sha256;
use crate::contents::material::entry_parts;
use crate::contents::subject::Subject;

/// The names under which other contents than directories are listed next to shared directories, whose names begin with `..`.
pub(crate) const CLOSURE: &str = "closure";
const VCS: &str = "vcs";
const ENTRY: &str = "entry";
/// The name of the marketplace entry of a plugin in a request. No file of a plugin has it.
const ENTRY_FILE: &str = "/marketplace.json";
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
    let Facts { tree, shared, closure, vcs, entry, .. } = facts;
    let mut all = shared.clone();
    all.extend(closure.map(|digest| (CLOSURE.to_owned(), digest)));
    all.extend(vcs.map(|digest| (VCS.to_owned(), TreeDigest::from_bytes(*digest.as_bytes()))));
    AuditedBytes { tree: *tree, shared: all, entry: *entry }
}

/// Returns the contents that an approval of a plugin with these facts is about: everything that an audit is about.
pub(crate) fn approved_bytes(facts: &Facts) -> ApprovedBytes {
    let AuditedBytes { tree, mut shared, entry } = audited_bytes(facts);
    shared.extend(entry.map(|digest| (ENTRY.to_owned(), TreeDigest::from_bytes(*digest.as_bytes()))));
    ApprovedBytes { tree, shared }
}

/// Returns `true` if a user names the digest to agree to the contents.
pub(crate) fn is_named_to_agree(name: &str) -> bool {
    name != VCS
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
            let (digest, role, is_link) = (sha256(bytes), used.role, material.is_link(path));
            files.insert(path, AuditFile { path, bytes, digest, role, is_manifest, is_link });
            if is_manifest {
                claims.extend(claims_of(path, bytes));
            }
        }
        if let Some(entry) = &material.entry {
            let (path, bytes) = (ENTRY_FILE, entry.as_bytes());
            claims.extend(claims_of(path, bytes));
            let digest = sha256(bytes);
            let role = FileRole::Executed;
            files.insert(path, AuditFile { path, bytes, digest, role, is_manifest: true, is_link: false });
        }
        // A file that runs under the name of a symlink is sent under its own name.
        let links: Vec<AuditFile<'_>> = files.values().filter(|file| file.is_link).copied().collect();
        for link in links {
            let Some(target) = material.target(link.path).and_then(|target| files.get_mut(target)) else {
                continue;
            };
            target.role = target.role.max(link.role);
            target.is_manifest |= link.is_manifest;
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
