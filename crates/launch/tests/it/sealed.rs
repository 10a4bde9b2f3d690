//! Programs in sealed memory.

use std::fs::{self, File};
use std::io::{Seek as _, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use plugward_launch::{CopyCheck, LaunchErrorKind, Program, SealCheck, SealedProgram, copy_program};

use crate::common::{LONG, digest, executable, output, seal, spec, start};

fn not_executable(path: &str) -> String {
    match SealedProgram::copy(&File::open(path).unwrap(), &[0; 32]).unwrap() {
        SealCheck::NotExecutable { why } => why,
        other => panic!("{path}: {other:?}"),
    }
}

#[test]
fn launch_bytes_that_run_were_hashed() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("program");
    let cat = fs::read("/bin/cat").unwrap();
    executable(&path, &cat);
    let file = File::open(&path).unwrap();
    let SealCheck::Sealed(program) = SealedProgram::copy(&file, &digest(&cat)).unwrap() else {
        panic!("not sealed")
    };
    // The original is rewritten in place and removed. Neither changes what runs.
    File::options().write(true).open(&path).unwrap().write_all(&fs::read("/bin/false").unwrap()).unwrap();
    fs::remove_file(&path).unwrap();
    let running = start(&spec(Program::Sealed(&program), &["cat"]));
    assert_eq!(running.report().digest, Some(digest(&cat)));
    let (mut child, _life) = running.into_child();
    let runs = fs::read(format!("/proc/{}/exe", child.id())).unwrap();
    assert_eq!(digest(&runs), *program.digest());
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn launch_a_sealed_program_starts_again() {
    let program = seal("/bin/echo");
    for text in ["one", "two"] {
        assert_eq!(output(&spec(Program::Sealed(&program), &["echo", text])).0.trim(), text);
    }
    // The process keeps the memory after the program is dropped.
    let cat = seal("/bin/cat");
    let running = start(&spec(Program::Sealed(&cat), &["cat"]));
    drop(cat);
    assert_eq!(running.end(LONG).unwrap().code(), Some(0));
}

#[test]
fn launch_seals_refuse_every_change() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("program");
    // A trailer that no other memory file of this process has.
    let bytes = [&fs::read("/bin/true").unwrap()[..], b"launch_seals_refuse_every_change"].concat();
    executable(&path, &bytes);
    let file = File::open(&path).unwrap();
    let SealCheck::Sealed(program) = SealedProgram::copy(&file, &digest(&bytes)).unwrap() else {
        panic!("not sealed")
    };
    let descriptors = fs::read_dir("/proc/self/fd").unwrap().map(|entry| entry.unwrap().path());
    let memory: Vec<_> = descriptors
        .filter(|path| {
            fs::read_link(path).is_ok_and(|to| to.to_str().is_some_and(|to| to.contains("memfd:")))
        })
        .filter(|path| fs::read(path).is_ok_and(|read| read == bytes))
        .collect();
    assert_eq!(memory.len(), 1);
    let writer = File::options().write(true).open(&memory[0]).unwrap();
    for change in [
        writer.write_at(b"x", 0).map(drop),
        writer.write_at(b"x", bytes.len() as u64).map(drop),
        writer.set_len(0),
        writer.set_len(bytes.len() as u64 + 1),
    ] {
        assert_eq!(change.unwrap_err().kind(), std::io::ErrorKind::PermissionDenied);
    }
    drop(writer);
    assert_eq!(output(&spec(Program::Sealed(&program), &["true"])).1, Some(0));
}

#[test]
fn launch_other_bytes_are_not_sealed() {
    let bytes = fs::read("/bin/true").unwrap();
    let file = File::open("/bin/true").unwrap();
    let mut expected = digest(&bytes);
    expected[31] ^= 1;
    match SealedProgram::copy(&file, &expected).unwrap() {
        SealCheck::Differs { found } => assert_eq!(found, digest(&bytes)),
        other => panic!("{other:?}"),
    }
    // The cursor does not matter and does not move.
    let mut file = file;
    file.seek(std::io::SeekFrom::Start(7)).unwrap();
    assert!(matches!(SealedProgram::copy(&file, &digest(&bytes)).unwrap(), SealCheck::Sealed(_)));
    assert_eq!(file.stream_position().unwrap(), 7);
}

#[test]
fn launch_what_cannot_run_from_memory_is_not_executable() {
    let home = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = home.path().join(name);
        executable(&path, bytes);
        path.to_str().unwrap().to_owned()
    };
    let format = "it is a script or has another format than ELF";
    assert_eq!(not_executable(&file("script", b"#!/bin/sh\nexit 0\n")), format);
    assert_eq!(not_executable(&file("short", b"\x7fEL")), format);
    assert_eq!(not_executable(&file("empty", b"")), format);
    assert_eq!(not_executable("/dev/zero"), "it is not a regular file");
    assert_eq!(not_executable(home.path().to_str().unwrap()), "it is not a regular file");
    let large = file("large", b"\x7fELF");
    File::options().write(true).open(&large).unwrap().set_len((1 << 30) + 1).unwrap();
    assert_eq!(not_executable(&large), "it is larger than 1 GiB");
}

#[test]
fn launch_a_script_runs_from_a_private_copy() {
    let home = tempfile::tempdir().unwrap();
    let (original, copy) = (home.path().join("script"), home.path().join("copy"));
    let script = b"#!/bin/sh\nexit 7\n";
    executable(&original, script);
    let why = not_executable(original.to_str().unwrap());
    let file = File::open(&original).unwrap();
    let new = |path: &Path| {
        let mut options = File::options();
        options.read(true).write(true).create_new(true).mode(0o500).open(path).unwrap()
    };
    // Another digest, and the near miss.
    assert_eq!(
        copy_program(&file, &new(&home.path().join("other")), &[0; 32]).unwrap(),
        CopyCheck::Differs { found: digest(script) }
    );
    assert_eq!(copy_program(&file, &new(&copy), &digest(script)).unwrap(), CopyCheck::Copied);
    fs::write(&original, "#!/bin/sh\nexit 1\n").unwrap();
    let program = Program::Copy { path: copy.to_str().unwrap(), reason: Some(&why) };
    let running = start(&spec(program, &["script"]));
    assert_eq!(running.report().reason.as_deref(), Some(why.as_str()));
    assert_eq!(running.end(LONG).unwrap().code(), Some(7));
    // A file that is not open for writing.
    let error = copy_program(&file, &File::open(&copy).unwrap(), &digest(script)).unwrap_err();
    assert_eq!((error.code(), error.kind()), ("launch/io", LaunchErrorKind::Io));
}
