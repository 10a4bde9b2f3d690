//! JavaScript and TypeScript.

mod escape;
mod keyword;
mod parse;
mod scan;
mod token;
mod types;
mod view;

pub use escape::decode_text;

use crate::reading::Reading;

/// Whether a file has types, which are erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the grammar has types or does not")]
pub enum JsTypes {
    /// JavaScript.
    None,
    /// TypeScript.
    Erased,
}

/// Whether a file may have tags of JSX.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the grammar has tags or does not")]
pub enum JsxTags {
    /// `<` is an operator.
    None,
    /// `<` starts a tag where an operand may start.
    Read,
}

/// What `<!--` and `-->` are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a file is a module or a script")]
pub enum HtmlComments {
    /// Operators, as in modules.
    Code,
    /// Starts of comments, as in scripts.
    Comment,
}

/// The grammar of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct JsOptions {
    /// Whether it has types.
    pub types: JsTypes,
    /// Whether it may have tags.
    pub jsx: JsxTags,
    /// What `<!--` and `-->` are. A file in which they occur is to be read both ways.
    pub html_comments: HtmlComments,
    /// How deeply brackets may be nested.
    pub depth: usize,
}

/// Brackets in real programs are nested less deeply.
const DEPTH: usize = 4096;

impl JsOptions {
    /// Returns the grammar of a file by its file extension.
    #[must_use]
    pub fn for_path(path: &str) -> Self {
        let extension = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        let (types, jsx) = match extension.as_str() {
            "ts" | "mts" | "cts" => (JsTypes::Erased, JsxTags::None),
            "tsx" => (JsTypes::Erased, JsxTags::Read),
            "mjs" | "cjs" => (JsTypes::None, JsxTags::None),
            _ => (JsTypes::None, JsxTags::Read),
        };
        Self { types, jsx, html_comments: HtmlComments::Code, depth: DEPTH }
    }
}

/// Offsets have 32 bits.
const MOST: usize = u32::MAX as usize - 1;

/// Reads a file.
#[must_use]
pub fn read(source: &[u8], options: JsOptions) -> Reading {
    let source = source.get(..MOST).unwrap_or(source);
    let scanned = scan::Scanner::new(source, options).run();
    let parsed = parse::Parser::new(source, &scanned.toks, options).run();
    let code = view::code(source, &scanned.toks);
    let pieces = view::pieces(&scanned);
    let stopped = match (scanned.stopped, parsed.stopped) {
        (Some(scanned), Some(parsed)) => Some(scanned.min(parsed)),
        (scanned, parsed) => scanned.or(parsed),
    };
    let scan::Scanned { toks, unsure, has_html_comments, .. } = scanned;
    // Names are resolved when the tokens are gone, which bounds the memory of a large file.
    drop(toks);
    let program = parsed.builder.finish();
    Reading { program, code, pieces, unsure, has_html_comments, stopped }
}
