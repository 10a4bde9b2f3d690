//! The parts of a settings file that can run something, in a form that all hosts share.

use std::collections::BTreeMap;

use plugward_manifest::json::{JsonMember, JsonNode, JsonValue};

use crate::mask::{hashed, is_secret_name, masked};
use crate::{InstallKind, InstallPart};

/// A JSON value without positions, with sorted keys.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// `null`, a boolean or a number, as written.
    Plain(String),
    Text(String),
    List(Vec<Value>),
    Map(BTreeMap<String, Value>),
}

/// The parts of one file.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    hooks: BTreeMap<String, Value>,
    servers: BTreeMap<String, Value>,
    commands: BTreeMap<String, Value>,
    env: BTreeMap<String, Value>,
}

impl Value {
    pub(crate) fn of(node: &JsonNode<'_>) -> Self {
        match node.value() {
            JsonValue::Null => Self::Plain("null".to_owned()),
            JsonValue::Bool(value) => Self::Plain(value.to_string()),
            JsonValue::Number(number) if is_json_number(number.text()) => {
                Self::Plain(number.text().to_owned())
            }
            // A date or another number of TOML is not a JSON number.
            JsonValue::Number(number) => Self::Text(number.text().to_owned()),
            JsonValue::String(text) => Self::Text(text.clone().into_owned()),
            JsonValue::Array(items) => Self::List(items.iter().map(Self::of).collect()),
            JsonValue::Object(members) => Self::Map(map(members)),
        }
    }

