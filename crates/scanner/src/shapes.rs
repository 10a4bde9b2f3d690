//! Detectors that a rule file names with `kind = "shape"`.

/// Every detector of this version.
pub(crate) const SHAPES: &[&str] = &[
    "coverage-finding-cap",
    "coverage-no-lens",
    "coverage-unscanned",
    "evasion-encoding",
    "evasion-invalid-utf8",
    "evasion-name-mismatch",
    "opaque-archive",
    "opaque-bytecode",
    "opaque-document",
    "opaque-native",
    "opaque-unknown",
    "opaque-wasm",
];
