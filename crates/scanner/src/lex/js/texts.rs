//! Which expressions certainly are texts, whatever they say: methods and functions that give one.

use super::token::K;
use super::walk::{Cur, Shape, Walk};

/// Functions whose result is a text.
pub(super) const WALKED: &[&str] = &[
    "String",
    "String.raw",
    "String.fromCharCode",
    "String.fromCodePoint",
    "JSON.stringify",
    "atob",
    "btoa",
    "decodeURI",
    "decodeURIComponent",
    "encodeURI",
    "encodeURIComponent",
    "escape",
    "unescape",
];

/// Methods of texts that give a text.
const OF_TEXTS: &[&[u8]] = &[
    b"at",
    b"charAt",
    b"concat",
    b"normalize",
    b"padEnd",
    b"padStart",
    b"repeat",
    b"replace",
    b"replaceAll",
    b"slice",
    b"substr",
    b"substring",
    b"toLocaleLowerCase",
    b"toLocaleUpperCase",
    b"toLowerCase",
    b"toString",
    b"toUpperCase",
    b"toWellFormed",
    b"trim",
    b"trimEnd",
    b"trimLeft",
    b"trimRight",
    b"trimStart",
    b"valueOf",
];

/// Methods that give a text whatever they are called on: nothing else has one of such a name.
const OF_ANY: &[&[u8]] = &[b"toLowerCase", b"toString", b"toUpperCase", b"trim", b"trimEnd", b"trimStart"];

/// Methods of lists that give a list.
const OF_LISTS: &[&[u8]] = &[
    b"concat",
    b"copyWithin",
    b"fill",
    b"filter",
    b"flat",
    b"flatMap",
    b"map",
    b"reverse",
    b"slice",
    b"sort",
    b"splice",
    b"toReversed",
    b"toSorted",
    b"toSpliced",
    b"with",
];

impl Walk<'_, '_, '_, '_> {
    /// Gives what a method of an operand is, if it is called: one that gives a text, a list, or anything.
    pub(super) fn method(&self, cur: &Cur, name: &[u8], last: usize) -> Shape {
        let called = match self.kind(last.wrapping_add(1)) {
            Some(K::LParen | K::Tpl | K::TplHead) => true,
            Some(K::QDot) => self.kind(last.wrapping_add(2)) == Some(K::LParen),
            _ => false,
        };
        if !called {
            return Shape::Other;
        }
        let is = |names: &[&[u8]]| names.binary_search(&name).is_ok();
        let is_list = match cur.shape {
            Shape::List => true,
            Shape::Pattern => self.kind(cur.first as usize) == Some(K::LBracket),
            _ => false,
        };
        match cur.shape {
            Shape::Text | Shape::Joined if name == b"split" => Shape::ToList,
            Shape::Text | Shape::Joined if is(OF_TEXTS) => Shape::ToText,
            _ if is_list && is(OF_LISTS) => Shape::ToList,
            _ if is_list && (name == b"join" || name == b"toLocaleString") => Shape::ToText,
            _ if is(OF_ANY) => Shape::ToText,
            _ => Shape::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{OF_ANY, OF_LISTS, OF_TEXTS};

    #[test]
    fn names_are_in_order() {
        for names in [OF_TEXTS, OF_ANY, OF_LISTS] {
            assert!(names.is_sorted());
        }
    }
}
