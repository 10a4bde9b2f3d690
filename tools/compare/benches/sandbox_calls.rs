//! What the calls of a jail cost over time: `cargo bench -p plugward-compare --bench sandbox_calls`.
//!
//! For peers and targets see `--bench open`.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a benchmark builds directories by ordinary means and stops at the first surprise"
)]

use std::fs;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use plugward_sandbox_path::{Jail, Perm, Policy, RelPath, SandboxedPath, WalkLimits};

fn calls(criterion: &mut Criterion) {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join("a/b/c")).unwrap();
    for number in 0..100 {
        fs::write(home.path().join(format!("a/b/c/{number}")), [b'x'; 2048]).unwrap();
    }
    let policy = Policy::standard();
    let jail = Jail::open(home.path(), policy).unwrap();
    let seen = SandboxedPath::create(&jail, "a/b/c/1").unwrap();
    let limits = WalkLimits { entries: 1000, depth: 9 };
    let mut group = criterion.benchmark_group("jail");
    group.bench_function("parse", |b| b.iter(|| RelPath::parse(black_box(b"a/b/c/1"), &policy).unwrap()));
    group.bench_function("open_read", |b| b.iter(|| drop(jail.open_read(black_box("a/b/c/1")).unwrap())));
    group
        .bench_function("create", |b| b.iter(|| SandboxedPath::create(&jail, black_box("a/b/c/1")).unwrap()));
    group.bench_function("open", |b| b.iter(|| drop(black_box(&seen).open().unwrap())));
    group.bench_function("read", |b| b.iter(|| jail.read(black_box("a/b/c/1"), 4096).unwrap()));
    group.bench_function("metadata", |b| b.iter(|| jail.metadata(black_box("a/b/c/1")).unwrap()));
    group.bench_function("list of 100", |b| b.iter(|| jail.list(black_box("a/b/c"), 1000).unwrap()));
    group.bench_function("walk of 103", |b| {
        b.iter(|| jail.walk(black_box("."), limits).unwrap().map(Result::unwrap).count());
    });
    group.bench_function("replace", |b| {
        b.iter(|| jail.replace(black_box("a/new"), b"text", Perm::PRIVATE_FILE).unwrap());
    });
    group.bench_function("refuse", |b| b.iter(|| jail.open_read(black_box("a/../../f")).unwrap_err()));
    group.finish();
}

criterion_group!(benches, calls);
criterion_main!(benches);
