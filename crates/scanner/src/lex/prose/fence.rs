//! Code blocks: the lexer that a label selects, and the commands in a transcript.

use core::ops::Range;

use plugward_types::Part;

use super::{Prose, lines};
use crate::inventory::names;
use crate::scan::entry::Lens;
use crate::scan::sink::EmbeddedText;
use crate::text::view::{Obfuscations, View};
use crate::text::{FENCED, QUOTED, Within};

/// How the content of a block is lexed, besides as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockLanguage {
    Lens(Lens),
    /// Markup around scripts.
    Markup,
    /// A transcript: commands after prompts, or instructions of a Dockerfile, between other lines.
    Console,
    /// No label: the language is guessed.
    Guessed,
    /// A language without a lexer.
    Text,
}

/// A code block, with the ranges of its lines inside quotes and lists.
#[derive(Debug)]
pub(super) struct Fence {
    code: BlockLanguage,
    fenced: bool,
    /// Set if a line of its own closes the block.
    closed: bool,
    lines: Vec<(usize, usize)>,
    /// The range of the block, if its lines are contiguous in the source.
    whole: Option<Range<usize>>,
}

/// Which lines of a transcript are commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommandLines {
    AfterPrompt,
    All,
}

impl Fence {
    /// Opens a block with its text and the code of its label; an indented block has none.
    pub(super) fn new(text: &[u8], label: Option<BlockLanguage>) -> Self {
        let text = text.trim_ascii_end();
        let last = memchr::memrchr(b'\n', text).map_or(&b""[..], |at| text.part(at..));
        let marks = last.iter().rev().take_while(|byte| matches!(byte, b'`' | b'~')).count();
        Self {
            code: label.unwrap_or(BlockLanguage::Guessed),
            fenced: label.is_some(),
            closed: label.is_some() && marks >= 3,
            lines: Vec::new(),
            whole: None,
        }
    }

    /// Adds part of the text: one line, or several without quote marks in front.
    pub(super) fn push(&mut self, range: Range<usize>) {
        match &mut self.whole {
            None if self.lines.is_empty() => self.whole = Some(range.clone()),
            // The carriage return of a line break is not part of the text.
            Some(whole) if range.start.saturating_sub(whole.end) < 2 => whole.end = range.end,
            _ => self.whole = None,
        }
        self.lines.push((range.start, range.end));
    }

    pub(super) fn start(&self) -> usize {
        self.lines.first().map_or(usize::MAX, |line| line.0)
    }

    /// Passes the code to its lexer and the text to the text view.
    ///
    /// In documentation, a fence that every renderer shows as code has less weight.
    pub(super) fn finish(mut self, prose: &mut Prose<'_, '_, '_>) {
        let parts = core::mem::take(&mut self.lines);
        self.lines = parts.into_iter().flat_map(|(start, end)| lines(prose.src, start..end)).collect();
        let first = self.lines.first().map_or(&b""[..], |line| prose.src.part(line.0..line.1));
        if !self.fenced && (first.starts_with(b"```") || first.starts_with(b"~~~")) {
            // A model that reads the source takes an indented fence for a fence.
            self.code = code(first.part(3..));
            self.lines.remove(0);
            self.whole = None;
        }
        let hidden = prose.hidden_flag();
        let flags = if self.closed && hidden == 0 { prose.in_doc(QUOTED | FENCED) } else { 0 };
        let parts = self.lines.iter().map(|range| undecorated(prose.src, *range)).collect();
        prose.side(Within::Prose, flags | hidden, parts);
        let prompts = self.lines.iter().any(|line| prompt(prose.line(*line)) > 0);
        let (lens, view) = match self.code {
            BlockLanguage::Text => return,
            BlockLanguage::Markup => {
                return self.lines.iter().for_each(|line| prose.scripts_of(line.0, line.1));
            }
            BlockLanguage::Console if !prompts => (Lens::Sh, self.typed(prose, CommandLines::All)),
            BlockLanguage::Console => (Lens::Sh, self.typed(prose, CommandLines::AfterPrompt)),
            BlockLanguage::Guessed if prompts => (Lens::Sh, self.typed(prose, CommandLines::AfterPrompt)),
            BlockLanguage::Lens(lens) if prompts && lens != Lens::Prose => {
                (lens, self.typed(prose, CommandLines::All))
            }
            BlockLanguage::Lens(lens) => return self.hand(prose, lens, flags),
            BlockLanguage::Guessed => {
                let guess = names::shebang(first)
                    .or_else(|| self.lines.iter().find_map(|line| guess_line(prose.line(*line))));
                return guess.into_iter().for_each(|lens| self.hand(prose, lens, flags));
            }
        };
        prose.embed_fence(lens, EmbeddedText::View(view), flags);
    }

