//! Reads the manifest of gnoma; keys are compared as Go compares them.
//!
//! gnoma is written in Go, whose decoder ignores the case of keys. Two spellings of one key are therefore a duplicate.

use crate::code::Code;
use crate::coverage::Coverage;
use crate::json::{Member, Node, Value};
use crate::manifest::Meta;
use crate::name::{is_gnoma_name, is_three_numbers};
use crate::prompts::Prompts;
use crate::reader::{Ctx, Doc, Need};
use crate::runs::StartsIn;
use crate::surface::{Fact, Origin, SurfaceItem, SurfaceKind};
use crate::text::{ForeignText, escape};

const FILE: &str = "plugin.json";

pub(crate) const TOP: &[&str] =
    &["author", "capabilities", "description", "gnoma_version", "license", "name", "version"];
const CAPABILITIES: &[&str] = &["hooks", "mcp_servers", "skills"];
const HOOK: &[&str] = &[
    "args",
    "env",
    "event",
    "exec",
    "fail_open",
    "name",
    "on_failure",
    "phase",
    "priority",
    "timeout",
    "tool_pattern",
    "type",
];
const SERVER: &[&str] = &["args", "command", "env", "name"];

/// Returns `true` if Go's decoder accepts a key for a known one: it ignores case and folds U+017F to `s`, U+212A to
/// `k`.
pub(crate) fn same_key(key: &str, known: &str) -> bool {
    let fold = |character: char| match character {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    };
    key.chars().map(fold).eq(known.chars().map(fold))
}

/// The members of an object, each with the known key that it stands for.
pub(crate) struct Fields<'n, 'd>(Vec<(&'static str, &'n Member<'d>)>);

impl<'n, 'd> Fields<'n, 'd> {
    /// Returns a value that is not `null`, which Go treats like a missing key.
    fn present(&self, key: &str) -> Option<&'n Node<'d>> {
        self.get(key).filter(|node| !node.is_null())
    }

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

/// Assigns the members to the known keys. One variant of a key is read, two are refused.
pub(crate) fn fields<'n, 'd>(
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
                "expected one of the keys that gnoma reads as `{word}`, got `{}` and `{}`",
                escape(member.key(), 64),
                escape(first.key(), 64)
            );
            ctx.error(doc, member.key_span(), Code::CaseVariant, message);
            continue;
        }
        if member.key() != *word {
            let message = format!("gnoma reads `{}` as `{word}`", escape(member.key(), 64));
            ctx.notice(doc, member.key_span(), Code::KeyCase, message);
        }
        found.0.push((word, member));
    }
    found
}

/// Returns `true` if Go's `time.ParseDuration` accepts the text. The range of the number is not checked.
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

/// Returns a string; `null` means the default, as in Go.
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
                    format!("expected a lowercase letter, then a-z 0-9 _ -, got `{}`", escape(name, 128));
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
                    let message = format!(
                        "expected three numbers with dots and without a sign, got `{}`",
                        escape(text, 64)
                    );
                    ctx.error(doc, node.span(), Code::Version, message);
                }
            }
        }
    }
    for key in ["description", "author", "license"] {
        let text = string(ctx, doc, top.get(key)).to_owned();
        match key {
            _ if text.is_empty() => {}
            "description" => meta.description = Some(ForeignText::new(text)),
            "author" => meta.author = Some(crate::Person::from_line(&text)),
            _ => meta.license = Some(text),
        }
    }
    let wanted = string(ctx, doc, top.get("gnoma_version")).to_owned();
    if let (Some(node), false) = (top.get("gnoma_version"), wanted.is_empty()) {
        host_version(ctx, doc, node, &wanted);
    }
    Ctx::keep_raw(doc, meta);
    if let Some(node) = top.present("capabilities") {
        capabilities(ctx, doc, node);
    }
}

/// Checks the minimum version of the host, `1.2.3` or `>=1.2.3`.
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
    if let Some(node) = capabilities.present("skills") {
        for item in ctx.list(doc, node, Need::Error) {
            skill(ctx, doc, item);
        }
    }
    hooks(ctx, doc, &capabilities);
    if let Some(node) = capabilities.present("mcp_servers") {
        for item in ctx.list(doc, node, Need::Error) {
            server(ctx, doc, item);
        }
    }
}

pub(crate) fn hooks(ctx: &mut Ctx<'_>, doc: &Doc<'_>, fields: &Fields<'_, '_>) {
    if let Some(node) = fields.present("hooks") {
        for item in ctx.list(doc, node, Need::Error) {
            let named = |member: &&Member<'_>| same_key(member.key(), "event");
            let mut events = item.members().unwrap_or_default().iter().filter(named);
            // With two spellings, either could be the event, so none is reported.
            let event = events.next().filter(|_| events.next().is_none());
            let event = event.and_then(|member| member.node().as_str());
            ctx.hook_entry(doc, item, event, |ctx| hook(ctx, doc, item));
        }
    }
}

