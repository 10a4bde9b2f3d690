//! `plugward mcp wrap`: prints how to start the servers of hosts through plugward.

use plugward_loader::installs::{Install, InstallLayer, InstallProblemKind};
use plugward_loader::manifest::{SurfaceFact, SurfaceItem, SurfaceKind};
use plugward_loader::redact::{Firewall, RuleSelection, Settings as RedactSettings};
use plugward_loader::{ByteRetention, Digest, Weight, escape::line};

use crate::args::{DiscoveryOptions, HostOptions, McpWrapArgs};
use crate::diagnostic::Diagnostic;
use crate::failure::Failure;
use crate::host::Host;
use crate::out::Out;
use crate::verbs::check::Target;
use crate::verbs::shared;

/// What is shown for an argument that looks like a secret.
const HIDDEN: &str = "…";

pub(super) fn run(args: &McpWrapArgs, host: &Host, out: &mut Out) -> Result<u8, Failure> {
    let hosts = HostOptions {
        hosts: args.host.iter().cloned().collect(),
        project: args.project.clone(),
        ..HostOptions::default()
    };
    let target = Target::installed(&shared::scope(&hosts)?)?;
    let finding = DiscoveryOptions::default();
    let records = target.records.clone();
    let looked = shared::look_at(&target.roots, records, None, ByteRetention::Nothing, &finding, host, out)?;
    let firewall = firewall()?;
    let mut text = String::new();
    for row in &looked.report.plugins {
        let installs =
            target.inventories.iter().flat_map(|one| &one.installs).filter(|one| one.key == row.key);
        let surfaces = [&looked.surfaces, &looked.refused_surfaces];
        let Some(items) = surfaces.into_iter().find_map(|of| of.get(&row.key)) else { continue };
        let servers = items.iter().map(|(_, item)| item).filter(|item| item.kind() == SurfaceKind::McpServer);
        let servers: Vec<&SurfaceItem> = servers.filter(|item| !item.is_off()).collect();
        for install in installs {
            servers.iter().filter(|item| !is_wrapped(item)).for_each(|item| {
                text.push_str(&wrapped(install, item, &row.id, &firewall));
            });
        }
    }
    let mut code = 0;
    for problem in target.inventories.iter().flat_map(|one| &one.problems) {
        if problem.kind == InstallProblemKind::Unreadable {
            let what = format!("{}: {}", problem.record.file, problem.message);
            out.report(&Diagnostic::warning(what).code(problem.kind.code()));
            code = Weight::Store.exit();
        }
    }
    if text.is_empty() && code == 0 {
        out.say("note: no local server that is not wrapped was found");
    }
    out.result(&text)?;
    Ok(code)
}

/// Returns the rules that find secrets in arguments.
pub(super) fn firewall() -> Result<Firewall, Failure> {
    Firewall::new(RuleSelection::all(), RedactSettings::reference())
        .map_err(|error| Failure::internal(format!("make the rules: {error}")).code(error.code()))
}

fn is_wrapped(item: &SurfaceItem) -> bool {
    let words = item.argv();
    words.first().is_some_and(|first| first.rsplit('/').next() == Some("plugward"))
        && words.iter().any(|word| word == "mcp")
}

