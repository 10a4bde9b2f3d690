//! Judges what settings do: variables that run code, addresses that redirect the host, and permissions.

pub(crate) mod permissions;
pub(crate) mod rules;
pub(crate) mod variables;

use plugward_manifest::json::{JsonMember, JsonNode};
use plugward_types::{Severity, Span};

use crate::InstallLayer;
use crate::collector::{Collector, base_of};
use crate::dotenv::{self, FileVariable};
use crate::parts::{FoundSetting, Parts};
use crate::table::HostRow;
pub use variables::DEPENDENCY_PROGRAMS;
use variables::VariableReach;

/// The owner of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileOwner {
    /// The project: the file can come with a repository.
    Shared,
    /// The user, in a file of the project that the host writes.
    Local,
    /// The user or the administrator.
    User,
}

/// The settings file of a project that a host writes when the user clicks.
const LOCAL: &str = "/.claude/settings.local.json";

/// The most bytes of a file of variables. Real ones have a few KiB.
pub(crate) const ENVIRONMENT_LIMIT: usize = 1 << 20;

/// Judges the settings of one file.
pub(crate) struct Judge<'a> {
    pub(crate) owner: FileOwner,
    /// The directory in which relative paths start.
    base: String,
    /// The directory that a repository can write, if the file is in a project.
    project: String,
    host: &'a HostRow,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(found: &Collector<'a>, path: &str, layer: InstallLayer) -> Self {
        let machine = found.machine;
        let base = base_of(path);
        let is_in = |home: &str, directory: &str| {
            home.trim_end_matches('/')
                .strip_prefix(directory.trim_end_matches('/'))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        // The path of the home directory can lead through a symlink, and that of a project does not.
        let is_above = |directory: &str| {
            let real = machine.files.real(machine.home);
            is_in(machine.home, directory) || real.is_some_and(|home| is_in(home.as_str(), directory))
        };
        // What is in the home directory or above it is not part of a repository.
        let owner = match layer {
            InstallLayer::Project if is_above(base) => FileOwner::User,
            InstallLayer::Project if path.ends_with(LOCAL) => FileOwner::Local,
            InstallLayer::Project => FileOwner::Shared,
            InstallLayer::User => FileOwner::User,
        };
        let project = machine.project.or(machine.directory).map_or(base, |project| project.as_str());
        let base = if owner == FileOwner::User { project } else { base };
        Self { owner, base: base.to_owned(), project: project.to_owned(), host: found.row }
    }

    /// Judges the variables of a file, and adds those that count. The others, such as keys, are not part of the contents.
    pub(crate) fn environment_file(&self, parts: &mut Parts, text: &str) {
        for FileVariable { name, at, value } in dotenv::file_variables(text.as_bytes()) {
            let setting = NamedSetting { name: &name, span: Span::new(at, at.saturating_add(name.len())) };
            if self.variable(parts, setting, &value, VariableReach::Host) {
                parts.add_variable(&name, &value);
            }
        }
    }

    /// Returns the severity of what only a repository must not do.
    const fn severity(&self) -> Severity {
        match self.owner {
            FileOwner::Shared | FileOwner::Local => Severity::Warning,
            FileOwner::User => Severity::Info,
        }
    }

    fn add(&self, parts: &mut Parts, code: &'static str, setting: NamedSetting<'_>, message: String) {
        let note = FoundSetting::note(code, setting, message);
        parts.findings.insert(FoundSetting { severity: self.severity(), ..note });
    }
}

/// The name of a variable or setting with its place.
#[derive(Clone, Copy)]
pub(crate) struct NamedSetting<'a> {
    pub(crate) name: &'a str,
    pub(crate) span: Span,
}

/// Returns the member of an object, which has the place of the key.
pub(crate) fn member<'n, 'f>(node: &'n JsonNode<'f>, key: &str) -> Option<&'n JsonMember<'f>> {
    node.members()?.iter().find(|member| member.key() == key)
}
