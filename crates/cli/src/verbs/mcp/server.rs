//! The program of an MCP server: a command of the user, or a server of a checked plugin in a private copy.

use std::collections::BTreeMap;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use plugward_loader::launch::{EnforceRule, LaunchSpec, Program, RunningProgram};
use plugward_loader::manifest::{
    CommandContext, Coverage, Dialect, RelativeBase, SurfaceFact, SurfaceItem, SurfaceKind, judge_argv,
};
use plugward_loader::pinstore::McpOwner;
use plugward_loader::{
    CheckMode, Host as Sides, LaunchSubject, LoadedPlugin, McpServer, NoGrants, NoPerson, Outcome,
    PluginReport, Record, SealedCopy, Stores, ledger_name, load,
};

use super::wrapped_name;
use crate::access::{GrantList, GrantTarget, Grantee, LaunchRules, StartAccess, programs};
use crate::args::DiscoveryOptions;
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::progress::Progress;
use crate::settings::Settings;
use crate::starts::{self, RecordedStart};
use crate::stores;
use crate::text::first_line;
use crate::verbs::{select, shared};
use plugward_loader::escape::line;

/// A server that can start.
pub(super) struct ServerStart {
    pub(super) server: McpServer,
    program: Utf8PathBuf,
    /// The directory in which the server starts.
    directory: Utf8PathBuf,
    argv: Vec<String>,
    env: BTreeMap<String, String>,
    coverage: Coverage,
    copy: Option<(SealedCopy, Utf8PathBuf)>,
    rule: EnforceRule,
    /// What is granted, and the private directory. `None` is the access of the user.
    granted: Option<(GrantList, Utf8PathBuf)>,
    /// The variables that the start sets besides those of the environment.
    own: BTreeMap<String, String>,
}

impl ServerStart {
    /// Prepares a command of the user, which starts in `directory`. With grants, it starts in the directory of its entry,
    /// or in its private directory.
    pub(super) fn wrapped(
        name: &str,
        command: &[String],
        directory: &str,
        settings: &Settings,
        host: &Host,
    ) -> Result<Self, Failure> {
        let name = wrapped_name(name)?.to_owned();
        let server = McpServer {
            owner: McpOwner::User,
            shown: name.clone(),
            name,
            command: command.to_vec(),
            directory: directory.to_owned(),
        };
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let coverage = judge_argv(&words, &CommandContext::new(Dialect::Claude)).coverage();
        let first = command.first().ok_or_else(|| Failure::usage("the command of the server is empty"))?;
        if first.starts_with("http://") || first.starts_with("https://") {
            return Err(remote(&server.name));
        }
        let rules = LaunchRules::here(settings, host)?;
        let granted = match rules.grants(GrantTarget::Server { name: &server.name, command })? {
            Some(list) => {
                let own = format!("mcp:{}\0{}", server.name, command.join("\0"));
                Some((list, stores::plugin_data(host, &own)?))
            }
            None => None,
        };
        let directory = match &granted {
            Some((list, home)) => list.start_directory()?.unwrap_or_else(|| home.clone()),
            None => Utf8PathBuf::from(directory),
        };
        let program = program_of(first, &directory, granted.as_ref().map(|(list, _)| list))?;
        let (argv, env, own) = (command.to_vec(), host::environment(), BTreeMap::new());
        let rule = rules.enforce;
        Ok(Self { server, program, directory, argv, env, coverage, copy: None, rule, granted, own })
    }

