//! Folds expressions to texts, with the path of the program itself as a constant.

use core::cell::{Cell, RefCell};

use super::{Bindings, ImportTarget, UNKNOWN};
use crate::evaluate::{Alternative, Argument, Evaluation, Item, NamePart, Value};
use crate::program::{List, Node, NodeId};

/// The deepest nesting of expressions that is folded.
const DEEPEST: usize = 32;
/// The most texts that one expression can mean.
const MOST: usize = 64;
/// The most expressions that are visited for one text. Shared operands would multiply otherwise.
const MOST_VISITS: usize = 2_048;
/// The levels of directories through which a function that calls itself is followed.
const LEVELS: usize = 4;

pub(super) struct Folder<'f, 'p> {
    facts: &'f Evaluation<'p>,
    path: &'f str,
    bindings: &'f Bindings,
    left: Cell<usize>,
    /// The expressions that are being folded.
    open: RefCell<Vec<NodeId>>,
}

impl<'f, 'p> Folder<'f, 'p> {
    pub(super) const fn new(facts: &'f Evaluation<'p>, path: &'f str, bindings: &'f Bindings) -> Self {
        Self { facts, path, bindings, left: Cell::new(MOST_VISITS), open: RefCell::new(Vec::new()) }
    }

    /// Returns the texts that an expression can mean, as far as they are known.
    pub(super) fn texts(&self, node: NodeId) -> Vec<String> {
        let mut texts = self.words(node);
        texts.retain(|text| text != UNKNOWN);
        texts
    }

    pub(super) fn texts_of(&self, argument: &Argument) -> Vec<String> {
        argument.node.map_or_else(|| self.constants(argument.value), |node| self.texts(node))
    }

    /// Returns the texts that an expression can mean, also [`UNKNOWN`].
    fn words(&self, node: NodeId) -> Vec<String> {
        self.left.set(MOST_VISITS);
        self.fold(node, 0).into_iter().map(|text| plain(&text)).collect()
    }

    /// Returns the texts of an option: a keyword argument, or a field of a record among the arguments.
    pub(super) fn option(&self, arguments: &[Argument], name: &[u8]) -> Vec<String> {
        let has_name = |item: &Item| item.key.is_some_and(|key| self.facts.bytes(key) == name);
        let given = arguments.iter().map(|one| self.facts.item(one));
        let fields = arguments.iter().flat_map(|one| self.facts.items(one.value));
        let found = given.chain(fields).filter(has_name).filter_map(|item| item.node);
        found.flat_map(|node| self.texts(node)).collect()
    }

    /// Returns the words of a list, each with its alternatives, or `None` if the argument is not a list.
    pub(super) fn words_of(&self, argument: &Argument) -> Option<Vec<Vec<String>>> {
        let is_list = |one: Alternative<'_>| matches!(one, Alternative::List(_) | Alternative::Record(_));
        self.facts.alternatives(argument.value).any(is_list).then(|| {
            // The options of `Deno.Command` contain the list as a field.
            let items = self.facts.items(argument.value).into_iter().flat_map(|item| {
                let inner = self.facts.items(item.value);
                if item.key.is_some() { inner } else { vec![item] }
            });
            let texts = |node: Option<NodeId>, value| {
                node.map_or_else(|| self.constants(value), |node| self.words(node))
            };
            items.map(|item| texts(item.node, item.value)).collect()
        })
    }

