//! Opens the stores of this machine for one verb: pins, approvals, revocations, the ledger and scan records.

use camino::{Utf8Path, Utf8PathBuf};
use plugward_loader::capability::{RawWithNetwork, WorkflowId};
use plugward_loader::ledger::{LedgerFiles, LedgerId};
use plugward_loader::pinstore::{Baselines, Pins, RevocationLists};
use plugward_loader::{
    ApprovalStore, AuditRecords, CheckMode, DecisionError, Dir, PinStore, PluginKey, Record, RecordFailure,
    RecordOptions, RecordedDenials, RevocationStore, ScanPack, ScanRecords, Stores, Trust, record_start_over,
    record_stored, sha256,
};

use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::prompt::confirm;
use crate::settings::Settings;
use crate::settings_file::{self, SettingsFile};
use crate::text::capitalized;

/// The file of the pins.
const PINS: &str = "plugins.pins.toml";
/// The file of the ledger.
const LEDGER: &str = "ledger.jsonl";
/// The permission bit that lets the group write.
const GROUP_WRITES: u32 = 0o020;
/// The sticky bit. In such a directory, only the owner of a file can move or remove it.
const STICKY: u32 = 0o1000;
/// The most bytes of a revocation list.
const LIST: u64 = 8 << 20;
/// How long a write waits for the file lock of another process. Writes take milliseconds, so a longer wait means a
/// process that hangs.
const WAIT: std::time::Duration = std::time::Duration::from_secs(5);

/// Opens all stores for a verb that writes nothing.
pub(crate) fn to_look(host: &Host, settings: &Settings, out: &Out) -> Result<Stores, Failure> {
    Ok(Stores {
        pins: pins(host, CheckMode::LookOnly, out)?,
        approvals: approvals(host)?,
        revocations: revocations(host, settings, out),
        record: Record::nowhere(),
    })
}

/// Opens all stores for `check`.
pub(crate) fn to_write(
    host: &Host,
    settings: &Settings,
    workflow: Option<&str>,
    out: &Out,
) -> Result<Stores, Failure> {
    Ok(Stores {
        pins: pins(host, CheckMode::Commit, out)?,
        approvals: approvals(host)?,
        revocations: revocations(host, settings, out),
        record: record(host, workflow)?,
    })
}

/// Opens the pins. A config directory that does not exist yet is an empty store, and is created with the first pin.
pub(crate) fn pins(host: &Host, writes: CheckMode, out: &Out) -> Result<PinStore, Failure> {
    let path = host.config_dir()?;
    let is_missing = is_missing(path)?;
    // A verb that changes nothing must not create directories.
    let store = if writes == CheckMode::LookOnly && is_missing {
        PinStore::empty()
    } else {
        let dir = host::own_directory(path).map_err(Failure::of_store)?;
        PinStore::open(&dir, host::owner())
    };
    // Without a file, a deleted store would look like that of a new machine, and everything would be pinned again.
    if store.is_new() {
        let lost = pins_paths(path).into_iter().find_map(|file| {
            let pins = recorded(host, &file).filter(|pins| *pins > 0)?;
            Some(PinStore::lost(file.as_str(), pins))
        });
        if let Some(lost) = lost {
            return Ok(lost.with_denials(denials(host)));
        }
    }
    let store = store.at(pins_path(path).as_str()).with_ledger(ledger_files(host));
    let is_broken = store.failure().is_some();
    let store = store.with_denials(is_broken.then(|| denials(host)).flatten());
    if store.is_new() && is_missing && writes == CheckMode::LookOnly {
        return Ok(store);
    }
    Ok(match baselines(host) {
        Ok(baselines) => store.with_baselines(baselines),
        Err(error) => {
            out.report(&Diagnostic::note_of(format!("no text is kept for later diffs: {error}")));
            store
        }
    })
}

