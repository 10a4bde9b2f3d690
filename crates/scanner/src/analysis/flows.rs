//! Data flow of secrets and foreign code from sources to sinks.

use std::collections::BTreeSet;
use std::rc::Rc;

use plugward_readers::{
    Alternative, Argument, Call, Evaluation, Language, List, Name, NamePart, Node, NodeId, Taint, Value,
};
use plugward_types::Part;

use super::RuleAnalysis;
use super::files::names_data;
use super::programs::{gives_input, has_words, sent, writes_lines};
use crate::known::calls::Effects;
use crate::known::credentials::{self, Printed};
use crate::known::hosts;
use crate::scan::entry::Lens;
use crate::scan::sink::{CodePart, Named};
use crate::text::view::Obfuscations;

/// Taint: all environment variables.
const ENVIRONMENT: u32 = 1;
/// Taint: the contents of a credential file.
const CREDENTIALS: u32 = 2;
/// Taint: one variable whose name suggests a secret.
const NAMED: u32 = 4;
/// Taint: data received from another host.
pub(super) const DOWNLOAD: u32 = 8;
/// Taint: data that was encoded, compressed or encrypted.
const DECODED: u32 = 16;
/// Taint: the contents of a file.
const FILE: u32 = 32;
/// Taint: a file that was decompressed.
const UNPACKED: u32 = 64;
/// Taint: the contents of a file outside of the plugin, or of its test data.
const ELSEWHERE: u32 = 128;
/// Taint: what the host passes to a hook.
const INPUT: u32 = 256;
/// Taint: what an agent records about its sessions.
const TRANSCRIPT: u32 = 2048;
/// Taint: the path of what an agent records about the session.
const PATH: u32 = 4096;
/// Taint: a request to a host that tells a machine of a cloud about itself.
const METADATA: u32 = 8192;
/// Taint: such a request for credentials.
const METADATA_SECRET: u32 = 16384;
/// Taint: the address of a repository, which may contain a token.
const REMOTE: u32 = 32768;
/// Taint: a text whose characters were put in the opposite order.
const REVERSED: u32 = 65536;
/// Taint: a started program that sends its input to another host.
pub(super) const SENDER: u32 = 512;
/// Taint: a started program that runs its input.
pub(super) const SHELL: u32 = 1024;
/// Taint: a started interpreter whose code sends its input to another host.
pub(super) const COURIER: u32 = 1 << 20;
/// Taint: the contents of a file that is not code, such as an image.
const DATA: u32 = 1 << 21;

/// Taint: the address of a database, with the password of an account.
const STORE: u32 = 1 << 22;

const ENVIRONMENTS: &[&str] =
    &["process.env", "@process.env", "Deno.env", "Bun.env", "@os.environ", "@os.environb"];

