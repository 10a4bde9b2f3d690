//! An approval, and the approvals file.

use core::str::FromStr;
use std::collections::BTreeMap;

use plugward_types::{
    AuditKind, AuditVerdict, Digest, PluginId, PluginKey, Risk, Timestamp, TreeDigest, hex,
};

use crate::error::{FormatError, FormatErrorKind};
use crate::format::reader::{self, Node};
use crate::format::writer::{line, map, quoted, text};

const HEAD: &str = "\
# The approvals of audited plugins. plugward writes this file as a whole, without comments. You can delete an entry:
# the plugin then needs a new approval.
";

const VERSION: i64 = 2;
// The limit of entries, which bounds the memory that a file can take.
pub(crate) const MAX_APPROVALS: usize = 20_000;

/// The user's decision on audited contents.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Approval {
    /// The audited tree.
    pub tree: TreeDigest,
    /// The shared directories audited with the tree.
    pub shared: BTreeMap<String, TreeDigest>,
    /// The digest of the audit.
    pub audit: Digest,
    /// The kind of the audit.
    pub kind: AuditKind,
    /// The risk that the audit found.
    pub risk: Risk,
    /// The advice of the audit.
    pub verdict: AuditVerdict,
    /// The scanner's rule set at that time.
    pub rules: Digest,
    /// The user, if the host knew.
    pub by: Option<String>,
    /// The time, as stated by the host.
    pub at: Timestamp,
}

/// The contents of an approvals file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Given {
    pub(crate) by_key: BTreeMap<PluginKey, Approval>,
    /// The approvals of a version 1 file, which stored no place. An id can have one per scope.
    pub(crate) pending: BTreeMap<PluginId, Vec<Approval>>,
    /// Whether the file had version 1.
    pub(crate) is_version_one: bool,
}

impl Given {
    pub(crate) fn count(&self) -> usize {
        self.by_key.len().saturating_add(self.pending.values().map(Vec::len).sum())
    }
}

/// Reads an approvals file.
pub(crate) fn parse(bytes: &[u8]) -> Result<Given, FormatError> {
    let text = reader::text_of(bytes)?;
    let lines = reader::lines_of(text);
    let table = reader::parse(text, &lines)?;
    let root = Node::root(&table, &lines);
    let version = root.integer("version")?.ok_or_else(|| root.missing("version"))?;
    if version > VERSION {
        return Err(FormatError::anywhere(FormatErrorKind::Version { found: version }));
    }
    if !text.ends_with('\n') {
        return Err(FormatError::anywhere(FormatErrorKind::CutOff { missing: "the end of its last line" }));
    }
    let found = match version {
        VERSION => parse_current(&root)?,
        1 => parse_v1(&root)?,
        _ => return Err(root.wrong(&(0..0), "version", "1 or 2")),
    };
    if found.count() > MAX_APPROVALS {
        return Err(FormatError::anywhere(FormatErrorKind::TooMany { most: MAX_APPROVALS }));
    }
    Ok(found)
}

fn parse_current(root: &Node<'_, '_>) -> Result<Given, FormatError> {
    root.only(&["version", "approvals", "v1"])?;
    let mut found = Given::default();
    for (text, node) in root.table("approvals")?.map_or_else(|| Ok(Vec::new()), |table| table.tables())? {
        node.only(KEYS)?;
        found.by_key.insert(node.name_as(text)?, read(&node)?);
    }
    if let Some(pending) = root.table("v1")? {
        for (text, span) in pending.names() {
            let id = pending.key_as::<PluginId>(text, &span)?;
            for node in pending.list(text)? {
                node.only(KEYS)?;
                found.pending.entry(id.clone()).or_default().push(read(&node)?);
            }
        }
    }
    Ok(found)
}

fn parse_v1(root: &Node<'_, '_>) -> Result<Given, FormatError> {
    let mut found = Given { is_version_one: true, ..Given::default() };
    for (scope, node) in root.table("approvals")?.map_or_else(|| Ok(Vec::new()), |table| table.tables())? {
        if !is_scope(scope) {
            return Err(node.missing("a scope: `user`, or `workspace:` and 16 hex digits"));
        }
        for (text, node) in node.tables()? {
            found.pending.entry(node.name_as(text)?).or_default().push(read(&node)?);
        }
    }
    Ok(found)
}

const KEYS: &[&str] = &["tree", "shared", "audit", "kind", "risk", "verdict", "rules", "by", "at"];

/// Renders a whole file.
pub(crate) fn render(given: &Given) -> String {
    let mut out = format!("{HEAD}version = {VERSION}\n");
    for (key, approval) in &given.by_key {
        out.push_str(&format!("\n[approvals.{}]\n", quoted(&key.to_string())));
        write(&mut out, approval);
    }
    for (id, approvals) in &given.pending {
        for approval in approvals {
            out.push_str(&format!("\n[[v1.{}]]\n", quoted(id.as_str())));
            write(&mut out, approval);
        }
    }
    out
}

fn write(out: &mut String, approval: &Approval) {
    text(out, "tree", Some(&approval.tree));
    map(out, "shared", &approval.shared);
    text(out, "audit", Some(&approval.audit));
    line(out, "kind", quoted(approval.kind.as_str()));
    line(out, "risk", quoted(approval.risk.as_str()));
    line(out, "verdict", quoted(approval.verdict.as_str()));
    text(out, "rules", Some(&approval.rules));
    text(out, "by", approval.by.as_ref());
    line(out, "at", approval.at);
}

fn read(node: &Node<'_, '_>) -> Result<Approval, FormatError> {
    // An approval never has a rejecting audit, so a file with one was not written by plugward.
    let verdict = node.read("verdict", "`approve` or `approve-with-conditions`", |value| {
        value.as_str()?.parse().ok().filter(|verdict| *verdict != AuditVerdict::Reject)
    })?;
    Ok(Approval {
        tree: node.must("tree")?,
        shared: node.map("shared")?,
        audit: node.must("audit")?,
        kind: word(node, "kind", AuditKind::EXPECTED)?,
        risk: word(node, "risk", Risk::EXPECTED)?,
        verdict: verdict.ok_or_else(|| node.missing("verdict"))?,
        rules: node.must("rules")?,
        by: node.text("by")?,
        at: node.time("at")?.ok_or_else(|| node.missing("at"))?,
    })
}

fn word<T: FromStr>(node: &Node<'_, '_>, key: &str, expected: &'static str) -> Result<T, FormatError> {
    let word = node.read(key, expected, |value| value.as_str()?.parse().ok())?;
    word.ok_or_else(|| node.missing(key))
}

/// Returns `true` if the text is a scope of version 1.
fn is_scope(text: &str) -> bool {
    text == "user" || text.strip_prefix("workspace:").is_some_and(|digits| hex::is_lower(digits, 16))
}
