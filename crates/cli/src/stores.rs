//! Opens the stores of this machine for one verb: pins, approvals, revocations, the ledger and scan records.

use camino::Utf8Path;
use plugward_loader::capability::{BudgetLimit, Budgets, RawWithNetwork, WorkflowId};
use plugward_loader::ledger::LedgerId;
use plugward_loader::pinstore::{Baselines, RevocationLists};
use plugward_loader::{
    ApprovalStore, CheckMode, PinStore, Record, RecordFailure, RecordOptions, RevocationStore, ScanPack,
    ScanRecords, Stores,
};

use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::settings::Settings;
use crate::settings_file::{self, SettingsFile};

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
    // A verb that changes nothing must not create directories.
    if writes == CheckMode::LookOnly && is_missing(path)? {
        return Ok(PinStore::empty());
    }
    let dir = host::own_directory(path).map_err(Failure::of_store)?;
    let store = PinStore::open(&dir, host::owner());
    Ok(match baselines(host) {
        Ok(baselines) => store.with_baselines(baselines),
        Err(error) => {
            out.report(&Diagnostic::note_of(format!("no text is kept for later diffs: {error}")));
            store
        }
    })
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
    Ok(ApprovalStore::open(&dir, host::owner()))
}

fn approvals(host: &Host) -> Result<ApprovalStore, Failure> {
    let path = host.config_dir()?;
    if is_missing(path)? {
        return Ok(ApprovalStore::empty());
    }
    let dir = host::own_directory(path).map_err(Failure::of_store)?;
    Ok(ApprovalStore::open(&dir, host::owner()))
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
    let dir = host::own_directory(host.state_dir()?)?;
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
            budgets: Budgets::otherwise(BudgetLimit::NONE),
            raw_with_network: RawWithNetwork::Refuse,
        },
    ))
}