/// Calls whose result only tells whether something is there.
const QUESTIONS: &[&str] = plugward_types::words![
    "access accessSync exists existsSync is_dir is_file isdir isfile len lstat stat statSync includes startswith endswith",
    "startsWith endsWith indexOf test",
];
/// Calls that return the files in a directory.
const LISTINGS: &[&str] = plugward_types::words![
    "glob iglob rglob iterdir listdir scandir walk readdir readdirSync globSync file readTextFile readTextFileSync readAsText",
];
/// The longest name that is compared, in members.
const STEPS: usize = 7;
/// The name of a file in memory, which has none.
const MEMORY: &[u8] = b"";
/// The most bytes of a member that are compared. The tables contain no longer one.
const LONGEST: usize = 256;
/// The deepest nesting of collections in sent data.
const MOST_NESTED: usize = 3;
impl RuleAnalysis<'_, '_, '_> {
    /// Returns a name as text with its effects. They are written once per name, because bundles call few names often.
    fn spelled(&mut self, facts: &Evaluation<'_>, name: Name) -> Rc<SpelledName> {
        if let Some(Some(known)) = self.spelled.get(name.index()) {
            return Rc::clone(known);
        }
        let path = path(facts, name);
        let is_text =
            matches!(path.as_str(), "@json" | "Buffer" | "@buffer" | "@buffer.Buffer" | "@urllib.parse");
        let begins_effects =
            is_text || self.is_own_module(facts, name) || writes_text(&path) || self.calls.knows(&path);
        let effects = self.calls.effects(&path);
        let is_plain = effects == Effects::default() && !is_special(&path);
        let spelled = Rc::new(SpelledName { path, effects, is_plain, begins_effects });
        if self.spelled.len() <= name.index() {
            self.spelled.resize(name.index() + 64, None);
        }
        if let Some(slot) = self.spelled.get_mut(name.index()) {
            *slot = Some(Rc::clone(&spelled));
        }
        spelled
    }

    /// Returns the taint of a call's result, and reports flows of secrets and foreign code.
    pub(super) fn flow(&mut self, call: &Call<'_, '_>) -> Taint {
        let facts = call.facts;
        let spelled = self.spelled(facts, call.name);
        self.look_at_arguments(call);
        let asks_cloud =
            self.arguments.asks_cloud || receiver_taint(call) & (METADATA | METADATA_SECRET) != 0;
        if spelled.is_plain && !asks_cloud {
            if self.is_report && self.sink.depth == 0 && spelled.path.starts_with('@') {
                self.tell_given(call, Self::span(facts, call.node));
            }
            return Taint { bits: self.arguments.plain };
        }
        let path = &*spelled.path;
        let effects = self.piped(call, path).unwrap_or(spelled.effects);
        let depth = match () {
            () if effects.has(Effects::SENDS) => MOST_NESTED,
            () if writes_text(path) => MOST_NESTED - 1,
            () => 0,
        };
        let mut given = if is_method(path, "pipe") { receiver_taint(call) } else { 0 };
        given |= match depth {
            0 => self.arguments.taint,
            depth => call.arguments.iter().fold(0, |bits, one| bits | taint_of(facts, one.value, depth)),
        };
        let texts = core::mem::take(&mut self.arguments.texts);
        let marks = self.flow_of(call, path, effects, given, &texts);
        self.arguments.texts = texts;
        marks
    }

    /// Reads what [`Self::flow`] needs of the arguments, unless it is known from another name that the same call may mean.
    fn look_at_arguments(&mut self, call: &Call<'_, '_>) {
        let facts = call.facts;
        let known = &mut self.arguments;
        let at = Some((call.node, facts.changes()));
        let values = || call.arguments.iter().map(|argument| argument.value);
        if known.at == at && known.values.iter().copied().eq(values()) {
            return;
        }
        (known.at, known.taint) = (at, 0);
        known.values.clear();
        known.values.extend(values());
        known.texts.clear();
        for value in values() {
            known.taint |= taint_of(facts, value, 0);
            for alternative in facts.alternatives(value) {
                if let Alternative::Text(text, _) = alternative {
                    known.texts.push(b'/');
                    known.texts.extend_from_slice(text.head(256));
                }
            }
        }
        let named = if credentials::is_dotenv_among(&known.texts) { NAMED } else { 0 };
        known.asks_cloud =
            known.taint & (METADATA | METADATA_SECRET) != 0 || credentials::is_metadata_host(&known.texts);
        known.plain = known.taint & ENVIRONMENT | of_path(&known.texts) | named;
    }

    fn flow_of(
        &mut self,
        call: &Call<'_, '_>,
        path: &str,
        effects: Effects,
        given: u32,
        texts: &[u8],
    ) -> Taint {
        if self.is_report {
            self.tell_flow(call, path, effects, given);
        }
        self.keep_written(call, path, effects, given);
        if is_read(path) {
            self.keep_read(call);
        }
        let mut out = self.contents(call, path, effects, given, texts);
        if matches!(path, "@io.BytesIO" | "@tempfile.TemporaryFile" | "@tempfile.SpooledTemporaryFile") {
            out |= self.secrets.get(MEMORY).copied().unwrap_or_default();
        }
        out |= self.metadata(call, path, effects, given, texts);
        // An answer of this machine is not code of another host.
        if (effects.has(Effects::SENDS) || effects.has(Effects::RECEIVES)) && !self.stays_here(call) {
            out |= DOWNLOAD;
        }
        if effects.has(Effects::STARTS) {
            out |= self.printed(call) | self.started(call);
        }
        if writes_text(path) {
            out |= given;
        }
        if effects == Effects::default() {
            out |= given & ENVIRONMENT;
            if !is_question(path) {
                out |= of_path(texts);
                if is_listing(path) {
                    out |= self.of_paths(call);
                }
            }
        }
        if effects.has(Effects::SECRETS) {
            out |= CREDENTIALS;
        }
        if effects.has(Effects::NAMES) || effects == Effects::default() && credentials::is_dotenv_among(texts)
        {
            out |= NAMED;
        }
        // `os.environ.items()`
        let whole = ENVIRONMENTS.iter().any(|name| {
            let rest = path.strip_prefix(*name);
            matches!(rest, Some(".copy" | ".items" | ".keys" | ".values" | ".toObject"))
        });
        if whole {
            out |= ENVIRONMENT;
        }
        if path == "@os.getenv" {
            out |= texts.get(1..).map_or(0, of_variable);
        }
        Taint { bits: out }
    }

    /// Returns the taint of a request for what a cloud tells its machine, and of the answer.
    fn metadata(
        &mut self,
        call: &Call<'_, '_>,
        path: &str,
        effects: Effects,
        given: u32,
        texts: &[u8],
    ) -> u32 {
        let is_sent = effects.has(Effects::SENDS);
        let known = given | receiver_taint(call);
        let is_named = credentials::is_metadata_host(texts);
        // A request whose host is an option, or the constant part of an address.
        let all = if is_sent && !is_named { self.constants(call.facts, call) } else { Vec::new() };
        let is_host = is_named || known & METADATA != 0 || credentials::is_metadata_host(&all);
        let is_secret = known & METADATA_SECRET != 0
            || is_host && {
                let all = if is_sent && all.is_empty() { self.constants(call.facts, call) } else { all };
                credentials::is_metadata_path(texts) || credentials::is_metadata_path(&all)
            };
        match (is_sent, is_secret) {
            (true, true) => CREDENTIALS,
            (false, true) if effects == Effects::default() => METADATA | METADATA_SECRET,
            // The connection was opened to the host, and the path was in another call.
            (false, false)
                if is_host && is_method(path, "getresponse") && credentials::is_metadata_path(self.src) =>
            {
                CREDENTIALS
            }
            (false, false) if is_host && effects == Effects::default() => METADATA,
            _ => 0,
        }
    }

    /// Returns the taint of a call that reads a file or decodes data.
    fn contents(
        &mut self,
        call: &Call<'_, '_>,
        path: &str,
        effects: Effects,
        given: u32,
        texts: &[u8],
    ) -> u32 {
        let mut out = 0;
        // `Buffer.from(text, "base64")`, or code after the end of an image.
        let decodes = matches!(path, "Buffer.from" | "@buffer.Buffer.from")
            && [&b"/base64"[..], b"/hex"].iter().any(|end| texts.ends_with(end));
        // A compressed file of the plugin is as visible as its other files.
        let is_literal = call.arguments.first().is_some_and(|first| call.facts.has_text(first.value));
        let own = given & (DECODED | DOWNLOAD | ELSEWHERE) == 0 && !is_literal;
        let unpacks = own && is_decompression(path);
        if decodes || effects.has(Effects::DECODES) && !unpacks {
            out |= DECODED;
        }
        if unpacks {
            out |= UNPACKED;
        }
        if is_read(path) {
            out |= FILE | if given & PATH == 0 { 0 } else { TRANSCRIPT };
            if self.names_picture(call) {
                out |= DECODED;
            }
            if names_data(&self.constants(call.facts, call)) {
                out |= DATA;
            }
            if names_elsewhere(texts) {
                out |= ELSEWHERE;
            }
            let files = call.arguments.iter().flat_map(|one| call.facts.alternatives(one.value));
            let copied = |one: Alternative<'_>| match one {
                Alternative::Text(file, _) => self.secrets.get(file).copied().unwrap_or_default(),
                _ => 0,
            };
            out |= files.fold(0, |bits, one| bits | copied(one));
            if matches!(texts, b"/0" | b"//dev/stdin" | b"//dev/stdin/utf8") {
                out |= INPUT;
            }
        }
        out
    }

    /// Returns the taint of a file whose path is partly computed: the receiver, or an argument.
    fn of_paths(&mut self, call: &Call<'_, '_>) -> u32 {
        let facts = call.facts;
        let is_partial =
            |value: Value| facts.alternatives(value).any(|one| matches!(one, Alternative::Partial(_)));
        let receiver = call.receiver.map(|node| facts.value(node));
        if receiver.is_some_and(is_partial) || call.arguments.iter().any(|one| is_partial(one.value)) {
            let text = self.constants(facts, call);
            // `home / ".aws"`: the constant part is a name, or the end of a path.
            let words = text
                .split(|byte| *byte == b' ')
                .filter(|word| word.starts_with(b".") || word.starts_with(b"/"));
            words.fold(of_path(&text), |bits, word| bits | of_path(&[b"/", word].concat()))
        } else {
            0
        }
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
        let opens = matches!(path, "open" | "@io.open" | "@aiofiles.open" | "@zipfile.ZipFile")
            || is_method(path, "open");
        let streams = is_method(path, "createWriteStream");
        // `stream.pipe(fs.createWriteStream(path))`
        if is_method(path, "pipe") {
            self.writes_download |= given & DOWNLOAD != 0;
            return;
        }
        if !(opens || effects.has(Effects::WRITES)) {
            return;
        }
        // Downloaded data is not the path that it is written to.
        let is_data = |one: &&Argument| facts.taint(one.value).bits & DOWNLOAD != 0;
        let paths: Vec<Argument> =
            call.arguments.iter().filter(|one| opens || streams || !is_data(one)).copied().collect();
        let has_path = !paths.is_empty() || call.receiver.is_some();
        let arguments = if has_path { &*paths } else { call.arguments };
        let text = self.constants_of(facts, call.receiver, arguments);
        let secret = given & (ENVIRONMENT | CREDENTIALS | TRANSCRIPT)
            | of_path(&text) & !REMOTE
            | self.of_paths(call) & !REMOTE;
        if secret != 0 && !opens && !streams && !effects.has(Effects::SENDS) {
            // The copy, or the archive that is open.
            let files =
                text.split(|byte| *byte == b' ').filter(|word| word.contains(&b'/') && of_path(word) == 0);
            let files: Vec<Vec<u8>> = files.map(<[u8]>::to_vec).chain(self.opened.iter().cloned()).collect();
            // An archive that is not a file is in memory.
            let files = if files.is_empty() { vec![MEMORY.to_vec()] } else { files };
            for file in files {
                let known = self.secrets.entry(file).or_default();
                self.changes += usize::from(*known | secret != *known);
                *known |= secret;
            }
        }
        let mut words = text.split(|byte| *byte == b' ').filter(|word| word.len() > 1);
        if opens || streams {
            let is_mode = |word: &[u8]| {
                // `w:gz`, `mode=w`
                let word = word.strip_prefix(b"mode=").unwrap_or(word);
                let word = word.split(|byte| matches!(byte, b':' | b'|')).next().unwrap_or(word);
                word.len() < 5
                    && word.iter().all(|byte| b"rwabtx+".contains(byte))
                    && word.iter().any(|byte| b"wax".contains(byte))
            };
            let is_write = streams || text.split(|byte| *byte == b' ').skip(1).any(is_mode);
            if let Some(file) = words.next().filter(|file| is_write && !file.contains(&b'=')) {
                self.changes += usize::from(self.opened.insert(file.to_vec()));
            }
        } else if effects.has(Effects::SENDS) || given & DOWNLOAD != 0 && !writes_lines(call) {
            self.writes_download |= path.contains("open()");
            self.written.extend(words.map(<[u8]>::to_vec));
        }
    }

    /// Remembers the data files that are read.
    fn keep_read(&mut self, call: &Call<'_, '_>) {
        let facts = call.facts;
        let mut text = self.constants(facts, call);
        // `(directory / "a.json").read_text()`
        let path = call.receiver.or_else(|| call.arguments.first().and_then(|first| first.node));
        for part in path.map(|path| facts.parts(path)).unwrap_or_default() {
            for one in facts.alternatives(facts.value(part)) {
                if let Alternative::Text(part, _) = one {
                    text.push(b' ');
                    text.extend_from_slice(part);
                }
            }
        }
        let is_data = |word: &&[u8]| {
            [&b".json"[..], b".txt", b".toml", b".yaml", b".yml"].iter().any(|end| word.ends_with(end))
        };
        let words = text.split(|byte| *byte == b' ').filter(is_data);
        self.read.extend(words.map(|word| String::from_utf8_lossy(word.trim_ascii_start()).into_owned()));
    }

    /// Records the data files that the file reads, perhaps to merge them into the settings of an agent.
    pub(super) fn tell_settings(&mut self) {
        for path in core::mem::take(&mut self.read) {
            let path = path.trim_start_matches('/').to_owned();
            // A directory such as `.claude` belongs to the project of the user.
            let is_own = path.split('/').all(|part| matches!(part, "." | "..") || !part.starts_with('.'));
            if is_own && !path.contains('~') && !path.as_bytes().ends_with(b".txt") {
                self.sink.named_as.push(Named { lens: Lens::Data, path, part: CodePart::Settings });
            }
        }
    }

    /// Returns `true` if the file writes downloaded data to a path.
    pub(super) fn is_downloaded(&self, path: &[u8]) -> bool {
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
            Some(Printed::Transcript) => TRANSCRIPT,
            Some(Printed::Remote) => REMOTE,
            Some(Printed::Dotenv | Printed::Edited | Printed::EditedText) | None => 0,
        }
    }

    /// Returns the taint of one environment variable, and of a part of an answer.
    pub(super) fn read_marks(&mut self, facts: &Evaluation<'_>, name: Name) -> Taint {
        if let Some(Some(bits)) = self.read_bits.get(name.index()) {
            return Taint { bits: *bits };
        }
        let marks = self.find_read_marks(facts, name);
        if self.read_bits.len() <= name.index() {
            self.read_bits.resize(name.index() + 64, None);
        }
        if let Some(slot) = self.read_bits.get_mut(name.index()) {
            *slot = Some(marks.bits);
        }
        marks
    }

    fn find_read_marks(&mut self, facts: &Evaluation<'_>, name: Name) -> Taint {
        let NamePart::Member(member) = facts.step(name) else { return Taint::NONE };
        let is_input = || {
            matches!(path(facts, name).as_str(), "process.stdin" | "Bun.stdin" | "Deno.stdin" | "@sys.stdin")
        };
        if ends_in(facts, name, &[b"stdin"]) && is_input() {
            return Taint { bits: INPUT };
        }
        let answer = facts.parent(name).filter(|parent| facts.step(*parent) == NamePart::Result);
        let called = answer.and_then(|answer| facts.parent(answer));
        if called.is_some_and(|called| self.spelled(facts, called).effects.has(Effects::SENDS)) {
            return Taint { bits: DOWNLOAD };
        }
        let of_environment = facts.parent(name).is_some_and(|parent| is_environment(facts, parent));
        Taint { bits: if of_environment { of_variable(facts.bytes(member)) } else { 0 } }
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
    pub(super) fn passes_on(&mut self, facts: &Evaluation<'_>, name: Name) -> bool {
        let spelled = self.spelled(facts, name);
        let effects = spelled.effects;
        !is_question(&spelled.path)
            && ![Effects::RUNS, Effects::STARTS, Effects::SENDS].iter().any(|one| effects.has(*one))
    }

    /// Returns `true` if a name begins the name of a call with effects.
    pub(super) fn has_effects(&mut self, facts: &Evaluation<'_>, name: Name) -> bool {
        self.spelled(facts, name).begins_effects
    }

    /// Returns `true` for a module that can be a file of the plugin. Its members keep their names.
    fn is_own_module(&self, facts: &Evaluation<'_>, name: Name) -> bool {
        match facts.step(name) {
            NamePart::Module(module) => {
                self.language == Language::Python || facts.bytes(module).starts_with(b".")
            }
            // `from .module import name`
            NamePart::Member(_) => path(facts, name).starts_with("@.") && self.language == Language::Python,
            _ => false,
        }
    }

    /// Returns `true` if the first argument is certainly an address of this machine.
    fn stays_here(&self, call: &Call<'_, '_>) -> bool {
        call.arguments.first().is_some_and(|first| is_local(call.facts, first.value, self.src))
    }

    /// Records the files of the plugin whose texts a call starts or evaluates: a module that exports them, or data.
    fn names_texts(&mut self, call: &Call<'_, '_>, effects: Effects, marks: u32) {
        let Some(code) = call.arguments.first() else { return };
        let facts = call.facts;
        let own = if self.language == Language::JavaScript { Lens::Js } else { Lens::Py };
        let lens = if effects.has(Effects::STARTS) { Lens::Sh } else { own };
        let mut values = vec![code.value];
        for one in facts.alternatives(code.value) {
            if let Alternative::Partial(node) = one {
                values.extend(facts.parts(node).into_iter().map(|part| facts.value(part)));
            }
        }
        let names = values.into_iter().flat_map(|value| facts.names(value));
        let modules = names.filter_map(|name| module_of(facts, name, self.language));
        let read = self.read.iter().filter(|_| marks & FILE != 0).cloned();
        let paths: BTreeSet<String> = modules.chain(read).collect();
        self.sink.named_as.extend(paths.into_iter().map(|path| Named { lens, path, part: CodePart::Texts }));
    }

    /// Records a call that gives credentials or transcripts to a function of another file.
    fn tell_given(&mut self, call: &Call<'_, '_>, span: (usize, usize)) {
        let Some(path) = module_of(call.facts, call.name, self.language) else { return };
        let of = |bits, argument: &Argument| bits | taint_of(call.facts, argument.value, MOST_NESTED);
        let given = call.arguments.iter().fold(0, of);
        let (start, end) = (crate::lex::offset(span.0), crate::lex::offset(span.1));
        let part = match given & (CREDENTIALS | TRANSCRIPT) {
            0 => return,
            TRANSCRIPT => CodePart::GivenTranscript(start, end),
            _ => CodePart::GivenCredentials(start, end),
        };
        let lens = if self.language == Language::JavaScript { Lens::Js } else { Lens::Py };
        self.sink.named_as.push(Named { lens, path, part });
    }

    /// Returns where the host of a call's first argument is written, if that is not in the call itself.
    fn host_of(&self, call: &Call<'_, '_>) -> Option<(usize, usize)> {
        let facts = call.facts;
        let (start, end) = Self::span(facts, call.node);
        let first = call.arguments.first()?;
        if hosts::first(self.src.part(start..end)).is_some() {
            return None;
        }
        let mut values = vec![first.value];
        for one in facts.alternatives(first.value) {
            if let Alternative::Partial(node) = one {
                values.extend(facts.parts(node).into_iter().map(|part| facts.value(part)));
            }
        }
        let all = values.into_iter().flat_map(|value| facts.alternatives(value));
        let written = |one: Alternative<'_>| {
            let Alternative::Text(text, _) = one else { return None };
            let host = hosts::first(text)?;
            let end = memchr::memmem::find(text, host.as_bytes())? + host.len();
            let at = memchr::memmem::find(self.src, text.part(..end))?;
            Some((at, at + end))
        };
        all.into_iter().find_map(written)
    }

    fn tell_flow(&mut self, call: &Call<'_, '_>, path: &str, effects: Effects, given: u32) {
        let facts = call.facts;
        let span = Self::span(facts, call.node);
        let target = if is_method(path, "pipe") { taint_of_first(call) } else { receiver_taint(call) };
        let fed = if effects.has(Effects::FEEDS) { target } else { 0 };
        let sends = effects.has(Effects::STARTS) && self.started(call) & SENDER != 0;
        if sends {
            self.sender = Some(call.node);
        }
        let sent = if sends { sent(call) } else { 0 };
        let leaves = effects.has(Effects::SENDS) && !self.stays_here(call);
        let sent = if leaves || fed & SENDER != 0 { given } else { sent };
        if sent & (ENVIRONMENT | CREDENTIALS) != 0 {
            self.sink.shape("flow-credentials-sent", span, Obfuscations::NONE);
        } else if sent & TRANSCRIPT != 0 {
            self.sink.shape("flow-transcript-sent", span, Obfuscations::NONE);
        } else if sent & (NAMED | INPUT | REMOTE) != 0 {
            // The host is named where the program was started.
            let started = self.sender.filter(|_| !leaves && fed & SENDER != 0);
            let named = started.map(|node| Self::span(facts, node));
            // No service but the database itself gets its address, so a constant with another host counts as well.
            let named = named.or_else(|| if sent & STORE == 0 { None } else { self.host_of(call) });
            self.sink.shape("flow-undeclared-host", named.unwrap_or(span), Obfuscations::NONE);
        }
        if fed & COURIER != 0 || sends && self.started(call) & COURIER != 0 && gives_input(call) {
            self.sink.shape("flow-hidden-sender", span, Obfuscations::NONE);
        }
        if effects == Effects::default() && self.sink.depth == 0 {
            self.tell_given(call, span);
        }
        let runs_input = fed & SHELL != 0;
        if !runs_input && !effects.has(Effects::RUNS) && !effects.has(Effects::STARTS) {
            return;
        }
        let code = if path == "Function" { call.arguments.last() } else { call.arguments.first() };
        // `Unpickler(file).load()` has no argument of its own.
        let code = code.map_or_else(|| receiver_taint(call), |code| facts.taint(code.value).bits);
        let first = if runs_input { given } else { code };
        self.names_texts(call, effects, first);
        let runs_download = if effects.has(Effects::STARTS) {
            self.starts_download(call)
        } else {
            first & DOWNLOAD != 0 || !runs_input && self.runs_file(call)
        };
        // Programs keep their own data in this form.
        let is_data = ["@pickle.", "@_pickle.", "@cPickle.", "@dill.", "@cloudpickle.", "@jsonpickle."]
            .iter()
            .any(|head| path.starts_with(head));
        if runs_download {
            self.sink.shape("flow-download-run", span, Obfuscations::NONE);
        } else if first & DECODED != 0 && !is_data || first & REVERSED != 0 && runs_whole(call, effects) {
            self.sink.shape("flow-decode-run", span, Obfuscations::NONE);
        } else if first & UNPACKED != 0 && !is_data {
            self.sink.shape("flow-unpack-run", span, Obfuscations::NONE);
        } else if first & DATA != 0 && !is_data && !effects.has(Effects::STARTS) {
            self.sink.shape("flow-data-run", span, Obfuscations::NONE);
        }
    }
}

