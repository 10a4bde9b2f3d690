//! Names: paths of members that begin at the global scope, a module or an unknown object.

#![expect(clippy::disallowed_types, reason = "the map is never iterated, so its order has no effect")]

use std::collections::HashMap;

use super::constant::Constant;
use crate::hash::KeyedHash;
use crate::view::Obfuscations;

/// A name, as an index into the table of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(u32);

/// The last part of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "an analysis handles every step")]
pub enum NamePart {
    /// The object that contains all global names: `globalThis`, Python's `builtins`. Has no parent.
    Global,
    /// An unknown object. Has no parent.
    Any,
    /// The contents of a module. Has no parent.
    Module(Constant),
    /// A member with a constant name.
    Member(Constant),
    /// A member whose name is not constant.
    Computed,
    /// The result of a call.
    Result,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    parent: Name,
    step: NamePart,
    how: Obfuscations,
    depth: u8,
}

/// The longest name, in steps. Longer ones begin at the unknown object, so that `x = x.next` in a loop ends.
const DEEPEST: u8 = 10;

/// All names of one file.
#[derive(Debug)]
pub(crate) struct Names {
    entries: Vec<Entry>,
    ids: HashMap<(Name, NamePart, u8), Name, KeyedHash>,
}

impl Names {
    /// The global object.
    pub(crate) const GLOBAL: Name = Name(0);
    /// The unknown object.
    pub(crate) const ANY: Name = Name(1);

    pub(crate) fn new() -> Self {
        let root = |step| Entry { parent: Self::GLOBAL, step, how: Obfuscations::NONE, depth: 0 };
        Self { entries: vec![root(NamePart::Global), root(NamePart::Any)], ids: HashMap::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn step(&self, name: Name) -> NamePart {
        self.entries.get(name.0 as usize).map_or(NamePart::Any, |entry| entry.step)
    }

    /// Returns the obfuscation that was undone to read the name.
    pub(crate) fn how(&self, name: Name) -> Obfuscations {
        self.entries.get(name.0 as usize).map_or(Obfuscations::NONE, |entry| entry.how)
    }

    pub(crate) fn parent(&self, name: Name) -> Option<Name> {
        let entry = self.entries.get(name.0 as usize)?;
        (!matches!(entry.step, NamePart::Global | NamePart::Any | NamePart::Module(_)))
            .then_some(entry.parent)
    }

    pub(crate) fn module(&mut self, specifier: Constant, how: Obfuscations) -> Name {
        self.intern(Self::GLOBAL, NamePart::Module(specifier), how, 0)
    }

    /// Returns a name extended by a step.
    pub(crate) fn child(&mut self, parent: Name, step: NamePart, how: Obfuscations) -> Name {
        let known = self.entries.get(parent.0 as usize).copied();
        let (depth, before) = known.map_or((0, Obfuscations::NONE), |entry| (entry.depth, entry.how));
        if depth >= DEEPEST {
            return self.intern(Self::ANY, step, how, 1);
        }
        self.intern(parent, step, before.and(how), depth.saturating_add(1))
    }

    /// Returns the same name with additional obfuscation.
    pub(crate) fn with_how(&mut self, name: Name, how: Obfuscations) -> Name {
        match self.entries.get(name.0 as usize).copied() {
            Some(entry) if name != Self::GLOBAL && name != Self::ANY => {
                self.intern(entry.parent, entry.step, entry.how.and(how), entry.depth)
            }
            _ => name,
        }
    }

    fn intern(&mut self, parent: Name, step: NamePart, how: Obfuscations, depth: u8) -> Name {
        let key = (parent, step, how.bits());
        if let Some(known) = self.ids.get(&key) {
            return *known;
        }
        let id = Name(u32::try_from(self.entries.len()).unwrap_or(1));
        self.entries.push(Entry { parent, step, how, depth });
        self.ids.insert(key, id);
        id
    }
}

impl Name {
    /// Returns the index in the table of names, which begins at 0 for each file.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
