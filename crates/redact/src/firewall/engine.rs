//! The redaction engine. Text arrives in blocks, and output is written as soon as later text cannot change
//! it.
//!
//! Blocks begin at fixed offsets, so the output does not depend on how the text was cut into chunks.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one text stay below isize::MAX")]

use core::cell::RefCell;
use core::ops::Range;

use plugward_types::Part;
use zeroize::Zeroizing;

use crate::bytes::part;
use crate::firewall::Firewall;
use crate::firewall::merge::{merge, to_characters, via_of};
use crate::firewall::scan::Scan;
use crate::firewall::settle;
use crate::known::KnownSecrets;
use crate::known::repeats::{LONGEST, Repeats};
use crate::redacted::finding::{RedactAction, SecretFinding};
use crate::redacted::kind::rank;
use crate::redacted::marker;
use crate::rules::Match;
use crate::rules::documents::pem;

/// Keywords are searched in blocks of this size.
const BLOCK: usize = 128 * 1024;
/// This much text must follow a block before it is examined, because no rule looks further ahead.
const AHEAD: usize = 32 * 1024;
/// This much of the end of a block is held back, because no rule looks further back.
const LAG: usize = 20 * 1024;
/// This much before a block is examined again.
pub(crate) const OVERLAP: usize = 24 * 1024;
/// The maximum size of a stream's buffer.
pub(crate) const ROOM: usize = OVERLAP + BLOCK + AHEAD + 8 * 1024;

/// Whether more text can follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MoreText {
    Expected,
    None,
}

/// The product of a pass, which decides what the offsets of findings refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Product {
    /// Redacted text, to which the findings refer.
    Output,
    /// Findings only. They refer to the input, and nothing is written.
    Findings,
}

/// A match whose marker is written but whose end has not arrived.
struct OpenMatch {
    found: SecretFinding,
    pem: bool,
    /// The text before BEGIN on its line.
    prefix: Zeroizing<Vec<u8>>,
}

/// The state of one pass over one text.
pub(crate) struct Pass<'f> {
    firewall: &'f Firewall,
    known: Option<&'f KnownSecrets>,
    /// The offset up to which keywords were searched.
    scanned: usize,
    /// The offset up to which output was written.
    emitted: usize,
    pending: Vec<Match>,
    /// The unencoded matches of the last block that are in the part which the next block sees again.
    seen: Vec<Range<usize>>,
    open: Option<OpenMatch>,
    done: bool,
    withheld: Option<u16>,
    /// Position in the output.
    out_at: usize,
    line: usize,
    column: usize,
    pub(crate) findings: Vec<SecretFinding>,
    /// The values of matches, if the caller wants them.
    pub(crate) learned: Vec<Zeroizing<Vec<u8>>>,
    /// The removed bytes as they were in the text.
    pub(crate) raws: Vec<Zeroizing<Vec<u8>>>,
    learns: bool,
    repeats: Repeats,
    product: Product,
}

impl<'f> Pass<'f> {
    pub(crate) fn new(firewall: &'f Firewall, known: Option<&'f KnownSecrets>) -> Self {
        Self {
            firewall,
            known,
            scanned: 0,
            emitted: 0,
            pending: Vec::new(),
            seen: Vec::new(),
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
            repeats: Repeats::default(),
            product: Product::Output,
        }
    }

    /// Creates a pass that writes no output.
    pub(crate) fn finding(firewall: &'f Firewall) -> Self {
        let mut core = Self::new(firewall, None);
        core.product = Product::Findings;
        core
    }

    /// Creates a pass that stores the values that it finds.
    pub(crate) fn learning(firewall: &'f Firewall) -> Self {
        let mut core = Self::new(firewall, None);
        core.learns = true;
        core
    }

    /// Returns the rank of the rule that withholds the text.
    pub(crate) const fn withheld(&self) -> Option<u16> {
        self.withheld
    }

    /// Returns the offset before which nothing is examined again.
    pub(crate) fn keep_from(&self) -> usize {
        self.scanned.saturating_sub(OVERLAP).min(self.emitted)
    }

