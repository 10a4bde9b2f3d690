//! Fences: what opens and closes one, which lens reads it, what its code is without what is around it.

use super::Prose;
use super::line::Line;
use crate::entry::Lens;
use crate::inventory::names;
use crate::sink::EmbeddedText;
use crate::text::{FENCED, QUOTED, Within};
use crate::view::{How, View};

/// A fence that is open.
#[derive(Debug)]
pub(super) struct Fence {
    mark: u8,
    len: usize,
    indent: usize,
    column: usize,
    quotes: usize,
    /// Every renderer takes it for a fence.
    strict: bool,
    /// It is a comment.
    unseen: bool,
    code: Code,
    /// The content of its lines.
    lines: Vec<(usize, usize)>,
}

/// How a fence's text is read besides as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    /// By a lens.
    Lens(Lens),
    /// Markup around scripts.
    Markup,
    /// Commands behind the instructions of a Dockerfile.
    Docker,
    /// What was typed and answered at a prompt: the lines behind a prompt are commands.
    Console,
    /// Nobody said: by what it looks like.
    Unsaid,
    /// A language without a lens.
    Text,
}

/// Gives how a fence of a label is read.
pub(super) fn code(label: &[u8]) -> Code {
    let label: Vec<u8> = label
        .iter()
        .skip_while(|byte| matches!(byte, b' ' | b'\t' | b'{' | b'.' | b'=' | b'`' | b'~' | b'['))
        .take_while(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'+' | b'#' | b'-' | b'.' | b'/')
        })
        .map(u8::to_ascii_lowercase)
        .collect();
    let label = core::str::from_utf8(&label).unwrap_or_default();
    // As pages call it.
    let label = label.strip_prefix("language-").or_else(|| label.strip_prefix("lang-")).unwrap_or(label);
    // A file's name says as much as a language's.
    let ending = label.rsplit('.').next().unwrap_or_default();
    match ending {
        "" | "code" => Code::Unsaid,
        "js" | "javascript" | "jsx" | "mjs" | "cjs" | "ts" | "typescript" | "tsx" | "mts" | "cts"
        | "node" | "nodejs" | "es6" | "ecmascript" | "deno" | "bun" => Code::Lens(Lens::Js),
        "py" | "python" | "python2" | "python3" | "py3" | "ipython" | "ipython3" | "sage" | "pyw" | "pyi" => {
            Code::Lens(Lens::Py)
        }
        "sh" | "bash" | "zsh" | "ksh" | "dash" | "shell" | "shellscript" | "shell-script" | "ash"
        | "fish" | "ps1" | "powershell" | "pwsh" | "posh" | "bat" | "batch" | "cmd" | "dos" | "makefile"
        | "make" | "env" | "dotenv" => Code::Lens(Lens::Sh),
        "dockerfile" | "docker" | "containerfile" => Code::Docker,
        "md" | "markdown" | "mdx" | "gfm" | "commonmark" => Code::Lens(Lens::Prose),
        "console" | "terminal" | "shell-session" | "shellsession" | "sh-session" | "bash-session"
        | "zsh-session" | "session" | "doscon" | "ps1con" => Code::Console,
        "pycon" | "python-repl" | "python-console" => Code::Lens(Lens::Py),
        "rs" | "rust" => Code::Lens(Lens::Rs),
        "json" | "jsonc" | "json5" | "jsonl" | "toml" | "yaml" | "yml" => Code::Lens(Lens::Data),
        "html" | "htm" | "xhtml" | "svg" | "vue" | "svelte" | "astro" | "xml" => Code::Markup,
        _ => Code::Text,
    }
}

/// Opens a fence where a line's content is one.
pub(super) fn open(src: &[u8], line: &Line, list: usize) -> Option<Fence> {
    let content = src.get(line.content..line.end)?;
    let mark = *content.first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let len = content.iter().take_while(|byte| **byte == mark).count();
    let label = content.get(len..)?;
    if len < 3 || (mark == b'`' && memchr::memchr(b'`', label).is_some()) {
        return None;
    }
    let strict = line.strict && (line.item || line.column <= list.saturating_add(3));
    Some(Fence {
        mark,
        len,
        indent: line.indent,
        column: line.column,
        quotes: line.quotes,
        strict,
        unseen: false,
        code: code(label),
        lines: Vec::new(),
    })
}

