//! Opens what is granted, and records it as capabilities.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use plugward_loader::capability::{
    Access as Level, AnyCapability, AnyScope, EnvScope, FsScope, NetScope, PluginName, ProgramRef,
    ScopeDirectory, ScopeError, SpawnScope, UseOutcome, Workflow,
};
use plugward_loader::launch::{Access, EnforceRule, GrantedAccess, check_grantable_variable};
use plugward_loader::manifest::Coverage;
use plugward_loader::sandbox_path::{Jail, JailError, Policy};
use plugward_loader::{Record, RecordFailure, Weight};

use super::{GrantKind, GrantList, GrantText, programs};
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::installed;
use crate::{machine, starts};
use plugward_loader::escape::line;

/// The program that gets the grants.
pub(crate) struct Grantee<'a> {
    /// The plugin's name in the ledger.
    pub(crate) plugin: &'a str,
    /// The private directory of the program.
    pub(crate) home: &'a Utf8Path,
    /// The private copy of the plugin.
    pub(crate) tree: Option<&'a Utf8Path>,
    /// The file that starts, if it can need an interpreter. With a `tree`, a manifest names it.
    pub(crate) program: Option<&'a Utf8Path>,
    pub(crate) coverage: Coverage,
}

/// The access of one start.
pub(crate) enum StartAccess {
    User,
    Granted { access: Box<GrantedAccess>, rule: EnforceRule, workflow: Option<Workflow> },
}

/// What the kernel needs for a grant, next to the capability.
enum OpenedGrant {
    Directory(Jail),
    Program(Utf8PathBuf, File),
    Named,
}

impl StartAccess {
    /// Opens what is granted, and records it. Without a list, the program has the access of the user.
    pub(crate) fn open(
        list: Option<&GrantList>,
        to: &Grantee<'_>,
        rule: EnforceRule,
        host: &Host,
        record: &Record,
    ) -> Result<Self, Failure> {
        let Some(list) = list else { return Ok(Self::User) };
        let (mut scopes, mut opened) = (Vec::new(), Vec::new());
        for (kind, text) in &list.grants {
            let (scope, grant) = open(*kind, text, host)?;
            // The same grant can be in two entries.
            if !scopes.contains(&scope) {
                scopes.push(scope);
                opened.push(grant);
            }
        }
        let failed = |error| starts::launch_failure(&error);
        let home = host::own_directory(to.home)?.into_std_file().into();
        let tree = to.tree.map(host::handle).transpose()?;
        let mut access = GrantedAccess::new(tree.as_ref().map(|tree| tree.as_fd()), home).map_err(failed)?;
        // A package runner starts what it downloads into its directory.
        if to.coverage.code().starts_with("launcher") {
            access.executable_home();
        }
        let path = programs::own_path();
        access.set_variable("PATH", &path).map_err(failed)?;
        if let Some(program) = to.program {
            add_program(&mut access, program, to.tree)?;
        }
        if scopes.is_empty() {
            return Ok(Self::Granted { access: Box::new(access), rule, workflow: None });
        }
        let plugin = PluginName::new(to.plugin).map_err(|error| invalid(&error))?;
        let (bundle, workflow) = record.grant(&plugin, scopes).map_err(|failure| refused(&failure))?;
        for (capability, grant) in bundle.into_iter().zip(opened) {
            add(&mut access, &capability, grant)?;
        }
        Ok(Self::Granted { access: Box::new(access), rule, workflow: Some(workflow) })
    }

    /// Returns the access and the rule for the start.
    pub(crate) fn parts(&self) -> (Access<'_>, EnforceRule) {
        match self {
            Self::User => (Access::User, EnforceRule::Require),
            Self::Granted { access, rule, .. } => (Access::Granted(access), *rule),
        }
    }

    /// Sets a variable that tells the program where its plugin is.
    pub(crate) fn set_variable(&mut self, name: &str, value: &str) -> Result<(), Failure> {
        match self {
            Self::User => Ok(()),
            Self::Granted { access, .. } => {
                access.set_variable(name, value).map_err(|error| starts::launch_failure(&error))
            }
        }
    }

    /// Sets the variables that a checked file of a plugin names. An error ends the capabilities of the start.
    pub(crate) fn set_variables_of_plugin(
        mut self,
        variables: &BTreeMap<String, String>,
        tree: &Utf8Path,
        record: &Record,
    ) -> Result<Self, Failure> {
        if let Self::Granted { access, .. } = &mut self {
            let set =
                |(name, value): (&String, &String)| access.set_variable_of_plugin(name, value, tree.as_str());
            if let Err(error) = variables.iter().try_for_each(set) {
                self.close(record, UseOutcome::Failed).map_err(|failure| starts::not_recorded(&failure))?;
                return Err(starts::launch_failure(&error));
            }
        }
        Ok(self)
    }

