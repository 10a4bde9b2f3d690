//! Members, elements and fields of values.

use super::constant::{Constant, ConstantValue, Constants};
use super::facts::{Addition, MOST_ITEMS};
use super::fold;
use super::intrinsic::{Intrinsic, MemberKind};
use super::machine::{FieldOwner, Machine};
use super::name::{Name, NamePart, Names};
use super::value::{Atom, BOTTOM, OPEN, Taint, Value};
use super::{Language, javascript, python};
use crate::program::{List, Node, NodeFlags, NodeId};
use crate::view::Obfuscations;

/// The most inherited records in which a member is searched.
const MOST_PARENTS: usize = 4;
/// The most items added to one list.
const MOST_GROWN: usize = 64;

impl Machine<'_, '_> {
    /// Returns a member with a constant name.
    pub(super) fn member(&mut self, object: Value, key: Constant, how: Obfuscations) -> Value {
        if object == BOTTOM && !self.is_report() {
            return BOTTOM;
        }
        let mut result = BOTTOM;
        let mut is_any = object == BOTTOM;
        for atom in self.facts.values.atoms(object).iter() {
            let found = match *atom {
                Atom::Name(name) => Some(self.member_of_name(name, key, how)),
                Atom::Record(_) | Atom::Instance(_) => {
                    let found = self.field(*atom, key, how, 0);
                    let found = found.or_else(|| self.entered(*atom, key, how));
                    let made = self.maker(*atom, key);
                    found.or(made)
                }
                Atom::Taint(_) | Atom::Parameter(_) => continue,
                _ => self.maker(*atom, key),
            };
            is_any |= found.is_none() || matches!(atom, Atom::Function(_));
            result = self.join(result, found.unwrap_or(BOTTOM));
        }
        if is_any {
            // The object is unknown, so every object of the file may be meant. Names are taken from all of
            // them, but not their taint, which would spread to every object.
            let known = self.fields.get(&(FieldOwner::Any, key)).copied().unwrap_or(BOTTOM);
            let known = self.unmarked(known);
            // The data of other objects is not taken if this one has its own.
            let known = if result == BOTTOM { known } else { self.without_data(known) };
            result = self.join(result, known);
            let any = self.member_of_name(Names::ANY, key, how);
            result = self.join(result, any);
        }
        let marks = self.facts.taint(object);
        let marks = self.analysis.part(&self.facts, key, marks);
        self.marked(result, marks)
    }

    fn without_data(&mut self, value: Value) -> Value {
        let atoms: Vec<Atom> =
            self.facts.values.slice(value).iter().filter(|atom| !atom.is_collection()).copied().collect();
        self.facts.values.set(&atoms)
    }

    /// Returns the global constructor of a kind of values, for `[].constructor`.
    fn maker(&mut self, atom: Atom, key: Constant) -> Option<Value> {
        let bytes = self.facts.bytes(key);
        let is_constructor = bytes == b"constructor";
        if self.facts.language != Language::JavaScript || !(is_constructor || bytes == b"__proto__") {
            return None;
        }
        let maker: &[u8] = match atom {
            Atom::Record(_) if is_constructor => b"Object",
            Atom::List(..) | Atom::Sequence(..) if is_constructor => b"Array",
            Atom::Text(..) | Atom::Partial(_) if is_constructor => b"String",
            Atom::Function(_) => b"function",
            _ => return None,
        };
        let text = self.facts.constants.known(maker);
        let mut name = self.facts.names.child(Names::GLOBAL, NamePart::Member(text), Obfuscations::NONE);
        if maker == b"function" {
            name = self.facts.names.child(name, NamePart::Member(key), Obfuscations::NONE);
        }
        Some(self.one(Atom::Name(name)))
    }

    /// Returns a member of a name, joined with the values that the file assigns to it.
    pub(super) fn member_of_name(&mut self, name: Name, key: Constant, how: Obfuscations) -> Value {
        let bytes = self.facts.bytes(key);
        let special = match self.facts.language {
            Language::JavaScript => javascript::member(name, bytes),
            Language::Python => python::member(name, bytes),
        };
        match special {
            MemberKind::Global => return self.one(Atom::Name(Names::GLOBAL)),
            MemberKind::Same => return self.one(Atom::Name(name)),
            MemberKind::Default
                if matches!(self.facts.names.step(name), NamePart::Module(_) | NamePart::Member(_)) =>
            {
                return self.one(Atom::Name(name));
            }
            _ => {}
        }
        let child = self.child(name, NamePart::Member(key), how);
        // An unknown member of an unknown object can be anything.
        let is_open = name == Names::ANY && special == MemberKind::Plain && !self.is_known(child);
        let mut value = if is_open { OPEN } else { self.one(Atom::Name(child)) };
        if special == MemberKind::Namespace {
            let global = self.one(Atom::Name(Names::GLOBAL));
            value = self.join(value, global);
        }
        let text = self.facts.constants.text(key);
        if name == Names::GLOBAL
            && self.facts.language == Language::Python
            && let Some(variable) = text.and_then(|text| self.facts.program.file_variable(text))
        {
            let known = self.variables.get(variable.index()).copied().unwrap_or(BOTTOM);
            value = self.join(value, known);
        }
        let assigned = self.fields.get(&(FieldOwner::Name(name), key)).copied().unwrap_or(BOTTOM);
        let is_assigned = assigned != BOTTOM || name == Names::GLOBAL && self.assigned.contains(&key);
        if is_assigned && !self.analysis.knows(&self.facts, child) {
            return assigned;
        }
        self.join(value, assigned)
    }

