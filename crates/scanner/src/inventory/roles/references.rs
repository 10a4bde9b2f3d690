//! Mentions of a plugin's files in its other files.

use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::{AhoCorasick, MatchKind};
use plugward_types::Part;

use super::by_name;
use super::installs::Builds;
use crate::inventory::names::{self, join};
use crate::scan::entry::{Content, Entry, Lens};
use crate::text::decode;

/// A file that another file refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Target {
    /// Its position among the entries.
    pub(super) entry: usize,
    /// Whether the reference runs the file or loads it as code.
    pub(super) runs: bool,
}

/// Verbs and programs before the path of a file that is run.
const RUNNERS: &[&[u8]] = plugward_types::byte_words![
    "run runs execute exec start launch call invoke load import source use bash sh zsh node bun bunx deno npx npm pnpm",
    "yarn tsx python python3 py uv uvx pytest vitest jest mocha playwright cargo chmod perl ruby make",
];
/// The most files that one mention of a bare name can mean.
const MOST_NAMESAKES: usize = 8;
/// The most targets of one file: a list of all files of a plugin is not a set of references.
const MOST_TARGETS: usize = 4096;

/// Host variables for the plugin's directory.
const ROOTS: &[&[u8]] = &[b"PLUGIN_ROOT", b"extensionPath"];
/// Programs that run the code of a directory argument.
const BUILDERS: &str = "make|pip|npm|pnpm|yarn|bun |cargo|pytest|go run|go generate|gradle|mvn|tox|nox";

/// The files of a plugin by name, and a search for all names at once.
pub(super) struct References<'a> {
    entries: &'a [Entry<'a>],
    /// Positions of entries by path.
    paths: BTreeMap<&'a str, usize>,
    /// Positions of entries by file name.
    files: BTreeMap<&'a str, Vec<usize>>,
    names: Vec<&'a str>,
    search: Option<AhoCorasick>,
    builds: Builds<'a>,
}

