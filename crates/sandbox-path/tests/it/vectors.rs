//! The table of vectors: each row on each tier, with the outcome that it demands.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use plugward_sandbox_path::{
    FileAccess, HardLinks, Jail, MissingFile, Mounts, Names, Perm, Policy, RelPath, RenameMode,
    SandboxedPath, WalkLimits,
};
use rustix::fs::{CWD, FileType, Mode};

use crate::tiers::{TIERS, on};
use crate::world::{OUTSIDE, World};

const TABLE: &str = include_str!("../vectors.tsv");
const PERM: Perm = Perm::PRIVATE_FILE;
const LIMITS: WalkLimits = WalkLimits { entries: 10_000, depth: 100 };

/// The operations that leave the tree as it is.
const READS: [&str; 10] =
    ["read", "list", "walk", "metadata", "subjail", "read_link", "create", "create_open", "strip", "utf8"];

struct Row {
    number: &'static str,
    policy: &'static str,
    operation: &'static str,
    path: &'static str,
    demand: &'static str,
}

fn rows() -> impl Iterator<Item = Row> {
    TABLE.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let cells: Vec<_> = line.split('\t').collect();
        let [number, policy, operation, path, demand] = cells[..] else { panic!("five cells: {line}") };
        Row { number, policy, operation, path, demand }
    })
}

/// Makes the tree that the table speaks of.
fn tree() -> (World, bool) {
    let world = World::new();
    for name in [
        "f",
        "a/f",
        "a/b/f",
        "..f",
        "..d/f",
        "x..y",
        "...",
        "..\\x",
        "a\\b",
        "new\nline",
        "r\u{202e}lo",
        "-f",
        ".env",
        "a/.git/config",
        "a/\u{200c}.git/config",
        "CON",
        "f.",
        "C:x",
        "e\u{301}",
        "directory/x",
    ] {
        world.file(name, "in");
    }
    world.file(&"n".repeat(255), "in").directory("empty");
    fs::write(world.at("").join(OsStr::from_bytes(b"n\xff")), "in").unwrap();
    let (jail, outside) = (world.at(""), world.at("../outside"));
    world.link(outside.join("f"), "abs_out").link("../outside/f", "rel_out").link("f", "last_in");
    world.link(jail.join("f"), "abs_in").link("../jail/f", "round").link("../outside", "mid_out");
    world.link(&outside, "mid_out_abs").link("a", "mid_in").link("a/b", "up").link("chain2", "chain");
    world.link("a/../chain3", "chain2").link("../outside/f", "chain3").link("self", "self");
    world.link("loop2", "loop1").link("loop1", "loop2").link("../outside/new", "dangling_out");
    world.link("nothing", "dangling_in").link("/", "to_root").link("/..", "to_root_up").link(".", "to_dot");
    world.link("mid_in/", "slashed_in").link("mid_out/", "slashed_out").link("f/", "slashed_file");
    world.link("/proc/self/root", "proc_root").link("/proc/self/cwd", "proc_cwd");
    world
        .link("/proc/self/exe", "proc_exe")
        .link("/proc/self/fd/0", "proc_fd")
        .link("/dev/stdin", "dev_stdin");
    world.link("a/.git/config", "to_hidden");
    world.link("./".repeat(2047) + "f", "long").link("./".repeat(2044) + "long/x", "long_chain");
    for hop in 1..=41 {
        let target = if hop == 1 { "f".to_owned() } else { format!("hop{}", hop - 1) };
        world.link(target, &format!("hop{hop}"));
    }
    fs::hard_link(outside.join("f"), world.at("hard")).unwrap();
    rustix::fs::mkfifoat(CWD, world.at("fifo"), Mode::RWXU).unwrap();
    drop(UnixListener::bind(world.at("socket")).unwrap());
    let null = rustix::fs::makedev(1, 3);
    let device =
        rustix::fs::mknodat(CWD, world.at("device"), FileType::CharacterDevice, Mode::RWXU, null).is_ok();
    (world, device)
}

/// Gives every name in the jail with its length and number of names.
fn names(world: &World) -> BTreeSet<(PathBuf, u64, u64)> {
    let tree = walkdir::WalkDir::new(world.at("")).min_depth(1);
    let entry = |entry: walkdir::DirEntry| {
        let meta = entry.path().symlink_metadata().unwrap();
        (entry.into_path(), meta.len(), meta.nlink())
    };
    tree.into_iter().map(Result::unwrap).map(entry).collect()
}

