//! Reading of large records. Prints the memory first, in multiples of the file.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints its figures, and panics if it cannot continue"
)]

use std::collections::BTreeMap;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use plugward_installs::{EntryKind, HostEntry, HostFiles, HostTable, Machine, ReadFault, read_host};
use plugward_types::PlacePath;

const RECORD: &str = "/home/u/.claude/plugins/installed_plugins.json";

/// A machine on which every path is a directory, and one file exists.
struct OneFile {
    path: &'static str,
    bytes: Vec<u8>,
}

impl HostFiles for OneFile {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, ReadFault> {
        Ok((path == self.path).then(|| self.bytes.clone()))
    }

    fn list(&self, _: &str) -> Result<Option<Vec<HostEntry>>, ReadFault> {
        Ok(None)
    }

    fn real(&self, path: &str) -> Option<PlacePath> {
        PlacePath::new(path).ok()
    }

    fn kind(&self, _: &str) -> Option<EntryKind> {
        Some(EntryKind::Directory)
    }
}

/// Returns a record with so many rows and bytes.
fn record(rows: usize, bytes: usize) -> Vec<u8> {
    let mut text = String::from("{\"version\":2,\"plugins\":{");
    let padding = (bytes / rows).saturating_sub(330);
    for index in 0..rows {
        let comma = if index > 0 { "," } else { "" };
        let path = format!("/home/u/.claude/plugins/cache/acme/plugin-{index}/1.0.0");
        text.push_str(&format!(
            "{comma}\"plugin-{index}@acme\":[{{\"scope\":\"user\",\"installPath\":\"{path}\",\"version\":\"1.0.0\",\
             \"installedAt\":\"2026-11-25T00:00:00.000Z\",\"lastUpdated\":\"2026-11-25T00:00:00.000Z\",\
             \"gitCommitSha\":\"0123456789abcdef0123456789abcdef01234567\",\"note\":\"{}\"}}]",
            "x".repeat(padding)
        ));
    }
    text.push_str("}}");
    text.into_bytes()
}

/// Returns a record with as many values as the parser accepts.
fn dense() -> Vec<u8> {
    format!("{{\"version\":2,\"x\":[{}0]}}", "0,".repeat(1_990_000)).into_bytes()
}

fn read(files: &OneFile) -> usize {
    let environment = BTreeMap::new();
    let machine = Machine {
        home: "/home/u",
        environment: &environment,
        project: None,
        directory: None,
        nested: &[],
        unsearched: &[],
        files,
    };
    let row = HostTable::compiled().unwrap().row("claude").unwrap();
    read_host(row, &machine).expect("the host is there").installs.len()
}

fn bench(criterion: &mut Criterion) {
    let cases = [
        ("10,000 rows", record(10_000, 0)),
        ("50,000 rows, 64 MiB", record(50_000, 64 << 20)),
        ("2 million values", dense()),
    ];
    let mut group = criterion.benchmark_group("record");
    group.sample_size(10);
    for (name, bytes) in cases {
        let files = OneFile { path: RECORD, bytes };
        let size = u64::try_from(files.bytes.len()).expect("a size");
        let memory = allocation_counter::measure(|| {
            read(&files);
        });
        let tenths = memory.bytes_max * 10 / size;
        println!(
            "{name}: {size} bytes, at most {} bytes of memory, {}.{} x",
            memory.bytes_max,
            tenths / 10,
            tenths % 10
        );
        group.throughput(Throughput::Bytes(size));
        group.bench_function(name, |bencher| bencher.iter(|| read(&files)));
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
