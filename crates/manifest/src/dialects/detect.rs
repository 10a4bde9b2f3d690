//! Finds the dialects of a plugin directory.

use super::{Dialect, MAIN_FILES, agent_plugins, gnoma, hyperagent, openclaw, skill};
use crate::json::{self, JsonNode, ParseLimits};
use crate::manifest::{FileView, Files};

/// The files in the root that make a `plugin.json` without a schema one of Copilot.
const COPILOT_FILES: [&str; 4] = ["hooks.json", "hooks/hooks.json", ".mcp.json", "lsp.json"];

/// The dialect of a root `plugin.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum RootCheck {
    /// The file has `hostModules`, or an entry file is next to it.
    Hyperagent,
    /// The file has `capabilities` or `gnoma_version`, or only keys of gnoma.
    Gnoma,
    /// The file has a schema of Agent Plugins.
    AgentPlugins,
    /// The file has a name, and components that Copilot loads are next to it.
    Copilot,
    /// JSON that belongs to no known dialect: it does not make the directory a plugin.
    Unknown,
    /// The file is not valid JSON. The directory is reported as a broken plugin of the more likely dialect.
    Unreadable,
}

/// Determines the dialect of a root `plugin.json`, or returns `None` if there is none. If it belongs to several, the
/// first one in table order is returned.
///
/// Next to `index.ts` or `index.js`, the file belongs to HyperAgent, unless its keys are those of another host. Otherwise
/// its keys decide.
///
/// # Examples
/// ```
/// use plugward_manifest::{MapFiles, RootCheck, classify};
///
/// let gnoma = MapFiles::new().with("plugin.json", r#"{"name": "a", "capabilities": {}}"#);
/// assert_eq!(classify(&gnoma), Some(RootCheck::Gnoma));
///
/// let other = MapFiles::new().with("plugin.json", r#"{"id": 7}"#);
/// assert_eq!(classify(&other), Some(RootCheck::Unknown));
/// ```
pub fn classify(files: &dyn Files) -> Option<RootCheck> {
    checks(files, PluginNaming::ByContents).into_iter().next()
}

/// Whether something besides its contents makes a directory a plugin.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PluginNaming {
    /// Only the contents decide.
    ByContents,
    /// A record or a marketplace entry names the directory.
    Named,
    /// The directory is one that only gnoma loads, and gnoma reads every root `plugin.json`.
    OfGnoma,
    /// gnoma loads the directory, and so can the host whose marketplace names it.
    OfGnomaAndNamed,
}

/// Returns everything that a root `plugin.json` can be, in table order; nothing if there is none.
fn checks(files: &dyn Files, naming: PluginNaming) -> Vec<RootCheck> {
    let Some(file) = files.get("plugin.json") else { return Vec::new() };
    if naming == PluginNaming::OfGnoma {
        return vec![RootCheck::Gnoma];
    }
    let has_entry = files.get("index.ts").is_some() || files.get("index.js").is_some();
    let Ok(root) = json::parse(file.bytes, &ParseLimits::standard()) else {
        // The keys of a broken file are unknown, so its text is searched.
        let is_hyperagent = has_entry || mentions_host_modules(file.bytes);
        return vec![if is_hyperagent { RootCheck::Hyperagent } else { RootCheck::Unreadable }];
    };
    let is_standard = agent_plugins::is_manifest(&root);
    let gnoma = of_gnoma(&root);
    let is_marked = gnoma == GnomaCheck::Marked;
    // HyperAgent loads the directory because of its entry file, whatever the manifest contains. It refuses a manifest of
    // the standard or of gnoma that names no modules.
    let names_modules = root.get("hostModules").is_some();
    let is_hyperagent = names_modules || (has_entry && !is_standard && !is_marked);
    let has_components = COPILOT_FILES.iter().any(|file| files.get(file).is_some());
    // The components of a plugin of another host are often prompts, so only files that start something count there.
    let is_foreign = !is_hyperagent
        && !is_marked
        && (matches!(naming, PluginNaming::Named | PluginNaming::OfGnomaAndNamed) || has_prompt(files));
    let has_name = root.get("name").is_some_and(|name| name.as_str().is_some());
    let is_copilot = !is_standard && has_name && (has_components || is_foreign);
    // A manifest with the keys of both hosts is read as that of the one that loads it, or as that of both.
    let only = (is_hyperagent && is_marked)
        .then(|| (has_entry && hyperagent::loads(&root), gnoma::loads(&root)))
        .filter(|(hyperagent, gnoma)| hyperagent != gnoma);
    let mut found = Vec::new();
    if is_hyperagent && only.is_none_or(|(hyperagent, _)| hyperagent) {
        found.push(RootCheck::Hyperagent);
    }
    // The keys that gnoma shares with other hosts are common, so the components decide about a manifest without others.
    let is_possible = gnoma == GnomaCheck::Possible && !is_hyperagent && !is_copilot;
    let is_placed = naming == PluginNaming::OfGnomaAndNamed;
    if is_placed || is_possible || (is_marked && only.is_none_or(|(_, gnoma)| gnoma)) {
        found.push(RootCheck::Gnoma);
    }
    if is_standard {
        found.push(RootCheck::AgentPlugins);
    }
    if is_copilot {
        found.push(RootCheck::Copilot);
    }
    if found.is_empty() {
        found.push(RootCheck::Unknown);
    }
    found
}