/// Returns `true` if a call evaluates its first argument, or starts a command of which no part is written in the file.
fn runs_whole(call: &Call<'_, '_>, effects: Effects) -> bool {
    let is_unwritten =
        |code: &Argument| !has_words(call.facts, code.value) && call.facts.items(code.value).is_empty();
    effects.has(Effects::RUNS) || call.arguments.first().is_some_and(is_unwritten)
}

/// Calls that return part of a text.
const PICKERS: &[&str] = plugward_types::words![
    "split rsplit partition rpartition match matchAll exec search fullmatch findall finditer sub replace replaceAll slice substring substr",
    "removeprefix removesuffix basename pop at urlparse urlsplit parse",
];

/// Returns the taint that a call keeps of its receiver and its arguments: a part of an address of a repository is its name.
pub(super) fn kept(member: &[u8], marks: Taint) -> Taint {
    let is_in = |list: &[&str]| core::str::from_utf8(member).is_ok_and(|member| list.contains(&member));
    if is_in(QUESTIONS) {
        return Taint { bits: marks.bits & !(CREDENTIALS | NAMED | REMOTE) };
    }
    let picks = is_in(PICKERS);
    if picks { Taint { bits: marks.bits & !REMOTE } } else { marks }
}

/// Returns the taint of a path in the user's home directory, of which only the end is known: `home / ".aws" / "credentials"`.
pub(super) fn joined(facts: &Evaluation<'_>, node: NodeId) -> Taint {
    let mut text = Vec::new();
    for part in facts.parts(node) {
        let mut all = facts.alternatives(facts.value(part));
        if let (Some(Alternative::Text(part, _)), None) = (all.next(), all.next()) {
            text.extend_from_slice(part.head(LONGEST));
        }
    }
    // A sentence with the name of such a file is not its path.
    let is_path = text.starts_with(b"/") && text.len() < LONGEST && !text.contains(&b'\n');
    Taint { bits: if is_path { of_path(&text) & !REMOTE } else { 0 } }
}

