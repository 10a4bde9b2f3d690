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

/// The limit of nested groups, open `<` and prefix operators.
pub(crate) const MAX_NESTED: u32 = 1_024;
/// The limit of nested groups plus chained operators on one path down the tree.
pub(crate) const MAX_CHAIN: u32 = 6_000;

pub(crate) fn too_deep(what: &str) -> String {
    format!("more than {MAX_NESTED} {what}")
}

/// One run of tokens at one level, between separators.
#[derive(Default)]
struct TokenRun<'a> {
    cost: u32,
    prefix: u32,
    open: u32,
    /// `true` after the first token that is not an attribute or comment.
    begun: bool,
    groups: Vec<(Cursor<'a>, Level)>,
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

/// Checks that no path down the tree is too long for recursion, counting groups and chains without groups.
///
/// Returns the longest path. For the tokens of a macro call only groups count: they are flat until code
/// parses them, and that code checks them again.
pub(crate) fn check_depth(start: Cursor<'_>) -> Result<u32, (Span, String)> {
    let mut worst = 0;
    let mut stack = vec![Pending { cursor: start, base: 0, depth: 0, level: Level::Code }];
    while let Some(pending) = stack.pop() {
        let mut run = TokenRun::default();
        let mut before = [TokenKind::Start; 2];
        let mut cursor = pending.cursor;
        while !cursor.eof() {
            let (kind, next) = classify(cursor, pending.level, before);
            if ends_run(before[1], kind) {
                worst = worst.max(close(&mut run, &pending, cursor.span(), &mut stack)?);
            }
            if run.begun || !is_attribute(kind, before) {
                run.begun = true;
                note(&mut run, kind, next);
            }
            if pending.level == Level::Code && run.prefix > MAX_NESTED {
                return Err((cursor.span(), too_deep("prefix operators in a row")));
            }
            if pending.level == Level::Code && run.open > MAX_NESTED {
                return Err((cursor.span(), too_deep("open `<`")));
            }
            cursor = next;
            before = [before[1], kind];
        }
        worst = worst.max(close(&mut run, &pending, cursor.span(), &mut stack)?);
    }
    Ok(worst)
}

#[derive(Clone, Copy)]
enum TokenKind<'a> {
    Start,
    Separator(char),
    Brace(Cursor<'a>, Level),
    Group(Cursor<'a>, Level),
    /// `else` and `as`, which continue an expression after a brace.
    Link,
    /// A keyword after which an operand may follow without brackets.
    Keyword,
    Word,
    Operator(char),
    Other,
}

/// Keywords that may precede `!` without naming a macro.
const KEYWORDS: &[&str] = &[
    "return", "break", "in", "if", "while", "match", "mut", "move", "yield", "await", "let", "loop",
    "unsafe", "const", "static", "async", "where", "dyn", "impl", "ref", "box", "for", "continue", "become",
];

fn classify<'a>(cursor: Cursor<'a>, level: Level, before: [TokenKind<'a>; 2]) -> (TokenKind<'a>, Cursor<'a>) {
    if let Some((inner, delimiter, _, next)) = cursor.any_group() {
        let called = matches!(
            before,
            [TokenKind::Word, TokenKind::Operator('!')] | [TokenKind::Operator('!'), TokenKind::Word]
        );
        let inside = if called { Level::Macro } else { level };
        let kind = if delimiter == Delimiter::Brace {
            TokenKind::Brace(inner, inside)
        } else {
            TokenKind::Group(inner, inside)
        };
        return (kind, next);
    }
    if let Some((punct, next)) = cursor.punct() {
        return match punct.as_char() {
            one @ (';' | ',') => (TokenKind::Separator(one), next),
            one => (TokenKind::Operator(one), next),
        };
    }
    if let Some((ident, next)) = cursor.ident() {
        let kind = if ident == "else" || ident == "as" {
            TokenKind::Link
        } else if KEYWORDS.iter().any(|word| ident == word) {
            TokenKind::Keyword
        } else {
            TokenKind::Word
        };
        return (kind, next);
    }
    let next = cursor.literal().map(|(_, next)| next).or_else(|| cursor.lifetime().map(|(_, next)| next));
    match next.or_else(|| cursor.token_tree().map(|(_, next)| next)) {
        Some(next) => (TokenKind::Other, next),
        None => (TokenKind::Other, cursor),
    }
}

/// Skips `#`, `#!` and the group after them. Attributes form a list, however long, and each line of
/// documentation is one of them.
fn is_attribute(kind: TokenKind<'_>, before: [TokenKind<'_>; 2]) -> bool {
    match kind {
        TokenKind::Operator('#') => true,
        TokenKind::Operator('!') => matches!(before[1], TokenKind::Operator('#')),
        TokenKind::Group(..) => {
            matches!(
                before,
                [_, TokenKind::Operator('#')] | [TokenKind::Operator('#'), TokenKind::Operator('!')]
            )
        }
        _ => false,
    }
}

fn note<'a>(run: &mut TokenRun<'a>, kind: TokenKind<'a>, next: Cursor<'a>) {
    run.cost += 1;
    match kind {
        TokenKind::Brace(inner, level) | TokenKind::Group(inner, level) => {
            run.prefix = 0;
            run.groups.push((inner, level));
        }
        TokenKind::Separator(one) => {
            run.prefix = 0;
            if one == ';' {
                run.open = 0;
            }
        }
        TokenKind::Operator(one) => {
            run.prefix += 1;
            match one {
                '<' if !is_number(next) => run.open += 1,
                '>' => run.open = run.open.saturating_sub(1),
                _ => {}
            }
        }
        // `return return …`, `move || move || …` and `&mut &mut …` nest without brackets as well.
        TokenKind::Keyword | TokenKind::Link => run.prefix += 1,
        TokenKind::Start | TokenKind::Word | TokenKind::Other => run.prefix = 0,
    }
}

/// `< 3` and `<< 3` open no generics, since nothing nests in a literal.
fn is_number(next: Cursor<'_>) -> bool {
    let shifted = next.punct().filter(|(punct, _)| punct.as_char() == '<').map(|(_, after)| after);
    next.literal().is_some() || shifted.is_some_and(|after| after.literal().is_some())
}

/// Ends a run of tokens at a separator, or at a brace that no expression continues after.
fn ends_run(previous: TokenKind<'_>, now: TokenKind<'_>) -> bool {
    match previous {
        TokenKind::Separator(_) => true,
        TokenKind::Brace(..) => match now {
            TokenKind::Link => false,
            TokenKind::Operator(operator) => operator == '#' || operator == '\'',
            _ => true,
        },
        _ => false,
    }
}

fn close<'a>(
    run: &mut TokenRun<'a>,
    around: &Pending<'a>,
    span: Span,
    stack: &mut Vec<Pending<'a>>,
) -> Result<u32, (Span, String)> {
    let cost = match around.level {
        Level::Code => around.base.saturating_add(run.cost),
        Level::Macro => 0,
    };
    if cost > MAX_CHAIN {
        return Err((span, format!("an expression of more than {MAX_CHAIN} chained parts")));
    }
    if around.depth >= MAX_NESTED && !run.groups.is_empty() {
        return Err((span, too_deep("nested groups")));
    }
    // An open `<` may continue after a comma, so the count outlives the run.
    let open = run.open;
    for (cursor, level) in run.groups.drain(..) {
        stack.push(Pending { cursor, base: cost, depth: around.depth + 1, level });
    }
    *run = TokenRun { open, ..TokenRun::default() };
    Ok(cost)
}
