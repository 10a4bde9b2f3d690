//! The execution surface: everything in a plugin that can run or reach a prompt.

pub(crate) mod commands;
mod coverage;
mod front_matter;
pub(crate) mod prompts;
pub(crate) mod servers;
pub(crate) mod yaml_text;

use core::fmt;
use std::collections::BTreeMap;

use crate::error::ManifestPlace;
use crate::json::write_text;
use crate::reader::text::ForeignText;

pub use coverage::Coverage;

macro_rules! kinds {
    ($($name:ident, $word:literal, $doc:literal;)*) => {
        /// The kind of an item of the execution surface.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(clippy::exhaustive_enums, reason = "a new kind must stop every host from building")]
        pub enum SurfaceKind {
            $(#[doc = $doc] $name,)*
        }

        impl SurfaceKind {
            /// Every kind, in report order.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns the name used in reports.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

kinds! {
    Hook, "hook", "A handler of a host event.";
    McpServer, "mcp-server", "An MCP server, local or remote.";
    LspServer, "lsp-server", "A language server.";
    Monitor, "monitor", "A command whose output the host watches.";
    HeadersHelper, "headers-helper", "A command that produces the headers of a server.";
    StatusLine, "status-line", "A command whose output the host displays.";
    Bin, "bin", "A file that the host adds to PATH.";
    Workflow, "workflow", "A script in `workflows/`.";
    Entry, "entry", "The source file that HyperAgent loads.";
    HostModule, "host-module", "A module that the HyperAgent entry file may register.";
    CommandShell, "command-shell", "Shell text that runs when a prompt is built.";
    Shared, "shared", "A file outside the plugin directory that the entry file imports.";
    Binary, "binary", "A binary of a registry entry.";
    App, "app", "A remote app.";
    Channel, "channel", "A server that can write into the conversation.";
    Dependency, "dependency", "Another plugin, by name.";
    Settings, "settings", "A setting, by name.";
    Prompt, "prompt", "Text that reaches a model.";
}

impl fmt::Display for SurfaceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How an item of the surface was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "an item is declared or it is not")]
pub enum Origin {
    /// Declared by the manifest, by the marketplace entry, or by a file that one of them declares.
    Declared,
    /// Found in a standard directory or file.
    Found,
}

/// The layer of a plugin that declares an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the tree and the marketplace entry are the only layers")]
pub enum ManifestLayer {
    /// The files of the plugin.
    Plugin,
    /// The marketplace entry, whose bytes are not in the plugin directory.
    Entry,
}

/// An additional fact about an item, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "manifests contain texts, lists and maps")]
pub enum SurfaceFact {
    /// One text.
    Text(String),
    /// Several texts, in order.
    List(Vec<String>),
    /// Texts by name, including the values of environment variables and headers.
    Map(BTreeMap<String, String>),
}

/// One item of the execution surface: a command, a prompt, or something that leads to one.
///
/// # Examples
/// ```
/// use plugward_manifest::{Dialect, MapFiles, PluginContext, SurfaceKind, read};
///
/// let files = MapFiles::new().with(
///     ".claude-plugin/plugin.json",
///     r#"{"name": "a", "mcpServers": {"db": {"command": "npx", "args": ["db@1.0.0"]}}}"#,
/// );
/// let manifest = read(Dialect::Claude, &files, &PluginContext::for_directory("a"))?;
/// let [server] = manifest.surface() else { panic!() };
/// assert_eq!((server.kind(), server.name()), (SurfaceKind::McpServer, "db"));
/// assert_eq!(server.argv(), ["npx", "db@1.0.0"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SurfaceItem {
    pub(crate) kind: SurfaceKind,
    pub(crate) name: String,
    pub(crate) place: ManifestPlace,
    pub(crate) layer: ManifestLayer,
    pub(crate) origin: Origin,
    pub(crate) text: Option<ForeignText>,
    pub(crate) argv: Vec<String>,
    pub(crate) run: Vec<String>,
    pub(crate) files: Vec<String>,
    pub(crate) reads_env: Vec<String>,
    pub(crate) coverage: Coverage,
    pub(crate) why: String,
    pub(crate) off: bool,
    pub(crate) facts: BTreeMap<&'static str, SurfaceFact>,
}

impl SurfaceItem {
    pub(crate) fn new(
        kind: SurfaceKind,
        name: impl Into<String>,
        place: ManifestPlace,
        layer: ManifestLayer,
    ) -> Self {
        Self {
            kind,
            name: name.into(),
            place,
            layer,
            origin: Origin::Declared,
            text: None,
            argv: Vec::new(),
            run: Vec::new(),
            files: Vec::new(),
            reads_env: Vec::new(),
            coverage: Coverage::Covered,
            why: String::new(),
            off: false,
            facts: BTreeMap::new(),
        }
    }

    /// Returns the kind of the item.
    #[must_use]
    pub const fn kind(&self) -> SurfaceKind {
        self.kind
    }

    /// Returns the name that the plugin uses, such as a server name, a file or an event.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the place that declares the item.
    #[must_use]
    pub const fn place(&self) -> &ManifestPlace {
        &self.place
    }

    /// Returns the layer that declares the item.
    #[must_use]
    pub const fn layer(&self) -> ManifestLayer {
        self.layer
    }

    /// Returns whether the item is declared or was found in a standard place.
    #[must_use]
    pub const fn origin(&self) -> Origin {
        self.origin
    }

    /// Returns the command or prompt as written; `None` if the item is a file or an argument list.
    #[must_use]
    pub const fn text(&self) -> Option<&ForeignText> {
        self.text.as_ref()
    }

    /// Returns the argument list as written; empty if the item is a command text.
    #[must_use]
    pub fn argv(&self) -> &[String] {
        &self.argv
    }

    /// Returns the command for reports: the words of a single command without root variables, or the whole text.
    #[must_use]
    pub fn run(&self) -> &[String] {
        &self.run
    }

    /// Returns the files of the tree that the item refers to, sorted.
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Returns the names of the environment variables that the item reads, sorted. Values are never read.
    #[must_use]
    pub fn reads_env(&self) -> &[String] {
        &self.reads_env
    }

    /// Returns how much of the item a pin covers.
    pub const fn coverage(&self) -> Coverage {
        self.coverage
    }

    /// Returns the reason for the coverage: a program, script or reference, or an explanation.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Returns `true` if the plugin itself disables the item.
    #[must_use]
    pub const fn is_off(&self) -> bool {
        self.off
    }

    /// Returns the additional facts, by name.
    ///
    /// Names are `event`, `matcher`, `handler`, `timeout`, `transport`, `url`, `cwd`, `env`, `headers` and others. A hook of
    /// gnoma also has `fail_open`, `phase`, `priority`, `on_failure`, and `env` as a list of names. `other` maps the
    /// remaining keys to canonical JSON, including a `matcher` that is not a string and a `timeout` that is not a number.
    #[must_use]
    pub const fn facts(&self) -> &BTreeMap<&'static str, SurfaceFact> {
        &self.facts
    }

    /// Returns one fact if its value is a text.
    #[must_use]
    pub fn fact(&self, name: &str) -> Option<&str> {
        match self.facts.get(name) {
            Some(SurfaceFact::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the event of a hook.
    #[must_use]
    pub fn event(&self) -> Option<&str> {
        self.fact("event")
    }

    /// Returns the item's line of the surface digest. It contains no positions, so moving an item changes nothing.
    pub(crate) fn line(&self) -> String {
        let mut out = String::from("{");
        let mut first = true;
        let mut key = |out: &mut String, name: &str| {
            if !core::mem::take(&mut first) {
                out.push(',');
            }
            write_text(name, out);
            out.push(':');
        };
        key(&mut out, "argv");
        list(&self.argv, &mut out);
        key(&mut out, "coverage");
        // The coverage is part of the line, so that a script that loses its file changes the digest.
        write_text(self.coverage.code(), &mut out);
        key(&mut out, "env");
        list(&self.reads_env, &mut out);
        key(&mut out, "facts");
        facts(&self.facts, &mut out);
        key(&mut out, "files");
        list(&self.files, &mut out);
        key(&mut out, "kind");
        write_text(self.kind.as_str(), &mut out);
        key(&mut out, "layer");
        write_text(if self.layer == ManifestLayer::Entry { "entry" } else { "plugin" }, &mut out);
        key(&mut out, "name");
        write_text(&self.name, &mut out);
        key(&mut out, "off");
        out.push_str(if self.off { "true" } else { "false" });
        key(&mut out, "origin");
        write_text(if self.origin == Origin::Found { "found" } else { "declared" }, &mut out);
        key(&mut out, "text");
        match &self.text {
            Some(text) => write_text(text.as_untrusted(), &mut out),
            None => out.push_str("null"),
        }
        out.push('}');
        out
    }
}

fn list(texts: &[String], out: &mut String) {
    out.push('[');
    for (index, text) in texts.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_text(text, out);
    }
    out.push(']');
}

fn facts(facts: &BTreeMap<&'static str, SurfaceFact>, out: &mut String) {
    out.push('{');
    for (index, (name, fact)) in facts.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_text(name, out);
        out.push(':');
        match fact {
            SurfaceFact::Text(text) => write_text(text, out),
            SurfaceFact::List(texts) => list(texts, out),
            SurfaceFact::Map(map) => {
                out.push('{');
                for (index, (name, value)) in map.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_text(name, out);
                    out.push(':');
                    write_text(value, out);
                }
                out.push('}');
            }
        }
    }
    out.push('}');
}
