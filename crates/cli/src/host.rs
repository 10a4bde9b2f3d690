//! The one place that knows home folders, the environment, the clock and the terminal.

use std::io::IsTerminal as _;

use anyhow::{Context as _, Result, anyhow};
use camino::{Utf8Path, Utf8PathBuf};
use etcetera::BaseStrategy as _;
use plugward_loader::ledger::Timestamp as LedgerTime;
use plugward_loader::pinstore::{Scope, Timestamp};
use plugward_loader::sandbox_path::{Jail, Policy};
use plugward_loader::scanner::Date;
use plugward_loader::state_file::Owner;
use plugward_loader::{Dir, PluginId, Root};

use crate::args::Global;

/// What the rest of the program may know about where it runs.
pub(crate) struct Host {
    config: Option<Utf8PathBuf>,
    state: Option<Utf8PathBuf>,
    /// Whether a person can be asked.
    pub(crate) interactive: bool,
    cfg: Vec<String>,
}

impl Host {
    pub(crate) fn new(global: &Global) -> Self {
        let strategy = etcetera::choose_base_strategy().ok();
        let config = strategy.as_ref().and_then(|s| Utf8PathBuf::from_path_buf(s.config_dir()).ok());
        let state = strategy
            .as_ref()
            .and_then(|s| Utf8PathBuf::from_path_buf(s.state_dir().unwrap_or_else(|| s.data_dir())).ok());
        let interactive = !global.no_input
            && env("CI").is_none()
            && std::io::stdin().is_terminal()
            && std::io::stderr().is_terminal();
        Self {
            config: named(global.config_dir.as_ref(), "PLUGWARD_CONFIG_DIR")
                .or_else(|| config.map(|dir| dir.join("plugward"))),
            state: named(global.state_dir.as_ref(), "PLUGWARD_STATE_DIR")
                .or_else(|| state.map(|dir| dir.join("plugward"))),
            interactive,
            cfg: global.cfg.clone(),
        }
    }

    /// The settings of the command line, in their order.
    pub(crate) fn cfg_flags(&self) -> &[String] {
        &self.cfg
    }

    /// The settings of the environment, one a line.
    #[expect(clippy::unused_self, reason = "the host is where the environment is known")]
    pub(crate) fn cfg_lines(&self) -> String {
        env("PLUGWARD_CFG").unwrap_or_default()
    }

    /// The folder of settings, pins and approvals.
    pub(crate) fn config_dir(&self) -> Result<&Utf8Path> {
        self.config
            .as_deref()
            .context("find the config folder: no home folder; name one with --config-dir DIR")
    }

    /// The folder of the ledger, baselines and caches.
    pub(crate) fn state_dir(&self) -> Result<&Utf8Path> {
        self.state.as_deref().context("find the state folder: no home folder; name one with --state-dir DIR")
    }
}

/// The folder of a flag, else of the environment.
fn named(flag: Option<&Utf8PathBuf>, variable: &str) -> Option<Utf8PathBuf> {
    flag.cloned().or_else(|| env(variable).map(Utf8PathBuf::from))
}

/// Opens a folder that is ours, and makes it with mode 0700 where it is not there yet.
pub(crate) fn own_folder(path: &Utf8Path) -> Result<Dir> {
    #[cfg(unix)]
    let mut builder = {
        use std::os::unix::fs::DirBuilderExt as _;
        let mut builder = std::fs::DirBuilder::new();
        builder.mode(0o700);
        builder
    };
    #[cfg(not(unix))]
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).create(path).with_context(|| format!("make the folder {path}"))?;
    Dir::open_ambient_dir(path, plugward_loader::ambient_authority())
        .with_context(|| format!("open the folder {path}"))
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
pub(crate) fn now() -> Result<Timestamp> {
    let seconds = u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or_default();
    Timestamp::from_unix(seconds).map_err(|error| anyhow!("read the clock: {error}"))
}

