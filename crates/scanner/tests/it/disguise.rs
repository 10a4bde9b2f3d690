//! Disguises in the lexer, each next to a benign twin.

use plugward_scanner::Profile;
use plugward_types::Severity;

use crate::common::{check, report, worst};

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

#[test]
fn every_spelling_of_a_call_is_found() {
    let mut wrong = Vec::new();
    for text in EVALS {
        let found = check(Profile::StrictPlugin, "a.js", text);
        if !(found.iter().any(|line| line.contains("danger exec/eval"))) {
            wrong.push(format!("{text}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The same forms without a payload.
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

#[test]
fn a_benign_twin_is_below_danger() {
    let mut wrong = Vec::new();
    for text in BENIGN {
        let found = check(Profile::StrictPlugin, "a.js", text);
        if found.iter().any(|line| line.contains("danger")) {
            wrong.push(format!("{text}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn modules_are_seen_in_every_form() {
    for text in [
        "import 'child_process'",
        "import\"child_process\"",
        "import a from'child_process'",
        "import * as a from 'node:child_process'",
        "import a, { b } from 'child_process'",
        "import { 'exec' as b } from 'child_process'",
        "import a from 'child_process' with { type: 'x' }",
        "import {\n  exec,\n  spawn,\n} from 'child_process'",
        "export * from 'child_process'",
        "export { exec } from 'child_process'",
        "export * as c from 'child_process'",
        "import('child_process')",
        "import ( /* a */ 'child_process' )",
        "import(`child_process`)",
        "require('child_process')",
        "require(\n'child_process'\n)",
        "require('child\\x5fprocess')",
        "module.require('child_process')",
        "module['require']('child_process')",
        "const r = require; r('child_process')",
        "(0, require)('child_process')",
        "require.call(null, 'child_process')",
        "process.mainModule.require('child_process')",
        "process.getBuiltinModule('child_process')",
        "import { createRequire as c } from 'module'; c(import.meta.url)('child_process')",
        "const name = 'child_process'; require(name)",
        "globalThis.require('child_process')",
        "import.defer('child_process')",
    ] {
        let found = check(Profile::StrictPlugin, "a.mjs", text);
        assert!(found.iter().any(|line| line.contains("danger exec/child-process")), "{text}: {found:?}");
    }
    for text in [
        "import a = require('child_process')",
        "import type { A } from './a.js'; import b from 'child_process'",
        "export import a = require('child_process')",
    ] {
        let found = check(Profile::StrictPlugin, "a.ts", text);
        assert!(found.iter().any(|line| line.contains("danger exec/child-process")), "{text}: {found:?}");
    }
}

#[test]
fn types_are_erased_and_values_are_not() {
    for text in [
        "let a: import('child_process').ChildProcess;",
        "type A = typeof import('child_process');",
        "type A = { a: import('child_process').B; b: string };",
        "interface A { a: import('child_process').B }",
        "function f(a: import('child_process').B): import('child_process').C { return a }",
        "const f = (a: import('child_process').B): import('child_process').C => a;",
        "class A { b: import('child_process').B; c?: import('child_process').C; d!: string }",
        "const a = b as import('child_process').B;",
        "const a = b satisfies import('child_process').B;",
        "const a = new Map<string, import('child_process').B>();",
        "const a = <import('child_process').B>b;",
        "declare const a: import('child_process').B;",
        "declare function f(a: import('child_process').B): void;",
        "import type { A } from 'child_process';",
        "import type A from 'child_process';",
        "import type * as A from 'child_process';",
        "export type { A } from 'child_process';",
        "abstract class A<T extends import('child_process').B> implements C<import('child_process').D> {}",
        "let f: (a: import('child_process').B) => void;",
        "try {} catch (e: import('child_process').B) {}",
        "type A<T> = T extends import('child_process').B ? 1 : import('child_process').C;",
    ] {
        assert!(
            worst("a.ts", text) < Some(Severity::Danger),
            "{text}: {:?}",
            check(Profile::StrictPlugin, "a.ts", text)
        );
    }
    for text in [
        "const a = b ? c : import('child_process');",
        "const a = { b: import('child_process') };",
        "switch (a) { case 1: import('child_process') }",
        "l: import('child_process')",
        "function f(a = import('child_process')) {}",
        "const f = (a: string = import('child_process')) => a;",
        "class A { b: string = import('child_process') }",
        "let a: string = import('child_process');",
        "let type = 1; type\n= import('child_process')",
        "a < import('child_process')",
        "a as any\n(import('child_process'))",
        "declare\nimport('child_process')",
        "const x = <any>import('child_process');",
        "f<string>(import('child_process'))",
    ] {
        assert_eq!(
            worst("a.ts", text),
            Some(Severity::Danger),
            "{text}: {:?}",
            check(Profile::StrictPlugin, "a.ts", text)
        );
    }
}

#[test]
fn jsx_text_is_text_and_its_holes_are_code() {
    for text in [
        "const a = <p>{eval('x')}</p>;",
        "const a = <p b={eval('x')} />;",
        "const a = <><b>it's</b>{eval('x')}</>;",
        "const a = <p>it's</p>; eval('x'); // '",
        "const a = <p b=\"\\\" />; eval('x'); // \"",
        "const a = b < c; eval('x') > d",
    ] {
        let found = check(Profile::StrictPlugin, "a.jsx", text);
        assert!(found.iter().any(|line| line.contains("danger exec/eval")), "{text}: {found:?}");
    }
    let mut wrong = Vec::new();
    for text in [
        "const a = <p>eval('x')</p>;",
        "const a = <p title=\"eval('x')\">b</p>;",
        "const a = <p>it's // eval('x')</p>;",
    ] {
        let found = check(Profile::StrictPlugin, "a.jsx", text);
        if found.iter().any(|line| line.contains("danger")) {
            wrong.push(format!("{text}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn wide_encodings_are_read() {
    let text = "eval('x')\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let wide: Vec<u8> = text.chars().flat_map(|char| u32::from(char).to_le_bytes()).collect();
    for bytes in [little.clone(), big, wide, [b"\xFF\xFE".to_vec(), little].concat()] {
        let report = report(Profile::StrictPlugin, &[("a.js", &bytes)]);
        let found = report.findings().iter().find(|finding| finding.rule.as_str() == "exec/eval").unwrap();
        assert!(found.is_hidden());
        assert_eq!((found.line, found.column), (1, 1));
        assert!(found.span.end <= bytes.len() && found.span.len() > 9);
    }
}

#[test]
fn places_are_right_whatever_ends_a_line() {
    for (text, line, column) in [
        ("a\r\nb\r\n eval(x)", 3, 2),
        ("a\rb\r\teval(x)", 3, 2),
        ("a\u{2028}b\u{2029}eval(x)", 3, 1),
        ("'é漢🎉'; eval(x)", 1, 8),
        ("\u{feff}eval(x)", 1, 2),
        ("\n\n\neval(x)", 4, 1),
    ] {
        let report = report(Profile::StrictPlugin, &[("a.js", text.as_bytes())]);
        let found = report.findings().iter().find(|finding| finding.rule.as_str() == "exec/eval").unwrap();
        assert_eq!((found.line, found.column), (line, column), "{text:?}");
        assert_eq!(&text.as_bytes()[found.span.start..found.span.end], b"eval(x)", "{text:?}");
    }
    let mut invalid = b"'\xFF\xFE'; eval(x)".to_vec();
    invalid.extend_from_slice(b"\n");
    let report = report(Profile::StrictPlugin, &[("a.js", &invalid)]);
    let found = report.findings().iter().find(|finding| finding.rule.as_str() == "exec/eval").unwrap();
    assert_eq!((found.line, found.column), (1, 7));
}

#[test]
fn scripts_in_markup_are_code() {
    for (path, text) in [
        ("a.html", "<html><body><p>it's</p><script>eval('x')</script></body></html>"),
        ("a.html", "<SCRIPT type=module src='a.js'>\neval('x')</SCRIPT >"),
        ("a.html", "<p title='a>b' onclick=\"eval('x')\">b</p>"),
        ("a.html", "<a href='javascript:eval(1)'>b</a>"),
        ("a.html", "<img src=x onerror=eval(1)>"),
        ("a.svg", "<svg><script>eval('x')</script></svg>"),
        ("a.svg", "<svg onload='eval(1)'/>"),
        ("a.vue", "<template><p>{{ eval('x') }}</p></template>"),
        ("a.vue", "<template><p @click=\"eval('x')\"/></template>"),
        ("a.svelte", "<script>let a</script><p>{eval('x')}</p>"),
        ("a.astro", "---\neval('x')\n---\n<p/>"),
        ("a.html", "<p title='unclosed><script>eval('x')</script>"),
    ] {
        let found = check(Profile::StrictPlugin, path, text);
        assert!(found.iter().any(|line| line.contains("danger exec/eval")), "{text}: {found:?}");
    }
    for text in [
        "<p>eval('x')</p>",
        "<!-- eval('x') --><p title=\"eval('x')\">b</p>",
        "<script>// eval('x')\n</script>",
    ] {
        let found = check(Profile::StrictPlugin, "a.html", text);
        assert!(!found.iter().any(|line| line.contains("danger")), "{text}: {found:?}");
    }
}

#[test]
fn methods_that_a_pattern_takes_out_are_the_methods() {
    for (rule, text) in [
        ("exec/process-method", "const { execSync } = await load(); execSync('ls')"),
        ("exec/process-method", "const { execFile: run } = tools; run('ls')"),
        ("exec/process-method", "function f({ spawnSync: s } = {}) { s('ls') }"),
        ("exec/constructor-chain", "const { constructor: { constructor: F } } = x; F('y')()"),
        ("native/process-binding", "const { binding: b } = process; b('fs')"),
        ("native/process-binding", "const p = process, { binding: b } = p; b('fs')"),
        ("exec/child-process", "const { exec = 1 } = require('child_process'); exec('id')"),
        (
            "exec/child-process",
            "const { promises: { x }, ...rest } = require('child_process'); rest.exec('id')",
        ),
    ] {
        let found = check(Profile::StrictPlugin, "a.js", text);
        assert!(found.iter().any(|line| line.contains(rule)), "{text}: {found:?}");
    }
}

#[test]
fn a_line_behind_a_type_is_read_both_ways() {
    for text in [
        "type A = {}\n/'/.test(y); eval('x') //'",
        "let x = y as any as { a: 1 }\n/a; s = '/'; eval('x') //'",
        "interface A {}\n/'/.test(y); eval('x') //'",
    ] {
        let found = check(Profile::StrictPlugin, "a.ts", text);
        assert!(found.iter().any(|line| line.contains("danger exec/eval")), "{text}: {found:?}");
    }
    for text in ["type A = {}\n/eval('x')/.test(y)", "let x = {}\n/ a / 'eval(1)'"] {
        let found = check(Profile::StrictPlugin, "a.ts", text);
        assert!(found.len() <= 1, "{text}: {found:?}");
    }
}

#[test]
fn the_module_process_is_the_global() {
    for text in [
        "require('process').binding('fs')",
        "const p = require('node:process'); p.binding('fs')",
        "const { binding } = require('process'); binding('fs')",
        "import p from 'process'; p.binding('fs')",
        "import * as p from 'node:process'; p.binding('fs')",
        "import { binding as b } from 'process'; b('fs')",
        "import { default as p } from 'process'; p.binding('fs')",
        "import { 'binding' as b } from 'process'; b('fs')",
        "const p = await import('process'); p.binding('fs')",
        "const { default: p } = await import('node:process'); p.binding('fs')",
        "(await import('process')).default.binding('fs')",
        "import { createRequire as c } from 'module'; c(import.meta.url)('process').binding('fs')",
    ] {
        let found = check(Profile::StrictPlugin, "a.mjs", text);
        assert!(found.iter().any(|line| line.contains("danger native/process-binding")), "{text}: {found:?}");
    }
    let found =
        check(Profile::StrictPlugin, "a.mjs", "import p from './process'; p.binding('fs'); require(46)");
    assert!(!found.iter().any(|line| line.contains("native/")), "{found:?}");
}

#[test]
fn members_hold_what_they_are_given_and_so_do_parameters_of_a_function_that_is_called() {
    let mut wrong = Vec::new();
    for (text, rule) in [
        ("const o = { p: process }; o.p.binding('fs')", "native/process-binding"),
        ("o.p = process; o.p.binding('fs')", "native/process-binding"),
        ("const o = {}; o['p'] = process; o['p'].binding('fs')", "native/process-binding"),
        ("class A { p = process; m() { this.p.binding('fs') } }", "native/process-binding"),
        (
            "class A { constructor() { this.p = process } m() { this.p.binding('fs') } }",
            "native/process-binding",
        ),
        ("(p => p.binding('fs'))(process)", "native/process-binding"),
        ("(function (a, p) { p.binding('fs') })(1, process)", "native/process-binding"),
        ("(function (p) { p.binding('fs') }).call(this, process)", "native/process-binding"),
        ("(async (p) => { p.binding('fs') })(process)", "native/process-binding"),
        ("const o = { g: globalThis }; o.g.eval(c)", "exec/eval"),
        ("const o = { F: Function }; new o.F('x')", "exec/function-constructor"),
        ("const o = { t: setTimeout }; o.t('x()')", "exec/string-timer"),
        ("const o = { r: require }; o.r('child_process')", "exec/child-process"),
        ("(r => r('child_process'))(require)", "exec/child-process"),
        ("const o = { c: require('child_process') }; o.c.exec('ls')", "exec/child-process"),
        ("function f() { use(o.p.binding('fs')) } const o = { a: 1, p: process }", "native/process-binding"),
    ] {
        let found = check(Profile::StrictPlugin, "a.js", text);
        if !found.iter().any(|line| line.contains(&format!("danger {rule}"))) {
            wrong.push(format!("{text}: {found:?}"));
        }
    }
    for (text, rule) in [
        ("const old = process.env; process.env = old; process.env.A", "1:45 warning env/read"),
        ("o.p = globalThis; o.p.x = 1", "1:19 warning global/mutate"),
    ] {
        let found = check(Profile::StrictPlugin, "a.js", text);
        if !found.iter().any(|line| line.contains(rule)) {
            wrong.push(format!("{text}: {found:?}"));
        }
    }
    for text in [
        "exports.p = exports.q = Object; exports.p = 1; exports.q.r",
        "const o = { p: ui }; o.p.binding('fs'); q.p.binding('fs')",
        "const o = { p: process }; q.p.binding('fs'); o.q.binding('fs')",
        "const o = { p: process }; function f(o) { o.p.binding('fs') }",
        "(p => p.binding('fs'))(ui); (function (a, p) { a.binding('fs') })(ui, process)",
    ] {
        let found = check(Profile::StrictPlugin, "a.js", text);
        if found.iter().any(|line| line.contains("danger") || line.contains("global/")) {
            wrong.push(format!("{text}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_a_sign_in_front_writes_to_is_written() {
    for text in ["++globalThis.x", "a;\n--globalThis.x", "f(++globalThis['x'])", "globalThis.x++"] {
        let found = check(Profile::StrictPlugin, "a.mjs", text);
        assert!(found.iter().any(|line| line.contains("global/mutate")), "{text}: {found:?}");
    }
    let found = check(Profile::StrictPlugin, "a.mjs", "++x; y\n++z; -globalThis.x");
    assert!(!found.iter().any(|line| line.contains("global/mutate")), "{found:?}");
}

#[test]
fn aliases_in_the_wrong_order_are_followed() {
    // Each name is bound below the function that uses it: one round each.
    let js = |depth: usize| {
        let mut text = format!("function last() {{ a{depth}('ls') }}\n");
        for at in (1..=depth).rev() {
            text.push_str(&format!("function f{at}() {{ a{at} = a{} }}\n", at - 1));
        }
        text + "a0 = require('child_process').execSync;\n"
    };
    let py = |depth: usize| {
        let mut text = format!("def last(): a{depth}('ls')\n");
        for at in (1..=depth).rev() {
            text.push_str(&format!("def f{at}():\n    global a{at}\n    a{at} = a{}\n", at - 1));
        }
        text + "import os\na0 = os.system\n"
    };
    let chains: [(&str, &dyn Fn(usize) -> String); 2] = [("a.js", &js), ("a.py", &py)];
    for (path, chain) in chains {
        for depth in [1, 5, 8, 20, 28, 60] {
            let found = check(Profile::StrictPlugin, path, &chain(depth));
            let named = |line: &&String| line.starts_with("1:") && line.contains("danger");
            assert!(found.iter().any(|line| named(&line)), "{path} {depth}: {found:?}");
            assert!(
                !found.iter().any(|line| line.contains("coverage/") || line.contains("scan/partial")),
                "{path} {depth}: {found:?}"
            );
        }
    }
}

#[test]
fn names_are_put_in_however_many_went_before() {
    let line = |path: &str, text: &str| {
        let last = text.lines().count();
        let found = check(Profile::StrictPlugin, path, text);
        found.into_iter().find(|line| line.starts_with(&format!("{last}:")) && line.contains("danger"))
    };
    let tail = "const key = '.ssh/id_rsa'; require('fs').readFileSync(home + '/' + key);\n";
    let plain = line("a.js", tail).map(|found| found[2..].to_owned());
    assert!(plain.is_some(), "the case itself is found");
    let filler = "require('fs').readFileSync(one + two);\n".repeat(600);
    let behind = line("a.js", &format!("{filler}{tail}"));
    assert_eq!(behind.map(|found| found[4..].to_owned()), plain);
}

#[test]
fn decorators_of_members_are_calls() {
    for text in [
        "class A { @eval run() {} }",
        "class A { @eval run = 1 }",
        "class A { @eval static run() {} }",
        "class A { @(eval) run() {} }",
        "class A { @require('child_process').exec run() {} }",
    ] {
        let found = check(Profile::StrictPlugin, "a.ts", text);
        assert!(found.iter().any(|line| line.contains("danger exec/")), "{text}: {found:?}");
    }
    for text in [
        "class A { @own eval() {} }",
        "class A { @own() evaluate = 1; run() {} }",
        "class A { @eval2 run() {} }",
    ] {
        let found = check(Profile::StrictPlugin, "a.ts", text);
        assert!(found.is_empty(), "{text}: {found:?}");
    }
}

#[test]
fn symbols_of_a_tool_are_found_however_its_keys_are_written() {
    for text in [
        "$=~[];$={___:++$,\"$$$$\":(![]+\"\")[$]};",
        "$ = ~[ ]; /**/ $ = { ___ : ++$, $$$$ : (![]+\"\")[$] };",
        "abc=~[];abc={___:++abc,_$:1};",
    ] {
        let found = check(Profile::StrictPlugin, "a.js", text);
        assert!(found.iter().any(|line| line.contains("obf/symbol-only")), "{text}: {found:?}");
    }
}
