//! The supported manifest formats: one adapter per format, and the files, variables and events of each dialect.

pub(crate) mod agent_plugins;
pub(crate) mod claude;
pub(crate) mod codex;
mod detect;
mod events;
pub(crate) mod gemini;
pub(crate) mod gnoma;
pub(crate) mod hyperagent;
mod jp;
pub(crate) mod openclaw;
pub(crate) mod power;
pub(crate) mod skill;

use events::{CLAUDE_EVENTS, CODEX_EVENTS, COPILOT_EVENTS, CURSOR_EVENTS, GEMINI_EVENTS, GNOMA_EVENTS};

pub(crate) use detect::{PluginNaming, find_dialects_of, main_files};
pub use detect::{RootCheck, classify, find_dialects, is_skill};
pub use jp::read_jp_entry;

plugward_types::named! {
    /// The manifest format of one host.
    ///
    /// # Guarantees
    /// The order is that of the table on the front page. Several dialects in one directory are reported in this order.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[expect(clippy::exhaustive_enums, reason = "a new dialect must stop every host from building")]
    pub enum Dialect {
        /// Claude Code.
        Claude = "claude",
        /// Codex.
        Codex = "codex",
        /// Cursor, read by the Claude adapter with different defaults.
        Cursor = "cursor",
        /// Kimi, read by the Claude adapter with different defaults.
        Kimi = "kimi",
        /// Grok, read by the Claude adapter with different defaults.
        Grok = "grok",
        /// Gemini CLI.
        Gemini = "gemini",
        /// HyperAgent.
        Hyperagent = "hyperagent",
        /// gnoma.
        Gnoma = "gnoma",
        /// Agent Plugins, the open standard that several hosts read.
        AgentPlugins = "agent-plugins",
        /// GitHub Copilot, read by the Claude adapter with different defaults.
        Copilot = "copilot",
        /// A power of Kiro.
        Power = "power",
        /// OpenClaw.
        Openclaw = "openclaw",
        /// A skill without a plugin around it.
        Skill = "skill",
        /// An entry of a JP registry, which does not have a directory.
        Jp = "jp",
    }
}

/// The base of a relative path in a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a command starts in one of these two directories")]
pub enum RelativeBase {
    /// The plugin directory.
    Root,
    /// The directory that the host works in.
    WorkingDirectory,
}

/// The main files of each dialect, relative to the plugin directory.
///
/// A directory with one of these files is a plugin, and a dialect reads all of its main files. A `plugin.json` in the
/// root belongs to one or more dialects, or to none, depending on its contents; see [`crate::classify`]. A directory
/// without a main file is a plugin only if a marketplace entry or the caller names it, or if it is a skill.
/// `.claude-plugin` and the other directories of this table are not plugins themselves, although they contain a
/// `plugin.json`.
pub const MAIN_FILES: &[(Dialect, &str)] = &[
    (Dialect::Claude, ".claude-plugin/plugin.json"),
    (Dialect::Codex, ".codex-plugin/plugin.json"),
    (Dialect::Cursor, ".cursor-plugin/plugin.json"),
    (Dialect::Kimi, "kimi.plugin.json"),
    (Dialect::Kimi, ".kimi-plugin/plugin.json"),
    (Dialect::Grok, ".grok-plugin/plugin.json"),
    (Dialect::Gemini, "gemini-extension.json"),
    (Dialect::Gemini, "qwen-extension.json"),
    (Dialect::Gemini, ".antigravity-plugin/plugin.json"),
    (Dialect::Gemini, ".gemini-plugin/plugin.json"),
    (Dialect::Hyperagent, "plugin.json"),
    (Dialect::Gnoma, "plugin.json"),
    (Dialect::AgentPlugins, "plugin.json"),
    (Dialect::Copilot, ".plugin/plugin.json"),
    (Dialect::Copilot, "plugin.json"),
    (Dialect::Copilot, ".github/plugin/plugin.json"),
    (Dialect::Power, "POWER.md"),
    (Dialect::Openclaw, "openclaw.plugin.json"),
];

/// The marketplace files that a directory of plugins can contain, with the dialect of their entries.
pub const MARKETPLACE_FILES: &[(Dialect, &str)] = &[
    (Dialect::Claude, ".claude-plugin/marketplace.json"),
    (Dialect::Codex, ".agents/plugins/marketplace.json"),
    (Dialect::Cursor, ".cursor-plugin/marketplace.json"),
    (Dialect::Grok, ".grok-plugin/marketplace.json"),
    (Dialect::Claude, ".augment-plugin/marketplace.json"),
    (Dialect::Copilot, ".plugin/marketplace.json"),
    (Dialect::Copilot, ".github/plugin/marketplace.json"),
    (Dialect::Claude, "marketplace.json"),
];

impl Dialect {
    /// Returns the first main file, relative to the plugin directory; a skill and a registry entry do not have one.
    #[must_use]
    pub fn main_file(self) -> Option<&'static str> {
        self.main_files().next()
    }

    /// Returns the main files, relative to the plugin directory, in the order in which they take precedence.
    pub fn main_files(self) -> impl Iterator<Item = &'static str> {
        MAIN_FILES.iter().filter(move |(dialect, _)| *dialect == self).map(|(_, file)| *file)
    }

    /// Returns the variables that expand to the plugin directory.
    #[must_use]
    pub const fn root_variables(self) -> &'static [&'static str] {
        match self {
            Self::Claude | Self::Kimi | Self::Grok => &["CLAUDE_PLUGIN_ROOT"],
            // Codex and Cursor also set the variable of Claude Code, so that its plugins work unchanged.
            Self::Codex => &["PLUGIN_ROOT", "CODEX_PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"],
            Self::Cursor => &["CURSOR_PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"],
            Self::Gemini => &["extensionPath"],
            Self::AgentPlugins => &["PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"],
            Self::Copilot => &["PLUGIN_ROOT", "COPILOT_PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"],
            Self::Hyperagent | Self::Gnoma | Self::Power | Self::Openclaw | Self::Skill | Self::Jp => &[],
        }
    }

    /// Returns the base of relative paths in commands.
    #[must_use]
    pub const fn relative_base(self) -> RelativeBase {
        match self {
            Self::Claude
            | Self::Gemini
            | Self::Jp
            | Self::Hyperagent
            | Self::Copilot
            | Self::Power
            | Self::Skill => RelativeBase::WorkingDirectory,
            Self::Codex
            | Self::Cursor
            | Self::Kimi
            | Self::Grok
            | Self::Gnoma
            | Self::AgentPlugins
            | Self::Openclaw => RelativeBase::Root,
        }
    }

    /// Returns the dialect whose adapter reads this one, which is the dialect itself unless it shares an adapter.
    #[must_use]
    pub const fn adapter(self) -> Self {
        match self {
            Self::Cursor | Self::Kimi | Self::Grok | Self::Copilot => Self::Claude,
            own => own,
        }
    }

    /// Returns the hook events that the host documents; empty if the host does not have hooks.
    #[must_use]
    pub const fn events(self) -> &'static [&'static str] {
        match self {
            Self::Claude | Self::Kimi | Self::Grok | Self::AgentPlugins => CLAUDE_EVENTS,
            Self::Copilot => COPILOT_EVENTS,
            Self::Codex => CODEX_EVENTS,
            Self::Cursor => CURSOR_EVENTS,
            Self::Gemini => GEMINI_EVENTS,
            Self::Gnoma => GNOMA_EVENTS,
            Self::Hyperagent | Self::Power | Self::Openclaw | Self::Skill | Self::Jp => &[],
        }
    }
}
