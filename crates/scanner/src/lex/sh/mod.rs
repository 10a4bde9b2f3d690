//! Shells: commands with their words as the shell would read them.

mod compare;
mod docker;
mod drop;
mod expand;
mod fetch;
mod files;
mod filter;
mod flat;
mod follow;
mod func;
mod list;
mod power;
mod run;
mod special;
mod unpack;
mod value;
mod word;
mod wrap;
mod wrote;

use std::collections::BTreeMap;

use super::Lexed;
use crate::options::Limits;
use crate::sink::{Sink, Unread};
use crate::text::Within;
use crate::view::{How, View};
use flat::Flat;
use func::Func;

/// Rounds until functions and aliases that are used before they are made have settled.
const ROUNDS: usize = 2;

/// Reads a text as a shell script, or by the file's name as one that holds shell commands.
pub(crate) fn lex(src: &[u8], sink: &mut Sink<'_>, limits: &Limits, out: &mut Lexed) {
    read(src, sink, limits, out);
    // The last comment may go on to the end.
    out.text.end();
}

fn read(src: &[u8], sink: &mut Sink<'_>, limits: &Limits, out: &mut Lexed) {
    // The mark of an encoding in front is no part of the first word.
    let start = if sink.depth == 0 && src.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    if sink.depth == 0 {
        match files::kind(sink.path) {
            files::Kind::Script => {}
            files::Kind::Docker => return docker::dockerfile(src, sink, limits, out),
            files::Kind::Make => return files::makefile(src, sink, out),
            files::Kind::Power => return power::powershell(src, sink, out),
            files::Kind::Batch => return power::batch(src, sink, out),
        }
    }
    script(src, &[(start, src.len())], sink, limits, out);
}

/// Reads ranges of a text as one script.
fn script(src: &[u8], ranges: &[(usize, usize)], sink: &mut Sink<'_>, limits: &Limits, out: &mut Lexed) {
    let before = (sink.hits.len(), sink.embedded.len(), sink.named_as.len());
    let mut known = Known::default();
    for round in 1..=ROUNDS {
        let mut parser = Parser::new(src, sink, limits, out);
        parser.known = known;
        for &(start, end) in ranges {
            (parser.pos, parser.end) = (start, end.min(src.len()));
            let before = parser.pipe;
            parser.list(list::Stop::End, list::Capture::No);
            parser.pipe = before;
        }
        parser.traps();
        let (late, stopped) = (parser.late, parser.stopped);
        known = parser.known;
        if late && round < ROUNDS {
            // A function that runs a listed program was used above its place: read again, knowing it.
            sink.hits.truncate(before.0);
            sink.embedded.truncate(before.1);
            sink.named_as.truncate(before.2);
            known.vars.clear();
            known.forget_files();
            *out = Lexed::default();
            continue;
        }
        if let Some(at) = stopped {
            sink.unread.push(Unread { start: at, end: src.len() });
        }
        break;
    }
}

/// One word of a command, as a range of the parser's text.
#[derive(Debug, Clone, Copy, Default)]
struct Piece {
    start: usize,
    end: usize,
    /// Where it stands in the source.
    span: (usize, usize),
    /// The programs whose output it holds.
    sources: u128,
    /// It holds something that is not known.
    open: bool,
    /// It is nothing but something that is not known.
    value: bool,
    /// Where that ends.
    value_end: usize,
    /// `NAME=` in front, unquoted: how long the name is.
    assigns: u32,
    equals: Equals,
    /// It has an unquoted `*`, `?` or `[`.
    glob: bool,
    /// Which constant a process substitution gives, plus one.
    printed: u32,
    origin: Origin,
}

/// Whether a text stands in the script, or is the place of a program as `command -v` and its like print it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Origin {
    #[default]
    Written,
    Located,
}

/// Whether a word has a `=`. No later one follows a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Equals {
    #[default]
    None,
    Seen,
}

/// What a variable holds.
#[derive(Debug, Clone, Default)]
struct Var {
    /// Its items; a plain variable has one. `None` is not known.
    items: Option<Vec<Vec<u8>>>,
    sources: u128,
    /// Something in its items is not known, and stands there as it was written.
    open: bool,
    origin: Origin,
}

/// What is known of names.
#[derive(Debug, Default)]
struct Known {
    vars: BTreeMap<Vec<u8>, Var>,
    funcs: BTreeMap<Vec<u8>, Func>,
    /// Names that stand for another name.
    refs: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Files that hold what another host sent, and whether something compared them with a digest or a key.
    drops: BTreeMap<Vec<u8>, drop::Checked>,
    /// Names and files that hold digests of some of them.
    digests: BTreeMap<Vec<u8>, Vec<Vec<u8>>>,
    /// Files that the script itself writes, where what it writes is known.
    written: BTreeMap<Vec<u8>, Flat>,
    /// The folder that the shell is in, where that is known.
    folder: Vec<u8>,
    /// How often what is known of files changed.
    version: u32,
    /// Bodies of functions.
    places: BTreeMap<Vec<u8>, follow::Place>,
    traps: Vec<View>,
    /// How many texts were read besides the first.
    texts: u32,
}

impl Known {
    /// Forgets what a first reading told of files.
    fn forget_files(&mut self) {
        self.drops.clear();
        self.digests.clear();
        self.written.clear();
        self.folder.clear();
        self.places.clear();
        self.traps.clear();
    }
}

/// Where the commands of a pipeline get their input.
#[derive(Debug, Clone, Copy, Default)]
struct Pipe {
    /// The programs before it.
    from: u128,
    /// What had to be undone to read them.
    how: How,
    /// It is not the first of its pipeline.
    piped: bool,
}

