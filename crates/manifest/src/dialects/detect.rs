//! Finds the dialects of a plugin directory.

use super::{Dialect, MAIN_FILES, gnoma};
use crate::json::{self, JsonNode, ParseLimits};
use crate::manifest::Files;

/// The dialect of a root `plugin.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum RootCheck {
    /// The file has `hostModules`, or an entry file is next to it.
    Hyperagent,
    /// The file has `capabilities` or `gnoma_version`, or only keys of gnoma.
    Gnoma,
    /// JSON that belongs to no known dialect: it does not make the directory a plugin.
    Unknown,
    /// The file is not valid JSON. The directory is reported as a broken plugin of the more likely dialect.
    Unreadable,
}

/// Determines the dialect of a root `plugin.json`, or returns `None` if there is none.
///
/// Next to `index.ts` or `index.js`, the file belongs to HyperAgent. Otherwise its keys decide.
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
    let file = files.get("plugin.json")?;
    let entry = files.get("index.ts").is_some() || files.get("index.js").is_some();
    // HyperAgent loads the directory because of its entry file, whatever the manifest contains.
    if entry {
        return Some(RootCheck::Hyperagent);
    }
    Some(match json::parse(file.bytes, &ParseLimits::standard()) {
        Ok(root) if root.get("hostModules").is_some() => RootCheck::Hyperagent,
        Ok(root) => of_gnoma(&root),
        // The keys of a broken file are unknown, so its text is searched.
        Err(_) if mentions_host_modules(file.bytes) => RootCheck::Hyperagent,
        Err(_) => RootCheck::Unreadable,
    })
}

/// Returns `true` if a broken file mentions `hostModules`, which makes it a broken HyperAgent plugin.
fn mentions_host_modules(bytes: &[u8]) -> bool {
    // A larger file is refused anyway, so the search does not need to be longer.
    let head = bytes.get(..ParseLimits::standard().bytes()).unwrap_or(bytes);
    head.windows(13).any(|window| window == b"\"hostModules\"")
}

/// Recognizes gnoma by a key that only it has, or if it knows all keys.
fn of_gnoma(root: &JsonNode<'_>) -> RootCheck {
    let Some(members) = root.members() else { return RootCheck::Unknown };
    let is = |key: &str, word: &str| gnoma::same_key(key, word);
    let marked =
        members.iter().any(|member| is(member.key(), "capabilities") || is(member.key(), "gnoma_version"));
    let only = members.iter().all(|member| gnoma::TOP.iter().any(|word| is(member.key(), word)));
    if marked || (only && !members.is_empty()) { RootCheck::Gnoma } else { RootCheck::Unknown }
}

/// Finds the dialects whose main file is in the directory, in table order.
///
/// A directory without a main file has none, even if it contains `skills/` or `commands/`. A root `plugin.json` that is
/// not valid JSON counts as gnoma, so that a broken plugin is reported instead of skipped.
#[must_use]
pub fn find_dialects(files: &dyn Files) -> Vec<Dialect> {
    let root = classify(files);
    let is_there = |(dialect, file): &(Dialect, &str)| match dialect {
        Dialect::Hyperagent => root == Some(RootCheck::Hyperagent),
        Dialect::Gnoma => matches!(root, Some(RootCheck::Gnoma | RootCheck::Unreadable)),
        _ => files.get(file).is_some(),
    };
    let mut found: Vec<Dialect> =
        MAIN_FILES.iter().filter(|entry| is_there(entry)).map(|(dialect, _)| *dialect).collect();
    // The directory is already known as a plugin of another dialect, so the broken file is reported as shadowed.
    if found.len() > 1 && root == Some(RootCheck::Unreadable) {
        found.retain(|dialect| *dialect != Dialect::Gnoma);
    }
    found
}
