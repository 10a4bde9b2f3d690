//! The commands that resolve a reason.
//!
//! Help texts of the libraries are for every host, so they name no command. Here the codes get those of this program.

use plugward_loader::pinstore::ReviewedDigests;
use plugward_loader::{Notice, PluginReport, Reason, Report, StoreFailure, Weight};

use crate::verbs::shared::quoted;

/// How the libraries call what `forget --all` does.
const START_OVER: &str = "delete all pins and start over";

/// Puts commands into the help of all reasons and into the notices of a report.
pub(crate) fn add(report: &mut Report) {
    report.plugins.iter_mut().for_each(add_to_plugin);
    report.notices.iter_mut().for_each(add_to_notice);
}

/// As [`add`], for one plugin.
pub(crate) fn add_to_plugin(plugin: &mut PluginReport) {
    let id = quoted(&plugin.id);
    let has_manifest = !plugin.dialects.is_empty();
    for reason in &mut plugin.reasons {
        reason.help = help(reason, &id, has_manifest);
    }
    plugin.notices.iter_mut().for_each(add_to_notice);
}

/// Returns the help of a store that could not be used.
pub(crate) fn of_store(failure: &StoreFailure) -> String {
    with_start_over(failure.code(), failure.help())
}

/// Returns a help text of the pins with the command that starts over.
pub(crate) fn with_start_over(code: &str, help: &str) -> String {
    if code == "pin/store" {
        help.replace(START_OVER, "start over: plugward forget --all")
    } else {
        help.to_owned()
    }
}

/// Returns the command that accepts exactly these digests. The tree comes last, so that it is easy to compare.
pub(crate) fn accept(digests: &ReviewedDigests, selector: &str) -> String {
    let mut line = format!("plugward accept {selector}");
    digests.shared.iter().for_each(|tree| line.push_str(&format!(" --with {tree}")));
    digests.entry.iter().for_each(|entry| line.push_str(&format!(" --with {entry}")));
    line.push_str(&format!(" --tree {}", digests.tree));
    line
}

fn help(reason: &Reason, id: &str, has_manifest: bool) -> String {
    let accept = reason.accept.as_ref().map(|digests| accept(digests, id));
    let then = |review: &str| match &accept {
        Some(accept) => format!("{review}\nthen, if you trust what it shows:\n{accept}"),
        None => review.to_owned(),
    };
    let denied = reason.denied.as_ref().map_or_else(|| id.to_owned(), |name| quoted_name(name));
    match (reason.code.as_str(), &accept) {
        ("pin/changed" | "pin/signer-changed", Some(_)) => then(&format!("plugward diff {id}")),
        ("pin/changed", None) if !has_manifest => {
            format!("restore the plugin, or if it is no longer one: plugward forget {id}")
        }
        ("pin/new", Some(accept)) => format!("check on a terminal, or\n{accept}"),
        ("pin/new", None) if reason.weight == Weight::Integrity => {
            "check it once without --trust locked, or add it to PLUGINS.lock: plugward lock DIR".to_owned()
        }
        ("scan/danger" | "scan/suspicious", _) => then(&format!("plugward explain {id}")),
        ("approval/stale", _) => format!("plugward diff {id}; {}", reason.help),
        ("policy/denied", Some(accept)) => {
            format!("plugward allow {denied}\nor for this one alone\n{accept}")
        }
        ("policy/denied", None) => format!("plugward allow {denied}"),
        ("policy/namesake", Some(accept)) => {
            format!("plugward deny {id}\nor, if it is another plugin\n{accept}")
        }
        ("check/all-or-nothing", _) => {
            "fix or leave out the other plugin, or check without --all-or-nothing".to_owned()
        }
        (code, _) => with_start_over(code, &reason.help),
    }
}

fn add_to_notice(notice: &mut Notice) {
    match notice.code.as_str() {
        "pin/gone" => {
            if let Some(key) = &notice.plugin {
                let name = quoted_name(key.name());
                notice.message.push_str(&format!("\nto delete the pin: plugward forget {name}"));
            }
        }
        "pin/recovered" => {
            notice.message.push_str("\nnext: to start over instead: plugward forget --all");
        }
        "lock/weak-scheme" => notice.message.push_str("; to replace it: plugward lock --migrate"),
        code => notice.message = with_start_over(code, &notice.message),
    }
}

/// Quotes the name of a pin. It is not a path, so it cannot get `./` in front.
fn quoted_name(name: &str) -> String {
    if name.starts_with('-') {
        return format!("-- '{}'", name.replace('\'', "'\\''"));
    }
    quoted(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_for_a_shell() {
        assert_eq!(quoted_name("--all"), "-- '--all'");
        assert_eq!(quoted_name("it's"), "'it'\\''s'");
        assert!(quoted_name("three\nlines").starts_with("'three"));
        assert_eq!(quoted_name("greeter"), "greeter");
    }

    #[test]
    fn only_a_broken_store_is_started_over() {
        let help = "fix a or b, or delete all pins and start over";
        let command = "fix a or b, or start over: plugward forget --all";
        assert_eq!(with_start_over("pin/store", help), command);
        assert_eq!(with_start_over("pin/not-saved", help), help);
    }
}
