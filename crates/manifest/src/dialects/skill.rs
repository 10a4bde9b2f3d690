//! Reads skills: a directory with SKILL.md, in the format of agentskills.io.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use std::collections::BTreeMap;

use plugward_types::Part;

use crate::error::{ManifestCode, ManifestPlace, WarningLevel};
use crate::manifest::{Files, Meta};
use crate::reader::Reader;
use crate::reader::name::{is_kebab, is_name};
use crate::reader::text::{ForeignText, escape};
use crate::surface::yaml_text::{Scanner, Value};
use crate::surface::{ManifestLayer, Origin, SurfaceFact, SurfaceItem, SurfaceKind};

/// The file of a skill, in any case.
pub(crate) const FILE: &str = "SKILL.md";

/// The tools that run any command.
const SHELLS: [&str; 4] = ["Bash", "bash", "shell", "Shell"];

/// Returns the SKILL.md in the root. Case is ignored, because file systems on macOS and Windows ignore it.
pub(super) fn file_of(files: &dyn Files) -> Option<&str> {
    files.under("").find(|path| path.eq_ignore_ascii_case(FILE))
}

pub(crate) fn read(reader: &mut Reader<'_>, meta: &mut Meta) {
    let Some(file) = file_of(reader.files) else {
        let message = format!("expected the file {FILE}");
        return reader.error_at(ManifestPlace::of_file(FILE), ManifestCode::MissingFile, message);
    };
    let directory = reader.context.directory;
    let bytes = reader.files.get(file).map(|file| file.bytes).unwrap_or_default();
    let text = String::from_utf8_lossy(bytes);
    let fields = fields(&text);
    let own = text_field(&fields, "name").filter(|name| is_name(name));
    // Hosts identify a skill by its directory, and its own name only describes it.
    let known = own.or_else(|| directory.filter(|name| is_name(name)));
    meta.name = Some(known.unwrap_or("skill").to_owned());
    meta.description = text_field(&fields, "description").map(|text| ForeignText::new(text.to_owned()));
    meta.license = text_field(&fields, "license").map(ToOwned::to_owned);
    let file = file.to_owned();
    reader.prompt_file(&file, "skill", Origin::Found, ManifestLayer::Plugin);
    check(reader, &file, directory);
}

/// Checks the format of the skills in `skills/`.
pub(super) fn check_all(reader: &mut Reader<'_>) {
    let is_skill =
        |path: &&str| path.rsplit_once('/').is_some_and(|(_, name)| name.eq_ignore_ascii_case(FILE));
    let paths: Vec<String> = reader.files.under("skills").filter(is_skill).map(ToOwned::to_owned).collect();
    for path in paths {
        let directory = path.rsplit('/').nth(1).map(ToOwned::to_owned);
        check(reader, &path, directory.as_deref());
    }
}

/// Reports the rules of the format that a skill breaks, and adds the tools that it allows.
fn check(reader: &mut Reader<'_>, path: &str, directory: Option<&str>) {
    let Some(file) = reader.files.get(path) else { return };
    let text = String::from_utf8_lossy(file.bytes);
    let fields = fields(&text);
    let mut faults = Vec::new();
    match text_field(&fields, "name") {
        None => faults.push("no `name`".to_owned()),
        Some(name) if name.len() > 64 || !is_kebab(name) => {
            faults.push(format!("`name` is not 1 to 64 of a-z 0-9 -: `{}`", escape(name, 80)));
        }
        Some(name) if directory.is_some_and(|directory| directory != name) => {
            faults.push(format!("`name` is not that of the directory: `{}`", escape(name, 80)));
        }
        Some(_) => {}
    }
    for (key, most) in [("description", 1024), ("compatibility", 500)] {
        let length = text_field(&fields, key).map(|text| text.chars().count());
        if length.is_some_and(|length| length == 0 || length > most) {
            faults.push(format!("`{key}` does not have 1 to {most} characters"));
        }
    }
    if !fields.contains_key("description") {
        faults.push("no `description`".to_owned());
    }
    for fault in faults {
        reader.warn_at(ManifestPlace::of_file(path), ManifestCode::SkillFormat, WarningLevel::Notice, fault);
    }
    let words = match fields.get("allowed-tools") {
        Some(Value::Text(text)) => tools(text),
        Some(Value::Words(words)) => words.clone(),
        _ => return,
    };
    if words.iter().any(|tool| SHELLS.contains(&tool.as_str())) {
        let message = "the skill may run any command without a question".to_owned();
        reader.warn_at(ManifestPlace::of_file(path), ManifestCode::SkillShell, WarningLevel::Notice, message);
    }
    let mut item = SurfaceItem::new(
        SurfaceKind::Settings,
        "allowed-tools",
        ManifestPlace::of_file(path),
        ManifestLayer::Plugin,
    );
    item.origin = Origin::Found;
    item.facts.insert("tools", SurfaceFact::List(words));
    reader.add(item);
}

/// Splits a list of tools at spaces and commas that are not in brackets.
fn tools(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let separated = text.split(|character: char| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (character == ',' || character.is_whitespace())
    });
    separated.filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect()
}

/// Returns the fields of the front matter, or none if the text has no front matter.
pub(super) fn fields(text: &str) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    let first = text.split_inclusive('\n').next().unwrap_or(text);
    if first.trim_start_matches('\u{feff}').trim_end() != "---" {
        return found;
    }
    let start = first.len();
    let mut end = start;
    for line in text.part(start..).split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            break;
        }
        end += line.len();
    }
    let scanner = Scanner::new(text, start, end, 2);
    let mut next = 0;
    while let Some(line) = scanner.line(next) {
        next += 1;
        let at = scanner.skip_blanks(line.start, line.end);
        if at > line.start || at == line.end || scanner.byte(at) == Some(b'#') {
            continue;
        }
        if let Some((key, after)) = scanner.key(at, line.end) {
            let (value, end) = scanner.block_value(after, line, 0);
            found.entry(key).or_insert(value);
            next = next.max(scanner.line_after(end));
        }
    }
    found
}

/// Returns a field whose value is a text.
pub(super) fn text_field<'f>(fields: &'f BTreeMap<String, Value>, key: &str) -> Option<&'f str> {
    match fields.get(key) {
        Some(Value::Text(text)) => Some(text.trim()),
        _ => None,
    }
}
