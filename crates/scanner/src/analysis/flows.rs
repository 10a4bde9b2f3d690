//! Data flow of secrets and foreign code from sources to sinks.

use plugward_readers::{Alternative, Call, Evaluation, Name, NamePart, Node, NodeId, Taint, Value};
use plugward_types::Part;

use super::RuleAnalysis;
use crate::known::calls::Effects;
use crate::known::credentials::{self, Printed};
use crate::known::hosts;
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
/// Taint: the contents of a file.
const FILE: u32 = 32;
/// Taint: a file that was decompressed.
const UNPACKED: u32 = 64;

const ENVIRONMENTS: &[&str] =
    &["process.env", "@process.env", "Deno.env", "Bun.env", "@os.environ", "@os.environb"];

/// The longest name that is compared, in members.
const STEPS: usize = 7;
/// The deepest nesting of collections in sent data.
const MOST_NESTED: usize = 3;
/// Options after which an interpreter gets code.
const SWITCHES: &[&[u8]] = &[b"-c", b"-e", b"--eval", b"-p", b"/c", b"-Command", b"-EncodedCommand"];
const INTERPRETERS: &[&[u8]] = &[
    b"sh",
    b"bash",
    b"zsh",
    b"dash",
    b"ksh",
    b"fish",
    b"python",
    b"python3",
    b"node",
    b"deno",
    b"bun",
    b"perl",
    b"ruby",
    b"php",
    b"lua",
    b"osascript",
    b"powershell",
    b"pwsh",
    b"chmod",
    b"open",
    b"start",
    b"source",
    b".",
    b"java",
    b"dpkg",
    b"msiexec",
];
/// Programs that start the program among their arguments.
const WRAPPERS: &[&[u8]] = &[b"sudo", b"nohup", b"setsid", b"exec", b"env", b"time", b"command"];

