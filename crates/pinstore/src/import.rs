//! What other programs trusted, as proposals.

use std::collections::BTreeMap;

use serde_json::Value;
use thiserror::Error;

use crate::doc::{self, Lines, Node};
use crate::error::FormatError;

/// The most bytes of a foreign file that are read.
const CAP: usize = 4 << 20;
const MAX_PROPOSALS: usize = 10_000;

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new program must stop every host from building")]
pub enum ImportFrom {
    /// HyperAgent's `approved-plugins.json`: a hash over source and manifest, by name.
    HyperAgent,
    /// JP's `plugin-approvals.json`: a program's path and hash, by name.
    Jp,
    /// The hook hashes in Codex's `config.toml`: a hash over one hook's definition.
    Codex,
    /// The pins of ADR-003, version 1: the manifest's hash, by name.
    Gnoma,
}

/// One thing that another program trusted. It is never a grant: no such file covers the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proposal {
    /// The name that the file gives, escaped.
    pub name: String,
    /// What the other program trusted, for a person.
    pub covered: String,
    /// What a person may type, after a look; none where the name is no plugin's.
    pub command: Option<String>,
}

/// A foreign file that says nothing that could be read.
#[derive(Debug, Clone, Error)]
#[error("read the trust file of another program: {kind}")]
pub struct ImportError {
    kind: ImportErrorKind,
}

impl ImportError {
    /// Says what is wrong.
    #[must_use]
    pub const fn kind(&self) -> &ImportErrorKind {
        &self.kind
    }

    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "import/format"
    }

    /// Says what a person does next.
    #[must_use]
    pub fn help(&self) -> String {
        "name the program's own trust file, unchanged".to_owned()
    }
}

/// What is wrong with a foreign file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ImportErrorKind {
    /// It is larger than any such file.
    #[error("more than {cap} bytes")]
    TooLarge {
        /// The most that is read.
        cap: usize,
    },
    /// It is no JSON.
    #[error("no JSON, from line {line}, column {column} on")]
    Json {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// It is no TOML.
    #[error("{0}")]
    Toml(FormatError),
    /// It has not the shape of that program's file.
    #[error("expected {expected}")]
    Shape {
        /// What was expected.
        expected: &'static str,
    },
}

const fn wrong(kind: ImportErrorKind) -> ImportError {
    ImportError { kind }
}

/// Reads what another program trusted, and proposes what a person may type. It writes no trust.
///
/// # Errors
/// `import/format` where the file is not what that program writes.
///
/// # Guarantees
/// At most 10,000 proposals, by name. A name is put into a command only where it can be a plugin's, so that nothing of
/// the file can be read as another argument.
pub fn import(from: ImportFrom, bytes: &[u8]) -> Result<Vec<Proposal>, ImportError> {
    if bytes.len() > CAP {
        return Err(wrong(ImportErrorKind::TooLarge { cap: CAP }));
    }
    let mut found = match from {
        ImportFrom::HyperAgent => hyperagent(&json(bytes)?)?,
        ImportFrom::Jp => jp(&json(bytes)?)?,
        ImportFrom::Codex => toml(bytes, codex)?,
        ImportFrom::Gnoma => toml(bytes, gnoma)?,
    };
    found.sort_by(|a, b| (&a.name, &a.covered).cmp(&(&b.name, &b.covered)));
    found.truncate(MAX_PROPOSALS);
    Ok(found)
}

fn json(bytes: &[u8]) -> Result<Value, ImportError> {
    serde_json::from_slice(bytes)
        .map_err(|error| wrong(ImportErrorKind::Json { line: error.line(), column: error.column() }))
}

type Table<'a> = BTreeMap<String, BTreeMap<String, String>>;