/// Returns the path of the pins file without symlinks in its parents, also if the directory does not exist any more.
fn pins_path(config: &Utf8Path) -> Utf8PathBuf {
    pins_paths(config).into_iter().next().unwrap_or_else(|| config.join(PINS))
}

/// Returns the paths that the pins file has or had: without symlinks up to each of its parents. A directory that a symlink
/// replaced was recorded without it.
fn pins_paths(config: &Utf8Path) -> Vec<Utf8PathBuf> {
    let full = host::typed_path(config).unwrap_or_else(|| config.to_owned());
    let real = |above: &Utf8Path| {
        let rest = full.strip_prefix(above).ok()?;
        Some(host::real_path(above).ok()?.join(rest).join(PINS))
    };
    full.ancestors().filter_map(real).collect()
}

/// Returns the number of pins that the ledger knows of a file. A ledger that cannot be read knows none: a run that
/// writes opens it as well, and then loads nothing.
fn recorded(host: &Host, file: &Utf8Path) -> Option<u64> {
    PinStore::recorded(&ledger_files(host)?, file.as_str()).ok()?
}

/// Returns the denials that the ledger knows.
fn denials(host: &Host) -> Option<RecordedDenials> {
    RecordedDenials::read(&ledger_files(host)?)
}

fn ledger_files(host: &Host) -> Option<LedgerFiles> {
    let state = host.state_dir().ok()?;
    let dir = Dir::open_ambient_dir(state, plugward_loader::ambient_authority()).ok()?;
    LedgerFiles::open(&dir).ok()
}

/// Warns if the group can write the ledger or its directory.
fn warn_of_group(host: &Host, state: &Utf8Path) {
    use std::os::unix::fs::PermissionsExt as _;
    for path in [state.to_owned(), state.join(LEDGER)] {
        let Ok(meta) = std::fs::symlink_metadata(&path) else { continue };
        if meta.permissions().mode() & (GROUP_WRITES | STICKY) == GROUP_WRITES {
            let path = crate::verbs::shared::quoted(path.as_str());
            host.warnings.add(Some(
                Diagnostic::warning(format!("the group can write {path}"))
                    .code("state/group-writable")
                    .help(&format!("chmod g-w {path}")),
            ));
        }
    }
}

/// Asks whether to start over if the pins are gone, and does so after a yes. Anything else leaves the store as it is.
pub(crate) fn start_over_if_lost(host: &Host, trust: Trust, out: &Out) -> Result<(), Failure> {
    if !host.interactive || trust != Trust::Tofu {
        return Ok(());
    }
    let store = pins(host, CheckMode::LookOnly, out)?;
    let Some(lost) = store.failure().filter(|failure| failure.code() == "pin/lost") else { return Ok(()) };
    let explanation = format!("{}. {}", capitalized(lost.message()), lost_with_pins(&store));
    if confirm(&explanation, "Start over?", host, out)? {
        start_over(host, &store)?;
    }
    Ok(())
}

/// Returns what is lost with pins that cannot be read, and what stays, in one or two sentences.
pub(crate) fn lost_with_pins(store: &PinStore) -> String {
    let lost = "All pins and revocations are lost";
    let Some(denials) = store.recorded_denials() else {
        return format!("{lost}, and all denials too, because the ledger cannot tell what you denied.");
    };
    let (kept, gone): (Vec<&str>, Vec<&str>) =
        denials.names().partition(|name| name.parse::<PluginKey>().is_ok());
    let shown = |names: &[&str]| {
        let shown = names
            .iter()
            .map(|name| name.parse().map_or_else(|_| (*name).to_owned(), |key| host::display(&key)));
        shown.collect::<Vec<_>>().join(", ")
    };
    let mut text = match kept.as_slice() {
        [] => format!("{lost}; nothing was denied."),
        kept => format!("{lost}. Still denied, according to the ledger: {}.", shown(kept)),
    };
    if !gone.is_empty() {
        text.push_str(&format!(" No longer denied, because their names are too long: {}.", shown(&gone)));
    }
    text
}

