//! Matching of the rules about names against the facts of a program.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a text in memory cannot overflow")]

mod arguments;
mod embed;
mod files;
mod flows;
mod programs;
mod shapes;
mod watched;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use plugward_types::Part;
pub(crate) use watched::{Watched, intern};

use plugward_readers::{
    Analysis, Call, Constant, Convergence, Evaluation, Language, Name, NamePart, NameUse, Node, NodeId,
    Program, Round, Taint, Value, evaluate,
};

use crate::known::calls::Calls;
use crate::rules::names::{Names, Node as NameNode, ROOT};
use crate::scan::sink::{Args, Declaration, FirstArg, Sink, Specifier, Unread};
use crate::text::view::Obfuscations;
use watched::Groups;

/// The table nodes of a name.
#[derive(Debug, Clone, Copy, Default)]
struct Resolved {
    /// The name itself.
    node: NameNode,
    /// The same member of any object.
    star: NameNode,
}

/// Matches the rules against the names of one program.
pub(crate) struct RuleAnalysis<'s, 'r, 'a> {
    src: &'a [u8],
    sink: &'s mut Sink<'r>,
    language: Language,
    names: &'r Names,
    watched: &'r Watched,
    calls: &'r Calls,
    is_report: bool,
    /// The files to which downloaded data is written, and those that are opened for writing.
    written: BTreeSet<Vec<u8>>,
    opened: BTreeSet<Vec<u8>>,
    /// The data files that are read.
    read: BTreeSet<String>,
    /// The files to which secrets are written, with their taint.
    secrets: BTreeMap<Vec<u8>, u32>,
    /// Whether downloaded data is written to an open file.
    writes_download: bool,
    /// The resolved nodes, by name.
    resolved: Vec<Option<Resolved>>,
    /// The names as texts, by name.
    spelled: Vec<Option<Rc<flows::SpelledName>>>,
    /// The taint that reading a name adds, by name.
    read_bits: Vec<Option<u32>>,
    /// The arguments of the call that was reported last.
    arguments: flows::GivenArguments,
    /// The number of changes to the files that are opened, or to which secrets are written.
    changes: usize,
    /// The first expression of each text of the program.
    origins: Vec<Option<NodeId>>,
    /// The last call that started a program which sends its standard input.
    sender: Option<NodeId>,
}

/// Evaluates a program and reports its operations to the rules.
pub(crate) fn analyze(program: &Program, language: Language, src: &[u8], sink: &mut Sink<'_>) {
    let rules = sink.rules;
    let (names, watched, calls) = match language {
        Language::JavaScript => (&rules.js, &rules.js_watched, &rules.js_calls),
        Language::Python => (&rules.py, &rules.py_watched, &rules.py_calls),
    };
    let mut analysis = RuleAnalysis {
        src,
        sink,
        language,
        names,
        watched,
        calls,
        is_report: false,
        written: BTreeSet::new(),
        opened: BTreeSet::new(),
        read: BTreeSet::new(),
        secrets: BTreeMap::new(),
        writes_download: false,
        resolved: Vec::new(),
        spelled: Vec::new(),
        read_bits: Vec::new(),
        arguments: flows::GivenArguments::default(),
        changes: 0,
        origins: Vec::new(),
        sender: None,
    };
    let outcome = evaluate(program, language, &mut analysis);
    analysis.tell_settings();
    if outcome == Convergence::LimitReached {
        sink.unread.push(Unread { start: 0, end: src.len() });
    }
}

