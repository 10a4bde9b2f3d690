//! The parts of a settings file that can run something, in a form that all hosts share.

use std::collections::BTreeMap;

use plugward_manifest::json::{self, JsonMember, JsonNode, JsonValue, ParseLimits};

use crate::mask::{hashed, is_opaque, is_secret_name, masked};
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
#[derive(Debug, Default, Clone)]
pub(crate) struct Parts {
    hooks: BTreeMap<String, Value>,
    servers: BTreeMap<String, Value>,
    commands: BTreeMap<String, Value>,
    env: BTreeMap<String, Value>,
    switches: BTreeMap<String, Value>,
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

    /// Returns the value as canonical JSON, without the text of values that look like secrets.
    fn text(&self) -> String {
        let joined = |items: Vec<String>| items.join(",");
        match self {
            Self::Plain(text) => text.clone(),
            Self::Text(text) => quoted(&masked(text)),
            Self::List(items) => format!("[{}]", joined(items.iter().map(Self::text).collect())),
            Self::Map(members) => {
                let members = members.iter().map(|(key, value)| format!("{}:{}", quoted(key), value.text()));
                format!("{{{}}}", joined(members.collect()))
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
    ///
    /// It is stored in the structure of hooks, with its name as the event, so that it is judged like the command of a hook.
    pub(crate) fn add_command(&mut self, name: &str, node: &JsonNode<'_>) {
        let arguments = node.get("args").and_then(JsonNode::items);
        let node = node.get("command").unwrap_or(node);
        let words = |items: &[JsonNode<'_>]| -> Vec<String> {
            items.iter().filter_map(JsonNode::as_str).map(shell_word).collect()
        };
        let command = match (node.as_str(), node.items(), arguments) {
            // With arguments, the text is the name of a program.
            (Some(text), _, Some(items)) => [vec![shell_word(text)], words(items)].concat().join(" "),
            (Some(text), _, None) => text.to_owned(),
            (None, Some(items), _) => words(items).join(" "),
            (None, None, _) => String::new(),
        };
        if command.is_empty() {
            return;
        }
        let hook = [("command", Value::Text(command)), ("type", Value::Text("command".to_owned()))];
        let hook = Value::Map(hook.map(|(key, value)| (key.to_owned(), value)).into());
        let group = Value::Map([("hooks".to_owned(), Value::List(vec![hook]))].into());
        self.commands.insert(name.to_owned(), Value::List(vec![group]));
    }

    /// Adds environment variables, whose values are hashed.
    pub(crate) fn add_env(&mut self, members: &[JsonMember<'_>]) {
        let members = members.iter().filter(|member| !member.node().is_null());
        self.env.extend(members.map(|member| (member.key().to_owned(), Value::of(member.node()).hash())));
    }

    /// Adds settings that switch off other hooks or servers, unless they are `false` or `null`.
    pub(crate) fn add_switches(&mut self, root: &JsonNode<'_>, names: &[&str]) {
        let members = root.members().unwrap_or_default().iter();
        let set = members.filter(|member| names.contains(&member.key()));
        let set =
            set.filter(|member| !matches!(member.node().value(), JsonValue::Null | JsonValue::Bool(false)));
        self.switches.extend(set.map(|member| (member.key().to_owned(), Value::of(member.node()))));
    }

    /// Adds the parts of a file that was also read in another role, or returns the name that has two values.
    pub(crate) fn merge(&mut self, other: Self) -> Result<(), String> {
        let pairs = [
            (&mut self.hooks, other.hooks),
            (&mut self.servers, other.servers),
            (&mut self.commands, other.commands),
            (&mut self.env, other.env),
            (&mut self.switches, other.switches),
        ];
        for (part, other) in pairs {
            for (name, value) in other {
                if part.get(&name).is_some_and(|known| *known != value) {
                    return Err(name);
                }
                part.insert(name, value);
            }
        }
        Ok(())
    }

    /// Returns `Servers` if the file only configures MCP servers.
    pub(crate) fn kind(&self) -> InstallKind {
        let others = [&self.hooks, &self.commands, &self.env, &self.switches];
        if others.iter().all(|part| part.is_empty()) { InstallKind::Servers } else { InstallKind::Settings }
    }

    pub(crate) fn is_empty(&self) -> bool {
        let all = [&self.hooks, &self.servers, &self.commands, &self.env, &self.switches];
        all.iter().all(|part| part.is_empty())
    }

    /// Returns the parts that are not empty.
    pub(crate) fn finish(self) -> Vec<InstallPart> {
        let wrapped = |name: &str, part: BTreeMap<String, Value>| {
            if part.is_empty() { part } else { [(name.to_owned(), Value::Map(part))].into() }
        };
        let parts = [
            ("commands.json", wrapped("hooks", self.commands)),
            ("env.json", self.env),
            ("hooks.json", wrapped("hooks", self.hooks)),
            ("servers.json", wrapped("mcpServers", self.servers)),
            ("switches.json", self.switches),
        ];
        let parts = parts.into_iter().filter(|(_, part)| !part.is_empty()).map(|(name, part)| {
            let text = Value::Map(part).text();
            InstallPart { name, bytes: text.into_bytes() }
        });
        parts.collect()
    }
}

/// Quotes an argument for a POSIX shell if necessary.
fn shell_word(word: &str) -> String {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '=' | ':' | '@' | '~');
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn map(members: &[JsonMember<'_>]) -> BTreeMap<String, Value> {
    members.iter().map(|member| (member.key().to_owned(), Value::of(member.node()))).collect()
}

/// Converts one server to the keys of Claude Code.
fn server(node: &JsonNode<'_>) -> Value {
    let mut value = guarded(Value::of(node));
    let Value::Map(members) = &mut value else { return value };
    // Codex stores there what the user has allowed.
    if let Some(Value::Map(tools)) = members.get_mut("tools") {
        tools.retain(|_, tool| {
            let Value::Map(tool) = tool else { return true };
            tool.remove("approval_mode").is_none() || !tool.is_empty()
        });
        if tools.is_empty() {
            members.remove("tools");
        }
    }
    if let Some(headers) = members.remove("http_headers") {
        members.insert("headers".to_owned(), headers.hash());
    }
    if let (false, Some(url)) = (members.contains_key("url"), members.remove("httpUrl")) {
        members.insert("url".to_owned(), url);
        members.insert("type".to_owned(), Value::Text("http".to_owned()));
    }
    value
}

/// Hashes the secrets of a server and of the objects inside it, such as `oauth`.
fn guarded(value: Value) -> Value {
    let Value::Map(members) = value else { return value };
    let members = members.into_iter().map(|(key, value)| {
        let value = match key.as_str() {
            "env" | "headers" => value.hash(),
            "args" => arguments(value),
            // A list or an object can contain a command.
            name if is_secret_name(name) && matches!(value, Value::Text(_) | Value::Plain(_)) => value.hash(),
            _ => guarded(value),
        };
        (key, value)
    });
    Value::Map(members.collect())
}

/// Hashes an argument that follows an option such as `--token`.
fn arguments(value: Value) -> Value {
    let Value::List(items) = value else { return value };
    let mut after = false;
    let items = items.into_iter().map(|item| {
        let hide = core::mem::take(&mut after);
        match &item {
            Value::Text(text) if hide && !text.starts_with('-') && is_opaque(text) => item.hash(),
            Value::Text(text) => {
                after = text.starts_with('-') && is_secret_name(text);
                item
            }
            _ => item,
        }
    });
    Value::List(items.collect())
}

/// Returns `true` if a number of TOML is also one of JSON.
fn is_json_number(text: &str) -> bool {
    json::parse(text.as_bytes(), &ParseLimits::standard()).is_ok()
}

/// Returns a JSON string, in which only the required characters are escaped.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\0'..='\u{1f}' => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out.push('"');
    out
}
