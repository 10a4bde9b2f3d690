//! The parts of a settings file that can run something, in a form that all hosts share.

use std::collections::{BTreeMap, BTreeSet};

use plugward_manifest::json::{self, JsonMember, JsonNode, JsonValue, ParseLimits};
use plugward_types::{Severity, Span};

use crate::collector::shown;
use crate::judge::NamedSetting;
use crate::mask::{hashed, is_opaque, is_replaceable, is_secret_header, is_secret_name, masked};
use crate::{FindingScope, InstallKind, InstallPart, SettingsParts};

/// A JSON value without positions, with sorted keys.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// `null`, a boolean or a number, as written.
    Plain(String),
    Text(String),
    List(Vec<Value>),
    Map(BTreeMap<String, Value>),
}

/// The parts of one file, without any replacement.
#[derive(Debug, Default, Clone)]
pub(crate) struct Parts {
    hooks: BTreeMap<String, Value>,
    servers: BTreeMap<String, Value>,
    commands: BTreeMap<String, Value>,
    env: BTreeMap<String, Value>,
    switches: BTreeMap<String, Value>,
    /// Settings that loosen the host, in files that a repository can contain.
    permissions: BTreeMap<String, Value>,
    /// Other settings that run something.
    settings: BTreeMap<String, Value>,
    /// The names of settings that loosen the host, in the other files.
    pub(crate) loosens: BTreeSet<String>,
    pub(crate) findings: BTreeSet<FoundSetting>,
}

/// A finding whose place is still an offset.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FoundSetting {
    pub(crate) span: Span,
    pub(crate) code: &'static str,
    pub(crate) severity: Severity,
    pub(crate) scope: FindingScope,
    pub(crate) name: String,
    pub(crate) message: String,
}

/// How the values of variables and secrets are rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rendering {
    /// As hashes. The value of a secret, which a user replaces now and then, is left out.
    Current,
    /// As hashes, without the parts that version 3 of the pins does not know.
    Version3,
    /// As written.
    Unmasked,
}

impl FoundSetting {
    /// Creates a note.
    pub(crate) fn note(code: &'static str, setting: NamedSetting<'_>, message: String) -> Self {
        let NamedSetting { name, span } = setting;
        let (severity, scope) = (Severity::Info, FindingScope::Contents);
        Self { span, code, severity, scope, name: shown(name), message }
    }
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

