//! The promises of HyperAgent that do not need a command line, one test each.

use std::path::Path;
use std::time::Duration;

use plugward_host_modules::lifecycle::Schema;
use plugward_host_modules::{
    CallResult, ConfigError, FsReadConfig, FsWriteConfig, FunctionName, GuestLimits, ModuleConfig, Modules,
    PluginLimits, RejectReason, RunningPlugin, bytes_value, register,
};
use serde_json::{Value, json};

use crate::node::{guest, node, plugin};
use crate::{Echo, Files, declared, error, thrown, trail, value};

/// The first node that runs the guest and plugins in JavaScript.
const ANY: (u32, u32) = (20, 0);
/// The first node that strips types and has hooks for imports.
const TYPES: (u32, u32) = (22, 18);

fn run(node: &str, source: &str) -> CallResult {
    let mut files = Files::new();
    files.put("a.txt", "hello\n");
    let directory = files.directory;
    files.directory = tempfile::tempdir().unwrap();
    let (trail, declared) = (trail(), declared(&["fs-read", "echo"]));
    let mut modules = Modules::default();
    let offered = vec![files.read, Echo::boxed("echo")];
    let _done = register("p", &declared, offered, &mut modules, &trail).unwrap();
    let result = guest(node, source, &mut modules, GuestLimits::usual()).unwrap();
    drop(directory);
    result
}

fn start(node: &str, directory: &Path, source: &str) -> RunningPlugin {
    std::fs::write(directory.join("index.mjs"), source).unwrap();
    plugin(node, directory, "./index.mjs", json!({ "limit": 5 }), PluginLimits::usual()).unwrap()
}

/// Starts a plugin, and calls `m.f` with arguments.
fn call(node: &str, body: &str, args: &[Value]) -> CallResult {
    let directory = tempfile::tempdir().unwrap();
    let source = format!("export const createHostFunctions = (config) => ({{ m: {{ f: {body} }} }});");
    let mut running = start(node, directory.path(), &source);
    let function = running.modules[0].functions()[0].clone();
    running.modules[0].call(&function, args)
}

#[test]
fn hyperagent_require_loads_a_declared_module() {
    let Some(node) = node(ANY) else { return };
    let result = run(&node, r#"return require("host:fs-read").readFile("a.txt").content"#);
    assert_eq!(result, CallResult::Returned(json!("hello\n")));
    for other in ["host:fs-write", "fs", "host:", "./a.js", "host:__proto__"] {
        let result = run(&node, &format!("return require({other:?})"));
        assert_eq!(result, CallResult::Thrown(thrown("Error", &format!("no such module: {other}"))));
    }
    let frozen =
        r#"const m = require("host:fs-read"); m.stat = 1; return [typeof m.stat, Object.isFrozen(m)]"#;
    assert_eq!(run(&node, frozen), CallResult::Returned(json!(["function", true])));
}

#[test]
fn hyperagent_plugin_has_no_registrar() {
    let Some(node) = node(ANY) else { return };
    let directory = tempfile::tempdir().unwrap();
    let source = "export function createHostFunctions(...args) { return { m: { f: () => args } }; }";
    let mut running = start(&node, directory.path(), source);
    let function = running.modules[0].functions()[0].clone();
    let result = running.modules[0].call(&function, &[]);
    assert_eq!(result, CallResult::Returned(json!([{ "limit": 5 }])), "the configuration and nothing else");
    assert!(running.end().is_ok());
}

#[test]
fn hyperagent_undeclared_module_is_rejected() {
    let (trail, declared) = (trail(), declared(&["echo"]));
    let mut modules = Modules::default();
    let offered = vec![Echo::boxed("other"), Echo::boxed("echo")];
    let done = register("p", &declared, offered, &mut modules, &trail).unwrap();
    assert_eq!(done.registered.iter().map(ToString::to_string).collect::<Vec<_>>(), ["echo"]);
    assert_eq!((done.rejected[0].module.as_str(), done.rejected[0].why), ("other", RejectReason::Undeclared));
    assert!(modules.call("echo", "echo", &[]).is_ok(), "the other module stays");
    assert!(modules.call("other", "echo", &[]).is_err());
}

#[test]
fn hyperagent_defaults_and_overrides() {
    let text = r#"{"dir": {"type": "string"}, "limit": {"type": "number", "default": 5},
        "hosts": {"type": "array", "items": {"type": "string"}}, "post": {"type": "boolean", "default": false}}"#;
    let schema = Schema::from_manifest(text, &[]).unwrap();
    let values = |args: &[&str]| {
        let config = ModuleConfig::resolve(&schema, args);
        config.map(|config| Value::from(config.values().clone()))
    };
    assert_eq!(values(&[]).unwrap(), json!({ "limit": 5.0, "post": false }));
    let all = values(&["limit=7", "dir=/srv", "hosts=a.example,b.example", "post=yes"]).unwrap();
    let expected = json!({ "dir": "/srv", "limit": 7.0, "hosts": ["a.example", "b.example"], "post": true });
    assert_eq!(all, expected);
    let error = values(&["limit=x", "lmit=1", "post"]).unwrap_err();
    assert_eq!((error.code(), error.help().is_empty()), ("host-module/config", false));
    let text = "`limit`: expected a number, got `x`; `lmit`: the plugin does not have this setting, got `1`; did you \
                mean `limit`?; `post`: expected `=` and a value";
    assert_eq!(error.to_string(), text);
}

