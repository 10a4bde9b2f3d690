//! Build logs, service logs, git output, lock files, source and blobs, with a secret every so often.
#![expect(clippy::arithmetic_side_effects, reason = "sizes of a corpus that is held in memory")]

use core::ops::Range;

use plugward_redact::{RedactAction, SecretFinding};

use crate::plant::{MAKERS, Rng};
use crate::plant_encode::{base64, hex};

/// A planted secret.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// Name of the shape.
    pub(crate) shape: &'static str,
    /// The encoding, or `plain`.
    pub(crate) encoding: &'static str,
    /// Lines in the text, from 1.
    pub(crate) lines: Range<usize>,
}

/// A text with planted secrets.
#[derive(Debug, Clone)]
pub(crate) struct Corpus {
    /// The text.
    pub(crate) text: Vec<u8>,
    /// The planted secrets.
    pub(crate) places: Vec<Place>,
}

const WORDS: &[&str] = &[
    "account",
    "adapter",
    "agent",
    "archive",
    "array",
    "async",
    "audit",
    "backend",
    "batch",
    "binary",
    "bridge",
    "buffer",
    "builder",
    "bundle",
    "cache",
    "callback",
    "channel",
    "chunk",
    "client",
    "cluster",
    "codec",
    "column",
    "command",
    "config",
    "connection",
    "container",
    "context",
    "controller",
    "cookie",
    "counter",
    "cursor",
    "daemon",
    "database",
    "decoder",
    "default",
    "deploy",
    "device",
    "digest",
    "domain",
    "driver",
    "element",
    "encoder",
    "endpoint",
    "engine",
    "entity",
    "entry",
    "error",
    "event",
    "executor",
    "export",
    "factory",
    "feature",
    "field",
    "filter",
    "fixture",
    "folder",
    "format",
    "frame",
    "function",
    "gateway",
    "graph",
    "group",
    "handler",
    "header",
    "helper",
    "hook",
    "image",
    "import",
    "index",
    "input",
    "instance",
    "item",
    "iterator",
    "journal",
    "kernel",
    "label",
    "layer",
    "layout",
    "lexer",
    "library",
    "limit",
    "listener",
    "loader",
    "locale",
    "logger",
    "manager",
    "manifest",
    "mapper",
    "matrix",
    "member",
    "memory",
    "message",
    "method",
    "metric",
    "migration",
    "mirror",
    "model",
    "module",
    "monitor",
    "network",
    "node",
    "number",
    "object",
    "offset",
    "option",
    "order",
    "output",
    "package",
    "packet",
    "page",
    "panel",
    "parser",
    "patch",
    "path",
    "pattern",
    "payload",
    "permission",
    "pipeline",
    "plugin",
    "pointer",
    "policy",
    "pool",
    "port",
    "prefix",
    "process",
    "profile",
    "project",
    "promise",
    "property",
    "protocol",
    "provider",
    "proxy",
    "query",
    "queue",
    "random",
    "range",
    "reader",
    "record",
    "region",
    "registry",
    "release",
    "render",
    "report",
    "request",
    "resolver",
    "resource",
    "response",
    "result",
    "route",
    "router",
    "runner",
    "runtime",
    "sample",
    "scheduler",
    "schema",
    "scope",
    "section",
    "segment",
    "selector",
    "server",
    "service",
    "setting",
    "shader",
    "signal",
    "snapshot",
    "socket",
    "source",
    "stack",
    "state",
    "storage",
    "stream",
    "string",
    "style",
    "subject",
    "symbol",
    "system",
    "table",
    "target",
    "task",
    "template",
    "terminal",
    "thread",
    "ticket",
    "timer",
    "tracker",
    "transform",
    "tree",
    "trigger",
    "tuple",
    "update",
    "upload",
    "user",
    "value",
    "variable",
    "vector",
    "version",
    "view",
    "volume",
    "watcher",
    "widget",
    "window",
    "worker",
    "writer",
];

const HEX: &str = "0123456789abcdef";
const DIGITS: &str = "0123456789";
const B64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct Make {
    rng: Rng,
    out: String,
}

