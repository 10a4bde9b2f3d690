//! Code that tries to evade the fence, with exactly the rules that have to report it.

use plugward_fence::{DependencyKind, FenceConfig, FenceReport, Format, PackageSpec, Sources, check};
use std::collections::BTreeMap;

const CAPS: &str = "
mod kinds;
pub use kinds::*;
pub struct Mint(());
impl Mint { pub fn mint(&self) -> PlainCapability { todo!() } }
";

const KINDS: &str = "
pub struct PlainCapability { pub raw: u32 }
pub struct ScopedCapability<S> { pub scope: S }
pub struct LentCapability<'a, const N: usize>(pub &'a [u8; N]);
impl<S> ScopedCapability<S> { pub fn over(scope: S) -> Self { Self { scope } } pub fn scope(&self) -> &S { &self.scope } }
impl PlainCapability { pub const LIMIT: u32 = 1; pub fn raw(&self) -> u32 { self.raw } }
";

fn reported(files: &[(&str, &str)]) -> Vec<String> {
    report(files).findings().iter().map(|one| one.rule.to_string()).collect()
}

fn report(files: &[(&str, &str)]) -> FenceReport {
    let mut all: BTreeMap<String, Vec<u8>> =
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    all.insert("caps/src/lib.rs".to_owned(), CAPS.as_bytes().to_vec());
    all.insert("caps/src/kinds.rs".to_owned(), KINDS.as_bytes().to_vec());
    let packages = [
        PackageSpec::new("caps", "caps"),
        PackageSpec::new("helper", "helper"),
        PackageSpec::new("app", "app").depends_on("caps", None, DependencyKind::Normal).depends_on(
            "helper",
            None,
            DependencyKind::Normal,
        ),
    ];
    let mut config = FenceConfig::for_crates(&["caps"]);
    config.require_forbid_unsafe = false;
    let mut report = check(&Sources::in_memory(&packages, &all), &config);
    report.retain_files(|file| !file.starts_with("caps/"));
    report
}

#[track_caller]
fn expect_rules(code: &str, rules: &[&str]) {
    let text = format!("use caps::*; {code}");
    assert_eq!(reported(&[("app/src/main.rs", &text)]), rules, "{code}");
}

#[test]
fn generic_capabilities() {
    expect_rules("fn f() { let _x = ScopedCapability { scope: 1 }; }", &["F01"]);
    expect_rules("fn f() { let _x = ScopedCapability::<u8> { scope: 1 }; }", &["F01"]);
    expect_rules("type Byte = ScopedCapability<u8>; fn f() { let _x = Byte { scope: 1 }; }", &["F01"]);
    expect_rules("type Of<S> = ScopedCapability<S>; fn f() { let _x = Of::<u8> { scope: 1 }; }", &["F01"]);
    expect_rules("fn f() { let _x = LentCapability(&[1]); }", &["F01"]);
    expect_rules("fn f() { let _x = LentCapability::<'static, 1>(&[1]); }", &["F01"]);
    expect_rules("fn f(one: &ScopedCapability<u8>) -> &u8 { ScopedCapability::scope(one) }", &[]);
    expect_rules(
        "fn f<S>(one: ScopedCapability<S>) -> S { let ScopedCapability { scope } = one; scope }",
        &[],
    );
}

#[test]
fn where_a_value_may_stand() {
    for place in [
        "const X: u32 = @.raw;",
        "static X: std::sync::LazyLock<u32> = std::sync::LazyLock::new(|| @.raw);",
        "enum E { A = @.raw as isize }",
        "struct S<const N: u32 = { @.raw }>;",
        "fn f(x: [u8; @.raw as usize]) {}",
        "fn f() -> [u8; @.raw as usize] { todo!() }",
        "fn f<T>() where [u8; @.raw as usize]: Sized {}",
        "impl Tr for [u8; @.raw as usize] {}",
        "impl Tr<{ @.raw }> for u8 {}",
        "trait Tr { const X: u32 = @.raw; }",
        "trait Tr where [u8; @.raw as usize]: Sized {}",
        "trait Tr { fn f() { @; } }",
        "impl S { const X: u32 = @.raw; }",
        "type X = [u8; @.raw as usize];",
        "mod a { mod b { fn f() { super::super::g(super::super::@); } } }",
        "fn f() { match 1 { _ if @.raw == 1 => {} _ => {} } }",
        "fn f() { let Some(_x) = Some(@) else { return }; }",
        "fn f() { let Some(_x) = g() else { drop(@); return }; }",
        "fn f() { if let Some(_x) = Some(@) && true {} }",
        "fn f() { while (@).raw > 1 {} }",
        "fn f() { for _ in [@] {} }",
        "fn f() { for _ in g() { drop(@); } }",
        "fn f() { loop { break drop(@); } }",
        "fn f() { let _x = (1..@.raw, 2); }",
        "fn f() { a.b(@).c(1)?.d; }",
        "fn f() { a[@] = 1; }",
        "fn f() { *g(@) = 1; }",
        "fn f() { x += @.raw; }",
        "fn f() { let x = async move { @ }; }",
        "fn f() { let x = |_: u8| -> u32 { @.raw }; }",
        "fn f() { const { @ }; }",
        "fn f() { unsafe { @ }; }",
        "fn f() { let x = &raw const @; }",
        "fn f() { struct In; impl In { fn g() { @; } } }",
        "fn f() { let x = S { a: 1, b: @ }; }",
        "fn f() { let x = S { ..@ }; }",
        "fn f() { #[cfg(unix)] { @; } }",
        "#[cfg(any(test, unix))] fn f() { @; }",
        "#[cfg(not(test))] mod m { fn f() { super::@; } }",
    ] {
        expect_rules(&place.replace('@', "PlainCapability { raw: 1 }"), &["F01"]);
    }
}

