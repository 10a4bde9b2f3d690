//! Decides whether a value has to be computed again.
//!
//! A program has many expressions and a round changes few values. An expression is computed again only if something that it
//! depends on has changed since. Where a dependency is not tracked, any change counts.

use super::Language;
use super::call::is_event;
use super::constant::{Constant, Constants};
use super::facts::Addition;
use super::intrinsic::Intrinsic;
use super::machine::{Machine, NAMED_OWNER, OuterName, UNKNOWN_OWNER};
use super::name::{NamePart, Names};
use super::value::{Atom, Value};
use crate::program::{FunctionId, List, Node, NodeId, Variable};

/// The most expressions whose changes are compared for the contents of one value.
const MOST_PARTS: usize = 64;

/// Methods that read the contents of their object, or call their first argument.
const READERS: &[&[u8]] = plugward_types::byte_words![
    "__getattribute__ __getitem__ __next__ apply at every filter find findIndex flatMap forEach get get_nowait",
    "join map pop popitem popleft reduce setdefault shift some toLocaleString",
];
/// Methods that read the member that their first argument names.
const INDEXERS: &[&[u8]] = plugward_types::byte_words!["__getattribute__ __getitem__ at get pop setdefault"];
/// Methods that call their first argument with the object, or with what is in it.
const CALLERS: &[&[u8]] =
    plugward_types::byte_words!["every filter finally find findIndex flatMap forEach map reduce some then",];
/// Methods that call their object.
const FORWARDERS: &[&[u8]] = &[b"apply", b"bind", b"call"];

/// Returns `true` for a value whose parts have values of their own, which change without it.
const fn has_parts(atom: Atom) -> bool {
    matches!(atom, Atom::List(..) | Atom::Record(_) | Atom::Instance(_) | Atom::Partial(_) | Atom::Bound(_))
}

const fn is_collection(atom: Atom) -> bool {
    matches!(atom, Atom::List(..) | Atom::Record(_) | Atom::Instance(_) | Atom::Sequence(..))
}

impl Machine<'_, '_> {
    /// Returns `true` if computing a value again would have the same result.
    pub(super) fn is_current(&self, id: NodeId) -> bool {
        let computed = self.stamps.get(id.index()).map_or(0, |stamp| stamp.1);
        if computed == 0 {
            return false;
        }
        let is_old = |node: &NodeId| self.is_old(*node, computed);
        let all = |list: List| self.facts.program.items(list).iter().all(is_old);
        match self.facts.program.node(id) {
            Node::Unknown | Node::Text(_) | Node::Number(_) | Node::Module(_) | Node::Delete(_) => true,
            Node::Join(list)
            | Node::Mix(list)
            | Node::Either(list)
            | Node::Last(list)
            | Node::List(list)
            | Node::Record(list) => all(list),
            Node::Field { key, value } => is_old(&key) && is_old(&value),
            Node::Spread(value) | Node::Return { value, .. } | Node::Import(value) => is_old(&value),
            Node::Variable(variable) => {
                let is_own = self.outers.get(variable.index()).is_none_or(|outer| *outer == OuterName::None);
                if is_own { self.is_variable_old(variable, computed) } else { self.facts.tick <= computed }
            }
            Node::Global(name) => {
                self.is_member_old(&[Atom::Name(Names::GLOBAL)], Constants::of(name), computed)
            }
            Node::Member { object, name } => {
                let atoms = self.facts.values.slice(self.value(object));
                is_old(&object) && self.is_member_old(atoms, Constants::of(name), computed)
            }
            Node::Index { object, key } => self.is_index_current(object, key, computed),
            Node::Element(collection) => {
                self.facts.tick <= computed
                    || is_old(&collection)
                        && self.are_parts_old(self.value(collection), computed, &mut MOST_PARTS.clone())
            }
            Node::Call { callee, arguments, .. } => {
                self.object_of(callee).is_none_or(|object| is_old(&object))
                    && is_old(&callee)
                    && all(arguments)
                    && (self.facts.tick <= computed
                        || self.is_inert(callee, arguments)
                        || self.is_call_current(callee, arguments, computed))
            }
            Node::Function(function) => {
                self.arguments_at.get(function.index()).is_some_and(|at| *at <= computed)
            }
            Node::Bind { target, value } => match self.facts.program.node(target) {
                Node::Variable(_) | Node::Global(_) => is_old(&value),
                Node::Member { object, .. } => is_old(&value) && is_old(&object),
                Node::Index { object, key } => is_old(&value) && is_old(&object) && is_old(&key),
                Node::List(items) | Node::Record(items) => {
                    is_old(&value) && self.is_pattern_current(items, self.value(value), computed)
                }
                _ => false,
            },
            Node::Name(_) | Node::Slice { .. } | Node::Format { .. } => self.facts.tick <= computed,
        }
    }

    fn any(&self, value: Value, is: impl Fn(&Atom) -> bool) -> bool {
        self.facts.values.slice(value).iter().any(is)
    }

    /// Returns the object from which a call reads its function.
    fn object_of(&self, callee: NodeId) -> Option<NodeId> {
        match self.facts.program.node(callee) {
            Node::Member { object, .. } | Node::Index { object, .. } => Some(object),
            _ => None,
        }
    }

