//! The files of repositories that can run: settings, what they include, hooks, and what these start.

use std::collections::BTreeSet;

use plugward_commands::{CommandContext, CommandLimits, CommandLine, PathText, StartTarget, read_script};
use plugward_sandbox_path::{ErrorClass, FileKind, Jail, OpenError, WalkLimits};
use plugward_tree_lock::Snapshot;

use super::{GIT, POINTER_BYTES, VcsFile, VcsFileKind, VcsFiles, pointer};
use crate::discovery::discover::{MAIN_LIMIT, NAMES};
use crate::discovery::roots::join;

/// Files of other programs whose settings can run something.
const OTHERS: [&str; 3] = [".hg/hgrc", ".jj/repo/config.toml", ".jj/workspace-config.toml"];
/// The entries of `.git/modules` that are listed, which include the objects of each submodule.
const LIMITS: WalkLimits = WalkLimits { entries: 100_000, depth: 32 };
/// The most files of one plugin that are read.
pub(super) const MOST_FILES: usize = 2_000;

/// Reads what version control runs: of the directories that a snapshot leaves out, and of the repositories inside it.
pub(crate) fn read(jail: &Jail, snapshot: &Snapshot) -> VcsFiles {
    let mut reader =
        Reader { jail, snapshot, found: VcsFiles::default(), seen: BTreeSet::new(), read: BTreeSet::new() };
    for path in OTHERS {
        if reader.is_left_out(path) {
            reader.add(path.to_owned(), VcsFileKind::OtherSettings);
        }
    }
    if reader.is_left_out(GIT) {
        match pointer(jail) {
            Some(path) => reader.repository_at("", &path),
            None => reader.repository(GIT),
        }
    }
    // git takes each directory with these files for a repository.
    for entry in snapshot.entries() {
        let (directory, name) = entry.path().rsplit_once('/').unwrap_or((".", entry.path()));
        if name == "HEAD" && snapshot.file(&join(directory, "config")).is_some() {
            reader.repository(directory);
        }
    }
    reader.found
}

struct Reader<'a> {
    jail: &'a Jail,
    snapshot: &'a Snapshot,
    found: VcsFiles,
    /// The directories of repositories.
    seen: BTreeSet<String>,
    /// The files.
    read: BTreeSet<String>,
}

