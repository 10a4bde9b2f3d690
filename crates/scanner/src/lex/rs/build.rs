//! What build scripts and procedural macros start and write.

use super::literal;
use super::token::K;
use super::walk::{Found, Tell, Walk};
use crate::entry::{Lens, Role};
use crate::names::{Names, Node};
use crate::sink::EmbeddedText;
use crate::view::{How, View};

/// Nodes that the walk treats on their own.
#[derive(Debug)]
pub(super) struct Nodes {
    commands: Vec<Node>,
    vars: [Node; 2],
    outside: Vec<Node>,
    /// Functions that write their first argument, and those that write their second.
    writers: [Vec<Node>; 2],
    pub(super) open: Node,
}

impl Nodes {
    pub(super) fn new(names: &Names) -> Self {
        let all =
            |paths: &[&str]| paths.iter().map(|path| names.find(path)).filter(|node| *node != 0).collect();
        Self {
            commands: all(&[
                "std.process.Command.new",
                "tokio.process.Command.new",
                "async_process.Command.new",
                "async_std.process.Command.new",
            ]),
            vars: [names.find("std.env.var"), names.find("std.env.var_os")],
            outside: all(&["std.env.temp_dir", "std.env.current_dir", "std.env.home_dir"]),
            writers: [
                all(&[
                    "std.fs.write",
                    "std.fs.create_dir",
                    "std.fs.create_dir_all",
                    "std.fs.File.create",
                    "std.fs.File.create_new",
                    "std.fs.OpenOptions.open",
                    "std.fs.remove_file",
                    "std.fs.remove_dir",
                    "std.fs.remove_dir_all",
                    "std.fs.set_permissions",
                ]),
                all(&["std.fs.copy", "std.fs.rename", "std.fs.hard_link", "std.os.unix.fs.symlink"]),
            ],
            open: names.find("std.fs.OpenOptions.open"),
        }
    }
}

/// Programs that a build may start by name.
const TOOLS: &[&[u8]] = &[
    b"rustc",
    b"cargo",
    b"git",
    b"pkg-config",
    b"cmake",
    b"cc",
    b"clang",
    b"gcc",
    b"protoc",
    b"llvm-config",
];
/// Variables that hold such a program.
const TOOL_VARIABLES: &[&[u8]] = &[
    b"RUSTC",
    b"CARGO",
    b"CC",
    b"CXX",
    b"CMAKE",
    b"GIT",
    b"PROTOC",
    b"LLVM_CONFIG",
    b"LLVM_CONFIG_PATH",
    b"PKG_CONFIG",
    b"RUSTC_LINKER",
    b"RUSTDOC",
    b"RUSTC_WRAPPER",
    b"RUSTC_WORKSPACE_WRAPPER",
];
/// Words that pass a text on as it is.
const CONVERSIONS: &[&[u8]] = &[
    b"_",
    b"env",
    b"var",
    b"var_os",
    b"std",
    b"unwrap",
    b"unwrap_or",
    b"unwrap_or_else",
    b"unwrap_or_default",
    b"into",
    b"to_string",
    b"to_owned",
    b"as_str",
    b"as_ref",
    b"as_deref",
    b"ok",
    b"String",
    b"from",
    b"OsString",
    b"OsStr",
    b"new",
    b"Path",
    b"PathBuf",
    b"ffi",
    b"path",
    b"as_os_str",
    b"clone",
    b"option_env",
    b"next",
    b"into_iter",
    b"chain",
    b"once",
    b"iter",
];

/// Where a path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Out,
    Elsewhere,
    Unknown,
}

/// How far names are followed to what they are bound to.
const HOPS: usize = 4;
/// Texts that a path may be put together from, and their bytes in all.
const TEXTS: usize = 64;
const PATH: usize = 4096;

