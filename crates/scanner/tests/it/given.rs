//! Arguments that reach a call by other ways than a plain list, and names that the file itself declares.

use plugward_scanner::Profile;

use crate::common::check;

/// A rule, code that has to meet it, and code of the same shape that is no danger.
type Pair = (&'static str, &'static str, &'static str);

/// Arguments in a list, handed on, spread, bound before the call.
const LISTED: &[Pair] = &[
    (
        "exec/function-constructor",
        "Reflect.apply(Function, null, ['x'])",
        "Reflect.apply(Widget, null, ['x'])",
    ),
    (
        "exec/string-timer",
        "Reflect.apply(setTimeout, null, ['go()', 1])",
        "Reflect.apply(setTimeout, null, [go, 1])",
    ),
    ("exec/string-timer", "setTimeout.apply(null, ['go()', 1])", "setTimeout.apply(null, [go, 1])"),
    ("exec/string-timer", "setTimeout(...['go()', 1])", "setTimeout(...[go, 1])"),
    ("exec/string-timer", "setTimeout.bind(null, 'go()', 1)()", "setTimeout.bind(null, go, 1)()"),
    (
        "native/process-binding",
        "Reflect.apply(process.binding, process, ['fs'])",
        "Reflect.apply(ui.binding, ui, ['fs'])",
    ),
    (
        "exec/child-process",
        "Reflect.apply(require, null, ['child_process'])",
        "Reflect.apply(require, null, ['./a.js'])",
    ),
    ("exec/child-process", "require.apply(null, ['child_process'])", "require.apply(null, ['./a.js'])"),
    ("exec/child-process", "require?.(...['child_process'])", "require?.(...['./a.js'])"),
    ("exec/child-process", "['./a.js', 'child_process'].map(require)", "['./a.js', './b.js'].map(require)"),
    ("load/computed", "names.forEach(require)", "names.forEach(show)"),
    ("exec/function-constructor", "['x'].map(Function)", "['x'].map(String)"),
];

/// One of several constants, the last of several, one at a place of a literal.
const CHOSEN: &[Pair] = &[
    ("exec/child-process", "require(a ? 'child_process' : './b.js')", "require(a ? './a.js' : './b.js')"),
    (
        "exec/child-process",
        "require(a ? './a' : b ? './b' : ('child_process'))",
        "require(a ? './a' : b ? './b' : ('./c'))",
    ),
    ("exec/child-process", "import(a || 'child_process')", "require(('./a') || './b')"),
    ("load/computed", "require(a || './b.js')", "require('./a.js' || './b.js')"),
    ("exec/eval", "globalThis[0, 'eval'](x)", "globalThis.o[0, 'eval'].x"),
    (
        "native/process-binding",
        "const [a, p] = [b, process]; p.binding('fs')",
        "const [p, a] = [b, process]; p.binding('fs')",
    ),
    (
        "native/process-binding",
        "const { a: [p] } = { a: [process] }; p.binding('fs')",
        "const { a: [p] } = { b: [process] }; p.binding('fs')",
    ),
    (
        "native/process-binding",
        "for (const [p] of [[process]]) p.binding('fs')",
        "for (const [p] of [[ui]]) p.binding('fs')",
    ),
    (
        "exec/worker-threads",
        "const [m] = ['worker_threads']; require(m)",
        "const [, m] = ['worker_threads', './a.js']; require(m)",
    ),
];

/// What a promise resolves to, what a class extends or holds.
const HANDED: &[Pair] = &[
    (
        "native/process-binding",
        "import('process').then(p => p.binding('fs'))",
        "import('./a.js').then(p => p.binding('fs'))",
    ),
    (
        "native/process-binding",
        "import('process').then(({ binding: b }) => b('fs'))",
        "import('process').then(({ title: b }) => b('fs'))",
    ),
    (
        "native/process-binding",
        "import('process').then(async function (p) { p.binding('fs') })",
        "import('process').then(async function (q) { p.binding('fs') })",
    ),
    (
        "exec/function-constructor",
        "class A extends Function {} new A('x')",
        "class A extends Map {} new A('x')",
    ),
    (
        "exec/worker-threads",
        "class A { static r = require; x = A.r('worker_threads') }",
        "class A { static r = load; x = A.r('worker_threads') }",
    ),
];

/// Names of the host that are a parameter, a variable or a function of the file.
const OWN: &[Pair] = &[
    (
        "exec/string-timer",
        "let setTimeout = () => 1; setTimeout = window.setTimeout; setTimeout('x')",
        "const setTimeout = (s) => s; setTimeout('x')",
    ),
    (
        "exec/string-timer",
        "setTimeout('x'); { function setTimeout(s) {} }",
        "function f(setTimeout) { setTimeout('x') }",
    ),
    (
        "native/process-binding",
        "(function (process) { process.binding('x') })(process)",
        "function f(process) { process.binding('x') }",
    ),
    (
        "native/process-binding",
        "function f() { const { process } = globalThis; process.binding('x') }",
        "try {} catch (process) { process.binding('x') }",
    ),
    ("exec/eval", "function f(eval) { eval('x') } eval('y')", "function f(eval) { eval('x') }"),
];

/// What runs text or writes to what all share by way of a class, an accessor, a literal or another file.
const SHARED: &[Pair] = &[
    ("exec/function-constructor", "class A extends Function {}", "class A extends Registry {}"),
    (
        "exec/function-constructor",
        "new (class extends Function {})('x')",
        "new (class extends Functions {})('x')",
    ),
    (
        "exec/function-constructor",
        "const A = class B extends globalThis.Function {}",
        "const A = class Function extends Base {}",
    ),
    (
        "global/prototype",
        "Object.prototype.__defineGetter__('x', f)",
        "ui.prototype.__defineGetter__('x', f)",
    ),
    (
        "global/prototype",
        "Object.prototype.__defineSetter__('x', f)",
        "Object.prototype.__lookupSetter__('x')",
    ),
    ("global/prototype", "({}).constructor.prototype.x = 1", "({}).constructor.name"),
    ("global/prototype", "(([])).constructor.prototype.x = 1", "[].constructor.from(x)"),
    (
        "native/process-binding",
        "export { binding as b } from 'process'",
        "export { title as binding } from 'process'",
    ),
    (
        "native/process-binding",
        "export { binding } from 'node:process'",
        "export { binding } from './process.js'",
    ),
];

/// Keys in quotes, and members that a pattern or a loop writes to.
const WRITTEN: &[Pair] = &[
    ("net/tls-off", "f({ a, \"rejectUnauthorized\" /* b */ : !1 })", "f(a ? \"rejectUnauthorized\" : !1)"),
    ("net/tls-off", "f({ 'reject\\x55nauthorized': false })", "f({ 'rejectUnauthorizedly': false })"),
    (
        "env/hijack",
        "spawn('a', { env: { 'LD_PRELOAD': './a.so' } })",
        "spawn('a', { env: { 'LD_PRELOADED': './a.so' } })",
    ),
    ("global/mutate", "[globalThis.x] = [1]", "[o.x] = [globalThis.x]"),
    ("global/mutate", "({ a: { b: globalThis.x = 1 } } = c)", "({ a: { b: o.x = globalThis.x } } = c)"),
    ("global/mutate", "for (globalThis.x of [1]);", "for (o.x of [globalThis.x]);"),
];

#[test]
fn what_is_given_otherwise_is_found_and_its_twin_is_no_danger() {
    let mut wrong = Vec::new();
    for (rule, bad, good) in [LISTED, CHOSEN, HANDED, OWN, SHARED, WRITTEN].concat() {
        let found = check(Profile::StrictPlugin, "a.cjs", bad);
        if !found.iter().any(|line| line.contains(rule)) {
            wrong.push(format!("missed {rule}: {bad}: {found:?}"));
        }
        let twin = check(Profile::StrictPlugin, "a.cjs", good);
        // A load of any module is a danger in this profile.
        let is_wrong =
            |line: &String| line.contains(" danger ") && !line.contains("load/") || line.contains(rule);
        if twin.iter().any(is_wrong) {
            wrong.push(format!("false: {good}: {twin:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_calls_itself_ends() {
    for text in [
        "Reflect.apply(Reflect.apply, null, [Reflect.apply, null, [eval]])",
        "let r = Reflect.construct; r(r, [r, [r]])",
        "let a = eval; a = a.apply; a.apply(a, [a, a])",
        "let m = require; m = [m].map(m); m.map(m)",
    ] {
        assert!(!check(Profile::StrictPlugin, "a.cjs", text).is_empty(), "{text}");
    }
}

#[test]
fn marks_that_begin_nothing_are_passed() {
    for text in ["{}\n/", "type A = {}\n/ a\neval('x')", "if (a) {}\n/[\neval('x')", "}\n/\n}\n/\neval('x')"]
    {
        for path in ["a.ts", "a.tsx", "a.mts", "a.js"] {
            let found = check(Profile::StrictPlugin, path, text);
            assert_eq!(found.is_empty(), !text.contains("eval"), "{path}: {text}: {found:?}");
        }
    }
}

#[test]
fn names_of_any_length_are_read_or_said_to_be_unread() {
    for length in [10, 65_000, 65_530, 65_534, 65_535, 65_536, 70_000] {
        let (name, zeros) = ("a".repeat(length), "0".repeat(length));
        for text in [
            format!("{name} = eval; {name}('x')"),
            format!("x = '{name}'; eval('x')"),
            format!("x = `{name}${{eval('x')}}{name}`"),
            format!("/{name}/.test(x), eval('x')"),
            format!("f(/{name}/)[eval]"),
            format!("\\u{{{zeros}65}}val('x')"),
            format!("globalThis['\\u{{{zeros}65}}val']('x')"),
        ] {
            let found = check(Profile::StrictPlugin, "a.cjs", &text);
            let seen = |line: &String| line.contains("danger exec/eval") || line.contains("scan/partial");
            assert!(found.iter().any(seen), "{length}: {} {found:?}", text.get(..20).unwrap_or(&text));
        }
    }
}
