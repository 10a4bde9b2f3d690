//! The answers of the file modules.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use plugward_host_modules::sandbox_path::{Jail, Policy};
use plugward_host_modules::{
    FsReadConfig, FsWriteConfig, FunctionName, HostModule as _, ModuleName, bytes_value, fs_read, fs_write,
};
use serde_json::json;

use crate::{Files, error};

#[test]
fn names_of_native_modules_are_names() {
    let files = Files::new();
    for module in [&files.read, &files.write] {
        assert_eq!(ModuleName::new(module.name().as_str()).as_ref(), Some(module.name()));
        for function in module.functions() {
            assert_eq!(FunctionName::new(function.as_str()).as_ref(), Some(function));
        }
    }
}

#[test]
fn files_are_read_whole() {
    let mut files = Files::new();
    files.put("a.txt", "hello\n");
    files.put("b.bin", [0xff, b'a']);
    for (args, expected) in [
        (json!(["a.txt"]), json!({ "content": "hello\n" })),
        (json!(["./a.txt/"]), json!({ "content": "hello\n" })),
        (json!(["a.txt", "utf16"]), json!({ "content": "hello\n" })),
        (json!(["a.txt", "base64"]), json!({ "content": "aGVsbG8K", "encoding": "base64" })),
        (json!(["b.bin"]), json!({ "content": "\u{fffd}a" })),
        (json!(["missing"]), error("File not found")),
        (json!(["missing/a"]), error("File not found")),
        (json!(["."]), error("Not a file")),
        (json!(["a.txt/b"]), error("Read operation failed")),
    ] {
        assert_eq!(files.call("readFile", args.clone()), expected, "{args}");
    }
    assert_eq!(files.call("readFileBinary", json!(["b.bin"])), bytes_value(&[0xff, b'a']));
    assert_eq!(files.call("readFileBinary", json!(["missing"])), json!({ "thrown": "File not found" }));
    let absolute = files.directory.path().join("a.txt");
    assert_eq!(files.call("readFile", json!([absolute])), json!({ "content": "hello\n" }));
    let sibling = format!("{}x/a.txt", files.directory.path().display());
    let outside = error("Access denied: path is outside allowed directory");
    assert_eq!(files.call("readFile", json!([sibling])), outside);
}

#[test]
fn files_are_read_in_parts() {
    let mut files = Files::with(&["maxReadChunkKb=64"], &[]);
    files.put("a.txt", "0123456789");
    let part = |content, has_more| json!({ "content": content, "totalSize": 10, "hasMore": has_more });
    for (args, expected) in [
        (json!(["a.txt", 2, 3]), part("234", true)),
        (json!(["a.txt", "8", "9"]), part("89", false)),
        (json!(["a.txt", null, true]), part("0", true)),
        (json!(["a.txt", 10, 1]), part("", false)),
        (json!(["a.txt", 1e300, 1e300]), part("", false)),
        (json!(["a.txt", 5, 5.5]), part("56789", false)),
        (json!(["a.txt", 5, 2.5]), error("Read operation failed")),
        (json!(["a.txt", 0.5, 2]), error("Read operation failed")),
        (json!(["a.txt", -1, 2]), error("offsetBytes must be a non-negative number")),
        (json!(["a.txt", "x", 2]), error("offsetBytes must be a non-negative number")),
        (json!(["a.txt"]), error("offsetBytes must be a non-negative number")),
        (json!(["a.txt", 0, 0]), error("lengthBytes must be a positive number")),
        (json!(["a.txt", 0]), error("lengthBytes must be a positive number")),
        (json!(["missing", 0, 1]), error("File not found")),
    ] {
        assert_eq!(files.call("readFileChunk", args.clone()), expected, "{args}");
    }
    let base64 = json!({ "content": "OQ==", "encoding": "base64", "totalSize": 10, "hasMore": false });
    assert_eq!(files.call("readFileChunk", json!(["a.txt", 9, 1, "base64"])), base64);
    assert_eq!(files.call("readFileChunkBinary", json!(["a.txt", 9, 1])), bytes_value(b"9"));
    assert_eq!(files.call("readFileChunkBinary", json!(["a.txt", 99, 1])), bytes_value(b""));
    files.put("big.txt", vec![b'a'; 70_000]);
    let answer = files.call("readFileChunk", json!(["big.txt", 0, 70_000]));
    assert_eq!(answer["content"].as_str().unwrap().len(), 64 * 1024, "one call is limited");
}

