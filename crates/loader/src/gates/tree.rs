//! The tree gate: can the directory be digested?

use plugward_installs::InstallContents;
use plugward_sandbox_path::{ErrorClass, FileKind, Jail, OpenError};
use plugward_tree_lock::{Excludes, ExecBits, ReadOptions, ReadProgress, Snapshot, TreeCheck};

use super::{Context, passed};
use crate::contents::vcs;
use crate::discovery::discover::{CONTROL, MAIN_LIMIT, NAMES, Names, PluginPlace};
use crate::discovery::roots::inside;
use crate::report::Gate;
use crate::report::text::plain;
use crate::run::options::CheckOptions;
use crate::run::outcome::{GateOutcome, Weight};
use plugward_manifest::MAIN_FILES;

/// The directory in which Claude Code notes the sessions that use a cached plugin.
const IN_USE: &str = ".in_use";
/// The file in which Claude Code notes when a cached version was replaced.
const ORPHANED: &str = ".orphaned_at";
/// The most bytes of `.orphaned_at`. It contains a time in milliseconds, which has 13 digits.
const ORPHANED_BYTES: u64 = 64;
/// The most bytes of a file in `.in_use`. One has about 40 bytes.
const IN_USE_BYTES: u64 = 1024;

/// The result of reading a directory.
pub(crate) enum TreeOutcome {
    Read { snapshot: Box<Snapshot>, outcome: GateOutcome },
    NotRead(GateOutcome),
}

/// Opens the directory of a plugin. Every race in it is recorded.
pub(crate) fn open(place: &PluginPlace, context: &Context<'_>) -> Result<Jail, GateOutcome> {
    let label = inside(&place.dir, &context.root.dir).unwrap_or(&place.dir);
    let label =
        if label == "." { context.root.label.clone() } else { format!("{}/{label}", context.root.label) };
    let jail = if place.dir == "." {
        Ok(context.root.jail.clone())
    } else {
        context.root.jail.subjail(place.dir.as_str())
    };
    jail.map(|jail| context.run.watched(&jail, &label)).map_err(|error| refused(&error))
}

pub(crate) fn refused(error: &OpenError) -> GateOutcome {
    let weight = if error.class() == ErrorClass::Refused { Weight::Integrity } else { Weight::CouldNotTell };
    let mut outcome = passed(Gate::Tree);
    if error.code() == "path/symlink" {
        let help =
            "pass the directory that the symlink leads to; a plugin's own directory must not be a symlink";
        outcome.add("tree/root-link", Weight::Integrity, error.to_string(), help);
    } else {
        outcome.add(error.code(), weight, error.to_string(), error.help());
    }
    outcome
}

/// Reads the directory once. All later gates use this copy.
pub(crate) fn gate(place: &PluginPlace, jail: &Jail, context: &Context<'_>) -> TreeOutcome {
    let options = context.options;
    let mut outcome = passed(Gate::Tree);
    if let Some((code, message, help)) = too_large(jail, context) {
        outcome.add(code, Weight::Integrity, message, help);
        return TreeOutcome::NotRead(outcome);
    }
    let is_cache = is_cache(place);
    let excludes = excludes(jail, options);
    let excludes = if is_cache { excludes.with_host_files() } else { excludes };
    if is_cache && let Some(message) = foreign_host_file(jail) {
        let help = "remove the file; Claude Code writes only `.in_use/<pid>` and `.orphaned_at`";
        outcome.add("install/bookkeeping", Weight::Integrity, message, help);
        return TreeOutcome::NotRead(outcome);
    }
    let tick = |step: ReadProgress| context.watch.reading(step.files, step.bytes);
    let how = ReadOptions {
        limits: &options.tree,
        exclude: &excludes,
        exec: ExecBits::Modes,
        jobs: options.jobs,
        progress: &tick,
    };
    match Snapshot::read_with(jail, &how) {
        Ok(TreeCheck::Read(snapshot)) => {
            for notice in snapshot.warnings() {
                outcome.note(notice.code(), notice.to_string());
            }
            return TreeOutcome::Read { snapshot: Box::new(snapshot), outcome };
        }
        Ok(TreeCheck::Refused(refusal)) => {
            for problem in refusal.problems() {
                outcome.add(problem.code(), Weight::Integrity, problem.to_string(), problem.help());
            }
            if refusal.left_out() > 0
                && let Some(last) = outcome.reasons.last_mut()
            {
                last.message.push_str(&format!(" ({} more problems are not listed)", refusal.left_out()));
            }
        }
        Err(error) => {
            outcome.add(error.code(), Weight::CouldNotTell, crate::report::text::chain(&error), error.help());
        }
    }
    TreeOutcome::NotRead(outcome)
}

/// Returns `true` for a directory in a host's cache, into which the host writes files of its own.
pub(crate) fn is_cache(place: &PluginPlace) -> bool {
    place.installed.as_ref().is_some_and(|one| one.contents == InstallContents::CacheDirectory)
}

