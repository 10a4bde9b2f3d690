//! The commands of a git capability, run with the real git.
#![expect(
    clippy::disallowed_methods,
    reason = "the test runs git and plays the owner of a hostile repository"
)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use plugward_capability::{GitCommand, GitLocalOpsCapability, GitOp, GitScope, ScopeDirectory, UseOutcome};

use super::{World, using};

fn place() -> ScopeDirectory {
    ScopeDirectory::new("site", "1:2").unwrap()
}

fn git(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new("git");
    command.current_dir(directory).args(arguments);
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.output().unwrap()
}

fn run(command: &GitCommand) -> Output {
    let (program, arguments) = command.argv().split_first().unwrap();
    let mut process = Command::new(program);
    process.args(arguments);
    for (name, value) in GitCommand::ENV {
        process.env(name, value);
    }
    for name in GitCommand::ENV_REMOVED {
        process.env_remove(name);
    }
    process.output().unwrap()
}

/// A repository whose config and hooks start programs that leave a trace.
fn hostile() -> Option<tempfile::TempDir> {
    if Command::new("git").arg("--version").output().is_err() {
        println!("skipped: there is no git");
        return None;
    }
    let directory = tempfile::tempdir().unwrap();
    let repo = directory.path();
    git(repo, &["init", "--quiet", "--initial-branch=main"]);
    for (name, value) in [("user.name", "t"), ("user.email", "t@example.org")] {
        git(repo, &["config", name, value]);
    }
    fs::write(repo.join("a.txt"), "one\n").unwrap();
    fs::write(repo.join(".gitattributes"), "*.txt diff=planted\n").unwrap();
    git(repo, &["add", "."]);
    git(repo, &["commit", "--quiet", "-m", "first"]);
    let plant = |name: &str| {
        let file = repo.join(".git").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, format!("#!/bin/sh\necho {name} >> {}\ncat\n", repo.join(".git/trace").display()))
            .unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
        file.display().to_string()
    };
    for hook in [
        "pre-commit",
        "commit-msg",
        "post-commit",
        "post-checkout",
        "prepare-commit-msg",
        "post-index-change",
        "reference-transaction",
    ] {
        plant(&format!("hooks/{hook}"));
    }
    for (key, name) in [
        ("core.fsmonitor", "fsmonitor"),
        ("core.pager", "pager"),
        ("pager.log", "pager-log"),
        ("diff.external", "external-diff"),
        ("diff.planted.command", "diff-command"),
        ("diff.planted.textconv", "textconv"),
        ("core.editor", "editor"),
        ("gpg.program", "gpg"),
        ("core.sshCommand", "ssh"),
        ("credential.helper", "credential"),
    ] {
        let program = plant(&format!("planted/{name}"));
        git(repo, &["config", key, &program]);
    }
    for (key, value) in
        [("commit.gpgSign", "true"), ("log.showSignature", "true"), ("submodule.recurse", "true")]
    {
        git(repo, &["config", key, value]);
    }
    if repo.join(".git/trace").exists() {
        fs::remove_file(repo.join(".git/trace")).unwrap();
    }
    Some(directory)
}

fn command(world: &World, capability: &GitLocalOpsCapability, op: GitOp<'_>, repo: &Path) -> GitCommand {
    let guard = using(&world.trail, capability, op).unwrap();
    let command = capability.command(&op, &guard, &place(), repo.to_str().unwrap()).unwrap();
    guard.end(UseOutcome::Ok, None).unwrap();
    command
}

