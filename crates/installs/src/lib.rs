#![doc = include_str!("../README.md")]

mod claude;
mod codex;
mod collector;
mod directory_hosts;
mod gemini;
mod install;
mod known_host;
mod loose;
mod machine;
mod mask;
mod parts;
mod source_file;
mod trust_roots;

pub use install::{
    HostInventory, HostState, HostSwitch, Install, InstallContents, InstallKind, InstallLayer, InstallPart,
    InstallProblem, InstallProblemKind, RecordPlace,
};
pub use known_host::{HOSTS, KnownHost, UnknownHost, read_host};
pub use machine::{EntryKind, HostEntry, HostFiles, Machine, ReadFault};
pub use trust_roots::{TRUST_ROOT_FILES, TrustRoot, trust_roots};
