//! The abstract interpreter: rounds over a program, and the value of each kind of expression.

#![expect(clippy::disallowed_types, reason = "the maps are never iterated, so their order has no effect")]

use std::collections::{HashMap, HashSet};

use super::constant::{Constant, ConstantValue, Constants};
use super::facts::Evaluation;
use super::fold;
use super::intrinsic::Intrinsic;
use super::name::{Name, NamePart, Names};
use super::pending::Pending;
use super::value::{Atom, BOTTOM, OPEN, Taint, Value};
use super::{Analysis, Convergence, Language, NameUse, Round};
use crate::hash::KeyedHash;
use crate::program::{FunctionId, List, Node, NodeFlags, NodeId, Program, Variable};
use crate::view::Obfuscations;

/// The most rounds until the variables converge. A round goes forward over the program and then backward over
/// its bindings; real programs need few, and a limit is needed for hostile ones.
const ROUNDS: usize = 32;
/// The round after which a text that still changes counts as unknown, as in `s = s + 'a'` in a loop.
const GROWING: usize = 2;
/// The most modules from which all members are imported (`import *`).
const MOST_STARS: usize = 4;
/// The most scopes around a class in which a name is searched.
const MOST_OUTER: usize = 4;
/// The most alternatives of a concatenation that are kept apart. Each operand multiplies their number.
const MOST_JOINED: usize = 4;

/// An owner of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum FieldOwner {
    /// An object of which nothing is known.
    Any,
    Record(NodeId),
    Instance(NodeId),
    Name(Name),
}

/// The kinds of owners, as indices of [`Machine::keys_at`].
pub(super) const UNKNOWN_OWNER: usize = 0;
pub(super) const NAMED_OWNER: usize = 1;
const KNOWN_OWNER: usize = 2;

impl FieldOwner {
    const fn kind(self) -> usize {
        match self {
            Self::Any => UNKNOWN_OWNER,
            Self::Name(_) => NAMED_OWNER,
            Self::Record(_) | Self::Instance(_) => KNOWN_OWNER,
        }
    }
}

/// The use of an expression by the expression around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    Value,
    Callee,
    Object,
    All,
    Operand,
}

/// The meaning of a variable's name before the variable is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OuterName {
    /// None: reading the variable is an error.
    None,
    Variable(Variable),
    Global(Name),
}

pub(super) struct Machine<'p, 'a> {
    pub(super) facts: Evaluation<'p>,
    pub(super) analysis: &'a mut dyn Analysis,
    pub(super) variables: Vec<Value>,
    pub(super) fields: HashMap<(FieldOwner, Constant), Value, KeyedHash>,
    /// Values written to an owner under names that are not constant, and added elements.
    pub(super) elements: HashMap<FieldOwner, Value, KeyedHash>,
    /// The records from which a record inherits members.
    pub(super) parents: HashMap<NodeId, Vec<NodeId>, KeyedHash>,
    /// The arguments of each parameter, by its index in the table of operands.
    pub(super) arguments: Vec<Value>,
    /// For a variable that is only bound as a parameter: the function, and the index of the parameter.
    pub(super) parameter_of: Vec<Option<(FunctionId, u16)>>,
    pub(super) positions: Vec<Position>,
    pub(super) intrinsics: Vec<Option<Intrinsic>>,
    /// By name: whether the analysis or the language knows it.
    pub(super) known: Vec<Option<bool>>,
    /// By variable: the first expression that binds it unconditionally.
    pub(super) certain: Vec<usize>,
    /// By variable: the meaning of its name before it is bound.
    pub(super) outers: Vec<OuterName>,
    /// Global names that the file assigns.
    pub(super) assigned: HashSet<Constant, KeyedHash>,
    /// The class or object that `this` is, by its expression.
    pub(super) owners: HashMap<NodeId, NodeId, KeyedHash>,
    /// Modules from which all members are imported.
    stars: Vec<(Name, NodeId)>,
    /// Set if a callee may be more functions than a value keeps apart.
    pub(super) is_over: bool,
    pub(super) changed: bool,
    /// The expressions that may have to be computed again.
    pending: Pending,
    /// By name: the ticks at which a field of that name last changed, for each kind of owner.
    pub(super) keys_at: Vec<[u32; 3]>,
    /// The tick at which inheritance changed.
    pub(super) parents_at: u32,
    /// The ticks at which each variable, and an argument of each function, last changed.
    pub(super) variables_at: Vec<u32>,
    pub(super) arguments_at: Vec<u32>,
    /// The tick at which items were last added to a list or record.
    pub(super) grown_at: HashMap<NodeId, u32, KeyedHash>,
    /// Set if a class defines `__enter__`, so that `with` can replace an object by another.
    pub(super) has_enter: bool,
    /// By expression: the ticks at which its value changed and was computed.
    pub(super) stamps: Vec<(u32, u32)>,
    /// The tick at which the analysis last remembered something that calls depend on, and its number of changes.
    pub(super) remembered_at: u32,
    pub(super) remembered: usize,
    pub(super) round: Round,
    pub(super) count: usize,
}

