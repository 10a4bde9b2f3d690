//! `examples/fence-consumer` outside this workspace: the command and the `#[test]`, without and with planted code.

use std::fs;
use std::path::Path;
use std::process::Command;

use plugward_fence::{Streams, command};

fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() == "target" {
            continue;
        }
        let place = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &place);
        } else {
            fs::copy(entry.path(), &place).unwrap();
        }
    }
}

/// Copies the example to a temporary directory, with an absolute path to this crate.
fn example() -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    let place = temp.path().join("consumer");
    copy(&crate_folder().join("../../examples/fence-consumer"), &place);
    let manifest = place.join("app/Cargo.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let here = crate_folder().to_str().unwrap();
    let moved = text.replace("../../../crates/fence", here);
    assert_ne!(text, moved, "the example names this crate by its path");
    fs::write(&manifest, moved).unwrap();
    // The lockfile of this workspace, so that cargo needs no registry.
    let _there = fs::copy(crate_folder().join("../../Cargo.lock"), place.join("Cargo.lock"));
    temp
}

/// Adds a file that no `mod` names. rustc does not compile it, and the fence reads it.
fn plant(place: &Path) {
    let code =
        "pub fn f() -> caps::WriteCapability {\n    caps::WriteCapability { folder: String::new() }\n}\n";
    fs::write(place.join("app/src/planted.rs"), code).unwrap();
}

fn fence(place: &Path) -> (u8, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = Streams { out: &mut out, err: &mut err, today: "2026-11-21".to_owned() };
    let arguments = ["plugward-fence", "--format", "short", "--manifest-path"].map(Into::into);
    let code = command(arguments.into_iter().chain([place.as_os_str().to_owned()]), &mut streams);
    (code, String::from_utf8(out).unwrap() + &String::from_utf8(err).unwrap())
}

/// Runs the example's own tests with `cargo test`.
fn own_test(place: &Path) -> (bool, String) {
    let output = Command::new(std::env::var_os("CARGO").unwrap())
        .args(["test", "--offline", "--quiet", "-p", "app", "--test", "fence"])
        .current_dir(place)
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("fence-consumer"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.success(), said.into_owned())
}

#[test]
fn the_example_is_clean_and_what_is_planted_is_found_by_both_forms() {
    let temp = example();
    let place = temp.path().join("consumer");
    let (code, said) = fence(&place);
    assert_eq!(code, 0, "{said}");
    let (passed, said) = own_test(&place);
    assert!(passed && said.contains("1 passed"), "{said}");
    plant(&place);
    let (code, said) = fence(&place);
    assert_eq!(code, 1, "{said}");
    assert!(said.starts_with("app/src/planted.rs:2:11: F01 "), "{said}");
    let (passed, said) = own_test(&place);
    assert!(!passed && said.contains("app/src/planted.rs:2:11"), "{said}");
}
