//! Calls: resolves the callee, binds the arguments and determines the result.

use plugward_types::Part;

use super::constant::{Constant, Constants};
use super::facts::Item;
use super::function::MOST_ARGUMENTS;
use super::intrinsic::Intrinsic;
use super::machine::{FieldOwner, Machine};
use super::method::kept_nodes;
use super::name::{Name, NamePart, Names};
use super::value::{Atom, BOTTOM, OPEN, Value};
use super::{Argument, Call, Language, NameUse};
use crate::program::{CallKind, FunctionId, List, Node, NodeId};
use crate::view::Obfuscations;

/// The most nested calls through `apply` and similar functions.
const DEEPEST: usize = 4;

/// Methods that store their arguments in their object.
const FILLERS: &[&[u8]] = plugward_types::byte_words![
    "add add_header append appendleft attach enqueue extend put put_nowait read read_file read_string set set_content",
    "set_payload update",
];
/// Methods that call the function at this index with the arguments from another index on, or with the items there.
const STARTERS: &[(&[u8], usize, usize, Given)] = &[
    (b"apply_async", 0, 1, Given::Items),
    (b"call_soon", 0, 1, Given::Arguments),
    (b"nextTick", 0, 1, Given::Arguments),
    (b"run_in_executor", 1, 2, Given::Arguments),
    (b"setImmediate", 0, 1, Given::Arguments),
    (b"setInterval", 0, 2, Given::Arguments),
    (b"setTimeout", 0, 2, Given::Arguments),
    (b"start_new_thread", 0, 1, Given::Items),
    (b"submit", 0, 1, Given::Arguments),
    (b"to_thread", 0, 1, Given::Arguments),
];
/// The most arguments of an event.
const MOST_EMITTED: usize = 4;

/// The form in which a call gets the arguments of the function that it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given {
    Arguments,
    Items,
}

/// The place of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallSite {
    pub(super) id: NodeId,
    pub(super) kind: CallKind,
    /// The object from which the function was read.
    pub(super) object: Option<NodeId>,
    pub(super) depth: usize,
}

impl CallSite {
    pub(super) const fn inner(self) -> Self {
        Self { depth: self.depth.saturating_add(1), ..self }
    }
}

/// Returns `true` for methods that add a handler of an event.
pub(super) const fn is_event(name: &[u8]) -> bool {
    matches!(name, b"on" | b"once" | b"addListener" | b"addEventListener")
}

impl Machine<'_, '_> {
    /// Returns the result of a call.
    pub(super) fn call(&mut self, id: NodeId, callee: NodeId, list: List, kind: CallKind) -> Value {
        let function = self.value(callee);
        let method = self.method_name(callee);
        // The callee has not been evaluated yet; a later round will.
        if function == BOTTOM && method.is_none() && !self.is_report() {
            return BOTTOM;
        }
        self.is_over |= self.is_report() && self.facts.values.has_overflow(function);
        let arguments = self.arguments_of(list);
        let place = CallSite { id, kind, object: method.map(|(object, _)| object), depth: 0 };
        let forwarded = method.and_then(|(object, name)| self.forward_call(place, object, name, &arguments));
        let mut result = if let Some(result) = forwarded {
            result
        } else {
            let is_replace = arguments.len() > 1 && self.is_unknown_replace(method, function);
            let given = if is_replace { arguments.rest(1) } else { &arguments };
            self.invoke_all(place, function, given)
        };
        if let Some((object, name)) = method {
            let atoms = self.facts.values.atoms(function);
            // A method of the file and a built-in one of the same name may both be meant.
            let own = atoms.iter().any(|atom| matches!(atom, Atom::Function(_) | Atom::Method(_)));
            if let Some(found) = self.method(place, object, name, &arguments) {
                result = if own { self.join(result, found) } else { found };
            }
            let is_file = own && atoms.iter().all(|atom| !matches!(atom, Atom::Open));
            // The result of an unknown method depends on its object.
            if !is_file {
                self.fill(object, name, &arguments);
                // What an unknown method returns may be its arguments.
                let given = self.facts.taint(result);
                let kept = self.analysis.kept(&self.facts, name, given);
                if kept.bits != given.bits {
                    result = self.unmarked(result);
                    result = self.marked(result, kept);
                }
                let marks = self.facts.taint(self.value(object));
                let marks = self.analysis.kept(&self.facts, name, marks);
                let marks = self.item_marks(name, &arguments, marks);
                result = self.marked(result, marks);
                let marks = self.analysis.delivers(self.facts.taint(self.value(object)));
                let is_event = is_event(self.facts.bytes(name));
                self.emit(object, name, &arguments);
                if is_event && marks.bits != 0 {
                    // `answer.on('data', (part) => …)`
                    let given = self.marked(OPEN, marks);
                    self.call_back(&arguments, &[given]);
                }
            }
        }
        if method.is_some_and(|(object, name)| self.is_reversal(object, name, &arguments)) {
            result = self.marked(result, self.analysis.reversed());
        }
        self.start_function(place, callee, &arguments);
        // A decorator usually returns the decorated function, so both are possible.
        if kind == CallKind::Decorator
            && let Some(first) = arguments.first()
        {
            result = self.join(result, first.value);
        }
        result
    }

