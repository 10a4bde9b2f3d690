//! Behaviors that a scan finds, and the roles of files.

crate::named! {
    /// A behavior that a scan finds in the files of a plugin. It is reported and never a reason to refuse.
    ///
    /// It is not a capability, which a host grants.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Behavior {
        /// Starts programs.
        Process = "process",
        /// Connects to other machines.
        Network = "network",
        /// Reads environment variables.
        Env = "env",
        /// Reads files outside its directory and the workspace.
        ReadOutside = "read-outside",
        /// Writes files outside its directory and the workspace.
        WriteOutside = "write-outside",
        /// Reads places in which credentials are stored.
        Secrets = "secrets",
        /// Runs text as code.
        DynamicCode = "dynamic-code",
        /// Contains or loads code that is not source text.
        NativeCode = "native-code",
        /// Installs itself in start-up files, scheduled jobs or git hooks.
        Persistence = "persistence",
        /// Writes the host's own settings.
        AgentConfig = "agent-config",
        /// Downloads code and runs it, or starts a program that does.
        FetchesCode = "fetches-code",
    }
}

impl Behavior {
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

crate::named! {
    /// The role of a file in a plugin. The severity of a finding in the file depends on it.
    ///
    /// # Guarantees
    /// Roles are ordered by weight. A file with two roles has the greater one.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
    #[expect(clippy::exhaustive_enums, reason = "a new role must be handled by every host")]
    pub enum FileRole {
        /// A dependency or build output: `node_modules`, minified bundles.
        Vendored = "vendored",
        /// An example.
        Example = "example",
        /// A test or its data.
        Test = "test",
        /// Documentation for people: README, CHANGELOG, `docs/`.
        Documentation = "documentation",
        /// Code or data without a reference to it.
        #[default]
        Other = "other",
        /// Text for the model's context: skills, commands, agents, rules, tool descriptions.
        ModelRead = "model-read",
        /// Code that such text instructs the model to run.
        OnRequest = "on-request",
        /// Code that runs without asking: hooks, servers, package scripts, and the files that they load.
        Executed = "executed",
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
