//! A program as a flat list of expressions, in which operands precede their expression.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

use std::collections::BTreeMap;

use plugward_types::Part;

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

            /// Returns the index in the program's table.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index!(
    /// A name or constant text, stored once per program.
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

/// The kind of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an analysis handles every kind")]
pub enum CallKind {
    /// `f(x)`.
    Plain,
    /// `new F(x)`.
    New,
    /// A decorator, which is applied to the definition after it.
    Decorator,
}

/// An expression. Its operands have lower indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every reader and the evaluation know all of them")]
pub enum Node {
    /// An unknown value: `this`, a number that is not a small integer, a regular expression.
    Unknown,
    /// A constant text or byte string with its escapes decoded.
    Text(Text),
    /// A small integer.
    Number(i32),
    /// A name as written. [`ProgramBuilder::finish`] replaces it by `Variable` or `Global`.
    Name(Text),
    /// A name that a scope of the file declares.
    Variable(Variable),
    /// A name that no scope of the file declares.
    Global(Text),
    /// A member access: `object.name`.
    Member {
        /// The object.
        object: NodeId,
        /// The name of the member.
        name: Text,
    },
    /// An element access: `object[key]`.
    Index {
        /// The object.
        object: NodeId,
        /// The key.
        key: NodeId,
    },
    /// A slice in Python: `object[start:end:step]`.
    ///
    /// The list has three items, `Unknown` for a missing one.
    Slice {
        /// The object.
        object: NodeId,
        /// Start, end and step.
        parts: List,
    },
    /// A call. Its arguments are plain values, [`Node::Spread`], or [`Node::Field`] for keyword arguments.
    Call {
        /// The function.
        callee: NodeId,
        /// The arguments, in order.
        arguments: List,
        /// The kind of the call.
        kind: CallKind,
    },
    /// A concatenation of texts: `a + b`, a template, an f-string.
    Join(List),
    /// Formatting in Python: `template % value`.
    Format {
        /// The template.
        template: NodeId,
        /// The values for its placeholders.
        value: NodeId,
    },
    /// A choice between operands: `a || b`, `a ? b : c` (without the condition), `a if c else b`.
    Either(List),
    /// A sequence, which has the value of its last operand: `a, b`.
    Last(List),
    /// Any other operator. The result is unknown and depends on all operands.
    Mix(List),
    /// An array, list, tuple or set.
    List(List),
    /// An object, dictionary or class. Its items are [`Node::Field`] or [`Node::Spread`].
    Record(List),
    /// An entry of a record, or a keyword argument. The key is a [`Node::Text`] if the source has a plain
    /// name.
    Field {
        /// The key.
        key: NodeId,
        /// The value.
        value: NodeId,
    },
    /// A spread: `...value`, `*value`, `**value`.
    Spread(NodeId),
    /// One element of a collection, as a loop assigns it to its variable.
    Element(NodeId),
    /// A function, method or lambda.
    Function(FunctionId),
    /// An assignment: `target = value`. Its value is `value`.
    ///
    /// The target is a name, a member, an element, or a `List` or `Record` of targets, in which `Bind` sets a
    /// default and `Spread` takes the rest.
    Bind {
        /// The assigned target.
        target: NodeId,
        /// The value.
        value: NodeId,
    },
    /// A removal of a name or member.
    Delete(NodeId),
    /// A value that a function returns or yields.
    Return {
        /// The function.
        function: FunctionId,
        /// The value.
        value: NodeId,
    },
    /// A module that a statement or `import()` loads. The operand is its name.
    Import(NodeId),
    /// A further name for a module that a [`Node::Import`] loaded. It is not reported again.
    Module(Text),
}

/// A set of flags of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NodeFlags(u8);

impl NodeFlags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// The expression is an assignment target, not a read.
    pub const TARGET: Self = Self(1);
    /// A text or name contains escapes, or letters that the language normalizes.
    pub const ESCAPED: Self = Self(2);
    /// The value is unused, because the expression is a statement.
    pub const STATEMENT: Self = Self(4);
    /// The name is assigned whenever its scope runs, outside of conditions and loops.
    pub const CERTAIN: Self = Self(8);

    /// Returns the union of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns `true` if all flags of `other` are set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The parameters and the result of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Function {
    /// The targets of the arguments, as in [`Node::Bind`].
    pub parameters: List,
    /// The unnamed variable for the result.
    pub result: Variable,
}

/// The kind of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "readers open scopes of these kinds")]
pub enum ScopeKind {
    /// A function body or the file. Declares `var` and Python's names.
    Function,
    /// A block. Declares `let` and `const`.
    Block,
    /// A class body. Functions inside it do not see its names.
    Class,
}