impl Make {
    fn word(&mut self) -> &'static str {
        WORDS.get(self.rng.below(WORDS.len())).copied().unwrap_or("word")
    }

    fn camel(&mut self) -> String {
        let (first, second) = (self.word(), self.word());
        let (head, tail) = second.split_at(1);
        format!("{first}{}{tail}", head.to_ascii_uppercase())
    }

    fn snake(&mut self) -> String {
        format!("{}_{}", self.word(), self.word())
    }

    fn hex(&mut self, count: usize) -> String {
        self.rng.text(HEX, count)
    }

    fn digits(&mut self, count: usize) -> String {
        self.rng.text(DIGITS, count)
    }

    fn version(&mut self) -> String {
        format!("{}.{}.{}", self.rng.below(9), self.rng.below(30), self.rng.below(20))
    }

    fn time(&mut self) -> String {
        let (a, b, c, d) =
            (self.rng.below(28) + 1, self.rng.below(24), self.rng.below(60), self.rng.below(1000));
        format!("2026-03-{a:02}T{b:02}:{c:02}:{:02}.{d:03}Z", (a + c) % 60)
    }

    fn uuid(&mut self) -> String {
        format!("{}-{}-4{}-a{}-{}", self.hex(8), self.hex(4), self.hex(3), self.hex(3), self.hex(12))
    }

    fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn service_log(&mut self) {
        for _ in 0..40 {
            let (time, id, a, b) = (self.time(), self.uuid(), self.snake(), self.camel());
            let level = ["INFO", "DEBUG", "WARN", "ERROR"].get(self.rng.below(4)).copied().unwrap_or("INFO");
            let (ms, code) = (self.rng.below(900), 200 + self.rng.below(300));
            let text = format!(
                "{time} {level} [{a}] {b} finished request_id={id} status={code} in {ms} ms peer=10.{}.{}.{}:{}",
                ms % 250,
                code % 250,
                ms % 99,
                30000 + ms
            );
            self.line(&text);
        }
    }

    fn json_log(&mut self) {
        for _ in 0..30 {
            let (time, id, a, b, c) = (self.time(), self.hex(32), self.snake(), self.camel(), self.word());
            let text = format!(
                "{{\"ts\":\"{time}\",\"trace\":\"{id}\",\"logger\":\"{a}\",\"msg\":\"{b} \\\"{c}\\\" done\\n\",\"tokens\":{},\"ok\":true}}",
                self.rng.below(4096)
            );
            self.line(&text);
        }
    }

    fn build_log(&mut self) {
        for _ in 0..60 {
            let (a, b) = (self.word(), self.word());
            let version = self.version();
            let text = format!("   \x1b[1m\x1b[32mCompiling\x1b[0m {a}-{b} v{version}");
            self.line(&text);
        }
        let (a, b) = (self.snake(), self.word());
        let text = format!(
            "warning: unused variable: `{a}`\n  --> src/{b}/{a}.rs:{}:{}\n   |\n   = note: `#[warn(unused_variables)]` on by default",
            self.rng.below(400),
            self.rng.below(80)
        );
        self.line(&text);
    }

    fn git(&mut self) {
        let (id, a, b, c) = (self.hex(40), self.camel(), self.word(), self.snake());
        let text = format!(
            "commit {id}\nAuthor: A. Developer <dev@example.org>\nDate:   Mon Mar 2 10:11:12 2026 +0000\n\n    {b}: make {a} keep its {c}\n"
        );
        self.line(&text);
        let text = format!(
            "diff --git a/src/{c}.ts b/src/{c}.ts\nindex {}..{} 100644\n--- a/src/{c}.ts\n+++ b/src/{c}.ts\n@@ -{},6 +{},9 @@",
            self.hex(8),
            self.hex(8),
            self.rng.below(300),
            self.rng.below(300)
        );
        self.line(&text);
        for _ in 0..14 {
            let code = self.code_line();
            let sign = ["+", "-", " "].get(self.rng.below(3)).copied().unwrap_or(" ");
            let text = format!("{sign}{code}");
            self.line(&text);
        }
    }

    fn code_line(&mut self) -> String {
        let (a, b, c, d) = (self.camel(), self.camel(), self.word(), self.snake());
        match self.rng.below(16) {
            0 => format!(
                "    const {a} = await this.{c}.{b}({d}, {{ {c}: true, retries: {} }});",
                self.rng.below(9)
            ),
            1 => format!("    if ({a}.{c} === null || {b}.length < {}) {{", self.rng.below(64)),
            2 => format!("        self.{d} = {d} or {c}.{a}(\"{c}\")"),
            3 => format!("    let {d}: Option<{b}> = {c}.get(&{a})?.{d}();"),
            4 => format!("// {c} {a} keeps the {d} so that the {c} may {}.", self.word()),
            5 => {
                format!("    return {{ {c}: {a}.{b}, {}: '{d}', id: `${{{c}.id}}-${{{a}}}` }};", self.word())
            }
            6 => format!("        throw new Error(`{c} {d} is not a ${{{a}}}`);"),
            7 => format!("import {{ {a}, {b} }} from '@scope/{c}-{}';", self.word()),
            8 => format!("    \"{d}\": \"{c}-{}\",", self.word()),
            9 => format!("    {c}_token = os.environ.get(\"{}\", None)", d.to_ascii_uppercase()),
            10 => format!("  password: ${{{{ secrets.{} }}}}", d.to_ascii_uppercase()),
            11 => {
                format!("    fn {d}(&mut self, token: &Token, secret: Option<&str>) -> Result<{b}, Error> {{")
            }
            12 => {
                format!("    assert_eq!({a}.next_token(), Token::{}({}));", self.word(), self.rng.below(99))
            }
            13 => format!("url = \"https://{c}.example.org/{d}/{a}?page={}&sort=asc\"", self.rng.below(99)),
            14 => "    }".to_owned(),
            _ => String::new(),
        }
    }

    fn code(&mut self) {
        for _ in 0..80 {
            let line = self.code_line();
            self.line(&line);
        }
    }

    fn lock(&mut self) {
        for _ in 0..16 {
            let (a, b, v) = (self.word(), self.word(), self.version());
            let sum = self.hex(64);
            let text = format!(
                "[[package]]\nname = \"{a}-{b}\"\nversion = \"{v}\"\nsource = \"registry\"\nchecksum = \"{sum}\"\n"
            );
            self.line(&text);
            let integrity = self.rng.text(B64, 86);
            let text = format!(
                "    \"node_modules/{a}-{b}\": {{\n      \"version\": \"{v}\",\n      \"integrity\": \"sha512-{integrity}==\"\n    }},"
            );
            self.line(&text);
            let go = self.rng.text(B64, 43);
            let text = format!("github.com/{a}/{b} v{v} h1:{go}=");
            self.line(&text);
        }
    }

    fn blob(&mut self) {
        let image = self.rng.text(B64, 1200);
        let text = format!(
            ".{}{{background:url(data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA{image}==)}}",
            self.word()
        );
        self.line(&text);
        for row in 0..24 {
            let bytes = self.hex(32);
            let pairs: Vec<&str> = (0..8).filter_map(|i| bytes.get(i * 4..i * 4 + 4)).collect();
            let text = format!("{:08x}: {}  ................", row * 16, pairs.join(" "));
            self.line(&text);
        }
        for _ in 0..6 {
            let (a, b) = (self.hex(64), self.word());
            let text = format!("{a}  {b}.tar.gz");
            self.line(&text);
        }
    }

    fn trace(&mut self) {
        let a = self.camel();
        let text = format!("TypeError: Cannot read properties of undefined (reading '{a}')");
        self.line(&text);
        for _ in 0..12 {
            let (b, c, d) = (self.camel(), self.word(), self.word());
            let text = format!(
                "    at {b} (/app/node_modules/{c}-{d}/lib/{c}.js:{}:{})",
                self.rng.below(900),
                self.rng.below(80)
            );
            self.line(&text);
        }
        let n = self.digits(5);
        let text = format!("npm ERR! code ELIFECYCLE\nnpm ERR! errno 1 pid {n}");
        self.line(&text);
    }

    fn segment(&mut self) {
        match self.rng.below(9) {
            0 | 1 => self.service_log(),
            2 => self.json_log(),
            3 => self.build_log(),
            4 => self.git(),
            5 | 6 => self.code(),
            7 => self.lock(),
            _ => {
                self.trace();
                self.blob();
            }
        }
    }
}

