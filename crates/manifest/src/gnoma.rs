//! gnoma's manifest, field by field; keys are compared as Go compares them.

use crate::code::Code;
use crate::coverage::Coverage;
use crate::json::{Member, Node, Value};
use crate::manifest::Meta;
use crate::name::{is_gnoma_name, is_three_numbers};
use crate::prompts::Prompts;
use crate::reader::{Ctx, Doc, Need};
use crate::runs::StartsIn;
use crate::surface::{Fact, Origin, SurfaceItem, SurfaceKind};
use crate::text::escape;

const FILE: &str = "plugin.json";

const TOP: &[&str] =
    &["author", "capabilities", "description", "gnoma_version", "license", "name", "version"];
const CAPABILITIES: &[&str] = &["hooks", "mcp_servers", "skills"];
const HOOK: &[&str] = &["event", "exec", "fail_open", "name", "timeout", "tool_pattern", "type"];
const SERVER: &[&str] = &["args", "command", "env", "name"];

/// Compares a key with a known one as Go's decoder does: without case, U+017F as `s`, U+212A as `k`.
pub(crate) fn same_key(key: &str, known: &str) -> bool {
    let fold = |character: char| match character {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    };
    key.chars().map(fold).eq(known.chars().map(fold))
}

/// The members of an object by known key.
struct Fields<'n, 'd>(Vec<(&'static str, &'n Member<'d>)>);

impl<'n, 'd> Fields<'n, 'd> {
    fn get(&self, key: &str) -> Option<&'n Node<'d>> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, member)| member.node())
    }
}

pub(crate) fn read(ctx: &mut Ctx<'_>, meta: &mut Meta) {
    let Some(file) = ctx.files.get(FILE) else {
        return ctx.error_at(Ctx::whole(FILE), Code::MissingFile, "expected the file plugin.json");
    };
    let Some(doc) = ctx.open(FILE, file.bytes) else { return };
    if doc.root.members().is_none() {
        ctx.wrong(&doc, &doc.root, "an object", Need::Error);
    } else {
        top(ctx, &doc, meta);
    }
    ctx.close(&doc);
}

/// Sorts the members by known key: one variant is read as that key, two are refused.
fn fields<'n, 'd>(
    ctx: &mut Ctx<'_>,
    doc: &Doc<'_>,
    node: &'n Node<'d>,
    known: &[&'static str],
) -> Fields<'n, 'd> {
    let mut found = Fields(Vec::new());
    for member in ctx.object(doc, node, Need::Error) {
        let Some(word) = known.iter().find(|word| same_key(member.key(), word)) else {
            let message = format!("unknown key `{}`", escape(member.key(), 64));
            ctx.unknown_key(doc, member, message);
            continue;
        };
        if let Some((_, first)) = found.0.iter().find(|(other, _)| other == word) {
            let message = format!(
                "expected one of the keys that gnoma takes for `{word}`, got `{}` beside `{}`",
                escape(member.key(), 64),
                escape(first.key(), 64)
            );
            ctx.error(doc, member.key_span(), Code::CaseVariant, message);
            continue;
        }
        if member.key() != *word {
            let message = format!("gnoma takes `{}` for `{word}`", escape(member.key(), 64));
            ctx.notice(doc, member.key_span(), Code::KeyCase, message);
        }
        found.0.push((word, member));
    }
    found
}

/// Says whether Go's `time.ParseDuration` takes the text; whether the figure fits is not looked at.
pub(crate) fn is_go_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    while !rest.is_empty() {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let whole = digits(rest);
        let (_, after) = rest.split_at(whole);
        let part = after.strip_prefix('.').map(digits);
        if whole.saturating_add(part.unwrap_or(0)) == 0 {
            return false;
        }
        let number = whole.saturating_add(part.map_or(0, |part| part.saturating_add(1)));
        let Some((_, unit)) = rest.split_at_checked(number) else { return false };
        let units = ["ns", "us", "\u{b5}s", "\u{3bc}s", "ms", "s", "m", "h"];
        let Some(after) = units.iter().find_map(|known| unit.strip_prefix(known)) else { return false };
        rest = after;
    }
    !text.is_empty() && !text.ends_with(['+', '-'])
}

/// A string; `null` leaves the default, as in Go.
fn string<'n>(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: Option<&'n Node<'_>>) -> &'n str {
    match node {
        Some(node) if !node.is_null() => ctx.text(doc, node, Need::Error).unwrap_or_default(),
        _ => "",
    }
}

