//! Keys of settings, as they are written in TOML.

use core::fmt;
use core::str::FromStr;

use plugward_types::{Part, PluginKey, nearest};
use toml::de::{DeTable, DeValue};

use super::{SettingId, SettingKind};

/// The key of one setting, such as `plugins.command.serve.run`.
///
/// # Examples
/// ```
/// use plugward_policy::SettingKey;
///
/// let key: SettingKey = "plugins.bundle.\"claude:hookify@acme\".run".parse()?;
/// assert_eq!(key.name(), Some("claude:hookify@acme"));
/// let error = "plugins.aproval".parse::<SettingKey>().unwrap_err();
/// assert_eq!(error.help(), "did you mean `approval`?");
/// # Ok::<(), plugward_policy::KeyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SettingKey {
    pub(crate) id: SettingId,
    pub(crate) name: String,
    /// The path inside a setting that takes any TOML.
    pub(crate) leaf: Vec<String>,
}

/// A text that is not the key of a setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct KeyError {
    pub(crate) message: String,
    pub(crate) help: String,
}

impl KeyError {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }

    /// Returns the next step for the user, with the nearest name.
    #[must_use]
    pub fn help(&self) -> &str {
        &self.help
    }
}

impl SettingKey {
    /// Creates the key of a row without names.
    #[must_use]
    pub const fn of(id: SettingId) -> Self {
        Self { id, name: String::new(), leaf: Vec::new() }
    }

    /// Creates the key of a row with a name, such as the id of a command plugin.
    #[must_use]
    pub fn named(id: SettingId, name: &str) -> Self {
        Self { id, name: name.to_owned(), leaf: Vec::new() }
    }

    /// Returns the row of the key table.
    #[must_use]
    pub const fn id(&self) -> SettingId {
        self.id
    }

    /// Returns the id of the command plugin, or the selector of the bundle.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        Some(self.name.as_str()).filter(|name| !name.is_empty())
    }

    /// Returns the path inside `options`; empty for other keys.
    #[must_use]
    pub fn leaf(&self) -> &[String] {
        &self.leaf
    }

    /// Returns `true` if the key is `whole`, or a part of its options.
    pub(crate) fn is_in(&self, whole: &Self) -> bool {
        self.id == whole.id && self.name == whole.name && self.leaf.starts_with(&whole.leaf)
    }

    fn of_parts(parts: &[String]) -> Result<Self, KeyError> {
        let mut rules: &[SettingId] = SettingId::ALL;
        let mut name = String::new();
        for (depth, part) in parts.iter().enumerate() {
            rules = matching(rules, depth, part)?;
            let Some(id) = rules.first() else { break };
            if id.is_name(depth) {
                check_name(*id, part)?;
                name.clone_from(part);
            }
            if id.rule().path.len() == depth.saturating_add(1) {
                let leaf = parts.part(depth.saturating_add(1)..).to_vec();
                if let (Some(word), false) = (leaf.first(), id.takes_path()) {
                    return Err(unknown(word, &[]));
                }
                return Ok(Self { id: *id, name, leaf });
            }
        }
        let below = candidates(rules, parts.len());
        Err(KeyError::new("this is a table of settings", format!("add one of {below}")))
    }
}

impl FromStr for SettingKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        // A selector with `:` or `*` needs quotes in TOML, which a shell removes.
        let bundle = text.strip_prefix("plugins.bundle.").and_then(|rest| rest.strip_suffix(".run"));
        if let Some(selector) = bundle.filter(|selector| !selector.starts_with(['"', '\''])) {
            return Self::of_parts(&["plugins", "bundle", selector, "run"].map(str::to_owned));
        }
        let shape =
            || KeyError::new("expected a key, such as `plugins.approval`", "separate its parts with dots");
        let text = format!("{text} = 0");
        let parsed = DeTable::parse(&text).map_err(|_error| shape())?;
        let (mut parts, mut table) = (Vec::new(), parsed.get_ref());
        loop {
            let (1, Some((part, value))) = (table.len(), table.iter().next()) else { return Err(shape()) };
            parts.push(part.get_ref().to_string());
            match value.get_ref() {
                DeValue::Table(inner) => table = inner,
                _ => return Self::of_parts(&parts),
            }
        }
    }
}

