//! Every code that a report can contain, with its help.

use plugward_scanner::Rules;
use serde::Serialize;

/// A code with its help.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Code {
    /// The code, the rule's id, or the kind in the marker of a redacted secret.
    pub code: String,
    /// `reason` for codes, `rule` for scanner rules, `secret` for secrets that `redact` removes.
    pub kind: &'static str,
    /// The meaning, and what to do.
    pub help: String,
    /// Identifiers of public lists that apply to a scanner rule, such as `CWE-95`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// The reason why no CWE number is among the references of a scanner rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_cwe: Option<String>,
}

impl Code {
    fn new(code: &str, kind: &'static str, help: &str) -> Self {
        Self { code: code.to_owned(), kind, help: help.to_owned(), references: Vec::new(), no_cwe: None }
    }
}

/// The codes of the loader itself.
pub const CODES: &[(&str, &str)] = &[
    (
        "discover/too-many",
        "the search stopped at a limit on directories, names or depth; pass the directories of the plugins themselves",
    ),
    (
        "discover/link",
        "check the directory that the symlink names, or a directory that contains it and the symlink",
    ),
    ("discover/unreadable", "fix the permissions of the directory, then check again"),
    (
        "install/unreadable",
        "fix or restore the record of the host; until then, plugward does not know what it would load, so nothing of it loads",
    ),
    ("install/id", "remove the row from the record, or install the plugin again under a valid name"),
    ("install/row", "remove the row from the record, or install the plugin again with its host"),
    ("install/missing", "install the plugin with its host, then check again"),
    ("install/leftover", "nothing to do; the host deletes versions that no record names"),
    (
        "install/newer",
        "update the plugin with its host, or delete the directory; it was judged, and the host does not load it now",
    ),
    ("install/not-read", "review the place yourself, or check a directory there; plugward does not read it"),
    (
        "install/not-judged",
        "review these files yourself; their host reads them, and plugward does not judge them",
    ),
    ("install/loosens", "remove the setting from your settings if you want to be asked again"),
    ("install/outside", "check that you installed the plugin from there"),
    (
        "install/bookkeeping",
        "remove the file; Claude Code writes only `.in_use/<pid>` and `.orphaned_at` into a cached plugin",
    ),
    ("install/no-manifest", "nothing to do; add the manifest if the directory is a plugin"),
    ("manifest/other-host", "nothing to do; no host of this plugin reads that manifest"),
    ("gate/request", "update plugward or the host; what it asked about is blocked"),
    ("gate/timeout", "check the directory by hand, or raise `--timeout` and the `timeoutMs` of the host"),
    ("gate/program", "install plugward as a regular file in a directory that only you or root can write"),
    (
        "gate/nothing",
        "check that the directory contains a plugin or a skill; the gate blocks what it cannot judge",
    ),
    ("gate/file", "review the file by hand; it is scanned when it is installed, and never again"),
    ("gate/download", "nothing to do; the host asks again with the files"),
    (
        "market/unreadable",
        "fix the marketplace file; plugins without a readable entry are refused until then",
    ),
    (
        "check/all-or-nothing",
        "fix or leave out the plugin that does not load, or allow plugins to load without it",
    ),
    ("pin/replaced", "review the new plugin, and accept it if it is the same as the one that is gone"),
    ("pin/gated", "nothing to do; the host installed what it asked about"),
    (
        "pin/not-gated",
        "review the plugin: it changed between the question of the host and the installation, or while it was installed",
    ),
    (
        "pin/lost",
        "restore plugins.pins.toml from a backup, or start over: the pins file and its backup are gone, and the ledger knows that they had pins",
    ),
    (
        "settings/trust-root",
        "remove the variable from the project's file; it decides which pins, settings or libraries plugward uses, so nothing else is judged",
    ),
    ("scan/danger", "read the findings, then remove the plugin or ask its author to fix it"),
    (
        "scan/suspicious",
        "read the findings, then accept this version or remove the plugin; harmless plugins can have such findings too",
    ),
    ("scan/error", "fix the cause; a plugin that cannot be scanned does not load"),
    ("scan/partial", "a file exceeds a scan limit: review it by hand, or remove it"),
    (
        "surface/excluded",
        "do not exclude a directory whose files the plugin runs or reads: neither pin nor scan covers it",
    ),
    (
        "surface/outside",
        "remove the plugin: hosts copy its directory only, so that a path to another plugin or marketplace works for an attack alone",
    ),
    (
        "surface/unresolved",
        "review the commands and what they run, then accept this version; or name a file in the command instead of computing it",
    ),
    (
        "surface/too-large",
        "start fewer or smaller files: everything that a command runs is read, digested and scanned",
    ),
    ("surface/too-complex", "move the command into a script file, or split it"),
    ("surface/unreadable", "fix the permissions of the script, or remove the command that runs it"),
    (
        "tree/root-link",
        "pass the directory that the symlink leads to; a plugin's own directory must not be a symlink",
    ),
    (
        "tree/shared-missing",
        "check a directory that contains both the plugin and the files that it imports from outside",
    ),
    (
        "policy/namesake",
        "a plugin of the same name from another source is denied or revoked; deny this one too, or accept it",
    ),
    (
        "revocation/unreadable",
        "fix the revocation list or its stored copy; no plugin loads until one of them can be read",
    ),
    (
        "audit/no-model",
        "set audit.client, audit.base_url and audit.model in your own settings, or use `plugward audit --static`",
    ),
    ("audit/too-costly", "confirm the audit with `--yes`, or raise audit.confirm_tokens"),
    ("audit/unknown-record", "name the digest that `plugward audit` printed, or audit the plugin again"),
    ("audit/risk", "read the audit, then accept this version or remove the plugin"),
    ("session/command", "write one of the commands in `plugward session --help`"),
    ("session/line", "write one command per line, as UTF-8 text of at most 64 KiB"),
    ("session/plugin", "write the id of a plugin, as `list` prints it"),
    ("launch/digest", "find out what changed the file after it was checked; nothing was started"),
    (
        "mcp/changed",
        "review what the server offers now: `plugward mcp tools SERVER`; accept it, or remove the server",
    ),
    ("mcp/danger", "read the findings, then remove the server or use another version of it"),
    ("mcp/new", "review what the server offers: `plugward mcp tools SERVER`; then accept it"),
    ("mcp/no-offer", "start the server once through its host: `plugward mcp run`"),
    ("mcp/not-pinned", "check the plugin of the server first, then start the server again"),
    ("mcp/part", "list and review everything that the server offers: `plugward mcp tools SERVER`"),
    ("mcp/remote", "start a local server, or add the URL to the host without plugward"),
    ("mcp/store", "move the file of stored offers away, and start the server again; pins are not in it"),
    (
        "mcp/suspicious",
        "read the findings, then accept the offer or remove the server; harmless servers can have such findings too",
    ),
    (
        "mcp/unknown-set",
        "name the digest that `plugward mcp tools` prints; the server may offer something else by now",
    ),
    ("mint/no-record", "provide a state directory for the ledger; no plugin loads without a record"),
    #[cfg(not(feature = "minisign"))]
    ("lock/signer", "build with the feature `minisign`, or remove `lock.signers` from your settings"),
];

