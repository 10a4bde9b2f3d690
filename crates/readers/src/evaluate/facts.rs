//! The facts of an evaluation, as an analysis reads them.

#![expect(clippy::disallowed_types, reason = "the maps are never iterated, so their order has no effect")]

use std::collections::HashMap;

use super::constant::{Constant, ConstantValue, Constants};
use super::name::{Name, NamePart, Names};
use super::value::{Atom, BOTTOM, OPEN, Taint, Value, Values};
use super::{Argument, Language};
use crate::hash::KeyedHash;
use crate::program::{List, Node, NodeId, Program};
use crate::view::Obfuscations;

/// The most items of a collection that are visited.
pub(super) const MOST_ITEMS: usize = 256;
/// The deepest nesting of collections, and the most collections, that are visited. A list may contain itself
/// several times.
const DEEPEST: usize = 6;
const MOST_VISITS: usize = 512;

/// One alternative of a value.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Alternative<'f> {
    /// A constant text, and the obfuscation that was undone to read it.
    Text(&'f [u8], Obfuscations),
    /// A small integer.
    Number(i32),
    /// A text that is partly unknown; [`Evaluation::parts`] returns its parts.
    Partial(NodeId),
    /// A global name, a module, or a member of one.
    Name(Name),
    /// A list; [`Evaluation::items_of`] returns its items.
    List(Collection),
    /// An object, dictionary or class; [`Evaluation::items_of`] returns its fields.
    Record(Collection),
    /// A function that the file defines.
    Function,
}

/// A list or record that a value may be.
#[derive(Debug, Clone, Copy)]
pub struct Collection(Atom);

/// An item of a list or record, or an argument of a call.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Item {
    /// The expression; `None` for an item of a folded list.
    pub node: Option<NodeId>,
    /// The value of the item.
    pub value: Value,
    /// The name of a keyword argument or field.
    pub key: Option<Constant>,
}

/// Items that are added to a list or record after its creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Addition {
    Item(NodeId),
    /// The items of a collection.
    Spread(NodeId),
    Field(Constant, NodeId),
}

/// The state of an evaluation: values of expressions, names and constants.
#[derive(Debug)]
pub struct Evaluation<'p> {
    pub(super) program: &'p Program,
    pub(super) language: Language,
    pub(super) constants: Constants<'p>,
    pub(super) names: Names,
    pub(super) values: Values,
    pub(super) nodes: Vec<Value>,
    /// Items that were added to a list or record, by the expression that creates it.
    pub(super) grown: HashMap<NodeId, Vec<Addition>, KeyedHash>,
    /// The values of keys that are known only from folding.
    pub(super) folded_items: HashMap<Constant, Value, KeyedHash>,
    /// The number of changes so far. A value is not computed again if none of its operands has changed since.
    pub(super) tick: u32,
}

impl<'p> Evaluation<'p> {
    pub(super) fn new(program: &'p Program, language: Language) -> Self {
        let bytes = program.spans.iter().map(|(_, end)| *end).max().unwrap_or(0) as usize;
        Self {
            program,
            language,
            constants: Constants::new(program, bytes),
            names: Names::new(),
            values: Values::new(program.len()),
            nodes: vec![BOTTOM; program.len()],
            grown: HashMap::default(),
            folded_items: HashMap::default(),
            tick: 1,
        }
    }

    /// Returns the number of changes of values so far: what was read from values holds until it grows.
    #[must_use]
    pub const fn changes(&self) -> u32 {
        self.tick
    }

