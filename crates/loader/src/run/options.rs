//! The options of a check, and the host's callbacks.

use core::num::NonZeroUsize;
use std::sync::Arc;

use plugward_manifest::Dialect;
use plugward_pinstore::Timestamp;
use plugward_policy::SettingsLayer;
use plugward_scanner::{Date, MatchCache, Suppression};
use plugward_tree_lock::{Excludes, TreeLimits};
use plugward_types::{PlacePath, PluginKey, Profile, Risk, StoreErrorRule};

use crate::discovery::installed::InstallRecords;
use crate::gates::verifiers::Verifiers;
use crate::report::PluginReport;
use crate::state::scan_records::ScanPack;

pub use plugward_types::{ApprovalRule, ScanAsk, TrustMode as Trust};

/// Whether one refused plugin prevents the others from loading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "two answers to one question")]
pub enum FailureScope {
    /// Each plugin is decided independently.
    EachAlone,
    /// If one plugin does not load, no plugin loads.
    AllOrNothing,
}

/// Whether a check may write pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "two answers to one question")]
pub enum CheckMode {
    /// New pins of the trust mode are committed.
    Commit,
    /// Nothing is written and no question is asked. The verdicts are those from which a committing check
    /// would start.
    LookOnly,
}

/// Which bytes are kept after a plugin's gates.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "nothing, one plugin, digests, or what loads")]
pub enum ByteRetention {
    /// Each plugin's bytes are dropped when its gates are done.
    Nothing,
    /// The bytes of the plugin with this key stay in its subject, for a diff.
    Of(PluginKey),
    /// The digest of each file stays in its plugin's subject, for a lockfile.
    Digests,
    /// The bytes of every plugin that loads are handed to the host.
    Loads {
        /// The largest total size; plugins that exceed it are refused with `tree/limit`.
        bytes: u64,
    },
}

/// A finding that the host reviewed and suppresses.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "an entry of the host's settings")]
pub struct HostSuppression {
    /// The key of the plugin that it applies to; every plugin if `None`.
    pub plugin: Option<PluginKey>,
    /// The rule, file, content and reason.
    pub entry: Suppression,
}

/// Whether settings files in repositories count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "two answers to one question")]
pub enum RepositorySettings {
    /// They can tighten the settings of the plugins under them.
    Honor,
    /// They are not read, and the report says so.
    Ignore,
}

/// Options for [`check`](crate::check) and [`load`](crate::load).
///
/// There is no `Default`: every host decides each option, and [`CheckOptions::new`] starts with the strict
/// ones.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "a new choice must stop every host from building")]
pub struct CheckOptions {
    /// The settings that the user controls, from weak to strong. With any layer here, the trust mode, approval, risk and
    /// limits of each plugin come from the layers; without one, from the fields.
    pub settings: Vec<Arc<SettingsLayer>>,
    /// Whether settings files in repositories count.
    pub repository_settings: RepositorySettings,
    /// A directory whose projects also decide about installed plugins, such as the working directory.
    pub project: Option<PlacePath>,
    /// The trust mode, which decides about new plugins.
    pub trust: Trust,
    /// The decision if the pin store cannot be used.
    pub on_store_error: StoreErrorRule,
    /// Whether one refusal prevents all loads.
    pub whole: FailureScope,
    /// Whether pins can be written.
    pub writes: CheckMode,
    /// Which bytes are kept.
    pub keep: ByteRetention,
    /// What the hosts of this machine would load. The keys of those plugins come from here.
    pub installs: Arc<InstallRecords>,
    /// The only dialect to check; all if `None`.
    pub dialect: Option<Dialect>,
    /// The names or keys of the plugins to check; all if `None`.
    pub enabled: Option<Vec<String>>,
    /// Top-level names that no tree digest covers.
    pub excludes: Excludes,
    /// Whether the digest of a plugin leaves out the version control directories in its root. What can run of them is
    /// scanned and pinned nevertheless.
    pub exclude_vcs: bool,
    /// The limits of one tree.
    pub tree: TreeLimits,
    /// The limits of one scan.
    pub scan: plugward_scanner::ScanLimits,
    /// The number of threads that read and scan. Results do not depend on it.
    pub jobs: NonZeroUsize,
    /// The records of earlier scans. Under `locked` they are not read.
    pub records: Option<Arc<ScanPack>>,
    /// The effect of suspicious findings.
    pub scan_ask: ScanAsk,
    /// The severities of rules; if `None`, each dialect has its own profile.
    pub profile: Option<Profile>,
    /// Bare package names that plugins may import.
    pub packages: Vec<String>,
    /// The built-in rules together with the host's own; if `None`, the built-in ones.
    pub rules: Option<Arc<plugward_scanner::Rules>>,
    /// The findings that the host suppresses.
    pub suppressions: Vec<HostSuppression>,
    /// The current day, by which suppressions expire.
    pub today: Option<Date>,
    /// Whether approvals are required.
    pub approval: ApprovalRule,
    /// The highest audited risk that can load.
    pub max_risk: Risk,
    /// Directories outside a plugin that are digested with it if they exist, such as `../shared`.
    pub shared: Vec<String>,
    /// Verifiers that must confirm a tree besides its digest.
    pub verifiers: Verifiers,
    /// The host's version, for plugins that require one (`gnoma_version`). If `None`, it is not compared.
    pub host_version: Option<String>,
    /// The time that is stored in pins.
    pub now: Timestamp,
    /// The user that is stored in pins.
    pub by: String,
    /// What the caller knows about the machine.
    pub machine: MachineFacts,
}

