//! Names that are written to records and shown to people.

use core::fmt;
use core::str::FromStr;

use plugward_types::escape::is_hidden;

use crate::error::{NAME, ScopeError};

// Names are shown in tables and stored in every record of a plugin.
const MAX: usize = 256;

/// Returns `true` if every character is visible: no control, format or bidi characters.
pub(crate) fn is_printable(text: &str) -> bool {
    // A variation selector belongs to the emoji or ideograph before it.
    let is_selector = |c: char| matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
    !text.chars().any(|c| is_hidden(c) && !is_selector(c))
}

fn parse(what: &'static str, text: &str) -> Result<String, ScopeError> {
    if text.is_empty() || text.len() > MAX {
        return Err(ScopeError::new(NAME, what, text, "it does not have 1 to 256 bytes"));
    }
    if !is_printable(text) {
        return Err(ScopeError::new(NAME, what, text, "it has an invisible character"));
    }
    Ok(text.to_owned())
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// Creates a name from 1 to 256 bytes of printable text.
            ///
            /// # Errors
            ///
            /// `scope/name` for another length, and for control, format and bidi characters.
            pub fn new(text: &str) -> Result<Self, ScopeError> {
                parse($what, text).map(Self)
            }

            /// Returns the text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = ScopeError;

            fn from_str(text: &str) -> Result<Self, ScopeError> {
                Self::new(text)
            }
        }
    };
}

name! {
    /// The name of a plugin in the ledger, such as `claude:hookify@team`.
    PluginName, "plugin name"
}

name! {
    /// The id of a workflow.
    WorkflowId, "workflow id"
}
