//! Scalars: plain, quoted, literal and folded, and aliases of them.

use plugward_types::Part;

use super::{Reader, line, line_break};
use crate::lex::data::scalar::{EscapeSyntax, Scalar, ScalarText, decode, fold};
use crate::scan::sink::Unread;
use crate::text::view::{Obfuscations, View};

impl<'t> Reader<'_, 't, '_> {
    /// Reads a plain key, if a colon follows it in its line. Does not consume the colon.
    pub(super) fn plain_key(&mut self) -> Option<Scalar> {
        let start = self.at;
        let rest = self.rest();
        let line = rest.get(..line(rest))?;
        let mut from = 0_usize;
        while let Some(more) = line.get(from..).and_then(|tail| memchr::memchr2(b':', b'#', tail)) {
            let at = from + more;
            let next = line.get(at + 1);
            if line.get(at) == Some(&b'#') {
                let blank = at.checked_sub(1).and_then(|before| line.get(before));
                if blank.is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
                    return None;
                }
            } else if next.is_none_or(|byte| matches!(byte, b' ' | b'\t')) {
                let key = line.get(..at)?.trim_ascii_end();
                self.at = start + at;
                return Some(Scalar::range(start, start + key.len()));
            }
            from = at + 1;
        }
        None
    }

    /// Reads a plain scalar with its continuation lines.
    pub(super) fn plain(&mut self) -> Scalar {
        let start = self.at;
        let mut end = self.plain_line();
        let mut folded: Option<View> = None;
        loop {
            let (next, column) = self.next_line();
            let deeper = self.parent().is_none_or(|parent| column > parent);
            let rest = self.src.part(next..);
            let marker = column == 0 && (rest.starts_with(b"---") || rest.starts_with(b"..."));
            let stops = rest.first().is_none_or(|byte| matches!(byte, b'#')) || !deeper || marker;
            if stops || self.opens_key(next) {
                break;
            }
            let view = folded.get_or_insert_with(|| {
                let mut view = View::default();
                view.copy(self.src.part(start..end), start, Obfuscations::NONE, 0);
                view
            });
            fold(self.src, end, next, view);
            self.at = next;
            let line_end = self.plain_line();
            view.copy(self.src.part(next..line_end), next, Obfuscations::NONE, 0);
            end = line_end;
        }
        self.at = end;
        match folded {
            Some(view) => Scalar { span: (start, end), body: ScalarText::View(view) },
            None => Scalar::range(start, end),
        }
    }

    /// Reads one line of a plain scalar, and returns its end without trailing spaces and comment.
    fn plain_line(&mut self) -> usize {
        let rest = self.rest();
        let line = rest.part(..line(rest));
        let comment = memchr::memmem::find(line, b" #").or_else(|| memchr::memmem::find(line, b"\t#"));
        let text = line.part(..comment.unwrap_or(line.len()));
        let end = self.at + text.trim_ascii_end().len();
        self.at = end;
        end
    }

    /// Returns the offset and column of the first byte on the next non-blank line.
    fn next_line(&self) -> (usize, usize) {
        let blanks = |at: usize| {
            let rest = self.src.part(at..);
            rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
        };
        let mut at = self.at + blanks(self.at);
        loop {
            let more = line_break(self.src.part(at..));
            if more == 0 {
                // A comment or the end of the text ends a plain scalar.
                return (self.src.len(), 0);
            }
            let start = at + more;
            let column = blanks(start);
            at = start + column;
            if line_break(self.src.part(at..)) == 0 {
                return (at, column);
            }
        }
    }

    /// Returns `true` if a line has a key of its own, so that it does not continue the scalar.
    fn opens_key(&mut self, at: usize) -> bool {
        let back = core::mem::replace(&mut self.at, at);
        let found = self.plain_key().is_some();
        self.at = back;
        found
    }

    /// Reads a quoted scalar. An unclosed one ends with its line.
    pub(super) fn quoted(&mut self) -> Scalar {
        let start = self.at;
        let first = start + 1;
        let double = self.byte() == Some(b'"');
        let closed = if double { close_double(self.src, first) } else { close_single(self.src, first) };
        let closed = closed.filter(|end| !self.swallows(first, *end));
        let end = closed.unwrap_or_else(|| first + line(self.src.part(first..)));
        let next = end + usize::from(closed.is_some());
        let inner = self.src.part(first..end);
        let many = memchr::memchr(b'\n', inner).is_some();
        let body = if double && (many || memchr::memchr(b'\\', inner).is_some()) {
            ScalarText::View(decode(self.src, first, end, EscapeSyntax::Yaml))
        } else if !double && (many || memchr::memchr(b'\'', inner).is_some()) {
            ScalarText::View(single(self.src, first, end))
        } else {
            ScalarText::Range(first, end)
        };
        self.at = next;
        Scalar { span: (start, next), body }
    }

    /// Returns `true` if a quoted scalar would span a key of an outer block, which means that its end is
    /// missing.
    fn swallows(&mut self, first: usize, end: usize) -> bool {
        let Some(parent) = self.parent() else { return false };
        let inner = self.src.part(first..end);
        let mut starts = memchr::memchr_iter(b'\n', inner);
        starts.any(|at| {
            let start = first + at + 1;
            let rest = self.src.part(start..end);
            let column = rest.iter().take_while(|byte| **byte == b' ').count();
            let text = rest.part(column..);
            let word = text
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
                .count();
            let key = word > 0 && matches!(text.get(word..), Some([b':', b' ' | b'\n' | b'\r', ..]));
            column <= parent && key
        })
    }

    pub(super) fn is_block_scalar(&self) -> bool {
        let rest = self.rest().part(1..);
        let marks = rest.iter().take(2).take_while(|byte| matches!(byte, b'+' | b'-' | b'1'..=b'9')).count();
        let tail = rest.part(marks..);
        let tail = tail.part(..line(tail)).trim_ascii();
        tail.is_empty() || tail.starts_with(b"#")
    }

    /// Reads a literal (`|`) or folded (`>`) scalar that is indented over a column.
    pub(super) fn block_scalar(&mut self, parent: Option<usize>) -> Scalar {
        let start = self.at;
        // A folded scalar joins its lines with spaces.
        let line_end: &[u8] = if self.byte() == Some(b'>') { b" " } else { b"\n" };
        let marks = self.rest().rest(1).head(2);
        let given =
            marks.iter().find(|byte| byte.is_ascii_digit()).map(|byte| usize::from(byte.wrapping_sub(b'0')));
        let mut indent = given.map(|given| given.saturating_add(parent.unwrap_or(0)));
        self.skip(1);
        let len = memchr::memchr(b'\n', self.rest()).map_or(self.rest().len(), |at| at + 1);
        self.skip(len);
        let mut view = View::default();
        let mut end = self.at;
        while self.at < self.src.len() {
            let rest = self.rest();
            let len = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let line = rest.part(..len);
            let column = line.iter().take_while(|byte| **byte == b' ').count();
            let text = line.part(column..).trim_ascii();
            if text.is_empty() {
                let from = (self.at, self.at + len);
                view.put(b"\n", from, Obfuscations::NONE, 0);
                self.skip(len);
                continue;
            }
            let known = *indent.get_or_insert(column);
            if column < known || parent.is_some_and(|parent| column <= parent) {
                break;
            }
            self.block_line(line, known.min(column), line_end, &mut view);
            self.skip(len);
            end = self.at;
        }
        Scalar { span: (start, end), body: ScalarText::View(view) }
    }

    /// Appends one line of a block scalar.
    fn block_line(&self, line: &[u8], indent: usize, line_end: &[u8], view: &mut View) {
        let body = line.strip_suffix(b"\n").unwrap_or(line);
        let body = body.strip_suffix(b"\r").unwrap_or(body);
        let text = body.part(indent..);
        view.copy(text, self.at + indent, Obfuscations::NONE, 0);
        let from = (self.at + body.len(), self.at + line.len());
        if from.0 < from.1 {
            view.put(line_end, from, Obfuscations::NONE, 0);
        }
    }

    pub(super) fn alias_name(&mut self) -> &'t [u8] {
        let rest = self.rest();
        let len = rest
            .iter()
            .take_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b',' | b']' | b'}'))
            .count();
        self.skip(len.max(1));
        rest.part(1..len)
    }

    /// Reads the scalar of an alias again, at the alias's own place.
    pub(super) fn alias(&mut self, name: &[u8], start: usize) {
        let end = self.at;
        let Some(&(anchor, parent)) = self.anchors.get(name) else {
            self.tree.scalar(Scalar::range(start, end));
            return;
        };
        if self.budget == 0 {
            return self.over(start);
        }
        self.at = anchor;
        let scalar = match self.byte() {
            Some(b'"' | b'\'') => self.quoted(),
            Some(b'|' | b'>') if self.is_block_scalar() => self.block_scalar(parent),
            _ => self.plain(),
        };
        let used = self.at.saturating_sub(anchor);
        self.at = end;
        // A scalar over the budget was read once where it is defined; no further alias is expanded.
        let left = self.budget.checked_sub(used);
        self.budget = left.unwrap_or(0);
        if left.is_some() {
            self.tree.scalar(scalar);
        } else {
            self.over(start);
        }
    }

    /// Reports that aliases from here on are not expanded.
    fn over(&mut self, start: usize) {
        match self.tree.sink.unread.last_mut() {
            Some(last) if self.unread => last.end = self.at,
            _ => self.tree.sink.unread.push(Unread { start, end: self.at }),
        }
        self.unread = true;
    }
}

fn close_double(src: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let more = memchr::memchr2(b'"', b'\\', src.get(at..)?)?;
        at += more;
        if src.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

fn close_single(src: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr::memchr(b'\'', src.get(at..)?)?;
        if src.get(at + 1) != Some(&b'\'') {
            return Some(at);
        }
        at += 2;
    }
}

/// Decodes single quotes: `''` is one quote, and a line break is a space.
fn single(src: &[u8], start: usize, end: usize) -> View {
    let mut view = View::default();
    let mut at = start;
    while at < end {
        let rest = src.part(at..end);
        let plain = memchr::memchr2(b'\'', b'\n', rest).unwrap_or(rest.len());
        let text = rest.part(..plain);
        let stop = at + plain;
        if rest.get(plain) == Some(&b'\n') {
            let text = text.trim_ascii_end();
            view.copy(text, at, Obfuscations::NONE, 0);
            at = fold(src, stop, end, &mut view);
        } else {
            view.copy(text, at, Obfuscations::NONE, 0);
            if stop < end {
                view.put(b"'", (stop, stop + 2), Obfuscations::NONE, 0);
            }
            at = stop + 2;
        }
    }
    view
}
