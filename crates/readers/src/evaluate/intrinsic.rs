//! Intrinsics: functions of the languages that pass values on, such as `getattr`, `Object.assign` and `map`.

use plugward_types::Part;

use super::call::CallSite;
use super::constant::ConstantValue;
use super::facts::Addition;
use super::machine::{FieldOwner, Machine};
use super::name::{Name, NamePart, Names};
use super::value::{Atom, BOTTOM, OPEN, Value};
use super::{Argument, Language, NameUse, fold, javascript, python};
use crate::view::Obfuscations;

/// The effect of an intrinsic on its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Intrinsic {
    Unknown,
    /// Loads the module named by the first argument: `require`.
    Load,
    /// Creates a function that loads modules: `module.createRequire`.
    LoaderMaker,
    /// Calls the first argument with the items of the third, or the second: `Reflect.apply`.
    Apply,
    Construct,
    /// Reads the member of the first argument that the second names: `getattr`.
    Get,
    /// Describes that member: `Object.getOwnPropertyDescriptor`.
    Describe,
    /// Writes that member: `setattr`.
    Set,
    /// Writes that member as the third argument describes it: `Object.defineProperty`.
    Define,
    /// Removes that member: `delattr`.
    Remove,
    /// Copies the members of all arguments to the first: `Object.assign`.
    Copy,
    /// Makes the first argument inherit from the second: `Object.setPrototypeOf`.
    Inherit,
    /// Creates an object that inherits from the first argument: `Object.create`.
    Create,
    /// Returns the first argument, or an object that acts like it.
    Same,
    /// Returns the first argument if it is a function of the file.
    Prototype,
    /// Creates a text.
    Text,
    /// Creates a collection of the arguments' items.
    Collect,
    /// Creates a record of keyword arguments: `dict`.
    Dictionary,
    /// Creates a collection that methods fill: `queue.Queue`, `new Map`.
    Queue,
    /// Takes one element of the first argument: `next`.
    Next,
    /// The loaded modules by name: `sys.modules`.
    Modules,
    /// Returns the global names: `globals`.
    Globals,
    /// Returns the members of the first argument: `vars`.
    Members,
    /// Returns a function that reads or calls a member of its argument: `attrgetter`, `methodcaller`.
    MemberReader,
    MemberCaller,
    /// Binds the first arguments of a function: `functools.partial`.
    Partial,
    /// Calls the first argument with each element of the second: `map`.
    Each,
    /// Makes reading a member call the first argument: `property`.
    Property,
    /// Returns a method that does not take its object: `staticmethod`.
    Static,
}

/// The longest intrinsic name, in steps.
const MOST_STEPS: usize = 5;

impl Machine<'_, '_> {
    /// Returns the meaning of a name; results are cached per name.
    pub(super) fn intrinsic(&mut self, name: Name) -> Intrinsic {
        if let Some(Some(known)) = self.intrinsics.get(name.index()) {
            return *known;
        }
        let found = match (self.spelled(name), self.facts.language) {
            (None, _) => Intrinsic::Unknown,
            (Some(path), language) => {
                let table = table(language);
                let at = table.binary_search_by_key(&path.as_str(), |(known, _)| *known).ok();
                at.and_then(|at| table.get(at)).map_or(Intrinsic::Unknown, |(_, intrinsic)| *intrinsic)
            }
        };
        if self.intrinsics.len() <= name.index() {
            self.intrinsics.resize(self.facts.names.len(), None);
        }
        if let Some(slot) = self.intrinsics.get_mut(name.index()) {
            *slot = Some(found);
        }
        found
    }

    /// Returns `true` if the analysis or the language knows a name or a longer one that begins with it.
    pub(super) fn is_known(&mut self, name: Name) -> bool {
        if name == Names::GLOBAL || name == Names::ANY {
            return true;
        }
        if let Some(Some(known)) = self.known.get(name.index()) {
            return *known;
        }
        let known = self.analysis.knows(&self.facts, name) || self.begins_intrinsic(name);
        if self.known.len() <= name.index() {
            self.known.resize(self.facts.names.len(), None);
        }
        if let Some(slot) = self.known.get_mut(name.index()) {
            *slot = Some(known);
        }
        if known {
            let all = &mut self.facts.values.known;
            all.resize(all.len().max(self.known.len()), false);
            if let Some(slot) = all.get_mut(name.index()) {
                *slot = true;
            }
        }
        known
    }

