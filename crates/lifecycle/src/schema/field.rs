//! One field of a schema.

use plugward_types::{escape, named};

use super::literal::{Literal, LiteralValue, Member};
use super::{FieldFaults, SchemaFaultKind};
use crate::value::ConfigValue;

const MAX_KEY: usize = 64;

named! {
    /// The type of an array's items.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[expect(clippy::exhaustive_enums, reason = "a new type must be handled by every host")]
    pub enum ItemType {
        /// Text.
        String = "string",
        /// A finite number.
        Number = "number",
        /// `true` or `false`.
        Boolean = "boolean",
    }
}

named! {
    /// The type of a field.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[expect(clippy::exhaustive_enums, reason = "a new type must be handled by every host")]
    pub enum FieldType {
        /// Text.
        String = "string",
        /// A finite number.
        Number = "number",
        /// `true` or `false`.
        Boolean = "boolean",
        /// A list of items of one type.
        Array = "array",
    }
}

/// A setting of a plugin.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SchemaField {
    /// The key.
    pub key: String,
    /// The type.
    pub kind: FieldType,
    /// The type of the items, for an array.
    pub items: ItemType,
    /// The description, by the plugin's author.
    pub description: String,
    /// The default.
    pub default: Option<ConfigValue>,
    /// The lowest number.
    pub minimum: Option<f64>,
    /// The highest number.
    pub maximum: Option<f64>,
    /// The most characters of a text, or of each item of an array.
    pub max_length: Option<usize>,
    /// Whether the field needs a value that is not empty.
    pub is_required: bool,
    /// Whether the user is asked although there is a default.
    pub is_prompted: bool,
}

/// Reads a field. Other keys than those of [`SchemaField`] have no effect here, as in HyperAgent.
pub(crate) fn read(member: &Member, faults: &mut FieldFaults) -> Option<SchemaField> {
    let key = &member.key;
    let mut fault = |at: usize, message: String| {
        faults.add(SchemaFaultKind::Field, at, format!("`{}`: {message}", escape::line(key)));
    };
    if !is_key(key) {
        fault(member.at, format!("expected a key of 1 to {MAX_KEY} characters without blanks and `=`"));
        return None;
    }
    let LiteralValue::Object(parts) = &member.value.value else {
        fault(
            member.value.range.start,
            format!("expected an object with `type`, got {}", member.value.describe()),
        );
        return None;
    };
    let mut parts = Parts { parts, fault: &mut fault };
    let start = member.value.range.start;
    let kind = parts.text("type").and_then(|(word, at)| {
        let kind = FieldType::from_name(word);
        if kind.is_none() {
            parts.wrong(at, "`string`, `number`, `boolean` or `array` as `type`");
        }
        kind
    });
    if parts.find("type").is_none() {
        parts.wrong(start, "a `type`");
    }
    let mut field = SchemaField {
        key: key.clone(),
        kind: kind?,
        items: parts.items(kind?),
        description: parts.text("description").map_or_else(String::new, |(text, _)| text.to_owned()),
        default: None,
        minimum: parts.number("minimum", kind?),
        maximum: parts.number("maximum", kind?),
        max_length: parts.length(kind?),
        is_required: parts.boolean("required"),
        is_prompted: parts.boolean("promptKey"),
    };
    if let (Some(minimum), Some(maximum)) = (field.minimum, field.maximum)
        && minimum > maximum
    {
        parts.wrong(start, &format!("a `maximum` of at least {minimum}, got {maximum}"));
    }
    let Some(default) = parts.find("default") else { return Some(field) };
    let checked = match ConfigValue::of_literal(default) {
        Some(value) => field.check(&value).map(|()| value).map_err(|fault| fault.message),
        None => Err(format!("expected {}, got {}", field.kind.as_str(), default.describe())),
    };
    match checked {
        Ok(value) => field.default = Some(value),
        Err(message) => {
            let message = format!("the default of `{key}`: {message}");
            faults.add(SchemaFaultKind::Default, default.range.start, message);
        }
    }
    Some(field)
}

/// Returns `true` if a key can be typed as `key=value`, and means the same to JavaScript.
fn is_key(key: &str) -> bool {
    let is_short = (1..=MAX_KEY).contains(&key.chars().count());
    is_short
        && key != "__proto__"
        && !key.chars().any(|one| one == '=' || one == ' ' || escape::is_hidden(one))
}

struct Parts<'a, 'f> {
    parts: &'a [Member],
    fault: &'f mut dyn FnMut(usize, String),
}

impl<'a> Parts<'a, '_> {
    fn wrong(&mut self, at: usize, expected: &str) {
        (self.fault)(at, format!("expected {expected}"));
    }

    /// Returns a part. JavaScript takes the last of two.
    fn find(&self, key: &str) -> Option<&'a Literal> {
        self.parts.iter().rev().find(|part| part.key == key).map(|part| &part.value)
    }

    fn text(&mut self, key: &str) -> Option<(&'a str, usize)> {
        let literal = self.find(key)?;
        if let LiteralValue::Text(text) = &literal.value {
            return Some((text, literal.range.start));
        }
        self.wrong(literal.range.start, &format!("a string as `{key}`, got {}", literal.describe()));
        None
    }

    fn boolean(&mut self, key: &str) -> bool {
        let Some(literal) = self.find(key) else { return false };
        if let LiteralValue::Boolean(value) = literal.value {
            return value;
        }
        self.wrong(literal.range.start, &format!("a boolean as `{key}`, got {}", literal.describe()));
        false
    }

    fn number(&mut self, key: &str, kind: FieldType) -> Option<f64> {
        let literal = self.find(key)?;
        match literal.value {
            LiteralValue::Number(number) if kind == FieldType::Number => return Some(number),
            LiteralValue::Number(_) => {
                self.wrong(literal.range.start, &format!("no `{key}` for the type `{}`", kind.as_str()));
            }
            _ => self.wrong(literal.range.start, &format!("a number as `{key}`, got {}", literal.describe())),
        }
        None
    }

    fn length(&mut self, kind: FieldType) -> Option<usize> {
        let literal = self.find("maxLength")?;
        let is_for = matches!(kind, FieldType::String | FieldType::Array);
        // Every whole number that fits has a short decimal form without an exponent.
        let length = match literal.value {
            LiteralValue::Number(number) if is_for => number.to_string().parse().ok(),
            _ => None,
        };
        if length.is_none() {
            self.wrong(literal.range.start, "a whole number as `maxLength`, for a string or an array");
        }
        length
    }

    fn items(&mut self, kind: FieldType) -> ItemType {
        let Some(literal) = self.find("items") else { return ItemType::String };
        let word = match &literal.value {
            LiteralValue::Object(parts) => {
                match parts.iter().rev().find(|part| part.key == "type").map(|part| &part.value.value) {
                    Some(LiteralValue::Text(word)) => ItemType::from_name(word),
                    Some(_) => None,
                    None => Some(ItemType::String),
                }
            }
            _ => None,
        };
        if kind != FieldType::Array {
            self.wrong(literal.range.start, &format!("no `items` for the type `{}`", kind.as_str()));
        } else if word.is_none() {
            self.wrong(literal.range.start, "`string`, `number` or `boolean` as the type of `items`");
        }
        word.unwrap_or(ItemType::String)
    }
}
