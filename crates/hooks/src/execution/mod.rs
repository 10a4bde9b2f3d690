//! Running the hooks of an event.

pub(crate) mod command;
pub(crate) mod dispatch;
pub(crate) mod environment;
pub(crate) mod judge;
pub(crate) mod local;
pub(crate) mod services;
