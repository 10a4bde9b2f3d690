#![doc = include_str!("../README.md")]

mod bundle;
mod command;
mod error;
mod hosts;
mod launch;
mod layer;
mod note;
mod options;
mod policy;
mod resolved;
mod table;
mod value;

pub use bundle::{BundleNames, BundleRule};
pub use command::{Checksum, ChecksumAlgorithm, CommandRules, RunRule};
pub use error::{SettingsError, SettingsFault, ValueOrigin};
pub use hosts::HostSetting;
pub use launch::{LaunchAccess, LaunchEnforcement};
pub use layer::{LayerKind, SettingsLayer};
pub use note::{CODES, SettingsNote};
pub use plugward_types as types;
pub use policy::TrustPolicy;
pub use resolved::{Contribution, ContributionFate, ResolvedSetting};
pub use table::{KeyError, SettingId, SettingKey};
pub use value::{PlacedText, SettingRow, SettingValue};
