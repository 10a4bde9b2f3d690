//! Hexadecimal digits and percent encoding.

use plugward_types::hex::{
    decode, decode_array, decode_pair, encode, is_lower, number, percent_encode, push, value,
};

#[test]
fn every_byte_round_trips() {
    let bytes: Vec<u8> = (0..=255).collect();
    let text = encode(&bytes);
    let mut pushed = Vec::new();
    push(&mut pushed, &bytes);
    assert_eq!(pushed, text.as_bytes());
    assert_eq!(decode(text.as_bytes()).unwrap(), bytes);
    assert_eq!(decode(text.to_uppercase().as_bytes()).unwrap(), bytes);
    assert_eq!(decode_array::<256>(&text).unwrap().to_vec(), bytes);
}

#[test]
fn values_agree_with_the_standard_library() {
    for byte in 0..=255_u8 {
        let expected = char::from(byte).to_digit(16).filter(|_| byte.is_ascii());
        assert_eq!(value(byte).map(u32::from), expected, "{byte}");
    }
}

#[test]
fn other_text_does_not_decode() {
    for text in ["0", "0g", "+1", "-1", " 1", "0x", "é"] {
        assert_eq!(decode_pair(text.as_bytes()), None, "{text}");
    }
    assert_eq!(decode(b""), Some(vec![]));
    assert_eq!(decode(b"0 1\n2\t3"), Some(vec![0x01, 0x23]));
    assert_eq!(decode(b"012"), None);
    for text in ["0", "00a", "0G", "A0", "0a0", ""] {
        assert_eq!(decode_array::<1>(text), None, "{text}");
    }
}

#[test]
fn numbers_end_at_32_bits() {
    assert_eq!(number(b"1F600"), Some(0x1_f600));
    assert_eq!(number(b"ffffffff"), Some(u32::MAX));
    assert_eq!(number(b"0000000000001"), Some(1));
    assert_eq!(number(b"100000000"), None);
    assert_eq!(number(b""), None);
    assert_eq!(number(b"+1"), None);
}

#[test]
fn lower_case_digits_have_one_spelling() {
    assert!(is_lower("0fa9", 4) && is_lower("", 0));
    for (text, count) in [("0fa9", 3), ("0fa", 4), ("0FA9", 4), ("0fag", 4), ("+fa9", 4), ("", 1)] {
        assert!(!is_lower(text, count), "{text}");
    }
}

#[test]
fn other_bytes_of_a_path_are_percent_encoded() {
    assert_eq!(percent_encode("a-b_c.d~/e"), "a-b_c.d~/e");
    assert_eq!(percent_encode("%:é\\?"), "%25%3A%C3%A9%5C%3F");
}
