//! What hooks do with the output of a tool.

use plugward_hooks::{Answer, Scope};
use plugward_manifest::Dialect;
use plugward_redact::{Output, OutputContent, Raw, ToolStatus};
use serde_json::json;

use crate::common::{
    MARKER, Room, after, dispatcher, entry, entry_with, gnoma, hex, out, plan_of, ran, secret, shown, steps,
    text_output,
};

fn prints(name: &str, reply: &str, more: &str) -> String {
    entry_with(name, "post_tool_use", &format!("echo '{reply}'"), more)
}

#[test]
fn a_transform_sees_the_output_of_the_one_before() {
    let room = Room::new();
    let text = [
        prints("one", "{\"transformed\": {\"output\": \"first\"}}", ""),
        entry("two", "post_tool_use", "cat > seen; echo '{\"transformed\": {\"output\": \"second\"}}'"),
    ];
    let report = after(gnoma(&text.concat()), &room, "tool");
    assert_eq!(out(&report), "second");
    let seen = room.json("seen");
    assert_eq!(seen["result"]["output"], "first");
    // The envelope is complete for each hook; the reply of one is not the payload of the next.
    assert_eq!(
        (&seen["event"], &seen["tool"], &seen["args"]),
        (&json!("post_tool_use"), &json!("Bash"), &json!({"command": "ls"}))
    );
    assert_eq!(seen["result"]["failed"], json!(false));
}

#[test]
fn an_empty_output_is_valid() {
    let report =
        after(gnoma(&prints("empty", "{\"transformed\": {\"output\": \"\"}}", "")), &Room::new(), "x");
    assert_eq!(
        (out(&report).as_str(), steps(&report.hooks)[0].as_str()),
        ("", "user:empty transform raw transform -")
    );
}

#[test]
fn an_observer_changes_nothing() {
    for reply in [
        "{\"transformed\": {\"output\": \"changed\"}}",
        "{\"action\": \"deny\", \"transformed\": {\"output\": \"changed\"}}",
    ] {
        let report = after(gnoma(&prints("watch", reply, "phase = \"observe\"")), &Room::new(), "tool");
        assert_eq!(out(&report), "tool", "{reply}");
    }
}

#[test]
fn a_broken_reply_of_an_observer_changes_nothing() {
    for reply in ["{\"transformed\": 5}", "{\"transformed\": {\"output\": 5}}", "garbage"] {
        let report = after(gnoma(&prints("watch", reply, "phase = \"observe\"")), &Room::new(), "tool");
        assert_eq!(out(&report), "tool", "{reply}");
    }
}

#[test]
fn a_project_transform_works_on_redacted_text() {
    let room = Room::new();
    let text = entry("t", "post_tool_use", "cat > seen; echo '{\"transformed\": {\"output\": \"new\"}}'");
    let plan = plan_of(&[(Scope::Project, Dialect::Gnoma, &text)]);
    let report = after(plan, &room, &format!("a {} b", secret()));
    assert_eq!(room.json("seen")["result"]["output"], json!(format!("a {MARKER} b")));
    assert_eq!(
        (out(&report).as_str(), steps(&report.hooks)[0].as_str()),
        ("new", "project:t transform redacted transform -")
    );
}

#[test]
fn metadata_is_replaced_if_it_has_the_same_keys() {
    let value = || {
        let metadata = json!({"lines": 1, "path": secret()});
        Raw::new(Output { content: OutputContent::Text("x".to_owned()), metadata, ended: ToolStatus::Ok })
    };
    for (reply, expected) in [
        (json!({"output": "y"}), json!({"lines": 1, "path": MARKER})),
        (json!({"output": "y", "metadata": {"lines": 2, "path": "p"}}), json!({"lines": 2, "path": "p"})),
        (
            json!({"output": "y", "metadata": {"lines": 2, "path": secret()}}),
            json!({"lines": 2, "path": MARKER}),
        ),
        (json!({"output": "y", "metadata": {"lines": 2}}), json!({})),
        (json!({"output": "y", "metadata": {"lines": 2, "path": "p", "more": 1}}), json!({})),
        (json!({"output": "y", "metadata": []}), json!({})),
    ] {
        let room = Room::new();
        room.write("reply", json!({"transformed": reply}).to_string());
        let plan = gnoma(&entry("t", "post_tool_use", "cat reply"));
        let report = dispatcher(plan).post_tool_use(&ran(), value(), &room.at());
        assert_eq!(report.output.as_ref().metadata, expected, "{reply}");
        let fine = expected != json!({});
        assert_eq!(out(&report), if fine { "y" } else { "[REDACTED:withheld]" }, "{reply}");
    }
}

