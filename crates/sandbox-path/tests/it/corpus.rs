//! The corpora of the fuzz targets, replayed.

use std::fs;
use std::path::PathBuf;

#[path = "../../../../fuzz/sandbox-path/bodies.rs"]
mod bodies;

fn replay(target: &str, body: fn(&[u8])) {
    let directory =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/sandbox-path/corpus").join(target);
    let mut replayed = 0;
    for entry in fs::read_dir(directory).unwrap() {
        body(&fs::read(entry.unwrap().path()).unwrap());
        replayed += 1;
    }
    assert!(replayed >= 7, "{replayed} inputs for {target}");
}

#[test]
fn gate() {
    replay("gate", bodies::gate);
}

#[test]
fn tree() {
    replay("tree", bodies::tree);
}
