//! What the parser is inside of.

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

/// A statement that holds an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Statement {
    Plain,
    /// One that uses its value: `throw`, `export default`.
    Used,
    Case,
    Return,
    /// A declaration, with the kind of the scope in which its names are declared.
    Declare(ScopeKind),
}

/// A part of the head of a `for`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loop {
    /// What precedes the first `;`, `of` or `in`.
    First,
    Of,
    In,
    /// What follows the first `;`.
    Next,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Members {
    Object,
    Class,
    Enum,
}

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Statement,
    Operand,
    /// The last operand may end here or go on.
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

/// What a frame is. Its operands are the values from its base on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    // Operators. They end in front of one that binds less tightly.
    Binary(Binary),
    Minus,
    /// `++` and `--`.
    Step,
    Delete,
    Typeof,
    /// Any other operator in front of its operand.
    Prefix,
    New,
    Spread,
    Yield,
    /// `=`, or the operator that is joined with it.
    Assign(Option<Binary>),
    /// The branches of a condition.
    Then,
    Else,
    /// The body of an arrow function that has no braces.
    Arrow(FunctionId),
    /// A decorator, with the state behind it.
    Decorator(State),

    // Holders of expressions without a bracket of their own.
    Statement(Statement),
    /// The value of a member. The first operand is its key.
    Field,
    /// What a class extends.
    Heritage,

    // Holders of expressions in brackets.
    Group,
    /// The first operand is the callee.
    Arguments(CallKind),
    /// The arguments of `import()`.
    Import,
    Array,
    /// The first operand is the object.
    Index,
    /// A key in brackets.
    Computed(Members),
    Template,
    /// The first operand is the callee.
    Tagged,
    Element,
    ElementHole,
    /// The head of `if`, `while`, `switch`, `with`.
    Head,
    For(Loop, Option<ScopeKind>),
    Parameters,
    Catch,

    // Holders of statements and members.
    /// A block, with its scopes that end with it and with its next statement: those of loops and `catch`.
    Block {
        scopes: u8,
        heads: u8,
    },
    Members(Members),
    /// A function, with the token of its name, [`NO_MATE`] if it has none.
    Function(FunctionId, FunctionRole, u32),
    Class(FunctionRole, u32),
}

/// How tightly a condition binds.
pub(super) const CONDITION: u8 = 3;

impl Role {
    /// Returns how tightly an operator binds, and 0 for a holder.
    pub(super) const fn precedence(self) -> u8 {
        match self {
            Self::New | Self::Decorator(_) => 18,
            Self::Minus | Self::Step | Self::Delete | Self::Typeof | Self::Prefix => 15,
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
    /// The position of its first operand in the values.
    pub(super) base: usize,
    /// Where it starts in the file.
    pub(super) start: u32,
    /// Its opening token, [`NO_MATE`] if it has none.
    pub(super) open: u32,
}

impl Frame {
    /// The frame of the file.
    pub(super) const FILE: Self =
        Self { role: Role::Block { scopes: 0, heads: 0 }, base: 0, start: 0, open: NO_MATE };
}
