//! `plugward which NAME [ARGS…]`: shows which file `command run NAME` would start, and starts nothing.

use plugward_loader::policy::RunRule;
use plugward_loader::registry::{
    CommandSource, FoundCommand, PinnedChecksum, RegistryError, RegistryErrorKind, RunDecision,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::{ListFormat, WhichArgs};
use crate::command_host::{self, CommandSetup};
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host::Host;
use crate::json;
use crate::out::{ASK, LOAD, Out, REFUSE, paint};
use crate::verbs::{command, config};
use plugward_loader::escape::line;

#[derive(Serialize)]
struct Shown<'a> {
    version: u32,
    name: &'a str,
    found: &'a str,
    id: Option<&'a str>,
    official: Option<bool>,
    file: Option<&'a str>,
    checksum: &'a str,
    run: Option<&'a str>,
    decision: &'a str,
    code: Option<&'a str>,
    args: Vec<&'a str>,
    /// The options of the settings, which the plugin gets when it starts.
    options: Value,
}

pub(crate) fn run(args: &WhichArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let setup = CommandSetup::of_project(args.project.as_ref(), host, out)?;
    let kept = setup.kept(host)?;
    let store = command_host::store_to_look(host)?;
    let words: Vec<&str> = args.name.split_whitespace().chain(args.args.iter().map(String::as_str)).collect();
    let registry = kept.as_ref().map(|loaded| &loaded.registry);
    let found = setup
        .with_host(|of| of.find(store.as_ref(), registry, &words))
        .map_err(|error| command_host::failure(&error))?;
    command_host::notes(&found.notes, out);
    let options = found.id.as_deref().map(|id| config::to_json(&setup.policy.options(id).into()));
    let shown = shown(&found, &words, options.unwrap_or_else(|| Value::Object(Map::new())));
    match args.format {
        ListFormat::Json => out.result(&json::render(&shown)?)?,
        ListFormat::Table => out.result(&text(&found, &shown, host))?,
    }
    if let Some(reason) = &found.reason {
        out.report(&diagnostic(&found, reason, &setup, host));
    }
    let is_asked = found.decision == RunDecision::Ask && args.format == ListFormat::Table;
    if is_asked && command::agree(&found, kept.as_ref(), host, out)? {
        return Ok(0);
    }
    Ok(found.exit())
}

fn shown<'a>(found: &'a FoundCommand, words: &[&'a str], options: Value) -> Shown<'a> {
    let used = found.name.split(' ').filter(|word| !word.is_empty()).count();
    Shown {
        version: 1,
        name: &found.name,
        found: match found.source {
            CommandSource::Installed => "installed",
            CommandSource::Registry => "registry",
            CommandSource::Path => "path",
            CommandSource::None => "none",
        },
        id: found.id.as_deref(),
        official: found.official,
        file: found.file.as_deref(),
        checksum: match found.checksum {
            PinnedChecksum::None => "none",
            PinnedChecksum::Same => "same",
            PinnedChecksum::Differs => "differs",
        },
        run: found.run.map(RunRule::as_str),
        decision: match found.decision {
            RunDecision::Run => "run",
            RunDecision::Ask => "ask",
            RunDecision::Install => "install",
            RunDecision::Refuse => "refuse",
        },
        code: found.reason.as_ref().map(RegistryError::code),
        args: words.get(used..).unwrap_or_default().to_vec(),
        options,
    }
}

fn text(found: &FoundCommand, shown: &Shown<'_>, host: &Host) -> String {
    let (style, verdict) = match found.decision {
        RunDecision::Run => (LOAD, "may run"),
        RunDecision::Ask if found.source == CommandSource::Registry => {
            (ASK, "is not installed, and asks first")
        }
        RunDecision::Ask => (ASK, "asks before it runs"),
        RunDecision::Install => (ASK, "is not installed"),
        RunDecision::Refuse => (REFUSE, "must not run"),
    };
    let mut out = format!("{} {}\n", line(shown.name), paint(style, verdict));
    let file = shown.file.map(|file| match found.source {
        CommandSource::Path => format!("{}/{file}", found.directory.as_deref().unwrap_or_default()),
        _ => host
            .data_dir()
            .map_or_else(|_error| file.to_owned(), |dir| dir.join("plugins/command").join(file).to_string()),
    });
    let source = found
        .official
        .map(|official| format!("{}, {}", shown.found, if official { "official" } else { "third party" }));
    let rows = [
        ("file", file),
        ("from", source),
        ("digest", found.digest.map(|digest| digest.to_string())),
        ("checksum", found.digest.and(Some(shown.checksum.to_owned()))),
        ("run", shown.run.map(str::to_owned)),
        ("arguments", Some(shown.args.join(" ")).filter(|args| !args.is_empty())),
    ];
    for (label, value) in rows {
        let Some(value) = value else { continue };
        out.push_str(&format!("  {label:<9} {}\n", line(&value)));
    }
    let is_off = matches!(
        found.reason.as_ref().map(RegistryError::kind),
        Some(RegistryErrorKind::NotInstalled { .. })
    );
    if found.decision != RunDecision::Refuse && !is_off {
        out.push_str(&format!("To run: plugward command run {}\n", line(&found.name)));
    }
    out
}

fn diagnostic(found: &FoundCommand, reason: &RegistryError, setup: &CommandSetup, host: &Host) -> Diagnostic {
    let new = if found.decision == RunDecision::Refuse { Diagnostic::error } else { Diagnostic::warning };
    let mut shown = new(reason.to_string()).code(reason.code());
    if let Some(origin) = command_host::origin(reason, &setup.policy) {
        shown = shown.note("set in", origin);
    }
    // At a terminal the question itself is the way out.
    if host.interactive && matches!(reason.kind(), RegistryErrorKind::Ask { .. }) {
        return shown;
    }
    shown.help(&reason.help())
}
