//! The corpora of the fuzz targets, replayed.

use std::path::Path;

#[path = "../../../../fuzz/redact/bodies.rs"]
mod bodies;

fn replay(target: &str, step: usize, body: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/redact/corpus").join(target);
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
        let bytes = std::fs::read(entry.path()).unwrap();
        body(&bytes);
        // A truncated input must not panic either.
        for end in (1..bytes.len()).step_by(step) {
            body(&bytes[..end]);
        }
        count += 1;
    }
    assert!(count >= 5, "{}: {count}", folder.display());
}

#[test]
fn redact_corpus() {
    replay("redact", 7, bodies::redact);
}

#[test]
fn stream_corpus() {
    replay("stream", 500, bodies::stream);
}

#[cfg(feature = "json")]
#[test]
fn json_corpus() {
    replay("json", 7, bodies::json);
}
