//! Detectors that rule files select with `kind = "shape"`.

/// All detectors of this version.
pub(crate) const SHAPES: &[&str] = plugward_types::words![
    "config-build-hook config-duplicate-key config-hook-shell config-look-alike config-mcp-shell",
    "config-mcp-unpinned coverage-finding-cap coverage-no-lens coverage-unscanned credential-sweep evasion-code-in-text",
    "evasion-encoding unicode-zero-width-run evasion-invalid-utf8 evasion-line-separator",
    "evasion-name-mismatch evasion-source-encoding flow-credentials-sent flow-data-run flow-decode-run flow-download-run",
    "flow-hidden-sender flow-transcript-sent flow-undeclared-host flow-unpack-run js-child-process-value js-env-bulk js-loader-flag js-recursive-delete",
    "js-wasm-inline obf-hex-names obf-long-encoded obf-name-building obf-offscreen obf-symbol-only",
    "opaque-archive opaque-bytecode opaque-document opaque-native opaque-unknown opaque-wasm prompt-encoded",
    "py-env-bulk py-setup-code py-torch-load py-yaml-load rs-build-process rs-build-write",
    "sh-drop-run sh-drop-run-checked scan-partial sh-eval sh-fork-bomb shape unicode-bidi",
    "unicode-compat-letters unicode-confusable-identifier unicode-control unicode-invisible-letter",
    "unicode-mixed-script unicode-tags unicode-variation-run unicode-zero-width-code unicode-zero-width-word",
];
