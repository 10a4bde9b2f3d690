//! The codes of this crate, each with its help text.

/// Every code of this crate, sorted, with the next step for the user.
pub const CODES: &[(&str, &str)] = &[
    (
        "launch/enforcement",
        "use a system that enforces what is missing, or set `launch.enforce` to `best-effort`",
    ),
    (
        "launch/exec",
        "check that the program is built for this machine, that its interpreter is installed, and that its working directory exists",
    ),
    (
        "launch/handshake",
        "see the system error, then try again; the host must call `run_if_launcher` first in `main`",
    ),
    ("launch/io", "see the system error, then try again"),
    ("launch/record", "fix the ledger, then try again; a program whose start is not recorded does not start"),
    ("launch/spec", "correct the program, the arguments, the environment or the directory of the start"),
];

/// Returns the help text of a code; empty if the code is unknown.
pub(crate) fn help(code: &str) -> &'static str {
    CODES.iter().find(|(known, _)| *known == code).map_or("", |(_, help)| help)
}
