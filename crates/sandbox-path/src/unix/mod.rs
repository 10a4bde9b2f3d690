//! System calls, on Linux and other Unix systems.

mod dir;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod kernel;
mod make;
mod open;
mod ops;
mod remove;
mod replace;
mod root;
mod steps;
mod sys;

pub(crate) use make::{Creation, append, create_dir, create_new, rename};
pub(crate) use ops::*;
pub(crate) use remove::{remove_dir, remove_file, remove_tree};
pub(crate) use replace::replace;
pub(crate) use root::{LastLink, Root, TopDirectory, make_directory};
