//! What the surface says of a file's use, for the scanner.

use std::collections::BTreeSet;

use plugward_manifest::{Manifest, SurfaceKind};
use plugward_scanner::{Role, RoleHint};

use crate::view::{View, manifests};

/// Paths by use.
#[derive(Default)]
pub(crate) struct Hints<'a> {
    prompts: BTreeSet<&'a str>,
    /// What the manifest was read from, whatever the files are called.
    manifests: BTreeSet<&'a str>,
}

impl<'a> Hints<'a> {
    pub(crate) fn of(views: &'a [View]) -> Self {
        let mut hints = Self::default();
        for item in manifests(views).flat_map(Manifest::surface) {
            if item.kind() == SurfaceKind::Prompt {
                hints.prompts.extend(item.files().iter().map(String::as_str));
            }
        }
        hints.manifests.extend(manifests(views).flat_map(Manifest::files).map(String::as_str));
        hints
    }

    pub(crate) fn role(&self, path: &str) -> RoleHint {
        if self.prompts.contains(path) {
            RoleHint::role(Role::Prompt)
        } else if self.manifests.contains(path) {
            RoleHint::role(Role::Manifest)
        } else {
            RoleHint::NONE
        }
    }
}
