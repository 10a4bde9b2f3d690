//! The configuration schema of a plugin.

mod export;
pub(crate) mod field;
mod hints;
mod lexer;
pub(crate) mod literal;

use plugward_types::{LineColumn, LineEnds, LineIndex, escape};
use thiserror::Error;

pub use field::{FieldType, ItemType, SchemaField};
pub use hints::{Hints, exported_hints};

use literal::{Literal, LiteralReader, LiteralValue};

use crate::faults::{Fault, Faults};

const MAX_FIELDS: usize = 100;
const MAX_BYTES: usize = 64 << 10;

/// The settings of a plugin, in the order in which its author wrote them.
///
/// # Guarantees
/// Every default passes the check of its own field. There are at most 100 fields, with different keys.
///
/// # Examples
/// ```
/// use plugward_lifecycle::Schema;
///
/// let source = r#"export const SCHEMA = { limit: { type: "number" as const, default: 10, minimum: 1 } };"#;
/// let schema = Schema::from_source(source)?.ok_or("no SCHEMA")?;
/// assert_eq!(schema.fields()[0].minimum, Some(1.0));
/// assert!(Schema::from_source("export const SCHEMA = build();").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schema {
    fields: Vec<SchemaField>,
}

impl Schema {
    /// Reads `export const SCHEMA = …` of an entry file, or returns `None` if it does not export `SCHEMA`.
    ///
    /// # Errors
    /// `schema/not-literal` if a part is computed; `schema/field`, `schema/default` and `schema/too-large` if the
    /// literal is not a valid schema. All faults are returned together.
    pub fn from_source(source: &str) -> Result<Option<Self>, SchemaError> {
        let (literal, faults) = export::exported(source, "SCHEMA");
        check_literal(source, faults)?;
        literal.map(|literal| Self::from_literal(source, &literal, &[])).transpose()
    }

    /// Reads the JSON text of `configSchema`, and the keys that the manifest lists in `promptKeys`.
    ///
    /// # Errors
    /// As [`Schema::from_source`]. Places are relative to the given text.
    pub fn from_manifest(config_schema: &str, prompt_keys: &[String]) -> Result<Self, SchemaError> {
        let (literal, faults) = LiteralReader::new(config_schema).document();
        check_literal(config_schema, faults)?;
        Self::from_literal(config_schema, &literal, prompt_keys)
    }

    /// Returns the fields.
    #[must_use]
    pub fn fields(&self) -> &[SchemaField] {
        &self.fields
    }

    /// Returns the field with a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&SchemaField> {
        self.fields.iter().find(|field| field.key == key)
    }

    fn from_literal(text: &str, literal: &Literal, prompt_keys: &[String]) -> Result<Self, SchemaError> {
        let mut faults = FieldFaults::default();
        let start = literal.range.start;
        let mut fields: Vec<SchemaField> = Vec::new();
        match &literal.value {
            LiteralValue::Object(members)
                if members.len() > MAX_FIELDS || literal.range.len() > MAX_BYTES =>
            {
                let message = format!(
                    "expected at most {MAX_FIELDS} fields in {} KiB, got {} fields in {} bytes",
                    MAX_BYTES >> 10,
                    members.len(),
                    literal.range.len()
                );
                faults.add(SchemaFaultKind::TooLarge, start, message);
            }
            LiteralValue::Object(members) => {
                for member in members {
                    if fields.iter().any(|field| field.key == member.key) {
                        let message = format!("expected each field once, got `{}` again", member.key);
                        faults.add(SchemaFaultKind::Field, member.at, message);
                    }
                    fields.extend(field::read(member, &mut faults));
                }
            }
            _ => faults.add(
                SchemaFaultKind::Field,
                start,
                format!("expected an object of fields, got {}", literal.describe()),
            ),
        }
        for key in prompt_keys {
            match fields.iter_mut().find(|field| field.key == *key) {
                Some(field) => field.is_prompted = true,
                None if faults.list.is_empty() => {
                    let message = format!("expected a field for `{}` in `promptKeys`", escape::line(key));
                    faults.add(SchemaFaultKind::Field, start, message);
                }
                None => {}
            }
        }
        check(text, faults.list).map(|()| Self { fields })
    }
}

/// The faults of fields, by offset.
#[derive(Debug, Default)]
pub(crate) struct FieldFaults {
    list: Vec<(SchemaFaultKind, usize, String)>,
}

impl FieldFaults {
    pub(crate) fn add(&mut self, kind: SchemaFaultKind, at: usize, message: String) {
        if self.list.len() < literal::MAX_FAULTS {
            self.list.push((kind, at, message));
        }
    }
}

/// A schema that cannot be used.
pub type SchemaError = Faults<SchemaFault>;

/// Returns an error if there are faults, with their places.
fn check(text: &str, faults: Vec<(SchemaFaultKind, usize, String)>) -> Result<(), SchemaError> {
    let index = LineIndex::new(text.as_bytes(), LineEnds::EcmaScript);
    Faults::check(faults.into_iter().map(|(kind, at, message)| SchemaFault {
        kind,
        message,
        place: index.line_column(at),
    }))
}

fn check_literal(text: &str, faults: Vec<(usize, String)>) -> Result<(), SchemaError> {
    check(text, faults.into_iter().map(|(at, message)| (SchemaFaultKind::NotLiteral, at, message)).collect())
}

/// One fault of a schema.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}:{}: {message}", place.line, place.column)]
#[non_exhaustive]
pub struct SchemaFault {
    /// The kind.
    pub kind: SchemaFaultKind,
    /// What is wrong. Text of the plugin in it is escaped.
    pub message: String,
    /// The place in the given text.
    pub place: LineColumn,
}

impl Fault for SchemaFault {
    fn code(&self) -> &'static str {
        self.kind.code()
    }
}

/// The kind of a schema's fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaFaultKind {
    /// A part is computed, or is not JavaScript.
    NotLiteral,
    /// A field is incomplete or contradicts itself.
    Field,
    /// A default does not pass its own field.
    Default,
    /// There are too many fields, or too much text.
    TooLarge,
}

impl SchemaFaultKind {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotLiteral => "schema/not-literal",
            Self::Field => "schema/field",
            Self::Default => "schema/default",
            Self::TooLarge => "schema/too-large",
        }
    }
}
