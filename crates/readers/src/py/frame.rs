//! The open brackets and operators of an expression.

use crate::program::NodeId;

/// The kind of a frame: a wall, which a closing token ends, or an operator, which needs an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// Parentheses or a tuple.
    Paren,
    List,
    /// A dictionary or set.
    Brace,
    /// The arguments of a call. The function is the first value.
    Call,
    /// The brackets of a subscript. The object is the first value.
    Index,
    /// The bases of a class.
    Bases,
    Parameters,
    /// The parameters of a lambda, which a colon ends.
    LambdaParameters,
    /// Adjacent strings, or the parts of an f-string.
    Strings,
    /// A replacement field of an f-string.
    Hole,
    /// `for` or `if` in a comprehension.
    Clause,
    /// `name=` in a call. `extra` is the token of the name.
    Keyword,
    /// `value as target`.
    As,
    Walrus,
    /// `*value`, `**value`.
    Spread,
    Yield,
    LambdaBody,
    /// `value if condition`.
    Condition,
    /// `value if condition else`.
    Otherwise,
    Either,
    Not,
    Compare,
    Join,
    Difference,
    Format,
    Product,
    Unary,
    Power,
}

impl FrameKind {
    /// Returns the precedence of an operator, or 0 for a wall.
    ///
    /// Comparisons, shifts and bit operators share one, because their result depends on all operands in any
    /// order.
    pub(super) const fn precedence(self) -> u8 {
        match self {
            Self::Keyword | Self::As | Self::Walrus | Self::Spread | Self::Yield | Self::LambdaBody => 1,
            Self::Condition | Self::Otherwise => 2,
            Self::Either => 3,
            Self::Not => 4,
            Self::Compare => 5,
            Self::Join | Self::Difference => 6,
            Self::Format | Self::Product => 7,
            Self::Unary => 8,
            Self::Power => 9,
            _ => 0,
        }
    }

    pub(super) const fn has_parameters(self) -> bool {
        matches!(self, Self::Parameters | Self::LambdaParameters)
    }
}

/// An open bracket or operator.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) kind: FrameKind,
    /// Flags of a bracket, or the step of a parameter or clause.
    pub(super) state: u8,
    /// The byte offset of its start.
    pub(super) start: u32,
    /// The number of values before its own.
    pub(super) base: u32,
    pub(super) extra: u32,
}

/// The bracket contains commas.
pub(super) const COMMA: u8 = 1;
/// The bracket contains a comprehension and so has a scope.
pub(super) const COMPREHENDED: u8 = 2;
/// The braces are a dictionary.
pub(super) const DICTIONARY: u8 = 4;
/// The last value in the braces, or the one before it, is a key.
pub(super) const KEYED: u8 = 8;
/// The field is after its colon, where values are not part of the text.
pub(super) const ASIDE: u8 = 16;
/// The bracket contains a comprehension, after its first target.
pub(super) const CLAUSED: u8 = 32;

/// The sign is a single minus.
pub(super) const MINUS: u8 = 1;

/// The steps of a parameter: before its name, after it, in its type, in its default.
pub(super) const NAME: u8 = 0;
pub(super) const NAMED: u8 = 1;
pub(super) const ANNOTATION: u8 = 2;
pub(super) const DEFAULT: u8 = 3;

/// The steps of a clause, in `extra`.
pub(super) const CONDITION: u32 = 0;
pub(super) const TARGET: u32 = 1;
pub(super) const ITERABLE: u32 = 2;
pub(super) const FIRST_ITERABLE: u32 = 3;

/// An operand, with its range including brackets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operand {
    pub(super) node: NodeId,
    pub(super) start: u32,
    pub(super) end: u32,
}
