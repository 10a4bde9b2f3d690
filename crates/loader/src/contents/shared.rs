//! Shared directories: files outside a plugin that it imports. They are digested and scanned with it.

use std::collections::{BTreeMap, BTreeSet};

use plugward_manifest::{Coverage, Manifest, SurfaceItem, SurfaceKind};
use plugward_sandbox_path::{ErrorClass, FileKind, Jail};
use plugward_tree_lock::{
    EntryKind, Excludes, ExecBits, ReadOptions, ReadProgress, Snapshot, TreeCheck, TreeList,
};
use plugward_types::{Digest, TreeDigest};

use crate::contents::closure::place::{Landing, Places, normalized};
use crate::contents::view::{View, manifests};
use crate::discovery::discover::PluginPlace;
use crate::discovery::roots::inside;
use crate::gates::Context;
use crate::report::Gate;
use crate::run::options::Trust;
use crate::run::outcome::{GateOutcome, Weight};

/// Extensions that hosts try for an import without one.
const TRIED: [&str; 8] = ["", ".ts", ".js", ".mts", ".mjs", ".json", "/index.ts", "/index.js"];

/// The contents of one shared directory or file.
#[derive(Debug)]
pub(crate) enum Content {
    Directory(Snapshot),
    /// A single file, digested like a tree that contains only this file.
    File {
        bytes: Vec<u8>,
        digest: Digest,
        preimage: String,
    },
}

/// The shared directories and files of one plugin, by their names in pins and lockfiles, relative to the
/// plugin.
#[derive(Debug, Default)]
pub(crate) struct SharedRoots {
    trees: BTreeMap<String, TreeDigest>,
    contents: BTreeMap<String, Content>,
    /// Imports that no shared directory covers, with the cause.
    missing: BTreeMap<String, String>,
    problems: Vec<Problem>,
}

/// An error that prevents digesting a shared directory.
#[derive(Debug)]
struct Problem {
    code: String,
    weight: Weight,
    message: String,
    help: String,
}

impl SharedRoots {
    /// Returns the digests for a pin.
    pub(crate) fn digests(&self) -> BTreeMap<String, TreeDigest> {
        self.trees.clone()
    }

    pub(crate) fn contents(&self) -> impl Iterator<Item = (&str, &Content)> {
        self.contents.iter().map(|(name, content)| (name.as_str(), content))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    /// Returns the total size of the shared files.
    pub(crate) fn size(&self) -> u64 {
        let of = |content: &Content| match content {
            Content::Directory(snapshot) => snapshot.total_bytes(),
            Content::File { bytes, .. } => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        };
        self.contents.values().fold(0, |sum, content| sum.saturating_add(of(content)))
    }

    /// Drops the bytes and keeps the digests for the report.
    pub(crate) fn drop_bytes(&mut self) {
        self.contents.clear();
    }

    /// Returns a copy with the digests only.
    pub(crate) fn digests_only(&self) -> Self {
        Self { trees: self.trees.clone(), ..Self::default() }
    }

    /// Returns the bytes of a shared file by its path from the plugin, such as `../shared/a.js`.
    pub(crate) fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.contents.iter().find_map(|(name, content)| match content {
            Content::Directory(snapshot) => {
                let inner = path.strip_prefix(name.as_str())?.strip_prefix('/')?;
                snapshot.file(inner).map(plugward_tree_lock::SnapshotEntry::bytes)
            }
            Content::File { bytes, .. } => (path == name).then_some(bytes.as_slice()),
        })
    }

    /// Returns the covered names for the manifest parser.
    pub(crate) fn covers(&self, views: &[View]) -> Vec<String> {
        let mut names: Vec<String> = self.trees.keys().cloned().collect();
        // A single file has its name on disk here, and can be imported without the extension.
        names.extend(imports(views).filter(|target| !self.missing.contains_key(*target)).map(str::to_owned));
        names
    }

    /// Returns the part of the tree gate for shared directories. One that cannot be digested is refused.
    /// One that does not exist is refused only under `locked`, and is a notice otherwise.
    pub(crate) fn outcome(&self, trust: Trust) -> GateOutcome {
        let mut outcome = GateOutcome::passed(Gate::Tree);
        for Problem { code, weight, message, help } in &self.problems {
            outcome.add(code.clone(), *weight, message.clone(), help.clone());
        }
        for (target, why) in &self.missing {
            let message = format!("{target} is imported, but not digested: {why}");
            if trust == Trust::Locked {
                let help =
                    "import only files of the same project, and check the directory that contains both";
                outcome.add("tree/shared-missing", Weight::Integrity, message, help);
            } else {
                outcome.note("tree/shared-missing", message);
            }
        }
        outcome
    }
}

