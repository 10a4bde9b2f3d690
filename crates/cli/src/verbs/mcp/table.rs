//! The table of `plugward mcp tools`.

use std::collections::BTreeMap;

use plugward_loader::escape::line;
use plugward_loader::{OfferView, ViewedItem};
use serde_json::Value;

use super::tools::state;
use crate::out::visible;
use crate::text::wrapped;
use crate::verbs::shared;

/// Returns a row for each item, and all that is new or changed.
pub(super) fn rows(view: &OfferView, width: usize) -> String {
    let mut text = String::new();
    let mut findings: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (label, one) in &view.findings {
        let row = wrapped("    ", "      ", &format!("{}: {}", one.rule, line(&one.snippet)), width);
        findings.entry(label).or_default().push(row);
    }
    for one in &view.items {
        let label = one.item.label();
        let described = one.item.json().get("description").and_then(Value::as_str);
        let described = described.or_else(|| one.item.json().as_str()).unwrap_or_default();
        let row = format!("{:<8} {}  {}", state(one.state), line(&label), line(described));
        text.extend(row.trim_end().chars().take(width));
        text.push('\n');
        text.push_str(&difference(one, width));
        findings.remove(&*label).into_iter().flatten().for_each(|row| text.push_str(&row));
    }
    for label in &view.missing {
        text.push_str(&format!("missing  {}\n", line(label)));
    }
    text
}

/// Returns the old and the new text of each changed member, or the whole item if there is no old one.
fn difference(one: &ViewedItem, width: usize) -> String {
    if one.state.is_none() {
        return String::new();
    }
    let (Some(fields), Some(old)) = (&one.fields, &one.old) else {
        let note = "    changed; the pinned text is not stored on this machine\n";
        let note = if one.fields.is_none() { note } else { "" };
        return note.to_owned() + &json(one.item.json(), "    ", width);
    };
    let mut text = String::new();
    for field in fields {
        text.push_str(&format!("    changed: {}\n", line(field)));
        // The instructions are a text without members.
        let of = |json: &Value| json.get(field).or_else(|| json.is_string().then_some(json)).cloned();
        for (mark, value) in [("    - ", of(old)), ("    + ", of(one.item.json()))] {
            text.push_str(&value.map(|value| json(&value, mark, width)).unwrap_or_default());
        }
    }
    text
}

/// Returns a value over as many lines as it needs, each after a mark.
fn json(value: &Value, mark: &str, width: usize) -> String {
    let text = visible(&format!("{value:#}"));
    text.lines()
        .map(|row| {
            let indent = row.len().saturating_sub(row.trim_start().len());
            let first = format!("{mark}{}", " ".repeat(indent));
            wrapped(&first, &format!("{first}  "), row.trim_start(), width)
        })
        .collect()
}

/// Returns the command that comes next, if the user must decide.
pub(super) fn next_step(server: &str, view: &OfferView, code: u8) -> String {
    if !matches!(code, 3 | 4) {
        return String::new();
    }
    format!("\nto pin this offer: plugward mcp accept {} --set {}\n", shared::quoted(server), view.set)
}

/// Returns the command that comes next for an offer that was not listed to its end.
pub(super) fn list_again(server: &str) -> String {
    let server = shared::quoted(server);
    format!("\nThe server was ended before it had listed everything; run: plugward mcp tools {server}\n")
}
