//! The role of each file: executed, read by a model, run on request, or documentation.
//!
//! Roles follow references: a hook that runs `tests/x.sh` makes it executed. Any mention of a file of the plugin is a
//! reference, in code, settings or text, because a missed one would lower a role.

mod by_name;
mod installs;
mod references;

use std::collections::BTreeMap;

use plugward_types::FileRole;

use crate::inventory::names;
use crate::scan::entry::{Content, Entry, Lens};
use references::{References, Target};

/// The facts about one file that determine roles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileFacts<'a> {
    /// Files that its code loads or runs by name.
    pub(crate) named: &'a [String],
    /// Whether it loads code by a computed name.
    pub(crate) loads_computed: bool,
}

/// The roles of files, and how they were found.
#[derive(Debug)]
pub(crate) struct Roles {
    /// The role of each file, in their order.
    pub(crate) of: Vec<FileRole>,
    /// The files to which a file refers, by position. Files that nothing runs or reads have none.
    pub(crate) references: BTreeMap<usize, Vec<usize>>,
}

/// Returns the role of each entry.
pub(crate) fn roles(entries: &[Entry<'_>], facts: &[FileFacts<'_>]) -> Roles {
    let mut roles: Vec<FileRole> = entries.iter().map(base).collect();
    let references = References::new(entries);
    // Each file is searched once for each role that it gets: at most three times.
    let starts = |role: FileRole| role >= FileRole::ModelRead;
    let mut open: Vec<usize> =
        (0..entries.len()).filter(|at| roles.get(*at).is_some_and(|r| starts(*r))).collect();
    let mut known: BTreeMap<usize, Vec<Target>> = BTreeMap::new();
    while let Some(at) = open.pop() {
        let (Some(entry), Some(role)) = (entries.get(at), roles.get(at).copied()) else { continue };
        let fact = facts.get(at);
        let targets = known.entry(at).or_insert_with(|| {
            let mut targets = references.of(entry);
            for path in fact.map(|fact| fact.named).unwrap_or_default() {
                targets.extend(references.named(entry.path, path));
            }
            if fact.is_some_and(|fact| fact.loads_computed) {
                targets.extend(references.siblings(entry.path));
            }
            targets.sort_unstable();
            targets.dedup();
            targets
        });
        for target in targets.clone() {
            let Some(reached) = entries.get(target.entry).map(|entry| reached(role, entry, target)) else {
                continue;
            };
            let Some(slot) = roles.get_mut(target.entry) else { continue };
            if reached > *slot {
                *slot = reached;
                open.push(target.entry);
            }
        }
    }
    let entries = |targets: Vec<Target>| targets.into_iter().map(|target| target.entry).collect();
    Roles { of: roles, references: known.into_iter().map(|(at, targets)| (at, entries(targets))).collect() }
}

/// Returns the role of a file by the host's hint and by its name.
fn base(entry: &Entry<'_>) -> FileRole {
    let by_name = by_name::role(entry);
    entry.role.hinted_use().map_or(by_name, |hinted| hinted.max(by_name))
}

/// Returns the role that a file gets from one that refers to it.
fn reached(from: FileRole, entry: &Entry<'_>, target: Target) -> FileRole {
    if matches!(entry.content, Content::Link | Content::Special) {
        return FileRole::Vendored;
    }
    let lens = names::lens(entry.path);
    let prose = lens == Some(Lens::Prose);
    let data = lens == Some(Lens::Data);
    match from {
        FileRole::Executed if target.runs || !(prose || data) => FileRole::Executed,
        FileRole::ModelRead if prose => FileRole::ModelRead,
        FileRole::ModelRead | FileRole::OnRequest if target.runs || !(prose || data) => FileRole::OnRequest,
        _ => FileRole::Vendored,
    }
}
