//! What a file that runs imports, sources or starts.

use plugward_types::Part;
use std::collections::BTreeSet;
use std::sync::Arc;

use plugward_commands::{CodeLanguage, extensions, read_argv, read_command, read_script};
use plugward_readers::{ImportTarget, Language, UNKNOWN, imports};
use plugward_scanner::Lens;
use plugward_tree_lock::{EntryKind, Snapshot, SnapshotEntry};

use super::patterns::ANY;
use super::place::{Landing, directory, inside, normalized};
use super::scope::is_dependency;
use super::{Collector, Origin, joined};

/// The characters around texts, and around words.
const QUOTES: [char; 2] = ['"', '\''];
const WORD_ENDS: [char; 5] = ['"', '\'', '=', ' ', '\t'];

/// The language of a file that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FileLanguage {
    JavaScript,
    Python,
    Shell,
    /// A language without a reader. Texts that name a file of code count as its imports.
    Other,
}

impl FileLanguage {
    /// Returns the language that an interpreter runs.
    pub(super) fn of_program(name: &str) -> Option<Self> {
        // The table has interpreters only; these also start scripts. `cmd` has another syntax.
        match name {
            "source" | "." => return Some(Self::Shell),
            "uv" | "pipx" => return Some(Self::Python),
            "cmd" => return None,
            _ => {}
        }
        match plugward_commands::language(name)? {
            CodeLanguage::JavaScript => Some(Self::JavaScript),
            CodeLanguage::Python => Some(Self::Python),
            CodeLanguage::Shell => Some(Self::Shell),
            _ => Some(Self::Other),
        }
    }

    pub(super) const fn lens(self) -> Option<Lens> {
        match self {
            Self::JavaScript => Some(Lens::Js),
            Self::Python => Some(Lens::Py),
            Self::Shell => Some(Lens::Sh),
            Self::Other => None,
        }
    }

    /// Returns `true` for the name of a file of code.
    pub(super) fn is_code(path: &str) -> bool {
        Self::of_file(path, b"\xff").is_some()
    }

    /// Returns the language of a file by its first line or its name.
    pub(super) fn of_file(path: &str, bytes: &[u8]) -> Option<Self> {
        if let Some(line) = shebang(bytes) {
            let mut programs =
                line.split_ascii_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
            if let Some(known) = programs.find_map(Self::of_program) {
                return Some(known);
            }
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx") => Some(Self::JavaScript),
            Some("py" | "pyw") => Some(Self::Python),
            Some("sh" | "bash" | "zsh" | "ksh" | "command" | "envrc") => Some(Self::Shell),
            Some(
                "rb" | "pl" | "pm" | "php" | "lua" | "ps1" | "psm1" | "tcl" | "exp" | "r" | "R" | "jl" | "m"
                | "el" | "ex" | "exs" | "groovy" | "scm" | "rkt" | "lisp",
            ) => Some(Self::Other),
            // A file without a line for an interpreter is a script of the shell that starts it.
            None => core::str::from_utf8(bytes).is_ok().then_some(Self::Shell),
            Some(_) => None,
        }
    }
}

/// A file whose imports are to be followed.
#[derive(Debug)]
pub(super) struct Job {
    path: String,
    language: Option<FileLanguage>,
    /// The directory in which the program that reads it started.
    start: String,
}

