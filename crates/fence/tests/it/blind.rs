//! The known false negatives. When a rule learns to report one, its test fails and the list gets shorter.

use plugward_fence::BLIND_SPOTS;

use crate::memory::rules;

/// Code that is not reported, by blind spot.
const MISSED: &[(&str, &str)] = &[
    ("B01", "fn f() { let p = Default::default(); spend(p); } fn spend(_: caps::NetCapability) {}"),
    ("B01", "fn f() { spend(1, Default::default()); } fn spend<T>(_: T, _: caps::NetCapability) {}"),
    ("B01", "fn f() { drop(elsewhere::spend(Default::default())); } type T = caps::NetCapability;"),
    ("B01", "fn f() -> Result<(), caps::NetCapability> { Err(1u32)?; Ok(()) }"),
    ("B02", "fn f() { paste::paste! { let _x = caps::[<Net Capability>] { raw: 1 }; } }"),
    ("B03", "fn f() { let _x = made_by_text!(\"caps::NetCapability { raw: 1 }\"); }"),
    ("B04", "fn f() { drop(elsewhere::open_everything()); }"),
    (
        "B05",
        "trait Tr { type Out; } impl Tr for u8 { type Out = caps::NetCapability; } fn f() { let _x = <u8 as Tr>::Out { raw: 1 }; }",
    ),
    (
        "B05",
        "trait Tr { type Out; fn make(&self) -> Self::Out; } impl Tr for u32 { type Out = caps::NetCapability; fn make(&self) -> Self::Out { (*self).into() } }",
    ),
    (
        "B05",
        "struct Maker<T>(T); impl<T: Default> Maker<T> { fn make() -> T { T::default() } } fn f() { let _x = Maker::<caps::NetCapability>::make(); }",
    ),
    (
        "B06",
        "fn f(slot: &mut caps::NetCapability, from: *const u8) { unsafe { std::ptr::copy(from, slot as *mut _ as *mut u8, 4) } }",
    ),
    (
        "B06",
        "fn f() -> Vec<caps::NetCapability> { let mut v = Vec::with_capacity(1); unsafe { v.set_len(1); } v }",
    ),
    (
        "B06",
        "union Any<A: Copy, B: Copy> { a: A, b: B } fn f() -> caps::NetCapability { unsafe { Any { a: [1u8; 4] }.b } }",
    ),
    ("B07", "const TEXT: &str = concat!(env!(\"OUT_DIR\"), \"/makes.rs\");"),
    ("B08", "pub struct NetCap { pub raw: u32 } fn f() -> NetCap { NetCap { raw: 1 } }"),
    (
        "B09",
        "macro_rules! a { ($t:ident) => { $t { raw: 1 } } } macro_rules! b { ($t:ident) => { a!($t) } } macro_rules! c { ($t:ident) => { b!($t) } } fn f() { let _x = c!(NetCapability); }",
    ),
    (
        "B09",
        "macro_rules! ty { () => { caps::NetCapability } } fn f() { let _x: ty!() = Default::default(); }",
    ),
    ("B10", "fn f(p: &paths::Spot) { let all = vec![p.open()]; drop(all); }"),
    ("B10", "fn f(p: &paths::Spot) { let r = (p.open(), 1); drop(r.0.ok()); }"),
    ("B10", "fn f(p: &paths::Spot) { let r = { let q = p; q.open() }; drop(r.ok()); }"),
    (
        "B10",
        "macro_rules! quiet { ($e:expr) => { let _ = $e; } } fn f(p: &paths::Spot) { quiet!(p.open()); }",
    ),
    ("B10", "fn f(p: &paths::Spot) -> Result<u32, Forgets> { Ok(p.open()?) }"),
    ("B10", "fn f(p: &impl std::ops::Deref<Target = paths::Spot>) { p.open().ok(); }"),
    ("B10", "fn f(p: &dyn AsRef<paths::Spot>) { p.as_ref().open().ok(); }"),
    ("B11", "// RUSTFLAGS='--cfg test' cargo build\nfn f() {}"),
];

#[test]
fn each_blind_spot_is_still_blind() {
    for (code, text) in MISSED {
        assert_eq!(rules(text), Vec::<String>::new(), "{code} is reported: remove it from the list");
    }
}

#[test]
fn each_blind_spot_has_its_fixture() {
    let listed: Vec<&str> = BLIND_SPOTS.iter().map(|(code, _)| *code).collect();
    let mut shown: Vec<&str> = MISSED.iter().map(|(code, _)| *code).collect();
    shown.dedup();
    assert_eq!(listed, shown);
}

#[test]
fn code_close_to_each_blind_spot_is_reported() {
    // Code close to that above is reported, so a broken rule cannot pass for a blind spot.
    let seen = [
        ("B01", "fn f() { spend(Default::default()); } fn spend(_: caps::NetCapability) {}", "F03"),
        ("B01", "fn f() -> caps::NetCapability { let p = Default::default(); p }", "F03"),
        ("B01", "fn f() -> Result<caps::NetCapability, ()> { Ok(1u32.into()) }", "F03"),
        ("B02", "fn f() { paste::paste! { let _x = caps::NetCapability { raw: 1 }; } }", "F01"),
        ("B03", "fn f() { let _x = made_of_tokens!(@ caps::NetCapability { raw: 1 }); }", "F05"),
        ("B05", "type Out = caps::NetCapability; fn f() { let _x = Out { raw: 1 }; }", "F01"),
        ("B06", "fn f(from: *const u8) { let _p = from as *const caps::NetCapability; }", "F04"),
        (
            "B06",
            "union Any<A: Copy, B: Copy> { a: A, b: B } fn f(x: Any<u8, caps::NetCapability>) { let _y: Any<u8, caps::NetCapability> = x; }",
            "F04",
        ),
        ("B07", "include!(concat!(env!(\"OUT_DIR\"), \"/makes.rs\"));", "F08"),
        ("B08", "pub struct CopiedCapability { pub raw: u32 }", "F07"),
        (
            "B09",
            "macro_rules! a { ($t:ident) => { $t { raw: 1 } } } macro_rules! b { ($t:ident) => { a!($t) } } fn f() { let _x = b!(NetCapability); }",
            "F05",
        ),
        ("B10", "fn f(p: &paths::Spot) { let r = p.open(); drop(r.ok()); }", "E01"),
        ("B10", "fn f(p: &paths::Spot) { let (r, _) = (p.open(), 1); drop(r.ok()); }", "E01"),
        ("B10", "fn f(p: &paths::Spot) { println!(\"{:?}\", p.open().ok()); }", "E01"),
        ("B10", "fn f(p: &Box<paths::Spot>) { p.open().ok(); }", "E01"),
    ];
    for (code, text, rule) in seen {
        assert_eq!(rules(text), [rule], "next to {code}");
    }
}