    /// Returns the access of one of several starts, with what its program needs. The others do not get that.
    pub(crate) fn of_program(&self, program: &Utf8Path, tree: &Utf8Path) -> Result<Self, Failure> {
        let Self::Granted { access, rule, .. } = self else { return Ok(Self::User) };
        let mut access = access.try_clone().map_err(|error| starts::launch_failure(&error))?;
        add_program(&mut access, program, Some(tree))?;
        Ok(Self::Granted { access: Box::new(access), rule: *rule, workflow: None })
    }

    /// Adds what a program needs that the user installed, such as an interpreter on `PATH`.
    pub(crate) fn add_program(&mut self, program: &Utf8Path) -> Result<(), Failure> {
        match self {
            Self::User => Ok(()),
            Self::Granted { access, .. } => add_program(access, program, None),
        }
    }

    /// Leaves the end of the capabilities to the caller, whose command has others in the same workflow.
    pub(crate) fn in_open_workflow(mut self) -> Self {
        if let Self::Granted { workflow, .. } = &mut self {
            *workflow = None;
        }
        self
    }

    pub(crate) const fn is_granted(&self) -> bool {
        matches!(self, Self::Granted { .. })
    }

    /// Ends the capabilities of the start.
    pub(crate) fn close(self, record: &Record, outcome: UseOutcome) -> Result<(), RecordFailure> {
        match self {
            Self::Granted { workflow: Some(workflow), .. } => record.close(workflow, outcome),
            _ => Ok(()),
        }
    }
}

fn add(access: &mut GrantedAccess, capability: &AnyCapability, grant: OpenedGrant) -> Result<(), Failure> {
    let added = match (capability, grant) {
        (AnyCapability::FsReadWrite(one), OpenedGrant::Directory(jail)) => access.directory(one, &jail),
        (AnyCapability::NetConnect(one), _) => {
            access.connect(one);
            Ok(())
        }
        (AnyCapability::EnvRead(one), _) => access.variables(one),
        (AnyCapability::ProcessSpawn(one), OpenedGrant::Program(path, file)) => {
            add_program(access, &path, None)?;
            access.program(one, file.as_fd())
        }
        _ => return Err(Failure::internal("a capability of another kind")),
    };
    added.map_err(|error| starts::launch_failure(&error))
}

/// Adds what a program and its interpreters need. With a `tree`, a manifest names the program.
fn add_program(
    access: &mut GrantedAccess,
    program: &Utf8Path,
    tree: Option<&Utf8Path>,
) -> Result<(), Failure> {
    for directory in programs::installations(program, tree) {
        let added = access.installation(host::handle(&directory)?.as_fd());
        added.map_err(|error| starts::launch_failure(&error))?;
    }
    Ok(())
}

fn open(kind: GrantKind, grant: &GrantText, host: &Host) -> Result<(AnyScope, OpenedGrant), Failure> {
    let text = grant.text.as_str();
    let bad = |expected: &str, error: Option<ScopeError>| {
        let why = error.map(|error| format!(": {error}")).unwrap_or_default();
        grant.wrong(format!("not a grant: `{}`{why}", line(text)), expected)
    };
    let scope = match kind {
        GrantKind::Read => return directory(grant, Level::Read, host),
        GrantKind::Write => return directory(grant, Level::ReadWrite, host),
        GrantKind::Connect => {
            const EXPECTED: &str = "one host and a port, such as api.example.com:443";
            let parts = text.rsplit_once(':').and_then(|(name, port)| Some((name, port.parse().ok()?)));
            let (name, port) = parts.ok_or_else(|| bad(EXPECTED, None))?;
            AnyScope::NetConnect(NetScope::new(name, port).map_err(|error| bad(EXPECTED, Some(error)))?)
        }
        GrantKind::Listen => {
            const EXPECTED: &str = "a port from 1 to 65535";
            let port = text.parse().map_err(|_not_a_port| bad(EXPECTED, None))?;
            AnyScope::NetConnect(NetScope::listening(port).map_err(|error| bad(EXPECTED, Some(error)))?)
        }
        GrantKind::Env => {
            const EXPECTED: &str = "the name of a variable that loads no code, such as API_TOKEN";
            let scope = EnvScope::new(&[text]).map_err(|error| bad(EXPECTED, Some(error)))?;
            check_grantable_variable(text).map_err(|error| grant.wrong(error.to_string(), EXPECTED))?;
            AnyScope::EnvRead(scope)
        }
        GrantKind::Run => {
            const EXPECTED: &str = "the name of a program on PATH, or its absolute path";
            let path = if text.contains('/') {
                absolute(grant)?
            } else {
                let path = programs::own_path();
                let missing = || grant.wrong(format!("{} is not on PATH", line(text)), EXPECTED);
                programs::find(text, &path).ok_or_else(missing)?
            };
            let is_program =
                |file: &File| file.metadata().is_ok_and(|data| data.is_file() && data.mode() & 0o111 != 0);
            let file = host::handle(&path)
                .ok()
                .filter(is_program)
                .ok_or_else(|| grant.wrong(format!("not an executable file: `{}`", line(text)), EXPECTED))?;
            let name = ProgramRef::Name(path.file_name().unwrap_or_default().to_owned());
            let scope = SpawnScope::new(name, &[&["**"]]).map_err(|error| bad(EXPECTED, Some(error)))?;
            return Ok((AnyScope::ProcessSpawn(scope), OpenedGrant::Program(path, file)));
        }
    };
    Ok((scope, OpenedGrant::Named))
}