impl RuleAnalysis<'_, '_, '_> {
    fn resolve(&mut self, facts: &Evaluation<'_>, name: Name) -> Resolved {
        if let Some(Some(known)) = self.resolved.get(name.index()) {
            return *known;
        }
        // A name is longer than its parent, so the recursion ends; names have few members.
        let parent = facts.parent(name).map(|parent| self.resolve(facts, parent)).unwrap_or_default();
        let found = match facts.step(name) {
            NamePart::Global => Resolved { node: ROOT, star: 0 },
            NamePart::Any => Resolved::default(),
            NamePart::Module(module) => Resolved { node: self.module(facts.bytes(module)), star: 0 },
            NamePart::Member(member) => self.member(parent, facts.bytes(member)),
            NamePart::Computed => Resolved {
                node: self.names.step(parent.node, self.names.computed),
                star: self.names.step(parent.star, self.names.computed),
            },
            NamePart::Result => {
                let known = self.names.node(parent.node);
                let is_module = known.is_some_and(|node| node.module);
                let keeps = is_module || self.watched.of(parent.node).has(Groups::CLASS);
                Resolved { node: if keeps { parent.node } else { 0 }, star: 0 }
            }
        };
        let index = name.index();
        if self.resolved.len() <= index {
            self.resolved.resize(index + 64, None);
        }
        if let Some(slot) = self.resolved.get_mut(index) {
            *slot = Some(found);
        }
        found
    }

    /// Reports `import(…)`, which is also a call of a name.
    fn dynamic_import(&mut self, facts: &Evaluation<'_>, node: NodeId, first: FirstArg, how: Obfuscations) {
        if self.language != Language::JavaScript || !matches!(facts.program().node(node), Node::Import(_)) {
            return;
        }
        let span = Self::span(facts, node);
        let text = self.src.part(span.0..span.1);
        let Some(mut rest) = text.strip_prefix(b"import") else { return };
        loop {
            rest = rest.trim_ascii_start();
            let Some(comment) = rest.strip_prefix(b"/*") else { break };
            let end = memchr::memmem::find(comment, b"*/").unwrap_or(comment.len());
            rest = comment.part(end + 2..);
        }
        if matches!(rest.first(), Some(b'(' | b'.')) {
            let args = Args { first, constants: Vec::new() };
            let call = self.names.find("import");
            self.sink.call(self.names, call, Declaration::Elsewhere, &args, span, how);
        }
    }

    /// `from urllib import request` loads the module `urllib.request`, if there is one.
    fn import_member(&mut self, facts: &Evaluation<'_>, name: Name, node: NodeId) {
        let program = facts.program();
        let Node::Member { object, .. } = program.node(node) else { return };
        if self.language != Language::Python || !matches!(program.node(object), Node::Import(_)) {
            return;
        }
        let Node::Import(module) = program.node(object) else { return };
        let (Node::Text(module), Node::Member { name: member, .. }) =
            (program.node(module), program.node(node))
        else {
            return;
        };
        let path = [program.bytes(module), b"/", program.bytes(member)].concat();
        let path: Vec<u8> = path.iter().map(|byte| if *byte == b'.' { b'/' } else { *byte }).collect();
        if !path.starts_with(b"/") {
            let span = Self::span(facts, object);
            self.sink.module(Specifier::Known(&path), span, facts.how(name));
        }
    }

    /// Returns the node of a module. The modules of timers and workers have the same node as the globals.
    fn module(&self, name: &[u8]) -> NameNode {
        match self.names.module(name) {
            0 if self.language == Language::JavaScript && matches!(name, b"timers" | b"worker_threads") => {
                ROOT
            }
            module => module,
        }
    }

    fn member(&self, parent: Resolved, text: &[u8]) -> Resolved {
        let names = self.names;
        let word = names.words.get(text);
        let mut node = match parent.node {
            ROOT => names.global(word),
            node if word == 0 => names.step(node, 0),
            node => names.step(node, word),
        };
        let is_name = parent.node != 0 && parent.node != ROOT;
        if node == 0 && self.language == Language::Python {
            // Code in a text sees the modules of the surrounding code, and some modules import this one.
            let is_global = parent.node == ROOT;
            let is_module = if is_global { self.sink.depth > 0 } else { watched::is_reached(text) };
            node = if is_module { names.module(text) } else { 0 };
        }
        let chained = names.step(parent.star, word);
        let star = match chained {
            // A bare name is not a member.
            0 if parent.node == ROOT => 0,
            0 => names.star(word),
            chained => chained,
        };
        let star = if is_name && star == node { 0 } else { star };
        Resolved { node, star }
    }

    /// Returns the nodes of a written name: any member of the global object, in addition to the known ones.
    fn written(&mut self, facts: &Evaluation<'_>, name: Name) -> Resolved {
        let resolved = self.resolve(facts, name);
        let Some(parent) = facts.parent(name) else { return resolved };
        let is_computed = facts.step(name) == NamePart::Computed;
        if !is_computed && (resolved.node != 0 || facts.step(parent) != NamePart::Global) {
            return resolved;
        }
        let parent = self.resolve(facts, parent);
        let any = self.names.step(parent.node, 0);
        Resolved { node: if any == 0 { resolved.node } else { any }, ..resolved }
    }

    fn span(facts: &Evaluation<'_>, node: NodeId) -> (usize, usize) {
        facts.program().span(node)
    }

    fn groups(&self, resolved: Resolved) -> Groups {
        let node = self.watched.of(resolved.node);
        if node == Groups::default() { self.watched.of(resolved.star) } else { node }
    }

    /// Returns `true` if a value may be one of a group of names.
    fn is_in(&mut self, facts: &Evaluation<'_>, value: Value, group: Groups) -> bool {
        let names: Vec<Name> = facts.names(value).collect();
        names.into_iter().any(|name| {
            let resolved = self.resolve(facts, name);
            self.watched.of(resolved.node).has(group)
        })
    }
}

