//! The errors of finding, downloading and installing, and the reasons of refusals.

use std::io;
use std::sync::Arc;

use plugward_policy::Checksum;
use plugward_state_file::StateError;
use plugward_types::Digest;
use plugward_types::escape::line;
use thiserror::Error;

/// Every code of this crate, sorted, with the next step for the user.
pub const CODES: &[(&str, &str)] = &[
    (
        "policy/ask",
        "answer the question at a terminal, or set `run` or `install` of the plugin in your settings",
    ),
    (
        "policy/checksum",
        "find out why the file differs from the pinned one; pin the new digest only if you trust it",
    ),
    (
        "policy/denied",
        "remove `run = \"deny\"` from the settings file in the message, if you trust the plugin",
    ),
    ("policy/revoked", "remove the plugin: its file is on a revocation list"),
    ("policy/weak-algorithm", "pin the plugin again, which writes its SHA-256"),
    ("registry/already-installed", "run plugward update to get a newer file, or plugward remove first"),
    ("registry/changed", "remove the plugin and install it again, unless you changed the file yourself"),
    (
        "registry/delisted",
        "the registry lists the plugin no more; remove it, unless you know why and trust it",
    ),
    ("registry/digest", "try again later and tell the registry: the file is not the one that it lists"),
    ("registry/disk", "free disk space or fix the permissions of the data directory, then try again"),
    ("registry/entry", "tell the registry; the entry is ignored"),
    ("registry/kept", "check the network; the last good copy of the registry is used"),
    ("registry/kind", "name a command: plugward dispatches entries of the kind `command` only"),
    ("registry/length", "try again: the download ended early"),
    ("registry/network", "check the URL and the network, then try again"),
    ("registry/no-binary", "build the plugin from source: the registry has no file for this platform"),
    ("registry/no-receipt", "remove the file and install the plugin, unless you put the file there yourself"),
    ("registry/none", "set plugins.registry = { url = \"https://…\" } in your settings"),
    ("registry/not-installed", "install the plugin first: plugward install NAME"),
    ("registry/pinned", "review the new file, then pin its digest: plugward pin NAME --update DIGEST"),
    ("registry/receipts", "move receipts.toml away; installed plugins then ask before they run"),
    ("registry/redirect", "use the final https address as the URL"),
    ("registry/requires", "install the required plugins first"),
    ("registry/stalled", "try again: the server stopped sending"),
    ("registry/syntax", "tell the registry: its file is not valid"),
    ("registry/too-large", "tell the registry: the file exceeds the limit"),
    ("registry/unknown", "check the spelling, or run plugward registry list"),
    ("registry/version", "update plugward: the registry has a newer format"),
    ("registry/writable", "let only the owner write the file and its directory: chmod go-w"),
];

/// The error of an operation, or the reason of a refusal.
#[derive(Debug, Clone, Error)]
#[error("{kind}")]
pub struct RegistryError {
    kind: Box<RegistryErrorKind>,
    #[source]
    source: Option<Arc<io::Error>>,
}

impl From<RegistryErrorKind> for RegistryError {
    fn from(kind: RegistryErrorKind) -> Self {
        Self { kind: Box::new(kind), source: None }
    }
}

impl RegistryError {
    /// Creates the error of a local file operation.
    pub(crate) fn disk(doing: &'static str, name: &str, source: io::Error) -> Self {
        let kind = RegistryErrorKind::Disk { doing, name: name.to_owned(), why: source.to_string() };
        Self { kind: Box::new(kind), source: Some(Arc::new(source)) }
    }

