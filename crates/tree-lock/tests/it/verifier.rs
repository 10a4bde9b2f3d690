//! The seam: the lock's own verifier, lists of verifiers, and a third kind that is neither lock nor minisign.

use plugward_tree_lock::{
    Claim, LockEntry, LockFile, LockVerifier, SignerId, Snapshot, Verifier, VerifierCheck, VerifierError,
    VerifierRefusal, VerifierRequirement, VerifierSubject, VerifiersCheck, verify_all,
};
use sha2::{Digest as _, Sha256};

use crate::tree::Tree;

fn plugin() -> Snapshot {
    let tree = Tree::new();
    tree.file("plugin.json", "{}\n").exec("run.sh", "#!/bin/sh\n");
    tree.read()
}

pub(crate) fn locked(path: &str, tree: &Snapshot) -> LockFile {
    let mut file = LockFile::new();
    file.insert(path, LockEntry::new(*tree.digest())).unwrap();
    file
}

pub(crate) fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

pub(crate) fn subject<'a>(
    names: &'a [String],
    path: &'a str,
    tree: &'a Snapshot,
    lock: Option<&'a LockFile>,
) -> VerifierSubject<'a> {
    VerifierSubject { names, path, digest: tree.digest(), preimage: tree.preimage(), files: tree, lock }
}

fn code(check: Result<VerifierCheck, VerifierError>) -> String {
    match check.unwrap() {
        VerifierCheck::Confirmed(claim) => format!("{claim:?}"),
        VerifierCheck::NotMentioned => "not mentioned".into(),
        VerifierCheck::Refused(why) => why.code().into(),
    }
}

#[test]
fn the_lock_verifier_claims_integrity_and_no_more() {
    let tree = plugin();
    let name = names(&["claude:a@team"]);
    let lock = locked("plugins/a", &tree);
    let verifier = LockVerifier::new();
    assert_eq!(code(verifier.verify(&subject(&name, "plugins/a", &tree, None))), "not mentioned");
    assert_eq!(code(verifier.verify(&subject(&name, "plugins/a", &tree, Some(&lock)))), "Integrity");
    // The path is the key; the names do not matter.
    assert_eq!(code(verifier.verify(&subject(&[], "plugins/a", &tree, Some(&lock)))), "Integrity");
    assert_eq!(code(verifier.verify(&subject(&name, "plugins/b", &tree, Some(&lock)))), "lock/unlisted");
    let other = Tree::new();
    other.file("plugin.json", "{}\n");
    assert_eq!(
        code(verifier.verify(&subject(&name, "plugins/a", &other.read(), Some(&lock)))),
        "lock/mismatch"
    );
}

/// A stub signer of a third kind: it was handed a bundle and a root of trust as bytes, looks at single files, knows
/// its signer by an identity and not by a key, and takes nothing from PLUGINS.lock.
struct Bundle {
    root: [u8; 32],
    proof: Option<Vec<u8>>,
    identity: String,
}

impl Bundle {
    fn sign(root: [u8; 32], preimage: &str, identity: &str) -> Self {
        let bundle = Sha256::new().chain_update(root).chain_update(preimage).finalize().to_vec();
        Self { root, proof: Some(bundle), identity: identity.into() }
    }
}

impl Verifier for Bundle {
    fn name(&self) -> &'static str {
        "stub"
    }

    fn verify(&self, subject: &VerifierSubject<'_>) -> Result<VerifierCheck, VerifierError> {
        let Some(bundle) = &self.proof else {
            return Ok(VerifierCheck::NotMentioned);
        };
        if bundle.len() != 32 {
            let cause = std::io::Error::other("cut short");
            return Err(VerifierError::new("the bundle cannot be read").because(cause));
        }
        // All that it needs is in the subject: the text that was hashed, and the files it is made of.
        let again = Sha256::digest(subject.preimage);
        let files = subject
            .files
            .entries()
            .all(|entry| Sha256::digest(entry.bytes()).as_slice() == entry.digest().as_bytes());
        let expected = Sha256::new().chain_update(self.root).chain_update(subject.preimage).finalize();
        if !files || again.as_slice() != subject.digest.as_bytes() || expected.as_slice() != bundle {
            return Ok(VerifierCheck::Refused(VerifierRefusal::new(
                "stub/bad",
                "the bundle is of another tree",
                "sign again",
            )));
        }
        let signer =
            SignerId::new(&self.identity).ok_or_else(|| VerifierError::new("an identity with blanks"))?;
        Ok(VerifierCheck::Confirmed(Claim::Signed { scheme: "stub", signer, comment: None }))
    }
}

