//! The files of repositories that can run: settings, what they include, hooks, and what these start.

use std::collections::BTreeSet;

use plugward_commands::{CommandContext, CommandLimits, CommandLine, PathText, StartTarget, read_script};
use plugward_sandbox_path::{FileKind, Jail};
use plugward_tree_lock::Snapshot;

use super::{GIT, VcsFileKind, VcsFiles, pointer};
use crate::contents::closure::is_code;
use crate::contents::closure::place::{Places, directory, inside};
use crate::contents::closure::scope::home;
use crate::discovery::discover::PluginPlace;
use crate::gates::Context;

/// Files of other programs whose settings can run something.
const OTHERS: [&str; 4] =
    [".hg/hgrc", ".hg/hgrc-not-shared", ".jj/repo/config.toml", ".jj/workspace-config.toml"];
/// Files of other programs that name a directory, and the settings in it.
const OTHER_POINTERS: [(&str, &str); 2] = [(".hg/sharedpath", "hgrc"), (".jj/repo", "config.toml")];
/// The most names of directories that are read in search of hooks and the repositories of submodules. The objects of each are among them, because
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

/// The use of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum DirectoryUse {
    Repository,
    /// It can contain repositories at any depth.
    Repositories,
    Hooks,
}

pub(super) struct Reader<'a> {
    pub(super) jail: &'a Jail,
    pub(super) places: Places<'a>,
    /// The plugin's directory. All paths are absolute.
    pub(super) root: String,
    pub(super) home: Option<String>,
    snapshot: &'a Snapshot,
    pub(super) found: VcsFiles,
    /// The directories, without symlinks.
    seen: BTreeSet<(String, DirectoryUse)>,
    pub(super) read: BTreeSet<(String, VcsFileKind)>,
    queue: Vec<Task>,
    pub(super) names_left: usize,
    pub(super) bytes_left: u64,
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
            Task::Hooks { git, path } => self.hooks(&git, &path),
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

    /// Returns `true` for the first time that a directory is read for a use.
    fn is_new(&mut self, path: &str, usage: DirectoryUse) -> bool {
        self.seen.insert((self.places.land(path).path, usage))
    }

    fn hooks(&mut self, git: &str, path: &str) {
        if !self.is_new(path, DirectoryUse::Hooks) {
            return;
        }
        for (name, kind) in self.names(path) {
            let is_hook = kind != FileKind::Directory && !name.ends_with(".sample");
            let hook = self.path(path, &name).filter(|_| is_hook);
            self.queue.extend(hook.map(|path| Task::Script { git: git.to_owned(), path }));
        }
    }

    fn repository(&mut self, git: &str) {
        if !self.is_new(git, DirectoryUse::Repository) {
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
        if !self.is_new(path, DirectoryUse::Repositories) {
            return;
        }
        let names = self.names(path);
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
            None => !self.seen.iter().any(|(git, usage)| {
                *usage == DirectoryUse::Repository && inside(&landed.path, git).is_some()
            }),
        };
        if landed.is_file() && !is_covered {
            self.queue.push(Task::Script { git: git.to_owned(), path });
        }
    }

    fn is_left_out(&self, path: &str) -> bool {
        path.split('/').next().is_some_and(|top| self.snapshot.exclude().contains(top))
    }
}

fn file_of(target: &StartTarget) -> Option<String> {
    match target {
        StartTarget::File(path) | StartTarget::Environment(path) => Some(path.as_str().to_owned()),
        _ => None,
    }
}
