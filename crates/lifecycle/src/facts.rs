//! Facts that a host or the loader passes in.

use std::collections::BTreeMap;

use plugward_types::{AuditKind, AuditVerdict, PluginKey, Risk, TreeDigest};

use crate::schema::{Hints, Schema};

/// The digests of everything that a host loads for a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "every host must handle a new fact")]
pub struct PluginContents {
    /// The tree.
    pub tree: TreeDigest,
    /// The directories outside that it imports from.
    pub shared: BTreeMap<String, TreeDigest>,
}

/// A plugin as found in its directory.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "every host must handle a new fact")]
pub struct FoundPlugin {
    /// The key, which the plugin does not determine.
    pub key: PluginKey,
    /// The name in its manifest.
    pub name: String,
    /// The version in its manifest.
    pub version: Option<String>,
    /// The description in its manifest.
    pub description: Option<String>,
    /// The contents.
    pub contents: PluginContents,
    /// The modules that it declares.
    pub modules: Vec<String>,
    /// The names of the plugins that are enabled before it.
    pub companions: Vec<String>,
    /// The configuration schema; empty for a plugin without settings.
    pub schema: Schema,
    /// The texts for the model.
    pub texts: PluginTexts,
}

/// The texts of a plugin for the model, by its author.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "a new text must be handled by every host")]
pub struct PluginTexts {
    /// The hints of the manifest.
    pub hints: Option<Hints>,
    /// The text that the entry file exports as `_HINTS`.
    pub exported: Option<String>,
    /// The system message of the manifest.
    pub system_message: Option<String>,
}

/// The result of an audit of some contents.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "every host must handle a new fact")]
pub struct AuditFacts {
    /// The audited contents.
    pub contents: PluginContents,
    /// The kind of the audit.
    pub kind: AuditKind,
    /// The risk.
    pub risk: Risk,
    /// The advice.
    pub verdict: AuditVerdict,
    /// The number of danger findings of the scan that are not suppressed.
    pub dangers: usize,
}

/// A stored approval of some contents.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "every host must handle a new fact")]
pub struct ApprovalFacts {
    /// The approved contents.
    pub contents: PluginContents,
    /// The kind of the approved audit.
    pub kind: AuditKind,
    /// The risk that it found.
    pub risk: Risk,
    /// Its advice.
    pub verdict: AuditVerdict,
}

/// The permission to enable a plugin with certain contents, once.
///
/// `plugward_loader::clear` creates it after every gate has passed, and after these contents were approved or confirmed.
///
/// # Guarantees
/// [`Clearance::of`] is hidden and not private, because the loader is another crate. So the compiler does not stop other
/// callers; `cargo xtask fence` reports them.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct Clearance {
    contents: PluginContents,
    max_risk: Risk,
}

impl Clearance {
    /// Creates a clearance. Only `plugward_loader::clear` calls this.
    #[doc(hidden)]
    pub const fn of(contents: PluginContents, max_risk: Risk) -> Self {
        Self { contents, max_risk }
    }

    /// Returns the contents.
    #[must_use]
    pub const fn contents(&self) -> &PluginContents {
        &self.contents
    }

    /// Returns the highest risk that was accepted.
    #[must_use]
    pub const fn max_risk(&self) -> Risk {
        self.max_risk
    }
}