    fn begins_intrinsic(&self, name: Name) -> bool {
        let Some(path) = self.spelled(name) else { return false };
        let table = table(self.facts.language);
        let at = table.partition_point(|(known, _)| *known < path.as_str());
        let rest = table.get(at).and_then(|(known, _)| known.strip_prefix(path.as_str()));
        // The table is sorted, but `a-b` can be between `a` and `a.b`, so the longer name is searched on its
        // own.
        let dotted = [path.as_str(), "."].concat();
        let longer = table.partition_point(|(known, _)| *known < dotted.as_str());
        rest.is_some_and(str::is_empty)
            || table.get(longer).is_some_and(|(known, _)| known.starts_with(&dotted))
    }

    /// Returns a name extended by a step. Members of an unknown name are members of the unknown object, which
    /// bounds the number of names.
    pub(super) fn child(&mut self, parent: Name, step: NamePart, how: Obfuscations) -> Name {
        let parent = if self.is_known(parent) { parent } else { Names::ANY };
        let child = self.facts.names.child(parent, step, how);
        self.is_known(child);
        child
    }

    /// Returns the result of a call of a name.
    pub(super) fn result(&mut self, name: Name) -> Value {
        if !self.is_known(name) {
            return OPEN;
        }
        let result = self.facts.names.child(name, NamePart::Result, Obfuscations::NONE);
        self.one(Atom::Name(result))
    }

    /// Returns a name in the spelling of rules: `@module.member`, `global.member`.
    pub(super) fn spelled(&self, name: Name) -> Option<String> {
        let mut steps = Vec::new();
        let mut at = name;
        for _ in 0..MOST_STEPS {
            let (step, text) = match self.facts.names.step(at) {
                NamePart::Member(text) => ("", text),
                NamePart::Module(text) => ("@", text),
                NamePart::Global => {
                    steps.reverse();
                    return Some(steps.join("."));
                }
                _ => return None,
            };
            let text = core::str::from_utf8(self.facts.bytes(text)).ok()?;
            steps.push([step, text].concat());
            let Some(parent) = self.facts.names.parent(at) else {
                steps.reverse();
                return Some(steps.join("."));
            };
            at = parent;
        }
        None
    }

    /// Returns the result of a call of an intrinsic; `None` for other names.
    pub(super) fn special_call(
        &mut self,
        place: CallSite,
        name: Name,
        arguments: &[Argument],
    ) -> Option<Value> {
        let intrinsic = self.intrinsic(name);
        let value = |at: usize| arguments.get(at).map_or(OPEN, |argument| argument.value);
        let first = value(0);
        let result = match intrinsic {
            Intrinsic::Unknown | Intrinsic::Modules => return None,
            Intrinsic::Load if arguments.is_empty() => OPEN,
            Intrinsic::Load => self.load(place, arguments),
            Intrinsic::LoaderMaker => {
                let require = self.facts.constants.known(b"require");
                let require =
                    self.facts.names.child(Names::GLOBAL, NamePart::Member(require), Obfuscations::NONE);
                self.one(Atom::Name(require))
            }
            Intrinsic::Apply | Intrinsic::Construct => self.apply(place, intrinsic, first, arguments),
            Intrinsic::Get => self.get(place, first, arguments),
            Intrinsic::Describe => {
                let member = match arguments.get(1).and_then(|key| key.node) {
                    Some(key) => self.index(first, key, place.id),
                    None => OPEN,
                };
                let key = self.facts.constants.known(b"value");
                self.set_field(FieldOwner::Record(place.id), key, member);
                self.one(Atom::Record(place.id))
            }
            Intrinsic::Set => self.set_member(place, first, value(1), value(2), arguments),
            Intrinsic::Define => {
                let key = self.facts.constants.known(b"value");
                let described = self.member(value(2), key, Obfuscations::NONE);
                self.set_member(place, first, value(1), described, arguments);
                first
            }
            Intrinsic::Remove => {
                self.remove_member(place, first, value(1));
                OPEN
            }
            Intrinsic::Copy | Intrinsic::Inherit => self.copy(place, intrinsic, arguments),
            Intrinsic::Create => {
                if let Some(node) = arguments.first().and_then(|argument| argument.node) {
                    self.add_parent(place.id, node);
                }
                self.one(Atom::Record(place.id))
            }
            Intrinsic::Same => first,
            Intrinsic::Queue => self.one(Atom::List(place.id, 0)),
            Intrinsic::Prototype => {
                let functions = self.facts.values.atoms(first);
                let functions: Vec<Atom> =
                    functions.iter().filter(|atom| matches!(atom, Atom::Function(_))).copied().collect();
                if functions.is_empty() {
                    return None;
                }
                self.facts.values.set(&functions)
            }
            Intrinsic::Text => self.text_of_call(place, name, arguments),
            _ => self.special_call_of_python(place, intrinsic, first, arguments)?,
        };
        Some(result)
    }

