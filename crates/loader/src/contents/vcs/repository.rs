//! The files of repositories that can run: settings, what they include, hooks, and what these start.

use std::collections::BTreeSet;

use plugward_commands::{CommandContext, CommandLimits, CommandLine, PathText, StartTarget, read_script};
use plugward_sandbox_path::{ErrorClass, FileKind, Jail, OpenError};
use plugward_tree_lock::Snapshot;

use super::{GIT, POINTER_BYTES, VcsFile, VcsFileKind, VcsFiles, pointer};
use crate::contents::closure::place::{Landing, Places, directory, inside};
use crate::contents::closure::scope::{home, relative};
use crate::contents::closure::{is_code, joined};
use crate::discovery::discover::{NAMES, PluginPlace};
use crate::gates::Context;

/// Files of other programs whose settings can run something.
const OTHERS: [&str; 4] =
    [".hg/hgrc", ".hg/hgrc-not-shared", ".jj/repo/config.toml", ".jj/workspace-config.toml"];
/// Files of other programs that name a directory, and the settings in it.
const OTHER_POINTERS: [(&str, &str); 2] = [(".hg/sharedpath", "hgrc"), (".jj/repo", "config.toml")];
/// The most names that are read in search of the repositories of submodules. The objects of each are among them, because
/// a submodule can be in a directory of any name.
const MOST_NAMES: usize = 1_000_000;
/// The most files of one plugin that are read.
pub(super) const MOST_FILES: usize = 2_000;
/// The most bytes of these files. A hook can be a compiled program.
const MOST_BYTES: u64 = 256 << 20;

/// Reads what version control runs: of the directories that a snapshot leaves out, and of the repositories inside it.
pub(crate) fn read(place: &PluginPlace, snapshot: &Snapshot, context: &Context<'_>) -> VcsFiles {
    let jail = context.run.watched(&context.root.jail, &context.root.label);
    let mut reader = Reader {
        jail: &jail,
        places: Places::new(&jail, &context.root.top, context.outside, None),
        root: place.real.to_string(),
        home: home(context),
        snapshot,
        found: VcsFiles::default(),
        seen: BTreeSet::new(),
        read: BTreeSet::new(),
        queue: Vec::new(),
        names_left: MOST_NAMES,
        bytes_left: MOST_BYTES,
    };
    reader.start();
    while let Some(task) = reader.queue.pop() {
        reader.task(task);
    }
    reader.found
}

/// A directory or file that is read later. A queue bounds the stack, whatever names what.
enum Task {
    /// The directory of a repository.
    Repository(String),
    /// A directory that can contain repositories at any depth.
    Repositories(String),
    /// A directory of hooks, and its repository.
    Hooks {
        git: String,
        path: String,
    },
    Settings {
        git: String,
        path: String,
    },
    OtherSettings(String),
    Script {
        git: String,
        path: String,
    },
}

struct Reader<'a> {
    jail: &'a Jail,
    places: Places<'a>,
    /// The plugin's directory. All paths are absolute.
    root: String,
    home: Option<String>,
    snapshot: &'a Snapshot,
    found: VcsFiles,
    /// The directories, without symlinks, and whether they are repositories.
    seen: BTreeSet<(String, bool)>,
    read: BTreeSet<(String, VcsFileKind)>,
    queue: Vec<Task>,
    names_left: usize,
    bytes_left: u64,
}

