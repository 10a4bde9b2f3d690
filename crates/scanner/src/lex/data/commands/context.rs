//! The meaning of a value by its keys: a command, its arguments, a script, a server.

use plugward_types::Part;

use crate::lex::data::scalar::Scalar;
use crate::scan::entry::FileKind;
use crate::text::view::Obfuscations;

/// A set of contexts that the enclosing keys and the file name establish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::lex::data) struct Context(u8);

impl Context {
    pub(in crate::lex::data) const HOOKS: Self = Self(1);
    /// Hooks of a host: their commands run without a question to the user.
    pub(in crate::lex::data) const SERVERS: Self = Self(2);
    /// Servers that a host starts or connects to, such as `mcpServers`.
    /// Every value is a command, as in `scripts` of a package.json.
    pub(in crate::lex::data) const SCRIPTS: Self = Self(4);
    /// A gyp file, whose texts may contain command expansions.
    pub(in crate::lex::data) const GYP: Self = Self(8);
    /// A git configuration file.
    pub(in crate::lex::data) const GIT: Self = Self(16);
    /// A manifest, by its name or because the host says so.
    pub(in crate::lex::data) const MANIFEST: Self = Self(32);
    /// A map that describes a command and calls its program `path`.
    const COMMAND: Self = Self(64);

    const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(in crate::lex::data) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the context of a file's root, from the file name and role.
    pub(in crate::lex::data) fn of(path: &str, role: FileKind) -> Self {
        let (name, extension) = crate::inventory::names::parts(path);
        let by_name = match name.as_str() {
            ".mcp.json" | "mcp.json" | ".lsp.json" | "lsp.json" | "mcp_config.json" => Self::SERVERS,
            ".gitconfig" | "gitconfig" => Self::GIT,
            "config" if path.ends_with("git/config") => Self::GIT,
            _ if matches!(extension.as_str(), "gyp" | "gypi") => Self::GYP,
            "procfile" => Self::SCRIPTS,
            _ if name.starts_with(".lintstagedrc") => Self::SCRIPTS,
            _ if name.starts_with("hooks") && extension == "json" => Self::HOOKS,
            _ => Self::default(),
        };
        if role == FileKind::Manifest { by_name.and(Self::MANIFEST) } else { by_name }
    }

    /// Returns the context of the items of a list. `SCRIPTS` applies to direct values only.
    pub(in crate::lex::data) const fn in_list(self) -> Self {
        Self(self.0 & !Self::SCRIPTS.0)
    }

    /// Returns the context of the values under a key.
    pub(in crate::lex::data) fn below(self, key: &[u8]) -> Self {
        let kept = self.in_list();
        let lower = LowercaseKey::new(key);
        match lower.get() {
            b"hooks" => kept.and(Self::HOOKS),
            b"mcpservers" | b"mcp_servers" | b"mcp-servers" | b"mcp" | b"lspservers" | b"lsp_servers"
            | b"lsp" | b"languageservers" | b"context_servers" | b"servers" | b"mcp_config"
            | b"mcpconfig" | b"extensions" => kept.and(Self::SERVERS),
            b"command" if self.has(Self::SERVERS) => kept.and(Self::COMMAND),
            b"scripts" | b"tasks" | b"lint-staged" => kept.and(Self::SCRIPTS),
            key if CONTAINER_COMMANDS.contains(&key) => kept.and(Self::SCRIPTS),
            _ => kept,
        }
    }
}

/// Keys of the commands that a development container runs.
const CONTAINER_COMMANDS: &[&[u8]] = plugward_types::byte_words![
    "initializecommand oncreatecommand updatecontentcommand postcreatecommand poststartcommand",
    "postattachcommand",
];

