//! The scan of one file: inventory, decoding, raw rules, lenses, views, embedded code.

use core::cell::Cell;

use plugward_types::{Digest, Part, Severity};

use crate::Profile;
use crate::engine::{PatternSet, RawMatch};
use crate::inventory::{self, Class, EntryState, Flag};
use crate::known::credentials;
use crate::lex::{self, Lexed};
use crate::rules::{Check, MatcherKind, NO_LENS, Rules};
use crate::rules::{keys, secret};
use crate::scan::cache;
use crate::scan::entry::{Content, Entry, FileKind, Lens};
use crate::scan::options::ScanOptions;
use crate::scan::sink::{CodePart, Embedded, EmbeddedText, Hit, Lowered, Named, Sink};
use crate::text::commands;
use crate::text::decode;
use crate::text::encoded::{self, Decoded, Uris};
use crate::text::near;
use crate::text::quotation;
use crate::text::unicode::{self, Kind};
use crate::text::view::{Obfuscations, SourceMap, View};
use crate::text::{FENCED, QUOTED, TextRead};

/// The matches in one file. Positions are in its decoded text; `map` leads back to raw bytes if it was transcoded.
#[derive(Debug)]
pub(crate) struct FileRecord {
    pub(crate) state: EntryState,
    pub(crate) lens: Option<Lens>,
    pub(crate) role: FileKind,
    pub(crate) bytes: u64,
    pub(crate) digest: Option<Digest>,
    pub(crate) hits: Vec<Hit>,
    pub(crate) named: Vec<Named>,
}

/// How much of a file is analyzed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Lexed and viewed within the limits.
    Full,
    /// Raw rules only: an earlier file used up the plugin's limit of lexed bytes.
    Raw,
}

/// Scans one entry.
pub(crate) fn scan(
    rules: &Rules,
    options: &ScanOptions<'_>,
    entry: &Entry<'_>,
    reading: Reading,
) -> FileRecord {
    match entry.content {
        Content::Bytes { bytes, digest } => remembered(rules, options, entry, bytes, digest, reading),
        Content::Link => bare(rules, entry, EntryState::Link),
        Content::Special => bare(rules, entry, EntryState::Special),
        Content::Unreadable { .. } => bare(rules, entry, EntryState::Unreadable),
    }
}

/// Returns the cached record of a file, or scans it and stores the record.
fn remembered(
    rules: &Rules,
    options: &ScanOptions<'_>,
    entry: &Entry<'_>,
    bytes: &[u8],
    digest: Digest,
    reading: Reading,
) -> FileRecord {
    let Some(cache) = options.cache else { return bytes_of(rules, options, entry, bytes, digest, reading) };
    let key = cache::key(rules, options, entry, digest, reading);
    let text = if decode::has_wide_encoding(bytes) { decode::decode(bytes).text.len() } else { bytes.len() };
    let known = cache.get(&key);
    let known = known
        .and_then(|record| cache::decode(&key, &record, rules, digest, bytes.len(), text.max(bytes.len())));
    known.unwrap_or_else(|| {
        let record = bytes_of(rules, options, entry, bytes, digest, reading);
        if let Some(bytes) = cache::encode(&key, &record) {
            cache.put(&key, &bytes);
        }
        record
    })
}

fn bare(rules: &Rules, entry: &Entry<'_>, state: EntryState) -> FileRecord {
    let mut sink = Sink::new(rules, None, entry.path, &[]);
    if state != EntryState::Link {
        sink.shape("coverage-unscanned", (0, 0), Obfuscations::NONE);
    }
    let role = inventory::names::role(entry.path);
    FileRecord { state, lens: None, role, bytes: 0, digest: None, hits: sink.hits, named: Vec::new() }
}

