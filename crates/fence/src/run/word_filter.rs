//! A filter without parsing: which files contain a word that a finding needs.
//!
//! Most files mention no capability. Skipping the second parse of those files is most of the speed of a run.

use std::collections::BTreeSet;

use crate::config::{FenceConfig, glob_with_stem};
use crate::names::collect::TypeDef;
use crate::names::modules::World;
use crate::syntax::written::{Name, WrittenType};

/// The names that a finding needs. A file without any of them has no finding.
#[derive(Debug)]
pub(crate) struct WordFilter {
    names: BTreeSet<Name>,
    /// The lengths of the names, as bits, by first byte.
    starts: Box<[u64; 256]>,
    glob: String,
    /// The longest fixed part of the glob.
    longest: String,
}

impl WordFilter {
    /// Collects the names of the inventory, and every other name that code of the scanned crates uses for
    /// them.
    pub(crate) fn read(
        world: &World<'_>,
        inventory: &crate::names::inventory::Inventory,
        config: &FenceConfig,
    ) -> Self {
        let mut names: BTreeSet<Name> = BTreeSet::new();
        for ty in &inventory.types {
            names.insert(Name::clone(&ty.name));
            names.extend(ty.variants.iter().cloned());
        }
        names.extend(inventory.free.keys().map(|(_, name)| Name::clone(name)));
        names.extend(inventory.factories.keys().map(|(.., name)| Name::clone(name)));
        let plain = Name::from("include");
        let mut includes: BTreeSet<Name> = BTreeSet::from([Name::clone(&plain)]);
        for watched in &inventory.watched {
            names.extend(watched.functions.iter().cloned());
        }
        if let Some(race) = &config.race {
            names.extend(
                race.methods.iter().chain(&race.unique_methods).map(|name| Name::from(name.as_str())),
            );
        }
        // Aliases of aliases: repeat until no name is added.
        loop {
            let before = (names.len(), includes.len());
            for file in &world.files {
                for table in file.table.iter().flat_map(|file| &file.tables) {
                    for one in &table.uses {
                        if let (Some(alias), Some(last)) = (&one.alias, one.path.last()) {
                            if names.contains(last) {
                                names.insert(Name::clone(alias));
                            }
                            if includes.contains(last) {
                                includes.insert(Name::clone(alias));
                            }
                        }
                    }
                    for (holder, fields) in &table.fields {
                        if fields.values().any(|ty| mentions(ty, &names)) {
                            names.insert(Name::clone(holder));
                        }
                    }
                    let also =
                        table.also.iter().flat_map(|(name, list)| list.iter().map(move |def| (name, def)));
                    for (name, def) in table.types.iter().chain(also) {
                        if let TypeDef::Alias(alias) = def
                            && (mentions(&alias.ty, &names)
                                || alias
                                    .params
                                    .iter()
                                    .any(|(_, ty)| ty.as_ref().is_some_and(|ty| mentions(ty, &names))))
                        {
                            names.insert(Name::clone(name));
                        }
                    }
                }
            }
            if (names.len(), includes.len()) == before {
                break;
            }
        }
        // The first pass already found the plain name. Calls under another name are found in the second.
        includes.remove(&plain);
        names.extend(includes);
        Self::new(names, &config.type_glob)
    }

    fn new(names: BTreeSet<Name>, glob: &str) -> Self {
        let mut starts = Box::new([0_u64; 256]);
        for name in &names {
            if let Some(slot) = name.bytes().next().and_then(|first| starts.get_mut(usize::from(first))) {
                // A table of first bytes and lengths rejects most words without a lookup in the set.
                *slot |= length_bit(name.len());
            }
        }
        let longest = glob.split('*').max_by_key(|part| part.len()).unwrap_or_default();
        Self { names, starts, glob: glob.to_owned(), longest: longest.to_owned() }
    }

    /// Returns `true` if a file's text contains one of the names anywhere.
    pub(crate) fn in_text(&self, text: &[u8]) -> bool {
        // Cheap tests first: most files lack the fixed part of the glob, and most words have no listed
        // length.
        let like = memchr::memmem::find(text, self.longest.as_bytes()).is_some();
        if !like && self.names.is_empty() {
            return false;
        }
        let mut rest = text;
        while let Some(start) = rest.iter().position(|byte| is_word(*byte)) {
            rest = rest.get(start..).unwrap_or_default();
            let end = rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            let first = word.first().map_or(0, |first| usize::from(*first));
            let named = self.starts.get(first).is_some_and(|bits| bits & length_bit(word.len()) != 0);
            if (named || like)
                && let Ok(word) = std::str::from_utf8(word)
                && (named && self.names.contains(word) || like && glob_with_stem(&self.glob, word))
            {
                return true;
            }
            rest = after;
        }
        false
    }
}

/// Returns the bit for a length. All lengths from 63 on share the last bit.
fn length_bit(length: usize) -> u64 {
    1 << length.min(63)
}

/// Returns `true` if a file's text contains a word that matches the glob.
pub(crate) fn matches_glob(text: &[u8], glob: &str) -> bool {
    let words = WordFilter::new(BTreeSet::new(), glob);
    words.in_text(text)
}

/// Bytes above ASCII count as parts of words, so that names in other scripts are not split.
const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn mentions(ty: &WrittenType, names: &BTreeSet<Name>) -> bool {
    match ty {
        WrittenType::Path(path) => path
            .segs
            .iter()
            .any(|seg| names.contains(&seg.name) || seg.args.iter().any(|arg| mentions(arg, names))),
        WrittenType::Ref(inner) | WrittenType::Ptr(inner) | WrittenType::Array(inner) => {
            mentions(inner, names)
        }
        WrittenType::Tuple(parts) => parts.iter().any(|part| mentions(part, names)),
        WrittenType::Infer | WrittenType::Other => false,
    }
}
