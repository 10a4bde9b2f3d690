//! Data flow of secrets and foreign code from sources to sinks.

use plugward_readers::{Alternative, Call, Evaluation, Language, Name, NamePart, Node, NodeId, Taint, Value};
use plugward_types::Part;

use super::RuleAnalysis;
use crate::known::credentials;
use crate::text::view::Obfuscations;

/// Taint: all environment variables.
const ENVIRONMENT: u32 = 1;
/// Taint: the contents of a credential file.
const CREDENTIALS: u32 = 2;
/// Taint: one variable whose name suggests a secret.
const NAMED: u32 = 4;
/// Taint: data received from another host.
const DOWNLOAD: u32 = 8;
/// Taint: data that was encoded, compressed or encrypted.
const DECODED: u32 = 16;

/// The effect of a call on its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Effect {
    #[default]
    Nothing,
    /// Sends it to another host, and returns that host's answer.
    Sends,
    /// Runs it as code or as a command. The returned value is not the data.
    Runs,
    /// Decodes it.
    Decodes,
}

const SENDS_JS: &[&str] = plugward_types::words![
    "fetch @axios @axios.post @axios.put @axios.patch @axios.request @axios.get @got @got.post @got.put",
    "@got.get @node-fetch @undici.fetch @undici.request @http.request @http.get @https.request @https.get",
    "@https.request().write @https.request().end @http.request().write @http.request().end",
    "@net.connect().write @net.createConnection().write @net.connect().end @dns.lookup @dns.resolve",
    "@dns.resolveTxt @dns.resolve4 @dns/promises.lookup @dns/promises.resolve @dns/promises.resolve4",
    "navigator.sendBeacon @ws().send WebSocket().send @superagent.post().send @request.post",
    "@nodemailer.createTransport().sendMail",
];
const SENDS_PY: &[&str] = plugward_types::words![
    "@requests.post @requests.put @requests.patch @requests.get @requests.request @requests.Session().post",
    "@requests.Session().get @httpx.post @httpx.put @httpx.get @httpx.Client().post",
    "@httpx.AsyncClient().post @urllib.request.urlopen @urllib.request.urlretrieve",
    "@http.client.HTTPSConnection().request @http.client.HTTPConnection().request @socket.socket().sendall",
    "@socket.socket().send @socket.socket().sendto @socket.create_connection().sendall",
    "@socket.create_connection().send @socket.gethostbyname @socket.getaddrinfo @smtplib.SMTP().sendmail",
    "@smtplib.SMTP_SSL().sendmail @aiohttp.ClientSession().post @urllib3.PoolManager().request",
    "@ftplib.FTP().storbinary",
];
const RUNS_JS: &[&str] = plugward_types::words![
    "eval Function @vm.runInThisContext @vm.runInNewContext @vm.runInContext @vm.Script @child_process.exec",
    "@child_process.execSync @child_process.execFile @child_process.execFileSync @child_process.spawn",
    "@child_process.spawnSync @child_process.fork @module()._compile *._compile",
];
const RUNS_PY: &[&str] = plugward_types::words![
    "exec eval @builtins.exec @builtins.eval @os.system @os.popen @subprocess.run @subprocess.Popen",
    "@subprocess.call @subprocess.check_call @subprocess.check_output @subprocess.getoutput @pickle.loads",
    "@pickle.load @marshal.loads @runpy.run_path @types.FunctionType",
];
const DECODES_JS: &[&str] = plugward_types::words![
    "atob @zlib.inflateSync @zlib.gunzipSync @zlib.brotliDecompressSync @crypto.createDecipheriv().update",
    "@crypto.createDecipheriv().final @crypto.createDecipher().update",
];
const DECODES_PY: &[&str] = plugward_types::words![
    "@base64.b64decode @base64.b85decode @base64.a85decode @base64.b32decode @base64.urlsafe_b64decode",
    "@base64.decodebytes @codecs.decode bytes.fromhex @zlib.decompress @bz2.decompress @lzma.decompress",
    "@binascii.unhexlify @binascii.a2b_base64 @marshal.loads",
];
const ENVIRONMENTS: &[&str] =
    &["process.env", "@process.env", "Deno.env", "Bun.env", "@os.environ", "@os.environb"];

/// The longest name that is compared, in members.
const STEPS: usize = 6;

