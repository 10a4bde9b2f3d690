//! Starts a program.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::error::{LaunchError, LaunchErrorKind};
use crate::report::LaunchReport;
use crate::running::RunningProgram;
use crate::spec::{Access, LaunchSpec, Program};

/// The number of tries if the file is open for writing, and the wait between them.
const BUSY_TRIES: u32 = 20;
const BUSY_WAIT: Duration = Duration::from_millis(5);

/// Starts a program in a process group of its own, with three pipes.
///
/// Calls `record` before the program's first instruction. If `record` fails, nothing starts. If the start fails
/// after `record`, the caller records the end.
///
/// # Guarantees
/// The program has exactly the arguments, the environment and the working directory of `spec`, and no
/// descriptor of this crate but the pipes.
///
/// # Errors
/// - `launch/spec` if the argument list is empty, a path is not absolute, a text contains a NUL byte, or the name
///   of a variable is not valid or not unique.
/// - `launch/record` if `record` fails.
/// - `launch/exec` if the system does not start the program.
pub fn launch(
    spec: &LaunchSpec<'_>,
    access: Access,
    record: &mut dyn FnMut(&LaunchReport) -> io::Result<()>,
) -> Result<RunningProgram, LaunchError> {
    spec.check()?;
    let report = LaunchReport::new(&spec.program, access);
    let name = spec.argv.first().map(|name| name.escape_debug().to_string()).unwrap_or_default();
    record(&report)
        .map_err(LaunchError::from_io(LaunchErrorKind::Record, format!("record the start of `{name}`")))?;
    let child = spawn(&mut command(spec))
        .map_err(LaunchError::from_io(LaunchErrorKind::Exec, format!("start `{name}`")))?;
    Ok(RunningProgram::new(child, report))
}

fn command(spec: &LaunchSpec<'_>) -> Command {
    let path = match spec.program {
        Program::Sealed(sealed) => sealed.path(),
        Program::Copy { path, .. } | Program::System { path } => path.to_owned(),
    };
    #[expect(clippy::disallowed_methods, reason = "this crate starts programs")]
    let mut command = Command::new(path);
    if let Some((name, arguments)) = spec.argv.split_first() {
        command.arg0(name).args(arguments);
    }
    command.env_clear().envs(spec.env.iter().map(|(name, value)| (name, value)));
    command.current_dir(&spec.directory).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Starts the command. A private copy can be busy for a moment: if another thread starts a program while the
/// copy is written, that child process has the descriptor until it executes.
fn spawn(command: &mut Command) -> io::Result<Child> {
    for _ in 1..BUSY_TRIES {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => std::thread::sleep(BUSY_WAIT),
            started => return started,
        }
    }
    command.spawn()
}