    fn load(&mut self, place: CallSite, arguments: &[Argument]) -> Value {
        let Some(first) = arguments.first() else { return OPEN };
        let value = if first.is_spread { self.element(first.value, None) } else { first.value };
        if self.is_report() {
            let built = self.facts.values.slice(value).iter().any(|atom| match atom {
                Atom::Text(_, how) => Obfuscations::from_bits(*how)
                    .is_some_and(|how| how.has(Obfuscations::FOLD) || how.has(Obfuscations::DECODE)),
                _ => false,
            });
            if built {
                self.analysis.build_name(&self.facts, place.id);
            }
        }
        self.import(place.id, value)
    }

    fn apply(
        &mut self,
        place: CallSite,
        intrinsic: Intrinsic,
        function: Value,
        arguments: &[Argument],
    ) -> Value {
        let at = if intrinsic == Intrinsic::Apply { 2 } else { 1 };
        let listed = self.listed(arguments.get(at));
        let mut result = BOTTOM;
        for atom in self.facts.values.atoms(function).iter() {
            if let Atom::Name(name) = *atom
                && matches!(self.intrinsic(name), Intrinsic::Apply | Intrinsic::Construct)
            {
                // The argument list of `apply.apply(…)` would be expanded again without an end.
                if self.is_report() {
                    self.analysis.build_name(&self.facts, place.id);
                }
                continue;
            }
            let one = self.invoke(place.inner(), *atom, &listed);
            result = self.join(result, one);
        }
        result
    }

    /// Reads the member that the second argument names; a third one is its default.
    fn get(&mut self, place: CallSite, object: Value, arguments: &[Argument]) -> Value {
        let Some(key) = arguments.get(1) else { return OPEN };
        let member = match key.node {
            Some(node) => self.index(object, node, place.id),
            None => OPEN,
        };
        let member = self.read(place.id, member);
        let default = arguments.get(2).map_or(BOTTOM, |argument| argument.value);
        let default = if self.facts.language == Language::Python { default } else { BOTTOM };
        self.join(member, default)
    }

    fn set_member(
        &mut self,
        place: CallSite,
        object: Value,
        key: Value,
        value: Value,
        arguments: &[Argument],
    ) -> Value {
        let from = arguments.get(2).and_then(|argument| argument.node);
        let mut is_constant = false;
        for atom in self.facts.values.atoms(key).iter() {
            if let Atom::Text(text, how) = *atom {
                is_constant = true;
                let how = Obfuscations::from_bits(how).unwrap_or(Obfuscations::NONE);
                self.write(object, Some((text, how)), value, from, place.id);
            }
        }
        if !is_constant {
            self.write(object, None, value, from, place.id);
        }
        OPEN
    }

    fn remove_member(&mut self, place: CallSite, object: Value, key: Value) {
        if !self.is_report() {
            return;
        }
        for atom in self.facts.values.atoms(object).iter() {
            let Atom::Name(name) = *atom else { continue };
            let step = match self.facts.values.single(key) {
                Some(Atom::Text(text, _)) => NamePart::Member(text),
                _ => NamePart::Computed,
            };
            let child = self.facts.names.child(name, step, Obfuscations::NONE);
            self.analysis.remove(&self.facts, child, place.id);
        }
    }

    /// Handles `Object.assign` and `Object.setPrototypeOf`: the first argument gets the members of the
    /// others.
    fn copy(&mut self, place: CallSite, intrinsic: Intrinsic, arguments: &[Argument]) -> Value {
        let Some((first, others)) = arguments.split_first() else { return OPEN };
        for atom in self.facts.values.atoms(first.value).iter() {
            match *atom {
                Atom::Record(node) | Atom::Instance(node) => {
                    for node_of in others.iter().filter_map(|argument| argument.node) {
                        self.add_parent(node, node_of);
                        self.grow(node, Addition::Spread(node_of));
                    }
                }
                Atom::Name(name) if self.is_report() => {
                    let proto = self.facts.constants.known(b"__proto__");
                    let step = if intrinsic == Intrinsic::Copy {
                        NamePart::Computed
                    } else {
                        NamePart::Member(proto)
                    };
                    let child = self.facts.names.child(name, step, Obfuscations::NONE);
                    self.analysis.write(&self.facts, child, None, place.id);
                }
                Atom::Name(name) => {
                    for item in
                        others.iter().flat_map(|other| self.facts.items(other.value)).collect::<Vec<_>>()
                    {
                        if let Some(key) = item.key {
                            self.set_field(FieldOwner::Name(name), key, item.value);
                        }
                    }
                }
                _ => {}
            }
        }
        first.value
    }

