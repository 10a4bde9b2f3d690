//! `plugward registry list`: lists the configured registry and the plugins on `PATH`.

use plugward_loader::registry::{CommandKind, InstallReceipt, LoadedRegistry, RegistryEntry, host_targets};
use serde::Serialize;

use crate::args::{ListFormat, RegistryVerb};
use crate::command_host::{self, CommandSetup, failure};
use crate::failure::Failure;
use crate::host::Host;
use crate::json;
use crate::out::{Out, STRONG, paint};
use crate::table::grid;
use plugward_loader::escape::line;

#[derive(Serialize)]
struct Listing<'a> {
    version: u32,
    registry: Vec<Row<'a>>,
    path: Vec<PathRow>,
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    id: &'a str,
    kind: &'a str,
    official: bool,
    state: &'static str,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct PathRow {
    name: String,
    file: String,
    state: &'static str,
}

pub(crate) fn run(verb: &RegistryVerb, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let RegistryVerb::List { format } = verb;
    let setup = CommandSetup::open(host, out)?;
    let LoadedRegistry { registry, .. } = setup.fetched(&*command_host::fetcher()?, host, out)?;
    let receipts = match command_host::store_to_look(host)? {
        Some(store) => store.receipts().map_err(|error| failure(&error))?,
        None => Vec::new(),
    };
    let targets = host_targets();
    let path = setup.path.list(setup.prefix());
    let path = path.into_iter().map(|one| PathRow { name: one.name, file: one.file, state: "not checked" });
    let listing = Listing {
        version: 1,
        registry: registry.entries().map(|entry| row(entry, &receipts, &targets)).collect(),
        path: path.collect(),
    };
    match format {
        ListFormat::Json => out.result(&json::render(&listing)?)?,
        ListFormat::Table => {
            let described = |row: &Row<'_>| {
                let text = registry.named(row.name).map_or("", |entry| entry.description.as_str());
                let official = if row.official { "yes" } else { "no" };
                [row.name, row.kind, official, row.state, text].map(|cell| line(cell).into_owned()).to_vec()
            };
            let mut rows: Vec<Vec<String>> = listing.registry.iter().map(described).collect();
            let on_path = |row: &PathRow| {
                [&row.name, "command", "no", row.state, "on PATH"]
                    .map(|cell| line(cell).into_owned())
                    .to_vec()
            };
            rows.extend(listing.path.iter().map(on_path));
            let text = grid(&["NAME", "KIND", "OFFICIAL", "STATE", "DESCRIPTION"], &rows, out.width);
            let (head, rest) = text.split_once('\n').unwrap_or((&text, ""));
            out.result(&format!("{}\n{rest}", paint(STRONG, head)))?;
        }
    }
    Ok(0)
}

fn row<'a>(entry: &'a RegistryEntry, receipts: &[InstallReceipt], targets: &[String]) -> Row<'a> {
    let RegistryEntry { name, id, kind, official, .. } = entry;
    let state = if receipts.iter().any(|receipt| receipt.id == *id) {
        "installed"
    } else if *kind == CommandKind::Command && entry.binary(targets).is_none() {
        "not-for-this-platform"
    } else {
        "available"
    };
    Row { name, id, kind: kind.name(), official: *official, state, notes: notes(entry) }
}

fn notes(entry: &RegistryEntry) -> Vec<String> {
    let lists = [("requires", &entry.requires), ("suggests", &entry.suggests)];
    let lists = lists.into_iter().filter(|(_, names)| !names.is_empty());
    let repository = entry.repository.iter().map(|url| format!("repository {url}"));
    lists.map(|(label, names)| format!("{label} {}", names.join(", "))).chain(repository).collect()
}
