//! Redaction of a text that arrives in chunks.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one text stay below isize::MAX")]

use core::fmt;
use std::collections::VecDeque;

use crate::bytes::wiped::Wiped;
use crate::firewall::Firewall;
use crate::firewall::engine::{MoreText, OVERLAP, Pass, ROOM};
use crate::redacted::finding::SecretFinding;

/// The distance between the settled lines that are remembered.
const SPACING: usize = 4096;

/// The buffer of a longer text gets its full size at once: a buffer that grows would leave its bytes behind.
const SMALL: usize = 16 * 1024;

/// Redacts a text that arrives in chunks.
///
/// [`RedactStream::push`] processes whole blocks of 128 KiB; [`RedactStream::settle`] writes complete lines
/// before that.
///
/// # Guarantees
///
/// The output does not depend on how the text is cut into chunks, and equals that of
/// [`Firewall::redact_bytes`], except for a rule that withholds: the text before its match is already
/// written. The stream keeps at most 192 KiB of text, and up to eight times that while it undoes encodings.
/// Its buffer is wiped when it is dropped.
///
/// # Examples
///
/// ```
/// use plugward_redact::{Firewall, RuleSelection, Settings};
///
/// let firewall = Firewall::new(RuleSelection::all(), Settings::reference())?;
/// let (mut stream, mut out) = (firewall.stream(), Vec::new());
/// stream.push(b"password=\"tR4-qu!", &mut out);
/// stream.push(b"ckBr0wn\"\n", &mut out);
/// let findings = stream.finish(&mut out);
/// assert_eq!(out, b"password=\"[REDACTED:generic]\"\n");
/// assert_eq!(findings.len(), 1);
/// # Ok::<(), plugward_redact::RedactError>(())
/// ```
pub struct RedactStream<'f> {
    core: Pass<'f>,
    buffer: Wiped,
    base: usize,
    /// Lines at which the text was settled.
    settled: VecDeque<usize>,
}

impl<'f> RedactStream<'f> {
    pub(crate) fn new(firewall: &'f Firewall) -> Self {
        Self { core: Pass::new(firewall, None), buffer: Wiped::new(), base: 0, settled: VecDeque::new() }
    }

    /// Adds a chunk, and appends the finished output to the sink.
    pub fn push(&mut self, chunk: &[u8], sink: &mut Vec<u8>) {
        let mut rest = chunk;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(ROOM.saturating_sub(self.buffer.len()).max(1)));
            if self.buffer.len() + now.len() > SMALL {
                self.buffer.make_room(ROOM);
            }
            self.buffer.extend(now);
            rest = later;
            self.work(MoreText::Expected, sink);
        }
    }

    /// Appends to the sink the lines that later text cannot change, for a reader who watches the output.
    ///
    /// # Guarantees
    ///
    /// Calling it, or not, changes no byte of the output. It holds back:
    /// - the line that has no end yet
    /// - a line whose end may begin a key, a wrapped value or a split literal, until the next line
    /// - key blocks, the `data` of a possible Kubernetes Secret and private members of a possible JSON web
    ///   key, until they end
    /// - NUL bytes outside UTF-16, until their block of 128 KiB is complete
    /// - 16 KiB, if there are custom rules
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

    fn work(&mut self, rest: MoreText, sink: &mut Vec<u8>) {
        while self.core.block(&self.buffer, self.base, rest, sink) {
            let keep = self.core.keep_from().saturating_sub(self.base).min(self.buffer.len());
            self.buffer.drop_front(keep);
            self.base += keep;
        }
    }

    /// Ends the text: appends the rest to the sink and returns the findings.
    #[must_use]
    pub fn finish(mut self, sink: &mut Vec<u8>) -> Vec<SecretFinding> {
        self.work(MoreText::None, sink);
        self.core.findings
    }

    /// Takes the findings so far, so that a long stream need not keep them in memory.
    pub fn take_findings(&mut self) -> Vec<SecretFinding> {
        core::mem::take(&mut self.core.findings)
    }
}

impl fmt::Debug for RedactStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedactStream").field("held", &self.buffer.len()).finish_non_exhaustive()
    }
}
