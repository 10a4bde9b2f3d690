//! The sources from which a marketplace installs its plugins.

use plugward_types::{Address, hex};

use crate::error::ManifestCode;
use crate::json::{JsonNode, JsonValue};
use crate::reader::path::join;
use crate::reader::text::escape;
use crate::reader::{Document, Reader, Requirement};

/// The treatment of sources that run a program to fetch the plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a host accepts command sources or it does not")]
pub enum CommandSources {
    /// A command source is refused with `market/command-source`.
    Refused,
    /// A command source is accepted, because the host has decided to run such programs.
    Allowed,
}

/// A remote repository, with an optional directory, reference and commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemoteSource {
    pub(crate) url: String,
    pub(crate) path: Option<String>,
    pub(crate) reference: Option<String>,
    pub(crate) sha: Option<String>,
}

impl RemoteSource {
    /// Returns the URL, or `owner/repo` for GitHub.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the directory inside the repository.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// Returns the branch or tag.
    #[must_use]
    pub fn reference(&self) -> Option<&str> {
        self.reference.as_deref()
    }

    /// Returns the commit.
    #[must_use]
    pub fn sha(&self) -> Option<&str> {
        self.sha.as_deref()
    }
}

/// The source of a plugin in a marketplace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// A directory, relative to the marketplace root; empty for the root itself.
    Local {
        /// The directory.
        path: String,
    },
    /// A repository by URL.
    Url(RemoteSource),
    /// A directory of a repository.
    GitSubdir(RemoteSource),
    /// A GitHub repository, `owner/repo`.
    Github(RemoteSource),
    /// A git repository.
    Git(RemoteSource),
    /// An npm package.
    Npm {
        /// The package.
        package: String,
        /// The version or range.
        version: Option<String>,
        /// The registry's URL.
        registry: Option<String>,
    },
    /// An archive.
    Archive {
        /// The URL.
        url: String,
        /// The digest of the archive.
        sha256: Option<String>,
    },
    /// A program that fetches the plugin.
    Command {
        /// The command as written.
        command: String,
    },
    /// A kind of source that is not documented.
    Unknown {
        /// The kind as written.
        kind: String,
    },
}

plugward_types::named! {
    /// How firmly a source identifies the code that it delivers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[must_use]
    #[expect(clippy::exhaustive_enums, reason = "a new level must stop every host from building")]
    pub enum Pinning {
        /// A digest or commit identifies the code.
        Immutable = "immutable",
        /// An exact version, for which the index could deliver different code later.
        Version = "version",
        /// A branch, tag, range or default, which can change at any time.
        Floating = "floating",
        /// A directory next to the marketplace file.
        Local = "local",
    }
}

impl Source {
    /// Returns how firmly the source identifies the code.
    pub fn pinning(&self) -> Pinning {
        let digest = |there: bool| if there { Pinning::Immutable } else { Pinning::Floating };
        match self {
            Self::Local { .. } => Pinning::Local,
            Self::Url(remote) | Self::GitSubdir(remote) | Self::Github(remote) | Self::Git(remote) => {
                digest(remote.sha.is_some())
            }
            Self::Archive { sha256, .. } => digest(sha256.is_some()),
            Self::Npm { version: Some(version), .. } if plugward_commands::is_semver(version) => {
                Pinning::Version
            }
            Self::Npm { .. } | Self::Command { .. } | Self::Unknown { .. } => Pinning::Floating,
        }
    }

