//! The results of a verifier.

use core::fmt;

use plugward_types::escape;
use thiserror::Error;

/// The result of one verifier for one tree.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "only `Confirmed` confirms the tree"]
#[expect(clippy::exhaustive_enums, reason = "a new answer must stop every host from building")]
pub enum VerifierCheck {
    /// The verifier confirms these bytes.
    Confirmed(Claim),
    /// The verifier does not cover this plugin.
    NotMentioned,
    /// The bytes are not the confirmed ones, or are not signed with a required key.
    Refused(VerifierRefusal),
}

/// The claim of a verifier that confirms a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "reports must not call a new claim by the name of another")]
pub enum Claim {
    /// The bytes are the recorded ones. Anyone who can write the record can change it.
    Integrity,
    /// A signature covers the bytes.
    Signed {
        /// The signature scheme, such as `minisign`.
        scheme: &'static str,
        /// The signer, who is stored in the pin so that a later change of signer is detected.
        signer: SignerId,
        /// The signed comment, if the scheme has one. Escape it before you print it.
        comment: Option<String>,
    },
}

/// The stable name of a signer: a key id or an identity.
///
/// # Guarantees
/// 1 to 512 bytes without whitespace, control, format or bidirectional characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignerId(String);

impl SignerId {
    /// Creates a name; `None` if the text breaks the rules of the type.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let good = |c: char| !c.is_whitespace() && !escape::is_hidden(c);
        (!text.is_empty() && text.len() <= 512 && text.chars().all(good)).then(|| Self(text.to_owned()))
    }

    /// Returns the name.
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

/// A refusal of a verifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierRefusal {
    code: &'static str,
    text: String,
    help: String,
}

impl VerifierRefusal {
    /// Creates a refusal with a stable code `area/name`, a fragment that states the cause, and the next step.
    #[must_use]
    pub fn new(code: &'static str, text: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, text: text.into(), help: help.into() }
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.code
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &str {
        &self.help
    }
}

impl fmt::Display for VerifierRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape::name(self.text.as_bytes()))
    }
}

/// A failure of a verifier.
#[derive(Debug, Error)]
#[error("verifier {}: {}", escape::name(.name.as_bytes()), escape::name(.text.as_bytes()))]
pub struct VerifierError {
    name: String,
    text: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl VerifierError {
    /// Creates an error, to which [`verify_all`](crate::verify_all) adds the verifier's name.
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

    /// Returns the name of the verifier.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "lock/verifier"
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> String {
        "fix the cause that the verifier reports, or remove it from your settings; a failure never counts as a pass".into()
    }
}
