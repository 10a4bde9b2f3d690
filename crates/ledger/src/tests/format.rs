//! The canonical form of records.

use proptest::prelude::*;

use crate::format::field::Field as _;
use crate::format::json::is_object;
use crate::format::record::settled;
use crate::tests::samples::samples;
use crate::tests::{ID, note};
use crate::{
    CODES, ChainFault, Checkpoint, Durability, Folds, LedgerDigest, LedgerError, LedgerEvent, LedgerRecord,
    LedgerTime, RecordValue, TestDirectory,
};

fn record(event: LedgerEvent) -> LedgerRecord {
    LedgerRecord::new(
        41,
        LedgerTime::from_unix_micros(1_795_297_683_123_456).unwrap(),
        LedgerDigest::ZERO,
        event,
    )
}

fn line(event: LedgerEvent) -> String {
    String::from_utf8(record(event).to_line().unwrap()).unwrap()
}

#[test]
fn a_record_is_the_line_of_the_format() {
    let event = LedgerEvent::CapabilityUsed {
        workflow: "wf-7".into(),
        plugin: "acme/npm".into(),
        kind: "npm-install".into(),
        serial: 2,
        op: "install".into(),
        detail: "left-pad@1.3.0".into(),
        units: 1,
    };
    let zeros = "0".repeat(64);
    let expected = format!(
        "{{\"v\":1,\"seq\":41,\"ts\":\"2026-11-21T21:48:03.123456Z\",\"prev\":\"{zeros}\",\"type\":\"capability_used\",\
         \"workflow\":\"wf-7\",\"plugin\":\"acme/npm\",\"kind\":\"npm-install\",\"serial\":2,\"op\":\"install\",\
         \"detail\":\"left-pad@1.3.0\",\"units\":1}}\n"
    );
    assert_eq!(line(event), expected);
}

#[test]
fn options_that_are_absent_are_left_out() {
    let ended = |exit| LedgerEvent::LaunchEnded { launch: 3, exit, signal: None };
    assert!(line(ended(None)).ends_with("\"type\":\"launch_ended\",\"launch\":3}\n"));
    assert!(line(ended(Some(0))).ends_with("\"launch\":3,\"exit\":0}\n"));
    let null = line(ended(Some(0))).replace("\"exit\":0", "\"exit\":null");
    assert!(matches!(
        LedgerRecord::parse(null.trim_end().as_bytes()),
        Err(ChainFault::Shape { expected: "an integer from 0 below 2^53", .. })
    ));
}

#[test]
fn what_a_terminal_could_take_for_something_else_is_escaped() {
    let event = note(0);
    let LedgerEvent::ExceptionUsed { setting, .. } = event else { unreachable!() };
    let reason = "a\"b\\c\n\u{1b}[2J\u{7f}\u{9b}\u{202e}\u{feff}é😀";
    let text = line(LedgerEvent::ExceptionUsed { setting, reason: reason.into() });
    assert!(text.contains("a\\\"b\\\\c\\u000a\\u001b[2J\\u007f\\u009b\\u202e\\ufeffé😀"), "{text}");
    assert_eq!(text.trim_end().lines().count(), 1);
}

#[test]
fn a_long_text_keeps_its_start_and_its_sum_and_is_shortened_once() {
    let shorten = |text: &str| match settled(LedgerEvent::ExceptionUsed {
        setting: text.into(),
        reason: String::new(),
    }) {
        LedgerEvent::ExceptionUsed { setting, .. } => setting,
        other => panic!("{other:?}"),
    };
    let fits = "x".repeat(1_024);
    assert_eq!(shorten(&fits), fits);
    let long = "x".repeat(1_025);
    let expected = format!("{}…sha256:{}", &long[..960], LedgerDigest::of(long.as_bytes()));
    assert_eq!(shorten(&long), expected);
    assert_eq!(shorten(&expected), expected);
    // The text is cut at the start of a character: 959 bytes, then a character of two.
    let wide = format!("{}{}", "x".repeat(959), "é".repeat(100));
    assert_eq!(shorten(&wide), format!("{}…sha256:{}", &wide[..959], LedgerDigest::of(wide.as_bytes())));
    // A long text that contains the mark is shortened all the same.
    let forged = format!("{}…sha256:{}", "x".repeat(961), LedgerDigest::ZERO);
    assert!(shorten(&forged).ends_with(&LedgerDigest::of(forged.as_bytes()).to_string()));
}

