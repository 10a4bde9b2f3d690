//! Signatures over PLUGINS.lock, made here with fresh keys.

use std::io::Cursor;

use minisign::KeyPair;
use plugward_tree_lock::{
    Claim, LockEntry, LockFile, MinisignKey, MinisignVerifier, Signer, Snapshot, Verifier, VerifierCheck,
};

use crate::tree::Tree;
use crate::verifier::{locked, names, subject};

struct Team {
    keys: KeyPair,
}

impl Team {
    fn new() -> Self {
        Self { keys: KeyPair::generate_unencrypted_keypair().unwrap() }
    }

    fn public(&self) -> String {
        self.keys.pk.to_base64()
    }

    fn key(&self) -> MinisignKey {
        MinisignKey::parse(&self.public()).unwrap()
    }

    fn sign(&self, bytes: &[u8], comment: &str) -> String {
        let made =
            minisign::sign(Some(&self.keys.pk), &self.keys.sk, Cursor::new(bytes), Some(comment), None);
        made.unwrap().into_string()
    }

    fn signer(&self, ids: &[&str]) -> Signer {
        Signer::new(self.key(), ids.iter().copied()).unwrap()
    }
}

fn plugin() -> Snapshot {
    let tree = Tree::new();
    tree.file("plugin.json", "{}\n");
    tree.read()
}

/// Asks about the plugin of that name in the directory `plugins/NAME`, with this tree. `lock` is the file that the
/// host read, on which the answer must not depend.
fn ask(verifier: &MinisignVerifier, tree: &Snapshot, name: &str, lock: Option<&LockFile>) -> String {
    let (_, rest) = name.split_once(':').unwrap();
    let path = format!("plugins/{}", rest.split('@').next().unwrap());
    match verifier.verify(&subject(&names(&[name]), &path, tree, lock)).unwrap() {
        VerifierCheck::Confirmed(Claim::Signed { scheme, signer, comment }) => {
            format!("{scheme} {signer} {}", comment.unwrap())
        }
        VerifierCheck::Confirmed(Claim::Integrity) => "integrity".into(),
        VerifierCheck::NotMentioned => "not mentioned".into(),
        VerifierCheck::Refused(why) => {
            assert!(!why.help().is_empty());
            why.code().into()
        }
    }
}

#[test]
fn a_signed_lock_vouches_for_the_trees_it_names() {
    let (team, tree) = (Team::new(), plugin());
    let lock = locked("plugins/a", &tree);
    let bytes = lock.render();
    let signature = team.sign(bytes.as_bytes(), "release 7");
    let take = |signers: Vec<Signer>| {
        MinisignVerifier::new(signers, bytes.as_bytes(), Some(signature.as_bytes())).unwrap()
    };
    let verifier = take(vec![team.signer(&["claude:*@team"])]);
    assert_eq!(
        ask(&verifier, &tree, "claude:a@team", Some(&lock)),
        format!("minisign minisign:{} release 7", team.key().id())
    );
    assert_eq!(verifier.trusted_comment(), Some("release 7"));
    // The key's id is the one that minisign itself prints.
    let id = u64::from_le_bytes(team.keys.pk.to_bytes()[2..10].try_into().unwrap());
    assert_eq!(team.key().id(), format!("{id:016X}"));

    // A plugin without a required signer.
    assert_eq!(ask(&verifier, &tree, "claude:a@other", Some(&lock)), "not mentioned");
    // Another tree, and a plugin that the signed lock does not name.
    let other = Tree::new();
    other.file("plugin.json", "{ }\n");
    assert_eq!(ask(&verifier, &other.read(), "claude:a@team", Some(&lock)), "lock/mismatch");
    assert_eq!(ask(&verifier, &tree, "claude:b@team", Some(&lock)), "lock/unlisted");
    // What the host calls the lock does not count: only the signed bytes do.
    let forged = locked("plugins/a", &other.read());
    assert_eq!(ask(&verifier, &other.read(), "claude:a@team", Some(&forged)), "lock/mismatch");
    // No signer at all: nothing is asked of anybody.
    assert_eq!(ask(&take(vec![]), &tree, "claude:a@team", Some(&lock)), "not mentioned");
}

