//! Reads hooks in the format of Claude Code, which all hosts except gnoma share.
//!
//! An event has groups, a group has a matcher and handlers. Shorter forms that some hosts accept are read too.

use crate::error::ManifestCode;
use crate::hooks::handler::is_off;
use crate::json::{JsonMember, JsonNode, JsonValue};
use crate::reader::text::escape;
use crate::reader::{Document, Reader, Requirement};
use crate::surface::commands::scalar_text;
use crate::surface::{Coverage, Origin, SurfaceItem, SurfaceKind};

/// The mark of files that were read as hooks; a file can also be read for another purpose.
const HOOKS: &str = "hooks-file";

/// The properties that a handler inherits from its event and group.
pub(crate) struct HandlerContext<'a> {
    pub(crate) event: &'a str,
    pub(crate) matcher: Option<&'a JsonNode<'a>>,
    pub(crate) off: bool,
    pub(crate) origin: Origin,
}

impl Reader<'_> {
    /// Reads the value of a `hooks` key: a path, a list of paths or objects, or an object.
    pub(crate) fn hooks_key(&mut self, doc: &Document<'_>, node: &JsonNode<'_>, standard: &[&str]) {
        match node.value() {
            JsonValue::String(_) => self.hooks_path(doc, node, standard),
            JsonValue::Array(items) if items.iter().any(|item| item.as_str().is_some()) => {
                for item in items {
                    match item.value() {
                        JsonValue::String(_) => self.hooks_path(doc, item, standard),
                        JsonValue::Object(_) => self.hooks_value(doc, item, Origin::Declared),
                        _ => self.wrong(doc, item, "a path or an object", Requirement::Strict),
                    }
                }
            }
            JsonValue::Array(_) | JsonValue::Object(_) => self.hooks_value(doc, node, Origin::Declared),
            _ => self.wrong(doc, node, "a path, a list or an object", Requirement::Strict),
        }
    }

    /// Reads the hooks file that a key declares.
    fn hooks_path(&mut self, doc: &Document<'_>, node: &JsonNode<'_>, standard: &[&str]) {
        let Some(path) = self.path(doc, node) else { return };
        if path.glob {
            return self.glob_hooks(doc, node);
        }
        // Claude Code reports the duplicate and then loads none of the hooks.
        if standard.contains(&path.path.as_str()) && self.dialect.adapter() == crate::Dialect::Claude {
            let message =
                format!("`{}` is read anyway; a host that finds it twice loads none of its hooks", path.path);
            self.notice(doc, node.span(), ManifestCode::HooksDeclaredTwice, message);
        }
        if self.visited.contains(&(path.path.clone(), HOOKS)) {
            return;
        }
        if let Some(file) = self.files.get(&path.path) {
            self.hooks_file(&path.path, file.bytes, Origin::Declared);
        } else if self.files.under(&path.path).next().is_some() {
            self.error(doc, node.span(), ManifestCode::Type, "expected a file, got a directory");
        } else {
            let place = doc.place(node.span());
            self.missing_file(&place, &path.path);
        }
    }

    /// Adds an unresolved item for a pattern, because hosts expand patterns differently.
    fn glob_hooks(&mut self, doc: &Document<'_>, node: &JsonNode<'_>) {
        self.glob(doc, node);
        let mut item =
            SurfaceItem::new(SurfaceKind::Hook, scalar_text(node), doc.place(node.span()), doc.layer);
        item.coverage = Coverage::Unresolved;
        "a pattern instead of a path".clone_into(&mut item.why);
        self.add(item);
    }

    /// Warns about a path that contains wildcards.
    pub(crate) fn glob(&mut self, doc: &Document<'_>, node: &JsonNode<'_>) {
        let message = format!("`{}` contains one of * ? [", escape(&scalar_text(node), 128));
        self.warning(doc, node.span(), ManifestCode::GlobPath, message);
    }

    /// Reads the standard hooks files that exist and were not read before.
    pub(crate) fn standard_hooks(&mut self, files: &[&str]) {
        for file in files {
            let fresh = !self.visited.contains(&((*file).to_owned(), HOOKS));
            if let Some(view) = self.files.get(file).filter(|_| fresh) {
                self.hooks_file(file, view.bytes, Origin::Found);
            }
        }
    }

    fn hooks_file(&mut self, file: &str, bytes: &[u8], origin: Origin) {
        self.visited.insert((file.to_owned(), HOOKS));
        if let Some(doc) = self.open(file, bytes) {
            match doc.root.value() {
                JsonValue::Object(_) | JsonValue::Array(_) => self.hooks_value(&doc, &doc.root, origin),
                _ => self.wrong(&doc, &doc.root, "an object", Requirement::Strict),
            }
            self.close(&doc);
        }
    }

    /// Reads hooks, with or without the key `hooks` around them.
    pub(crate) fn hooks_value(&mut self, doc: &Document<'_>, node: &JsonNode<'_>, origin: Origin) {
        match node.value() {
            JsonValue::Object(members) => match node.get("hooks") {
                Some(inner) => {
                    self.keys(doc, members, &["$schema", "description", "hooks", "name", "version"]);
                    match inner.value() {
                        JsonValue::Object(events) => self.events(doc, events, origin),
                        JsonValue::Array(items) => self.hook_list(doc, items, origin),
                        _ => self.wrong(doc, inner, "an object or a list", Requirement::Strict),
                    }
                }
                None => self.events(doc, members, origin),
            },
            JsonValue::Array(items) => self.hook_list(doc, items, origin),
            _ => self.wrong(doc, node, "an object or a list", Requirement::Strict),
        }
    }

    /// Reads an object with one member per event.
    pub(crate) fn events(&mut self, doc: &Document<'_>, members: &[JsonMember<'_>], origin: Origin) {
        for member in members {
            let plain = member.node().members().is_none() && member.node().items().is_none();
            // Without a `hooks` key around the events, these keys are next to them.
            if plain && matches!(member.key(), "$schema" | "description" | "version") {
                continue;
            }
            let (node, event) = (member.node(), member.key());
            let inherited = HandlerContext { event, matcher: None, off: false, origin };
            self.hook_entry(doc, node, Some(event), |reader| {
                reader.refuse_hidden(doc, member.key_span(), event);
                reader.known_event(doc, member.key_span(), event);
                match node.value() {
                    JsonValue::String(_) => reader.script_of_event(doc, node, &inherited),
                    JsonValue::Array(items) => {
                        items.iter().for_each(|item| reader.group(doc, item, &inherited));
                    }
                    JsonValue::Object(_) => reader.group(doc, node, &inherited),
                    _ => reader.wrong(doc, node, "a list of groups", Requirement::Strict),
                }
            });
        }
    }

    /// Reports an event that the host does not document.
    pub(crate) fn known_event(&mut self, doc: &Document<'_>, span: plugward_types::Span, event: &str) {
        if !self.dialect.events().contains(&event) {
            let message = format!("the host does not document the event `{}`", escape(event, 64));
            self.notice(doc, span, ManifestCode::UnknownEvent, message);
        }
    }

    /// Adds the script of an event: `event → "hooks/run.sh"`.
    pub(crate) fn script_of_event(
        &mut self,
        doc: &Document<'_>,
        node: &JsonNode<'_>,
        inherited: &HandlerContext<'_>,
    ) {
        if self.standalone {
            return self.wrong(doc, node, "an object", Requirement::Strict);
        }
        let Some(path) = self.path(doc, node) else { return };
        let mut item = Self::hook_item(doc, node, inherited, "command");
        if path.glob {
            self.glob(doc, node);
            item.coverage = Coverage::Unresolved;
        }
        self.run_file(item, &path.path);
    }

    /// Completes and adds an item that starts a file of the tree.
    pub(crate) fn run_file(&mut self, mut item: SurfaceItem, path: &str) {
        item.run = vec![path.to_owned()];
        item.files = vec![path.to_owned()];
        item.why.clear();
        item.why.push_str(path);
        match self.files.get(path) {
            // The kernel starts the interpreter named in the first line, which is outside the plugin.
            Some(file) if file.bytes.starts_with(b"#!") => {
                item.coverage = item.coverage.worst(Coverage::ScriptInterpreterUncovered);
            }
            Some(_) => {}
            None => self.missing_program(&mut item, path),
        }
        self.add(item);
    }

    /// Reads one group as an entry of its own, so that an error in it does not affect the others.
    fn group(&mut self, doc: &Document<'_>, node: &JsonNode<'_>, inherited: &HandlerContext<'_>) {
        self.hook_entry(doc, node, Some(inherited.event), |reader| reader.one_group(doc, node, inherited));
    }

    fn one_group(&mut self, doc: &Document<'_>, node: &JsonNode<'_>, inherited: &HandlerContext<'_>) {
        let Some(members) = node.members() else {
            if node.as_str().is_some() {
                return self.script_of_event(doc, node, inherited);
            }
            return self.wrong(doc, node, "an object with matcher and hooks", Requirement::Strict);
        };
        let inherited = HandlerContext {
            matcher: node.get("matcher").or(inherited.matcher),
            off: inherited.off || is_off(node),
            ..*inherited
        };
        match node.get("hooks") {
            Some(inner) => {
                self.keys(
                    doc,
                    members,
                    &["description", "enabled", "hooks", "matcher", "name", "sequential"],
                );
                match inner.value() {
                    JsonValue::Array(items) => {
                        items.iter().for_each(|item| self.handler(doc, item, &inherited));
                    }
                    JsonValue::Object(_) => self.handler(doc, inner, &inherited),
                    _ => self.wrong(doc, inner, "a list of handlers", Requirement::Strict),
                }
            }
            None => self.handler(doc, node, &inherited),
        }
    }

    /// Reads `[{event, matcher?, command}]` and `[{name, event, action: {…}}]`.
    fn hook_list(&mut self, doc: &Document<'_>, items: &[JsonNode<'_>], origin: Origin) {
        for node in items {
            if node.members().is_none() {
                self.wrong(doc, node, "an object with event", Requirement::Strict);
                continue;
            }
            // Some hosts write `on` and `filter` for `event` and `matcher`.
            let Some(event) = node.get("event").or_else(|| node.get("on")) else {
                // The list contains objects with one member per event.
                self.hooks_value(doc, node, origin);
                continue;
            };
            for event in self.texts(doc, event, Requirement::Strict) {
                let name = event.as_str().unwrap_or_default();
                let matcher = node.get("matcher").or_else(|| node.get("filter"));
                let inherited = HandlerContext { event: name, matcher, off: is_off(node), origin };
                self.hook_entry(doc, node, Some(name), |reader| {
                    reader.refuse_hidden(doc, event.span(), name);
                    reader.known_event(doc, event.span(), name);
                    match node.get("action") {
                        Some(action) if action.members().is_some() => reader.handler(doc, action, &inherited),
                        _ => reader.group(doc, node, &inherited),
                    }
                });
            }
        }
    }
}
