//! The planted code. A line that ends in `~ F01` must be reported by rule F01, and no other line may be.

/// One file of the planted dependent.
pub(super) struct Case {
    /// Rule and route, or `near-…` for code that must not be reported.
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

const fn case(name: &'static str, text: &'static str) -> Case {
    Case { name, text }
}

/// The planted capability crate, with every construction route open that a definition can leave open.
pub(super) const CAPS: &str = "
pub struct __T__ { pub raw: u32 }
pub struct __P__(pub u32);
pub struct __U__;
pub enum __E__ { Named { raw: u32 }, Plain(u32), Empty }
pub struct Mint(());
impl Mint {
    pub fn new() -> Mint { Mint(()) }
    pub fn mint(&self) -> __T__ { __T__ { raw: 1 } }
}
pub struct Factory(());
impl Factory { pub fn build() -> __T__ { unimplemented!() } }
impl __T__ {
    pub fn __CTOR__(raw: u32) -> Option<Self> { None }
    #[doc(hidden)]
    pub fn hidden() -> Result<Box<__T__>, ()> { Err(()) }
    pub const LIMIT: u32 = 3;
    pub fn raw(&self) -> u32 { self.raw }
}
pub trait Remake { fn remake() -> Self; }
impl Remake for __T__ { fn remake() -> Self { unimplemented!() } }
pub fn __FREE__() -> __T__ { unimplemented!() }
pub fn passed_on(one: __T__) -> __T__ { one }
pub mod inner { pub use super::*; }
";

/// The planted crate for the race rule.
pub(super) const RACES: &str = "
pub struct Place(());
pub enum OpenError { Race, Other }
impl Place {
    pub fn create(path: &str) -> Result<Self, OpenError> { Err(OpenError::Other) }
    pub fn open(&self) -> Result<u32, OpenError> { Err(OpenError::Race) }
    pub fn open_as_seen(&self) -> Result<u32, OpenError> { Err(OpenError::Race) }
}
";

/// Files of a second capability crate, for the rules on definitions.
pub(super) const DEFINITIONS: &[(&str, &str)] = &[
    (
        "fields",
        "
pub struct __T__ {
    pub open: u32, // ~ F09
    pub(crate) half: u32, // ~ F09
    pub(self) shut: u32,
    private: u32,
}
pub struct __P__(pub u32, u32); // ~ F09
pub struct __U__; // ~ F09
pub enum __E__ { One } // ~ F09
pub struct Plain { pub open: u32 }
",
    ),
    (
        "traits",
        "
#[derive(Debug, Clone)] // ~ F09
#[cfg_attr(all(), derive(Default))] // ~ F09
pub struct __T__ { raw: u32 }
impl From<u32> for __T__ { fn from(raw: u32) -> Self { unimplemented!() } } // ~ F09
impl std::str::FromStr for __T__ { type Err = (); fn from_str(_: &str) -> Result<Self, ()> { Err(()) } } // ~ F09
impl From<__T__> for String { fn from(_: __T__) -> String { String::new() } }
impl std::fmt::Display for __T__ { fn fmt(&self, _: &mut std::fmt::Formatter) -> std::fmt::Result { Ok(()) } }
",
    ),
    (
        "functions",
        "
pub struct __T__ { raw: u32, __FORBIDDEN__ed: u32, __FORBIDDEN___url: u32 } // ~ F09
impl __T__ {
    pub fn made() -> Option<Self> { None } // ~ F09
    pub(crate) fn kept() -> Option<Self> { None }
    #[cfg(any(test, feature = \"__FEATURE__\"))]
    pub fn for_tests() -> Option<Self> { None }
    pub fn __FORBIDDEN___all(&self) {} // ~ F09
    pub fn raw(&self) -> u32 { self.raw }
}
pub fn given() -> __T__ { unimplemented!() } // ~ F09
pub struct Factory;
impl Factory { pub fn give() -> __T__ { unimplemented!() } } // ~ F09
pub const ONE: Option<__T__> = None; // ~ F09
impl Into<__T__> for u32 { fn into(self) -> __T__ { unimplemented!() } } // ~ F09
pub fn handed(one: __T__) -> __T__ { one }
",
    ),
    (
        "grants",
        "
use crate::planted::Grant;
pub struct __T__ { grant: Grant }
pub struct Mint { raw: u32 }
impl Mint {
    pub fn mint(&self) -> __T__ { build(Grant { raw: self.raw }) }
    fn elsewhere(&self) -> u32 { let grant = Grant { raw: 1 }; 0 } // ~ F10
}
fn build(grant: Grant) -> __T__ { __T__ { grant } }
fn stolen(from: &__T__) -> __T__ { __T__ { grant: unimplemented!() } } // ~ F10
",
    ),
];

/// The planted dependent's build script.
pub(super) const BUILD: &str = "fn main() {
    println!(\"cargo::rustc-cfg=test\"); // ~ F11
    println!(\"cargo:rustc-cfg=feature=\\\"__FEATURE__\\\"\"); // ~ F11
    println!(\"cargo:rustc-cfg=has_something\");
}
";

/// Manifests of the planted workspace.
pub(super) const MANIFESTS: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "
[workspace]
members = [\"caps\", \"user\"]
[patch.crates-io]
__KRATE__ = { path = \"elsewhere\" } # ~ F11
renamed = { package = \"__KRATE__\", path = \"elsewhere\" } # ~ F11
another = { path = \"elsewhere\" }
",
    ),
    (
        "user/Cargo.toml",
        "
[package]
name = \"planted-user\"
[dependencies]
__KRATE__ = { path = \"../caps\", features = [\"__FEATURE__\"] } # ~ F11
another = { path = \"../another\", features = [\"__FEATURE__\"] }
[dev-dependencies]
__KRATE__ = { path = \"../caps\", features = [\"__FEATURE__\"] }
[features]
given = [\"__KRATE__/__FEATURE__\"] # ~ F11
asked = [\"__KRATE__?/__FEATURE__\"] # ~ F11
other = [\"another/__FEATURE__\"]
",
    ),
    (
        ".cargo/config.toml",
        "
[build]
rustflags = [\"--cfg\", \"feature=\\\"__FEATURE__\\\"\"] # ~ F11
[target.x86_64-unknown-linux-gnu]
rustflags = [\"-C\", \"target-cpu=native\"]
",
    ),
    (
        "Cargo.lock",
        "
[[package]]
name = \"__KRATE__\"
version = \"1.0.0\"
[[package]]
name = \"__KRATE__\" # ~ F11
version = \"2.0.0\"
[[package]]
name = \"another\"
version = \"2.0.0\"
[[package]]
name = \"another\"
version = \"3.0.0\"
",
    ),
];

/// The files of the planted dependent.
pub(super) const CASES: &[Case] = &[
    case("F01/braces", "use __C__::__T__;\nfn f() { let _x = __T__ { raw: 1 }; } // ~ F01\n"),
    case("F01/path", "fn f() { let _x = ::__C__::inner::__T__ { raw: 1 }; } // ~ F01\n"),
    case("F01/alias", "use __C__ as k;\ntype A = k::__T__;\nfn f() { let _x = A { raw: 1 }; } // ~ F01\n"),
    case(
        "F01/identity",
        "use __C__::__T__;\ntype Id<X> = X;\nfn f() { let _x = Id::<__T__> { raw: 1 }; } // ~ F01\n",
    ),
    case("F01/update", "use __C__::__T__;\nfn f(b: __T__) { let _x = __T__ { ..b }; } // ~ F01\n"),
    case("F01/tuple", "use __C__::__P__ as Q;\nfn f() { let _x = Q(1); } // ~ F01\n"),
    case("F01/value", "use __C__::*;\nfn f() { let _x = [1].map(__P__); } // ~ F01\n"),
    case("F01/unit", "const X: &dyn core::any::Any = &__C__::__U__; // ~ F01\n"),
    case(
        "F01/variant",
        "use __C__::__E__;\nfn f() { let _a = __E__::Empty; } // ~ F01\n\
         fn g() { use __C__::__E__::*; let _b = Plain(1); } // ~ F01\n",
    ),
    case(
        "F01/self",
        "trait Own { fn own() -> Self; }\nimpl Own for __C__::__T__ { fn own() -> Self { Self { raw: 1 } } } // ~ F01\n",
    ),
    case("F01/unresolved", "fn f() { let _x = __T__ { raw: 1 }; } // ~ F01\n"),
    case("F01/argument", "use __C__::__T__;\nfn f() { println!(\"{}\", __T__ { raw: 1 }.raw); } // ~ F01\n"),
    case(
        "F01/cfg-off",
        "#[cfg(any(test, feature = \"x\"))]\nfn f() { let _x = __C__::__T__ { raw: 1 }; } // ~ F01\n",
    ),
    case(
        "F01/cfg-twin",
        "#[cfg(windows)]\ntype A = u32;\n#[cfg(not(windows))]\ntype A = __C__::__P__;\nfn f() { let _x = A { 0: 1 }; } // ~ F01\n",
    ),
    case(
        "F01/block-module",
        "use __C__::__P__ as Q;\nfn f() { mod inside { pub fn g() { super::Q(1); } } } // ~ F01\n",
    ),
    case(
        "F01/near-patterns",
        "use __C__::{__E__, __P__, __T__};\n\
         fn f(one: __T__) -> u32 { let __T__ { raw } = one; raw }\n\
         fn g(__P__(raw): __P__, mut a: u32, c: __T__) -> u32 { __T__ { raw: a } = c; a + raw }\n\
         fn h(e: &__E__) -> bool { matches!(e, __E__::Plain(_)) || if let __E__::Empty = e { true } else { false } }\n\
         #[cfg(test)]\nmod tests { fn f() { let _x = super::__T__ { raw: 1 }; } }\n\
         #[test]\nfn t() { let _x = __T__ { raw: 1 }; }\n",
    ),
    case(
        "F01/near-local",
        "mod own { pub struct Other { pub raw: u32 } pub use self::Other as __T__; }\nuse own::__T__;\n\
         enum Kind { __U__ }\nfn f() { let _x = __T__ { raw: 1 }; let _y = Kind::__U__; }\n\
         // __C__::__T__ { raw: 1 }\nfn g() -> &'static str { \"__C__::__T__ { raw: 1 }\" }\n",
    ),
    case("F02/called", "use __C__::__T__;\nfn f() { let _x = __T__::__CTOR__(1); } // ~ F02\n"),
    case("F02/value", "fn f() { let _x = [1].map(<__C__::__T__>::__CTOR__); } // ~ F02\n"),
    case("F02/hidden", "use __C__::{inner::__T__ as Z};\nfn f() { drop(Z::hidden()); } // ~ F02\n"),
    case(
        "F02/trait",
        "use __C__::{Remake, __T__};\nfn f() { drop(<__T__ as Remake>::remake()); } // ~ F02\n",
    ),
    case("F02/factory", "fn f() { drop(__C__::Factory::build()); } // ~ F02\n"),
    case(
        "F02/trait-wanted",
        "use __C__::{Remake, __T__};\nfn f() { let _x: __T__ = Remake::remake(); } // ~ F02\n",
    ),
    case("F02/free", "fn f() { drop(__C__::__FREE__()); } // ~ F02\n"),
    case("F02/serde", "struct S {\n#[serde(default = \"__C__::__FREE__\")] // ~ F02\none: u32 }\n"),
    case(
        "F02/near-uses",
        "use __C__::__T__;\nfn f(t: __T__) -> u32 { let _y = __T__::LIMIT; \
         let read = __T__::raw; read(&__C__::passed_on(t)) }\nstruct Own; impl Own { fn __CTOR__() {} } fn g() { Own::__CTOR__() }\n",
    ),
    case("F03/associated", "use __C__::__T__;\nfn f() { drop(__T__::default()); } // ~ F03\n"),
    case("F03/qualified", "use __C__::__T__;\nfn f() { drop(<u8 as Into<__T__>>::into(1)); } // ~ F03\n"),
    case(
        "F03/turbofish",
        "use __C__::__T__;\nfn f(s: &str) { drop(serde_json::from_str::<__T__>(s)); } // ~ F03\n",
    ),
    case("F03/let", "use __C__::__T__;\nfn f(s: &str) { let _x: __T__ = s.parse().unwrap(); } // ~ F03\n"),
    case("F03/static", "static X: __C__::__T__ = Default::default(); // ~ F03\n"),
    case(
        "F03/tail",
        "use __C__::__T__;\nfn f(s: &str) -> Result<__T__, ()> { Ok(toml::from_str(s)?) } // ~ F03\n",
    ),
    case(
        "F03/return",
        "use __C__::__T__;\nfn f(s: &mut __T__) -> __T__ { return std::mem::take(s); } // ~ F03\n",
    ),
    case(
        "F03/producer",
        "use __C__::__T__;\nfn f(o: Option<__T__>) { let _x: __T__ = o.unwrap_or_else(Default::default); } // ~ F03\n\
         static X: std::sync::LazyLock<__T__> = std::sync::LazyLock::new(|| Default::default()); // ~ F03\n",
    ),
    case(
        "F03/generic",
        "fn made<X: Default>() -> X { X::default() }\nfn f() { drop(made::<__C__::__T__>()); } // ~ F03\n",
    ),
    case("F03/break", "fn f() -> __C__::__T__ { loop { if g() { break Default::default(); } } } // ~ F03\n"),
    case(
        "F03/near-moves",
        "use __C__::__T__;\nfn f(c: __T__, o: Option<__T__>) { let x: __T__ = c; let b: Box<__T__> = Box::new(x); \
         let _e: Vec<__T__> = Vec::default(); let _n: Option<__T__> = Default::default(); drop((b, o)); }\n\
         fn g(any: &dyn std::any::Any) { any.downcast_ref::<__T__>(); std::mem::size_of::<__T__>(); }\n\
         fn h(o: Option<__T__>) -> __T__ { match o { Some(one) => one, None => panic!() } }\n",
    ),
    case(
        "F04/transmute",
        "use __C__::__T__;\nfn f(x: u32) { drop(unsafe { std::mem::transmute::<u32, __T__>(x) }); } // ~ F04\n",
    ),
    case(
        "F04/renamed",
        "use std::mem::zeroed as blank;\nfn f() -> __C__::__T__ { unsafe { blank() } } // ~ F04\n",
    ),
    case(
        "F04/uninit",
        "use std::mem::MaybeUninit;\nfn f() { let _x: MaybeUninit<__C__::__T__>; } // ~ F04\n",
    ),
    case("F04/cast", "fn f(x: *const u32) -> u32 { let p = x as *const __C__::__T__; 0 } // ~ F04\n"),
    case("F04/union", "use __C__::__T__;\nunion U { a: u32,\nb: std::mem::ManuallyDrop<__T__> } // ~ F04\n"),
    case("F04/extern", "unsafe extern \"C\" { fn give() -> __C__::__T__; } // ~ F04\n"),
    case(
        "F04/holder",
        "struct H { one: __C__::__T__ }\nfn f() { drop(unsafe { std::mem::zeroed::<H>() }); } // ~ F04\n",
    ),
    case(
        "F04/reference",
        "use __C__::__T__;\nfn f(p: *const u8) { let _x: &__T__ = unsafe { &*(p as *const _) }; } // ~ F04\n",
    ),
    case(
        "F04/near-other",
        "use __C__::__T__;\nfn f(x: u32, c: __T__) -> __T__ { let _n: i32 = unsafe { std::mem::transmute(x) }; c }\n\
         fn g(x: u32) -> f32 { unsafe { std::mem::transmute::<u32, f32>(x) } }\n",
    ),
    case("F05/tokens", "use __C__::__T__;\nfn f() { html! { <p> { @ __T__ { raw: 1 } } </p> } } // ~ F05\n"),
    case("F05/quote", "use __C__::__T__;\nfn f() { quote! { let x = __T__::__CTOR__(1); }; } // ~ F05\n"),
    case(
        "F05/rules",
        "use __C__::__T__;\nmacro_rules! make { ($t:ident) => { $t { raw: 1 } }; }\nfn f() { let _x = make!(__T__); } // ~ F05\n",
    ),
    case(
        "F05/annotated",
        "use __C__::__T__;\nmacro_rules! ask { ($t:ty) => { { let it: $t = Default::default(); it } }; }\n\
         fn f() { let _x = ask!(__T__); } // ~ F05\nlazy! { static ref X: __T__ = Default::default(); } // ~ F05\n",
    ),
    case(
        "F05/code",
        "macro_rules! one { () => { { let it: __C__::__T__ = Default::default(); it } }; } // ~ F05\n",
    ),
    case("F05/body", "macro_rules! one { () => { $crate::x!(__C__::__T__ { raw: 1 }) }; } // ~ F05\n"),
    case("F05/attribute", "#[contract(ensures(__C__::__T__ { raw: 1 }.raw == 1))] // ~ F05\nfn f() {}\n"),
    case(
        "F05/near-mentions",
        "use __C__::__T__;\nmacro_rules! name { ($t:ty) => { std::any::type_name::<$t>() }; }\n\
         fn f() { let _a = name!(__T__); let _b = stringify!(__T__ { raw: 1 }); registry!(__T__); }\n\
         fn g() { parse! { fn h(one: __T__) -> __T__ { one } match y { __T__ { raw } => raw } } }\n",
    ),
    case(
        "F06/derive",
        "use __C__::__T__;\n#[derive(Debug, serde::Deserialize)] // ~ F06\nstruct S { one: Option<__T__> }\n",
    ),
    case(
        "F06/remote",
        "#[derive(serde::Deserialize)]\n#[serde(remote = \"__C__::__T__\")] // ~ F06\nstruct S { raw: u32 }\n",
    ),
    case("F06/default", "#[derive(Default)] // ~ F06\nstruct S(Box<__C__::__T__>);\n"),
    case(
        "F06/near-holders",
        "use __C__::__T__;\n#[derive(Default, PartialEq)]\nstruct S { one: Option<__T__>, many: Vec<__T__> }\n\
         #[derive(Deserialize)]\nstruct R { #[serde(skip)] one: Option<__T__>, kind: std::marker::PhantomData<__T__> }\n\
         #[derive(Default)]\nstruct B<'a> { one: Option<&'a __T__> }\n",
    ),
    case("F07/struct", "pub struct __N__ { raw: u32 } // ~ F07\n"),
    case("F07/tokens", "define! { @ struct __N__; } // ~ F07\n"),
    case("F07/near-names", "struct __N__Report; enum __N__2 { A }\n"),
    case("F08/computed", "include!(concat!(env!(\"OUT_DIR\"), \"/x.rs\")); // ~ F08\n"),
    case("F08/handed", "fn f() { g(vec![include!(concat!(env!(\"OUT_DIR\"), \"/x.rs\"))]); } // ~ F08\n"),
    case("F08/renamed", "use std::include as pull;\nfn f() { pull!(\"x.in\"); } // ~ F08\n"),
    case("F08/missing", "include!(\"no_such_file.rs\"); // ~ F08\n"),
    case("F08/path", "#[path = \"../../caps/src/lib.rs\"] // ~ F08\nmod copied;\n"),
    case("F08/unparsed", "\nfn f( { } // ~ F08\n"),
    case(
        "F08/near-read",
        "const X: &str = include_str!(\"no_such_file.txt\");\ninclude!(\"parts/f08_part.in\");\n",
    ),
    case("F12/path", "use __C__::Mint;\nfn f() { let _m = Mint::new(); } // ~ F12\n"),
    case("F12/tokens", "macro_rules! m { () => { __C__::Mint::new() }; } // ~ F12\n"),
    case("F12/method", "fn f(m: &__C__::Mint) { drop(m.mint()); } // ~ F12\n"),
    case("F12/near-listed", "use __C__::Mint;\nfn f() { let _m = Mint::new().mint(); }\n"),
    case("F07/f13-count", "struct __N__; // ~ F07\n"),
    case("F07/f13-expired", "struct __N__; // ~ F07\n"),
    case("F07/near-f13", "struct __N__;\n"),
    case("E01/unwrap", "use planted_races::Place;\nfn f(p: &Place) { p.open().unwrap(); } // ~ E01\n"),
    case(
        "E01/created",
        "use planted_races::Place;\nfn f() { let p = Place::create(\"x\")?; p.open().ok(); } // ~ E01\n",
    ),
    case(
        "E01/field",
        "struct S { at: planted_races::Place }\nimpl S { fn f(&self) { let _ = self.at.open(); } } // ~ E01\n",
    ),
    case(
        "E01/bound",
        "use planted_races::Place;\nfn f(p: &Place) { let r = Place::open(p); // ~ E01\nif let Ok(_x) = r { } }\n",
    ),
    case(
        "E01/match",
        "use planted_races::Place;\nfn f(p: &Place) { match p.open() { Ok(_x) => {} Err(_) => {} } } // ~ E01\n",
    ),
    case(
        "E01/closure",
        "use planted_races::Place;\nfn f(p: &Place) -> Result<u32, ()> { p.open().map_err(|_| ()) } // ~ E01\n",
    ),
    case(
        "E01/element",
        "use planted_races::Place;\nfn f(all: &[Place]) { for p in all { p.open().unwrap(); } } // ~ E01\n",
    ),
    case("E01/unique", "fn f(p: &impl Seen) { p.open_as_seen(); } // ~ E01\n"),
    case(
        "E01/near-handled",
        "use planted_races::{OpenError, Place};\nfn f(p: &Place) -> Result<u32, OpenError> { let n = p.open()?; drop(n); p.open() }\n\
         fn g(p: &Place) { match p.open() { Ok(_) => {} Err(OpenError::Race) => {} Err(_) => {} } }\n\
         fn h(p: &Place) { if let Err(e) = p.open() { report(e); } match p.open() { Ok(_) => {} Err(e) => report(e) } }\n\
         fn i(p: &std::path::Path) { std::fs::File::open(p).unwrap(); p.open().unwrap(); }\n",
    ),
];
