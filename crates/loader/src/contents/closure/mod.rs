//! The closure of a row: the files outside its own tree that its commands can run, with what these import and start.

mod follow;
mod packages;
mod patterns;
pub(crate) mod place;
mod recipes;
mod record;
pub(crate) mod scope;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plugward_commands::{
    CodeLanguage, CommandError, CommandLine, OpenWordKind, PathText, StartTarget, StartedProgram, extensions,
    read_argv, read_command, read_variable,
};
use plugward_manifest::{Dialect, Manifest, SurfaceFact, SurfaceItem, SurfaceKind};
use plugward_readers::UNKNOWN;
use plugward_scanner::{Content, Entry, Lens, RoleHint};
use plugward_tree_lock::{EntryKind, Snapshot, TreeList};
use plugward_types::{Digest, FileRole};

use crate::contents::closure_facts::{ClosureFacts, UnresolvedCommand, closure_paths};
use crate::contents::hash::sha256;
use crate::contents::secrets;
use crate::contents::view::manifests;
use crate::gates::Context;
use crate::report::Gate;
use crate::report::text::plain;
use crate::run::examined::Examined;
use crate::run::outcome::{GateOutcome, Weight};
use follow::{FileLanguage, Job};
use packages::Package;
use patterns::ANY;
use place::{Landed, Landing, Places};
use recipes::{CallValues, RecipeCall};
use record::ClosureRecord;
use scope::{PathVerdict, RowOwner, Scope};

/// The most files, and bytes of files, of one closure.
const MOST_FILES: usize = 5_000;
const MOST_BYTES: u64 = 64 << 20;
/// The most bytes that a baseline keeps of one file, and of all.
const KEPT_FILE: usize = 256 << 10;
const KEPT: usize = 4 << 20;

/// The causes for what runs without a file that can be read.
const UNFOLLOWED: &str = "its symlinks have no end, or a target that is not UTF-8";
const NOT_UTF8: &str = "its name is not UTF-8";

/// Runners that run no code of the directory in which they start.
const NO_PROJECT: [&str; 5] = ["docker", "nerdctl", "pipx", "podman", "uvx"];

/// The modules that Python imports at every start.
const SITE: [&str; 2] = ["sitecustomize.py", "usercustomize.py"];

/// The code for a plugin that runs files of a host's directory.
pub(crate) const OUTSIDE: &str = "surface/outside";
const TOO_LARGE: &str = "surface/too-large";

/// The files outside a row's own tree that can run.
#[derive(Debug, Default)]
pub(crate) struct Closure {
    /// The entries by their names in the list.
    entries: BTreeMap<String, ClosureEntry>,
    list: Option<TreeList>,
}

#[derive(Debug)]
struct ClosureEntry {
    /// The path for a person.
    shown: String,
    kind: EntryKind,
    digest: Digest,
    /// The language in which it runs.
    lens: Option<Lens>,
    /// The contents, or the target of a symlink. Empty for a file that does not exist.
    bytes: Arc<[u8]>,
    /// The place in the order in which the entries were found. Files that commands name are first.
    order: usize,
}

impl Closure {
    /// Returns the text whose digest a pin contains, if there are entries.
    pub(crate) fn preimage(&self) -> Option<&str> {
        self.list.as_ref().map(TreeList::as_str)
    }

