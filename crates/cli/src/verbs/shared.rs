//! Helpers of several verbs: check options, read-only checks, and the lookup of a selected plugin.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use plugward_loader::manifest::Dialect;
use plugward_loader::pinstore::{ReviewedDigests, StoreErrorRule};
use plugward_loader::policy::{LayerKind, SettingsLayer};
use plugward_loader::tree_lock::{AnyLockFile, Excludes, LOCK_BYTES};
use plugward_loader::{
    ByteRetention, CheckMode, CheckOptions, Decision, Digest, Gate, Host as Sides, InstallRecords, LockState,
    LookReport, NoGrants, NoPerson, NoWatch, PinStatus, PlacePath, PluginKey, PluginReport, Root,
    StoreFailure, Subject, TreeDigest, Trust, Weight,
};

use crate::advice::{self, Commands, ReviewVerb};
use crate::args::{DiscoveryOptions, FindArgs, HostOptions, TrustArg};
use crate::failure::Failure;
use crate::host::{self, Host, PolicyUse};
use crate::installed::{self, HostScope, ProjectScope};
use crate::machine;
use crate::out::Out;
use crate::progress::Progress;
use crate::settings::Settings;
use crate::stores;
use crate::verbs::select;
use plugward_loader::escape::line;

pub(crate) const fn trust_of(arg: TrustArg) -> Trust {
    match arg {
        TrustArg::Tofu => Trust::Tofu,
        TrustArg::Prompt => Trust::Prompt,
        TrustArg::Locked => Trust::Locked,
    }
}

/// Returns the trust mode of the flag, or else of the settings.
pub(crate) fn trust(arg: Option<TrustArg>, settings: &Settings) -> Trust {
    arg.map_or(settings.trust, trust_of)
}

pub(crate) fn dialect(text: Option<&str>) -> Result<Option<Dialect>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let all: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.as_str()).collect();
    let found = Dialect::ALL.iter().copied().find(|dialect| dialect.as_str() == text);
    found.map(Some).ok_or_else(|| {
        Failure::usage(format!("unknown dialect: {text}")).help(format!("use one of {}", all.join(", ")))
    })
}

pub(crate) fn excludes(names: &[String]) -> Result<Excludes, Failure> {
    Excludes::new(names.iter().map(String::as_str))
        .map_err(|error| Failure::usage(format!("invalid value for --exclude: {error}")).help(error.help()))
}

/// `trust` is the mode of the flag, which is a setting of the command line.
pub(crate) fn options(
    trust: Option<Trust>,
    writes: CheckMode,
    finding: &DiscoveryOptions,
    settings: &Settings,
    host: &Host,
) -> Result<CheckOptions, Failure> {
    let mut options = CheckOptions::new(host::now()?, host::user());
    options.settings.clone_from(&settings.layers);
    if let Some(trust) = trust {
        let row = format!("trust={}", trust.as_str());
        let flag = SettingsLayer::assignments(LayerKind::Cli, "--trust", &[&row]);
        options.settings.push(Arc::new(flag.map_err(|error| Failure::internal(error.to_string()))?));
    }
    options.repository_settings = host.repository_settings;
    options.project = host::working_directory().cloned();
    options.trust = trust.unwrap_or(settings.trust);
    let by_terminal = if host.interactive { StoreErrorRule::Ask } else { StoreErrorRule::Refuse };
    options.on_store_error = settings.on_store_error.unwrap_or(by_terminal);
    options.writes = writes;
    options.dialect = dialect(finding.dialect.as_deref())?;
    options.excludes = excludes(&finding.exclude)?;
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
    options.machine = machine::facts();
    Ok(options)
}

/// Opens each directory.
pub(crate) fn roots(dirs: &[Utf8PathBuf]) -> Result<Vec<Root>, Failure> {
    dirs.iter().map(|dir| host::root(dir)).collect()
}

/// Returns the options that change the digest as they were typed, such as ` --exclude .git --dialect claude`.
///
/// A command that a report prints must digest the plugin in the same way, so it repeats them.
pub(crate) fn as_typed(finding: &DiscoveryOptions) -> String {
    let excluded = finding.exclude.iter().map(|name| ("--exclude", name));
    let dialect = finding.dialect.iter().map(|name| ("--dialect", name));
    let version = finding.host_version.iter().map(|text| ("--host-version", text));
    let flags = excluded.chain(dialect).chain(version);
    flags.flat_map(|(flag, value)| [format!(" {flag} "), quoted(value)]).collect()
}

