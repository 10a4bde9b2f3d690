//! What holds for every input.

use plugward_hooks::{Answer, Event, GateCall, Payloads, Plan, RawOutput, Scope, read_payload};
use plugward_manifest::{Dialect, SurfaceItem};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{Room, bash, command, dispatcher, entry, entry_with, out, plan_of, ran, text_output};

/// Sources of all kinds: plugins by id, and files by scope.
#[derive(Debug, Clone)]
enum Source {
    Plugin(&'static str, Dialect, String),
    File(Scope, Dialect, String),
    Refused(&'static str),
}

fn sources() -> Vec<Source> {
    use Source::{File, Plugin, Refused};
    let two = json!({"hooks": {"PreToolUse": [{"hooks": [
        {"type": "command", "command": "a", "async": true},
        {"type": "command", "command": "b", "timeout": 5000},
    ]}], "Nope": []}});
    let broken =
        json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "http", "url": "https://a.example"}]}]}});
    vec![
        Plugin("claude:b@y", Dialect::Claude, two.to_string()),
        Plugin("claude:a@x", Dialect::Claude, command("PreToolUse", "true")),
        Plugin("codex:c", Dialect::Codex, command("PreToolUse", "true")),
        Plugin("claude:d@y", Dialect::Claude, broken.to_string()),
        Plugin("gnoma:g", Dialect::Claude, command("Stop", "true")),
        File(Scope::Managed, Dialect::Claude, two.to_string()),
        File(Scope::User, Dialect::Gnoma, entry_with("z", "pre_tool_use", "true", "priority = -4")),
        File(Scope::Project, Dialect::Claude, broken.to_string()),
        Refused("claude:x@y"),
    ]
}

fn items(dialect: Dialect, text: &str) -> Vec<SurfaceItem> {
    plugward_manifest::read_hooks_file(dialect, text.as_bytes()).unwrap().into_items()
}

fn built(sources: &[Source]) -> String {
    let mut builder = Plan::builder(RawOutput::ManagedAndUser);
    for source in sources {
        match source {
            Source::Plugin(id, dialect, text) => {
                let items = items(*dialect, text);
                builder.plugin(id, items.iter().map(|item| (*dialect, item)));
            }
            Source::File(scope, dialect, text) => builder.file(*scope, *dialect, "file", text.as_bytes()),
            Source::Refused(id) => builder.refuse(id, "pin/changed"),
        }
    }
    let plan = builder.build();
    let hooks: Vec<String> = plan
        .hooks()
        .iter()
        .map(|hook| format!("{} {} {} {:?}", hook.event(), hook.id(), hook.step().as_str(), hook.run()))
        .collect();
    format!("{hooks:#?}{:#?}{:#?}", plan.notes(), plan.refused())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_order_of_sources_gives_the_same_plan(order in Just(sources()).prop_shuffle()) {
        prop_assert_eq!(built(&order), built(&sources()));
    }

    #[test]
    fn random_bytes_as_a_hooks_file_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for dialect in [Dialect::Claude, Dialect::Codex, Dialect::Gnoma] {
            let mut builder = Plan::builder(RawOutput::All);
            builder.file(Scope::User, dialect, "file", &bytes);
            prop_assert!(builder.build().hooks().is_empty());
        }
    }

    #[test]
    fn cut_and_changed_hooks_files_never_panic(at in 0_usize..400, byte in any::<u8>(), cut in any::<bool>()) {
        for source in sources() {
            let (Source::Plugin(_, dialect, text) | Source::File(_, dialect, text)) = source else { continue };
            let mut bytes = text.into_bytes();
            let at = at % bytes.len();
            if cut { bytes.truncate(at) } else { bytes[at] = byte }
            let mut builder = Plan::builder(RawOutput::All);
            builder.file(Scope::User, dialect, "file", &bytes);
            let _plan = builder.build();
        }
    }

    #[test]
    fn random_payloads_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), event in 0..Event::ALL.len()) {
        let _result = read_payload(Event::ALL[event], &bytes);
    }

    #[test]
    fn changed_payloads_never_panic_and_are_objects(at in 0_usize..90, byte in any::<u8>(), event in 0..Event::ALL.len()) {
        for text in [
            r#"{"tool": "Bash", "args": {"command": "ls"}, "result": {"output": "x", "metadata": {}, "failed": false}}"#,
            r#"{"tool": "Bash", "args": {"command": "ls"}}"#,
            r#"{"data": {"source": "startup"}}"#,
        ] {
            let mut bytes = text.as_bytes().to_vec();
            let at = at % bytes.len();
            bytes[at] = byte;
            if let Ok(payload) = read_payload(Event::ALL[event], &bytes) {
                let value: Value = serde_json::from_slice(&bytes).unwrap();
                let tool = match &payload {
                    Payloads::Gate(call) | Payloads::Notice(call) => call.tool_name(),
                    Payloads::Tool(call, _) => Some(call.tool.as_str()),
                };
                prop_assert_eq!(value.get("tool").and_then(Value::as_str), tool);
            }
        }
    }
}

