//! Rules as lines of text and back: the form of the table that lies in the sources.
//!
//! A text stands with its length in front, so that nothing in it is escaped; a number ends in a blank; a list has its length
//! in front. What does not read back is `None`: the table is made and checked by this crate, so no reason is kept.

use plugward_types::{Digest, RuleId, Severity};

use super::Rule;
use super::compile::Way;
use super::source::{Arg0, Declared, MatchSource, NameSource, Text};
use crate::engine::{Case, Derived, Lines, Literal, Shape};

/// Something that the table holds.
pub(super) trait Pack: Sized {
    /// Writes it at the end.
    fn pack(&self, out: &mut String);
    /// Reads it from the front.
    fn unpack(from: &mut Unpack) -> Option<Self>;
}

/// What is left to read.
#[derive(Debug)]
pub(super) struct Unpack(pub(super) &'static str);

impl Unpack {
    fn number(&mut self) -> Option<usize> {
        self.digits(b' ')
    }

    /// Reads digits up to a byte, and that byte.
    fn digits(&mut self, end: u8) -> Option<usize> {
        let len = self.0.bytes().position(|byte| byte == end)?;
        let (digits, rest) = self.0.split_at_checked(len)?;
        self.0 = rest.get(1..)?;
        digits.parse().ok()
    }

    fn text(&mut self) -> Option<&'static str> {
        let len = self.number()?;
        let (text, rest) = self.0.split_at_checked(len)?;
        self.0 = rest.strip_prefix('\n')?;
        Some(text)
    }

    fn line(&mut self) -> Option<&'static str> {
        let (line, rest) = self.0.split_once('\n')?;
        self.0 = rest;
        Some(line)
    }
}

impl Pack for usize {
    fn pack(&self, out: &mut String) {
        out.push_str(&format!("{self} "));
    }

    fn unpack(from: &mut Unpack) -> Option<Self> {
        from.number()
    }
}

impl Pack for bool {
    fn pack(&self, out: &mut String) {
        usize::from(*self).pack(out);
    }

    fn unpack(from: &mut Unpack) -> Option<Self> {
        match from.number()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Pack for Text {
    fn pack(&self, out: &mut String) {
        out.push_str(&format!("{} {self}\n", self.len()));
    }

    fn unpack(from: &mut Unpack) -> Option<Self> {
        from.text().map(Text::Borrowed)
    }
}

impl Pack for String {
    fn pack(&self, out: &mut String) {
        out.push_str(&format!("{} {self}\n", self.len()));
    }

    fn unpack(from: &mut Unpack) -> Option<Self> {
        from.text().map(str::to_owned)
    }
}

/// A literal's bytes as ASCII, the others as `\xx`.
fn escaped(bytes: &[u8]) -> String {
    let plain = |byte: u8| (byte.is_ascii_graphic() || byte == b' ') && byte != b'\\';
    let mut out = String::new();
    for &byte in bytes {
        if plain(byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("\\{byte:02x}"));
        }
    }
    out
}

fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte == b'\\' {
            let (digits, tail) = tail.split_at_checked(2)?;
            out.push(u8::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = tail;
        } else {
            out.push(byte);
        }
    }
    Some(out)
}

impl Pack for Literal {
    fn pack(&self, out: &mut String) {
        let Self { bytes, case, next, before } = self;
        before.pack(out);
        (*case == Case::Folded).pack(out);
        escaped(bytes).pack(out);
        escaped(next).pack(out);
    }

    fn unpack(from: &mut Unpack) -> Option<Self> {
        let before = Pack::unpack(from)?;
        let case = if bool::unpack(from)? { Case::Folded } else { Case::Exact };
        Some(Self { before, case, bytes: unescaped(from.text()?)?, next: unescaped(from.text()?)? })
    }
}

impl<A: Pack, B: Pack> Pack for (A, B) {
    fn pack(&self, out: &mut String) {
        self.0.pack(out);
        self.1.pack(out);
    }

    fn unpack(from: &mut Unpack) -> Option<Self> {
        Some((A::unpack(from)?, B::unpack(from)?))
    }
}

impl<T: Pack> Pack for Vec<T> {
    fn pack(&self, out: &mut String) {
        out.push_str(&format!("{}\n", self.len()));
        for item in self {
            item.pack(out);
        }
    }

    fn unpack(from: &mut Unpack) -> Option<Self> {
        let count = from.digits(b'\n')?;
        // An item takes a byte at least.
        let mut all = Self::with_capacity(count.min(from.0.len()));
        for _ in 0..count {
            all.push(T::unpack(from)?);
        }
        Some(all)
    }
}