#[derive(Debug)]
struct Parser<'a, 's, 'r> {
    src: &'a [u8],
    pos: usize,
    end: usize,
    sink: &'s mut Sink<'r>,
    out: &'s mut Lexed,
    flat: Flat,
    words: Vec<Piece>,
    /// Where the words of the simple command that is read begin.
    simple_from: usize,
    /// The programs whose output the shell itself reads from here on: `exec < <(…)`.
    stdin: u128,
    /// The programs that print what another host sends.
    remote: u128,
    redirects: Vec<run::Redirect>,
    /// Where unquoted braces, commas and globs stand in the word that is read.
    marks: Vec<usize>,
    known: Known,
    pipe: Pipe,
    /// What the stage before printed, where that is known.
    input: Option<Flat>,
    /// What process substitutions print, where that is known.
    printed: Vec<Flat>,
    /// The program whose place was asked for in the substitution that is read.
    located: Option<Flat>,
    /// Names of the functions whose bodies are read, with how often each called itself.
    bodies: Vec<(Vec<u8>, u32)>,
    depth: usize,
    limit: usize,
    limits: Limits,
    /// Which text this is: 0 is the script itself.
    text_of: u32,
    /// The text, kept for the bodies of functions in it.
    whole: Option<std::rc::Rc<[u8]>>,
    /// How many functions are read in one another.
    levels: usize,
    /// The programs that print what another host sends, of those that ran in code of the command that is read.
    ran: u128,
    /// The files whose digests were printed for what reads them next.
    digested: Vec<Vec<u8>>,
    /// A command that fails ends the script, where that was asked.
    errexit: Option<bool>,
    /// The calls whose functions were read with what they are called with.
    calls: std::collections::BTreeSet<Vec<u8>>,
    /// Bytes of functions that may still be read once more.
    bodies_left: usize,
    /// Commands so far whose program a rule lists, or that are what a function is called with.
    listed: usize,
    budget: usize,
    /// A line's end with the end of the here-documents below it.
    documents: (usize, usize),
    /// The range of a here-document without an end, which is handed on as a script.
    unended: (usize, usize),
    /// The end of the line that was looked for last: from where, and where it is.
    line: (usize, usize),
    /// No backtick stands behind this place.
    no_backtick: usize,
    late: bool,
    used: std::collections::BTreeSet<Vec<u8>>,
    stopped: Option<usize>,
    joint: word::Joint,
    /// Where the last comment ends.
    noted: usize,
}

impl<'a, 's, 'r> Parser<'a, 's, 'r> {
    fn new(src: &'a [u8], sink: &'s mut Sink<'r>, limits: &Limits, out: &'s mut Lexed) -> Self {
        // Code in code has no more than its own length gives, so that the levels do not multiply.
        let free = if sink.depth == 0 { 64 << 10 } else { 0 };
        let remote = fetch::remote(&sink.rules.commands);
        Self {
            src,
            pos: 0,
            end: src.len(),
            sink,
            out,
            flat: Flat::default(),
            words: Vec::new(),
            simple_from: 0,
            stdin: 0,
            remote,
            redirects: Vec::new(),
            marks: Vec::new(),
            known: Known::default(),
            pipe: Pipe::default(),
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
            joint: word::Joint::No,
            noted: 0,
        }
    }

    #[inline]
    fn peek(&self) -> u8 {
        self.at(self.pos)
    }

    /// Gives the byte at a place; NUL behind the end.
    #[inline]
    fn at(&self, at: usize) -> u8 {
        if at < self.end { self.src.get(at).copied().unwrap_or(0) } else { 0 }
    }

    fn rest(&self) -> &'a [u8] {
        self.src.get(self.pos..self.end).unwrap_or_default()
    }

    fn starts(&self, text: &[u8]) -> bool {
        self.rest().starts_with(text)
    }

    fn skip(&mut self, count: usize) {
        self.pos = self.pos.saturating_add(count).min(self.end);
    }

    /// Takes from what values may cost; without it a value stays unknown, and the report says so.
    fn spend(&mut self, cost: usize) -> bool {
        if let Some(left) = self.budget.checked_sub(cost) {
            self.budget = left;
            return true;
        }
        self.stopped.get_or_insert(self.pos);
        false
    }

    /// Goes one level down; where it is too deep the rest stays unread, and the report says so.
    fn down(&mut self) -> bool {
        if self.depth >= self.limit {
            self.stopped.get_or_insert(self.pos);
            self.pos = self.end;
            return false;
        }
        self.depth = self.depth.saturating_add(1);
        true
    }

    fn up(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Gives a word's decoded text.
    fn text(&self, word: Piece) -> &[u8] {
        self.flat.bytes.get(word.start..word.end).unwrap_or_default()
    }
}

/// Tells the text view a comment of one line. Those with nothing between them are one text.
fn note(src: &[u8], (start, end): (usize, usize), noted: &mut usize, out: &mut Lexed) {
    let text = src.get(start..end).unwrap_or_default();
    let marks = text.iter().take_while(|byte| matches!(byte, b'#' | b'!' | b' ' | b'\t')).count();
    let between = src.get(*noted..start).filter(|_| *noted > 0);
    if between.is_some_and(|gap| gap.iter().all(u8::is_ascii_whitespace)) {
        out.text.blank((start, start));
    } else {
        out.text.begin(Within::Comment, 0);
    }
    out.text.raw(text.get(marks..).unwrap_or_default(), start.saturating_add(marks), How::NONE);
    *noted = end;
}
