//! Starts a program.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::access::{Access, EnforceRule, GrantedAccess};
use crate::codes;
use crate::enforcement::MissingWord;
use crate::error::{LaunchError, LaunchErrorKind};
#[cfg(target_os = "linux")]
use crate::launcher::host::Launcher;
use crate::report::LaunchReport;
use crate::running::RunningProgram;
use crate::spec::{LaunchSpec, Program};

/// The number of tries if the file is open for writing, and the wait between them.
const BUSY_TRIES: u32 = 20;
const BUSY_WAIT: Duration = Duration::from_millis(5);

/// The result of a start.
#[derive(Debug)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a verdict, which a caller matches completely")]
#[expect(clippy::large_enum_variant, reason = "it is matched at once, and refusals are rare")]
pub enum LaunchCheck {
    /// The program runs.
    Running(RunningProgram),
    /// The kernel does not enforce the granted access, so nothing was recorded or started.
    Refused(LaunchRefusal),
}

/// The reason why a program does not start.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchRefusal {
    /// The properties that the kernel does not enforce, with the reasons.
    pub missing: Vec<MissingWord>,
}

impl LaunchRefusal {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "launch/enforcement"
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        codes::help(self.code())
    }
}

/// Starts a program in a process group of its own, with three pipes.
///
/// Calls `record` before the program's first instruction. If `record` fails, nothing starts. If the start fails
/// after `record`, the caller records the end. With granted access, the environment of the program is the allowed part
/// of that of `spec`.
///
/// # Guarantees
/// The program has exactly the arguments and the working directory of `spec`, and no descriptor of this crate but the
/// pipes. With [`Access::User`], it has exactly its environment. With [`Access::Granted`], it has no other descriptors,
/// and the words of [`LaunchReport::held`] are enforced from its first instruction on.
///
/// # Errors
/// - `launch/spec` if the argument list is empty, a path is not absolute, a text contains a NUL byte, or the name
///   of a variable is not valid or not unique; for granted access on other systems than Linux.
/// - `launch/record` if `record` fails.
/// - `launch/exec` if the system does not start the program.
/// - `launch/handshake` if the launcher does not answer in 5 seconds.
/// - `launch/io` if the launcher cannot be started.
pub fn launch(
    spec: &LaunchSpec<'_>,
    access: Access<'_>,
    rule: EnforceRule,
    record: &mut dyn FnMut(&LaunchReport) -> io::Result<()>,
) -> Result<LaunchCheck, LaunchError> {
    spec.check()?;
    let name = spec.argv.first().map(|name| name.escape_debug().to_string()).unwrap_or_default();
    let mut record = |report: &LaunchReport| {
        record(report)
            .map_err(LaunchError::from_io(LaunchErrorKind::Record, format!("record the start of `{name}`")))
    };
    match access {
        Access::User => {
            let report = LaunchReport::of_user(&spec.program, &spec.env);
            record(&report)?;
            let child = spawn(&mut command(spec))
                .map_err(LaunchError::from_io(LaunchErrorKind::Exec, format!("start `{name}`")))?;
            Ok(LaunchCheck::Running(RunningProgram::of_user(child, report)))
        }
        Access::Granted(access) => confined(spec, access, rule, &mut record, &name),
    }
}

#[cfg(target_os = "linux")]
fn confined(
    spec: &LaunchSpec<'_>,
    access: &GrantedAccess,
    rule: EnforceRule,
    record: &mut dyn FnMut(&LaunchReport) -> Result<(), LaunchError>,
    name: &str,
) -> Result<LaunchCheck, LaunchError> {
    let launcher = Launcher::start(spec, access)?;
    let env = access.environment(&spec.env);
    let report = LaunchReport::of_granted(&spec.program, &env, access, launcher.facts());
    let is_refused = match rule {
        EnforceRule::BestEffort => false,
        // Without a namespace, the program is enforced in the same way, but processes that it leaves can go on.
        EnforceRule::Require => report.missing.iter().any(|missing| missing.word != "end"),
        EnforceRule::RequireEnd => !report.missing.is_empty(),
    };
    if is_refused {
        return Ok(LaunchCheck::Refused(LaunchRefusal { missing: report.missing }));
    }
    record(&report)?;
    let (child, group, socket) = launcher.go(name)?;
    Ok(LaunchCheck::Running(RunningProgram::of_launcher(child, group, socket, report)))
}

#[cfg(not(target_os = "linux"))]
fn confined(
    _spec: &LaunchSpec<'_>,
    _access: &GrantedAccess,
    _rule: EnforceRule,
    _record: &mut dyn FnMut(&LaunchReport) -> Result<(), LaunchError>,
    _name: &str,
) -> Result<LaunchCheck, LaunchError> {
    Err(LaunchError::spec("only Linux can enforce grants".to_owned()))
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
pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
    for _ in 1..BUSY_TRIES {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => std::thread::sleep(BUSY_WAIT),
            started => return started,
        }
    }
    command.spawn()
}
