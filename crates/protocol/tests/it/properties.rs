//! Properties: no panic, bounded memory, and digests that are equal exactly if the values are.

use std::collections::BTreeMap;
use std::time::Instant;

use plugward_protocol::types::Digest;
use plugward_protocol::{Item, ItemKind, Lines, NewItemRule, ProxySession, ProxyStep};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sha2::Digest as _;

use crate::support::{check, initialize, pins, running, tool};

pub(crate) fn sha256(bytes: &[u8]) -> Digest {
    Digest::from_bytes(sha2::Sha256::digest(bytes).into())
}

/// Values with few keys and texts, so that equal ones occur.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i32..3).prop_map(Value::from),
        (-3_i32..3).prop_map(|number| json!(f64::from(number))),
        any::<f64>().prop_filter_map("finite", |number| number.is_finite().then(|| json!(number))),
        "[a\u{e9}\u{1f600}\u{fb33}\"\\\\\n]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[ab\u{20ac}]{0,1}", inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Returns `true` if the values are equal, with one kind of number.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

/// Lines as a hostile server would write them.
fn server_lines() -> impl Strategy<Value = String> {
    let ids = prop_oneof![
        Just("0"),
        Just("1"),
        Just("\"plugward:1\""),
        Just("\"plugward:2\""),
        Just("null"),
        Just("[]")
    ];
    let bodies = prop_oneof![
        Just(r#""result":{"tools":[]}"#.to_owned()),
        Just(r#""result":{"tools":[{"name":"a","description":"Evil."}]}"#.to_owned()),
        Just(r#""result":{"tools":[{"name":"a"}],"nextCursor":"x"}"#.to_owned()),
        Just(r#""result":{"capabilities":{"tools":{}},"instructions":"Evil."}"#.to_owned()),
        Just(r#""error":{"code":-32601,"message":"no"}"#.to_owned()),
        Just(r#""method":"roots/list""#.to_owned()),
        Just(r#""method":"ping","result":{}"#.to_owned()),
        Just(r#""method":"notifications/tools/list_changed""#.to_owned()),
        values().prop_map(|value| format!("\"result\":{value}")),
    ];
    prop_oneof![
        8 => (ids, bodies).prop_map(|(id, body)| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{body}}}")),
        1 => ".{0,12}",
    ]
}

/// Requests of a host.
fn host_lines() -> impl Strategy<Value = String> {
    let methods = ["initialize", "tools/list", "tools/call", "server/discover", "ping"];
    (0_u32..4, prop::sample::select(Vec::from(methods))).prop_map(|(id, method)| {
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": { "name": "a", "_meta": meta } })
            .to_string()
    })
}

proptest! {
    #[test]
    fn digests_are_equal_exactly_if_the_values_are(a in values(), b in values()) {
        let digest = |value: &Value| Item::new(ItemKind::Instructions, value.clone()).ok().map(|item| item.digest());
        if let (Some(first), Some(second)) = (digest(&a), digest(&b)) {
            prop_assert_eq!(first == second, equal(&a, &b), "{} {}", a, b);
        }
        let again: Value = serde_json::from_str(&serde_json::to_string_pretty(&a).unwrap()).unwrap();
        prop_assert_eq!(digest(&a), digest(&again));
    }

    #[test]
    fn chunks_change_nothing_and_memory_is_bounded(text in prop::collection::vec(prop::sample::select(&b"a \n\r\t"[..]), 0..60), size in 1_usize..9) {
        let collect = |size: usize| {
            let (mut lines, mut found) = (Lines::with_limit(6), Vec::new());
            for mut chunk in text.chunks(size) {
                loop {
                    match lines.next_line(&mut chunk) {
                        Ok(Some(line)) => found.push(line.into_owned()),
                        Ok(None) => break,
                        Err(error) => return (found, Some(error)),
                    }
                }
            }
            found.extend(lines.end());
            (found, None)
        };
        let (found, _) = collect(size);
        prop_assert!(found.iter().all(|line| line.len() <= 6));
        prop_assert_eq!(collect(size), collect(60));
    }

    #[test]
    fn no_line_of_a_plugin_panics(lines in prop::collection::vec(prop_oneof![".{0,20}", values().prop_map(|value| json!({ "type": "log", "message": "m", "level": value }).to_string())], 0..20)) {
        let (mut session, now) = running();
        for line in lines {
            if session.line(line.as_bytes(), now, &mut ()).is_err() {
                break;
            }
        }
    }

    /// Whatever both sides send: the host sees other texts in results of calls only, and the server gets calls after the judgment only.
    #[test]
    fn a_hostile_server_shows_nothing_unjudged(lines in prop::collection::vec((any::<bool>(), server_lines(), host_lines()), 0..40)) {
        let now = Instant::now();
        let pinned = crate::support::pinned(&[tool("a", "A")]);
        let mut session = ProxySession::new(pins(vec![pinned]), NewItemRule::Refuse);
        let mut steps = session.from_host(initialize(&json!({})).to_string().as_bytes(), now);
        let (mut judged, mut from_host, mut methods) = (false, 1_usize, BTreeMap::new());
        for (is_host, server, host) in lines {
            while let Some(ProxyStep::Judge(..)) = steps.last() {
                let check = check(&steps);
                judged |= check.passes();
                steps = session.judged(check, now);
            }
            for step in &steps {
                match step {
                    ProxyStep::ToServer(line) => {
                        let sent: Value = serde_json::from_str(line).unwrap();
                        let method = sent["method"].as_str().unwrap_or_default().to_owned();
                        prop_assert!(judged || method != "tools/call");
                        methods.insert(sent["id"].to_string(), method);
                    }
                    ProxyStep::ToHost(line) if line.contains("Evil.") => {
                        let passed: Value = serde_json::from_str(line).unwrap();
                        let method = methods.get(&passed["id"].to_string());
                        prop_assert!(method.is_some_and(|method| method == "tools/call" || method == "ping"), "{}", line);
                    }
                    _ => {}
                }
            }
            from_host += usize::from(is_host);
            steps = if is_host { session.from_host(host.as_bytes(), now) } else { session.from_server(server.as_bytes(), now) };
            prop_assert!(steps.len() <= from_host + 50);
        }
    }
}
