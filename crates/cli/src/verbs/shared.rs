//! What several verbs need: options, looks, and the plugin that a selector names.

use std::num::NonZeroUsize;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use plugward_loader::manifest::Dialect;
use plugward_loader::pinstore::{StoreErrorRule, Terminal};
use plugward_loader::tree_lock::Excludes;
use plugward_loader::{
    CheckOptions, Gate, Host as Sides, ByteRetention, LockState, LookReport, NoGrants, NoPerson, PinStatus,
    PluginReport, Root, Subject, Trust, Weight, CheckMode,
};

use crate::args::{Finding, TrustArg};
use crate::escape::line;
use crate::failure::{Failure, usage};
use crate::host::{self, Host};
use crate::next_steps;
use crate::out::Out;
use crate::progress::Progress;
use crate::settings::Settings;
use crate::stores;
use crate::verbs::select;

pub(crate) const fn trust_of(arg: TrustArg) -> Trust {
    match arg {
        TrustArg::Tofu => Trust::Tofu,
        TrustArg::Prompt => Trust::Prompt,
        TrustArg::Locked => Trust::Locked,
    }
}

/// The mode of the flag, else of the settings, else ADR-003's.
pub(crate) fn trust(arg: Option<TrustArg>, settings: &Settings) -> Trust {
    arg.map(trust_of).or(settings.trust).unwrap_or(Trust::Tofu)
}

/// ADR-003's downgrade needs a person who sees the warning; without one, a broken store refuses unless the user's
/// settings say otherwise.
fn on_store_error(trust: Trust, settings: &Settings, host: &Host) -> StoreErrorRule {
    let terminal = if host.interactive { Terminal::Present } else { Terminal::Absent };
    settings.on_store_error.unwrap_or_else(|| StoreErrorRule::for_command_line(trust, terminal))
}

pub(crate) fn dialect(text: Option<&str>) -> Result<Option<Dialect>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let all: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.as_str()).collect();
    let found = Dialect::ALL.iter().copied().find(|dialect| dialect.as_str() == text);
    found
        .map(Some)
        .ok_or_else(|| usage(format!("read --dialect: `{}` is none of {}", line(text), all.join(", "))))
}

pub(crate) fn excludes(names: &[String]) -> Result<Excludes, Failure> {
    Excludes::new(names.iter().map(String::as_str))
        .map_err(|error| usage(format!("read --exclude: {error}\n  next: {}", error.help())))
}

pub(crate) fn options(
    trust: Trust,
    writes: CheckMode,
    finding: &Finding,
    settings: &Settings,
    host: &Host,
) -> Result<CheckOptions, Failure> {
    let mut left_out = finding.exclude.clone();
    if settings.exclude_vcs == Some(true) {
        left_out.extend([".git", ".hg", ".jj", ".svn"].map(str::to_owned));
    }
    let mut options = CheckOptions::new(host::now()?, host::user());
    options.trust = trust;
    options.on_store_error = on_store_error(trust, settings, host);
    options.writes = writes;
    options.dialect = dialect(finding.dialect.as_deref())?;
    options.excludes = excludes(&left_out)?;
    options.tree = settings.tree;
    options.jobs = finding.jobs.unwrap_or(NonZeroUsize::MIN);
    options.scan_ask = settings.scan_ask;
    options.profile = settings.profile;
    options.packages.clone_from(&settings.packages);
    options.rules = settings.rules(&[])?.map(Arc::new);
    options.suppressions.clone_from(&settings.suppressions);
    options.today = host::today();
    options.approval = settings.approval;
    options.max_risk = settings.max_risk;
    options.shared.clone_from(&settings.shared);
    options.verifiers = settings.verifiers.clone();
    options.host_version.clone_from(&finding.host_version);
    Ok(options)
}

/// Opens each directory.
pub(crate) fn roots(dirs: &[Utf8PathBuf]) -> Result<Vec<Root>, Failure> {
    dirs.iter().map(|dir| host::root(dir)).collect()
}