/// Keys whose values are shell command lines, in any file.
const SCRIPTS: &[&[u8]] = plugward_types::byte_words![
    "script cmd cmds commands bash sh pwsh powershell buildcommand build_command build_cmd installcommand",
    "install_command startcommand start_command predeploycommand release_command devcommand ignorecommand",
    "exec execcondition execstart execstartpre execstartpost execreload execstop execstoppost runcmd bootcmd",
    "install before_install after_install after_success after_failure before_deploy after_deploy",
    "override-build override-pull override-stage override-prime pre_build post_build pre_commit",
    "before_script after_script apikeyhelper awsauthrefresh awscredentialexport otelheadershelper entry",
];

/// The role of a value, from its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::lex::data) enum ValueRole {
    #[default]
    None,
    /// A program, or a shell command line.
    Command,
    Args,
    /// A step of a workflow.
    Run,
    /// The shell or interpreter that runs the step.
    Shell,
    /// A shell command line that needs no other key.
    Script,
    Url,
}

impl ValueRole {
    pub(in crate::lex::data) fn of(key: &[u8], context: Context) -> Self {
        if context.has(Context::SCRIPTS) && key != b"command" && key != b"args" {
            return Self::Script;
        }
        let lower = LowercaseKey::new(key);
        match lower.get() {
            b"command" | b"action" | b"entrypoint" | b"runtimeexecutable" => Self::Command,
            b"cmd" | b"bash" | b"exec" | b"program" if context.has(Context::HOOKS) => Self::Command,
            b"cmd" if context.has(Context::SERVERS) => Self::Command,
            b"path" if context.has(Context::COMMAND) => Self::Command,
            b"args" | b"argv" | b"arguments" | b"runtimeargs" => Self::Args,
            b"run" => Self::Run,
            b"shell" => Self::Shell,
            b"url" | b"serverurl" | b"httpurl" | b"uri" if context.has(Context::SERVERS) => Self::Url,
            key if SCRIPTS.contains(&key) || CONTAINER_COMMANDS.contains(&key) => Self::Script,
            b"sshcommand" | b"fsmonitor" | b"pager" | b"editor" | b"askpass" | b"textconv" | b"smudge"
            | b"clean" | b"process" | b"helper"
                if context.has(Context::GIT) =>
            {
                Self::Script
            }
            _ => Self::None,
        }
    }
}

/// A short key in lower case, without an allocation.
// 24 bytes fit the longest known key, `updatecontentcommand`, with some room.
pub(in crate::lex::data) struct LowercaseKey {
    bytes: [u8; 24],
    len: usize,
}

impl LowercaseKey {
    pub(in crate::lex::data) fn new(key: &[u8]) -> Self {
        let mut bytes = [0; 24];
        let len = if key.len() > bytes.len() { 0 } else { key.len() };
        for (slot, byte) in bytes.iter_mut().zip(key.iter().take(len)) {
            *slot = byte.to_ascii_lowercase();
        }
        Self { bytes, len }
    }

    /// Returns the key, or an empty slice if it is longer than every known key.
    pub(in crate::lex::data) fn get(&self) -> &[u8] {
        self.bytes.part(..self.len)
    }
}

/// A value that is part of a command, with its span.
#[derive(Debug)]
pub(in crate::lex::data) struct Fact {
    pub(in crate::lex::data) scalar: Scalar,
    pub(in crate::lex::data) span: (usize, usize),
    /// The obfuscation that was undone in the value and in the keys above it.
    pub(in crate::lex::data) how: Obfuscations,
}

/// The parts of a command that one map contains. Duplicate keys are kept, because hosts differ in which they
/// use.
#[derive(Debug, Default)]
pub(in crate::lex::data) struct Facts {
    pub(in crate::lex::data) commands: Vec<Fact>,
    /// Lists that are a program with its arguments.
    pub(in crate::lex::data) argv: Vec<Vec<Fact>>,
    pub(in crate::lex::data) args: Vec<Vec<Fact>>,
    pub(in crate::lex::data) runs: Vec<Fact>,
    pub(in crate::lex::data) shell: Option<Fact>,
}

impl Facts {
    pub(in crate::lex::data) const fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.argv.is_empty() && self.runs.is_empty()
    }
}
