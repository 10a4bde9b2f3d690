//! The known false negatives. When a rule learns to report one, its test fails and the list gets shorter.

use plugward_fence::BLIND_SPOTS;

use crate::memory::rules;

/// Code that is not reported, by blind spot.
const MISSED: &[(&str, &str)] = &[
    ("B01", "fn f() { drop(caps::NetCapability::new()); }"),
    ("B01", "fn f() { let _x: caps::NetCapability = Default::default(); }"),
    ("B01", "fn f(text: &str) { drop(serde_json::from_str::<caps::NetCapability>(text)); }"),
    ("B01", "#[derive(Default, serde::Deserialize)] struct S { one: caps::NetCapability }"),
    ("B02", "fn f(x: u32) -> caps::NetCapability { unsafe { std::mem::transmute(x) } }"),
    ("B02", "union U { raw: u32, one: std::mem::ManuallyDrop<caps::NetCapability> }"),
    ("B03", "fn f() { paste::paste! { let _x = caps::[<Net Capability>] { raw: 1 }; } }"),
    (
        "B03",
        "macro_rules! call { ($t:ty, $f:ident) => { <$t>::$f() } } fn f() { drop(call!(caps::Mint, new)); }",
    ),
    (
        "B03",
        "macro_rules! make { ($t:ident) => { $t { raw: 1 } } } fn f() { let _x = make!(NetCapability); }",
    ),
    ("B03", "fn f() { let _x = made_by_text!(\"caps::Mint::new()\"); }"),
    ("B04", "fn f() { drop(elsewhere::open_everything()); }"),
    (
        "B05",
        "trait Tr { type Out; } impl Tr for u8 { type Out = caps::Mint; } fn f() { drop(<u8 as Tr>::Out::new()); }",
    ),
    ("B05", "fn f<T: Opens>() { drop(T::new()); } fn g() { f::<caps::Mint>(); }"),
    ("B05", "type Id<T> = T; fn f() { drop(Id::<caps::Mint>::new()); }"),
    ("B06", "fn f() { run!({ use caps::Mint as Local; drop(Local::new()); }); }"),
    ("B07", "const TEXT: &str = concat!(env!(\"OUT_DIR\"), \"/makes.rs\");"),
    ("B08", "pub struct NetCap { pub raw: u32 } fn f() -> NetCap { NetCap { raw: 1 } }"),
    ("B09", "fn f(p: &paths::Spot) { let all = vec![p.open()]; drop(all); }"),
    ("B09", "fn f(p: &paths::Spot) { if let (Ok(_), 1) = (p.open(), 1) {} }"),
    ("B09", "fn f(p: &paths::Spot) -> bool { matches!(p.open(), Ok(_)) }"),
    ("B09", "fn f(all: &[paths::Spot]) { all.iter().flat_map(|p| p.open()).count(); }"),
    ("B09", "fn f(p: &paths::Spot) { let g = || p.open(); g().ok(); }"),
    (
        "B09",
        "macro_rules! quiet { ($e:expr) => { let _ = $e; } } fn f(p: &paths::Spot) { quiet!(p.open()); }",
    ),
    ("B09", "fn f(p: &paths::Spot) -> Result<u32, Forgets> { Ok(p.open()?) }"),
    ("B09", "fn f<P: std::ops::Deref<Target = paths::Spot>>(p: P) { p.open().ok(); }"),
    ("B10", "// RUSTFLAGS='--cfg test' cargo build\nfn f() {}"),
    ("B10", "fn main() { println!(\"cargo::rustc-cfg=test\"); }"),
];

#[test]
fn each_blind_spot_is_still_blind() {
    for (code, text) in MISSED {
        assert_eq!(rules(text), Vec::<String>::new(), "{code} is reported: remove it from the list: {text}");
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
        ("B01", "fn f(m: &caps::Mint) { drop(m.mint()); }", "F12"),
        ("B03", "fn f() { paste::paste! { let _x = caps::NetCapability { raw: 1 }; } }", "F01"),
        ("B03", "macro_rules! call { () => { caps::Mint::new() } } fn f() { drop(call!()); }", "F12"),
        ("B03", "fn f() { let _x = made_of_tokens!(@ caps::Mint::new()); }", "F12"),
        ("B05", "type Out = caps::Mint; fn f() { drop(Out::new()); }", "F12"),
        ("B06", "fn f() { run!({ drop(caps::Mint::new()); }); }", "F12"),
        ("B07", "include!(concat!(env!(\"OUT_DIR\"), \"/makes.rs\"));", "F08"),
        ("B08", "pub struct CopiedCapability { pub raw: u32 }", "F07"),
        ("B09", "fn f(p: &paths::Spot) { let r = p.open(); drop(r.ok()); }", "E01"),
        ("B09", "fn f(p: &paths::Spot) { println!(\"{:?}\", p.open().ok()); }", "E01"),
        ("B09", "fn f(p: &Box<paths::Spot>) { p.open().ok(); }", "E01"),
    ];
    for (code, text, rule) in seen {
        assert_eq!(rules(text), [rule], "next to {code}: {text}");
    }
}