    /// Returns the taint that a method keeps of its object: `environment.get("NAME")` is one item.
    fn item_marks(&self, name: Constant, arguments: &[Argument], marks: super::Taint) -> super::Taint {
        let is_item = matches!(self.facts.bytes(name), b"get" | b"pop" | b"setdefault" | b"__getitem__");
        let key = arguments.first().filter(|_| is_item).and_then(|key| self.facts.values.single(key.value));
        match key {
            Some(Atom::Text(key, _)) => self.analysis.part(&self.facts, key, marks),
            _ => marks,
        }
    }

    /// Returns `true` for `text.replace(searched, by)` of a text that is not known: what it searches is not in its result.
    fn is_unknown_replace(&self, method: Option<(NodeId, Constant)>, function: Value) -> bool {
        let is_replace =
            method.is_some_and(|(_, name)| matches!(self.facts.bytes(name), b"replace" | b"replaceAll"));
        let unknown = |atom: &Atom| matches!(atom, Atom::Open | Atom::Taint(_));
        is_replace && self.facts.values.atoms(function).iter().all(unknown)
    }

    /// Returns `true` if a method returns the characters of a text in the opposite order: `text.split('').reverse().join('')`,
    /// `''.join(reversed(text))`.
    fn is_reversal(&self, object: NodeId, name: Constant, arguments: &[Argument]) -> bool {
        if self.facts.bytes(name) != b"join" {
            return false;
        }
        let is_empty = |value: Value| matches!(self.facts.values.single(value), Some(Atom::Text(text, _)) if self.facts.bytes(text).is_empty());
        let called = |node: NodeId| match self.facts.program.node(node) {
            Node::Call { callee, .. } => Some(self.facts.program.node(callee)),
            _ => None,
        };
        match self.facts.language {
            Language::JavaScript => {
                let Some(Node::Member { name, .. }) = called(object) else { return false };
                matches!(self.facts.program.bytes(name), b"reverse" | b"toReversed")
                    && arguments.first().is_some_and(|first| is_empty(first.value))
            }
            Language::Python => {
                let first = arguments.first().and_then(|first| first.node).and_then(called);
                let is_call = matches!(first, Some(Node::Name(text) | Node::Global(text)) if self.facts.program.bytes(text) == b"reversed");
                is_call && is_empty(self.value(object))
            }
        }
    }

