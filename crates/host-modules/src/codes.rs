//! Every code of this crate.

/// Every code that this crate emits, with its help.
pub const CODES: &[(&str, &str)] = &[
    ("host-module/base-dir", "set `baseDir` to an existing directory of your own that is not a symlink"),
    ("host-module/calls", "let the script make fewer calls, with more work in each"),
    ("host-module/collision", "disable the plugin that has the module, or leave this plugin disabled"),
    ("host-module/config", "write `key=value` with a setting of the module and a value of its type"),
    ("host-module/ended", "run the program by hand to see why it ends"),
    (
        "host-module/factory",
        "fix the plugin, or its settings; its entry or `createHostFunctions` threw an exception; TypeScript needs node 22.18 or later",
    ),
    ("host-module/function", "call a function that `plugward module list` shows"),
    ("host-module/module", "enable a plugin that has the module"),
    ("host-module/timeout", "run the program by hand to see why it does not answer"),
];

/// Returns the next step for the user.
pub(crate) fn help(code: &str) -> &'static str {
    CODES.iter().find(|(known, _)| *known == code).map_or("", |(_, help)| help)
}
