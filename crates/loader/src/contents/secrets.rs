//! Secrets that only the redaction rules detect, as notes of the scan.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use plugward_redact::{Firewall, Raw, RedactAction, RuleSelection, SecretFinding, Settings, ViewMode};
use plugward_scanner::{Content, Entry, EntryState, MatchCache, ScanReport};
use plugward_types::{Digest, FileRole, Finding, Part, RuleId, Severity, Span};

use crate::state::scan_records::record_key;

/// Part of the key of each record. Increase it with each change after which redaction finds other secrets.
const RULES: u32 = 1;

/// Compiled once per process, since compiling the rules is expensive.
fn firewall() -> Result<&'static Firewall, String> {
    static FIREWALL: OnceLock<Result<Firewall, String>> = OnceLock::new();
    let made = FIREWALL.get_or_init(|| {
        // Encodings are not decoded here: encoded payloads are for the scanner.
        let settings = Settings { views: ViewMode::Plain, ..Settings::reference() };
        Firewall::new(RuleSelection::all(), settings)
            .map_err(|error| format!("failed to compile the redaction rules: {error} ({})", error.code()))
    });
    made.as_ref().map_err(Clone::clone)
}

/// Returns a text without the secrets in it. If the rules cannot be compiled, nothing of it is shown.
pub(crate) fn without(text: &str) -> String {
    match firewall() {
        Ok(firewall) => firewall.redact(Raw::new(text.to_owned())).as_str().to_owned(),
        Err(_) => "a command".to_owned(),
    }
}

/// Returns a note `redact/<kind>` for each secret in the scanned text files that no `secret/*` finding
/// covers. Files in which nothing was found have a record in the cache, and are not searched again.
pub(crate) fn look(
    files: &[Entry<'_>],
    report: &ScanReport,
    cache: Option<&dyn MatchCache>,
) -> Result<Vec<Finding>, String> {
    let firewall = firewall()?;
    let by_path: BTreeMap<&str, &Entry<'_>> = files.iter().map(|entry| (entry.path, entry)).collect();
    let mut out = Vec::new();
    for state in report.files() {
        if !matches!(state.state, EntryState::Scanned | EntryState::Decoded | EntryState::Partial) {
            continue;
        }
        let Some(entry) = by_path.get(state.path.as_str()) else { continue };
        let Content::Bytes { bytes, digest } = entry.content else { continue };
        let key = record_key("secrets", &[&RULES.to_le_bytes(), digest.as_bytes()]);
        if cache.is_some_and(|cache| cache.get(&key).is_some()) {
            continue;
        }
        let secrets = firewall.find(bytes);
        if secrets.is_empty() {
            cache.inspect(|cache| cache.put(&key, &[]));
            continue;
        }
        let own = report.findings();
        let from = own.partition_point(|finding| finding.path.as_str() < entry.path);
        let known: Vec<Span> = own
            .part(from..)
            .iter()
            .take_while(|finding| finding.path == entry.path)
            .filter(|finding| finding.rule.family() == "secret")
            .map(|finding| finding.span)
            .collect();
        found(entry.path, (bytes, digest), &secrets, &known, &mut out)?;
    }
    Ok(out)
}

/// Adds a finding for each secret in one file that no finding of the scan covers.
fn found(
    path: &str,
    (bytes, digest): (&[u8], Digest),
    all: &[SecretFinding],
    known: &[Span],
    out: &mut Vec<Finding>,
) -> Result<(), String> {
    let mut place = OffsetLocator { bytes, at: 0, line: 1, column: 1 };
    for one in all {
        let span = Span::new(one.at.start, one.at.end);
        let listed = known.iter().any(|known| known.start < span.end && span.start < known.end);
        if listed || one.action != RedactAction::Removed {
            continue;
        }
        let rule: RuleId = format!("redact/{}", one.kind)
            .parse()
            .map_err(|error| format!("invalid rule id for a secret: {error}"))?;
        let (line, column) = place.of(span.start);
        out.push(Finding {
            rule,
            severity: Severity::Info,
            role: FileRole::Other,
            path: path.to_owned(),
            line,
            column,
            span,
            message: format!("Contains a secret ({})", one.kind),
            how: Vec::new(),
            // The value is not shown: redaction identifies it by its kind.
            snippet: format!("[REDACTED:{}] ({} bytes)", one.kind, span.len()),
            caret: 0..0,
            digest,
        });
    }
    Ok(())
}

/// Line and column of ascending offsets. LF, CRLF and a lone CR end a line, as in the scanner's findings.
struct OffsetLocator<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u32,
    column: u32,
}

impl OffsetLocator<'_> {
    fn of(&mut self, to: usize) -> (u32, u32) {
        while self.at < to {
            let rest = self.bytes.rest(self.at);
            let ends = matches!(rest, [b'\n', ..]) || matches!(rest, [b'\r', next, ..] if *next != b'\n');
            let len = match rest {
                [] => return (self.line, self.column),
                [0xC0..=0xFF, ..] => {
                    let head = rest.head(4);
                    let chunk = head.utf8_chunks().next();
                    let first = chunk.and_then(|chunk| chunk.valid().chars().next());
                    first.map_or(1, char::len_utf8)
                }
                _ => 1,
            };
            self.at = self.at.saturating_add(len);
            if ends {
                (self.line, self.column) = (self.line.saturating_add(1), 1);
            } else {
                self.column = self.column.saturating_add(1);
            }
        }
        (self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use plugward_scanner::{Profile, RoleHint, Rules as ScanRules, ScanOptions, scan};

    use super::*;

    fn check(text: &str) -> Vec<(String, usize, u32, u32)> {
        let content = Content::Bytes { bytes: text.as_bytes(), digest: Digest::from_bytes([0; 32]) };
        let files = [Entry { path: "a.txt", content, role: RoleHint::NONE }];
        let report = scan(ScanRules::builtin(), &ScanOptions::new(Profile::General), &files).unwrap();
        let found = look(&files, &report, None).unwrap();
        found.iter().map(|one| (one.rule.to_string(), one.span.start, one.line, one.column)).collect()
    }

    #[test]
    fn a_secret_that_the_rules_name_is_listed_once_and_another_is_a_note_at_its_place() {
        let github = concat!("gh", "p_", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6");
        assert_eq!(check(&format!("token {github}\n")), []);
        let text = format!("token {github}\r\nπ\tpassword=\"{}\" end\n", concat!("tR4-qu!", "ckBr0wn"));
        let at = text.find("tR4").unwrap();
        assert_eq!(check(&text), [("redact/generic".to_owned(), at, 2, 13)]);
        assert_eq!(check("nothing here: password = os.environ['P']\n"), []);
    }
}
