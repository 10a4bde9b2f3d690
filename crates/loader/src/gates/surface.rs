//! The surface gate: do the declared programs exist, and does the pin cover them?

use std::collections::BTreeSet;

use plugward_manifest::{Manifest, SurfaceItem};
use plugward_pinstore::ReviewedDigests;
use plugward_sandbox_path::Jail;
use plugward_tree_lock::{EntryKind, Snapshot};
use plugward_types::{Digest, Part};

use super::{Context, passed, pin};
use crate::contents::closure;
use crate::contents::closure_facts::UnresolvedCommand;
use crate::contents::view::manifests;
use crate::discovery::discover::exists;
use crate::report::Gate;
use crate::report::text::plain;
use crate::run::examined::Examined;
use crate::run::options::{CheckOptions, Trust};
use crate::run::outcome::{GateOutcome, Reason, Weight};

/// The code for commands whose text does not determine what runs.
pub(crate) const UNRESOLVED: &str = "surface/unresolved";
/// The most places in one reason, and characters of one word.
const MOST_PLACES: usize = 5;
const MOST_LETTERS: usize = 80;

/// The code for a declared program that does not exist in the plugin.
const MISSING: &str = "surface/missing-program";
/// Texts by which a script refers to its own directory or to that of its plugin.
const OWN_DIRECTORY: [&str; 9] = [
    "PLUGIN_ROOT",
    "extensionPath",
    "dirname",
    "__file__",
    "BASH_SOURCE",
    "import.meta",
    "$0",
    "./",
    "PSScriptRoot",
];

/// Words before a path that a script runs.
const RUNNERS: [&str; 18] = [
    ".",
    "bash",
    "dash",
    "eval",
    "exec",
    "execFile",
    "execFileSync",
    "execSync",
    "import",
    "node",
    "popen",
    "python",
    "python3",
    "require",
    "sh",
    "source",
    "spawn",
    "zsh",
];

/// Reports what would run, and refuses programs that are missing, and excluded files that are used.
pub(crate) fn gate(
    one: &Examined,
    jail: Option<&Jail>,
    snapshot: &Snapshot,
    context: &Context<'_>,
) -> GateOutcome {
    let mut outcome = passed(Gate::Surface);
    let mut said = BTreeSet::new();
    for manifest in manifests(&one.views) {
        for notice in manifest.warnings().iter().filter(|notice| notice.code().starts_with("surface/")) {
            let message = format!("{}: {}", notice.place(), notice.message());
            // The settings of all hosts are read in one form, and hosts have different events.
            let is_event = jail.is_none() && notice.code() == "surface/unknown-event";
            if is_event || !said.insert(message.clone()) {
                continue;
            }
            // The commands of a settings file start in the project, not in a directory that the tree covers.
            if notice.code() == MISSING && jail.is_some() {
                let help = "add the file to the plugin, or remove the reference to it";
                outcome.add(MISSING, Weight::Integrity, message, help);
            } else {
                outcome.note(notice.code(), message);
            }
        }
    }
    if let Some(jail) = jail {
        excluded(&mut outcome, one, jail, snapshot, context.options);
    }
    unresolved(&mut outcome, one, context);
    outcome
}

/// Asks a person about commands whose text does not determine what runs, unless one agreed to them already.
fn unresolved(outcome: &mut GateOutcome, one: &Examined, context: &Context<'_>) {
    let Some(subject) = &one.subject else { return };
    let agreed = pin::agreed_unresolved(one, subject, context);
    let is_open = |command: &&UnresolvedCommand| !agreed.contains(&command.digest);
    let open: Vec<&UnresolvedCommand> = one.closure.unresolved.iter().filter(is_open).collect();
    if open.is_empty() {
        return;
    }
    let commands: BTreeSet<Digest> = open.iter().map(|command| command.digest).collect();
    let noun = if commands.len() == 1 { "command" } else { "commands" };
    let mut message = format!("the text of {} {noun} does not determine what runs: ", commands.len());
    let shown = |one: &&UnresolvedCommand| {
        format!("`{}` at {}:{}", plain(&shortened(&one.word)), plain(&one.place), one.line)
    };
    message.push_str(&open.iter().take(MOST_PLACES).map(shown).collect::<Vec<_>>().join(", "));
    let rest = open.len().saturating_sub(MOST_PLACES);
    if rest > 0 {
        message.push_str(&format!(", and {rest} more"));
    }
    let weight = if context.options.trust == Trust::Locked { Weight::Integrity } else { Weight::Undecided };
    let help = "review the commands, then accept this version if you trust it";
    let mut reason = Reason::new(UNRESOLVED, Gate::Surface, weight, message, help);
    reason.accept = Some(ReviewedDigests::wanted(subject.facts(), None));
    outcome.reasons.push(reason);
}