    /// Checks a plugin as `check` does, and prepares one of its servers in a private copy.
    pub(super) fn of_plugin(
        shown: &str,
        settings: &Settings,
        stores: &mut Stores,
        host: &Host,
        out: &Out,
    ) -> Result<Self, Failure> {
        let Some((id, name)) = shown.rsplit_once('/') else {
            let help = "for a command, run: plugward mcp run --name NAME -- COMMAND";
            return Err(Failure::usage(format!("{} is not ID/SERVER", line(shown))).help(help));
        };
        super::require_plugin_directory(id)?;
        let loaded = checked(id, &[], settings, stores, host, out)?;
        let is_server = |item: &&SurfaceItem| item.kind() == SurfaceKind::McpServer && item.name() == name;
        let found = loaded.surface().find(|(_, item)| is_server(item));
        let (dialect, item) = found.ok_or_else(|| {
            Failure::usage(format!("{} has no server {}", line(id), line(name)))
                .help(format!("list its servers: plugward info {}", shared::quoted(id)))
        })?;
        let Some(first) = item.argv().first() else { return Err(remote(name)) };
        let copies = host.state_dir()?.join("sealed");
        let dir = host::own_directory(&copies)?;
        let sealed = loaded.seal_into(&dir).map_err(|error| starts::not_sealed(&error))?;
        let root = host::real_path(&copies)?.join(sealed.path());
        let directory = match directory_of(dialect, item, &root) {
            Ok(directory) => directory,
            Err(failure) => {
                sealed.remove()?;
                return Err(failure);
            }
        };
        let rules = LaunchRules::here(settings, host)?;
        let granted = match rules.grants(GrantTarget::Plugin(loaded.key()))? {
            Some(list) => Some((list, stores::plugin_data(host, &loaded.key().to_string())?)),
            None => None,
        };
        let variables = Variables { root: &root, granted: granted.as_ref().map(|(list, _)| list) };
        let mut start = Self {
            server: McpServer {
                owner: McpOwner::Plugin(loaded.key().clone()),
                name: name.to_owned(),
                shown: shared::quoted(shown),
                command: item.argv().to_vec(),
                directory: String::new(),
            },
            program: Utf8PathBuf::new(),
            directory,
            argv: item.argv().iter().map(|word| variables.expand(word)).collect(),
            env: host::environment(),
            coverage: item.coverage(),
            copy: Some((sealed, root.clone())),
            rule: rules.enforce,
            own: BTreeMap::from([("CLAUDE_PLUGIN_ROOT".to_owned(), root.to_string())]),
            granted: None,
        };
        if let Some(SurfaceFact::Map(env)) = item.facts().get("env") {
            start.own.extend(env.iter().map(|(name, value)| (name.clone(), variables.expand(value))));
        }
        start.env.extend(start.own.clone());
        let first = variables.expand(first);
        start.program = program_of(&first, &start.directory, variables.granted)?;
        start.granted = granted;
        Ok(start)
    }

    /// Starts the program, and records the start.
    pub(super) fn start(
        &self,
        host: &Host,
        record: &Record,
    ) -> Result<(RunningProgram, RecordedStart), Failure> {
        let digest = starts::digest_of(&self.program)?;
        let path = self.program.as_str();
        let is_copy = self.copy.as_ref().is_some_and(|(_, root)| self.program.starts_with(root));
        let spec = LaunchSpec {
            program: if is_copy { Program::Copy { path, reason: None } } else { Program::System { path } },
            argv: self.argv.clone(),
            directory: self.directory.to_string(),
            env: self.env.clone().into_iter().collect(),
        };
        let (plugin, owner) = match &self.server.owner {
            McpOwner::Plugin(key) => (format!("{key}/{}", self.server.name), ledger_name(key)),
            McpOwner::User => (format!("mcp:{}", self.server.name), format!("mcp:{}", self.server.name)),
        };
        let to = Grantee {
            plugin: &owner,
            home: self.granted.as_ref().map_or(Utf8Path::new(""), |(_, home)| home),
            tree: self.copy.as_ref().map(|(_, root)| root.as_path()),
            program: Some(&self.program),
            coverage: self.coverage,
        };
        let list = self.granted.as_ref().map(|(list, _)| list);
        let mut access = StartAccess::open(list, &to, self.rule, host, record)?;
        if let Some((_, root)) = &self.copy {
            access = access.set_variables_of_plugin(&self.own, root, record)?;
        }
        let (digest, coverage) = (digest.as_ref(), self.coverage);
        let subject = LaunchSubject { plugin: &plugin, file: path, digest, coverage };
        starts::start(&spec, &subject, access, record)
    }

    /// Removes the private copy.
    pub(super) fn remove_copy(mut self) -> io::Result<()> {
        self.copy.take().map_or(Ok(()), |(sealed, _)| sealed.remove())
    }
}

impl Drop for ServerStart {
    fn drop(&mut self) {
        // A start that failed reports its own error.
        let _removed = self.copy.take().map(|(sealed, _)| sealed.remove());
    }
}

