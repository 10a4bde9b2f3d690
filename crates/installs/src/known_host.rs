//! Reads a host: the places of its row, and its records.

use core::str::FromStr;

use crate::collector::{Collector, join, path_of, shown};
use crate::table::HostRow;
use crate::{HostInventory, Machine, ReadFault, claude, codex, gemini, named, places, readers};

macro_rules! hosts {
    ($($variant:ident $name:literal $title:literal $read:path,)*) => {
        /// A host with records that are read by code. The others have only a row in the table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum KnownHost {
            $(#[doc = concat!($title, ".")] $variant,)*
        }

        impl KnownHost {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name in the table.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            fn read(self, found: &mut Collector<'_>) {
                match self { $(Self::$variant => $read(found),)* }
            }
        }
    };
}

hosts! {
    Claude "claude" "Claude Code" claude::read,
    Codex "codex" "Codex" codex::read,
    Gemini "gemini" "Gemini CLI" gemini::read,
    Copilot "copilot" "GitHub Copilot CLI" readers::copilot::read,
    Vscode "vscode" "Visual Studio Code" readers::vscode::read,
    Cursor "cursor" "Cursor" readers::cursor::read,
    Opencode "opencode" "opencode" readers::opencode::read,
    Openclaw "openclaw" "OpenClaw" readers::openclaw::read,
    Pi "pi" "Pi" readers::pi::read,
    Qwen "qwen" "Qwen Code" readers::qwen::read,
    Kimi "kimi" "Kimi Code" readers::kimi::read,
    Droid "droid" "Factory Droid" readers::droid::read,
}

impl KnownHost {
    /// Returns `true` if the code reads all places of the row.
    const fn is_complete(self) -> bool {
        matches!(self, Self::Claude | Self::Codex | Self::Gemini)
    }
}

/// No code reads the records of a host with this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown host")]
#[non_exhaustive]
pub struct UnknownHost;

impl FromStr for KnownHost {
    type Err = UnknownHost;

    fn from_str(text: &str) -> Result<Self, UnknownHost> {
        Self::ALL.iter().copied().find(|host| host.as_str() == text).ok_or(UnknownHost)
    }
}

/// Returns what a host would load in the project, or `None` if neither the machine nor the project has it.
///
/// # Guarantees
/// All decisions depend on the row and the [`Machine`] only. A file that cannot be used is a problem in the result and
/// never an empty record; see [`InstallProblemKind::Unreadable`](crate::InstallProblemKind::Unreadable).
#[must_use]
pub fn read_host(row: &HostRow, machine: &Machine<'_>) -> Option<HostInventory> {
    let name = row.id.parse().ok()?;
    let mut found = Collector::new(machine, name, home_of(row, machine), row);
    if let Some((variable, value)) = unclear_home(row, machine) {
        let message = format!("{variable} is `{}`, expected an absolute path", shown(value));
        let fault = ReadFault::new(message, "correct or unset the variable");
        found.fault(&format!("${variable}"), "", fault);
    }
    let reader: Option<KnownHost> = row.reader.as_ref().and_then(|reader| reader.parse().ok());
    if !reader.is_some_and(KnownHost::is_complete) {
        places::read(&mut found, row);
    }
    if let Some(reader) = reader {
        reader.read(&mut found);
    }
    for added in &row.added {
        places::read(&mut found, added);
    }
    named::report(&mut found);
    found.finish()
}

/// Returns the home directory of a host.
fn home_of(row: &HostRow, machine: &Machine<'_>) -> String {
    let home = &row.home;
    let in_home = |path: &str| match path.strip_prefix("~/") {
        Some(rest) => join(machine.home, rest),
        None => path.to_owned(),
    };
    let moved = home.variable.as_deref().and_then(|variable| path_of(machine, variable));
    if let Some(moved) = moved.filter(|_| !is_ignored(home.variable.as_deref(), machine)) {
        return home.join.as_deref().map_or_else(|| moved.clone(), |rest| join(&moved, rest));
    }
    let mac = home.mac.as_deref().map(in_home);
    mac.filter(|mac| machine.files.kind(mac).is_some()).unwrap_or_else(|| in_home(&home.default))
}

/// Returns `true` for a relative path in a variable of which programs ignore relative paths, as its specification says.
fn is_ignored(variable: Option<&str>, machine: &Machine<'_>) -> bool {
    let value = variable.and_then(|variable| machine.environment.get(variable));
    variable == Some("XDG_CONFIG_HOME") && value.is_some_and(|value| !value.starts_with('/'))
}

/// Returns the variable and value that leave open which home the host uses: it takes `~` literally, and resolves other
/// paths against its own working directory.
fn unclear_home<'m>(row: &'m HostRow, machine: &Machine<'m>) -> Option<(&'m str, &'m str)> {
    let variable = row.home.variable.as_deref().filter(|name| !is_ignored(Some(name), machine))?;
    let value = machine.environment.get(variable)?;
    // For all others, an empty value is the same as none.
    let is_unset = value.is_empty() && row.id != "claude";
    (!is_unset && !value.starts_with('/')).then_some((variable, value.as_str()))
}
