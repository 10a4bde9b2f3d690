#![doc = include_str!("../README.md")]

mod command;
mod config;
mod input;
mod names;
mod report;
mod rules;
mod run;
mod selftest;
mod syntax;

pub use command::{Streams, command};
pub use config::{AllowEntry, FenceConfig, RaceConfig, RestrictedFunction, day_of};
pub use input::{DependencyKind, PackageSpec, Sources};
pub use report::error::{CODES, FenceError, FenceErrorKind};
pub use report::render::Format;
pub use report::{FenceReport, FenceSummary, LintFinding, Site, UndecidedReason};
pub use rules::{BLIND_SPOTS, LintRule};
pub use run::check;
pub use run::fence::Fence;
