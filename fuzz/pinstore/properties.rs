//! What holds for any bytes; the fuzz targets and the replay of their corpora call the same functions.

use std::collections::BTreeMap;

use plugward_pinstore::{
    Baseline, Change, Class, Classify, EntryKind, Facts, Hunks, ImportFrom, Outcome, Revocations, Scope,
    Side, Timestamp, Via, diff as compare, import as read_foreign, parse_approvals, parse_pins, rewrite_pins,
};
use plugward_types::{PluginId, TreeDigest};

/// A text that a message may hold: one line, no control character, and not the whole file.
fn harmless(text: &str) {
    assert!(text.len() < 4096 && !text.chars().any(char::is_control), "{text:?}");
}

/// What is read can be changed; what was changed is read, and nothing else in it has gone.
pub(crate) fn pins(bytes: &[u8]) {
    let count = match parse_pins(bytes) {
        Ok(count) => count,
        Err(error) => return harmless(&format!("{error} {}", error.help())),
    };
    let (Ok(id), Ok(now)) = ("fuzz:one-more@fuzz".parse::<PluginId>(), Timestamp::from_unix(0)) else {
        return;
    };
    let facts = Facts::of_tree(TreeDigest::from_bytes([1; 32]));
    let enroll = Change::Enroll { scope: Scope::USER, id: id.clone(), facts, via: Via::Tofu, by: None };
    let forget = Change::Forget { scope: Scope::USER, id };
    match rewrite_pins(bytes, vec![enroll], now) {
        // A file that was written by hand in a form that cannot be added to is left as it is, with a reason.
        Err(error) => harmless(&format!("{error} {}", error.help())),
        Ok((text, outcomes)) => {
            let more = u64::from(outcomes == [Outcome::Done]);
            assert_eq!(parse_pins(text.as_bytes()), Ok(count + more));
            if more == 1 {
                let (text, outcomes) =
                    rewrite_pins(text.as_bytes(), vec![forget], now).expect("what we wrote");
                assert_eq!((outcomes, parse_pins(text.as_bytes())), (vec![Outcome::Done], Ok(count)));
            }
        }
    }
}

pub(crate) fn approvals(bytes: &[u8]) {
    if let Err(error) = parse_approvals(bytes) {
        harmless(&format!("{error} {}", error.help()));
    }
}

pub(crate) fn revocations(bytes: &[u8]) {
    match Revocations::parse(bytes) {
        Err(error) => harmless(&format!("{error} {}", error.help())),
        // Whatever is on a list can match something: no entry is empty.
        Ok(list) => assert!(list.entries().iter().all(|entry| {
            entry.tree.is_some()
                || entry.manifest.is_some()
                || entry.binary.is_some()
                || entry.id.is_some()
                || entry.signer.is_some()
        })),
    }
}

pub(crate) fn import(bytes: &[u8]) {
    for from in [ImportFrom::HyperAgent, ImportFrom::Jp, ImportFrom::Codex, ImportFrom::Gnoma] {
        match read_foreign(from, bytes) {
            Err(error) => harmless(&error.to_string()),
            Ok(found) => {
                for one in found {
                    harmless(&one.name);
                    harmless(&one.covered);
                    if let Some(command) = one.command {
                        let name = command.strip_prefix("plugward diff ").expect("one command");
                        assert!(PluginId::check_part(name).is_ok());
                    }
                }
            }
        }
    }
}

/// Everything is code.
struct Rules;

impl Classify for Rules {
    fn file(&self, _: &str, _: EntryKind) -> Class {
        Class::Code
    }

    fn surface_line(&self, _: &str) -> Class {
        Class::Surface
    }
}

/// Four texts between NUL bytes: two lists of trees, two files.
pub(crate) fn diff(bytes: &[u8]) {
    let mut parts = bytes.splitn(4, |byte| *byte == 0).map(String::from_utf8_lossy);
    let mut part = || parts.next().unwrap_or_default().into_owned();
    let (old_list, new_list, old_text, new_text) = (part(), part(), part(), part());
    let (Ok(id), identity) = ("fuzz:one@fuzz".parse::<PluginId>(), BTreeMap::new()) else { return };
    let facts = Facts::of_tree(TreeDigest::from_bytes([1; 32]));
    let old = Baseline {
        facts: &facts,
        preimage: Some(&old_list),
        surface: Some(&old_text),
        shared: &[],
        identity: &identity,
        text: &|_| Some(old_text.clone()),
    };
    let new = Side {
        id: &id,
        facts: &facts,
        preimage: &new_list,
        surface: &new_text,
        shared: &[],
        identity: &identity,
        bytes: &|_| Some(new_text.clone().into_bytes()),
    };
    let found = compare(Some(&old), &new, &Rules, &|| false);
    assert!(found.sections.is_sorted_by_key(|section| section.class));
    for section in &found.sections {
        assert!(section.files.is_sorted_by(|a, b| a.path < b.path));
        for file in &section.files {
            assert!(file.old != file.new);
            if let Hunks::Text { hunks, .. } = &file.hunks {
                assert!(hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>() <= 4000 + 6);
            }
        }
    }
}
