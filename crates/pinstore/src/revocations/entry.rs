//! The entries of revocation lists.

use unicode_normalization::UnicodeNormalization as _;

use plugward_types::{CalledName, Digest, PluginId, PluginKey, TreeDigest};

use crate::error::{FormatError, FormatErrorKind};
use crate::format::reader::Node;
use plugward_types::Timestamp;

const ID: &str = "a plugin key or a name: host:name@market, path:/directory, dialect:name or name";
/// The longest name, in bytes, as for the parts of ids.
const LONGEST: usize = 128;
const CONDITIONS: &str = "tree, manifest, binary, id or signer";

/// An entry of a revocation list. All of its conditions must match.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "every host must handle a new condition")]
pub struct Revocation {
    /// The tree.
    pub tree: Option<TreeDigest>,
    /// A manifest file.
    pub manifest: Option<Digest>,
    /// A file that the plugin is or contains.
    pub binary: Option<Digest>,
    /// The plugin's key or one of its names: text that parses as [`PluginKey`], [`CalledName`] or [`PluginId`], or a name
    /// alone. The case of letters does not count, except in a path.
    pub id: Option<String>,
    /// The affected versions, compared as whole strings. They require `id`. Empty means all versions.
    pub versions: Vec<String>,
    /// The key id of the signer.
    pub signer: Option<String>,
    /// The reason, for the user.
    pub reason: String,
    /// The time of the revocation, for the user.
    pub since: Option<Timestamp>,
}

/// The facts about one plugin that are compared with revocation lists.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "every host must handle a new fact")]
pub struct RevocationSubject<'a> {
    /// The key.
    pub key: &'a PluginKey,
    /// All names that an entry can have for the plugin.
    pub names: &'a [String],
    /// The version, if the plugin states one.
    pub version: Option<&'a str>,
    /// The tree.
    pub tree: Option<&'a TreeDigest>,
    /// The manifest files.
    pub manifests: &'a [Digest],
    /// The files that the plugin is or contains.
    pub binaries: &'a [Digest],
    /// The key ids of the signers.
    pub signers: &'a [String],
}

impl Revocation {
    /// Creates an entry without conditions.
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

    /// Returns `true` if the entry has no condition. Such an entry is invalid.
    const fn is_empty(&self) -> bool {
        self.tree.is_none()
            && self.manifest.is_none()
            && self.binary.is_none()
            && self.id.is_none()
            && self.signer.is_none()
    }

    /// Returns `true` if the entry has this id, or a digest that is written exactly like this.
    #[must_use]
    pub fn names(&self, what: &str) -> bool {
        self.id.as_deref().is_some_and(|id| is_same(id, what))
            || self.tree.is_some_and(|tree| tree.to_string() == what)
            || self.manifest.is_some_and(|digest| digest.to_string() == what)
            || self.binary.is_some_and(|digest| digest.to_string() == what)
    }

    /// Returns `true` if two entries have the same conditions, whatever their reasons are.
    pub(crate) fn has_conditions_of(&self, other: &Self) -> bool {
        let Self { reason, since, .. } = self;
        *self == Self { reason: reason.clone(), since: *since, ..other.clone() }
    }

    /// Returns `true` if all conditions match.
    pub(crate) fn matches(&self, subject: &RevocationSubject<'_>) -> bool {
        let version = subject.version.unwrap_or_default();
        let is_named = |id: &String| {
            subject.key.to_string() == *id || subject.names.iter().any(|name| is_same(name, id))
        };
        !self.is_empty()
            && self.tree.as_ref().is_none_or(|tree| subject.tree == Some(tree))
            && self.manifest.as_ref().is_none_or(|manifest| subject.manifests.contains(manifest))
            && self.binary.as_ref().is_none_or(|binary| subject.binaries.contains(binary))
            && self.id.as_ref().is_none_or(is_named)
            && (self.versions.is_empty() || self.versions.iter().any(|one| one == version))
            && self.signer.as_ref().is_none_or(|signer| subject.signers.contains(signer))
    }

    pub(crate) fn read(node: &Node<'_, '_>) -> Result<Self, FormatError> {
        let found = Self {
            tree: node.text("tree")?,
            manifest: node.text("manifest")?,
            binary: node.text("binary")?,
            id: node.read("id", ID, |value| value.as_str().filter(|id| is_id(id)).map(str::to_owned))?,
            versions: node.words("versions")?,
            signer: node.text("signer")?,
            reason: node.must("reason")?,
            since: node.time("since")?,
        };
        if found.is_empty() {
            return Err(node.missing(CONDITIONS));
        }
        if found.id.is_none() && !found.versions.is_empty() {
            return Err(node.missing("id (versions are versions of a plugin)"));
        }
        Ok(found)
    }

    /// Checks that the entry can be stored.
    pub(crate) fn check(&self) -> Result<(), FormatError> {
        let missing =
            |key: &str| Err(FormatError::anywhere(FormatErrorKind::Missing { key: key.to_owned() }));
        if self.is_empty() {
            return missing(CONDITIONS);
        }
        match &self.id {
            None if !self.versions.is_empty() => missing("id"),
            Some(id) if !is_id(id) => {
                let kind = FormatErrorKind::Expected { key: "id".to_owned(), expected: ID };
                Err(FormatError::anywhere(kind))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// Returns `true` if two ids or names differ at most in the case of letters, or in the encoding of accents. Hosts compare
/// names without case, and file systems store accents in either of two forms.
fn is_same(one: &str, two: &str) -> bool {
    one == two
        || (!one.starts_with("path:")
            && !two.starts_with("path:")
            && one.nfc().flat_map(char::to_lowercase).eq(two.nfc().flat_map(char::to_lowercase)))
}

fn is_id(text: &str) -> bool {
    // A relative path has the form of a name, but would never match.
    let is_called = || text.parse::<CalledName>().is_ok() || text.parse::<PluginId>().is_ok();
    let is_alone = || {
        let is_part = |c: char| !c.is_control() && !matches!(c, ':' | '/');
        !text.is_empty() && text.len() <= LONGEST && text.chars().all(is_part)
    };
    text.parse::<PluginKey>().is_ok() || (!text.starts_with("path:") && (is_called() || is_alone()))
}