impl fmt::Display for SettingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, part) in self.id.rule().path.iter().enumerate() {
            let part = if is_placeholder(part) { &quoted(&self.name) } else { *part };
            write!(f, "{}{part}", if number == 0 { "" } else { "." })?;
        }
        self.leaf.iter().try_for_each(|part| write!(f, ".{}", quoted(part)))
    }
}

/// Returns a part of a key, in quotes if TOML requires them.
fn quoted(part: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !part.is_empty() && part.chars().all(is_bare) {
        return part.to_owned();
    }
    toml::Value::from(part).to_string()
}

fn is_placeholder(part: &str) -> bool {
    part.starts_with('<')
}

impl SettingId {
    /// Returns `true` if the part of the key at `depth` is a name.
    pub(crate) fn is_name(self, depth: usize) -> bool {
        self.rule().path.get(depth).is_some_and(|part| is_placeholder(part))
    }

    /// Returns `true` if keys of the row contain a name.
    pub(crate) fn has_name(self) -> bool {
        self.rule().path.iter().any(|part| is_placeholder(part))
    }

    /// Returns `true` if a path can follow the key.
    const fn takes_path(self) -> bool {
        matches!(self.rule().kind, SettingKind::Opaque)
    }
}

/// Returns the rules whose part at `depth` is `word`.
///
/// # Errors
/// None has such a part.
pub(crate) fn matching<'r>(
    rules: &'r [SettingId],
    depth: usize,
    word: &str,
) -> Result<&'r [SettingId], KeyError> {
    let fits =
        |id: &SettingId| id.rule().path.get(depth).is_some_and(|part| *part == word || is_placeholder(part));
    // Rules with a common start are next to each other, so a slice holds all of them.
    let start = rules.iter().position(fits).ok_or_else(|| unknown(word, &names(rules, depth)))?;
    let found = rules.part(start..);
    let end = found.iter().position(|id| !fits(id)).unwrap_or(found.len());
    Ok(found.part(..end))
}

fn names(rules: &[SettingId], depth: usize) -> Vec<&'static str> {
    let mut names: Vec<&str> = rules.iter().filter_map(|id| id.rule().path.get(depth).copied()).collect();
    names.dedup();
    names
}

/// Returns the names that can follow at `depth`, as a phrase.
fn candidates(rules: &[SettingId], depth: usize) -> String {
    in_backticks(&names(rules, depth))
}

pub(crate) fn in_backticks(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn unknown(word: &str, names: &[&str]) -> KeyError {
    KeyError::new(format!("unknown field `{word}`, expected {}", expected(names)), nearest_help(word, names))
}

/// Returns the possible words as a phrase.
pub(crate) fn expected(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        [one] => format!("`{one}`"),
        [one, two] => format!("`{one}` or `{two}`"),
        names => format!("one of {}", in_backticks(names)),
    }
}

/// Returns the help that names the nearest of some words.
pub(crate) fn nearest_help(word: &str, names: &[&str]) -> String {
    match nearest(word, names.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None if names.is_empty() => "remove it".to_owned(),
        None => "use one of the values above".to_owned(),
    }
}

/// Checks the id of a command plugin, or the selector of a bundle.
pub(crate) fn check_name(id: SettingId, name: &str) -> Result<(), KeyError> {
    if id == SettingId::BundleRun {
        return check_selector(name);
    }
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let rest = |c: char| good(c) || matches!(c, '_' | '-');
    if name.len() <= 64 && name.starts_with(good) && name.chars().all(rest) {
        return Ok(());
    }
    let what = if id == SettingId::Hosts { "host" } else { "command plugin" };
    let message = format!("`{name}` is not the id of a {what}");
    Err(KeyError::new(message, "write 1 to 64 of a-z, 0-9, _ and -, first a letter or digit"))
}

/// Checks a selector of plugins: a key, a name, or text with one trailing `*`.
pub(crate) fn check_selector(selector: &str) -> Result<(), KeyError> {
    let wrong = |message: String| {
        KeyError::new(message, "write a key (`host:name@market`, `path:/directory`), a name, or text and `*`")
    };
    let text = selector.strip_suffix('*').unwrap_or(selector);
    if selector.is_empty() || text.contains('*') {
        return Err(wrong(format!("`{selector}` is not a selector: `*` is for the end of a text")));
    }
    if text == selector && selector.contains([':', '/']) {
        let parsed = selector.parse::<PluginKey>();
        return parsed.map(drop).map_err(|error| wrong(format!("`{selector}` is not a key: {error}")));
    }
    Ok(())
}
