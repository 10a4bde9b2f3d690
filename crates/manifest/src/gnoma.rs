//! Reads the manifest of gnoma; keys are compared as Go compares them.
//!
//! gnoma is written in Go, whose decoder ignores the case of keys. Two spellings of one key are therefore a duplicate.

use crate::code::ManifestCode;
use crate::coverage::Coverage;
use crate::json::{JsonMember, JsonNode, JsonValue};
use crate::manifest::Meta;
use crate::name::{is_gnoma_name, is_three_numbers};
use crate::prompts::PromptKind;
use crate::reader::{Document, Reader, Requirement};
use crate::runs::StartDirectory;
use crate::surface::{Origin, SurfaceFact, SurfaceItem, SurfaceKind};
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
pub(crate) struct Fields<'n, 'd>(Vec<(&'static str, &'n JsonMember<'d>)>);

impl<'n, 'd> Fields<'n, 'd> {
    /// Returns a value that is not `null`, which Go treats like a missing key.
    fn present(&self, key: &str) -> Option<&'n JsonNode<'d>> {
        self.get(key).filter(|node| !node.is_null())
    }

    fn get(&self, key: &str) -> Option<&'n JsonNode<'d>> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, member)| member.node())
    }
}

pub(crate) fn read(reader: &mut Reader<'_>, meta: &mut Meta) {
    let Some(file) = reader.files.get(FILE) else {
        return reader.error_at(
            Reader::whole(FILE),
            ManifestCode::MissingFile,
            "expected the file plugin.json",
        );
    };
    let Some(doc) = reader.open(FILE, file.bytes) else { return };
    if doc.root.members().is_none() {
        reader.wrong(&doc, &doc.root, "an object", Requirement::Strict);
    } else {
        top(reader, &doc, meta);
    }
    reader.close(&doc);
}

