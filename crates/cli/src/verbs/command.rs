//! `plugward command run` and `command describe`: starts a command plugin from its checked bytes.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use plugward_loader::launch::{LaunchSpec, Program};
use plugward_loader::protocol::{
    CommandSession, Init, LogLevel, PluginDescription, SessionLimits, Workspace,
};
use plugward_loader::{
    CheckedProgram, LaunchSubject, Part, ProgramError, SessionEnd, SessionPipes, project_of, sha256,
};
use serde_json::{Value, json};

use self::printer::{Printer, field};
use self::ready::PluginStart;
pub(crate) use self::ready::agree;
use crate::access::{GrantList, GrantTarget, Grantee, StartAccess};
use crate::args::{CommandDescribeArgs, CommandRunArgs, CommandVerb, ListFormat};
use crate::command_host::{CommandSetup, command_ledger_name};
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::{Out, visible};
use crate::{json, starts, stores};
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
    // The words of a name can be one argument, and those of the plugin are separate.
    let (name, rest) = args.words.split_first().unzip();
    let name = name.map(|name| name.split_whitespace()).into_iter().flatten();
    let words: Vec<&str> = name.chain(rest.into_iter().flatten().map(String::as_str)).collect();
    let start = PluginStart::ready(&setup, &words, host, out)?;
    let init = start.init(&setup, &words, args.project.as_deref(), host, out)?;
    let grants = start.grants(&setup, args.access.grants())?;
    let mut printer = Printer::new(out, args.format);
    let limits = limits(&setup);
    let ended = start.converse(&setup, grants.as_ref(), &mut printer, host, |now| {
        CommandSession::start(&init, limits, now)
    });
    printer.finish(ended)
}

fn describe(args: &CommandDescribeArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let setup = CommandSetup::of_project(None, host, out)?;
    let words: Vec<&str> = args.name.iter().flat_map(|name| name.split_whitespace()).collect();
    let start = PluginStart::ready(&setup, &words, host, out)?;
    let grants = start.grants(&setup, None)?;
    let mut printer = Printer::new(out, ListFormat::Table);
    let limits = limits(&setup);
    start
        .converse(&setup, grants.as_ref(), &mut printer, host, |now| CommandSession::describe(limits, now))?;
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
        let data = self.data(host)?;
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
            user_data: Some(data.into_string()),
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

    /// Returns what the plugin is granted: the flags, or else its entry.
    fn grants(&self, setup: &CommandSetup, flags: Option<GrantList>) -> Result<Option<GrantList>, Failure> {
        match flags {
            Some(list) => Ok(Some(list)),
            None => setup.launch.grants(GrantTarget::Command(&self.id)),
        }
    }

    /// Creates the directory that the plugin can write, and returns its real path.
    fn data(&self, host: &Host) -> Result<Utf8PathBuf, Failure> {
        let data = host.data_dir()?.join("plugins/data").join(&self.id);
        host::own_directory(&data)?;
        host::real_path(&data)
    }

    /// Starts the checked bytes, runs a session to its end, and records both in the ledger.
    fn converse(
        &self,
        setup: &CommandSetup,
        grants: Option<&GrantList>,
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
        let plugin = command_ledger_name(&self.id);
        let coverage = program.coverage();
        let subject =
            LaunchSubject { plugin: &plugin, file: &self.file, digest: Some(&self.digest), coverage };
        let script = match program.program() {
            Program::Copy { path, .. } => Some(Utf8Path::new(path)),
            _ => None,
        };
        let to = Grantee {
            plugin: &plugin,
            home: &self.data(host)?,
            tree: script.and_then(Utf8Path::parent),
            program: script,
            coverage,
        };
        let access = StartAccess::open(grants, &to, setup.launch.enforce, host, &record)?;
        let (running, started) = starts::start(&spec, &subject, access, &record)?;
        printer.announce(running.report(), &line(&self.name));
        let (session, first) = session(host::moment());
        let SessionEnd { session, program } = pipes.run(running, session, first, &host::moment, printer);
        let recorded = started.end(&record, program.as_ref().ok().copied());
        session.map_err(|error| starts::session_failure(&error))?;
        program.map_err(|error| starts::launch_failure(&error))?;
        recorded.map_err(|failure| starts::not_recorded(&failure))
    }
}

fn program_failure(error: &ProgramError) -> Failure {
    let exit = if matches!(error, ProgramError::Differs { .. }) { 4 } else { 1 };
    starts::failed(exit, error).code(error.code()).help(error.help())
}
