//! What version control runs in a plugin: hooks and settings of repositories, which its tree can leave out.

mod repository;
mod settings;

use plugward_sandbox_path::{FileKind, Jail, OpenError};
use plugward_scanner::{Content, Entry, Lens, RoleHint};
use plugward_types::{Digest, FileRole};

use crate::contents::hash::sha256;
use crate::gates::passed;
use crate::report::Gate;
use crate::run::outcome::{GateOutcome, Weight};

pub(crate) use repository::read;
use settings::Setting;

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
        Ok(FileKind::File) => name == GIT && pointer(jail).is_some(),
        Ok(_) | Err(_) => false,
    }
}

/// Returns the directory that a `.git` file names, if that is all it contains.
fn pointer(jail: &Jail) -> Option<String> {
    let text = String::from_utf8(jail.read(GIT, POINTER_BYTES).ok()?).ok()?;
    let path = text.strip_prefix(POINTER)?.trim_end_matches(['\n', '\r']);
    (!path.is_empty() && !path.contains(char::is_control)).then(|| path.to_owned())
}

/// The files of version control that can run, and those that could not be read.
#[derive(Debug, Default)]
pub(crate) struct VcsFiles {
    files: Vec<VcsFile>,
    unread: Vec<OpenError>,
    is_full: bool,
}

/// The use of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// The commands of settings as a shell script, for the scan.
    script: Option<(String, Digest)>,
}

impl VcsFile {
    fn new(path: String, kind: VcsFileKind, bytes: Vec<u8>) -> Self {
        let text = String::from_utf8_lossy(&bytes);
        // The scanner knows the usual path of git's settings.
        let script = match kind {
            VcsFileKind::Settings if !path.ends_with("git/config") => Some(settings::git_script(&text)),
            VcsFileKind::OtherSettings => Some(settings::other_script(&text)),
            _ => None,
        };
        let script = script.map(|text| (text.clone(), sha256(text.as_bytes())));
        Self { digest: sha256(&bytes), path, kind, bytes, script }
    }

    fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let entry = |bytes, digest, hint: RoleHint| {
            let content = Content::Bytes { bytes, digest };
            Entry { path: &self.path, content, role: hint.used_as(FileRole::Executed) }
        };
        let script = self.script.as_ref();
        let script = script.map(|(text, digest)| entry(text.as_bytes(), *digest, RoleHint::lens(Lens::Sh)));
        core::iter::once(entry(&self.bytes, self.digest, RoleHint::NONE)).chain(script)
    }

    /// Returns the settings that run something; none for another file.
    fn settings(&self) -> Vec<Setting> {
        if self.kind != VcsFileKind::Settings {
            return Vec::new();
        }
        let text = String::from_utf8_lossy(&self.bytes);
        settings::git(&text).into_iter().filter(Setting::runs).collect()
    }

    /// Returns the rows that run something.
    fn rows(&self) -> Vec<String> {
        let Self { path, kind, bytes, digest, .. } = self;
        match kind {
            VcsFileKind::Settings => {
                self.settings().iter().map(|setting| format!("{path} {}", setting.row())).collect()
            }
            VcsFileKind::Attributes => Vec::new(),
            VcsFileKind::OtherSettings | VcsFileKind::Script if bytes.trim_ascii().is_empty() => Vec::new(),
            VcsFileKind::OtherSettings | VcsFileKind::Script => vec![format!("{path} {digest}")],
        }
    }
}

impl VcsFiles {
    /// Returns the files for the scan, in lists that name each path once.
    pub(crate) fn scanned(&self) -> [Vec<Entry<'_>>; 2] {
        let (mut whole, mut scripts) = (Vec::new(), Vec::new());
        for file in &self.files {
            let mut entries = file.entries();
            whole.extend(entries.next());
            scripts.extend(entries);
        }
        [whole, scripts]
    }

    /// Returns the bytes of a file.
    pub(crate) fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.files.iter().find(|file| file.path == path).map(|file| file.bytes.as_slice())
    }

    /// Returns the digest of the settings and hooks that run something; `None` if none does.
    pub(crate) fn digest(&self) -> Option<Digest> {
        let mut rows: Vec<String> = self.files.iter().flat_map(VcsFile::rows).collect();
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
            let most = repository::MOST_FILES;
            let message = format!("more than {most} files of version control can run");
            outcome.add("surface/too-large", Weight::Integrity, message, "remove the repositories inside it");
        }
        outcome
    }
}
