#![doc = include_str!("../README.md")]

mod content;
mod directory;
mod error;
mod file;
mod hold;
mod names;
mod owner;
mod protocol;
mod queue;
#[cfg(test)]
mod replay;

pub use content::{Content, Fault, Notice, Recovered};
pub use directory::make_directory;
pub use error::{CODES, NotOurs, StateError, StateErrorKind};
pub use file::StateFile;
pub use hold::Hold;
pub use owner::{LastGood, Owner};