    /// Returns the files for the scanner, as files that run.
    pub(crate) fn scanned(&self) -> Vec<Entry<'_>> {
        let files = self.entries.values().filter(|entry| entry.kind != EntryKind::Link);
        let entries = files.map(|entry| Entry {
            path: &entry.shown,
            content: Content::Bytes { bytes: &entry.bytes, digest: entry.digest },
            role: entry.lens.map_or(RoleHint::NONE, RoleHint::lens).used_as(FileRole::Executed),
        });
        entries.collect()
    }

    /// Returns the contents that a baseline keeps: those of files that commands name first.
    pub(crate) fn kept(&self) -> Vec<&[u8]> {
        let mut entries: Vec<&ClosureEntry> = self.entries.values().collect();
        entries.sort_by_key(|entry| entry.order);
        let mut left = KEPT;
        let fits = |entry: &&ClosureEntry| {
            let len = entry.bytes.len();
            let fits = len <= KEPT_FILE && len <= left;
            left = if fits { left.saturating_sub(len) } else { left };
            fits
        };
        entries.into_iter().filter(fits).map(|entry| &*entry.bytes).collect()
    }

    /// Returns the contents of a file by its path for a person, as [`closure_paths`] has it.
    pub(crate) fn bytes_of(&self, path: &str) -> Option<&[u8]> {
        let shown = path.strip_prefix("./").unwrap_or(path);
        self.entries.values().find(|entry| entry.shown == shown).map(|entry| &*entry.bytes)
    }

    /// Returns the paths of the files for a person.
    pub(crate) fn paths(&self) -> Vec<String> {
        let list = closure_paths(self.preimage().unwrap_or_default());
        let path = |row: &str| {
            row.splitn(4, ' ').nth(3).map(|path| path.strip_prefix("./").unwrap_or(path).to_owned())
        };
        list.lines().filter_map(path).collect()
    }

    /// Drops the bytes and keeps the digests.
    pub(crate) fn drop_bytes(&mut self) {
        self.entries.clear();
    }
}

/// The result of collecting the closure of a row.
#[derive(Debug)]
pub(crate) struct ClosureResult {
    pub(crate) closure: Closure,
    pub(crate) facts: ClosureFacts,
    pub(crate) outcome: GateOutcome,
}

impl ClosureResult {
    /// Digests the files, and returns them with what else was found.
    fn new(
        entries: BTreeMap<String, ClosureEntry>,
        unresolved: Vec<UnresolvedCommand>,
        mut outcome: GateOutcome,
    ) -> Self {
        let mut text = "plugtree-v1\n".to_owned();
        for (name, entry) in &entries {
            let (kind, digest, len) = (entry.kind.letter(), entry.digest.hex(), entry.bytes.len());
            text.push_str(&format!("{kind} {digest} {len} {name}\n"));
        }
        let list = (!entries.is_empty()).then(|| TreeList::parse(&text)).transpose();
        let list = list.unwrap_or_else(|error| {
            let help = "rename the files that its commands run";
            outcome.add(error.code(), Weight::CouldNotTell, error.to_string(), help);
            None
        });
        let facts = ClosureFacts { digest: list.as_ref().map(|list| *list.digest()), unresolved };
        Self { closure: Closure { entries, list }, facts, outcome }
    }
}

/// Returns `true` for the name of a file of code.
pub(crate) fn is_code(path: &str) -> bool {
    FileLanguage::is_code(path)
}

/// Collects the closure of a row from its surface.
pub(crate) fn collect(one: &Examined, snapshot: &Snapshot, context: &Context<'_>) -> ClosureResult {
    let scope = Scope::new(&one.place, context);
    let jail = context.run.watched(&context.root.jail, &context.root.label);
    let mut places = Places::new(&jail, &context.root.top, context.outside, context.options.machine.user);
    places.trust_owner_of(scope.top());
    let record = ClosureRecord::of(one, snapshot, &scope, context);
    if let Some(result) = record.as_ref().and_then(|record| record.result(&places)) {
        return result;
    }
    let mut collector = Collector {
        one,
        scope,
        places,
        snapshot,
        closure: Closure::default(),
        bytes: 0,
        unresolved: Vec::new(),
        outcome: GateOutcome::passed(Gate::Surface),
        queue: Vec::new(),
        queued: BTreeSet::new(),
        seen: BTreeSet::new(),
        names: BTreeSet::new(),
        stems: BTreeSet::new(),
        looked_up: BTreeSet::new(),
        package_files: BTreeMap::new(),
        python: BTreeSet::new(),
        packages: Vec::new(),
        search: Vec::new(),
        source: None,
        recipes: BTreeSet::new(),
        recipe_bytes: 0,
        calls: Vec::new(),
        modules: BTreeSet::new(),
        is_full: false,
        names_top: false,
    };
    collector.variables();
    for manifest in manifests(one.lookup_views()) {
        for item in manifest.surface().iter().filter(|item| runs(item)) {
            collector.item(manifest, item);
        }
    }
    collector.follow();
    let result = collector.finish();
    if let Some(record) = record {
        record.store(&collector.places, &result);
    }
    result
}

