//! Bindings: assignments to variables, members and patterns.

use super::constant::{Constant, Constants};
use super::facts::Addition;
use super::machine::{FieldOwner, Machine, Position};
use super::name::{NamePart, Names};
use super::value::{Atom, BOTTOM, OPEN, Value};
use super::{Argument, Language, NameUse};
use crate::program::{Node, NodeFlags, NodeId, Variable};
use crate::view::Obfuscations;

impl Machine<'_, '_> {
    /// Determines how each expression is used, and which variables are assigned.
    pub(super) fn prepare(&mut self) {
        let program = self.facts.program;
        let mut bindings = vec![0_u8; program.variables()];
        for index in 0..program.len() {
            let id = NodeId::from_index(index);
            match program.node(id) {
                Node::Call { callee, .. } => self.set_position(callee, Position::Callee),
                Node::Member { object, .. } | Node::Index { object, .. } | Node::Slice { object, .. } => {
                    self.set_position(object, Position::Object);
                }
                Node::Spread(inner) | Node::Element(inner) => self.set_position(inner, Position::All),
                Node::Mix(list) => {
                    for item in program.items(list) {
                        self.set_position(*item, Position::Operand);
                    }
                }
                Node::Global(text) if program.flags(id).has(NodeFlags::TARGET) => {
                    self.assigned.insert(Constants::of(text));
                }
                Node::Variable(variable) if program.flags(id).has(NodeFlags::TARGET) => {
                    if program.flags(id).has(NodeFlags::CERTAIN)
                        && let Some(at) = self.certain.get_mut(variable.index())
                    {
                        *at = (*at).min(index);
                    }
                    if let Some(count) = bindings.get_mut(variable.index()) {
                        *count = count.saturating_add(1);
                    }
                    self.set_variable(variable, BOTTOM);
                }
                Node::Return { function, .. } => {
                    if let Some(function) = program.function(function) {
                        self.set_variable(function.result, BOTTOM);
                    }
                }
                Node::Function(function) => self.find_parameters(function),
                _ => {}
            }
        }
        if self.facts.language == Language::JavaScript {
            self.find_owners();
        }
        for index in 0..program.len() {
            if let Node::Delete(target) = program.node(NodeId::from_index(index))
                && let Node::Variable(variable) = program.node(target)
                && let Some(at) = self.certain.get_mut(variable.index())
            {
                // A deleted variable may be unbound anywhere.
                *at = usize::MAX;
            }
        }
        for (parameter, count) in self.parameter_of.iter_mut().zip(bindings) {
            // A parameter that is assigned again no longer stands for the argument.
            parameter.take_if(|_| count > 1);
        }
    }

    /// Finds the class or object literal whose function contains each `this`.
    fn find_owners(&mut self) {
        let program = self.facts.program;
        let mut functions = Vec::new();
        let mut objects = Vec::new();
        for index in 0..program.len() {
            let id = NodeId::from_index(index);
            match program.node(id) {
                Node::Record(list) => {
                    for item in program.items(list) {
                        if let Node::Field { value, .. } = program.node(*item)
                            && let Node::Function(_) = program.node(value)
                        {
                            functions.push((program.span(value), id));
                        }
                    }
                }
                Node::Member { object, .. } if program.node(object) == Node::Unknown => objects.push(object),
                _ => {}
            }
        }
        if functions.is_empty() {
            return;
        }
        functions.sort_unstable();
        objects.sort_unstable_by_key(|object| program.span(*object));
        // Functions are nested or apart, so the open ones are a stack.
        let mut open: Vec<((usize, usize), NodeId)> = Vec::new();
        let mut next = functions.into_iter().peekable();
        for object in objects {
            let (start, end) = program.span(object);
            while let Some(function) = next.next_if(|((first, _), _)| *first <= start) {
                open.retain(|((_, last), _)| *last > function.0.0);
                open.push(function);
            }
            open.retain(|((_, last), _)| *last >= end);
            if let Some((_, owner)) = open.last() {
                self.owners.insert(object, *owner);
            }
        }
    }

    /// Returns the value of an unknown expression. For `this` it may also be an object of its class.
    pub(super) fn this(&mut self, id: NodeId) -> Value {
        match self.owners.get(&id) {
            Some(owner) => self.facts.values.set(&[Atom::Instance(*owner), Atom::Open]),
            None => OPEN,
        }
    }

