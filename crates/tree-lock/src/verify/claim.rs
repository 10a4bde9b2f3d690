//! What a verifier answers.

use core::fmt;

use thiserror::Error;

use crate::escape::escape;

/// What a verifier says of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "only `Holds` is a yes"]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum VerifierCheck {
    /// It vouches for these bytes.
    Holds(Claim),
    /// It has nothing to say of this plugin.
    NotMentioned,
    /// It says that these are not the bytes, or not signed by who has to.
    Refused(VerifierRefusal),
}

/// What is claimed where a verifier holds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "reports must not call a new claim by the name of another")]
pub enum Claim {
    /// The bytes are the ones that were written down. Whoever may write that file may change it.
    Integrity,
    /// The bytes are the ones that a signer signed for.
    Signed {
        /// `minisign`, and so on.
        scheme: &'static str,
        /// Who; kept in the pin, so that another signer later is noticed.
        signer: SignerId,
        /// What the signer signed beside the bytes, such as a comment; it has to be escaped by whoever prints it.
        comment: Option<String>,
    },
}

/// A signer's stable name: a key id, or an identity.
///
/// # Guarantees
/// 1 to 512 bytes without blanks, control, format or bidirectional characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignerId(String);

impl SignerId {
    /// Takes a name, or gives `None` where it breaks the rule of the type.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let good = |c: char| !c.is_whitespace() && !crate::escape::is_hidden(c);
        (!text.is_empty() && text.len() <= 512 && text.chars().all(good)).then(|| Self(text.to_owned()))
    }

    /// Gives the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SignerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A verifier's no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierRefusal {
    code: &'static str,
    text: String,
    help: String,
}

impl VerifierRefusal {
    /// Makes a refusal: a stable code `area/name`, a fragment that says why, and what to do next.
    #[must_use]
    pub fn new(code: &'static str, text: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, text: text.into(), help: help.into() }
    }

    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.code
    }

    /// Says what to do next.
    #[must_use]
    pub fn help(&self) -> &str {
        &self.help
    }
}

impl fmt::Display for VerifierRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape(self.text.as_bytes()))
    }
}

/// A verifier could not tell.
#[derive(Debug, Error)]
#[error("ask the verifier {}: {}", escape(.name.as_bytes()), escape(.text.as_bytes()))]
pub struct VerifierError {
    name: String,
    text: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl VerifierError {
    /// Makes an error; [`verify_all`](crate::verify_all) puts the verifier's name to it.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { name: String::new(), text: text.into(), source: None }
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    pub(crate) fn by(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// Gives the name of the verifier.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "lock/verifier"
    }

    /// Says what to do next.
    #[must_use]
    pub fn help(&self) -> String {
        "mend what the verifier names, or take it out of your settings; nothing loads on its silence".into()
    }
}
