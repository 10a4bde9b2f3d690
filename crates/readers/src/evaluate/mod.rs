//! Abstract interpretation: follows constants, names, functions and tainted data without running code.
//!
//! Operands are stored before their expression, so one round over the program is a loop without recursion.
//! The value of a variable is the join of all values assigned to it. Rounds are repeated until the variables
//! converge, and a last one reports facts to the analysis.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

mod bind;
mod call;
mod constant;
mod current;
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
mod pending;
mod python;
mod value;

pub use constant::Constant;
pub use facts::{Alternative, Collection, Evaluation, Item};
pub use name::{Name, NamePart};
pub use value::{Taint, Value};

use crate::program::{CallKind, NodeId, Program};
use crate::view::Obfuscations;
use machine::Machine;

/// The language of a program, which selects the intrinsics and built-in names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each language has tables of its own")]
pub enum Language {
    /// JavaScript and TypeScript.
    JavaScript,
    /// Python.
    Python,
}

/// The purpose of a round over the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are two kinds of rounds")]
pub enum Round {
    /// Values have not converged yet, and facts may be incomplete.
    Settle,
    /// The last round. Only its facts count.
    Report,
}

/// The use of a name that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an analysis handles every use")]
pub enum NameUse {
    /// The value is bound, passed or returned.
    Value,
    /// One of its members is read.
    Object,
    /// All of its members are read, by a spread or a loop.
    All,
    /// An operator uses the value.
    Operand,
}

/// One argument of a call.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Argument {
    /// The value; for a spread argument, that of the collection.
    pub value: Value,
    /// The name of a keyword argument.
    pub key: Option<Constant>,
    /// The expression of the argument.
    pub node: Option<NodeId>,
    /// Whether the value contains any number of arguments.
    pub is_spread: bool,
}

/// A call of a name, as reported to an [`Analysis`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Call<'c, 'p> {
    /// The facts of the evaluation.
    pub facts: &'c Evaluation<'p>,
    /// The called name.
    pub name: Name,
    /// The arguments, in order.
    pub arguments: &'c [Argument],
    /// The kind of the call.
    pub kind: CallKind,
    /// The object from which the function was read, if it is a member.
    pub receiver: Option<NodeId>,
    /// The expression of the call.
    pub node: NodeId,
}

/// A consumer of the facts of an evaluation.
///
/// An analysis defines which names are taint sources, and receives every use of a name. Only facts that are
/// reported after `round(Round::Report)` are complete.
pub trait Analysis {
    /// Starts a round.
    fn round(&mut self, round: Round);
    /// Handles a read of a name. Returns the taint of its value.
    fn read(&mut self, facts: &Evaluation<'_>, name: Name, node: NodeId, used: NameUse) -> Taint;
    /// Returns `true` if the analysis knows a name or a longer one that begins with it.
    ///
    /// If the file assigns to an unknown name, the name stands for the assigned values only.
    fn knows(&mut self, facts: &Evaluation<'_>, name: Name) -> bool;
    /// Handles a call of a name. Returns the taint of the result, besides that of the receiver and the
    /// arguments.
    fn call(&mut self, call: &Call<'_, '_>) -> Taint;
    /// Returns the number of changes to what the analysis remembers of calls, such as the files that they write.
    ///
    /// After a change, calls are reported again.
    fn changes(&self) -> usize {
        0
    }
    /// Returns `true` if the result of a call depends on the arguments and so inherits their taint.
    fn passes(&mut self, _facts: &Evaluation<'_>, _name: Name) -> bool {
        true
    }
    /// Returns the part of a taint that a call or an event delivers to a function among its arguments.
    fn delivers(&self, marks: Taint) -> Taint {
        marks
    }
    /// Returns the taint of one member of an object.
    fn part(&self, _facts: &Evaluation<'_>, _member: Constant, marks: Taint) -> Taint {
        marks
    }
    /// Returns the taint that the result of a call of a member keeps of its object and its arguments.
    fn kept(&self, _facts: &Evaluation<'_>, _member: Constant, marks: Taint) -> Taint {
        marks
    }
    /// Returns the taint of a text or a path that is joined from parts that are not all known: `home / name`.
    fn joined(&mut self, _facts: &Evaluation<'_>, _node: NodeId) -> Taint {
        Taint::NONE
    }
    /// Returns the taint of a text whose characters were put in the opposite order.
    fn reversed(&self) -> Taint {
        Taint::NONE
    }
    /// Returns the taint of an item of an object whose key is not constant.
    fn item(&self, facts: &Evaluation<'_>, object: Value, _key: Value) -> Taint {
        facts.taint(object)
    }
    /// Handles a write to a name.
    fn write(&mut self, facts: &Evaluation<'_>, name: Name, value: Option<Value>, node: NodeId);
    /// Handles the removal of a name.
    fn remove(&mut self, facts: &Evaluation<'_>, name: Name, node: NodeId);
    /// Handles an import. `module` is `None` if its name is not constant.
    fn import(&mut self, facts: &Evaluation<'_>, module: Option<Constant>, how: Obfuscations, node: NodeId);
    /// Handles the name of a member or module that is concatenated from constants, which is a form of
    /// obfuscation.
    fn build_name(&mut self, facts: &Evaluation<'_>, node: NodeId);
}

/// Whether an evaluation converged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "there are two outcomes")]
pub enum Convergence {
    /// All values converged; more rounds would report the same.
    Converged,
    /// A limit was reached; more rounds might report more.
    LimitReached,
}

/// Evaluates a program and reports its facts to an analysis.
///
/// # Guarantees
///
/// Calls [`Analysis::round`] with [`Round::Settle`] a bounded number of times and then once with
/// [`Round::Report`]. Does not recurse on the structure of the program.
///
/// # Examples
///
/// The front page of this crate evaluates a program.
pub fn evaluate(program: &Program, language: Language, analysis: &mut dyn Analysis) -> Convergence {
    Machine::new(program, language, analysis).run()
}
