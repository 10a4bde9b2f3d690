//! One program as a flat list of expressions, each behind its operands.

use std::collections::BTreeMap;

use crate::interner::Interner;
use crate::resolve::{Event, resolve};

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            pub(crate) fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).unwrap_or(u32::MAX))
            }

            /// Returns the position in the program's table.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index!(
    /// A name or constant text of a program, stored once.
    Text
);
index!(
    /// An expression of a program.
    NodeId
);
index!(
    /// A variable: one name in one scope.
    Variable
);
index!(
    /// A function of a program.
    FunctionId
);

/// A list of expressions, stored in the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct List {
    pub(crate) start: u32,
    len: u32,
}

/// How a function is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an analysis handles every kind")]
pub enum CallKind {
    /// `f(x)`.
    Plain,
    /// `new F(x)`.
    New,
    /// A decorator: the function is applied to what follows it.
    Decorator,
}

/// One expression. Operands are expressions with lower positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every reader and the evaluation know all of them")]
pub enum Node {
    /// A value of which nothing is known: `this`, a number that is no small integer, a regular expression.
    Unknown,
    /// A constant text or byte string, escapes decoded.
    Text(Text),
    /// A small integer.
    Number(i32),
    /// A name as written. [`ProgramBuilder::finish`] replaces it by `Variable` or `Global`.
    Name(Text),
    /// A name that a scope of the file declares.
    Variable(Variable),
    /// A name that no scope of the file declares.
    Global(Text),
    /// `object.name`.
    Member {
        /// The object.
        object: NodeId,
        /// The member's name.
        name: Text,
    },
    /// `object[key]`.
    Index {
        /// The object.
        object: NodeId,
        /// The key.
        key: NodeId,
    },
    /// `object[start:end:step]` of Python; the list has three items, `Unknown` for a missing one.
    Slice {
        /// The object.
        object: NodeId,
        /// Start, end and step.
        parts: List,
    },
    /// A call. Arguments are plain values, [`Node::Spread`] or [`Node::Field`] for keyword arguments.
    Call {
        /// The function.
        callee: NodeId,
        /// The arguments.
        arguments: List,
        /// How it is called.
        kind: CallKind,
    },
    /// Texts joined: `a + b`, a template, an f-string.
    Join(List),
    /// Python's `template % value`.
    Format {
        /// The text with places.
        template: NodeId,
        /// What is put there.
        value: NodeId,
    },
    /// The value of one of the operands: `a || b`, `a ? b : c` (without the condition), `a if c else b`.
    Either(List),
    /// The value of the last operand: `a, b`.
    Last(List),
    /// Any other operator. The result is unknown, and depends on all operands.
    Mix(List),
    /// An array, list, tuple or set.
    List(List),
    /// An object, dictionary or class; items are [`Node::Field`] or [`Node::Spread`].
    Record(List),
    /// One entry of a record, or a keyword argument. The key is a [`Node::Text`] where the source has a plain name.
    Field {
        /// The key.
        key: NodeId,
        /// The value.
        value: NodeId,
    },
    /// `...value`, `*value`, `**value`.
    Spread(NodeId),
    /// One element of a collection: what a loop's variable takes.
    Element(NodeId),
    /// A function or method; a lambda.
    Function(FunctionId),
    /// `target = value`. The target is a name, a member, an index, or a `List` or `Record` of targets, in which `Bind` gives a
    /// default and `Spread` takes the rest. The value of the expression is the value.
    Bind {
        /// What is written.
        target: NodeId,
        /// The value.
        value: NodeId,
    },
    /// Removes a name or member.
    Delete(NodeId),
    /// A value that a function returns or yields.
    Return {
        /// The function.
        function: FunctionId,
        /// The value.
        value: NodeId,
    },
    /// A module that a statement or `import()` asks for. The operand is its name.
    Import(NodeId),
    /// A module without a fact: a second name for one that an [`Node::Import`] asked for.
    Module(Text),
}

/// Marks of one expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NodeFlags(u8);

impl NodeFlags {
    /// No mark.
    pub const NONE: Self = Self(0);
    /// The expression is written to, not read.
    pub const TARGET: Self = Self(1);
    /// A text or name is written with escapes, or in letters that the language makes others of.
    pub const ESCAPED: Self = Self(2);
    /// The value is not used: the expression is a statement of its own.
    pub const STATEMENT: Self = Self(4);
    /// The name is written whenever its scope runs: no condition or loop is around it.
    pub const CERTAIN: Self = Self(8);

    /// Returns both sets of marks.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns `true` if all marks of `other` are set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A function's parameters and result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Function {
    /// The targets that arguments are bound to; as in [`Node::Bind`].
    pub parameters: List,
    /// What the function returns: a variable without a name.
    pub result: Variable,
}

/// What opens a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "readers open scopes of these kinds")]
pub enum ScopeKind {
    /// The body of a function, or the whole file: `var` and Python's names are declared here.
    Function,
    /// A block: `let` and `const` are declared here.
    Block,
    /// The body of a class: functions inside do not see its names.
    Class,
}