impl Collector<'_> {
    pub(super) fn queue_file(&mut self, path: String, language: Option<FileLanguage>, start: &str) {
        if !self.is_full && self.queued.insert((path.clone(), language)) {
            self.queue.push(Job { path, language, start: start.to_owned() });
        }
    }

    /// Follows the imports of all files until there are no new ones.
    pub(super) fn follow(&mut self) {
        if !self.queue.is_empty() && self.scope.own.is_some() {
            self.names = names_of(self.snapshot);
            self.stems = stems_of(self.snapshot);
        }
        let snapshot = self.snapshot;
        while let Some(Job { path, language, start }) = self.queue.pop() {
            let outside;
            let own = self.scope.own.as_ref().filter(|_| !self.is_left_out(&path));
            let own = own.and_then(|own| inside(&path, own)).map(str::to_owned);
            let bytes = if let Some(path) = &own {
                snapshot.file(path).map(SnapshotEntry::bytes)
            } else {
                outside = self.closure_bytes(&path);
                outside.as_deref()
            };
            let Some(bytes) = bytes else { continue };
            let Some(language) = language.or_else(|| FileLanguage::of_file(&path, bytes)) else { continue };
            if !self.seen.insert((path.clone(), language)) {
                continue;
            }
            if let Some(lens) = language.lens().filter(|_| own.is_none()) {
                self.set_lens(&path, lens);
            }
            if let Some(line) = shebang(bytes) {
                let words: Vec<&str> = line.split_ascii_whitespace().chain([path.as_str()]).collect();
                let line = self.scope.read(&start, None, |context| read_argv(&words, context));
                self.command(line, &start, Origin::Body, &path);
            }
            let text = String::from_utf8_lossy(bytes);
            self.names_top = self.scope.is_in_place() && text.contains("--show-toplevel");
            if own.is_some() {
                self.neighbors(&text, &path, &start);
            }
            self.code(language, &text, &path, &start);
        }
    }

    /// Notes the language in which a file of the closure runs.
    pub(super) fn set_lens(&mut self, path: &str, lens: Lens) {
        let name = super::listed(&self.scope.shown(path));
        if let Some(entry) = self.closure.entries.get_mut(&name) {
            entry.lens.get_or_insert(lens);
        }
    }

    fn closure_bytes(&self, path: &str) -> Option<Arc<[u8]>> {
        let name = super::listed(&self.scope.shown(path));
        self.closure.entries.get(&name).map(|entry| Arc::clone(&entry.bytes))
    }

    /// Queues the files of the plugin whose names a file contains. Code can put together the rest of the path.
    fn neighbors(&mut self, text: &str, path: &str, start: &str) {
        let Some(own) = self.scope.own.clone() else { return };
        let Some(here) = inside(directory(path), &own).map(str::to_owned) else { return };
        let is_path = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '@');
        let words: BTreeSet<&str> = text
            .split(|c: char| !is_path(c))
            .map(|word| word.trim_start_matches("./").trim_matches('/'))
            .filter(|word| !word.is_empty() && self.can_name(word))
            .collect();
        let mut found = Vec::new();
        for word in words {
            // Python separates the names of modules by dots.
            let module = word.replace('.', "/");
            let names = [word, module.as_str()];
            for base in [here.as_str(), ""] {
                for name in names {
                    // A row of dots in prose became a row of slashes.
                    let parts =
                        base.split('/').chain(name.split('/')).filter(|part| !matches!(*part, "" | "."));
                    let at = parts.collect::<Vec<_>>().join("/");
                    // Most words that could name a file name none, and a look at the tree is slow.
                    if !self.can_be_file(&at) || !self.looked_up.insert(at.clone()) {
                        continue;
                    }
                    let files = neighbor_endings().map(|end| format!("{at}{end}"));
                    // The path of the entry, since steps upward would make a new path in each file.
                    let files =
                        files.filter_map(|at| self.snapshot.file(&at).map(|entry| entry.path().to_owned()));
                    found.extend(files);
                }
            }
        }
        for at in found {
            self.queue_file(format!("{own}/{at}"), None, start);
        }
    }

    /// Returns `false` if no file of the plugin has this path, with or without an ending. Behind a symlink, any can.
    fn can_be_file(&self, at: &str) -> bool {
        let path = format!("/{at}");
        let mut above = path.match_indices('/').filter_map(|(end, _)| path.get(..=end));
        self.stems.contains(&normalized(&path)) || above.any(|above| self.stems.contains(above))
    }

    /// Returns `false` for a word that names no file of the plugin. Most words of a file are such.
    fn can_name(&self, word: &str) -> bool {
        let last = word.rsplit('/').next().unwrap_or(word);
        last.split('.').any(|part| self.names.contains(part))
    }

    /// Takes what a text of code loads and starts.
    pub(super) fn code(&mut self, language: FileLanguage, text: &str, path: &str, start: &str) {
        let language = match language {
            FileLanguage::Shell => {
                let line = self.scope.read(start, Some(path), |context| read_script(text, context));
                // What a script exports, or a file of assignments sets, is started by another script.
                let sets = line.as_ref().is_ok_and(|line| line.programs.is_empty());
                let set = text.lines().filter(|line| sets || line.trim_start().starts_with("export "));
                self.named_files(&set.collect::<Vec<_>>().join("\n"), &WORD_ENDS, path, start);
                return self.command(line, start, Origin::Body, path);
            }
            FileLanguage::Other => return self.named_files(text, &QUOTES, path, start),
            FileLanguage::JavaScript => Language::JavaScript,
            FileLanguage::Python => Language::Python,
        };
        let found =
            imports(language, text.as_bytes(), path).into_iter().map(|one| (one.target, one.directory));
        let found: BTreeSet<(ImportTarget, Option<String>)> = found.collect();
        for (target, _) in &found {
            if let (Language::Python, ImportTarget::Directory(at)) = (language, target) {
                let directories = self.expanded(at, path, start);
                self.python.extend(directories.iter().map(|at| joined(start, at)));
            }
        }
        for (target, directory) in found {
            let directories = directory.map(|at| self.expanded(&at, path, start)).unwrap_or_default();
            let starts: Vec<String> = directories
                .iter()
                .map(|at| joined(start, at))
                .filter(|at| self.places.land(at).landing == Landing::Directory)
                .collect();
            let starts = if starts.is_empty() { vec![start.to_owned()] } else { starts };
            for start in starts {
                self.import(&target, language, path, &start);
            }
        }
    }

    /// Takes what one import or call of a script loads or starts.
    fn import(&mut self, target: &ImportTarget, language: Language, path: &str, start: &str) {
        let line = match target {
            ImportTarget::Module(name) if language == Language::Python => {
                return self.python_module(name, directory(path), start);
            }
            ImportTarget::Module(name) => return self.script_module(name, path, start),
            ImportTarget::File(name) => return self.imported_file(name, language, path, start),
            ImportTarget::Directory(_) => return,
            ImportTarget::Command(words) => {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                self.scope.read(start, None, |context| read_argv(&words, context))
            }
            ImportTarget::Shell(text) => self.scope.read(start, None, |context| read_command(text, context)),
        };
        self.command(line, start, Origin::Body, path);
    }

    /// Takes the files of code that the words of a text name, relative to it or to the directory in which it starts.
    fn named_files(&mut self, text: &str, ends: &[char], path: &str, start: &str) {
        let is_path = |c: char| c.is_alphanumeric() || "._-/~@+$#{}".contains(c);
        let words = text.lines().flat_map(|line| line.split(ends));
        let names: BTreeSet<&str> =
            words.filter(|word| !word.is_empty() && word.chars().all(is_path)).collect();
        for name in names {
            // The directory of the script or of the user is an expression in front of the path, or in braces.
            let rest = name.rsplit('}').next().unwrap_or(name);
            let rest =
                if rest.starts_with('$') { rest.split_once('/').map_or("", |(_, rest)| rest) } else { rest };
            let home =
                ["~", "$HOME", "${HOME", "$ENV{HOME", "#{Dir.home"].iter().any(|at| name.starts_with(at));
            let home = self.scope.expand("~").filter(|_| home || name.starts_with('/'));
            // `File.expand_path("../b.rb", __FILE__)` starts at the file itself.
            for base in [directory(path), path, start].into_iter().chain(home.as_deref()) {
                let at = normalized(&joined(base, rest.trim_start_matches(['~', '/'])));
                let tried = ["", ".rb", ".pl", ".pm", ".php", ".lua", ".ps1"].map(|end| format!("{at}{end}"));
                let is_code = |at: &&String| FileLanguage::is_code(at) && self.places.is_file(at);
                if let Some(found) = tried.iter().find(is_code) {
                    self.file(found, &[], None, start, Origin::Body);
                }
            }
        }
    }

    /// Takes a file that code names. A relative path starts in the working directory, which is often that of the script.
    fn imported_file(&mut self, name: &str, language: Language, path: &str, start: &str) {
        let language = match language {
            Language::JavaScript => FileLanguage::JavaScript,
            Language::Python => FileLanguage::Python,
        };
        for name in self.expanded(name, path, start) {
            for found in self.located(&name, path, &[start, directory(path)]) {
                self.code_at(&found, Some(language), start);
            }
        }
    }

    /// Takes the module of an import in JavaScript. Packages are dependencies, unless they are imported by a path.
    fn script_module(&mut self, name: &str, path: &str, start: &str) {
        let here = directory(path);
        let known = (FileLanguage::JavaScript, name.to_owned(), here.to_owned(), self.packages.len());
        // A variable can have another value in another script.
        if !name.contains('$') && !self.modules.insert(known) {
            return;
        }
        for name in self.expanded(name.strip_prefix("file://").unwrap_or(name), path, start) {
            let is_path = name.starts_with(['/', ANY])
                || name.starts_with("./")
                || name.starts_with("../")
                || matches!(name.as_str(), "." | "..");
            // An import is an address, whose query names no other file.
            let end = name.find(['?', '#']).filter(|_| is_path).unwrap_or(name.len());
            let name = name.head(end);
            // `NODE_PATH` names directories of packages.
            if !is_path {
                self.package_import(name, here, start);
            }
            let packages = || self.packages.iter().map(|base| format!("{base}/{name}")).collect();
            let bases = if is_path { self.candidates(name, path, &[here]) } else { packages() };
            for base in bases.iter().map(|base| normalized(base)) {
                if name.contains(['*', ANY]) {
                    self.code_at(&format!("{base}{ANY}"), None, start);
                    self.code_at(&format!("{base}/index{ANY}"), None, start);
                    continue;
                }
                // A module of TypeScript is imported by the name of its output.
                let source = base.strip_suffix(".js").map(|stem| format!("{stem}.ts"));
                // The main file counts before `index.js`, and `lib.js` before the directory `lib`.
                let (index, files): (Vec<&str>, Vec<&str>) =
                    script_endings().partition(|end| end.starts_with('/'));
                let named =
                    |ends: Vec<&str>| ends.into_iter().map(|end| format!("{base}{end}")).collect::<Vec<_>>();
                let files = named(files).into_iter().chain(source);
                let tried: Vec<String> = files.chain(self.main_of(&base)).chain(named(index)).collect();
                self.first_of(&tried, FileLanguage::JavaScript, here, start);
            }
        }
    }

    /// Takes the files of a Python module, in every directory that Python searches.
    pub(super) fn python_module(&mut self, name: &str, here: &str, start: &str) {
        let known = (FileLanguage::Python, name.to_owned(), here.to_owned(), self.python.len());
        if !self.modules.insert(known) {
            return;
        }
        let ups = name.bytes().take_while(|byte| *byte == b'.').count();
        let parts: Vec<&str> = name.split('.').filter(|part| !part.is_empty()).collect();
        let bases: Vec<String> = if ups > 0 {
            vec![format!("{here}{}", "/..".repeat(ups.saturating_sub(1)))]
        } else {
            // A script imports from its own directory, which is one of these.
            core::iter::once(here.to_owned()).chain(self.python.iter().cloned()).collect()
        };
        let first = parts.first().copied().unwrap_or_default();
        let has = |base: &String| {
            let mut tried = [".py", "/__init__.py", "/__main__.py"].iter();
            tried.any(|end| self.places.is_file(&format!("{base}/{first}{end}")))
        };
        let found = ups > 0 || bases.iter().any(has);
        // The sources of the project, and of the plugin, are searched last.
        let last = [Some(format!("{}/src", self.scope.top())), self.scope.own.clone()];
        let last = last.into_iter().flatten().filter(|_| !found);
        for base in bases.into_iter().chain(last.collect::<Vec<_>>()) {
            let mut at = base;
            if name.contains(UNKNOWN) {
                // Without a package, the name can be that of any module.
                if parts.len() > 1 || ups > 0 {
                    let rest = parts.join("/").replace(UNKNOWN, &ANY.to_string());
                    self.code_at(&format!("{at}/{rest}{ANY}"), None, start);
                }
                continue;
            }
            let mut take = |tried: &[String]| self.first_of(tried, FileLanguage::Python, here, start);
            if parts.is_empty() {
                take(&[format!("{at}/__init__.py")]);
            }
            for (number, part) in parts.iter().enumerate() {
                at = format!("{at}/{part}");
                take(&[format!("{at}/__init__.py"), format!("{at}.py")]);
                if number.saturating_add(1) == parts.len() {
                    take(&[format!("{at}/__main__.py")]);
                }
            }
        }
    }

    /// Takes the first file that exists. Dependencies are not followed, unless a file of a dependency imports them.
    pub(super) fn first_of(&mut self, tried: &[String], language: FileLanguage, here: &str, start: &str) {
        for path in tried {
            let landed = self.places.land(path);
            if !landed.is_file() {
                continue;
            }
            if is_dependency(&landed.path) && !is_dependency(here) {
                return;
            }
            let is_code = FileLanguage::is_code(&landed.path);
            return self.take(path, &landed, is_code.then_some(language), start, Origin::Body);
        }
    }
}

