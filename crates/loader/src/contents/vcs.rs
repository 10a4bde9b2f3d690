//! What can run of the version control directories in a plugin's root, which its tree leaves out.

use plugward_sandbox_path::{ErrorClass, FileKind, Jail, OpenError, WalkLimits};
use plugward_scanner::{Content, Entry, RoleHint};
use plugward_tree_lock::Snapshot;
use plugward_types::{Digest, FileRole};

use crate::contents::hash::sha256;
use crate::discovery::discover::{MAIN_LIMIT, NAMES};
use crate::gates::passed;
use crate::report::Gate;
use crate::run::outcome::{GateOutcome, Weight};

/// Files whose settings can run something.
const FILES: [&str; 5] =
    [".git/config", ".git/config.worktree", ".git/info/attributes", ".hg/hgrc", ".jj/repo/config.toml"];
const HOOKS: &str = ".git/hooks";
/// The repositories of submodules, each with settings of its own.
const MODULES: &str = ".git/modules";
/// The entries of `.git/modules` that are listed, which include the objects of each submodule.
const LIMITS: WalkLimits = WalkLimits { entries: 100_000, depth: 32 };

/// Sections of git's configuration of which every variable can run something.
const SECTIONS: [&str; 4] = ["alias", "include", "includeif", "pager"];
/// Variables that can run something, by section, for any subsection.
const VARIABLES: [(&str, &[&str]); 15] = [
    (
        "core",
        &[
            "alternaterefscommand",
            "askpass",
            "editor",
            "fsmonitor",
            "gitproxy",
            "hookspath",
            "pager",
            "sshcommand",
        ],
    ),
    ("browser", &["cmd", "path"]),
    ("credential", &["helper"]),
    ("diff", &["command", "external", "textconv"]),
    ("difftool", &["cmd", "path"]),
    ("filter", &["clean", "process", "smudge"]),
    ("gpg", &["defaultkeycommand", "program"]),
    ("init", &["templatedir"]),
    ("interactive", &["difffilter"]),
    ("merge", &["driver"]),
    ("mergetool", &["cmd", "path"]),
    ("remote", &["receivepack", "uploadpack", "vcs"]),
    ("sequence", &["editor"]),
    ("trailer", &["cmd", "command"]),
    ("uploadpack", &["packobjectshook"]),
];

/// The files that can run, and the digest of what they start.
#[derive(Debug, Default)]
pub(crate) struct VcsFiles {
    files: Vec<VcsFile>,
    unread: Vec<OpenError>,
}

#[derive(Debug)]
struct VcsFile {
    path: String,
    bytes: Vec<u8>,
    digest: Digest,
}

impl VcsFile {
    fn entry(&self) -> Entry<'_> {
        let content = Content::Bytes { bytes: &self.bytes, digest: self.digest };
        Entry { path: &self.path, content, role: RoleHint::NONE.used_as(FileRole::Executed) }
    }
}

/// Reads what can run of the directories that a snapshot leaves out.
pub(crate) fn read(jail: &Jail, snapshot: &Snapshot) -> VcsFiles {
    let mut found = VcsFiles::default();
    let is_left_out = |path: &str| path.split('/').next().is_some_and(|top| snapshot.exclude().contains(top));
    for path in FILES.into_iter().filter(|path| is_left_out(path)) {
        found.add(jail, path.to_owned());
    }
    if !is_left_out(HOOKS) {
        return found;
    }
    match jail.list(HOOKS, NAMES) {
        Ok(listing) => {
            let names = listing.entries().iter().filter(|entry| entry.kind() != FileKind::Directory);
            for name in names.filter_map(|entry| entry.name_str()).filter(|name| !name.ends_with(".sample")) {
                found.add(jail, format!("{HOOKS}/{name}"));
            }
        }
        Err(error) => found.miss(error),
    }
    match jail.walk(MODULES, LIMITS) {
        Ok(walk) => {
            for entry in walk.flatten().filter(|entry| entry.kind() == FileKind::File) {
                let path = String::from_utf8_lossy(entry.path().as_bytes()).into_owned();
                if path.ends_with("/config") {
                    let path = if path.starts_with(MODULES) { path } else { format!("{MODULES}/{path}") };
                    found.add(jail, path);
                }
            }
        }
        Err(error) => found.miss(error),
    }
    found
}

