//! What a call does: modules that it loads, functions that it passes on, text and commands that it runs.

use super::bind::{Form, Val};
use super::text::{self, Hole};
use super::token::K;
use super::walk::{Cur, Item, Walk};
use crate::entry::Lens;
use crate::lex::quote::{self, Exact};
use crate::names::{Names, Node, ROOT, Word};
use crate::sink::{Args, EmbeddedText, FirstArg, Own};
use crate::view::{How, View};

/// Most items that are looked at in one call.
const ITEMS: usize = 256;

/// Calls that reach the network.
pub(super) const NETWORK: &[&str] = &[
    "@urllib.request.urlopen",
    "@urllib.request.urlretrieve",
    "@requests.get",
    "@requests.post",
    "@requests.request",
    "@requests.Session",
    "@httpx.get",
    "@httpx.post",
    "@httpx.Client",
    "@socket.socket",
    "@socket.create_connection",
    "@http.client.HTTPConnection",
    "@http.client.HTTPSConnection",
];

/// Calls whose program stands twice, once as what it is called.
const LISTED: &[&str] = &[
    "@os.execl",
    "@os.execlp",
    "@os.execle",
    "@os.execlpe",
    "@os.execv",
    "@os.execvp",
    "@os.execve",
    "@os.execvpe",
    "@os.spawnl",
    "@os.spawnlp",
    "@os.spawnle",
    "@os.spawnv",
    "@os.spawnvp",
    "@os.spawnve",
    "@os.posix_spawn",
    "@os.posix_spawnp",
];
/// Members that are the names of another file or frame.
pub(super) const SPACES: &[&str] = &["f_globals", "f_builtins", "__globals__"];
/// Methods that give a path again.
pub(super) const PATH_WORDS: &[&str] = &[
    "expanduser",
    "resolve",
    "absolute",
    "joinpath",
    "as_posix",
    "with_name",
    "__str__",
    "parent",
    "parents",
];
/// Modules that other modules hold.
pub(super) const REACHED: &[&str] = &["os", "subprocess", "builtins"];
/// Calls that put a path together.
pub(super) const PATHS: &[&str] = &[
    "@os.path.join",
    "@os.path.expanduser",
    "@os.path.expandvars",
    "@os.path.abspath",
    "@os.path.normpath",
    "@pathlib.Path",
    "@pathlib.PosixPath",
    "@pathlib.PurePath",
    "@pathlib.Path.home",
    "@pathlib.Path.cwd",
];
/// Classes whose objects have members in the tables.
pub(super) const CLASSES: &[&str] = &[
    "@code.InteractiveInterpreter",
    "@code.InteractiveConsole",
    "@fabric.Connection",
    "@invoke.Context",
    "@zipimport.zipimporter",
];

/// Nodes and words that the walk treats on their own.
#[derive(Debug)]
pub(super) struct WalkNodes {
    pub(super) builtins: Node,
    pub(super) builtins_word: Word,
    pub(super) environ: [Node; 2],
    pub(super) modules: Node,
    pub(super) imports: Vec<Node>,
    pub(super) dict: Word,
    pub(super) call: Word,
    pub(super) asked: Word,
    getattr: Vec<Node>,
    setattr: Node,
    vars: Node,
    spaces: Vec<Node>,
    getter: Node,
    caller: Node,
    partial: Vec<Node>,
    executors: Vec<Node>,
    splitters: Vec<Node>,
    dict_call: Node,
    keepers: Vec<Node>,
    bool_call: Node,
    python: Vec<Node>,
    shells: Vec<Node>,
    programs: Vec<Node>,
    spawners: Vec<Node>,
    listed: Vec<Node>,
    executable: Node,
    yaml: Vec<Node>,
    torch: Node,
    setup: Vec<Node>,
    network: Vec<Node>,
    text_words: Vec<Word>,
    ask_words: Vec<Word>,
    space_words: Vec<Word>,
    path_words: Vec<Word>,
    /// Modules that are asked for as members of other modules.
    reached: Vec<(Word, Node)>,
    paths: Vec<Node>,
    classes: Vec<Node>,
    files: Vec<Node>,
}