fn bytes_of(
    rules: &Rules,
    options: &ScanOptions<'_>,
    entry: &Entry<'_>,
    bytes: &[u8],
    digest: Digest,
    reading: Reading,
) -> FileRecord {
    let class = inventory::classify(entry.path, bytes, entry.role);
    let mut hits = Vec::new();
    let mut sink = Sink::new(rules, class.lenses.first().copied(), entry.path, options.packages);
    let is_text = !class.lenses.is_empty() || class.unread_language == Flag::Yes;
    // Positions in text are positions in its decoded form.
    if is_text && decode::has_wide_encoding(bytes) {
        inventory_hits(&class, &decode::decode(bytes).text, &mut sink);
    } else {
        inventory_hits(&class, bytes, &mut sink);
    }
    hits.append(&mut sink.hits);
    let mut record = FileRecord {
        state: class.binary.unwrap_or(EntryState::Scanned),
        lens: class.lenses.first().copied(),
        role: class.role,
        bytes: bytes.len() as u64,
        digest: Some(digest),
        hits,
        named: Vec::new(),
    };
    if !is_text {
        raw_rules(rules, bytes, NO_LENS, &mut record.hits);
        return record;
    }
    text_of(rules, options, entry, bytes, &class, reading, &mut record);
    record
}

/// Returns the end of the first bytes of a text, after a whole character.
fn head_of(text: &[u8]) -> usize {
    let most = text.len().min(16);
    let inside = |at: usize| text.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
    // A character has at most four bytes.
    (most.saturating_sub(3)..=most).rev().find(|at| !inside(*at)).unwrap_or(most)
}

fn inventory_hits(class: &Class, text: &[u8], sink: &mut Sink<'_>) {
    let head = (0, head_of(text));
    if let Some(detector) = class.binary.and_then(EntryState::detector) {
        sink.shape(detector, head, Obfuscations::NONE);
    }
    if let Some(mismatch) = class.mismatch {
        let whole = mismatch.start == 0 || mismatch.end > text.len();
        let span = if whole { head } else { (mismatch.start, mismatch.end) };
        sink.shape("evasion-name-mismatch", span, Obfuscations::NONE);
    }
    if class.unread_language == Flag::Yes {
        sink.shape("coverage-no-lens", head, Obfuscations::NONE);
    }
}

fn text_of(
    rules: &Rules,
    options: &ScanOptions<'_>,
    entry: &Entry<'_>,
    bytes: &[u8],
    class: &Class,
    reading: Reading,
    record: &mut FileRecord,
) {
    let decoded = decode::decode(bytes);
    let text: &[u8] = &decoded.text;
    let lens_bits = class.lenses.iter().fold(0, |bits, lens| bits | lens.bit());
    let mut hits = Vec::new();
    raw_rules(rules, text, if lens_bits == 0 { NO_LENS } else { lens_bits }, &mut hits);
    let mut sink = Sink::new(rules, class.lenses.first().copied(), entry.path, options.packages);
    let transcoded = if decoded.view.is_some() { Flag::Yes } else { Flag::No };
    encoding_hits(text, transcoded, class, &mut sink);
    // A finding about the encoding itself is not hidden by that encoding.
    let mut open = core::mem::take(&mut sink.hits);
    let kind = if class.lenses.iter().all(|lens| *lens == Lens::Prose) { Kind::Prose } else { Kind::Code };
    unicode::pass(text, kind, &mut sink);
    if class.lenses.contains(&Lens::Data) && inventory::names::parts(entry.path).1.starts_with("json") {
        unicode::escaped(text, &mut sink);
        crate::known::servers::find(text, &mut sink);
    }
    crate::text::passes::long_encoded(text, &mut sink);
    hits.append(&mut sink.hits);
    let left = Cell::new(text.len().saturating_mul(AGAIN).saturating_add(FREE));
    let whole =
        Source { text, depth: 0, lens: Lens::Prose, role: class.role, lowered: Lowered::No, left: &left };
    for embedded in core::mem::take(&mut sink.embedded) {
        inner(rules, options, entry.path, &whole, &embedded, &mut hits, &mut record.named);
    }
    if class.role == FileKind::Prompt {
        for (start, end) in commands::of(text) {
            let text = EmbeddedText::Range(start, end);
            let command = Embedded { lens: Lens::Sh, text, lowered: Lowered::Executed };
            inner(rules, options, entry.path, &whole, &command, &mut hits, &mut record.named);
        }
    }
    coded(rules, options, entry.path, &whole, lens_bits, &mut hits, &mut record.named);
    let limit = if reading == Reading::Full { options.limits.file } else { 0 };
    let (seen, rest) = text.split_at(text.len().min(limit));
    let mut lenses = class.lenses.clone();
    if lenses.is_empty() {
        lenses.push(Lens::Prose);
    }
    for lens in lenses {
        let source = Source { text: seen, lens, ..whole };
        read(rules, options, entry.path, &source, &mut hits, &mut record.named);
    }
    script_in_text(rules, entry.path, text, &mut hits);
    if !rest.is_empty() {
        unseen(rules, class, (seen.len(), text.len()), entry.path, &mut hits);
        record.state = EntryState::Partial;
    } else if let Some(broken) = decoded.broken {
        // Code units that form no character are unread: a host may decode them differently.
        unseen(rules, class, broken, entry.path, &mut hits);
        record.state = EntryState::Partial;
    } else if has_unread(rules, &hits) {
        record.state = EntryState::Partial;
    } else if decoded.view.is_some() {
        record.state = EntryState::Decoded;
    } else {
        record.state = EntryState::Scanned;
    }
    if let Some(view) = &decoded.view {
        for hit in &mut hits {
            hit.how = hit.how.and(view.map.back(hit.start as usize, hit.end as usize).2);
        }
    }
    record.hits.append(&mut hits);
    record.hits.append(&mut open);
}

