//! Reads MCP servers, language servers and monitors.

use plugward_types::{Address, Part};

use crate::dialects::Dialect;
use crate::error::ManifestCode;
use crate::json::{JsonMember, JsonNode, JsonValue};
use crate::reader::text::escape;
use crate::reader::{Document, Reader, Requirement};
use crate::surface::commands::{StartDirectory, keep_rest, scalar_text};
use crate::surface::prompts::has_ending;
use crate::surface::{Coverage, Origin, SurfaceFact, SurfaceItem, SurfaceKind};

/// The keys of a server that are read on their own; the others are stored as written.
const READ: &[&str] =
    plugward_types::words!["args command cwd env headers headersHelper httpUrl name transport type url",];

/// The list of servers that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerList {
    Mcp,
    Lsp,
    Monitors,
}

impl ServerList {
    const fn wrapper(self) -> &'static str {
        match self {
            Self::Mcp => "mcpServers",
            Self::Lsp => "lspServers",
            Self::Monitors => "monitors",
        }
    }
}

impl Reader<'_> {
    /// Reads the value of `mcpServers`, `lspServers` or `monitors`: a path, a list of paths, or inline servers.
    pub(crate) fn servers_key(&mut self, doc: &Document<'_>, node: &JsonNode<'_>, list: ServerList) {
        match node.value() {
            JsonValue::String(_) => self.servers_path(doc, node, list),
            JsonValue::Array(items) => {
                for item in items {
                    match item.value() {
                        JsonValue::String(_) => self.servers_path(doc, item, list),
                        JsonValue::Object(_) if list == ServerList::Monitors => {
                            self.monitor(doc, item, Origin::Declared);
                        }
                        JsonValue::Object(_) => self.servers_inline(doc, item, list, Origin::Declared),
                        _ => self.wrong(doc, item, "a path or an object", Requirement::Strict),
                    }
                }
            }
            JsonValue::Object(_) => self.servers_inline(doc, node, list, Origin::Declared),
            _ => self.wrong(doc, node, "a path or an object", Requirement::Strict),
        }
    }

    /// Reads the file that a key declares.
    fn servers_path(&mut self, doc: &Document<'_>, node: &JsonNode<'_>, list: ServerList) {
        let Some(path) = self.path(doc, node) else { return };
        let place = doc.place(node.span());
        if path.glob {
            self.glob(doc, node);
            let mut item = SurfaceItem::new(SurfaceKind::McpServer, path.path, place, doc.layer);
            item.coverage = Coverage::Unresolved;
            "a pattern instead of a path".clone_into(&mut item.why);
            return self.add(item);
        }
        // Packaged servers of Claude Desktop: a ZIP archive with its own manifest.
        if has_ending(&path.path, ".mcpb") || has_ending(&path.path, ".dxt") {
            return self.bundle(&place, doc, &path.path);
        }
        if self.visited.contains(&(path.path.clone(), list.wrapper())) {
            return;
        }
        match self.files.get(&path.path) {
            Some(file) => self.servers_file(&path.path, file.bytes, list, Origin::Declared),
            None if self.files.under(&path.path).next().is_some() => {
                self.error(doc, node.span(), ManifestCode::Type, "expected a file, got a directory");
            }
            None => self.missing_file(&place, &path.path),
        }
    }

    /// Adds a packaged server. The pin covers the archive; its contents are not inspected.
    fn bundle(&mut self, place: &crate::ManifestPlace, doc: &Document<'_>, path: &str) {
        let mut item = SurfaceItem::new(SurfaceKind::McpServer, path, place.clone(), doc.layer);
        item.coverage = Coverage::Unresolved;
        item.why = format!("the archive {}", escape(path, 256));
        item.files = vec![path.to_owned()];
        if !self.has(path) {
            self.missing_program(&mut item, path);
        }
        self.add(item);
    }

    /// Reads the standard file, if it exists and was not read before.
    pub(crate) fn standard_servers(&mut self, file: &str, list: ServerList) {
        let fresh = !self.visited.contains(&(file.to_owned(), list.wrapper()));
        if let Some(view) = self.files.get(file).filter(|_| fresh) {
            self.servers_file(file, view.bytes, list, Origin::Found);
        }
    }

    fn servers_file(&mut self, file: &str, bytes: &[u8], list: ServerList, origin: Origin) {
        self.visited.insert((file.to_owned(), list.wrapper()));
        let Some(doc) = self.open(file, bytes) else { return };
        match doc.root.value() {
            JsonValue::Array(items) if list == ServerList::Monitors => {
                items.iter().for_each(|item| self.monitor(&doc, item, origin));
            }
            JsonValue::Object(_) => self.servers_inline(&doc, &doc.root, list, origin),
            _ => self.wrong(&doc, &doc.root, "an object", Requirement::Strict),
        }
        self.close(&doc);
    }

    /// Reads `{mcpServers: {…}}`, or the map of servers without this key.
    fn servers_inline(&mut self, doc: &Document<'_>, node: &JsonNode<'_>, list: ServerList, origin: Origin) {
        let members = node.members_or_none();
        let wrapped = node.get(list.wrapper());
        if let Some(inner) = wrapped {
            self.keys(doc, members, &["$schema", list.wrapper(), "inputs"]);
            match inner.value() {
                JsonValue::Array(items) if list == ServerList::Monitors => {
                    items.iter().for_each(|item| self.monitor(doc, item, origin));
                }
                _ => {
                    for member in self.object(doc, inner, Requirement::Strict) {
                        self.server(doc, member, list, origin);
                    }
                }
            }
            return;
        }
        for member in members {
            // A map without `mcpServers` can also contain other objects, which are not servers.
            let is_server = member.node().members().is_some_and(|keys| {
                keys.iter().any(|key| matches!(key.key(), "command" | "url" | "type" | "httpUrl" | "args"))
            });
            if is_server || member.node().members().is_some_and(<[JsonMember<'_>]>::is_empty) {
                self.server(doc, member, list, origin);
            } else if member.key() != "$schema" {
                let message = format!(
                    "unknown key `{}`: not a server with command, url or type",
                    escape(member.key(), 64)
                );
                self.unknown_key(doc, member, message);
            }
        }
    }

    /// Adds one server of the list.
    fn server(&mut self, doc: &Document<'_>, member: &JsonMember<'_>, list: ServerList, origin: Origin) {
        self.refuse_hidden(doc, member.key_span(), member.key());
        let node = member.node();
        if node.members().is_none() {
            return self.wrong(doc, node, "an object with command or url", Requirement::Strict);
        }
        match list {
            ServerList::Mcp => {
                self.mcp(doc, node, member.key(), origin);
            }
            ServerList::Lsp => self.program(doc, node, SurfaceKind::LspServer, member.key(), origin),
            ServerList::Monitors => self.monitor(doc, node, origin),
        }
    }

    /// Adds one MCP server, local or remote.
    pub(crate) fn mcp(&mut self, doc: &Document<'_>, node: &JsonNode<'_>, name: &str, origin: Origin) {
        // Gemini CLI writes `httpUrl` for streamable HTTP.
        let url = node.get("url").or_else(|| node.get("httpUrl"));
        self.headers_helper(doc, node, name, origin);
        if self.dialect == Dialect::Gemini
            && let Some(member) =
                node.members().and_then(|all| all.iter().find(|member| member.key() == "trust"))
        {
            self.notice(
                doc,
                member.key_span(),
                ManifestCode::NotHonored,
                "the host ignores `trust` in an extension",
            );
        }
        match (url, node.get("command")) {
            (None, Some(_)) => self.program(doc, node, SurfaceKind::McpServer, name, origin),
            (Some(url), command) => {
                let Some(text) = self.plain(doc, url, Requirement::Strict).map(ToOwned::to_owned) else {
                    return;
                };
                let mut item = self.server_item(doc, node, SurfaceKind::McpServer, name, origin);
                let address = Address::parse(&text);
                let transport = item.fact("transport").unwrap_or_else(|| transport_of(&address)).to_owned();
                item.facts.insert("transport", SurfaceFact::Text(transport));
                item.facts.insert("url", SurfaceFact::Text(text.clone()));
                item.coverage = Coverage::RemoteUrl;
                item.why = escape(address.host_text().unwrap_or(&text), 256);
                item.run = vec![text];
                self.add(item);
                // The text does not show which of the two the host uses, so both are added.
                if command.is_some() {
                    self.program(doc, node, SurfaceKind::McpServer, name, origin);
                }
            }
            (None, None) => {
                let mut item = self.server_item(doc, node, SurfaceKind::McpServer, name, origin);
                item.coverage = Coverage::Unresolved;
                "neither command nor url".clone_into(&mut item.why);
                self.add(item);
            }
        }
    }

    /// Returns an item with the properties of local and remote servers.
    fn server_item(
        &mut self,
        doc: &Document<'_>,
        node: &JsonNode<'_>,
        kind: SurfaceKind,
        name: &str,
        origin: Origin,
    ) -> SurfaceItem {
        let mut item = SurfaceItem::new(kind, name, doc.place(node.span()), doc.layer);
        item.origin = origin;
        item.off = node.get("disabled").is_some_and(|value| matches!(value.value(), JsonValue::Bool(true)));
        if let Some(transport) = node.get("type").or_else(|| node.get("transport"))
            && let Some(text) = self.plain(doc, transport, Requirement::Strict)
        {
            item.facts.insert("transport", SurfaceFact::Text(text.to_owned()));
        }
        if let Some(cwd) = node.get("cwd").and_then(|cwd| self.plain(doc, cwd, Requirement::Strict)) {
            item.facts.insert("cwd", SurfaceFact::Text(cwd.to_owned()));
        }
        for key in ["env", "headers"] {
            if let Some(map) = node.get(key) {
                let map = self.text_map(doc, map);
                for value in map.values() {
                    note_variables(&mut item, value, self.dialect);
                }
                item.facts.insert(if key == "env" { "env" } else { "headers" }, SurfaceFact::Map(map));
            }
        }
        keep_rest(&mut item, node, READ);
        item
    }

    /// Adds a server that is started as a program with arguments, without a shell.
    fn program(
        &mut self,
        doc: &Document<'_>,
        node: &JsonNode<'_>,
        kind: SurfaceKind,
        name: &str,
        origin: Origin,
    ) {
        let Some(command) = node.get("command") else {
            return self.missing(doc, node, "command");
        };
        let mut argv = match command.value() {
            JsonValue::Array(_) => self.arguments(doc, command),
            _ => match self.plain(doc, command, Requirement::Strict) {
                Some(program) => vec![program.to_owned()],
                None => return,
            },
        };
        if let Some(args) = node.get("args") {
            argv.extend(self.arguments(doc, args));
        }
        let mut item = self.server_item(doc, node, kind, name, origin);
        item.facts.entry("transport").or_insert_with(|| SurfaceFact::Text("stdio".to_owned()));
        let starts_in = self.starts_in(node);
        self.run_argv(item, argv, starts_in);
    }

    /// Adds the `headersHelper` command of a server or a catalog entry.
    pub(crate) fn headers_helper(
        &mut self,
        doc: &Document<'_>,
        node: &JsonNode<'_>,
        name: &str,
        origin: Origin,
    ) {
        let Some(helper) = node.get("headersHelper") else { return };
        if let Some(text) = self.plain(doc, helper, Requirement::Strict) {
            let mut item =
                SurfaceItem::new(SurfaceKind::HeadersHelper, name, doc.place(helper.span()), doc.layer);
            item.origin = origin;
            self.run_text(item, text, StartDirectory::Default);
        }
    }

    /// Reads a monitor: `{name, command, description, when}`.
    fn monitor(&mut self, doc: &Document<'_>, node: &JsonNode<'_>, origin: Origin) {
        let members = self.object(doc, node, Requirement::Strict);
        self.keys(
            doc,
            members,
            &["command", "cwd", "description", "enabled", "env", "name", "timeout", "when"],
        );
        let Some(command) = node.get("command") else {
            if node.members().is_some() {
                self.missing(doc, node, "command");
            }
            return;
        };
        let name = node
            .get("name")
            .and_then(|name| self.plain(doc, name, Requirement::Strict))
            .unwrap_or_default()
            .to_owned();
        if let Some(text) = self.plain(doc, command, Requirement::Strict) {
            let mut item = SurfaceItem::new(SurfaceKind::Monitor, name, doc.place(command.span()), doc.layer);
            item.origin = origin;
            keep_rest(&mut item, node, &["command", "name", "description"]);
            let starts_in = self.starts_in(node);
            self.run_text(item, text, starts_in);
        }
    }

    /// Reads servers from the keys `mcp` and `mcp_servers`, which resemble `mcpServers`.
    pub(crate) fn misnamed_servers(&mut self, doc: &Document<'_>) {
        for member in doc.root.members_or_none() {
            if matches!(member.key(), "mcp" | "mcp_servers") {
                let message = format!("unknown key `{}` (did you mean `mcpServers`?)", member.key());
                self.unknown_key(doc, member, message);
                self.loose_servers(doc, member.node());
            }
        }
    }

    /// Reads `mcp: {server: path}`, `mcp: [path]` and `mcp_servers: [{name, command, args, env}]`.
    ///
    /// No host documents these keys, but a host that does read them would start the servers, so they are shown.
    fn loose_servers(&mut self, doc: &Document<'_>, node: &JsonNode<'_>) {
        match node.value() {
            JsonValue::Array(items) => {
                for item in items {
                    if item.as_str().is_some() {
                        self.servers_path(doc, item, ServerList::Mcp);
                        continue;
                    }
                    if item.members().is_none() {
                        self.wrong(doc, item, "a path or an object with command", Requirement::Strict);
                        continue;
                    }
                    let name = item.get("name").map(scalar_text).unwrap_or_default();
                    self.mcp(doc, item, &name, Origin::Declared);
                }
            }
            _ => {
                for member in self.object(doc, node, Requirement::Strict) {
                    match member.node().value() {
                        JsonValue::String(_) => self.servers_path(doc, member.node(), ServerList::Mcp),
                        JsonValue::Object(_) => self.server(doc, member, ServerList::Mcp, Origin::Declared),
                        _ => self.wrong(doc, member.node(), "a path or an object", Requirement::Strict),
                    }
                }
            }
        }
    }
}

/// Returns the transport that the scheme of a URL implies.
fn transport_of(address: &Address) -> &'static str {
    if matches!(address.scheme(), Some("ws" | "wss")) { "ws" } else { "http" }
}

/// Adds the names of the variables that the host expands in a value.
pub(crate) fn note_variables(item: &mut SurfaceItem, value: &str, dialect: Dialect) {
    let mut rest = value;
    while let Some((_, after)) = rest.split_once('$') {
        let inner = after.strip_prefix('{').unwrap_or(after);
        let length = inner
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
            .count();
        let name = inner.part(..length);
        let named = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        if named && !dialect.root_variables().contains(&name) {
            item.reads_env.push(name.to_owned());
        }
        rest = after;
    }
    item.reads_env.sort();
    item.reads_env.dedup();
}
