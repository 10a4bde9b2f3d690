//! Opening and checking 100 and 1,000 pins, one more enrollment, and 1,000 at once.
//!
//! `cargo bench -p plugward-pinstore`; `TMPDIR` says on which file system.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a benchmark stands for a host, and stops where it cannot go on"
)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::os::unix::fs::MetadataExt as _;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use plugward_pinstore::{Change, Facts, PinCheck, Pins, Scope, Timestamp, Via};
use plugward_state_file::{Owner, StateFile};
use plugward_types::{Digest, PluginId, SurfaceDigest, TreeDigest};

fn facts(number: u32) -> Facts {
    let mut bytes = [0xab; 32];
    for (slot, byte) in bytes.iter_mut().zip(number.to_be_bytes()) {
        *slot = byte;
    }
    Facts {
        manifest: Some(Digest::from_bytes(bytes)),
        entry: None,
        tree: TreeDigest::from_bytes(bytes),
        exclude: vec![".git".to_owned()],
        shared: BTreeMap::new(),
        surface: Some(SurfaceDigest::from_bytes(bytes)),
        signer: None,
    }
}

fn id(number: u32) -> PluginId {
    format!("claude:plugin-{number}@claude-plugins-official").parse().unwrap()
}

fn enroll(number: u32) -> Change {
    Change::Enroll { scope: Scope::USER, id: id(number), facts: facts(number), via: Via::Tofu, by: None }
}

fn home(count: u32) -> (tempfile::TempDir, StateFile) {
    let home = tempfile::tempdir().unwrap();
    let dir = Dir::open_ambient_dir(home.path(), ambient_authority()).unwrap();
    let file = Pins::file(&dir, Owner::uid(home.path().metadata().unwrap().uid())).unwrap();
    let (mut pins, _) = Pins::open(&file).unwrap();
    let _done =
        pins.commit((0..count).map(enroll).collect(), Timestamp::from_unix(1_800_000_000).unwrap()).unwrap();
    (home, file)
}

fn pins(c: &mut Criterion) {
    for count in [100, 1000] {
        let (home, file) = home(count);
        let text = std::fs::read_to_string(home.path().join("plugins.pins.toml")).unwrap();
        let seen: Vec<(PluginId, Facts)> = (0..count).map(|number| (id(number), facts(number))).collect();
        let mut group = c.benchmark_group(format!("{count} pins, {} kB", text.len() / 1000));
        group.bench_function("toml parses the text", |b| {
            b.iter(|| toml::de::DeTable::parse(&text).unwrap().into_inner().len());
        });
        group.bench_function("toml_edit parses the text", |b| {
            b.iter(|| black_box(text.parse::<toml_edit::DocumentMut>().unwrap()));
        });
        group.bench_function("open and check all", |b| {
            b.iter(|| {
                let (pins, _) = Pins::open(&file).unwrap();
                for (id, facts) in &seen {
                    assert_eq!(pins.check(&Scope::USER, id, facts), PinCheck::Same { surface: None });
                }
            });
        });
        group.sample_size(20);
        group.bench_function("enroll one more, with its commit", |b| {
            let original = std::fs::read(home.path().join("plugins.pins.toml")).unwrap();
            b.iter_batched(
                || std::fs::write(home.path().join("plugins.pins.toml"), &original).unwrap(),
                |()| {
                    let (mut pins, _) = Pins::open(&file).unwrap();
                    let now = Timestamp::from_unix(1_800_000_000).unwrap();
                    pins.commit(vec![enroll(count)], now).unwrap().serial
                },
                BatchSize::PerIteration,
            );
        });
        group.finish();
    }
}

criterion_group!(benches, pins);
criterion_main!(benches);