fn policy(name: &str) -> Policy {
    let standard = Policy::standard();
    match name {
        "standard" => standard,
        "agent" => Policy::agent(),
        "portable" => standard.with_names(Names::Portable),
        "one_name" => standard.with_hard_links_read(HardLinks::Refuse),
        "one_mount" => standard.with_mounts(Mounts::Refuse),
        other => panic!("no policy {other}"),
    }
}

/// Turns the notation of the table into bytes.
fn bytes(text: &str, jail: &Path) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if let Some(tail) = rest.strip_prefix("{jail}") {
            out.extend_from_slice(jail.as_os_str().as_bytes());
            rest = tail;
            continue;
        }
        rest = &rest[character.len_utf8()..];
        match character {
            '\\' => {
                let (escape, tail) = rest.split_at(1);
                rest = tail;
                match escape {
                    "0" => out.push(0),
                    "n" => out.push(b'\n'),
                    "x" => {
                        out.push(u8::from_str_radix(&rest[..2], 16).unwrap());
                        rest = &rest[2..];
                    }
                    other => out.extend_from_slice(other.as_bytes()),
                }
            }
            '{' => {
                let (inner, tail) = rest.split_once('}').unwrap();
                let (what, times) = inner.split_once('*').unwrap();
                out.extend_from_slice(what.repeat(times.parse().unwrap()).as_bytes());
                rest = tail;
            }
            other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out
}

/// Runs one operation and gives `ok` or the code, with what was read.
fn run(jail: &Jail, policy: Policy, operation: &str, path: &[u8]) -> (String, Vec<u8>) {
    let mut got = Vec::new();
    let outcome = match operation {
        "read" => jail.read(path, 100).map(|text| got = text).map_err(|e| e.code()),
        "list" => jail.list(path, 100).map(drop).map_err(|e| e.code()),
        "walk" => jail.walk(path, LIMITS).map(drop).map_err(|e| e.code()),
        "metadata" => jail.metadata(path).map(drop).map_err(|e| e.code()),
        "subjail" => jail.subjail(path).map(drop).map_err(|e| e.code()),
        "read_link" => jail.read_link(path).map(drop).map_err(|e| e.code()),
        "create" => SandboxedPath::create(jail, path).map(drop).map_err(|e| e.code()),
        "create_open" => SandboxedPath::create(jail, path).map_err(|e| e.code()).and_then(|seen| {
            seen.open().map(|file| got = file.read_chunk(0, 100).unwrap().bytes).map_err(|e| e.code())
        }),
        "overwrite" => SandboxedPath::create(jail, path)
            .map_err(|e| e.code())
            .and_then(|seen| seen.open_for(FileAccess::Overwrite).map(drop).map_err(|e| e.code())),
        "create_new" => jail.create_new(path, PERM).map(drop).map_err(|e| e.code()),
        "append" => jail
            .append(path, MissingFile::Refuse)
            .map(|(mut file, _)| file.write_all(b"+").unwrap())
            .map_err(|e| e.code()),
        "append_new" => jail.append(path, MissingFile::Create(PERM)).map(drop).map_err(|e| e.code()),
        "replace" => jail.replace(path, b"new", PERM).map(drop).map_err(|e| e.code()),
        "create_dir" => jail.create_dir(path, Perm::PRIVATE_DIRECTORY).map_err(|e| e.code()),
        "remove_file" => jail.remove_file(path).map_err(|e| e.code()),
        "remove_dir" => jail.remove_dir(path).map_err(|e| e.code()),
        "remove_tree" => jail.remove_tree(path, LIMITS).map(drop).map_err(|e| e.code()),
        "rename_from" => jail.rename(path, "renamed", RenameMode::Refuse).map_err(|e| e.code()),
        "rename_to" => jail.rename("f", path, RenameMode::Refuse).map_err(|e| e.code()),
        "rename_over" => jail.rename("f", path, RenameMode::Replace).map_err(|e| e.code()),
        "rename_directory_over" => jail.rename("directory", path, RenameMode::Replace).map_err(|e| e.code()),
        "rename_into_itself" => {
            jail.rename(path, [path, b"/inner"].concat(), RenameMode::Refuse).map_err(|e| e.code())
        }
        "strip" => jail.strip(Path::new(OsStr::from_bytes(path))).map(drop).map_err(|e| e.code()),
        "utf8" => utf8(policy, path),
        other => panic!("no operation {other}"),
    };
    let code =
        outcome.map_or_else(|code| code.strip_prefix("path/").unwrap().to_owned(), |()| "ok".to_owned());
    (code, got)
}

