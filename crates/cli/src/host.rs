//! The only module that reads the home directory, the environment, the clock and the terminal.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::rc::Rc;
use std::sync::OnceLock;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use etcetera::BaseStrategy as _;
use plugward_loader::ledger::LedgerTime;
use plugward_loader::pinstore::Timestamp;
use plugward_loader::sandbox_path::{FileKind, Jail, Policy};
use plugward_loader::scanner::Date;
use plugward_loader::state_file::Owner;
use plugward_loader::{Dir, PlacePath, PluginKey, RepositorySettings, Root, RootSearch};

use crate::args::{EnforceArg, Global};
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;

/// The environment of this run: directories, settings sources, and whether a user can be asked.
#[derive(Clone)]
pub(crate) struct Host {
    config: Option<Utf8PathBuf>,
    state: Option<Utf8PathBuf>,
    data: Option<Utf8PathBuf>,
    /// Whether a user can be asked.
    pub(crate) interactive: bool,
    /// The settings file that the command line names.
    pub(crate) policy: Option<Utf8PathBuf>,
    /// Whether `policy` is a source of settings, or the file that `suppress` changes.
    pub(crate) policy_use: PolicyUse,
    /// Whether settings files in repositories count.
    pub(crate) repository_settings: RepositorySettings,
    cfg: Vec<String>,
    /// The settings of `PLUGWARD_CFG`, one per line.
    cfg_lines: String,
    /// Warnings about settings files that were used in spite of them.
    pub(crate) warnings: Warnings,
}

/// The purpose of the file that `--policy` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PolicyUse {
    Read,
    Write,
}

/// Warnings that are printed once the verb is done. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Warnings(Rc<RefCell<Vec<Diagnostic>>>);

impl Warnings {
    /// Adds the warning of a file, if it has one that is new.
    pub(crate) fn add(&self, warning: Option<Diagnostic>) {
        let Some(warning) = warning else { return };
        let mut warnings = self.0.borrow_mut();
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    /// Removes all warnings and returns them.
    pub(crate) fn take(&self) -> Vec<Diagnostic> {
        self.0.take()
    }
}

impl Host {
    /// Reads the environment once.
    ///
    /// # Errors
    /// A `PLUGWARD_*` variable is not UTF-8. To ignore it would be to run with other settings than the user's.
    pub(crate) fn new(global: &Global) -> Result<Self, Failure> {
        let strategy = etcetera::choose_base_strategy().ok();
        let config = strategy.as_ref().and_then(|s| Utf8PathBuf::from_path_buf(s.config_dir()).ok());
        let state = strategy
            .as_ref()
            .and_then(|s| Utf8PathBuf::from_path_buf(s.state_dir().unwrap_or_else(|| s.data_dir())).ok());
        let data = strategy.as_ref().and_then(|s| Utf8PathBuf::from_path_buf(s.data_dir()).ok());
        // A question is printed to standard error and answered on standard input, so both have to be terminals.
        let interactive = !global.no_input
            && !is_set("CI")
            && std::io::stdin().is_terminal()
            && std::io::stderr().is_terminal();
        Ok(Self {
            config: named(global.config_dir.as_ref(), "PLUGWARD_CONFIG_DIR")?
                .or_else(|| config.map(|dir| dir.join("plugward"))),
            state: named(global.state_dir.as_ref(), "PLUGWARD_STATE_DIR")?
                .or_else(|| state.map(|dir| dir.join("plugward"))),
            data: named(global.data_dir.as_ref(), "PLUGWARD_DATA_DIR")?
                .or_else(|| data.map(|dir| dir.join("plugward"))),
            interactive,
            policy: global.policy.clone(),
            policy_use: PolicyUse::Read,
            repository_settings: if global.no_repository_settings {
                RepositorySettings::Ignore
            } else {
                RepositorySettings::Honor
            },
            cfg: global.cfg.clone(),
            cfg_lines: own_env("PLUGWARD_CFG")?.unwrap_or_default(),
            warnings: Warnings::default(),
        })
    }

    /// Returns the same environment without a user who can be asked.
    pub(crate) fn without_questions(&self) -> Self {
        Self { interactive: false, ..self.clone() }
    }

