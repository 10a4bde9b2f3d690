//! Parses TOML into JSON nodes, so that one adapter can read both formats.

use core::ops::Range;

use plugward_types::Part;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::parse::{failure, narrow, text_of};
use super::{JsonErrorKind, JsonErrors, JsonMember, JsonNode, JsonNumber, JsonValue, ParseLimits};

/// Parses a TOML document into the nodes of the JSON parser.
///
/// Dates, and numbers in the notation of TOML, become numbers with their text as written.
///
/// # Errors
/// As for [`super::parse()`]; the first syntax error ends the parsing.
pub fn parse_toml<'a>(bytes: &'a [u8], limits: &ParseLimits) -> Result<JsonNode<'a>, JsonErrors> {
    let text = text_of(bytes, limits)?;
    let table = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or_default();
        let kind = match error.message() {
            "duplicate key" => {
                let key = text.part(span.clone());
                JsonErrorKind::DuplicateKey { key: key.chars().take(128).collect() }
            }
            message => JsonErrorKind::Toml { message: message.to_owned() },
        };
        failure(kind, span, bytes)
    })?;
    let root = Spanned::new(table.span(), DeValue::Table(table.into_inner()));
    node(root, text, limits.depth())
        .map_err(|span| failure(JsonErrorKind::TooDeep { limit: limits.depth() }, span, bytes))
}

/// Converts a value, or returns the span of the first list or table that is nested too deeply.
fn node<'a>(
    spanned: Spanned<DeValue<'a>>,
    text: &'a str,
    depth: usize,
) -> Result<JsonNode<'a>, Range<usize>> {
    let span = spanned.span();
    let (mut start, mut end) = (narrow(span.start), narrow(span.end));
    // A table under a header has the span of the header alone, but pointers need spans that contain the children.
    let mut widen = |child: &JsonNode<'_>| (start, end) = (start.min(child.start), end.max(child.end));
    let inner = depth.checked_sub(1).ok_or_else(|| span.clone());
    let value = match spanned.into_inner() {
        DeValue::String(text) => JsonValue::String(text),
        DeValue::Boolean(value) => JsonValue::Bool(value),
        // No key of a hook is a date. As a number that is not an integer, a date is refused everywhere.
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Datetime(_) => {
            JsonValue::Number(JsonNumber(text.part(span).trim_start_matches('+')))
        }
        DeValue::Array(items) => {
            let inner = inner?;
            let nodes = items.into_iter().map(|item| node(item, text, inner));
            let nodes = nodes.collect::<Result<Box<[_]>, _>>()?;
            nodes.iter().for_each(&mut widen);
            JsonValue::Array(nodes)
        }
        DeValue::Table(table) => {
            let inner = inner?;
            let members = table.into_iter().map(|(key, value)| {
                let (span, node) = (key.span(), node(value, text, inner)?);
                let key_start = narrow(span.start).min(node.start);
                Ok(JsonMember { key: key.into_inner(), key_start, key_end: narrow(span.end), node })
            });
            let mut members = members.collect::<Result<Box<[_]>, Range<usize>>>()?;
            // The parser sorts members by key, but pointers need them in file order.
            members.sort_by_key(|member| member.key_start);
            members.iter().for_each(|member| widen(&member.node));
            JsonValue::Object(members)
        }
    };
    Ok(JsonNode { value, start, end })
}