    /// Adds the taint of the arguments to a variable whose object stores them: `form.append(name, secret)`.
    fn fill(&mut self, object: NodeId, name: Constant, arguments: &[Argument]) {
        if !FILLERS.contains(&self.facts.bytes(name)) {
            return;
        }
        let mut root = object;
        while let Node::Member { object, .. } = self.facts.program.node(root) {
            root = object;
        }
        let Node::Variable(variable) = self.facts.program.node(root) else { return };
        for argument in arguments {
            let marks = self.facts.taint(argument.value);
            if marks.bits != 0 {
                let filled = self.marked(BOTTOM, marks);
                self.bind_variable(variable, filled);
            }
        }
    }

    /// Calls the function that a thread, a task or a timer gets: `Thread(target=f, args=(x,))`, `submit(f, x)`.
    fn start_function(&mut self, place: CallSite, callee: NodeId, arguments: &[Argument]) {
        let name = match self.facts.program.node(callee) {
            Node::Member { name, .. } | Node::Global(name) | Node::Name(name) => {
                self.facts.bytes(Constants::of(name))
            }
            _ => b"",
        };
        let known = STARTERS.iter().find(|(starter, ..)| *starter == name);
        let keyed = |wanted: &[u8]| {
            arguments.iter().find(|one| one.key.is_some_and(|key| self.facts.bytes(key) == wanted)).copied()
        };
        let (function, given) = match known {
            Some((_, function, from, Given::Arguments)) => {
                (arguments.get(*function).copied(), arguments.rest(*from).to_vec())
            }
            Some((_, function, from, Given::Items)) => {
                (arguments.get(*function).copied(), self.listed(arguments.get(*from)))
            }
            None => match (keyed(b"target"), keyed(b"args")) {
                (Some(function), Some(given)) => (Some(function), self.listed(Some(&given))),
                _ => return,
            },
        };
        if given.is_empty() {
            return;
        }
        let Some(function) = function else { return };
        let is_function = |atom: &&Atom| {
            matches!(atom, Atom::Function(_) | Atom::Method(_) | Atom::Bound(_) | Atom::Name(_))
        };
        for atom in self.facts.values.atoms(function.value).iter().filter(is_function) {
            let object = function.node.and_then(|node| self.method_name(node)).map(|(object, _)| object);
            self.invoke(CallSite { object, ..place.inner() }, *atom, &given);
        }
    }

    /// Passes the arguments of an event to its handlers: `bus.emit(event, x)`, `bus.on(event, (x) => …)`.
    fn emit(&mut self, object: NodeId, name: Constant, arguments: &[Argument]) {
        let is_emit = self.facts.bytes(name) == b"emit";
        if self.facts.language != Language::JavaScript || !is_emit && !is_event(self.facts.bytes(name)) {
            return;
        }
        let bus = match self.facts.program.node(object) {
            Node::Variable(variable) => self.facts.program.variable_name(variable),
            Node::Member { name, .. } | Node::Global(name) => Some(name),
            _ => None,
        };
        let event = arguments.first().and_then(|event| self.facts.values.single(event.value));
        let (Some(bus), Some(Atom::Text(event, _))) = (bus, event) else { return };
        let head = [self.facts.program.bytes(bus), b" emits ", self.facts.bytes(event)].concat();
        let mut given = Vec::new();
        for place in 0..MOST_EMITTED {
            let key =
                [head.as_slice(), &[b' ', b'0'.saturating_add(u8::try_from(place).unwrap_or(0))]].concat();
            if is_emit {
                let Some(argument) = arguments.get(place.saturating_add(1)) else { break };
                let key = self.facts.constants.known(&key);
                self.set_field(FieldOwner::Any, key, argument.value);
            } else {
                let known = self.facts.constants.find(&key);
                let known = known.and_then(|key| self.fields.get(&(FieldOwner::Any, key)));
                given.push(known.copied().unwrap_or(BOTTOM));
            }
        }
        if given.iter().any(|value| *value != BOTTOM) {
            self.call_back(arguments.rest(1), &given);
        }
    }