/// Returns the taint of the names of an object's members, as `for (const name in process.env)` assigns them.
pub(super) fn names_of(facts: &Evaluation<'_>, items: List) -> Taint {
    let [object] = facts.program().items(items) else { return Taint::NONE };
    let is_all = matches!(facts.program().node(*object), Node::Spread(_));
    Taint { bits: if is_all { of_environment(facts, facts.value(*object)) } else { 0 } }
}

/// Returns the taint of a text whose characters were put in the opposite order.
pub(super) const fn reversed() -> Taint {
    Taint { bits: REVERSED }
}

/// Members that contain the whole of their object.
const WHOLE: &[&[u8]] = &[
    b"body", b"content", b"data", b"env", b"environ", b"json", b"output", b"payload", b"stdout", b"text",
    b"value",
];

/// Returns the taint of one member of an object that contains the environment.
pub(super) fn part(member: &[u8], marks: Taint) -> Taint {
    // What a directory tells about a file.
    if matches!(member, b"name" | b"stem" | b"suffix" | b"st_size" | b"st_mtime" | b"size") {
        return Taint { bits: marks.bits & !CREDENTIALS };
    }
    if matches!(member, b"transcript_path" | b"transcriptPath") {
        return Taint { bits: marks.bits | PATH };
    }
    let is_variable =
        member.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
    // A member of a result that was computed from the environment is not the environment.
    if marks.bits & ENVIRONMENT == 0 || !is_variable && WHOLE.contains(&member) {
        return marks;
    }
    let named = if credentials::is_secret_name(member) { NAMED } else { 0 };
    Taint { bits: marks.bits & !ENVIRONMENT | named }
}

