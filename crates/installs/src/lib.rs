#![doc = include_str!("../README.md")]

mod install;
mod machine;

pub use install::{
    HostInventory, HostState, HostSwitch, Install, InstallContents, InstallKind, InstallLayer, InstallPart,
    InstallProblem, InstallProblemKind, RecordPlace,
};
pub use machine::{EntryKind, HostEntry, HostFiles, Machine, ReadFault};
