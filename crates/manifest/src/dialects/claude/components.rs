//! The smaller components of a Claude plugin: programs, dependencies, channels and settings.

use crate::dialects::Dialect;
use crate::json::{JsonNode, JsonValue};
use crate::manifest::Meta;
use crate::reader::text::escape;
use crate::reader::{Document, Reader, Requirement};
use crate::surface::commands::{StartDirectory, scalar_text};
use crate::surface::{Coverage, ManifestLayer, Origin, SurfaceFact, SurfaceItem, SurfaceKind};

/// Reads the keys `bin` and `workflows`: paths of files or directories.
pub(crate) fn started_key(
    reader: &mut Reader<'_>,
    doc: &Document<'_>,
    node: &JsonNode<'_>,
    kind: SurfaceKind,
) {
    let nodes: Vec<&JsonNode<'_>> = match node.value() {
        JsonValue::Object(members) => members.iter().map(crate::json::JsonMember::node).collect(),
        _ => reader.texts(doc, node, Requirement::Strict),
    };
    for node in nodes {
        let Some(path) = reader.path(doc, node) else { continue };
        let place = doc.place(node.span());
        let mut item = SurfaceItem::new(kind, path.path.clone(), place, doc.layer);
        if path.glob {
            reader.glob(doc, node);
            item.coverage = Coverage::Unresolved;
            reader.add(item);
        // A directory: every file in it can be started.
        } else if reader.files.get(&path.path).is_none() && reader.has(&path.path) {
            reader.started_files(&path.path, kind);
        } else {
            reader.run_file(item, &path.path);
        }
    }
}

/// Reads the names of other plugins: `"name"`, `{name, version}`, `{name: version}`.
pub(crate) fn dependencies(
    reader: &mut Reader<'_>,
    doc: &Document<'_>,
    node: &JsonNode<'_>,
    meta: &mut Meta,
    key: &str,
) {
    let mut found: Vec<(String, &JsonNode<'_>)> = Vec::new();
    match node.value() {
        JsonValue::Array(items) => {
            for item in items {
                match item.as_str().or_else(|| item.get("name")?.as_str()) {
                    Some(name) => found.push((name.to_owned(), item)),
                    None => reader.wrong(doc, item, "a name or an object with name", Requirement::Lenient),
                }
            }
        }
        JsonValue::Object(members) if key == "dependencies" => {
            found.extend(members.iter().map(|member| (member.key().to_owned(), member.node())));
        }
        _ => return,
    }
    for (name, node) in found {
        let mut item =
            SurfaceItem::new(SurfaceKind::Dependency, name.clone(), doc.place(node.span()), doc.layer);
        item.facts.insert("as", SurfaceFact::Text(scalar_text(node)));
        reader.add(item);
        meta.companions.push(name);
    }
}

/// Reads the channels: servers that can write into the conversation.
pub(crate) fn channels(reader: &mut Reader<'_>, doc: &Document<'_>, node: &JsonNode<'_>) {
    for item in reader.list(doc, node, Requirement::Strict) {
        let members = reader.object(doc, item, Requirement::Strict);
        reader.keys(doc, members, &["description", "displayName", "name", "server", "userConfig"]);
        let Some(server) = item.get("server") else {
            if item.members().is_some() {
                reader.missing(doc, item, "server");
            }
            continue;
        };
        let Some(name) = reader.plain(doc, server, Requirement::Strict) else { continue };
        let mut channel = SurfaceItem::new(SurfaceKind::Channel, name, doc.place(server.span()), doc.layer);
        // Replaced by the coverage of the server once all servers are known.
        channel.coverage = Coverage::Unresolved;
        channel.why = format!("the server {}", escape(name, 128));
        reader.add(channel);
        if let Some(config) = item.get("userConfig") {
            reader.settings(doc, config);
        }
    }
}

/// Reads the keys that only Kimi has, both of which lead to prompts.
pub(crate) fn kimi(reader: &mut Reader<'_>, doc: &Document<'_>) {
    if reader.dialect != Dialect::Kimi {
        return;
    }
    if let Some(node) = doc.root.get("skillInstructions") {
        reader.prompt_text(doc, node, "skillInstructions");
    }
    if let Some(node) = doc.root.get("sessionStart") {
        let members = reader.object(doc, node, Requirement::Strict);
        reader.keys(doc, members, &["skill"]);
        if let Some(skill) = node.get("skill")
            && let Some(name) = reader.plain(doc, skill, Requirement::Strict)
        {
            let mut item =
                SurfaceItem::new(SurfaceKind::Prompt, "sessionStart", doc.place(skill.span()), doc.layer);
            item.facts.insert("skill", SurfaceFact::Text(name.to_owned()));
            reader.add(item);
        }
    }
}

impl Reader<'_> {
    /// Adds settings by name. Whether a setting is sensitive is a fact; its value is not read.
    pub(crate) fn settings(&mut self, doc: &Document<'_>, node: &JsonNode<'_>) {
        for member in node.members_or_none() {
            self.refuse_hidden(doc, member.key_span(), member.key());
            let mut item = SurfaceItem::new(
                SurfaceKind::Settings,
                member.key(),
                doc.place(member.node().span()),
                doc.layer,
            );
            let sensitive = member
                .node()
                .get("sensitive")
                .is_some_and(|value| matches!(value.value(), JsonValue::Bool(true)));
            item.facts.insert("sensitive", SurfaceFact::Text(sensitive.to_string()));
            self.add(item);
        }
    }

    /// Reads `settings.json`: its status line and hooks run; everything else is a setting by name.
    pub(crate) fn standard_settings(&mut self, file: &str) {
        let Some(view) = self.files.get(file) else { return };
        let Some(doc) = self.open(file, view.bytes) else { return };
        for member in self.object(&doc, &doc.root, Requirement::Strict) {
            let mut item = SurfaceItem::new(
                SurfaceKind::Settings,
                member.key(),
                doc.place(member.node().span()),
                ManifestLayer::Plugin,
            );
            item.origin = Origin::Found;
            item.facts.insert("value", SurfaceFact::Text(scalar_text(member.node())));
            self.add(item);
            match member.key() {
                "statusLine" | "subagentStatusLine" => self.status_line(&doc, member.node(), member.key()),
                "hooks" => self.hooks_value(&doc, member.node(), Origin::Found),
                _ => {}
            }
        }
        self.close(&doc);
    }

    /// Adds the command of a status line, which the host runs repeatedly.
    fn status_line(&mut self, doc: &Document<'_>, node: &JsonNode<'_>, name: &str) {
        let Some(command) = node.get("command") else { return };
        if let Some(text) = self.plain(doc, command, Requirement::Strict) {
            let mut item = SurfaceItem::new(
                SurfaceKind::StatusLine,
                name,
                doc.place(command.span()),
                ManifestLayer::Plugin,
            );
            item.origin = Origin::Found;
            self.run_text(item, text, StartDirectory::Default);
        }
    }
}