impl Reader<'_> {
    fn is_left_out(&self, path: &str) -> bool {
        path.split('/').next().is_some_and(|top| self.snapshot.exclude().contains(top))
    }

    /// Reads the repository that a file names, if it is inside the plugin.
    fn repository_at(&mut self, base: &str, path: &str) {
        if let Some(directory) = resolved(base, path) {
            self.repository(&directory);
        }
    }

    fn repository(&mut self, git: &str) {
        if !self.seen.insert(git.to_owned()) {
            return;
        }
        self.worktree(git);
        self.add(join(git, "info/attributes"), VcsFileKind::Attributes);
        self.hooks(git, &join(git, "hooks"));
        if let Ok(bytes) = self.jail.read(join(git, "commondir").as_str(), POINTER_BYTES) {
            self.repository_at(git, String::from_utf8_lossy(&bytes).trim());
        }
        // The repositories of submodules and worktrees have settings of their own.
        for (inner, is_submodule) in [("modules", true), ("worktrees", false)] {
            let inner = join(git, inner);
            match self.jail.walk(inner.as_str(), LIMITS) {
                Ok(walk) => {
                    let mut directories = BTreeSet::new();
                    for entry in walk {
                        let entry = match entry {
                            Ok(entry) if entry.kind() == FileKind::File => entry,
                            Ok(_) => continue,
                            Err(error) => {
                                self.miss(error);
                                continue;
                            }
                        };
                        let path = String::from_utf8_lossy(entry.path().as_bytes()).into_owned();
                        let path = if path.starts_with(&inner) { path } else { format!("{inner}/{path}") };
                        let part = |end: &str| path.find(end).and_then(|at| path.get(..at));
                        let directory = path
                            .strip_suffix("/config")
                            .or_else(|| path.strip_suffix("/config.worktree"))
                            .or_else(|| part("/hooks/"));
                        directories.extend(directory.map(str::to_owned));
                    }
                    for directory in directories {
                        if is_submodule {
                            self.repository(&directory);
                        } else {
                            self.worktree(&directory);
                        }
                    }
                }
                Err(error) => self.miss(error),
            }
        }
    }

    /// Reads the settings in the directory of a repository.
    fn worktree(&mut self, git: &str) {
        for name in ["config", "config.worktree"] {
            self.settings(git, &join(git, name));
        }
    }

    /// Reads settings, and what they include and start.
    fn settings(&mut self, git: &str, path: &str) {
        let Some(file) = self.add(path.to_owned(), VcsFileKind::Settings) else { return };
        let settings = file.settings();
        let base = path.rsplit_once('/').map_or("", |(base, _)| base);
        for setting in settings {
            let value = setting.value();
            match (setting.kind().as_str(), setting.name.as_str()) {
                ("include" | "includeif", "path") => {
                    if let Some(path) = resolved(base, &value) {
                        self.settings(git, &path);
                    }
                }
                ("core", "hookspath") => {
                    for directory in [resolved("", &value), resolved(git, &value)].into_iter().flatten() {
                        self.hooks(git, &directory);
                    }
                }
                _ => self.started(git, path, value.trim_start_matches('!')),
            }
        }
    }

    fn hooks(&mut self, git: &str, directory: &str) {
        match self.jail.list(directory, NAMES) {
            Ok(listing) => {
                let names = listing.entries().iter().filter(|entry| entry.kind() != FileKind::Directory);
                let names: Vec<String> = names
                    .filter_map(|entry| entry.name_str())
                    .filter(|name| !name.ends_with(".sample"))
                    .map(|name| format!("{directory}/{name}"))
                    .collect();
                for path in names {
                    self.script(git, &path);
                }
            }
            Err(error) => self.miss(error),
        }
    }

    fn script(&mut self, git: &str, path: &str) {
        let Some(file) = self.add(path.to_owned(), VcsFileKind::Script) else { return };
        let text = String::from_utf8_lossy(&file.bytes).into_owned();
        self.started(git, path, &text);
    }

    /// Reads the files of version control that a text starts. The tree or the closure covers any other file.
    fn started(&mut self, git: &str, path: &str, text: &str) {
        // Hooks start in the root of the worktree, or in the repository if it has none.
        for start in ["/".to_owned(), format!("/{git}")] {
            let variables = |name: &str| match name {
                "0" | "BASH_SOURCE" => Some(format!("/{path}")),
                "PWD" => Some(start.clone()),
                "GIT_DIR" | "GIT_COMMON_DIR" => Some(format!("/{git}")),
                _ => None,
            };
            let directory = PathText::new(&start);
            let limits = CommandLimits::STANDARD;
            let line = read_script(text, &CommandContext { variables: &variables, directory, limits });
            let paths: Vec<String> = line.iter().flat_map(CommandLine::starts).filter_map(file_of).collect();
            for path in paths {
                let path = if path.starts_with('/') {
                    resolved("", path.trim_start_matches('/'))
                } else {
                    resolved(start.trim_start_matches('/'), &path)
                };
                let Some(path) = path else { continue };
                let is_file =
                    || self.jail.metadata(path.as_str()).is_ok_and(|meta| meta.kind() == FileKind::File);
                if self.is_left_out(&path) && path.contains('/') && is_file() {
                    self.script(git, &path);
                }
            }
        }
    }

    /// Reads a file, unless it was read before.
    fn add(&mut self, path: String, kind: VcsFileKind) -> Option<&VcsFile> {
        if !self.read.insert(path.clone()) {
            return None;
        }
        if self.read.len() > MOST_FILES {
            self.found.is_full = true;
            return None;
        }
        match self.jail.read(path.as_str(), MAIN_LIMIT) {
            Ok(bytes) => self.found.files.push(VcsFile::new(path, kind, bytes)),
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

/// Returns a path relative to the plugin's root, or `None` if it leads out of it.
fn resolved(base: &str, path: &str) -> Option<String> {
    if path.starts_with(['/', '~']) {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}
