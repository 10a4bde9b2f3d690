//! Ordinary uses of what rules find. Each one is recognized by the text around a match, so it only lowers a finding.

use plugward_types::{FileRole, Part};

use crate::known::{credentials, hosts};
use crate::scan::sink::{Hit, Lowered};
use crate::text::quotation;

/// How far around a match its purpose is searched for.
const AROUND: usize = 160;
/// How far from each other the two ends of a flow can be in generated code that was written as one piece.
const REACH: usize = 4 << 10;

/// Returns `true` if the text around a match shows an ordinary use.
pub(crate) fn is_ordinary(rule: &str, hit: Hit, role: FileRole, bytes: &[u8]) -> bool {
    let matched = bytes.part(hit.start as usize..hit.end as usize);
    let is_taught = || {
        role == FileRole::ModelRead
            && hit.lowered != Lowered::Executed
            && quotation::is_taught(bytes, hit.start as usize)
    };
    match rule {
        "fs/secrets-copied" => is_for_worktree(matched, bytes),
        "fs/sensitive-path" => is_searched_for(matched),
        "exec/agent-unattended" => is_limited(matched) || role < FileRole::Executed && is_fixed(matched),
        "exec/drop-run" | "sh/pipe-to-shell" if is_own_text(matched) => true,
        "flow/credentials-sent" => is_returned(matched, bytes),
        "native/process-binding" => binds_util(matched),
        "prompt/secret-request" | "prompt/credential-flow" if is_public_key(matched) => true,
        "prompt/override" if role == FileRole::OnRequest => is_test_data(hit, bytes) || is_quoted(hit, bytes),
        "prompt/encoded" | "sh/pipe-to-shell" | "flow/decode-run" | "flow/download-run" => is_taught(),
        _ => rule.starts_with("secret/") && is_example(hit, role, bytes),
    }
}

/// Returns `true` if both ends of a flow are near each other. In a bundle, values of unrelated libraries can seem to be one.
pub(crate) fn is_near(rule: &str, hit: Hit, bytes: &[u8]) -> bool {
    let around = bytes.part(
        (hit.start as usize).saturating_sub(REACH)..(hit.end as usize).saturating_add(REACH).min(bytes.len()),
    );
    let sources: &[&str] = if rule == "flow/decode-run" {
        &[
            "atob",
            "base64",
            "fromCharCode",
            "inflate",
            "unzip",
            "ecipher",
            "ecode(",
            "'hex'",
            "\"hex\"",
            "ecrypt",
        ]
    } else {
        &[
            "fetch",
            "http",
            "axios",
            "request(",
            "XMLHttp",
            "urlopen",
            "WebSocket",
            "socket",
            "createConnection",
        ]
    };
    sources.iter().any(|word| has(around, word))
}

/// Returns `true` for code that is probably generated: it is large, or minified. Lines of comments and blanks do not count, so
/// that padding does not make a script a bundle.
pub(crate) fn is_generated(bytes: &[u8]) -> bool {
    let (mut code, mut lines) = (0_usize, 0_usize);
    for line in code_lines(bytes) {
        code = code.saturating_add(line.iter().filter(|byte| !byte.is_ascii_whitespace()).count());
        lines = lines.saturating_add(1);
    }
    code > BUNDLE || code > MINIFIED && code.checked_div(lines).is_some_and(|average| average > LINE)
}

/// Returns the lines that are not empty and do not begin like a comment, without the blanks around them. Code after `/* … */` on
/// a line is dropped, too.
fn code_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| {
        let is_comment = line.starts_with(b"//") || line.starts_with(b"/*") || line.starts_with(b"* ");
        let is_directive = line.starts_with(b"#!");
        !line.is_empty() && !is_comment && (is_directive || !line.starts_with(b"#"))
    })
}

/// The size of code that nobody writes in one file.
const BUNDLE: usize = 256 << 10;
/// The least size of minified code, which is that of a library.
const MINIFIED: usize = 64 << 10;
/// The average length of the lines of minified code.
const LINE: usize = 400;

fn has(text: &[u8], word: &str) -> bool {
    memchr::memmem::find(text, word.as_bytes()).is_some()
}

fn has_any(text: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| has(text, word))
}

