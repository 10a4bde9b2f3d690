//! The result of an audit: its kind, risk and advice.

use core::fmt;
use core::str::FromStr;

use crate::{ParseError, ParseErrorKind};

macro_rules! audit_words {
    ($(#[$doc:meta])* $name:ident { $($(#[$one:meta])* $variant:ident = $word:literal),* $(,)? } $what:literal,
     $expected:literal $($derive:ident)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq $(, $derive)*)]
        #[expect(clippy::exhaustive_enums, reason = "every host must handle a new word")]
        pub enum $name { $($(#[$one])* $variant),* }

        impl $name {
            /// The words, as a phrase for messages.
            pub const EXPECTED: &'static str = $expected;

            /// Returns the word in the file.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = ParseError;

            fn from_str(word: &str) -> Result<Self, ParseError> {
                let shape = || ParseError::new($what, ParseErrorKind::Shape { expected: $expected });
                [$(Self::$variant),*].into_iter().find(|one| one.as_str() == word).ok_or_else(shape)
            }
        }
    };
}

audit_words! {
    /// The kind of an audit.
    AuditKind {
        /// The language model and the rules.
        Deep = "deep",
        /// The rules only.
        Static = "static",
    } "kind of an audit", "`deep` or `static`"
}

audit_words! {
    /// The risk of a plugin.
    ///
    /// # Guarantees
    /// The order is `Low < Medium < High < Critical`.
    Risk {
        /// Low.
        Low = "LOW",
        /// Medium.
        Medium = "MEDIUM",
        /// High.
        High = "HIGH",
        /// Critical.
        Critical = "CRITICAL",
    } "risk", "`LOW`, `MEDIUM`, `HIGH` or `CRITICAL`" PartialOrd Ord
}

audit_words! {
    /// The advice of an audit. An approval never has a rejecting audit.
    AuditVerdict {
        /// Approve.
        Approve = "approve",
        /// Approve under the conditions in the audit.
        ApproveWithConditions = "approve-with-conditions",
        /// Do not approve.
        Reject = "reject",
    } "verdict of an audit", "`approve`, `approve-with-conditions` or `reject`"
}
