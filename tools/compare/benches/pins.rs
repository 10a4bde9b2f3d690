//! Opening and checking 100 and 1,000 pins, and one more enrollment.
//!
//! `cargo bench -p plugward-compare --bench pins`; `TMPDIR` selects the file system.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a benchmark panics if it cannot continue"
)]

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use plugward_pinstore::{AgreedAge, Change, Facts, ObservedPlugin, PinCheck, PinOrigin, Pins, Timestamp};
use plugward_state_file::{Owner, StateFile};
use plugward_types::{Digest, SurfaceDigest, TreeDigest};

fn facts(number: u32) -> Facts {
    let mut bytes = [0xab; 32];
    for (slot, byte) in bytes.iter_mut().zip(number.to_be_bytes()) {
        *slot = byte;
    }
    Facts {
        manifest: BTreeMap::from([("claude".to_owned(), Digest::from_bytes(bytes))]),
        exclude: vec![".git".to_owned()],
        surface: Some(SurfaceDigest::from_bytes(bytes)),
        ..Facts::of_tree(TreeDigest::from_bytes(bytes))
    }
}

fn observed(number: u32) -> ObservedPlugin {
    ObservedPlugin {
        key: format!("claude:plugin-{number}@claude-plugins-official").parse().unwrap(),
        directory: None,
        called: [format!("claude:plugin-{number}").parse().unwrap()].into(),
        version: Some("1.0.0".to_owned()),
        behaviors: None,
        facts: facts(number),
        before: None,
        predecessor: None,
    }
}

fn enroll(number: u32) -> Change {
    Change::Enroll { observed: observed(number), via: PinOrigin::Tofu, by: None }
}

fn home(count: u32) -> (tempfile::TempDir, StateFile) {
    let home = tempfile::tempdir().unwrap();
    let dir = Dir::open_ambient_dir(home.path(), ambient_authority()).unwrap();
    let file = Pins::file(&dir, Owner::uid(home.path().metadata().unwrap().uid())).unwrap();
    let (mut pins, _) = Pins::open(&file).unwrap();
    let _done = pins
        .commit((0..count).map(enroll).collect(), Timestamp::from_unix_seconds(1_800_000_000).unwrap())
        .unwrap();
    (home, file)
}

fn pins(c: &mut Criterion) {
    for count in [100, 1000] {
        let (home, file) = home(count);
        let text = std::fs::read_to_string(home.path().join("plugins.pins.toml")).unwrap();
        let seen: Vec<ObservedPlugin> = (0..count).map(observed).collect();
        let mut group = c.benchmark_group(format!("{count} pins, {} kB", text.len() / 1000));
        group.bench_function("toml parses the text", |b| {
            b.iter(|| toml::de::DeTable::parse(&text).unwrap().into_inner().len());
        });
        group.bench_function("open and check all", |b| {
            b.iter(|| {
                let (pins, _) = Pins::open(&file).unwrap();
                for observed in &seen {
                    let same = PinCheck::Same { age: AgreedAge::Latest, surface: None };
                    assert_eq!(pins.check(observed), same);
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
                    let now = Timestamp::from_unix_seconds(1_800_000_000).unwrap();
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
