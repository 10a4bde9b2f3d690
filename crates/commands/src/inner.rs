//! The wrapper rule alone: which arguments of a program are a command of their own.

use crate::ProgramRole;

/// The commands in the arguments of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InnerCommand {
    /// The kind of the program itself.
    pub role: ProgramRole,
    /// The commands, in the order of the words.
    pub parts: Vec<InnerPart>,
}

/// A command in the arguments of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InnerPart {
    /// The words from `from` up to `to` are a program and its arguments.
    Words {
        /// The index of the program.
        from: usize,
        /// The index after the last argument.
        to: usize,
    },
    /// A text for a shell, in the word at the index from the byte `offset`.
    Text {
        /// The index of the word.
        word: usize,
        /// The first byte of the text in the word, as in `--exec=TEXT`.
        offset: usize,
    },
}

/// Finds the commands in the arguments of a program, of which the first word is the name.
///
/// A word is `None` if its value is not known.
#[must_use]
pub fn inner_command(_words: &[Option<&[u8]>]) -> InnerCommand {
    InnerCommand { role: ProgramRole::Other, parts: Vec::new() }
}