impl VcsFiles {
    fn add(&mut self, jail: &Jail, path: String) {
        match jail.read(path.as_str(), MAIN_LIMIT) {
            Ok(bytes) => self.files.push(VcsFile { digest: sha256(&bytes), path, bytes }),
            Err(error) => self.miss(error),
        }
    }

    fn miss(&mut self, error: OpenError) {
        // In a worktree or a submodule, `.git` is a file.
        if error.class() != ErrorClass::NotFound && error.code() != "path/not-a-directory" {
            self.unread.push(error);
        }
    }

    /// Returns the files for the scan.
    pub(crate) fn scanned(&self) -> Vec<Entry<'_>> {
        self.files.iter().map(VcsFile::entry).collect()
    }

    /// Returns the digest of the settings and hooks that run something; `None` if none does.
    pub(crate) fn digest(&self) -> Option<Digest> {
        let mut rows: Vec<String> = self.files.iter().flat_map(rows).collect();
        rows.sort();
        (!rows.is_empty()).then(|| sha256(rows.join("\n").as_bytes()))
    }

    /// Returns a reason for each file that cannot be read: no digest covers it, so it must be scanned.
    pub(crate) fn outcome(&self) -> GateOutcome {
        let mut outcome = passed(Gate::Tree);
        for error in &self.unread {
            outcome.add(error.code(), Weight::CouldNotTell, error.to_string(), error.help());
        }
        outcome
    }
}

/// Returns the rows of one file that run something.
fn rows(file: &VcsFile) -> Vec<String> {
    let VcsFile { path, bytes, digest } = file;
    let name = path.rsplit('/').next().unwrap_or(path);
    if path.starts_with(".git/") && matches!(name, "config" | "config.worktree") {
        return settings(&String::from_utf8_lossy(bytes)).map(|row| format!("{path} {row}")).collect();
    }
    // Attributes only choose among the filters of the settings.
    if name == "attributes" || bytes.trim_ascii().is_empty() {
        return Vec::new();
    }
    vec![format!("{path} {digest}")]
}

/// Returns the variables of git's configuration that run something, as `section.variable = value`.
fn settings(text: &str) -> impl Iterator<Item = String> {
    // A line that ends with a backslash continues.
    let text = text.replace("\\\r\n", "").replace("\\\n", "");
    let mut section = String::new();
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        let mut rest = line;
        if let Some(head) = line.strip_prefix('[') {
            let (name, after) = head.split_once(']').unwrap_or((head, ""));
            name.trim().clone_into(&mut section);
            rest = after.trim();
        }
        let (name, value) = rest.split_once('=').unwrap_or((rest, ""));
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
        let kind = section.split([' ', '\t', '.', '"']).next().unwrap_or(&section).to_ascii_lowercase();
        let is_listed = || {
            let names = VARIABLES.iter().find(|(section, _)| *section == kind);
            names.is_some_and(|(_, names)| names.contains(&name.as_str()))
        };
        let is_switch = matches!(value, "" | "true" | "false");
        let is_command =
            kind == "submodule" && name == "update" && value.trim_start_matches('"').starts_with('!');
        let runs = SECTIONS.contains(&kind.as_str()) || (is_listed() && !is_switch) || is_command;
        if runs && !name.is_empty() && !name.starts_with(['#', ';']) {
            found.push(format!("{section}.{name} = {value}"));
        }
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::settings;

    #[test]
    fn only_settings_that_run_something_count() {
        let quiet = "[core]\n\tbare = false\n\tfsmonitor = true\n[remote \"o\"]\n\turl = https://e.org/x\n\
                     [branch \"main\"]\n\tremote = o\n[user]\n\tname = a\n# [alias]\n[submodule \"s\"]\n\tupdate = none\n";
        assert_eq!(settings(quiet).count(), 0);
        for (text, row) in [
            ("[core]\nfsmonitor = sh x", "core.fsmonitor = sh x"),
            ("[Core]\n\tFsMonitor=\\\nsh x", "Core.fsmonitor = sh x"),
            ("[alias] st = !sh x", "alias.st = !sh x"),
            ("[filter \"a\"]\nsmudge = x", "filter \"a\".smudge = x"),
            ("[includeIf \"gitdir:/\"]\npath = x", "includeIf \"gitdir:/\".path = x"),
            ("[submodule \"s\"]\nupdate = !x", "submodule \"s\".update = !x"),
        ] {
            assert_eq!(settings(text).collect::<Vec<_>>(), [row], "{text}");
        }
    }
}
