//! How a check is asked for.

use core::num::NonZeroUsize;
use std::sync::Arc;

use plugward_manifest::Dialect;
use plugward_pinstore::{Risk, StoreErrorRule, Timestamp};
use plugward_scanner::{Date, Profile, Suppression};
use plugward_tree_lock::{Excludes, Limits};
use plugward_types::PluginKey;

use crate::report::PluginReport;
use crate::scan_records::ScanPack;
use crate::verifiers::Verifiers;

pub use plugward_pinstore::TrustMode as Trust;

/// Whether one refused plugin stops the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "two answers to one question")]
pub enum Whole {
    /// Each plugin is decided by itself.
    EachAlone,
    /// If one does not load, none does.
    AllOrNothing,
}

/// Whether a check may write pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "two answers to one question")]
pub enum Writes {
    /// What the trust mode enrolls is committed.
    Commit,
    /// Nothing is written and nobody is asked; the verdicts are those that a committing check would start from.
    LookOnly,
}

/// Which bytes are kept after a plugin's gates.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "nothing, one plugin, or what loads")]
pub enum Keep {
    /// Each plugin's bytes are dropped when its gates are done.
    Nothing,
    /// The bytes of the plugin with this key stay in its subject, for a diff.
    Of(PluginKey),
    /// The bytes of every plugin that loads are handed to the host.
    Loads {
        /// The most bytes of all plugins together; those that do not fit are refused with `tree/limit`.
        bytes: u64,
    },
}

/// Whether a plugin needs a person's approval after an audit: the setting `plugins.approval`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "off or required")]
pub enum ApprovalRule {
    /// An approval is shown, and none is asked for.
    Off,
    /// Without an approval of exactly these bytes it does not load.
    Required,
}

/// A finding that the host has looked at and lets pass.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "an entry of the host's settings")]
pub struct HostSuppression {
    /// The one plugin that it is for, by key; every plugin if absent.
    pub plugin: Option<PluginKey>,
    /// Rule, file, content and reason.
    pub entry: Suppression,
}

/// What suspicious findings do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a setting with two values")]
pub enum ScanAsk {
    /// The plugin is asked about until a person accepts its bytes.
    Ask,
    /// They are listed, and the plugin loads.
    Note,
}

/// Everything that a check needs to know. It has no default: a host chooses.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "a new choice must stop every host from building")]
pub struct CheckOptions {
    /// What happens to what is new.
    pub trust: Trust,
    /// What happens when the pin store cannot be used.
    pub on_store_error: StoreErrorRule,
    /// Whether one refusal stops all.
    pub whole: Whole,
    /// Whether pins may be written.
    pub writes: Writes,
    /// Whether the bytes of a plugin are kept.
    pub keep: Keep,
    /// One dialect only.
    pub dialect: Option<Dialect>,
    /// Names or keys of the plugins to check; absent means all.
    pub enabled: Option<Vec<String>>,
    /// What no tree digest covers.
    pub excludes: Excludes,
    /// Limits of one tree.
    pub tree: Limits,
    /// Limits of one scan.
    pub scan: plugward_scanner::Limits,
    /// Threads that read and scan; no result depends on it.
    pub jobs: NonZeroUsize,
    /// Records of earlier scans of the same bytes. `locked` reads none, whatever stands here.
    pub records: Option<Arc<ScanPack>>,
    /// Whether suspicious findings ask a person.
    pub scan_ask: ScanAsk,
    /// Which severities count; absent, each dialect has its own.
    pub profile: Option<Profile>,
    /// Bare package names that plugins may import.
    pub packages: Vec<String>,
    /// The built-in rules with the host's own; absent, the built-in ones alone.
    pub rules: Option<Arc<plugward_scanner::Rules>>,
    /// Findings that the host has looked at and lets pass.
    pub suppressions: Vec<HostSuppression>,
    /// The day, for suppressions that expire.
    pub today: Option<Date>,
    /// Whether an approval is needed.
    pub approval: ApprovalRule,
    /// The highest risk of an approval that passes.
    pub max_risk: Risk,
    /// Folders outside of a plugin that are digested with it where they are there, such as `../shared`.
    pub shared: Vec<String>,
    /// Who has to vouch for a tree besides the digest.
    pub verifiers: Verifiers,
    /// The version of the host, for plugins that name the one they need (`gnoma_version`); absent, none is compared.
    pub host_version: Option<String>,
    /// The time that is written into pins.
    pub now: Timestamp,
    /// The person that is written into pins.
    pub by: String,
}

impl CheckOptions {
    /// Starts with options under which nothing new loads: `prompt` with no one to ask, store errors refuse, standard
    /// limits, every dialect, one thread, the built-in rules. `now` and `by` are written into pins.
    #[must_use]
    pub fn new(now: Timestamp, by: impl Into<String>) -> Self {
        Self {
            trust: Trust::Prompt,
            on_store_error: StoreErrorRule::Refuse,
            whole: Whole::EachAlone,
            writes: Writes::Commit,
            keep: Keep::Nothing,
            dialect: None,
            enabled: None,
            excludes: Excludes::none(),
            tree: Limits::standard(),
            scan: plugward_scanner::Limits::DEFAULT,
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
        }
    }

    /// Gives the rules that are in force.
    #[must_use]
    pub fn rules(&self) -> &plugward_scanner::Rules {
        self.rules.as_deref().unwrap_or_else(|| plugward_scanner::Rules::builtin())
    }

    /// Gives the word for the trust mode that settings and reports use.
    #[must_use]
    pub const fn trust_word(&self) -> &'static str {
        match self.trust {
            Trust::Tofu => "tofu",
            Trust::Prompt => "prompt",
            Trust::Locked => "locked",
        }
    }
}

/// Hears how far a check is.
pub trait Watch: Sync {
    /// A folder is being looked through for plugins.
    fn discovering(&self, folder: &str);
    /// A plugin's gates begin.
    fn plugin(&self, id: &str, number: usize, of: usize);
    /// A tree is being read: entries and bytes of it so far.
    fn reading(&self, entries: u64, bytes: u64);
}

/// Nobody watches.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a name for nothing")]
pub struct Unwatched;

impl Watch for Unwatched {
    fn discovering(&self, _folder: &str) {}
    fn plugin(&self, _id: &str, _number: usize, _of: usize) {}
    fn reading(&self, _entries: u64, _bytes: u64) {}
}

/// What a person says about a plugin that is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "only Yes enrolls"]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum Answer {
    /// Enroll and load.
    Yes,
    /// Not now; nothing is stored.
    No,
    /// Never; a denial is stored.
    Never,
    /// There is nobody to ask.
    Nobody,
}

/// Asks a person.
pub trait Person {
    /// Asks about one plugin whose other gates all passed. It must not block where nobody can answer.
    fn ask(&mut self, plugin: &PluginReport) -> Answer;
}

/// There is nobody to ask.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a name for nobody")]
pub struct NobodyThere;

impl Person for NobodyThere {
    fn ask(&mut self, _plugin: &PluginReport) -> Answer {
        Answer::Nobody
    }
}
