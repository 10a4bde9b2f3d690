//! The brackets and operators that are open while an expression is read.

use crate::program::NodeId;

/// The kind of a frame: a wall, which a closing token ends, or an operator, which waits for an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// A bracket that groups, or a tuple.
    Paren,
    List,
    /// A dictionary or set.
    Brace,
    /// The arguments of a call. The function is the first value.
    Call,
    /// The brackets behind a value, which is the first value.
    Index,
    /// The bases of a class.
    Bases,
    Parameters,
    /// The parameters of a lambda, which a colon ends.
    LambdaParameters,
    /// Strings side by side, or the parts of an f-string.
    Strings,
    /// A hole in an f-string.
    Hole,
    /// `for` or `if` in a comprehension.
    Clause,
    /// `name=` in a call. `extra` is the name's token.
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
    /// Returns how tightly an operator binds; 0 for a wall. Comparisons, shifts and bit operators bind alike: in any order, the
    /// result depends on all operands.
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

/// Something that is open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) kind: FrameKind,
    /// Marks of a bracket, or the step of a parameter or clause.
    pub(super) state: u8,
    /// Where it starts, as a byte offset.
    pub(super) start: u32,
    /// How many values there were before its own.
    pub(super) base: u32,
    pub(super) extra: u32,
}

/// A bracket with commas in it.
pub(super) const COMMA: u8 = 1;
/// A bracket around a comprehension: it has a scope.
pub(super) const COMPREHENDED: u8 = 2;
/// Braces around a dictionary.
pub(super) const DICTIONARY: u8 = 4;
/// Braces in which the last value, or the one before it, is a key.
pub(super) const KEYED: u8 = 8;
/// A hole behind a colon: its value is not part of the text.
pub(super) const ASIDE: u8 = 16;
/// A bracket around a comprehension, behind the first target.
pub(super) const CLAUSED: u8 = 32;

/// A sign that is a single minus.
pub(super) const MINUS: u8 = 1;

/// The steps of a parameter: before its name, behind it, its type, its default.
pub(super) const NAME: u8 = 0;
pub(super) const NAMED: u8 = 1;
pub(super) const ANNOTATION: u8 = 2;
pub(super) const DEFAULT: u8 = 3;

/// The steps of a clause, in `extra`.
pub(super) const CONDITION: u32 = 0;
pub(super) const TARGET: u32 = 1;
pub(super) const ITERABLE: u32 = 2;
pub(super) const FIRST_ITERABLE: u32 = 3;

/// A value that waits for its operator, with the place that it takes, brackets included.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value {
    pub(super) node: NodeId,
    pub(super) start: u32,
    pub(super) end: u32,
}