#[test]
fn what_has_no_form_is_refused() {
    let code = |event: LedgerEvent| record(settled(event)).to_line().unwrap_err().code();
    assert_eq!(code(LedgerEvent::LaunchEnded { launch: 1 << 53, exit: None, signal: None }), "ledger/value");
    assert!(
        record(LedgerEvent::LaunchEnded { launch: (1 << 53) - 1, exit: None, signal: None })
            .to_line()
            .is_ok()
    );
    let many = |count| LedgerEvent::Decision {
        workflow: None,
        plugin: "p".into(),
        outcome: crate::LoadVerdict::Ask,
        codes: vec!["x".repeat(1_000); count],
        digest: None,
    };
    assert_eq!(code(many(66)), "ledger/too-long");
    assert!(record(many(65)).to_line().is_ok());
    let nest = |depth| (1..depth).fold(RecordValue::Flag(true), |inner, _| RecordValue::List(vec![inner]));
    let minted = |scope: RecordValue| LedgerEvent::CapabilityMinted {
        workflow: "w".into(),
        plugin: "p".into(),
        kind: "k".into(),
        serial: 1,
        scope_digest: scope.digest(),
        scope,
        expires: None,
        bundle: None,
        warning: None,
    };
    assert_eq!(code(minted(nest(17))), "ledger/value");
    assert!(LedgerRecord::parse(line(minted(nest(16))).trim_end().as_bytes()).is_ok());
}

#[test]
fn a_line_that_is_no_record_says_where_and_what() {
    let good = line(note(7));
    let good = good.trim_end();
    assert_eq!(LedgerRecord::parse(good.as_bytes()).unwrap(), record(note(7)));
    let shape = |at, expected| Err(ChainFault::Shape { at, expected });
    for (from, to, expected) in [
        ("{\"v\"", "{ \"v\"", shape(0, "{\"v\": and the version of the format")),
        ("\"v\":1", "\"v\":01", Err(ChainFault::NotJson)),
        ("\"v\":1", "\"v\":0", shape(5, "a version from 1")),
        ("\"seq\":41", "\"seq\":4.1", shape(14, "ts")),
        ("\"seq\":41", "\"seq\":9007199254740992", shape(13, "an integer from 0 below 2^53")),
        ("2026-11-21", "2026-02-30", shape(21, "a timestamp in UTC with six decimals")),
        (".123456Z", ".123456+", shape(21, "a timestamp in UTC with six decimals")),
        ("\"prev\":\"0", "\"prev\":\"G", shape(58, "64 lowercase hex digits")),
        ("\"setting\"", "\"settinG\"", shape(148, "setting")),
        (",\"reason\":\"number 7\"", "", shape(180, "reason")),
        (
            "number 7\"",
            "number 7\",\"x\":1",
            shape(200, "the end of the record, or a field in the order of its type"),
        ),
        ("number 7\"}", "number 7\"", Err(ChainFault::NotJson)),
        ("number 7", "number\t7", Err(ChainFault::NotJson)),
        ("number 7", "number \\ud800", Err(ChainFault::NotJson)),
    ] {
        assert!(good.contains(from), "{from}");
        assert_eq!(LedgerRecord::parse(good.replacen(from, to, 1).as_bytes()), expected, "{to}");
    }
    let mut bad = good.as_bytes().to_vec();
    bad[190] = 0xff;
    assert_eq!(LedgerRecord::parse(&bad), Err(ChainFault::NotJson));
    assert_eq!(LedgerRecord::parse(&vec![b' '; 96 * 1024]), Err(ChainFault::TooLong));
}

#[test]
fn records_of_later_writers_are_kept_and_named() {
    let zeros = "0".repeat(64);
    let head = |v: u64| {
        format!("{{\"v\":{v},\"seq\":5,\"ts\":\"2026-11-21T21:48:03.123456Z\",\"prev\":\"{zeros}\",\"type\":")
    };
    for text in [
        format!("{}\"quota_moved\",\"a\":-1.5e3,\"b\":[null,{{\"c\":{{}}}}]}}", head(1)),
        format!("{}\"exception_used\",\"entirely\":\"else\"}}", head(2)),
    ] {
        let record = LedgerRecord::parse(text.as_bytes()).unwrap();
        assert_eq!(record.event(), None);
        assert!(["quota_moved", "exception_used"].contains(&record.type_name()));
        assert_eq!(record.to_line().unwrap_err().code(), "ledger/value");
    }
    assert!(LedgerRecord::parse(format!("{}\"quota_moved\",\"a\":}}", head(1)).as_bytes()).is_err());
}

