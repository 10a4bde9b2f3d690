//! Runs over a workspace on disk.

use camino::{Utf8Path, Utf8PathBuf};

use crate::FenceError;
use crate::config::FenceConfig;
use crate::input::disk;
use crate::input::workspace::{self, DiskWorkspace};
use crate::report::FenceReport;
use crate::run::{self, RunOptions};

/// A workspace on disk with its config.
///
/// # Guarantees
/// The only program that a run starts is `cargo metadata`. A run builds nothing and writes nothing.
///
/// # Examples
/// ```no_run
/// let fence = plugward_fence::Fence::from_workspace(".".into())?;
/// let report = fence.run()?;
/// for finding in report.findings() {
///     println!("{}: {}", finding.rule, finding.message);
/// }
/// # Ok::<(), plugward_fence::FenceError>(())
/// ```
#[derive(Debug)]
pub struct Fence {
    root: Utf8PathBuf,
    config: FenceConfig,
    options: RunOptions,
}

impl Fence {
    /// Finds the workspace of a directory or a manifest, and reads its config.
    ///
    /// # Errors
    /// - `fence/metadata`: cargo cannot describe the workspace.
    /// - `fence/manifest`: a manifest cannot be read.
    /// - `fence/config`: the config has an unknown key, a wrong type or an invalid value.
    pub fn from_workspace(path: &Utf8Path) -> Result<Self, FenceError> {
        let found = Self::find(path)?;
        let config = found.config()?;
        Ok(Self { root: found.root, config, options: RunOptions::default() })
    }

    pub(crate) fn find(path: &Utf8Path) -> Result<DiskWorkspace, FenceError> {
        workspace::find(&disk::absolute(path)?)
    }

    /// Replaces the workspace's own config.
    #[must_use]
    pub fn with_config(mut self, config: FenceConfig) -> Self {
        self.config = config;
        self
    }

    /// Sets the number of threads. The report does not depend on it.
    #[must_use]
    pub const fn with_threads(mut self, threads: usize) -> Self {
        self.options.threads = threads;
        self
    }

    /// Returns the config of the workspace, as a start for [`Fence::with_config`].
    #[must_use]
    pub const fn config(&self) -> &FenceConfig {
        &self.config
    }

    /// Returns the directory that paths in the report are relative to.
    #[must_use]
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Checks the whole workspace, and runs the planted cases.
    ///
    /// # Errors
    /// The same as for [`Fence::from_workspace`]. Files that cannot be read are not errors but
    /// [`UndecidedReason`] entries of the report.
    ///
    /// [`UndecidedReason`]: crate::UndecidedReason
    pub fn run(&self) -> Result<FenceReport, FenceError> {
        let sources = workspace::find(&self.root)?.sources(&self.config);
        let mut report = run::run(&sources, &self.config, self.options);
        crate::selftest::into(&mut report, &self.config);
        Ok(report)
    }
}