    /// Appends the value as canonical JSON, without the text of values that look like secrets.
    fn write(&self, out: &mut String) {
        match self {
            Self::Plain(text) => out.push_str(text),
            Self::Text(text) => write_text(&masked(text), out),
            Self::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    item.write(out);
                }
                out.push(']');
            }
            Self::Map(members) => {
                out.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    write_text(key, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    /// Replaces all texts and numbers by their hashes.
    fn hash(self) -> Self {
        match self {
            Self::Plain(text) | Self::Text(text) => Self::Text(hashed(&text)),
            Self::List(items) => Self::List(items.into_iter().map(Self::hash).collect()),
            Self::Map(members) => {
                Self::Map(members.into_iter().map(|(key, value)| (key, value.hash())).collect())
            }
        }
    }
}

impl Parts {
    /// Adds hooks in the structure of Claude Code: `{EVENT: [{"matcher", "hooks": [{"type", "command"}]}]}`.
    pub(crate) fn add_hooks(&mut self, members: &[JsonMember<'_>], skip: &[&str]) {
        let members = members.iter().filter(|member| !skip.contains(&member.key()));
        self.hooks.extend(members.map(|member| (member.key().to_owned(), Value::of(member.node()))));
    }

    /// Adds hooks of a host whose events list the commands directly, without matchers around them.
    pub(crate) fn add_flat_hooks(&mut self, members: &[JsonMember<'_>]) {
        for member in members {
            let items = member.node().items().unwrap_or_default().iter();
            let groups = items.map(|item| {
                let mut hook = map(item.members().unwrap_or_default());
                let matcher = hook.remove("matcher");
                if let (false, Some(shell)) = (hook.contains_key("command"), hook.remove("bash")) {
                    hook.insert("command".to_owned(), shell);
                }
                hook.entry("type".to_owned()).or_insert_with(|| Value::Text("command".to_owned()));
                let hooks = ("hooks".to_owned(), Value::List(vec![Value::Map(hook)]));
                Value::Map(
                    matcher.map(|text| ("matcher".to_owned(), text)).into_iter().chain([hooks]).collect(),
                )
            });
            self.hooks.insert(member.key().to_owned(), Value::List(groups.collect()));
        }
    }

    /// Adds MCP servers. The values of their environment and headers are hashed.
    pub(crate) fn add_servers(&mut self, members: &[JsonMember<'_>]) {
        self.servers.extend(members.iter().map(|member| (member.key().to_owned(), server(member.node()))));
    }

    /// Adds a command: a text, a list of arguments, or an object that contains the text as `command`.
    pub(crate) fn add_command(&mut self, name: &str, node: &JsonNode<'_>) {
        let node = node.get("command").unwrap_or(node);
        if node.as_str().is_some_and(|text| !text.is_empty())
            || node.items().is_some_and(|items| !items.is_empty())
        {
            self.commands.insert(name.to_owned(), Value::of(node));
        }
    }

    /// Adds environment variables, whose values are hashed.
    pub(crate) fn add_env(&mut self, members: &[JsonMember<'_>]) {
        let members = members.iter().filter(|member| !member.node().is_null());
        self.env.extend(members.map(|member| (member.key().to_owned(), Value::of(member.node()).hash())));
    }

    /// Returns `Servers` if the file only configures MCP servers.
    pub(crate) fn kind(&self) -> InstallKind {
        let others = [&self.hooks, &self.commands, &self.env];
        if others.iter().all(|part| part.is_empty()) { InstallKind::Servers } else { InstallKind::Settings }
    }

    /// Returns the parts that are not empty.
    pub(crate) fn finish(self) -> Vec<InstallPart> {
        let wrapped = |name: &str, part: BTreeMap<String, Value>| {
            if part.is_empty() { part } else { [(name.to_owned(), Value::Map(part))].into() }
        };
        let parts = [
            ("commands.json", self.commands),
            ("env.json", self.env),
            ("hooks.json", wrapped("hooks", self.hooks)),
            ("servers.json", wrapped("mcpServers", self.servers)),
        ];
        let parts = parts.into_iter().filter(|(_, part)| !part.is_empty()).map(|(name, part)| {
            let mut text = String::new();
            Value::Map(part).write(&mut text);
            InstallPart { name, bytes: text.into_bytes() }
        });
        parts.collect()
    }
}

fn map(members: &[JsonMember<'_>]) -> BTreeMap<String, Value> {
    members.iter().map(|member| (member.key().to_owned(), Value::of(member.node()))).collect()
}

/// Converts one server to the keys of Claude Code.
fn server(node: &JsonNode<'_>) -> Value {
    let Value::Map(members) = Value::of(node) else { return Value::of(node) };
    let has_url = members.contains_key("url");
    let mut out = BTreeMap::new();
    for (key, value) in members {
        let (key, value) = match key.as_str() {
            "env" | "headers" => (key, value.hash()),
            "http_headers" => ("headers".to_owned(), value.hash()),
            "httpUrl" if !has_url => {
                out.insert("type".to_owned(), Value::Text("http".to_owned()));
                ("url".to_owned(), value)
            }
            "args" => (key, arguments(value)),
            name if is_secret_name(name) => (key, value.hash()),
            _ => (key, nested(value)),
        };
        out.insert(key, value);
    }
    Value::Map(out)
}

/// Hashes an argument that follows an option such as `--token`.
fn arguments(value: Value) -> Value {
    let Value::List(items) = value else { return value };
    let mut after = false;
    let items = items.into_iter().map(|item| {
        let hide = core::mem::take(&mut after);
        match &item {
            Value::Text(text) if hide && !text.starts_with(['-', '$']) => item.hash(),
            Value::Text(text) => {
                after = text.starts_with('-') && is_secret_name(text);
                item
            }
            _ => item,
        }
    });
    Value::List(items.collect())
}

/// Hashes the secrets of an object inside a server, such as `oauth`.
fn nested(value: Value) -> Value {
    match value {
        Value::Map(members) => {
            let members = members.into_iter().map(|(key, value)| {
                let secret = is_secret_name(&key);
                (key, if secret { value.hash() } else { nested(value) })
            });
            Value::Map(members.collect())
        }
        other => other,
    }
}

/// Returns `true` if a number of TOML is also one of JSON.
fn is_json_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'))
        && digits.starts_with(|first: char| first.is_ascii_digit())
        && digits.matches('-').count() <= usize::from(digits.contains(['e', 'E']))
        && !(digits.len() > 1
            && digits.starts_with('0')
            && !digits.starts_with("0.")
            && !digits.starts_with("0e"))
}

/// Writes a JSON string, in which only the required characters are escaped.
fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out.push('"');
}
