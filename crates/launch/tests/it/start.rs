//! What a program gets, and starts that fail.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::mpsc;

use plugward_launch::{LaunchSpec, Program, ProgramForm};

use crate::common::{LONG, executable, output, recorded, seal, shell, spec, start, try_start};

#[test]
fn launch_the_environment_is_exactly_the_given_one() {
    let mut env = spec(Program::System { path: "/usr/bin/env" }, &["env"]);
    assert_eq!(output(&env), (String::new(), Some(0)));
    env.env = vec![("A".to_owned(), "1 2".to_owned()), ("B".to_owned(), String::new())];
    assert_eq!(output(&env), ("A=1 2\nB=\n".to_owned(), Some(0)));
}

#[test]
fn launch_the_arguments_are_exactly_the_given_ones() {
    let cat = seal("/bin/cat");
    let named = spec(Program::Sealed(&cat), &["another name", "/proc/self/cmdline"]);
    assert_eq!(output(&named).0, "another name\0/proc/self/cmdline\0");
    let system = spec(Program::System { path: "/bin/cat" }, &["x", "--", "/proc/self/cmdline"]);
    assert_eq!(output(&system).0, "x\0--\0/proc/self/cmdline\0");
}

#[test]
fn launch_the_directory_is_the_given_one() {
    let home = tempfile::tempdir().unwrap();
    let mut pwd = shell("pwd");
    pwd.directory = home.path().to_str().unwrap().to_owned();
    assert_eq!(output(&pwd).0.trim(), pwd.directory);
}

#[test]
fn launch_has_a_process_group_of_its_own() {
    let (text, _) = output(&shell("cat /proc/self/stat | cut -d' ' -f 5; echo $$"));
    let (group, pid) = text.trim().split_once('\n').unwrap();
    assert_eq!(group, pid);
}

#[test]
fn launch_a_program_has_three_descriptors() {
    let many: Vec<File> = (0..200).map(|_| File::open("/dev/null").unwrap()).collect();
    let list = seal("/bin/ls");
    let (text, _) = output(&spec(Program::Sealed(&list), &["ls", "-l", "/proc/self/fd"]));
    let passed: BTreeSet<&str> = text.lines().filter_map(|line| line.split_whitespace().nth(8)).collect();
    // `ls` opens the directory. A limit: what this process inherited without close-on-exec is passed on.
    let inherited = inherited();
    let expected = ["0", "1", "2", "3"].into_iter().chain(inherited.iter().map(String::as_str)).collect();
    assert_eq!(passed, expected, "{text}");
    drop(many);
}

/// Returns the descriptors above 3 of this process that are not close-on-exec.
fn inherited() -> Vec<String> {
    const CLOSE_ON_EXEC: u32 = 0o2_000_000;
    let all = fs::read_dir("/proc/self/fdinfo").unwrap().map(|entry| entry.unwrap().path());
    let is_inherited = |path: &PathBuf| {
        // A descriptor of another test can be closed meanwhile.
        let text = fs::read_to_string(path).unwrap_or_default();
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
        flags.is_some_and(|flags| u32::from_str_radix(flags.trim(), 8).unwrap() & CLOSE_ON_EXEC == 0)
    };
    let names = all.filter(is_inherited).map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
    names.filter(|name| name.parse::<u32>().unwrap() > 3).collect()
}

#[test]
fn launch_record_comes_before_the_first_instruction() {
    let home = tempfile::tempdir().unwrap();
    let marker = home.path().join("marker");
    let touch = shell(&format!("touch {}; cat", marker.display()));
    let error = recorded(&touch, &mut |_| Err(io::Error::other("no space"))).unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), ("launch/record", "record the start of `sh`"));
    assert!(!marker.exists());
    // A record that succeeds is called once, before the marker exists.
    let mut calls = 0;
    let mut running = recorded(&touch, &mut |report| {
        calls += 1;
        assert!(!marker.exists());
        assert_eq!((report.form, report.path.as_deref()), (ProgramForm::System, Some("/bin/sh")));
        Ok(())
    })
    .unwrap();
    drop(running.take_stdin());
    assert_eq!(running.end(LONG).unwrap().code(), Some(0));
    assert!(marker.exists() && calls == 1);
}

