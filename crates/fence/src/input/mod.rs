//! The input of a run: packages with their targets and dependencies, and the bytes of their files.

pub(crate) mod disk;
pub(crate) mod members;
pub(crate) mod workspace;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The table in which a dependency is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "cargo has exactly these three")]
pub enum DependencyKind {
    /// `[dependencies]`.
    Normal,
    /// `[dev-dependencies]`.
    Dev,
    /// `[build-dependencies]`.
    Build,
}

/// One dependency of a package, as `cargo metadata` prints it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Dependency {
    /// The package's name.
    #[serde(rename = "name")]
    pub(crate) package: String,
    /// The name in code, if it differs from the package's.
    pub(crate) rename: Option<String>,
    /// Without a kind it is a normal dependency.
    pub(crate) kind: Option<DependencyKind>,
    /// The directory of a path dependency, relative to the workspace root.
    pub(crate) path: Option<Utf8PathBuf>,
    pub(crate) features: Vec<String>,
}

/// The kind of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(from = "Vec<String>")]
pub(crate) enum TargetKind {
    /// A library or a proc macro, which other packages see under its name.
    Library,
    Test,
    /// A program, an example, a benchmark or a build script.
    Other,
}

impl From<Vec<String>> for TargetKind {
    fn from(kinds: Vec<String>) -> Self {
        match kinds.first().map(String::as_str) {
            Some("test") => Self::Test,
            Some("bin" | "example" | "bench" | "custom-build") => Self::Other,
            // `lib`, `proc-macro`, and the crate types of a library.
            _ => Self::Library,
        }
    }
}

/// A crate root, as `cargo metadata` prints it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: TargetKind,
    #[serde(rename = "src_path")]
    pub(crate) root: Utf8PathBuf,
}

/// A package of the workspace, or a nested one that is not a member.
#[derive(Debug, Clone, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The directory, relative to the root. It is empty for the root package.
    pub(crate) dir: Utf8PathBuf,
    pub(crate) targets: Vec<Target>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) features: BTreeMap<String, Vec<String>>,
    pub(crate) member: bool,
    /// `true` if the `[lints]` table forbids unsafe code.
    pub(crate) forbids_unsafe: bool,
    /// The source files in its directory, without those of nested packages.
    pub(crate) files: Vec<Utf8PathBuf>,
    pub(crate) manifest: Option<Manifest>,
}

impl Package {
    /// Returns the library's name in code.
    pub(crate) fn lib_name(&self) -> Option<String> {
        let lib = self.targets.iter().find(|target| target.kind == TargetKind::Library);
        lib.map(|target| target.name.replace('-', "_"))
    }
}

/// Reads a file by its path relative to the root; `Ok(None)` if it does not exist.
pub(crate) type Reader<'a> = dyn Fn(&Utf8Path) -> std::io::Result<Option<Vec<u8>>> + Sync + 'a;

/// A text file that is not Rust source: a manifest, a lockfile, or a cargo config.
#[derive(Debug, Clone)]
pub(crate) struct Manifest {
    pub(crate) path: Utf8PathBuf,
    pub(crate) text: String,
}

/// The packages and files that a run checks.
///
/// Source files are read on demand. Each is parsed when it is read, and its syntax tree is dropped before the
/// next one.
pub struct Sources<'a> {
    pub(crate) packages: Vec<Package>,
    pub(crate) reader: Box<Reader<'a>>,
    /// The root manifest.
    pub(crate) root: Option<Manifest>,
    pub(crate) lock: Option<Manifest>,
    pub(crate) cargo_config: Vec<Manifest>,
    /// Packages that are not scanned, with the reason.
    pub(crate) skipped: Vec<String>,
    /// Faults that were found while the workspace was read.
    pub(crate) faults: Vec<crate::UndecidedReason>,
}

impl std::fmt::Debug for Sources<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sources").field("packages", &self.packages.len()).finish_non_exhaustive()
    }
}

