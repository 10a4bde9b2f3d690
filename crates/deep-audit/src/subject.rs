//! The input of an audit: the checked files of a plugin, its claims, and the findings of the scan.

use core::fmt;
use std::collections::BTreeMap;

use plugward_types::{Digest, FileRole, Finding, Risk, TreeDigest};
use serde::{Deserialize, Serialize};

use crate::text;

/// The version of the instructions. An audit with other instructions is not comparable.
const PROMPT: u32 = 1;

/// File extensions of programs. A left-out file with one raises the risk also if nothing is known to run it.
const CODE: &[&str] = plugward_types::words![
    "js mjs cjs jsx ts mts cts tsx vue svelte py pyw pyc pyz rb pl pm php lua tcl r jl sh bash zsh fish ksh ps1 psm1",
    "bat cmd vbs applescript go rs c h cc cpp hpp cs fs java kt kts scala groovy swift m ex exs erl clj hs ml nim zig",
    "d dart jar class wasm node so dll dylib exe bin a o com msi deb rpm apk dmg app elf ko sys whl gem"
];

/// The contents that an audit is about. An audit of other contents does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a new part must stop every host from building")]
pub struct AuditedBytes {
    /// The digest of the plugin's directory.
    pub tree: TreeDigest,
    /// The digests of the shared directories, by relative path.
    pub shared: BTreeMap<String, TreeDigest>,
    /// The digest of the marketplace entry, if one was merged in.
    pub entry: Option<Digest>,
}

/// A plugin to be audited.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "a new part must stop every host from building")]
pub struct AuditSubject<'a> {
    /// The digests of the contents.
    pub bytes: AuditedBytes,
    /// The digest of the scanner's rules.
    pub rules: Digest,
    /// The statements of the manifests about the plugin.
    pub claims: Vec<AuditClaim>,
    /// All files, also the shared ones.
    pub files: Vec<AuditFile<'a>>,
    /// The findings of the scan, without suppressed ones.
    pub findings: &'a [Finding],
}

impl AuditSubject<'_> {
    /// Returns the risk that the findings of the scan show.
    #[must_use]
    pub fn static_risk(&self) -> Risk {
        Risk::of_findings(self.findings)
    }
}

/// A statement of a manifest, such as the description.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a name and a text; a third part would be another type")]
pub struct AuditClaim {
    /// The name of the field.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A file of a plugin.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a new part must stop every host from building")]
pub struct AuditFile<'a> {
    /// The path relative to the plugin, with `/`.
    pub path: &'a str,
    /// The contents that were checked.
    pub bytes: &'a [u8],
    /// The SHA-256 digest of the contents.
    pub digest: Digest,
    /// The role that the scan found.
    pub role: FileRole,
    /// Whether the file is a manifest.
    pub is_manifest: bool,
    /// Whether the file is a symlink, whose contents are its target.
    pub is_link: bool,
}

impl fmt::Debug for AuditFile<'_> {
    // The contents can have secrets, so they are not printed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditFile")
            .field("path", &self.path)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}

/// The classes of files, in the order of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FileClass {
    Manifest,
    Runs,
    Code,
    Prompt,
    Rest,
}

impl<'a> AuditFile<'a> {
    pub(crate) fn class(&self) -> FileClass {
        match self.role {
            _ if self.is_manifest => FileClass::Manifest,
            FileRole::Executed | FileRole::OnRequest => FileClass::Runs,
            FileRole::ModelRead => FileClass::Prompt,
            _ if self.has_code_extension() => FileClass::Code,
            _ => FileClass::Rest,
        }
    }

    pub(crate) fn has_code_extension(&self) -> bool {
        let extension = self.name().rsplit_once('.').map(|(_, extension)| extension);
        extension.is_some_and(|extension| CODE.iter().any(|code| code.eq_ignore_ascii_case(extension)))
    }

    /// Returns the file name.
    pub(crate) fn name(&self) -> &'a str {
        name_of(self.path)
    }

    /// Returns the contents, if they are UTF-8.
    pub(crate) fn text(&self) -> Option<&'a str> {
        core::str::from_utf8(self.bytes).ok()
    }
}

/// Returns the last part of a path.
pub(crate) fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The client and model of an audit, and the version of the instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditorId {
    client: String,
    model: String,
    prompt: u32,
}

impl AuditorId {
    /// Creates the id of a model that a client such as `openai` asks.
    #[must_use]
    pub fn new(client: &str, model: &str) -> Self {
        Self { client: client.to_owned(), model: model.to_owned(), prompt: PROMPT }
    }

    /// Returns the name of the client.
    #[must_use]
    pub fn client(&self) -> &str {
        &self.client
    }

    /// Returns the name of the model.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }
}

/// The limits of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a new limit must be chosen by every host")]
pub struct AuditLimits {
    /// The most bytes of a request besides its instructions: files, titles and lists. Other files are left out.
    pub request_bytes: usize,
}

/// The treatment of a file by an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "a new state must be shown by every host")]
pub enum FileState {
    /// The model received the text.
    Sent,
    /// The file is the same in the base, and no changed file mentions it or is mentioned in it.
    Unchanged,
    /// The text was not sent.
    LeftOut,
    /// The file is not UTF-8.
    Binary,
}

/// A file of an audited plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "part of the stored format")]
pub struct AuditedFile {
    /// The path relative to the plugin.
    pub path: String,
    /// The SHA-256 digest of the contents.
    #[serde(with = "text")]
    pub digest: Digest,
    /// The treatment of the file.
    pub state: FileState,
}
