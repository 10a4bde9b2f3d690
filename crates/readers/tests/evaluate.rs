//! Programs that are built by hand, and random ones.

#![expect(clippy::indexing_slicing, reason = "a test fails by a panic")]

use plugward_readers::{
    Alternative, Analysis, Call, CallKind, Constant, Convergence, Evaluation, Language, List, Name, NamePart,
    NameUse, Node, NodeFlags, NodeId, Obfuscations, Program, ProgramBuilder, Round, ScopeKind, Taint, Value,
    evaluate,
};
use proptest::prelude::*;

/// Records facts as lines; `source()` returns tainted data.
#[derive(Default)]
struct Recorder {
    is_report: bool,
    lines: Vec<String>,
}

fn path(facts: &Evaluation<'_>, name: Name) -> String {
    let text = |constant: Constant| String::from_utf8_lossy(facts.bytes(constant)).into_owned();
    let own = match facts.step(name) {
        NamePart::Global => "global".to_owned(),
        NamePart::Any => "*".to_owned(),
        NamePart::Module(module) => format!("@{}", text(module)),
        NamePart::Member(member) => text(member),
        NamePart::Computed => "[]".to_owned(),
        NamePart::Result => "()".to_owned(),
    };
    match facts.parent(name) {
        None => own,
        Some(parent) if facts.step(parent) == NamePart::Global => own,
        Some(parent) => format!("{}.{own}", path(facts, parent)),
    }
}

fn shown(facts: &Evaluation<'_>, value: Value) -> String {
    let mut all: Vec<String> = facts
        .alternatives(value)
        .map(|one| match one {
            Alternative::Text(bytes, _) => format!("'{}'", String::from_utf8_lossy(bytes)),
            Alternative::Number(number) => number.to_string(),
            Alternative::Name(name) => path(facts, name),
            other => format!("{other:?}").split('(').next().unwrap_or_default().to_owned(),
        })
        .collect();
    all.extend(facts.is_open(value).then(|| "?".to_owned()));
    let marks = facts.taint(value).bits;
    all.join("|") + &(if marks == 0 { String::new() } else { format!("#{marks}") })
}

impl Recorder {
    fn line(&mut self, line: String) {
        if self.is_report {
            self.lines.push(line);
        }
    }
}

impl Analysis for Recorder {
    fn round(&mut self, round: Round) {
        self.is_report = round == Round::Report;
    }

    fn read(&mut self, facts: &Evaluation<'_>, name: Name, _: NodeId, used: NameUse) -> Taint {
        self.line(format!("read {} {used:?}", path(facts, name)));
        Taint::NONE
    }

    fn knows(&mut self, _: &Evaluation<'_>, _: Name) -> bool {
        true
    }

    fn call(&mut self, call: &Call<'_, '_>) -> Taint {
        let arguments: Vec<String> =
            call.arguments.iter().map(|argument| shown(call.facts, argument.value)).collect();
        let name = path(call.facts, call.name);
        let marks = Taint { bits: u32::from(name == "source") };
        self.line(format!("call {name}({})", arguments.join(", ")));
        marks
    }

    fn write(&mut self, facts: &Evaluation<'_>, name: Name, _: Option<Value>, _: NodeId) {
        self.line(format!("write {}", path(facts, name)));
    }

    fn remove(&mut self, facts: &Evaluation<'_>, name: Name, _: NodeId) {
        self.line(format!("remove {}", path(facts, name)));
    }

    fn import(&mut self, facts: &Evaluation<'_>, module: Option<Constant>, _: Obfuscations, _: NodeId) {
        let module = module.map(|module| String::from_utf8_lossy(facts.bytes(module)).into_owned());
        self.line(format!("import {}", module.unwrap_or_default()));
    }

    fn build_name(&mut self, _: &Evaluation<'_>, _: NodeId) {
        self.line("build".to_owned());
    }
}

/// A program builder with short calls.
struct Source(ProgramBuilder);

impl Source {
    fn new() -> Self {
        Self(ProgramBuilder::new())
    }

    fn push(&mut self, node: Node) -> NodeId {
        self.0.push(node, (0, 1), NodeFlags::NONE)
    }

    fn name(&mut self, name: &str) -> NodeId {
        let name = self.0.text(name.as_bytes());
        self.push(Node::Name(name))
    }

    fn text(&mut self, text: &str) -> NodeId {
        let text = self.0.text(text.as_bytes());
        self.push(Node::Text(text))
    }

    fn member(&mut self, object: NodeId, name: &str) -> NodeId {
        let name = self.0.text(name.as_bytes());
        self.push(Node::Member { object, name })
    }

