//! What the settings of a host do that a person has to know about.

use plugward_types::{Digest, Severity, Span};

/// A setting that runs code, redirects requests or loosens the host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct SettingsFinding {
    /// The code, such as `env/hijack`.
    pub code: &'static str,
    /// The severity: suspicious in a file of a project, a note in a file of the user.
    pub severity: Severity,
    /// When the finding asks.
    pub scope: FindingScope,
    /// The file, as it was found; not resolved.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The bytes of the name in the file.
    pub span: Span,
    /// The name of the variable or setting, in one line.
    pub name: String,
    /// What it does, in one line. It never contains the value of a variable.
    pub message: String,
    /// The SHA-256 digest of the file.
    pub digest: Digest,
}

/// When a suspicious finding asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "each scope has its own effect on a decision")]
pub enum FindingScope {
    /// Until a person accepts these contents.
    Contents,
    /// Only if the file has no pin: its host writes the setting when the user clicks.
    FirstCheck,
}

/// The codes of findings that no rule of the scanner has, with the risk and the fix. The scanner has rules
/// for `env/hijack` and `env/search-path`.
pub const SETTINGS_RULES: &[(&str, &str)] = &[
    (
        "env/certificate",
        "A certificate of the project can read encrypted connections. Add certificates on your machine instead.",
    ),
    (
        "env/endpoint",
        "The address receives your key and everything in the conversation with the model. Set it in your own settings if you trust it.",
    ),
    (
        "env/proxy",
        "The machine sees, and for plain connections changes, what passes. Set it in your own settings.",
    ),
    (
        "env/registry",
        "The registry decides which code your package managers install. Set it in your own settings if you trust it.",
    ),
    (
        "settings/permissions",
        "The model runs commands that nobody has seen. Leave this setting to each user.",
    ),
    (
        "settings/rules",
        "The commands run outside the sandbox, and nobody is asked. Leave such rules to each user.",
    ),
    (
        "settings/stores",
        "A check with pins of the project's choice answers what the project wants. Start plugward without the variable.",
    ),
];
