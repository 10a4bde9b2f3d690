#![doc = include_str!("../README.md")]

mod claude;
mod codex;
mod collector;
mod dotenv;
mod finding;
mod gemini;
mod install;
mod json5;
mod judge;
mod known_host;
mod loose;
mod machine;
mod mask;
mod named;
mod parts;
mod pattern;
mod places;
mod readers;
mod shapes;
mod source_file;
mod table;
mod trust_roots;
mod yaml;

pub use dotenv::{FileVariable, file_variables};
pub use finding::{FindingScope, SETTINGS_RULES, SettingsFinding};
pub use install::{
    HostInventory, HostState, HostSwitch, Install, InstallContents, InstallKind, InstallLayer, InstallPart,
    InstallProblem, InstallProblemKind, RecordPlace, SettingsParts,
};
pub use judge::DEPENDENCY_PROGRAMS;
pub use known_host::{KnownHost, UnknownHost, read_host};
pub use machine::{EntryKind, HostEntry, HostFiles, Machine, ReadFault};
pub use plugward_types as types;
pub use source_file::blank_extensions;
pub use table::{
    Evidence, FileFormat, HookPlace, HookShape, HostHome, HostRow, HostRowError, HostTable, PartEffect,
    PartPlace, RepositoryTrust, ServerPlace, ServerShape, project_directory_names,
};
pub use trust_roots::{TrustRoot, trust_root_files, trust_roots};
pub use yaml::normalized as yaml_as_json;
