//! The list of codes is what the sources give, both ways.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use plugward_tree_lock::CODES;

/// Returns every quoted `area/name` in a source file.
fn in_source(directory: &Path, out: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            in_source(&path, out);
            continue;
        }
        if path.ends_with("problem/codes.rs")
            || (!cfg!(feature = "minisign") && path.ends_with("minisign.rs"))
        {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for quoted in text.split('"') {
            let is =
                |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
            if quoted.strip_prefix("tree/").or_else(|| quoted.strip_prefix("lock/")).is_some_and(is) {
                out.insert(quoted.to_owned());
            }
        }
    }
}

#[test]
fn the_list_is_what_the_sources_give() {
    let mut found = BTreeSet::new();
    in_source(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    let listed: Vec<String> = CODES.iter().map(|(code, _)| (*code).to_owned()).collect();
    assert_eq!(listed, found.into_iter().collect::<Vec<_>>());
    for (code, help) in CODES {
        assert!(!help.is_empty() && !help.contains('\n') && !help.ends_with('.'), "{code}");
    }
}
