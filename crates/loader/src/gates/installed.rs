//! What a host's records say about a plugin: the first gate, and the contents of a settings file.

use plugward_installs::{InstallContents, InstallPart};
use plugward_tree_lock::Snapshot;

use super::Context;
use crate::discovery::discover::PluginPlace;
use crate::discovery::installed::defined;
use crate::report::Gate;
use crate::report::text::plain;
use crate::run::examined::Examined;
use crate::run::outcome::{Reason, Weight};

/// Refuses a plugin whose host has a record that cannot be read, and notes a record that points elsewhere.
pub(crate) fn gate(one: &mut Examined, context: &Context<'_>) {
    let Some(installed) = one.place.installed.clone() else { return };
    if let Some(problem) = context.options.installs.unreadable(&installed.hosts) {
        let message = format!("a record of {} cannot be read, so none of its plugins load", problem.host);
        let reason = Reason::new(
            problem.kind.code(),
            Gate::Discover,
            Weight::Store,
            message,
            "fix the record that the report names",
        );
        one.gate(Gate::Discover).reasons.push(reason);
    }
    if installed.is_outside {
        let message = format!(
            "the install record points to `{}`, outside of the directory for plugins",
            plain(installed.place.as_str())
        );
        one.gate(Gate::Discover).note("install/outside", message);
    }
}

/// Returns the parts of a settings file as a tree, or `None` for a directory.
pub(crate) fn parts(place: &PluginPlace) -> Option<PartTrees> {
    let tree = |parts: &[InstallPart], bytes: fn(&InstallPart) -> &Vec<u8>| {
        Snapshot::of_files(parts.iter().map(|part| (part.name, bytes(part).clone())))
    };
    match &place.installed.as_ref()?.contents {
        InstallContents::Parts(parts) => {
            let differs = parts.current.iter().any(|part| part.unmasked != part.bytes);
            Some(PartTrees {
                masked: tree(&parts.current, |part| &part.bytes),
                unmasked: differs.then(|| tree(&parts.current, |part| &part.unmasked)),
            })
        }
        InstallContents::Directory | InstallContents::CacheDirectory => None,
    }
}

/// Returns the parts of a settings file as version 3 of the pins file rendered them, with the text of their definition.
pub(crate) fn version_3(place: &PluginPlace) -> Option<(Snapshot, Option<String>)> {
    let installed = place.installed.as_ref()?;
    let InstallContents::Parts(parts) = &installed.contents else { return None };
    let files = parts.version_3.iter().map(|part| (part.name, part.bytes.clone()));
    let names: Vec<&str> = parts.version_3.iter().map(|part| part.name).collect();
    let entry = defined(installed.kind, &names).map(|entry| entry.canonical().to_owned());
    Some((Snapshot::of_files(files), entry))
}

/// The parts of a settings file as trees.
pub(crate) struct PartTrees {
    /// What is digested, scanned, stored and shown.
    pub(crate) masked: Snapshot,
    /// The same with secrets, if there are any, to look up the files that commands start. It is never stored or shown.
    pub(crate) unmasked: Option<Snapshot>,
}
