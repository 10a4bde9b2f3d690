//! The only module that knows the home directory, the environment, the clock and the terminal.

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
use plugward_loader::{Dir, PlacePath, PluginKey, Root};

use crate::args::Global;
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;

/// What the rest of the program may know about where it runs.
pub(crate) struct Host {
    config: Option<Utf8PathBuf>,
    state: Option<Utf8PathBuf>,
    /// Whether a person can be asked.
    pub(crate) interactive: bool,
    /// The settings file that the command line names.
    pub(crate) policy: Option<Utf8PathBuf>,
    /// Whether its settings apply; for `suppress` it is the file to write.
    pub(crate) policy_use: PolicyUse,
    cfg: Vec<String>,
    /// The settings of `PLUGWARD_CFG`, one per line.
    cfg_lines: String,
    /// What is wrong with settings files that were read all the same.
    pub(crate) warnings: Warnings,
}

/// What the file of `--policy` is for.
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
    /// A variable of plugward's that is not UTF-8: to ignore it would be to run with other settings than the user's.
    pub(crate) fn new(global: &Global) -> Result<Self, Failure> {
        let strategy = etcetera::choose_base_strategy().ok();
        let config = strategy.as_ref().and_then(|s| Utf8PathBuf::from_path_buf(s.config_dir()).ok());
        let state = strategy
            .as_ref()
            .and_then(|s| Utf8PathBuf::from_path_buf(s.state_dir().unwrap_or_else(|| s.data_dir())).ok());
        let interactive = !global.no_input
            && !is_set("CI")
            && std::io::stdin().is_terminal()
            && std::io::stderr().is_terminal();
        Ok(Self {
            config: named(global.config_dir.as_ref(), "PLUGWARD_CONFIG_DIR")?
                .or_else(|| config.map(|dir| dir.join("plugward"))),
            state: named(global.state_dir.as_ref(), "PLUGWARD_STATE_DIR")?
                .or_else(|| state.map(|dir| dir.join("plugward"))),
            interactive,
            policy: global.policy.clone(),
            policy_use: PolicyUse::Read,
            cfg: global.cfg.clone(),
            cfg_lines: own_env("PLUGWARD_CFG")?.unwrap_or_default(),
            warnings: Warnings::default(),
        })
    }

    /// The settings of the command line, in their order.
    pub(crate) fn cfg_flags(&self) -> &[String] {
        &self.cfg
    }

    /// The settings of the environment, one a line.
    pub(crate) fn cfg_lines(&self) -> String {
        self.cfg_lines.clone()
    }

    /// The directory of settings, pins and approvals.
    pub(crate) fn config_dir(&self) -> Result<&Utf8Path, Failure> {
        self.config.as_deref().ok_or_else(|| no_home("configuration", "--config-dir"))
    }

    /// The directory of the ledger, baselines and caches.
    pub(crate) fn state_dir(&self) -> Result<&Utf8Path, Failure> {
        self.state.as_deref().ok_or_else(|| no_home("state", "--state-dir"))
    }
}

fn no_home(what: &str, flag: &str) -> Failure {
    Failure::internal(format!("there is no home directory, so the {what} directory is not known"))
        .help(format!("name one: {flag} DIR"))
}

/// The directory of a flag, else of the environment.
fn named(flag: Option<&Utf8PathBuf>, variable: &str) -> Result<Option<Utf8PathBuf>, Failure> {
    if let Some(flag) = flag {
        return Ok(Some(flag.clone()));
    }
    Ok(own_env(variable)?.map(Utf8PathBuf::from))
}

/// Opens a directory of plugward, and creates it with mode 0700 if it does not exist.
pub(crate) fn own_directory(path: &Utf8Path) -> Result<Dir, Failure> {
    #[cfg(unix)]
    let mut builder = {
        use std::os::unix::fs::DirBuilderExt as _;
        let mut builder = std::fs::DirBuilder::new();
        builder.mode(0o700);
        builder
    };
    #[cfg(not(unix))]
    let mut builder = std::fs::DirBuilder::new();
    let failed = |what: &str, error: &std::io::Error| {
        Failure::internal(format!("cannot {what} the directory {path}: {error}"))
    };
    builder.recursive(true).create(path).map_err(|error| failed("create", &error))?;
    Dir::open_ambient_dir(path, plugward_loader::ambient_authority()).map_err(|error| failed("open", &error))
}

