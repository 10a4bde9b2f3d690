//! Rewrites YAML as JSON, so that the strict parser reads it. Lines stay the same.
//!
//! What two readers of YAML could understand differently is an error: aliases, tags, merge keys and second documents.

use plugward_types::escape;
use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::parts::quoted;

/// The most nested lists and objects, as in the other formats.
const DEPTH: usize = 64;

/// Returns JSON with the meaning and the lines of YAML.
///
/// # Errors
/// Returns a message with its place for a text that is not YAML, or that readers could understand differently.
pub fn normalized(text: &str) -> Result<String, String> {
    let mut writer = Writer { out: String::new(), line: 1, open: Vec::new(), documents: 0 };
    for event in Parser::new_from_str(text) {
        let (event, span) = event
            .map_err(|error| format!("line {}: {}", error.marker().line(), escape::line(error.info())))?;
        let line = span.start.line();
        writer.event(&event, line).map_err(|message| format!("line {line}: {message}"))?;
    }
    Ok(writer.out)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Collection {
    List,
    Object,
}

/// An open list or object, with the number of its parts so far. Keys and values are parts of their own.
struct Open {
    kind: Collection,
    parts: usize,
}

struct Writer {
    out: String,
    line: usize,
    open: Vec<Open>,
    documents: usize,
}

impl Writer {
    fn event(&mut self, event: &Event<'_>, line: usize) -> Result<(), &'static str> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => {
                self.documents = self.documents.saturating_add(1);
                if self.documents > 1 { Err("expected one document, got a second one") } else { Ok(()) }
            }
            Event::Alias(_) => Err("aliases are not read"),
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => Err("tags are not read"),
            Event::Scalar(text, style, _, None) => {
                let is_key = self.start(line);
                match (is_key, *style == ScalarStyle::Plain) {
                    (true, true) if text == "<<" => return Err("merge keys are not read"),
                    (false, true) => self.out.push_str(&plain(text)),
                    _ => self.out.push_str(&quoted(text)),
                }
                Ok(())
            }
            Event::SequenceStart(_, None) => self.enter(line, Collection::List),
            Event::MappingStart(_, None) => self.enter(line, Collection::Object),
            Event::SequenceEnd | Event::MappingEnd => {
                let kind = self.open.pop().map(|open| open.kind);
                self.out.push(if kind == Some(Collection::Object) { '}' } else { ']' });
                Ok(())
            }
        }
    }

    /// Writes the separator before a part, and returns `true` if the part is a key.
    fn start(&mut self, line: usize) -> bool {
        let mut is_key = false;
        if let Some(open) = self.open.last_mut() {
            let is_object = open.kind == Collection::Object;
            let is_value = is_object && !open.parts.is_multiple_of(2);
            is_key = is_object && !is_value;
            if is_value {
                self.out.push(':');
            } else if open.parts > 0 {
                self.out.push(',');
            }
            open.parts = open.parts.saturating_add(1);
        }
        let missing = line.saturating_sub(self.line);
        self.out.extend(core::iter::repeat_n('\n', missing));
        self.line = self.line.max(line);
        is_key
    }

    fn enter(&mut self, line: usize, kind: Collection) -> Result<(), &'static str> {
        if self.start(line) {
            return Err("expected a text as key");
        }
        if self.open.len() >= DEPTH {
            return Err("nested too deeply");
        }
        self.out.push(if kind == Collection::Object { '{' } else { '[' });
        self.open.push(Open { kind, parts: 0 });
        Ok(())
    }
}

/// Returns a plain scalar by the core schema of YAML 1.2.
fn plain(text: &str) -> String {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => "null".to_owned(),
        "true" | "True" | "TRUE" => "true".to_owned(),
        "false" | "False" | "FALSE" => "false".to_owned(),
        _ if crate::parts::is_json_number(text) => text.to_owned(),
        _ => quoted(text),
    }
}
