//! Flow collections: `{…}` and `[…]`, which may span lines.

use plugward_types::Part;

use super::Reader;
use crate::lex::data::scalar::Scalar;
use crate::lex::data::tree::CollectionKind;

impl Reader<'_, '_, '_> {
    /// Reads a flow collection to its end.
    pub(super) fn flow(&mut self) {
        let bounded = self.unclosed || !self.closes();
        self.unclosed = bounded;
        let parent = self.parent();
        let outer = self.tree.depth();
        let mut open = 0_usize;
        while let Some(byte) = self.byte() {
            match byte {
                b'{' | b'[' => {
                    open += 1;
                    self.tree
                        .open(if byte == b'{' { CollectionKind::Map } else { CollectionKind::List }, self.at);
                    self.skip(1);
                }
                b'}' | b']' => {
                    open = open.saturating_sub(1);
                    self.skip(1);
                    self.tree.close(
                        if byte == b'}' { CollectionKind::Map } else { CollectionKind::List },
                        self.at,
                    );
                    if open == 0 {
                        break;
                    }
                }
                b',' => {
                    self.tree.comma();
                    self.skip(1);
                }
                b':' => {
                    self.tree.assign();
                    self.skip(1);
                }
                b'\n' => {
                    self.skip(1);
                    let blanks = self.rest().iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
                    // An unclosed collection ends where its block ends, so that it does not hide the rest of
                    // the file.
                    if bounded && parent.is_none_or(|parent| blanks <= parent) {
                        self.tree.close_to(outer, self.at);
                        self.at = self.at.saturating_sub(1);
                        break;
                    }
                }
                _ if byte.is_ascii_whitespace() => self.skip(1),
                b'#' => self.comment(),
                b'"' | b'\'' => {
                    let scalar = self.quoted();
                    self.tree.scalar(scalar);
                }
                b'*' => {
                    let start = self.at;
                    let name = self.alias_name();
                    self.alias(name, start);
                }
                b'&' => self.anchor(),
                b'!' => self.tag(),
                _ => self.flow_plain(),
            }
        }
    }

    fn comment(&mut self) {
        let len = memchr::memchr(b'\n', self.rest()).unwrap_or(self.rest().len());
        self.tree.comment(self.at, self.at + len);
        self.skip(len);
    }

    fn flow_plain(&mut self) {
        let start = self.at;
        let rest = self.rest();
        let mut len = 1_usize;
        while let Some(byte) = rest.get(len) {
            let next = rest.get(len + 1);
            let before = len.checked_sub(1).and_then(|before| rest.get(before));
            match byte {
                b',' | b'[' | b']' | b'{' | b'}' | b'\n' | b'\r' => break,
                b':' if next
                    .is_none_or(|next| next.is_ascii_whitespace() || matches!(next, b',' | b']' | b'}')) =>
                {
                    break;
                }
                b'#' if before.is_some_and(u8::is_ascii_whitespace) => break,
                _ => len += 1,
            }
        }
        let text = rest.part(..len).trim_ascii_end();
        self.skip(len);
        self.tree.scalar(Scalar::range(start, start + text.len()));
    }

    /// Returns `true` if the collection at the current offset is closed somewhere.
    fn closes(&self) -> bool {
        let mut open = 0_usize;
        let mut rest = self.rest();
        let mut before = b' ';
        while let Some((&byte, tail)) = rest.split_first() {
            rest = tail;
            match byte {
                b'{' | b'[' => open += 1,
                b'}' | b']' => {
                    open = open.saturating_sub(1);
                    if open == 0 {
                        return true;
                    }
                }
                // Quotes open a scalar only where a token can begin: `it's` contains none.
                b'"' | b'\'' if matches!(before, b' ' | b'\n' | b'\t' | b',' | b'[' | b'{' | b':') => {
                    let end = memchr::memchr(byte, tail).map_or(tail.len(), |at| at + 1);
                    let escaped = byte == b'"' && tail.get(..end).is_some_and(|text| text.ends_with(b"\\\""));
                    rest = if escaped { after_escapes(tail) } else { tail.part(end..) };
                }
                b'#' if before.is_ascii_whitespace() => {
                    let end = memchr::memchr(b'\n', tail).unwrap_or(tail.len());
                    rest = tail.part(end..);
                }
                _ => {}
            }
            before = byte;
        }
        false
    }
}

/// Returns the rest after a double-quoted text with escapes.
fn after_escapes(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
        let more = if rest.get(at) == Some(&b'"') { 1 } else { 2 };
        let next = rest.part(at + more..);
        if more == 1 {
            return next;
        }
        rest = next;
    }
    &[]
}
