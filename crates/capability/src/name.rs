//! Names that are written into records and shown to people.

use core::fmt;
use core::str::FromStr;

use crate::error::{NAME, ScopeError};

const MAX: usize = 256;

/// Whether every character can be seen for what it is: no control, no format, no bidirectional character.
pub(crate) fn is_printable(text: &str) -> bool {
    !text.chars().any(|c| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    })
}

fn parse(what: &'static str, text: &str) -> Result<String, ScopeError> {
    if text.is_empty() || text.len() > MAX {
        return Err(ScopeError::new(NAME, what, text, "it has not 1 to 256 bytes"));
    }
    if !is_printable(text) {
        return Err(ScopeError::new(NAME, what, text, "it has a character that cannot be seen"));
    }
    Ok(text.to_owned())
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// Takes 1 to 256 bytes of printable text.
            ///
            /// # Errors
            /// `scope/name` for another length, and for control, format and bidirectional characters.
            pub fn new(text: &str) -> Result<Self, ScopeError> {
                parse($what, text).map(Self)
            }

            /// Gives the text.
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
    /// Names a plugin as the ledger knows it, `claude:hookify@team` for example.
    Name, "plugin name"
}

name! {
    /// Names one unit of work.
    WorkflowId, "workflow id"
}
