//! What a call does: modules that it loads, functions that it passes on, text and commands that it runs.

use super::bind::{Form, Val};
use super::text::{self, Hole};
use super::token::K;
use super::walk::{Cur, Item, Walk};
use crate::entry::Lens;
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

/// Nodes and words that the walk treats on their own.
#[derive(Debug)]
pub(super) struct WalkNodes {
    pub(super) builtins: Node,
    pub(super) builtins_word: Word,
    pub(super) environ: Node,
    pub(super) modules: Node,
    pub(super) imports: Vec<Node>,
    pub(super) dict: Word,
    pub(super) call: Word,
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
    listed: Vec<Node>,
    executable: Node,
    yaml: Vec<Node>,
    torch: Node,
    setup: Vec<Node>,
    network: Vec<Node>,
    text_words: Vec<Word>,
    ask_words: Vec<Word>,
}

impl WalkNodes {
    pub(super) fn new(names: &Names) -> Self {
        let word = |text: &str| names.words.get(text.as_bytes());
        let node = |path: &str| names.find(path);
        let all = |paths: &[&str]| paths.iter().map(|path| node(path)).filter(|node| *node != 0).collect();
        Self {
            builtins: node("@builtins"),
            builtins_word: word("__builtins__"),
            environ: node("@os.environ"),
            modules: node("@sys.modules"),
            imports: all(&["__import__", "@importlib.import_module", "@importlib.__import__"]),
            dict: word("__dict__"),
            call: word("__call__"),
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
            programs: all(&[
                "@asyncio.create_subprocess_exec",
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
            ]),
            listed: all(&[
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
            ]),
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
                self.sink.member(self.names, found.node, Own::No, span, callee.how.and(how));
                return found;
            }
            Form::Text | Form::Joined => return val,
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
                how = how.and(self.constants(items, 3, &mut left, &mut args.constants));
            }
            self.sink.call(self.names, node, Own::No, &args, span, how);
        }
        self.shapes(val.node, items, span, how);
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
            let classes = items.iter().find(|item| item.key != 0 && self.key_text(item.key) == b"cmdclass");
            if let Some(item) = classes.filter(|item| item.val.form != Form::List || item.val.b > 0).copied()
            {
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
            quoted(&word, item.val.form, start, &mut view);
        }
        if !view.is_empty() {
            self.sink.embed(Lens::Sh, EmbeddedText::View(view));
        }
    }
}

/// Adds a word so that the shell's reader takes it as one.
fn quoted(word: &View, form: Form, at: usize, out: &mut View) {
    let exact = form == Form::Text;
    let plain = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_' | b'/' | b'.' | b'=' | b':' | b'@' | b'%' | b'+' | b',')
            || *byte >= 0x80
    };
    let bare = !word.bytes.is_empty() && word.bytes.iter().all(plain);
    let quote: &[u8] = if bare {
        b""
    } else if exact {
        b"'"
    } else {
        b"\""
    };
    out.put(quote, (at, at), How::NONE, 0);
    let mut from = 0_usize;
    for part in word.bytes.split_inclusive(|byte| *byte == b'\'') {
        let mut place = from;
        for byte in part {
            let next = place.saturating_add(1);
            let (start, end, how) = word.map.back(place, next);
            let escaped: &[u8] = if exact && *byte == b'\'' { b"'\\''" } else { core::slice::from_ref(byte) };
            if end == start.saturating_add(1) && escaped.len() == 1 {
                out.copy(escaped, start, how, 0);
            } else {
                out.put(escaped, (start, end), how, 0);
            }
            place = next;
        }
        from = place;
    }
    out.put(quote, (at, at), How::NONE, 0);
}
