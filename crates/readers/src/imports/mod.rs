//! Imports: the files, modules and commands that a program loads or starts, as far as its text determines them.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

mod calls;
mod fold;

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{LineEnds, LineIndex};

use crate::evaluate::{
    Analysis, Call, Constant, Evaluation, Language, Name, NamePart, NameUse, Round, Taint, Value, evaluate,
};
use crate::js::{self, HtmlComments, JsOptions};
use crate::program::{FunctionId, Node, NodeId, Program, Variable};
use crate::py::{self, PyOptions};
use crate::reading::Reading;
use crate::view::Obfuscations;
use fold::Folder;

/// Something that a program loads or starts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a caller looks up every kind in its own way")]
pub enum ImportTarget {
    /// A module as the language names it: `./b.mjs`, `left-pad`, or Python's `a.b` and `.b`.
    Module(String),
    /// The path of a file, or a pattern with `*` for several. A relative one starts in the working directory.
    File(String),
    /// A directory in which modules are searched from now on.
    Directory(String),
    /// The words of a command that no shell reads.
    Command(Vec<String>),
    /// A text that a shell reads.
    Shell(String),
}

/// Stands for a part of a text that is not constant, as the name of a variable that no shell sets.
pub const UNKNOWN: &str = "$_";

/// An import of a program, with its place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Import {
    /// What is loaded or started.
    pub target: ImportTarget,
    /// The directory in which it starts, if that is not the one in which the program started.
    pub directory: Option<String>,
    /// The line, from 1.
    pub line: u32,
}

/// The most ranges of a file that are read a second time because they may be code or text.
const MOST_UNSURE: usize = 64;

/// Returns what a program loads or starts, sorted and without duplicates.
///
/// `path` is the path of the program itself. It is the value of `__dirname`, `import.meta.url` and `__file__`, so paths that
/// are built from these are returned in terms of it. An environment variable becomes `${NAME}`, the home directory `~`, the
/// working directory `${PWD}`, and the top of the repository `${TOP_LEVEL}`.
///
/// A part of a text that is not constant is [`UNKNOWN`]. A text without a constant part is left out, because a program can
/// compute any name.
///
/// # Examples
///
/// ```
/// use plugward_readers::{ImportTarget, Language, imports};
///
/// let source = b"import './b.mjs'; require('child_process').fork(__dirname + '/c.js')";
/// let found = imports(Language::JavaScript, source, "/p/a.mjs");
/// let targets: Vec<ImportTarget> = found.into_iter().map(|import| import.target).collect();
/// assert!(targets.contains(&ImportTarget::Module("./b.mjs".into())));
/// assert!(targets.contains(&ImportTarget::File("/p/c.js".into())));
/// ```
#[must_use]
pub fn imports(language: Language, source: &[u8], path: &str) -> Vec<Import> {
    let lines = LineIndex::new(source, LineEnds::Text);
    let mut found = BTreeSet::new();
    let mut unsure = Vec::new();
    for reading in readings(language, source, path) {
        unsure.extend(reading.unsure.iter().copied());
        collect(language, &reading, path, &lines, 0, &mut found);
    }
    for (start, end) in unsure.into_iter().take(MOST_UNSURE) {
        let (start, end) = (start as usize, end as usize);
        let part = source.get(start..end).unwrap_or_default();
        for reading in readings(language, part, path) {
            collect(language, &reading, path, &lines, start, &mut found);
        }
    }
    found.into_iter().collect()
}

/// Reads a file, both ways if it contains HTML comments.
fn readings(language: Language, source: &[u8], path: &str) -> Vec<Reading> {
    match language {
        Language::Python => vec![py::read(source, PyOptions::default())],
        Language::JavaScript => {
            let options = JsOptions::for_path(path);
            let first = js::read(source, options);
            let comments = JsOptions { html_comments: HtmlComments::Comment, ..options };
            let second = first.has_html_comments.then(|| js::read(source, comments));
            core::iter::once(first).chain(second).collect()
        }
    }
}