impl<T: Pack> Pack for Option<T> {
    fn pack(&self, out: &mut String) {
        self.is_some().pack(out);
        if let Some(item) = self {
            item.pack(out);
        }
    }

    fn unpack(from: &mut Unpack) -> Option<Self> {
        if bool::unpack(from)? { T::unpack(from).map(Some) } else { Some(None) }
    }
}

impl Pack for RuleId {
    fn pack(&self, out: &mut String) {
        self.to_string().pack(out);
    }

    fn unpack(from: &mut Unpack) -> Option<Self> {
        from.text()?.parse().ok()
    }
}

impl Pack for Digest {
    fn pack(&self, out: &mut String) {
        self.to_string().pack(out);
    }

    fn unpack(from: &mut Unpack) -> Option<Self> {
        from.text()?.parse().ok()
    }
}

/// Fields one behind the other. A field that is left out does not compile.
macro_rules! pack_struct {
    ($name:ident { $($field:ident),+ }) => {
        impl Pack for $name {
            fn pack(&self, out: &mut String) {
                let Self { $($field),+ } = self;
                $($field.pack(out);)+
            }

            fn unpack(from: &mut Unpack) -> Option<Self> {
                Some(Self { $($field: Pack::unpack(from)?),+ })
            }
        }
    };
}

/// The variant's name on a line, then its fields.
macro_rules! pack_enum {
    ($name:ident { $($variant:ident $({ $($field:ident),* })? $(($inner:ident))?),+ }) => {
        impl Pack for $name {
            fn pack(&self, out: &mut String) {
                match self {
                    $(Self::$variant $({ $($field),* })? $(($inner))? => {
                        out.push_str(concat!(stringify!($variant), "\n"));
                        $($($field.pack(out);)*)?
                        $($inner.pack(out);)?
                    })+
                }
            }

            fn unpack(from: &mut Unpack) -> Option<Self> {
                let name = from.line()?;
                $(if name == stringify!($variant) {
                    $($(let $field = Pack::unpack(from)?;)*)?
                    $(let $inner = Pack::unpack(from)?;)?
                    return Some(Self::$variant $({ $($field),* })? $(($inner))?);
                })+
                None
            }
        }
    };
}

pack_struct!(Rule { id, title, why, fix, refs, langs, severity });
pack_struct!(Way { found, derived });
pack_struct!(Derived { shape, slow, least, blank, marked, lines });
pack_struct!(Shape { max, literals });
pack_struct!(NameSource { langs, names, arg0, argv, check, declared, roles, profiles });
pack_enum!(Lines { One, Many });
pack_enum!(Severity { Info, Warning, Danger });
pack_enum!(Arg0 { Any, Literal, Text, Computed });
pack_enum!(Declared { Same, Own });
pack_enum!(MatchSource {
    Bytes { langs, pattern, profiles, check },
    Text { langs, pattern, within, roles, profiles },
    Code { langs, pattern, profiles },
    Call(names),
    Member(names),
    Assign(names),
    Module { langs, names, profiles },
    Command { langs, program, args, piped_from, redirect, files, check, profiles },
    Key { langs, files, path, value, check, roles, profiles },
    Shape { langs, name, profiles }
});

impl Pack for [Option<Severity>; 2] {
    fn pack(&self, out: &mut String) {
        for severity in self {
            severity.pack(out);
        }
    }

    fn unpack(from: &mut Unpack) -> Option<Self> {
        Some([Pack::unpack(from)?, Pack::unpack(from)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_literal_reads_back() {
        let bytes: Vec<u8> = (0..=u8::MAX).collect();
        assert!(escaped(&bytes).is_ascii());
        assert_eq!(unescaped(&escaped(&bytes)).unwrap(), bytes);
        for cut in ["\\", "\\0", "\\zz"] {
            assert_eq!(unescaped(cut), None, "{cut}");
        }
    }

    #[test]
    fn a_text_may_hold_what_parts_others() {
        let texts: Vec<Text> = ["", "\n", "3 a\nb", "12", "é \\"].map(Text::Borrowed).to_vec();
        let mut packed = String::new();
        texts.pack(&mut packed);
        let mut from = Unpack(packed.leak());
        assert_eq!(Vec::<Text>::unpack(&mut from).unwrap(), texts);
        assert_eq!(from.0, "");
    }
}
