//! Base64 of either alphabet, and base32: encoding, and decoders from strict to lenient.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

use core::ops::Range;

use crate::Part;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Marks a byte that is not a digit.
const INVALID: u8 = 64;

/// The value of each digit, and [`INVALID`] for all other bytes. Long payloads are decoded byte by byte; a table has no
/// branches to mispredict.
const VALUES: [u8; 256] = {
    let mut table = [INVALID; 256];
    let mut digit: u8 = 0;
    loop {
        #[expect(clippy::indexing_slicing, reason = "a byte is below 256, checked at compile time")]
        {
            table[digit as usize] = match digit {
                b'A'..=b'Z' => digit - b'A',
                b'a'..=b'z' => digit - b'a' + 26,
                b'0'..=b'9' => digit - b'0' + 52,
                b'+' | b'-' => 62,
                b'/' | b'_' => 63,
                _ => INVALID,
            };
        }
        if digit == u8::MAX {
            break table;
        }
        digit += 1;
    }
};

fn lookup(digit: u8) -> u8 {
    VALUES.get(usize::from(digit)).copied().unwrap_or(INVALID)
}

/// Returns the value of a digit of either alphabet, or `None` for another byte.
#[must_use]
pub fn value(digit: u8) -> Option<u8> {
    Some(lookup(digit)).filter(|value| *value < INVALID)
}

/// Returns the four digits of three bytes, in the standard alphabet.
#[must_use]
pub fn digits_of(bytes: [u8; 3]) -> [u8; 4] {
    let [first, second, third] = bytes.map(u32::from);
    let group = (first << 16) | (second << 8) | third;
    [18, 12, 6, 0].map(|shift| {
        let value = usize::try_from((group >> shift) & 63).unwrap_or(usize::MAX);
        DIGITS.get(value).copied().unwrap_or(b'=')
    })
}

/// Encodes bytes in the standard alphabet, with padding.
///
/// # Examples
/// ```
/// assert_eq!(plugward_types::base64::encode(b"foob"), "Zm9vYg==");
/// ```
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0; 3];
        group.iter_mut().zip(chunk).for_each(|(to, byte)| *to = *byte);
        let digits = digits_of(group).into_iter().take(chunk.len() + 1).map(char::from);
        out.extend(digits.chain(core::iter::repeat_n('=', 3 - chunk.len())));
    }
    out
}

/// Decodes the one canonical spelling: the standard alphabet with full padding, and unused bits of zero.
///
/// # Examples
/// ```
/// use plugward_types::base64;
///
/// assert_eq!(base64::decode_canonical("Zg=="), Some(b"f".to_vec()));
/// assert_eq!(base64::decode_canonical("Zh=="), None);
/// ```
#[must_use]
pub fn decode_canonical(text: &str) -> Option<Vec<u8>> {
    // Every other spelling is a different text than the encoding of what it decodes to.
    Some(decode_lenient(text.as_bytes())).filter(|bytes| encode(bytes) == text)
}

/// Decodes digits of either alphabet, with whitespace and `=` anywhere. Returns `None` if another byte occurs.
///
/// # Examples
/// ```
/// use plugward_types::base64;
///
/// assert_eq!(base64::decode(b"aGk_\nPg"), Some(b"hi?>".to_vec()));
/// assert_eq!(base64::decode(b"aGk!"), None);
/// ```
#[must_use]
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    pack(text, 6, value)
}

/// Decodes base32 in upper case, with whitespace and `=` anywhere. Returns `None` if another byte occurs.
#[must_use]
pub fn decode32(text: &[u8]) -> Option<Vec<u8>> {
    pack(text, 5, |digit| match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'2'..=b'7' => Some(digit - b'2' + 26),
        _ => None,
    })
}

/// Joins digits of `width` bits to bytes. Bits after the last whole byte are dropped.
fn pack(text: &[u8], width: u32, value: impl Fn(u8) -> Option<u8>) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() * width as usize / 8);
    let (mut bits, mut held) = (0_u16, 0);
    for digit in text.iter().filter(|byte| !byte.is_ascii_whitespace() && **byte != b'=') {
        bits = (bits << width) | u16::from(value(*digit)?);
        held += width;
        if held >= 8 {
            held -= 8;
            let [_, byte] = (bits >> held).to_be_bytes();
            out.push(byte);
        }
    }
    Some(out)
}

/// Decodes digits of either alphabet up to the first `=`, and skips all other bytes.
#[must_use]
pub fn decode_lenient(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 3);
    // Full blocks of digits are decoded 32 at a time, without a check per byte.
    let (blocks, _) = text.as_chunks::<32>();
    let whole = blocks.iter().take_while(|block| block.iter().all(|byte| lookup(*byte) < INVALID));
    let whole = whole.map(|block| out.extend_from_slice(&decode_block(block))).count();
    decode_each(text.part(whole * 32..), |byte, _| out.push(byte));
    out
}

/// Decodes a block of 32 digits.
#[must_use]
pub fn decode_block(digits: &[u8; 32]) -> [u8; 24] {
    let mut out = [0; 24];
    for (to, from) in out.as_chunks_mut::<3>().0.iter_mut().zip(digits.as_chunks::<4>().0) {
        let [_, bytes @ ..] =
            from.iter().fold(0, |bits, digit| bits << 6 | u32::from(lookup(*digit))).to_be_bytes();
        *to = bytes;
    }
    out
}

/// Decodes as [`decode_lenient`] does, and passes each byte with the range of its digits.
pub fn decode_each(text: &[u8], mut each: impl FnMut(u8, Range<usize>)) {
    let (mut bits, mut held, mut first) = (0_u16, 0_u32, 0);
    for (at, digit) in text.iter().enumerate() {
        let Some(value) = value(*digit) else {
            if *digit == b'=' {
                break;
            }
            continue;
        };
        if held == 0 {
            first = at;
        }
        bits = (bits << 6) | u16::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            let [_, byte] = (bits >> held).to_be_bytes();
            each(byte, core::mem::replace(&mut first, at)..at + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_of_the_last_group() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode_canonical(text).as_deref(), Some(bytes.as_bytes()));
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(bytes.as_bytes()));
            assert_eq!(decode_lenient(text.as_bytes()), bytes.as_bytes());
        }
    }

    #[test]
    fn every_byte_round_trips() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(decode_canonical(&encode(&bytes)).as_deref(), Some(&bytes[..]));
    }

    #[test]
    fn only_the_canonical_spelling_is_canonical() {
        for bad in
            ["Z", "Zg", "Zg=", "Z===", "====", "Zh==", "Zm9=", "Zg==Zg==", "Zm9v\n", "Zm-v", "\u{e9}aa"]
        {
            assert_eq!(decode_canonical(bad), None, "{bad}");
        }
    }

    #[test]
    fn both_alphabets_decode() {
        assert_eq!(decode(b"aGk_Pg==").as_deref(), Some(&b"hi?>"[..]));
        assert_eq!(decode(b"a Gk/\nPg").as_deref(), Some(&b"hi?>"[..]));
        assert_eq!(decode(b"aGk.Pg"), None);
        assert_eq!(decode_lenient(b"a.Gk/Pg==ignored"), b"hi?>");
        assert_eq!(decode32(b"MZXW6YTB").as_deref(), Some(&b"fooba"[..]));
        assert_eq!(decode32(b"mzxw"), None);
    }

    #[test]
    fn bytes_know_their_digits() {
        let mut found = Vec::new();
        decode_each(b"Zm\n9v", |byte, range| found.push((byte, range)));
        assert_eq!(found, [(b'f', 0..2), (b'o', 1..4), (b'o', 3..5)]);
    }
}