    /// Handles a function that returns a text, which is folded if its arguments are constant.
    fn text_of_call(&mut self, place: CallSite, name: Name, arguments: &[Argument]) -> Value {
        let folded = self.spelled(name).and_then(|path| {
            let mut how = Obfuscations::NONE;
            let mut constants = Vec::new();
            for argument in arguments.iter().filter(|argument| argument.key.is_none()) {
                let (constant, more) = self.constant(argument.value)?;
                if argument.is_spread {
                    return None;
                }
                how = how.and(more);
                constants.push(constant);
            }
            let (constant, more) = fold::function(self.facts.language, &path, &constants)?;
            Some((constant, how.and(more)))
        });
        let value = self.folded(place.id, folded);
        let nodes: Vec<_> = arguments.iter().filter_map(|argument| argument.node).collect();
        self.marked_by(value, &nodes)
    }

    fn special_call_of_python(
        &mut self,
        place: CallSite,
        intrinsic: Intrinsic,
        first: Value,
        arguments: &[Argument],
    ) -> Option<Value> {
        let rest = arguments.rest(1);
        let nodes: Vec<_> = arguments.iter().filter_map(|argument| argument.node).collect();
        Some(match intrinsic {
            Intrinsic::Collect => {
                for argument in arguments {
                    let element = self.element(argument.value, None);
                    self.add_element(FieldOwner::Record(place.id), element);
                }
                let collected = self.one(Atom::Record(place.id));
                self.marked_by(collected, &nodes)
            }
            Intrinsic::Dictionary => {
                for argument in arguments {
                    match (argument.key, argument.node) {
                        (Some(key), _) => self.set_field(FieldOwner::Record(place.id), key, argument.value),
                        (None, Some(node)) => self.add_parent(place.id, node),
                        (None, None) => {}
                    }
                }
                let nodes: Vec<_> =
                    arguments.iter().filter(|one| one.key.is_none()).filter_map(|one| one.node).collect();
                let record = self.one(Atom::Record(place.id));
                self.marked_by(record, &nodes)
            }
            Intrinsic::Next => self.element(first, None),
            Intrinsic::Globals => self.one(Atom::Name(Names::GLOBAL)),
            Intrinsic::Members if arguments.is_empty() => self.one(Atom::Name(Names::GLOBAL)),
            Intrinsic::Members => first,
            Intrinsic::MemberReader | Intrinsic::MemberCaller | Intrinsic::Partial => {
                if intrinsic == Intrinsic::Partial {
                    self.invoke_all(place.inner(), first, rest);
                }
                self.one(Atom::Bound(place.id))
            }
            Intrinsic::Each => {
                let given: Vec<Argument> = rest
                    .iter()
                    .map(|argument| Argument {
                        value: self.element(argument.value, None),
                        key: None,
                        node: None,
                        is_spread: false,
                    })
                    .collect();
                let result = self.invoke_all(place.inner(), first, &given);
                self.add_element(FieldOwner::Record(place.id), result);
                self.one(Atom::Record(place.id))
            }
            Intrinsic::Property => self.invoke_all(place.inner(), first, &[]),
            Intrinsic::Static => self.one(Atom::Bound(place.id)),
            _ => return None,
        })
    }

    /// Calls the function that [`Intrinsic::MemberReader`] or [`Intrinsic::MemberCaller`] returned.
    pub(super) fn read_members(
        &mut self,
        place: CallSite,
        intrinsic: Intrinsic,
        earlier: &[Argument],
        object: Value,
    ) -> Value {
        let key = earlier.first().and_then(|key| self.constant(key.value));
        let Some((ConstantValue::Text(path), how)) = key else { return OPEN };
        let mut value = object;
        for part in path.split(|byte| *byte == b'.').take(MOST_STEPS) {
            let key = self.facts.constants.known(part);
            value = self.entry(value, key, how);
        }
        if intrinsic == Intrinsic::MemberCaller {
            return self.invoke_all(place.inner(), value, earlier.part(1..));
        }
        self.read_as(place.id, value, NameUse::Value)
    }
}

/// Special members, besides those that extend a name by a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemberKind {
    Plain,
    /// The global object.
    Global,
    /// The object itself.
    Same,
    /// The module itself.
    Default,
    /// A namespace that also contains the global names.
    Namespace,
}

fn table(language: Language) -> &'static [(&'static str, Intrinsic)] {
    match language {
        Language::JavaScript => javascript::INTRINSICS,
        Language::Python => python::INTRINSICS,
    }
}
