//! A text that comes in chunks.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one text stay below isize::MAX")]

use core::fmt;
use std::collections::VecDeque;

use crate::firewall::Firewall;
use crate::found::Found;
use crate::pass::{Core, OVERLAP, ROOM, Rest};
use crate::wiped::Wiped;

/// Lines at which a text was settled are remembered at this distance.
const SPACING: usize = 4096;

/// The buffer of a longer text gets all its room at once: it would leave as much behind if it grew.
const SMALL: usize = 16 * 1024;

/// Redacts a text that comes in chunks.
///
/// # Guarantees
/// The bytes that it puts out do not depend on how the text is cut into chunks, and are those of
/// [`Firewall::redact_bytes`]; only a rule that withholds differs, since what came before is out. It keeps at most
/// 192 KiB of text, and up to eight times that while it looks into encodings. Its buffer is wiped when it is dropped.
/// [`RedactStream::push`] works off whole blocks of 128 KiB; [`RedactStream::settle`] puts out the lines before that.
pub struct RedactStream<'f> {
    core: Core<'f>,
    buffer: Wiped,
    base: usize,
    /// Lines at which the text was settled.
    settled: VecDeque<usize>,
}

impl<'f> RedactStream<'f> {
    pub(crate) fn new(firewall: &'f Firewall) -> Self {
        Self { core: Core::new(firewall, None), buffer: Wiped::new(), base: 0, settled: VecDeque::new() }
    }

    /// Takes a chunk, and appends to the sink what is settled.
    pub fn push(&mut self, chunk: &[u8], sink: &mut Vec<u8>) {
        let mut rest = chunk;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(ROOM.saturating_sub(self.buffer.len()).max(1)));
            if self.buffer.len() + now.len() > SMALL {
                self.buffer.make_room(ROOM);
            }
            self.buffer.extend(now);
            rest = later;
            self.work(Rest::ToCome, sink);
        }
    }

    /// Appends to the sink the lines that nothing changes that may come: for somebody who watches.
    ///
    /// # Guarantees
    /// Whether and when it is called changes no byte of the output. Held are the line that has no end yet; a line that
    /// ends in what may be the beginning of a key, of a wrapped value or of a split literal, until the next line; key
    /// blocks, `data` of what may be a Kubernetes Secret and private members of what may be a JSON web key, until they
    /// end; NUL bytes that are of no UTF-16, until their block of 128 KiB is there. Rules of the host hold 16 KiB.
    pub fn settle(&mut self, sink: &mut Vec<u8>) {
        let emitted = self.core.emitted();
        while self.settled.get(1).is_some_and(|line| line + OVERLAP <= emitted) {
            self.settled.pop_front();
        }
        let far = self.settled.front().copied().filter(|line| line + OVERLAP <= emitted);
        let context = far.unwrap_or(0).max(self.core.keep_from()).max(self.base);
        self.core.settle(&self.buffer, self.base, context, sink);
        let now = self.core.emitted();
        if now > emitted && self.settled.back().is_none_or(|last| last + SPACING <= now) {
            self.settled.push_back(now);
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