/// Returns every code, built-in rule and kind of secret, sorted.
#[must_use]
pub fn all() -> Vec<Code> {
    let mut all: Vec<Code> =
        reasons().into_iter().map(|(code, help)| Code::new(code, "reason", help)).collect();
    all.extend(Rules::builtin().iter().map(|rule| Code {
        references: rule.refs().to_vec(),
        no_cwe: rule.no_cwe().map(str::to_owned),
        ..Code::new(rule.id().as_str(), "rule", &format!("{} {}", rule.why(), rule.fix()))
    }));
    let settings = plugward_installs::SETTINGS_RULES.iter();
    all.extend(settings.map(|(code, help)| Code::new(code, "rule", help)));
    all.extend(plugward_redact::KINDS.iter().map(|(kind, what)| Code::new(kind, "secret", what)));
    all.sort();
    all
}

/// Returns the codes of reasons and notices, without scanner rules.
#[must_use]
pub fn reasons() -> Vec<(&'static str, &'static str)> {
    let mut all: Vec<(&str, &str)> = [
        CODES,
        plugward_manifest::CODES,
        plugward_tree_lock::CODES,
        plugward_pinstore::CODES,
        plugward_policy::CODES,
        plugward_state_file::CODES,
        plugward_sandbox_path::CODES,
        plugward_scanner::CODES,
        plugward_capability::CODES,
        plugward_ledger::CODES,
        plugward_redact::CODES,
        plugward_registry::CODES,
        plugward_hooks::CODES,
        plugward_lifecycle::CODES,
        plugward_deep_audit::CODES,
        plugward_launch::CODES,
        plugward_protocol::CODES,
        plugward_host_modules::CODES,
    ]
    .concat();
    all.sort_unstable();
    all.dedup_by_key(|(code, _)| *code);
    all
}

/// Returns the codes that a report of [`crate::check`] can contain. Other codes belong to single
/// crates and commands.
#[must_use]
pub fn reported() -> Vec<(&'static str, &'static str)> {
    let gates = [
        "approval/",
        "check/",
        "discover/",
        "install/",
        "lock/",
        "manifest/",
        "market/",
        "mint/",
        "pin/",
        "policy/",
        "revocation/",
        "scan/",
        "settings/",
        "skill/",
        "surface/",
        "tree/",
    ];
    let mut all = reasons();
    // Other codes of servers belong to `mcp run`, whose reports are not those of a check.
    let others = ["audit/risk", "mcp/skipped"];
    all.retain(|(code, _)| others.contains(code) || gates.iter().any(|gate| code.starts_with(gate)));
    all
}