/// Returns the commands for a plugin. `dir` is the directory that the command line named, if it did.
pub(crate) fn commands(plugin: &PluginReport, typed: &str, dir: Option<&Utf8Path>) -> Commands {
    let above = plugin.key.placed().and_then(PlacePath::parent);
    let above = above.map(|place| from_here(Utf8Path::new(place.as_str())));
    let dir = dir.or(above.as_deref()).unwrap_or(Utf8Path::new("."));
    Commands {
        review: ReviewVerb::Explain,
        selector: quoted(&host::display(&plugin.key)),
        typed: typed.to_owned(),
        lock_dir: quoted(lock_directory(plugin, dir).as_str()),
    }
}

/// Returns the command that accepts exactly these digests. The tree is last, so that it is easy to compare.
pub(crate) fn accept_command(commands: &Commands, digests: &ReviewedDigests) -> String {
    with_digests(&format!("plugward accept {}{}", commands.selector, commands.typed), digests)
}

/// Appends reviewed digests to a command.
pub(crate) fn with_digests(command: &str, digests: &ReviewedDigests) -> String {
    let mut line = command.to_owned();
    digests.outside.iter().for_each(|tree| line.push_str(&format!(" --with {tree}")));
    digests.entry.iter().for_each(|entry| line.push_str(&format!(" --with {entry}")));
    line.push_str(&format!(" --tree {}", digests.tree));
    line
}

/// Returns the directory whose PLUGINS.lock covers a plugin, or would cover it.
///
/// The typed directory can be the plugin itself, or a parent of the directory with the lockfile. A lockfile written there
/// would not change anything for the plugin.
pub(crate) fn lock_directory(plugin: &PluginReport, typed: &Utf8Path) -> Utf8PathBuf {
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
    from_here(dir)
}

/// Returns a real path relative to the working directory if it is inside.
fn from_here(dir: &Utf8Path) -> Utf8PathBuf {
    let here = host::working_directory();
    let relative = here.as_ref().and_then(|here| dir.strip_prefix(here.as_str()).ok());
    match relative {
        Some(inside) if inside.as_str().is_empty() => Utf8PathBuf::from("."),
        Some(inside) => inside.to_owned(),
        None => dir.to_owned(),
    }
}

/// Returns the files of a plugin that its PLUGINS.lock lists, if the lockfile differs and lists files.
pub(crate) fn locked_files(plugin: &PluginReport) -> Option<BTreeMap<String, Digest>> {
    if plugin.lock.state != LockState::Mismatch {
        return None;
    }
    let place = plugin.key.placed()?;
    let above = place.parent()?;
    let dir = lock_directory(plugin, Utf8Path::new(above.as_str()));
    let real = PlacePath::new(host::real_path(&dir).ok()?.as_str()).ok()?;
    let limit = u64::try_from(LOCK_BYTES).unwrap_or(u64::MAX);
    let bytes = host::named_file(&dir.join("PLUGINS.lock"), limit).ok()?;
    let Ok(AnyLockFile::Plugins(lock)) = AnyLockFile::parse(&bytes) else { return None };
    let entry = lock.get(place.relative_to(&real)?)?;
    (!entry.files.is_empty()).then(|| entry.files.clone())
}

