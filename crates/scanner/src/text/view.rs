//! Normalized views that the rules read instead of the raw bytes, each with a source map.

pub(crate) use plugward_readers::{Obfuscations, SourceMap, View};
