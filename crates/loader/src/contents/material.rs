//! The bytes of one plugin for a diff, and the classes of its files.

use std::collections::{BTreeMap, BTreeSet};

use plugward_manifest::json::{ParseLimits, parse};
use plugward_manifest::{Manifest, SurfaceKind};
use plugward_pinstore::{BaselineError, Baselines, ChangeClass, Classify, Facts, NewBaseline, TreeEntryKind};
use plugward_tree_lock::{EntryKind, Snapshot, SnapshotEntry};
use plugward_types::{Digest, FileRole, Part};

use crate::contents::audit::FileUse;
use crate::contents::closure::Closure;
use crate::contents::shared::{Content, SharedRoots};
use crate::contents::vcs::VcsFiles;
use crate::contents::view::{View, manifests, surface_text};

/// Extensions of files that are run or imported.
const CODE: [&str; 26] = [
    "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "py", "pyw", "sh", "bash", "zsh", "fish", "rb",
    "pl", "php", "lua", "rs", "go", "ps1", "bat", "cmd", "wasm", "so", "node",
];

/// The bytes of one plugin, kept for a diff.
///
/// # Guarantees
/// The bytes have the digests of the [`crate::Subject`] that contains this value.
#[derive(Debug)]
#[non_exhaustive]
pub struct Material {
    /// The preimage of the tree digest.
    pub preimage: String,
    /// The preimage of the surface digest.
    pub surface: String,
    /// The shared directories and files, by their names in the pin.
    pub shared: BTreeMap<String, SharedText>,
    /// The canonical text of the merged marketplace entry. The pin stores its SHA-256.
    pub entry: Option<String>,
    /// The first manifest file whose SHA-256 the pin stores.
    pub main: Option<MainFile>,
    snapshot: Snapshot,
    contents: SharedRoots,
    closure: Closure,
    vcs: VcsFiles,
    /// The use of each scanned file.
    uses: BTreeMap<String, FileUse>,
    prompts: BTreeSet<String>,
    run: BTreeSet<String>,
}

/// The contents of a plugin that are not in its own tree.
pub(crate) struct OutsideContents {
    pub(crate) shared: SharedRoots,
    pub(crate) closure: Closure,
    pub(crate) vcs: VcsFiles,
}

/// The main manifest file of a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a dialect and its file")]
pub struct MainFile {
    /// The dialect of the manifest.
    pub dialect: &'static str,
    /// The path of the file.
    pub path: &'static str,
}

/// A directory or file outside a plugin that is digested with it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedText {
    /// The directory that the preimage lists, as a path from the plugin.
    pub directory: String,
    /// The preimage of the digest in the pin.
    pub preimage: String,
}

impl Material {
    pub(crate) fn new(
        snapshot: Snapshot,
        outside: OutsideContents,
        uses: BTreeMap<String, FileUse>,
        views: &[View],
        facts: &Facts,
    ) -> Self {
        let OutsideContents { shared: contents, closure, vcs } = outside;
        let (mut prompts, mut run) = (BTreeSet::new(), BTreeSet::new());
        for item in manifests(views).flat_map(Manifest::surface) {
            let into = if item.kind() == SurfaceKind::Prompt { &mut prompts } else { &mut run };
            into.extend(item.files().iter().cloned());
        }
        let main = manifests(views).find_map(|manifest| {
            Some(MainFile { dialect: manifest.dialect().as_str(), path: manifest.main_file()? })
        });
        Self {
            preimage: preimage(&snapshot, facts),
            surface: surface_text(views),
            shared: contents
                .contents()
                .map(|(name, content)| (name.to_owned(), shared_text(name, content)))
                .collect(),
            entry: entry_text(views),
            main,
            snapshot,
            contents,
            closure,
            vcs,
            uses,
            prompts,
            run,
        }
    }

    /// Returns the list of the closure, if the plugin runs files outside its own directory.
    #[must_use]
    pub fn closure(&self) -> Option<&str> {
        self.closure.preimage()
    }

    /// Returns a file's bytes or a symlink's target. A shared file has its path from the plugin, and a file of the closure
    /// that of [`closure_paths`](crate::closure_paths).
    #[must_use]
    pub fn bytes(&self, path: &str) -> Option<&[u8]> {
        match self.snapshot.get(path) {
            Some(entry) => Some(entry.bytes()),
            None => self.contents.bytes(path).or_else(|| self.closure.bytes_of(path)),
        }
    }

    pub(crate) fn is_link(&self, path: &str) -> bool {
        self.snapshot.get(path).is_some_and(|entry| entry.kind() == EntryKind::Link)
    }

    /// Returns the path of the file inside the plugin that a symlink leads to.
    pub(crate) fn target(&self, link: &str) -> Option<&str> {
        self.snapshot.file(link).map(SnapshotEntry::path)
    }

    /// Returns the use and the bytes of each file, by path, or `None` if a file was not scanned.
    ///
    /// The settings and scripts of version control directories are among them, also if the tree does not have them.
    pub(crate) fn used_files(&self) -> Option<impl Iterator<Item = (&str, FileUse, &[u8])>> {
        let is_scanned = self.snapshot.entries().all(|entry| self.uses.contains_key(entry.path()));
        is_scanned.then(|| {
            let used = self.uses.iter();
            let used = used.filter_map(|(path, used)| Some((path.as_str(), *used, self.bytes(path)?)));
            let executed = FileUse { role: FileRole::Executed, is_manifest: false };
            used.chain(self.vcs.contents().map(move |(path, bytes)| (path, executed, bytes)))
        })
    }