    /// Returns the files that an expression reads.
    pub(super) fn files_read(&self, node: NodeId) -> Vec<ImportTarget> {
        let mut found = Vec::new();
        let mut open = vec![(node, 0_usize)];
        let mut left = MOST_VISITS;
        while let Some((node, depth)) = open.pop() {
            left = left.saturating_sub(1);
            if depth > DEEPEST || left == 0 {
                break;
            }
            let below = depth.saturating_add(1);
            let program = self.facts.program();
            match program.node(node) {
                Node::Call { callee, arguments, .. } => {
                    let items = program.items(arguments);
                    let names = self.names(callee);
                    let receiver = self.receiver(callee);
                    let has = |wanted: &[&str]| names.iter().any(|name| wanted.contains(&name.as_str()));
                    if has(&["open", "readFileSync", "readFile", "file"]) {
                        found.extend(items.first().into_iter().flat_map(|first| self.texts(*first)));
                    }
                    if has(&["open", "read_text", "read_bytes"]) {
                        found.extend(receiver.into_iter().flat_map(|path| self.texts(path)));
                    }
                    open.extend(items.iter().copied().chain(receiver).map(|node| (node, below)));
                }
                Node::Variable(variable) => {
                    let values = self.bindings.variables.get(&variable).into_iter().flatten();
                    open.extend(values.map(|node| (*node, below)));
                }
                Node::Join(list) | Node::Either(list) | Node::Mix(list) | Node::Last(list) => {
                    open.extend(program.items(list).iter().map(|node| (*node, below)));
                }
                Node::Member { object, .. } => open.push((object, below)),
                _ => {}
            }
        }
        found.into_iter().map(ImportTarget::File).collect()
    }

    /// Returns the constant texts among the alternatives of a value.
    fn constants(&self, value: Value) -> Vec<String> {
        let alternatives = self.facts.alternatives(value).filter_map(|one| match one {
            Alternative::Text(bytes, _) => Some(String::from_utf8_lossy(bytes).into_owned()),
            Alternative::Number(number) => Some(number.to_string()),
            _ => None,
        });
        alternatives.take(MOST).collect()
    }

    /// Returns the texts that an expression can mean. A part that is not constant is [`UNKNOWN`], and a list stands for
    /// any of its items.
    fn fold(&self, node: NodeId, depth: usize) -> Vec<String> {
        let left = self.left.get().saturating_sub(1);
        self.left.set(left);
        if depth > DEEPEST || left == 0 {
            return vec![UNKNOWN.to_owned()];
        }
        if self.open.borrow().iter().filter(|open| **open == node).count() >= LEVELS {
            return Vec::new();
        }
        self.open.borrow_mut().push(node);
        let found = self.fold_inside(node, depth);
        self.open.borrow_mut().pop();
        found
    }

    fn fold_inside(&self, node: NodeId, depth: usize) -> Vec<String> {
        let value = self.facts.value(node);
        let mut found = self.constants(value);
        // The evaluation does not know the working directory, which is part of the result of `path.resolve('x')`.
        let is_call = matches!(self.facts.program().node(node), Node::Call { .. });
        if found.is_empty() || is_call || self.facts.is_open(value) {
            found.extend(self.structure(node, depth.saturating_add(1)));
        }
        for one in self.facts.alternatives(value) {
            if let Alternative::Partial(inner) = one
                && inner != node
            {
                found.extend(self.fold(inner, depth.saturating_add(1)));
            }
        }
        if found.is_empty() {
            found.push(UNKNOWN.to_owned());
        }
        found.sort();
        found.dedup();
        found.truncate(MOST);
        found
    }

    /// Folds an expression by its form.
    fn structure(&self, node: NodeId, depth: usize) -> Vec<String> {
        let program = self.facts.program();
        let fold = |node: NodeId| self.fold(node, depth);
        match program.node(node) {
            Node::Variable(variable) => self
                .bindings
                .variables
                .get(&variable)
                .into_iter()
                .flatten()
                .flat_map(|one| fold(*one))
                .collect(),
            Node::Global(name) => match program.bytes(name) {
                b"__dirname" => vec![directory(self.path)],
                b"__filename" | b"__file__" => vec![self.path.to_owned()],
                _ => Vec::new(),
            },
            Node::Member { object, name } => self.member(object, program.bytes(name), depth),
            Node::Index { object, key } => self.index(object, key, depth),
            Node::Call { callee, arguments, .. } => self.call(callee, arguments, depth),
            Node::Join(list) => {
                product(program.items(list).iter().map(|one| fold(*one)), |a, b| format!("{a}{b}"))
            }
            // Python joins paths with `/`.
            Node::Mix(list) => {
                product(program.items(list).iter().map(|one| fold(*one)), |a, b| joined(&a, &b))
            }
            Node::Format { template, .. } => {
                fold(template).into_iter().map(|text| text.replace("%s", UNKNOWN)).collect()
            }
            Node::Either(list) | Node::List(list) => {
                program.items(list).iter().flat_map(|one| fold(*one)).collect()
            }
            Node::Last(list) => program.items(list).last().map(|one| fold(*one)).unwrap_or_default(),
            Node::Bind { value, .. } | Node::Spread(value) | Node::Element(value) => fold(value),
            _ => Vec::new(),
        }
    }

