//! What a program with granted access gets.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt as _;

use plugward_launch::{EnforceRule, LaunchSpec, Program, SealCheck, SealedProgram};
use sha2::{Digest as _, Sha256};

use crate::Case;
use crate::world::{World, check, finish, output, running, shell, start};

pub(crate) const CASES: &[Case] = &[
    ("start::three_descriptors", three_descriptors),
    ("start::own_path", own_path),
    ("start::sealed", sealed),
    ("start::scripts", scripts),
    ("start::exit_codes", exit_codes),
    ("start::record_comes_first", record_comes_first),
    ("start::failures", failures),
    ("start::report", report),
    ("start::streams", streams),
];

fn three_descriptors() {
    let world = World::new();
    // Duplicates are not close-on-exec.
    let file = File::open("/dev/null").unwrap();
    let many: Vec<_> = (0..200).map(|_| rustix::io::dup(&file).unwrap()).collect();
    // The listing has one of its own.
    assert_eq!(world.attempt(&world.access(), &["descriptors"]), "0 1 2 3");
    drop(many);
}

fn own_path() {
    let world = World::new();
    let mut spec = world.spec(&["self"]);
    spec.directory = world.at("write");
    let (text, _) = output(&spec, &world.access());
    assert_eq!(text, format!("{} attempt {}", world.exe, world.at("write")));
}

fn sealed() {
    let world = World::new();
    let expected = Sha256::digest(fs::read(&world.exe).unwrap()).into();
    let SealCheck::Sealed(program) =
        SealedProgram::copy(&File::open(&world.exe).unwrap(), &expected).unwrap()
    else {
        panic!("the probe says that it works")
    };
    let spec = LaunchSpec { program: Program::Sealed(&program), ..world.spec(&["self"]) };
    let running = start(&spec, &world.access());
    assert_eq!(running.report().held, ["bytes", "files", "network", "processes", "environment", "end"]);
    assert_eq!(finish(running).0, "/memfd:plugward (deleted) attempt /");
}

fn scripts() {
    let world = World::new();
    let path = world.at("tree/script");
    fs::write(&path, "#!/bin/sh\ncat \"$(dirname \"$0\")/file\"; exit 3\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    let program = Program::Copy { path: &path, reason: None };
    let spec = LaunchSpec { program, argv: vec!["script".to_owned()], ..world.spec(&[]) };
    assert_eq!(output(&spec, &world.access()), ("tree".to_owned(), Some(3)));
}

fn exit_codes() {
    let access = World::new().access();
    for (script, code) in [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("kill -KILL $$", 137)] {
        assert_eq!(output(&shell(script), &access).1, Some(code), "{script}");
    }
}

fn record_comes_first() {
    let world = World::new();
    let marker = world.at("write/marker");
    let touch = shell(&format!("echo x > {marker}"));
    let access = world.access();
    let refuse = &mut |_: &_| Err(io::Error::other("no space"));
    let error = check(&touch, &access, EnforceRule::Require, refuse).unwrap_err();
    assert_eq!(error.code(), "launch/record");
    assert!(!fs::exists(&marker).unwrap());
    let mut calls = 0;
    let started = check(&touch, &access, EnforceRule::Require, &mut |report| {
        calls += 1;
        assert!(!fs::exists(&marker).unwrap() && report.missing.is_empty());
        Ok(())
    });
    assert_eq!(finish(running(started.unwrap())).1, Some(0));
    assert!(fs::exists(&marker).unwrap() && calls == 1);
}

fn failures() {
    let world = World::new();
    let access = world.access();
    for (path, calls) in [(world.at("tree/missing"), 0), (world.at("tree/file"), 1), (world.at("tree"), 1)] {
        let program = Program::Copy { path: &path, reason: None };
        let mut recorded = 0;
        let spec = LaunchSpec { program, ..world.spec(&[]) };
        let error = check(&spec, &access, EnforceRule::Require, &mut |_| {
            recorded += 1;
            Ok(())
        });
        assert_eq!((error.unwrap_err().code(), recorded), ("launch/exec", calls), "{path}");
    }
    let mut nowhere = shell("exit 0");
    nowhere.directory = world.at("missing");
    let error = check(&nowhere, &access, EnforceRule::Require, &mut |_| Ok(())).unwrap_err();
    assert_eq!(error.code(), "launch/exec");
    "x".clone_into(&mut nowhere.directory);
    let error = check(&nowhere, &access, EnforceRule::Require, &mut |_| panic!("recorded")).unwrap_err();
    assert_eq!(error.code(), "launch/spec");
}

fn report() {
    let world = World::new();
    let running = start(&shell("exit 0"), &world.access());
    let report = running.report();
    assert_eq!((report.access, report.form.as_str()), ("granted", "system"));
    assert_eq!(report.held, ["files", "network", "processes", "environment", "end"]);
    assert!(report.missing.is_empty() && !report.env.contains(&"TOKEN".to_owned()));
}

/// More than the buffers of a pipe and a socket, in both directions and as arguments.
fn streams() {
    let world = World::new();
    let mut spec = shell("cat >/dev/null; printf %s \"$1\" | wc -c; head -c 1000000 /dev/zero >&2");
    spec.argv.extend(["x".to_owned(), "y".repeat(100_000)]);
    spec.argv.extend((0..9).map(|_| "z".repeat(100_000)));
    let mut running = start(&spec, &world.access());
    io::Write::write_all(&mut running.take_stdin().unwrap(), &vec![1; 1_000_000]).unwrap();
    let mut errors = Vec::new();
    io::Read::read_to_end(&mut running.take_stderr().unwrap(), &mut errors).unwrap();
    assert_eq!(errors.len(), 1_000_000);
    let mut text = String::new();
    io::Read::read_to_string(&mut running.take_stdout().unwrap(), &mut text).unwrap();
    assert_eq!(text.trim(), "100000");
}
