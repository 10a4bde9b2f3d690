//! The flow of downloaded and written files through a script.

pub(super) mod calls;
pub(super) mod digests;
pub(super) mod downloads;
pub(super) mod secrets;
pub(super) mod written_files;
