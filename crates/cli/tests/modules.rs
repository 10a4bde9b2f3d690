//! `module list` and `module call`, with the modules of this program.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "tests start the program, make directories, and stop if they cannot set up"
)]

#[expect(dead_code, reason = "these tests have no plugins")]
mod home;

use home::{Home, code};
use serde_json::{Value, json};

/// Runs `module call` on a directory with `a.txt`, and returns the exit code with both outputs.
fn call(home: &Home, plugin: &str, function: &str, args: &str, settings: &[&str]) -> (i32, String, String) {
    home.write("docs/a.txt", "hello\n");
    let output = home.run(&[&["module", "call", plugin, function, args], settings].concat());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (code(&output), text(output.stdout), text(output.stderr))
}

fn read(home: &Home, args: &str, settings: &[&str]) -> (i32, String, String) {
    call(home, "builtin:fs-read", "fs-read.readFile", args, settings)
}

#[test]
fn a_file_is_read_and_a_path_outside_is_refused() {
    let home = Home::new();
    let docs = &["baseDir=docs"];
    let (code, out, error) = read(&home, r#"["a.txt"]"#, docs);
    assert_eq!((code, out.as_str(), error.as_str()), (0, "{\"returned\":{\"content\":\"hello\\n\"}}\n", ""));
    let (code, out, _) = read(&home, r#"["../x"]"#, docs);
    let denied = "{\"returned\":{\"error\":\"Access denied: path is outside allowed directory\"}}\n";
    assert_eq!((code, out.as_str()), (0, denied));
    let (code, out, _) = call(&home, "builtin:fs-read", "fs-read.readFileBinary", r#"["x"]"#, docs);
    let thrown = "{\"thrown\":{\"message\":\"File not found\",\"name\":\"Error\"}}\n";
    assert_eq!((code, out.as_str()), (1, thrown));
    let data = r#"["b.txt", "x"]"#;
    let (code, out, _) = call(&home, "builtin:fs-write", "fs-write.writeFile", data, docs);
    assert_eq!((code, out.as_str()), (0, "{\"returned\":{\"ok\":true}}\n"));
    assert_eq!(read(&home, r#"["b.txt"]"#, docs).1, "{\"returned\":{\"content\":\"x\"}}\n");
}

#[test]
fn what_cannot_be_called_is_named() {
    let home = Home::new();
    let docs = &["baseDir=docs"];
    let args = r#"["a.txt"]"#;
    for ((code, out, error), exit, text) in [
        (read(&home, args, &["baseDir=docs", "maxFileSizeKb=x"]), 2, "host-module/config"),
        (read(&home, args, &[]), 2, "host-module/config"),
        (read(&home, args, &["baseDir=missing"]), 2, "host-module/base-dir"),
        (read(&home, "a.txt", docs), 2, "not a JSON array"),
        (call(&home, "builtin:fs-read", "fs-write.mkdir", "[]", docs), 2, "host-module/module"),
        (call(&home, "builtin:fs-read", "fs-read.mkdir", "[]", docs), 2, "host-module/function"),
        (call(&home, "builtin:fs-read", "readFile", "[]", docs), 2, "MODULE.FUNCTION"),
        (call(&home, "builtin:shell", "shell.run", "[]", docs), 2, "no such plugin with modules"),
    ] {
        assert_eq!((code, out.as_str()), (exit, ""), "{error}");
        assert!(error.contains(text), "{error}");
    }
    let (_, _, error) = read(&home, args, &["baseDir=docs", "maxFileSizeKb=x"]);
    assert!(error.contains("`maxFileSizeKb`: expected a number, got `x`"), "{error}");
}

#[test]
fn modules_are_listed() {
    let home = Home::new();
    home.write("docs/a.txt", "");
    let output = home.run(&["module", "list", "builtin:fs-write", "baseDir=docs"]);
    let functions = ["writeFile", "appendFile", "writeFileBinary", "appendFileBinary", "mkdir"];
    let expected = json!({
        "version": 1, "plugin": "builtin:fs-write", "modules": { "fs-write": functions }, "rejected": [],
    });
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap(), expected);
    assert_eq!(code(&output), 0);
}

#[test]
fn each_call_is_in_the_ledger() {
    let home = Home::new();
    let _result = read(&home, r#"["a.txt"]"#, &["baseDir=docs"]);
    let output = home.run(&["ledger", "show", "--format", "json"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for part in ["capability_minted", "builtin:fs-read", "register", "fs-read.readFile", "workflow_closed"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Without a ledger, nothing is called.
    let output = home
        .command(&["module", "call", "builtin:fs-write", "fs-write.mkdir", r#"["new"]"#, "baseDir=docs"])
        .env("PLUGWARD_STATE_DIR", "/dev/null/state")
        .output()
        .unwrap();
    assert_ne!(code(&output), 0);
    assert!(!home.path("docs/new").exists());
}

#[test]
fn functions_are_listed_without_a_directory() {
    let home = Home::new();
    let listed = |plugin: &str| {
        let output = home.run(&["module", "list", plugin]);
        assert_eq!(code(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
        let row: Value = serde_json::from_slice(&output.stdout).unwrap();
        row["modules"].as_object().unwrap().values().next().unwrap().clone()
    };
    assert!(listed("builtin:fs-read").as_array().unwrap().contains(&json!("readFile")));
    assert!(listed("builtin:fs-write").as_array().unwrap().contains(&json!("writeFile")));
}

#[test]
fn functions_are_listed_in_a_directory_of_another_user() {
    let home = Home::new();
    home.write("foreign/a.txt", "");
    // Only root can give a directory away, and others do not own `/`.
    let directory = home.path("foreign");
    let is_given = std::os::unix::fs::chown(&directory, Some(65_534), None).is_ok();
    let directory = if is_given { directory } else { "/".into() };
    let run = |args: &[&str]| {
        let output = home.command(&[&["module", "list"], args].concat()).current_dir(&directory).output();
        code(&output.unwrap())
    };
    assert_eq!(run(&["builtin:fs-read"]), 0);
    assert_eq!(run(&["builtin:fs-write", "maxEntries=5"]), 0);
    assert_eq!(run(&["builtin:fs-read", "maxFileSizeKb=x"]), 2, "settings are checked");
    assert_eq!(run(&["builtin:fs-read", "baseDir=."]), 2, "a given directory is opened");
}
