//! `plugward mcp tools` without a server: lists the servers with stored offers, and starts nothing.

use plugward_loader::escape::line;
use plugward_loader::pinstore::McpOwner;
use plugward_loader::protocol::NewItemRule;
use plugward_loader::{McpServer, OfferRules, OfferServer, OfferStore};
use serde::Serialize;

use super::{OfferSetup, store_failure, texts, tools};
use crate::args::ListFormat;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::json;
use crate::out::Out;
use crate::settings::Settings;
use crate::table::grid;

#[derive(Serialize)]
struct ServerList {
    version: u32,
    servers: Vec<ServerRow>,
}

#[derive(Serialize)]
struct ServerRow {
    server: String,
    state: &'static str,
    items: usize,
    set: String,
    pinned: Option<String>,
}

pub(super) fn run(format: ListFormat, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let settings = Settings::read(host)?;
    let setup = OfferSetup::read(&settings, host)?;
    let mut pins = super::pins(host, out)?;
    let dir = host.state_dir()?.join("mcp");
    // A verb that only looks creates no directory.
    let servers = if dir.is_dir() {
        let dir = host::own_directory(&dir).map_err(Failure::of_store)?;
        OfferStore::servers(&dir, host::owner()).map_err(|error| store_failure(&error, host))?
    } else {
        Vec::new()
    };
    let mut rows = Vec::new();
    for OfferServer { owner, name } in servers {
        let shown = match &owner {
            McpOwner::User => name.clone(),
            McpOwner::Plugin(key) => format!("{}/{name}", host::display(key)),
        };
        let server =
            McpServer { owner, name, shown: shown.clone(), command: Vec::new(), directory: String::new() };
        let stored = texts(&server, host)?.read().map_err(|error| store_failure(&error, host))?;
        let Some(last) = stored.last() else { continue };
        let rules = OfferRules { new: NewItemRule::Refuse, ..setup.rules()? };
        let view = tools::saved(server, last, &mut pins, rules, host)?;
        let state = if tools::exit(&view) == 6 { "danger" } else { tools::state(view.state) };
        let (set, pinned) = (view.set.to_string(), view.pinned.map(|set| set.to_string()));
        rows.push(ServerRow { server: shown, state, items: view.items.len(), set, pinned });
    }
    if format == ListFormat::Json {
        out.result(&json::render(&ServerList { version: 1, servers: rows })?)?;
        return Ok(0);
    }
    if rows.is_empty() {
        out.say("note: no server was started through plugward; to see how: plugward mcp wrap");
        return Ok(0);
    }
    let cells =
        |row: &ServerRow| vec![row.state.to_owned(), row.items.to_string(), line(&row.server).into_owned()];
    let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
    out.result(&grid(&["STATE", "ITEMS", "SERVER"], &cells, out.width))?;
    Ok(0)
}
