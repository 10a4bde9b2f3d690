//! Whose manifest format it is, and what each of them knows.

use core::fmt;

/// Whose manifest format a plugin uses.
///
/// # Guarantees
/// The order is that of the table in the front page; several dialects in one folder are reported in it.
///
/// # Source
/// `design/manifest.md`, 2.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new dialect must stop every host from building")]
pub enum Dialect {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Cursor; through the claude adapter with its own defaults.
    Cursor,
    /// Kimi; through the claude adapter with its own defaults.
    Kimi,
    /// Grok; through the claude adapter with its own defaults.
    Grok,
    /// Gemini CLI.
    Gemini,
    /// HyperAgent.
    Hyperagent,
    /// gnoma.
    Gnoma,
    /// An entry of a JP registry; it has no folder.
    Jp,
}

/// What a relative path in a command means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a command starts in one of the two")]
pub enum Relative {
    /// A file of the plugin.
    Root,
    /// A file of the folder that the host happens to work in.
    WorkingDirectory,
}

/// The main file of each dialect that has one, relative to the plugin's folder: what makes a folder a plugin's root.
///
/// A root `plugin.json` is `hyperagent` or `gnoma` by its contents, or of no dialect; see [`crate::classify`].
/// A folder without any of these is no plugin, unless a marketplace entry or the caller says so. The folders that the
/// table itself names (`.claude-plugin` and its like) are no plugins of their own, though a `plugin.json` lies in them.
pub const MAIN_FILES: &[(Dialect, &str)] = &[
    (Dialect::Claude, ".claude-plugin/plugin.json"),
    (Dialect::Codex, ".codex-plugin/plugin.json"),
    (Dialect::Cursor, ".cursor-plugin/plugin.json"),
    (Dialect::Kimi, ".kimi-plugin/plugin.json"),
    (Dialect::Grok, ".grok-plugin/plugin.json"),
    (Dialect::Gemini, "gemini-extension.json"),
    (Dialect::Hyperagent, "plugin.json"),
    (Dialect::Gnoma, "plugin.json"),
];

/// The marketplace files that a folder of plugins may have, with the dialect of their entries.
pub const MARKET_FILES: &[(Dialect, &str)] = &[
    (Dialect::Claude, ".claude-plugin/marketplace.json"),
    (Dialect::Codex, ".agents/plugins/marketplace.json"),
    (Dialect::Cursor, ".cursor-plugin/marketplace.json"),
    (Dialect::Grok, ".grok-plugin/marketplace.json"),
    (Dialect::Claude, "marketplace.json"),
];

impl Dialect {
    /// Every dialect, in the order of the table.
    pub const ALL: [Self; 9] = [
        Self::Claude,
        Self::Codex,
        Self::Cursor,
        Self::Kimi,
        Self::Grok,
        Self::Gemini,
        Self::Hyperagent,
        Self::Gnoma,
        Self::Jp,
    ];

    /// Gives the word that ids and reports use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Kimi => "kimi",
            Self::Grok => "grok",
            Self::Gemini => "gemini",
            Self::Hyperagent => "hyperagent",
            Self::Gnoma => "gnoma",
            Self::Jp => "jp",
        }
    }

    /// Reads the word that ids and reports use.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.as_str() == word)
    }

    /// Gives the main file, relative to the plugin's folder; a registry entry has none.
    #[must_use]
    pub fn main_file(self) -> Option<&'static str> {
        MAIN_FILES.iter().find(|(dialect, _)| *dialect == self).map(|(_, file)| *file)
    }

    /// Gives the names of the variables that stand for the plugin's folder.
    #[must_use]
    pub const fn root_variables(self) -> &'static [&'static str] {
        match self {
            Self::Claude | Self::Kimi | Self::Grok => &["CLAUDE_PLUGIN_ROOT"],
            Self::Codex => &["PLUGIN_ROOT", "CODEX_PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"],
            Self::Cursor => &["CURSOR_PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"],
            Self::Gemini => &["extensionPath"],
            Self::Hyperagent | Self::Gnoma | Self::Jp => &[],
        }
    }

    /// Says what a relative path in a command means.
    #[must_use]
    pub const fn relative(self) -> Relative {
        match self {
            Self::Claude | Self::Gemini | Self::Jp | Self::Hyperagent => Relative::WorkingDirectory,
            Self::Codex | Self::Cursor | Self::Kimi | Self::Grok | Self::Gnoma => Relative::Root,
        }
    }

    /// Names the adapter that reads it, where that is not its own.
    #[must_use]
    pub const fn adapter(self) -> Self {
        match self {
            Self::Cursor | Self::Kimi | Self::Grok => Self::Claude,
            own => own,
        }
    }

    /// Gives the hook events that the host documents; empty where it has no hooks.
    #[must_use]
    pub const fn events(self) -> &'static [&'static str] {
        match self {
            Self::Claude | Self::Kimi | Self::Grok => CLAUDE_EVENTS,
            Self::Codex => CODEX_EVENTS,
            Self::Cursor => CURSOR_EVENTS,
            Self::Gemini => GEMINI_EVENTS,
            Self::Gnoma => GNOMA_EVENTS,
            Self::Hyperagent | Self::Jp => &[],
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

const CLAUDE_EVENTS: &[&str] = &[
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "InstructionsLoaded",
    "MessageDisplay",
    "Notification",
    "PermissionDenied",
    "PermissionRequest",
    "PostCompact",
    "PostModelSwitch",
    "PostToolBatch",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "PreModelSwitch",
    "PreToolUse",
    "SessionEnd",
    "SessionStart",
    "Setup",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "UserPromptExpansion",
    "UserPromptSubmit",
    "WorktreeCreate",
    "WorktreeRemove",
];

const CODEX_EVENTS: &[&str] = &[
    "Interrupt",
    "PermissionRequest",
    "PostCompact",
    "PostToolUse",
    "PreCompact",
    "PreToolUse",
    "SessionEnd",
    "SessionStart",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "UserPromptSubmit",
];

const CURSOR_EVENTS: &[&str] = &[
    "afterAgentResponse",
    "afterAgentThought",
    "afterFileEdit",
    "afterMCPExecution",
    "afterShellExecution",
    "afterTabFileEdit",
    "beforeMCPExecution",
    "beforeReadFile",
    "beforeShellExecution",
    "beforeSubmitPrompt",
    "beforeTabFileRead",
    "postToolUse",
    "postToolUseFailure",
    "preCompact",
    "preToolUse",
    "sessionEnd",
    "sessionStart",
    "stop",
    "subagentStart",
    "subagentStop",
];

const GEMINI_EVENTS: &[&str] = &[
    "AfterAgent",
    "AfterModel",
    "AfterTool",
    "BeforeAgent",
    "BeforeModel",
    "BeforeTool",
    "BeforeToolSelection",
    "Notification",
    "PreCompress",
    "SessionEnd",
    "SessionStart",
];

const GNOMA_EVENTS: &[&str] =
    &["post_tool_use", "pre_compact", "pre_tool_use", "session_end", "session_start", "stop"];