/// Reports bytes beyond a limit or in no encoding. They are danger in code, data or a prompt.
fn unseen(rules: &Rules, class: &Class, span: (usize, usize), path: &str, hits: &mut Vec<Hit>) {
    let code = class.lenses.iter().any(|lens| *lens != Lens::Prose);
    if code || class.role == FileKind::Prompt || class.unread_language == Flag::Yes {
        let mut sink = Sink::new(rules, class.lenses.first().copied(), path, &[]);
        sink.shape("coverage-unscanned", span, Obfuscations::NONE);
        hits.append(&mut sink.hits);
    }
}

/// Returns `true` if a lexer stopped at a limit.
fn has_unread(rules: &Rules, hits: &[Hit]) -> bool {
    let shapes = [rules.shape("coverage-unscanned"), rules.shape("scan-partial")];
    hits.iter().any(|hit| shapes.iter().any(|matchers| matchers.contains(&hit.matcher)))
}

fn encoding_hits(text: &[u8], transcoded: Flag, class: &Class, sink: &mut Sink<'_>) {
    let code = class.lenses.iter().any(|lens| *lens != Lens::Prose) || class.role == FileKind::Prompt;
    if !code {
        return;
    }
    if transcoded == Flag::Yes {
        let first = text.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
        let len = first.map_or(text.len().min(1), char::len_utf8);
        sink.shape("evasion-encoding", (0, len), Obfuscations::NONE);
    } else if let Some(at) = memchr::memchr(0, text) {
        sink.shape("evasion-encoding", (at, at + 1), Obfuscations::NONE);
    }
    if let Err(error) = core::str::from_utf8(text) {
        let at = error.valid_up_to();
        let len = error.error_len().unwrap_or(text.len().saturating_sub(at));
        sink.shape("evasion-invalid-utf8", (at, at + len), Obfuscations::NONE);
    }
}

/// Adds what the rules find in the text of a file as if a script wrote it.
pub(crate) fn as_written(rules: &Rules, entry: &Entry<'_>, hits: &mut Vec<Hit>) {
    if let Content::Bytes { bytes, .. } = entry.content {
        raw_rules(rules, bytes, Lens::Sh.bit(), hits);
    }
}

/// Runs the rules of kind `bytes`.
fn raw_rules(rules: &Rules, text: &[u8], langs: u8, hits: &mut Vec<Hit>) {
    let mut found = Vec::new();
    rules.bytes.find(text, langs, &mut found);
    for raw in found {
        let Some(pattern) = rules.bytes.patterns.get(usize::from(raw.pattern)) else { continue };
        let Some(known) = rules.matcher(pattern.matcher) else { continue };
        let MatcherKind::Bytes { check } = &known.kind else { continue };
        let matched = text.part(raw.start..raw.end);
        let is_checked = check.is_none_or(|check| match check {
            Check::Uncommented => {
                !quotation::is_comment(text, raw.start) && !keys::is_switched_off(text.part(raw.end..))
            }
            Check::Undocumented => {
                !quotation::is_comment(text, raw.start) && !quotation::is_docstring(text, raw.start)
            }
            Check::Chosen => !keys::is_given(text),
            check => secret::holds(check, matched),
        });
        if known.langs & langs != 0 && is_checked {
            hits.push(hit(pattern.matcher, raw.start, raw.end, Obfuscations::NONE));
        }
    }
}

