//! Using files in a directory.

use plugward_ledger::RecordValue;

use crate::error::{PLACE, ScopeError};
use crate::kinds::MAX_TEXT;
use crate::kinds::kind::{Operation, common, sealed};
use crate::mint::Grant;
use crate::name::is_printable;

/// A directory: a label for people, and its identity.
///
/// The identity is an opaque text that the caller takes from the open jail, such as device and inode numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeDirectory {
    label: String,
    identity: String,
}

impl ScopeDirectory {
    /// Creates a place from the label and identity of a jail.
    ///
    /// # Errors
    ///
    /// `scope/place` for an empty, too long or unprintable part.
    pub fn new(label: &str, identity: &str) -> Result<Self, ScopeError> {
        let good = |text: &str| !text.is_empty() && text.len() <= MAX_TEXT && is_printable(text);
        for part in [label, identity] {
            if !good(part) {
                return Err(ScopeError::new(
                    PLACE,
                    "place",
                    part,
                    "it does not have 1 to 1024 printable bytes",
                ));
            }
        }
        Ok(Self { label: label.to_owned(), identity: identity.to_owned() })
    }

    /// Returns the label, which is not used for decisions.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns the identity.
    #[must_use]
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Returns `true` if both are the same directory: their identities are equal.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        self.identity == other.identity
    }

    pub(crate) fn value(&self) -> [(&'static str, RecordValue); 2] {
        [("label", RecordValue::text(&self.label)), ("identity", RecordValue::text(&self.identity))]
    }
}

/// The level of access to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the two levels of this kind")]
pub enum Access {
    /// Reading and listing.
    Read,
    /// All operations.
    ReadWrite,
}

/// A directory and the level of access to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsScope {
    place: ScopeDirectory,
    access: Access,
}

/// The verb of a file operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the closed set of operations of this kind")]
pub enum FsVerb {
    /// Reads the file.
    Read,
    /// Writes to the file.
    Write,
    /// Creates the file.
    Create,
    /// Removes the file.
    Remove,
    /// Lists a directory.
    List,
}

/// An operation on a path in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the three parts of an operation on a file")]
pub struct FsOp<'a> {
    /// The verb.
    pub verb: FsVerb,
    /// The directory of the jail that performs the operation.
    pub place: &'a ScopeDirectory,
    /// The path in the directory. It is only recorded here; the jail keeps it inside.
    pub path: &'a str,
}

/// Permission to use the files in one directory.
#[must_use]
pub struct FsReadWriteCapability {
    scope: FsScope,
    grant: Grant,
}

common!(FsReadWriteCapability, FsScope, FsOp, FsReadWrite);

impl sealed::Build for FsScope {
    type Made = FsReadWriteCapability;

    fn build(self, grant: Grant) -> FsReadWriteCapability {
        FsReadWriteCapability { scope: self, grant }
    }

    fn value(&self) -> RecordValue {
        let access = match self.access {
            Access::Read => "read",
            Access::ReadWrite => "read-write",
        };
        let [label, identity] = self.place.value();
        RecordValue::object([label, identity, ("access", RecordValue::text(access))])
    }
}

impl FsScope {
    /// Creates a scope.
    #[must_use]
    pub const fn new(place: ScopeDirectory, access: Access) -> Self {
        Self { place, access }
    }

    /// Returns the directory.
    #[must_use]
    pub const fn place(&self) -> &ScopeDirectory {
        &self.place
    }

    /// Returns the level of access.
    #[must_use]
    pub const fn access(&self) -> Access {
        self.access
    }

    pub(crate) fn covers(&self, op: &FsOp<'_>) -> bool {
        let allowed = match (self.access, op.verb) {
            (Access::ReadWrite, _) | (Access::Read, FsVerb::Read | FsVerb::List) => true,
            (Access::Read, FsVerb::Write | FsVerb::Create | FsVerb::Remove) => false,
        };
        allowed && self.place.is(op.place)
    }
}

impl Operation for FsOp<'_> {
    fn name(&self) -> &'static str {
        match self.verb {
            FsVerb::Read => "read",
            FsVerb::Write => "write",
            FsVerb::Create => "create",
            FsVerb::Remove => "remove",
            FsVerb::List => "list",
        }
    }

    fn detail(&self) -> String {
        self.path.to_owned()
    }
}
