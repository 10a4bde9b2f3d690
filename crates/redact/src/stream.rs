//! The one engine: text comes in blocks, redacted text goes out as soon as nothing that follows can change it.
//!
//! Blocks begin at fixed offsets of the text, so that the way it is cut into chunks changes no byte of the output.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one text stay below isize::MAX")]

use core::cell::RefCell;
use core::fmt;

use zeroize::Zeroizing;

use crate::bytes::part;
use crate::firewall::Firewall;
use crate::found::{ChecksumCheck, Did, Found, Via};
use crate::kind::rank;
use crate::known::Known;
use crate::marker;
use crate::rules::{Hit, Wide, pem};
use crate::scan::Scan;
use crate::wiped::Wiped;

/// Keywords are looked for in blocks of this size.
const BLOCK: usize = 256 * 1024;
/// So much must have come behind a block before it is looked at: no rule reaches further ahead.
const AHEAD: usize = 32 * 1024;
/// So much before the end of a block is held back: no rule reaches further back.
const LAG: usize = 20 * 1024;
/// So much before a block is looked at again.
const OVERLAP: usize = 24 * 1024;
/// The buffer of a stream never holds more.
const ROOM: usize = OVERLAP + BLOCK + AHEAD + 64 * 1024;

/// Whether more of the text may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    ToCome,
    None,
}

/// A hit whose marker is out and whose end has not come.
struct Open {
    found: Found,
    pem: bool,
    /// What stood before BEGIN on its line.
    prefix: Vec<u8>,
}

/// The state of one pass over one text.
pub(crate) struct Core<'f> {
    firewall: &'f Firewall,
    known: Option<&'f Known>,
    /// Offset up to which keywords were looked for.
    scanned: usize,
    /// Offset up to which the output is settled.
    emitted: usize,
    pending: Vec<Hit>,
    open: Option<Open>,
    done: bool,
    withheld: Option<u16>,
    /// Offset, line and column in the output.
    out_at: usize,
    line: usize,
    column: usize,
    pub(crate) findings: Vec<Found>,
    /// The values of hits, when they are wanted.
    pub(crate) learned: Vec<Zeroizing<Vec<u8>>>,
    /// The bytes that were cut out, as they stood there.
    pub(crate) raws: Vec<Zeroizing<Vec<u8>>>,
    learns: bool,
}

impl<'f> Core<'f> {
    pub(crate) const fn new(firewall: &'f Firewall, known: Option<&'f Known>) -> Self {
        Self {
            firewall,
            known,
            scanned: 0,
            emitted: 0,
            pending: Vec::new(),
            open: None,
            done: false,
            withheld: None,
            out_at: 0,
            line: 1,
            column: 1,
            findings: Vec::new(),
            learned: Vec::new(),
            raws: Vec::new(),
            learns: false,
        }
    }

    /// A pass that keeps the values that it finds.
    pub(crate) const fn learning(firewall: &'f Firewall) -> Self {
        let mut core = Self::new(firewall, None);
        core.learns = true;
        core
    }

    /// Gives the rank of the rule that withholds the text.
    pub(crate) const fn withheld(&self) -> Option<u16> {
        self.withheld
    }

    /// Gives the offset before which nothing is looked at again.
    fn keep_from(&self) -> usize {
        self.scanned.saturating_sub(OVERLAP).min(self.emitted)
    }

    /// Works off one block of a text of which `buf` is the part from `base` on. False: more must come first.
    pub(crate) fn block(&mut self, buf: &[u8], base: usize, rest: Rest, out: &mut Vec<u8>) -> bool {
        let end = base + buf.len();
        let start = self.scanned;
        let whole = end - start >= BLOCK + AHEAD;
        if self.done || !(whole || rest == Rest::None) {
            return false;
        }
        let (until, ahead) = if whole { (start + BLOCK, start + BLOCK + AHEAD) } else { (end, end) };
        let low = start.saturating_sub(OVERLAP).max(base);
        let text = part(buf, low - base..ahead - base);
        self.done = !whole;
        self.scanned = until;
        if self.withheld.is_some() {
            self.emitted = ahead;
            return true;
        }
        let rest = if whole { Rest::ToCome } else { Rest::None };
        self.go_on(text, low, rest);
        let mut scan = Scan::new(&self.firewall.rules, &self.firewall.settings, self.known, text.len());
        scan.learned = self.learns.then(RefCell::default);
        let hits = scan.text(text, start - low..until - low);
        self.learned.extend(scan.learned.take().map(RefCell::into_inner).unwrap_or_default());
        for mut hit in hits {
            to_characters(text, &mut hit);
            hit.at = hit.at.start + low..hit.at.end + low;
            // What begins behind the block belongs to the next one, which sees more of it.
            if hit.at.end > self.emitted && (hit.at.start < until || !whole) {
                hit.at.start = hit.at.start.max(self.emitted);
                self.pending.push(hit);
            }
        }
        let limit = if whole { until - LAG } else { end };
        self.emit(text, low, limit, rest, out);
        true
    }

