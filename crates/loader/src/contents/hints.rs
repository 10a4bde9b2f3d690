//! The roles that manifests give to files, for the scanner.

use std::collections::BTreeMap;

use plugward_manifest::{Manifest, SurfaceItem, SurfaceKind};
use plugward_scanner::{FileKind, RoleHint};
use plugward_types::FileRole;

use crate::contents::view::{View, manifests};

/// The roles of the files that the manifests of a plugin name.
#[derive(Default)]
pub(crate) struct Hints<'a> {
    files: BTreeMap<&'a str, RoleHint>,
}

impl<'a> Hints<'a> {
    pub(crate) fn of(views: &'a [View]) -> Self {
        let mut files = BTreeMap::new();
        let all = || manifests(views).flat_map(Manifest::surface);
        // The manifest files themselves, whatever their names are. Settings files can contain commands.
        for path in manifests(views).flat_map(Manifest::files) {
            files.insert(path.as_str(), RoleHint::role(FileKind::Manifest).used_as(FileRole::Executed));
        }
        let is_prompt = |item: &&SurfaceItem| item.kind() == SurfaceKind::Prompt;
        for path in all().filter(is_prompt).flat_map(SurfaceItem::files) {
            files.insert(path.as_str(), RoleHint::role(FileKind::Prompt).used_as(FileRole::ModelRead));
        }
        // A file that the model reads and the host runs is executed. Shell text in a prompt is only
        // a part of its file, and the scanner finds it without help.
        for item in all().filter(|item| !is_prompt(item)) {
            for path in item.files() {
                let hint = files.entry(path.as_str()).or_insert(RoleHint::NONE);
                if item.kind() != SurfaceKind::CommandShell || *hint == RoleHint::NONE {
                    *hint = hint.used_as(FileRole::Executed);
                }
            }
        }
        Self { files }
    }

    pub(crate) fn role(&self, path: &str) -> RoleHint {
        self.files.get(path).copied().unwrap_or(RoleHint::NONE)
    }
}