impl Walk<'_, '_, '_, '_, '_> {
    /// A function that starts a program, passed on.
    pub(super) fn passed(&mut self, found: Found) {
        if self.nodes.commands.contains(&found.node) && self.sink.role == Role::Build {
            let last = self.code.tok(found.end.saturating_sub(1));
            let start = self.code.tok(found.start).map_or(0, |tok| tok.start as usize);
            let end = last.map_or(start, |tok| tok.end as usize);
            self.sink.shape("rs-build-process", (start, end), How::NONE);
        }
    }

    /// A process that is started: its arguments are a command, and in a build it is judged.
    pub(super) fn started(&mut self, found: Found, span: (usize, usize)) {
        if !self.nodes.commands.contains(&found.node) {
            return;
        }
        let close = self.code.close(found.end);
        let program = (found.end.saturating_add(1), close);
        let end = self.code.statement_end(close.saturating_add(1), self.values.budget);
        self.values.spend(end.saturating_sub(close));
        let mut view = View::default();
        let strings: Vec<u32> = self.code.strings(program.0, end).to_vec();
        for at in strings {
            let Some(tok) = self.code.tok(at as usize) else { continue };
            if !self.values.spend((tok.end.saturating_sub(tok.start)) as usize) {
                break;
            }
            word(self.code.src, tok, &mut view);
        }
        if !view.is_empty() {
            self.sink.embed(Lens::Sh, EmbeddedText::View(view));
        }
        if self.sink.role == Role::Build && !self.is_tool(program, HOPS, b"") {
            self.sink.shape("rs-build-process", span, How::NONE);
        }
    }

    /// Says whether the texts between two places, joined, are the name of a tool, with nothing else between them.
    fn is_tool_joined(&mut self, start: usize, end: usize) -> bool {
        const PARTS: usize = 64;
        let mut view = View::default();
        for at in start..end.min(start.saturating_add(PARTS)) {
            match self.code.tok(at).map(|tok| tok.kind) {
                Some(K::Str) => {
                    let Some(tok) = self.code.tok(at) else { return false };
                    literal::decode_into(self.code.src, literal::text(self.code.src, tok), &mut view);
                }
                Some(K::Mark(b',')) => {}
                _ => return false,
            }
        }
        end <= start.saturating_add(PARTS) && TOOLS.contains(&view.bytes.as_slice())
    }

    /// Says whether an expression can only be the name of a tool that builds use. `of` is the name that it is bound to:
    /// inside of its own value that name stands for its other values.
    fn is_tool(&mut self, range: (usize, usize), hops: usize, of: &[u8]) -> bool {
        let mut found = false;
        let mut at = range.0;
        while at < range.1 {
            let Some(tok) = self.code.tok(at) else { return false };
            let next = at.saturating_add(1);
            match tok.kind {
                K::Str => {
                    let mut view = View::default();
                    literal::decode_into(self.code.src, literal::text(self.code.src, tok), &mut view);
                    if !TOOLS.contains(&view.bytes.as_slice())
                        && !TOOL_VARIABLES.contains(&view.bytes.as_slice())
                    {
                        return false;
                    }
                    found = true;
                }
                // Texts that the compiler joins are one text.
                K::Word if self.code.word(at) == b"concat" && self.code.is(next, b'!') => {
                    let open = next.saturating_add(1);
                    let close = self.code.close(open);
                    if !self.is_tool_joined(open.saturating_add(1), close) {
                        return false;
                    }
                    found = true;
                    at = close.max(next);
                }
                // A message or a question, not a value.
                K::Word if matches!(self.code.word(at), b"expect" | b"filter") => {
                    at = self.code.close(next).max(next);
                }
                // A function of the file's own that asks for a variable.
                K::Word
                    if self.code.is(next, b'(')
                        && memchr::memmem::find(self.code.word(at), b"env").is_some() => {}
                K::Word if CONVERSIONS.contains(&self.code.word(at)) => {}
                K::Word if self.code.word(at) == of => found = true,
                K::Word => {
                    let name = self.code.word(at);
                    let all = self.values.get(name).to_vec();
                    // Bound to itself alone, it is known from elsewhere.
                    let itself = |bound: &(usize, usize)| {
                        bound.1.saturating_sub(bound.0) == 1 && self.code.word(bound.0) == name
                    };
                    if all.iter().all(itself) || hops == 0 {
                        return false;
                    }
                    for bound in all {
                        let size = bound.1.saturating_sub(bound.0);
                        let known = size > 0 && self.values.spend(size);
                        if !known || !self.is_tool(bound, hops.saturating_sub(1), name) {
                            return false;
                        }
                    }
                    found = true;
                }
                K::Path | K::Mark(b'(' | b')' | b'&' | b'.' | b'!' | b'|' | b',' | b'?' | b'*') => {}
                _ => return false,
            }
            at = at.saturating_add(1);
        }
        found
    }

    /// A file that is written by a build.
    pub(super) fn written(&mut self, found: Found, span: (usize, usize)) {
        let [first, second] = &self.nodes.writers;
        let nth = if first.contains(&found.node) {
            0
        } else if second.contains(&found.node) {
            1
        } else {
            return;
        };
        let Some(range) = self.code.arguments(found.end).nth(nth) else { return };
        if self.place(range, HOPS) == Place::Elsewhere {
            self.sink.shape("rs-build-write", span, How::NONE);
        }
    }

    /// Says where the path that an expression gives leads.
    fn place(&mut self, range: (usize, usize), hops: usize) -> Place {
        let strings = self.code.strings(range.0, range.1);
        let toks = strings.iter().filter_map(|at| self.code.tok(*at as usize));
        let ranges: Vec<_> = toks.take(TEXTS).map(|tok| literal::text(self.code.src, tok)).collect();
        let bytes: usize = ranges.iter().map(|text| text.end.saturating_sub(text.start)).sum();
        // What is longer is no path; arguments that are never closed reach to the end of the file.
        if strings.len() > TEXTS || bytes > PATH {
            return Place::Elsewhere;
        }
        let mut texts = Vec::new();
        for range in ranges {
            let mut view = View::default();
            literal::decode_into(self.code.src, range, &mut view);
            texts.push(view.bytes);
        }
        let climbs =
            |text: &Vec<u8>| text.split(|byte| matches!(byte, b'/' | b'\\')).any(|part| part == b"..");
        if texts.iter().any(climbs) {
            return Place::Elsewhere;
        }
        if texts.iter().any(|text| text == b"OUT_DIR") {
            return Place::Out;
        }
        let mut at = range.0;
        while at < range.1 {
            let Some(tok) = self.code.tok(at) else { break };
            let next = at.saturating_add(1);
            match tok.kind {
                K::Mark(b'&' | b'(' | b'*') => at = next,
                K::Str => return self.text_place(at, range, hops),
                K::Word if self.code.is(next, b'!') => match self.code.word(at) {
                    b"format" | b"concat" => at = next.saturating_add(2),
                    b"env" | b"option_env" => return Place::Elsewhere,
                    _ => return Place::Unknown,
                },
                K::Word => {
                    let found = self.follow(at, Tell::Nobody);
                    let call = self.code.is(found.end, b'(');
                    if self.nodes.vars.contains(&found.node) || self.nodes.outside.contains(&found.node) {
                        return Place::Elsewhere;
                    }
                    let name = self.code.word(found.end.saturating_sub(1));
                    if call && matches!(name, b"new" | b"from" | b"join" | b"PathBuf" | b"Path") {
                        at = found.end.saturating_add(1);
                        continue;
                    }
                    if call || found.end.saturating_sub(at) != 1 {
                        return Place::Unknown;
                    }
                    return self.bound_place(name, hops);
                }
                _ => return Place::Unknown,
            }
        }
        Place::Unknown
    }

    /// A path that begins with a text: elsewhere, unless the text begins with a value.
    fn text_place(&mut self, at: usize, range: (usize, usize), hops: usize) -> Place {
        let Some(tok) = self.code.tok(at) else { return Place::Unknown };
        let text = literal::text(self.code.src, tok);
        let bytes = self.code.src.get(text.start..text.end).unwrap_or_default();
        let Some(rest) = bytes.strip_prefix(b"{") else { return Place::Elsewhere };
        let end = rest.iter().position(|byte| matches!(byte, b'}' | b':')).unwrap_or(rest.len());
        let name = rest.get(..end).unwrap_or_default();
        if name.is_empty() || name == b"0" {
            // The first value of `format!`.
            let value = at.saturating_add(2);
            return if value < range.1 { self.place((value, range.1), hops) } else { Place::Unknown };
        }
        self.bound_place(name, hops)
    }

    fn bound_place(&mut self, name: &[u8], hops: usize) -> Place {
        let Some(hops) = hops.checked_sub(1) else { return Place::Unknown };
        let bound = self.values.get(name).to_vec();
        let size =
            bound.iter().fold(0_usize, |sum, (start, end)| sum.saturating_add(end.saturating_sub(*start)));
        if !self.values.spend(size.saturating_add(1)) {
            return Place::Unknown;
        }
        let places: Vec<Place> = bound
            .into_iter()
            .map(|range| if range.0 < range.1 { self.place(range, hops) } else { Place::Unknown })
            .collect();
        if places.contains(&Place::Elsewhere) {
            Place::Elsewhere
        } else if !places.is_empty() && places.iter().all(|place| *place == Place::Out) {
            Place::Out
        } else {
            Place::Unknown
        }
    }
}

/// Appends a string as one word of a line for a shell.
fn word(src: &[u8], tok: super::Tok, view: &mut View) {
    let mut text = View::default();
    literal::decode_into(src, literal::text(src, tok), &mut text);
    let at = (tok.start as usize, tok.start as usize);
    if !view.is_empty() {
        view.put(b" ", at, How::NONE, 0);
    }
    let plain = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_' | b'.' | b'/' | b':' | b'=' | b'@' | b'%' | b'+' | b',')
    };
    let quoted = text.is_empty() || !text.bytes.iter().all(plain);
    if quoted {
        view.put(b"'", at, How::NONE, 0);
    }
    for (index, byte) in text.bytes.iter().enumerate() {
        let (start, end, how) = text.map.back(index, index.saturating_add(1));
        if *byte == b'\'' {
            view.put(b"'\\''", (start, end), how, 0);
        } else {
            view.put(core::slice::from_ref(byte), (start, end), how, 0);
        }
    }
    if quoted {
        view.put(b"'", at, How::NONE, 0);
    }
}
