//! What a call does: modules that it loads, functions that it passes on, text that it runs.

use super::bind::Val;
use super::built::{BuiltNodes, Folded};
use super::token::K;
use super::walk::{Arg, Cur, Prefix, Shape, Via, Walk};
use crate::entry::Lens;
use crate::names::{Names, Node, ROOT, Word};
use crate::sink::{Args, EmbeddedText, FirstArg, Specifier};
use crate::view::How;

/// A call that is complete.
#[derive(Debug, Clone, Copy)]
pub(super) struct Callee {
    pub(super) cur: Cur,
    pub(super) args: [Arg; 3],
    /// Where its constant texts begin in the walk's list.
    pub(super) texts: u32,
}

/// Nodes and words that the walk treats on their own.
#[derive(Debug)]
pub(crate) struct WalkNodes {
    pub(super) built: BuiltNodes,
    pub(super) function: Node,
    /// What is certainly a text, and the functions that give one.
    pub(super) string: Node,
    texts: Vec<Node>,
    /// What a text is run by if it is given one, and what else it is given matters not.
    pub(super) timers: Vec<Node>,
    require: Vec<Node>,
    require_node: Node,
    import: Vec<Node>,
    create_require: Vec<Node>,
    reflect_apply: Node,
    reflect_construct: Node,
    reflect_get: Node,
    pub(super) prototype_of: Vec<Node>,
    pub(super) constructor: Word,
    writers: Vec<Node>,
    keyed_writers: Vec<Node>,
    prototype_writers: Vec<Node>,
    /// What makes another object of its first argument.
    makers: Vec<Node>,
    pub(super) process: Node,
    /// Words whose calls copy what they are given.
    copiers: [Word; 4],
    /// What describes a member, and holds it as `value`.
    pub(super) describers: Vec<Node>,
    evaluators: Vec<Node>,
    shells: Vec<Node>,
    /// What makes objects, lists and texts.
    pub(super) literals: [Node; 3],
    globals: [Word; 3],
    weak: [Word; 4],
    call: Word,
    apply: Word,
    bind: Word,
    then: Word,
    default: Word,
    modules: [Word; 3],
    proto: Word,
    /// By node: whether what is passed to it counts, and whether a name that stands for it is followed.
    uses: Vec<(bool, bool)>,
}

impl WalkNodes {
    /// Finds them. `asks` says whether a matcher asks for arguments.
    pub(crate) fn new(names: &Names, asks: &dyn Fn(u16) -> bool) -> Self {
        let mut nodes = Self::find(names);
        nodes.uses = names
            .all()
            .map(|(node, data)| {
                let special = nodes.is_special(node);
                let passed = special || data.call.iter().any(|matcher| asks(*matcher));
                let followed = special
                    || node == ROOT
                    || nodes.built.holds(node)
                    || data.module
                    || data.is_parent()
                    || !data.call.is_empty()
                    || !data.member.is_empty();
                (passed, followed)
            })
            .collect();
        nodes
    }

    /// Says whether calls of a node do more than its rules say.
    fn is_special(&self, node: Node) -> bool {
        let lists = [
            &self.require,
            &self.import,
            &self.create_require,
            &self.prototype_of,
            &self.writers,
            &self.keyed_writers,
            &self.prototype_writers,
            &self.makers,
            &self.describers,
            &self.evaluators,
            &self.shells,
        ];
        lists.iter().any(|list| list.contains(&node))
            || [self.reflect_apply, self.reflect_construct, self.reflect_get].contains(&node)
    }

    /// Says whether what is passed to a node counts.
    pub(super) fn is_passed(&self, node: Node) -> bool {
        self.uses.get(node as usize).is_some_and(|uses| uses.0)
    }

    /// Says whether a name that stands for a value leads anywhere.
    pub(super) fn is_followed(&self, val: Val) -> bool {
        let followed = |node: Node| self.uses.get(node as usize).is_some_and(|uses| uses.1);
        (val.node != self.function && followed(val.node)) || followed(val.star)
    }