    fn call(&mut self, callee: NodeId, arguments: &[NodeId]) -> NodeId {
        let arguments = self.0.list(arguments);
        self.push(Node::Call { callee, arguments, kind: CallKind::Plain })
    }

    fn all(&mut self, make: fn(List) -> Node, items: &[NodeId]) -> NodeId {
        let list = self.0.list(items);
        self.push(make(list))
    }

    /// Appends `let name = value`.
    fn declare(&mut self, name: &str, value: NodeId) {
        let text = self.0.text(name.as_bytes());
        self.0.declare(text);
        let target = self.name(name);
        self.0.bind(target, value, (0, 1));
    }

    /// Appends `function name(parameters) { return body }`.
    fn function(&mut self, parameters: &[&str], body: impl FnOnce(&mut Self) -> NodeId) -> NodeId {
        let function = self.0.open_function();
        let targets: Vec<NodeId> = parameters
            .iter()
            .map(|name| {
                let text = self.0.text(name.as_bytes());
                self.0.declare(text);
                self.name(name)
            })
            .collect();
        self.0.set_parameters(function, &targets);
        let value = body(self);
        self.push(Node::Return { function, value });
        self.0.close_function();
        self.push(Node::Function(function))
    }

    fn lines(self, language: Language) -> Vec<String> {
        let program = self.0.finish();
        let mut recorder = Recorder::default();
        assert_eq!(evaluate(&program, language, &mut recorder), Convergence::Converged);
        recorder.lines
    }
}

#[test]
fn names_go_through_variables_fields_and_functions() {
    let mut source = Source::new();
    let eval = source.name("eval");
    let key = source.text("run");
    let field = source.push(Node::Field { key, value: eval });
    let record = source.all(Node::Record, &[field]);
    source.declare("o", record);
    let same = source.function(&["x"], |source| source.name("x"));
    source.declare("same", same);
    let (same, o) = (source.name("same"), source.name("o"));
    let o = source.call(same, &[o]);
    let run = source.member(o, "run");
    let code = source.text("x");
    source.call(run, &[code]);
    let lines = source.lines(Language::JavaScript);
    assert_eq!(lines, ["read eval Value", "call eval('x')"]);
}

#[test]
fn what_one_call_gives_is_not_what_another_gets() {
    let mut source = Source::new();
    let same = source.function(&["x"], |source| source.name("x"));
    source.declare("same", same);
    for global in ["process", "other"] {
        let (same, argument) = (source.name("same"), source.name(global));
        let result = source.call(same, &[argument]);
        let member = source.member(result, "binding");
        source.call(member, &[]);
    }
    let lines = source.lines(Language::JavaScript);
    let calls: Vec<&String> = lines.iter().filter(|line| line.starts_with("call")).collect();
    assert_eq!(calls, ["call process.binding()", "call other.binding()"]);
}

#[test]
fn constants_are_folded_and_names_are_built_of_them() {
    let mut source = Source::new();
    let (one, two) = (source.text("ev"), source.text("al"));
    let joined = source.all(Node::Join, &[one, two]);
    let object = source.name("globalThis");
    let member = source.push(Node::Index { object, key: joined });
    let code = source.text("eA==");
    let atob = source.name("atob");
    let code = source.call(atob, &[code]);
    source.call(member, &[code]);
    let lines = source.lines(Language::JavaScript);
    assert!(lines.contains(&"build".to_owned()), "{lines:?}");
    assert!(lines.contains(&"call eval('x')".to_owned()), "{lines:?}");
}

#[test]
fn marks_reach_results_fields_and_callbacks() {
    let mut source = Source::new();
    let callee = source.name("source");
    let data = source.call(callee, &[]);
    source.declare("data", data);
    let data = source.name("data");
    let then = source.member(data, "then");
    let callback = source.function(&["x"], |source| {
        let (sink, x) = (source.name("sink"), source.name("x"));
        let text = source.text("a");
        let joined = source.all(Node::Join, &[text, x]);
        source.call(sink, &[joined])
    });
    source.call(then, &[callback]);
    let lines = source.lines(Language::JavaScript);
    assert!(lines.contains(&"call sink(Partial#1)".to_owned()), "{lines:?}");
}

#[test]
fn functions_in_the_reverse_order_of_their_calls_settle() {
    let mut source = Source::new();
    for at in (0..40).rev() {
        let value = if at == 0 { source.name("eval") } else { source.name(&format!("a{}", at - 1)) };
        let name = source.0.text(format!("a{at}").as_bytes());
        source.0.declare(name);
        let target = source.name(&format!("a{at}"));
        source.0.bind(target, value, (0, 1));
    }
    let last = source.name("a39");
    source.call(last, &[]);
    assert!(source.lines(Language::JavaScript).contains(&"call eval()".to_owned()));
}