/// The notations of a planted text, and how often each occurs out of 17.
fn encoding(index: usize) -> &'static str {
    match index % 17 {
        12 => "json",
        13 => "base64",
        14 => "percent",
        15 => "hex",
        16 => "unicode",
        _ => "plain",
    }
}

fn encode(text: &str, encoding: &str) -> String {
    match encoding {
        "json" => format!(
            "{{\"output\":\"{}\"}}",
            text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
        ),
        "base64" => format!("payload: {}", base64(text.as_bytes())),
        "percent" => text.bytes().fold("body=".to_owned(), |out, byte| out + &format!("%{byte:02X}")),
        "hex" => format!("dump {}", hex(text.as_bytes())),
        "unicode" => text.bytes().fold("text ".to_owned(), |out, byte| out + &format!("\\u{byte:04x}")),
        _ => text.to_owned(),
    }
}

/// Generates a text of about `size` bytes with 17 secrets of each shape: 12 in plain text, 5 encoded.
pub(crate) fn corpus(seed: u64, size: usize) -> Corpus {
    let count = MAKERS.len() * 17;
    let mut make = Make { rng: Rng::new(seed), out: String::with_capacity(size + (1 << 20)) };
    let mut places = Vec::with_capacity(count);
    let mut line = 1;
    let mut counted = 0;
    for index in 0..count {
        while make.out.len() < size / count * (index + 1) {
            make.segment();
        }
        let Some((shape, _, maker)) = MAKERS.get(index % MAKERS.len()) else { continue };
        let encoding = encoding(index / MAKERS.len());
        let text = encode(&maker(&mut make.rng).text(), encoding);
        line += make.out.bytes().skip(counted).filter(|byte| *byte == b'\n').count();
        counted = make.out.len();
        make.line(&text);
        let lines = line..line + text.bytes().filter(|byte| *byte == b'\n').count() + 1;
        places.push(Place { shape, encoding, lines });
    }
    while make.out.len() < size {
        make.segment();
    }
    Corpus { text: make.out.into_bytes(), places }
}

