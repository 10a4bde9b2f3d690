//! Servers and hooks in the structures of other hosts, as those of Claude Code.

use std::collections::BTreeMap;

use plugward_manifest::json::{JsonMember, JsonNode};

use crate::parts::{Parts, Value, map};
use crate::{HookShape, ServerShape};

/// The keys with the address of a server. Hosts use one of them, and another host could use another.
const ADDRESSES: [&str; 4] = ["url", "serverUrl", "httpUrl", "uri"];

/// Servers of goose that are part of the program.
const OWN_TYPES: [&str; 3] = ["builtin", "frontend", "platform"];

/// Adds an MCP server of any host.
pub(crate) fn add_server(parts: &mut Parts, name: &str, node: &JsonNode<'_>, shape: ServerShape) {
    let mut server = match Value::of(node) {
        Value::Map(server) => server,
        // Reported by the manifest gate as an invalid server.
        other => return parts.add_server(name, other),
    };
    let mut rename = |from: &str, to: &str| {
        if let (false, Some(value)) = (server.contains_key(to), server.remove(from)) {
            server.insert(to.to_owned(), value);
        }
    };
    match shape {
        ServerShape::Plain => {}
        ServerShape::Opencode => rename("environment", "env"),
        ServerShape::Goose => {
            rename("cmd", "command");
            rename("envs", "env");
        }
    }
    let kind = match server.get("type") {
        Some(Value::Text(kind)) if shape == ServerShape::Goose => kind.clone(),
        _ => String::new(),
    };
    if OWN_TYPES.contains(&kind.as_str()) {
        return;
    }
    if kind == "inline_python"
        && let Some(code) = server.remove("code")
    {
        server.insert("command".to_owned(), Value::Text("python3".to_owned()));
        server.insert("args".to_owned(), Value::List(vec![Value::Text("-c".to_owned()), code]));
    }
    // Each address is a server of its own, because it is not known which of them a host uses.
    let addresses: Vec<(&str, Value)> =
        ADDRESSES.into_iter().filter_map(|key| Some((key, server.remove(key)?))).collect();
    for (at, (key, address)) in addresses.iter().enumerate() {
        let mut one = server.clone();
        one.insert("url".to_owned(), address.clone());
        let name = if at == 0 { name.to_owned() } else { format!("{name}.{key}") };
        parts.add_server(&name, Value::Map(one));
    }
    if addresses.is_empty() {
        parts.add_server(name, Value::Map(server));
    }
}

/// Adds the hooks of any host. The error is the type that was expected.
pub(crate) fn add_hooks(
    parts: &mut Parts,
    node: &JsonNode<'_>,
    shape: HookShape,
) -> Result<(), &'static str> {
    let object = || node.members().ok_or("an object");
    match shape {
        HookShape::Claude => parts.add_hooks(object()?, &[]),
        HookShape::Flat => object()?.iter().for_each(|event| add_event(parts, event)),
        HookShape::Named => {
            let all = object()?.iter().flat_map(|named| named.node().members_or_none());
            all.for_each(|event| add_event(parts, event));
        }
        HookShape::Single => {
            let event = node.get("when").and_then(|when| when.get("type")).and_then(JsonNode::as_str);
            // The others are prompts, which are read with their directory.
            if let Some(hook) = node.get("then").filter(|hook| hook.get("command").is_some()) {
                parts.add_hook_group(event.unwrap_or("hook"), command_group(hook));
            }
        }
        HookShape::List => {
            for item in node.items().ok_or("a list")? {
                let event = item.get("event").and_then(JsonNode::as_str).unwrap_or("hook");
                parts.add_hook_group(event, group(item));
            }
        }
    }
    Ok(())
}

/// Adds an event that lists its commands, or groups of them.
fn add_event(parts: &mut Parts, event: &JsonMember<'_>) {
    let node = event.node();
    let items = node.items().unwrap_or_else(|| core::slice::from_ref(node)).iter();
    // Anything else is a setting of the hooks, such as their version.
    for item in items.filter(|item| item.as_str().is_some() || item.members().is_some()) {
        parts.add_hook_group(event.key(), group(item));
    }
}

/// Returns a hook group with the command of an action, whose type has a name of its own.
fn command_group(action: &JsonNode<'_>) -> Value {
    let mut hook = map(action.members().unwrap_or_default());
    hook.insert("type".to_owned(), Value::Text("command".to_owned()));
    let hooks = ("hooks".to_owned(), Value::List(vec![Value::Map(hook)]));
    Value::Map([hooks].into())
}

/// Returns a hook group: as it is, or with the hook in it.
fn group(item: &JsonNode<'_>) -> Value {
    if item.get("hooks").is_some() {
        return Value::of(item);
    }
    let mut hook = match (item.as_str(), item.members()) {
        (Some(command), _) => BTreeMap::from([("command".to_owned(), Value::Text(command.to_owned()))]),
        (None, members) => map(members.unwrap_or_default()),
    };
    let matcher = hook.remove("matcher");
    if let (false, Some(shell)) = (hook.contains_key("command"), hook.remove("bash")) {
        hook.insert("command".to_owned(), shell);
    }
    hook.entry("type".to_owned()).or_insert_with(|| Value::Text("command".to_owned()));
    let hooks = ("hooks".to_owned(), Value::List(vec![Value::Map(hook)]));
    Value::Map(matcher.map(|text| ("matcher".to_owned(), text)).into_iter().chain([hooks]).collect())
}