    /// Returns the reason.
    #[must_use]
    pub const fn kind(&self) -> &RegistryErrorKind {
        &self.kind
    }

    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.row().0
    }

    /// Returns the exit code of a command that ends with this error.
    #[must_use]
    pub const fn exit(&self) -> u8 {
        self.row().1
    }

    const fn row(&self) -> (&'static str, u8) {
        match &*self.kind {
            RegistryErrorKind::Network { .. } => ("registry/network", 1),
            RegistryErrorKind::Length { .. } => ("registry/length", 1),
            RegistryErrorKind::TooLarge { .. } => ("registry/too-large", 1),
            RegistryErrorKind::Stalled { .. } => ("registry/stalled", 1),
            RegistryErrorKind::Redirect { .. } => ("registry/redirect", 1),
            RegistryErrorKind::Disk { .. } => ("registry/disk", 1),
            RegistryErrorKind::State(error) => (error.code(), 1),
            RegistryErrorKind::NoRegistry | RegistryErrorKind::Url { .. } => ("registry/none", 2),
            RegistryErrorKind::Unknown { .. } | RegistryErrorKind::NotFound { .. } => ("registry/unknown", 2),
            RegistryErrorKind::Kind { .. } => ("registry/kind", 2),
            RegistryErrorKind::NoBinary { .. } => ("registry/no-binary", 2),
            RegistryErrorKind::AlreadyInstalled { .. } | RegistryErrorKind::Foreign { .. } => {
                ("registry/already-installed", 2)
            }
            RegistryErrorKind::Requires { .. } => ("registry/requires", 2),
            RegistryErrorKind::Ask { .. } => ("policy/ask", 3),
            RegistryErrorKind::NotInstalled { .. } | RegistryErrorKind::NothingToRemove { .. } => {
                ("registry/not-installed", 3)
            }
            RegistryErrorKind::Delisted { .. } => ("registry/delisted", 3),
            RegistryErrorKind::Ignored { .. } => ("registry/entry", 3),
            RegistryErrorKind::Checksum { .. } => ("policy/checksum", 4),
            RegistryErrorKind::Changed { .. } => ("registry/changed", 4),
            RegistryErrorKind::Writable { .. } => ("registry/writable", 4),
            RegistryErrorKind::Digest { .. } => ("registry/digest", 4),
            RegistryErrorKind::Pinned { .. } => ("registry/pinned", 4),
            RegistryErrorKind::Syntax { .. } => ("registry/syntax", 4),
            RegistryErrorKind::Version { .. } => ("registry/version", 4),
            RegistryErrorKind::Denied { .. } => ("policy/denied", 5),
            RegistryErrorKind::Revoked { .. } => ("policy/revoked", 5),
            RegistryErrorKind::Receipts { .. } => ("registry/receipts", 7),
        }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> String {
        match &*self.kind {
            RegistryErrorKind::State(error) => error.help(),
            RegistryErrorKind::Network { why, .. } if why.contains("CA certificate") => {
                "install the package ca-certificates: the system has no certificates to check the server with"
                    .to_owned()
            }
            RegistryErrorKind::Unknown { nearest: Some(name), .. } => format!("did you mean `{name}`?"),
            RegistryErrorKind::Ask { id, question: "install", .. } => {
                format!("install it at a terminal, or set plugins.command.{id}.install = true")
            }
            RegistryErrorKind::Ask { id, .. } => {
                format!("answer at a terminal, or set plugins.command.{id}.run = \"unattended\" in your settings")
            }
            RegistryErrorKind::NotFound { .. } => {
                "check the spelling, or set plugins.registry = { url = \"https://…\" } to a registry that lists it"
                    .to_owned()
            }
            RegistryErrorKind::Kind { commands, .. } if !commands.is_empty() => {
                format!("name one of its commands: {}", commands.join(", "))
            }
            RegistryErrorKind::Foreign { id, .. } => {
                format!("remove it, then install the plugin: plugward remove {id}")
            }
            RegistryErrorKind::NothingToRemove { installed, .. } if installed.is_empty() => {
                "no command plugin is installed".to_owned()
            }
            RegistryErrorKind::NothingToRemove { installed, .. } => {
                format!("name an installed plugin: {}", installed.join(", "))
            }
            RegistryErrorKind::Delisted { name } => {
                format!("unless you know why and trust it: plugward remove {}", quoted(name))
            }
            RegistryErrorKind::Checksum { id, file, intact: false, .. } => {
                format!("if you trust the new file: plugward pin {id} --update {file}")
            }
            // Only an installed file can be pinned by a command.
            RegistryErrorKind::Checksum { id, file, .. } => format!(
                "if you trust the new file, set plugins.command.{id}.checksum.value = \"{}\" in your settings",
                file.hex()
            ),
            RegistryErrorKind::NotInstalled { name } => {
                format!("install it: plugward install {}", quoted(name))
            }
            RegistryErrorKind::AlreadyInstalled { name } => {
                format!("get a newer file: plugward update {} --apply", quoted(name))
            }
            RegistryErrorKind::Denied { id } => {
                format!("remove plugins.command.{id}.run = \"deny\" from your settings, if you trust it")
            }
            RegistryErrorKind::Pinned { name, offered, .. } => {
                format!("if you trust the new file: plugward pin {} --update {offered}", quoted(name))
            }
            RegistryErrorKind::Writable { file, directory } => {
                let (directory, file) = (quoted(directory), quoted(&format!("{directory}/{file}")));
                format!("let only the owner write both: chmod go-w {directory} {file}")
            }
            RegistryErrorKind::Requires { missing, .. } => {
                let first = missing.first().map_or("", String::as_str);
                format!("install it first: plugward install {}", quoted(first))
            }
            _ => CODES.iter().find(|(code, _)| *code == self.code()).map_or("", |(_, help)| help).to_owned(),
        }
    }
}

impl From<StateError> for RegistryError {
    fn from(error: StateError) -> Self {
        RegistryErrorKind::State(error).into()
    }
}

/// Quotes a name of several words for a shell.
fn quoted(name: &str) -> String {
    if name.contains(' ') { format!("\"{name}\"") } else { name.to_owned() }
}