/// Checks a plugin and pins it, as `check` does. `dirs` are searched first.
pub(in crate::verbs) fn checked(
    id: &str,
    dirs: &[Utf8PathBuf],
    settings: &Settings,
    stores: &mut Stores,
    host: &Host,
    out: &Out,
) -> Result<LoadedPlugin, Failure> {
    let finding = DiscoveryOptions::default();
    let (key, records) = select::on_disk(id, dirs, &finding, host, out)?;
    let mut options = shared::options(None, CheckMode::Commit, &finding, settings, host)?;
    let roots = shared::roots_of(&key, &records)?;
    options.installs = records;
    shared::refuse_own_policy(&roots, &options, host, out)?;
    let progress = Progress::new(out.live);
    let mut sides = Sides { watch: &progress, person: &mut NoPerson, grants: &NoGrants };
    let checked = load(&roots, stores, &mut options, &mut sides);
    progress.done();
    let exit = checked.report().exit;
    let mut refused: Option<PluginReport> = None;
    for outcome in checked.into_outcomes() {
        match outcome {
            Outcome::Load(loaded) if *loaded.key() == key => return Ok(loaded),
            Outcome::Ask { report } | Outcome::Refuse { report } if report.key == key => {
                refused = Some(report);
            }
            _ => {}
        }
    }
    let Some(report) = refused else {
        return Err(Failure::exiting(exit.max(2), format!("not a plugin: {}", line(id))));
    };
    for reason in report.reasons.iter().skip(1) {
        out.report(&Diagnostic::warning(first_line(&reason.message)).code(&reason.code));
    }
    let Some(first) = report.reasons.first() else {
        return Err(Failure::internal(format!("{} is refused without a reason", line(id))));
    };
    Err(Failure::exiting(exit, format!("{} does not load: {}", line(id), first_line(&first.message)))
        .code(&first.code)
        .help(format!("see the whole report: plugward explain {}", shared::quoted(id))))
}

fn remote(name: &str) -> Failure {
    Failure::usage(format!("{} is a server by URL, whose lines do not pass through plugward", line(name)))
        .code("mcp/remote")
        .help("start a local server, or add the URL to the host without plugward")
}

/// The variables in the command of a plugin's server.
struct Variables<'a> {
    root: &'a Utf8Path,
    /// What the server is granted. `None` is everything of the user.
    granted: Option<&'a GrantList>,
}

impl Variables<'_> {
    /// Replaces variables with their values or defaults. One that is not granted is as one that is not set.
    fn expand(&self, word: &str) -> String {
        let mut out = String::new();
        let mut rest = word;
        while let Some((before, after)) = rest.split_once("${") {
            out.push_str(before);
            let Some((inside, after)) = after.split_once('}') else {
                out.push_str("${");
                rest = after;
                continue;
            };
            let (name, default) =
                inside.split_once(":-").map_or((inside, None), |(name, text)| (name, Some(text)));
            // The host leaves an unset variable as it is, too.
            let value = self.value(name).or_else(|| default.map(str::to_owned));
            out.push_str(&value.unwrap_or_else(|| format!("${{{inside}}}")));
            rest = after;
        }
        out.push_str(rest);
        out
    }

    fn value(&self, name: &str) -> Option<String> {
        match self.granted {
            _ if name == "CLAUDE_PLUGIN_ROOT" => Some(self.root.to_string()),
            Some(list) if !list.has_variable(name) => None,
            _ => host::named_variable(name),
        }
    }
}

/// Returns the file of a program. What is granted is for the program itself, and not for a shim that selects one.
fn program_of(word: &str, directory: &Utf8Path, granted: Option<&GrantList>) -> Result<Utf8PathBuf, Failure> {
    if word.contains('/') {
        return Ok(directory.join(word));
    }
    let found = granted.and_then(|_| programs::find(word, &programs::own_path()));
    found.map_or_else(|| host::program(word), Ok)
}

/// Returns the directory in which a server starts. It is the one from which the check read its relative paths: a plugin
/// that was judged inside its own root must not run a file of the caller's directory.
fn directory_of(dialect: Dialect, item: &SurfaceItem, root: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
    let is_rooted = dialect.relative_base() == RelativeBase::Root;
    let Some(SurfaceFact::Text(cwd)) = item.facts().get("cwd") else {
        return Ok(if is_rooted { root.to_owned() } else { starts::directory()?.into() });
    };
    let path = root.join(Variables { root, granted: None }.expand(cwd));
    let is_inside = path.starts_with(root) && path.components().all(|part| part.as_str() != "..");
    if is_inside && (is_rooted || cwd.starts_with("${")) {
        return Ok(path);
    }
    Err(Failure::usage(format!("the server starts in {}, outside of its plugin", line(cwd))).help(
        "let your host start it, with `plugward mcp run --name NAME -- COMMAND` in the host's settings",
    ))
}
