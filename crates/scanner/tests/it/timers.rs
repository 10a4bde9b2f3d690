//! Timers that certainly get a text, and timers that only seem to.

use plugward_scanner::Profile;

use crate::common::check;

/// A rule that has to be met, or `-` where nothing is a danger, the file's name and its text.
type Case = (&'static str, &'static str, &'static str);

/// Texts, whatever they say.
const TEXTS: &[Case] = &[
    ("exec/string-timer", "a.js", r#"setTimeout(String("go()"),1)"#),
    ("exec/string-timer", "a.js", r#"setTimeout(["go()"].join(""),1)"#),
    ("exec/string-timer", "a.js", "setTimeout(`go()`.trim(),1)"),
    ("exec/string-timer", "a.js", r#"setTimeout("go()".replace("a","b"),1)"#),
    ("exec/string-timer", "a.js", r#"setTimeout("GO()".toLowerCase())"#),
    ("exec/string-timer", "a.js", r#"setTimeout("go"["concat"]("()"))"#),
    ("exec/string-timer", "a.js", "setTimeout(String.raw`go()`)"),
    ("exec/string-timer", "a.js", r#"setTimeout(new String("go()"))"#),
    ("exec/string-timer", "a.js", r#"setTimeout("a b".split(" ").join(""))"#),
    ("exec/string-timer", "a.js", r#"setTimeout(["go","()"].reverse().join(""))"#),
    ("exec/string-timer", "a.js", r#"setTimeout(x.y+"()")"#),
    ("exec/string-timer", "a.js", r#"setTimeout("go()"||x)"#),
    ("exec/string-timer", "a.js", r#"setTimeout(a?"go()":b)"#),
    ("exec/string-timer", "a.js", r#"setTimeout((0,"go()"))"#),
    ("exec/string-timer", "a.js", r#"setTimeout(atob("eA=="))"#),
    ("exec/string-timer", "a.js", r#"setTimeout(decodeURIComponent("x%28%29"))"#),
    ("exec/string-timer", "a.js", "setTimeout(JSON.stringify(x))"),
    ("exec/string-timer", "a.js", "setTimeout(f.toString())"),
    ("exec/string-timer", "a.js", "setTimeout(f.toString(),10)"),
    ("exec/string-timer", "a.js", "setTimeout(typeof x)"),
    ("exec/string-timer", "a.js", "setTimeout(String.fromCharCode(97,40,41))"),
    ("exec/string-timer", "a.js", "setTimeout(`${x}`.trim())"),
    ("exec/string-timer", "a.js", r#"setTimeout(("go"+"()").trim())"#),
    ("exec/string-timer", "a.js", r#"const c="go()";setTimeout(c)"#),
    ("exec/string-timer", "a.js", "const c=`go(${n})`;setTimeout(c)"),
    ("exec/string-timer", "a.js", r#"const c="go("+n+")";setTimeout(c)"#),
    ("exec/string-timer", "a.js", r#"setInterval(["a()",b].join(";"),5)"#),
    ("exec/string-timer", "a.ts", r#"setTimeout("go()" as any)"#),
    ("exec/string-timer", "a.ts", r#"setTimeout(<any>"go()")"#),
    ("exec/string-timer", "a.ts", "setTimeout(String(x)!)"),
    ("exec/string-timer", "a.js", r#"window["setTimeout"](["x"].join(""))"#),
    ("exec/string-timer", "a.js", "setTimeout(void 0||`x`)"),
];

/// No text.
const OTHERS: &[Case] = &[
    ("-", "a.js", "setTimeout(String)"),
    ("-", "a.js", "setTimeout([f][0])"),
    ("-", "a.js", "setTimeout(thread.join())"),
    ("-", "a.js", r#"setTimeout("abc".length)"#),
    ("-", "a.js", r#"setTimeout("abc".length,1)"#),
    ("-", "a.js", "setTimeout(x.trim)"),
    ("-", "a.js", r#"setTimeout(()=>String("go()"))"#),
    ("-", "a.js", r#"setTimeout(fn.bind(null,"x"))"#),
    ("-", "a.js", r#"setTimeout(f,String("100"))"#),
    ("-", "a.js", r#"setTimeout(debounce("go()"),1)"#),
    ("-", "a.js", r#"setTimeout({toString(){return "x"}}.run)"#),
    ("-", "a.js", r#"setTimeout("x"in y)"#),
    ("-", "a.js", r#"setTimeout("x"==y)"#),
    ("-", "a.js", r#"setTimeout("x"==y?f:g)"#),
    ("-", "a.js", r#"setTimeout("x"===mode?a:b,1)"#),
    ("-", "a.js", r#"setTimeout("a".includes("b")?f:g)"#),
    ("-", "a.js", r#"setTimeout("a".includes("b")&&f)"#),
    ("-", "a.js", r#"setTimeout(handlers["go"])"#),
    ("-", "a.js", "setTimeout(handlers[`go`])"),
    ("-", "a.js", r#"setTimeout(get("go"))"#),
    ("-", "a.js", r#"setTimeout(["a"].map(f))"#),
];

#[test]
fn a_timer_that_is_given_a_text_is_a_danger() {
    let mut wrong = Vec::new();
    for (rule, path, text) in [TEXTS, OTHERS].concat() {
        let found = check(Profile::StrictPlugin, path, text);
        let met = if rule == "-" {
            !found.iter().any(|line| line.contains(" danger "))
        } else {
            found.iter().any(|line| line.contains(rule))
        };
        if !met {
            wrong.push(format!("{rule} {path} {text}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_function_that_names_itself_is_no_text_of_another() {
    let text = "var o = 'a' + b; !function o() { t(function () { setTimeout(o, 16) }) }()";
    assert!(check(Profile::StrictPlugin, "a.js", text).is_empty());
    let text = "var o = 'a' + b; !function f() { t(function () { setTimeout(o, 16) }) }()";
    assert_eq!(check(Profile::StrictPlugin, "a.js", text), ["1:50 danger exec/string-timer"]);
}