/// Returns the text about one server.
fn wrapped(install: &Install, item: &SurfaceItem, id: &str, firewall: &Firewall) -> String {
    let host = install.host.as_str();
    let name = item.name();
    let skipped = |why: &str| format!("{}\n  not wrapped: {why}\n\n", line(&format!("{host}: {name}")));
    if item.argv().is_empty() {
        return skipped("it is a server by URL, whose lines do not pass through plugward");
    }
    // Files of settings and servers have a directory in which their commands start; plugins do not.
    if install.directory.is_none() {
        let server = shared::quoted(&format!("{id}/{name}"));
        return format!(
            "{}\n  command: plugward\n  args:    mcp run {server}\n  and switch off {} of {} in {host}\n\n",
            line(&format!("{host}: {id}/{name}")),
            line(name),
            line(id),
        );
    }
    if super::wrapped_name(name).is_err() {
        let why =
            format!("rename it in {} to at most 64 letters, digits, `.`, `_` and `-`", install.record.file);
        return skipped(&line(&why));
    }
    let plain = masked(item.argv(), firewall);
    let words: Vec<String> =
        ["mcp", "run", "--name", name, "--"].into_iter().map(str::to_owned).chain(plain).collect();
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let file = &install.record.file;
    let mut text = format!(
        "{}\n  command: plugward\n  args:    {}\n",
        line(&format!("{host}: {name} ({file})")),
        serde_json::to_string(&words)
            .map_or_else(|error| error.to_string(), |args| crate::json::visible(&args)),
    );
    // The commands of hosts have other options for variables, so the file must be edited.
    let has_env = matches!(item.facts().get("env"), Some(SurfaceFact::Map(env)) if !env.is_empty());
    let is_hidden = words.iter().any(|word| word.contains(HIDDEN));
    if has_env || is_hidden {
        let what = if has_env { "has environment variables" } else { "has what looks like a secret" };
        text.push_str(&format!("  edit the file: the server {what}, so no command is printed\n"));
    } else {
        let name = shared::quoted(name);
        text.push_str(&by_command(host, &name, install.layer, file, &quoted.join(" ")));
    }
    text.push('\n');
    text
}

/// Returns the commands of a host that replace a server.
fn by_command(host: &str, name: &str, layer: InstallLayer, file: &str, args: &str) -> String {
    match host {
        "claude" => {
            let scope = match (layer, file.ends_with(".mcp.json")) {
                (InstallLayer::User, _) => "user",
                (InstallLayer::Project, true) => "project",
                (InstallLayer::Project, false) => "local",
            };
            // It refuses to replace a server.
            format!(
                "  or run:  claude mcp remove -s {scope} {name}\n           claude mcp add -s {scope} {name} -- plugward {args}\n"
            )
        }
        "codex" if layer == InstallLayer::User => {
            format!("  or run:  codex mcp add {name} -- plugward {args}\n")
        }
        "gemini" => {
            let scope = if layer == InstallLayer::User { "user" } else { "project" };
            // Without the separator after the program, it takes `--name` for an option of its own.
            format!("  or run:  gemini mcp add -s {scope} {name} plugward -- {args}\n")
        }
        _ => String::new(),
    }
}

/// Quotes a word for a shell. Options stay options, unlike selectors.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=./:@,+%".contains(&byte);
    if word.starts_with('-') && word.bytes().all(is_plain) { word.to_owned() } else { shared::quoted(word) }
}

/// Returns arguments without what looks like a secret: a match of the redaction rules, or the value of an option with such a
/// name.
pub(super) fn masked(argv: &[String], firewall: &Firewall) -> Vec<String> {
    let names_secret = |option: &str| {
        let option = option.to_ascii_lowercase();
        option.starts_with('-')
            && ["token", "key", "secret", "passw", "auth"].iter().any(|part| option.contains(part))
    };
    let mut is_value = false;
    let mut masked = Vec::new();
    for word in argv {
        let (option, value) =
            word.split_once('=').map_or((&**word, None), |(option, value)| (option, Some(value)));
        let shown = match value {
            _ if is_value && !word.starts_with('-') => HIDDEN.to_owned(),
            Some(_) if names_secret(option) => format!("{option}={HIDDEN}"),
            // The contents of a settings file have the digests of secrets.
            _ if word.parse::<Digest>().is_ok() || !firewall.find(word.as_bytes()).is_empty() => {
                HIDDEN.to_owned()
            }
            _ => word.clone(),
        };
        is_value = value.is_none() && names_secret(option);
        masked.push(shown);
    }
    masked
}
