//! The text forms of the types that the fields of a record have.

use plugward_types::hex;

use crate::format::digest::{LedgerDigest, LedgerId};
use crate::format::json::{JsonFault, Reader, Writer};
use crate::format::time::LedgerTime;

/// The longest text that is stored in full, in bytes. Longer ones would crowd out other records.
const MAX_TEXT: usize = 1_024;
/// The length of the stored part of a longer text, in bytes.
const KEPT: usize = 960;
const MARK: &str = "…sha256:";

pub(crate) trait Field: Sized {
    fn write(&self, writer: &mut Writer);
    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonFault>;

    /// Shortens texts that are too long, so that memory and file contain the same record.
    fn settle(&mut self) {}

    /// Returns `true` if the field is omitted.
    fn absent(&self) -> bool {
        false
    }

    /// Returns the value of an omitted field, or `None` if the field is required.
    fn missing() -> Option<Self> {
        None
    }
}

impl Writer {
    pub(crate) fn field<T: Field>(&mut self, key: &str, value: &T) {
        if !value.absent() {
            self.key(key);
            value.write(self);
        }
    }
}

impl Reader<'_> {
    pub(crate) fn field<T: Field>(&mut self, key: &'static str) -> Result<T, JsonFault> {
        if self.eat_key(key) {
            return T::read(self);
        }
        T::missing().ok_or_else(|| self.fault(key))
    }
}

impl Field for u64 {
    fn write(&self, writer: &mut Writer) {
        writer.number(*self);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonFault> {
        reader.number()
    }
}

impl Field for String {
    fn write(&self, writer: &mut Writer) {
        writer.text(self);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonFault> {
        reader.string().map(std::borrow::Cow::into_owned)
    }

    fn settle(&mut self) {
        if self.len() > MAX_TEXT && !is_shortened(self) {
            let sum = LedgerDigest::of(self.as_bytes());
            self.truncate(char_start(self, KEPT));
            self.push_str(MARK);
            self.push_str(&sum.to_string());
        }
    }
}

fn char_start(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Returns `true` for a text that was shortened before. It stays as it is, though it can have more than 1,024
/// bytes.
fn is_shortened(text: &str) -> bool {
    let Some((kept, sum)) = text.rsplit_once(MARK) else { return false };
    kept.len() <= KEPT && sum.parse::<LedgerDigest>().is_ok()
}

impl Field for LedgerDigest {
    fn write(&self, writer: &mut Writer) {
        writer.raw("\"");
        hex::push(&mut writer.out, self.as_bytes());
        writer.raw("\"");
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonFault> {
        let fault = reader.fault("64 lowercase hex digits");
        hex::decode_array(&reader.string()?).map(Self::from_bytes).ok_or(fault)
    }
}

impl Field for LedgerId {
    fn write(&self, writer: &mut Writer) {
        writer.raw("\"");
        hex::push(&mut writer.out, self.as_bytes());
        writer.raw("\"");
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonFault> {
        let fault = reader.fault("32 lowercase hex digits");
        hex::decode_array(&reader.string()?).map(Self::from_bytes).ok_or(fault)
    }
}

impl Field for LedgerTime {
    fn write(&self, writer: &mut Writer) {
        writer.raw("\"");
        self.push(&mut writer.out);
        writer.raw("\"");
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonFault> {
        let fault = reader.fault("a timestamp in UTC with six decimals");
        Self::parse(&reader.string()?).ok_or(fault)
    }
}

impl<T: Field> Field for Option<T> {
    fn write(&self, writer: &mut Writer) {
        if let Some(value) = self {
            value.write(writer);
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonFault> {
        T::read(reader).map(Some)
    }

    fn settle(&mut self) {
        if let Some(value) = self {
            value.settle();
        }
    }

    fn absent(&self) -> bool {
        self.is_none()
    }

    fn missing() -> Option<Self> {
        Some(None)
    }
}

impl<T: Field> Field for Vec<T> {
    fn write(&self, writer: &mut Writer) {
        writer.raw("[");
        for (index, item) in self.iter().enumerate() {
            writer.raw(if index == 0 { "" } else { "," });
            item.write(writer);
        }
        writer.raw("]");
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonFault> {
        reader.want("[", "a list")?;
        let mut items = Self::new();
        while !reader.eat("]") {
            if !items.is_empty() {
                reader.want(",", "a comma or the end of the list")?;
            }
            items.push(T::read(reader)?);
        }
        Ok(items)
    }

    fn settle(&mut self) {
        self.iter_mut().for_each(Field::settle);
    }
}

/// Declares an enum whose values are fixed words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $what:literal { $( $(#[$vdoc:meta])* $variant:ident = $word:literal ),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(clippy::exhaustive_enums, reason = "these are all the words of the format; a new one is a new format")]
        pub enum $name { $( $(#[$vdoc])* $variant ),* }

        impl $name {
            /// Returns the word used in records.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $word ),* }
            }
        }

        impl $crate::format::field::Field for $name {
            fn write(&self, writer: &mut $crate::format::json::Writer) {
                writer.text(self.as_str());
            }

            fn read(reader: &mut $crate::format::json::Reader<'_>) -> Result<Self, $crate::format::json::JsonFault> {
                let fault = reader.fault($what);
                match &*reader.string()? { $( $word => Ok(Self::$variant), )* _ => Err(fault) }
            }
        }
    };
}

/// Declares a small object inside a record.
macro_rules! object {
    ($(#[$doc:meta])* $name:ident { $( $(#[$fdoc:meta])* $field:ident : $ty:ty ),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[expect(clippy::exhaustive_structs, reason = "a part of the format: a new field is a new format")]
        pub struct $name { $( $(#[$fdoc])* pub $field: $ty ),* }

        impl $crate::format::field::Field for $name {
            fn write(&self, writer: &mut $crate::format::json::Writer) {
                let start = writer.out.len();
                $( writer.field(stringify!($field), &self.$field); )*
                // The first key was written with a leading comma, which becomes the opening brace.
                match writer.out.get_mut(start) {
                    Some(comma) => *comma = b'{',
                    None => writer.raw("{"),
                }
                writer.raw("}");
            }

            fn read(reader: &mut $crate::format::json::Reader<'_>) -> Result<Self, $crate::format::json::JsonFault> {
                reader.open_object()?;
                $( let $field = reader.field(stringify!($field))?; )*
                reader.want("}", "the end of the object")?;
                Ok(Self { $($field),* })
            }

            fn settle(&mut self) {
                $( self.$field.settle(); )*
            }
        }
    };
}

pub(crate) use {object, words};
