//! Obfuscated calls of `eval`, and similar texts without such a call.

use plugward_readers::js::{HtmlComments, JsOptions, read};
use plugward_readers::{Node, NodeId, Program};

use crate::dump::operands;

/// Ways to write a call of `eval` with the text `x`.
const EVALS: &[&str] = &[
    "eval('x')",
    "eval ('x')",
    "eval\n('x')",
    "eval/* ' */('x')",
    "eval// \"\n('x')",
    "/**/eval('x')",
    "/* a */ eval('x')",
    "* /**/ eval('x')",
    "a\n* eval('x')",
    "var s = '/*'; eval('x'); var t = '*/'",
    "var s = \"//\"; eval('x')",
    "var r = /\\/*/; eval('x')",
    "var r = /[/*]/; eval('x')",
    "var r = /'/; eval('x')",
    "if (a) /'/.test(b); eval('x') //'",
    "x = a / b; eval('x'); c / d",
    "x = {} / 1; eval('x') / 2",
    "{} /'/.test(a); eval('x') //'",
    "function f() {} /'/.test(a); eval('x') //'",
    "x = function () {} / 1; eval('x') / 1",
    "i++ / 2; eval('x') / 3",
    "return\n/'/.test(a); eval('x') //'",
    "x = () => {}\n/'/.test(a); eval('x') //'",
    "`${eval('x')}`",
    "`${`${eval('x')}`}`",
    "`a${{ b: `}` }}`, eval('x')",
    "ev\\u0061l('x')",
    "\\u{65}val('x')",
    "(0, eval)('x')",
    "(eval)('x')",
    "((eval))('x')",
    "eval?.('x')",
    "globalThis.eval('x')",
    "globalThis['eval']('x')",
    "globalThis[`eval`]('x')",
    "globalThis['\\x65val']('x')",
    "globalThis?.['eval']?.('x')",
    "window.self['eval']('x')",
    "this.eval('x')",
    "const n = 'eval'; globalThis[n]('x')",
    "const e = eval; e('x')",
    "let e; e = eval; e('x')",
    "const { eval: e } = globalThis; e('x')",
    "const { ['eval']: e } = window; e('x')",
    "const o = { run: eval }; o.run('x')",
    "f(eval)",
    "[eval][0]('x')",
    "eval.call(null, 'x')",
    "eval.apply(null, ['x'])",
    "eval.bind(null)('x')",
    "Reflect.apply(eval, null, ['x'])",
    "eval`x`",
    "(a || eval)('x')",
    "(a ? b : eval)('x')",
    "(e = eval)('x')",
    "await (async () => eval('x'))()",
    "class A { static { eval('x') } }",
    "class A { b = eval('x') }",
    "class A { [eval('x')]() {} }",
    "const f = (a = eval('x')) => a",
    "({ a: eval('x') })",
    "({ [eval('x')]: 1 })",
    "for (const a of eval('x')) {}",
    "switch (a) { case eval('x'): }",
    "label: eval('x')",
    "a ? b : eval('x')",
    "x\u{a0}=\u{a0}eval\u{a0}('x')",
    "// a\u{2028}eval('x')",
    "// a\u{2029}eval('x')",
    "// a\reval('x')",
    "#!/usr/bin/env node\neval('x')",
    "\u{feff}eval('x')",
    "<!-- ` \neval('x')\n<!-- `",
    "x <!-- y; eval('x')",
    "\\u{00000000000000000000000000000000000000000000000000000000000000000000000000000000065}val('x')",
    "globalThis['\\u{00000000000000000000000000000000000000000000000000000000000000000000000000065}val']('x')",
    "a\n--> `\neval('x')\n--> `",
    "a\n/* b\n*/ --> `\neval('x')\n/*\n*/--> `",
    "`<!--`; a\n \t--> /*\neval('x')\n--> */",
    "'use strict';eval('x');var a=1;for(;;){b()}",
    "\"unclosed\neval('x')",
    "`unclosed ${a} eval('x')",
    "/* unclosed eval('x')",
    "let a = 1 //\\\neval('x')",
    "'a\\\nb'; eval('x')",
    "'\\'; eval(1)'; eval('x')",
    "var let_ = 1, of = 2; of / 3; eval('x') / 4",
    "new Map().get(eval('x'))",
    "export default eval('x')",
    "export { a as b }; eval('x')",
    "throw eval('x')",
    "do eval('x'); while (0)",
    "async function* g() { yield eval('x') }",
    "x.y = z => eval('x')",
    "delete eval('x')",
    "!eval('x')",
    "-eval('x')",
    "...eval('x')",
    "x?.1:eval('x')",
    "a = b\n++c\neval('x')",
    "0x1f.a; eval('x')",
    "1..a; eval('x')",
    "1.5.toFixed(); eval('x')",
    "({ ...eval('x') })",
    "x = { a, ...eval('x') }",
    "const { x } = { ...eval('x') }",
    "x = async function () {}/a; s = '/'; eval('x') //'",
    "export async function f() {} /'/.test(a); eval('x') //'",
    "x = <a b=<p>it's</p> c={eval('x')}/>",
];

