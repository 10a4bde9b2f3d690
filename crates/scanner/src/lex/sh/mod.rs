//! POSIX shells, bash and relatives: commands with their words as the shell would expand them.

mod files;
mod programs;
mod state;
mod syntax;
mod taint;

use std::collections::BTreeMap;

use plugward_types::Part;

use super::Lexed;
use crate::scan::options::ScanLimits;
use crate::scan::sink::{Sink, Unread};
use crate::text::Within;
use crate::text::view::{Obfuscations, View};
use state::flat::FlatText;
use state::functions::FunctionEffect;

/// The number of passes over a script. A second pass resolves functions and aliases that are used above their
/// definition.
const ROUNDS: usize = 2;

/// Lexes a shell script, or by its name a file that contains shell commands.
pub(crate) fn lex(src: &[u8], sink: &mut Sink<'_>, limits: &ScanLimits, out: &mut Lexed) {
    read(src, sink, limits, out);
    // The last comment may extend to the end.
    out.text.end();
}

fn read(src: &[u8], sink: &mut Sink<'_>, limits: &ScanLimits, out: &mut Lexed) {
    // A byte order mark is not part of the first word.
    let start = if sink.depth == 0 && src.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    if sink.depth == 0 {
        match files::kind(sink.path) {
            files::ScriptFormat::Script => {}
            files::ScriptFormat::Dockerfile => return files::dockerfile::lex(src, sink, limits, out),
            files::ScriptFormat::Makefile => return files::makefile::lex(src, sink, out),
            files::ScriptFormat::PowerShell => return files::powershell::lex(src, sink, out),
            files::ScriptFormat::Batch => return files::powershell::batch(src, sink, out),
        }
    }
    script(src, &[(start, src.len())], sink, limits, out);
}

/// Lexes ranges of a text as one script.
fn script(src: &[u8], ranges: &[(usize, usize)], sink: &mut Sink<'_>, limits: &ScanLimits, out: &mut Lexed) {
    let before = (sink.hits.len(), sink.embedded.len(), sink.named_as.len());
    let mut environment = Environment::default();
    for round in 1..=ROUNDS {
        let mut parser = Parser::new(src, sink, limits, out);
        parser.environment = environment;
        for &(start, end) in ranges {
            (parser.pos, parser.end) = (start, end.min(src.len()));
            let before = parser.pipe;
            parser.list(syntax::list::ListEnd::End, syntax::list::Capture::No);
            parser.pipe = before;
        }
        parser.traps();
        let (late, stopped) = (parser.late, parser.stopped);
        environment = parser.environment;
        if late && round < ROUNDS {
            // A function that runs a listed program was called above its definition: read again with that
            // knowledge.
            sink.hits.truncate(before.0);
            sink.embedded.truncate(before.1);
            sink.named_as.truncate(before.2);
            environment.vars.clear();
            environment.templates.clear();
            environment.forget_files();
            *out = Lexed::default();
            continue;
        }
        if let Some(at) = stopped {
            sink.unread.push(Unread { start: at, end: src.len() });
        }
        break;
    }
}

/// A word of a command, as a range of the parser's decoded text.
#[derive(Debug, Clone, Copy, Default)]
struct Word {
    start: usize,
    end: usize,
    /// The range in the source.
    span: (usize, usize),
    /// The taint bits of programs whose output is part of the word.
    sources: u128,
    /// Set if part of the word is unknown.
    open: bool,
    /// Set if the whole word is one unknown value.
    value: bool,
    /// The end of that value.
    value_end: usize,
    /// The length of the name in an unquoted `NAME=` at the start, or 0.
    assigns: u32,
    equals: Equals,
    /// Set if the word has an unquoted `*`, `?` or `[`.
    glob: bool,
    /// The number of the process substitution whose output is known, plus one.
    printed: u32,
    origin: TextOrigin,
}

/// Whether a text is from the script or is the path of a program, as `command -v` prints it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum TextOrigin {
    #[default]
    Written,
    Located,
}

/// Whether a word contains `=`. Only the first one can end a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Equals {
    #[default]
    None,
    Seen,
}