#[test]
fn on_failure_decides_what_happens_to_the_output() {
    for (more, expected) in [
        ("", "tool"),
        ("on_failure = \"block\"", "tool"),
        ("on_failure = \"skip\"", "tool"),
        ("on_failure = \"withhold\"", "[REDACTED:withheld]"),
    ] {
        let text = entry_with("t", "post_tool_use", "exit 1", more);
        let report = after(gnoma(&text), &Room::new(), "tool");
        assert_eq!(out(&report), expected, "{more}");
        assert_eq!(report.hooks.answer, Answer::Skip, "{more}");
    }
    // A bad shape withholds unless the definition says otherwise.
    for (more, expected) in
        [("", "[REDACTED:withheld]"), ("on_failure = \"skip\"", "tool"), ("fail_open = true", "tool")]
    {
        let report = after(gnoma(&prints("t", "{\"transformed\": 5}", more)), &Room::new(), "tool");
        assert_eq!(out(&report), expected, "{more}");
    }
}

#[test]
fn a_withheld_output_stays_withheld_for_later_hooks() {
    let room = Room::new();
    let text = [
        entry_with("bad", "post_tool_use", "exit 1", "on_failure = \"withhold\""),
        entry("later", "post_tool_use", "cat > seen"),
    ];
    let report = after(gnoma(&text.concat()), &room, "tool output");
    assert_eq!(out(&report), "[REDACTED:withheld]");
    assert!(!room.text("seen").contains("tool output"));
}

#[test]
fn the_first_hook_whose_output_has_a_laundered_value_is_reported() {
    let room = Room::new();
    let hex = hex(&secret());
    let print = format!("{{\"transformed\": {{\"output\": \"is {hex}\"}}}}");
    let text =
        [prints("first", &print, ""), prints("second", "{\"transformed\": {\"output\": \"fine\"}}", "")];
    let report = after(gnoma(&text.concat()), &room, &secret());
    let rows: Vec<&str> = report.hooks.laundered.iter().map(|row| row.hook.as_str()).collect();
    assert_eq!((rows, out(&report).as_str()), (vec!["user:first"], "fine"));
    let both = [prints("first", &print, ""), entry("second", "post_tool_use", "true")];
    let report = after(gnoma(&both.concat()), &room, &secret());
    let rows: Vec<&str> = report.hooks.laundered.iter().map(|row| row.hook.as_str()).collect();
    assert_eq!(rows, ["user:first"]);
    assert!(!out(&report).contains(&hex));
}

#[test]
fn a_laundered_value_without_a_rule_is_known() {
    // Of the name, a rule tells that the value is a secret; without it only the first scan does.
    let value = ["tR4-qu!", "ckBr0wn"].concat();
    let reply = format!("{{\"transformed\": {{\"output\": \"it is {value}\"}}}}");
    let report = after(gnoma(&prints("t", &reply, "")), &Room::new(), &format!("password=\"{value}\""));
    assert_eq!(report.hooks.laundered[0].kinds, ["known"]);
    assert_eq!(out(&report), "it is [REDACTED:known]");
}

#[test]
fn reasons_context_and_messages_are_redacted_and_searched() {
    let room = Room::new();
    let backwards: String = secret().chars().rev().collect();
    for exec in [
        format!("echo {backwards} >&2; exit 2"),
        format!("echo {} >&2; exit 2", secret()),
        "cat >&2; exit 2".to_owned(),
    ] {
        let report = after(gnoma(&entry("t", "post_tool_use", &exec)), &room, &secret());
        let text = shown(&report.hooks);
        assert!(
            text.contains("[REDACTED:") && !text.contains(&secret()) && !text.contains(&backwards),
            "{text}"
        );
    }
}

#[test]
fn nothing_of_a_report_shows_the_secret() {
    let room = Room::new();
    let text = [
        entry_with("a", "post_tool_use", "cat >&2; exit 2", "phase = \"observe\""),
        entry("b", "post_tool_use", "cat; exit 1"),
        entry("c", "post_tool_use", "cat"),
        entry("d", "post_tool_use", "cat >&2; exit 2"),
    ];
    let call = plugward_hooks::ToolCall { tool: "Bash".to_owned(), args: json!({"command": secret()}) };
    let report = dispatcher(gnoma(&text.concat())).post_tool_use(&call, text_output(&secret()), &room.at());
    let shown = format!("{report:?}{}{}", shown(&report.hooks), out(&report));
    assert!(!shown.contains("api03"), "{shown}");
    let gate = dispatcher(gnoma(&entry("g", "pre_tool_use", "cat >&2; exit 2")))
        .gate(&crate::common::bash(&secret()), &room.at());
    let shown = format!("{gate:?}{}{}", crate::common::shown(&gate.hooks), gate.proposed.redacted().as_ref());
    assert!(!shown.contains("api03"), "{shown}");
}