impl<'a> References<'a> {
    pub(super) fn new(entries: &'a [Entry<'a>]) -> Self {
        let paths: BTreeMap<&str, usize> = entries.iter().map(|entry| entry.path).zip(0..).collect();
        let mut files: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (path, at) in &paths {
            let name = path.rsplit('/').next().unwrap_or(path);
            files.entry(name).or_default().push(*at);
        }
        let names: Vec<&str> = files.keys().copied().filter(|name| name.len() >= 3).collect();
        let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&names).ok();
        Self { entries, paths, files, names, search, builds: Builds::new(entries) }
    }

    /// Returns the files that a file mentions.
    pub(super) fn of(&self, entry: &Entry<'_>) -> Vec<Target> {
        let Content::Bytes { bytes, .. } = entry.content else { return Vec::new() };
        let lens = names::lens(entry.path).or_else(|| names::shebang(bytes));
        let decoded = decode::decode(bytes);
        let text: &[u8] = &decoded.text;
        let mut out = BTreeSet::new();
        let name = entry.path.rsplit('/').next().unwrap_or(entry.path);
        if name == "package.json" {
            for script in lifecycle_scripts(text) {
                self.mentions(entry.path, script, &mut out);
            }
            self.builds.installed(text, &mut out);
            return out.into_iter().collect();
        }
        self.mentions(entry.path, text, &mut out);
        self.directories(text, &mut out);
        self.builds.installed(text, &mut out);
        if name.starts_with("requirements") {
            self.builds.words(text, &mut out);
        }
        if name == "pyproject.toml" {
            self.build_backend(entry.path, text, &mut out);
        }
        match lens {
            Some(Lens::Js) => self.relative_imports(entry.path, text, &mut out),
            Some(Lens::Py) => self.python_imports(entry.path, text, &mut out),
            _ => self.python_modules(entry.path, text, &mut out),
        }
        out.into_iter().take(MOST_TARGETS).collect()
    }

    /// Adds every file whose name is a separate word in a text.
    fn mentions(&self, from: &str, text: &[u8], out: &mut BTreeSet<Target>) {
        let Some(search) = &self.search else { return };
        let is_prose = names::lens(from) == Some(Lens::Prose);
        for found in search.find_iter(text) {
            let after = text.get(found.end()).copied().unwrap_or(b' ');
            let ends_word = !(after.is_ascii_alphanumeric() || matches!(after, b'_' | b'-'));
            let Some(name) = self.names.get(found.pattern().as_usize()) else { continue };
            if !ends_word || out.len() >= MOST_TARGETS {
                continue;
            }
            let before = text.part(found.start().saturating_sub(256)..found.start());
            // A document lists tests for contributors; a test runs only where a command starts it.
            if is_prose && by_name::is_test(name) && !starts_program(before) {
                continue;
            }
            let length = before.iter().rev().take_while(|byte| is_path(**byte)).count();
            let head = before.tail(length);
            let head = core::str::from_utf8(head).unwrap_or_default();
            // `$here/tests/x.sh`: a variable can be any directory.
            let is_variable =
                before.len().checked_sub(length + 1).and_then(|at| before.get(at)) == Some(&b'$');
            let head = if is_variable { head.find('/').map_or("", |at| head.part(at..)) } else { head };
            if head.is_empty() || head.ends_with('/') {
                // A name without an extension is an ordinary word unless a directory precedes it.
                if name.contains('.') || head.ends_with('/') {
                    self.candidates(from, head, name, out);
                }
            }
        }
    }

    /// Adds the code in directories of the plugin that are arguments of a command: `pytest
    /// "${CLAUDE_PLUGIN_ROOT}/examples"`.
    fn directories(&self, text: &[u8], out: &mut BTreeSet<Target>) {
        for root in ROOTS {
            for at in memchr::memmem::find_iter(text, root) {
                let rest = text.part(at + root.len()..);
                let rest = rest.strip_prefix(b"}").unwrap_or(rest);
                let rest = rest.strip_prefix(b"\"").unwrap_or(rest);
                let length = rest.iter().take(200).take_while(|byte| is_path(**byte)).count();
                let Ok(path) = core::str::from_utf8(rest.part(..length)) else { continue };
                let path = path.trim_matches('/');
                let start = text.part(..at);
                let line = start.rsplit(|byte| *byte == b'\n').next().unwrap_or(start);
                let line = line.tail(120);
                // A command that installs or builds a directory runs the files that its tool knows.
                let builds =
                    BUILDERS.split('|').any(|tool| memchr::memmem::find(line, tool.as_bytes()).is_some());
                if self.paths.contains_key(path) || (path.is_empty() && !builds) {
                    continue;
                }
                let head = if path.is_empty() { String::new() } else { format!("{path}/") };
                let inside =
                    self.paths.range(head.as_str()..).take_while(|(path, _)| path.starts_with(&head));
                let direct = |path: &str| path.get(head.len()..).is_some_and(|name| !name.contains('/'));
                for (_, at) in inside.filter(|(path, _)| direct(path)).take(MOST_TARGETS) {
                    out.insert(Target { entry: *at, runs: false });
                }
            }
        }
    }

    /// Adds the files that a name after a path can mean.
    fn candidates(&self, from: &str, head: &str, name: &str, out: &mut BTreeSet<Target>) {
        let tail = format!("{}{name}", head.trim_start_matches("./"));
        let directory = from.rsplit_once('/').map_or("", |(directory, _)| directory);
        if let Some(at) =
            join(directory, &format!("{head}{name}")).and_then(|path| self.paths.get(path.as_str()))
        {
            out.insert(Target { entry: *at, runs: false });
            return;
        }
        let tail = tail.rsplit("../").next().unwrap_or(&tail).trim_start_matches('/');
        let all = self.files.get(name).map(Vec::as_slice).unwrap_or_default();
        let fits = |at: &&usize| {
            let path = self.entries.get(**at).map_or("", |entry| entry.path);
            path == tail || path.strip_suffix(tail).is_some_and(|rest| rest.ends_with('/'))
        };
        let fitting: Vec<usize> = all.iter().filter(fits).copied().take(MOST_NAMESAKES + 1).collect();
        // A bare name that many files have means the one in the same directory, which was tried above.
        if fitting.len() <= MOST_NAMESAKES && !(head.is_empty() && fitting.len() > 2) {
            out.extend(fitting.into_iter().map(|entry| Target { entry, runs: false }));
        }
    }

    /// Adds the targets of relative module names in quotes.
    fn relative_imports(&self, from: &str, text: &[u8], out: &mut BTreeSet<Target>) {
        let directory = from.rsplit_once('/').map_or("", |(directory, _)| directory);
        for quote in [b'\'', b'"', b'`'] {
            for at in memchr::memchr_iter(quote, text) {
                let rest = text.rest(at + 1).head(257);
                if !rest.starts_with(b".") {
                    continue;
                }
                let Some(end) = memchr::memchr(quote, rest) else { continue };
                let Some(name) = rest.get(..end).and_then(|name| core::str::from_utf8(name).ok()) else {
                    continue;
                };
                let Some(path) = join(directory, name) else { continue };
                self.module(&path, out);
            }
        }
    }

    /// Adds the files of a module without its extension.
    fn module(&self, path: &str, out: &mut BTreeSet<Target>) {
        let stem = path.strip_suffix(".js").or_else(|| path.strip_suffix(".mjs")).unwrap_or(path);
        for ending in JS_ENDINGS.split('|') {
            for path in [format!("{path}{ending}"), format!("{stem}{ending}")] {
                if let Some(at) = self.paths.get(path.as_str()) {
                    out.insert(Target { entry: *at, runs: true });
                }
            }
        }
    }

    /// Adds the files of modules that Python imports.
    fn python_imports(&self, from: &str, text: &[u8], out: &mut BTreeSet<Target>) {
        let directory = from.rsplit_once('/').map_or("", |(directory, _)| directory);
        for line in text.split(|byte| *byte == b'\n') {
            let line = core::str::from_utf8(line.trim_ascii()).unwrap_or_default();
            let mut words = line.split([' ', ',', ';', '(', ')']).filter(|word| !word.is_empty());
            match words.next() {
                Some("import") => words.for_each(|module| self.python_module(directory, module, out)),
                Some("from") => {
                    let Some(module) = words.next() else { continue };
                    self.python_module(directory, module, out);
                    for name in words.filter(|word| *word != "import").take(64) {
                        let dot = if module.ends_with('.') { "" } else { "." };
                        self.python_module(directory, &format!("{module}{dot}{name}"), out);
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the files of `python -m package.module`.
    fn python_modules(&self, from: &str, text: &[u8], out: &mut BTreeSet<Target>) {
        let directory = from.rsplit_once('/').map_or("", |(directory, _)| directory);
        for at in memchr::memmem::find_iter(text, b"-m ") {
            let rest = text.part(at + 3..);
            let length = rest.iter().take(200).take_while(|byte| is_path(**byte)).count();
            if let Some(module) = rest.get(..length).and_then(|module| core::str::from_utf8(module).ok()) {
                self.python_module(directory, module, out);
            }
        }
    }

    /// Adds the files of the module that builds a Python package, if it is in the package itself.
    fn build_backend(&self, from: &str, text: &[u8], out: &mut BTreeSet<Target>) {
        let directory = from.rsplit_once('/').map_or("", |(directory, _)| directory);
        if memchr::memmem::find(text, b"backend-path").is_none() {
            return;
        }
        for line in text.split(|byte| *byte == b'\n').filter_map(|line| core::str::from_utf8(line).ok()) {
            if let Some((key, value)) = line.split_once('=')
                && key.trim() == "build-backend"
            {
                let module = value.trim().trim_matches(['"', '\'']).split(':').next().unwrap_or_default();
                self.python_module(directory, module, out);
            }
        }
    }

    /// Adds the files of one Python module: next to the importer, or anywhere if the name has several parts.
    fn python_module(&self, directory: &str, module: &str, out: &mut BTreeSet<Target>) {
        let dots = module.bytes().take_while(|byte| *byte == b'.').count();
        let tail = module.trim_start_matches('.').replace('.', "/");
        if tail.is_empty() {
            return;
        }
        let up = "../".repeat(dots.saturating_sub(1));
        for file in [format!("{tail}.py"), format!("{tail}/__init__.py"), format!("{tail}/__main__.py")] {
            let near = join(directory, &format!("{up}{file}"));
            if let Some(at) = near.and_then(|path| self.paths.get(path.as_str())) {
                out.insert(Target { entry: *at, runs: true });
            } else {
                let name = file.rsplit('/').next().unwrap_or(&file);
                let all = self.files.get(name).map(Vec::as_slice).unwrap_or_default();
                let fits = |at: &&usize| {
                    let path = self.entries.get(**at).map_or("", |entry| entry.path);
                    path == file || path.strip_suffix(file.as_str()).is_some_and(|rest| rest.ends_with('/'))
                };
                let fitting: Vec<usize> = all.iter().filter(fits).copied().take(MOST_NAMESAKES).collect();
                out.extend(fitting.into_iter().map(|entry| Target { entry, runs: true }));
            }
        }
    }

    /// Returns the files that code runs by name.
    pub(super) fn named(&self, from: &str, path: &str) -> Vec<Target> {
        let mut out = BTreeSet::new();
        let (head, name) = path.rsplit_once('/').map_or(("", path), |(head, name)| (head, name));
        let head = if head.is_empty() { String::new() } else { format!("{head}/") };
        self.candidates(from, &head, name, &mut out);
        let directory = from.rsplit_once('/').map_or("", |(directory, _)| directory);
        if let Some(path) = join(directory, path) {
            self.module(&path, &mut out);
        }
        out.into_iter().map(|target| Target { runs: true, ..target }).collect()
    }

    /// Returns the files in the directory of a file, and in its subdirectories.
    pub(super) fn siblings(&self, path: &str) -> Vec<Target> {
        let Some((directory, _)) = path.rsplit_once('/') else { return Vec::new() };
        let head = format!("{directory}/");
        let inside = self.paths.range(head.as_str()..).take_while(|(path, _)| path.starts_with(&head));
        inside.map(|(_, at)| Target { entry: *at, runs: false }).collect()
    }
}

const JS_ENDINGS: &str = "|.js|.mjs|.cjs|.ts|.mts|.cts|.tsx|.jsx|/index.js|/index.mjs|/index.ts|/index.tsx";

/// Returns `true` for bytes that paths in commands and settings contain.
const fn is_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-' | b'@' | b'+')
}

/// Returns `true` if the line before a path contains a verb or a program that runs a file.
fn starts_program(before: &[u8]) -> bool {
    let line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or(before).to_ascii_lowercase();
    let mut words = line.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.any(|word| RUNNERS.contains(&word))
}

/// Returns the scripts that a package manager runs by itself.
fn lifecycle_scripts(text: &[u8]) -> Vec<&[u8]> {
    let mut out = Vec::new();
    for name in ["preinstall", "install", "postinstall", "prepare", "preprepare", "postprepare"] {
        let key = format!("\"{name}\"");
        for at in memchr::memmem::find_iter(text, key.as_bytes()) {
            let rest = text.part(at + key.len()..);
            let rest = rest.trim_ascii_start();
            let Some(rest) = rest.strip_prefix(b":").map(<[u8]>::trim_ascii_start) else { continue };
            let Some(value) = rest.strip_prefix(b"\"") else { continue };
            let end = value
                .iter()
                .zip(core::iter::once(&b' ').chain(value))
                .position(|(byte, before)| *byte == b'"' && *before != b'\\')
                .unwrap_or(value.len().min(4096));
            out.extend(value.get(..end));
        }
    }
    out
}
