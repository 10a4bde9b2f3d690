//! Directories without a manifest that a host may load nevertheless: skills, and directories in the layout of Claude
//! Code.

use plugward_installs::project_directory_names;
use plugward_manifest::json::{self, JsonNode, ParseLimits};
use plugward_manifest::{Dialect, Files as _, MapFiles, find_dialects};
use plugward_sandbox_path::{FileKind, Jail, Listing, WalkLimits};

use crate::discovery::discover::{MAIN_LIMIT, NAMES, Names, exists};
use crate::discovery::nested::PASSED;
use crate::discovery::roots::{Root, inside, join};

/// The name of directories that contain plugins.
const PLUGINS: &str = "plugins";
/// Files that hosts load without a manifest.
const HOOKS: &str = "hooks/hooks.json";
const SERVERS: [&str; 2] = [".mcp.json", "mcp.json"];
const LSP: &str = ".lsp.json";
/// A directory of a host in a home directory.
const COPILOT: &str = ".copilot";
/// The entries that are read to find one command.
const COMMANDS: WalkLimits = WalkLimits { entries: 2000, depth: 8 };

/// The reason why a directory is judged or named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlaceForm {
    /// A manifest, a marketplace entry, a record or a pin.
    Marked,
    /// A SKILL.md.
    Skill,
    /// Components in the layout of Claude Code, next to other plugins.
    Layout,
    /// A file that a host would load if it were told to load the directory. No host is known to do so.
    Named(&'static str),
}

/// Returns what a directory without a manifest is; `None` if no host loads it.
pub(crate) fn form_of(
    root: &Root,
    dir: &str,
    names: &Names,
    is_next_to: impl FnOnce() -> bool,
) -> Option<PlaceForm> {
    let path = inside(dir, &root.dir).unwrap_or(".");
    // The contents of a host's directory are rows of their own.
    let is_passed =
        |name| name == COPILOT || PASSED.contains(&name) || project_directory_names().contains(name);
    if path.split('/').any(is_passed) {
        return None;
    }
    if names.has_skill(&root.jail, dir) {
        return Some(PlaceForm::Skill);
    }
    let file = json_form(&root.jail, dir, names);
    let has_prompts = || has_prompts(&root.jail, dir, names);
    if (file.is_none() && !has_prompts()) || crate::discovery::roots::is_project(root, dir) {
        return None;
    }
    if is_next_to() { Some(PlaceForm::Layout) } else { file.map(PlaceForm::Named) }
}

/// Returns the first file of a directory that starts something without a manifest.
fn json_form(jail: &Jail, dir: &str, names: &Names) -> Option<&'static str> {
    let is = |file: &str, test: &dyn Fn(&JsonNode<'_>) -> bool| {
        names.can_have(file) && has_json(jail, &join(dir, file), test)
    };
    let is_object = |node: Option<&JsonNode<'_>>| node.is_some_and(|node| node.members().is_some());
    if is(HOOKS, &|root| is_object(root.get("hooks"))) {
        return Some(HOOKS);
    }
    let servers = |root: &JsonNode<'_>| {
        let all = root.get("mcpServers").unwrap_or(root).members_or_none();
        all.iter().any(|one| one.node().get("command").is_some() || one.node().get("url").is_some())
    };
    if let Some(file) = SERVERS.into_iter().find(|file| is(file, &servers)) {
        return Some(file);
    }
    let has_members = |root: &JsonNode<'_>| root.members().is_some_and(|all| !all.is_empty());
    is(LSP, &has_members).then_some(LSP)
}

/// Returns `true` if a file passes a test. One that cannot be read as JSON passes, because a host may be less strict.
fn has_json(jail: &Jail, path: &str, test: &dyn Fn(&JsonNode<'_>) -> bool) -> bool {
    let Ok(bytes) = jail.read(path, MAIN_LIMIT) else { return exists(jail, path) };
    json::parse(&bytes, &ParseLimits::standard()).map_or(true, |root| test(&root))
}

/// Returns `true` if a directory has commands or agents.
fn has_prompts(jail: &Jail, dir: &str, names: &Names) -> bool {
    let is_prompt = |path: &[u8]| path.to_ascii_lowercase().ends_with(b".md");
    let agents = || {
        let listing = jail.list(join(dir, "agents").as_str(), NAMES);
        listing.is_ok_and(|all| all.entries().iter().any(|entry| is_prompt(entry.name())))
    };
    let commands = || {
        let walk = jail.walk(join(dir, "commands").as_str(), COMMANDS);
        walk.is_ok_and(|walk| walk.flatten().any(|entry| is_prompt(entry.path().as_bytes())))
    };
    (names.can_have("agents") && agents()) || (names.can_have("commands") && commands())
}

/// Returns `true` if a directory is called `plugins` or passes a test for one of its directories.
pub(crate) fn contains_plugins(root: &Root, dir: &str, is_plugin: impl Fn(&str) -> bool) -> bool {
    let real = root.top.join(dir).map(|place| place.name().to_owned());
    if real.is_ok_and(|name| name == PLUGINS) {
        return true;
    }
    let Ok(listing) = root.jail.list(dir, NAMES) else { return false };
    directories(&listing).any(|name| is_plugin(&join(dir, name)))
}

fn directories(listing: &Listing) -> impl Iterator<Item = &str> {
    let entries = listing.entries().iter().filter(|entry| entry.kind() == FileKind::Directory);
    entries.filter_map(plugward_sandbox_path::DirectoryEntry::name_str)
}

/// Returns the dialects of the `plugin.json` and `package.json` in a directory, whose contents decide. Files next to them
/// decide between gnoma and other dialects, unless the user chose gnoma.
pub(crate) fn dialects_by_contents(
    jail: &Jail,
    dir: &str,
    names: &Names,
    only: Option<Dialect>,
) -> Vec<Dialect> {
    let mut files = MapFiles::new();
    for file in ["plugin.json", "package.json"] {
        if names.can_have(file) && exists(jail, &join(dir, file)) {
            // A file that cannot be read makes the directory a broken plugin, whose gate reports the cause.
            let bytes = jail.read(join(dir, file).as_str(), MAIN_LIMIT).unwrap_or_default();
            files = files.with(file, bytes);
        }
    }
    if files.get("plugin.json").is_some() && only != Some(Dialect::Gnoma) {
        for file in ["index.ts", "index.js", "hooks.json", HOOKS, ".mcp.json", "lsp.json"] {
            if exists(jail, &join(dir, file)) {
                files = files.with(file, Vec::new());
            }
        }
        if has_prompts(jail, dir, &Names::Unknown) || has_skills(jail, dir) {
            files = files.with("agents/any.md", Vec::new());
        }
    }
    find_dialects(&files)
}

/// Returns `true` if a directory of `skills/` has a SKILL.md.
fn has_skills(jail: &Jail, dir: &str) -> bool {
    let skills = join(dir, "skills");
    let Ok(listing) = jail.list(skills.as_str(), NAMES) else { return false };
    directories(&listing).any(|name| exists(jail, &join(&join(&skills, name), "SKILL.md")))
}