#[test]
fn reads_are_limited() {
    let mut files = Files::with(&["maxFileSizeKb=65", "maxReadChunkKb=64"], &[]);
    files.put("ok", vec![b'a'; 64 * 1024]);
    files.put("chunked", vec![b'a'; 64 * 1024 + 1]);
    files.put("large", vec![b'a'; 65 * 1024 + 1]);
    assert_eq!(files.call("readFile", json!(["ok"]))["content"].as_str().unwrap().len(), 64 * 1024);
    let text = "File too large for single read: 65537 bytes exceeds per-call limit of 64KB. Use \
                readFileChunk(path, offsetBytes, lengthBytes) to read in chunks, or reconfigure fs-read with a \
                larger maxReadChunkKb (ensure the sandbox input buffer is large enough to match).";
    assert_eq!(files.call("readFile", json!(["chunked"])), error(text));
    let text = "File too large: exceeds read limit of 65KB. To increase, reconfigure fs-read with a larger \
                maxFileSizeKb.";
    assert_eq!(files.call("readFile", json!(["large"])), error(text));
    assert_eq!(files.call("readFileChunkBinary", json!(["large", 0, 1])), json!({ "thrown": text }));
}

#[test]
fn directories_are_listed() {
    let mut files = Files::with(&["maxListResults=10"], &[]);
    std::fs::create_dir(files.directory.path().join("sub")).unwrap();
    files.put("a.txt", "1");
    files.put(".env", "secret");
    symlink("a.txt", files.directory.path().join("link")).unwrap();
    let listed = json!([{ "name": "a.txt", "type": "file" }, { "name": "sub", "type": "directory" }]);
    assert_eq!(files.call("listDir", json!(["."])), listed);
    assert_eq!(files.call("listDir", json!(["sub"])), json!([]));
    assert_eq!(files.call("listDir", json!(["missing"])), error("Directory not found"));
    assert_eq!(files.call("listDir", json!(["a.txt"])), error("Not a directory"));
    assert_eq!(files.call("listDir", json!(["link"])), error("Access denied: symlinks are not permitted"));
    // Links come first in the order of names, and do not count.
    for number in 10..40 {
        symlink("a.txt", files.directory.path().join(format!("0{number}"))).unwrap();
        files.put(&format!("sub/{number}"), "");
        files.put(&format!("z{number}"), "");
    }
    for path in [".", "sub"] {
        assert_eq!(files.call("listDir", json!([path])).as_array().unwrap().len(), 10, "{path}");
    }
}

#[test]
fn metadata_is_returned() {
    let mut files = Files::new();
    files.put("a.txt", "hello\n");
    let file = json!({ "size": 6, "isFile": true, "isDirectory": false });
    assert_eq!(files.call("stat", json!(["a.txt"])), file);
    assert_eq!(files.call("stat", json!(["."]))["isDirectory"], json!(true));
    assert_eq!(files.call("stat", json!(["missing"])), error("File not found"));
    assert_eq!(files.call("stat", json!(["a.txt/b"])), error("Stat operation failed"));
}

