//! A strict JSON reader that keeps the place of everything it read.
//!
//! The usual readers keep the last of two equal keys and lose positions; a checker needs both.

mod error;
mod keys;
mod lex;
mod limits;
mod node;
mod parse;
mod position;
mod text;
mod toml;
mod write;

pub use error::{JsonError, JsonErrorKind, JsonErrors, Syntax};
pub use limits::Limits;
pub use node::{Member, Node, Number, Value};
pub use parse::parse;
pub use position::Position;

pub(crate) use node::pointer_to;
pub(crate) use position::positions_of;
pub(crate) use toml::parse_toml;
pub(crate) use write::{canonical, write_text};