/// Returns `true` if a worktree of the same repository gets its settings. It does not if the file also packs files.
fn is_for_worktree(matched: &[u8], bytes: &[u8]) -> bool {
    let lower = matched.to_ascii_lowercase();
    (has(&lower, "worktree") || has(&lower, "wt"))
        && code_lines(bytes).any(|line| has(line, "git worktree add"))
        && !has_any(bytes, &["tar ", "zip ", "rsync ", "scp ", "base64"])
        && !code_lines(bytes).any(|line| {
            let line = line.to_ascii_lowercase();
            has_any(&line, &["curl ", "wget ", "nc ", "http"]) && has_any(&line, &[".env", "wt", "worktree"])
        })
}

/// Returns `true` if a command searches for paths in other files: the paths are in its pattern or program.
fn is_searched_for(matched: &[u8]) -> bool {
    let program = matched.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    if !matches!(program, b"grep" | b"egrep" | b"rg" | b"jq" | b"yq") {
        return false;
    }
    let mut rest = Vec::new();
    let mut quoted = false;
    for part in matched.split(|byte| *byte == b'\'') {
        // `'a|b'` and `'select(…)'` are patterns and programs; `'/home/a/.netrc'` is a file.
        if !quoted || !has_any(part, &["|", "\\", "(", "["]) {
            rest.extend_from_slice(part);
            rest.push(b' ');
        }
        quoted = !quoted;
    }
    // A command substitution in double quotes could read a file.
    !has(&rest, "$(")
        && !rest.split(u8::is_ascii_whitespace).any(|word| credentials::is_file(word.trim_ascii()))
        && !has_any(&rest, &[".ssh", ".aws", ".netrc", "id_rsa", "id_ed25519", "/etc/shadow", "/environ"])
}

/// Tools of agents that change and send nothing.
const READERS: &[&[u8]] = &[b"Read", b"Grep", b"Glob", b"LS"];
/// The tools without which an agent changes and sends nothing.
const WRITERS: &[&[u8]] = &[b"Bash", b"Write", b"Edit", b"WebFetch"];

/// Returns `true` if an agent without permission prompts lacks the tools that change or send something.
fn is_limited(matched: &[u8]) -> bool {
    // The values of an option, or `None` if it is missing, given twice, or in a quoted text.
    let after = |option: &str| {
        let mut all = memchr::memmem::find_iter(matched, option.as_bytes());
        let (at, None) = (all.next()?, all.next()) else { return None };
        let ahead = matched.part(..at);
        if [b'"', b'\''].iter().any(|quote| memchr::memchr_iter(*quote, ahead).count() % 2 == 1) {
            return None;
        }
        let rest = matched.part(at.saturating_add(option.len())..).trim_ascii_start();
        let rest = rest.strip_prefix(b"=").unwrap_or(rest);
        let (rest, end) = match rest.split_first() {
            Some((quote @ (b'"' | b'\''), inner)) => (inner, memchr::memchr(*quote, inner)),
            _ => (rest, rest.iter().position(u8::is_ascii_whitespace)),
        };
        let names = rest.part(..end.unwrap_or(rest.len()));
        Some(names.split(|byte| b", ".contains(byte)).filter(|name| !name.is_empty()).collect::<Vec<_>>())
    };
    let tools = after(" --tools ").or_else(|| after(" --tools="));
    let is_reader =
        tools.is_some_and(|names| !names.is_empty() && names.iter().all(|name| READERS.contains(name)));
    let denied = ["--disallowedTools", "--disallowed-tools"]
        .into_iter()
        .filter_map(after)
        .any(|names| WRITERS.iter().all(|writer| names.contains(writer)));
    let is_shell_denied = after("--deny-tool").is_some_and(|names| names == [b"shell"]);
    is_reader || is_shell_denied || denied && !has(matched, "mcp")
}

