//! What a lock file says of one plugin.

use std::collections::{BTreeMap, BTreeSet};

use plugward_types::{Digest, SurfaceDigest, TreeDigest};

use crate::exclude::Excludes;
use crate::name;

/// Where a plugin came from. It explains; nothing is fetched from it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the four keys of the file; a fifth is another version of it")]
pub struct Source {
    /// `git`, `local`, `npm` and so on.
    pub kind: String,
    /// An address without credentials.
    pub url: Option<String>,
    /// A commit or version.
    pub rev: Option<String>,
    /// A folder below the address.
    pub path: Option<String>,
}

/// What a lock file says of one plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the keys of the file; another key is another version of it")]
pub struct LockEntry {
    /// The plugin's folder, relative to the lock file, with `/`; `.` where the lock lies in the plugin itself.
    pub path: String,
    /// Where it came from.
    pub source: Option<Source>,
    /// The version that its manifest states.
    pub version: Option<String>,
    /// SHA-256 of its main manifest file, where its dialect has one.
    pub manifest: Option<Digest>,
    /// SHA-256 of the marketplace entry that was merged in: it may add what runs, and no tree has its bytes.
    pub entry: Option<Digest>,
    /// The trees that are accepted: any of these, at least one.
    pub tree: BTreeSet<TreeDigest>,
    /// What the digests leave out.
    pub exclude: Excludes,
    /// The files with the execute bit, for systems that keep none.
    pub executable: BTreeSet<String>,
    /// The digests of folders outside that it imports, by relative name.
    pub shared: BTreeMap<String, TreeDigest>,
    /// The digest of what it can run.
    pub surface: Option<SurfaceDigest>,
    /// What no digest covers, so that a change of it shows in review.
    pub launchers: BTreeSet<String>,
}

impl LockEntry {
    /// Makes an entry of the two things that every entry has.
    #[must_use]
    pub fn new(path: impl Into<String>, tree: TreeDigest) -> Self {
        Self {
            path: path.into(),
            source: None,
            version: None,
            manifest: None,
            entry: None,
            tree: BTreeSet::from([tree]),
            exclude: Excludes::none(),
            executable: BTreeSet::new(),
            shared: BTreeMap::new(),
            surface: None,
            launchers: BTreeSet::new(),
        }
    }

    /// Says what is wrong with the entry: the key, and what it has to be.
    pub(crate) fn fault(&self) -> Option<(&'static str, &'static str)> {
        if self.path != "." && !is_below(&self.path) {
            return Some(("path", PATH));
        }
        if self.tree.is_empty() {
            return Some(("tree", "at least one tree digest"));
        }
        if self.path != "." && self.exclude.iter().any(|name| name.starts_with("PLUGINS.lock")) {
            return Some((
                "exclude",
                "`PLUGINS.lock` only where the lock lies in the plugin itself (`path = \".\"`)",
            ));
        }
        if let Some(fault) = self.source.as_ref().and_then(Source::fault) {
            return Some(("source", fault));
        }
        if self.version.as_ref().is_some_and(|text| !is_line(text)) {
            return Some(("version", LINE));
        }
        if self.executable.iter().any(|path| !is_below(path)) {
            return Some(("executable", "paths below the plugin, with `/`"));
        }
        if self.shared.keys().any(|path| !is_relative(path)) {
            return Some(("shared", "relative paths with `/`"));
        }
        if self.launchers.iter().any(|text| !is_line(text)) {
            return Some(("launchers", LINE));
        }
        None
    }
}

const LINE: &str = "1 to 4,096 bytes without control characters";
pub(crate) const PATH: &str = "a path below the lock file's folder, with `/` and without `..`, or `.`";

impl Source {
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
            return Some("no absolute path: it holds on one machine only");
        }
        if self.url.as_ref().is_some_and(|url| has_credentials(url)) {
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

/// A path of named parts, without `.` and `..`.
fn is_below(path: &str) -> bool {
    is_relative(path) && path.split('/').all(|part| part != "..")
}

/// A path of named parts that may go up.
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

/// Says whether an address holds a user's secret. `ssh://git@…` and `git@host:…` name an account and hold none.
fn has_credentials(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else {
        return false;
    };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let Some((user, _)) = authority.rsplit_once('@') else {
        return false;
    };
    user.contains(':') || !scheme.rsplit('+').next().is_some_and(|last| last.eq_ignore_ascii_case("ssh"))
}
