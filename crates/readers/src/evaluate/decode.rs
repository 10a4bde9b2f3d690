//! Decoders of encoded payloads: base64, base32, hex, percent escapes, rot13.

/// Decodes base64 in either alphabet and skips other bytes.
pub(super) fn base64(text: &[u8]) -> Option<Vec<u8>> {
    bits(text, 6, |byte| match byte {
        b'A'..=b'Z' => Some(byte.wrapping_sub(b'A')),
        b'a'..=b'z' => Some(byte.wrapping_sub(b'a').wrapping_add(26)),
        b'0'..=b'9' => Some(byte.wrapping_sub(b'0').wrapping_add(52)),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    })
}

pub(super) fn base32(text: &[u8]) -> Option<Vec<u8>> {
    bits(text, 5, |byte| match byte {
        b'A'..=b'Z' => Some(byte.wrapping_sub(b'A')),
        b'2'..=b'7' => Some(byte.wrapping_sub(b'2').wrapping_add(26)),
        _ => None,
    })
}

fn bits(text: &[u8], width: u32, digit: impl Fn(u8) -> Option<u8>) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let (mut held, mut count) = (0_u32, 0_u32);
    for byte in text {
        let Some(value) = digit(*byte) else {
            if byte.is_ascii_whitespace() || *byte == b'=' {
                continue;
            }
            return None;
        };
        held = (held << width) | u32::from(value);
        count = count.saturating_add(width);
        if count >= 8 {
            count = count.saturating_sub(8);
            out.push(u8::try_from((held >> count) & 0xFF).unwrap_or(0));
            held &= (1_u32 << count).wrapping_sub(1);
        }
    }
    Some(out)
}

/// Encodes bytes as base64.
pub(super) fn to_base64(bytes: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::new();
    for chunk in bytes.chunks(3) {
        let all = chunk.iter().fold(0_u32, |sum, byte| (sum << 8) | u32::from(*byte));
        let missing = u32::try_from(3_usize.saturating_sub(chunk.len())).unwrap_or(0);
        let all = all << missing.saturating_mul(8);
        for place in 0..4_u32 {
            let shift = 18_u32.saturating_sub(place.saturating_mul(6));
            let digit = DIGITS.get((all >> shift) as usize & 63).copied().unwrap_or(b'=');
            out.push(if place > 3_u32.saturating_sub(missing) { b'=' } else { digit });
        }
    }
    out
}

pub(super) fn hex(text: &[u8]) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(core::str::from_utf8(pair).ok()?, 16).ok();
    if digits.len().is_multiple_of(2) { digits.chunks(2).map(pair).collect() } else { None }
}

/// Decodes `%41` and, like `unescape`, `%u0041`.
pub(super) fn percent(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0_usize;
    let digits = |from: usize, to: usize| {
        let digits = text.get(from..to).and_then(|digits| core::str::from_utf8(digits).ok())?;
        u32::from_str_radix(digits, 16).ok()
    };
    while let Some(byte) = text.get(at) {
        let next = at + 1;
        if *byte == b'%' {
            if text.get(next) == Some(&b'u')
                && let Some(char) = digits(at + 2, at + 6).and_then(char::from_u32)
            {
                out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                at += 6;
                continue;
            }
            if let Some(value) = digits(next, at + 3).and_then(|value| u8::try_from(value).ok()) {
                out.push(value);
                at += 3;
                continue;
            }
        }
        out.push(*byte);
        at = next;
    }
    out
}

pub(super) fn rot13(text: &[u8]) -> Vec<u8> {
    let turn =
        |byte: u8, first: u8| byte.wrapping_sub(first).wrapping_add(13).wrapping_rem(26).wrapping_add(first);
    text.iter()
        .map(|byte| match byte {
            b'a'..=b'z' => turn(*byte, b'a'),
            b'A'..=b'Z' => turn(*byte, b'A'),
            _ => *byte,
        })
        .collect()
}
