//! A strict JSON parser that records the position of every key and value.
//!
//! General parsers accept duplicate keys and discard positions. Here a duplicate key is an error, because two hosts
//! could use different values, and positions are needed for error messages.
//!
//! # Examples
//! ```
//! use plugward_manifest::json::{ParseLimits, parse};
//!
//! let root = parse(br#"{"name": "a"}"#, &ParseLimits::standard())?;
//! let name = root.get("name").unwrap();
//! assert_eq!((name.as_str(), name.span().start), (Some("a"), 9));
//!
//! let errors = parse(br#"{"name": "a", "name": "b"}"#, &ParseLimits::standard()).unwrap_err();
//! assert_eq!(errors.iter().next().unwrap().code(), "manifest/duplicate-key");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod canonical;
mod error;
mod escape;
mod key_table;
mod limits;
mod node;
mod parse;
mod position;
mod scalar;
mod toml;

pub use error::{JsonError, JsonErrorKind, JsonErrors, JsonSyntaxError};
pub use limits::ParseLimits;
pub use node::{JsonMember, JsonNode, JsonNumber, JsonValue};
pub use parse::parse;
pub use position::Position;
pub use toml::parse_toml;

pub(crate) use canonical::{canonical, write_text};
pub(crate) use node::pointer_to;
pub(crate) use position::positions_of;