/// Returns `true` if a host runs the commands or files of an item.
fn runs(item: &SurfaceItem) -> bool {
    // The text of another handler is a prompt or an address.
    let is_command = item.fact("handler").is_none_or(|handler| handler == "command");
    // Imports of HyperAgent have digests of their own.
    is_command
        && !matches!(
            item.kind(),
            SurfaceKind::Prompt
                | SurfaceKind::Entry
                | SurfaceKind::Shared
                | SurfaceKind::HostModule
                | SurfaceKind::Binary
                | SurfaceKind::App
                | SurfaceKind::Dependency
        )
}

/// The place of a command that a host reads, for a person.
#[derive(Debug, Clone)]
struct CommandPlace {
    digest: Digest,
    file: String,
    line: u64,
}

/// The text that names a path.
#[derive(Debug, Clone, Copy)]
enum Origin<'a> {
    /// A command that the host reads.
    Host(&'a CommandPlace),
    /// A file or recipe, which only adds files.
    Body,
}

struct Collector<'a> {
    one: &'a Examined,
    scope: Scope<'a>,
    places: Places<'a>,
    snapshot: &'a Snapshot,
    closure: Closure,
    /// The bytes of the files so far.
    bytes: u64,
    unresolved: Vec<UnresolvedCommand>,
    outcome: GateOutcome,
    /// The files whose imports are still to be followed.
    queue: Vec<Job>,
    queued: BTreeSet<(String, Option<FileLanguage>)>,
    seen: BTreeSet<(String, FileLanguage)>,
    /// The names of the files of the tree, without extensions.
    names: BTreeSet<String>,
    /// The paths of the files of the tree, without extensions.
    stems: BTreeSet<String>,
    /// The paths that words of the tree's files can mean, as far as they were looked up.
    looked_up: BTreeSet<String>,
    /// The directories in which Python looks for modules: those of scripts, and those that a program adds.
    python: BTreeSet<String>,
    /// The directories in which Node.js looks for packages.
    packages: Vec<String>,
    /// The directories that settings put in front of `PATH`.
    search: Vec<String>,
    /// The text of the settings file, to find the lines of commands.
    source: Option<String>,
    /// The files, names and values of the recipes so far.
    recipes: BTreeSet<(String, String, CallValues)>,
    /// The bytes of the files with recipes, which each call reads again.
    recipe_bytes: u64,
    /// The calls around the current recipe.
    calls: Vec<CallValues>,
    /// What package.json says, by directory.
    package_files: BTreeMap<String, Option<Arc<Package>>>,
    /// The modules that were looked up: language, name, directory, and the number of other directories.
    modules: BTreeSet<(FileLanguage, String, String, usize)>,
    is_full: bool,
    /// `true` if the current script asks for the top of its repository.
    names_top: bool,
}

