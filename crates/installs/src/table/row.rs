//! One host of the table.

use serde::Deserialize;

/// One host of the table. The places are documented at the top of `hosts.toml`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct HostRow {
    /// The name in keys, such as `claude`.
    pub id: String,
    /// The name of the product.
    pub name: String,
    /// The code that reads the records of the host.
    pub reader: Option<String>,
    /// The command that starts the host; by default the id.
    pub program: String,
    /// The host's home directory.
    pub home: HostHome,
    /// Other variables that move places or settings of the host.
    pub variables: Vec<String>,
    /// Files and directories that say which plugins are installed.
    pub records: Vec<String>,
    /// Settings files that a reader reads.
    pub settings: Vec<String>,
    /// Directories of skills.
    pub skills: Vec<String>,
    /// Directories of agents, commands and the like.
    pub prompts: Vec<String>,
    /// Directories of code that the host runs.
    pub code: Vec<String>,
    /// Directories with a plugin each.
    pub plugins: Vec<String>,
    /// Files of MCP servers.
    pub mcp: Vec<ServerPlace>,
    /// Files of hooks.
    pub hooks: Vec<HookPlace>,
    /// Other settings that run something or loosen the host.
    pub parts: Vec<PartPlace>,
    /// Places that are only named.
    pub named: Vec<String>,
    /// Texts whose imports are only named.
    pub imports: Vec<String>,
    /// Variables with the address of a model.
    pub endpoints: Vec<String>,
    /// Settings with the address of a model.
    pub endpoint_settings: Vec<String>,
    /// The hosts of the addresses that are used without these settings.
    pub endpoint_hosts: Vec<String>,
    /// The version that was run.
    pub seen: String,
    /// What a repository can start before a question.
    pub trust: RepositoryTrust,
    /// How the facts are known.
    pub evidence: Evidence,
    /// Where the facts come from.
    pub source: Vec<String>,
    /// What the other fields do not say.
    pub note: String,
    /// The places that the user adds.
    #[serde(skip)]
    pub added: Vec<HostRow>,
}

/// The home directory of a host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { default = \"~/.acme\" }")]
#[non_exhaustive]
pub struct HostHome {
    /// The variable that moves it.
    pub variable: Option<String>,
    /// The place without the variable.
    pub default: String,
    /// What is appended to the value of the variable.
    pub join: Option<String>,
    /// The place on macOS.
    pub mac: Option<String>,
}

/// A file of MCP servers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ServerPlace {
    /// The place.
    pub file: String,
    /// The syntax.
    pub format: FileFormat,
    /// The JSON pointer of the servers.
    pub at: String,
    /// The keys of a server.
    pub shape: ServerShape,
    /// `true` for an array of servers with `name`.
    #[serde(default)]
    pub list: bool,
}

/// A file of hooks.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct HookPlace {
    /// The place.
    pub file: String,
    /// The syntax.
    pub format: FileFormat,
    /// The JSON pointer of the hooks.
    pub at: String,
    /// The structure of the hooks.
    pub shape: HookShape,
}

/// A setting that runs something or loosens the host.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PartPlace {
    /// The place.
    pub file: String,
    /// The syntax.
    pub format: FileFormat,
    /// The JSON pointer of the setting, in which `*` is any key; empty for the whole file.
    pub at: String,
    /// What it does.
    pub effect: PartEffect,
}

/// The syntax of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FileFormat {
    /// JSON. Comments and trailing commas are read too: a stricter host only loads less.
    Json,
    /// JSON with comments and trailing commas.
    Jsonc,
    /// JSON5.
    Json5,
    /// TOML.
    Toml,
    /// YAML, without aliases and tags.
    Yaml,
    /// Environment variables.
    Env,
}

/// The keys of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "a new shape needs a test of its own")]
pub enum ServerShape {
    /// `command`, `args`, `env` and `url`.
    Plain,
    /// A list as `command`, and `environment`.
    Opencode,
    /// `cmd`, `args`, `envs` and `uri`.
    Goose,
}

/// The structure of hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "a new shape needs a test of its own")]
pub enum HookShape {
    /// Events, each with matchers, each with hooks.
    Claude,
    /// Events, each with commands.
    Flat,
    /// A list of hooks with `event` and `command`.
    List,
    /// Names, each with events.
    Named,
    /// One hook: `when` with its event, `then` with its command.
    Single,
}

/// The effect of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PartEffect {
    /// It runs something, so it is part of the tree.
    Runs,
    /// It lets the host ask less. It is part of the tree of a file that a repository can contain.
    Loosens,
    /// It sets variables that can move a home directory or switch off a check.
    TrustRoot,
    /// The reader of the host finds plugins with it.
    Record,
}

/// What a repository can start before its host asks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum RepositoryTrust {
    /// Nothing.
    None,
    /// Some of it; the note says what.
    Part,
    /// Everything.
    All,
    /// It was not tried.
    #[default]
    Unknown,
}

/// How the facts of a row are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub enum Evidence {
    /// The host was run.
    #[serde(rename = "V")]
    Run,
    /// The documentation, or a source text that the vendor publishes.
    #[serde(rename = "D")]
    Documentation,
    /// The program as published was read.
    #[serde(rename = "S")]
    Program,
    /// Lists of others.
    #[serde(rename = "T")]
    Lists,
    /// The user's settings.
    #[default]
    #[serde(skip)]
    User,
}

impl Evidence {
    /// Returns `true` if the program itself was run or read.
    #[must_use]
    pub const fn is_tested(self) -> bool {
        matches!(self, Self::Run | Self::Program)
    }
}

impl HostRow {
    /// Fills in the values that follow from the id.
    pub(super) fn complete(&mut self) {
        for text in [&mut self.name, &mut self.program] {
            if text.is_empty() {
                text.clone_from(&self.id);
            }
        }
    }

    /// Returns the lists of places, with the names of their fields.
    pub(super) fn lists(&self) -> [(&'static str, &[String]); 8] {
        [
            ("records", &self.records),
            ("settings", &self.settings),
            ("skills", &self.skills),
            ("prompts", &self.prompts),
            ("code", &self.code),
            ("plugins", &self.plugins),
            ("named", &self.named),
            ("imports", &self.imports),
        ]
    }

    /// Returns the files of servers, hooks and parts with their JSON pointers, and the names of the fields.
    pub(super) fn files(&self) -> impl Iterator<Item = (&'static str, &str, &str)> {
        let mcp = self.mcp.iter().map(|one| ("mcp", one.file.as_str(), one.at.as_str()));
        let hooks = self.hooks.iter().map(|one| ("hooks", one.file.as_str(), one.at.as_str()));
        let parts = self.parts.iter().map(|one| ("parts", one.file.as_str(), one.at.as_str()));
        mcp.chain(hooks).chain(parts)
    }

    /// Returns all places, in the order of the fields.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        let lists = self.lists().into_iter().flat_map(|(_, list)| list).map(String::as_str);
        lists.chain(self.files().map(|(_, file, _)| file))
    }

    /// Returns the variables that move the host or its settings.
    pub fn moving_variables(&self) -> impl Iterator<Item = &str> {
        self.home.variable.iter().chain(&self.variables).map(String::as_str)
    }
}
