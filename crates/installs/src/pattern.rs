//! Patterns of paths in settings: `*` and `?` in a component, and `**` for any directories.

use plugward_types::glob;

use crate::EntryKind;
use crate::collector::{Collector, join};

/// The directories in which the patterns of a host are looked for, so that hostile ones end.
pub(crate) const SEARCHED: usize = 4096;

/// Returns `true` if a path has a character with a meaning in patterns.
pub(crate) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '[', '{'])
}

/// Returns the existing paths that an absolute pattern stands for. The error is the reason that they are not known.
pub(crate) fn expand(found: &mut Collector<'_>, pattern: &str) -> Result<Vec<String>, String> {
    if pattern.contains(['[', '{', '(']) {
        return Err("brackets, braces and parentheses of a pattern are not expanded".to_owned());
    }
    let mut paths = vec![String::new()];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        if !is_pattern(part) {
            paths = paths.iter().map(|path| join(path, part)).collect();
            continue;
        }
        let mut next = Vec::new();
        for path in paths {
            next.extend(matching(found, path, part)?);
        }
        paths = next;
    }
    paths.retain(|path| found.machine.files.kind(path).is_some());
    Ok(paths)
}

/// Returns the paths that one component of a pattern stands for in a directory.
fn matching(found: &mut Collector<'_>, directory: String, part: &str) -> Result<Vec<String>, String> {
    let is_deep = part == "**";
    // Any directories include none.
    let mut paths = if is_deep { vec![directory.clone()] } else { Vec::new() };
    let mut waiting = vec![directory];
    while let Some(directory) = waiting.pop() {
        found.left_to_search = found
            .left_to_search
            .checked_sub(1)
            .ok_or_else(|| format!("the patterns of this host lead to more than {SEARCHED} directories"))?;
        let listed = if directory.is_empty() { "/" } else { &directory };
        for entry in found.entries(listed) {
            let path = join(&directory, &entry.name);
            if !is_deep && glob::is_shell_match(part, &entry.name) {
                paths.push(path);
            } else if is_deep && entry.kind == EntryKind::Directory && entry.name != ".git" {
                paths.push(path.clone());
                waiting.push(path);
            }
        }
    }
    Ok(paths)
}
