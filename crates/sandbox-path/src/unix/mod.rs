//! Everything that talks to the system, on Linux and other Unixes.

mod dir;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod kernel;
mod open;
mod ops;
mod resolve;
mod root;
mod steps;
mod sys;

pub(crate) use ops::*;
pub(crate) use root::{LastLink, Root, TopFolder};