/// The expressions of one file, with resolved names.
#[derive(Debug, Clone, Default)]
pub struct Program {
    pub(crate) nodes: Vec<Node>,
    pub(crate) spans: Vec<(u32, u32)>,
    pub(crate) flags: Vec<NodeFlags>,
    pub(crate) operands: Vec<NodeId>,
    pub(crate) functions: Vec<Function>,
    pub(crate) texts: Interner,
    pub(crate) variables: usize,
    /// The name of each declared variable; function results have none.
    pub(crate) variable_names: Vec<Option<Text>>,
    /// The meaning of a class variable's name before it is bound.
    ///
    /// It is a variable of an enclosing scope, or a global.
    pub(crate) outer: BTreeMap<Variable, Option<Variable>>,
    /// The names that the scope of the file declares, sorted.
    pub(crate) file_names: Vec<(Text, Variable)>,
}

impl Program {
    /// Returns the number of expressions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns `true` if the program is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns all expressions in the order of evaluation.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId::from_index)
    }

    /// Returns an expression, or [`Node::Unknown`] for an id of another program.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes.get(id.index()).copied().unwrap_or(Node::Unknown)
    }

    /// Returns the range of an expression in the file, as byte offsets.
    #[must_use]
    pub fn span(&self, id: NodeId) -> (usize, usize) {
        self.spans.get(id.index()).map_or((0, 0), |(start, end)| (*start as usize, *end as usize))
    }

    /// Returns the flags of an expression.
    #[must_use]
    pub fn flags(&self, id: NodeId) -> NodeFlags {
        self.flags.get(id.index()).copied().unwrap_or_default()
    }

    /// Returns the items of a list.
    #[must_use]
    pub fn items(&self, list: List) -> &[NodeId] {
        let start = list.start as usize;
        self.operands.part(start..start + list.len as usize)
    }

    /// Returns a function of the file.
    #[must_use]
    pub fn function(&self, id: FunctionId) -> Option<Function> {
        self.functions.get(id.index()).copied()
    }

    /// Returns the bytes of a name or text.
    #[must_use]
    pub fn bytes(&self, text: Text) -> &[u8] {
        self.texts.bytes(text)
    }

    /// Returns the name of a variable, or `None` for the result of a function.
    #[must_use]
    pub fn variable_name(&self, variable: Variable) -> Option<Text> {
        self.variable_names.get(variable.index()).copied().flatten()
    }

    /// Returns the variable that the scope of the file declares under a name.
    #[must_use]
    pub fn file_variable(&self, name: Text) -> Option<Variable> {
        let at = self.file_names.binary_search_by_key(&name, |(known, _)| *known).ok()?;
        self.file_names.get(at).map(|(_, variable)| *variable)
    }

    /// Returns the id of a name or text, if it occurs in the program.
    #[must_use]
    pub fn find_text(&self, bytes: &[u8]) -> Option<Text> {
        self.texts.find(bytes)
    }

    /// Returns the number of variables, including the results of functions.
    #[must_use]
    pub const fn variables(&self) -> usize {
        self.variables
    }
}

/// A builder for a [`Program`], in the order of the source.
#[derive(Debug, Default)]
pub struct ProgramBuilder {
    program: Program,
    events: Vec<Event>,
    /// The open scopes, as indices in `events`.
    scopes: Vec<usize>,
    /// The open functions.
    functions: Vec<FunctionId>,
    /// For each name, the event of the scope that last declared it, plus one.
    declared: Vec<u32>,
}

