//! `plugward mcp run`: passes lines between a host and a server whose offer passes.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::sync::mpsc::channel;
use std::time::Duration;

use plugward_loader::launch::{LaunchError, RunningProgram};
use plugward_loader::protocol::{Offer, OfferCheck, ProxySession, ProxyStep};
use plugward_loader::{
    OfferFailure, OfferJudge, OfferOutcome, OfferStore, ProxyEnd, ProxyHost, ProxyStop, SessionPipes,
    Severity, Stores, TRUST_ROOT,
};

use super::server::ServerStart;
use super::{OfferSetup, dangers, failure, texts, wrapped_name};
use crate::args::McpRunArgs;
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::out::Out;
use crate::settings::Settings;
use crate::starts::RecordedStart;
use crate::verbs::shared;
use crate::{starts, stores};
use plugward_loader::escape::line;

/// How long a server that cannot start waits for the first request of the host.
const FIRST_REQUEST: Duration = Duration::from_secs(5);
/// The most bytes of that request.
const REQUEST_BYTES: u64 = 1 << 20;

/// A server that was started, and what its session needs.
struct Started {
    setup: OfferSetup,
    stores: Stores,
    start: ServerStart,
    texts: OfferStore,
    pipes: SessionPipes,
    running: RunningProgram,
    recorded: RecordedStart,
}

pub(super) fn run(args: &McpRunArgs, host: &Host, out: &Out) -> Result<u8, Failure> {
    let started = start(args, host, out).inspect_err(|failure| refuse(&refusal(args, failure)))?;
    let Started { setup, mut stores, start, texts, pipes, running, recorded } = started;
    let mut judge = OfferJudge::new(start.server.clone(), &mut stores.pins, texts, setup.rules()?);
    let session = judge.session();
    starts::announce(running.report(), &line(&start.server.shown), out);
    let mut side = HostSide { judge: &mut judge, failed: None, out };
    let end = pipes.proxy(running, session, io::stdin(), &host::moment, &mut side);
    let failed = side.failed.take();
    let outcome = judge.take_outcome();
    let recorded = recorded.end(&stores.record, end.program.as_ref().ok().copied());
    let shown = start.server.shown.clone();
    if let Err(error) = start.remove_copy() {
        out.report(&Diagnostic::warning(format!("the private copy could not be removed: {error}")));
    }
    if let Some(error) = failed {
        return Err(failure(&error, host));
    }
    let code = ended(end, outcome, &shown, out)?;
    recorded.map_err(|failure| starts::not_recorded(&failure))?;
    Ok(code)
}

/// Starts the server.
fn start(args: &McpRunArgs, host: &Host, out: &Out) -> Result<Started, Failure> {
    let settings = Settings::read(host)?;
    let setup = OfferSetup::read(&settings, host)?;
    let workflow = format!("mcp-run-{:08x}", u128::from_le_bytes(host::random()?) >> 96);
    let mut stores = stores::to_write(host, &settings, Some(&workflow), out)?;
    if let Some(failure) = stores.record.failure() {
        return Err(starts::not_recorded(failure));
    }
    if let Some(failure) = stores.pins.failure() {
        return Err(shared::store_failure(&failure));
    }
    let start = match (&args.name, &args.server) {
        (Some(name), _) => ServerStart::wrapped(name, &args.command, &starts::directory()?, &settings, host)?,
        (None, Some(server)) => ServerStart::of_plugin(server, &settings, &mut stores, host, out)?,
        (None, None) => return Err(Failure::usage("no server is named")),
    };
    let texts = texts(&start.server, host)?;
    let (pipes, interrupt) = SessionPipes::new();
    starts::interruptible(interrupt);
    let (running, recorded) = start.start(host, &stores.record)?;
    Ok(Started { setup, stores, start, texts, pipes, running, recorded })
}

/// Returns the text for a host whose server does not start. The host can show it to a model, so it has no texts of plugins and
/// repositories, which are in the messages of their failures.
pub(super) fn refusal(args: &McpRunArgs, failure: &Failure) -> String {
    let is_of_project = matches!(failure.stable_code(), Some("policy/settings" | TRUST_ROOT));
    let name = args.name.as_deref().filter(|name| wrapped_name(name).is_ok());
    let reason = match name {
        Some(_) if !is_of_project => failure.to_string(),
        _ => "the server does not start".to_owned(),
    };
    let code = failure.stable_code().map(|code| format!(" ({code})")).unwrap_or_default();
    // Failures of stores end with their code.
    let code = if reason.ends_with(&code) { "" } else { &*code };
    let by_hand = || match &args.server {
        Some(server) => format!("plugward mcp run {}", shared::quoted(server)),
        None => format!("plugward mcp run --name {} -- COMMAND, as in your settings", name.unwrap_or("NAME")),
    };
    let next = failure.next_command().map_or_else(by_hand, str::to_owned);
    format!("{reason}{code}; run: {next}")
}

