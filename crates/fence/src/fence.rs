//! The fence over a workspace on disk.

use camino::{Utf8Path, Utf8PathBuf};

use crate::config::Config;
use crate::report::Report;
use crate::run::{self, Options};
use crate::workspace::{self, Found};
use crate::{FenceError, disk};

/// A workspace and what is asked of it.
///
/// # Guarantees
/// Nothing of the workspace is built or run but `cargo metadata`; nothing is written.
#[derive(Debug)]
pub struct Fence {
    root: Utf8PathBuf,
    manifest: Utf8PathBuf,
    config: Config,
    threads: Option<usize>,
}

impl Fence {
    /// Finds the workspace that a folder or a manifest belongs to, and reads its config.
    ///
    /// # Errors
    /// `fence/metadata` where cargo cannot describe it, `fence/manifest` where a manifest cannot be read,
    /// `fence/config` where the config has an unknown key, a wrong type or a value that makes no sense.
    pub fn from_workspace(path: &Utf8Path) -> Result<Self, FenceError> {
        let found = Self::find(path)?;
        let config = found.config()?;
        let manifest = found.root.join("Cargo.toml");
        Ok(Self { root: found.root, manifest, config, threads: None })
    }

    pub(crate) fn find(path: &Utf8Path) -> Result<Found, FenceError> {
        let full = disk::absolute(path)?;
        workspace::find(&full)
    }

    /// Takes another config than the workspace's own.
    #[must_use]
    pub fn with_config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Sets how many threads are used; the answer is the same for any number.
    #[must_use]
    pub const fn with_threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Gives the config, to be changed and handed back.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Gives the folder that paths in the report start from.
    #[must_use]
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Looks at the whole workspace, after the planted cases.
    ///
    /// # Errors
    /// As [`Fence::from_workspace`].
    pub fn run(&self) -> Result<Report, FenceError> {
        let found = workspace::find(&self.manifest)?;
        let sources = found.sources(&self.config);
        let mut options = Options::default();
        if let Some(threads) = self.threads {
            options.threads = threads;
        }
        let mut report = run::run(&sources, &self.config, options);
        crate::selftest::into(&mut report, &self.config);
        Ok(report)
    }
}
