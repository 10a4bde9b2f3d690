//! The closed set of records, declared once.

use crate::field::{Field, object, words};
use crate::json::{JsonFault, Reader, Writer};
use crate::sum::{LedgerId, Sum};
use crate::time::Timestamp;
use crate::value::Value;

words! {
    /// How a use or a workflow ended.
    Outcome, "ok, failed or abandoned" {
        /// It did what it should.
        Ok = "ok",
        /// It was tried and did not work.
        Failed = "failed",
        /// Nobody said how it ended.
        Abandoned = "abandoned",
    }
}

words! {
    /// What was decided about a plugin.
    Verdict, "load, ask or refuse" {
        /// It loads.
        Load = "load",
        /// A person must say.
        Ask = "ask",
        /// It does not load.
        Refuse = "refuse",
    }
}

object! {
    /// One plugin of a `plugins_loaded` record.
    PluginSeen {
        /// Its id.
        plugin: String,
        /// The digest of its tree, in its text form.
        digest: String,
        /// What was decided.
        outcome: Verdict,
    }
}

object! {
    /// One limit of a `workflow_opened` record; a number that is left out does not limit.
    BudgetLine {
        /// The kind of capability, or `*` for all that no other line names.
        kind: String,
        /// `each-plugin`, `workflow`, `plugin` or `otherwise`.
        per: String,
        /// The plugin, where `per` is `plugin`.
        plugin: Option<String>,
        /// How many may be minted.
        max_mints: Option<u64>,
        /// How many uses may begin.
        max_uses: Option<u64>,
        /// How many units all uses together may have.
        max_units: Option<u64>,
    }
}

