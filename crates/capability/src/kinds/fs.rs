//! Files below a place.

use plugward_ledger::Value;

use crate::error::{PLACE, ScopeError};
use crate::kind::{Operation, common, sealed};
use crate::kinds::MAX_TEXT;
use crate::mint::Grant;
use crate::name::is_printable;

/// A folder: a label for people, and what identifies it.
///
/// The identity is an opaque text that the caller takes from the open jail (device and inode, or volume and file id).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    label: String,
    identity: String,
}

impl Place {
    /// Takes what the jail says of itself.
    ///
    /// # Errors
    /// `scope/place` for an empty, too long or unprintable part.
    pub fn new(label: &str, identity: &str) -> Result<Self, ScopeError> {
        let good = |text: &str| !text.is_empty() && text.len() <= MAX_TEXT && is_printable(text);
        for part in [label, identity] {
            if !good(part) {
                return Err(ScopeError::new(PLACE, "place", part, "it has not 1 to 1024 printable bytes"));
            }
        }
        Ok(Self { label: label.to_owned(), identity: identity.to_owned() })
    }

    /// Gives the label. It decides nothing.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Gives the identity.
    #[must_use]
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Whether both are one folder: equal identities, whatever the labels say.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        self.identity == other.identity
    }

    pub(crate) fn value(&self) -> [(&'static str, Value); 2] {
        [("label", Value::text(&self.label)), ("identity", Value::text(&self.identity))]
    }
}

/// How far access goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the two levels of this kind")]
pub enum Access {
    /// Reading and listing.
    Read,
    /// All operations.
    ReadWrite,
}

/// One place, and how far access to it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsScope {
    place: Place,
    access: Access,
}

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the closed set of operations of this kind")]
pub enum FsVerb {
    /// Reads it.
    Read,
    /// Writes into it.
    Write,
    /// Makes it.
    Create,
    /// Removes it.
    Remove,
    /// Lists a folder.
    List,
}

/// Something done to a path below a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the three parts of an operation on a file")]
pub struct FsOp<'a> {
    /// What is done.
    pub verb: FsVerb,
    /// The place of the jail that will do it.
    pub place: &'a Place,
    /// The path below it. The jail holds it there; here it is recorded.
    pub path: &'a str,
}

/// May use files below one place.
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

    fn value(&self) -> Value {
        let access = match self.access {
            Access::Read => "read",
            Access::ReadWrite => "read-write",
        };
        let [label, identity] = self.place.value();
        Value::object([label, identity, ("access", Value::text(access))])
    }
}

impl FsScope {
    /// Puts the two together.
    #[must_use]
    pub const fn new(place: Place, access: Access) -> Self {
        Self { place, access }
    }

    /// Gives the place.
    #[must_use]
    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// Says how far access goes.
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
