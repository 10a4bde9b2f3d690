//! What a call is given, seen in its tokens: bytes written out, names put together, folders deleted whole.

use super::bind::name_of;
use super::call::Callee;
use super::follow::Given;
use super::table::Table;
use super::token::{K, Kw};
use super::walk::{Arg, Walk};
use crate::names::{Names, Node};
use crate::view::How;

/// Names that this part of the walk follows.
pub(super) const WALKED: &[&str] = &[
    "WebAssembly.compile",
    "WebAssembly.instantiate",
    "WebAssembly.Module",
    "*.rm",
    "*.rmSync",
    "*.rmdir",
    "*.rmdirSync",
    "@fs.rm",
    "@fs.rmSync",
    "@fs.rmdir",
    "@fs.rmdirSync",
    "@fs.promises.rm",
    "@fs.promises.rmdir",
    "@fs/promises.rm",
    "@fs/promises.rmdir",
    "@fs-extra.remove",
    "@fs-extra.removeSync",
    "@rimraf",
    "@rimraf.sync",
    "@rimraf.rimraf",
    "@rimraf.rimrafSync",
    "rimraf",
    "Object.assign",
    "Object.keys",
    "Object.values",
    "Object.entries",
    "Object.fromEntries",
    "Object.getOwnPropertyNames",
    "Object.getOwnPropertyDescriptors",
    "Reflect.ownKeys",
    "JSON.stringify",
    "structuredClone",
    "console.log",
    "@util.inspect",
    "@querystring.stringify",
    "URLSearchParams",
    "@child_process.spawn",
    "@child_process.spawnSync",
    "@child_process.fork",
    "@child_process.execFile",
    "@child_process.execFileSync",
    "*.spawn",
    "*.spawnSync",
    "*.fork",
    "*.execFile",
    "*.execFileSync",
    "Deno.env.toObject",
    "process.env",
    "Deno.env",
    "Bun.env",
    "import.meta.env",
    "@process.env",
];

/// Nodes of those names.
#[derive(Debug)]
pub(super) struct BuiltNodes {
    wasm: Vec<Node>,
    delete: Vec<Node>,
    /// These delete a folder whole without being asked to.
    whole: Vec<Node>,
    bulk: Vec<Node>,
    env: Vec<Node>,
    starters: Vec<Node>,
    /// Starters of the module, which take a program and a list.
    programs: Vec<Node>,
    env_object: Node,
    assign: Node,
}

impl BuiltNodes {
    pub(super) fn new(names: &Names) -> Self {
        let all = |paths: &[&str]| {
            paths.iter().map(|path| names.find(path)).filter(|node| *node != 0).collect::<Vec<_>>()
        };
        let between = |from: &str, to: &str| {
            let start = WALKED.iter().position(|name| *name == from).unwrap_or(0);
            let end = WALKED.iter().position(|name| *name == to).unwrap_or(0);
            all(WALKED.get(start..=end).unwrap_or_default())
        };
        Self {
            wasm: between("WebAssembly.compile", "WebAssembly.Module"),
            delete: between("*.rm", "@fs/promises.rmdir"),
            whole: between("@fs-extra.remove", "rimraf"),
            bulk: between("Object.keys", "URLSearchParams"),
            env: between("process.env", "@process.env"),
            starters: between("@child_process.spawn", "*.execFileSync"),
            programs: all(&[
                "@child_process.spawn",
                "@child_process.spawnSync",
                "@child_process.execFile",
                "@child_process.execFileSync",
            ]),
            env_object: names.find("Deno.env.toObject"),
            assign: names.find("Object.assign"),
        }
    }

    /// Says whether a call of a node, or a use, is looked at here.
    pub(super) fn holds(&self, node: Node) -> bool {
        let lists = [&self.wasm, &self.delete, &self.whole, &self.bulk, &self.env, &self.starters];
        lists.iter().any(|list| list.contains(&node))
    }
}

