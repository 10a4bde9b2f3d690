//! The access of a program: everything of the user, or the granted part.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path};

use plugward_capability::{
    Access as Level, Capability as _, EnvReadCapability, FsReadWriteCapability, NetConnectCapability,
    ProcessSpawnCapability, ProgramRef,
};
use plugward_sandbox_path::{FileId, Jail};

use crate::error::LaunchError;
use crate::spec::check_variable;

/// The set of files, ports, variables and programs that a program can use.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "a new kind of access must stop every host from building")]
pub enum Access<'a> {
    /// Everything that the user can do.
    User,
    /// The base list and the grants.
    Granted(&'a GrantedAccess),
}

/// The reaction to a kernel that cannot enforce a part of the granted access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are two reactions")]
pub enum EnforceRule {
    /// Nothing starts. The word `end` can be missing.
    Require,
    /// Nothing starts, also if only the word `end` is missing.
    RequireEnd,
    /// The program starts, and the report names what is missing.
    BestEffort,
}

/// The rights to a file or below a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rights {
    Read,
    /// Includes reading.
    Write,
    /// Includes reading.
    Execute,
    /// Reading, writing and execution: the private directory of a package runner.
    All,
}

/// The private directory, the grants, and what they do not limit.
///
/// The base list is part of every granted access: the programs and libraries of the system, `/proc`, a few devices, and
/// the files in `/etc` for name resolution, certificates and the time zone.
#[derive(Debug)]
pub struct GrantedAccess {
    pub(crate) files: Vec<(OwnedFd, Rights)>,
    pub(crate) connect: BTreeSet<u16>,
    pub(crate) listen: BTreeSet<u16>,
    variables: BTreeSet<String>,
    values: BTreeMap<String, String>,
    pub(crate) not_enforced: Vec<String>,
    pub(crate) attributes: Attributes,
}

/// Whether the program can change modes and times of files, which Landlock does not limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attributes {
    Changeable,
    Fixed,
}

/// The variables that every program gets from the environment of the start, in addition to `LC_*`.
const BASE: [&str; 6] = ["LANG", "LOGNAME", "PATH", "TERM", "TZ", "USER"];
/// The variables that lead to the private directory, with the path in it.
const PRIVATE: [(&str, &str); 7] = [
    ("HOME", ""),
    ("TMPDIR", ""),
    ("XDG_CACHE_HOME", "/.cache"),
    ("XDG_CONFIG_HOME", "/.config"),
    ("XDG_DATA_HOME", "/.local/share"),
    ("XDG_RUNTIME_DIR", ""),
    ("XDG_STATE_HOME", "/.local/state"),
];
/// Variables that make common programs load code, separated by spaces.
const LOADING: &str = "BASH_ENV ENV JAVA_TOOL_OPTIONS NODE_OPTIONS NODE_PATH PERL5LIB PERL5OPT PYTHONHOME PYTHONPATH \
    PYTHONSTARTUP RUBYLIB RUBYOPT SHELLOPTS GCONV_PATH OPENSSL_CONF OPENSSL_MODULES _JAVA_OPTIONS JDK_JAVA_OPTIONS \
    DOTNET_STARTUP_HOOKS LUA_INIT ZDOTDIR PROMPT_COMMAND";
const LOADING_PREFIXES: [&str; 4] = ["BASH_FUNC_", "DYLD_", "GIT_", "LD_"];
/// Files whose commands run outside of the granted access later.
const RUN_LATER: &str = "`.claude`, `.codex`, `.cursor`, `.envrc`, `.gemini`, `.git`, `.mcp.json`, `.vscode`";
/// What no kernel limits, for every granted access.
const NEVER_ENFORCED: [&str; 2] = ["code that the program writes or creates in memory can run", ATTRIBUTES];
const ATTRIBUTES: &str = "the program can change the mode and the times of other files of the user, and see their status and \
    changes (`stat`, inotify)";
const STATUS: &str =
    "the program can see the status and changes of other files of the user (`stat`, inotify)";
/// A message can have 253 handles. Some are those of the program.
const MOST_FILES: usize = 200;