/// Appends `let x = value; x('c')`.
fn call_of(source: &mut Source, value: NodeId) {
    source.declare("x", value);
    let (x, code) = (source.name("x"), source.text("c"));
    source.call(x, &[code]);
}

#[test]
fn a_value_that_depends_on_later_code_is_evaluated_again() {
    let items = || {
        let mut source = Source::new();
        let list = source.all(Node::List, &[]);
        source.declare("a", list);
        let a = source.name("a");
        let pop = source.member(a, "pop");
        let popped = source.call(pop, &[]);
        call_of(&mut source, popped);
        let a = source.name("a");
        let push = source.member(a, "push");
        let eval = source.name("eval");
        source.call(push, &[eval]);
        source
    };
    let fields = || {
        let mut source = Source::new();
        let record = source.all(Node::Record, &[]);
        source.declare("o", record);
        let (object, key) = (source.name("o"), source.text("run"));
        let member = source.push(Node::Index { object, key });
        call_of(&mut source, member);
        let object = source.name("o");
        let target = source.member(object, "run");
        let eval = source.name("eval");
        source.0.bind(target, eval, (0, 1));
        source
    };
    let results = || {
        let mut source = Source::new();
        let g = source.0.text(b"g");
        source.0.declare(g);
        let first = source.function(&[], |source| {
            let g = source.name("g");
            source.call(g, &[])
        });
        source.declare("f", first);
        let f = source.name("f");
        let result = source.call(f, &[]);
        call_of(&mut source, result);
        let later = source.function(&[], |source| source.name("eval"));
        source.declare("g", later);
        source
    };
    for source in [items(), fields(), results()] {
        let lines = source.lines(Language::JavaScript);
        assert!(lines.contains(&"call eval('c')".to_owned()), "{lines:?}");
    }
}

/// Builds a program of random expressions over earlier ones.
fn random(steps: &[(u8, u16, u16)]) -> Program {
    let mut source = Source::new();
    let first = source.name("eval");
    let mut nodes = vec![first];
    let mut functions = Vec::new();
    for (kind, one, two) in steps {
        let pick = |at: u16| nodes[usize::from(at).checked_rem(nodes.len()).unwrap_or(0)];
        let (one, two, name) = (pick(*one), pick(*two), format!("v{}", *one % 7));
        let node = match kind % 16 {
            0 => source.text(&name),
            1 => source.name(&name),
            2 => source.member(one, &name),
            3 => source.push(Node::Index { object: one, key: two }),
            4 | 5 => source.call(one, &[two]),
            6 => source.all(Node::Join, &[one, two]),
            7 => source.all(Node::Either, &[one, two]),
            8 => source.all(Node::List, &[one, two]),
            9 => {
                let spread = source.push(Node::Spread(one));
                source.all(Node::List, &[spread, spread, two])
            }
            10 => {
                let key = source.text("k");
                let field = source.push(Node::Field { key, value: one });
                let spread = source.push(Node::Spread(two));
                source.all(Node::Record, &[field, spread])
            }
            11 => source.push(Node::Element(one)),
            12 => {
                functions.push(source.0.open_function());
                source.text("f")
            }
            13 => match functions.pop() {
                Some(function) => {
                    source.push(Node::Return { function, value: one });
                    source.0.close_function();
                    source.push(Node::Function(function))
                }
                None => source.member(one, "push"),
            },
            14 => source.member(one, ["call", "apply", "bind", "then", "map"][usize::from(*kind / 16) % 5]),
            _ => {
                let text = source.0.text(name.as_bytes());
                source.0.declare_in_function(text);
                let target = source.name(&name);
                source.0.bind(target, one, (0, 1))
            }
        };
        nodes.push(node);
    }
    for _ in functions {
        source.0.close_function();
    }
    source.0.open_scope(ScopeKind::Block);
    source.0.finish()
}

proptest! {
    #[test]
    fn any_program_comes_to_an_end(steps in prop::collection::vec(any::<(u8, u16, u16)>(), 0..600)) {
        let program = random(&steps);
        for language in [Language::JavaScript, Language::Python] {
            let mut recorder = Recorder::default();
            let _outcome: Convergence = evaluate(&program, language, &mut recorder);
            // Each expression reports a bounded number of facts.
            prop_assert!(recorder.lines.len() <= program.len().saturating_mul(400).saturating_add(400));
        }
    }
}
