//! Reads hooks in the format of gnoma, from a manifest or a settings file.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use crate::dialects::gnoma::{Fields, fields, same_key, string};
use crate::error::ManifestCode;
use crate::json::{JsonMember, JsonNode, JsonValue};
use crate::reader::text::{ForeignText, escape};
use crate::reader::{Document, Reader, Requirement};
use crate::surface::commands::StartDirectory;
use crate::surface::{Coverage, SurfaceFact, SurfaceItem, SurfaceKind};

const HOOK: &[&str] = plugward_types::words![
    "args env event exec fail_open name on_failure phase priority timeout tool_pattern type",
];

/// Reads the list of hooks; an error in one hook does not affect the others.
pub(crate) fn read_hooks(reader: &mut Reader<'_>, doc: &Document<'_>, fields: &Fields<'_, '_>) {
    if let Some(node) = fields.present("hooks") {
        for item in reader.list(doc, node, Requirement::Strict) {
            let named = |member: &&JsonMember<'_>| same_key(member.key(), "event");
            let mut events = item.members_or_none().iter().filter(named);
            // With two spellings, either could be the event, so none is reported.
            let event = events.next().filter(|_| events.next().is_none());
            let event = event.and_then(|member| member.node().as_str());
            reader.hook_entry(doc, item, event, |reader| hook(reader, doc, item));
        }
    }
}

/// Reads one hook.
fn hook(reader: &mut Reader<'_>, doc: &Document<'_>, node: &JsonNode<'_>) {
    if node.members().is_none() {
        return reader.wrong(doc, node, "an object with name, event and exec", Requirement::Strict);
    }
    let hook = fields(reader, doc, node, HOOK);
    let name = string(reader, doc, hook.get("name"));
    let mut item = SurfaceItem::new(SurfaceKind::Hook, name, doc.place(node.span()), doc.layer);
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
    // These texts are shown to users or select behavior; free text may contain other characters.
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
        item.place = doc.place(place.span());
    }
    let mut argv = args.map(|args| reader.arguments(doc, args)).unwrap_or_default();
    match (exec, args) {
        (None, None) if !reader.standalone => {
            item.coverage = Coverage::Unresolved;
            "a hook without exec".clone_into(&mut item.why);
            reader.add(item);
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
            // If `args` names the program, its first item is replaced by the verified path.
            let named = usize::from(exec.is_none()).min(argv.len());
            argv.splice(..named, [path.path]);
            reader.run_argv(item, argv, StartDirectory::Root);
        }
    }
}

/// Reports an event or type that gnoma does not document. Such a hook could still run in a newer version.
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
        if whole + part.unwrap_or(0) == 0 {
            return false;
        }
        let number = whole + part.map_or(0, |part| part + 1);
        let Some((_, unit)) = rest.split_at_checked(number) else { return false };
        // Go accepts the micro sign and the Greek letter mu. Longer units come first, so that `ms` is not read as
        // `m`.
        let units = ["ns", "us", "\u{b5}s", "\u{3bc}s", "ms", "s", "m", "h"];
        let Some(after) = units.iter().find_map(|known| unit.strip_prefix(known)) else { return false };
        rest = after;
    }
    !text.is_empty() && !text.ends_with(['+', '-'])
}
