//! Events, their payloads, and the strict JSON parser for them.

pub(crate) mod call;
pub(crate) mod event;
pub(crate) mod payload;
pub(crate) mod strict;
