//! Every code has a help text, and a test sees it.

use std::path::Path;

use plugward_host_modules::CODES;

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