/// Reads a glob; the host uses the directory before its last component.
fn skill(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>) {
    let Some(path) = ctx.path(doc, node) else { return };
    let folder = path.path.rsplit_once('/').unwrap_or_default().0.to_owned();
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
    let name = string(ctx, doc, hook.get("name"));
    let mut item = SurfaceItem::new(SurfaceKind::Hook, name, Ctx::place(doc, node.span()), doc.layer);
    for (key, fact) in [
        ("event", "event"),
        ("type", "handler"),
        ("timeout", "timeout"),
        ("tool_pattern", "matcher"),
        ("phase", "phase"),
        ("on_failure", "on_failure"),
    ] {
        let text = string(ctx, doc, hook.get(key));
        if !text.is_empty() {
            item.facts.insert(fact, Fact::Text(text.to_owned()));
        }
    }
    for key in ["name", "event", "type"] {
        if let Some((node, text)) = hook.get(key).and_then(|node| Some((node, node.as_str()?))) {
            ctx.refuse_hidden(doc, node.span(), text);
        }
    }
    if let Some(open) = hook.present("fail_open") {
        match open.value() {
            Value::Bool(open) => {
                item.facts.insert("fail_open", Fact::Text(open.to_string()));
            }
            _ => ctx.wrong(doc, open, "a boolean", Need::Error),
        }
    }
    if let Some(priority) = hook.present("priority") {
        let number = if let Value::Number(number) = priority.value() { number.as_integer() } else { None };
        match number {
            Some(number) => {
                item.facts.insert("priority", Fact::Text(number.to_string()));
            }
            None => ctx.wrong(doc, priority, "an integer", Need::Error),
        }
    }
    if let Some(env) = hook.present("env") {
        item.facts.insert("env", Fact::List(ctx.arguments(doc, env)));
    }
    let timeout = item.fact("timeout").unwrap_or_default();
    if let Some(node) = hook.get("timeout").filter(|_| !timeout.is_empty() && !is_go_duration(timeout)) {
        // The host reports this when it registers its hooks, not when it reads the manifest.
        let message = format!("expected a duration like 30s or 1m30s, got `{}`", escape(timeout, 64));
        ctx.notice(doc, node.span(), Code::Type, message);
    }
    check_words(ctx, doc, node, &mut item);
    run(ctx, doc, node, &hook, item);
}

/// Reads what a hook runs or asks: a text, a file of the plugin, or an argument list.
fn run(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>, hook: &Fields<'_, '_>, mut item: SurfaceItem) {
    let is_prompt = matches!(item.fact("handler"), Some("prompt" | "agent"));
    let exec = hook.present("exec").filter(|exec| exec.as_str() != Some(""));
    let args = hook.present("args").filter(|args| args.items().is_none_or(|args| !args.is_empty()));
    if let Some(place) = exec.or(args) {
        item.place = Ctx::place(doc, place.span());
    }
    let mut argv = args.map(|args| ctx.arguments(doc, args)).unwrap_or_default();
    match (exec, args) {
        (None, None) if !ctx.standalone => {
            item.coverage = Coverage::Unresolved;
            "a hook without exec".clone_into(&mut item.why);
            "a hook without exec".clone_into(&mut item.why);
        }
        (None, args) if is_prompt || args.is_none() => ctx.missing(doc, node, "exec"),
        (Some(_), Some(args)) if is_prompt || ctx.standalone => {
            ctx.error(doc, args.span(), Code::Type, "expected `exec` or `args`, got both");
        }
        (Some(exec), _) if is_prompt => {
            if let Some(text) = ctx.text(doc, exec, Need::Error) {
                item.text = Some(ForeignText::new(text.to_owned()));
                ctx.add(item);
            }
        }
        (Some(exec), _) if ctx.standalone => {
            if let Some(text) = ctx.plain(doc, exec, Need::Error) {
                ctx.run_text(item, text, StartsIn::Default);
            }
        }
        _ if ctx.standalone => ctx.run_argv(item, argv, StartsIn::Default),
        (exec, args) => {
            // The program is a file of the plugin, whether `exec` or `args` names it.
            let Some(program) = exec.or_else(|| args?.items()?.first()) else { return };
            let Some(path) = ctx.path(doc, program) else { return };
            if args.is_none() {
                return ctx.run_file(item, &path.path);
            }
            let named = usize::from(exec.is_none()).min(argv.len());
            argv.splice(..named, [path.path]);
            ctx.run_argv(item, argv, StartsIn::Root);
        }
    }
}

fn check_words(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>, item: &mut SurfaceItem) {
    let event = item.fact("event").unwrap_or_default().to_owned();
    if !ctx.dialect.events().contains(&event.as_str()) {
        let message = format!("gnoma does not document the event `{}`", escape(&event, 64));
        ctx.notice(doc, node.span(), Code::UnknownEvent, message);
    }
    let kind = item.fact("handler").unwrap_or_default().to_owned();
    if !matches!(kind.as_str(), "command" | "prompt" | "agent") {
        let message = format!("gnoma does not document the hook type `{}`", escape(&kind, 64));
        ctx.notice(doc, node.span(), Code::UnknownHandler, message);
        item.coverage = Coverage::Unresolved;
    }
}

fn server(ctx: &mut Ctx<'_>, doc: &Doc<'_>, node: &Node<'_>) {
    if node.members().is_none() {
        return ctx.wrong(doc, node, "an object with name and command", Need::Error);
    }
    let server = fields(ctx, doc, node, SERVER);
    let name = match server.present("name") {
        Some(name) => ctx.plain(doc, name, Need::Error).unwrap_or_default().to_owned(),
        None => String::new(),
    };
    let mut item = SurfaceItem::new(SurfaceKind::McpServer, name, Ctx::place(doc, node.span()), doc.layer);
    item.facts.insert("transport", Fact::Text("stdio".to_owned()));
    if let Some(env) = server.present("env") {
        let mut map = std::collections::BTreeMap::new();
        for member in ctx.object(doc, env, Need::Error) {
            ctx.refuse_hidden(doc, member.key_span(), member.key());
            if let Some(value) = ctx.plain(doc, member.node(), Need::Error) {
                map.insert(member.key().to_owned(), value.to_owned());
            }
        }
        item.facts.insert("env", Fact::Map(map));
    }
    let args = match server.present("args") {
        Some(args) => ctx.arguments(doc, args),
        None => Vec::new(),
    };
    match server.present("command").filter(|command| command.as_str() != Some("")) {
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