/// Converts an offset to 32 bits, which halve the memory of a program. Readers do not read beyond 4 GiB.
pub(crate) fn offset(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

impl ProgramBuilder {
    /// Creates a builder with the scope of the file open.
    #[must_use]
    pub fn new() -> Self {
        let mut builder = Self::default();
        builder.open_scope(ScopeKind::Function);
        builder
    }

    /// Stores a name or text, and returns its id.
    pub fn text(&mut self, bytes: &[u8]) -> Text {
        self.program.texts.intern(bytes)
    }

    /// Appends an expression. Its operands must already be in the program.
    pub fn push(&mut self, node: Node, span: (usize, usize), flags: NodeFlags) -> NodeId {
        let id = NodeId::from_index(self.program.nodes.len());
        self.program.nodes.push(node);
        self.program.spans.push((offset(span.0), offset(span.1)));
        self.program.flags.push(flags);
        id
    }

    /// Returns an expression.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Node {
        self.program.node(id)
    }

    /// Returns the range of an expression in the file.
    #[must_use]
    pub fn span(&self, id: NodeId) -> (usize, usize) {
        self.program.span(id)
    }

    /// Stores a list of expressions.
    pub fn list(&mut self, items: &[NodeId]) -> List {
        let start = offset(self.program.operands.len());
        self.program.operands.extend_from_slice(items);
        List { start, len: offset(items.len()) }
    }

    /// Returns the items of a list.
    #[must_use]
    pub fn items(&self, list: List) -> &[NodeId] {
        self.program.items(list)
    }

    /// Adds flags to an expression.
    pub fn mark(&mut self, id: NodeId, flags: NodeFlags) {
        if let Some(known) = self.program.flags.get_mut(id.index()) {
            *known = known.and(flags);
        }
    }

    /// Appends `target = value`, and marks the target and its parts as written.
    pub fn bind(&mut self, target: NodeId, value: NodeId, span: (usize, usize)) -> NodeId {
        self.mark_target(target);
        self.push(Node::Bind { target, value }, span, NodeFlags::NONE)
    }

    /// Marks a target and its parts as written.
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
        self.events.push(Event::Open { at: offset(self.program.nodes.len()), kind, close: u32::MAX });
    }

    /// Closes the innermost scope.
    pub fn close_scope(&mut self) {
        let Some(open) = self.scopes.pop() else { return };
        let end = offset(self.events.len());
        self.events.push(Event::Close { at: offset(self.program.nodes.len()), open: offset(open) });
        if let Some(Event::Open { close, .. }) = self.events.get_mut(open) {
            *close = end;
        }
    }

    /// Hides the names of the innermost scope until [`Self::resume_scope`].
    ///
    /// The first iterable of a comprehension does not see the names that the comprehension binds.
    pub fn suspend_scope(&mut self) {
        self.events.push(Event::Suspend { at: offset(self.program.nodes.len()) });
    }

    /// Shows the names of the innermost scope again, after closing the scopes inside it.
    pub fn resume_scope(&mut self) {
        self.events.push(Event::Resume { at: offset(self.program.nodes.len()) });
    }

    /// Declares a name in the innermost scope: `let`, `const`, `class` or a parameter.
    pub fn declare(&mut self, name: Text) {
        let scope = self.scopes.last().copied().unwrap_or(0);
        self.declare_at(name, scope);
    }

    /// Records a declaration, unless the same scope was the last one to declare the name.
    fn declare_at(&mut self, name: Text, scope: usize) {
        // Loops assign the same name many times; remembering the last scope keeps events few.
        if self.declared.len() <= name.index() {
            self.declared.resize(name.index() + 1, 0);
        }
        let scope = offset(scope);
        let known = self.declared.get_mut(name.index());
        if known
            .is_none_or(|known| core::mem::replace(known, scope.saturating_add(1)) != scope.saturating_add(1))
        {
            self.events.push(Event::Declare { name, scope });
        }
    }

    /// Declares a name in the innermost function or class: `var`, or a name that Python assigns.
    pub fn declare_in_function(&mut self, name: Text) {
        let events = &self.events;
        let block =
            |at: &&usize| !matches!(events.get(**at), Some(Event::Open { kind: ScopeKind::Block, .. }));
        let scope = self.scopes.iter().rev().find(block).copied().unwrap_or(0);
        self.declare_at(name, scope);
    }

    /// Makes a name of the innermost function refer to an enclosing function: `nonlocal`.
    pub fn declare_outside(&mut self, name: Text) {
        let scope = self.scopes.last().copied().unwrap_or(0);
        self.events.push(Event::Outside { name, scope: offset(scope) });
    }

    /// Makes a name of the innermost function refer to the file: `global`.
    pub fn declare_global(&mut self, name: Text) {
        let scope = self.scopes.last().copied().unwrap_or(0);
        self.events.push(Event::Outside { name, scope: offset(scope) });
        self.events.push(Event::File { name, scope: offset(scope) });
    }

    /// Opens a function with its scope and result. The caller then appends the parameters and the body.
    pub fn open_function(&mut self) -> FunctionId {
        self.open_scope(ScopeKind::Function);
        let result = Variable::from_index(self.program.variables);
        self.program.variables += 1;
        let id = FunctionId::from_index(self.program.functions.len());
        self.program.functions.push(Function { parameters: List::default(), result });
        self.functions.push(id);
        id
    }

    /// Sets the parameters of a function and marks them as targets.
    pub fn set_parameters(&mut self, function: FunctionId, parameters: &[NodeId]) {
        for parameter in parameters {
            self.mark_target(*parameter);
        }
        let list = self.list(parameters);
        if let Some(known) = self.program.functions.get_mut(function.index()) {
            known.parameters = list;
        }
    }

    /// Closes the innermost function.
    pub fn close_function(&mut self) {
        self.functions.pop();
        self.close_scope();
    }

    /// Returns the innermost open function.
    #[must_use]
    pub fn current_function(&self) -> Option<FunctionId> {
        self.functions.last().copied()
    }

    /// Closes all scopes, resolves each [`Node::Name`] and returns the program.
    #[must_use]
    pub fn finish(mut self) -> Program {
        while !self.scopes.is_empty() {
            self.close_scope();
        }
        resolve(&mut self.program, &self.events);
        self.program
    }
}
