//! A reader that panics causes an error with the file's name, never a partial report.

use core::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use plugward_scanner::{Content, Entry, MatchCache, Profile, RoleHint, Rules, ScanOptions, scan};
use plugward_types::Digest;

use crate::common::digest;

/// A host's cache that panics at the lookup of this number.
struct Breaks {
    turn: usize,
    asked: AtomicUsize,
    kept: Mutex<usize>,
}

impl MatchCache for Breaks {
    fn get(&self, _key: &Digest) -> Option<Vec<u8>> {
        let turn = self.asked.fetch_add(1, Ordering::Relaxed);
        assert!(turn != self.turn, "asked for turn {turn}");
        None
    }

    fn put(&self, _key: &Digest, _record: &[u8]) {
        if let Ok(mut kept) = self.kept.lock() {
            *kept = kept.saturating_add(1);
        }
    }
}

/// A text without an extension that a script runs is read again, as the language that runs it.
const FILES: &[(&str, &str)] =
    &[("a.sh", "sh steps.txt\n"), ("b.js", "eval('x')\n"), ("steps.txt", "rm -rf /\n")];

fn told(turn: usize, jobs: usize) -> Result<usize, String> {
    let cache = Breaks { turn, asked: AtomicUsize::new(0), kept: Mutex::new(0) };
    let entries: Vec<Entry<'_>> = FILES
        .iter()
        .map(|(path, text)| {
            let content = Content::Bytes { bytes: text.as_bytes(), digest: digest(text.as_bytes()) };
            Entry { path, content, role: RoleHint::NONE }
        })
        .collect();
    let mut options = ScanOptions::new(Profile::General);
    options.jobs = NonZeroUsize::new(jobs).unwrap();
    options.cache = Some(&cache);
    let report = scan(Rules::builtin(), &options, &entries);
    report.map(|report| report.findings().len()).map_err(|error| format!("{}: {error}", error.code()))
}

#[test]
fn a_worker_that_panics_is_an_error_that_names_its_file() {
    // The turns of the files in the order of their paths, then the one that is read anew. The roles follow.
    for (turn, path) in [(0, "a.sh"), (1, "b.js"), (2, "steps.txt"), (3, "steps.txt")] {
        let error = told(turn, 1).unwrap_err();
        assert!(error.starts_with("scan/internal") && error.contains(path), "{turn}: {error}");
    }
    let error = told(4, 1).unwrap_err();
    assert!(error.starts_with("scan/internal") && error.contains("the references between files"), "{error}");
    for turn in 0..5 {
        assert!(told(turn, 3).is_err_and(|error| error.starts_with("scan/internal")), "{turn}");
    }
}

#[test]
fn one_that_does_not_is_none() {
    let found = told(usize::MAX, 1).unwrap();
    assert!(found >= 3, "{found}");
    assert_eq!(told(5, 1), Ok(found));
    assert_eq!(told(5, 3), Ok(found));
}
