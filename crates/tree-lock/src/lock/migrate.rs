//! Migration from the JSON lock to PLUGINS.lock.

use std::collections::BTreeSet;

use super::entry::LockEntry;
use super::error::LockError;
use super::file::LockFile;
use super::json::{JsonLock, JsonLockCheck};
use crate::foreign_schemes::CodewizardDigest;

/// An existing plugin with its future entry in PLUGINS.lock.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a new fact must be answered by every host")]
pub struct MigratedPlugin {
    /// The name that its manifest states, which is the key of the JSON lock.
    pub name: String,
    /// The digest in the JSON lock's scheme, of the same snapshot as the tree of `entry`.
    pub digest: CodewizardDigest,
    /// The plugin directory, relative to the lockfile: the key in PLUGINS.lock.
    pub path: String,
    /// The entry in PLUGINS.lock.
    pub entry: LockEntry,
}

/// The result of a migration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a refused migration writes nothing"]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum Migration {
    /// Every entry matches its plugin. This is the file to write next to the old one.
    Done(LockFile),
    /// At least one entry does not match, so these bytes were never accepted.
    Refused {
        /// The plugins that differ from the JSON lock, by name.
        differ: Vec<(String, JsonLockCheck)>,
        /// The names of the entries without a plugin.
        missing: Vec<String>,
    },
}

impl JsonLock {
    /// Converts the JSON lock, if every plugin matches its entry in the old scheme.
    ///
    /// # Errors
    /// `lock/malformed` if two plugins have the same name or the same path, or if an entry could not be read back.
    pub fn migrate(&self, plugins: Vec<MigratedPlugin>) -> Result<Migration, LockError> {
        let mut seen = BTreeSet::new();
        let mut differ = Vec::new();
        let mut file = LockFile::new();
        for MigratedPlugin { name, digest, path, entry } in plugins {
            match self.check(&name, digest) {
                JsonLockCheck::Match => {}
                other => differ.push((name.clone(), other)),
            }
            let twice = |what: &str| LockError::new(format!("each {what} once")).of_plugin(&path);
            if !seen.insert(name) {
                return Err(twice("manifest name"));
            }
            if file.get(&path).is_some() {
                return Err(twice("plugin path"));
            }
            file.insert(&path, entry)?;
        }
        let missing = self.unvisited(&seen);
        if differ.is_empty() && missing.is_empty() {
            return Ok(Migration::Done(file));
        }
        Ok(Migration::Refused { differ, missing })
    }
}
