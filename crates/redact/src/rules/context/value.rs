//! Whether the value assigned to a name such as `password` looks like a secret.
#![expect(clippy::arithmetic_side_effects, reason = "counts over slices of bounded length")]

use plugward_types::Part;

use crate::bytes::{ALPHA, AN, DIGIT, HEX, LOWER, UPPER, has, is, part};
use crate::firewall::settings::ExampleMode;
use crate::rules::placeholder::{is_masked, is_placeholder, is_template};
use crate::rules::prefixed::entropy_at_least;
use crate::rules::prefixed::special::{changes, is_uuid};

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    Quoted,
    Bare,
}

/// Returns `true` for bytes that any value can contain.
pub(crate) fn is_value_byte(byte: u8) -> bool {
    is(byte, AN)
        || matches!(
            byte,
            b'_' | b'-' | b'!' | b'#' | b'%' | b'^' | b'*' | b'+' | b'/' | b'=' | b'@' | b'&' | b'~'
        )
}

fn is_quoted_byte(byte: u8) -> bool {
    matches!(byte, b'.' | b',' | b'?' | b':' | b';' | b'|' | b'$' | b'(' | b')' | b' ')
}

/// Returns `true` if a value looks like a secret.
pub(crate) fn looks_secret(value: &[u8], written: Quoting, examples: ExampleMode) -> bool {
    if !(8..=200).contains(&value.len()) {
        return false;
    }
    let count = |class| value.iter().filter(|byte| is(**byte, class)).count();
    let (digits, lower, upper) = (count(DIGIT), count(LOWER), count(UPPER));
    let symbols = value.iter().filter(|byte| matches!(byte, b'!' | b'#' | b'%' | b'^' | b'*')).count();
    let marks = value.iter().filter(|byte| is_quoted_byte(**byte) || matches!(byte, b'@' | b'&')).count();
    let signs = symbols + marks;
    // Keys of web frameworks are long rows of lowercase letters, digits and punctuation.
    let long = value.len() >= 32 && digits >= 3 && signs >= 5 && count_byte(value, b' ') == 0;
    let all_kinds = digits > 0 && (lower > 0 && upper > 0 && signs > 0 || long);
    let bytes_fit = value.iter().all(|byte| is_value_byte(*byte) || (is_quoted_byte(*byte) && all_kinds));
    if !bytes_fit || (digits == 0 && symbols == 0) {
        return false;
    }
    if !((lower > 0 && upper > 0) || digits >= 4 || symbols > 0) {
        return false;
    }
    if written == Quoting::Bare && (is_identifier(value) || digits == 0 && symbols < 2) {
        return false;
    }
    // A path of names in code: `crate::rules::super::Win32::Token`.
    if memchr::memmem::find(value, b"::").is_some() && changes(value) * 4 <= value.len() {
        return false;
    }
    let blanks = count_byte(value, b' ');
    if blanks > 0 && (written == Quoting::Bare || is_prose(value, blanks)) {
        return false;
    }
    let stays =
        is_plain_thing(value) || is_template(value) || (examples == ExampleMode::Keep && example(value));
    !stays && entropy_at_least(value, 3.0)
}

/// Returns `true` if a value that is clearly a password could be one that a person made up, such as `letmein123`.
pub(crate) fn looks_weak(value: &[u8], examples: ExampleMode) -> bool {
    let count = |class| value.iter().filter(|byte| is(**byte, class)).count();
    let (digits, lower, upper) = (count(DIGIT), count(LOWER), count(UPPER));
    let signs = value.len() - digits - lower - upper - count_byte(value, b'_') - count_byte(value, b'-');
    let fits = value.iter().all(|byte| is_value_byte(*byte) || matches!(byte, b'.' | b'?' | b'$'));
    let mixed = digits >= 2 || signs > 0 && (digits > 0 || upper > 0);
    let stays =
        is_plain_thing(value) || is_template(value) || (examples == ExampleMode::Keep && example(value));
    (8..=64).contains(&value.len()) && fits && lower > 0 && mixed && !stays && entropy_at_least(value, 2.5)
}

/// Returns `true` for a value that Sealed Secrets has encrypted, with the length of its session key at its start.
fn is_sealed(value: &[u8]) -> bool {
    value.len() >= 64
        && value.starts_with(b"Ag")
        && value.get(2).is_some_and(|byte| matches!(byte, b'A'..=b'D'))
        && value.iter().all(|byte| is(*byte, AN) || matches!(byte, b'+' | b'/' | b'='))
}

fn count_byte(value: &[u8], byte: u8) -> usize {
    memchr::memchr_iter(byte, value).count()
}

fn example(value: &[u8]) -> bool {
    is_masked(value) || is_placeholder(value)
}

/// Returns `true` for a color with opacity, `#8df78c39`: design tokens have such values.
fn is_color(value: &[u8]) -> bool {
    value.first() == Some(&b'#') && value.len() == 9 && part(value, 1..9).iter().all(|byte| is(*byte, HEX))
}