/// Functions whose constant arguments give a constant.
const FOLDERS: &[&[u8]] = &[
    b"Buffer",
    b"String",
    b"at",
    b"atob",
    b"charAt",
    b"concat",
    b"decodeURIComponent",
    b"from",
    b"fromCharCode",
    b"fromCodePoint",
    b"join",
    b"repeat",
    b"replace",
    b"reverse",
    b"slice",
    b"split",
    b"substr",
    b"substring",
    b"toLowerCase",
    b"toString",
    b"toUpperCase",
    b"trim",
    b"unescape",
];
/// Says whether a function of constants gives a constant.
/// Methods that call what they are given with each element.
const EACH: &[&[u8]] =
    &[b"every", b"filter", b"find", b"findIndex", b"flatMap", b"forEach", b"map", b"reduce", b"some"];

/// Says whether a method calls what it is given with each element.
pub(super) fn iterates(name: &[u8]) -> bool {
    EACH.binary_search(&name).is_ok()
}

pub(super) fn is_folder(name: &[u8]) -> bool {
    FOLDERS.binary_search(&name).is_ok()
}

/// The longest expression that is looked at.
const MAX_TOKENS: usize = 4096;

/// A constant that is put together.
#[derive(Debug)]
pub(super) enum Folded {
    Text(Vec<u8>),
    Unknown,
}

