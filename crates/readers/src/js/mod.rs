//! JavaScript and TypeScript: a scanner for tokens, and a parser that builds a [`Program`](crate::Program).
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

mod escape;
mod keyword;
mod parse;
mod scan;
mod token;
mod types;
mod view;

pub use escape::decode_text;

use crate::reading::Reading;

/// Whether a file has types, which are erased before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the grammar has types or does not")]
pub enum JsTypes {
    /// JavaScript.
    None,
    /// TypeScript.
    Erased,
}

/// Whether a file may contain JSX tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the grammar has tags or does not")]
pub enum JsxTags {
    /// `<` is an operator.
    None,
    /// `<` starts a tag if an operand may start there.
    Read,
}

/// The meaning of `<!--` and `-->`.
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
    /// Whether the file has types.
    pub types: JsTypes,
    /// Whether the file may contain JSX tags.
    pub jsx: JsxTags,
    /// The meaning of `<!--` and `-->`. A file that contains them should be read both ways.
    pub html_comments: HtmlComments,
    /// The nesting limit for brackets.
    pub depth: usize,
}

/// The default nesting limit, which is far more than real programs use. It bounds the memory of the parser's
/// stacks.
const DEPTH: usize = 4096;

impl JsOptions {
    /// Returns the grammar for a file extension.
    #[must_use]
    pub fn for_path(path: &str) -> Self {
        let extension = path.rsplit('.').next().unwrap_or(path).to_ascii_lowercase();
        let (types, jsx) = match extension.as_str() {
            "ts" | "mts" | "cts" => (JsTypes::Erased, JsxTags::None),
            "tsx" => (JsTypes::Erased, JsxTags::Read),
            "mjs" | "cjs" => (JsTypes::None, JsxTags::None),
            _ => (JsTypes::None, JsxTags::Read),
        };
        Self { types, jsx, html_comments: HtmlComments::Code, depth: DEPTH }
    }
}

/// Offsets are stored in 32 bits.
const MOST: usize = u32::MAX as usize - 1;

/// Reads a JavaScript or TypeScript file.
///
/// Never fails: invalid code becomes unknown expressions. Bytes after the first 4 GiB are not read.
///
/// # Examples
///
/// ```
/// use plugward_readers::js::{JsOptions, read};
///
/// let reading = read(b"eval('1' + '2') // why", JsOptions::for_path("a.js"));
/// assert_eq!(reading.pieces.len(), 3); // Two strings and a comment.
/// ```
#[must_use]
pub fn read(source: &[u8], options: JsOptions) -> Reading {
    let source = source.get(..MOST).unwrap_or(source);
    let scanned = scan::Scanner::new(source, options).run();
    let parsed = parse::Parser::new(source, &scanned.tokens, options).run();
    let code = view::code(source, &scanned.tokens);
    let pieces = view::pieces(&scanned);
    let stopped = match (scanned.stopped, parsed.stopped) {
        (Some(scanned), Some(parsed)) => Some(scanned.min(parsed)),
        (scanned, parsed) => scanned.or(parsed),
    };
    let scan::Scanned { tokens, unsure, has_html_comments, .. } = scanned;
    // Names are resolved after the tokens are freed, which bounds the memory for large files.
    drop(tokens);
    let program = parsed.builder.finish();
    Reading { program, code, pieces, unsure, has_html_comments, stopped }
}
