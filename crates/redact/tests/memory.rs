//! How much of the found values remains in the memory of a process, and how much memory a stream needs.
//!
//! A program without the test harness. It starts itself again for each case, because it reads its own memory
//! and its own high-water mark. Only Linux provides both; on other systems it prints that and ends.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::expect_used,
    clippy::format_collect,
    clippy::format_push_string,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test starts itself, reads files, builds and slices small texts, says what it measured, and ends at the first surprise"
)]

#[path = "../benches/redact/plant.rs"]
mod plant;
#[path = "../benches/redact/plant_encode.rs"]
mod plant_encode;

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use plant::{MAKERS, Rng};
use plant_encode::{base64, hex};
use plugward_redact::{CustomAction, CustomRule, Firewall, KnownSecrets, Raw, RuleSelection, Settings};

/// Searched values are stored under this mask, so that searching for them does not put them into memory.
const MASK: u8 = 0xa5;
/// The length of the searched pieces.
const PIECE: usize = 12;
/// The number of bytes passed to a stream at a time.
const CHUNK: usize = 64 * 1024;
/// The number of bytes by which a stream's memory may grow after its first block.
const MORE: usize = 2 * 1024 * 1024;
/// The number of bytes streamed of each text.
const STREAMED: usize = 2 * 1024 * 1024;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().map(String::as_str) == Some("--child") {
        child(&args[1], Path::new(&args[2]));
        return;
    }
    if !cfg!(target_os = "linux") {
        println!("skipped: only Linux lets a process read its own memory");
        return;
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("memory-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let failed = wiped(&folder) + bounded(&folder);
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(failed, 0, "cases that failed");
}

/// Starts this program for one case, and returns its output.
fn start(how: &str, case: &Path) -> (bool, String) {
    let out =
        Command::new(std::env::current_exe().unwrap()).args(["--child", how]).arg(case).output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    (out.status.success(), said)
}

fn child(how: &str, case: &Path) {
    if how == "stream-memory" { stream_memory(case) } else { look_for_left_overs(how, case) }
}

// What is left.

/// Tests every kind in every notation that has its own buffers. Returns the number of failed cases.
fn wiped(folder: &Path) -> usize {
    let (mut failed, mut cases) = (0, 0);
    for (name, write) in WAYS {
        let shapes = if *name == "wrapped" { WRAPPED } else { &[] };
        let (text, pieces) = planted(*write, shapes);
        let case = folder.join("left");
        fs::write(&case, text).unwrap();
        fs::write(case.with_extension("pieces"), pieces).unwrap();
        let hows: &[&str] = if *name == "plain" { HOWS } else { HOWS.get(..3).unwrap_or_default() };
        for how in hows {
            cases += 1;
            let (good, said) = start(how, &case);
            if !good {
                println!("{name}, {how}: {said}");
                failed += 1;
            }
        }
        if *name == "plain" {
            // If the text is kept, all of it must be found, which proves that the search works.
            let (good, said) = start("kept", &case);
            let all = fs::metadata(case.with_extension("pieces")).unwrap().len() / PIECE as u64;
            assert!(!good && said.contains(&format!("{all} of {all} pieces are left")), "{said}");
        }
    }
    println!("found values are left in {failed} of {cases} cases");
    failed
}

type Write = fn(&str) -> Vec<u8>;

/// Ways to pass a text. The first is common to all.
const HOWS: &[&str] = &["once", "settled", "known", "stream", "withheld"];

/// A wrap is undone only for kinds with a literal of their own. For the others the second line is kept.
const WRAPPED: &[&str] = &["anthropic", "openai project", "github fine", "digital ocean", "sendgrid"];

/// Notations that go through each view.
const WAYS: &[(&str, Write)] = &[
    ("plain", |text| text.as_bytes().to_vec()),
    ("json", |text| serde_json::to_vec(&serde_json::json!({ "out": text })).unwrap()),
    ("percent", |text| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>().into_bytes()),
    ("base64", |text| base64(text.as_bytes()).into_bytes()),
    ("base64 twice", |text| base64(base64(text.as_bytes()).as_bytes()).into_bytes()),
    ("hex", |text| hex(text.as_bytes()).into_bytes()),
    ("pairs", |text| text.bytes().map(|byte| format!("{byte:02x}:")).collect::<String>().into_bytes()),
    ("gzip", |text| base64(&gzip(text.as_bytes())).into_bytes()),
    ("zlib", |text| {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        base64(&encoder.finish().unwrap()).into_bytes()
    }),
    ("utf16", |text| text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
    ("colors", |text| {
        text.chars()
            .map(|c| if c == '\n' { "\n".to_owned() } else { format!("\x1b[1m{c}\x1b[0m") })
            .collect::<String>()
            .into_bytes()
    }),
    ("dump", dump),
    ("reversed", |text| text.bytes().rev().collect()),
    ("prefixed", |text| {
        text.lines().map(|line| format!("web-1  | {line}\n")).collect::<String>().into_bytes()
    }),
    ("wrapped", |text| text.as_bytes().chunks(40).flat_map(|row| [row, b"\n"].concat()).collect()),
];

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn dump(text: &str) -> Vec<u8> {
    let mut out = String::new();
    for (row, bytes) in text.as_bytes().chunks(16).enumerate() {
        out.push_str(&format!(
            "{:08x}: {} {}\n",
            row * 16,
            hex(bytes)
                .as_bytes()
                .chunks(4)
                .map(|four| String::from_utf8_lossy(four).into_owned() + " ")
                .collect::<String>(),
            String::from_utf8_lossy(bytes).replace('\n', ".")
        ));
    }
    out.into_bytes()
}

/// Returns a text with every kind of secret, or those of some shapes, and the masked pieces that must not
/// remain.
fn planted(write: Write, shapes: &[&str]) -> (Vec<u8>, Vec<u8>) {
    let (mut text, mut pieces) = (b"a log begins\n".to_vec(), Vec::new());
    let wanted = |shape: &str| shapes.is_empty() || shapes.contains(&shape);
    for (index, (_, _, make)) in MAKERS.iter().enumerate().filter(|(_, (shape, ..))| wanted(shape)) {
        let planted = make(&mut Rng::new(900 + index as u64));
        text.extend(write(&planted.text()));
        text.extend_from_slice(b"\na line between, with nothing in it\n");
        for start in (0..planted.secret.len().saturating_sub(PIECE)).step_by(PIECE) {
            let piece = &planted.secret.as_bytes()[start..start + PIECE];
            // Armor and the headers of tokens are in the program itself.
            let mixed = piece.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2;
            if mixed && !piece.contains(&b'-') && !piece.starts_with(b"eyJ") {
                pieces.extend(piece.iter().map(|byte| byte ^ MASK));
            }
        }
    }
    // A view can be as long as a text, so use more than a block, and blocks overlap.
    let filler = b"2026-01-01T00:00:00Z INFO worker finished job in 12 ms\n".repeat(3000);
    text.extend(filler);
    (text, pieces)
}

fn look_for_left_overs(how: &str, case: &Path) {
    let pieces = fs::read(case.with_extension("pieces")).unwrap();
    let custom = CustomRule {
        name: "last-line".to_owned(),
        pattern: "job in 12 ms".to_owned(),
        keywords: vec!["job in 12".to_owned()],
        action: CustomAction::Withhold,
    };
    let custom = if how == "withheld" { vec![custom] } else { Vec::new() };
    let firewall = Firewall::new(RuleSelection::all(), Settings { custom, ..Settings::reference() }).unwrap();
    let mut out = Vec::with_capacity(1 << 20);
    match how {
        "once" | "withheld" => {
            out = firewall.redact_bytes(Raw::new(fs::read(case).unwrap())).into_value();
        }
        "known" => {
            let mut known = KnownSecrets::new();
            let text = || Raw::new(read_text(case));
            firewall.remember_text(&text(), &mut known);
            let (redacted, _) = firewall.redact_transformed(text(), &known);
            out = redacted.into_value().into_bytes();
        }
        "kept" => {
            let text = fs::read(case).unwrap();
            out.extend_from_slice(&text);
            out.extend(firewall.redact_bytes(Raw::new(text)).into_value());
        }
        _ => {
            let mut file = File::open(case).unwrap();
            let mut stream = firewall.stream();
            let mut chunk = vec![0; 4096];
            loop {
                let count = file.read(&mut chunk).unwrap();
                if count == 0 {
                    break;
                }
                stream.push(&chunk[..count], &mut out);
                if how == "settled" {
                    stream.settle(&mut out);
                }
            }
            // The chunk belongs to the test.
            chunk.fill(0);
            let found = stream.finish(&mut out);
            assert!(!found.is_empty() || how == "settled");
            println!("{}", core::hint::black_box(&chunk).len());
        }
    }
    drop(firewall);
    let left = left_over(&pieces);
    assert!(
        left == 0,
        "{left} of {} pieces are left; {} bytes were put out",
        pieces.len() / PIECE,
        out.len()
    );
}

/// Reads a text into a buffer of the file's size, so that no copy remains.
fn read_text(case: &Path) -> String {
    let bytes = fs::read(case).unwrap();
    String::from_utf8(bytes).unwrap_or_else(|error| {
        // Bytes outside UTF-8 become a letter each, in place.
        let mut bytes = error.into_bytes();
        bytes.iter_mut().filter(|byte| !byte.is_ascii()).for_each(|byte| *byte = b'?');
        String::from_utf8(bytes).unwrap()
    })
}

/// Counts the pieces that are anywhere in the memory of this process.
fn left_over(pieces: &[u8]) -> usize {
    let pieces: Vec<&[u8]> = pieces.chunks_exact(PIECE).collect();
    // The first two masked bytes rule out most offsets.
    let mut heads = vec![Vec::new(); 1 << 16];
    for (index, piece) in pieces.iter().enumerate() {
        heads[usize::from(piece[0]) << 8 | usize::from(piece[1])].push(index);
    }
    let mut seen = vec![false; pieces.len()];
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let mut memory = File::open("/proc/self/mem").unwrap();
    let mut window = vec![0_u8; 1 << 16];
    for line in maps.lines().filter(|line| line.contains(" rw")) {
        let (from, until) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
        let (mut from, until) =
            (u64::from_str_radix(from, 16).unwrap(), u64::from_str_radix(until, 16).unwrap());
        while from < until {
            let size = usize::try_from((until - from).min(window.len() as u64)).unwrap();
            if memory.seek(SeekFrom::Start(from)).is_err() || memory.read_exact(&mut window[..size]).is_err()
            {
                break;
            }
            for place in 0..size.saturating_sub(PIECE - 1) {
                let head = usize::from(window[place] ^ MASK) << 8 | usize::from(window[place + 1] ^ MASK);
                for index in &heads[head] {
                    if pieces[*index]
                        .iter()
                        .zip(&window[place..])
                        .all(|(masked, byte)| masked ^ MASK == *byte)
                    {
                        if !seen[*index] {
                            println!("piece {index} at {:x} of {line}", from + place as u64);
                        }
                        seen[*index] = true;
                    }
                }
            }
            // Otherwise a piece that was found would be found again in the window.
            window.fill(0);
            core::hint::black_box(&mut window);
            // Windows overlap by the length of a piece.
            from += if size == window.len() { (size - PIECE) as u64 } else { size as u64 };
        }
    }
    seen.iter().filter(|seen| **seen).count()
}

// How much.

fn bounded(folder: &Path) -> usize {
    let mut failed = 0;
    for (name, text) in texts() {
        let case = folder.join("text");
        fs::write(&case, &text).unwrap();
        let (good, said) = start("stream-memory", &case);
        println!("{name}: {}", said.trim());
        failed += usize::from(!good);
    }
    failed
}

/// Streams a text repeatedly, and returns the growth of the high-water mark of this process.
fn stream_memory(case: &Path) {
    let firewall = Firewall::new(RuleSelection::all(), Settings::reference()).unwrap();
    let text = fs::read(case).unwrap();
    let mut out = Vec::with_capacity(CHUNK * 4);
    let mut stream = firewall.stream();
    let (mut pushed, mut put_out) = (0, 0);
    // The first block is harmless text, which allocates what every stream needs.
    let quiet = b"a quiet line of a log\n".repeat(10_000);
    stream.push(&quiet, &mut out);
    assert!(!out.is_empty());
    let before = status("VmRSS:");
    for chunk in text.chunks(CHUNK).cycle() {
        stream.push(chunk, &mut out);
        pushed += chunk.len();
        put_out += out.len();
        out.clear();
        drop(stream.take_findings());
        if pushed >= STREAMED {
            break;
        }
    }
    drop(stream.finish(&mut out));
    let more = status("VmHWM:").saturating_sub(before);
    println!("{} KiB more than {} KiB, {put_out} bytes out", more / 1024, before / 1024);
    assert!(more <= MORE, "{more} bytes");
}

fn status(field: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).expect("Linux tells this");
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

/// Texts that make views, matches and maps large, about half a megabyte each.
fn texts() -> Vec<(&'static str, Vec<u8>)> {
    let mut rng = Rng::new(77);
    let fill = |mut unit: Box<dyn FnMut(&mut Rng) -> String>, rng: &mut Rng| {
        let mut text = String::new();
        while text.len() < 512 * 1024 {
            text.push_str(&unit(rng));
        }
        text.into_bytes()
    };
    let log = |rng: &mut Rng| {
        format!(
            "2026-03-01T10:00:00Z INFO [api] \"{}\" done in {} ms\n",
            rng.text("abcdefgh", 9),
            rng.below(900)
        )
    };
    let secret = |rng: &mut Rng| MAKERS[rng.below(MAKERS.len())].2(rng).text();
    let json =
        |text: &str| serde_json::to_string(&serde_json::json!({ "log": text, "stream": "stdout" })).unwrap();
    let mut all: Vec<(&'static str, Vec<u8>)> = Vec::new();
    let mut put = |name, unit: Box<dyn FnMut(&mut Rng) -> String>| all.push((name, fill(unit, &mut rng)));
    put("log", Box::new(log));
    put("secrets", Box::new(move |rng| format!("{}{}\n", log(rng), secret(rng))));
    put(
        "nothing but secrets",
        Box::new(|rng| format!("password=\"{}!7a\" ", rng.text("abcdefghKLMNOP23456", 11))),
    );
    put("one line", Box::new(move |rng| format!("{} {} ", log(rng).trim(), secret(rng).replace('\n', " "))));
    put("json", Box::new(move |rng| json(&format!("{}{}", log(rng), secret(rng))) + "\n"));
    put(
        "json in json in json",
        Box::new(move |rng| json(&json(&json(&format!("{}{}", log(rng), secret(rng))))) + "\n"),
    );
    put("escapes", Box::new(|_| "a\\n".repeat(40) + "\n"));
    put("escapes on one line", Box::new(|_| "a\\u0062\\\\".repeat(40)));
    put("percent", Box::new(move |rng| log(rng).bytes().map(|byte| format!("%{byte:02X}a")).collect()));
    put(
        "colors",
        Box::new(move |rng| {
            log(rng).chars().map(|c| format!("\x1b[3{}m{c}\x1b[0m", u32::from(c) % 8)).collect::<String>()
                + "\n"
        }),
    );
    put(
        "base64 of text",
        Box::new(move |rng| base64((0..60).map(|_| log(rng)).collect::<String>().as_bytes()) + "\n"),
    );
    put(
        "gzip in base64",
        Box::new(move |rng| base64(&gzip((0..60).map(|_| log(rng)).collect::<String>().as_bytes())) + "\n"),
    );
    put(
        "a megabyte in gzip in base64",
        Box::new(|_| base64(&gzip(&b"a\\n\x1b[1mb\x1b[0m".repeat(70_000))) + "\n"),
    );
    put("hex", Box::new(move |rng| hex(log(rng).as_bytes()) + "\n"));
    put("dump", Box::new(move |rng| String::from_utf8(dump(&log(rng))).unwrap()));
    put(
        "literals",
        Box::new(|rng| format!("x = \"{}\" + \"{}\";\n", rng.text("abcdef12", 9), rng.text("abcdef12", 9))),
    );
    put("behind a prefix", Box::new(|rng| format!("   12 | {}\n", rng.text("ABCabc012+/", 64))));
    put("keywords", Box::new(|_| "seed kind _key://token:aa eyj".to_owned()));
    let wide: Vec<u8> = all[1].1.iter().flat_map(|byte| [*byte, 0]).collect();
    all.push(("utf16", wide));
    let bytes = (0..512 * 1024).map(|_| u8::try_from(rng.below(256)).unwrap()).collect();
    all.push(("any bytes", bytes));
    all
}