    fn hand(&self, prose: &mut Prose<'_, '_, '_>, lens: Lens, flags: u8) {
        let text = match &self.whole {
            Some(range) => EmbeddedText::Range(range.start, range.end),
            None => EmbeddedText::View(self.typed(prose, CommandLines::All)),
        };
        prose.embed_fence(lens, text, flags);
    }

    /// Returns the lines without their prompts: all of them, or only those with a prompt.
    fn typed(&self, prose: &Prose<'_, '_, '_>, keep: CommandLines) -> View {
        let mut view = View::default();
        let mut continued = false;
        for &(start, end) in &self.lines {
            let skip = prompt(prose.line((start, end)));
            if skip > 0 || keep == CommandLines::All || continued {
                let at = start + skip;
                let text = prose.line((at, end));
                view.copy(text, at, Obfuscations::NONE, 0);
                view.put(b"\n", (end, end), Obfuscations::NONE, 0);
                continued = text.trim_ascii_end().ends_with(b"\\");
            }
        }
        view
    }
}

impl Prose<'_, '_, '_> {
    fn line(&self, line: (usize, usize)) -> &[u8] {
        self.src.part(line.0..line.1)
    }

    /// Reads the fences inside an HTML block. A renderer shows them as text, but a model reads the source.
    pub(super) fn fences(&mut self, range: Range<usize>) {
        let mut open: Option<Fence> = None;
        for (start, end) in lines(self.src, range) {
            let text = self.line((start, end)).trim_ascii();
            let marks = text.starts_with(b"```") || text.starts_with(b"~~~");
            match &mut open {
                None if marks => {
                    let label = code(text.part(3..));
                    open = Some(Fence::new(b"", Some(label)));
                }
                Some(_) if marks => open.take().into_iter().for_each(|fence| fence.finish(self)),
                Some(fence) => fence.push(start..end),
                None => {}
            }
        }
        if let Some(fence) = open {
            fence.finish(self);
        }
    }
}

/// Programs that identify an unlabeled block as commands.
const PROGRAMS: &str = "apt apt-get base64 bash brew bun bunx cargo cat chmod chown cp crontab curl dd deno docker echo env eval \
    exec export find gem gh git go iex iwr kill kubectl launchctl ln make mkdir mkfifo mv nc ncat node nohup \
    npm npx openssl osascript perl php pip pip3 pipx pnpm podman powershell pwsh python python3 rm rsync ruby \
    scp sed sh socat source ssh sudo systemctl tar tee unzip uv uvx wget xargs yarn zsh";

