//! The first message of a host.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::command::message::LogLevel;

/// The workspace of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "version 1 of the protocol has these fields")]
pub struct Workspace {
    /// The root directory.
    pub root: String,
    /// The directory of the host's files in it.
    pub storage: String,
    /// The id of the workspace.
    pub id: String,
}

/// The content of the message `init`.
///
/// # Guarantees
/// The configuration in the message contains the options of this plugin and nothing else.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "every host must decide about each field")]
pub struct Init {
    /// The id of the plugin, without dots.
    pub plugin: String,
    /// The workspace.
    pub workspace: Workspace,
    /// The directory for data of the user.
    pub user_data: Option<String>,
    /// The options of the plugin in the settings, which nobody but the plugin interprets.
    pub options: Map<String, Value>,
    /// The arguments after the name of the plugin.
    pub args: Vec<String>,
    /// How much the plugin should log.
    pub log_level: LogLevel,
}

impl Init {
    /// Returns the message as a line.
    pub(crate) fn line(&self) -> String {
        let mut paths = Map::new();
        if let Some(directory) = &self.user_data {
            paths.insert("user_data".to_owned(), directory.clone().into());
        }
        let mut message = json!({
            "type": "init", "version": 1, "workspace": self.workspace, "paths": paths, "config": self.config(),
            "args": self.args, "log_level": self.log_level.number(),
        });
        if let (Some(fields), false) = (message.as_object_mut(), self.options.is_empty()) {
            fields.insert("options".to_owned(), self.options.clone().into());
        }
        message.to_string()
    }

    /// Returns the configuration that the plugin may read.
    fn config(&self) -> Value {
        json!({ "plugins": { "command": { self.plugin.clone(): self.own() } } })
    }

    fn own(&self) -> Map<String, Value> {
        let mut own = Map::new();
        if !self.options.is_empty() {
            own.insert("options".to_owned(), self.options.clone().into());
        }
        own
    }

    /// Returns the configuration at a path of keys with dots between them, or the text of an error.
    pub(crate) fn read(&self, path: Option<&str>) -> Result<Value, &'static str> {
        let Some(path) = path else { return Ok(self.config()) };
        let mut keys = path.split('.');
        let granted = ["plugins", "command", &self.plugin].iter().all(|key| keys.next() == Some(key));
        if !granted {
            return Err("config path not granted");
        }
        let own = Value::Object(self.own());
        keys.try_fold(&own, |value, key| value.get(key)).cloned().ok_or("config path not found")
    }
}
