//! Compressed data inside a decoded run: gzip, zlib, bzip2, and raw deflate.
#![expect(clippy::arithmetic_side_effects, reason = "sums of sizes stay below isize::MAX")]

use core::hint::black_box;
use std::io::Read as _;

use flate2::{Decompress, FlushDecompress, Status};
use zeroize::Zeroizing;

use crate::bytes::wiped::Wiped;
use crate::bytes::{at, part};
use crate::firewall::scan::Scan;
use crate::redacted::finding::Layer;
use crate::views::{View, ViewResults, bunzip};

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

/// The length of the longest head by which compressed data is recognized.
pub(crate) const HEAD: usize = 10;
/// Raw deflate of less text cannot be told from random bytes.
const LEAST_RAW: usize = 8;

/// Returns `true` if bytes begin like gzip, zlib or bzip2.
pub(crate) fn is_compressed(bytes: &[u8]) -> bool {
    bytes.starts_with(GZIP) || is_zlib(bytes) || bunzip::is_bzip2(bytes)
}

/// Returns `true` if bytes are one complete stream of raw deflate, which has no head.
pub(crate) fn is_raw(bytes: &[u8]) -> bool {
    let mut inflater = Inflater::of(Format::Raw, bytes);
    let mut piece = Zeroizing::new([0; READ]);
    let mut total = 0;
    loop {
        let count = inflater.read(piece.as_mut_slice());
        total += count;
        if count == 0 || total > MOST {
            return inflater.is_over && inflater.rest.is_empty() && total >= LEAST_RAW;
        }
    }
}

fn is_zlib(bytes: &[u8]) -> bool {
    let head = u16::from(at(bytes, 0)) * 256 + u16::from(at(bytes, 1));
    at(bytes, 0) == 0x78 && matches!(at(bytes, 1), 0x01 | 0x5e | 0x9c | 0xda) && head % 31 == 0
}

/// Scans the inflated text if the text is compressed. Data that exceeds a limit is removed unread.
pub(crate) fn view(text: &[u8], wanted: &mut ViewResults, scan: &Scan<'_>) {
    let digits = matches!(wanted.via.layers().last(), Some(Layer::Base64 | Layer::Hex));
    if !(is_compressed(text) || scan.known.is_some() && digits && is_raw(text)) {
        return;
    }
    let inside = if text.len() > LONGEST {
        false
    } else if bunzip::is_bzip2(text) {
        bunzip::decode(text, MOST).is_some_and(|bytes| {
            let mut rest: &[u8] = &bytes;
            windows(|out| rest.read(out).unwrap_or(0), text.len(), wanted, scan)
        })
    } else {
        let mut inflater = Inflater::new(text);
        windows(|out| inflater.read(out), text.len(), wanted, scan)
    };
    if !inside {
        wanted.failed.push(0..text.len());
    }
}

/// Scans inflated data window by window, in a buffer that is wiped. Returns `false` if the limit is exceeded.
fn windows(
    mut read: impl FnMut(&mut [u8]) -> usize,
    length: usize,
    wanted: &mut ViewResults,
    scan: &Scan<'_>,
) -> bool {
    let mut window = Wiped::with_room(READ);
    let mut piece = Zeroizing::new([0; READ]);
    let mut total = 0;
    loop {
        // A damaged stream is scanned up to the damage.
        let count = read(piece.as_mut_slice());
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

/// The frame around deflated data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Gzip,
    Zlib,
    Raw,
}

/// Inflates zlib, raw deflate, or consecutive members of gzip.
///
/// Uses the low-level state of the library, because its readers do not expose the last 32 KiB of text for
/// wiping.
struct Inflater<'t> {
    rest: &'t [u8],
    format: Format,
    state: Decompress,
    /// Whether the last stream was read to its end.
    is_over: bool,
}

impl<'t> Inflater<'t> {
    fn new(text: &'t [u8]) -> Self {
        let (format, rest) = if is_zlib(text) {
            (Format::Zlib, text)
        } else if text.starts_with(GZIP) {
            (Format::Gzip, past_head(text))
        } else {
            (Format::Raw, text)
        };
        Self::of(format, rest)
    }

    fn of(format: Format, rest: &'t [u8]) -> Self {
        Self { rest, format, state: Decompress::new(format == Format::Zlib), is_over: false }
    }

    /// Fills a buffer. Returns the number of bytes, which is 0 at the end and at damage.
    fn read(&mut self, out: &mut [u8]) -> usize {
        if self.is_over && self.format != Format::Gzip {
            return 0;
        }
        loop {
            let (taken, given) = (self.state.total_in(), self.state.total_out());
            let Ok(status) = self.state.decompress(self.rest, out, FlushDecompress::None) else { return 0 };
            let since = |now: u64, before: u64| usize::try_from(now - before).unwrap_or(0);
            let count = since(self.state.total_out(), given);
            self.rest = part(self.rest, since(self.state.total_in(), taken)..self.rest.len());
            self.is_over = status == Status::StreamEnd;
            if self.is_over && self.format == Format::Gzip {
                // A checksum and a length follow a member, and perhaps another member.
                self.rest = past_head(part(self.rest, TAIL..self.rest.len()));
                self.state.reset(false);
            }
            if count > 0 || !self.is_over || self.format != Format::Gzip || self.rest.is_empty() {
                return count;
            }
        }
    }
}

impl Drop for Inflater<'_> {
    fn drop(&mut self) {
        self.state.reset(self.format == Format::Zlib);
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