/// Returns the names that the tree leaves out: those of the options, and the version control directories that exist.
fn excludes(jail: &Jail, options: &CheckOptions) -> Excludes {
    let existing = CONTROL.into_iter().filter(|name| options.exclude_vcs && vcs::is_left_out(jail, name));
    // The names are constants that can be excluded, and without them more is digested.
    Excludes::new(options.excludes.iter().chain(existing)).unwrap_or_else(|_| options.excludes.clone())
}

/// Returns a message about a file that Claude Code does not write, among the names that are left out of the tree of a
/// cached plugin.
///
/// Claude Code writes `.in_use/<pid>` (or `<pid>.tmp.*` for a moment) during a session, and `.orphaned_at` after an
/// update. Anything else under these names could be code that no digest covers.
fn foreign_host_file(jail: &Jail) -> Option<String> {
    let unexpected = |path: &str| format!("unexpected file `{}`: not written by Claude Code", plain(path));
    match jail.metadata(ORPHANED).map(|meta| (meta.kind(), meta.len())) {
        Ok((FileKind::File, len)) if len <= ORPHANED_BYTES => {
            let bytes = jail.read(ORPHANED, ORPHANED_BYTES).unwrap_or_else(|_| b"?".to_vec());
            if !bytes.trim_ascii_end().iter().all(u8::is_ascii_digit) {
                return Some(unexpected(ORPHANED));
            }
        }
        Ok(_) => return Some(unexpected(ORPHANED)),
        Err(_) => {}
    }
    match jail.metadata(IN_USE).map(|meta| meta.kind()) {
        Ok(FileKind::Directory) => {}
        Ok(_) => return Some(unexpected(IN_USE)),
        Err(_) => return None,
    }
    let Ok(listing) = jail.list(IN_USE, NAMES) else { return Some(unexpected(IN_USE)) };
    if listing.is_truncated() {
        return Some(format!("more than {NAMES} files in `{IN_USE}`: not written by Claude Code"));
    }
    listing.entries().iter().find_map(|entry| {
        let path = format!("{IN_USE}/{}", String::from_utf8_lossy(entry.name()));
        let is_file = entry.kind() == FileKind::File && entry.name_str().is_some_and(is_process_file);
        let meta = jail.metadata(path.as_str());
        // A session that ends meanwhile removes its file.
        let is_gone = meta.as_ref().is_err_and(|error| error.class() == ErrorClass::NotFound);
        let is_plain = meta.is_ok_and(|meta| meta.len() <= IN_USE_BYTES && meta.mode() & 0o111 == 0);
        // A file whose text is something else could be sourced by a script that builds its path.
        let is_note = || jail.read(path.as_str(), IN_USE_BYTES).map_or(true, |bytes| is_process_note(&bytes));
        (!(is_file && (is_gone || (is_plain && is_note())))).then(|| unexpected(&path))
    })
}

/// Returns `true` for `{"pid":7305,"procStart":"369637"}` and its beginnings: a temporary file can be incomplete.
fn is_process_note(bytes: &[u8]) -> bool {
    let Ok(mut text) = core::str::from_utf8(bytes.trim_ascii_end()) else { return false };
    let is_time = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | ':' | '.' | '+' | '-');
    for (fixed, is_value) in [
        ("{\"pid\":", (|c: char| c.is_ascii_digit()) as fn(char) -> bool),
        (",\"procStart\":\"", is_time),
        ("\"}", |_| false),
    ] {
        let Some(rest) = text.strip_prefix(fixed) else {
            // A record of an older version ends after the process.
            return fixed.starts_with(text) || text == "}";
        };
        text = rest.trim_start_matches(is_value);
    }
    text.is_empty()
}

/// Returns `true` for `<digits>` and `<digits>.tmp.*`.
fn is_process_file(name: &str) -> bool {
    let (pid, rest) = name.split_at(name.find('.').unwrap_or(name.len()));
    !pid.is_empty()
        && pid.bytes().all(|byte| byte.is_ascii_digit())
        && (rest.is_empty() || rest.strip_prefix(".tmp.").is_some_and(|rest| !rest.is_empty()))
}

/// Refuses a main file over the limit before its directory is read, so that its size costs nothing.
fn too_large(jail: &Jail, context: &Context<'_>) -> Option<(&'static str, String, &'static str)> {
    let wanted = |dialect| context.options.dialect.is_none_or(|only| only == dialect);
    let names = Names::of(jail.list(".", NAMES).ok().as_ref());
    let files = MAIN_FILES.iter().filter(|(dialect, file)| wanted(*dialect) && names.can_have(file));
    files.into_iter().find_map(|(_, file)| {
        let meta = jail.metadata(*file).ok()?;
        (meta.len() > MAIN_LIMIT).then(|| {
            let bytes = meta.len();
            let message = format!(
                "{file}: {bytes} bytes, at most {MAIN_LIMIT} are read; the directory was not read either"
            );
            ("manifest/too-large", message, "move data out of the manifest into other files")
        })
    })
}
