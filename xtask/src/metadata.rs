//! The parts of `cargo metadata` that the checks use.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// The output of `cargo metadata` for this workspace.
pub(crate) struct Metadata {
    json: Value,
}

impl Metadata {
    /// Runs `cargo metadata`.
    pub(crate) fn read() -> Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "this program starts cargo and nothing else")]
        let (cargo, output) = {
            let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
            let output = Command::new(&cargo)
                .args(["metadata", "--format-version", "1", "--locked", "--all-features"])
                .current_dir(root())
                .output();
            (cargo, output)
        };
        let output = output.with_context(|| format!("start {cargo} metadata"))?;
        if !output.status.success() {
            bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(Self { json: serde_json::from_slice(&output.stdout).context("read cargo metadata")? })
    }

    /// Returns all packages, those of the workspace and its dependencies.
    pub(crate) fn packages(&self) -> impl Iterator<Item = Package<'_>> {
        array(&self.json, "packages").iter().map(Package)
    }

    /// Returns the packages of the workspace.
    pub(crate) fn members(&self) -> impl Iterator<Item = Package<'_>> {
        let members: BTreeSet<&str> =
            array(&self.json, "workspace_members").iter().filter_map(Value::as_str).collect();
        self.packages().filter(move |package| members.contains(package.id()))
    }

    /// Returns the lists in `[workspace.metadata.<key>]`, by name.
    pub(crate) fn workspace(&self, key: &str) -> Result<BTreeMap<String, BTreeSet<String>>> {
        let table = self
            .json
            .pointer(&format!("/metadata/{key}"))
            .and_then(Value::as_object)
            .with_context(|| format!("Cargo.toml has no [workspace.metadata.{key}]"))?;
        Ok(table
            .iter()
            .map(|(name, list)| {
                let names = list.as_array().into_iter().flatten().filter_map(Value::as_str);
                (name.clone(), names.map(str::to_owned).collect())
            })
            .collect())
    }

    /// Returns the numbers in `[workspace.metadata.<key>]`, by name.
    pub(crate) fn numbers(&self, key: &str) -> Result<BTreeMap<String, u64>> {
        let table = self
            .json
            .pointer(&format!("/metadata/{key}"))
            .and_then(Value::as_object)
            .with_context(|| format!("Cargo.toml has no [workspace.metadata.{key}]"))?;
        Ok(table.iter().filter_map(|(name, number)| Some((name.clone(), number.as_u64()?))).collect())
    }
}

/// Returns the dependencies of a package on this platform with default features, without dev-dependencies.
pub(crate) fn closure(package: &Package<'_>) -> BTreeSet<String> {
    tree(package.name()).into_iter().filter(|name| name != package.name()).collect()
}

/// Returns the names that `cargo tree` prints: normal and build edges, default features.
fn tree(package: &str) -> BTreeSet<String> {
    #[expect(clippy::disallowed_methods, reason = "this program starts cargo and nothing else")]
    let output = Command::new("cargo")
        .args([
            "tree",
            "--locked",
            "-p",
            package,
            "-e",
            "normal,build",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ])
        .current_dir(root())
        .output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

/// Returns the directory that cargo builds in.
///
/// # Errors
///
/// `cargo metadata` failed.
pub fn target_directory() -> Result<String> {
    let metadata = Metadata::read()?;
    let directory = metadata.json.get("target_directory").and_then(Value::as_str);
    directory.map(str::to_owned).context("cargo metadata has no target directory")
}

/// Returns the directory of the workspace.
#[must_use]
pub fn root() -> &'static std::path::Path {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// Reads a file of the repository, by its path from the root.
///
/// # Errors
///
/// The file cannot be read or is not UTF-8.
pub fn text(name: &str) -> Result<String> {
    #[expect(clippy::disallowed_methods, reason = "a repository check reads the repository")]
    let text = std::fs::read_to_string(root().join(name));
    text.with_context(|| format!("read {name}"))
}

fn array<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A package in the output of `cargo metadata`.
pub(crate) struct Package<'a>(&'a Value);

impl<'a> Package<'a> {
    fn str(&self, key: &str) -> &'a str {
        self.0.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn id(&self) -> &'a str {
        self.str("id")
    }

    pub(crate) fn name(&self) -> &'a str {
        self.str("name")
    }

    pub(crate) fn version(&self) -> &'a str {
        self.str("version")
    }

    /// Returns `true` unless the package has `publish = false`.
    pub(crate) fn is_published(&self) -> bool {
        self.0.get("publish").and_then(Value::as_array).is_none_or(|registries| !registries.is_empty())
    }

    pub(crate) fn license(&self) -> &'a str {
        self.str("license")
    }

    pub(crate) fn rust_version(&self) -> &'a str {
        self.str("rust_version")
    }

    /// Returns the source that cargo fetches it from; empty for a package of the workspace.
    pub(crate) fn source(&self) -> &'a str {
        self.str("source")
    }

    /// Returns the absolute path of its directory.
    pub(crate) fn directory(&self) -> &'a str {
        self.str("manifest_path").trim_end_matches("Cargo.toml")
    }

    /// Returns the name of its directory, which is its row in the tables of Cargo.toml.
    pub(crate) fn directory_name(&self) -> &'a str {
        let mut parts = self.str("manifest_path").rsplit(['/', '\\']);
        parts.nth(1).unwrap_or_default()
    }

    /// Returns the names of its normal and build dependencies.
    pub(crate) fn edges(&self) -> BTreeSet<&'a str> {
        array(self.0, "dependencies")
            .iter()
            .filter(|dep| dep.get("kind").and_then(Value::as_str) != Some("dev"))
            .filter_map(|dep| dep.get("name").and_then(Value::as_str))
            .collect()
    }
}
