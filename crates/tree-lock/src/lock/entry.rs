//! One entry of a lockfile.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{Address, Digest, PluginId, SurfaceDigest, TreeDigest};

use crate::tree::exclude::Excludes;
use crate::tree::name;

/// The origin of a plugin, for reviewers. Nothing is fetched from it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the four keys of the file; a fifth is another version of it")]
pub struct LockSource {
    /// `git`, `local`, `npm` and so on.
    pub kind: String,
    /// An address without credentials.
    pub url: Option<String>,
    /// A commit or version.
    pub rev: Option<String>,
    /// A directory below the address.
    pub path: Option<String>,
}

/// The entry of one plugin directory in a lockfile.
///
/// The directory's path is the key of the entry and not part of it: see [`LockFile`](crate::LockFile).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the keys of the file; another key is another version of it")]
pub struct LockEntry {
    /// The dialects in which the directory has a manifest.
    pub dialects: BTreeSet<String>,
    /// The origin of the plugin.
    pub source: Option<LockSource>,
    /// The version that its manifest states.
    pub version: Option<String>,
    /// SHA-256 of the main manifest file, by dialect.
    pub manifest: BTreeMap<String, Digest>,
    /// SHA-256 of the marketplace entry that was merged in. Such an entry can add hooks and servers that are not in
    /// any file of the tree.
    pub entry: Option<Digest>,
    /// The accepted trees, at least one. Any of them matches.
    pub tree: BTreeSet<TreeDigest>,
    /// The names that the tree digests leave out.
    pub exclude: Excludes,
    /// The executable files, for file systems without execute bits.
    pub executable: BTreeSet<String>,
    /// The tree digests of directories outside the plugin that it imports, by relative path.
    pub shared: BTreeMap<String, TreeDigest>,
    /// The digest of the execution surface.
    pub surface: Option<SurfaceDigest>,
    /// The programs that the plugin starts and no digest covers, so that a change shows in a review.
    pub launchers: BTreeSet<String>,
    /// The digest of the files outside the plugin that can run.
    pub closure: Option<TreeDigest>,
    /// SHA-256 of each command whose text does not determine what runs, and that was agreed to.
    pub unresolved: BTreeSet<Digest>,
    /// SHA-256 of each file, by path, so that a review shows which of them changed. The tree decides.
    pub files: BTreeMap<String, Digest>,
}

impl LockEntry {
    /// Creates an entry with one accepted tree.
    #[must_use]
    pub fn new(tree: TreeDigest) -> Self {
        Self { tree: BTreeSet::from([tree]), ..Self::empty() }
    }

    /// Creates an entry without an accepted tree, which is not valid until one is added.
    pub(crate) const fn empty() -> Self {
        Self {
            dialects: BTreeSet::new(),
            source: None,
            version: None,
            manifest: BTreeMap::new(),
            entry: None,
            tree: BTreeSet::new(),
            exclude: Excludes::none(),
            executable: BTreeSet::new(),
            shared: BTreeMap::new(),
            surface: None,
            launchers: BTreeSet::new(),
            closure: None,
            unresolved: BTreeSet::new(),
            files: BTreeMap::new(),
        }
    }

    /// Returns `true` if the entry has a key that only version 3 has, or is of a directory without a manifest, which
    /// older versions do not judge.
    pub(crate) fn needs_version_3(&self) -> bool {
        let has_no_manifest = !self.dialects.is_empty() && self.manifest.is_empty();
        has_no_manifest || self.closure.is_some() || !self.unresolved.is_empty() || !self.files.is_empty()
    }

    /// Returns the first invalid key, with the expected value, if the entry is not valid at this path.
    pub(crate) fn fault(&self, path: &str) -> Option<LockFault> {
        self.fault_of_path(path).or_else(|| self.fault_of_values())
    }

