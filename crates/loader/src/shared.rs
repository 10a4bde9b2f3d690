//! Shared roots: what a plugin imports from outside its folder, digested and scanned like the plugin itself.

use std::collections::{BTreeMap, BTreeSet};

use plugward_manifest::{Coverage, Manifest, SurfaceKind};
use plugward_sandbox_path::{Answer, FileKind};
use plugward_tree_lock::{EntryKind, Excludes, ExecBits, ReadOptions, Snapshot, Step, TreeCheck, TreeList};
use plugward_types::{Digest, TreeDigest};

use crate::gates::Context;
use crate::options::Trust;
use crate::report::{Gate, Notice, PluginReport, Reason, Weight};

/// Endings that an import without its own ending may mean, as hosts look for them.
const TRIED: [&str; 8] = ["", ".ts", ".js", ".mts", ".mjs", ".json", "/index.ts", "/index.js"];

/// What was read of one shared root.
pub(crate) enum Content {
    Folder(Snapshot),
    /// A single file is digested as a tree that has it alone.
    File {
        bytes: Vec<u8>,
        digest: Digest,
        preimage: String,
    },
}

/// One shared root, by the name that pins and locks keep: relative to the plugin's folder.
pub(crate) struct SharedRoot {
    pub(crate) tree: TreeDigest,
    pub(crate) content: Content,
}

/// All shared roots of one plugin.
#[derive(Default)]
pub(crate) struct SharedRoots {
    pub(crate) roots: BTreeMap<String, SharedRoot>,
    /// Imports that no root covers, each with why.
    missing: BTreeMap<String, String>,
    reasons: Vec<Reason>,
}

impl SharedRoots {
    /// The digests, as a pin keeps them.
    pub(crate) fn digests(&self) -> BTreeMap<String, TreeDigest> {
        self.roots.iter().map(|(name, root)| (name.clone(), root.tree)).collect()
    }

    /// The names for the manifest's reader, so that it labels what is digested as covered.
    pub(crate) fn covers(&self, manifest: &Manifest) -> Vec<String> {
        let mut names: Vec<String> = self.roots.keys().cloned().collect();
        // A single file is known by its name on disk, and imported by another one.
        names.extend(
            imports(manifest).filter(|target| !self.missing.contains_key(*target)).map(str::to_owned),
        );
        names
    }

    /// What the gate says: a root that cannot be digested refuses; one that is not there refuses where nothing is
    /// enrolled, and is told otherwise.
    pub(crate) fn say(&self, report: &mut PluginReport, trust: Trust) {
        report.reasons.extend(self.reasons.iter().cloned());
        report.shared = self.roots.iter().map(|(name, root)| (name.clone(), root.tree.to_string())).collect();
        for (target, why) in &self.missing {
            let message = format!("{target} is imported and not digested: {why}");
            if trust == Trust::Locked {
                report.reasons.push(Reason {
                    code: "tree/shared-missing".to_owned(),
                    gate: Gate::Tree,
                    message,
                    help: "check the folder that holds the plugin and what it shares".to_owned(),
                    weight: Weight::Integrity,
                });
            } else {
                let code = "tree/shared-missing".to_owned();
                report.notices.push(Notice { code, gate: Gate::Tree, message });
            }
        }
    }
}

/// The imports of a manifest that leave the folder.
fn imports(manifest: &Manifest) -> impl Iterator<Item = &str> {
    manifest
        .surface()
        .iter()
        .filter(|item| item.kind() == SurfaceKind::Shared && item.coverage() == Coverage::Unresolved)
        .map(plugward_manifest::SurfaceItem::name)
        .filter(|name| name.starts_with("../"))
}

/// Reads what a plugin shares: what it imports, what the settings name, and what its pin and its lock entry have.
pub(crate) fn read(path: &str, manifest: &Manifest, known: &[String], context: &Context<'_>) -> SharedRoots {
    let mut found = SharedRoots::default();
    for target in imports(manifest) {
        match root_of(target) {
            Some(name) => one(path, target, &name, &mut found, context),
            None => {
                found.missing.insert(target.to_owned(), "it names no folder or file".to_owned());
            }
        }
    }
    let named: BTreeSet<&String> = context.options.shared.iter().chain(known).collect();
    for name in named {
        if root_of(name).as_ref() == Some(name) && !found.roots.contains_key(name) {
            one(path, name, name, &mut found, context);
            // Nothing imports it, so that it need not be there.
            found.missing.remove(name);
        }
    }
    found
}

