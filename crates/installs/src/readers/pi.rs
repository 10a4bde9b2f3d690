//! Pi: the extensions, packages and skills that its settings name.

use super::{CodeNames, in_project, texts};
use crate::collector::{Collector, join, place};
use crate::loose::{add_directory, add_skills_at};
use crate::pattern::is_pattern;
use crate::source_file::Syntax;
use crate::{InstallKind, InstallLayer};

pub(crate) fn read(found: &mut Collector<'_>) {
    let user = (join(&found.home, "settings.json"), InstallLayer::User);
    for (path, layer) in core::iter::once(user).chain(in_project(found, ".pi/settings.json")) {
        read_settings(found, &path, layer);
    }
}

fn read_settings(found: &mut Collector<'_>, path: &str, layer: InstallLayer) {
    let mut names = CodeNames::new(path, layer);
    let (mut skills, mut prompts) = (Vec::new(), Vec::new());
    found.parts_file(path, Syntax::JsonWithCommas, layer, |found, root, parts| {
        for (number, text) in texts(root.get("extensions"), "path") {
            let name = format!("extensions.{number}");
            for (match_number, at) in selected(found, path, &names, "extensions", &number, text) {
                names.add(found, parts, &format!("{name}{match_number}"), &at);
            }
        }
        for (number, text) in texts(root.get("packages"), "source") {
            let name = format!("packages.{number}");
            match installed(found, &names, text) {
                Some(path) => names.directories.push(path),
                None => names.add(found, parts, &name, text.strip_prefix("npm:").unwrap_or(text)),
            }
        }
        if let Some(command) = root.get("npmCommand").filter(|command| !command.is_null()) {
            parts.add_command("npmCommand", command);
        }
        let mut directories = |key: &str| -> Vec<String> {
            let all = texts(root.get(key), "path").into_iter();
            all.flat_map(|(number, text)| selected(found, path, &names, key, &number, text))
                .map(|(_, at)| at)
                .collect()
        };
        (skills, prompts) = (directories("skills"), directories("prompts"));
    });
    for path in skills {
        add_skills_at(found, &path, layer);
    }
    for path in prompts {
        add_directory(found, &path, InstallKind::Commands, layer);
    }
    names.finish(found);
}

/// Returns the paths that an item of a list adds, with a suffix for each match of a pattern. `+` adds, and `!` and `-` only
/// leave out what is judged anyway.
fn selected(
    found: &mut Collector<'_>,
    file: &str,
    names: &CodeNames,
    list: &str,
    number: &str,
    text: &str,
) -> Vec<(String, String)> {
    if text.starts_with(['!', '-']) {
        return Vec::new();
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    let paths = names.paths(found, place(file, &format!("/{list}/{number}")), text);
    if !is_pattern(text) {
        return paths.into_iter().map(|path| (String::new(), path)).collect();
    }
    paths.into_iter().enumerate().map(|(at, path)| (format!(".{at}"), path)).collect()
}

/// Returns the directory of an installed package. The packages that a user has from npm are in a directory of npm, which
/// the settings of npm decide.
fn installed(found: &Collector<'_>, names: &CodeNames, source: &str) -> Option<String> {
    if let Some(package) = source.strip_prefix("npm:") {
        let at = package.rfind('@').filter(|at| *at > 0).unwrap_or(package.len());
        let path = join(&names.base, &format!("npm/node_modules/{}", package.get(..at)?));
        return Some(path).filter(|path| found.is_directory(path));
    }
    let source = source.strip_prefix("git:").unwrap_or(source);
    let rest = source.split_once("://").map_or(source, |(_, rest)| rest);
    let rest = rest.strip_prefix("git@").unwrap_or(rest);
    let rest = rest.split_once('@').map_or(rest, |(rest, _)| rest).trim_end_matches(".git").replace(':', "/");
    let is_name = rest.split('/').all(|part| !matches!(part, "" | "." | ".." | "~"));
    let path = join(&names.base, &format!("git/{rest}"));
    Some(path).filter(|path| is_name && found.is_directory(path))
}