    fn find(names: &Names) -> Self {
        let word = |text: &str| names.words.get(text.as_bytes());
        let node = |path: &str| names.find(path);
        let all = |paths: &[&str]| paths.iter().map(|path| node(path)).filter(|node| *node != 0).collect();
        Self {
            built: BuiltNodes::new(names),
            function: node("function"),
            string: node("typeof"),
            texts: all(super::texts::WALKED),
            timers: all(&["setTimeout", "setInterval", "setImmediate"]),
            require: all(&[
                "require",
                "module.require",
                "process.mainModule.require",
                "require.main.require",
                "process.getBuiltinModule",
                "@process.getBuiltinModule",
                "@module._load",
                "module.constructor._load",
                "importScripts",
            ]),
            require_node: node("require"),
            import: all(&["import", "import.defer", "import.source"]),
            create_require: all(&["@module.createRequire", "module.createRequire", "createRequire"]),
            reflect_apply: node("Reflect.apply"),
            reflect_construct: node("Reflect.construct"),
            reflect_get: node("Reflect.get"),
            constructor: word("constructor"),
            prototype_of: all(&["Object.getPrototypeOf", "Reflect.getPrototypeOf"]),
            writers: all(&["Object.assign", "Object.defineProperties"]),
            keyed_writers: all(&[
                "Object.defineProperty",
                "Reflect.set",
                "Reflect.defineProperty",
                "Reflect.deleteProperty",
            ]),
            prototype_writers: all(&["Object.setPrototypeOf", "Reflect.setPrototypeOf"]),
            makers: all(&["Object.create", "Proxy"]),
            process: node("process"),
            describers: all(&["Object.getOwnPropertyDescriptor", "Reflect.getOwnPropertyDescriptor"]),
            copiers: [word("assign"), word("setPrototypeOf"), word("create"), word("Proxy")],
            evaluators: all(&["eval", "Function", "execScript", "setTimeout", "setInterval", "setImmediate"]),
            literals: [node("Object"), node("Array"), node("String")],
            shells: all(&["@child_process.exec", "@child_process.execSync"]),
            globals: [word("globalThis"), word("window"), word("global")],
            weak: [word("self"), word("top"), word("parent"), word("frames")],
            call: word("call"),
            apply: word("apply"),
            bind: word("bind"),
            then: word("then"),
            default: word("default"),
            modules: [word("vm"), word("cluster"), word("module")],
            proto: word("__proto__"),
            uses: Vec::new(),
        }
    }

    pub(super) fn is_global(&self, word: Word) -> bool {
        word != 0 && self.globals.contains(&word)
    }

    /// Names of the global object that are also common names of variables.
    pub(super) fn is_weak_global(&self, word: Word) -> bool {
        word != 0 && self.weak.contains(&word)
    }

    /// Names of modules that a file may also bind by `require` or `import`.
    pub(super) fn is_module_word(&self, word: Word) -> bool {
        word != 0 && self.modules.contains(&word)
    }

    /// Says whether a call of a node asks for a module.
    pub(super) fn is_loader(&self, node: Node) -> bool {
        self.require.contains(&node) || self.import.contains(&node)
    }

    /// Says whether a node loads or runs what it is called with.
    pub(super) fn is_run(&self, node: Node) -> bool {
        self.is_loader(node) || self.evaluators.contains(&node)
    }

    /// Says whether a node is told by its members: a module, the global object, the process.
    pub(super) fn is_whole(&self, names: &Names, node: Node) -> bool {
        node == ROOT
            || (node != 0 && (node == self.process || names.node(node).is_some_and(|data| data.module)))
    }

    /// Says whether a function of that name copies what it is given.
    pub(super) fn is_copier(&self, word: Word) -> bool {
        word != 0 && self.copiers.contains(&word)
    }

    pub(super) fn is_then(&self, word: Word) -> bool {
        word != 0 && word == self.then
    }

    pub(super) fn is_default(&self, word: Word) -> bool {
        word == self.default
    }

    pub(super) fn via(&self, word: Word) -> Via {
        match word {
            0 => Via::Direct,
            word if word == self.call => Via::Call,
            word if word == self.apply => Via::Apply,
            word if word == self.bind => Via::Bind,
            _ => Via::Direct,
        }
    }
}

impl Walk<'_, '_, '_, '_> {
    /// Tells the rules of a call and gives what it returns.
    pub(super) fn call(&mut self, callee: &Callee, last: u32) -> Val {
        let cur = &callee.cur;
        let mut args = callee.args;
        match cur.via {
            Via::Direct => {
                if let Some(spread) = self.spread(cur) {
                    args = spread;
                }
            }
            Via::Call => args.rotate_left(1),
            Via::Apply => args = self.listed(cur, 1),
            Via::Then => {
                self.resolve(cur);
                return cur.val;
            }
            Via::Bind => {
                args.rotate_left(1);
                if args.first().is_none_or(|arg| arg.first == FirstArg::None) {
                    return self.passed_on(cur, last);
                }
                // It will be called with these.
                self.called_with(callee, args, last);
                return cur.val;
            }
        }
        self.called_with(callee, args, last)
    }

