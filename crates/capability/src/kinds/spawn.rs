//! Starting a program.

use plugward_ledger::Value;

use crate::error::{ARGV, PROGRAM, ScopeError, TOO_LONG};
use crate::kind::{Operation, common, sealed};
use crate::kinds::MAX_TEXT;
use crate::mint::Grant;
use crate::name::is_printable;

/// Which program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a program is named in one of two ways")]
pub enum Program {
    /// By its name, as it is looked up.
    Name(String),
    /// By the digest of its bytes, in the text form of whoever made it.
    Digest(String),
}

/// One program, and how its arguments may start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpawnScope {
    program: Program,
    argv: Vec<Vec<String>>,
}

/// Starting it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the closed set of operations of this kind")]
pub enum SpawnOp<'a> {
    /// Starts it.
    Spawn {
        /// The program.
        program: &'a Program,
        /// Its arguments, without the program itself.
        argv: &'a [&'a str],
    },
}

/// May start one program with certain arguments.
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

    fn value(&self) -> Value {
        let list = |argv: &Vec<String>| Value::List(argv.iter().map(|item| Value::text(item)).collect());
        let program = match &self.program {
            Program::Name(name) => ("name", Value::text(name)),
            Program::Digest(digest) => ("digest", Value::text(digest)),
        };
        Value::object([program, ("argv", Value::List(self.argv.iter().map(list).collect()))])
    }
}

/// Any rest of the arguments, as the last item of a prefix.
const REST: &str = "**";

impl SpawnScope {
    /// Names the program and the lists of arguments, each of them exact unless its last item is `**`.
    ///
    /// # Errors
    /// `scope/program` for a name with a path or nothing in it; `scope/argv` for no list, for `**` elsewhere than at the end, and for a NUL;
    /// `scope/too-long`.
    pub fn new(program: Program, argv: &[&[&str]]) -> Result<Self, ScopeError> {
        let what = "program scope";
        let name = match &program {
            Program::Name(name) | Program::Digest(name) => name,
        };
        let path = matches!(program, Program::Name(_))
            && (name.contains(['/', '\\']) || name == "." || name == "..");
        if name.is_empty() || name.len() > 256 || path || !is_printable(name) || name.starts_with('-') {
            return Err(ScopeError::new(PROGRAM, what, name, "it is no name of a program"));
        }
        if argv.is_empty() {
            return Err(ScopeError::new(ARGV, what, "", "no list of arguments is allowed"));
        }
        let items = argv.iter().copied().flatten();
        let together =
            items.clone().fold(argv.len(), |sum, item| sum.saturating_add(item.len()).saturating_add(1));
        if argv.len() > 64 || together > 32 * 1024 || items.clone().any(|item| item.len() > MAX_TEXT) {
            return Err(ScopeError::new(TOO_LONG, what, "", "the lists of arguments are too long"));
        }
        for list in argv {
            let front = list.split_last().map_or([].as_slice(), |(_, front)| front);
            if front.contains(&REST) {
                return Err(ScopeError::new(ARGV, what, REST, "it stands elsewhere than at the end"));
            }
        }
        if let Some(bad) = items.clone().find(|item| item.contains('\0')) {
            return Err(ScopeError::new(ARGV, what, bad, "no argument has a NUL"));
        }
        let argv = argv.iter().map(|list| list.iter().map(|item| (*item).to_owned()).collect()).collect();
        Ok(Self { program, argv })
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
        let (Program::Name(name) | Program::Digest(name)) = program;
        let mut text = name.clone();
        for item in *argv {
            text.push(' ');
            text.push_str(&item.escape_debug().to_string());
        }
        text
    }
}
