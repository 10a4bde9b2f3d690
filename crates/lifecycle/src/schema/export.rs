//! Finds `export const NAME = …` in a source, without running it.

use super::lexer::TokenKind;
use super::literal::{Literal, LiteralReader};

/// Returns the literal that a source exports under a name, and the offsets and messages of what is wrong.
pub(crate) fn exported(source: &str, name: &str) -> (Option<Literal>, Vec<(usize, String)>) {
    // The lexer visits every byte. Most sources do not have the name at all.
    if !source.contains(name) {
        return (None, Vec::new());
    }
    let mut reader = LiteralReader::new(source);
    let mut found = None;
    while reader.current.kind != TokenKind::End {
        let token = reader.advance();
        if !token.is_name("export") {
            continue;
        }
        if reader.current.is_name("const") {
            reader.advance();
            if reader.current.is_name(name) {
                let at = reader.current.at;
                let literal = declared(&mut reader);
                if found.replace(literal).is_some() {
                    reader.fault(at, format!("expected one `{name}`, got a second one"));
                }
            } else if reader.current.is_mark(b'{') || reader.current.is_mark(b'[') {
                listed(&mut reader, name);
            }
        } else if reader.current.is_mark(b'{') {
            listed(&mut reader, name);
        } else {
            other_declaration(&mut reader, name);
        }
    }
    if found.is_none()
        && let Some(at) = reader.unfinished()
    {
        reader.fault(
            at,
            format!("expected the end of a text, template, comment or block; `{name}` can be after it"),
        );
    }
    (found, reader.faults)
}

/// Reads the rest of a declaration from its name.
fn declared(reader: &mut LiteralReader<'_>) -> Literal {
    reader.advance();
    if reader.current.is_mark(b':') {
        reader.advance();
        reader.type_name();
    }
    if reader.current.is_mark(b'=') {
        reader.advance();
    } else {
        reader.fault(reader.current.at, "expected `=` and a literal".to_owned());
    }
    let literal = reader.value(0);
    let next = reader.current;
    // A line break ends the statement only if the next line cannot continue the expression.
    let continues = match next.kind {
        TokenKind::Mark(mark) => !matches!(mark, b';' | b',' | b'{' | b'@' | b'}'),
        TokenKind::Name => matches!(next.text, "in" | "instanceof"),
        TokenKind::Template | TokenKind::TemplateHead | TokenKind::Pattern => true,
        _ => false,
    };
    let ends = next.is_mark(b';') || next.is_mark(b',') || next.kind == TokenKind::End || next.is_on_new_line;
    if continues || !ends {
        reader.fault(next.at, "expected the end of the statement after the literal".to_owned());
    }
    literal
}

/// Reports a name in `export { … }` or in a pattern of `export const`. Its value is somewhere else.
fn listed(reader: &mut LiteralReader<'_>, name: &str) {
    let mut was_name = None;
    while reader.current.kind != TokenKind::End {
        let token = reader.advance();
        // `NAME as other` exports it under another name.
        if let Some(at) = was_name.take()
            && !token.is_name("as")
        {
            other_form(reader, at, name);
        }
        was_name = token.is_name(name).then_some(token.at);
        if token.is_mark(b'}') || token.is_mark(b']') {
            return;
        }
    }
}

/// Reports `export let NAME`, `export function NAME` and `export class NAME`.
fn other_declaration(reader: &mut LiteralReader<'_>, name: &str) {
    while ["async", "let", "var", "function", "class"].iter().any(|word| reader.current.is_name(word)) {
        reader.advance();
    }
    if reader.current.is_name(name) {
        other_form(reader, reader.current.at, name);
    }
}

fn other_form(reader: &mut LiteralReader<'_>, at: usize, name: &str) {
    reader.fault(at, format!("expected `export const {name} = …` with a literal"));
}