impl<'p, 'a> Machine<'p, 'a> {
    pub(super) fn new(program: &'p Program, language: Language, analysis: &'a mut dyn Analysis) -> Self {
        let has_enter = language == Language::Python && program.find_text(b"__enter__").is_some();
        let mut machine = Self {
            facts: Evaluation::new(program, language),
            analysis,
            variables: vec![OPEN; program.variables()],
            fields: HashMap::default(),
            elements: HashMap::default(),
            parents: HashMap::default(),
            arguments: vec![BOTTOM; program.operands.len()],
            parameter_of: vec![None; program.variables()],
            positions: vec![Position::Value; program.len()],
            intrinsics: Vec::new(),
            known: Vec::new(),
            certain: vec![usize::MAX; program.variables()],
            outers: Vec::new(),
            assigned: HashSet::default(),
            owners: HashMap::default(),
            stars: Vec::new(),
            is_over: false,
            changed: false,
            pending: Pending::new(program, language),
            keys_at: Vec::new(),
            parents_at: 1,
            variables_at: vec![1; program.variables()],
            arguments_at: vec![1; program.functions.len()],
            grown_at: HashMap::default(),
            has_enter,
            stamps: vec![(0, 0); program.len()],
            remembered_at: 0,
            remembered: 0,
            round: Round::Settle,
            count: 0,
        };
        if has_enter {
            machine.pending.always_visit_members(program);
        }
        machine.prepare();
        if language == Language::Python {
            machine.outers =
                (0..program.variables()).map(|at| machine.outer(Variable::from_index(at))).collect();
        }
        machine
    }

    pub(super) fn run(mut self) -> Convergence {
        let mut outcome = Convergence::LimitReached;
        // Values only grow, and each kind of alternative is limited, so most files converge after a few
        // rounds.
        for count in 0..ROUNDS {
            (self.changed, self.count) = (false, count);
            self.analysis.round(Round::Settle);
            self.forward();
            self.backward();
            if !self.changed {
                outcome = Convergence::Converged;
                break;
            }
        }
        self.round = Round::Report;
        self.analysis.round(Round::Report);
        self.forward();
        if self.is_over { Convergence::LimitReached } else { outcome }
    }

    pub(super) fn is_report(&self) -> bool {
        self.round == Round::Report
    }

    fn forward(&mut self) {
        if self.is_report() {
            for index in 0..self.facts.nodes.len() {
                self.report(NodeId::from_index(index));
            }
            return;
        }
        let mut next = self.pending.next(0);
        while let Some(id) = next {
            self.renew(id);
            next = self.pending.next(id.index() + 1);
        }
        self.pending.end_pass();
    }

    /// Propagates values from later bindings to earlier ones.
    ///
    /// Functions in the reverse order of their calls then converge in one round.
    fn backward(&mut self) {
        for at in (0..self.pending.bindings.len()).rev() {
            let Some(id) = self.pending.bindings.get(at).copied() else { continue };
            if let Node::Bind { value, .. } | Node::Return { value, .. } = self.facts.program.node(id) {
                // The callee is computed first, because its function may have been bound later in the file.
                if let Node::Call { callee, .. } = self.facts.program.node(value) {
                    self.renew(callee);
                }
                self.renew(value);
                self.renew(id);
            }
        }
        self.pending.end_pass();
    }

