//! What the crate promises, from outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops, and says where")]

mod adr003;
mod format;
mod support;