    fn member(&self, object: NodeId, name: &[u8], depth: usize) -> Vec<String> {
        match (self.last_name(object), name) {
            (b"meta", b"url") => vec![format!("file://{}", self.path)],
            (b"meta" | b"main" | b"module", b"filename") => vec![self.path.to_owned()],
            (b"meta", b"dirname" | b"dir") => vec![directory(self.path)],
            (b"env", name) => vec![format!("${{{}}}", String::from_utf8_lossy(name))],
            (_, b"execPath") => vec!["node".to_owned()],
            (_, b"executable") => vec!["python3".to_owned()],
            (_, b"parent") => self.fold(object, depth).iter().map(|path| directory(path)).collect(),
            (_, b"href" | b"pathname" | b"path" | b"stdout") => self.fold(object, depth),
            _ => Vec::new(),
        }
    }

    /// Folds `path.parents[1]`, and a variable of the environment.
    fn index(&self, object: NodeId, key: NodeId, depth: usize) -> Vec<String> {
        let program = self.facts.program();
        let Node::Member { object: inner, name } = program.node(object) else { return Vec::new() };
        match (program.bytes(name), program.node(key)) {
            (b"parents", Node::Number(ups)) => {
                let ups = usize::try_from(ups).unwrap_or(DEEPEST).min(DEEPEST);
                let up = |path: String| (0..=ups).fold(path, |path, _| directory(&path));
                self.fold(inner, depth).into_iter().map(up).collect()
            }
            (b"environ" | b"env", _) => self.variables(key, depth),
            _ => Vec::new(),
        }
    }

    fn call(&self, callee: NodeId, arguments: List, depth: usize) -> Vec<String> {
        let program = self.facts.program();
        let is_field = |item: &NodeId| matches!(program.node(*item), Node::Field { .. });
        let items: Vec<NodeId> =
            program.items(arguments).iter().copied().filter(|item| !is_field(item)).collect();
        let receiver = || self.receiver(callee).map(|one| self.fold(one, depth)).unwrap_or_default();
        let all = || product(items.iter().map(|one| self.fold(*one, depth)), |a, b| joined(&a, &b));
        let nth = |at: usize| items.get(at).map(|one| self.fold(*one, depth)).unwrap_or_default();
        let in_directory = |base: Vec<String>, rest: Vec<String>| {
            below(base.into_iter().map(|path| directory(&path)).collect(), rest)
        };
        let mut found = Vec::new();
        for name in self.names(callee) {
            found.extend(match name.as_str() {
                "join" => self.join(callee, &items, depth),
                "resolve" | "absolute" if items.is_empty() => absolute(receiver()),
                // `require.resolve('./x')` does not start in the working directory.
                "resolve" | "abspath" | "realpath" | "realpathSync" => [absolute(all()), all()].concat(),
                "as_posix" | "toString" | "trim" | "strip" | "rstrip" | "decode" | "read" | "filter"
                | "sort" | "slice" | "reverse" => receiver(),
                "expanduser" if items.is_empty() => receiver(),
                "joinpath" => below(receiver(), all()),
                "normpath" | "normalize" | "str" | "String" | "fspath" | "expanduser" | "Path"
                | "PurePath" | "PosixPath" | "fileURLToPath" | "pathToFileURL" | "quote" => all(),
                "map" => items.first().map(|one| self.results(*one, depth)).unwrap_or_default(),
                "dirname" => nth(0).iter().map(|path| directory(path)).collect(),
                // The base of an address ends at its last slash.
                "URL" if items.len() > 1 => {
                    in_directory(nth(1).into_iter().map(|base| format!("{base}_")).collect(), nth(0))
                }
                "URL" | "sorted" | "list" | "from" => nth(0),
                "with_name" => in_directory(receiver(), nth(0)),
                "format" => receiver().iter().map(|text| text.replace("{}", UNKNOWN)).collect(),
                "cwd" | "getcwd" => vec!["${PWD}".to_owned()],
                "homedir" | "home" => vec!["~".to_owned()],
                "getenv" | "get" => {
                    let key = items.first().map(|key| self.variables(*key, depth)).unwrap_or_default();
                    key.into_iter().chain(nth(1)).collect()
                }
                "execSync" | "execFileSync" | "spawnSync" | "check_output" | "run" | "popen"
                | "getoutput" => {
                    let mut words = items.iter().flat_map(|one| self.fold(*one, depth));
                    let is_top = words.any(|word| word.contains("--show-toplevel"));
                    is_top.then(|| "${TOP_LEVEL}".to_owned()).into_iter().collect()
                }
                name => Self::listed(name, receiver, nth),
            });
        }
        found.extend(self.results(callee, depth));
        found
    }

