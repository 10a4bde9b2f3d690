//! Hostile arguments: wrong types, paths that lead outside, and values that are too large.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::{Files, error};

const FUNCTIONS: [&str; 11] = [
    "readFile",
    "readFileChunk",
    "listDir",
    "stat",
    "readFileBinary",
    "readFileChunkBinary",
    "writeFile",
    "appendFile",
    "writeFileBinary",
    "appendFileBinary",
    "mkdir",
];

/// Returns the text of a failed answer.
fn text(answer: &Value) -> String {
    let text = answer.get("error").or_else(|| answer.get("thrown"));
    text.and_then(Value::as_str).unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[test]
fn each_bad_path_is_refused_by_each_function() {
    let mut files = Files::new();
    let root = files.directory.path().display().to_string();
    std::fs::create_dir(files.directory.path().join("sub")).unwrap();
    symlink("/etc", files.directory.path().join("out")).unwrap();
    symlink("missing", files.directory.path().join("dangling")).unwrap();
    let empty = "Invalid path: must be a non-empty string";
    let outside = "Access denied: path is outside allowed directory";
    let long = "Invalid path: exceeds maximum length";
    for (path, expected) in [
        (json!(""), empty),
        (json!(7), empty),
        (json!(null), empty),
        (json!(["a"]), empty),
        (json!({ "$bytes": "aGk=" }), empty),
        (json!("a\0b"), "Access denied: invalid path character"),
        (json!("a".repeat(5000)), long),
        (json!("a".repeat(256)), long),
        (json!("../x"), outside),
        (json!("sub/../../x"), outside),
        (json!("/etc/passwd"), outside),
        (json!("/"), outside),
        (json!(format!("{root}/../x")), "Access denied: path traversal detected"),
        (json!("sub/../x"), "Access denied: path traversal detected"),
        (json!(".env"), "Access denied: dotfile access is not permitted"),
        (json!("sub/.git/config"), "Access denied: dotfile access is not permitted"),
        (json!("out/passwd"), "Access denied: symlinks are not permitted"),
        (json!("out"), "Access denied: symlinks are not permitted"),
        (json!("dangling"), "Access denied: symlinks are not permitted"),
    ] {
        for function in FUNCTIONS {
            let data = if function.ends_with("Binary") { json!({ "$bytes": "" }) } else { json!("") };
            let args = match function {
                "readFileChunk" | "readFileChunkBinary" => json!([path, 0, 1]),
                _ => json!([path, data]),
            };
            let answer = files.call(function, args);
            // A name is checked by `mkdir` before its target.
            let is_taken = function == "mkdir" && answer == error("Directory already exists");
            assert!(is_taken || text(&answer) == expected, "{function} {path}: {answer}");
            assert!(!answer.to_string().contains(&root), "{function} {path}: {answer}");
        }
    }
    for function in FUNCTIONS {
        assert_eq!(text(&files.call(function, json!([]))), empty, "{function}");
    }
    assert_eq!(std::fs::read_dir(files.directory.path()).unwrap().count(), 3, "nothing was created");
}

#[test]
fn files_with_two_names_are_refused() {
    let mut files = Files::new();
    let outside = tempfile::tempdir_in(files.directory.path().parent().unwrap()).unwrap();
    std::fs::write(outside.path().join("secret"), "s").unwrap();
    std::fs::hard_link(outside.path().join("secret"), files.directory.path().join("a")).unwrap();
    let denied = error("Access denied: hard links are not permitted");
    assert_eq!(files.call("readFile", json!(["a"])), denied);
    assert_eq!(files.call("appendFile", json!(["a", "x"])), denied);
    // The new file replaces the name, and the other name keeps its contents.
    assert_eq!(files.call("writeFile", json!(["a", "x"])), json!({ "ok": true }));
    assert_eq!(std::fs::read(outside.path().join("secret")).unwrap(), b"s");
}

#[test]
fn special_files_are_not_opened() {
    let mut files = Files::new();
    let path = files.directory.path().join("socket");
    let _socket = std::os::unix::net::UnixListener::bind(path).unwrap();
    assert_eq!(files.call("readFile", json!(["socket"])), error("Not a file"));
    for function in ["writeFile", "appendFile"] {
        let answer = files.call(function, json!(["socket", "x"]));
        assert_eq!(answer, error("Not a regular file"), "{function}");
    }
    assert_eq!(files.call("listDir", json!(["."])), json!([]));
}

#[test]
fn a_fifo_is_not_opened() {
    use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    let mut files = Files::new();
    let path = |name: &str| files.directory.path().join(name);
    mknodat(CWD, path("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    std::fs::write(path("file"), "x").unwrap();
    let opens = init(CreateFlags::NONBLOCK).unwrap();
    add_watch(&opens, path("fifo"), WatchFlags::OPEN).unwrap();
    add_watch(&opens, path("file"), WatchFlags::OPEN).unwrap();
    assert_eq!(files.call("readFile", json!(["fifo"])), error("Not a file"));
    assert_eq!(files.call("readFileChunk", json!(["fifo", 0, 1])), error("Not a file"));
    for function in ["writeFile", "appendFile"] {
        assert_eq!(files.call(function, json!(["fifo", "x"])), error("Not a regular file"), "{function}");
    }
    let mut buffer = [std::mem::MaybeUninit::uninit(); 1024];
    assert!(Reader::new(&opens, &mut buffer).next().is_err(), "the FIFO was opened");
    // The open of a regular file is seen.
    assert_eq!(files.call("readFile", json!(["file"])), json!({ "content": "x" }));
    assert!(Reader::new(&opens, &mut buffer).next().is_ok());
}

#[test]
fn data_of_other_shapes_is_refused() {
    let mut files = Files::new();
    for data in [
        json!(null),
        json!("aGk="),
        json!({ "$bytes": "aGk" }),
        json!({ "$bytes": "aGk=", "more": 1 }),
        json!({ "$bytes": 7 }),
        json!([104, 105]),
    ] {
        let answer = files.call("writeFileBinary", json!(["a", data]));
        assert!(text(&answer).starts_with("writeFileBinary expects binary data"), "{data}");
    }
    assert_eq!(files.call("writeFileBinary", json!(["a", { "$bytes": "aGk=" }])), json!({ "ok": true }));
}