    /// Returns the evaluated program.
    #[must_use]
    pub const fn program(&self) -> &'p Program {
        self.program
    }

    /// Returns the value of an expression.
    #[must_use]
    pub fn value(&self, node: NodeId) -> Value {
        self.nodes.get(node.index()).copied().unwrap_or(BOTTOM)
    }

    /// Returns the bytes of a constant text.
    #[must_use]
    pub fn bytes(&self, constant: Constant) -> &[u8] {
        self.constants.bytes(constant)
    }

    /// Returns the last step of a name.
    #[must_use]
    pub fn step(&self, name: Name) -> NamePart {
        self.names.step(name)
    }

    /// Returns the name without its last step, or `None` for a root.
    #[must_use]
    pub fn parent(&self, name: Name) -> Option<Name> {
        self.names.parent(name)
    }

    /// Returns the obfuscation that was undone to read a name.
    #[must_use]
    pub fn how(&self, name: Name) -> Obfuscations {
        self.names.how(name)
    }

    /// Returns the taint of a value.
    #[must_use]
    pub fn taint(&self, value: Value) -> Taint {
        self.values.taint(value)
    }

    /// Returns `true` if a value may be more than its alternatives.
    #[must_use]
    pub fn is_open(&self, value: Value) -> bool {
        self.values.is_open(value)
    }

    /// Returns the known alternatives of a value.
    pub fn alternatives(&self, value: Value) -> impl Iterator<Item = Alternative<'_>> {
        self.values.slice(value).iter().filter_map(|atom| match *atom {
            Atom::Text(constant, how) => Some(Alternative::Text(
                self.bytes(constant),
                Obfuscations::from_bits(how).unwrap_or(Obfuscations::NONE),
            )),
            Atom::Number(number) => Some(Alternative::Number(number)),
            Atom::Partial(node) => Some(Alternative::Partial(node)),
            Atom::Name(name) => Some(Alternative::Name(name)),
            Atom::List(..) | Atom::Sequence(..) => Some(Alternative::List(Collection(*atom))),
            Atom::Record(_) | Atom::Instance(_) => Some(Alternative::Record(Collection(*atom))),
            Atom::Function(_) | Atom::Method(_) | Atom::Bound(_) => Some(Alternative::Function),
            _ => None,
        })
    }

    /// Returns the names among the alternatives of a value.
    pub fn names(&self, value: Value) -> impl Iterator<Item = Name> {
        self.values
            .slice(value)
            .iter()
            .filter_map(|atom| if let Atom::Name(name) = atom { Some(*name) } else { None })
    }

    /// Returns the parts of a partly unknown text, in order.
    #[must_use]
    pub fn parts(&self, node: NodeId) -> Vec<NodeId> {
        match self.program.node(node) {
            Node::Join(items) => self.program.items(items).iter().take(MOST_ITEMS).copied().collect(),
            Node::Format { template, .. } => vec![template],
            Node::Mix(items) => self.program.items(items).to_vec(),
            Node::Call { callee, arguments, .. } => {
                let receiver = match self.program.node(callee) {
                    Node::Member { object, .. } | Node::Index { object, .. } => Some(object),
                    _ => None,
                };
                let texts = |id: &NodeId| self.has_text(self.value(*id));
                let arguments = self.program.items(arguments).iter().take(MOST_ITEMS).copied();
                receiver.into_iter().filter(texts).chain(arguments).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns `true` if a value may be a text, known or not.
    #[must_use]
    pub fn has_text(&self, value: Value) -> bool {
        self.values.slice(value).iter().any(|atom| matches!(atom, Atom::Text(..) | Atom::Partial(_)))
    }

    /// Returns the items of the lists and records that a value may be, with spread collections expanded.
    #[must_use]
    pub fn items(&self, value: Value) -> Vec<Item> {
        let mut found = ItemCollector { items: Vec::new(), open: Vec::new(), left: MOST_VISITS };
        self.collect(value, &mut found);
        found.items.truncate(MOST_ITEMS);
        found.items
    }

    /// Returns the items of one list or record.
    #[must_use]
    pub fn items_of(&self, collection: Collection) -> Vec<Item> {
        let mut found = ItemCollector { items: Vec::new(), open: Vec::new(), left: MOST_VISITS };
        self.collect_one(collection.0, &mut found);
        found.items.truncate(MOST_ITEMS);
        found.items
    }

    /// Returns an argument as an item.
    #[must_use]
    pub const fn item(&self, argument: &Argument) -> Item {
        Item { node: argument.node, value: argument.value, key: argument.key }
    }

    /// Appends the items of all collections that a value may be. Returns `false` if it is not a collection.
    fn collect(&self, value: Value, found: &mut ItemCollector) -> bool {
        let mut is_known = false;
        for atom in self.values.slice(value) {
            is_known |= self.collect_one(*atom, found);
        }
        is_known
    }

    fn collect_one(&self, atom: Atom, found: &mut ItemCollector) -> bool {
        let start = found.items.len();
        match atom {
            Atom::List(node, skip) => {
                self.collect_items(node, found);
                let stop = (start + usize::from(skip)).min(found.items.len());
                found.items.drain(start..stop);
            }
            Atom::Record(node) | Atom::Instance(node) => self.collect_items(node, found),
            Atom::Sequence(sequence, _) => {
                let items = self.constants.items(sequence).iter().take(MOST_ITEMS);
                let items = items.map(|item| Item { node: None, value: self.value_of(item), key: None });
                found.items.extend(items);
            }
            _ => return false,
        }
        true
    }

    /// Returns the value of a folded constant, if it has one.
    fn value_of(&self, item: &ConstantValue) -> Value {
        let ConstantValue::Text(bytes) = item else { return BOTTOM };
        let known = self.constants.find(bytes).and_then(|constant| self.folded_items.get(&constant));
        known.copied().unwrap_or(BOTTOM)
    }

    /// Appends the items of a collection, including those added later.
    fn collect_items(&self, node: NodeId, found: &mut ItemCollector) {
        let is_deep = found.open.len() > DEEPEST || found.open.contains(&node);
        if is_deep || found.items.len() > MOST_ITEMS || found.left == 0 {
            return;
        }
        found.open.push(node);
        found.left = found.left.saturating_sub(1);
        let (list, spread) = match self.program.node(node) {
            Node::List(items) | Node::Record(items) | Node::Call { arguments: items, .. } => (items, false),
            Node::Join(items) => (items, true),
            _ => (List::default(), false),
        };
        let grown = self.grown.get(&node).map(Vec::as_slice).unwrap_or_default().iter().copied();
        let items = self.program.items(list).iter();
        let items = items.map(|item| if spread { Addition::Spread(*item) } else { self.added(*item) });
        for item in items.chain(grown).take(MOST_ITEMS) {
            match item {
                Addition::Item(node) => {
                    found.items.push(Item { node: Some(node), value: self.value(node), key: None });
                }
                Addition::Field(key, node) => {
                    found.items.push(Item { node: Some(node), value: self.value(node), key: Some(key) });
                }
                Addition::Spread(inner) => {
                    if !self.collect(self.value(inner), found) {
                        found.items.push(Item { node: Some(inner), value: OPEN, key: None });
                    }
                }
            }
        }
        found.open.pop();
    }

    /// Returns the items that an expression in the source adds to its collection.
    fn added(&self, item: NodeId) -> Addition {
        match self.program.node(item) {
            Node::Spread(inner) => Addition::Spread(inner),
            Node::Field { key, value } => {
                self.key_of(key).map_or(Addition::Item(value), |key| Addition::Field(key, value))
            }
            _ => Addition::Item(item),
        }
    }

    /// Returns the name of a field or keyword, if it is constant.
    pub(super) fn key_of(&self, key: NodeId) -> Option<Constant> {
        if let Node::Text(text) = self.program.node(key) {
            return Some(Constants::of(text));
        }
        match self.values.single(self.value(key)) {
            Some(Atom::Text(constant, _)) => Some(constant),
            _ => None,
        }
    }
}

/// Collected items, and the number of collections that may still be visited.
struct ItemCollector {
    items: Vec<Item>,
    /// The collections being visited, against cycles.
    open: Vec<NodeId>,
    left: usize,
}
