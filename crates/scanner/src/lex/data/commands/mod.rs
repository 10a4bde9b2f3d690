//! Commands in the values of manifests, workflows and settings.

pub(super) mod context;
pub(super) mod embed;
pub(super) mod launch;
