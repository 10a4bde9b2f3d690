//! What the pin gate says of its answers.

use plugward_pinstore::{Changed, PinCheck, Pinned, Shown, What};

use plugward_types::PluginId;

use crate::report::{Gate, Notice, PinState, PluginReport, Reason, Weight};

pub(super) fn describe(report: &mut PluginReport, check: &PinCheck, file: &str) {
    let own = |state| PinState { state, manifest: report.manifest.clone(), tree: report.tree.clone() };
    report.pin = match check {
        PinCheck::Same { surface } => {
            if surface.is_some() {
                report.notices.push(Notice {
                    code: "pin/surface-new".to_owned(),
                    gate: Gate::Pin,
                    message: "the same bytes; this version sees another surface in them than the one that pinned them"
                        .to_owned(),
                });
            }
            own("same")
        }
        PinCheck::ManifestOnly { line } => {
            report.notices.push(Notice {
                code: "pin/new".to_owned(),
                gate: Gate::Pin,
                message: format!("the old pin ({file}:{line}) covered the manifest only"),
            });
            PinState { state: "manifest-only", manifest: report.manifest.clone(), tree: None }
        }
        PinCheck::Unpinned => PinState { state: "none", manifest: None, tree: None },
        PinCheck::Changed(changed) => {
            let (manifest, tree) = match &changed.pinned {
                Pinned::Tree(facts) => (facts.manifest.map(|d| d.to_string()), Some(facts.tree.to_string())),
                Pinned::Manifest(digest) => (Some(digest.to_string()), None),
            };
            PinState { state: "changed", manifest, tree }
        }
        PinCheck::Denied { .. } => PinState { state: "denied", manifest: None, tree: None },
    };
}

pub(super) fn refusal(check: &PinCheck, code: &str, report: &PluginReport, file: &str) -> Reason {
    let id = &report.id;
    let (message, help, weight) = match check {
        PinCheck::Changed(changed) => (
            changed_text(changed, file),
            format!("plugward diff {id}\nthen, if what it shows is meant:\n{}", accept_line(changed, id)),
            Weight::Integrity,
        ),
        PinCheck::Denied { since, line } => (
            format!("denied since {since} ({file}:{line})"),
            format!("plugward allow {id}"),
            Weight::Denied,
        ),
        PinCheck::Same { .. } | PinCheck::ManifestOnly { .. } | PinCheck::Unpinned => (
            "not pinned, and this run enrolls nothing".to_owned(),
            "check it once without --trust locked and keep the pins, or write PLUGINS.lock: plugward lock DIR".to_owned(),
            Weight::Integrity,
        ),
    };
    Reason { code: code.to_owned(), gate: Gate::Pin, message, help, weight }
}

/// The exact line that pins what is there, over the pin that is held against it.
fn accept_line(changed: &Changed, id: &str) -> String {
    let pinned = match &changed.pinned {
        Pinned::Tree(facts) => Some(&**facts),
        Pinned::Manifest(_) => None,
    };
    let wanted = Shown::wanted(&changed.actual, pinned);
    // An id of a report is one that was read as such.
    id.parse::<PluginId>()
        .map_or_else(|_| format!("plugward accept {id} --tree {}", wanted.tree), |id| wanted.accept_line(&id))
}

/// What differs, both digests of each, and where the pin stands.
fn changed_text(changed: &Changed, file: &str) -> String {
    let mut text = format!("not what was pinned ({file}:{})", changed.line);
    let absent = || "none".to_owned();
    for what in &changed.what {
        if let (Pinned::Tree(facts), What::Shared) = (&changed.pinned, what) {
            shared_text(&mut text, &facts.shared, &changed.actual.shared);
            continue;
        }
        let (pinned, actual) = match (&changed.pinned, what) {
            (Pinned::Manifest(digest), _) => {
                (digest.to_string(), changed.actual.manifest.map_or_else(absent, |d| d.to_string()))
            }
            (Pinned::Tree(facts), What::Manifest) => (
                facts.manifest.map_or_else(absent, |d| d.to_string()),
                changed.actual.manifest.map_or_else(absent, |d| d.to_string()),
            ),
            (Pinned::Tree(facts), What::Tree) => (facts.tree.to_string(), changed.actual.tree.to_string()),
            (Pinned::Tree(facts), What::Entry) => (
                facts.entry.map_or_else(absent, |d| d.to_string()),
                changed.actual.entry.map_or_else(absent, |d| d.to_string()),
            ),
            (Pinned::Tree(facts), What::Signer) => (
                facts.signer.clone().unwrap_or_else(absent),
                changed.actual.signer.clone().unwrap_or_else(absent),
            ),
            // Said above, by its names.
            (Pinned::Tree(_), What::Shared) => continue,
        };
        text.push_str(&format!("\n{} differs\npinned {pinned}\nactual {actual}", what.as_str()));
    }
    text
}

type Shared = std::collections::BTreeMap<String, plugward_types::TreeDigest>;

/// Each shared folder that differs, by its name.
fn shared_text(text: &mut String, pinned: &Shared, actual: &Shared) {
    let names: std::collections::BTreeSet<&String> = pinned.keys().chain(actual.keys()).collect();
    let show =
        |all: &Shared, name: &str| all.get(name).map_or_else(|| "none".to_owned(), ToString::to_string);
    for name in names.into_iter().filter(|name| pinned.get(*name) != actual.get(*name)) {
        let (pinned, actual) = (show(pinned, name), show(actual, name));
        text.push_str(&format!("\nshared {name} differs\npinned {pinned}\nactual {actual}"));
    }
}

/// The tree that is pinned, where something else is there.
pub(super) fn pinned_tree(check: &PinCheck) -> Option<String> {
    match check {
        PinCheck::Changed(changed) => match &changed.pinned {
            Pinned::Tree(facts) => Some(facts.tree.to_string()),
            Pinned::Manifest(digest) => Some(digest.to_string()),
        },
        PinCheck::Same { .. }
        | PinCheck::ManifestOnly { .. }
        | PinCheck::Unpinned
        | PinCheck::Denied { .. } => None,
    }
}
