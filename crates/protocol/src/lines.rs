//! Lines out of chunks of bytes.

use std::borrow::Cow;

use crate::error::{ProtocolError, ProtocolErrorKind};

/// Splits chunks of bytes into lines.
///
/// # Guarantees
/// The size of the chunks does not change the lines. The splitter keeps at most one incomplete line, of at most the limit.
///
/// # Examples
/// ```
/// use plugward_protocol::Lines;
///
/// let mut lines = Lines::of_plugin();
/// let mut found = Vec::new();
/// for mut chunk in [&b"{\"type\":"[..], b"\"ready\"}\n\n{\"ty"] {
///     while let Some(line) = lines.next_line(&mut chunk)? {
///         found.push(line.into_owned());
///     }
/// }
/// assert_eq!(found, [b"{\"type\":\"ready\"}"]);
/// assert_eq!(lines.end().as_deref(), Some(&b"{\"ty"[..]));
/// # Ok::<(), plugward_protocol::ProtocolError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Lines {
    limit: usize,
    partial: Vec<u8>,
}

impl Lines {
    /// Creates a splitter for a command plugin, with lines of at most 1 MiB.
    #[must_use]
    pub const fn of_plugin() -> Self {
        Self::with_limit(1 << 20)
    }

    /// Creates a splitter for a side of a proxy session, with lines of at most 32 MiB, because results contain images.
    #[must_use]
    pub const fn of_server() -> Self {
        Self::with_limit(32 << 20)
    }

    /// Creates a splitter for lines of at most this many bytes.
    #[must_use]
    pub const fn with_limit(limit: usize) -> Self {
        Self { limit, partial: Vec::new() }
    }

    /// Returns the next line that is not blank, and removes it from the chunk. `None` means that the chunk is used up.
    ///
    /// # Errors
    /// `protocol/too-long`; the program must be ended, because what follows is a part of a line.
    pub fn next_line<'c>(&mut self, chunk: &mut &'c [u8]) -> Result<Option<Cow<'c, [u8]>>, ProtocolError> {
        while !chunk.is_empty() {
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let (part, rest) = chunk.split_at_checked(end.unwrap_or(chunk.len())).unwrap_or((chunk, &[]));
            if part.len() > self.limit.saturating_sub(self.partial.len()) {
                return Err(ProtocolErrorKind::TooLong { limit: self.limit }.into());
            }
            *chunk = rest.get(1..).unwrap_or_default();
            if end.is_none() {
                self.partial.extend_from_slice(part);
                return Ok(None);
            }
            // A line inside one chunk, the usual case, is not copied.
            let line =
                if self.partial.is_empty() { Cow::Borrowed(part) } else { Cow::Owned(self.take(part)) };
            if !is_blank(&line) {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    /// Returns the last line if the program ended it without a line break.
    pub fn end(&mut self) -> Option<Vec<u8>> {
        Some(self.take(&[])).filter(|line| !is_blank(line))
    }

    fn take(&mut self, end: &[u8]) -> Vec<u8> {
        let mut line = core::mem::take(&mut self.partial);
        line.extend_from_slice(end);
        line
    }
}

/// Returns `true` if there is nothing but whitespace of JSON.
fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}