/// Returns the absolute path of a grant. In a settings file it is absolute or starts with `~`, because the file applies
/// in every directory.
pub(super) fn absolute(grant: &GrantText) -> Result<Utf8PathBuf, Failure> {
    let path = host::expand(&grant.text);
    let path = match (path.is_absolute(), &grant.location) {
        (true, _) => path,
        (false, None) => Utf8PathBuf::from(starts::directory()?).join(path),
        (false, Some(_)) => {
            let message = format!("not an absolute path: `{}`", line(&grant.text));
            return Err(grant.wrong(message, "a path that starts with `/` or `~/`"));
        }
    };
    // A slash at the end would follow a symlink.
    Ok(path.components().collect())
}

fn directory(grant: &GrantText, level: Level, host: &Host) -> Result<(AnyScope, OpenedGrant), Failure> {
    let path = absolute(grant)?;
    let jail = Jail::open(&path, Policy::standard()).map_err(|error| {
        grant.wrong(
            format!("cannot grant `{}`: {}", line(path.as_str()), reason(&error)),
            "a directory that exists, and is neither a symlink nor `/`",
        )
    })?;
    if level == Level::ReadWrite {
        check_writable(grant, &host::real_path(&path)?, host)?;
    }
    let id = jail.id();
    let place = ScopeDirectory::new(path.as_str(), &format!("{}:{}", id.device(), id.inode()));
    let place = place.map_err(|error| grant.wrong(error.to_string(), error.help()))?;
    Ok((AnyScope::FsReadWrite(FsScope::new(place, level)), OpenedGrant::Directory(jail)))
}

fn reason(error: &JailError) -> String {
    match error.code() {
        "jail/not-found" => "no such directory".to_owned(),
        "jail/not-a-directory" => "it is not a directory".to_owned(),
        "jail/symlink" => "it is a symlink".to_owned(),
        "jail/is-root" => "it is the root of the file system".to_owned(),
        _ => error.to_string(),
    }
}

/// Refuses to grant writing to the home directory and its parents, and to the directories from which plugward and hosts
/// take settings and programs.
fn check_writable(grant: &GrantText, real: &Utf8Path, host: &Host) -> Result<(), Failure> {
    let refused = |what: String| {
        let message = format!("writing to `{}` cannot be granted: {what}", line(&grant.text));
        Err(grant.wrong(message, "a directory that has only files of the program, or of one project"))
    };
    let home = host::home_directory().and_then(|home| host::real_path(&home).ok());
    if home.as_ref().is_some_and(|home| home.starts_with(real)) {
        return refused("it is or contains your home directory".to_owned());
    }
    let own =
        [host.config_dir(), host.state_dir(), host.data_dir()].into_iter().flatten().map(Utf8Path::to_owned);
    let hosts = installed::hosts()?.rows().iter().map(|row| host::expand(&row.home.default));
    let moved = machine::facts().host_directories.into_iter().map(|place| Utf8PathBuf::from(place.as_str()));
    for kept in own.chain(hosts).chain(moved).filter(|path| path.is_absolute()) {
        let kept = host::real_path(&kept).unwrap_or(kept);
        // The files of some hosts are directly in the home directory.
        let is_wide = home.as_ref().is_some_and(|home| home.starts_with(&kept));
        if kept.starts_with(real) || (!is_wide && real.starts_with(&kept)) {
            return refused(format!("plugward or a host takes settings or programs from `{kept}`"));
        }
    }
    Ok(())
}

fn invalid(error: &ScopeError) -> Failure {
    starts::failed(1, error).code(error.code()).help(error.help())
}

/// Returns the failure for grants that were refused or not recorded.
fn refused(failure: &RecordFailure) -> Failure {
    let exit = if failure.weight() == Weight::Denied { 5 } else { 7 };
    Failure::exiting(exit, failure.to_string()).code(failure.code()).help(failure.help())
}