/// Runs the rules of kind `bytes` over an unescaped value. Its positions map to the surrounding text.
pub(crate) fn raw_view(view: &View, sink: &mut Sink<'_>) {
    let (rules, mut found) = (sink.rules, Vec::new());
    raw_rules(rules, &view.bytes, sink.lens, &mut found);
    for raw in found {
        let (start, end, how) = view.map.back(raw.start as usize, raw.end as usize);
        // A match without an escape is also in the raw text, and is found there.
        if !how.is_plain() {
            sink.hits.push(hit(raw.matcher, start, end, how));
        }
    }
}

/// Returns the ranges of secrets in a text.
pub(crate) fn secrets(rules: &Rules, text: &[u8]) -> Vec<(usize, usize)> {
    let mut hits = Vec::new();
    raw_rules(rules, text, NO_LENS, &mut hits);
    let secret = |hit: &&Hit| {
        let rule = rules.matcher(hit.matcher).and_then(|known| rules.table.get(usize::from(known.rule)));
        rule.is_some_and(|rule| rule.id.family() == "secret")
    };
    hits.iter().filter(secret).map(|hit| (hit.start as usize, hit.end as usize)).collect()
}

/// Records that code of the plugin runs a file without a code extension.
pub(crate) fn runs(rules: &Rules, entry: &Entry<'_>, record: &mut FileRecord) {
    let mut sink = Sink::new(rules, record.lens, entry.path, &[]);
    let Content::Bytes { bytes, .. } = entry.content else { return };
    sink.shape("evasion-code-in-text", (0, head_of(&decode::decode(bytes).text)), Obfuscations::NONE);
    record.hits.append(&mut sink.hits);
}

/// Reads the texts of a file as code, because other code of the plugin starts or evaluates one of them.
pub(crate) fn texts_as(
    rules: &Rules,
    options: &ScanOptions<'_>,
    entry: &Entry<'_>,
    lens: Lens,
    record: &mut FileRecord,
) {
    let Content::Bytes { bytes, .. } = entry.content else { return };
    if decode::has_wide_encoding(bytes) {
        return;
    }
    let left = Cell::new(bytes.len().saturating_mul(AGAIN).saturating_add(FREE));
    let whole = Source {
        text: bytes,
        depth: 0,
        lens: Lens::Prose,
        role: record.role,
        lowered: Lowered::No,
        left: &left,
    };
    let mark = if lens == Lens::Sh { b' ' } else { b'(' };
    for quote in [b'"', b'\'', b'`'] {
        let mut start = 0;
        for end in memchr::memchr2_iter(quote, b'\n', bytes) {
            let text = bytes.part(start..end);
            // A pattern is compared with commands, and is not one.
            let is_pattern = || text.contains(&b'\\') || memchr::memmem::find(text, b".*").is_some();
            if start > 0 && bytes.get(start - 1) == Some(&quote) && text.contains(&mark) && !is_pattern() {
                // Which of the texts is run is not known.
                let text = EmbeddedText::Range(start, end);
                let code = Embedded { lens, text, lowered: Lowered::Shown };
                inner(rules, options, entry.path, &whole, &code, &mut record.hits, &mut record.named);
            }
            start = end + 1;
        }
    }
}

/// Reports a first line that selects an interpreter, in a file without a code extension that contains a danger.
fn script_in_text(rules: &Rules, path: &str, text: &[u8], hits: &mut Vec<Hit>) {
    let named = inventory::names::lens(path);
    let Some(lens) = inventory::names::shebang(text) else { return };
    if named.is_some_and(|named| !matches!(named, Lens::Prose | Lens::Data)) || lens == Lens::Rs {
        return;
    }
    let danger = hits.iter().any(|hit| {
        let rule = rules.matcher(hit.matcher).and_then(|matcher| rules.table.get(usize::from(matcher.rule)));
        rule.and_then(|rule| rule.severity(Profile::StrictPlugin)) == Some(Severity::Danger)
    });
    if danger {
        let end = memchr::memchr2(b'\n', b'\r', text).unwrap_or(text.len());
        let mut sink = Sink::new(rules, Some(lens), path, &[]);
        sink.shape("evasion-code-in-text", (0, end), Obfuscations::NONE);
        hits.append(&mut sink.hits);
    }
}

