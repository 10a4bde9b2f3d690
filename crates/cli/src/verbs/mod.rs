//! One module for each verb, and the helpers that they share.

pub(crate) mod check;
pub(crate) mod codes;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod decide;
pub(crate) mod diff;
pub(crate) mod digest;
pub(crate) mod explain;
pub(crate) mod gate;
pub(crate) mod hook;
pub(crate) mod info;
pub(crate) mod install;
pub(crate) mod ledger;
pub(crate) mod list;
pub(crate) mod lock;
pub(crate) mod pin;
pub(crate) mod redact;
pub(crate) mod registry;
pub(crate) mod review;
pub(crate) mod run;
pub(crate) mod scan;
pub(crate) mod select;
pub(crate) mod session;
pub(crate) mod shared;
pub(crate) mod suppress;
pub(crate) mod which;
