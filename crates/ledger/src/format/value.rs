//! Values without a fixed schema, such as the scope of a capability or the counters of a fold.

use std::collections::BTreeMap;

use crate::format::digest::LedgerDigest;
use crate::format::field::Field;
use crate::format::json::{JsonFault, MAX_DEPTH, Reader, Writer};

/// A JSON value without floating-point numbers and without null.
///
/// # Guarantees
///
/// Its text is canonical: keys are sorted by their bytes, and there is no whitespace. Equal values have equal
/// digests.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the format has these five forms; another one is another format")]
pub enum RecordValue {
    /// A string.
    Text(String),
    /// An integer below 2^53.
    Number(u64),
    /// A boolean.
    Flag(bool),
    /// A list.
    List(Vec<RecordValue>),
    /// Named values.
    Object(BTreeMap<String, RecordValue>),
}

impl RecordValue {
    /// Creates an object from pairs. A later pair replaces an earlier one with the same name.
    #[must_use]
    pub fn object<const N: usize>(pairs: [(&str, Self); N]) -> Self {
        Self::Object(pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// Creates a string.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// Returns a member of an object.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.get(name),
            Self::Text(_) | Self::Number(_) | Self::Flag(_) | Self::List(_) => None,
        }
    }

    /// Returns the string, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the number, if it is one.
    #[must_use]
    pub const fn as_number(&self) -> Option<u64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    /// Returns the items, if it is a list.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Self]> {
        if let Self::List(items) = self { Some(items) } else { None }
    }

    /// Returns the members, if it is an object.
    #[must_use]
    pub const fn as_object(&self) -> Option<&BTreeMap<String, Self>> {
        if let Self::Object(members) = self { Some(members) } else { None }
    }

    /// Returns the canonical text.
    #[must_use]
    pub fn render(&self) -> String {
        let mut writer = Writer::default();
        self.write_at(&mut writer, usize::MAX);
        String::from_utf8(writer.out).unwrap_or_default()
    }

    /// Returns the digest of the canonical text.
    #[must_use]
    pub fn digest(&self) -> LedgerDigest {
        LedgerDigest::of(self.render().as_bytes())
    }

    fn write_at(&self, writer: &mut Writer, depth: usize) {
        let Some(below) = depth.checked_sub(1) else {
            writer.fault = writer.fault.or(Some("a value nested too deeply"));
            return;
        };
        match self {
            Self::Text(text) => writer.text(text),
            Self::Number(number) => writer.number(*number),
            Self::Flag(true) => writer.raw("true"),
            Self::Flag(false) => writer.raw("false"),
            Self::List(items) => {
                writer.raw("[");
                for (index, item) in items.iter().enumerate() {
                    writer.raw(if index == 0 { "" } else { "," });
                    item.write_at(writer, below);
                }
                writer.raw("]");
            }
            Self::Object(members) => {
                writer.raw("{");
                for (index, (name, value)) in members.iter().enumerate() {
                    writer.raw(if index == 0 { "" } else { "," });
                    writer.text(name);
                    writer.raw(":");
                    value.write_at(writer, below);
                }
                writer.raw("}");
            }
        }
    }

    fn read_at(reader: &mut Reader<'_>, depth: usize) -> Result<Self, JsonFault> {
        let Some(below) = depth.checked_sub(1) else { return Err(reader.fault("less nesting")) };
        match reader.peek() {
            Some(b'"') => Ok(Self::Text(reader.string()?.into_owned())),
            Some(b'0'..=b'9') => reader.number().map(Self::Number),
            Some(b'[') => {
                reader.want("[", "a list")?;
                let mut items = Vec::new();
                while !reader.eat("]") {
                    if !items.is_empty() {
                        reader.want(",", "a comma or the end of the list")?;
                    }
                    items.push(Self::read_at(reader, below)?);
                }
                Ok(Self::List(items))
            }
            Some(b'{') => {
                reader.want("{", "an object")?;
                let mut members: BTreeMap<String, Self> = BTreeMap::new();
                while !reader.eat("}") {
                    if !members.is_empty() {
                        reader.want(",", "a comma or the end of the object")?;
                    }
                    let fault = reader.fault("keys in their order, each once");
                    let name = reader.string()?.into_owned();
                    if members.last_key_value().is_some_and(|(last, _)| *last >= name) {
                        return Err(fault);
                    }
                    reader.want(":", "a colon")?;
                    members.insert(name, Self::read_at(reader, below)?);
                }
                Ok(Self::Object(members))
            }
            _ if reader.eat("true") => Ok(Self::Flag(true)),
            _ if reader.eat("false") => Ok(Self::Flag(false)),
            _ => Err(reader.fault("a string, an integer, true, false, a list or an object")),
        }
    }
}

impl Field for RecordValue {
    fn write(&self, writer: &mut Writer) {
        self.write_at(writer, MAX_DEPTH);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonFault> {
        Self::read_at(reader, MAX_DEPTH)
    }

    fn settle(&mut self) {
        match self {
            Self::Text(text) => text.settle(),
            Self::Number(_) | Self::Flag(_) => {}
            Self::List(items) => items.iter_mut().for_each(Field::settle),
            Self::Object(members) => members.values_mut().for_each(Field::settle),
        }
    }
}
