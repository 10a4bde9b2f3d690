//! File system access and calls of cargo. No other module does either.
#![expect(
    clippy::disallowed_methods,
    reason = "the fence reads a trusted workspace by path, and no plugin chooses a path"
)]

use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeSet;
use std::io;
use std::process::Command;

use crate::FenceError;
use crate::report::error::FenceErrorKind;
use crate::syntax::parse::MAX_BYTES;

/// Reads a file; `Ok(None)` if it does not exist.
pub(crate) fn read(path: &Utf8Path) -> io::Result<Option<Vec<u8>>> {
    let meta = match std::fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    // Opening a FIFO or a device could block or never end.
    if !meta.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    if usize::try_from(meta.len()).map_or(true, |len| len > MAX_BYTES) {
        let what = format!("the file has {} bytes, and the limit is {}", meta.len(), MAX_BYTES);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads a text file that has to exist.
pub(crate) fn read_text(path: &Utf8Path) -> Result<String, FenceError> {
    let fault = |problem: String| FenceError::new(FenceErrorKind::Manifest, path.as_str(), problem);
    let bytes = read(path).map_err(|error| fault(error.to_string()))?;
    let bytes = bytes.ok_or_else(|| fault("no such file".to_owned()))?;
    String::from_utf8(bytes).map_err(|error| fault(error.to_string()))
}

/// Returns the absolute form of a path to an existing directory.
pub(crate) fn absolute(path: &Utf8Path) -> Result<Utf8PathBuf, FenceError> {
    let full = path.canonicalize_utf8();
    full.map_err(|error| FenceError::new(FenceErrorKind::Manifest, path.as_str(), error.to_string()))
}

/// Runs `cargo metadata` without dependencies and without network access.
pub(crate) fn cargo_metadata(manifest: &Utf8Path) -> Result<Vec<u8>, FenceError> {
    let fault = |problem: String| FenceError::new(FenceErrorKind::Metadata, manifest.as_str(), problem);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(manifest)
        .output()
        .map_err(|error| fault(format!("cannot start cargo: {error}")))?;
    if !output.status.success() {
        return Err(fault(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    Ok(output.stdout)
}

/// The contents of a directory: sources and manifests, by path relative to the root.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) sources: Vec<Utf8PathBuf>,
    pub(crate) manifests: Vec<Utf8PathBuf>,
    pub(crate) faults: Vec<String>,
}

/// Lists a directory recursively, without `.git` and the directories to skip. Each symlinked directory is
/// listed once, so that a link to a parent directory ends the recursion.
pub(crate) fn list(
    root: &Utf8Path,
    start: &Utf8Path,
    skip: &BTreeSet<Utf8PathBuf>,
    seen: &mut VisitedFiles,
) -> Listing {
    let mut listing = Listing::default();
    let mut stack = vec![start.to_path_buf()];
    while let Some(relative) = stack.pop() {
        let full = root.join(&relative);
        if skip.contains(&full) || !seen.first_time(&full) {
            continue;
        }
        let entries = full.read_dir_utf8().and_then(|entries| {
            entries
                .map(|entry| entry.and_then(|entry| Ok((entry.file_type()?, entry))))
                .collect::<Result<Vec<_>, _>>()
        });
        let entries = entries.unwrap_or_else(|error| {
            listing.faults.push(format!("cannot list {relative}: {error}"));
            Vec::new()
        });
        for (kind, entry) in entries {
            let (link, path) = (kind.is_symlink(), relative.join(entry.file_name()));
            // A dangling symlink contains no code.
            let is_dir =
                kind.is_dir() || link && std::fs::metadata(entry.path()).is_ok_and(|meta| meta.is_dir());
            if is_dir && entry.file_name() != ".git" {
                stack.push(path);
            } else if entry.file_name() == "Cargo.toml" {
                listing.manifests.push(path);
            } else if !is_dir && path.extension() == Some("rs") && (!link || seen.first_time(entry.path())) {
                listing.sources.push(path);
            }
        }
    }
    listing.sources.sort();
    listing.manifests.sort();
    listing
}

/// Visited files and directories by their path without symlinks.
#[derive(Debug, Default)]
pub(crate) struct VisitedFiles(BTreeSet<Utf8PathBuf>);

impl VisitedFiles {
    fn first_time(&mut self, path: &Utf8Path) -> bool {
        path.canonicalize_utf8().map_or(true, |full| self.0.insert(full))
    }
}