    /// Takes more of a hit whose marker is out.
    fn go_on(&mut self, text: &[u8], low: usize, rest_of: Rest) {
        let Some(mut open) = self.open.take() else { return };
        let rest = part(text, self.emitted.saturating_sub(low)..text.len());
        let length = if open.pem {
            pem::goes_on(rest, &open.prefix)
        } else {
            crate::bytes::run(rest, 0, crate::bytes::TOKEN | crate::bytes::LINE, rest.len())
        };
        open.found.raw_len += length;
        self.emitted += length;
        if length < rest.len() || rest_of == Rest::None {
            self.findings.push(open.found);
        } else {
            self.open = Some(open);
        }
    }

    /// Puts out everything before the limit.
    fn emit(&mut self, text: &[u8], low: usize, limit: usize, rest: Rest, out: &mut Vec<u8>) {
        let ahead = low + text.len();
        let groups = merge(core::mem::take(&mut self.pending));
        for group in groups {
            let reaches = rest == Rest::ToCome && group.at.end >= ahead && group.did == Did::Cut;
            if group.at.start >= limit && !reaches {
                self.pending.push(group);
                continue;
            }
            if group.at.end <= self.emitted {
                continue;
            }
            if group.did != Did::Cut && group.did != Did::Withheld {
                self.note(&group);
                continue;
            }
            let start = group.at.start.max(self.emitted);
            self.copy(part(text, self.emitted.saturating_sub(low)..start.saturating_sub(low)), out);
            let raw = part(text, start - low..group.at.end - low);
            if self.learns {
                self.raws.push(Zeroizing::new(raw.to_vec()));
            }
            let found = self.mark(&group, start, raw, out);
            self.emitted = group.at.end;
            if group.did == Did::Withheld {
                self.withheld = Some(group.rank);
                self.findings.push(found);
                self.pending.clear();
                return;
            }
            if reaches {
                let line = crate::bytes::line_start(text, start - low, 256);
                let prefix = part(text, line..start - low).to_vec();
                self.open =
                    Some(Open { found, pem: group.rank == rank("pem") && group.via.depth() == 0, prefix });
                return;
            }
            self.findings.push(found);
        }
        let until = limit.max(self.emitted);
        self.copy(part(text, self.emitted.saturating_sub(low)..until.saturating_sub(low)), out);
        self.emitted = until;
    }

    fn copy(&mut self, text: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(text);
        self.advance(text);
    }

    fn advance(&mut self, text: &[u8]) {
        self.out_at += text.len();
        match memchr::memrchr(b'\n', text) {
            Some(last) => {
                self.line += memchr::memchr_iter(b'\n', text).count();
                self.column = text.len() - last;
            }
            None => self.column += text.len(),
        }
    }

    /// Writes the marker of a hit.
    fn mark(&mut self, group: &Hit, start: usize, raw: &[u8], out: &mut Vec<u8>) -> Found {
        let kind = self.firewall.rules.kind(group.rank);
        let before = out.len();
        let length = marker::write(out, self.firewall.settings.marker, kind.as_str(), group.wide);
        marker::keep_colors(out, raw);
        let mut found = self.found(group, self.out_at..self.out_at + length, group.at.end - start);
        found.via = via_of(group, raw, self.known);
        let written = out.get(before..).unwrap_or_default().to_vec();
        self.advance(&written);
        found
    }

    /// Reports bytes that stay.
    fn note(&mut self, group: &Hit) {
        let start = self.out_at + group.at.start.saturating_sub(self.emitted);
        let found = self.found(group, start..start + group.at.len(), group.at.len());
        self.findings.push(found);
    }

    fn found(&self, group: &Hit, at: core::ops::Range<usize>, raw_len: usize) -> Found {
        let kind = self.firewall.rules.kind(group.rank);
        Found {
            kind,
            raw_len,
            via: group.via,
            checksum: group.sum,
            did: group.did,
            line: self.line,
            column: self.column + (at.start - self.out_at),
            pointer: String::new(),
            at,
        }
    }
}

/// Moves the ends of a hit outwards to the borders of characters.
pub(crate) fn to_characters(text: &[u8], hit: &mut Hit) {
    if hit.wide != Wide::Bytes {
        return;
    }
    let inside = |place: usize| (0x80..0xc0).contains(&crate::bytes::at(text, place)) && place > 0;
    for _ in 0..3 {
        hit.at.start -= usize::from(inside(hit.at.start));
        hit.at.end += usize::from(hit.at.end < text.len() && inside(hit.at.end));
    }
}