/// Returns `true` if the prompt of an agent is constant and about nothing on the machine.
fn is_fixed(matched: &[u8]) -> bool {
    let lower = matched.to_ascii_lowercase();
    let words = || matched.split(|byte| byte.is_ascii_whitespace() || b"\"'".contains(byte));
    // `NOTES` and `notes.md` are names of texts that the agent would read.
    let is_name = |word: &[u8]| {
        let word = word.strip_suffix(b".").unwrap_or(word);
        word.len() > 2 && (word.contains(&b'.') || word.iter().all(u8::is_ascii_uppercase))
    };
    let is_open = has_any(&lower, &["$", "`", "<", "|", " - ", "@", "*"])
        || lower.ends_with(b" -")
        || words().any(is_name);
    let quotes = lower.iter().filter(|byte| matches!(byte, b'"' | b'\'')).count();
    !is_open && quotes >= 2 && !has_any(&lower, ORDERS)
}

/// Words of prompts that concern the machine, besides those of the search for an answer.
const ORDERS: &[&str] = &[
    "~",
    "/",
    "home",
    "file",
    "key",
    "token",
    "secret",
    "credential",
    "wallet",
    "password",
    "run ",
    "install",
    "delete",
    "remove",
    "write",
    "commit",
    "push",
    "execute",
    "send",
    "upload",
    "env",
    "director",
    "folder",
    "repo",
];

/// Returns `true` if an interpreter reads a here-document of the script in which nothing is expanded.
fn is_own_text(matched: &[u8]) -> bool {
    let Some(at) = memchr::memmem::find(matched, b"<<") else { return false };
    let rest = matched.part(at.saturating_add(2)..);
    let rest = rest.strip_prefix(b"-").unwrap_or(rest).trim_ascii_start();
    let before = matched.part(..at);
    let command = before.rsplit(|byte| b";|&(\n".contains(byte)).next().unwrap_or(before).trim_ascii();
    let words = || command.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    // Variables before the program are its environment.
    let mut program = words().skip_while(|word| word.contains(&b'='));
    let is_interpreter = matches!(
        program.next(),
        Some(b"python" | b"python3" | b"node" | b"bash" | b"sh" | b"ruby" | b"perl" | b"deno" | b"bun")
    );
    // Nothing may follow the delimiter: a file after it is what the interpreter reads.
    let line = rest.part(..memchr::memchr(b'\n', rest).unwrap_or(rest.len()));
    let ends = match line.split_first() {
        Some((quote @ (b'"' | b'\''), inner)) => memchr::memchr(*quote, inner).is_some_and(|end| {
            inner.part(end.saturating_add(1)..).iter().all(|byte| b" )\t\r".contains(byte))
        }),
        _ => false,
    };
    let reads_other = has_any(matched, &["/dev/fd", "/proc/self/fd", "fdopen", "<&", "-c "]);
    is_interpreter && ends && !reads_other && program.all(|word| word == b"-" || word == b"-s")
}

/// Returns `true` if a file asks git for the credentials of the host to which it sends some, and has no word for another
/// source.
fn is_returned(matched: &[u8], source: &[u8]) -> bool {
    let bytes = &*code_lines(source).collect::<Vec<_>>().join(&b'\n');
    if !has(bytes, "credential")
        || !has_any(
            bytes,
            &["git credential fill", "\"credential\", \"fill\"", "'credential', 'fill'", "credential fill"],
        )
    {
        return false;
    }
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let asked = memchr::memmem::find_iter(bytes, b"host=").map(|at| {
        let rest = bytes.part(at.saturating_add(5)..);
        rest.part(..rest.iter().position(|byte| !is_name(byte)).unwrap_or(rest.len()))
    });
    let asked: Vec<&[u8]> = asked.collect();
    let Some(host) = hosts::first(matched) else { return false };
    let is_asked = |name: &&[u8]| {
        let name = String::from_utf8_lossy(name).to_lowercase();
        name.contains('.')
            && (host == name || host.strip_suffix(&name).is_some_and(|head| head.ends_with('.')))
    };
    // Anything else that the file may read could be what it sends, so a word for another source is enough, also in a comment.
    let lower = source.to_ascii_lowercase();
    let sweeps = has_any(
        &lower,
        &[
            "env",
            "~",
            "home",
            "expanduser",
            "open(",
            "readfile",
            "read_text",
            "cat ",
            "<(",
            "/proc",
            "keychain",
        ],
    );
    !asked.is_empty() && asked.iter().all(is_asked) && !sweeps
}