/// The root of an import: all its `..`, and the first name behind them.
fn root_of(target: &str) -> Option<String> {
    let parts: Vec<&str> = target.split('/').collect();
    let ups = parts.iter().take_while(|part| **part == "..").count();
    let first = parts.get(ups).filter(|part| !matches!(**part, "" | "." | ".."))?;
    (ups > 0).then(|| format!("{}{first}", "../".repeat(ups)))
}

/// Where a name leads from a plugin's folder, below the root; none where it leaves it.
fn below(path: &str, name: &str) -> Option<String> {
    let mut at: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    for part in name.split('/') {
        if part == ".." {
            at.pop()?;
        } else {
            at.push(part);
        }
    }
    Some(at.join("/"))
}

fn one(path: &str, target: &str, name: &str, found: &mut SharedRoots, context: &Context<'_>) {
    let missing = |found: &mut SharedRoots, why: &str| {
        found.missing.insert(target.to_owned(), why.to_owned());
    };
    let Some(at) = below(path, name) else {
        return missing(found, "it is outside of the folder that is checked");
    };
    let jail = &context.root.jail;
    let stem = at.strip_suffix(".js").unwrap_or(&at);
    let tried = TRIED.iter().flat_map(|end| [format!("{at}{end}"), format!("{stem}{end}")]);
    for candidate in tried {
        let kind = match jail.metadata(candidate.as_str()) {
            Ok(meta) => meta.kind(),
            Err(error) if error.answer() == Answer::NotThere || error.code() == "path/not-a-directory" => {
                continue;
            }
            Err(error) => return missing(found, &error.to_string()),
        };
        match kind {
            FileKind::Folder if candidate == at => {
                if !found.roots.contains_key(name) {
                    folder(&at, name, found, context);
                }
                return;
            }
            FileKind::File => {
                // The name on disk, from the plugin's folder.
                let ending = candidate.strip_prefix(stem).unwrap_or_default();
                let base = name.strip_suffix(".js").unwrap_or(name);
                return file(&candidate, &format!("{base}{ending}"), target, found, context);
            }
            FileKind::Folder => {}
            _ => return missing(found, "it is a link or no file"),
        }
    }
    missing(found, "it is not there");
}

fn folder(at: &str, name: &str, found: &mut SharedRoots, context: &Context<'_>) {
    let options = context.options;
    let refused = |code: &str, message: String, help: String, weight| Reason {
        code: code.to_owned(),
        gate: Gate::Tree,
        message: format!("shared {name}: {message}"),
        help,
        weight,
    };
    let jail = match context.root.jail.subjail(at) {
        Ok(jail) => jail,
        Err(error) => {
            let why = refused(error.code(), error.to_string(), error.help().to_owned(), Weight::CouldNotTell);
            return found.reasons.push(why);
        }
    };
    let tick = |step: Step| context.watch.reading(step.files, step.bytes);
    let how = ReadOptions {
        limits: &options.tree,
        exclude: &Excludes::none(),
        exec: ExecBits::Modes,
        jobs: options.jobs,
        progress: &tick,
    };
    match Snapshot::read_with(&jail, &how) {
        Ok(TreeCheck::Read(snapshot)) => {
            let root = SharedRoot { tree: *snapshot.digest(), content: Content::Folder(snapshot) };
            found.roots.insert(name.to_owned(), root);
        }
        Ok(TreeCheck::Refused(refusal)) => {
            found.reasons.extend(refusal.problems().iter().map(|problem| {
                refused(problem.code(), problem.to_string(), problem.help(), Weight::Integrity)
            }));
        }
        Err(error) => {
            let message = crate::text::chain(&error);
            found.reasons.push(refused(error.code(), message, error.help(), Weight::CouldNotTell));
        }
    }
}

fn file(at: &str, name: &str, target: &str, found: &mut SharedRoots, context: &Context<'_>) {
    let limit = context.options.tree.file_bytes;
    let bytes = match context.root.jail.read(at, limit) {
        Ok(bytes) => bytes,
        Err(error) => {
            found.missing.insert(target.to_owned(), error.to_string());
            return;
        }
    };
    let digest = crate::hash::sha256(&bytes);
    let own_name = at.rsplit('/').next().unwrap_or(at);
    let preimage =
        format!("plugtree-v1\n{} {} {} {own_name}\n", EntryKind::File.letter(), digest.hex(), bytes.len());
    match TreeList::parse(&preimage) {
        Ok(list) => {
            let file = Content::File { bytes, digest, preimage };
            found.roots.insert(name.to_owned(), SharedRoot { tree: *list.digest(), content: file });
        }
        Err(error) => {
            found.missing.insert(target.to_owned(), error.to_string());
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
