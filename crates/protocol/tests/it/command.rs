//! The messages of RFD-072, and the limits of a session.

use std::time::{Duration, Instant};

use plugward_protocol::{
    CommandSession, HostServices, LogLevel, MAX_UNKNOWN, ServiceAnswer, SessionEvent, SessionLimits,
};
use serde_json::{Map, Value, json};

use crate::support::{LIMITS, init, running};

fn events(session: &mut CommandSession, message: &Value) -> Vec<SessionEvent> {
    session.line(message.to_string().as_bytes(), Instant::now(), &mut ()).unwrap()
}

/// Returns the answer of the host.
fn answer(session: &mut CommandSession, message: &Value) -> Value {
    let events = events(session, message);
    let [SessionEvent::Send(line)] = &*events else { panic!("{events:?}") };
    serde_json::from_str(line).unwrap()
}

fn code(session: &mut CommandSession, message: &Value) -> &'static str {
    let outcome = session.line(message.to_string().as_bytes(), Instant::now(), &mut ());
    outcome.map_or_else(|error| error.code(), |_| "")
}

#[test]
fn rfd072_init() {
    let (_, lines) = CommandSession::start(&init(), LIMITS, Instant::now());
    let [line] = &*lines else { panic!("{lines:?}") };
    let options = json!({ "web": { "port": 3141 } });
    assert_eq!(
        serde_json::from_str::<Value>(line).unwrap(),
        json!({
            "type": "init", "version": 1, "workspace": { "root": "/w", "storage": "/w/.jp", "id": "w1" },
            "paths": { "user_data": "/data" }, "options": options, "args": ["--open"], "log_level": 3,
            "config": { "plugins": { "command": { "serve": { "options": options } } } },
        })
    );
}

#[test]
fn rfd072_optional_fields_are_omitted() {
    let init = plugward_protocol::Init { user_data: None, options: Map::new(), ..init() };
    let (_, lines) = CommandSession::start(&init, LIMITS, Instant::now());
    let line: Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!((line.get("options"), &line["paths"]), (None, &json!({})));
    assert_eq!(line["config"], json!({ "plugins": { "command": { "serve": {} } } }));
}

#[test]
fn rfd072_ready() {
    let (mut session, _) = CommandSession::start(&init(), LIMITS, Instant::now());
    let ready = json!({ "type": "ready", "version": 2 });
    assert_eq!(events(&mut session, &ready), [SessionEvent::Ready]);
    assert_eq!(events(&mut session, &ready), []);
    assert_eq!(session.deadline(), None);
}

#[test]
fn rfd072_print() {
    let (mut session, _) = running();
    let printed = |text: &str, channel: &str, format: &str, language: Option<&str>| SessionEvent::Print {
        text: text.to_owned(),
        channel: channel.to_owned(),
        format: format.to_owned(),
        language: language.map(str::to_owned),
    };
    let message = json!({ "type": "print", "text": "hi" });
    assert_eq!(events(&mut session, &message), [printed("hi", "content", "plain", None)]);
    let message =
        json!({ "type": "print", "text": "x", "channel": "reasoning", "format": "code", "language": "rust" });
    assert_eq!(events(&mut session, &message), [printed("x", "reasoning", "code", Some("rust"))]);
    assert_eq!(code(&mut session, &json!({ "type": "print" })), "protocol/message");
}

#[test]
fn rfd072_log() {
    let (mut session, _) = running();
    let logged = |level, fields: Value| SessionEvent::Log {
        level,
        message: "m".to_owned(),
        fields: serde_json::from_value(fields).unwrap(),
    };
    for (name, level) in [
        ("error", LogLevel::Error),
        ("WARN", LogLevel::Warn),
        ("trace", LogLevel::Trace),
        ("fatal", LogLevel::Info),
    ] {
        let message = json!({ "type": "log", "level": name, "message": "m" });
        assert_eq!(events(&mut session, &message), [logged(level, json!({}))]);
    }
    let message = json!({ "type": "log", "level": "debug", "message": "m", "fields": { "n": 1 } });
    assert_eq!(events(&mut session, &message), [logged(LogLevel::Debug, json!({ "n": 1 }))]);
    let message = json!({ "type": "log", "level": "debug", "message": "m", "fields": [] });
    assert_eq!(code(&mut session, &message), "protocol/message");
    assert_eq!(LogLevel::ALL.map(LogLevel::number), [0, 1, 2, 3, 4]);
}

