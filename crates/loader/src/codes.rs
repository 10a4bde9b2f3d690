//! Every code that a report can hold, with its help.

use plugward_scanner::Rules;
use serde::Serialize;

/// One code.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Code {
    /// The code, the rule's id, or the kind that stands in the marker of a secret.
    pub code: String,
    /// `reason` for codes, `rule` for scanner rules, `secret` for what `redact` cuts out.
    pub kind: &'static str,
    /// What it means and what to do.
    pub help: String,
}

/// Codes that the loader itself gives.
pub const CODES: &[(&str, &str)] = &[
    (
        "discover/too-many",
        "the folder holds more than is looked at; name the folders of the plugins themselves",
    ),
    ("discover/unreadable", "a folder cannot be listed; mend its permissions and check again"),
    ("market/unreadable", "a marketplace file cannot be read; its plugins are checked without its entries"),
    ("check/all-or-nothing", "another plugin of this run does not load, and all were asked for or none"),
    (
        "scan/danger",
        "the rules found danger; read the findings, then drop the plugin or have its author mend it",
    ),
    (
        "scan/suspicious",
        "an honest plugin may do this, so a user decides; read the findings, then accept these bytes or drop the plugin",
    ),
    ("scan/error", "the scan could not be done, which is no yes"),
    ("scan/partial", "a file is over a limit of the scan; look at it yourself, or take it out"),
    (
        "surface/excluded",
        "the plugin runs or reads files in an excluded directory, which neither pin nor scan covers; do not exclude it",
    ),
    ("tree/root-link", "the plugin's folder is a link; name the folder that it leads to"),
    (
        "tree/shared-missing",
        "the plugin imports what is outside its folder and was not digested; check the folder that holds both",
    ),
    (
        "policy/namesake",
        "a plugin of this name from another source is denied or revoked; deny this one too, or accept it",
    ),
    (
        "revocation/unreadable",
        "neither the revocation list nor its kept copy can be read, so nothing loads; mend one of them",
    ),
    ("mint/no-record", "there is no ledger, and what is not on the record does not load; see --state-dir"),
    #[cfg(not(feature = "minisign"))]
    ("lock/signer", "build with the feature `minisign`, or take `lock.signers` out of your settings"),
];

/// Lists every code, every built-in rule and every kind of secret, sorted.
#[must_use]
pub fn all() -> Vec<Code> {
    let mut all: Vec<Code> = reasons()
        .into_iter()
        .map(|(code, help)| Code { code: code.to_owned(), kind: "reason", help: help.to_owned() })
        .collect();
    all.extend(Rules::builtin().iter().map(|rule| Code {
        code: rule.id().to_string(),
        kind: "rule",
        help: format!("{} {}", rule.why(), rule.fix()),
    }));
    all.extend(plugward_redact::KINDS.iter().map(|(kind, what)| Code {
        code: (*kind).to_owned(),
        kind: "secret",
        help: (*what).to_owned(),
    }));
    all.sort();
    all
}

/// Lists the codes of reasons and notices, without the rules.
#[must_use]
pub fn reasons() -> Vec<(&'static str, &'static str)> {
    let mut all: Vec<(&str, &str)> = [
        CODES,
        plugward_manifest::CODES,
        plugward_tree_lock::CODES,
        plugward_pinstore::CODES,
        plugward_state_file::CODES,
        plugward_sandbox_path::CODES,
        plugward_scanner::CODES,
        plugward_capability::CODES,
        plugward_ledger::CODES,
        plugward_redact::CODES,
        plugward_hooks::CODES,
    ]
    .concat();
    all.sort_unstable();
    all.dedup_by_key(|(code, _)| *code);
    all
}

/// Lists the codes that a report of [`crate::check`] is made to hold; others belong to single crates and verbs.
#[must_use]
pub fn reported() -> Vec<(&'static str, &'static str)> {
    let gates = [
        "approval/",
        "check/",
        "discover/",
        "lock/",
        "manifest/",
        "market/",
        "mint/",
        "pin/",
        "policy/",
        "revocation/",
        "scan/",
        "surface/",
        "tree/",
    ];
    let mut all = reasons();
    all.retain(|(code, _)| gates.iter().any(|gate| code.starts_with(gate)));
    all
}
