//! From the JSON lock to PLUGINS.lock.

use std::collections::BTreeSet;

use plugward_types::PluginId;

use super::entry::LockEntry;
use super::error::LockError;
use super::file::LockFile;
use super::json::{JsonLock, JsonLockCheck};
use crate::scheme::CodewizardDigest;

/// A plugin that is there, as it would stand in PLUGINS.lock.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a new fact must be answered by every host")]
pub struct Migrant {
    /// The name that its manifest states: the key of the JSON lock.
    pub name: String,
    /// Its digest under the JSON lock's scheme, of the same snapshot as the entry's tree.
    pub digest: CodewizardDigest,
    /// Its id.
    pub id: PluginId,
    /// Its new entry.
    pub entry: LockEntry,
}

/// What became of migrating.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a refused migration writes nothing"]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum Migration {
    /// Every entry was visited and held; this is the file to write beside the old one.
    Done(LockFile),
    /// At least one did not, so nothing is written: nobody has agreed to these bytes.
    Refused {
        /// The plugins that are not as the JSON lock has them, by name.
        differ: Vec<(String, JsonLockCheck)>,
        /// The entries without a plugin.
        missing: Vec<String>,
    },
}

impl JsonLock {
    /// Carries the JSON lock over: each entry has to hold under its own scheme before it gets a tree digest.
    ///
    /// # Errors
    /// `lock/malformed` where two plugins have one name or one id, or an entry could not be read back.
    pub fn migrate(&self, plugins: Vec<Migrant>) -> Result<Migration, LockError> {
        let mut seen = BTreeSet::new();
        let mut differ = Vec::new();
        let mut file = LockFile::new();
        for Migrant { name, digest, id, entry } in plugins {
            match self.check(&name, digest) {
                JsonLockCheck::Match => {}
                other => differ.push((name.clone(), other)),
            }
            let twice = |what: &str| LockError::new(format!("each {what} once")).of_plugin(id.as_str());
            if !seen.insert(name) {
                return Err(twice("manifest name"));
            }
            if file.get(&id).is_some() {
                return Err(twice("plugin id"));
            }
            file.insert(id, entry)?;
        }
        let missing = self.unvisited(&seen);
        if differ.is_empty() && missing.is_empty() {
            return Ok(Migration::Done(file));
        }
        Ok(Migration::Refused { differ, missing })
    }
}
