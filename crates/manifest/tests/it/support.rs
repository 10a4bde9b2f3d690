//! Helpers for several tests: directories as `MapFiles`, and one `check` that returns codes.

use std::path::{Path, PathBuf};

use plugward_manifest::{
    Dialect, FileMode, Manifest, ManifestErrors, MapFiles, PluginContext, find_dialects, read,
};

/// Returns the directory next to the workspace with third-party material; most machines do not have it.
pub(crate) fn shared(part: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(part);
    if path.is_dir() {
        return Some(path);
    }
    // The checkout can be inside a directory of work trees.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared").join(part);
    path.is_dir().then_some(path)
}

/// Reads every file under a directory; symlinks are not followed.
pub(crate) fn load(directory: &Path) -> MapFiles {
    let mut files = MapFiles::new();
    let mut left = vec![directory.to_path_buf()];
    while let Some(dir) = left.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                left.push(entry.path());
            } else if kind.is_file() {
                let path = entry.path().strip_prefix(directory).unwrap().to_str().unwrap().replace('\\', "/");
                files.insert(&path, std::fs::read(entry.path()).unwrap(), mode_of(&entry.path()));
            }
        }
    }
    files
}

#[cfg(unix)]
fn mode_of(path: &Path) -> FileMode {
    use std::os::unix::fs::PermissionsExt as _;
    let bits = std::fs::metadata(path).unwrap().permissions().mode();
    if bits & 0o100 == 0 { FileMode::Plain } else { FileMode::Executable }
}

#[cfg(not(unix))]
fn mode_of(_path: &Path) -> FileMode {
    FileMode::Plain
}

/// Reads one file of one dialect.
pub(crate) fn read_one(dialect: Dialect, text: &str) -> Result<Manifest, ManifestErrors> {
    let files = MapFiles::new().with(dialect.main_file().unwrap(), text);
    read(dialect, &files, &PluginContext::without_directory())
}

/// Returns the codes of the errors, in order.
pub(crate) fn error_codes(result: &Result<Manifest, ManifestErrors>) -> Vec<&'static str> {
    result
        .as_ref()
        .err()
        .map(|errors| errors.iter().map(plugward_manifest::ManifestError::code).collect())
        .unwrap_or_default()
}

/// Returns the codes of the warnings, in order.
pub(crate) fn notice_codes(manifest: &Manifest) -> Vec<&'static str> {
    manifest.warnings().iter().map(plugward_manifest::ManifestWarning::code).collect()
}

/// Returns the dialects of a directory.
pub(crate) fn dialects(files: &MapFiles) -> Vec<&'static str> {
    find_dialects(files).into_iter().map(Dialect::as_str).collect()
}
