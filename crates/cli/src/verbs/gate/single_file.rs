//! A plugin that is a single file.

use camino::Utf8Path;
use plugward_loader::scanner::{
    Content, Entry, EntryState, Profile, RoleHint, Rules, ScanOptions, Suppression, gate, scan,
};
use plugward_loader::{FileRole, Finding, Trust, sha256};

use super::answer::{GateAnswer, GateDecision};
use super::verdict::Verdict;
use crate::failure::Failure;
use crate::host;
use crate::settings::Settings;

/// The most bytes of the file.
const LIMIT: u64 = 64 << 20;

/// Scans a file as code. `check` judges directories, so the user is asked even if nothing is found.
pub(super) fn answer(path: &Utf8Path, settings: &Settings) -> Result<GateAnswer, Failure> {
    let bytes = host::named_file(path, LIMIT)?;
    let more = settings.rules(&[])?;
    let rules = more.as_ref().unwrap_or_else(|| Rules::builtin());
    let mut options = ScanOptions::new(settings.profile.unwrap_or(Profile::General));
    options.packages = &settings.packages;
    let content = Content::Bytes { bytes: &bytes, digest: sha256(&bytes) };
    let role = RoleHint::NONE.used_as(FileRole::Executed);
    let entry = Entry { path: path.file_name().unwrap_or("file"), content, role };
    let report = scan(rules, &options, &[entry]).map_err(|error| {
        Failure::internal(format!("cannot scan: {error}")).code(error.code()).help(error.help())
    })?;
    let decision = if settings.trust == Trust::Locked { GateDecision::Block } else { GateDecision::Warn };
    let message =
        "a single file, which was only scanned: it gets no pin, and `plugward check` does not see it";
    let mut verdict = Verdict::one("gate/file", decision, "a single file, which is only scanned", message);
    let is_read = |state| matches!(state, EntryState::Scanned | EntryState::Decoded);
    if !report.files().iter().all(|file| is_read(file.state)) {
        let message = "the file could not be read as code";
        verdict.add(Some(Verdict::one("scan/partial", GateDecision::Block, message, message)));
    }
    let own = settings.suppressions.iter().filter(|entry| entry.plugin.is_none());
    let own: Vec<Suppression> = own.map(|entry| entry.entry.clone()).collect();
    let passed = gate(&report, &own, host::today());
    let is_open = |finding: &&Finding| !passed.suppressed.iter().any(|one| one.finding == **finding);
    verdict.add_scan(report.findings().iter().filter(is_open));
    Ok(verdict.into_answer())
}