    /// Adds the rule of `--enforce` to the settings of the command line, which the managed file can fix.
    pub(crate) fn enforce(&mut self, rule: Option<EnforceArg>) {
        let word = rule.map(|rule| match rule {
            EnforceArg::Require => "require",
            EnforceArg::BestEffort => "best-effort",
        });
        self.cfg.extend(word.map(|word| format!("launch.enforce={word}")));
    }

    /// Returns the settings of the command line, in their order.
    pub(crate) fn cfg_flags(&self) -> &[String] {
        &self.cfg
    }

    /// Returns the settings of the environment, one per line.
    pub(crate) fn cfg_lines(&self) -> String {
        self.cfg_lines.clone()
    }

    /// Returns the directory of settings, pins and approvals.
    pub(crate) fn config_dir(&self) -> Result<&Utf8Path, Failure> {
        self.config.as_deref().ok_or_else(|| no_home("configuration", "--config-dir"))
    }

    /// Returns the directory of the ledger, baselines and caches.
    pub(crate) fn state_dir(&self) -> Result<&Utf8Path, Failure> {
        self.state.as_deref().ok_or_else(|| no_home("state", "--state-dir"))
    }

    /// Returns the directory of command plugins.
    pub(crate) fn data_dir(&self) -> Result<&Utf8Path, Failure> {
        self.data.as_deref().ok_or_else(|| no_home("data", "--data-dir"))
    }
}

fn no_home(what: &str, flag: &str) -> Failure {
    Failure::internal(format!("there is no home directory, so the {what} directory is not known"))
        .help(format!("name one: {flag} DIR"))
}

/// Returns the directory that a flag names, or else an environment variable.
fn named(flag: Option<&Utf8PathBuf>, variable: &str) -> Result<Option<Utf8PathBuf>, Failure> {
    if let Some(flag) = flag {
        return Ok(Some(flag.clone()));
    }
    Ok(own_env(variable)?.map(Utf8PathBuf::from))
}

/// Opens one of plugward's directories, and creates it with mode 0700 if it does not exist.
pub(crate) fn own_directory(path: &Utf8Path) -> Result<Dir, Failure> {
    #[cfg(unix)]
    let mut builder = {
        use std::os::unix::fs::DirBuilderExt as _;
        let mut builder = std::fs::DirBuilder::new();
        // Pins and records show which plugins a user has and where, so other users cannot list them.
        builder.mode(0o700);
        builder
    };
    #[cfg(not(unix))]
    let mut builder = std::fs::DirBuilder::new();
    let failed = |what: &str, error: &std::io::Error| {
        let failure = Failure::internal(format!("cannot {what} the directory {path}: {error}"));
        match error.kind() {
            // Nor could the stores in it be written.
            std::io::ErrorKind::StorageFull => failure.of_store().help("free disk space, then try again"),
            _ => failure,
        }
    };
    builder.recursive(true).create(path).map_err(|error| failed("create", &error))?;
    Dir::open_ambient_dir(path, plugward_loader::ambient_authority()).map_err(|error| failed("open", &error))
}

/// Returns the failure for a path of the command line that cannot be read.
pub(crate) fn unreachable(path: &Utf8Path, error: &std::io::Error) -> Failure {
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            Failure::usage(format!("no such file or directory: {path}")).code("jail/not-found")
        }
        _ => Failure::usage(format!("cannot read {path}: {error}")),
    }
}

/// Returns the home directory: that of the environment, or else that of the user database, as hosts do.
pub(crate) fn home_directory() -> Option<Utf8PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "only this module reads the environment")]
    let named = std::env::var_os("HOME");
    let home = named.map_or_else(|| etcetera::home_dir().ok(), |home| Some(home.into()));
    home.and_then(|home| Utf8PathBuf::from_path_buf(home).ok()).filter(|home| home.is_absolute())
}

/// Returns the real path of this program.
pub(crate) fn own_program() -> Result<Utf8PathBuf, Failure> {
    let path = std::env::current_exe()
        .map_err(|error| Failure::internal(format!("the path of this program is not known: {error}")))?;
    let path = Utf8PathBuf::from_path_buf(path).map_err(|path| {
        Failure::usage(format!("the path of this program is not UTF-8: {}", path.display()))
    })?;
    real_path(&path)
}

