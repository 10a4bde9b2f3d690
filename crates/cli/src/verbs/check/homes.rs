//! The first lines of a check without a directory: where each host keeps its plugins, and what was found there.

use std::collections::{BTreeMap, BTreeSet};

use plugward_loader::installs::{Evidence, Install, InstallLayer, InstallProblemKind};
use plugward_loader::{PROJECT_LABEL, PlacePath, PluginKind, PluginReport, Report, SETTINGS_FILE, Severity};

use super::Target;
use crate::host;
use crate::installed;
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
        let text = contents(&found)
            .or_else(|| elsewhere(report, target, &root.label))
            .unwrap_or_else(|| nothing(target, &root.label).to_owned());
        let note = evidence(&root.label);
        rows.push(vec![root.label.clone(), line(&place).into_owned(), format!("{text}{note}")]);
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

/// Returns what is to know about the places of a host that plugward did not find out by running or reading it.
fn evidence(label: &str) -> &'static str {
    let row = installed::hosts().ok().and_then(|table| table.row(label));
    match row.map(|row| row.evidence) {
        Some(Evidence::User) => " (places from your settings)",
        Some(Evidence::Documentation) => " (places from its documentation, not tested)",
        Some(evidence) if !evidence.is_tested() => " (places not tested)",
        Some(_) | None => "",
    }
}

/// Returns the counts of what a host would load and another line counts, with the name of that line.
fn elsewhere(report: &Report, target: &Target, label: &str) -> Option<String> {
    let own = target.inventories.iter().filter(|one| one.host.as_str() == label);
    let installs = own.flat_map(|one| &one.installs).filter(|one| one.layer == InstallLayer::User);
    let places: BTreeSet<&PlacePath> = installs.map(Install::address).collect();
    let found: Vec<&PluginReport> =
        report.plugins.iter().filter(|plugin| places.contains(&plugin.place)).collect();
    let lines: BTreeSet<&str> =
        found.iter().filter_map(|one| Some(target.roots.get(one.root)?.label.as_str())).collect();
    let lines: Vec<&str> = lines.into_iter().collect();
    Some(format!("{}, counted under {}", contents(&found)?, lines.join(", ")))
}

/// Returns what can be said about a host without any row in the report.
fn nothing(target: &Target, label: &str) -> &'static str {
    let own = target.inventories.iter().filter(|one| one.host.as_str() == label);
    let is_open = own.flat_map(|one| &one.problems).any(|problem| {
        matches!(
            problem.kind,
            InstallProblemKind::NotRead | InstallProblemKind::NotJudged | InstallProblemKind::Unreadable
        )
    });
    match is_open {
        _ if label == PROJECT_LABEL => "nothing found",
        true => "nothing judged; see the notes",
        false => "nothing that runs",
    }
}

/// Returns the counts of what was found, such as `2 plugins, 1 skill, 3 hooks`, or `None` if nothing was.
fn contents(found: &[&PluginReport]) -> Option<String> {
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
            PluginKind::Code => add(4, "code file", plugin.surface.len()),
            PluginKind::Settings | PluginKind::Servers => {
                add(5, "hook", plugin.surface.iter().filter(|item| item.kind == "hook").count());
                add(6, "MCP server", plugin.surface.iter().filter(|item| item.kind == "mcp-server").count());
                let suspicious = plugin.findings.iter().filter(|one| one.severity > Severity::Info);
                let named = plugin.surface.iter().filter(|item| item.kind == "settings").count();
                add(7, "setting", suspicious.filter(|one| one.path == SETTINGS_FILE).count() + named);
            }
        }
    }
    let words: Vec<String> = counts
        .values()
        .filter(|(number, _)| *number > 0)
        .map(|(number, noun)| count(*number, noun))
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}