/// What a line does to an open fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// It is part of it.
    Taken,
    /// It closes it.
    Closed,
    /// It stands outside the quotation that the fence stands in, and so ends it.
    Left,
}

/// How a fence ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// By a line of its own.
    Closed,
    /// With the text, or with the block around it.
    Open,
}

/// Which lines of a transcript are commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    Typed,
    All,
}

impl Fence {
    /// Opens one by a directive instead of marks: its lines are handed in by the caller.
    pub(super) const fn directive(code: Code, column: usize) -> Self {
        Self {
            mark: 0,
            len: 0,
            indent: column,
            column,
            quotes: 0,
            strict: false,
            unseen: false,
            code,
            lines: Vec::new(),
        }
    }

    /// Opens one by a line of `AsciiDoc`'s.
    pub(super) const fn delimited(mark: u8, len: usize, code: Code, line: &Line) -> Self {
        Self {
            mark,
            len,
            indent: line.indent,
            column: line.column,
            quotes: line.quotes,
            strict: false,
            unseen: mark == b'/',
            code,
            lines: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, range: (usize, usize)) {
        self.lines.push(range);
    }

    /// Takes a line. Marks of lists in it are its text.
    pub(super) fn step(&mut self, src: &[u8], line: &Line) -> Step {
        let Some(start) = behind_quotes(src, line, self.quotes) else { return Step::Left };
        let text = src.get(start..line.end).unwrap_or_default();
        let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let body = text.get(blanks..).unwrap_or_default().trim_ascii_end();
        let near = !self.strict || blanks <= self.column.saturating_add(3);
        if self.mark != 0 && near && body.len() >= self.len && body.iter().all(|byte| *byte == self.mark) {
            return Step::Closed;
        }
        // A list that ends takes its fence along; other readers go on to the closing marks.
        self.strict &= body.is_empty() || self.column <= 3 || blanks.saturating_add(3) >= self.column;
        let skip = blanks.min(self.indent.max(self.column));
        self.lines.push((start.saturating_add(skip), line.end));
        Step::Taken
    }

    /// Hands the code to its lens and the text to the text view.
    pub(super) fn finish(self, prose: &mut Prose<'_, '_, '_>, end: End) {
        let quoted = end == End::Closed && self.strict && !prose.comment && prose.hidden.is_none();
        let flags = if quoted { prose.in_doc(QUOTED | FENCED) } else { 0 };
        let hidden =
            if self.unseen || prose.comment || prose.hidden.is_some() { Within::Hidden.bit() } else { 0 };
        let parts = self.lines.iter().map(|range| undecorated(prose.src, *range)).collect();
        prose.side(Within::Prose, flags | hidden, parts);
        match self.code {
            Code::Text => {}
            Code::Lens(lens) if lens != Lens::Prose && self.has_prompts(prose.src) => {
                let view = self.typed(prose.src, Keep::All);
                prose.embed_fence(lens, EmbeddedText::View(view), flags);
            }
            Code::Lens(lens) => self.hand(prose, lens, flags),
            Code::Markup => {
                for &(start, end) in &self.lines {
                    prose.scripts_of(start, end);
                }
            }
            Code::Console => {
                let keep = if self.has_prompts(prose.src) { Keep::Typed } else { Keep::All };
                let view = self.typed(prose.src, keep);
                prose.embed_fence(Lens::Sh, EmbeddedText::View(view), flags);
            }
            Code::Docker => {
                let view = self.instructions(prose.src);
                prose.embed_fence(Lens::Sh, EmbeddedText::View(view), flags);
            }
            Code::Unsaid => self.hand_guess(prose, flags),
        }
    }

    /// What a Dockerfile runs, without the instructions in front. A list of arguments is read as words.
    fn instructions(&self, src: &[u8]) -> View {
        let mut view = View::default();
        let mut goes_on = false;
        for &(start, end) in &self.lines {
            let text = src.get(start..end).unwrap_or_default();
            let head = if goes_on { Some(0) } else { instruction(text) };
            let Some(head) = head else { continue };
            let body = text.get(head..).unwrap_or_default();
            let is_list = !goes_on && body.first() == Some(&b'[');
            let from = start.saturating_add(head);
            if is_list {
                for (at, byte) in body.iter().enumerate() {
                    let at = from.saturating_add(at);
                    let byte = if matches!(byte, b'[' | b']' | b',') { b' ' } else { *byte };
                    view.put(&[byte], (at, at.saturating_add(1)), How::NONE, 0);
                }
            } else {
                view.copy(body, from, How::NONE, 0);
            }
            view.put(b"\n", (end, end), How::NONE, 0);
            goes_on = body.trim_ascii_end().ends_with(b"\\");
        }
        view
    }

    /// Hands code that nobody named to the lens that it looks like, if it looks like any.
    pub(super) fn hand_guess(&self, prose: &mut Prose<'_, '_, '_>, flags: u8) {
        if self.has_prompts(prose.src) {
            let view = self.typed(prose.src, Keep::Typed);
            prose.embed_fence(Lens::Sh, EmbeddedText::View(view), flags);
        } else if let Some(lens) = self.guess(prose.src) {
            self.hand(prose, lens, flags);
        }
    }

    fn hand(&self, prose: &mut Prose<'_, '_, '_>, lens: Lens, flags: u8) {
        let (Some(first), Some(last)) = (self.lines.first(), self.lines.last()) else { return };
        let whole = self.quotes == 0 && self.indent == 0 && self.column == 0;
        if whole {
            prose.embed_fence(lens, EmbeddedText::Range(first.0, last.1), flags);
        } else {
            let view = self.view(prose.src);
            prose.embed_fence(lens, EmbeddedText::View(view), flags);
        }
    }

    /// The code without the marks of the quotation and the indentation of the list around it.
    fn view(&self, src: &[u8]) -> View {
        let mut view = View::default();
        for &(start, end) in &self.lines {
            view.copy(src.get(start..end).unwrap_or_default(), start, How::NONE, 0);
            view.put(b"\n", (end, end), How::NONE, 0);
        }
        view
    }

    fn has_prompts(&self, src: &[u8]) -> bool {
        self.lines.iter().any(|&(start, end)| prompt(src.get(start..end).unwrap_or_default()) > 0)
    }

    /// The lines that were typed, their prompts dropped; or all lines.
    fn typed(&self, src: &[u8], keep: Keep) -> View {
        let mut view = View::default();
        let mut goes_on = false;
        for &(start, end) in &self.lines {
            let text = src.get(start..end).unwrap_or_default();
            let skip = prompt(text);
            if skip > 0 || keep == Keep::All || goes_on {
                let at = start.saturating_add(skip);
                let text = src.get(at..end).unwrap_or_default();
                view.copy(text, at, How::NONE, 0);
                view.put(b"\n", (end, end), How::NONE, 0);
                goes_on = text.trim_ascii_end().ends_with(b"\\");
            }
        }
        view
    }

    fn guess(&self, src: &[u8]) -> Option<Lens> {
        let first = self.lines.first()?;
        if let Some(lens) = names::shebang(src.get(first.0..first.1)?) {
            return Some(lens);
        }
        self.lines.iter().find_map(|&(start, end)| guess_line(src.get(start..end).unwrap_or_default()))
    }
}

/// Programs that a command of an unlabelled fence begins with.
const PROGRAMS: &[&str] = &[
    "apt",
    "apt-get",
    "base64",
    "bash",
    "brew",
    "bun",
    "bunx",
    "cargo",
    "cat",
    "chmod",
    "chown",
    "cp",
    "crontab",
    "curl",
    "dd",
    "deno",
    "docker",
    "echo",
    "env",
    "eval",
    "exec",
    "export",
    "find",
    "gem",
    "gh",
    "git",
    "go",
    "iex",
    "iwr",
    "kill",
    "kubectl",
    "launchctl",
    "ln",
    "make",
    "mkdir",
    "mkfifo",
    "mv",
    "nc",
    "ncat",
    "node",
    "nohup",
    "npm",
    "npx",
    "openssl",
    "osascript",
    "perl",
    "php",
    "pip",
    "pip3",
    "pipx",
    "pnpm",
    "podman",
    "powershell",
    "pwsh",
    "python",
    "python3",
    "rm",
    "rsync",
    "ruby",
    "scp",
    "sed",
    "sh",
    "socat",
    "source",
    "ssh",
    "sudo",
    "systemctl",
    "tar",
    "tee",
    "unzip",
    "uv",
    "uvx",
    "wget",
    "xargs",
    "yarn",
    "zsh",
];

/// Guesses the language of a line of code that nobody named.
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
    let program = word.rsplit('/').next().unwrap_or_default();
    (!rest.is_empty() && PROGRAMS.binary_search(&program).is_ok()).then_some(Lens::Sh)
}