#[test]
fn files_that_only_look_like_tests() {
    let made = "fn f() { let _x = caps::PlainCapability { raw: 1 }; }";
    for path in [
        "app/src/tests.rs",
        "app/src/tests/mod.rs",
        "app/src/test_util.rs",
        "app/benches/b.rs",
        "app/examples/e.rs",
        "app/src/bin/tests.rs",
        "app/build.rs",
        "app/src/caps/src/lib.rs",
        "app/src/mint.rs",
    ] {
        assert_eq!(reported(&[("app/src/main.rs", "mod nothing {}"), (path, made)]), ["F01"], "{path}");
    }
    let copied = "#[path = \"../../caps/src/kinds.rs\"] mod copied;";
    assert_eq!(reported(&[("app/src/main.rs", copied)]), Vec::<String>::new(), "copies are other types");
    for path in ["app/tests/it.rs", "app/tests/common/mod.rs"] {
        assert_eq!(
            reported(&[("app/src/main.rs", "mod nothing {}"), (path, made)]),
            Vec::<String>::new(),
            "{path}"
        );
    }
    let pulled = "#[path = \"../tests/common/mod.rs\"] mod common;";
    assert_eq!(reported(&[("app/src/main.rs", pulled), ("app/tests/common/mod.rs", made)]), ["F01"]);
    let inner = "#![cfg(test)] fn f() { let _x = caps::PlainCapability { raw: 1 }; }";
    assert_eq!(
        reported(&[("app/src/main.rs", "mod nothing {}"), ("app/src/checks.rs", inner)]),
        Vec::<String>::new()
    );
}

#[test]
fn an_out_of_line_test_module_is_test_code() {
    let made = "mod below; fn f() { let _x = caps::PlainCapability { raw: 1 }; }";
    let below = "fn f() { let _x = super::super::caps::PlainCapability { raw: 1 }; caps::PlainCapability { raw: 2 }; }";
    for declared in [
        "#[cfg(test)] mod tests;",
        "#[cfg(all(test, unix))] mod tests;",
        "#[cfg(test)] #[path = \"tests.rs\"] mod other;",
    ] {
        for (file, child) in [
            ("app/src/tests.rs", "app/src/tests/below.rs"),
            ("app/src/tests/mod.rs", "app/src/tests/below.rs"),
        ] {
            if declared.contains("path") && file.ends_with("mod.rs") {
                continue;
            }
            let child = if declared.contains("path") { "app/src/below.rs" } else { child };
            let files = [("app/src/main.rs", declared), (file, made), (child, below)];
            assert_eq!(reported(&files), Vec::<String>::new(), "{declared} {file}");
        }
    }
    let files =
        [("app/src/main.rs", "mod tests;"), ("app/src/tests.rs", made), ("app/src/tests/below.rs", "")];
    assert_eq!(reported(&files), ["F01"]);
}

#[test]
fn crates_that_do_not_forbid_unsafe_code_are_reported() {
    let crates = |caps: &str, lib: &str, main: &str| {
        let files = BTreeMap::from([
            ("caps/src/lib.rs".to_owned(), format!("{caps}\n{CAPS}").into_bytes()),
            ("caps/src/kinds.rs".to_owned(), KINDS.as_bytes().to_vec()),
            ("app/src/lib.rs".to_owned(), lib.as_bytes().to_vec()),
            ("app/src/main.rs".to_owned(), main.as_bytes().to_vec()),
            ("app/tests/it.rs".to_owned(), Vec::new()),
            ("other/src/lib.rs".to_owned(), Vec::new()),
        ]);
        let app = PackageSpec::new("app", "app").depends_on("caps", None, DependencyKind::Normal);
        let packages = [PackageSpec::new("caps", "caps"), PackageSpec::new("other", "other"), app];
        let report = check(&Sources::in_memory(&packages, &files), &FenceConfig::for_crates(&["caps"]));
        let routes = report.findings().iter().filter(|one| one.route == "forbid-unsafe");
        routes.map(|one| one.site.file.clone()).collect::<Vec<_>>()
    };
    let forbid = "#![forbid(unsafe_code)]";
    assert_eq!(crates(forbid, forbid, "#![forbid(unused, unsafe_code)]"), Vec::<String>::new());
    assert_eq!(crates("", forbid, forbid), ["caps/src/lib.rs"]);
    assert_eq!(crates(forbid, "#![deny(unsafe_code)]", ""), ["app/src/lib.rs", "app/src/main.rs"]);
}

#[test]
fn source_lines_show_no_hidden_characters() {
    // A line break ends the line.
    let hidden = |one: char| plugward_types::escape::is_hidden(one) && !matches!(one, '\n' | '\r');
    let all: Vec<char> = ('\0'..=char::MAX).filter(|one| hidden(*one)).collect();
    // A long line is shown in part.
    let line = |few: &[char]| {
        format!("fn f() {{ /*{}*/ let _x = ScopedCapability {{ scope: 1 }}; }}\n", String::from_iter(few))
    };
    let code: String = all.chunks(4).map(line).collect();
    let text = report(&[("app/src/main.rs", &format!("use caps::*;\n{code}"))]).render(Format::Text);
    assert!(text.contains("u{2800}") && text.contains("u{e0041}"), "{text}");
    assert_eq!(text.chars().find(|one| hidden(*one) && *one != '\t'), None);
}