/// The expressions of one file.
#[derive(Debug, Clone, Default)]
pub struct Program {
    pub(crate) nodes: Vec<Node>,
    pub(crate) spans: Vec<(u32, u32)>,
    pub(crate) flags: Vec<NodeFlags>,
    pub(crate) operands: Vec<NodeId>,
    pub(crate) functions: Vec<Function>,
    pub(crate) texts: Interner,
    pub(crate) variables: usize,
    /// The name of each variable that a scope declares; the results of functions have none.
    pub(crate) variable_names: Vec<Option<Text>>,
    /// What the name of a variable of a class means where the variable is not bound: one of a scope around the class, or a global.
    pub(crate) outer: BTreeMap<Variable, Option<Variable>>,
    /// The names that the file's own scope declares, in order.
    pub(crate) file_names: Vec<(Text, Variable)>,
}

impl Program {
    /// Returns the number of expressions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns `true` if the program has no expression.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the expressions in the order of evaluation.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId::from_index)
    }

    /// Returns an expression.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes.get(id.index()).copied().unwrap_or(Node::Unknown)
    }

    /// Returns where an expression is in the file, as byte offsets.
    #[must_use]
    pub fn span(&self, id: NodeId) -> (usize, usize) {
        self.spans.get(id.index()).map_or((0, 0), |(start, end)| (*start as usize, *end as usize))
    }

    /// Returns the marks of an expression.
    #[must_use]
    pub fn flags(&self, id: NodeId) -> NodeFlags {
        self.flags.get(id.index()).copied().unwrap_or_default()
    }

    /// Returns the items of a list.
    #[must_use]
    pub fn items(&self, list: List) -> &[NodeId] {
        let start = list.start as usize;
        self.operands.get(start..start.saturating_add(list.len as usize)).unwrap_or_default()
    }

    /// Returns a function.
    #[must_use]
    pub fn function(&self, id: FunctionId) -> Option<Function> {
        self.functions.get(id.index()).copied()
    }

    /// Returns the bytes of a name or text.
    #[must_use]
    pub fn bytes(&self, text: Text) -> &[u8] {
        self.texts.bytes(text)
    }

    /// Returns the name of a variable; the result of a function has none.
    #[must_use]
    pub fn variable_name(&self, variable: Variable) -> Option<Text> {
        self.variable_names.get(variable.index()).copied().flatten()
    }

    /// Returns the variable that the file's own scope declares by a name.
    #[must_use]
    pub fn file_variable(&self, name: Text) -> Option<Variable> {
        let at = self.file_names.binary_search_by_key(&name, |(known, _)| *known).ok()?;
        self.file_names.get(at).map(|(_, variable)| *variable)
    }

    /// Returns the id of a name or text, if the program has it.
    #[must_use]
    pub fn find_text(&self, bytes: &[u8]) -> Option<Text> {
        self.texts.find(bytes)
    }

    /// Returns the number of variables, the results of functions included.
    #[must_use]
    pub const fn variables(&self) -> usize {
        self.variables
    }
}

/// Builds a [`Program`] in the order of the source.
#[derive(Debug, Default)]
pub struct ProgramBuilder {
    program: Program,
    events: Vec<Event>,
    /// The positions in `events` of the scopes that are open.
    scopes: Vec<usize>,
    /// The functions that are open.
    functions: Vec<FunctionId>,
    /// The event of the scope that last declared each name, plus one.
    declared: Vec<u32>,
}

