//! The digests that the user was shown, so that nothing else is accepted.

use std::collections::BTreeSet;

use plugward_types::{Digest, TreeDigest};

use crate::pins::facts::Facts;

/// The digests that the user names to accept a plugin.
///
/// The tree must always be named. What is outside the directory is not part of the tree, so it must be named too unless it
/// matches the pin.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "every host must handle a further digest")]
pub struct ReviewedDigests {
    /// The plugin's own directory.
    pub tree: TreeDigest,
    /// The directories outside the plugin that it imports, and its closure.
    pub outside: BTreeSet<TreeDigest>,
    /// Its marketplace entry.
    pub entry: Option<Digest>,
}

/// A digest that prevents an accept.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every host must handle a new answer")]
pub enum DigestMismatch {
    /// The digest differs from the pin and was not named.
    Unnamed {
        /// The digested part, such as `shared ../lib`.
        what: String,
        /// The digest.
        actual: String,
    },
    /// The digest was named, and no part of the plugin has it.
    Nowhere {
        /// The digest.
        named: String,
    },
}

/// Returns the trees outside the plugin, each with what it is.
fn outside(facts: &Facts) -> impl Iterator<Item = (String, TreeDigest)> + '_ {
    let shared = facts.shared.iter().map(|(name, tree)| (format!("shared {name}"), *tree));
    shared.chain(facts.closure.map(|tree| ("the files outside the plugin".to_owned(), tree)))
}

impl ReviewedDigests {
    /// Creates a set that has a tree only.
    #[must_use]
    pub const fn of_tree(tree: TreeDigest) -> Self {
        Self { tree, outside: BTreeSet::new(), entry: None }
    }

    /// Returns all digests that must be named to accept these facts over a pin.
    #[must_use]
    pub fn wanted(facts: &Facts, pinned: Option<&Facts>) -> Self {
        let pinned_trees: BTreeSet<_> = pinned.into_iter().flat_map(outside).collect();
        Self {
            tree: facts.tree,
            outside: outside(facts).filter(|one| !pinned_trees.contains(one)).map(|(_, tree)| tree).collect(),
            entry: facts.entry.filter(|entry| pinned.and_then(|old| old.entry) != Some(*entry)),
        }
    }

    /// Returns a digest that had to be named and was not, or one that was named and does not exist.
    pub(crate) fn against(&self, facts: &Facts, pinned: Option<&Facts>) -> Option<DigestMismatch> {
        let wanted = Self::wanted(facts, pinned);
        let unnamed = wanted.outside.difference(&self.outside).next();
        if let Some((what, tree)) = outside(facts).find(|(_, tree)| Some(tree) == unnamed) {
            return Some(DigestMismatch::Unnamed { what, actual: tree.to_string() });
        }
        if let Some(entry) = wanted.entry.filter(|entry| self.entry != Some(*entry)) {
            let what = "the marketplace entry".to_owned();
            return Some(DigestMismatch::Unnamed { what, actual: entry.to_string() });
        }
        let there: BTreeSet<TreeDigest> = outside(facts).map(|(_, tree)| tree).collect();
        let tree = self.outside.difference(&there).next().map(ToString::to_string);
        let entry = self.entry.filter(|entry| facts.entry != Some(*entry)).map(|entry| entry.to_string());
        tree.or(entry).map(|named| DigestMismatch::Nowhere { named })
    }
}