    /// Returns `true` if the value of an expression has not changed since the tick `computed`.
    fn is_old(&self, node: NodeId, computed: u32) -> bool {
        self.stamps.get(node.index()).is_some_and(|stamp| stamp.0 <= computed)
    }

    fn is_variable_old(&self, variable: Variable, computed: u32) -> bool {
        self.variables_at.get(variable.index()).is_none_or(|at| *at <= computed)
    }

    fn is_result_old(&self, function: FunctionId, computed: u32) -> bool {
        let function = self.facts.program.function(function);
        function.is_none_or(|function| self.is_variable_old(function.result, computed))
    }

    /// Returns `true` if no field of this name has changed since the tick `computed`.
    fn is_field_old(&self, name: Constant, computed: u32) -> bool {
        let changed = self.keys_at.get(name.index()).into_iter().flatten().max().copied().unwrap_or(0);
        changed <= computed && self.parents_at <= computed && !self.has_enter
    }

    /// Returns `true` if a field of this name has not changed in any object that may be meant.
    fn is_member_old(&self, objects: &[Atom], name: Constant, computed: u32) -> bool {
        let Some(changed) = self.keys_at.get(name.index()) else { return self.is_field_old(name, computed) };
        let is_old = |owner: usize| changed.get(owner).is_some_and(|at| *at <= computed);
        // In Python, the members of the global object are variables too.
        self.is_field_old(name, computed)
            || self.facts.language == Language::JavaScript
                && objects.iter().all(|atom| match atom {
                    Atom::Name(_) => is_old(NAMED_OWNER) && self.parents_at <= computed,
                    Atom::Taint(_) | Atom::Parameter(_) => true,
                    Atom::Record(_) | Atom::Instance(_) => false,
                    _ => is_old(UNKNOWN_OWNER),
                })
    }

    fn is_index_current(&self, object: NodeId, key: NodeId, computed: u32) -> bool {
        self.facts.tick <= computed
            || self.is_old(object, computed)
                && self.is_old(key, computed)
                && self.are_members_old(self.value(object), self.value(key), computed)
    }

    /// Returns `true` if the members or items that a key may name have not changed.
    fn are_members_old(&self, object: Value, key: Value, computed: u32) -> bool {
        // Members of Python's global object are variables too.
        let inherits = |atom: &Atom| match *atom {
            Atom::Record(node) | Atom::Instance(node) => self.parents.contains_key(&node),
            Atom::Name(name) => self.facts.language == Language::Python && name == Names::GLOBAL,
            _ => false,
        };
        !self.any(object, inherits)
            && !self.any(key, |atom| match *atom {
                Atom::Text(text, _) => !self.is_field_old(text, computed),
                Atom::Taint(_) => false,
                _ => !self.are_parts_old(object, computed, &mut MOST_PARTS.clone()),
            })
    }

    /// Returns `true` if a pattern of variables would be bound to the same members again.
    fn is_pattern_current(&self, items: List, value: Value, computed: u32) -> bool {
        let is_simple = |target: NodeId| match self.facts.program.node(target) {
            Node::Variable(_) | Node::Global(_) => true,
            Node::Bind { target, value } => {
                matches!(self.facts.program.node(target), Node::Variable(_) | Node::Global(_))
                    && self.is_old(value, computed)
            }
            _ => false,
        };
        self.items(items).iter().all(|item| match self.facts.program.node(*item) {
            Node::Field { key, value: target } => {
                is_simple(target)
                    && self.is_old(key, computed)
                    && self.are_members_old(value, self.value(key), computed)
            }
            Node::Spread(target) => is_simple(target),
            _ => is_simple(*item) && self.are_parts_old(value, computed, &mut MOST_PARTS.clone()),
        })
    }

    /// Returns `true` if a call only depends on the values of its operands.
    fn is_inert(&self, callee: NodeId, arguments: List) -> bool {
        let is_plain = |atom: &Atom| match *atom {
            Atom::Name(name) => {
                self.intrinsics.get(name.index()).copied().flatten() == Some(Intrinsic::Unknown)
            }
            Atom::Open | Atom::Many | Atom::Crowd | Atom::Taint(_) => true,
            _ => false,
        };
        let is_value = |node: &NodeId| self.facts.values.slice(self.value(*node)).iter().all(is_plain);
        self.object_of(callee).is_none_or(|object| is_value(&object))
            && is_value(&callee)
            && self.items(arguments).iter().all(is_value)
    }

