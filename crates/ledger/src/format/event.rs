//! The types of records, declared once for reading and writing.

use crate::format::digest::{LedgerDigest, LedgerId};
use crate::format::field::{Field, object, words};
use crate::format::json::{JsonFault, Reader, Writer};
use crate::format::time::LedgerTime;
use crate::format::value::RecordValue;

words! {
    /// How a use or a workflow ended.
    UseOutcome, "ok, failed or abandoned" {
        /// It succeeded.
        Ok = "ok",
        /// It failed.
        Failed = "failed",
        /// It ended without a report.
        Abandoned = "abandoned",
    }
}

words! {
    /// The decision about a plugin.
    LoadVerdict, "load, ask or refuse" {
        /// It may be loaded.
        Load = "load",
        /// A person must decide.
        Ask = "ask",
        /// It may not be loaded.
        Refuse = "refuse",
    }
}

object! {
    /// One plugin of a `plugins_loaded` record.
    PluginDecision {
        /// The id of the plugin.
        plugin: String,
        /// The digest of its tree, as text.
        digest: String,
        /// The decision.
        outcome: LoadVerdict,
    }
}

object! {
    /// One limit of a `workflow_opened` record. A number that is absent does not limit.
    BudgetLine {
        /// The kind of capability, or `*` for all kinds without a line of their own.
        kind: String,
        /// `each-plugin`, `workflow`, `plugin` or `otherwise`.
        per: String,
        /// The plugin, if `per` is `plugin`.
        plugin: Option<String>,
        /// The maximum number of grants.
        max_mints: Option<u64>,
        /// The maximum number of uses.
        max_uses: Option<u64>,
        /// The maximum number of units over all uses.
        max_units: Option<u64>,
    }
}

