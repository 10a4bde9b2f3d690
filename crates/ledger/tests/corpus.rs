//! The corpora of the fuzz targets, replayed.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "the corpora are files of this project")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by a panic")]

use std::fs;
use std::path::Path;

#[expect(clippy::arithmetic_side_effects, reason = "the fuzz targets share this file")]
#[path = "../../../fuzz/ledger/properties.rs"]
mod properties;

type Target = fn(&[u8]);

#[test]
fn every_corpus_holds_its_properties() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/ledger/corpus");
    let targets: [(&str, Target); 4] = [
        ("record", properties::record),
        ("checkpoint", properties::checkpoint),
        ("verify", properties::verify),
        ("open", properties::open),
    ];
    for (name, target) in targets {
        let files: Vec<_> =
            fs::read_dir(corpora.join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(files.len() >= 3, "{name} has a corpus");
        for file in files {
            let bytes = fs::read(&file).unwrap();
            target(&bytes);
            // Also each prefix of it, and each copy with one byte changed, as a fuzzer would try first.
            let step = (bytes.len() / 40).max(1);
            for at in (0..bytes.len()).step_by(step) {
                target(&bytes[..at]);
                let mut changed = bytes.clone();
                changed[at] ^= 0x21;
                target(&changed);
            }
        }
    }
}