/// Returns the number of the user that runs this program.
pub(crate) fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns the user that the files of a store must belong to.
pub(crate) fn owner() -> Owner {
    #[cfg(unix)]
    return Owner::uid(rustix::process::geteuid().as_raw());
    #[cfg(not(unix))]
    return Owner::uid(0);
}

/// Returns the user's name, for the field `by` of a pin.
pub(crate) fn user() -> String {
    let name = env("USER").or_else(|| env("LOGNAME")).or_else(|| env("USERNAME")).unwrap_or_default();
    // The name comes from the environment and is stored in the pins, so it is bounded and printable.
    let plain: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
    if plain.is_empty() { "unknown".to_owned() } else { plain }
}

/// Returns the time, to the second.
pub(crate) fn now() -> Result<Timestamp, Failure> {
    let seconds = u64::try_from(jiff::Timestamp::now().as_second()).ok();
    seconds
        .and_then(Timestamp::from_unix_seconds)
        .ok_or_else(|| Failure::internal("cannot read the clock: it is before 1970 or after the year 9999"))
}

/// Returns the clock of the ledger, to the microsecond.
///
/// If the system clock leaves the supported range later, the clock repeats the time of this call.
pub(crate) fn ledger_clock() -> Result<impl Fn() -> LedgerTime + Send + Sync, Failure> {
    let now = || {
        let micros = u64::try_from(jiff::Timestamp::now().as_microsecond()).ok()?;
        LedgerTime::from_unix_micros(micros)
    };
    let start = now().ok_or_else(|| Failure::internal("the clock is before 1970 or after 9999"))?;
    Ok(move || now().unwrap_or(start))
}

/// Returns the current instant, to measure a duration.
#[expect(clippy::disallowed_methods, reason = "only this module reads the clock")]
pub(crate) fn moment() -> std::time::Instant {
    std::time::Instant::now()
}

/// Returns the nanoseconds since 1970, to compare with the times of files.
pub(crate) fn nanoseconds() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_nanosecond()).unwrap_or_default()
}

/// Returns the current day, for entries that expire.
pub(crate) fn today() -> Option<Date> {
    now().ok()?.day().parse().ok()
}

/// Returns 16 bytes of the system's random source.
pub(crate) fn random() -> Result<[u8; 16], Failure> {
    let mut bytes = [0; 16];
    fill(&mut bytes).map_err(|error| Failure::internal(format!("cannot get random bytes: {error}")))?;
    Ok(bytes)
}

#[cfg(target_os = "linux")]
fn fill(bytes: &mut [u8; 16]) -> std::io::Result<()> {
    let got = rustix::rand::getrandom(&mut *bytes, rustix::rand::GetRandomFlags::empty())?;
    // A short read would leave zeros in place of random bytes.
    if got == bytes.len() { Ok(()) } else { Err(std::io::ErrorKind::UnexpectedEof.into()) }
}

/// The file is on every Unix. Elsewhere the read fails.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::disallowed_methods, reason = "the system's random source is a file")]
fn fill(bytes: &mut [u8; 16]) -> std::io::Result<()> {
    std::io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, bytes)
}

/// Opens a directory that the user named.
///
/// The directory only selects plugins. Lockfiles and project markers are searched from each plugin's own directory up to
/// the root of the file system, so the result does not depend on the directory that was named.
pub(crate) fn root(dir: &Utf8Path) -> Result<Root, Failure> {
    let real = real_path(dir).map_err(|failure| match failure.stable_code() {
        Some("jail/not-found") => failure.help("correct the path, or list what is installed: plugward list"),
        _ => failure,
    })?;
    let place = PlacePath::new(real.as_str())
        .map_err(|error| Failure::usage(format!("cannot open {dir}: {error}")))?;
    let typed = typed_path(dir).and_then(|path| PlacePath::new(path.as_str()).ok());
    root_at(&place, label(dir, &real), typed.filter(|typed| *typed != place))
}

