//! JSON for a terminal: control, bidirectional and invisible characters are escaped.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter};

use plugward_loader::Part;
use plugward_loader::escape::is_hidden;

/// Renders a value with an indent of two spaces and a final line break.
pub(crate) fn render<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    let mut bytes = Vec::new();
    let formatter = EscapingFormatter(PrettyFormatter::with_indent(b"  "));
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, formatter))?;
    bytes.push(b'\n');
    String::from_utf8(bytes).map_err(|error| serde_json::Error::io(io::Error::other(error)))
}

/// Escapes bidirectional and invisible characters in rendered JSON. They can only be inside strings, so it stays valid.
pub(crate) fn visible(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() || !is_hidden(character) {
            out.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    out
}

/// Pretty-printed JSON with unprintable characters escaped.
struct EscapingFormatter(PrettyFormatter<'static>);

impl Formatter for EscapingFormatter {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, text: &str) -> io::Result<()> {
        let mut from = 0;
        for (at, character) in text.char_indices() {
            if is_hidden(character) {
                writer.write_all(text.part(from..at).as_bytes())?;
                let mut units = [0; 2];
                for unit in character.encode_utf16(&mut units) {
                    write!(writer, "\\u{unit:04x}")?;
                }
                from = at.saturating_add(character.len_utf8());
            }
        }
        writer.write_all(text.part(from..).as_bytes())
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_turns_text_is_escaped_and_parses_back() {
        let text = "a\u{202e}b\u{1b}c\u{e0041}\"\\ü";
        let json = super::render(&text).unwrap();
        assert_eq!(json, "\"a\\u202eb\\u001bc\\udb40\\udc41\\\"\\\\ü\"\n");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        let raw = serde_json::to_string(text).unwrap();
        assert_eq!(super::visible(&raw), json.trim_end());
    }
}