    /// Returns a field of a record or of one that it inherits from; `None` if none of them has it.
    fn field(&mut self, atom: Atom, key: Constant, how: Obfuscations, depth: usize) -> Option<Value> {
        let mut found = None;
        // Functions of an object literal write its fields through `this`.
        let is_this = self.facts.language == Language::JavaScript;
        let node = match atom {
            Atom::Record(node) if !is_this => node,
            Atom::Record(node) | Atom::Instance(node) => {
                found = self.fields.get(&(FieldOwner::Instance(node), key)).copied();
                node
            }
            _ => return None,
        };
        if let Some(own) = self.fields.get(&(FieldOwner::Record(node), key)).copied() {
            let own = if matches!(atom, Atom::Instance(_)) { self.as_method(own) } else { own };
            found = Some(self.join(own, found.unwrap_or(BOTTOM)));
        }
        if found.is_some() || depth >= MOST_PARENTS {
            return found;
        }
        for parent in self.parents.get(&node).cloned().unwrap_or_default() {
            for atom in self.facts.values.atoms(self.value(parent)).iter() {
                let more = match *atom {
                    Atom::Name(name) => Some(self.member_of_name(name, key, how)),
                    Atom::Record(_) | Atom::Instance(_) => self.field(*atom, key, how, depth + 1),
                    _ => None,
                };
                if let Some(more) = more {
                    found = Some(self.join(more, found.unwrap_or(BOTTOM)));
                }
            }
        }
        found
    }

    /// Returns a member of the object that a `with` statement binds.
    fn entered(&mut self, atom: Atom, key: Constant, how: Obfuscations) -> Option<Value> {
        let Atom::Instance(node) = atom else { return None };
        let name = self.facts.constants.find(b"__enter__")?;
        let method = self.fields.get(&(FieldOwner::Record(node), name)).copied()?;
        let mut found = None;
        for atom in self.facts.values.atoms(method).iter() {
            let Atom::Function(id) = *atom else { continue };
            let function = self.facts.program.function(id)?;
            let result = self.variables.get(function.result.index()).copied().unwrap_or(BOTTOM);
            for name in self.facts.names(result).collect::<Vec<_>>() {
                let member = self.member_of_name(name, key, how);
                found = Some(self.join(member, found.unwrap_or(BOTTOM)));
            }
        }
        found
    }

    /// Turns functions of a class into methods, which take their object as first argument.
    pub(super) fn as_method(&mut self, value: Value) -> Value {
        if self.facts.language != Language::Python {
            return value;
        }
        let atoms = self.facts.values.atoms(value);
        if !atoms.iter().any(|atom| matches!(atom, Atom::Function(_))) {
            return value;
        }
        let change = |atom: &Atom| if let Atom::Function(id) = atom { Atom::Method(*id) } else { *atom };
        let atoms: Vec<Atom> = atoms.iter().map(change).collect();
        self.facts.values.set(&atoms)
    }

    /// Adds a value to a field.
    pub(super) fn set_field(&mut self, holder: FieldOwner, key: Constant, value: Value) {
        if value == BOTTOM {
            return;
        }
        let known = self.fields.get(&(holder, key)).copied().unwrap_or(BOTTOM);
        let both = self.join(known, value);
        if both != known {
            self.fields.insert((holder, key), both);
            self.change_field(holder, key);
        }
    }

    pub(super) fn add_element(&mut self, holder: FieldOwner, value: Value) {
        let known = self.elements.get(&holder).copied().unwrap_or(BOTTOM);
        let both = self.join(known, value);
        if both != known {
            self.elements.insert(holder, both);
            match holder {
                FieldOwner::Record(node) => self.change_items(node),
                _ => self.change(),
            }
        }
    }

