//! The only place that reads the file system and runs cargo.
#![expect(
    clippy::disallowed_methods,
    reason = "a check of a whole workspace reads it by path: nothing here is handed in by a plugin"
)]

use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeSet;
use std::io;
use std::process::Command;

use crate::FenceError;
use crate::error::FenceErrorKind;

/// Reads a file. `Ok(None)`: there is none.
pub(crate) fn read(path: &Utf8Path) -> io::Result<Option<Vec<u8>>> {
    let meta = match std::fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !meta.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    if usize::try_from(meta.len()).map_or(true, |len| len > crate::parse::MAX_BYTES) {
        let what = format!("it has {} bytes; at most {} are read", meta.len(), crate::parse::MAX_BYTES);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Gives the length of a file, or 0.
pub(crate) fn size(path: &Utf8Path) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| meta.len())
}

/// Reads a text file that has to be there.
pub(crate) fn read_text(path: &Utf8Path) -> Result<String, FenceError> {
    let fault =
        |problem: String| FenceError::new(FenceErrorKind::Manifest { path: path.to_string(), problem });
    let bytes = read(path).map_err(|error| fault(error.to_string()))?;
    let bytes = bytes.ok_or_else(|| fault("it is not there".to_owned()))?;
    String::from_utf8(bytes).map_err(|error| fault(error.to_string()))
}

/// Gives the absolute form of a path, for a folder that is there.
pub(crate) fn absolute(path: &Utf8Path) -> Result<Utf8PathBuf, FenceError> {
    let fault =
        |problem: String| FenceError::new(FenceErrorKind::Manifest { path: path.to_string(), problem });
    let full = std::path::absolute(path).map_err(|error| fault(error.to_string()))?;
    let full = full.canonicalize().map_err(|error| fault(error.to_string()))?;
    Utf8PathBuf::from_path_buf(full).map_err(|path| fault(format!("{} is not UTF-8", path.display())))
}

/// Gives the folder that the program was started in.
pub(crate) fn working_folder() -> Result<Utf8PathBuf, FenceError> {
    let fault = |problem: String| FenceError::usage(format!("the working folder: {problem}"));
    let dir = std::env::current_dir().map_err(|error| fault(error.to_string()))?;
    Utf8PathBuf::from_path_buf(dir).map_err(|path| fault(format!("{} is not UTF-8", path.display())))
}

/// Runs `cargo metadata` without dependencies and without the network.
pub(crate) fn cargo_metadata(manifest: &Utf8Path) -> Result<Vec<u8>, FenceError> {
    let fault = |problem: String| FenceError::new(FenceErrorKind::Metadata { problem });
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(manifest)
        .output()
        .map_err(|error| fault(format!("cargo does not start: {error}")))?;
    if !output.status.success() {
        return Err(fault(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    Ok(output.stdout)
}

/// What lies in a folder: sources and manifests, by path relative to the root.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) sources: Vec<Utf8PathBuf>,
    pub(crate) manifests: Vec<Utf8PathBuf>,
    pub(crate) faults: Vec<String>,
}

/// Lists a folder and everything below it but `.git` and the folders to skip. Links are followed once.
pub(crate) fn list(
    root: &Utf8Path,
    start: &Utf8Path,
    skip: &BTreeSet<Utf8PathBuf>,
    seen: &mut Seen,
) -> Listing {
    let mut listing = Listing::default();
    let mut stack = vec![start.to_path_buf()];
    while let Some(relative) = stack.pop() {
        let full = root.join(&relative);
        if skip.contains(&full) || !seen.first_time(&full) {
            continue;
        }
        let entries = match full.read_dir_utf8() {
            Ok(entries) => entries,
            Err(error) => {
                listing.faults.push(format!("{relative} cannot be listed: {error}"));
                continue;
            }
        };
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    listing.faults.push(format!("a name in {relative} cannot be read: {error}"));
                    continue;
                }
            };
            one(&entry, &relative, &mut listing, &mut stack, seen);
        }
    }
    listing.sources.sort();
    listing.manifests.sort();
    listing
}

fn one(
    entry: &camino::Utf8DirEntry,
    relative: &Utf8Path,
    listing: &mut Listing,
    stack: &mut Vec<Utf8PathBuf>,
    seen: &mut Seen,
) {
    let name = entry.file_name();
    let path = relative.join(name);
    let Ok(mut kind) = entry.file_type() else { return };
    let link = kind.is_symlink();
    if link {
        // A link that leads nowhere holds no code.
        let Ok(meta) = std::fs::metadata(entry.path()) else { return };
        kind = meta.file_type();
    }
    if kind.is_dir() {
        if name != ".git" {
            stack.push(path);
        }
    } else if name == "Cargo.toml" {
        listing.manifests.push(path);
    } else if entry.path().extension() == Some("rs") && (!link || seen.first_time(entry.path())) {
        listing.sources.push(path);
    }
}

/// Files and folders by identity.
#[derive(Debug, Default)]
pub(crate) struct Seen(BTreeSet<(u64, u64)>);

impl Seen {
    #[cfg(unix)]
    fn first_time(&mut self, path: &Utf8Path) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        std::fs::metadata(path).map_or(true, |meta| self.0.insert((meta.dev(), meta.ino())))
    }

    #[cfg(not(unix))]
    fn first_time(&mut self, path: &Utf8Path) -> bool {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        path.canonicalize().map_or(true, |full| {
            let mut hasher = DefaultHasher::new();
            full.hash(&mut hasher);
            self.0.insert((0, hasher.finish()))
        })
    }
}
