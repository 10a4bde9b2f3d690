//! Methods of texts, lists, records and functions.

use plugward_types::Part;

use super::call::CallSite;
use super::constant::{Constant, ConstantValue};
use super::facts::Addition;
use super::machine::{FieldOwner, Machine};
use super::value::{Atom, BOTTOM, OPEN, Value};
use super::{Argument, Language, fold, javascript, python};
use crate::program::NodeId;
use crate::view::Obfuscations;

/// Returns the arguments that the result of a method can contain. What `text.replace(searched, by)` searches is not in it.
pub(super) fn kept_nodes(name: &[u8], arguments: &[Argument]) -> Vec<NodeId> {
    let is_replace = matches!(name, b"replace" | b"replaceAll") && arguments.len() > 1;
    arguments.iter().skip(usize::from(is_replace)).filter_map(|argument| argument.node).collect()
}

impl Machine<'_, '_> {
    /// Returns the result of a method call, or `None` if the method is unknown.
    pub(super) fn method(
        &mut self,
        place: CallSite,
        object: NodeId,
        name: Constant,
        arguments: &[Argument],
    ) -> Option<Value> {
        let value = self.value(object);
        let bytes = self.facts.bytes(name).to_vec();
        let atoms = self.facts.values.atoms(value);
        let has = |wanted: fn(&Atom) -> bool| atoms.iter().any(wanted);
        let is_list = has(|atom| matches!(atom, Atom::List(..) | Atom::Sequence(..)));
        let is_record = has(|atom| matches!(atom, Atom::Record(_)));
        let is_text = has(|atom| matches!(atom, Atom::Text(..) | Atom::Partial(_)));
        if (is_text || is_list)
            && let Some(found) = self.fold_method(place, value, &bytes, arguments)
        {
            return Some(found);
        }
        if is_text && self.keeps_text(&bytes) || javascript_text(self.facts.language, &bytes) {
            let partial = self.one(Atom::Partial(place.id));
            let partial = self.marked_by(partial, &kept_nodes(&bytes, arguments));
            return Some(self.marked_by(partial, &[object]));
        }
        let joins = matches!(bytes.as_slice(), b"join" | b"toLocaleString");
        if joins && (is_list || is_record && self.facts.language == Language::JavaScript) {
            let partial = self.one(Atom::Partial(place.id));
            let marks = self.element(value, None);
            let marks = self.facts.taint(marks);
            return Some(self.marked(partial, marks));
        }
        if is_list || is_record {
            self.grow_by(&atoms, &bytes, arguments);
        }
        match self.facts.language {
            Language::JavaScript => self.method_of_javascript(place, value, &bytes, arguments),
            Language::Python => self.method_of_python(place, value, &bytes, arguments),
        }
    }

    fn keeps_text(&self, name: &[u8]) -> bool {
        match self.facts.language {
            Language::JavaScript => javascript::is_text_method(name),
            Language::Python => python::is_text_method(name),
        }
    }

    fn fold_method(
        &mut self,
        place: CallSite,
        object: Value,
        name: &[u8],
        arguments: &[Argument],
    ) -> Option<Value> {
        let (receiver, mut how) = self.constant(object)?;
        let mut constants = Vec::new();
        for argument in arguments {
            let (constant, more) = self.constant(argument.value)?;
            if argument.key.is_some() || argument.is_spread {
                return None;
            }
            how = how.and(more);
            constants.push(constant);
        }
        let (constant, more) = fold::method(self.facts.language, name, &receiver, &constants)?;
        let how =
            if matches!(constant, ConstantValue::Number(_)) { Obfuscations::NONE } else { how.and(more) };
        Some(self.folded(place.id, Some((constant, how))))
    }

