//! Starting programs.

use plugward_ledger::RecordValue;

use crate::error::{ARGV, PROGRAM, ScopeError, TOO_LONG};
use crate::kinds::MAX_TEXT;
use crate::kinds::kind::{Operation, common, sealed};
use crate::mint::Grant;
use crate::name::is_printable;

/// A reference to a program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a program is named in one of two ways")]
pub enum ProgramRef {
    /// The name, as it is looked up.
    Name(String),
    /// The digest of its bytes, in the text form of its producer.
    Digest(String),
}

/// A program, and the arguments that it may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpawnScope {
    program: ProgramRef,
    argv: Vec<Vec<String>>,
}

/// The start of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the closed set of operations of this kind")]
pub enum SpawnOp<'a> {
    /// Starts the program.
    Spawn {
        /// The program.
        program: &'a ProgramRef,
        /// The arguments, without the program itself.
        argv: &'a [&'a str],
    },
}

/// Permission to start one program with certain arguments.
#[must_use]
pub struct ProcessSpawnCapability {
    scope: SpawnScope,
    grant: Grant,
}

common!(ProcessSpawnCapability, SpawnScope, SpawnOp, ProcessSpawn);

impl sealed::Build for SpawnScope {
    type Made = ProcessSpawnCapability;

    fn build(self, grant: Grant) -> ProcessSpawnCapability {
        ProcessSpawnCapability { scope: self, grant }
    }

    fn value(&self) -> RecordValue {
        let list =
            |argv: &Vec<String>| RecordValue::List(argv.iter().map(|item| RecordValue::text(item)).collect());
        let program = match &self.program {
            ProgramRef::Name(name) => ("name", RecordValue::text(name)),
            ProgramRef::Digest(digest) => ("digest", RecordValue::text(digest)),
        };
        RecordValue::object([program, ("argv", RecordValue::List(self.argv.iter().map(list).collect()))])
    }
}

/// Stands for any further arguments, as the last item of a list.
const REST: &str = "**";

impl SpawnScope {
    /// Creates a scope for a program and lists of arguments. A list is exact unless its last item is `**`.
    ///
    /// # Errors
    ///
    /// - `scope/program`: the name is empty or has a path.
    /// - `scope/argv`: there is no list, `**` is not the last item, or an argument has a NUL.
    /// - `scope/too-long`.
    pub fn new(program: ProgramRef, argv: &[&[&str]]) -> Result<Self, ScopeError> {
        let what = "program scope";
        let name = match &program {
            ProgramRef::Name(name) | ProgramRef::Digest(name) => name,
        };
        let path = matches!(program, ProgramRef::Name(_))
            && (name.contains(['/', '\\']) || name == "." || name == "..");
        if name.is_empty() || name.len() > 256 || path || !is_printable(name) || name.starts_with('-') {
            return Err(ScopeError::new(PROGRAM, what, name, "it is not a program name"));
        }
        if argv.is_empty() {
            return Err(ScopeError::new(ARGV, what, "", "it has no list of arguments"));
        }
        let items = argv.iter().copied().flatten();
        let together =
            items.clone().fold(argv.len(), |sum, item| sum.saturating_add(item.len()).saturating_add(1));
        // The limits keep the scope well below the 64 KiB that a record may have.
        if argv.len() > 64 || together > 32 * 1024 || items.clone().any(|item| item.len() > MAX_TEXT) {
            return Err(ScopeError::new(TOO_LONG, what, "", "the lists of arguments are too long"));
        }
        for list in argv {
            let front = list.split_last().map_or([].as_slice(), |(_, front)| front);
            if front.contains(&REST) {
                return Err(ScopeError::new(ARGV, what, REST, "it is not the last argument"));
            }
        }
        if let Some(bad) = items.clone().find(|item| item.contains('\0')) {
            return Err(ScopeError::new(ARGV, what, bad, "it contains a NUL"));
        }
        let argv = argv.iter().map(|list| list.iter().map(|item| (*item).to_owned()).collect()).collect();
        Ok(Self { program, argv })
    }

    /// Returns the program.
    #[must_use]
    pub const fn program(&self) -> &ProgramRef {
        &self.program
    }

    /// Returns the lists of arguments.
    #[must_use]
    pub fn argv(&self) -> &[Vec<String>] {
        &self.argv
    }

    pub(crate) fn covers(&self, op: &SpawnOp<'_>) -> bool {
        let SpawnOp::Spawn { program, argv } = op;
        let allows = |list: &Vec<String>| match list.split_last() {
            Some((last, front)) if last == REST => {
                argv.get(..front.len()).is_some_and(|start| start == front)
            }
            _ => *argv == list.as_slice(),
        };
        **program == self.program && self.argv.iter().any(allows)
    }
}

impl Operation for SpawnOp<'_> {
    fn name(&self) -> &'static str {
        "spawn"
    }

    fn detail(&self) -> String {
        let SpawnOp::Spawn { program, argv } = self;
        let (ProgramRef::Name(name) | ProgramRef::Digest(name)) = program;
        let mut text = name.clone();
        for item in *argv {
            text.push(' ');
            text.push_str(&item.escape_debug().to_string());
        }
        text
    }
}
