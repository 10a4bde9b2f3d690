//! Tests of the reader at the edge of the crate.

mod commands;
mod limits;
mod properties;
mod support;