    pub(super) fn add_parent(&mut self, node: NodeId, parent: NodeId) {
        let parents = self.parents.entry(node).or_default();
        if !parents.contains(&parent) && parents.len() < 8 {
            parents.push(parent);
            self.change_parents();
        }
    }

    pub(super) fn grow(&mut self, node: NodeId, added: Addition) {
        let known = self.facts.grown.entry(node).or_default();
        if !known.contains(&added) && known.len() < MOST_GROWN {
            known.push(added);
            self.change_items(node);
        }
    }

    /// Evaluates an object literal, dictionary or class.
    pub(super) fn record(&mut self, id: NodeId, list: List) -> Value {
        if self.facts.program.flags(id).has(NodeFlags::TARGET) {
            return BOTTOM;
        }
        let items = self.items(list);
        let is_function = |item: &NodeId| {
            let Node::Field { value, .. } = self.facts.program.node(*item) else { return false };
            matches!(self.facts.program.node(value), Node::Function(_))
        };
        // Methods may read these fields through `this`, which is an unknown object.
        let has_methods = items.iter().any(is_function);
        for item in items {
            match self.facts.program.node(*item) {
                // `{...parent}` has the fields of the parent.
                Node::Spread(parent) => self.add_parent(id, parent),
                Node::Field { key, value } => {
                    let field = self.value(value);
                    match self.facts.key_of(key) {
                        Some(key) if self.facts.bytes(key) == b"__proto__" => self.add_parent(id, value),
                        Some(key) => {
                            self.set_field(FieldOwner::Record(id), key, field);
                            if has_methods {
                                let field = self.as_method(field);
                                self.set_field(FieldOwner::Any, key, field);
                            }
                        }
                        None => self.add_element(FieldOwner::Record(id), field),
                    }
                }
                _ => {}
            }
        }
        let value = self.one(Atom::Record(id));
        self.marked_by(value, items)
    }

    /// Returns `object[key]`.
    pub(super) fn index(&mut self, object: Value, key: NodeId, id: NodeId) -> Value {
        let keys = self.value(key);
        if (keys == BOTTOM || object == BOTTOM) && !self.is_report() {
            return BOTTOM;
        }
        let mut result = BOTTOM;
        let mut is_computed = keys == BOTTOM;
        for atom in self.facts.values.atoms(keys).iter() {
            let found = match *atom {
                Atom::Text(text, how) => {
                    let how = Obfuscations::from_bits(how).unwrap_or(Obfuscations::NONE);
                    if self.is_report() && (how.has(Obfuscations::FOLD) || how.has(Obfuscations::DECODE)) {
                        self.analysis.build_name(&self.facts, id);
                    }
                    self.entry(object, text, how)
                }
                Atom::Number(number) => self.element(object, Some(number)),
                Atom::Taint(_) => continue,
                _ => {
                    is_computed = true;
                    continue;
                }
            };
            result = self.join(result, found);
        }
        if is_computed {
            let found = self.computed(object);
            result = self.join(result, found);
        }
        // A member with a constant name has a taint of its own.
        let marks = if is_computed { self.analysis.item(&self.facts, object, keys) } else { Taint::NONE };
        self.marked(result, marks)
    }

    /// Returns the entry of a collection with a constant key.
    pub(super) fn entry(&mut self, object: Value, key: Constant, how: Obfuscations) -> Value {
        let mut modules = BOTTOM;
        for atom in self.facts.values.atoms(object).iter() {
            if let Atom::Name(name) = *atom
                && self.intrinsic(name) == Intrinsic::Modules
            {
                let name = self.module(key, how);
                let module = self.one(Atom::Name(name));
                modules = self.join(modules, module);
            }
        }
        if modules == BOTTOM { self.member(object, key, how) } else { modules }
    }

    /// Returns a member whose name is not constant, without the taint of its object.
    fn computed(&mut self, object: Value) -> Value {
        // The elements of a name are the name itself in Python, but one of its items is not.
        let atoms = self.facts.values.atoms(object);
        let others: Vec<Atom> = atoms.iter().filter(|atom| !matches!(atom, Atom::Name(_))).copied().collect();
        let others = self.facts.values.set(&others);
        let mut result = if others == BOTTOM { OPEN } else { self.unmarked_element(others, None) };
        for atom in atoms.iter() {
            if let Atom::Name(name) = *atom {
                let child = self.child(name, NamePart::Computed, Obfuscations::NONE);
                let value = self.one(Atom::Name(child));
                result = self.join(result, value);
            }
        }
        result
    }

    /// Returns the element at an index, or the join of all elements.
    pub(super) fn element(&mut self, collection: Value, index: Option<i32>) -> Value {
        let result = self.unmarked_element(collection, index);
        let marks = self.facts.taint(collection);
        self.marked(result, marks)
    }

