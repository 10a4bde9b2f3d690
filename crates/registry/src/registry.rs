//! The registry file: a list of command plugins and their executables.

use core::fmt;
use std::collections::BTreeMap;

use plugward_manifest::json::{self, JsonNode, JsonValue, ParseLimits};
use plugward_manifest::{SurfaceKind, read_jp_entry};
use plugward_types::escape::line;
use plugward_types::{Digest, Part, hex, pointer};

use crate::download::SourceUrl;
use crate::error::{RegistryError, RegistryErrorKind};
use crate::names::{is_command_id, is_command_name};

/// A remark for the user that does not stop the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryNote {
    code: &'static str,
    pointer: String,
    message: String,
}

impl RegistryNote {
    pub(crate) const fn new(code: &'static str, message: String) -> Self {
        Self { code, pointer: String::new(), message }
    }

    /// Returns the stable code: `registry/entry`, `registry/no-receipt` or `policy/weak-algorithm`.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.code
    }

    /// Returns the JSON pointer in the registry file; empty if the note is not about an entry.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }
}

impl fmt::Display for RegistryNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if self.pointer.is_empty() { Ok(()) } else { write!(f, " ({})", line(&self.pointer)) }
    }
}

/// The kind of an entry. Only commands are dispatched.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandKind {
    /// A command with executables.
    Command,
    /// A group of commands, without an executable.
    Group,
    /// A kind that is reserved or unknown. It is listed only.
    Other(String),
}

impl CommandKind {
    /// Returns the name in the registry file.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Command => "command",
            Self::Group => "command_group",
            Self::Other(name) => name,
        }
    }
}

/// The executable of an entry for one platform.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandBinary {
    /// The platform, such as `x86_64-unknown-linux-gnu`.
    pub target: String,
    /// The URL.
    pub url: SourceUrl,
    /// The digest that the registry lists.
    pub digest: Digest,
}

/// One command plugin of a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegistryEntry {
    /// The command name, such as `serve web`.
    pub name: String,
    /// The id, by which settings refer to the plugin.
    pub id: String,
    /// The kind.
    pub kind: CommandKind,
    /// The description, which the registry's author wrote.
    pub description: String,
    /// Whether the registry claims that the plugin is official.
    pub official: bool,
    /// The URL of the plugin's repository.
    pub repository: Option<String>,
    /// The plugins that its author recommends.
    pub suggests: Vec<String>,
    /// The plugins that it needs.
    pub requires: Vec<String>,
    /// The executables, in file order.
    pub binaries: Vec<CommandBinary>,
}

impl RegistryEntry {
    /// Returns the executable for the first target that has one, if the entry is a command.
    #[must_use]
    pub fn binary(&self, targets: &[String]) -> Option<&CommandBinary> {
        let of = |target: &String| self.binaries.iter().find(|binary| binary.target == *target);
        targets.iter().find_map(of).filter(|_| self.kind == CommandKind::Command)
    }
}

/// The valid entries of a registry file, by command name.
///
/// # Examples
/// ```
/// use plugward_registry::{Registry, SourceUrl};
///
/// let url = SourceUrl::parse("https://example.org/registry.json")?;
/// let file = br#"{"version": 1, "plugins": {"serve": {"id": "serve", "description": "Serves files"}, "A": {}}}"#;
/// let registry = Registry::parse(file, &url)?;
/// assert_eq!(registry.entries().map(|entry| &*entry.id).collect::<Vec<_>>(), ["serve"]);
/// assert_eq!(registry.notes()[0].code(), "registry/entry");
/// # Ok::<(), plugward_registry::RegistryError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registry {
    url: SourceUrl,
    entries: BTreeMap<String, RegistryEntry>,
    notes: Vec<RegistryNote>,
}

impl Registry {
    /// Parses a registry file. Entries that are not valid are left out, each with a note.
    ///
    /// # Errors
    /// `registry/syntax` if the file is not strict JSON, exceeds 4 MiB or 32 levels, contains a key twice or has no
    /// object `plugins`; `registry/version`.
    pub fn parse(bytes: &[u8], url: &SourceUrl) -> Result<Self, RegistryError> {
        let syntax = |why: String| RegistryError::from(RegistryErrorKind::Syntax { why });
        let root = json::parse(bytes, &ParseLimits::marketplace()).map_err(|e| syntax(e.to_string()))?;
        match root.get("version").map(JsonNode::value) {
            Some(JsonValue::Number(number)) if number.as_integer() == Some(1) => {}
            Some(JsonValue::Number(number)) => {
                return Err(RegistryErrorKind::Version { found: number.text().to_owned() }.into());
            }
            _ => return Err(syntax("expected the number `version`".to_owned())),
        }
        let Some(plugins) = root.get("plugins").and_then(JsonNode::members) else {
            return Err(syntax("expected the object `plugins`".to_owned()));
        };
        let mut found = Self { url: url.clone(), entries: BTreeMap::new(), notes: Vec::new() };
        let mut ids: BTreeMap<String, usize> = BTreeMap::new();
        for member in plugins {
            let id = match member.node().get("id") {
                Some(id) => id.as_str().map(str::to_owned),
                None => Some(member.key().replace(' ', "-")),
            };
            let count = ids.entry(id.unwrap_or_default()).or_default();
            *count = count.saturating_add(1);
        }
        for member in plugins {
            let (name, node) = (member.key(), member.node());
            let text = bytes.part(node.span().start..node.span().end);
            let entry = match entry(name, node, text, url) {
                // With two entries of one id, a setting for that id would apply to either plugin.
                Ok(entry) if ids.get(&entry.id).is_some_and(|count| *count > 1) => {
                    Err(("/id".to_owned(), format!("another entry has the id `{}`", entry.id)))
                }
                other => other,
            };
            match entry {
                Ok(entry) => drop(found.entries.insert(name.to_owned(), entry)),
                Err((inside, why)) => {
                    let pointer = pointer::step("/plugins", name) + &inside;
                    let message = format!("an entry of the registry is ignored: {why}");
                    found.notes.push(RegistryNote { code: "registry/entry", pointer, message });
                }
            }
        }
        Ok(found)
    }

