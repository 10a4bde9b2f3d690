//! The codes of this crate.

/// The codes of plugin states and configurations, with one line of help each. The loader and the command line emit some of them.
pub const CODES: &[(&str, &str)] = &[
    ("config/duplicate", "write each key once"),
    ("config/length", "write a shorter text; the plugin's schema limits it"),
    ("config/range", "write a number between the minimum and the maximum of the plugin's schema"),
    ("config/required", "write `key=value` for the key; the plugin does not work without it"),
    ("config/type", "write a value of the type in the plugin's schema"),
    ("config/unknown-key", "use a key of the plugin's schema"),
    ("lifecycle/companion", "fix or remove the companion first; nothing of this command was enabled"),
    ("lifecycle/danger", "read the findings, then remove the plugin or ask its author to fix it"),
    ("lifecycle/failed", "fix the cause that the host reported, then enable the plugin again"),
    ("lifecycle/module", "add the module to `hostModules` of plugin.json, and audit the plugin again"),
    ("lifecycle/not-confirmed", "read the audit, then confirm these contents or approve them"),
    ("lifecycle/order", "audit the plugin, then configure it, then enable it"),
    ("lifecycle/other-bytes", "audit the plugin again: its contents changed"),
    ("lifecycle/rejected", "read the audit's findings, which advise against the plugin"),
    ("lifecycle/requires", "enable the required plugin, too"),
    ("lifecycle/risk", "use another version, or raise plugins.max_risk"),
    ("lifecycle/unknown-plugin", "use the key of a plugin in the list"),
    ("schema/default", "write a default that the field itself accepts"),
    ("schema/field", "write `type` and limits that fit each other"),
    ("schema/not-literal", "write `export const SCHEMA = { … }` with literals only; a schema is never run"),
    ("schema/too-large", "write at most 100 fields in 64 KiB"),
];

/// Returns the help for a code.
pub(crate) fn help(code: &str) -> &'static str {
    CODES.iter().find(|(own, _)| *own == code).map_or("", |(_, help)| help)
}
