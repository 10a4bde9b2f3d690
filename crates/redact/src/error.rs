//! Why a firewall cannot be made, and every code that this crate can emit.

use thiserror::Error;

/// Every code that this crate can emit, with what a person does next.
pub const CODES: &[(&str, &str)] = &[
    (
        "redact/dead-rule",
        "write the expression in linear-time syntax and give it one to many keywords of 2 to 64 bytes",
    ),
    ("redact/rule-name", "give each rule a name of its own, of at most 40 small letters, digits and hyphens"),
    ("redact/found", "nothing: the value was cut out; if it is live, revoke it at its vendor"),
    ("redact/laundered", "look at the hook that changed the text: it held a secret in another encoding"),
    (
        "redact/example",
        "nothing: this is a documented example key; set `examples` to redact to cut it out too",
    ),
    ("redact/noted", "nothing: the rule is set to note"),
    ("redact/withheld", "look at the output where it was made: a rule withholds it as a whole"),
    ("transport/unreachable", "check the network and the address of the model's vendor"),
    ("transport/refused", "check the key and the quota at the model's vendor"),
    ("transport/timed-out", "try again, or raise the time that the host gives a model"),
    ("transport/unreadable", "check that the address is the one of the model's vendor"),
    (
        "redact/unscanned",
        "look at the part where it was made: it was too large or too deep to be looked into",
    ),
];

/// A firewall that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("make the firewall: {kind} `{rule}`{}", .because.as_deref().map(|why| format!(": {why}")).unwrap_or_default())]
pub struct RedactError {
    kind: RedactErrorKind,
    rule: String,
    because: Option<String>,
}

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RedactErrorKind {
    /// A rule that could never fire: its expression does not compile, or it has no keyword.
    #[error("dead rule")]
    DeadRule,
    /// A name that is taken, empty, too long, or holds other bytes than `a-z`, `0-9` and `-`.
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

    /// Says what is wrong.
    #[must_use]
    pub const fn kind(&self) -> RedactErrorKind {
        self.kind
    }

    /// Names the rule or the setting.
    #[must_use]
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            RedactErrorKind::DeadRule => "redact/dead-rule",
            RedactErrorKind::RuleName => "redact/rule-name",
        }
    }

    /// Says what to do next.
    #[must_use]
    pub fn help(&self) -> &'static str {
        CODES.iter().find(|(code, _)| *code == self.code()).map_or("", |(_, help)| help)
    }
}

fn short(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(60).collect()
}
