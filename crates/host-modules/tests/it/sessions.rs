//! Sessions without programs: lines and times in, lines and events out.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use plugward_host_modules::protocol::Lines;
use plugward_host_modules::{
    CallResult, GuestEvent, GuestLimits, GuestSession, Modules, PipeInput, PluginEvent, PluginInit,
    PluginLimits, PluginSession, ProgramPipe, RejectReason, RunningPlugin, register,
};
use serde_json::{Value, json};

use crate::{Echo, declared, thrown, trail};

fn init() -> PluginInit {
    let config = serde_json::from_value(json!({ "limit": 5 })).unwrap();
    PluginInit { entry: "./index.ts".to_owned(), config }
}

const READY: &[u8] =
    br#"{"type":"ready","modules":[{"name":"a","functions":["f"],"skipped":[]}],"schema":null}"#;

fn running() -> (PluginSession, Instant) {
    let now = Instant::now();
    let (mut session, line) = PluginSession::start(&init(), PluginLimits::usual(), now);
    let expected = json!({ "type": "init", "version": 1, "entry": "./index.ts", "config": { "limit": 5 } });
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), expected);
    assert!(matches!(session.line(READY), Ok(Some(PluginEvent::Ready(_)))));
    (session, now)
}

#[test]
fn answers_belong_to_open_calls() {
    let (mut session, now) = running();
    let (first, line) = session.call("a", "f", &[json!("x")], now).unwrap();
    let expected = json!({ "type": "call", "id": 1, "module": "a", "function": "f", "args": ["x"] });
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), expected);
    let (second, _) = session.call("a", "f", &[], now).unwrap();
    let event = session.line(br#"{"type":"thrown","id":2,"name":"E","message":"m"}"#).unwrap();
    let result = CallResult::Thrown(thrown("E", "m"));
    assert_eq!(event, Some(PluginEvent::Answered { id: second, result }));
    let event = session.line(br#"{"type":"result","id":1}"#).unwrap();
    let result = CallResult::Returned(Value::Null);
    assert_eq!(event, Some(PluginEvent::Answered { id: first, result }));
    for bad in [
        &br#"{"type":"result","id":1,"value":1}"#[..],
        br#"{"type":"result","id":9,"value":1}"#,
        br#"{"type":"thrown","id":0,"name":"E","message":"m"}"#,
        br#"{"type":"result","id":"1"}"#,
        br#"{"type":"call","id":1,"module":"a","function":"f","args":[]}"#,
        br#"{"type":"other"}"#,
        br"{}",
        READY,
    ] {
        let error = running().0.line(bad).unwrap_err();
        assert_eq!(error.code(), "protocol/message", "{}", String::from_utf8_lossy(bad));
        assert!(!error.help().is_empty());
    }
    assert_eq!(session.line(b"console output").unwrap_err().code(), "protocol/not-json");
    let long = "x".repeat(1 << 20);
    let refused = session.call("a", "f", &[json!(long)], now).unwrap_err();
    assert_eq!(refused, CallResult::Thrown(thrown("Error", "the arguments have more than 1 MiB")));
    let mut chunk = long.as_bytes();
    assert!(Lines::of_plugin().next_line(&mut chunk).is_ok());
}

#[test]
fn a_plugin_that_throws_at_the_start_is_a_fault() {
    let (mut session, _) = PluginSession::start(&init(), PluginLimits::usual(), Instant::now());
    let line = br#"{"type":"thrown","id":0,"name":"Error","message":"no\u001b[2J"}"#;
    let error = session.line(line).unwrap_err();
    assert_eq!((error.code(), error.help().is_empty()), ("host-module/factory", false));
    assert_eq!(error.to_string(), "the plugin threw Error: no\\u{1b}[2J");
}

#[test]
fn each_wait_has_a_limit() {
    let now = Instant::now();
    let seconds = Duration::from_secs;
    let (session, _) = PluginSession::start(&init(), PluginLimits::usual(), now);
    assert!(session.check_deadline(now + seconds(9)).is_ok());
    let error = session.check_deadline(now + seconds(10)).unwrap_err();
    assert_eq!((error.code(), error.help().is_empty()), ("host-module/timeout", false));
    assert_eq!(error.to_string(), "the plugin did not send `ready` in time");

    let (mut session, now) = running();
    assert_eq!(session.deadline(), None);
    let _first = session.call("a", "f", &[], now).unwrap();
    let _second = session.call("a", "f", &[], now + seconds(5)).unwrap();
    assert!(session.check_deadline(now + seconds(29)).is_ok());
    assert!(session.check_deadline(now + seconds(30)).is_err());
    let _ended = session.line(br#"{"type":"result","id":1}"#).unwrap();
    assert!(session.check_deadline(now + seconds(34)).is_ok());
    assert_eq!(session.end().unwrap_err().code(), "host-module/ended");

    assert_eq!(session.shutdown(now), r#"{"type":"shutdown"}"#);
    assert!(session.check_deadline(now + seconds(5)).is_err());
    assert!(session.line(br#"{"type":"result","id":7}"#).unwrap().is_none());
    assert!(session.end().is_ok());
}

/// A pipe with prepared input, which ends after it.
struct Script {
    input: VecDeque<PipeInput>,
    now: Instant,
}

impl ProgramPipe for Script {
    fn send(&mut self, line: &str, _: Option<Instant>) -> io::Result<()> {
        if line.contains("unread") { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }

    fn receive(&mut self, deadline: Option<Instant>) -> io::Result<PipeInput> {
        let input = self.input.pop_front().unwrap_or(PipeInput::End);
        if input == PipeInput::Late {
            self.now = deadline.unwrap();
        }
        Ok(input)
    }

    fn now(&self) -> Instant {
        self.now
    }
}

fn plugin(input: Vec<PipeInput>) -> Result<RunningPlugin, plugward_host_modules::SessionFault> {
    let pipe = Box::new(Script { input: input.into(), now: Instant::now() });
    RunningPlugin::start(&init(), PluginLimits::usual(), pipe)
}

fn line(text: &[u8]) -> PipeInput {
    PipeInput::Line(text.to_vec())
}

#[test]
fn a_plugin_that_fails_does_not_stop_the_guest() {
    for (input, code) in [
        (PipeInput::End, "host-module/ended"),
        (PipeInput::Late, "host-module/timeout"),
        (line(br#"{"type":"result","id":8}"#), "protocol/message"),
    ] {
        let mut running = plugin(vec![line(READY), input]).unwrap();
        let (trail, declared) = (trail(), declared(&["a"]));
        let mut modules = Modules::default();
        let offered = std::mem::take(&mut running.modules);
        let _done = register("p", &declared, offered, &mut modules, &trail).unwrap();
        let result = modules.call("a", "f", &[]).unwrap();
        let message = format!("the plugin of the module failed: {code}");
        assert_eq!(result, CallResult::Thrown(thrown("Error", &message)));
        let result = modules.call("a", "f", &[]).unwrap();
        let message = "the plugin of the module does not run";
        assert_eq!(result, CallResult::Thrown(thrown("Error", message)));
        assert_eq!(running.end().unwrap_err().code(), code);
    }
    for (input, code) in [(PipeInput::Late, "host-module/timeout"), (PipeInput::End, "host-module/ended")] {
        assert_eq!(plugin(vec![input]).unwrap_err().code(), code);
    }
}

#[test]
fn odd_modules_and_members_are_named() {
    let modules = json!([
        { "name": "Bad Name", "functions": ["f"], "skipped": [] },
        { "name": "a", "functions": ["f", "__proto__", "a b"], "skipped": ["version"] },
    ]);
    let ready = json!({ "type": "ready", "modules": modules, "schema": { "x": {} } }).to_string();
    let running = plugin(vec![line(ready.as_bytes())]).unwrap();
    assert_eq!(running.modules.len(), 1);
    assert_eq!(running.rejected[0].module, "Bad Name");
    assert_eq!(running.rejected[0].why, RejectReason::Name);
    assert_eq!(running.skipped, ["a.__proto__", "a.a b", "a.version"]);
    assert_eq!(running.schema, json!({ "x": {} }));
    assert!(running.end().is_ok());
}

#[test]
fn a_guest_calls_and_ends() {
    let (trail, declared) = (trail(), declared(&["a"]));
    let mut modules = Modules::default();
    let _done = register("p", &declared, vec![Echo::boxed("a")], &mut modules, &trail).unwrap();
    let now = Instant::now();
    let (mut session, first) = GuestSession::start("return 1", &modules, GuestLimits::usual(), now);
    let expected = json!({
        "type": "init", "version": 1, "source": "return 1", "modules": { "a": ["echo", "fail"] },
    });
    assert_eq!(serde_json::from_str::<Value>(&first).unwrap(), expected);
    let later = now + Duration::from_secs(4);
    let clock = move || later;
    let call = br#"{"type":"call","id":3,"module":"a","function":"echo","args":[1]}"#;
    let event = session.line(call, &mut modules, &clock).unwrap();
    assert_eq!(event, GuestEvent::Send(r#"{"id":3,"type":"result","value":[1]}"#.to_owned()));
    assert!(session.check_deadline(now + Duration::from_secs(8)).is_ok(), "a call starts the time again");
    let error = session.check_deadline(now + Duration::from_secs(9)).unwrap_err();
    assert_eq!(error.to_string(), "the guest did not call or end in time");
    let call = br#"{"type":"call","id":4,"module":"b","function":"echo","args":[]}"#;
    let GuestEvent::Send(answer) = session.line(call, &mut modules, &clock).unwrap() else { panic!() };
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((&answer["type"], &answer["id"]), (&json!("thrown"), &json!(4)));
    let much_later = move || later + Duration::from_secs(60);
    assert!(matches!(session.line(call, &mut modules, &much_later), Ok(GuestEvent::Send(_))));
    assert!(session.check_deadline(now + Duration::from_secs(9)).is_err(), "a refused call gives no time");
    assert!(session.end().is_err());
    let event = session.line(br#"{"type":"result","id":0,"value":"x"}"#, &mut modules, &clock).unwrap();
    assert_eq!(event, GuestEvent::Ended(CallResult::Returned(json!("x"))));
    assert!(session.end().is_ok());
    assert!(session.line(call, &mut modules, &clock).is_err(), "nothing follows the result");
}

#[test]
fn a_guest_makes_a_limited_number_of_calls() {
    let (trail, declared) = (trail(), declared(&["a"]));
    let mut modules = Modules::default();
    let _done = register("p", &declared, vec![Echo::boxed("a")], &mut modules, &trail).unwrap();
    let call = |module: &str| {
        let call = json!({ "type": "call", "id": 1, "module": module, "function": "echo", "args": [] });
        PipeInput::Line(call.to_string().into_bytes())
    };
    let end = || line(br#"{"type":"result","id":0,"value":"x"}"#);
    let limits = GuestLimits { calls: 2, ..GuestLimits::usual() };
    let mut run = |source: &str, input: Vec<PipeInput>| {
        let mut pipe = Script { input: input.into(), now: Instant::now() };
        GuestSession::run(source, &mut modules, limits, &mut pipe)
    };
    let result = run("", vec![call("a"), call("b"), end()]).unwrap();
    assert_eq!(result, CallResult::Returned(json!("x")));
    // A refused call counts.
    let error = run("", vec![call("a"), call("b"), call("a"), end()]).unwrap_err();
    assert_eq!(
        (error.code(), &*error.to_string()),
        ("host-module/calls", "the guest made more than 2 calls")
    );
    assert_eq!(run("", vec![PipeInput::End]).unwrap_err().code(), "host-module/ended");
    let error = run("unread", vec![end()]).unwrap_err();
    assert_eq!(error.to_string(), "the guest did not read its lines in time");
    assert_eq!(error.code(), "host-module/timeout");
}
