//! Starts of node with limited access.

use plugward_loader::launch::{LaunchSpec, Program, RunningProgram};
use plugward_loader::{LaunchSubject, ProgramLines, Record};

use crate::access::StartAccess;
use crate::failure::Failure;
use crate::host;
use crate::out::Out;
use crate::starts::{self, RecordedStart};

/// Limits the memory of a program. `node` has an option for a part of it only.
const LIMIT: &str = r#"ulimit -c 0 && ulimit -d "$1" && shift && exec "$@""#;

/// A start of node.
pub(crate) struct NodeStart<'a> {
    /// The program, as an ECMAScript module.
    pub(crate) shim: &'a str,
    /// The working directory, as an absolute path.
    pub(crate) directory: &'a str,
    pub(crate) access: StartAccess,
    /// The most KiB of memory.
    pub(crate) memory: Option<u32>,
}

impl NodeStart<'_> {
    /// Starts node. Returns it with its record and its lines.
    pub(crate) fn start(
        self,
        subject: &LaunchSubject<'_>,
        record: &Record,
    ) -> Result<(RunningProgram, RecordedStart, ProgramLines), Failure> {
        let node = host::program("node")?;
        let words = [node.as_str(), "--no-warnings", "--input-type=module", "--eval", self.shim];
        let limit = self.memory.map(|memory| memory.to_string());
        let limit: &[&str] = match &limit {
            Some(memory) => &["sh", "-c", LIMIT, "sh", memory],
            None => &[],
        };
        let path = if limit.is_empty() { node.as_str() } else { "/bin/sh" };
        let spec = LaunchSpec {
            program: Program::System { path },
            argv: limit.iter().chain(&words).map(|word| (*word).to_owned()).collect(),
            directory: self.directory.to_owned(),
            env: host::environment().into_iter().collect(),
        };
        let (mut program, recorded) = starts::start(&spec, subject, self.access, record)?;
        let (lines, interrupt) = ProgramLines::new(&mut program, host::moment, Out::verbatim_error);
        starts::interruptible(interrupt);
        Ok((program, recorded, lines))
    }
}
