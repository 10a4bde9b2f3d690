//! Starts the commands of hooks, with the access of their plugins.

use std::collections::BTreeMap;
use std::io;
use std::process::{Child, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use plugward_loader::hook_events::{HookCommand, Start};
use plugward_loader::launch::{
    Access, EnforceRule, LaunchCheck, LaunchError, LaunchReport, LaunchSpec, Program, ProgramLife, launch,
};
use plugward_loader::manifest::{CommandContext, Coverage, Dialect, judge_argv};
use plugward_loader::{HookPlugins, LaunchLog, LaunchSubject, Record, RecordFailure, ledger_name};

use crate::access::{GrantTarget, Grantee, LaunchRules, StartAccess, programs};
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::starts::{self, StartError};
use crate::stores;

/// The variables that tell a hook where its plugin and the project are.
const OWN: [&str; 5] =
    ["CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA", "PLUGIN_ROOT", "PLUGIN_DATA"];
/// The search path of the system, for an environment without one.
const PATH: &str = "/usr/bin:/bin";

/// The process group of the last started hook, or 0.
///
/// It is locked while a hook is started. Otherwise an interrupt could arrive while a hook already runs, but before its
/// process group is known.
static RUNNING: Mutex<i32> = Mutex::new(0);

pub(super) fn running() -> MutexGuard<'static, i32> {
    lock(&RUNNING)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts commands and remembers their process group, because an interrupt of the terminal does not reach that group.
///
/// Commands of plugins have the granted access, and each of their starts is recorded first.
#[derive(Default)]
pub(super) struct HookStarter {
    plugins: BTreeMap<String, HookPlugin>,
    log: Option<LaunchLog>,
    /// The running commands of plugins, by process id.
    started: Mutex<BTreeMap<u32, (Option<u64>, ProgramLife)>>,
    /// The first failure of the ledger.
    unrecorded: Mutex<Option<RecordFailure>>,
    /// The first start whose limits this system does not enforce.
    limited: Mutex<Option<LaunchReport>>,
}

/// A plugin with commands.
struct HookPlugin {
    /// The name in the ledger.
    name: String,
    root: Utf8PathBuf,
    /// The access of each start, which adds what its program needs; or why its hooks do not start.
    access: Result<StartAccess, String>,
    /// The granted variables that are set.
    env: Vec<(String, String)>,
}

impl HookStarter {
    /// Opens what the plugins with private copies in `sealed` are granted. If that fails for a plugin, its hooks fail, and
    /// those of the user and of other plugins run.
    pub(super) fn new(
        plugins: &HookPlugins,
        sealed: &Utf8Path,
        rules: Result<LaunchRules, Failure>,
        record: &Record,
        host: &Host,
        out: &Out,
    ) -> Result<Self, Failure> {
        let failed = |failure: Failure| {
            out.complain(failure.render(out.width).trim_end());
            failure.to_string()
        };
        // The settings of a project that cannot be read could forbid what the user grants.
        let rules = rules.map_err(failed);
        let mut opened = BTreeMap::new();
        for (id, plugin, copy) in plugins.copies() {
            let (name, root) = (ledger_name(plugin.key()), sealed.join(copy.path()));
            let granted = rules.as_ref().map_err(Clone::clone).and_then(|rules| {
                let list = rules.grants(GrantTarget::Plugin(plugin.key())).map_err(failed)?;
                Ok((list, rules.enforce))
            });
            let opening = granted.and_then(|(list, enforce)| {
                let home = stores::plugin_data(host, &plugin.key().to_string()).map_err(failed)?;
                let coverage = Coverage::ScriptInterpreterUncovered;
                let to = Grantee { plugin: &name, home: &home, tree: Some(&root), program: None, coverage };
                let access = StartAccess::open(list.as_ref(), &to, enforce, host, record).map_err(failed)?;
                Ok((access, list.map(|list| list.set_variables()).unwrap_or_default()))
            });
            let (access, env) = match opening {
                Ok((access, env)) => (Ok(access), env),
                Err(why) => (Err(why), Vec::new()),
            };
            opened.insert(id.to_owned(), HookPlugin { name, root, access, env });
        }
        let log = record.launches().map_err(|failure| starts::not_recorded(&failure))?;
        Ok(Self { plugins: opened, log: Some(log), ..Self::default() })
    }

    /// Returns the failure of the ledger, and warns about limits that are not enforced.
    pub(super) fn finish(&self, out: &Out) -> Option<RecordFailure> {
        if let Some(report) = lock(&self.limited).take() {
            starts::announce(&report, "hooks", out);
        }
        lock(&self.unrecorded).take()
    }

    fn unrecorded(&self, failure: RecordFailure) -> io::Error {
        let error = io::Error::other(failure.to_string());
        lock(&self.unrecorded).get_or_insert(failure);
        error
    }

    /// Starts a command of a plugin.
    fn of_plugin(&self, plugin: &HookPlugin, log: &LaunchLog, command: &HookCommand) -> io::Result<Child> {
        let failed = |failure: Failure| io::Error::other(failure.to_string());
        let access = plugin.access.as_ref().map_err(|why| io::Error::other(why.clone()))?;
        let path = program(command, access)?;
        let mut access = access.of_program(&path, &plugin.root).map_err(failed)?;
        for (name, value) in command.env.iter().filter(|(name, _)| OWN.contains(&name.as_str())) {
            access.set_variable(name, value).map_err(failed)?;
        }
        let digest = starts::digest_of(&path).map_err(failed)?;
        let words: Vec<&str> = command.argv.iter().map(String::as_str).collect();
        let coverage = judge_argv(&words, &CommandContext::new(Dialect::Claude)).coverage();
        let (file, digest) = (path.as_str(), digest.as_ref());
        let subject = LaunchSubject { plugin: &plugin.name, file, digest, coverage };
        let is_copy = path.starts_with(&plugin.root);
        let path = path.as_str();
        let program = if is_copy { Program::Copy { path, reason: None } } else { Program::System { path } };
        let (granted, rule) = access.parts();
        let mut spec = spec(program, command);
        spec.env.extend(plugin.env.iter().cloned());
        match starts::begin(&spec, &subject, granted, rule, log) {
            Ok((running, number)) => {
                if !running.report().missing.is_empty() {
                    lock(&self.limited).get_or_insert_with(|| running.report().clone());
                }
                let (child, life) = running.into_child();
                lock(&self.started).insert(child.id(), (Some(number), life));
                Ok(child)
            }
            Err(StartError::NotRecorded(failure)) => Err(self.unrecorded(failure)),
            Err(StartError::Launch(error)) => Err(io_error(&error)),
            Err(other) => Err(failed(other.into())),
        }
    }

    /// Starts a command of the user or of a project.
    fn of_user(&self, command: &HookCommand) -> io::Result<Child> {
        let path = program(command, &StartAccess::User)?;
        let spec = spec(Program::System { path: path.as_str() }, command);
        match launch(&spec, Access::User, EnforceRule::Require, &mut |_| Ok(())) {
            Ok(LaunchCheck::Running(running)) => {
                let (child, life) = running.into_child();
                lock(&self.started).insert(child.id(), (None, life));
                Ok(child)
            }
            Ok(LaunchCheck::Refused(_)) => Err(io::ErrorKind::Unsupported.into()),
            Err(error) => Err(io_error(&error)),
        }
    }
}

impl Start for HookStarter {
    fn start(&self, command: &HookCommand) -> io::Result<Child> {
        let mut running = running();
        let plugin = command.plugin.as_ref().map(|id| self.plugins.get(id).zip(self.log.as_ref()));
        let child = match plugin {
            None => self.of_user(command)?,
            Some(Some((plugin, log))) => {
                // The private copy is gone when the message is read, so paths in it are those of the plugin.
                let root = format!("{}/", plugin.root);
                let shown =
                    |error: io::Error| io::Error::new(error.kind(), error.to_string().replace(&root, ""));
                self.of_plugin(plugin, log, command).map_err(shown)?
            }
            // A plugin without a private copy is refused in the plan.
            Some(None) => return Err(io::Error::other("a plugin without a private copy")),
        };
        *running = i32::try_from(child.id()).unwrap_or(0);
        Ok(child)
    }

    fn ended(&self, id: u32, end: Option<ExitStatus>) {
        let started = lock(&self.started).remove(&id);
        if let (Some((Some(number), _life)), Some(log)) = (started, &self.log)
            && let Err(failure) = log.ended(number, end)
        {
            let _reported_at_the_end = self.unrecorded(failure);
        }
    }
}

fn spec<'a>(program: Program<'a>, command: &HookCommand) -> LaunchSpec<'a> {
    let HookCommand { argv, directory, env, .. } = command.clone();
    LaunchSpec { program, argv, directory, env }
}

/// Returns the file of a command: a path from its working directory, or a program on the search path of its environment.
/// With granted access, it is not a shim.
fn program(command: &HookCommand, access: &StartAccess) -> io::Result<Utf8PathBuf> {
    let name = command.argv.first().ok_or(io::ErrorKind::InvalidInput)?;
    let directory = Utf8Path::new(&command.directory);
    if name.contains('/') {
        return Ok(directory.join(name));
    }
    let path = command.env.iter().find(|(name, _)| name == "PATH").map_or(PATH, |(_, path)| path);
    let found = if access.is_granted() {
        programs::find(name, &programs::search_path(path))
    } else {
        let mut files = path.split(':').map(|dir| directory.join(dir).join(name));
        files.find(|file| host::is_executable(file))
    };
    found.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Keeps the kind of the system error, because a missing program has a code of its own.
fn io_error(error: &LaunchError) -> io::Error {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    let why = source.map(|source| format!(": {source}")).unwrap_or_default();
    io::Error::new(source.map_or(io::ErrorKind::Other, io::Error::kind), format!("{error}{why}"))
}
