//! The list of codes, against what the sources give.

use std::collections::BTreeSet;

use plugward_pinstore::CODES;

/// Every text of the form `area/name` in the sources is a code of the list, and the other way round.
#[test]
fn the_list_is_what_the_sources_give() {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let areas = ["approval", "baseline", "pin", "policy", "revocation", "store"];
    let mut given = BTreeSet::new();
    let mut paths = vec![source];
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        if path.ends_with("codes.rs") {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        // In code and in comments alike: a notice that only the host gives is named in the docs of its answer.
        for part in text.split(['"', '`']) {
            let is_code = part.split_once('/').is_some_and(|(area, name)| {
                areas.contains(&area)
                    && !name.is_empty()
                    && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
            });
            if is_code {
                given.insert(part.to_owned());
            }
        }
    }
    let listed: BTreeSet<String> = CODES.iter().map(|(code, _)| (*code).to_owned()).collect();
    assert_eq!(given, listed);
    let codes: Vec<&str> = CODES.iter().map(|(code, _)| *code).collect();
    assert!(codes.is_sorted() && codes.len() == listed.len());
    assert!(CODES.iter().all(|(_, help)| !help.is_empty() && !help.ends_with('.')));
}
