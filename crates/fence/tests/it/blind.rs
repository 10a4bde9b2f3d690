//! The known misses: each is still missed. The day a rule learns one, its test says so.

use plugward_fence::BLIND_SPOTS;

use crate::memory::rules;

/// Code by blind spot.
const MISSED: &[(&str, &str)] = &[
    (
        "B01",
        "use caps::NetCapability; fn make<T: Default>() -> T { T::default() } fn f() { spend(make()); } fn spend(_: NetCapability) {}",
    ),
    ("B02", "fn f() { paste::paste! { let _x = caps::[<Net Capability>] { raw: 1 }; } }"),
    ("B03", "fn f() { let _x = made_by_text!(\"caps::NetCapability { raw: 1 }\"); }"),
    ("B04", "fn f() { drop(elsewhere::open_everything()); }"),
    (
        "B05",
        "trait Tr { type Out; } impl Tr for u8 { type Out = caps::NetCapability; } fn f() { let _x = <u8 as Tr>::Out { raw: 1 }; }",
    ),
    (
        "B06",
        "fn f(slot: &mut caps::NetCapability, from: *const u8) { unsafe { std::ptr::copy(from, slot as *mut _ as *mut u8, 4) } }",
    ),
    ("B07", "const TEXT: &str = concat!(env!(\"OUT_DIR\"), \"/makes.rs\");"),
    ("B08", "pub struct NetCap { pub raw: u32 } fn f() -> NetCap { NetCap { raw: 1 } }"),
    (
        "B09",
        "macro_rules! a { ($t:ident) => { $t { raw: 1 } } } macro_rules! b { ($t:ident) => { a!($t) } } macro_rules! c { ($t:ident) => { b!($t) } } fn f() { let _x = c!(NetCapability); }",
    ),
    ("B10", "fn f(p: impl Opens) { let all = vec![p.open()]; drop(all); }"),
    ("B11", "// RUSTFLAGS='--cfg test' cargo build\nfn f() {}"),
];

#[test]
fn each_blind_spot_is_still_blind() {
    for (code, text) in MISSED {
        assert_eq!(rules(text), Vec::<String>::new(), "{code} is seen: take it off the list");
    }
}

#[test]
fn each_blind_spot_has_its_fixture() {
    let listed: Vec<&str> = BLIND_SPOTS.iter().map(|(code, _)| *code).collect();
    let shown: Vec<&str> = MISSED.iter().map(|(code, _)| *code).collect();
    assert_eq!(listed, shown);
}

#[test]
fn next_to_each_blind_spot_it_sees() {
    // One step away from the misses above, so that a dead rule cannot pass for a blind spot.
    let seen = [
        ("B01", "fn f() { spend(caps::NetCapability::default()); }", "F03"),
        ("B02", "fn f() { paste::paste! { let _x = caps::NetCapability { raw: 1 }; } }", "F01"),
        ("B03", "fn f() { let _x = made_of_tokens!(@ caps::NetCapability { raw: 1 }); }", "F05"),
        ("B05", "type Out = caps::NetCapability; fn f() { let _x = Out { raw: 1 }; }", "F01"),
        ("B06", "fn f(from: *const u8) { let _p = from as *const caps::NetCapability; }", "F04"),
        ("B07", "include!(concat!(env!(\"OUT_DIR\"), \"/makes.rs\"));", "F08"),
        ("B08", "pub struct CopiedCapability { pub raw: u32 }", "F07"),
        (
            "B09",
            "macro_rules! a { ($t:ident) => { $t { raw: 1 } } } macro_rules! b { ($t:ident) => { a!($t) } } fn f() { let _x = b!(NetCapability); }",
            "F05",
        ),
    ];
    for (code, text, rule) in seen {
        assert_eq!(rules(text), [rule], "beside {code}");
    }
}
