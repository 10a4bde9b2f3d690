//! A host gets the checked bytes: one value for each plugin that loads, and no path back to the original directory.

use cap_std::fs::Dir;
use plugward_capability::{AnyCapability, Workflow};
use plugward_manifest::{Dialect, Manifest, SurfaceItem};
use plugward_pinstore::Timestamp;
use plugward_sandbox_path::JailError;
use plugward_tree_lock::{Entry, Snapshot};
use plugward_types::PluginKey;

use crate::check::{Done, load};
use crate::gates::mint::{Grants, NoGrants};
use crate::options::{CheckOptions, Keep, NobodyThere, Person, Trust, Unwatched, Watch};
use crate::report::{Decision, PluginReport, Report};
use crate::roots::Root;
use crate::seal::{SealError, Sealed};
use crate::shared::SharedRoots;
use crate::stores::{Host, Stores};
use crate::view::{View, manifests};

/// Checks plugins for a host, with defaults under which nothing new loads.
///
/// # Examples
/// ```no_run
/// use plugward_loader::pinstore::Timestamp;
/// use plugward_loader::sandbox_path::{Jail, Policy};
/// use plugward_loader::{Checker, Outcome, Root, Stores, Trust};
///
/// fn start(mut stores: Stores, now: Timestamp) -> Result<(), Box<dyn std::error::Error>> {
///     let plugins = Jail::open("/srv/host/plugins", Policy::standard())?;
///     let root = Root::placed(plugins, "/srv/host/plugins".parse()?);
///     let checked = Checker::new(&mut stores, now).trust(Trust::Tofu).check(&[root])?;
///     for plugin in checked.into_outcomes() {
///         match plugin {
///             Outcome::Load(loaded) => println!("{}: {:?}", loaded.key(), loaded.bytes("hooks/start.sh")),
///             Outcome::Ask { report } | Outcome::Refuse { report } => println!("not loaded: {}", report.id),
///         }
///     }
///     Ok(())
/// }
/// ```
pub struct Checker<'a> {
    stores: &'a mut Stores,
    options: CheckOptions,
    watch: &'a dyn Watch,
    person: Option<&'a mut dyn Person>,
    grants: &'a dyn Grants,
}

impl core::fmt::Debug for Checker<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Checker").field("options", &self.options).finish_non_exhaustive()
    }
}

impl<'a> Checker<'a> {
    /// Starts with the options of [`CheckOptions::new`], no one to ask and no grants. `now` is written into pins.
    pub fn new(stores: &'a mut Stores, now: Timestamp) -> Self {
        let mut options = CheckOptions::new(now, "host");
        options.keep = Keep::Loads { bytes: 512 << 20 };
        Self { stores, options, watch: &Unwatched, person: None, grants: &NoGrants }
    }

    /// Sets what happens to new plugins.
    #[must_use]
    pub const fn trust(mut self, trust: Trust) -> Self {
        self.options.trust = trust;
        self
    }

    /// Sets how many bytes of loaded plugins are kept in memory.
    #[must_use]
    pub fn keep(mut self, keep: Keep) -> Self {
        self.options.keep = keep;
        self
    }

    /// Sets who answers questions about new plugins.
    #[must_use]
    pub fn person(mut self, person: &'a mut dyn Person) -> Self {
        self.person = Some(person);
        self
    }

    /// Sets who hears how far the check is.
    #[must_use]
    pub const fn watch(mut self, watch: &'a dyn Watch) -> Self {
        self.watch = watch;
        self
    }

    /// Sets which capabilities plugins get.
    #[must_use]
    pub const fn grants(mut self, grants: &'a dyn Grants) -> Self {
        self.grants = grants;
        self
    }

    /// Replaces all options that have no setter of their own.
    #[must_use]
    pub fn options(mut self, change: impl FnOnce(&mut CheckOptions)) -> Self {
        change(&mut self.options);
        self
    }

    /// Checks the plugins of some roots.
    ///
    /// # Errors
    /// [`CheckError`] if there are no stores to check against, or a root's directory cannot be opened any more. A
    /// verdict is never an error.
    pub fn check(mut self, roots: &[Root]) -> Result<Checked, CheckError> {
        if self.stores.record.is_nowhere() {
            return Err(CheckError::NoStores);
        }
        for root in roots.iter().filter(|root| root.dir != ".") {
            if let Err(error) = root.jail.metadata(root.dir.as_str()) {
                return Err(CheckError::Root { label: root.label.clone(), message: error.to_string() });
            }
        }
        let mut nobody = NobodyThere;
        let person = self.person.unwrap_or(&mut nobody);
        let mut host = Host { watch: self.watch, person, grants: self.grants };
        Ok(load(roots, self.stores, &mut self.options, &mut host))
    }
}

