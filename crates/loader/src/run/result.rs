//! The host's interface: one value per plugin that loads, with its checked bytes and no path to the
//! original.

use cap_std::fs::Dir;
use plugward_capability::{AnyCapability, Workflow};
use plugward_deep_audit::AuditedBytes;
use plugward_manifest::{Dialect, Manifest, SurfaceItem};
use plugward_pinstore::Timestamp;
use plugward_sandbox_path::JailError;
use plugward_tree_lock::{Snapshot, SnapshotEntry};
use plugward_types::PluginKey;

use crate::contents::audit::audited_bytes;
use crate::contents::seal::{SealError, SealedCopy};
use crate::contents::shared::SharedRoots;
use crate::contents::view::{View, manifests};
use crate::discovery::roots::Root;
use crate::gates::mint::{Grants, NoGrants};
use crate::report::{Decision, PluginReport, Report};
use crate::run::check::{RunResult, load};
use crate::run::options::{ByteRetention, CheckOptions, NoPerson, NoWatch, Person, Trust, Watch};
use crate::state::stores::{Host, Stores};

/// Checks plugins for a host. By default, no new plugin loads.
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
    /// Creates a checker with [`CheckOptions::new`], without a person to ask and without grants.
    /// `now` is stored in pins.
    pub fn new(stores: &'a mut Stores, now: Timestamp) -> Self {
        let mut options = CheckOptions::new(now, "host");
        options.keep = ByteRetention::Loads { bytes: 512 << 20 };
        Self { stores, options, watch: &NoWatch, person: None, grants: &NoGrants }
    }

    /// Sets what happens to new plugins.
    #[must_use]
    pub const fn trust(mut self, trust: Trust) -> Self {
        self.options.trust = trust;
        self
    }

    /// Sets which bytes are kept in memory, and how many.
    #[must_use]
    pub fn keep(mut self, keep: ByteRetention) -> Self {
        self.options.keep = keep;
        self
    }

    /// Sets the person who answers questions about new plugins.
    #[must_use]
    pub fn person(mut self, person: &'a mut dyn Person) -> Self {
        self.person = Some(person);
        self
    }

    /// Sets the observer of the check's progress.
    #[must_use]
    pub const fn watch(mut self, watch: &'a dyn Watch) -> Self {
        self.watch = watch;
        self
    }

    /// Sets the rule for the capabilities that plugins get.
    #[must_use]
    pub const fn grants(mut self, grants: &'a dyn Grants) -> Self {
        self.grants = grants;
        self
    }

    /// Changes options that have no setter of their own.
    #[must_use]
    pub fn options(mut self, change: impl FnOnce(&mut CheckOptions)) -> Self {
        change(&mut self.options);
        self
    }

    /// Checks the plugins under `roots`.
    ///
    /// # Errors
    /// [`CheckError`] if the stores keep no ledger, or the directory of a root cannot be opened any
    /// more. A verdict is never an error.
    pub fn check(mut self, roots: &[Root]) -> Result<CheckResult, CheckError> {
        if self.stores.record.is_nowhere() {
            return Err(CheckError::NoStores);
        }
        for root in roots.iter().filter(|root| root.dir != ".") {
            if let Err(error) = root.jail.metadata(root.dir.as_str()) {
                return Err(CheckError::Root { label: root.label.clone(), message: error.to_string() });
            }
        }
        let mut nobody = NoPerson;
        let person = self.person.unwrap_or(&mut nobody);
        let mut host = Host { watch: self.watch, person, grants: self.grants };
        Ok(load(roots, self.stores, &mut self.options, &mut host))
    }
}

/// The reason that plugins could not be checked at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The stores keep no ledger, so no plugin could load.
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
pub struct CheckResult {
    report: Report,
    outcomes: Vec<Outcome>,
    workflow: Option<Workflow>,
}

