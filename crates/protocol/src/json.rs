//! Strict JSON: one object, limited nesting, and no key twice.

use core::cell::RefCell;
use core::fmt;
use core::marker::PhantomData;
use std::borrow::Cow;

use plugward_types::hex;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::map::Entry;
use serde_json::{Map, Value};

use crate::error::{ProtocolError, ProtocolErrorKind, shown};

/// How deep arrays and objects of a line may be nested.
pub const MAX_DEPTH: usize = 128;

/// Checks that a line is one JSON object of limited nesting without a key that occurs twice, and returns it as text.
pub(crate) fn check(line: &[u8]) -> Result<&str, ProtocolError> {
    parse::<()>(line).map(|((), text)| text)
}

/// Checks that a line is one JSON object in UTF-8, and returns its members.
///
/// # Errors
/// `protocol/not-utf8`, `protocol/not-json`, `protocol/duplicate-key` or `protocol/too-deep`.
pub fn parse_object(line: &[u8]) -> Result<Map<String, Value>, ProtocolError> {
    let (value, _) = parse::<Value>(line)?;
    // `parse` accepts nothing but objects.
    Ok(if let Value::Object(members) = value { members } else { Map::new() })
}

fn parse<T: Tree>(line: &[u8]) -> Result<(T, &str), ProtocolError> {
    let text =
        str::from_utf8(line).map_err(|error| ProtocolErrorKind::NotUtf8 { valid: error.valid_up_to() })?;
    let fault = RefCell::new(None);
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let top = Strict { depth: 0, fault: &fault, tree: PhantomData };
    match reader.deserialize_map(top).and_then(|tree| reader.end().map(|()| tree)) {
        Ok(tree) => Ok((tree, text)),
        Err(error) => Err(fault.take().unwrap_or_else(|| not_json(&error)).into()),
    }
}

/// Reads a checked text. The parser's own limit is below [`MAX_DEPTH`].
pub(crate) fn read<'a, T: Deserialize<'a>>(text: &'a str) -> serde_json::Result<T> {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    T::deserialize(&mut reader)
}

fn not_json(error: &serde_json::Error) -> ProtocolErrorKind {
    let text = error.to_string();
    // A line has no other line, so only the column helps.
    let fault = text.split(" at line ").next().unwrap_or(&text);
    ProtocolErrorKind::NotJson { fault: shown(fault), column: error.column() }
}

/// What is kept of a value: all of it, or nothing, so that a check of 32 MiB does not need many times as much memory.
trait Tree: Sized {
    type Members<'a>: Default;

    fn leaf(value: impl FnOnce() -> Value) -> Self;
    fn list(items: Vec<Self>) -> Self;
    /// Adds a member, or returns its key if the key is known to occur twice.
    fn add<'a>(members: &mut Self::Members<'a>, key: Cow<'a, str>, value: Self) -> Option<Cow<'a, str>>;
    /// Returns the object, or the key that occurs twice.
    fn object(members: Self::Members<'_>) -> Result<Self, String>;
}

impl Tree for () {
    type Members<'a> = Vec<Cow<'a, str>>;

    fn leaf(_: impl FnOnce() -> Value) {}

    fn list(_: Vec<()>) {}

    fn add<'a>(keys: &mut Vec<Cow<'a, str>>, key: Cow<'a, str>, (): ()) -> Option<Cow<'a, str>> {
        keys.push(key);
        None
    }

    fn object(mut keys: Vec<Cow<'_, str>>) -> Result<(), String> {
        // Sorted once per object: a search for each key would be quadratic.
        keys.sort_unstable();
        let mut pairs = keys.iter().zip(keys.iter().skip(1));
        pairs.find(|(a, b)| a == b).map_or(Ok(()), |(key, _)| Err(shown(key)))
    }
}

impl Tree for Value {
    type Members<'a> = Map<String, Self>;

    fn leaf(value: impl FnOnce() -> Self) -> Self {
        value()
    }

    fn list(items: Vec<Self>) -> Self {
        Self::Array(items)
    }

    fn add<'a>(members: &mut Map<String, Self>, key: Cow<'a, str>, value: Self) -> Option<Cow<'a, str>> {
        match members.entry(&*key) {
            Entry::Occupied(_) => return Some(key),
            Entry::Vacant(place) => place.insert(value),
        };
        None
    }

    fn object(members: Map<String, Self>) -> Result<Self, String> {
        Ok(Self::Object(members))
    }
}

/// Reads a value strictly.
struct Strict<'f, T> {
    depth: usize,
    fault: &'f RefCell<Option<ProtocolErrorKind>>,
    tree: PhantomData<T>,
}

/// A key, which is copied only if it contains escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<T> Strict<'_, T> {
    fn deeper<E: serde::de::Error>(&self) -> Result<usize, E> {
        if self.depth >= MAX_DEPTH {
            return Err(self.fail(ProtocolErrorKind::TooDeep));
        }
        Ok(self.depth.saturating_add(1))
    }

    fn at(&self, depth: usize) -> Self {
        Self { depth, ..*self }
    }

    /// Keeps the kind next to the error of the parser, which has a text only.
    fn fail<E: serde::de::Error>(&self, kind: ProtocolErrorKind) -> E {
        let error = E::custom(&kind);
        self.fault.replace(Some(kind));
        error
    }
}

impl<'de, T: Tree> DeserializeSeed<'de> for Strict<'_, T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Tree> Visitor<'de> for Strict<'_, T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_bool<E>(self, value: bool) -> Result<T, E> {
        Ok(T::leaf(|| value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<T, E> {
        Ok(T::leaf(|| value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<T, E> {
        Ok(T::leaf(|| value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<T, E> {
        Ok(T::leaf(|| value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<T, E> {
        Ok(T::leaf(|| value.into()))
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::leaf(|| Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<T, A::Error> {
        let depth = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(self.at(depth))? {
            items.push(item);
        }
        Ok(T::list(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<T, A::Error> {
        let depth = self.deeper()?;
        let mut members = T::Members::default();
        while let Some(Key(key)) = access.next_key()? {
            let value = access.next_value_seed(self.at(depth))?;
            if let Some(key) = T::add(&mut members, key, value) {
                return Err(self.fail(ProtocolErrorKind::DuplicateKey { key: shown(&key) }));
            }
        }
        T::object(members).map_err(|key| self.fail(ProtocolErrorKind::DuplicateKey { key }))
    }
}

/// Replaces `\ud800` without its other half by U+FFFD. Servers that cut a text inside a character write it, and the host would wait
/// forever for an answer that is dropped.
pub(crate) fn without_lone_surrogates(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((first, after)) = rest.split_first() {
        let (part, next) = match (unit(rest), rest.get(6..).and_then(unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => {
                rest.split_at_checked(12).unwrap_or((rest, &[]))
            }
            (Some(0xd800..=0xdfff), _) => (&b"\\ufffd"[..], rest.get(6..).unwrap_or_default()),
            // An escape is skipped whole, so that `\\ud800` is not taken for one.
            _ if *first == b'\\' => rest.split_at_checked(2).unwrap_or((rest, &[])),
            _ => (core::slice::from_ref(first), after),
        };
        out.extend_from_slice(part);
        rest = next;
    }
    out
}

/// Returns the number in an escape `\u…` at the start.
fn unit(text: &[u8]) -> Option<u32> {
    hex::number(text.strip_prefix(b"\\u")?.get(..4)?)
}