/// Says whether text is a command that a reader would type.
pub(super) fn is_command(line: &[u8]) -> bool {
    guess_line(line.get(prompt(line)..).unwrap_or_default()) == Some(Lens::Sh)
}

/// Gives the length of a prompt at the start of a line.
fn prompt(line: &[u8]) -> usize {
    let blanks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    match line.get(blanks..).unwrap_or_default() {
        [b'$' | b'%', b' ', next, ..] if !next.is_ascii_whitespace() => blanks.saturating_add(2),
        [b'>', b'>', b'>', b' ', ..] => blanks.saturating_add(4),
        _ => 0,
    }
}

/// Gives where the command of an instruction begins: `RUN --network=none `, `ONBUILD CMD `.
fn instruction(line: &[u8]) -> Option<usize> {
    let mut at = 0_usize;
    let mut runs = false;
    loop {
        let rest = line.get(at..)?;
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        at = at.saturating_add(blanks);
        let rest = line.get(at..)?;
        let len = rest.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(rest.len());
        let word = rest.get(..len)?;
        let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
        if runs && !word.starts_with(b"--") {
            return Some(at);
        }
        if !runs && !is(b"ONBUILD") && !is(b"HEALTHCHECK") {
            runs = is(b"RUN") || is(b"CMD") || is(b"ENTRYPOINT");
            let option = at > 0 && word.starts_with(b"--");
            if !runs && !option {
                return None;
            }
        }
        if len == 0 {
            return None;
        }
        at = at.saturating_add(len);
    }
}

