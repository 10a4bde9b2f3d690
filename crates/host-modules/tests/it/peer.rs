//! The native modules answer as the plugins of HyperAgent 0.7.0 do, but for a written list.

use std::fs;
use std::path::Path;

use plugward_host_modules::{HostModule, PluginLimits, bytes_value};
use serde_json::{Value, json};

use crate::Files;
use crate::node::{node, plugin};

/// Calls with different answers on purpose: the call, the answer of HyperAgent, and the native one.
fn differences() -> Vec<(&'static str, Value, Value, Value)> {
    let denied = |text: &str| json!({ "error": format!("Access denied: {text}") });
    vec![
        // `..` is refused, also if it stays inside.
        (
            "readFile",
            json!(["sub/../a.txt"]),
            json!({ "content": "hello\n" }),
            denied("path traversal detected"),
        ),
        // A second name can be that of a file outside.
        (
            "readFile",
            json!(["hard"]),
            json!({ "content": "hello\n" }),
            denied("hard links are not permitted"),
        ),
        // A name that no file system accepts is refused before it is looked up.
        (
            "readFile",
            json!(["n".repeat(300)]),
            json!({ "error": "Read operation failed" }),
            json!({ "error": "Invalid path: exceeds maximum length" }),
        ),
        // A file where a directory should be.
        (
            "listDir",
            json!(["a.txt/b"]),
            json!({ "error": "List operation failed" }),
            json!({ "error": "Not a directory" }),
        ),
    ]
}

fn calls() -> Vec<(&'static str, Value)> {
    let data = bytes_value(&[0xff, 0]);
    vec![
        ("readFile", json!(["a.txt"])),
        ("readFile", json!(["a.txt", "base64"])),
        ("readFile", json!(["./sub//b.bin"])),
        ("readFile", json!(["sub/b.bin", "base64"])),
        ("readFile", json!(["missing"])),
        ("readFile", json!(["missing/x"])),
        ("readFile", json!(["sub"])),
        ("readFile", json!(["a.txt/"])),
        ("readFile", json!(["a.txt/x"])),
        ("readFile", json!(["link"])),
        ("readFile", json!(["dir-link/x"])),
        ("readFile", json!(["../x"])),
        ("readFile", json!(["/etc/passwd"])),
        ("readFile", json!([".env"])),
        ("readFile", json!([""])),
        ("readFile", json!([7])),
        ("readFile", json!(["a\0b"])),
        ("readFile", json!(["n".repeat(5000)])),
        ("readFile", json!(["large"])),
        ("readFileBinary", json!(["sub/b.bin"])),
        ("readFileBinary", json!(["missing"])),
        ("readFileBinary", json!(["large"])),
        ("readFileChunk", json!(["a.txt", 1, 2])),
        ("readFileChunk", json!(["a.txt", 4, 99])),
        ("readFileChunk", json!(["a.txt", "1", "2", "base64"])),
        ("readFileChunk", json!(["a.txt", 99, 1])),
        ("readFileChunk", json!(["a.txt", -1, 1])),
        ("readFileChunk", json!(["a.txt", 0, 0])),
        ("readFileChunk", json!(["a.txt", 0.5, 1])),
        ("readFileChunkBinary", json!(["large", 0, 4])),
        ("readFileChunkBinary", json!(["a.txt", 99, 1])),
        ("listDir", json!(["sub"])),
        ("listDir", json!(["a.txt"])),
        ("listDir", json!(["missing"])),
        ("stat", json!(["a.txt"])),
        ("stat", json!(["link"])),
        ("stat", json!(["missing"])),
        ("writeFile", json!(["w.txt", "one"])),
        ("writeFile", json!(["w.txt", "aGk=", "base64"])),
        ("writeFile", json!(["x/w.txt", "one"])),
        ("writeFile", json!(["sub", "one"])),
        ("writeFile", json!(["w.txt", 7])),
        ("writeFile", json!(["w.txt", "a".repeat(70_000)])),
        ("appendFile", json!(["w.txt", "two"])),
        ("appendFile", json!(["w.txt", "a".repeat(64 << 10)])),
        ("appendFile", json!(["w.txt", "a".repeat(2 << 10)])),
        ("appendFile", json!(["link", "two"])),
        ("writeFileBinary", json!(["w.bin", data])),
        ("writeFileBinary", json!(["w.bin", "text"])),
        ("appendFileBinary", json!(["w.bin", data])),
        ("mkdir", json!(["new"])),
        ("mkdir", json!(["new"])),
        ("mkdir", json!(["x/new"])),
        ("mkdir", json!(["fourth"])),
        ("mkdir", json!(["fifth"])),
        ("writeFile", json!(["fifth", ""])),
    ]
}

