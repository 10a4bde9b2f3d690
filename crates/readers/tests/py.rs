//! Programs that the reader for Python builds.
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by a panic")]
#![expect(clippy::arithmetic_side_effects, reason = "an overflow in a test is a failed test")]

use std::collections::BTreeMap;

use plugward_readers::py::{PyOptions, read};
use plugward_readers::{CallKind, List, Node, NodeFlags, NodeId, Piece, PieceKind, Program, Text};
use proptest::prelude::*;
use proptest::{collection, sample};

/// A printer of programs as S-expressions, one for each expression that is not an operand.
struct Printer<'a> {
    source: &'a [u8],
    program: &'a Program,
    /// The variables of each name, in the order of their first use.
    ranks: BTreeMap<Vec<u8>, Vec<usize>>,
}

impl Printer<'_> {
    fn list(&mut self, name: &str, items: List) -> String {
        let items: Vec<NodeId> = self.program.items(items).to_vec();
        let items: Vec<String> = items.into_iter().map(|item| self.node(item)).collect();
        if items.is_empty() { format!("({name})") } else { format!("({name} {})", items.join(" ")) }
    }

    fn name(&self, text: Text) -> String {
        self.program.bytes(text).escape_ascii().to_string()
    }

    fn variable(&mut self, id: NodeId, variable: usize) -> String {
        let (start, end) = self.program.span(id);
        let name = self.source[start..end].to_vec();
        let shown = name.escape_ascii().to_string();
        let ranks = self.ranks.entry(name).or_default();
        let rank = ranks.iter().position(|known| *known == variable).unwrap_or_else(|| {
            ranks.push(variable);
            ranks.len() - 1
        });
        format!("{shown}.{rank}")
    }

    fn node(&mut self, id: NodeId) -> String {
        let text = match self.program.node(id) {
            Node::Unknown => "_".into(),
            Node::Text(text) => format!("'{}'", self.name(text)),
            Node::Number(number) => number.to_string(),
            Node::Name(_) => "unresolved".into(),
            Node::Variable(variable) => self.variable(id, variable.index()),
            Node::Global(name) => self.name(name),
            Node::Member { object, name } => format!("{}.{}", self.node(object), self.name(name)),
            Node::Index { object, key } => format!("(index {} {})", self.node(object), self.node(key)),
            Node::Slice { object, parts } => {
                let object = self.node(object);
                self.list(&format!("slice {object}"), parts)
            }
            Node::Call { callee, arguments, kind } => {
                let callee = self.node(callee);
                let kind = if kind == CallKind::Decorator { "decorate" } else { "call" };
                self.list(&format!("{kind} {callee}"), arguments)
            }
            Node::Join(items) => self.list("join", items),
            Node::Format { template, value } => {
                format!("(format {} {})", self.node(template), self.node(value))
            }
            Node::Either(items) => self.list("either", items),
            Node::Last(items) => self.list("last", items),
            Node::Mix(items) => self.list("mix", items),
            Node::List(items) => self.list("list", items),
            Node::Record(items) => self.list("record", items),
            Node::Field { key, value } => format!("{}: {}", self.node(key), self.node(value)),
            Node::Spread(value) => format!("*{}", self.node(value)),
            Node::Element(value) => format!("(element {})", self.node(value)),
            Node::Function(function) => {
                let parameters = self.program.function(function).expect("a function").parameters;
                self.list(&format!("function {}", function.index()), parameters)
            }
            Node::Bind { target, value } => format!("(bind {} {})", self.node(target), self.node(value)),
            Node::Delete(value) => format!("(delete {})", self.node(value)),
            Node::Return { function, value } => format!("(return {} {})", function.index(), self.node(value)),
            Node::Import(name) => format!("(import {})", self.node(name)),
            Node::Module(name) => format!("(module {})", self.name(name)),
        };
        let flags = self.program.flags(id);
        let escaped = if flags.has(NodeFlags::ESCAPED) { "~" } else { "" };
        let statement = if flags.has(NodeFlags::STATEMENT) { ";" } else { "" };
        format!("{escaped}{text}{statement}")
    }
}