impl WalkNodes {
    pub(super) fn new(names: &Names) -> Self {
        let word = |text: &str| names.words.get(text.as_bytes());
        let node = |path: &str| names.find(path);
        let all = |paths: &[&str]| paths.iter().map(|path| node(path)).filter(|node| *node != 0).collect();
        Self {
            builtins: node("@builtins"),
            builtins_word: word("__builtins__"),
            environ: [node("@os.environ"), node("@os.environb")],
            modules: node("@sys.modules"),
            imports: all(&["__import__", "@importlib.import_module", "@importlib.__import__"]),
            dict: word("__dict__"),
            call: word("__call__"),
            asked: word("__getattribute__"),
            getattr: all(&["getattr", "@inspect.getattr_static", "object.__getattribute__"]),
            setattr: node("setattr"),
            vars: node("vars"),
            spaces: all(&["globals", "locals", "vars"]),
            getter: node("@operator.attrgetter"),
            caller: node("@operator.methodcaller"),
            partial: all(&["@functools.partial", "@functools.partialmethod"]),
            executors: all(&["eval", "exec", "compile", "__import__"]),
            splitters: all(&["@shlex.split", "str"]),
            dict_call: node("dict"),
            keepers: all(&["list", "tuple"]),
            bool_call: node("bool"),
            python: all(&[
                "eval",
                "exec",
                "compile",
                "@timeit.timeit",
                "@timeit.repeat",
                "@cProfile.run",
                "@profile.run",
                "@pdb.run",
                "@code.InteractiveInterpreter.runsource",
            ]),
            shells: all(&[
                "@os.system",
                "@os.popen",
                "@posix.system",
                "@nt.system",
                "@subprocess.getoutput",
                "@subprocess.getstatusoutput",
                "@asyncio.create_subprocess_shell",
                "@commands.getoutput",
                "@commands.getstatusoutput",
                "@popen2.popen2",
                "@subprocess.run",
                "@subprocess.Popen",
                "@subprocess.call",
                "@subprocess.check_call",
                "@subprocess.check_output",
                "@pty.spawn",
            ]),
            programs: all(&[&["@asyncio.create_subprocess_exec"][..], LISTED].concat()),
            spawners: all(&[
                "@subprocess.run",
                "@subprocess.Popen",
                "@subprocess.call",
                "@subprocess.check_call",
                "@subprocess.check_output",
            ]),
            listed: all(LISTED),
            executable: node("@sys.executable"),
            yaml: all(&["@yaml.load", "@yaml.load_all"]),
            torch: node("@torch.load"),
            setup: all(&["@setuptools.setup", "@distutils.core.setup", "setup"]),
            network: all(NETWORK),
            text_words: ["split", "format", "strip", "encode", "decode"]
                .iter()
                .map(|text| word(text))
                .collect(),
            ask_words: ["get", "__getitem__", "pop", "setdefault"].iter().map(|text| word(text)).collect(),
            space_words: SPACES.iter().map(|text| word(text)).collect(),
            path_words: PATH_WORDS.iter().map(|text| word(text)).collect(),
            reached: REACHED.iter().map(|text| (word(text), names.module(text.as_bytes()))).collect(),
            paths: all(PATHS),
            classes: all(CLASSES),
            files: all(&["@runpy.run_path", "@importlib.machinery.SourceFileLoader"]),
        }
    }

    /// Says whether a name runs code, whatever else the file calls so.
    pub(super) fn is_executor(&self, node: Node) -> bool {
        node != 0 && self.executors.contains(&node)
    }

    /// Says whether a text's method gives the text again, in parts or another form.
    pub(super) fn keeps_text(&self, word: Word) -> bool {
        word != 0 && self.text_words.contains(&word)
    }

    /// Says whether a path's method gives a path again.
    pub(super) fn keeps_path(&self, word: Word) -> bool {
        word != 0 && self.path_words.contains(&word)
    }

    /// Says whether a member is the names of another file.
    pub(super) fn is_space(&self, word: Word) -> bool {
        word != 0 && self.space_words.contains(&word)
    }

    /// Gives the module that other modules hold under a name.
    pub(super) fn reached(&self, word: Word) -> Node {
        self.reached.iter().find(|(known, _)| word != 0 && *known == word).map_or(0, |(_, node)| *node)
    }

