//! How far a pin covers what a command text or an argument list would start.

mod interpreter;
mod judge;
mod launcher;
mod reference;
mod shell;
mod simple;
mod words;

pub use judge::{CommandContext, CommandPart, CommandView, judge_argv, judge_command};
pub use words::{BUILTINS, INTERPRETERS, LAUNCHERS};

pub(crate) use shell::{Token, split};
