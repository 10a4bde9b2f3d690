//! The packages of the scan benchmark: fetched by exact version, held to a digest, unpacked to an ignored folder.
#![expect(clippy::disallowed_types, reason = "folders of the repository")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use sha2::{Digest as _, Sha512};

use crate::Outcome;
use crate::metadata::{root, text};

const LOCK: &str = "benches/corpus.lock";
/// What is unpacked of a tarball.
const ENDINGS: &[&str] = &["*.js", "*.mjs", "*.cjs", "*.jsx", "*.ts", "*.mts", "*.cts", "*.tsx"];

/// One line of the lock.
pub(crate) struct Package {
    pub(crate) group: String,
    pub(crate) name: String,
    version: String,
    digest: String,
}

impl Package {
    /// The folder that it is unpacked to.
    pub(crate) fn folder(&self) -> PathBuf {
        let name = self.name.trim_start_matches('@').replace('/', "-");
        folder().join(&self.group).join(format!("{name}-{}", self.version))
    }
}

/// The folder of the corpus.
pub(crate) fn folder() -> PathBuf {
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

/// Fetches what is not there yet. A package that cannot be had is an error of its own; the others are fetched.
pub(crate) fn fetch(only: Option<&str>) -> Result<Outcome> {
    let wanted = |package: &Package| {
        only.is_none_or(|only| package.name.contains(only) || package.group.contains(only))
    };
    let packages: Vec<Package> = packages()?.into_iter().filter(wanted).collect();
    let mut wrong = Vec::new();
    let mut fresh = 0_usize;
    for package in &packages {
        if package.folder().is_dir() {
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

#[expect(clippy::disallowed_methods, reason = "this task writes an ignored folder of the repository")]
fn unpack(package: &Package) -> Result<()> {
    let target = package.folder();
    let work = folder().join("partial");
    if work.exists() {
        std::fs::remove_dir_all(&work).context("remove what an earlier run left")?;
    }
    let files = work.join("files");
    std::fs::create_dir_all(&files).context("make the folder")?;
    let spec = format!("{}@{}", package.name, package.version);
    run(Command::new("npm").args(["pack", &spec, "--ignore-scripts", "--silent"]).current_dir(&work))?;
    let tarball = tarball(&work)?;
    let bytes = std::fs::read(&tarball).context("read the tarball")?;
    let mut digest = String::new();
    for byte in Sha512::digest(&bytes) {
        write!(digest, "{byte:02x}").context("write a digest")?;
    }
    if digest != package.digest {
        bail!("the tarball has SHA-512 {digest}, the lock says {}", package.digest);
    }
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(&tarball).arg("-C").arg(&files);
    tar.args(["--no-same-owner", "--wildcards", "--ignore-case"]).args(ENDINGS);
    // tar answers 2 where one of the endings does not occur; what was unpacked shows itself.
    let output = tar.output().context("start tar")?;
    if std::fs::read_dir(&files).context("list what was unpacked")?.next().is_none() {
        bail!("nothing was unpacked: {}", String::from_utf8_lossy(&output.stderr));
    }
    let parent = target.parent().context("the folder has a parent")?;
    std::fs::create_dir_all(parent).context("make the folder")?;
    std::fs::rename(&files, &target).context("move the files to their place")?;
    std::fs::remove_dir_all(&work).context("remove the tarball")
}

#[expect(clippy::disallowed_methods, reason = "this task lists an ignored folder of the repository")]
fn tarball(work: &Path) -> Result<PathBuf> {
    for entry in std::fs::read_dir(work).context("list the folder")? {
        let path = entry.context("list the folder")?.path();
        if path.extension().is_some_and(|ending| ending == "tgz") {
            return Ok(path);
        }
    }
    bail!("npm gave no tarball")
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output().context("start npm")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
