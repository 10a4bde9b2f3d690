//! How much of a text can be output before the rest arrives: up to the last line end that no construct
//! crosses.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use crate::bytes::{at, line_start, part};
use crate::{rules, views};

/// A longer text is not examined here: it is processed block by block.
const MOST: usize = 128 * 1024;
/// Constructs are looked for under at most this many layers. Each layer copies the lines once more.
const LAYERS: usize = 3;

/// Returns the offset up to which no later text can change the output.
///
/// The examined part begins at the line at `from`. `reach` is how far back custom rules can look.
pub(crate) fn settled(text: &[u8], from: usize, reach: usize) -> usize {
    let fresh = part(text, from..text.len());
    if fresh.len() > MOST {
        return from;
    }
    let lines = part(fresh, 0..whole_lines(fresh));
    // Whether a short line is UTF-16 is only known from the text before it.
    let wide = views::utf16::open(part(text, 0..from + lines.len())).map(|place| place.saturating_sub(from));
    let open = open(lines, wide, LAYERS).min(lines.len().saturating_sub(reach));
    let settled = if open == lines.len() { open } else { line_start(lines, open, MOST) };
    border(text, from + settled).max(from)
}

/// Returns the border of the UTF-16 unit after a line end, or that of the line before if half a unit is
/// missing.
fn border(text: &[u8], line: usize) -> usize {
    views::utf16::border(text, line).unwrap_or_else(|| {
        let before = line_start(text, line.saturating_sub(1), MOST);
        views::utf16::border(text, before).unwrap_or(0)
    })
}

/// Returns the offset after the last line end. A CR at the end of the text can be half of a CRLF.
fn whole_lines(text: &[u8]) -> usize {
    let known = if at(text, text.len().saturating_sub(1)) == b'\r' { text.len() - 1 } else { text.len() };
    memchr::memrchr2(b'\n', b'\r', part(text, 0..known)).map_or(0, |place| place + 1)
}

/// Returns the offset of the first construct that can continue after the text.
fn open(text: &[u8], wide: Option<usize>, layers: usize) -> usize {
    let own = rules::open(text).min(views::open(text, wide));
    if layers == 0 {
        return own;
    }
    views::lines(text).fold(own, |first, view| {
        let ends = view.source().end >= text.len();
        let mut bytes = crate::bytes::wiped::Wiped::with_room(view.bytes.len() + 2);
        bytes.extend(&view.bytes);
        // A line that does not belong to the view follows the last line of the view.
        if !ends {
            bytes.extend(b"\x1f\n");
        }
        let inside = open(&bytes, views::utf16::open(&bytes), layers - 1);
        if inside < view.bytes.len() { first.min(view.raw_of(inside)) } else { first }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, settled_lines: usize) {
        let length = text.split_inclusive('\n').take(settled_lines).map(str::len).sum::<usize>();
        assert_eq!(settled(text.as_bytes(), 0, 0), length, "{text:?}");
    }

    #[test]
    fn quiet_lines_go_out_at_once() {
        for text in [
            "Server started on port 8080\n",
            "2026-03-01T10:00:00Z INFO [api] request_id=123e4567-e89b-42d3-a456-426614174000 done in 12 ms\n",
            "commit 5a248a8f0e1d2c3b4a5968778695a4b3c2d1e0f9\n",
            "\x1b[1;32mok\x1b[0m 12 passed\n",
            "{\"ts\":\"x\",\"data\":{\"a\":1},\"msg\":\"b \\\"c\\\" done\\n\",\"ok\":true}\n",
            "password=hunter2 token: abc\n",
            "event: message\ndata: {\"delta\":\"x\"}\n",
            "https://example.org/a/b?c=d%20end\n",
        ] {
            check(text, 9);
        }
        check("done\nno line end", 1);
        assert_eq!(settled(b"10%\r20%\r", 0, 0), 4);
    }

    #[test]
    fn what_may_go_on_is_held() {
        for (text, lines) in [
            (concat!("one:\n-----BEGIN ", "PRIVATE KEY-----\nMIIB\n"), 1),
            ("one:\napiVersion: v1\ndata:\n  password: aGVsbG8=\n", 2),
            ("one:\n{\n  \"data\": {\n    \"x\": \"aGVsbG8=\"\n  },\n", 2),
            ("one:\n{\n  \"k\": \"aGVsbG8taGVsbG8taGVsbG8\",\n", 2),
            (concat!("one:\nthe key is gl", "pat-\n"), 1),
            ("one:\ncmVzdWx0OiB0aGUgc2VjcmV0IHZhbHVlIGlzIGhlcmU\n", 1),
            ("one:\ncurl -u admin \\\n", 1),
            ("one:\n00000000: 6162 6364\n00000010: 6162\n", 1),
            ("one:\n\x1b]8;;https://e.org\n", 1),
            (concat!("one:\nx = \"gl", "pat-\" +\n"), 1),
            ("one:\nb\0c\0\n\0", 1),
        ] {
            check(text, lines);
        }
    }

    #[test]
    fn rules_of_the_host_hold_what_they_reach() {
        let text = b"a line\n".repeat(4096);
        assert!((9000..9007).contains(&(text.len() - settled(&text, 0, 9000))));
    }
}
