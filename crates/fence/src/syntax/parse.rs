//! Parses bytes into a syntax tree, with limits that are checked before any recursive code runs.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "lines and levels of a file with a size limit cannot overflow"
)]

use std::borrow::Cow;

use plugward_types::{LineColumn, LineEnds, LineIndex, Part};
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};

use crate::syntax::depth::{MAX_NESTED, check_depth, too_deep};

/// The largest file that is parsed.
pub(crate) const MAX_BYTES: usize = 32 << 20;
/// With fewer opening brackets than this, nesting cannot exhaust the stack of a worker, and no check is
/// needed.
const FEW_GROUPS: usize = 24_000;

/// The reason why a file has no syntax tree. Line and column start at 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unparsed {
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) what: String,
}

/// Returns line and column of a span's start, both from 1.
pub(crate) fn start(span: Span) -> (u32, u32) {
    (clamp(span.start().line), clamp(span.start().column + 1))
}

/// Returns line and column after a span's end, both from 1.
pub(crate) fn end(span: Span) -> (u32, u32) {
    (clamp(span.end().line), clamp(span.end().column + 1))
}

fn clamp(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

fn at(span: Span, what: impl Into<String>) -> Unparsed {
    let (line, column) = start(span);
    Unparsed { line, column, what: what.into() }
}

/// Parses one file. The spans are valid until the thread's next [`forget_spans`].
pub(crate) fn parse(bytes: &[u8]) -> Result<syn::File, Unparsed> {
    let module = |input: ParseStream<'_>| {
        check_depth(input.cursor()).map_err(|(span, what)| syn::Error::new(span, what))?;
        input.parse::<syn::File>()
    };
    Parser::parse2(module, tokens(bytes)?).map_err(|error| at(error.span(), error.to_string()))
}

pub(crate) fn tokens(bytes: &[u8]) -> Result<TokenStream, Unparsed> {
    let text = text(bytes)?;
    let tokens: TokenStream =
        text.parse().map_err(|error: proc_macro2::LexError| at(error.span(), "not a Rust token"))?;
    // Counting bytes is much cheaper than walking the tokens, and almost every file is below the limit.
    if bytes.iter().filter(|byte| matches!(byte, b'(' | b'[' | b'{')).count() > FEW_GROUPS {
        nested(tokens.clone())?;
    }
    Ok(tokens)
}

/// Drops the text that spans point to. No span made before may be used afterwards.
pub(crate) fn forget_spans() {
    proc_macro2::extra::invalidate_current_thread_spans();
}

fn text(bytes: &[u8]) -> Result<Cow<'_, str>, Unparsed> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let LineColumn { line, column } =
            LineIndex::new(bytes, LineEnds::Lf).line_column(error.valid_up_to());
        Unparsed { line, column, what: "the file is not UTF-8".to_owned() }
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // `#!` starts a shebang line unless the next token is `[`.
    if text.strip_prefix("#!").is_some_and(|rest| !rest.trim_start().starts_with('[')) {
        // The replacement has the same length, so that all positions stay the same.
        return Ok(Cow::Owned(format!("//{}", text.part(2..))));
    }
    Ok(Cow::Borrowed(text))
}

/// Checks nesting without recursion, for files with enough brackets to matter.
fn nested(tokens: TokenStream) -> Result<(), Unparsed> {
    let mut stack = vec![(tokens, 0_u32)];
    while let Some((stream, depth)) = stack.pop() {
        for token in stream {
            if let TokenTree::Group(group) = token {
                if depth >= MAX_NESTED {
                    return Err(at(group.span_open(), too_deep("nested groups")));
                }
                stack.push((group.stream(), depth + 1));
            }
        }
    }
    Ok(())
}