/// ` --exclude .git --dialect claude`, as they were typed: what was looked at with them is digested with them again.
pub(crate) fn as_typed(finding: &Finding) -> String {
    let excluded = finding.exclude.iter().map(|name| ("--exclude", name));
    let dialect = finding.dialect.iter().map(|name| ("--dialect", name));
    let version = finding.host_version.iter().map(|text| ("--host-version", text));
    let flags = excluded.chain(dialect).chain(version);
    flags.flat_map(|(flag, value)| [format!(" {flag} "), quoted(value)]).collect()
}

/// Replaces DIR in the commands of a help, so that they can be typed as they are shown.
pub(crate) fn with_folder(help: &str, dir: &Utf8Path) -> String {
    let dir = quoted(dir.as_str());
    ["check", "lock", "lock --check", "list"].iter().fold(help.to_owned(), |help, verb| {
        help.replace(&format!("plugward {verb} DIR"), &format!("plugward {verb} {dir}"))
    })
}

/// As `with_folder`, in all reasons of a report.
pub(crate) fn name_folders(plugins: &mut [PluginReport], dirs: &[Utf8PathBuf]) {
    for plugin in plugins {
        let Some(typed) = dirs.get(plugin.root) else { continue };
        let dir = lock_folder(plugin, typed);
        for reason in &mut plugin.reasons {
            reason.help = with_folder(&reason.help, &dir);
        }
    }
}

/// The directory whose PLUGINS.lock covers a plugin, or would: the one that was typed can be the plugin, or one above
/// the lockfile, and a lockfile that is written there would change nothing for the plugin.
pub(crate) fn lock_folder(plugin: &PluginReport, typed: &Utf8Path) -> Utf8PathBuf {
    let Some(place) = plugin.key.placed().map(|place| Utf8Path::new(place.as_str())) else {
        return typed.to_owned();
    };
    let real = host::real_path(typed).ok();
    let own = (plugin.path == ".").then_some(place);
    let has_lock = |dir: &Utf8Path| std::fs::symlink_metadata(dir.join("PLUGINS.lock")).is_ok();
    let nearest = place.ancestors().skip(1).chain(own).find(|dir| has_lock(dir));
    let covers = |dir: &Utf8Path| Some(dir) == own || (dir != place && place.starts_with(dir));
    let dir = match (nearest.filter(|_| plugin.lock.state != LockState::Absent), &real) {
        (Some(nearest), _) => nearest,
        (None, Some(real)) if covers(real) => return typed.to_owned(),
        (None, _) => own.or_else(|| place.parent()).unwrap_or(place),
    };
    if real.as_deref() == Some(dir) {
        return typed.to_owned();
    }
    let here = host::working_directory();
    let relative = here.as_ref().and_then(|here| dir.strip_prefix(here.as_str()).ok());
    match relative {
        Some(inside) if inside.as_str().is_empty() => Utf8PathBuf::from("."),
        Some(inside) => inside.to_owned(),
        None => dir.to_owned(),
    }
}

/// Quotes a word for a POSIX shell where it needs it.
pub(crate) fn quoted(word: &str) -> String {
    if word.chars().any(crate::escape::is_unprintable) {
        // To be read, not typed: nothing of it may reach a terminal as it is.
        return format!("'{}'", line(word).replace('\'', "'\\''"));
    }
    if word.starts_with('-') {
        // Not an option.
        return quoted(&format!("./{word}"));
    }
    let plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ':' | '@' | '=' | ',')
    };
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Looks at directories without writing anything.
pub(crate) fn look(
    roots: &[Root],
    trust: Option<Trust>,
    keep: ByteRetention,
    finding: &Finding,
    host: &Host,
    out: &Out,
) -> Result<LookReport, Failure> {
    let settings = Settings::read(host)?;
    let trust = trust.unwrap_or_else(|| self::trust(None, &settings));
    let mut options = options(trust, CheckMode::LookOnly, finding, &settings, host)?;
    options.keep = keep;
    let mut stores = stores::to_look(host, &settings, out)?;
    let progress = Progress::new(out.live);
    let mut sides = Sides { watch: &progress, person: &mut NoPerson, grants: &NoGrants };
    let mut looked = plugward_loader::look(roots, &mut stores, &options, &mut sides);
    next_steps::add(&mut looked.report);
    progress.done();
    Ok(looked)
}