fn toml(
    bytes: &[u8],
    read: impl FnOnce(&Node<'_, '_>) -> Result<Vec<Proposal>, FormatError>,
) -> Result<Vec<Proposal>, ImportError> {
    let bad = |error| wrong(ImportErrorKind::Toml(error));
    let text = doc::text_of(bytes).map_err(bad)?;
    let lines = Lines::of(text);
    let table = doc::parse(text, &lines).map_err(bad)?;
    read(&Node::root(&table, &lines)).map_err(bad)
}

fn printable(text: &str) -> String {
    text.chars().take(300).flat_map(char::escape_default).collect()
}

fn proposal(name: &str, covered: String) -> Proposal {
    let plain = plugward_types::PluginId::check_part(name).is_ok();
    Proposal { name: printable(name), covered, command: plain.then(|| format!("plugward diff {name}")) }
}

fn object<'v>(
    value: &'v Value,
    expected: &'static str,
) -> Result<&'v serde_json::Map<String, Value>, ImportError> {
    value.as_object().ok_or_else(|| wrong(ImportErrorKind::Shape { expected }))
}

fn text<'v>(record: &'v serde_json::Map<String, Value>, key: &str) -> &'v str {
    record.get(key).and_then(Value::as_str).unwrap_or("unknown")
}

fn hyperagent(value: &Value) -> Result<Vec<Proposal>, ImportError> {
    const EXPECTED: &str = "an object of names, each with contentHash, auditRiskLevel and auditVerdict";
    let mut found = Vec::new();
    for (name, record) in object(value, EXPECTED)? {
        let record = object(record, EXPECTED)?;
        let of = |key| printable(text(record, key));
        let covered = format!(
            "its entry file and manifest ({}), risk {}, verdict {}; not the files that it imports",
            of("contentHash"),
            of("auditRiskLevel"),
            of("auditVerdict"),
        );
        found.push(proposal(name, covered));
    }
    Ok(found)
}

fn jp(value: &Value) -> Result<Vec<Proposal>, ImportError> {
    const EXPECTED: &str = "an object with `approved`: names, each with path and sha256";
    let approved = object(value, EXPECTED)?.get("approved");
    let mut found = Vec::new();
    for (name, record) in object(approved.unwrap_or(&Value::Null), EXPECTED)? {
        let record = object(record, EXPECTED)?;
        let of = |key| printable(text(record, key));
        found.push(proposal(name, format!("the program {} ({})", of("path"), of("sha256"))));
    }
    Ok(found)
}

fn codex(root: &Node<'_, '_>) -> Result<Vec<Proposal>, FormatError> {
    let state = match root.table("hooks")? {
        Some(hooks) => hooks.table("state")?,
        None => None,
    };
    let mut found: Table<'_> = BTreeMap::new();
    if let Some(state) = state {
        for (key, node) in state.tables()? {
            let Some(hash) = node.text::<String>("trusted_hash")? else { continue };
            // `plugin@marketplace:file:event:group:handler`, or a path in front for hooks that are no plugin's.
            let (owner, hook) = key.split_once(':').unwrap_or((key, ""));
            let plugin = owner.split_once('@').map_or(owner, |(plugin, _)| plugin);
            found.entry(plugin.to_owned()).or_default().insert(hook.to_owned(), hash);
        }
    }
    let covered = |(hook, hash): (&String, &String)| {
        format!(
            "the definition of one hook, {} ({}); not the script that it runs",
            printable(hook),
            printable(hash)
        )
    };
    let each = |(plugin, hooks): (&String, &BTreeMap<String, String>)| -> Vec<Proposal> {
        hooks.iter().map(|hook| proposal(plugin, covered(hook))).collect()
    };
    Ok(found.iter().flat_map(each).collect())
}

fn gnoma(root: &Node<'_, '_>) -> Result<Vec<Proposal>, FormatError> {
    let Some(pins) = root.table("pins")? else { return Err(root.missing("pins")) };
    let pins = pins.strings("64 lower-case hex digits")?;
    Ok(pins
        .into_iter()
        .map(|(name, hex, _)| proposal(name, format!("its manifest alone ({})", printable(hex))))
        .collect())
}