    /// Says whether a method asks a dictionary by a key.
    pub(super) fn asks(&self, word: Word) -> bool {
        word != 0 && self.ask_words.contains(&word)
    }
}

impl Walk<'_, '_, '_> {
    /// Tells the rules of a call and gives what it returns.
    pub(super) fn call(&mut self, callee: &Cur, items: &[Item], last: u32) -> Val {
        let val = callee.val;
        let span = self.span(callee.first, last);
        match val.form {
            Form::Getter | Form::Caller => return self.taken(callee, items, last),
            Form::Space => {
                let first = items.first().map_or(Val::default(), |item| item.val);
                let (name, how) = self.text(first);
                let name = (first.form == Form::Text).then_some(name);
                let found = self.in_space(val, name.as_deref());
                self.undone = how;
                if !self.is_op(last.saturating_add(1), b'(') {
                    self.sink.member(self.names, found.node, Own::No, span, callee.how.and(how));
                    self.sink.member(self.names, found.star, Own::No, span, callee.how.and(how));
                }
                return found;
            }
            Form::Text | Form::Joined => return val,
            Form::Path if val.star == 0 => return Val { b: last, ..val },
            _ => {}
        }
        if val.node != 0 || val.star != 0 {
            self.tell(val, callee.how, items, span);
            return self.special(val.node, callee, items, last);
        }
        Val::default()
    }

    fn text(&mut self, val: Val) -> (Vec<u8>, How) {
        if val.form == Form::Text { self.constant(val) } else { (Vec::new(), How::NONE) }
    }

    /// Tells the rules one call.
    fn tell(&mut self, val: Val, how: How, items: &[Item], span: (usize, usize)) {
        let first = match items.iter().find(|item| item.spread == 0) {
            None => FirstArg::None,
            Some(item) => match item.val.form {
                Form::Text => FirstArg::Literal,
                Form::Joined => FirstArg::Text,
                _ => FirstArg::Other,
            },
        };
        for node in [val.node, val.star] {
            if node == 0 {
                continue;
            }
            let mut args = Args { first, constants: Vec::new() };
            let mut how = how;
            if self.sink.wants_constants(self.names, node) {
                let mut left = ITEMS;
                if node == val.star {
                    // What a method is called on stands first; a blank stands for what is not known.
                    let toks = if val.form == Form::Path { self.toks(val.a, val.b) } else { &[] };
                    let (receiver, undone) =
                        text::path(self.src, toks.get(..toks.len().min(ITEMS)).unwrap_or_default());
                    args.constants.extend_from_slice(&receiver);
                    args.constants.push(b' ');
                    how = how.and(undone);
                }
                how = how.and(self.constants(items, 3, &mut left, &mut args.constants));
                if self.nodes.spawners.contains(&node) {
                    self.shell_by_place(items, &mut args.constants);
                }
            }
            self.sink.call(self.names, node, Own::No, &args, span, how);
        }
        self.shapes(val.node, items, span, how);
    }

    /// The ninth argument of a process is its keyword `shell`.
    fn shell_by_place(&self, items: &[Item], out: &mut Vec<u8>) {
        let placed = items.iter().take_while(|item| item.key == 0 && item.spread == 0);
        if let Some(item) = placed.into_iter().nth(8) {
            out.extend_from_slice(match item.val.form {
                Form::True | Form::Text => b"shell=True ",
                Form::False => b"shell=False ",
                _ => match self.tok(item.first).map_or(&b""[..], |tok| super::text_of(self.src, tok)) {
                    [b'1'..=b'9', ..] => b"shell=True ",
                    _ => b"shell=? ",
                },
            });
        }
    }

    /// Writes the constants of arguments: texts, and `name=value` of keywords and keys.
    fn constants(&mut self, items: &[Item], depth: usize, left: &mut usize, out: &mut Vec<u8>) -> How {
        let mut how = How::NONE;
        for item in items {
            if *left == 0 || out.len() > 1 << 14 {
                break;
            }
            *left = left.saturating_sub(1);
            if item.key != 0 {
                let key = self.key_text(item.key);
                let token = item.key.checked_sub(1).and_then(|at| self.tok(at));
                how = how.and(token.filter(|tok| tok.kind == K::Name).map_or(How::NONE, Self::wide));
                if item.val.form == Form::Other && item.val.node == 0 {
                    // A key whose value is not known is still set.
                    out.extend_from_slice(&key);
                    out.extend_from_slice(b"=? ");
                    continue;
                }
                out.extend_from_slice(&key);
                out.push(b'=');
            }
            match item.val.form {
                Form::Text | Form::Joined => {
                    let (text, undone) = self.constant(item.val);
                    out.extend_from_slice(&text);
                    how = how.and(undone);
                }
                Form::Path => {
                    let toks = self.toks(item.val.a, item.val.b);
                    let toks = toks.get(..toks.len().min(ITEMS)).unwrap_or_default();
                    let (text, undone) = text::path(self.src, toks);
                    out.extend_from_slice(&text);
                    how = how.and(undone);
                }
                Form::True => out.extend_from_slice(b"True"),
                Form::False => out.extend_from_slice(b"False"),
                Form::List if depth > 0 => {
                    let inner: Vec<Item> = self.list(item.val).iter().take(*left).copied().collect();
                    how = how.and(self.constants(&inner, depth.saturating_sub(1), left, out));
                }
                _ if item.val.node != 0 && item.val.node == self.nodes.executable => {
                    out.extend_from_slice(b"python3");
                }
                _ => {}
            }
            out.push(b' ');
        }
        how
    }

    /// A write whose value is a name that stands for a constant: the rules see it as if the name were called with it.
    pub(super) fn tell_written(&mut self, target: &Cur, value: Item) {
        let constant = matches!(value.val.form, Form::Text | Form::Joined);
        if constant && target.val.node != 0 && self.sink.wants_constants(self.names, target.val.node) {
            let span = self.span(target.first, value.last);
            self.tell(Val::node(target.val.node), target.how, &[value], span);
        }
    }

    /// Detectors that no list of names can say.
    fn shapes(&mut self, node: Node, items: &[Item], span: (usize, usize), how: How) {
        if node == 0 {
            return;
        }
        let nodes = self.nodes;
        let setup = crate::inventory::names::parts(self.sink.path).0 == "setup.py";
        let starts = [&nodes.shells, &nodes.programs, &nodes.python, &nodes.network];
        if setup && starts.iter().any(|known| known.contains(&node)) {
            self.sink.shape("py-setup-code", span, how);
        }
        if self.nodes.yaml.contains(&node)
            && !self.names_one(items, &[b"SafeLoader", b"CSafeLoader", b"BaseLoader", b"CBaseLoader"])
        {
            self.sink.shape("py-yaml-load", span, how);
        }
        if node == self.nodes.torch {
            let only = items.iter().any(|item| {
                item.key != 0 && self.key_text(item.key) == b"weights_only" && item.val.form == Form::True
            });
            if !only {
                self.sink.shape("py-torch-load", span, how);
            }
        }
        if setup && self.nodes.setup.contains(&node) {
            let spread = items.iter().filter(|item| item.spread == 2 && item.val.form == Form::List);
            let spread = spread.flat_map(|item| self.list(item.val));
            let classes = items
                .iter()
                .chain(spread)
                .find(|item| item.key != 0 && self.key_text(item.key) == b"cmdclass")
                .filter(|item| item.val.form != Form::List || item.val.b > 0)
                .copied();
            if let Some(item) = classes {
                let place = self.span(item.key.saturating_sub(1), item.last);
                self.sink.shape("py-setup-code", place, how);
            }
        }
    }

    /// Says whether an argument is one of some names.
    fn names_one(&self, items: &[Item], wanted: &[&[u8]]) -> bool {
        items.iter().any(|item| {
            let last = self.toks(item.first, item.last).iter().rev().find(|tok| tok.kind == K::Name);
            last.is_some_and(|tok| wanted.contains(&super::text_of(self.src, *tok)))
        })
    }

    fn special(&mut self, node: Node, callee: &Cur, items: &[Item], last: u32) -> Val {
        let nodes = self.nodes;
        if node == 0 {
            return Val::default();
        }
        let span = self.span(callee.first, last);
        let first = items.first().map_or(Val::default(), |item| item.val);
        if nodes.imports.contains(&node) {
            return self.imported(first, callee, span);
        }
        if nodes.getattr.contains(&node) {
            return self.got(callee, items, span);
        }
        if node == nodes.setattr {
            self.set(callee, items, span);
            return Val::default();
        }
        if nodes.spaces.contains(&node) {
            if node == nodes.vars && first.node != 0 {
                return Val::form(Form::Space, first.node, 0);
            }
            return if items.is_empty() { Val::form(Form::Space, ROOT, 0) } else { Val::default() };
        }
        if node == nodes.getter || node == nodes.caller {
            let form = if node == nodes.getter { Form::Getter } else { Form::Caller };
            return if first.form == Form::Text { Val { form, ..first } } else { Val::default() };
        }
        if nodes.partial.contains(&node) {
            if first.is_known() {
                let rest = items.get(1..).unwrap_or_default();
                self.tell(first, callee.how, rest, span);
                self.runs(first.node, rest);
            }
            return first;
        }
        if nodes.splitters.contains(&node) || nodes.keepers.contains(&node) {
            return first;
        }
        if nodes.paths.contains(&node) {
            return Val::form(Form::Path, callee.first, last);
        }
        if nodes.classes.contains(&node) {
            return Val::node(node);
        }
        if nodes.files.contains(&node) {
            let given = items.iter().find(|item| item.key == 0 && item.val.form == Form::Text);
            let places = given.map(|item| self.constant(item.val).0);
            if let Some(Ok(file)) = places.map(String::from_utf8) {
                self.sink.named.push(file);
            }
        }
        if node == nodes.bool_call {
            return match first.form {
                Form::True | Form::Text => Val::form(Form::True, 0, 0),
                Form::False => Val::form(Form::False, 0, 0),
                _ => Val::default(),
            };
        }
        if node == nodes.dict_call {
            let start = u32::try_from(self.kept.len()).unwrap_or(u32::MAX);
            self.kept.extend(items.iter().copied());
            return Val::form(Form::List, start, u32::try_from(items.len()).unwrap_or(0));
        }
        self.runs(node, items);
        Val::default()
    }

    /// A module that is asked for by a call.
    fn imported(&mut self, name: Val, callee: &Cur, span: (usize, usize)) -> Val {
        if name.form != Form::Text {
            return Val::default();
        }
        let (text, how) = self.text(name);
        self.told(&text, span, callee.how.and(how));
        self.undone = how;
        let import = self.names.find("__import__");
        if callee.val.node == import {
            // It gives the outermost package.
            let top = text.split(|byte| *byte == b'.').next().unwrap_or_default();
            return Val::node(self.module(top));
        }
        Val::node(self.module(&text))
    }

    /// `getattr(x, "n")`.
    fn got(&mut self, callee: &Cur, items: &[Item], span: (usize, usize)) -> Val {
        let (base, name) = (items.first().map_or(Val::default(), |item| item.val), items.get(1));
        let Some(name) = name else { return Val::default() };
        if name.val.form != Form::Text {
            let node = if base.node == 0 { 0 } else { self.names.step(base.node, self.names.computed) };
            self.sink.member(self.names, node, Own::No, span, callee.how);
            return Val::default();
        }
        let (text, how) = self.text(name.val);
        let word = self.names.words.get(&text);
        let found = self.member_of(base, word);
        self.undone = how;
        if !self.is_op(self.at.saturating_add(1), b'(') {
            self.sink.member(self.names, found.node, Own::No, span, callee.how.and(how));
            self.sink.member(self.names, found.star, Own::No, span, callee.how.and(how));
        }
        found
    }

    fn set(&mut self, callee: &Cur, items: &[Item], span: (usize, usize)) {
        if let [base, name, ..] = items {
            let (text, how) = self.text(name.val);
            let word = self.names.words.get(&text);
            let found = self.member_of(base.val, word);
            self.sink.assign(self.names, found.node, Own::No, span, callee.how.and(how));
            self.sink.assign(self.names, found.star, Own::No, span, callee.how.and(how));
        }
    }

    /// `attrgetter("n")(x)` and `methodcaller("n", …)(x)`.
    fn taken(&mut self, callee: &Cur, items: &[Item], last: u32) -> Val {
        let base = items.first().map_or(Val::default(), |item| item.val);
        let (text, how) = self.constant(Val { form: Form::Text, ..callee.val });
        self.undone = how;
        let how = callee.how.and(how);
        let parts = text.split(|byte| *byte == b'.');
        let found = parts.fold(base, |val, part| self.member_of(val, self.names.words.get(part)));
        let span = self.span(callee.first, last);
        if callee.val.form == Form::Caller {
            self.tell(found, how, items.get(1..).unwrap_or_default(), span);
            return Val::default();
        }
        if !self.is_op(last.saturating_add(1), b'(') {
            self.sink.member(self.names, found.node, Own::No, span, how);
        }
        found
    }

    /// Text and argument lists that a call runs.
    fn runs(&mut self, node: Node, items: &[Item]) {
        let nodes = self.nodes;
        let Some(first) = items
            .iter()
            .find(|item| {
                item.key == 0 || self.key_text(item.key) == b"args" || self.key_text(item.key) == b"cmd"
            })
            .copied()
        else {
            return;
        };
        if nodes.python.contains(&node) {
            if matches!(first.val.form, Form::Text | Form::Joined) {
                self.embed(Lens::Py, Hole::Python, &[first]);
            }
            return;
        }
        if nodes.shells.contains(&node) {
            match first.val.form {
                Form::Text | Form::Joined => self.embed(Lens::Sh, Hole::Shell, &[first]),
                Form::List => {
                    let words: Vec<Item> = self.list(first.val).iter().take(ITEMS).copied().collect();
                    self.command(&words);
                }
                _ => {}
            }
            return;
        }
        if !nodes.programs.contains(&node) {
            return;
        }
        // os.spawn* asks how first; the program stands twice, once as what it is called.
        let mut words: Vec<Item> = Vec::new();
        for item in items.iter().filter(|item| item.key == 0).take(ITEMS) {
            if item.val.form == Form::List {
                let inner = self.list(item.val).iter().take(ITEMS).copied();
                words.extend(inner);
            } else {
                words.push(*item);
            }
        }
        if nodes.listed.contains(&node) {
            let at = words.iter().position(|item| item.val.form == Form::Text).unwrap_or(0);
            words.drain(..at.min(words.len()));
            if words.len() > 1 {
                words.remove(1);
            }
        }
        self.command(&words);
    }

    /// Hands a text on as code.
    fn embed(&mut self, lens: Lens, hole: Hole, items: &[Item]) {
        let mut view = View::default();
        for item in items {
            let toks = self.toks(item.val.a, item.val.b);
            if toks.len() > 4096 || !self.spend(toks.len()) {
                return;
            }
            text::render(self.src, toks, hole, &mut view);
        }
        if !view.is_empty() {
            self.sink.embed(lens, EmbeddedText::View(view));
        }
    }

    /// Hands a list of words on as one command.
    fn command(&mut self, words: &[Item]) {
        let mut view = View::default();
        for item in words {
            let start = self.span(item.first, item.last).0;
            if !view.is_empty() {
                view.put(b" ", (start, start), How::NONE, 0);
            }
            if !matches!(item.val.form, Form::Text | Form::Joined) {
                let known = item.val.node != 0 && item.val.node == self.nodes.executable;
                let span = self.span(item.first, item.last);
                view.put(if known { b"python3" } else { b"${x}" }, span, How::NONE, 0);
                continue;
            }
            let toks = self.toks(item.val.a, item.val.b);
            if toks.len() > 4096 || !self.spend(toks.len()) {
                return;
            }
            let mut word = View::default();
            text::render(self.src, toks, Hole::Shell, &mut word);
            let exact = if item.val.form == Form::Text { Exact::Yes } else { Exact::No };
            quote::word(&word, exact, start, &mut view);
        }
        if !view.is_empty() {
            self.sink.embed(Lens::Sh, EmbeddedText::View(view));
        }
    }
}
