//! Tests through the public API.
#![expect(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    reason = "tests write workspaces to temporary directories and count lines"
)]

mod blind;
mod codes;
mod command;
mod consumer;
mod deep;
mod hostile;
mod marked;
mod memory;
mod routes;
