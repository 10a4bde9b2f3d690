//! Plain text for a terminal: line breaking of sentences and commands, counts and sizes.

use plugward_loader::escape::line;

/// Returns a fragment as the start of a sentence.
pub(crate) fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// Breaks text at spaces into lines of at most `width` columns.
///
/// A word that is longer than a line stays whole. So does text between backticks that fits on a line, because users copy it.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut current = String::new();
    let mut column = 0_usize;
    for (index, word) in phrases(text, width).into_iter().enumerate() {
        let length = word.chars().count();
        if index > 0 {
            if column + 1 + length > width && column > 0 {
                lines.push(std::mem::take(&mut current));
                column = 0;
            } else {
                current.push(' ');
                column += 1;
            }
        }
        current.push_str(&word);
        column += length;
    }
    lines.push(current);
    lines
}

/// Breaks text as [`wrap`] does, and puts `first` before the first line and `then` before the others.
pub(crate) fn wrapped(first: &str, then: &str, text: &str, width: usize) -> String {
    let indent = first.chars().count().max(then.chars().count());
    let lines = wrap(text, width.saturating_sub(indent));
    let mut out = String::new();
    for (index, text) in lines.iter().enumerate() {
        out.push_str(if index == 0 { first } else { then });
        out.push_str(text);
        out.push('\n');
    }
    out
}

/// Breaks a command between its words, with a backslash at the end of each line but the last, so that it can be pasted
/// into a shell. An option stays on a line with its value, and a word that is longer than a line stays whole.
///
/// A digest is never shortened. With twelve digits, an attacker finds a directory that matches a given prefix after 2^48
/// tries, and two directories with the same prefix, one of them harmless, after 2^24.
pub(crate) fn command(label: &str, text: &str, width: usize) -> String {
    const MORE: &str = " \\";
    let chunks = chunks(text);
    let last = chunks.len().saturating_sub(1);
    let mut out = String::from(label);
    let mut column = label.chars().count();
    let indent = column.min(4);
    for (index, chunk) in chunks.iter().enumerate() {
        let length = chunk.chars().count();
        let tail = if index == last { 0 } else { MORE.len() };
        if index == 0 {
            column = column.saturating_add(length);
        } else if column.saturating_add(1).saturating_add(length).saturating_add(tail) <= width {
            out.push(' ');
            column = column.saturating_add(1).saturating_add(length);
        } else {
            out.push_str(MORE);
            out.push('\n');
            let room = width.saturating_sub(length.saturating_add(tail)).min(indent);
            out.push_str(&" ".repeat(room));
            column = room.saturating_add(length);
        }
        out.push_str(chunk);
    }
    out.push('\n');
    out
}

/// Splits a command into words. An option and its value are one piece, and so is a quoted word.
fn chunks(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut quote = Quote::Closed;
    for word in text.split(' ') {
        let value = words.last().is_some_and(|last| last.starts_with("--") && !last.contains(' '));
        match words.last_mut() {
            Some(last) if quote == Quote::Open || (value && !word.starts_with('-')) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
        quote = quote_after(word, quote);
    }
    words
}

/// Whether a single quote is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    Open,
    Closed,
}

/// Returns whether a single quote is open after a piece of shell text.
fn quote_after(text: &str, mut quote: Quote) -> Quote {
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        quote = match (character, quote) {
            ('\'', Quote::Open) => Quote::Closed,
            ('\'', Quote::Closed) => Quote::Open,
            ('\\', Quote::Closed) => {
                // Outside quotes, a backslash escapes the next character.
                let _skipped = characters.next();
                quote
            }
            _ => quote,
        };
    }
    quote
}

