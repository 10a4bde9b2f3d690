//! Lists of known names and hosts: credentials, installers, indexes, modules, services.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

pub(crate) mod calls;
pub(crate) mod credentials;
pub(crate) mod downloads;
pub(crate) mod hosts;
pub(crate) mod modules;
pub(crate) mod ordinary;
pub(crate) mod servers;
