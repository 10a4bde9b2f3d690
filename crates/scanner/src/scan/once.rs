//! Findings that are one question: a person who has answered the first one knows the answer to the others.

use std::collections::BTreeMap;

use plugward_types::{Address, FileRole, Part, Severity};

use super::entry::{Entry, bytes_by_path};
use super::findings::Placed;
use super::report::ScanSummary;
use crate::known::hosts;

/// Hosts with texts of many owners. There, an owner is the first two parts of the path.
const SHARED: &[&str] = &[
    "github.com",
    "raw.githubusercontent.com",
    "gist.githubusercontent.com",
    "gitlab.com",
    "cdn.jsdelivr.net",
    "gist.github.com",
    "bitbucket.org",
    "codeberg.org",
    "unpkg.com",
    "esm.sh",
    "storage.googleapis.com",
    "s3.amazonaws.com",
];

/// Keeps the first downloaded script of each source in text that only a model reads, and makes the others notes.
pub(super) fn once_per_host(entries: &[Entry<'_>], placed: &mut [Placed], summary: &mut ScanSummary) {
    let files = bytes_by_path(entries);
    let mut order: Vec<&mut Placed> = placed.iter_mut().collect();
    order.sort();
    let mut first: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let keys: Vec<Option<String>> = order.iter().map(|one| key(&files, one)).collect();
    for (at, key) in keys.iter().enumerate().filter_map(|(at, key)| Some((at, key.clone()?))) {
        let (_, count) = first.entry(key).or_insert((at, 0));
        *count = count.saturating_add(1);
    }
    for (at, (one, key)) in order.iter_mut().zip(&keys).enumerate() {
        let Some(&(first, count)) = key.as_ref().and_then(|key| first.get(key)) else { continue };
        if first != at {
            one.finding.severity = Severity::Info;
            summary.warning = summary.warning.saturating_sub(1);
            summary.info = summary.info.saturating_add(1);
        } else if count > 1 {
            one.finding.message = format!("{} ({count} places, one source)", one.finding.message);
        }
    }
}

/// Returns the source of a finding if only the first one of this source asks.
fn key(files: &BTreeMap<&str, &[u8]>, one: &Placed) -> Option<String> {
    let finding = &one.finding;
    let is_read = finding.severity == Severity::Warning && finding.role == FileRole::ModelRead;
    if !is_read || finding.rule.as_str() != "sh/pipe-to-shell" {
        return None;
    }
    let bytes = files.get(finding.path.as_str())?;
    let (start, end) = (finding.span.start, finding.span.end);
    let from = memchr::memrchr(b'\n', bytes.part(..start)).map_or(0, |at| at.saturating_add(1));
    let rest = memchr::memchr(b'\n', bytes.part(end..)).unwrap_or(0);
    let line = bytes.part(from..end.saturating_add(rest));
    let mut all = hosts::addresses(line).filter(hosts::is_web);
    let (address, None) = (all.next()?, all.next()) else { return None };
    let is_plain =
        address.scheme() == Some("https") && address.is_well_formed() && !hosts::is_computed(&address);
    (is_plain && memchr::memmem::find(line, b"sudo").is_none()).then(|| owner(&address))
}

/// Returns the host of an address, with the owner of the text on hosts that many share.
fn owner(address: &Address) -> String {
    let host = address.host().unwrap_or_default().to_lowercase();
    if SHARED.contains(&host.as_str()) {
        let parts: Vec<&str> = address.path().split('/').skip(1).take(2).collect();
        return format!("{host}/{}", parts.join("/"));
    }
    host
}