/// Returns the endings that loaders of JavaScript and TypeScript try.
fn script_endings() -> impl Iterator<Item = &'static str> {
    let known = extensions("node").iter().map(String::as_str);
    core::iter::once("").chain(known).chain([".jsx", "/index.json"])
}

/// Returns the endings of files that the words of code can mean.
fn neighbor_endings() -> impl Iterator<Item = &'static str> {
    script_endings().chain([".py", "/__init__.py", ".sh"])
}

/// Returns the paths of the files of a tree from its root, with each of [`neighbor_endings`] left out, and the paths of
/// symlinks with a slash at the end.
fn stems_of(snapshot: &Snapshot) -> BTreeSet<String> {
    let mut stems = BTreeSet::new();
    for entry in snapshot.entries() {
        let path = format!("/{}", entry.path());
        stems.extend(neighbor_endings().filter_map(|end| path.strip_suffix(end)).map(str::to_owned));
        if entry.kind() == EntryKind::Link {
            stems.insert(format!("{path}/"));
        }
    }
    stems
}

/// Returns the names by which texts can mean the files of a tree: those of files up to the first dot, and those of
/// directories, whose main files are imported by them.
fn names_of(snapshot: &Snapshot) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in snapshot.entries().filter(|entry| entry.kind() != EntryKind::Link) {
        let mut parts = entry.path().rsplit('/');
        let file = parts.next().and_then(|name| name.split('.').find(|part| !part.is_empty()));
        let directory = parts.next().into_iter().flat_map(|name| name.split('.'));
        for name in file.into_iter().chain(directory) {
            if !names.contains(name) {
                names.insert(name.to_owned());
            }
        }
    }
    names
}

/// Returns the line that names the interpreter of a file.
pub(super) fn shebang(bytes: &[u8]) -> Option<&str> {
    let line = bytes.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    core::str::from_utf8(line).ok()
}
