//! The syntax of shell texts.

mod expansion;
mod parser;
mod word;

use std::cell::OnceCell;
use std::rc::Rc;

use crate::CommandError;
use crate::error::Budget;

/// A list of commands.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) items: Vec<Item>,
}

/// A pipeline with the operator before it.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) link: Link,
    pub(crate) pipeline: Vec<Command>,
}

/// The operator between two pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// `;`, `&` or a line break.
    Then,
    And,
    Or,
}

#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) kind: CommandKind,
    pub(crate) redirections: Vec<Redirection>,
}

#[derive(Debug)]
pub(crate) enum CommandKind {
    Simple {
        assignments: Vec<Assignment>,
        words: Vec<Word>,
    },
    Group(Script),
    Subshell(Script),
    /// `if` and `case`: each condition is followed by its branch. Exactly one branch runs.
    Branches(Vec<(Script, Script)>),
    Loop {
        /// The variable of `for` and its words; without `in`, the positional parameters.
        variable: Option<(String, Option<Vec<Word>>)>,
        body: Script,
    },
    Function {
        name: String,
        body: Rc<Command>,
    },
    /// The words of `[[ … ]]`, `case` and `(( … ))`, which are data.
    Data(Vec<Word>),
}

#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    /// `true` for `NAME+=…` and `NAME[…]=…`, which keep the other elements.
    pub(crate) appends: bool,
    pub(crate) value: AssignedValue,
}

#[derive(Debug)]
pub(crate) enum AssignedValue {
    Scalar(Word),
    Array(Vec<Word>),
}

#[derive(Debug)]
pub(crate) enum Redirection {
    /// `< FILE`.
    Input(Word),
    /// `<<< TEXT`.
    Text(Word),
    /// A here-document, which is set when its line ends.
    Document(Rc<OnceCell<Word>>),
    /// The target of an output, or a file descriptor.
    Other(Word),
}

#[derive(Debug, Default)]
pub(crate) struct Word {
    pub(crate) pieces: Vec<Piece>,
}

#[derive(Debug)]
pub(crate) enum Piece {
    Text {
        text: String,
        quoted: bool,
    },
    Variable {
        name: String,
        operation: Operation,
        quoted: bool,
    },
    /// A command substitution, with its source.
    Output {
        script: Script,
        source: String,
        quoted: bool,
    },
    /// A process substitution, with its source.
    Process {
        script: Script,
        source: String,
    },
    /// An arithmetic expansion, with the words in it.
    Arithmetic(Word),
}

/// What `${NAME…}` does with the value.
#[derive(Debug, Default)]
pub(crate) enum Operation {
    #[default]
    None,
    /// `-` and `:-`, `=` and `:=`.
    Default(Word),
    /// `+` and `:+`.
    Alternative(Word),
    /// `?` and `:?`: the value.
    Required(Word),
    /// `#`, `##`, `%` and `%%`.
    Remove { end: RemovedEnd, pattern: Word },
    /// `!NAME`.
    Indirect,
    /// Any other, whose result is not computed.
    Other(Word),
}

/// The end of a value that an operation removes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RemovedEnd {
    ShortPrefix,
    LongPrefix,
    ShortSuffix,
    LongSuffix,
}

impl Word {
    /// Returns the text of a word without quotes and expansions.
    pub(crate) fn plain(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text { text, quoted: false }] => Some(text),
            _ => None,
        }
    }
}

/// Which syntax a text uses, without that in its substitutions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TextForm {
    /// `true` for more than one plain command: operators, keywords or substitutions.
    pub(crate) is_compound: bool,
    /// `true` for operators, redirections and line ends.
    pub(crate) has_operators: bool,
}

/// The result of parsing a text.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) script: Script,
    /// The part of the text that no POSIX shell can read.
    pub(crate) problem: Option<String>,
    pub(crate) form: TextForm,
}

/// Parses a text. Text in another syntax yields a result with a problem: what a shell runs before it counts.
pub(crate) fn parse(text: &str, budget: &mut Budget) -> Result<Parsed, CommandError> {
    let mut parser = parser::Parser::new(text, budget)?;
    let script = parser.all()?;
    Ok(Parsed { script, problem: parser.problem(), form: parser.form })
}

/// Parses an argument in which a host expands variables, without quotes, splitting or substitutions.
pub(crate) fn parse_argument(text: &str) -> Word {
    expansion::argument(text)
}
