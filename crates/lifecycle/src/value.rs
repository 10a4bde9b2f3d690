//! Values of settings, and their check against a field.

use core::fmt;

use crate::config::{ConfigFault, ConfigFaultKind};
use crate::schema::literal::{Literal, LiteralReader, LiteralValue};
use crate::schema::{FieldType, ItemType, SchemaField};

/// The value of a setting.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a new type must be handled by every host")]
pub enum ConfigValue {
    /// Text, as typed.
    String(String),
    /// A finite number.
    Number(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// A list of texts, numbers or booleans.
    Array(Vec<ConfigValue>),
}

impl fmt::Display for ConfigValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String(text) => f.write_str(text),
            Self::Number(number) => write!(f, "{number}"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Array(items) => {
                f.write_str(&items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl ConfigValue {
    /// Returns the value of a literal, or `None` for an object, `null`, or an array of arrays.
    pub(crate) fn of_literal(literal: &Literal) -> Option<Self> {
        match &literal.value {
            LiteralValue::Array(items) => {
                let items = items.iter().map(Self::of_literal).collect::<Option<Vec<_>>>()?;
                (!items.iter().any(|item| matches!(item, Self::Array(_)))).then_some(Self::Array(items))
            }
            LiteralValue::Text(text) => Some(Self::String(text.clone())),
            LiteralValue::Number(number) => Some(Self::Number(*number)),
            LiteralValue::Boolean(value) => Some(Self::Boolean(*value)),
            LiteralValue::Object(_) | LiteralValue::Null | LiteralValue::Unread => None,
        }
    }

    /// Returns `true` for a text or array without content, which a required field does not accept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::String(text) => text.is_empty(),
            Self::Array(items) => items.is_empty(),
            Self::Number(_) | Self::Boolean(_) => false,
        }
    }

    const fn is(&self, kind: ItemType) -> bool {
        matches!(
            (self, kind),
            (Self::String(_), ItemType::String)
                | (Self::Number(_), ItemType::Number)
                | (Self::Boolean(_), ItemType::Boolean)
        )
    }
}

impl SchemaField {
    /// Reads a value as a user types it, and checks it.
    ///
    /// # Errors
    /// `config/type`, `config/range` or `config/length`.
    pub fn parse(&self, text: &str) -> Result<ConfigValue, ConfigFault> {
        let value = match self.kind {
            FieldType::String => scalar(ItemType::String, text),
            FieldType::Number => scalar(ItemType::Number, text),
            FieldType::Boolean => scalar(ItemType::Boolean, text),
            FieldType::Array => array(self.items, text.trim()),
        };
        let value = value.ok_or_else(|| self.fault(ConfigFaultKind::Type, &self.expected_type()))?;
        self.check(&value).map(|()| value)
    }

    /// Checks a value.
    ///
    /// # Errors
    /// As [`SchemaField::parse`].
    pub fn check(&self, value: &ConfigValue) -> Result<(), ConfigFault> {
        let is_of_type = match (self.kind, value) {
            (FieldType::String, value) => value.is(ItemType::String),
            (FieldType::Number, value) => value.is(ItemType::Number),
            (FieldType::Boolean, value) => value.is(ItemType::Boolean),
            (FieldType::Array, ConfigValue::Array(items)) => items.iter().all(|item| item.is(self.items)),
            (FieldType::Array, _) => false,
        };
        if !is_of_type {
            return Err(self.fault(ConfigFaultKind::Type, &self.expected_type()));
        }
        match value {
            ConfigValue::Number(number) => self.check_range(*number),
            ConfigValue::String(text) => self.check_length(text),
            ConfigValue::Boolean(_) => Ok(()),
            ConfigValue::Array(items) => items.iter().try_for_each(|item| match item {
                ConfigValue::String(text) => self.check_length(text),
                _ => Ok(()),
            }),
        }
    }

    fn check_range(&self, number: f64) -> Result<(), ConfigFault> {
        let is_low = self.minimum.is_some_and(|minimum| number < minimum);
        let is_high = self.maximum.is_some_and(|maximum| number > maximum);
        if !number.is_finite() {
            return Err(self.fault(ConfigFaultKind::Type, "a finite number"));
        }
        if !is_low && !is_high {
            return Ok(());
        }
        let expected = match (self.minimum, self.maximum) {
            (Some(minimum), Some(maximum)) => format!("a number from {minimum} to {maximum}"),
            (Some(minimum), None) => format!("a number of at least {minimum}"),
            (_, maximum) => format!("a number of at most {}", maximum.unwrap_or(f64::MAX)),
        };
        Err(self.fault(ConfigFaultKind::Range, &expected))
    }

    fn check_length(&self, text: &str) -> Result<(), ConfigFault> {
        match self.max_length {
            Some(most) if text.chars().count() > most => {
                Err(self.fault(ConfigFaultKind::Length, &format!("at most {most} characters")))
            }
            _ => Ok(()),
        }
    }

    fn expected_type(&self) -> String {
        match self.kind {
            FieldType::String => "a text".to_owned(),
            FieldType::Number => "a number".to_owned(),
            FieldType::Boolean => "`yes` or `no`".to_owned(),
            FieldType::Array => format!("a list `a,b` of type `{}`", self.items.as_str()),
        }
    }

    fn fault(&self, kind: ConfigFaultKind, expected: &str) -> ConfigFault {
        ConfigFault {
            kind,
            key: self.key.clone(),
            message: format!("expected {expected}"),
            did_you_mean: None,
        }
    }
}

fn scalar(kind: ItemType, text: &str) -> Option<ConfigValue> {
    match kind {
        ItemType::String => Some(ConfigValue::String(text.to_owned())),
        ItemType::Number => {
            let text = text.trim();
            // Rust also reads `inf` and `nan`, which are not numbers for a plugin.
            let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
            text.parse().ok().filter(|number: &f64| is_decimal && number.is_finite()).map(ConfigValue::Number)
        }
        ItemType::Boolean => match text.trim().to_ascii_lowercase().as_str() {
            "yes" | "true" | "y" | "1" | "on" => Some(ConfigValue::Boolean(true)),
            "no" | "false" | "n" | "0" | "off" => Some(ConfigValue::Boolean(false)),
            _ => None,
        },
    }
}

/// Reads `a,b`, `[a,b]` or a JSON array of scalars.
fn array(items: ItemType, text: &str) -> Option<ConfigValue> {
    let inner = match (text.strip_prefix('['), text.ends_with(']')) {
        (Some(rest), true) => rest.strip_suffix(']')?.trim(),
        (None, false) => text,
        _ => return None,
    };
    // Only a quote at the start shows that the list is JSON. Without quotes, both forms have the same items.
    if inner.starts_with('"') {
        let (literal, faults) = LiteralReader::new(text).document();
        let Some(ConfigValue::Array(values)) =
            ConfigValue::of_literal(&literal).filter(|_| faults.is_empty())
        else {
            return None;
        };
        let items = values.iter().map(|value| scalar(items, value.to_string().trim()));
        return items.collect::<Option<Vec<_>>>().map(ConfigValue::Array);
    }
    let parts = inner.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| scalar(items, part)).collect::<Option<Vec<_>>>().map(ConfigValue::Array)
}
