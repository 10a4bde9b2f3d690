//! Behaviors that a scan finds, and the roles of files.

use core::fmt;

/// A behavior that a scan finds in the files of a plugin. It is reported and never a reason to refuse.
///
/// It is not a capability, which a host grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Behavior {
    /// Starts programs.
    Process,
    /// Connects to other machines.
    Network,
    /// Reads environment variables.
    Env,
    /// Reads files outside its directory and the workspace.
    ReadOutside,
    /// Writes files outside its directory and the workspace.
    WriteOutside,
    /// Reads places in which credentials are stored.
    Secrets,
    /// Runs text as code.
    DynamicCode,
    /// Contains or loads code that is not source text.
    NativeCode,
    /// Installs itself in start-up files, scheduled jobs or git hooks.
    Persistence,
    /// Writes the host's own settings.
    AgentConfig,
    /// Downloads code and runs it, or starts a program that does.
    FetchesCode,
}

impl Behavior {
    /// Every behavior, in the order of reports.
    pub const ALL: [Self; 11] = [
        Self::Process,
        Self::Network,
        Self::Env,
        Self::ReadOutside,
        Self::WriteOutside,
        Self::Secrets,
        Self::DynamicCode,
        Self::NativeCode,
        Self::Persistence,
        Self::AgentConfig,
        Self::FetchesCode,
    ];

    /// Returns the name in reports and pins.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Network => "network",
            Self::Env => "env",
            Self::ReadOutside => "read-outside",
            Self::WriteOutside => "write-outside",
            Self::Secrets => "secrets",
            Self::DynamicCode => "dynamic-code",
            Self::NativeCode => "native-code",
            Self::Persistence => "persistence",
            Self::AgentConfig => "agent-config",
            Self::FetchesCode => "fetches-code",
        }
    }

    /// Returns the behavior as a verb phrase.
    #[must_use]
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Process => "starts programs",
            Self::Network => "connects to other machines",
            Self::Env => "reads environment variables",
            Self::ReadOutside => "reads files outside its directory",
            Self::WriteOutside => "writes files outside its directory",
            Self::Secrets => "reads places where credentials are stored",
            Self::DynamicCode => "runs text as code",
            Self::NativeCode => "contains or loads native code",
            Self::Persistence => "installs itself in start-up files, jobs or git hooks",
            Self::AgentConfig => "writes settings of an agent",
            Self::FetchesCode => "downloads code and runs it",
        }
    }
}

impl Behavior {
    /// Returns the behavior with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|behavior| behavior.as_str() == name)
    }
}

impl fmt::Display for Behavior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The role of a file in a plugin. The severity of a finding in the file depends on it.
///
/// # Guarantees
/// Roles are ordered by weight. A file with two roles has the greater one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "a new role must be handled by every host")]
pub enum FileRole {
    /// A dependency or build output: `node_modules`, minified bundles.
    Vendored,
    /// An example.
    Example,
    /// A test or its data.
    Test,
    /// Documentation for people: README, CHANGELOG, `docs/`.
    Documentation,
    /// Code or data without a reference to it.
    #[default]
    Other,
    /// Text for the model's context: skills, commands, agents, rules, tool descriptions.
    ModelRead,
    /// Code that such text instructs the model to run.
    OnRequest,
    /// Code that runs without asking: hooks, servers, package scripts, and the files that they load.
    Executed,
}

impl FileRole {
    /// Returns the name in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Vendored => "vendored",
            Self::Example => "example",
            Self::Test => "test",
            Self::Documentation => "documentation",
            Self::Other => "other",
            Self::ModelRead => "model-read",
            Self::OnRequest => "on-request",
            Self::Executed => "executed",
        }
    }
}

impl fmt::Display for FileRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A place in a file that shows a behavior.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "made by the scanner and by hosts with checks of their own")]
pub struct BehaviorEvidence {
    /// The behavior.
    pub behavior: Behavior,
    /// The file, relative to the plugin, with `/`.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// The role of the file.
    pub role: FileRole,
    /// The line, escaped and shortened to 120 characters.
    pub snippet: String,
}
