//! Recipes of a project's tools: `scripts` of package.json, rules of a Makefile, and the like.

mod justfile;
mod makefile;
mod scripts;
mod taskfile;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plugward_commands::{RecipeTool, loads_code, read_command};
use plugward_installs::{FileVariable, blank_extensions, file_variables};
use plugward_manifest::json::{JsonNode, ParseLimits, parse};
use plugward_scanner::Lens;
use plugward_tree_lock::EntryKind;

use super::follow::FileLanguage;
use super::packages::add_texts;
use super::patterns::WILDCARDS;
use super::place::{Landing, directory, inside, normalized};
use super::scope::{PROJECT, PathVerdict};
use super::{Collector, Origin, joined};
use justfile::Justfile;
use makefile::Makefile;
use scripts::Scripts;
use taskfile::Taskfile;
pub(super) use values::CallValues;
use values::Expansion;

/// The most bytes of a file with recipes.
pub(super) const MOST_FILE: u64 = 4 << 20;

/// The most files of one call.
const FILES: usize = 2_000;

/// The most bytes of all files of all calls, the most calls, and how many of them can be nested.
const CALL_BYTES: u64 = 128 << 20;
const CALLS: usize = 1_000;
const NESTED: usize = 24;

/// The start of the names of files with variables, which Makefiles can include.
const ENVIRONMENT: &str = ".env";

/// A call of a tool that runs a recipe.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecipeCall<'a> {
    pub(super) tool: RecipeTool,
    /// Empty for the default one.
    pub(super) name: &'a str,
    /// The directory in which the tool starts.
    pub(super) start: &'a str,
    /// The files that the command names.
    pub(super) files: &'a [String],
    pub(super) values: &'a CallValues,
}

/// A recipe with the values of its variables.
#[derive(Debug, Default)]
struct Recipe {
    /// The number of its file.
    file: usize,
    name: String,
    /// The line with its name and needs, in a file of a format of its own.
    head: Option<String>,
    /// The commands, each for a shell of its own, or a script with its interpreter.
    lines: Vec<String>,
    /// The directory in which they run, if the recipe sets it.
    directory: Option<String>,
}

impl Recipe {
    /// Returns the text that the list of the closure contains and the scan reads: the commands as the shell gets them.
    fn listed(&self) -> String {
        let script = self.lines.iter().find(|line| line.starts_with("#!"));
        let head = self
            .head
            .iter()
            .filter(|_| script.is_none())
            .map(|head| format!("# {}", head.replace('\n', " ")));
        let directory = self.directory.iter().map(|directory| format!("cd {directory}"));
        head.chain(directory).chain(self.lines.iter().cloned()).map(|line| line + "\n").collect()
    }
}

/// A file that another one includes.
#[derive(Debug, Clone)]
enum Include {
    /// A path or pattern.
    File(String),
    /// A path without which the tool fails.
    Required(String),
    /// A text that does not determine the file.
    Open(String),
}

/// What the files of one call say.
trait RecipeBook {
    /// Returns the files that are included, with the number of the file that does it.
    fn includes(&self) -> Vec<(usize, Include)> {
        Vec::new()
    }

    /// Returns the files with variables for the commands.
    fn environments(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns a recipe with all that run with it, or `None` if the files do not determine these.
    fn recipes(&self, name: &str) -> Option<Vec<Recipe>>;

    /// Returns `true` if the limit of work was reached.
    fn is_exhausted(&self) -> bool {
        false
    }

    /// Returns all that a file can run.
    fn all_lines(&self, file: usize) -> Vec<String>;
}

/// A file with recipes.
#[derive(Debug)]
struct RecipeFile {
    path: String,
    verdict: PathVerdict,
    bytes: Arc<[u8]>,
}

impl RecipeFile {
    fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        text.trim_start_matches('\u{feff}').replace("\r\n", "\n")
    }

    #[cfg(test)]
    fn of_text(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), verdict: PathVerdict::Own, bytes: text.as_bytes().into() }
    }
}

