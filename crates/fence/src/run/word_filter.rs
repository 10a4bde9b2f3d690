//! A filter without parsing: which files contain a word that a finding needs.
//!
//! Most files mention no capability. Skipping the second parse of those files is most of the speed of a run.

use std::collections::HashSet;

use crate::config::{FenceConfig, glob_with_stem};
use crate::names::resolve::{KnownType, Resolver};
use crate::names::scopes::Entity;
use crate::syntax::written::Name;

/// The names that a finding needs. A file without any of them has no finding.
#[derive(Debug)]
pub(crate) struct WordFilter {
    names: HashSet<Name>,
    glob: String,
    /// The longest fixed part of the glob.
    longest: String,
}

impl WordFilter {
    /// Collects the names of everything that rules watch, and every other name that an import or an alias gives
    /// to it.
    pub(crate) fn read(resolver: &Resolver<'_>, config: &FenceConfig) -> Self {
        let inventory = resolver.inventory;
        let mut names: HashSet<Name> = HashSet::from([Name::from("include")]);
        names.extend(inventory.types.iter().map(|ty| Name::clone(&ty.2)));
        names.extend(inventory.watched.iter().flat_map(|watched| watched.functions.iter().cloned()));
        if let Some(race) = &config.race {
            let methods = race.methods.iter().chain(&race.unique_methods);
            names.extend(methods.map(|name| Name::from(name.as_str())));
        }
        for (name, entity) in resolver.scopes.all() {
            let needed = match entity {
                Entity::Type { module, name: defined } => {
                    let found = resolver.types(*module, defined, &[]);
                    found.iter().any(KnownType::names_a_capability)
                }
                Entity::Value { name, .. } => {
                    inventory.watched.iter().any(|one| one.functions.contains(name))
                }
                Entity::Far(path) => path.last().is_some_and(|last| &**last == "include"),
                Entity::Module(_) => false,
            };
            names.extend(needed.then(|| Name::clone(name)));
        }
        let glob = config.type_glob.clone();
        let longest = glob.split('*').max_by_key(|part| part.len()).unwrap_or_default().to_owned();
        Self { names, glob, longest }
    }

    /// Returns `true` if a file's text contains one of the names anywhere.
    pub(crate) fn in_text(&self, text: &[u8]) -> bool {
        let like = memchr::memmem::find(text, self.longest.as_bytes()).is_some();
        text.split(|byte| !is_word(*byte)).filter(|word| !word.is_empty()).any(|word| {
            std::str::from_utf8(word)
                .is_ok_and(|word| self.names.contains(word) || like && glob_with_stem(&self.glob, word))
        })
    }
}

/// Bytes above ASCII count as parts of words, so that names in other scripts are not split.
const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
