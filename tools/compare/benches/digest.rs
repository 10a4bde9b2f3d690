//! Digesting directories of three shapes, with the bytes kept (`snapshot`) and without (`digested`), each in one run with a
//! floor that does the same to files it was told of (read and hash them with `sha2`, on the same threads; nothing is
//! listed, nothing checked), and with `merkle_hash` (parallel; it keeps nothing, sees no execute bits, and does not
//! look whether a file changed).

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a benchmark builds directories and compares with programs that open files by name"
)]

use std::fs;
use std::hint::black_box;
use std::io::Read as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use merkle_hash::MerkleTree;
use plugward_sandbox_path::{Jail, Policy};
use plugward_tree_lock::{DigestCheck, DigestedTree, Excludes, Snapshot, TreeCheck, TreeLimits};
use sha2::{Digest as _, Sha256};

/// A directory of one shape, made by a fixed sequence: sizes spread over three powers of ten, as packages have them.
struct Shape {
    name: &'static str,
    files: usize,
    bytes: usize,
    directory: tempfile::TempDir,
    paths: Vec<PathBuf>,
}

fn shape(name: &'static str, files: usize, bytes: usize) -> Shape {
    let directory = tempfile::tempdir().unwrap();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    // Weights 1, 4, 16 … 256: many small files, a few large ones.
    let weights: Vec<usize> = (0..files).map(|_| 1 << (2 * (next() % 5).min(next() % 5))).collect();
    let all: usize = weights.iter().sum();
    let mut paths = Vec::new();
    for (index, weight) in weights.iter().enumerate() {
        let place = directory.path().join(format!(
            "package-{:03}/lib/part-{}/module-{index}.js",
            index / 25,
            index % 3
        ));
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        let content: Vec<u8> = (0..bytes * weight / all / 8).flat_map(|_| next().to_le_bytes()).collect();
        fs::write(&place, content).unwrap();
        paths.push(place);
    }
    Shape { name, files, bytes, directory, paths }
}

/// Runs one thing on so many threads, the calling one among them.
fn on(jobs: usize, run: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 1..jobs {
            scope.spawn(&run);
        }
        run();
    });
}

/// Reads each file into one buffer of the thread and hashes it; nothing is kept and nothing is checked.
fn floor(paths: &[PathBuf], jobs: usize) {
    let at = AtomicUsize::new(0);
    on(jobs, || {
        let mut buffer = vec![0_u8; 128 << 10];
        while let Some(path) = paths.get(at.fetch_add(1, Ordering::Relaxed)) {
            let mut file = fs::File::open(path).unwrap();
            let mut hash = Sha256::new();
            loop {
                let read = file.read(&mut buffer).unwrap();
                if read == 0 {
                    break;
                }
                hash.update(&buffer[..read]);
            }
            black_box(hash.finalize());
        }
    });
}

/// Reads each file whole, hashes it, and keeps it until all are read; nothing is checked.
fn floor_kept(paths: &[PathBuf], jobs: usize) {
    let at = AtomicUsize::new(0);
    let all = Mutex::new(Vec::new());
    on(jobs, || {
        let mut kept = Vec::new();
        while let Some(path) = paths.get(at.fetch_add(1, Ordering::Relaxed)) {
            let bytes = fs::read(path).unwrap();
            let digest = Sha256::digest(&bytes);
            kept.push((bytes, digest));
        }
        all.lock().unwrap().push(kept);
    });
    black_box(all);
}

fn digested(directory: &Path, jobs: usize) -> DigestedTree {
    let jail = Jail::open(directory, Policy::standard()).unwrap();
    let check = DigestedTree::read(
        &jail,
        &TreeLimits::standard(),
        &Excludes::none(),
        NonZeroUsize::new(jobs).unwrap(),
    );
    match check.unwrap() {
        DigestCheck::Digested(digested) => digested,
        DigestCheck::Refused(why) => panic!("{why}"),
    }
}

fn ours(directory: &Path, jobs: usize) -> Snapshot {
    let jail = Jail::open(directory, Policy::standard()).unwrap();
    let check =
        Snapshot::read(&jail, &TreeLimits::standard(), &Excludes::none(), NonZeroUsize::new(jobs).unwrap());
    match check.unwrap() {
        TreeCheck::Read(snapshot) => snapshot,
        TreeCheck::Refused(why) => panic!("{why}"),
    }
}

fn digest(c: &mut Criterion) {
    let shapes =
        [shape("small", 8, 36_000), shape("packages", 3049, 35_000_000), shape("many", 15_000, 40_000_000)];
    for shape in &shapes {
        let snapshot = ours(shape.directory.path(), 2);
        assert_eq!(snapshot.digest(), digested(shape.directory.path(), 2).digest());
        assert_eq!(snapshot.len(), shape.files);
        let mut group = c.benchmark_group(shape.name);
        // One sample an iteration or few, so that a busy machine spoils some samples and not all.
        group.sampling_mode(SamplingMode::Flat);
        group.throughput(Throughput::Bytes(snapshot.total_bytes()));
        assert!(snapshot.total_bytes() <= shape.bytes as u64);
        drop(snapshot);
        for jobs in [1, 2] {
            group.bench_function(BenchmarkId::new("floor", jobs), |b| {
                b.iter(|| floor(&shape.paths, jobs));
            });
            group.bench_function(BenchmarkId::new("digested", jobs), |b| {
                b.iter(|| black_box(digested(shape.directory.path(), jobs)));
            });
            group.bench_function(BenchmarkId::new("floor, kept", jobs), |b| {
                b.iter(|| floor_kept(&shape.paths, jobs));
            });
            group.bench_function(BenchmarkId::new("snapshot", jobs), |b| {
                b.iter(|| black_box(ours(shape.directory.path(), jobs)));
            });
        }
        let path = shape.directory.path().to_str().unwrap();
        group.bench_function("merkle_hash", |b| {
            b.iter(|| MerkleTree::builder(path).build().unwrap().root.item.hash);
        });
        group.finish();
    }
}

fn settings() -> Criterion {
    Criterion::default()
        .sample_size(40)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(4))
}

criterion_group! { name = benches; config = settings(); targets = digest }
criterion_main!(benches);