/// Answers the first request of the host with an error. A user at a terminal sees the failure instead.
pub(super) fn refuse(text: &str) {
    if io::stdin().is_terminal() {
        return;
    }
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        let mut input =
            io::BufReader::new(io::stdin().take(REQUEST_BYTES)).split(b'\n').map_while(Result::ok);
        // The receiver is gone after the answer.
        input.all(|line| sender.send(line).is_ok())
    });
    let mut session = ProxySession::refusing(text);
    let until = host::moment().checked_add(FIRST_REQUEST);
    let left = || until.map_or(Duration::ZERO, |until| until.saturating_duration_since(host::moment()));
    while let Ok(line) = lines.recv_timeout(left()) {
        for step in session.from_host(&line, host::moment()) {
            if let ProxyStep::ToHost(answer) = step {
                // A host that reads no more does not need the answer.
                let _gone = writeln!(io::stdout(), "{answer}");
                return;
            }
        }
    }
}

/// Returns the exit code of a session.
fn ended(end: ProxyEnd, outcome: Option<OfferOutcome>, server: &str, out: &Out) -> Result<u8, Failure> {
    match end.stop {
        ProxyStop::Withheld => Err(outcome.map_or_else(
            || Failure::internal("an offer was withheld without a judgment"),
            |outcome| withheld(&outcome, server),
        )),
        ProxyStop::Failed(error) => Err(starts::session_failure(&error)),
        ProxyStop::Interrupted => Ok(130),
        ProxyStop::Host if starts::is_interrupted() => Ok(130),
        // A server that ignores the end of its input is ended, which is not its fault.
        ProxyStop::Host => status(end.program).map(|code| if code > 128 { 0 } else { code }),
        ProxyStop::Server => {
            let code = status(end.program)?;
            out.say(&format!("note: {} ended with exit code {code}", line(server)));
            Ok(code)
        }
    }
}

fn status(program: Result<std::process::ExitStatus, LaunchError>) -> Result<u8, Failure> {
    let status = program.map_err(|error| starts::launch_failure(&error))?;
    let signal = || status.signal().map_or(1, |signal| signal.saturating_add(128));
    Ok(u8::try_from(status.code().unwrap_or_else(signal)).unwrap_or(1))
}

/// Returns the failure for a withheld offer.
pub(super) fn withheld(outcome: &OfferOutcome, server: &str) -> Failure {
    let text = outcome.check.text(server).unwrap_or_default();
    let text = text.split_once("; run: ").map_or(&*text, |(reason, _)| reason);
    let is_suspicious = outcome.findings.iter().any(|(_, one)| one.severity == Severity::Warning);
    let failure = match &outcome.check {
        OfferCheck::Refused(_) => dangers(server, &outcome.findings),
        OfferCheck::Ask(_) if is_suspicious => {
            let shown = outcome.findings.iter().map(|(label, one)| format!("{} ({})", line(label), one.rule));
            Failure::exiting(3, format!("{text}, and the scan found something suspicious"))
                .code("mcp/suspicious")
                .note("findings", shown.collect::<Vec<_>>().join(", "))
        }
        OfferCheck::Ask(_) => Failure::exiting(3, text).code("mcp/new"),
        OfferCheck::Changed(_) | OfferCheck::Same | OfferCheck::Pinned => {
            Failure::refused(text).code("mcp/changed")
        }
    };
    failure.note("offer", outcome.set.to_string()).help(format!("review it: plugward mcp tools {server}"))
}

/// The host at standard input and output.
struct HostSide<'j, 'a> {
    judge: &'j mut OfferJudge<'a>,
    failed: Option<OfferFailure>,
    out: &'j Out,
}

impl ProxyHost for HostSide<'_, '_> {
    fn line(&mut self, line: &str) -> io::Result<()> {
        starts::write(format!("{line}\n"))
    }

    fn judge(&mut self, session: &ProxySession, offer: &Offer, check: OfferCheck) -> OfferCheck {
        let check = self.judge.judge(session, offer, check).unwrap_or_else(|error| {
            self.failed = Some(error);
            OfferCheck::Changed(self.judge.pinned().diff(offer))
        });
        if check == OfferCheck::Pinned {
            let server = self.judge.pinned().server;
            let count = offer.items().len();
            let items = if count == 1 { "item" } else { "items" };
            self.out.say(&format!(
                "note: pinned {count} {items} of {server} on first use; to see them: plugward mcp tools {server}"
            ));
        }
        check
    }

    fn withheld(&mut self, session: &ProxySession, offer: &Offer, check: &OfferCheck) {
        if let Err(error) = self.judge.withheld(session, offer, check) {
            self.failed = Some(error);
        }
    }

    fn errors(&mut self, bytes: &[u8]) {
        Out::verbatim_error(bytes);
    }
}
