//! Replays the corpora of the fuzz targets.

use std::path::Path;

#[path = "../../../../fuzz/manifest/bodies.rs"]
mod bodies;

fn replay(target: &str, body: fn(&[u8])) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/manifest/corpus").join(target);
    let mut count = 0;
    for entry in std::fs::read_dir(&directory).unwrap().map(Result::unwrap) {
        let bytes = std::fs::read(entry.path()).unwrap();
        body(&bytes);
        // A truncated input must not panic either.
        for end in (0..bytes.len()).step_by(7) {
            body(&bytes[..end]);
        }
        count += 1;
    }
    assert!(count > 0, "{}", directory.display());
}

#[test]
fn json_corpus() {
    replay("json", bodies::json);
}

#[test]
fn read_corpus() {
    replay("read", bodies::read_files);
}

#[test]
fn market_corpus() {
    replay("market", bodies::market);
}

#[test]
fn command_corpus() {
    replay("command", bodies::command);
}