impl GrantedAccess {
    /// Creates the access of the base list.
    ///
    /// `tree` is the private copy of the plugin, which the program can read and execute. `home` is its private
    /// directory, which it can write: `HOME`, `TMPDIR` and `XDG_*` lead there. The files in it cannot be executed, but
    /// an interpreter or the dynamic loader can read them.
    ///
    /// # Errors
    /// `launch/io` if a handle cannot be copied, or if the private directory has no path or one that is not UTF-8.
    pub fn new(tree: Option<BorrowedFd<'_>>, home: OwnedFd) -> Result<Self, LaunchError> {
        let path =
            path_of(home.as_fd()).map_err(LaunchError::io("read the path of the private directory"))?;
        let values = PRIVATE.iter().map(|(name, end)| ((*name).to_owned(), format!("{path}{end}"))).collect();
        let not_enforced = NEVER_ENFORCED.map(str::to_owned).to_vec();
        let mut access = Self { files: vec![(home, Rights::Write)], values, not_enforced, ..Self::base() };
        if let Some(tree) = tree {
            access.add(tree, Rights::Execute)?;
        }
        Ok(access)
    }

    /// The base list without a private directory, for a start that only reports.
    pub(crate) const fn base() -> Self {
        Self {
            files: Vec::new(),
            connect: BTreeSet::new(),
            listen: BTreeSet::new(),
            variables: BTreeSet::new(),
            values: BTreeMap::new(),
            not_enforced: Vec::new(),
            attributes: Attributes::Changeable,
        }
    }

    /// Denies changes of modes and times of files, for a program that does not write files.
    pub fn fix_attributes(&mut self) {
        self.attributes = Attributes::Fixed;
        for text in self.not_enforced.iter_mut().filter(|text| *text == ATTRIBUTES) {
            STATUS.clone_into(text);
        }
    }

    /// Makes the private directory executable, for package runners.
    pub fn executable_home(&mut self) {
        if let Some((_, rights)) = self.files.first_mut() {
            *rights = Rights::All;
        }
    }

    /// Copies the access, so that one of several starts can add to its own.
    ///
    /// # Errors
    /// `launch/io` if a handle cannot be copied.
    pub fn try_clone(&self) -> Result<Self, LaunchError> {
        let copy = |(file, rights): &(OwnedFd, Rights)| Ok((file.try_clone()?, *rights));
        let files: io::Result<_> = self.files.iter().map(copy).collect();
        Ok(Self {
            files: files.map_err(LaunchError::io("copy a handle of a grant"))?,
            connect: self.connect.clone(),
            listen: self.listen.clone(),
            variables: self.variables.clone(),
            values: self.values.clone(),
            attributes: self.attributes,
            not_enforced: self.not_enforced.clone(),
        })
    }

    /// Adds a directory. The identity of the grant is that of the jail: its device, `:`, and its inode.
    ///
    /// # Errors
    /// `launch/spec` if the identities differ, or if the directory is the root of the file system; `launch/io`.
    pub fn directory(&mut self, grant: &FsReadWriteCapability, jail: &Jail) -> Result<(), LaunchError> {
        let (place, id) = (grant.scope().place(), jail.id());
        let label = place.label().escape_debug();
        if place.identity() != format!("{}:{}", id.device(), id.inode()) {
            return Err(LaunchError::spec(format!("not the directory of the grant: `{label}`")));
        }
        if is_root(id).map_err(LaunchError::io("look up the root of the file system"))? {
            return Err(LaunchError::spec("the root of the file system cannot be granted".to_owned()));
        }
        if grant.scope().access() == Level::Read {
            return self.add(jail.as_fd(), Rights::Read);
        }
        // The program can create those that do not exist.
        self.not_enforced.push(format!(
            "other programs run commands from files that the program can change or create in `{label}`, also in \
             subdirectories: {RUN_LATER}"
        ));
        self.add(jail.as_fd(), Rights::Write)
    }

    /// Adds a port to connect to or to listen on. The kernel compares ports, and not hosts.
    pub fn connect(&mut self, grant: &NetConnectCapability) {
        let port = grant.scope().port();
        let Some(host) = grant.scope().host() else {
            if self.listen.is_empty() {
                let text = "the program can also listen on ports that the system selects";
                self.not_enforced.push(text.to_owned());
            }
            self.listen.insert(port);
            return;
        };
        if self.connect.is_empty() {
            let text = "connections to port 53 reach every host, for the resolution of names";
            self.not_enforced.push(text.to_owned());
        }
        self.connect.insert(port);
        self.not_enforced.push(format!("connections to port {port} reach every host, not only `{host}`"));
    }

    /// Adds variables, which the program gets if the start has them.
    ///
    /// # Errors
    /// `launch/spec` for a variable that makes programs load code.
    pub fn variables(&mut self, grant: &EnvReadCapability) -> Result<(), LaunchError> {
        for name in grant.scope().names() {
            check_grantable_variable(name)?;
            self.variables.insert(name.to_owned());
        }
        Ok(())
    }

