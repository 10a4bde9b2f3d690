//! One line: where its content begins behind marks of quotations and lists.

/// A line's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    /// Where the line begins and ends, without its end mark, and where the next one begins.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) next: usize,
    /// Where its content begins.
    pub(super) content: usize,
    /// Blanks right before the content.
    pub(super) indent: usize,
    /// Columns from the line's start, or from its last quotation mark, to the content.
    pub(super) column: usize,
    /// Marks of quotations.
    pub(super) quotes: usize,
    /// Each mark stands where every renderer takes it for one.
    pub(super) strict: bool,
    /// A list's mark stands in front.
    pub(super) item: bool,
}

impl Line {
    pub(super) fn is_blank(&self, src: &[u8]) -> bool {
        src.get(self.content..self.end).unwrap_or_default().trim_ascii().is_empty()
    }
}

/// Cuts the line that begins at a place. `list` is the column of the content of the list that is open, 0 without one.
pub(super) fn cut(src: &[u8], start: usize, list: usize) -> Line {
    let rest = src.get(start..).unwrap_or_default();
    let len = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    let end = start.saturating_add(len);
    let mark = match src.get(end..).unwrap_or_default() {
        [b'\r', b'\n', ..] => 2,
        [] => 0,
        _ => 1,
    };
    let mut line = Line {
        start,
        end,
        next: end.saturating_add(mark),
        content: start,
        indent: 0,
        column: 0,
        quotes: 0,
        strict: true,
        item: false,
    };
    while step(src, &mut line, list) {}
    line
}

/// Steps over blanks and one mark; `false` where the content begins.
fn step(src: &[u8], line: &mut Line, list: usize) -> bool {
    let rest = src.get(line.content..line.end).unwrap_or_default();
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let (head, rest) = rest.split_at(blanks);
    line.indent = head.iter().fold(0, |sum, byte| width(sum, *byte));
    line.column = head.iter().fold(line.column, |sum, byte| width(sum, *byte));
    line.content = line.content.saturating_add(blanks);
    if rest.first() == Some(&b'>') {
        line.strict &= line.column <= list.saturating_add(3);
        line.quotes = line.quotes.saturating_add(1);
        line.content = line.content.saturating_add(1);
        if rest.get(1) == Some(&b' ') {
            line.content = line.content.saturating_add(1);
        }
        line.column = 0;
        return true;
    }
    let len = list_mark(rest);
    if len == 0 {
        return false;
    }
    line.item = true;
    line.content = line.content.saturating_add(len);
    line.column = line.column.saturating_add(len);
    // A box to tick.
    if let Some([b' ', b'[', b' ' | b'x' | b'X', b']', b' ' | b'\t', ..]) = rest.get(len..) {
        line.content = line.content.saturating_add(4);
        line.column = line.column.saturating_add(4);
    }
    true
}

const fn width(sum: usize, byte: u8) -> usize {
    if byte == b'\t' { sum.saturating_add(4).saturating_sub(sum % 4) } else { sum.saturating_add(1) }
}

/// Gives the length of a list's mark, 0 where none stands.
fn list_mark(rest: &[u8]) -> usize {
    let len = match rest {
        [b'-' | b'*' | b'+', ..] => 1,
        // Bullets that people paste.
        [0xE2, 0x80, 0xA2 | 0xA3, ..]
        | [0xE2, 0x97, 0xA6 | 0x8F | 0x8B, ..]
        | [0xE2, 0x96, 0xAA | 0xB6 | 0xBA, ..]
        | [0xE2, 0x9C, 0x93 | 0x94 | 0x85, ..] => 3,
        [byte, ..] if byte.is_ascii_digit() => {
            let digits = rest.iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
            if matches!(rest.get(digits), Some(b'.' | b')')) { digits.saturating_add(1) } else { 0 }
        }
        [b'a'..=b'h', b'.' | b')', ..] => 2,
        _ => 0,
    };
    let parted = rest.get(len).is_none_or(|byte| matches!(byte, b' ' | b'\t'));
    if parted { len } else { 0 }
}

/// Gives the length of a heading's marks.
pub(super) fn heading(content: &[u8]) -> usize {
    let len = content.iter().take_while(|byte| **byte == b'#').count();
    let parted = content.get(len).is_none_or(|byte| matches!(byte, b' ' | b'\t'));
    if (1..=6).contains(&len) && parted { len } else { 0 }
}

/// Says whether a line only rules off or underlines: `---`, `===`, `|---|:--|`.
pub(super) fn is_rule(content: &[u8]) -> bool {
    content.len() >= 2
        && content.iter().all(|byte| {
            matches!(byte, b'-' | b'=' | b'*' | b'_' | b'+' | b'|' | b':' | b' ' | b'\t' | b'^' | b'"')
        })
        && content.iter().any(|byte| matches!(byte, b'-' | b'=' | b'*' | b'_' | b'^'))
}

/// Gives where a definition's address begins: behind `[label]:`. A footnote is shown, and so is no definition.
pub(super) fn definition(content: &[u8]) -> Option<usize> {
    let body = content.strip_prefix(b"[")?;
    if body.first() == Some(&b'^') {
        return None;
    }
    let close = memchr::memchr2(b']', b'[', body.get(..body.len().min(1000))?)?;
    (body.get(close..close.saturating_add(2)) == Some(b"]:")).then(|| close.saturating_add(3))
}

/// Gives where a title begins in what follows an address: a quote or bracket behind a blank.
pub(super) fn title(text: &[u8]) -> Option<usize> {
    let at = text
        .windows(2)
        .position(|two| matches!(two, [blank, b'"' | b'\'' | b'('] if blank.is_ascii_whitespace()))?;
    at.checked_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_stands_behind_the_marks() {
        for (text, expected, quotes, item) in [
            ("text", "text", 0, false),
            ("  text", "text", 0, false),
            ("> text", "text", 1, false),
            (">> text", "text", 2, false),
            ("> > - text", "text", 2, true),
            ("- > text", "text", 1, true),
            ("12) text", "text", 0, true),
            ("- [x] text", "text", 0, true),
            ("* * text", "text", 0, true),
            ("\u{2022} text", "text", 0, true),
            ("**text**", "**text**", 0, false),
            ("1.5 text", "1.5 text", 0, false),
            ("-text", "-text", 0, false),
        ] {
            let line = cut(text.as_bytes(), 0, 0);
            let content = text.get(line.content..line.end).unwrap_or_default();
            assert_eq!((content, line.quotes, line.item), (expected, quotes, item), "{text}");
        }
    }

    #[test]
    fn a_definition_has_a_label_and_a_colon() {
        assert_eq!(definition(b"[a]: b"), Some(4));
        assert_eq!(definition(b"[//]: # (x)"), Some(5));
        assert_eq!(definition(b"[^1]: b"), None);
        assert_eq!(definition(b"[a] b"), None);
        assert!(is_rule(b"|---|:-:|") && is_rule(b"===") && !is_rule(b"- a") && !is_rule(b"| |"));
    }
}