fn top(ctx: &mut Ctx<'_>, doc: &Doc<'_>, meta: &mut Meta) {
    let top = fields(ctx, doc, &doc.root, TOP);
    match top.get("name") {
        None => ctx.missing(doc, &doc.root, "name"),
        Some(node) => {
            meta.name = ctx.name(doc, node);
            if let Some(name) = meta.name.as_ref().filter(|name| !is_gnoma_name(name)) {
                let message =
                    format!("expected a lower-case letter, then a-z 0-9 _ -, got `{}`", escape(name, 128));
                ctx.error(doc, node.span(), Code::Name, message);
            }
        }
    }
    match top.get("version") {
        None => ctx.missing(doc, &doc.root, "version"),
        Some(node) => {
            if let Some(text) = ctx.plain(doc, node, Need::Error) {
                meta.version = Some(text.to_owned());
                if !is_three_numbers(text) {
                    let message =
                        format!("expected three numbers with dots and no sign, got `{}`", escape(text, 64));
                    ctx.error(doc, node.span(), Code::Version, message);
                }
            }
        }
    }
    for key in ["description", "author", "license"] {
        let text = string(ctx, doc, top.get(key)).to_owned();
        match key {
            _ if text.is_empty() => {}
            "description" => meta.description = Some(crate::ForeignText::new(text)),
            "author" => meta.author = Some(crate::Person::from_line(&text)),
            _ => meta.license = Some(text),
        }
    }
    let wanted = string(ctx, doc, top.get("gnoma_version")).to_owned();
    if let (Some(node), false) = (top.get("gnoma_version"), wanted.is_empty()) {
        host_version(ctx, doc, node, &wanted);
    }
    Ctx::keep_raw(doc, meta);
    if let Some(node) = top.get("capabilities").filter(|node| !node.is_null()) {
        capabilities(ctx, doc, node);
    }
}

/// `1.2.3` or `>=1.2.3`: the least version of the host.
fn host_version(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>, wanted: &str) {
    let Some(host) = ctx.at.host_version else { return };
    let parts = |text: &str| -> Option<Vec<u64>> {
        let text = text.trim().trim_start_matches('v');
        let text = text.split(['-', '+']).next().unwrap_or(text);
        text.split('.').map(|part| part.parse().ok()).collect()
    };
    let least = wanted.trim().trim_start_matches(">=").trim();
    match (parts(least), parts(host)) {
        (Some(least), Some(host)) if host >= least => {}
        (Some(_), Some(_)) => {
            let message = format!(
                "expected a host of version {} or later, got {}",
                escape(least, 64),
                escape(host, 64)
            );
            ctx.error(doc, node.span(), Code::HostVersion, message);
        }
        _ => {
            let message = format!("expected a version like 1.2.3 or >=1.2.3, got `{}`", escape(wanted, 64));
            ctx.error(doc, node.span(), Code::HostVersion, message);
        }
    }
}

fn capabilities(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>) {
    let capabilities = fields(ctx, doc, node, CAPABILITIES);
    if let Some(node) = capabilities.get("skills").filter(|node| !node.is_null()) {
        for item in ctx.list(doc, node, Need::Error) {
            skill(ctx, doc, item);
        }
    }
    if let Some(node) = capabilities.get("hooks").filter(|node| !node.is_null()) {
        for item in ctx.list(doc, node, Need::Error) {
            hook(ctx, doc, item);
        }
    }
    if let Some(node) = capabilities.get("mcp_servers").filter(|node| !node.is_null()) {
        for item in ctx.list(doc, node, Need::Error) {
            server(ctx, doc, item);
        }
    }
}

/// A glob; the host takes the folder in front of its last part.
fn skill(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>) {
    let Some(path) = ctx.path(doc, node) else { return };
    let folder = match path.path.rsplit_once('/') {
        Some((folder, _)) => folder,
        None if path.glob => "",
        None => "",
    };
    let folder = folder.to_owned();
    if folder.contains(['*', '?', '[']) {
        ctx.glob(doc, node);
    }
    let count = ctx.prompt_files(&folder, Prompts::Agents, Origin::Declared, doc.layer);
    if count == 0 {
        let mut item =
            SurfaceItem::new(SurfaceKind::Prompt, path.path, Ctx::place(doc, node.span()), doc.layer);
        item.facts.insert("prompt", Fact::Text("skill".to_owned()));
        if folder.contains(['*', '?', '[']) {
            item.coverage = Coverage::Unresolved;
        } else if !ctx.has(&folder) {
            let place = item.place.clone();
            ctx.missing_file(&place, &folder);
        }
        ctx.add(item);
    }
}

