//! Follows constants, names, functions and marked data through a program, without running it.
//!
//! Expressions are stored behind their operands, so one round over the program is one loop without recursion. A variable is the
//! join of everything that is bound to it. A few rounds settle the variables; one more reports to the analysis.

mod bind;
mod call;
mod constant;
mod decode;
mod facts;
mod fold;
mod function;
mod intrinsic;
mod javascript;
mod machine;
mod member;
mod method;
mod name;
mod python;
mod value;

#[cfg(test)]
mod tests;

pub use constant::Constant;
pub use facts::{Alternative, Collection, Facts, Item};
pub use name::{Name, Step};
pub use value::{Marks, Value};

use crate::program::{CallKind, NodeId, Program};
use crate::view::How;
use machine::Machine;

/// The language of a program: which names have a meaning of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each language has tables of its own")]
pub enum Language {
    /// JavaScript and TypeScript.
    JavaScript,
    /// Python.
    Python,
}

/// What a round over the program is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are two kinds of rounds")]
pub enum Round {
    /// Variables are not settled yet. What the analysis is told may be incomplete.
    Settle,
    /// The only round whose facts count.
    Report,
}

/// What is done with a name that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an analysis handles every use")]
pub enum Use {
    /// Its value goes on: it is bound, passed, returned.
    Value,
    /// One of its members is read.
    Object,
    /// All of its members are taken: it is spread, or a loop steps through it.
    All,
    /// An operator looks at it.
    Operand,
}

/// One argument of a call.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Argument {
    /// The value; that of the collection for a spread one.
    pub value: Value,
    /// The name of a keyword argument.
    pub key: Option<Constant>,
    /// The expression.
    pub node: Option<NodeId>,
    /// Whether the value holds any number of arguments.
    pub is_spread: bool,
}

/// A call of a name.
#[derive(Debug)]
#[non_exhaustive]
pub struct Call<'c, 'p> {
    /// What is known about values.
    pub facts: &'c Facts<'p>,
    /// The name that is called.
    pub name: Name,
    /// The arguments.
    pub arguments: &'c [Argument],
    /// How the name is called.
    pub kind: CallKind,
    /// The object that the function was read from, if it is a member.
    pub receiver: Option<NodeId>,
    /// The expression.
    pub node: NodeId,
}

/// What an evaluation tells its caller.
pub trait Analysis {
    /// A round begins.
    fn round(&mut self, round: Round);
    /// A name is read. Returns the marks of its data.
    fn read(&mut self, facts: &Facts<'_>, name: Name, node: NodeId, used: Use) -> Marks;
    /// Returns `true` if the analysis knows a name or a longer one that begins with it. A name that the file assigns and that is not
    /// known is what was assigned.
    fn knows(&mut self, facts: &Facts<'_>, name: Name) -> bool;
    /// A name is called. Returns the marks of the result, besides those of the receiver and the arguments.
    fn call(&mut self, call: &Call<'_, '_>) -> Marks;
    /// Returns `true` if what a call of a name returns depends on its arguments, so that it has their marks.
    fn passes(&self, _facts: &Facts<'_>, _name: Name) -> bool {
        true
    }
    /// Returns the marks of one member of an object with these marks.
    fn part(&self, _facts: &Facts<'_>, _member: Constant, marks: Marks) -> Marks {
        marks
    }
    /// A name is written.
    fn write(&mut self, facts: &Facts<'_>, name: Name, value: Option<Value>, node: NodeId);
    /// A name is removed.
    fn remove(&mut self, facts: &Facts<'_>, name: Name, node: NodeId);
    /// A module is asked for; `None` if its name is not constant.
    fn import(&mut self, facts: &Facts<'_>, module: Option<Constant>, how: How, node: NodeId);
    /// The name of a member or module is put together from constants.
    fn build_name(&mut self, facts: &Facts<'_>, node: NodeId);
}

/// Whether all variables settled within the limit of rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "there are two outcomes")]
pub enum Outcome {
    /// More rounds would report the same.
    Settled,
    /// More rounds might report more.
    Unsettled,
}

/// Evaluates a program and reports its facts to an analysis.
pub fn evaluate(program: &Program, language: Language, analysis: &mut dyn Analysis) -> Outcome {
    Machine::new(program, language, analysis).run()
}