fn utf8(policy: Policy, path: &[u8]) -> Result<(), &'static str> {
    let rel = RelPath::parse(path, &policy).map_err(|e| e.code())?;
    rel.to_str().map(drop).map_err(|e| e.code())
}

#[test]
fn every_row_has_its_outcome_on_every_tier() {
    let mut checked = 0_u32;
    let mut wrong = Vec::new();
    for tier in TIERS {
        on(tier, |open| {
            let shared = tree();
            let before = names(&shared.0);
            for row in rows().filter(|row| row.operation != "elsewhere") {
                // What is refused changes nothing, which is looked at in the end.
                let changes = row.demand == "ok" && !READS.contains(&row.operation);
                let own = changes.then(tree);
                let (world, device) = own.as_ref().unwrap_or(&shared);
                let device = *device;
                if row.path == "device" && !device {
                    println!("{}: skipped, device nodes cannot be made here", row.number);
                    continue;
                }
                let policy = policy(row.policy);
                let home = world.at("");
                let home = Path::new(home.to_str().unwrap().trim_end_matches('/'));
                let jail = open(home, policy);
                let (code, got) = run(&jail, policy, row.operation, &bytes(row.path, home));
                let outside: BTreeSet<_> =
                    fs::read_dir(world.at("../outside")).unwrap().map(|e| e.unwrap().file_name()).collect();
                let untouched = outside == BTreeSet::from(["f".into()])
                    && fs::read_to_string(world.at("../outside/f")).unwrap() == OUTSIDE;
                let leaked = got == OUTSIDE.as_bytes() && row.path != "hard";
                if code != row.demand || leaked || !untouched {
                    let Row { number, policy, operation, path, demand } = row;
                    wrong.push(format!(
                        "{tier:?} {number} {policy} {operation} {path}: {demand} demanded, {code} given, \
                         leaked {leaked}, outside untouched {untouched}"
                    ));
                }
                checked += 1;
            }
            assert_eq!(names(&shared.0), before, "a refusal changed something on {tier:?}");
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{checked} rows checked");
}

#[test]
fn every_number_has_a_row_and_every_refusal_a_near_miss() {
    let mut numbers: BTreeSet<String> =
        rows().map(|row| row.number.trim_end_matches('~').to_owned()).collect();
    for (letter, last) in [('A', 34), ('B', 19), ('C', 13), ('D', 15), ('E', 17), ('F', 11)] {
        for number in 1..=last {
            assert!(numbers.remove(&format!("{letter}{number}")), "{letter}{number} has no row");
        }
    }
    assert_eq!(numbers, ["K1", "K2"].map(String::from).into());
    assert!(
        rows().filter(|row| row.number.ends_with('~')).all(|row| matches!(row.demand, "ok" | "not-found"))
    );
}

#[test]
fn every_test_that_a_row_names_is_there() {
    let modules = [
        ("reading", include_str!("reading.rs")),
        ("limits", include_str!("limits.rs")),
        ("jails", include_str!("jails.rs")),
        ("namespaces", include_str!("namespaces.rs")),
        ("flags", include_str!("flags.rs")),
        ("races", include_str!("races.rs")),
        ("tiers", include_str!("tiers.rs")),
        ("changing", include_str!("changing.rs")),
    ];
    for row in rows().filter(|row| row.operation == "elsewhere") {
        let Some((module, name)) = row.path.split_once("::") else {
            println!("{}: {}", row.number, row.path);
            continue;
        };
        let (_, text) = modules.iter().find(|(known, _)| *known == module).unwrap();
        assert!(text.contains(&format!("fn {name}(")), "{}: no test {module}::{name}", row.number);
    }
}
