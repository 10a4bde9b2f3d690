//! The configuration of a module.

use plugward_lifecycle::{ConfigValue, GivenValues, Schema, inline};
use plugward_sandbox_path::{Jail, JailError, OpenError, Policy};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::codes;
use crate::modules::shown;

/// The values of a module's settings: the given ones, and the defaults of its schema.
#[derive(Debug, Clone, PartialEq)]
pub struct ModuleConfig(Map<String, Value>);

impl ModuleConfig {
    /// Reads `key=value` arguments by the schema that a module declares.
    ///
    /// # Errors
    /// `host-module/config` with all faults: unknown keys, wrong types, and values outside the limits of the schema.
    pub fn resolve(schema: &Schema, args: &[&str]) -> Result<Self, ConfigError> {
        let values = inline(schema, args.iter().copied())
            .and_then(|given: GivenValues| given.complete(schema, |_, _| None))
            .map_err(|error| {
                let faults = error.faults().map(|fault| {
                    let mut pairs = args.iter().filter_map(|arg| arg.split_once('='));
                    let value = pairs.find(|(key, _)| *key == fault.key).map(|(_, value)| value);
                    let got = value.map(|value| format!(", got `{}`", shown(value))).unwrap_or_default();
                    let meant = fault.did_you_mean.as_ref();
                    let meant = meant.map(|key| format!("; did you mean `{key}`?")).unwrap_or_default();
                    format!("{fault}{got}{meant}")
                });
                ConfigError::Settings { faults: faults.collect() }
            })?;
        Ok(Self(values.iter().map(|(key, entry)| (key.to_owned(), to_json(&entry.value))).collect()))
    }

    /// Returns the values for `createHostFunctions`.
    #[must_use]
    pub const fn values(&self) -> &Map<String, Value> {
        &self.0
    }

    pub(crate) fn number(&self, key: &str) -> f64 {
        // Every number of a native module has a default, so it has a value.
        self.0.get(key).and_then(Value::as_f64).unwrap_or(0.0)
    }

    #[cfg(feature = "fetch")]
    pub(crate) fn flag(&self, key: &str) -> bool {
        self.0.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    #[cfg(feature = "fetch")]
    pub(crate) fn texts(&self, key: &str) -> impl Iterator<Item = &str> {
        let items = self.0.get(key).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_str)
    }

    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.0.get(key).and_then(Value::as_str).map(str::to_owned)
    }
}

fn to_json(value: &ConfigValue) -> Value {
    match value {
        ConfigValue::String(text) => text.clone().into(),
        ConfigValue::Number(number) => (*number).into(),
        ConfigValue::Boolean(value) => (*value).into(),
        ConfigValue::Array(items) => items.iter().map(to_json).collect(),
    }
}

/// Opens the directory of a file module.
///
/// # Errors
/// `host-module/config` without a path; `host-module/base-dir` if it is missing, a symlink, or of another user.
pub(crate) fn open_base(path: Option<&str>, user: u32) -> Result<Jail, ConfigError> {
    let Some(path) = path.filter(|path| !path.is_empty()) else {
        let faults = vec!["`baseDir`: expected the path of a directory".to_owned()];
        return Err(ConfigError::Settings { faults });
    };
    let directory = || shown(path);
    let jail = Jail::open(path, Policy::agent())
        .map_err(|source| ConfigError::BaseDir { directory: directory(), source })?;
    let meta =
        jail.metadata(".").map_err(|source| ConfigError::Unreadable { directory: directory(), source })?;
    if meta.uid() == user { Ok(jail) } else { Err(ConfigError::Unowned { directory: directory() }) }
}

/// A configuration that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Settings with a wrong key or value. Each fault names the key, the expected type, and the value.
    #[error("{}", .faults.join("; "))]
    Settings {
        /// The faults.
        faults: Vec<String>,
    },
    /// The directory cannot be opened.
    #[error("`baseDir` cannot be opened: {directory}")]
    BaseDir {
        /// The directory.
        directory: String,
        /// The cause.
        source: JailError,
    },
    /// The metadata of the directory cannot be read.
    #[error("the owner of `baseDir` cannot be read: {directory}")]
    Unreadable {
        /// The directory.
        directory: String,
        /// The cause.
        source: OpenError,
    },
    /// The directory belongs to another user.
    #[error("`baseDir` belongs to another user: {directory}")]
    Unowned {
        /// The directory.
        directory: String,
    },
}

impl ConfigError {
    /// Returns the stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Settings { .. } => "host-module/config",
            Self::BaseDir { .. } | Self::Unreadable { .. } | Self::Unowned { .. } => "host-module/base-dir",
        }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn help(&self) -> &'static str {
        codes::help(self.code())
    }
}