#[test]
fn files_are_written() {
    let mut files = Files::new();
    let ok = json!({ "ok": true });
    assert_eq!(files.call("writeFile", json!(["a.txt", "one"])), ok);
    assert_eq!(files.call("appendFile", json!(["a.txt", "+two"])), ok);
    assert_eq!(files.get("a.txt"), b"one+two");
    assert_eq!(files.call("writeFile", json!(["a.txt", "aGk=", "base64"])), ok);
    assert_eq!(files.get("a.txt"), b"hi");
    assert_eq!(files.call("writeFileBinary", json!(["b.bin", bytes_value(&[0xff])])), ok);
    assert_eq!(files.call("appendFileBinary", json!(["b.bin", bytes_value(&[0])])), ok);
    assert_eq!(files.get("b.bin"), [0xff, 0]);
    assert_eq!(files.call("appendFile", json!(["new.txt", "x"])), ok);
    assert_eq!(files.call("mkdir", json!(["d/"])), ok);
    assert_eq!(files.call("writeFile", json!(["d/c.txt", ""])), ok);
    let mode =
        |path: &str| files.directory.path().join(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(["a.txt", "new.txt", "d"].map(mode), [0o600, 0o600, 0o700]);
    for (function, args, text) in [
        ("writeFile", json!(["x/a", ""]), "Parent directory does not exist"),
        ("appendFile", json!(["x/a", ""]), "Parent directory does not exist"),
        ("mkdir", json!(["x/a"]), "Parent directory does not exist"),
        ("mkdir", json!(["d"]), "Directory already exists"),
        ("mkdir", json!(["."]), "Directory already exists"),
        ("writeFile", json!(["d", ""]), "Write operation failed"),
        ("appendFile", json!(["d", ""]), "Append operation failed"),
        ("mkdir", json!(["a.txt/b"]), "Mkdir operation failed"),
    ] {
        assert_eq!(files.call(function, args.clone()), error(text), "{function} {args}");
    }
    for function in ["writeFile", "appendFile", "writeFileBinary", "appendFileBinary"] {
        let answer = files.call(function, json!(["a.txt", 7]));
        assert!(answer.to_string().contains(&format!("{function} expects")), "{answer}");
    }
    assert_eq!(files.get("a.txt"), b"hi");
}

#[test]
fn writes_are_limited() {
    let mut files = Files::with(&[], &["maxWriteSizeKb=65", "maxWriteChunkKb=64", "maxEntries=2"]);
    let ok = json!({ "ok": true });
    let kb = |kb: usize, more: usize| "a".repeat(kb * 1024 + more);
    assert_eq!(files.call("writeFile", json!(["a", kb(64, 0)])), ok);
    let text = "Content too large for single write: 65537 bytes exceeds per-call limit of 64KB. Write the first \
                chunk with writeFile, then append remaining chunks with appendFile. Or reconfigure fs-write with a \
                larger maxWriteChunkKb (ensure the sandbox output buffer is large enough to match).";
    assert_eq!(files.call("writeFile", json!(["a", kb(64, 1)])), error(text));
    let text = "Append content too large for single call: 65537 bytes exceeds per-call limit of 64KB. Split into \
                smaller appendFile calls, or reconfigure fs-write with a larger maxWriteChunkKb.";
    assert_eq!(files.call("appendFile", json!(["a", kb(64, 1)])), error(text));
    let text = "Append would exceed cumulative file write limit of 65KB (current: 65536 bytes + new: 1025 bytes). \
                To increase, reconfigure fs-write with a larger maxWriteSizeKb.";
    assert_eq!(files.call("appendFile", json!(["a", kb(1, 1)])), error(text));
    assert_eq!(files.call("appendFile", json!(["a", kb(1, 0)])), ok);
    assert_eq!(files.call("mkdir", json!(["d"])), ok);
    let full = error(
        "Entry limit reached: cannot create more than 2 files/directories. To increase, reconfigure fs-write \
         with a larger maxEntries.",
    );
    assert_eq!(files.call("writeFile", json!(["b", ""])), full);
    assert_eq!(files.call("appendFile", json!(["b", ""])), full);
    assert_eq!(files.call("mkdir", json!(["e"])), full);
    assert_eq!(files.call("writeFile", json!(["x/b", ""])), error("Parent directory does not exist"));
    assert_eq!(files.call("writeFile", json!(["a", "x"])), ok, "an existing file");
    assert_eq!(files.call("appendFile", json!(["a", "x"])), ok, "an existing file");
    let mut none = Files::with(&[], &["maxWriteSizeKb=0"]);
    assert_eq!(none.call("writeFile", json!(["a", ""])), ok);
    let answer = none.call("writeFile", json!(["a", "x"]));
    assert!(answer.to_string().contains("Content too large: exceeds cumulative"), "{answer}");
}

#[test]
fn the_directory_is_checked() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().display().to_string();
    let user = directory.path().metadata().unwrap().uid();
    symlink(&path, directory.path().join("link")).unwrap();
    let open = |base: &str, user| {
        let args = format!("baseDir={base}");
        let write = FsWriteConfig::from_args(&[&args]).unwrap().open_base(user).map(|_jail| ());
        let read = FsReadConfig::from_args(&[&args]).unwrap().open_base(user).map(|_jail| ());
        assert_eq!(read.as_ref().err().map(ToString::to_string), write.err().map(|error| error.to_string()));
        read.map_err(|error| error.code())
    };
    assert_eq!(open(&path, user), Ok(()));
    assert_eq!(open(&format!("{path}/link"), user), Err("host-module/base-dir"));
    assert_eq!(open(&format!("{path}/missing"), user), Err("host-module/base-dir"));
    assert_eq!(open(&path, user + 1), Err("host-module/base-dir"));
    assert_eq!(open("", user), Err("host-module/config"));
    let error = FsReadConfig::from_args(&[]).unwrap().open_base(user).unwrap_err();
    assert_eq!((error.code(), error.help().is_empty()), ("host-module/config", false));
}

#[test]
fn a_jail_that_is_gone_fails() {
    let directory = tempfile::tempdir().unwrap();
    let jail = Jail::open(directory.path(), Policy::agent()).unwrap();
    let mut read = fs_read(jail.clone(), FsReadConfig::from_args(&[]).unwrap());
    let mut write = fs_write(jail, FsWriteConfig::from_args(&[]).unwrap());
    drop(directory);
    let call = |name: &str| FunctionName::new(name).unwrap();
    let answer = crate::value(read.call(&call("readFile"), &["a".into()]));
    assert!(answer.get("error").is_some(), "{answer}");
    let answer = crate::value(write.call(&call("writeFile"), &["a".into(), "x".into()]));
    assert_eq!(answer, error("Write operation failed"));
}