impl Collector<'_> {
    /// Reads a file that decides what runs, from the row's own tree if that contains it.
    pub(super) fn contents(&mut self, path: &str) -> Option<Arc<[u8]>> {
        let own = self.scope.own.as_ref().and_then(|own| self.snapshot.file(inside(path, own)?));
        let read = own.map_or_else(|| self.places.read(path, MOST_FILE), |entry| Ok(entry.bytes().into()));
        read.map_err(|error| self.unreadable(path, &error)).ok()
    }

    /// Reads a JSON file of a tool, which can accept comments.
    pub(super) fn parsed<T>(
        &mut self,
        path: &str,
        bytes: &[u8],
        read: impl FnOnce(&JsonNode<'_>) -> T,
    ) -> Option<T> {
        let mut bytes = bytes.to_vec();
        blank_extensions(&mut bytes);
        let root = parse(&bytes, &ParseLimits::standard());
        root.map(|root| read(&root)).map_err(|error| self.unreadable(path, &error.to_string())).ok()
    }

    /// Takes the lines of a recipe, and the files that they name. The rest of its file counts if it is not understood.
    pub(super) fn recipe(&mut self, call: &RecipeCall<'_>, origin: Origin<'_>) {
        let &RecipeCall { tool, name, start, files, values } = call;
        // `just DIRECTORY/RECIPE`.
        let (below, name) = name.rsplit_once('/').filter(|_| tool == RecipeTool::Just).unwrap_or(("", name));
        let start = if below.is_empty() { start.to_owned() } else { joined(start, below) };
        let first: Vec<String> = if files.is_empty() {
            self.recipe_file(tool, &start).into_iter().collect()
        } else {
            files.to_vec()
        };
        let Some(one) = first.first().cloned() else { return };
        let mut values = values.clone();
        if let Some(outer) = self.calls.last() {
            values.inherit(outer, tool);
        }
        // Each call can give other values, and a recipe can call itself.
        if !self.recipes.insert((first.join("\n"), name.to_owned(), values.clone())) {
            return;
        }
        if self.calls.len() >= NESTED || self.recipes.len() > CALLS || self.recipe_bytes > CALL_BYTES {
            return self.unreadable(&one, "its recipes call too many others");
        }
        let here = if files.is_empty() { directory(&one).to_owned() } else { start.clone() };
        self.calls.push(values.clone());
        let suffix = values.suffix();
        // Those of the settings are the same for each call.
        let settings = self.one.place.installed.iter().flat_map(|installed| &installed.environment);
        values.environment.extend(settings.map(|(name, value)| (name.clone(), Some(value.clone()))));
        let call = RecipeCall { tool, name, start: &start, files: &first, values: &values };
        let (files, book, is_complete) = self.recipe_book(&call, &here, origin);
        for path in book.environments() {
            self.environment(&joined(&here, &path), &here, origin);
        }
        match book.recipes(name).filter(|_| is_complete) {
            Some(recipes) => self.take_recipes(&files, &recipes, &here, &suffix),
            None => self.take_whole(&files, &*book, &here, &suffix),
        }
        if book.is_exhausted() {
            self.unreadable(&one, "its variables and recipes need too much work");
        }
        self.calls.pop();
    }

    /// Reads the files with recipes, and those that they include. Returns `false` if one is missing.
    fn recipe_book(
        &mut self,
        call: &RecipeCall<'_>,
        here: &str,
        origin: Origin<'_>,
    ) -> (Vec<RecipeFile>, Box<dyn RecipeBook>, bool) {
        let mut files: Vec<RecipeFile> = Vec::new();
        let mut asked: BTreeSet<String> = BTreeSet::new();
        let mut queue = call.files.to_vec();
        let mut is_complete = true;
        loop {
            for named in core::mem::take(&mut queue) {
                if !asked.insert(named.clone()) {
                    continue;
                }
                let Some((path, verdict)) = self.file_in_parts(&named, here, origin) else { continue };
                if files.iter().any(|one| one.path == path) {
                    continue;
                }
                if files.len() >= FILES {
                    self.unreadable(&path, &format!("it is included with more than {FILES} others"));
                    continue;
                }
                let Some(bytes) = self.contents(&path) else { continue };
                files.push(RecipeFile { path, verdict, bytes });
            }
            let bytes = files.iter().map(|file| u64::try_from(file.bytes.len()).unwrap_or(u64::MAX));
            self.recipe_bytes = bytes.fold(self.recipe_bytes, u64::saturating_add);
            let book = self.read_book(call, &files, here);
            if self.recipe_bytes > CALL_BYTES {
                return (files, book, false);
            }
            for (number, include) in book.includes() {
                // Make includes from its working directory.
                let base = files.get(number).filter(|_| call.tool != RecipeTool::Make);
                let base = base.map_or(here, |file| directory(&file.path)).to_owned();
                let found = self.included(call.tool, &base, &include, origin);
                let is_missing = |path: &String| self.places.land(path).landing == Landing::Absent;
                is_complete &= !matches!(include, Include::Required(_)) || !found.iter().all(is_missing);
                queue.extend(found);
            }
            queue.retain(|named| !asked.contains(named));
            if queue.is_empty() {
                return (files, book, is_complete);
            }
        }
    }

    fn read_book(&mut self, call: &RecipeCall<'_>, files: &[RecipeFile], here: &str) -> Box<dyn RecipeBook> {
        let &RecipeCall { tool, start, values, .. } = call;
        match tool {
            RecipeTool::Make => {
                let home = self.scope.expand("~").map(|home| ("HOME", home));
                let fixed = [
                    ("CURDIR", here),
                    ("PWD", here),
                    ("MAKE", "make"),
                    ("RM", "rm -f"),
                    ("SHELL", "/bin/sh"),
                ];
                let fixed = fixed.map(|(name, value)| (name, value.to_owned()));
                let given: Vec<(&str, String)> = fixed.into_iter().chain(home).collect();
                Box::new(Makefile::read(files, here, &given, values))
            }
            RecipeTool::Just => Box::new(Justfile::read(files, start, values)),
            RecipeTool::Task => Box::new(Taskfile::read(files, values)),
            _ => {
                let key = if tool == RecipeTool::Deno { "tasks" } else { "scripts" };
                let read = files.iter().map(|file| (file.path.clone(), Arc::clone(&file.bytes)));
                let mut scripts = Scripts::default();
                for (path, bytes) in read.collect::<Vec<_>>() {
                    // A file that cannot be read is a reason already.
                    scripts = self.parsed(&path, &bytes, |root| Scripts::of(root, key)).unwrap_or_default();
                }
                Box::new(scripts)
            }
        }
    }

    /// Returns the paths of an include. One that the text does not determine is a question.
    fn included(
        &mut self,
        tool: RecipeTool,
        base: &str,
        include: &Include,
        origin: Origin<'_>,
    ) -> Vec<String> {
        match (include, origin) {
            (Include::File(path) | Include::Required(path), _) => {
                let path = self.scope.expand(path).unwrap_or_else(|| path.clone());
                let named = joined(base, &path);
                if self.places.land(&named).landing == Landing::Directory {
                    return self.recipe_file(tool, &named).into_iter().collect();
                }
                if named.contains(WILDCARDS) { self.matches(&named) } else { vec![named] }
            }
            (Include::Open(text), Origin::Host(place)) => {
                self.unresolved(place, &format!("include {text}"));
                Vec::new()
            }
            // The scan reads the file.
            (Include::Open(_), Origin::Body) => Vec::new(),
        }
    }

    fn take_recipes(&mut self, files: &[RecipeFile], recipes: &[Recipe], here: &str, suffix: &str) {
        let mut texts: BTreeMap<(usize, &str), (String, Option<Lens>)> = BTreeMap::new();
        for recipe in recipes {
            let Some(file) = files.get(recipe.file) else { continue };
            let at = recipe.directory.as_ref().map_or_else(|| here.to_owned(), |path| joined(here, path));
            let (text, lens) = texts.entry((recipe.file, &recipe.name)).or_default();
            text.push_str(&recipe.listed());
            for line in &recipe.lines {
                *lens = self.recipe_line(line, &at, &file.path).or(*lens);
            }
        }
        for ((number, name), (text, lens)) in texts {
            // The row's own tree covers its own file.
            let Some(file) = files.get(number).filter(|file| file.verdict == PathVerdict::Closure) else {
                continue;
            };
            let listed = format!("{}#{}{suffix}", file.path, name.replace('/', "%2F"));
            self.insert(&listed, EntryKind::File, text.into_bytes().into());
            self.set_lens(&listed, lens.unwrap_or(Lens::Sh));
        }
    }

    /// Takes files as wholes, with all commands that they contain.
    fn take_whole(&mut self, files: &[RecipeFile], book: &dyn RecipeBook, here: &str, suffix: &str) {
        for (number, file) in files.iter().enumerate() {
            let lines = book.all_lines(number);
            for line in &lines {
                self.recipe_line(line, here, &file.path);
            }
            if file.verdict != PathVerdict::Closure {
                continue;
            }
            // Of a file of variables, those that load code count.
            if file.path.rsplit('/').next().is_some_and(|name| name.starts_with(ENVIRONMENT)) {
                self.environment(&file.path, here, Origin::Body);
                continue;
            }
            let listed = format!("{}#{suffix}", file.path);
            self.insert(&listed, EntryKind::File, lines.join("\n").into_bytes().into());
            self.set_lens(&listed, Lens::Sh);
        }
    }

    /// Takes what one command or script of a recipe starts. Returns its language if it is not that of a shell.
    fn recipe_line(&mut self, line: &str, here: &str, file: &str) -> Option<Lens> {
        if line.starts_with("#!")
            && let Some(language) = FileLanguage::of_file("", line.as_bytes())
        {
            self.code(language, line, file, here);
            return language.lens();
        }
        let line = self.scope.read(here, None, |context| read_command(line, context));
        self.command(line, here, Origin::Body, file);
        None
    }

    /// Returns a file of which only parts count, and what it is for the row. A file elsewhere is judged as a whole, and so
    /// is a special file. One that appears later adds its parts then.
    fn file_in_parts(
        &mut self,
        named: &str,
        start: &str,
        origin: Origin<'_>,
    ) -> Option<(String, PathVerdict)> {
        let landed = self.places.land(named);
        let verdict = self.scope.verdict(named, &landed, &self.places);
        let is_row = matches!(verdict, PathVerdict::Closure | PathVerdict::Own);
        match landed.landing {
            Landing::File { .. } if is_row => return Some((landed.path, verdict)),
            Landing::Absent if is_row => {}
            _ => self.take(named, &landed, None, start, origin),
        }
        None
    }

    /// Takes the variables of a file that load code. The others, such as keys, are not part of the list.
    pub(super) fn environment(&mut self, named: &str, start: &str, origin: Origin<'_>) {
        let Some((path, verdict)) = self.file_in_parts(named, start, origin) else { return };
        let Some(bytes) = self.contents(&path) else { return };
        let mut listed = String::new();
        for variable in file_variables(&bytes) {
            let FileVariable { name, value, .. } = variable;
            if loads_code(&name) {
                listed.push_str(&format!("{name}={value}\n"));
                self.variable(&name, &value, start, origin);
            }
        }
        if verdict == PathVerdict::Closure && !listed.is_empty() {
            self.insert(&format!("{path}#variables"), EntryKind::File, listed.into_bytes().into());
        }
    }

    /// Returns the file with the recipes of a tool: the nearest in the directory or above it.
    fn recipe_file(&self, tool: RecipeTool, start: &str) -> Option<String> {
        // The commands of a plugin start in the project of the user.
        if inside(start, PROJECT).is_some() {
            return None;
        }
        let names: &[&str] = match tool {
            RecipeTool::Make => &["GNUmakefile", "makefile", "Makefile"],
            RecipeTool::Just => &["justfile", "Justfile", ".justfile"],
            RecipeTool::Task => &["Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml"],
            RecipeTool::Deno => &["deno.json", "deno.jsonc"],
            _ => &["package.json"],
        };
        let mut at = self.places.land(start).path;
        loop {
            for name in names {
                let path = format!("{at}/{name}");
                // Another object than a file is found, too, so that it is a reason.
                if !matches!(self.places.land(&path).landing, Landing::Absent | Landing::Directory) {
                    return Some(path);
                }
            }
            // Make only looks in its own directory.
            if tool == RecipeTool::Make || at == "/" {
                return None;
            }
            at = directory(&at).to_owned();
        }
    }
}

/// Returns a line of a recipe without the marks that its tool reads.
fn without_prefix(line: &str) -> String {
    line.trim_start_matches(['@', '-', '+', ' ', '\t']).to_owned()
}

/// Splits a text at the characters outside of quotes and brackets, into at most `most` parts.
fn split_outside(text: &str, is_end: impl Fn(char) -> bool, most: usize) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while parts.len().saturating_add(1) < most {
        let mut quote: Option<char> = None;
        let mut depth = 0_usize;
        let end = rest.char_indices().find(|(_, c)| {
            match (quote, *c) {
                (Some(open), c) => quote = quote.filter(|_| c != open),
                (None, c) if depth == 0 && is_end(c) => return true,
                (None, '\'' | '"' | '`') => quote = Some(*c),
                (None, '(' | '{' | '[') => depth = depth.saturating_add(1),
                (None, ')' | '}' | ']') => depth = depth.saturating_sub(1),
                _ => {}
            }
            false
        });
        let Some((at, c)) = end else { break };
        let (part, after) = rest.split_at(at);
        parts.push(part);
        rest = after.get(c.len_utf8()..).unwrap_or_default();
    }
    parts.push(rest);
    parts
}

/// Returns `true` for a name that a shell accepts for a variable.
fn shell_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
