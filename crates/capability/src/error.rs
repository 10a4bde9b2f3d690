//! Errors of scopes and trails, and every code that this crate emits.

use plugward_ledger::LedgerError;
use thiserror::Error;

/// An invalid scope, name or operation.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("invalid {what} `{}`: {why}", .part.escape_debug())]
pub struct ScopeError {
    row: Row,
    what: &'static str,
    part: String,
    why: &'static str,
}

impl ScopeError {
    pub(crate) fn new(row: Row, what: &'static str, part: &str, why: &'static str) -> Self {
        // Truncated, because the text can come from a plugin.
        Self { row, what, part: part.chars().take(120).collect(), why }
    }

    /// Returns the stable code, as listed in [`CODES`].
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.row.0
    }

    /// Returns the help for the code.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        self.row.1
    }

    /// Returns the invalid part, truncated to 120 characters.
    #[must_use]
    pub fn part(&self) -> &str {
        &self.part
    }
}

/// A record that a trail had to write and could not.
///
/// # Guarantees
///
/// After an error there is no capability and no use.
#[derive(Debug, Error)]
#[error("{kind}")]
pub struct TrailError {
    kind: TrailErrorKind,
    #[source]
    source: Option<LedgerError>,
}

impl TrailError {
    pub(crate) const fn new(kind: TrailErrorKind) -> Self {
        Self { kind, source: None }
    }

    pub(crate) const fn ledger(source: LedgerError) -> Self {
        Self { kind: TrailErrorKind::Ledger, source: Some(source) }
    }

    /// Returns the kind of the error.
    #[must_use]
    pub const fn kind(&self) -> &TrailErrorKind {
        &self.kind
    }

    /// Returns the stable code. If the ledger failed, it is the ledger's code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.source.as_ref().map_or_else(|| self.kind.row().0, LedgerError::code)
    }

    /// Returns the help for the code.
    #[must_use]
    pub fn help(&self) -> &'static str {
        self.source.as_ref().map_or_else(|| self.kind.row().1, LedgerError::help)
    }
}

/// The kind of a [`TrailError`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TrailErrorKind {
    /// The ledger did not accept the record. The source has the reason.
    #[error("the ledger did not accept the record")]
    Ledger,
    /// The end of a use could not be recorded.
    #[error("the trail was stopped, because the end of a use could not be recorded")]
    Poisoned,
    /// The ledger was opened without the fold of the trail.
    #[error("the ledger was opened without the fold of the trail")]
    NoFold,
    /// The workflow is open with other budgets.
    #[error("workflow `{workflow}` is already open with other budgets")]
    Budgets {
        /// The workflow.
        workflow: String,
    },
    /// The workflow is not open.
    #[error("workflow `{workflow}` is not open")]
    NotOpen {
        /// The workflow.
        workflow: String,
    },
    /// The key is not that of a capability in an open workflow.
    #[error("no open workflow `{workflow}` has a capability {serial}")]
    NoSuchGrant {
        /// The workflow.
        workflow: String,
        /// The serial.
        serial: u64,
    },
    /// Only the trail or the mint writes this type of record.
    #[error("records of type {type_name} are written by the trail only")]
    Reserved {
        /// The type.
        type_name: &'static str,
    },
}

impl TrailErrorKind {
    const fn row(&self) -> Row {
        match self {
            Self::Ledger => LEDGER,
            Self::Poisoned => POISONED,
            Self::NoFold => NO_FOLD,
            Self::Budgets { .. } => BUDGETS,
            Self::NotOpen { .. } => NOT_OPEN,
            Self::NoSuchGrant { .. } => NO_SUCH_GRANT,
            Self::Reserved { .. } => RESERVED,
        }
    }
}

pub(crate) type Row = (&'static str, &'static str);

/// Every code that this crate emits in addition to those of the ledger, with its help.
pub const CODES: &[(&str, &str)] = &[
    LEDGER,
    POISONED,
    NO_FOLD,
    BUDGETS,
    NOT_OPEN,
    NO_SUCH_GRANT,
    RESERVED,
    NAME,
    REGISTRY,
    SPEC,
    PLACE,
    NAMESPACE,
    BRANCH,
    REVISION,
    PATHS,
    MESSAGE,
    HOST,
    PORT,
    PROGRAM,
    ARGV,
    VARIABLE,
    MODULE,
    HOOK,
    TOOL,
    MODEL,
    EMPTY,
    TOO_LONG,
    NOT_BEGUN,
    M_CLOSED,
    M_BUDGET,
    M_LIFETIME,
    M_CONFLICT,
    M_BUNDLE,
    U_TEST,
    U_FOREIGN,
    U_UNKNOWN,
    U_CLOSED,
    U_REVOKED,
    U_EXPIRED,
    U_COVERED,
    U_BUDGET,
];

