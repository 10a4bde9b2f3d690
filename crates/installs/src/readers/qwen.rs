//! Qwen Code: extensions as in Gemini CLI, from which it comes, and the shell commands in its prompts.

use super::in_project;
use crate::collector::{Collector, join};
use crate::gemini::{ExtensionFiles, add_extensions, add_shell_commands};
use crate::{HostSwitch, InstallLayer};

const FILES: ExtensionFiles = ExtensionFiles {
    manifests: &["qwen-extension.json", "plugin.json", "gemini-extension.json"],
    source: ".qwen-extension-install.json",
    copied: &["git", "github-release", "local", "marketplace", "npm"],
    switch: HostSwitch::None,
};

pub(crate) fn read(found: &mut Collector<'_>) {
    let user = (join(&found.home, "commands"), InstallLayer::User);
    for (path, layer) in core::iter::once(user).chain(in_project(found, ".qwen/commands")) {
        add_shell_commands(found, path, layer);
    }
    add_extensions(found, &FILES);
}
