//! Judges command texts and argument lists: how much of what they start a pin covers.

mod argument;
mod context;
mod interpreter;
mod judge;
mod package_runner;
mod programs;
mod reference;
mod shell_lexer;
mod simple_command;

pub use context::{CommandAnalysis, CommandContext, CommandPart};
pub use judge::{judge_argv, judge_command};
pub use programs::{BUILTINS, INTERPRETERS, LAUNCHERS};

pub(crate) use shell_lexer::{Token, split};