#[test]
fn no_program_of_the_repository_runs() {
    let Some(directory) = hostile() else { return };
    let repo = directory.path();
    let trace = repo.join(".git/trace");
    // The planted programs work: git without these settings runs some of them.
    fs::write(repo.join("a.txt"), "two\n").unwrap();
    git(repo, &["status"]);
    git(repo, &["diff"]);
    let alive = fs::read_to_string(&trace).unwrap();
    assert!(alive.contains("fsmonitor") && alive.contains("diff-command"), "{alive}");
    fs::remove_file(&trace).unwrap();

    let world = World::new();
    let workflow = world.free();
    let capability = world.ask(&workflow, "acme", GitScope::new(place(), "plugins/acme/").unwrap()).unwrap();
    let branch = "plugins/acme/fix";
    for op in [
        GitOp::Status,
        GitOp::Diff { paths: &[] },
        GitOp::Diff { paths: &["a.txt"] },
        GitOp::Log { count: 5 },
        GitOp::Show { revision: "HEAD" },
        GitOp::CreateBranch { name: branch },
        GitOp::Switch { name: branch },
        GitOp::Add { paths: &["a.txt"] },
        GitOp::Commit { branch, message: "second\n\nbody" },
        GitOp::CreateBranch { name: "plugins/acme/other" },
        GitOp::Restore { paths: &["a.txt"] },
        GitOp::DeleteBranch { name: "plugins/acme/other" },
    ] {
        let output = run(&command(&world, &capability, op, repo));
        assert!(output.status.success(), "{op:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!trace.exists(), "{op:?} ran {}", fs::read_to_string(&trace).unwrap_or_default());
        if let GitOp::Diff { .. } = op {
            assert!(String::from_utf8_lossy(&output.stdout).contains("+two"), "the diff is git's own");
        }
    }
    let log = git(repo, &["-c", "log.showSignature=false", "--no-pager", "log", "--format=%D %s", "-2"]);
    assert_eq!(String::from_utf8_lossy(&log.stdout).trim(), format!("HEAD -> {branch} second\nmain first"));
}

#[test]
fn a_command_needs_its_own_use() {
    let world = World::new();
    let workflow = world.free();
    let scope = || GitScope::new(place(), "plugins/acme/").unwrap();
    let capability = world.ask(&workflow, "acme", scope()).unwrap();
    let other = world.ask(&workflow, "acme", scope()).unwrap();
    let guard = using(&world.trail, &capability, GitOp::Add { paths: &["a"] }).unwrap();
    let code = |capability: &GitLocalOpsCapability, op: GitOp<'_>, place: &ScopeDirectory, path| {
        capability.command(&op, &guard, place, path).map_or_else(|error| error.code(), |_| "good")
    };
    assert_eq!(code(&capability, GitOp::Add { paths: &["a"] }, &place(), "."), "good");
    assert_eq!(code(&other, GitOp::Add { paths: &["a"] }, &place(), "."), "scope/not-begun");
    assert_eq!(code(&capability, GitOp::Add { paths: &["b"] }, &place(), "."), "scope/not-begun");
    assert_eq!(code(&capability, GitOp::Restore { paths: &["a"] }, &place(), "."), "scope/not-begun");
    let elsewhere = ScopeDirectory::new("site", "1:3").unwrap();
    assert_eq!(code(&capability, GitOp::Add { paths: &["a"] }, &elsewhere, "."), "scope/place");
    assert_eq!(code(&capability, GitOp::Add { paths: &["a"] }, &place(), ""), "scope/place");
}

#[test]
fn what_git_would_take_for_something_else_is_no_command() {
    let world = World::new();
    let workflow = world.free();
    let capability = world.ask(&workflow, "acme", GitScope::new(place(), "p/").unwrap()).unwrap();
    let code = |op: GitOp<'_>| {
        let guard = using(&world.trail, &capability, op).unwrap();
        capability.command(&op, &guard, &place(), ".").map_or_else(|error| error.code(), |_| "good")
    };
    for (revision, expected) in [
        ("HEAD~1", "good"),
        ("v1.0^{commit}", "good"),
        ("--output=/tmp/x", "scope/revision"),
        ("a..b", "scope/revision"),
        ("HEAD:secret", "scope/revision"),
        ("", "scope/revision"),
        ("a b", "scope/revision"),
    ] {
        assert_eq!(code(GitOp::Show { revision }), expected, "{revision}");
    }
    for (path, expected) in [
        ("a/b", "good"),
        (":(top)x", "good"),
        ("-x", "good"),
        ("../x", "scope/paths"),
        ("a/../../x", "scope/paths"),
        ("/etc/passwd", "scope/paths"),
        ("", "scope/paths"),
    ] {
        assert_eq!(code(GitOp::Add { paths: &[path] }), expected, "{path}");
        assert_eq!(code(GitOp::Diff { paths: &[path] }), expected, "{path}");
    }
    assert_eq!(code(GitOp::Add { paths: &[] }), "scope/paths");
    assert_eq!(code(GitOp::Commit { branch: "p/x", message: " \n" }), "scope/message");
    assert_eq!(code(GitOp::Commit { branch: "p/x", message: "--amend" }), "good");
}

#[test]
fn no_word_of_a_command_names_a_remote() {
    let world = World::new();
    let workflow = world.free();
    let capability = world.ask(&workflow, "acme", GitScope::new(place(), "p/").unwrap()).unwrap();
    for op in [
        GitOp::Status,
        GitOp::Diff { paths: &["a"] },
        GitOp::Log { count: 1 },
        GitOp::Show { revision: "HEAD" },
        GitOp::Add { paths: &["a"] },
        GitOp::Restore { paths: &["a"] },
        GitOp::Commit { branch: "p/x", message: "m" },
        GitOp::CreateBranch { name: "p/x" },
        GitOp::Switch { name: "p/x" },
        GitOp::DeleteBranch { name: "p/x" },
    ] {
        let command = command(&world, &capability, op, Path::new("/repo"));
        let argv = command.argv();
        for verb in [
            "push",
            "fetch",
            "pull",
            "clone",
            "remote",
            "submodule",
            "config",
            "ls-remote",
            "send-pack",
            "upload-pack",
        ] {
            assert!(!argv.iter().any(|word| word == verb), "{argv:?}");
        }
        assert!(argv.contains(&"protocol.allow=never".to_owned()));
        assert_eq!(argv[..5], ["git", "-C", "/repo", "--no-pager", "--literal-pathspecs"]);
    }
}
