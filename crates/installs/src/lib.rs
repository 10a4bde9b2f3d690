#![doc = include_str!("../README.md")]

mod claude;
mod codex;
mod collector;
mod directory_hosts;
mod dotenv;
mod finding;
mod gemini;
mod install;
mod judge;
mod known_host;
mod loose;
mod machine;
mod mask;
mod named;
mod parts;
mod source_file;
mod table;
mod trust_roots;

pub use dotenv::{FileVariable, file_variables};
pub use finding::{FindingScope, SETTINGS_RULES, SettingsFinding};
pub use install::{
    HostInventory, HostState, HostSwitch, Install, InstallContents, InstallKind, InstallLayer, InstallPart,
    InstallProblem, InstallProblemKind, RecordPlace, SettingsParts,
};
pub use known_host::{HOSTS, KnownHost, UnknownHost, read_host};
pub use machine::{EntryKind, HostEntry, HostFiles, Machine, ReadFault};
pub use plugward_types as types;
pub use table::{HostHome, HostRow, host_rows};
pub use trust_roots::{TRUST_ROOT_FILES, TrustRoot, trust_roots};