/// Opens a directory by its real path.
pub(crate) fn root_at(place: &PlacePath, label: String, typed: Option<PlacePath>) -> Result<Root, Failure> {
    let root = whole_machine(place, label, typed)?;
    let meta = root.jail.metadata(root.dir.as_str()).map_err(|error| {
        Failure::usage(format!("cannot open {place}: {error}")).code(error.code()).help(error.help())
    })?;
    if meta.kind() != FileKind::Directory {
        let scan =
            format!("to scan a single file: plugward scan {}", crate::verbs::shared::quoted(place.as_str()));
        return Err(Failure::usage(format!("not a directory: {place}"))
            .code("jail/not-a-directory")
            .help(scan));
    }
    Ok(root)
}

/// Returns the root for a place, whatever is there. Its jail starts at `/`, because lockfiles and project markers in parent
/// directories count.
fn whole_machine(place: &PlacePath, label: String, typed: Option<PlacePath>) -> Result<Root, Failure> {
    let jail = Jail::open_root("/", Policy::standard()).map_err(|error| {
        Failure::internal(format!("cannot open /: {error}")).code(error.code()).help(error.help())
    })?;
    let dir = place.as_str().trim_start_matches('/');
    let dir = if dir.is_empty() { "." } else { dir }.to_owned();
    let top = PlacePath::new("/").map_err(|error| Failure::internal(error.to_string()))?;
    let stops = home().cloned().into_iter().collect();
    Ok(Root { label, jail, top, dir, typed, stops, search: RootSearch::Below })
}

/// Returns the root that is exactly one place: a directory, or a settings file.
pub(crate) fn root_of_place(place: &PlacePath) -> Result<Root, Failure> {
    Ok(Root { search: RootSearch::Only, ..whole_machine(place, place.name().to_owned(), None)? })
}

/// Returns the real path of the home directory, resolved once.
fn home() -> Option<&'static PlacePath> {
    static HOME: OnceLock<Option<PlacePath>> = OnceLock::new();
    let look = || PlacePath::new(real_path(&home_directory()?).ok()?.as_str()).ok();
    HOME.get_or_init(look).as_ref()
}

/// Returns the real path of the working directory, resolved once.
pub(crate) fn working_directory() -> Option<&'static PlacePath> {
    static HERE: OnceLock<Option<PlacePath>> = OnceLock::new();
    HERE.get_or_init(|| PlacePath::new(real_path(Utf8Path::new(".")).ok()?.as_str()).ok()).as_ref()
}

/// Returns the absolute form of a typed path without following symlinks, because a pin can be keyed by that path.
///
/// A relative path starts at `$PWD` if that is the working directory, since a shell keeps symlinks in it.
pub(crate) fn typed_path(path: &Utf8Path) -> Option<Utf8PathBuf> {
    let base = if path.is_absolute() {
        Utf8PathBuf::new()
    } else {
        let here = working_directory()?.as_str();
        let is_here = |pwd: &Utf8PathBuf| pwd.is_absolute() && real_path(pwd).is_ok_and(|real| real == here);
        env("PWD").map(Utf8PathBuf::from).filter(is_here).unwrap_or_else(|| here.into())
    };
    let mut typed = Utf8PathBuf::new();
    for part in base.join(path).components() {
        match part {
            // As in a shell, `..` removes the last typed component, even if that is a symlink.
            Utf8Component::ParentDir => _ = typed.pop(),
            Utf8Component::CurDir => {}
            other => typed.push(other),
        }
    }
    Some(typed)
}

/// Returns the name of a plugin for a terminal: a recorded id, or else the shortest path that selects the plugin.
pub(crate) fn display(key: &PluginKey) -> String {
    let PluginKey::Placed(place) = key else { return key.to_string() };
    let here = working_directory();
    match here.and_then(|here| place.relative_to(here)) {
        // A bare name is searched among the pins, so a path needs a slash.
        Some(inside) if inside == "." || inside.contains('/') => inside.to_owned(),
        Some(inside) => format!("./{inside}"),
        None => display_path(place),
    }
}