impl Collector<'_> {
    /// Adds the files that the variables of settings name.
    fn variables(&mut self) {
        let Some(installed) = self.one.place.installed.clone() else { return };
        let file = self.scope.shown(installed.place.as_str());
        for (name, value) in &installed.environment {
            let place = CommandPlace {
                digest: sha256(format!("{name}={value}").as_bytes()),
                file: file.clone(),
                line: 1,
            };
            let start = self.scope.start(Dialect::Claude).to_owned();
            self.variable(name, value, &start, Origin::Host(&place));
        }
    }

    fn variable(&mut self, name: &str, value: &str, start: &str, origin: Origin<'_>) {
        let reading = self.scope.read(start, None, |context| read_variable(name, value, context));
        match reading {
            Ok(reading) => {
                let directories: Vec<String> = value
                    .split(':')
                    .filter_map(|path| self.scope.expand(path).filter(|path| !path.is_empty()))
                    .map(|path| joined(start, &path))
                    .collect();
                match name {
                    // Only what programs import from there runs, and what Python always imports.
                    "PYTHONPATH" => {
                        self.python.extend(directories.iter().cloned());
                        for name in directories.iter().flat_map(|at| SITE.map(|name| format!("{at}/{name}")))
                        {
                            self.file(&name, &[], Some(FileLanguage::Python), start, Origin::Body);
                        }
                        return;
                    }
                    "NODE_PATH" => return self.packages.extend(directories),
                    "PATH" => return self.search.extend(directories),
                    _ => {}
                }
                for target in &reading.starts {
                    self.target(target, None, start, origin);
                }
                if let Origin::Host(place) = origin
                    && !reading.open_words.is_empty()
                {
                    // The value can be a secret.
                    self.unresolved(place, &format!("the value of {name}"));
                }
            }
            Err(error) => {
                let file =
                    if let Origin::Host(place) = origin { place.file.clone() } else { name.to_owned() };
                self.too_complex(&file, &error);
            }
        }
    }

    /// Reads the command of an item, and starts at the files of the tree that it names.
    fn item(&mut self, manifest: &Manifest, item: &SurfaceItem) {
        let dialect = manifest.dialect();
        let mut start = self.scope.start(dialect).to_owned();
        if let Some(cwd) = item.fact("cwd").filter(|_| item.kind() != SurfaceKind::Prompt) {
            let expanded = self.scope.expand(cwd).unwrap_or_else(|| cwd.to_owned());
            start = joined(&start, &expanded);
        }
        let words: Vec<&str> = item.argv().iter().map(String::as_str).collect();
        let text = item.text().map(|text| text.as_untrusted().to_owned());
        let command = text.clone().unwrap_or_else(|| words.join("\n"));
        let place = self.place_of(item, &command);
        let variables = self.variables_of(item);
        let line = self.scope.with_context(&start, None, &variables, |context| match &text {
            Some(text) => read_command(text, context),
            None if words.is_empty() => Ok(CommandLine::default()),
            None => read_argv(&words, context),
        });
        // The variables of a server decide where its program is found, and that of no other.
        let searched = self.search.len();
        if let Some(SurfaceFact::Map(variables)) = item.facts().get("env") {
            for (name, value) in variables {
                let start = self.scope.start(dialect).to_owned();
                self.variable(name, value, &start, Origin::Host(&place));
            }
        }
        let origin = if self.is_code_sample(item, &command) { Origin::Body } else { Origin::Host(&place) };
        self.command(line, &start, origin, &place.file);
        self.search.truncate(searched);
        // Files that the manifest found in the tree can import what is outside of it.
        if let Some(own) = self.scope.own.clone() {
            for file in item.files() {
                self.queue_file(format!("{own}/{file}"), None, &start);
            }
        }
    }

    /// Returns `true` for an inline mark that spans lines and directly follows other text: code with backticks, as in
    /// `` `${name}!`, { … `x` ``. Its files count, but it asks nothing. Claude Code documents marks at the start of a
    /// line or after a blank.
    fn is_code_sample(&self, item: &SurfaceItem, command: &str) -> bool {
        if item.fact("mark") != Some("inline") || !command.contains('\n') {
            return false;
        }
        let entry = item.files().first().and_then(|file| self.snapshot.file(file));
        // The mark is two bytes in front of the text.
        let before = item.place().span().start.checked_sub(3);
        let byte = entry.zip(before).and_then(|(entry, at)| entry.bytes().get(at).copied());
        byte.is_some_and(|byte| !byte.is_ascii_whitespace())
    }

    /// Returns the variables that a host sets for the commands of one file.
    fn variables_of(&self, item: &SurfaceItem) -> BTreeMap<String, String> {
        let skill = item.files().iter().find_map(|file| file.strip_suffix("SKILL.md"));
        let own = self.scope.own.as_ref().zip(skill);
        let directory = own.map(|(own, skill)| format!("{own}/{}", skill.trim_end_matches('/')));
        directory.map(|path| ("CLAUDE_SKILL_DIR".to_owned(), path)).into_iter().collect()
    }

    /// Returns the place of an item. The parts of a settings file have no lines of their own.
    fn place_of(&mut self, item: &SurfaceItem, command: &str) -> CommandPlace {
        let digest = sha256(command.as_bytes());
        let line = item.place().position().map_or(1, |position| u64::from(position.line));
        if self.scope.own.is_some() {
            return CommandPlace { digest, file: item.place().file().to_owned(), line };
        }
        let real = self.one.place.installed.as_ref().map_or(&self.one.place.real, |one| &one.place);
        let first = command.lines().next().unwrap_or_default();
        let needle = first.replace('\\', "\\\\").replace('"', "\\\"");
        let read = || self.places.read(real.as_str(), MOST_BYTES).unwrap_or_default();
        let text = self.source.get_or_insert_with(|| String::from_utf8_lossy(&read()).into_owned());
        let at = text.lines().position(|line| !needle.is_empty() && line.contains(&needle));
        let line = at.and_then(|at| u64::try_from(at).ok()).map_or(1, |at| at.saturating_add(1));
        CommandPlace { digest, file: self.scope.shown(real.as_str()), line }
    }

    /// Takes what a command starts, and its open words if a host reads it.
    fn command(
        &mut self,
        line: Result<CommandLine, CommandError>,
        start: &str,
        origin: Origin<'_>,
        file: &str,
    ) {
        let line = match line {
            Ok(line) => line,
            Err(error) => return self.too_complex(file, &error),
        };
        for program in &line.programs {
            self.on_search_path(program, start, origin);
            self.work_directory(program, start, origin);
            self.given_files(program, start);
            for target in &program.starts {
                self.target(target, Some(program), start, origin);
            }
        }
        let Origin::Host(place) = origin else {
            return self.listed_files(&line, start, file);
        };
        for open in &line.open_words {
            // The scan judges what the argument of an unknown program may be.
            if open.kind != OpenWordKind::UnknownProgram {
                self.unresolved(place, open.word.shown());
            }
        }
    }

    fn target(
        &mut self,
        target: &StartTarget,
        program: Option<&StartedProgram>,
        start: &str,
        origin: Origin<'_>,
    ) {
        let name = program.and_then(|program| program.name.literal()).unwrap_or_default();
        let name = name.rsplit('/').next().unwrap_or_default().to_owned();
        let directory = program.map_or_else(|| start.to_owned(), |one| joined(start, one.directory.as_str()));
        match target {
            // Quotes hide unknown parts and patterns from the shell, and a list of words has none.
            StartTarget::File(path)
                if matches!(origin, Origin::Body) && path.as_str().contains(['$', '*']) =>
            {
                let pattern = path.as_str().replace(UNKNOWN, &ANY.to_string());
                self.code_at(&joined(start, &pattern), None, &directory);
            }
            StartTarget::File(path) if name == "go" && path.as_str().strip_suffix(".go").is_none() => {
                let files = StartTarget::Pattern(path.join("*.go"));
                self.target(&files, program, start, origin);
            }
            StartTarget::File(path) => {
                let language = FileLanguage::of_program(&name);
                self.file(&joined(start, path.as_str()), extensions(&name), language, &directory, origin);
            }
            StartTarget::Pattern(path) => {
                for path in self.matches(&joined(start, path.as_str())) {
                    self.file(&path, &[], FileLanguage::of_program(&name), &directory, origin);
                }
            }
            StartTarget::OnPath { name, directories } => {
                for name in name.literals() {
                    self.on_path(&name, directories, start, &directory, origin);
                }
            }
            StartTarget::Code { language, text } => {
                let language = match language {
                    CodeLanguage::JavaScript => FileLanguage::JavaScript,
                    CodeLanguage::Python => FileLanguage::Python,
                    // Texts for a shell were read with the command.
                    _ => return,
                };
                for text in text.literals() {
                    self.code(language, &text, &format!("{directory}/-"), &directory);
                }
            }
            StartTarget::Module(module) => {
                for module in module.literals() {
                    self.python_module(&module, &directory, &directory);
                }
            }
            StartTarget::Recipe { tool, name, files, in_workspaces, assignments, arguments } => {
                let values = CallValues::of(program, assignments, arguments);
                let files: Vec<String> = files.iter().map(|file| joined(start, file.as_str())).collect();
                let mut starts = vec![directory.clone()];
                if *in_workspaces {
                    starts.extend(self.workspaces(&directory));
                }
                for (name, start) in
                    name.literals().flat_map(|name| starts.iter().map(move |at| (name.clone(), at)))
                {
                    let call = RecipeCall { tool: *tool, name: &name, start, files: &files, values: &values };
                    self.recipe(&call, origin);
                }
            }
            StartTarget::Environment(path) => {
                self.environment(&joined(start, path.as_str()), &directory, origin);
            }
            // A package runner downloads it; the manifest lists it.
            _ => {}
        }
    }

    /// Judges the directory whose code a build tool or package manager runs, as a path that the command names.
    fn work_directory(&mut self, program: &StartedProgram, start: &str, origin: Origin<'_>) {
        let name = program.name.literal().unwrap_or_default();
        let named = joined(start, program.directory.as_str());
        // The commands of a plugin start in the project of the user.
        if !program.is_floating()
            || NO_PROJECT.contains(&name.as_str())
            || place::inside(&named, scope::PROJECT).is_some()
        {
            return;
        }
        let landed = self.places.land(&named);
        match (self.scope.verdict(&named, &landed, &self.places), origin) {
            (PathVerdict::Outside, _) if landed.landing != Landing::Absent => self.outside(&landed),
            (PathVerdict::Unresolved(cause), Origin::Host(place)) => self.unresolved(place, &cause),
            _ => {}
        }
    }

    /// Looks for a program in the directories that settings put in front of `PATH`.
    fn on_search_path(&mut self, program: &StartedProgram, start: &str, origin: Origin<'_>) {
        let names = program.name.literals().filter(|name| !name.is_empty() && !name.contains('/'));
        let found = names.flat_map(|name| self.search.iter().map(move |at| format!("{at}/{name}")));
        let found = found.filter(|path| matches!(self.places.land(path).landing, Landing::File { .. }));
        for path in found.collect::<Vec<_>>() {
            self.file(&path, &[], None, start, origin);
        }
    }

    /// Looks for a program in the directories that a text puts in front of `PATH`.
    fn on_path(
        &mut self,
        name: &str,
        directories: &[PathText],
        start: &str,
        directory: &str,
        origin: Origin<'_>,
    ) {
        for on_path in directories {
            let path = format!("{}/{name}", joined(start, on_path.as_str()));
            self.file(&path, &[], None, directory, origin);
            if matches!(self.places.land(&path).landing, Landing::File { is_executable: true, .. }) {
                break;
            }
        }
    }

    /// Takes a file that a command names, under the names that its interpreter tries.
    fn file(
        &mut self,
        path: &str,
        endings: &[String],
        language: Option<FileLanguage>,
        start: &str,
        origin: Origin<'_>,
    ) {
        let first = self.places.land(path);
        let tried = || endings.iter().map(|end| format!("{path}{end}"));
        let (named, landed) = if first.is_file() {
            (path.to_owned(), first)
        } else {
            // A directory is started by its main file.
            let main = (first.landing == Landing::Directory).then(|| self.main_of(path)).flatten();
            let module = (first.landing == Landing::Directory && language == Some(FileLanguage::Python))
                .then(|| format!("{path}/__main__.py"));
            let tried = main.into_iter().chain(tried()).chain(module);
            let found = tried.map(|path| (path.clone(), self.places.land(&path)));
            found.into_iter().find(|(_, landed)| landed.is_file()).unwrap_or((path.to_owned(), first))
        };
        if matches!(language, None | Some(FileLanguage::Python)) {
            // Python looks for modules in the directory of the script.
            self.python.insert(place::directory(&landed.path).to_owned());
        }
        self.take(&named, &landed, language, start, origin);
    }

    /// Applies the table of places to one path.
    fn take(
        &mut self,
        named: &str,
        landed: &Landed,
        language: Option<FileLanguage>,
        start: &str,
        origin: Origin<'_>,
    ) {
        if let Some(path) = self.own_relative(landed) {
            return self.queue_file(path, language, start);
        }
        // A script can ask git for the repository of a plugin that is used in place.
        if let Some(rest) = place::inside(&landed.path, scope::PROJECT)
            && self.names_top
            && matches!(origin, Origin::Body)
        {
            let named = format!("{}/{rest}", self.scope.top());
            let landed = self.places.land(&named);
            return self.take(&named, &landed, language, start, origin);
        }
        // The text of a script replaces what is not UTF-8, so that the name is that of another file.
        if landed.landing == Landing::Absent && named.contains('\u{fffd}') && self.scope.reaches(&landed.path)
        {
            return self.unreadable(&landed.path, NOT_UTF8);
        }
        match (self.scope.verdict(named, landed, &self.places), origin) {
            (PathVerdict::Own, _) if !self.is_left_out(&landed.path) => {
                self.queue_file(landed.path.clone(), language, start);
            }
            (PathVerdict::Own | PathVerdict::Closure, _) => self.add(landed, language, start, origin),
            (PathVerdict::Fixed | PathVerdict::Floating, _) | (PathVerdict::Unresolved(_), Origin::Body) => {}
            (PathVerdict::Outside, Origin::Body) if landed.landing == Landing::Absent => {}
            (PathVerdict::Outside, _) => self.outside(landed),
            (PathVerdict::Unresolved(cause), Origin::Host(place)) => self.unresolved(place, &cause),
        }
    }

    /// Returns `true` for a path in the plugin that its tree leaves out, such as a file of a version control directory.
    fn is_left_out(&self, path: &str) -> bool {
        let rest = self.scope.own.as_ref().and_then(|own| place::inside(path, own));
        rest.and_then(|rest| rest.split('/').next()).is_some_and(|top| self.snapshot.exclude().contains(top))
    }

    /// Returns the file of the plugin that a path relative to an unknown project names, as its author means it.
    fn own_relative(&self, landed: &Landed) -> Option<String> {
        let own = self.scope.own.as_ref()?;
        let rest = place::inside(&landed.path, scope::PROJECT)?;
        self.snapshot.file(rest).map(|entry| format!("{own}/{}", entry.path()))
    }

    /// Adds a file of the closure, and the symlinks that lead to it.
    fn add(&mut self, landed: &Landed, language: Option<FileLanguage>, start: &str, origin: Origin<'_>) {
        for (path, target) in &landed.links {
            self.insert(path, EntryKind::Link, target.as_bytes().into());
        }
        match &landed.landing {
            Landing::File { is_executable, len } => {
                let room = MOST_BYTES.saturating_sub(self.bytes);
                if *len > room {
                    return self.full();
                }
                if self.closure.entries.contains_key(&listed(&self.scope.shown(&landed.path))) {
                    return self.queue_file(landed.path.clone(), language, start);
                }
                match self.places.read(&landed.path, room) {
                    Ok(bytes) => {
                        let kind = if *is_executable { EntryKind::Executable } else { EntryKind::File };
                        self.insert(&landed.path, kind, bytes);
                        self.queue_file(landed.path.clone(), language, start);
                    }
                    Err(error) => self.unreadable(&landed.path, &error),
                }
            }
            Landing::Absent if matches!(origin, Origin::Host(_)) => {
                self.insert(&landed.path, EntryKind::Link, Arc::default());
            }
            Landing::Special(kind) => {
                let message =
                    format!("{}: {kind}, where a script is named", plain(&self.scope.shown(&landed.path)));
                let help = "replace it with a regular file, or remove the command";
                self.outcome.add("tree/special-file", Weight::Integrity, message, help);
            }
            Landing::Unreadable(error) => self.unreadable(&landed.path, &error.clone()),
            // A path that leaves what can be opened has another verdict.
            Landing::Elsewhere => self.unreadable(&landed.path, UNFOLLOWED),
            Landing::Absent | Landing::Directory => {}
        }
    }

    fn unreadable(&mut self, path: &str, error: &str) {
        let message = format!("{}: what runs cannot be read: {error}", plain(&self.scope.shown(path)));
        if self.outcome.reasons.iter().any(|reason| reason.message == message) {
            return;
        }
        self.outcome.add(
            "surface/unreadable",
            Weight::CouldNotTell,
            message,
            "fix the file or its permissions, or remove the command",
        );
    }

    fn insert(&mut self, path: &str, kind: EntryKind, bytes: Arc<[u8]>) {
        if self.closure.entries.len() >= MOST_FILES {
            return self.full();
        }
        let shown = self.scope.shown(path);
        let order = self.closure.entries.len();
        let digest = sha256(&bytes);
        self.bytes = self.bytes.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        let entry = ClosureEntry { shown: shown.clone(), kind, digest, lens: None, bytes, order };
        self.closure.entries.entry(listed(&shown)).or_insert(entry);
    }

    /// Notes that a limit was reached. The user's own files are a question, those of others a refusal.
    fn full(&mut self) {
        if core::mem::replace(&mut self.is_full, true) {
            return;
        }
        self.queue.clear();
        let limit = format!("more than {MOST_FILES} files or {} MiB", MOST_BYTES >> 20);
        if self.scope.owner == RowOwner::User {
            let file = self.scope.shown(self.one.place.real.as_str());
            let place = CommandPlace { digest: sha256(limit.as_bytes()), file, line: 1 };
            return self.unresolved(&place, &format!("its commands run {limit}"));
        }
        let message = format!("its commands run {limit} outside of its own directory");
        self.outcome.add(TOO_LARGE, Weight::Integrity, message, "start fewer or smaller files");
    }

    fn too_complex(&mut self, file: &str, error: &CommandError) {
        self.outcome.add(
            error.code(),
            Weight::Integrity,
            format!("{}: {error}", plain(&self.scope.shown(file))),
            error.help(),
        );
    }

    fn outside(&mut self, landed: &Landed) {
        let message = format!(
            "runs `{}`, a file of a host's directory that is not part of the plugin",
            plain(&self.scope.shown(&landed.path))
        );
        if self.outcome.reasons.iter().any(|reason| reason.message == message) {
            return;
        }
        let help =
            "remove the plugin: hosts copy its directory only, so that such a path works for an attack alone";
        self.outcome.add(OUTSIDE, Weight::Integrity, message, help);
    }

    fn unresolved(&mut self, place: &CommandPlace, word: &str) {
        let CommandPlace { digest, file, line } = place.clone();
        // The word comes from the text without masks.
        let command = UnresolvedCommand { digest, place: file, line, word: secrets::without(word) };
        if !self.unresolved.contains(&command) {
            self.unresolved.push(command);
        }
    }

    fn finish(&mut self) -> ClosureResult {
        let mut closure = core::mem::take(&mut self.closure);
        let names: BTreeSet<String> = closure.entries.keys().cloned().collect();
        // A path below a file does not exist, so it says nothing besides the file.
        let is_below = |name: &str| {
            name.match_indices('/').any(|(at, _)| name.get(..at).is_some_and(|above| names.contains(above)))
        };
        closure.entries.retain(|name, _| !is_below(name));
        let unresolved = core::mem::take(&mut self.unresolved);
        let outcome = core::mem::replace(&mut self.outcome, GateOutcome::passed(Gate::Surface));
        ClosureResult::new(closure.entries, unresolved, outcome)
    }
}

