//! The tests of this crate.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test has paths, and panics if it cannot continue"
)]

mod codes;
mod common;
mod hyperagent;
mod model;
mod schema;
mod ui;
mod values;
