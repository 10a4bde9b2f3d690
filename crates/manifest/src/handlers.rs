//! Reads one handler of a hook, whose kind is its `type` or follows from its keys.

use crate::code::Code;
use crate::coverage::Coverage;
use crate::hooks::Around;
use crate::json::{Member, Node, Value};
use crate::reader::{Ctx, Doc, Need};
use crate::runs::{StartsIn, keep, keep_rest, scalar_text};
use crate::surface::{Fact, SurfaceItem, SurfaceKind};
use crate::text::{ForeignText, escape};

/// Keys that distinguish a handler from a group.
const HANDLER_KEYS: &[&str] = &["action", "agent", "command", "exec", "prompt", "tool", "type", "url"];

impl Ctx<'_> {
    pub(crate) fn hook_item(
        doc: &Doc<'_>,
        node: &Node<'_>,
        around: &Around<'_>,
        handler: &str,
    ) -> SurfaceItem {
        let mut item =
            SurfaceItem::new(SurfaceKind::Hook, around.event, Self::place(doc, node.span()), doc.layer);
        item.origin = around.origin;
        item.off = around.off;
        item.facts.insert("event", Fact::Text(around.event.to_owned()));
        item.facts.insert("handler", Fact::Text(handler.to_owned()));
        match around.matcher {
            Some(matcher) if matcher.as_str().is_none() => keep(&mut item, "matcher", matcher),
            Some(matcher) => {
                item.facts.insert("matcher", Fact::Text(scalar_text(matcher)));
            }
            None => {}
        }
        item
    }

    pub(crate) fn handler(&mut self, doc: &Doc<'_>, node: &Node<'_>, around: &Around<'_>) {
        self.hook_entry(doc, node, Some(around.event), |ctx| ctx.one_handler(doc, node, around));
    }

    fn one_handler(&mut self, doc: &Doc<'_>, node: &Node<'_>, around: &Around<'_>) {
        let Some(members) = node.members() else {
            if node.as_str().is_some() {
                return self.script_of_event(doc, node, around);
            }
            return self.wrong(doc, node, "a handler object", Need::Error);
        };
        let kind = match node.get("type") {
            Some(kind) => match self.plain(doc, kind, Need::Error) {
                Some(kind) => kind.to_owned(),
                None => return,
            },
            None => HANDLER_KEYS
                .iter()
                .find(|key| node.get(key).is_some())
                .map_or("command", |key| implied(key))
                .to_owned(),
        };
        let around = Around { off: around.off || is_off(node), ..*around };
        let mut item = Self::hook_item(doc, node, &around, &kind);
        for key in ["timeout", "shell", "if"] {
            match node.get(key) {
                Some(value)
                    if (key == "timeout" && !matches!(value.value(), Value::Number(_)))
                        || (key == "if" && value.as_str().is_none()) =>
                {
                    keep(&mut item, key, value);
                }
                Some(value) => {
                    item.facts.insert(key, Fact::Text(scalar_text(value)));
                }
                None => {}
            }
        }
        let read = [
            "type",
            "timeout",
            "shell",
            "if",
            "command",
            "args",
            "prompt",
            "message",
            "suggestion",
            "url",
            "matcher",
            "event",
            "enabled",
        ];
        keep_rest(&mut item, node, &read);
        self.case_variants(doc, members);
        match kind.as_str() {
            "command" => self.command_handler(doc, node, item),
            "prompt" | "agent" | "message" | "suggestion" => self.prompt_handler(doc, node, item, &kind),
            "http" => self.http_handler(doc, node, item),
            "mcp_tool" => {
                item.coverage = Coverage::Unresolved;
                "a tool of a server".clone_into(&mut item.why);
                if let Some(server) = node.get("server")
                    && let Some(name) = self.plain(doc, server, Need::Error)
                {
                    item.facts.insert("server", Fact::Text(name.to_owned()));
                }
                self.add(item);
            }
            other => {
                let message = format!("the host does not document the handler type `{}`", escape(other, 64));
                self.notice(doc, node.span(), Code::UnknownHandler, message);
                item.coverage = Coverage::Unresolved;
                item.why = format!("handler type {}", escape(other, 64));
                if node.get("command").is_some() {
                    return self.command_handler(doc, node, item);
                }
                self.add(item);
            }
        }
    }

    /// Refuses a second spelling of a key that determines what runs; other unknown keys are accepted.
    fn case_variants(&mut self, doc: &Doc<'_>, members: &[Member<'_>]) {
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
                    self.error(doc, member.key_span(), Code::CaseVariant, message);
                } else {
                    let message = format!("unknown key `{}` (did you mean `{word}`?)", escape(key, 64));
                    self.unknown_key(doc, member, message);
                }
            }
        }
    }

    fn command_handler(&mut self, doc: &Doc<'_>, node: &Node<'_>, mut item: SurfaceItem) {
        let Some(command) = node.get("command") else {
            return self.missing(doc, node, "command");
        };
        if let Some(env) = node.get("env") {
            let env = self.text_map(doc, env);
            item.facts.insert("env", Fact::Map(env));
        }
        let starts_in = self.starts_in(node);
        item.place = Self::place(doc, command.span());
        match (command.value(), node.get("args")) {
            (Value::String(text), None) => {
                self.refuse_hidden(doc, command.span(), text);
                self.run_text(item, text, starts_in);
            }
            (Value::String(program), Some(args)) => {
                self.refuse_hidden(doc, command.span(), program);
                let mut argv = vec![program.to_string()];
                argv.extend(self.arguments(doc, args));
                self.run_argv(item, argv, starts_in);
            }
            (Value::Array(_), _) => {
                let argv = self.arguments(doc, command);
                self.run_argv(item, argv, starts_in);
            }
            _ => self.wrong(doc, command, "a string", Need::Error),
        }
    }

    /// Reads a list of arguments; items that are not strings are reported.
    pub(crate) fn arguments(&mut self, doc: &Doc<'_>, node: &Node<'_>) -> Vec<String> {
        let mut argv = Vec::new();
        for item in self.list(doc, node, Need::Error) {
            if let Some(text) = self.plain(doc, item, Need::Error) {
                argv.push(text.to_owned());
            }
        }
        argv
    }

    /// Returns the directory in which a command starts, according to its `cwd`.
    pub(crate) fn starts_in(&self, node: &Node<'_>) -> StartsIn {
        let cwd = node.get("cwd").and_then(Node::as_str).unwrap_or_default();
        let roots = self.dialect.root_variables();
        let is_root = |root: &str| {
            let rest = cwd.strip_prefix("${").and_then(|rest| rest.strip_prefix(root)?.strip_prefix('}'));
            rest.is_some_and(|rest| matches!(rest, "" | "/" | "${/}"))
        };
        let dot = matches!(cwd, "." | "./") && !roots.is_empty();
        if dot || roots.iter().any(|root| is_root(root)) { StartsIn::Root } else { StartsIn::Default }
    }

    fn prompt_handler(&mut self, doc: &Doc<'_>, node: &Node<'_>, mut item: SurfaceItem, kind: &str) {
        let keys = [kind, "prompt", "message", "suggestion", "text"];
        let Some(text) = keys.iter().find_map(|key| node.get(key)) else {
            return self.missing(doc, node, "prompt");
        };
        item.place = Self::place(doc, text.span());
        if let Some(text) = self.text(doc, text, Need::Error) {
            item.text = Some(ForeignText::new(text.to_owned()));
            self.add(item);
        }
    }

    fn http_handler(&mut self, doc: &Doc<'_>, node: &Node<'_>, mut item: SurfaceItem) {
        let Some(url) = node.get("url") else {
            return self.missing(doc, node, "url");
        };
        if let Some(url) = self.plain(doc, url, Need::Error) {
            item.coverage = Coverage::RemoteUrl;
            item.why = escape(crate::url::host_of(url), 256);
            item.run = vec![url.to_owned()];
            item.facts.insert("url", Fact::Text(url.to_owned()));
            self.add(item);
        }
    }
}

fn implied(key: &str) -> &'static str {
    match key {
        "prompt" => "prompt",
        "agent" => "agent",
        "url" => "http",
        "tool" => "mcp_tool",
        _ => "command",
    }
}

pub(crate) fn is_off(node: &Node<'_>) -> bool {
    node.get("enabled").is_some_and(|value| matches!(value.value(), Value::Bool(false)))
        || node.get("disabled").is_some_and(|value| matches!(value.value(), Value::Bool(true)))
}
