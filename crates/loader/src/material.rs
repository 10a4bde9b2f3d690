//! The bytes of one plugin that a person looks at, and what its files are.

use std::collections::{BTreeMap, BTreeSet};

use plugward_manifest::json::{Limits, parse};
use plugward_manifest::{Manifest, SurfaceKind};
use plugward_pinstore::{Baselines, Class, Classify, EntryKind, NewBaseline};
use plugward_tree_lock::Snapshot;

use crate::shared::{Content, SharedRoots};

/// Endings of files that something runs or imports.
const CODE: [&str; 26] = [
    "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "py", "pyw", "sh", "bash", "zsh", "fish", "rb",
    "pl", "php", "lua", "rs", "go", "ps1", "bat", "cmd", "wasm", "so", "node",
];

/// What of one plugin was read, kept for a diff.
///
/// # Guarantees
/// The bytes are those of the digests of the [`crate::Subject`] that holds it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Material {
    /// The text whose digest is the tree digest.
    pub preimage: String,
    /// The text whose digest is the surface digest.
    pub surface: String,
    /// The folders and files that it shares, by their names in the pin.
    pub shared: BTreeMap<String, SharedText>,
    /// The canonical text of the marketplace entry that was merged in, whose SHA-256 the pin keeps.
    pub entry: Option<String>,
    /// The path of the manifest file, whose SHA-256 the pin keeps.
    pub main: Option<&'static str>,
    files: BTreeMap<String, Vec<u8>>,
    prompts: BTreeSet<String>,
    run: BTreeSet<String>,
}

/// A folder or file outside of a plugin that is digested with it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedText {
    /// The folder that the list is of, by its path from the plugin.
    pub folder: String,
    /// The text whose digest the pin keeps.
    pub preimage: String,
}

impl Material {
    pub(crate) fn of(snapshot: &Snapshot, manifest: &Manifest, preimage: String) -> Self {
        let mut material = Self {
            preimage,
            surface: manifest.surface_text(),
            shared: BTreeMap::new(),
            entry: manifest.entry_text().map(str::to_owned),
            main: manifest.main_file(),
            files: BTreeMap::new(),
            prompts: BTreeSet::new(),
            run: BTreeSet::new(),
        };
        for item in manifest.surface() {
            let into =
                if item.kind() == SurfaceKind::Prompt { &mut material.prompts } else { &mut material.run };
            into.extend(item.files().iter().cloned());
        }
        for entry in snapshot.entries() {
            material.files.insert(entry.path().to_owned(), entry.bytes().to_vec());
        }
        material
    }

    /// Adds what is shared: the lists, and the bytes under their paths from the plugin.
    pub(crate) fn share(&mut self, shared: &SharedRoots) {
        for (name, root) in &shared.roots {
            let (folder, preimage) = match &root.content {
                Content::Folder(snapshot) => (name.as_str(), snapshot.preimage()),
                Content::File { preimage, .. } => {
                    (name.rsplit_once('/').map_or(".", |(folder, _)| folder), preimage.as_str())
                }
            };
            match &root.content {
                Content::Folder(snapshot) => self.files.extend(
                    snapshot
                        .entries()
                        .map(|entry| (format!("{folder}/{}", entry.path()), entry.bytes().to_vec())),
                ),
                Content::File { bytes, .. } => {
                    self.files.insert(name.clone(), bytes.clone());
                }
            }
            let text = SharedText { folder: folder.to_owned(), preimage: preimage.to_owned() };
            self.shared.insert(name.clone(), text);
        }
    }

    /// Gives a file's bytes, or a link's text; below a shared folder by that folder's path and its own.
    #[must_use]
    pub fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// Keeps the texts, so that a later diff can show what changed.
    ///
    /// # Errors
    /// What the baselines say: nothing that was pinned depends on it.
    pub fn keep(&self, baselines: &Baselines) -> Result<(), plugward_pinstore::BaselineError> {
        let entry = self.entry.iter().map(String::as_bytes);
        let files: Vec<&[u8]> = self.files.values().map(Vec::as_slice).chain(entry).collect();
        let trees = core::iter::once(&self.preimage).chain(self.shared.values().map(|text| &text.preimage));
        let trees: Vec<&str> = trees.map(String::as_str).collect();
        baselines
            .put(&NewBaseline { trees: &trees, surface: Some(&self.surface), files: &files })
            .map(|_report| ())
    }
}

/// What a manifest says of who the plugin is, by key, as far as its text can be read.
#[must_use]
pub fn identity_of(manifest: &[u8]) -> BTreeMap<String, String> {
    const KEYS: [&str; 6] = ["name", "version", "author", "repository", "homepage", "license"];
    top_level(manifest, &Limits::standard())
        .into_iter()
        .filter(|(key, _)| KEYS.contains(&key.as_str()))
        .collect()
}

/// The keys of a marketplace entry, each with its value as text.
#[must_use]
pub fn entry_parts(entry: &str) -> BTreeMap<String, String> {
    top_level(entry.as_bytes(), &Limits::market())
}

fn top_level(text: &[u8], limits: &Limits) -> BTreeMap<String, String> {
    let Ok(root) = parse(text, limits) else { return BTreeMap::new() };
    let value = |node: &plugward_manifest::json::Node<'_>| {
        let raw = text.get(node.span().start..node.span().end).unwrap_or_default();
        node.as_str().map_or_else(|| String::from_utf8_lossy(raw).into_owned(), str::to_owned)
    };
    let members = root.members().unwrap_or_default();
    members.iter().map(|member| (member.key().to_owned(), value(member.node()))).collect()
}

impl Classify for Material {
    fn file(&self, path: &str, kind: EntryKind) -> Class {
        let ending = path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending);
        // What stands outside is there to be imported.
        if kind == EntryKind::Executable || self.run.contains(path) || path.starts_with("../") {
            return Class::Code;
        }
        if self.prompts.contains(path) {
            return Class::Prompt;
        }
        match ending {
            Some(ending) if CODE.contains(&ending) => Class::Code,
            Some("md" | "mdx" | "mdc") => Class::Prompt,
            _ => Class::Other,
        }
    }

    /// A line names how far the pin covers its item: what it does not cover at all reaches outside.
    fn surface_line(&self, line: &str) -> Class {
        let outside = ["launcher-", "remote-url", "path-binary", "unresolved", "\"url\""];
        if outside.iter().any(|word| line.contains(word)) { Class::Reach } else { Class::Surface }
    }
}
