//! Gzip and zlib, inside a decoded run.
#![expect(clippy::arithmetic_side_effects, reason = "sums of sizes stay below isize::MAX")]

use std::io::Read;

use flate2::read::{MultiGzDecoder, ZlibDecoder};
use zeroize::Zeroizing;

use super::{View, Wanted};
use crate::bytes::{at, part};
use crate::found::Layer;
use crate::scan::Scan;
use crate::wiped::Wiped;

/// A run is inflated up to this size.
const MOST: usize = 1024 * 1024;
/// A longer compressed run is not looked into.
const LONGEST: usize = 256 * 1024;

/// Tells whether bytes begin as gzip or zlib do.
pub(crate) fn is_compressed(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b, 8]) || is_zlib(bytes)
}

fn is_zlib(bytes: &[u8]) -> bool {
    let head = u16::from(at(bytes, 0)) * 256 + u16::from(at(bytes, 1));
    at(bytes, 0) == 0x78 && matches!(at(bytes, 1), 0x01 | 0x5e | 0x9c | 0xda) && head % 31 == 0
}

/// The inflated text, if the text under it is compressed. What breaks a limit is not let through.
pub(crate) fn view(text: &[u8], wanted: &mut Wanted, scan: &Scan<'_>) {
    if !is_compressed(text) {
        return;
    }
    if text.len() > LONGEST {
        wanted.failed.push(0..text.len());
        return;
    }
    // A stream that breaks off is looked into as far as it goes: what was there before the break counts.
    let bytes = if is_zlib(text) { read(ZlibDecoder::new(text)) } else { read(MultiGzDecoder::new(text)) };
    if bytes.len() > MOST {
        wanted.failed.push(0..text.len());
    } else if !bytes.is_empty() {
        let mut view = View::new(Layer::Inflate, 0);
        view.atom(0..text.len(), &bytes);
        scan.view(&view, wanted);
    }
}

/// Reads a little more than the limit at most, into a buffer that is wiped.
fn read(mut decoder: impl Read) -> Wiped {
    let mut bytes = Wiped::new();
    let mut piece = Zeroizing::new([0; 8192]);
    while bytes.len() <= MOST {
        match decoder.read(piece.as_mut_slice()) {
            Ok(0) | Err(_) => break,
            Ok(count) => bytes.extend(part(piece.as_slice(), 0..count)),
        }
    }
    bytes
}
