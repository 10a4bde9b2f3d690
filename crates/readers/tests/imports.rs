//! The files, modules and commands that programs load or start.

use plugward_readers::{Import, ImportTarget, Language, imports};

/// Returns the targets of a program at `/p/.claude/a.EXTENSION`, one per line.
fn found(language: Language, source: &str) -> Vec<String> {
    let path = match language {
        Language::JavaScript => "/p/.claude/a.mjs",
        Language::Python => "/p/.claude/a.py",
    };
    let shown = |one: Import| {
        let target = match one.target {
            ImportTarget::Module(name) => format!("module {name}"),
            ImportTarget::File(path) => format!("file {path}"),
            ImportTarget::Directory(path) => format!("directory {path}"),
            ImportTarget::Command(words) => format!("command {}", words.join(" ")),
            ImportTarget::Shell(text) => format!("shell {text}"),
        };
        one.directory.map(|at| format!("{at}: {target}")).unwrap_or(target)
    };
    imports(language, source.as_bytes(), path).into_iter().map(shown).collect()
}

fn check(language: Language, cases: &[(&str, &str)]) {
    for (source, wanted) in cases {
        let found = found(language, source);
        assert!(found.iter().any(|one| one == wanted), "{source}\nwanted: {wanted}\nfound: {found:#?}");
    }
}

#[test]
fn javascript_loads_modules_and_files() {
    check(
        Language::JavaScript,
        &[
            ("import './b.mjs'", "module ./b.mjs"),
            ("import b from \"./b.mjs\"", "module ./b.mjs"),
            ("import { b as c } from './b.mjs'", "module ./b.mjs"),
            ("import * as b from './b.mjs'", "module ./b.mjs"),
            ("export * from './b.mjs'", "module ./b.mjs"),
            ("export { b } from './b.mjs'", "module ./b.mjs"),
            ("await import('./b.mjs')", "module ./b.mjs"),
            ("import('./' + 'b.mjs')", "module ./b.mjs"),
            ("import(new URL('./b.mjs', import.meta.url))", "module /p/.claude/./b.mjs"),
            ("import(`${__dirname}/b.mjs`)", "module /p/.claude/b.mjs"),
            ("require('./b.cjs')", "module ./b.cjs"),
            ("const r = require; r('./b.cjs')", "module ./b.cjs"),
            ("module.require('./b.cjs')", "module ./b.cjs"),
            ("require.resolve('./b.cjs')", "module ./b.cjs"),
            (
                "import { createRequire } from 'node:module'; const r = createRequire(import.meta.url); r('./b')",
                "module ./b",
            ),
            (
                "const p = require('path'); require(p.join(__dirname, 'lib', 'b.js'))",
                "module /p/.claude/lib/b.js",
            ),
            ("new Worker('./w.js')", "file ./w.js"),
            (
                "const { Worker } = require('worker_threads'); new Worker(__filename + '.w')",
                "file /p/.claude/a.mjs.w",
            ),
            ("const { fork } = require('child_process'); fork('./b.js')", "file ./b.js"),
            ("eval(require('fs').readFileSync(__dirname + '/b.txt', 'utf8'))", "file /p/.claude/b.txt"),
            ("require('vm').runInThisContext(fs.readFileSync('b.txt'))", "file b.txt"),
        ],
    );
}

#[test]
fn javascript_starts_commands() {
    check(
        Language::JavaScript,
        &[
            (
                "require('child_process').execFileSync('node', [__dirname + '/b.cjs'])",
                "command node /p/.claude/b.cjs",
            ),
            (
                "import { spawn } from 'node:child_process'; import path from 'node:path';
                 import { fileURLToPath } from 'url';
                 const here = path.dirname(fileURLToPath(import.meta.url));
                 spawn(process.execPath, [path.join(here, 'b.mjs'), process.argv[2]])",
                "command node /p/.claude/b.mjs $_",
            ),
            (
                "import { exec as run } from 'child_process'; run(`bash ${import.meta.dirname}/b.sh ${x}`)",
                "shell bash /p/.claude/b.sh $_",
            ),
            ("import cp from 'child_process'; cp.execSync('. ./b.sh')", "shell . ./b.sh"),
            (
                "const { spawnSync } = require('child_process'); spawnSync('sh x.sh', { shell: true })",
                "shell sh x.sh",
            ),
            ("Bun.spawn(['sh', 'b.sh'])", "command sh b.sh"),
            ("new Deno.Command('sh', { args: ['b.sh'] })", "command sh b.sh"),
            (
                "const cp = require('child_process'); const at = (n) => __dirname + '/' + n; cp.spawn('sh', [at('b.sh')])",
                "command sh /p/.claude/b.sh",
            ),
            (
                "const d = process.env.CLAUDE_PROJECT_DIR; require('child_process').execFile(d + '/x.sh')",
                "command ${CLAUDE_PROJECT_DIR}/x.sh",
            ),
        ],
    );
}

