//! Fetches the packages of the scan benchmark by exact version, checks their digests and unpacks them to an ignored directory.
#![expect(clippy::disallowed_types, reason = "directories of the repository")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use sha2::{Digest as _, Sha512};

use xtask::{Outcome, root, text};

const LOCK: &str = "benches/corpus.lock";
/// The files that are unpacked from a tarball.
const PATTERNS: &[&str] = &["*.js", "*.mjs", "*.cjs", "*.jsx", "*.ts", "*.mts", "*.cts", "*.tsx"];

/// A line of the lock.
pub(crate) struct Package {
    pub(crate) group: String,
    pub(crate) name: String,
    version: String,
    digest: String,
}

impl Package {
    /// Returns the directory that it is unpacked to.
    pub(crate) fn directory(&self) -> PathBuf {
        let name = self.name.trim_start_matches('@').replace('/', "-");
        directory().join(&self.group).join(format!("{name}-{}", self.version))
    }
}

/// Returns the directory of the corpus.
pub(crate) fn directory() -> PathBuf {
    root().join("benches/corpus")
}

/// Reads the lock.
pub(crate) fn packages() -> Result<Vec<Package>> {
    let text = text(LOCK)?;
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
            [group, name, version, digest] => Ok(Package {
                group: group.to_owned(),
                name: name.to_owned(),
                version: version.to_owned(),
                digest: digest.to_owned(),
            }),
            _ => bail!("{LOCK}: not four fields: {line}"),
        })
        .collect()
}

/// Fetches the missing packages. A package that cannot be fetched is an error; the others are still fetched.
pub(crate) fn fetch(only: Option<&str>) -> Result<Outcome> {
    let wanted = |package: &Package| {
        only.is_none_or(|only| package.name.contains(only) || package.group.contains(only))
    };
    let packages: Vec<Package> = packages()?.into_iter().filter(wanted).collect();
    let mut wrong = Vec::new();
    let mut fresh = 0_usize;
    for package in &packages {
        if package.directory().is_dir() {
            continue;
        }
        match unpack(package) {
            Ok(()) => fresh = fresh.saturating_add(1),
            Err(error) => wrong.push(format!("{} {}: {error:#}", package.name, package.version)),
        }
    }
    let looked_at = format!("corpus: {} packages of {LOCK}, {fresh} fetched", packages.len());
    Ok(Outcome { looked_at, wrong })
}

#[expect(clippy::disallowed_methods, reason = "this task writes an ignored directory of the repository")]
fn unpack(package: &Package) -> Result<()> {
    let target = package.directory();
    let work = directory().join("partial");
    if work.exists() {
        std::fs::remove_dir_all(&work).context("remove the files of an earlier run")?;
    }
    let files = work.join("files");
    std::fs::create_dir_all(&files).context("create the directory")?;
    let spec = format!("{}@{}", package.name, package.version);
    run(Command::new("npm").args(["pack", &spec, "--ignore-scripts", "--silent"]).current_dir(&work))?;
    let tarball = tarball(&work)?;
    let bytes = std::fs::read(&tarball).context("read the tarball")?;
    let mut digest = String::new();
    for byte in Sha512::digest(&bytes) {
        write!(digest, "{byte:02x}").context("write a digest")?;
    }
    if digest != package.digest {
        bail!("the tarball has SHA-512 {digest}, expected {}", package.digest);
    }
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(&tarball).arg("-C").arg(&files);
    tar.args(["--no-same-owner", "--wildcards", "--ignore-case"]).args(PATTERNS);
    // tar exits with 2 if one of the patterns matches nothing, so the unpacked files are checked instead.
    let output = tar.output().context("start tar")?;
    if std::fs::read_dir(&files).context("list the unpacked files")?.next().is_none() {
        bail!("nothing was unpacked: {}", String::from_utf8_lossy(&output.stderr));
    }
    let parent = target.parent().context("the directory has no parent")?;
    std::fs::create_dir_all(parent).context("create the directory")?;
    std::fs::rename(&files, &target).context("move the files")?;
    std::fs::remove_dir_all(&work).context("remove the tarball")
}

#[expect(clippy::disallowed_methods, reason = "this task lists an ignored directory of the repository")]
fn tarball(work: &Path) -> Result<PathBuf> {
    for entry in std::fs::read_dir(work).context("list the directory")? {
        let path = entry.context("list the directory")?.path();
        if path.extension().is_some_and(|extension| extension == "tgz") {
            return Ok(path);
        }
    }
    bail!("npm wrote no tarball")
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output().context("start npm")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
