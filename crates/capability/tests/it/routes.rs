//! Ways to create a capability that the compiler rejects, each with its error, and next to a twin that
//! differs in one line and compiles.
#![expect(clippy::disallowed_methods, reason = "the test writes a small project and runs cargo on it")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The name, the compiler's error, the rejected line, and the line of the twin.
const ROUTES: &[(&str, &str, &str, &str)] = &[
    ("literal", "E0451", "let c = EnvReadCapability { scope: env(), grant: todo!() };", "let c = made();"),
    ("update", "E0451", "let c = EnvReadCapability { scope: env(), ..made() };", "let c = made();"),
    ("pattern", "E0451", "let EnvReadCapability { grant, .. } = made();", "let grant = made().key();"),
    ("field", "E0616", "let c = made().grant;", "let c = made().key();"),
    ("field_write", "E0616", "let mut c = made(); c.scope = env();", "let mut c = made(); c = made();"),
    ("clone", "E0599", "let c = made().clone();", "let c = made();"),
    ("copy", "E0382", "let c = made(); take(c); take(c);", "let c = made(); take(c); take(made());"),
    ("default", "E0599", "let c = EnvReadCapability::default();", "let c = made();"),
    (
        "from",
        "E0277",
        "let c: EnvReadCapability = env().into();",
        "let c: EnvReadCapability = made().into();",
    ),
    (
        "from_str",
        "E0277",
        "let c = \"PATH\".parse::<EnvReadCapability>();",
        "let c = \"PATH\".parse::<PluginName>();",
    ),
    (
        "deserialize",
        "E0277",
        "let c = serde_json::from_str::<EnvReadCapability>(\"{}\");",
        "let c = serde_json::from_str::<bool>(\"{}\");",
    ),
    ("new", "E0599", "let c = EnvReadCapability::new(env());", "let c = made();"),
    (
        "foreign_capability",
        "E0277",
        "struct Mine; fn f() where Mine: Capability {}",
        "struct Mine; fn f() where EnvReadCapability: Capability {}",
    ),
    (
        "foreign_scope",
        "E0277",
        "struct Mine; impl Scope for Mine { type Capability = EnvReadCapability; }",
        "struct Mine; impl Clone for Mine { fn clone(&self) -> Self { Mine } }",
    ),
    (
        "foreign_op",
        "E0277",
        "#[derive(Debug)] struct Push; impl Operation for Push { fn name(&self) -> &'static str { \"push\" } fn detail(&self) -> String { String::new() } }",
        "#[derive(Debug)] struct Push; impl Push { fn name(&self) -> &'static str { \"push\" } fn detail(&self) -> String { String::new() } }",
    ),
    ("grant_name", "E0432", "use plugward_capability::Grant;", "use plugward_capability::GrantKey;"),
    (
        "grant_module",
        "E0603",
        "use plugward_capability::mint::Grant;",
        "use plugward_capability::Mint as Grant;",
    ),
    (
        "sealed_module",
        "E0603",
        "use plugward_capability::kinds::kind::sealed::Build;",
        "use plugward_capability::Scope as Build;",
    ),
    (
        "build_default",
        "E0277",
        "fn f<S: Scope>(s: S) -> S::Capability { s.build(Default::default()) }",
        "fn f<S: Scope>(s: S) -> plugward_ledger::RecordValue { s.to_value() }",
    ),
    (
        "build_borrowed",
        "E0507",
        "fn f<C: Capability, S: Scope<Capability = C>>(c: &C, s: S) -> C { s.build(*c.grant()) }",
        "fn f<C: Capability, S: Scope<Capability = C>>(c: &C, s: S) -> GrantKey { c.key() }",
    ),
    (
        "bundle",
        "E0451",
        "let b = CapabilityBundle { members: Vec::new() };",
        "let b: Option<CapabilityBundle> = None;",
    ),
    (
        "workflow",
        "E0451",
        "let w = Workflow { id: WorkflowId::new(\"w\").unwrap(), ledger: plugward_ledger::LedgerId::from_bytes([0; 16]), opened: 0 };",
        "let w = workflow(&trail());",
    ),
    (
        "workflow_clone",
        "E0599",
        "let w = workflow(&trail()).clone();",
        "let w = workflow(&trail()).id().clone();",
    ),
    (
        "guard",
        "E0451",
        "fn f(t: &Trail) -> UseGuard<'_> { UseGuard { trail: t, key: todo!(), op: \"\", detail: String::new(), begun: 0, since: todo!(), ended: todo!() } }",
        "fn f(t: &Trail) -> &Trail { t }",
    ),
    (
        "guard_twice",
        "E0382",
        "fn f(g: UseGuard<'_>) { g.end(UseOutcome::Ok, None).unwrap(); g.end(UseOutcome::Ok, None).unwrap(); }",
        "fn f(g: UseGuard<'_>) { g.end(UseOutcome::Ok, None).unwrap(); }",
    ),
    (
        "git_command",
        "E0451",
        "let c = GitCommand { argv: vec![\"git\".to_owned(), \"push\".to_owned()] };",
        "let c: Option<GitCommand> = None;",
    ),
    (
        "git_command_without_use",
        "E0061",
        "fn f(c: &GitLocalOpsCapability, p: &ScopeDirectory) { c.command(&GitOp::Status, p, \".\").unwrap(); }",
        "fn f(c: &GitLocalOpsCapability, p: &ScopeDirectory, g: &UseGuard<'_>) { c.command(&GitOp::Status, g, p, \".\").unwrap(); }",
    ),
    (
        "other_operation",
        "E0308",
        "let t = trail(); t.try_use(&made(), GitOp::Status);",
        "let t = trail(); t.try_use(&made(), EnvOp::ReadVar { name: \"PATH\" });",
    ),
    ("for_tests", "E0425", "let c = plugward_capability::for_tests(env());", "let c = made();"),
    (
        "trail_for_tests",
        "E0599",
        "fn f(l: plugward_ledger::Ledger) { Trail::for_tests(l, rules()); }",
        "fn f(l: plugward_ledger::Ledger) { Trail::open(l, rules()); }",
    ),
    ("push", "E0599", "let op = GitOp::Push;", "let op = GitOp::Status;"),
    ("fetch", "E0599", "let op = GitOp::Fetch;", "let op = GitOp::Status;"),
    ("pull", "E0599", "let op = GitOp::Pull;", "let op = GitOp::Status;"),
    ("clone_repo", "E0599", "let op = GitOp::Clone;", "let op = GitOp::Status;"),
    ("remote", "E0599", "let op = GitOp::Remote;", "let op = GitOp::Status;"),
    ("submodule", "E0599", "let op = GitOp::Submodule;", "let op = GitOp::Status;"),
    ("config", "E0599", "let op = GitOp::Config;", "let op = GitOp::Status;"),
    (
        "send",
        "E0277",
        "fn s<T: Send + Sync>() {} s::<(EnvReadCapability, std::rc::Rc<u8>)>();",
        "fn s<T: Send + Sync>() {} s::<(EnvReadCapability, LlmAccessCapability, CapabilityBundle)>();",
    ),
];

