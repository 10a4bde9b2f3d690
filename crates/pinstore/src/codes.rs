//! Every code that this crate gives.

/// Every code that this crate gives, with one line of help.
pub const CODES: &[(&str, &str)] = &[
    (
        "approval/none",
        "approve these bytes after an audit, or set plugins.approval = \"off\" in your own settings",
    ),
    ("approval/not-audited", "an approval needs an audit of exactly these bytes"),
    ("approval/not-saved", "see the cause; the approvals that were there still hold"),
    ("approval/rejected", "the audit advises against it; see its findings: plugward info ID"),
    ("approval/risk", "the audit's risk is above plugins.max_risk; nothing loads above it"),
    (
        "approval/rules-changed",
        "the scanner's rules changed since the approval; they ran on these bytes all the same",
    ),
    (
        "approval/stale",
        "the bytes changed since the approval: plugward diff ID; they need an approval of their own",
    ),
    ("approval/store", "mend plugins.approvals.toml, or move it away and approve again"),
    ("approval/store-version", "use the newer plugward that wrote plugins.approvals.toml"),
    (
        "baseline/damaged",
        "a kept text did not match its digest and was dropped; diffs are coarser until the next accept",
    ),
    ("import/format", "name the program's own trust file, unchanged"),
    ("pin/changed", "plugward diff ID, then plugward accept ID --tree DIGEST"),
    ("pin/hand-edited", "the pins file was edited by hand; to drop a pin: plugward forget ID"),
    ("pin/new", "first sight; look at it: plugward info ID"),
    ("pin/none", "nothing of that name is pinned: plugward list"),
    ("pin/not-saved", "see the cause; the pins that were there still hold"),
    ("pin/not-shown", "it changed since you looked: plugward diff ID"),
    ("pin/raced", "the pin changed since you looked: plugward diff ID"),
    ("pin/recovered", "the last good copy was taken; to start over: plugward forget --all"),
    ("pin/signer-changed", "plugward diff ID; ask the publisher whether the key changed"),
    ("pin/store", "mend plugins.pins.toml or its last good copy, or start over: plugward forget --all"),
    ("pin/store-version", "use the newer plugward that wrote plugins.pins.toml"),
    ("pin/surface-new", "the same bytes, seen more closely: plugward info ID"),
    ("policy/denied", "plugward allow ID"),
    ("policy/revoked", "see the reason; use another version, or remove the plugin's folder"),
    ("revocation/kept", "the revocation list was not read; the last good one holds"),
    ("revocation/none", "the revocation list was never read; see plugins.revocation_lists"),
    ("store/format", "mend the line, or move the file away so that the last good copy is taken"),
];