    fn fault_of_path(&self, path: &str) -> Option<LockFault> {
        if path != "." && !is_below(path) {
            return Some(LockFault { key: PATH_KEY, expected: PATH });
        }
        // A lockfile inside the plugin contains the plugin's own digest, so the digest cannot cover it. A lockfile
        // above the plugin is not part of the tree, and a PLUGINS.lock inside it is a file like any other.
        if path != "." && self.exclude.iter().any(|name| name.starts_with("PLUGINS.lock")) {
            let expected = "`PLUGINS.lock` only for the lockfile's own directory (`[plugin.\".\"]`)";
            return Some(LockFault { key: "exclude", expected });
        }
        None
    }

    fn fault_of_values(&self) -> Option<LockFault> {
        let fault = |key, expected| Some(LockFault { key, expected });
        if self.dialects.iter().any(|dialect| PluginId::check_part(dialect).is_err()) {
            return fault("dialects", DIALECT);
        }
        if self.manifest.keys().any(|dialect| PluginId::check_part(dialect).is_err()) {
            return fault("manifest", DIALECT);
        }
        if self.tree.is_empty() {
            return fault("tree", "at least one tree digest");
        }
        if let Some(expected) = self.source.as_ref().and_then(LockSource::fault) {
            return fault("source", expected);
        }
        if self.version.as_ref().is_some_and(|text| !is_line(text)) {
            return fault("version", LINE);
        }
        if self.executable.iter().any(|path| !is_below(path)) {
            return fault("executable", PATHS);
        }
        if self.files.keys().any(|path| !is_below(path)) {
            return fault("files", PATHS);
        }
        if self.shared.keys().any(|path| !is_relative(path)) {
            return fault("shared", "relative paths with `/`");
        }
        if self.launchers.iter().any(|text| !is_line(text)) {
            return fault("launchers", LINE);
        }
        None
    }
}

/// An invalid key of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LockFault {
    pub(crate) key: &'static str,
    pub(crate) expected: &'static str,
}

/// The name of the entry's path in errors. In version 2 it is the name of the table.
pub(crate) const PATH_KEY: &str = "path";
const LINE: &str = "1 to 4,096 bytes without control characters";
const PATHS: &str = "paths below the plugin, with `/`";
const DIALECT: &str = "dialect names of `A-Z a-z 0-9 . _ -`";
pub(crate) const PATH: &str = "a path below the lockfile's directory, with `/` and without `..`, or `.`";

impl LockSource {
    fn fault(&self) -> Option<&'static str> {
        let kind = !self.kind.is_empty() && self.kind.len() <= 32;
        if !kind || !self.kind.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') {
            return Some("a kind of `a-z 0-9 -`");
        }
        if self.url.as_ref().is_some_and(|url| !is_line(url))
            || self.rev.as_ref().is_some_and(|rev| !is_line(rev))
        {
            return Some(LINE);
        }
        if self.url.as_ref().is_some_and(|url| is_absolute(url)) {
            return Some("no absolute path, which is valid on one machine only");
        }
        if self.url.as_ref().is_some_and(|url| Address::parse(url).has_credentials()) {
            return Some("an address without credentials");
        }
        if self.path.as_ref().is_some_and(|path| path != "." && !is_below(path)) {
            return Some("a path below the address, with `/` and without `..`");
        }
        None
    }
}

fn is_line(text: &str) -> bool {
    !text.is_empty() && text.len() <= 4096 && !text.chars().any(char::is_control)
}

/// Returns `true` if a path has named components only, without `.` and `..`.
fn is_below(path: &str) -> bool {
    is_relative(path) && path.split('/').all(|part| part != "..")
}

/// Returns `true` if a path has named components and `..` only.
fn is_relative(path: &str) -> bool {
    let drive =
        path.as_bytes().get(1) == Some(&b':') && path.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    name::text(path.as_bytes()).is_some()
        && path.len() <= 4095
        && !drive
        && path.split('/').all(|part| !part.is_empty() && part != ".")
}

fn is_absolute(url: &str) -> bool {
    let bytes = url.as_bytes();
    let drive = bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.get(1) == Some(&b':')
        && matches!(bytes.get(2), Some(b'/' | b'\\'));
    let file = url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    drive || file || url.starts_with(['/', '\\', '~'])
}
