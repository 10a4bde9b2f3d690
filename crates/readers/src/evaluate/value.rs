//! Values: small sets of alternatives, each stored once.

#![expect(clippy::disallowed_types, reason = "the map is never iterated, so its order has no effect")]

use core::cmp::Ordering;
use core::hash::{Hash, Hasher};
use std::collections::HashMap;
use std::rc::Rc;

use plugward_types::Part;

use super::constant::{Constant, Sequence};
use super::name::Name;
use crate::hash::KeyedHash;
use crate::program::{FunctionId, NodeId};

/// Taint: the sources from which data comes, such as the environment or a download.
///
/// An analysis assigns a meaning to each bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "an analysis creates values of it")]
pub struct Taint {
    /// The set of sources, as bits.
    pub bits: u32,
}

impl Taint {
    /// No source.
    pub const NONE: Self = Self { bits: 0 };
}

/// One alternative of a value, or a property of the whole set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Atom {
    Function(FunctionId),
    /// A function that takes the object from which it was read as its first argument.
    Method(FunctionId),
    /// A function with arguments that the call at this node bound.
    Bound(NodeId),
    Name(Name),
    /// The list of this node without its first items.
    List(NodeId, u16),
    /// The object, dictionary or class of this node.
    Record(NodeId),
    /// An object created by the class of this node.
    Instance(NodeId),
    Text(Constant, u8),
    Number(i32),
    Sequence(Sequence, u8),
    /// A text of which only some parts are known: those of this node.
    Partial(NodeId),
    /// In the result of a function, the argument at this index.
    Parameter(u16),
    /// Too many constants, lists and records to keep apart.
    Many,
    /// Too many functions to keep apart, or unknown names.
    Crowd,
    /// Too many names to keep apart.
    Overflow,
    /// Any other value as well.
    Open,
    Taint(u32),
}

impl Hash for Atom {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (kind, more, id) = match *self {
            Self::Function(id) => (0, 0, id.index()),
            Self::Method(id) => (1, 0, id.index()),
            Self::Bound(id) => (2, 0, id.index()),
            Self::Name(name) => (3, 0, name.index()),
            Self::List(id, skip) => (4, u64::from(skip), id.index()),
            Self::Record(id) => (5, 0, id.index()),
            Self::Instance(id) => (6, 0, id.index()),
            Self::Text(text, how) => (7, u64::from(how), text.index()),
            Self::Number(number) => (8, 0, number.cast_unsigned() as usize),
            Self::Sequence(sequence, how) => (9, u64::from(how), sequence.index()),
            Self::Partial(id) => (10, 0, id.index()),
            Self::Parameter(place) => (11, 0, usize::from(place)),
            Self::Many => (12, 0, 0),
            Self::Overflow => (13, 0, 0),
            Self::Crowd => (17, 0, 0),
            Self::Open => (14, 0, 0),
            Self::Taint(bits) => (15, 0, bits as usize),
        };
        state.write_u64((id as u64) | (more << 32) | (kind << 56));
    }
}

impl Atom {
    const fn is_function(self) -> bool {
        matches!(self, Self::Function(_) | Self::Method(_) | Self::Bound(_))
    }

    pub(crate) const fn is_collection(self) -> bool {
        matches!(self, Self::List(..) | Self::Record(_) | Self::Sequence(..))
    }

    const fn is_name(self) -> bool {
        matches!(self, Self::Name(_))
    }

    const fn is_data(self) -> bool {
        matches!(
            self,
            Self::List(..)
                | Self::Record(_)
                | Self::Instance(_)
                | Self::Text(..)
                | Self::Number(_)
                | Self::Sequence(..)
                | Self::Partial(_)
        )
    }
}

/// A value, as an index into the table of sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(u32);

/// The value of an expression that has not been reached yet.
pub(crate) const BOTTOM: Value = Value(0);
/// An unknown value.
pub(crate) const OPEN: Value = Value(1);

/// The most alternatives of each kind. Beyond them a value keeps only the fact that there are more, so that
/// sets stay small and converge.
const MOST_DATA: usize = 8;
const MOST_NAMES: usize = 24;
const MOST_FUNCTIONS: usize = 8;
/// The most properties of a set, such as its taint. They follow all alternatives.
const PROPERTIES: usize = 8;
/// The fewest and the most cached joins, powers of two. A large file has many more values than a small one.
const FEWEST_CACHED: usize = 1 << 10;
const MOST_CACHED: usize = 1 << 16;

/// All values of one file.
#[derive(Debug)]
pub(crate) struct Values {
    sets: Vec<Rc<[Atom]>>,
    ids: HashMap<Rc<[Atom]>, Value, KeyedHash>,
    scratch: Vec<Atom>,
    /// A cache of joins, in which later results replace earlier ones.
    joins: Vec<(Value, Value, Value)>,
    /// By name: whether the analysis or the language knows it.
    pub(crate) known: Vec<bool>,
    /// The value of each name.
    names: Vec<Value>,
    /// By value: the same without taint, if it was asked for.
    unmarked: Vec<Value>,
}

