//! A corpus of tool output with planted secrets, made from a seed. For benchmarks only.

mod corpus;
pub(crate) mod plant;
pub(crate) mod plant_encode;

pub use corpus::{Corpus, Place, corpus, found_lines};