    fn called_with(&mut self, callee: &Callee, args: [Arg; 3], last: u32) -> Val {
        let cur = &callee.cur;
        let span = self.span(cur.first, last);
        if cur.val.is_known() {
            self.tell(callee, args, span, last as usize);
            self.look_at_call(callee, last);
        }
        let mut given = Val::default();
        let mut loads = false;
        for node in self.bindings.sets.nodes(cur.val.node) {
            // A module is asked for once, whichever way.
            if !(loads && self.nodes.is_loader(node)) {
                let val = self.special(node, cur, args, callee.texts, last);
                given = self.bindings.sets.either(given, val);
            }
            loads |= self.nodes.is_loader(node);
        }
        given
    }

    /// `f.bind(…)` passes `f` on.
    fn passed_on(&mut self, cur: &Cur, last: u32) -> Val {
        let span = self.span(cur.first, last);
        for node in self.nodes_of(cur.val) {
            self.sink.member(self.names, node, cur.own, span, cur.how);
        }
        cur.val
    }

    fn tell(&mut self, callee: &Callee, args: [Arg; 3], span: (usize, usize), last: usize) {
        let cur = &callee.cur;
        let first = args.first().map_or(FirstArg::None, |arg| arg.first);
        let known = self.bindings.sets.nodes(cur.val.node).map(|node| (node, false));
        let stars = self.bindings.sets.nodes(cur.val.star).map(|node| (node, true));
        for (node, star) in known.chain(stars) {
            if star && cur.prefix == Prefix::New && self.is_constructor(node) {
                continue;
            }
            let mut told = Args { first, constants: Vec::new() };
            let mut how = cur.how;
            if self.sink.wants_constants(self.names, node) {
                let (constants, undone) = self.argv(callee, last);
                told.constants = constants;
                how = how.and(undone);
            }
            self.sink.call(self.names, node, cur.own, &told, span, how);
        }
    }

    /// `new x.constructor("…")` makes another `x`.
    fn is_constructor(&self, node: Node) -> bool {
        node == self.names.find("*.constructor")
    }

    fn special(&mut self, node: Node, cur: &Cur, args: [Arg; 3], texts: u32, last: u32) -> Val {
        let nodes = self.nodes;
        let [first, second, _] = args;
        if nodes.is_loader(node) {
            return self.loaded(cur, first, last);
        }
        if nodes.texts.contains(&node) {
            return Val::node(nodes.string);
        }
        if nodes.create_require.contains(&node) {
            return Val::node(nodes.require_node);
        }
        if node == nodes.reflect_apply || node == nodes.reflect_construct {
            let passed = self.listed(cur, if node == nodes.reflect_apply { 2 } else { 1 });
            // What it calls is not itself again: the same list would be its list.
            let again = |node: Node| node == nodes.reflect_apply || node == nodes.reflect_construct;
            if self.is_any(first.val.node, again) {
                self.sink.shape("obf-name-building", self.span(cur.first, last), How::NONE);
                return Val::default();
            }
            let inner = Cur { val: first.val, shape: Shape::Other, via: Via::Direct, ..*cur };
            return self.called_with(&Callee { cur: inner, args: passed, texts }, passed, last);
        }
        if node == nodes.reflect_get {
            let word = self.word_of(second);
            return self.member_of(first.val, word);
        }
        if nodes.prototype_of.contains(&node) && self.is_any(first.val.node, |node| node == nodes.function) {
            return Val::node(nodes.function);
        }
        if nodes.describers.contains(&node) {
            let word = self.word_of(second);
            return self.member_of(first.val, word);
        }
        if nodes.makers.contains(&node) {
            return self.handed(first.val);
        }
        self.writes(node, cur, first, second, last);
        if nodes.writers.contains(&node) || nodes.prototype_writers.contains(&node) {
            return self.copies_to_first(cur, args);
        }
        if nodes.evaluators.contains(&node) {
            self.embed_texts(Lens::Js, texts);
        } else if nodes.shells.contains(&node) {
            self.embed_texts(Lens::Sh, texts);
        }
        Val::default()
    }

    fn word_of(&self, arg: Arg) -> Word {
        if arg.val.text == 0 {
            return self.names.computed;
        }
        self.names.words.get(&self.constant(arg.val.text.wrapping_sub(1) as usize).0)
    }