    /// Returns the value as canonical JSON, without the text of values that look like secrets unless it is unmasked.
    fn text(&self, rendering: Rendering) -> String {
        match self {
            Self::Plain(text) => text.clone(),
            Self::Text(text) if rendering == Rendering::Unmasked => quoted(text),
            Self::Text(text) => quoted(&masked(text)),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(|item| item.text(rendering)).collect();
                format!("[{}]", items.join(","))
            }
            Self::Map(members) => object(members, rendering),
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

    /// Adds a hook group of an event, after those that are there already.
    pub(crate) fn add_hook_group(&mut self, event: &str, group: Value) {
        match self.hooks.entry(event.to_owned()).or_insert_with(|| Value::List(Vec::new())) {
            Value::List(groups) => groups.push(group),
            other => *other = Value::List(vec![group]),
        }
    }

    /// Adds one MCP server with the keys of Claude Code.
    pub(crate) fn add_server(&mut self, name: &str, server: Value) {
        self.servers.insert(name.to_owned(), server);
    }

    /// Adds MCP servers.
    pub(crate) fn add_servers(&mut self, members: &[JsonMember<'_>]) {
        self.servers.extend(members.iter().map(|member| (member.key().to_owned(), Value::of(member.node()))));
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
        self.add_command_text(name, &command);
    }

    /// Adds a program with arguments as a command.
    pub(crate) fn add_command_words(&mut self, name: &str, words: &[&str]) {
        let words: Vec<String> = words.iter().copied().map(shell_word).collect();
        self.add_command_text(name, &words.join(" "));
    }

    /// Adds a command as a shell reads it, unless it is empty.
    pub(crate) fn add_command_text(&mut self, name: &str, command: &str) {
        if command.is_empty() {
            return;
        }
        let hook =
            [("command", Value::Text(command.to_owned())), ("type", Value::Text("command".to_owned()))];
        let hook = Value::Map(hook.map(|(key, value)| (key.to_owned(), value)).into());
        let group = Value::Map([("hooks".to_owned(), Value::List(vec![hook]))].into());
        self.commands.insert(name.to_owned(), Value::List(vec![group]));
    }

    /// Adds environment variables.
    pub(crate) fn add_env(&mut self, members: &[JsonMember<'_>]) {
        let members = members.iter().filter(|member| !member.node().is_null());
        self.env.extend(members.map(|member| (member.key().to_owned(), Value::of(member.node()))));
    }

    /// Adds one environment variable.
    pub(crate) fn add_variable(&mut self, name: &str, value: &str) {
        self.env.insert(name.to_owned(), Value::Text(value.to_owned()));
    }

    /// Adds a setting that runs something.
    pub(crate) fn add_setting(&mut self, name: &str, value: Value) {
        self.settings.insert(name.to_owned(), value);
    }

    /// Adds a setting that loosens or redirects the host.
    pub(crate) fn add_permission(&mut self, name: &str, value: Value) {
        self.permissions.insert(name.to_owned(), value);
    }

    /// Adds the rules of a file that allows commands.
    pub(crate) fn add_rules(&mut self, rules: Vec<String>) {
        let rules = rules.into_iter().map(Value::Text).collect();
        self.permissions.insert("rules".to_owned(), Value::List(rules));
    }

    /// Returns the environment variables with their values as the host sets them.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let text = |value: &Value| match value {
            Value::Plain(text) | Value::Text(text) => Some(text.clone()),
            Value::List(_) | Value::Map(_) => None,
        };
        self.env.iter().filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect()
    }

    /// Adds settings that switch off other hooks or servers, unless they are `false` or `null`.
    pub(crate) fn add_switches(&mut self, root: &JsonNode<'_>, names: &[&str]) {
        let members = root.members_or_none().iter();
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
            (&mut self.permissions, other.permissions),
            (&mut self.settings, other.settings),
        ];
        self.loosens.extend(other.loosens);
        self.findings.extend(other.findings);
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
        let others =
            [&self.hooks, &self.commands, &self.env, &self.switches, &self.permissions, &self.settings];
        if !self.servers.is_empty() && others.iter().all(|part| part.is_empty()) {
            InstallKind::Servers
        } else {
            InstallKind::Settings
        }
    }

    /// Returns `true` if nothing in the file can run, loosen the host or ask.
    pub(crate) fn is_empty(&self) -> bool {
        let asks = self.findings.iter().any(|finding| finding.severity > Severity::Info);
        let all = [
            &self.hooks,
            &self.servers,
            &self.commands,
            &self.env,
            &self.switches,
            &self.permissions,
            &self.settings,
        ];
        !asks && all.iter().all(|part| part.is_empty())
    }

    /// Returns the parts that are not empty, in both renderings.
    pub(crate) fn finish(&self) -> SettingsParts {
        SettingsParts {
            current: self.rendered(Rendering::Current),
            version_3: self.rendered(Rendering::Version3),
        }
    }

    /// Returns the parts one after the other, because the file of a repository can be large.
    fn rendered(&self, rendering: Rendering) -> Vec<InstallPart> {
        let is_now = rendering == Rendering::Current;
        let text = |name: &str, rendering| {
            let part = self.part(name, rendering);
            (!part.is_empty()).then(|| object(&part, rendering).into_bytes())
        };
        // A pin of version 3 has neither of these, and nothing is looked up in its parts.
        let names = PARTS.iter().filter(|name| is_now || !matches!(**name, PERMISSIONS | SETTINGS));
        let part = |name: &&'static str| {
            let bytes = text(name, rendering)?;
            let unmasked = if is_now { text(name, Rendering::Unmasked)? } else { Vec::new() };
            Some(InstallPart { name, bytes, unmasked })
        };
        names.filter_map(part).collect()
    }

    /// Returns the contents of a part.
    fn part(&self, name: &str, rendering: Rendering) -> BTreeMap<String, Value> {
        let wrapped = |name: &str, part: BTreeMap<String, Value>| {
            if part.is_empty() { part } else { [(name.to_owned(), Value::Map(part))].into() }
        };
        let server = |(name, value): (&String, &Value)| (name.clone(), server(value.clone(), rendering));
        match name {
            "commands.json" => wrapped("hooks", self.commands.clone()),
            "env.json" => variables(self.env.clone(), rendering),
            "hooks.json" => wrapped("hooks", self.hooks.clone()),
            PERMISSIONS => self.permissions.clone(),
            SETTINGS => self.settings.clone(),
            "servers.json" => wrapped("mcpServers", self.servers.iter().map(server).collect()),
            _ => self.switches.clone(),
        }
    }
}