impl Values {
    /// Creates the table of values for a program with this number of expressions.
    pub(crate) fn new(size: usize) -> Self {
        let cached = (size / 4).next_power_of_two().clamp(FEWEST_CACHED, MOST_CACHED);
        let mut values = Self {
            sets: Vec::new(),
            ids: HashMap::default(),
            scratch: Vec::new(),
            joins: vec![(BOTTOM, BOTTOM, BOTTOM); cached],
            known: Vec::new(),
            names: Vec::new(),
            unmarked: Vec::new(),
        };
        values.intern(&[]);
        values.intern(&[Atom::Open]);
        values
    }

    fn intern(&mut self, atoms: &[Atom]) -> Value {
        if let Some(known) = self.ids.get(atoms) {
            return *known;
        }
        let id = Value(u32::try_from(self.sets.len()).unwrap_or(0));
        let set: Rc<[Atom]> = Rc::from(atoms);
        self.sets.push(Rc::clone(&set));
        self.ids.insert(set, id);
        id
    }

    /// Returns the alternatives of a value.
    pub(crate) fn atoms(&self, value: Value) -> Rc<[Atom]> {
        self.sets.get(value.0 as usize).map_or_else(|| Rc::from([]), Rc::clone)
    }

    pub(crate) fn slice(&self, value: Value) -> &[Atom] {
        self.sets.get(value.0 as usize).map_or(&[], |set| set)
    }

    pub(crate) fn one(&mut self, atom: Atom) -> Value {
        match atom {
            Atom::Name(name) => self.name(name),
            Atom::Open => OPEN,
            _ => self.intern(&[atom]),
        }
    }

    pub(crate) fn is_open(&self, value: Value) -> bool {
        let open = |atom: &Atom| matches!(atom, Atom::Open | Atom::Many | Atom::Crowd | Atom::Overflow);
        value == BOTTOM || self.slice(value).iter().any(open)
    }

    pub(crate) fn has_overflow(&self, value: Value) -> bool {
        self.slice(value).contains(&Atom::Overflow)
    }

    pub(crate) fn taint(&self, value: Value) -> Taint {
        // It is last in the order of alternatives.
        if let [.., Atom::Taint(bits)] = *self.slice(value) { Taint { bits } } else { Taint::NONE }
    }

    /// Returns the only alternative of a value.
    pub(crate) fn single(&self, value: Value) -> Option<Atom> {
        let mut atoms = self.slice(value).iter().filter(|atom| !matches!(atom, Atom::Taint(_)));
        let first = atoms.next().copied();
        if atoms.next().is_some() { None } else { first }
    }

    /// Returns the value with several alternatives.
    pub(crate) fn set(&mut self, atoms: &[Atom]) -> Value {
        match atoms {
            [] => BOTTOM,
            [Atom::Open] => OPEN,
            _ => {
                let mut all = core::mem::take(&mut self.scratch);
                all.clear();
                all.extend_from_slice(atoms);
                let value = self.normal(&mut all);
                self.scratch = all;
                value
            }
        }
    }

    /// Returns the join of two values.
    pub(crate) fn join(&mut self, one: Value, other: Value) -> Value {
        if one == other || other == BOTTOM {
            return one;
        }
        if one == BOTTOM {
            return other;
        }
        let slot = self.slot(one, other);
        if let Some(known) = self.joins.get(slot).filter(|known| known.0 == one && known.1 == other) {
            return known.2;
        }
        let value = self.join_uncached(one, other);
        if let Some(known) = self.joins.get_mut(slot) {
            *known = (one, other, value);
        }
        value
    }

    const fn slot(&self, one: Value, other: Value) -> usize {
        let mixed = one.0.wrapping_mul(0x9E37_79B1) ^ other.0.wrapping_mul(0x85EB_CA77);
        (mixed ^ mixed >> 16) as usize & self.joins.len().saturating_sub(1)
    }

    fn join_uncached(&mut self, one: Value, other: Value) -> Value {
        let mut all = core::mem::take(&mut self.scratch);
        all.clear();
        let (left, right) = (self.slice(one), self.slice(other));
        merge(left, right, &mut all);
        // The common case: nothing new. It avoids hashing a set.
        let value = if all.len() == left.len() {
            one
        } else if all.len() == right.len() {
            other
        } else {
            self.drop_excess(&mut all);
            if all == left {
                one
            } else if is_normal(&all) {
                self.intern(&all)
            } else {
                self.normal(&mut all)
            }
        };
        self.scratch = all;
        value
    }

    /// Drops the alternatives of a sorted set that a property of the set stands for.
    fn drop_excess(&self, all: &mut Vec<Atom>) {
        let tail = all.rest(all.len().saturating_sub(PROPERTIES));
        let has = |property: Atom| tail.contains(&property);
        let (many, crowd, overflow) = (has(Atom::Many), has(Atom::Crowd), has(Atom::Overflow));
        if !(many || crowd || overflow) {
            return;
        }
        let is_known = |name: Name| self.known.get(name.index()).copied().unwrap_or(false);
        all.retain(|atom| match *atom {
            Atom::Name(name) => !overflow && (!crowd || is_known(name)),
            atom if atom.is_function() => !crowd,
            atom => !many || !atom.is_data(),
        });
    }

