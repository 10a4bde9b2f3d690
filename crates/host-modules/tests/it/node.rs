//! Plugins and guests under node, started by the tests.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Instant;

use plugward_host_modules::protocol::Lines;
use plugward_host_modules::{
    CallResult, GUEST_SHIM, GuestLimits, GuestSession, Modules, PLUGIN_SHIM, PipeInput, PluginInit,
    PluginLimits, ProgramPipe, RunningPlugin, SessionFault,
};

/// Returns the node to test with, if its version is at least `(major, minor)`. Prints why a test is skipped.
pub(crate) fn node(least: (u32, u32)) -> Option<String> {
    let node = std::env::var("PLUGWARD_TEST_NODE").unwrap_or_else(|_| "node".to_owned());
    let Ok(output) = Command::new(&node).arg("--version").output() else {
        println!("skipped: `{node}` does not start; PLUGWARD_TEST_NODE can name a node");
        return None;
    };
    let version = String::from_utf8(output.stdout).unwrap();
    let mut parts = version.trim().trim_start_matches('v').split('.').map(|part| part.parse().unwrap());
    let found = (parts.next().unwrap(), parts.next().unwrap());
    if found >= least {
        return Some(node);
    }
    println!("skipped: node {} is older than {}.{}", version.trim(), least.0, least.1);
    None
}

/// A program of the tests with lines from its output.
struct Program {
    child: Child,
    input: ChildStdin,
    lines: Receiver<PipeInput>,
}

impl Program {
    fn start(node: &str, directory: &Path, shim: &str) -> Self {
        let path = directory.join("shim.mjs");
        std::fs::write(&path, shim).unwrap();
        let mut command = Command::new(node);
        command.arg("--no-warnings").arg(&path).current_dir(directory);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let (input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let (mut splitter, mut buffer) = (Lines::of_plugin(), vec![0; 1 << 16]);
            loop {
                let size = output.read(&mut buffer).unwrap();
                let mut chunk = &buffer[..size];
                loop {
                    let input = match splitter.next_line(&mut chunk) {
                        Ok(Some(line)) => PipeInput::Line(line.into_owned()),
                        Ok(None) if size == 0 => PipeInput::End,
                        Ok(None) => break,
                        Err(error) => PipeInput::Faulty(error),
                    };
                    let is_last = !matches!(input, PipeInput::Line(_));
                    if sender.send(input).is_err() || is_last {
                        return;
                    }
                }
            }
        });
        Self { child, input, lines }
    }
}

impl ProgramPipe for Program {
    fn send(&mut self, line: &str, _: Option<Instant>) -> io::Result<()> {
        self.input.write_all(format!("{line}\n").as_bytes())
    }

    fn receive(&mut self, deadline: Option<Instant>) -> io::Result<PipeInput> {
        let Some(deadline) = deadline else { return Ok(self.lines.recv().unwrap()) };
        let received = self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now()));
        Ok(received.unwrap_or_else(|error| match error {
            RecvTimeoutError::Timeout => PipeInput::Late,
            RecvTimeoutError::Disconnected => PipeInput::End,
        }))
    }

    fn now(&self) -> Instant {
        Instant::now()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Starts the plugin with this entry in a directory.
pub(crate) fn plugin(
    node: &str,
    directory: &Path,
    entry: &str,
    config: serde_json::Value,
    limits: PluginLimits,
) -> Result<RunningPlugin, SessionFault> {
    let program = Program::start(node, directory, PLUGIN_SHIM);
    let config = serde_json::from_value(config).unwrap();
    RunningPlugin::start(&PluginInit { entry: entry.to_owned(), config }, limits, Box::new(program))
}

/// Runs a guest to its end.
pub(crate) fn guest(
    node: &str,
    source: &str,
    modules: &mut Modules<'_>,
    limits: GuestLimits,
) -> Result<CallResult, SessionFault> {
    let directory = tempfile::tempdir().unwrap();
    let mut program = Program::start(node, directory.path(), GUEST_SHIM);
    GuestSession::run(source, modules, limits, &mut program)
}