#[test]
fn launch_failed_start_stops_one() {
    let home = tempfile::tempdir().unwrap();
    let other = start(&shell("cat >/dev/null"));
    let missing = home.path().join("missing");
    let text = home.path().join("text");
    fs::write(&text, "not executable").unwrap();
    for path in [&missing, &text, &home.path().to_owned()] {
        let mut calls = 0;
        let program = Program::Copy { path: path.to_str().unwrap(), reason: None };
        let error = recorded(&spec(program, &["x"]), &mut |_| {
            calls += 1;
            Ok(())
        })
        .unwrap_err();
        assert_eq!((error.code(), calls), ("launch/exec", 1), "{}", path.display());
        assert!(std::error::Error::source(&error).is_some() && !error.help().is_empty());
    }
    let mut nowhere = shell("exit 0");
    nowhere.directory = missing.to_str().unwrap().to_owned();
    assert_eq!(try_start(&nowhere).unwrap_err().code(), "launch/exec");
    assert_eq!(other.end(LONG).unwrap().code(), Some(0));
}

#[test]
fn launch_a_spec_that_would_change_is_refused() {
    fn refused(change: impl FnOnce(&mut LaunchSpec<'static>)) -> String {
        let mut spec = shell("exit 0");
        change(&mut spec);
        let error = recorded(&spec, &mut |_| panic!("recorded")).unwrap_err();
        assert_eq!(error.code(), "launch/spec");
        error.to_string()
    }
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(refused(|spec| spec.argv.clear()), "the argument list is empty");
    assert_eq!(
        refused(|spec| spec.program = Program::System { path: "sh" }),
        "the path of the program is not an absolute path: `sh`"
    );
    assert_eq!(
        refused(|spec| spec.directory = "./x".to_owned()),
        "the working directory is not an absolute path: `./x`"
    );
    for name in ["", "A=B", "="] {
        let text = refused(|spec| spec.env.push(pair(name, "1")));
        assert!(text.starts_with("not a name of an environment variable"), "{text}");
    }
    assert_eq!(
        refused(|spec| spec.env.push(pair("PATH", "/"))),
        "the environment variable `PATH` is set twice"
    );
    let nul = "an argument or a variable contains a NUL byte";
    assert_eq!(refused(|spec| spec.argv.push("a\0b".to_owned())), nul);
    assert_eq!(refused(|spec| spec.env.push(pair("A", "1\0"))), nul);
    assert_eq!(refused(|spec| spec.env.push(pair("A\0", "1"))), nul);
    assert!(refused(|spec| spec.directory.push('\0')).starts_with("the working directory"));
    // Near misses: empty arguments, `=` and lines in values, names that differ in case.
    let mut odd = shell("printf %s \"$A|$a|$1\"");
    odd.argv.extend([String::new(), String::new()]);
    odd.env.extend([pair("A", "x=y\nz"), pair("a", "")]);
    assert_eq!(output(&odd), ("x=y\nz||".to_owned(), Some(0)));
}

#[test]
fn launch_a_copy_that_is_busy_for_a_moment_starts() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("script");
    executable(&path, b"#!/bin/sh\nexit 6\n");
    let script = spec(Program::Copy { path: path.to_str().unwrap(), reason: None }, &["script"]);
    let writer = File::options().append(true).open(&path).unwrap();
    let error = try_start(&script).unwrap_err();
    assert_eq!(error.code(), "launch/exec");
    // Another thread closes the file after the start was recorded.
    let (send, receive) = mpsc::channel();
    let closing = std::thread::spawn(move || {
        receive.recv().unwrap();
        drop(writer);
    });
    let running = recorded(&script, &mut |_| {
        send.send(()).unwrap();
        Ok(())
    })
    .unwrap();
    closing.join().unwrap();
    assert_eq!(running.end(LONG).unwrap().code(), Some(6));
}

#[test]
fn launch_report_names_what_is_not_enforced() {
    let cat = seal("/bin/cat");
    let reason = Some("it is a script");
    let forms = [
        (Program::Sealed(&cat), "sealed", &["bytes"][..], "libraries"),
        (Program::Copy { path: "/bin/cat", reason }, "copy", &["bytes"], "private copy"),
        (Program::System { path: "/bin/cat" }, "system", &[], "by its path"),
    ];
    for (program, form, held, limit) in forms {
        let running = start(&spec(program, &["cat"]));
        let report = running.report();
        assert_eq!((report.form.as_str(), report.held.as_slice()), (form, held));
        assert_eq!(report.digest.as_ref(), (form == "sealed").then_some(cat.digest()));
        assert_eq!(report.path.as_deref(), (form != "sealed").then_some("/bin/cat"));
        assert_eq!(report.reason.as_deref(), reason.filter(|_| form == "copy"));
        assert_eq!((report.access, report.missing.len()), ("user", 0));
        let open = &report.not_enforced;
        assert!(open.iter().any(|text| text.contains(limit)), "{open:?}");
        assert!(open.iter().any(|text| text.contains("every file, connection and process")), "{open:?}");
    }
}
