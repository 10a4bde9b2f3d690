//! The cost of lines, next to a parser without checks: `cargo bench -p plugward-protocol`.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reads the clock and prints, and one that fails may panic"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use plugward_protocol::{
    CommandSession, Lines, NewItemRule, OfferCheck, PinnedOffer, ProxySession, SessionLimits,
};
use serde_json::{StreamDeserializer, Value, json};

fn best(mut work: impl FnMut()) -> Duration {
    let time = |()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    std::iter::repeat_n((), 15).map(time).min().unwrap_or_default()
}

fn main() {
    let fields = json!({ "path": "/srv/data/file", "sizes": [1, 22, 333], "text": "two\nlines", "deep": { "a": [{}] } });
    let log = json!({ "type": "log", "level": "info", "message": "x".repeat(80), "fields": fields });
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": fields } });
    let (now, limits) = (Instant::now(), SessionLimits::with_grace(Duration::ZERO));
    let (mut session, _) = CommandSession::describe(limits, now);
    compare("a command session", &log, |line| drop(black_box(session.line(line, now, &mut ()).unwrap())));
    let mut proxy = opened(now);
    compare("a proxy session", &note, |line| drop(black_box(proxy.from_server(line, now))));

    let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": [{ "type": "text", "text": "x".repeat(2000) }] } });
    let (call, answer) =
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#, answer.to_string());
    let calls = best(|| {
        for _ in 0..1000 {
            black_box(proxy.from_host(call.as_bytes(), now));
            assert_eq!(black_box(proxy.from_server(answer.as_bytes(), now)).len(), 1);
        }
    });
    println!("a call and its answer through the proxy: {:?}", calls / 1000);
}

/// Prints the time of a session for many lines, and that of the parser.
fn compare(name: &str, message: &Value, mut work: impl FnMut(&[u8])) {
    let text = (message.to_string() + "\n").repeat(20_000);
    let peer = best(|| {
        let values = StreamDeserializer::<_, Value>::new(serde_json::de::StrRead::new(&text));
        values.for_each(|value| drop(black_box(value.unwrap())));
    });
    let own = best(|| each(&text, &mut work));
    let ratio = peer.as_secs_f64() / own.as_secs_f64();
    println!("20,000 lines in {name}: {own:?}; StreamDeserializer: {peer:?} ({ratio:.2} x)");
}

fn each(text: &str, mut work: impl FnMut(&[u8])) {
    let mut lines = Lines::of_plugin();
    for mut chunk in text.as_bytes().chunks(64 << 10) {
        while let Some(line) = lines.next_line(&mut chunk).unwrap() {
            work(&line);
        }
    }
}

fn opened(now: Instant) -> ProxySession {
    let pinned = PinnedOffer { server: "bench".to_owned(), sets: Vec::new() };
    let mut session = ProxySession::new(pinned, NewItemRule::Pin);
    session.from_host(br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{}}}"#, now);
    session.from_server(br#"{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"tools":{}}}}"#, now);
    session.from_server(br#"{"jsonrpc":"2.0","id":"plugward:1","result":{"tools":[{"name":"a"}]}}"#, now);
    session.judged(OfferCheck::Pinned, now);
    session
}
