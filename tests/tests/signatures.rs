//! Who has to vouch for a tree: signatures over PLUGINS.lock, and verifiers of the host's own.

use std::io::Cursor;
use std::sync::Arc;

use minisign::KeyPair;
use plugward_loader::tree_lock::{
    Verifier, VerifierCheck, VerifierError, VerifierRefusal, VerifierRequirement, VerifierSubject,
};
use plugward_loader::{Report, SignerRow, Verifiers};
use plugward_tests::{Bench, Bit, Run, SignedBy, Step};

fn write(path: &str, text: &str) -> Step {
    Step::Write { path: path.to_owned(), text: text.to_owned(), executable: Bit::Off }
}

struct Signed {
    bench: Bench,
    keys: KeyPair,
}

impl Signed {
    /// One plugin, its lock, and a signature of that by a fresh key.
    fn new() -> Self {
        let bench = Bench::new();
        let run = Run {
            plugins: vec![write("p/.claude-plugin/plugin.json", r#"{ "name": "p" }"#)],
            ..Run::default()
        };
        plugward_tests::apply(&bench.plugins, &run.plugins);
        let subject = bench.subject(&Run::default(), "plugins/p");
        let mut lock = plugward_loader::tree_lock::LockFile::new();
        lock.insert("p", subject.lock_entry("p")).unwrap();
        let one = Self { bench, keys: KeyPair::generate_unencrypted_keypair().unwrap() };
        one.put("PLUGINS.lock", &lock.render());
        one.sign(&one.keys, "release 7");
        one
    }

    fn put(&self, path: &str, text: &str) {
        plugward_tests::apply(&self.bench.plugins, &[write(path, text)]);
    }

    fn sign(&self, keys: &KeyPair, comment: &str) {
        let lock = std::fs::read(self.bench.plugins.join("PLUGINS.lock")).unwrap();
        let made = minisign::sign(Some(&keys.pk), &keys.sk, Cursor::new(lock), Some(comment), None);
        self.put("PLUGINS.lock.minisig", &made.unwrap().into_string());
    }

    fn check(&self) -> Report {
        self.bench.check(&by(&self.keys, "claude:*"))
    }
}

/// A run with one row of `lock.signers`.
fn by(keys: &KeyPair, ids: &str) -> Run {
    let signer = SignedBy { key: keys.pk.to_base64(), ids: vec![ids.to_owned()] };
    Run { signers: vec![signer], ..Run::default() }
}

fn codes(report: &Report) -> Vec<&str> {
    report.plugins[0].reasons.iter().map(|reason| reason.code.as_str()).collect()
}

#[test]
fn a_signature_that_holds_names_its_signer_and_is_pinned() {
    let one = Signed::new();
    let report = one.check();
    assert_eq!(report.exit, 0, "{report:?}");
    let lock = &report.plugins[0].lock;
    assert!(lock.signer.as_ref().unwrap().starts_with("minisign:"), "{lock:?}");
    assert_eq!(lock.comment.as_deref(), Some("release 7"));
    assert!(one.bench.pins().unwrap().contains(lock.signer.as_ref().unwrap()));
}

#[test]
fn a_signature_that_is_missing_wrong_or_of_another_key_refuses() {
    let one = Signed::new();
    let stranger = KeyPair::generate_unencrypted_keypair().unwrap();
    one.sign(&stranger, "trust me");
    assert_eq!((codes(&one.check()), one.check().exit), (vec!["lock/unknown-key"], 4));
    one.put("PLUGINS.lock.minisig", "untrusted comment: x\n");
    assert_eq!(codes(&one.check()), ["lock/signature-bad"]);
    std::fs::remove_file(one.bench.plugins.join("PLUGINS.lock.minisig")).unwrap();
    assert_eq!(codes(&one.check()), ["lock/signature-missing"]);
    // Without the lock there is nothing that could be signed: taking it away takes the demand for it not away.
    std::fs::remove_file(one.bench.plugins.join("PLUGINS.lock")).unwrap();
    assert_eq!(codes(&one.check()), ["lock/signature-missing"]);
    assert!(one.bench.pins().is_none());
    // The near miss: a signer of other ids asks nothing of this plugin.
    assert_eq!(one.bench.check(&by(&one.keys, "claude:*@team")).exit, 0);
}

#[test]
fn a_signed_lock_does_not_hold_for_other_bytes() {
    let one = Signed::new();
    one.put("p/more", "x");
    assert_eq!(codes(&one.check()), ["lock/mismatch"]);
}

#[test]
fn another_signer_for_a_pinned_plugin_is_refused() {
    let one = Signed::new();
    assert_eq!(one.check().exit, 0);
    let next = KeyPair::generate_unencrypted_keypair().unwrap();
    one.sign(&next, "we moved");
    let report = one.bench.check(&by(&next, "claude:*"));
    assert_eq!((codes(&report), report.exit), (vec!["pin/signer-changed"], 4));
    assert!(report.plugins[0].reasons[0].message.contains("another signer"), "{report:?}");
}

#[test]
fn a_row_that_names_no_signer_is_lock_signer() {
    for (key, ids) in [
        ("RWnokey", vec!["claude:*@team".to_owned()]),
        (&one_key(), vec![]),
        (&one_key(), vec!["*".to_owned()]),
    ] {
        let error = Verifiers::signed_by(&[SignerRow { key: key.to_owned(), ids }]).unwrap_err();
        assert_eq!(error.code(), "lock/signer");
        assert!(error.help().contains("lock.signers"), "{}", error.help());
    }
    assert!(
        Verifiers::signed_by(&[SignerRow { key: one_key(), ids: vec!["claude:*@team".to_owned()] }]).is_ok()
    );
}

fn one_key() -> String {
    KeyPair::generate_unencrypted_keypair().unwrap().pk.to_base64()
}

/// Holds for nothing, refuses, or cannot tell.
struct Own(fn() -> Result<VerifierCheck, VerifierError>);

impl Verifier for Own {
    fn name(&self) -> &'static str {
        "own"
    }

    fn verify(&self, subject: &VerifierSubject<'_>) -> Result<VerifierCheck, VerifierError> {
        assert!(subject.preimage.starts_with("plugtree-v1\n"));
        (self.0)()
    }
}

#[test]
fn a_verifier_of_the_host_is_asked_and_its_failure_is_no_yes() {
    let bench = Bench::new();
    let plugin = write("p/.claude-plugin/plugin.json", r#"{ "name": "p" }"#);
    plugward_tests::apply(&bench.plugins, &[plugin]);
    let with = |need, answer| {
        bench.check_with(&Run::default(), &|options| {
            options.verifiers = Verifiers::none().and(need, Arc::new(Own(answer)));
        })
    };
    let silent = || Ok(VerifierCheck::NotMentioned);
    assert_eq!(codes(&with(VerifierRequirement::Required, silent)), ["lock/signature-missing"]);
    let report = with(VerifierRequirement::Optional, || Err(VerifierError::new("the oracle is out")));
    assert_eq!((codes(&report), report.exit), (vec!["lock/verifier"], 1));
    let no = || Ok(VerifierCheck::Refused(VerifierRefusal::new("lock/signature-bad", "no", "ask again")));
    assert_eq!(codes(&with(VerifierRequirement::Optional, no)), ["lock/signature-bad"]);
    assert!(bench.pins().is_none());
    assert_eq!(with(VerifierRequirement::Optional, silent).exit, 0);
}