    /// Processes one block of the text, of which `buf` is the part from `base`. Returns `false` if more text
    /// is needed first.
    pub(crate) fn block(&mut self, buf: &[u8], base: usize, rest: MoreText, out: &mut Vec<u8>) -> bool {
        let end = base + buf.len();
        let start = self.scanned;
        // A block is scanned only with the text after it. Its size does not depend on how the caller splits the
        // stream, so neither does the result.
        let whole = end - start >= BLOCK + AHEAD;
        if self.done || !(whole || rest == MoreText::None) {
            return false;
        }
        let (until, ahead) = if whole { (start + BLOCK, start + BLOCK + AHEAD) } else { (end, end) };
        let low = start.saturating_sub(OVERLAP).max(base);
        let text = part(buf, low - base..ahead - base);
        self.done = !whole;
        self.scanned = until;
        if self.withheld.is_some() {
            // The whole text is withheld, so the rest only has to be consumed.
            self.emitted = ahead;
            return true;
        }
        let rest = if whole { MoreText::Expected } else { MoreText::None };
        self.go_on(text, low, rest);
        let mut scan = Scan::new(&self.firewall.rules, &self.firewall.settings, self.known, text.len());
        scan.learned = self.learns.then(RefCell::default);
        // Matches of the previous block that reach into the overlap, so that they are not found again.
        let overlap = self.seen.iter().filter(|at| at.start >= low);
        scan.before = overlap.map(|at| at.start - low..at.end - low).collect();
        let hits = scan.text(text, start - low..until - low);
        let overlap = hits.iter().filter(|hit| hit.via.depth() == 0 && hit.at.end + low + OVERLAP > until);
        self.seen = overlap.map(|hit| hit.at.start + low..hit.at.end + low).collect();
        self.learned.extend(scan.learned.take().map(RefCell::into_inner).unwrap_or_default());
        self.pending.reserve_exact(hits.len());
        for mut hit in hits {
            to_characters(text, &mut hit);
            hit.at = hit.at.start + low..hit.at.end + low;
            // A match that begins after the block belongs to the next block, which sees more of it.
            if hit.at.end > self.emitted && (hit.at.start < until || !whole) {
                hit.at.start = hit.at.start.max(self.emitted);
                self.pending.push(hit);
            }
        }
        let limit = if whole { until - LAG } else { end };
        self.emit(text, low, limit, rest, out);
        true
    }

    /// Writes the lines that later text cannot change and that would otherwise wait for the rest of their
    /// block.
    ///
    /// `context` is an offset of `buf`, or of a line at which the text was settled before.
    pub(crate) fn settle(&mut self, buf: &[u8], base: usize, context: usize, out: &mut Vec<u8>) {
        if self.done || self.open.is_some() || self.withheld.is_some() {
            return;
        }
        let own = self.emitted - base;
        let mut line = crate::bytes::line_start(buf, own, buf.len());
        // The second half of a UTF-16 line end is already written.
        if line + 1 == own && crate::bytes::at(buf, line) == 0 {
            line = own;
        }
        // Whether the text is UTF-16 is only known from a few bytes of what was written.
        let before = line.saturating_sub(64);
        let reach = self.firewall.rules.custom_reach();
        // Only text that no later byte can turn into a secret may be written early.
        let mut limit = base + before + settle::settled(part(buf, before..buf.len()), line - before, reach);
        if limit <= self.emitted {
            return;
        }
        let text = part(buf, context - base..buf.len());
        let scan = Scan::new(&self.firewall.rules, &self.firewall.settings, self.known, text.len());
        let mut hits = scan.text(text, 0..text.len());
        for hit in &mut hits {
            to_characters(text, hit);
            hit.at = hit.at.start + context..hit.at.end + context;
        }
        hits.extend(self.pending.iter().cloned());
        limit = self.clear_of(&hits, buf, base, limit);
        if limit <= self.emitted {
            return;
        }
        hits.retain(|hit| hit.at.end > self.emitted && hit.at.start < limit);
        let later = core::mem::replace(&mut self.pending, hits);
        for hit in &mut self.pending {
            hit.at.start = hit.at.start.max(self.emitted);
        }
        self.emit(text, context, limit, MoreText::Expected, out);
        self.pending.extend(later.into_iter().filter(|hit| hit.at.end > self.emitted));
    }

    /// Moves a limit back to a line end that no match crosses. Parts that exceed a limit are left to the
    /// block.
    fn clear_of(&self, hits: &[Match], buf: &[u8], base: usize, mut limit: usize) -> usize {
        // Moving the limit before one match can put it inside another, hence the loop. It ends, because the
        // limit only decreases.
        loop {
            let over =
                hits.iter().filter(|hit| hit.at.end > self.emitted && hit.at.start < limit).find(|hit| {
                    hit.at.end > limit || hit.at.end >= base + buf.len() || hit.rank == rank("unscanned")
                });
            match over {
                Some(hit) => limit = base + crate::bytes::line_start(buf, hit.at.start - base, buf.len()),
                None => return limit,
            }
        }
    }

    /// Returns the offset up to which everything is written.
    pub(crate) const fn emitted(&self) -> usize {
        self.emitted
    }

    /// Extends a match whose marker is already written.
    fn go_on(&mut self, text: &[u8], low: usize, rest_of: MoreText) {
        let Some(mut open) = self.open.take() else { return };
        let rest = part(text, self.emitted.saturating_sub(low)..text.len());
        let length = if open.pem {
            pem::goes_on(rest, &open.prefix)
        } else {
            crate::bytes::run(rest, 0, crate::bytes::TOKEN | crate::bytes::LINE, rest.len())
        };
        open.found.raw_len += length;
        self.emitted += length;
        if self.product == Product::Findings {
            open.found.at.end += length;
            self.advance(part(rest, 0..length));
        }
        if length < rest.len() || rest_of == MoreText::None {
            self.findings.push(open.found);
        } else {
            self.open = Some(open);
        }
    }

