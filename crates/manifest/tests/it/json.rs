//! Tests of the JSON parser: the accepted texts, and the messages and positions of errors.

use plugward_manifest::json::{JsonErrors, JsonNode, JsonValue, ParseLimits, parse};
use proptest::prelude::*;

fn check(bytes: &[u8]) -> Result<JsonNode<'_>, JsonErrors> {
    parse(bytes, &ParseLimits::standard())
}

/// Formats each error as `code line:column pointer`.
fn says(bytes: &[u8]) -> Vec<String> {
    let errors = check(bytes).unwrap_err();
    let line = |error: &plugward_manifest::json::JsonError| {
        let at = error.position();
        format!("{} {}:{} {}", error.code(), at.line, at.column, error.pointer())
    };
    errors.iter().map(line).collect()
}

#[test]
fn every_syntax_error_has_its_own_message() {
    let cases: &[(&str, &str, &str)] = &[
        ("", "an empty file", "1:1"),
        (" \n\t", "an empty file", "2:2"),
        ("// x\n{}", "a comment", "1:1"),
        ("{} // x", "a comment", "1:4"),
        ("{\"a\": 1, // x\n}", "a comment", "1:10"),
        ("[1, /* x */ 2]", "a comment", "1:5"),
        ("[1 # x\n]", "a comment", "1:4"),
        ("[1, 2,]", "after the comma", "1:6"),
        ("{\"a\": 1,\n}", "after the comma", "1:8"),
        ("{'a': 1}", "a single quote", "1:2"),
        ("['a']", "a single quote", "1:2"),
        ("[NaN]", "NaN or Infinity", "1:2"),
        ("[-Infinity]", "NaN or Infinity", "1:2"),
        ("[+1]", "without a plus sign", "1:2"),
        ("[01]", "leading zeros", "1:2"),
        ("[-00]", "leading zeros", "1:2"),
        ("[1.]", "expected a digit", "1:4"),
        ("[.5]", "expected a digit", "1:2"),
        ("[1e]", "expected a digit", "1:4"),
        ("[-]", "expected a digit", "1:3"),
        ("[1x]", "expected a digit", "1:3"),
        ("[\"a\tb\"]", "a control character", "1:4"),
        ("[\"a\nb\"]", "a control character", "1:4"),
        ("[\"\\x41\"]", "a JSON escape", "1:3"),
        ("[\"\\u12g4\"]", "a JSON escape", "1:3"),
        ("[\"\\\n\"]", "a JSON escape", "1:3"),
        ("[\"a", "a closing double quote", "1:2"),
        ("[\"a\\\"", "a closing double quote", "1:2"),
        ("[1", "the closing bracket, got the end", "1:3"),
        ("{\"a\":", "the closing bracket, got the end", "1:6"),
        ("{a: 1}", "a key in double quotes", "1:2"),
        ("{1: 1}", "a key in double quotes", "1:2"),
        ("{\"a\" 1}", "a colon", "1:6"),
        ("[1 2]", "a comma", "1:4"),
        ("{\"a\": 1 \"b\": 2}", "a comma", "1:9"),
        ("[1}", "a comma", "1:3"),
        ("{} {}", "the end of the file", "1:4"),
        ("1 2", "the end of the file", "1:3"),
        ("[True]", "another word", "1:2"),
        ("[nil]", "another word", "1:2"),
        ("[,1]", "another character", "1:2"),
        ("]", "another character", "1:1"),
        ("[\u{a0}1]", "another character", "1:2"),
    ];
    for (text, message, place) in cases {
        let errors = check(text.as_bytes()).unwrap_err();
        let error = errors.iter().last().unwrap();
        assert_eq!(error.code(), "manifest/syntax", "{text}");
        assert!(error.kind().to_string().contains(message), "{text}: {}", error.kind());
        assert_eq!(format!("{}:{}", error.position().line, error.position().column), *place, "{text}");
        assert!(!error.help().is_empty());
    }
}

#[test]
fn invalid_utf8_is_reported() {
    assert_eq!(says(b"\xef\xbb\xbf{}"), ["manifest/bom 1:1 "]);
    assert_eq!(says(b"{\"a\": \"\xff\"}"), ["manifest/not-utf8 1:8 "]);
    for bytes in [&b"\xff\xfe{\0}\0"[..], b"\xfe\xff\0{\0}", b"{\0}\0", b"\0{\0}"] {
        let errors = check(bytes).unwrap_err();
        let error = errors.iter().next().unwrap();
        assert_eq!(error.code(), "manifest/not-utf8");
        assert!(error.to_string().contains("UTF-16"), "{error}");
    }
}

