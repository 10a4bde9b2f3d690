//! Copies of host objects, objects made from them, and functions that return them.

use plugward_scanner::Profile;

use crate::common::check;

/// How a value comes to stand in a name: `@` is the value, `#` the name.
const WAYS: &[&str] = &[
    "const # = {...@}",
    "var # = {x: 1, ...(@)}",
    "const # = {__proto__: @}",
    "const # = {'__proto__': @, x: 1}",
    "const # = Object.assign({}, @)",
    "const # = Object.assign({}, {x: 1}, @)",
    "const # = {}; Object.assign(#, @)",
    "const # = Object.create(@)",
    "const # = new Proxy(@, {})",
    "const # = Object.setPrototypeOf({}, @)",
    "const # = {}; Object.setPrototypeOf(#, @)",
    "const # = {}; #.__proto__ = @",
    "class # extends @ {}",
    "const {...#} = @",
    "const # = (() => @)()",
    "const # = (function () { return @ })()",
    "const # = (function () { if (a) { return 1 } return @ })()",
    "const f = () => @; const # = f()",
    "const f = async () => @; const # = await f()",
    "function f(a) { return a || @ } const # = f()",
    "const # = [1, @][1]",
    "const # = {a: @, b: 1}.a",
    "const # = {a: @, b: 1}['a']",
    "const l = [@, 1]; const p = l[0]",
    "const o = {a: @}; const p = o.a",
];

/// The value and what it does as `p`; the rule; the same of another value.
const USES: &[(&str, &str, &str, &str)] = &[
    ("globalThis.process", "p.binding('fs')", "native/process-binding", "ui.process"),
    ("require('process')", "p.binding('fs')", "native/process-binding", "require('./process')"),
    ("globalThis", "p.Function(x)", "exec/function-constructor", "ui"),
];

#[test]
fn what_is_copied_or_returned_is_followed() {
    for way in WAYS {
        for (value, call, rule, other) in USES {
            let text = |value: &str| format!("{};\n{call}\n", way.replace('#', "p").replace('@', value));
            let found = |text: &str| check(Profile::StrictPlugin, "a.cjs", text).join("\n");
            let danger = format!("danger {rule}");
            let seen = found(&text(value));
            assert!(seen.contains(&danger), "{}: {seen}", text(value));
            assert!(!found(&text(other)).contains(&danger), "{}", text(other));
        }
    }
}

#[test]
fn the_host_s_name_for_a_copy_is_the_copy() {
    for way in WAYS {
        let text = way.replace('#', "process").replace('@', "globalThis.process");
        let text = format!("{text};\nprocess.binding('fs')\n");
        let found = check(Profile::StrictPlugin, "a.cjs", &text);
        assert!(found.iter().any(|line| line.contains("danger native/process-binding")), "{text}: {found:?}");
    }
}

#[test]
fn what_a_function_of_the_file_is_given_is_followed() {
    for text in [
        "function f(a, p) { p.binding('fs') } f(1, process)",
        "f(globalThis.process); function f(p) { p.binding('fs') }",
        "const f = function (p) { return p.binding('fs') }; f(process)",
        "const f = async (p) => { await p.binding('fs') }; on(() => f(process))",
        "function f(p) { g(p) } function g(q) { q.binding('fs') } f(process)",
        "Object.getOwnPropertyDescriptor(process, 'binding').value('fs')",
        "Reflect.getOwnPropertyDescriptor(process, 'binding')['value']('fs')",
        "const id = x => x; id(process).binding('fs'); id(ui)",
        "(function (x) { return (x) })(process).binding('fs')",
        "const f = () => (process); f().binding('fs')",
    ] {
        let found = check(Profile::StrictPlugin, "a.cjs", text);
        assert!(found.iter().any(|line| line.contains("danger native/process-binding")), "{text}: {found:?}");
    }
    for text in [
        "function f(a, p) { p.binding('fs') } f(process, 1)",
        // What one call gives is not what another gets back.
        "const id = x => x; id(process); id(ui).binding('fs')",
        "function n(e) { return e && e.m ? e : { a: e } } n(process); n(ui).binding('fs')",
        "function f(p) { p.binding('fs') } f(ui); g(process)",
        "Object.getOwnPropertyDescriptor(process, 'binding').get('fs')",
        "const d = Object.getOwnPropertyDescriptor(process, 'binding'); show(d)",
        "show(Object.getOwnPropertyDescriptor(globalThis, 'eval'))",
    ] {
        let found = check(Profile::StrictPlugin, "a.cjs", text);
        assert!(!found.iter().any(|line| line.contains("danger")), "{text}: {found:?}");
    }
}

#[test]
fn a_file_is_read_whole_however_many_functions_hand_a_thing_on() {
    for count in [4, 14, 15, 40] {
        let hop = |at: usize| format!("function f{at}(p) {{ return f{}(p) }}\n", at + 1);
        let hops = (0..count).map(hop).collect::<Vec<_>>().concat();
        let text = format!("const fs = require('fs');\n{hops}f0(fs);\neval('x')\n");
        let found = check(Profile::StrictPlugin, "a.cjs", &text);
        assert!(found.iter().any(|line| line.contains("danger exec/eval")), "{count}: {found:?}");
        assert!(!found.iter().any(|line| line.contains("scan/partial")), "{count}: {found:?}");
    }
}

#[test]
fn what_is_no_copy_is_none() {
    for text in [
        "const process = { binding(a) { return a } }; process.binding('fs')",
        "const p = Object.create(process.env); p.NODE_OPTIONS = '--require x'",
        "const env = {...process.env}; env.LD_PRELOAD = 'x'",
        "function A() { var self = this; return self } const a = new A(); a.Function = f; a.Function(x)",
        "function f() { return () => { return process } } f().binding('fs')",
        "const f = (process) => process; f(a).binding('fs')",
        "const l = [process, a]; l[1].binding('fs')",
        "const o = {a: process, b: c}; o.b.binding('fs')",
        "const p = Object.keys(process); p.binding('fs')",
    ] {
        let found = check(Profile::StrictPlugin, "a.cjs", text);
        let danger = |line: &String| line.contains("danger") && !line.contains("env/bulk");
        assert!(!found.iter().any(danger), "{text}: {found:?}");
    }
}
