//! Invariants that hold for any bytes.

use plugward_readers::js::{HtmlComments, JsOptions, read};
use plugward_readers::{Node, Reading};
use proptest::prelude::*;

use crate::dump::operands;
use crate::{cases, disguise};

/// The most expressions per byte.
const NODES: usize = 4;

const PATHS: &[&str] = &["a.js", "a.mjs", "a.ts", "a.tsx"];

fn check(source: &[u8], options: JsOptions) -> Reading {
    let reading = read(source, options);
    let program = &reading.program;
    assert!(program.len() <= source.len() * NODES + 8, "{} of {}", program.len(), source.len());
    for id in program.ids() {
        let node = program.node(id);
        assert!(!matches!(node, Node::Name(_)), "names are resolved");
        // The parameters of a function are not operands, but they precede it too.
        for operand in operands(program, node) {
            assert!(operand < id, "operands come first: {node:?}");
        }
        if let Node::Record(items) = node {
            for item in program.items(items) {
                assert!(matches!(program.node(*item), Node::Field { .. } | Node::Spread(_)));
            }
        }
        let (start, end) = program.span(id);
        assert!(start <= end && end <= source.len(), "{start} {end}");
    }
    for piece in &reading.pieces {
        assert!(piece.start <= piece.end && piece.end as usize <= source.len());
    }
    assert!(reading.pieces.is_sorted_by_key(|piece| piece.start));
    reading
}

fn check_all(source: &[u8]) {
    for path in PATHS {
        let mut options = JsOptions::for_path(path);
        check(source, options);
        options.depth = 3;
        check(source, options);
        options.html_comments = HtmlComments::Comment;
        check(source, options);
    }
}

/// Pieces of source that cover most of the grammar.
const TOKENS: &[&str] = &[
    "a",
    "b",
    "eval",
    "'x'",
    "\"y\"",
    "`t`",
    "`t${",
    "}u${",
    "}v`",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "/",
    "/r/",
    "// c\n",
    "/* c */",
    "/*",
    "<",
    ">",
    "<p>",
    "</p>",
    "<p a={",
    "/>",
    "=",
    "=>",
    "=>{",
    "==",
    "+",
    "++",
    "-",
    "--",
    "-->",
    "<!--",
    "!",
    "?",
    "?.",
    "??=",
    "||",
    "&&=",
    "+=",
    ".",
    "...",
    ":",
    ";",
    ",",
    "@",
    "#x",
    "1",
    "function",
    "function f(",
    "class",
    "class A {",
    "extends",
    "implements",
    "async",
    "await",
    "yield",
    "let",
    "const",
    "var",
    "if (",
    "for (",
    "for (let a of",
    "while (",
    "of",
    "in",
    "new",
    "typeof",
    "delete",
    "return",
    "throw",
    "switch (a) {",
    "case",
    "default",
    "else",
    "do",
    "try {",
    "finally",
    "catch (e) {",
    "import",
    "import(",
    "export",
    "from 'm'",
    "as",
    "satisfies",
    "type",
    "interface",
    "declare",
    "enum",
    "namespace",
    "abstract",
    "static",
    "get",
    "this",
    "super",
    "\n",
    "\n",
    "ev\\u0061l",
    "'a\\x41'",
    "'a",
    "\\",
];

proptest! {
    #[test]
    fn any_bytes_are_read(source in prop::collection::vec(any::<u8>(), 0..200)) {
        check_all(&source);
    }

    #[test]
    fn any_tokens_are_read(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..60), blank in any::<bool>()) {
        check_all(tokens.join(if blank { " " } else { "" }).as_bytes());
    }
}

#[test]
fn any_prefix_is_read() {
    let mut sources: Vec<String> = cases().into_iter().map(|(_, source, _)| source).collect();
    sources.extend(disguise::texts().map(str::to_owned));
    for source in sources {
        for end in 0..=source.len() {
            check_all(&source.as_bytes()[..end]);
        }
    }
}

#[test]
fn hostile_texts_take_linear_room() {
    for part in [
        "(",
        "[",
        "{",
        "`${",
        "a?",
        "a?b:",
        "a=",
        "a=>",
        "x=a=>",
        "!",
        "new ",
        "f(",
        "a[",
        "{a:",
        "class{",
        "a<",
        "<a>",
        "<a b={",
        "@",
        "...",
        "function(",
        "async(",
        "for(let a;",
        "if(a)",
        "case ",
        "a:",
        "()=>{",
        "a?.",
        "}",
        ")",
        "`",
        "'",
        "/",
        "/*",
        "import ",
        "export ",
        "import{",
        "a,",
        "a+",
        "1;",
        "{}",
        "[],",
        "a=>a,",
        "a=1;",
        "let a;",
        "await ",
        "yield ",
        "((a)=>",
        "(a):b=>",
        "a<b,",
        "a<(b)>(",
        "var a,",
        "a as ",
        "a!",
        "enum A{",
        "type A=",
        "a`",
        "static{",
        "catch(a){",
        "else ",
        "({",
        "[a",
        "function*a(){yield ",
    ] {
        for length in [1_000_usize, 20_000] {
            let source = part.repeat(length / part.len());
            for path in ["a.js", "a.ts"] {
                let reading = check(source.as_bytes(), JsOptions::for_path(path));
                assert!(reading.stopped.is_none() || length > 1_000, "{part}");
            }
        }
    }
}

#[test]
fn nesting_beyond_the_limit_is_told_and_read_on() {
    let source = format!("{}eval('x'){}; f()", "(".repeat(5000), ")".repeat(5000));
    let reading = check(source.as_bytes(), JsOptions::for_path("a.js"));
    assert!(reading.stopped.is_some());
    let calls = reading.program.ids().filter(|id| matches!(reading.program.node(*id), Node::Call { .. }));
    assert_eq!(calls.count(), 2);
    let source = format!("{}a{}", "(".repeat(4000), ")".repeat(4000));
    assert_eq!(check(source.as_bytes(), JsOptions::for_path("a.js")).stopped, None);
}
