#![doc = include_str!("../README.md")]
#![expect(
    clippy::single_match_else,
    reason = "a match shows both outcomes; most have one line and one block"
)]
#![expect(clippy::similar_names, reason = "`args` and `argv` are established terms")]

mod at;
mod claude;
mod code;
mod codex;
mod command;
mod coverage;
mod dialect;
mod error;
mod fields;
mod files;
mod gemini;
mod gnoma;
mod handlers;
mod hooks;
mod hooks_file;
mod hyperagent;
mod imports;
mod jp;
pub mod json;
mod manifest;
mod market;
mod market_read;
mod meta;
mod name;
#[cfg(any(test, feature = "serde"))]
mod output;
mod parts;
mod path;
mod prompts;
mod read;
mod reader;
mod runs;
mod servers;
mod source;
mod surface;
mod text;
mod url;

pub use at::{MissingManifest, PluginContext, UnknownKeys};
pub use code::{CODES, ManifestCode};
pub use command::{
    BUILTINS, CommandAnalysis, CommandContext, CommandPart, INTERPRETERS, LAUNCHERS, judge_argv,
    judge_command,
};
pub use coverage::Coverage;
pub use dialect::{Dialect, MAIN_FILES, MARKETPLACE_FILES, RelativeBase};
pub use error::{ManifestError, ManifestErrors, ManifestPlace, ManifestWarning, WarningLevel};
pub use files::{FileMode, FileView, Files, MapFiles};
pub use hooks_file::{HooksFile, read_hooks_file};
pub use jp::read_jp_entry;
pub use manifest::{Contact, Manifest, RawValue};
pub use market::{Marketplace, MarketplaceEntry, RefusedEntry};
pub use market_read::read_marketplace;
pub use read::{DialectResult, RootCheck, classify, find_dialects, read, read_all};
pub use source::{CommandSources, Pinning, RemoteSource, Source};
pub use surface::{ManifestLayer, Origin, SurfaceFact, SurfaceItem, SurfaceKind};
pub use text::ForeignText;
