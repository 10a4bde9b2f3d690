//! What does not compile, each beside a twin that compiles and differs in one line.

#[test]
fn raw_text_goes_nowhere() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/*_ok.rs");
    cases.compile_fail("tests/ui/*_no.rs");
}