/// Prints bytes as the reply of a gate, and returns the answer.
fn answer_to(room: &Room, dialect: Dialect, bytes: &[u8]) -> Answer {
    room.write("reply", bytes);
    let text = match dialect {
        Dialect::Gnoma => entry("x", "pre_tool_use", "cat reply"),
        _ => command("PreToolUse", "cat reply"),
    };
    dispatcher(plan_of(&[(Scope::User, dialect, &text)])).gate(&bash("ls"), &room.at()).hooks.answer
}

/// Returns `true` if a reply allows, by a reading that shares no code with the crate.
fn allows(dialect: Dialect, bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let text = text.trim();
    let is_object = text.starts_with('{') && text.ends_with('}');
    if dialect != Dialect::Gnoma && !is_object {
        // Text without a reply in it is no opinion.
        return !(text.contains('{') && text.contains("decision"));
    }
    if text.is_empty() {
        return true;
    }
    let Ok(Value::Object(reply)) = serde_json::from_str(text) else { return false };
    if dialect == Dialect::Gnoma {
        return match reply.get("action") {
            None | Some(Value::Null) => true,
            Some(action) => action == "allow" || action == "skip",
        };
    }
    let specific = reply.get("hookSpecificOutput");
    let decisions = [
        reply.get("decision"),
        specific.and_then(|members| members.get("decision")),
        specific.and_then(|members| members.get("permissionDecision")),
    ];
    decisions.into_iter().flatten().all(|word| word.is_null() || word == "allow" || word == "approve")
}

/// Replies that a change can turn into something else.
const REPLIES: [&str; 6] = [
    r#"{"action": "deny"}"#,
    r#"{"action": "allow", "transformed": {"args": {"command": "ls -l"}}}"#,
    r#"{"decision": "block", "reason": "no"}"#,
    r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}"#,
    r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"command": "x"}}}"#,
    r#"{"continue": true, "suppressOutput": true, "systemMessage": "hi"}"#,
];

/// One change of a reply.
#[derive(Debug, Clone)]
enum Change {
    Cut(usize),
    Remove(usize),
    Set(usize, u8),
    Insert(usize, u8),
    Append(Vec<u8>),
}

fn changes() -> impl Strategy<Value = Change> {
    prop_oneof![
        (0_usize..130).prop_map(Change::Cut),
        (0_usize..130).prop_map(Change::Remove),
        (0_usize..130, any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (0_usize..130, prop::sample::select(b"{}[]\",:\\ ".to_vec()))
            .prop_map(|(at, byte)| Change::Insert(at, byte)),
        prop::collection::vec(prop::sample::select(b"{}[]\",: ax\xff".to_vec()), 1..6)
            .prop_map(Change::Append),
    ]
}

fn changed(text: &str, change: &Change) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    let length = bytes.len();
    match change {
        Change::Cut(at) => bytes.truncate(at % length),
        Change::Remove(at) => {
            bytes.remove(at % length);
        }
        Change::Set(at, byte) => bytes[at % length] = *byte,
        Change::Insert(at, byte) => bytes.insert(at % length, *byte),
        Change::Append(more) => bytes.extend_from_slice(more),
    }
    bytes
}

proptest! {
    // Each case starts processes.
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_as_a_reply_never_allow_unless_they_are_an_allow(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let room = Room::new();
        for dialect in [Dialect::Gnoma, Dialect::Claude] {
            let answer = answer_to(&room, dialect, &bytes);
            prop_assert!(answer != Answer::Allow || allows(dialect, &bytes), "{dialect} {bytes:?}");
        }
    }

    #[test]
    fn a_changed_reply_never_allows_unless_it_is_an_allow(change in changes(), which in 0..REPLIES.len()) {
        let room = Room::new();
        let bytes = changed(REPLIES[which], &change);
        for dialect in [Dialect::Gnoma, Dialect::Claude] {
            let answer = answer_to(&room, dialect, &bytes);
            let text = String::from_utf8_lossy(&bytes);
            prop_assert!(answer != Answer::Allow || allows(dialect, &bytes), "{dialect} {text:?}");
        }
    }

    #[test]
    fn random_replies_after_use_never_panic_and_answer_skip(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let room = Room::new();
        room.write("reply", &bytes);
        let text = entry("x", "post_tool_use", "cat reply");
        let plan = plan_of(&[(Scope::User, Dialect::Gnoma, &text)]);
        let report = dispatcher(plan).post_tool_use(&ran(), text_output("out"), &room.at());
        prop_assert_eq!(report.hooks.answer, Answer::Skip);
        prop_assert!(matches!(out(&report).as_str(), "out" | "[REDACTED:withheld]"));
    }

    #[test]
    fn random_arguments_reach_a_hook_as_they_are(text in "\\PC{0,60}", tool in "[A-Za-z_]{1,12}") {
        let room = Room::new();
        let plan = plan_of(&[(Scope::User, Dialect::Gnoma, &entry("x", "pre_tool_use", "cat > seen"))]);
        let call = GateCall::tool(Event::PreToolUse, tool.clone(), json!({"command": text.clone()}));
        let _report = dispatcher(plan).gate(&call, &room.at());
        let seen = room.json("seen");
        prop_assert_eq!((&seen["tool"], &seen["args"]["command"]), (&json!(tool), &json!(text)));
    }
}
