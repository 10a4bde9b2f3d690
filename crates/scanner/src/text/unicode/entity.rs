//! Character references of HTML.

/// Names that are used to obfuscate text or to separate words. Other names are not decoded.
const NAMES: &[(&str, char)] = &[
    ("AMP", '&'),
    ("GT", '>'),
    ("LT", '<'),
    ("NewLine", '\n'),
    ("NoBreak", '\u{2060}'),
    ("NonBreakingSpace", '\u{A0}'),
    ("QUOT", '"'),
    ("Tab", '\t'),
    ("ZeroWidthSpace", '\u{200B}'),
    ("amp", '&'),
    ("apos", '\''),
    ("ast", '*'),
    ("bsol", '\\'),
    ("colon", ':'),
    ("comma", ','),
    ("commat", '@'),
    ("dollar", '$'),
    ("emsp", '\u{2003}'),
    ("ensp", '\u{2002}'),
    ("equals", '='),
    ("excl", '!'),
    ("fjlig", 'f'),
    ("grave", '`'),
    ("gt", '>'),
    ("hyphen", '-'),
    ("imath", 'i'),
    ("inodot", 'i'),
    ("lcub", '{'),
    ("lowbar", '_'),
    ("lpar", '('),
    ("lsqb", '['),
    ("lt", '<'),
    ("mdash", '-'),
    ("nbsp", '\u{A0}'),
    ("ndash", '-'),
    ("num", '#'),
    ("percnt", '%'),
    ("period", '.'),
    ("plus", '+'),
    ("quest", '?'),
    ("quot", '"'),
    ("rcub", '}'),
    ("rpar", ')'),
    ("rsqb", ']'),
    ("semi", ';'),
    ("shy", '\u{AD}'),
    ("sol", '/'),
    ("thinsp", '\u{2009}'),
    ("verbar", '|'),
    ("zwj", '\u{200D}'),
    ("zwnj", '\u{200C}'),
];

/// The longest reference that is decoded: `&#x` with leading zeros, or a name.
const MAX: usize = 32;

/// Decodes the reference at the start of a text, which begins with `&`. Returns its character and length.
pub(crate) fn read(text: &[u8]) -> Option<(char, usize)> {
    let body = text.strip_prefix(b"&")?;
    let window = body.get(..body.len().min(MAX))?;
    let (char, len) = if let Some(digits) = window.strip_prefix(b"#") {
        let (digits, radix, head) = match digits {
            [b'x' | b'X', rest @ ..] => (rest, 16, 2_usize),
            rest => (rest, 10, 1),
        };
        let len = digits.iter().take_while(|byte| char::from(**byte).is_digit(radix)).count();
        let number = core::str::from_utf8(digits.get(..len)?).ok()?;
        (char::from_u32(u32::from_str_radix(number, radix).ok()?)?, head.checked_add(len)?)
    } else {
        let len = window.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let name = core::str::from_utf8(window.get(..len)?).ok()?;
        // Stylized letters have names too: `&ascr;`, `&Afr;`, `&aopf;`.
        let font = ["scr", "fr", "opf"].iter().find_map(|tail| name.strip_suffix(tail));
        let font = font.and_then(|head| head.chars().next().filter(|_| head.len() == 1));
        let at = NAMES.binary_search_by(|(known, _)| (*known).cmp(name)).ok();
        let named = at.and_then(|at| NAMES.get(at)).map(|(_, char)| *char);
        (named.or(font)?, len)
    };
    // Browsers decode a numeric reference without a semicolon too.
    let closed = body.get(len) == Some(&b';');
    if !closed && window.first() != Some(&b'#') {
        return None;
    }
    len.checked_add(1)?.checked_add(usize::from(closed)).map(|len| (char, len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_references_are_read() {
        assert!(NAMES.is_sorted());
        for (text, expected) in [
            ("&#105;gnore", Some(('i', 6))),
            ("&#x69;", Some(('i', 6))),
            ("&#X0000069;", Some(('i', 11))),
            ("&#105 x", Some(('i', 5))),
            ("&shy;", Some(('\u{AD}', 5))),
            ("&iscr;", Some(('i', 6))),
            ("&nbsp;", Some(('\u{A0}', 6))),
            ("&amp", None),
            ("&unknown;", None),
            ("&#xD800;", None),
            ("&#;", None),
            ("&", None),
            ("& a", None),
        ] {
            assert_eq!(read(text.as_bytes()), expected, "{text}");
        }
    }
}