/// Returns a path as it is shown: relative to the home directory if it is inside.
pub(crate) fn display_path(place: &PlacePath) -> String {
    match home().and_then(|home| place.relative_to(home)) {
        Some(".") => "~".to_owned(),
        Some(inside) => format!("~/{inside}"),
        None => place.to_string(),
    }
}

/// Replaces a leading `~` with the home directory, because reports print such paths.
pub(crate) fn expand(text: &str) -> Utf8PathBuf {
    let inside = text.strip_prefix("~/").or_else(|| (text == "~").then_some(""));
    match (inside, home_directory()) {
        (Some(inside), Some(home)) => home.join(inside),
        _ => Utf8PathBuf::from(text),
    }
}

/// Opens a directory that the user named as a jail. It may be a symlink, since the user chose it.
pub(crate) fn open(dir: &Utf8Path) -> Result<Jail, Failure> {
    let opened = match Jail::open_following(dir, Policy::standard()) {
        // `/` needs a call of its own, since a jail at the root restricts nothing.
        Err(error) if error.code() == "jail/is-root" => Jail::open_root(dir, Policy::standard()),
        other => other,
    };
    opened.map_err(|error| {
        let help = error.help();
        Failure::usage(format!("cannot open {dir}: {error}")).code(error.code()).help(help)
    })
}

/// Opens a file or directory to lend it to a program.
pub(crate) fn handle(path: &Utf8Path) -> Result<std::fs::File, Failure> {
    use std::os::unix::fs::OpenOptionsExt as _;
    // Opening a named pipe would wait for its writer.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    #[expect(
        clippy::disallowed_methods,
        reason = "a private copy, an interpreter, or a program that the user named"
    )]
    let opened = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = opened.map_err(|error| unreachable(path, &error))?;
    let kind = file.metadata().map_err(|error| unreachable(path, &error))?.file_type();
    if kind.is_file() || kind.is_dir() {
        return Ok(file);
    }
    Err(Failure::usage(format!("{path} is neither a file nor a directory")))
}

/// Returns the absolute path of an existing file or directory, with all symlinks resolved.
pub(crate) fn real_path(dir: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
    #[expect(clippy::disallowed_methods, reason = "names the directory; nothing is opened by this path")]
    let real = std::fs::canonicalize(dir).map_err(|error| unreachable(dir, &error))?;
    Utf8PathBuf::from_path_buf(real)
        .map_err(|real| Failure::usage(format!("the full path of {dir} is not UTF-8: {}", real.display())))
}

/// Returns the label of a root in reports: a relative path as it was typed, or else the last component.
///
/// A report is the same on every machine, so it does not contain absolute paths.
fn label(typed: &Utf8Path, real: &Utf8Path) -> String {
    if typed.is_absolute() || typed.as_str().starts_with('~') {
        return real.file_name().unwrap_or("root").to_owned();
    }
    let parts: Vec<&str> =
        typed.as_str().split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

/// Reads a file that the user named, and fails if it is larger than the limit.
pub(crate) fn named_file(path: &Utf8Path, limit: u64) -> Result<Vec<u8>, Failure> {
    use std::io::Read as _;
    #[expect(clippy::disallowed_methods, reason = "a file that the user named on the command line")]
    let file = std::fs::File::open(path).map_err(|error| unreachable(path, &error))?;
    let mut bytes = Vec::new();
    // One byte more than the limit is enough to know that the file is too large.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| unreachable(path, &error))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(Failure::usage(format!("{path} has more than {limit} bytes")));
    }
    Ok(bytes)
}

/// The variable with the process that started a host, by which a wrapper script that starts `plugward run` again is found.
pub(crate) const STARTED: &str = "PLUGWARD_STARTED_BY";

/// Fails if the host on PATH is a script that starts this program again, which would never end.
pub(crate) fn refuse_loop(name: &str) -> Result<(), Failure> {
    // A script that uses `exec` keeps the process id, and one that does not is the parent.
    let parent = rustix::process::getppid().map(|id| id.as_raw_nonzero().to_string());
    let own = std::process::id().to_string();
    match env(STARTED) {
        Some(by) if by == own || parent.is_some_and(|parent| parent == by) => {
            Err(Failure::usage(format!("{name} on PATH starts plugward again"))
                .help(format!("use an alias instead of a script: alias {name}='plugward run -- {name}'")))
        }
        _ => Ok(()),
    }
}

