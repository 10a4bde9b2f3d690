//! Imports: the files, modules and commands that a program loads or starts, as far as its text determines them.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

mod calls;
mod fold;

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{LineEnds, LineIndex, Part};

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
    /// The path of a file. A relative one starts in the working directory.
    File(String),
    /// A directory in which modules are searched from now on.
    Directory(String),
    /// The words of a command that no shell reads. A word that is not constant is empty.
    Command(Vec<String>),
    /// A text that a shell reads. A part that is not constant is the variable `$_`.
    Shell(String),
}

/// An import of a program, with its place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Import {
    /// What is loaded or started.
    pub target: ImportTarget,
    /// The line, from 1.
    pub line: u32,
}

/// The most ranges of a file that are read a second time because they may be code or text.
const MOST_UNSURE: usize = 64;

/// Returns what a program loads or starts, sorted and without duplicates.
///
/// `path` is the path of the program itself. It is the value of `__dirname`, `import.meta.url` and `__file__`, so paths that
/// are built from these are returned in terms of it. An environment variable at the start of a path becomes `${NAME}`, and
/// the home directory `~`.
///
/// What is not constant is left out, because a program can compute any name.
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
        let part = source.part(start..end);
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
    };
    if language == Language::Python {
        collector.members_of_modules(program);
    }
    // A limit leaves names unresolved, and so does a program that computes them.
    let _convergence = evaluate(program, language, &mut collector);
    for (target, node) in collector.targets {
        let (at, _) = program.span(node);
        found.insert(Import { target, line: lines.line(start + at) });
    }
}

/// The values that a program assigns to its variables and returns from its functions.
#[derive(Debug, Default)]
struct Bindings {
    variables: BTreeMap<Variable, Vec<NodeId>>,
    returns: BTreeMap<FunctionId, Vec<NodeId>>,
}

impl Bindings {
    fn of(program: &Program) -> Self {
        let mut found = Self::default();
        for id in program.ids() {
            match program.node(id) {
                Node::Bind { target, value } => {
                    if let Node::Variable(variable) = program.node(target) {
                        found.variables.entry(variable).or_default().push(value);
                    }
                }
                Node::Return { function, value } => found.returns.entry(function).or_default().push(value),
                _ => {}
            }
        }
        found
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
    targets: BTreeSet<(ImportTarget, NodeId)>,
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
            self.targets.insert((ImportTarget::Module(format!("{module}{dot}{name}")), object));
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
        if let Some(form) = form.filter(|_| self.is_report) {
            let targets = calls::targets(form, &self.folder(call.facts), call.arguments);
            self.targets.extend(targets.into_iter().map(|target| (target, call.node)));
        }
        Taint::NONE
    }

    fn write(&mut self, _: &Evaluation<'_>, _: Name, _: Option<Value>, _: NodeId) {}

    fn remove(&mut self, _: &Evaluation<'_>, _: Name, _: NodeId) {}

    fn import(&mut self, facts: &Evaluation<'_>, module: Option<Constant>, _: Obfuscations, node: NodeId) {
        let mut names: Vec<String> = match facts.program().node(node) {
            _ if module.is_some() => Vec::new(),
            Node::Import(name) => self.folder(facts).texts(name),
            Node::Call { arguments, .. } => {
                let first = facts.program().items(arguments).first();
                first.map(|first| self.folder(facts).texts(*first)).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        names.extend(module.map(|module| String::from_utf8_lossy(facts.bytes(module)).into_owned()));
        self.targets.extend(names.into_iter().map(|name| (ImportTarget::Module(name), node)));
    }

    fn build_name(&mut self, _: &Evaluation<'_>, _: NodeId) {}
}