fn hook(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>) {
    if node.members().is_none() {
        return ctx.wrong(doc, node, "an object with name, event and exec", Need::Error);
    }
    let hook = fields(ctx, doc, node, HOOK);
    let name = string(ctx, doc, hook.get("name")).to_owned();
    let event = string(ctx, doc, hook.get("event")).to_owned();
    let kind = string(ctx, doc, hook.get("type")).to_owned();
    let timeout = string(ctx, doc, hook.get("timeout")).to_owned();
    let pattern = string(ctx, doc, hook.get("tool_pattern")).to_owned();
    let open = hook.get("fail_open").filter(|node| !node.is_null());
    let mut item = SurfaceItem::new(SurfaceKind::Hook, name.clone(), Ctx::place(doc, node.span()), doc.layer);
    if let Some(open) = open {
        match open.value() {
            Value::Bool(open) => {
                item.facts.insert("fail_open", Fact::Text(open.to_string()));
            }
            _ => ctx.wrong(doc, open, "a boolean", Need::Error),
        }
    }
    for (key, text) in [("name", &name), ("event", &event), ("type", &kind)] {
        if let Some(node) = hook.get(key) {
            ctx.refuse_hidden(doc, node.span(), text);
        }
    }
    if let Some(node) = hook.get("timeout").filter(|_| !timeout.is_empty() && !is_go_duration(&timeout)) {
        // The host fails on it when it takes up its hooks, not when it reads the manifest.
        let message = format!("expected a duration like 30s or 1m30s, got `{}`", escape(&timeout, 64));
        ctx.notice(doc, node.span(), Code::Type, message);
    }
    for (key, text) in [("event", event), ("handler", kind), ("timeout", timeout), ("matcher", pattern)] {
        if !text.is_empty() {
            item.facts.insert(key, Fact::Text(text));
        }
    }
    check_words(ctx, doc, node, &mut item);
    match hook.get("exec").filter(|exec| exec.as_str() != Some("") && !exec.is_null()) {
        None => {
            item.coverage = Coverage::Unresolved;
            "a hook without exec".clone_into(&mut item.why);
            ctx.add(item);
        }
        Some(exec) => {
            let Some(path) = ctx.path(doc, exec) else { return };
            item.place = Ctx::place(doc, exec.span());
            ctx.run_file(item, &path.path);
        }
    }
}

fn check_words(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>, item: &mut SurfaceItem) {
    let event = item.fact("event").unwrap_or_default().to_owned();
    if !ctx.dialect.events().contains(&event.as_str()) {
        let message = format!("gnoma documents no event `{}`", escape(&event, 64));
        ctx.notice(doc, node.span(), Code::UnknownEvent, message);
    }
    let kind = item.fact("handler").unwrap_or_default().to_owned();
    if !matches!(kind.as_str(), "command" | "prompt" | "agent") {
        let message = format!("gnoma documents no hook type `{}`", escape(&kind, 64));
        ctx.notice(doc, node.span(), Code::UnknownHandler, message);
        item.coverage = Coverage::Unresolved;
    }
}

fn server(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>) {
    if node.members().is_none() {
        return ctx.wrong(doc, node, "an object with name and command", Need::Error);
    }
    let server = fields(ctx, doc, node, SERVER);
    let name = match server.get("name").filter(|name| !name.is_null()) {
        Some(name) => ctx.plain(doc, name, Need::Error).unwrap_or_default().to_owned(),
        None => String::new(),
    };
    let mut item = SurfaceItem::new(SurfaceKind::McpServer, name, Ctx::place(doc, node.span()), doc.layer);
    item.facts.insert("transport", Fact::Text("stdio".to_owned()));
    if let Some(env) = server.get("env").filter(|env| !env.is_null()) {
        let mut map = std::collections::BTreeMap::new();
        for member in ctx.object(doc, env, Need::Error) {
            ctx.refuse_hidden(doc, member.key_span(), member.key());
            if let Some(value) = ctx.plain(doc, member.node(), Need::Error) {
                map.insert(member.key().to_owned(), value.to_owned());
            }
        }
        item.facts.insert("env", Fact::Map(map));
    }
    let args = match server.get("args").filter(|args| !args.is_null()) {
        Some(args) => ctx.arguments(doc, args),
        None => Vec::new(),
    };
    match server.get("command").filter(|command| command.as_str() != Some("") && !command.is_null()) {
        None => {
            item.coverage = Coverage::Unresolved;
            "a server without command".clone_into(&mut item.why);
            ctx.add(item);
        }
        Some(command) => {
            let Some(path) = ctx.path(doc, command) else { return };
            let argv = core::iter::once(path.path).chain(args).collect();
            ctx.run_argv(item, argv, StartsIn::Root);
        }
    }
}
