//! Gives the crate a digest of its own sources, so that a cache of an older version is not read by a newer one.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a build script reads the sources of its crate"
)]

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

/// Every file below a folder.
fn files(folder: &Path, out: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files(&path, out)?;
        } else {
            out.push(path);
        }
    }
    Ok(())
}

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src");
    let mut paths = Vec::new();
    files(Path::new("src"), &mut paths)?;
    // Folders are listed in any order.
    paths.sort();
    let mut hasher = DefaultHasher::new();
    for path in paths {
        path.hash(&mut hasher);
        std::fs::read(&path)?.hash(&mut hasher);
    }
    println!("cargo::rustc-env=PLUGWARD_SCANNER_SOURCES={:016x}", hasher.finish());
    Ok(())
}