/// Returns the lines of the raw text that have findings, from the offsets in the output.
pub(crate) fn found_lines(raw: &[u8], findings: &[SecretFinding]) -> Vec<Range<usize>> {
    // A marker can be longer than the value, so lines are counted in the raw text.
    let (mut raw_at, mut out_at) = (0_usize, 0_usize);
    let (mut line, mut counted) = (1, 0);
    let mut lines = Vec::with_capacity(findings.len());
    for found in findings {
        let start = raw_at + found.at.start.saturating_sub(out_at);
        let between = raw.get(counted..start).unwrap_or_default();
        line += memchr::memchr_iter(b'\n', between).count();
        counted = start.max(counted);
        let inside = raw.get(start..start + found.raw_len).unwrap_or_default();
        lines.push(line..line + memchr::memchr_iter(b'\n', inside).count() + 1);
        if found.action == RedactAction::Removed {
            raw_at = start + found.raw_len;
            out_at = found.at.end + kept_colors(inside);
        }
    }
    lines
}

/// Returns the length of the color sequences of a removed value, which stay after its marker.
fn kept_colors(raw: &[u8]) -> usize {
    let sequence = |start: usize| {
        let inside = raw.get(start..).unwrap_or_default().strip_prefix(b"\x1b[")?;
        let end = inside.iter().take(22).position(|byte| !matches!(byte, b'0'..=b'9' | b';' | b':'))?;
        (inside.get(end) == Some(&b'm')).then_some(end + 3)
    };
    memchr::memchr_iter(0x1b, raw).filter_map(sequence).sum()
}