/// Returns the operands of an expression.
fn operands(program: &Program, node: Node) -> Vec<NodeId> {
    let items = |list: List| program.items(list).to_vec();
    let all = |one: NodeId, list: List| [vec![one], items(list)].concat();
    match node {
        Node::Member { object, .. } => vec![object],
        Node::Index { object, key } => vec![object, key],
        Node::Slice { object, parts } => all(object, parts),
        Node::Call { callee, arguments, .. } => all(callee, arguments),
        Node::Join(list)
        | Node::Either(list)
        | Node::Last(list)
        | Node::Mix(list)
        | Node::List(list)
        | Node::Record(list) => items(list),
        Node::Format { template, value } => vec![template, value],
        Node::Field { key, value } => vec![key, value],
        Node::Bind { target, value } => vec![target, value],
        Node::Spread(value)
        | Node::Element(value)
        | Node::Delete(value)
        | Node::Import(value)
        | Node::Return { value, .. } => vec![value],
        Node::Function(function) => items(program.function(function).expect("a function").parameters),
        _ => Vec::new(),
    }
}

/// Prints the expressions of a program that are not operands.
fn print(source: &[u8]) -> Vec<String> {
    let reading = read(source, PyOptions::default());
    let program = &reading.program;
    let used: Vec<NodeId> = program.ids().flat_map(|id| operands(program, program.node(id))).collect();
    let mut printer = Printer { source, program, ranks: BTreeMap::new() };
    let tops = program.ids().filter(|id| !used.contains(id));
    tops.map(|id| printer.node(id)).collect()
}

/// The cases: a source, then a line for each expression that is not an operand.
const CASES: &str = r#"
f(1, 'a')
=> (call f 1 'a');

a.b.c(d)[0]()
=> (call (index (call a.b.c d) 0));

f(*a, b, k=1, **c)
=> (call f *a b 'k': 1 *c);

f(k=)
=> (call f 'k': _);

f(a=1)(b)
=> (call (call f 'a': 1) b);

x[1][k]
=> (index (index x 1) k);

x[:], x[1:], x[:2], x[::-1], x[1:2:3]
=> 1
=> (list (slice x _ _ _) (slice x 1 _ _) (slice x _ 2 _) (slice x _ _ -1) (slice x 1 2 3));

x[a, 1:2], x[a,]
=> (list (index x (list a (mix 1 2 _))) (index x (list a)));

x[]
=> (index x _);

''
=> '';

'a' 'b' + c + "d"
=> (join (join 'a' 'b') c 'd');

'a' + b - c + d
=> (join (mix (join 'a' b) c) d);

'%s' % (a, b) % c
=> (format (format '%s' (list a b)) c);

a * b + c / d
=> (join (mix a b) (mix c d));

a < b | c == d
=> (mix a b c d);

a if b else c if d else e
=> b
=> d
=> (either a c e);

a or b and not c
=> (either a b (mix c));

-1, - 1, --1, +1, ~x, -x ** 2
=> 1
=> 1
=> (list -1 -1 (mix 1) (mix 1) (mix x) (mix (mix x 2)));

0x1F, 0o17, 0b11, 1_000, 99999999999, 1.5, 2j, 1e3
=> (list 31 15 3 1000 _ _ _ _);

True, None, ..., ()
=> (list True None _ (list));

[a, *b], {a, b}, (a,), (a)
=> (list (list a *b) (list a b) (list a) a);

{}, {'a': 1, **b, c: d}, {a: }
=> (list (record) (record 'a': 1 *b c: d) (record a: _));

a @ b, a // b, a << b, a is not b, a not in b
=> (list (mix a b) (mix a b) (mix a b) (mix a (mix b)) (mix a b));

x = y
=> (bind x.0 y)

x = y = z
=> (bind x.0 z)
=> (bind y.0 z)

x, (y, *z) = w
=> (bind (list x.0 (list y.0 *z.0)) w)

x.y = x[0] = 1
=> (bind x.y 1)
=> (bind (index x 0) 1)

x += 'a'
=> (bind x.0 (join x.0 'a'))

x.y += 'a'
=> (bind x.y (join x.y 'a'))

