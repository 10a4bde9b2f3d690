//! One binary for all tests of the crate.
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests read their own fixtures")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod corpus;
mod seeds;
mod support;