#[test]
fn python_loads_modules_and_files() {
    check(
        Language::Python,
        &[
            ("import b", "module b"),
            ("import a.b as c, d", "module a.b"),
            ("from . import b", "module .b"),
            ("from .x import y", "module .x"),
            ("from .x import y", "module .x.y"),
            ("from x import *", "module x"),
            ("def f():\n    from pkg import mod", "module pkg.mod"),
            ("import importlib\nimportlib.import_module('x.y')", "module x.y"),
            ("__import__('b')", "module b"),
            ("import runpy\nrunpy.run_path('x.py')", "file x.py"),
            ("import runpy\nrunpy.run_module('x')", "module x"),
            ("exec(open('x.py').read())", "file x.py"),
            (
                "from pathlib import Path\nexec(compile(Path(__file__).with_name('x.py').read_text(), 'x', 'exec'))",
                "file /p/.claude/x.py",
            ),
            ("with open('x.py') as f:\n    exec(f.read())", "file x.py"),
            ("import importlib.util as u\nu.spec_from_file_location('m', 'lib/m.py')", "file lib/m.py"),
            (
                "import sys, os\nsys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))",
                "directory /p/.claude/lib",
            ),
            (
                "import sys\nfrom pathlib import Path\nsys.path.append(str(Path(__file__).resolve().parent.parent / 'lib'))",
                "directory /p/lib",
            ),
            (
                "import sys\nfrom pathlib import Path\nsys.path.insert(0, str(Path(__file__).parents[1]))",
                "directory /p",
            ),
        ],
    );
}

#[test]
fn python_starts_commands() {
    check(
        Language::Python,
        &[
            ("import subprocess\nsubprocess.run(['sh', 'b.sh'])", "command sh b.sh"),
            ("from subprocess import Popen as P\nP(('sh', 'b.sh'))", "command sh b.sh"),
            (
                "import subprocess, sys\nfrom pathlib import Path\nHERE = Path(__file__).parent\nsubprocess.run([sys.executable, str(HERE / 'b.py'), sys.argv[1]])",
                "command python3 /p/.claude/b.py $_",
            ),
            ("import subprocess\nsubprocess.run('sh b.sh', shell=True)", "shell sh b.sh"),
            (
                "import os\nos.system(f\"bash {os.path.dirname(__file__)}/b.sh {x}\")",
                "shell bash /p/.claude/b.sh $_",
            ),
            ("import os\nos.execv('/bin/sh', ['sh', 'b.sh'])", "command sh b.sh"),
            ("import os\nos.execlp('sh', 'sh', 'b.sh')", "command sh b.sh"),
            (
                "import os, subprocess\nd = os.environ.get('CLAUDE_PROJECT_DIR', os.getcwd())\nsubprocess.call(['sh', d + '/b.sh'])",
                "command sh ${CLAUDE_PROJECT_DIR}/b.sh",
            ),
        ],
    );
}

