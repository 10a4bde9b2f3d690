//! The corpora of the fuzz targets, each file unchanged and cut at many places.

use crate::properties_of_bytes as properties;

fn replay(target: &str, property: fn(&[u8])) {
    let corpus =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/installs/corpus").join(target);
    let mut count = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        property(&bytes);
        for at in 0..bytes.len() {
            property(&bytes[..at]);
            // A flipped bit changes a key, a type or the structure.
            let mut changed = bytes.clone();
            changed[at] ^= 0x15;
            property(&changed);
        }
        count += 1;
    }
    assert!(count > 0, "no corpus for {target}");
}

#[test]
fn corpora_keep_the_properties() {
    replay("claude", properties::claude);
    replay("codex", properties::codex);
    replay("gemini", properties::gemini);
    replay("directory_hosts", properties::directory_hosts);
    replay("other_formats", properties::other_formats);
}
