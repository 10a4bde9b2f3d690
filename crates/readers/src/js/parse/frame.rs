//! The frames of the parser's stack.

use super::super::token::NO_MATE;
use crate::program::{CallKind, FunctionId, ScopeKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    /// `+`.
    Join,
    /// `||`, `&&`, `??`.
    Either,
    /// `-`.
    Subtract,
    /// `*`, `/`, `%`, `**`.
    Multiply,
    /// All others, which bind less tightly.
    Compare,
}

impl Binary {
    pub(super) const fn precedence(self) -> u8 {
        match self {
            Self::Multiply => 13,
            Self::Join | Self::Subtract => 12,
            Self::Compare => 7,
            Self::Either => 4,
        }
    }
}

/// A statement that contains an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Statement {
    Plain,
    /// A statement that uses its value: `throw`, `export default`.
    Used,
    Case,
    Return,
    /// A declaration, with the kind of scope for its names.
    Declare(ScopeKind),
}

/// A part of the head of a `for`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loop {
    /// The part before the first `;`, `of` or `in`.
    First,
    Of,
    In,
    /// The parts after the first `;`.
    Next,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Members {
    Object,
    Class,
    Enum,
}

/// What the parser expects next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Statement,
    Operand,
    /// An operator, or the end of the last operand.
    Operator,
    /// The key of a member.
    Key,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FunctionRole {
    Declaration,
    Expression,
    Method,
    Arrow,
}

/// The role of a frame. Its operands are the values from its base on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    // Operators. They end before an operator that binds less tightly.
    Binary(Binary),
    Minus,
    /// `++` and `--`.
    NamePart,
    Delete,
    Typeof,
    /// Any other prefix operator.
    Prefix,
    New,
    Spread,
    Yield,
    /// `=`, or a compound assignment with its operator.
    Assign(Option<Binary>),
    /// The branches of a conditional expression.
    Then,
    Else,
    /// The body of an arrow function without braces.
    Arrow(FunctionId),
    /// A decorator, with the state after it.
    Decorator(State),

    // Frames of expressions without brackets.
    Statement(Statement),
    /// The value of a member. The first operand is its key.
    Field,
    /// The base of a class.
    Heritage,

    // Frames of expressions in brackets.
    Group,
    /// Arguments. The first operand is the callee.
    Arguments(CallKind),
    /// The arguments of `import()`.
    Import,
    Array,
    /// An element access. The first operand is the object.
    Index,
    /// A computed key in brackets.
    Computed(Members),
    Template,
    /// A tagged template. The first operand is the tag.
    Tagged,
    Element,
    ElementHole,
    /// The head of `if`, `while`, `switch` or `with`.
    Head,
    For(Loop, Option<ScopeKind>),
    Parameters,
    Catch,

    // Frames of statements and members.
    /// A block, with the scopes that end with it, and those of loops and `catch` that end with its next
    /// statement.
    Block {
        scopes: u8,
        heads: u8,
    },
    Members(Members),
    /// A function, with the token of its name, or [`NO_MATE`] if it has none.
    Function(FunctionId, FunctionRole, u32),
    Class(FunctionRole, u32),
}

/// The precedence of the conditional operator.
pub(super) const CONDITION: u8 = 3;

impl Role {
    /// Returns the precedence of an operator, or 0 for other frames.
    pub(super) const fn precedence(self) -> u8 {
        match self {
            Self::New | Self::Decorator(_) => 18,
            Self::Minus | Self::NamePart | Self::Delete | Self::Typeof | Self::Prefix => 15,
            Self::Binary(binary) => binary.precedence(),
            Self::Then | Self::Else => CONDITION,
            Self::Assign(_) | Self::Arrow(_) | Self::Yield | Self::Spread => 2,
            _ => 0,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) role: Role,
    /// The index of its first operand in the values.
    pub(super) base: usize,
    /// The byte offset of its start.
    pub(super) start: u32,
    /// Its opening token, or [`NO_MATE`] if it has none.
    pub(super) open: u32,
}

impl Frame {
    /// The frame of the file.
    pub(super) const FILE: Self =
        Self { role: Role::Block { scopes: 0, heads: 0 }, base: 0, start: 0, open: NO_MATE };
}
