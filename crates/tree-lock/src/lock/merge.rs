//! Merging entries of version 1 that have the same path.

use super::entry::LockEntry;

/// Merges the entry of one dialect into that of another for the same directory.
///
/// Version 1 had one entry for each dialect of a directory, version 2 has one for the directory. Values that decide
/// whether the plugin loads must be equal; values that only inform are united or dropped.
///
/// # Errors
/// The key of the first value that had to be equal and is not.
pub(super) fn merge(first: &mut LockEntry, second: LockEntry) -> Result<(), &'static str> {
    let LockEntry {
        dialects,
        source,
        version,
        manifest,
        entry,
        tree,
        exclude,
        executable,
        shared,
        surface,
        launchers,
        // Version 1 does not have these keys.
        closure: _,
        unresolved: _,
        files: _,
    } = second;
    for (key, is_equal) in [
        ("tree", first.tree == tree),
        ("exclude", first.exclude == exclude),
        ("shared", first.shared == shared),
        ("entry", first.entry == entry),
    ] {
        if !is_equal {
            return Err(key);
        }
    }
    for (dialect, digest) in manifest {
        // Two ids of one dialect can name the same directory, which has one manifest of that dialect.
        if first.manifest.insert(dialect, digest).is_some_and(|other| other != digest) {
            return Err("manifest");
        }
    }
    first.dialects.extend(dialects);
    first.executable.extend(executable);
    first.launchers.extend(launchers);
    // These describe the whole directory. If the entries differ, it is not known which of them does.
    if first.surface != surface {
        first.surface = None;
    }
    if first.version != version {
        first.version = None;
    }
    if first.source != source {
        first.source = None;
    }
    Ok(())
}
