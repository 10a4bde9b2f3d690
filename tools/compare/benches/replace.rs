//! One replacement of 230 kB (1,000 pins): ours, the peers, and what the disk takes.
//!
//! `cargo bench -p plugward-compare --bench replace`; `TMPDIR` says on which file system. What a sync takes changes from minute to
//! minute on a disk that others use too, so the last group takes all of them in turn, round by round, and prints the
//! middle of each and the middle of the ratios.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark stands for a host, and stops where it cannot go on"
)]

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use criterion::{Criterion, criterion_group, criterion_main};
use plugward_state_file::{Backup, Owner, StateFile};

const WAIT: Duration = Duration::from_secs(60);

/// What the disk takes for one file: temporary file, write, sync, rename, sync of the directory.
fn floor(directory: &Path, handle: &File, bytes: &[u8], name: &str) {
    let temp = directory.join("floor.tmp");
    let mut file = File::create(&temp).unwrap();
    file.write_all(bytes).unwrap();
    file.sync_all().unwrap();
    std::fs::rename(&temp, directory.join(name)).unwrap();
    handle.sync_all().unwrap();
}

fn replace(c: &mut Criterion) {
    let home = tempfile::tempdir().unwrap();
    let dir = Dir::open_ambient_dir(home.path(), ambient_authority()).unwrap();
    let handle = File::open(home.path()).unwrap();
    let owner = Owner::uid(rustix::process::geteuid().as_raw());
    let bytes = vec![b'x'; 230_000];
    let mut group = c.benchmark_group("replace 230 kB");
    group.sample_size(200).measurement_time(Duration::from_secs(4));
    group.bench_function("floor, one file", |b| b.iter(|| floor(home.path(), &handle, &bytes, "floor")));
    group.bench_function("floor, two files", |b| {
        b.iter(|| {
            floor(home.path(), &handle, &bytes, "floor.last-good");
            floor(home.path(), &handle, &bytes, "floor");
        });
    });
    group.bench_function("atomic-write-file, one file", |b| {
        b.iter(|| {
            let mut file = atomic_write_file::AtomicWriteFile::open(home.path().join("awf")).unwrap();
            file.write_all(&bytes).unwrap();
            file.commit().unwrap();
        });
    });
    group.bench_function("atomicwrites, one file", |b| {
        let path = home.path().join("aw");
        let file = atomicwrites::AtomicFile::new(path, atomicwrites::OverwriteBehavior::AllowOverwrite);
        b.iter(|| file.write(|file| file.write_all(&bytes)).unwrap());
    });
    for (name, keep) in [("ours, one file", Backup::None), ("ours, with the last good copy", Backup::Keep)] {
        let file = StateFile::at(&dir, "ours.toml", 8 << 20, owner, keep).unwrap();
        group.bench_function(name, |b| b.iter(|| file.lock(WAIT).unwrap().replace(&bytes).unwrap()));
    }
    group.finish();
}

/// Each of them once a round, so that what slows the disk slows all alike.
fn in_turn(_: &mut Criterion) {
    const ROUNDS: usize = 300;
    let home = tempfile::tempdir().unwrap();
    let dir = Dir::open_ambient_dir(home.path(), ambient_authority()).unwrap();
    let handle = File::open(home.path()).unwrap();
    let owner = Owner::uid(rustix::process::geteuid().as_raw());
    let bytes = vec![b'x'; 230_000];
    let one = StateFile::at(&dir, "one.toml", 8 << 20, owner, Backup::None).unwrap();
    let two = StateFile::at(&dir, "two.toml", 8 << 20, owner, Backup::Keep).unwrap();
    let peer = || {
        let mut file = atomic_write_file::AtomicWriteFile::open(home.path().join("awf")).unwrap();
        file.write_all(&bytes).unwrap();
        file.commit().unwrap();
    };
    let jobs: [(&str, &dyn Fn()); 4] = [
        ("atomic-write-file, one file", &peer),
        ("floor, one file", &|| floor(home.path(), &handle, &bytes, "floor")),
        ("ours, one file", &|| one.lock(WAIT).unwrap().replace(&bytes).unwrap()),
        ("ours, with the last good copy", &|| two.lock(WAIT).unwrap().replace(&bytes).unwrap()),
    ];
    let mut taken = vec![Vec::with_capacity(ROUNDS); jobs.len()];
    for _ in 0..ROUNDS {
        for ((_, job), taken) in jobs.iter().zip(&mut taken) {
            let start = Instant::now();
            job();
            taken.push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    let middle = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap()
    };
    let peers = taken.first().unwrap().clone();
    for ((name, _), taken) in jobs.iter().zip(&taken) {
        let ratios = taken.iter().zip(&peers).map(|(ours, peer)| ours / peer).collect();
        println!(
            "in turn, middle of {ROUNDS}: {name:30} {:7.0} us, {:.2} x atomic-write-file",
            middle(taken.clone()),
            middle(ratios)
        );
    }
}

fn read(c: &mut Criterion) {
    let home = tempfile::tempdir().unwrap();
    let dir = Dir::open_ambient_dir(home.path(), ambient_authority()).unwrap();
    let owner = Owner::uid(rustix::process::geteuid().as_raw());
    let file = StateFile::at(&dir, "ours.toml", 8 << 20, owner, Backup::Keep).unwrap();
    file.lock(WAIT).unwrap().replace(&vec![b'x'; 230_000]).unwrap();
    let mut group = c.benchmark_group("read 230 kB");
    group.bench_function("std::fs::read", |b| {
        b.iter(|| std::fs::read(home.path().join("ours.toml")).unwrap());
    });
    group.bench_function("ours", |b| b.iter(|| file.read().unwrap().unwrap()));
    group.finish();
}

criterion_group!(benches, in_turn, replace, read);
criterion_main!(benches);