#[test]
fn hyperagent_limits_are_the_plugins() {
    for (args, ok) in [
        (["maxReadChunkKb=64"], true),
        (["maxReadChunkKb=63"], false),
        (["maxListResults=9"], false),
        (["maxFileSizeKb=-1"], false),
        (["maxFileSizeKb=x"], false),
        (["allowWrite=yes"], false),
    ] {
        let result = FsReadConfig::from_args(&args);
        assert_eq!(result.as_ref().err().map(ConfigError::code), (!ok).then_some("host-module/config"));
    }
    let base = format!("baseDir={}", "a".repeat(4097));
    assert!(FsReadConfig::from_args(&[&base]).is_err());
    assert!(FsReadConfig::from_args(&[&base[..4104]]).is_ok());
    let text = FsWriteConfig::from_args(&["maxWriteChunkKb=63"]).unwrap_err().to_string();
    assert_eq!(text, "`maxWriteChunkKb`: expected a number of at least 64, got `63`");
    assert!(FsWriteConfig::from_args(&["maxWriteChunkKb=64", "maxEntries=0"]).is_ok());
}

#[test]
fn hyperagent_values_round_trip() {
    let Some(node) = node(ANY) else { return };
    let values = [
        json!("text\u{2028}\u{1f600}\n\"\\"),
        json!({ "a": [1, -2.5, null, true, { "b": "" }], "__proto__": 1 }),
        bytes_value(&[0, 0xff, b'\n']),
        json!({ "inner": bytes_value(b"hi"), "$bytes": 1 }),
        json!([]),
    ];
    for sent in &values[..3] {
        assert_eq!(call(&node, "(x) => x", std::slice::from_ref(sent)), CallResult::Returned(sent.clone()));
    }
    assert_eq!(call(&node, "(x) => x.length", &[bytes_value(b"abc")]), CallResult::Returned(json!(3)));
    let buffer = call(&node, "() => [Buffer.from('hi'), new Uint16Array([1])]", &[]);
    assert_eq!(buffer, CallResult::Returned(json!([bytes_value(b"hi"), bytes_value(&[1, 0])])));
    assert_eq!(call(&node, "() => undefined", &[]), CallResult::Returned(Value::Null));
    assert_eq!(call(&node, "async () => 7", &[]), CallResult::Returned(json!(7)));
    let reserved = thrown("TypeError", "`$bytes` is reserved for bytes");
    assert_eq!(call(&node, "(x) => x", &values[3..4]), CallResult::Thrown(reserved));
    for (body, name, message) in [
        ("() => { throw new RangeError('no') }", "RangeError", "no"),
        ("() => { throw 'text' }", "text", "text"),
        ("() => { throw { get name() { throw 1 }, message: 'm' } }", "unknown", "m"),
        ("() => 'a'.repeat(1 << 20)", "RangeError", "the message has more than 1 MiB"),
        ("() => Promise.reject(new Error('late'))", "Error", "late"),
        ("() => 10n", "TypeError", "Do not know how to serialize a BigInt"),
    ] {
        assert_eq!(call(&node, body, &[]), CallResult::Thrown(thrown(name, message)), "{body}");
    }
    // The console and the standard output of a plugin do not reach the lines.
    let loud = "() => { console.log('x'); process.stdout.write('y'); return 1 }";
    assert_eq!(call(&node, loud, &[]), CallResult::Returned(json!(1)));
    let guest = r#"const { echo, fail } = require("host:echo");
        let caught; try { fail() } catch (error) { caught = [error.name, error.message, error instanceof Error] }
        return [echo(new Uint8Array([1]), { a: "\u2028" }), caught]"#;
    let echoed = json!([[bytes_value(&[1]), { "a": "\u{2028}" }], ["TypeError", "no", true]]);
    assert_eq!(run(&node, guest), CallResult::Returned(echoed));
}

