//! Build scripts: programs that are not build tools, and files written outside of `OUT_DIR`.

use super::literal;
use super::resolve::{ResolvedPath, Resolver};
use super::token::TokenKind;
use crate::lex::has_word;
use crate::rules::names::{Names, Node};
use crate::scan::entry::{FileKind, Lens};
use crate::scan::sink::EmbeddedText;
use crate::text::view::{Obfuscations, View};

/// Functions that start a program.
const COMMANDS: &str = "std.process.Command.new tokio.process.Command.new async_process.Command.new \
    async_std.process.Command.new";
/// Functions that write to their first argument.
const WRITERS: &str = "std.fs.write std.fs.create_dir std.fs.create_dir_all std.fs.File.create std.fs.File.create_new \
    std.fs.OpenOptions.open std.fs.remove_file std.fs.remove_dir std.fs.remove_dir_all std.fs.set_permissions";
/// Functions that write to their second argument.
const COPIERS: &str = "std.fs.copy std.fs.rename std.fs.hard_link std.os.unix.fs.symlink";
/// Build tools, and environment variables that name one.
const TOOLS: &str = "rustc cargo git pkg-config cmake cc clang gcc protoc llvm-config RUSTC CARGO CC CXX CMAKE GIT PROTOC \
    LLVM_CONFIG LLVM_CONFIG_PATH PKG_CONFIG RUSTC_LINKER RUSTDOC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER";
/// Methods that return a text unchanged.
const CONVERSIONS: &str = "_ env var var_os std unwrap unwrap_or unwrap_or_else unwrap_or_default into to_string to_owned \
    as_str as_ref as_deref ok String from OsString OsStr new Path PathBuf ffi path as_os_str clone option_env next into_iter \
    chain once iter";
/// The most bindings that are followed from a name to its value. Bindings can refer to each other in a circle.
const HOPS: usize = 4;
/// The most strings per path. An unclosed argument extends to the end of the file.
const TEXTS: usize = 64;

/// Adds the functions that this module looks for to the table of names.
pub(super) fn intern(names: &mut Names) {
    for name in [COMMANDS, WRITERS, COPIERS].iter().flat_map(|list| list.split(' ')) {
        names.intern(name);
    }
}

/// The functions that this module looks for.
#[derive(Debug)]
pub(super) struct Nodes {
    commands: Vec<Node>,
    writers: Vec<Node>,
    copiers: Vec<Node>,
    pub(super) open: Node,
}

impl Nodes {
    pub(super) fn new(names: &Names) -> Self {
        let all =
            |list: &str| list.split(' ').map(|name| names.find(name)).filter(|node| *node != 0).collect();
        let open = names.find("std.fs.OpenOptions.open");
        Self { commands: all(COMMANDS), writers: all(WRITERS), copiers: all(COPIERS), open }
    }
}

