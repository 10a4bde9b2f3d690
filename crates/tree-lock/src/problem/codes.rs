//! The codes of this crate, each with its help text.

/// Every code of this crate, sorted, with the next step for the user.
pub const CODES: &[(&str, &str)] = &[
    ("lock/malformed", "fix the error, or write the lockfile again with `plugward lock DIR`"),
    ("lock/mismatch", "if the change is intended, update the lockfile with `plugward lock DIR`"),
    (
        "lock/missing",
        "restore the plugin or the lockfile, or write the lockfile again with `plugward lock DIR`",
    ),
    #[cfg(feature = "minisign")]
    ("lock/signature-bad", "sign PLUGINS.lock again"),
    ("lock/signature-missing", "have an authorized signer sign PLUGINS.lock"),
    #[cfg(feature = "minisign")]
    ("lock/signer", "fix `lock.signers` in your settings"),
    ("lock/surface-new", "review what the plugin runs with `plugward info ID`, then update the lockfile"),
    #[cfg(feature = "minisign")]
    ("lock/unknown-key", "if you trust the owner of the key, add it to `lock.signers`"),
    ("lock/unlisted", "add the plugin with `plugward lock DIR`, or remove it"),
    ("lock/verifier", "fix the error that the verifier reports; nothing loads until it answers"),
    ("lock/weak-scheme", "convert the lockfile with `plugward lock --migrate DIR`"),
    ("tree/changed-while-read", "stop the process that writes there, then check again"),
    ("tree/collision", "rename one of the two entries"),
    ("tree/exclude", "exclude only root-level names on the allowed list"),
    ("tree/exec-bits-not-checked", "pin on a file system that keeps execute bits"),
    ("tree/io", "make the entry readable, then check again"),
    ("tree/jail", "open the jail with `Policy::standard()`"),
    ("tree/limit", "remove files, or raise the limit in your settings"),
    ("tree/link-absolute", "use a relative symlink that stays inside the directory"),
    ("tree/link-broken", "remove the symlink, or add its target"),
    ("tree/link-escapes", "point the symlink inside the directory, or replace it with a copy"),
    ("tree/link-into-excluded", "point the symlink elsewhere, or remove the name from the exclude list"),
    ("tree/list", "use the output of `plugward digest --list`"),
    ("tree/name", "rename it: valid UTF-8, no control characters, no backslash"),
    ("tree/not-portable", "rename it if it must work on every system"),
    ("tree/not-read", "read the directory with the excludes that both lists share"),
    ("tree/root-link", "use the target of the symlink"),
    ("tree/setuid", "clear the setuid, setgid and sticky bits"),
    ("tree/special-file", "remove it: a plugin may contain files, directories and symlinks"),
    ("tree/vcs-folder", "exclude it with `--exclude` if its changes should not count"),
    ("tree/writable-by-others", "run `chmod o-w` on it"),
];
