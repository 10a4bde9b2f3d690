//! `plugward command run` and `command describe`: starts a command plugin from its checked bytes.

use std::time::Duration;

use camino::Utf8Path;
use plugward_loader::launch::LaunchSpec;
use plugward_loader::protocol::{
    CommandSession, Init, LogLevel, PluginDescription, SessionLimits, Workspace,
};
use plugward_loader::{CheckedProgram, Part, ProgramError, SessionEnd, SessionPipes, project_of, sha256};
use serde_json::{Value, json};

use self::printer::{Printer, field};
use self::ready::PluginStart;
pub(crate) use self::ready::agree;
use crate::args::{CommandDescribeArgs, CommandRunArgs, CommandVerb, ListFormat};
use crate::command_host::CommandSetup;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::{Out, visible};
use crate::starts::{self, StartSubject};
use crate::{json, stores};
use plugward_loader::escape::line;

mod printer;
mod ready;

pub(crate) fn run(verb: &CommandVerb, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    match verb {
        CommandVerb::Run(args) => run_plugin(args, host, out),
        CommandVerb::Describe(args) => describe(args, host, out),
    }
}

fn run_plugin(args: &CommandRunArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let setup = CommandSetup::of_project(args.project.as_ref(), host, out)?;
    let words: Vec<&str> = args.name.split_whitespace().chain(args.args.iter().map(String::as_str)).collect();
    let start = PluginStart::ready(&setup, &words, host, out)?;
    let init = start.init(&setup, &words, args.project.as_deref(), host, out)?;
    let mut printer = Printer::new(out, args.format);
    let limits = limits(&setup);
    let ended = start.converse(&mut printer, host, |now| CommandSession::start(&init, limits, now));
    printer.finish(ended)
}

fn describe(args: &CommandDescribeArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let setup = CommandSetup::of_project(None, host, out)?;
    let words: Vec<&str> = args.name.iter().flat_map(|name| name.split_whitespace()).collect();
    let start = PluginStart::ready(&setup, &words, host, out)?;
    let mut printer = Printer::new(out, ListFormat::Table);
    let limits = limits(&setup);
    start.converse(&mut printer, host, |now| CommandSession::describe(limits, now))?;
    let Some(description) = printer.take_description() else { return Ok(130) };
    out.result(&match args.format {
        ListFormat::Json => json::render(&json!({ "version": 1, "plugin": description }))?,
        ListFormat::Table => text(&description),
    })?;
    Ok(0)
}

fn limits(setup: &CommandSetup) -> SessionLimits {
    SessionLimits::with_grace(Duration::from_secs(setup.policy.shutdown_timeout()))
}

fn text(plugin: &PluginDescription) -> String {
    let command = Some(plugin.command.join(" ")).filter(|command| !command.is_empty());
    let rows = [
        ("command", command.as_ref()),
        ("author", plugin.author.as_ref()),
        ("source", plugin.repository.as_ref()),
    ];
    let title = format!("{} {}: {}\n", line(&plugin.name), line(&plugin.version), line(&plugin.description));
    let rows = rows.into_iter().filter_map(|(label, value)| Some(field(label, value?)));
    let help = plugin.help.as_ref().map(|help| format!("\n{}\n", visible(help.trim_end())));
    rows.fold(title, |text, row| text + &row) + &help.unwrap_or_default()
}

impl PluginStart {
    /// Returns the first message of a session.
    fn init(
        &self,
        setup: &CommandSetup,
        words: &[&str],
        project: Option<&Utf8Path>,
        host: &Host,
        out: &Out,
    ) -> Result<Init, Failure> {
        let root = host::root(project.unwrap_or_else(|| Utf8Path::new(".")))?;
        let root = match project_of(&root) {
            Some(project) => project.as_str().to_owned(),
            None => host::real_path(project.unwrap_or_else(|| Utf8Path::new(".")))?.into_string(),
        };
        let data = host.data_dir()?.join("plugins/data").join(&self.id);
        host::own_directory(&data)?;
        let options = match crate::verbs::config::to_json(&setup.policy.options(&self.id).into()) {
            Value::Object(options) => options,
            _ => serde_json::Map::new(),
        };
        let used = self.name.split(' ').count();
        Ok(Init {
            plugin: self.id.clone(),
            workspace: Workspace {
                storage: format!("{root}/.plugward"),
                id: sha256(root.as_bytes()).hex().head(16).to_owned(),
                root,
            },
            user_data: Some(host::real_path(&data)?.into_string()),
            options,
            args: words.rest(used).iter().map(|word| (*word).to_owned()).collect(),
            log_level: match out.loudness {
                ..0 => LogLevel::Error,
                0 => LogLevel::Info,
                1 => LogLevel::Debug,
                2.. => LogLevel::Trace,
            },
        })
    }

    /// Starts the checked bytes, runs a session to its end, and records both in the ledger.
    fn converse(
        &self,
        printer: &mut Printer<'_>,
        host: &Host,
        session: impl FnOnce(std::time::Instant) -> (CommandSession, Vec<String>),
    ) -> Result<(), Failure> {
        let workflow = format!("command-run-{:08x}", u128::from_le_bytes(host::random()?) >> 96);
        let record = stores::record(host, Some(&workflow))?;
        if let Some(failure) = record.failure() {
            return Err(starts::not_recorded(failure));
        }
        let copies = host.state_dir()?.join("sealed");
        let dir = host::own_directory(&copies)?;
        let path = host::real_path(&copies)?;
        let program = CheckedProgram::copy(&self.handle, &self.digest, &self.file, &dir, path.as_str())
            .map_err(|error| program_failure(&error))?;
        let (pipes, interrupt) = SessionPipes::new();
        starts::interruptible(interrupt);
        let spec = LaunchSpec {
            program: program.program(),
            argv: vec![self.file.clone()],
            directory: starts::directory()?,
            env: host::environment().into_iter().collect(),
        };
        let plugin = format!("jp:{}", self.id);
        let subject = StartSubject {
            plugin: &plugin,
            file: &self.file,
            digest: &self.digest,
            coverage: program.coverage(),
        };
        let (running, number) = starts::start(&spec, &subject, &record)?;
        printer.say(&format!(
            "note: {} runs with your access to files, connections and processes",
            line(&self.name)
        ));
        let (session, first) = session(host::moment());
        let SessionEnd { session, program } = pipes.run(running, session, first, &host::moment, printer);
        let recorded = record.launch_ended(number, program.as_ref().ok().copied());
        session.map_err(|error| starts::session_failure(&error))?;
        program.map_err(|error| starts::launch_failure(&error))?;
        recorded.map_err(|failure| starts::not_recorded(&failure))
    }
}

fn program_failure(error: &ProgramError) -> Failure {
    let exit = if matches!(error, ProgramError::Differs { .. }) { 4 } else { 1 };
    starts::failed(exit, error).code(error.code()).help(error.help())
}