impl Analysis for RuleAnalysis<'_, '_, '_> {
    fn round(&mut self, round: Round) {
        self.is_report = round == Round::Report;
    }

    fn read(&mut self, facts: &Evaluation<'_>, name: Name, node: NodeId, used: NameUse) -> Taint {
        let marks = self.read_marks(facts, name);
        if !self.is_report {
            return marks;
        }
        self.import_member(facts, name, node);
        let resolved = self.resolve(facts, name);
        if resolved.node == 0 && resolved.star == 0 {
            return marks;
        }
        let groups = self.watched.of(resolved.node);
        // The result of a comparison does not carry its operands.
        if used == NameUse::Operand && !groups.has(Groups::ENVIRONMENT) {
            return marks;
        }
        let (span, how) = (Self::span(facts, node), facts.how(name));
        for node in [resolved.node, resolved.star] {
            self.sink.member(self.names, node, Declaration::Elsewhere, span, how);
        }
        if groups.has(Groups::ENVIRONMENT) {
            self.environment(used, span, how);
        }
        marks
    }

    fn knows(&mut self, facts: &Evaluation<'_>, name: Name) -> bool {
        let resolved = self.resolve(facts, name);
        resolved.node != 0 || resolved.star != 0 || self.has_effects(facts, name)
    }

    fn call(&mut self, call: &Call<'_, '_>) -> Taint {
        if self.is_report {
            let resolved = self.resolve(call.facts, call.name);
            if resolved.node != 0 || resolved.star != 0 {
                self.tell_call(call, resolved);
            }
        }
        self.flow(call)
    }

    fn changes(&self) -> usize {
        self.changes
    }

    fn passes(&mut self, facts: &Evaluation<'_>, name: Name) -> bool {
        self.passes_on(facts, name)
    }

    fn delivers(&self, marks: Taint) -> Taint {
        flows::delivered(marks)
    }

    fn part(&self, facts: &Evaluation<'_>, member: Constant, marks: Taint) -> Taint {
        flows::part(facts.bytes(member), marks)
    }

    fn kept(&self, facts: &Evaluation<'_>, member: Constant, marks: Taint) -> Taint {
        flows::kept(facts.bytes(member), marks)
    }

    fn joined(&mut self, facts: &Evaluation<'_>, node: NodeId) -> Taint {
        match (self.language, facts.program().node(node)) {
            (Language::Python, Node::Join(_)) => flows::joined(facts, node),
            (Language::JavaScript, Node::Mix(items)) => flows::names_of(facts, items),
            _ => Taint::NONE,
        }
    }

    fn reversed(&self) -> Taint {
        flows::reversed()
    }

    fn item(&self, facts: &Evaluation<'_>, object: Value, key: Value) -> Taint {
        flows::item(facts, object, key)
    }

    fn write(&mut self, facts: &Evaluation<'_>, name: Name, value: Option<Value>, node: NodeId) {
        let resolved = self.written(facts, name);
        let (span, how) = (Self::span(facts, node), facts.how(name));
        for node in [resolved.node, resolved.star].into_iter().filter(|node| *node != 0) {
            self.sink.assign(self.names, node, Declaration::Elsewhere, span, how);
        }
        if let Some(value) = value.filter(|_| self.language == Language::Python) {
            self.tell_written(facts, resolved, value, span, how);
        }
    }

    fn remove(&mut self, facts: &Evaluation<'_>, name: Name, node: NodeId) {
        // Deleting a module from the cache only loads its file again.
        if flows::path(facts, name).starts_with("require.cache") {
            return;
        }
        let resolved = self.written(facts, name);
        let (span, how) = (Self::span(facts, node), facts.how(name));
        for node in [resolved.node, resolved.star].into_iter().filter(|node| *node != 0) {
            self.sink.removed(self.names, node, Declaration::Elsewhere, span, how);
        }
    }

    fn import(&mut self, facts: &Evaluation<'_>, module: Option<Constant>, how: Obfuscations, node: NodeId) {
        let span = Self::span(facts, node);
        let Some(module) = module else {
            self.import_flow(facts, node);
            self.dynamic_import(facts, node, FirstArg::Other, how);
            return self.sink.module(Specifier::Computed, span, how);
        };
        let text = facts.bytes(module);
        match self.language {
            Language::JavaScript => {
                self.import_flow(facts, node);
                self.dynamic_import(facts, node, FirstArg::Literal, how);
                self.sink.module(Specifier::Known(text), span, how);
                // A relative file that code loads is code, whatever its extension.
                if text.starts_with(b".")
                    && let Ok(text) = core::str::from_utf8(text)
                {
                    if text.as_bytes().ends_with(b".json") {
                        self.read.insert(text.to_owned());
                    }
                    self.sink.named.push(text.to_owned());
                }
            }
            Language::Python if text.starts_with(b".") => {}
            Language::Python => {
                let path: Vec<u8> =
                    text.iter().map(|byte| if *byte == b'.' { b'/' } else { *byte }).collect();
                self.sink.module(Specifier::Known(&path), span, how);
            }
        }
    }

    fn build_name(&mut self, facts: &Evaluation<'_>, node: NodeId) {
        if self.language == Language::JavaScript {
            self.sink.shape("obf-name-building", Self::span(facts, node), Obfuscations::NONE);
        }
    }
}