/// Returns how a block with a label is lexed.
pub(super) fn code(label: &[u8]) -> BlockLanguage {
    let label: Vec<u8> = label
        .iter()
        .skip_while(|byte| matches!(byte, b' ' | b'\t' | b'{' | b'.' | b'=' | b'`' | b'~' | b'['))
        .take_while(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'+' | b'#' | b'-' | b'.' | b'/')
        })
        .map(u8::to_ascii_lowercase)
        .collect();
    let label = core::str::from_utf8(&label).unwrap_or_default();
    // Some pages write `language-sh` or `lang-sh`.
    let label = label.strip_prefix("language-").or_else(|| label.strip_prefix("lang-")).unwrap_or(label);
    // A label may be a file name, whose extension names the language.
    let extension = label.rsplit('.').next().unwrap_or(label);
    match extension {
        "" | "code" => BlockLanguage::Guessed,
        "js" | "javascript" | "jsx" | "mjs" | "cjs" | "ts" | "typescript" | "tsx" | "mts" | "cts"
        | "node" | "nodejs" | "es6" | "ecmascript" | "deno" | "bun" => BlockLanguage::Lens(Lens::Js),
        "py" | "python" | "python2" | "python3" | "py3" | "ipython" | "ipython3" | "sage" | "pyw" | "pyi" => {
            BlockLanguage::Lens(Lens::Py)
        }
        "sh" | "bash" | "zsh" | "ksh" | "dash" | "shell" | "shellscript" | "shell-script" | "ash"
        | "fish" | "ps1" | "powershell" | "pwsh" | "posh" | "bat" | "batch" | "cmd" | "dos" | "makefile"
        | "make" | "env" | "dotenv" => BlockLanguage::Lens(Lens::Sh),
        "md" | "markdown" | "mdx" | "gfm" | "commonmark" => BlockLanguage::Lens(Lens::Prose),
        "console" | "terminal" | "shell-session" | "shellsession" | "sh-session" | "bash-session"
        | "zsh-session" | "session" | "doscon" | "ps1con" | "dockerfile" | "docker" | "containerfile" => {
            BlockLanguage::Console
        }
        "pycon" | "python-repl" | "python-console" => BlockLanguage::Lens(Lens::Py),
        "rs" | "rust" => BlockLanguage::Lens(Lens::Rs),
        "json" | "jsonc" | "json5" | "jsonl" | "toml" | "yaml" | "yml" => BlockLanguage::Lens(Lens::Data),
        "html" | "htm" | "xhtml" | "svg" | "vue" | "svelte" | "astro" | "xml" => BlockLanguage::Markup,
        _ => BlockLanguage::Text,
    }
}

/// Guesses the language of an unlabeled line of code.
fn guess_line(line: &[u8]) -> Option<Lens> {
    let line = line.trim_ascii();
    let end = line.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    let word = core::str::from_utf8(word).ok()?;
    let rest = rest.trim_ascii();
    let has = |needle: &[u8]| memchr::memmem::find(line, needle).is_some();
    match word {
        "const" | "let" | "var" if has(b"=") => return Some(Lens::Js),
        "import" if has(b" from ") || matches!(rest.first(), Some(b'{' | b'*' | b'\'' | b'"')) => {
            return Some(Lens::Js);
        }
        "import"
            if !rest.is_empty()
                && rest.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_., ".contains(byte)) =>
        {
            return Some(Lens::Py);
        }
        "from" if has(b" import ") => return Some(Lens::Py),
        "def" if has(b"(") => return Some(Lens::Py),
        _ => {}
    }
    if has(b"require(") || word.starts_with("eval(") {
        return Some(Lens::Js);
    }
    let program = word.rsplit('/').next().unwrap_or(word);
    (!rest.is_empty() && crate::lex::has_word(PROGRAMS, program.as_bytes())).then_some(Lens::Sh)
}

/// Returns `true` if a text is a command that a user would type.
pub(super) fn is_command(line: &[u8]) -> bool {
    guess_line(line.part(prompt(line)..)) == Some(Lens::Sh)
}

/// Returns the length of a prompt at the start of a line.
fn prompt(line: &[u8]) -> usize {
    let blanks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    match line.part(blanks..) {
        [b'$' | b'%', b' ', next, ..] if !next.is_ascii_whitespace() => blanks + 2,
        [b'>', b'>', b'>', b' ', ..] | [b'R', b'U', b'N', b' ', ..] | [b'C', b'M', b'D', b' ', ..] => {
            blanks + 4
        }
        _ => 0,
    }
}

/// Returns a line without comment marks, so that an instruction that spans comment lines is matched.
fn undecorated(src: &[u8], range: (usize, usize)) -> (usize, usize) {
    let text = src.part(range.0..range.1);
    let marks = text
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'#' | b'/' | b'*' | b';' | b'%'))
        .count();
    let marks =
        if text.get(marks..).is_some_and(|rest| rest.starts_with(b"-- ")) { marks + 3 } else { marks };
    (range.0 + marks, range.1)
}
