//! An installation of 50 MiB from memory, and what the same work takes with the usual programs.
//!
//! `cargo bench -p plugward-compare --bench registry`; `TMPDIR` says on which file system. What a sync takes changes from minute to
//! minute on a disk that others use too, so the last group takes both in turn, round by round, and prints the middle of
//! each and the middle of the ratios.

#![expect(
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::items_after_statements,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark stands for a host, and stops where it cannot go on"
)]

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use criterion::{Criterion, criterion_group, criterion_main};
use plugward_policy::CommandRules;
use plugward_registry::{
    CommandHost, CommandStore, Fetch, FetchFault, InstallConsent, Registry, SearchPath, SourceUrl,
};
use plugward_state_file::Owner;
use plugward_types::hex;
use sha2::{Digest as _, Sha256};

const SIZE: usize = 50 << 20;

struct Memory<'a>(&'a [u8]);

impl Fetch for Memory<'_> {
    fn fetch(&self, _: &SourceUrl, sink: &mut dyn Write) -> Result<Option<u64>, FetchFault> {
        for piece in self.0.chunks(64 << 10) {
            sink.write_all(piece).map_err(|error| FetchFault::Network(error.to_string()))?;
        }
        Ok(u64::try_from(self.0.len()).ok())
    }
}

/// Installs into an empty directory, so that each round does the same.
fn ours(home: &Path, registry: &Registry, bytes: &[u8]) {
    let plugins = home.join("plugins");
    std::fs::create_dir(&plugins).unwrap();
    let dir = Dir::open_ambient_dir(&plugins, ambient_authority()).unwrap();
    let owner = Owner::uid(rustix::process::geteuid().as_raw());
    let store = CommandStore::open(&dir, owner, Duration::from_secs(60)).unwrap();
    let rules = |_: &str| CommandRules { auto_install: true, install: None, run: None, checksum: None };
    let revoked = |_: &plugward_registry::CommandNames<'_>, _: &plugward_types::Digest| None;
    let (targets, path) = (["any".to_owned()], SearchPath::empty());
    let host = CommandHost {
        prefix: "plugward",
        registry: Some(registry.url()),
        targets: &targets,
        path: &path,
        rules: &rules,
        revoked: &revoked,
    };
    let now = "2026-11-25T12:00:00Z".parse().unwrap();
    store.install(&host, registry, "hi", InstallConsent::NotAsked, &Memory(bytes), now).unwrap();
    std::fs::remove_dir_all(&plugins).unwrap();
}

fn program(name: &str, args: &[&Path]) {
    let status = Command::new(name).args(args).stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{name}");
}

/// `sha256sum`, `cp` and `sync` of the same bytes.
fn peer(home: &Path, source: &Path) {
    let (directory, target) = (home.join("peer"), home.join("peer/plugward-hi"));
    std::fs::create_dir(&directory).unwrap();
    program("sha256sum", &[source]);
    program("cp", &[source, &target]);
    program("sync", &[&target, &directory]);
    std::fs::remove_dir_all(&directory).unwrap();
}

fn install(c: &mut Criterion) {
    let home = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..SIZE).map(|at| (at >> 9) as u8).collect();
    let source = home.path().join("source");
    File::create(&source).unwrap().write_all(&bytes).unwrap();
    let digest = hex::encode(&Sha256::digest(&bytes));
    let text = format!(
        r#"{{"version": 1, "plugins": {{"hi": {{"id": "hi", "description": "d", "official": true,
        "binaries": {{"any": {{"url": "https://registry.example/hi", "sha256": "{digest}"}}}}}}}}}}"#
    );
    let url = SourceUrl::parse("https://registry.example/r.json").unwrap();
    let registry = Registry::parse(text.as_bytes(), &url).unwrap();
    let mut group = c.benchmark_group("install 50 MiB");
    group.sample_size(10).measurement_time(Duration::from_secs(6));
    group.bench_function("ours", |b| b.iter(|| ours(home.path(), &registry, &bytes)));
    group.bench_function("sha256sum, cp, sync", |b| b.iter(|| peer(home.path(), &source)));
    group.finish();

    const ROUNDS: usize = 20;
    let timed = |work: &dyn Fn()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e3
    };
    let mut rounds: Vec<[f64; 3]> = (0..ROUNDS)
        .map(|_| {
            let own = timed(&|| ours(home.path(), &registry, &bytes));
            let theirs = timed(&|| peer(home.path(), &source));
            [own, theirs, own / theirs]
        })
        .collect();
    let mut middle = |column: usize| {
        rounds.sort_by(|a, b| a[column].total_cmp(&b[column]));
        rounds[ROUNDS / 2][column]
    };
    let (own, theirs, ratio) = (middle(0), middle(1), middle(2));
    println!(
        "in turn, {ROUNDS} rounds: ours {own:.1} ms, sha256sum + cp + sync {theirs:.1} ms, ratio {ratio:.2}"
    );
}

criterion_group!(benches, install);
criterion_main!(benches);
