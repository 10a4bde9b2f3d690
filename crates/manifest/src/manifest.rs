//! What a plugin says of itself.

use std::collections::BTreeMap;

use plugward_types::{ParseError, PluginId, Span};

use crate::dialect::Dialect;
use crate::error::Notice;
use crate::surface::SurfaceItem;
use crate::text::ForeignText;

/// A person or an organisation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Person {
    pub(crate) name: Option<String>,
    pub(crate) email: Option<String>,
    pub(crate) url: Option<String>,
}

impl Person {
    /// Gives the name, the plugin's own word.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Gives the address for mail.
    #[must_use]
    pub fn email(&self) -> Option<&str> {
        self.email.as_deref()
    }

    /// Gives the URL.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// Reads `Name <email> (url)`; each part may be absent.
    pub(crate) fn from_line(line: &str) -> Self {
        let between = |open: char, close: char| {
            let (_, rest) = line.split_once(open)?;
            rest.split_once(close).map(|(inner, _)| inner.trim().to_owned())
        };
        let name = line.split(['<', '(']).next().unwrap_or_default().trim();
        Self {
            name: Some(name.to_owned()).filter(|name| !name.is_empty()),
            email: between('<', '>'),
            url: between('(', ')'),
        }
    }
}

/// A value that is kept as it stands in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raw {
    pub(crate) file: String,
    pub(crate) span: Span,
    pub(crate) text: String,
}

impl Raw {
    /// Gives the file.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Gives the bytes in the file.
    #[must_use]
    pub const fn span(&self) -> Span {
        self.span
    }

    /// Gives the JSON text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// What is known about who a plugin is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Meta {
    pub(crate) name: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) display_name: Option<ForeignText>,
    pub(crate) description: Option<ForeignText>,
    pub(crate) author: Option<Person>,
    pub(crate) homepage: Option<String>,
    pub(crate) repository: Option<String>,
    pub(crate) license: Option<String>,
    pub(crate) keywords: Vec<String>,
    pub(crate) companions: Vec<String>,
    pub(crate) host_modules: Vec<String>,
    pub(crate) prompt_keys: Vec<String>,
    pub(crate) entry_file: Option<String>,
    pub(crate) raw: BTreeMap<String, Raw>,
}

/// One plugin, as its files declare it.
///
/// # Guarantees
/// The same files give the same value on every platform. It exists only where no key stood twice, every path stays
/// in the tree, the name is valid, and every declared file of the dialect's table that is there was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    pub(crate) dialect: Dialect,
    pub(crate) meta: Meta,
    pub(crate) surface: Vec<SurfaceItem>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) main_file: Option<&'static str>,
    pub(crate) files: Vec<String>,
    pub(crate) entry: Option<String>,
}

impl Manifest {
    /// Gives the dialect.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Gives the name; it is a part of an id as it stands.
    #[must_use]
    pub fn name(&self) -> &str {
        self.meta.name.as_deref().unwrap_or_default()
    }

    /// Puts the id together from the dialect, the name and where the plugin came from.
    ///
    /// # Errors
    /// `parse/length` or `parse/character` where the source breaks the rule for a part of an id.
    pub fn id(&self, source: &str) -> Result<PluginId, ParseError> {
        PluginId::new(self.dialect.as_str(), self.name(), source)
    }

    /// Gives the version as written; absent where the dialect does not ask for one.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.meta.version.as_deref()
    }

    /// Gives the name for people.
    #[must_use]
    pub const fn display_name(&self) -> Option<&ForeignText> {
        self.meta.display_name.as_ref()
    }

    /// Gives the description.
    #[must_use]
    pub const fn description(&self) -> Option<&ForeignText> {
        self.meta.description.as_ref()
    }

    /// Gives the author.
    #[must_use]
    pub const fn author(&self) -> Option<&Person> {
        self.meta.author.as_ref()
    }

    /// Gives the home page.
    #[must_use]
    pub fn homepage(&self) -> Option<&str> {
        self.meta.homepage.as_deref()
    }

    /// Gives the URL of the repository.
    #[must_use]
    pub fn repository(&self) -> Option<&str> {
        self.meta.repository.as_deref()
    }

    /// Gives the licence.
    #[must_use]
    pub fn license(&self) -> Option<&str> {
        self.meta.license.as_deref()
    }

    /// Gives the keywords.
    #[must_use]
    pub fn keywords(&self) -> &[String] {
        &self.meta.keywords
    }

    /// Gives the names of other plugins that it asks for.
    #[must_use]
    pub fn companions(&self) -> &[String] {
        &self.meta.companions
    }

    /// Gives the modules that a HyperAgent entry may register.
    #[must_use]
    pub fn host_modules(&self) -> &[String] {
        &self.meta.host_modules
    }

    /// Gives the configuration keys that HyperAgent asks for.
    #[must_use]
    pub fn prompt_keys(&self) -> &[String] {
        &self.meta.prompt_keys
    }

    /// Gives the schema of the configuration as it stands in its file.
    #[must_use]
    pub fn config_schema(&self) -> Option<&Raw> {
        self.raw("configSchema").or_else(|| self.raw("userConfig"))
    }

    /// Gives the value of a top-level key as it stands in its file.
    #[must_use]
    pub fn raw(&self, key: &str) -> Option<&Raw> {
        self.meta.raw.get(key)
    }

    /// Gives the file that HyperAgent loads.
    #[must_use]
    pub fn entry_file(&self) -> Option<&str> {
        self.meta.entry_file.as_deref()
    }

    /// Gives the main file, whose digest a pin keeps; absent where the plugin has none.
    #[must_use]
    pub const fn main_file(&self) -> Option<&'static str> {
        self.main_file
    }

    /// Gives the files that were read for this, sorted.
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Gives the canonical JSON of the marketplace entry that was merged in, whose digest a pin keeps.
    #[must_use]
    pub fn entry_text(&self) -> Option<&str> {
        self.entry.as_deref()
    }

    /// Gives everything that can run or enter a prompt, in the order of file and place.
    #[must_use]
    pub fn surface(&self) -> &[SurfaceItem] {
        &self.surface
    }

    /// Gives what is worth saying, in bytewise order of file and pointer.
    #[must_use]
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Writes the text whose SHA-256 is the surface digest: `surface-v1`, then one line an item, in bytewise order,
    /// each with its line end.
    ///
    /// # Guarantees
    /// The order of keys and of files does not change it, nor white space, nor where an item stands. The values of
    /// environment and headers are in it.
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
