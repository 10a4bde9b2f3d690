//! The codes of this crate.

/// Every code of this crate with the next step for the user, sorted by code.
pub const CODES: &[(&str, &str)] = &[
    ("lock/malformed", "mend the place that is named, or write the lock anew with `plugward lock DIR`"),
    ("lock/mismatch", "if the change is meant: plugward lock DIR prints it and writes the lock anew"),
    ("lock/missing", "bring the plugin or the lock back, or write the lock anew with `plugward lock DIR`"),
    #[cfg(feature = "minisign")]
    ("lock/signature-bad", "have PLUGINS.lock signed again"),
    ("lock/signature-missing", "have PLUGINS.lock signed by somebody who may"),
    #[cfg(feature = "minisign")]
    ("lock/signer", "mend `lock.signers` in your settings"),
    ("lock/surface-new", "look at what it runs with `plugward info ID`, then write the lock anew"),
    #[cfg(feature = "minisign")]
    ("lock/unknown-key", "add the key to `lock.signers`, if you know whose it is"),
    ("lock/unlisted", "add the plugin with `plugward lock DIR`, or remove it"),
    ("lock/verifier", "mend what the verifier names; nothing loads on its silence"),
    ("lock/weak-scheme", "move to PLUGINS.lock with `plugward lock --migrate DIR`"),
    ("tree/changed-while-read", "stop whatever writes there, then run again"),
    ("tree/collision", "rename one of the two"),
    ("tree/exclude", "exclude only root-level names that may be left out"),
    ("tree/exec-bits-not-checked", "enroll on a system that keeps execute bits"),
    ("tree/io", "make the entry readable for you, then run again"),
    ("tree/jail", "open the jail with `Policy::standard()`"),
    ("tree/limit", "take files out, or raise the limit in your own settings"),
    ("tree/link-absolute", "make the link relative, and inside the folder"),
    ("tree/link-broken", "remove the link, or add what it leads to"),
    ("tree/link-escapes", "point the link inside the folder, or put a copy there"),
    ("tree/link-into-excluded", "point the link elsewhere, or take the name off the exclude list"),
    ("tree/list", "use the list as `plugward digest --list` wrote it"),
    ("tree/name", "rename it: UTF-8 without control characters and backslash"),
    ("tree/not-portable", "rename it, if it has to work on every system"),
    ("tree/not-read", "read the folder with what both lists exclude"),
    ("tree/root-link", "name the folder that the link leads to"),
    ("tree/setuid", "take the setuid, setgid and sticky bits off"),
    ("tree/special-file", "remove it: a plugin is files, folders and links"),
    ("tree/vcs-folder", "exclude it, if its changes should not count"),
    ("tree/writable-by-others", "take the write bit of others off"),
];