/// Steps over marks of quotations; `None` where the line has fewer.
fn behind_quotes(src: &[u8], line: &Line, quotes: usize) -> Option<usize> {
    let mut at = line.start;
    for _ in 0..quotes {
        let rest = src.get(at..line.end)?;
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let rest = rest.get(blanks..)?.strip_prefix(b">")?;
        at = at
            .saturating_add(blanks)
            .saturating_add(1)
            .saturating_add(usize::from(rest.first() == Some(&b' ')));
    }
    Some(at)
}

/// A line without the marks of a comment, so that an order in comments of any language reads on.
fn undecorated(src: &[u8], range: (usize, usize)) -> (usize, usize) {
    let text = src.get(range.0..range.1).unwrap_or_default();
    let marks = text
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'#' | b'/' | b'*' | b';' | b'%'))
        .count();
    let marks = if text.get(marks..).is_some_and(|rest| rest.starts_with(b"-- ")) {
        marks.saturating_add(3)
    } else {
        marks
    };
    (range.0.saturating_add(marks), range.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_name_a_lens() {
        assert!(PROGRAMS.is_sorted());
        for (label, expected) in [
            ("js", Code::Lens(Lens::Js)),
            (" JavaScript title=\"a\"", Code::Lens(Lens::Js)),
            ("{.python .numberLines}", Code::Lens(Lens::Py)),
            ("{python}", Code::Lens(Lens::Py)),
            ("bash,ignore", Code::Lens(Lens::Sh)),
            ("sh:run.sh", Code::Lens(Lens::Sh)),
            ("hooks/run.mjs", Code::Lens(Lens::Js)),
            ("run.mjs", Code::Lens(Lens::Js)),
            ("typescript{1,3}", Code::Lens(Lens::Js)),
            ("console", Code::Console),
            ("Dockerfile", Code::Docker),
            ("md", Code::Lens(Lens::Prose)),
            ("", Code::Unsaid),
            ("ruby", Code::Text),
        ] {
            assert_eq!(code(label.as_bytes()), expected, "{label}");
        }
    }
}
