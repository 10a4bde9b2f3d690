//! Code that tries to evade the fence, with exactly the rules that have to report it.

use plugward_fence::{DependencyKind, FenceConfig, PackageSpec, Sources, check};
use std::collections::BTreeMap;

const CAPS: &str = "
mod kinds;
pub use kinds::*;
pub mod factory {
    use crate::kinds::*;
    pub struct Factory;
    impl Factory {
        pub fn make() -> Option<PlainCapability> { None }
        pub fn lent(one: &PlainCapability) -> &PlainCapability { one }
        pub fn kept(one: PlainCapability) -> PlainCapability { one }
    }
    pub struct Builder(u32);
    impl Builder { pub fn start() -> Builder { Builder(1) } }
}
pub trait Revive<A> { fn revive(from: A) -> Self; }
impl Revive<u32> for PlainCapability { fn revive(_: u32) -> Self { todo!() } }
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
    let mut report = check(&Sources::in_memory(&packages, &all), &FenceConfig::for_crates(&["caps"]));
    report.retain_files(|file| !file.starts_with("caps/"));
    report.findings().iter().map(|one| one.rule.to_string()).collect()
}

#[track_caller]
fn expect_rules(code: &str, rules: &[&str]) {
    let text = format!("use caps::*; use caps::factory::Factory; {code}");
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
    expect_rules("fn f() { drop(ScopedCapability::over(1)); }", &["F02"]);
    expect_rules("fn f() { drop(ScopedCapability::<u8>::over(1)); }", &["F02"]);
    expect_rules("fn f() { drop(<ScopedCapability<u8>>::over(1)); }", &["F02"]);
    expect_rules("fn f() { let _x: ScopedCapability<u8> = Default::default(); }", &["F03"]);
    expect_rules("fn f() { drop(<u8 as Into<ScopedCapability<u8>>>::into(1)); }", &["F03"]);
    expect_rules(
        "fn f(x: u8) { drop(unsafe { std::mem::transmute::<u8, ScopedCapability<u8>>(x) }); }",
        &["F04"],
    );
    expect_rules("fn f() { html! { @ ScopedCapability::<u8>::over(1) } }", &["F05"]);
    expect_rules("fn f() { html! { @ ScopedCapability { scope: 1 } } }", &["F05"]);
    expect_rules("#[derive(Default)] struct H<S> { one: ScopedCapability<S> }", &["F06"]);
    expect_rules("fn f(one: &ScopedCapability<u8>) -> &u8 { ScopedCapability::scope(one) }", &[]);
    expect_rules(
        "fn f<S>(one: ScopedCapability<S>) -> S { let ScopedCapability { scope } = one; scope }",
        &[],
    );
}

#[test]
fn what_makes_one_for_others() {
    expect_rules("fn f() { drop(Factory::make()); }", &["F02"]);
    expect_rules("fn f() { drop(Some(1).and_then(|_| Factory::make())); }", &["F02"]);
    expect_rules("fn f() { let make = caps::factory::Factory::make; drop(make()); }", &["F02"]);
    expect_rules("fn f(one: &PlainCapability) { Factory::lent(one); }", &[]);
    expect_rules("fn f(one: PlainCapability) { drop(Factory::kept(one)); }", &[]);
    expect_rules("fn f() { drop(caps::factory::Builder::start()); }", &[]);
    expect_rules("fn f() { drop(<PlainCapability as Revive<u32>>::revive(1)); }", &["F02"]);
    expect_rules("fn f() { drop(PlainCapability::revive(1)); }", &["F02"]);
    expect_rules("fn f() { let _x: PlainCapability = Revive::revive(1); }", &["F02"]);
    expect_rules("fn f() -> PlainCapability { Revive::revive(1) }", &["F02"]);
    expect_rules("fn f(m: &Mint) -> PlainCapability { m.mint() }", &[]);
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
fn a_helper_that_sees_nothing_hands_out_macros() {
    let app = "fn f() { drop(helper::whole!()); }";
    let body = "#[macro_export] macro_rules! whole { () => { ::caps::PlainCapability { raw: 1 } } }";
    assert_eq!(reported(&[("app/src/main.rs", app), ("helper/src/lib.rs", body)]), ["F05"]);
    let quoted = "pub fn emit() -> TokenStream { quote! { caps::PlainCapability { raw: 1 } } } \
        macro_rules! unused { () => {} }";
    assert_eq!(reported(&[("app/src/main.rs", "fn f() {}"), ("helper/src/lib.rs", quoted)]), ["F05"]);
    let own = "macro_rules! m { () => {} } pub struct PlainCapability { pub raw: u32 } \
        pub fn own() -> PlainCapability { PlainCapability { raw: 1 } }";
    assert_eq!(
        reported(&[("app/src/main.rs", "fn f() {}"), ("helper/src/lib.rs", own)]),
        Vec::<String>::new()
    );
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
