//! The vectors of the scheme: our own copy, the shared file where it is there, and the shell.

use std::path::Path;
use std::process::Command;

use plugward_tree_lock::{CodewizardDigest, TreeLimits, h1};
use serde_json::Value;

use crate::tree::{Tree, excludes, read, refused};

const OURS: &str = include_str!("../data/trees.json");

/// `{ echo … }` as the documents print it: bash, find, sort, readlink, sha256sum, wc.
const SHELL: &str = r#"{ echo plugtree-v1
  find . \( -type f -o -type l \) -printf '%P\0' | LC_ALL=C sort -z | while IFS= read -r -d '' p; do
    if [ -L "$p" ]; then k=l; h=$(readlink -n "$p" | sha256sum); n=$(readlink -n "$p" | wc -c)
    else k=f; [ -n "$(find "$p" -prune -perm -u+x)" ] && k=x; h=$(sha256sum < "$p"); n=$(wc -c < "$p"); fi
    echo "$k ${h%% *} $n $p"
  done; } | sha256sum | sed 's/^/pt1:/; s/ .*//'"#;

fn bytes(value: &Value) -> Vec<u8> {
    match value {
        Value::String(text) => text.as_bytes().to_vec(),
        other => unbase64(other["base64"].as_str().unwrap()),
    }
}

fn unbase64(text: &str) -> Vec<u8> {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<u8> = text
        .trim_end_matches('=')
        .chars()
        .flat_map(|c| (0..6).rev().map(move |bit| u8::from(ALPHABET.find(c).unwrap() >> bit & 1 == 1)))
        .collect();
    bits.chunks_exact(8).map(|bits| bits.iter().fold(0, |byte, bit| byte << 1 | bit)).collect()
}

/// Builds one of our rows.
fn build(row: &Value) -> Tree {
    let tree = Tree::new();
    for entry in row["tree"].as_array().unwrap() {
        let path = bytes(&entry[1]);
        match entry[0].as_str().unwrap() {
            "l" => tree.link(path, bytes(&entry[2])),
            "d" => tree.directory(path),
            "p" => tree.fifo(path),
            kind => {
                let mode = if kind == "x" { 0o755 } else { 0o644 };
                let mode = entry[3].as_str().map_or(mode, |text| u32::from_str_radix(text, 8).unwrap());
                tree.mode(path, bytes(&entry[2]), mode)
            }
        };
    }
    tree
}

/// The lines of a list, each with its newline.
fn text_of(lines: &Value) -> String {
    lines.as_array().unwrap().iter().flat_map(|line| [line.as_str().unwrap(), "\n"]).collect()
}

fn exclude(row: &Value) -> Vec<&str> {
    row["exclude"]
        .as_array()
        .map(|names| names.iter().map(|name| name.as_str().unwrap()).collect())
        .unwrap_or_default()
}

fn rows() -> Vec<Value> {
    serde_json::from_str::<Value>(OURS).unwrap().as_array().unwrap().clone()
}

#[test]
fn every_row_gives_its_list_its_digests_or_its_refusal() {
    let (mut accepted, mut refusals) = (0, 0);
    for row in rows() {
        let name = row["name"].as_str().unwrap();
        let tree = build(&row);
        for jobs in [1, 3] {
            let check = tree.try_with(&TreeLimits::standard(), &excludes(&exclude(&row)), jobs).unwrap();
            if let Some(code) = row["code"].as_str() {
                let why = refused(check);
                let found =
                    why.problems().iter().any(|p| p.code() == code && p.path() == row["blames"].as_str());
                assert!(found, "{name}: {why}");
                // One fault a tree: nothing else may be said of it.
                assert!(why.problems().iter().all(|problem| problem.code() == code), "{name}: {why}");
                refusals += 1;
                continue;
            }
            let snapshot = read(check);
            let list = text_of(&row["list"]);
            assert_eq!(snapshot.preimage(), list, "{name}");
            assert_eq!(snapshot.digest().to_string(), row["digest"].as_str().unwrap(), "{name}");
            if let Some(expected) = row.get("h1") {
                assert_eq!(h1(&snapshot).as_deref(), expected.as_str(), "{name}");
                assert_eq!(
                    CodewizardDigest::of(&snapshot).to_string(),
                    row["codewizard"].as_str().unwrap(),
                    "{name}"
                );
            }
            accepted += 1;
        }
    }
    assert_eq!((accepted, refusals), (25 * 2, 17 * 2));
}

