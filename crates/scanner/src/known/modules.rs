//! Module specifiers and file names, and the sets that they belong to.

use plugward_types::Part;

use crate::rules::set;
use crate::scan::sink::Specifier;

/// Built-in modules of a JavaScript runtime.
const BUILTINS: &[&str] = plugward_types::words![
    "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns",
    "domain events fs http http2 https inspector module net os path perf_hooks process punycode querystring",
    "readline repl sea sqlite stream string_decoder sys test timers tls trace_events tty url util v8 vm wasi",
    "worker_threads zlib",
];

/// Returns the sets that a specifier belongs to.
pub(crate) fn sets(specifier: Specifier<'_>, from: &str, packages: &[String]) -> u8 {
    let text = match specifier {
        Specifier::Known(text) => text,
        Specifier::Computed => return set::COMPUTED,
    };
    let mut sets = 0;
    let file = text.split(|byte| matches!(byte, b'?' | b'#')).next().unwrap_or(text);
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
    // Modules of the host and package-internal imports are not packages.
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
    let head = name.split(|byte| *byte == b'/').next().unwrap_or(name);
    let Ok(head) = core::str::from_utf8(head) else { return false };
    // A trailing slash selects the package of that name, not the builtin.
    BUILTINS.binary_search(&head).is_ok() && !name.ends_with(b"/")
}

/// Resolves a relative name against the file that contains it.
pub(crate) fn resolve(from: &str, name: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').filter(|part| !part.is_empty()).collect();
    parts.pop();
    let name = name.split(['?', '#']).next().unwrap_or(name);
    for part in name.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Extensions of the files that an import can mean.
const IMPORTED: &[&str] =
    &["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".json", ".py", "/index.js", "/index.ts", "/__init__.py"];

/// Returns the names of the files that an import, or a member of one, can mean: `./a.js`, `lib/config/NAME`.
pub(crate) fn files(module: &str) -> impl Iterator<Item = String> {
    let stem = module.strip_suffix(".js").unwrap_or(module);
    let parent = module.rsplit_once('/').map_or("", |(parent, _)| parent);
    let stems = [module, stem, parent].into_iter().filter(|stem| !matches!(*stem, "" | "."));
    stems.flat_map(|stem| IMPORTED.iter().map(move |end| [stem, end].concat()))
}

/// Returns the last part of a resolved name; `None` if it depends on the directory it is resolved from.
pub(crate) fn last_part(name: &str) -> Option<&str> {
    let name = name.split(['?', '#']).next().unwrap_or(name);
    let last = name.rsplit(['/', '\\']).find(|part| !matches!(*part, "" | "."))?;
    (last != "..").then_some(last)
}

/// Resolves a name next to its file, or else inside a parent directory, as a command started there would.
pub(crate) fn above<T>(from: &str, name: &str, known: impl Fn(&str) -> Option<T>) -> Option<T> {
    let mut base = from;
    loop {
        if let Some(found) = known(&resolve(base, name)) {
            return Some(found);
        }
        base = base
            .rsplit_once('/')
            .map(|(directory, _)| directory)
            .filter(|directory| !directory.is_empty())?;
    }
}

/// Returns `true` if a relative specifier leaves the plugin, resolved against its file.
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
            _ => depth += 1,
        }
    }
    false
}

/// Returns `true` if a specifier without `node:` is one of the names, or inside one that ends in `/`. A registry package,
/// `npm:name@1/sub`, is compared without its version.
pub(crate) fn is_named(names: &[String], text: &[u8]) -> bool {
    let matches = |head: &[u8], tail: &[u8]| {
        names.iter().any(|known| {
            let known = known.as_bytes();
            match known.strip_suffix(b"/") {
                Some(directory) => {
                    let rest = if directory == head {
                        tail
                    } else {
                        head.strip_prefix(directory).unwrap_or_default()
                    };
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
    // The `@` of a scope does not start a version.
    let at = package.iter().skip(1).position(|byte| *byte == b'@').map(|at| at + 1);
    let (name, rest) = package.split_at(at.unwrap_or(package.len()));
    let tail = memchr::memchr(b'/', rest).map_or(&b""[..], |at| rest.part(at..));
    matches(name, tail) || matches(name, b"")
}

/// Returns `true` if the path of a file matches a pattern of its last parts, in which `*` matches any bytes of a part.
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
            part.len() >= head.len() + tail.len() && part.starts_with(&head) && part.ends_with(&tail)
        }
    }
}

/// Returns `true` if a path in a data file leaves the plugin: it is absolute or climbs out.
pub(crate) fn leaves_plugin(from: &str, text: &[u8]) -> bool {
    is_absolute(text) || leaves(from, text)
}
