//! Every code that this crate can give, with what to do about it.

/// Every code of this crate, with one line that says what to do; sorted by code.
pub const CODES: &[(&str, &str)] = &[
    ("jail/denied", "give this user permission to search the folder and the folders above it"),
    ("jail/exists", "choose another name, or open the folder that is there"),
    ("jail/io", "look at the system's own error, and try again when the disk answers"),
    ("jail/is-root", "name a folder below the root, or call `Jail::open_root` if the root is meant"),
    ("jail/not-a-directory", "name a folder, not a file"),
    ("jail/not-found", "make the folder first, or correct its path"),
    ("jail/not-ours", "remove the folder, or make it owned by this user with mode 0700"),
    (
        "jail/policy-unsupported",
        "choose what the system can hold: mounts are told apart by Linux 5.8, links are followed on Unix only",
    ),
    ("jail/symlink", "name the folder that the link leads to, or call `Jail::open_following`"),
    (
        "jail/weaker-guarantee",
        "run where `openat2` answers (Linux 5.6, no filter against it), or ask for less",
    ),
    ("path/absolute", "name it relative to the jail; `Jail::strip` takes the jail's own path off"),
    ("path/alternate-stream", "leave out the `:`"),
    ("path/backend-lost", "open the jail again: a filter took `openat2` away after it was opened"),
    ("path/contended", "try again when the other process has finished with the file"),
    ("path/denied", "give this user permission for the file and the folders above it"),
    ("path/dotfile", "use a name without a leading dot, or a policy that allows dotfiles"),
    ("path/empty", "name something; `.` is the jail's own folder"),
    ("path/exhausted", "raise the limit of open descriptors, or keep fewer open; `unpin` gives one back"),
    ("path/exists", "choose another name, or remove what is there"),
    ("path/hard-linked", "copy the file so that it has one name, or use a policy that allows several"),
    ("path/io", "look at the system's own error, and try again when the disk answers"),
    ("path/jail-gone", "make the folder again and open a new jail on it"),
    ("path/jail-itself", "name something below the jail"),
    ("path/magic-link", "name the file itself; links of procfs are never followed"),
    ("path/mount", "unmount it, or use a policy that allows mounts"),
    ("path/not-a-directory", "name a folder, or correct the path"),
    ("path/not-empty", "remove the entries first, or call `remove_tree`"),
    ("path/not-found", "correct the path, or make the file first"),
    ("path/not-regular", "name a regular file; folders, pipes, sockets and devices are not opened as files"),
    ("path/not-utf8", "rename the file to a UTF-8 name, or use the calls that take bytes"),
    ("path/nul", "leave out the NUL byte"),
    ("path/outside", "name something below the jail"),
    ("path/parent", "write the path without `..`, or use a policy that resolves it"),
    ("path/prefix", "name it relative to the jail, without a drive or share"),
    ("path/race", "find out who changes the folder; `open_current` takes what is there now"),
    ("path/reserved-name", "use a name that every platform takes: no device name, no trailing dot, no `~1`"),
    (
        "path/symlink",
        "name the file that the link leads to, or use a policy that follows links below the jail",
    ),
    ("path/too-deep", "raise the limit of levels, or flatten the folder"),
    ("path/too-large", "raise the limit, or read the file in pieces"),
    ("path/too-long", "shorten the path to 4,095 bytes and each component to 255"),
    ("path/too-many-links", "shorten the chain of links to 40 or fewer; it may be a loop"),
    ("path/trailing-separator", "leave out the separator at the end, or use a call for folders"),
    ("path/unsupported", "use a file system that can do this"),
];

/// Says what to do about a code.
pub(crate) fn help(code: &str) -> &'static str {
    let found = CODES.binary_search_by(|(known, _)| (*known).cmp(code)).ok();
    found.and_then(|at| CODES.get(at)).map_or("", |(_, help)| help)
}
