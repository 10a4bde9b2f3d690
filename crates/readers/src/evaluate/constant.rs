//! Constant texts: those of the program, and those that constant folding creates.

#![expect(clippy::disallowed_types, reason = "the map is never iterated, so its order has no effect")]

use std::collections::HashMap;

use crate::hash::KeyedHash;
use crate::interner::Interner;
use crate::program::{Program, Text};

/// A constant text of a program or of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Constant(u32);

/// A list of constants from constant folding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Sequence(u32);

/// A constant as an operand of constant folding.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ConstantValue {
    Text(Vec<u8>),
    Number(i64),
    List(Vec<ConstantValue>),
}

impl Constant {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Sequence {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl ConstantValue {
    /// Returns the approximate size in bytes.
    fn size(&self) -> usize {
        match self {
            Self::Text(bytes) => bytes.len(),
            Self::Number(_) => 8,
            Self::List(items) => items.iter().fold(0, |sum, item| {
                let inner = if let Self::Text(bytes) = item { bytes.len() } else { 8 };
                sum + inner + 8
            }),
        }
    }
}

/// The longest text that is folded. Loops can double a text, so an unlimited one would exhaust memory.
pub(crate) const LONGEST: usize = 1 << 16;

/// The constants of one file.
#[derive(Debug)]
pub(crate) struct Constants<'p> {
    program: &'p Program,
    own: Interner,
    sequences: Vec<ConstantValue>,
    known: HashMap<ConstantValue, Sequence, KeyedHash>,
    /// The bytes that folding may still create.
    left: usize,
}

impl<'p> Constants<'p> {
    pub(crate) fn new(program: &'p Program, bytes: usize) -> Self {
        let left = bytes.saturating_mul(4).saturating_add(LONGEST);
        Self { program, own: Interner::default(), sequences: Vec::new(), known: HashMap::default(), left }
    }

    pub(crate) fn of(text: Text) -> Constant {
        Constant(u32::try_from(text.index()).unwrap_or(u32::MAX))
    }

    pub(crate) fn bytes(&self, constant: Constant) -> &[u8] {
        let at = constant.0 as usize;
        match at.checked_sub(self.program.texts.len()) {
            None => self.program.texts.bytes(Text::from_index(at)),
            Some(own) => self.own.bytes(Text::from_index(own)),
        }
    }

    /// Returns the text of the program with this constant, if it is not from folding.
    pub(crate) fn text(&self, constant: Constant) -> Option<Text> {
        let at = constant.0 as usize;
        (at < self.program.texts.len()).then(|| Text::from_index(at))
    }

    /// Stores a text. Returns `None` if it is too long or the budget is spent.
    pub(crate) fn intern(&mut self, bytes: &[u8]) -> Option<Constant> {
        if let Some(text) = self.program.texts.find(bytes) {
            return Some(Self::of(text));
        }
        if let Some(own) = self.own.find(bytes) {
            return Some(self.made(own));
        }
        if bytes.len() > LONGEST {
            return None;
        }
        self.left = self.left.checked_sub(bytes.len() + 16)?;
        let own = self.own.intern(bytes);
        Some(self.made(own))
    }

    fn made(&self, own: Text) -> Constant {
        let at = own.index() + self.program.texts.len();
        Constant(u32::try_from(at).unwrap_or(u32::MAX))
    }

    /// Returns a text of the program or of an earlier fold.
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<Constant> {
        let made = || self.own.find(bytes).map(|own| self.made(own));
        self.program.texts.find(bytes).map(Self::of).or_else(made)
    }

    /// Stores a text that the evaluation itself needs, outside of the budget.
    pub(crate) fn known(&mut self, bytes: &[u8]) -> Constant {
        if let Some(text) = self.program.texts.find(bytes) {
            return Self::of(text);
        }
        let own = self.own.intern(bytes);
        self.made(own)
    }

    pub(crate) fn sequence(&mut self, items: ConstantValue) -> Option<Sequence> {
        if let Some(known) = self.known.get(&items) {
            return Some(*known);
        }
        self.left = self.left.checked_sub(items.size() + 16)?;
        let id = Sequence(u32::try_from(self.sequences.len()).unwrap_or(0));
        self.sequences.push(items.clone());
        self.known.insert(items, id);
        Some(id)
    }

    pub(crate) fn items(&self, sequence: Sequence) -> &[ConstantValue] {
        match self.sequences.get(sequence.0 as usize) {
            Some(ConstantValue::List(items)) => items,
            _ => &[],
        }
    }
}
