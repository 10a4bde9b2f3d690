//! The ways a transform may have spelled a value.
#![expect(clippy::arithmetic_side_effects, reason = "counts over slices of bounded length")]

use zeroize::Zeroizing;

use crate::bytes::{AN, at, is, part};

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Gives a value as it is, backwards, and in every encoding whose text does not depend on what stands around it.
pub(crate) fn spellings(value: &[u8]) -> Vec<Zeroizing<Vec<u8>>> {
    let mut all = vec![value.to_vec(), value.iter().rev().copied().collect()];
    for alphabet in [STANDARD, URL] {
        for offset in 0..3 {
            all.push(base64_inside(value, offset, alphabet));
        }
    }
    let each =
        |form: fn(u8) -> String| value.iter().flat_map(|byte| form(*byte).into_bytes()).collect::<Vec<u8>>();
    all.push(each(|byte| format!("{byte:02x}")));
    all.push(each(|byte| format!("{byte:02x} ")).trim_ascii().to_vec());
    all.push(each(|byte| format!("{byte:02x}:")).strip_suffix(b":").unwrap_or_default().to_vec());
    all.push(each(|byte| format!("%{byte:02x}")));
    all.push(each(|byte| if is(byte, AN) { char::from(byte).to_string() } else { format!("%{byte:02x}") }));
    all.push(each(|byte| format!("\\u{byte:04x}")));
    all.push(each(|byte| format!("\\x{byte:02x}")));
    all.push(each(|byte| format!("&#{byte};")));
    all.push(each(|byte| format!("{byte},")).strip_suffix(b",").unwrap_or_default().to_vec());
    all.push(each(|byte| format!("{byte}, ")).strip_suffix(b", ").unwrap_or_default().to_vec());
    all.push(each(|byte| format!("0x{byte:02x}, ")).strip_suffix(b", ").unwrap_or_default().to_vec());
    all.push(each(|byte| char::from(byte).to_string() + " ").trim_ascii().to_vec());
    all.push(each(|byte| char::from(byte).to_string() + "-").strip_suffix(b"-").unwrap_or_default().to_vec());
    all.sort();
    all.dedup();
    all.into_iter().map(Zeroizing::new).collect()
}

/// Gives the base64 digits that depend on the value alone when it stands `offset` bytes after a group of three.
fn base64_inside(value: &[u8], offset: usize, alphabet: &[u8; 64]) -> Vec<u8> {
    let mut padded = vec![0; offset];
    padded.extend_from_slice(value);
    let whole = padded.len() / 3 * 3;
    let mut digits = Vec::new();
    for group in part(&padded, 0..whole).chunks_exact(3) {
        let bits = group.iter().fold(0_u32, |bits, byte| (bits << 8) | u32::from(*byte));
        for shift in [18, 12, 6, 0] {
            digits.push(at(alphabet, usize::try_from((bits >> shift) & 63).unwrap_or(0)));
        }
    }
    // The first digits mix with the byte before the value.
    let mixed = match offset {
        0 => 0,
        1 => 2,
        _ => 3,
    };
    let out = part(&digits, mixed..digits.len()).to_vec();
    let mut padded = Zeroizing::new(padded);
    padded.clear();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_at_three_offsets() {
        // "secret-value" after 0, 1 and 2 other bytes, as any encoder gives it.
        let value = b"secret-value";
        let has = |hay: &str, offset| {
            let inside = base64_inside(value, offset, STANDARD);
            hay.contains(&String::from_utf8(inside).unwrap())
        };
        assert!(has("c2VjcmV0LXZhbHVl", 0));
        assert!(has("eHNlY3JldC12YWx1ZQ==", 1));
        assert!(has("eHhzZWNyZXQtdmFsdWU=", 2));
    }

    #[test]
    fn spellings_hold_hex_percent_and_backwards() {
        let all: Vec<String> =
            spellings(b"ab!9").iter().map(|s| String::from_utf8(s.to_vec()).unwrap()).collect();
        for spelled in
            ["61622139", "%61%62%21%39", "ab%219", "9!ba", "\\u0061\\u0062\\u0021\\u0039", "97,98,33,57"]
        {
            assert!(all.iter().any(|s| s == spelled), "{spelled}");
        }
    }
}
