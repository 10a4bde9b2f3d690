//! One approval.

use std::collections::BTreeMap;

use plugward_types::{Digest, PluginId, TreeDigest};

use crate::doc::{self, FromText as _, Lines, Node};
use crate::error::{FormatError, FormatErrorKind};
use crate::scope::Scope;
use crate::time::Timestamp;

pub(crate) const VERSION: i64 = 1;
pub(crate) const MAX_APPROVALS: usize = 20_000;

/// A person's decision on bytes that were audited.
///
/// # Source
/// HyperAgent's approval record, whose hash was of other bytes than the audit's (SPEC 3.3).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Approval {
    /// The tree that was audited.
    pub tree: TreeDigest,
    /// The folders outside that were audited with it.
    pub shared: BTreeMap<String, TreeDigest>,
    /// The audit's record.
    pub audit: Digest,
    /// Who looked: a model and the rules, or the rules alone.
    pub kind: AuditKind,
    /// The risk that the audit found.
    pub risk: Risk,
    /// What the audit advised.
    pub verdict: Verdict,
    /// The scanner's rule set of that day.
    pub rules: Digest,
    /// Who approved, where the host knew.
    pub by: Option<String>,
    /// When, as the host said.
    pub at: Timestamp,
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$one:meta])* $variant:ident = $word:literal),* $(,)? } $expected:literal
     $($derive:ident)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq $(, $derive)*)]
        #[expect(clippy::exhaustive_enums, reason = "a new word must stop every host from building")]
        pub enum $name { $($(#[$one])* $variant),* }

        impl $name {
            pub(crate) const EXPECTED: &'static str = $expected;

            /// Gives the word in the file.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            pub(crate) fn of_word(word: &str) -> Option<Self> {
                [$(Self::$variant),*].into_iter().find(|one| one.as_str() == word)
            }
        }
    };
}

words! {
    /// Who looked.
    AuditKind {
        /// A model and the rules.
        Deep = "deep",
        /// The rules alone.
        Static = "static",
    } "`deep` or `static`"
}

words! {
    /// How much is at stake.
    ///
    /// # Guarantees
    /// The order is `Low < Medium < High < Critical`.
    Risk {
        /// Little.
        Low = "LOW",
        /// Some.
        Medium = "MEDIUM",
        /// Much.
        High = "HIGH",
        /// All.
        Critical = "CRITICAL",
    } "`LOW`, `MEDIUM`, `HIGH` or `CRITICAL`" PartialOrd Ord
}

words! {
    /// What an audit advises. A rejected audit can be kept in no approval.
    Verdict {
        /// To approve.
        Approve = "approve",
        /// To approve, with conditions that the audit names.
        ApproveWithConditions = "approve-with-conditions",
        /// Not to approve.
        Reject = "reject",
    } "`approve` or `approve-with-conditions`"
}

pub(crate) type Shelves = BTreeMap<Scope, BTreeMap<PluginId, Approval>>;

/// Reads an approvals file.
pub(crate) fn parse(bytes: &[u8]) -> Result<Shelves, FormatError> {
    let text = doc::text_of(bytes)?;
    let lines = Lines::of(text);
    let table = doc::parse(text, &lines)?;
    let root = Node::root(&table, &lines);
    match root.integer("version")? {
        Some(VERSION) => {}
        Some(found) if found > VERSION => {
            return Err(FormatError::anywhere(FormatErrorKind::Version { found }));
        }
        Some(_) => return Err(root.wrong(&(0..0), "version", "1")),
        None => return Err(root.missing("version")),
    }
    if !text.ends_with('\n') {
        return Err(FormatError::anywhere(FormatErrorKind::CutOff { missing: "the end of its last line" }));
    }
    let mut found = Shelves::new();
    let mut count = 0_usize;
    let Some(approvals) = root.table("approvals")? else { return Ok(found) };
    for (scope, node) in approvals.tables()? {
        let Some(scope) = Scope::from_text(scope) else {
            return Err(node.missing("a scope: `user`, or `workspace:` and 16 hex digits"));
        };
        let mut shelf = BTreeMap::new();
        for (id, node) in node.tables()? {
            let Some(id) = PluginId::from_text(id) else {
                return Err(node.missing("a plugin id: dialect:name@source"));
            };
            shelf.insert(id, read(&node)?);
        }
        count = count.saturating_add(shelf.len());
        found.insert(scope, shelf);
    }
    if count > MAX_APPROVALS {
        return Err(FormatError::anywhere(FormatErrorKind::TooMany { most: MAX_APPROVALS }));
    }
    Ok(found)
}

fn read(node: &Node<'_, '_>) -> Result<Approval, FormatError> {
    let kind = node.read("kind", AuditKind::EXPECTED, |value| AuditKind::of_word(value.as_str()?))?;
    let risk = node.read("risk", Risk::EXPECTED, |value| Risk::of_word(value.as_str()?))?;
    let verdict = node.read("verdict", Verdict::EXPECTED, |value| {
        Verdict::of_word(value.as_str()?).filter(|verdict| *verdict != Verdict::Reject)
    })?;
    Ok(Approval {
        tree: node.must("tree")?,
        shared: node.map("shared")?,
        audit: node.must("audit")?,
        kind: kind.ok_or_else(|| node.missing("kind"))?,
        risk: risk.ok_or_else(|| node.missing("risk"))?,
        verdict: verdict.ok_or_else(|| node.missing("verdict"))?,
        rules: node.must("rules")?,
        by: node.text("by")?,
        at: node.time("at")?.ok_or_else(|| node.missing("at"))?,
    })
}