macro_rules! events {
    ($( $(#[$doc:meta])* $variant:ident = $name:literal {
        $( $(#[$fdoc:meta])* $field:ident : $ty:ty = $key:literal ),* $(,)?
    } )*) => {
        /// A record of a ledger, without the fields that all records share.
        ///
        /// Texts above 1,024 bytes are shortened when they are appended: to the first 960 bytes and the
        /// digest of the whole text.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[expect(clippy::exhaustive_enums, reason = "the closed set of the format; a new record must stop every host from building")]
        pub enum LedgerEvent { $( $(#[$doc])* $variant { $( $(#[$fdoc])* $field: $ty ),* } ),* }

        impl LedgerEvent {
            /// The names of all types, in the order of the format's documentation.
            pub const TYPES: &'static [&'static str] = &[$($name),*];

            /// Returns the `type` of the record.
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
    /// The first record of a new ledger. Written by the ledger.
    LedgerOpened = "ledger_opened" {
        /// The ledger's id.
        ledger: LedgerId = "ledger",
        /// The program that created it.
        tool: String = "tool",
    }
    /// A torn tail was set aside. Written by the ledger.
    LedgerRecovered = "ledger_recovered" {
        /// The offset of the tail in the live file.
        offset: u64 = "offset",
        /// The length of the tail.
        bytes: u64 = "bytes",
        /// The digest of the tail.
        sha256: LedgerDigest = "sha256",
        /// The file with a copy of the tail.
        saved_as: String = "saved_as",
    }
    /// The first record of a segment that continues an older one. Written by the ledger.
    LedgerContinued = "ledger_continued" {
        /// The ledger's id.
        ledger: LedgerId = "ledger",
        /// The name of the older segment.
        previous: String = "previous",
        /// The digest of its last line.
        head: LedgerDigest = "head",
    }
    /// The tree over all earlier lines, and the counters of the folds. Written by the ledger.
    Checkpoint = "checkpoint" {
        /// The number of earlier lines.
        size: u64 = "size",
        /// Their RFC 6962 tree hash.
        root: LedgerDigest = "root",
        /// The hashes of the complete subtrees, from the left.
        frontier: Vec<LedgerDigest> = "frontier",
        /// The snapshot of each fold, by name.
        state: Option<RecordValue> = "state",
    }
    /// A workflow begins.
    WorkflowOpened = "workflow_opened" {
        /// The id of the workflow.
        workflow: String = "workflow",
        /// The limits of the workflow.
        budgets: Vec<BudgetLine> = "budgets",
    }
    /// A workflow ended.
    WorkflowClosed = "workflow_closed" {
        /// The id of the workflow.
        workflow: String = "workflow",
        /// How it ended.
        outcome: UseOutcome = "outcome",
    }
    /// A load of plugins, possibly of none.
    PluginsLoaded = "plugins_loaded" {
        /// The workflow.
        workflow: String = "workflow",
        /// The trust mode.
        trust: String = "trust",
        /// The plugins that were checked.
        plugins: Vec<PluginDecision> = "plugins",
        /// The digest of the list, see [`registry_digest`](crate::registry_digest).
        registry_digest: LedgerDigest = "registry_digest",
    }
    /// The decision about one plugin in one run.
    Decision = "decision" {
        /// The workflow, if there is one.
        workflow: Option<String> = "workflow",
        /// The plugin.
        plugin: String = "plugin",
        /// The decision.
        outcome: LoadVerdict = "outcome",
        /// The codes of all refusals and questions.
        codes: Vec<String> = "codes",
        /// The digest of its tree, if it was computed.
        digest: Option<String> = "digest",
    }
    /// A plugin is about to be pinned for the first time.
    PinEnrolled = "pin_enrolled" {
        /// The plugin.
        plugin: String = "plugin",
        /// The digest to pin.
        digest: String = "digest",
        /// The digest that was pinned before.
        old: Option<String> = "old",
    }
    /// A pin is about to be replaced.
    PinAccepted = "pin_accepted" {
        /// The plugin.
        plugin: String = "plugin",
        /// The digest to pin.
        digest: String = "digest",
        /// The digest that was pinned before.
        old: Option<String> = "old",
    }
    /// A pin is about to be deleted.
    PinForgotten = "pin_forgotten" {
        /// The plugin.
        plugin: String = "plugin",
        /// The digest that was pinned.
        digest: String = "digest",
        /// A digest that was pinned before.
        old: Option<String> = "old",
    }
    /// The pins were stored, or read and found to be stored. The last record of a file says whether its pins are lost.
    PinsStored = "pins_stored" {
        /// The path of the file.
        file: String = "file",
        /// The number of pins and denials in it.
        pins: u64 = "pins",
    }
    /// The user is about to deny a plugin. It applies while the pins cannot be read.
    PluginDenied = "plugin_denied" {
        /// The plugin.
        plugin: String = "plugin",
        /// The digest of its tree, if it was computed.
        digest: Option<String> = "digest",
    }
    /// The user is about to delete a denial.
    PluginUndenied = "plugin_undenied" {
        /// The plugin.
        plugin: String = "plugin",
    }
    /// A host asked before it installed something, and was not told to stop.
    PluginGated = "plugin_gated" {
        /// The host.
        host: String = "host",
        /// The id or name under which the host will list it.
        plugin: String = "plugin",
        /// The digest of its tree.
        digest: String = "digest",
        /// The answer.
        outcome: LoadVerdict = "outcome",
    }
    /// A plugin was refused, because it differs from its pin.
    PinRefused = "pin_refused" {
        /// The plugin.
        plugin: String = "plugin",
        /// The digest of the plugin.
        digest: String = "digest",
        /// The pinned digest.
        old: Option<String> = "old",
    }
    /// A person approved audited bytes.
    ApprovalGiven = "approval_given" {
        /// The plugin.
        plugin: String = "plugin",
        /// The digest of these bytes.
        digest: String = "digest",
        /// The risk according to the audit.
        risk: String = "risk",
    }
    /// A person revoked an approval.
    ApprovalRevoked = "approval_revoked" {
        /// The plugin.
        plugin: String = "plugin",
        /// The digest of the approved bytes.
        digest: String = "digest",
        /// The risk according to the audit.
        risk: String = "risk",
    }
    /// A language model replied to an audit. A stored audit without such a record does not count.
    PluginAudited = "plugin_audited" {
        /// The plugin.
        plugin: String = "plugin",
        /// The digest of the audited bytes.
        digest: String = "digest",
        /// The digest of the audit.
        audit: String = "audit",
        /// The client and the model.
        model: String = "model",
        /// The risk according to the audit.
        risk: String = "risk",
    }
    /// A setting turned a failure into a pass.
    ExceptionUsed = "exception_used" {
        /// The setting that allows it.
        setting: String = "setting",
        /// The failure.
        reason: String = "reason",
    }
    /// A capability is about to be created.
    CapabilityMinted = "capability_minted" {
        /// The workflow.
        workflow: String = "workflow",
        /// The plugin that receives it.
        plugin: String = "plugin",
        /// The kind of the capability.
        kind: String = "kind",
        /// Its number in the workflow, from 1.
        serial: u64 = "serial",
        /// The operations that it covers.
        scope: RecordValue = "scope",
        /// The digest of the scope's canonical form.
        scope_digest: LedgerDigest = "scope_digest",
        /// When it expires.
        expires: Option<LedgerTime> = "expires",
        /// The bundle that it belongs to.
        bundle: Option<LedgerDigest> = "bundle",
        /// A conflict that the host chose to accept.
        warning: Option<String> = "warning",
    }
    /// A bundle is about to be created. The records of its members precede this one.
    BundleMinted = "bundle_minted" {
        /// The workflow.
        workflow: String = "workflow",
        /// The plugin that receives it.
        plugin: String = "plugin",
        /// The digest of its members' canonical form, without serials and times.
        bundle_digest: LedgerDigest = "bundle_digest",
        /// The serials of the members.
        serials: Vec<u64> = "serials",
    }
    /// A requested capability was refused.
    MintRefused = "mint_refused" {
        /// The workflow.
        workflow: String = "workflow",
        /// The plugin that requested it.
        plugin: String = "plugin",
        /// The kind of the capability.
        kind: String = "kind",
        /// The code of the refusal.
        code: String = "code",
    }
    /// An operation is about to begin.
    CapabilityUsed = "capability_used" {
        /// The workflow.
        workflow: String = "workflow",
        /// The plugin that has the capability.
        plugin: String = "plugin",
        /// The kind of the capability.
        kind: String = "kind",
        /// The serial of the capability.
        serial: u64 = "serial",
        /// The operation.
        op: String = "op",
        /// The target of the operation, without secrets.
        detail: String = "detail",
        /// The number of budget units it takes.
        units: u64 = "units",
    }
    /// An operation ended.
    CapabilityUseEnded = "capability_use_ended" {
        /// The workflow.
        workflow: String = "workflow",
        /// The serial of the capability.
        serial: u64 = "serial",
        /// The `seq` of its `capability_used`.
        begun: u64 = "use",
        /// How it ended.
        outcome: UseOutcome = "outcome",
        /// The code of the error, if it failed.
        code: Option<String> = "code",
        /// How long it took, in milliseconds.
        millis: u64 = "millis",
    }
    /// A requested operation was refused.
    UseRefused = "use_refused" {
        /// The workflow.
        workflow: String = "workflow",
        /// The plugin that has the capability.
        plugin: String = "plugin",
        /// The kind of the capability.
        kind: String = "kind",
        /// The serial of the capability.
        serial: u64 = "serial",
        /// The operation.
        op: String = "op",
        /// The code of the refusal.
        code: String = "code",
    }
    /// A capability was revoked.
    CapabilityRevoked = "capability_revoked" {
        /// The workflow.
        workflow: String = "workflow",
        /// The serial of the capability.
        serial: u64 = "serial",
        /// The person or component that revoked it.
        by: String = "by",
        /// The reason.
        reason: String = "reason",
    }
    /// An open inside a jail detected a concurrent change.
    FilesystemRaceDetected = "filesystem_race_detected" {
        /// The workflow, if there is one.
        workflow: Option<String> = "workflow",
        /// The plugin, if there is one.
        plugin: Option<String> = "plugin",
        /// The label of the jail.
        jail: String = "jail",
        /// The path in the jail.
        path: String = "path",
        /// The change that was detected.
        cause: String = "cause",
        /// The error number of the system.
        errno: Option<u64> = "errno",
    }
    /// A hook encoded a secret, which was found anyway.
    RawOutputLaundered = "raw_output_laundered" {
        /// The workflow.
        workflow: String = "workflow",
        /// The hook.
        hook: String = "hook",
        /// The tool that produced the output.
        tool: String = "tool",
        /// The kinds of the secrets.
        kinds: Vec<String> = "kinds",
    }
    /// A hook of a project or plugin is about to see raw output, because `hooks.raw` is `all`.
    RawOutputShown = "raw_output_shown" {
        /// The workflow.
        workflow: String = "workflow",
        /// The hook.
        hook: String = "hook",
        /// The tool that produced the output.
        tool: String = "tool",
    }
    /// A program of a plugin is about to start.
    LaunchStarted = "launch_started" {
        /// The workflow.
        workflow: String = "workflow",
        /// The plugin.
        plugin: String = "plugin",
        /// The program.
        executable: String = "executable",
        /// Its digest.
        digest: String = "digest",
        /// The rung of the launcher's ladder.
        rung: String = "rung",
        /// The pin coverage of the program.
        coverage: String = "coverage",
        /// The restrictions that the kernel enforces.
        enforcement: String = "enforcement",
    }
    /// A program of a plugin ended.
    LaunchEnded = "launch_ended" {
        /// The `seq` of its `launch_started`.
        launch: u64 = "launch",
        /// Its exit code.
        exit: Option<u64> = "exit",
        /// The signal that terminated it.
        signal: Option<u64> = "signal",
    }
}

impl LedgerEvent {
    /// Returns `true` if only the ledger writes this type.
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

    /// Returns `true` if [`Durability::Decisions`](crate::Durability::Decisions) syncs after the record.
    #[must_use]
    pub const fn is_decision(&self) -> bool {
        matches!(
            self,
            Self::Decision { .. }
                | Self::PinEnrolled { .. }
                | Self::PinAccepted { .. }
                | Self::PinForgotten { .. }
                | Self::PinsStored { .. }
                | Self::PinRefused { .. }
                | Self::ApprovalGiven { .. }
                | Self::ApprovalRevoked { .. }
                | Self::PluginAudited { .. }
                | Self::PluginDenied { .. }
                | Self::PluginUndenied { .. }
                | Self::PluginGated { .. }
                | Self::ExceptionUsed { .. }
                | Self::CapabilityMinted { .. }
                | Self::BundleMinted { .. }
                | Self::CapabilityRevoked { .. }
        )
    }

    /// Returns the workflow that the record names.
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
            | Self::RawOutputShown { workflow, .. }
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
            | Self::PinsStored { .. }
            | Self::PluginDenied { .. }
            | Self::PluginUndenied { .. }
            | Self::PluginGated { .. }
            | Self::PinRefused { .. }
            | Self::ApprovalGiven { .. }
            | Self::ApprovalRevoked { .. }
            | Self::PluginAudited { .. }
            | Self::ExceptionUsed { .. }
            | Self::LaunchEnded { .. } => None,
        }
    }
}
