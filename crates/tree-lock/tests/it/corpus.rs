//! The corpora of the fuzz targets, replayed.

use std::fs;
use std::path::Path;

#[path = "../../../../fuzz/tree-lock/properties.rs"]
mod properties;

/// What a fuzz target does with some bytes.
type Target = fn(&[u8]);

#[test]
fn every_file_keeps_its_promise() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/tree-lock/corpus");
    let targets: [(&str, Target); 4] = [
        ("lock", properties::lock),
        ("json", properties::json),
        ("list", properties::list),
        ("signature", properties::signature),
    ];
    for (name, target) in targets {
        let mut replayed = 0;
        for entry in fs::read_dir(corpus.join(name)).unwrap() {
            let bytes = fs::read(entry.unwrap().path()).unwrap();
            target(&bytes);
            // And every start of it.
            for end in 0..bytes.len().min(300) {
                target(&bytes[..end]);
            }
            replayed += 1;
        }
        assert!(replayed >= 5, "{name}: {replayed}");
    }
}
