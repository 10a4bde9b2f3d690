//! The SARIF logs of plugward and of the fence, next to the schema that OASIS published.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test starts programs and reads the project's own files"
)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set up must stop")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use jsonschema::Validator;
use plugward_fence::{Streams, command};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn schema() -> Validator {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sarif-2.1.0-rtm.5.json");
    let mut schema: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    // The schema's pattern for `language` is not a valid Unicode regex. The logs have no such key.
    for place in ["run", "toolComponent"] {
        let language = schema.pointer_mut(&format!("/definitions/{place}/properties/language")).unwrap();
        assert!(language.as_object_mut().unwrap().remove("pattern").is_some());
    }
    jsonschema::validator_for(&schema).unwrap()
}

fn faults(log: &Value) -> Vec<String> {
    let name = |error: jsonschema::ValidationError<'_>| format!("{error} at {}", error.instance_path());
    schema().iter_errors(log).map(name).collect()
}

/// Runs plugward on some directories of this repository.
fn plugward(arguments: &[&str]) -> Value {
    let stores = tempfile::tempdir().unwrap();
    let test = std::env::current_exe().unwrap();
    let built = test.parent().unwrap().parent().unwrap().join("plugward");
    // `cargo test --workspace` has built it. Building it for this package alone would repeat that with other features.
    let mut command = if built.exists() {
        Command::new(built)
    } else {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["run", "--quiet", "--locked", "-p", "plugward", "--"]);
        cargo
    };
    command.args(arguments).current_dir(root()).env("PLUGWARD_CONFIG_DIR", stores.path().join("config"));
    let output = command.env("PLUGWARD_STATE_DIR", stores.path().join("state")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

#[test]
fn logs_of_plugward_hold_to_the_schema() {
    for verb in ["check", "scan"] {
        for plugins in ["fixtures/attacks", "examples/plugins"] {
            let log = plugward(&[verb, "--format", "sarif", plugins]);
            assert!(!log["runs"][0]["results"].as_array().unwrap().is_empty(), "{verb} {plugins}");
            assert_eq!(faults(&log), Vec::<String>::new(), "{verb} {plugins}");
        }
    }
}

#[test]
fn a_log_with_a_wrong_level_does_not() {
    let mut log = plugward(&["scan", "--format", "sarif", "examples/plugins"]);
    log["runs"][0]["results"][0]["level"] = "danger".into();
    assert!(!faults(&log).is_empty());
}

/// Writes a workspace with a capability crate and an application, and returns the log of the fence.
fn fence(app: &str, more: &str) -> Value {
    let dir = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let package = |name: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\nlints.workspace = true\n"
        )
    };
    let root = "[workspace]\nresolver = \"3\"\nmembers = [\"caps\", \"app\"]\n\
        [workspace.lints.rust]\nunsafe_code = \"forbid\"\n\
        [workspace.metadata.plugward-fence]\ncapability-crates = [\"caps\"]\n";
    put("Cargo.toml", &format!("{root}{more}"));
    put("caps/Cargo.toml", &package("caps"));
    put("caps/src/lib.rs", "pub struct NetCapability { host: String }\n");
    put("app/Cargo.toml", &format!("{}[dependencies]\ncaps = {{ path = \"../caps\" }}\n", package("app")));
    put("app/src/main.rs", app);
    put("app/src/a b%\u{e9}.rs", "fn f() { let _x = caps::NetCapability { host: x() }; }\n");
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = Streams { out: &mut out, err: &mut err, today: "2026-11-21".to_owned() };
    let arguments = ["plugward-fence", "--format", "sarif", "--manifest-path"].map(Into::into);
    command([&arguments[..], &[dir.path().as_os_str().to_owned()]].concat(), &mut streams);
    serde_json::from_slice(&out).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&err)))
}

#[test]
fn logs_of_the_fence_hold_to_the_schema() {
    // Findings with and without a type, one in a file with an odd name, one in a manifest, and one undecided.
    let app = "#[path = \"a b%\u{e9}.rs\"]\nmod part;\nfn main() {\n    let _x = caps::NetCapability { host: x() };\n}\n\
        struct OwnCapability;\ninclude!(\"no such file.rs\");\n";
    let log = fence(app, "min-files = 99\n[patch.crates-io]\ncaps = { path = \"caps\" }\n");
    assert!(log["runs"][0]["results"].as_array().unwrap().len() >= 4, "{log}");
    assert_eq!(faults(&log), Vec::<String>::new());
    assert_eq!(faults(&fence("fn main() {}\n", "")), Vec::<String>::new());
}
