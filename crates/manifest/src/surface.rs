//! Everything of a plugin that can run or enter a prompt.

use core::fmt;
use std::collections::BTreeMap;

use crate::coverage::Coverage;
use crate::error::Place;
use crate::json::write_text;
use crate::text::ForeignText;

macro_rules! kinds {
    ($($name:ident, $word:literal, $doc:literal;)*) => {
        /// What sort of thing an item of the surface is.
        ///
        /// # Source
        /// `design/manifest.md`, 2.6.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(clippy::exhaustive_enums, reason = "a new kind must stop every host from building")]
        pub enum SurfaceKind {
            $(#[doc = $doc] $name,)*
        }

        impl SurfaceKind {
            /// Every kind, in the order of reports.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Gives the word that reports use.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

kinds! {
    Hook, "hook", "A handler of a host's event.";
    McpServer, "mcp-server", "An MCP server, local or remote.";
    LspServer, "lsp-server", "A language server.";
    Monitor, "monitor", "A command whose output the host watches.";
    HeadersHelper, "headers-helper", "A command that is run for the headers of a server.";
    StatusLine, "status-line", "A command whose output is shown.";
    Bin, "bin", "A file that goes on PATH.";
    Workflow, "workflow", "A script of `workflows/`.";
    Entry, "entry", "The source that HyperAgent loads.";
    HostModule, "host-module", "A module that the entry may register.";
    CommandShell, "command-shell", "Shell text that runs when a prompt is built.";
    Shared, "shared", "A file outside of the folder that the entry imports.";
    Binary, "binary", "A binary that a registry entry names.";
    App, "app", "A remote app.";
    Channel, "channel", "A server that may write into the conversation.";
    Dependency, "dependency", "Another plugin by name.";
    Settings, "settings", "Settings by name.";
    Prompt, "prompt", "Text that enters a model.";
}

impl fmt::Display for SurfaceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Whether the manifest names an item or it lies in a standard folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "an item is named or it is not")]
pub enum Origin {
    /// Named by the manifest, the entry, or a file that they name.
    Declared,
    /// Found in a standard folder or file.
    Found,
}

/// Which of the two layers of a plugin says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the tree and the marketplace entry are the only layers")]
pub enum Layer {
    /// The plugin's own files.
    Plugin,
    /// The marketplace entry, whose bytes are not in the tree.
    Entry,
}

/// A further fact about an item.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "text, list and map are what manifests have")]
pub enum Fact {
    /// One text.
    Text(String),
    /// Several texts, in order.
    List(Vec<String>),
    /// Texts by name; the values of environment and headers among them.
    Map(BTreeMap<String, String>),
}

/// One thing that can run or enter a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SurfaceItem {
    pub(crate) kind: SurfaceKind,
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) layer: Layer,
    pub(crate) origin: Origin,
    pub(crate) text: Option<ForeignText>,
    pub(crate) argv: Vec<String>,
    pub(crate) run: Vec<String>,
    pub(crate) files: Vec<String>,
    pub(crate) reads_env: Vec<String>,
    pub(crate) coverage: Coverage,
    pub(crate) why: String,
    pub(crate) off: bool,
    pub(crate) facts: BTreeMap<&'static str, Fact>,
}

impl SurfaceItem {
    pub(crate) fn new(kind: SurfaceKind, name: impl Into<String>, place: Place, layer: Layer) -> Self {
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

    /// Gives the kind.
    #[must_use]
    pub const fn kind(&self) -> SurfaceKind {
        self.kind
    }

    /// Gives the name: of a server, a file, an event. It is the plugin's own word.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives the place.
    #[must_use]
    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// Says which layer it comes from.
    #[must_use]
    pub const fn layer(&self) -> Layer {
        self.layer
    }

    /// Says whether it was named or found.
    #[must_use]
    pub const fn origin(&self) -> Origin {
        self.origin
    }

    /// Gives the command text or the prompt text as written; absent where a file or an argument list says it.
    #[must_use]
    pub const fn text(&self) -> Option<&ForeignText> {
        self.text.as_ref()
    }

    /// Gives the argument list as written; empty where it is a command text.
    #[must_use]
    pub fn argv(&self) -> &[String] {
        &self.argv
    }

    /// Gives what would run, for a report: the words of a single command, root variables left out, or the whole text.
    #[must_use]
    pub fn run(&self) -> &[String] {
        &self.run
    }

    /// Gives the files of the tree that it names, sorted.
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Gives the names of the environment variables that it reads, sorted. Values are never looked up.
    #[must_use]
    pub fn reads_env(&self) -> &[String] {
        &self.reads_env
    }

    /// Gives how far a pin covers it.
    pub const fn coverage(&self) -> Coverage {
        self.coverage
    }

    /// Names what the label is about.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Says whether the plugin itself has it switched off.
    #[must_use]
    pub const fn is_off(&self) -> bool {
        self.off
    }

    /// Gives the further facts: `event`, `matcher`, `handler`, `timeout`, `transport`, `url`, `cwd`, `env`, `headers`, …
    ///
    /// A hook of gnoma also has `fail_open`, `phase`, `priority`, `on_failure`, and `env` as a list of names. `other` maps
    /// the remaining keys to canonical JSON, among them a `matcher` that is not a string and a `timeout` that is not a
    /// number.
    #[must_use]
    pub const fn facts(&self) -> &BTreeMap<&'static str, Fact> {
        &self.facts
    }

    /// Gives one fact that is a text.
    #[must_use]
    pub fn fact(&self, name: &str) -> Option<&str> {
        match self.facts.get(name) {
            Some(Fact::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Gives the event of a hook.
    #[must_use]
    pub fn event(&self) -> Option<&str> {
        self.fact("event")
    }

    /// Writes the line that the surface digest is taken over; places are left out, so that moving a line changes nothing.
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
        write_text(if self.layer == Layer::Entry { "entry" } else { "plugin" }, &mut out);
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

fn facts(facts: &BTreeMap<&'static str, Fact>, out: &mut String) {
    out.push('{');
    for (index, (name, fact)) in facts.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_text(name, out);
        out.push(':');
        match fact {
            Fact::Text(text) => write_text(text, out),
            Fact::List(texts) => list(texts, out),
            Fact::Map(map) => {
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
