//! Reads one handler of a hook, whose kind is its `type` or follows from its keys.

use crate::error::ManifestCode;
use crate::hooks::claude::HandlerContext;
use crate::json::{JsonMember, JsonNode, JsonValue};
use crate::reader::text::{ForeignText, escape};
use crate::reader::{Document, Reader, Requirement};
use crate::surface::commands::{StartDirectory, keep, keep_rest, scalar_text};
use crate::surface::{Coverage, SurfaceFact, SurfaceItem, SurfaceKind};

/// Keys that distinguish a handler from a group.
const HANDLER_KEYS: &[&str] = &["action", "agent", "command", "exec", "prompt", "tool", "type", "url"];

impl Reader<'_> {
    /// Returns an item with the properties that the handler inherits.
    pub(crate) fn hook_item(
        doc: &Document<'_>,
        node: &JsonNode<'_>,
        inherited: &HandlerContext<'_>,
        handler: &str,
    ) -> SurfaceItem {
        let mut item =
            SurfaceItem::new(SurfaceKind::Hook, inherited.event, doc.place(node.span()), doc.layer);
        item.origin = inherited.origin;
        item.off = inherited.off;
        item.facts.insert("event", SurfaceFact::Text(inherited.event.to_owned()));
        item.facts.insert("handler", SurfaceFact::Text(handler.to_owned()));
        match inherited.matcher {
            Some(matcher) if matcher.as_str().is_none() => keep(&mut item, "matcher", matcher),
            Some(matcher) => {
                item.facts.insert("matcher", SurfaceFact::Text(scalar_text(matcher)));
            }
            None => {}
        }
        item
    }

    /// Reads one handler as an entry of its own, so that an error in it does not affect the others.
    pub(crate) fn handler(
        &mut self,
        doc: &Document<'_>,
        node: &JsonNode<'_>,
        inherited: &HandlerContext<'_>,
    ) {
        self.hook_entry(doc, node, Some(inherited.event), |reader| reader.one_handler(doc, node, inherited));
    }

    fn one_handler(&mut self, doc: &Document<'_>, node: &JsonNode<'_>, inherited: &HandlerContext<'_>) {
        let Some(members) = node.members() else {
            if node.as_str().is_some() {
                return self.script_of_event(doc, node, inherited);
            }
            return self.wrong(doc, node, "a handler object", Requirement::Strict);
        };
        let kind = match node.get("type") {
            Some(kind) => match self.plain(doc, kind, Requirement::Strict) {
                Some(kind) => kind.to_owned(),
                None => return,
            },
            None => HANDLER_KEYS
                .iter()
                .find(|key| node.get(key).is_some())
                .map_or("command", |key| implied(key))
                .to_owned(),
        };
        let inherited = HandlerContext { off: inherited.off || is_off(node), ..*inherited };
        let mut item = Self::hook_item(doc, node, &inherited, &kind);
        for key in ["timeout", "shell", "if"] {
            match node.get(key) {
                Some(value)
                    if (key == "timeout" && !matches!(value.value(), JsonValue::Number(_)))
                        || (key == "if" && value.as_str().is_none()) =>
                {
                    keep(&mut item, key, value);
                }
                Some(value) => {
                    item.facts.insert(key, SurfaceFact::Text(scalar_text(value)));
                }
                None => {}
            }
        }
        let read: &[&str] = plugward_types::words![
            "type timeout shell if command args prompt message suggestion url matcher event enabled",
        ];
        keep_rest(&mut item, node, read);
        self.case_variants(doc, members);
        match kind.as_str() {
            "command" => self.command_handler(doc, node, item),
            "prompt" | "agent" | "message" | "suggestion" => self.prompt_handler(doc, node, item, &kind),
            "http" => self.http_handler(doc, node, item),
            "mcp_tool" => {
                item.coverage = Coverage::Unresolved;
                "a tool of a server".clone_into(&mut item.why);
                if let Some(server) = node.get("server")
                    && let Some(name) = self.plain(doc, server, Requirement::Strict)
                {
                    item.facts.insert("server", SurfaceFact::Text(name.to_owned()));
                }
                self.add(item);
            }
            other => {
                let message = format!("the host does not document the handler type `{}`", escape(other, 64));
                self.notice(doc, node.span(), ManifestCode::UnknownHandler, message);
                item.coverage = Coverage::Unresolved;
                item.why = format!("handler type {}", escape(other, 64));
                // An unknown type with a command could run it, so the command is judged and shown.
                if node.get("command").is_some() {
                    return self.command_handler(doc, node, item);
                }
                self.add(item);
            }
        }
    }

    /// Refuses a second spelling of a key that determines what runs; other unknown keys are accepted.
    fn case_variants(&mut self, doc: &Document<'_>, members: &[JsonMember<'_>]) {
        const RUNS: &[&str] = &["args", "command", "prompt", "type", "url"];
        for member in members {
            let key = member.key();
            let known = RUNS.iter().find(|word| word.eq_ignore_ascii_case(key) && **word != key);
            if let Some(word) = known {
                if members.iter().any(|other| other.key() == *word) {
                    let message = format!(
                        "expected one of two keys that differ only in case, got `{}` and `{word}`",
                        escape(key, 64)
                    );
                    self.error(doc, member.key_span(), ManifestCode::CaseVariant, message);
                } else {
                    let message = format!("unknown key `{}` (did you mean `{word}`?)", escape(key, 64));
                    self.unknown_key(doc, member, message);
                }
            }
        }
    }

    /// Completes a handler that runs a command.
    fn command_handler(&mut self, doc: &Document<'_>, node: &JsonNode<'_>, mut item: SurfaceItem) {
        let Some(command) = node.get("command") else {
            return self.missing(doc, node, "command");
        };
        if let Some(env) = node.get("env") {
            let env = self.text_map(doc, env);
            item.facts.insert("env", SurfaceFact::Map(env));
        }
        let starts_in = self.starts_in(node);
        item.place = doc.place(command.span());
        match (command.value(), node.get("args")) {
            (JsonValue::String(text), None) => {
                self.refuse_hidden(doc, command.span(), text);
                self.run_text(item, text, starts_in);
            }
            // With `args`, the command is a program, and no shell splits it.
            (JsonValue::String(program), Some(args)) => {
                self.refuse_hidden(doc, command.span(), program);
                let mut argv = vec![program.to_string()];
                argv.extend(self.arguments(doc, args));
                self.run_argv(item, argv, starts_in);
            }
            (JsonValue::Array(_), _) => {
                let argv = self.arguments(doc, command);
                self.run_argv(item, argv, starts_in);
            }
            _ => self.wrong(doc, command, "a string", Requirement::Strict),
        }
    }

    /// Reads a list of arguments; items that are not strings are reported.
    pub(crate) fn arguments(&mut self, doc: &Document<'_>, node: &JsonNode<'_>) -> Vec<String> {
        let mut argv = Vec::new();
        for item in self.list(doc, node, Requirement::Strict) {
            if let Some(text) = self.plain(doc, item, Requirement::Strict) {
                argv.push(text.to_owned());
            }
        }
        argv
    }

    /// Returns the directory in which a command starts, according to its `cwd`.
    pub(crate) fn starts_in(&self, node: &JsonNode<'_>) -> StartDirectory {
        let cwd = node.get("cwd").and_then(JsonNode::as_str).unwrap_or_default();
        let roots = self.dialect.root_variables();
        let is_root = |root: &str| {
            let rest = cwd.strip_prefix("${").and_then(|rest| rest.strip_prefix(root)?.strip_prefix('}'));
            rest.is_some_and(|rest| matches!(rest, "" | "/" | "${/}"))
        };
        // A relative `cwd` refers to the plugin directory in hosts that have a root variable.
        let dot = matches!(cwd, "." | "./") && !roots.is_empty();
        if dot || roots.iter().any(|root| is_root(root)) {
            StartDirectory::Root
        } else {
            StartDirectory::Default
        }
    }

    /// Completes a handler that sends text to a model or a user.
    fn prompt_handler(&mut self, doc: &Document<'_>, node: &JsonNode<'_>, mut item: SurfaceItem, kind: &str) {
        let keys = [kind, "prompt", "message", "suggestion", "text"];
        let Some(text) = keys.iter().find_map(|key| node.get(key)) else {
            return self.missing(doc, node, "prompt");
        };
        item.place = doc.place(text.span());
        if let Some(text) = self.text(doc, text, Requirement::Strict) {
            item.text = Some(ForeignText::new(text.to_owned()));
            self.add(item);
        }
    }

    /// Completes a handler that sends the event to a URL.
    fn http_handler(&mut self, doc: &Document<'_>, node: &JsonNode<'_>, mut item: SurfaceItem) {
        let Some(url) = node.get("url") else {
            return self.missing(doc, node, "url");
        };
        if let Some(url) = self.plain(doc, url, Requirement::Strict) {
            item.coverage = Coverage::RemoteUrl;
            item.why = escape(plugward_types::Address::parse(url).host_text().unwrap_or(url), 256);
            item.run = vec![url.to_owned()];
            item.facts.insert("url", SurfaceFact::Text(url.to_owned()));
            self.add(item);
        }
    }
}

/// Returns the type of a handler that only has the given key.
fn implied(key: &str) -> &'static str {
    match key {
        "prompt" => "prompt",
        "agent" => "agent",
        "url" => "http",
        "tool" => "mcp_tool",
        _ => "command",
    }
}

/// Returns `true` if `enabled` is false or `disabled` is true.
pub(crate) fn is_off(node: &JsonNode<'_>) -> bool {
    node.get("enabled").is_some_and(|value| matches!(value.value(), JsonValue::Bool(false)))
        || node.get("disabled").is_some_and(|value| matches!(value.value(), JsonValue::Bool(true)))
}