    pub(super) fn arguments_of(&mut self, list: List) -> Vec<Argument> {
        let mut arguments = Vec::new();
        for node in self.items(list).iter().take(MOST_ARGUMENTS) {
            match self.facts.program.node(*node) {
                Node::Spread(inner) => self.spread(self.value(inner), Some(inner), &mut arguments),
                Node::Field { key, value } => arguments.push(Argument {
                    value: self.value(value),
                    key: self.facts.key_of(key),
                    node: Some(value),
                    is_spread: false,
                }),
                _ => arguments.push(Argument {
                    value: self.value(*node),
                    key: None,
                    node: Some(*node),
                    is_spread: false,
                }),
            }
        }
        arguments
    }

    /// Appends the items of a collection as arguments.
    pub(super) fn spread(&self, value: Value, node: Option<NodeId>, arguments: &mut Vec<Argument>) {
        let is_list = |atom: &Atom| matches!(atom, Atom::List(..) | Atom::Sequence(..) | Atom::Record(_));
        let items = self.facts.items(value);
        if items.is_empty() || !self.facts.values.slice(value).iter().any(is_list) {
            arguments.push(Argument { value, key: None, node, is_spread: true });
            return;
        }
        let given =
            |item: Item| Argument { value: item.value, key: item.key, node: item.node, is_spread: false };
        arguments.extend(items.into_iter().take(MOST_ARGUMENTS).map(given));
    }

    pub(super) fn invoke_all(&mut self, place: CallSite, function: Value, arguments: &[Argument]) -> Value {
        let mut result = if function == BOTTOM { OPEN } else { BOTTOM };
        for atom in self.facts.values.atoms(function).iter() {
            let one = self.invoke(place, *atom, arguments);
            result = self.join(result, one);
        }
        result
    }

    /// Calls one alternative of a callee.
    pub(super) fn invoke(&mut self, place: CallSite, atom: Atom, arguments: &[Argument]) -> Value {
        if place.depth > DEEPEST {
            return OPEN;
        }
        match atom {
            Atom::Name(name) => self.invoke_name(place, name, arguments),
            Atom::Function(function) => self.enter(function, None, arguments),
            Atom::Method(function) => {
                let receiver = place.object.map_or(OPEN, |object| self.value(object));
                self.enter(function, Some(receiver), arguments)
            }
            Atom::Bound(node) => self.invoke_bound(place, node, arguments),
            Atom::Record(class) => self.construct(class, arguments),
            // Calling an object runs `__call__` of its class.
            Atom::Instance(_) => {
                let key = self.facts.constants.known(b"__call__");
                let instance = self.one(atom);
                let function = self.member(instance, key, Obfuscations::NONE);
                let known = |atom: &Atom| matches!(atom, Atom::Method(_) | Atom::Function(_));
                let known: Vec<Atom> =
                    self.facts.values.atoms(function).iter().filter(|a| known(a)).copied().collect();
                let mut result = OPEN;
                for function in known {
                    let one = self.invoke(place.inner(), function, arguments);
                    result = self.join(result, one);
                }
                result
            }
            Atom::Taint(_) => BOTTOM,
            _ => {
                let nodes: Vec<NodeId> = arguments.iter().filter_map(|argument| argument.node).collect();
                self.marked_by(OPEN, &nodes)
            }
        }
    }