    fn set_position(&mut self, node: NodeId, position: Position) {
        if let Some(slot) = self.positions.get_mut(node.index()) {
            *slot = position;
        }
    }

    fn set_variable(&mut self, variable: Variable, value: Value) {
        if let Some(slot) = self.variables.get_mut(variable.index()) {
            *slot = value;
        }
    }

    pub(super) fn bind_variable(&mut self, variable: Variable, value: Value) {
        let known = self.variables.get(variable.index()).copied().unwrap_or(OPEN);
        let both = self.join(known, value);
        if both != known {
            self.set_variable(variable, both);
            self.change_variable(variable);
        }
    }

    /// Assigns a value to a target and to the targets in it.
    pub(super) fn assign(&mut self, target: NodeId, value: Value, from: Option<NodeId>) {
        let mut open = vec![(target, value, from)];
        while let Some((target, value, from)) = open.pop() {
            match self.facts.program.node(target) {
                Node::Variable(variable) => self.bind_variable(variable, value),
                Node::Global(text) => {
                    self.set_field(FieldOwner::Name(Names::GLOBAL), Constants::of(text), value);
                }
                Node::Member { object, name } => {
                    let how = self.how_of(target);
                    self.deliver_event(object, Constants::of(name), value);
                    self.write(self.value(object), Some((Constants::of(name), how)), value, from, target);
                }
                Node::Index { object, key } => self.write_index(object, key, value, from, target),
                Node::List(list) => self.assign_list(self.items(list), value, &mut open),
                Node::Record(list) => self.assign_record(self.items(list), value, &mut open),
                // A default applies if the value is missing, which is unknown, so both are possible.
                Node::Bind { target, value: default } => {
                    let both = self.join(value, self.value(default));
                    open.push((target, both, from));
                }
                Node::Spread(inner) | Node::Field { value: inner, .. } => open.push((inner, value, from)),
                _ => {}
            }
        }
    }

    /// Calls a handler with what its object delivers: `socket.onmessage = (event) => …`.
    fn deliver_event(&mut self, object: NodeId, name: Constant, value: Value) {
        let marks = self.analysis.delivers(self.facts.taint(self.value(object)));
        if self.facts.bytes(name) == b"onmessage" && marks.bits != 0 {
            let given = self.marked(OPEN, marks);
            self.call_back(&[Argument { value, key: None, node: None, is_spread: false }], &[given]);
        }
    }

    fn assign_list(
        &mut self,
        items: &[NodeId],
        value: Value,
        open: &mut Vec<(NodeId, Value, Option<NodeId>)>,
    ) {
        let program = self.facts.program;
        let is_rest = |item: &NodeId| matches!(program.node(*item), Node::Spread(_));
        let rest = items.iter().position(is_rest);
        for (item, place) in items.iter().zip(0_i32..) {
            let given = match rest {
                Some(rest) if rest == usize::try_from(place).unwrap_or(0) => {
                    self.rest(value, u16::try_from(rest).unwrap_or(0))
                }
                Some(rest) if rest < usize::try_from(place).unwrap_or(0) => {
                    let len = i32::try_from(items.len()).unwrap_or(0);
                    // Targets after the rest are counted from the end: `[a, ...b, c]`.
                    self.element(value, Some(place.saturating_sub(len)))
                }
                _ => self.element(value, Some(place)),
            };
            open.push((*item, given, None));
        }
    }

    /// Returns a list without its first items.
    fn rest(&mut self, value: Value, count: u16) -> Value {
        let shift = |atom: &Atom| match *atom {
            Atom::List(node, skip) => Atom::List(node, skip.saturating_add(count)),
            atom => atom,
        };
        let atoms: Vec<Atom> = self.facts.values.atoms(value).iter().map(shift).collect();
        self.facts.values.set(&atoms)
    }

    fn assign_record(
        &mut self,
        items: &[NodeId],
        value: Value,
        open: &mut Vec<(NodeId, Value, Option<NodeId>)>,
    ) {
        for item in items {
            match self.facts.program.node(*item) {
                Node::Field { key, value: target } => {
                    let member = self.index(value, key, *item);
                    let member = self.read_as(*item, member, NameUse::Value);
                    open.push((target, member, None));
                }
                Node::Spread(target) => open.push((target, value, None)),
                _ => {}
            }
        }
    }