impl RuleAnalysis<'_, '_, '_> {
    /// Returns the taint of a call's result, and reports flows of secrets and foreign code.
    pub(super) fn flow(&mut self, call: &Call<'_, '_>) -> Taint {
        let facts = call.facts;
        let path = path(facts, call.name);
        let effects = self.piped(call, &path).unwrap_or_else(|| self.calls.effects(&path));
        let depth = if effects.has(Effects::SENDS) { MOST_NESTED } else { usize::from(writes_text(&path)) };
        let mut given = if is_method(&path, "pipe") { receiver_taint(call) } else { 0 };
        let mut texts: Vec<u8> = Vec::new();
        for argument in call.arguments {
            given |= taint_of(facts, argument.value, depth);
            for alternative in facts.alternatives(argument.value) {
                if let Alternative::Text(text, _) = alternative {
                    texts.push(b'/');
                    texts.extend_from_slice(text.head(256));
                }
            }
        }
        if self.is_report {
            self.tell_flow(call, &path, effects, given);
        }
        self.keep_written(call, &path, effects, given);
        let mut out = 0;
        // `Buffer.from(text, "base64")`, or code after the end of an image.
        let decodes = matches!(path.as_str(), "Buffer.from" | "@buffer.Buffer.from")
            && [&b"/base64"[..], b"/hex"].iter().any(|end| texts.ends_with(end));
        // A compressed file of the plugin is as visible as its other files.
        let unpacks = is_decompression(&path) && given & (DECODED | DOWNLOAD) == 0 && given & FILE != 0;
        if decodes
            || effects.has(Effects::DECODES) && !unpacks
            || (is_read(&path) && (self.names_picture(call) || names_elsewhere(&texts)))
        {
            out |= DECODED;
        }
        if unpacks {
            out |= UNPACKED;
        }
        if is_read(&path) {
            out |= FILE;
        }
        // An answer of this machine is not code of another host.
        if effects.has(Effects::SENDS)
            && !call.arguments.first().is_some_and(|first| is_local(facts, first.value))
        {
            out |= DOWNLOAD;
        }
        if effects.has(Effects::STARTS) {
            out |= self.printed(call);
        }
        if effects == Effects::default() {
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

    /// Returns the effects of `stream.pipe(request)`: those of a write to the argument.
    fn piped(&self, call: &Call<'_, '_>, path: &str) -> Option<Effects> {
        let target = call.arguments.first().filter(|_| is_method(path, "pipe"))?;
        let names = || call.facts.names(target.value).map(|name| self::path(call.facts, name));
        names()
            .map(|name| self.calls.effects(&[name.as_str(), ".write"].concat()))
            .find(|effects| *effects != Effects::default())
    }

    /// Remembers the files to which downloaded data is written.
    fn keep_written(&mut self, call: &Call<'_, '_>, path: &str, effects: Effects, given: u32) {
        let facts = call.facts;
        let opens = matches!(path, "open" | "@io.open" | "@aiofiles.open") || is_method(path, "open");
        let streams = is_method(path, "createWriteStream");
        // `stream.pipe(fs.createWriteStream(path))`
        if is_method(path, "pipe") {
            self.writes_download |= given & DOWNLOAD != 0;
            return;
        }
        if !(opens || effects.has(Effects::WRITES)) {
            return;
        }
        let text = self.constants(facts, call);
        let mut words = text.split(|byte| *byte == b' ').filter(|word| word.len() > 1);
        if opens || streams {
            let is_mode = |word: &[u8]| {
                word.len() < 5
                    && word.iter().all(|byte| b"rwabtx+".contains(byte))
                    && word.iter().any(|byte| b"wax".contains(byte))
            };
            let is_write = streams || text.split(|byte| *byte == b' ').skip(1).any(is_mode);
            if let Some(file) = words.next().filter(|_| is_write) {
                self.opened.insert(file.to_vec());
            }
        } else if effects.has(Effects::SENDS) || given & DOWNLOAD != 0 {
            self.writes_download |= path.contains("open()");
            self.written.extend(words.map(<[u8]>::to_vec));
        }
    }

    /// Returns `true` if the file writes downloaded data to a path.
    fn is_downloaded(&self, path: &[u8]) -> bool {
        self.written.contains(path) || self.writes_download && self.opened.contains(path)
    }

    /// Returns the taint of a program's output.
    fn printed(&mut self, call: &Call<'_, '_>) -> u32 {
        let text = self.constants(call.facts, call);
        let words: Vec<&[u8]> = text.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).collect();
        let Some((program, arguments)) = words.split_first() else { return 0 };
        let arguments: Vec<&[u8]> = arguments
            .iter()
            .filter(|word| !word.contains(&b'=') && !matches!(**word, b"True" | b"False"))
            .copied()
            .collect();
        match credentials::printed(program, &arguments) {
            Some(Printed::Environment) => ENVIRONMENT,
            Some(Printed::Credentials) => CREDENTIALS,
            Some(Printed::Named) => NAMED,
            Some(Printed::Dotenv) | None => 0,
        }
    }

    /// Returns the taint of one environment variable, and of a part of an answer.
    pub(super) fn read_marks(&self, facts: &Evaluation<'_>, name: Name) -> Taint {
        let NamePart::Member(member) = facts.step(name) else { return Taint::NONE };
        let answer = facts.parent(name).filter(|parent| facts.step(*parent) == NamePart::Result);
        let called = answer.and_then(|answer| facts.parent(answer));
        if called.is_some_and(|called| self.calls.effects(&path(facts, called)).has(Effects::SENDS)) {
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
        let is_downloaded = facts
            .alternatives(facts.value(module))
            // A bare name is a module of the runtime or of a package.
            .any(|one| matches!(one, Alternative::Text(text, _) if text.contains(&b'/') && self.is_downloaded(text)));
        if marks & DOWNLOAD != 0 || is_downloaded {
            self.sink.shape("flow-download-run", Self::span(facts, node), Obfuscations::NONE);
        } else if marks & DECODED != 0 {
            self.sink.shape("flow-decode-run", Self::span(facts, node), Obfuscations::NONE);
        } else if marks & UNPACKED != 0 {
            self.sink.shape("flow-unpack-run", Self::span(facts, node), Obfuscations::NONE);
        }
    }

    /// Returns `true` if the result of a call depends on its arguments. The output of a program does not count.
    pub(super) fn passes_on(&self, facts: &Evaluation<'_>, name: Name) -> bool {
        let effects = self.calls.effects(&path(facts, name));
        ![Effects::RUNS, Effects::STARTS, Effects::SENDS].iter().any(|one| effects.has(*one))
    }

    /// Returns `true` if a name begins the name of a call with effects.
    pub(super) fn has_effects(&self, facts: &Evaluation<'_>, name: Name) -> bool {
        self.calls.knows(&path(facts, name))
    }

    fn tell_flow(&mut self, call: &Call<'_, '_>, path: &str, effects: Effects, given: u32) {
        let facts = call.facts;
        let span = Self::span(facts, call.node);
        if effects.has(Effects::SENDS) {
            if given & (ENVIRONMENT | CREDENTIALS) != 0 {
                self.sink.shape("flow-credentials-sent", span, Obfuscations::NONE);
            } else if given & NAMED != 0 {
                self.sink.shape("flow-undeclared-host", span, Obfuscations::NONE);
            }
        }
        if !effects.has(Effects::RUNS) && !effects.has(Effects::STARTS) {
            return;
        }
        let code = if path == "Function" { call.arguments.last() } else { call.arguments.first() };
        let first = code.map_or(0, |code| facts.taint(code.value).bits);
        let runs_download = if effects.has(Effects::STARTS) {
            self.starts_download(call)
        } else {
            first & DOWNLOAD != 0 || self.runs_file(call)
        };
        // Programs keep their own data in this form.
        let is_data = ["@pickle.", "@_pickle.", "@cPickle.", "@dill.", "@cloudpickle.", "@jsonpickle."]
            .iter()
            .any(|head| path.starts_with(head));
        if runs_download {
            self.sink.shape("flow-download-run", span, Obfuscations::NONE);
        } else if first & DECODED != 0 && !is_data {
            self.sink.shape("flow-decode-run", span, Obfuscations::NONE);
        } else if first & UNPACKED != 0 && !is_data {
            self.sink.shape("flow-unpack-run", span, Obfuscations::NONE);
        }
    }

    /// Returns `true` if the whole command is downloaded, or the program is: a command with an answer among its arguments
    /// runs its own program.
    fn starts_download(&mut self, call: &Call<'_, '_>) -> bool {
        let facts = call.facts;
        let Some(first) = call.arguments.first() else { return false };
        let is_foreign = |value: Value| {
            facts.taint(value).bits & DOWNLOAD != 0 && !facts.has_text(value) && facts.items(value).is_empty()
        };
        if is_foreign(first.value) {
            return true;
        }
        let is_switch = |value: Value| {
            facts
                .alternatives(value)
                .any(|one| matches!(one, Alternative::Text(text, _) if SWITCHES.contains(&text)))
        };
        let items: Vec<Value> = call
            .arguments
            .iter()
            .take(2)
            .flat_map(|argument| facts.items(argument.value))
            .map(|item| item.value)
            .collect();
        let mut after = items.iter().skip_while(|value| !is_switch(**value)).skip(1).peekable();
        // `cmd /c start "" address` opens a page: what follows is not code.
        let opens_page = after.peek().is_some_and(|value| {
            facts.alternatives(**value).any(|one| matches!(one, Alternative::Text(b"start", _)))
        });
        if !opens_page && after.any(|value| is_foreign(*value)) {
            return true;
        }
        let text = self.constants(facts, call);
        text.split(|byte| matches!(byte, b';' | b'|' | b'&' | b'\n')).any(|command| {
            let is_word =
                |word: &&[u8]| !word.is_empty() && !WRAPPERS.contains(word) && !word.contains(&b'=');
            let mut words = command.split(|byte| matches!(byte, b' ' | b'"' | b'\'')).filter(is_word);
            let Some(program) = words.next() else { return false };
            let name = program.rsplit(|byte| *byte == b'/').next().unwrap_or(program);
            self.is_downloaded(program)
                || INTERPRETERS.contains(&name) && words.any(|word| self.is_downloaded(word))
        })
    }

    /// Returns `true` if a call names a downloaded file.
    fn runs_file(&mut self, call: &Call<'_, '_>) -> bool {
        let text = self.constants(call.facts, call);
        text.split(|byte| *byte == b' ').any(|word| self.is_downloaded(word))
    }
}

/// Members that contain the whole of their object.
const WHOLE: &[&[u8]] = &[
    b"body", b"content", b"data", b"env", b"environ", b"json", b"output", b"payload", b"stdout", b"text",
    b"value",
];

/// Returns the taint of one member of an object that contains the environment.
pub(super) fn part(member: &[u8], marks: Taint) -> Taint {
    let is_variable =
        member.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
    // A member of a result that was computed from the environment is not the environment.
    if marks.bits & ENVIRONMENT == 0 || !is_variable && WHOLE.contains(&member) {
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

/// Returns `true` if a name ends in this member.
fn is_method(path: &str, member: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, last)| last == member)
}

/// Returns `true` if a call decompresses data, and neither decrypts it nor decodes a text.
fn is_decompression(path: &str) -> bool {
    ["@zlib.", "@pako.", "@fflate.", "@bz2.", "@lzma.", "@gzip.", "Bun.gunzip", "Bun.inflate"]
        .iter()
        .any(|head| path.starts_with(head))
}

/// Returns `true` if texts, each after a slash, name a file outside of the plugin, or one of its test data.
fn names_elsewhere(texts: &[u8]) -> bool {
    let lower = texts.to_ascii_lowercase();
    ["//", "/~", "..", "fixture", "testdata", "/test/", "/tests/", "/tmp/"]
        .iter()
        .any(|part| memchr::memmem::find(&lower, part.as_bytes()).is_some())
}

/// Returns `true` if a value is certainly an address of this machine, with the end of its host.
fn is_local(facts: &Evaluation<'_>, value: Value) -> bool {
    let mut alternatives = facts.alternatives(value);
    let (Some(only), None) = (alternatives.next(), alternatives.next()) else { return false };
    let mut text = Vec::new();
    match only {
        Alternative::Text(bytes, _) => text.extend_from_slice(bytes),
        Alternative::Partial(node) => {
            let known = |part| match facts.alternatives(facts.value(part)).next() {
                Some(Alternative::Text(bytes, _)) => Some(bytes),
                _ => None,
            };
            facts.parts(node).into_iter().map_while(known).for_each(|bytes| text.extend_from_slice(bytes));
        }
        _ => return false,
    }
    let has_path = memchr::memchr_iter(b'/', &text).count() > 2;
    let is_whole = has_path || matches!(only, Alternative::Text(..));
    let mut all = hosts::addresses(&text);
    !facts.is_open(value)
        && is_whole
        && all.next().is_some_and(|one| one.is_well_formed() && one.is_loopback())
}

/// Returns `true` if a call returns the contents of a file.
fn is_read(path: &str) -> bool {
    ["readFileSync", "readFile", "open", "read_bytes"]
        .iter()
        .any(|name| path.strip_suffix(name).is_some_and(|head| head.is_empty() || head.ends_with('.')))
}

/// Returns the taint of a value, and of the items in its collections up to a depth.
fn taint_of(facts: &Evaluation<'_>, value: Value, depth: usize) -> u32 {
    let own = facts.taint(value).bits | of_environment(facts, value);
    let items = facts.items(value);
    items.iter().fold(own, |bits, item| {
        // A spread of a name has no items.
        let spread = item.node.filter(|_| depth > 0 && item.key.is_none()).map(|node| facts.value(node));
        let spread = spread.map_or(0, |value| of_environment(facts, value));
        let more =
            if depth == 0 { facts.taint(item.value).bits } else { taint_of(facts, item.value, depth - 1) };
        bits | spread | more
    })
}

/// Returns the taint of a value that is the environment itself.
fn of_environment(facts: &Evaluation<'_>, value: Value) -> u32 {
    let is = facts.names(value).any(|name| ENVIRONMENTS.contains(&path(facts, name).as_str()));
    if is { ENVIRONMENT } else { 0 }
}

fn receiver_taint(call: &Call<'_, '_>) -> u32 {
    call.receiver.map_or(0, |object| call.facts.taint(call.facts.value(object)).bits)
}

/// Returns a name as text: `@module.member().member`, `global.member`, `*.member`.
pub(super) fn path(facts: &Evaluation<'_>, name: Name) -> String {
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
