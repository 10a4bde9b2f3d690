//! The reference manager's scan, case by case: the same findings with at least the same severity, and no others.

use plugward_scanner::Profile;
use plugward_types::Severity;

use crate::common::{check, worst};

fn expect(severity: Severity, texts: &[&str]) {
    for text in texts {
        assert_eq!(
            worst("index.ts", text),
            Some(severity),
            "{text}: {:?}",
            check(Profile::StrictPlugin, "index.ts", text)
        );
    }
}

#[test]
fn danger_comes_first() {
    expect(
        Severity::Danger,
        &[
            "import { exec } from 'child_process';",
            "import cp from \"node:child_process\";",
            "import vm from 'vm';",
            "import { Worker } from 'worker_threads';",
            "import cluster from 'cluster';",
            "const x = eval('x');",
            "const f = new Function('return 1');",
            "process.binding('fs');",
            "const fs = require('fs');",
            "const m = await import('./d.js');",
            "import.meta.resolve('./f');",
            "import x from '@company/package';",
            "import _ from 'lodash';",
            "cp.execFile('ls');",
            "cp.execSync('ls');",
            "cp.spawnSync('ls');",
            "cp.execFileSync('ls');",
            "cp.exec('ls');",
            "own.cp?.exec('ls ' + dir);",
            "let c = 'ls'; own.cp?.exec(c);",
        ],
    );
    assert!(
        check(Profile::StrictPlugin, "index.ts", "const fs = require('fs');")
            .iter()
            .any(|line| line.ends_with("warning fs/module"))
    );
}

#[test]
fn warnings_and_notes() {
    expect(
        Severity::Warning,
        &[
            "import { readFileSync } from 'fs';",
            "import fs from 'node:fs';",
            "import { readFile } from 'fs/promises';",
            "import fsp from 'node:fs/promises';",
            "import net from 'net';",
            "import http from 'node:http';",
            "const r = await fetch(url);",
            "const v = process.env.HOME;",
            "globalThis.foo = 'bar';",
        ],
    );
    expect(
        Severity::Info,
        &[
            "import path from 'node:path'; const p = path.join(a, b);",
            "const here = __dirname;",
            "import { realpathSync } from './own.js';\nrealpathSync(p);",
            "if (rel.startsWith('..')) throw 1;",
            "const allowed = config.allowedPaths;",
            "if (stat.size > limit) throw 1;",
            "if (!config.allowWrites) throw 1;",
            "names.filter((n) => !n.startsWith('.'));",
        ],
    );
}

#[test]
fn nothing_where_nothing_is() {
    for text in [
        "// child_process is not used here",
        "/* eval('x') */",
        "/**\n * spawn('ls')\n */",
        "const m = LINK_RE.exec(h);",
        "let m; while ((m = /a(b)/g.exec(line)) !== null) count(m[1]);",
        "const parts = new RegExp(`^${name}$`).exec(input.trim());",
        "const parts = RE.exec(input.replace('a', 'b'));",
        "let server: import(\"http\").Server;",
        "type Req = import(\"http\").IncomingMessage;",
        "function f(res: import(\"http\").ServerResponse): Promise<import(\"http\").Server> { return g(res); }",
        "import { x } from './utils.js';",
        "import path from 'node:path';",
        "export function createHostFunctions(config: Config) {\n  return { 'fs-read': { read: (p: string) => `${p}` } };\n}\n",
    ] {
        assert_eq!(check(Profile::StrictPlugin, "index.ts", text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn the_line_is_the_right_one() {
    assert_eq!(
        check(Profile::StrictPlugin, "index.ts", "const a = 1;\n\nconst b = eval('x');\n"),
        ["3:11 danger exec/eval"]
    );
}

#[test]
fn a_call_of_a_modules_member_is_found_where_it_stands() {
    for name in ["exec", "execSync", "spawn", "fork", "anything"] {
        for (text, place) in [
            (format!("import {{ {name} }} from 'node:child_process';\n  {name}('id');\n"), "2:3"),
            (format!("import {{ {name} as n }} from 'child_process';\n  n('id');\n"), "2:3"),
            (format!("import * as cp from 'child_process';\n  cp.{name}('id');\n"), "2:3"),
            (format!("const cp = require('child_process');\n  cp.{name}('id');\n"), "2:3"),
        ] {
            for profile in Profile::ALL {
                let found = check(profile, "index.mjs", &text);
                assert!(found.contains(&format!("{place} danger exec/child-process")), "{text}: {found:?}");
            }
        }
    }
}