/// Returns `true` if the key files of a text are public keys, and it names no other credentials.
fn is_public_key(matched: &[u8]) -> bool {
    let lower = matched.to_ascii_lowercase();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-/~$".contains(byte);
    let mut keys = 0_usize;
    for word in lower.split(|byte| !is_part(byte)) {
        let word = word.strip_suffix(b".").unwrap_or(word);
        if has_any(word, &[".ssh", "id_rsa", "id_ed25519", "id_ecdsa"]) {
            if !word.ends_with(b".pub") {
                return false;
            }
            keys = keys.saturating_add(1);
        } else if credentials::is_file(word) || credentials::is_dotenv(word) {
            return false;
        }
    }
    let others = &[
        "private",
        "credential",
        "secret",
        "password",
        "token",
        "environment",
        "seed",
        "keychain",
        "cookies",
        "beside",
        "next to",
        "sibling",
        "other",
        "every",
        "all ",
        "both",
        "files",
        "folder",
        "director",
        "matching",
        "without",
        "extension",
        "%.pub",
    ];
    keys > 0 && !has_any(&lower, others)
}

/// Returns `true` if a text is one of several in a list of a file about attacks, such as the prompts of a test.
fn is_test_data(hit: Hit, bytes: &[u8]) -> bool {
    let is_item = |line: &[u8]| {
        let line = line.trim_ascii();
        line.first().is_some_and(|quote| matches!(quote, b'"' | b'\'' | b'`'))
            && (line.ends_with(b"\",") || line.ends_with(b"',") || line.ends_with(b"`,"))
    };
    let start = hit.start as usize;
    let from = memchr::memrchr(b'\n', bytes.part(..start)).map_or(0, |at| at.saturating_add(1));
    let after = bytes.part(from..).split(|byte| *byte == b'\n').take(3);
    let before = bytes.part(..from).rsplit(|byte| *byte == b'\n').skip(1).take(2);
    let own = bytes.part(from..).split(|byte| *byte == b'\n').next().is_some_and(is_item);
    let near = after.skip(1).chain(before).filter(|line| is_item(line)).count();
    own && near >= 2 && quotation::is_about_attacks(bytes.part(..start))
}

/// Returns `true` if a text quotes a sentence: `a document that contains 'Ignore …'`.
fn is_quoted(hit: Hit, bytes: &[u8]) -> bool {
    let (start, end) = (hit.start as usize, hit.end as usize);
    let ahead = bytes.part(start.saturating_sub(AROUND)..start);
    let Some((quote, ahead)) = ahead.split_last() else { return false };
    let after = bytes.part(end..end.saturating_add(AROUND).min(bytes.len()));
    matches!(quote, b'"' | b'\'' | b'`')
        && after.split(|byte| *byte == b'\n').next().is_some_and(|line| line.contains(quote))
        && has_any(
            ahead.part(ahead.len().saturating_sub(24)..),
            &["contain", "such as", "like", "says", "e.g."],
        )
}

/// Returns `true` for the binding of Node with which Lodash tells types apart.
fn binds_util(matched: &[u8]) -> bool {
    matched.ends_with(b".binding(\"util\")") || matched.ends_with(b".binding('util')")
}

/// Returns `true` for a control character that a text shows on its own, between marks of code.
pub(crate) fn is_shown_alone(hit: Hit, bytes: &[u8]) -> bool {
    let (start, end) = (hit.start as usize, hit.end as usize);
    bytes.part(..start).last() == Some(&b'`') && bytes.get(end) == Some(&b'`')
}

/// Returns `true` if a key is an example: the value of a member of that name, or below the words of a text that a model reads.
fn is_example(hit: Hit, role: FileRole, bytes: &[u8]) -> bool {
    let start = hit.start as usize;
    let before = bytes.part(start.saturating_sub(AROUND)..start).to_ascii_lowercase();
    let line = memchr::memrchr(b'\n', &before).map_or(0, |at| at.saturating_add(1));
    let own: Vec<u8> = before.part(line..).iter().copied().filter(|byte| !b" \t\"'".contains(byte)).collect();
    let is_member = ["example:", "examples:", "example=", "examples=", "sample:", "samples="];
    has_any(&own, &is_member)
        || role == FileRole::ModelRead
            && has_any(before.part(..line), &["example", "sample", "detect", "leaked"])
}