fn collect(
    language: Language,
    reading: &Reading,
    path: &str,
    lines: &LineIndex<'_>,
    start: usize,
    found: &mut BTreeSet<Import>,
) {
    let program = &reading.program;
    let mut collector = Collector {
        language,
        path,
        bindings: Bindings::of(program),
        is_report: false,
        known: BTreeMap::new(),
        targets: BTreeSet::new(),
        directories: BTreeSet::new(),
    };
    if language == Language::Python {
        collector.members_of_modules(program);
    }
    // A limit leaves names unresolved, and so does a program that computes them.
    let _convergence = evaluate(program, language, &mut collector);
    for (target, directory, node) in collector.targets {
        let (at, _) = program.span(node);
        let line = lines.line(start + at);
        // The order of calls is not known, so the program can be in each directory.
        let moved = collector.directories.iter().filter(|_| directory.is_none());
        found.extend(moved.map(|to| Import { target: target.clone(), directory: Some(to.clone()), line }));
        found.insert(Import { target, directory, line });
    }
}

/// The values that a program assigns to its variables and returns from its functions.
#[derive(Debug, Default)]
struct Bindings {
    variables: BTreeMap<Variable, Vec<NodeId>>,
    returns: BTreeMap<FunctionId, Vec<NodeId>>,
}

/// The methods that pass each item of a list, or their result, to a function.
const CALLBACKS: [&[u8]; 8] =
    [b"every", b"filter", b"find", b"flatMap", b"forEach", b"map", b"some", b"then"];

impl Bindings {
    fn of(program: &Program) -> Self {
        let mut found = Self::default();
        for id in program.ids() {
            match program.node(id) {
                Node::Bind { target, value } => {
                    // The first name of `for root, names, files in os.walk(path)` is the path.
                    let first = match (program.node(target), program.node(value)) {
                        (Node::List(list), Node::Element(_)) => program.items(list).first().copied(),
                        _ => None,
                    };
                    found.bind(program, first.unwrap_or(target), value);
                }
                Node::Return { function, value } => found.returns.entry(function).or_default().push(value),
                _ => {}
            }
        }
        for id in program.ids() {
            let Node::Call { callee, arguments, .. } = program.node(id) else { continue };
            let arguments = program.items(arguments);
            for function in found.functions(program, callee) {
                found.pass(program, function, arguments);
            }
            if let Node::Member { object, name } = program.node(callee)
                && CALLBACKS.contains(&program.bytes(name))
            {
                let functions = arguments.iter().flat_map(|one| found.functions(program, *one));
                for function in functions.collect::<Vec<_>>() {
                    found.pass(program, function, &[object]);
                }
            }
        }
        found
    }

    fn bind(&mut self, program: &Program, target: NodeId, value: NodeId) {
        if let Node::Variable(variable) = program.node(target) {
            self.variables.entry(variable).or_default().push(value);
        }
    }

    /// Binds the parameters of a function to the arguments of one call.
    fn pass(&mut self, program: &Program, function: FunctionId, arguments: &[NodeId]) {
        let parameters = program.function(function).map(|one| program.items(one.parameters));
        for (target, value) in parameters.unwrap_or_default().iter().zip(arguments) {
            self.bind(program, *target, *value);
        }
    }

    /// Returns the functions of the file that an expression can mean.
    fn functions(&self, program: &Program, node: NodeId) -> Vec<FunctionId> {
        let values = match program.node(node) {
            Node::Variable(variable) => self.variables.get(&variable).map(Vec::as_slice).unwrap_or_default(),
            _ => &[node],
        };
        let functions = values.iter().filter_map(|node| match program.node(*node) {
            Node::Function(function) => Some(function),
            _ => None,
        });
        functions.collect()
    }
}

/// Collects the targets of imports and calls.
struct Collector<'s> {
    language: Language,
    path: &'s str,
    bindings: Bindings,
    is_report: bool,
    /// The spelling of each name that an evaluation asked about.
    known: BTreeMap<Name, Option<String>>,
    targets: BTreeSet<(ImportTarget, Option<String>, NodeId)>,
    /// The directories to which the program changes.
    directories: BTreeSet<String>,
}