impl<'a> Walk<'a, '_, '_, '_> {
    /// Tells the detectors of a call what its tokens show.
    pub(super) fn look_at_call(&mut self, callee: &Callee, last: u32) {
        let val = callee.cur.val;
        let built = &self.nodes.built;
        let named = |nodes: &[Node]| self.is_any(val.node, |node| nodes.contains(&node));
        let is = |nodes: &[Node]| named(nodes) || self.is_any(val.star, |node| nodes.contains(&node));
        let env = |arg: &Arg| self.is_any(arg.val.node, |node| built.env.contains(&node));
        let (wasm, delete, whole) = (is(&built.wasm), is(&built.delete), is(&built.whole));
        let bulk = named(&[built.env_object])
            || (named(&built.bulk) && callee.args.iter().any(env))
            || (named(&[built.assign]) && callee.args.iter().skip(1).any(env));
        let (starts, programs) = (is(&built.starters), named(&built.programs));
        let (span, how) = (self.span(callee.cur.first, last), callee.cur.how);
        if bulk {
            self.sink.shape("js-env-bulk", span, how);
        }
        let open = (callee.cur.last as usize).wrapping_add(1);
        if starts && self.kind(open) == Some(K::LParen) && self.loads_first(open, last as usize) {
            self.sink.shape("js-loader-flag", span, how);
        }
        if programs {
            self.embed_command(callee, last as usize);
        }
        if !(wasm || delete || whole) || self.kind(open) != Some(K::LParen) {
            return;
        }
        let first = open.wrapping_add(1);
        if wasm && self.is_inline(first, 0) {
            self.sink.shape("js-wasm-inline", span, how);
        }
        if (whole || (delete && self.is_recursive(first, last as usize))) && self.is_far(first) {
            self.sink.shape("js-recursive-delete", span, how);
        }
    }

    /// The whole environment is spread or stepped through.
    pub(super) fn look_at_operand(&mut self, first: u32, last: u32, node: Node, how: How) {
        if !self.is_any(node, |node| self.nodes.built.env.contains(&node)) {
            return;
        }
        let before = (first as usize).wrapping_sub(1);
        let steps = matches!(self.kw(before), Kw::In | Kw::Of) && !self.asks_for_one(before);
        if self.kind(before) == Some(K::Ellipsis) || steps {
            let span = self.span(first, last);
            self.sink.shape("js-env-bulk", span, how);
        }
    }

    /// `"NAME" in env` and `name in env` outside of a loop's head ask for one name.
    fn asks_for_one(&self, word: usize) -> bool {
        let left = word.wrapping_sub(1);
        let prev = left.wrapping_sub(1);
        if self.kw(word) != Kw::In {
            return false;
        }
        match self.kind(left) {
            Some(K::Str | K::Tpl) => true,
            Some(K::Word) => {
                let declares = matches!(self.kw(prev), Kw::Const | Kw::Let | Kw::Var);
                let member = matches!(self.kind(prev), Some(K::Dot | K::QDot));
                let head = self.kind(prev) == Some(K::LParen) && self.kw(prev.wrapping_sub(1)) == Kw::For;
                !declares && !member && !head
            }
            _ => false,
        }
    }

    pub(super) fn text_at(&self, at: usize) -> &'a [u8] {
        let tok = self.tok(at);
        self.src.get(tok.start() as usize..tok.end() as usize).unwrap_or_default()
    }

    /// Says whether bytes are written out or decoded where they are handed over.
    fn is_inline(&self, at: usize, depth: u32) -> bool {
        if depth > 4 {
            return true;
        }
        let next = at.wrapping_add(1);
        match self.kind(at) {
            Some(K::LBracket | K::Str | K::Tpl) => true,
            Some(K::LParen) => self.is_inline(next, depth.wrapping_add(1)),
            Some(K::Word) => match self.text_at(at) {
                b"new" | b"await" => self.is_inline(next, depth.wrapping_add(1)),
                b"atob" | b"decodeBase64" | b"base64Decode" | b"toByteArray" => true,
                b"Uint8Array" | b"Int8Array" | b"Uint16Array" | b"Uint32Array" | b"Buffer" | b"DataView" => {
                    let mut open = next;
                    while matches!(self.kind(open), Some(K::Dot | K::Word)) {
                        open = open.wrapping_add(1);
                    }
                    self.kind(open) == Some(K::LParen)
                        && self.is_inline(open.wrapping_add(1), depth.wrapping_add(1))
                }
                _ if matches!(self.kind(next), Some(K::RParen | K::Comma | K::Dot)) => self
                    .bound_at(at)
                    .is_some_and(|value| value != at && self.is_inline(value, depth.wrapping_add(1))),
                _ => false,
            },
            _ => false,
        }
    }

    /// Gives the first token of what a name is first bound to. All names are listed when the first is asked for.
    pub(super) fn bound_at(&self, at: usize) -> Option<usize> {
        let firsts = self.firsts.get_or_init(|| {
            let mut firsts = Table::default();
            for (index, pair) in self.toks.windows(2).enumerate() {
                if let [name, assign] = pair
                    && assign.kind == K::Assign
                    && name.kind == K::Word
                {
                    let value = u32::try_from(index).unwrap_or(u32::MAX).saturating_add(2);
                    firsts.entry(name_of(self.src, *name), || value);
                }
            }
            firsts
        });
        firsts.get_at(self.src, self.tok(at)).map(|value| *value as usize)
    }

    /// Says whether a program is told to load a file before its own.
    fn loads_first(&self, open: usize, last: usize) -> bool {
        const FLAGS: &[&[u8]] = &[b"--import", b"--loader", b"--experimental-loader", b"--require", b"-r"];
        (open..last.min(open.saturating_add(MAX_TOKENS))).any(|at| {
            matches!(self.kind(at), Some(K::Str | K::Tpl)) && {
                let (text, _) = self.constant(at);
                let flag = text.split(|byte| *byte == b'=').next().unwrap_or_default();
                FLAGS.contains(&flag)
            }
        })
    }

    fn is_recursive(&self, first: usize, last: usize) -> bool {
        (first..last.min(first.saturating_add(MAX_TOKENS))).any(|at| {
            self.kind(at) == Some(K::Word)
                && self.text_at(at) == b"recursive"
                && matches!(self.text_at(at.wrapping_add(2)), b"true" | b"!" | b"1")
        })
    }

    /// Says whether a folder is computed or lies above the plugin. One that was made for the purpose is neither.
    fn is_far(&self, at: usize) -> bool {
        let next = at.wrapping_add(1);
        let alone = matches!(self.kind(next), Some(K::Comma | K::RParen));
        match self.kind(at) {
            Some(K::Str | K::Tpl) if alone => {
                let (text, _) = self.constant(at);
                text.starts_with(b"/")
                    || text.starts_with(b"~")
                    || text.starts_with(b"..")
                    || text.get(1) == Some(&b':')
            }
            Some(K::Word) if alone => match self.bound_at(at) {
                Some(value) => {
                    let made = (value..value.saturating_add(16))
                        .take_while(|at| {
                            self.kind(*at) != Some(K::Semi) && !(self.tok(*at).newline() && *at > value)
                        })
                        .any(|at| {
                            matches!(
                                self.text_at(at),
                                b"mkdtemp" | b"mkdtempSync" | b"makeTempDir" | b"makeTempDirSync"
                            )
                        });
                    let plain = matches!(self.kind(value), Some(K::Str | K::Tpl));
                    !made && (!plain || self.is_far_text(value))
                }
                None => true,
            },
            _ => true,
        }
    }

    fn is_far_text(&self, at: usize) -> bool {
        let (text, _) = self.constant(at);
        matches!(text.first(), Some(b'/' | b'~')) || text.starts_with(b"..")
    }

    /// Gives a constant that is put together between two tokens: literals joined by `+`. [`Folded::Unknown`]
    /// where it is constant, yet only running it would tell. Asks for a name that it lacks.
    pub(super) fn folded(&mut self, from: usize, to: usize) -> Option<Folded> {
        if to <= from.wrapping_add(1) || to.wrapping_sub(from) > MAX_TOKENS {
            return None;
        }
        let mut text = Some(Vec::new());
        let (mut written, mut named, mut steps, mut picked) = (0_u32, 0_u32, 0_u32, false);
        for at in from..to {
            match self.kind(at)? {
                K::Str | K::Tpl => {
                    written = written.wrapping_add(1);
                    if let Some(text) = &mut text {
                        text.extend(self.constant(at).0);
                    }
                }
                K::Plus => steps = steps.wrapping_add(1),
                K::LParen | K::RParen => {}
                K::Num => text = None,
                K::Comma | K::Dot | K::LBracket | K::RBracket | K::Regex => (text, picked) = (None, true),
                K::Word if self.is_folded(at) => {
                    text = None;
                    written = written.wrapping_add(1);
                    steps = steps.wrapping_add(u32::from(self.kind(at.wrapping_add(1)) == Some(K::LParen)));
                }
                K::Word => {
                    // Bound or not: another place may bind it to something else.
                    if steps > 0 || self.is_put_together(at) {
                        self.ask(at, Given::Text);
                    }
                    let token = self.bound(at)?.text.checked_sub(1)?;
                    named = named.wrapping_add(1);
                    if let Some(text) = &mut text {
                        text.extend(self.constant(token as usize).0);
                    }
                }
                _ => return None,
            }
        }
        // A name with a number behind it is an element's, not put together.
        let joined = written > 0 || (named > 0 && (text.is_some() || picked));
        (joined && steps > 0).then(|| text.map_or(Folded::Unknown, Folded::Text))
    }

    /// Says whether a name is the first part of a sum, or a function of constants takes it.
    /// Says whether a name is of a function that folds, or of what has one, and no variable of that name.
    fn is_folded(&self, at: usize) -> bool {
        let member = |kind: Option<K>| matches!(kind, Some(K::Dot | K::QDot));
        let next = self.kind(at.wrapping_add(1));
        is_folder(self.text_at(at))
            && (member(self.kind(at.wrapping_sub(1))) || member(next) || next == Some(K::LParen))
    }

    fn is_put_together(&self, at: usize) -> bool {
        match self.kind(at.wrapping_add(1)) {
            Some(K::Plus) => true,
            Some(K::Dot) => is_folder(self.text_at(at.wrapping_add(2))),
            _ => false,
        }
    }
}