/// Quotes a word for a POSIX shell if necessary.
pub(crate) fn quoted(word: &str) -> String {
    if word.chars().any(plugward_loader::escape::is_hidden) {
        // Such a word cannot be typed. It is escaped, because it must not reach a terminal as it is.
        return format!("'{}'", line(word).replace('\'', "'\\''"));
    }
    if word.starts_with('-') {
        // With a path prefix, the word cannot be taken for an option.
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

/// Fails if the file of `--policy` is inside a checked plugin, which could then suppress its own findings.
pub(crate) fn refuse_own_policy(
    roots: &[Root],
    options: &CheckOptions,
    host: &Host,
    out: &Out,
) -> Result<(), Failure> {
    let Some(policy) = host.policy.as_ref().filter(|_| host.policy_use == PolicyUse::Read) else {
        return Ok(());
    };
    let real = host::real_path(policy)?;
    let store = stores::pins(host, CheckMode::LookOnly, out)?;
    let found = plugward_loader::survey(roots, &store, options, &NoWatch);
    let own = found.iter().find(|one| one.key.placed().is_some_and(|place| real.starts_with(place.as_str())));
    match own {
        Some(one) => {
            Err(Failure::usage(format!("{policy} is inside the plugin {}", host::display(&one.key)))
                .help("name a file outside of it: a plugin cannot suppress its own findings"))
        }
        None => Ok(()),
    }
}

/// Returns the hosts and the project that the options name.
pub(crate) fn scope(options: &HostOptions) -> Result<HostScope, Failure> {
    let hosts = options.hosts.iter().map(|name| installed::host_named(name)).collect::<Result<_, _>>()?;
    let project = match &options.project {
        _ if options.no_project => ProjectScope::None,
        Some(dir) => ProjectScope::Named(dir.clone()),
        None => ProjectScope::Here,
    };
    Ok(HostScope { hosts, project, ..HostScope::default() })
}

/// Checks directories without writing anything.
pub(crate) fn look(
    roots: &[Root],
    trust: Option<Trust>,
    keep: ByteRetention,
    finding: &DiscoveryOptions,
    host: &Host,
    out: &Out,
) -> Result<LookReport, Failure> {
    look_at(roots, installed::inside(roots)?, trust, keep, finding, host, out)
}

/// Checks places with the records that name them, without writing anything.
pub(crate) fn look_at(
    roots: &[Root],
    installs: Arc<InstallRecords>,
    trust: Option<Trust>,
    keep: ByteRetention,
    finding: &DiscoveryOptions,
    host: &Host,
    out: &Out,
) -> Result<LookReport, Failure> {
    let settings = Settings::read(host)?;
    let mut options = options(trust, CheckMode::LookOnly, finding, &settings, host)?;
    options.keep = keep;
    options.installs = installs;
    refuse_own_policy(roots, &options, host, out)?;
    let mut stores = stores::to_look(host, &settings, out)?;
    let progress = Progress::new(out.live);
    let mut sides = Sides { watch: &progress, person: &mut NoPerson, grants: &NoGrants };
    let looked = plugward_loader::look(roots, &mut stores, &options, &mut sides);
    progress.done();
    Ok(looked)
}

/// Reports that the pins cannot be read, if they cannot, and returns the exit code for that or 0.
pub(crate) fn pins_unread<'a>(plugins: impl IntoIterator<Item = &'a PluginReport>, out: &Out) -> u8 {
    let Some(failure) = pins_failure(plugins) else { return 0 };
    let exit = failure.exit();
    out.report(&failure.into_warning());
    exit
}

/// Returns the failure of pins that cannot be read.
pub(crate) fn pins_failure<'a>(plugins: impl IntoIterator<Item = &'a PluginReport>) -> Option<Failure> {
    let mut unread =
        plugins.into_iter().filter(|plugin| plugin.pin.state == PinStatus::Unavailable).peekable();
    let first = unread.peek().copied()?;
    // A plugin that is denied has another reason of this gate, which is not about the pins.
    let of_store = |plugin: &'a PluginReport| {
        let mut reasons = plugin.reasons.iter();
        reasons
            .find(|reason| reason.gate == Gate::Pin && reason.weight == Weight::Store)
            .map(|reason| (plugin, reason))
    };
    let (plugin, reason) =
        unread.find_map(of_store).map_or((first, None), |(plugin, reason)| (plugin, Some(reason)));
    let notice = plugin.notices.iter().find(|notice| notice.gate == Gate::Pin);
    Some(match (reason, notice) {
        (Some(reason), _) => Failure::store(&reason.message).code(&reason.code).help(advice::help(
            plugin,
            reason,
            &commands(plugin, "", None),
        )),
        (None, Some(notice)) => Failure::store(&notice.message).code(&notice.code),
        (None, None) => Failure::store("the pins cannot be read"),
    })
}

/// Replaces the id of each plugin with its name for a terminal.
pub(crate) fn localize(plugins: &mut [PluginReport]) {
    for plugin in plugins {
        plugin.id = host::display(&plugin.key);
    }
}

