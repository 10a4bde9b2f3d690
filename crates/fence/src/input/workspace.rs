//! Reads a workspace on disk: `cargo metadata`, the manifests, and the source files of the packages.

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use toml::de::{DeTable, DeValue};

use crate::config::FenceConfig;
use crate::input::{Dependency, Manifest, Package, Sources, Target, disk};
use crate::names::modules::normal;
use crate::report::error::FenceErrorKind;
use crate::syntax::toml_table::dig;
use crate::{FenceError, UndecidedReason};

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<MetaPackage>,
    workspace_root: Utf8PathBuf,
    target_directory: Utf8PathBuf,
}

#[derive(Deserialize)]
struct MetaPackage {
    name: String,
    manifest_path: Utf8PathBuf,
    targets: Vec<Target>,
    dependencies: Vec<Dependency>,
    features: BTreeMap<String, Vec<String>>,
}

/// A workspace whose config is not read yet.
pub(crate) struct DiskWorkspace {
    pub(crate) root: Utf8PathBuf,
    pub(crate) root_manifest: Manifest,
    metadata: Metadata,
}

/// Asks cargo which workspace a directory or manifest belongs to.
pub(crate) fn find(path: &Utf8Path) -> Result<DiskWorkspace, FenceError> {
    let manifest =
        if path.extension() == Some("toml") { path.to_path_buf() } else { path.join("Cargo.toml") };
    let output = disk::cargo_metadata(&manifest)?;
    let metadata: Metadata = serde_json::from_slice(&output)
        .map_err(|error| FenceError::new(FenceErrorKind::Metadata, manifest.as_str(), error.to_string()))?;
    let root = metadata.workspace_root.clone();
    let text = disk::read_text(&root.join("Cargo.toml"))?;
    let root_manifest = Manifest { path: Utf8PathBuf::from("Cargo.toml"), text };
    Ok(DiskWorkspace { root, root_manifest, metadata })
}

impl DiskWorkspace {
    /// Reads the config from the root manifest; without one, returns the defaults.
    pub(crate) fn config(&self) -> Result<FenceConfig, FenceError> {
        let text = &self.root_manifest.text;
        for path in [["workspace", "metadata", "plugward-fence"], ["package", "metadata", "plugward-fence"]] {
            if let Some(config) = FenceConfig::from_manifest(text, "Cargo.toml", &path)? {
                return Ok(self.with_default_crate(config));
            }
        }
        Ok(self.with_default_crate(FenceConfig::for_crates(&[])))
    }

    /// Adds the default capability crate to a config that names none, if it is a member.
    pub(crate) fn with_default_crate(&self, mut config: FenceConfig) -> FenceConfig {
        let known = |name: &str| self.metadata.packages.iter().any(|package| package.name == name);
        if config.capability_crates.is_empty() && known(crate::config::DEFAULT_CRATE) {
            config.capability_crates.push(crate::config::DEFAULT_CRATE.to_owned());
        }
        config
    }

    /// Lists the packages and files to read. No source file is opened yet.
    pub(crate) fn sources(self, config: &FenceConfig) -> Sources<'static> {
        let mut skipped = Vec::new();
        let root = self.root.clone();
        let mut packages: Vec<Package> =
            self.metadata.packages.iter().map(|package| member(&root, package)).collect();
        packages.sort_by(|a, b| a.dir.cmp(&b.dir));
        let skip = BTreeSet::from([self.metadata.target_directory.clone()]);
        let mut seen = disk::VisitedFiles::default();
        let mut listing = disk::list(&root, Utf8Path::new(""), &skip, &mut seen);
        for package in packages.iter().filter(|package| package.dir.starts_with("..")) {
            let more = disk::list(&root, &package.dir, &skip, &mut seen);
            listing.sources.extend(more.sources);
            listing.manifests.extend(more.manifests);
            listing.faults.extend(more.faults);
        }
        let faults = listing.faults.iter();
        let mut faults: Vec<UndecidedReason> =
            faults.map(|fault| UndecidedReason::new("fence/no-files", fault.as_str())).collect();
        for package in &mut packages {
            let path = package.dir.join("Cargo.toml");
            match disk::read_text(&root.join(&path)) {
                Ok(text) => package.manifest = Some(Manifest { path, text }),
                Err(error) => faults.push(UndecidedReason::new("fence/manifest", error.to_string())),
            }
        }
        self.nested(&mut packages, &listing, config, &mut skipped);
        assign(&mut packages, &listing.sources);
        for package in &mut packages {
            let root = if package.member { self.root_manifest.text.as_str() } else { "" };
            package.forbids_unsafe =
                package.manifest.as_ref().is_some_and(|manifest| forbids_unsafe(&manifest.text, root));
        }
        let lock = disk::read_text(&root.join("Cargo.lock"))
            .ok()
            .map(|text| Manifest { path: Utf8PathBuf::from("Cargo.lock"), text });
        let cargo_config = cargo_configs(&root, &packages);
        Sources {
            packages,
            reader: Box::new(move |path| disk::read(&root.join(path))),
            root: Some(self.root_manifest),
            lock,
            cargo_config,
            skipped,
            faults,
        }
    }

    /// Adds packages in the workspace directory that are not members but depend on a checked crate.
    fn nested(
        &self,
        packages: &mut Vec<Package>,
        listing: &disk::Listing,
        config: &FenceConfig,
        skipped: &mut Vec<String>,
    ) {
        let races = config.race.iter().flat_map(|race| &race.crates);
        let names: Vec<&String> = config.capability_crates.iter().chain(races).collect();
        for path in &listing.manifests {
            let dir = path.parent().map(Utf8Path::to_path_buf).unwrap_or_default();
            if packages.iter().any(|package| package.dir == dir) {
                continue;
            }
            let full = self.root.join(path);
            let text = disk::read_text(&full);
            let (mut found, mut why) = (None, "it does not depend on a checked crate".to_owned());
            match &text {
                // A manifest without a package is that of another workspace.
                Ok(text) if !text.contains("[package]") => continue,
                Ok(text) if names.iter().any(|name| text.contains(name.as_str())) => match find(&full) {
                    Ok(other) => {
                        let mut all = other.metadata.packages.iter().map(|one| member(&self.root, one));
                        found = all.find(|package| package.dir == dir);
                    }
                    Err(error) => why = error.to_string(),
                },
                Ok(_) => {}
                Err(error) => why = error.to_string(),
            }
            if let (Some(package), Ok(text)) = (found, text) {
                let manifest = Some(Manifest { path: path.clone(), text });
                packages.push(Package { member: false, manifest, ..package });
            } else {
                skipped.push(format!("package at {dir} is not a member: {why}"));
                // The package is kept without targets, so that its files are not assigned to the package
                // around it.
                let name = format!("package at {dir} (not a member)");
                packages.push(Package { name, dir, ..Package::default() });
            }
        }
    }
}