/// Says why the pins cannot be read, if they cannot; returns the exit code of a verb that met it.
pub(crate) fn pins_unread<'a>(plugins: impl IntoIterator<Item = &'a PluginReport>, out: &Out) -> u8 {
    let Some(plugin) = plugins.into_iter().find(|plugin| plugin.pin.state == PinStatus::Unavailable) else {
        return 0;
    };
    if let Some(reason) = plugin.reasons.iter().find(|reason| reason.gate == Gate::Pin) {
        out.say(&format!(
            "warning: {} ({})\n  next: {}",
            line(&reason.message),
            reason.code,
            line(&reason.help)
        ));
    } else if let Some(notice) = plugin.notices.iter().find(|notice| notice.gate == Gate::Pin) {
        out.say(&format!("warning: {} ({})", line(&notice.message), notice.code));
    }
    Weight::Store.exit()
}

/// Names each plugin as a terminal shows it, in its row and in the commands of its help. `typed` are the options that
/// decide what is digested; the commands that digest again need them too.
pub(crate) fn localize(plugins: &mut [PluginReport], typed: &str) {
    for plugin in plugins {
        let shown = host::display(&plugin.key);
        let (old, new) = (quoted(&plugin.id), quoted(&shown));
        for reason in &mut plugin.reasons {
            let help = renamed(&reason.help, &["accept", "diff", "explain"], &old, &format!("{new}{typed}"));
            reason.help = renamed(&help, &["allow", "deny", "forget"], &old, &new);
        }
        plugin.id = shown;
    }
}

/// Replaces a plugin's id after the verb of a command.
fn renamed(help: &str, verbs: &[&str], old: &str, new: &str) -> String {
    let replace = |help: String, verb: &&str| {
        let mut out = String::new();
        let mut rest = help.as_str();
        let command = format!("plugward {verb} {old}");
        while let Some(at) = rest.find(&command) {
            let end = at.saturating_add(command.len());
            let after = rest.get(end..).unwrap_or_default();
            let whole = after.is_empty() || after.starts_with([' ', '\n', ';', ',']);
            out.push_str(rest.get(..at).unwrap_or_default());
            out.push_str(&if whole { format!("plugward {verb} {new}") } else { command.clone() });
            rest = after;
        }
        out.push_str(rest);
        out
    };
    verbs.iter().fold(help.to_owned(), replace)
}

/// A plugin that a selector names, as it is on disk.
pub(crate) struct Named {
    /// How a terminal shows it.
    pub(crate) shown: String,
    pub(crate) plugin: PluginReport,
    pub(crate) subject: Option<Subject>,
}

/// Finds the plugin that a selector names and checks it, without writing anything.
pub(crate) fn find(
    selector: &str,
    dirs: &[Utf8PathBuf],
    trust: Option<Trust>,
    keep: WithBytes,
    finding: &Finding,
    host: &Host,
    out: &Out,
) -> Result<Named, Failure> {
    let key = select::on_disk(selector, dirs, finding, host, out)?;
    let missing = || usage(format!("find `{}`: it is not installed on this machine", line(selector)));
    let place = key.placed().ok_or_else(missing)?;
    // What became a symlink or a file is judged from the directory above it.
    let replaced = std::fs::symlink_metadata(place.as_str()).is_ok_and(|meta| !meta.is_dir());
    let at = place.parent().filter(|_| replaced).unwrap_or_else(|| place.clone());
    let root = host::root_at(&at, at.name().to_owned(), None)?;
    let keep = match keep {
        WithBytes::Yes => ByteRetention::Of(key.clone()),
        WithBytes::No => ByteRetention::Nothing,
    };
    let LookReport { mut report, mut subjects, .. } = look(&[root], trust, keep, finding, host, out)?;
    let Some(at) = report.plugins.iter().position(|plugin| plugin.key == key) else {
        let shown = host::display(&key);
        return Err(usage(format!("find `{}`: {shown} is not a plugin", line(selector))));
    };
    let plugin = report.plugins.swap_remove(at);
    Ok(Named { shown: host::display(&key), plugin, subject: subjects.remove(&key) })
}

/// Whether the bytes of a plugin are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WithBytes {
    Yes,
    No,
}