    /// Computes a value again if one of its dependencies has changed.
    fn renew(&mut self, id: NodeId) {
        if self.pending.take(id) && !self.is_current(id) {
            self.compute(id);
        }
    }

    fn compute(&mut self, id: NodeId) {
        let now = self.facts.tick;
        let value = self.evaluate(id);
        let Some(slot) = self.facts.nodes.get_mut(id.index()) else { return };
        let is_new = *slot != value;
        *slot = value;
        if is_new {
            self.pending.mark_user(id);
            self.facts.tick = self.facts.tick.saturating_add(1);
        }
        if let Some((changed, computed)) = self.stamps.get_mut(id.index()) {
            *computed = now;
            if is_new {
                *changed = self.facts.tick;
            }
        }
    }

    /// Records a change of something other than the value of an expression.
    pub(super) fn change(&mut self) {
        self.changed = true;
        self.facts.tick = self.facts.tick.saturating_add(1);
    }

    /// Records a change of inheritance or of imported modules.
    pub(super) fn change_parents(&mut self) {
        self.change();
        self.parents_at = self.facts.tick;
        self.pending.mark_all();
    }

    /// Records a change of a field.
    pub(super) fn change_field(&mut self, owner: FieldOwner, key: Constant) {
        self.change();
        if self.keys_at.len() <= key.index() {
            self.keys_at.resize(key.index() + 64, [0; 3]);
        }
        if let Some(at) = self.keys_at.get_mut(key.index()).and_then(|at| at.get_mut(owner.kind())) {
            *at = self.facts.tick;
        }
        self.pending.mark_name(key);
    }

    /// Records an addition to a list or record.
    pub(super) fn change_items(&mut self, collection: NodeId) {
        self.change();
        self.grown_at.insert(collection, self.facts.tick);
    }

    pub(super) fn change_variable(&mut self, variable: Variable) {
        self.change();
        if let Some(at) = self.variables_at.get_mut(variable.index()) {
            *at = self.facts.tick;
        }
        self.pending.mark_variable(variable);
    }

    pub(super) fn change_argument(&mut self, function: FunctionId) {
        self.change();
        if let Some(at) = self.arguments_at.get_mut(function.index()) {
            *at = self.facts.tick;
        }
    }

    /// Reports the facts of an expression to the analysis.
    fn report(&mut self, id: NodeId) {
        let value = self.value(id);
        match self.facts.program.node(id) {
            Node::Global(_) | Node::Member { .. } if value != BOTTOM => {
                self.read(id, value);
            }
            Node::Global(_)
            | Node::Member { .. }
            | Node::Variable(_)
            | Node::Index { .. }
            | Node::Call { .. }
            | Node::Bind { .. }
            | Node::Delete(_)
            | Node::Import(_) => self.compute(id),
            // Code that no round reached, such as an uncalled function, is reported too.
            _ if value == BOTTOM => self.compute(id),
            _ => {}
        }
    }