fn hit(matcher: u16, start: usize, end: usize, how: Obfuscations) -> Hit {
    let small = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    Hit { start: small(start), end: small(end), matcher, how, lowered: Lowered::No }
}

/// A text that one lens reads.
struct Source<'a> {
    text: &'a [u8],
    depth: usize,
    lens: Lens,
    role: FileKind,
    lowered: Lowered,
    /// The remaining budget of bytes that may be read as code inside texts.
    left: &'a Cell<usize>,
}

/// The minimum cost of reading a piece, in bytes. Without it, a file of a hundred thousand tiny pieces would cost far more
/// than its length.
const PIECE: usize = 512;

/// A file may be read as embedded code for this multiple of its own length, plus a constant. Unclosed constructs can be
/// read from many positions up to the end, and so can their contents; without the budget that would be quadratic.
const AGAIN: usize = 16;
const FREE: usize = 64 << 10;

/// Reads a text through a lens, with the code embedded in it. Hits are in offsets of the text.
fn read(
    rules: &Rules,
    options: &ScanOptions<'_>,
    path: &str,
    source: &Source<'_>,
    hits: &mut Vec<Hit>,
    named: &mut Vec<Named>,
) {
    let mut sink = Sink::new(rules, Some(source.lens), path, options.packages);
    sink.role = source.role;
    sink.depth = source.depth;
    let mut lexed = Lexed::default();
    if source.lens == Lens::Js && source.depth == 0 && lex::js::html::is_markup(path) {
        lex::js::html::lex(source.text, &mut sink, &mut lexed);
    } else {
        lex::lex(source.lens, source.text, &mut sink, &options.limits, &mut lexed);
    }
    let mut own = core::mem::take(&mut sink.hits);
    crate::text::passes::code(&lexed.code, &mut sink);
    own.append(&mut sink.hits);
    code_rules(rules, &lexed.code, source.lens, &mut own);
    read_text(&lexed.text.finish(), &mut sink);
    if source.lens == Lens::Prose {
        lower_quotations(rules, source.text, &mut sink.hits);
    }
    near::find(source.text, source.lens, &mut sink);
    if source.depth == 0
        && matches!(source.lens, Lens::Js | Lens::Py | Lens::Sh)
        && let Some(span) = credentials::second_issuer(source.text)
    {
        sink.shape("credential-sweep", span, Obfuscations::NONE);
    }
    own.append(&mut sink.hits);
    for unread in core::mem::take(&mut sink.unread) {
        sink.shape("scan-partial", (unread.start, unread.end), Obfuscations::NONE);
    }
    own.append(&mut sink.hits);
    for embedded in &sink.embedded {
        inner(rules, options, path, source, embedded, &mut own, named);
    }
    for hit in &mut own {
        hit.lowered = match (source.lowered, hit.lowered) {
            (Lowered::Executed, _) | (Lowered::No, Lowered::Executed) => Lowered::Executed,
            (outer, own) => outer.max(own),
        };
    }
    hits.append(&mut own);
    // Code that documentation shows is not code of the plugin.
    if source.lowered != Lowered::Yes {
        let lens = source.lens;
        named.extend(core::mem::take(&mut sink.named).into_iter().map(|path| Named {
            lens,
            path,
            part: CodePart::File,
        }));
        named.append(&mut sink.named_as);
    }
}

