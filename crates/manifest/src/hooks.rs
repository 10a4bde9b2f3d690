//! The shapes in which hosts write hooks.

use crate::code::Code;
use crate::coverage::Coverage;
use crate::json::{Member, Node, Value};
use crate::reader::{Ctx, Doc, Need};
use crate::runs::{StartsIn, keep_rest, scalar_text};
use crate::surface::{Fact, Origin, SurfaceItem, SurfaceKind};
use crate::text::{ForeignText, escape};

/// Keys that make an object a handler and not a group.
const HANDLER_KEYS: &[&str] = &["action", "agent", "command", "exec", "prompt", "tool", "type", "url"];

/// What is known about a handler from around it.
struct Around<'a> {
    event: &'a str,
    matcher: Option<&'a Node<'a>>,
    off: bool,
    origin: Origin,
}

impl Ctx<'_> {
    /// Reads the value of a `hooks` key: path, list of paths or objects, object.
    pub(crate) fn hooks_key(&mut self, doc: &Doc<'_>, node: &Node<'_>, standard: &[&str]) {
        match node.value() {
            Value::String(_) => self.hooks_path(doc, node, standard),
            Value::Array(items) if items.iter().any(|item| item.as_str().is_some()) => {
                for item in items {
                    match item.value() {
                        Value::String(_) => self.hooks_path(doc, item, standard),
                        Value::Object(_) => self.hooks_value(doc, item, Origin::Declared),
                        _ => self.wrong(doc, item, "a path or an object", Need::Error),
                    }
                }
            }
            Value::Array(_) | Value::Object(_) => self.hooks_value(doc, node, Origin::Declared),
            _ => self.wrong(doc, node, "a path, a list or an object", Need::Error),
        }
    }

    fn hooks_path(&mut self, doc: &Doc<'_>, node: &Node<'_>, standard: &[&str]) {
        let Some(path) = self.path(doc, node) else { return };
        if path.glob {
            return self.glob_hooks(doc, node);
        }
        if standard.contains(&path.path.as_str()) && self.dialect.adapter() == crate::Dialect::Claude {
            let message =
                format!("`{}` is read without being named; that host then loads no hook of it", path.path);
            self.notice(doc, node.span(), Code::HooksDeclaredTwice, message);
        }
        if self.read.contains(&path.path) {
            return;
        }
        if let Some(file) = self.files.get(&path.path) {
            self.hooks_file(&path.path, file.bytes, Origin::Declared);
        } else if self.files.under(&path.path).next().is_some() {
            self.error(doc, node.span(), Code::Type, "expected a file, got a folder");
        } else {
            let place = Self::place(doc, node.span());
            self.missing_file(&place, &path.path);
        }
    }

    fn glob_hooks(&mut self, doc: &Doc<'_>, node: &Node<'_>) {
        self.glob(doc, node);
        let mut item =
            SurfaceItem::new(SurfaceKind::Hook, scalar_text(node), Self::place(doc, node.span()), doc.layer);
        item.coverage = Coverage::Unresolved;
        "a pattern in place of a path".clone_into(&mut item.why);
        self.add(item);
    }

    pub(crate) fn glob(&mut self, doc: &Doc<'_>, node: &Node<'_>) {
        let message = format!("`{}` has one of * ? [ in it", escape(&scalar_text(node), 128));
        self.warning(doc, node.span(), Code::GlobPath, message);
    }

    /// Reads the standard hooks files that are there.
    pub(crate) fn standard_hooks(&mut self, files: &[&str]) {
        for file in files {
            if let Some(view) = self.files.get(file).filter(|_| !self.read.contains(*file)) {
                self.hooks_file(file, view.bytes, Origin::Found);
            }
        }
    }

    fn hooks_file(&mut self, file: &str, bytes: &[u8], origin: Origin) {
        if let Some(doc) = self.open(file, bytes) {
            match doc.root.value() {
                Value::Object(_) | Value::Array(_) => self.hooks_value(&doc, &doc.root, origin),
                _ => self.wrong(&doc, &doc.root, "an object", Need::Error),
            }
            self.close(&doc);
        }
    }

    /// Reads hooks, with or without their own `hooks` wrapper.
    pub(crate) fn hooks_value(&mut self, doc: &Doc<'_>, node: &Node<'_>, origin: Origin) {
        match node.value() {
            Value::Object(members) => match node.get("hooks") {
                Some(inner) => {
                    self.keys(doc, members, &["$schema", "description", "hooks", "name", "version"]);
                    match inner.value() {
                        Value::Object(events) => self.events(doc, events, origin),
                        Value::Array(items) => self.hook_list(doc, items, origin),
                        _ => self.wrong(doc, inner, "an object or a list", Need::Error),
                    }
                }
                None => self.events(doc, members, origin),
            },
            Value::Array(items) => self.hook_list(doc, items, origin),
            _ => self.wrong(doc, node, "an object or a list", Need::Error),
        }
    }

    fn events(&mut self, doc: &Doc<'_>, members: &[Member<'_>], origin: Origin) {
        for member in members {
            if matches!(member.key(), "$schema" | "description" | "version")
                && member.node().members().is_none()
            {
                continue;
            }
            self.known_event(doc, member.key_span(), member.key());
            let around = Around { event: member.key(), matcher: None, off: false, origin };
            match member.node().value() {
                Value::String(_) => self.script_of_event(doc, member.node(), &around),
                Value::Array(items) => items.iter().for_each(|item| self.group(doc, item, &around)),
                Value::Object(_) => self.group(doc, member.node(), &around),
                _ => self.wrong(doc, member.node(), "a list of groups", Need::Error),
            }
        }
    }

    fn known_event(&mut self, doc: &Doc<'_>, span: plugward_types::Span, event: &str) {
        self.refuse_hidden(doc, span, event);
        if !self.dialect.events().contains(&event) {
            let message = format!("the host documents no event `{}`", escape(event, 64));
            self.notice(doc, span, Code::UnknownEvent, message);
        }
    }

    /// `event → "hooks/run.sh"`.
    fn script_of_event(&mut self, doc: &Doc<'_>, node: &Node<'_>, around: &Around<'_>) {
        let Some(path) = self.path(doc, node) else { return };
        let mut item = Self::hook_item(doc, node, around, "command");
        if path.glob {
            self.glob(doc, node);
            item.coverage = Coverage::Unresolved;
        }
        self.run_file(item, &path.path);
    }

    /// Finishes an item that starts a file of the tree.
    pub(crate) fn run_file(&mut self, mut item: SurfaceItem, path: &str) {
        let place = item.place.clone();
        item.run = vec![path.to_owned()];
        item.files = vec![path.to_owned()];
        item.why.clear();
        item.why.push_str(path);
        match self.files.get(path) {
            Some(file) if file.bytes.starts_with(b"#!") => {
                item.coverage = item.coverage.worst(Coverage::ScriptInterpreterUncovered);
            }
            Some(_) => {}
            None => self.missing_file(&place, path),
        }
        self.add(item);
    }

    fn group(&mut self, doc: &Doc<'_>, node: &Node<'_>, around: &Around<'_>) {
        let Some(members) = node.members() else {
            if node.as_str().is_some() {
                return self.script_of_event(doc, node, around);
            }
            return self.wrong(doc, node, "an object with matcher and hooks", Need::Error);
        };
        let around = Around {
            matcher: node.get("matcher").or(around.matcher),
            off: around.off || is_off(node),
            ..*around
        };
        match node.get("hooks") {
            Some(inner) => {
                self.keys(
                    doc,
                    members,
                    &["description", "enabled", "hooks", "matcher", "name", "sequential"],
                );
                match inner.value() {
                    Value::Array(items) => items.iter().for_each(|item| self.handler(doc, item, &around)),
                    Value::Object(_) => self.handler(doc, inner, &around),
                    _ => self.wrong(doc, inner, "a list of handlers", Need::Error),
                }
            }
            None => self.handler(doc, node, &around),
        }
    }

    /// `[{event, matcher?, command}]` and `[{name, event, action: {…}}]`.
    fn hook_list(&mut self, doc: &Doc<'_>, items: &[Node<'_>], origin: Origin) {
        for node in items {
            if node.members().is_none() {
                self.wrong(doc, node, "an object with event", Need::Error);
                continue;
            }
            let Some(event) = node.get("event").or_else(|| node.get("on")) else {
                // A list of inline objects, each by events.
                self.hooks_value(doc, node, origin);
                continue;
            };
            for event in self.texts(doc, event, Need::Error) {
                let name = event.as_str().unwrap_or_default();
                self.known_event(doc, event.span(), name);
                let matcher = node.get("matcher").or_else(|| node.get("filter"));
                let around = Around { event: name, matcher, off: is_off(node), origin };
                match node.get("action") {
                    Some(action) if action.members().is_some() => self.handler(doc, action, &around),
                    _ => self.group(doc, node, &around),
                }
            }
        }
    }

    fn hook_item(doc: &Doc<'_>, node: &Node<'_>, around: &Around<'_>, handler: &str) -> SurfaceItem {
        let mut item =
            SurfaceItem::new(SurfaceKind::Hook, around.event, Self::place(doc, node.span()), doc.layer);
        item.origin = around.origin;
        item.off = around.off;
        item.facts.insert("event", Fact::Text(around.event.to_owned()));
        item.facts.insert("handler", Fact::Text(handler.to_owned()));
        if let Some(matcher) = around.matcher {
            item.facts.insert("matcher", Fact::Text(scalar_text(matcher)));
        }
        item
    }

    fn handler(&mut self, doc: &Doc<'_>, node: &Node<'_>, around: &Around<'_>) {
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
        for (key, name) in [("timeout", "timeout"), ("shell", "shell"), ("if", "if")] {
            if let Some(value) = node.get(key) {
                item.facts.insert(name, Fact::Text(scalar_text(value)));
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
                let message = format!("the host documents no handler type `{}`", escape(other, 64));
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

    /// A handler's own keys are open; only a second spelling of a key that runs is refused.
    fn case_variants(&mut self, doc: &Doc<'_>, members: &[Member<'_>]) {
        const RUNS: &[&str] = &["args", "command", "prompt", "type", "url"];
        for member in members {
            let key = member.key();
            let known = RUNS.iter().find(|word| word.eq_ignore_ascii_case(key) && **word != key);
            if let Some(word) = known {
                if members.iter().any(|other| other.key() == *word) {
                    let message = format!(
                        "expected one of two keys that differ in case only, got `{}` beside `{word}`",
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

    /// A list of arguments.
    pub(crate) fn arguments(&mut self, doc: &Doc<'_>, node: &Node<'_>) -> Vec<String> {
        let mut argv = Vec::new();
        for item in self.list(doc, node, Need::Error) {
            if let Some(text) = self.plain(doc, item, Need::Error) {
                argv.push(text.to_owned());
            }
        }
        argv
    }

    /// Where a command starts, by its `cwd`.
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

fn is_off(node: &Node<'_>) -> bool {
    node.get("enabled").is_some_and(|value| matches!(value.value(), Value::Bool(false)))
        || node.get("disabled").is_some_and(|value| matches!(value.value(), Value::Bool(true)))
}