/// The value of a variable.
#[derive(Debug, Clone, Default)]
struct Variable {
    /// The items; a plain variable has one. `None` if unknown.
    items: Option<Vec<Vec<u8>>>,
    sources: u128,
    /// Set if part of the items is unknown and kept as it was written.
    open: bool,
    origin: TextOrigin,
}

/// The state that commands change: variables, functions and files.
#[derive(Debug, Default)]
struct Environment {
    vars: BTreeMap<Vec<u8>, Variable>,
    /// Texts of variables that have unknown parts.
    templates: BTreeMap<Vec<u8>, Vec<u8>>,
    funcs: BTreeMap<Vec<u8>, FunctionEffect>,
    /// Names that refer to other variables, as `declare -n` makes them.
    refs: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Downloaded files, and whether something compared them with a digest or a key.
    downloads: BTreeMap<Vec<u8>, taint::downloads::Verification>,
    /// Variables and files that contain digests, with the digested files.
    digests: BTreeMap<Vec<u8>, Vec<Vec<u8>>>,
    /// Files with secrets that the script writes, and the taint bits of these.
    secrets: BTreeMap<Vec<u8>, u128>,
    /// Files that the script writes itself, with their content if it is known.
    written: BTreeMap<Vec<u8>, FlatText>,
    /// The working directory of the shell, if it is known.
    directory: Vec<u8>,
    /// A number that changes with every change to the state of files.
    version: u32,
    /// Bodies of functions.
    function_bodies: BTreeMap<Vec<u8>, taint::calls::FunctionBody>,
    traps: Vec<View>,
    /// The number of texts besides the script itself.
    texts: u32,
}

impl Environment {
    /// Drops the state of files from the first pass.
    fn forget_files(&mut self) {
        self.downloads.clear();
        self.digests.clear();
        self.written.clear();
        self.secrets.clear();
        self.directory.clear();
        self.function_bodies.clear();
        self.traps.clear();
    }
}

/// The input of the commands in a pipeline.
#[derive(Debug, Clone, Copy, Default)]
struct PipeInput {
    /// The taint bits of the programs earlier in the pipeline.
    from: u128,
    /// The obfuscation that was undone in them.
    how: Obfuscations,
    /// Set for all commands but the first.
    piped: bool,
}

#[derive(Debug)]
struct Parser<'a, 's, 'r> {
    src: &'a [u8],
    pos: usize,
    end: usize,
    sink: &'s mut Sink<'r>,
    out: &'s mut Lexed,
    flat: FlatText,
    words: Vec<Word>,
    /// The first word of the current simple command.
    simple_from: usize,
    /// The taint of the shell's own input after `exec < <(…)`.
    stdin: u128,
    /// The taint bits of sources on other hosts.
    remote: u128,
    redirects: Vec<syntax::simple::Redirect>,
    /// The offsets of unquoted braces, commas and globs in the current word.
    marks: Vec<usize>,
    environment: Environment,
    pipe: PipeInput,
    /// The output of the previous stage, if it is known.
    input: Option<FlatText>,
    /// The known output of process substitutions.
    printed: Vec<FlatText>,
    /// The program whose path the current substitution prints, as in `$(command -v curl)`.
    located: Option<FlatText>,
    /// The functions that are being analyzed, with the number of recursive calls.
    bodies: Vec<(Vec<u8>, u32)>,
    depth: usize,
    limit: usize,
    limits: ScanLimits,
    /// The number of the current text; 0 is the script itself.
    text_of: u32,
    /// A copy of the text, shared by the functions defined in it.
    whole: Option<std::rc::Rc<[u8]>>,
    /// The depth of function calls.
    levels: usize,
    /// The taint bits of remote sources that ran inside the current command.
    ran: u128,
    /// The files whose digests the next reader gets as input.
    digested: Vec<Vec<u8>>,
    /// Whether a failed command ends the script (`set -e`), once computed.
    errexit: Option<bool>,
    /// The calls that were analyzed with their arguments, so that each one is analyzed once.
    calls: std::collections::BTreeSet<Vec<u8>>,
    /// The bytes of function bodies that may still be analyzed again.
    bodies_left: usize,
    /// The number of commands so far that rules know.
    listed: usize,
    budget: usize,
    /// The end of a line, and the end of its here-documents.
    documents: (usize, usize),
    /// The range of an unclosed here-document, which is lexed as a script of its own.
    unended: (usize, usize),
    /// The last computed end of a line: the start of the search, and its result.
    line: (usize, usize),
    /// The offset after which no backtick follows, so that each is searched once.
    no_backtick: usize,
    late: bool,
    used: std::collections::BTreeSet<Vec<u8>>,
    stopped: Option<usize>,
    joint: syntax::word::Joint,
    /// The end of the last comment.
    noted: usize,
}