#[test]
fn a_third_kind_of_signer_needs_nothing_that_the_seam_has_not() {
    let tree = plugin();
    let name = names(&["claude:a@team"]);
    let lock = locked("plugins/a", &tree);
    let asked = subject(&name, "plugins/a", &tree, Some(&lock));
    let good = Bundle::sign([7; 32], tree.preimage(), "https://example.org/workflow@refs/tags/v1");
    let other = Bundle::sign([7; 32], "plugtree-v1\n", "x");
    let silent = Bundle { proof: None, ..Bundle::sign([7; 32], "", "x") };
    let broken = Bundle { proof: Some(vec![1]), ..Bundle::sign([7; 32], "", "x") };
    let integrity = LockVerifier::new();

    match verify_all(
        &[(VerifierRequirement::Optional, &integrity), (VerifierRequirement::Required, &good)],
        &asked,
    )
    .unwrap()
    {
        VerifiersCheck::Confirmed(claims) => {
            let shown: Vec<_> = claims.iter().map(|(name, claim)| format!("{name} {claim:?}")).collect();
            assert_eq!(shown[0], "lock Integrity");
            assert!(shown[1].starts_with("stub Signed") && shown[1].contains("refs/tags/v1"), "{}", shown[1]);
        }
        refused @ VerifiersCheck::Refused(_) => panic!("{refused:?}"),
    }
    let codes = |list: &[(VerifierRequirement, &dyn Verifier)]| match verify_all(list, &asked).unwrap() {
        VerifiersCheck::Confirmed(claims) => vec![format!("{} hold", claims.len())],
        VerifiersCheck::Refused(why) => {
            why.iter().map(|(name, why)| format!("{name} {}", why.code())).collect()
        }
    };
    assert_eq!(codes(&[]), ["0 hold"]);
    assert_eq!(
        codes(&[(VerifierRequirement::Optional, &silent), (VerifierRequirement::Optional, &integrity)]),
        ["1 hold"]
    );
    assert_eq!(
        codes(&[(VerifierRequirement::Required, &silent), (VerifierRequirement::Optional, &integrity)]),
        ["stub lock/signature-missing"]
    );
    // One that is only optional still may not refuse, and all refusals are given.
    assert_eq!(
        codes(&[(VerifierRequirement::Optional, &other), (VerifierRequirement::Required, &silent)]),
        ["stub stub/bad", "stub lock/signature-missing"]
    );
    // A failure is no answer, whatever the others say.
    for need in [VerifierRequirement::Optional, VerifierRequirement::Required] {
        let error =
            verify_all(&[(VerifierRequirement::Required, &good), (need, &broken)], &asked).unwrap_err();
        assert_eq!((error.code(), error.name()), ("lock/verifier", "stub"));
        assert_eq!(error.to_string(), "verifier stub: the bundle cannot be read");
        assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "cut short");
    }
}

#[test]
fn signer_ids_are_one_word_that_shows() {
    for bad in ["", "a b", "a\n", "a\u{202e}b", "a\u{200b}", &"x".repeat(513)] {
        assert!(SignerId::new(bad).is_none(), "{bad:?}");
    }
    assert_eq!(SignerId::new("minisign:00FF").unwrap().to_string(), "minisign:00FF");
}
