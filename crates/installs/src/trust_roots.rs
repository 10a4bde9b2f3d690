//! Variables that decide which files, home directories and libraries plugward itself uses, in the settings of a project.
//!
//! A host starts its hooks with the variables of its settings. A repository that sets one of these decides with which
//! pins the user's own hook works. The variables of a server are left out, because they reach that server alone.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use plugward_manifest::json::{JsonMember, JsonNode};
use plugward_types::{LineEnds, LineIndex};

use crate::dotenv::{self, FileVariable};
use crate::source_file::{SourceFile, Syntax};
use crate::{HostRow, HostTable, PartEffect};

/// The names that begin with one of these.
const PREFIXES: &[&str] = &["PLUGWARD_", "CLAUDE_CODE_PLUGIN_"];

/// The names, without the home directories of hosts.
const NAMES: &[&str] = &[
    "CLAUDE_PROJECT_DIR",
    "DYLD_INSERT_LIBRARIES",
    "GEMINI_PROJECT_DIR",
    "HOME",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// Returns the files of a directory in which a host or an editor finds variables for the programs that it starts.
#[must_use]
pub fn trust_root_files() -> &'static [&'static str] {
    static FILES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let rows = HostTable::compiled_rows();
        let parts =
            rows.iter().flat_map(|row| &row.parts).filter(|part| part.effect == PartEffect::TrustRoot);
        let files: BTreeSet<&str> = parts.filter_map(|part| part.file.strip_prefix("./")).collect();
        files.into_iter().collect()
    });
    &FILES
}

/// A variable that moves what plugward trusts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct TrustRoot {
    /// The line, from 1.
    pub line: u32,
    /// The name of the variable.
    pub name: String,
    /// The value, which must not be printed; `None` if it is not a text.
    pub value: Option<String>,
}

/// Returns the variables that one of the [`trust_root_files`] sets, in the order of the file.
///
/// A file that cannot be parsed sets none: its host does not read it either, and [`read_host`](crate::read_host) reports
/// it.
#[must_use]
pub fn trust_roots(file: &str, bytes: &[u8]) -> Vec<TrustRoot> {
    let mut roots = match file.rsplit('/').next() {
        Some(".env") => in_dotenv(bytes),
        _ => in_settings(file, bytes),
    };
    roots.retain(|root| is_trust_root(&root.name));
    roots.sort();
    roots.dedup();
    roots
}

/// Returns `true` for a variable that moves what plugward trusts.
pub(crate) fn is_trust_root(name: &str) -> bool {
    NAMES.contains(&name)
        || is_moving(name)
        || PREFIXES.iter().any(|prefix| name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty()))
}

/// Returns `true` for a variable that moves a host of the table.
fn is_moving(name: &str) -> bool {
    let rows = HostTable::compiled_rows();
    rows.iter().flat_map(HostRow::moving_variables).any(|variable| variable == name)
}

/// Returns all variables of a `.env` file.
fn in_dotenv(bytes: &[u8]) -> Vec<TrustRoot> {
    let lines = LineIndex::new(bytes, LineEnds::Text);
    let root =
        |one: FileVariable| TrustRoot { line: lines.line(one.at), name: one.name, value: Some(one.value) };
    dotenv::file_variables(bytes).into_iter().map(root).collect()
}

/// Returns all variables of a settings file.
fn in_settings(file: &str, bytes: &[u8]) -> Vec<TrustRoot> {
    let syntax = match file {
        ".codex/config.toml" => Syntax::Toml,
        ".claude/settings.json" | ".claude/settings.local.json" => Syntax::Json,
        ".vscode/settings.json" => Syntax::JsonWithCommas,
        _ => Syntax::JsonWithComments,
    };
    let source = SourceFile::new(file.to_owned(), bytes.to_vec(), syntax);
    let Ok(root) = source.parse() else { return Vec::new() };
    let mut members: Vec<&JsonMember<'_>> = Vec::new();
    let mut entries: Vec<&JsonNode<'_>> = Vec::new();
    match file {
        ".codex/config.toml" => {
            let policy = root.get("shell_environment_policy");
            members.extend(policy.map_or(&[][..], |policy| policy.members_of("set")));
        }
        // The variables of terminals are below several keys, and those of an extension are a list.
        ".vscode/settings.json" => everything(&root, &mut members, &mut entries),
        _ => {
            members.extend(root.members_of("env"));
            if let Some(hooks) = root.get("hooks") {
                of_hooks(hooks, &mut members);
            }
        }
    }
    let lines = LineIndex::new(bytes, LineEnds::Lf);
    let set = members.into_iter().filter(|member| !member.node().is_null()).map(|member| TrustRoot {
        line: lines.line(member.key_span().start),
        name: member.key().to_owned(),
        value: member.node().as_str().map(ToOwned::to_owned),
    });
    let listed = entries.into_iter().filter_map(|entry| {
        let name = entry.get("name")?;
        let value = entry.get("value")?.as_str().map(ToOwned::to_owned);
        Some(TrustRoot { line: lines.line(name.span().start), name: name.as_str()?.to_owned(), value })
    });
    set.chain(listed).collect()
}

/// Adds the variables of each hook. A host can take a hook of the project in place of the same hook of the user.
fn of_hooks<'n, 'f>(node: &'n JsonNode<'f>, into: &mut Vec<&'n JsonMember<'f>>) {
    for member in node.members_or_none() {
        match member.key() {
            "env" => into.extend(member.node().members_or_none()),
            _ => of_hooks(member.node(), into),
        }
    }
    node.items_or_none().iter().for_each(|item| of_hooks(item, into));
}

/// Adds all members and all items of lists, at any depth.
fn everything<'n, 'f>(
    node: &'n JsonNode<'f>,
    members: &mut Vec<&'n JsonMember<'f>>,
    items: &mut Vec<&'n JsonNode<'f>>,
) {
    for member in node.members_or_none() {
        members.push(member);
        everything(member.node(), members, items);
    }
    for item in node.items_or_none() {
        items.push(item);
        everything(item, members, items);
    }
}