/// Returns the taint of an item with a computed key. One variable, chosen by a setting such as `service.key_name`, is not the
/// environment, unless its name comes from the environment as in a loop over all variables.
pub(super) fn item(facts: &Evaluation<'_>, object: Value, key: Value) -> Taint {
    let marks = facts.taint(object);
    let bits = marks.bits | of_environment(facts, object);
    if bits & ENVIRONMENT == 0 || taint_of(facts, key, 0) & ENVIRONMENT != 0 {
        return Taint { bits };
    }
    Taint { bits: bits & !ENVIRONMENT | NAMED }
}

/// Returns the taint of what a callback gets. It rarely gets the environment, which many calls take as a setting.
pub(super) fn delivered(marks: Taint) -> Taint {
    Taint { bits: marks.bits & !ENVIRONMENT }
}

/// Returns `true` if the result of a call without known effects depends on the name as well.
fn is_special(path: &str) -> bool {
    let names_environment = ENVIRONMENTS.iter().any(|name| path.starts_with(name));
    let opens =
        matches!(path, "open" | "@io.open" | "@aiofiles.open" | "Buffer.from" | "@buffer.Buffer.from");
    let is_stream = ["pipe", "open", "createWriteStream"].iter().any(|method| is_method(path, method));
    names_environment
        || opens
        || is_stream
        || path == "@os.getenv"
        || writes_text(path)
        || is_decompression(path)
        || is_question(path)
        || is_listing(path)
}