fn member(root: &Utf8Path, package: &MetaPackage) -> Package {
    let dir = package.manifest_path.parent().map_or_else(Utf8PathBuf::new, |dir| relative(root, dir));
    let (mut targets, mut dependencies) = (package.targets.clone(), package.dependencies.clone());
    let paths = dependencies.iter_mut().filter_map(|dependency| dependency.path.as_mut());
    for path in paths.chain(targets.iter_mut().map(|target| &mut target.root)) {
        *path = relative(root, path);
    }
    Package {
        name: package.name.clone(),
        dir,
        targets,
        dependencies,
        features: package.features.clone(),
        member: true,
        ..Package::default()
    }
}

/// Returns a path relative to the root, with `..` if it is outside.
pub(crate) fn relative(root: &Utf8Path, path: &Utf8Path) -> Utf8PathBuf {
    let path = normal(path);
    for (depth, base) in root.ancestors().enumerate() {
        if let Ok(rest) = path.strip_prefix(base) {
            return std::iter::repeat_n("..", depth).collect::<Utf8PathBuf>().join(rest);
        }
    }
    path
}

/// Assigns each file to the package with the deepest directory that contains it.
fn assign(packages: &mut [Package], files: &[Utf8PathBuf]) {
    let dirs: BTreeMap<Utf8PathBuf, usize> =
        packages.iter().enumerate().map(|(index, package)| (package.dir.clone(), index)).collect();
    for file in files {
        let owner = file.ancestors().skip(1).find_map(|dir| dirs.get(dir));
        if let Some(package) = owner.and_then(|owner| packages.get_mut(*owner)) {
            package.files.push(file.clone());
        }
    }
    // A target's root belongs to its package, also outside the directory and under another extension.
    for package in packages.iter_mut() {
        package.files.extend(package.targets.iter().map(|target| target.root.clone()));
        package.files.sort();
        package.files.dedup();
    }
}

/// Returns `true` if the `[lints]` of a manifest, or those of the workspace that it inherits, forbid unsafe code.
fn forbids_unsafe(manifest: &str, root: &str) -> bool {
    let forbids = |text: &str, path: &[&str]| {
        let document = DeTable::parse(text).ok()?;
        let level = match dig(document.get_ref(), path)?.get_ref() {
            DeValue::Table(table) => dig(table, &["level"])?.get_ref().as_str()?.to_owned(),
            other => other.as_str()?.to_owned(),
        };
        Some(level == "forbid")
    };
    let inherits = || {
        let document = DeTable::parse(manifest).ok()?;
        dig(document.get_ref(), &["lints", "workspace"])?.get_ref().as_bool()
    };
    forbids(manifest, &["lints", "rust", "unsafe_code"]).unwrap_or_else(|| {
        inherits() == Some(true)
            && forbids(root, &["workspace", "lints", "rust", "unsafe_code"]) == Some(true)
    })
}

/// Reads cargo's config files at the root, in the packages' directories, and in the directories between.
fn cargo_configs(root: &Utf8Path, packages: &[Package]) -> Vec<Manifest> {
    let mut dirs: BTreeSet<Utf8PathBuf> = BTreeSet::from([Utf8PathBuf::new()]);
    for package in packages {
        dirs.extend(package.dir.ancestors().map(Utf8Path::to_path_buf));
    }
    let mut found = Vec::new();
    for dir in dirs {
        for name in [".cargo/config.toml", ".cargo/config"] {
            let path = dir.join(name);
            if let Ok(text) = disk::read_text(&root.join(&path)) {
                found.push(Manifest { path, text });
            }
        }
    }
    found
}