/// Joins a path to a directory, unless it is absolute.
pub(crate) fn joined(directory: &str, path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("{directory}/{path}") }
}

/// Returns the name of a path in the list. Characters that a list cannot contain, and `..`, are written as `%` and two
/// hex digits.
fn listed(shown: &str) -> String {
    let mut name = String::new();
    for (at, part) in shown.split('/').enumerate() {
        if at > 0 {
            name.push('/');
        }
        match part {
            "" => name.push('%'),
            ".." => name.push_str("%2E%2E"),
            part => {
                for character in part.chars() {
                    if character.is_control() || matches!(character, '%' | '\\') {
                        name.push_str(&format!("%{:02X}", u32::from(character)));
                    } else {
                        name.push(character);
                    }
                }
            }
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_list_are_valid_and_different() {
        let names =
            [".claude/a.sh", "../a.sh", "%2E%2E/a.sh", "~/a.sh", "a\nb.sh", "a%0Ab.sh", "a\\b", "/srv/a.sh"];
        let all: BTreeSet<String> = names.iter().map(|name| listed(name)).collect();
        assert_eq!(all.len(), names.len());
        let rows: Vec<String> =
            all.iter().map(|name| format!("f {} 0 {name}\n", sha256(b"").hex())).collect();
        let text = format!("plugtree-v1\n{}", rows.concat());
        assert!(TreeList::parse(&text).is_ok(), "{text}");
    }
}
