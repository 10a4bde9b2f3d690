//! The state of a script: variables, functions, and text with its source map.

pub(super) mod flat;
pub(super) mod functions;
pub(super) mod variables;
