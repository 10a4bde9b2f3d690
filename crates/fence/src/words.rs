//! Which files can say anything about a capability: a look at their words, without parsing.

use std::collections::BTreeSet;

use crate::collect::TypeDef;
use crate::config::{Config, glob_with_stem};
use crate::ty::{Name, Ty};
use crate::world::World;

/// The names that a finding cannot do without.
#[derive(Debug)]
pub(crate) struct Words {
    names: BTreeSet<Name>,
    /// The lengths of the names that start with each byte, as bits.
    starts: Box<[u64; 256]>,
    glob: String,
    /// The longest fixed part of the glob.
    longest: String,
}

impl Words {
    /// Collects the names of the inventory, and every other name that something of the scanned crates gives them.
    pub(crate) fn read(world: &World<'_>, inventory: &crate::inventory::Inventory, config: &Config) -> Self {
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
        // Another name for a name: until nothing is added.
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
                        if fields.values().any(|ty| says(ty, &names)) {
                            names.insert(Name::clone(holder));
                        }
                    }
                    let also =
                        table.also.iter().flat_map(|(name, list)| list.iter().map(move |def| (name, def)));
                    for (name, def) in table.types.iter().chain(also) {
                        if let TypeDef::Alias(alias) = def
                            && (says(&alias.ty, &names)
                                || alias
                                    .params
                                    .iter()
                                    .any(|(_, ty)| ty.as_ref().is_some_and(|ty| says(ty, &names))))
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
        // The plain name is known without this look; under another name it is found in a second one.
        includes.remove(&plain);
        names.extend(includes);
        Self::new(names, &config.type_glob)
    }

    fn new(names: BTreeSet<Name>, glob: &str) -> Self {
        let mut starts = Box::new([0_u64; 256]);
        for name in &names {
            if let Some(slot) = name.bytes().next().and_then(|first| starts.get_mut(usize::from(first))) {
                *slot |= length_bit(name.len());
            }
        }
        let longest = glob.split('*').max_by_key(|part| part.len()).unwrap_or_default();
        Self { names, starts, glob: glob.to_owned(), longest: longest.to_owned() }
    }

    /// Whether a file's text has one of the names, wherever it stands.
    pub(crate) fn in_text(&self, text: &[u8]) -> bool {
        // Most files have no word with the fixed part of the glob in it, and most words none of the lengths.
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

/// One bit for each length, the last for all that are longer.
fn length_bit(length: usize) -> u64 {
    1 << length.min(63)
}

/// Whether a file's text has a word that looks like a capability type.
pub(crate) fn says_glob(text: &[u8], glob: &str) -> bool {
    let words = Words::new(BTreeSet::new(), glob);
    words.in_text(text)
}

/// Bytes above ASCII belong to words: no name of another script is missed.
const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn says(ty: &Ty, names: &BTreeSet<Name>) -> bool {
    match ty {
        Ty::Path(path) => path
            .segs
            .iter()
            .any(|seg| names.contains(&seg.name) || seg.args.iter().any(|arg| says(arg, names))),
        Ty::Ref(inner) | Ty::Ptr(inner) | Ty::Array(inner) => says(inner, names),
        Ty::Tuple(parts) => parts.iter().any(|part| says(part, names)),
        Ty::Infer | Ty::Other => false,
    }
}
