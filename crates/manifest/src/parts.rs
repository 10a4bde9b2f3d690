//! The smaller components of a Claude plugin: programs, dependencies, channels, settings.

use crate::coverage::Coverage;
use crate::dialect::Dialect;
use crate::json::{Node, Value};
use crate::manifest::Meta;
use crate::reader::{Ctx, Doc, Need};
use crate::runs::{StartsIn, scalar_text};
use crate::surface::{Fact, Layer, Origin, SurfaceItem, SurfaceKind};
use crate::text::escape;

/// Reads the keys `bin` and `workflows`: paths of files or directories.
pub(crate) fn started_key(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>, kind: SurfaceKind) {
    let nodes: Vec<&Node<'_>> = match node.value() {
        Value::Object(members) => members.iter().map(crate::json::Member::node).collect(),
        _ => ctx.texts(doc, node, Need::Error),
    };
    for node in nodes {
        let Some(path) = ctx.path(doc, node) else { continue };
        let place = Ctx::place(doc, node.span());
        let mut item = SurfaceItem::new(kind, path.path.clone(), place, doc.layer);
        if path.glob {
            ctx.glob(doc, node);
            item.coverage = Coverage::Unresolved;
            ctx.add(item);
        } else if ctx.files.get(&path.path).is_none() && ctx.has(&path.path) {
            ctx.started_files(&path.path, kind);
        } else {
            ctx.run_file(item, &path.path);
        }
    }
}

/// Reads the names of other plugins: `"name"`, `{name, version}`, `{name: version}`.
pub(crate) fn dependencies(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>, meta: &mut Meta, key: &str) {
    let mut found: Vec<(String, &Node<'_>)> = Vec::new();
    match node.value() {
        Value::Array(items) => {
            for item in items {
                match item.as_str().or_else(|| item.get("name")?.as_str()) {
                    Some(name) => found.push((name.to_owned(), item)),
                    None => ctx.wrong(doc, item, "a name or an object with name", Need::Notice),
                }
            }
        }
        Value::Object(members) if key == "dependencies" => {
            found.extend(members.iter().map(|member| (member.key().to_owned(), member.node())));
        }
        _ => return,
    }
    for (name, node) in found {
        let mut item =
            SurfaceItem::new(SurfaceKind::Dependency, name.clone(), Ctx::place(doc, node.span()), doc.layer);
        item.facts.insert("as", Fact::Text(scalar_text(node)));
        ctx.add(item);
        meta.companions.push(name);
    }
}

pub(crate) fn channels(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>) {
    for item in ctx.list(doc, node, Need::Error) {
        let members = ctx.object(doc, item, Need::Error);
        ctx.keys(doc, members, &["description", "displayName", "name", "server", "userConfig"]);
        let Some(server) = item.get("server") else {
            if item.members().is_some() {
                ctx.missing(doc, item, "server");
            }
            continue;
        };
        let Some(name) = ctx.plain(doc, server, Need::Error) else { continue };
        let mut channel =
            SurfaceItem::new(SurfaceKind::Channel, name, Ctx::place(doc, server.span()), doc.layer);
        channel.coverage = Coverage::Unresolved;
        channel.why = format!("the server {}", escape(name, 128));
        ctx.add(channel);
        if let Some(config) = item.get("userConfig") {
            ctx.settings(doc, config);
        }
    }
}

pub(crate) fn kimi(ctx: &mut Ctx<'_>, doc: &Doc<'_>) {
    if ctx.dialect != Dialect::Kimi {
        return;
    }
    if let Some(node) = doc.root.get("skillInstructions") {
        ctx.prompt_text(doc, node, "skillInstructions");
    }
    if let Some(node) = doc.root.get("sessionStart") {
        let members = ctx.object(doc, node, Need::Error);
        ctx.keys(doc, members, &["skill"]);
        if let Some(skill) = node.get("skill")
            && let Some(name) = ctx.plain(doc, skill, Need::Error)
        {
            let mut item = SurfaceItem::new(
                SurfaceKind::Prompt,
                "sessionStart",
                Ctx::place(doc, skill.span()),
                doc.layer,
            );
            item.facts.insert("skill", Fact::Text(name.to_owned()));
            ctx.add(item);
        }
    }
}

impl Ctx<'_> {
    /// Adds settings by name. Whether a setting is sensitive is a fact; its value is not read.
    pub(crate) fn settings(&mut self, doc: &Doc<'_>, node: &Node<'_>) {
        for member in node.members().unwrap_or_default() {
            self.refuse_hidden(doc, member.key_span(), member.key());
            let mut item = SurfaceItem::new(
                SurfaceKind::Settings,
                member.key(),
                Self::place(doc, member.node().span()),
                doc.layer,
            );
            let sensitive = member
                .node()
                .get("sensitive")
                .is_some_and(|value| matches!(value.value(), Value::Bool(true)));
            item.facts.insert("sensitive", Fact::Text(sensitive.to_string()));
            self.add(item);
        }
    }

    /// Reads `settings.json`: its status line and hooks run; everything else is a setting by name.
    pub(crate) fn standard_settings(&mut self, file: &str) {
        let Some(view) = self.files.get(file) else { return };
        let Some(doc) = self.open(file, view.bytes) else { return };
        for member in self.object(&doc, &doc.root, Need::Error) {
            let mut item = SurfaceItem::new(
                SurfaceKind::Settings,
                member.key(),
                Self::place(&doc, member.node().span()),
                Layer::Plugin,
            );
            item.origin = Origin::Found;
            item.facts.insert("value", Fact::Text(scalar_text(member.node())));
            self.add(item);
            match member.key() {
                "statusLine" | "subagentStatusLine" => self.status_line(&doc, member.node(), member.key()),
                "hooks" => self.hooks_value(&doc, member.node(), Origin::Found),
                _ => {}
            }
        }
        self.close(&doc);
    }

    fn status_line(&mut self, doc: &Doc<'_>, node: &Node<'_>, name: &str) {
        let Some(command) = node.get("command") else { return };
        if let Some(text) = self.plain(doc, command, Need::Error) {
            let mut item = SurfaceItem::new(
                SurfaceKind::StatusLine,
                name,
                Self::place(doc, command.span()),
                Layer::Plugin,
            );
            item.origin = Origin::Found;
            self.run_text(item, text, StartsIn::Default);
        }
    }
}
