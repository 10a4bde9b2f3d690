//! Functions that the file defines: parameters, results, calls.

use super::facts::Addition;
use super::machine::{FieldOwner, Machine};
use super::value::{Atom, BOTTOM, OPEN, Value};
use super::{Argument, Language};
use crate::program::{Function, FunctionId, Node, NodeId, Variable};

/// The most parts of a returned expression in which parameters are searched.
const MOST_RETURNED: usize = 16;
/// The most arguments of one call that are bound.
pub(super) const MOST_ARGUMENTS: usize = 64;

impl Machine<'_, '_> {
    pub(super) fn find_parameters(&mut self, id: FunctionId) {
        let Some(function) = self.facts.program.function(id) else { return };
        for (target, place) in self.items(function.parameters).iter().zip(0_u16..) {
            if let Some(variable) = self.simple_target(*target)
                && let Some(slot) = self.parameter_of.get_mut(variable.index())
            {
                *slot = Some((id, place));
            }
        }
    }

    /// Returns the variable of a parameter that is not a pattern.
    fn simple_target(&self, target: NodeId) -> Option<Variable> {
        match self.facts.program.node(target) {
            Node::Variable(variable) => Some(variable),
            Node::Bind { target, .. } => match self.facts.program.node(target) {
                Node::Variable(variable) => Some(variable),
                _ => None,
            },
            _ => None,
        }
    }

    /// Assigns the arguments of all calls to the parameters. They may also be unknown, because other files
    /// can call the function.
    pub(super) fn bind_parameters(&mut self, id: FunctionId) {
        let Some(function) = self.facts.program.function(id) else { return };
        for (index, target) in self.items(function.parameters).iter().enumerate() {
            let at = function.parameters.start as usize + index;
            let given = self.arguments.get(at).copied().unwrap_or(BOTTOM);
            let given = self.join(given, OPEN);
            self.assign(*target, given, None);
        }
    }

    /// Adds an expression to the result of a function. A returned parameter stands for the argument of each
    /// call, so that the calls of `id(x)` keep apart.
    pub(super) fn returned(&mut self, id: FunctionId, value: NodeId) {
        let Some(function) = self.facts.program.function(id) else { return };
        let mut result = BOTTOM;
        let mut open = vec![value];
        let mut left = MOST_RETURNED;
        while let Some(node) = open.pop() {
            left = left.saturating_sub(1);
            let one = match self.facts.program.node(node) {
                Node::Either(list) if left > 0 => {
                    open.extend_from_slice(self.items(list));
                    continue;
                }
                Node::Last(list) if left > 0 => {
                    open.extend(self.items(list).last());
                    continue;
                }
                Node::Variable(variable) => match self.parameter_of.get(variable.index()) {
                    Some(Some((function, place))) if *function == id => Atom::Parameter(*place),
                    _ => {
                        let value = self.value(node);
                        result = self.join(result, value);
                        continue;
                    }
                },
                _ => {
                    let value = self.value(node);
                    result = self.join(result, value);
                    continue;
                }
            };
            let one = self.one(one);
            result = self.join(result, one);
        }
        self.bind_variable(function.result, result);
    }

    fn give(&mut self, id: FunctionId, function: Function, place: usize, value: Value) {
        let at = function.parameters.start as usize + place;
        let Some(known) = self.arguments.get(at).copied() else { return };
        let both = self.join(known, value);
        if both != known {
            self.change_argument(id);
            if let Some(slot) = self.arguments.get_mut(at) {
                *slot = both;
            }
            // The variable is bound at once, so that a chain of calls converges in one round.
            let target = self.items(function.parameters).get(place);
            if let Some(variable) = target.and_then(|target| self.simple_target(*target)) {
                self.bind_variable(variable, both);
            }
        }
    }