/// The reason of a [`RegistryError`].
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each field is explained by the message above it")]
pub enum RegistryErrorKind {
    /// The server cannot be reached, or its answer is not a file.
    #[error("cannot download {}: {why}", line(url))]
    Network { url: String, why: String },
    /// The download ended early, or had more bytes than announced.
    #[error("the download of {} has {actual} bytes instead of {expected}", line(url))]
    Length { url: String, expected: u64, actual: u64 },
    /// The download exceeds the limit.
    #[error("{} has more than {limit} bytes", line(url))]
    TooLarge { url: String, limit: u64 },
    /// The server sent nothing for too long.
    #[error("{} sent nothing for {seconds} seconds", line(url))]
    Stalled { url: String, seconds: u64 },
    /// The server redirected to another place than https, or too often.
    #[error("{} redirects {why}", line(url))]
    Redirect { url: String, why: String },
    /// A local file cannot be written or read.
    #[error("cannot {doing} {name}: {why}")]
    Disk { doing: &'static str, name: String, why: String },
    /// The file lock or the receipts cannot be used.
    #[error("{0}")]
    State(StateError),
    /// No registry is configured.
    #[error("no registry is configured")]
    NoRegistry,
    /// The URL cannot be used.
    #[error("cannot use the URL {}: {why}", line(url))]
    Url { url: String, why: &'static str },
    /// No source knows the name.
    #[error("unknown command plugin: {}", line(name))]
    Unknown { name: String, nearest: Option<String> },
    /// No plugin has the name, and no registry is configured.
    #[error("unknown command plugin, and no registry is configured: {}", line(name))]
    NotFound { name: String },
    /// The entry is a group, or has a kind that is reserved or unknown.
    #[error("{name} is not a command: the registry lists it as `{}`", line(kind))]
    Kind { name: String, kind: String, commands: Vec<String> },
    /// The registry has no file for this platform.
    #[error("the registry has no executable of {name} for {target}")]
    NoBinary { name: String, target: String },
    /// A file of the plugin's name exists.
    #[error("{name} is already installed")]
    AlreadyInstalled { name: String },
    /// A file of the plugin's name exists, which is not from this registry.
    #[error("{} exists, and was not installed from this registry", line(file))]
    Foreign { id: String, file: String },
    /// Other plugins have to be installed first.
    #[error("{name} requires {}", line(&missing.join(", ")))]
    Requires { name: String, missing: Vec<String> },
    /// A person must decide.
    #[error("{name} needs your consent to {question}")]
    Ask { name: String, id: String, question: &'static str },
    /// The plugin must be installed first.
    #[error("{name} is not installed")]
    NotInstalled { name: String },
    /// No installed file has the name.
    #[error("{} is not installed", line(name))]
    NothingToRemove { name: String, installed: Vec<String> },
    /// The registry from which the plugin was installed lists it no more.
    #[error("{name} is installed, and the registry does not list it any more")]
    Delisted { name: String },
    /// The registry lists the plugin in an entry that is ignored.
    #[error("{name} cannot be updated: {why}")]
    Ignored { name: String, why: String },
    /// The file is not the pinned one.
    #[error("{id} does not have the pinned checksum{}: expected {}, found {actual} (plugins.command.{id}.checksum)", if *intact { " (the download is intact, but it is not the file you pinned)" } else { "" }, expected.value)]
    Checksum { id: String, expected: Checksum, actual: String, file: Digest, intact: bool },
    /// The installed file is not the one that was installed.
    #[error("{file} is not the file that was installed: {why}")]
    Changed { file: String, why: String },
    /// The file on the search path is not used, because others can replace it.
    #[error("{file} is not used: others than the owner can write it or its directory {}", line(directory))]
    Writable { file: String, directory: String },
    /// The download is not the file that the registry lists.
    #[error(
        "the download of {name} is not the file that the registry lists: expected {expected}, found {actual}"
    )]
    Digest { name: String, expected: Digest, actual: Digest },
    /// The new file is not the pinned one.
    #[error("{name} is pinned to {}, and the new file has {offered}", pinned.value)]
    Pinned { name: String, pinned: Checksum, offered: Digest },
    /// The registry file is not valid.
    #[error("the registry file is not valid: {why}")]
    Syntax { why: String },
    /// The registry file has another version.
    #[error("the registry file has version {}, and this program reads version 1", line(found))]
    Version { found: String },
    /// The settings deny the plugin.
    #[error("{id} is denied by plugins.command.{id}.run")]
    Denied { id: String },
    /// The file is on a revocation list.
    #[error("{id} is revoked: {}", line(reason))]
    Revoked { id: String, reason: String },
    /// The receipts cannot be read.
    #[error("cannot read receipts.toml: {why}")]
    Receipts { why: String },
}
