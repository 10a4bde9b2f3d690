//! The files that the commands of a settings file start.
#![expect(clippy::arithmetic_side_effects, reason = "a count of words cannot fall below those taken")]

use std::collections::BTreeSet;

use plugward_manifest::Manifest;
use plugward_types::PlacePath;

use crate::contents::view::{View, manifests};
use crate::discovery::discover::PluginPlace;
use crate::discovery::roots::Root;

/// The directories of hosts in a project. The settings in them are about the directory above.
const HOST_DIRECTORIES: [&str; 3] = [".claude", ".codex", ".gemini"];
/// Texts with which a command names its project.
const PROJECT: [&str; 6] = [
    "$CLAUDE_PROJECT_DIR",
    "${CLAUDE_PROJECT_DIR}",
    "$GEMINI_PROJECT_DIR",
    "${GEMINI_PROJECT_DIR}",
    "$PWD",
    "${PWD}",
];
/// Command substitutions with the same meaning. They contain blanks, so they are replaced before a command is split.
const TOP_LEVEL: [&str; 2] = ["$(git rev-parse --show-toplevel)", "`git rev-parse --show-toplevel`"];
/// The most words of one settings file that are looked at. The limit bounds the work for a crafted one.
const WORDS: usize = 20_000;

/// Returns the paths that the commands of a settings file or a prompt can name, relative to its place. Most of them do not
/// exist, because any word of a command is taken for a path.
pub(crate) fn files(place: &PluginPlace, views: &[View], root: &Root) -> BTreeSet<String> {
    // The record has the path that the host opens. A symlink there can lead to another directory.
    let opened = place.installed.as_ref().and_then(|one| PlacePath::new(&one.record.file).ok());
    let project = project_of(opened.as_ref().unwrap_or(&place.real));
    let homes: Vec<&PlacePath> = root.stops.iter().collect();
    let mut found = BTreeSet::new();
    let mut left = WORDS;
    for item in manifests(views).flat_map(Manifest::surface) {
        let mut bases = vec![project.clone()];
        bases.extend(item.fact("cwd").into_iter().flat_map(|dir| resolve(dir, &project, &homes)));
        for command in item.run() {
            let words: Vec<String> = words(command).take(left).collect();
            left -= words.len();
            let after_cd = words.windows(2).filter(|pair| pair.first().is_some_and(|word| word == "cd"));
            let dirs: Vec<PlacePath> = after_cd
                .filter_map(<[String]>::last)
                .flat_map(|dir| resolve(dir, &project, &homes))
                .collect();
            let bases = bases.iter().chain(&dirs);
            for base in bases {
                let places = words.iter().flat_map(|word| resolve(word, base, &homes));
                found.extend(places.filter_map(|at| relative(&place.real, &at)));
            }
        }
    }
    found
}

/// Splits a command at blanks, quotes and operators. A path with blanks in it is not found.
fn words(command: &str) -> impl Iterator<Item = String> + '_ {
    let is_end = |c: char| {
        c.is_whitespace()
            || matches!(c, '"' | '\'' | ';' | '|' | '&' | '(' | ')' | '<' | '>' | ',' | '=' | '`' | '{' | '}')
    };
    let mut plain = command.to_owned();
    for text in TOP_LEVEL {
        plain = plain.replace(text, "$PWD");
    }
    for text in PROJECT.into_iter().filter(|text| text.contains('{')) {
        plain = plain.replace(text, "$PWD");
    }
    plain = plain.replace("${HOME}", "$HOME");
    let joined: Vec<String> = plain.replace(['"', '\''], "").split(is_end).map(str::to_owned).collect();
    let plain: Vec<String> = plain.split(is_end).map(str::to_owned).collect();
    plain.into_iter().chain(joined).filter(|word| !word.is_empty() && !word.starts_with('-'))
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
    if let Some(rest) = ["~/", "$HOME/"].iter().find_map(|name| word.strip_prefix(name)) {
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

    /// Returns the scripts among the named paths.
    fn named(command: &str) -> Vec<String> {
        let file = place("/home/user/site/.claude/settings.json");
        let home = place("/home/user");
        let project = project_of(&file);
        let found = words(command).flat_map(|word| resolve(&word, &project, &[&home]));
        let names = found.filter_map(|at| relative(&file, &at));
        // A quoted variable also leaves the rest of its word, which names nothing that exists.
        let is_script = |name: &String| {
            (name.contains(".sh") || name.contains("/tool")) && !name.starts_with("../../../../../")
        };
        let names: BTreeSet<String> = names.filter(is_script).collect();
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
