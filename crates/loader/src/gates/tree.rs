//! The tree gate: can the directory be digested?

use plugward_sandbox_path::{ErrorClass, Jail, OpenError};
use plugward_tree_lock::{ExecBits, ReadOptions, ReadProgress, Snapshot, TreeCheck};

use super::{Context, passed};
use crate::discovery::discover::{MAIN_LIMIT, NAMES, Names, PluginPlace};
use crate::discovery::roots::inside;
use crate::report::Gate;
use crate::run::outcome::{GateOutcome, Weight};
use plugward_manifest::MAIN_FILES;

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
pub(crate) fn gate(jail: &Jail, context: &Context<'_>) -> TreeOutcome {
    let options = context.options;
    let mut outcome = passed(Gate::Tree);
    if let Some((code, message, help)) = too_large(jail, context) {
        outcome.add(code, Weight::Integrity, message, help);
        return TreeOutcome::NotRead(outcome);
    }
    let tick = |step: ReadProgress| context.watch.reading(step.files, step.bytes);
    let how = ReadOptions {
        limits: &options.tree,
        exclude: &options.excludes,
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
