//! Tests of the reader at the edge of the crate.

mod commands;
mod inner;
mod limits;
mod options;
mod properties;
mod recipes;
mod support;