/// The outcome for one plugin.
#[derive(Debug)]
#[must_use = "only Load loads"]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
#[expect(clippy::large_enum_variant, reason = "hosts match on values that are consumed one by one")]
pub enum Outcome {
    /// Every gate passed. The value contains the checked bytes.
    Load(LoadedPlugin),
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

impl CheckResult {
    pub(crate) fn new(done: RunResult) -> Self {
        let RunResult { report, all, mut granted, workflow } = done;
        let rows = report.plugins.iter().cloned();
        let outcomes = all.into_iter().zip(rows).map(|(one, report)| {
            let granted = granted.remove(&one.key).unwrap_or_default();
            match (report.decision, one.snapshot, one.subject) {
                (Decision::Load, Some(snapshot), Some(subject)) => {
                    let (key, views, shared) = (one.key, one.views, one.shared);
                    let audited = audited_bytes(subject.facts());
                    Outcome::Load(LoadedPlugin { key, snapshot, views, shared, audited, granted, report })
                }
                (Decision::Ask, ..) => Outcome::Ask { report },
                // A plugin without its bytes cannot be loaded.
                (Decision::Refuse | Decision::Load, ..) => Outcome::Refuse { report },
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

    /// Takes the workflow of the grants. The host closes it when its plugins have ended
    /// ([`crate::Record::close`]).
    pub fn take_workflow(&mut self) -> Option<Workflow> {
        self.workflow.take()
    }

    /// Returns the outcome of each plugin, in the order of the report.
    pub fn into_outcomes(self) -> impl Iterator<Item = Outcome> {
        self.outcomes.into_iter()
    }
}

/// One plugin that loads, with its checked bytes.
///
/// # Guarantees
/// The value exists only if every gate passed and the record of the decision was written. The bytes
/// are those that the gates checked. A later change of the original directory does not affect them,
/// and no method returns a path to it.
#[derive(Debug)]
#[must_use]
pub struct LoadedPlugin {
    key: PluginKey,
    snapshot: Snapshot,
    views: Vec<View>,
    shared: SharedRoots,
    audited: AuditedBytes,
    granted: Vec<AnyCapability>,
    report: PluginReport,
}

impl LoadedPlugin {
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

    /// Returns the contents that audits of the plugin are about.
    #[must_use]
    pub const fn audited_bytes(&self) -> &AuditedBytes {
        &self.audited
    }

    /// Returns the manifest of one dialect.
    #[must_use]
    pub fn manifest(&self, dialect: Dialect) -> Option<&Manifest> {
        manifests(&self.views).find(|manifest| manifest.dialect() == dialect)
    }

    /// Returns the bytes of a file. Symlinks are followed inside the plugin. A path that starts
    /// with `../` leads to a shared directory that was checked with the plugin.
    #[must_use]
    pub fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.snapshot.file(path).map(SnapshotEntry::bytes).or_else(|| self.shared.bytes(path))
    }

    /// Returns all files and symlinks, in bytewise order of their paths.
    pub fn entries(&self) -> impl Iterator<Item = SnapshotEntry<'_>> {
        self.snapshot.entries()
    }

    /// Returns the execution surface, with the dialect of each item.
    pub fn surface(&self) -> impl Iterator<Item = (Dialect, &SurfaceItem)> {
        manifests(&self.views)
            .flat_map(|manifest| manifest.surface().iter().map(|item| (manifest.dialect(), item)))
    }

    /// Writes the checked bytes to a new private, read-only directory inside `dir`, and digests
    /// them again.
    ///
    /// `dir` should be writable by this user alone: anyone who can write it can replace the whole
    /// new directory.
    ///
    /// # Errors
    /// [`SealError`] if the directory cannot be written, or the copy has a different digest.
    pub fn seal_into(&self, dir: &Dir) -> Result<SealedCopy, SealError> {
        SealedCopy::write(&self.snapshot, &self.shared, dir)
    }

    /// Takes the granted capabilities.
    pub fn take_granted(&mut self) -> Vec<AnyCapability> {
        core::mem::take(&mut self.granted)
    }
}