#[test]
fn a_number_beyond_every_double_is_json() {
    let far = b"{\"a\":7841934e176961278}";
    assert!(is_object(far));
    let fault = serde_json::from_slice::<serde_json::Value>(far).unwrap_err();
    assert!(fault.to_string().starts_with("number out of range"), "{fault}");
}

#[test]
fn nesting_without_end_is_no_object() {
    let deep = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    assert!(is_object(deep(62).as_bytes()));
    assert!(!is_object(deep(64).as_bytes()));
    assert!(!is_object(deep(40_000).as_bytes()));
}

#[test]
fn moments_are_those_of_the_calendar() {
    for (micros, text) in [
        (0, "1970-01-01T00:00:00.000000Z"),
        (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
        (4_107_542_399_999_999, "2100-02-28T23:59:59.999999Z"),
        (4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z"),
        (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
    ] {
        let moment = LedgerTime::from_unix_micros(micros).unwrap();
        assert_eq!(moment.to_string(), text);
        assert_eq!(text.parse::<LedgerTime>().unwrap(), moment);
    }
    assert_eq!(LedgerTime::from_unix_micros(253_402_300_800_000_000), None);
    for bad in [
        "2100-02-29T00:00:00.000000Z",
        "1969-12-31T23:59:59.999999Z",
        "2026-11-21T24:00:00.000000Z",
        "2026-11-21T21:48:60.000000Z",
        "2026-00-21T21:48:03.000000Z",
        "2026-11-21 21:48:03.000000Z",
        "2026-11-21T21:48:03.00000Z",
    ] {
        assert_eq!(bad.parse::<LedgerTime>().unwrap_err().code(), "ledger/text", "{bad}");
    }
}

#[test]
fn a_checkpoint_is_three_lines() {
    let checkpoint = Checkpoint::new(ID, 256, LedgerDigest::of(b"x"));
    let text =
        format!("plugward/ledger/{}\n256\nLXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE=\n", "ab".repeat(16));
    assert_eq!(checkpoint.to_string(), text);
    assert_eq!(Checkpoint::parse(&text).unwrap(), checkpoint);
    assert_eq!(Checkpoint::parse(&format!("{text}\n— name c2ln\n")).unwrap(), checkpoint);
    for (from, to) in [
        ("plugward/", "Plugward/"),
        ("\n256", "\n+256"),
        ("\n256", "\n0256"),
        ("IE=\n", "IF=\n"),
        ("IE=\n", "IE\n"),
        ("IE=\n", "IE="),
        ("IE=\n", "IE=\nmore"),
        ("LXE", "L-E"),
    ] {
        assert_eq!(Checkpoint::parse(&text.replace(from, to)).unwrap_err().code(), "ledger/text", "{to}");
    }
}

#[test]
fn the_list_of_codes_and_the_errors_agree() {
    use crate::LedgerErrorKind as Kind;
    let kinds = [
        Kind::NotOurs { file: String::new(), why: "" },
        Kind::Broken { file: String::new(), line: 0, seq: 0, why: ChainFault::Prev },
        Kind::Lost { why: crate::LossReason::Damaged },
        Kind::TooLong { bytes: 0, limit: 0 },
        Kind::Append,
        Kind::Version { found: 2, supported: 1 },
        Kind::OtherLedger,
        Kind::LockTimeout { millis: 0 },
        Kind::Stopped,
        Kind::Io { doing: "" },
        Kind::Reserved { type_name: "" },
        Kind::Value { what: "" },
        Kind::Text { what: "", expected: "" },
        Kind::Unsupported,
    ];
    let errors = kinds.map(LedgerError::new);
    let mut rows: Vec<_> = errors.iter().map(|error| (error.code(), error.help())).collect();
    rows.push((ChainFault::State.code(), ChainFault::State.help()));
    assert_eq!(rows, CODES);
    assert!(CODES.iter().all(|(code, help)| code.starts_with("ledger/") && !help.is_empty()));
}

#[test]
fn one_list_of_plugins_has_one_digest_in_any_order() {
    let seen = |plugin: &str, digest: &str| crate::PluginDecision {
        plugin: plugin.into(),
        digest: digest.into(),
        outcome: crate::LoadVerdict::Load,
    };
    let (a, b) = (seen("a", "1"), seen("b", "2"));
    let one = crate::registry_digest(&[a.clone(), b.clone()]);
    assert_eq!(one, crate::registry_digest(&[b, a.clone()]));
    assert_ne!(one, crate::registry_digest(&[a, seen("b", "3")]));
    assert_eq!(crate::registry_digest(&[]), LedgerDigest::of(b"[]"));
}

#[test]
fn what_only_the_ledger_writes_is_refused() {
    let directory = TestDirectory::new();
    let clock = || LedgerTime::from_unix_micros(1_795_297_683_123_456).unwrap();
    let ledger = directory.open(ID, Box::new(clock), Durability::Off, Folds::none()).unwrap().ledger;
    let before = directory.read("ledger.jsonl");
    for event in samples("x", 1, || true).into_iter().take(4) {
        assert!(event.is_internal());
        assert_eq!(ledger.append(&[note(1), event]).unwrap_err().code(), "ledger/reserved");
    }
    assert_eq!(ledger.append(&[]).unwrap_err().code(), "ledger/value");
    assert_eq!(ledger.append(&vec![note(1); 1_025]).unwrap_err().code(), "ledger/too-long");
    assert_eq!(directory.read("ledger.jsonl"), before);
}

fn value() -> impl Strategy<Value = RecordValue> {
    let leaf = prop_oneof![
        any::<String>().prop_map(RecordValue::Text),
        (0..1_u64 << 53).prop_map(RecordValue::Number),
        any::<bool>().prop_map(RecordValue::Flag),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(RecordValue::List),
            prop::collection::btree_map(any::<String>(), inner, 0..4).prop_map(RecordValue::Object),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn render_and_parse_are_inverse(text in any::<String>(), number in 0..1_u64 << 53, options in any::<u64>()) {
        let turn = std::cell::Cell::new(options);
        for event in samples(&text, number, || { turn.set(turn.get().rotate_left(1)); turn.get() & 1 == 1 }) {
            let event = settled(event);
            let line = record(event.clone()).to_line().unwrap();
            let (lf, body) = line.split_last().unwrap();
            prop_assert_eq!(*lf, b'\n');
            prop_assert!(!body.contains(&b'\n'));
            prop_assert_eq!(LedgerRecord::parse(body).unwrap(), record(event));
            // `serde_json` reads the same type, and the same keys in the same order, each once.
            let other: serde_json::Value = serde_json::from_slice(body).unwrap();
            prop_assert_eq!(other["seq"].as_u64(), Some(41));
            prop_assert!(is_object(body));
        }
    }

    #[test]
    fn values_are_what_another_reader_of_json_sees(value in value()) {
        let text = value.render();
        let other: serde_json::Value = serde_json::from_str(&text).unwrap();
        let canonical = text.is_ascii();
        if canonical && !text.contains("\\u00") {
            // `serde_json` sorts objects too, and escapes fewer characters.
            prop_assert_eq!(other.to_string(), text.clone());
        }
        let mut reader = crate::format::json::Reader::new(&text);
        prop_assert_eq!(RecordValue::read(&mut reader).unwrap(), value);
    }

    #[test]
    fn an_object_is_what_another_reader_takes_for_one(
        value in value(), at in any::<prop::sample::Index>(), byte in prop::sample::select(b"{}[],:\"\\e.-+0 \n\x00\xffau".to_vec()),
    ) {
        let mut bytes = value.render().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let other = serde_json::from_slice::<serde_json::Value>(&bytes);
        // A number that no double can represent is still JSON. `serde_json` stores doubles, and rejects the
        // exponent.
        if other.as_ref().is_err_and(|fault| fault.to_string().starts_with("number out of range")) {
            return Ok(());
        }
        prop_assert_eq!(is_object(&bytes), other.is_ok_and(|other| other.is_object()));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(LedgerRecord::parse(&bytes).is_err());
        is_object(&bytes);
    }

    #[test]
    fn moments_render_and_parse(micros in 0..253_402_300_800_000_000_u64) {
        let moment = LedgerTime::from_unix_micros(micros).unwrap();
        prop_assert_eq!(moment.to_string().parse::<LedgerTime>().unwrap(), moment);
    }
}