macro_rules! events {
    ($( $(#[$doc:meta])* $variant:ident = $name:literal {
        $( $(#[$fdoc:meta])* $field:ident : $ty:ty = $key:literal ),* $(,)?
    } )*) => {
        /// Everything that a ledger can say.
        ///
        /// Texts above 1,024 bytes are shortened when they are appended: the first 960 bytes stay, and the sum of all.
        ///
        /// # Source
        /// SPEC 4.7 ("spanning log"), whose two schemas of one event this enum replaces.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[expect(clippy::exhaustive_enums, reason = "the closed set of the format; a new record must stop every host from building")]
        pub enum Event { $( $(#[$doc])* $variant { $( $(#[$fdoc])* $field: $ty ),* } ),* }

        impl Event {
            /// The names of all types, in the order of the format's table.
            pub const TYPES: &'static [&'static str] = &[$($name),*];

            /// Gives the `type` of the record.
            #[must_use]
            pub const fn type_name(&self) -> &'static str {
                match self { $( Self::$variant { .. } => $name ),* }
            }

            pub(crate) fn write(&self, writer: &mut Writer) {
                match self { $( Self::$variant { $($field),* } => { $( writer.field($key, $field); )* } )* }
            }

            pub(crate) fn read(name: &str, reader: &mut Reader<'_>) -> Result<Option<Self>, JsonFault> {
                match name {
                    $( $name => { $( let $field = reader.field($key)?; )* Ok(Some(Self::$variant { $($field),* })) } )*
                    _ => Ok(None),
                }
            }

            pub(crate) fn settle(&mut self) {
                match self { $( Self::$variant { $($field),* } => { $( Field::settle($field); )* } )* }
            }
        }
    };
}

events! {
    /// First record of a new ledger. Written by the ledger.
    LedgerOpened = "ledger_opened" {
        /// The ledger's id.
        ledger: LedgerId = "ledger",
        /// What made it.
        tool: String = "tool",
    }
    /// A torn tail was set aside. Written by the ledger.
    LedgerRecovered = "ledger_recovered" {
        /// Where in the live file the tail began.
        offset: u64 = "offset",
        /// How long it was.
        bytes: u64 = "bytes",
        /// Its sum.
        sha256: Sum = "sha256",
        /// The file that holds it.
        saved_as: String = "saved_as",
    }
    /// First record of a segment that goes on from an older one. Written by the ledger.
    LedgerContinued = "ledger_continued" {
        /// The ledger's id.
        ledger: LedgerId = "ledger",
        /// The file before.
        previous: String = "previous",
        /// The sum of its last line.
        head: Sum = "head",
    }
    /// The tree over all lines before it, and the folds' counters. Written by the ledger.
    Checkpoint = "checkpoint" {
        /// How many lines are before it.
        size: u64 = "size",
        /// The RFC 6962 hash over them.
        root: Sum = "root",
        /// The hashes of the complete subtrees, from the left.
        frontier: Vec<Sum> = "frontier",
        /// What each fold had counted, by its name.
        state: Option<Value> = "state",
    }
    /// A unit of work begins.
    WorkflowOpened = "workflow_opened" {
        /// Its id.
        workflow: String = "workflow",
        /// Its limits.
        budgets: Vec<BudgetLine> = "budgets",
    }
    /// A unit of work is over.
    WorkflowClosed = "workflow_closed" {
        /// Its id.
        workflow: String = "workflow",
        /// How it ended.
        outcome: Outcome = "outcome",
    }
    /// One load of plugins, also of none.
    PluginsLoaded = "plugins_loaded" {
        /// The unit of work.
        workflow: String = "workflow",
        /// The trust mode.
        trust: String = "trust",
        /// The plugins that were looked at.
        plugins: Vec<PluginSeen> = "plugins",
        /// The digest of the list, see [`registry_digest`](crate::registry_digest).
        registry_digest: Sum = "registry_digest",
    }
    /// What was decided about one plugin in one run.
    Decision = "decision" {
        /// The unit of work, where there is one.
        workflow: Option<String> = "workflow",
        /// The plugin.
        plugin: String = "plugin",
        /// The answer.
        outcome: Verdict = "outcome",
        /// The codes of all refusals and questions.
        codes: Vec<String> = "codes",
        /// The digest of its tree, where there is one.
        digest: Option<String> = "digest",
    }
    /// A first pin is about to be made.
    PinEnrolled = "pin_enrolled" {
        /// The plugin.
        plugin: String = "plugin",
        /// The digest that is pinned.
        digest: String = "digest",
        /// The digest that was pinned before.
        old: Option<String> = "old",
    }
    /// A pin is about to be replaced.
    PinAccepted = "pin_accepted" {
        /// The plugin.
        plugin: String = "plugin",
        /// The digest that is pinned.
        digest: String = "digest",
        /// The digest that was pinned before.
        old: Option<String> = "old",
    }
    /// A pin is about to be dropped.
    PinForgotten = "pin_forgotten" {
        /// The plugin.
        plugin: String = "plugin",
        /// The digest that was pinned.
        digest: String = "digest",
        /// A digest that was pinned before.
        old: Option<String> = "old",
    }
    /// A plugin differs from its pin.
    PinRefused = "pin_refused" {
        /// The plugin.
        plugin: String = "plugin",
        /// The digest that was found.
        digest: String = "digest",
        /// The digest that is pinned.
        old: Option<String> = "old",
    }
    /// A person approved audited bytes.
    ApprovalGiven = "approval_given" {
        /// The plugin.
        plugin: String = "plugin",
        /// The digest of the bytes.
        digest: String = "digest",
        /// The risk that the audit named.
        risk: String = "risk",
    }
    /// A person took an approval back.
    ApprovalRevoked = "approval_revoked" {
        /// The plugin.
        plugin: String = "plugin",
        /// The digest of the bytes.
        digest: String = "digest",
        /// The risk that the audit named.
        risk: String = "risk",
    }
    /// A named exception to "a failure is never a yes" was used.
    ExceptionUsed = "exception_used" {
        /// The setting that allows it.
        setting: String = "setting",
        /// Why it was needed.
        reason: String = "reason",
    }
    /// A capability is about to exist.
    CapabilityMinted = "capability_minted" {
        /// The unit of work.
        workflow: String = "workflow",
        /// Who gets it.
        plugin: String = "plugin",
        /// Its kind.
        kind: String = "kind",
        /// Its number in the unit of work, from 1.
        serial: u64 = "serial",
        /// What it covers.
        scope: Value = "scope",
        /// The sum of the scope's canonical text.
        scope_digest: Sum = "scope_digest",
        /// When it ends by itself.
        expires: Option<Timestamp> = "expires",
        /// The bundle that it belongs to.
        bundle: Option<Sum> = "bundle",
        /// What the host was told to put up with.
        warning: Option<String> = "warning",
    }
    /// The members of a bundle stand just before.
    BundleMinted = "bundle_minted" {
        /// The unit of work.
        workflow: String = "workflow",
        /// Who gets it.
        plugin: String = "plugin",
        /// The sum of the canonical text of its members, without serials and times.
        bundle_digest: Sum = "bundle_digest",
        /// The members' numbers.
        serials: Vec<u64> = "serials",
    }
    /// A capability was asked for and not made.
    MintRefused = "mint_refused" {
        /// The unit of work.
        workflow: String = "workflow",
        /// Who would have got it.
        plugin: String = "plugin",
        /// Its kind.
        kind: String = "kind",
        /// Why not.
        code: String = "code",
    }
    /// An operation is about to begin.
    CapabilityUsed = "capability_used" {
        /// The unit of work.
        workflow: String = "workflow",
        /// Who has the capability.
        plugin: String = "plugin",
        /// Its kind.
        kind: String = "kind",
        /// Its number.
        serial: u64 = "serial",
        /// The operation.
        op: String = "op",
        /// What it is about, without secrets.
        detail: String = "detail",
        /// How much of the budget it takes.
        units: u64 = "units",
    }
    /// An operation is over.
    CapabilityUseEnded = "capability_use_ended" {
        /// The unit of work.
        workflow: String = "workflow",
        /// The capability's number.
        serial: u64 = "serial",
        /// The `seq` of its `capability_used`.
        begun: u64 = "use",
        /// How it ended.
        outcome: Outcome = "outcome",
        /// The error, where there was one.
        code: Option<String> = "code",
        /// How long it took.
        millis: u64 = "millis",
    }
    /// An operation was asked for and not allowed.
    UseRefused = "use_refused" {
        /// The unit of work.
        workflow: String = "workflow",
        /// Who has the capability.
        plugin: String = "plugin",
        /// Its kind.
        kind: String = "kind",
        /// Its number.
        serial: u64 = "serial",
        /// The operation.
        op: String = "op",
        /// Why not.
        code: String = "code",
    }
    /// A capability covers nothing from here on.
    CapabilityRevoked = "capability_revoked" {
        /// The unit of work.
        workflow: String = "workflow",
        /// Its number.
        serial: u64 = "serial",
        /// Who took it back.
        by: String = "by",
        /// Why.
        reason: String = "reason",
    }
    /// An open below a jail saw somebody move things.
    FilesystemRaceDetected = "filesystem_race_detected" {
        /// The unit of work, where there is one.
        workflow: Option<String> = "workflow",
        /// The plugin, where there is one.
        plugin: Option<String> = "plugin",
        /// The jail's label.
        jail: String = "jail",
        /// The path below it.
        path: String = "path",
        /// What was seen.
        cause: String = "cause",
        /// The system's error number.
        errno: Option<u64> = "errno",
    }
    /// A hook re-shaped a secret, and it was found all the same.
    RawOutputLaundered = "raw_output_laundered" {
        /// The unit of work.
        workflow: String = "workflow",
        /// The hook.
        hook: String = "hook",
        /// The tool whose output it was.
        tool: String = "tool",
        /// The kinds of secrets.
        kinds: Vec<String> = "kinds",
    }
    /// A plugin's program is about to start.
    LaunchStarted = "launch_started" {
        /// The unit of work.
        workflow: String = "workflow",
        /// The plugin.
        plugin: String = "plugin",
        /// The program.
        executable: String = "executable",
        /// Its digest.
        digest: String = "digest",
        /// The rung of the launcher's ladder.
        rung: String = "rung",
        /// How far the pin covers what runs.
        coverage: String = "coverage",
        /// What the kernel enforces.
        enforcement: String = "enforcement",
    }
    /// A plugin's program is over.
    LaunchEnded = "launch_ended" {
        /// The `seq` of its `launch_started`.
        launch: u64 = "launch",
        /// Its exit code.
        exit: Option<u64> = "exit",
        /// The signal that ended it.
        signal: Option<u64> = "signal",
    }
}

impl Event {
    /// Whether only the ledger writes this type.
    #[must_use]
    pub const fn is_internal(&self) -> bool {
        matches!(
            self,
            Self::LedgerOpened { .. }
                | Self::LedgerRecovered { .. }
                | Self::LedgerContinued { .. }
                | Self::Checkpoint { .. }
        )
    }

    /// Whether [`Durability::Decisions`](crate::Durability::Decisions) syncs after it.
    #[must_use]
    pub const fn is_decision(&self) -> bool {
        matches!(
            self,
            Self::Decision { .. }
                | Self::PinEnrolled { .. }
                | Self::PinAccepted { .. }
                | Self::PinForgotten { .. }
                | Self::PinRefused { .. }
                | Self::ApprovalGiven { .. }
                | Self::ApprovalRevoked { .. }
                | Self::ExceptionUsed { .. }
                | Self::CapabilityMinted { .. }
                | Self::BundleMinted { .. }
                | Self::CapabilityRevoked { .. }
        )
    }

    /// Gives the unit of work that the record names.
    #[must_use]
    pub fn workflow(&self) -> Option<&str> {
        match self {
            Self::WorkflowOpened { workflow, .. }
            | Self::WorkflowClosed { workflow, .. }
            | Self::PluginsLoaded { workflow, .. }
            | Self::CapabilityMinted { workflow, .. }
            | Self::BundleMinted { workflow, .. }
            | Self::MintRefused { workflow, .. }
            | Self::CapabilityUsed { workflow, .. }
            | Self::CapabilityUseEnded { workflow, .. }
            | Self::UseRefused { workflow, .. }
            | Self::CapabilityRevoked { workflow, .. }
            | Self::RawOutputLaundered { workflow, .. }
            | Self::LaunchStarted { workflow, .. } => Some(workflow),
            Self::Decision { workflow, .. } | Self::FilesystemRaceDetected { workflow, .. } => {
                workflow.as_deref()
            }
            Self::LedgerOpened { .. }
            | Self::LedgerRecovered { .. }
            | Self::LedgerContinued { .. }
            | Self::Checkpoint { .. }
            | Self::PinEnrolled { .. }
            | Self::PinAccepted { .. }
            | Self::PinForgotten { .. }
            | Self::PinRefused { .. }
            | Self::ApprovalGiven { .. }
            | Self::ApprovalRevoked { .. }
            | Self::ExceptionUsed { .. }
            | Self::LaunchEnded { .. } => None,
        }
    }
}
