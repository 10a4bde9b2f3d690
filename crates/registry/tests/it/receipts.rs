//! The stored receipts: their versions, damage, and what a crash leaves.

use crate::support::{Home, Memory, digest, put};

const RECEIPT: &str = r#"
[[receipt]]
id = "hi"
name = "hi"
file = "plugward-hi"
registry = "https://registry.example/plugins.json"
official = true
sha256 = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
installed = "2026-11-25T12:00:00Z"
"#;

fn read(text: &str) -> Result<usize, String> {
    let home = Home::new();
    std::fs::write(home.plugins().join("receipts.toml"), text).unwrap();
    match home.store().receipts() {
        Ok(receipts) => Ok(receipts.len()),
        Err(error) => {
            assert_eq!((error.code(), error.exit()), ("registry/receipts", 7));
            Err(error.to_string())
        }
    }
}

#[test]
fn the_format_is_versioned_and_strict() {
    // What this version writes; a later one must read it.
    assert_eq!(read(&format!("version = 1\n{RECEIPT}")), Ok(1));
    let with_next = RECEIPT.replace("installed", &format!("next = \"{}\"\ninstalled", digest(b"y").hex()));
    assert_eq!(read(&format!("version = 1\n{with_next}")), Ok(1));
    assert_eq!(read("version = 1\n"), Ok(0));
    // A later version can have other keys.
    assert!(read("version = 2\nplugins = []\n").unwrap_err().contains("version 2"));
    for (from, to) in [
        ("version = 1", ""),
        ("version = 1", "version = \"1\""),
        ("official = true", "official = true\nnewer = 1"),
        ("official = true", ""),
        ("id = \"hi\"", "id = \"../hi\""),
        ("file = \"plugward-hi\"", "file = \"../plugward-hi\""),
        ("file = \"plugward-hi\"", "file = \"plugward-other\""),
        ("name = \"hi\"", "name = \"Hi\""),
        ("2d71", "2D71"),
        ("2026-11-25T12", "2026-11-25 12"),
        ("[[receipt]]", "[[receipt]"),
    ] {
        let text = format!("version = 1\n{RECEIPT}").replacen(from, to, 1);
        assert!(read(&text).is_err(), "{text}");
    }
    assert!(read(&format!("version = 1\n{RECEIPT}{RECEIPT}")).unwrap_err().contains("same file"));
    let home = Home::new();
    std::os::unix::fs::symlink("/etc/hostname", home.plugins().join("receipts.toml")).unwrap();
    assert_eq!(home.store().receipts().unwrap_err().code(), "registry/receipts");
}

#[test]
fn unreadable_receipts_stop_every_change() {
    let mut home = Home::new();
    home.list(&[("hi", b"x", "official")]);
    std::fs::write(home.plugins().join("receipts.toml"), "version = 9\n").unwrap();
    let fetch = Memory::of(b"x");
    assert_eq!(home.install("hi", &fetch).unwrap_err().code(), "registry/receipts");
    assert_eq!(home.update("hi", &fetch).unwrap_err().code(), "registry/receipts");
    assert_eq!(home.remove("hi").unwrap_err().code(), "registry/receipts");
    assert_eq!(fetch.calls.get(), 0);
    assert_eq!(std::fs::read(home.plugins().join("receipts.toml")).unwrap(), b"version = 9\n");
}

#[test]
fn what_a_crash_leaves_is_removed_by_the_next_operation() {
    let mut home = Home::new();
    home.list(&[("hi", b"x", "official"), ("other", b"o", "official")]);
    // After a crash in the download, and after one between the receipt and the rename.
    put(&home.plugins().join(".stage-hi"), b"part", 0o600);
    std::fs::write(home.plugins().join("receipts.toml"), format!("version = 1\n{RECEIPT}")).unwrap();
    assert_eq!(home.find(&["hi"]).unwrap().exit(), 3, "a receipt without a file is not an installed plugin");
    home.install("other", &Memory::of(b"o")).unwrap();
    assert_eq!(home.names(), ["plugward-other"]);
    let receipts = home.store().receipts().unwrap();
    assert_eq!(receipts.iter().map(|receipt| receipt.id.as_str()).collect::<Vec<_>>(), ["other"]);
}

#[test]
fn an_interrupted_update_is_settled_by_the_file_itself() {
    let next = RECEIPT.replace("installed", &format!("next = \"{}\"\ninstalled", digest(b"y").hex()));
    for (there, kept) in [(&b"x"[..], b"x"), (b"y", b"y")] {
        let mut home = Home::new();
        home.list(&[("hi", b"y", "official"), ("other", b"o", "official")]);
        std::fs::write(home.plugins().join("receipts.toml"), format!("version = 1\n{next}")).unwrap();
        put(&home.file("hi"), there, 0o755);
        assert_eq!(home.find(&["hi"]).unwrap().exit(), 0, "both versions work meanwhile");
        home.install("other", &Memory::of(b"o")).unwrap();
        let receipts = home.store().receipts().unwrap();
        assert_eq!((receipts[0].sha256.clone(), &receipts[0].next), (digest(kept).hex(), &None));
        assert_eq!(home.find(&["hi"]).unwrap().exit(), 0);
        // The other version does not work any more.
        put(&home.file("hi"), if there == b"x" { b"y" } else { b"x" }, 0o755);
        assert_eq!(home.find(&["hi"]).unwrap().exit(), 4);
    }
}