/// Replaces pins that cannot be used by a store with nothing but the denials that the ledger knows.
pub(crate) fn start_over(host: &Host, store: &PinStore) -> Result<(), Failure> {
    let not_recorded =
        |error: DecisionError| Failure::store(error.to_string()).code(error.code()).help(error.help());
    let record = record(host, None)?;
    // The ledger gets its record first, so that a deleted store always leaves a trace.
    record_start_over(store, &record).map_err(not_recorded)?;
    let path = host.config_dir()?;
    let dir = host::own_directory(path).map_err(Failure::of_store)?;
    let file = Pins::file(&dir, host::owner()).map_err(|error| Failure::store(error.to_string()))?;
    let denials = store.recorded_denials();
    let kept = denials.map(|denials| denials.to_restore(&host::user())).unwrap_or_default();
    Pins::start_over(&file, kept, host::now()?, WAIT).map_err(|error| {
        Failure::store(format!("cannot start over: {error}")).code(error.code()).help(error.help())
    })?;
    let fresh = PinStore::open(&dir, host::owner()).at(pins_path(path).as_str());
    record_stored(&fresh, &record).map_err(not_recorded)
}

/// Returns `true` if a directory does not exist. One that cannot be accessed is an error, since it can contain denials.
fn is_missing(path: &Utf8Path) -> Result<bool, Failure> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(Failure::store(format!("cannot access the config directory {path}: {error}"))
            .help("fix its permissions, or name another with --config-dir")),
    }
}

/// Opens the approvals for a change; the directory is created if it does not exist yet.
pub(crate) fn approvals_to_write(host: &Host) -> Result<ApprovalStore, Failure> {
    let dir = host::own_directory(host.config_dir()?).map_err(Failure::of_store)?;
    Ok(ApprovalStore::open(&dir, host::owner()).with_audits(audits(host)))
}

/// Returns the records of audits. A run that can write loads nothing if the state directory cannot be opened, because the
/// ledger is there too.
fn audits(host: &Host) -> Option<AuditRecords> {
    let dir = Dir::open_ambient_dir(host.state_dir().ok()?, plugward_loader::ambient_authority()).ok()?;
    AuditRecords::at(&dir, host::owner()).ok()
}

/// Opens the records of audits for a new one.
pub(crate) fn audits_to_write(host: &Host) -> Result<AuditRecords, Failure> {
    let dir = host::own_directory(host.state_dir()?).map_err(Failure::of_store)?;
    AuditRecords::at(&dir, host::owner())
        .map_err(|error| Failure::store(error.to_string()).code(error.code()).help(error.help()))
}

pub(crate) fn approvals(host: &Host) -> Result<ApprovalStore, Failure> {
    let path = host.config_dir()?;
    if is_missing(path)? {
        return Ok(ApprovalStore::empty().with_audits(audits(host)));
    }
    let dir = host::own_directory(path).map_err(Failure::of_store)?;
    Ok(ApprovalStore::open(&dir, host::owner()).with_audits(audits(host)))
}

/// Opens the records of earlier scans of these directories. They only save time: without them, everything is scanned.
pub(crate) fn records<'a>(
    host: &Host,
    verb: &str,
    paths: impl IntoIterator<Item = &'a Utf8Path>,
) -> Result<ScanPack, Failure> {
    let mut of = verb.to_owned();
    for path in paths {
        // A path cannot contain NUL, so two different lists of paths never have the same name.
        of.push('\0');
        of.push_str(host::real_path(path)?.as_str());
    }
    let dir = host::own_directory(host.state_dir()?)?;
    let fresh: Vec<u8> = host::random()?.into_iter().chain(host::random()?).collect();
    let fresh = <[u8; 32]>::try_from(fresh)
        .map_err(|_other_length| Failure::internal("cannot make a key of 32 bytes"))?;
    let records = ScanRecords::open(&dir, host::owner(), fresh)
        .map_err(|error| Failure::internal(error.to_string()).code(error.code()))?;
    Ok(records.pack(&of))
}