/// The plugin that a selector names, as it is on disk.
pub(crate) struct SelectedPlugin {
    /// Its name for a terminal.
    pub(crate) shown: String,
    pub(crate) plugin: PluginReport,
    pub(crate) subject: Option<Subject>,
    /// The trees of the other versions that records of hosts name.
    pub(crate) recorded: BTreeSet<TreeDigest>,
}

/// Finds the plugin that a selector names and checks it, without writing anything.
pub(crate) fn find(
    plugin: &FindArgs,
    trust: Option<Trust>,
    bytes: PluginBytes,
    host: &Host,
    out: &Out,
) -> Result<SelectedPlugin, Failure> {
    find_tree(plugin, trust, bytes, None, host, out)
}

/// As [`find`]. Of several versions of an installed plugin, the one with this tree is selected, else one that does not load.
pub(crate) fn find_tree(
    plugin: &FindArgs,
    trust: Option<Trust>,
    bytes: PluginBytes,
    tree: Option<&str>,
    host: &Host,
    out: &Out,
) -> Result<SelectedPlugin, Failure> {
    let FindArgs { named, finding } = plugin;
    let (key, records) = select::on_disk(&named.id, &named.dirs, finding, host, out)?;
    let keep = match bytes {
        PluginBytes::Keep => ByteRetention::Of(key.clone()),
        PluginBytes::Discard => ByteRetention::Nothing,
    };
    let mut found: Vec<SelectedPlugin> = Vec::new();
    for root in roots_of(&key, &records)? {
        let looked = look_at(&[root], records.clone(), trust, keep.clone(), finding, host, out)?;
        let LookReport { report, mut subjects, .. } = looked;
        let own = report.plugins.into_iter().filter(|plugin| plugin.key == key);
        found.extend(own.map(|plugin| {
            let subject = subjects.remove(&plugin.place);
            SelectedPlugin { shown: host::display(&key), plugin, subject, recorded: BTreeSet::new() }
        }));
    }
    let is_wanted = |one: &SelectedPlugin| tree.is_some() && one.plugin.tree.as_deref() == tree;
    let does_not_load = |one: &SelectedPlugin| one.plugin.decision != Decision::Load;
    let at = found
        .iter()
        .position(is_wanted)
        .or_else(|| found.iter().position(|one| one.plugin.on && does_not_load(one)))
        .or_else(|| found.iter().position(|one| one.plugin.on))
        .or_else(|| found.iter().position(does_not_load))
        .unwrap_or_default();
    if found.is_empty() {
        return Err(Failure::usage(format!("not a plugin: {}", host::display(&key))));
    }
    let mut selected = found.swap_remove(at);
    selected.recorded = found.iter().filter_map(|one| Some(one.subject.as_ref()?.facts().tree)).collect();
    Ok(selected)
}

/// Returns where the plugin with a key is: every recorded version, or its place.
pub(crate) fn roots_of(key: &PluginKey, records: &InstallRecords) -> Result<Vec<Root>, Failure> {
    let recorded: Vec<PlacePath> = records.of_key(key).map(|one| one.place.clone()).collect();
    if !recorded.is_empty() {
        return recorded.iter().map(host::root_of_place).collect();
    }
    let missing = || Failure::usage(format!("not installed on this machine: {key}"));
    let place = key.placed().ok_or_else(missing)?;
    // If a symlink or a file has replaced the plugin, the check starts at the parent directory.
    let replaced = std::fs::symlink_metadata(place.as_str()).is_ok_and(|meta| !meta.is_dir());
    let at = place.parent().filter(|_| replaced).unwrap_or_else(|| place.clone());
    Ok(vec![host::root_at(&at, at.name().to_owned(), None)?])
}

/// Whether a check keeps the contents of the selected plugin in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PluginBytes {
    Keep,
    Discard,
}

/// Returns the failure for a store that cannot be read. For the pins, it has the command that starts over.
pub(crate) fn store_failure(failure: &StoreFailure) -> Failure {
    let base = Failure::store(failure.message()).code(failure.code()).help(failure.help());
    let base = match failure.path() {
        // The message of lost pins has the path.
        Some(path) if !failure.message().contains(path) => base.note("file", path),
        Some(_) | None => base,
    };
    if advice::is_about_pins(failure.code()) { base.help(advice::START_OVER) } else { base }
}
