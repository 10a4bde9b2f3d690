//! Strict JSON: one object, limited nesting, and no key twice.

use core::cell::RefCell;
use core::fmt;
use std::borrow::Cow;

use plugward_types::hex;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::error::{ProtocolError, ProtocolErrorKind, shown};

/// How deep arrays and objects of a line may be nested.
pub const MAX_DEPTH: usize = 128;

/// Checks that a line is one JSON object of limited nesting without a key that occurs twice, and returns it as text.
pub(crate) fn check(line: &[u8]) -> Result<&str, ProtocolError> {
    let text =
        str::from_utf8(line).map_err(|error| ProtocolErrorKind::NotUtf8 { valid: error.valid_up_to() })?;
    let fault = RefCell::new(None);
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let top = Strict { depth: 0, fault: &fault };
    match reader.deserialize_map(top).and_then(|()| reader.end()) {
        Ok(()) => Ok(text),
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

/// Reads a value and keeps nothing but the keys of the objects around it.
#[derive(Clone, Copy)]
struct Strict<'f> {
    depth: usize,
    fault: &'f RefCell<Option<ProtocolErrorKind>>,
}

/// A key, which is copied only if it contains escapes.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl Strict<'_> {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth >= MAX_DEPTH {
            return Err(self.fail(ProtocolErrorKind::TooDeep));
        }
        Ok(Self { depth: self.depth.saturating_add(1), ..self })
    }

    /// Keeps the kind next to the error of the parser, which has a text only.
    fn fail<E: serde::de::Error>(self, kind: ProtocolErrorKind) -> E {
        let error = E::custom(&kind);
        self.fault.replace(Some(kind));
        error
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let inner = self.deeper()?;
        while let Some(()) = items.next_element_seed(inner)? {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let inner = self.deeper()?;
        let mut keys: Vec<Key<'de>> = Vec::new();
        while let Some(key) = members.next_key()? {
            keys.push(key);
            members.next_value_seed(inner)?;
        }
        // Sorted once per object: a search for each key would be quadratic.
        keys.sort_unstable();
        match keys.windows(2).find_map(|pair| if let [a, b] = pair { (a == b).then_some(a) } else { None }) {
            Some(Key(key)) => Err(self.fail(ProtocolErrorKind::DuplicateKey { key: shown(key) })),
            None => Ok(()),
        }
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