    /// Returns the text of a file by its digest, if the plugin has such a file.
    #[must_use]
    pub fn text_of(&self, digest: &Digest) -> Option<String> {
        let entry = self.snapshot.entries().find(|entry| entry.digest() == digest)?;
        core::str::from_utf8(entry.bytes()).ok().map(str::to_owned)
    }

    /// Stores the texts as a baseline, so that a later diff can show what changed.
    ///
    /// # Errors
    /// [`BaselineError`] if they cannot be written. No pin depends on baselines.
    pub fn keep(&self, baselines: &Baselines) -> Result<(), BaselineError> {
        let Self { preimage, surface, entry, snapshot, contents, closure, .. } = self;
        put(baselines, preimage, surface, entry.as_deref(), snapshot, contents, closure)
    }
}

/// Stores the baseline of a plugin that is about to be pinned. Cleaning up removes baselines
/// without a pin first.
pub(crate) fn keep(
    baselines: &Baselines,
    snapshot: &Snapshot,
    shared: &SharedRoots,
    closure: &Closure,
    views: &[View],
    facts: &Facts,
) -> Result<(), BaselineError> {
    let entry = entry_text(views);
    let preimage = preimage(snapshot, facts);
    put(baselines, &preimage, &surface_text(views), entry.as_deref(), snapshot, shared, closure)
}

fn put(
    baselines: &Baselines,
    preimage: &str,
    surface: &str,
    entry: Option<&str>,
    snapshot: &Snapshot,
    shared: &SharedRoots,
    closure: &Closure,
) -> Result<(), BaselineError> {
    let texts: Vec<SharedText> =
        shared.contents().map(|(name, content)| shared_text(name, content)).collect();
    let trees: Vec<&str> = core::iter::once(preimage)
        .chain(texts.iter().map(|text| text.preimage.as_str()))
        .chain(closure.preimage())
        .collect();
    let mut files: Vec<&[u8]> = snapshot.entries().map(SnapshotEntry::bytes).collect();
    for (_, content) in shared.contents() {
        match content {
            Content::Directory(snapshot) => {
                files.extend(snapshot.entries().map(SnapshotEntry::bytes));
            }
            Content::File { bytes, .. } => files.push(bytes),
        }
    }
    files.extend(entry.map(str::as_bytes));
    files.extend(closure.kept());
    baselines.put(&NewBaseline { trees: &trees, surface: Some(surface), files: &files }).map(|_report| ())
}

fn preimage(snapshot: &Snapshot, facts: &Facts) -> String {
    let list = crate::contents::trees::excludes_of(facts);
    crate::contents::trees::preimage(snapshot, &list)
}

fn entry_text(views: &[View]) -> Option<String> {
    manifests(views).find_map(|manifest| manifest.entry_text()).map(str::to_owned)
}

fn shared_text(name: &str, content: &Content) -> SharedText {
    let (directory, preimage) = match content {
        Content::Directory(snapshot) => (name, snapshot.preimage()),
        Content::File { preimage, .. } => {
            (name.rsplit_once('/').map_or(".", |(directory, _)| directory), preimage.as_str())
        }
    };
    SharedText { directory: directory.to_owned(), preimage: preimage.to_owned() }
}

/// Returns the identity fields of a JSON manifest by key, or nothing if it cannot be parsed.
#[must_use]
pub fn identity_of(manifest: &[u8]) -> BTreeMap<String, String> {
    const KEYS: [&str; 6] = ["name", "version", "author", "repository", "homepage", "license"];
    top_level(manifest, &ParseLimits::standard())
        .into_iter()
        .filter(|(key, _)| KEYS.contains(&key.as_str()))
        .collect()
}

/// Returns the fields of a marketplace entry, each with its value as text.
#[must_use]
pub fn entry_parts(entry: &str) -> BTreeMap<String, String> {
    top_level(entry.as_bytes(), &ParseLimits::marketplace())
}

fn top_level(text: &[u8], limits: &ParseLimits) -> BTreeMap<String, String> {
    let Ok(root) = parse(text, limits) else { return BTreeMap::new() };
    let value = |node: &plugward_manifest::json::JsonNode<'_>| {
        let raw = text.part(node.span().start..node.span().end);
        node.as_str().map_or_else(|| String::from_utf8_lossy(raw).into_owned(), str::to_owned)
    };
    let members = root.members_or_none();
    members.iter().map(|member| (member.key().to_owned(), value(member.node()))).collect()
}

impl Classify for Material {
    fn file(&self, path: &str, kind: TreeEntryKind) -> ChangeClass {
        let ending = path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending);
        // Files outside the plugin are there to be imported or run.
        let is_outside = ["../", "./", "~/", "/"].iter().any(|start| path.starts_with(start));
        if kind == TreeEntryKind::Executable || self.run.contains(path) || is_outside {
            return ChangeClass::Code;
        }
        if self.prompts.contains(path) {
            return ChangeClass::Prompt;
        }
        match ending {
            Some(ending) if CODE.contains(&ending) => ChangeClass::Code,
            Some("md" | "mdx" | "mdc") => ChangeClass::Prompt,
            _ => ChangeClass::Other,
        }
    }

    /// Classifies a line of the surface text: an item that the pin does not cover reaches outside
    /// the plugin.
    fn surface_line(&self, line: &str) -> ChangeClass {
        let outside = ["launcher-", "remote-url", "path-binary", "unresolved", "\"url\""];
        if outside.iter().any(|word| line.contains(word)) { ChangeClass::Reach } else { ChangeClass::Surface }
    }
}
