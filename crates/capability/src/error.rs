//! What is no scope, and what can go wrong with a trail.

use plugward_ledger::LedgerError;
use thiserror::Error;

/// A scope, name or operation that cannot be built from what was given.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("build the {what}: `{}`: {why}", .part.escape_debug())]
pub struct ScopeError {
    row: Row,
    what: &'static str,
    part: String,
    why: &'static str,
}

impl ScopeError {
    pub(crate) fn new(row: Row, what: &'static str, part: &str, why: &'static str) -> Self {
        // What is shown is bounded; it may come from a stranger.
        Self { row, what, part: part.chars().take(120).collect(), why }
    }

    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.row.0
    }

    /// Says what to write instead.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        self.row.1
    }

    /// Gives the part that does not fit, at most 120 characters of it.
    #[must_use]
    pub fn part(&self) -> &str {
        &self.part
    }
}

/// A trail that could not record what it had to.
///
/// # Guarantees
/// Whoever gets one has no capability and no use.
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

    /// Says what went wrong.
    #[must_use]
    pub const fn kind(&self) -> &TrailErrorKind {
        &self.kind
    }

    /// Gives the stable code; that of the ledger, where the ledger failed.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.source.as_ref().map_or_else(|| self.kind.row().0, LedgerError::code)
    }

    /// Says what to do next.
    #[must_use]
    pub fn help(&self) -> &'static str {
        self.source.as_ref().map_or_else(|| self.kind.row().1, LedgerError::help)
    }
}

/// What went wrong with a trail.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TrailErrorKind {
    /// The ledger did not take the record; the source says why.
    #[error("record it in the ledger")]
    Ledger,
    /// The end of a use could not be recorded.
    #[error("go on with a trail on which the end of a use is missing")]
    Poisoned,
    /// The ledger was opened without the counters of a trail.
    #[error("open a trail on a ledger without its fold")]
    NoFold,
    /// The workflow is open with other budgets.
    #[error("open the workflow `{workflow}`: it is open with other budgets")]
    Budgets {
        /// The workflow.
        workflow: String,
    },
    /// The workflow is not open.
    #[error("close the workflow `{workflow}`: it is not open")]
    NotOpen {
        /// The workflow.
        workflow: String,
    },
    /// A key that names no capability of an open workflow.
    #[error("revoke capability {serial} of `{workflow}`: no open workflow has it")]
    NoSuchGrant {
        /// The workflow.
        workflow: String,
        /// The serial.
        serial: u64,
    },
    /// The record type is written by the trail or the mint alone.
    #[error("record a {type_name}: only the trail writes those, with the deed that belongs to it")]
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

/// Every code that this crate can emit beside those of the ledger, each with what to do next.
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

const LEDGER: Row = ("trail/ledger", "see the ledger's own code");
const POISONED: Row =
    ("trail/poisoned", "start again: the end of a use could not be recorded, so nothing more is granted");
const NO_FOLD: Row = ("trail/no-fold", "open the ledger with `plugward_capability::folds()`");
const BUDGETS: Row =
    ("trail/workflow-budgets", "join the workflow with the budgets that it has, or choose another id");
const NOT_OPEN: Row =
    ("trail/workflow-not-open", "open the workflow first; it may have been closed by another process");
const NO_SUCH_GRANT: Row =
    ("trail/no-such-grant", "look up the workflow and the serial with `plugward ledger show`");
const RESERVED: Row =
    ("trail/reserved", "use `Mint`, `Trail::try_use`, `Trail::revoke` or the workflow functions instead");
pub(crate) const NAME: Row = ("scope/name", "write 1 to 256 bytes of printable text");
pub(crate) const REGISTRY: Row = (
    "scope/registry",
    "write an https URL with a lower-case host, without user, query or fragment; http for loopback only",
);
pub(crate) const SPEC: Row =
    ("scope/spec", "name a package of the registry, with a version or range if you like");
pub(crate) const PLACE: Row = ("scope/place", "take label and identity from the jail: 1 to 1024 bytes each");
pub(crate) const NAMESPACE: Row =
    ("scope/namespace", "write a prefix of branch names that ends in `/`, such as `plugins/acme/`");
pub(crate) const BRANCH: Row = ("scope/branch", "write a branch name that git accepts");
pub(crate) const REVISION: Row =
    ("scope/revision", "write a commit id, tag or branch that does not start with `-`");
pub(crate) const PATHS: Row =
    ("scope/paths", "name at least one path below the repository, without `..` and not absolute");
pub(crate) const MESSAGE: Row = ("scope/message", "write a commit message of 1 byte to 64 KiB");
pub(crate) const HOST: Row = ("scope/host", "write an ASCII name, an IP literal, or `*.` and a name");
pub(crate) const PORT: Row = ("scope/port", "write a port from 1 to 65535");
pub(crate) const PROGRAM: Row = ("scope/program", "name the program without a path, or give its digest");
pub(crate) const ARGV: Row = ("scope/argv", "write whole arguments; `**` only as the last one");
pub(crate) const VARIABLE: Row =
    ("scope/variable", "write names of letters, digits and `_` that start with no digit");
pub(crate) const MODULE: Row =
    ("scope/module", "write module names as the manifest declares them: a-z, 0-9 and `-`");
pub(crate) const HOOK: Row = ("scope/hook", "write the hook's id: 1 to 256 bytes of printable text");
pub(crate) const TOOL: Row = ("scope/tool", "write exact tool names, or `*` alone");
pub(crate) const MODEL: Row = ("scope/model", "write `provider/model`");
pub(crate) const EMPTY: Row = ("scope/empty", "name at least one");
pub(crate) const TOO_LONG: Row =
    ("scope/too-long", "write at most 256 items of at most 1024 bytes, and 32 KiB together");
pub(crate) const NOT_BEGUN: Row =
    ("scope/not-begun", "begin this operation with `Trail::try_use` first, and hand over its guard");
pub(crate) const M_CLOSED: Row = ("mint/workflow-closed", "open a workflow and mint for that");
pub(crate) const M_BUDGET: Row =
    ("mint/over-budget", "see `plugward ledger budget`; raise the limit where the workflow is opened");
pub(crate) const M_LIFETIME: Row =
    ("mint/lifetime", "ask for more than no time, and for an end before the year 10000");
pub(crate) const M_CONFLICT: Row = (
    "mint/conflict",
    "give raw hook output and a way to the network to different plugins, or set `Record` and look at the warning",
);
pub(crate) const M_BUNDLE: Row = ("mint/bundle", "ask for 1 to 64 scopes, each once");
pub(crate) const U_TEST: Row =
    ("use/test-serial", "use a capability that `Mint` made: this one is for tests");
pub(crate) const U_FOREIGN: Row =
    ("use/foreign-ledger", "use the capability with the trail that it was minted on");
pub(crate) const U_UNKNOWN: Row =
    ("use/unknown-serial", "mint it: no record of this capability is in the ledger");
pub(crate) const U_CLOSED: Row = ("use/workflow-closed", "open a new workflow and mint for that");
pub(crate) const U_REVOKED: Row = ("use/revoked", "see who revoked it and why with `plugward ledger show`");
pub(crate) const U_EXPIRED: Row = ("use/expired", "mint a new one");
pub(crate) const U_COVERED: Row = ("use/not-covered", "mint a capability whose scope names this operation");
pub(crate) const U_BUDGET: Row =
    ("use/over-budget", "see `plugward ledger budget`; raise the limit where the workflow is opened");
