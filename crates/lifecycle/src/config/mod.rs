//! The configuration of a plugin: what the user gave, and the values that count.

mod given;
mod questions;

use std::collections::BTreeMap;

use plugward_types::{escape, nearest};
use thiserror::Error;

pub use given::{GivenValues, inline};
pub use questions::{AnswerOutcome, Questions, questions};

use crate::faults::{Fault, Faults};
use crate::schema::Schema;
use crate::value::ConfigValue;

/// The origin of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new origin must be handled by every host")]
pub enum ValueSource {
    /// The default of the schema.
    Default,
    /// `key=value` in a command.
    Inline,
    /// The answer to a question.
    Prompt,
    /// The plugin that has this one as a companion.
    Shared,
}

impl ValueSource {
    /// Returns the name in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Inline => "inline",
            Self::Prompt => "prompt",
            Self::Shared => "shared",
        }
    }
}

/// A value of a configuration.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ConfigEntry {
    /// The value, for the plugin only.
    pub value: ConfigValue,
    /// The origin.
    pub origin: ValueSource,
    /// The text in place of a secret value.
    pub mask: Option<String>,
}

impl ConfigEntry {
    /// Returns the text for summaries and messages.
    #[must_use]
    pub fn shown(&self) -> String {
        self.mask.clone().unwrap_or_else(|| self.value.to_string())
    }
}

/// The complete configuration of a plugin.
///
/// # Guarantees
/// The values pass the schema that they were completed with. Fields with a default or a requirement have a value, and
/// every secret has its mask.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConfigValues {
    entries: BTreeMap<String, ConfigEntry>,
}

impl ConfigValues {
    /// Returns the values by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ConfigEntry)> {
        self.entries.iter().map(|(key, entry)| (key.as_str(), entry))
    }

    /// Returns the value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&ConfigEntry> {
        self.entries.get(key)
    }

    /// Checks the values against another schema, which can be that of a newer version.
    pub(crate) fn check(&self, schema: &Schema) -> Result<(), ConfigError> {
        let values = self.entries.iter().map(|(key, entry)| (key.as_str(), &entry.value));
        Faults::check(faults(schema, &values.collect()))
    }
}

/// Returns what is wrong with some values.
fn faults(schema: &Schema, values: &BTreeMap<&str, &ConfigValue>) -> Vec<ConfigFault> {
    let unknown = values.keys().filter(|key| schema.get(key).is_none());
    let mut faults: Vec<ConfigFault> = unknown.map(|key| ConfigFault::unknown(schema, key)).collect();
    for field in schema.fields() {
        match values.get(field.key.as_str()) {
            Some(value) if !(value.is_empty() && field.is_required) => {
                faults.extend(field.check(value).err());
            }
            None if !field.is_required && field.default.is_none() => {}
            _ => faults.push(ConfigFault::required(&field.key)),
        }
    }
    faults
}

/// A configuration that cannot be used. Nothing was applied.
pub type ConfigError = Faults<ConfigFault>;

/// One fault of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{}`: {message}", escape::line(key))]
#[non_exhaustive]
pub struct ConfigFault {
    /// The kind.
    pub kind: ConfigFaultKind,
    /// The key, as given.
    pub key: String,
    /// What is wrong. It does not repeat the value, which can be a secret.
    pub message: String,
    /// The nearest key of the schema, for an unknown one.
    pub did_you_mean: Option<String>,
}

impl Fault for ConfigFault {
    fn code(&self) -> &'static str {
        self.kind.code()
    }
}

impl ConfigFault {
    fn unknown(schema: &Schema, key: &str) -> Self {
        let keys = schema.fields().iter().map(|field| field.key.as_str());
        Self {
            kind: ConfigFaultKind::UnknownKey,
            key: key.to_owned(),
            message: "the plugin does not have this setting".to_owned(),
            did_you_mean: nearest(key, keys).map(str::to_owned),
        }
    }

    pub(crate) fn required(key: &str) -> Self {
        let message = "expected a value that is not empty".to_owned();
        Self { kind: ConfigFaultKind::Required, key: key.to_owned(), message, did_you_mean: None }
    }
}

/// The kind of a configuration's fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigFaultKind {
    /// The value has another type.
    Type,
    /// The number is too low or too high.
    Range,
    /// The text is too long.
    Length,
    /// A required value is missing.
    Required,
    /// The schema does not have the key.
    UnknownKey,
    /// The key was given twice.
    Duplicate,
}

impl ConfigFaultKind {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Type => "config/type",
            Self::Range => "config/range",
            Self::Length => "config/length",
            Self::Required => "config/required",
            Self::UnknownKey => "config/unknown-key",
            Self::Duplicate => "config/duplicate",
        }
    }
}
