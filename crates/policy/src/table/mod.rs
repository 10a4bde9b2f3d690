//! The key table: the type, the default and the strict direction of every setting.
//!
//! It is the only place that knows which of two values is stricter. Every column is required, so a new setting cannot
//! be added without a rule for repositories.

mod key;
mod strictness;

use plugward_types::{ApprovalRule, RawOutput, ScanAsk, StoreErrorRule, TrustMode, words};

use crate::command::RunRule;
use crate::launch::{LaunchAccess, LaunchEnforcement};

pub use key::{KeyError, SettingKey};
pub(crate) use key::{check_name, check_selector, expected, in_backticks, matching, nearest_help};

/// The type of a setting, which also determines the order of its values.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SettingKind {
    /// One of some words, from loose to strict.
    Words(&'static [&'static str]),
    /// `true` or `false`, one of which is the loose value.
    Flag { loose: bool },
    /// A number up to a maximum; a smaller one is stricter.
    Number { max: u64 },
    /// Selectors of plugins; fewer are stricter.
    Allowlist,
    /// Selectors of plugins; more are stricter.
    Denylist,
    /// `[a-z][a-z0-9]*`.
    Word,
    /// Any text.
    Text,
    /// A list of texts without an order.
    Texts,
    /// `{ algorithm, value }`.
    Checksum,
    /// `{ url }`.
    Registry,
    /// Tables with these fields.
    Rows(&'static [RowField]),
    /// Any TOML, whose tables merge.
    Opaque,
    /// A table of keys for one directory.
    Workspaces,
    /// A list of keys.
    Keys,
}

/// A field of a row or table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowField {
    pub(crate) name: &'static str,
    pub(crate) is_required: bool,
    pub(crate) kind: FieldKind,
}

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldKind {
    Text,
    /// A list of texts.
    List,
    Number,
}

/// The value of a setting that no layer sets.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SettingDefault {
    Word(&'static str),
    Flag(bool),
    Number(u64),
    /// No value, which is looser than any other.
    Unset,
    /// The caller decides, at most as strictly as `strictest`.
    Decided {
        strictest: &'static str,
        by: &'static str,
    },
}

/// The layers that can set a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetBy {
    Any,
    /// Every layer that the user or the administrator controls.
    User,
    /// The managed and the user's file.
    Files,
    /// The managed file.
    Managed,
}

/// The effect of a value in a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RepositoryUse {
    /// It counts if it is at least as strict as the result of all weaker layers.
    Tighten,
    /// It counts if there is no value yet.
    Add,
    /// It counts.
    Set,
    /// It is ignored with a note.
    Ignore,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SettingRule {
    /// The parts of the key. A part in angle brackets stands for any name.
    pub(crate) path: &'static [&'static str],
    pub(crate) kind: SettingKind,
    pub(crate) default: SettingDefault,
    pub(crate) set_by: SetBy,
    pub(crate) repository: RepositoryUse,
}

