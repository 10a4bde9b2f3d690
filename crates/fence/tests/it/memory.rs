//! A small workspace in memory: `caps`, and `app` that depends on it.

use plugward_fence::{Config, DependencyKind, PackageSpec, Report, Sources, check};
use std::collections::BTreeMap;

pub(crate) const CAPS: &str = "
pub struct NetCapability { pub raw: u32 }
pub struct PairCapability(pub u32);
impl NetCapability { pub fn new() -> Self { NetCapability { raw: 1 } } pub fn raw(&self) -> u32 { self.raw } }
pub struct Mint;
impl Mint { pub fn mint(&self) -> NetCapability { NetCapability::new() } }
";

/// Looks at one file of a dependent.
pub(crate) fn look(code: &str) -> Report {
    look_at(&[("app/src/main.rs", code.as_bytes())])
}

/// Looks at files of a dependent.
pub(crate) fn look_at(files: &[(&str, &[u8])]) -> Report {
    let mut all: BTreeMap<String, Vec<u8>> =
        files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())).collect();
    all.insert("caps/src/lib.rs".to_owned(), CAPS.as_bytes().to_vec());
    let packages = [
        PackageSpec::new("caps", "caps"),
        PackageSpec::new("app", "app").depends_on("caps", None, DependencyKind::Normal),
    ];
    let sources = Sources::in_memory(&packages, &all);
    let mut report = check(&sources, &Config::for_crates(&["caps"]));
    // The weak definitions of `caps` are not what is asked about.
    report.retain_files(|file| file.starts_with("app/"));
    report
}

/// The rules that speak about one file of a dependent.
pub(crate) fn rules(code: &str) -> Vec<String> {
    look(code).findings().iter().map(|one| one.rule.to_string()).collect()
}
