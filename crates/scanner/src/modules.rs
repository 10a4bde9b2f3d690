//! Module specifiers and file names: which sets they are in.

use crate::rules::set;
use crate::sink::Specifier;

/// Modules that a JavaScript runtime brings.
const BUILTINS: &[&str] = &[
    "assert",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "domain",
    "events",
    "fs",
    "http",
    "http2",
    "https",
    "inspector",
    "module",
    "net",
    "os",
    "path",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "repl",
    "sea",
    "sqlite",
    "stream",
    "string_decoder",
    "sys",
    "test",
    "timers",
    "tls",
    "trace_events",
    "tty",
    "url",
    "util",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
    "zlib",
];

/// Says which sets a specifier is in.
pub(crate) fn sets(specifier: Specifier<'_>, from: &str, packages: &[String]) -> u8 {
    let text = match specifier {
        Specifier::Known(text) => text,
        Specifier::Computed => return set::COMPUTED,
    };
    let mut sets = 0;
    let file = text.split(|byte| matches!(byte, b'?' | b'#')).next().unwrap_or_default();
    if file.last_chunk().is_some_and(|tail: &[u8; 5]| tail.eq_ignore_ascii_case(b".node")) {
        sets |= set::NATIVE;
    }
    let begins =
        |head: &str| text.get(..head.len()).is_some_and(|own| own.eq_ignore_ascii_case(head.as_bytes()));
    if ["http:", "https:", "data:", "blob:", "file:", "//"].into_iter().any(begins) {
        return sets | set::REMOTE;
    }
    if is_relative(text) {
        if leaves(from, text) {
            sets |= set::OUTSIDE;
        }
    } else if is_absolute(text) {
        sets |= set::OUTSIDE;
    } else if is_external(text, packages) {
        sets |= set::EXTERNAL;
    }
    sets
}

fn is_relative(text: &[u8]) -> bool {
    text == b"."
        || text == b".."
        || text.starts_with(b"./")
        || text.starts_with(b"../")
        || text.starts_with(b".\\")
}

fn is_absolute(text: &[u8]) -> bool {
    text.starts_with(b"/")
        || text.starts_with(b"\\")
        || matches!(text, [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic())
}

fn is_external(text: &[u8], packages: &[String]) -> bool {
    // The host's own modules and package-internal imports are no packages.
    if text.is_empty() || text.starts_with(b"#") || text.starts_with(b"host:") || text.starts_with(b"ha:") {
        return false;
    }
    if let Some(name) = text.strip_prefix(b"node:") {
        return !is_builtin(name);
    }
    if text.starts_with(b"bun:") || text == b"bun" {
        return false;
    }
    if is_builtin(text) {
        return false;
    }
    !packages.iter().any(|package| {
        let tail = text.strip_prefix(package.as_bytes());
        tail.is_some_and(|tail| tail.is_empty() || tail.starts_with(b"/"))
    })
}

fn is_builtin(name: &[u8]) -> bool {
    let head = name.split(|byte| *byte == b'/').next().unwrap_or_default();
    let Ok(head) = core::str::from_utf8(head) else { return false };
    // A trailing slash names the package of that name, not the builtin.
    BUILTINS.binary_search(&head).is_ok() && !name.ends_with(b"/")
}

/// Gives the path that a relative name stands for, seen from the file that names it.
pub(crate) fn resolve(from: &str, name: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').filter(|part| !part.is_empty()).collect();
    parts.pop();
    let name = name.split(['?', '#']).next().unwrap_or_default();
    for part in name.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Gives the last part of what a name stands for, wherever it is seen from. `None` where that depends on it.
pub(crate) fn last_part(name: &str) -> Option<&str> {
    let name = name.split(['?', '#']).next().unwrap_or_default();
    let last = name.rsplit(['/', '\\']).find(|part| !matches!(*part, "" | "."))?;
    (last != "..").then_some(last)
}

/// Finds what a name stands for: beside the file that has it, else below a folder above, as a command finds it that is
/// started there.
pub(crate) fn above<T>(from: &str, name: &str, known: impl Fn(&str) -> Option<T>) -> Option<T> {
    let mut base = from;
    loop {
        if let Some(found) = known(&resolve(base, name)) {
            return Some(found);
        }
        base = base.rsplit_once('/').map(|(folder, _)| folder).filter(|folder| !folder.is_empty())?;
    }
}

/// Says whether a relative specifier leaves the plugin, seen from the file that names it.
fn leaves(from: &str, specifier: &[u8]) -> bool {
    let mut depth = from.split('/').filter(|part| !part.is_empty()).count().saturating_sub(1);
    for part in specifier.split(|byte| matches!(byte, b'/' | b'\\')) {
        match part {
            b"" | b"." => {}
            b".." => {
                if depth == 0 {
                    return true;
                }
                depth = depth.saturating_sub(1);
            }
            _ => depth = depth.saturating_add(1),
        }
    }
    false
}

/// Says whether a specifier is one of the names, `node:` dropped, or below one that ends in `/`; so is a package of a
/// registry, `npm:name@1/sub`, whatever its version.
pub(crate) fn is_named(names: &[String], text: &[u8]) -> bool {
    let matches = |head: &[u8], tail: &[u8]| {
        names.iter().any(|known| {
            let known = known.as_bytes();
            match known.strip_suffix(b"/") {
                Some(folder) => {
                    let rest =
                        if folder == head { tail } else { head.strip_prefix(folder).unwrap_or_default() };
                    rest.first() == Some(&b'/')
                }
                None => known == head && tail.is_empty(),
            }
        })
    };
    let Some(package) = text.strip_prefix(b"npm:").or_else(|| text.strip_prefix(b"jsr:")) else {
        return matches(text.strip_prefix(b"node:").unwrap_or(text), b"");
    };
    let package = package.strip_prefix(b"/").unwrap_or(package);
    // The sign of a scope is none of a version.
    let at = package.iter().skip(1).position(|byte| *byte == b'@').map(|at| at.saturating_add(1));
    let (name, rest) = package.split_at(at.unwrap_or(package.len()));
    let tail = memchr::memchr(b'/', rest).and_then(|at| rest.get(at..)).unwrap_or_default();
    matches(name, tail) || matches(name, b"")
}

/// Says whether a file's path matches a pattern: the last parts, `*` in a part standing for any bytes.
pub(crate) fn file_matches(pattern: &str, path: &str) -> bool {
    let mut parts = path.rsplit('/');
    pattern.rsplit('/').all(|wanted| parts.next().is_some_and(|part| part_matches(wanted, part)))
}

fn part_matches(pattern: &str, part: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern.eq_ignore_ascii_case(part),
        Some((head, tail)) => {
            let (head, tail, part) =
                (head.to_ascii_lowercase(), tail.to_ascii_lowercase(), part.to_ascii_lowercase());
            part.len() >= head.len().saturating_add(tail.len())
                && part.starts_with(&head)
                && part.ends_with(&tail)
        }
    }
}

/// Says whether a path of a data file leaves the plugin: an absolute one, or one that climbs out.
pub(crate) fn leaves_plugin(from: &str, text: &[u8]) -> bool {
    is_absolute(text) || leaves(from, text)
}