#[test]
fn hyperagent_guest_is_a_function_body() {
    let Some(node) = node(ANY) else { return };
    assert_eq!(run(&node, "const a = 1;\nreturn a + 1"), CallResult::Returned(json!(2)));
    assert_eq!(run(&node, "require;"), CallResult::Returned(Value::Null));
    assert_eq!(run(&node, "return Promise.resolve(3)"), CallResult::Returned(json!(3)));
    assert_eq!(run(&node, "throw new TypeError('x')"), CallResult::Thrown(thrown("TypeError", "x")));
    let CallResult::Thrown(error) = run(&node, "return (") else { panic!() };
    assert_eq!(error.name, "SyntaxError");
    // It ends although a timer is open, and is ended if it does not call or end.
    assert_eq!(run(&node, "setInterval(() => {}, 1000); return 1"), CallResult::Returned(json!(1)));
    let limits = GuestLimits { idle: Duration::from_millis(1500), ..GuestLimits::usual() };
    let fault = guest(&node, "for (;;);", &mut Modules::default(), limits).unwrap_err();
    assert_eq!(fault.code(), "host-module/timeout");
    let talk = "console.log('hi'); return '\u{1f600}'.slice(0, 1)";
    let result = guest(&node, talk, &mut Modules::default(), GuestLimits::usual()).unwrap();
    assert_eq!(result, CallResult::Returned(json!("\u{fffd}")), "the console is apart, and text is text");
    let fault = guest(&node, "process.exit(0)", &mut Modules::default(), limits).unwrap_err();
    assert_eq!(fault.code(), "host-module/ended");
}

#[test]
fn hyperagent_members_that_are_not_functions_are_named() {
    let Some(node) = node(ANY) else { return };
    let directory = tempfile::tempdir().unwrap();
    let source = "export const SCHEMA = { limit: { type: 'number' } };
        export const createHostFunctions = async () => ({
            a: { f: () => 1, version: '1', get bad() { throw new Error('getter') } }, b: null, c: 'text',
        });";
    let mut running = start(&node, directory.path(), source);
    assert_eq!(running.skipped, ["a.version", "a.bad", "c.0", "c.1", "c.2", "c.3"]);
    assert_eq!(running.schema, json!({ "limit": { "type": "number" } }));
    let function = running.modules[0].functions()[0].clone();
    assert_eq!(value(running.modules[0].call(&function, &[])), json!(1), "the rest works");
    std::fs::write(directory.path().join("bad.mjs"), "throw new TypeError('at load')").unwrap();
    let fault = plugin(&node, directory.path(), "./bad.mjs", json!({}), PluginLimits::usual()).unwrap_err();
    assert_eq!(fault.to_string(), "the plugin threw TypeError: at load");
    let never = PluginLimits { call: Duration::from_secs(2), ..PluginLimits::usual() };
    // Node ends if nothing can settle a promise; a timer keeps it running.
    for (before, code) in [("", "host-module/ended"), ("setInterval(() => {}, 1e6);", "host-module/timeout")]
    {
        let source = format!(
            "{before} export const createHostFunctions = () => ({{ m: {{ f: () => new Promise(() => {{}}) }} }});"
        );
        std::fs::write(directory.path().join("never.mjs"), source).unwrap();
        let mut running = plugin(&node, directory.path(), "./never.mjs", json!({}), never).unwrap();
        let function = running.modules[0].functions()[0].clone();
        let message = format!("the plugin of the module failed: {code}");
        assert_eq!(running.modules[0].call(&function, &[]), CallResult::Thrown(thrown("Error", &message)));
    }
}