    /// Calls a function of the file: binds the arguments and returns the result.
    pub(super) fn enter(&mut self, id: FunctionId, receiver: Option<Value>, arguments: &[Argument]) -> Value {
        let Some(function) = self.facts.program.function(id) else { return OPEN };
        let parameters = self.items(function.parameters);
        let mut given: Vec<Value> = Vec::new();
        given.extend(receiver);
        if let Some(receiver) = receiver {
            self.give(id, function, 0, receiver);
        }
        let mut place = given.len();
        for argument in arguments.iter().take(MOST_ARGUMENTS) {
            if let Some(key) = argument.key {
                // A keyword argument is bound to the parameter of that name.
                let named = parameters.iter().position(|target| {
                    let name = self
                        .simple_target(*target)
                        .and_then(|variable| self.facts.program.variable_name(variable));
                    name.is_some() && name == self.facts.constants.text(key)
                });
                match named {
                    Some(place) => {
                        self.give(id, function, place, argument.value);
                        if given.len() <= place {
                            given.resize(place + 1, BOTTOM);
                        }
                        if let Some(slot) = given.get_mut(place) {
                            *slot = argument.value;
                        }
                    }
                    None => self.give_rest(id, argument, place),
                }
                continue;
            }
            if argument.is_spread {
                // A spread argument may contain any number of arguments.
                let element = self.element(argument.value, None);
                for place in place..parameters.len() {
                    self.give(id, function, place, element);
                }
                given.resize(parameters.len().max(given.len()), element);
                continue;
            }
            match parameters.get(place).map(|target| self.facts.program.node(*target)) {
                Some(Node::Spread(_)) | None => self.give_rest(id, argument, place),
                Some(_) => self.give(id, function, place, argument.value),
            }
            if given.len() <= place {
                given.push(argument.value);
            }
            place += 1;
        }
        let result = self.variables.get(function.result.index()).copied().unwrap_or(OPEN);
        self.substitute(result, &given)
    }

    /// Adds an argument to the rest parameter.
    fn give_rest(&mut self, id: FunctionId, argument: &Argument, place: usize) {
        let Some(function) = self.facts.program.function(id) else { return };
        for (target, at) in self.items(function.parameters).iter().zip(0_usize..) {
            let Node::Spread(_) = self.facts.program.node(*target) else { continue };
            match argument.key {
                Some(key) => {
                    self.set_field(FieldOwner::Record(*target), key, argument.value);
                    let record = self.one(Atom::Record(*target));
                    self.give(id, function, at, record);
                }
                None if at <= place => {
                    if let Some(node) = argument.node {
                        self.grow(*target, Addition::Item(node));
                    } else {
                        self.add_element(FieldOwner::Record(*target), argument.value);
                    }
                    let list = self.one(Atom::List(*target, 0));
                    self.give(id, function, at, list);
                    return;
                }
                None => {}
            }
        }
    }

    /// Replaces the parameters in a result by the arguments of a call.
    fn substitute(&mut self, result: Value, given: &[Value]) -> Value {
        let atoms = self.facts.values.atoms(result);
        if !atoms.iter().any(|atom| matches!(atom, Atom::Parameter(_))) {
            return result;
        }
        let own: Vec<Atom> =
            atoms.iter().filter(|atom| !matches!(atom, Atom::Parameter(_))).copied().collect();
        let mut value = self.facts.values.set(&own);
        for atom in atoms.iter() {
            if let Atom::Parameter(place) = *atom {
                let argument = given.get(usize::from(place)).copied().unwrap_or(OPEN);
                value = self.join(value, argument);
            }
        }
        value
    }

    /// Creates an object of a class, and passes the arguments to its constructor.
    pub(super) fn construct(&mut self, class: NodeId, arguments: &[Argument]) -> Value {
        let instance = self.one(Atom::Instance(class));
        let name: &[u8] = match self.facts.language {
            Language::JavaScript => b"constructor",
            Language::Python => b"__init__",
        };
        let key = self.facts.constants.known(name);
        let constructor = self.fields.get(&(FieldOwner::Record(class), key)).copied().unwrap_or(BOTTOM);
        for atom in self.facts.values.atoms(constructor).iter() {
            if let Atom::Function(function) | Atom::Method(function) = *atom {
                let receiver = (self.facts.language == Language::Python).then_some(instance);
                self.enter(function, receiver, arguments);
            }
        }
        instance
    }
}