#[test]
fn rfd072_read_config() {
    let (mut session, _) = running();
    let mut read =
        |path: &str| answer(&mut session, &json!({ "type": "read_config", "id": "7", "path": path }));
    for (path, data) in [
        ("plugins.command.serve.options.web.port", json!(3141)),
        ("plugins.command.serve", json!({ "options": { "web": { "port": 3141 } } })),
    ] {
        assert_eq!(read(path), json!({ "type": "config", "id": "7", "path": path, "data": data }));
    }
    for (path, message) in [
        ("plugins.command.serve.run", "config path not found"),
        ("plugins.command.serve.options.web.port.x", "config path not found"),
        ("plugins.command.serve.", "config path not found"),
        ("plugins.command.serve2", "config path not granted"),
        ("plugins.command.other.options", "config path not granted"),
        ("plugins.command", "config path not granted"),
        ("assistant.api_key", "config path not granted"),
        ("", "config path not granted"),
    ] {
        let error = json!({ "type": "error", "id": "7", "request": "read_config", "message": message });
        assert_eq!(read(path), error, "{path}");
    }
}

#[test]
fn rfd072_read_config_without_a_path() {
    let (mut session, _) = running();
    let answer = answer(&mut session, &json!({ "type": "read_config" }));
    let config = json!({ "plugins": { "command": { "serve": { "options": { "web": { "port": 3141 } } } } } });
    assert_eq!(answer, json!({ "type": "config", "data": config }));
}

#[test]
fn rfd072_requests_before_ready() {
    let (mut session, _) = CommandSession::start(&init(), LIMITS, Instant::now());
    for name in ["read_config", "list_conversations"] {
        let answer = answer(&mut session, &json!({ "type": name, "id": "1" }));
        assert_eq!(
            (&answer["type"], &answer["request"], &answer["id"]),
            (&json!("error"), &json!(name), &json!("1"))
        );
    }
}

/// A host with conversations.
struct Conversations;

impl HostServices for Conversations {
    fn request(&mut self, name: &str, message: &Map<String, Value>) -> ServiceAnswer {
        match name {
            "list_conversations" => ServiceAnswer::Answered {
                name: "conversations",
                fields: Map::from_iter([("data".to_owned(), json!([]))]),
            },
            "read_events" => ServiceAnswer::Failed(format!("no conversation {}", message["conversation"])),
            _ => ServiceAnswer::Unsupported,
        }
    }
}

#[test]
fn rfd072_conversations() {
    let (mut session, now) = running();
    let mut ask = |message: Value| {
        let events = session.line(message.to_string().as_bytes(), now, &mut Conversations).unwrap();
        let [SessionEvent::Send(line)] = &*events else { panic!("{events:?}") };
        serde_json::from_str::<Value>(line).unwrap()
    };
    let listed = ask(json!({ "type": "list_conversations", "id": "a" }));
    assert_eq!(listed, json!({ "type": "conversations", "id": "a", "data": [] }));
    let failed = ask(json!({ "type": "read_events", "conversation": 5 }));
    assert_eq!(failed, json!({ "type": "error", "request": "read_events", "message": "no conversation 5" }));
    let unsupported = ask(json!({ "type": "lock", "id": "b" }));
    assert_eq!((&unsupported["type"], &unsupported["request"]), (&json!("error"), &json!("lock")));
}

#[test]
fn rfd072_exit() {
    for (message, code, reason) in [
        (json!({ "type": "exit", "code": 7 }), 7, None),
        (json!({ "type": "exit", "code": 255, "reason": "no port" }), 255, Some("no port".to_owned())),
    ] {
        let (mut session, _) = running();
        assert_eq!(events(&mut session, &message), [SessionEvent::Exit { code, reason }]);
        assert_eq!(events(&mut session, &json!({ "type": "print", "text": "late" })), []);
        assert!(session.end().is_ok());
    }
    let (mut session, _) = running();
    for bad in [json!(256), json!(-1), json!("0"), Value::Null] {
        assert_eq!(code(&mut session, &json!({ "type": "exit", "code": bad })), "protocol/message");
    }
}

