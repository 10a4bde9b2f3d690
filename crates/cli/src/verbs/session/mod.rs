//! `plugward session`: enables plugins for a host that sends one command per line.

mod answer;
mod audits;
mod catalog;
mod layers;
mod stops;

use std::io::{self, BufRead as _, Read as _};

use plugward_loader::deep_audit::AuditFinding;
use plugward_loader::lifecycle::{
    AnyPlugin, FoundPlugin, ModuleDecision, PluginState, admit_modules, inline,
};
use plugward_loader::{Finding, PluginKey, Severity};
use serde_json::json;

use crate::args::SessionArgs;
use crate::failure::Failure;
use crate::host::Host;
use crate::json;
use crate::out::Out;
use answer::{AuditAnswer, CommandAnswer, Fault, PluginAnswer};
use catalog::Catalog;

/// The most bytes of a line.
const LINE: u64 = 64 << 10;
const COMMANDS: &[&str] = &[
    "list",
    "info",
    "audit",
    "approve",
    "unapprove",
    "enable",
    "disable",
    "failed",
    "messages",
    "dirty",
    "register",
];

pub(crate) fn run(args: &SessionArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let mut catalog = Catalog::open(args, host)?;
    // A store that cannot be read ends the session before its first command.
    let mut number = 0_u64;
    if let Err(failure) = catalog.refresh(out) {
        return end(number, "", failure, out);
    }
    let mut input = io::stdin().lock();
    loop {
        let mut bytes = Vec::new();
        if input.by_ref().take(LINE.saturating_add(1)).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(0);
        }
        number = number.saturating_add(1);
        let is_long = u64::try_from(bytes.len()).is_ok_and(|len| len > LINE) && !bytes.ends_with(b"\n");
        if is_long {
            skip_line(&mut input)?;
        }
        let text = core::str::from_utf8(&bytes).ok().filter(|_| !is_long).map(str::trim);
        let answer = match text {
            Some("") => continue,
            Some(text) => match answer(&mut catalog, number, text, out) {
                Ok(answer) => answer,
                Err(failure) => return end(number, text, failure, out),
            },
            None => {
                let mut answer = CommandAnswer::new(number, "");
                answer.fail(Fault::new("session/line", "expected UTF-8 text of at most 64 KiB"));
                answer
            }
        };
        print(&answer, out)?;
    }
}

fn print(answer: &CommandAnswer, out: &mut Out) -> Result<(), Failure> {
    let line = serde_json::to_string(answer)?;
    Ok(out.result(&format!("{}\n", json::visible(&line)))?)
}

/// Ends the session with a failure, which is an answer, too: a host reads no other output.
fn end(line: u64, text: &str, failure: Failure, out: &mut Out) -> Result<u8, Failure> {
    let command = text.split_ascii_whitespace().next().unwrap_or_default();
    let mut answer = CommandAnswer::new(line, command);
    answer.abort(&failure);
    Err(match print(&answer, out) {
        Ok(()) => failure,
        Err(unsent) => failure.note("not answered", unsent.to_string()),
    })
}

/// Skips the rest of a line that is too long, without keeping it.
fn skip_line(input: &mut impl io::BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n').map(|at| at.saturating_add(1));
        let (len, is_done) = (end.unwrap_or(buffer.len()), end.is_some() || buffer.is_empty());
        input.consume(len);
        if is_done {
            return Ok(());
        }
    }
}

fn answer(catalog: &mut Catalog<'_>, line: u64, text: &str, out: &Out) -> Result<CommandAnswer, Failure> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let (command, args) = words.split_first().map_or(("", &[][..]), |(command, args)| (*command, args));
    let mut answer = CommandAnswer::new(line, command);
    if !COMMANDS.contains(&command) {
        let mut fault = Fault::unknown("session/command", "command", command, COMMANDS.iter().copied());
        fault.message.push_str(&format!("; known: {}", COMMANDS.join(", ")));
        answer.fail(fault);
        return Ok(answer);
    }
    catalog.refresh(out)?;
    let result = match (command, args) {
        ("list", []) => {
            answer.plugins = Some(rows(catalog));
            let unlisted = catalog.unlisted.iter().map(|one| format!("{} ({})", one.name, one.fault.code));
            let unlisted: Vec<String> = unlisted.collect();
            let unlisted = (!unlisted.is_empty()).then(|| format!("cannot be read: {}", unlisted.join(", ")));
            note(&mut answer, unlisted.into_iter().chain(catalog.stop_notes()));
            Ok(())
        }
        ("messages", []) => {
            answer.text = Some(catalog.plugins.additions().to_string());
            note(&mut answer, catalog.stop_notes());
            Ok(())
        }
        ("dirty", []) => {
            answer.set_dirty(catalog.plugins.dirty());
            note(&mut answer, catalog.stop_notes());
            catalog.plugins.take_sandbox_dirty();
            catalog.plugins.take_session_dirty();
            Ok(())
        }
        ("list" | "messages" | "dirty", _) => {
            Err(Fault::new("session/command", "the command has no arguments"))
        }
        (_, []) => Err(Fault::new("session/command", "expected the id of a plugin")),
        (command, [id, rest @ ..]) => match catalog.key(id) {
            Ok(key) => {
                let result = of_plugin(catalog, command, &key, rest, &mut answer, out)?;
                describe(catalog, &key, &mut answer);
                result
            }
            // Its user knows why it is disabled, and that it cannot be used now.
            Err(_) if command == "disable" && rest.is_empty() && catalog.dismiss(id) => Ok(()),
            Err(fault) => Err(fault),
        },
    };
    if let Err(fault) = result {
        answer.fail(fault);
    }
    Ok(answer)
}