/// A package for [`Sources::in_memory`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PackageSpec {
    /// The package's name.
    pub name: String,
    /// The directory, relative to the root.
    pub dir: String,
    /// The dependencies: package name, name in code if it differs, and table.
    pub dependencies: Vec<(String, Option<String>, DependencyKind)>,
}

impl PackageSpec {
    /// Describes a package with targets at cargo's default locations.
    #[must_use]
    pub fn new(name: &str, dir: &str) -> Self {
        Self { name: name.to_owned(), dir: dir.to_owned(), dependencies: Vec::new() }
    }

    /// Adds a dependency on another package of the same sources.
    #[must_use]
    pub fn depends_on(mut self, package: &str, rename: Option<&str>, kind: DependencyKind) -> Self {
        self.dependencies.push((package.to_owned(), rename.map(str::to_owned), kind));
        self
    }
}

impl<'a> Sources<'a> {
    /// Creates sources from files in memory, by path relative to the root.
    ///
    /// Targets are detected as cargo does it: `src/lib.rs`, `src/main.rs`, `build.rs`, and the files directly
    /// in `src/bin`, `examples`, `tests` and `benches`.
    #[must_use]
    pub fn in_memory(packages: &[PackageSpec], files: &'a BTreeMap<String, Vec<u8>>) -> Self {
        let packages: Vec<Package> = packages.iter().map(|spec| package_of(spec, packages, files)).collect();
        Self {
            packages,
            reader: Box::new(move |path| Ok(files.get(path.as_str()).cloned())),
            root: None,
            lock: None,
            cargo_config: Vec::new(),
            skipped: Vec::new(),
            faults: Vec::new(),
        }
    }
}

fn package_of(spec: &PackageSpec, all: &[PackageSpec], files: &BTreeMap<String, Vec<u8>>) -> Package {
    let dir = Utf8PathBuf::from(&spec.dir);
    let below: Vec<Utf8PathBuf> = files
        .keys()
        .map(Utf8PathBuf::from)
        .filter(|path| path.starts_with(&dir) && path.extension() == Some("rs"))
        .filter(|path| {
            // A file belongs to the package with the nearest directory.
            !all.iter().any(|other| {
                let other = Utf8Path::new(&other.dir);
                other != dir && other.starts_with(&dir) && path.starts_with(other)
            })
        })
        .collect();
    let dependencies = spec
        .dependencies
        .iter()
        .map(|(package, rename, kind)| Dependency {
            package: package.clone(),
            rename: rename.clone(),
            kind: Some(*kind),
            path: all.iter().find(|other| other.name == *package).map(|other| Utf8PathBuf::from(&other.dir)),
            features: Vec::new(),
        })
        .collect();
    Package {
        targets: conventional_targets(&spec.name, &dir, &below),
        dependencies,
        member: true,
        files: below,
        name: spec.name.clone(),
        dir,
        ..Package::default()
    }
}

/// Detects targets at cargo's default locations.
fn conventional_targets(name: &str, dir: &Utf8Path, files: &[Utf8PathBuf]) -> Vec<Target> {
    let mut targets = Vec::new();
    for file in files {
        let Ok(inside) = file.strip_prefix(dir) else { continue };
        let parts: Vec<&str> = inside.components().map(|part| part.as_str()).collect();
        let found = match parts.as_slice() {
            ["src", "lib.rs"] => Some((TargetKind::Library, name)),
            ["build.rs"] | ["src", "main.rs"] => Some((TargetKind::Other, name)),
            ["src", "bin", one] | ["src", "bin", one, "main.rs"] => Some((TargetKind::Other, *one)),
            ["tests", one] | ["tests", one, "main.rs"] => Some((TargetKind::Test, *one)),
            ["examples" | "benches", one] | ["examples" | "benches", one, "main.rs"] => {
                Some((TargetKind::Other, *one))
            }
            _ => None,
        };
        if let Some((kind, name)) = found {
            let name = name.trim_end_matches(".rs").to_owned();
            targets.push(Target { name, kind, root: file.clone() });
        }
    }
    targets
}