#[test]
fn wrong_key_wrong_file_no_signature_and_a_changed_signer() {
    let (team, stranger, tree) = (Team::new(), Team::new(), plugin());
    let bytes = locked("plugins/a", &tree).render();
    let ask_with = |signers: Vec<Signer>, lock: &str, signature: Option<&str>| {
        let verifier = MinisignVerifier::new(signers, lock.as_bytes(), signature.map(str::as_bytes)).unwrap();
        let shown = ask(&verifier, &tree, "claude:a@team", None);
        assert_eq!(
            verifier.trusted_comment().is_some(),
            shown.starts_with("minisign ")
                || shown == "lock/unknown-key" && signature.is_some_and(|text| text.contains("known"))
        );
        shown
    };
    let signers = || vec![team.signer(&["claude:*@team"])];
    assert_eq!(ask_with(signers(), &bytes, None), "lock/signature-missing");
    // Signed by a key that is not in the settings.
    assert_eq!(ask_with(signers(), &bytes, Some(&stranger.sign(bytes.as_bytes(), "c"))), "lock/unknown-key");
    // Signed by a key that is, for other plugins.
    let both = vec![team.signer(&["claude:*@team"]), stranger.signer(&["claude:*@else"])];
    assert_eq!(ask_with(both, &bytes, Some(&stranger.sign(bytes.as_bytes(), "known"))), "lock/unknown-key");
    // One key in two rows of the settings.
    let rows = vec![team.signer(&["codex:*@team"]), team.signer(&["claude:*@team"])];
    assert!(ask_with(rows, &bytes, Some(&team.sign(bytes.as_bytes(), "c"))).starts_with("minisign "));
    // Another file, one byte more, one byte less.
    let signature = team.sign(bytes.as_bytes(), "c");
    for other in [format!("{bytes}\n"), format!("# {bytes}"), bytes[..bytes.len() - 1].to_owned()] {
        assert_eq!(ask_with(signers(), &other, Some(&signature)), "lock/signature-bad");
    }
    // A changed signer shows as another name, which the pin keeps.
    let changed = vec![stranger.signer(&["claude:*@team"])];
    let shown = ask_with(changed, &bytes, Some(&stranger.sign(bytes.as_bytes(), "c")));
    assert_eq!(shown, format!("minisign minisign:{} c", stranger.key().id()));
    assert_ne!(stranger.key().id(), team.key().id());
}

#[test]
fn a_signature_with_one_character_changed_does_not_hold() {
    let (team, tree) = (Team::new(), plugin());
    let bytes = locked("plugins/a", &tree).render();
    let signature = team.sign(bytes.as_bytes(), "release 7");
    let good = |text: &str| {
        let verifier = MinisignVerifier::new(
            vec![team.signer(&["claude:*@team"])],
            bytes.as_bytes(),
            Some(text.as_bytes()),
        );
        ask(&verifier.unwrap(), &tree, "claude:a@team", None).starts_with("minisign ")
    };
    assert!(good(&signature));
    let first = signature.find('\n').unwrap();
    for (at, c) in signature.char_indices().filter(|(at, c)| *at > first && *c != '\n') {
        let other = if c == 'A' { 'B' } else { 'A' };
        let changed = format!("{}{other}{}", &signature[..at], &signature[at + 1..]);
        assert!(!good(&changed), "{at} {changed}");
    }
    // The first line is untrusted by design: it may say anything.
    assert!(good(&format!("untrusted comment: x{}", &signature[first..])));
    // Lines missing, lines added, not text, too long.
    for text in [
        "",
        "\n\n\n\n",
        &signature[..first + 10],
        &format!("{signature}x\n"),
        &"x".repeat(5000),
        &signature.repeat(2),
    ] {
        assert!(!good(text), "{text}");
    }
    let verifier =
        MinisignVerifier::new(vec![team.signer(&["claude:*@team"])], bytes.as_bytes(), Some(b"\xff\xfe"));
    assert_eq!(ask(&verifier.unwrap(), &tree, "claude:a@team", None), "lock/signature-bad");
}