    /// Writes everything before the limit.
    fn emit(&mut self, text: &[u8], low: usize, limit: usize, rest: MoreText, out: &mut Vec<u8>) {
        let ahead = low + text.len();
        // Overlapping matches become one marker. Two markers could leave the bytes between them readable.
        let groups = merge(core::mem::take(&mut self.pending));
        self.findings.reserve_exact(groups.len());
        for group in groups {
            let reaches =
                rest == MoreText::Expected && group.at.end >= ahead && group.action == RedactAction::Removed;
            if group.at.start >= limit && !reaches {
                self.pending.push(group);
                continue;
            }
            if group.at.end <= self.emitted {
                continue;
            }
            let start = group.at.start.max(self.emitted);
            self.between(text, low, start, start, out);
            if group.action != RedactAction::Removed && group.action != RedactAction::Withheld {
                self.note(&group);
                continue;
            }
            let raw = part(text, start - low..group.at.end - low);
            if self.learns {
                self.raws.push(Zeroizing::new(raw.to_vec()));
            }
            let found = self.mark(&group, start, raw, out);
            self.emitted = group.at.end;
            self.repeats.add(&group, raw);
            if group.action == RedactAction::Withheld {
                self.withheld = Some(group.rank);
                self.findings.push(found);
                self.pending.clear();
                return;
            }
            if reaches {
                let line = crate::bytes::line_start(text, start - low, 256);
                // The start of the line (an indent or a comment sign) repeats on each line of a PEM block, and
                // the next block must recognize it.
                let prefix = Zeroizing::new(part(text, line..start - low).to_vec());
                self.open = Some(OpenMatch {
                    found,
                    pem: group.rank == rank("pem") && group.via.depth() == 0,
                    prefix,
                });
                return;
            }
            self.findings.push(found);
        }
        // A repeat that begins before the limit can end after it, but not inside a match of its own.
        let ceiling = self.pending.iter().map(|hit| hit.at.start).fold(ahead, usize::min);
        self.between(text, low, limit, ceiling.max(limit), out);
    }

    /// Writes the text between matches, except values that were removed before and occur again.
    fn between(&mut self, text: &[u8], low: usize, until: usize, ceiling: usize, out: &mut Vec<u8>) {
        let ceiling = ceiling.min(until + LONGEST).saturating_sub(low);
        while self.emitted < until {
            let from = self.emitted.saturating_sub(low);
            let next = self.repeats.next(part(text, 0..ceiling), from);
            let Some(mut hit) = next.filter(|hit| hit.at.start + low < until) else {
                self.copy(part(text, from..until - low), out);
                self.emitted = until;
                return;
            };
            self.copy(part(text, from..hit.at.start), out);
            let raw = part(text, hit.at.clone());
            hit.at = hit.at.start + low..hit.at.end + low;
            if self.learns {
                self.raws.push(Zeroizing::new(raw.to_vec()));
            }
            let found = self.mark(&hit, hit.at.start, raw, out);
            self.emitted = hit.at.end;
            self.findings.push(found);
        }
    }

    fn copy(&mut self, text: &[u8], out: &mut Vec<u8>) {
        if self.product == Product::Output {
            out.extend_from_slice(text);
        }
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

    /// Writes the marker of a match.
    fn mark(&mut self, group: &Match, start: usize, raw: &[u8], out: &mut Vec<u8>) -> SecretFinding {
        if self.product == Product::Findings {
            let mut found = self.found(group, self.out_at..self.out_at + raw.len(), group.at.end - start);
            found.via = via_of(group, raw, self.known);
            self.advance(raw);
            return found;
        }
        let kind = self.firewall.rules.kind(group.rank);
        let before = out.len();
        let length = marker::write(out, self.firewall.settings.marker, kind.as_str(), group.wide);
        marker::keep_colors(out, raw);
        let mut found = self.found(group, self.out_at..self.out_at + length, group.at.end - start);
        found.via = via_of(group, raw, self.known);
        let written = out.part(before..).to_vec();
        self.advance(&written);
        found
    }

    /// Reports bytes that are kept.
    fn note(&mut self, group: &Match) {
        let start = self.out_at + group.at.start.saturating_sub(self.emitted);
        let mut found = self.found(group, start..start + group.at.len(), group.at.len());
        if self.product == Product::Findings {
            // A part of the match may have been passed already.
            found.at.end = group.at.end;
        }
        self.findings.push(found);
    }

    fn found(&self, group: &Match, at: Range<usize>, raw_len: usize) -> SecretFinding {
        let kind = self.firewall.rules.kind(group.rank);
        SecretFinding {
            kind,
            raw_len,
            via: group.via,
            checksum: group.sum,
            action: group.action,
            line: self.line,
            column: self.column + (at.start - self.out_at),
            pointer: String::new(),
            at,
        }
    }
}