    pub(super) fn items(&self, list: List) -> &'p [NodeId] {
        self.facts.program.items(list)
    }

    pub(super) fn value(&self, node: NodeId) -> Value {
        self.facts.value(node)
    }

    pub(super) fn one(&mut self, atom: Atom) -> Value {
        self.facts.values.one(atom)
    }

    pub(super) fn join(&mut self, one: Value, other: Value) -> Value {
        self.facts.values.join(one, other)
    }

    pub(super) fn join_all(&mut self, values: impl IntoIterator<Item = Value>) -> Value {
        values.into_iter().fold(BOTTOM, |sum, value| self.join(sum, value))
    }

    pub(super) fn marked(&mut self, value: Value, marks: Taint) -> Value {
        self.facts.values.mark(value, marks)
    }

    /// Returns a value without its taint.
    pub(super) fn unmarked(&mut self, value: Value) -> Value {
        self.facts.values.unmarked(value)
    }

    /// Adds the taint of several expressions to a value.
    pub(super) fn marked_by(&mut self, value: Value, nodes: &[NodeId]) -> Value {
        nodes.iter().fold(value, |value, node| {
            let marks = self.facts.taint(self.value(*node));
            self.marked(value, marks)
        })
    }

    pub(super) fn how_of(&self, node: NodeId) -> Obfuscations {
        if !self.facts.program.flags(node).has(NodeFlags::ESCAPED) {
            return Obfuscations::NONE;
        }
        let name = matches!(self.facts.program.node(node), Node::Text(_));
        if self.facts.language == Language::Python && !name {
            Obfuscations::UNICODE
        } else {
            Obfuscations::ESCAPE
        }
    }

    fn is_target(&self, node: NodeId) -> bool {
        self.facts.program.flags(node).has(NodeFlags::TARGET)
    }

    fn evaluate(&mut self, id: NodeId) -> Value {
        match self.facts.program.node(id) {
            Node::Unknown => self.this(id),
            Node::Text(text) => {
                let how = self.how_of(id);
                self.one(Atom::Text(Constants::of(text), how.bits()))
            }
            Node::Number(number) => self.one(Atom::Number(number)),
            Node::Variable(variable) => self.variable(id, variable),
            Node::Name(text) | Node::Global(text) => {
                let how = self.how_of(id);
                let value = self.global(Constants::of(text), how);
                self.read(id, value)
            }
            Node::Member { object, name } => {
                if self.is_target(id) {
                    return BOTTOM;
                }
                let how = self.how_of(id);
                if self.facts.program.flags(id).has(NodeFlags::STATEMENT)
                    && self.facts.program.bytes(name) == b"*"
                {
                    self.import_all(self.value(object), id);
                    return OPEN;
                }
                let value = self.member(self.value(object), Constants::of(name), how);
                self.read(id, value)
            }
            Node::Index { object, key } => {
                if self.is_target(id) {
                    return BOTTOM;
                }
                let value = self.index(self.value(object), key, id);
                self.read(id, value)
            }
            Node::Slice { object, parts } => self.slice(object, parts),
            Node::Call { callee, arguments, kind } => self.call(id, callee, arguments, kind),
            Node::Join(list) => self.joined(id, list),
            Node::Format { template, value } => self.formatted(id, template, value),
            Node::Either(list) => {
                let items = self.items(list);
                self.join_all_of(items)
            }
            Node::Last(list) => self.items(list).last().map_or(OPEN, |last| self.value(*last)),
            Node::Mix(list) => {
                let items = self.items(list);
                // `home / name` is a path.
                let is_path = self.facts.language == Language::Python
                    && items.iter().any(|item| self.facts.has_text(self.value(*item)));
                let value = if is_path { self.one(Atom::Partial(id)) } else { OPEN };
                let marks = self.analysis.joined(&self.facts, id);
                let value = self.marked(value, marks);
                self.marked_by(value, items)
            }
            Node::List(list) => {
                let value = self.one(Atom::List(id, 0));
                if self.is_target(id) { BOTTOM } else { self.marked_by(value, self.items(list)) }
            }
            Node::Record(list) => self.record(id, list),
            Node::Field { value, .. } | Node::Spread(value) => self.value(value),
            Node::Element(collection) => self.element(self.value(collection), None),
            Node::Function(function) => {
                self.bind_parameters(function);
                self.one(Atom::Function(function))
            }
            Node::Bind { target, value } => {
                let given = self.value(value);
                self.assign(target, given, Some(value));
                given
            }
            Node::Delete(target) => {
                self.remove(target, id);
                OPEN
            }
            Node::Return { function, value } => {
                self.returned(function, value);
                self.value(value)
            }
            Node::Import(name) => self.import(id, self.value(name)),
            Node::Module(text) => {
                let name = self.module(Constants::of(text), Obfuscations::NONE);
                self.one(Atom::Name(name))
            }
        }
    }

    /// Returns the value of a variable at a read.
    fn variable(&mut self, id: NodeId, variable: Variable) -> Value {
        let mut value = self.variables.get(variable.index()).copied().unwrap_or(OPEN);
        if self.is_target(id) {
            return value;
        }
        if self.facts.language == Language::Python {
            value = self.variable_or_outer(id, variable, value);
        }
        let how = self.how_of(id);
        if !how.is_plain() {
            let mut atoms = self.facts.values.atoms(value).to_vec();
            for atom in &mut atoms {
                if let Atom::Name(name) = atom {
                    *name = self.facts.names.with_how(*name, how);
                }
            }
            value = self.facts.values.set(&atoms);
        }
        if self.positions.get(id.index()) == Some(&Position::All) {
            value = self.read_as(id, value, NameUse::All);
        }
        value
    }

    /// Returns the meaning of a variable's name before the variable is bound.
    fn outer(&mut self, variable: Variable) -> OuterName {
        let Some(name) = self.facts.program.variable_name(variable) else { return OuterName::None };
        match self.facts.program.outer.get(&variable) {
            Some(Some(outer)) => return OuterName::Variable(*outer),
            Some(None) => {}
            None if self.facts.program.file_variable(name) == Some(variable) => {}
            None => return OuterName::None,
        }
        let global =
            self.facts.names.child(Names::GLOBAL, NamePart::Member(Constants::of(name)), Obfuscations::NONE);
        if self.analysis.knows(&self.facts, global) { OuterName::Global(global) } else { OuterName::None }
    }

    /// Joins the value of a Python variable with the meaning of its name in outer scopes.
    ///
    /// A variable that is certainly bound before the read has no other meaning.
    fn variable_or_outer(&mut self, id: NodeId, variable: Variable, value: Value) -> Value {
        let mut value = value;
        let mut variable = variable;
        for _ in 0..MOST_OUTER {
            let outer = self.outers.get(variable.index()).copied().unwrap_or(OuterName::None);
            let certain = self.certain.get(variable.index()).copied().unwrap_or(usize::MAX);
            let is_again = |star: &(Name, NodeId)| star.0 == Names::GLOBAL && star.1.index() > certain;
            if outer == OuterName::None || certain <= id.index() && !self.stars.iter().any(is_again) {
                break;
            }
            let more = match outer {
                OuterName::Global(name) => self.one(Atom::Name(name)),
                OuterName::Variable(outer) => {
                    variable = outer;
                    self.variables.get(outer.index()).copied().unwrap_or(OPEN)
                }
                OuterName::None => BOTTOM,
            };
            value = self.join(value, more);
            if !matches!(outer, OuterName::Variable(_)) {
                break;
            }
        }
        value
    }

    fn join_all_of(&mut self, nodes: &[NodeId]) -> Value {
        nodes.iter().fold(BOTTOM, |sum, node| {
            let value = self.value(*node);
            self.join(sum, value)
        })
    }

    /// Reports the names that an expression reads, and adds their taint.
    pub(super) fn read(&mut self, id: NodeId, value: Value) -> Value {
        let used = match self.positions.get(id.index()) {
            Some(Position::Callee) => return self.read_computed(id, value),
            Some(Position::Object) => NameUse::Object,
            Some(Position::All) => NameUse::All,
            Some(Position::Operand) => NameUse::Operand,
            Some(Position::Value) | None => NameUse::Value,
        };
        if self.is_target(id) {
            return value;
        }
        self.read_as(id, value, used)
    }

    /// Reports a function with a computed name even at a call, because the call itself has no name to report.
    fn read_computed(&mut self, id: NodeId, value: Value) -> Value {
        if self.facts.language == Language::Python {
            for name in self.facts.names(value).collect::<Vec<_>>() {
                if self.facts.names.step(name) == NamePart::Computed {
                    self.analysis.read(&self.facts, name, id, NameUse::Value);
                }
            }
        }
        value
    }

    pub(super) fn read_as(&mut self, id: NodeId, value: Value, used: NameUse) -> Value {
        let mut result = value;
        for atom in self.facts.values.atoms(value).iter() {
            if let Atom::Name(name) = *atom {
                let marks = self.analysis.read(&self.facts, name, id, used);
                result = self.marked(result, marks);
            }
        }
        result
    }

    /// Returns a global name, joined with the values that the file assigns to it.
    fn global(&mut self, text: Constant, how: Obfuscations) -> Value {
        let mut value = self.member_of_name(Names::GLOBAL, text, how);
        for (module, _) in self.stars.clone() {
            let member = self.member_of_name(module, text, how);
            value = self.join(value, member);
        }
        value
    }

    /// Handles `from module import *`, after which any name may be a member of the module.
    fn import_all(&mut self, module: Value, id: NodeId) {
        for name in self.facts.names(module).collect::<Vec<_>>() {
            if !self.stars.contains(&(name, id)) && self.stars.len() < MOST_STARS {
                self.stars.push((name, id));
                self.change_parents();
            }
        }
    }

    /// Returns the name of a module's contents.
    pub(super) fn module(&mut self, specifier: Constant, how: Obfuscations) -> Name {
        let bytes = self.facts.constants.bytes(specifier);
        if self.facts.language == Language::JavaScript {
            let bare = bytes.strip_prefix(b"node:").unwrap_or(bytes).to_vec();
            let text = self.facts.constants.known(&bare);
            if bare == b"process" {
                return self.facts.names.child(Names::GLOBAL, NamePart::Member(text), how);
            }
            return self.facts.names.module(text, how);
        }
        // `urllib.request` is a member of `urllib`.
        let parts: Vec<Vec<u8>> =
            bytes.split(|byte| matches!(byte, b'.' | b'/')).map(<[u8]>::to_vec).take(6).collect();
        let mut parts = parts.into_iter();
        let first = parts.next().unwrap_or_default();
        let text = self.facts.constants.known(&first);
        let mut name = match first.as_slice() {
            b"builtins" | b"__builtin__" | b"__builtins__" => Names::GLOBAL,
            _ => self.facts.names.module(text, how),
        };
        for part in parts {
            let text = self.facts.constants.known(&part);
            name = self.facts.names.child(name, NamePart::Member(text), Obfuscations::NONE);
        }
        name
    }

    /// Imports the modules that a value names.
    pub(super) fn import(&mut self, id: NodeId, specifier: Value) -> Value {
        let mut modules = Vec::new();
        let mut known = false;
        for atom in self.facts.values.atoms(specifier).iter() {
            let Atom::Text(text, how) = *atom else { continue };
            let how = Obfuscations::from_bits(how).unwrap_or(Obfuscations::NONE);
            known = true;
            if self.is_report() {
                self.analysis.import(&self.facts, Some(text), how, id);
            }
            let name = self.module(text, how);
            modules.push(Atom::Name(name));
        }
        let number = self.facts.values.slice(specifier).iter().all(|atom| matches!(atom, Atom::Number(_)));
        let other = |atom: &Atom| !matches!(atom, Atom::Text(..) | Atom::Taint(_));
        let open = specifier == BOTTOM || self.facts.values.slice(specifier).iter().any(other);
        if self.is_report() && open && (specifier == BOTTOM || !number) {
            self.analysis.import(&self.facts, None, Obfuscations::NONE, id);
        }
        if known || specifier != BOTTOM { self.facts.values.set(&modules) } else { BOTTOM }
    }

    /// Returns a folded text, or a partly unknown text if folding failed.
    pub(super) fn folded(&mut self, id: NodeId, folded: Option<(ConstantValue, Obfuscations)>) -> Value {
        let atom =
            folded.and_then(|(constant, how)| self.atom_of(constant, how)).unwrap_or(Atom::Partial(id));
        // Otherwise `s = s + 'a'` in a loop would create a new text in each round.
        let growing = self.count > GROWING
            && matches!(atom, Atom::Text(..) | Atom::Sequence(..))
            && !self.facts.values.slice(self.value(id)).contains(&atom);
        self.one(if growing { Atom::Partial(id) } else { atom })
    }

    pub(super) fn atom_of(&mut self, constant: ConstantValue, how: Obfuscations) -> Option<Atom> {
        match constant {
            ConstantValue::Text(bytes) => Some(Atom::Text(self.facts.constants.intern(&bytes)?, how.bits())),
            ConstantValue::Number(number) => Some(Atom::Number(i32::try_from(number).ok()?)),
            ConstantValue::List(items) => {
                for item in &items {
                    if let ConstantValue::Text(bytes) = item {
                        let text = self.facts.constants.intern(bytes)?;
                        let value = self.one(Atom::Text(text, how.bits()));
                        self.facts.folded_items.insert(text, value);
                    }
                }
                Some(Atom::Sequence(self.facts.constants.sequence(ConstantValue::List(items))?, how.bits()))
            }
        }
    }

    /// Concatenates texts or lists.
    fn joined(&mut self, id: NodeId, list: List) -> Value {
        let items = self.items(list);
        // An operand has not been evaluated yet, and would make the text unknown for good.
        if items.iter().any(|item| self.value(*item) == BOTTOM) && !self.is_report() {
            return BOTTOM;
        }
        let is_list = |atom: &Atom| matches!(atom, Atom::List(..) | Atom::Sequence(..));
        let lists = items.iter().any(|item| self.facts.values.slice(self.value(*item)).iter().any(is_list));
        if lists && items.len() == 2 {
            let value = self.one(Atom::List(id, 0));
            return self.marked_by(value, items);
        }
        let texts = items.iter().any(|item| self.facts.has_text(self.value(*item)));
        if !texts {
            return self.marked_by(OPEN, items);
        }
        let mut joined = vec![(Vec::new(), Obfuscations::NONE)];
        for item in items {
            let found = self.texts_of(*item);
            if found.is_empty() || joined.len().saturating_mul(found.len()) > MOST_JOINED {
                joined.clear();
                break;
            }
            joined = joined
                .iter()
                .flat_map(|(head, how)| {
                    found.iter().map(|(tail, more)| ([head.as_slice(), tail].concat(), how.and(*more)))
                })
                .collect();
        }
        let fold = if items.len() > 1 { Obfuscations::FOLD } else { Obfuscations::NONE };
        let mut value = BOTTOM;
        for (text, how) in joined {
            let one = self.folded(id, Some((ConstantValue::Text(text), how.and(fold))));
            value = self.join(value, one);
        }
        if value == BOTTOM {
            value = self.one(Atom::Partial(id));
            let marks = self.analysis.joined(&self.facts, id);
            value = self.marked(value, marks);
        }
        self.marked_by(value, items)
    }

    /// Returns the constant texts of an expression, or none if it may be anything else.
    fn texts_of(&self, node: NodeId) -> Vec<(Vec<u8>, Obfuscations)> {
        let mut found = Vec::new();
        for atom in self.facts.values.slice(self.value(node)) {
            match *atom {
                Atom::Text(text, how) => {
                    found.push((
                        self.facts.bytes(text).to_vec(),
                        Obfuscations::from_bits(how).unwrap_or(Obfuscations::NONE),
                    ));
                }
                Atom::Number(number) => found.push((number.to_string().into_bytes(), Obfuscations::NONE)),
                Atom::Taint(_) => {}
                _ => return Vec::new(),
            }
        }
        found
    }

    fn formatted(&mut self, id: NodeId, template: NodeId, value: NodeId) -> Value {
        let result = if self.facts.has_text(self.value(template)) {
            let folded = self.constant(self.value(template)).and_then(|(template, how)| {
                let (value, more) = self.constant(self.value(value))?;
                Some((fold::percent(&template, &value)?, how.and(more).and(Obfuscations::FOLD)))
            });
            self.folded(id, folded)
        } else {
            OPEN
        };
        self.marked_by(result, &[template, value])
    }

    /// Returns the constant of a value that has only one alternative.
    pub(super) fn constant(&self, value: Value) -> Option<(ConstantValue, Obfuscations)> {
        let atom = self.facts.values.single(value)?;
        let known = |how: u8| Obfuscations::from_bits(how).unwrap_or(Obfuscations::NONE);
        match atom {
            Atom::Text(text, how) => Some((ConstantValue::Text(self.facts.bytes(text).to_vec()), known(how))),
            Atom::Number(number) => Some((ConstantValue::Number(i64::from(number)), Obfuscations::NONE)),
            Atom::Sequence(sequence, how) => {
                Some((ConstantValue::List(self.facts.constants.items(sequence).to_vec()), known(how)))
            }
            Atom::List(..) => {
                let mut how = Obfuscations::NONE;
                let mut items = Vec::new();
                for item in self.facts.items(value) {
                    let (constant, more) = self.plain(item.value)?;
                    how = how.and(more);
                    items.push(constant);
                }
                Some((ConstantValue::List(items), how))
            }
            _ => None,
        }
    }

    /// Returns the text or number of a value that has only one alternative.
    fn plain(&self, value: Value) -> Option<(ConstantValue, Obfuscations)> {
        match self.facts.values.single(value)? {
            Atom::Text(..) | Atom::Number(_) => self.constant(value),
            _ => None,
        }
    }
}
