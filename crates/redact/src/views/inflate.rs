//! Gzip and zlib data inside a decoded run.
#![expect(clippy::arithmetic_side_effects, reason = "sums of sizes stay below isize::MAX")]

use core::hint::black_box;

use flate2::{Decompress, FlushDecompress, Status};
use zeroize::Zeroizing;

use crate::bytes::wiped::Wiped;
use crate::bytes::{at, part};
use crate::firewall::scan::Scan;
use crate::redacted::finding::Layer;
use crate::views::{View, ViewResults};

/// The maximum inflated size of a run.
const MOST: usize = 1024 * 1024;
/// A long inflated text is scanned in steps of this size, with this much text around each: no rule reaches
/// further.
const FRESH: usize = 128 * 1024;
const AROUND: usize = 56 * 1024;
/// A longer compressed run is not inflated.
const LONGEST: usize = 256 * 1024;

/// The header of a gzip member, and the length of its trailer.
const GZIP: &[u8] = &[0x1f, 0x8b, 8];
const TAIL: usize = 8;
/// The number of bytes inflated at a time.
const READ: usize = 8192;

/// Returns `true` if bytes begin like gzip or zlib.
pub(crate) fn is_compressed(bytes: &[u8]) -> bool {
    bytes.starts_with(GZIP) || is_zlib(bytes)
}

fn is_zlib(bytes: &[u8]) -> bool {
    let head = u16::from(at(bytes, 0)) * 256 + u16::from(at(bytes, 1));
    at(bytes, 0) == 0x78 && matches!(at(bytes, 1), 0x01 | 0x5e | 0x9c | 0xda) && head % 31 == 0
}

/// Scans the inflated text if the text is compressed. Data that exceeds a limit is removed unread.
pub(crate) fn view(text: &[u8], wanted: &mut ViewResults, scan: &Scan<'_>) {
    if !is_compressed(text) {
        return;
    }
    if text.len() > LONGEST {
        wanted.failed.push(0..text.len());
        return;
    }
    if !windows(Inflater::new(text), text.len(), wanted, scan) {
        wanted.failed.push(0..text.len());
    }
}

/// Scans inflated data window by window, in a buffer that is wiped. Returns `false` if the limit is exceeded.
fn windows(mut inflater: Inflater<'_>, length: usize, wanted: &mut ViewResults, scan: &Scan<'_>) -> bool {
    let mut window = Wiped::with_room(READ);
    let mut piece = Zeroizing::new([0; READ]);
    let mut total = 0;
    loop {
        // A damaged stream is scanned up to the damage.
        let count = inflater.read(piece.as_mut_slice());
        if count == 0 {
            break;
        }
        total += count;
        if total > MOST {
            return false;
        }
        window.extend(part(piece.as_slice(), 0..count));
        if window.len() >= FRESH + AROUND {
            let view = View::of(Layer::Inflate, window, 0..length);
            scan.view_of(&view, FRESH, wanted);
            window = view.bytes;
            window.drop_front(FRESH);
        }
    }
    if !window.is_empty() {
        let fresh = window.len();
        scan.view_of(&View::of(Layer::Inflate, window, 0..length), fresh, wanted);
    }
    true
}

/// Inflates zlib, or consecutive members of gzip.
///
/// Uses the low-level state of the library, because its readers do not expose the last 32 KiB of text for
/// wiping.
struct Inflater<'t> {
    rest: &'t [u8],
    zlib: bool,
    state: Decompress,
}

impl<'t> Inflater<'t> {
    fn new(text: &'t [u8]) -> Self {
        let zlib = is_zlib(text);
        let rest = if zlib { text } else { past_head(text) };
        Self { rest, zlib, state: Decompress::new(zlib) }
    }