    /// Calls a function with the arguments bound by an earlier call (`f.bind`, `functools.partial`), followed
    /// by these.
    fn invoke_bound(&mut self, place: CallSite, node: NodeId, arguments: &[Argument]) -> Value {
        let Node::Call { callee, arguments: earlier, .. } = self.facts.program.node(node) else {
            return OPEN;
        };
        let mut all = self.arguments_of(earlier);
        let is_bind = self.method_name(callee).filter(|(_, name)| self.facts.bytes(*name) == b"bind");
        let first = all.first().map_or(OPEN, |first| first.value);
        let function = match is_bind {
            Some((object, _)) => self.value(object),
            None => first,
        };
        for atom in self.facts.values.atoms(self.value(callee)).iter() {
            let Atom::Name(name) = *atom else { continue };
            match self.intrinsic(name) {
                Intrinsic::Static => return self.invoke_all(place.inner(), first, arguments),
                reader @ (Intrinsic::MemberReader | Intrinsic::MemberCaller) => {
                    let object = arguments.first().map_or(OPEN, |argument| argument.value);
                    return self.read_members(place, reader, &all, object);
                }
                _ => {}
            }
        }
        all.drain(..all.len().min(1));
        all.extend_from_slice(arguments);
        let mut result = BOTTOM;
        for atom in self.facts.values.atoms(function).iter() {
            let one = self.invoke(place.inner(), *atom, &all);
            result = self.join(result, one);
        }
        result
    }

    fn invoke_name(&mut self, place: CallSite, name: Name, arguments: &[Argument]) -> Value {
        if let Some(result) = self.forward_name(place, name, arguments) {
            return result;
        }
        let marks = self.tell_call(place, name, arguments);
        let method = match self.facts.names.step(name) {
            NamePart::Member(member) => self.facts.bytes(member),
            _ => b"",
        };
        let nodes = kept_nodes(method, arguments);
        if marks.bits != 0 {
            // `fs.readFile(path, (error, data) => …)`: the data is not always the first one.
            let given = self.marked(OPEN, marks);
            let later = self.marked(OPEN, self.analysis.delivers(marks));
            self.call_back(arguments, &[given, later, later]);
        }
        let result = match self.special_call(place, name, arguments) {
            Some(result) => result,
            // A called module stands for its default export: `require('m')()`.
            None if matches!(self.facts.names.step(name), NamePart::Module(_)) => {
                let result = self.facts.names.child(name, NamePart::Result, Obfuscations::NONE);
                let both = [Atom::Name(name), Atom::Name(result)];
                self.facts.values.set(&both)
            }
            None => {
                let result = self.result(name);
                if self.analysis.passes(&self.facts, name) {
                    self.kept_of(result, name, &nodes)
                } else {
                    result
                }
            }
        };
        self.marked(result, marks)
    }

    /// Adds the taint that the result of a call keeps of its arguments.
    fn kept_of(&mut self, result: Value, name: Name, nodes: &[NodeId]) -> Value {
        let NamePart::Member(member) = self.facts.names.step(name) else {
            return self.marked_by(result, nodes);
        };
        nodes.iter().fold(result, |result, node| {
            let marks = self.facts.taint(self.value(*node));
            let marks = self.analysis.kept(&self.facts, member, marks);
            self.marked(result, marks)
        })
    }

    pub(super) fn tell_call(&mut self, place: CallSite, name: Name, arguments: &[Argument]) -> super::Taint {
        let marks = self.analysis.call(&Call {
            facts: &self.facts,
            name,
            arguments,
            kind: place.kind,
            receiver: place.object,
            node: place.id,
        });
        let changes = self.analysis.changes();
        if changes != self.remembered {
            (self.remembered, self.remembered_at) = (changes, self.facts.tick);
        }
        marks
    }

    /// Calls the functions among the arguments with values, as `forEach` and other callbacks do.
    pub(super) fn call_back(&mut self, arguments: &[Argument], given: &[Value]) -> Value {
        let given: Vec<Argument> = given
            .iter()
            .map(|value| Argument { value: *value, key: None, node: None, is_spread: false })
            .collect();
        let mut result = BOTTOM;
        for argument in arguments {
            let functions: Vec<FunctionId> = self
                .facts
                .values
                .slice(argument.value)
                .iter()
                .filter_map(|atom| if let Atom::Function(id) = atom { Some(*id) } else { None })
                .collect();
            for function in functions {
                let one = self.enter(function, None, &given);
                result = self.join(result, one);
            }
        }
        result
    }

