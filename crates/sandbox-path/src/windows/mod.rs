//! Tier S: cap-std's handle-relative walk on Windows. Type-checked, and not run by us.
//!
//! Every component is opened from the handle of the folder before it, nothing is followed, and anything with a reparse
//! point (link, junction, mount point, cloud or app tag) is refused by its attribute and not by its tag.

mod change;
mod ops;
mod root;

pub(crate) use change::{
    Made, append, create_dir, create_new, remove_dir, remove_file, remove_tree, rename, replace,
};
pub(crate) use ops::*;
pub(crate) use root::{LastLink, Root, TopFolder, make_folder};
