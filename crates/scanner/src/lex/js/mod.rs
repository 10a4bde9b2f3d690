//! JavaScript and TypeScript.

mod argv;
mod bind;
mod built;
mod call;
mod code;
mod copy;
mod escape;
mod follow;
mod given;
mod held;
pub(crate) mod html;
mod import;
mod look;
mod reads;
mod scan;
mod scope;
mod sets;
mod table;
mod texts;
mod token;
mod types;
mod variables;
mod walk;
mod whole;
mod xml;

pub(crate) use call::WalkNodes;

use super::Lexed;
use crate::entry::Lens;
use crate::names::Names;
use crate::options::Limits;
use crate::sink::{EmbeddedText, Sink, Unread};
use scan::{Dialect, Flag, Scanner};
use token::{FIRST, KEYWORDS, MOST};

/// Words that the walker follows although no rule need name them.
const WALKED: &[&str] = &[
    "require",
    "module.require",
    "process.mainModule.require",
    "require.main.require",
    "process.getBuiltinModule",
    "module.createRequire",
    "@module.createRequire",
    "createRequire",
    "import",
    "import.defer",
    "import.source",
    "import.meta",
    "Reflect.apply",
    "Reflect.construct",
    "Reflect.get",
    "Object.create",
    "Object.getOwnPropertyDescriptor",
    "Reflect.getOwnPropertyDescriptor",
    "Proxy",
    "process",
    "Object.assign",
    "Object.defineProperty",
    "Object.defineProperties",
    "Object.setPrototypeOf",
    "Reflect.set",
    "Reflect.defineProperty",
    "Reflect.setPrototypeOf",
    "Reflect.deleteProperty",
    "eval",
    "Function",
    "importScripts",
    "@module._load",
    "module.constructor._load",
    "Object.getPrototypeOf",
    "Reflect.getPrototypeOf",
    "execScript",
    "setTimeout",
    "setInterval",
    "setImmediate",
    "@child_process.exec",
    "@child_process.execSync",
    "function",
    // What is certainly a text; like the one before it no name can be spelled so.
    "typeof",
    "@process.getBuiltinModule",
    "*.constructor",
    "vm",
    "cluster",
    "module",
];

/// Single words that the walker knows besides keywords.
const WORDS: &[&str] = &[
    "call",
    "apply",
    "bind",
    "default",
    "then",
    "globalThis",
    "window",
    "self",
    "global",
    "top",
    "parent",
    "frames",
    "__proto__",
];

/// Words that stand for the global object, or whose members do.
pub(crate) const ROOTS: &[&str] = &["globalThis", "window", "self", "global", "top", "parent", "frames"];

/// Starts the table of names: keywords first, so that their numbers are known.
pub(crate) fn names() -> Names {
    let mut names = Names::new();
    for keyword in KEYWORDS {
        names.words.intern(keyword.as_bytes());
    }
    debug_assert_eq!(names.words.get(b"typeof"), FIRST, "keywords come right after the two marks");
    for name in WALKED.iter().chain(built::WALKED).chain(texts::WALKED) {
        names.intern(name);
    }
    for word in WORDS {
        names.words.intern(word.as_bytes());
    }
    names
}

fn dialect(path: &str, html_comments: Flag) -> Dialect {
    let ending = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let (types, jsx) = match ending.as_str() {
        "ts" | "mts" | "cts" => (Flag::On, Flag::Off),
        "tsx" => (Flag::On, Flag::On),
        "mjs" | "cjs" => (Flag::Off, Flag::Off),
        _ => (Flag::Off, Flag::On),
    };
    Dialect { types, jsx, html_comments }
}

/// Reads a text as JavaScript or, by the path's ending, TypeScript.
pub(crate) fn lex(src: &[u8], sink: &mut Sink<'_>, limits: &Limits, out: &mut Lexed) {
    let script = pass(src, dialect(sink.path, Flag::Off), sink, limits, Some(out));
    if script == Flag::On {
        // Scripts have comments that modules lack. Both readings count.
        pass(src, dialect(sink.path, Flag::On), sink, limits, None);
    }
}

/// Reads a text once; says whether a comment of scripts stands in it outside of what is a text or a comment in both.
fn pass(src: &[u8], dialect: Dialect, sink: &mut Sink<'_>, limits: &Limits, out: Option<&mut Lexed>) -> Flag {
    let rules = sink.rules;
    let names = &rules.js;
    let seen = src.get(..MOST).unwrap_or(src);
    let mut scanned = Scanner::new(seen, names, dialect, limits, rules.hinted().least).run();
    if seen.len() < src.len() {
        scanned.stopped.get_or_insert(seen.len());
    }
    if let Some(at) = scanned.stopped {
        sink.unread.push(Unread { start: at, end: src.len() });
    }
    second_readings(src, &scanned.unsure, sink);
    let places = sink.places.take().filter(|_| !whole::asked());
    look::look(src, &scanned, places.as_ref(), sink);
    sink.places = places;
    walk::walk(src, &mut scanned, dialect, names, sink);
    // The view of a large file needs the room that its brackets take.
    (scanned.brackets, scanned.events) = (Vec::new(), Vec::new());
    if let Some(out) = out {
        let places = sink.places.take();
        code::views(src, &scanned, places.as_ref(), out, sink);
        sink.places = places;
    }
    if scanned.script_comments { Flag::On } else { Flag::Off }
}

/// Has what was unsure read as code. Ranges may lie in each other: what comes to more than twice the text is said to be
/// unread, so that the time is linear.
fn second_readings(src: &[u8], unsure: &[(u32, u32)], sink: &mut Sink<'_>) {
    let mut left = src.len().saturating_mul(2);
    for &(start, end) in unsure.iter().filter(|(start, end)| start < end) {
        let (start, end) = (start as usize, end as usize);
        match left.checked_sub(end.saturating_sub(start)) {
            Some(rest) => {
                left = rest;
                sink.embed(Lens::Js, EmbeddedText::Range(start, end));
            }
            None => sink.unread.push(Unread { start, end }),
        }
    }
}

/// Gives a token's bytes.
fn text_of(src: &[u8], tok: token::Tok) -> &[u8] {
    src.get(tok.start() as usize..tok.end() as usize).unwrap_or_default()
}
