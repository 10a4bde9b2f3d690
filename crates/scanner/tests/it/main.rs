//! The scanner through its public API.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

mod again;
mod cache;
mod cases;
mod common;
mod copies;
mod data;
mod disguise;
mod drops;
mod encoded;
mod evades;
mod gate;
mod given;
mod hyperagent;
#[cfg(feature = "render")]
mod identity;
mod internal;
mod invariant;
mod kinds;
mod mufflers;
mod named;
mod negation;
mod own;
mod prose;
mod py;
mod py_grown;
mod py_scopes;
#[cfg(feature = "render")]
mod render;
mod rs;
mod runs;
mod several;
mod sh;
#[cfg(feature = "render")]
mod snippet;
mod spans;
mod timers;
mod typed;
mod wrapped;
mod written;

use plugward_scanner::Rules;

#[test]
fn the_built_in_rules_load_and_hold() {
    let done = Rules::builtin().self_check().unwrap();
    assert_eq!(done.rules, Rules::builtin().iter().count());
}
