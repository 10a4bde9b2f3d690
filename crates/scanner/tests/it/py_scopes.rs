//! Python: the scope that each name belongs to.

use std::fmt::Write as _;

use plugward_scanner::Profile;

use crate::common::check;

/// A text, and where its dangers of a rule are: line and column of each, in order. None: no danger at all.
type Case = (&'static str, &'static str, &'static [&'static str]);

/// Names that certainly hide the builtin, and the same where it is not certain.
const HIDDEN: &[Case] = &[
    // Parameters.
    ("def f(eval):\n    eval('x')\n", "py/eval", &[]),
    ("def f(*eval):\n    eval('x')\n", "py/eval", &[]),
    ("def f(**eval):\n    eval('x')\n", "py/eval", &[]),
    ("def f(a, /, eval, *, exec):\n    eval('x'), exec('y')\n", "py/eval", &[]),
    ("async def f(eval: int = 1):\n    eval('x')\n", "py/eval", &[]),
    ("f = lambda eval: eval('x')\n", "py/eval", &[]),
    ("f = lambda a, *eval, b=1: eval('x')\n", "py/eval", &[]),
    ("def f(eval):\n    def g():\n        return eval('x')\n    return g\n", "py/eval", &[]),
    ("def f(eval):\n    return [eval(x) for x in y]\n", "py/eval", &[]),
    ("def f(eval):\n    return lambda: eval('x')\n", "py/eval", &[]),
    ("def f(eval):\n    class A:\n        b = eval('x')\n", "py/eval", &[]),
    ("def f(eval): pass\neval('x')\n", "py/eval", &["2:1"]),
    ("def f(eval=eval('x')): pass\n", "py/eval", &["1:12"]),
    ("def f(a: eval('x'), eval=1): pass\n", "py/eval", &["1:10"]),
    ("@eval('x')\ndef f(eval): pass\n", "py/eval", &["1:2"]),
    ("f = lambda eval=eval('x'): 1\n", "py/eval", &["1:17"]),
    ("f = (lambda eval: 1), eval('x')\n", "py/eval", &["1:23"]),
    ("def f(g, eval):\n    global exec\n    exec('x')\n", "py/eval", &["3:5"]),
    ("def f(a=lambda eval: 1, b=eval('x')): pass\n", "py/eval", &["1:27"]),
    // Type parameters.
    ("def f[T](eval):\n    eval('x')\n", "py/eval", &[]),
    ("type A[T] = list[T]\neval('x')\n", "py/eval", &["2:1"]),
    // Locals.
    ("def f():\n    eval = g\n    eval('x')\n", "py/eval", &[]),
    ("def f():\n    (eval, a), *b = g\n    eval('x')\n", "py/eval", &[]),
    ("def f():\n    a = eval = g\n    eval('x')\n", "py/eval", &[]),
    ("def f():\n    eval: object = g\n    eval('x')\n", "py/eval", &[]),
    ("def f():\n    if a:\n        eval = g\n        eval('x')\n", "py/eval", &[]),
    ("def f():\n    if a: eval = g; eval('x')\n", "py/eval", &[]),
    ("def f():\n    for eval in a:\n        eval('x')\n", "py/eval", &[]),
    ("def f():\n    for a, (eval, *b) in c: eval('x')\n", "py/eval", &[]),
    ("def f():\n    for a[eval] in c: eval('x')\n", "py/eval", &["2:11", "2:23"]),
    ("def f():\n    with a as eval:\n        eval('x')\n", "py/eval", &[]),
    ("def f():\n    with (a as b, c as eval):\n        eval('x')\n", "py/eval", &[]),
    ("def f():\n    with a as (b, eval):\n        eval('x')\n", "py/eval", &[]),
    ("def f():\n    with a as b.eval:\n        eval('x')\n", "py/eval", &["3:9"]),
    ("def f():\n    try: pass\n    except E as eval:\n        eval('x')\n", "py/eval", &[]),
    ("eval = 1\ntry: pass\nexcept E as eval: pass\neval('x')\n", "py/eval", &["4:1"]),
    ("def f():\n    import a as eval\n    eval('x')\n", "py/eval", &[]),
    ("def f():\n    import eval.a\n    eval('x')\n", "py/eval", &[]),
    ("def f():\n    from a import b as eval\n    eval('x')\n", "py/eval", &[]),
    ("def f():\n    from a import (eval, exec as b,)\n    eval('x')\n    exec('y')\n", "py/eval", &["4:5"]),
    ("def f():\n    def eval(): pass\n    eval('x')\n", "py/eval", &[]),
    ("def f():\n    class eval: pass\n    eval('x')\n", "py/eval", &[]),
    ("def f():\n    a[eval] = g\n    eval('x')\n", "py/eval", &["2:7", "3:5"]),
    ("def f():\n    g(eval=1)\n    eval('x')\n", "py/eval", &["3:5"]),
    ("def f():\n    a.eval = g\n    eval('x')\n", "py/eval", &["3:5"]),
    // Patterns.
    ("def f():\n    match a:\n        case eval:\n            eval('x')\n", "py/eval", &[]),
    (
        "def f():\n    match a:\n        case {'k': eval, **b} if eval:\n            eval('x')\n",
        "py/eval",
        &[],
    ),
    ("def f():\n    match a:\n        case [1, *eval] | P(b=eval):\n            eval('x')\n", "py/eval", &[]),
    ("def f():\n    match a:\n        case b as eval: eval('x')\n", "py/eval", &[]),
    ("match = {}\nmatch['a'] = 1\ncase = 2\neval('x')\n", "py/eval", &["4:1"]),
    // Comprehensions.
    ("[eval(x) for eval in y]\n", "py/eval", &[]),
    ("{eval: eval(1) for eval, b in y if eval(2)}\n", "py/eval", &[]),
    ("[a for eval in y for a in eval(x)]\n", "py/eval", &[]),
    ("[eval for eval in eval('x')]\n", "py/eval", &["1:19"]),
    ("[eval for eval in y], eval('x')\n", "py/eval", &["1:23"]),
    ("f(eval for eval in y)(eval('x'))\n", "py/eval", &["1:23"]),
    ("[[eval(1) for a in eval(2)] for eval in eval(3)]\n", "py/eval", &["1:41"]),
    ("[(eval := a) for a in b]\neval('x')\n", "py/eval", &["2:1"]),
    // Classes.
    ("class A:\n    eval = g\n    eval('x')\n", "py/eval", &[]),
    ("class A:\n    eval = g\n    def m(self):\n        eval('x')\n", "py/eval", &["4:9"]),
    ("class A:\n    eval = g\n    b = [c for c in eval('x')]\n", "py/eval", &[]),
    ("class A:\n    eval = g\n    b = lambda: eval('x')\n", "py/eval", &["3:17"]),
    ("class A:\n    eval = g\n    class B:\n        eval('x')\n", "py/eval", &["4:9"]),
    ("class A:\n    def eval(self): pass\neval('x')\n", "py/eval", &["3:1"]),
    ("class A:\n    def m(self): return eval('x')\n    def eval(self): pass\n", "py/eval", &["2:25"]),
    ("class A:\n    if a:\n        eval = g\n    eval('x')\n", "py/eval", &["4:5"]),
    // The file.
    ("eval = g\neval('x')\n", "py/eval", &[]),
    ("eval = g\ndef f():\n    eval('x')\n", "py/eval", &[]),
    ("def f():\n    eval('x')\neval = g\n", "py/eval", &["2:5"]),
    ("eval = g\ndel eval\neval('x')\n", "py/eval", &["3:1"]),
    ("eval = g\ndef f():\n    global eval\n    del eval\nf()\neval('x')\n", "py/eval", &["6:1"]),
    ("def f():\n    global eval\n    eval = g\n    eval('x')\n", "py/eval", &["4:5"]),
    ("eval = g\nfrom builtins import *\neval('x')\n", "py/eval", &["3:1"]),
    ("from builtins import *\neval = g\neval('x')\n", "py/eval", &[]),
    ("if a:\n    eval = g\nelse:\n    pass\neval('x')\n", "py/eval", &["5:1"]),
    ("try:\n    from a import eval\nexcept ImportError:\n    pass\neval('x')\n", "py/eval", &["5:1"]),
    // Functions around.
    ("def f():\n    eval = g\n    def h():\n        nonlocal eval\n        eval('x')\n", "py/eval", &[]),
    ("def f(eval):\n    def h():\n        global eval\n        eval('x')\n", "py/eval", &["4:9"]),
    (
        "def f(eval):\n    def h():\n        global eval\n        return lambda: eval('x')\n",
        "py/eval",
        &["4:24"],
    ),
    ("def f(eval):\n    class A:\n        global eval\n        eval('x')\n", "py/eval", &["4:9"]),
    // What is no Python is read as one scope.
    // Other builtins.
    ("def f(open):\n    open('.bashrc', 'a')\n", "fs/autostart", &[]),
    ("def f(open): pass\nopen('.bashrc', 'a')\n", "fs/autostart", &["2:1"]),
    ("if a:\n    open = g\nopen('.bashrc', 'a')\n", "fs/autostart", &["3:1"]),
    ("def f(__import__):\n    __import__('os').system('x')\n", "py/os-exec", &[]),
    ("import os\ndef f(getattr):\n    getattr(os, 'system')('x')\n", "py/os-exec", &[]),
    ("import os\ndef f(os):\n    os.system('x')\n", "py/os-exec", &[]),
    ("import subprocess\ndef f(subprocess):\n    subprocess.getoutput('x')\n", "py/subprocess-shell", &[]),
    ("import os\ndef f(x):\n    os = x\n    os.system('x')\nos.system('y')\n", "py/os-exec", &["5:1"]),
];