impl Resolver<'_, '_, '_, '_, '_> {
    /// Records a function that starts a program and is passed as a value.
    pub(super) fn passed(&mut self, found: ResolvedPath) {
        if self.nodes.commands.contains(&found.node) && self.sink.role == FileKind::Build {
            let last = self.code.token(found.end.saturating_sub(1));
            let start = self.code.token(found.start).map_or(0, |token| token.start as usize);
            let end = last.map_or(start, |token| token.end as usize);
            self.sink.shape("rs-build-process", (start, end), Obfuscations::NONE);
        }
    }

    /// Lexes the arguments of a process as a command, and checks the program in a build script.
    pub(super) fn started(&mut self, found: ResolvedPath, span: (usize, usize)) {
        if !self.nodes.commands.contains(&found.node) {
            return;
        }
        let close = self.code.close(found.end);
        let program = (found.end + 1, close);
        let end = self.code.statement_end(close + 1, self.values.budget);
        self.values.spend(end.saturating_sub(close));
        let mut view = View::default();
        let strings: Vec<u32> = self.code.strings(program.0, end).to_vec();
        for at in strings {
            let Some(token) = self.code.token(at as usize) else { continue };
            if !self.values.spend((token.end.saturating_sub(token.start)) as usize) {
                break;
            }
            word(self.code.src, token, &mut view);
        }
        if !view.is_empty() {
            self.sink.embed(Lens::Sh, EmbeddedText::View(view));
        }
        if self.sink.role == FileKind::Build && !self.is_tool(program, HOPS, b"") {
            self.sink.shape("rs-build-process", span, Obfuscations::NONE);
        }
    }

    /// Returns `true` if an expression can only be the name of a build tool.
    ///
    /// `of` is the variable being resolved: inside its own value, its name stands for its other values.
    fn is_tool(&mut self, range: (usize, usize), hops: usize, of: &[u8]) -> bool {
        let mut found = false;
        let mut at = range.0;
        while at < range.1 {
            let next = at + 1;
            let name = self.code.word(at);
            match self.code.token(at).map(|token| token.kind) {
                Some(TokenKind::String) if has_word(TOOLS, &self.code.text(at)) => found = true,
                // The text is a message or a predicate, not a value.
                Some(TokenKind::Word) if matches!(name, b"expect" | b"filter") => {
                    at = self.code.close(next).max(next);
                }
                Some(TokenKind::Word) if has_word(CONVERSIONS, name) => {}
                Some(TokenKind::Word) if name == of => found = true,
                Some(TokenKind::Word) => {
                    let bound = self.values.get(name).to_vec();
                    let itself = |bound: &(usize, usize)| {
                        bound.1.saturating_sub(bound.0) == 1 && self.code.word(bound.0) == name
                    };
                    if hops == 0 || bound.iter().all(itself) {
                        return false;
                    }
                    for value in bound {
                        let size = value.1.saturating_sub(value.0);
                        let known = size > 0 && self.values.spend(size);
                        if !known || !self.is_tool(value, hops.saturating_sub(1), name) {
                            return false;
                        }
                    }
                    found = true;
                }
                Some(
                    TokenKind::Path
                    | TokenKind::Mark(b'(' | b')' | b'&' | b'.' | b'!' | b'|' | b',' | b'?' | b'*'),
                ) => {}
                _ => return false,
            }
            at += 1;
        }
        found
    }

    /// Checks a file that a build script writes, by the strings of the path and of the variables in it.
    pub(super) fn written(&mut self, found: ResolvedPath, span: (usize, usize)) {
        let second = self.nodes.copiers.contains(&found.node);
        if !second && !self.nodes.writers.contains(&found.node) {
            return;
        }
        let Some(range) = self.code.arguments(found.end).nth(usize::from(second)) else { return };
        let mut texts = Vec::new();
        self.reachable(range, HOPS, &mut texts);
        let climbs = |text: &Vec<u8>| text.split(|byte| b"/\\".contains(byte)).any(|part| part == b"..");
        let out = texts.iter().any(|text| text == b"OUT_DIR") && !texts.iter().any(climbs);
        // A path with more strings was not read completely.
        if texts.len() >= TEXTS || (!texts.is_empty() && !out) {
            self.sink.shape("rs-build-write", span, Obfuscations::NONE);
        }
    }

    /// Collects the strings of an expression, and of the values of its variables.
    fn reachable(&mut self, range: (usize, usize), hops: usize, out: &mut Vec<Vec<u8>>) {
        if !self.values.spend(range.1.saturating_sub(range.0)) {
            return;
        }
        for at in range.0..range.1 {
            let text = self.code.text(at);
            // Handles `{name}` in a format string.
            let inner =
                text.strip_prefix(b"{").and_then(|rest| rest.split(|byte| b":}".contains(byte)).next());
            let name = inner.unwrap_or(self.code.word(at));
            if hops > 0 && !name.is_empty() {
                for bound in self.values.get(name).to_vec() {
                    self.reachable(bound, hops.saturating_sub(1), out);
                }
            }
            if !text.is_empty() && out.len() < TEXTS {
                out.push(text);
            }
        }
    }
}

/// Appends a string as one word of a shell command line.
fn word(src: &[u8], token: super::Token, view: &mut View) {
    let mut text = View::default();
    literal::decode_into(src, literal::text(src, token), &mut text);
    let at = (token.start as usize, token.start as usize);
    if !view.is_empty() {
        view.put(b" ", at, Obfuscations::NONE, 0);
    }
    let plain = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_' | b'.' | b'/' | b':' | b'=' | b'@' | b'%' | b'+' | b',')
    };
    let quoted = text.is_empty() || !text.bytes.iter().all(plain);
    if quoted {
        view.put(b"'", at, Obfuscations::NONE, 0);
    }
    for (index, byte) in text.bytes.iter().enumerate() {
        let (start, end, how) = text.map.back(index, index + 1);
        if *byte == b'\'' {
            view.put(b"'\\''", (start, end), how, 0);
        } else {
            view.put(core::slice::from_ref(byte), (start, end), how, 0);
        }
    }
    if quoted {
        view.put(b"'", at, Obfuscations::NONE, 0);
    }
}