    /// Returns the kind, as written in the marketplace file.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Local { .. } => "local",
            Self::Url(_) => "url",
            Self::GitSubdir(_) => "git-subdir",
            Self::Github(_) => "github",
            Self::Git(_) => "git",
            Self::Npm { .. } => "npm",
            Self::Archive { .. } => "archive",
            Self::Command { .. } => "command",
            Self::Unknown { kind } => kind,
        }
    }

    pub(crate) fn read(
        reader: &mut Reader<'_>,
        doc: &Document<'_>,
        node: &JsonNode<'_>,
        root: &str,
        commands: CommandSources,
    ) -> Option<Self> {
        let source = match node.value() {
            JsonValue::String(_) => Self::local(reader, doc, node, root)?,
            JsonValue::Object(_) => Self::object(reader, doc, node, root, commands)?,
            _ => {
                reader.wrong(doc, node, "a path or an object", Requirement::Strict);
                return None;
            }
        };
        let unknown = matches!(source, Self::Unknown { .. });
        if source.pinning() == Pinning::Floating && !unknown {
            let message =
                format!("the source ({}) has no digest and no exact version", escape(source.kind(), 32));
            reader.notice(doc, node.span(), ManifestCode::MarketFloatingSource, message);
        }
        Some(source)
    }

    /// Reads a path inside the marketplace.
    fn local(reader: &mut Reader<'_>, doc: &Document<'_>, node: &JsonNode<'_>, root: &str) -> Option<Self> {
        let text = reader.text(doc, node, Requirement::Strict)?.to_owned();
        let path = match crate::reader::path::clean_path(&text, &[]) {
            Ok(path) => path,
            Err(code) => {
                let message =
                    format!("expected a path inside the marketplace directory, got `{}`", escape(&text, 128));
                reader.error(doc, node.span(), code, message);
                return None;
            }
        };
        reader.refuse_hidden(doc, node.span(), &text);
        Some(Self::Local { path: join(root, &path.path) })
    }

    fn object(
        reader: &mut Reader<'_>,
        doc: &Document<'_>,
        node: &JsonNode<'_>,
        root: &str,
        commands: CommandSources,
    ) -> Option<Self> {
        let Some(kind) = node.get("source").or_else(|| node.get("type")) else {
            reader.missing(doc, node, "source");
            return None;
        };
        let kind = reader.plain(doc, kind, Requirement::Strict)?.to_owned();
        let keys: &[&str] = match kind.as_str() {
            "local" => &["path"],
            "url" | "git-subdir" | "git" => &["path", "ref", "sha", "url"],
            "github" => &["path", "ref", "repo", "sha"],
            "npm" => &["package", "registry", "version"],
            "archive" => &["sha256", "url"],
            "command" => &["args", "command", "mode"],
            other => {
                let message = format!("unknown kind of source `{}`", escape(other, 64));
                reader.warning(doc, node.span(), ManifestCode::MarketUnknownSource, message);
                return Some(Self::Unknown { kind });
            }
        };
        let known: Vec<&str> = keys.iter().chain(&["source", "type"]).copied().collect();
        reader.keys(doc, node.members_or_none(), &known);
        let mut fields = SourceReader { reader, doc, node };
        match kind.as_str() {
            "local" => {
                let path = fields.required("path")?;
                Self::local(fields.reader, doc, path, root)
            }
            "npm" => {
                let package = fields.text("package", Presence::Required)?;
                let version = fields.text("version", Presence::Optional);
                Some(Self::Npm { package, version, registry: fields.url("registry", Presence::Optional) })
            }
            "archive" => Some(Self::Archive {
                url: fields.url("url", Presence::Required)?,
                sha256: fields.digest("sha256", &[64])?,
            }),
            "command" => fields.command(commands),
            _ => fields.remote(&kind, root),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    Required,
    Optional,
}

struct SourceReader<'r, 'c, 'd> {
    reader: &'r mut Reader<'c>,
    doc: &'r Document<'d>,
    node: &'r JsonNode<'d>,
}

