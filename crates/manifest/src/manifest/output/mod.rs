//! Serialization of the results for reports, with the feature `serde`.
//!
//! Text from plugins is escaped. For environment variables and headers, only the names are serialized, because their
//! values can be secrets.

#[cfg(test)]
mod tests;

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use crate::command::{CommandAnalysis, CommandPart};
use crate::dialects::Dialect;
use crate::error::{ManifestError, ManifestErrors, ManifestPlace, ManifestWarning, WarningLevel};
use crate::json::Position;
use crate::manifest::{Contact, Manifest};
use crate::marketplace::{Marketplace, MarketplaceEntry, Pinning, RefusedEntry, Source};
use crate::reader::text::ForeignText;
use crate::surface::{Coverage, ManifestLayer, Origin, SurfaceFact, SurfaceItem, SurfaceKind};

macro_rules! words {
    ($($type:ty, $this:ident => $word:expr;)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let $this = self;
                serializer.serialize_str($word)
            }
        }
    )*};
}

words! {
    Dialect, this => this.as_str();
    Coverage, this => this.code();
    SurfaceKind, this => this.as_str();
    Pinning, this => this.as_str();
    ForeignText, this => &this.escaped();
    WarningLevel, this => match this {
        Self::Notice => "notice",
        Self::Warning => "warning",
    };
    Origin, this => match this {
        Self::Declared => "declared",
        Self::Found => "found",
    };
    ManifestLayer, this => match this {
        Self::Plugin => "plugin",
        Self::Entry => "entry",
    };
}

macro_rules! fields {
    ($($type:ident, $this:ident: { $($key:literal: $value:expr,)* })*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let $this = self;
                let mut out = serializer.serialize_struct(stringify!($type), [$($key),*].len())?;
                $(out.serialize_field($key, &$value)?;)*
                out.end()
            }
        }
    )*};
}

fields! {
    Position, this: { "line": this.line, "column": this.column, }
    ManifestPlace, this: {
        "file": this.file,
        "pointer": this.pointer,
        "start": this.span.start,
        "end": this.span.end,
        "position": this.position,
    }
    ManifestWarning, this: {
        "code": this.code(),
        "weight": this.level,
        "message": this.message,
        "help": this.help(),
        "place": this.place,
    }
    ManifestError, this: {
        "code": this.code(),
        "message": this.message,
        "help": this.help(),
        "place": this.place,
        "also": this.also,
    }
    Contact, this: { "name": this.name, "email": this.email, "url": this.url, }
    SurfaceItem, this: {
        "kind": this.kind,
        "name": this.name,
        "place": this.place,
        "layer": this.layer,
        "origin": this.origin,
        "coverage": this.coverage,
        "why": this.why,
        "run": this.run,
        "argv": this.argv,
        "text": this.text,
        "files": this.files,
        "reads_env": this.reads_env,
        "off": this.off,
        "facts": this.facts,
    }
    Manifest, this: {
        "dialect": this.dialect,
        "name": this.name(),
        "version": this.meta.version,
        "display_name": this.meta.display_name,
        "description": this.meta.description,
        "author": this.meta.author,
        "homepage": this.meta.homepage,
        "repository": this.meta.repository,
        "license": this.meta.license,
        "keywords": this.meta.keywords,
        "companions": this.meta.companions,
        "host_modules": this.meta.host_modules,
        "prompt_keys": this.meta.prompt_keys,
        "entry_file": this.meta.entry_file,
        "main_file": this.main_file,
        "files": this.files,
        "surface": this.surface,
        "notices": this.warnings,
    }
    CommandPart, this: {
        "words": this.words(),
        "coverage": this.coverage(),
        "why": this.why(),
        "started": this.started(),
    }
    CommandAnalysis, this: {
        "parts": this.parts(),
        "coverage": this.coverage(),
        "reads_env": this.reads_env(),
        "files": this.files(),
        "unquoted_root": this.has_unquoted_root(),
    }
    Source, this: {
        "kind": this.kind(),
        "pinning": this.pinning(),
        "at": at(this),
        "path": path(this),
        "reference": reference(this),
        "digest": digest(this),
    }
    MarketplaceEntry, this: {
        "name": this.name,
        "source": this.source,
        "strict": this.strict,
        "components": this.components,
        "category": this.category,
    }
    RefusedEntry, this: { "index": this.index, "name": this.name, "errors": this.errors, }
    Marketplace, this: {
        "name": this.name,
        "owner": this.owner,
        "description": this.description,
        "version": this.version,
        "plugin_root": this.plugin_root,
        "renames": this.renames,
        "entries": this.entries,
        "refused": this.refused,
    }
}

impl Serialize for ManifestErrors {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.errors)
    }
}

impl Serialize for SurfaceFact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(texts) => serializer.collect_seq(texts),
            Self::Map(map) => serializer.collect_seq(map.keys()),
        }
    }
}

/// Returns the address, package or command.
fn at(source: &Source) -> Option<&str> {
    match source {
        Source::Url(remote) | Source::GitSubdir(remote) | Source::Github(remote) | Source::Git(remote) => {
            Some(remote.url())
        }
        Source::Npm { package, .. } => Some(package),
        Source::Archive { url, .. } => Some(url),
        Source::Command { command } => Some(command),
        Source::Local { .. } | Source::Unknown { .. } => None,
    }
}

fn path(source: &Source) -> Option<&str> {
    match source {
        Source::Local { path } => Some(path),
        Source::Url(remote) | Source::GitSubdir(remote) | Source::Github(remote) | Source::Git(remote) => {
            remote.path()
        }
        Source::Npm { .. } | Source::Archive { .. } | Source::Command { .. } | Source::Unknown { .. } => None,
    }
}

/// Returns the branch, tag, version or range.
fn reference(source: &Source) -> Option<&str> {
    match source {
        Source::Url(remote) | Source::GitSubdir(remote) | Source::Github(remote) | Source::Git(remote) => {
            remote.reference()
        }
        Source::Npm { version, .. } => version.as_deref(),
        Source::Local { .. } | Source::Archive { .. } | Source::Command { .. } | Source::Unknown { .. } => {
            None
        }
    }
}

fn digest(source: &Source) -> Option<&str> {
    match source {
        Source::Url(remote) | Source::GitSubdir(remote) | Source::Github(remote) | Source::Git(remote) => {
            remote.sha()
        }
        Source::Archive { sha256, .. } => sha256.as_deref(),
        Source::Local { .. } | Source::Npm { .. } | Source::Command { .. } | Source::Unknown { .. } => None,
    }
}
