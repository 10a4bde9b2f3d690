#![doc = include_str!("../README.md")]
#![expect(
    clippy::single_match_else,
    reason = "a match shows both outcomes; most have one line and one block"
)]
#![expect(clippy::similar_names, reason = "`args` and `argv` are established terms")]

mod command;
mod dialects;
mod error;
mod hooks;
pub mod json;
mod manifest;
mod marketplace;
mod reader;
mod surface;

pub use command::{CommandAnalysis, CommandContext, CommandPart, judge_argv, judge_command};
pub use dialects::{
    Dialect, MAIN_FILES, MARKETPLACE_FILES, RelativeBase, RootCheck, classify, find_dialects, read_jp_entry,
};
pub use error::{
    CODES, ManifestCode, ManifestError, ManifestErrors, ManifestPlace, ManifestWarning, WarningLevel,
};
pub use hooks::{HooksFile, read_hooks_file};
pub use manifest::{
    Contact, DialectResult, FileMode, FileView, Files, Manifest, MapFiles, MissingManifest, PluginContext,
    RawValue, UnknownKeys, read, read_all,
};
pub use marketplace::{
    CommandSources, Marketplace, MarketplaceEntry, Pinning, RefusedEntry, RemoteSource, Source,
    read_marketplace,
};
pub use plugward_types as types;
pub use reader::ForeignText;
pub use surface::{Coverage, ManifestLayer, Origin, SurfaceFact, SurfaceItem, SurfaceKind};
