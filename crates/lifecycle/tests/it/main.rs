//! The tests of this crate.

mod codes;
mod common;
mod hyperagent;
mod model;
mod schema;
mod ui;
mod values;