/// Reports with `-v` that scan records are not available, which only costs time.
pub(crate) fn unrecorded(out: &Out, error: Failure) {
    if out.loudness > 0 {
        out.report(&error.into_note("no records of scans are kept"));
    }
}

/// Opens the baselines. They explain a change and never decide, so the callers turn a failure into a note.
fn baselines(host: &Host) -> Result<Baselines, Failure> {
    let dir = host::own_directory(host.state_dir()?)?;
    Baselines::open(&dir, host::owner()).map_err(|error| Failure::internal(error.to_string()))
}

/// Reads the lists of `plugins.revocation_lists`. The state directory keeps the last good copy of each, so that deleting
/// a list does not lift its revocations.
fn revocations(host: &Host, settings: &Settings, out: &Out) -> RevocationStore {
    let mut store = RevocationStore::none();
    if settings.revocation_lists.is_empty() {
        return store;
    }
    let opened =
        host.state_dir().and_then(host::own_directory).map_err(|error| error.to_string()).and_then(|dir| {
            RevocationLists::open(&dir, host::owner(), WAIT)
                .map_err(|error| format!("{error} ({})", error.code()))
        });
    for source in &settings.revocation_lists {
        let name = Utf8Path::new(source).file_name().unwrap_or(source).to_owned();
        let path = match host.config_dir() {
            Ok(dir) => dir.join(source),
            Err(_) => source.into(),
        };
        let bytes = match settings_file::read(&path, LIST) {
            Ok(SettingsFile { bytes, warning }) => {
                host.warnings.add(warning);
                Some(bytes)
            }
            Err(error) => {
                out.report(&error.into_warning());
                None
            }
        };
        match &opened {
            Ok(lists) => store.add(&name, lists.settle(source, bytes.as_deref())),
            Err(why) => store.unkept(&name, why),
        }
    }
    store
}

/// Creates the directory that a program can write, and returns its real path. A key is a path and cannot be the name of a
/// file, so the directory is named for its digest.
pub(crate) fn plugin_data(host: &Host, name: &str) -> Result<Utf8PathBuf, Failure> {
    let digest = sha256(name.as_bytes()).to_string();
    let path = host.state_dir()?.join("plugin-data").join(digest.replace(':', "-"));
    host::own_directory(&path)?;
    host::real_path(&path)
}

/// Opens the ledger. If that fails, the record is a failed one: nothing loads, and the report has the reason.
pub(crate) fn record(host: &Host, workflow: Option<&str>) -> Result<Record, Failure> {
    let workflow = match workflow {
        Some(id) => Some(WorkflowId::new(id).map_err(|error| {
            Failure::usage(format!("invalid value for --workflow: {error}"))
                .code(error.code())
                .help(error.help())
        })?),
        None => None,
    };
    Ok(open(host, workflow).unwrap_or_else(|error| {
        let help = "fix the cause in the message, or name another directory with --state-dir DIR";
        Record::failed(RecordFailure::no_place(&error.to_string(), help))
    }))
}

fn open(host: &Host, workflow: Option<WorkflowId>) -> Result<Record, Failure> {
    let path = host.state_dir()?;
    let dir = host::own_directory(path)?;
    warn_of_group(host, path);
    let random = host::random()?;
    let clock = host::ledger_clock()?;
    // The time makes the id readable in the ledger, and the random part makes it unique.
    let own = || WorkflowId::new(&format!("check-{}-{:08x}", clock(), u128::from_le_bytes(random) >> 96));
    let workflow = workflow.map_or_else(own, Ok).map_err(|error| Failure::internal(error.to_string()))?;
    Ok(Record::open(
        &dir,
        RecordOptions {
            new_id: LedgerId::from_bytes(random),
            clock: Box::new(clock),
            workflow,
            budgets: Settings::read(host)?.budgets,
            raw_with_network: RawWithNetwork::Refuse,
        },
    ))
}
