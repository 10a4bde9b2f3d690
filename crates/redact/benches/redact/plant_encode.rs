//! Encoders for planted secrets.

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BECH32: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

fn pick(alphabet: &[u8], index: u32) -> char {
    let index = usize::try_from(index).unwrap_or(0);
    char::from(alphabet.get(index).copied().unwrap_or(b'?'))
}

/// Encodes as base64 with padding.
#[must_use]
pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let bits =
            (0..3).fold(0_u32, |bits, index| (bits << 8) | u32::from(group.get(index).copied().unwrap_or(0)));
        for (index, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            out.push(if index <= group.len() { pick(STANDARD, (bits >> shift) & 63) } else { '=' });
        }
    }
    out
}

/// Encodes as base64url without padding.
#[must_use]
pub(crate) fn base64_url(bytes: &[u8]) -> String {
    base64(bytes).trim_end_matches('=').replace('+', "-").replace('/', "_")
}

/// Encodes as hex digits.
#[must_use]
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |out, byte| out + &format!("{byte:02x}"))
}

/// Returns the six base-62 digits of the CRC-32 of a text.
#[must_use]
pub(crate) fn check_digits(text: &str) -> String {
    let mut crc = u32::MAX;
    for byte in text.bytes() {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    let mut number = !crc;
    let mut digits = Vec::new();
    for _ in 0..6 {
        digits.push(pick(BASE62, number % 62));
        number /= 62;
    }
    digits.into_iter().rev().collect()
}

/// Encodes as uppercase bech32: human-readable part, `1`, 52 digits, six check digits.
#[must_use]
pub(crate) fn bech32(human: &str, digit: &mut dyn FnMut() -> usize) -> String {
    let data: Vec<u32> = (0..52).map(|_| u32::try_from(digit() % 32).unwrap_or(0)).collect();
    let lower = human.to_ascii_lowercase();
    let mut values: Vec<u32> = lower.bytes().map(|byte| u32::from(byte >> 5)).collect();
    values.push(0);
    values.extend(lower.bytes().map(|byte| u32::from(byte & 31)));
    values.extend(&data);
    values.extend([0; 6]);
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
    check ^= 1;
    let sum = [25, 20, 15, 10, 5, 0].map(|shift| (check >> shift) & 31);
    let digits: String = data.into_iter().chain(sum).map(|value| pick(BECH32, value)).collect();
    format!("{human}1{}", digits.to_ascii_uppercase())
}
