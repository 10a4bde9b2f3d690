//! Views: what the rules read instead of the raw bytes, each with a map back to them.

pub(crate) use plugward_readers::{Obfuscations, Obfuscations as How, SourceMap as Map, View};
