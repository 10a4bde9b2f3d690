//! What was revoked, and what it matches.

use plugward_types::{Digest, PluginId, TreeDigest};

use crate::doc::Node;
use crate::error::{FormatError, FormatErrorKind};
use crate::time::Timestamp;

/// One entry of a revocation list. All that it gives must match.
///
/// # Source
/// OpenSSH marks a key `@revoked` in the file of known ones; pinstore page, 2.8.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a new condition must stop every host from building")]
pub struct Revoked {
    /// The tree.
    pub tree: Option<TreeDigest>,
    /// The manifest file.
    pub manifest: Option<Digest>,
    /// A program that the plugin is or brings.
    pub binary: Option<Digest>,
    /// The plugin.
    pub id: Option<PluginId>,
    /// The plugin's versions, in full; only together with `id`. Empty: every one.
    pub versions: Vec<String>,
    /// The key id of who signed.
    pub signer: Option<String>,
    /// Why, for a person.
    pub reason: String,
    /// Since when; it explains, and does not decide.
    pub since: Option<Timestamp>,
}

/// What there is of one plugin to hold against a revocation list.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "a new fact must stop every host from building")]
pub struct Subject<'a> {
    /// The plugin.
    pub id: &'a PluginId,
    /// Its version, where it gives one.
    pub version: Option<&'a str>,
    /// Its tree.
    pub tree: Option<&'a TreeDigest>,
    /// Its manifest file.
    pub manifest: Option<&'a Digest>,
    /// The programs that it is or brings.
    pub binaries: &'a [Digest],
    /// The key ids of who signed.
    pub signers: &'a [String],
}

impl Revoked {
    /// Starts an entry with its reason; what it matches is added by field.
    #[must_use]
    pub fn because(reason: &str) -> Self {
        Self {
            tree: None,
            manifest: None,
            binary: None,
            id: None,
            versions: Vec::new(),
            signer: None,
            reason: reason.to_owned(),
            since: None,
        }
    }

    /// Says whether the entry gives anything to match; one that gives nothing is refused.
    pub(crate) const fn is_empty(&self) -> bool {
        self.tree.is_none()
            && self.manifest.is_none()
            && self.binary.is_none()
            && self.id.is_none()
            && self.signer.is_none()
    }

    /// Says whether all that the entry gives is true of the subject.
    pub(crate) fn matches(&self, subject: &Subject<'_>) -> bool {
        let version = subject.version.unwrap_or_default();
        !self.is_empty()
            && self.tree.as_ref().is_none_or(|tree| subject.tree == Some(tree))
            && self.manifest.as_ref().is_none_or(|manifest| subject.manifest == Some(manifest))
            && self.binary.as_ref().is_none_or(|binary| subject.binaries.contains(binary))
            && self.id.as_ref().is_none_or(|id| subject.id == id)
            && (self.versions.is_empty() || self.versions.iter().any(|one| one == version))
            && self.signer.as_ref().is_none_or(|signer| subject.signers.contains(signer))
    }

    pub(crate) fn read(node: &Node<'_, '_>) -> Result<Self, FormatError> {
        let found = Self {
            tree: node.text("tree")?,
            manifest: node.text("manifest")?,
            binary: node.text("binary")?,
            id: node.text("id")?,
            versions: node.words("versions")?,
            signer: node.text("signer")?,
            reason: node.must("reason")?,
            since: node.time("since")?,
        };
        if found.is_empty() {
            return Err(node.missing("tree, manifest, binary, id or signer"));
        }
        if found.id.is_none() && !found.versions.is_empty() {
            return Err(node.missing("id (versions are versions of a plugin)"));
        }
        Ok(found)
    }

    /// Says why the entry cannot be stored.
    pub(crate) fn check(&self) -> Result<(), FormatError> {
        let missing =
            |key: &str| Err(FormatError::anywhere(FormatErrorKind::Missing { key: key.to_owned() }));
        if self.is_empty() {
            return missing("tree, manifest, binary, id or signer");
        }
        if self.id.is_none() && !self.versions.is_empty() { missing("id") } else { Ok(()) }
    }
}