impl<'r, 'd> SourceReader<'r, '_, 'd> {
    fn required(&mut self, key: &str) -> Option<&'r JsonNode<'d>> {
        let node = self.node.get(key);
        if node.is_none() {
            self.reader.missing(self.doc, self.node, key);
        }
        node
    }

    fn text(&mut self, key: &str, wanted: Presence) -> Option<String> {
        let node = if wanted == Presence::Required { self.required(key)? } else { self.node.get(key)? };
        self.reader.plain(self.doc, node, Requirement::Strict).map(ToOwned::to_owned)
    }

    /// Reads a URL. Credentials in it are an error, because every user of the marketplace would get them.
    fn url(&mut self, key: &str, wanted: Presence) -> Option<String> {
        let text = self.text(key, wanted)?;
        let span = self.node.get(key)?.span();
        let address = Address::parse(&text);
        if address.has_credentials() {
            self.reader.error(
                self.doc,
                span,
                ManifestCode::MarketCredentials,
                "expected a URL without user and password",
            );
            return None;
        }
        // Without TLS or SSH, anyone on the network path can replace the plugin.
        if matches!(address.scheme(), Some("http" | "file" | "git" | "ftp")) {
            let message = format!("the URL `{}` is not https or ssh", escape(&text, 128));
            self.reader.warning(self.doc, span, ManifestCode::MarketInsecureUrl, message);
        }
        Some(text)
    }

    /// Returns `Some(None)` if the digest is absent, and `None` if it is invalid.
    #[expect(clippy::option_option, reason = "absent and refused are different results")]
    fn digest(&mut self, key: &str, lengths: &[usize]) -> Option<Option<String>> {
        let Some(node) = self.node.get(key) else { return Some(None) };
        let text = self.reader.plain(self.doc, node, Requirement::Strict)?;
        if lengths.iter().any(|length| hex::is_lower(text, *length)) {
            return Some(Some(text.to_owned()));
        }
        let lengths: Vec<String> = lengths.iter().map(ToString::to_string).collect();
        let message =
            format!("expected {} lowercase hex digits, got `{}`", lengths.join(" or "), escape(text, 80));
        self.reader.error(self.doc, node.span(), ManifestCode::MarketSha, message);
        None
    }

    /// Reads the location of a repository.
    fn remote(&mut self, kind: &str, root: &str) -> Option<Source> {
        let url = match kind {
            "github" => self.text("repo", Presence::Required)?,
            _ => self.url("url", Presence::Required)?,
        };
        let path = match self.node.get("path") {
            Some(node) => {
                let text = self.reader.text(self.doc, node, Requirement::Strict)?.to_owned();
                match crate::reader::path::clean_path(&text, &[]) {
                    Ok(path) => Some(path.path),
                    Err(code) => {
                        let message =
                            format!("expected a path inside the repository, got `{}`", escape(&text, 128));
                        self.reader.error(self.doc, node.span(), code, message);
                        return None;
                    }
                }
            }
            None if kind == "git-subdir" => {
                self.reader.missing(self.doc, self.node, "path");
                return None;
            }
            None => None,
        };
        let sha = self.digest("sha", &[40, 64])?;
        let reference = self.text("ref", Presence::Optional);
        // A URL that names the marketplace's own directory is a local source.
        if kind == "url" && matches!(url.as_str(), "." | "./") {
            return Some(Source::Local { path: join(root, path.as_deref().unwrap_or_default()) });
        }
        let remote = RemoteSource { url, path, reference, sha };
        Some(match kind {
            "url" => Source::Url(remote),
            "git-subdir" => Source::GitSubdir(remote),
            "github" => Source::Github(remote),
            _ => Source::Git(remote),
        })
    }

    /// Reads a program that fetches the plugin, if the host accepts it.
    fn command(&mut self, commands: CommandSources) -> Option<Source> {
        let command = self.text("command", Presence::Required)?;
        if commands == CommandSources::Refused {
            let message = format!("expected a source that runs no program, got `{}`", escape(&command, 128));
            self.reader.error(self.doc, self.node.span(), ManifestCode::MarketCommandSource, message);
            return None;
        }
        Some(Source::Command { command })
    }
}
