//! Differences between XML and HTML: references in scripts, declared entities, CDATA.

use std::cell::Cell;
use std::collections::BTreeMap;

use plugward_types::Part;

use crate::scan::entry::Lens;
use crate::scan::sink::{EmbeddedText, Sink};
use crate::text::unicode::entity;
use crate::text::view::{Obfuscations, View};

/// The most entities per document, the longest one, and how deep they may be nested. They bound entity
/// expansion attacks such as "billion laughs".
const NAMES: usize = 256;
const TEXT: usize = 4096;
const LEVELS: usize = 4;

/// The entities that a document declares.
#[derive(Debug)]
pub(super) struct Entities<'a> {
    texts: BTreeMap<&'a [u8], Vec<u8>>,
    /// The bytes to which they may still expand.
    left: Cell<usize>,
    /// Set if a reference was not expanded because the budget was spent.
    over: Cell<bool>,
}

impl Entities<'_> {
    pub(super) fn is_over(&self) -> bool {
        self.over.get()
    }

    fn get(&self, name: &[u8]) -> Option<&[u8]> {
        let text = self.texts.get(name)?;
        let left = self.left.get().checked_sub(text.len());
        self.over.set(self.over.get() || left.is_none());
        self.left.set(left?);
        Some(text)
    }
}

/// Returns `true` if a file is XML, by its name.
pub(super) fn is_xml(path: &str) -> bool {
    let extension = path.rsplit('.').next().unwrap_or(path).to_ascii_lowercase();
    matches!(extension.as_str(), "svg" | "xhtml" | "xht")
}

/// Returns the entities that `<!ENTITY name "text">` declares. Their text is also read as markup.
pub(super) fn entities<'a>(src: &'a [u8], sink: &mut Sink<'_>) -> Entities<'a> {
    // The limits above bound one entity. This bounds the text of all references together.
    let left = Cell::new((1_usize << 16).saturating_add(src.len().saturating_mul(4)));
    let mut named = Entities { texts: BTreeMap::new(), left, over: Cell::new(false) };
    if !is_xml(sink.path) {
        return named;
    }
    for at in memchr::memmem::find_iter(src, b"<!ENTITY").take(NAMES) {
        let rest = src.part(at + 8..);
        let rest = rest.head(TEXT.saturating_mul(2));
        let gap = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let name = rest.part(gap..);
        let len = name
            .iter()
            .take_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'>'))
            .count();
        let (name, tail) = name.parts_at(len);
        let blanks = tail.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let value = tail.part(blanks..);
        let Some((quote @ (b'"' | b'\''), value)) = value.split_first() else { continue };
        let Some(value) = memchr::memchr(*quote, value).and_then(|len| value.get(..len)) else { continue };
        if name.is_empty() || value.len() > TEXT {
            continue;
        }
        let start = at + 8 + gap + len + blanks + 1;
        let text = expanded(value, &named, LEVELS);
        if memchr::memchr(b'<', &text).is_some() {
            let mut view = View::default();
            view.put(&text, (start, start + value.len()), Obfuscations::UNICODE, 0);
            sink.embed(Lens::Prose, EmbeddedText::View(view));
        }
        named.texts.entry(name).or_insert(text);
    }
    named
}

/// Decodes the references of a text, including those in their replacement.
fn expanded(value: &[u8], named: &Entities<'_>, levels: usize) -> Vec<u8> {
    let mut view = View::default();
    let mut at = 0_usize;
    while let Some(rest) = value.get(at..).filter(|rest| !rest.is_empty()) {
        at += one(rest, at, 0, named, &mut view).0.max(1);
        if view.bytes.len() > TEXT {
            break;
        }
    }
    let again = levels > 0 && view.bytes != value && memchr::memchr(b'&', &view.bytes).is_some();
    if again { expanded(&view.bytes, named, levels.saturating_sub(1)) } else { view.bytes }
}

/// Appends the decoded start of a text without its first `skip` bytes.
///
/// Returns the length of the source and of the decoded text.
pub(super) fn one(
    rest: &[u8],
    place: usize,
    skip: usize,
    named: &Entities<'_>,
    view: &mut View,
) -> (usize, usize) {
    let Some(inner) = rest.strip_prefix(b"&") else {
        let len = memchr::memchr(b'&', rest).unwrap_or(rest.len());
        view.copy(rest.part(skip.min(len)..len), place + skip.min(len), Obfuscations::NONE, 0);
        return (len, len);
    };
    let own = if named.texts.is_empty() { None } else { memchr::memchr(b';', inner.head(256)) };
    if let Some((len, text)) = own.and_then(|len| Some((len, named.get(inner.get(..len)?)?))) {
        let range = (place, place + len + 2);
        view.put(text.part(skip.min(text.len())..), range, Obfuscations::UNICODE, 0);
        return (len + 2, text.len());
    }
    let Some((char, len)) = entity::read(rest) else {
        if skip == 0 {
            view.copy(b"&", place, Obfuscations::NONE, 0);
        }
        return (1, 1);
    };
    let mut bytes = [0; 4];
    let text = char.encode_utf8(&mut bytes).as_bytes();
    if skip == 0 {
        // An attribute must escape quotes and brackets, but does not need to escape letters.
        let how = if char.is_ascii_alphanumeric() { Obfuscations::UNICODE } else { Obfuscations::NONE };
        view.put(text, (place, place + len), how, 0);
    }
    (len, text.len())
}

/// Returns the text of a script as an XML parser delivers it: references decoded outside of CDATA, and no
/// comments.
pub(super) fn text(text: &[u8], start: usize, named: &Entities<'_>) -> View {
    let mut view = View::default();
    let mut at = 0_usize;
    // Cleared after an unclosed comment or CDATA section, so that the end is searched only once.
    let mut ends = true;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let place = start + at;
        let (head, end): (&[u8], &[u8]) =
            if rest.starts_with(b"<![CDATA[") { (b"<![CDATA[", b"]]>") } else { (b"<!--", b"-->") };
        if let Some(body) = rest.strip_prefix(head).filter(|_| ends) {
            let found = memchr::memmem::find(body, end);
            ends = found.is_some();
            let len = found.unwrap_or(body.len());
            if head.len() > 4 || found.is_none() {
                view.copy(body.part(..len), place + head.len(), Obfuscations::NONE, 0);
            }
            let whole = head.len() + len + found.map_or(0, |_| end.len());
            at += whole.max(1);
            continue;
        }
        // Continues to the next `<` or `&` after the current one.
        let len = rest.iter().skip(1).position(|byte| *byte == b'<').map_or(rest.len(), |len| len + 1);
        let part = rest.part(..len);
        let mut inside = 0_usize;
        while let Some(rest) = part.get(inside..).filter(|rest| !rest.is_empty()) {
            let (len, _) = one(rest, place + inside, 0, named, &mut view);
            inside += len.max(1);
        }
        at += len.max(1);
    }
    view
}

/// Returns `true` if a tag animates an event handler: `attributeName="onclick"`.
pub(super) fn animates_event(tag: &[u8]) -> bool {
    memchr::memmem::find(tag, b"attributeName").is_some_and(|at| {
        let tail = tag.part(at + 13..);
        let value = tail
            .iter()
            .take(32)
            .filter(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'=' | b'"' | b'\''));
        let head: Vec<u8> = value.take(2).map(u8::to_ascii_lowercase).collect();
        head == b"on"
    })
}
