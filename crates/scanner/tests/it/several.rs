//! Names with more than one meaning in a file: each of them counts.

use plugward_scanner::Profile;

use crate::common::check;

fn has(path: &str, text: &str, rule: &str) -> Result<(), String> {
    let found = check(Profile::StrictPlugin, path, text);
    if found.iter().any(|line| line.contains(rule)) { Ok(()) } else { Err(format!("{text}: {found:?}")) }
}

/// Other things that a name is bound to besides the one that counts.
const OTHERS: &[&str] =
    &["fetch", "require('http')", "require('fs').readFile", "setTimeout", "function () {}", "eval"];

#[test]
fn a_name_stands_for_all_that_it_is_bound_to_in_any_order() {
    let mut wrong = Vec::new();
    let both = |other: &str, own: &str, call: &str| {
        let (one, two) = (format!("function a() {{ let e = {other} }}\n"), format!("let e = {own};\n"));
        [format!("{one}{two}{call}"), format!("{two}{one}{call}"), format!("{call}\n{one}{two}")]
    };
    for other in OTHERS {
        for (own, call, rule) in [
            ("require('child_process')", "e.execSync('ls')", "danger exec/child-process"),
            ("require('child_process').execSync", "e('ls')", "danger exec/child-process"),
            ("globalThis", "e.eval('x')", "danger exec/eval"),
            ("eval", "e('x')", "danger exec/eval"),
            ("process", "e.binding('fs')", "native/process-binding"),
        ] {
            let texts = both(other, own, call);
            wrong.extend(texts.iter().filter_map(|text| has("a.js", text, rule).err()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_value_that_is_one_of_several_counts() {
    let mut wrong = Vec::new();
    for (text, rule) in [
        ("(fetch || require('child_process').exec)('ls')", "danger exec/child-process"),
        ("(a ? fetch : require('child_process').exec)('ls')", "danger exec/child-process"),
        ("const e = fetch || eval; e('x')", "danger exec/eval"),
        ("const e = a ? eval : fetch; e('x')", "danger exec/eval"),
        ("const e = fetch ?? globalThis; e.eval('x')", "danger exec/eval"),
        // A name of the tables that the file gives something else.
        ("const fetch = require('child_process').exec; fetch('ls')", "danger exec/child-process"),
        ("const { execSync: open } = require('child_process'); open('ls')", "danger exec/child-process"),
        (
            "const r = require, c = 'child_process'; let m = r('http'); m = r(c); m.exec('ls')",
            "exec/child-process",
        ),
        (
            "let m = require('fs'); m = require('child_process'); const { exec: e } = m; e('ls')",
            "exec/child-process",
        ),
        ("let m = fetch; m = require('child_process').exec; m.call(null, 'ls')", "danger exec/child-process"),
        ("let m = fetch; m = require('child_process').exec; m.bind(null)('ls')", "danger exec/child-process"),
        ("let m = fetch; m = eval; Reflect.apply(m, null, ['x'])", "danger exec/eval"),
        ("let m = {}; m = Array; m = Object; Object.assign(m.prototype, {})", "global/"),
    ] {
        wrong.extend(has("a.js", text, rule).err());
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_name_of_several_harmless_things_is_none() {
    for text in [
        "let e = require('path'); function f() { let e = require('util'); e.exec('ls') }",
        "let e = require('os'); function f(b) { let e = b; e.get('ls') }",
        "let e = fetch; e = setTimeout; e.then(a)",
        "(a || b)('x'); (a ? b : c).d('x')",
        "const fetch = require('path').join; path('x')",
    ] {
        let found = check(Profile::StrictPlugin, "a.js", text);
        let other = |line: &&String| !line.contains("module/") && !line.contains("load/");
        let calls = found.iter().filter(|line| line.contains("danger")).filter(other);
        assert_eq!(calls.count(), 0, "{text}: {found:?}");
    }
}

#[test]
fn more_things_than_are_kept_apart_are_told() {
    let all = "readFile readFileSync writeFile writeFileSync appendFile appendFileSync open openSync createReadStream \
        createWriteStream rm rmSync unlink unlinkSync rename renameSync cp cpSync copyFile copyFileSync symlink \
        symlinkSync link linkSync chmod chmodSync chown chownSync readdir readdirSync mkdir mkdirSync rmdir rmdirSync \
        watch watchFile truncate truncateSync readlink readlinkSync realpath stat lstat access opendir mkdtemp";
    let members: Vec<&str> = all.split_whitespace().collect();
    let text = |count: usize| {
        let mut text = String::new();
        for module in ["fs", "fs/promises", "fs-extra", "child_process", "http", "https", "net"] {
            for member in &members {
                text.push_str(&format!("e = require('{module}').{member};\n"));
            }
        }
        for member in "exec execSync spawn spawnSync fork execFile execFileSync".split(' ') {
            text.push_str(&format!("e = require('child_process').{member};\n"));
        }
        text.split_inclusive('\n').take(count).collect::<String>() + "e('x')"
    };
    let told = |text: &str| {
        let found = check(Profile::StrictPlugin, "a.js", text);
        found.iter().any(|line| line.contains("scan/partial"))
    };
    assert!(!told(&text(8)));
    assert!(told(&text(1000)));
}

/// `exec` of a variable that only looks as if it were another one.
const SAME: &[&str] = &[
    "const e = require('child_process'); function f() { for (let e of a) {} e.exec('ls') }",
    "const e = require('child_process'); function f() { for (const e in a) b(); e.exec('ls') }",
    "const e = require('child_process'); (function (a = [e]) { e.exec('ls') })()",
    "const e = require('child_process'); (function (a = { b: [e] }) { e.exec('ls') })()",
    "const e = require('child_process'); (function ({ k = x ? y : e }) { e.exec('ls') })()",
    "const e = require('child_process'); (function (a = (b, e)) { e.exec('ls') })()",
    "const e = require('child_process'); (function (a = b[c, e]) { e.exec('ls') })()",
    "const e = require('child_process'); (function (a = `${b, e}`, c) { e.exec('ls') })()",
    "const e = require('child_process'); (function ({ [e]: a }) { e.exec('ls') })()",
    "const e = require('child_process'); (function ({ e: a }) { e.exec('ls') })()",
    "const e = require('child_process'); ((a = [e]) => e.exec('ls'))()",
    "let e; function f() { var a = 1\n g(x), e = require('child_process') } e.exec('ls')",
    "let e; function f() { var a = b\n++c, e = require('child_process') } e.exec('ls')",
    "let e; function f() { var a = `${b, e = require('child_process')}` } e.exec('ls')",
    "let e; function f() { var a = (b, e = require('child_process')) } e.exec('ls')",
    "let e; function f() { var a = [b, e = require('child_process')] } e.exec('ls')",
    "let e; function f() { var a; b, e = require('child_process') } e.exec('ls')",
    "let e; function f() { if (a) var b = 1; else c, e = require('child_process') } e.exec('ls')",
    "const e = require('child_process'); function f() { class A { static { var e = 1 } } e.exec('ls') }",
    "const e = require('child_process'); function f() { x = function e() {}; e.exec('ls') }",
    "const e = require('child_process'); function f() { x = class e {}; e.exec('ls') }",
    "const e = require('child_process'); function f() { if (a) let\ne.exec('ls') }",
    "const e = require('child_process'); function f() { { let e = 1 } e.exec('ls') }",
    "const e = require('child_process'); function f() { { const e = 1 } { e.exec('ls') } }",
    "const e = require('child_process'); function f() { g(e => 1); e.exec('ls') }",
    "const e = require('child_process'); function f() { g = e => 1, e.exec('ls') }",
    "const e = require('child_process'); function f() { g = a ? e => 1 : e.exec('ls') }",
    "const e = require('child_process'); function f() { g = a ? e => b ? c : d : e.exec('ls') }",
    "const e = require('child_process'); function f() { g = e => 1\ne.exec('ls') }",
    "const e = require('child_process'); function f() { g = e => { return 1 }\ne.exec('ls') }",
    "const e = require('child_process'); function f() { g = { e(e) {} }; e.exec('ls') }",
    "const e = require('child_process'); function f() { try {} catch (e) {} e.exec('ls') }",
    "const e = require('child_process'); function f() { x = a\n, function e() {}; e.exec('ls') }",
    "const e = require('child_process'); function f() { x = { a, function() {} }; e.exec('ls') }",
    "const e = require('child_process'); function f() { ({}), function e() {}; e.exec('ls') }",
    "const e = require('child_process'); function f() { { function e() {} } e.exec('ls') }",
    "const e = require('child_process'); function f() { { class e {} } e.exec('ls') }",
    "function f() { e = require('child_process'); function e() {} e.exec('ls') }",
    "function f(e = require('child_process')) { function e() {} e.exec('ls') }",
    "const e = require('child_process'); function f() { p.catch(e)\n{ e.exec('ls') } }",
    "const e = require('child_process'); function f() { p.g(e)\n{ e.exec('ls') } }",
    "u(() => e = require('child_process')); e.exec('ls')",
    "x = a => b => e = require('child_process'); e.exec('ls')",
    "var e = require('child_process')\n{ e.exec('ls') }\nx = () => f(e)",
    "function f(e = require('child_process')) { var e; e.exec('ls') }",
    "function f({ e = require('child_process') }) { var e; e.exec('ls') }",
    "function f({ e = require('child_process') }) { e.exec('ls') }",
    "function f({ a, e = require('child_process') }) { e.exec('ls') }",
    "const { e = require('child_process') } = {}; e.exec('ls')",
    "((e = require('child_process')) => { var e; e.exec('ls') })()",
    "(e => { e = require('child_process'); e.exec('ls') })()",
    "(e => (e = require('child_process'), e.exec('ls')))()",
    "function f() { var e = require('child_process'); { e.exec('ls') } }",
    "function f() { e.exec('ls'); var e = require('child_process') }",
    "function f() { { var e = require('child_process') } return () => e.exec('ls') }",
    "function f() { for (var a = 1, e = require('child_process'); ;) {} e.exec('ls') }",
    "function f() { for (let a = 1, e = require('child_process'); ;) e.exec('ls') }",
    "function f() { let a = 1, { b } = c, e = require('child_process'); e.exec('ls') }",
    "function f() { let [a, e] = [1, 2]; e = require('child_process'); e.exec('ls') }",
    "function f() { switch (a) { case 1: let e = require('child_process'); case 2: e.exec('ls') } }",
    "try { throw require('child_process') } catch (e) { e = require('child_process'); e.exec('ls') }",
    "function f(e) { e = require('child_process'); function g(a) { e.exec('ls') } }",
    "class A { m(e) { e = require('child_process'); e.exec('ls') } }",
    "a = { get e() { let e = require('child_process'); return e.exec('ls') } }",
];

#[test]
fn a_variable_that_may_be_the_same_is_the_same() {
    let mut wrong = Vec::new();
    let calls = |text: &str| {
        let found = check(Profile::StrictPlugin, "a.js", text);
        let call = |line: &&String| {
            let place = line.split(' ').next().unwrap_or_default();
            let (row, column) = place.split_once(':').unwrap();
            let at =
                text.split('\n').take(row.parse::<usize>().unwrap() - 1).map(|l| l.len() + 1).sum::<usize>();
            let at = at + column.parse::<usize>().unwrap() - 1;
            line.contains("danger exec/child-process") && text[at..].starts_with("e.exec(")
        };
        found.iter().filter(call).count()
    };
    for text in SAME {
        if calls(text) == 0 {
            wrong.push(*text);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // In types nothing is a parameter.
    let typed = "const e = require('child_process'); function f(a: Map<b, e, c>) { e.exec('ls') }";
    let found = check(Profile::StrictPlugin, "a.ts", typed);
    assert!(
        found.iter().any(|line| line.contains("danger exec/child-process") && line.starts_with("1:67")),
        "{found:?}"
    );
}

#[test]
fn another_variable_of_the_same_name_is_another() {
    for text in [
        "const e = require('child_process'); function f(e) { e.exec('ls') }",
        "const e = require('child_process'); function f(a, { b: [e] }, c) { e.exec('ls') }",
        "const e = require('child_process'); function f() { var a = 1, e = b(); e.exec('ls') }",
        "const e = require('child_process'); function f() { e.exec('ls'); if (a) { var e = b() } }",
        "const e = require('child_process'); { let e = b(); e.exec('ls') }",
        "const e = require('child_process'); function f() { const { a: e } = b(); e.exec('ls') }",
        "const e = require('child_process'); a(e => e.exec('ls'), b)",
        "const e = require('child_process'); a((b, e) => b ? e.exec('ls') : 1)",
        "const e = require('child_process'); a(e => { e.exec('ls') })",
        "const e = require('child_process'); try { a() } catch (e) { e.exec('ls') }",
        "const e = require('child_process'); class A { m(e) { e.exec('ls') } }",
        "const e = require('child_process'); function f() { a(); function e() {} e.exec('ls') }",
        "const e = require('child_process'); function f() { function* e() {} function g() {} e.exec('ls') }",
        "const e = require('child_process'); { class e {} e.exec('ls') }",
        "function f() { const e = require('child_process') } function g(e) { e.exec('ls') }",
        "function f(n) { var e = n(1), t = require('child_process') } function g() { var t = a(); t.exec('ls') }",
    ] {
        let found = check(Profile::StrictPlugin, "a.js", text);
        let dangers = found.iter().filter(|line| line.contains("danger") && !line.starts_with("1:9 "));
        assert!(dangers.clone().all(|line| !line.contains("exec/process-method")), "{text}: {found:?}");
        let calls = found.iter().filter(|line| line.contains("exec/child-process")).count();
        // The name of the module is one, and its load.
        assert_eq!(calls, 2, "{text}: {found:?}");
    }
}

#[test]
fn a_name_of_python_stands_for_all_that_it_is_bound_to() {
    let mut wrong = Vec::new();
    for (text, rule) in [
        ("import os\nf = open\nf = os.system\nf('ls')\n", "danger py/os-exec"),
        ("import os\nf = os.system\nf = open\nf('ls')\n", "danger py/os-exec"),
        (
            "import os, requests\ndef a():\n    f = requests.get\ndef b():\n    f = os.system\n    f('ls')\n",
            "danger py/os-exec",
        ),
        ("f = open\nf = eval\nf('x')\n", "danger py/eval"),
        ("f: object = eval\nf('x')\n", "danger py/eval"),
        ("self.f: object = eval\nself.f('x')\n", "danger py/eval"),
        ("import os\nf = open if c else os.system\nf('x')\n", "danger py/os-exec"),
        ("import os\nf = open or os.popen or os.system\nf('x')\n", "danger py/os-exec"),
        ("import os\n(f := (a or os.system))\nf('x')\n", "danger py/os-exec"),
        ("import os\nif (f := a or os.system): pass\nf('x')\n", "danger py/os-exec"),
        ("import os\nx = lambda f=os.system: (\nf('x'))\n", "danger py/os-exec"),
        ("import os\nu(a, k=lambda b, f=os.system, *c: (\nf('x')))\n", "danger py/os-exec"),
        ("import os\nself.f = open\nself.f = os.system\nself.f('ls')\n", "danger py/os-exec"),
        ("import requests as m\nimport os as m\nm.system('ls')\n", "danger py/os-exec"),
        ("import os\nf = open\nf = eval\ng = f\ng('x')\n", "danger py/eval"),
        ("import os, json\nm = json\nm = os\ngetattr(m, 'system')('ls')\n", "danger py/os-exec"),
    ] {
        let column = if text.ends_with("    f('ls')\n") { 5 } else { 1 };
        let last = format!("{}:{column} {rule}", text.lines().count());
        wrong.extend(has("a.py", text, &last).err());
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let once = check(Profile::StrictPlugin, "a.py", "f = open\nf = eval\neval('x')\nf('y')\n");
    assert_eq!(once.iter().filter(|line| line.starts_with("3:") && line.contains("py/eval")).count(), 1);
    let mut many = String::from(
        "import os, subprocess, requests, shutil, pickle, marshal, socket, ctypes, urllib.request\n",
    );
    for name in "os.system os.popen os.execv os.execve os.execl os.spawnv os.remove os.unlink os.rename os.chmod eval exec \
        compile subprocess.run subprocess.call subprocess.Popen subprocess.check_output requests.get requests.post \
        shutil.rmtree pickle.loads marshal.loads socket.socket ctypes.CDLL open urllib.request.urlopen"
        .split_whitespace()
    {
        many.push_str(&format!("f = {name}\n"));
    }
    let found = check(Profile::StrictPlugin, "a.py", &(many + "f('x')\n"));
    let told = |line: &String| line.starts_with("28:") && line.contains("danger py/os-exec");
    assert!(found.iter().any(|line| told(line) || line.contains("scan/partial")), "{found:?}");
}

#[test]
fn a_path_that_begins_with_itself_ends() {
    for call in ["require('fs').rmSync(path)", "require('child_process').execSync(path)", "fetch(path)"] {
        let text =
            format!("let path = String(other(path)) + '/a';\nlet next = other(next) + '/a';\n{call};\n");
        let both = [text.clone(), text.replace("(path);", "(next);")];
        assert!(both.iter().all(|text| check(Profile::General, "a.js", text).len() < 8), "{call}");
    }
}