/// Returns the imports of files outside the plugin's directory.
fn imports(views: &[View]) -> impl Iterator<Item = &str> {
    manifests(views)
        .flat_map(Manifest::surface)
        .filter(|item| item.kind() == SurfaceKind::Shared && item.coverage() == Coverage::Unresolved)
        .map(SurfaceItem::name)
        .filter(|name| name.starts_with("../"))
}

/// Reads the shared directories that manifests import, settings list, or the pin or lock entry contains.
pub(crate) fn read<'a>(
    place: &PluginPlace,
    views: &[View],
    known: impl Iterator<Item = &'a String>,
    context: &'a Context<'_>,
) -> SharedRoots {
    let mut reader = Reader { place, context, jail: None, found: SharedRoots::default() };
    for target in imports(views) {
        match root_of(target) {
            Some(name) => reader.one(target, &name),
            None => reader.missing(target, "it does not name a directory or file"),
        }
    }
    let named: BTreeSet<&String> = context.options.shared.iter().chain(known).collect();
    for name in named {
        if root_of(name).as_ref() == Some(name) && !reader.found.trees.contains_key(name) {
            reader.one(name, name);
            // Only the settings or an earlier digest name it, so it does not have to exist.
            reader.found.missing.remove(name);
        }
    }
    reader.found
}

/// Digests exactly the files and directories that a pin of version 3 lists for a settings file, by their names relative to
/// it, such as `../hooks/run.sh`. A name without a file is left out.
pub(crate) fn listed<'a>(
    place: &PluginPlace,
    names: impl Iterator<Item = &'a String>,
    context: &Context<'_>,
) -> BTreeMap<String, TreeDigest> {
    let root = context.root;
    let places = Places::new(&root.jail, &root.top, context.outside, None);
    let digest = |name: &String| {
        // An interpreter tries the extensions of its language, and a directory starts its main file.
        let from = normalized(&format!("{}/{name}", place.real));
        let mut tried = STARTED.iter().map(|end| places.land(&format!("{from}{end}")));
        let landed = tried.find(|landed| matches!(landed.landing, Landing::File { .. }))?;
        let bytes = places.read(&landed.path, context.options.tree.file_bytes).ok()?;
        let own_name = landed.path.rsplit('/').next()?;
        let list =
            TreeList::parse(&single(&crate::contents::hash::sha256(&bytes), bytes.len(), own_name)).ok()?;
        Some((name.clone(), *list.digest()))
    };
    let names: BTreeSet<String> = names.cloned().collect();
    // The setting for shared directories also applied to settings files.
    let mut trees = read(place, &[], names.iter(), context).trees;
    trees.retain(|name, _| names.contains(name));
    trees.extend(names.iter().filter_map(digest));
    trees
}

/// What an interpreter adds to a name that it is given.
const STARTED: [&str; 6] = ["", ".js", ".mjs", ".cjs", "/index.js", "/__main__.py"];

/// Returns the list of a tree that contains only one file.
fn single(digest: &Digest, bytes: usize, name: &str) -> String {
    format!("plugtree-v1\n{} {} {bytes} {name}\n", EntryKind::File.letter(), digest.hex())
}

/// Returns the root of an import: all its `..`, and the first name after them.
fn root_of(target: &str) -> Option<String> {
    let parts: Vec<&str> = target.split('/').collect();
    let ups = parts.iter().take_while(|part| **part == "..").count();
    let first = parts.get(ups).filter(|part| !matches!(**part, "" | "." | ".."))?;
    (ups > 0).then(|| format!("{}{first}", "../".repeat(ups)))
}

/// Returns the place of a name relative to a plugin's directory, or `None` if it leaves the reach.
fn below(dir: &str, name: &str) -> Option<String> {
    let mut at: Vec<&str> = dir.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    for part in name.split('/') {
        if part == ".." {
            at.pop()?;
        } else {
            at.push(part);
        }
    }
    Some(at.join("/"))
}

struct Reader<'a> {
    place: &'a PluginPlace,
    context: &'a Context<'a>,
    /// The reach of the plugin, opened on first use.
    jail: Option<Jail>,
    found: SharedRoots,
}

