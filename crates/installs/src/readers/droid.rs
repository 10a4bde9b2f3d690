//! Factory Droid: a record with the name and form of Claude Code's.

use plugward_manifest::json::{JsonNode, JsonValue};

use super::{Recorded, refuse_row, state_of};
use crate::HostState;
use crate::collector::{Collector, absolute, join, place, shown, step};
use crate::source_file::Syntax;

pub(crate) fn read(found: &mut Collector<'_>) {
    let settings = join(&found.home, "settings.json");
    let settings = found.open(&settings, Syntax::JsonWithCommas).filter(|file| !file.is_blank());
    // The row of the table has the problem of a file that cannot be parsed.
    let settings = settings.as_ref().and_then(|file| file.parse().ok());
    let enabled = settings.as_ref().and_then(|settings| settings.get("enabledPlugins"));
    let directory = join(&found.home, "plugins");
    let path = join(&directory, "installed_plugins.json");
    let Some(file) = found.open(&path, Syntax::Json) else { return };
    let Some(root) = found.parse(&file) else { return };
    let version = match root.get("version").map(JsonNode::value) {
        Some(JsonValue::Number(number)) => number.text(),
        _ => "none",
    };
    if !matches!(version, "1" | "2") {
        return found.unreadable(
            &path,
            "/version",
            format!("expected version 1 or 2, got {}", shown(version)),
        );
    }
    for member in found.members(&path, &root, "plugins") {
        let pointer = step("/plugins", member.key());
        let Some(id) = found.id(member.key(), place(&path, &pointer)) else { continue };
        let state = enabled.map_or(HostState::On, |enabled| state_of(enabled.get(member.key())));
        for row in member.node().items().unwrap_or_else(|| core::slice::from_ref(member.node())) {
            let record = place(&path, &pointer);
            let text = |key: &str| row.get(key).and_then(JsonNode::as_str);
            let Some(at) = text("installPath") else {
                refuse_row(found, record, "expected a string as `installPath`".to_owned());
                continue;
            };
            let at =
                if at.starts_with(['/', '~']) { absolute(found.machine, at) } else { join(&directory, at) };
            let (key, path, version) = (found.key(&id), at, text("version").map(ToOwned::to_owned));
            Recorded { key, path, record, state, version, marketplace: None }.add(found);
        }
    }
}