/// Returns the start of a word. A whole command would make the message unreadable.
fn shortened(word: &str) -> String {
    match word.char_indices().nth(MOST_LETTERS) {
        Some((at, _)) => format!("{}…", word.part(..at)),
        None => word.to_owned(),
    }
}

/// Refuses uses of excluded directories: neither pin nor scan covers their files.
fn excluded(
    outcome: &mut GateOutcome,
    one: &Examined,
    jail: &Jail,
    snapshot: &Snapshot,
    options: &CheckOptions,
) {
    let directories =
        snapshot.exclude().iter().filter(|name| !name.starts_with("PLUGINS.lock") && exists(jail, name));
    for name in directories {
        let inner = format!("{name}/");
        let help = format!(
            "do not exclude {name}, or remove the reference; neither pin nor scan covers that directory"
        );
        for item in manifests(&one.views).flat_map(Manifest::surface) {
            let reaches = item.run().iter().any(|word| word.contains(&inner))
                || item.files().iter().any(|file| file.starts_with(&inner));
            if reaches {
                let message = format!("{}: runs a file in the excluded directory {name}", item.place());
                outcome.add("surface/excluded", Weight::Integrity, message, help.clone());
            }
        }
        let files = snapshot.entries().filter(|entry| entry.kind() != EntryKind::Link);
        let is_asked_for = options.excludes.contains(name);
        let uses = |path: &str, bytes: &[u8]| {
            if is_asked_for {
                return refers_to(bytes, &inner);
            }
            // Every repository has this directory, and honest scripts look at it.
            closure::is_code(path) && starts(bytes, &inner)
        };
        for entry in files.filter(|entry| uses(entry.path(), entry.bytes())) {
            let message = format!("{}: refers to a file in the excluded directory {name}", entry.path());
            outcome.add("surface/excluded", Weight::Integrity, message, help.clone());
        }
    }
}

/// Returns `true` if a line of a script joins an own directory with an excluded one.
fn refers_to(bytes: &[u8], inner: &str) -> bool {
    let Ok(text) = core::str::from_utf8(bytes) else { return false };
    text.contains(inner)
        && text.lines().any(|line| line.contains(inner) && OWN_DIRECTORY.iter().any(|own| line.contains(own)))
}

/// Returns `true` if a line of a script runs a file of a version control directory in its own directory.
fn starts(bytes: &[u8], inner: &str) -> bool {
    let Ok(text) = core::str::from_utf8(bytes) else { return false };
    let is_runner =
        |word: &str| RUNNERS.contains(&word.trim_matches(|c: char| !c.is_alphanumeric() && c != '.'));
    text.contains(inner)
        && text.lines().map(str::trim_start).any(|line| {
            let Some((before, _)) = line.split_once(inner) else { return false };
            let has_own = OWN_DIRECTORY.iter().any(|own| *own != "./" && before.contains(own));
            let start = before.trim_start_matches(['"', '\'']);
            let is_first = start.starts_with("$(") || !before.contains(char::is_whitespace);
            has_own && (is_first || before.split(|c: char| c.is_whitespace() || c == '(').any(is_runner))
        })
}

/// Returns what an item downloads, as a lockfile lists it: `npx:@scope/name@1.2.3`, or the whole command if
/// it is not a single call.
pub(crate) fn launcher(item: &SurfaceItem) -> String {
    match item.run() {
        [program, _, ..] if !item.why().is_empty() && !item.why().contains(' ') => {
            let name = program.rsplit('/').next().unwrap_or(program);
            format!("{name}:{}", item.why())
        }
        words => words.join(" "),
    }
}
