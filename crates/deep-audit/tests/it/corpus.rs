//! The seeds of the fuzz target, and its properties for other tests.

use std::path::Path;

use plugward_deep_audit::ParsedReply;

#[path = "../../../../fuzz/deep-audit/properties.rs"]
mod properties;

pub(crate) fn check(bytes: &[u8]) -> ParsedReply {
    properties::reply(bytes)
}

#[test]
fn every_seed_keeps_the_properties() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/deep-audit/corpus/reply");
    let (mut seeds, mut read) = (0, 0);
    for seed in std::fs::read_dir(corpus).unwrap() {
        let bytes = std::fs::read(seed.unwrap().path()).unwrap();
        read += usize::from(matches!(check(&bytes), ParsedReply::Object(_)));
        for end in 0..bytes.len() {
            check(&bytes[..end]);
        }
        seeds += 1;
    }
    assert_eq!((seeds, read), (5, 2));
}