    /// Returns the URL.
    #[must_use]
    pub const fn url(&self) -> &SourceUrl {
        &self.url
    }

    /// Returns the entries, sorted by command name.
    pub fn entries(&self) -> impl Iterator<Item = &RegistryEntry> {
        self.entries.values()
    }

    /// Returns the notes about entries that are left out.
    #[must_use]
    pub fn notes(&self) -> &[RegistryNote] {
        &self.notes
    }

    /// Returns the entry with a command name, or else with an id.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&RegistryEntry> {
        self.entries.get(name).or_else(|| self.entries().find(|entry| entry.id == name))
    }

    /// Returns the error for an installed plugin without a valid entry.
    pub(crate) fn unlisted(&self, name: &str) -> RegistryErrorKind {
        let (place, name) = (pointer::step("/plugins", name), name.to_owned());
        let is_inside = |rest: &str| rest.is_empty() || rest.starts_with('/');
        match self.notes.iter().find(|note| note.pointer.strip_prefix(&*place).is_some_and(is_inside)) {
            Some(note) => RegistryErrorKind::Ignored { name, why: note.message.clone() },
            None => RegistryErrorKind::Delisted { name },
        }
    }

    /// Returns the error for an entry of another kind than a command. For a group, it has the commands in it.
    pub(crate) fn not_a_command(&self, entry: &RegistryEntry) -> RegistryErrorKind {
        let begin = format!("{} ", entry.name);
        let is_inside = |one: &&RegistryEntry| {
            one.kind == CommandKind::Command
                && entry.kind == CommandKind::Group
                && (one.name.starts_with(&begin) || entry.suggests.contains(&one.name))
        };
        let commands = self.entries().filter(is_inside).map(|one| one.name.clone()).collect();
        RegistryErrorKind::Kind { name: entry.name.clone(), kind: entry.kind.name().to_owned(), commands }
    }
}

/// Reads one entry, or returns the JSON pointer inside it and the reason why it is not valid.
fn entry(
    name: &str,
    node: &JsonNode<'_>,
    text: &[u8],
    registry: &SourceUrl,
) -> Result<RegistryEntry, (String, String)> {
    let wrong = |pointer: &str, why: &str| (pointer.to_owned(), why.to_owned());
    if !is_command_name(name) {
        return Err(wrong("", "its name is not 1 to 4 words of a-z, 0-9 and -"));
    }
    let manifest = read_jp_entry(name, text).map_err(|errors| {
        let first = errors.first();
        (first.pointer().to_owned(), first.message().to_owned())
    })?;
    if !is_command_id(manifest.name()) {
        return Err(wrong("/id", "its id is not 1 to 64 characters of a-z, 0-9, _ and -"));
    }
    let word = node.get("kind").or_else(|| node.get("type")).and_then(JsonNode::as_str);
    let kind = match word.unwrap_or("command") {
        "command" => CommandKind::Command,
        "command_group" => CommandKind::Group,
        other => CommandKind::Other(other.to_owned()),
    };
    let mut binaries = Vec::new();
    for item in manifest.surface().iter().filter(|item| item.kind() == SurfaceKind::Binary) {
        let fact = |key| item.fact(key).unwrap_or_default();
        let target = item.name().to_owned();
        let pointer = pointer::step("/binaries", &target);
        let url = SourceUrl::parse(fact("url")).map_err(|error| (pointer.clone(), error.to_string()))?;
        if !registry.may_list(&url) {
            return Err((
                pointer,
                format!("a registry on the network lists {url}, which is on this machine"),
            ));
        }
        let digest = hex::decode_array(fact("sha256")).ok_or_else(|| wrong(&pointer, "no digest"))?;
        binaries.push(CommandBinary { target, url, digest: Digest::from_bytes(digest) });
    }
    let texts = |key: &str| {
        let items = node.items_of(key);
        items.iter().filter_map(JsonNode::as_str).map(str::to_owned).collect()
    };
    Ok(RegistryEntry {
        name: name.to_owned(),
        id: manifest.name().to_owned(),
        kind,
        description: node.get("description").and_then(JsonNode::as_str).unwrap_or_default().to_owned(),
        official: matches!(node.get("official").map(JsonNode::value), Some(JsonValue::Bool(true))),
        repository: manifest.repository().map(str::to_owned),
        suggests: texts("suggests"),
        requires: texts("requires"),
        binaries,
    })
}
