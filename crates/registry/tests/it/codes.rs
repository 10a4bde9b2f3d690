//! Every code has a help text, and is one that the tests of this crate have seen.

use std::collections::BTreeSet;
use std::path::Path;

use plugward_registry::CODES;

#[test]
fn each_code_is_sorted_explained_and_tested() {
    assert!(CODES.windows(2).all(|pair| pair[0].0 < pair[1].0), "sorted, each once");
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let tests: BTreeSet<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.is_file() && !path.ends_with("codes.rs"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    for (code, help) in CODES {
        assert!(!help.is_empty() && !help.ends_with('.'), "{code}");
        // Shown by `plugward` itself, which knows whether a registry is configured and how old a copy is.
        if matches!(*code, "registry/kept") {
            continue;
        }
        let quoted = format!("\"{code}");
        assert!(tests.iter().any(|text| text.contains(&quoted)), "no test sees {code}");
    }
}
