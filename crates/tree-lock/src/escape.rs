//! Names from strangers, made fit to show.

/// Shows bytes of a name: UTF-8 as it is, but for what could steer a terminal or mislead a reader.
///
/// Control, format and bidirectional characters, other blanks than the space, and `\` come out as `\u{…}` or
/// `\\`; bytes that are not UTF-8 as `\x..`. So two different names never look alike through an escape.
pub(crate) fn escape(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        escape_into(&mut out, chunk.valid());
        out.extend(
            chunk.invalid().iter().flat_map(|byte| core::ascii::escape_default(*byte)).map(char::from),
        );
    }
    out
}

fn escape_into(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_hidden(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
}

/// Returns whether a character shows nothing, or changes how its neighbours are shown.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || is_bidi(c)
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns whether a character sets the direction of text.
pub(crate) fn is_bidi(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn what_steers_a_terminal_is_spelled_out() {
        for (bytes, shown) in [
            (&b"hooks/run.sh"[..], "hooks/run.sh"),
            (b"a\nb", "a\\nb"),
            (b"a\\nb", "a\\\\nb"),
            (b"a\xff", "a\\xff"),
            (b"\x1b[2J", "\\u{1b}[2J"),
            ("gpj.\u{202e}exe".as_bytes(), "gpj.\\u{202e}exe"),
            ("caf\u{e9}".as_bytes(), "caf\u{e9}"),
            ("a\u{2028}b\u{a0}".as_bytes(), "a\\u{2028}b\\u{a0}"),
        ] {
            assert_eq!(escape(bytes), shown);
        }
    }
}
