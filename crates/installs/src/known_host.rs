//! The hosts whose records are read.

use core::fmt;
use core::str::FromStr;

use crate::collector::{Collector, home_of, join};
use crate::{HostInventory, Machine, claude, codex, directory_hosts, gemini};

macro_rules! hosts {
    ($($variant:ident $name:literal $title:literal,)*) => {
        /// A host whose places of plugins are known.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum KnownHost {
            $(#[doc = concat!($title, ".")] $variant,)*
        }

        /// All known hosts, in the order in which they are checked.
        pub const HOSTS: &[KnownHost] = &[$(KnownHost::$variant,)*];

        impl KnownHost {
            /// Returns the name in keys, such as `claude`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the name of the product.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }
        }
    };
}

hosts! {
    Claude "claude" "Claude Code",
    Codex "codex" "Codex",
    Gemini "gemini" "Gemini CLI",
    Copilot "copilot" "GitHub Copilot CLI",
    Cursor "cursor" "Cursor",
    Grok "grok" "Grok CLI",
    Gnoma "gnoma" "gnoma",
    Vscode "vscode" "Visual Studio Code",
    Opencode "opencode" "opencode",
    Kimi "kimi" "Kimi Code",
}

/// The name of a host is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown host")]
#[non_exhaustive]
pub struct UnknownHost;

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
    let home = |variable: &str, default: &str| home_of(machine, variable, default);
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
