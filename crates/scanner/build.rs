//! Gives the crate a digest of its own sources, so that a cache of an older version is not read by a newer one, and a number
//! for its rule files, so that a table made of others is not taken for theirs.
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

/// A number for the rule files that is the same with each compiler: FNV-1a over their names and bytes. The table of rules that
/// lies in the sources names the files that it was made of by this number.
fn rules() -> io::Result<u64> {
    let mut paths = Vec::new();
    files(Path::new("rules"), &mut paths)?;
    paths.sort();
    let mut number = 0xcbf2_9ce4_8422_2325_u64;
    for path in paths {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        for byte in [name, &[0], &std::fs::read(&path)?].concat() {
            number = (number ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Ok(number)
}

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=rules");
    println!("cargo::rustc-env=PLUGWARD_SCANNER_RULES={:016x}", rules()?);
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