    fn write_index(
        &mut self,
        object: NodeId,
        key: NodeId,
        value: Value,
        from: Option<NodeId>,
        target: NodeId,
    ) {
        let object = self.value(object);
        let keys = self.facts.values.atoms(self.value(key));
        let mut is_constant = false;
        for atom in keys.iter() {
            if let Atom::Text(text, how) = *atom {
                is_constant = true;
                let how = Obfuscations::from_bits(how).unwrap_or(Obfuscations::NONE);
                if self.is_report() && (how.has(Obfuscations::FOLD) || how.has(Obfuscations::DECODE)) {
                    self.analysis.build_name(&self.facts, target);
                }
                self.write(object, Some((text, how)), value, from, target);
            }
        }
        if !is_constant {
            self.write(object, None, value, from, target);
        }
    }

    /// Writes a member of each object that a value may be. `key` is `None` if the name is not constant.
    pub(super) fn write(
        &mut self,
        object: Value,
        key: Option<(Constant, Obfuscations)>,
        value: Value,
        from: Option<NodeId>,
        target: NodeId,
    ) {
        if object == BOTTOM && !self.is_report() {
            return;
        }
        let mut is_any = object == BOTTOM;
        for atom in self.facts.values.atoms(object).iter() {
            match (*atom, key) {
                (Atom::Name(name), Some((key, how))) => self.write_name(name, key, how, value, target),
                (Atom::Name(name), None) if self.is_report() => {
                    let child = self.child(name, NamePart::Computed, Obfuscations::NONE);
                    self.analysis.write(&self.facts, child, Some(value), target);
                }
                (Atom::Record(node) | Atom::Instance(node), Some((key, _))) => {
                    if self.facts.bytes(key) == b"__proto__" {
                        if let Some(from) = from {
                            self.add_parent(node, from);
                        }
                        continue;
                    }
                    let is_record = matches!(atom, Atom::Record(_));
                    self.set_field(
                        if is_record { FieldOwner::Record(node) } else { FieldOwner::Instance(node) },
                        key,
                        value,
                    );
                    if is_record && let Some(from) = from {
                        self.grow(node, Addition::Field(key, from));
                    }
                    // A method of the file may read the member through `this`.
                    is_any = true;
                }
                (Atom::Record(node) | Atom::List(node, _), None) => {
                    self.add_element(FieldOwner::Record(node), value);
                    // `copy[name] = os.environ[name]` in a loop fills a collection that is then sent as a whole.
                    if let Some(from) = from {
                        self.grow(node, Addition::Item(from));
                    }
                }
                (Atom::Taint(_) | Atom::Parameter(_), _) => {}
                _ => is_any = true,
            }
        }
        if is_any && let Some((key, how)) = key {
            let is_record = |atom: &Atom| matches!(atom, Atom::Record(_));
            if !self.facts.values.slice(object).iter().all(is_record) {
                self.set_field(FieldOwner::Any, key, value);
            }
            if self.is_report() {
                let child = self.facts.names.child(Names::ANY, NamePart::Member(key), how);
                self.analysis.write(&self.facts, child, Some(value), target);
            }
        }
    }

    fn write_name(
        &mut self,
        name: super::Name,
        key: Constant,
        how: Obfuscations,
        value: Value,
        target: NodeId,
    ) {
        if self.is_report() {
            let child = self.child(name, NamePart::Member(key), how);
            self.analysis.write(&self.facts, child, Some(value), target);
        }
        let holder = if name == Names::ANY { FieldOwner::Any } else { FieldOwner::Name(name) };
        self.set_field(holder, key, value);
    }

    /// Removes a name or member.
    pub(super) fn remove(&mut self, target: NodeId, id: NodeId) {
        if !self.is_report() {
            return;
        }
        let (object, keys) = match self.facts.program.node(target) {
            Node::Member { object, name } => (object, vec![NamePart::Member(Constants::of(name))]),
            Node::Index { object, key } => {
                let keys = self.facts.values.atoms(self.value(key));
                let step = |atom: &Atom| {
                    if let Atom::Text(text, _) = atom { NamePart::Member(*text) } else { NamePart::Computed }
                };
                (object, keys.iter().map(step).collect())
            }
            _ => return,
        };
        for atom in self.facts.values.atoms(self.value(object)).iter() {
            let name = if let Atom::Name(name) = *atom { name } else { Names::ANY };
            for key in &keys {
                let child = self.child(name, *key, Obfuscations::NONE);
                self.analysis.remove(&self.facts, child, id);
            }
        }
    }
}
