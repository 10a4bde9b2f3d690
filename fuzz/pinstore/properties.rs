//! Properties that apply to any bytes.

use std::collections::{BTreeMap, BTreeSet};

use plugward_pinstore::{
    Baseline, Change, ChangeClass, ChangeOutcome, Classify, DiffSide, Facts, Hunks, ObservedPlugin,
    PinOrigin, Revocations, Timestamp, TreeEntryKind, diff as compare, parse_approvals, parse_pins,
    rewrite_pins,
};
use plugward_types::{PluginKey, TreeDigest};

/// A text that a message can contain: one line, no control character, and not the whole file.
fn harmless(text: &str) {
    assert!(text.len() < 4096 && !text.chars().any(char::is_control), "{text:?}");
}

/// What is read can be changed, the change is read back, and nothing else disappears.
pub(crate) fn pins(bytes: &[u8]) {
    let count = match parse_pins(bytes) {
        Ok(count) => count,
        Err(error) => return harmless(&format!("{error} {}", error.help())),
    };
    let (Ok(key), Some(now)) = ("path:/fuzz/one-more".parse::<PluginKey>(), Timestamp::from_unix_seconds(0))
    else {
        return;
    };
    let observed = ObservedPlugin {
        key: key.clone(),
        directory: None,
        called: BTreeSet::new(),
        version: None,
        behaviors: None,
        facts: Facts::of_tree(TreeDigest::from_bytes([1; 32])),
        before: None,
        predecessor: None,
    };
    let enroll = Change::Enroll { observed, via: PinOrigin::Tofu, by: None };
    match rewrite_pins(bytes, vec![enroll], now) {
        Err(error) => harmless(&format!("{error} {}", error.help())),
        Ok((text, outcomes)) => {
            let more = u64::from(outcomes == [ChangeOutcome::Done]);
            assert_eq!(parse_pins(text.as_bytes()), Ok(count + more));
            if more == 1 {
                let forget = vec![Change::Forget { key }];
                let (text, outcomes) = rewrite_pins(text.as_bytes(), forget, now).expect("a rendered file");
                assert_eq!((outcomes, parse_pins(text.as_bytes())), (vec![ChangeOutcome::Done], Ok(count)));
            }
        }
    }
}

pub(crate) fn approvals(bytes: &[u8]) {
    if let Err(error) = parse_approvals(bytes) {
        harmless(&format!("{error} {}", error.help()));
    }
}

/// Every entry of a list has a condition.
pub(crate) fn revocations(bytes: &[u8]) {
    match Revocations::parse(bytes) {
        Err(error) => harmless(&format!("{error} {}", error.help())),
        Ok(list) => assert!(list.entries().iter().all(|entry| {
            entry.tree.is_some()
                || entry.manifest.is_some()
                || entry.binary.is_some()
                || entry.id.is_some()
                || entry.signer.is_some()
        })),
    }
}

/// Everything is code.
struct Rules;

impl Classify for Rules {
    fn file(&self, _: &str, _: TreeEntryKind) -> ChangeClass {
        ChangeClass::Code
    }

    fn surface_line(&self, _: &str) -> ChangeClass {
        ChangeClass::Surface
    }
}

/// Four texts between NUL bytes: two lists of trees, two files.
pub(crate) fn diff(bytes: &[u8]) {
    let mut parts = bytes.splitn(4, |byte| *byte == 0).map(String::from_utf8_lossy);
    let mut part = || parts.next().unwrap_or_default().into_owned();
    let (old_list, new_list, old_text, new_text) = (part(), part(), part(), part());
    let identity = BTreeMap::new();
    let facts = Facts::of_tree(TreeDigest::from_bytes([1; 32]));
    let old = Baseline {
        facts: &facts,
        preimage: Some(&old_list),
        surface: Some(&old_text),
        shared: &[],
        identity: &identity,
        text: &|_| Some(old_text.clone()),
    };
    let new = DiffSide {
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
            // A renamed file has equal entries.
            assert!(file.old != file.new || file.from.is_some());
            if let Hunks::Text { hunks, .. } = &file.hunks {
                assert!(hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>() <= 4000 + 6);
            }
        }
    }
}
