//! The error of building a firewall, and every code that this crate emits.

use thiserror::Error;

/// Every code that this crate emits, with its help.
pub const CODES: &[(&str, &str)] = &[
    ("redact/dead-rule", "write a linear-time regex, with keywords of 2 to 64 bytes"),
    ("redact/rule-name", "give each rule a unique name of at most 40 lowercase letters, digits and hyphens"),
    ("redact/found", "nothing: the value was removed; if it is live, revoke it"),
    ("redact/laundered", "inspect the hook that changed the text: it contained an encoded secret"),
    (
        "redact/example",
        "nothing: this is a documented example key; set `examples` to redact to remove it too",
    ),
    ("redact/noted", "nothing: the rule only notes"),
    ("redact/withheld", "look at the output at its source: a rule withholds all of it"),
    ("transport/unreachable", "check the network and the provider's address"),
    ("transport/refused", "check the key and quota at the model provider"),
    ("transport/timed-out", "try again, or raise the timeout"),
    ("transport/unreadable", "check the provider's address: the reply was not understood"),
    ("redact/unscanned", "inspect the source of this part: it exceeded a size or depth limit"),
];

/// The error of building a [`Firewall`](crate::Firewall): a custom rule cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{kind} `{rule}`{}", .because.as_deref().map(|why| format!(": {why}")).unwrap_or_default())]
pub struct RedactError {
    kind: RedactErrorKind,
    rule: String,
    because: Option<String>,
}

/// The kind of a [`RedactError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RedactErrorKind {
    /// A rule that could never match: its expression does not compile, or it has no keyword.
    #[error("dead rule")]
    DeadRule,
    /// A name that is taken, empty or too long, or has bytes other than `a-z`, `0-9` and `-`.
    #[error("unusable rule name")]
    RuleName,
}

impl RedactError {
    pub(crate) fn new(kind: RedactErrorKind, rule: &str) -> Self {
        Self { kind, rule: short(rule), because: None }
    }

    pub(crate) fn because(kind: RedactErrorKind, rule: &str, why: String) -> Self {
        Self { kind, rule: short(rule), because: Some(why) }
    }

    /// Returns the kind of the error.
    #[must_use]
    pub const fn kind(&self) -> RedactErrorKind {
        self.kind
    }

    /// Returns the name of the rule or setting, without control characters, cut after 60 characters.
    #[must_use]
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// Returns the stable code, as listed in [`CODES`].
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            RedactErrorKind::DeadRule => "redact/dead-rule",
            RedactErrorKind::RuleName => "redact/rule-name",
        }
    }

    /// Returns the help for the code.
    #[must_use]
    pub fn help(&self) -> &'static str {
        CODES.iter().find(|(code, _)| *code == self.code()).map_or("", |(_, help)| help)
    }
}

fn short(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(60).collect()
}