impl<'a, 's, 'r> Parser<'a, 's, 'r> {
    fn new(src: &'a [u8], sink: &'s mut Sink<'r>, limits: &ScanLimits, out: &'s mut Lexed) -> Self {
        // Embedded code gets a budget of its own length only, so that nested levels do not multiply the work.
        let free = if sink.depth == 0 { 64 << 10 } else { 0 };
        let remote = programs::downloaders::remote(&sink.rules.commands);
        Self {
            src,
            pos: 0,
            end: src.len(),
            sink,
            out,
            flat: FlatText::default(),
            words: Vec::new(),
            simple_from: 0,
            stdin: 0,
            remote,
            redirects: Vec::new(),
            marks: Vec::new(),
            environment: Environment::default(),
            pipe: PipeInput::default(),
            input: None,
            printed: Vec::new(),
            located: None,
            bodies: Vec::new(),
            depth: 0,
            limit: limits.templates,
            limits: *limits,
            text_of: 0,
            whole: None,
            levels: 0,
            ran: 0,
            digested: Vec::new(),
            errexit: None,
            calls: std::collections::BTreeSet::new(),
            bodies_left: src.len().saturating_mul(4).saturating_add(free),
            listed: 0,
            budget: (1_usize << 20).saturating_add(src.len().saturating_mul(2)),
            documents: (usize::MAX, 0),
            unended: (0, 0),
            line: (0, 0),
            no_backtick: usize::MAX,
            late: false,
            used: std::collections::BTreeSet::new(),
            stopped: None,
            joint: syntax::word::Joint::None,
            noted: 0,
        }
    }

    #[inline]
    fn peek(&self) -> u8 {
        self.at(self.pos)
    }

    /// Returns the byte at `at`, or NUL after the end.
    #[inline]
    fn at(&self, at: usize) -> u8 {
        if at < self.end { self.src.get(at).copied().unwrap_or(0) } else { 0 }
    }

    fn rest(&self) -> &'a [u8] {
        self.src.part(self.pos..self.end)
    }

    fn starts(&self, text: &[u8]) -> bool {
        self.rest().starts_with(text)
    }

    fn skip(&mut self, count: usize) {
        self.pos = (self.pos + count).min(self.end);
    }

    /// Takes `cost` from the budget for values. When it is spent, values stay unknown and the file is
    /// reported as partly unread.
    fn spend(&mut self, cost: usize) -> bool {
        if let Some(left) = self.budget.checked_sub(cost) {
            self.budget = left;
            return true;
        }
        self.stopped.get_or_insert(self.pos);
        false
    }

    /// Enters a nested construct. Over the limit, the rest is skipped and reported as unread.
    fn down(&mut self) -> bool {
        if self.depth >= self.limit {
            self.stopped.get_or_insert(self.pos);
            self.pos = self.end;
            return false;
        }
        self.depth += 1;
        true
    }

    fn up(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Returns the decoded text of a word.
    fn text(&self, word: Word) -> &[u8] {
        self.flat.bytes.part(word.start..word.end)
    }
}

/// Adds a line comment to the text view. Comments that only whitespace separates form one text.
fn note(src: &[u8], start: usize, end: usize, noted: &mut usize, out: &mut Lexed) {
    let text = src.part(start..end);
    let marks = text.iter().take_while(|byte| matches!(byte, b'#' | b'!' | b' ' | b'\t')).count();
    let between = src.get(*noted..start).filter(|_| *noted > 0);
    if between.is_some_and(|gap| gap.iter().all(u8::is_ascii_whitespace)) {
        out.text.blank((start, start));
    } else {
        out.text.begin(Within::Comment, 0);
    }
    out.text.raw(text.part(marks..), start + marks, Obfuscations::NONE);
    *noted = end;
}