    /// Handles `f.call(…)`, `f.apply(…)` and `f.bind(…)`; returns `None` for other calls.
    fn forward_call(
        &mut self,
        place: CallSite,
        object: NodeId,
        name: Constant,
        arguments: &[Argument],
    ) -> Option<Value> {
        if self.facts.language != Language::JavaScript {
            return None;
        }
        let function = self.value(object);
        let by = self.facts.bytes(name);
        let is_name = |atom: &Atom| matches!(atom, Atom::Name(_));
        let is_function = |atom: &Atom| matches!(atom, Atom::Function(_) | Atom::Bound(_));
        let atoms = self.facts.values.atoms(function);
        if !atoms.iter().any(|atom| is_name(atom) || is_function(atom)) {
            return None;
        }
        // Objects may define a member of that name themselves, which takes precedence.
        let is_own =
            atoms.iter().any(|atom| matches!(*atom, Atom::Name(name) if self.is_receiver_of_its_own(name)));
        let by = if is_own { b"" } else { by };
        let rest = arguments.rest(1);
        match by {
            b"call" => Some(self.invoke_all(place.inner(), function, rest)),
            b"apply" => {
                let listed = self.listed(rest.first());
                Some(self.invoke_all(place.inner(), function, &listed))
            }
            b"bind" => {
                if rest.is_empty() {
                    return Some(self.read_as(place.id, function, NameUse::Value));
                }
                self.invoke_all(place.inner(), function, rest);
                Some(self.one(Atom::Bound(place.id)))
            }
            _ => None,
        }
    }

    /// Returns `true` for objects with functions of their own named `apply`.
    fn is_receiver_of_its_own(&self, name: Name) -> bool {
        self.facts.names.parent(name) == Some(Names::GLOBAL)
            && matches!(self.facts.names.step(name), NamePart::Member(text) if self.facts.bytes(text) == b"Reflect")
    }

    /// Returns the arguments in a list, or one unknown spread argument if the list is unknown.
    pub(super) fn listed(&self, list: Option<&Argument>) -> Vec<Argument> {
        let mut arguments = Vec::new();
        if let Some(list) = list {
            self.spread(list.value, list.node, &mut arguments);
        }
        arguments
    }

    /// Calls a name that ends in `call`, `apply` or `bind`.
    fn forward_name(&mut self, place: CallSite, name: Name, arguments: &[Argument]) -> Option<Value> {
        if self.facts.language != Language::JavaScript {
            return None;
        }
        let NamePart::Member(text) = self.facts.names.step(name) else { return None };
        let parent = self.facts.names.parent(name)?;
        if self.is_receiver_of_its_own(parent) || parent == Names::ANY || parent == Names::GLOBAL {
            return None;
        }
        let by = match self.facts.bytes(text) {
            b"call" => 0,
            b"apply" => 1,
            b"bind" => 2,
            _ => return None,
        };
        // `Function.prototype.call` calls its receiver, which is the first argument here.
        let is_prototype = matches!(self.facts.names.step(parent), NamePart::Member(text) if self.facts.bytes(text) == b"prototype");
        if is_prototype {
            let object = place.object.map(|object| self.value(object)).filter(|_| place.depth == 0);
            let first = arguments.first().map_or(OPEN, |first| first.value);
            let function = object.filter(|_| place.depth > 0).unwrap_or(first);
            let rest = arguments.rest(1);
            let rest = if by == 1 { self.listed(rest.first()) } else { rest.rest(1).to_vec() };
            return Some(self.invoke_all(place.inner(), function, &rest));
        }
        let rest = arguments.rest(1);
        let rest = if by == 1 { self.listed(rest.first()) } else { rest.to_vec() };
        let result = self.invoke(place.inner(), Atom::Name(parent), &rest);
        Some(if by == 2 { self.one(Atom::Name(parent)) } else { result })
    }
}
