//! What does not compile, each next to a variant that compiles and differs in one line.

#[test]
fn raw_output_and_unpermitted_arguments_do_not_leave() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/raw_*_ok.rs");
    cases.compile_fail("tests/ui/raw_*_no.rs");
    cases.pass("tests/ui/args_*_ok.rs");
    cases.compile_fail("tests/ui/args_*_no.rs");
}

/// A variant differs in the one line that is wrong. Otherwise something else could be what does not compile.
#[test]
fn variants_differ_in_exactly_one_line() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    let mut pairs = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(stem) = name.strip_suffix("_no.rs") else { continue };
        assert!(["llm_", "raw_", "args_"].iter().any(|prefix| stem.starts_with(prefix)), "{stem} is not run");
        let [wrong, right] =
            ["no", "ok"].map(|end| std::fs::read_to_string(folder.join(format!("{stem}_{end}.rs"))).unwrap());
        assert_eq!(wrong.lines().count(), right.lines().count(), "{stem}");
        let differ = wrong.lines().zip(right.lines()).filter(|(a, b)| a != b).count();
        assert_eq!(differ, 1, "{stem}");
        pairs += 1;
    }
    assert!(pairs >= 11, "{pairs}");
}