/// Splits text into words. Text between backticks is one word if it fits on a line.
fn phrases(text: &str, width: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(' ').unwrap_or(rest.len());
        let marks = |piece: &str| piece.matches('`').count() % 2;
        let quoted = || {
            let more = rest.get(end..)?;
            let close = more.find('`')?.saturating_add(end);
            let tail = rest.get(close..)?;
            let stop = tail.find(' ').map_or(rest.len(), |blank| close.saturating_add(blank));
            let phrase = rest.get(..stop)?;
            (marks(phrase) == 0 && phrase.chars().count() <= width).then_some(stop)
        };
        let word = rest.get(..end).unwrap_or(rest);
        let end = if marks(word) == 1 { quoted().unwrap_or(end) } else { end };
        words.push(rest.get(..end).unwrap_or(rest).to_owned());
        let Some(after) = rest.get(end.saturating_add(1)..) else { break };
        rest = after;
        if rest.is_empty() {
            words.push(String::new());
        }
    }
    if text.is_empty() {
        words.push(String::new());
    }
    words
}

/// Returns the first line of a message.
pub(crate) fn first_line(text: &str) -> &str {
    text.split_once('\n').map_or(text, |(first, _)| first)
}

/// Escapes a command of a plugin, and replaces the end of a very long one with a count. The JSON report has all of it.
pub(crate) fn run_text(run: &str) -> String {
    // About 15 lines. Plugins have command lines of thousands of characters, which would hide the rest.
    const MOST: usize = 1200;
    let text = line(run);
    let count = text.chars().count();
    if count <= MOST {
        return text.into_owned();
    }
    let shown: String = text.chars().take(MOST).collect();
    format!("{shown}\u{2026} and {} more characters", count.saturating_sub(MOST))
}

/// Returns a fact with its name. A value that is too long for the line is printed below the name.
pub(crate) fn row(name: &str, value: &str, width: usize) -> String {
    let row = format!("  {name:9} {value}\n");
    if row.chars().count() <= width + 1 {
        return row;
    }
    format!("  {name}\n{}", wrapped("    ", "    ", value, width))
}

/// Returns a number with its noun in the singular or plural: `1 plugin`, `2 plugins`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Returns a size in the largest unit that keeps it above 1, with one decimal place.
pub(crate) fn bytes(number: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = number;
    let mut rest = 0;
    let mut unit = 0_usize;
    while value >= 1024 && unit < 4 {
        rest = value % 1024;
        value /= 1024;
        unit = unit.saturating_add(1);
    }
    let name = units.get(unit).copied().unwrap_or_default();
    if unit == 0 {
        format!("{value} {name}")
    } else {
        format!("{value}.{} {name}", rest.saturating_mul(10) / 1024)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_command_is_one_command_for_a_shell() {
        let hex = "0123456789abcdef".repeat(4);
        let text = format!(
            "plugward accept claude:good@plugins --with sha256:{hex} --in 'my plugins' --tree pt1:{hex}"
        );
        let shown = command("  ", &text, 80);
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines.len(), 4, "{shown}");
        assert_eq!(lines[0], "  plugward accept claude:good@plugins \\");
        assert_eq!(lines[1], format!("--with sha256:{hex} \\"));
        assert_eq!(lines[2], "  --in 'my plugins' \\");
        assert_eq!(lines[3], format!("  --tree pt1:{hex}"));
        // The shell joins the lines to the same command.
        let joined: Vec<&str> = lines.iter().map(|line| line.trim_end_matches('\\').trim()).collect();
        assert_eq!(joined.join(" "), text);
        assert_eq!(command("next: ", "plugward diff x --in a", 80), "next: plugward diff x --in a\n");
        assert_eq!(chunks("a 'b'\\'' c' d"), ["a", "'b'\\'' c'", "d"]);
        let long = format!("plugward accept claude:{}@plugins --tree pt1:{hex}", "n".repeat(90));
        assert_eq!(command("  ", &long, 80).lines().count(), 3);
    }

    #[test]
    fn text_is_broken_at_spaces_and_not_inside_backticks() {
        for (text, expected) in [
            ("one two three", "one two\nthree\n"),
            ("say `a b c` x", "say\n`a b c` x\n"),
            ("say `a b c d e f` x", "say `a b c\nd e f` x\n"),
            ("it is ` alone", "it is `\nalone\n"),
            ("two  blanks", "two \nblanks\n"),
            ("", "\n"),
            ("end ", "end \n"),
        ] {
            assert_eq!(wrapped("", "", text, 10), expected, "{text}");
        }
    }
}
