//! Benchmarks of the JSON parser against other parsers, and of reading a directory of plugins.
//!
//! The corpus is next to the workspace. If it is missing, similar plugins are generated.
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "a benchmark reads its corpus")]
#![expect(clippy::unwrap_used, reason = "a benchmark without its input has to fail")]

use std::hint::black_box;
use std::path::{Path, PathBuf};

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use plugward_manifest::json::{ParseLimits, parse};
use plugward_manifest::{
    CommandSources, Dialect, FileMode, MAIN_FILES, MapFiles, PluginContext, find_dialects, read,
    read_marketplace,
};

fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/corpus");
    [beside, above].into_iter().find(|path| path.is_dir())
}

/// Returns every JSON file under a directory, with its path.
fn files_below(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut left = vec![directory.to_path_buf()];
    while let Some(dir) = left.pop() {
        for entry in std::fs::read_dir(&dir).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                left.push(entry.path());
            } else if entry.path().extension().is_some_and(|ending| ending == "json") {
                files.push((entry.path(), std::fs::read(entry.path()).unwrap()));
            }
        }
    }
    files.sort();
    files
}

fn made_up() -> Vec<(PathBuf, Vec<u8>)> {
    let one = |index: usize| {
        let text = format!(
            "{{\n  \"name\": \"plugin-{index}\",\n  \"version\": \"1.0.{index}\",\n  \"description\": \"{}\",\n  \"hooks\": \
             {{\"Stop\": [{{\"hooks\": [{{\"type\": \"command\", \"command\": \"sh \\\"${{CLAUDE_PLUGIN_ROOT}}/x.sh\\\"\"}}]}}]}}\n}}\n",
            "What it does, in some words. ".repeat(30)
        );
        (PathBuf::from(format!("p{index}/.claude-plugin/plugin.json")), text.into_bytes())
    };
    (0..320).map(one).collect()
}

/// Returns the plugins among the files: each directory with a main file, and the files under it.
fn plugins(files: &[(PathBuf, Vec<u8>)]) -> Vec<(String, MapFiles)> {
    let mut plugins = Vec::new();
    for (path, _) in files {
        let Some(main) = MAIN_FILES.iter().map(|(_, main)| *main).find(|main| path.ends_with(main)) else {
            continue;
        };
        let mut root = path.clone();
        main.split('/').for_each(|_| assert!(root.pop()));
        let name = root.file_name().map_or("root", |name| name.to_str().unwrap()).to_owned();
        if name.starts_with('.') {
            continue;
        }
        let mut tree = MapFiles::new();
        for (path, bytes) in files.iter().filter(|(path, _)| path.starts_with(&root)) {
            let path = path.strip_prefix(&root).unwrap().to_str().unwrap();
            tree.insert(path, bytes.clone(), FileMode::Plain);
        }
        plugins.push((name, tree));
    }
    plugins
}

fn json(c: &mut Criterion) {
    let files = corpus().map_or_else(made_up, |directory| files_below(&directory));
    let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    let mut group = c.benchmark_group(format!("parse {} files", files.len()));
    group.throughput(Throughput::Bytes(u64::try_from(bytes).unwrap()));
    group.bench_function("ours", |b| {
        b.iter(|| {
            for (_, bytes) in &files {
                black_box(parse(black_box(bytes), &ParseLimits::marketplace()).unwrap());
            }
        });
    });
    group.bench_function("jsonc-parser", |b| {
        b.iter(|| {
            for (_, bytes) in &files {
                let text = core::str::from_utf8(black_box(bytes)).unwrap();
                let collect = jsonc_parser::CollectOptions::default();
                black_box(
                    jsonc_parser::parse_to_ast(text, &collect, &jsonc_parser::ParseOptions::default())
                        .unwrap(),
                );
            }
        });
    });
    group.bench_function("serde_json", |b| {
        b.iter(|| {
            for (_, bytes) in &files {
                black_box(serde_json::from_slice::<serde_json::Value>(black_box(bytes)).unwrap());
            }
        });
    });
    group.finish();
}

fn surfaces(c: &mut Criterion) {
    let files = corpus().map_or_else(made_up, |directory| files_below(&directory));
    let plugins = plugins(&files);
    let is_market = |path: &Path| path.ends_with("marketplace.json");
    let markets: Vec<_> = files.iter().filter(|(path, _)| is_market(path)).collect();
    let mut group = c.benchmark_group(format!("surfaces of {} plugins", plugins.len()));
    group.bench_function("all dialects", |b| {
        b.iter(|| {
            for (name, files) in &plugins {
                for dialect in find_dialects(files) {
                    let _answer = black_box(read(dialect, files, &PluginContext::for_directory(name)));
                }
            }
        });
    });
    group.bench_function("claude", |b| {
        b.iter(|| {
            for (name, files) in &plugins {
                let _answer = black_box(read(Dialect::Claude, files, &PluginContext::for_directory(name)));
            }
        });
    });
    group.bench_function("marketplaces", |b| {
        b.iter(|| {
            for (_, bytes) in &markets {
                black_box(read_marketplace("marketplace.json", bytes, CommandSources::Refused).unwrap());
            }
        });
    });
    group.finish();
}

fn hostile(c: &mut Criterion) {
    let mut group = c.benchmark_group("hostile, 1 MiB");
    let size = ParseLimits::standard().bytes();
    for (name, text) in [
        ("nested", "[".repeat(size)),
        ("repeated", format!("{{{}\"a\":0}}", "\"a\":0,".repeat(170_000))),
        ("different", {
            let keys = (0..80_000).map(|index| format!("\"k{index}\":0,")).collect::<Vec<_>>().concat();
            format!("{{{keys}\"a\":0}}")
        }),
        ("escaped", format!("[{}0]", format!("\"{}\",", "\\u0041".repeat(40_000)).repeat(4))),
        ("values", format!("[{}0]", "0,".repeat(199_990))),
    ] {
        group.bench_function(name, |b| {
            b.iter_batched(
                || (),
                |()| black_box(parse(black_box(text.as_bytes()), &ParseLimits::standard()).is_ok()),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, json, surfaces, hostile);
criterion_main!(benches);
