//! Checks arbitrary bytes as a file of a dependent, which must not panic, hang or abort.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plugward_fence::{FenceConfig, DependencyKind, PackageSpec, Sources, check};
use std::collections::BTreeMap;

const CAPS: &[u8] = b"pub struct NetCapability(pub u32); impl NetCapability { pub fn mint() -> Self { Self(1) } }";

fuzz_target!(|bytes: &[u8]| {
    let files = BTreeMap::from([
        ("caps/src/lib.rs".to_owned(), CAPS.to_vec()),
        ("app/src/main.rs".to_owned(), bytes.to_vec()),
    ]);
    let packages = [
        PackageSpec::new("caps", "caps"),
        PackageSpec::new("app", "app").depends_on("caps", None, DependencyKind::Normal),
    ];
    let report = check(&Sources::in_memory(&packages, &files), &FenceConfig::for_crates(&["caps"]));
    assert!(report.exit_code() <= 2);
});
