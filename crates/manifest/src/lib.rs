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

pub use at::{At, UnknownKeys, WithoutManifest};
pub use code::{CODES, Code};
pub use command::{
    BUILTINS, CommandContext, CommandPart, CommandView, INTERPRETERS, LAUNCHERS, judge_argv, judge_command,
};
pub use coverage::Coverage;
pub use dialect::{Dialect, MAIN_FILES, MARKET_FILES, Relative};
pub use error::{ManifestError, ManifestErrors, Notice, Place, Weight};
pub use files::{FileView, Files, MapFiles, Mode};
pub use hooks_file::{HooksFile, hooks};
pub use jp::read_jp_entry;
pub use manifest::{Manifest, Person, Raw};
pub use market::{Entry, Market, RefusedEntry};
pub use market_read::read_market;
pub use read::{Found, RootCheck, classify, find, read, read_all};
pub use source::{CommandSources, Pinning, Remote, Source};
pub use surface::{Fact, Layer, Origin, SurfaceItem, SurfaceKind};
pub use text::ForeignText;