/// Decodes encoded runs in a text and scans each as its content suggests, layer by layer.
fn coded(
    rules: &Rules,
    options: &ScanOptions<'_>,
    path: &str,
    source: &Source<'_>,
    langs: u8,
    own: &mut Vec<Hit>,
    named: &mut Vec<Named>,
) {
    // Values of data files are decoded after their escapes are undone.
    let uris = if langs & Lens::Data.bit() == 0 { Uris::Here } else { Uris::Elsewhere };
    for Decoded { view: View { bytes, map, .. }, lenses, binary } in encoded::find(source.text, uris) {
        let mut hits = Vec::new();
        if let Some(detector) = binary.and_then(EntryState::detector) {
            let (start, end, _) = map.back(0, bytes.len());
            let mut sink = Sink::new(rules, Some(source.lens), path, &[]);
            sink.shape(detector, (start, end), Obfuscations::NONE);
            own.append(&mut sink.hits);
        }
        raw_rules(rules, &bytes, lenses.iter().fold(langs, |bits, lens| bits | lens.bit()), &mut hits);
        for lens in &lenses {
            let text = EmbeddedText::Range(0, bytes.len());
            let inside = Embedded { lens: *lens, text, lowered: Lowered::No };
            let below = Source { text: &bytes, lens: *lens, ..*source };
            inner(rules, options, path, &below, &inside, &mut hits, named);
        }
        if source.depth + 1 < options.limits.embedded {
            let depth = source.depth + 1;
            let below = Source { text: &bytes, depth, ..*source };
            coded(rules, options, path, &below, 0, &mut hits, named);
        }
        let orders = hits.iter().any(|hit| {
            let rule = rules.matcher(hit.matcher).and_then(|known| rules.table.get(usize::from(known.rule)));
            rule.is_some_and(|rule| {
                let danger = rule.severity(Profile::General) == Some(Severity::Danger);
                danger && matches!(rule.id.family(), "prompt" | "sh")
            })
        });
        // A match in decoded text covers the whole encoded run.
        let (start, end, how) = map.back(0, bytes.len());
        if orders {
            let mut sink = Sink::new(rules, Some(source.lens), path, &[]);
            sink.shape("prompt-encoded", (start, end), Obfuscations::NONE);
            own.append(&mut sink.hits);
        }
        for found in hits {
            let moved = hit(found.matcher, start, end, found.how.and(how));
            own.push(Hit { lowered: found.lowered, ..moved });
        }
    }
}

/// Reads embedded code by its own lens and maps its hits back.
fn inner(
    rules: &Rules,
    options: &ScanOptions<'_>,
    path: &str,
    source: &Source<'_>,
    embedded: &Embedded,
    own: &mut Vec<Hit>,
    named: &mut Vec<Named>,
) {
    let (text, base, map): (&[u8], usize, Option<&SourceMap>) = match &embedded.text {
        EmbeddedText::Range(start, end) => (source.text.part(*start..*end), *start, None),
        EmbeddedText::View(View { bytes, map, .. }) => (bytes, 0, Some(map)),
    };
    let depth = source.depth + 1;
    let left = source.left.get().checked_sub(text.len().max(PIECE));
    source.left.set(left.unwrap_or(0));
    if depth > options.limits.embedded || left.is_none() {
        let mut sink = Sink::new(rules, Some(embedded.lens), path, &[]);
        let span = map.map_or((base, base + text.len()), |map| {
            let (start, end, _) = map.back(0, text.len());
            (start, end)
        });
        sink.shape("scan-partial", span, Obfuscations::NONE);
        own.append(&mut sink.hits);
        return;
    }
    let mut hits = Vec::new();
    let lowered = place_of(source, embedded, base);
    let below = Source { text, depth, lens: embedded.lens, lowered, ..*source };
    read(rules, options, path, &below, &mut hits, named);
    // The bytes of a command in a data file are those of a script, too.
    if source.lens == Lens::Data && source.depth == 0 {
        let is_own =
            |hit: &Hit| rules.matcher(hit.matcher).is_some_and(|known| known.langs & source.lens.bit() == 0);
        let before = hits.len();
        raw_rules(rules, text, embedded.lens.bit(), &mut hits);
        let more = hits.split_off(before).into_iter().filter(is_own);
        hits.extend(more.map(|hit| Hit { lowered, ..hit }));
    }
    for mut found in hits {
        let (start, end) = (found.start as usize, found.end as usize);
        let (start, end, how) = match map {
            Some(map) => map.back(start, end),
            None => (start + base, end + base, Obfuscations::NONE),
        };
        let moved = hit(found.matcher, start, end, how);
        (found.start, found.end, found.how) = (moved.start, moved.end, found.how.and(how));
        own.push(found);
    }
}

/// Returns how embedded code relates to its file: code that prose shows is not code of the file. Front matter belongs to
/// the file.
fn place_of(source: &Source<'_>, embedded: &Embedded, start: usize) -> Lowered {
    // The host runs the hooks in the front matter of a skill without asking the model.
    let is_hook = source.lens == Lens::Data && source.role == FileKind::Prompt && embedded.lens == Lens::Sh;
    let is_executed = is_hook || embedded.lowered == Lowered::Executed;
    let lowered = if is_executed && source.lowered <= Lowered::No {
        return Lowered::Executed;
    } else {
        source.lowered.max(embedded.lowered)
    };
    let front_matter = embedded.lens == Lens::Data && start <= FRONT_MATTER;
    let shown = source.lens == Lens::Prose && embedded.lens != Lens::Prose && !front_matter;
    if shown { lowered.max(Lowered::Shown) } else { lowered }
}