x %= y; x //= y
=> (bind x.0 (format x.0 y))
=> (bind x.0 (mix x.0 y))

x: int = f()
=> int
=> (bind x.0 (call f))

x: g()
=> x.0
=> (call g)

(x := f(y)) + x
=> (join (bind x.0 (call f y)) x.0);

if (n := f()) and n: g(n)
=> (either (bind n.0 (call f)) n.0)
=> (call g n.0);

del x, y.z, w[0]
=> (delete x)
=> (delete y.z)
=> (delete (index w 0))

f(x); g(y)
=> (call f x);
=> (call g y);

import os
=> (bind os.0 (import 'os'))

import os.path, sys as s, a . b
=> (import 'os.path')
=> (bind os.0 (module os))
=> (bind s.0 (import 'sys'))
=> (import 'a.b')
=> (bind a.0 (module a))

from os import path as p, system
=> (bind p.0 (import 'os').path)
=> (bind system.0 (import 'os').system)

from . import a; from .b import (c, d as e,)
=> (bind a.0 (import '.').a)
=> (bind c.0 (import '.b').c)
=> (bind e.0 (import '.b').d)

from m import *
=> (import 'm').*;

from x y
=> x;
=> y;

def f(a, b=g(), *c, d: h() = 1, **e) -> i(): return a + b
=> (call h)
=> (call i)
=> (return 0 (join a.0 b.0))
=> (bind f.0 (function 0 a.0 (bind b.0 (call g)) *c.0 (bind d.0 1) *e.0))

def f(a, /, b, *, c): pass
=> (bind f.0 (function 0 a.0 b.0 c.0))

def f(): return
=> (bind f.0 (function 0))

def f(): yield a; yield from b; x = yield c
=> (return 0 a)
=> (return 0 b)
=> (return 0 c)
=> (bind x.0 _)
=> (bind f.0 (function 0))

async def f(): await g(); return [h async for h in i]
=> (call g);
=> (bind h.0 (element i))
=> (return 0 (list h.0))
=> (bind f.0 (function 0))

def f():
  def g(): return x
  x = 1
x = 2
=> (return 1 x.0)
=> (bind g.0 (function 1))
=> (bind x.0 1)
=> (bind f.0 (function 0))
=> (bind x.1 2)

def f():
  global x
  x = 1
x = 2
=> (bind x.0 1)
=> (bind f.0 (function 0))
=> (bind x.0 2)

def f(x):
  def g():
    nonlocal x
    x = 1
  return g
=> (bind x.0 1)
=> (bind g.0 (function 1))
=> (return 0 g.0)
=> (bind f.0 (function 0 x.0))

lambda: 0
=> (return 0 0)
=> (function 0);

f(lambda a, *b, c=d: a(c), e)
=> (return 0 (call a.0 c.0))
=> (call f (function 0 a.0 *b.0 (bind c.0 d)) e);

lambda x: lambda y: x + y
=> (return 1 (join x.0 y.0))
=> (return 0 (function 1 y.0))
=> (function 0 x.0);

@a
@b.c(1)
def f(): pass
=> (bind f.0 (function 0))
=> (bind f.0 (decorate a (decorate (call b.c 1) (function 0))))

@a
class B: pass
=> (bind B.0 (record))
=> (bind B.0 (decorate a (record)))

@a
x = 1
=> a
=> (bind x.0 1)

class A: pass
=> (bind A.0 (record))

class A(B, *C, k=D):
  x = 1
  def m(self): return self.x + x
=> 'k': D
=> (bind x.0 1)
=> (return 0 (join self.0.x x))
=> (bind m.0 (function 0 self.0))
=> (bind A.0 (record *B *C 'x': 1 'm': (function 0 self.0)))

class A:
  if a:
    x: int = 1
    y: int
  z, w = 1, 2
=> a
=> int
=> (bind x.0 1)
=> y.0
=> int
=> (bind (list z.0 w.0) (list 1 2))
=> (bind A.0 (record 'x': 1))

[f(x) for x in y if x if z]
=> (bind x.0 (element y))
=> x.0
=> z
=> (list (call f x.0));

