//! The hosts whose records are read.

use core::str::FromStr;

use crate::collector::{Collector, join, path_of, shown};
use crate::table::row_of;
use crate::{HostInventory, Machine, ReadFault, claude, codex, directory_hosts, gemini, named};

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

/// The variables that name the home directories of hosts, or the files of Gemini CLI's administrator.
pub(crate) const HOME_VARIABLES: &[&str] = &[
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "COPILOT_HOME",
    "GEMINI_CLI_HOME",
    "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
    "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
    "KIMI_CODE_HOME",
    "XDG_CONFIG_HOME",
];

/// The name of a host is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown host")]
#[non_exhaustive]
pub struct UnknownHost;

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
    let home = |variable: &str, default: &str| {
        path_of(machine, variable).unwrap_or_else(|| join(machine.home, default))
    };
    let (home, read): (String, fn(&mut Collector<'_>)) = match host {
        KnownHost::Claude => (home("CLAUDE_CONFIG_DIR", ".claude"), claude::read),
        KnownHost::Codex => (home("CODEX_HOME", ".codex"), codex::read),
        // The variable names the directory that contains the home.
        KnownHost::Gemini => (join(&home("GEMINI_CLI_HOME", ""), ".gemini"), gemini::read),
        KnownHost::Copilot => (home("COPILOT_HOME", ".copilot"), directory_hosts::read_copilot),
        KnownHost::Cursor => (join(machine.home, ".cursor"), directory_hosts::read_cursor),
        KnownHost::Grok => (join(machine.home, ".grok"), directory_hosts::read_grok),
        KnownHost::Gnoma => (join(&home("XDG_CONFIG_HOME", ".config"), "gnoma"), directory_hosts::read_gnoma),
        KnownHost::Vscode => (directory_hosts::vscode_home(machine), directory_hosts::report_vscode),
        KnownHost::Opencode => {
            (join(&home("XDG_CONFIG_HOME", ".config"), "opencode"), directory_hosts::report_opencode)
        }
        KnownHost::Kimi => (home("KIMI_CODE_HOME", ".kimi-code"), directory_hosts::report_kimi),
    };
    let (row, fault) = row_of(host.as_str());
    let mut found = Collector::new(machine, name, home, row);
    if let Some(message) = fault {
        found.fault("hosts.toml", "", ReadFault::new(message, "build plugward again"));
    }
    if let Some((variable, value)) = unclear_home(host, machine) {
        let message = format!("{variable} is `{}`, expected an absolute path", shown(value));
        let fault = ReadFault::new(message, "correct or unset the variable");
        found.fault(&format!("${variable}"), "", fault);
    }
    read(&mut found);
    named::report(&mut found);
    let is_unread = matches!(host, KnownHost::Vscode | KnownHost::Opencode | KnownHost::Kimi);
    // A home of an unread host says nothing: such programs are often installed without any plugin.
    let has_any =
        |inventory: &HostInventory| !inventory.problems.is_empty() || !inventory.installs.is_empty();
    found.finish().filter(|inventory| !is_unread || has_any(inventory))
}

/// Returns the variable and value that leave open which home the host uses: it takes `~` literally, and resolves other
/// paths against its own working directory.
fn unclear_home<'m>(host: KnownHost, machine: &Machine<'m>) -> Option<(&'static str, &'m str)> {
    let variable = match host {
        KnownHost::Claude => "CLAUDE_CONFIG_DIR",
        KnownHost::Codex => "CODEX_HOME",
        KnownHost::Gemini => "GEMINI_CLI_HOME",
        _ => return None,
    };
    let value = machine.environment.get(variable)?;
    // For the others, an empty value is the same as none.
    let is_unset = value.is_empty() && host != KnownHost::Claude;
    (!is_unset && !value.starts_with('/')).then_some((variable, value.as_str()))
}
