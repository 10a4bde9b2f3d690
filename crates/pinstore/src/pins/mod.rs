//! Pins: what they contain, how plugins are compared with them, and how they change.

pub(crate) mod change;
pub(crate) mod check;
pub(crate) mod decide;
pub(crate) mod facts;
pub(crate) mod load;
pub(crate) mod pin;
pub(crate) mod reviewed;
pub(crate) mod store;