    /// Folds a call of a function that lists files, to a pattern of their paths.
    fn listed(
        name: &str,
        receiver: impl Fn() -> Vec<String>,
        nth: impl Fn(usize) -> Vec<String>,
    ) -> Vec<String> {
        let some = |text: &str| vec![text.to_owned()];
        match name {
            "iterdir" => below(receiver(), some(UNKNOWN)),
            "scandir" => below(nth(0), some(UNKNOWN)),
            "walk" => below(nth(0), some("**")),
            "rglob" => below(below(receiver(), some("**")), nth(0)),
            "glob" | "iglob" | "globSync" | "sync" | "globby" | "globbySync" | "fg" => {
                // The receiver can be a module.
                let base: Vec<String> = receiver().into_iter().filter(|path| path != UNKNOWN).collect();
                if base.is_empty() { nth(0) } else { below(base, nth(0)) }
            }
            _ => Vec::new(),
        }
    }

    /// Folds `path.join(a, b)`, `[a, b].join('/')` and `'/'.join([a, b])`.
    fn join(&self, callee: NodeId, items: &[NodeId], depth: usize) -> Vec<String> {
        let listed = |node: NodeId| {
            let is_list = |one: Alternative<'_>| matches!(one, Alternative::List(_));
            let value = self.facts.value(node);
            let has = self.facts.alternatives(value).any(is_list);
            has.then(|| self.facts.items(value).into_iter().filter_map(|item| item.node).collect::<Vec<_>>())
        };
        let receiver = self.receiver(callee);
        let first = items.first().copied();
        let with = |list: Vec<NodeId>, between: Vec<String>| {
            let between = between.first().cloned().unwrap_or_else(|| ",".to_owned());
            product(list.into_iter().map(|one| self.fold(one, depth)), |a, b| format!("{a}{between}{b}"))
        };
        if let Some(list) = receiver.and_then(listed) {
            return with(list, first.map(|one| self.fold(one, depth)).unwrap_or_default());
        }
        if let (Some(list), Some(receiver)) = (first.and_then(listed), receiver) {
            return with(list, self.fold(receiver, depth));
        }
        product(items.iter().map(|one| self.fold(*one, depth)), |a, b| joined(&a, &b))
    }

    /// Returns the results of the functions of the file that a call can mean.
    fn results(&self, callee: NodeId, depth: usize) -> Vec<String> {
        let program = self.facts.program();
        let functions = self.bindings.functions(program, callee);
        let returns = functions
            .into_iter()
            .flat_map(|function| self.bindings.returns.get(&function).into_iter().flatten());
        returns.flat_map(|node| self.fold(*node, depth)).collect()
    }

