//! The codes of this crate.

/// The codes of this crate, with one line of help each.
pub const CODES: &[(&str, &str)] = &[
    (
        "approval/none",
        "approve the plugin after an audit, or set plugins.approval = \"off\" in your own settings",
    ),
    ("approval/not-audited", "audit the plugin again: an approval needs an audit of exactly these contents"),
    ("approval/not-saved", "fix the cause and approve again; existing approvals are unchanged"),
    ("approval/rejected", "read the audit's findings, which advise against the plugin"),
    ("approval/risk", "use another version, or raise plugins.max_risk; no approval overrides it"),
    (
        "approval/rules-changed",
        "nothing: the scanner's rules changed since the approval, and the new rules ran on this version",
    ),
    ("approval/stale", "review what changed since the approval, then approve this version"),
    ("approval/store", "fix plugins.approvals.toml, or move it away and approve again"),
    ("approval/store-version", "use the newer version of plugward that wrote plugins.approvals.toml"),
    (
        "baseline/damaged",
        "nothing: a damaged baseline was deleted, so diffs have less detail until the next accept",
    ),
    ("pin/changed", "review what changed, then accept this version if you trust it"),
    ("pin/gone", "the directory of a pinned plugin does not exist any more; restore it, or delete the pin"),
    (
        "pin/hand-edited",
        "nothing if you deleted the entries; otherwise, review the plugins that are new at the next check",
    ),
    (
        "pin/migrated",
        "nothing: the contents match a pin of an older version of plugward, which now also covers the files outside",
    ),
    ("pin/moved", "nothing: the contents match the pin of the plugin's old place"),
    ("pin/new", "review the new plugin"),
    ("pin/none", "name a plugin that is pinned"),
    ("pin/not-saved", "fix the cause and try again; existing pins are unchanged"),
    ("pin/not-shown", "review the present version: the plugin changed after you reviewed it"),
    ("pin/older", "nothing: this version was accepted before a newer one"),
    ("pin/raced", "review the plugin again: another process changed its pin"),
    ("pin/recovered", "nothing: the backup was used, and the next change repairs the file"),
    ("pin/rolled-back", "install the newer version again, or accept this one if you want it"),
    ("pin/signer-changed", "review what changed, and ask the publisher whether the key changed"),
    ("pin/store", "fix plugins.pins.toml or its backup, or delete all pins and start over"),
    ("pin/store-version", "use the newer version of plugward that wrote plugins.pins.toml"),
    (
        "pin/surface-new",
        "review the execution surface: the contents are the same, but this version detects more of it",
    ),
    ("policy/denied", "allow the plugin again if you trust it"),
    ("policy/revoked", "read the reason, then use another version or remove the plugin"),
    ("revocation/kept", "nothing: the revocation list could not be read, and its last valid copy is used"),
    ("revocation/none", "check plugins.revocation_lists: the list has never been read"),
    ("store/format", "fix the line, or move the file away so that the backup is used"),
];
