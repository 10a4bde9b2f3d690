//! Drives a session with a command plugin and one with an MCP server from byte strings: `cargo run --example sessions`.

#![expect(clippy::disallowed_methods, reason = "an example starts both sessions now")]

use std::error::Error;
use std::io;
use std::time::{Duration, Instant};

use plugward_protocol::{
    CommandSession, Init, Lines, LogLevel, NewItemRule, PinnedOffer, ProxySession, ProxyStep, SessionEvent,
    SessionLimits, Workspace,
};

const PLUGIN: &[u8] = br#"{"type":"ready"}
{"type":"read_config","id":"1","path":"plugins.command.serve.options.port"}
{"type":"print","text":"serving"}
{"type":"exit","code":7}
"#;

const HOST: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{}}}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{}}}
"#;

const SERVER: &[u8] = br#"{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"tools":{}}}}
{"jsonrpc":"2.0","id":"plugward:1","result":{"tools":[{"name":"add","description":"Adds two numbers."}]}}
{"jsonrpc":"2.0","id":1,"result":{"content":[]}}
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    command(Instant::now(), &mut out)?;
    proxy(Instant::now(), &mut out)
}

fn command(now: Instant, out: &mut dyn io::Write) -> Result<(), Box<dyn Error>> {
    let init = Init {
        plugin: "serve".to_owned(),
        workspace: Workspace { root: "/w".to_owned(), storage: "/w/.jp".to_owned(), id: "w1".to_owned() },
        user_data: None,
        options: serde_json::from_str(r#"{"port":3141}"#)?,
        args: Vec::new(),
        log_level: LogLevel::Error,
    };
    let limits = SessionLimits::with_grace(Duration::from_secs(5));
    let (mut session, first) = CommandSession::start(&init, limits, now);
    first.iter().try_for_each(|line| writeln!(out, "to the plugin: {line}"))?;
    let (mut lines, mut input) = (Lines::of_plugin(), PLUGIN);
    while let Some(line) = lines.next_line(&mut input)? {
        for event in session.line(&line, now, &mut ())? {
            match event {
                SessionEvent::Send(line) => writeln!(out, "to the plugin: {line}")?,
                event => writeln!(out, "from the plugin: {event:?}")?,
            }
        }
    }
    session.end()?;
    Ok(())
}

fn proxy(now: Instant, out: &mut dyn io::Write) -> Result<(), Box<dyn Error>> {
    let pins = PinnedOffer { server: "sums".to_owned(), sets: Vec::new() };
    let mut session = ProxySession::new(pins, NewItemRule::Pin);
    let (mut lines, mut input) = (Lines::of_server(), HOST);
    while let Some(line) = lines.next_line(&mut input)? {
        let steps = session.from_host(&line, now);
        perform(&mut session, steps, now, out)?;
    }
    let (mut lines, mut input) = (Lines::of_server(), SERVER);
    while let Some(line) = lines.next_line(&mut input)? {
        let steps = session.from_server(&line, now);
        perform(&mut session, steps, now, out)?;
    }
    Ok(())
}

/// Writes the lines of the steps. A new offer passes; a host of its own would scan the texts first.
fn perform(
    session: &mut ProxySession,
    steps: Vec<ProxyStep>,
    now: Instant,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    for step in steps {
        match step {
            ProxyStep::ToServer(line) => writeln!(out, "to the server: {line}")?,
            ProxyStep::ToHost(line) => writeln!(out, "to the host: {line}")?,
            ProxyStep::Judge(offer, check) => {
                writeln!(out, "judged: {check:?} {}", offer.set_digest())?;
                let steps = session.judged(check, now);
                perform(session, steps, now, out)?;
            }
            step => writeln!(out, "{step:?}")?,
        }
    }
    Ok(())
}
