//! The names and constant texts of a program, each stored once.

#![expect(
    clippy::disallowed_types,
    reason = "the map is only asked for single keys; nothing depends on its order"
)]

use std::collections::HashMap;

use crate::hash::KeyedHash;
use crate::program::Text;

/// A table of byte strings. Its hash is keyed, so that a file cannot choose colliding names.
#[derive(Debug, Default, Clone)]
pub(crate) struct Interner {
    ids: HashMap<Box<[u8]>, Text, KeyedHash>,
    texts: Vec<Box<[u8]>>,
}

impl Interner {
    pub(crate) fn intern(&mut self, bytes: &[u8]) -> Text {
        if let Some(id) = self.ids.get(bytes) {
            return *id;
        }
        let id = Text::from_index(self.texts.len());
        self.texts.push(Box::from(bytes));
        self.ids.insert(Box::from(bytes), id);
        id
    }

    pub(crate) fn find(&self, bytes: &[u8]) -> Option<Text> {
        self.ids.get(bytes).copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(crate) fn bytes(&self, text: Text) -> &[u8] {
        self.texts.get(text.index()).map_or(&[], |bytes| bytes)
    }
}