/// What [`RuleAnalysis::flow`] reads of the arguments of a call.
#[derive(Debug, Default)]
pub(super) struct GivenArguments {
    /// The call, and the state of the evaluation in which the rest was read.
    at: Option<(NodeId, u32)>,
    values: Vec<Value>,
    taint: u32,
    /// The constant texts, each after a slash.
    texts: Vec<u8>,
    /// The taint of the result of a call without effects.
    plain: u32,
    /// Set if an argument names a host that tells a machine of a cloud its credentials.
    asks_cloud: bool,
}

/// Returns `true` if a call makes one text of all its arguments.
fn writes_text(path: &str) -> bool {
    matches!(
        path,
        "JSON.stringify"
            | "@json.dumps"
            | "str"
            | "repr"
            | "@urllib.parse.urlencode"
            | "URLSearchParams"
            | "Blob"
            | "Buffer.concat"
            | "@buffer.Buffer.concat"
    )
}

/// Returns `true` if the result of a call only tells whether something is there.
fn is_question(path: &str) -> bool {
    path.rsplit('.').next().is_some_and(|last| QUESTIONS.contains(&last))
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
fn is_local(facts: &Evaluation<'_>, value: Value, src: &[u8]) -> bool {
    let mut alternatives = facts.alternatives(value);
    let (Some(only), None) = (alternatives.next(), alternatives.next()) else { return false };
    let mut text = Vec::new();
    match only {
        Alternative::Text(bytes, _) => text.extend_from_slice(bytes),
        Alternative::Partial(node) => {
            for part in facts.parts(node) {
                let (start, end) = facts.program().span(part);
                match facts.alternatives(facts.value(part)).next() {
                    Some(Alternative::Text(bytes, _)) => text.extend_from_slice(bytes),
                    // A port, as its name says: `http://localhost:${port}/`.
                    _ if text.ends_with(b":") && names_port(src.part(start..end)) => text.push(b'1'),
                    _ => break,
                }
            }
        }
        _ => return false,
    }
    let has_path = memchr::memchr_iter(b'/', &text).count() > 2;
    let is_whole = text.starts_with(b"http") && (has_path || matches!(only, Alternative::Text(..)));
    let mut all = hosts::addresses(&text);
    !facts.is_open(value)
        && is_whole
        && all.next().is_some_and(|one| one.is_well_formed() && one.is_loopback())
}

/// Returns `true` if an expression names a port.
fn names_port(text: &[u8]) -> bool {
    text.len() < 64 && memchr::memmem::find(&text.to_ascii_lowercase(), b"port").is_some()
}

/// Returns `true` if a call reads files, or the names of files in a directory.
fn is_listing(path: &str) -> bool {
    let last = path.rsplit('.').next().unwrap_or(path);
    is_read(path) || LISTINGS.contains(&last)
}

/// Returns the taint of one environment variable.
fn of_variable(name: &[u8]) -> u32 {
    match () {
        () if credentials::is_store_address(name) => NAMED | STORE,
        () if credentials::is_secret_name(name) => NAMED,
        () => 0,
    }
}

/// Returns the taint of what is read from a path.
fn of_path(path: &[u8]) -> u32 {
    let secret = if credentials::is_file(path) { CREDENTIALS } else { 0 };
    let remote = if credentials::is_repository_settings(path.trim_ascii_end()) { REMOTE } else { 0 };
    if credentials::is_transcript(path) { secret | TRANSCRIPT } else { secret | remote }
}

/// Returns `true` if a call returns the contents of a file.
fn is_read(path: &str) -> bool {
    ["readFileSync", "readFile", "createReadStream", "open", "read_bytes", "read_text", "ZipFile", "get_data"]
        .iter()
        .any(|name| path.strip_suffix(name).is_some_and(|head| head.is_empty() || head.ends_with('.')))
}

/// Returns the taint of a value, and of the items in its collections up to a depth.
pub(super) fn taint_of(facts: &Evaluation<'_>, value: Value, depth: usize) -> u32 {
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
    if facts.names(value).any(|name| is_environment(facts, name)) { ENVIRONMENT } else { 0 }
}

/// Returns `true` if a name is the environment itself.
fn is_environment(facts: &Evaluation<'_>, name: Name) -> bool {
    ends_in(facts, name, &[b"env", b"environ", b"environb"])
        && ENVIRONMENTS.contains(&path(facts, name).as_str())
}

/// Returns `true` if the path of a name may end in one of these members. Few names do, and only theirs are spelled.
fn ends_in(facts: &Evaluation<'_>, name: Name, members: &[&[u8]]) -> bool {
    let NamePart::Member(member) = facts.step(name) else { return false };
    let member = facts.bytes(member);
    members.contains(&member) || member == b"default"
}

fn taint_of_first(call: &Call<'_, '_>) -> u32 {
    call.arguments.first().map_or(0, |first| call.facts.taint(first.value).bits)
}

fn receiver_taint(call: &Call<'_, '_>) -> u32 {
    call.receiver.map_or(0, |object| call.facts.taint(call.facts.value(object)).bits)
}

/// Returns the file of the plugin that a name is from, as a relative path with the name in Python: `./a.js`, `a/b/NAME`.
fn module_of(facts: &Evaluation<'_>, name: Name, language: Language) -> Option<String> {
    let path = path(facts, name);
    let module = path.strip_prefix('@')?;
    match language {
        Language::JavaScript => {
            let root = |name: Name| match facts.step(name) {
                NamePart::Module(module) => Some(String::from_utf8_lossy(facts.bytes(module)).into_owned()),
                _ => None,
            };
            let mut names = core::iter::successors(Some(name), |name| facts.parent(*name)).take(STEPS);
            names.find_map(root).filter(|module| module.starts_with('.'))
        }
        Language::Python => Some(module.split("()").next()?.trim_start_matches('.').replace('.', "/")),
    }
}

/// A name as text, and the effects of a call of it.
#[derive(Debug)]
pub(super) struct SpelledName {
    path: String,
    effects: Effects,
    /// Whether the taint of a call's result depends on nothing but the arguments.
    is_plain: bool,
    /// Whether the name begins the name of a call with effects.
    begins_effects: bool,
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
                let text = String::from_utf8_lossy(facts.bytes(module).head(LONGEST)).into_owned();
                format!("@{}", text.strip_prefix("node:").unwrap_or(&text))
            }
            NamePart::Member(member) => {
                format!(".{}", String::from_utf8_lossy(facts.bytes(member).head(LONGEST)))
            }
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
