//! Computations on a value: entropy, checksums, base64.
#![expect(clippy::arithmetic_side_effects, reason = "counts and sums over slices of bounded length")]

use plugward_types::{Part, base64};
use zeroize::Zeroizing;

use crate::bytes::{at, part};

/// Returns the Shannon entropy of a value in bits per byte, or 0 for an empty one.
///
/// The entropy is at most log2 of the length, so rules for short values need a low threshold.
#[expect(clippy::cast_precision_loss, reason = "values are far below 2^52 bytes")]
pub(crate) fn entropy(value: &[u8]) -> f64 {
    if value.is_empty() {
        return 0.0;
    }
    let mut counts = [0_usize; 256];
    for byte in value {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let total = value.len() as f64;
    let weighted: f64 = counts.iter().filter(|c| **c > 1).map(|c| (*c as f64) * (*c as f64).log2()).sum();
    total.log2() - weighted / total
}

/// Computes a CRC-32 with the reflected polynomial 0xEDB88320. Bit by bit, since only 30 bytes are hashed at
/// a time.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Writes a number as six base-62 digits, highest first.
pub(crate) fn base62_six(mut number: u32) -> [u8; 6] {
    let mut out = [b'0'; 6];
    for slot in out.iter_mut().rev() {
        *slot = at(BASE62, usize::try_from(number % 62).unwrap_or(0));
        number /= 62;
    }
    out
}

/// Returns `true` if the last six of 36 bytes are the base-62 CRC-32 of the 30 before.
pub(crate) fn crc_holds(value: &[u8]) -> bool {
    match (value.get(..30), value.get(30..36)) {
        (Some(body), Some(check)) => base62_six(crc32(body)) == check,
        _ => false,
    }
}

const BECH32: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// Returns `true` if the checksum of a bech32 text (human-readable part, `1`, data) is right.
///
/// The generator is that of BIP 173.
pub(crate) fn bech32_holds(text: &[u8]) -> bool {
    let Some(split) = text.iter().rposition(|byte| *byte == b'1') else { return false };
    let (human, rest) = text.split_at(split);
    let digit = |byte: &u8| BECH32.iter().position(|own| *own == byte.to_ascii_lowercase());
    let rest = rest.part(1..);
    if !rest.iter().all(|byte| digit(byte).is_some()) {
        return false;
    }
    let lower = human.iter().map(|byte| u32::from(byte.to_ascii_lowercase()));
    // Not collected into a list, which would be a second copy of the value in memory.
    let values = lower
        .clone()
        .map(|byte| byte >> 5)
        .chain([0])
        .chain(lower.map(|byte| byte & 31))
        .chain(rest.iter().filter_map(digit).map(|place| u32::try_from(place).unwrap_or(0)));
    let mut check = 1_u32;
    for value in values {
        let top = check >> 25;
        check = ((check & 0x01ff_ffff) << 5) ^ value;
        for (bit, factor) in
            [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3].iter().enumerate()
        {
            if (top >> bit) & 1 == 1 {
                check ^= factor;
            }
        }
    }
    check == 1
}

/// Decodes base64 of either alphabet, padded or not, to at most `max` bytes. Stops at the first other byte.
pub(crate) fn base64(text: &[u8], max: usize) -> Zeroizing<Vec<u8>> {
    let digits = text.iter().take_while(|byte| base64::value(**byte).is_some()).count();
    let mut out = Zeroizing::new(Vec::with_capacity((digits / 4 * 3 + 3).min(max)));
    base64::decode_each(part(text, 0..digits), |byte, _| {
        if out.len() < max {
            out.push(byte);
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc_of_the_check_string() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        let body = b"0123456789abcdefghijABCDEFGHIJ";
        let mut whole = body.to_vec();
        whole.extend(base62_six(crc32(body)));
        assert!(crc_holds(&whole));
        whole[3] ^= 1;
        assert!(!crc_holds(&whole));
    }

    #[test]
    fn bech32_of_the_bip() {
        assert!(bech32_holds(b"A12UEL5L"));
        assert!(bech32_holds(b"abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw"));
        assert!(!bech32_holds(b"A12UEL5M"));
        assert!(!bech32_holds(b"no-separator"));
    }

    #[test]
    fn entropy_is_bounded_by_the_length() {
        assert!((entropy(b"abcdefgh") - 3.0).abs() < 1e-9);
        assert!(entropy(b"aaaaaaaa").abs() < 1e-9);
        assert!(entropy(b"").abs() < 1e-9);
    }

    #[test]
    fn base64_of_both_alphabets() {
        assert_eq!(base64(b"aGk_Pg==", 99).as_slice(), b"hi?>");
        assert_eq!(base64(b"aGk/Pg", 99).as_slice(), b"hi?>");
        assert_eq!(base64(b"aGk/Pg", 2).as_slice(), b"hi");
    }
}