    /// Adds the arguments of methods such as `push` to lists and records.
    fn grow_by(&mut self, atoms: &[Atom], name: &[u8], arguments: &[Argument]) {
        let given = |at: usize| arguments.get(at).and_then(|argument| argument.node);
        for atom in atoms {
            match (*atom, name) {
                (
                    Atom::List(node, _),
                    b"append" | b"push" | b"unshift" | b"appendleft" | b"add" | b"put" | b"put_nowait",
                ) => {
                    for added in arguments.iter().filter_map(|argument| argument.node) {
                        self.grow(node, Addition::Item(added));
                    }
                }
                (Atom::List(node, _), b"insert" | b"set") => {
                    if let Some(added) = given(1) {
                        self.grow(node, Addition::Item(added));
                    }
                }
                (Atom::List(node, _), b"extend" | b"extendleft" | b"__iadd__") => {
                    if let Some(added) = given(0) {
                        self.grow(node, Addition::Spread(added));
                    }
                }
                (Atom::Record(node), b"update" | b"setdefault" | b"__setitem__" | b"set") => {
                    for argument in arguments {
                        let (Some(key), Some(from)) = (argument.key, argument.node) else { continue };
                        self.set_field(FieldOwner::Record(node), key, argument.value);
                        self.grow(node, Addition::Field(key, from));
                    }
                    let key = arguments.first().and_then(|key| self.facts.values.single(key.value));
                    match (key, given(0), given(1)) {
                        (Some(Atom::Text(key, _)), _, Some(value)) => {
                            self.set_field(FieldOwner::Record(node), key, self.value(value));
                            self.grow(node, Addition::Field(key, value));
                        }
                        (_, Some(other), None) if arguments.iter().all(|argument| argument.key.is_none()) => {
                            self.add_parent(node, other);
                            self.grow(node, Addition::Spread(other));
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }

    fn method_of_javascript(
        &mut self,
        place: CallSite,
        object: Value,
        name: &[u8],
        arguments: &[Argument],
    ) -> Option<Value> {
        Some(match name {
            b"then" | b"finally" => {
                let result = self.hand_on(place, &[object], arguments);
                if result == BOTTOM {
                    return None;
                }
                result
            }
            b"__defineGetter__" | b"__defineSetter__" => {
                let key = arguments.first().and_then(|key| self.facts.values.single(key.value));
                let key =
                    if let Some(Atom::Text(key, _)) = key { Some((key, Obfuscations::NONE)) } else { None };
                self.write(object, key, OPEN, None, place.id);
                OPEN
            }
            b"catch" => object,
            b"forEach" | b"map" | b"filter" | b"find" | b"findIndex" | b"some" | b"every" | b"flatMap"
            | b"reduce" => {
                let element = self.element(object, None);
                let given = if name == b"reduce" { vec![OPEN, element] } else { vec![element, OPEN, object] };
                let result = self.hand_on(place, &given, arguments);
                match name {
                    b"map" | b"flatMap" => {
                        self.add_element(FieldOwner::Record(place.id), result);
                        self.one(Atom::Record(place.id))
                    }
                    b"filter" => object,
                    b"find" => element,
                    b"reduce" => result,
                    _ => return None,
                }
            }
            b"pop" | b"shift" if self.is_collection(object) => self.element(object, None),
            b"at" | b"get" if self.is_collection(object) => {
                let key = arguments.first().and_then(|argument| argument.node)?;
                let found = self.index(object, key, place.id);
                // A map is a list of its values.
                let is_map = name == b"get" && !self.facts.items(object).is_empty();
                if is_map {
                    let all = self.element(object, None);
                    self.join(found, all)
                } else {
                    found
                }
            }
            b"values" | b"entries" | b"slice" | b"concat" | b"reverse" | b"sort" | b"flat"
            | b"toReversed" | b"splice"
                if self.is_collection(object) =>
            {
                object
            }
            _ => return None,
        })
    }

    fn is_collection(&self, value: Value) -> bool {
        let is = |atom: &Atom| matches!(atom, Atom::List(..) | Atom::Sequence(..) | Atom::Record(_));
        self.facts.values.slice(value).iter().any(is)
    }

    /// Calls the functions and names among the arguments. Functions get the first given value, or all of
    /// them.
    fn hand_on(&mut self, place: CallSite, given: &[Value], arguments: &[Argument]) -> Value {
        let result = self.call_back(arguments.head(1), given);
        let given: Vec<Argument> = given
            .iter()
            .take(1)
            .map(|value| Argument { value: *value, key: None, node: None, is_spread: false })
            .collect();
        let mut result = result;
        for argument in arguments.iter().take(1) {
            for atom in self.facts.values.atoms(argument.value).iter() {
                if let Atom::Name(_) | Atom::Bound(_) = atom {
                    let one = self.invoke(place.inner(), *atom, &given);
                    result = self.join(result, one);
                }
            }
        }
        result
    }

    fn method_of_python(
        &mut self,
        place: CallSite,
        object: Value,
        name: &[u8],
        arguments: &[Argument],
    ) -> Option<Value> {
        let first = arguments.first();
        let is_collection = self.is_collection(object);
        let is_name = self.facts.names(object).next().is_some();
        Some(match name {
            b"get" | b"__getitem__" | b"pop" | b"setdefault" | b"__getattribute__"
                if is_collection || is_name =>
            {
                let Some(key) = first.and_then(|key| key.node) else {
                    return Some(self.element(object, None)).filter(|_| is_collection);
                };
                let is_constant = self
                    .facts
                    .values
                    .slice(self.value(key))
                    .iter()
                    .any(|atom| matches!(atom, Atom::Text(..)));
                if !is_constant && !is_collection && name != b"__getattribute__" {
                    return None;
                }
                // `requests.get(address)` sends a request, `os.environ.get(name)` reads a member.
                let is_address = |atom: &Atom| matches!(*atom, Atom::Text(key, _) if self.facts.bytes(key).contains(&b'/'));
                if !is_collection && self.facts.values.slice(self.value(key)).iter().any(is_address) {
                    return None;
                }
                let value = self.index(object, key, place.id);
                let value = self.read(place.id, value);
                let default = arguments.get(1).map_or(BOTTOM, |argument| argument.value);
                self.join(value, default)
            }
            b"items" | b"values" | b"copy" | b"__iter__" if is_collection => object,
            b"__next__" | b"popleft" | b"popitem" | b"get_nowait" if is_collection => {
                self.element(object, None)
            }
            b"__enter__" | b"__aenter__" if is_name => object,
            _ => return None,
        })
    }
}

fn javascript_text(language: Language, name: &[u8]) -> bool {
    language == Language::JavaScript && javascript::is_always_text(name)
}
