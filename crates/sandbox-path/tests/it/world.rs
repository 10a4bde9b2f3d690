//! A directory with a jail in it, and files outside that must stay out of reach.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use plugward_sandbox_path::{Jail, Policy};
use tempfile::TempDir;

/// The text of every file that lies outside.
pub(crate) const OUTSIDE: &str = "outside";

pub(crate) struct World {
    home: TempDir,
}

impl World {
    /// Makes `jail/`, `outside/f` and `jail-evil/f` in a new directory.
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        for directory in ["jail", "outside", "jail-evil"] {
            fs::create_dir(home.path().join(directory)).unwrap();
        }
        fs::write(home.path().join("outside/f"), OUTSIDE).unwrap();
        fs::write(home.path().join("jail-evil/f"), OUTSIDE).unwrap();
        Self { home }
    }

    /// Gives the host path of a name in the jail.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.home.path().join("jail").join(name)
    }

    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn directory(&self, name: &str) -> &Self {
        fs::create_dir_all(self.at(name)).unwrap();
        self
    }

    pub(crate) fn link(&self, target: impl AsRef<Path>, name: &str) -> &Self {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
        self
    }

    /// Opens the jail, once for each tier that this machine has.
    pub(crate) fn jails(&self, policy: Policy) -> Vec<Jail> {
        let jail = Jail::open(self.at(""), policy).unwrap();
        let walking = jail.with_walk_tier().unwrap();
        vec![jail, walking]
    }
}
