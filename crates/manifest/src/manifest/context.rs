//! The facts about a plugin that its files do not contain.

use crate::dialects::PluginNaming;
use crate::marketplace::MarketplaceEntry;

/// The facts about a plugin that its files do not contain, such as the name of its directory.
///
/// There is no `Default`: the caller decides at least whether rules about the directory's name apply.
///
/// # Examples
/// ```
/// use plugward_manifest::{Dialect, MapFiles, PluginContext, UnknownKeys, read};
///
/// let files = MapFiles::new().with(".codex-plugin/plugin.json", r#"{"name": "a", "nmae": "b"}"#);
/// let context = PluginContext::for_directory("a");
/// assert_eq!(read(Dialect::Codex, &files, &context)?.warnings()[0].code(), "manifest/unknown-key");
///
/// let strict = context.with_unknown_keys(UnknownKeys::Refused);
/// assert!(read(Dialect::Codex, &files, &strict).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PluginContext<'a> {
    pub(crate) directory: Option<&'a str>,
    pub(crate) path: &'a str,
    pub(crate) entry: Option<&'a MarketplaceEntry>,
    pub(crate) host_version: Option<&'a str>,
    pub(crate) excluded: &'a [&'a str],
    pub(crate) shared: &'a [&'a str],
    pub(crate) unknown_keys: UnknownKeys,
    pub(crate) missing_manifest: MissingManifest,
    pub(crate) is_of_gnoma: bool,
}

/// The treatment of unknown keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a key is refused or it is not")]
pub enum UnknownKeys {
    /// Unknown keys are notices.
    Noticed,
    /// Unknown keys are errors.
    Refused,
}

/// The treatment of a directory without the main file of the dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is a plugin or it is not")]
pub enum MissingManifest {
    /// The directory is not a plugin: `manifest/missing-file`.
    Refused,
    /// The directory is a Claude plugin if it contains a standard file or directory of that dialect.
    StandardDirectories,
}

impl<'a> PluginContext<'a> {
    /// Creates a context with the name of the plugin directory, which is the last component of its path.
    #[must_use]
    pub const fn for_directory(name: &'a str) -> Self {
        Self { directory: Some(name), ..Self::without_directory() }
    }

    /// Creates a context without a directory, in which rules about the directory's name do not apply.
    #[must_use]
    pub const fn without_directory() -> Self {
        Self {
            directory: None,
            path: "",
            entry: None,
            host_version: None,
            excluded: &[],
            shared: &[],
            unknown_keys: UnknownKeys::Noticed,
            missing_manifest: MissingManifest::Refused,
            is_of_gnoma: false,
        }
    }

    /// Sets the path of the plugin directory, which shows whether the plugin is inside `node_modules`.
    #[must_use]
    pub const fn with_path(self, path: &'a str) -> Self {
        Self { path, ..self }
    }

    /// Sets the marketplace entry, which is the second layer of the manifest.
    #[must_use]
    pub const fn with_entry(self, entry: &'a MarketplaceEntry) -> Self {
        Self { entry: Some(entry), ..self }
    }

    /// Sets the version of the host, which a gnoma manifest can constrain.
    #[must_use]
    pub const fn with_host_version(self, version: &'a str) -> Self {
        Self { host_version: Some(version), ..self }
    }

    /// Sets the top-level names that the digest excludes; a declared path must not be inside them.
    #[must_use]
    pub const fn with_excluded(self, names: &'a [&'a str]) -> Self {
        Self { excluded: names, ..self }
    }

    /// Sets the relative names (`../shared`) of directories outside the plugin that are digested too.
    #[must_use]
    pub const fn with_shared(self, roots: &'a [&'a str]) -> Self {
        Self { shared: roots, ..self }
    }

    /// Returns whether something besides its contents makes the directory a plugin.
    pub(crate) const fn naming(&self) -> PluginNaming {
        let is_named =
            self.entry.is_some() || matches!(self.missing_manifest, MissingManifest::StandardDirectories);
        match (self.is_of_gnoma, is_named) {
            (true, true) => PluginNaming::OfGnomaAndNamed,
            (true, false) => PluginNaming::OfGnoma,
            (false, true) => PluginNaming::Named,
            (false, false) => PluginNaming::ByContents,
        }
    }

    /// Sets the treatment of unknown keys.
    #[must_use]
    pub const fn with_unknown_keys(self, unknown_keys: UnknownKeys) -> Self {
        Self { unknown_keys, ..self }
    }

    /// Marks the directory as one that gnoma loads. A `plugin.json` in its root is one of gnoma, whatever it contains. It is
    /// no other host's unless something else names the directory, too.
    #[must_use]
    pub const fn of_gnoma(self) -> Self {
        Self { is_of_gnoma: true, ..self }
    }

    /// Sets the treatment of a directory without a main file.
    #[must_use]
    pub const fn with_missing_manifest(self, missing_manifest: MissingManifest) -> Self {
        Self { missing_manifest, ..self }
    }
}