/// What the caller of a check knows about the machine. Files that commands name are judged by their place.
///
/// The default is a machine of which nothing is known: no path is a program of the user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a new fact must stop every host from building")]
pub struct MachineFacts {
    /// The real path of the user's home directory.
    pub home: Option<PlacePath>,
    /// The id of the user.
    pub user: Option<u32>,
    /// The directories in which the user's shell looks for programs.
    pub program_directories: Vec<PlacePath>,
    /// The directories in which hosts keep plugins, besides those with a standard name in the home directory.
    pub host_directories: Vec<PlacePath>,
}

impl CheckOptions {
    /// Creates options under which no new plugin loads.
    ///
    /// The trust mode is `prompt` without a person to ask, store errors refuse, limits are the standard
    /// ones, every dialect is checked with one thread and the built-in rules. `now` and `by` are stored in
    /// pins.
    #[must_use]
    pub fn new(now: Timestamp, by: impl Into<String>) -> Self {
        Self {
            settings: Vec::new(),
            repository_settings: RepositorySettings::Honor,
            project: None,
            trust: Trust::Prompt,
            on_store_error: StoreErrorRule::Refuse,
            whole: FailureScope::EachAlone,
            writes: CheckMode::Commit,
            keep: ByteRetention::Nothing,
            installs: Arc::default(),
            dialect: None,
            enabled: None,
            excludes: Excludes::none(),
            exclude_vcs: true,
            tree: TreeLimits::standard(),
            scan: plugward_scanner::ScanLimits::DEFAULT,
            jobs: NonZeroUsize::MIN,
            records: None,
            scan_ask: ScanAsk::Ask,
            profile: None,
            packages: Vec::new(),
            rules: None,
            suppressions: Vec::new(),
            today: None,
            approval: ApprovalRule::Off,
            max_risk: Risk::Medium,
            shared: Vec::new(),
            verifiers: Verifiers::none(),
            host_version: None,
            now,
            by: by.into(),
            machine: MachineFacts::default(),
        }
    }

    /// Returns the rules in use.
    #[must_use]
    pub fn rules(&self) -> &plugward_scanner::Rules {
        self.rules.as_deref().unwrap_or_else(|| plugward_scanner::Rules::builtin())
    }

    /// Returns the records of earlier scans. Under `locked`, a decision depends on the contents alone.
    pub(crate) fn scan_cache(&self) -> Option<&dyn MatchCache> {
        let records = self.records.as_deref().filter(|_| self.trust != Trust::Locked);
        records.map(|pack| pack as &dyn MatchCache)
    }

    /// Returns the name of the trust mode in settings and reports.
    #[must_use]
    pub const fn trust_word(&self) -> &'static str {
        match self.trust {
            Trust::Tofu => "tofu",
            Trust::Prompt => "prompt",
            Trust::Locked => "locked",
        }
    }
}

/// Observes the progress of a check.
pub trait Watch: Sync {
    /// A directory is being searched for plugins.
    fn discovering(&self, directory: &str);
    /// The gates of a plugin start. `number` counts from 1, and `of` is the number of plugins.
    fn plugin(&self, id: &str, number: usize, of: usize);
    /// A tree is being read; `entries` and `bytes` count what was read of it so far.
    fn reading(&self, entries: u64, bytes: u64);
}

/// An observer that ignores everything.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "it has no state")]
pub struct NoWatch;

impl Watch for NoWatch {
    fn discovering(&self, _directory: &str) {}
    fn plugin(&self, _id: &str, _number: usize, _of: usize) {}
    fn reading(&self, _entries: u64, _bytes: u64) {}
}

/// A person's answer about a new plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "only Yes enrolls"]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum Answer {
    /// Pin the plugin and load it.
    Yes,
    /// Do not load it now. Nothing is stored.
    No,
    /// Never load it. A denial is stored.
    Never,
    /// No person is available.
    Nobody,
}

/// A question to a person.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "a new question must stop every host from building")]
pub enum Question<'a> {
    /// Pin this new plugin and load it?
    Enroll(&'a PluginReport),
    /// Load these plugins this time, although the pins cannot be read?
    LoadUnpinned {
        /// Why the pins cannot be read.
        failure: &'a str,
        /// The ids of the plugins.
        plugins: &'a [String],
    },
    /// Run it this time? The settings say that `run` asks.
    Run {
        /// The plugin's id, or the name of a command plugin.
        name: &'a str,
        /// The key of the setting and its place.
        setting: &'a str,
        /// The report on a plugin directory.
        plugin: Option<&'a PluginReport>,
    },
    /// Install this command plugin?
    Install {
        /// Its name.
        name: &'a str,
        /// The source of the file.
        url: &'a str,
        /// The digest in the registry.
        digest: &'a str,
    },
}

/// A person who answers questions about plugins.
pub trait Person {
    /// Announces how many questions follow at most, before the first one.
    fn announce(&mut self, _questions: usize) {}

    /// Asks a question. About a plugin directory, it is asked after its other gates passed.
    ///
    /// It must return [`Answer::Nobody`] instead of blocking if no person can answer. Only the answer about a new plugin
    /// is stored.
    fn ask(&mut self, question: &Question<'_>) -> Answer;
}

/// A person who is never available.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "it has no state")]
pub struct NoPerson;

impl Person for NoPerson {
    fn ask(&mut self, _question: &Question<'_>) -> Answer {
        Answer::Nobody
    }
}