/// The part with the settings that loosen or redirect the host.
const PERMISSIONS: &str = "permissions.json";

/// The part with other settings that run something. The name is that of a file of Claude Code, of which each key is listed.
const SETTINGS: &str = "settings.json";

/// The names of the parts, sorted.
const PARTS: [&str; 7] =
    ["commands.json", "env.json", "hooks.json", PERMISSIONS, "servers.json", SETTINGS, "switches.json"];

/// What is written in place of the value of a secret.
const SECRET: &str = "secret";

/// Returns an object as canonical JSON.
fn object(members: &BTreeMap<String, Value>, rendering: Rendering) -> String {
    let member = |(key, value): (&String, &Value)| format!("{}:{}", quoted(key), value.text(rendering));
    let members: Vec<String> = members.iter().map(member).collect();
    format!("{{{}}}", members.join(","))
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

pub(crate) fn map(members: &[JsonMember<'_>]) -> BTreeMap<String, Value> {
    members.iter().map(|member| (member.key().to_owned(), Value::of(member.node()))).collect()
}

/// Renders one server with the keys of Claude Code.
fn server(value: Value, rendering: Rendering) -> Value {
    if rendering != Rendering::Version3 {
        return guarded(renamed(value), rendering);
    }
    let mut value = guarded(value, rendering);
    // These headers had another key when secrets were hashed, so some of them were hashed twice.
    if let Value::Map(members) = &mut value
        && let Some(headers) = members.remove("http_headers")
    {
        members.insert("http_headers".to_owned(), headers.hash());
    }
    renamed(value)
}

/// Converts a server to the keys of Claude Code, without what its host stores there.
fn renamed(mut value: Value) -> Value {
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
        members.insert("headers".to_owned(), headers);
    }
    if let (false, Some(url)) = (members.contains_key("url"), members.remove("httpUrl")) {
        members.insert("url".to_owned(), url);
        members.insert("type".to_owned(), Value::Text("http".to_owned()));
    }
    value
}

/// Hashes the secrets of a server and of the objects inside it, such as `oauth`.
fn guarded(value: Value, rendering: Rendering) -> Value {
    if rendering == Rendering::Unmasked {
        return value;
    }
    let Value::Map(members) = value else { return value };
    let members = members.into_iter().map(|(key, value)| {
        let value = match (key.as_str(), value) {
            ("env", Value::Map(members)) => Value::Map(variables(members, rendering)),
            ("headers", Value::Map(members)) => Value::Map(headers(members, rendering)),
            ("env" | "headers", value) => value.hash(),
            ("args", value) => arguments(value),
            // A list or an object can contain a command.
            (name, value @ (Value::Text(_) | Value::Plain(_))) if is_secret_name(name) => {
                secret(value, rendering)
            }
            (_, value) => guarded(value, rendering),
        };
        (key, value)
    });
    Value::Map(members.collect())
}

/// Replaces the values of headers. No value of a header can run.
fn headers(members: BTreeMap<String, Value>, rendering: Rendering) -> BTreeMap<String, Value> {
    let members = members.into_iter().map(|(name, value)| {
        let is_replaced = rendering == Rendering::Current && is_secret_header(&name);
        let value = if is_replaced { Value::Text(SECRET.to_owned()) } else { value.hash() };
        (name, value)
    });
    members.collect()
}

/// Replaces the values of variables.
fn variables(members: BTreeMap<String, Value>, rendering: Rendering) -> BTreeMap<String, Value> {
    if rendering == Rendering::Unmasked {
        return members;
    }
    let members = members.into_iter().map(|(name, value)| {
        let value = if is_secret_name(&name) { secret(value, rendering) } else { value.hash() };
        (name, value)
    });
    members.collect()
}

/// Replaces the value of a secret. A new key is not a change, unless the value can name a program or a file.
fn secret(value: Value, rendering: Rendering) -> Value {
    match &value {
        Value::Text(text) if rendering == Rendering::Current && is_replaceable(text) => {
            Value::Text(SECRET.to_owned())
        }
        _ => value.hash(),
    }
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
pub(crate) fn is_json_number(text: &str) -> bool {
    json::parse(text.as_bytes(), &ParseLimits::standard()).is_ok()
}

/// Returns a JSON string, in which only the required characters are escaped.
pub(crate) fn quoted(text: &str) -> String {
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
