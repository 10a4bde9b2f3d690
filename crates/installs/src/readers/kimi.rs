//! Kimi Code: `plugins/installed.json`, version 1.

use plugward_manifest::json::{JsonNode, JsonValue};

use super::{Recorded, refuse_row, row_place, state_of};
use crate::collector::{Collector, absolute, join, shown};
use crate::source_file::Syntax;

pub(crate) fn read(found: &mut Collector<'_>) {
    let directory = join(&found.home, "plugins");
    let path = join(&directory, "installed.json");
    let Some(file) = found.open(&path, Syntax::Json) else { return };
    let Some(root) = found.parse(&file) else { return };
    let version = match root.get("version").map(JsonNode::value) {
        Some(JsonValue::Number(number)) => number.text(),
        _ => "none",
    };
    if version != "1" {
        return found.unreadable(&path, "/version", format!("expected version 1, got {}", shown(version)));
    }
    let Some(list) = root.get("plugins").filter(|list| !list.is_null()) else { return };
    let Some(rows) = list.items() else { return found.wrong_type(&path, "/plugins", list, "a list") };
    for (number, row) in rows.iter().enumerate() {
        let record = row_place(&path, "plugins", number);
        let text = |key: &str| row.get(key).and_then(JsonNode::as_str);
        let (Some(id), Some(root)) = (text("id"), text("root")) else {
            refuse_row(found, record, "expected strings as `id` and `root`".to_owned());
            continue;
        };
        let Some(id) = found.id(id, record.clone()) else { continue };
        let root =
            if root.starts_with(['/', '~']) { absolute(found.machine, root) } else { join(&directory, root) };
        let (key, path, version) = (found.key(&id), root, text("version").map(ToOwned::to_owned));
        let state = state_of(row.get("enabled"));
        Recorded { key, path, record, state, version, marketplace: None }.add(found);
    }
}
