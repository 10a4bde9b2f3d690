//! Hexadecimal digits: encoding, and decoding of one digit, a number, a text or a fixed number of bytes.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Marks a byte that is not a digit. It has a bit that no digit's value has, so that one `|` per digit finds it.
const INVALID: u8 = 0x10;

/// The value of each lower-case digit, and [`INVALID`] for all other bytes. A ledger decodes three digests per
/// record; a table has no branches to mispredict.
const LOWER_VALUES: [u8; 256] = {
    let mut table = [INVALID; 256];
    let mut value: u8 = 0;
    while value < 16 {
        #[expect(clippy::indexing_slicing, reason = "16 digits and 256 entries, checked at compile time")]
        {
            table[DIGITS[value as usize] as usize] = value;
        }
        value += 1;
    }
    table
};

/// Returns bytes as lower-case digits, two per byte.
///
/// # Examples
/// ```
/// assert_eq!(plugward_types::hex::encode(&[0x0f, 0xa0]), "0fa0");
/// ```
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| digits_of(*byte)).map(char::from).collect()
}

/// Appends bytes as lower-case digits, two per byte.
pub fn push(out: &mut Vec<u8>, bytes: &[u8]) {
    for byte in bytes {
        out.extend_from_slice(&digits_of(*byte));
    }
}

/// Returns the two lower-case digits of a byte.
#[must_use]
pub fn digits_of(byte: u8) -> [u8; 2] {
    [byte >> 4, byte & 15].map(|value| DIGITS.get(usize::from(value)).copied().unwrap_or(b'?'))
}

/// Returns the value of one digit of either case, or `None` for another byte.
#[must_use]
pub const fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit & 15),
        // `a` and `A` end in 0001, which stands for 10.
        b'a'..=b'f' | b'A'..=b'F' => Some((digit & 15) + 9),
        _ => None,
    }
}

/// Decodes a pair of digits of either case. A sign is not a digit.
#[must_use]
pub fn decode_pair(pair: &[u8]) -> Option<u8> {
    let &[high, low] = pair else { return None };
    Some((value(high)? << 4) | value(low)?)
}

/// Decodes the `%41` at the start of a text.
///
/// # Examples
/// ```
/// use plugward_types::hex;
///
/// assert_eq!(hex::percent(b"%41BC"), Some(b'A'));
/// assert_eq!(hex::percent(b"%4"), None);
/// ```
#[must_use]
pub fn percent(text: &[u8]) -> Option<u8> {
    decode_pair(text.strip_prefix(b"%")?.get(..2)?)
}

/// Returns a relative path as a URI reference, in which other bytes than `/` and the unreserved ones are `%41`.
///
/// # Examples
/// ```
/// assert_eq!(plugward_types::hex::percent_encode("a/b c.js"), "a/b%20c.js");
/// ```
#[must_use]
pub fn percent_encode(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.extend(digits_of(byte).map(|digit| char::from(digit.to_ascii_uppercase())));
        }
    }
    out
}

/// Decodes digits of either case, with ASCII whitespace anywhere between them.
///
/// Returns `None` if the number of digits is odd or another byte occurs.
///
/// # Examples
/// ```
/// use plugward_types::hex;
///
/// assert_eq!(hex::decode(b"0F a0"), Some(vec![0x0f, 0xa0]));
/// assert_eq!(hex::decode(b"+f"), None);
/// ```
#[must_use]
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    // Hex dumps are wrapped and grouped, so whitespace between digits is not an error.
    let digits: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    digits.chunks(2).map(decode_pair).collect()
}

/// Decodes exactly `2 * N` lower-case digits.
///
/// Upper-case digits are refused because stored digests have one spelling.
///
/// # Examples
/// ```
/// use plugward_types::hex;
///
/// assert_eq!(hex::decode_array("0fa0"), Some([0x0f, 0xa0]));
/// assert_eq!(hex::decode_array::<2>("0FA0"), None);
/// ```
#[must_use]
pub fn decode_array<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != N * 2 {
        return None;
    }
    let mut bytes = [0; N];
    // An invalid digit has a bit above the value, so one test after the loop replaces one for each digit.
    let mut seen = 0;
    for (slot, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        for digit in pair {
            let value = LOWER_VALUES.get(usize::from(*digit)).copied().unwrap_or(INVALID);
            seen |= value;
            *slot = (*slot << 4) | (value & 15);
        }
    }
    (seen < INVALID).then_some(bytes)
}

/// Returns the number that digits of either case spell.
///
/// Returns `None` if there are no digits, if another byte occurs, or if the number exceeds 32 bits.
#[must_use]
pub fn number(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u32, |sum, digit| sum.checked_mul(16)?.checked_add(u32::from(value(*digit)?)))
}

/// Returns `true` if a text consists of exactly so many lower-case digits, the form of a commit or digest.
#[must_use]
pub fn is_lower(text: &str, count: usize) -> bool {
    text.len() == count && text.bytes().all(|byte| DIGITS.contains(&byte))
}
