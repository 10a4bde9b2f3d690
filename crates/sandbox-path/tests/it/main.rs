//! The jail against folders that hold every kind of thing.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests build folders by ordinary means and stop at the first surprise"
)]

mod reading;
mod world;
