//! Python: growing lists and dictionaries, lambdas called in place, context managers, constants of classes.

use plugward_scanner::Profile;
use plugward_types::Severity;

use crate::common::report;

/// Each text, and the rule that it shows.
const FOUND: &[(&str, &str)] = &[
    ("import os\nfs = []\nfs.append(os)\nfs[0].system('x')", "py/os-exec"),
    ("import os\nfs = {}\nfs.setdefault('run', os)\nfs['run'].system('x')", "py/os-exec"),
    ("import os\nfs = {}\nfs['o'] = os\nfs.get('o').system('x')", "py/os-exec"),
    ("import subprocess\nkw = {}\nkw['shell'] = True\nsubprocess.run(c, **kw)", "py/subprocess-shell"),
    ("import subprocess\nkw = {}\nkw.update(shell=True)\nsubprocess.run(c, **kw)", "py/subprocess-shell"),
    (
        "import subprocess\nkw = {'a': 1}\nkw |= {'shell': True}\nsubprocess.run(c, **kw)",
        "py/subprocess-shell",
    ),
    ("import subprocess\nc = ['sh']\nc += ['-c', x]\nsubprocess.run(c)", "py/subprocess-shell"),
    ("import subprocess\nc = ['sh']\nc.extend(['-c', x])\nsubprocess.run(c)", "py/subprocess-shell"),
    ("import subprocess\nc = []\nc.append('sh')\nc.append('-c')\nsubprocess.run(c)", "py/subprocess-shell"),
    ("import subprocess\nc = ['-c']\nx = []\nx.append(1)\nsubprocess.run(['sh'] + c)", "py/subprocess-shell"),
    ("import os\n(lambda o, c: o.system(c))(os, 'x')", "py/os-exec"),
    ("import os\n(lambda *, o=1: o.system('x'))(o=os)", "py/os-exec"),
    ("(lambda p: open(p).read())('/root/.ssh/id_rsa')", "fs/sensitive-path"),
    (
        "import os\nclass A:\n    def __enter__(self):\n        return os\nwith A() as o:\n    o.system('x')",
        "py/os-exec",
    ),
    ("import os, contextlib\nwith contextlib.nullcontext(os) as o:\n    o.system('x')", "py/os-exec"),
    ("import os\nfor i, m in enumerate([os]):\n    m.system('x')", "py/os-exec"),
    ("import os\nfor m, c in zip([os], ['x']):\n    m.system(c)", "py/os-exec"),
    ("from shutil import os as o\no.system('x')", "py/os-exec"),
    (
        "import subprocess\nclass A:\n    if x:\n        c = ['sh', '-c']\n    def f(self): subprocess.run(self.c)",
        "py/subprocess-shell",
    ),
    (
        "import subprocess\nclass A:\n    shell = True\n    def f(self): subprocess.run(c, shell=self.shell)",
        "py/subprocess-shell",
    ),
    ("import os\nclass A:\n    n = 'system'\n    def f(self): getattr(os, A.n)('x')", "py/os-exec"),
    ("class A:\n    p = '/root/.ssh/id_rsa'\n    def f(self): open(self.p)", "fs/sensitive-path"),
    ("import subprocess\nenv = f()\nenv['LD_PRELOAD'] = 'x'\nsubprocess.run(['x'], env=env)", "env/hijack"),
    ("import requests\nrequests.get(u, **{'verify': False})", "net/tls-off"),
    ("import requests\nV = False\nrequests.get(u, verify=V)", "net/tls-off"),
    ("import ctypes\nctypes.cdll['x.so']", "native/ffi"),
    ("import asyncio\nloop.subprocess_shell(P, 'x')", "py/subprocess-shell"),
    ("import os\nos.spawnlp(os.P_WAIT, 'sh', 'sh', '-c', c)", "py/subprocess-shell"),
];

/// Each is harmless in a plugin: nothing is danger.
const CLEAN: &[&str] = &[
    "fs = []\nfs.append(print)\nfs[0]('x')",
    "import subprocess\nc = ['git']\nc.append('-c')\nc += ['a=b', 'log']\nsubprocess.run(c)",
    "import subprocess\nkw = {}\nkw['shell'] = False\nkw.update(check=True)\nsubprocess.run(['git'], **kw)",
    "import subprocess\nclass A:\n    shell = False\n    def f(self): subprocess.run(['x'], shell=self.shell)",
    "import os\nclass A:\n    n = 'system'\n    def f(self):\n        self.n = 'getcwd'\n        getattr(self, self.n)()",
    "(lambda o, c: o.system(c))(engine, 'x')",
    "class A:\n    def __enter__(self):\n        return self\nwith A() as o:\n    o.system('x')",
    "for i, m in enumerate(['a']):\n    m.system('x')",
    "from .local import system\nsystem('x')",
    "env = {}\nenv['LANG'] = 'C'\nenv['NODE_ENV'] = 'x'",
    "import requests\nV = True\nrequests.get(u, verify=V)",
    "import ctypes\nctypes.c_int[2]",
    "open('x.ssh')\nopen('notes/ssh/a')",
];

/// Directories that the system returned are neither danger nor suspicious; other computed ones are suspicious.
const TEMPORARY: &[(&str, bool)] = &[
    ("import tempfile, shutil\nd = tempfile.mkdtemp()\nshutil.rmtree(d)", false),
    ("import tempfile, shutil\nwith tempfile.TemporaryDirectory() as d:\n    shutil.rmtree(d)", false),
    ("import tempfile, shutil, os\nd = tempfile.mkdtemp()\nshutil.rmtree(os.path.join(d, 'x'))", false),
    ("import tempfile, shutil\nd = tempfile.mkdtemp()\nd = x\nshutil.rmtree(d)", true),
    ("import tempfile, shutil\nd = tempfile.gettempdir()\nshutil.rmtree(d)", true),
    ("import tempfile, shutil, os\nd = tempfile.mkdtemp()\nshutil.rmtree(os.path.join(x, d))", true),
];

#[test]
fn a_folder_that_the_system_gave_may_be_deleted() {
    for (text, found) in TEMPORARY {
        let report = report(Profile::StrictPlugin, &[("a.py", text.as_bytes())]);
        let shown = report.findings().iter().any(|finding| finding.rule.to_string() == "fs/recursive-delete");
        assert_eq!(shown, *found, "{text}");
    }
}

#[test]
fn what_grows_is_given_or_entered_is_found() {
    for (text, rule) in FOUND {
        let report = report(Profile::StrictPlugin, &[("a.py", text.as_bytes())]);
        assert!(report.findings().iter().any(|finding| finding.rule.to_string() == *rule), "{rule}: {text}");
    }
}

#[test]
fn what_grows_with_other_things_is_no_danger() {
    for text in CLEAN {
        let report = report(Profile::StrictPlugin, &[("a.py", text.as_bytes())]);
        let danger = report.findings().iter().filter(|finding| finding.severity == Severity::Danger);
        let danger = danger.map(|finding| finding.rule.to_string());
        // Any process is a danger in this profile.
        let danger: Vec<String> = danger.filter(|rule| rule != "py/subprocess").collect();
        assert_eq!(danger, Vec::<String>::new(), "{text}");
    }
}