/// Adds remarks to an answer.
fn note(answer: &mut CommandAnswer, notes: impl Iterator<Item = String>) {
    let notes: Vec<String> = notes.collect();
    answer.message = (!notes.is_empty()).then(|| notes.join("; "));
}

/// Runs a command about one plugin.
fn of_plugin(
    catalog: &mut Catalog<'_>,
    command: &str,
    key: &PluginKey,
    args: &[&str],
    answer: &mut CommandAnswer,
    out: &Out,
) -> Result<Result<(), Fault>, Failure> {
    let is_enabled = catalog.state(key) == Some(PluginState::Enabled);
    Ok(match command {
        "enable" if is_enabled && args.is_empty() => Ok(()),
        "enable" if is_enabled => reconfigure(catalog, key, args),
        "enable" => catalog.enable(key, args, answer, out)?,
        "register" => register(catalog, key, args, answer),
        "failed" => catalog.fail(key, args),
        "approve" => match args {
            [digest] => catalog.approve(key, digest, out)?,
            _ => {
                Err(Fault::new("session/command", "expected the id of a plugin and the digest of its audit"))
            }
        },
        _ if !args.is_empty() => {
            Err(Fault::new("session/command", "expected the id of a plugin and nothing else"))
        }
        // It is disabled already, and its user knows why.
        "disable" if catalog.stops.remove(key).is_some() => Ok(()),
        "disable" => catalog
            .plugins
            .change(key, AnyPlugin::disable)
            .map_err(|kind| Fault::new(kind.code(), kind.to_string())),
        "audit" => match catalog.ask(key, out)? {
            Ok(()) => audit(catalog, key, answer),
            Err(fault) => Err(fault),
        },
        "unapprove" => {
            catalog.unapprove(key, out)?;
            Ok(())
        }
        _ => info(catalog, key, answer),
    })
}

fn rows(catalog: &Catalog<'_>) -> Vec<PluginAnswer> {
    let stop = |plugin: &AnyPlugin| catalog.stops.get(plugin.key());
    let row = |plugin: &AnyPlugin| PluginAnswer {
        id: catalog.id(plugin.key()),
        version: plugin.found().version.clone(),
        state: plugin.state().as_str(),
        risk: plugin
            .audit()
            .map(|audit| audit.risk)
            .or_else(|| catalog.entry(plugin.key()).ok().map(|entry| entry.audit.risk))
            .map_or("", plugward_loader::pinstore::Risk::as_str),
        approved: plugin.is_approved(),
        flags: stop(plugin).map(|stop| stop.flag).into_iter().collect(),
        code: stop(plugin).map(|stop| stop.fault.code.clone()),
        message: stop(plugin).map(|stop| stop.fault.message.clone()),
    };
    catalog.plugins.iter().map(row).collect()
}

/// Adds what every answer about a plugin has.
fn describe(catalog: &Catalog<'_>, key: &PluginKey, answer: &mut CommandAnswer) {
    let Some(plugin) = catalog.plugins.get(key) else { return };
    answer.plugin = Some(catalog.id(key));
    answer.state = Some(plugin.state().as_str());
    answer.approved = Some(plugin.is_approved());
    if let Some(stop) = catalog.stops.get(key) {
        answer.flags.push(stop.flag);
        answer.message.get_or_insert_with(|| format!("{} ({})", stop.fault.message, stop.fault.code));
    }
    if let AnyPlugin::Enabled(plugin) = plugin {
        answer.set_config(plugin.values());
        let is_default = |origin| origin == plugward_loader::lifecycle::ValueSource::Default;
        let silent = plugin.found().schema.fields().iter().filter(|field| !field.is_prompted);
        let kept = silent
            .filter(|field| plugin.values().get(&field.key).is_some_and(|entry| is_default(entry.origin)));
        answer.advanced = Some(kept.count());
    }
}