/// Returns `true` if the value is words with an occasional number: a sentence.
fn is_prose(value: &[u8], blanks: usize) -> bool {
    let words = value.split(|byte| *byte == b' ');
    let plain = words
        .filter(|word| word.iter().all(|b| is(*b, ALPHA) || matches!(b, b'.' | b',' | b':' | b'?' | b'!')))
        .count();
    plain * 2 >= blanks
}

/// Returns `true` if an unquoted value is a name in code: `oauth2Token`, `token_v2`.
fn is_identifier(value: &[u8]) -> bool {
    let shape = value.iter().all(|byte| is(*byte, AN) || *byte == b'_')
        && value.first().is_some_and(|b| !is(*b, DIGIT));
    let digits = value.iter().filter(|byte| is(**byte, DIGIT)).count();
    shape && digits <= 3 && changes(value) * 4 <= value.len()
}

/// Returns `true` for other values that names such as `token` are given.
fn is_plain_thing(value: &[u8]) -> bool {
    if is_color(value) {
        return true;
    }
    let labels = [
        "sha1-", "sha256-", "sha384-", "sha512-", "sha256:", "sha512:", "sha1:", "md5:", "0x", "arn:",
        "urn:", "h1:",
    ];
    labels.iter().any(|label| has(value, 0, label))
        || is_number(value)
        || is_uuid(value)
        || is_path(value)
        || is_address(value)
        || is_date_or_version(value)
        || is_words(value)
        || is_sealed(value)
}

/// Returns `true` for a number with a type suffix: `983551u32`, `16384i32`, `4096UL`.
fn is_number(value: &[u8]) -> bool {
    let digits = value.iter().take_while(|byte| is(**byte, DIGIT)).count();
    let suffix = part(value, digits..value.len());
    let typed =
        [&b"u8"[..], b"u16", b"u32", b"u64", b"u128", b"usize", b"i8", b"i16", b"i32", b"i64", b"i128"];
    let short = [&b"isize"[..], b"f32", b"f64", b"u", b"l", b"ul", b"ull", b"ll", b"n"];
    digits > 0 && typed.iter().chain(&short).any(|own| own.eq_ignore_ascii_case(suffix))
}

fn is_path(value: &[u8]) -> bool {
    let slashes = count_byte(value, b'/');
    let relative = value.starts_with(b"./")
        || value.starts_with(b"../")
        || value.starts_with(b"~/")
        || value.starts_with(b"/");
    let drive = value.get(1..3).is_some_and(|rest| rest == b":/" || rest == b":\\");
    // Base64 has a slash in about 64 bytes. A path has one between words.
    let wordy = value.split(|byte| *byte == b'/').all(|piece| changes(piece) * 4 <= piece.len().max(1));
    drive || (slashes > 0 && wordy) || (relative && slashes > 1 && changes(value) * 4 <= value.len())
}

/// Returns `true` for a URL, or a mail address.
fn is_address(value: &[u8]) -> bool {
    let scheme = memchr::memmem::find(value, b"://").is_some();
    let mail = count_byte(value, b'@') == 1
        && value.rsplit(|byte| *byte == b'@').next().is_some_and(|host| {
            host.contains(&b'.') && host.iter().all(|byte| is(*byte, LOWER) || matches!(byte, b'.' | b'-'))
        });
    scheme || mail
}

/// Returns `true` for a version, or for digits with `-`, `:`, `.`, `/`, `T` and `Z` between them.
fn is_date_or_version(value: &[u8]) -> bool {
    let date = value.iter().all(|byte| {
        is(*byte, DIGIT) || matches!(byte, b'-' | b':' | b'.' | b'/' | b'T' | b'Z' | b'+' | b' ')
    });
    let parts = value.strip_prefix(b"v").unwrap_or(value);
    let version = parts
        .split(|byte| matches!(byte, b'.' | b'-' | b'+'))
        .take(2)
        .all(|piece| !piece.is_empty() && piece.iter().all(|byte| is(*byte, DIGIT)))
        && parts.contains(&b'.');
    let separated = value.iter().any(|byte| matches!(byte, b'-' | b':' | b'.' | b'/'));
    (date && separated) || version
}

/// Returns `true` for words joined by `-`, `_`, `.`, `/` or `:`, each with at most three digits at its end.
fn is_words(value: &[u8]) -> bool {
    let pieces = value.split(|byte| matches!(byte, b'-' | b'_' | b'.' | b'/' | b':' | b' '));
    let mut count = 0;
    for piece in pieces {
        let letters = piece.iter().take_while(|byte| is(**byte, ALPHA)).count();
        let rest = piece.part(letters..);
        let word = rest.len() <= 3 && rest.iter().all(|byte| is(*byte, DIGIT)) && changes(piece) <= 2;
        if !word {
            return false;
        }
        count += 1;
    }
    count >= 3
}