/// Why plugins could not be checked at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The stores keep no record, so nothing could load.
    #[error("check plugins: the stores have no ledger; open one with Record::open")]
    NoStores,
    /// A root's directory cannot be opened.
    #[error("open {label}: {message}")]
    Root {
        /// The label of the root.
        label: String,
        /// The cause.
        message: String,
    },
    /// A jail cannot be opened.
    #[error(transparent)]
    Jail(#[from] JailError),
}

/// The complete result of a check.
#[derive(Debug)]
#[must_use]
pub struct Checked {
    report: Report,
    outcomes: Vec<Outcome>,
    workflow: Option<Workflow>,
}

/// What became of one plugin.
#[derive(Debug)]
#[must_use = "only Load loads"]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
#[expect(clippy::large_enum_variant, reason = "hosts match on values that are consumed one by one")]
pub enum Outcome {
    /// Every gate passed; here are the checked bytes.
    Load(Loaded),
    /// No gate refused, and a person has to decide.
    Ask {
        /// The plugin's report.
        report: PluginReport,
    },
    /// At least one gate refused, or the plugin could not be checked.
    Refuse {
        /// The plugin's report.
        report: PluginReport,
    },
}

impl Checked {
    pub(crate) fn new(done: Done) -> Self {
        let Done { report, all, mut granted, workflow } = done;
        let rows = report.plugins.iter().cloned();
        let outcomes = all.into_iter().zip(rows).map(|(one, report)| {
            let granted = granted.remove(&one.key).unwrap_or_default();
            match (report.decision, one.snapshot) {
                (Decision::Load, Some(snapshot)) => {
                    let (key, views, shared) = (one.key, one.views, one.shared);
                    Outcome::Load(Loaded { key, snapshot, views, shared, granted, report })
                }
                (Decision::Ask, _) => Outcome::Ask { report },
                // Without its bytes nothing can be loaded.
                (Decision::Refuse | Decision::Load, _) => Outcome::Refuse { report },
            }
        });
        let outcomes = outcomes.collect();
        Self { report, outcomes, workflow }
    }

    /// Returns the report on all plugins.
    #[must_use]
    pub const fn report(&self) -> &Report {
        &self.report
    }

    /// Takes the unit of work of the grants; the host closes it when its plugins have ended
    /// ([`crate::Record::close`]).
    pub fn take_workflow(&mut self) -> Option<Workflow> {
        self.workflow.take()
    }

    /// Returns what became of each plugin, in the order of the report.
    pub fn into_outcomes(self) -> impl Iterator<Item = Outcome> {
        self.outcomes.into_iter()
    }
}

/// One plugin that loads, with its checked bytes.
///
/// # Guarantees
/// It exists only if every gate passed and the record of the decision was written. The bytes are those that the gates
/// saw; a later change of the original directory has no effect on them, and no accessor leads back to it.
#[derive(Debug)]
#[must_use]
pub struct Loaded {
    key: PluginKey,
    snapshot: Snapshot,
    views: Vec<View>,
    shared: SharedRoots,
    granted: Vec<AnyCapability>,
    report: PluginReport,
}

impl Loaded {
    /// Returns the key under which the plugin is pinned.
    #[must_use]
    pub const fn key(&self) -> &PluginKey {
        &self.key
    }

    /// Returns the plugin's report.
    #[must_use]
    pub const fn report(&self) -> &PluginReport {
        &self.report
    }

    /// Returns the manifest of one dialect.
    #[must_use]
    pub fn manifest(&self, dialect: Dialect) -> Option<&Manifest> {
        manifests(&self.views).find(|manifest| manifest.dialect() == dialect)
    }

    /// Returns the bytes of a file. Symlinks are followed inside the plugin; a path that starts with `../` leads to a
    /// shared directory that was checked with it.
    #[must_use]
    pub fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.snapshot.file(path).map(Entry::bytes).or_else(|| self.shared.bytes(path))
    }

    /// Returns all files and symlinks, in bytewise order of their paths.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.snapshot.entries()
    }

    /// Returns everything that can run or enter a prompt, by dialect.
    pub fn surface(&self) -> impl Iterator<Item = (Dialect, &SurfaceItem)> {
        manifests(&self.views)
            .flat_map(|manifest| manifest.surface().iter().map(|item| (manifest.dialect(), item)))
    }

    /// Writes the checked bytes to a new private, read-only directory inside `dir`, and digests them again.
    ///
    /// `dir` should be writable by this user alone: whoever can write it can replace the new directory as a whole.
    ///
    /// # Errors
    /// [`SealError`] if the directory cannot be written, or what was written has another digest.
    pub fn seal_into(&self, dir: &Dir) -> Result<Sealed, SealError> {
        Sealed::write(&self.snapshot, &self.shared, dir)
    }

    /// Takes the capabilities that were granted.
    pub fn take_granted(&mut self) -> Vec<AnyCapability> {
        core::mem::take(&mut self.granted)
    }
}
