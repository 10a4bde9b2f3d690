//! `plugward mcp tools`: shows what a server offers, next to what is pinned.

use std::io;

use plugward_loader::pinstore::McpOwner;
use plugward_loader::protocol::{
    ClientCapabilities, ItemState, NewItemRule, Offer, OfferCheck, ProxySession,
};
use plugward_loader::{
    McpServer, OfferFailure, OfferJudge, OfferRules, OfferView, PinStore, ProxyHost, ProxyStop, SessionPipes,
    Severity, StoredOffer,
};
use serde::Serialize;
use serde_json::Value;

use super::server::ServerStart;
use super::table;
use super::wrap::{firewall, masked};
use super::{OfferSetup, failure, named, store_failure, texts};
use crate::args::{ListFormat, McpToolsArgs};
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::settings::Settings;
use crate::{json, starts, stores};
use plugward_loader::escape::line;

#[derive(Serialize)]
struct ToolsReport<'a> {
    version: u32,
    server: &'a str,
    /// The command that made the offer, without what looks like a secret.
    command: Vec<String>,
    protocol: Option<String>,
    state: &'static str,
    set: String,
    pinned: Option<String>,
    items: Vec<ItemRow<'a>>,
    missing: &'a [String],
    findings: Vec<FindingRow<'a>>,
}

#[derive(Serialize)]
struct ItemRow<'a> {
    kind: &'static str,
    name: &'a str,
    digest: String,
    state: &'static str,
    /// The changed members; null if the pinned text is not stored on this machine.
    fields: Option<&'a [String]>,
}

#[derive(Serialize)]
struct FindingRow<'a> {
    rule: &'a str,
    severity: &'static str,
    item: &'a str,
}

pub(super) fn run(args: &McpToolsArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let Some(name) = &args.server else { return super::list::run(args.format, host, out) };
    let settings = Settings::read(host)?;
    let setup = OfferSetup::read(&settings, host)?;
    let server = named(name, host, out)?;
    let stored = texts(&server, host)?.read().map_err(|error| store_failure(&error, host))?;
    let Some(last) = stored.last() else {
        return Err(Failure::usage(format!("no offer of {} is stored", line(name)))
            .code("mcp/no-offer")
            .help(format!("start it once: {}", start_of(&server))));
    };
    // The server is not called, so nothing is pinned.
    let rules = OfferRules { new: NewItemRule::Refuse, ..setup.rules()? };
    let view = if args.saved {
        saved(server, last, &mut super::pins(host, out)?, rules, host)?
    } else {
        started(name, &server, last, rules, &settings, host, out)?
    };
    let code = exit(&view);
    let command = masked(&last.command, &firewall()?);
    out.result(&match args.format {
        ListFormat::Json => json::render(&report(name, &view, last, command))?,
        ListFormat::Table => {
            let next = if args.saved && last.is_part {
                table::list_again(name)
            } else {
                table::next_step(name, &view, code)
            };
            let rows = table::rows(&view, out.width);
            format!("command  {}\n{rows}{next}", line(&command.join(" ")))
        }
    })?;
    Ok(code)
}

/// Returns the exit code for an offer next to its pins.
pub(super) fn exit(view: &OfferView) -> u8 {
    let has_danger = view.findings.iter().any(|(_, one)| one.severity == Severity::Danger);
    match view.state {
        Some(_) if has_danger => 6,
        Some(ItemState::Changed | ItemState::Added) => 4,
        Some(_) => 3,
        None => 0,
    }
}

/// Compares a stored offer with the pins.
pub(super) fn saved(
    server: McpServer,
    last: &StoredOffer,
    pins: &mut PinStore,
    rules: OfferRules<'_>,
    host: &Host,
) -> Result<OfferView, Failure> {
    let texts = texts(&server, host)?;
    let offer = Offer::new(last.items.clone(), ClientCapabilities::default());
    let offer = offer.map_err(|error| Failure::store(error.to_string()).code(error.code()))?;
    OfferJudge::new(server, pins, texts, rules).view(&offer).map_err(|error| failure(&error, host))
}