/// Assigns the members to the known keys. One variant of a key is read, two are refused.
pub(crate) fn fields<'n, 'd>(
    reader: &mut Reader<'_>,
    doc: &Document<'_>,
    node: &'n JsonNode<'d>,
    known: &[&'static str],
) -> Fields<'n, 'd> {
    let mut found = Fields(Vec::new());
    for member in reader.object(doc, node, Requirement::Strict) {
        let Some(word) = known.iter().find(|word| same_key(member.key(), word)) else {
            let message = format!("unknown key `{}`", escape(member.key(), 64));
            reader.unknown_key(doc, member, message);
            continue;
        };
        if let Some((_, first)) = found.0.iter().find(|(other, _)| other == word) {
            let message = format!(
                "expected one of the keys that gnoma reads as `{word}`, got `{}` and `{}`",
                escape(member.key(), 64),
                escape(first.key(), 64)
            );
            reader.error(doc, member.key_span(), ManifestCode::CaseVariant, message);
            continue;
        }
        if member.key() != *word {
            let message = format!("gnoma reads `{}` as `{word}`", escape(member.key(), 64));
            reader.notice(doc, member.key_span(), ManifestCode::KeyCase, message);
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
fn string<'n>(reader: &mut Reader<'_>, doc: &Document<'_>, node: Option<&'n JsonNode<'_>>) -> &'n str {
    match node {
        Some(node) if !node.is_null() => reader.text(doc, node, Requirement::Strict).unwrap_or_default(),
        _ => "",
    }
}

fn top(reader: &mut Reader<'_>, doc: &Document<'_>, meta: &mut Meta) {
    let top = fields(reader, doc, &doc.root, TOP);
    match top.get("name") {
        None => reader.missing(doc, &doc.root, "name"),
        Some(node) => {
            meta.name = reader.name(doc, node);
            if let Some(name) = meta.name.as_ref().filter(|name| !is_gnoma_name(name)) {
                let message =
                    format!("expected a lowercase letter, then a-z 0-9 _ -, got `{}`", escape(name, 128));
                reader.error(doc, node.span(), ManifestCode::Name, message);
            }
        }
    }
    match top.get("version") {
        None => reader.missing(doc, &doc.root, "version"),
        Some(node) => {
            if let Some(text) = reader.plain(doc, node, Requirement::Strict) {
                meta.version = Some(text.to_owned());
                if !is_three_numbers(text) {
                    let message = format!(
                        "expected three numbers with dots and without a sign, got `{}`",
                        escape(text, 64)
                    );
                    reader.error(doc, node.span(), ManifestCode::Version, message);
                }
            }
        }
    }
    for key in ["description", "author", "license"] {
        let text = string(reader, doc, top.get(key)).to_owned();
        match key {
            _ if text.is_empty() => {}
            "description" => meta.description = Some(ForeignText::new(text)),
            "author" => meta.author = Some(crate::Contact::from_line(&text)),
            _ => meta.license = Some(text),
        }
    }
    let wanted = string(reader, doc, top.get("gnoma_version")).to_owned();
    if let (Some(node), false) = (top.get("gnoma_version"), wanted.is_empty()) {
        host_version(reader, doc, node, &wanted);
    }
    Reader::keep_raw(doc, meta);
    if let Some(node) = top.present("capabilities") {
        capabilities(reader, doc, node);
    }
}

/// Checks the minimum version of the host, `1.2.3` or `>=1.2.3`.
fn host_version(reader: &mut Reader<'_>, doc: &Document<'_>, node: &JsonNode<'_>, wanted: &str) {
    let Some(host) = reader.at.host_version else { return };
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
            reader.error(doc, node.span(), ManifestCode::HostVersion, message);
        }
        _ => {
            let message = format!("expected a version like 1.2.3 or >=1.2.3, got `{}`", escape(wanted, 64));
            reader.error(doc, node.span(), ManifestCode::HostVersion, message);
        }
    }
}

fn capabilities(reader: &mut Reader<'_>, doc: &Document<'_>, node: &JsonNode<'_>) {
    let capabilities = fields(reader, doc, node, CAPABILITIES);
    if let Some(node) = capabilities.present("skills") {
        for item in reader.list(doc, node, Requirement::Strict) {
            skill(reader, doc, item);
        }
    }
    hooks(reader, doc, &capabilities);
    if let Some(node) = capabilities.present("mcp_servers") {
        for item in reader.list(doc, node, Requirement::Strict) {
            server(reader, doc, item);
        }
    }
}

pub(crate) fn hooks(reader: &mut Reader<'_>, doc: &Document<'_>, fields: &Fields<'_, '_>) {
    if let Some(node) = fields.present("hooks") {
        for item in reader.list(doc, node, Requirement::Strict) {
            let named = |member: &&JsonMember<'_>| same_key(member.key(), "event");
            let mut events = item.members().unwrap_or_default().iter().filter(named);
            // With two spellings, either could be the event, so none is reported.
            let event = events.next().filter(|_| events.next().is_none());
            let event = event.and_then(|member| member.node().as_str());
            reader.hook_entry(doc, item, event, |reader| hook(reader, doc, item));
        }
    }
}

/// Reads a glob; the host uses the directory before its last component.
fn skill(reader: &mut Reader<'_>, doc: &Document<'_>, node: &JsonNode<'_>) {
    let Some(path) = reader.path(doc, node) else { return };
    let directory = path.path.rsplit_once('/').unwrap_or_default().0.to_owned();
    if directory.contains(['*', '?', '[']) {
        reader.glob(doc, node);
    }
    let count = reader.prompt_files(&directory, PromptKind::Agents, Origin::Declared, doc.layer);
    if count == 0 {
        let mut item =
            SurfaceItem::new(SurfaceKind::Prompt, path.path, Reader::place(doc, node.span()), doc.layer);
        item.facts.insert("prompt", SurfaceFact::Text("skill".to_owned()));
        if directory.contains(['*', '?', '[']) {
            item.coverage = Coverage::Unresolved;
        } else if !reader.has(&directory) {
            let place = item.place.clone();
            reader.missing_file(&place, &directory);
        }
        reader.add(item);
    }
}

fn hook(reader: &mut Reader<'_>, doc: &Document<'_>, node: &JsonNode<'_>) {
    if node.members().is_none() {
        return reader.wrong(doc, node, "an object with name, event and exec", Requirement::Strict);
    }
    let hook = fields(reader, doc, node, HOOK);
    let name = string(reader, doc, hook.get("name"));
    let mut item = SurfaceItem::new(SurfaceKind::Hook, name, Reader::place(doc, node.span()), doc.layer);
    for (key, fact) in [
        ("event", "event"),
        ("type", "handler"),
        ("timeout", "timeout"),
        ("tool_pattern", "matcher"),
        ("phase", "phase"),
        ("on_failure", "on_failure"),
    ] {
        let text = string(reader, doc, hook.get(key));
        if !text.is_empty() {
            item.facts.insert(fact, SurfaceFact::Text(text.to_owned()));
        }
    }
    for key in ["name", "event", "type"] {
        if let Some((node, text)) = hook.get(key).and_then(|node| Some((node, node.as_str()?))) {
            reader.refuse_hidden(doc, node.span(), text);
        }
    }
    if let Some(open) = hook.present("fail_open") {
        match open.value() {
            JsonValue::Bool(open) => {
                item.facts.insert("fail_open", SurfaceFact::Text(open.to_string()));
            }
            _ => reader.wrong(doc, open, "a boolean", Requirement::Strict),
        }
    }
    if let Some(priority) = hook.present("priority") {
        let number =
            if let JsonValue::Number(number) = priority.value() { number.as_integer() } else { None };
        match number {
            Some(number) => {
                item.facts.insert("priority", SurfaceFact::Text(number.to_string()));
            }
            None => reader.wrong(doc, priority, "an integer", Requirement::Strict),
        }
    }
    if let Some(env) = hook.present("env") {
        item.facts.insert("env", SurfaceFact::List(reader.arguments(doc, env)));
    }
    let timeout = item.fact("timeout").unwrap_or_default();
    if let Some(node) = hook.get("timeout").filter(|_| !timeout.is_empty() && !is_go_duration(timeout)) {
        // The host reports this when it registers its hooks, not when it reads the manifest.
        let message = format!("expected a duration like 30s or 1m30s, got `{}`", escape(timeout, 64));
        reader.notice(doc, node.span(), ManifestCode::Type, message);
    }
    check_words(reader, doc, node, &mut item);
    run(reader, doc, node, &hook, item);
}

/// Reads what a hook runs or asks: a text, a file of the plugin, or an argument list.
fn run(
    reader: &mut Reader<'_>,
    doc: &Document<'_>,
    node: &JsonNode<'_>,
    hook: &Fields<'_, '_>,
    mut item: SurfaceItem,
) {
    let is_prompt = matches!(item.fact("handler"), Some("prompt" | "agent"));
    let exec = hook.present("exec").filter(|exec| exec.as_str() != Some(""));
    let args = hook.present("args").filter(|args| args.items().is_none_or(|args| !args.is_empty()));
    if let Some(place) = exec.or(args) {
        item.place = Reader::place(doc, place.span());
    }
    let mut argv = args.map(|args| reader.arguments(doc, args)).unwrap_or_default();
    match (exec, args) {
        (None, None) if !reader.standalone => {
            item.coverage = Coverage::Unresolved;
            "a hook without exec".clone_into(&mut item.why);
            "a hook without exec".clone_into(&mut item.why);
        }
        (None, args) if is_prompt || args.is_none() => reader.missing(doc, node, "exec"),
        (Some(_), Some(args)) if is_prompt || reader.standalone => {
            reader.error(doc, args.span(), ManifestCode::Type, "expected `exec` or `args`, got both");
        }
        (Some(exec), _) if is_prompt => {
            if let Some(text) = reader.text(doc, exec, Requirement::Strict) {
                item.text = Some(ForeignText::new(text.to_owned()));
                reader.add(item);
            }
        }
        (Some(exec), _) if reader.standalone => {
            if let Some(text) = reader.plain(doc, exec, Requirement::Strict) {
                reader.run_text(item, text, StartDirectory::Default);
            }
        }
        _ if reader.standalone => reader.run_argv(item, argv, StartDirectory::Default),
        (exec, args) => {
            // The program is a file of the plugin, whether `exec` or `args` names it.
            let Some(program) = exec.or_else(|| args?.items()?.first()) else { return };
            let Some(path) = reader.path(doc, program) else { return };
            if args.is_none() {
                return reader.run_file(item, &path.path);
            }
            let named = usize::from(exec.is_none()).min(argv.len());
            argv.splice(..named, [path.path]);
            reader.run_argv(item, argv, StartDirectory::Root);
        }
    }
}

fn check_words(reader: &mut Reader<'_>, doc: &Document<'_>, node: &JsonNode<'_>, item: &mut SurfaceItem) {
    let event = item.fact("event").unwrap_or_default().to_owned();
    if !reader.dialect.events().contains(&event.as_str()) {
        let message = format!("gnoma does not document the event `{}`", escape(&event, 64));
        reader.notice(doc, node.span(), ManifestCode::UnknownEvent, message);
    }
    let kind = item.fact("handler").unwrap_or_default().to_owned();
    if !matches!(kind.as_str(), "command" | "prompt" | "agent") {
        let message = format!("gnoma does not document the hook type `{}`", escape(&kind, 64));
        reader.notice(doc, node.span(), ManifestCode::UnknownHandler, message);
        item.coverage = Coverage::Unresolved;
    }
}

fn server(reader: &mut Reader<'_>, doc: &Document<'_>, node: &JsonNode<'_>) {
    if node.members().is_none() {
        return reader.wrong(doc, node, "an object with name and command", Requirement::Strict);
    }
    let server = fields(reader, doc, node, SERVER);
    let name = match server.present("name") {
        Some(name) => reader.plain(doc, name, Requirement::Strict).unwrap_or_default().to_owned(),
        None => String::new(),
    };
    let mut item = SurfaceItem::new(SurfaceKind::McpServer, name, Reader::place(doc, node.span()), doc.layer);
    item.facts.insert("transport", SurfaceFact::Text("stdio".to_owned()));
    if let Some(env) = server.present("env") {
        let mut map = std::collections::BTreeMap::new();
        for member in reader.object(doc, env, Requirement::Strict) {
            reader.refuse_hidden(doc, member.key_span(), member.key());
            if let Some(value) = reader.plain(doc, member.node(), Requirement::Strict) {
                map.insert(member.key().to_owned(), value.to_owned());
            }
        }
        item.facts.insert("env", SurfaceFact::Map(map));
    }
    let args = match server.present("args") {
        Some(args) => reader.arguments(doc, args),
        None => Vec::new(),
    };
    match server.present("command").filter(|command| command.as_str() != Some("")) {
        None => {
            item.coverage = Coverage::Unresolved;
            "a server without command".clone_into(&mut item.why);
            reader.add(item);
        }
        Some(command) => {
            let Some(path) = reader.path(doc, command) else { return };
            let argv = core::iter::once(path.path).chain(args).collect();
            reader.run_argv(item, argv, StartDirectory::Root);
        }
    }
}