#[test]
fn a_key_twice_is_found_after_unescaping_with_both_places() {
    let errors = check(b"{\"name\": \"a\",\n \"\\u006eame\": \"b\"}").unwrap_err();
    let error = errors.iter().next().unwrap();
    assert_eq!(error.code(), "manifest/duplicate-key");
    assert_eq!((error.position().line, error.position().column), (2, 2));
    let (span, first) = error.first().unwrap();
    assert_eq!((first.line, first.column, span.start, span.end), (1, 2, 1, 7));
    assert_eq!(error.pointer(), "/name");
    // Objects with more than eight keys use a hash table.
    let many: Vec<String> = (0..20).map(|index| format!("\"k{index}\":{index}")).collect();
    let text = format!("{{\"x\":[{{{},\"k7\":1,\"k7\":2,\"k3\":0}}]}}", many.join(","));
    let column = text.find(",\"k7\":1,").unwrap() + 2;
    let said = [(0, "k7"), (7, "k7"), (14, "k3")];
    let said = said.map(|(more, key)| format!("manifest/duplicate-key 1:{} /x/0/{key}", column + more));
    assert_eq!(says(text.as_bytes()), said);
    assert!(check(br#"{"a": {"a": 1}, "b": {"a": 1}, "A": 1, "a ": 1}"#).is_ok());
}

#[test]
fn errors_are_collected_up_to_the_first_syntax_error() {
    let text = b"{\"a\": \"\\ud800\", \"a\": 1, \"b\": {\"c\": 1, \"c\": 2}, \"d\": [1,]}";
    // The object around the error is not closed; the part before the error is compared.
    let expected = [
        "manifest/surrogate 1:8 /a",
        "manifest/duplicate-key 1:17 /a",
        "manifest/duplicate-key 1:39 /b/c",
        "manifest/syntax 1:55 /d",
    ];
    assert_eq!(says(text), expected);
    let many = format!("[{}]", vec!["{\"a\":1,\"a\":2}"; 150].join(","));
    let errors = check(many.as_bytes()).unwrap_err();
    assert_eq!((errors.iter().count(), errors.unlisted()), (100, 50));
}

#[test]
fn limits_apply_exactly() {
    let limits = ParseLimits::standard().with_bytes(64).with_depth(3).with_values(8).with_string(5);
    let code =
        |text: &str| parse(text.as_bytes(), &limits).err().map(|errors| errors.iter().next().unwrap().code());
    assert_eq!(code(&" ".repeat(65)), Some("manifest/too-large"));
    assert_eq!(code(&format!("{}1", " ".repeat(63))), None);
    assert_eq!(code("[[[1]]]"), None);
    assert_eq!(code("[[[[1]]]]"), Some("manifest/too-deep"));
    assert_eq!(code("[1,2,3,4,5,6,7]"), None);
    assert_eq!(code("[1,2,3,4,5,6,7,8]"), Some("manifest/too-many"));
    assert_eq!(code("\"12345\""), None);
    assert_eq!(code("\"123456\""), Some("manifest/string-too-long"));
    assert_eq!(code("\"\\u0041\\u0041\\u0041\""), None);
    assert_eq!(code("{\"123456\":1}"), Some("manifest/string-too-long"));
}

#[test]
fn hostile_files_of_the_maximum_size_are_parsed_in_time() {
    let size = ParseLimits::standard().bytes();
    let code = |bytes: &[u8]| check(bytes).err().map(|errors| errors.iter().next().unwrap().code());
    assert_eq!(code(&vec![b'['; size]), Some("manifest/too-deep"));
    assert_eq!(code(&b"{\"a\":".repeat(size / 5)), Some("manifest/too-deep"));
    assert_eq!(code(format!("[{}0]", "0,".repeat(300_000)).as_bytes()), Some("manifest/too-many"));
    assert_eq!(code(format!("\"{}\"", "\\n".repeat(400_000)).as_bytes()), Some("manifest/string-too-long"));
    assert_eq!(code(&vec![b'"'; size]), Some("manifest/syntax"));
    assert_eq!(code(&vec![b'\\'; size]), Some("manifest/syntax"));
    assert_eq!(code(&vec![0_u8; size]), Some("manifest/syntax"));
    let same = format!("{{{}\"a\":0}}", "\"a\":0,".repeat(170_000));
    assert_eq!(code(same.as_bytes()), Some("manifest/duplicate-key"));
}

#[test]
fn columns_count_scalar_values_and_lines_end_three_ways() {
    assert_eq!(says("{\"é😀\": x}".as_bytes()), ["manifest/syntax 1:8 /é😀"]);
    assert_eq!(says(b"\n\r\n\r [x]"), ["manifest/syntax 4:3 /0"]);
    assert_eq!(says(b"{\"a/b~c\": [0, {\"\": x}]}"), ["manifest/syntax 1:20 /a~1b~0c/1/"]);
}

#[test]
fn integers_are_recognized_by_value() {
    for (text, expected) in [
        ("5000", Some(5000)),
        ("5000.0", Some(5000)),
        ("5e3", Some(5000)),
        ("50.00E+02", Some(5000)),
        ("-0", Some(0)),
        ("0e999", Some(0)),
        ("-12", Some(-12)),
        ("0.5", None),
        ("5e-1", None),
        ("50e-1", Some(5)),
        ("9007199254740991", Some(9_007_199_254_740_991)),
        ("9007199254740992", None),
        ("1e400", None),
        ("1e99999999999999999999", None),
    ] {
        let node = check(text.as_bytes()).unwrap();
        let JsonValue::Number(number) = node.value() else { panic!("{text} is no number") };
        assert_eq!(number.as_integer(), expected, "{text}");
        assert_eq!(number.text(), text);
    }
}

#[test]
fn values_have_the_documented_size() {
    assert!(size_of::<JsonNode<'_>>() <= 40, "{}", size_of::<JsonNode<'_>>());
    assert!(size_of::<plugward_manifest::json::JsonMember<'_>>() <= 72);
}

/// Compares two values; numbers are compared as the oracle parses them.
fn same(ours: &JsonNode<'_>, theirs: &serde_json::Value) -> bool {
    use serde_json::Value as Json;
    match (ours.value(), theirs) {
        (JsonValue::Null, Json::Null) => true,
        (JsonValue::Bool(a), Json::Bool(b)) => a == b,
        (JsonValue::Number(a), Json::Number(b)) => {
            // The oracle rounds the last digit.
            let (a, b): (f64, f64) = (a.text().parse().unwrap(), b.as_f64().unwrap());
            (a - b).abs() <= a.abs() * 1e-14
        }
        (JsonValue::String(a), Json::String(b)) => a == b,
        (JsonValue::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (JsonValue::Object(a), Json::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|member| b.get(member.key()).is_some_and(|b| same(member.node(), b)))
        }
        _ => false,
    }
}

fn values() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        (-1e15_f64..1e15).prop_map(serde_json::Value::from),
        ".{0,12}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
            prop::collection::btree_map(".{0,6}", inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Returns the offsets in a text for one edit.
fn edits() -> impl Strategy<Value = (usize, Vec<u8>, usize)> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", "e", ".", " ", "\n", "\\u", "\\ud83d", "/",
            "é", "\u{1}", "null", "1"
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..3),
    ];
    (any::<usize>(), piece, 0_usize..3)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn output_of_the_oracle_is_read_alike(value in values()) {
        for text in [serde_json::to_string(&value).unwrap(), serde_json::to_string_pretty(&value).unwrap()] {
            let node = check(text.as_bytes()).unwrap();
            prop_assert!(same(&node, &value), "{text}");
            prop_assert_eq!(node.span().len(), text.len());
        }
    }

    #[test]
    fn an_edited_text_is_accepted_if_the_oracle_accepts_it(value in values(), (at, piece, drop) in edits()) {
        let mut bytes = serde_json::to_vec(&value).unwrap();
        let at = at % (bytes.len() + 1);
        let end = (at + drop).min(bytes.len());
        bytes.splice(at..end, piece);
        let ours = check(&bytes);
        match serde_json::from_slice::<serde_json::Value>(&bytes) {
            Ok(theirs) => match ours {
                Ok(node) => prop_assert!(same(&node, &theirs)),
                // This is the only rule beyond RFC 8259 that an edit can break.
                Err(errors) => prop_assert!(errors.iter().all(|error| matches!(error.code(), "manifest/duplicate-key")), "{errors}"),
            },
            Err(error) => prop_assert!(ours.is_err() || error.to_string().contains("number out of range"), "{error}"),
        }
    }

    #[test]
    fn any_bytes_produce_a_result_with_spans_inside(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Err(errors) = check(&bytes) {
            for error in errors.iter() {
                prop_assert!(error.span().end <= bytes.len());
                prop_assert!(error.position().line >= 1 && error.position().column >= 1);
            }
        }
    }

    #[test]
    fn a_repeated_key_is_found_at_its_place(depth in 0_usize..6, before in 0_usize..12, after in 0_usize..4) {
        let keys = |count: usize, letter: &str| (0..count).fold(String::new(), |text, index| format!("{text}\"{letter}{index}\":[],"));
        let inner = format!("{{{}\"twice\":1,{}\"twice\":2}}", keys(before, "b"), keys(after, "a"));
        let text = format!("{}{inner}{}", "{\"o\":[0,".repeat(depth), "]}".repeat(depth));
        let errors = check(text.as_bytes()).unwrap_err();
        let error = errors.iter().next().unwrap();
        prop_assert_eq!(error.code(), "manifest/duplicate-key");
        prop_assert_eq!(error.span().start, text.rfind("\"twice\"").unwrap());
        prop_assert_eq!(error.first().unwrap().0.start, text.find("\"twice\"").unwrap());
        prop_assert_eq!(error.pointer(), format!("{}/twice", "/o/1".repeat(depth)));
    }
}