/// Starts the server as the host did that got the last offer, and compares what it offers now.
fn started(
    shown: &str,
    server: &McpServer,
    last: &StoredOffer,
    rules: OfferRules<'_>,
    settings: &Settings,
    host: &Host,
    out: &Out,
) -> Result<OfferView, Failure> {
    let workflow = format!("mcp-tools-{:08x}", u128::from_le_bytes(host::random()?) >> 96);
    let mut stores = stores::to_write(host, settings, Some(&workflow), out)?;
    if let Some(failure) = stores.record.failure() {
        return Err(starts::not_recorded(failure));
    }
    let start = match server.owner {
        McpOwner::User => ServerStart::wrapped(&server.name, &last.command, &last.directory, settings, host)?,
        McpOwner::Plugin(_) => ServerStart::of_plugin(shown, settings, &mut stores, host, out)?,
    };
    let texts = texts(&start.server, host)?;
    let judge = OfferJudge::new(start.server.clone(), &mut stores.pins, texts, rules);
    let session = judge.session();
    let (pipes, interrupt) = SessionPipes::new();
    starts::interruptible(interrupt);
    let (running, started) = start.start(host, &stores.record)?;
    let input = io::Cursor::new(format!("{}\n", last.first).into_bytes());
    let mut side = Reviewer { judge: &judge, result: None, answer: None };
    let end = pipes.proxy(running, session, input, &host::moment, &mut side);
    let (result, answer) = (side.result, side.answer);
    let recorded = started.end(&stores.record, end.program.as_ref().ok().copied());
    start.remove_copy()?;
    recorded.map_err(|failure| starts::not_recorded(&failure))?;
    match (result, end.stop) {
        (Some(result), _) => result.map_err(|error| failure(&error, host)),
        (None, ProxyStop::Interrupted) => Err(Failure::exiting(130, "interrupted")),
        (None, ProxyStop::Failed(error)) => Err(starts::session_failure(&error)),
        (None, _) => Err(Failure::internal(format!("{} made no offer", line(shown)))
            .code("mcp/eof")
            .note("answer", answer.unwrap_or_else(|| "none".to_owned()))
            .help("run the server by hand to see why it ends")),
    }
}

/// Returns the command that starts a server.
fn start_of(server: &McpServer) -> String {
    match server.owner {
        McpOwner::Plugin(_) => format!("plugward mcp run {}", server.shown),
        McpOwner::User => format!("plugward mcp run --name {} -- COMMAND", server.shown),
    }
}

/// A host that only wants to know the offer.
struct Reviewer<'j, 'a> {
    judge: &'j OfferJudge<'a>,
    result: Option<Result<OfferView, OfferFailure>>,
    answer: Option<String>,
}

impl ProxyHost for Reviewer<'_, '_> {
    fn line(&mut self, line: &str) -> io::Result<()> {
        self.answer = Some(line.to_owned());
        Ok(())
    }

    fn judge(&mut self, session: &ProxySession, offer: &Offer, _check: OfferCheck) -> OfferCheck {
        if !offer.is_complete() {
            return OfferCheck::Same;
        }
        let view = self.judge.view(offer).and_then(|view| {
            if view.state.is_some() {
                self.judge.keep_for_review(session, offer)?;
            }
            Ok(view)
        });
        self.result = Some(view);
        // The session ends here.
        OfferCheck::Refused(Vec::new())
    }

    fn withheld(&mut self, _session: &ProxySession, _offer: &Offer, _check: &OfferCheck) {}

    fn errors(&mut self, bytes: &[u8]) {
        Out::verbatim_error(bytes);
    }
}

pub(super) fn state(state: Option<ItemState>) -> &'static str {
    state.map_or("same", ItemState::as_str)
}

fn report<'a>(
    server: &'a str,
    view: &'a OfferView,
    last: &StoredOffer,
    command: Vec<String>,
) -> ToolsReport<'a> {
    let first: Option<Value> = serde_json::from_str(&last.first).ok();
    let protocol =
        first.and_then(|first| Some(first.pointer("/params/protocolVersion")?.as_str()?.to_owned()));
    let item = |one: &'a plugward_loader::ViewedItem| ItemRow {
        kind: one.item.kind().as_str(),
        name: one.item.name(),
        digest: one.item.digest().to_string(),
        state: state(one.state),
        fields: one.fields.as_deref(),
    };
    let finding = |(label, one): &'a (String, plugward_loader::Finding)| FindingRow {
        rule: one.rule.as_str(),
        severity: one.severity.as_str(),
        item: label,
    };
    ToolsReport {
        version: 1,
        server,
        command,
        protocol,
        state: state(view.state),
        set: view.set.to_string(),
        pinned: view.pinned.map(|set| set.to_string()),
        items: view.items.iter().map(item).collect(),
        missing: &view.missing,
        findings: view.findings.iter().map(finding).collect(),
    }
}
