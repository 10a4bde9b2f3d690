//! The JSON line that answers a command.

use std::collections::BTreeMap;

use plugward_loader::codes::reasons;
use plugward_loader::lifecycle::{ConfigError, ConfigValue, ConfigValues, DirtyFlags};
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;

/// The answer to one command. Fields that do not apply are absent.
#[derive(Debug, Default, Serialize)]
pub(super) struct CommandAnswer {
    version: u32,
    pub(super) line: u64,
    pub(super) command: String,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) plugin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) approved: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) flags: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    did_you_mean: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dirty: Option<DirtyAnswer>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) layers: Vec<Layer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<BTreeMap<String, ValueAnswer>>,
    /// The number of settings that keep their default without a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) advanced: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) audit: Option<AuditAnswer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) info: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) plugins: Option<Vec<PluginAnswer>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) admitted: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rejected: Option<Vec<String>>,
}

#[derive(Debug, Serialize)]
struct DirtyAnswer {
    sandbox: bool,
    session: bool,
}

#[derive(Debug, Serialize)]
struct ValueAnswer {
    value: Value,
    origin: &'static str,
}

/// A row of `list`.
#[derive(Debug, Serialize)]
pub(super) struct PluginAnswer {
    pub(super) id: String,
    pub(super) version: Option<String>,
    pub(super) state: &'static str,
    pub(super) risk: &'static str,
    pub(super) approved: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) flags: Vec<&'static str>,
    /// Why the plugin was disabled without a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
}

/// The audit that `enable` and `approve` name.
#[derive(Debug, Serialize)]
pub(super) struct AuditAnswer {
    pub(super) kind: &'static str,
    pub(super) risk: &'static str,
    pub(super) verdict: &'static str,
    pub(super) findings: Vec<Value>,
    pub(super) digest: String,
}

/// The outcome of one layer of `enable`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LayerOutcome {
    Passed,
    Stopped,
    Skipped,
}

#[derive(Debug, Serialize)]
pub(super) struct Layer {
    #[serde(rename = "layer")]
    pub(super) number: usize,
    pub(super) name: &'static str,
    pub(super) outcome: LayerOutcome,
    pub(super) message: String,
}

/// The reason why a command had no effect.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub(super) code: String,
    pub(super) message: String,
    pub(super) did_you_mean: Option<String>,
}

impl Fault {
    pub(super) fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), did_you_mean: None }
    }

    /// Creates the fault of a name that does not exist.
    pub(super) fn unknown<'a>(
        code: &str,
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> Self {
        let near = plugward_loader::nearest(name, known).map(str::to_owned);
        Self { did_you_mean: near, ..Self::new(code, format!("no such {what}: `{name}`")) }
    }
}

impl From<&ConfigError> for Fault {
    fn from(error: &ConfigError) -> Self {
        let messages: Vec<String> =
            error.faults().map(|fault| format!("{} ({})", fault, fault.kind.code())).collect();
        let near = error.faults().find_map(|fault| fault.did_you_mean.clone());
        Self { did_you_mean: near, ..Self::new(error.code(), messages.join("; ")) }
    }
}

impl CommandAnswer {
    pub(super) fn new(line: u64, command: &str) -> Self {
        Self { version: 1, line, command: command.to_owned(), ok: true, ..Self::default() }
    }

    pub(super) fn fail(&mut self, fault: Fault) {
        self.did_you_mean = fault.did_you_mean;
        self.stop_with(Some(&fault.code), fault.message);
    }

    /// Sets the failure that ends the session.
    pub(super) fn abort(&mut self, failure: &Failure) {
        self.stop_with(failure.stable_code(), failure.to_string());
        self.help = failure.help_text().or(self.help.take());
    }

    fn stop_with(&mut self, code: Option<&str>, message: String) {
        self.ok = false;
        self.help = code.and_then(help);
        self.code = code.map(str::to_owned);
        self.message = Some(message);
    }

    pub(super) fn set_dirty(&mut self, flags: DirtyFlags) {
        self.dirty = Some(DirtyAnswer { sandbox: flags.sandbox, session: flags.session });
    }

    /// Adds the configuration. Secrets are shown as their masks.
    pub(super) fn set_config(&mut self, values: &ConfigValues) {
        let shown = values.iter().map(|(key, entry)| {
            let value =
                entry.mask.as_ref().map_or_else(|| json(&entry.value), |mask| Value::from(mask.as_str()));
            (key.to_owned(), ValueAnswer { value, origin: entry.origin.as_str() })
        });
        self.config = Some(shown.collect());
    }
}

/// Returns the help of a code, unless it has none.
fn help(code: &str) -> Option<String> {
    let (_, help) = reasons().into_iter().find(|(own, _)| *own == code)?;
    Some(help.to_owned()).filter(|help| !help.is_empty())
}

fn json(value: &ConfigValue) -> Value {
    match value {
        ConfigValue::String(text) => Value::from(text.as_str()),
        ConfigValue::Boolean(value) => Value::from(*value),
        ConfigValue::Array(items) => items.iter().map(json).collect(),
        // JSON has one kind of number. A whole one is written without a fraction, as the user typed it.
        ConfigValue::Number(number) => {
            number.to_string().parse::<i64>().map_or_else(|_float| Value::from(*number), Value::from)
        }
    }
}
