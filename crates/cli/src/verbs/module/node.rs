//! Starts of node with limited access.

use camino::Utf8Path;
use plugward_loader::launch::{LaunchSpec, Program, RunningProgram};
use plugward_loader::{LaunchSubject, ProgramLines, Record};

use crate::access::StartAccess;
use crate::failure::Failure;
use crate::host;
use crate::starts::{self, RecordedStart};

/// Limits the memory of a program, and the number of its processes and threads if `$2` has one. `node` has an option for a
/// part of the memory only. The option for processes is `-u` or `-p`.
const LIMIT: &str = r#"ulimit -c 0 && ulimit -d "$1" &&
{ [ -z "$2" ] || ulimit -u "$2" 2>/dev/null || ulimit -p "$2"; } && shift 2 && exec "$@""#;

/// A start of node.
pub(crate) struct NodeStart<'a> {
    pub(crate) node: &'a Utf8Path,
    /// The program, as an ECMAScript module.
    pub(crate) shim: &'a str,
    /// The working directory, as an absolute path.
    pub(crate) directory: &'a str,
    pub(crate) access: StartAccess,
    /// The most KiB of memory of each process.
    pub(crate) memory: u32,
    /// The most processes and threads. The kernel counts those of a process namespace, or else all of the user.
    pub(crate) processes: Option<u32>,
}

impl NodeStart<'_> {
    /// Starts node. Returns it with its record and its lines.
    pub(crate) fn start(
        mut self,
        subject: &LaunchSubject<'_>,
        record: &Record,
    ) -> Result<(RunningProgram, RecordedStart, ProgramLines), Failure> {
        // An installation below the home directory is not part of the base list.
        self.access.add_program(self.node)?;
        let memory = self.memory.to_string();
        let processes = self.processes.map(|most| most.to_string()).unwrap_or_default();
        let words = ["sh", "-c", LIMIT, "sh", &memory, &processes, self.node.as_str(), "--no-warnings"];
        let words = words.into_iter().chain(["--input-type=module", "--eval", self.shim]);
        let spec = LaunchSpec {
            program: Program::System { path: "/bin/sh" },
            argv: words.map(str::to_owned).collect(),
            directory: self.directory.to_owned(),
            env: host::environment().into_iter().collect(),
        };
        let (mut program, recorded) = starts::start(&spec, subject, self.access, record)?;
        let (lines, interrupt) = ProgramLines::new(&mut program, host::moment, starts::write_errors);
        starts::interruptible_once(interrupt);
        Ok((program, recorded, lines))
    }
}
