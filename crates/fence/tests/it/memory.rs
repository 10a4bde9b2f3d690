//! A small workspace in memory: `caps`, and `app` that depends on it.

use plugward_fence::{DependencyKind, FenceConfig, FenceReport, PackageSpec, Sources, check};
use std::collections::BTreeMap;

pub(crate) const CAPS: &str = "
pub struct NetCapability { pub raw: u32 }
pub struct PairCapability(pub u32);
impl NetCapability { pub fn new() -> Self { NetCapability { raw: 1 } } pub fn raw(&self) -> u32 { self.raw } }
pub struct Mint;
impl Mint { pub fn new() -> Mint { Mint } pub fn mint(&self) -> NetCapability { NetCapability::new() } }
";

const CONFIG: &str = "capability-crates = [\"caps\"]\n\
    mint-callers = [\"app::start\"]\nrequire-forbid-unsafe = false\n\
    race = { crates = [\"paths\"], type = \"Spot\", methods = [\"open\"], names = [\"Race\"] }\n";
const PATHS: &str = "
pub struct Spot;
pub enum Bad { Race, Other }
impl Spot { pub fn open(&self) -> Result<u32, Bad> { Ok(1) } }
";

/// Checks one file of a dependent.
pub(crate) fn look(code: &str) -> FenceReport {
    look_at(&[("app/src/main.rs", code.as_bytes())])
}

/// Checks files of a dependent.
pub(crate) fn look_at(files: &[(&str, &[u8])]) -> FenceReport {
    let mut all: BTreeMap<String, Vec<u8>> =
        files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())).collect();
    all.insert("caps/src/lib.rs".to_owned(), CAPS.as_bytes().to_vec());
    all.insert("paths/src/lib.rs".to_owned(), PATHS.as_bytes().to_vec());
    let normal = DependencyKind::Normal;
    let packages = [
        PackageSpec::new("caps", "caps"),
        PackageSpec::new("paths", "paths"),
        PackageSpec::new("app", "app").depends_on("caps", None, normal).depends_on("paths", None, normal),
    ];
    let sources = Sources::in_memory(&packages, &all);
    let config = FenceConfig::parse(CONFIG, "memory.toml").unwrap();
    let mut report = check(&sources, &config);
    // The open definitions in `caps` have findings of their own, which no test here is about.
    report.retain_files(|file| file.starts_with("app/"));
    report
}

/// Returns the rules that report one file of a dependent.
pub(crate) fn rules(code: &str) -> Vec<String> {
    look(code).findings().iter().map(|one| one.rule.to_string()).collect()
}
