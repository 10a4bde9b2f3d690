//! Gzip and zlib, inside a decoded run.
#![expect(clippy::arithmetic_side_effects, reason = "sums of sizes stay below isize::MAX")]

use std::io::Read as _;

use flate2::read::{MultiGzDecoder, ZlibDecoder};

use super::{View, Wanted};
use crate::bytes::at;
use crate::found::Layer;
use crate::scan::Scan;

/// A run is inflated up to this size.
const MOST: u64 = 1024 * 1024;
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
    let mut bytes = Vec::with_capacity((text.len() * 4).min(1 << 20));
    let limit = MOST + 1;
    // A stream that breaks off is looked into as far as it goes: what was there before the break counts.
    let read = if is_zlib(text) {
        ZlibDecoder::new(text).take(limit).read_to_end(&mut bytes)
    } else {
        MultiGzDecoder::new(text).take(limit).read_to_end(&mut bytes)
    };
    let most = usize::try_from(MOST).unwrap_or(usize::MAX);
    if bytes.len() > most {
        wanted.failed.push(0..text.len());
        return;
    }
    let broken_at_once = read.is_err() && bytes.is_empty();
    if !broken_at_once {
        let mut view = View::new(Layer::Inflate, 0);
        view.atom(0..text.len(), &bytes);
        scan.view(&view, wanted);
    }
    zeroize::Zeroize::zeroize(&mut bytes);
}
