//! Redaction of JSON values.

use plugward_redact::{KnownSecrets, Output, OutputContent, Raw, ToolStatus};
use serde_json::{Value, json};

use crate::common::FIREWALL;
use crate::plant::{MAKERS, Rng};
use crate::plant_encode::base64;

fn check(value: Value) -> (Value, Vec<(String, String)>) {
    let redacted = FIREWALL.redact_json(Raw::new(value));
    let found = redacted.findings().iter().map(|f| (f.pointer.clone(), f.kind.to_string())).collect();
    (redacted.into_value(), found)
}

#[test]
fn names_and_neighbors_are_context() {
    let (value, found) = check(json!({"db": {"password": "tR4-qu!ckBr0wn", "user": "app"}, "n": [1, "x"]}));
    assert_eq!(value, json!({"db": {"password": "[REDACTED:generic]", "user": "app"}, "n": [1, "x"]}));
    assert_eq!(found, [("/db/password".to_owned(), "generic".to_owned())]);
    let secret =
        json!({"kind": "Secret", "data": {"a": "cGFzc3dvcmQ=", "b": "Zm9v"}, "metadata": {"name": "x"}});
    let cut = json!({"kind": "Secret", "data": {"a": "[REDACTED:k8s-secret]", "b": "[REDACTED:k8s-secret]"}, "metadata": {"name": "x"}});
    assert_eq!(check(secret).0, cut);
}

#[test]
fn every_kind_is_found_in_a_leaf_and_in_a_name() {
    for (name, kind, make) in MAKERS {
        let planted = make(&mut Rng::new(12));
        let (value, found) =
            check(json!({"out": format!("line\n{}\nline", planted.text()), "ok": true, "n": 12}));
        assert!(!value.to_string().contains(&planted.secret), "{name}: {value}");
        assert!(found.iter().all(|(pointer, own)| pointer == "/out" && own == kind), "{name}: {found:?}");
        assert_eq!((&value["ok"], &value["n"]), (&json!(true), &json!(12)));
        if planted.before.is_empty() {
            let (value, found) = check(json!({"a": [{planted.text(): {"x": planted.text()}}]}));
            assert!(!value.to_string().contains(&planted.secret), "{name}: {value}");
            // The pointer consists of names, and a name can be the secret, so it is that of the result.
            assert!(found.len() >= 2, "{name}: {found:?}");
            for (pointer, _) in &found {
                assert!(value.pointer(pointer).is_some(), "{name}: {pointer} is not in the result");
                let left = planted
                    .secret
                    .as_bytes()
                    .windows(8)
                    .any(|piece| pointer.as_bytes().windows(8).any(|own| own == piece));
                assert!(!left, "{name}: {pointer}");
            }
        }
    }
}

#[test]
fn a_number_that_is_a_secret_becomes_text() {
    assert_eq!(check(json!({"password": 83_519_204_716_u64})).0, json!({"password": "[REDACTED:generic]"}));
    assert_eq!(check(json!({"max_tokens": 83_519_204_716_u64})).0, json!({"max_tokens": 83_519_204_716_u64}));
}

#[test]
fn benign_values_come_out_as_they_were() {
    let value = json!({
        "a": "commit 5a248a8f0e1d2c3b4a5968778695a4b3c2d1e0f9", "b": [null, true, 1.5, -3, "x \"quoted\" \\ y"],
        "token_type": "Bearer", "password": null, "secret": {"type": "string", "minLength": 8}, "": {"~/": "\u{202e}é👩‍👩‍👧"},
    });
    assert_eq!(check(value.clone()), (value, vec![]));
}

#[test]
fn two_names_that_become_one_marker_are_both_kept() {
    let [a, b] = [3, 4].map(|seed| {
        MAKERS.iter().find(|(name, ..)| *name == "anthropic").unwrap().2(&mut Rng::new(seed)).secret
    });
    let (value, _) = check(json!({a: 1, b: 2}));
    assert_eq!(value.as_object().map(serde_json::Map::len), Some(2));
}

#[test]
fn an_output_is_redacted_in_content_and_metadata_and_tells_what_was_laundered() {
    let key = MAKERS.iter().find(|(name, ..)| *name == "anthropic").unwrap().2(&mut Rng::new(3)).secret;
    let output = |content: &str| Output {
        content: OutputContent::Text(content.to_owned()),
        metadata: json!({"cmd": format!("curl -H 'x-api-key: {key}'")}),
        ended: ToolStatus::Failed,
    };
    let mut known = KnownSecrets::new();
    FIREWALL.remember(&Raw::new(output(&format!("key {key}\npassword: \"tR4-qu!ckBr0wn\"\n"))), &mut known);
    let spelled = base64(b"note: tR4-qu!ckBr0wn!");
    let (redacted, laundered) =
        FIREWALL.redact_output(Raw::new(output(&format!("key {key} and {spelled}\n"))), &known);
    let out = redacted.as_ref();
    assert!(
        out.content == OutputContent::Text("key [REDACTED:anthropic] and [REDACTED:known]\n".to_owned()),
        "{:?}",
        redacted.findings()
    );
    assert_eq!(out.metadata, json!({"cmd": "curl -H 'x-api-key: [REDACTED:anthropic]'"}));
    assert_eq!((out.ended, laundered.len()), (ToolStatus::Failed, 1));
    assert_eq!(format!("{out:?}"), "Output { ended: Failed, .. }");
}
