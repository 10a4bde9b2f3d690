//! What version control runs in a plugin: hooks and settings of repositories, which its tree can leave out.

mod lookup;
mod repository;
mod settings;

use std::collections::BTreeSet;

use plugward_sandbox_path::{FileKind, Jail, OpenError};
use plugward_scanner::{Content, Entry, Lens, RoleHint};
use plugward_types::{Digest, FileRole};

use crate::contents::hash::sha256;
use crate::discovery::discover::{MAIN_LIMIT, NAMES};
use crate::gates::passed;
use crate::report::Gate;
use crate::run::outcome::{GateOutcome, Weight};

pub(crate) use repository::read;
use settings::Settings;

/// The name of git's directory, or of the file that names it.
const GIT: &str = ".git";
/// The start of the file in a worktree or submodule.
const POINTER: &str = "gitdir: ";
/// The most bytes of a file that names a directory.
const POINTER_BYTES: u64 = 4096;

/// Returns `true` if the tree leaves out an entry of the root: a version control directory, or the file by which a worktree
/// or submodule names it. Another file of that name is a part of the plugin.
pub(crate) fn is_left_out(jail: &Jail, name: &str) -> bool {
    match jail.metadata(name).map(|meta| meta.kind()) {
        Ok(FileKind::Directory) => true,
        Ok(FileKind::File) => {
            name == GIT && jail.read(GIT, POINTER_BYTES).is_ok_and(|bytes| pointer(&bytes).is_some())
        }
        Ok(_) | Err(_) => false,
    }
}

/// Returns the directory that a `.git` file names, if that is all it contains.
fn pointer(bytes: &[u8]) -> Option<&str> {
    let path = core::str::from_utf8(bytes).ok()?.strip_prefix(POINTER)?.trim_end_matches(['\n', '\r']);
    (!path.is_empty() && !path.contains(char::is_control)).then_some(path)
}

/// The files of version control that can run, and those that could not be read.
#[derive(Debug, Default)]
pub(crate) struct VcsFiles {
    files: Vec<VcsFile>,
    /// The directories outside of the plugin that files name.
    outside: Vec<String>,
    unread: Vec<OpenError>,
    is_full: bool,
}

/// The use of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum VcsFileKind {
    /// Settings of git.
    Settings,
    /// Settings of another program, which count as a whole.
    OtherSettings,
    /// A choice among the filters of the settings.
    Attributes,
    /// A hook, or a file that one starts.
    Script,
}

#[derive(Debug)]
struct VcsFile {
    path: String,
    kind: VcsFileKind,
    bytes: Vec<u8>,
    digest: Digest,
    /// The settings, if they are of git.
    settings: Option<Settings>,
    /// The commands of settings as a shell script, for the scan.
    script: Option<(String, Digest)>,
}

impl VcsFile {
    fn new(path: String, kind: VcsFileKind, bytes: Vec<u8>) -> Self {
        let settings = (kind == VcsFileKind::Settings).then(|| settings::git(&bytes));
        let script = match &settings {
            Some(settings) if settings.is_valid => Some(settings::git_script(settings)),
            Some(_) => Some(settings::other_script(&String::from_utf8_lossy(&bytes))),
            None if kind == VcsFileKind::OtherSettings => {
                Some(settings::other_script(&String::from_utf8_lossy(&bytes)))
            }
            None => None,
        };
        let script = script.map(|text| (text.clone(), sha256(text.as_bytes())));
        Self { digest: sha256(&bytes), path, kind, bytes, settings, script }
    }

    /// Returns `true` for a large compiled program. Rules for text tell nothing about it, and its digest is pinned.
    fn is_program(&self) -> bool {
        let is_large = u64::try_from(self.bytes.len()).is_ok_and(|len| len > MAIN_LIMIT);
        self.kind == VcsFileKind::Script && is_large && self.bytes.contains(&0)
    }

    /// Returns the file as a whole, for the scan.
    fn entry(&self) -> Entry<'_> {
        // Without another interpreter in its first line, git runs a hook with a shell.
        let is_named = self.path.rsplit('/').next().is_some_and(|name| name.contains('.'));
        let is_shell = self.kind == VcsFileKind::Script && !is_named && !self.bytes.starts_with(b"#!");
        let hint = if is_shell { RoleHint::lens(Lens::Sh) } else { RoleHint::NONE };
        self.entry_of(&self.bytes, self.digest, hint)
    }

    /// Returns the commands of settings, for the scan.
    fn script_entry(&self) -> Option<Entry<'_>> {
        let (text, digest) = self.script.as_ref()?;
        Some(self.entry_of(text.as_bytes(), *digest, RoleHint::lens(Lens::Sh)))
    }

    fn entry_of<'a>(&'a self, bytes: &'a [u8], digest: Digest, hint: RoleHint) -> Entry<'a> {
        let content = Content::Bytes { bytes, digest };
        Entry { path: &self.path, content, role: hint.used_as(FileRole::Executed) }
    }

    /// Returns the rows that run something.
    fn rows(&self) -> Vec<String> {
        let Self { path, kind, bytes, digest, settings, .. } = self;
        let runs = settings.iter().flat_map(|settings| &settings.list).filter(|setting| setting.runs());
        let mut rows: Vec<String> = runs.map(|setting| format!("{path} {}", setting.row())).collect();
        let is_whole = match (kind, settings) {
            (_, Some(settings)) => !settings.is_valid,
            (VcsFileKind::Attributes, None) => false,
            (_, None) => !bytes.trim_ascii().is_empty(),
        };
        rows.extend(is_whole.then(|| format!("{path} {digest}")));
        rows
    }
}

impl VcsFiles {
    /// Returns the files for the scan, in lists that name each path once.
    pub(crate) fn scanned(&self) -> [Vec<Entry<'_>>; 2] {
        let mut named = BTreeSet::new();
        let whole = self.files.iter().filter(|file| !file.is_program() && named.insert(&file.path));
        let whole = whole.map(VcsFile::entry).collect();
        let mut named = BTreeSet::new();
        let scripts = self.files.iter().filter(|file| file.script.is_some() && named.insert(&file.path));
        [whole, scripts.filter_map(VcsFile::script_entry).collect()]
    }

    /// Returns the paths and bytes of all files, also of programs that are not scanned.
    pub(crate) fn contents(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|file| (file.path.as_str(), file.bytes.as_slice()))
    }

    /// Returns the digest of the settings and hooks that run something; `None` if none does.
    pub(crate) fn digest(&self) -> Option<Digest> {
        let rows = self.files.iter().flat_map(VcsFile::rows).chain(self.outside.iter().cloned());
        // A path can contain a line break.
        let mut rows: Vec<String> = rows.map(|row| row.replace('\\', "\\\\").replace('\n', "\\n")).collect();
        rows.sort();
        (!rows.is_empty()).then(|| sha256(rows.join("\n").as_bytes()))
    }

    /// Returns a reason for each file that cannot be read: no digest covers it, so it must be scanned.
    pub(crate) fn outcome(&self) -> GateOutcome {
        let mut outcome = passed(Gate::Tree);
        for error in &self.unread {
            outcome.add(error.code(), Weight::CouldNotTell, error.to_string(), error.help());
        }
        if self.is_full {
            let message = format!(
                "not all files of version control were read: at most {} that can run, and {NAMES} names in a directory",
                repository::MOST_FILES
            );
            outcome.add("surface/too-large", Weight::Integrity, message, "remove the repositories inside it");
        }
        outcome
    }
}
