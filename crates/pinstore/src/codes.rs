//! The codes of this crate.

/// All codes of this crate, with one line of help each.
pub const CODES: &[(&str, &str)] = &[
    (
        "approval/none",
        "approve the plugin after an audit, or set plugins.approval = \"off\" in your own settings",
    ),
    ("approval/not-audited", "audit the plugin again: an approval needs an audit of exactly these contents"),
    ("approval/not-saved", "see the cause; the existing approvals still apply"),
    ("approval/rejected", "the audit advises against it; see its findings: plugward info PLUGIN"),
    ("approval/risk", "the audit's risk is above plugins.max_risk; nothing loads above it"),
    ("approval/rules-changed", "the scanner's rules changed since the approval; the new rules were run too"),
    ("approval/stale", "the contents changed since the approval, and need a new one: plugward diff PLUGIN"),
    ("approval/store", "repair plugins.approvals.toml, or move it away and approve again"),
    ("approval/store-version", "use the newer plugward that wrote plugins.approvals.toml"),
    (
        "baseline/damaged",
        "a baseline did not match its digest and was deleted; diffs have less detail until the next accept",
    ),
    ("pin/changed", "review it: plugward diff PLUGIN; then: plugward accept PLUGIN --tree DIGEST"),
    (
        "pin/gone",
        "the directory of a pinned plugin no longer exists; to delete the pin: plugward forget PLUGIN",
    ),
    (
        "pin/hand-edited",
        "entries of the pins file were deleted by hand; to delete a pin: plugward forget PLUGIN",
    ),
    (
        "pin/migrated",
        "the contents match a pin of an older plugward, which now applies to this directory; nothing to do",
    ),
    ("pin/moved", "the contents match the pin that the plugin had at its old place; nothing to do"),
    ("pin/new", "review the new plugin: plugward info PLUGIN"),
    ("pin/none", "no such plugin is pinned; to list the pins: plugward list"),
    ("pin/not-saved", "see the cause; the existing pins still apply"),
    ("pin/not-shown", "the plugin changed since you reviewed it: plugward diff PLUGIN"),
    (
        "pin/older",
        "the contents were accepted before, but another state was accepted later: plugward diff PLUGIN",
    ),
    ("pin/raced", "the pin changed since you reviewed it: plugward diff PLUGIN"),
    ("pin/recovered", "the backup was used; to start over: plugward forget --all"),
    ("pin/signer-changed", "review it: plugward diff PLUGIN; ask the publisher whether the key changed"),
    ("pin/store", "repair plugins.pins.toml or its backup, or start over: plugward forget --all"),
    ("pin/store-version", "use the newer plugward that wrote plugins.pins.toml"),
    (
        "pin/surface-new",
        "the contents are unchanged, but this plugward sees more of them: plugward info PLUGIN",
    ),
    ("policy/denied", "to allow the plugin again: plugward allow PLUGIN"),
    ("policy/revoked", "see the reason; use another version, or remove the plugin"),
    ("revocation/kept", "the revocation list could not be read; its last valid state applies"),
    ("revocation/none", "the revocation list has never been read; see plugins.revocation_lists"),
    ("store/format", "repair the line, or move the file away so that the backup is used"),
];
