//! The words of an audit: its kind, the risk that it found, and its advice.

use core::str::FromStr;

use crate::{Finding, ParseError, ParseErrorKind, Severity};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$one:meta])* $variant:ident = $word:literal),* $(,)? } $what:literal
     $expected:literal) => {
        crate::named! {
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
            #[expect(clippy::exhaustive_enums, reason = "every host must handle a new word")]
            pub enum $name { $($(#[$one])* $variant = $word),* }
        }

        impl $name {
            /// The words, as a phrase for error messages.
            pub const EXPECTED: &'static str = $expected;
        }

        impl FromStr for $name {
            type Err = ParseError;

            fn from_str(text: &str) -> Result<Self, ParseError> {
                let kind = ParseErrorKind::Shape { expected: $expected };
                Self::from_name(text).ok_or(ParseError::new($what, kind))
            }
        }
    };
}

words! {
    /// The kind of an audit.
    AuditKind {
        /// The language model and the rules.
        Deep = "deep",
        /// The rules only.
        Static = "static",
    } "kind of audit" "`deep` or `static`"
}

words! {
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
    } "risk" "`LOW`, `MEDIUM`, `HIGH` or `CRITICAL`"
}

words! {
    /// The advice of an audit. An approval never has a rejecting audit.
    ///
    /// # Guarantees
    /// The order is `Approve < ApproveWithConditions < Reject`.
    AuditVerdict {
        /// Approve.
        Approve = "approve",
        /// Approve under the conditions in the audit.
        ApproveWithConditions = "approve-with-conditions",
        /// Do not approve.
        Reject = "reject",
    } "verdict of an audit" "`approve`, `approve-with-conditions` or `reject`"
}

impl Risk {
    /// Returns the risk that findings show: high for a danger finding, medium for a suspicious one, else low.
    #[must_use]
    pub fn of_findings<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Self {
        match findings.into_iter().map(|finding| finding.severity).max() {
            Some(Severity::Danger) => Self::High,
            Some(Severity::Warning) => Self::Medium,
            Some(Severity::Info) | None => Self::Low,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_has_one_text() {
        for risk in [Risk::Low, Risk::Medium, Risk::High, Risk::Critical] {
            assert_eq!(risk.to_string().parse(), Ok(risk));
        }
        for verdict in [AuditVerdict::Approve, AuditVerdict::ApproveWithConditions, AuditVerdict::Reject] {
            assert_eq!(verdict.to_string().parse(), Ok(verdict));
        }
        assert_eq!("deep".parse(), Ok(AuditKind::Deep));
        assert_eq!("low".parse::<Risk>().unwrap_err().code(), "parse/shape");
        assert!(Risk::Low < Risk::Medium && Risk::High < Risk::Critical);
        assert!(AuditVerdict::ApproveWithConditions < AuditVerdict::Reject);
    }
}
