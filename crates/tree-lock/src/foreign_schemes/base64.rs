//! Base64 with padding: written for Go's `h1:`, read for the key ids of minisign.
#![expect(clippy::arithmetic_side_effects, reason = "offsets into a slice in memory cannot overflow")]

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let group = (at(0) << 16) | (at(1) << 8) | at(2);
        for (step, shift) in [18_u32, 12, 6, 0].into_iter().enumerate() {
            let index = usize::try_from((group >> shift) & 63).unwrap_or(0);
            let digit = ALPHABET.get(index).map_or('=', |digit| char::from(*digit));
            out.push(if step > chunk.len() { '=' } else { digit });
        }
    }
    out
}

/// Reads the standard alphabet with full padding, and nothing else; unused bits must be zero.
#[cfg(feature = "minisign")]
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    for (index, chunk) in text.as_bytes().chunks(4).enumerate() {
        let last = (index + 1) * 4 >= text.len();
        let digits = if last { chunk.iter().rev().skip_while(|byte| **byte == b'=').count() } else { 4 };
        if chunk.len() != 4 || digits < 2 {
            return None;
        }
        let mut group = 0_u32;
        for byte in chunk.iter().take(digits) {
            let value = ALPHABET.iter().position(|digit| digit == byte)?;
            group = (group << 6) | u32::try_from(value).ok()?;
        }
        group <<= 6_u32 * u32::try_from(4_usize - digits).ok()?;
        let [_, bytes @ ..] = group.to_be_bytes();
        let whole = digits - 1;
        if bytes.iter().skip(whole).any(|byte| *byte != 0) {
            return None;
        }
        out.extend(bytes.iter().take(whole));
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_length_of_the_last_group() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(super::encode(bytes.as_bytes()), text);
            #[cfg(feature = "minisign")]
            assert_eq!(super::decode(text).as_deref(), Some(bytes.as_bytes()));
        }
    }

    #[cfg(feature = "minisign")]
    #[test]
    fn what_is_not_canonical_is_refused() {
        for bad in
            ["Z", "Zg", "Zg=", "Z===", "====", "Zh==", "Zm9=", "Zg==Zg==", "Zm9v\n", "Zm-v", "\u{e9}aa"]
        {
            assert_eq!(super::decode(bad), None, "{bad}");
        }
    }
}