/// Returns the projects that hosts name to their hooks.
pub(crate) fn session_projects() -> Vec<Utf8PathBuf> {
    ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR"].into_iter().filter_map(env).map(Utf8PathBuf::from).collect()
}

/// Returns the first program with a name on PATH, other than this program itself.
pub(crate) fn program(name: &str) -> Result<Utf8PathBuf, Failure> {
    #[expect(clippy::disallowed_methods, reason = "compares names; nothing is opened by them")]
    let own = std::env::current_exe().ok().and_then(|path| std::fs::canonicalize(path).ok());
    let directories = search_path().into_iter().filter(|dir| dir.starts_with('/'));
    let found = directories.map(|dir| Utf8PathBuf::from(dir).join(name)).find(|file| {
        // An alias or symlink with the host's name would start this program again, without end.
        #[expect(clippy::disallowed_methods, reason = "compares names; nothing is opened by them")]
        let real = std::fs::canonicalize(file).ok();
        is_executable(file) && (real.is_none() || real != own)
    });
    found.ok_or_else(|| {
        Failure::usage(format!("{name} is not on PATH"))
            .help(format!("install {name}, or add its directory to PATH"))
    })
}

/// Returns `true` for a file with an execute bit.
pub(crate) fn is_executable(file: &Utf8Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    file.is_file()
}

/// Returns the directories of `PATH`. Those that are not UTF-8 are left out.
pub(crate) fn search_path() -> Vec<String> {
    env_os("PATH").map_or_else(Vec::new, |path| {
        std::env::split_paths(&path).filter_map(|dir| dir.into_os_string().into_string().ok()).collect()
    })
}

/// Returns the URL of the proxy for https.
#[cfg(feature = "net")]
pub(crate) fn proxy() -> Option<String> {
    ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].into_iter().find_map(env)
}

/// Returns the value of a variable that a setting names; an empty one counts as unset.
pub(crate) fn named_variable(name: &str) -> Option<String> {
    env(name)
}

/// Returns the environment variables of hosts that are not UTF-8, and so would be ignored.
pub(crate) fn unreadable_variables() -> Vec<&'static str> {
    let names = [
        "HOME",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_PLUGIN_CACHE_DIR",
        "CLAUDE_CODE_PLUGIN_DIRS",
        "CLAUDE_CODE_PLUGIN_SEED_DIR",
        "CODEX_HOME",
        "GEMINI_CLI_HOME",
        "COPILOT_HOME",
    ];
    names.into_iter().filter(|name| env_os(name).is_some_and(|value| value.into_string().is_err())).collect()
}

/// Returns the environment, without variables that are not UTF-8.
pub(crate) fn environment() -> BTreeMap<String, String> {
    let all = std::env::vars_os();
    all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect()
}

fn env(name: &str) -> Option<String> {
    env_os(name).and_then(|value| value.into_string().ok())
}

/// Returns the value of a `PLUGWARD_*` variable. An empty one counts as unset, and one that is not UTF-8 is an error.
fn own_env(name: &str) -> Result<Option<String>, Failure> {
    let Some(value) = env_os(name) else { return Ok(None) };
    value.into_string().map(Some).map_err(|value| {
        Failure::usage(format!("the value of {name} is not UTF-8: {}", value.to_string_lossy()))
            .help(format!("set {name} to UTF-8 text, or run: unset {name}"))
    })
}

fn is_set(name: &str) -> bool {
    env_os(name).is_some()
}

fn env_os(name: &str) -> Option<std::ffi::OsString> {
    #[expect(clippy::disallowed_methods, reason = "only this module reads the environment")]
    let value = std::env::var_os(name);
    value.filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_never_an_absolute_path() {
        assert_eq!(label(Utf8Path::new("./a//b/"), Utf8Path::new("/r/a/b")), "a/b");
        assert_eq!(label(Utf8Path::new("/r/a"), Utf8Path::new("/r/a")), "a");
        assert_eq!(label(Utf8Path::new("."), Utf8Path::new("/r/a")), ".");
    }
}
