#![doc = include_str!("../README.md")]

mod content;
mod error;
mod file;
mod folder;
mod hold;
mod names;
mod owner;
mod protocol;
mod queue;
#[cfg(test)]
mod replay;

pub use content::{Content, Fault, Notice, Recovered};
pub use error::{CODES, NotOurs, StateError, StateErrorKind};
pub use file::StateFile;
pub use folder::make_folder;
pub use hold::Hold;
pub use owner::{LastGood, Owner};
