//! Commands that a host runs while it builds a prompt: `` !`command` `` in Claude Code and `!{command}` in Gemini CLI.

use plugward_types::Part;

/// The longest command that is recognized. It bounds the search for a closing mark.
const LONGEST: usize = 8192;

/// Returns the ranges of the commands, without their marks.
pub(crate) fn of(text: &[u8]) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut from = 0_usize;
    while let Some(found) = memchr::memchr(b'!', text.part(from..)) {
        let mark = from + found;
        from = mark + 1;
        let close = match text.get(from) {
            Some(b'`') => b'`',
            Some(b'{') => b'}',
            _ => continue,
        };
        // `` `!` `` is a code span that mentions the mark.
        if mark > 0 && text.get(mark.saturating_sub(1)) == Some(&b'`') {
            continue;
        }
        let start = from + 1;
        let rest = text.part(start..);
        let Some(length) = end(rest.head(LONGEST), close) else {
            continue;
        };
        if length > 0 {
            out.push((start, start + length));
            from = start + length;
        }
    }
    out
}

/// Returns the end of a command: its closing mark, with nested braces matched.
fn end(text: &[u8], close: u8) -> Option<usize> {
    if close == b'`' {
        let end = memchr::memchr2(b'`', b'\n', text)?;
        return (text.get(end) == Some(&b'`')).then_some(end);
    }
    let mut depth = 0_usize;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return Some(at),
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn commands_are_found_and_mentions_of_the_mark_are_not() {
        let text = |source: &str| -> Vec<String> {
            of(source.as_bytes()).iter().map(|(from, to)| source[*from..*to].to_owned()).collect()
        };
        assert_eq!(text("a !`git status` b !`id`"), ["git status", "id"]);
        assert_eq!(text("x !{cat ${a} {b}} y"), ["cat ${a} {b}"]);
        assert_eq!(text("wow! `code` `!` and `!`x`, !`open\n`"), Vec::<String>::new());
    }
}