/// The clock of the ledger, to the microsecond; a moment that no calendar has is that of the start.
pub(crate) fn ledger_clock() -> Result<impl Fn() -> LedgerTime + Send + Sync> {
    let now = || {
        let micros = u64::try_from(jiff::Timestamp::now().as_microsecond()).ok()?;
        LedgerTime::from_unix_micros(micros)
    };
    let start = now().context("read the clock: before 1970 or after 9999")?;
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
pub(crate) fn random() -> Result<[u8; 16]> {
    #[cfg(unix)]
    {
        let mut bytes = [0; 16];
        let got = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
            .context("ask the system for random bytes")?;
        if got < bytes.len() {
            return Err(anyhow!("ask the system for random bytes: it gave {got} of 16"));
        }
        Ok(bytes)
    }
    #[cfg(not(unix))]
    Err(anyhow!("ask the system for random bytes: not on this system"))
}

/// Opens a folder that a person typed.
pub(crate) fn root(dir: &Utf8Path) -> Result<Root> {
    let jail = open(dir)?;
    let real = real_path(dir)?;
    let place = Scope::workspace(real.as_str().as_bytes());
    Ok(Root { label: label(dir, &real), source: source(&real), scope: scope(&real), place, jail })
}

/// Opens a folder that a person typed as a jail; it may be a link, since the person named it.
pub(crate) fn open(dir: &Utf8Path) -> Result<Jail> {
    let opened = match Jail::open_following(dir, Policy::standard()) {
        Err(error) if error.code() == "jail/is-root" => Jail::open_root(dir, Policy::standard()),
        other => other,
    };
    opened.map_err(|error| {
        let help = error.help();
        anyhow!("open {dir}: {error} ({})\n  next: {help}", error.code())
    })
}

/// The full path of what a person named, without links.
pub(crate) fn real_path(dir: &Utf8Path) -> Result<Utf8PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "names the folder; nothing is opened by this path")]
    let real = std::fs::canonicalize(dir).with_context(|| format!("find {dir}"))?;
    Utf8PathBuf::from_path_buf(real)
        .map_err(|real| anyhow!("open {dir}: its full path {} is not UTF-8", real.display()))
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

/// The last part of the folder's name, made to fit the character rule of ids.
fn source(real: &Utf8Path) -> String {
    let mut out = String::new();
    for character in real.file_name().unwrap_or("root").chars().take(128) {
        let good = character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-');
        let character = if good { character } else { '-' };
        let first = out.is_empty() && !character.is_ascii_alphanumeric();
        if first || (character == '.' && out.ends_with('.')) {
            continue;
        }
        out.push(character);
    }
    if PluginId::check_part(&out).is_ok() { out } else { "root".to_owned() }
}

/// The workspace that a folder belongs to: the nearest one upward with `.plugward/`, below the home folder.
fn scope(real: &Utf8Path) -> Scope {
    let home = env("HOME").map(Utf8PathBuf::from);
    for folder in real.ancestors() {
        if home.as_deref() == Some(folder) || folder.parent().is_none() {
            break;
        }
        if std::fs::symlink_metadata(folder.join(".plugward")).is_ok_and(|meta| meta.is_dir()) {
            return Scope::workspace(folder.as_str().as_bytes());
        }
    }
    Scope::USER
}

/// Reads a file that the settings name, up to a limit; a pipe or a device is not waited for.
pub(crate) fn settings_file(path: &Utf8Path, limit: u64) -> Result<Vec<u8>> {
    let meta = std::fs::metadata(path).with_context(|| format!("open {path}"))?;
    if !meta.is_file() {
        return Err(anyhow!("read {path}: not a regular file"));
    }
    named_file(path, limit)
}

/// Reads a file that a person named, up to a limit.
pub(crate) fn named_file(path: &Utf8Path, limit: u64) -> Result<Vec<u8>> {
    use std::io::Read as _;
    #[expect(clippy::disallowed_methods, reason = "a file that the person named on the command line")]
    let file = std::fs::File::open(path).with_context(|| format!("open {path}"))?;
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).with_context(|| format!("read {path}"))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(anyhow!("read {path}: more than {limit} bytes"));
    }
    Ok(bytes)
}

fn env(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "the command line is where the environment is known")]
    let value = std::env::var(name).ok();
    value.filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_fits_the_rule_of_ids() {
        for (name, expected) in [
            ("plugins", "plugins"),
            ("my plugins", "my-plugins"),
            (".hidden", "hidden"),
            ("a..b", "a.b"),
            ("é", "root"),
        ] {
            assert_eq!(source(Utf8Path::new("/x").join(name).as_path()), expected, "{name}");
        }
        assert_eq!(label(Utf8Path::new("./a//b/"), Utf8Path::new("/r/a/b")), "a/b");
        assert_eq!(label(Utf8Path::new("/r/a"), Utf8Path::new("/r/a")), "a");
        assert_eq!(label(Utf8Path::new("."), Utf8Path::new("/r/a")), ".");
    }
}