    fn unmarked_element(&mut self, collection: Value, index: Option<i32>) -> Value {
        if collection == BOTTOM && !self.is_report() {
            return BOTTOM;
        }
        let mut result = BOTTOM;
        for atom in self.facts.values.atoms(collection).iter() {
            let found = match *atom {
                Atom::List(node, skip) => self.item(node, skip, index),
                Atom::Sequence(sequence, how) => {
                    let items = self.facts.constants.items(sequence);
                    let chosen: Vec<ConstantValue> = match index {
                        Some(index) => fold::at(items, i64::from(index)).cloned().into_iter().collect(),
                        None => items.iter().take(MOST_ITEMS).cloned().collect(),
                    };
                    let how = Obfuscations::from_bits(how).unwrap_or(Obfuscations::NONE);
                    let atoms: Vec<Atom> =
                        chosen.into_iter().filter_map(|item| self.atom_of(item, how)).collect();
                    self.facts.values.set(&atoms)
                }
                Atom::Record(node) | Atom::Instance(node) => {
                    let value = self.one(*atom);
                    let own = self.elements.get(&FieldOwner::Record(node)).copied().unwrap_or(BOTTOM);
                    let own = self.join(own, value);
                    let items = self.facts.items(value);
                    let items = self.join_all(items.into_iter().map(|item| item.value));
                    self.join(items, own)
                }
                // A generator is represented by the values that it yields.
                // So are the parts of a pair: `reader, writer = open_connection()`.
                Atom::Name(_) if self.facts.language == Language::Python => {
                    let own = self.one(*atom);
                    self.join(own, OPEN)
                }
                Atom::Taint(_) | Atom::Parameter(_) => continue,
                _ => OPEN,
            };
            result = self.join(result, found);
        }
        if result == BOTTOM { OPEN } else { result }
    }

    fn item(&mut self, node: NodeId, skip: u16, index: Option<i32>) -> Value {
        let all = self.one(Atom::List(node, skip));
        let items = self.facts.items(all);
        let added = self.elements.get(&FieldOwner::Record(node)).copied().unwrap_or(BOTTOM);
        let Some(index) = index else {
            let items = self.join_all(items.into_iter().map(|item| item.value));
            return self.join(items, added);
        };
        let found = fold::at(&items, i64::from(index)).map(|item| item.value);
        let found = match found {
            Some(found) => found,
            // The length of a comprehension is unknown, so any item may be at the index.
            None => self.join_all(items.into_iter().map(|item| item.value)),
        };
        let grown = self.facts.grown.get(&node).cloned().unwrap_or_default();
        let grown = grown
            .iter()
            .filter_map(|added| if let Addition::Item(node) = added { Some(*node) } else { None });
        let grown = self.join_all(grown.map(|node| self.facts.value(node)).collect::<Vec<_>>());
        let found = self.join(found, grown);
        self.join(found, added)
    }

    /// Returns `object[start:end:step]`.
    pub(super) fn slice(&mut self, object: NodeId, parts: List) -> Value {
        let value = self.value(object);
        let parts: Vec<Option<i64>> = self
            .items(parts)
            .iter()
            .map(|part| match self.facts.values.single(self.value(*part)) {
                Some(Atom::Number(number)) => Some(i64::from(number)),
                _ => None,
            })
            .collect();
        if let [start, None, None] = parts.as_slice()
            && let Some(Atom::List(node, skip)) = self.facts.values.single(value)
        {
            let start = start.and_then(|start| u16::try_from(start).ok()).unwrap_or(0);
            return self.one(Atom::List(node, skip.saturating_add(start)));
        }
        let [start, end, step] = parts.as_slice() else { return value };
        let Some((constant, how)) = self.constant(value) else {
            // `text[::-1]`
            let is_reversed = matches!((start, end, step), (None, None, Some(-1)));
            return if is_reversed { self.marked(value, self.analysis.reversed()) } else { value };
        };
        let folded = fold::slice(&constant, *start, *end, *step);
        let atom = folded.and_then(|folded| self.atom_of(folded, how.and(Obfuscations::FOLD)));
        atom.map_or(value, |atom| self.one(atom))
    }

    /// Returns the object and the constant name from which a call reads its function.
    pub(super) fn method_name(&self, callee: NodeId) -> Option<(NodeId, Constant)> {
        match self.facts.program.node(callee) {
            Node::Member { object, name } => Some((object, Constants::of(name))),
            Node::Index { object, key } => match self.facts.values.single(self.value(key)) {
                Some(Atom::Text(text, _)) => Some((object, text)),
                _ => None,
            },
            _ => None,
        }
    }
}