/// A path of the command line that cannot be read.
pub(crate) fn unreachable(path: &Utf8Path, error: &std::io::Error) -> Failure {
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            Failure::usage(format!("no such file or directory: {path}")).code("jail/not-found")
        }
        _ => Failure::usage(format!("cannot read {path}: {error}")),
    }
}

/// Who writes pins.
pub(crate) fn owner() -> Owner {
    #[cfg(unix)]
    return Owner::uid(rustix::process::geteuid().as_raw());
    #[cfg(not(unix))]
    return Owner::uid(0);
}

/// The user's name, for the field `by` of a pin.
pub(crate) fn user() -> String {
    let name = env("USER").or_else(|| env("LOGNAME")).or_else(|| env("USERNAME")).unwrap_or_default();
    let plain: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
    if plain.is_empty() { "unknown".to_owned() } else { plain }
}

/// The time, to the second.
pub(crate) fn now() -> Result<Timestamp, Failure> {
    let seconds = u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or_default();
    Timestamp::from_unix(seconds)
        .map_err(|error| Failure::internal(format!("cannot read the clock: {error}")))
}

/// The clock of the ledger, to the microsecond; a moment that no calendar has is that of the start.
pub(crate) fn ledger_clock() -> Result<impl Fn() -> LedgerTime + Send + Sync, Failure> {
    let now = || {
        let micros = u64::try_from(jiff::Timestamp::now().as_microsecond()).ok()?;
        LedgerTime::from_unix_micros(micros)
    };
    let start = now().ok_or_else(|| Failure::internal("the clock is before 1970 or after 9999"))?;
    Ok(move || now().unwrap_or(start))
}

/// A moment, for how long something takes.
#[expect(clippy::disallowed_methods, reason = "the host is where the clock is known")]
pub(crate) fn moment() -> std::time::Instant {
    std::time::Instant::now()
}

/// The day, for what expires.
pub(crate) fn today() -> Option<Date> {
    jiff::Timestamp::now().to_string().get(..10)?.parse().ok()
}

/// Sixteen bytes of the system's random source.
pub(crate) fn random() -> Result<[u8; 16], Failure> {
    #[cfg(unix)]
    {
        let mut bytes = [0; 16];
        let got = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
            .map_err(|error| Failure::internal(format!("cannot get random bytes: {error}")))?;
        if got < bytes.len() {
            return Err(Failure::internal(format!("got {got} of 16 random bytes")));
        }
        Ok(bytes)
    }
    #[cfg(not(unix))]
    Err(Failure::internal("there is no source of random bytes on this system"))
}

/// Opens a directory that the user named. It only selects plugins: what counts for each of them is looked up from the
/// plugin's own place, as far up as the root of the file system.
pub(crate) fn root(dir: &Utf8Path) -> Result<Root, Failure> {
    let real = real_path(dir)?;
    let place = PlacePath::new(real.as_str())
        .map_err(|error| Failure::usage(format!("cannot open {dir}: {error}")))?;
    let typed = typed_path(dir).and_then(|path| PlacePath::new(path.as_str()).ok());
    root_at(&place, label(dir, &real), typed.filter(|typed| *typed != place))
}

/// Opens a directory by its real path.
pub(crate) fn root_at(place: &PlacePath, label: String, typed: Option<PlacePath>) -> Result<Root, Failure> {
    let jail = Jail::open_root("/", Policy::standard()).map_err(|error| {
        Failure::internal(format!("cannot open /: {error}")).code(error.code()).help(error.help())
    })?;
    let dir = place.as_str().trim_start_matches('/');
    let dir = if dir.is_empty() { "." } else { dir };
    let meta = jail.metadata(dir).map_err(|error| {
        Failure::usage(format!("cannot open {place}: {error}")).code(error.code()).help(error.help())
    })?;
    if meta.kind() != FileKind::Directory {
        let scan =
            format!("to scan a single file: plugward scan {}", crate::verbs::shared::quoted(place.as_str()));
        return Err(Failure::usage(format!("not a directory: {place}"))
            .code("jail/not-a-directory")
            .help(scan));
    }
    let top = PlacePath::new("/").map_err(|error| Failure::internal(error.to_string()))?;
    let stops = home().cloned().into_iter().collect();
    Ok(Root { label, jail, top, dir: dir.to_owned(), typed, stops })
}

