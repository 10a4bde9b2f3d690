//! The parsed manifest of one plugin, and the input from which it is read.

mod context;
mod files;
#[cfg(any(test, feature = "serde"))]
mod output;
mod read;

use std::collections::BTreeMap;

use plugward_types::{ParseError, PluginId, Span};

use crate::dialects::Dialect;
use crate::error::ManifestWarning;
use crate::reader::text::ForeignText;
use crate::surface::SurfaceItem;

pub use context::{MissingManifest, PluginContext, UnknownKeys};
pub use files::{FileMode, FileView, Files, MapFiles};
pub(crate) use read::finish;
pub use read::{DialectResult, read, read_all};

/// The name and addresses of an author or a marketplace owner.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contact {
    pub(crate) name: Option<String>,
    pub(crate) email: Option<String>,
    pub(crate) url: Option<String>,
}

impl Contact {
    /// Returns the name, as the plugin gives it.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the email address.
    #[must_use]
    pub fn email(&self) -> Option<&str> {
        self.email.as_deref()
    }

    /// Returns the URL.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// Parses `Name <email> (url)`; each part is optional.
    pub(crate) fn from_line(line: &str) -> Self {
        let between = |open: char, close: char| {
            let (_, rest) = line.split_once(open)?;
            rest.split_once(close).map(|(inner, _)| inner.trim().to_owned())
        };
        let name = line.split(['<', '(']).next().unwrap_or(line).trim();
        Self {
            name: Some(name.to_owned()).filter(|name| !name.is_empty()),
            email: between('<', '>'),
            url: between('(', ')'),
        }
    }
}

/// A JSON value that is kept as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawValue {
    pub(crate) file: String,
    pub(crate) span: Span,
    pub(crate) text: String,
}

impl RawValue {
    /// Returns the file, relative to the plugin directory.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the byte range in the file.
    #[must_use]
    pub const fn span(&self) -> Span {
        self.span
    }

    /// Returns the JSON text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The identity and description of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Meta {
    pub(crate) name: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) display_name: Option<ForeignText>,
    pub(crate) description: Option<ForeignText>,
    pub(crate) author: Option<Contact>,
    pub(crate) homepage: Option<String>,
    pub(crate) repository: Option<String>,
    pub(crate) license: Option<String>,
    pub(crate) keywords: Vec<String>,
    pub(crate) companions: Vec<String>,
    pub(crate) host_modules: Vec<String>,
    pub(crate) prompt_keys: Vec<String>,
    pub(crate) entry_file: Option<String>,
    pub(crate) raw: BTreeMap<String, RawValue>,
}

/// The contents of one plugin, as its files declare them.
///
/// # Guarantees
/// The same files produce the same value on every platform. A value exists only if no key is duplicated, every
/// path stays inside the plugin directory, the name is valid, and every declared file that exists was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    pub(crate) dialect: Dialect,
    pub(crate) meta: Meta,
    pub(crate) surface: Vec<SurfaceItem>,
    pub(crate) warnings: Vec<ManifestWarning>,
    pub(crate) main_file: Option<&'static str>,
    pub(crate) files: Vec<String>,
    pub(crate) entry: Option<String>,
}

impl Manifest {
    /// Returns the dialect of the manifest.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the name, which is valid as a part of a plugin id.
    #[must_use]
    pub fn name(&self) -> &str {
        self.meta.name.as_deref().unwrap_or_default()
    }

    /// Builds the plugin id from the dialect, the name and the `source` of the plugin.
    ///
    /// # Errors
    /// `parse/length` or `parse/character` if `source` is not valid as a part of an id.
    pub fn id(&self, source: &str) -> Result<PluginId, ParseError> {
        PluginId::new(self.dialect.as_str(), self.name(), source)
    }

    /// Returns the version as written; several dialects do not require one.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.meta.version.as_deref()
    }

    /// Returns the name to show to users.
    #[must_use]
    pub const fn display_name(&self) -> Option<&ForeignText> {
        self.meta.display_name.as_ref()
    }

    /// Returns the description.
    #[must_use]
    pub const fn description(&self) -> Option<&ForeignText> {
        self.meta.description.as_ref()
    }

    /// Returns the author.
    #[must_use]
    pub const fn author(&self) -> Option<&Contact> {
        self.meta.author.as_ref()
    }

    /// Returns the home page.
    #[must_use]
    pub fn homepage(&self) -> Option<&str> {
        self.meta.homepage.as_deref()
    }

    /// Returns the URL of the repository.
    #[must_use]
    pub fn repository(&self) -> Option<&str> {
        self.meta.repository.as_deref()
    }

    /// Returns the license.
    #[must_use]
    pub fn license(&self) -> Option<&str> {
        self.meta.license.as_deref()
    }

    /// Returns the keywords.
    #[must_use]
    pub fn keywords(&self) -> &[String] {
        &self.meta.keywords
    }

    /// Returns the names of the plugins that this plugin depends on.
    #[must_use]
    pub fn companions(&self) -> &[String] {
        &self.meta.companions
    }

    /// Returns the modules that a HyperAgent entry file may register.
    #[must_use]
    pub fn host_modules(&self) -> &[String] {
        &self.meta.host_modules
    }

    /// Returns the configuration keys that HyperAgent prompts for.
    #[must_use]
    pub fn prompt_keys(&self) -> &[String] {
        &self.meta.prompt_keys
    }

    /// Returns the configuration schema, as written.
    #[must_use]
    pub fn config_schema(&self) -> Option<&RawValue> {
        self.raw("configSchema").or_else(|| self.raw("userConfig"))
    }

    /// Returns the value of a top-level list or object, as written.
    #[must_use]
    pub fn raw(&self, key: &str) -> Option<&RawValue> {
        self.meta.raw.get(key)
    }

    /// Returns the file that HyperAgent loads.
    #[must_use]
    pub fn entry_file(&self) -> Option<&str> {
        self.meta.entry_file.as_deref()
    }

    /// Returns the main file, whose digest is pinned, or `None` if the plugin does not have one.
    #[must_use]
    pub const fn main_file(&self) -> Option<&'static str> {
        self.main_file
    }

    /// Returns the files that were read, sorted.
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Returns the canonical JSON of the merged marketplace entry, whose digest is pinned.
    #[must_use]
    pub fn entry_text(&self) -> Option<&str> {
        self.entry.as_deref()
    }

    /// Returns everything that can run or reach a prompt, ordered by file and position.
    #[must_use]
    pub fn surface(&self) -> &[SurfaceItem] {
        &self.surface
    }

    /// Returns the warnings, ordered bytewise by file and pointer.
    #[must_use]
    pub fn warnings(&self) -> &[ManifestWarning] {
        &self.warnings
    }

    /// Returns the text whose SHA-256 is the surface digest.
    ///
    /// The first line is `surface-v1`. One line per item follows, in bytewise order; every line ends with a line feed.
    ///
    /// # Guarantees
    /// The text does not depend on whitespace, on the order of keys and files, or on the positions of items. It
    /// includes the values of environment variables and headers, so a changed value changes the digest.
    #[must_use]
    pub fn surface_text(&self) -> String {
        let mut lines: Vec<String> = self.surface.iter().map(SurfaceItem::line).collect();
        lines.sort();
        let mut out = String::from("surface-v1\n");
        for line in lines {
            out.push_str(&line);
            out.push('\n');
        }
        out
    }
}
