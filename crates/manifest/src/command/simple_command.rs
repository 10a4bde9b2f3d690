//! Groups words and operators into the commands that would run.

use super::shell_lexer::{Token, Word};

/// One simple command, without assignments, redirections and keywords.
#[derive(Debug, Clone, Default)]
pub(super) struct SimpleCommand {
    pub(super) words: Vec<Word>,
    pub(super) input: Input,
    /// Words of redirections and assignments. They do not run, but can contain command substitutions.
    pub(super) beside: Vec<Word>,
    /// `true` if the command reads from the previous one through a pipe.
    pub(super) piped: bool,
}

/// The input that a command reads.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Input {
    /// The input of the caller.
    #[default]
    Caller,
    /// The text of a here-document or here-string.
    Here,
    /// The contents of a file.
    File(Word),
}

/// The commands of a text.
#[derive(Debug, Default)]
pub(super) struct ParsedCommands {
    pub(super) simple: Vec<SimpleCommand>,
    /// `true` if there is an operator between commands, so the text is more than one call.
    pub(super) operators: bool,
}

const KEYWORDS: &[&str] = &[
    "!", "coproc", "do", "done", "elif", "else", "esac", "fi", "function", "if", "in", "then", "until",
    "while", "{", "}",
];

/// Groups tokens into simple commands.
pub(super) fn commands(tokens: Vec<Token>) -> ParsedCommands {
    let mut maker = CommandBuilder { cases: Vec::new(), ..CommandBuilder::default() };
    for token in tokens {
        maker.take(token);
    }
    maker.end();
    ParsedCommands { simple: maker.done, operators: maker.operators }
}

#[derive(Default, PartialEq)]
enum ReadState {
    #[default]
    Command,
    /// The words of `for`, up to the next operator.
    Skip,
    /// The word of `case`, up to `in`.
    CaseWord,
    /// A pattern of `case`, up to `)`.
    Pattern,
    /// The word after a redirection.
    Redirect { reads: bool, here: bool },
}

#[derive(Default)]
struct CommandBuilder {
    done: Vec<SimpleCommand>,
    now: SimpleCommand,
    mode: ReadState,
    cases: Vec<()>,
    operators: bool,
}

impl CommandBuilder {
    fn take(&mut self, token: Token) {
        match token {
            Token::HereDocument => self.now.input = Input::Here,
            Token::Operator(operator) => self.operator(operator),
            Token::Word(word) => self.word(word),
        }
    }

    fn end(&mut self) {
        let now = core::mem::take(&mut self.now);
        if !now.words.is_empty() || !now.beside.is_empty() {
            self.done.push(now);
        }
    }

    fn operator(&mut self, operator: &'static str) {
        match operator {
            "<" | "<>" | "<&" => self.mode = ReadState::Redirect { reads: true, here: false },
            "<<<" => self.mode = ReadState::Redirect { reads: true, here: true },
            ">" | ">>" | ">&" | ">|" | "&>" | "&>>" => {
                self.mode = ReadState::Redirect { reads: false, here: false }
            }
            // In a pattern, `|` separates alternatives and only `)` ends the pattern.
            _ if self.mode == ReadState::Pattern => {
                if operator == ")" {
                    self.mode = ReadState::Command;
                }
            }
            _ => {
                self.operators |= operator != "\n" || !self.now.words.is_empty();
                self.end();
                self.mode = match operator {
                    ";;" | ";&" | ";;&" if !self.cases.is_empty() => ReadState::Pattern,
                    _ => ReadState::Command,
                };
                self.now.piped = matches!(operator, "|" | "|&");
            }
        }
    }

    fn word(&mut self, word: Word) {
        let plain = if word.quoted { None } else { word.literal() };
        match self.mode {
            ReadState::Redirect { reads, here } => {
                self.mode = ReadState::Command;
                match (reads, here) {
                    (true, true) => {
                        self.now.input = Input::Here;
                        self.now.beside.push(word);
                    }
                    (true, false) => self.now.input = Input::File(word),
                    (false, _) => self.now.beside.push(word),
                }
            }
            ReadState::Skip => self.now.beside.push(word),
            ReadState::CaseWord => {
                if plain.as_deref() == Some("in") {
                    self.mode = ReadState::Pattern;
                } else {
                    self.now.beside.push(word);
                }
            }
            ReadState::Pattern => {
                if plain.as_deref() == Some("esac") {
                    self.cases.pop();
                    self.mode = ReadState::Command;
                } else {
                    self.now.beside.push(word);
                }
            }
            ReadState::Command if self.now.words.is_empty() => self.first_word(word, plain.as_deref()),
            ReadState::Command => self.now.words.push(word),
        }
    }

    /// Handles the first word of a command: a keyword, an assignment, or the program.
    fn first_word(&mut self, word: Word, plain: Option<&str>) {
        match plain {
            Some("for" | "select") => {
                self.operators = true;
                self.mode = ReadState::Skip;
            }
            Some("case") => {
                self.operators = true;
                self.cases.push(());
                self.mode = ReadState::CaseWord;
            }
            Some("esac") => {
                self.cases.pop();
            }
            Some(keyword) if KEYWORDS.contains(&keyword) => self.operators = true,
            _ if is_assignment(&word) => self.now.beside.push(word),
            _ => self.now.words.push(word),
        }
    }
}

/// Returns `true` for `NAME=value` if the name and the sign are not quoted.
fn is_assignment(word: &Word) -> bool {
    let Some(super::shell_lexer::Piece::Text(text)) = word.pieces.first() else { return false };
    let Some((name, _)) = text.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
