//! Lists of known names and hosts: credentials, installers, indexes, modules, services.

pub(crate) mod credentials;
pub(crate) mod downloads;
pub(crate) mod hosts;
pub(crate) mod modules;
pub(crate) mod servers;
