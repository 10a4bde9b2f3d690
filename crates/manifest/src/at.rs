//! What the caller knows beside the files.

use crate::market::Entry;

/// What is known about a plugin beside its files. There is no `Default`: the caller says at least the folder's name.
#[derive(Debug, Clone, Copy)]
pub struct At<'a> {
    pub(crate) folder: Option<&'a str>,
    pub(crate) path: &'a str,
    pub(crate) entry: Option<&'a Entry>,
    pub(crate) host_version: Option<&'a str>,
    pub(crate) excluded: &'a [&'a str],
    pub(crate) shared: &'a [&'a str],
    pub(crate) unknown_keys: UnknownKeys,
    pub(crate) without_manifest: WithoutManifest,
}

/// What unknown keys are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a key is refused or it is not")]
pub enum UnknownKeys {
    /// Notices.
    Noticed,
    /// Errors.
    Refused,
}

/// What a folder without the dialect's main file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is a plugin or it is not")]
pub enum WithoutManifest {
    /// No plugin: `manifest/missing-file`.
    Refused,
    /// A claude plugin, where a standard folder or file of that dialect is in it and the caller says so.
    StandardFolders,
}

impl<'a> At<'a> {
    /// Starts with the name of the plugin's folder, its last part alone.
    #[must_use]
    pub const fn folder(name: &'a str) -> Self {
        Self { folder: Some(name), ..Self::nowhere() }
    }

    /// Starts without a folder's name: rules that compare with it do not apply.
    #[must_use]
    pub const fn nowhere() -> Self {
        Self {
            folder: None,
            path: "",
            entry: None,
            host_version: None,
            excluded: &[],
            shared: &[],
            unknown_keys: UnknownKeys::Noticed,
            without_manifest: WithoutManifest::Refused,
        }
    }

    /// Adds the path on which the folder was found, so that a folder `node_modules` above it is seen.
    #[must_use]
    pub const fn with_path(self, path: &'a str) -> Self {
        Self { path, ..self }
    }

    /// Adds the marketplace entry, the second layer.
    #[must_use]
    pub const fn with_entry(self, entry: &'a Entry) -> Self {
        Self { entry: Some(entry), ..self }
    }

    /// Adds the host's own version, which a gnoma manifest may ask for.
    #[must_use]
    pub const fn with_host_version(self, version: &'a str) -> Self {
        Self { host_version: Some(version), ..self }
    }

    /// Adds the root-level names that the digest leaves out: no declared path may lead there.
    #[must_use]
    pub const fn with_excluded(self, names: &'a [&'a str]) -> Self {
        Self { excluded: names, ..self }
    }

    /// Adds the relative names (`../shared`) of folders outside of the plugin that are digested too.
    #[must_use]
    pub const fn with_shared(self, roots: &'a [&'a str]) -> Self {
        Self { shared: roots, ..self }
    }

    /// Says what unknown keys are.
    #[must_use]
    pub const fn with_unknown_keys(self, unknown_keys: UnknownKeys) -> Self {
        Self { unknown_keys, ..self }
    }

    /// Says what a folder without the main file is.
    #[must_use]
    pub const fn with_without_manifest(self, without_manifest: WithoutManifest) -> Self {
        Self { without_manifest, ..self }
    }
}
