//! The codes of this crate, each with its help text.

/// Every code of this crate, sorted, with the next step for the user.
pub const CODES: &[(&str, &str)] = &[
    ("jail/denied", "grant search permission on the directory and its parents"),
    ("jail/exists", "use another name, or open the existing directory"),
    ("jail/io", "see the system error, then try again"),
    ("jail/is-root", "use a directory other than `/`, or call `Jail::open_root`"),
    ("jail/not-a-directory", "pass a directory, not a file"),
    ("jail/not-found", "create the directory, or correct the path"),
    ("jail/not-ours", "delete the directory, or make it owned by this user with mode 0700"),
    (
        "jail/policy-unsupported",
        "use a supported policy: detecting mounts needs Linux 5.8, following symlinks needs Unix",
    ),
    ("jail/symlink", "pass the target of the symlink, or call `Jail::open_following`"),
    (
        "jail/weaker-guarantee",
        "run on Linux 5.6 or later without a filter on `openat2`, or require a weaker guarantee",
    ),
    ("path/absolute", "use a path relative to the jail; `Jail::strip` removes the prefix"),
    ("path/alternate-stream", "remove the `:`"),
    ("path/backend-lost", "open the jail again: a filter disabled `openat2` after it was opened"),
    ("path/contended", "try again when the other process is done with the file"),
    ("path/denied", "grant permission on the file and its parent directories"),
    ("path/dotfile", "use a name without a leading dot, or a policy that allows dotfiles"),
    ("path/empty", "pass a path; `.` is the jail's directory"),
    ("path/exhausted", "raise the limit on open file descriptors, or keep fewer open (`unpin` closes one)"),
    ("path/exists", "use another name, or remove the existing entry"),
    ("path/hard-linked", "copy the file so that it has one hard link, or use a policy that allows several"),
    ("path/io", "see the system error, then try again"),
    ("path/jail-gone", "create the directory again and open a new jail"),
    ("path/jail-itself", "use a path inside the jail"),
    ("path/mount", "unmount it, or use a policy that allows mounts"),
    ("path/not-a-directory", "pass a directory, or correct the path"),
    ("path/not-empty", "remove the entries first, or call `remove_tree`"),
    ("path/not-found", "correct the path, or create the file"),
    ("path/not-regular", "use a regular file, not a directory, pipe, socket or device"),
    ("path/not-utf8", "rename the file to valid UTF-8, or use the functions that take bytes"),
    ("path/nul", "remove the NUL byte"),
    ("path/outside", "use a path inside the jail"),
    ("path/parent", "remove `..` from the path, or use a policy that resolves it"),
    (
        "path/race",
        "find the process that changes the directory, or open the current file with `open_current`",
    ),
    ("path/reserved-name", "use a portable name: no device name, no trailing dot, no `~1`"),
    ("path/symlink", "use the target of the symlink, or a policy that follows symlinks inside the jail"),
    ("path/too-deep", "raise the depth limit, or flatten the directory"),
    ("path/too-large", "raise the limit, or read the file in chunks"),
    ("path/too-long", "shorten the path to 4,095 bytes and each component to 255"),
    ("path/trailing-separator", "remove the trailing separator, or use a function for directories"),
    ("path/unsupported", "use a file system that supports the operation"),
];

/// Returns the help text of a code; empty if the code is unknown.
pub(crate) fn help(code: &str) -> &'static str {
    let found = CODES.binary_search_by(|(known, _)| (*known).cmp(code)).ok();
    found.and_then(|at| CODES.get(at)).map_or("", |(_, help)| help)
}