/// Unknown parts are marked, and what lists files stands for any of them.
#[test]
fn a_file_of_a_directory_is_a_pattern() {
    check(
        Language::JavaScript,
        &[
            ("for (const f of fs.readdirSync('x')) require('./x/' + f)", "module ./x/$_"),
            ("import(`./x/${name}.mjs`)", "module ./x/$_.mjs"),
            (
                "const d = path.join(__dirname, 'x'); fs.readdirSync(d).forEach(f => require(path.join(d, f)))",
                "module /p/.claude/x/$_",
            ),
            (
                "const { globSync } = require('glob'); globSync(__dirname + '/x/**/*.js').map(f => require(f))",
                "module /p/.claude/x/**/*.js",
            ),
            (
                "const run = d => { for (const e of fs.readdirSync(d)) require(d + '/' + e.name) }; run(__dirname + '/x')",
                "module /p/.claude/x/$_",
            ),
            (
                "function walk(d) { for (const e of fs.readdirSync(d)) { const p = path.join(d, e); if (q) walk(p); else require(p) } } walk('/x')",
                "module /x/$_/$_",
            ),
            (
                "import { readdir } from 'fs/promises'; const d = new URL('./x/', import.meta.url);
                 for (const f of await readdir(d)) await import(new URL(f, d))",
                "module /p/.claude/./x/$_",
            ),
        ],
    );
    check(
        Language::Python,
        &[
            ("import glob, runpy\nfor f in sorted(glob.glob('x/*.py')): runpy.run_path(f)", "file x/*.py"),
            (
                "from pathlib import Path\nimport subprocess as s\nfor f in Path(__file__).parent.rglob('*.sh'): s.run(['sh', str(f)])",
                "command sh /p/.claude/**/*.sh",
            ),
            (
                "import os\nfor r, _, names in os.walk('x'):\n  for n in names: exec(open(os.path.join(r, n)).read())",
                "file x/**/$_",
            ),
            ("import os\nfor e in os.scandir('x'): os.system('sh ' + e.path)", "shell sh x/$_"),
            ("import pkgutil\npkgutil.iter_modules(['x'])", "file x/*.py"),
            ("import importlib\nimportlib.import_module('x.' + name)", "module x.$_"),
            ("import runpy\nrunpy.run_path('x/%s.py' % name)", "file x/$_.py"),
        ],
    );
}

#[test]
fn commands_have_the_directory_in_which_they_start() {
    check(
        Language::JavaScript,
        &[
            (
                "const cp = require('child_process'); cp.execSync('sh b.sh', { cwd: __dirname + '/x' })",
                "/p/.claude/x: shell sh b.sh",
            ),
            (
                "const cp = require('child_process'); const cwd = 'x'; cp.spawn('sh', ['b.sh'], { cwd })",
                "x: command sh b.sh",
            ),
            (
                "process.chdir(__dirname); require('child_process').execSync('sh b.sh')",
                "/p/.claude: shell sh b.sh",
            ),
            ("require(process.cwd() + '/b.js')", "module ${PWD}/b.js"),
            ("import(pathToFileURL(path.resolve('b.mjs')).href)", "module ${PWD}/b.mjs"),
            (
                "const top = require('child_process').execSync('git rev-parse --show-toplevel').toString().trim(); require(top + '/b')",
                "module ${TOP_LEVEL}/b",
            ),
            ("require(require.resolve('./b'))", "module ./b"),
        ],
    );
    check(
        Language::Python,
        &[
            ("import subprocess\nsubprocess.run(['sh', 'b.sh'], cwd='x')", "x: command sh b.sh"),
            ("import contextlib, os\nwith contextlib.chdir('x'): os.system('sh b.sh')", "x: shell sh b.sh"),
            (
                "import os, runpy\nos.chdir(os.path.dirname(__file__))\nrunpy.run_path('b.py')",
                "/p/.claude: file b.py",
            ),
            (
                "import subprocess as s\nt = s.check_output(['git', 'rev-parse', '--show-toplevel'], text=True).strip()\ns.run(['sh', t + '/b.sh'])",
                "command sh ${TOP_LEVEL}/b.sh",
            ),
        ],
    );
}

#[test]
fn what_is_not_constant_or_not_loaded_is_left_out() {
    for (language, source) in [
        (Language::JavaScript, "console.log('./b.mjs'); fs.readFileSync('./b.json'); import(name)"),
        (Language::JavaScript, "// import './b.mjs'\nconst text = \"import './b.mjs'\""),
        (Language::JavaScript, "const cp = { exec() {} }; cp.exec('sh b.sh')"),
        (Language::Python, "print('import b')\nopen('b.py').read()\nrun(['sh', 'b.sh'])"),
    ] {
        assert_eq!(found(language, source), [] as [&str; 0], "{source}");
    }
}

#[test]
fn lines_are_those_of_the_file() {
    let found = imports(Language::JavaScript, b"// a\n\nimport './b.mjs';\nimport './c.mjs'", "a.mjs");
    assert_eq!(found.iter().map(|one| one.line).collect::<Vec<_>>(), [3, 4]);
}