fn fill(files: &Files) {
    let at = |name: &str| files.directory.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    files.put("a.txt", "hello\n");
    files.put("sub/b.bin", [0xff, b'a', 0]);
    files.put("large", vec![b'a'; 65 << 10]);
    std::os::unix::fs::symlink("a.txt", at("link")).unwrap();
    std::os::unix::fs::symlink("sub", at("dir-link")).unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let name = entry.file_name();
        // Without what a build makes, so that the sources run.
        if Path::new(&name).extension().is_some_and(|extension| extension == "ts") {
            fs::copy(entry.path(), to.join(name)).unwrap();
        }
    }
}

#[test]
fn native_modules_answer_as_hyperagent() {
    let Some(node) = node((22, 18)) else { return };
    let Ok(package) = std::env::var("PLUGWARD_TEST_HYPERAGENT") else {
        return println!("skipped: PLUGWARD_TEST_HYPERAGENT is not set");
    };
    let sources = tempfile::tempdir().unwrap();
    for name in ["", "shared", "fs-read", "fs-write"] {
        copy(&Path::new(&package).join(name), &sources.path().join(name));
    }
    let read = ["maxReadChunkKb=64", "maxFileSizeKb=66"];
    let write = ["maxWriteChunkKb=64", "maxWriteSizeKb=65", "maxEntries=4"];
    let mut native = Files::with(&read, &write);
    let mut theirs = Files::new();
    fill(&native);
    fill(&theirs);
    let base = theirs.directory.path().display().to_string();
    let start = |name: &str, config: Value| -> Box<dyn HostModule> {
        let entry = format!("./{name}/index.ts");
        let running = plugin(&node, sources.path(), &entry, config, PluginLimits::usual()).unwrap();
        running.modules.into_iter().next().unwrap()
    };
    let config = json!({ "baseDir": base, "maxReadChunkKb": 64, "maxFileSizeKb": 66 });
    theirs.read = start("fs-read", config);
    let config = json!({ "baseDir": base, "maxWriteChunkKb": 64, "maxWriteSizeKb": 65, "maxEntries": 4 });
    theirs.write = start("fs-write", config);
    for (native, theirs) in [(&native.read, &theirs.read), (&native.write, &theirs.write)] {
        assert_eq!(native.name(), theirs.name());
        assert_eq!(native.functions(), theirs.functions());
    }
    let calls = calls();
    for (function, args) in &calls {
        let (one, other) = (native.call(function, args.clone()), theirs.call(function, args.clone()));
        assert_eq!(one, other, "{function} {args}");
    }
    for file in ["w.txt", "w.bin"] {
        assert_eq!(native.get(file), theirs.get(file));
    }
    for files in [&native, &theirs] {
        let at = |name: &str| files.directory.path().join(name);
        fs::hard_link(at("a.txt"), at("hard")).unwrap();
    }
    for (function, args, expected, own) in differences() {
        assert_eq!(theirs.call(function, args.clone()), expected, "{function} {args}");
        assert_eq!(native.call(function, args.clone()), own, "{function} {args}");
    }
    println!("{} calls with the same answer, {} with listed differences", calls.len(), differences().len());
}
