//! The whole scan of generated text, and the pattern engine next to one `regex_automata` search for the same patterns.
#![expect(clippy::arithmetic_side_effects, reason = "a counter of a bench")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use plugward_scanner::{Content, Engine, Entry, Profile, RoleHint, Rules, ScanOptions, scan};
use plugward_types::Digest;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;

const PATTERNS: &[&str] = &[
    r"\beval\s{0,3}\(",
    r"\bnew\s{1,3}Function\s{0,3}\(",
    r"\bchild_process\b",
    r"\bworker_threads\b",
    r"\.execSync\s{0,3}\(",
    r"\.spawnSync\s{0,3}\(",
    r"process\.binding",
    r"process\.env\.[A-Z_]{1,40}",
    r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b",
    r"\bgh[oprsu]_[A-Za-z0-9]{36,76}\b",
    r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----",
    r"import\.meta\.resolve",
];

/// Returns text that looks like code and has no meaning: words, strings, comments, numbers.
fn text(bytes: usize) -> Vec<u8> {
    let words = [
        "const ",
        "value",
        " = ",
        "require",
        "(",
        "'./part'",
        ")",
        ";\n",
        "function ",
        "walk",
        "(node) {\n  ",
        "return ",
        "node.children.map((child) => walk(child))",
        ";\n}\n",
        "// a note about the walk\n",
        "if (",
        "count > 10",
        ") {\n",
        "`text ${value} more`",
        "}\n",
        "/[a-z]+/g.test(name)",
        ".length",
        " + 1",
        "0x1f",
        "evaluate",
        "process.exit(0)",
    ];
    let mut state = 7_u32;
    let mut out = Vec::with_capacity(bytes);
    while out.len() < bytes {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12345);
        let index = (state >> 16) as usize % words.len();
        out.extend_from_slice(words.get(index).copied().unwrap_or_default().as_bytes());
    }
    out
}

fn patterns(c: &mut Criterion) {
    let hay = text(4 << 20);
    let engine = Engine::new(PATTERNS);
    let config = syntax::Config::new().utf8(false).unicode(false).multi_line(true);
    let peer = Regex::builder().syntax(config).build_many(PATTERNS);
    let mut group = c.benchmark_group("patterns");
    group.sample_size(10).throughput(Throughput::Bytes(hay.len() as u64));
    group.bench_function("engine", |b| b.iter(|| black_box(engine.find(&hay))));
    if let Ok(peer) = peer {
        group.bench_function("regex_automata", |b| b.iter(|| black_box(peer.find_iter(&hay).count())));
    }
    group.finish();
}

fn whole(c: &mut Criterion) {
    let hay = text(4 << 20);
    let rules = Rules::builtin();
    let options = ScanOptions::new(Profile::General);
    let mut group = c.benchmark_group("scan");
    group.sample_size(10).throughput(Throughput::Bytes(hay.len() as u64));
    for path in ["a.js", "a.ts", "a.py", "a.sh", "a.txt"] {
        let content = Content::Bytes { bytes: &hay, digest: Digest::from_bytes([0; 32]) };
        let entries = [Entry { path, content, role: RoleHint::NONE }];
        group.bench_function(path, |b| b.iter(|| black_box(scan(rules, &options, &entries))));
    }
    group.finish();
}

criterion_group!(benches, patterns, whole);
criterion_main!(benches);