macro_rules! table {
    ($($(#[$doc:meta])* $id:ident: $path:expr, $kind:expr, $default:expr, $set_by:ident, $repository:ident;)*) => {
        /// A row of the key table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum SettingId {
            $($(#[$doc])* $id,)*
        }

        impl SettingId {
            /// All rows. Keys with a common start are next to each other.
            pub const ALL: &'static [Self] = &[$(Self::$id),*];

            pub(crate) const fn rule(self) -> &'static SettingRule {
                match self {
                    $(Self::$id => &SettingRule {
                        path: &$path,
                        kind: $kind,
                        default: $default,
                        set_by: SetBy::$set_by,
                        repository: RepositoryUse::$repository,
                    },)*
                }
            }
        }
    };
}

use SettingDefault::{Decided, Flag, Number, Unset, Word};
use SettingKind as K;

const fn field(name: &'static str) -> RowField {
    RowField { name, is_required: true, kind: FieldKind::Text }
}
const fn list(name: &'static str) -> RowField {
    RowField { name, is_required: true, kind: FieldKind::List }
}
const fn optional(name: &'static str, kind: FieldKind) -> RowField {
    RowField { name, is_required: false, kind }
}

const SIGNER: &[RowField] = &[field("key"), list("ids")];
const SUPPRESSION: &[RowField] = &[
    optional("plugin", FieldKind::Text),
    field("rule"),
    field("path"),
    field("digest"),
    field("reason"),
    optional("expires", FieldKind::Text),
];
pub(crate) const CHECKSUM: &[RowField] =
    &[optional("algorithm", FieldKind::Text), optional("value", FieldKind::Text)];
pub(crate) const REGISTRY: &[RowField] = &[field("url")];
const GRANT: &[RowField] = &[field("plugin"), field("hook"), list("tools")];
const LAUNCH_GRANT: &[RowField] = &[
    field("plugin"),
    optional("command", FieldKind::List),
    optional("directory", FieldKind::Text),
    optional("read", FieldKind::List),
    optional("write", FieldKind::List),
    optional("connect", FieldKind::List),
    optional("listen", FieldKind::List),
    optional("env", FieldKind::List),
    optional("run", FieldKind::List),
];
const BUDGET: &[RowField] = &[
    field("kind"),
    optional("plugin", FieldKind::Text),
    optional("per", FieldKind::Text),
    optional("max_mints", FieldKind::Number),
    optional("max_uses", FieldKind::Number),
    optional("max_units", FieldKind::Number),
];
const BY_ORIGIN: &str = "unattended if official, else ask";

// id: key; type and order; default; set by; a repository may
table! {
    /// `trust`.
    Trust: ["trust"], K::Words(TrustMode::NAMES), Word("tofu"), Any, Tighten;
    /// `plugins.enabled`.
    Enabled: ["plugins", "enabled"], K::Allowlist, Unset, Any, Tighten;
    /// `plugins.disabled`.
    Disabled: ["plugins", "disabled"], K::Denylist, Unset, Any, Tighten;
    /// `plugins.auto_install`.
    AutoInstall: ["plugins", "auto_install"], K::Flag { loose: true }, Flag(true), Any, Tighten;
    /// `plugins.shutdown_timeout_secs`.
    ShutdownTimeout: ["plugins", "shutdown_timeout_secs"], K::Number { max: 65_535 }, Number(5), Any, Tighten;
    /// `plugins.prefix`.
    Prefix: ["plugins", "prefix"], K::Word, Word("plugward"), Files, Ignore;
    /// `plugins.registry`.
    Registry: ["plugins", "registry"], K::Registry, Unset, Files, Ignore;
    /// `plugins.command.<id>.install`.
    CommandInstall: ["plugins", "command", "<id>", "install"], K::Flag { loose: true },
        Decided { strictest: "false", by: "auto_install if official, else false" }, Any, Tighten;
    /// `plugins.command.<id>.run`.
    CommandRun: ["plugins", "command", "<id>", "run"], K::Words(RunRule::NAMES),
        Decided { strictest: "ask", by: BY_ORIGIN }, Any, Tighten;
    /// `plugins.command.<id>.checksum`.
    CommandChecksum: ["plugins", "command", "<id>", "checksum"], K::Checksum, Unset, Any, Add;
    /// `plugins.command.<id>.options`.
    CommandOptions: ["plugins", "command", "<id>", "options"], K::Opaque, Unset, Any, Set;
    /// `plugins.bundle."<selector>".run`.
    BundleRun: ["plugins", "bundle", "<selector>", "run"], K::Words(RunRule::NAMES), Word("unattended"), Any, Tighten;
    /// `plugins.approval`.
    Approval: ["plugins", "approval"], K::Words(ApprovalRule::NAMES), Word("off"), Any, Tighten;
    /// `plugins.max_risk`.
    MaxRisk: ["plugins", "max_risk"], K::Words(words!["CRITICAL HIGH MEDIUM LOW"]), Word("MEDIUM"), Any, Tighten;
    /// `plugins.revocation_lists`.
    RevocationLists: ["plugins", "revocation_lists"], K::Texts, Unset, User, Ignore;
    /// `plugins.shared`.
    Shared: ["plugins", "shared"], K::Texts, Unset, User, Ignore;
    /// `plugins.wasm`, which is reserved and has no effect.
    Wasm: ["plugins", "wasm"], K::Opaque, Unset, Any, Set;
    /// `pins.on_store_error`.
    StoreError: ["pins", "on_store_error"], K::Words(StoreErrorRule::NAMES),
        Decided { strictest: "refuse", by: "ask at a terminal, unless the trust mode is `locked`" }, Any, Tighten;
    /// `pins.exclude_vcs`.
    ExcludeVcs: ["pins", "exclude_vcs"], K::Flag { loose: true }, Flag(true), Any, Tighten;
    /// `limits.tree_files`.
    TreeFiles: ["limits", "tree_files"], K::Number { max: i64::MAX as u64 }, Number(20_000), Any, Tighten;
    /// `limits.tree_bytes`.
    TreeBytes: ["limits", "tree_bytes"], K::Number { max: i64::MAX as u64 }, Number(512 << 20), Any, Tighten;
    /// `limits.file_bytes`.
    FileBytes: ["limits", "file_bytes"], K::Number { max: i64::MAX as u64 }, Number(256 << 20), Any, Tighten;
    /// `limits.tree_depth`.
    TreeDepth: ["limits", "tree_depth"], K::Number { max: i64::MAX as u64 }, Number(64), Any, Tighten;
    /// `lock.signers`.
    Signers: ["lock", "signers"], K::Rows(SIGNER), Unset, User, Ignore;
    /// `scan.ask`.
    ScanAsk: ["scan", "ask"], K::Words(ScanAsk::NAMES), Word("person"), User, Ignore;
    /// `scan.suppress`.
    Suppressions: ["scan", "suppress"], K::Rows(SUPPRESSION), Unset, User, Ignore;
    /// `scan.profile`.
    Profile: ["scan", "profile"], K::Words(words!["general strict-plugin"]),
        Decided { strictest: "strict-plugin", by: "strict-plugin for plugins, general for `scan`" }, User, Ignore;
    /// `scan.packages`.
    Packages: ["scan", "packages"], K::Texts, Unset, User, Ignore;
    /// `scan.rules`.
    ScanRules: ["scan", "rules"], K::Texts, Unset, User, Ignore;
    /// `hooks.raw`.
    RawOutput: ["hooks", "raw"], K::Words(RawOutput::NAMES), Word("user"), User, Ignore;
    /// `hooks.grants`.
    RawGrants: ["hooks", "grants"], K::Rows(GRANT), Unset, User, Ignore;
    /// `launch.access`.
    LaunchAccess: ["launch", "access"], K::Words(LaunchAccess::NAMES), Word("user"), Any, Tighten;
    /// `launch.enforce`.
    LaunchEnforce: ["launch", "enforce"], K::Words(LaunchEnforcement::NAMES), Word("require"), Any, Tighten;
    /// `launch.grants`.
    LaunchGrants: ["launch", "grants"], K::Rows(LAUNCH_GRANT), Unset, User, Ignore;
    /// `capability.budgets`.
    Budgets: ["capability", "budgets"], K::Rows(BUDGET), Unset, User, Ignore;
    /// `audit.client`.
    AuditClient: ["audit", "client"], K::Words(words!["none openai anthropic"]), Word("none"), User, Ignore;
    /// `audit.base_url`.
    AuditBaseUrl: ["audit", "base_url"], K::Text, Unset, User, Ignore;
    /// `audit.model`.
    AuditModel: ["audit", "model"], K::Text, Unset, User, Ignore;
    /// `audit.api_key_env`.
    AuditApiKeyEnv: ["audit", "api_key_env"], K::Text, Unset, User, Ignore;
    /// `audit.max_tokens`.
    AuditMaxTokens: ["audit", "max_tokens"], K::Number { max: u32::MAX as u64 }, Number(4_096), User, Ignore;
    /// `audit.timeout_secs`.
    AuditTimeout: ["audit", "timeout_secs"], K::Number { max: 86_400 }, Number(600), User, Ignore;
    /// `audit.max_request_kib`.
    AuditMaxRequest: ["audit", "max_request_kib"], K::Number { max: 65_536 }, Number(256), User, Ignore;
    /// `audit.confirm_tokens`.
    AuditConfirmTokens: ["audit", "confirm_tokens"], K::Number { max: i64::MAX as u64 }, Number(50_000), User, Ignore;
    /// `hosts.<id>`, whose fields are those of a row in the table of hosts.
    Hosts: ["hosts", "<id>"], K::Opaque, Unset, User, Ignore;
    /// `workspaces."<absolute path>"`.
    Workspaces: ["workspaces"], K::Workspaces, Unset, Files, Ignore;
    /// `final`.
    Final: ["final"], K::Keys, Unset, Managed, Ignore;
}
