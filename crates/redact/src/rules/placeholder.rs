//! Placeholders: values in the place of a secret that are not secret.
#![expect(clippy::arithmetic_side_effects, reason = "sums of offsets into one slice stay below isize::MAX")]

use crate::bytes::{ALPHA, AN, LOWER, UPPER, at, before, has, is, part};

/// Values that tutorials and templates use for a secret.
const WORDS: &[&str] = plugward_types::words![
    "password passwd passw0rd pass pwd secret token apikey api_key api-key key changeme change_me change-me",
    "changeit change-it letmein hunter2 123456 12345678 123456789 1234567890 qwerty admin root user username",
    "test testing test123 test1234 foobar foo bar baz none null nil undefined true false todo tbd fixme",
    "redacted hidden masked removed secret123 password1 password123 password1234 p@ssw0rd p@ssword",
    "mypassword mysecret mytoken supersecret super_secret super-secret topsecret s3cr3t sekret string value",
    "empty default postgres mysql guest minio minioadmin minioadmin123 insecure notasecret not-a-secret",
    "abc123 abcd1234 a1b2c3d4 deadbeef xxx yyy zzz pw pass123",
];

/// Words that mark a value as a placeholder if they are separate words in it.
const MARKS: &[&str] =
    &["example", "placeholder", "redacted", "dummy", "changeme", "fake", "sample", "insert", "replace"];

/// Prefixes of references to a place that stores a secret.
const REFERENCES: &[&str] = &[
    "process.env",
    "os.environ",
    "os.getenv",
    "system.getenv",
    "env.get",
    "env:",
    "env[",
    "enc[",
    "config.get(",
    "vault:",
    "ref+",
    "op://",
    "arn:aws",
    "file://",
    "!ref ",
    "!secret ",
    "!sub ",
    "!getatt ",
    "!vault ",
];

/// Words that describe what a made-up value is for.
const TELLING: &[&[u8]] = plugward_types::byte_words![
    "password passwd secret token key apikey test valid invalid demo fake wrong mock dev",
];

/// Returns `true` if a value is masked or a template, which applies to all kinds.
pub(crate) fn is_masked(value: &[u8]) -> bool {
    let x_run = value.windows(4).any(|w| w.iter().all(|byte| byte.eq_ignore_ascii_case(&b'x')));
    x_run
        || holds(value, b"...")
        || holds(value, b"***")
        || holds(value, "\u{2026}".as_bytes())
        || holds(value, "\u{2022}\u{2022}".as_bytes())
        || ends(value, "EXAMPLE")
        || ends(value, "EXAMPLEKEY")
        || is_template(value)
}

/// Returns `true` if a value is a reference that is filled in later.
pub(crate) fn is_template(value: &[u8]) -> bool {
    let pair = |open: &[u8], close: u8| {
        memchr::memmem::find(value, open).is_some_and(|place| {
            memchr::memchr(close, part(value, place + open.len()..value.len())).is_some()
        })
    };
    let percent = value.len() > 2 && at(value, 0) == b'%' && before(value, value.len()) == b'%';
    let name = value.iter().skip(1).take_while(|b| is(**b, AN) || **b == b'_').count();
    let shell = at(value, 0) == b'$' && is(at(value, 1), ALPHA) && matches!(at(value, 1 + name), 0 | b'&');
    let reference = REFERENCES.iter().any(|head| has(value, 0, head));
    pair(b"<", b'>')
        || pair(b"${", b'}')
        || pair(b"{{", b'}')
        || pair(b"$(", b')')
        || percent
        || shell
        || reference
}

/// Returns `true` if a value is a placeholder, which applies to kinds that need context.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    if is_masked(value) || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes())) {
        return true;
    }
    let filler =
        ["your", "my-", "my_", "some-", "some_", "the-", "insert", "enter-", "enter_", "put-", "put_"];
    if filler.iter().any(|word| has(value, 0, word))
        && value.iter().all(|b| is(*b, LOWER) || matches!(b, b'_' | b'-' | b' '))
    {
        return true;
    }
    if (has(value, 0, "your_") || has(value, 0, "your-")) || has(value, 0, "YOUR_") {
        return true;
    }
    let one_byte = value.windows(2).all(|w| at(w, 0) == at(w, 1));
    one_byte || is_counting(value) || is_made_up(value) || MARKS.iter().any(|mark| whole_word(value, mark))
}

/// Returns `true` if the bytes count up: `12345678`, `abcdefgh`.
fn is_counting(value: &[u8]) -> bool {
    value.windows(2).all(|w| at(w, 1).wrapping_sub(at(w, 0)) == 1 || (at(w, 0) == b'9' && at(w, 1) == b'0'))
}

/// Returns `true` for words with a number that counts up, as in tests and tutorials: `valid-token-12345`,
/// `secret_123`.
fn is_made_up(value: &[u8]) -> bool {
    let words = value.iter().take_while(|byte| is(**byte, LOWER) || matches!(**byte, b'_' | b'-')).count();
    let (words, number) = value.split_at(words);
    let telling = words.split(|byte| matches!(byte, b'_' | b'-')).any(|word| TELLING.contains(&word));
    telling && number.len() >= 3 && number.first() == Some(&b'1') && is_counting(number)
}

/// Returns `true` if a word is in a value without a letter next to it. A change of case ends a word too.
fn whole_word(value: &[u8], word: &str) -> bool {
    (0..value.len()).any(|start| {
        let end = start + word.len();
        has(value, start, word)
            && !(is(before(value, start), ALPHA)
                && !(is(before(value, start), LOWER) && is(at(value, start), UPPER)))
            && !(is(at(value, end), ALPHA) && !(is(before(value, end), LOWER) && is(at(value, end), UPPER)))
    })
}

fn holds(value: &[u8], piece: &[u8]) -> bool {
    memchr::memmem::find(value, piece).is_some()
}

fn ends(value: &[u8], tail: &str) -> bool {
    value.len().checked_sub(tail.len()).is_some_and(|from| part(value, from..value.len()) == tail.as_bytes())
}
