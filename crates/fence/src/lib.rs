#![doc = include_str!("../README.md")]

mod allow;
mod cfg;
mod check;
mod collect;
mod command;
mod config;
mod disk;
mod error;
mod fence;
mod inventory;
mod macros;
mod manifest;
mod marks;
mod parse;
mod render;
mod report;
mod resolve;
mod rule;
mod run;
mod sarif;
mod selftest;
mod sources;
mod ty;
mod watch;
mod words;
mod workspace;
mod world;

pub use command::{Streams, command};
pub use config::{Allow, Config, Race, Restricted, day_of};
pub use error::{CODES, FenceError, FenceErrorKind};
pub use fence::Fence;
pub use render::Format;
pub use report::{Finding, Report, Site, Summary, Undecided};
pub use rule::{BLIND_SPOTS, Rule};
pub use run::check;
pub use sources::{DependencyKind, PackageSpec, Sources};