impl RuleAnalysis<'_, '_, '_> {
    /// Returns the taint of a call's result, and reports flows of secrets and foreign code.
    pub(super) fn flow(&mut self, call: &Call<'_, '_>) -> Taint {
        let facts = call.facts;
        let path = path(facts, call.name);
        let effect = self.effect(&path);
        let mut given = 0;
        let mut texts: Vec<u8> = Vec::new();
        for argument in call.arguments {
            given |= facts.taint(argument.value).bits;
            for item in facts.items(argument.value) {
                given |= facts.taint(item.value).bits;
                given |= environment(facts, item.value, if writes_text(&path) { ENVIRONMENT } else { 0 });
            }
            given |= environment(facts, argument.value, ENVIRONMENT);
            for alternative in facts.alternatives(argument.value) {
                if let Alternative::Text(text, _) = alternative {
                    texts.push(b'/');
                    texts.extend_from_slice(text.head(256));
                }
            }
        }
        if effect != Effect::Nothing && self.is_report {
            self.tell_flow(call, effect, given);
        }
        let mut out = 0;
        // `Buffer.from(text, "base64")`, or code after the end of an image.
        let decodes = matches!(path.as_str(), "Buffer.from" | "@buffer.Buffer.from")
            && [&b"/base64"[..], b"/hex"].iter().any(|end| texts.ends_with(end));
        if decodes || (is_read(&path) && self.names_picture(call)) {
            out |= DECODED;
        }
        match effect {
            Effect::Sends => out |= DOWNLOAD,
            Effect::Decodes => out |= DECODED,
            Effect::Runs | Effect::Nothing => {}
        }
        if effect == Effect::Nothing {
            out |= given & ENVIRONMENT;
            if credentials::is_file(&texts) {
                out |= CREDENTIALS;
            }
        }
        // `os.environ.items()`
        let whole = ENVIRONMENTS.iter().any(|name| {
            let rest = path.strip_prefix(*name);
            matches!(rest, Some(".copy" | ".items" | ".values" | ".toObject"))
        });
        if whole {
            out |= ENVIRONMENT;
        }
        if path == "@os.getenv" && texts.get(1..).is_some_and(credentials::is_secret_name) {
            out |= NAMED;
        }
        Taint { bits: out, origin: Some(call.node) }
    }

    /// Returns the taint of one environment variable, and of a part of an answer.
    pub(super) fn read_marks(&self, facts: &Evaluation<'_>, name: Name) -> Taint {
        let NamePart::Member(member) = facts.step(name) else { return Taint::NONE };
        let answer = facts.parent(name).filter(|parent| facts.step(*parent) == NamePart::Result);
        let called = answer.and_then(|answer| facts.parent(answer));
        if called.is_some_and(|called| self.effect(&path(facts, called)) == Effect::Sends) {
            return Taint { bits: DOWNLOAD, origin: None };
        }
        let secret = credentials::is_secret_name(facts.bytes(member));
        let of_environment =
            || facts.parent(name).is_some_and(|parent| ENVIRONMENTS.contains(&path(facts, parent).as_str()));
        if secret && of_environment() { Taint { bits: NAMED, origin: None } } else { Taint::NONE }
    }

    /// Returns `true` if the first argument contains the file name of an image.
    fn names_picture(&self, call: &Call<'_, '_>) -> bool {
        let Some(node) = call.arguments.first().and_then(|first| first.node) else { return false };
        let (start, end) = Self::span(call.facts, node);
        let text = self.src.part(start..end.min(start + 400)).to_ascii_lowercase();
        [".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".bmp"]
            .iter()
            .any(|ending| memchr::memmem::find(&text, ending.as_bytes()).is_some())
    }

    /// Reports an `import()` of tainted data: a `data:` URL contains the code that it loads.
    pub(super) fn import_flow(&mut self, facts: &Evaluation<'_>, node: NodeId) {
        let Node::Import(module) = facts.program().node(node) else { return };
        let marks = facts.taint(facts.value(module)).bits;
        if marks & DOWNLOAD != 0 {
            self.sink.shape("flow-download-run", Self::span(facts, node), Obfuscations::NONE);
        } else if marks & DECODED != 0 {
            self.sink.shape("flow-decode-run", Self::span(facts, node), Obfuscations::NONE);
        }
    }

    /// Returns `true` if the result of a call depends on its arguments. The output of a program does not count.
    pub(super) fn passes_on(&self, facts: &Evaluation<'_>, name: Name) -> bool {
        !matches!(self.effect(&path(facts, name)), Effect::Runs | Effect::Sends)
    }

    fn effect(&self, path: &str) -> Effect {
        let (sends, runs, decodes) = match self.language {
            Language::JavaScript => (SENDS_JS, RUNS_JS, DECODES_JS),
            Language::Python => (SENDS_PY, RUNS_PY, DECODES_PY),
        };
        if sends.contains(&path) {
            Effect::Sends
        } else if runs.contains(&path) {
            Effect::Runs
        } else if decodes.contains(&path) {
            Effect::Decodes
        } else {
            Effect::Nothing
        }
    }

    fn tell_flow(&mut self, call: &Call<'_, '_>, effect: Effect, given: u32) {
        let span = Self::span(call.facts, call.node);
        match effect {
            Effect::Sends if given & (ENVIRONMENT | CREDENTIALS) != 0 => {
                self.sink.shape("flow-credentials-sent", span, Obfuscations::NONE);
            }
            Effect::Sends if given & NAMED != 0 => {
                self.sink.shape("flow-undeclared-host", span, Obfuscations::NONE);
            }
            Effect::Runs => {
                let is_function = matches!(path(call.facts, call.name).as_str(), "Function");
                let code = if is_function { call.arguments.last() } else { call.arguments.first() };
                let first = code.map_or(0, |code| call.facts.taint(code.value).bits);
                // A command with an answer among its arguments runs its own program, not the answer.
                let is_command = ["@child_process.", "@subprocess.", "@os."]
                    .iter()
                    .any(|head| path(call.facts, call.name).starts_with(head));
                if first & DOWNLOAD != 0 && !is_command {
                    self.sink.shape("flow-download-run", span, Obfuscations::NONE);
                } else if first & DECODED != 0 {
                    self.sink.shape("flow-decode-run", span, Obfuscations::NONE);
                }
            }
            _ => {}
        }
    }
}

