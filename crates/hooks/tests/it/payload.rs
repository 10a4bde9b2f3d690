//! Payloads as JSON.

use plugward_hooks::{Event, EventClass, HostSession, Payloads, read_payload, read_session};

use crate::common::{Room, dispatcher, entry, gnoma, out};

fn refused(event: Event, text: &str) -> bool {
    match read_payload(event, text.as_bytes()) {
        Ok(_) => false,
        Err(error) => {
            assert_eq!((error.code(), error.help().is_empty()), ("hook/payload", false));
            true
        }
    }
}

#[test]
fn each_class_of_events_has_its_keys() {
    for event in Event::ALL.iter().copied() {
        let text = match (event.is_tool_event(), event.class()) {
            (true, EventClass::Content) => r#"{"tool": "Bash", "args": {}, "result": {"output": "x"}}"#,
            (true, _) => r#"{"tool": "Bash", "args": {}}"#,
            (false, _) => r#"{"data": {"a": 1}}"#,
        };
        let payload = read_payload(event, text.as_bytes()).unwrap();
        let class = match &payload {
            Payloads::Gate(call) => (EventClass::Gate, call.event()),
            Payloads::Tool(..) => (EventClass::Content, event),
            Payloads::Notice(call) => (EventClass::Notice, call.event()),
        };
        assert_eq!(class, (event.class(), event));
        for other in [
            r#"{"tool": "Bash", "args": {}, "result": {"output": "x"}}"#,
            r#"{"tool": "Bash", "args": {}}"#,
            r#"{"data": {"a": 1}}"#,
        ] {
            assert_eq!(refused(event, other), other != text, "{event} {other}");
        }
    }
}

#[test]
fn a_host_can_say_which_session_it_is() {
    let told = |event: Event, text: &str| {
        assert!(read_payload(event, text.as_bytes()).is_ok(), "{text}");
        read_session(event, text.as_bytes())
    };
    let tool =
        r#"{"tool": "Bash", "args": {"session_id": "x"}, "session_id": "s", "permission_mode": "plan"}"#;
    let session = told(Event::PreToolUse, tool).unwrap();
    assert_eq!(
        (session.session_id.as_deref(), session.permission_mode.as_deref()),
        (Some("s"), Some("plan"))
    );
    let session = told(Event::Stop, r#"{"data": {"session_id": "s", "transcript_path": "/t"}}"#).unwrap();
    assert_eq!((session.session_id.as_deref(), session.transcript_path.as_deref()), (Some("s"), Some("/t")));
    assert_eq!(told(Event::Stop, r#"{"data": {}}"#).unwrap(), HostSession::default());
    let other = r#"{"data": {"session_id": 5, "transcript_path": "", "permission_mode": {}}}"#;
    assert_eq!(told(Event::Stop, other).unwrap(), HostSession::default());
    assert!(told(Event::PreToolUse, r#"{"tool": "Bash", "args": {}, "session_id": 5}"#).is_err());
    assert!(refused(Event::Stop, r#"{"data": {}, "session_id": "s"}"#));
}

#[test]
fn what_is_not_one_object_with_the_keys_is_refused() {
    for bad in [
        "",
        "x",
        "[]",
        "null",
        "{}",
        "{\"tool\": \"Bash\"}",
        "{\"tool\": 5, \"args\": {}}",
        "{\"tool\": \"Bash\", \"args\": []}",
        "{\"tool\": \"Bash\", \"args\": null}",
        "{\"tool\": \"Bash\", \"args\": {}, \"more\": 1}",
        "{\"tool\": \"Bash\", \"args\": {}, \"args\": {}}",
        "{\"tool\": \"Bash\", \"args\": {\"a\": 1, \"a\": 2}}",
        "{\"tool\": \"Bash\", \"args\": {}} {}",
        "{\"tool\": \"Bash\", \"args\": {}}x",
        "{\"Tool\": \"Bash\", \"args\": {}}",
    ] {
        assert!(refused(Event::PreToolUse, bad), "{bad}");
    }
    assert!(read_payload(Event::PreToolUse, b"{\"tool\": \"\xff\", \"args\": {}}").is_err());
}

#[test]
fn results_have_known_members() {
    let with = |result: &str| format!("{{\"tool\": \"Bash\", \"args\": {{}}, \"result\": {result}}}");
    for bad in [
        "5",
        "{}",
        "{\"output\": \"x\", \"more\": 1}",
        "{\"output\": \"x\", \"failed\": \"no\"}",
        "{\"metadata\": {}}",
    ] {
        assert!(refused(Event::PostToolUse, &with(bad)), "{bad}");
    }
    for good in [
        "{\"output\": \"x\"}",
        "{\"output\": {\"a\": 1}}",
        "{\"output\": null}",
        "{\"output\": \"x\", \"metadata\": {}, \"failed\": true}",
    ] {
        assert!(!refused(Event::PostToolUse, &with(good)), "{good}");
    }
    // The event of a failed tool says that it failed.
    assert!(refused(Event::PostToolUseFailure, &with("{\"output\": \"x\", \"failed\": false}")));
    assert!(!refused(Event::PostToolUseFailure, &with("{\"output\": \"x\", \"failed\": true}")));
    assert!(!refused(Event::PostToolUseFailure, &with("{\"output\": \"x\"}")));
}

#[test]
fn a_payload_has_limits() {
    let sized = |bytes: usize| {
        let frame = "{\"tool\": \"Bash\", \"args\": {\"c\": \"\"}}".len();
        format!("{{\"tool\": \"Bash\", \"args\": {{\"c\": \"{}\"}}}}", "x".repeat(bytes - frame))
    };
    assert!(!refused(Event::PreToolUse, &sized(16 << 20)));
    assert!(refused(Event::PreToolUse, &sized((16 << 20) + 1)));
    let deep = |depth: usize| {
        format!("{{\"tool\": \"Bash\", \"args\": {{\"c\": {}{}}}}}", "[".repeat(depth), "]".repeat(depth))
    };
    assert!(!refused(Event::PreToolUse, &deep(100)));
    assert!(refused(Event::PreToolUse, &deep(200)));
    assert!(refused(Event::PreToolUse, &deep(1_000_000)));
}

#[test]
fn an_error_repeats_no_word_of_the_payload() {
    for bad in [
        "{\"tool\": \"Bash\", \"args\": {}, \"hunter2word\": 1}",
        "{\"tool\": \"Bash\", \"args\": {\"hunter2word\": 1, \"hunter2word\": 2}}",
        "{\"tool\": \"hunter2word\"}",
        "hunter2word",
        "{\"tool\": \"Bash\", \"args\": hunter2word}",
    ] {
        let error = read_payload(Event::PreToolUse, bad.as_bytes()).unwrap_err();
        let text = format!("{error} {error:?} {}", error.help());
        assert!(!text.contains("hunter2word"), "{text}");
        assert!(text.contains("pre_tool_use"), "{text}");
    }
}

#[test]
fn what_was_read_can_be_fired() {
    let text = br#"{"tool": "Bash", "args": {"command": "ls"}, "result": {"output": "x", "failed": true}}"#;
    let Payloads::Tool(call, output) = read_payload(Event::PostToolUse, text).unwrap() else { panic!() };
    let room = Room::new();
    let plan = gnoma(&entry("x", "post_tool_use", "cat > seen"));
    let report = dispatcher(plan).post_tool_use(&call, output, &room.at());
    assert_eq!(out(&report), "x");
    assert_eq!(room.json("seen")["result"]["failed"], true);
}
