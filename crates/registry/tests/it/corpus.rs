//! The seeds of the fuzz target, and its properties for other tests.

use std::path::Path;

use plugward_registry::Registry;

#[path = "../../../../fuzz/registry/properties.rs"]
mod properties;

pub(crate) fn check(bytes: &[u8]) -> Option<Registry> {
    properties::registry(bytes)
}

#[test]
fn every_seed_keeps_the_properties() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/registry/corpus/registry");
    let mut seeds = 0;
    for seed in std::fs::read_dir(corpus).unwrap() {
        check(&std::fs::read(seed.unwrap().path()).unwrap());
        seeds += 1;
    }
    assert!(seeds >= 4, "{seeds} seeds");
}
