//! A host and a server for the tests.

use std::time::{Duration, Instant};

use plugward_protocol::{
    CommandSession, Init, LogLevel, NewItemRule, OfferCheck, PinnedOffer, PinnedSet, ProxySession, ProxyStep,
    SessionLimits, Workspace,
};
use serde_json::{Value, json};

pub(crate) const LIMITS: SessionLimits = SessionLimits::with_grace(Duration::from_secs(5));

pub(crate) fn init() -> Init {
    Init {
        plugin: "serve".to_owned(),
        workspace: Workspace { root: "/w".to_owned(), storage: "/w/.jp".to_owned(), id: "w1".to_owned() },
        user_data: Some("/data".to_owned()),
        options: serde_json::from_value(json!({ "web": { "port": 3141 } })).unwrap(),
        args: vec!["--open".to_owned()],
        log_level: LogLevel::Debug,
    }
}

/// A plugin that has sent `ready`.
pub(crate) fn running() -> (CommandSession, Instant) {
    let now = Instant::now();
    let (mut session, _) = CommandSession::start(&init(), LIMITS, now);
    session.line(br#"{"type":"ready"}"#, now, &mut ()).unwrap();
    (session, now)
}

pub(crate) fn pins(sets: Vec<PinnedSet>) -> PinnedOffer {
    PinnedOffer { server: "fs".to_owned(), sets }
}

pub(crate) fn tool(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description, "inputSchema": { "type": "object" } })
}

/// A session with a clock, and a server that offers `tools` in one page.
pub(crate) struct Rig {
    pub(crate) session: ProxySession,
    pub(crate) now: Instant,
}

impl Rig {
    pub(crate) fn new(pinned: PinnedOffer, rule: NewItemRule) -> Self {
        Self { session: ProxySession::new(pinned, rule), now: Instant::now() }
    }

    pub(crate) fn host(&mut self, message: &Value) -> Vec<ProxyStep> {
        self.session.from_host(message.to_string().as_bytes(), self.now)
    }

    pub(crate) fn server(&mut self, message: &Value) -> Vec<ProxyStep> {
        self.session.from_server(message.to_string().as_bytes(), self.now)
    }

    pub(crate) fn judged(&mut self, check: OfferCheck) -> Vec<ProxyStep> {
        self.session.judged(check, self.now)
    }

    /// Waits, and does what is due.
    pub(crate) fn wait(&mut self, seconds: u64) -> Vec<ProxyStep> {
        self.now += Duration::from_secs(seconds);
        self.session.check_deadline(self.now)
    }

    /// Initializes with capabilities of the client and of the server, and returns the line of the first list.
    pub(crate) fn initialize(&mut self, client: &Value, server: &Value) -> Vec<ProxyStep> {
        let steps = self.host(&initialize(client));
        assert_eq!(to_server(&steps), [initialize(client)]);
        self.server(&json!({
            "jsonrpc": "2.0", "id": 0,
            "result": { "protocolVersion": "2025-11-25", "capabilities": server, "instructions": "Use it." },
        }))
    }

    /// Gets as far as the offer.
    pub(crate) fn offer(&mut self, tools: &[Value]) -> Vec<ProxyStep> {
        let steps = self.initialize(&json!({}), &json!({ "tools": {} }));
        assert_eq!(to_server(&steps).len(), 2, "{steps:?}");
        self.server(&result("plugward:1", &json!({ "tools": tools })))
    }

    /// Opens the session: the caller agrees to what the pins say.
    pub(crate) fn open(pinned: PinnedOffer, tools: &[Value]) -> Self {
        let mut rig = Self::new(pinned, NewItemRule::Pin);
        let steps = rig.offer(tools);
        let check = check(&steps);
        assert!(check.passes(), "{check:?}");
        let steps = rig.judged(check);
        assert!(to_host(&steps)[0].get("result").is_some(), "{steps:?}");
        rig
    }
}

pub(crate) fn initialize(client: &Value) -> Value {
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": client, "clientInfo": { "name": "test", "version": "1" },
    });
    request(0, "initialize", &params)
}

pub(crate) fn request(id: impl Into<Value>, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

pub(crate) fn result(id: impl Into<Value>, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "result": result })
}

pub(crate) fn error(id: impl Into<Value>, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "error": { "code": code, "message": message } })
}

pub(crate) fn call(id: u64, name: &str) -> Value {
    request(id, "tools/call", &json!({ "name": name, "arguments": {} }))
}

pub(crate) fn to_host(steps: &[ProxyStep]) -> Vec<Value> {
    let lines = steps.iter().filter_map(|step| match step {
        ProxyStep::ToHost(line) => Some(line),
        _ => None,
    });
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn to_server(steps: &[ProxyStep]) -> Vec<Value> {
    let lines = steps.iter().filter_map(|step| match step {
        ProxyStep::ToServer(line) => Some(line),
        _ => None,
    });
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns what the pins say about the offer.
pub(crate) fn check(steps: &[ProxyStep]) -> OfferCheck {
    let [.., ProxyStep::Judge(_, check)] = steps else { panic!("no offer: {steps:?}") };
    check.clone()
}

/// Returns a pin of the offer.
pub(crate) fn pin(steps: &[ProxyStep]) -> PinnedSet {
    let [.., ProxyStep::Judge(offer, _)] = steps else { panic!("no offer: {steps:?}") };
    let items = offer.items().iter().map(|item| (item.label(), item.digest())).collect();
    PinnedSet { capabilities: offer.client().names(), items }
}

/// Returns a pin of these tools for a client without capabilities.
pub(crate) fn pinned(tools: &[Value]) -> PinnedSet {
    pin(&Rig::new(pins(Vec::new()), NewItemRule::Pin).offer(tools))
}

/// Returns the text of the error that the host got, and the code of the failure.
pub(crate) fn failure(steps: &[ProxyStep]) -> (String, &'static str) {
    let [.., ProxyStep::EndServer(Some(fault))] = steps else { panic!("no failure: {steps:?}") };
    assert!(!fault.help().is_empty());
    (text(steps), fault.code())
}

/// Returns the text of the error that the host got.
pub(crate) fn text(steps: &[ProxyStep]) -> String {
    let lines = to_host(steps);
    let error = &lines.first().unwrap()["error"];
    assert_eq!(error["code"], -32001, "{lines:?}");
    error["message"].as_str().unwrap().to_owned()
}