impl Reader<'_> {
    fn start(&mut self) {
        let root = self.root.clone();
        let others = OTHERS.into_iter().filter(|path| self.is_left_out(path));
        self.queue
            .extend(others.map(|path| Task::OtherSettings(format!("{root}/{path}"))).collect::<Vec<_>>());
        for (name, settings) in OTHER_POINTERS {
            let path = format!("{root}/{name}");
            if self.is_left_out(name)
                && let Some(target) = self.text(&path).and_then(|text| self.pointed(&path, text.trim()))
            {
                self.queue.push(Task::OtherSettings(format!("{target}/{settings}")));
            }
        }
        if self.is_left_out(GIT) {
            self.git(&format!("{root}/{GIT}"));
        }
        // git takes each directory with these files for a repository.
        for entry in self.snapshot.entries() {
            let path = format!("{root}/{}", entry.path());
            match path.rsplit_once('/') {
                Some((_, GIT)) if pointer(entry.bytes()).is_some() => self.git(&path),
                Some((at, "HEAD")) if self.places.is_file(&format!("{at}/config")) => {
                    self.queue.push(Task::Repository(at.to_owned()));
                }
                _ => {}
            }
        }
    }

    /// Takes a repository, or the one that a file names.
    fn git(&mut self, path: &str) {
        if self.places.is_file(path) {
            let text = self.text(path);
            let target = text.as_ref().and_then(|text| self.pointed(path, pointer(text.as_bytes())?));
            self.queue.extend(target.map(Task::Repository));
        } else {
            self.queue.push(Task::Repository(path.to_owned()));
        }
    }

    fn task(&mut self, task: Task) {
        match task {
            Task::Repository(git) => self.repository(&git),
            Task::Repositories(path) => self.repositories(&path),
            Task::Hooks { git, path } => {
                let hooks = self.names(&path).into_iter();
                let hooks =
                    hooks.filter(|(name, kind)| *kind != FileKind::Directory && !name.ends_with(".sample"));
                for path in hooks.filter_map(|(name, _)| self.path(&path, &name)).collect::<Vec<_>>() {
                    self.queue.push(Task::Script { git: git.clone(), path });
                }
            }
            Task::Settings { git, path } => self.settings(&git, &path),
            Task::OtherSettings(path) => self.other_settings(&path),
            Task::Script { git, path } => {
                let file = self.add(&path, VcsFileKind::Script);
                if let Some(file) = file.filter(|file| !file.is_program()) {
                    let text = String::from_utf8_lossy(&file.bytes).into_owned();
                    self.started(&git, &path, &text);
                    self.named(&git, &path, &text);
                }
            }
        }
    }

    fn repository(&mut self, git: &str) {
        if !self.seen.insert((self.places.land(git).path, true)) {
            return;
        }
        for name in ["config", "config.worktree"] {
            self.queue.push(Task::Settings { git: git.to_owned(), path: format!("{git}/{name}") });
        }
        self.queue.push(Task::Hooks { git: git.to_owned(), path: format!("{git}/hooks") });
        self.add(&format!("{git}/info/attributes"), VcsFileKind::Attributes);
        let common = format!("{git}/commondir");
        if let Some(target) = self.text(&common).and_then(|text| self.pointed(&common, text.trim())) {
            self.queue.push(Task::Repository(target));
        }
        // The repositories of submodules and worktrees have settings of their own.
        for name in ["modules", "worktrees"] {
            self.queue.push(Task::Repositories(format!("{git}/{name}")));
        }
    }

    fn repositories(&mut self, path: &str) {
        if !self.seen.insert((self.places.land(path).path, false)) {
            return;
        }
        let names = self.names(path);
        self.names_left = self.names_left.saturating_sub(names.len());
        if self.names_left == 0 {
            self.found.is_full = true;
            return;
        }
        let has = |wanted: &str| names.iter().any(|(name, _)| name == wanted);
        if has("config") || has("config.worktree") || has("hooks") {
            self.queue.push(Task::Repository(path.to_owned()));
        }
        let inner = names.iter();
        let inner = inner.filter(|(_, kind)| matches!(kind, FileKind::Directory | FileKind::Symlink));
        self.queue.extend(inner.map(|(name, _)| Task::Repositories(format!("{path}/{name}"))));
    }

    /// Reads settings, and what they include and start.
    fn settings(&mut self, git: &str, path: &str) {
        let Some(file) = self.add(path, VcsFileKind::Settings) else { return };
        let settings = file.settings.iter().flat_map(|settings| &settings.list);
        let settings = settings.filter(|setting| setting.runs());
        let settings: Vec<(bool, String, String)> = settings
            .map(|one| (one.kind().starts_with("include"), one.name.clone(), one.value.clone()))
            .collect();
        for (is_include, name, value) in settings {
            let file = value.strip_prefix(":(optional)").unwrap_or(&value);
            if is_include && name == "path" {
                let path = self.path(directory(path), file);
                self.queue.extend(path.map(|path| Task::Settings { git: git.to_owned(), path }));
            } else if name == "hookspath" {
                for base in [self.root.clone(), git.to_owned()] {
                    let path = self.path(&base, file);
                    self.queue.extend(path.map(|path| Task::Hooks { git: git.to_owned(), path }));
                }
            } else {
                self.started(git, path, value.trim_start_matches('!'));
            }
        }
    }

    /// Reads the settings of another program, and what they include and start.
    fn other_settings(&mut self, path: &str) {
        let Some(file) = self.add(path, VcsFileKind::OtherSettings) else { return };
        let text = String::from_utf8_lossy(&file.bytes).into_owned();
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("%include") {
                let path = self.path(directory(path), name.trim());
                self.queue.extend(path.map(Task::OtherSettings));
            }
        }
        let at = directory(path);
        self.started(at, path, &super::settings::other_script(&text));
        self.named(at, path, &text);
    }

    /// Reads the files of version control that a text starts. The tree or the closure covers any other file.
    fn started(&mut self, git: &str, path: &str, text: &str) {
        // Hooks start in the root of the worktree, or in the repository if it has none.
        for start in [self.root.clone(), git.to_owned()] {
            let variables = |name: &str| match name {
                "0" | "BASH_SOURCE" => Some(path.to_owned()),
                "PWD" => Some(start.clone()),
                "GIT_DIR" | "GIT_COMMON_DIR" => Some(git.to_owned()),
                "HOME" => self.home.clone(),
                _ => None,
            };
            let directory = PathText::new(&start);
            let limits = CommandLimits::STANDARD;
            let line = read_script(text, &CommandContext { variables: &variables, directory, limits });
            for name in line.iter().flat_map(CommandLine::starts).filter_map(file_of) {
                self.script(git, &start, &name);
            }
        }
    }

    /// Reads the files of code that the words of a text name. An expression can be in front of a path.
    fn named(&mut self, git: &str, path: &str, text: &str) {
        let words = text.split(|c: char| !(c.is_alphanumeric() || "._-/~@+".contains(c)));
        let words: BTreeSet<&str> = words.filter(|word| is_code(word)).collect();
        for word in words {
            for base in [self.root.as_str(), git, directory(path)].map(str::to_owned) {
                for word in [word, word.trim_start_matches('/')] {
                    self.script(git, &base, word);
                }
            }
        }
    }

    /// Takes a file of version control as one that runs.
    fn script(&mut self, git: &str, base: &str, name: &str) {
        let Some(path) = self.path(base, name) else { return };
        let landed = self.places.land(&path);
        let is_covered = match inside(&landed.path, &self.root) {
            Some(inner) => !(self.is_left_out(inner) && inner.contains('/')),
            None => !self.seen.iter().any(|(git, is_git)| *is_git && inside(&landed.path, git).is_some()),
        };
        if landed.is_file() && !is_covered {
            self.queue.push(Task::Script { git: git.to_owned(), path });
        }
    }

    fn is_left_out(&self, path: &str) -> bool {
        path.split('/').next().is_some_and(|top| self.snapshot.exclude().contains(top))
    }

    /// Returns the directory that a file names. A directory outside of the plugin becomes a part of the pin, because it
    /// is not always readable.
    fn pointed(&mut self, file: &str, text: &str) -> Option<String> {
        let target = self.path(directory(file), text)?;
        if inside(&self.places.land(&target).path, &self.root).is_none() {
            self.found.outside.push(format!("{} {text:?}", relative(&self.root, file)));
        }
        Some(target)
    }

    /// Returns the path that a name leads to, with symlinks resolved up to its last component.
    fn path(&self, base: &str, name: &str) -> Option<String> {
        let name = match name.strip_prefix("~/") {
            Some(rest) => format!("{}/{rest}", self.home.as_ref()?),
            None => name.to_owned(),
        };
        let path = joined(base, &name);
        match path.trim_end_matches('/').rsplit_once('/') {
            Some((at, last)) if !matches!(last, "." | "..") => {
                Some(joined(self.places.land(at).path.trim_end_matches('/'), last))
            }
            _ => Some(self.places.land(&path).path),
        }
    }

    /// Returns what to open for a path, relative to the jail; `None` if there is nothing, or outside of the jail.
    fn reachable(&self, path: &str) -> Option<String> {
        let landed = self.places.land(path);
        let at = match landed.landing {
            Landing::Absent => return None,
            // A symlink that leaves the jail is an error, unlike a name outside of it.
            Landing::Elsewhere => path,
            _ => landed.path.as_str(),
        };
        self.places.relative(at).map(str::to_owned)
    }

    /// Returns the names in a directory.
    fn names(&mut self, path: &str) -> Vec<(String, FileKind)> {
        let Some(at) = self.reachable(path) else { return Vec::new() };
        match self.jail.list(at.as_str(), NAMES) {
            Ok(listing) => {
                self.found.is_full |= listing.is_truncated();
                let entries = listing.entries().iter();
                entries.filter_map(|entry| Some((entry.name_str()?.to_owned(), entry.kind()))).collect()
            }
            Err(error) => {
                self.miss(error);
                Vec::new()
            }
        }
    }

    /// Returns the text of a file that names a directory.
    fn text(&mut self, path: &str) -> Option<String> {
        let at = self.reachable(path).filter(|_| self.places.is_file(path))?;
        match self.jail.read(at.as_str(), POINTER_BYTES) {
            Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => {
                self.miss(error);
                None
            }
        }
    }

    /// Reads a file, unless it was read before for the same use.
    fn add(&mut self, path: &str, kind: VcsFileKind) -> Option<&VcsFile> {
        if self.places.land(path).landing == Landing::Directory || !self.read.insert((path.to_owned(), kind))
        {
            return None;
        }
        let at = self.reachable(path)?;
        if self.found.files.len() >= MOST_FILES {
            self.found.is_full = true;
            return None;
        }
        match self.jail.read(at.as_str(), self.bytes_left) {
            Ok(bytes) => {
                let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                self.bytes_left = self.bytes_left.saturating_sub(len);
                self.found.files.push(VcsFile::new(relative(&self.root, path), kind, bytes));
            }
            Err(error) => {
                self.miss(error);
                return None;
            }
        }
        self.found.files.last()
    }

    fn miss(&mut self, error: OpenError) {
        // In a worktree or a submodule, `.git` is a file.
        if error.class() != ErrorClass::NotFound && error.code() != "path/not-a-directory" {
            self.found.unread.push(error);
        }
    }
}

fn file_of(target: &StartTarget) -> Option<String> {
    match target {
        StartTarget::File(path) | StartTarget::Environment(path) => Some(path.as_str().to_owned()),
        _ => None,
    }
}
