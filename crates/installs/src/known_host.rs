//! The hosts whose records are read.

use core::fmt;
use core::str::FromStr;

use crate::collector::{Collector, join};
use crate::{HostInventory, Machine, claude, codex, directory_hosts, gemini};

/// A host whose places of plugins are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum KnownHost {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// GitHub Copilot CLI.
    Copilot,
    /// Cursor.
    Cursor,
    /// Grok CLI.
    Grok,
    /// gnoma.
    Gnoma,
    /// Visual Studio Code; known, but not read.
    Vscode,
    /// opencode; known, but not read.
    Opencode,
    /// Kimi Code; known, but not read.
    Kimi,
}

/// All known hosts, in the order in which they are checked.
pub const HOSTS: &[KnownHost] = &[
    KnownHost::Claude,
    KnownHost::Codex,
    KnownHost::Gemini,
    KnownHost::Copilot,
    KnownHost::Cursor,
    KnownHost::Grok,
    KnownHost::Gnoma,
    KnownHost::Vscode,
    KnownHost::Opencode,
    KnownHost::Kimi,
];

/// The name of a host is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown host")]
#[non_exhaustive]
pub struct UnknownHost;

impl KnownHost {
    /// Returns the name in keys, such as `claude`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Cursor => "cursor",
            Self::Grok => "grok",
            Self::Gnoma => "gnoma",
            Self::Vscode => "vscode",
            Self::Opencode => "opencode",
            Self::Kimi => "kimi",
        }
    }

    /// Returns the name of the product.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Copilot => "Copilot CLI",
            Self::Cursor => "Cursor",
            Self::Grok => "Grok CLI",
            Self::Gnoma => "gnoma",
            Self::Vscode => "VS Code",
            Self::Opencode => "opencode",
            Self::Kimi => "Kimi Code",
        }
    }
}

impl fmt::Display for KnownHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for KnownHost {
    type Err = UnknownHost;

    fn from_str(text: &str) -> Result<Self, UnknownHost> {
        HOSTS.iter().copied().find(|host| host.as_str() == text).ok_or(UnknownHost)
    }
}

/// Returns what a host would load in the project, or `None` if neither the machine nor the project has it.
///
/// # Guarantees
/// All decisions depend on the [`Machine`] only. A file that cannot be used is a problem in the result and never an
/// empty record; see [`InstallProblemKind::Unreadable`](crate::InstallProblemKind::Unreadable).
#[must_use]
pub fn read_host(host: KnownHost, machine: &Machine<'_>) -> Option<HostInventory> {
    let name = host.as_str().parse().ok()?;
    let home = |variable: &str, default: &str| Collector::home_of(machine, variable, default);
    let home = match host {
        KnownHost::Claude => home("CLAUDE_CONFIG_DIR", ".claude"),
        KnownHost::Codex => home("CODEX_HOME", ".codex"),
        // The variable names the directory that contains the home.
        KnownHost::Gemini => join(&home("GEMINI_CLI_HOME", ""), ".gemini"),
        KnownHost::Copilot => home("COPILOT_HOME", ".copilot"),
        KnownHost::Cursor => join(machine.home, ".cursor"),
        KnownHost::Grok => join(machine.home, ".grok"),
        KnownHost::Gnoma => join(&home("XDG_CONFIG_HOME", ".config"), "gnoma"),
        KnownHost::Vscode => directory_hosts::vscode_home(machine),
        KnownHost::Opencode => join(&home("XDG_CONFIG_HOME", ".config"), "opencode"),
        KnownHost::Kimi => home("KIMI_CODE_HOME", ".kimi-code"),
    };
    let mut found = Collector::new(machine, name, home);
    match host {
        KnownHost::Claude => claude::read(&mut found),
        KnownHost::Codex => codex::read(&mut found),
        KnownHost::Gemini => gemini::read(&mut found),
        KnownHost::Copilot => directory_hosts::read_copilot(&mut found),
        KnownHost::Cursor => directory_hosts::read_cursor(&mut found),
        KnownHost::Grok => directory_hosts::read_plain(&mut found, ".grok"),
        KnownHost::Gnoma => directory_hosts::read_plain(&mut found, ".gnoma"),
        KnownHost::Vscode | KnownHost::Opencode | KnownHost::Kimi => {
            directory_hosts::report_unread(&mut found, host);
            // A home without plugins says nothing: these programs are often installed without any.
            return found.finish().filter(|inventory| !inventory.problems.is_empty());
        }
    }
    found.finish()
}