/// A file that the older form signed: the bytes themselves and not their hash.
#[test]
fn a_legacy_signature_is_told_as_such() {
    let (team, tree) = (Team::new(), plugin());
    let bytes = locked("plugins/a", &tree).render();
    let signature = team.sign(bytes.as_bytes(), "c");
    // `ED` (prehashed) becomes `Ed` (legacy) in the first two of 74 bytes.
    let mut lines: Vec<&str> = signature.lines().collect();
    assert!(lines[1].starts_with("RU"), "{}", lines[1]);
    let legacy = lines[1].replacen("RU", "RW", 1);
    lines[1] = &legacy;
    let text = lines.join("\n");
    let verifier =
        MinisignVerifier::new(vec![team.signer(&["claude:*@team"])], bytes.as_bytes(), Some(text.as_bytes()))
            .unwrap();
    match verifier.verify(&subject(&names(&["claude:a@team"]), "plugins/a", &tree, None)).unwrap() {
        VerifierCheck::Refused(why) => {
            assert_eq!(why.code(), "lock/signature-bad");
            assert!(why.to_string().contains("legacy"), "{why}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_lock_that_is_none_is_an_error_and_no_answer() {
    let error = MinisignVerifier::new(Vec::new(), b"version = 9", None).unwrap_err();
    assert_eq!(error.code(), "lock/malformed");
}

#[test]
fn settings_name_keys_and_ids() {
    let team = Team::new();
    for bad in
        ["", "RW", "not base64 at all", &team.public()[1..], &format!("{}A", team.public()), &"A".repeat(56)]
    {
        let error = MinisignKey::parse(bad).unwrap_err();
        assert_eq!(error.code(), "lock/signer");
        assert!(error.help().contains("lock.signers"));
    }
    for bad in [
        &[][..],
        &["*"],
        &["claude"],
        &["claude:"],
        &["claude:a@"],
        &["claude:a@b@c"],
        &["claude:a/b"],
        &["claude:a b@team"],
        &["claude:a@team", ""],
        &["path:relative"],
        &["path:"],
        &["path:/a\u{202e}b"],
    ] {
        assert!(Signer::new(team.key(), bad.iter().copied()).is_err(), "{bad:?}");
    }
    let signer = team.signer(&["claude:*@team", "codex:tool-*@*", "gemini:*", "path:/srv/plugins/*"]);
    for (texts, expected) in [
        (&["claude:a@team"][..], true),
        (&["codex:tool-x@y"], true),
        (&["codex:tool@y"], false),
        (&["claude:a@teams"], false),
        (&["claude:a"], false),
        (&["gemini:a"], true),
        (&["gemini:a@b"], true),
        (&["path:/srv/plugins/a b"], true),
        (&["path:/srv/plugin"], false),
        // One of several names is enough, and a plugin without names matches nothing.
        (&["path:/home/u/a", "claude:a", "claude:a@team"], true),
        (&["path:/home/u/a", "claude:a", "claude:a@other"], false),
        (&[], false),
    ] {
        assert_eq!(signer.is_for(&names(texts)), expected, "{texts:?}");
    }
    assert!(!format!("{:?}", team.key()).contains(&team.public()));
}

/// Keys and signatures of the `minisign` program, where it is installed.
#[test]
fn the_program_itself_agrees() {
    let directory = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        std::process::Command::new("minisign").args(args).current_dir(directory.path()).output()
    };
    let Ok(made) = run(&["-G", "-W", "-p", "k.pub", "-s", "k.sec"]) else {
        println!("skipped: no minisign program here");
        return;
    };
    assert!(made.status.success());
    let tree = plugin();
    let mut lock = LockFile::new();
    lock.insert("plugins/a", LockEntry::new(*tree.digest())).unwrap();
    std::fs::write(directory.path().join("PLUGINS.lock"), lock.render()).unwrap();
    assert!(
        run(&["-S", "-s", "k.sec", "-m", "PLUGINS.lock", "-t", "from the program"]).unwrap().status.success()
    );
    let public = std::fs::read_to_string(directory.path().join("k.pub")).unwrap();
    let key = MinisignKey::parse(public.lines().nth(1).unwrap()).unwrap();
    assert!(public.contains(&key.id()), "{public}");
    let signature = std::fs::read(directory.path().join("PLUGINS.lock.minisig")).unwrap();
    let signer = Signer::new(key, ["claude:*@team"]).unwrap();
    let verifier = MinisignVerifier::new(vec![signer], lock.render().as_bytes(), Some(&signature)).unwrap();
    assert!(ask(&verifier, &tree, "claude:a@team", None).ends_with("from the program"));
}