    /// Sets a variable of the host, such as the directory of the plugin.
    ///
    /// # Errors
    /// `launch/spec` for a variable that makes programs load code, a name that is not valid, or a NUL byte.
    pub fn set_variable(&mut self, name: &str, value: &str) -> Result<(), LaunchError> {
        check_variable(name, value)?;
        check_grantable_variable(name)?;
        self.values.insert(name.to_owned(), value.to_owned());
        Ok(())
    }

    /// Sets a variable that a checked file of a plugin names. One that makes programs load code may name only places in
    /// `tree`, the private copy of the plugin.
    ///
    /// # Errors
    /// As [`Self::set_variable`], also for another place in such a variable.
    pub fn set_variable_of_plugin(&mut self, name: &str, value: &str, tree: &str) -> Result<(), LaunchError> {
        let is_inside = |place: &str| {
            let place = Path::new(place);
            place.starts_with(tree) && !place.components().any(|part| part == Component::ParentDir)
        };
        // Options, such as those of NODE_OPTIONS, are not places.
        if !value.split(':').all(is_inside) {
            check_grantable_variable(name)?;
        }
        check_variable(name, value)?;
        self.values.insert(name.to_owned(), value.to_owned());
        Ok(())
    }

    /// Adds a program, which is the open file.
    ///
    /// # Errors
    /// `launch/io`.
    pub fn program(
        &mut self,
        grant: &ProcessSpawnCapability,
        file: BorrowedFd<'_>,
    ) -> Result<(), LaunchError> {
        let (ProgramRef::Name(name) | ProgramRef::Digest(name)) = grant.scope().program();
        self.not_enforced.push(format!("`{name}` can have any arguments"));
        self.add(file, Rights::Execute)
    }

    /// Adds the directory of an installed interpreter, which the program can read and execute.
    ///
    /// # Errors
    /// `launch/io`.
    pub fn installation(&mut self, directory: BorrowedFd<'_>) -> Result<(), LaunchError> {
        self.add(directory, Rights::Execute)
    }

    fn add(&mut self, file: BorrowedFd<'_>, rights: Rights) -> Result<(), LaunchError> {
        if self.files.len() >= MOST_FILES {
            return Err(LaunchError::spec(format!(
                "more than {MOST_FILES} files and directories are granted"
            )));
        }
        let file = file.try_clone_to_owned().map_err(LaunchError::io("copy a handle of a grant"))?;
        self.files.push((file, rights));
        Ok(())
    }

    /// Returns `true` if the program can use ports.
    pub(crate) fn has_network(&self) -> bool {
        !(self.connect.is_empty() && self.listen.is_empty())
    }

    /// Returns the variables of the program, from those of the start.
    pub(crate) fn environment(&self, given: &[(String, String)]) -> Vec<(String, String)> {
        let is_passed =
            |name: &str| BASE.contains(&name) || name.starts_with("LC_") || self.variables.contains(name);
        let passed = given.iter().filter(|(name, _)| is_passed(name) && !self.values.contains_key(name));
        let mut all: Vec<_> = passed
            .cloned()
            .chain(self.values.iter().map(|(name, value)| (name.clone(), value.clone())))
            .collect();
        // UDP is denied, so names are resolved over TCP.
        if !self.connect.is_empty() {
            all.retain(|(name, _)| name != "RES_OPTIONS");
            all.push(("RES_OPTIONS".to_owned(), "use-vc".to_owned()));
        }
        all
    }
}

/// Checks that a variable can be granted.
///
/// # Errors
/// `launch/spec` for a variable that makes programs load code.
pub fn check_grantable_variable(name: &str) -> Result<(), LaunchError> {
    if LOADING.split(' ').any(|known| known == name)
        || LOADING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    {
        return Err(LaunchError::spec(format!("a variable that loads code cannot be granted: `{name}`")));
    }
    Ok(())
}

fn path_of(directory: BorrowedFd<'_>) -> io::Result<String> {
    let path = rustix::fs::readlink(format!("/proc/self/fd/{}", directory.as_raw_fd()), Vec::new())?;
    path.into_string().map_err(io::Error::other)
}

fn is_root(id: FileId) -> io::Result<bool> {
    let root = Path::new("/").metadata()?;
    Ok((root.dev(), root.ino()) == (id.device(), id.inode()))
}
