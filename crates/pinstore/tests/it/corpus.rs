//! The corpora of the fuzz targets, each file unchanged and with some bytes changed.

use crate::properties;

const ROUNDS: u64 = if cfg!(feature = "_test-race") { 50_000 } else { 150 };

fn next(seed: &mut u64) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*seed >> 33).unwrap()
}

/// Changes, removes, repeats or exchanges a few bytes.
fn mutated(seed: &mut u64, file: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..=next(seed) % 4 {
        let at = next(seed) % (bytes.len() + 1);
        let to = (at + next(seed) % 40).min(bytes.len());
        match next(seed) % 6 {
            0 if at < bytes.len() => bytes[at] = b"\"'[]{}=.,#\n\0 0aZ\xff-_:\\"[next(seed) % 21],
            1 => drop(bytes.drain(at..to)),
            2 => bytes.truncate(at),
            3 => drop(bytes.splice(at..at, bytes[at..to].to_vec())),
            4 => {
                let from = next(seed) % (other.len() + 1);
                let end = (from + next(seed) % 200).min(other.len());
                drop(bytes.splice(at..to, other[from..end].to_vec()));
            }
            _ => bytes.insert(at, u8::try_from(next(seed) % 256).unwrap()),
        }
    }
    bytes
}

fn replay(target: &str, more: Option<Vec<u8>>, property: fn(&[u8])) {
    let directory =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/pinstore/corpus").join(target);
    let mut paths: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut files: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    files.extend(more);
    assert!(files.len() >= 3, "{target} has a corpus");
    let mut seed = 1;
    for file in &files {
        property(file);
        for _ in 0..ROUNDS {
            let other = &files[next(&mut seed) % files.len()];
            property(&mutated(&mut seed, file, other));
        }
    }
}

#[test]
fn pins() {
    // The present version, whatever the corpus has.
    replay("pins", Some(crate::format::full().read(crate::support::PINS).into_bytes()), properties::pins);
}

#[test]
fn approvals() {
    replay("approvals", None, properties::approvals);
}

#[test]
fn revocations() {
    replay("revocations", None, properties::revocations);
}

#[test]
fn diff() {
    replay("diff", None, properties::diff);
}
