//! Code that must not compile, each next to a twin that compiles and differs in one line.

#[test]
fn raw_text_goes_nowhere() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/*_ok.rs");
    cases.compile_fail("tests/ui/*_no.rs");
}

/// A twin differs only in the wrong line. Otherwise another error could be the reason.
#[test]
fn twins_differ_in_exactly_one_line() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    let mut pairs = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(stem) = name.strip_suffix("_no.rs") else { continue };
        let [wrong, right] =
            ["no", "ok"].map(|end| std::fs::read_to_string(folder.join(format!("{stem}_{end}.rs"))).unwrap());
        assert_eq!(wrong.lines().count(), right.lines().count(), "{stem}");
        let differ = wrong.lines().zip(right.lines()).filter(|(a, b)| a != b).count();
        assert_eq!(differ, 1, "{stem}");
        pairs += 1;
    }
    assert!(pairs >= 33, "{pairs}");
}
