//! Lines and strict JSON.

use plugward_protocol::{CommandSession, Lines, MAX_DEPTH};

use crate::support::running;

/// Returns the code of the error for a line of a plugin, or nothing.
fn code(line: &[u8]) -> &'static str {
    let (mut session, now) = running();
    session.line(line, now, &mut ()).map_or_else(|error| error.code(), |_| "")
}

/// Splits a text into chunks of a size.
fn split(text: &[u8], size: usize, limit: usize) -> Result<Vec<Vec<u8>>, &'static str> {
    let (mut lines, mut found) = (Lines::with_limit(limit), Vec::new());
    for mut chunk in text.chunks(size) {
        while let Some(line) = lines.next_line(&mut chunk).map_err(|error| error.code())? {
            found.push(line.into_owned());
        }
    }
    found.extend(lines.end());
    Ok(found)
}

#[test]
fn chunks_do_not_change_lines_and_blank_lines_are_skipped() {
    let text = b"{\"a\":1}\n\n \t\r\n{\"b\":\"\xc3\xa9\"}\r\n{}";
    for size in 1..=text.len() {
        let found = split(text, size, 100).unwrap();
        assert_eq!(found, [&b"{\"a\":1}"[..], b"{\"b\":\"\xc3\xa9\"}\r", b"{}"], "{size}");
    }
}

#[test]
fn a_line_at_the_limit_passes_and_a_longer_one_is_an_error() {
    for size in [1, 3, 64] {
        assert_eq!(split(b"12345678\n12345678", size, 8).unwrap().len(), 2);
        assert_eq!(split(b"1\n123456789\n", size, 8).unwrap_err(), "protocol/too-long");
        assert_eq!(split(b"1\n123456789", size, 8).unwrap_err(), "protocol/too-long");
    }
}

#[test]
fn limits_are_those_of_the_sides() {
    let line = vec![b' '; (1 << 20) + 1];
    assert_eq!(Lines::of_plugin().next_line(&mut &line[..]).unwrap_err().code(), "protocol/too-long");
    assert!(Lines::of_plugin().next_line(&mut &line[1..]).unwrap().is_none());
    assert!(Lines::of_server().next_line(&mut &line[..]).unwrap().is_none());
    let line = vec![b'1'; (32 << 20) + 1];
    assert_eq!(Lines::of_server().next_line(&mut &line[..]).unwrap_err().code(), "protocol/too-long");
}

#[test]
fn a_line_is_one_json_object() {
    for line in
        ["{\"type\":\"ready\"", "[]", "1", "null", "{\"type\":\"ready\"}{}", "\u{feff}{}", "{'a':1}", "{} x"]
    {
        assert_eq!(code(line.as_bytes()), "protocol/not-json", "{line}");
    }
    assert_eq!(code(b"{\"type\":\"log\\ud800\"}"), "protocol/not-json");
    assert_eq!(code(b" {\"type\":\"ready\"}\r"), "");
}

#[test]
fn a_line_is_utf8() {
    assert_eq!(code(b"{\"type\":\"r\xff\"}"), "protocol/not-utf8");
    assert_eq!(code(b"{\"type\":\"lock\xc3\xa9\"}"), "");
}

#[test]
fn a_key_occurs_once_at_each_depth() {
    for line in [
        r#"{"type":"print","type":"exit","text":"","code":0}"#,
        r#"{"type":"log","level":"info","message":"","fields":{"a":[{"k":1,"b":0,"k":2}]}}"#,
        // The same key in another spelling.
        r#"{"type":"ready","a":1,"\u0061":2}"#,
    ] {
        assert_eq!(code(line.as_bytes()), "protocol/duplicate-key", "{line}");
    }
    assert_eq!(code(br#"{"type":"ready","a":{"k":1},"b":{"k":1},"A":1}"#), "");
}

#[test]
fn nesting_has_a_limit() {
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth - 1), "]".repeat(depth - 1));
        format!("{{\"type\":\"ready\",\"a\":{open}{close}}}")
    };
    assert_eq!(code(nested(MAX_DEPTH).as_bytes()), "");
    assert_eq!(code(nested(MAX_DEPTH + 1).as_bytes()), "protocol/too-deep");
    assert_eq!(code("{\"a\":".repeat(500_000).as_bytes()), "protocol/too-deep");
}

#[test]
fn an_error_names_the_fault_in_one_escaped_line() {
    let (mut session, now) = running();
    let mut fault =
        |line: &[u8]| CommandSession::line(&mut session, line, now, &mut ()).unwrap_err().to_string();
    assert_eq!(fault(b"{\"a\" 1}"), "a line is not one JSON object: expected `:` at column 6");
    assert_eq!(
        fault("{\"a\u{202e}\":1,\"a\u{202e}\":1}".as_bytes()),
        "the key `a\\u{202e}` occurs twice in one object"
    );
}