    /// Returns a value without its taint.
    pub(crate) fn unmarked(&mut self, value: Value) -> Value {
        if !matches!(self.slice(value), [.., Atom::Taint(_)]) {
            return value;
        }
        let at = value.0 as usize;
        if let Some(known) = self.unmarked.get(at).filter(|known| **known != BOTTOM) {
            return *known;
        }
        let is_mark = |atom: &&Atom| !matches!(atom, Atom::Taint(_));
        let atoms: Vec<Atom> = self.slice(value).iter().filter(is_mark).copied().collect();
        let found = self.set(&atoms);
        if self.unmarked.len() <= at {
            self.unmarked.resize(self.sets.len(), BOTTOM);
        }
        if let Some(slot) = self.unmarked.get_mut(at) {
            *slot = found;
        }
        found
    }

    /// Adds taint to a value.
    pub(crate) fn mark(&mut self, value: Value, marks: Taint) -> Value {
        if marks.bits == 0 {
            return value;
        }
        let other = self.one(Atom::Taint(marks.bits));
        self.join(value, other)
    }

    /// Drops functions and names over the limits, unknown names first. Returns `true` if it dropped any.
    fn reduce_names(&self, all: &mut Vec<Atom>) -> bool {
        let count = |all: &[Atom], is: fn(Atom) -> bool| all.iter().filter(|atom| is(**atom)).count();
        // Known names are kept longest, because rules look for them.
        let crowd = all.contains(&Atom::Crowd)
            || count(all, Atom::is_function) > MOST_FUNCTIONS
            || count(all, Atom::is_name) > MOST_NAMES;
        if crowd {
            let is_known = |name: Name| self.known.get(name.index()).copied().unwrap_or(false);
            all.retain(|atom| match *atom {
                Atom::Name(name) => is_known(name),
                Atom::Crowd => false,
                atom => !atom.is_function(),
            });
            all.push(Atom::Crowd);
        }
        let over = all.contains(&Atom::Overflow) || count(all, Atom::is_name) > MOST_NAMES;
        if over {
            all.retain(|atom| !atom.is_name() && *atom != Atom::Overflow);
            all.push(Atom::Overflow);
        }
        crowd || over
    }

    /// Returns the value with one name as its only alternative.
    pub(crate) fn name(&mut self, name: Name) -> Value {
        if let Some(known) = self.names.get(name.index()).filter(|known| **known != BOTTOM) {
            return *known;
        }
        let value = self.intern(&[Atom::Name(name)]);
        if self.names.len() <= name.index() {
            self.names.resize(name.index() + 64, BOTTOM);
        }
        if let Some(slot) = self.names.get_mut(name.index()) {
            *slot = value;
        }
        value
    }

    /// Normalizes a set. A kind that was dropped is never added again, so that growing sets converge.
    fn normal(&mut self, all: &mut Vec<Atom>) -> Value {
        all.sort_unstable();
        all.dedup();
        let many = all.contains(&Atom::Many) || all.iter().filter(|atom| atom.is_data()).count() > MOST_DATA;
        if many {
            all.retain(|atom| !atom.is_data() && *atom != Atom::Many);
            all.push(Atom::Many);
        }
        let over = self.reduce_names(all);
        let bits =
            all.iter().fold(0, |sum, atom| if let Atom::Taint(bits) = atom { sum | bits } else { sum });
        if bits != 0 {
            all.retain(|atom| !matches!(atom, Atom::Taint(_)));
            all.push(Atom::Taint(bits));
        }
        if many || over || bits != 0 {
            all.sort_unstable();
        }
        self.intern(all)
    }
}

/// Appends the items of two sorted sets in order, each once.
fn merge(one: &[Atom], other: &[Atom], all: &mut Vec<Atom>) {
    let (mut left, mut right) = (one, other);
    while let ([first, after @ ..], [second, later @ ..]) = (left, right) {
        let order = first.cmp(second);
        all.push(if order == Ordering::Greater { *second } else { *first });
        if order != Ordering::Greater {
            left = after;
        }
        if order != Ordering::Less {
            right = later;
        }
    }
    all.extend_from_slice(left);
    all.extend_from_slice(right);
}

/// Returns `true` if a sorted set without excess is within all limits and has at most one taint.
fn is_normal(all: &[Atom]) -> bool {
    let (mut data, mut names, mut functions, mut taints) = (0, 0, 0, 0);
    let (mut many, mut crowd, mut overflow) = (false, false, false);
    for atom in all {
        match *atom {
            Atom::Many => many = true,
            Atom::Crowd => crowd = true,
            Atom::Overflow => overflow = true,
            Atom::Taint(_) => taints += 1,
            atom if atom.is_data() => data += 1,
            atom if atom.is_name() => names += 1,
            atom if atom.is_function() => functions += 1,
            _ => {}
        }
    }
    data <= if many { 0 } else { MOST_DATA }
        && functions <= if crowd { 0 } else { MOST_FUNCTIONS }
        && names <= if overflow { 0 } else { MOST_NAMES }
        && taints < 2
}