/// Puts hits in order and makes one of those that overlap; what stays is dropped where something is cut.
pub(crate) fn merge(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|hit| (hit.at.start, hit.rank, hit.via.depth(), hit.at.end));
    let (mut cut, stay): (Vec<Hit>, Vec<Hit>) =
        hits.into_iter().partition(|hit| matches!(hit.did, Did::Cut | Did::Withheld));
    // A part of a documented example key is as public as the whole.
    let examples: Vec<&Hit> = stay.iter().filter(|hit| hit.did == Did::KeptExample).collect();
    cut.retain(|hit| {
        hit.did != Did::Cut
            || !examples.iter().any(|own| own.at.start <= hit.at.start && hit.at.end <= own.at.end)
    });
    let mut groups: Vec<Hit> = Vec::with_capacity(cut.len());
    for hit in cut {
        match groups.last_mut() {
            Some(last) if hit.at.start < last.at.end => {
                let end = last.at.end.max(hit.at.end);
                let known = last.known || hit.known;
                let withheld = last.did == Did::Withheld || hit.did == Did::Withheld;
                let first = (hit.rank, hit.via.depth()) < (last.rank, last.via.depth());
                if first {
                    *last = Hit { at: last.at.clone(), ..hit };
                }
                last.at.end = end;
                last.known = known;
                last.did = if withheld { Did::Withheld } else { Did::Cut };
            }
            _ => groups.push(hit),
        }
    }
    let mut kept: Vec<Hit> = Vec::new();
    for hit in stay {
        let after = groups.partition_point(|group| group.at.end <= hit.at.start);
        let covered = groups.get(after).is_some_and(|group| group.at.start < hit.at.end);
        if !covered && kept.last().is_none_or(|last| last.at.end <= hit.at.start) {
            kept.push(hit);
        }
    }
    groups.append(&mut kept);
    groups.sort_by_key(|hit| hit.at.start);
    groups
}

/// Redacts a text that comes in chunks.
///
/// # Guarantees
/// The bytes that it puts out do not depend on how the text is cut into chunks, and are those of
/// [`Firewall::redact_bytes`]; only a rule that withholds differs, since what came before is out. It keeps at most
/// 376 KiB of text, and up to eight times that while it looks into encodings. Its buffer is wiped when it is dropped.
pub struct RedactStream<'f> {
    core: Core<'f>,
    buffer: Wiped,
    base: usize,
}

impl<'f> RedactStream<'f> {
    pub(crate) fn new(firewall: &'f Firewall) -> Self {
        Self { core: Core::new(firewall, None), buffer: Wiped::new(), base: 0 }
    }

    /// Takes a chunk, and appends to the sink what is settled.
    pub fn push(&mut self, chunk: &[u8], sink: &mut Vec<u8>) {
        let mut rest = chunk;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(ROOM.saturating_sub(self.buffer.len()).max(1)));
            self.buffer.extend(now);
            rest = later;
            self.work(Rest::ToCome, sink);
        }
    }

    fn work(&mut self, rest: Rest, sink: &mut Vec<u8>) {
        while self.core.block(&self.buffer, self.base, rest, sink) {
            let keep = self.core.keep_from().saturating_sub(self.base).min(self.buffer.len());
            self.buffer.drop_front(keep);
            self.base += keep;
        }
    }

    /// Ends the text: appends the rest to the sink and gives what was found.
    #[must_use]
    pub fn finish(mut self, sink: &mut Vec<u8>) -> Vec<Found> {
        self.work(Rest::None, sink);
        self.core.findings
    }

    /// Takes the findings so far, so that a long stream need not keep them.
    pub fn take_findings(&mut self) -> Vec<Found> {
        core::mem::take(&mut self.core.findings)
    }
}

impl fmt::Debug for RedactStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedactStream").field("held", &self.buffer.len()).finish_non_exhaustive()
    }
}

/// Gives the layers of a hit; a value that was known and stands there in another way was laundered.
pub(crate) fn via_of(hit: &Hit, raw: &[u8], known: Option<&Known>) -> Via {
    let same = hit.rank != rank("known") && known.is_some_and(|known| known.is_raw(raw));
    if hit.known && !same { hit.via.laundered() } else { hit.via }
}

/// A finding for a text that was withheld as a whole.
pub(crate) fn withheld(firewall: &Firewall, rank: u16, raw_len: usize, marker: usize) -> Found {
    Found {
        kind: firewall.rules.kind(rank),
        at: 0..marker,
        raw_len,
        via: Via::default(),
        checksum: ChecksumCheck::None,
        did: Did::Withheld,
        line: 1,
        column: 1,
        pointer: String::new(),
    }
}