/// Methods that none of the nine has, by the line that would need it.
const TRAITS: &[&str] =
    &["Clone", "Copy", "Default", "std::str::FromStr", "for<'de> serde::Deserialize<'de>", "PartialEq"];
const TYPES: &[&str] = &[
    "NpmInstallCapability",
    "FsReadWriteCapability",
    "GitLocalOpsCapability",
    "NetConnectCapability",
    "ProcessSpawnCapability",
    "EnvReadCapability",
    "HostModuleCapability",
    "HookRawOutputCapability",
    "LlmAccessCapability",
];

const HEAD: &str = r#"#![allow(unused)]
use plugward_capability::*;
fn rules() -> TrailRules { TrailRules { scrub: Box::new(NoScrub) } }
fn trail() -> Trail { todo!() }
fn workflow(t: &Trail) -> Workflow { t.open_workflow(WorkflowId::new("w").unwrap(), &Budgets::otherwise(BudgetLimit::NONE)).unwrap() }
fn env() -> EnvScope { EnvScope::new(&["PATH"]).unwrap() }
fn made() -> EnvReadCapability {
    let t = trail();
    let w = workflow(&t);
    let m = Mint::new(t, MintRules { raw_with_network: RawWithNetwork::Refuse });
    let r = Request { plugin: PluginName::new("p").unwrap(), workflow: &w, scope: env(), lifetime: Lifetime::Workflow };
    match m.mint(r).unwrap() { MintCheck::Minted(c) => c, MintCheck::Refused(_) => todo!() }
}
fn take(c: EnvReadCapability) {}
"#;

/// The compiler works in phases and reports the errors of the first that fails, so routes of one phase share
/// a program.
fn phase(code: &str) -> &'static str {
    match code {
        "E0432" | "E0603" | "E0425" => "names",
        "E0382" | "E0507" => "moves",
        "E0451" => "fields",
        _ => "types",
    }
}