{k: v for k, v in x.items()}
=> (bind (list k.0 v.0) (element (call x.items)))
=> (record k.0: v.0);

{x for x in y}, f(x for x in y), (x for x in y)
=> (bind x.0 (element y))
=> (bind x.1 (element y))
=> (bind x.2 (element y))
=> (list (list x.0) (call f (list x.1)) (list x.2));

[x for x in x]
=> (bind x.0 (element x))
=> (list x.0);

[x + y for x in a for y in x]
=> (bind x.0 (element a))
=> (bind y.0 (element x.0))
=> (list (join x.0 y.0));

[(w := x) for x in y]; w
=> (bind x.0 (element y))
=> (list (bind w.0 x.0));
=> w.0;

[[y for y in x] for x in z]
=> (bind y.0 (element x.0))
=> (bind x.0 (element z))
=> (list (list y.0));

class A:
  a = b
  c = [a for _ in a]
  def m(): a
=> (bind a.0 b)
=> (bind _.0 (element a.0))
=> (bind c.0 (list a.0))
=> a;
=> (bind m.0 (function 0))
=> (bind A.0 (record 'a': b 'c': (list a.0) 'm': (function 0)))

for x in y: f(x)
=> (bind x.0 (element y))
=> (call f x.0);

for x, *y in z:
  f(y)
else: g()
=> (bind (list x.0 *y.0) (element z))
=> (call f y.0);
=> (call g);

while f(x): g()
=> (call f x)
=> (call g);

with f() as x, g() as (y, z): h()
=> (bind x.0 (call f))
=> (bind (list y.0 z.0) (call g))
=> (call h);

with (f() as x, g()): h()
=> (list (bind x.0 (call f)) (call g))
=> (call h);

try: f()
except (A, B) as e: g(e)
except* C: h()
finally: i()
=> (call f);
=> (list A B)
=> (bind e.0 _)
=> (delete e.0)
=> (call g e.0);
=> *C
=> (call h);
=> (call i);

assert f(), g()
=> (call f)
=> (call g)

raise f() from g()
=> (call f)
=> (call g);

match x:
  case [a, *b] if f(a): g(b)
  case {'k': c, **d} | E.F: pass
  case G(h, i=j) as k: pass
=> (bind a.0 (either x (element x)))
=> (bind b.0 (either x (element x)))
=> (mix (list a.0 *b.0) (call f a.0))
=> (call g b.0);
=> (bind c.0 (either x (element x)))
=> (bind d.0 (either x (element x)))
=> (bind h.0 (either x (element x)))
=> (bind j.0 (either x (element x)))
=> (bind k.0 (either x (element x)))

match (x, y):
  case (1): f()
=> (either (list x y) (element (list x y)))
=> 1
=> (call f);

match(x); match = 1; case(y)
=> (call match.0 x);
=> (bind match.0 1)
=> (call case y);

case[f(x)]: int = 1
=> (bind x.0 _)
=> (list (call f x.0))
=> (bind int.0 1)

0..__a__, 1.5.b.c, 1e5.__d__, 0x_1f.e
=> (list _.__a__ _.b.c _.__d__ 31.e);

type X[T] = list[T]
=> (bind (index X T) (index list T))

def f[T: g()](x: T) -> h(x): pass
=> (list T (call g))
=> T
=> (call h x)
=> (bind f.0 (function 0 x.0))

f'a{b}c'
=> (join 'a' b 'c');

f'{a!r:>{w}}', f'{a=}', f'{{}}', f"{f'{x}'}"
=> w
=> (list (join a) (join a) '{}' (join (join x)));

f'{a, b}' 'c' f"""{d}"""
=> (join (list a b) 'c' d);

rb'\x41', b'\xff\101', 'a\
b', '\u0061\N{DIGIT ONE}\n'
=> (list '\\x41' ~'\xffA' ~'ab' ~'a1\n');

eval('\x65xec')
=> (call eval ~'exec');

ｅｖａｌ(ｘ.ｙ); import ｏｓ
=> (call ~eval ~~x.y);
=> (bind ~\xef\xbd\x8f\xef\xbd\x93.0 (import ~'os'))

