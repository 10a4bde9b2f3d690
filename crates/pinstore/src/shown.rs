//! What a person was shown and names, so that nothing else is accepted.

use std::collections::BTreeSet;

use plugward_types::{Digest, PluginId, TreeDigest};

use crate::facts::Facts;

/// The digests that a person names in order to accept what is there.
///
/// The tree has to be named always. What a pin covers besides, the folders that the plugin shares and its marketplace
/// entry, has to be named where it is not what the pin says already: no tree has those bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a further digest must be named by every host")]
pub struct Shown {
    /// The plugin's own folder.
    pub tree: TreeDigest,
    /// Folders outside that it imports.
    pub shared: BTreeSet<TreeDigest>,
    /// Its marketplace entry.
    pub entry: Option<Digest>,
}

/// A digest that stands in the way of an accept.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum Unshown {
    /// This is there, differs from the pin, and was not named.
    Unnamed {
        /// What it is of, such as `shared ../lib`.
        what: String,
        /// Its digest.
        actual: String,
    },
    /// This was named, and nothing of the plugin has it.
    Nowhere {
        /// The digest.
        named: String,
    },
}

impl Shown {
    /// Starts with the tree; everything else is added by field.
    #[must_use]
    pub const fn of_tree(tree: TreeDigest) -> Self {
        Self { tree, shared: BTreeSet::new(), entry: None }
    }

    /// Gives all that has to be named to accept what is there over a pin.
    #[must_use]
    pub fn wanted(facts: &Facts, pinned: Option<&Facts>) -> Self {
        let is_pinned =
            |name: &String, tree: &TreeDigest| pinned.is_some_and(|old| old.shared.get(name) == Some(tree));
        let shared = facts.shared.iter().filter(|(name, tree)| !is_pinned(name, tree));
        Self {
            tree: facts.tree,
            shared: shared.map(|(_, tree)| *tree).collect(),
            entry: facts.entry.filter(|entry| pinned.and_then(|old| old.entry) != Some(*entry)),
        }
    }

    /// Gives the command that accepts it.
    #[must_use]
    pub fn accept_line(&self, id: &PluginId) -> String {
        let mut line = format!("plugward accept {id}");
        self.shared.iter().for_each(|tree| line.push_str(&format!(" --with {tree}")));
        self.entry.iter().for_each(|entry| line.push_str(&format!(" --with {entry}")));
        line.push_str(&format!(" --tree {}", self.tree));
        line
    }

    /// Finds what stands beside the tree and was not named, or was named and is not there.
    pub(crate) fn against(&self, facts: &Facts, pinned: Option<&Facts>) -> Option<Unshown> {
        let wanted = Self::wanted(facts, pinned);
        if let Some(tree) = wanted.shared.difference(&self.shared).next() {
            let name = facts.shared.iter().find(|(_, other)| *other == tree).map(|(name, _)| name.as_str());
            let what = format!("shared {}", name.unwrap_or_default());
            return Some(Unshown::Unnamed { what, actual: tree.to_string() });
        }
        if let Some(entry) = wanted.entry.filter(|entry| self.entry != Some(*entry)) {
            let what = "the marketplace entry".to_owned();
            return Some(Unshown::Unnamed { what, actual: entry.to_string() });
        }
        let there: BTreeSet<TreeDigest> = facts.shared.values().copied().collect();
        let tree = self.shared.difference(&there).next().map(ToString::to_string);
        let entry = self.entry.filter(|entry| facts.entry != Some(*entry)).map(|entry| entry.to_string());
        tree.or(entry).map(|named| Unshown::Nowhere { named })
    }
}
