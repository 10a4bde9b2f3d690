//! Errors of loading rules and of scanning a plugin.

use thiserror::Error;

/// Every code of this crate's errors and notices, with one line of help each.
pub const CODES: &[(&str, &str)] = &[
    ("rules/bad-id", "use family/name with a-z, 0-9 and -; your own rules start with local/"),
    ("rules/dead", "make each bad case match exactly this rule and its `with`, or fix the match"),
    ("rules/duplicate-id", "use a unique rule id"),
    ("rules/eager", "narrow the match so that no good case matches"),
    ("rules/no-literal", "add a literal of at least 4 bytes to each alternative, or set slow = true"),
    ("rules/parse", "fix the TOML, the pattern or the name at the given position"),
    ("rules/too-few-cases", "add at least 2 bad and 2 good cases per rule"),
    ("rules/too-large", "split the rule file, or shorten the pattern"),
    ("rules/unbounded", "bound each repetition, such as {0,40}: a match is at most 4096 bytes"),
    ("rules/unknown-field", "check the spelling of the field against docs/rules.md, or remove it"),
    ("rules/version", "set version = 1"),
    ("scan/duplicate-path", "pass each path once"),
    ("scan/internal", "report this bug with the file it names"),
    ("scan/suppression-expired", "review the finding, then renew or remove the suppression"),
    ("scan/suppression-unused", "remove the suppression: it matches no finding"),
    ("scan/suppression-void", "review the finding, then update the digest in the suppression"),
    ("scan/too-large", "scan fewer files at once, or raise the limit in the host"),
    ("scan/too-many", "scan fewer files at once, or raise the limit in the host"),
];

pub(crate) fn help_of(code: &str) -> &'static str {
    CODES.iter().find(|(known, _)| *known == code).map_or("", |(_, help)| help)
}

/// A rule file that was refused. None of its rules is loaded.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("load rules from {}{}: {}{}", .0.file, place(.0.line, .0.column), in_rule(.0.rule.as_deref()), .0.kind)]
pub struct RuleError(Box<RuleFault>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct RuleFault {
    file: String,
    rule: Option<String>,
    line: u32,
    column: u32,
    kind: RuleErrorKind,
}

fn place(line: u32, column: u32) -> String {
    if line == 0 { String::new() } else { format!(":{line}:{column}") }
}

fn in_rule(rule: Option<&str>) -> String {
    rule.map(|rule| format!("rule {rule}: ")).unwrap_or_default()
}

impl RuleError {
    pub(crate) fn new(file: &str, rule: Option<&str>, kind: RuleErrorKind) -> Self {
        let rule = rule.map(str::to_owned);
        Self(Box::new(RuleFault { file: file.to_owned(), rule, line: 0, column: 0, kind }))
    }

    pub(crate) fn at(mut self, line: u32, column: u32) -> Self {
        (self.0.line, self.0.column) = (line, column);
        self
    }

    /// Returns the kind of the fault.
    #[must_use]
    pub fn kind(&self) -> &RuleErrorKind {
        &self.0.kind
    }

    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.kind.code()
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        help_of(self.code())
    }

    /// Returns the id of the faulty rule, if the fault is in a rule.
    #[must_use]
    pub fn rule(&self) -> Option<&str> {
        self.0.rule.as_deref()
    }

    /// Returns the line, from 1; 0 if the fault has no position.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.0.line
    }

    /// Returns the column, from 1; 0 if the fault has no position.
    #[must_use]
    pub fn column(&self) -> u32 {
        self.0.column
    }
}

/// A fault of a rule file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RuleErrorKind {
    /// Text that is not TOML, or a value or pattern that does not parse.
    #[error("{0}")]
    Parse(String),
    /// A field that rules do not have.
    #[error("{0}")]
    UnknownField(String),
    /// Another version of the format.
    #[error("unknown version {0}; expected 1")]
    Version(u32),
    /// An id that is not `family/name`, or not `local/…` in a user's file.
    #[error("invalid rule id {0:?}")]
    BadId(String),
    /// Two rules with the same id.
    #[error("duplicate rule id")]
    DuplicateId,
    /// A pattern whose matches have no maximum length, or one above 4,096 bytes.
    #[error("the pattern {0:?} can match more than 4096 bytes")]
    Unbounded(String),
    /// A pattern that does not require a literal.
    #[error("the pattern {0:?} does not require a literal of 4 bytes")]
    NoLiteral(String),
    /// A rule file that exceeds a limit.
    #[error("{0}")]
    TooLarge(String),
    /// Fewer than two bad or two good cases.
    #[error("{bad} bad and {good} good cases; expected 2 of each")]
    TooFewCases {
        /// Bad cases found.
        bad: usize,
        /// Good cases found.
        good: usize,
    },
    /// A bad case that the rule does not match, or that matches other rules too.
    #[error("bad case {case} in {profile}: expected {expected}, found {found}")]
    Dead {
        /// Number of the case, from 1.
        case: usize,
        /// The profile it ran in.
        profile: &'static str,
        /// The rules that the case lists.
        expected: String,
        /// The rules that matched.
        found: String,
    },
    /// A good case that the rule matches.
    #[error("good case {case} in {profile} matches the rule")]
    Eager {
        /// Number of the case, from 1.
        case: usize,
        /// The profile it ran in.
        profile: &'static str,
    },
}

impl RuleErrorKind {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Parse(_) => "rules/parse",
            Self::UnknownField(_) => "rules/unknown-field",
            Self::Version(_) => "rules/version",
            Self::BadId(_) => "rules/bad-id",
            Self::DuplicateId => "rules/duplicate-id",
            Self::Unbounded(_) => "rules/unbounded",
            Self::NoLiteral(_) => "rules/no-literal",
            Self::TooLarge(_) => "rules/too-large",
            Self::TooFewCases { .. } => "rules/too-few-cases",
            Self::Dead { .. } => "rules/dead",
            Self::Eager { .. } => "rules/eager",
        }
    }
}

/// A plugin that could not be scanned. There is no report; a host refuses the plugin.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("scan the plugin: {kind}")]
pub struct ScanError {
    kind: ScanErrorKind,
}

impl ScanError {
    pub(crate) const fn new(kind: ScanErrorKind) -> Self {
        Self { kind }
    }

    /// Returns the kind of the fault.
    #[must_use]
    pub const fn kind(&self) -> &ScanErrorKind {
        &self.kind
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            ScanErrorKind::DuplicatePath { .. } => "scan/duplicate-path",
            ScanErrorKind::TooMany { .. } => "scan/too-many",
            ScanErrorKind::TooLarge { .. } => "scan/too-large",
            ScanErrorKind::Internal { .. } => "scan/internal",
        }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        help_of(self.code())
    }
}

/// The reason why a plugin could not be scanned.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScanErrorKind {
    /// Two entries with the same path.
    #[error("duplicate path {path:?}")]
    DuplicatePath {
        /// The path.
        path: String,
    },
    /// More entries than the limit.
    #[error("{actual} entries, the limit is {limit}")]
    TooMany {
        /// Entries passed in.
        actual: usize,
        /// The limit.
        limit: usize,
    },
    /// More bytes than the limit.
    #[error("{actual} bytes, the limit is {limit}")]
    TooLarge {
        /// Bytes passed in.
        actual: u64,
        /// The limit.
        limit: u64,
    },
    /// A worker that panicked.
    #[error("internal error while reading {path:?}")]
    Internal {
        /// The file that the worker was reading.
        path: String,
    },
}
