//! Known false negatives. If one of these is found, its test fails, and the list in the README must be
//! updated.

use crate::common::untouched;
use crate::plant::{MAKERS, Rng};

fn key(name: &str) -> String {
    MAKERS.iter().find(|(own, ..)| *own == name).unwrap().2(&mut Rng::new(21)).secret
}

#[test]
fn evades_passphrase_of_plain_words() {
    untouched("passphrase: correct horse battery staple\n");
}

#[test]
fn evades_value_under_eight_bytes() {
    untouched("password = \"aB3!xY\"\n");
}

#[test]
fn evades_bare_password_without_a_name() {
    untouched("then type tR4-qu!ckBr0wn and press enter\n");
}

#[test]
fn evades_base32() {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let text = key("stripe live");
    let bits: String = text.bytes().map(|byte| format!("{byte:08b}")).collect();
    let digit = |five: &[u8]| {
        let five = format!("{:0<5}", String::from_utf8_lossy(five));
        char::from(DIGITS[usize::from_str_radix(&five, 2).unwrap()])
    };
    let encoded: String = bits.as_bytes().chunks(5).map(digit).collect();
    untouched(&format!("{encoded}\n"));
}

#[test]
fn evades_base85() {
    let text = key("stripe live");
    let group = |four: &[u8]| {
        let number = four.iter().fold(0_u32, |sum, byte| (sum << 8) | u32::from(*byte));
        (0..5)
            .rev()
            .map(|place| char::from(33 + u8::try_from(number / 85_u32.pow(place) % 85).unwrap()))
            .collect::<String>()
    };
    let encoded: String = text.as_bytes().chunks_exact(4).map(group).collect();
    untouched(&format!("<~{encoded}~>\n"));
}

#[test]
fn evades_uuencode() {
    let text = key("stripe live");
    let group = |three: &[u8]| {
        let number = three.iter().fold(0_u32, |sum, byte| (sum << 8) | u32::from(*byte));
        [18, 12, 6, 0]
            .map(|shift| char::from(32 + u8::try_from((number >> shift) & 63).unwrap()))
            .into_iter()
            .collect::<String>()
    };
    let encoded: String = text.as_bytes().chunks_exact(3).map(group).collect();
    untouched(&format!("begin 644 x\n>{encoded}\n`\nend\n"));
}

#[test]
fn evades_rot13() {
    let turned: String = key("stripe live")
        .chars()
        .map(|c| match c {
            'a'..='m' | 'A'..='M' => char::from(u8::try_from(c).unwrap() + 13),
            'n'..='z' | 'N'..='Z' => char::from(u8::try_from(c).unwrap() - 13),
            other => other,
        })
        .collect();
    untouched(&format!("{turned}\n"));
}

#[test]
fn evades_cipher() {
    let text: String = key("stripe live").bytes().map(|byte| format!("{:02x}", byte ^ 0x5a)).collect();
    untouched(&format!("{text}\n"));
}

#[test]
fn evades_split_over_two_calls() {
    let text = key("stripe live");
    let (left, right) = text.split_at(14);
    untouched(left);
    untouched(right);
}

#[test]
fn evades_short_literal_backwards() {
    let text: String = key("hugging face").chars().rev().collect();
    untouched(&format!("{text}\n"));
}

#[test]
fn evades_shape_with_signs_backwards() {
    let text: String = key("braintree").chars().rev().collect();
    untouched(&format!("{text}\n"));
}

#[test]
fn evades_account_key_without_a_name() {
    // Keys of storage accounts from before 2021 have no mark, and in a list they have no name either.
    let text = Rng::new(3).text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 86);
    untouched(&format!("[{{\"keyName\": \"key1\", \"value\": \"{text}==\"}}]\n"));
}
