//! Reading lines from a tape: forwards in pieces, and backwards from the end.

use std::io;

use crate::format::json::is_object;
use crate::format::record::MAX_LINE;
use crate::storage::Tape;

const CHUNK: usize = 256 * 1024;

/// Reads a range in full.
pub(crate) fn read_range(tape: &dyn Tape, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(to.saturating_sub(from)).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    let mut filled = 0_usize;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let at = from.saturating_add(u64::try_from(filled).unwrap_or(u64::MAX));
        let read = tape.read_at(at, rest)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        filled = filled.saturating_add(read);
    }
    Ok(bytes)
}

/// Passes each line with its LF to `each`. A line above the limit is passed truncated, without an LF, and is
/// the last one.
pub(crate) fn each_line<E>(
    tape: &dyn Tape,
    from: u64,
    to: u64,
    each: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> io::Result<Result<(), E>> {
    let mut carry: Vec<u8> = Vec::new();
    let mut at = from;
    while at < to {
        // In chunks, because a ledger may be larger than the memory.
        let step = to.saturating_sub(at).min(u64::try_from(CHUNK).unwrap_or(u64::MAX));
        let piece = read_range(tape, at, at.saturating_add(step))?;
        at = at.saturating_add(step);
        carry.extend_from_slice(&piece);
        let mut rest = carry.as_slice();
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at_checked(end.saturating_add(1)).unwrap_or((rest, &[]));
            if let Err(error) = each(line) {
                return Ok(Err(error));
            }
            rest = after;
        }
        if rest.len() > MAX_LINE {
            return Ok(each(rest));
        }
        carry = rest.to_vec();
    }
    Ok(Ok(()))
}

/// Passes the complete lines that contain `mark` to `find` without their LF, the last one first, and returns its first
/// result.
///
/// Few lines have a mark, and one search per piece is several times as fast as one per line.
pub(crate) fn find_back<T>(
    tape: &dyn Tape,
    size: u64,
    mark: &[u8],
    find: &mut dyn FnMut(&[u8]) -> Option<T>,
) -> io::Result<Option<T>> {
    let marks = memchr::memmem::Finder::new(mark);
    let mut end = size;
    // The start of the piece that was read before, which is the end of a line.
    let mut carry: Vec<u8> = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(u64::try_from(CHUNK).unwrap_or(0));
        let mut piece = read_range(tape, start, end)?;
        piece.append(&mut carry);
        let first = if start == 0 { Some(0) } else { memchr::memchr(b'\n', &piece) };
        let (rest, lines) = piece.split_at_checked(first.unwrap_or(piece.len())).unwrap_or((&piece, &[]));
        if marks.find(lines).is_some() {
            let mut marked = lines.rsplit(|byte| *byte == b'\n').filter(|line| marks.find(line).is_some());
            if let Some(found) = marked.find_map(&mut *find) {
                return Ok(Some(found));
            }
        }
        // No record is longer, so the bytes are not one.
        if rest.len() <= MAX_LINE {
            carry = rest.to_vec();
        }
        end = start;
    }
    Ok(None)
}

fn last_lf(tape: &dyn Tape, low: u64, high: u64) -> io::Result<Option<u64>> {
    let mut end = high;
    while end > low {
        let start = end.saturating_sub(u64::try_from(CHUNK).unwrap_or(0)).max(low);
        let piece = read_range(tape, start, end)?;
        if let Some(found) = memchr::memrchr(b'\n', &piece) {
            return Ok(Some(start.saturating_add(u64::try_from(found).unwrap_or(0))));
        }
        end = start;
    }
    Ok(None)
}

/// Returns the end of the complete records: after the last LF, or before a last line that is not a JSON
/// object.
pub(crate) fn good_end(tape: &dyn Tape, low: u64, high: u64) -> io::Result<u64> {
    let Some(last) = last_lf(tape, low, high)? else { return Ok(low) };
    let end = last.saturating_add(1);
    if end < high {
        return Ok(end);
    }
    let start = last_lf(tape, low, last)?.map_or(low, |lf| lf.saturating_add(1));
    let length = last.saturating_sub(start);
    let fits = length < u64::try_from(MAX_LINE).unwrap_or(0);
    let whole = fits && is_object(&read_range(tape, start, last)?);
    Ok(if whole { end } else { start })
}
