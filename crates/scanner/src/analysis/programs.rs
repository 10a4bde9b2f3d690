//! Programs that code starts: what they run, and what they get.

#![expect(clippy::arithmetic_side_effects, reason = "counts of items in memory cannot overflow")]

use plugward_readers::{Alternative, Call, Evaluation, Node, NodeId, Value};

use super::RuleAnalysis;
use super::flows::{COURIER, DOWNLOAD, SENDER, SHELL, taint_of};

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
/// Programs that send their input or arguments to another host.
const SENDERS: &[&[u8]] = plugward_types::byte_words![
    "curl wget nc ncat netcat socat openssl telnet ssh http https xh curlie websocat wscat sendmail mail mailx msmtp ftp tftp",
];
/// Programs that run their input, if they get no file.
const SHELLS: &[&[u8]] = plugward_types::byte_words![
    "sh bash zsh dash ksh ash python python3 node perl ruby php pwsh powershell cmd"
];
/// What code of an interpreter names to reach another host, and to read what it is given.
const CONNECTIONS: &[&[u8]] = plugward_types::byte_words![
    "urlopen requests. requests; http.client httpx aiohttp socket smtplib fetch( http. https net. axios Net::HTTP Socket open-uri curl",
    "tls. dgram",
];
const INPUTS: &[&[u8]] =
    plugward_types::byte_words!["stdin STDIN argv ARGV readFileSync(0 $argv php://input"];
/// Values of options that are not arguments.
const SETTINGS: &[&[u8]] = plugward_types::byte_words!["True False pipe inherit ignore utf8 utf-8"];

impl RuleAnalysis<'_, '_, '_> {
    /// Returns the mark of a started program that sends or runs its input.
    pub(super) fn started(&mut self, call: &Call<'_, '_>) -> u32 {
        let text = self.constants(call.facts, call);
        let is_word = |word: &&[u8]| {
            let is_setting = SETTINGS.contains(word) || WRAPPERS.contains(word) || word.contains(&b'=');
            !word.is_empty() && !is_setting
        };
        let mut words = text.split(|byte| *byte == b' ').filter(is_word);
        let program = words.next().unwrap_or_default();
        let name = program.rsplit(|byte| *byte == b'/').next().unwrap_or(program);
        // The path of the running interpreter is not a constant.
        let is_code = SWITCHES.contains(&name)
            || INTERPRETERS.contains(&name) && words.clone().any(|word| SWITCHES.contains(&word));
        if SENDERS.contains(&name) || starts_sender(&text) {
            SENDER
        } else if is_code && contains(&text, CONNECTIONS) && contains(&text, INPUTS) {
            SENDER | COURIER
        } else if SHELLS.contains(&name)
            && words.all(|word| word.starts_with(b"-") && !SWITCHES.contains(&word))
        {
            SHELL
        } else {
            0
        }
    }

    /// Returns `true` if the whole command is downloaded, or the program is: a command with an answer among its arguments
    /// runs its own program.
    pub(super) fn starts_download(&mut self, call: &Call<'_, '_>) -> bool {
        let facts = call.facts;
        let Some(first) = call.arguments.first() else { return false };
        let is_foreign = |value: Value| {
            let marked = facts.taint(value).bits & DOWNLOAD != 0;
            marked && !has_words(facts, value) && facts.items(value).is_empty()
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
    pub(super) fn runs_file(&mut self, call: &Call<'_, '_>) -> bool {
        let text = self.constants(call.facts, call);
        text.split(|byte| *byte == b' ').any(|word| self.is_downloaded(word))
    }
}

fn contains(text: &[u8], parts: &[&[u8]]) -> bool {
    parts.iter().any(|part| memchr::memmem::find(text, part).is_some())
}

/// Returns `true` if one command of a shell's text is a program that sends its input: `cd x && curl …`, `sh -c "curl …"`.
fn starts_sender(text: &[u8]) -> bool {
    let mut is_start = false;
    for word in text.split(|byte| matches!(byte, b' ' | b'\n')).filter(|word| !word.is_empty()) {
        if is_start && SENDERS.contains(&word) {
            return true;
        }
        is_start = matches!(word, b"-c" | b"/c") || word.last().is_some_and(|last| b";|&(".contains(last));
    }
    false
}

/// Returns `true` if a value is a text with a constant part, and not only another form of data: `data.toString()`.
pub(super) fn has_words(facts: &Evaluation<'_>, value: Value) -> bool {
    facts.alternatives(value).any(|one| match one {
        Alternative::Text(..) => true,
        Alternative::Partial(node) => match facts.program().node(node) {
            Node::Call { .. } => facts.parts(node).iter().any(|part| has_words_of(facts, *part)),
            _ => true,
        },
        _ => false,
    })
}

/// Returns `true` if a part of a text is a constant.
fn has_words_of(facts: &Evaluation<'_>, part: NodeId) -> bool {
    facts.alternatives(facts.value(part)).any(|one| match one {
        Alternative::Text(text, _) => text.contains(&b' '),
        Alternative::Partial(_) => true,
        _ => false,
    })
}

/// The number of constant lines from which on a text is code of the plugin with a value in it.
const LINES: usize = 4;

/// Returns `true` if the written text is joined from lines that are mostly constant.
pub(super) fn writes_lines(call: &Call<'_, '_>) -> bool {
    let facts = call.facts;
    let is_joined = |one: Alternative<'_>| {
        let Alternative::Partial(node) = one else { return false };
        let Node::Call { callee, .. } = facts.program().node(node) else { return false };
        let Node::Member { object, .. } = facts.program().node(callee) else { return false };
        let items = facts.items(facts.value(object));
        let is_constant = |value| facts.alternatives(value).any(|one| matches!(one, Alternative::Text(..)));
        let count = items.iter().filter(|item| is_constant(item.value)).count();
        count >= LINES && count * 2 > items.len()
    };
    call.arguments.iter().any(|argument| facts.alternatives(argument.value).any(is_joined))
}

/// Returns `true` if a call passes an input to the program that it starts.
pub(super) fn gives_input(call: &Call<'_, '_>) -> bool {
    let facts = call.facts;
    call.arguments.iter().any(|argument| {
        let is_record =
            || facts.alternatives(argument.value).any(|one| matches!(one, Alternative::Record(_)));
        match argument.key {
            Some(key) => facts.bytes(key) == b"input",
            None => {
                is_record()
                    && facts
                        .items(argument.value)
                        .iter()
                        .any(|item| item.key.is_some_and(|key| facts.bytes(key) == b"input"))
            }
        }
    })
}

/// Returns the taint of the arguments and of the input that a call gives to a program. Its environment is not sent.
pub(super) fn sent(call: &Call<'_, '_>) -> u32 {
    let facts = call.facts;
    let is_given = |key: &[u8]| matches!(key, b"args" | b"input" | b"stdin");
    call.arguments.iter().fold(0, |bits, argument| {
        let is_record = facts.alternatives(argument.value).any(|one| matches!(one, Alternative::Record(_)));
        let more = match argument.key.map(|key| facts.bytes(key)) {
            Some(key) if !is_given(key) => 0,
            None if is_record => facts
                .items(argument.value)
                .iter()
                .filter(|item| item.key.is_some_and(|key| is_given(facts.bytes(key))))
                .fold(0, |bits, item| bits | taint_of(facts, item.value, 1)),
            _ => taint_of(facts, argument.value, 1),
        };
        bits | more
    })
}