impl Collector<'_> {
    /// Adds `a.b` for `from a import b`, because `b` can be a module.
    fn members_of_modules(&mut self, program: &Program) {
        for id in program.ids() {
            let Node::Member { object, name } = program.node(id) else { continue };
            let Node::Import(module) = program.node(object) else { continue };
            let Node::Text(module) = program.node(module) else { continue };
            let module = String::from_utf8_lossy(program.bytes(module)).into_owned();
            let name = String::from_utf8_lossy(program.bytes(name)).into_owned();
            let dot = if module.ends_with('.') { "" } else { "." };
            self.targets.insert((ImportTarget::Module(format!("{module}{dot}{name}")), None, object));
        }
    }

    /// Returns a name in the spelling of the table of calls: `@module.member`, `global.member`.
    fn spelled(&mut self, facts: &Evaluation<'_>, name: Name) -> Option<String> {
        if let Some(known) = self.known.get(&name) {
            return known.clone();
        }
        let text = |constant: Constant| String::from_utf8_lossy(facts.bytes(constant)).into_owned();
        // A name is longer than its parent and has few steps, so the recursion ends.
        let parent = facts.parent(name).map(|parent| self.spelled(facts, parent));
        let found = match (facts.step(name), parent) {
            (NamePart::Global, _) => Some(String::new()),
            (NamePart::Module(module), _) => Some(format!("@{}", text(module))),
            (NamePart::Member(member), Some(Some(parent))) if parent.is_empty() => Some(text(member)),
            (NamePart::Member(member), Some(Some(parent))) => Some(format!("{parent}.{}", text(member))),
            _ => None,
        };
        self.known.insert(name, found.clone());
        found
    }

    fn folder<'f, 'p>(&'f self, facts: &'f Evaluation<'p>) -> Folder<'f, 'p> {
        Folder::new(facts, self.path, &self.bindings)
    }
}

impl Analysis for Collector<'_> {
    fn round(&mut self, round: Round) {
        self.is_report = round == Round::Report;
    }

    fn read(&mut self, _: &Evaluation<'_>, _: Name, _: NodeId, _: NameUse) -> Taint {
        Taint::NONE
    }

    fn knows(&mut self, facts: &Evaluation<'_>, name: Name) -> bool {
        self.spelled(facts, name).is_some_and(|path| calls::begins(self.language, &path))
    }

    fn call(&mut self, call: &Call<'_, '_>) -> Taint {
        let form = self.spelled(call.facts, call.name).and_then(|path| calls::form(self.language, &path));
        let Some(form) = form.filter(|_| self.is_report) else { return Taint::NONE };
        let folder = self.folder(call.facts);
        if form == calls::CallForm::ChangeDirectory {
            let to = call.arguments.first().map(|argument| folder.texts_of(argument));
            self.directories.extend(to.into_iter().flatten());
            return Taint::NONE;
        }
        let targets = calls::targets(form, &folder, call.arguments);
        let directories: Vec<Option<String>> =
            folder.option(call.arguments, b"cwd").into_iter().map(Some).collect();
        let directories = if directories.is_empty() { vec![None] } else { directories };
        for target in targets {
            let starts = directories.iter().map(|at| (target.clone(), at.clone(), call.node));
            self.targets.extend(starts);
        }
        Taint::NONE
    }

    fn write(&mut self, _: &Evaluation<'_>, _: Name, _: Option<Value>, _: NodeId) {}

    fn remove(&mut self, _: &Evaluation<'_>, _: Name, _: NodeId) {}

    fn import(&mut self, facts: &Evaluation<'_>, module: Option<Constant>, _: Obfuscations, node: NodeId) {
        let mut names: Vec<String> = match facts.program().node(node) {
            Node::Import(name) => self.folder(facts).texts(name),
            Node::Call { arguments, .. } => {
                let first = facts.program().items(arguments).first();
                first.map(|first| self.folder(facts).texts(*first)).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        names.extend(module.map(|module| String::from_utf8_lossy(facts.bytes(module)).into_owned()));
        self.targets.extend(names.into_iter().map(|name| (ImportTarget::Module(name), None, node)));
    }

    fn build_name(&mut self, _: &Evaluation<'_>, _: NodeId) {}
}