    fn variables(&self, key: NodeId, depth: usize) -> Vec<String> {
        let names = self.fold(key, depth).into_iter();
        let is_name = |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        names.filter(is_name).map(|name| format!("${{{name}}}")).collect()
    }

    /// Returns the name of a member or global.
    fn last_name(&self, node: NodeId) -> &'p [u8] {
        let program = self.facts.program();
        match program.node(node) {
            Node::Member { name, .. } | Node::Global(name) => program.bytes(name),
            _ => b"",
        }
    }

    fn receiver(&self, callee: NodeId) -> Option<NodeId> {
        match self.facts.program().node(callee) {
            Node::Member { object, .. } => Some(object),
            _ => None,
        }
    }

    /// Returns the last names of the functions that a callee can mean, as imported and as written.
    fn names(&self, callee: NodeId) -> Vec<String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let program = self.facts.program();
        let mut names: Vec<String> = self
            .facts
            .names(self.facts.value(callee))
            .filter_map(|name| match self.facts.step(name) {
                NamePart::Member(member) => Some(text(self.facts.bytes(member))),
                _ => None,
            })
            .collect();
        match program.node(callee) {
            Node::Member { name, .. } | Node::Global(name) => names.push(text(program.bytes(name))),
            Node::Variable(variable) => {
                // An import that binds a member under another name.
                let values = self.bindings.variables.get(&variable).into_iter().flatten();
                names.extend(values.filter_map(|node| match program.node(*node) {
                    Node::Member { name, .. } => Some(text(program.bytes(name))),
                    _ => None,
                }));
                names.extend(program.variable_name(variable).map(|name| text(program.bytes(name))));
            }
            _ => {}
        }
        names.sort();
        names.dedup();
        names
    }
}

/// Returns a path without the scheme of a file address.
fn plain(text: &str) -> String {
    text.strip_prefix("file://").unwrap_or(text).to_owned()
}

/// Returns paths that start in the working directory unless they are absolute.
fn absolute(paths: Vec<String>) -> Vec<String> {
    let is_absolute = |path: &str| path.starts_with(['/', '~', '$']) || path.starts_with("file:");
    let from_start = |path: String| if is_absolute(&path) { path } else { format!("${{PWD}}/{path}") };
    paths.into_iter().map(from_start).collect()
}

/// Returns each path below each directory.
fn below(base: Vec<String>, rest: Vec<String>) -> Vec<String> {
    product([base, rest].into_iter(), |a, b| joined(&a, &b))
}

/// Returns the directory of a path.
fn directory(path: &str) -> String {
    match path.trim_end_matches('/').rsplit_once('/') {
        None if path == UNKNOWN => path.to_owned(),
        None if path.starts_with('$') => format!("{path}/.."),
        Some(("", _)) => "/".to_owned(),
        Some((directory, _)) => directory.to_owned(),
        None => ".".to_owned(),
    }
}

/// Joins two paths. An absolute one replaces what is before it.
fn joined(base: &str, path: &str) -> String {
    if path.starts_with('/') || path.starts_with("file:") || base.is_empty() {
        return path.to_owned();
    }
    format!("{}/{path}", base.trim_end_matches('/'))
}

/// Returns the texts of which each part is one of several; none if a part is unknown.
fn product(parts: impl Iterator<Item = Vec<String>>, join: impl Fn(String, String) -> String) -> Vec<String> {
    let mut all: Option<Vec<String>> = None;
    for part in parts {
        all = Some(match all {
            None => part,
            Some(heads) => {
                let pairs = heads.iter().flat_map(|head| part.iter().map(move |tail| (head, tail)));
                pairs.take(MOST).map(|(head, tail)| join(head.clone(), tail.clone())).collect()
            }
        });
    }
    all.unwrap_or_default()
}
