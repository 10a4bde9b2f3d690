//! Tier S: cap-std's handle-relative walk on Windows. It is type-checked and has never been run.
//!
//! Every component is opened from the handle of its parent and symlinks are not followed. Any reparse point (symlink,
//! junction, mount point, cloud or app tag) is refused by its attribute, whatever its tag.

mod change;
mod ops;
mod root;

pub(crate) use change::{
    Creation, append, create_dir, create_new, remove_dir, remove_file, remove_tree, rename, replace,
};
pub(crate) use ops::*;
pub(crate) use root::{LastLink, Root, TopDirectory, make_directory};
