//! What does not compile, each next to a variant that compiles and differs in one line.

#[test]
fn a_plugin_is_enabled_after_an_audit_and_with_a_clearance() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/*_ok.rs");
    cases.compile_fail("tests/ui/*_no.rs");
}

/// A variant differs in the one line that is wrong. Otherwise something else could be what does not compile.
#[test]
fn variants_differ_in_exactly_one_line() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    for stem in ["enable_discovered", "enable_without_clearance", "clearance_twice"] {
        let [wrong, right] = ["no", "ok"]
            .map(|end| std::fs::read_to_string(directory.join(format!("{stem}_{end}.rs"))).unwrap());
        assert_eq!(wrong.lines().count(), right.lines().count(), "{stem}");
        assert_eq!(wrong.lines().zip(right.lines()).filter(|(a, b)| a != b).count(), 1, "{stem}");
    }
}
