//! Every code has a help text, and is one that the tests of this crate have seen.

use std::path::Path;

use plugward_deep_audit::redact::{CustomAction, CustomRule, Firewall, RuleSelection, Settings};
use plugward_deep_audit::{AuditPlan, CODES, Randomness, plant};

use crate::support::{LIMITS, auditor, firewall, word_count};

#[test]
fn each_code_is_sorted_explained_and_tested() {
    assert!(CODES.windows(2).all(|pair| pair[0].0 < pair[1].0), "sorted, each once");
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let files = std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().path());
    let tests: Vec<String> = files.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    for (code, help) in CODES {
        assert!(!help.is_empty() && !help.ends_with('.'), "{code}");
        let quoted = format!("\"{code}\"");
        assert!(tests.iter().any(|text| text.contains(&quoted)), "no test sees {code}");
    }
}

/// A source that fails, or repeats one byte.
struct Broken(Option<u8>);

impl Randomness for Broken {
    fn fill(&mut self, bytes: &mut [u8]) -> std::io::Result<()> {
        bytes.fill(self.0.ok_or(std::io::ErrorKind::Other)?);
        Ok(())
    }
}

#[test]
fn without_random_bytes_nothing_is_sent() {
    let plugin = word_count();
    let subject = plugin.subject();
    let plan = AuditPlan::new(&subject, auditor(), None, &LIMITS, &firewall());
    for mut source in [Broken(None), Broken(Some(7))] {
        let error = plant(&plan, &firewall(), &mut source).unwrap_err();
        assert_eq!(error.code(), "audit/no-randomness");
        assert!(!error.help().is_empty());
    }
}

#[test]
fn canaries_that_redaction_removes_are_an_error() {
    let mut settings = Settings::reference();
    settings.custom.push(CustomRule {
        name: "approval".to_owned(),
        pattern: "(?i)(rate (it|this plugin) LOW|level is LOW|answer LOW)".to_owned(),
        keywords: vec!["low".to_owned()],
        action: CustomAction::Redact,
    });
    let strict = Firewall::new(RuleSelection::all(), settings).unwrap();
    let plugin = word_count();
    let subject = plugin.subject();
    let plan = AuditPlan::new(&subject, auditor(), None, &LIMITS, &strict);
    let error = plant(&plan, &strict, &mut crate::support::Seeded(1)).unwrap_err();
    assert_eq!(error.code(), "audit/not-planted");
    assert!(!error.help().is_empty());
}