/// The real path of the home directory, looked up once.
fn home() -> Option<&'static PlacePath> {
    static HOME: OnceLock<Option<PlacePath>> = OnceLock::new();
    let look = || PlacePath::new(real_path(Utf8Path::new(&env("HOME")?)).ok()?.as_str()).ok();
    HOME.get_or_init(look).as_ref()
}

/// The working directory's real path, looked up once.
pub(crate) fn working_directory() -> Option<&'static PlacePath> {
    static HERE: OnceLock<Option<PlacePath>> = OnceLock::new();
    HERE.get_or_init(|| PlacePath::new(real_path(Utf8Path::new(".")).ok()?.as_str()).ok()).as_ref()
}

/// The full path of what a person typed, before any symlink is followed: pins can have been made under it. The working
/// directory is what the shell calls it, if that is where the process is.
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
            Utf8Component::ParentDir => _ = typed.pop(),
            Utf8Component::CurDir => {}
            other => typed.push(other),
        }
    }
    Some(typed)
}

/// How a terminal shows a plugin: a recorded id as it is, a place relative to the working directory, else with `~`,
/// else in full.
pub(crate) fn display(key: &PluginKey) -> String {
    let PluginKey::Placed(place) = key else { return key.to_string() };
    let here = working_directory();
    match here.and_then(|here| place.relative_to(here)) {
        // A bare name is looked up among the pins, so a path has a slash in it.
        Some(inside) if inside == "." || inside.contains('/') => inside.to_owned(),
        Some(inside) => format!("./{inside}"),
        None => match home().and_then(|home| place.relative_to(home)) {
            Some(".") => "~".to_owned(),
            Some(inside) => format!("~/{inside}"),
            None => place.to_string(),
        },
    }
}

/// Replaces a leading `~` by the home directory, for selectors that were copied from a report.
pub(crate) fn expand(text: &str) -> Utf8PathBuf {
    let inside = text.strip_prefix("~/").or_else(|| (text == "~").then_some(""));
    match (inside, env("HOME")) {
        (Some(inside), Some(home)) => Utf8PathBuf::from(home).join(inside),
        _ => Utf8PathBuf::from(text),
    }
}

/// Opens a folder that a person typed as a jail; it may be a link, since the person named it.
pub(crate) fn open(dir: &Utf8Path) -> Result<Jail, Failure> {
    let opened = match Jail::open_following(dir, Policy::standard()) {
        Err(error) if error.code() == "jail/is-root" => Jail::open_root(dir, Policy::standard()),
        other => other,
    };
    opened.map_err(|error| {
        let help = error.help();
        Failure::usage(format!("cannot open {dir}: {error}")).code(error.code()).help(help)
    })
}

/// The full path of what a person named, without links.
pub(crate) fn real_path(dir: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
    #[expect(clippy::disallowed_methods, reason = "names the directory; nothing is opened by this path")]
    let real = std::fs::canonicalize(dir).map_err(|error| unreachable(dir, &error))?;
    Utf8PathBuf::from_path_buf(real)
        .map_err(|real| Failure::usage(format!("the full path of {dir} is not UTF-8: {}", real.display())))
}

/// What the report calls a root: as typed if relative, else its last part.
fn label(typed: &Utf8Path, real: &Utf8Path) -> String {
    if typed.is_absolute() || typed.as_str().starts_with('~') {
        return real.file_name().unwrap_or("root").to_owned();
    }
    let parts: Vec<&str> =
        typed.as_str().split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

/// Reads a file that a person named, up to a limit.
pub(crate) fn named_file(path: &Utf8Path, limit: u64) -> Result<Vec<u8>, Failure> {
    use std::io::Read as _;
    #[expect(clippy::disallowed_methods, reason = "a file that the person named on the command line")]
    let file = std::fs::File::open(path).map_err(|error| unreachable(path, &error))?;
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| unreachable(path, &error))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(Failure::usage(format!("{path} has more than {limit} bytes")));
    }
    Ok(bytes)
}

/// The environment, without variables that are not UTF-8.
pub(crate) fn environment() -> BTreeMap<String, String> {
    let all = std::env::vars_os();
    all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect()
}

fn env(name: &str) -> Option<String> {
    env_os(name).and_then(|value| value.into_string().ok())
}

/// A variable of plugward's own, whose value must not be ignored; an empty one counts as unset.
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
    #[expect(clippy::disallowed_methods, reason = "the command line is where the environment is known")]
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
