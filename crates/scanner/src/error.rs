//! Why rules could not be loaded or a plugin could not be scanned.

use thiserror::Error;

/// Every code that this crate's errors and notices can carry, with one line of help each.
pub const CODES: &[(&str, &str)] = &[
    ("rules/bad-id", "write the id as family/name with a-z, 0-9 and -, and local/… in a file of your own"),
    ("rules/dead", "make each bad case show exactly the rule and its `with`, or mend the match"),
    ("rules/duplicate-id", "give the rule an id that no other rule has"),
    ("rules/eager", "narrow the match until no good case shows the rule"),
    ("rules/no-literal", "give each branch of the pattern a literal of 4 bytes, or set slow = true"),
    ("rules/parse", "mend the TOML, the pattern or the name at the place given"),
    ("rules/too-few-cases", "give each rule at least 2 bad and 2 good cases"),
    ("rules/too-large", "split the rule file, or make the pattern smaller"),
    ("rules/unbounded", "bound each repeat, such as {0,40}, so that a match is at most 4096 bytes"),
    ("rules/unknown-field", "remove the field, or spell it as docs/rules.md does"),
    ("rules/version", "write version = 1"),
    ("scan/duplicate-path", "hand in each path once"),
    ("scan/internal", "report this with the file that it names; nothing was decided"),
    ("scan/suppression-expired", "look at the finding again and renew or remove the entry"),
    ("scan/suppression-unused", "remove the entry: no finding matches it"),
    (
        "scan/suppression-void",
        "look at the finding again and renew the entry with the digest of today's bytes",
    ),
    ("scan/too-large", "scan parts of the tree, or raise the limit in the host"),
    ("scan/too-many", "scan parts of the tree, or raise the limit in the host"),
];

pub(crate) fn help_of(code: &str) -> &'static str {
    CODES.iter().find(|(known, _)| *known == code).map_or("", |(_, help)| help)
}

/// A rule file that was refused; no rule of it is in force.
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

    /// Says what is wrong.
    #[must_use]
    pub fn kind(&self) -> &RuleErrorKind {
        &self.0.kind
    }

    /// Gives the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.kind.code()
    }

    /// Says what a person does next.
    #[must_use]
    pub fn help(&self) -> &'static str {
        help_of(self.code())
    }

    /// Names the rule at fault, where one is.
    #[must_use]
    pub fn rule(&self) -> Option<&str> {
        self.0.rule.as_deref()
    }

    /// Gives the line, from 1; 0 where the fault has no place.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.0.line
    }

    /// Gives the column, from 1; 0 where the fault has no place.
    #[must_use]
    pub fn column(&self) -> u32 {
        self.0.column
    }
}

/// What is wrong with a rule file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RuleErrorKind {
    /// Not TOML, or a value or pattern that does not parse.
    #[error("{0}")]
    Parse(String),
    /// A field that no rule has.
    #[error("{0}")]
    UnknownField(String),
    /// Another format.
    #[error("version {0} is not known; expected 1")]
    Version(u32),
    /// Not `family/name`, or not `local/…` in a file of the user's own.
    #[error("the id {0:?} is not allowed here")]
    BadId(String),
    /// Two rules of one id.
    #[error("the id is taken")]
    DuplicateId,
    /// A pattern without a longest match, or with one above 4,096 bytes.
    #[error("the pattern {0:?} can match more than 4096 bytes")]
    Unbounded(String),
    /// A pattern from which no literal can be required.
    #[error("no branch-covering literal of 4 bytes in the pattern {0:?}")]
    NoLiteral(String),
    /// Over a limit of rule files.
    #[error("{0}")]
    TooLarge(String),
    /// Fewer than two bad or two good cases.
    #[error("{bad} bad and {good} good cases; expected 2 of each")]
    TooFewCases {
        /// Bad cases seen.
        bad: usize,
        /// Good cases seen.
        good: usize,
    },
    /// A bad case that is not found, or shows other rules too.
    #[error("bad case {case} in {profile}: expected {expected}, found {found}")]
    Dead {
        /// Number of the case, from 1.
        case: usize,
        /// The profile it ran in.
        profile: &'static str,
        /// The rules that the case names.
        expected: String,
        /// The rules that were found.
        found: String,
    },
    /// A good case that is found.
    #[error("good case {case} in {profile} is found")]
    Eager {
        /// Number of the case, from 1.
        case: usize,
        /// The profile it ran in.
        profile: &'static str,
    },
}

impl RuleErrorKind {
    /// Gives the stable code.
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

    /// Says what is wrong.
    #[must_use]
    pub const fn kind(&self) -> &ScanErrorKind {
        &self.kind
    }

    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            ScanErrorKind::DuplicatePath { .. } => "scan/duplicate-path",
            ScanErrorKind::TooMany { .. } => "scan/too-many",
            ScanErrorKind::TooLarge { .. } => "scan/too-large",
            ScanErrorKind::Internal { .. } => "scan/internal",
        }
    }

    /// Says what a person does next.
    #[must_use]
    pub fn help(&self) -> &'static str {
        help_of(self.code())
    }
}

/// What kept a plugin from being scanned.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScanErrorKind {
    /// Two entries of one path.
    #[error("the path {path:?} was handed in twice")]
    DuplicatePath {
        /// The path.
        path: String,
    },
    /// More entries than the limit.
    #[error("{actual} entries, the limit is {limit}")]
    TooMany {
        /// Entries handed in.
        actual: usize,
        /// The limit.
        limit: usize,
    },
    /// More bytes than the limit.
    #[error("{actual} bytes, the limit is {limit}")]
    TooLarge {
        /// Bytes handed in.
        actual: u64,
        /// The limit.
        limit: u64,
    },
    /// A worker that panicked.
    #[error("a worker stopped while it read {path:?}")]
    Internal {
        /// The file it read.
        path: String,
    },
}