fn reconfigure(catalog: &mut Catalog<'_>, key: &PluginKey, args: &[&str]) -> Result<(), Fault> {
    let Some(AnyPlugin::Enabled(plugin)) = catalog.plugins.get(key) else {
        return Err(Fault::new("lifecycle/order", "the plugin is not enabled"));
    };
    let schema = &plugin.found().schema;
    let values = inline(schema, args.iter().copied())
        .and_then(|given| given.over(plugin.values()).complete(schema, |key, value| catalog.mask(key, value)))
        .map_err(|error| Fault::from(&error))?;
    let changed = catalog.plugins.change(key, |plugin| plugin.reconfigure(values));
    changed.map_err(|kind| Fault::new(kind.code(), kind.to_string()))
}

fn register(
    catalog: &Catalog<'_>,
    key: &PluginKey,
    returned: &[&str],
    answer: &mut CommandAnswer,
) -> Result<(), Fault> {
    let Some(AnyPlugin::Enabled(plugin)) = catalog.plugins.get(key) else {
        let order = || Fault::new("lifecycle/order", "only the modules of an enabled plugin are registered");
        return Err(catalog.stops.get(key).map_or_else(order, |stop| stop.fault.clone()));
    };
    let (mut admitted, mut rejected) = (Vec::new(), Vec::new());
    for decision in admit_modules(&plugin.found().modules, returned) {
        match decision {
            ModuleDecision::Admitted(name) => admitted.push(name),
            ModuleDecision::Undeclared(name) | ModuleDecision::Repeated(name) => rejected.push(name),
        }
    }
    let names = rejected.join("`, `");
    answer.admitted = Some(admitted);
    answer.rejected = Some(rejected);
    if names.is_empty() {
        return Ok(());
    }
    Err(Fault::new("lifecycle/module", format!("not declared, or returned twice: `{names}`")))
}

fn audit(catalog: &Catalog<'_>, key: &PluginKey, answer: &mut CommandAnswer) -> Result<(), Fault> {
    let entry = catalog.entry(key)?;
    let shown = |severity: Severity,
                 rule: Option<&str>,
                 path: Option<&str>,
                 line: Option<u32>,
                 message: &str| {
        json!({"severity": severity.as_str(), "rule": rule, "path": path, "line": line, "message": message})
    };
    // The record of an audit has the findings of the scan, too.
    let findings = if let Some(audit) = &entry.kept.audit {
        let of = |one: &AuditFinding| {
            shown(one.severity, one.rule.as_deref(), one.path.as_deref(), one.line, &one.message)
        };
        audit.findings.iter().map(of).collect()
    } else {
        let of = |one: &Finding| {
            shown(one.severity, Some(one.rule.as_str()), Some(&one.path), Some(one.line), &one.message)
        };
        entry.report.open_findings().map(of).collect()
    };
    answer.audit = Some(AuditAnswer {
        kind: entry.audit.kind.as_str(),
        risk: entry.audit.risk.as_str(),
        verdict: entry.audit.verdict.as_str(),
        findings,
        digest: entry.digest.to_string(),
    });
    Ok(())
}

/// Adds what the author of a plugin wrote about it: its settings are one per line, followed by its hints.
fn info(catalog: &Catalog<'_>, key: &PluginKey, answer: &mut CommandAnswer) -> Result<(), Fault> {
    if let Some(fault) = catalog.entry(key).ok().and_then(|entry| entry.fault.as_ref()) {
        return Err(Fault::new(fault.code(), fault.to_string()));
    }
    let Some(plugin) = catalog.plugins.get(key) else { return Ok(()) };
    let FoundPlugin { version, description, modules, .. } = plugin.found();
    answer.info = Some(json!({"version": version, "description": description, "modules": modules}));
    let mut lines = Vec::new();
    for field in plugin.found().schema.fields() {
        let default =
            field.default.as_ref().map(|default| format!(" [default: {default}]")).unwrap_or_default();
        lines.push(format!("{} ({}){default}: {}", field.key, field.kind.as_str(), field.description));
    }
    let texts = &plugin.found().texts;
    lines.extend(texts.hints.as_ref().map(|hints| hints.overview.clone()));
    lines.extend(texts.exported.clone());
    answer.text = (!lines.is_empty()).then(|| lines.join("\n"));
    Ok(())
}
