//! Judges command texts and argument lists: how much of what they start a pin covers.

mod argument;
mod context;
mod interpreter;
mod judge;
mod launcher;
mod reference;
mod shell;
mod simple;
mod words;

pub use context::{CommandAnalysis, CommandContext, CommandPart};
pub use judge::{judge_argv, judge_command};
pub use words::{BUILTINS, INTERPRETERS, LAUNCHERS};

pub(crate) use shell::{Token, split};
