//! Build scripts: programs that are not build tools, and files written outside of `OUT_DIR`.

use super::resolve::{ResolvedCall, Resolver};
use super::token::TokenKind;
use super::values::TEXTS;
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

/// Adds the functions that this module looks for to the table of names.
pub(super) fn intern(names: &mut Names) {
    for name in [COMMANDS, WRITERS, COPIERS].iter().flat_map(|list| list.split(' ')) {
        names.intern(name);
    }
}

/// The functions that this module looks for.
#[derive(Debug)]
pub(super) struct Nodes {
    pub(super) commands: Vec<Node>,
    writers: Vec<Node>,
    copiers: Vec<Node>,
    pub(super) open: Node,
}

impl Nodes {
    pub(super) fn new(names: &Names) -> Self {
        let all = |list: &str| list.split(' ').map(|name| names.find(name)).collect();
        let open = names.find("std.fs.OpenOptions.open");
        Self { commands: all(COMMANDS), writers: all(WRITERS), copiers: all(COPIERS), open }
    }
}

impl Resolver<'_, '_, '_, '_, '_> {
    /// Lexes the arguments of a process as a command, and checks the program in a build script.
    pub(super) fn started(&mut self, call: ResolvedCall) {
        if !self.nodes.commands.contains(&call.node) {
            return;
        }
        let close = self.code.close(call.open);
        let statement = (call.open, self.code.statement_end(close.saturating_add(1)));
        let mut view = View::default();
        if self.values.spend(self.code, statement) {
            for at in statement.0..statement.1 {
                if self.code.kind(at) == Some(TokenKind::String) {
                    let span = (self.code.start(at), self.code.end(at));
                    word(&self.code.text(at), span, &mut view);
                }
            }
        }
        if !view.is_empty() {
            self.sink.embed(Lens::Sh, EmbeddedText::View(view));
        }
        if self.sink.role == FileKind::Build && !self.is_tool((call.open + 1, close), HOPS, b"") {
            self.sink.shape("rs-build-process", call.span, Obfuscations::NONE);
        }
    }

    /// Returns `true` if an expression can only be the name of a build tool.
    ///
    /// `of` is the variable being resolved: inside its own value, its name stands for its other values.
    fn is_tool(&mut self, range: (usize, usize), hops: usize, of: &[u8]) -> bool {
        let mut found = false;
        let mut at = range.0;
        while at < range.1 {
            let name = self.code.word(at);
            match self.code.kind(at) {
                Some(TokenKind::String) if has_word(TOOLS, &self.code.text(at).bytes) => found = true,
                // The text is a message or a predicate, not a value.
                Some(TokenKind::Word)
                    if matches!(name, b"expect" | b"filter") && self.code.is_open(at + 1) =>
                {
                    at = self.code.close(at + 1);
                }
                Some(TokenKind::Word) if has_word(CONVERSIONS, name) => {}
                Some(TokenKind::Word) if name == of => found = true,
                Some(TokenKind::Word) => {
                    let bound = self.values.get(name);
                    let is_itself =
                        |bound: &(usize, usize)| bound.0 + 1 == bound.1 && self.code.word(bound.0) == name;
                    if hops == 0 || bound.iter().all(is_itself) {
                        return false;
                    }
                    for value in bound {
                        let is_known = value.0 < value.1 && self.values.spend(self.code, value);
                        if !is_known || !self.is_tool(value, hops.saturating_sub(1), name) {
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
    pub(super) fn written(&mut self, call: ResolvedCall) {
        let is_second = self.nodes.copiers.contains(&call.node);
        if self.sink.role != FileKind::Build || !(is_second || self.nodes.writers.contains(&call.node)) {
            return;
        }
        let mut start = call.open + 1;
        if is_second {
            start = self.code.statement_end(start) + 1;
        }
        let end = self.code.statement_end(start).min(self.code.close(call.open));
        let texts = self.values.texts(self.code, (start, end), HOPS).all;
        let climbs = |text: &Vec<u8>| text.split(|byte| b"/\\".contains(byte)).any(|part| part == b"..");
        let out = texts.iter().any(|text| text == b"OUT_DIR") && !texts.iter().any(climbs);
        // A path with more strings was not read completely.
        if texts.len() >= TEXTS || (!texts.is_empty() && !out) {
            self.sink.shape("rs-build-write", call.span, Obfuscations::NONE);
        }
    }
}

/// Appends a string as one word of a shell command line.
fn word(text: &View, span: (usize, usize), view: &mut View) {
    if !view.is_empty() {
        view.put(b" ", (span.0, span.0), Obfuscations::NONE, 0);
    }
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(byte);
    let how = if text.is_empty() { Obfuscations::NONE } else { text.map.back(0, text.bytes.len()).2 };
    if !text.is_empty() && text.bytes.iter().all(is_plain) {
        return view.put(&text.bytes, span, how, 0);
    }
    let parts: Vec<&[u8]> = text.bytes.split(|byte| *byte == b'\'').collect();
    view.put(&[b"'", parts.join(b"'\\''".as_slice()).as_slice(), b"'"].concat(), span, how, 0);
}
