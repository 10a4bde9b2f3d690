//! The first lines of a check without a directory: where each host keeps its plugins, and what was found there.

use std::collections::BTreeMap;

use plugward_loader::{PluginKind, PluginReport, Report, SETTINGS_FILE, Severity};

use super::Target;
use crate::host;
use crate::out::{STRONG, paint};
use crate::table::grid;
use crate::text::count;
use plugward_loader::escape::line;

/// Renders one line for each host and for the project, or nothing if directories were named.
pub(super) fn render(report: &Report, target: &Target, width: usize) -> String {
    if target.inventories.is_empty() {
        return String::new();
    }
    let mut rows = Vec::new();
    for (number, root) in target.roots.iter().enumerate() {
        let found: Vec<&PluginReport> =
            report.plugins.iter().filter(|plugin| plugin.root == number).collect();
        let place = host::display_path(&root.real());
        rows.push(vec![root.label.clone(), line(&place).into_owned(), contents(&found)]);
    }
    let mut out = String::new();
    for row in grid(&[], &rows, width).lines() {
        let name = row.split(' ').next().unwrap_or_default();
        let rest = row.strip_prefix(name).unwrap_or_default();
        out.push_str(&format!("{}{rest}\n", paint(STRONG, name)));
    }
    out.push('\n');
    out
}

/// Returns the counts of what was found, such as `2 plugins, 1 skill, 3 hooks`.
fn contents(found: &[&PluginReport]) -> String {
    let mut counts: BTreeMap<u8, (usize, &str)> = BTreeMap::new();
    let mut add = |order: u8, noun: &'static str, number: usize| {
        counts.entry(order).or_insert((0, noun)).0 += number;
    };
    for plugin in found {
        match plugin.kind {
            PluginKind::Plugin => add(0, "plugin", 1),
            PluginKind::Skill => add(1, "skill", 1),
            PluginKind::Agents => add(2, "agent", plugin.files_of_surface()),
            PluginKind::Commands => add(3, "command", plugin.files_of_surface()),
            PluginKind::Settings | PluginKind::Servers => {
                add(4, "hook", plugin.surface.iter().filter(|item| item.kind == "hook").count());
                add(5, "MCP server", plugin.surface.iter().filter(|item| item.kind == "mcp-server").count());
                let suspicious = plugin.findings.iter().filter(|one| one.severity > Severity::Info);
                add(6, "setting", suspicious.filter(|one| one.path == SETTINGS_FILE).count());
            }
        }
    }
    let words: Vec<String> = counts
        .values()
        .filter(|(number, _)| *number > 0)
        .map(|(number, noun)| count(*number, noun))
        .collect();
    if words.is_empty() { "nothing that runs".to_owned() } else { words.join(", ") }
}