/// One function per line, so that the line number identifies the route.
fn program(lines: impl Iterator<Item = String>) -> String {
    let mut text = format!("{HEAD}fn main() {{}}\n");
    for (number, line) in lines.enumerate() {
        writeln!(text, "fn route_{number}() {{ {line} }}").unwrap();
    }
    text
}

fn line_of(number: usize) -> u64 {
    (HEAD.lines().count() + number + 2) as u64
}

#[test]
fn the_compiler_stops_every_route_and_takes_its_twin() {
    let mut bad: BTreeMap<&str, Vec<(String, &str, String)>> = BTreeMap::new();
    let mut good = Vec::new();
    for (name, code, stopped, twin) in ROUTES {
        assert_ne!(stopped, twin, "{name}");
        bad.entry(phase(code)).or_default().push(((*name).to_owned(), code, (*stopped).to_owned()));
        good.push((*twin).to_owned());
    }
    for bound in TRAITS {
        for name in TYPES {
            let line = |of: &str| format!("fn has<T>() where T: {bound} {{}} has::<{of}>();");
            bad.entry("types").or_default().push((format!("{bound} for {name}"), "E0277", line(name)));
            good.push(line("u8"));
        }
    }
    let mut sources = BTreeMap::from([("good".to_owned(), program(good.into_iter()))]);
    for (phase, routes) in &bad {
        sources.insert(format!("bad_{phase}"), program(routes.iter().map(|(_, _, line)| line.clone())));
    }
    let directory =
        tempfile::Builder::new().prefix("routes").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let found = check(directory.path(), &sources);
    assert_eq!(found.get("good"), None, "every twin compiles");
    for (phase, routes) in &bad {
        let errors = found.get(&format!("bad_{phase}")).cloned().unwrap_or_default();
        for (number, (name, code, line)) in routes.iter().enumerate() {
            let here: BTreeSet<_> = errors
                .iter()
                .filter(|(_, at)| *at == line_of(number))
                .map(|(code, _)| code.as_str())
                .collect();
            assert_eq!(here, BTreeSet::from([*code]), "{name}: {line}");
        }
        // There is no error anywhere else.
        let last = line_of(routes.len());
        assert!(errors.iter().all(|(_, at)| (line_of(0)..last).contains(at)), "{errors:?}");
    }
}

/// Writes one program for each source and checks them all with cargo. Returns the errors of each with their
/// lines.
fn check(directory: &Path, sources: &BTreeMap<String, String>) -> BTreeMap<String, Vec<(String, u64)>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = format!(
        "[package]\nname = \"routes\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
         plugward-capability = {{ path = '{}' }}\nplugward-ledger = {{ path = '{}' }}\nserde_json = \"1\"\nserde = \"1\"\n",
        here.display(),
        here.parent().unwrap().join("ledger").display(),
    );
    fs::create_dir_all(directory.join("src/bin")).unwrap();
    fs::write(directory.join("Cargo.toml"), manifest).unwrap();
    fs::copy(here.parent().unwrap().parent().unwrap().join("Cargo.lock"), directory.join("Cargo.lock"))
        .unwrap();
    for (name, text) in sources {
        fs::write(directory.join(format!("src/bin/{name}.rs")), text).unwrap();
    }
    // A target directory that is kept between runs, so that dependencies are checked once.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("routes-target");
    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--quiet", "--keep-going", "--bins", "--message-format=json"])
        .current_dir(directory)
        .env("CARGO_TARGET_DIR", target)
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let mut found: BTreeMap<String, Vec<(String, u64)>> = BTreeMap::new();
    let mut checked = BTreeSet::new();
    for line in text.lines() {
        let message: serde_json::Value = serde_json::from_str(line).unwrap();
        let Some(name) = message["target"]["name"].as_str().map(str::to_owned) else { continue };
        checked.insert(name.clone());
        let inner = &message["message"];
        if inner["level"] == "error" && inner["code"].is_object() {
            let spans = inner["spans"].as_array().unwrap();
            let line = spans
                .iter()
                .find(|span| span["is_primary"] == true)
                .and_then(|span| span["line_start"].as_u64());
            found
                .entry(name)
                .or_default()
                .push((inner["code"]["code"].as_str().unwrap().to_owned(), line.unwrap_or(0)));
        }
    }
    // A program that cargo did not check proves nothing.
    for name in sources.keys() {
        assert!(
            checked.contains(name),
            "{name} was not checked: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    found
}
