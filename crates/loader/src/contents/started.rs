//! The files that the commands of a settings file start.

use std::collections::BTreeSet;

use plugward_manifest::{Manifest, SurfaceItem};
use plugward_types::PlacePath;

use crate::contents::view::{View, manifests};
use crate::discovery::discover::PluginPlace;
use crate::discovery::roots::Root;

/// The directories of hosts in a project. The settings in them are about the directory above.
const HOST_DIRECTORIES: [&str; 3] = [".claude", ".codex", ".gemini"];
/// Variables with which a command names its project.
const PROJECT: [&str; 6] = [
    "$CLAUDE_PROJECT_DIR",
    "${CLAUDE_PROJECT_DIR}",
    "$GEMINI_PROJECT_DIR",
    "${GEMINI_PROJECT_DIR}",
    "$(git rev-parse --show-toplevel)",
    "$PWD",
];
/// The most files of one settings file. The limit bounds the work for a crafted one.
const MOST: usize = 64;

/// Returns the paths that the commands of a settings file name, relative to the place of that file. Whether a file
/// exists there is not looked up.
pub(crate) fn files(place: &PluginPlace, views: &[View], root: &Root) -> BTreeSet<String> {
    let project = project_of(&place.real);
    let homes: Vec<&PlacePath> = root.stops.iter().collect();
    let commands = manifests(views).flat_map(Manifest::surface).flat_map(SurfaceItem::run);
    let mut found = BTreeSet::new();
    for word in commands.flat_map(|command| words(command)) {
        for at in resolve(&word, &project, &homes) {
            if let Some(name) = relative(&place.real, &at).filter(|_| found.len() < MOST) {
                found.insert(name);
            }
        }
    }
    found
}

/// Splits a command at blanks, quotes and operators. A path with blanks in it is not found.
fn words(command: &str) -> impl Iterator<Item = String> + '_ {
    let is_end = |c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '|' | '&' | '(' | ')' | '<' | '>' | ',' | '=')
    };
    // The command substitution is one of the forms in `PROJECT`, and contains blanks.
    let joined = command.replace(PROJECT[4], "$PWD");
    let joined: Vec<String> = joined.replace(['"', '\''], "").split(is_end).map(str::to_owned).collect();
    let plain = command.split(is_end).map(str::to_owned);
    plain.chain(joined).filter(|word| word.contains('/') || word.contains('.'))
}

/// Returns the directory that relative paths in a settings file start from.
fn project_of(file: &PlacePath) -> PlacePath {
    let parent = file.parent().unwrap_or_else(|| file.clone());
    match parent.parent() {
        Some(above) if HOST_DIRECTORIES.contains(&parent.name()) => above,
        _ => parent,
    }
}

/// Returns the absolute paths that a word can mean.
fn resolve(word: &str, project: &PlacePath, homes: &[&PlacePath]) -> Vec<PlacePath> {
    let tidy = |rest: &str| {
        let parts = rest.split('/').filter(|part| !matches!(*part, "" | "."));
        parts.collect::<Vec<_>>().join("/")
    };
    let join = |base: &PlacePath, rest: &str| base.join(&tidy(rest)).ok();
    if let Some(rest) = PROJECT.iter().find_map(|name| word.strip_prefix(name)) {
        return join(project, rest).into_iter().collect();
    }
    if let Some(rest) = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|name| word.strip_prefix(name)) {
        return homes.iter().filter_map(|home| join(home, rest)).collect();
    }
    if word.starts_with('/') {
        return PlacePath::new(&format!("/{}", tidy(word))).into_iter().collect();
    }
    join(project, word).into_iter().collect()
}

/// Returns a path relative to a file, with `..` for each component that the two do not share.
fn relative(from: &PlacePath, to: &PlacePath) -> Option<String> {
    let (from, to): (Vec<&str>, Vec<&str>) =
        (from.as_str().split('/').collect(), to.as_str().split('/').collect());
    let shared = from.iter().zip(&to).take_while(|(one, two)| one == two).count();
    let ups = from.len().checked_sub(shared).filter(|ups| *ups > 0)?;
    Some(format!("{}{}", "../".repeat(ups), to.get(shared..)?.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> PlacePath {
        PlacePath::new(text).unwrap()
    }

    fn named(command: &str) -> Vec<String> {
        let file = place("/home/user/site/.claude/settings.json");
        let home = place("/home/user");
        let project = project_of(&file);
        let found = words(command).flat_map(|word| resolve(&word, &project, &[&home]));
        let names: BTreeSet<String> = found.filter_map(|at| relative(&file, &at)).collect();
        names.into_iter().collect()
    }

    #[test]
    fn commands_name_files_in_several_ways() {
        let hook = ["../hooks/run.sh"];
        assert_eq!(named("$CLAUDE_PROJECT_DIR/.claude/hooks/run.sh"), hook);
        assert_eq!(named("bash \"${CLAUDE_PROJECT_DIR}\"/.claude/hooks/run.sh --fast"), hook);
        assert_eq!(named("\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/run.sh"), hook);
        assert_eq!(named("sh -c './.claude/hooks/run.sh; true'"), hook);
        assert_eq!(named("cd \"$(git rev-parse --show-toplevel)\" && .claude/hooks/run.sh"), hook);
        assert_eq!(named("~/bin/tool"), ["../../../bin/tool"]);
        assert_eq!(named("echo hello"), [] as [&str; 0]);
    }
}