/// The offset up to which a block counts as front matter, which starts after the first line.
const FRONT_MATTER: usize = 8;

fn code_rules(rules: &Rules, view: &View, lens: Lens, hits: &mut Vec<Hit>) {
    let mut found = Vec::new();
    rules.code.find(&view.bytes, lens.bit(), &mut found);
    for raw in found {
        let Some(pattern) = rules.code.patterns.get(usize::from(raw.pattern)) else { continue };
        if rules.matcher(pattern.matcher).is_some_and(|matcher| matcher.langs & lens.bit() != 0) {
            let (start, end, how) = view.map.back(raw.start, raw.end);
            hits.push(hit(pattern.matcher, start, end, how));
        }
    }
}

/// Lowers matches of instructions that the document only quotes. Hidden text is never a quotation.
fn lower_quotations(rules: &Rules, source: &[u8], hits: &mut [Hit]) {
    for hit in hits {
        let Some(matcher) = rules.matcher(hit.matcher).filter(|matcher| rules.is_prompt(matcher)) else {
            continue;
        };
        let hidden =
            rules.table.get(usize::from(matcher.rule)).is_some_and(|rule| rule.id.as_str() == HIDDEN);
        let matched = source.part(hit.start as usize..hit.end as usize);
        // An instruction is in one block: words of two sections do not form one.
        let blocks = memchr::memmem::find_iter(matched, b"\n\n").count();
        if !hidden && (blocks > 0 || quotation::is_quoted(source, hit.start as usize, hit.end as usize)) {
            hit.lowered = hit.lowered.max(Lowered::Shown);
        }
    }
}

const HIDDEN: &str = "prompt/hidden-text";

/// Runs the rules of kind `text` over pieces of text.
pub(crate) fn read_text(read: &TextRead, sink: &mut Sink<'_>) {
    let rules = sink.rules;
    near::parts(&read.view, sink);
    let mut found = Vec::new();
    rules.text.find(&read.view.bytes, sink.lens, &mut found);
    for raw in &found {
        text_hit(&rules.text, &read.view, raw, sink);
    }
    for &(start, end) in &read.hidden {
        found.clear();
        let hay = read.view.bytes.part(start..end);
        rules.hidden.find(hay, sink.lens, &mut found);
        for raw in &found {
            let (from, to) = (raw.start + start, raw.end + start);
            let raw = RawMatch { pattern: raw.pattern, start: from, end: to };
            text_hit(&rules.hidden, &read.view, &raw, sink);
        }
    }
}

fn text_hit(set: &PatternSet, view: &View, raw: &RawMatch, sink: &mut Sink<'_>) {
    let rules = sink.rules;
    let Some(pattern) = set.patterns.get(usize::from(raw.pattern)) else { return };
    let Some(matcher) = rules.matcher(pattern.matcher) else { return };
    let MatcherKind::Text { within, roles } = matcher.kind else { return };
    // The end of the previous sentence is context and not part of the match.
    let text = view.bytes.part(raw.start..raw.end);
    let skip = text.iter().take_while(|byte| b".!?:;,\"'(> -".contains(byte)).count();
    let start = raw.start + (if skip < text.len() { skip } else { 0 });
    let tag = view.map.tag(start);
    if matcher.langs & sink.lens == 0 || within & tag == 0 || roles & sink.role.bit() == 0 {
        return;
    }
    // A negation of the first clause negates the whole instruction.
    let clause = view.bytes.part(start..raw.end);
    let clause = clause.iter().position(|byte| b".,;:!?".contains(byte)).unwrap_or(clause.len());
    if rules.may_be_negated(matcher) && lex::negation::is_negated(&view.bytes, start, start + clause) {
        return;
    }
    let (from, to, how) = view.map.back(start, raw.end);
    let mut found = hit(pattern.matcher, from, to, how);
    if view.map.has_tag(start, raw.end, FENCED)
        || (rules.is_prompt(matcher) && view.map.has_tag(start, raw.end, QUOTED))
    {
        found.lowered = Lowered::Yes;
    }
    sink.hits.push(found);
}
