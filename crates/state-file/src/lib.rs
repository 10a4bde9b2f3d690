#![doc = include_str!("../README.md")]

mod content;
mod directory;
mod error;
mod file;
mod lock;
mod names;
mod owner;
mod replace;

pub use cap_std;
pub use content::{CopyFault, Recovered, StateContents, StateWarning};
pub use directory::make_directory;
pub use error::{CODES, StateError, StateErrorKind, TrustFault};
pub use file::StateFile;
pub use lock::FileLock;
pub use owner::{Backup, Owner};