/// The same constructs without a call of `eval`.
const BENIGN: &[&str] = &[
    "evaluate('x')",
    "// eval('x')",
    "/* eval('x') */",
    "/**\n * eval('x')\n */",
    "'eval(1)'",
    "\"eval(1)\"",
    "`eval(1)`",
    "`${a} eval(1)`",
    "/eval(1)/.test(a)",
    "x = /[/]eval(1)/",
    "a.evaluate('x')",
    "const evaluation = 1; evaluation",
    "({ eval: 1 })",
    "class A { eval(x) { return x } }",
    "const re = /'/; const s = 'eval(1)'",
    "\"\\\" eval(1)\"",
    "'a\\\n eval(1)'",
    "#!/usr/bin/env eval('x')\n1",
    "(0, run)('x')",
    "globalThis['run']('x')",
    "const { run: e } = tools; e('x')",
    "Reflect.apply(run, null, ['x'])",
    "run`x`",
    "typeof eval",
];

/// The expressions, variables and members that refer to `eval`.
struct Mentions {
    nodes: Vec<bool>,
    variables: Vec<bool>,
    members: Vec<Vec<u8>>,
}

impl Mentions {
    fn of(program: &Program) -> Self {
        let variables = vec![false; program.variables()];
        let mut known =
            Self { nodes: vec![false; program.len()], variables, members: vec![b"eval".to_vec()] };
        for _ in 0..4 {
            for id in program.ids() {
                let node = program.node(id);
                known.nodes[id.index()] = known.is_mention(program, node);
                match node {
                    Node::Bind { target, value } if known.nodes[value.index()] => known.bind(program, target),
                    Node::Bind { target, .. } if matches!(program.node(target), Node::Record(_)) => {
                        known.take_out(program, target);
                    }
                    Node::Field { key, value } if known.nodes[value.index()] => {
                        if let Node::Text(text) = program.node(key) {
                            known.members.push(program.bytes(text).to_vec());
                        }
                    }
                    _ => {}
                }
            }
        }
        known
    }

    fn is_mention(&self, program: &Program, node: Node) -> bool {
        match node {
            Node::Variable(variable) => self.variables[variable.index()],
            Node::Global(name) => program.bytes(name) == b"eval",
            Node::Member { object, name } => {
                self.nodes[object.index()] || self.members.iter().any(|known| known == program.bytes(name))
            }
            Node::Index { object, key } => {
                let text = matches!(program.node(key), Node::Text(text) if program.bytes(text) == b"eval");
                text || self.nodes[object.index()] || self.nodes[key.index()]
            }
            Node::Text(text) => program.bytes(text) == b"eval",
            Node::Field { value, .. } => self.nodes[value.index()],
            node => operands(program, node).iter().any(|operand| self.nodes[operand.index()]),
        }
    }

    fn bind(&mut self, program: &Program, target: NodeId) {
        if let Node::Variable(variable) = program.node(target) {
            self.variables[variable.index()] = true;
        }
    }

    /// Handles `{ eval: e } = …`.
    fn take_out(&mut self, program: &Program, target: NodeId) {
        for field in operands(program, program.node(target)) {
            if let Node::Field { key, value } = program.node(field)
                && matches!(program.node(key), Node::Text(text) if program.bytes(text) == b"eval")
            {
                self.bind(program, value);
            }
        }
    }
}

/// Returns `true` if the callee of a call, or an argument other than a text, refers to `eval`.
fn calls_eval(program: &Program) -> bool {
    let known = Mentions::of(program);
    program.ids().any(|id| match program.node(id) {
        Node::Call { callee, arguments, .. } => {
            let passed = |id: &NodeId| known.nodes[id.index()] && !matches!(program.node(*id), Node::Text(_));
            known.nodes[callee.index()] || program.items(arguments).iter().any(passed)
        }
        _ => false,
    })
}

/// Reads a source in every way that the scanner does, and looks for calls of `eval`.
fn finds_eval(source: &[u8], comments: HtmlComments) -> bool {
    let mut options = JsOptions::for_path("a.js");
    options.html_comments = comments;
    let reading = read(source, options);
    let ways = reading.has_html_comments && comments == HtmlComments::Code;
    calls_eval(&reading.program)
        || (ways && finds_eval(source, HtmlComments::Comment))
        || reading
            .unsure
            .iter()
            .any(|(start, end)| finds_eval(&source[*start as usize..*end as usize], comments))
}

#[test]
fn a_call_is_found_however_it_is_written() {
    let missed: Vec<_> =
        EVALS.iter().filter(|text| !finds_eval(text.as_bytes(), HtmlComments::Code)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn texts_and_comments_are_no_calls() {
    let found: Vec<_> =
        BENIGN.iter().filter(|text| finds_eval(text.as_bytes(), HtmlComments::Code)).collect();
    assert!(found.is_empty(), "{found:#?}");
}

pub(crate) fn texts() -> impl Iterator<Item = &'static str> {
    EVALS.iter().chain(BENIGN).copied()
}