#[test]
fn rows_that_are_pairs_agree_or_differ() {
    let rows = rows();
    let digest = |name: &str| {
        let row = rows.iter().find(|row| row["name"] == name).unwrap();
        read(build(row).check_with(&TreeLimits::standard(), &excludes(&exclude(row)))).digest().to_string()
    };
    for (one, other) in
        [("empty", "empty-dir"), ("noexec", "group-exec-only"), ("exclude-vcs", "exclude-absent")]
    {
        assert_eq!(digest(one), digest(other), "{one} {other}");
    }
    for (one, other) in
        [("exec", "noexec"), ("symlink-in", "no-symlink"), ("crlf", "lf"), ("concat-1", "concat-2")]
    {
        assert_ne!(digest(one), digest(other), "{one} {other}");
    }
}

#[test]
fn the_shell_lines_give_the_same() {
    let mut compared = 0;
    for row in rows().iter().filter(|row| row.get("digest").is_some() && row.get("exclude").is_none()) {
        let tree = build(row);
        let shell = Command::new("bash").args(["-c", SHELL]).current_dir(tree.path()).output();
        let Ok(shell) = shell else {
            println!("skipped: no bash here");
            return;
        };
        assert!(shell.status.success(), "{}", String::from_utf8_lossy(&shell.stderr));
        assert_eq!(
            String::from_utf8_lossy(&shell.stdout).trim(),
            row["digest"].as_str().unwrap(),
            "{}",
            row["name"]
        );
        compared += 1;
    }
    assert_eq!(compared, 23);
}

/// The file that all implementations share, where it lies beside the workspace.
#[test]
fn our_rows_are_those_of_the_shared_file() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors/plugtree.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: no shared vectors here");
        return;
    };
    let shared: Value = serde_json::from_str(&text).unwrap();
    let rows = rows();
    let mut compared = 0;
    for (kind, digest, list) in [("accept", "pt1", true), ("refuse", "refuse", false)] {
        for (name, vector) in shared[kind].as_object().unwrap() {
            let row =
                rows.iter().find(|row| row["name"] == *name).unwrap_or_else(|| panic!("{name} is not ours"));
            assert_eq!(vector[digest], row[if list { "digest" } else { "code" }], "{name}");
            assert_eq!(vector.get("exclude"), row.get("exclude"), "{name}");
            if list {
                let ours = text_of(&row["list"]);
                assert_eq!(vector["preimage"], ours, "{name}");
                assert_eq!(
                    (vector.get("h1"), vector.get("codewizard")),
                    (row.get("h1"), row.get("codewizard")),
                    "{name}"
                );
            } else {
                assert_eq!(vector["path"], row["blames"], "{name}");
            }
            for (entry, ours) in
                vector["entries"].as_array().unwrap().iter().zip(row["tree"].as_array().unwrap())
            {
                let path = entry["path"].as_str().map_or_else(
                    || unbase64(entry["path_base64"].as_str().unwrap()),
                    |path| path.as_bytes().to_vec(),
                );
                assert_eq!(path, bytes(&ours[1]), "{name}");
                let content = ["text", "target"]
                    .iter()
                    .find_map(|key| entry[*key].as_str())
                    .map(|text| text.as_bytes().to_vec());
                let content = content.or_else(|| entry["base64"].as_str().map(unbase64));
                assert_eq!(content, ours.get(2).map(bytes), "{name}");
                assert_eq!(entry["mode"].as_str(), ours.get(3).and_then(Value::as_str), "{name}");
                let kind = match entry["kind"].as_str().unwrap() {
                    "symlink" => "l",
                    "dir" => "d",
                    "fifo" => "p",
                    _ if entry["executable"] == true => "x",
                    _ => "f",
                };
                assert_eq!(ours[0], kind, "{name}");
            }
            assert_eq!(
                vector["entries"].as_array().unwrap().len(),
                row["tree"].as_array().unwrap().len(),
                "{name}"
            );
            compared += 1;
        }
    }
    assert_eq!(compared, rows.len());
}