/// Returns `true` if a directory contains an agent or a skill.
fn has_prompt(files: &dyn Files) -> bool {
    let has_end = |path: &str, end: &str| path.to_ascii_lowercase().ends_with(end);
    files.under("agents").any(|path| has_end(path, ".md"))
        || files.under("skills").any(|path| has_end(path, "/skill.md"))
}

/// Returns `true` if a broken file mentions `hostModules`, which makes it a broken HyperAgent plugin.
fn mentions_host_modules(bytes: &[u8]) -> bool {
    // A larger file is refused anyway, so the search does not need to be longer.
    let head = bytes.get(..ParseLimits::standard().bytes()).unwrap_or(bytes);
    head.windows(13).any(|window| window == b"\"hostModules\"")
}

/// Whether gnoma would read a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GnomaCheck {
    /// It has a key that only gnoma has.
    Marked,
    /// It has only keys that gnoma knows.
    Possible,
    Foreign,
}

fn of_gnoma(root: &JsonNode<'_>) -> GnomaCheck {
    let Some(members) = root.members() else { return GnomaCheck::Foreign };
    let is = |key: &str, word: &str| gnoma::same_key(key, word);
    let marked =
        members.iter().any(|member| is(member.key(), "capabilities") || is(member.key(), "gnoma_version"));
    let only = members.iter().all(|member| gnoma::TOP.iter().any(|word| is(member.key(), word)));
    match only && !members.is_empty() {
        _ if marked => GnomaCheck::Marked,
        true => GnomaCheck::Possible,
        false => GnomaCheck::Foreign,
    }
}

/// Finds the dialects whose main file is in the directory, in table order.
///
/// A directory without a main file has none, even if it contains `skills/` or `commands/`. A root `plugin.json` that is
/// not valid JSON counts as gnoma, so that a broken plugin is reported instead of skipped.
#[must_use]
pub fn find_dialects(files: &dyn Files) -> Vec<Dialect> {
    find_dialects_of(files, PluginNaming::ByContents)
}

/// Finds the dialects of a directory that something else may name.
pub(crate) fn find_dialects_of(files: &dyn Files, naming: PluginNaming) -> Vec<Dialect> {
    let root = checks(files, naming);
    let mut found: Vec<Dialect> = MAIN_FILES
        .iter()
        .filter(|(dialect, file)| is_there(files, &root, *dialect, file))
        .map(|(dialect, _)| *dialect)
        .collect();
    if openclaw::is_package(files) {
        found.push(Dialect::Openclaw);
    }
    // A dialect can have several main files.
    found.sort_by_key(|dialect| Dialect::ALL.iter().position(|known| known == dialect));
    found.dedup();
    // The directory is already known as a plugin of another dialect, so the broken file is reported as shadowed.
    if found.len() > 1 && root.contains(&RootCheck::Unreadable) {
        found.retain(|dialect| *dialect != Dialect::Gnoma);
    }
    found
}

/// Returns `true` if a directory is a skill: it has a SKILL.md in its root.
#[must_use]
pub fn is_skill(files: &dyn Files) -> bool {
    skill::file_of(files).is_some()
}

/// Returns the main files of a dialect that exist in a directory and belong to it, in the order of precedence.
pub(crate) fn main_files(
    files: &dyn Files,
    dialect: Dialect,
    naming: PluginNaming,
) -> Vec<(&'static str, FileView<'_>)> {
    let root = checks(files, naming);
    let own = dialect.main_files().filter(|file| is_there(files, &root, dialect, file));
    own.filter_map(|file| Some((file, files.get(file)?))).collect()
}

fn is_there(files: &dyn Files, root: &[RootCheck], dialect: Dialect, file: &str) -> bool {
    let check = match dialect {
        _ if file != "plugin.json" => return files.get(file).is_some(),
        Dialect::Hyperagent => RootCheck::Hyperagent,
        Dialect::AgentPlugins => RootCheck::AgentPlugins,
        Dialect::Copilot => RootCheck::Copilot,
        _ if root.contains(&RootCheck::Unreadable) => return true,
        _ => RootCheck::Gnoma,
    };
    root.contains(&check)
}
