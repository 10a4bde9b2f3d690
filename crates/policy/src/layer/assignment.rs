//! Assignments of the environment and the command line: `KEY=VALUE`, where the value is TOML or else a text.

use std::ops::Range;

use plugward_types::Part;
use toml::de::DeTable;

use super::read::{LayerReader, syntax_faults};
use super::{LayerKind, SettingsLayer};
use crate::error::{SettingsError, SettingsFault, place};

pub(super) fn read(kind: LayerKind, label: &str, rows: &[&str]) -> Result<SettingsLayer, SettingsError> {
    let text = rows.join("\n");
    let mut reader = LayerReader::new(kind, label, &text);
    let mut start = 0_usize;
    for row in rows {
        let end = start.saturating_add(row.len());
        if !row.trim().is_empty() {
            one(&mut reader, row, start..end);
        }
        start = end.saturating_add(1);
    }
    reader.finish()
}

fn one(reader: &mut LayerReader<'_>, row: &str, range: Range<usize>) {
    reader.set_offset(range.start);
    if let Ok(table) = DeTable::parse(row) {
        return reader.document(table.get_ref());
    }
    let Some((key, value)) = split(row) else {
        let (origin, source) = place(reader.label(), reader.text(), range.start);
        let message = format!("expected KEY=VALUE in {}: {row}", reader.label());
        let help = "write a key, `=` and a value, such as plugins.approval=required".to_owned();
        return reader.add_fault(SettingsFault { message, help, origin, source });
    };
    // The blanks stay, so that the offsets are those of the typed text.
    let blanks = value.len().saturating_sub(value.trim_start().len());
    let blanks = value.part(..blanks);
    let quoted = format!("{key}={blanks}{}", toml::Value::from(value.trim()));
    match DeTable::parse(&quoted) {
        Ok(table) => reader.document(table.get_ref()),
        // The key is not TOML, so the errors are those of the key.
        Err(_error) => syntax_faults(reader, &quoted),
    }
}

/// Splits an assignment at the first `=` outside quotes.
fn split(row: &str) -> Option<(&str, &str)> {
    let (mut quote, mut is_escaped) = (None, false);
    for (at, c) in row.char_indices() {
        match (quote, c) {
            (None, '=') => return Some((row.get(..at)?, row.get(at..)?.strip_prefix('=')?)),
            (None, '"' | '\'') => quote = Some(c),
            (Some('"'), _) if is_escaped => is_escaped = false,
            (Some('"'), '\\') => is_escaped = true,
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
    }
    None
}
