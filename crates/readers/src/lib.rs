#![doc = include_str!("../README.md")]

mod evaluate;
mod hash;
mod imports;
mod interner;
pub mod js;
mod program;
pub mod py;
mod reading;
mod resolve;
mod view;

pub use evaluate::{
    Alternative, Analysis, Argument, Call, Collection, Constant, Convergence, Evaluation, Item, Language,
    Name, NamePart, NameUse, Round, Taint, Value, evaluate,
};
pub use imports::{Import, ImportTarget, UNKNOWN, imports};
pub use plugward_types::Obfuscation;
pub use program::{
    CallKind, Function, FunctionId, List, Node, NodeFlags, NodeId, Program, ProgramBuilder, ScopeKind, Text,
    Variable,
};
pub use reading::{Piece, PieceKind, Reading};
pub use view::{Obfuscations, SourceMap, View};
