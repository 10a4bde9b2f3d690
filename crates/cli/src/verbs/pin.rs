//! `plugward pin NAME`: writes the digest of a command plugin's file into the user's settings.

use plugward_loader::Digest;
use plugward_loader::registry::{
    CommandSource, FoundCommand, PinChange, RegistryErrorKind, RunDecision, pin_change,
};
use toml_edit::{InlineTable, Item, Table, Value, value};

use crate::args::PinArgs;
use crate::command_host::{self, CommandSetup, failure};
use crate::failure::Failure;
use crate::host::Host;
use crate::out::Out;
use crate::settings;
use crate::verbs::install::explained;
use crate::verbs::suppress::Target;
use plugward_loader::escape::line;

pub(crate) fn run(args: &PinArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let shown = match &args.update {
        None => None,
        Some(text) => Some(text.parse::<Digest>().map_err(|error| {
            Failure::usage(format!("invalid value for --update: {error}"))
                .code(error.code())
                .help(error.help())
        })?),
    };
    let setup = CommandSetup::open(host, out)?;
    let loaded = setup.kept(host)?;
    let registry = loaded.as_ref().map(|loaded| &loaded.registry);
    let store = command_host::store_to_look(host)?;
    let words: Vec<&str> = args.name.split_whitespace().collect();
    let found =
        setup.with_host(|of| of.find(store.as_ref(), registry, &words)).map_err(|error| failure(&error))?;
    command_host::notes(&found.notes, out);
    let (id, file) = pinnable(&found, words.len(), &setup)?;
    let entry = registry.and_then(|registry| registry.entries().find(|entry| entry.id == id));
    let targets = plugward_loader::registry::host_targets();
    let offered = entry.and_then(|entry| entry.binary(&targets)).map(|binary| binary.digest);
    let pinned = setup.policy.command(&id).checksum;
    let change = pin_change(&found.name, pinned.as_ref(), found.checksum, file, offered, shown);
    match change.map_err(|error| explained(&error, &setup))? {
        PinChange::Unchanged => {
            out.result(&format!("{} is already pinned to {file}.\n", line(&found.name)))?;
        }
        PinChange::Write(digest) => {
            write(&id, digest, host)?;
            out.result(&format!("Pinned {} to {digest}.\n", line(&found.name)))?;
            out.result(&format!(
                "This is recorded in {} as plugins.command.{id}.checksum.\n",
                settings::NAME
            ))?;
        }
    }
    Ok(0)
}

/// Returns the id and the digest of the file, if its digest may be pinned.
fn pinnable(found: &FoundCommand, words: usize, setup: &CommandSetup) -> Result<(String, Digest), Failure> {
    let name = || RegistryErrorKind::NotInstalled { name: found.name.clone() };
    match (&found.reason, found.decision) {
        // Only a checksum can be replaced by `pin`.
        (Some(reason), RunDecision::Refuse)
            if !matches!(reason.kind(), RegistryErrorKind::Checksum { .. }) =>
        {
            return Err(explained(reason, setup));
        }
        _ if found.source == CommandSource::Registry => return Err(failure(&name().into())),
        _ => {}
    }
    // Arguments do not belong to the name of a plugin.
    if found.name.split(' ').count() != words {
        let unknown = RegistryErrorKind::Unknown { name: found.name.clone(), nearest: None };
        return Err(failure(&unknown.into()));
    }
    found.id.clone().zip(found.digest).ok_or_else(|| failure(&name().into()))
}

/// Writes `plugins.command.<id>.checksum`, and keeps everything else in the file.
fn write(id: &str, digest: Digest, host: &Host) -> Result<(), Failure> {
    let target = Target::of(host)?;
    let mut document = target.read()?;
    let mut here: &mut dyn toml_edit::TableLike = document.as_table_mut();
    for key in ["plugins", "command", id] {
        let entry = here.entry(key).or_insert_with(|| {
            let mut table = Table::new();
            // A header without values of its own is not written.
            table.set_implicit(true);
            Item::Table(table)
        });
        here = entry.as_table_like_mut().ok_or_else(|| {
            Failure::usage(format!("`{key}` in the settings is not a table"))
                .help(format!("write plugins.command.{id}.checksum.value = \"{}\" yourself", digest.hex()))
        })?;
    }
    let mut checksum = InlineTable::new();
    checksum.insert("algorithm", Value::from("sha256"));
    checksum.insert("value", Value::from(digest.hex()));
    match here.get_mut("checksum") {
        // An existing value keeps the comments around it.
        Some(Item::Value(old)) => {
            let decor = old.decor().clone();
            *old = Value::from(checksum);
            *old.decor_mut() = decor;
        }
        Some(Item::Table(old)) => {
            old.insert("algorithm", value("sha256"));
            old.insert("value", value(digest.hex()));
        }
        _ => drop(here.insert("checksum", value(checksum))),
    }
    target.write(&document)
}