    /// Returns `true` if a call, whose operands have not changed, would have the same result and effects again.
    ///
    /// It depends on the results of the functions that it enters. A method may also read what is in its object, and the
    /// analysis what is in the arguments.
    fn is_call_current(&self, callee: NodeId, arguments: List, computed: u32) -> bool {
        let function = self.value(callee);
        let method = self.method_name(callee);
        let name = method.map_or(&b""[..], |(_, name)| self.facts.bytes(name));
        if let Node::Index { key, .. } = self.facts.program.node(callee)
            && !self.is_old(key, computed)
        {
            return false;
        }
        // A handler gets what any call emits.
        if is_event(name) {
            return false;
        }
        let object = method.map(|(object, _)| self.value(object));
        let enters = |value: Value| !self.any(value, |atom| !self.is_entry_current(*atom, computed));
        let items = self.items(arguments);
        let is_spread = |node: &NodeId| matches!(self.facts.program.node(*node), Node::Spread(_));
        let forwards = FORWARDERS.contains(&name);
        if !enters(function)
            || forwards && !object.is_none_or(enters)
            || CALLERS.contains(&name) && !items.first().is_none_or(|first| enters(self.value(*first)))
            || items
                .iter()
                .any(|item| is_spread(item) && self.any(self.value(*item), |atom| is_collection(*atom)))
        {
            return false;
        }
        let is_name = |value: Value| self.any(value, |atom| matches!(atom, Atom::Name(_)));
        let is_list = |atom: &Atom| matches!(atom, Atom::List(..) | Atom::Sequence(..));
        let calls_name = is_name(function) || forwards && object.is_some_and(is_name);
        let reads = READERS.contains(&name);
        // In Python, `name.get(key)` reads a member of the name.
        let has_members = |atom: &Atom| match atom {
            Atom::Record(_) | Atom::Instance(_) => true,
            Atom::Name(_) => self.facts.language == Language::Python,
            _ => false,
        };
        let indexes = INDEXERS.contains(&name) && object.is_some_and(|object| self.any(object, has_members));
        if indexes || calls_name && self.remembered_at >= computed {
            return false;
        }
        let mut left = MOST_PARTS;
        let object_is_old = !(calls_name || reads || object.is_some_and(|object| self.any(object, is_list)))
            || object.is_none_or(|object| self.are_parts_old(object, computed, &mut left));
        let folds = object.is_some_and(|object| {
            self.any(object, |atom| matches!(atom, Atom::Text(..) | Atom::Sequence(..) | Atom::List(..)))
        });
        object_is_old
            && (!(calls_name || reads || folds)
                || items.iter().all(|item| self.are_parts_old(self.value(*item), computed, &mut left)))
    }

    /// Returns `true` if calling one alternative would have the same result.
    fn is_entry_current(&self, atom: Atom, computed: u32) -> bool {
        match atom {
            Atom::Function(function) | Atom::Method(function) => self.is_result_old(function, computed),
            Atom::Name(name) => {
                let intrinsic = self.intrinsics.get(name.index()).copied().flatten();
                let is_forward = matches!(self.facts.names.step(name), NamePart::Member(step) if FORWARDERS.contains(&self.facts.bytes(step)));
                !is_forward
                    && matches!(
                        intrinsic,
                        Some(
                            Intrinsic::Unknown
                                | Intrinsic::Same
                                | Intrinsic::Text
                                | Intrinsic::Load
                                | Intrinsic::Copy
                                | Intrinsic::Inherit
                                | Intrinsic::Create
                        )
                    )
            }
            Atom::Record(_) => {
                let name: &[u8] = match self.facts.language {
                    Language::JavaScript => b"constructor",
                    Language::Python => b"__init__",
                };
                self.facts.constants.find(name).is_none_or(|name| self.is_field_old(name, computed))
            }
            Atom::Bound(_) | Atom::Instance(_) => false,
            _ => true,
        }
    }

    /// Returns `true` if the parts of a value have not changed: the items of collections, the operands of texts.
    fn are_parts_old(&self, value: Value, computed: u32, left: &mut usize) -> bool {
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            for atom in self.facts.values.slice(value).iter().filter(|atom| has_parts(**atom)) {
                let (Atom::List(node, _) | Atom::Record(node) | Atom::Instance(node) | Atom::Partial(node)) =
                    *atom
                else {
                    return false;
                };
                let (parts, receiver) = match self.facts.program.node(node) {
                    Node::List(items) | Node::Record(items) | Node::Join(items) | Node::Mix(items) => {
                        (items, None)
                    }
                    Node::Call { callee, arguments, .. } => (arguments, self.object_of(callee)),
                    // The rest of a function's arguments.
                    Node::Spread(_) => (List::default(), None),
                    _ => return false,
                };
                let parts = self.items(parts);
                let added = self.facts.grown.get(&node).map(Vec::as_slice).unwrap_or_default();
                // Each collection counts too, since a value may contain itself.
                let count = parts.len().saturating_add(added.len()).saturating_add(1);
                if count > *left || self.grown_at.get(&node).is_some_and(|at| *at > computed) {
                    return false;
                }
                *left = left.saturating_sub(count);
                let added = added.iter().map(|added| match *added {
                    Addition::Item(node) | Addition::Spread(node) | Addition::Field(_, node) => node,
                });
                for part in parts.iter().copied().chain(added).chain(receiver) {
                    let part = match self.facts.program.node(part) {
                        Node::Field { key, value } if self.is_old(key, computed) => value,
                        Node::Field { .. } => return false,
                        Node::Spread(inner) => inner,
                        _ => part,
                    };
                    if !self.is_old(part, computed) {
                        return false;
                    }
                    open.push(self.value(part));
                }
            }
        }
        true
    }
}
