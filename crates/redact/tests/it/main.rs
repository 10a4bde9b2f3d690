//! Redaction of whole texts, through the public API.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::format_collect,
    clippy::format_push_string,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests read their fixtures, build, count and slice small texts, say what they measured, and end at the first surprise"
)]

#[path = "../../benches/redact/plant.rs"]
mod plant;
#[path = "../../benches/redact/plant_encode.rs"]
mod plant_encode;

mod benign;
mod carriers;
mod chunks;
mod classes;
mod common;
mod corpus;
mod encodings;
mod errors;
mod evades;
mod find;
mod hostile;
#[cfg(feature = "json")]
mod json;
mod laundered;
mod provider;
mod rules;
mod settle;
mod ui;