fn small(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

impl ProgramBuilder {
    /// Returns a builder with the file's own scope open.
    #[must_use]
    pub fn new() -> Self {
        let mut builder = Self::default();
        builder.open_scope(ScopeKind::Function);
        builder
    }

    /// Returns the id of a name or text.
    pub fn text(&mut self, bytes: &[u8]) -> Text {
        self.program.texts.intern(bytes)
    }

    /// Appends an expression. Its operands must have been appended before.
    pub fn push(&mut self, node: Node, span: (usize, usize), flags: NodeFlags) -> NodeId {
        let id = NodeId::from_index(self.program.nodes.len());
        self.program.nodes.push(node);
        self.program.spans.push((small(span.0), small(span.1)));
        self.program.flags.push(flags);
        id
    }

    /// Returns an expression that was appended.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Node {
        self.program.node(id)
    }

    /// Returns where an expression is in the file.
    #[must_use]
    pub fn span(&self, id: NodeId) -> (usize, usize) {
        self.program.span(id)
    }

    /// Stores a list of expressions.
    pub fn list(&mut self, items: &[NodeId]) -> List {
        let start = small(self.program.operands.len());
        self.program.operands.extend_from_slice(items);
        List { start, len: small(items.len()) }
    }

    /// Returns the items of a list.
    #[must_use]
    pub fn items(&self, list: List) -> &[NodeId] {
        self.program.items(list)
    }

    /// Adds marks to an expression.
    pub fn mark(&mut self, id: NodeId, flags: NodeFlags) {
        if let Some(known) = self.program.flags.get_mut(id.index()) {
            *known = known.and(flags);
        }
    }

    /// Appends `target = value` and marks the target, and the targets in it, as written.
    pub fn bind(&mut self, target: NodeId, value: NodeId, span: (usize, usize)) -> NodeId {
        self.mark_target(target);
        self.push(Node::Bind { target, value }, span, NodeFlags::NONE)
    }

    /// Marks a target and the targets in it as written.
    pub fn mark_target(&mut self, target: NodeId) {
        let mut open = vec![target];
        while let Some(id) = open.pop() {
            if self.program.flags(id).has(NodeFlags::TARGET) {
                continue;
            }
            self.mark(id, NodeFlags::TARGET);
            match self.program.node(id) {
                Node::List(items) | Node::Record(items) => open.extend_from_slice(self.program.items(items)),
                Node::Field { value, .. } => open.push(value),
                Node::Spread(inner) => open.push(inner),
                Node::Bind { target, .. } => open.push(target),
                _ => {}
            }
        }
    }

    /// Opens a scope.
    pub fn open_scope(&mut self, kind: ScopeKind) {
        self.scopes.push(self.events.len());
        self.events.push(Event::Open { at: small(self.program.nodes.len()), kind, close: u32::MAX });
    }

    /// Closes the innermost scope.
    pub fn close_scope(&mut self) {
        let Some(open) = self.scopes.pop() else { return };
        let end = small(self.events.len());
        self.events.push(Event::Close { at: small(self.program.nodes.len()), open: small(open) });
        if let Some(Event::Open { close, .. }) = self.events.get_mut(open) {
            *close = end;
        }
    }

    /// Hides the names of the innermost scope until [`Self::resume_scope`]. The first iterable of a comprehension does not see the
    /// names that the comprehension binds.
    pub fn suspend_scope(&mut self) {
        self.events.push(Event::Suspend { at: small(self.program.nodes.len()) });
    }

    /// Shows the names of the innermost scope again. Scopes that were opened in between are closed before.
    pub fn resume_scope(&mut self) {
        self.events.push(Event::Resume { at: small(self.program.nodes.len()) });
    }

    /// Declares a name in the innermost scope: `let`, `const`, `class`, a parameter.
    pub fn declare(&mut self, name: Text) {
        let scope = self.scopes.last().copied().unwrap_or(0);
        self.declare_at(name, scope);
    }

    /// Appends a declaration, unless the same scope was the last to declare the name.
    fn declare_at(&mut self, name: Text, scope: usize) {
        if self.declared.len() <= name.index() {
            self.declared.resize(name.index().saturating_add(1), 0);
        }
        let scope = small(scope);
        let known = self.declared.get_mut(name.index());
        if known
            .is_none_or(|known| core::mem::replace(known, scope.saturating_add(1)) != scope.saturating_add(1))
        {
            self.events.push(Event::Declare { name, scope });
        }
    }

    /// Declares a name in the innermost scope of a function or class: `var`, a name that Python assigns to.
    pub fn declare_in_function(&mut self, name: Text) {
        let events = &self.events;
        let block =
            |at: &&usize| !matches!(events.get(**at), Some(Event::Open { kind: ScopeKind::Block, .. }));
        let scope = self.scopes.iter().rev().find(block).copied().unwrap_or(0);
        self.declare_at(name, scope);
    }

    /// Lets a name of the innermost function mean that of a function around it: `nonlocal`.
    pub fn declare_outside(&mut self, name: Text) {
        let scope = self.scopes.last().copied().unwrap_or(0);
        self.events.push(Event::Outside { name, scope: small(scope) });
    }

    /// Lets a name of the innermost function mean that of the file: `global`.
    pub fn declare_global(&mut self, name: Text) {
        let scope = self.scopes.last().copied().unwrap_or(0);
        self.events.push(Event::Outside { name, scope: small(scope) });
        self.events.push(Event::File { name, scope: small(scope) });
    }

    /// Starts a function: opens its scope and makes its result. The reader then appends and marks parameters, then the body.
    pub fn open_function(&mut self) -> FunctionId {
        self.open_scope(ScopeKind::Function);
        let result = Variable::from_index(self.program.variables);
        self.program.variables = self.program.variables.saturating_add(1);
        let id = FunctionId::from_index(self.program.functions.len());
        self.program.functions.push(Function { parameters: List::default(), result });
        self.functions.push(id);
        id
    }

    /// Sets the parameters of a function, as targets.
    pub fn set_parameters(&mut self, function: FunctionId, parameters: &[NodeId]) {
        for parameter in parameters {
            self.mark_target(*parameter);
        }
        let list = self.list(parameters);
        if let Some(known) = self.program.functions.get_mut(function.index()) {
            known.parameters = list;
        }
    }

    /// Ends the innermost function.
    pub fn close_function(&mut self) {
        self.functions.pop();
        self.close_scope();
    }

    /// Returns the innermost function, if one is open.
    #[must_use]
    pub fn current_function(&self) -> Option<FunctionId> {
        self.functions.last().copied()
    }

    /// Closes all scopes, replaces each [`Node::Name`] and returns the program.
    #[must_use]
    pub fn finish(mut self) -> Program {
        while !self.scopes.is_empty() {
            self.close_scope();
        }
        resolve(&mut self.program, &self.events);
        self.program
    }
}
