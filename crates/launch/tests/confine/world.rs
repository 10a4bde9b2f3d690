//! Directories, grants, and starts with them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use plugward_capability::{
    Access as Level, EnvScope, FsScope, NetScope, ProgramRef, ScopeDirectory, SpawnScope, for_tests,
};
use plugward_launch::{
    Access, EnforceRule, GrantedAccess, LaunchCheck, LaunchError, LaunchReport, LaunchSpec, Program,
    RunningProgram, launch,
};
use plugward_sandbox_path::{Jail, Policy};
use rustix::io::Errno;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};
use tempfile::TempDir;

use crate::attempts::MARK;

/// A grace that no test reaches unless a program hangs.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A private directory, one that can be read, one that can be written, and one that is not granted.
pub(crate) struct World {
    root: TempDir,
    pub(crate) exe: String,
}

impl World {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for name in ["home", "tree", "read", "write", "outside"] {
            fs::create_dir(root.path().join(name)).unwrap();
            fs::write(root.path().join(name).join("file"), name).unwrap();
        }
        let exe = fs::read_link("/proc/self/exe").unwrap().to_str().unwrap().to_owned();
        Self { root, exe }
    }

    pub(crate) fn at(&self, name: &str) -> String {
        self.root.path().join(name).to_str().unwrap().to_owned()
    }

    /// The base list, with the directories of the world.
    pub(crate) fn access(&self) -> GrantedAccess {
        let tree = open(self.at("tree"));
        let mut access = GrantedAccess::new(Some(tree.as_fd()), open(self.at("home"))).unwrap();
        self.grant(&mut access, "read", Level::Read).unwrap();
        self.grant(&mut access, "write", Level::ReadWrite).unwrap();
        access
    }

    pub(crate) fn grant(
        &self,
        access: &mut GrantedAccess,
        name: &str,
        level: Level,
    ) -> Result<(), LaunchError> {
        grant(access, &self.at(name), level)
    }

    /// Tries one thing and returns what the program printed.
    pub(crate) fn attempt(&self, access: &GrantedAccess, arguments: &[&str]) -> String {
        let (text, code) = output(&self.spec(arguments), access);
        assert_eq!(code, Some(0), "{arguments:?}: {text}");
        text
    }

    pub(crate) fn spec(&self, arguments: &[&str]) -> LaunchSpec<'_> {
        let argv = ["attempt", MARK].iter().chain(arguments).map(|argument| (*argument).to_owned()).collect();
        let env =
            [("PATH", "/usr/bin:/bin"), ("TOKEN", "t"), ("OTHER", "o"), ("LC_ALL", "C"), ("HOME", "/x")];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        LaunchSpec { program: Program::System { path: &self.exe }, argv, directory: "/".to_owned(), env }
    }
}

pub(crate) fn shell(script: &str) -> LaunchSpec<'static> {
    LaunchSpec {
        program: Program::System { path: "/bin/sh" },
        argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
        directory: "/".to_owned(),
        env: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
    }
}

pub(crate) fn open(path: impl AsRef<Path>) -> OwnedFd {
    fs::File::open(path.as_ref()).unwrap().into()
}

pub(crate) fn grant(access: &mut GrantedAccess, path: &str, level: Level) -> Result<(), LaunchError> {
    let jail = Jail::open_root(path, Policy::standard()).unwrap();
    let place = ScopeDirectory::new(path, &format!("{}:{}", jail.id().device(), jail.id().inode())).unwrap();
    access.directory(&for_tests(FsScope::new(place, level)), &jail)
}

pub(crate) fn connect(access: &mut GrantedAccess, port: u16) {
    access.connect(&for_tests(NetScope::new("localhost", port).unwrap()));
}

pub(crate) fn listen(access: &mut GrantedAccess, port: u16) {
    access.connect(&for_tests(NetScope::listening(port).unwrap()));
}

pub(crate) fn variables(access: &mut GrantedAccess, names: &[&str]) -> Result<(), LaunchError> {
    access.variables(&for_tests(EnvScope::new(names).unwrap()))
}

pub(crate) fn program(access: &mut GrantedAccess, path: &str) {
    let scope = SpawnScope::new(ProgramRef::Name("tool".to_owned()), &[&["**"]]).unwrap();
    access.program(&for_tests(scope), open(path).as_fd()).unwrap();
}

pub(crate) fn check(
    spec: &LaunchSpec<'_>,
    access: &GrantedAccess,
    rule: EnforceRule,
    record: &mut dyn FnMut(&LaunchReport) -> std::io::Result<()>,
) -> Result<LaunchCheck, LaunchError> {
    launch(spec, Access::Granted(access), rule, record)
}

pub(crate) fn start(spec: &LaunchSpec<'_>, access: &GrantedAccess) -> RunningProgram {
    running(check(spec, access, EnforceRule::Require, &mut |_| Ok(())).unwrap())
}

pub(crate) fn running(check: LaunchCheck) -> RunningProgram {
    match check {
        LaunchCheck::Running(running) => running,
        LaunchCheck::Refused(refusal) => panic!("{refusal:?}"),
    }
}

/// Runs a program to its end and returns its output and exit code.
pub(crate) fn output(spec: &LaunchSpec<'_>, access: &GrantedAccess) -> (String, Option<i32>) {
    finish(start(spec, access))
}

pub(crate) fn finish(mut running: RunningProgram) -> (String, Option<i32>) {
    let (mut text, mut errors) = (String::new(), String::new());
    drop(running.take_stdin());
    running.take_stdout().unwrap().read_to_string(&mut text).unwrap();
    running.take_stderr().unwrap().read_to_string(&mut errors).unwrap();
    text.push_str(&errors);
    (text.trim().to_owned(), running.end(LONG).unwrap().code())
}

/// Reads the first line of the output, which a script prints when it is ready.
pub(crate) fn line(running: &mut RunningProgram) -> String {
    let mut text = String::new();
    BufReader::new(running.take_stdout().unwrap()).read_line(&mut text).unwrap();
    text.trim().to_owned()
}

/// Runs a piece of a test in a thread in which the system answers calls with EPERM.
pub(crate) fn without<T: Send>(calls: &[i64], run: impl FnOnce() -> T + Send) -> T {
    let arch = TargetArch::try_from(std::env::consts::ARCH).unwrap();
    let answer = SeccompAction::Errno(Errno::PERM.raw_os_error().unsigned_abs());
    let rules: BTreeMap<_, _> = calls.iter().map(|call| (*call, vec![])).collect();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, answer, arch).unwrap();
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
            run()
        });
        thread.join().unwrap()
    })
}

/// Returns the processes, of all namespaces, that have a text among their arguments.
pub(crate) fn processes(text: &str) -> Vec<String> {
    let all =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    let has_text = |pid: &String| {
        let arguments = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        pid.parse::<u32>().is_ok() && arguments.contains(text)
    };
    all.filter(has_text).collect()
}

/// Returns `true` once no process has a text among its arguments, in one second.
pub(crate) fn are_gone_soon(text: &str) -> bool {
    let deadline = Instant::now() + Duration::from_secs(1);
    while !processes(text).is_empty() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::yield_now();
    }
    true
}