#[test]
fn hyperagent_shared_typescript_runs() {
    let Some(node) = node(TYPES) else { return };
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::create_dir(at("shared")).unwrap();
    std::fs::create_dir(at("p")).unwrap();
    // The import names the file that a build would make.
    let entry = "import { twice } from '../shared/twice.js';
        export function createHostFunctions(config: { limit: number }) { return { m: { f: () => twice(config.limit) } } }";
    std::fs::write(at("p/index.ts"), entry).unwrap();
    std::fs::write(at("shared/twice.ts"), "export const twice = (n: number): number => 2 * n;").unwrap();
    let start =
        || plugin(&node, directory.path(), "./p/index.ts", json!({ "limit": 4 }), PluginLimits::usual());
    let mut running = start().unwrap();
    let function = running.modules[0].functions()[0].clone();
    assert_eq!(value(running.modules[0].call(&function, &[])), json!(8));
    std::fs::remove_file(at("shared/twice.ts")).unwrap();
    assert_eq!(start().unwrap_err().code(), "host-module/factory", "a missing file stays an error");
}

#[test]
fn hyperagent_no_build_step() {
    let Some(node) = node(TYPES) else { return };
    let directory = tempfile::tempdir().unwrap();
    let source = "interface Config { limit: number }
        export const createHostFunctions = (config: Config) => ({ m: { f: (): number => config.limit as number } });";
    std::fs::write(directory.path().join("index.ts"), source).unwrap();
    let running = plugin(&node, directory.path(), "./index.ts", json!({ "limit": 4 }), PluginLimits::usual());
    assert_eq!(running.unwrap().modules[0].name().as_str(), "m");
}

#[test]
fn hyperagent_fs_read_is_jailed() {
    let mut files = Files::new();
    std::os::unix::fs::symlink("/etc/passwd", files.directory.path().join("link")).unwrap();
    let denied = |text: &str| error(&format!("Access denied: {text}"));
    let outside = denied("path is outside allowed directory");
    assert_eq!(files.call("readFile", json!(["../x"])), outside);
    assert_eq!(files.call("readFile", json!(["/etc/passwd"])), outside);
    assert_eq!(files.call("readFile", json!(["link"])), denied("symlinks are not permitted"));
    assert_eq!(files.call("readFile", json!([".env"])), denied("dotfile access is not permitted"));
    files.put("a.txt", "hello\n");
    assert_eq!(files.call("readFile", json!(["a.txt"])), json!({ "content": "hello\n" }));
}

#[test]
fn hyperagent_fs_write_is_jailed() {
    let mut files = Files::new();
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), files.directory.path().join("link")).unwrap();
    let denied = |text: &str| error(&format!("Access denied: {text}"));
    for function in ["writeFile", "appendFile", "mkdir"] {
        let answer = files.call(function, json!(["../x", "data"]));
        assert_eq!(answer, denied("path is outside allowed directory"));
        let answer = files.call(function, json!(["link/x", "data"]));
        assert_eq!(answer, denied("symlinks are not permitted"));
        let answer = files.call(function, json!([".x", "data"]));
        assert_eq!(answer, denied("dotfile access is not permitted"));
        assert_eq!(files.call(function, json!([function, "data"])), json!({ "ok": true }));
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn hyperagent_deep_values_are_errors() {
    let Some(node) = node((20, 11)) else { return };
    let nest = |levels: usize| format!("let v = 1; for (let i = 0; i < {levels}; i++) v = [v]; return v;");
    let directory = tempfile::tempdir().unwrap();
    let source = format!(
        "export function createHostFunctions() {{ return {{ a: {{ flat: () => 1, most: () => {{ {} }}, deep: () => {{ {} }} }} }}; }}",
        nest(127),
        nest(128)
    );
    let mut running = start(&node, directory.path(), &source);
    let module = &mut running.modules[0];
    let mut call = |name: &str| module.call(&FunctionName::new(name).unwrap(), &[]);
    let CallResult::Thrown(error) = call("deep") else { panic!("deeper than the lines can be") };
    assert_eq!(error, thrown("RangeError", "the value is nested more than 128 levels deep"));
    assert!(matches!(call("most"), CallResult::Returned(_)));
    assert_eq!(call("flat"), CallResult::Returned(json!(1)), "the plugin can still be used");
}