impl Reader<'_> {
    fn missing(&mut self, target: &str, why: &str) {
        self.found.missing.insert(target.to_owned(), why.to_owned());
    }

    fn problem(&mut self, name: &str, code: &str, weight: Weight, message: &str, help: String) {
        let message = format!("shared {name}: {message}");
        self.found.problems.push(Problem { code: code.to_owned(), weight, message, help });
    }

    /// Opens the directory that is the reach of the plugin.
    fn jail(&mut self) -> Option<Jail> {
        if self.jail.is_none() {
            let root = &self.context.root.jail;
            let top = self.place.reach.top.as_str();
            let jail = if top == "." { Ok(root.clone()) } else { root.subjail(top) };
            self.jail = jail.ok().map(|jail| self.context.run.watched(&jail, &self.context.root.label));
        }
        self.jail.clone()
    }

    fn one(&mut self, target: &str, name: &str) {
        let own = inside(&self.place.dir, &self.place.reach.top).unwrap_or(".").to_owned();
        let (Some(at), Some(jail)) = (below(&own, name), self.jail()) else {
            return self.missing(target, "it is outside the plugin's project");
        };
        let stem = at.strip_suffix(".js").unwrap_or(&at);
        let tried: BTreeSet<String> =
            TRIED.iter().flat_map(|end| [format!("{at}{end}"), format!("{stem}{end}")]).collect();
        let mut found = false;
        // Hosts differ in which candidate they load, so all of them are digested.
        for candidate in tried {
            let kind = match jail.metadata(candidate.as_str()) {
                Ok(meta) => meta.kind(),
                Err(error)
                    if error.class() == ErrorClass::NotFound || error.code() == "path/not-a-directory" =>
                {
                    continue;
                }
                Err(error) => {
                    let help = "replace it with the file or directory that it leads to".to_owned();
                    self.problem(name, error.code(), Weight::Integrity, &error.to_string(), help);
                    found = true;
                    continue;
                }
            };
            match kind {
                FileKind::Directory if candidate == at => {
                    if !self.found.trees.contains_key(name) {
                        self.directory(&jail, &at, name);
                    }
                    found = true;
                }
                FileKind::File => {
                    // The name on disk, relative to the plugin.
                    let ending = candidate.strip_prefix(stem).unwrap_or_default();
                    let base = name.strip_suffix(".js").unwrap_or(name);
                    self.file(&jail, &candidate, &format!("{base}{ending}"), target);
                    found = true;
                }
                FileKind::Directory => {}
                _ => {
                    let help = "keep only regular files and directories in it".to_owned();
                    self.problem(name, "tree/special-file", Weight::Integrity, "it is a special file", help);
                    found = true;
                }
            }
        }
        if !found {
            self.missing(target, "it does not exist");
        }
    }

    fn directory(&mut self, jail: &Jail, at: &str, name: &str) {
        let options = self.context.options;
        let jail = match jail.subjail(at) {
            Ok(jail) => jail,
            Err(error) => {
                let help = error.help().to_owned();
                return self.problem(name, error.code(), Weight::CouldNotTell, &error.to_string(), help);
            }
        };
        let tick = |step: ReadProgress| self.context.watch.reading(step.files, step.bytes);
        let how = ReadOptions {
            limits: &options.tree,
            exclude: &Excludes::none(),
            exec: ExecBits::Modes,
            jobs: options.jobs,
            progress: &tick,
        };
        match Snapshot::read_with(&jail, &how) {
            Ok(TreeCheck::Read(snapshot)) => {
                self.found.trees.insert(name.to_owned(), *snapshot.digest());
                self.found.contents.insert(name.to_owned(), Content::Directory(snapshot));
            }
            Ok(TreeCheck::Refused(refusal)) => {
                for problem in refusal.problems() {
                    let help = problem.help();
                    self.problem(name, problem.code(), Weight::Integrity, &problem.to_string(), help);
                }
            }
            Err(error) => {
                let message = crate::report::text::chain(&error);
                self.problem(name, error.code(), Weight::CouldNotTell, &message, error.help());
            }
        }
    }

    fn file(&mut self, jail: &Jail, at: &str, name: &str, target: &str) {
        let bytes = match jail.read(at, self.context.options.tree.file_bytes) {
            Ok(bytes) => bytes,
            Err(error) => return self.missing(target, &error.to_string()),
        };
        let digest = crate::contents::hash::sha256(&bytes);
        let own_name = at.rsplit('/').next().unwrap_or(at);
        let preimage = single(&digest, bytes.len(), own_name);
        match TreeList::parse(&preimage) {
            Ok(list) => {
                self.found.trees.insert(name.to_owned(), *list.digest());
                self.found.contents.insert(name.to_owned(), Content::File { bytes, digest, preimage });
            }
            Err(error) => self.missing(target, &error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_has_a_root_and_a_place() {
        assert_eq!(root_of("../shared/a/b.js").as_deref(), Some("../shared"));
        assert_eq!(root_of("../../x.js").as_deref(), Some("../../x.js"));
        for none in ["..", "../", "../..", "shared", "./x", "../."] {
            assert_eq!(root_of(none), None, "{none}");
        }
        assert_eq!(below("a/b", "../shared").as_deref(), Some("a/shared"));
        assert_eq!(below("a", "../shared").as_deref(), Some("shared"));
        assert_eq!(below(".", "../shared"), None);
        assert_eq!(below("a", "../../shared"), None);
    }
}
