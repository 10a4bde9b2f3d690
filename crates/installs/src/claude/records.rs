//! `installed_plugins.json`, versions 1 and 2.

use plugward_manifest::json::{JsonNode, JsonValue};
use plugward_types::InstalledId;

use super::Context;
use crate::RecordPlace;
use crate::collector::{Collector, absolute, join, place, shown, step};
use crate::source_file::Syntax;

/// The rows that are read from one record; a machine has a few dozen.
const ROWS: usize = 50_000;

/// One row of the record.
pub(super) struct Row {
    /// The directory, made absolute.
    pub(super) path: String,
    pub(super) version: Option<String>,
    pub(super) record: RecordPlace,
}

/// The rows of each id, in the order of the record. An id whose rows are all invalid has none.
pub(super) type Records = Vec<(InstalledId, Vec<Row>)>;

/// Reads the record of a plugins root, or returns `None` if it cannot be understood.
pub(super) fn read(found: &mut Collector<'_>, context: &Context) -> Option<Records> {
    let root = context.roots.plugins.as_str();
    let path = join(root, "installed_plugins.json");
    let Some(file) = found.open(&path, Syntax::Json) else {
        return found.machine.files.kind(&path).is_none().then(Vec::new);
    };
    let node = found.parse(&file)?;
    let number = match node.get("version").map(JsonNode::value) {
        Some(JsonValue::Number(number)) => Some(number),
        _ => None,
    };
    if !matches!(number.and_then(|number| number.as_integer()), Some(1 | 2)) {
        let got = number.map_or("no version number".to_owned(), |number| {
            format!("unsupported version {}", shown(number.text()))
        });
        found.unreadable(&path, "/version", format!("{got} (expected 1 or 2)"));
        return None;
    }
    let mut records = Records::new();
    let mut count = 0_usize;
    for member in found.members(&path, &node, "plugins") {
        let pointer = step("/plugins", member.key());
        let Some(id) = found.id(member.key(), place(&path, &pointer)) else { continue };
        // Version 1 has one object per id.
        let rows = member.node().items().unwrap_or_else(|| core::slice::from_ref(member.node()));
        count = count.saturating_add(rows.len());
        if count > ROWS {
            found.unreadable(&path, "/plugins", format!("more than {ROWS} rows"));
            return None;
        }
        let is_list = member.node().items().is_some();
        let mut good = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            let pointer = if is_list { format!("{pointer}/{index}") } else { pointer.clone() };
            match read_row(found, root, row, place(&path, &pointer)) {
                Ok(row) => good.push(row),
                Err(message) => context.refuse_row(found, &id, place(&path, &pointer), message),
            }
        }
        records.push((id, good));
    }
    Some(records)
}

fn read_row(
    found: &Collector<'_>,
    root: &str,
    row: &JsonNode<'_>,
    record: RecordPlace,
) -> Result<Row, String> {
    if row.members().is_none() {
        return Err(format!("expected an object, got {}", row.type_name()));
    }
    let path = text(row, "installPath")?.ok_or("expected a string as `installPath`, got nothing")?;
    match text(row, "scope")? {
        // Rows of version 1 have `isLocal` in place of a scope. The settings decide in which projects a row is on.
        None | Some("user" | "project" | "local" | "managed") => {}
        Some(other) => return Err(format!("unknown scope `{}`", shown(other))),
    }
    // Paths of version 1 can be relative to the directory of the record.
    let path = if path.starts_with(['/', '~']) { absolute(found.machine, path) } else { join(root, path) };
    let version = text(row, "version")?.map(ToOwned::to_owned);
    Ok(Row { path, version, record })
}

fn text<'n>(row: &'n JsonNode<'_>, key: &str) -> Result<Option<&'n str>, String> {
    match row.get(key).map(|node| (node, node.value())) {
        None | Some((_, JsonValue::Null)) => Ok(None),
        Some((_, JsonValue::String(text))) => Ok(Some(text)),
        Some((node, _)) => Err(format!("expected a string as `{key}`, got {}", node.type_name())),
    }
}
