//! Values that a user gave, before the defaults.

use std::collections::BTreeMap;

use super::{ConfigEntry, ConfigError, ConfigFault, ConfigFaultKind, ConfigValues, ValueSource, faults};
use crate::faults::Faults;
use crate::schema::Schema;
use crate::value::ConfigValue;

/// Values from a command, from answers, or from the plugin that has this one as a companion.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GivenValues {
    values: BTreeMap<String, (ConfigValue, ValueSource)>,
}

impl GivenValues {
    /// Returns the value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&ConfigValue> {
        self.values.get(key).map(|(value, _)| value)
    }

    /// Returns `true` if no value was given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub(crate) fn set(&mut self, key: &str, value: ConfigValue, origin: ValueSource) {
        self.values.insert(key.to_owned(), (value, origin));
    }

    /// Adds the values of a running configuration, so that a change of one setting keeps the others.
    #[must_use]
    pub fn over(mut self, current: &ConfigValues) -> Self {
        for (key, entry) in current.iter() {
            self.values.entry(key.to_owned()).or_insert_with(|| (entry.value.clone(), entry.origin));
        }
        self
    }

    /// Adds the values of a plugin that has this one as a companion: those of keys that both schemas have with one type,
    /// unless they are secret or given here.
    #[must_use]
    pub fn shared_by(mut self, parent: &Schema, values: &ConfigValues, own: &Schema) -> Self {
        for field in own.fields() {
            let is_alike = parent
                .get(&field.key)
                .is_some_and(|other| (other.kind, other.items) == (field.kind, field.items));
            if let Some(entry) = values.get(&field.key).filter(|entry| is_alike && entry.mask.is_none())
                && self.get(&field.key).is_none()
            {
                self.set(&field.key, entry.value.clone(), ValueSource::Shared);
            }
        }
        self
    }

    /// Adds the defaults, checks all values, and masks secrets.
    ///
    /// `mask` returns the text to show in place of a secret, and gets the key and the value as text.
    ///
    /// # Errors
    /// `config/required` for each required field without a value, and the codes of [`SchemaField::check`] for values
    /// that are shared or were checked against another schema.
    ///
    /// [`SchemaField::check`]: crate::SchemaField::check
    pub fn complete(
        mut self,
        schema: &Schema,
        mask: impl Fn(&str, &str) -> Option<String>,
    ) -> Result<ConfigValues, ConfigError> {
        for field in schema.fields() {
            if let Some(default) = &field.default {
                let default = || (default.clone(), ValueSource::Default);
                self.values.entry(field.key.clone()).or_insert_with(default);
            }
        }
        let values = self.values.iter().map(|(key, (value, _))| (key.as_str(), value)).collect();
        Faults::check(faults(schema, &values))?;
        let entries = self.values.into_iter().map(|(key, (value, origin))| {
            let mask = mask(&key, &value.to_string());
            (key, ConfigEntry { value, origin, mask })
        });
        Ok(ConfigValues { entries: entries.collect() })
    }
}

/// Reads the `key=value` arguments of a command.
///
/// # Errors
/// `config/unknown-key`, `config/type`, `config/range`, `config/length`, `config/duplicate`, and `config/required` for an
/// empty value of a required field. All faults are returned together, and no value is.
///
/// # Examples
/// ```
/// use plugward_lifecycle::{Schema, inline};
///
/// let schema = Schema::from_manifest(r#"{"maxLength": {"type": "number", "minimum": 1}}"#, &[])?;
/// assert!(inline(&schema, ["maxLength=9"]).is_ok());
/// let error = inline(&schema, ["maxLenght=1", "maxLength=0"]).unwrap_err();
/// let found: Vec<_> = error.faults().map(|fault| (fault.kind.code(), fault.did_you_mean.as_deref())).collect();
/// assert_eq!(found, [("config/unknown-key", Some("maxLength")), ("config/range", None)]);
/// # Ok::<(), plugward_lifecycle::SchemaError>(())
/// ```
pub fn inline<'a>(
    schema: &Schema,
    args: impl IntoIterator<Item = &'a str>,
) -> Result<GivenValues, ConfigError> {
    let mut given = GivenValues::default();
    let mut faults = Vec::new();
    for arg in args {
        let (key, text) = arg.split_once('=').map_or((arg, None), |(key, text)| (key, Some(text)));
        let fault = |kind, message: &str| ConfigFault {
            kind,
            key: key.to_owned(),
            message: message.to_owned(),
            did_you_mean: None,
        };
        match (schema.get(key), text) {
            (None, _) => faults.push(ConfigFault::unknown(schema, key)),
            (Some(_), None) => faults.push(fault(ConfigFaultKind::Type, "expected `=` and a value")),
            (Some(_), _) if given.get(key).is_some() => {
                faults.push(fault(ConfigFaultKind::Duplicate, "expected one value, got a second one"));
            }
            (Some(field), Some(text)) => match field.parse(text) {
                Ok(value) if value.is_empty() && field.is_required => faults.push(ConfigFault::required(key)),
                Ok(value) => given.set(key, value, ValueSource::Inline),
                Err(fault) => faults.push(fault),
            },
        }
    }
    Faults::check(faults).map(|()| given)
}