    /// Fills a buffer. Returns the number of bytes, which is 0 at the end and at damage.
    fn read(&mut self, out: &mut [u8]) -> usize {
        loop {
            let (taken, given) = (self.state.total_in(), self.state.total_out());
            let Ok(status) = self.state.decompress(self.rest, out, FlushDecompress::None) else { return 0 };
            let since = |now: u64, before: u64| usize::try_from(now - before).unwrap_or(0);
            let count = since(self.state.total_out(), given);
            self.rest = part(self.rest, since(self.state.total_in(), taken)..self.rest.len());
            let over = status == Status::StreamEnd;
            if over {
                // A checksum and a length follow a member, and perhaps another member.
                let more = part(self.rest, TAIL..self.rest.len());
                let more = if self.zlib { &[] } else { past_head(more) };
                self.rest = more;
                self.state.reset(self.zlib);
            }
            if count > 0 || !over || self.rest.is_empty() {
                return count;
            }
        }
    }
}

impl Drop for Inflater<'_> {
    fn drop(&mut self) {
        self.state.reset(self.zlib);
        // Otherwise the compiler may remove the overwriting of memory that is not read again.
        black_box(&mut self.state);
    }
}

/// Returns the data after the header of a gzip member (RFC 1952, section 2.3), or nothing if there is no
/// header.
fn past_head(member: &[u8]) -> &[u8] {
    if !member.starts_with(GZIP) {
        return &[];
    }
    let flags = at(member, 3);
    let mut place = 10;
    if flags & 4 != 0 {
        place += 2 + usize::from(at(member, place)) + 256 * usize::from(at(member, place + 1));
    }
    for text in [8, 16] {
        if flags & text != 0 {
            place += memchr::memchr(0, part(member, place..member.len())).map_or(member.len(), |end| end + 1);
        }
    }
    part(member, place + if flags & 2 == 0 { 0 } else { 2 }..member.len())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::write::ZlibEncoder;
    use flate2::{Compression, GzBuilder};

    use super::*;

    #[test]
    fn a_head_tells_what_is_compressed() {
        assert!(is_compressed(&[0x1f, 0x8b, 8, 0]) && is_compressed(&[0x78, 0x9c]));
        assert!(!is_compressed(&[0x1f, 0x8b, 7]) && !is_compressed(&[0x78, 0x9d]) && !is_compressed(&[]));
    }

    fn inflated(bytes: &[u8]) -> Vec<u8> {
        let mut inflater = Inflater::new(bytes);
        let (mut all, mut piece) = (Vec::new(), [0; 7]);
        loop {
            match inflater.read(&mut piece) {
                0 => return all,
                count => all.extend_from_slice(&piece[..count]),
            }
        }
    }

    #[test]
    fn members_with_every_kind_of_head_are_read_one_behind_the_other() {
        let text =
            b"a text that is long enough to be worth it, twice: a text that is long enough".repeat(700);
        let mut all = Vec::new();
        for bits in 0..8 {
            let mut head = GzBuilder::new();
            if bits & 1 != 0 {
                head = head.filename("some.name");
            }
            if bits & 2 != 0 {
                head = head.comment("a comment");
            }
            if bits & 4 != 0 {
                head = head.extra("extra bytes");
            }
            let mut encoder = head.write(Vec::new(), Compression::default());
            encoder.write_all(&text).unwrap();
            all.extend(encoder.finish().unwrap());
        }
        assert!(inflated(&all) == text.repeat(8));
        for cut in [1, 3, 9, 20, all.len() / 2, all.len() - 4] {
            let so_far = inflated(&all[..cut]);
            assert!(text.repeat(8).starts_with(&so_far), "{cut}");
            assert!(cut < 100 || so_far.len() > text.len());
        }
    }

    #[test]
    fn zlib_is_read_and_broken_streams_end() {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(b"in zlib").unwrap();
        let whole = encoder.finish().unwrap();
        assert_eq!(inflated(&whole), b"in zlib");
        assert_eq!(inflated(&[0x78, 0x9c, 0xff, 0xff, 0xff]), b"");
        assert_eq!(inflated(&[0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0, 0xff, 0xff]), b"");
    }
}