    /// Functions that write members of their first argument.
    fn writes(&mut self, node: Node, cur: &Cur, first: Arg, second: Arg, last: u32) {
        let nodes = self.nodes;
        let word = if nodes.writers.contains(&node) {
            0
        } else if nodes.keyed_writers.contains(&node) {
            self.word_of(second)
        } else if nodes.prototype_writers.contains(&node) {
            nodes.proto
        } else {
            return;
        };
        let span = self.span(cur.first, last);
        for object in self.bindings.sets.nodes(first.val.node) {
            let target = self.names.step(object, word);
            let own = if object == ROOT || object == target { 0 } else { object };
            for node in [target, own] {
                self.sink.assign(self.names, node, cur.own, span, cur.how);
            }
        }
    }

    /// A module is asked for by a call.
    fn loaded(&mut self, cur: &Cur, first: Arg, last: u32) -> Val {
        let span = self.span(cur.first, last);
        if first.val.text == 0 {
            let open = (cur.last as usize).wrapping_add(1);
            let folded = if first.first == FirstArg::None || self.kind(open) != Some(K::LParen) {
                None
            } else {
                let end = self.types.past(open).map_or(last as usize, |past| past.wrapping_sub(1));
                self.folded(open.wrapping_add(1), end)
            };
            if let Some(folded) = folded {
                self.sink.shape("obf-name-building", span, How::NONE);
                if let Folded::Text(text) = folded {
                    self.sink.module(Specifier::Known(&text), span, cur.how.and(How::FOLD));
                    self.name_file(&text);
                    return Val::node(self.module_of(&text));
                }
            }
            if let Some(val) = self.loaded_one(cur, open, span) {
                return val;
            }
            // A number names no module: a bundler gives them.
            let next = open.wrapping_add(1);
            let number =
                self.kind(next) == Some(K::Num) && self.kind(next.wrapping_add(1)) == Some(K::RParen);
            if first.first != FirstArg::None && !number {
                self.sink.module(Specifier::Computed, span, cur.how);
            }
            return Val::default();
        }
        let (text, how) = self.constant(first.val.text.wrapping_sub(1) as usize);
        self.sink.module(Specifier::Known(&text), span, cur.how.and(how));
        self.name_file(&text);
        Val::node(self.module_of(&text))
    }

    /// One of several constant modules is asked for; `None` where it may be another.
    fn loaded_one(&mut self, cur: &Cur, open: usize, span: (usize, usize)) -> Option<Val> {
        let end = self.types.past(open).filter(|_| self.kind(open) == Some(K::LParen))?.wrapping_sub(1);
        let from = open.wrapping_add(1);
        let (all, found) = self.choices(from, self.entry_end(from, end));
        let mut val = Val::default();
        for (text, how) in &found {
            self.sink.module(Specifier::Known(text), span, cur.how.and(*how));
            self.name_file(text);
            val = self.bindings.sets.either(val, Val::node(self.module_of(text)));
        }
        (all && !found.is_empty()).then_some(val)
    }

    /// A relative file that code loads is code, whatever its name says.
    pub(super) fn name_file(&mut self, text: &[u8]) {
        if text.starts_with(b".")
            && let Ok(text) = core::str::from_utf8(text)
        {
            self.sink.named.push(text.to_owned());
        }
    }

    /// Constant texts among a call's arguments are code.
    fn embed_texts(&mut self, lens: Lens, texts: u32) {
        let tokens = self.texts.get(texts as usize..).unwrap_or_default().to_vec();
        for token in tokens {
            let tok = self.tok(token as usize);
            let (start, end) = super::code::body(tok);
            let bytes = self.src.get(start..end).unwrap_or_default();
            if memchr::memchr(b'\\', bytes).is_none() {
                self.sink.embed(lens, EmbeddedText::Range(start, end));
            } else {
                let mut view = crate::view::View::default();
                super::escape::decode_into(bytes, start, 0, &mut view);
                self.sink.embed(lens, EmbeddedText::View(view));
            }
        }
    }

    /// Gives what a module is. Timers and workers of their modules are those of the host.
    pub(super) fn module_of(&self, specifier: &[u8]) -> Node {
        let name = specifier.strip_prefix(b"node:").unwrap_or(specifier);
        match self.names.module(specifier) {
            0 if matches!(name, b"timers" | b"worker_threads") => ROOT,
            module => module,
        }
    }

    /// Tells the rules of a module that a statement names.
    pub(super) fn specifier(&mut self, at: usize, first: u32) -> Node {
        let (text, how): (Vec<u8>, How) = self.constant(at);
        let span = self.span(first, u32::try_from(at).unwrap_or(u32::MAX));
        self.sink.module(Specifier::Known(&text), span, how);
        self.name_file(&text);
        self.module_of(&text)
    }
}
