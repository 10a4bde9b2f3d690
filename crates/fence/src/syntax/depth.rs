//! Bounds the nesting of tokens, before any recursive code runs over them.
//!
//! syn parses recursively, and so do the visitors. Without a limit a file of some thousand brackets, operators or `else if`s
//! would exhaust the stack and abort the process.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "counters of tokens in a file of at most a few megabytes cannot overflow"
)]

use proc_macro2::{Delimiter, Span};
use syn::buffer::Cursor;

/// The limit of nested groups.
pub(crate) const MAX_NESTED: u32 = 1_024;
/// The limit of nested groups plus chained tokens on one path down the tree.
pub(crate) const MAX_CHAIN: u32 = 4_000;

pub(crate) fn too_deep(what: &str) -> String {
    format!("more than {MAX_NESTED} {what}")
}

/// Whether a group's tokens are parsed as code, or are the tokens of a macro call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Code,
    Macro,
}

/// The pending work of the depth check: tokens, their cost and the number of groups around them.
struct Pending<'a> {
    cursor: Cursor<'a>,
    base: u32,
    depth: u32,
    level: Level,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    Start,
    /// `;` and `,`.
    Separator,
    Brace,
    Group,
    /// `else` and `as`, which continue an expression after a brace.
    Link,
    Word,
    Operator(char),
    Other,
}

/// Keywords that may precede `!` without naming a macro.
const KEYWORDS: &str = "return break in if while match mut move yield await let loop unsafe const static async where \
                        dyn impl ref box for continue become";

/// Checks that no path down the tree is too long for recursion, counting groups and chains without groups.
///
/// Returns the longest path. For the tokens of a macro call only groups count: they are flat until code
/// parses them, and that code checks them again.
pub(crate) fn check_depth(start: Cursor<'_>) -> Result<u32, (Span, String)> {
    let mut worst = 0;
    let mut stack = vec![Pending { cursor: start, base: 0, depth: 0, level: Level::Code }];
    while let Some(pending) = stack.pop() {
        // Everything in one run of tokens may be one expression. The groups of a run are nested in it.
        let (mut cost, mut begun) = (0, false);
        let mut groups: Vec<(Cursor<'_>, Level)> = Vec::new();
        let mut before = [TokenKind::Start; 2];
        let mut cursor = pending.cursor;
        loop {
            let (kind, inner, next) = classify(cursor);
            if cursor.eof() || ends_run(before[1], kind) {
                let whole = if pending.level == Level::Code { pending.base + cost } else { 0 };
                if whole > MAX_CHAIN {
                    let what = format!("an expression of more than {MAX_CHAIN} chained parts");
                    return Err((cursor.span(), what));
                }
                if pending.depth >= MAX_NESTED && !groups.is_empty() {
                    return Err((cursor.span(), too_deep("nested groups")));
                }
                worst = worst.max(whole);
                let depth = pending.depth + 1;
                stack.extend(groups.drain(..).map(|(cursor, level)| Pending {
                    cursor,
                    base: whole,
                    depth,
                    level,
                }));
                (cost, begun) = (0, false);
            }
            if cursor.eof() {
                break;
            }
            if begun || !is_attribute(kind, before) {
                begun = true;
                cost += 1;
            }
            if let Some(inner) = inner {
                let called = before == [TokenKind::Word, TokenKind::Operator('!')]
                    || before == [TokenKind::Operator('!'), TokenKind::Word];
                groups.push((inner, if called { Level::Macro } else { pending.level }));
            }
            cursor = next;
            before = [before[1], kind];
        }
    }
    Ok(worst)
}

fn classify(cursor: Cursor<'_>) -> (TokenKind, Option<Cursor<'_>>, Cursor<'_>) {
    if let Some((inner, delimiter, _, next)) = cursor.any_group() {
        let kind = if delimiter == Delimiter::Brace { TokenKind::Brace } else { TokenKind::Group };
        return (kind, Some(inner), next);
    }
    if let Some((punct, next)) = cursor.punct() {
        let one = punct.as_char();
        let separates = matches!(one, ';' | ',');
        return (if separates { TokenKind::Separator } else { TokenKind::Operator(one) }, None, next);
    }
    if let Some((ident, next)) = cursor.ident() {
        let kind = if ident == "else" || ident == "as" {
            TokenKind::Link
        } else if KEYWORDS.split(' ').any(|word| ident == word) {
            TokenKind::Other
        } else {
            TokenKind::Word
        };
        return (kind, None, next);
    }
    let next = cursor.literal().map(|(_, next)| next).or_else(|| cursor.lifetime().map(|(_, next)| next));
    let next = next.or_else(|| cursor.token_tree().map(|(_, next)| next));
    (TokenKind::Other, None, next.unwrap_or(cursor))
}

/// Skips `#`, `#!` and the group after them. Attributes form a list, however long, and each line of
/// documentation is one of them.
fn is_attribute(kind: TokenKind, before: [TokenKind; 2]) -> bool {
    let hash = TokenKind::Operator('#');
    match kind {
        TokenKind::Operator('#') => true,
        TokenKind::Operator('!') => before[1] == hash,
        TokenKind::Group => before[1] == hash || before == [hash, TokenKind::Operator('!')],
        _ => false,
    }
}

/// Ends a run of tokens at a separator, or at a brace that no expression continues after.
fn ends_run(previous: TokenKind, now: TokenKind) -> bool {
    match (previous, now) {
        (TokenKind::Separator, _) | (TokenKind::Brace, TokenKind::Operator('#' | '\'')) => true,
        (TokenKind::Brace, TokenKind::Link | TokenKind::Operator(_)) => false,
        (TokenKind::Brace, _) => true,
        _ => false,
    }
}