#[test]
fn rfd072_describe() {
    let now = Instant::now();
    let (mut session, lines) = CommandSession::describe(LIMITS, now);
    assert_eq!(lines, ["{\"type\":\"describe\"}"]);
    let message =
        json!({ "type": "describe", "name": "serve", "version": "1.0.0", "description": "Serves." });
    let events = events(&mut session, &message);
    let [SessionEvent::Described(description)] = &*events else { panic!("{events:?}") };
    assert_eq!((&*description.name, &description.command[..], &description.help), ("serve", &[][..], &None));
    assert_eq!(serde_json::to_value(description).unwrap().as_object().unwrap().len(), 3);
    assert!(session.end().is_ok());

    let (mut session, _) = CommandSession::describe(LIMITS, now);
    assert_eq!(code(&mut session, &json!({ "type": "describe", "name": "serve" })), "protocol/message");
}

#[test]
fn a_description_that_nobody_asked_for_is_answered_with_an_error() {
    let (mut session, _) = running();
    let message = json!({ "type": "describe", "name": "n", "version": "1", "description": "d" });
    assert_eq!(answer(&mut session, &message)["request"], "describe");
}

#[test]
fn rfd072_shutdown() {
    let (mut session, now) = running();
    assert_eq!(session.shutdown(now), ["{\"type\":\"shutdown\"}"]);
    assert_eq!(session.deadline(), Some(now + Duration::from_secs(5)));
    assert!(session.check_deadline(now + Duration::from_secs(4)).is_ok());
    let late = session.check_deadline(now + Duration::from_secs(5)).unwrap_err();
    assert_eq!(
        (late.code(), &*late.to_string()),
        ("protocol/timeout", "the plugin did not end after `shutdown` in time")
    );
    // Messages still pass, and the end needs no `exit`.
    assert_eq!(events(&mut session, &json!({ "type": "print", "text": "bye" })).len(), 1);
    assert!(session.end().is_ok());
}

#[test]
fn a_second_interrupt_and_a_grace_of_zero_kill_at_once() {
    let (mut session, now) = running();
    session.shutdown(now);
    assert!(session.shutdown(now).is_empty());
    assert_eq!(session.deadline(), Some(now));

    let now = Instant::now();
    let (mut session, _) = CommandSession::start(&init(), SessionLimits::with_grace(Duration::ZERO), now);
    session.shutdown(now);
    assert!(session.check_deadline(now).is_err());
    // `ready` does not lift the deadline of the shutdown.
    events(&mut session, &json!({ "type": "ready" }));
    assert!(session.check_deadline(now).is_err());
}

#[test]
fn ready_and_describe_have_limits_of_time() {
    let now = Instant::now();
    for ((session, _), seconds) in
        [(CommandSession::start(&init(), LIMITS, now), 10), (CommandSession::describe(LIMITS, now), 5)]
    {
        let deadline = now + Duration::from_secs(seconds);
        assert_eq!(session.deadline(), Some(deadline));
        assert!(session.check_deadline(now + Duration::from_secs(seconds - 1)).is_ok());
        assert_eq!(session.check_deadline(deadline).unwrap_err().code(), "protocol/timeout");
    }
    let (session, now) = running();
    assert!(session.check_deadline(now + Duration::from_secs(86_400)).is_ok());
}

#[test]
fn the_end_without_exit_is_an_error() {
    let (mut session, _) = running();
    let error = session.end().unwrap_err();
    assert_eq!(error.code(), "protocol/eof");
    assert!(!error.help().is_empty());
}

#[test]
fn a_plugin_that_keeps_running_after_exit_gets_the_grace() {
    let (mut session, now) = running();
    session.line(br#"{"type":"exit","code":0}"#, now, &mut ()).unwrap();
    assert_eq!(session.deadline(), Some(now + Duration::from_secs(5)));
}

#[test]
fn unknown_types_are_ignored_up_to_a_limit() {
    let (mut session, _) = running();
    for _ in 0..MAX_UNKNOWN {
        // Known requests that this host does not answer do not count.
        assert_eq!(code(&mut session, &json!({ "type": "list_conversations" })), "");
        assert_eq!(answer(&mut session, &json!({ "type": "teleport" }))["request"], "teleport");
    }
    assert_eq!(code(&mut session, &json!({ "type": "teleport" })), "protocol/unknown-types");
}

#[test]
fn a_message_has_a_type() {
    let (mut session, _) = running();
    for message in [json!({}), json!({ "type": 1 }), json!({ "Type": "ready" })] {
        assert_eq!(code(&mut session, &message), "protocol/message");
    }
}