é = 1; é
=> (bind \xc3\xa9.0 1)
=> \xc3\xa9.0;

print x, f(y)
=> print;
=> (list x (call f y));

print >>f, g()
=> (list (mix print f) (call g));

exec "code" in ns
=> (call exec 'code' ns);

exec f(x); exec(y)
=> (call exec (call f x));
=> (call exec y);

`f(x)`
=> (call f x);

>>> f(x)
1
=> (call f x);
=> 1;

f(a b, c d) e f(g)
=> (call f a b c d);
=> e;
=> (call f g);

f(
def g(x):
  h(x)
i()
=> (call f);
=> (call h x.0);
=> (bind g.0 (function 0 x.0))
=> (call i);

x = [1,
import os
f()
=> (bind x.0 (list 1))
=> (bind os.0 (import 'os'))
=> (call f);

f(a for b c)
=> b
=> c
=> (call f (list a));

[for x in f(y)]
=> (bind x.0 (element (call f y)))
=> (list);

f)x(]y[}
=> f;
=> (call x);
=> (index y _);

f(g(
=> (call f (call g));

lambda
=> (function 0);

def
=> (function 0)

class
=> (record)

import

if else elif f(x) :
=> (call f x)

'(a for
=> (call '(a for' (list a));

'a' f(x) "b
=> 'a';
=> (call f x);
=> 'b';
=> b;

"""a f(x)
=> 'a f(x)';

f'{x'
g()
=> (join (list x '' (call g)));

f"{f(x
=> (join (call f x));

x = = f(y) =
=> x
=> (call f y)

a..b; a.; .c; a.1
=> a.b;
=> a;
=> c;
=> a;
=> _;

$f(x) ? g(y)
=> (call f x);
=> (call g y);

x if f(y)
=> (mix x (call f y));

not
"#;

#[test]
fn programs_of_the_cases() {
    let mut wrong = String::new();
    for case in CASES.trim().split("\n\n") {
        let (source, wanted): (Vec<&str>, Vec<&str>) = case.lines().partition(|line| !line.starts_with("=>"));
        let source = source.join("\n");
        let found: Vec<String> = print(source.as_bytes()).iter().map(|line| format!("=> {line}")).collect();
        if found != wanted {
            wrong.push_str(&format!("{source}\n{}\n\n", found.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "these cases are read in another way now:\n\n{wrong}");
}

/// Checks the invariants that hold for any bytes.
fn check(source: &[u8]) {
    let reading = read(source, PyOptions::default());
    let program = &reading.program;
    for id in program.ids() {
        let node = program.node(id);
        assert!(!matches!(node, Node::Name(_)), "an unresolved name");
        assert!(operands(program, node).iter().all(|operand| *operand < id), "an operand behind {node:?}");
        let (start, end) = program.span(id);
        assert!(start <= end && end <= source.len(), "{node:?} at {start}..{end}");
    }
    assert!(program.len() <= 3 * source.len() + 4, "{} expressions", program.len());
    assert!(reading.pieces.is_sorted_by_key(|piece| piece.start), "pieces are in order");
    assert!(reading.pieces.iter().all(|piece| piece.start < piece.end && piece.end as usize <= source.len()));
    assert!(reading.unsure.iter().all(|(start, end)| start <= end && *end as usize <= source.len()));
    assert!(reading.stopped.is_none_or(|at| at < source.len()));
}

fn sources() -> String {
    CASES.lines().filter(|line| !line.starts_with("=>")).collect::<Vec<_>>().join("\n")
}

/// Pieces of Python that the property test concatenates.
const TOKENS: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"",
    "'''",
    "f'",
    "f\"\"\"",
    "b'",
    "r'",
    "\\",
    "\n",
    "\r\n",
    "\n    ",
    "\n\t",
    "#",
    ":",
    ":=",
    "=",
    "==",
    ",",
    ";",
    ".",
    "...",
    "!",
    "*",
    "**",
    "**=",
    "->",
    "@",
    "%",
    "-",
    "+",
    "+=",
    "~",
    "`",
    "$",
    "0x1f",
    "1.5e-3j",
    "\u{e9}",
    "\u{ff45}",
    "\0",
    " x ",
    " eval ",
    "\\N{SPACE}",
    "\\x41",
    " and ",
    " as ",
    " async ",
    " await ",
    " class ",
    " def ",
    " del ",
    " else ",
    " except ",
    " exec ",
    " for ",
    " from ",
    " global ",
    " if ",
    " import ",
    " in ",
    " is ",
    " lambda ",
    " match ",
    " case ",
    " type ",
    " not ",
    " or ",
    " pass ",
    " raise ",
    " return ",
    " try ",
    " while ",
    " with ",
    " yield ",
];

proptest! {
    #[test]
    fn any_bytes(source in collection::vec(any::<u8>(), 0..400)) {
        check(&source);
    }

    #[test]
    fn any_tokens(tokens in collection::vec(sample::select(TOKENS), 0..120)) {
        check(tokens.concat().as_bytes());
    }

    #[test]
    fn any_part_of_the_cases(start in 0_usize..8000, len in 0_usize..2000) {
        let sources = sources();
        let start = start.min(sources.len());
        check(&sources.as_bytes()[start..(start + len).min(sources.len())]);
    }
}

#[test]
fn every_prefix_of_the_cases() {
    for case in sources().as_bytes().chunks(300) {
        for end in 0..case.len() {
            check(&case[..end]);
        }
    }
}

#[test]
fn long_rows_of_one_thing() {
    for part in
        ["(", "]eval(\\'", "'''", "'a\n", "f'{", "lambda:", "lambda x=", "a if b else ", "a or ", "-", "a;"]
    {
        check(part.repeat(20_000).as_bytes());
    }
}

#[test]
fn nesting_beyond_the_limit() {
    let mut options = PyOptions::default();
    options.nesting = 8;
    for part in ["(", "[x for x in ", "lambda: ", "f'{", "a if "] {
        let source = format!("f(1)\n{}g(2)\nh(3)", part.repeat(9));
        let reading = read(source.as_bytes(), options);
        assert!(reading.stopped.is_some_and(|at| at > 10 && at < source.len()), "{part}");
        let third = reading.program.ids().nth(2).map(|id| reading.program.node(id));
        assert!(matches!(third, Some(Node::Call { .. })), "{part}: {third:?}");
    }
    assert_eq!(read(b"((((((((f(1)", options).stopped, Some(9));
    assert_eq!(read(b"(((((((f(1)", options).stopped, None);
}

#[test]
fn code_without_texts() {
    for (source, code) in [
        ("x = 'a' # c\ny", "x=''\ny\n"),
        ("def  f ( a ) :\n\treturn   1", "def f(a):\nreturn 1\n"),
        ("f'a{b!r:>{c}}d' \"e\"", "'{b!r{c}}'''\n"),
        ("(\n1,\n2)\\\n3", "(1,2)3\n"),
        ("\u{ff45}val(x)", "eval(x)\n"),
        ("'a\nb", "''a\nb\n"),
    ] {
        let reading = read(source.as_bytes(), PyOptions::default());
        assert_eq!(String::from_utf8_lossy(&reading.code.bytes), code, "{source:?}");
    }
}

#[test]
fn pieces_of_text() {
    let source = b"x = r'a' '\\x41' # c\nf'b{y}c' ''\n'''d";
    let reading = read(source, PyOptions::default());
    let piece = |piece: &Piece| {
        let text = &source[piece.start as usize..piece.end as usize];
        (piece.kind, String::from_utf8_lossy(text).into_owned(), piece.is_escaped)
    };
    let pieces: Vec<_> = reading.pieces.iter().map(piece).collect();
    let (comment, string) = (PieceKind::Comment, PieceKind::String);
    let wanted = [
        (string, "r'a'", false),
        (string, "'\\x41'", true),
        (comment, "# c", false),
        (string, "f'b", false),
        (string, "c'", false),
        (string, "'''d", false),
    ];
    assert_eq!(pieces, wanted.map(|(kind, text, escaped)| (kind, text.to_owned(), escaped)));
    assert_eq!(reading.unsure, [(35, 36)]);
}
