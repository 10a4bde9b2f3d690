//! Values of settings.

use crate::command::{Checksum, ChecksumAlgorithm};
use crate::table::{FieldKind, RowField};

/// A value of a setting.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "every host must display a new kind of value")]
pub enum SettingValue {
    /// A word or text.
    Text(String),
    /// `true` or `false`.
    Flag(bool),
    /// A number.
    Number(u64),
    /// A list of texts.
    List(Vec<PlacedText>),
    /// A checksum.
    Checksum(Checksum),
    /// A list of tables.
    Rows(Vec<SettingRow>),
    /// Any TOML.
    Any(toml::Value),
}

/// A text and its place in a layer.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "two parts of one text")]
pub struct PlacedText {
    /// The text.
    pub text: String,
    /// The byte offset in the layer's text.
    pub at: usize,
}

// Two layers can state the same text at different places.
impl PartialEq for PlacedText {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// A table with fixed fields, such as one of `lock.signers`.
#[derive(Debug, Clone)]
pub struct SettingRow {
    pub(crate) at: usize,
    pub(crate) fields: Vec<(&'static RowField, Vec<PlacedText>)>,
}

impl PartialEq for SettingRow {
    fn eq(&self, other: &Self) -> bool {
        self.fields == other.fields
    }
}

impl SettingRow {
    /// Returns the byte offset in the layer's text.
    #[must_use]
    pub const fn at(&self) -> usize {
        self.at
    }

    /// Returns a field with one text or number.
    #[must_use]
    pub fn text(&self, field: &str) -> Option<&PlacedText> {
        self.texts(field).first()
    }

    /// Returns a field with a list.
    #[must_use]
    pub fn texts(&self, field: &str) -> &[PlacedText] {
        self.fields.iter().find(|(known, _)| known.name == field).map_or(&[], |(_, texts)| texts.as_slice())
    }
}

impl SettingValue {
    /// Returns the word or text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the list of texts.
    #[must_use]
    pub fn as_list(&self) -> Option<&[PlacedText]> {
        match self {
            Self::List(list) => Some(list),
            _ => None,
        }
    }

    /// Returns the value as TOML.
    #[must_use]
    pub fn to_toml(&self) -> toml::Value {
        let texts = |texts: &[PlacedText]| -> toml::Value {
            texts.iter().map(|one| one.text.clone()).collect::<Vec<_>>().into()
        };
        match self {
            Self::Text(text) => text.clone().into(),
            Self::Flag(flag) => (*flag).into(),
            Self::Number(number) => i64::try_from(*number).unwrap_or(i64::MAX).into(),
            Self::List(list) => texts(list),
            Self::Checksum(Checksum { algorithm, value }) => toml::Value::Table(toml::Table::from_iter([
                ("algorithm".to_owned(), algorithm.as_str().into()),
                ("value".to_owned(), value.clone().into()),
            ])),
            Self::Rows(rows) => {
                let row = |row: &SettingRow| {
                    let fields = row.fields.iter().filter_map(|(field, values)| {
                        let first = || values.first().map(|one| one.text.as_str());
                        let value = match field.kind {
                            FieldKind::List => texts(values),
                            FieldKind::Text => first()?.into(),
                            FieldKind::Number => first()?.parse::<i64>().ok()?.into(),
                        };
                        Some((field.name.to_owned(), value))
                    });
                    toml::Value::Table(fields.collect())
                };
                toml::Value::Array(rows.iter().map(row).collect())
            }
            Self::Any(value) => value.clone(),
        }
    }

    /// Returns the value as it is written in a settings file.
    #[must_use]
    pub fn as_written(&self) -> String {
        self.to_toml().to_string()
    }

    /// Returns a checksum with hex digits of any case.
    pub(crate) fn checksum(algorithm: &str, value: &str) -> Result<Self, String> {
        let algorithm = match algorithm {
            "sha256" => ChecksumAlgorithm::Sha256,
            "sha1" => ChecksumAlgorithm::Sha1,
            other => return Err(format!("unknown algorithm `{other}`, expected `sha256` or `sha1`")),
        };
        let digits = algorithm.digits();
        if value.len() != digits || !value.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(format!("expected {digits} hex digits of {}", algorithm.as_str()));
        }
        Ok(Self::Checksum(Checksum { algorithm, value: value.to_ascii_lowercase() }))
    }
}
