//! One `check`: text in, findings out as short lines.

use plugward_scanner::{Content, Entry, Profile, RoleHint, Rules, ScanOptions, ScanReport, scan};
use plugward_types::{Digest, Severity};
use sha2::{Digest as _, Sha256};

pub(crate) fn digest(bytes: &[u8]) -> Digest {
    Digest::from_bytes(Sha256::digest(bytes).into())
}

pub(crate) fn report(profile: Profile, files: &[(&str, &[u8])]) -> ScanReport {
    let entries: Vec<Entry<'_>> = files
        .iter()
        .map(|(path, bytes)| Entry {
            path,
            content: Content::Bytes { bytes, digest: digest(bytes) },
            role: RoleHint::NONE,
        })
        .collect();
    scan(Rules::builtin(), &ScanOptions::new(profile), &entries).unwrap()
}

/// Returns `line:column rule` of each finding.
///
/// These tests check which findings exist, which does not depend on the profile; other tests check severities by role. The
/// strict profile is the one that roles do not affect.
pub(crate) fn check(_profile: Profile, path: &str, text: &str) -> Vec<String> {
    report(Profile::StrictPlugin, &[(path, text.as_bytes())])
        .findings()
        .iter()
        .map(|finding| {
            let hidden = if finding.is_hidden() { " hidden" } else { "" };
            format!("{}:{} {} {}{hidden}", finding.line, finding.column, finding.severity, finding.rule)
        })
        .collect()
}

/// Returns the highest severity of a text, in `strict-plugin`.
pub(crate) fn worst(path: &str, text: &str) -> Option<Severity> {
    let report = report(Profile::StrictPlugin, &[(path, text.as_bytes())]);
    report.findings().iter().map(|finding| finding.severity).max()
}

/// Scans files that all have one hint.
pub(crate) fn scanned(profile: Profile, role: RoleHint, files: &[(String, Vec<u8>)]) -> ScanReport {
    let entries: Vec<Entry<'_>> = files
        .iter()
        .map(|(path, bytes)| Entry { path, content: Content::Bytes { bytes, digest: digest(bytes) }, role })
        .collect();
    scan(Rules::builtin(), &ScanOptions::new(profile), &entries).unwrap()
}