const LEDGER: Row = ("trail/ledger", "see the code of the ledger error");
const POISONED: Row =
    ("trail/poisoned", "restart: the end of a use could not be recorded, so nothing more is granted");
const NO_FOLD: Row = ("trail/no-fold", "open the ledger with `plugward_capability::folds()`");
const BUDGETS: Row =
    ("trail/workflow-budgets", "join the workflow with its existing budgets, or use another id");
const NOT_OPEN: Row =
    ("trail/workflow-not-open", "open the workflow first; another process may have closed it");
const NO_SUCH_GRANT: Row = ("trail/no-such-grant", "look up the workflow and serial: plugward ledger show");
const RESERVED: Row =
    ("trail/reserved", "use `Mint`, `Trail::try_use`, `Trail::revoke` or the workflow functions");
pub(crate) const NAME: Row = ("scope/name", "use 1 to 256 bytes of printable text");
pub(crate) const REGISTRY: Row = (
    "scope/registry",
    "use an https URL with a lowercase host and no user, query or fragment (http for loopback only)",
);
pub(crate) const SPEC: Row = ("scope/spec", "use a package name, optionally with a version or range");
pub(crate) const PLACE: Row =
    ("scope/place", "use the label and identity that the jail reports: 1 to 1024 bytes each");
pub(crate) const NAMESPACE: Row =
    ("scope/namespace", "use a branch prefix that ends in `/`, such as `plugins/acme/`");
pub(crate) const BRANCH: Row = ("scope/branch", "use a branch name that git accepts");
pub(crate) const REVISION: Row =
    ("scope/revision", "use a commit id, tag or branch that does not start with `-`");
pub(crate) const PATHS: Row =
    ("scope/paths", "name at least one relative path in the repository, without `..`");
pub(crate) const MESSAGE: Row = ("scope/message", "use a commit message of 1 byte to 64 KiB");
pub(crate) const HOST: Row = ("scope/host", "use an ASCII name, an IP literal, or `*.` followed by a name");
pub(crate) const PORT: Row = ("scope/port", "use a port from 1 to 65535");
pub(crate) const PROGRAM: Row = ("scope/program", "use the program name without a path, or its digest");
pub(crate) const ARGV: Row = ("scope/argv", "use complete arguments; `**` only as the last one");
pub(crate) const VARIABLE: Row = ("scope/variable", "use letters, digits and `_`, not starting with a digit");
pub(crate) const MODULE: Row =
    ("scope/module", "use module names as declared in the manifest: a-z, 0-9 and `-`");
pub(crate) const HOOK: Row = ("scope/hook", "use a hook id of 1 to 256 printable bytes");
pub(crate) const TOOL: Row = ("scope/tool", "use exact tool names, or `*` alone");
pub(crate) const MODEL: Row = ("scope/model", "use the form `provider/model`");
pub(crate) const EMPTY: Row = ("scope/empty", "name at least one item");
pub(crate) const TOO_LONG: Row =
    ("scope/too-long", "use at most 256 items of 1024 bytes, and 32 KiB in total");
pub(crate) const NOT_BEGUN: Row =
    ("scope/not-begun", "begin the operation with `Trail::try_use`, and pass its guard");
pub(crate) const M_CLOSED: Row = ("mint/workflow-closed", "open a new workflow");
pub(crate) const M_BUDGET: Row =
    ("mint/over-budget", "see `plugward ledger budget`, or raise the limit where the workflow is opened");
pub(crate) const M_LIFETIME: Row =
    ("mint/lifetime", "use a lifetime above zero that ends before the year 10000");
pub(crate) const M_CONFLICT: Row = (
    "mint/conflict",
    "give raw hook output and network access to different plugins, or set `LedgerRecord` and review the warning",
);
pub(crate) const M_BUNDLE: Row = ("mint/bundle", "request 1 to 64 distinct scopes");
pub(crate) const U_TEST: Row = ("use/test-serial", "use a capability from `Mint`: this one is for tests");
pub(crate) const U_FOREIGN: Row = ("use/foreign-ledger", "use the capability with the trail that minted it");
pub(crate) const U_UNKNOWN: Row =
    ("use/unknown-serial", "mint it: the ledger has no record of this capability");
pub(crate) const U_CLOSED: Row = ("use/workflow-closed", "open a new workflow");
pub(crate) const U_REVOKED: Row = ("use/revoked", "see who revoked it and why: plugward ledger show");
pub(crate) const U_EXPIRED: Row = ("use/expired", "mint a new capability");
pub(crate) const U_COVERED: Row =
    ("use/not-covered", "mint a capability whose scope includes this operation");
pub(crate) const U_BUDGET: Row =
    ("use/over-budget", "see `plugward ledger budget`, or raise the limit where the workflow is opened");