/// Returns the taint of one variable in a copy of the environment.
pub(super) fn part(member: &[u8], marks: Taint) -> Taint {
    let is_variable =
        member.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
    if !is_variable || marks.bits & ENVIRONMENT == 0 {
        return marks;
    }
    let named = if credentials::is_secret_name(member) { NAMED } else { 0 };
    Taint { bits: marks.bits & !ENVIRONMENT | named, ..marks }
}

/// Returns `true` if a call makes one text of all its arguments.
fn writes_text(path: &str) -> bool {
    matches!(
        path,
        "JSON.stringify" | "@json.dumps" | "str" | "repr" | "@urllib.parse.urlencode" | "URLSearchParams"
    )
}

/// Returns `true` if a call returns the contents of a file.
fn is_read(path: &str) -> bool {
    ["readFileSync", "readFile", "open", "read_bytes"]
        .iter()
        .any(|name| path.strip_suffix(name).is_some_and(|head| head.is_empty() || head.ends_with('.')))
}

/// Returns `mark` if a value is the whole environment, and 0 otherwise.
fn environment(facts: &Evaluation<'_>, value: Value, mark: u32) -> u32 {
    if mark == 0 {
        return 0;
    }
    let is = facts.names(value).any(|name| ENVIRONMENTS.contains(&path(facts, name).as_str()));
    if is { mark } else { 0 }
}

/// Returns a name as text: `@module.member().member`, `global.member`, `*.member`.
fn path(facts: &Evaluation<'_>, name: Name) -> String {
    let mut steps = Vec::new();
    let mut at = Some(name);
    while let Some(name) = at.filter(|_| steps.len() < STEPS) {
        let step = match facts.step(name) {
            NamePart::Global => String::new(),
            NamePart::Any | NamePart::Computed => "*".to_owned(),
            NamePart::Module(module) => {
                let text = String::from_utf8_lossy(facts.bytes(module)).into_owned();
                format!("@{}", text.strip_prefix("node:").unwrap_or(&text))
            }
            NamePart::Member(member) => format!(".{}", String::from_utf8_lossy(facts.bytes(member))),
            NamePart::Result => "()".to_owned(),
        };
        if step != ".default" {
            steps.push(step);
        }
        at = facts.parent(name);
    }
    steps.reverse();
    let text = steps.concat();
    text.strip_prefix('.').map(str::to_owned).unwrap_or(text)
}