#[test]
fn a_name_that_certainly_hides_a_builtin_is_no_danger() {
    let mut wrong = String::new();
    for (text, rule, places) in HIDDEN {
        let found = check(Profile::StrictPlugin, "a.py", text);
        let dangers: Vec<&String> = found.iter().filter(|line| line.contains("danger")).collect();
        let here: Vec<&str> = dangers
            .iter()
            .filter(|line| line.contains(rule))
            .map(|line| line.split(' ').next().unwrap_or_default())
            .collect();
        if here != *places || (places.is_empty() && !dangers.is_empty()) {
            writeln!(wrong, "{text:?}: {rule} at {places:?}: {found:?}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// What a sensitive value goes through by the syntax alone, beside the same with nothing in it.
const FLOWS: &[(&str, &str)] = &[
    ("def f():\n    return @\nf().system('x')\n", "os"),
    ("async def f():\n    return @\nasync def g():\n    (await f()).system('x')\n", "os"),
    ("def f():\n    if a: return None\n    return @\nf().system('x')\n", "os"),
    ("def f():\n    def g():\n        return @\n    return g\nf()().system('x')\n", "os"),
    ("def f():\n    return [1, @]\nf()[1].system('x')\n", "os"),
    ("def f():\n    return 1, @\na, b = f()\nb.system('x')\n", "os"),
    ("def f():\n    yield @\nfor m in f(): m.system('x')\n", "os"),
    ("def f():\n    yield @\nnext(f()).system('x')\n", "os"),
    ("f().system('x')\ndef f():\n    return @\n", "os"),
    ("f = lambda: @\nf().system('x')\n", "os"),
    ("def f():\n    return @\ng = f\ng().system('x')\n", "os"),
    ("class A:\n    def m(self):\n        return @\nA().m().system('x')\n", "os"),
    ("class A:\n    m = @\nA().m.system('x')\n", "os"),
    ("class A:\n    m = @\n    def f(self):\n        self.m.system('x')\n", "os"),
    (
        "class A:\n    def __init__(self):\n        self.m = @\n    def f(self):\n        self.m.system('x')\n",
        "os",
    ),
    ("def f(m=@):\n    m.system('x')\n", "os"),
    ("def f(*, m=@):\n    m.system('x')\n", "os"),
    ("f = lambda m=@: m.system('x')\n", "os"),
    ("def f():\n    m = @\n    def g():\n        m.system('x')\n    return g\n", "os"),
    ("def f():\n    m = @\n    return lambda: m.system('x')\n", "os"),
    ("def f():\n    m = @\n    return [m.system(x) for x in y]\n", "os"),
    (
        "def f():\n    m = None\n    def g():\n        nonlocal m\n        m = @\n    g()\n    m.system('x')\n",
        "os",
    ),
    ("def f():\n    global m\n    m = @\nm.system('x')\n", "os"),
    ("a, *b = 1, 2, @\nb[1].system('x')\n", "os"),
    ("*a, b = 1, 2, @\nb.system('x')\n", "os"),
    ("a, (b, c) = 1, (2, @)\nc.system('x')\n", "os"),
    ("[a, b] = [1, @]\nb.system('x')\n", "os"),
    ("[1, @][-1].system('x')\n", "os"),
    ("[@, 1, 2][-3].system('x')\n", "os"),
    ("[1, @][i].system('x')\n", "os"),
    ("[1, *[2, @]][2].system('x')\n", "os"),
    ("{'a': @}['a'].system('x')\n", "os"),
    ("{**{'a': @}}['a'].system('x')\n", "os"),
    ("{'a': @}.get('a').system('x')\n", "os"),
    ("{'a': @}.pop('a', None).system('x')\n", "os"),
    ("dict(a=@)['a'].system('x')\n", "os"),
    ("{1: @}[k].system('x')\n", "os"),
    ("list({'a': @}.values())[0].system('x')\n", "os"),
    ("for k, v in {'a': @}.items(): v.system('x')\n", "os"),
    ("for m in [1, @]: m.system('x')\n", "os"),
    ("for m in 1, @: m.system('x')\n", "os"),
    ("for n, m in [('a', 1), ('b', @)]: m.system('x')\n", "os"),
    ("for m in reversed([@]): m.system('x')\n", "os"),
    ("[m.system('x') for m in [@]]\n", "os"),
    ("[m.system('x') for n in y for m in (1, @)]\n", "os"),
    ("[m for m in [@]][0].system('x')\n", "os"),
    ("next(iter([@])).system('x')\n", "os"),
    ("next(m for m in [@]).system('x')\n", "os"),
    ("(@ if a else b).system('x')\n", "os"),
    ("(b or @).system('x')\n", "os"),
    ("m = b and @ or c\nm.system('x')\n", "os"),
    ("(m := @).system('x')\n", "os"),
    ("[(m := @) for a in b]\nm.system('x')\n", "os"),
    ("with k(): m = @\nm.system('x')\n", "os"),
    ("def f():\n    yield @\nwith f() as m: m.system('x')\n", "os"),
    ("class A:\n    x = @\n    y = x\nA.y.system('x')\n", "os"),
    ("def f():\n    m = @\n    class A:\n        n = m\n    A.n.system('x')\n", "os"),
    ("m = @\nglobals()['m'].system('x')\n", "os"),
    ("l = [1, @]\nl[1].system('x')\n", "os"),
    ("l = (1, @)\nl = l\nl[1].system('x')\n", "os"),
    ("d = dict(a=@)\nd['a'].system('x')\n", "os"),
    ("d = {'a': [@]}\nd['a'][0].system('x')\n", "os"),
    ("d = {}\nd['m'] = @\nd['m'].system('x')\n", "os"),
    ("setattr(a, 'm', @)\na.m.system('x')\n", "os"),
    ("class A:\n    def __init__(self):\n        self.__dict__['m'] = @\nA().m.system('x')\n", "os"),
    ("(lambda: @)().system('x')\n", "os"),
    ("match @:\n    case m:\n        m.system('x')\n", "os"),
    ("match [1, @]:\n    case [a, m] if a:\n        m.system('x')\n", "os"),
    ("match @:\n    case str() | None as m: m.system('x')\n", "os"),
    ("match 1, @:\n    case _, m: m.system('x')\n", "os"),
    ("def f(m):\n    m.system('x')\nf(@)\n", "os"),
    ("f(1, @)\ndef f(a, /, m, *b):\n    m.system('x')\n", "os"),
    ("def f(a, *, m=None):\n    m.system('x')\nf(1, m=@)\n", "os"),
    ("def f(a):\n    return a\nf(@).system('x')\n", "os"),
    ("def f(a): return g(a)\ndef g(b): b.system('x')\nf(@)\n", "os"),
    ("class A:\n    def m(self, a):\n        a.system('x')\nA().m(@)\n", "os"),
    (
        "class A:\n    def __init__(self, m):\n        self.m = m\n    def f(self):\n        self.m.system('x')\nA(@).f()\n",
        "os",
    ),
    ("class A:\n    def __init__(self, *, m):\n        self.m = m\nA(m=@).m.system('x')\n", "os"),
];

#[test]
fn a_value_goes_through_what_the_syntax_says() {
    let mut wrong = String::new();
    for (text, value) in FLOWS {
        let bad = format!("import os\n{}", text.replace('@', value));
        let good = format!("import os\n{}", text.replace('@', "db"));
        let found = check(Profile::StrictPlugin, "a.py", &bad);
        if !found.iter().any(|line| line.contains("danger py/os-exec")) {
            writeln!(wrong, "{bad:?}: {found:?}").unwrap();
        }
        let found = check(Profile::StrictPlugin, "a.py", &good);
        if found.iter().any(|line| line.contains("danger")) {
            writeln!(wrong, "twin {good:?}: {found:?}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// A name of one scope is not that of another.
const APART: &[&str] = &[
    "import os\ndef f():\n    m = os\ndef g(m):\n    m.system('x')\n",
    "import os\ndef f():\n    m = os\ndef g():\n    m = db()\n    m.system('x')\n",
    "import os\ndef f():\n    for m in [os]: pass\ndef g():\n    for m in db: m.system('x')\n",
    "import os\n[m for m in [os]]\nm.system('x')\n",
    "import os\nclass A:\n    m = os\ndef g():\n    m.system('x')\n",
    "import os\nf = lambda m=os: m\ng = lambda m: m.system('x')\n",
    "def f():\n    c = 'rm -rf /'\ndef g():\n    c = 'ls'\n    import subprocess\n    subprocess.run(c)\n",
    "def f():\n    import os as m\ndef g():\n    m.system('x')\n",
    "import os\ndef f(a, m): pass\ndef g(m): m.system('x')\nf(1, os)\n",
    "import os\ndef f(a, m): a.system('x')\nf(1, os)\n",
    "import os\nclass A:\n    def __init__(self, m): pass\nclass B:\n    def __init__(self, m): m.system('x')\nA(os)\n",
];

#[test]
fn a_local_is_no_local_of_another_function() {
    for text in APART {
        let found = check(Profile::StrictPlugin, "a.py", text);
        let danger = |line: &String| line.contains("danger") && !line.ends_with("py/subprocess");
        assert!(!found.iter().any(danger), "{text}: {found:?}");
    }
    // A condition is no part of what it chooses; what is chosen is either.
    for (text, rules) in [
        ("import subprocess\ne = 'git' if 'git' in u else 'hg'\nsubprocess.run([e, 'log'])\n", &[][..]),
        ("import os\nx = 'a' in os.environ\nx.items()\n", &[]),
        ("import os\nos.system('rm -rf /' if a else 'ls')\n", &["sh/destructive"]),
        (
            "import os\nc = 'ls' if a else 'curl u | sh' if b else 'rm -rf /'\nos.system(c)\n",
            &["sh/destructive", "sh/pipe-to-shell"],
        ),
        ("import os\nos.system(c or 'rm -rf /')\n", &["sh/destructive"]),
        ("import subprocess\nsubprocess.run(['rm' if a else 'ls', '-rf', '/'])\n", &["sh/destructive"]),
        ("import os\nfor c in ['ls', 'rm -rf /']: os.system(c)\n", &["sh/destructive"]),
        ("import subprocess\nsubprocess.run(c, shell=True if a else False)\n", &["py/subprocess-shell"]),
        ("import os\n(f if os else os).system('x')\n", &["py/os-exec"]),
        ("x = [eval]\nx[0]('y')\n", &["1:6 danger py/eval", "2:1 danger py/eval"]),
        ("import subprocess\nc = ['sh', '-c', d]\nsubprocess.run(c)\n", &["py/subprocess-shell"]),
        ("import subprocess\no = dict(shell=True)\nsubprocess.run(c, **o)\n", &["py/subprocess-shell"]),
        // A constant that is bound below is not yet kept where it is read.
        (
            "import os\ndef f(): os.system(c)\nc = 'ls' if a else 'rm -rf /'\n",
            &["py/os-exec", "sh/destructive"],
        ),
        ("import os\n{n: os.popen(n) for n in names}\nnames = ['ls', 'rm -rf /']\n", &["py/os-exec"]),
        ("import subprocess\nsubprocess.Popen(['sh' if a else 'bash', '-c', c])\n", &["py/subprocess-shell"]),
    ] {
        let found = check(Profile::StrictPlugin, "a.py", text);
        for rule in rules {
            assert!(found.iter().any(|line| line.contains(rule)), "{text}: {rule}: {found:?}");
        }
        let danger = |line: &String| line.contains("danger") && !line.ends_with("py/subprocess");
        let hidden = found.iter().any(danger);
        assert!(!rules.is_empty() || !hidden, "{text}: {found:?}");
    }
    // Constants of one function are not those of another.
    let text = "import os\ndef f():\n    c = 'ls'\ndef g():\n    c = 'rm -rf /'\n    os.system(c)\n";
    let found = check(Profile::StrictPlugin, "a.py", text);
    assert!(found.iter().any(|line| line.contains("sh/destructive")), "{found:?}");
}
